"""The behaviour of the pages in a real browser."""

import re

import pytest
from selenium.webdriver import Keys

from person import PASSWORD, STEPS

# 28 February 2001, as it is typed into a date field of this browser, whatever the language of its pages.
DAY = "02282001"


# MARK: From the first page to the last


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_sign_up_by_keyboard_alone(person, language):
    kim = person(language)
    kim.open("/signup")
    kim.press(Keys.ENTER)
    kim.arrives("/signup/email")
    kim.press(kim.email, Keys.ENTER)
    kim.arrives("/signup/code")
    kim.press(kim.site.mailbox.code(kim.email), Keys.ENTER)
    kim.arrives("/signup/password")
    kim.press(PASSWORD)
    kim.until(kim.one("[name=confirmation]").is_displayed)
    kim.press(Keys.ENTER)
    assert kim.focused == "confirmation"
    kim.press(PASSWORD, Keys.ENTER)
    kim.arrives("/signup/profile")
    kim.press(kim.username, Keys.ENTER)
    assert kim.focused == "display_name"
    kim.press("Kim", Keys.ENTER)
    assert kim.focused == "introduction"
    kim.press("Hello,", Keys.ENTER, "there", Keys.TAB, Keys.ENTER)
    kim.arrives("/signup/contact")
    assert kim.focused == "birth_date"
    kim.press(DAY)
    kim.until(lambda: kim.one("[name=birth_date]").get_attribute("value") == "2001-02-28")
    kim.press(Keys.ENTER)
    kim.arrives("/signup/totp")
    while kim.run("return document.activeElement.className") != "plain":
        kim.press(Keys.TAB)
    kim.press(Keys.ENTER)
    kim.arrives("/signup/terms")
    assert kim.focused == "terms"
    kim.press(Keys.SPACE, Keys.TAB)
    while kim.focused != "marketing":
        kim.press(Keys.TAB)
    kim.press(Keys.ENTER)
    kim.arrives("/signup/review")
    kim.press(Keys.ENTER)
    kim.arrives("/signup")
    assert kim.email in kim.text
    assert kim.one("h1").text == {"en": "Your account is ready", "ko": "계정이 준비되었습니다"}[language]
    assert (
        kim.site.sql(f"SELECT profile->>'introduction' FROM accounts WHERE username = '{kim.username}'")
        == "Hello,\nthere"
    )


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_sign_up_without_script(person, language):
    kim = person(language, script=False)
    kim.open("/signup")
    kim.one("button.main").click()
    for step in STEPS:
        kim.until(lambda step=step: kim.path == f"/signup/{step}", step)
        if step == "email":
            kim.type("email", kim.email)
        if step == "code":
            kim.type("code", kim.site.mailbox.code(kim.email))
        if step == "password":
            kim.type("password", PASSWORD)
            kim.type("confirmation", PASSWORD)
        if step == "profile":
            kim.type("username", kim.username)
        if step == "contact":
            kim.one("[name=birth_date]").send_keys(DAY)
        if step == "terms":
            kim.one("[name=terms]").click()
        kim.one("button.plain" if step == "totp" else "button.main").click()
    kim.until(lambda: kim.path == "/signup/review")
    kim.one("button.main").click()
    kim.until(lambda: kim.path == "/signup")
    assert kim.email in kim.text


# MARK: Focus and typing


def test_the_first_field_that_needs_the_person_has_the_focus(person):
    kim = person().walk("profile")
    assert kim.focused == "username"
    kim.type("username", kim.username)
    kim.next()
    kim.arrives("/signup/contact")
    assert kim.focused == "birth_date"


def test_after_going_back_the_focus_is_left_alone(person):
    kim = person().walk("profile")
    kim.browser.back()
    kim.arrives("/signup/password")
    assert kim.focused is None
    kim.browser.forward()
    kim.arrives("/signup/profile")
    kim.one("[data-back]").click()
    kim.arrives("/signup/password")
    assert kim.focused is None


