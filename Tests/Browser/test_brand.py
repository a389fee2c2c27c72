"""The pages with the brand of examples/brand."""

from contextlib import contextmanager
from pathlib import Path

import pytest

from server import serve
from test_looks import violations

BRAND = Path(__file__).parents[2] / "examples" / "brand" / "brand.yaml"


@pytest.fixture(scope="module")
def branded_site():
    with serve(BRAND_FILE=str(BRAND)) as site:
        yield site


@contextmanager
def colour_scheme(kim, scheme):
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    kim.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    try:
        yield
    finally:
        kim.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def logo(kim):
    """Waits until the browser has drawn the logo, and returns its URL."""
    kim.wait_until(lambda: kim.run_script("return document.querySelector('.logo').complete"), "the logo")
    width, height = kim.run_script(
        "const { width, height } = document.querySelector('.logo').getBoundingClientRect(); return [width, height]"
    )
    assert width > height > 0 and kim.run_script("return document.querySelector('.logo').naturalWidth") > 0
    return kim.run_script("return document.querySelector('.logo').currentSrc")


@pytest.mark.parametrize(
    ("scheme", "file", "accent", "on_accent"),
    [
        ("light", "logo.svg", "rgb(15, 118, 110)", "rgb(255, 255, 255)"),
        ("dark", "logo-dark.svg", "rgb(94, 234, 212)", "rgb(4, 47, 46)"),
    ],
)
@pytest.mark.parametrize("language", ["en", "ko"])
def test_a_page_has_the_logo_the_colours_and_the_links(person, branded_site, language, scheme, file, accent, on_accent):
    kim = person(language, at=branded_site)
    style = "const { backgroundColor, color } = getComputedStyle(arguments[0]); return [backgroundColor, color]"
    with colour_scheme(kim, scheme):
        for path in ["/signup", "/sign-in", "/recovery", "/nowhere"]:
            kim.open(path)
            assert logo(kim).endswith(f"/{file}"), path
            assert kim.find(".logo").get_attribute("alt") == "Example Tea"
            if kim.find_all("[name=email]"):
                # The button is pale until the field has an address.
                kim.type("email", kim.email)
            kim.wait_until(
                lambda: kim.run_script(style, kim.find(".main")) == [accent, on_accent], f"the colours of {path}"
            )
            links = [link.get_attribute("href") for link in kim.find_all("footer.links a")]
            assert links == [
                "https://tea.example/help",
                "https://tea.example/terms",
                "mailto:privacy@tea.example",
            ]
            assert violations(kim) == [], path


def test_every_step_keeps_the_brand(person, branded_site):
    kim = person(at=branded_site).go_to("password")
    assert logo(kim).endswith("/logo.svg")
    radius = kim.run_script("return getComputedStyle(document.querySelector('.main')).borderTopLeftRadius")
    assert radius == "8px" and kim.browser.title.endswith("Example Tea")
    assert violations(kim) == []


def test_the_space_of_the_logo_is_reserved_before_it_is_loaded(person, branded_site):
    kim = person(at=branded_site)
    kim.open("/sign-in")
    heading = "return document.querySelector('h1').getBoundingClientRect().top"
    logo(kim)
    before = kim.run_script(heading)
    kim.run_script("document.querySelector('picture').replaceChildren()")
    assert kim.run_script(heading) == before
