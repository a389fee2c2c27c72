"""The help of the fields of a step: their messages and announcements, and the values that they keep."""

import json

import pytest
from selenium.webdriver import Keys

from person import PASSWORD

# A script that delays all answers of the server until `release` is called.
HOLD_ANSWERS = """
    const fetchNow = window.fetch;
    const isHeld = new Promise((release) => { window.release = release; });
    window.fetch = (...request) => isHeld.then(() => fetchNow(...request));
"""

# A script that stops the timers of the page. `passTime` runs those whose delay is at most the given one.
HOLD_TIMERS = """
    const timers = new Map();
    let last = 0;
    window.setTimeout = (run, delay, ...values) => { timers.set(last += 1, { run, delay, values }); return last; };
    window.clearTimeout = (timer) => timers.delete(timer);
    window.passTime = (delay) => {
      for (const [timer, { run, values }] of [...timers].filter(([, { delay: wait }]) => wait <= delay)) {
        timers.delete(timer);
        run(...values);
      }
    };
"""


def said(kim):
    """Returns the texts in the live region, which a screen reader reads aloud."""
    return kim.run_script("return [...document.getElementById('live').children].map((line) => line.textContent)")


def value(kim, name):
    return kim.find(f"[name={name}]").get_attribute("value")


def tally(kim):
    return kim.find("[data-tally]").text


# MARK: Waiting


def test_next_shows_that_it_waits_and_a_long_wait_is_announced(person):
    kim = person().go_to("email")
    kim.type("email", kim.email)
    kim.wait_until(lambda: kim.is_ready, "Next")
    kim.run_script(HOLD_TIMERS + HOLD_ANSWERS)
    button = kim.find("button.main")
    button.click()
    assert button.get_attribute("aria-busy") == "true"
    kim.run_script("passTime(999)")
    assert said(kim) == [], "a short wait is not announced"
    kim.run_script("passTime(1000)")
    assert said(kim) == ["Please wait…"]
    kim.run_script("window.release()")
    kim.wait_for_path("/signup/code")


def test_next_stops_waiting_after_a_refusal_and_after_a_failure(person):
    kim = person().go_to("email")
    kim.type("email", kim.email)
    kim.wait_until(lambda: kim.is_ready, "Next")
    kim.run_script(HOLD_TIMERS + "window.fetch = () => Promise.reject(new TypeError());")
    button = kim.find("button.main")
    button.click()
    kim.wait_until(lambda: "You're offline" in kim.text, "the failure")
    assert not button.get_attribute("aria-busy")
    kim.run_script("passTime(1000)")
    assert said(kim) == [], "the wait has ended"
    refusal = json.dumps({"errors": [{"field": "email", "message": "No."}]})
    kim.run_script("window.fetch = async () => new Response(arguments[0], { status: 422 });", refusal)
    button.click()
    kim.wait_until(lambda: kim.refusal("email"), "the refusal")
    assert not button.get_attribute("aria-busy")


def test_a_form_that_the_browser_sends_shows_that_it_waits_until_the_page_is_shown_again(person):
    kim = person().go_to("review")
    kim.run_script("addEventListener('submit', (event) => event.preventDefault())")
    button = kim.find("button.main")
    button.click()
    assert button.get_attribute("aria-busy") == "true"
    kim.run_script("dispatchEvent(new PageTransitionEvent('pageshow', { persisted: true }))")
    assert not button.get_attribute("aria-busy")


# MARK: Passwords


def test_leaving_a_refused_password_keeps_it_and_sending_empties_it(person):
    kim = person().go_to("password")
    kim.press("short one")
    kim.find("h1").click()
    kim.wait_until(lambda: "at least 15" in kim.refusal("password"), "the refusal")
    assert value(kim, "password") == "short one" and kim.focused is None
    kim.find("button.main").click()
    kim.wait_until(lambda: value(kim, "password") == "", "the empty field")
    kim.wait_until(lambda: kim.focused == "password", "the focus")
    assert "at least 15" in kim.refusal("password")
    assert kim.find("[name=password]").get_attribute("aria-invalid") == "true"


