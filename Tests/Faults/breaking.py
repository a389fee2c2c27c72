"""The faults, each of which breaks one part of the service. Each begins when the people have made some progress."""

import os
import signal
import threading
import time

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
    ballast = service.cluster / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(1 << 16))
        except OSError:
            pass
    # Some more writes succeed, because the current segment of the write-ahead log still has space.
    crowd.wait_for_failures(300)
    ballast.unlink()
    service.start_postgres()


def freeze_postgres(service, crowd):
    crowd.wait(0.4)
    service.signal_postgres(signal.SIGSTOP)
    time.sleep(20)
    service.signal_postgres(signal.SIGCONT)


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
    "clock": ("the server's clock set an hour ahead, back, and a day ahead", set_clock, {"faked_clock": True}),
    "flood": ("a stranger with 50 connections at the password step", flood_hashing, {"people": 16}),
    "network": ("30 % of connections reset, of clients and to PostgreSQL", reset_connections, {"resets": 0.3}),
}
