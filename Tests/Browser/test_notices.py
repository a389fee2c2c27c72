"""What the pages tell people: news, limits, codes that are used up, and whose sign-up it is."""

import re

import pytest
from selenium.webdriver import Keys

from person import PASSWORD
from test_fields import said, value
from test_sign_in import sign_out, sign_up


def begin_at_code(kim):
    """Starts a sign-up and sends the address, in a browser with or without script."""
    kim.open("/signup")
    send_address(kim, kim.email)


def send_address(kim, address):
    kim.type("email", address)
    kim.press_next()
    kim.wait_until(lambda: kim.path == "/signup/code", "the step of the code")


def send_code(kim, code):
    kim.type("code", code)
    kim.press_next()


def wrong(code):
    return f"{(int(code) + 1) % 1_000_000:06}"


def let_a_minute_pass(kim):
    kim.site.sql("UPDATE proofs SET sent_at = sent_at - interval '61 seconds' WHERE proved_at IS NULL")
    kim.site.sql("UPDATE limits SET hits = ARRAY(SELECT hit - interval '61 seconds' FROM unnest(hits) AS hit)")


def notice(kim):
    """The role and the text of the notice; None if there is none."""
    shown = kim.find("#notice")
    return (shown.get_attribute("role"), shown.text) if shown.is_displayed() else None


# MARK: Codes


@pytest.mark.parametrize("script", [True, False])
def test_a_code_for_an_address_that_another_tab_has_changed_spends_no_guess(person, script):
    kim = person(script=script)
    begin_at_code(kim)
    former, later = kim.email, f"new-{kim.email}"
    first = kim.browser.current_window_handle
    kim.browser.switch_to.new_window("tab")
    kim.open("/signup/email")
    send_address(kim, later)
    kim.browser.close()
    kim.browser.switch_to.window(first)
    assert former in kim.text
    send_code(kim, kim.site.mailbox.code(former))
    kim.wait_until(lambda: kim.path == "/signup/code?other-address", "the page of the new address")
    assert later in kim.text and former not in kim.find("form").text and not kim.refusal("code")
    assert notice(kim)[1].startswith("The email address was changed in another window")
    code = kim.site.mailbox.code(later)
    send_code(kim, wrong(code))
    kim.wait_until(lambda: "4 attempts left" in kim.refusal("code"), "the first guess at the code")
    send_code(kim, code)
    kim.wait_until(lambda: kim.path == "/signup/password", "the next step")


def test_when_a_code_expires_the_main_button_asks_for_another_one(person):
    kim = person()
    begin_at_code(kim)
    let_a_minute_pass(kim)
    kim.site.sql("UPDATE proofs SET expires_at = now() + interval '2 seconds'")
    kim.browser.refresh()
    kim.wait_until(lambda: kim.find("button.main").text == "Get a new code", "the end of the code")
    assert "This code has expired. Get a new code." in kim.text
    assert not kim.find("[name=code]").is_enabled() and len(kim.find_all("#resend button, [form=resend]")) == 1
    kim.find("button.main").click()
    kim.wait_for_path("/signup/code?sent")
    assert kim.find("[name=code]").is_enabled() and kim.find("button.main").text == "Next"


@pytest.mark.parametrize("script", [True, False])
def test_the_last_wrong_code_says_at_once_what_to_do(person, script):
    kim = person(script=script)
    begin_at_code(kim)
    code = wrong(kim.site.mailbox.code(kim.email))
    for left in ["4 attempts left", "3 attempts left", "2 attempts left", "1 attempt left"]:
        send_code(kim, code)
        kim.wait_until(lambda left=left: left in kim.refusal("code"), left)
        assert kim.find(".clock").is_displayed() == script
        assert ("Each code expires after 10 minutes." in kim.text) != script
    send_code(kim, code)
    kim.wait_until(lambda: "Too many incorrect codes. Get a new code." in kim.refusal("code"), "the end")
    assert "attempts left" not in kim.text and not kim.find_all(".clock")
    again = kim.find("button.main")
    assert again.get_attribute("form") and not kim.find("[name=code]").is_enabled()
    assert again.text.startswith("Get a new code in " if script else "Get a new code")
    let_a_minute_pass(kim)
    kim.open("/signup/code")
    assert "Too many incorrect codes. Get a new code." in kim.refusal("code") and not kim.find_all(".clock")
    again = kim.find("button.main")
    kim.wait_until(lambda: again.is_enabled() and again.text == "Get a new code", "the button")
    assert again.get_attribute("aria-disabled") != "true"
    again.click()
    kim.wait_until(lambda: "We sent a new code." in notice(kim)[1], "the new code")
    assert kim.find("[name=code]").is_enabled() and kim.find("button.main").text == "Next"


