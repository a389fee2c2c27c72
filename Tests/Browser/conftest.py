"""A real server with its database and mailbox, and a real browser, for the tests of the pages.

Needs in the environment: TEST_DATABASE_URL, a superuser's connection string, and ACCOUNTS_API, the program.
"""

import email
import json
import os
import re
import socket
import subprocess
import threading
import uuid
from contextlib import contextmanager
from pathlib import Path

import pytest
from aiosmtpd.controller import Controller
from selenium import webdriver
from selenium.webdriver.chrome.service import Service as Driver

pytest.register_assert_rewrite("person")

from person import Person


class Mailbox:
    """Receives all mails over SMTP, and keeps the codes and the links in them."""

    def __init__(self):
        self.codes = {}
        self.links = {}
        self.tickets = {}
        self.changed = threading.Condition()

    async def handle_DATA(self, server, session, envelope):
        text = email.message_from_bytes(envelope.content).get_payload(decode=True).decode()
        code = re.search(r"^(\d{6})\r?$", text, re.MULTILINE)
        link = re.search(r"^https?://[^/\s]+(/\S+)\r?$", text, re.MULTILINE)
        with self.changed:
            for address in envelope.rcpt_tos:
                if code:
                    self.codes.setdefault(address, []).append(code[1])
                if link and link[1].startswith("/signup/ticket"):
                    self.tickets.setdefault(address, []).append(link[1])
                elif link:
                    self.links.setdefault(address, []).append(link[1])
            self.changed.notify_all()
        return "250 OK"

    def code(self, address, number=1):
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.codes.get(address, [])) >= number, timeout=30), (
                "no mail arrived"
            )
            return self.codes[address][number - 1]

    def ticket(self, address, number=1):
        """The path of the link in a mail with a code."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.tickets.get(address, [])) >= number, timeout=30), (
                "no mail arrived"
            )
            return self.tickets[address][number - 1]

    def link(self, address, start="/signup/resume"):
        """The path of the last link that begins like this, such as one that continues a sign-up elsewhere."""

        def links():
            return [link for link in self.links.get(address, []) if link.startswith(start)]

        with self.changed:
            assert self.changed.wait_for(links, timeout=30), "no mail arrived"
            return links()[-1]


class TestServer:
    """The server as a process."""

    def __init__(self, url, log, mailbox, database):
        self.url = url
        self.log = log
        self.mailbox = mailbox
        self.database = database

    def sql(self, statement):
        return subprocess.run(
            ["psql", self.database, "-qAtc", statement], check=True, capture_output=True, text=True
        ).stdout.strip()


@contextmanager
def serve(flow=None):
    """Runs a server with its own database and mailbox, and with this flow file."""
    server = os.environ["TEST_DATABASE_URL"]
    name = f"browser_{uuid.uuid4().hex}"
    subprocess.run(["psql", server, "-qc", f"CREATE DATABASE {name}"], check=True)
    database = f"{server} dbname={name}"
    mailbox = Mailbox()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    controller = Controller(mailbox, hostname="127.0.0.1", port=port)
    controller.start()
    environment = {
        "PATH": os.environ["PATH"],
        "DATABASE_URL": database,
        "ACCOUNTS_KEYS": "test:v2:" + "A" * 43 + "=",
        "LISTEN": "127.0.0.1:0",
        "METRICS_LISTEN": "off",
        "SMTP_URL": f"smtp://127.0.0.1:{port}",
        "SERVICE_NAME": "Acme",
        "LOG_FORMAT": "json",
    }
    if flow:
        environment["FLOW_FILE"] = str(flow)
    # The tests can run with changed templates, style and script.
    if "ASSETS_DIR" in os.environ:
        environment["ASSETS_DIR"] = os.environ["ASSETS_DIR"]
    program = os.environ["ACCOUNTS_API"]
    subprocess.run([program, "migrate"], env=environment, check=True, capture_output=True)
    process = subprocess.Popen([program, "serve"], env=environment, stderr=subprocess.PIPE, text=True)
    log, url = [], None
    for line in process.stderr:
        log.append(json.loads(line))
        if log[-1]["message"] == "serving":
            url = f"http://localhost:{log[-1]['address'].rsplit(':', 1)[1]}"
            break
    assert url, log
    threading.Thread(target=lambda: [log.append(json.loads(line)) for line in process.stderr], daemon=True).start()
    yield TestServer(url, log, mailbox, database)
    process.terminate()
    assert process.wait(timeout=60) == 0
    controller.stop()
    subprocess.run(["psql", server, "-qc", f"DROP DATABASE {name} (FORCE)"], check=True)


@pytest.fixture(scope="session")
def site():
    with serve() as site:
        yield site


@pytest.fixture(scope="session")
def strict_site(tmp_path_factory):
    """A server with the built-in flow, which allows each address one mail and one guess a day."""
    flow = (Path(__file__).parents[2] / "Sources" / "Accounts" / "Flow" / "signup.yaml").read_text()
    file = tmp_path_factory.mktemp("strict") / "signup.yaml"
    file.write_text(flow + "\nlimits: {mails_to_address: 1/1d, guesses_for_address: 1/1d}\n")
    with serve(file) as site:
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


def start_browser(language="en", script=True, *arguments):
    options = webdriver.ChromeOptions()
    for argument in [
        "--headless=new",
        "--no-sandbox",
        "--disable-dev-shm-usage",
        f"--lang={language}",
        "--window-size=1000,900",
        "--disable-background-networking",
        "--disable-component-update",
        *arguments,
    ]:
        options.add_argument(argument)
    preferences = {"intl.accept_languages": language, "credentials_enable_service": False}
    if not script:
        preferences["profile.managed_default_content_settings.javascript"] = 2
    options.add_experimental_option("prefs", preferences)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    options.binary_location = "/usr/bin/chromium"
    return webdriver.Chrome(options=options, service=Driver("/usr/bin/chromedriver"))


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