def test_the_underline_and_the_message_show_what_is_wrong(person):
    kim = person().walk("email")
    field = kim.one("[name=email]")
    message = kim.one("[data-field=email] .refusal")
    colour = lambda: field.value_of_css_property("border-bottom-color")
    assert not message.is_displayed()
    kim.run("document.activeElement.blur()")
    kim.until(lambda: colour() == "rgba(138, 141, 148, 1)", "grey at rest")
    field.click()
    kim.until(lambda: colour() == "rgba(29, 78, 216, 1)", "strong while focused")
    kim.press("kim@")
    kim.until(lambda: colour() == "rgba(179, 38, 30, 1)", "red when refused, after a pause")
    assert message.text.endswith("Check how this is written.") and message.is_displayed()
    assert field.get_attribute("aria-invalid") == "true"
    assert kim.one("#live").get_attribute("textContent") == "Check how this is written."
    kim.press("e")
    assert not message.is_displayed() and not field.get_attribute("aria-invalid")
    kim.until(lambda: colour() != "rgba(179, 38, 30, 1)", "red no more")


def test_a_field_is_judged_when_it_is_left(person):
    kim = person().walk("profile")
    kim.type("username", "9")
    kim.press(Keys.TAB)
    kim.until(lambda: kim.refusal("username") != "")
    assert not kim.is_ready


def test_next_waits_for_every_required_field(person):
    kim = person().walk("email")
    assert not kim.is_ready
    kim.one("button.main").click()
    kim.until(lambda: kim.refusal("email") == "⚠ Fill this in." or kim.refusal("email") == "Fill this in.")
    assert kim.focused == "email" and kim.path == "/signup/email"
    kim.type("email", "kim")
    kim.until(lambda: "how this is written" in kim.refusal("email"))
    assert not kim.is_ready
    kim.type("email", kim.email)
    kim.until(lambda: kim.is_ready)


def test_without_a_connection_nothing_is_lost_and_it_can_be_tried_again(person):
    kim = person().walk("email")
    kim.type("email", kim.email)
    kim.until(lambda: kim.is_ready)
    offline = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    kim.browser.execute_cdp_cmd("Network.enable", {})
    kim.browser.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
    kim.next()
    kim.until(lambda: "There is no connection" in kim.text)
    assert kim.one("[name=email]").get_attribute("value") == kim.email
    kim.browser.execute_cdp_cmd("Network.emulateNetworkConditions", offline | {"offline": False})
    kim.next()
    kim.arrives("/signup/code")


# MARK: Passwords


def test_a_refused_password_is_emptied_keeps_the_focus_and_says_why(person):
    kim = person().walk("password")
    kim.press("short one", Keys.TAB, Keys.TAB)
    kim.until(lambda: "at least 15" in kim.refusal("password"))
    assert kim.one("[name=password]").get_attribute("value") == ""
    assert kim.focused == "password"
    assert not kim.one("[name=confirmation]").is_displayed()


def test_the_confirmation_comes_with_an_accepted_password_and_goes_with_a_return_to_it(person):
    kim = person().walk("password")
    confirmation = kim.one("[name=confirmation]")
    assert not confirmation.is_displayed()
    kim.type("password", PASSWORD)
    kim.until(confirmation.is_displayed)
    kim.type("confirmation", PASSWORD)
    kim.until(lambda: kim.is_ready)
    kim.one("[name=password]").click()
    assert not confirmation.is_displayed() and confirmation.get_attribute("value") == ""
    assert not kim.is_ready
    kim.press(Keys.ENTER)
    kim.until(lambda: kim.focused == "confirmation")


def test_a_confirmation_that_differs_is_refused(person):
    kim = person().walk("password")
    kim.type("password", PASSWORD)
    kim.until(kim.one("[name=confirmation]").is_displayed)
    kim.type("confirmation", "another pass phrase")
    kim.press(Keys.ENTER)
    kim.until(lambda: "do not match" in kim.refusal("confirmation"))


def test_the_eye_shows_and_hides_the_password(person):
    kim = person().walk("password")
    field, eye = kim.one("[name=password]"), kim.one(".eye")
    field.send_keys("some")
    eye.click()
    assert field.get_attribute("type") == "text" and kim.focused == "password"
    assert eye.get_attribute("aria-label") == "Hide the password" and eye.get_attribute("aria-pressed") == "true"
    eye.click()
    assert field.get_attribute("type") == "password"
    eye.click()
    kim.run("document.activeElement.blur()")
    assert field.get_attribute("type") == "password"


