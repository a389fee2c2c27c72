"""The installation of the game day: PostgreSQL on a small disk, a mail server, two servers, and a proxy before them."""

import http.client
import itertools
import os
import re
import shutil
import socket
import subprocess
import threading
import time
import urllib.request

from people import PICTURE, Crowd, GaveUp, Person
from service import ROOT, Mailbox, Service, free_port

ACCOUNTS_API = os.environ["ACCOUNTS_API"]
OPERATING = (ROOT / "docs/operating.md").read_text()
RIGHT_KEYS, WRONG_KEYS = ("k1:v2:" + letter * 43 + "=" for letter in "AE")


class Server:
    """
    A server, which is started again two seconds after it has ended, whatever its exit code: Kubernetes does so after
    every exit, systemd after every one but 2.
    """

    def __init__(self, name, folder, environment):
        self.name = name
        self.port = free_port()
        self.metrics_port = free_port()
        self.log = folder / f"{name}.log"
        self.environment = environment | {
            "LISTEN": f"127.0.0.1:{self.port}",
            "METRICS_LISTEN": f"127.0.0.1:{self.metrics_port}",
        }
        self.lock = threading.Lock()

    def start(self, **changes):
        """Starts the server with these changes of its settings."""
        self.settings = self.environment | changes
        self.exit_codes = []
        self.is_stopping = threading.Event()
        self.spawn()
        self.supervisor = threading.Thread(target=self.supervise, name=self.name, daemon=True)
        self.supervisor.start()

    def spawn(self):
        with self.log.open("a") as log:
            command = [ACCOUNTS_API, "serve"]
            self.process = subprocess.Popen(command, env=self.settings, stdout=subprocess.DEVNULL, stderr=log)

    def supervise(self):
        while True:
            self.exit_codes.append(self.process.wait())
            self.is_stopping.wait(2)
            with self.lock:
                if self.is_stopping.is_set():
                    return
                self.spawn()

    def stop(self):
        with self.lock:
            self.is_stopping.set()
            self.process.terminate()
        self.supervisor.join(60)

    def restart(self, **changes):
        self.stop()
        self.start(**changes)

    @property
    def is_ready(self):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=2)
        try:
            connection.request("GET", "/health/ready")
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()

    def metrics(self):
        """The text of the metrics; None if the server does not answer, as when a scrape fails."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.metrics_port}/metrics", timeout=5) as answer:
                return answer.read().decode()
        except (OSError, http.client.HTTPException):
            return None


class Proxy(threading.Thread):
    """
    Chooses the server for each request, as a load balancer does: one that is ready. If none is, it chooses any, so that
    the people get the answers of the service. The people treat it as a `Service`.
    """

    def __init__(self, servers, mailbox):
        super().__init__(name="proxy", daemon=True)
        self.servers = itertools.cycle(servers)
        self.all = self.ready = servers
        self.mailbox = mailbox
        self.is_over = threading.Event()

    def run(self):
        while not self.is_over.wait(0.5):
            self.ready = [server for server in self.all if server.is_ready]

    @property
    def port(self):
        chosen = next(self.servers)
        return chosen.port if chosen in self.ready or not self.ready else self.ready[0].port


class Visitor(Person):
    """A person who signs up and signs in, perhaps after a mistake, and gives up after a few seconds."""

    PATIENCE = 10

    def sign_up(self):
        self.deadline = time.monotonic() + self.PATIENCE
        self.network = f"10.{self.number >> 16}.{self.number >> 8 & 255}.{self.number & 255}"
        try:
            self.token = self.send("POST", "/signup", {"transport": "bearer"}, {201})[1]["token"]
            if self.number % 4 == 0:
                self.send("PUT", "/signup/email", {"email": "not an address"}, {422})
            self.submit("email", {"email": self.address})
            self.prove()
            if self.number % 7 == 0:
                self.send("DELETE", "/signup", None, {204})
                return
            self.submit("password", {"password": self.password, "confirmation": self.password})
            self.submit("profile", {"username": self.username})
            if self.number % 5 == 0:
                self.send("PUT", "/signup/profile/photo", PICTURE, {204})
            self.submit("contact", {"birth_date": "1990-01-01"})
            self.submit("totp", {})
            self.submit("terms", {"terms": True})
            self.send("POST", "/signup/commit", None, {200, 201})
            body = {"identifier": self.address, "password": self.password, "transport": "bearer"}
            self.token = None
            self.send("POST", "/session", body, {201})
        except GaveUp:
            pass


class Visitors(threading.Thread):
    """People who come one after the other, whether those before them get on or not."""

    # Seconds from one to the next.
    PAUSE = 0.7

    def __init__(self, proxy):
        super().__init__(name="visitors", daemon=True)
        self.proxy = proxy
        self.is_over = threading.Event()
        self.visits = []

    def run(self):
        for number in itertools.count(1):
            if self.is_over.wait(self.PAUSE):
                break
            self.last = Crowd(1, self.proxy, Visitor, number).people[0]
            visit = threading.Thread(target=self.last.sign_up, name=self.last.address, daemon=True)
            visit.start()
            self.visits = [one for one in self.visits if one.is_alive()] + [visit]
        for visit in self.visits:
            visit.join()


class World(Service):
    def __init__(self, folder):
        super().__init__(folder, small_disk=True)
        self.mailbox = self.proxy = self.visitors = None
        self.servers = []

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        self.cluster = self.folder / "cluster"
        self.mount_disk()
        self.start_postgres()
        self.socket = re.search(r"host=(\S+)", self.database)[1]
        self.create_roles()
        self.mailbox = Mailbox()
        environment = {
            "PATH": os.environ["PATH"],
            "LD_LIBRARY_PATH": os.environ.get("LD_LIBRARY_PATH", ""),
            "DATABASE_URL": self.url("accounts_server"),
            "ACCOUNTS_KEYS": RIGHT_KEYS,
            "SMTP_URL": f"smtp://127.0.0.1:{self.mailbox.port}",
            "MAIL_FROM": "no-reply@example.com",
            "PUBLIC_URL": "https://accounts.example.com",
            "TRUSTED_PROXIES": "127.0.0.1",
            "LOG_FORMAT": "json",
            # People should not wait for the other programs of this machine.
            "ARGON2_PRIORITY": "normal",
        }
        self.servers = [Server(name, self.folder, environment) for name in ("a", "b")]
        self.write_programs()
        for server in self.servers:
            server.settings = server.environment
        subprocess.run(
            [self.folder / "accounts-api", "migrate"], env=self.operator_environment(), check=True, capture_output=True
        )
        for server in self.servers:
            # Each erases expired data at its start and then once a minute, so one of them does in each half minute.
            if server is not self.servers[0]:
                time.sleep(30)
            server.start()
        self.wait_until_ready()
        self.proxy = Proxy(self.servers, self.mailbox)
        self.proxy.start()
        self.visitors = Visitors(self.proxy)
        self.visitors.start()

    def __exit__(self, *_):
        if self.visitors:
            self.visitors.is_over.set()
            self.visitors.join()
            self.proxy.is_over.set()
            self.proxy.join()
        for server in self.servers:
            if hasattr(server, "process"):
                server.stop()
            if server.log.exists() and (keep := os.environ.get("GAMEDAY_LOG")):
                shutil.copy(server.log, keep)
        if self.mailbox:
            self.mailbox.kill()
        self.remove_cluster()

    def url(self, role):
        return f"host={self.socket} user={role} dbname=accounts"

    def create_roles(self):
        """Runs the first two blocks of SQL under "A role for each task" in docs/operating.md."""
        section = OPERATING.split("### A role for each task")[1].split("\n## ")[0]
        for_cluster, for_database, *_ = re.findall(r"```sql\n(.*?)```", section, re.DOTALL)
        # The document creates the database, which scripts/postgres has created already.
        scripts = {"postgres": "DROP DATABASE accounts;" + for_cluster, "accounts": for_database}
        for name, script in scripts.items():
            command = ["psql", "--no-psqlrc", "--quiet", "--set=ON_ERROR_STOP=1"]
            database = f"host={self.socket} user=accounts dbname={name}"
            subprocess.run([*command, database], input=script, text=True, check=True)

    def wait_until_ready(self):
        deadline = time.monotonic() + 60
        while not all(server.is_ready for server in self.servers):
            if time.monotonic() > deadline:
                raise TimeoutError("the servers did not become ready")
            time.sleep(0.2)

    # Commands

    def write_programs(self):
        """Writes the command `accounts-api`, which takes the role of its task, as accounts-api-command does."""
        program = self.folder / "accounts-api"
        program.write_text(
            "#!/usr/bin/env bash\n"
            "case $1 in\n"
            f"doctor | healthcheck | serve) role=accounts_server ;;\n"
            f"migrate) role=${{MIGRATE_AS:-accounts_owner}} ;;\n"
            f"*) role=mina ;;\n"
            "esac\n"
            f'DATABASE_URL="host={self.socket} user=$role dbname=accounts" exec {ACCOUNTS_API} "$@"\n'
        )
        program.chmod(0o755)

    def operator_environment(self, server=None):
        """The environment of a command on the machine of this server."""
        settings = (server or self.servers[1]).settings
        return settings | {
            "PATH": f"{self.folder}:{settings['PATH']}",
            "DATABASE_URL": self.url("mina"),
            "SUDO_USER": "mina",
            "LANG": "C.UTF-8",
            "COLUMNS": "150",
            "PGDATA": str(self.cluster / "data"),
        }

    def forget_log(self):
        """Makes the command `log` begin here."""
        self.log_starts = [server.log.stat().st_size + 1 for server in self.servers]

    def run(self, command):
        """Runs a command on the machine of server b, and returns what it prints and its exit code."""
        parts = "; ".join(
            f"tail --bytes=+{start} {server.log}" for server, start in zip(self.servers, self.log_starts, strict=True)
        )
        result = subprocess.run(
            ["bash", "-c", f"log() {{ {parts}; }}\n{command}"],
            env=self.operator_environment(),
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        return self.anonymous(result.stdout), result.returncode

    def anonymous(self, text):
        """The text with the ports and paths of an ordinary installation in place of those of this run."""
        names = {
            self.socket: "/run/postgresql",
            str(self.cluster): "/var/lib/postgresql",
            f"{self.folder}/": "",
            f"{ROOT}/": "",
            ACCOUNTS_API: "accounts-api",
            f"127.0.0.1:{self.mailbox.port}": "127.0.0.1:25",
        }
        for number, server in enumerate(self.servers):
            names[f"127.0.0.1:{server.port}"] = f"10.0.0.1{number + 1}:8080"
            names[f"127.0.0.1:{server.metrics_port}"] = f"10.0.0.1{number + 1}:9090"
        for name, ordinary in names.items():
            text = text.replace(name, ordinary)
        return re.sub(rf"\b{re.escape(socket.gethostname())}\b", "host", text)
