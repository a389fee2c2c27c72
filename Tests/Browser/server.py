"""A real server with its database and mailbox, for tests through its network interfaces.

Needs in the environment: TEST_DATABASE_URL, the connection string of a superuser, and ACCOUNTS_API, the path of the
server's executable.
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

from aiosmtpd.controller import Controller

# Limits that allow the sign-ups of all tests from one network.
AMPLE_LIMITS = "{starts: 2000/1h, commits: 2000/1h, mails_from_network: 2000/1h, password_hashes_from_network: 2000/1h}"


def write_flow(folder, limits):
    """Writes a file with the built-in flow and these limits."""
    flow = (Path(__file__).parents[2] / "Sources" / "Accounts" / "Flow" / "signup.yaml").read_text()
    file = folder / "signup.yaml"
    file.write_text(f"{flow}\nlimits: {limits}\n")
    return file


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Mailbox:
    """Receives all mails over SMTP, and stores the codes and links in them by address."""

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
            assert self.changed.wait_for(lambda: len(self.codes.get(address, [])) >= number, timeout=300), (
                "no mail arrived"
            )
            return self.codes[address][number - 1]

    def ticket(self, address, number=1):
        """Waits for mails with a ticket, and returns the path of the link in mail `number`, counted from 1."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.tickets.get(address, [])) >= number, timeout=300), (
                "no mail arrived"
            )
            return self.tickets[address][number - 1]

    def link(self, address, start="/signup/resume"):
        """Waits for a mail with another link, and returns the path of the last link that begins with `start`."""

        def links():
            return [link for link in self.links.get(address, []) if link.startswith(start)]

        with self.changed:
            assert self.changed.wait_for(links, timeout=300), "no mail arrived"
            return links()[-1]


class TestServer:
    """A running server process."""

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
def serve(flow=None, **settings):
    """Runs a server with its own database and mailbox, with this flow file and these settings."""
    server = os.environ["TEST_DATABASE_URL"]
    name = f"browser_{uuid.uuid4().hex}"
    subprocess.run(["psql", server, "-qc", f"CREATE DATABASE {name}"], check=True)
    database = f"{server} dbname={name}"
    mailbox = Mailbox()
    port = free_port()
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
        # At the default priority, a hash waits until no other program needs the processor.
        "ARGON2_PRIORITY": "normal",
    }
    environment |= settings
    if flow:
        environment["FLOW_FILE"] = str(flow)
    # ASSETS_DIR lets the tests run with changed templates, style and script.
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
    assert process.wait(timeout=300) == 0
    controller.stop()
    subprocess.run(["psql", server, "-qc", f"DROP DATABASE {name} (FORCE)"], check=True)
