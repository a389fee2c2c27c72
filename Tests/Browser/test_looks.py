"""How the pages look and what they weigh, in every language, width and scheme."""

import gzip
import json
from importlib import resources
from urllib.request import Request, urlopen

import pytest
from selenium.webdriver import Keys

from person import STEPS
from test_photos import choose, is_open

PAGES = ["start", *STEPS, "review", "done", "cancel"]


def visit_every_page(kim):
    """Yields each page's name while it is shown."""
    kim.open("/signup")
    yield "start"
    kim.begin()
    for step, following in zip(STEPS, STEPS[1:] + ["review"]):
        yield step
        kim.answer(step)
        kim.arrives(f"/signup/{following}")
    yield "review"
    kim.open("/signup/cancel")
    yield "cancel"
    kim.open("/signup/review")
    kim.one("button.main").click()
    kim.arrives("/signup")
    yield "done"


AXE = (resources.files("axe_playwright_python") / "axe.min.js").read_text()


def violations(kim):
    """What axe finds wrong with what is shown."""
    kim.run(AXE)
    found = kim.browser.execute_async_script(
        "const done = arguments[0]; axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa',"
        " 'best-practice']}).then((results) => done(results.violations))"
    )
    return [(v["id"], [node["html"] for node in v["nodes"]]) for v in found]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "ko"])
def test_axe_finds_no_violation(person, language, scheme):
    kim = person(language)
    kim.browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    try:
        for page in visit_every_page(kim):
            assert violations(kim) == [], page
    finally:
        kim.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.parametrize("language", ["en", "ko"])
def test_axe_finds_none_where_something_is_wrong_open_or_over_either(person, trade, language):
    kim = person(language).walk("email")
    kim.one("button.main").click()
    kim.until(lambda: kim.refusal("email"))
    assert violations(kim) == [], "a refused field"
    kim.one("[data-cancel]").click()
    assert violations(kim) == [], "the question whether to give up"
    kim.one("[data-close]").click()
    kim.answer("email")
    kim.arrives("/signup/code")
    kim.answer("code")
    kim.arrives("/signup/password")
    kim.answer("password")
    kim.arrives("/signup/profile")
    choose(kim)
    kim.until(lambda: is_open(kim))
    assert violations(kim) == [], "the cut of a photo"
    kim.press(Keys.ENTER)
    assert violations(kim) == [], "a photo that was chosen"
    kim.answer("profile")
    kim.arrives("/signup/contact")
    kim.open("/signup/profile")
    assert violations(kim) == [], "a photo that is kept"
    kim.one("summary").click()
    kim.one("details button").click()
    kim.until(lambda: kim.path == "/signup/handoff")
    assert violations(kim) == [], "a message"
    kim.open("/signup/resume?code=nonsense")
    assert violations(kim) == [], "a link that is not whole"
    link = kim.site.mailbox.link(kim.email)
    kim.open(link)
    assert kim.email.split("@")[0][0] in kim.text and violations(kim) == [], "a link"
    kim.one("button.main").click()
    kim.arrives("/signup/contact")
    kim.open(link)
    assert violations(kim) == [], "a link that was used"
    kim.open("/signup/contact")
    kim.answer("contact")
    kim.arrives("/signup/totp")
    kim.show_code_of_app()
    kim.until(lambda: kim.all("#codes"))
    assert violations(kim) == [], "recovery codes"
    lee = person(language, at=trade)
    lee.open("/signup")
    lee.one("button.main").click()
    lee.arrives("/signup/person")
    lee.type("full_name", "Lee")
    lee.type("email", lee.email)
    lee.next()
    lee.arrives("/signup/code")
    lee.answer("code")
    lee.arrives("/signup/company")
    assert violations(lee) == [], "choices"
    lee.one("button.main").click()
    lee.until(lambda: lee.refusal("industry"))
    assert violations(lee) == [], "choices that were refused"


