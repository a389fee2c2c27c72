"""The service under test: PostgreSQL, the mail server and the server. Each is a process that can be killed."""

import ctypes
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import threading
import time
import urllib.request
from pathlib import Path

from proxy import KillingProxy, ResettingProxy

ROOT = Path(__file__).parents[2]


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


class Mailbox:
    """Runs scripts/mail-catcher on a fixed port, and stores the mails that it receives."""

    def __init__(self):
        self.port = free_port()
        self.mails = []
        self.changed = threading.Condition()
        self.start()

    def start(self, *options):
        """Starts scripts/mail-catcher with these options."""
        command = [os.environ["PYTHON"], ROOT / "scripts/mail-catcher", str(self.port), *options]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert json.loads(self.process.stdout.readline()) == {"port": self.port}
        threading.Thread(target=self.read, args=(self.process,), daemon=True).start()

    def read(self, process):
        for line in process.stdout:
            try:
                mail = json.loads(line)
            except ValueError:
                continue  # the catcher was killed while it wrote the line
            with self.changed:
                self.mails.append(mail)
                self.changed.notify_all()

    def codes(self, address):
        texts = [mail["text"] for mail in self.mails if mail.get("to") == [address]]
        return [match[1] for match in (re.search(r"^(\d{6})$", text, re.MULTILINE) for text in texts) if match]

    def wait_for_code(self, address, count, timeout):
        with self.changed:
            self.changed.wait_for(lambda: len(self.codes(address)) >= count, timeout=timeout)
            return self.codes(address)

    def kill(self):
        self.process.kill()
        self.process.wait()


