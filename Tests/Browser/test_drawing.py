"""How the pages are drawn: at narrow widths, without script, and with forced colours."""

import gzip
import re
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from selenium.webdriver import ActionChains, Keys

from test_looks import visit_every_page

# The words that are drawn on two lines. A link and an address may have any length.
BROKEN_WORDS = """
    const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
    const broken = [];
    for (let node = walker.nextNode(); node; node = walker.nextNode()) {
      if (!node.parentElement.checkVisibility() || node.parentElement.closest(".unseen, strong, bdi, dd, .account, code")) continue;
      for (const { 0: word, index } of node.data.matchAll(/[^\\s–-]+[–-]?/g)) {
        const range = document.createRange();
        range.setStart(node, index);
        range.setEnd(node, index + word.length);
        const tops = [...range.getClientRects()].map(({ top }) => Math.round(top));
        if (new Set(tops).size > 1) broken.push(word);
      }
    }
    return broken;
"""

# The contrast of the text of an element with its background (WCAG 2.2).
CONTRAST = """
    const style = getComputedStyle(arguments[0]);
    const luminance = (colour) => {
      const context = new OffscreenCanvas(1, 1).getContext("2d");
      context.fillStyle = colour;
      context.fillRect(0, 0, 1, 1);
      const [red, green, blue] = [...context.getImageData(0, 0, 1, 1).data].map((byte) => {
        const share = byte / 255;
        return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
      });
      return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
    };
    const [dark, light] = [luminance(style.color), luminance(style.backgroundColor)].sort((a, b) => a - b);
    return (light + 0.05) / (dark + 0.05);
"""


def emulate(kim, **features):
    kim.browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": name.replace("_", "-"), "value": value} for name, value in features.items()]},
    )


def narrow(kim):
    kim.browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 320, "height": 700, "deviceScaleFactor": 1, "mobile": True}
    )


def style(kim, selector, name):
    return kim.run_script("return getComputedStyle(document.querySelector(arguments[0]))[arguments[1]]", selector, name)


@pytest.mark.parametrize("language", ["en", "ko"])
def test_no_word_is_broken_on_a_narrow_phone(person, language):
    kim = person(language)
    narrow(kim)
    try:
        for page in visit_every_page(kim):
            assert kim.run_script(BROKEN_WORDS) == [], page
    finally:
        kim.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_each_recovery_code_is_on_one_line(person):
    kim = person().go_to("totp")
    kim.submit_authenticator_code()
    kim.wait_until(lambda: len(kim.find_all("#codes code")) == 10, "the codes")
    lines = "return [...document.querySelectorAll('#codes code')].map((code) => code.getClientRects().length)"
    tops = "return [...document.querySelectorAll('#codes li')].map((line) => line.getBoundingClientRect().top)"
    assert kim.run_script(lines) == [1] * 10 and len(set(kim.run_script(tops))) == 10
    narrow(kim)
    try:
        assert kim.run_script(lines) == [1] * 10
        assert kim.run_script("return document.documentElement.scrollWidth") <= 320
    finally:
        kim.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_buttons_are_reached_in_the_order_in_which_they_are_seen(person):
    kim = person().go_to("contact")
    kim.open("/signup/profile")
    places = kim.run_script(
        "return [...document.querySelectorAll('#answers > .actions > *')].map((button) => button.getBoundingClientRect())"
        ".map(({ top, left }) => [Math.round(top), left])"
    )
    assert len(places) == 2 and places == sorted(places)
    kim.run_script("document.querySelector('#answers .main').focus()")
    kim.press(Keys.TAB)
    assert kim.run_script("return document.activeElement.matches('[data-back]')")


