"""Recovery, a change of the address, and the profile, in a real browser."""

import pytest
from selenium.webdriver import Keys

from person import PASSWORD
from test_looks import violations
from test_sign_in import check_looks, sign_out, sign_up

NEW_PASSWORD = "another phrase of mine"


def sign_in(kim, name, password):
    kim.open("/sign-in")
    kim.type("identifier", name)
    kim.type("password", password).send_keys(Keys.ENTER)
    kim.wait_until(lambda: kim.path == "/account", "the account")


def submit(kim, path):
    """Presses the main button, which a page with script enables once the answers are valid."""
    kim.press_next()
    kim.wait_until(lambda: kim.path == path, path)


def recover(kim, address, password):
    kim.open("/sign-in")
    kim.find("a[href='/recovery']").click()
    kim.wait_until(lambda: kim.path == "/recovery")
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.path == "/recovery/email")
    kim.type("email", address)
    submit(kim, "/recovery/code")
    # The first code was that of the sign-up.
    kim.type("code", kim.site.mailbox.code(address, 2))
    submit(kim, "/recovery/password")
    kim.type("password", password)
    kim.wait_until(kim.find("[name=confirmation]").is_displayed, "the confirmation")
    kim.type("confirmation", password)
    submit(kim, "/recovery/review")
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.path == "/account?password-changed")


@pytest.mark.parametrize("script", [True, False])
def test_a_person_recovers_a_forgotten_password(person, script):
    owner = sign_up(person())
    kim = person(script=script)
    recover(kim, owner.email, NEW_PASSWORD)
    assert owner.email in kim.text
    kim.find("form[action='/account/sign-out'] button.main").click()
    kim.wait_until(lambda: kim.path == "/sign-in?signed-out")
    sign_in(kim, owner.username, NEW_PASSWORD)


@pytest.mark.parametrize("script", [True, False])
def test_a_person_changes_the_address_and_brings_it_back(person, script):
    owner = sign_up(person())
    kim = person(script=script)
    sign_in(kim, owner.username, PASSWORD)
    new = f"new-{owner.email}"
    kim.find("a[href='/account/email']").click()
    kim.wait_until(lambda: kim.path == "/account/email")
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.path == "/email-change/email")
    kim.type("email", new)
    submit(kim, "/email-change/code")
    kim.type("code", kim.site.mailbox.code(new))
    submit(kim, "/email-change/review")
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.path == "/account?address-changed")
    assert new in kim.text
    kim.open(kim.site.mailbox.link(owner.email, "/email-change/undo"))
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.find_all("form[action='/recovery']"), "the way to a new password")
    recover(kim, owner.email, NEW_PASSWORD)
    assert new not in kim.text


def test_a_person_changes_the_profile(person):
    kim = sign_up(person())
    kim.open("/account/profile")
    kim.type("username", "admin")
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.find("[data-field=username] .refusal").text)
    kim.type("username", kim.username)
    kim.type("display_name", "Kim")
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.path == "/account?saved")
    assert "Kim" in kim.text
    kim.check_console()


@pytest.mark.parametrize("language", ["en", "ko"])
def test_axe_finds_no_violation(person, language):
    kim = sign_up(person(language))
    kim.browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 320, "height": 700, "deviceScaleFactor": 1, "mobile": True},
    )
    try:
        for page in ["account/profile", "account/contact", "account/email"]:
            check_looks(kim, page)
        kim.find("button.main").click()
        kim.wait_until(lambda: kim.path == "/email-change/email")
        assert violations(kim) == [], "the new address"
        kim.open("/account")
        sign_out(kim)
        check_looks(kim, "recovery")
        kim.find("button.main").click()
        kim.wait_until(lambda: kim.path == "/recovery/email")
        assert violations(kim) == [], "the address"
        kim.type("email", kim.email)
        submit(kim, "/recovery/code")
        assert violations(kim) == [], "the code"
        kim.type("code", kim.site.mailbox.code(kim.email, 2))
        submit(kim, "/recovery/password")
        assert violations(kim) == [], "the password"
    finally:
        kim.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
