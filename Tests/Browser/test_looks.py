"""Accessibility, layout and size of the pages."""

import json
from importlib import resources

import pytest
from selenium.webdriver import Keys

from person import STEPS
from test_photos import choose, is_dialog_open

PAGES = ["start", *STEPS, "review", "done", "cancel"]


def visit_every_page(kim):
    """Goes through a sign-up, and yields the name of each page while it is open."""
    kim.open("/signup")
    yield "start"
    kim.start()
    for step, following in zip(STEPS, STEPS[1:] + ["review"]):
        yield step
        kim.complete(step)
        kim.wait_for_path(f"/signup/{following}")
    yield "review"
    kim.open("/signup/cancel")
    yield "cancel"
    kim.open("/signup/review")
    kim.find("button.main").click()
    kim.wait_for_path("/signup")
    yield "done"


def visit_every_page_of_the_service(kim):
    """Goes through a sign-up and to the other pages that people open by themselves, like `visit_every_page`."""
    yield from visit_every_page(kim)
    kim.open("/account")
    yield "account"
    kim.browser.delete_all_cookies()
    for page in ["sign-in", "recovery", "nowhere"]:
        kim.open(f"/{page}")
        yield page


# The conditions "Slow 4G" of Chromium's developer tools, in bytes and milliseconds, and a line that is not slowed down.
SLOW_LINE = {"offline": False, "latency": 150, "downloadThroughput": 1_600_000 / 8, "uploadThroughput": 750_000 / 8}
FAST_LINE = {"offline": False, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}

# A script that returns the elements that have moved, after the browser has drawn two more frames.
MOVED = """
    const done = arguments[0];
    const moved = [];
    new PerformanceObserver((list) => {
      for (const { sources } of list.getEntries())
        moved.push(...sources.map(({ node }) => (node?.nodeType === 1 ? node.outerHTML : node?.nodeName) ?? "?"));
    }).observe({ type: "layout-shift", buffered: true });
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(() => done(moved))));
"""

# A script that returns what the browser needs before it can draw: how many bytes, and after how many waits for the line,
# because it knows of a file that blocks only from the page, and of what that file loads only from the file. Also returns
# the URL of the largest content if it is a picture, which would have to be loaded as well.
NEEDED = """
    const done = arguments[0];
    const [page] = performance.getEntriesByType("navigation");
    const files = performance.getEntriesByType("resource").filter((file) => file.renderBlockingStatus === "blocking");
    const bytes = [page, ...files].reduce((sum, { transferSize }) => sum + transferSize, 0);
    const waits = 1 + (files.length > 0) + files.some((file) => file.initiatorType === "css");
    new PerformanceObserver((list) => done([bytes, waits, list.getEntries().at(-1).url]))
      .observe({ type: "largest-contentful-paint", buffered: true });
"""

AXE = (resources.files("axe_playwright_python") / "axe.min.js").read_text()


