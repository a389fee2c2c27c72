"""The faults of the game day: what breaks, what people and operators should see, and how it is mended."""

import http.client
import itertools
import json
import subprocess
import threading
import time
from dataclasses import dataclass

from service import ROOT
from world import WRONG_KEYS

HEALTH = 'curl -s "$LISTEN/health/ready"'
IN_RECOVERY = "psql \"$DATABASE_URL\" -c 'SELECT pg_is_in_recovery()'"
ERRORS = """log | grep -E '"level":"error"'"""
MOST_FREQUENT = (
    """log | grep -E '"level":"(warning|error|critical)"' | grep -o '"message":"[^"]*"' | sort | uniq -c | sort -n"""
)

BY_SITE = (
    "log | jq -rR 'fromjson? | select(.event) | [.site, .event, .limit // .problem] | @tsv' | sort | uniq -c | sort -n"
    " | tail"
)


@dataclass
class Command:
    """
    text: what the operator types.
    remark: a sentence about what it prints.
    lines: so many lines of its output are shown.
    is_in_runbook: docs/operating.md contains the command.
    """

    text: str
    remark: str = ""
    lines: int = 12
    is_in_runbook: bool = True


class Breakdown:
    """
    minutes, recovery: how long the fault, and the time after it, last on the timeline.
    alarms: the alarms that fire during the fault, and no others.
    panels: the panels that must move: `TITLE`, or `TITLE: LEGEND` if only one of its series matters.
    """

    minutes = 15
    recovery = 40

    def __init__(self, world):
        self.world = world
        self.a, self.b = world.servers

    def begin(self):
        raise NotImplementedError

    def mend(self):
        raise NotImplementedError

    def commands(self):
        """The commands of the operator during the fault."""
        return []

    def afterwards(self):
        """The commands after the repair. An item is a `Command`, or a pair of one and its result if it was run already."""
        return []


class Database(Breakdown):
    title = "The database is away"
    happens = "PostgreSQL is stopped. Both servers lose all connections, and try to connect again all the time."
    people = (
        "Every request is answered with 503 and `Retry-After`; the pages ask the people to try again. What was "
        "acknowledged before is kept."
    )
    runbook = "accountsdatabaseaway"
    alarms = frozenset({"AccountsDatabaseAway", "AccountsServerErrors"})
    panels = ("Database availability", "Error rate", "Started and completed", "Connections", "Background failures")
    mending = (
        "Start PostgreSQL. The servers need no restart: they connect within two seconds, `/health/ready` answers 200, "
        "and *Database availability* shows 1 again."
    )

    def begin(self):
        self.world.stop_postgres()

    def commands(self):
        return [
            Command(IN_RECOVERY, "PostgreSQL does not run, so the cause is neither a standby nor a lock."),
            Command(ERRORS, "The servers have logged what PostgreSQL answered while it stopped.", lines=3),
            Command("accounts-api doctor"),
        ]

    def mend(self):
        self.world.start_postgres()

    def afterwards(self):
        return [Command(IN_RECOVERY), Command(HEALTH, is_in_runbook=False)]


class Mail(Breakdown):
    title = "The mail server refuses"
    happens = (
        "The mail server accepts connections, and refuses every recipient with "
        "`554 5.7.1 Sender address rejected`, as one that has blocked the domain of `MAIL_FROM`."
    )
    people = "No code arrives. Nobody gets beyond the step `code`; people who are beyond it notice nothing."
    runbook = "accountsmailfails"
    minutes = 20
    recovery = 75
    alarms = frozenset({"AccountsMailFails", "AccountsMailDies"})
    panels = (
        "Delivery attempts by outcome: dead",
        "Delivery attempts by outcome: delivered",
        "Continuation rate over time: code",
        "Started and completed",
    )
    mending = (
        "Correct `MAIL_FROM`, or ask the provider to unblock the domain. Mail that waits is sent by itself, or at "
        "once by `outbox flush`; dead mail is not, so the people request new codes. *Delivery attempts by outcome* "
        "shows `delivered` again. *AccountsMailFails* fires late: all attempts of five minutes, or more than half of those "
        "of a quarter of an hour, must have failed, and that for five minutes. *AccountsMailDies* looks at a whole hour, "
        "so it goes on after the repair."
    )

    def begin(self):
        self.world.mailbox.kill()
        self.world.mailbox.start("--refuse", "554 5.7.1 <ADDRESS>: Sender address rejected: not permitted")

    def commands(self):
        person = self.world.visitors.last
        return [
            Command(
                "accounts-api outbox list --state waiting --limit 10",
                "Hardly any mail waits, because the refusal is final.",
            ),
            Command(
                """log | grep -E '"mail (not delivered, |is dead")' | grep -o '"reason":"[^"]*"' | sort | uniq -c""",
                "One reason for all mail: it is not about single addresses.",
            ),
            Command("accounts-api outbox list --state dead --limit 20", lines=6),
            Command(
                """psql "$DATABASE_URL" -c "SELECT left(last_error, 60), count(*) FROM outbox
  WHERE state = 'dead' AND finished_at > now() - interval '1 hour' GROUP BY 1 ORDER BY 2 DESC LIMIT 10\""""
            ),
            Command(
                f"accounts-api drafts why {person.address}",
                "For a person who asks for the code (see [Why a sign-up is stuck](operating.md#why-a-sign-up-is-stuck)):",
                is_in_runbook=False,
            ),
            Command(
                "accounts-api doctor --mail-to mina@example.com | grep mail",
                "A test mail is refused, too. Without `--mail-to` the command sends none, and does not see the refusal.",
            ),
        ]

    def mend(self):
        self.world.mailbox.kill()
        self.world.mailbox.start()

    def afterwards(self):
        return [Command("accounts-api outbox flush"), Command("accounts-api outbox list --state waiting --limit 10")]


