"""The behaviour of the pages in a real browser."""

import re

import pytest
from selenium.webdriver import Keys

from browsers import start_browser
from person import PASSWORD, STEPS, Person

# The keys for February 28, 2001 in a date field of this browser, whatever the language of the page is.
DAY = "02282001"


def set_offline(kim, is_offline):
    conditions = {"offline": is_offline, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    kim.browser.execute_cdp_cmd("Network.enable", {})
    kim.browser.execute_cdp_cmd("Network.emulateNetworkConditions", conditions)


# MARK: The whole sign-up


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_person_signs_up_with_only_the_keyboard(person, language):
    kim = person(language)
    kim.open("/signup")
    assert kim.focused == "email", "the first page asks the first question"
    kim.press(kim.email, Keys.ENTER)
    kim.wait_for_path("/signup/code")
    kim.press(kim.site.mailbox.code(kim.email), Keys.ENTER)
    kim.wait_for_path("/signup/password")
    kim.press(PASSWORD)
    kim.wait_until(kim.find("[name=confirmation]").is_displayed)
    kim.press(Keys.ENTER)
    assert kim.focused == "confirmation"
    kim.press(PASSWORD, Keys.ENTER)
    kim.wait_for_path("/signup/profile")
    kim.press(kim.username, Keys.ENTER)
    assert kim.focused == "display_name"
    kim.press("Kim", Keys.ENTER)
    assert kim.focused == "introduction"
    kim.press("Hello,", Keys.ENTER, "there", Keys.TAB, Keys.ENTER)
    kim.wait_for_path("/signup/contact")
    assert kim.focused == "phone"
    kim.press(Keys.ENTER)
    assert kim.focused == "birth_date"
    kim.press(DAY)
    kim.wait_until(lambda: kim.find("[name=birth_date]").get_attribute("value") == "2001-02-28")
    kim.press(Keys.ENTER)
    kim.wait_for_path("/signup/totp")
    while kim.run_script("return document.activeElement.className") != "plain":
        kim.press(Keys.TAB)
    kim.press(Keys.ENTER)
    kim.wait_for_path("/signup/terms")
    assert kim.focused == "terms"
    kim.press(Keys.SPACE, Keys.TAB)
    while kim.focused != "marketing":
        kim.press(Keys.TAB)
    kim.press(Keys.ENTER)
    kim.wait_for_path("/signup/review")
    assert kim.run_script("return document.activeElement === document.body && scrollY === 0"), (
        "the page opens at its top"
    )
    while not kim.run_script("return document.activeElement.matches('button.main')"):
        kim.press(Keys.TAB)
    kim.press(Keys.ENTER)
    kim.wait_for_path("/signup")
    assert kim.email in kim.text
    assert kim.find("h1").text == {"en": "Your account is ready", "ko": "가입이 완료되었습니다"}[language]
    assert (
        kim.site.sql(f"SELECT profile->>'introduction' FROM accounts WHERE username = '{kim.username}'")
        == "Hello,\nthere"
    )


@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_person_signs_up_without_script(person, language):
    kim = person(language, script=False)
    kim.open("/signup")
    for step in STEPS:
        path = "/signup" if step == "email" else f"/signup/{step}"
        kim.wait_until(lambda path=path: kim.path == path, step)
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
            kim.find("[name=birth_date]").send_keys(DAY)
        if step == "terms":
            kim.find("[name=terms]").click()
        kim.find("button.plain" if step == "totp" else "button.main").click()
    kim.wait_until(lambda: kim.path == "/signup/review")
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.path == "/signup")
    assert kim.email in kim.text


