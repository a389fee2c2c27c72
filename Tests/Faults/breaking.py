"""The faults, each of which breaks one part of the service. Each begins when the people have made some progress."""

import http.client
import os
import re
import signal
import subprocess
import threading
import time
from pathlib import Path

from people import Crowd


def kill_server(service, crowd):
    for share in (0.2, 0.5, 0.8):
        crowd.wait(share)
        service.kill_server()
        service.start_server()


def kill_postgres(service, crowd):
    for share in (0.3, 0.7):
        crowd.wait(share)
        service.kill_postgres()
        service.start_postgres()


def kill_backend(service, crowd):
    """Kills a backend, upon which PostgreSQL ends all connections and recovers by itself."""
    for share in (0.2, 0.4, 0.6, 0.8):
        crowd.wait(share)
        backends = service.query(
            "SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()"
        )
        if backends:
            os.kill(int(backends[0]), signal.SIGKILL)


def kill_mail_server(service, crowd):
    crowd.wait(0.15)
    service.mailbox.kill()
    # During these seconds no code is delivered.
    time.sleep(5)
    service.mailbox.start()


def fill_disk(service, crowd):
    crowd.wait(0.3)
    ballast = service.fill_disk()
    # Some more writes succeed, because the current segment of the write-ahead log still has space.
    crowd.wait_for_failures(300)
    ballast.unlink()
    service.start_postgres()


def freeze_postgres(service, crowd):
    crowd.wait(0.4)
    service.signal_postgres(signal.SIGSTOP)
    time.sleep(20)
    service.signal_postgres(signal.SIGCONT)


def lock_tables(service, crowd):
    """
    Locks all tables for a minute. Every answer must come in time (`Crowd.LONGEST_ANSWER`), the process must say that it
    is alive, its memory must not grow, and the service must be as before within a second of the unlock.
    """
    crowd.wait(0.1)
    before = memory(service)
    holder = lock_all_tables(service)
    lives, most = [], before
    unlock = time.monotonic() + 60
    while time.monotonic() < unlock:
        status, seconds = ask(service, "/health/live")
        lives.append(seconds)
        if status != 200:
            crowd.complain(f"/health/live was answered with {status}")
        most = max(most, memory(service))
        time.sleep(0.2)
    acknowledged = crowd.acknowledged
    holder.communicate("COMMIT;\n", timeout=30)
    unlocked = time.monotonic()
    while ask(service, "/health/ready")[0] != 200 and time.monotonic() < unlocked + 60:
        time.sleep(0.02)
    ready = time.monotonic() - unlocked
    with crowd.lock:
        crowd.lock.wait_for(lambda: crowd.acknowledged > acknowledged, timeout=60)
    served = time.monotonic() - unlocked
    lives.sort()
    print(
        f"locked for 60 s: /health/live after {lives[len(lives) * 99 // 100]:.3f} s (99 %), at most {lives[-1]:.3f} s; "
        f"memory {before >> 20} MiB, at most {most >> 20} MiB; after the unlock ready after {ready:.1f} s, "
        f"a success after {served:.1f} s"
    )
    if lives[-1] > 1 or most > before + (64 << 20) or max(ready, served) > 1:
        crowd.complain("while the tables were locked, or after it, the service exceeded a limit")


def lock_all_tables(service):
    """Returns a psql in a transaction that has locked all tables."""
    tables = ", ".join(service.query("SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public'"))
    while True:
        holder = subprocess.Popen(
            ["psql", "--no-psqlrc", "--quiet", "--no-align", "--tuples-only", service.database],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        # `:ERROR` is a variable of psql. A deadlock with a transaction of the server may end this one; then it begins anew.
        holder.stdin.write(f"BEGIN;\nLOCK TABLE {tables};\n\\echo :ERROR\n")
        holder.stdin.flush()
        if holder.stdout.readline() == "false\n":
            return holder
        holder.communicate("ROLLBACK;\n", timeout=30)


def ask(service, path):
    """Sends a GET request, and returns the status, which is None without an answer, and the time in seconds."""
    started = time.monotonic()
    connection = http.client.HTTPConnection("127.0.0.1", service.port, timeout=30)
    try:
        connection.request("GET", path)
        return connection.getresponse().status, time.monotonic() - started
    except (OSError, http.client.HTTPException):
        return None, time.monotonic() - started
    finally:
        connection.close()


def memory(service):
    """The resident memory of the server in bytes."""
    status = Path(f"/proc/{service.server.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1]) << 10


def set_clock(service, crowd):
    for share, offset in ((0.2, "3600"), (0.4, "-3600"), (0.6, "86400"), (0.8, "0")):
        crowd.wait(share)
        service.clock.write_text(offset)


def reset_connections(service, crowd):
    """Does nothing, because the proxies of the service reset connections all the time."""


def flood_hashing(service, crowd):
    """Submits passwords over fifty connections from one network, as fast as the server answers."""
    strangers = Crowd(50, service)

    def attack(stranger):
        stranger.address = f"stranger{stranger.number}@example.org"
        crowd.strangers.add(stranger.address)
        stranger.network = "192.0.2.66"
        stranger.deadline = crowd.people[0].deadline or time.monotonic() + 300
        stranger.token = stranger.send("POST", "/signup", {"transport": "bearer"}, {201})[1]["token"]
        stranger.submit("email", {"email": stranger.address})
        stranger.prove()
        number = 0
        while not crowd.is_over:
            number += 1
            password = f"a password of the stranger {number}"
            try:
                stranger.exchange("PUT", "/signup/password", {"password": password, "confirmation": password})
            except OSError:
                pass

    threads = [threading.Thread(target=attack, args=(stranger,)) for stranger in strangers.people]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    share = 1 - len(crowd.refused_passwords) / len(crowd.people)
    print(f"{share:.0%} of the others had their password accepted at once")
    if share < 0.95:
        crowd.complain("fewer than 95 % of the others had their password accepted at once")


FAULTS = {
    "server": ("kill -9 of the server, three times", kill_server, {}),
    "postgres": ("kill -9 of PostgreSQL, twice", kill_postgres, {}),
    "backend": ("kill -9 of a backend of PostgreSQL, four times", kill_backend, {}),
    "mail": ("kill -9 of the mail server, for 5 s", kill_mail_server, {}),
    "disk": ("a full disk under PostgreSQL", fill_disk, {"small_disk": True}),
    "freeze": ("PostgreSQL frozen for 20 s", freeze_postgres, {}),
    "locks": ("all tables locked for 60 s", lock_tables, {"people": 500}),
    "clock": ("the server's clock set an hour ahead, back, and a day ahead", set_clock, {"faked_clock": True}),
    # 24 people have room in the queue of 32 passwords; of 40 at once, some are refused without a stranger, too.
    "flood": ("a stranger with 50 connections at the password step", flood_hashing, {"people": 24}),
    "network": ("30 % of connections reset, of clients and to PostgreSQL", reset_connections, {"resets": 0.3}),
}
