"""The states of the pages that a person meets with the built-in flow, one after the other. docs/pages.md says which are
missing."""

from selenium.webdriver import Keys

from person import PASSWORD
from test_photos import PICTURE, choose, is_dialog_open

NEW_PASSWORD = "another phrase of mine"

# A request of the application `shop` in docs/applications.yaml, which lets people choose the account.
CHOICE = (
    "/oauth/authorize?response_type=code&client_id=shop&redirect_uri=https://shop.example/callback&scope=openid"
    "&prompt=select_account&code_challenge_method=S256&code_challenge=" + "A" * 43
)


def visit_every_state(new_person):
    """Yields the name of each state while the browser shows it. `new_person` creates a person in the same browser."""
    kim = new_person()
    yield from visit_signup(kim)
    yield from visit_account(kim)
    yield from visit_sign_in(kim)
    yield from visit_recovery(kim)
    yield from visit_codes_and_links(new_person())
    yield from visit_changes(new_person())


def visit_signup(kim):
    kim.open("/signup")
    yield "start"
    kim.start()
    yield "email"
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.refusal("email"), "the refusal")
    yield "email-refused"
    kim.find("[data-cancel]").click()
    yield "cancel-dialog"
    kim.find("[data-close]").click()
    kim.complete("email")
    kim.wait_for_path("/signup/code")
    yield "code"
    right = kim.site.mailbox.code(kim.email)
    kim.type("code", other_than(right))
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.refusal("code"), "the refusal")
    yield "code-wrong"
    kim.complete("code")
    kim.wait_for_path("/signup/password")
    yield "password"
    kim.type("password", "short")
    yield "password-typing"
    kim.press(Keys.ENTER)
    kim.wait_until(lambda: kim.refusal("password"), "the refusal")
    yield "password-refused"
    kim.type("password", PASSWORD)
    kim.wait_until(kim.find("[name=confirmation]").is_displayed, "the confirmation")
    yield "password-accepted"
    kim.type("confirmation", PASSWORD)
    kim.press_next()
    kim.wait_for_path("/signup/profile")
    yield "profile"
    kim.type("username", "admin")
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.refusal("username"), "the refusal")
    yield "profile-refused"
    kim.type("username", kim.username)
    choose(kim, PICTURE)
    kim.wait_until(lambda: is_dialog_open(kim), "the dialog")
    yield "crop-dialog"
    kim.find("[data-use]").click()
    kim.wait_until(lambda: not is_dialog_open(kim), "the photo")
    yield "profile-with-photo"
    kim.press_next()
    kim.wait_for_path("/signup/contact")
    yield "contact"
    kim.type("phone", "12")
    kim.set_date("birth_date", "2001-02-28")
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.refusal("phone"), "the refusal")
    yield "contact-refused"
    kim.type("phone", "010-1234-5678")
    kim.press_next()
    kim.wait_for_path("/signup/totp")
    yield "totp"
    kim.submit_authenticator_code()
    kim.wait_until(lambda: kim.find_all("#codes code"), "the recovery codes")
    yield "codes"
    kim.recovery_codes = [code.text for code in kim.find_all("#codes code")]
    kim.find("button.main").click()
    kim.wait_for_path("/signup/terms")
    kim.open("/signup/totp")
    yield "totp-set-up"
    kim.open("/signup/terms")
    yield "terms"
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.refusal("terms"), "the refusal")
    yield "terms-refused"
    kim.find("[name=terms]").click()
    kim.press_next()
    kim.wait_for_path("/signup/review")
    yield "review"
    kim.open("/signup/cancel")
    yield "cancel"
    kim.open("/signup/review")
    kim.find("button.main").click()
    kim.wait_for_path("/signup")
    yield "done"


def visit_account(kim):
    kim.open("/account")
    yield "account"
    pages = ["profile", "contact", "terms", "authenticator", "authenticator/codes", "authenticator/remove"]
    for page in pages + ["password", "email", "erase"]:
        kim.open(f"/account/{page}")
        yield f"account-{page.replace('/', '-')}"
    kim.site.sql("UPDATE sessions SET auth_time = auth_time - interval '11 minutes'")
    kim.open("/account/password")
    yield "account-confirm"
    kim.open(CHOICE)
    yield "choose-account"
    kim.open("/oauth/logout")
    yield "sign-out"
    kim.open("/account")
    kim.find("header form[action='/account/sign-out'] button").click()
    kim.wait_for_path("/sign-in?signed-out")
    yield "signed-out"