@pytest.mark.parametrize("language, script", [("en", True), ("ko", False)])
def test_the_owner_of_a_flooded_address_signs_up_with_the_link_in_a_mail(person, strict_site, language, script):
    stranger = person(at=strict_site).go_to("code")
    code = strict_site.mailbox.code(stranger.email)
    stranger.type("code", "000001" if code == "000000" else "000000")
    stranger.press_next()
    stranger.wait_until(lambda: stranger.refusal("code"), "the refusal")

    kim = person(language, script, at=strict_site)
    kim.email = stranger.email
    kim.open("/signup")
    kim.type("email", kim.email)
    kim.press_next()
    kim.wait_until(lambda: kim.find("#notice").is_displayed(), "the limit of mails")

    kim.open(strict_site.mailbox.ticket(kim.email))
    assert kim.email not in kim.text and kim.email[0] in kim.text
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.path == "/signup/code", "the step of the code")
    kim.type("code", strict_site.mailbox.code(kim.email, 2))
    kim.press_next()
    for step in STEPS[2:]:
        kim.wait_until(lambda step=step: kim.path == f"/signup/{step}", step)
        if step == "password":
            kim.type("password", PASSWORD)
            kim.wait_until(kim.find("[name=confirmation]").is_displayed, "the confirmation")
            kim.type("confirmation", PASSWORD)
        if step == "profile":
            kim.type("username", kim.username)
        if step == "contact":
            if script:
                kim.set_date("birth_date", "2001-02-28")
            else:
                kim.find("[name=birth_date]").send_keys(DAY)
        if step == "terms":
            kim.find("[name=terms]").click()
        if step == "totp":
            kim.find("button.plain").click()
        else:
            kim.press_next()
    kim.wait_until(lambda: kim.path == "/signup/review")
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.path == "/signup")
    assert kim.email in kim.text


# MARK: Focus and typing


def test_the_first_empty_field_has_the_focus(person):
    kim = person().go_to("profile")
    assert kim.focused == "username"
    kim.type("username", kim.username)
    kim.press_next()
    kim.wait_for_path("/signup/contact")
    assert kim.focused == "phone", "it is optional, but the first"


def test_no_field_gets_the_focus_after_going_back(person):
    kim = person().go_to("profile")
    kim.browser.back()
    kim.wait_for_path("/signup/password")
    assert kim.focused is None
    kim.browser.forward()
    kim.wait_for_path("/signup/profile")
    kim.find("[data-back]").click()
    kim.wait_for_path("/signup/password")
    assert kim.focused is None


def test_the_underline_and_the_message_show_an_error(person):
    kim = person().go_to("email")
    field = kim.find("[name=email]")
    message = kim.find("[data-field=email] .refusal")
    colour = lambda: field.value_of_css_property("border-bottom-color")
    assert not message.is_displayed()
    kim.run_script("document.activeElement.blur()")
    kim.wait_until(lambda: colour() == "rgba(132, 136, 143, 1)", "grey at rest")
    field.click()
    kim.wait_until(lambda: colour() == "rgba(29, 78, 216, 1)", "strong while focused")
    kim.press("kim@")
    kim.wait_until(lambda: colour() == "rgba(179, 38, 30, 1)", "red when refused, after a pause")
    assert message.text.endswith("Enter an email address like name@example.com.") and message.is_displayed()
    assert field.get_attribute("aria-invalid") == "true"
    spoken = kim.find("#live").get_attribute("textContent")
    assert spoken == "Email address: Enter an email address like name@example.com."
    kim.press("e")
    assert not message.is_displayed() and not field.get_attribute("aria-invalid")
    kim.wait_until(lambda: colour() != "rgba(179, 38, 30, 1)", "no longer red")


def test_a_field_is_checked_when_it_loses_the_focus(person):
    kim = person().go_to("profile")
    kim.type("username", "9")
    kim.press(Keys.TAB)
    kim.wait_until(lambda: kim.refusal("username") != "")
    assert not kim.is_ready


def test_next_is_enabled_when_every_required_field_is_valid(person):
    kim = person().go_to("email")
    assert not kim.is_ready
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.refusal("email").removeprefix("⚠ ") == "Enter your email address.")
    assert kim.focused == "email" and kim.path == "/signup/email"
    kim.type("email", "kim")
    kim.wait_until(lambda: "like name@example.com" in kim.refusal("email"))
    assert not kim.is_ready
    kim.type("email", kim.email)
    kim.wait_until(lambda: kim.is_ready)