def violations(kim):
    """Returns the violations that axe finds on the current page after its transitions, which mix colors."""
    kim.run_script(AXE)
    found = kim.browser.execute_async_script(
        "const done = arguments[0]; Promise.allSettled(document.getAnimations()"
        ".filter((animation) => animation instanceof CSSTransition).map((transition) => transition.finished))"
        ".then(() => axe.run({runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']}))"
        ".then((results) => done(results.violations))"
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
def test_axe_finds_no_violation_in_errors_dialogs_and_messages(person, business_site, language):
    kim = person(language).go_to("email")
    kim.find("button.main").click()
    kim.wait_until(lambda: kim.refusal("email"))
    assert violations(kim) == [], "a refused field"
    kim.find("[data-cancel]").click()
    assert violations(kim) == [], "the dialog that cancels"
    kim.find("[data-close]").click()
    kim.complete("email")
    kim.wait_for_path("/signup/code")
    kim.complete("code")
    kim.wait_for_path("/signup/password")
    kim.complete("password")
    kim.wait_for_path("/signup/profile")
    choose(kim)
    kim.wait_until(lambda: is_dialog_open(kim))
    assert violations(kim) == [], "the dialog that crops a photo"
    kim.press(Keys.ENTER)
    assert violations(kim) == [], "a chosen photo"
    kim.complete("profile")
    kim.wait_for_path("/signup/contact")
    kim.open("/signup/profile")
    assert violations(kim) == [], "a stored photo"
    kim.find("summary").click()
    kim.find("details button").click()
    kim.wait_until(lambda: kim.path == "/signup/handoff")
    assert violations(kim) == [], "a message"
    kim.open("/signup/resume?code=nonsense")
    assert violations(kim) == [], "an incomplete link"
    link = kim.site.mailbox.link(kim.email)
    kim.open("/signup/resume")
    assert violations(kim) == [], "the page for the code of a link"
    kim.open("/signup/contact")
    kim.open(link)
    # The script sends the code of the link.
    kim.wait_until(lambda: not kim.find_all("[data-link]") and kim.find_all("[name=confirmed]"))
    assert kim.path == "/signup/resume"
    assert kim.email.split("@")[0][0] in kim.text and violations(kim) == [], "a link"
    kim.find("button.main").click()
    kim.wait_for_path("/signup/password")
    cookie = kim.browser.get_cookie("signup")
    kim.browser.delete_cookie("signup")
    kim.open(link)
    used = {"en": "already been used", "ko": "이미 사용한"}[language]
    kim.wait_until(lambda: used in kim.text, "the news")
    assert kim.find("[name=code]").is_displayed() and violations(kim) == [], "a used link"
    kim.browser.add_cookie({"name": "signup", "value": cookie["value"]})
    kim.open(kim.site.mailbox.ticket(kim.email))
    assert kim.find("form") and violations(kim) == [], "a ticket"
    kim.open("/signup/ticket?ticket=" + "A" * 44)
    assert violations(kim) == [], "a used ticket"
    kim.open("/signup/password")
    kim.complete("password")
    kim.wait_for_path("/signup/contact")
    kim.complete("contact")
    kim.wait_for_path("/signup/totp")
    kim.submit_authenticator_code()
    kim.wait_until(lambda: kim.find_all("#codes"))
    assert violations(kim) == [], "recovery codes"
    lee = person(language, at=business_site)
    lee.open("/signup")
    lee.type("full_name", "Lee")
    lee.type("email", lee.email)
    lee.press_next()
    lee.wait_for_path("/signup/code")
    lee.complete("code")
    lee.wait_for_path("/signup/company")
    assert violations(lee) == [], "choices"
    lee.find("button.main").click()
    lee.wait_until(lambda: lee.refusal("industry"))
    assert violations(lee) == [], "refused choices"


@pytest.mark.parametrize("way", ["zoom", "text"])
def test_nothing_is_cut_off_at_200_percent(person, way):
    """A window of 1280 by 1024 at 200 % has 640 by 512 CSS pixels. `text` enlarges only the text, as some people do."""
    kim = person()
    kim.browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 640, "height": 512, "deviceScaleFactor": 2, "mobile": False}
    )
    try:
        for page in visit_every_page(kim):
            if way == "text":
                kim.run_script("document.documentElement.style.fontSize = '200%'")
            cut = kim.run_script(
                "return [...document.querySelectorAll('main *')].filter((e) => e.checkVisibility() && !e.closest('.unseen')"
                " && e.getBoundingClientRect().right > innerWidth + 1).map((e) => e.outerHTML)"
            )
            assert cut == [] and kim.run_script("return document.documentElement.scrollWidth") <= 640, page
    finally:
        kim.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_the_keyboard_of_a_phone_does_not_hide_the_focused_field(person):
    kim = person()
    whole = {"width": 390, "height": 760, "deviceScaleFactor": 1, "mobile": True}
    is_visible = """
        const { top, bottom } = document.activeElement.getBoundingClientRect();
        return top >= 0 && bottom <= innerHeight;
    """
    kim.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", whole)
    try:
        kim.go_to("profile")
        for name in ["introduction", "username", "display_name"]:
            kim.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", whole)
            kim.run_script("scrollTo(0, 0); document.querySelector(`[name=${arguments[0]}]`).focus()", name)
            # The keyboard leaves this height to the page.
            kim.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", whole | {"height": 300})
            kim.wait_until(lambda: kim.run_script("return innerHeight") == 300 and kim.run_script(is_visible), name)
    finally:
        kim.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_pages_fit_and_align_right_in_right_to_left_languages(person):
    kim = person()
    kim.browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {"width": 320, "height": 700, "deviceScaleFactor": 1, "mobile": True}
    )
    try:
        for page in visit_every_page(kim):
            kim.run_script("document.documentElement.dir = 'rtl'")
            assert kim.run_script("return document.documentElement.scrollWidth") <= 320, page
            left = kim.run_script(
                "return [...document.querySelectorAll('main *')].filter((e) => e.checkVisibility() && !e.closest('.unseen')"
                " && e.getBoundingClientRect().left < -1).map((e) => e.outerHTML)"
            )
            assert left == [], page
            # The heading starts at the right edge.
            edge = "return document.querySelector('main').getBoundingClientRect().right"
            first = "const range = document.createRange(); range.selectNodeContents(document.querySelector('h1')); return range.getBoundingClientRect().right"
            assert abs(kim.run_script(edge) - kim.run_script(first)) < 2, page
    finally:
        kim.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("language", ["en", "ko"])