class Keys(Breakdown):
    title = "One of two servers has the wrong keys"
    happens = (
        "Server b is restarted with another value in `ACCOUNTS_KEYS`, under the same id, as after a mistake in the "
        "secrets. It starts, compares its keys with the database, and then answers 503. Server a serves."
    )
    people = (
        "They notice nothing, because the load balancer sends requests only to servers that are ready. Without such a "
        "check, every second request would get 503."
    )
    runbook = "accountskeyswrong"
    alarms = frozenset({"AccountsKeysWrong"})
    panels = ("Database availability: b keys", "Uptime: b")
    mending = "Give b the keys of a, and restart it. `doctor` prints `ok keys`, and `/health/ready` answers 200."

    def begin(self):
        self.b.restart(ACCOUNTS_KEYS=WRONG_KEYS)

    def commands(self):
        return [
            Command("""log | grep '"the keys do not fit the database"'"""),
            Command("accounts-api doctor", "On the machine of b, with its settings."),
            Command(HEALTH, is_in_runbook=False),
        ]

    def mend(self):
        self.b.restart()

    def afterwards(self):
        return [Command("accounts-api doctor"), Command(HEALTH, is_in_runbook=False)]


class Disk(Database):
    title = "The disk of the database is full"
    happens = (
        "The file system of PostgreSQL is full. PostgreSQL answers reads, until it needs a new segment of its "
        "write-ahead log; then it stops, and cannot start again before there is space."
    )
    people = "503 for all that writes, and soon for everything. Nothing that was acknowledged is lost."
    panels = ("Database availability", "Error rate", "Started and completed")
    mending = "Free space on the disk or enlarge it, and start PostgreSQL. The servers connect by themselves."

    def begin(self):
        self.ballast = self.world.fill_disk()
        # Reads succeed, and some writes, as long as the write-ahead log has space. Each statement uses up a segment.
        time.sleep(15)
        deadline = time.monotonic() + 60
        while any(server.is_ready for server in self.world.servers):
            if time.monotonic() > deadline:
                raise TimeoutError("the servers are still ready although the disk is full")
            subprocess.run(
                ["psql", self.world.database, "-c", "SELECT txid_current(), pg_switch_wal()"],
                capture_output=True,
                check=False,
            )

    def commands(self):
        return [
            Command(IN_RECOVERY, "PostgreSQL does not run."),
            Command(MOST_FREQUENT, "`database overloaded`: before it stopped, PostgreSQL refused what needed space."),
            Command('df -h "$PGDATA"', "On the machine of PostgreSQL:"),
            Command("accounts-api doctor"),
        ]

    def mend(self):
        self.ballast.unlink()
        super().mend()