def test_after_a_lost_connection_the_text_remains_and_can_be_submitted_again(person):
    kim = person().go_to("email")
    kim.type("email", kim.email)
    kim.wait_until(lambda: kim.is_ready)
    set_offline(kim, True)
    kim.press_next()
    kim.wait_until(lambda: "You're offline" in kim.text)
    assert kim.find("[name=email]").get_attribute("value") == kim.email
    set_offline(kim, False)
    kim.press_next()
    kim.wait_for_path("/signup/code")


# MARK: Passwords


def test_a_refused_password_is_cleared_and_keeps_the_focus_with_an_error(person):
    kim = person().go_to("password")
    kim.press("short one", Keys.ENTER)
    kim.wait_until(lambda: "at least 15" in kim.refusal("password"))
    assert kim.find("[name=password]").get_attribute("value") == ""
    assert kim.focused == "password"
    assert not kim.find("[name=confirmation]").is_displayed()


def test_the_confirmation_appears_for_an_accepted_password_and_disappears_while_it_is_edited(person):
    kim = person().go_to("password")
    confirmation = kim.find("[name=confirmation]")
    assert not confirmation.is_displayed()
    kim.type("password", PASSWORD)
    kim.wait_until(confirmation.is_displayed)
    kim.type("confirmation", PASSWORD)
    kim.wait_until(lambda: kim.is_ready)
    kim.find("[name=password]").click()
    assert not confirmation.is_displayed() and confirmation.get_attribute("value") == ""
    assert not kim.is_ready
    kim.press(Keys.ENTER)
    kim.wait_until(lambda: kim.focused == "confirmation")


def test_a_confirmation_that_differs_is_refused(person):
    kim = person().go_to("password")
    kim.type("password", PASSWORD)
    kim.wait_until(kim.find("[name=confirmation]").is_displayed)
    kim.type("confirmation", "another pass phrase")
    kim.press(Keys.ENTER)
    kim.wait_until(lambda: "don't match" in kim.refusal("confirmation"))


def test_the_eye_shows_and_hides_the_password(person):
    kim = person().go_to("password")
    field, eye = kim.find("[name=password]"), kim.find(".eye")
    field.send_keys("some")
    eye.click()
    assert field.get_attribute("type") == "text" and kim.focused == "password"
    assert eye.get_attribute("aria-label") == "Hide password" and not eye.get_attribute("aria-pressed")
    eye.click()
    assert field.get_attribute("type") == "password"
    assert eye.get_attribute("aria-label") == "Show password"
    eye.click()
    kim.run_script("document.activeElement.blur()")
    assert field.get_attribute("type") == "password"


def test_password_managers_are_supported(person):
    kim = person().go_to("password")
    field = kim.find("[name=password]")
    assert field.get_attribute("autocomplete") == "new-password"
    assert field.get_attribute("passwordrules") == "minlength: 15; maxlength: 256;"
    kim.browser.execute_cdp_cmd("Input.insertText", {"text": PASSWORD})
    kim.wait_until(kim.find("[name=confirmation]").is_displayed)


def test_no_password_is_in_a_url_in_browser_storage_or_in_the_log(person):
    kim = person().go_to("password")
    kim.type("password", PASSWORD)
    kim.wait_until(kim.find("[name=confirmation]").is_displayed)
    kim.type("confirmation", PASSWORD)
    kept = "return JSON.stringify([performance.getEntries(), {...sessionStorage}, {...localStorage}, document.cookie])"
    assert PASSWORD not in kim.run_script(kept)
    kim.press_next()
    kim.wait_for_path("/signup/profile")
    kim.type("introduction", "typed, not sent")
    entries = kim.run_script(kept)
    assert "typed, not sent" in entries and PASSWORD not in entries
    assert not any(PASSWORD.split()[2] in str(line) for line in kim.site.log)