def test_managers_of_passwords_are_welcome(person):
    kim = person().walk("password")
    field = kim.one("[name=password]")
    assert field.get_attribute("autocomplete") == "new-password"
    assert field.get_attribute("passwordrules") == "minlength: 15; maxlength: 256;"
    kim.browser.execute_cdp_cmd("Input.insertText", {"text": PASSWORD})
    kim.until(kim.one("[name=confirmation]").is_displayed)


def test_no_secret_is_ever_in_an_address_or_in_what_the_page_keeps(person):
    kim = person().walk("password")
    kim.type("password", PASSWORD)
    kim.until(kim.one("[name=confirmation]").is_displayed)
    kim.type("confirmation", PASSWORD)
    kept = "return JSON.stringify([performance.getEntries(), {...sessionStorage}, {...localStorage}, document.cookie])"
    assert PASSWORD not in kim.run(kept)
    kim.next()
    kim.arrives("/signup/profile")
    kim.type("introduction", "typed, not sent")
    entries = kim.run(kept)
    assert "typed, not sent" in entries and PASSWORD not in entries
    assert not any(PASSWORD.split()[2] in str(line) for line in kim.site.log)


# MARK: Coming and going


def test_back_keeps_what_was_typed_saved_or_not(person):
    kim = person().walk("profile")
    kim.type("username", "9wrong")
    kim.type("introduction", "two\nlines")
    kim.one("[data-back]").click()
    kim.arrives("/signup/password")
    kim.open("/signup/profile")
    assert kim.one("[name=username]").get_attribute("value") == "9wrong"
    assert kim.one("[name=introduction]").get_attribute("value") == "two\nlines"


def test_cancel_asks_once_and_erases_everything(person):
    kim = person().walk("code")
    kim.one("[data-cancel]").click()
    assert kim.one("dialog").is_displayed() and "Give up this sign-up?" in kim.one("dialog").text
    kim.one("[data-close]").click()
    assert not kim.one("dialog").is_displayed() and kim.path == "/signup/code"
    kim.one("[data-cancel]").click()
    kim.one("dialog .danger").click()
    kim.arrives("/signup?given-up")
    assert "The sign-up was given up" in kim.text
    assert kim.run("return sessionStorage.length") == 0


def test_two_tabs_lose_nothing(person):
    kim = person().walk("profile")
    first = kim.browser.current_window_handle
    kim.browser.switch_to.new_window("tab")
    kim.open("/signup/profile")
    kim.answer("profile")
    kim.arrives("/signup/contact")
    kim.answer("contact")
    kim.arrives("/signup/totp")
    kim.browser.close()
    kim.browser.switch_to.window(first)
    kim.type("display_name", "From the first tab")
    kim.answer("profile")
    kim.arrives("/signup/totp")
    kim.open("/signup/review")
    assert "From the first tab" in kim.text and "28 February 2001" in kim.text


# MARK: Codes


def test_the_code_is_pasted_and_filled_in_by_the_device(person):
    kim = person().walk("code")
    field = kim.one("[name=code]")
    assert field.get_attribute("autocomplete") == "one-time-code" and field.get_attribute("inputmode") == "numeric"
    code = kim.site.mailbox.code(kim.email)
    kim.browser.execute_cdp_cmd("Input.insertText", {"text": f" {code[:3]} {code[3:]} 99"})
    assert field.get_attribute("value") == code
    kim.press(Keys.ENTER)
    kim.arrives("/signup/password")


def test_a_wrong_code_says_how_many_are_left(person):
    kim = person().walk("code")
    wrong = f"{(int(kim.site.mailbox.code(kim.email)) + 1) % 1_000_000:06}"
    kim.press(wrong, Keys.ENTER)
    kim.until(lambda: "4 attempts left" in kim.refusal("code"))
    assert kim.one("[name=code]").get_attribute("value") == "" and kim.focused == "code"