@pytest.mark.parametrize("way", ["zoom", "text"])
def test_at_twice_the_size_nothing_is_cut_off(person, way):
    """A window of 1280 by 1024 at 200 % has 640 by 512 pixels of CSS; some enlarge the text alone."""
    kim = person()
    kim.browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 640, "height": 512, "deviceScaleFactor": 2, "mobile": False}
    )
    try:
        for page in visit_every_page(kim):
            if way == "text":
                kim.run("document.documentElement.style.fontSize = '200%'")
            cut = kim.run(
                "return [...document.querySelectorAll('main *')].filter((e) => e.checkVisibility() && !e.closest('.unseen')"
                " && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML)"
            )
            assert cut == [] and kim.run("return document.documentElement.scrollWidth") <= 640, page
    finally:
        kim.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_keyboard_of_a_phone_hides_nothing_that_is_typed_into(person):
    kim = person()
    whole = {"width": 390, "height": 760, "deviceScaleFactor": 1, "mobile": True}
    is_visible = """
        const { top, bottom } = document.activeElement.getBoundingClientRect();
        return top >= 0 && bottom <= innerHeight;
    """
    kim.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", whole)
    try:
        kim.walk("profile")
        for name in ["introduction", "username", "display_name"]:
            kim.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", whole)
            kim.run("scrollTo(0, 0); document.querySelector(`[name=${arguments[0]}]`).focus()", name)
            # What is left of the page beside the keyboard.
            kim.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", whole | {"height": 300})
            kim.until(lambda: kim.run("return innerHeight") == 300 and kim.run(is_visible), name)
    finally:
        kim.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_pages_can_be_turned_for_languages_that_are_written_from_the_right(person):
    kim = person()
    kim.browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 320, "height": 700, "deviceScaleFactor": 1, "mobile": True}
    )
    try:
        for page in visit_every_page(kim):
            kim.run("document.documentElement.dir = 'rtl'")
            assert kim.run("return document.documentElement.scrollWidth") <= 320, page
            left = kim.run(
                "return [...document.querySelectorAll('main *')].filter((e) => e.checkVisibility() && !e.closest('.unseen')"
                " && e.getBoundingClientRect().left < -1).map((e) => e.outerHTML)"
            )
            assert left == [], page
            # Everything begins at the right.
            edge = "return document.querySelector('main').getBoundingClientRect().right"
            first = "const range = document.createRange(); range.selectNodeContents(document.querySelector('h1')); return range.getBoundingClientRect().right"
            assert abs(kim.run(edge) - kim.run(first)) < 2, page
    finally:
        kim.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("width", [320, 1000])
def test_every_page_is_one_column_that_fits(person, language, width):
    kim = person(language)
    kim.browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 700, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    try:
        for page in visit_every_page(kim):
            assert kim.run("return document.documentElement.scrollWidth") <= width, page
            assert kim.one("main").size["width"] <= 400, page
            small = kim.run(
                "return [...document.querySelectorAll('main button, main a, main summary, main select')]"
                ".filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 44).map((e) => e.outerHTML)"
            )
            assert small == [], page
    finally:
        kim.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_a_page_is_light_and_asks_nobody_else(person):
    kim = person()
    for page in visit_every_page(kim):
        kim.browser.get_log("performance")
        kim.browser.execute_cdp_cmd("Network.setCacheDisabled", {"cacheDisabled": True})
        if page != "done":
            kim.browser.refresh()
            kim.until(lambda: kim.run("return document.readyState") == "complete")
        events = [json.loads(entry["message"])["message"] for entry in kim.browser.get_log("performance")]
        asked = [e["params"]["request"] for e in events if e["method"] == "Network.requestWillBeSent"]
        assert all(request["url"].startswith((kim.site.url, "data:")) for request in asked), page
        loaded = [r for r in asked if r["method"] == "GET" and not r["url"].startswith("data:")]
        assert page == "done" or len(loaded) <= 3, (page, [r["url"] for r in loaded])
        weight = len(gzip.compress(kim.browser.page_source.encode()))
        for kind in ("link[rel=stylesheet]", "script"):
            path = kim.one(kind).get_attribute("href" if "link" in kind else "src")
            weight += len(gzip.compress(urlopen(Request(path)).read()))
        assert weight <= 30_000, page


def test_nothing_moves_for_those_who_want_it_so(person):
    kim = person()
    kim.browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]}
    )
    try:
        kim.begin()
        moving = "return [...document.querySelectorAll('*')].filter((e) => getComputedStyle(e).transitionDuration !== '0s').length"
        assert kim.run(moving) == 0
    finally:
        kim.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    kim.browser.refresh()
    assert kim.run(moving) > 0