def test_leaving_a_confirmation_that_differs_keeps_it(person):
    kim = person().go_to("password")
    kim.type("password", PASSWORD)
    kim.wait_until(kim.find("[name=confirmation]").is_displayed, "the confirmation")
    kim.type("confirmation", "another pass phrase")
    kim.find("h1").click()
    kim.wait_until(lambda: "don't match" in kim.refusal("confirmation"), "the refusal")
    assert value(kim, "confirmation") == "another pass phrase" and value(kim, "password") == PASSWORD
    kim.find("button.main").click()
    kim.wait_until(lambda: value(kim, "confirmation") == "" and kim.focused == "confirmation", "the empty field")


def test_the_length_of_a_password_is_counted_as_the_server_counts(person):
    kim = person().go_to("password")
    field = kim.find("[name=password]")
    # Two words, a composed and a decomposed letter, a Korean syllable, and characters outside of the first plane.
    for typed, length in [("pass phrase", 11), ("é", 1), ("e\u0301", 1), ("각", 1), ("😀😀", 2)]:
        kim.run_script(
            "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input', {bubbles: true}))",
            field,
            typed,
        )
        assert tally(kim) == f"{length} characters (at least 15)", typed
    kim.press(Keys.BACKSPACE, Keys.BACKSPACE)
    assert tally(kim) == "" and value(kim, "password") == ""


def test_a_good_password_gets_a_tick_and_a_common_one_is_refused_while_typing(person):
    kim = person().go_to("password")
    kim.press("passwordpassword")
    kim.wait_until(lambda: "easy to guess" in kim.refusal("password"), "the refusal")
    assert value(kim, "password") == "passwordpassword" and kim.focused == "password"
    assert tally(kim) == "16 characters (at least 15)"
    kim.type("password", PASSWORD)
    kim.wait_until(lambda: tally(kim).endswith("Good password"), "the tick")
    assert kim.refusal("password") == "" and value(kim, "password") == PASSWORD and kim.focused == "password"
    kim.press("x")
    assert tally(kim) == f"{len(PASSWORD) + 1} characters (at least 15)", "the new password is not checked yet"


def test_without_an_answer_a_password_gets_no_tick(person):
    kim = person().go_to("password")
    kim.run_script("window.fetch = () => Promise.reject(new TypeError());")
    kim.press(PASSWORD)
    kim.wait_until(kim.find("[name=confirmation]").is_displayed, "the confirmation")
    assert tally(kim) == f"{len(PASSWORD)} characters (at least 15)"


def test_the_length_of_a_password_is_announced_only_after_a_pause(person):
    kim = person().go_to("password")
    kim.run_script(HOLD_TIMERS)
    kim.press("pass phrase")
    assert said(kim) == []
    kim.run_script("passTime(2000)")
    assert said(kim) == ["11 characters (at least 15)"]
    kim.press("s")
    assert said(kim) == []


# MARK: Keyboards of phones


def test_the_enter_key_of_a_phone_says_what_it_does(person):
    kim = person().go_to("password")
    hint = lambda name: kim.find(f"[name={name}]").get_attribute("enterkeyhint")
    assert hint("password") == "done"
    kim.press(PASSWORD)
    kim.wait_until(kim.find("[name=confirmation]").is_displayed, "the confirmation")
    assert hint("password") == "next" and hint("confirmation") == "done"
    kim.press(Keys.ENTER, PASSWORD, Keys.ENTER)
    kim.wait_for_path("/signup/profile")
    assert [hint("username"), hint("display_name")] == ["next", "next"]


def test_without_script_the_enter_key_of_a_phone_sends_the_step(person):
    kim = person(script=False)
    kim.open("/signup")
    assert kim.find("[name=email]").get_attribute("enterkeyhint") == "done"


def test_a_phone_capitalizes_names_and_sentences_only(person, business_site):
    kim = person().go_to("profile")
    traits = lambda name: [kim.find(f"[name={name}]").get_attribute(a) for a in ("autocapitalize", "spellcheck")]
    assert traits("username") == ["none", "false"]
    assert traits("display_name") == ["words", "false"]
    assert traits("introduction") == ["sentences", "true"]
    lee = person(at=business_site)
    lee.open("/signup")
    kim = lee
    assert traits("full_name") == ["words", "false"] and traits("email") == ["none", "false"]


def test_full_width_digits_become_ordinary_ones(person):
    kim = person().go_to("code")
    wide = kim.site.mailbox.code(kim.email).translate({48 + n: 0xFF10 + n for n in range(10)})
    kim.browser.execute_cdp_cmd("Input.insertText", {"text": wide})
    assert value(kim, "code") == kim.site.mailbox.code(kim.email)