# MARK: Leaving and returning


def test_going_back_keeps_typed_values_that_are_not_saved(person):
    kim = person().go_to("profile")
    kim.type("username", "9wrong")
    kim.type("introduction", "two\nlines")
    kim.find("[data-back]").click()
    kim.wait_for_path("/signup/password")
    kim.open("/signup/profile")
    assert kim.find("[name=username]").get_attribute("value") == "9wrong"
    assert kim.find("[name=introduction]").get_attribute("value") == "two\nlines"


def test_a_sign_up_goes_on_after_the_browser_was_closed(site, tmp_path):
    profile = f"--user-data-dir={tmp_path}"
    browser = start_browser("en", True, profile)
    try:
        kim = Person(browser, site, "en").go_to("password")
        end = site.sql(
            "SELECT extract(epoch FROM ends_at) FROM drafts"
            f" WHERE id = '{kim.find('#answers').get_attribute('data-draft')}'"
        )
        # A cookie without an expiry would end with the browser.
        assert abs(browser.get_cookie("signup")["expiry"] - float(end)) < 60, "the cookie ends with the sign-up"
    finally:
        browser.quit()
    kim.browser = start_browser("en", True, profile)
    try:
        kim.open("/signup")
        kim.wait_for_path("/signup/password")
        assert kim.email in kim.text
    finally:
        kim.browser.quit()


def test_cancel_asks_for_confirmation_and_clears_the_browser_storage(person):
    kim = person().go_to("code")
    kim.find("[data-cancel]").click()
    assert kim.find("dialog").is_displayed() and "Cancel sign-up?" in kim.find("dialog").text
    kim.find("[data-close]").click()
    assert not kim.find("dialog").is_displayed() and kim.path == "/signup/code"
    kim.find("[data-cancel]").click()
    kim.find("dialog .danger").click()
    kim.wait_for_path("/signup?given-up")
    assert "Sign-up canceled" in kim.text
    assert kim.run_script("return sessionStorage.length") == 0


def test_two_tabs_do_not_overwrite_each_other(person):
    kim = person().go_to("profile")
    first = kim.browser.current_window_handle
    kim.browser.switch_to.new_window("tab")
    kim.open("/signup/profile")
    kim.complete("profile")
    kim.wait_for_path("/signup/contact")
    kim.complete("contact")
    kim.wait_for_path("/signup/totp")
    kim.browser.close()
    kim.browser.switch_to.window(first)
    kim.type("display_name", "From the first tab")
    kim.complete("profile")
    kim.wait_for_path("/signup/totp")
    kim.open("/signup/review")
    assert "From the first tab" in kim.text and "February 28, 2001" in kim.text


# MARK: Codes


def test_the_code_can_be_pasted_or_filled_in_by_the_device(person):
    kim = person().go_to("code")
    field = kim.find("[name=code]")
    assert field.get_attribute("autocomplete") == "one-time-code" and field.get_attribute("inputmode") == "numeric"
    code = kim.site.mailbox.code(kim.email)
    kim.browser.execute_cdp_cmd("Input.insertText", {"text": f" {code[:3]} {code[3:]} 99"})
    assert field.get_attribute("value") == code
    kim.press(Keys.ENTER)
    kim.wait_for_path("/signup/password")


def test_all_digits_of_a_code_stay_in_their_boxes(person):
    kim = person().go_to("code")
    kim.type("code", "123456")
    assert kim.run_script("return document.activeElement.scrollLeft") == 0


def test_a_wrong_code_shows_the_remaining_attempts(person):
    kim = person().go_to("code")
    wrong = f"{(int(kim.site.mailbox.code(kim.email)) + 1) % 1_000_000:06}"
    kim.press(wrong, Keys.ENTER)
    kim.wait_until(lambda: "4 attempts left" in kim.refusal("code"))
    assert kim.find("[name=code]").get_attribute("value") == "" and kim.focused == "code"


