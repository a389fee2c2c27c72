"""Every state of the pages that a person can meet, one after the other."""

from selenium.webdriver import Keys

from person import PASSWORD
from test_photos import PICTURE, choose, is_dialog_open

NEW_PASSWORD = "another phrase of mine"


def visit_every_state(kim, other):
    """Yields the name of each state while the browser of `kim` shows it; `other` is a person in the same browser."""
    yield from visit_signup(kim)
    yield from visit_account(kim)
    yield from visit_sign_in(kim)
    yield from visit_recovery(kim)
    yield from visit_messages(kim, other)


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
    kim.open("/account")
    kim.find("header form[action='/account/sign-out'] button").click()
    kim.wait_for_path("/sign-in?signed-out")
    yield "signed-out"


def visit_sign_in(kim):
    kim.open("/sign-in")
    yield "sign-in"
    kim.type("identifier", kim.username)
    kim.type("password", "not the pass phrase").send_keys(Keys.ENTER)
    kim.wait_until(lambda: kim.find("#notice").is_displayed(), "the refusal")
    yield "sign-in-refused"
    kim.type("password", PASSWORD).send_keys(Keys.ENTER)
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
    kim.open("/sign-in/code")
    yield "sign-in-by-mail"


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
    kim.type("code", kim.site.mailbox.code(kim.email, 2))
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


def visit_messages(kim, other):
    """Codes that are used up, links of mails, and what has ended or does not exist."""
    other.browser.delete_all_cookies()
    other.go_to("code")
    wrong = other_than(other.site.mailbox.code(other.email))
    for _ in range(5):
        other.type("code", wrong)
        other.press_next()
        other.wait_until(lambda: other.refusal("code"), "the refusal")
    yield "code-exhausted"
    other.open(other.site.mailbox.ticket(other.email))
    yield "ticket"
    other.open("/signup/resume")
    yield "resume"
    other.open("/signup/cancel")
    other.find("button.danger").click()
    other.wait_until(lambda: other.path.startswith("/signup") and "cancel" not in other.path, "the first page")
    yield "cancelled"
    other.open("/signup/code")
    yield "no-signup"
    other.open("/nothing-here")
    yield "not-found"


def other_than(code):
    """A code of six digits that is wrong."""
    return f"{(int(code) + 1) % 1_000_000:06}"
