"""The first page, and the switch of languages, in a real browser."""

import pytest
from selenium.webdriver import Keys

from test_looks import violations

NARROW = {"width": 320, "height": 700, "deviceScaleFactor": 1, "mobile": True}


def language(kim):
    return kim.run_script("return document.documentElement.lang")


def switch(kim, tag):
    """Presses the button of the language, and waits for the page in it."""
    kim.find(f".languages [value={tag}]").click()
    kim.wait_until(lambda: language(kim) == tag, tag)


def drafts(kim):
    return kim.site.sql("SELECT count(*) FROM drafts")


@pytest.mark.parametrize("script", [True, False])
def test_the_first_page_starts_the_sign_up_with_its_answer(person, script):
    kim = person(script=script)
    before = drafts(kim)
    kim.open("/signup")
    assert drafts(kim) == before, "a page that is only read writes nothing"
    kim.type("email", kim.email).send_keys(Keys.ENTER)
    kim.wait_until(lambda: kim.path == "/signup/code", "the code")
    assert kim.site.mailbox.code(kim.email)


@pytest.mark.parametrize("script", [True, False])
def test_a_refused_first_answer_is_shown_again(person, script):
    kim = person(script=script)
    kim.open("/signup")
    kim.type("email", "kim@").send_keys(Keys.ENTER)
    kim.wait_until(lambda: kim.refusal("email"), "the refusal")
    assert kim.find("[name=email]").get_attribute("value") == "kim@"
    assert kim.browser.title.startswith("Error:")
    kim.type("email", kim.email)
    kim.press_next()
    kim.wait_until(lambda: kim.path == "/signup/code", "the code")


@pytest.mark.parametrize("path", ["/", "/signup/"])
def test_the_root_and_a_slash_at_the_end_lead_to_the_sign_up(person, path):
    kim = person()
    kim.open(path)
    assert kim.find("h1").text == "What's your email address?" and kim.focused == "email"
    assert not kim.find("#notice").is_displayed(), "nobody is told to allow cookies before anything went wrong"
    kim.press(kim.email, Keys.ENTER)
    kim.wait_for_path("/signup/code")
    kim.open(path)
    kim.wait_for_path("/signup/code")


def test_an_empty_first_page_says_what_is_missing(person):
    kim = person()
    kim.open("/signup")
    kim.press(Keys.ENTER)
    kim.wait_until(lambda: "Enter your email address." in kim.refusal("email"), "the refusal")
    assert kim.focused == "email"


def test_a_link_fills_in_the_address(person):
    kim = person()
    kim.open(f"/signup?email={kim.email}&locale=ko")
    assert language(kim) == "ko" and kim.find("[name=email]").get_attribute("value") == kim.email
    kim.press_next()
    kim.wait_for_path("/signup/code")
    assert language(kim) == "ko"
    kim.open(f"/sign-in?login_hint={kim.email}")
    assert kim.find("[name=identifier]").get_attribute("value") == kim.email and kim.focused == "password"


@pytest.mark.parametrize("script", [True, False])
@pytest.mark.parametrize(("before", "after"), [("en", "ko"), ("ko", "en")])
def test_the_switch_changes_the_language_of_all_pages(person, before, after, script):
    kim = person(before, script)
    lang = lambda: kim.find("html").get_attribute("lang")
    for path in ["/signup", "/recovery", "/sign-in", "/nowhere"]:
        kim.open(path)
        if lang() == before:
            current = kim.find(".languages [aria-current]")
            assert current.get_attribute("value") == before
            kim.find(f".languages [value={after}]").click()
            kim.wait_until(lambda: lang() == after, after)
        assert kim.path == path and lang() == after
        assert kim.find(".languages [aria-current]").get_attribute("lang") == after


def test_the_switch_is_reached_with_the_keyboard_and_keeps_what_was_typed(person):
    kim = person()
    kim.open("/signup")
    kim.press("kim@exam")
    while kim.run_script("return document.activeElement.lang") != "ko":
        kim.press(Keys.TAB)
    kim.press(Keys.ENTER)
    kim.wait_until(lambda: language(kim) == "ko", "Korean")
    assert kim.path == "/signup" and kim.find("[name=email]").get_attribute("value") == "kim@exam"
    assert kim.run_script("return sessionStorage.length") == 0, "the tab has kept it for this page only"
    kim.open("/signup")
    assert kim.find("[name=email]").get_attribute("value") == ""


def test_a_step_keeps_what_was_typed_and_the_draft_has_the_language(person):
    kim = person().go_to("profile")
    kim.type("display_name", "Kim Lee")
    switch(kim, "ko")
    assert kim.path == "/signup/profile" and kim.find("[name=display_name]").get_attribute("value") == "Kim Lee"
    kim.complete("profile")
    kim.wait_for_path("/signup/contact")
    assert language(kim) == "ko"
    switch(kim, "en")
    assert kim.path == "/signup/contact"


@pytest.mark.parametrize("language", ["en", "ko"])
def test_the_first_page_fits_and_axe_finds_no_violation(person, language):
    kim = person(language)
    kim.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", NARROW)
    try:
        for path in ["/signup", "/recovery", "/sign-in"]:
            kim.open(path)
            assert violations(kim) == [], path
            assert kim.run_script("return document.documentElement.scrollWidth") <= 320, path
            small = kim.run_script(
                "return [...document.querySelectorAll('button, footer a, main a')]"
                ".filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 44).map((e) => e.outerHTML)"
            )
            assert small == [], path
        kim.open("/signup")
        assert kim.find("h1").text and kim.focused == "email"
        kim.press(Keys.ENTER)
        kim.wait_until(lambda: kim.refusal("email"), "the refusal")
        assert violations(kim) == [], "a refused first answer"
    finally:
        kim.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
