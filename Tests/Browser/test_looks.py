"""How the pages look and what they weigh, in every language, width and scheme."""

import gzip
import json
from importlib import resources
from urllib.request import Request, urlopen

import pytest

from person import STEPS

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


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "ko"])
def test_axe_finds_no_violation(person, language, scheme):
    kim = person(language)
    axe = (resources.files("axe_playwright_python") / "axe.min.js").read_text()
    kim.browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    try:
        for page in visit_every_page(kim):
            kim.run(axe)
            violations = kim.browser.execute_async_script(
                "const done = arguments[0]; axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa',"
                " 'best-practice']}).then((results) => done(results.violations))"
            )
            told = [(v["id"], [node["html"] for node in v["nodes"]]) for v in violations]
            assert told == [], page
    finally:
        kim.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("width", [320, 1000])
def test_every_page_is_one_column_that_fits(person, language, width):
    kim = person(language)
    kim.browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": width, "height": 700, "deviceScaleFactor": 1, "mobile": width < 500}
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
