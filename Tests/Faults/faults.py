"""Breaks one part of a running service while a hundred people sign up, and then checks the accounts and the database.

Usage: faults.py NAME...

Needs in the environment: ACCOUNTS_API, the program, and PYTHON, an interpreter with aiosmtpd. The people repeat every
request that fails, as a browser or an app does, until each has an account. A fault is survived if all people have one
and no invariant is violated.
"""

import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from account_kills import kill_in_acts
from application import Application
from application_kills import kill_in_applications
from breaking import FAULTS
from invariants import violations
from people import Crowd
from service import Service, adopt_orphans
from tabs import refresh_in_tabs

PEOPLE = 100


def run(name):
    """Runs one fault, and returns the violated invariants."""
    if name in ACTS:
        return run_acts(name)
    description, fault, options = FAULTS[name]
    # The fault may limit the number of people, because a hundred at once are more than fit into the hashing queue.
    people = options.get("people", PEOPLE)
    options = {name: value for name, value in options.items() if name != "people"}
    with tempfile.TemporaryDirectory(prefix="faults-", dir="/var/tmp") as folder:
        os.chmod(folder, 0o711)
        with Service(Path(folder), **options) as service:
            crowd = Crowd(people, service)
            started = time.monotonic()
            breaker = threading.Thread(target=inject, args=(fault, service, crowd), name="fault")
            breaker.start()
            crowd.sign_up()
            breaker.join()
            seconds = time.monotonic() - started
            service.settle()
            found = crowd.complaints + violations(service, crowd)
    print(
        f"{description}: {len(crowd.accounts)} of {people} signed up in {seconds:.0f} s, "
        f"{crowd.repeated} requests repeated, slowest answer {crowd.slowest:.1f} s, "
        f"{'survived' if not found else 'NOT survived'}",
        flush=True,
    )
    for violation in found:
        print(f"  {violation}", flush=True)
    return found


# The faults that need no crowd: two kill the server at every point of acts, and one uses a refresh token in many tabs.
ACTS = {"account": kill_in_acts, "applications": kill_in_applications, "tabs": refresh_in_tabs}


def run_acts(name):
    application = None if name == "account" else Application()
    with tempfile.TemporaryDirectory(prefix="faults-", dir="/var/tmp") as folder:
        os.chmod(folder, 0o711)
        with Service(Path(folder), kills=True, application=application) as service:
            service.wait_until_ready()
            return ACTS[name](service)


def inject(fault, service, crowd):
    try:
        fault(service, crowd)
    except subprocess.CalledProcessError as error:
        crowd.complain(f"the fault was not injected: {error} {error.stderr}")


def main():
    names = sys.argv[1:]
    adopt_orphans()
    survived = [name for name in names if not run(name)]
    print(f"{len(survived)} of {len(names)} faults survived")
    sys.exit(len(survived) != len(names))


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"{error}\n{error.stderr or ''}")