class Service:
    """
    small_disk: the database is on a file system of 400 MB in memory.
    faked_clock: the clock of the server can be set.
    resets: the share of connections that are reset, of the clients and to the database.
    kills: the proxy `killer` between the server and the database can kill the server at a chosen message.
    application: an application in the applications file of the service, which receives events and logouts.
    """

    def __init__(self, folder, small_disk=False, faked_clock=False, resets=0, kills=False, application=None):
        self.folder = folder
        self.small_disk = small_disk
        self.faked_clock = faked_clock
        self.resets = resets
        self.kills = kills
        self.application = application
        self.killer = None
        self.server = None
        self.proxies = []

    def __enter__(self):
        self.cluster = self.folder / "cluster"
        self.clock = self.folder / "clock"
        if self.small_disk:
            self.mount_disk()
        self.start_postgres()
        self.mailbox = Mailbox()
        self.listen = self.port = free_port()
        database = self.database
        if self.resets:
            self.port = free_port()
            self.proxies.append(ResettingProxy(("127.0.0.1", self.port), ("127.0.0.1", self.listen), self.resets))
            beside = self.folder / "proxy"
            beside.mkdir()
            host = re.search(r"host=(\S+)", self.database)[1]
            name = ".s.PGSQL.5432"
            self.proxies.append(ResettingProxy(str(beside / name), f"{host}/{name}", self.resets))
            database = self.database.replace(host, str(beside))
        if self.kills:
            port = free_port()
            host = re.search(r"host=(\S+)", self.database)[1]
            self.killer = KillingProxy(("127.0.0.1", port), f"{host}/.s.PGSQL.5432")
            self.proxies.append(self.killer)
            here = f"127.0.0.1 port={port} sslmode=disable gssencmode=disable"
            database = self.database.replace(host, here)
        self.environment = {
            "PATH": os.environ["PATH"],
            "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", ""),
            "DATABASE_URL": database,
            "ACCOUNTS_KEYS": "test:v2:" + "A" * 43 + "=",
            "LISTEN": f"127.0.0.1:{self.listen}",
            "METRICS_LISTEN": "off",
            "SMTP_URL": f"smtp://127.0.0.1:{self.mailbox.port}",
            "TRUSTED_PROXIES": "127.0.0.1",
            "LOG_FORMAT": "json",
        }
        if self.kills:
            # People act one after the other here, so hashing need not yield to other programs.
            self.environment["ARGON2_PRIORITY"] = "normal"
            # People also sign in by mailed codes.
            flow = self.folder / "flow.yaml"
            flow.write_text((ROOT / "Sources/Accounts/Flow/signup.yaml").read_text() + "\nsign_in: [password, code]\n")
            self.environment["FLOW_FILE"] = str(flow)
        if self.application:
            url = f"http://localhost:{self.listen}"
            file = self.application.register(self.folder, issuer=url)
            self.environment |= {"PUBLIC_URL": url, "APPLICATIONS_FILE": str(file)}
        if self.faked_clock:
            self.clock.write_text("0")
            library = self.folder / "clock.so"
            source = Path(__file__).parent / "clock.c"
            subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl"], check=True)
            self.environment |= {"LD_PRELOAD": str(library), "FAULTS_CLOCK": str(self.clock)}
        program = os.environ["ACCOUNTS_API"]
        subprocess.run(
            [program, "migrate", "--database-url", self.database], env=self.environment, check=True, capture_output=True
        )
        self.start_server()
        return self

    def __exit__(self, *_):
        if self.server:
            self.server.terminate()
            try:
                self.server.wait(timeout=60)
            except subprocess.TimeoutExpired:
                self.server.kill()
        self.mailbox.kill()
        for proxy in self.proxies:
            proxy.stop()
        log = self.folder / "server.log"
        if log.exists() and (keep := os.environ.get("FAULTS_LOG")):
            shutil.copy(log, keep)
        self.remove_cluster()

    def mount_disk(self):
        self.cluster.mkdir(mode=0o711)
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=400m,mode=711", "tmpfs", self.cluster], check=True)

    def fill_disk(self):
        """Returns the file that fills the small disk."""
        ballast = self.cluster / "ballast"
        with ballast.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(1 << 16))
            except OSError:
                return ballast

    def remove_cluster(self):
        self.stop_postgres()
        if self.small_disk:
            subprocess.run(["umount", self.cluster], check=True)
        else:
            subprocess.run([ROOT / "scripts/postgres", "remove", self.cluster], check=False, capture_output=True)

    # The server

    def start_server(self):
        """Starts the server, and returns without waiting until it serves."""
        if self.application:
            self.end_claims()
        with (self.folder / "server.log").open("a") as log:
            self.server = subprocess.Popen(
                [os.environ["ACCOUNTS_API"], "serve"],
                env=self.environment,
                stdout=subprocess.DEVNULL,
                stderr=log,
            )

    def end_claims(self):
        """
        Makes the events and logouts that a killed server was delivering due at once; otherwise they wait for two
        minutes. No server may run meanwhile, because the claim of a running one keeps the events of an account in order.
        """
        self.application.finish_requests()
        for table in ("deliveries", "logouts"):
            self.query(f"UPDATE {table} SET due_at = now() WHERE due_at > now()")

    def wait_until_ready(self):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health/ready", timeout=5):
                    return
            except OSError:
                time.sleep(0.01)
        raise TimeoutError("the server did not become ready")

    def kill_server(self):
        self.server.kill()
        self.server.wait()

    # PostgreSQL

    def start_postgres(self):
        result = subprocess.run(
            [ROOT / "scripts/postgres", "start", self.cluster], check=True, capture_output=True, text=True
        )
        self.database = result.stdout.strip()

    def stop_postgres(self):
        subprocess.run([ROOT / "scripts/postgres", "stop", self.cluster], check=False, capture_output=True)

    def postgres(self):
        """The process ids of PostgreSQL: first that of the postmaster, then those of its children."""
        data = (self.cluster / "data").resolve()
        postmaster = int((data / "postmaster.pid").read_text().split()[0])
        children = Path(f"/proc/{postmaster}/task/{postmaster}/children").read_text().split()
        return [postmaster, *map(int, children)]

    def signal_postgres(self, number):
        for process in self.postgres():
            try:
                os.kill(process, number)
            except ProcessLookupError:
                pass

    def kill_postgres(self):
        """Kills all processes of PostgreSQL at once, as a machine that stops."""
        processes = self.postgres()
        self.signal_postgres(signal.SIGKILL)
        for process in processes:
            # The parents of these processes are dead, so this process has adopted them (see `adopt_orphans`).
            os.waitpid(process, 0)

    def query(self, statement):
        result = subprocess.run(
            ["psql", "--no-psqlrc", self.database, "-qAtc", statement], check=True, capture_output=True, text=True
        )
        return result.stdout.split("\n")[:-1]

    def deliver_mail(self):
        """
        Waits until all mail is delivered. Makes the mail that a killed server was sending due at once, which otherwise
        waits for a minute.
        """
        started = time.monotonic()
        overdue = started + 1
        while self.query("SELECT 1 FROM outbox WHERE state = 'waiting' LIMIT 1"):
            if time.monotonic() > started + 60:
                raise TimeoutError("the mail is not delivered")
            if time.monotonic() > overdue:
                self.query("UPDATE outbox SET due_at = now(), sending_until = NULL WHERE state = 'waiting'")
                overdue += 1
            time.sleep(0.05)

    def deliver_events(self):
        """Waits until all events and logouts are delivered."""
        deadline = time.monotonic() + 60
        while self.query("SELECT 1 FROM deliveries UNION ALL SELECT 1 FROM logouts LIMIT 1"):
            if time.monotonic() > deadline:
                raise TimeoutError("the events are not delivered")
            time.sleep(0.05)

    def settle(self):
        """Waits up to two minutes for all mail. Mail that a killed server was sending is due again after a minute."""
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and self.query("SELECT 1 FROM outbox WHERE state = 'waiting' LIMIT 1"):
            # Failed mail waits for its next attempt; `outbox flush` makes it due now.
            subprocess.run(
                [os.environ["ACCOUNTS_API"], "outbox", "flush", "--database-url", self.database],
                env=self.environment,
                check=False,
                capture_output=True,
            )
            time.sleep(1)


def adopt_orphans():
    """Makes this process the parent of processes whose parent ends, so that it can wait for killed ones."""
    PR_SET_CHILD_SUBREAPER = 36
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
