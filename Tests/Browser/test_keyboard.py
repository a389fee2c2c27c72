"""Changes of an account in a real browser, with only the keyboard."""

import pytest
from selenium.webdriver import Keys

from person import PASSWORD
from test_account_flows import NEW_PASSWORD
from test_authenticator import account, codes_on, tab_to
from test_sign_in import sign_up, sign_up_with_app


def follow(kim, selector, path):
    """Tabs to a link or a button, presses Enter, and waits for the page."""
    tab_to(kim, selector)
    kim.press(Keys.ENTER)
    kim.wait_for_path(path)


def wait_for_focus(kim, name):
    kim.wait_until(lambda: kim.focused == name, f"the focus on {name}")


def enter_nothing(kim, name):
    """Submits an empty form. The focus stays on the refused field."""
    wait_for_focus(kim, name)
    kim.press(Keys.ENTER)
    kim.wait_until(lambda: kim.refusal(name) and kim.focused == name, "the focus on the refused field")


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_person_recovers_the_account(person, language):
    kim = sign_up_with_app(person(language))
    kim.browser.delete_all_cookies()
    kim.open("/sign-in")
    follow(kim, "a[href='/recovery']", "/recovery")
    enter_nothing(kim, "email")
    kim.press(kim.email, Keys.ENTER)
    kim.wait_for_path("/recovery/code")
    wait_for_focus(kim, "code")
    # The first code is that of the sign-up.
    kim.press(kim.site.mailbox.code(kim.email, 2), Keys.ENTER)
    kim.wait_for_path("/recovery/second-factor")
    enter_nothing(kim, "second_factor")
    kim.press(kim.recovery_codes[0], Keys.ENTER)
    assert len(codes_on(kim)) == 1
    follow(kim, "a.main", "/recovery/password")
    wait_for_focus(kim, "password")
    kim.press(NEW_PASSWORD)
    kim.wait_until(kim.find("[name=confirmation]").is_displayed, "the confirmation")
    kim.press(Keys.ENTER)
    wait_for_focus(kim, "confirmation")
    kim.press(NEW_PASSWORD, Keys.ENTER)
    kim.wait_for_path("/recovery/review")
    follow(kim, "button.main", "/account?password-changed")
    assert kim.find("#notice").is_displayed() and kim.email in kim.text
    kim.check_console()


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_person_changes_the_address_and_brings_it_back(person, language):
    kim = sign_up(person(language))
    new = f"{kim.username}@example.net"
    kim.open("/account")
    follow(kim, "a[href='/account/email']", "/account/email")
    wait_for_focus(kim, "email")
    kim.press(new.removesuffix(".net"), Keys.ENTER)
    kim.wait_until(lambda: kim.refusal("email") and kim.focused == "email", "the focus on the refused field")
    kim.press(Keys.END, ".net", Keys.ENTER)
    kim.wait_for_path("/email-change/code")
    wait_for_focus(kim, "code")
    kim.press(kim.site.mailbox.code(new), Keys.ENTER)
    kim.wait_for_path("/email-change/review")
    follow(kim, "button.main", "/account?address-changed")
    assert kim.find("#notice").is_displayed() and new in kim.text
    kim.open(kim.site.mailbox.link(kim.email, "/email-change/undo"))
    tab_to(kim, "button.main")
    kim.press(Keys.ENTER)
    kim.wait_until(lambda: kim.find_all("form[action='/recovery']"), "the way to a new password")
    address = kim.site.sql(f"SELECT email FROM accounts WHERE id = {account(kim)}")
    assert address == kim.email
    follow(kim, "form[action='/recovery'] button", "/recovery/email")
    wait_for_focus(kim, "email")
    kim.check_console()


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_person_erases_the_account(person, language):
    kim = sign_up(person(language))
    kim.site.sql(f"UPDATE sessions SET auth_time = auth_time - interval '11 minutes' WHERE account = {account(kim)}")
    kim.open("/account")
    follow(kim, "a[href='/account/erase']", "/account/confirm?erase")
    wait_for_focus(kim, "password")
    kim.press(PASSWORD, Keys.ENTER)
    kim.wait_for_path("/account/erase")
    assert not kim.run_script("return document.activeElement.matches('button')"), "Enter alone erases nothing"
    kim.press(Keys.ENTER)
    assert kim.site.sql(f"SELECT count(*) FROM accounts WHERE username = '{kim.username}'") == "1"
    tab_to(kim, "button.danger")
    kim.press(Keys.ENTER)
    kim.wait_until(lambda: not kim.find_all("button.danger"), "the last page")
    assert kim.site.sql(f"SELECT count(*) FROM accounts WHERE username = '{kim.username}'") == "0"
    follow(kim, "main a[href='/signup']", "/signup")
    kim.check_console()
