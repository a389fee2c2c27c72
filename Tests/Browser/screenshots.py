"""Writes screenshots of each state of the pages into the folder SCREENSHOTS, and a sheet with all of them for each
language, for scripts/screenshots."""

import base64
import html
import os
from pathlib import Path

import pytest

from server import AMPLE_LIMITS, serve, write_flow
from states import visit_every_state

APPLICATIONS = Path(__file__).parents[2] / "docs" / "applications.yaml"
FOLDER = Path(os.environ["SCREENSHOTS"])
WIDTHS = {"narrow": 390, "wide": 1000}


def capture(browser, file, **options):
    picture = browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True, **options})
    file.write_bytes(base64.b64decode(picture["data"]))


def set_size(browser, width, height=760):
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


@pytest.fixture(scope="session")
def pictured_site(tmp_path_factory):
    """A server with the built-in flow, a link for help, two applications, and limits that allow the sign-ups of all
    pictures."""
    folder = tmp_path_factory.mktemp("flow")
    flow = write_flow(folder, AMPLE_LIMITS)
    brand = folder / "brand.yaml"
    brand.write_text("links: {help: https://acme.example/help}\n")
    with serve(flow, APPLICATIONS_FILE=str(APPLICATIONS), BRAND_FILE=str(brand)) as site:
        yield site


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "ko"])
def test_screenshots(person, browsers, pictured_site, language, scheme, width):
    browser = browsers(language, True)
    # Without motion, no button is pictured on its way from one colour to another.
    features = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia",
        {"features": [{"name": name, "value": value} for name, value in features.items()]},
    )
    set_size(browser, WIDTHS[width])
    try:
        for number, state in enumerate(visit_every_state(lambda: person(language, at=pictured_site))):
            capture(browser, FOLDER / f"{number:02}-{state}-{language}-{scheme}-{width}.png")
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


@pytest.mark.parametrize("language", ["en", "ko"])
def test_sheets(browsers, language):
    """Puts all screenshots of a language on one sheet, which a browser draws."""
    browser = browsers(language, True)
    states = sorted({file.name.split(f"-{language}-")[0] for file in FOLDER.glob(f"[0-9][0-9]-*-{language}-*.png")})
    assert states
    figures = "".join(
        f"<figure><figcaption>{html.escape(state[3:])}</figcaption><div>"
        + "".join(
            f"<img src='{file.name}'>"
            for width in WIDTHS
            for scheme in ["light", "dark"]
            for file in [FOLDER / f"{state}-{language}-{scheme}-{width}.png"]
        )
        + "</div></figure>"
        for state in states
    )
    page = FOLDER / f"sheet-{language}.html"
    page.write_text(
        "<!doctype html><meta charset=utf-8><style>body{margin:12px;background:#888;font:12px sans-serif;columns:2}"
        "figure{margin:0 0 12px;break-inside:avoid}div{display:flex;gap:4px;align-items:start}"
        "img:nth-child(-n+2){width:130px}img{width:225px;max-height:400px;object-fit:cover;object-position:top}"
        f"figcaption{{color:#fff}}</style>{figures}"
    )
    set_size(browser, 1480)
    try:
        browser.get(page.as_uri())
        loaded = "return [...document.images].every((image) => image.complete && image.naturalWidth)"
        assert browser.execute_script(loaded)
        capture(browser, FOLDER / f"sheet-{language}.webp", format="webp", quality=55)
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