def test_the_countdown_is_right_with_a_wrong_clock_on_the_device(person):
    kim = person().go_to("code")
    skew = "const real = Date.now; Date.now = () => real() + 3 * 3600 * 1000;"
    script = kim.browser.execute_cdp_cmd("Page.addScriptToEvaluateOnNewDocument", {"source": skew})
    try:
        kim.browser.refresh()
        clock = kim.find(".clock span").text
        assert re.search(r" (10:00|9:\d\d)$", clock) and kim.find(".ring .rest").get_attribute("stroke-dashoffset")
        resend = kim.find("[data-resend] button")
        assert not resend.is_enabled() and resend.text.startswith("Get a new code in ")
    finally:
        kim.browser.execute_cdp_cmd("Page.removeScriptToEvaluateOnNewDocument", script)


def test_a_new_code_can_be_sent_after_the_wait(person):
    kim = person().go_to("code")
    kim.site.sql("UPDATE proofs SET sent_at = sent_at - interval '61 seconds' WHERE proved_at IS NULL")
    kim.site.sql("UPDATE limits SET hits = ARRAY(SELECT hit - interval '61 seconds' FROM unnest(hits) AS hit)")
    kim.browser.refresh()
    kim.wait_until(kim.find("[data-resend] button").is_enabled)
    kim.find("[data-resend] button").click()
    code = kim.site.mailbox.code(kim.email, 2)
    kim.wait_for_path("/signup/code?sent")
    kim.type("code", code)
    kim.press_next()
    kim.wait_for_path("/signup/password")


# MARK: The authenticator


def test_the_authenticator_is_set_up_and_recovery_codes_are_shown_and_copied(person):
    kim = person().go_to("totp")
    assert kim.find(".qr svg").size["width"] > 150
    groups = [group.text for group in kim.find_all(".secret span")]
    assert len(groups) == 8 and all(len(group) == 4 for group in groups)
    shown, now = kim.run_script("return [document.querySelector('.clock span').innerText, Date.now() / 1000]")
    left = int(re.fullmatch(r"A new code appears in (\d+) sec", shown)[1])
    assert abs(left - (30 - now % 30)) < 2 or left in (1, 30)
    kim.submit_authenticator_code()
    kim.wait_until(lambda: kim.find("h1").text == "Recovery codes")
    assert len(kim.find_all("#codes code")) == 10
    kim.browser.execute_cdp_cmd(
        "Browser.grantPermissions", {"permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]}
    )
    kim.find("[data-copy]").click()
    kim.wait_until(lambda: kim.find("[data-copy]").text == "Copied")
    assert kim.find("#codes code").text in kim.run_script("return navigator.clipboard.readText()")
    codes = [code.text for code in kim.find_all("#codes code")]
    kim.browser.refresh()
    assert [code.text for code in kim.find_all("#codes code")] == codes
    kim.find("button.main").click()
    kim.wait_for_path("/signup/terms")
    kim.open("/signup/totp")
    assert codes[0] not in kim.text
    kim.find("main details summary").click()
    assert "its recovery codes will stop working" in kim.text
    kim.find("button[name=skip]").click()
    kim.wait_for_path("/signup/terms")


def test_the_countdown_is_redrawn_only_when_its_text_changes(person):
    kim = person().go_to("code")
    kim.run_script(
        "window.drawn = []; const clock = document.querySelector('.clock span');"
        "new MutationObserver((changes) => drawn.push(...changes.map(() => clock.textContent))).observe(clock, {childList: true})"
    )
    kim.wait_until(lambda: kim.run_script("return drawn.length") > 3)
    drawn = kim.run_script("return drawn")
    assert len(set(drawn)) == len(drawn)


def test_recovery_codes_are_downloaded_and_printed(person, tmp_path):
    kim = person().go_to("totp")
    kim.submit_authenticator_code()
    kim.wait_until(lambda: kim.find("h1").text == "Recovery codes")
    codes = [code.text for code in kim.find_all("#codes code")]
    kim.browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(tmp_path)})
    kim.find("[data-download]").click()
    file = tmp_path / "Acme Recovery codes.txt"
    kim.wait_until(file.exists)
    title, address, day, *lines = file.read_text().splitlines()
    assert title == "Acme: Recovery codes" and address == kim.email and re.fullmatch(r"\w+ \d+, 20\d\d", day)
    assert lines == ["", *codes]
    kim.run_script("window.print = () => { window.wasPrinted = true; }")
    kim.find("[data-print]").click()
    assert kim.run_script("return window.wasPrinted")