# MARK: Refusals


def test_two_refusals_at_once_are_both_announced_with_the_labels_of_their_fields(person, business_site):
    kim = person(at=business_site).start("person")
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.focused == "full_name" and kim.refusal("email"), "the refusals")
    assert said(kim) == ["This field is required: Your name", "Work email: Enter your email address."]
    kim.press("K")
    assert said(kim) == [], "what was said is not said again"


def test_the_title_of_the_page_says_that_the_step_is_refused(person):
    kim = person().go_to("email")
    assert not kim.browser.title.startswith("Error:")
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.refusal("email"), "the refusal")
    kim.wait_until(lambda: kim.browser.title.startswith("Error: What's your email address?"), "the title")
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.focused == "email", "the focus")
    assert kim.browser.title.count("Error") == 1
    kim.type("email", "k")
    assert kim.browser.title.startswith("What's your email address?"), "the mistake is being mended"


def test_the_title_says_without_script_that_the_step_is_refused(person):
    kim = person("ko", script=False)
    kim.open("/signup")
    assert not kim.browser.title.startswith("오류:")
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.refusal("email"), "the refusal")
    assert kim.browser.title.startswith("오류: ")


# MARK: Coming back


def test_a_person_who_comes_back_to_a_complete_step_begins_at_its_heading(person):
    kim = person().go_to("contact")
    kim.open("/signup/profile")
    assert kim.run_script("return document.activeElement.matches('h1') && scrollY === 0")
    kim.open("/signup/password")
    assert kim.run_script("return document.activeElement.matches('h1')"), "the password need not be typed again"


def test_the_progress_names_each_step_and_says_which_are_complete(person):
    kim = person().go_to("password")
    names = [step.get_attribute("textContent") for step in kim.find_all(".steps li")]
    assert names[:3] == ["Email address (completed)", "Email verification (completed)", "Password"]
    link = kim.find(".steps a")
    name = link.find_element("css selector", ".unseen")
    assert name.size["width"] <= 1
    kim.run_script("arguments[0].focus({ focusVisible: true })", link)
    assert name.size["width"] > 100 and kim.run_script("return document.documentElement.scrollWidth <= innerWidth")


# MARK: Codes


@pytest.mark.parametrize("clipboard", ["refused", "absent"])
def test_a_message_says_that_the_browser_cannot_copy(person, clipboard):
    kim = person().go_to("totp")
    take = {
        "refused": "navigator.clipboard.writeText = () => Promise.reject(new DOMException('', 'NotAllowedError'));",
        "absent": "Object.defineProperty(navigator, 'clipboard', { value: undefined });",
    }
    kim.run_script(take[clipboard])
    kim.find("[data-copy]").click()
    text = "Copying isn't possible here. Select the codes and copy them."
    kim.wait_until(lambda: said(kim) == [text], "the message")
    assert kim.find("[data-told]").text == text
    selected = "".join(kim.run_script("return getSelection().toString()").split())
    assert selected == "".join(group.text for group in kim.find_all(".secret span"))
    # An unhandled rejection would be a message on the console.
    kim.check_console()


def test_the_page_of_the_authenticator_explains_it_before_the_picture(person):
    kim = person().go_to("totp")
    top = lambda selector: kim.find(selector).location["y"]
    assert "An authenticator app" in kim.text and "is optional" in kim.text
    assert top("#field-totp-help") < top(".qr") < top(".secret") < top("[name=totp]")
    assert kim.find(".qr").get_attribute("role") == "img" and kim.find(".qr").get_attribute("aria-label")
    kim.browser.execute_cdp_cmd(
        "Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    )
    kim.find("[data-copy]").click()
    kim.wait_until(lambda: kim.find("[data-copy]").text == "Copied", "the copy")
    key = "".join(group.text for group in kim.find_all(".secret span"))
    assert kim.run_script("return navigator.clipboard.readText()") == key


def test_the_link_to_an_app_is_only_on_devices_with_a_touchscreen(person):
    kim = person().go_to("totp")
    link = "a[href^='otpauth:']"
    assert not kim.find(link).is_displayed()
    phone = {"width": 390, "height": 760, "deviceScaleFactor": 1, "mobile": True}
    try:
        kim.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", phone)
        kim.browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})
        kim.wait_until(kim.find(link).is_displayed, "the link")
    finally:
        kim.browser.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
        kim.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