def test_the_time_that_is_left_is_the_servers_whatever_the_clock_says(person):
    kim = person().walk("code")
    skew = "const real = Date.now; Date.now = () => real() + 3 * 3600 * 1000;"
    script = kim.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": skew})
    try:
        kim.browser.refresh()
        clock = kim.one(".clock span").text
        assert re.search(r" (10:00|9:\d\d)\.", clock) and kim.one(".ring .rest").get_attribute("stroke-dashoffset")
        resend = kim.one("[data-resend] button")
        assert not resend.is_enabled() and resend.text.startswith("Send a new code in ")
    finally:
        kim.browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


def test_a_new_code_is_sent_when_its_time_has_come(person):
    kim = person().walk("code")
    kim.site.sql("UPDATE proofs SET sent_at = sent_at - interval '61 seconds' WHERE proved_at IS NULL")
    kim.site.sql("UPDATE limits SET hits = ARRAY(SELECT hit - interval '61 seconds' FROM unnest(hits) AS hit)")
    kim.browser.refresh()
    kim.until(kim.one("[data-resend] button").is_enabled)
    kim.one("[data-resend] button").click()
    code = kim.site.mailbox.code(kim.email, 2)
    kim.arrives("/signup/code")
    kim.type("code", code)
    kim.next()
    kim.arrives("/signup/password")


# MARK: The authenticator


