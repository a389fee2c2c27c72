"""Recovery, a change of the address, and changes of the profile, the photo and consents, in a real browser."""

import pytest
from selenium.webdriver import Keys

from person import PASSWORD
from test_looks import violations
from test_photos import PICTURE, choose, is_dialog_open
from test_sign_in import check_looks, sign_out, sign_up

NEW_PASSWORD = "another phrase of mine"


def sign_in(kim, name, password):
    kim.open("/sign-in")
    kim.type("identifier", name)
    kim.type("password", password).send_keys(Keys.ENTER)
    kim.wait_until(lambda: kim.path == "/account", "the account")


def submit(kim, path):
    """Presses the main button when it is enabled, and waits for the next page."""
    kim.press_next()
    kim.wait_until(lambda: kim.path == path, path)


def recover(kim, address, password):
    kim.open("/sign-in")
    kim.find("a[href='/recovery']").click()
    kim.wait_until(lambda: kim.path == "/recovery")
    kim.type("email", address)
    submit(kim, "/recovery/code")
    # The first code is that of the sign-up.
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
    kim.find("header form[action='/account/sign-out'] button").click()
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
    kim.type("email", new)
    submit(kim, "/email-change/code")
    kim.type("code", kim.site.mailbox.code(new))
    submit(kim, "/email-change/review")
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.path == "/account?address-changed")
    assert new in kim.text
    link = kim.site.mailbox.link(owner.email, "/email-change/undo")
    kim.open(link)
    if script:
        assert not kim.find("[name=token]").is_displayed()
    else:
        kim.type("token", link.rpartition("=")[2])
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


def rows_of(owner, columns, table):
    return owner.site.sql(
        f"SELECT {columns} FROM {table} JOIN accounts ON account = accounts.id WHERE username = '{owner.username}'"
    )


@pytest.mark.parametrize("script", [True, False])
def test_a_person_adds_a_photo_and_removes_it(person, script):
    owner = sign_up(person())
    kim = person(script=script)
    sign_in(kim, owner.username, PASSWORD)
    kim.open("/account/profile")
    choose(kim, PICTURE)
    if script:
        kim.wait_until(lambda: is_dialog_open(kim), "the dialog")
        kim.find("[data-use]").click()
        kim.wait_until(lambda: kim.find(".preview").is_displayed(), "the preview")
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.path == "/account?saved")
    assert kim.find("dd img").get_attribute("src").endswith("/account/photos/photo")
    assert rows_of(owner, "type", "photos") == "image/jpeg"
    kim.open("/account/profile")
    kim.type("display_name", "Unsaved")
    kim.find("button[form=remove-photo]").click()
    kim.wait_until(lambda: not kim.find_all("button[form=remove-photo]"), "the form without the photo")
    assert kim.path == "/account/profile?photo-removed"
    assert rows_of(owner, "count(*)", "photos") == "0"
    if script:
        kim.wait_until(lambda: kim.find("[name=display_name]").get_attribute("value") == "Unsaved", "the other change")
        kim.open("/account")
        kim.open("/account/profile")
        assert kim.find("[name=display_name]").get_attribute("value") == "", "what was not saved is forgotten"


def test_the_page_of_a_new_password_says_the_length_and_shows_what_is_typed(person):
    kim = sign_up(person())
    kim.open("/account/password")
    field = kim.find("[name=password]")
    help = kim.find(f"#{field.get_attribute('aria-describedby').split()[-1]}")
    assert "at least 15 characters" in help.text
    eye = kim.find(".eye")
    eye.click()
    assert field.get_attribute("type") == "text" and eye.get_attribute("aria-label") == "Hide password"


@pytest.mark.parametrize("language", ["en", "ko"])
def test_an_empty_form_of_the_account_gets_the_messages_of_the_service(person, language):
    new, present = {
        "en": ["Enter a password.", "Enter your password."],
        "ko": ["비밀번호를 입력해 주세요.", "비밀번호를 입력해 주세요."],
    }[language]
    kim = sign_up(person(language))
    kim.open("/account/password")
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.find("#password-refusal").text, "the refusal")
    assert new in kim.find("#password-refusal").text
    sign_out_of(kim)
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.find("#password-refusal").text, "the refusal")
    assert present in kim.find("#password-refusal").text


def sign_out_of(kim):
    kim.open("/account")
    sign_out(kim)


def test_the_list_of_sessions_has_times_where_the_person_is(person):
    kim = sign_up(person())
    kim.browser.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": "Asia/Tokyo"})
    try:
        kim.open("/account")
        shown = kim.find(".sessions time")
        expected = "return new Intl.DateTimeFormat('en', {dateStyle: 'medium', timeStyle: 'short', timeZone: 'Asia/Tokyo'}).format(new Date(arguments[0].dateTime))"
        assert shown.text == kim.run_script(expected, shown)
    finally:
        kim.browser.execute_cdp_cmd("Emulation.setTimezoneOverride", {"timezoneId": ""})


@pytest.mark.parametrize("script", [True, False])
def test_a_person_gives_a_consent_and_withdraws_it(person, script):
    owner = sign_up(person())
    kim = person(script=script)
    sign_in(kim, owner.username, PASSWORD)
    for is_given in [True, False]:
        kim.open("/account/terms")
        assert kim.find("[name=terms]").get_attribute("type") == "hidden", (
            "no box to take back what every account needs"
        )
        assert kim.find("[name=marketing]").is_selected() is not is_given
        kim.find("[name=marketing]").click()
        kim.find("button.main").click()
        kim.wait_until(lambda: kim.path == "/account?saved")
    assert rows_of(owner, "accepted, version", "past_consents") == "t|2026-11"


@pytest.mark.parametrize("language", ["en", "ko"])
def test_axe_finds_no_violation(person, language):
    kim = sign_up(person(language))
    kim.browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": 320, "height": 700, "deviceScaleFactor": 1, "mobile": True},
    )
    try:
        for page in ["account/profile", "account/contact", "account/terms", "account/email"]:
            check_looks(kim, page)
        kim.type("email", "kim@example")
        kim.find("button.main").click()
        kim.wait_until(lambda: kim.refusal("email"), "the refusal")
        assert violations(kim) == [], "the new address"
        kim.open("/account")
        sign_out(kim)
        check_looks(kim, "recovery")
        kim.find("button.main").click()
        kim.wait_until(lambda: kim.refusal("email"))
        assert violations(kim) == [], "the refused address"
        kim.type("email", kim.email)
        submit(kim, "/recovery/code")
        assert violations(kim) == [], "the code"
        kim.type("code", kim.site.mailbox.code(kim.email, 2))
        submit(kim, "/recovery/password")
        assert violations(kim) == [], "the password"
    finally:
        kim.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