# MARK: Dates, consents, review


def test_the_chosen_date_is_shown_in_words(person):
    for language, words in [("en", "February 28, 2001"), ("ko", "2001년 2월 28일")]:
        kim = person(language).go_to("contact")
        kim.set_date("birth_date", "2001-02-28")
        assert kim.find("output").text == words
        assert kim.find("[name=birth_date]").get_attribute("max") >= "2026-01-01"


def test_a_phone_number_is_formatted_when_it_loses_the_focus(person):
    kim = person().go_to("contact")
    field = kim.type("phone", "01012345678")
    kim.press(Keys.TAB)
    kim.wait_until(lambda: field.get_attribute("value") == "010-1234-5678")
    kim.type("phone", "12")
    kim.press(Keys.TAB)
    kim.wait_until(lambda: "like 010-1234-5678" in kim.refusal("phone"))


def test_a_number_that_was_checked_in_a_pause_is_formatted_without_another_check(person):
    kim = person().go_to("contact")
    kim.set_date("birth_date", "2001-02-28")
    field = kim.type("phone", "01012345678")
    kim.wait_until(lambda: kim.is_ready)
    set_offline(kim, True)
    kim.press(Keys.TAB)
    kim.wait_until(lambda: field.get_attribute("value") == "010-1234-5678")
    set_offline(kim, False)


def test_without_a_connection_a_new_number_is_not_replaced_by_the_previous_one(person):
    kim = person().go_to("contact")
    kim.set_date("birth_date", "2001-02-28")
    field = kim.type("phone", "01012345678")
    kim.press(Keys.TAB)
    kim.wait_until(lambda: field.get_attribute("value") == "010-1234-5678")
    set_offline(kim, True)
    kim.type("phone", "01087654321")
    kim.press(Keys.TAB)
    kim.wait_until(lambda: kim.is_ready)
    assert field.get_attribute("value") == "01087654321"
    set_offline(kim, False)


def test_the_text_of_a_consent_opens_in_the_page(person):
    kim = person().go_to("terms")
    document = kim.find("[data-field=terms] .document")
    assert not document.is_displayed()
    opened = [summary.text for summary in kim.find_all(".consent summary")]
    assert opened == ["Read more: Terms of use", "Read more: News and offers by email"]
    kim.find("[data-field=terms] summary").click()
    assert document.is_displayed() and kim.path == "/signup/terms"


