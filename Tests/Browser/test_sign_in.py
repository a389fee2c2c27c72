"""The pages of sign-in and account in a real browser."""

import pytest
from selenium.webdriver import Keys

from person import PASSWORD
from test_looks import violations

NEW_PASSWORD = "another phrase of mine"


def sign_up(kim):
    kim.go_to("review")
    kim.find("button.main").click()
    kim.wait_for_path("/signup")
    return kim


def sign_up_with_app(kim):
    """Signs up with an authenticator app, and keeps the recovery codes in `kim.recovery_codes`."""
    kim.go_to("totp")
    kim.submit_authenticator_code()
    kim.wait_until(lambda: kim.find_all("#codes code"), "the recovery codes")
    kim.recovery_codes = [code.text for code in kim.find_all("#codes code")]
    kim.find("button.main").click()
    kim.wait_for_path("/signup/terms")
    kim.complete("terms")
    kim.wait_for_path("/signup/review")
    kim.find("button.main").click()
    kim.wait_for_path("/signup")
    return kim


def sign_out(kim):
    kim.find("header form[action='/account/sign-out'] button").click()
    kim.wait_for_path("/sign-in?signed-out")


@pytest.mark.parametrize("path, name", [("/sign-in", "identifier"), ("/signup", "email"), ("/recovery", "email")])
def test_a_refused_form_is_not_sent_again_by_a_return_to_its_page(person, path, name):
    kim = person()
    kim.open(path)
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.find_all("[aria-invalid=true]"), "the refusal")
    kim.open("/problems/validation-failed")
    kim.browser.back()
    # Without a new entry in the history, the browser shows an error: it does not send a form again by itself.
    kim.wait_until(lambda: kim.find_all(f"[name={name}]"), "the page of the form")
    assert not kim.find_all("[aria-invalid=true]")


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_person_lands_on_the_account_and_signs_in_with_only_the_keyboard(person, language):
    kim = sign_up(person(language))
    kim.find("a.main").click()
    kim.wait_for_path("/account")
    assert kim.email in kim.text and kim.username in kim.text
    sign_out(kim)
    assert kim.find("#notice").is_displayed()
    assert kim.focused == "identifier"
    kim.press(kim.email, Keys.TAB, "not the pass phrase", Keys.ENTER)
    kim.wait_for_path("/sign-in")
    assert (
        kim.find("#notice").text
        == {
            "en": "The email address, username or password is incorrect.",
            "ko": "이메일 주소, 아이디 또는 비밀번호가 올바르지 않습니다.",
        }[language]
    )
    assert kim.find("[name=identifier]").get_attribute("value") == kim.email
    assert kim.focused == "password"
    # The button that shows the password comes between.
    kim.press(PASSWORD, Keys.TAB, Keys.TAB, Keys.SPACE, Keys.ENTER)
    kim.wait_for_path("/account")
    session = kim.browser.get_cookie("session")
    assert session["httpOnly"] and session["expiry"], "the cookie lacks HttpOnly, or ends with the browser"
    kim.check_console()


def test_the_browser_remembers_who_signs_in_while_a_mailed_code_proves_it(person):
    kim = sign_up(person())
    kim.open("/account")
    sign_out(kim)
    kim.browser.delete_all_cookies()
    kim.site.sql("DELETE FROM devices")
    kim.open("/sign-in/mail")
    kim.type("identifier", kim.username).send_keys(Keys.ENTER)
    kim.wait_for_path("/sign-in/code")
    kim.type("code", kim.site.mailbox.code(kim.email, 2)).send_keys(Keys.ENTER)
    kim.wait_for_path("/sign-in?known")
    assert kim.find("[name=identifier]").get_attribute("value") == kim.username
    kim.wait_until(lambda: kim.focused == "password", "the focus")
    kim.press(PASSWORD, Keys.ENTER)
    kim.wait_for_path("/account")
    sign_out(kim)
    assert kim.find("[name=identifier]").get_attribute("value") == "", "the next person does not see it"


@pytest.mark.parametrize("script", [True, False])
def test_a_person_changes_the_password_and_deletes_the_account(person, script):
    # The helpers of the sign-up need script, so the account is created in another browser.
    name = sign_up(person()).username
    kim = person(script=script)
    kim.open("/sign-in")
    kim.type("identifier", name)
    kim.type("password", PASSWORD).send_keys(Keys.ENTER)
    kim.wait_until(lambda: kim.path == "/account")
    # After ten minutes a change needs the password again.
    kim.site.sql("UPDATE sessions SET auth_time = auth_time - interval '11 minutes'")
    kim.find("a[href='/account/password']").click()
    kim.wait_until(lambda: kim.path == "/account/confirm?password")
    kim.type("password", PASSWORD).send_keys(Keys.ENTER)
    kim.wait_until(lambda: kim.path == "/account/password")
    kim.type("password", "short")
    kim.type("confirmation", "short").send_keys(Keys.ENTER)
    kim.wait_until(lambda: kim.find("#password-refusal").text)
    kim.type("password", NEW_PASSWORD)
    kim.type("confirmation", NEW_PASSWORD).send_keys(Keys.ENTER)
    kim.wait_until(lambda: kim.path == "/account?password-changed")
    assert kim.find("#notice").is_displayed()
    kim.find("a[href='/account/erase']").click()
    kim.wait_until(lambda: kim.path == "/account/erase")
    kim.find("button.danger").click()
    kim.wait_until(lambda: kim.find("h1").text == "Your account has been deleted")
    assert kim.find("main a").get_attribute("href").endswith("/signup")
    assert kim.site.sql(f"SELECT count(*) FROM accounts WHERE username = '{name}'") == "0"


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "ko"])
def test_axe_finds_no_violation_and_controls_are_large(person, language, scheme):
    kim = sign_up_with_app(person(language))
    kim.browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    kim.browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 320, "height": 700, "deviceScaleFactor": 1, "mobile": True},
    )
    try:
        for page in ["account", "account/password", "account/confirm", "account/erase"]:
            check_looks(kim, page)
        kim.open("/account")
        sign_out(kim)
        check_looks(kim, "sign-in")
        kim.type("identifier", kim.username)
        kim.type("password", "not the pass phrase").send_keys(Keys.ENTER)
        kim.wait_until(lambda: kim.find("#notice").is_displayed())
        check_looks_of_open_page(kim, "a failed sign-in")
        # Without a sign-in that waits for these answers, the pages would lead back to its beginning.
        kim.type("password", PASSWORD).send_keys(Keys.ENTER)
        kim.wait_for_path("/sign-in/second-factor")
        for page in ["sign-in/second-factor", "sign-in/recovery-code", "sign-in/mail"]:
            check_looks(kim, page)
        kim.type("identifier", kim.username).send_keys(Keys.ENTER)
        kim.wait_for_path("/sign-in/code")
        check_looks(kim, "sign-in/code")
    finally:
        kim.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        kim.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def check_looks(kim, page):
    """Opens a page and checks it. Fails if the server leads to another one. The script takes away the fragment of a link."""
    kim.open(f"/{page}")
    assert kim.path.partition("#")[0] == f"/{page}".partition("#")[0]
    check_looks_of_open_page(kim, page)


def check_looks_of_open_page(kim, page):
    """Checks accessibility, the height of controls, and that the page fits into 320 pixels, the width of the window."""
    assert violations(kim) == [], page
    assert kim.run_script("return document.documentElement.scrollWidth") <= 320, page
    small = kim.run_script(
        "return [...document.querySelectorAll('main button, main a, main input:not([type=checkbox], [type=radio])')]"
        ".filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 44).map((e) => e.outerHTML)"
    )
    assert small == [], page