@pytest.mark.parametrize("width", [320, 1000])
def test_every_page_fits_its_width_in_one_column_with_large_controls(person, language, width):
    kim = person(language)
    kim.browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 700, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    try:
        for page in visit_every_page(kim):
            assert kim.run_script("return document.documentElement.scrollWidth") <= width, page
            assert kim.find("main").size["width"] <= 400, page
            small = kim.run_script(
                "return [...document.querySelectorAll('main button, main a, main summary, main select')]"
                ".filter((e) => e.checkVisibility() && e.getBoundingClientRect().height < 44).map((e) => e.outerHTML)"
            )
            assert small == [], page
    finally:
        kim.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def load(kim):
    """Loads the page again without the cache. Returns the URLs that it has requested, and how many bytes came over the
    line for each of them, with their headers."""
    run = kim.browser.execute_cdp_cmd
    run("Network.setCacheDisabled", {"cacheDisabled": True})
    kim.browser.get_log("performance")
    kim.browser.refresh()
    urls, bytes = {}, {}

    def is_loaded():
        for entry in kim.browser.get_log("performance"):
            event = json.loads(entry["message"])["message"]
            if event["method"] == "Network.requestWillBeSent":
                urls[event["params"]["requestId"]] = event["params"]["request"]["url"]
            if event["method"] == "Network.loadingFinished":
                bytes[event["params"]["requestId"]] = event["params"]["encodedDataLength"]
            if event["method"] == "Network.loadingFailed":
                bytes[event["params"]["requestId"]] = 0
        return urls and urls.keys() <= bytes.keys()

    try:
        kim.wait_until(lambda: kim.run_script("return document.readyState") == "complete", "the page")
        kim.wait_until(is_loaded, "all files of the page")
    finally:
        run("Network.setCacheDisabled", {"cacheDisabled": False})
    return [(url, bytes[request]) for request, url in urls.items() if not url.startswith("data:")]


def test_a_page_is_small_and_loads_nothing_from_other_sites(person):
    kim = person()
    for page in visit_every_page_of_the_service(kim):
        loaded = load(kim)
        assert all(url.startswith(kim.site.url) for url, _ in loaded), (page, loaded)
        assert 2 <= len(loaded) <= 3 and sum(size for _, size in loaded) <= 40_000, (page, loaded)


def test_nothing_moves_while_a_page_loads(person):
    """The line is slow, so that the browser draws the page before it has the script."""
    kim = person()
    run = kim.browser.execute_cdp_cmd
    run("Network.setCacheDisabled", {"cacheDisabled": True})
    try:
        for page in visit_every_page_of_the_service(kim):
            run("Network.emulateNetworkConditions", SLOW_LINE)
            kim.browser.refresh()
            run("Network.emulateNetworkConditions", FAST_LINE)
            kim.wait_until(lambda: kim.run_script("return document.readyState") == "complete")
            moved = kim.browser.execute_async_script(MOVED)
            assert moved == [], page
            # How long the browser itself takes depends on the machine, so only scripts/paint measures that.
            needed, waits, picture = kim.browser.execute_async_script(NEEDED)
            time = 1000 * (needed / SLOW_LINE["downloadThroughput"]) + SLOW_LINE["latency"] * waits
            assert not picture and time <= 500, (page, picture, time)
    finally:
        run("Network.setCacheDisabled", {"cacheDisabled": False})


def test_reduced_motion_turns_transitions_off(person):
    kim = person()
    kim.browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-reduced-motion", "value": "reduce"}]}
    )
    try:
        kim.start()
        moving = "return [...document.querySelectorAll('*')].filter((e) => getComputedStyle(e).transitionDuration !== '0s').length"
        assert kim.run_script(moving) == 0
    finally:
        kim.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    kim.browser.refresh()
    assert kim.run_script(moving) > 0