def visit_sign_in(kim):
    kim.open("/sign-in")
    yield "sign-in"
    kim.type("identifier", kim.username)
    send(kim, "password", "not the pass phrase")
    yield "sign-in-refused"
    send(kim, "password", PASSWORD)
    kim.wait_for_path("/sign-in/second-factor")
    yield "second-factor"
    kim.find("a[href='/sign-in/recovery-code']").click()
    kim.wait_for_path("/sign-in/recovery-code")
    yield "recovery-code"
    kim.type("code", kim.recovery_codes[0]).send_keys(Keys.ENTER)
    kim.wait_until(lambda: "/account" in kim.path or kim.find_all("#codes code"), "the next recovery code")
    yield "recovery-code-used"
    kim.open("/account")
    kim.find("header form[action='/account/sign-out'] button").click()
    kim.wait_for_path("/sign-in?signed-out")
    yield from visit_sign_in_of_a_stranger(kim)


def visit_sign_in_of_a_stranger(kim):
    """A sign-in on a device that the account does not know, after so many guesses that a mailed code is needed."""
    kim.browser.delete_all_cookies()
    kim.open("/sign-in")
    kim.type("identifier", kim.username)
    for _ in range(10):
        send(kim, "password", "not the pass phrase")
    send(kim, "password", PASSWORD)
    yield "sign-in-code-required"
    kim.open("/sign-in/mail")
    yield "sign-in-mail"
    send(kim, "identifier", kim.username)
    yield "sign-in-code"
    wrong = other_than(kim.site.mailbox.code(kim.email, 2))
    send(kim, "code", wrong)
    yield "sign-in-code-wrong"
    for _ in range(4):
        send(kim, "code", wrong)
    yield "sign-in-code-exhausted"
    kim.open(kim.site.mailbox.link(kim.email, "/session/ticket"))
    yield "sign-in-ticket"
    kim.find("button.main").click()
    kim.wait_for_path("/sign-in/code")
    send(kim, "code", kim.site.mailbox.code(kim.email, 3))
    yield "sign-in-known"


def send(kim, name, text):
    """Types into a form that the browser itself sends, presses Enter, and waits for the page that answers."""
    kim.run_script("document.body.id = 'former'")
    kim.type(name, text).send_keys(Keys.ENTER)
    kim.wait_until(lambda: kim.run_script("return document.body.id !== 'former' && document.readyState === 'complete'"))


def visit_recovery(kim):
    kim.open("/recovery")
    yield "recovery"
    if not kim.find_all("[name=email]"):
        kim.find("button.main").click()
        kim.wait_for_path("/recovery/email")
        yield "recovery-email"
    kim.type("email", kim.email)
    kim.press_next()
    kim.wait_for_path("/recovery/code")
    yield "recovery-code-step"
    # The first code is that of the sign-up, and the next two are those of the sign-in.
    kim.type("code", kim.site.mailbox.code(kim.email, 4))
    kim.press_next()
    kim.wait_for_path("/recovery/second-factor")
    yield "recovery-second-factor"
    kim.type("second_factor", kim.recovery_codes[1])
    kim.press_next()
    kim.wait_until(lambda: kim.find_all("#codes code"), "the next recovery code")
    yield "recovery-code-replaced"
    kim.find(".main").click()
    kim.wait_for_path("/recovery/password")
    yield "recovery-password"
    kim.type("password", NEW_PASSWORD)
    kim.wait_until(kim.find("[name=confirmation]").is_displayed, "the confirmation")
    kim.type("confirmation", NEW_PASSWORD)
    kim.press_next()
    kim.wait_for_path("/recovery/review")
    yield "recovery-review"
    kim.find("button.main").click()
    kim.wait_for_path("/account?password-changed")
    yield "account-password-changed"
    kim.open("/account/erase")
    kim.find("button.danger").click()
    kim.wait_until(lambda: not kim.find_all("button.danger"), "the last page")
    yield "account-deleted"


