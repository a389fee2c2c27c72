"""The page of the authenticator app of an account, in a real browser."""

import pytest
from selenium.webdriver import Keys

from person import PASSWORD
from server import serve
from test_account_flows import sign_in
from test_looks import violations
from test_sign_in import check_looks, sign_up

PAGE = "/account/authenticator"


def account(kim):
    return f"(SELECT id FROM accounts WHERE username = '{kim.username}')"


def tab_to(kim, selector):
    """Presses Tab until this element has the focus."""
    for _ in range(40):
        kim.press(Keys.TAB)
        if kim.run_script("return document.activeElement.matches(arguments[0])", selector):
            return
    raise AssertionError(f"Tab does not reach {selector}")


def codes_on(kim):
    kim.wait_until(lambda: kim.find_all("#codes code"), "the recovery codes")
    return [code.text for code in kim.find_all("#codes code")]


def set_up(kim):
    """Enters the code of an app with the secret on the page. Returns the secret and the recovery codes."""
    secret = kim.find(".secret code").text
    kim.type("code", kim.authenticator_code)
    kim.find("button.main").click()
    codes = codes_on(kim)
    assert len(codes) == 10
    save(kim)
    return secret, codes


def save(kim):
    """Confirms that the recovery codes on the page are saved."""
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.path == "/account?saved", "the account")


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_person_sets_up_replaces_and_removes_the_app_with_only_the_keyboard(person, language):
    kim = sign_up(person(language))
    kim.open("/account")
    tab_to(kim, f"a[href='{PAGE}']")
    kim.press(Keys.ENTER)
    kim.wait_for_path(PAGE)
    assert not kim.find_all(f"a[href='{PAGE}/remove']"), "there is no app yet"
    kim.wait_until(lambda: kim.focused == "code", "the focus")
    kim.press("000000", Keys.ENTER)
    kim.wait_until(lambda: kim.refusal("code") and kim.focused == "code", "the focus on the refused code")
    kim.press(kim.authenticator_code, Keys.ENTER)
    first = codes_on(kim)
    assert len(set(first)) == 10
    tab_to(kim, "button.main")
    kim.press(Keys.ENTER)
    kim.wait_for_path("/account?saved")
    kim.open(PAGE)
    assert kim.focused != "code", "the page begins with other choices"
    tab_to(kim, f"a[href='{PAGE}/codes']")
    kim.press(Keys.ENTER)
    kim.wait_for_path(f"{PAGE}/codes")
    tab_to(kim, "main button")
    kim.press(Keys.ENTER)
    second = codes_on(kim)
    assert len(second) == 10 and not set(first) & set(second)
    save(kim)
    kim.open(PAGE)
    tab_to(kim, "[name=code]")
    kim.press(kim.authenticator_code, Keys.ENTER)
    third = codes_on(kim)
    assert len(third) == 10 and not set(second) & set(third)
    save(kim)
    kim.open(PAGE)
    tab_to(kim, f"a[href='{PAGE}/remove']")
    kim.press(Keys.ENTER)
    kim.wait_for_path(f"{PAGE}/remove")
    tab_to(kim, "button.danger")
    kim.press(Keys.ENTER)
    kim.wait_for_path("/account?authenticator-removed")
    assert kim.find("#notice").is_displayed()
    assert kim.site.sql(f"SELECT count(*) FROM recovery_codes WHERE account = {account(kim)}") == "0"
    kim.open(PAGE)
    assert not kim.find_all(f"a[href='{PAGE}/remove']")
    kim.check_console()


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("script", [True, False])
def test_a_person_sets_up_replaces_and_removes_the_app(person, language, script):
    # The helpers of the sign-up need script, so the account is created in another browser.
    owner = sign_up(person(language))
    kim = person(language, script=script)
    sign_in(kim, owner.username, PASSWORD)
    kim.site.sql(f"UPDATE sessions SET auth_time = auth_time - interval '11 minutes' WHERE account = {account(owner)}")
    kim.find(f"a[href='{PAGE}']").click()
    kim.wait_until(lambda: kim.path == "/account/confirm?authenticator", "the confirmation")
    kim.type("password", PASSWORD).send_keys(Keys.ENTER)
    kim.wait_until(lambda: kim.path == PAGE, "the page")
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.refusal("code"), "a refusal without a code")
    first, _ = set_up(kim)
    kim.open(PAGE)
    second, old = set_up(kim)
    assert second != first, "each app has another secret"
    kim.open(PAGE)
    kim.find(f"a[href='{PAGE}/codes']").click()
    kim.wait_until(lambda: kim.path == f"{PAGE}/codes", "the question")
    kim.find("main button").click()
    assert not set(codes_on(kim)) & set(old)
    save(kim)
    kim.open(PAGE)
    kim.find(f"a[href='{PAGE}/remove']").click()
    kim.wait_until(lambda: kim.path == f"{PAGE}/remove", "the question")
    kim.find("button.danger").click()
    kim.wait_until(lambda: kim.path == "/account?authenticator-removed", "the account")
    assert kim.find("#notice").is_displayed()
    assert kim.site.sql(f"SELECT count(*) FROM authenticators WHERE account = {account(owner)}") == "0"