@pytest.mark.parametrize("script", [True, False])
def test_the_page_says_that_a_new_code_was_sent(person, script):
    kim = person(script=script)
    begin_at_code(kim)
    let_a_minute_pass(kim)
    kim.open("/signup/code")
    again = kim.find("form[action$='/resend'] button")
    kim.wait_until(again.is_enabled, "the button")
    again.click()
    kim.wait_until(lambda: kim.path == "/signup/code?sent", "the page")
    assert notice(kim) == ("status", "We sent a new code.")
    if script:
        kim.wait_until(lambda: kim.focused == "code", "the focus")
        assert said(kim) == ["We sent a new code."]
    kim.open("/signup/code/resend")
    assert kim.path == "/signup/code" and not notice(kim)


def test_an_error_after_news_is_an_error(person):
    kim = person().go_to("code")
    kim.open("/signup/code?sent")
    kim.run_script("window.fetch = () => Promise.reject(new TypeError());")
    send_code(kim, "123456")
    kim.wait_until(lambda: notice(kim) and notice(kim)[0] == "alert", "the failure")
    assert kim.find("#notice").get_attribute("class") == "notice"


@pytest.mark.parametrize("script", [True, False])
def test_a_former_address_that_was_just_used_says_when_it_can_be_used_again(person, script):
    kim = person(script=script)
    begin_at_code(kim)
    kim.open("/signup/email")
    send_address(kim, f"new-{kim.email}")
    kim.open("/signup/email")
    kim.type("email", kim.email)
    kim.press_next()
    kim.wait_until(lambda: notice(kim), "the limit")
    role, text = notice(kim)
    assert role == "alert" and kim.path == "/signup/email"
    start, seconds, unit = text.rpartition("in ")[0], *text.rpartition("in ")[2].split()
    assert start == "We've just sent an email. You can get another one "
    assert 0 < int(seconds) <= 60 and unit == "sec."


def test_a_limit_says_when_it_is_over(person, one_mail_site):
    person(at=one_mail_site).go_to("code")
    for language, script in [("en", True), ("en", False), ("ko", True)]:
        kim = person(language, script, at=one_mail_site).start()
        kim.type("email", kim.email)
        kim.press_next()
        kim.wait_until(lambda kim=kim: notice(kim), "the limit")
        role, text = notice(kim)
        assert role == "alert" and kim.path == "/signup/email"
        said = {
            "en": r"Too many attempts\. Try again in (\d+) minutes\.",
            "ko": r"요청이 너무 많습니다\. (\d+)분 후에 다시 시도해 주세요\.",
        }[language]
        found = re.fullmatch(said, text)
        assert found and 1 < int(found[1]) <= 50, text


def test_the_page_of_the_code_leads_owners_of_an_account_to_the_sign_in(person):
    kim = person().go_to("code")
    assert "Enter the code from the email that we sent to" in kim.text and "Already have an account?" in kim.text
    kim.find("main a[href='/sign-in']").click()
    kim.wait_for_path("/sign-in")


# MARK: Whose sign-up it is


def test_another_person_at_the_browser_starts_over(person):
    kim = person().go_to("profile")
    kim.open("/signup")
    kim.wait_for_path("/signup/profile")
    assert f"{kim.email} Not you? Cancel sign-up" in " ".join(kim.text.split())
    next(link for link in kim.find_all("main a") if link.text == "Cancel sign-up").click()
    assert kim.find("#cancel").is_displayed()
    kim.find("#cancel .danger").click()
    kim.wait_for_path("/signup?given-up")
    assert notice(kim) == ("status", "Sign-up canceled. Everything you entered has been deleted.")
    assert kim.email not in kim.text


def test_the_review_says_whose_sign_up_it_is(person):
    kim = person("ko").go_to("review")
    [link] = [link for link in kim.find_all("main a") if link.text == "가입 취소"]
    link.click()
    kim.wait_for_path("/signup/cancel")