class Flood(Breakdown):
    title = "A flood of starts"
    happens = (
        "One client starts sign-ups, about a hundred each second. Its network may start 120 "
        "in ten minutes (`starts`); all further starts are refused with 429."
    )
    people = (
        "People in other networks notice nothing, and a refusal costs a millisecond. Whoever shares the network of the "
        "client, as in an office or a school, cannot start a sign-up until ten minutes after the flood."
    )
    runbook = "accountslimitsreached"
    alarms = frozenset({"AccountsLimitsReached"})
    panels = ("Rate-limited requests: starts", "Requests by route and status: POST /signup 429", "CPU")
    mending = (
        "Nothing needs to be done. To get rid of the load, block the client in front of the service, where its "
        "address is known. Then *Rate-limited requests* falls to its earlier level."
    )
    # Seconds between two requests of one connection.
    pause = 0.1

    def begin(self):
        self.is_over = threading.Event()
        self.threads = [threading.Thread(target=self.flood, name="flood", daemon=True) for _ in range(10)]
        for thread in self.threads:
            thread.start()

    def network(self):
        return "192.0.2.66"

    def flood(self):
        body = json.dumps({"transport": "bearer"})
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        for server in itertools.cycle(self.world.servers):
            if self.is_over.wait(self.pause):
                return
            connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=10)
            try:
                connection.request("POST", "/signup", body, headers | {"X-Forwarded-For": self.network()})
                connection.getresponse().read()
            except (OSError, http.client.HTTPException):
                pass
            finally:
                connection.close()

    def commands(self):
        return [
            Command(
                BY_SITE,
                "One site has nearly all refusals. The next command shows what it did, with a `request_id` for the log of "
                "the proxy.",
                lines=20,
            ),
            Command(self.details(), lines=3, is_in_runbook=False),
        ]

    def details(self):
        line = self.world.run(BY_SITE)[0].strip().split("\n")[-1]
        site = line.split()[1]
        return (
            f"""log | jq -cR 'fromjson? | select(.site == "{site}") | """
            "[.time, .network, .event, .limit // .problem, .step, .request_id]'"
        )

    def mend(self):
        self.is_over.set()
        for thread in self.threads:
            thread.join()


class Botnet(Flood):
    title = "A flood of starts from many networks"
    happens = (
        "As before, but each request comes from another network, a hundred each second. No network reaches a limit, so "
        "every sign-up is started. None goes beyond the first step."
    )
    people = "They notice nothing, as long as the database carries the load."
    runbook = "accountsstepstalls"
    minutes = 60
    recovery = 75
    alarms = frozenset({"AccountsStepStalls"})
    panels = ("Started and completed", "Continuation rate over time: email", "Unfinished sign-ups: open", "CPU")
    mending = (
        "Block the program in front of the service, by what its requests have in common. Its sign-ups expire after a "
        "day and are erased. `drafts purge` deletes them earlier, but also those of people who are at this step. No "
        "mail is sent for them. *AccountsStepStalls* compares the last hour with the day before, so it is late, and ends "
        "late. With an address in each sign-up, *AccountsMailBudget* would come first."
    )
    networks = itertools.count()

    def network(self):
        number = next(self.networks)
        return f"100.{64 + (number >> 16)}.{number >> 8 & 255}.{number & 255}"

    def commands(self):
        return [
            Command("accounts-api drafts funnel --since 1d"),
            Command("accounts-api drafts list --step email --limit 5", is_in_runbook=False),
            Command(BY_SITE, "There are few refusals, and no network stands out:"),
        ]

    def afterwards(self):
        return [Command("accounts-api drafts purge --step email --older-than 10s --dry-run", is_in_runbook=False)]


class Flow(Breakdown):
    title = "A bad flow file"
    happens = (
        "Server b gets a flow file with a mistake, a kind of field that does not exist, and is restarted. It refuses to "
        "start, with exit code 2. Kubernetes starts it again and again; systemd does not, because of "
        "`RestartPreventExitStatus=2`. Server a still runs with the old file in memory."
    )
    people = (
        "They notice nothing while a runs. If all servers get the file, the service is gone as soon as the last one "
        "restarts."
    )
    runbook = "accountsserveraway"
    alarms = frozenset({"AccountsServerAway"})
    panels = ("Database availability: b", "Memory: b", "Version and flow")
    mending = (
        "Correct the file; `flow check` must say that it is valid. Then restart the server. *AccountsRestarts* does "
        "not fire, because a process that refuses its settings never serves metrics: *AccountsServerAway* is the alarm "
        "for it, and *AccountsDown* if no server is left."
    )

    def begin(self):
        text = (ROOT / "Sources/Accounts/Flow/signup.yaml").read_text()
        self.file = self.world.folder / "flow.yaml"
        self.file.write_text(text.replace("kind: date", "kind: birthday"))
        self.b.restart(FLOW_FILE=str(self.file))

    def commands(self):
        return [
            Command("accounts-api healthcheck"),
            Command(
                'log | grep -v \'"message":"request"\' | tail -n 2', "The last lines of the log.", is_in_runbook=False
            ),
            Command("accounts-api flow check flow.yaml", is_in_runbook=False),
        ]

    def mend(self):
        assert set(self.b.exit_codes) == {2}, self.b.exit_codes
        self.file.write_text((ROOT / "Sources/Accounts/Flow/signup.yaml").read_text())
        self.b.restart(FLOW_FILE=str(self.file))

    def afterwards(self):
        return [Command("accounts-api flow check flow.yaml", is_in_runbook=False), Command("accounts-api healthcheck")]