def test_the_authenticator_is_set_up_and_its_recovery_codes_are_shown_once(person):
    kim = person().walk("totp")
    assert kim.one(".qr svg").size["width"] > 150
    groups = [group.text for group in kim.all(".secret span")]
    assert len(groups) == 8 and all(len(group) == 4 for group in groups)
    left = int(re.fullmatch(r"The app shows the next code in (\d+) s\.", kim.one(".clock span").text)[1])
    assert abs(left - (30 - kim.run("return Date.now() / 1000") % 30)) < 2 or left in (1, 30)
    kim.show_code_of_app()
    kim.until(lambda: kim.one("h1").text == "Recovery codes")
    assert len(kim.all("#codes code")) == 10
    kim.browser.execute_cdp_cmd(
        "Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    )
    kim.one("[data-copy]").click()
    kim.until(lambda: kim.one("[data-copy]").text == "Copied")
    assert kim.one("#codes code").text in kim.run("return navigator.clipboard.readText()")
    kim.one("a.main").click()
    kim.arrives("/signup/terms")


def test_the_time_that_is_left_is_drawn_anew_only_when_another_second_is_shown(person):
    kim = person().walk("code")
    kim.run(
        "window.drawn = []; const clock = document.querySelector('.clock span');"
        "new MutationObserver((changes) => drawn.push(...changes.map(() => clock.textContent))).observe(clock, {childList: true})"
    )
    kim.until(lambda: kim.run("return drawn.length") > 3)
    drawn = kim.run("return drawn")
    assert len(set(drawn)) == len(drawn)


def test_recovery_codes_are_downloaded_and_printed(person, tmp_path):
    kim = person().walk("totp")
    kim.show_code_of_app()
    kim.until(lambda: kim.one("h1").text == "Recovery codes")
    codes = [code.text for code in kim.all("#codes code")]
    kim.browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    kim.one("[data-download]").click()
    kim.until(lambda: (tmp_path / "Acme.txt").exists())
    assert (tmp_path / "Acme.txt").read_text().split() == codes
    kim.run("window.print = () => { window.wasPrinted = true; }")
    kim.one("[data-print]").click()
    assert kim.run("return window.wasPrinted")


# MARK: Dates, consents, review


def test_the_chosen_day_is_told_in_words(person):
    for language, words in [("en", "Wednesday, February 28, 2001"), ("ko", "2001년 2월 28일 수요일")]:
        kim = person(language).walk("contact")
        kim.pick("birth_date", "2001-02-28")
        assert kim.one("output").text == words
        assert kim.one("[name=birth_date]").get_attribute("max") >= "2026-01-01"


def test_a_phone_number_is_written_as_people_do_when_it_is_left(person):
    kim = person().walk("contact")
    field = kim.type("phone", "01012345678")
    kim.press(Keys.TAB)
    kim.until(lambda: field.get_attribute("value") == "+82 10-1234-5678")
    kim.type("phone", "12")
    kim.press(Keys.TAB)
    kim.until(lambda: "how this is written" in kim.refusal("phone"))


def test_without_a_connection_a_new_number_is_not_replaced_by_the_one_before(person):
    kim = person().walk("contact")
    kim.pick("birth_date", "2001-02-28")
    field = kim.type("phone", "01012345678")
    kim.press(Keys.TAB)
    kim.until(lambda: field.get_attribute("value") == "+82 10-1234-5678")
    offline = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    kim.browser.execute_cdp_cmd("Network.enable", {})
    kim.browser.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
    kim.type("phone", "01087654321")
    kim.press(Keys.TAB)
    kim.until(lambda: kim.is_ready)
    assert field.get_attribute("value") == "01087654321"
    kim.browser.execute_cdp_cmd("Network.emulateNetworkConditions", offline | {"offline": False})


def test_the_text_of_a_consent_opens_in_the_page(person):
    kim = person().walk("terms")
    document = kim.one("[data-field=terms] .document")
    assert not document.is_displayed()
    kim.one("[data-field=terms] summary").click()
    assert document.is_displayed() and kim.path == "/signup/terms"


def test_a_change_leads_back_to_the_review(person):
    kim = person().walk("review")
    assert "28 February 2001" in kim.text and PASSWORD not in kim.text
    kim.one("a[href='/signup/profile']").click()
    kim.arrives("/signup/profile")
    kim.type("display_name", "Kim")
    kim.next()
    kim.arrives("/signup/review")
    assert "Kim" in kim.text


def test_the_account_is_made_once_however_often_the_button_is_pressed(person):
    kim = person().walk("review")
    kim.run("const button = document.querySelector('button.main'); for (let i = 0; i < 5; i += 1) button.click()")
    kim.arrives("/signup")
    assert "Your account is ready" in kim.text
    draft = [line["draft"] for line in kim.site.log if "draft" in line][-1]
    commits = [line for line in kim.site.log if line.get("route") == "/signup/commit" and line["draft"] == draft]
    assert len(commits) == 1


def test_back_from_the_review_leads_to_the_last_step_and_leaves_the_focus_alone(person):
    kim = person().walk("review")
    kim.one("[data-back]").click()
    kim.arrives("/signup/terms")
    assert kim.focused is None and kim.one("[name=terms]").is_selected()
    kim.next()
    kim.arrives("/signup/review")


# MARK: Another flow


def test_a_flow_of_choices_numbers_and_patterns_by_keyboard(person, trade):
    kim = person(at=trade)
    kim.open("/signup")
    kim.press(Keys.ENTER)
    kim.arrives("/signup/person")
    kim.press("Kim Lee", Keys.ENTER, kim.email, Keys.ENTER)
    kim.arrives("/signup/code")
    kim.press(kim.site.mailbox.code(kim.email), Keys.ENTER)
    kim.arrives("/signup/company")
    kim.press("Acme", Keys.ENTER, "123", Keys.ENTER)
    assert kim.focused == "founded_on"
    kim.until(lambda: "how this is written" in kim.refusal("business_number"))
    kim.type("business_number", "123-45-67890")
    kim.type("employees", "0")
    kim.press(Keys.ENTER)
    kim.until(lambda: "whole number from 1" in kim.refusal("employees"))
    kim.type("employees", "12")
    kim.press(Keys.ENTER)
    assert kim.focused == "industry"
    kim.press("m", Keys.TAB)
    assert kim.focused == "interests"
    kim.press(Keys.SPACE, Keys.TAB, Keys.TAB, Keys.SPACE)
    kim.until(lambda: kim.is_ready)
    kim.press(Keys.ENTER)
    kim.arrives("/signup/contact")
    kim.one("button.plain").click()
    kim.arrives("/signup/password")
    kim.open("/signup/review")
    for text in ["Manufacturing", "Invoices, Payroll", "123-45-67890", "12"]:
        assert text in kim.text
    kim.open("/signup/company")
    chosen = [box.get_attribute("value") for box in kim.all("[name=interests]") if box.is_selected()]
    assert chosen == ["invoices", "payroll"]
    assert kim.one("[name=industry]").get_attribute("value") == "manufacturing"
