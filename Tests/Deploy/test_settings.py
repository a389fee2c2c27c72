"""The settings in deploy/ and compose.yaml: memory limits that hold what the settings need, and no unsafe defaults."""

import ipaddress
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
MEBIBYTE = 1 << 20

# In MiB, as measured in docs/performance.md: the server, request bodies, large images, and the process of an image.
SERVER, BODIES, IMAGES, IMAGE_PROCESS = 63, 63, 84, 320
# Of each worker, in addition to ARGON2_MEMORY_KIB.
WORKER = 2


def environment(path):
    """The settings of a file with a line NAME=value for each."""
    lines = (ROOT / path).read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def default(name):
    return re.search(rf"\| `{name}` \| [^|]* \| (\d+) \|", (ROOT / "docs/configuration.md").read_text())[1]


def compose():
    service = yaml.safe_load((ROOT / "compose.yaml").read_text())["services"]["service"]
    return service["environment"], service["mem_limit"]


def kubernetes():
    deployment = yaml.safe_load((ROOT / "deploy/kubernetes/deployment.yaml").read_text())
    [container] = deployment["spec"]["template"]["spec"]["containers"]
    return environment("deploy/kubernetes/settings.env"), container["resources"]["limits"]["memory"]


def size(text):
    """A size in MiB, as compose (640m), Kubernetes (640Mi) and systemd (1G) write it."""
    number, unit = re.fullmatch(r"(\d+)(\w)i?", text).groups()
    return int(number) * {"m": 1, "g": 1024}[unit.lower()]


def memory_of_worker(settings):
    return WORKER + int(settings.get("ARGON2_MEMORY_KIB", default("ARGON2_MEMORY_KIB"))) / 1024


@pytest.mark.parametrize("installation", [compose, kubernetes])
def test_the_memory_limit_of_a_container_holds_the_workers_and_an_image(installation):
    settings, limit = installation()
    # Without this setting, the workers are as many as the machine has cores, whatever the limit.
    hashing = int(settings["ARGON2_WORKERS"]) * memory_of_worker(settings)
    images = int(settings.get("IMAGE_WORKERS", default("IMAGE_WORKERS"))) * IMAGE_PROCESS
    needed = SERVER + BODIES + IMAGES + images + hashing
    assert needed <= size(limit) <= 1.3 * needed


@pytest.mark.parametrize("installation", [compose, kubernetes])
def test_the_alarm_fires_below_the_memory_limit(installation):
    settings, limit = installation()
    alarm = re.search(
        r"accounts_hash_workers \* (\d+) \+ (\d+) \* 1024 \* 1024", (ROOT / "deploy/alerts.yaml").read_text()
    )
    workers = int(settings["ARGON2_WORKERS"])
    threshold = workers * (memory_of_worker(settings) - WORKER + int(alarm[1]) / MEBIBYTE) + int(alarm[2])
    assert SERVER + BODIES + workers * memory_of_worker(settings) < threshold < size(limit)


def test_the_limit_of_the_unit_holds_the_workers_that_it_names():
    unit = (ROOT / "deploy/systemd/accounts-api.service").read_text()
    workers = int(re.search(r"Enough for (\d+) of ARGON2_WORKERS", unit)[1])
    needed = SERVER + BODIES + IMAGES + IMAGE_PROCESS + workers * memory_of_worker({})
    assert needed <= size(re.search(r"MemoryMax=(\w+)", unit)[1])


@pytest.mark.parametrize("path", ["deploy/kubernetes/settings.env", "deploy/systemd/environment.example"])
def test_no_example_trusts_a_network_of_strangers(path):
    for proxy in environment(path)["TRUSTED_PROXIES"].split(","):
        # The server refuses a placeholder.
        assert proxy.startswith("REPLACE") or ipaddress.ip_address(proxy).is_loopback