def test_a_change_leads_back_to_the_review(person):
    kim = person().go_to("review")
    assert "February 28, 2001" in kim.text and PASSWORD not in kim.text
    kim.find("a[href='/signup/profile?review']").click()
    kim.wait_for_path("/signup/profile?review")
    kim.find("[data-back]").click()
    kim.wait_for_path("/signup/review")
    kim.find("a[href='/signup/profile?review']").click()
    kim.wait_for_path("/signup/profile?review")
    kim.type("display_name", "Kim")
    kim.press_next()
    kim.wait_for_path("/signup/review")
    assert "Kim" in kim.text


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_answers_can_be_checked_in_the_review(person, language):
    kim = person(language).go_to("contact")
    kim.type("phone", "010-1234-5678")
    kim.complete("contact")
    kim.wait_for_path("/signup/totp")
    kim.open("/signup/contact")
    contact = [kim.find("[name=phone]").get_attribute("value"), kim.find("output").text]
    assert contact[0].endswith("10-1234-5678"), "the step shows the whole number"
    kim.open("/signup/totp")
    kim.complete("totp")
    kim.wait_for_path("/signup/terms")
    kim.complete("terms")
    kim.wait_for_path("/signup/review")
    answers = {
        section.find_element("tag name", "h2").text: [value.text for value in section.find_elements("tag name", "dd")]
        for section in kim.find_all(".answers")
    }
    confirmed, nothing, agreed, refused = {
        "en": ["Confirmed", "Not provided", "Agreed", "No"],
        "ko": ["인증 완료", "없음", "동의함", "동의 안 함"],
    }[language]
    email, _, profile, shown_contact, _, consents = answers.values()
    assert email == [f"{kim.email} {confirmed}"] and profile == [kim.username, nothing, nothing, nothing]
    assert shown_contact == contact, "the review and the step show the same"
    assert consents == [agreed, refused], "a box without a tick is an answer"
    changes = [link.get_attribute("href").split("/")[-1] for link in kim.find_all(".answers > a")]
    assert changes == [f"{step}?review" for step in STEPS if step != "code"], "a confirmed code is not changed"


def test_several_clicks_send_one_commit(person):
    kim = person().go_to("review")
    kim.run_script(
        "const button = document.querySelector('button.main'); for (let i = 0; i < 5; i += 1) button.click()"
    )
    kim.wait_for_path("/signup")
    assert "Your account is ready" in kim.text
    draft = [line["draft"] for line in kim.site.log if "draft" in line][-1]
    commits = [line for line in kim.site.log if line.get("route") == "/signup/commit" and line["draft"] == draft]
    assert len(commits) == 1


def test_back_from_the_review_leads_to_the_last_step_without_focus(person):
    kim = person().go_to("review")
    kim.find("[data-back]").click()
    kim.wait_for_path("/signup/terms")
    assert kim.focused is None and kim.find("[name=terms]").is_selected()
    kim.press_next()
    kim.wait_for_path("/signup/review")


# MARK: Another flow


def test_a_flow_with_choices_numbers_and_patterns_works_with_only_the_keyboard(person, business_site):
    kim = person(at=business_site)
    kim.open("/signup")
    kim.press("Kim Lee", Keys.ENTER, kim.email, Keys.ENTER)
    kim.wait_for_path("/signup/code")
    kim.press(kim.site.mailbox.code(kim.email), Keys.ENTER)
    kim.wait_for_path("/signup/company")
    kim.press("Acme", Keys.ENTER, "123", Keys.ENTER)
    assert kim.focused == "founded_on"
    kim.wait_until(lambda: "Enter it like 123-45-67890." in kim.refusal("business_number"))
    kim.type("business_number", "123-45-67890")
    kim.type("employees", "0")
    kim.press(Keys.ENTER)
    kim.wait_until(lambda: "whole number from 1" in kim.refusal("employees"))
    kim.type("employees", "12")
    kim.press(Keys.ENTER)
    assert kim.focused == "industry"
    kim.press("m", Keys.TAB)
    assert kim.focused == "interests"
    kim.press(Keys.SPACE, Keys.TAB, Keys.TAB, Keys.SPACE)
    kim.wait_until(lambda: kim.is_ready)
    kim.press(Keys.ENTER)
    kim.wait_for_path("/signup/contact")
    kim.find("button.plain").click()
    kim.wait_for_path("/signup/password")
    kim.open("/signup/review")
    for text in ["Manufacturing", "Invoices, Payroll", "123-45-67890", "12"]:
        assert text in kim.text
    kim.open("/signup/company")
    chosen = [box.get_attribute("value") for box in kim.find_all("[name=interests]") if box.is_selected()]
    assert chosen == ["invoices", "payroll"]
    assert kim.find("[name=industry]").get_attribute("value") == "manufacturing"
