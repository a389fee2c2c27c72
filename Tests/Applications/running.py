"""Runs programs during tests, and waits until a condition is true."""

import subprocess
import time
import urllib.error
import urllib.request
from contextlib import contextmanager


@contextmanager
def running(command, url, **options):
    """Runs the program for the time of a test, and waits until it answers at the URL."""
    process = subprocess.Popen(command, **options)
    try:
        # The timeout is long, because the shop first installs its packages.
        wait_until(lambda: process.poll() is not None or answers(url), timeout=600)
        assert process.poll() is None, f"{command[0]} has ended with {process.returncode}"
        yield
    finally:
        process.terminate()
        process.wait(timeout=300)


def wait_until(condition, timeout=300):
    deadline = time.monotonic() + timeout
    while not condition():
        assert time.monotonic() < deadline, "timeout"
        time.sleep(0.02)


def answers(url):
    try:
        urllib.request.urlopen(url, timeout=5).close()
        return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