class Migration(Breakdown):
    title = "A migration fails"
    happens = (
        "A release brings a migration that creates an index, but somebody has created an index of this name by hand. "
        "`migrate` fails and changes nothing. Server b is restarted with the release all the same, and refuses to "
        "start: the schema is older than it needs, so it ends with exit code 1, again and again. Server a, of the "
        "version before, serves. (The game day has one executable only: it deletes the record of a migration that it "
        "has applied.)"
    )
    people = "They notice nothing while a runs."
    runbook = "upgrading"
    alarms = frozenset({"AccountsServerAway"})
    panels = ("Database availability: b", "Version and flow")
    mending = (
        "Remove what is in the way, and run `migrate` as the owner of the tables. Nothing of the failed migration has "
        "taken effect, so it is applied as if it had not failed. The servers that were waiting for it then start."
    )

    def begin(self):
        self.world.query("DELETE FROM migrations WHERE name = '0019-left-digests'")
        self.b.restart()

    def commands(self):
        return [
            Command("accounts-api migrate --status | grep -v ' applied'", "What is missing.", is_in_runbook=False),
            Command("accounts-api migrate"),
            Command(
                "MIGRATE_AS=accounts_server accounts-api migrate",
                "The same command with the role of the servers, a frequent mistake (only the game day knows `MIGRATE_AS`):",
                is_in_runbook=False,
            ),
            Command(
                'log | grep -v \'"message":"request"\' | tail -n 1', "The last line of the log.", is_in_runbook=False
            ),
        ]

    def mend(self):
        self.world.query("DROP INDEX outbox_left_digests")
        assert set(self.b.exit_codes) == {1}, self.b.exit_codes
        self.migrated = Command("accounts-api migrate"), self.world.run("accounts-api migrate")

    def afterwards(self):
        return [
            self.migrated,
            Command("accounts-api migrate --status >/dev/null && echo nothing is missing", is_in_runbook=False),
            Command("accounts-api healthcheck"),
        ]


class Rollback(Breakdown):
    title = "A rollback"
    happens = (
        "A release is rolled out: its migration is applied, and server b is replaced. Then the rollout stops, because "
        "the release is bad, and the operator goes back. The game day has one executable only. So the release is the "
        "same executable with version 2 of the flow, and its migration, `9999-next`, is written into the database by "
        "the script."
    )
    people = "They notice nothing but the fault of the release."
    runbook = "going-back"
    minutes = 75
    alarms = frozenset({"AccountsVersions"})
    panels = ("Version and flow",)
    mending = (
        "Replace the servers by servers of the version before. They start, because every migration that they do not "
        "know is compatible. *Version and flow* shows one version again."
    )

    def begin(self):
        self.world.query(
            "ALTER TABLE outbox ADD COLUMN note text; "
            "INSERT INTO migrations (name, checksum, compatible) VALUES ('9999-next', '', true)"
        )
        text = (ROOT / "Sources/Accounts/Flow/signup.yaml").read_text()
        file = self.world.folder / "flow.yaml"
        file.write_text(text.replace("\nversion: 1\n", "\nversion: 2\n"))
        self.b.restart(FLOW_FILE=str(file))

    def commands(self):
        # A server that does not come as far as to serve, because of the migration.
        serve = "METRICS_LISTEN=off accounts-api serve --listen 127.0.0.1:0"
        self.world.query("UPDATE migrations SET compatible = false WHERE name = '9999-next'")
        refusal = self.world.run(serve)
        self.world.query("UPDATE migrations SET compatible = true WHERE name = '9999-next'")
        return [
            Command("accounts-api migrate --status | grep newer", is_in_runbook=False),
            (
                Command(
                    serve,
                    "If the migration were not compatible, the version before would refuse to start, and the only "
                    "ways would be a fixed newer version, or the backup:",
                    is_in_runbook=False,
                ),
                refusal,
            ),
        ]

    def mend(self):
        self.b.restart()

    def afterwards(self):
        return [
            Command("log | grep '\"the schema is newer'", is_in_runbook=False),
            Command("accounts-api migrate", "The version before leaves the newer schema as it is."),
            Command("accounts-api healthcheck"),
        ]


BREAKDOWNS = {
    "database": Database,
    "mail": Mail,
    "keys": Keys,
    "disk": Disk,
    "flood": Flood,
    "botnet": Botnet,
    "flow": Flow,
    "migration": Migration,
    "rollback": Rollback,
}