def test_a_sign_up_that_goes_on_elsewhere_is_no_error(person):
    kim = person().go_to("password")
    kim.find("summary").click()
    kim.find("details button").click()
    kim.wait_until(lambda: kim.path == "/signup/handoff", "the message")
    kim.open("/signup/handoff")
    assert kim.path == "/signup/password", "a browser that opens the path of a form is led to its page"
    cookie = kim.browser.get_cookie("signup")
    kim.open(kim.site.mailbox.link(kim.email))
    kim.wait_until(lambda: kim.find_all("[name=confirmed]"), "the question")
    kim.find("button.main").click()
    kim.wait_for_path("/signup/password")
    kim.browser.delete_all_cookies()
    kim.browser.add_cookie({"name": "signup", "value": cookie["value"]})
    kim.open("/signup")
    text = "You're continuing this sign-up in another browser or on another device. You can also start again here."
    assert notice(kim) == ("status", text)


def test_the_last_page_hides_the_account_after_the_sign_out(person):
    kim = sign_up(person())
    assert kim.email in kim.text and kim.username in kim.text
    kim.open("/account")
    sign_out(kim)
    kim.open("/signup")
    assert kim.find("[name=email]").get_attribute("value") == "", "the next person signs up"
    assert kim.email not in kim.text and kim.username not in kim.text


def test_a_step_whose_sign_up_is_gone_says_so(person):
    kim = person().go_to("profile")
    kim.browser.delete_all_cookies()
    kim.type("username", kim.username)
    kim.press_next()
    kim.wait_until(lambda: kim.find_all("#notice:not([hidden])"), "the notice")
    assert notice(kim)[1].startswith("We couldn't find a sign-up in progress in this browser. You can start here.")


def test_a_reload_shows_a_refused_form_again_and_does_not_send_it(person):
    kim = sign_up(person())
    kim.open("/account/authenticator")
    kim.type("code", "000000").send_keys(Keys.ENTER)
    kim.wait_until(lambda: kim.refusal("code"), "the refusal")
    kim.browser.refresh()
    kim.wait_until(lambda: kim.find_all("[name=code]") and not kim.refusal("code"), "the form without a refusal")


def test_nobody_sees_the_account_by_going_back_after_the_sign_out(person):
    kim = sign_up(person())
    kim.open("/account")
    assert kim.email in kim.text
    sign_out(kim)
    kim.browser.back()
    kim.wait_until(lambda: kim.path.startswith("/sign-in"), "the sign-in")
    assert kim.email not in kim.text


def test_a_change_of_the_address_says_that_the_app_goes(person):
    kim = person().go_to("totp")
    kim.submit_authenticator_code()
    kim.wait_until(lambda: kim.find_all("#codes"), "the recovery codes")
    kim.open("/signup/email")
    text = "If you change your address, you'll need to set this up again: Authenticator app"
    kim.wait_until(lambda: text in kim.text, "the notice")


# MARK: Values


def test_a_username_is_shown_as_it_is_stored(person):
    kim = person().go_to("profile")
    kim.type("username", kim.username.upper())
    kim.press(Keys.TAB)
    kim.wait_until(lambda: value(kim, "username") == kim.username, "the name in small letters")
    kim.type("username", "kim lee")
    kim.press(Keys.TAB)
    kim.wait_until(lambda: "Use only letters from A to Z, digits" in kim.refusal("username"), "the refusal")


def test_a_consent_without_script_has_its_own_message(person):
    kim = person(script=False)
    begin_at_code(kim)
    send_code(kim, kim.site.mailbox.code(kim.email))
    kim.wait_until(lambda: kim.path == "/signup/password", "the password")
    kim.type("password", PASSWORD)
    kim.type("confirmation", PASSWORD)
    kim.press_next()
    kim.wait_until(lambda: kim.path == "/signup/profile", "the profile")
    kim.type("username", kim.username)
    kim.press_next()
    kim.wait_until(lambda: kim.path == "/signup/contact", "the contact")
    kim.find("[name=birth_date]").send_keys("02282001")
    kim.press_next()
    kim.wait_until(lambda: kim.path == "/signup/totp", "the authenticator")
    kim.find("button.plain").click()
    kim.wait_until(lambda: kim.path == "/signup/terms", "the terms")
    kim.find("button.main").click()
    kim.wait_until(lambda: "Check this box to continue." in kim.refusal("terms"), "the refusal")