def visit_codes_and_links(kim):
    """Codes that are used up or too old, links of mails, and sign-ups that have ended."""
    kim.go_to("code")
    draft = kim.find("#answers").get_attribute("data-draft")
    wrong = other_than(kim.site.mailbox.code(kim.email))
    for _ in range(5):
        kim.type("code", wrong)
        kim.press_next()
        kim.wait_until(lambda: kim.refusal("code"), "the refusal")
    yield "code-exhausted"
    let_a_minute_pass(kim, draft)
    kim.open("/signup/code")
    kim.wait_until(kim.find("button.main").is_enabled, "the button for a new code")
    yield "code-again"
    kim.find("button.main").click()
    kim.wait_for_path("/signup/code?sent")
    yield "code-sent"
    kim.site.mailbox.code(kim.email, 2)
    kim.site.sql(f"UPDATE proofs SET expires_at = now() WHERE draft = '{draft}'")
    let_a_minute_pass(kim, draft)
    kim.open("/signup/code")
    kim.wait_until(kim.find("button.main").is_enabled, "the button for a new code")
    yield "code-expired"
    kim.find("button.main").click()
    kim.wait_for_path("/signup/code?sent")
    kim.type("code", kim.site.mailbox.code(kim.email, 3))
    kim.press_next()
    kim.wait_for_path("/signup/password")
    kim.open("/signup/code")
    yield "code-confirmed"
    kim.open("/signup/review")
    yield "review-incomplete"
    yield from visit_links(kim)
    kim.open("/signup/cancel")
    kim.find("button.danger").click()
    kim.wait_for_path("/signup?given-up")
    yield "cancelled"
    kim.open("/signup/code")
    yield "no-signup"
    draft = kim.start().find("#answers").get_attribute("data-draft")
    kim.site.sql(f"UPDATE drafts SET updated_at = updated_at - interval '2 days' WHERE id = '{draft}'")
    kim.open("/signup/email")
    yield "signup-expired"
    kim.open("/nothing-here")
    yield "not-found"


def visit_links(kim):
    """The links of mails to another code and to another device, during a sign-up whose address is verified."""
    ticket = kim.site.mailbox.ticket(kim.email)
    kim.open(ticket)
    yield "ticket"
    kim.open("/signup/resume")
    yield "handoff-code"
    kim.open("/signup/password")
    kim.find("summary").click()
    kim.find("details button").click()
    kim.wait_until(lambda: kim.path == "/signup/handoff", "the message")
    yield "handoff"
    former = kim.browser.get_cookie("signup")
    link = kim.site.mailbox.link(kim.email)
    kim.open(link)
    # The script sends the code of the link.
    kim.wait_until(lambda: not kim.find_all("[data-link]") and kim.find_all("[name=confirmed]"), "the question")
    yield "handoff-question"
    kim.find("button.main").click()
    kim.wait_for_path("/signup/password")
    present = kim.browser.get_cookie("signup")
    set_cookie(kim, former)
    kim.open("/signup")
    yield "handoff-elsewhere"
    # In the browser where the sign-up goes on, the link would lead back to it.
    kim.browser.delete_all_cookies()
    kim.open(link)
    kim.wait_until(lambda: kim.find_all("main > p:not(#notice, .aside)") and kim.find_all("[data-link]"), "the end")
    yield "handoff-used"
    kim.open("/signup/ticket?ticket=" + "A" * 44)
    yield "ticket-used"
    set_cookie(kim, present)


def visit_changes(kim):
    """Changes of an account without an authenticator app: the first app, and another address."""
    kim.go_to("review")
    kim.find("button.main").click()
    kim.wait_for_path("/signup")
    kim.open("/account/authenticator")
    yield "authenticator-first"
    kim.type("code", kim.authenticator_code).send_keys(Keys.ENTER)
    kim.wait_until(lambda: kim.find_all("#codes code"), "the recovery codes")
    yield "authenticator-first-codes"
    new = f"new-{kim.email}"
    kim.open("/account/email")
    kim.type("email", new).send_keys(Keys.ENTER)
    kim.wait_for_path("/email-change/code")
    yield "email-change-code"
    kim.type("code", kim.site.mailbox.code(new))
    kim.press_next()
    kim.wait_for_path("/email-change/review")
    yield "email-change-review"
    kim.find("button.main").click()
    kim.wait_for_path("/account?address-changed")
    yield "account-address-changed"
    kim.open("/account/erase")
    yield "account-erase-too-early"
    link = kim.site.mailbox.link(kim.email, "/email-change/undo")
    kim.open(link)
    yield "undo"
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.find_all("form[action='/recovery']"), "the restored address")
    yield "undone"
    kim.open("/sign-in")
    kim.open(link)
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.find_all("main a[href='/sign-in']"), "the used link")
    yield "undo-used"


def let_a_minute_pass(kim, draft):
    """Moves the last mail with a code of this sign-up, and what counts against the limits, a minute into the past."""
    kim.site.sql(f"UPDATE proofs SET sent_at = sent_at - interval '61 seconds' WHERE draft = '{draft}'")
    kim.site.sql("UPDATE limits SET hits = ARRAY(SELECT hit - interval '61 seconds' FROM unnest(hits) AS hit)")


def set_cookie(kim, cookie):
    """Gives the browser the sign-up of this cookie."""
    kim.browser.delete_all_cookies()
    kim.browser.add_cookie({"name": cookie["name"], "value": cookie["value"], "httpOnly": True, "sameSite": "Lax"})


def other_than(code):
    """A code of six digits that is wrong."""
    return f"{(int(code) + 1) % 1_000_000:06}"
