"""The fixtures for the tests of the pages. server.py lists the environment variables that they need."""

import re
from pathlib import Path

import pytest

pytest.register_assert_rewrite("person")

from browsers import start_browser
from person import Person
from server import AMPLE_LIMITS, serve, write_flow


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """A server with the built-in flow, and limits that allow the sign-ups of all tests from one network."""
    with serve(write_flow(tmp_path_factory.mktemp("flow"), AMPLE_LIMITS)) as site:
        yield site


@pytest.fixture(scope="session")
def strict_site(tmp_path_factory):
    """A server with the built-in flow, and limits of one mail and one guess a day for each address."""
    limits = "{mails_to_address: 1/1d, guesses_for_address: 1/1d}"
    with serve(write_flow(tmp_path_factory.mktemp("strict"), limits)) as site:
        yield site


@pytest.fixture(scope="session")
def one_mail_site(tmp_path_factory):
    """A server with the built-in flow, and a limit of one mail in fifty minutes for all browsers of this machine."""
    with serve(write_flow(tmp_path_factory.mktemp("one-mail"), "{mails_from_network: 1/50m}")) as site:
        yield site


@pytest.fixture(scope="session")
def business_site(tmp_path_factory):
    """A server with the third flow of docs/flow.md, which signs businesses up."""
    document = (Path(__file__).parents[2] / "docs" / "flow.md").read_text()
    flow = re.search(r"```yaml\n(flow: business\n.*?)```", document, re.DOTALL)[1]
    file = tmp_path_factory.mktemp("flow") / "signup.yaml"
    file.write_text(flow)
    with serve(file) as site:
        yield site


@pytest.fixture(scope="session")
def browsers():
    """One browser of each kind for all tests, because starting a browser is slow."""
    kept = {}

    def browser(*kind):
        if kind not in kept:
            kept[kind] = start_browser(*kind)
        return kept[kind]

    yield browser
    for started in kept.values():
        started.quit()


@pytest.fixture
def person(site, browsers):
    """Creates a person with a browser and no sign-up: person("ko"), person(script=False), person(at=business_site)."""
    people = []

    def make(language="en", script=True, at=site):
        browser = browsers(language, script)
        browser.get(at.url + "/health/live")
        browser.delete_all_cookies()
        if script:
            browser.execute_script("sessionStorage.clear()")
        browser.get_log("browser")
        browser.get_log("performance")
        people.append(Person(browser, at, language))
        return people[-1]

    yield make
    for created in people:
        created.check_console()