def test_a_reload_shows_the_recovery_codes_until_they_are_saved(person):
    kim = sign_up(person())
    kim.open(PAGE)
    kim.type("code", kim.authenticator_code).send_keys(Keys.ENTER)
    codes = codes_on(kim)
    kim.browser.refresh()
    assert codes_on(kim) == codes and not kim.find_all("[name=code]")
    save(kim)
    kim.open(PAGE)
    assert kim.find_all("[name=code]") and not kim.find_all("#codes")


def test_a_recovery_code_of_an_added_app_signs_in(person):
    kim = sign_up(person())
    kim.open(PAGE)
    _, codes = set_up(kim)
    kim.open("/account")
    kim.find("header form[action='/account/sign-out'] button").click()
    kim.wait_for_path("/sign-in?signed-out")
    kim.type("identifier", kim.username)
    kim.type("password", PASSWORD).send_keys(Keys.ENTER)
    kim.wait_for_path("/sign-in/second-factor")
    kim.find("a[href='/sign-in/recovery-code']").click()
    kim.wait_for_path("/sign-in/recovery-code")
    kim.type("code", codes[0]).send_keys(Keys.ENTER)
    assert len(codes_on(kim)) == 1 and codes_on(kim)[0] not in codes


def test_the_button_that_sets_up_the_app_has_one_line_of_text(person):
    kim = sign_up(person())
    kim.open(PAGE)
    assert kim.find("button.main").size["height"] == 48


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "ko"])
def test_axe_finds_no_violation_and_controls_are_large(person, language, scheme):
    kim = sign_up(person(language))
    kim.browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    kim.browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 320, "height": 700, "deviceScaleFactor": 1, "mobile": True},
    )
    try:
        check_looks(kim, PAGE.removeprefix("/"))
        kim.type("code", "000000").send_keys(Keys.ENTER)
        kim.wait_until(lambda: kim.refusal("code"), "the refusal")
        assert violations(kim) == [], "a wrong code"
        kim.type("code", kim.authenticator_code).send_keys(Keys.ENTER)
        codes_on(kim)
        assert violations(kim) == [], "the recovery codes"
        save(kim)
        check_looks(kim, PAGE.removeprefix("/"))
    finally:
        kim.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
        kim.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


STEP_WITH_APP_AND_NOTE = """
flow: app
version: 1
steps:
  - name: email
    title: Email
    fields: [{name: email, kind: email, identifier: true, label: Email}]
  - name: code
    title: Code
    fields: [{name: code, kind: code, proves: email, label: Code}]
  - name: extras
    title: Extras
    optional: true
    fields:
      - {name: totp, kind: totp, required: false, label: App}
      - {name: note, kind: text, required: false, max: 20, label: Note}
"""


def test_a_step_can_be_sent_again_after_its_app_is_set_up(person, tmp_path):
    flow = tmp_path / "signup.yaml"
    flow.write_text(STEP_WITH_APP_AND_NOTE)
    with serve(flow) as site:
        kim = person(at=site)
        kim.open("/signup")
        kim.complete("email")
        kim.wait_for_path("/signup/code")
        kim.complete("code")
        kim.wait_for_path("/signup/extras")
        kim.submit_authenticator_code()
        codes_on(kim)
        kim.find("button.main").click()
        kim.wait_for_path("/signup/review")
        kim.open("/signup/extras")
        kim.type("note", "Hello")
        kim.press_next()
        kim.wait_for_path("/signup/review")
