"""Fixtures: a service with these applications: the example shop, the wiki of docs/openid.md, and three libraries."""

import os
import re
import sys
import tempfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SHOP = ROOT / "examples" / "shop"
sys.path.insert(0, str(ROOT / "Tests" / "Browser"))
pytest.register_assert_rewrite("listener", "person", "relying_party", "visitor")

from apache import Apache
from browsers import start_browser
from listener import Listener
from person import Person
from relying_party import CALLBACK, PROXIED, RelyingParty
from running import running
from server import free_port, serve
from visitor import Visitor

SECRET = "a secret of the tests, with 38 letters".replace(" ", "-")

# The registrations of applications in addition to the shop and the wiki.
REGISTRATIONS = f"""
  - id: reader
    name: {{en: Reader, ko: 리더}}
    redirect_uris: ['{CALLBACK}']
    secret_file: secret
    claims: [email, username]
  - id: older
    name: {{en: Older, ko: 올더}}
    redirect_uris: ['{CALLBACK}']
    secret_file: secret
    id_token_signing_alg: RS256
  - id: phone
    name: {{en: Phone, ko: 폰}}
    redirect_uris: ['http://127.0.0.1/callback']
    claims: [username]
"""


@pytest.fixture(scope="session")
def folder():
    """A temporary folder from which the user of Apache can read files by their paths."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o711)
        yield Path(name)


@pytest.fixture(scope="session")
def ports():
    """The ports of the applications, which are registered before the applications run."""
    return {"shop": free_port(), "wiki": free_port()}


@pytest.fixture(scope="session")
def document():
    """A function that returns the first code block of docs/openid.md in a language, such as `yaml`."""
    text = (ROOT / "docs" / "openid.md").read_text()
    return lambda language: re.search(rf"```{language}\n(.*?)```", text, re.DOTALL)[1]


@pytest.fixture(scope="session")
def site(folder, ports, document):
    shop = (SHOP / "applications.yaml").read_text().replace("127.0.0.1:5000", f"127.0.0.1:{ports['shop']}")
    wiki = document("yaml").replace("https://wiki.example", f"http://127.0.0.1:{ports['wiki']}")
    file = folder / "applications.yaml"
    file.write_text(
        shop.replace("secret_file: ", f"secret_file: {SHOP}/")
        + wiki.removeprefix("applications:\n").replace("/run/secrets/wiki", str(folder / "secret"))
        + REGISTRATIONS
    )
    (folder / "secret").write_text(SECRET)
    with serve_at_public_url(APPLICATIONS_FILE=str(file), FORWARD_AUTH_HOSTS=PROXIED) as site:
        yield site


def serve_at_public_url(**settings):
    """Runs a server whose PUBLIC_URL is its address, because tokens name it."""
    port = free_port()
    return serve(LISTEN=f"127.0.0.1:{port}", PUBLIC_URL=f"http://localhost:{port}", **settings)


@pytest.fixture
def listener(tmp_path):
    """An application that does not listen yet, with a service of its own. It gets all events of docs/events.md."""
    text = (ROOT / "docs" / "events.md").read_text()
    types = re.search(r"^`account.created`.*?\n\n", text, re.MULTILINE | re.DOTALL)[0]
    listener = Listener(tmp_path, re.findall(r"`([a-z.]+)`", types))
    with serve_at_public_url(APPLICATIONS_FILE=str(listener.file)) as site:
        listener.site = site
        yield listener
        listener.stop()


@pytest.fixture(scope="session", autouse=True)
def receiver(shop):
    """Starts the shop before the first sign-up. Otherwise an event would fail, and its retry would come late."""
    return shop


@pytest.fixture
def visitor(site):
    return Visitor(site)


@pytest.fixture
def relying_party(site):
    """Creates a client of Authlib: relying_party("older")."""
    return lambda name="reader", secret=SECRET, **options: RelyingParty(site, name, secret, **options)


@pytest.fixture(scope="session")
def wiki(site, folder, ports, document):
    """Apache with the configuration of docs/openid.md."""
    wiki = Apache(f"http://127.0.0.1:{ports['wiki']}", folder / "apache", document("apache"))
    wiki.configure(site.url, SECRET)
    with running(["/usr/sbin/apache2", "-DFOREGROUND", "-f", wiki.configuration], wiki.url + "/signed-out"):
        yield wiki


@pytest.fixture
def member(wiki, visitor):
    """A person who has signed up by a link of the wiki."""
    callback = visitor.sign_up_at(visitor.redirect(f"{wiki.url}/sign-up"))
    assert visitor.redirect(callback) == f"{wiki.url}/sign-up"
    return visitor


@pytest.fixture
def signed_in(person, visitor):
    """A person whose browser has a session of the service."""
    visitor.sign_up()
    person.email = visitor.email
    person.browser.add_cookie({"name": "session", "value": visitor.http.cookies["session"]})
    return person


class Shop:
    def __init__(self, url, log):
        self.url = url
        self.log = log


@pytest.fixture(scope="session")
def shop(site, folder, ports):
    """The example shop, started by the command in its README."""
    url = f"http://127.0.0.1:{ports['shop']}"
    settings = {"SHOP_URL": url, "SHOP_LISTEN": url.removeprefix("http://"), "ISSUER": site.url}
    log = folder / "shop.log"
    with log.open("w") as output, running([SHOP / "run"], url, env=os.environ | settings, stderr=output):
        yield Shop(url, log)


@pytest.fixture(scope="session")
def browser():
    browser = start_browser()
    yield browser
    browser.quit()


@pytest.fixture
def person(site, browser):
    browser.get(site.url + "/health/live")
    # Deletes the cookies of all hosts, because the shop has another host than the service.
    browser.execute_cdp_cmd("Network.clearBrowserCookies", {})
    browser.execute_script("sessionStorage.clear()")
    browser.get_log("browser")
    kim = Person(browser, site, "en")
    yield kim
    kim.check_console()
