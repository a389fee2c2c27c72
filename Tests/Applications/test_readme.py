"""The commands under "Sign up by hand" in README.md, sent line by line as a person pastes them."""

import re
import subprocess
from pathlib import Path

import pytest

from server import serve

README = (Path(__file__).parents[2] / "README.md").read_text()
ADDRESS = "http://127.0.0.1:8080"
SKIP = """curl -b "$jar" -X PUT -H "$json" -d '{}' $api/signup/totp\n"""


def blocks():
    """Returns the code blocks of the section that send requests to the service."""
    section = re.search(r"^## Sign up by hand\n(.*?)^## ", README, re.MULTILINE | re.DOTALL)[1]
    found = re.findall(r"^```sh\n(.*?)^```$", section, re.MULTILINE | re.DOTALL)
    return [block for block in found if "$api" in block]


def commands(block):
    """Returns the commands of a block. A text in quotes may have several lines."""
    command = ""
    for line in block.splitlines(keepends=True):
        command += line
        if command.count("'") % 2 == 0:
            yield command
            command = ""
    assert not command, "a quote has no end"


class Shell:
    """A shell that reads commands as from a terminal, so that `read` gets the line after it."""

    def __init__(self, site, folder):
        self.site = site
        self.port = site.url.rsplit(":", 1)[1]
        self.statuses = folder / "statuses"
        # The address that gets the next code, and the number of codes that each address has got.
        self.address = None
        self.codes = {}
        self.process = subprocess.Popen(
            ["bash"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )
        # Each request also writes its status to a file.
        self.send(f"curl() {{ command curl -sS -w '%{{stderr}}%{{http_code}}\\n' \"$@\" 2>>'{self.statuses}'; }}\n")

    def close(self):
        self.process.stdin.close()
        self.process.wait(timeout=300)
        self.process.stdout.close()

    def send(self, lines):
        """Sends a command, and returns its output."""
        self.process.stdin.write(f"{lines}echo; echo the end of the command\n")
        self.process.stdin.flush()
        output = []
        for line in self.process.stdout:
            if line == "the end of the command\n":
                return "".join(output)
            output.append(line)
        raise AssertionError(f"the shell has ended: {''.join(output)}")

    def run(self, block):
        """Runs each command of a block. Returns the output of the last one."""
        for command in commands(block):
            output = self.run_command(command)
        return output

    def run_command(self, command):
        self.statuses.write_text("")
        if named := re.search(r'"email": "([^"]+)"', command):
            self.address = named[1]
        answer = f"{self.answer(command)}\n" if command.startswith("read ") else ""
        output = self.send(command.replace(ADDRESS, f"http://127.0.0.1:{self.port}") + answer)
        statuses = self.statuses.read_text().split()
        # A function only runs later.
        expected = len(re.findall(r"(?:^|\$\()curl ", command))
        assert len(statuses) == expected and all(status.startswith("2") for status in statuses), (
            f"{command}{statuses}\n{output}"
        )
        return output

    def answer(self, command):
        """What the person reads in the mail that the command asks for."""
        if "six digits" in command:
            number = self.codes[self.address] = self.codes.get(self.address, 0) + 1
            return self.site.mailbox.code(self.address, number)
        assert "token at the end of the link" in command
        return self.site.mailbox.link("kim@example.com", "/email-change/undo").rsplit("=", 1)[1]


@pytest.fixture
def shell(tmp_path):
    with serve() as site:
        shell = Shell(site, tmp_path)
        yield shell
        shell.close()


def test_every_command_succeeds(shell):
    sign_up, sign_in, recovery, move, erase, *_ = blocks()
    assert ADDRESS in sign_up and SKIP in sign_up
    assert "HTTP/1.1 201" in shell.run(sign_up)
    # The same request again gets the same account.
    assert "HTTP/1.1 200" in shell.run_command(list(commands(sign_up))[-1])
    assert '"current":true' in shell.run(sign_in).replace(" ", "")
    shell.run(recovery)
    shell.run(move)
    # "Choose one in another recovery, as above. Then erase the account."
    shell.run(recovery)
    assert shell.site.sql("SELECT username, email FROM accounts") == "kim|kim@example.com"
    assert "HTTP/1.1 204" in shell.run(erase)
    assert shell.site.sql("SELECT count(*) FROM accounts") == "0"


def test_every_command_succeeds_with_an_authenticator_app(shell):
    sign_up, _, _, _, _, set_up, sign_in = blocks()
    before, after = sign_up.split(SKIP)
    shell.run(before)
    assert len(re.findall(r'"recovery_codes": ?\[', shell.run(set_up))) == 1
    assert "HTTP/1.1 201" in shell.run(after)
    # Lets the time pass in which the app shows the same code.
    shell.site.sql("UPDATE authenticators SET last_step = last_step - 2")
    account = shell.run(sign_in)
    assert re.search(r'"totp": ?true', account) and '"kim@example.com"' in account
