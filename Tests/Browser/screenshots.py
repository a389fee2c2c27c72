"""Writes screenshots of every page into the folder SCREENSHOTS, for scripts/screenshots."""

import base64
import os

import pytest

from test_looks import visit_every_page


@pytest.mark.parametrize("width", [390, 1000])
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("language", ["en", "ko"])
def test_screenshots(person, language, scheme, width):
    kim = person(language)
    kim.browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    kim.browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": width, "height": 760, "deviceScaleFactor": 1, "mobile": width < 500},
    )
    try:
        for number, page in enumerate(visit_every_page(kim)):
            picture = kim.browser.execute_cdp_cmd("Page.captureScreenshot", {"captureBeyondViewport": True})
            name = f"{number:02}-{page}-{language}-{scheme}-{'narrow' if width < 500 else 'wide'}.png"
            with open(os.path.join(os.environ["SCREENSHOTS"], name), "wb") as file:
                file.write(base64.b64decode(picture["data"]))
    finally:
        kim.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
        kim.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