def test_a_box_and_a_file_have_no_line_of_a_text_field_while_focused(person):
    kim = person().go_to("profile")
    kim.run_script("document.querySelector('[type=file]').focus()")
    assert style(kim, "[type=file]", "boxShadow") == "none"
    kim.complete("profile")
    kim.wait_for_path("/signup/contact")
    kim.complete("contact")
    kim.wait_for_path("/signup/totp")
    kim.complete("totp")
    kim.wait_for_path("/signup/terms")
    kim.run_script("document.querySelector('[type=checkbox]').focus()")
    assert style(kim, "[type=checkbox]", "boxShadow") == "none"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_button_that_is_not_ready_can_be_read(person, scheme):
    kim = person()
    emulate(kim, prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
    try:
        kim.go_to("email")
        assert not kim.is_ready
        assert kim.run_script(CONTRAST, kim.find("button.main")) >= 4.5
    finally:
        emulate(kim)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_button_changes_under_the_mouse_and_while_it_is_pressed(person, scheme):
    kim = person()
    emulate(kim, prefers_color_scheme=scheme, prefers_reduced_motion="reduce")
    try:
        kim.open("/sign-in/mail")
        kim.run_script("addEventListener('click', (event) => event.preventDefault())")
        for selector in ["button.main", "a.button"]:
            colours = [style(kim, selector, "backgroundColor")]
            ActionChains(kim.browser).move_to_element(kim.find(selector)).perform()
            colours.append(style(kim, selector, "backgroundColor"))
            ActionChains(kim.browser).click_and_hold().perform()
            colours.append(style(kim, selector, "backgroundColor"))
            ActionChains(kim.browser).release().perform()
            assert len(set(colours)) == 3, (selector, colours)
    finally:
        emulate(kim)


def test_the_recovery_codes_are_printed_without_buttons(person):
    kim = person().go_to("totp")
    kim.submit_authenticator_code()
    kim.wait_until(lambda: len(kim.find_all("#codes code")) == 10, "the codes")
    visible = "return [...document.querySelectorAll(arguments[0])].filter((e) => e.checkVisibility()).map((e) => e.textContent)"
    buttons = "button, .button, nav, footer a"
    assert len(kim.run_script(visible, buttons)) >= 4
    codes = kim.run_script(visible, "#codes code")
    kim.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert kim.run_script(visible, "h1") == ["Recovery codes"] and kim.run_script(visible, "#codes code") == codes
        assert kim.run_script(visible, buttons) == []
    finally:
        kim.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_forced_colours_keep_the_edges_of_codes_the_progress_and_the_focus(person):
    kim = person().go_to("code")
    emulate(kim, forced_colors="active")
    try:
        kim.wait_until(lambda: style(kim, ".boxes input", "borderTopStyle") == "solid", "the edge of the code")
        for step in [".steps li", ".steps [aria-current]"]:
            border = "return getComputedStyle(document.querySelector(arguments[0]), '::before').borderTopWidth"
            assert kim.run_script(border, step) == "1px"
        assert style(kim, ".boxes input", "outlineStyle") == "solid"
        kim.open("/signup/email")
        kim.run_script("document.querySelector('[name=email]').focus()")
        assert style(kim, "[name=email]", "outlineWidth") == "2px"
        assert style(kim, "[name=email]", "outlineColor") not in ("rgba(0, 0, 0, 0)", "transparent")
    finally:
        emulate(kim)


def test_without_script_nothing_is_drawn_that_needs_it(person):
    kim = person(script=False)
    kim.open("/signup")
    kim.type("email", kim.email)
    kim.press_next()
    kim.wait_until(lambda: kim.path == "/signup/code", "the code")
    assert not kim.find(".clock").is_displayed() and kim.find("form[action$='/resend'] button").is_enabled()
    kim.type("code", kim.site.mailbox.code(kim.email))
    kim.press_next()
    kim.wait_until(lambda: kim.path == "/signup/password", "the password")
    assert not kim.find(".eye").is_displayed() and kim.find("[name=confirmation]").is_displayed()


def test_the_document_states_how_much_a_page_loads(person):
    kim = person()
    kim.open("/signup")
    links = [("link[rel=stylesheet]", "href"), ("script", "src")]
    urls = [kim.find(selector).get_attribute(name) for selector, name in links]
    files = [urlopen(url).read() for url in urls]
    loaded = [urlopen(Request(url, headers={"Accept-Encoding": "gzip"})).read() for url in urls]
    assert [gzip.decompress(file) for file in loaded] == files
    document = (Path(__file__).parents[2] / "docs" / "pages.md").read_text()
    stated = re.search(r"Together they have (\d+) KB, of which a browser loads (\d+) KB", document)
    sizes = [sum(map(len, files)) / 1000, sum(map(len, loaded)) / 1000]
    for size, number in zip(sizes, stated.groups()):
        assert abs(size - int(number)) <= 1.5, (size, number)
