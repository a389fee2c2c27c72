"""The scripts in deploy/ that run a command of an operator beside a service. systemd and the cluster are stand-ins."""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import kubernetes_validate
import pytest
import yaml

ROOT = Path(__file__).parents[2]
SYSTEMD = ROOT / "deploy" / "systemd"
KUBERNETES = ROOT / "deploy" / "kubernetes"

# Records the arguments of the last call. As kubectl, it also answers `get` with the deployment.
STAND_IN = """#!/usr/bin/env python3
import json, os, sys
if "get" in sys.argv:
    print(os.environ["DEPLOYMENT"])
else:
    json.dump(sys.argv[1:], open(os.environ["CALL"], "w"))
"""


@pytest.fixture
def call(tmp_path):
    """A function that runs a script and returns the arguments with which it called a program."""

    def call(program, script, *arguments, **environment):
        (tmp_path / program).write_text(STAND_IN)
        (tmp_path / program).chmod(0o755)
        recorded = tmp_path / "call"
        path = f"{tmp_path}:{os.environ['PATH']}"
        environment = {**os.environ, **environment, "PATH": path, "CALL": str(recorded)}
        subprocess.run([script, *arguments], env=environment, stdin=subprocess.DEVNULL, check=True)
        return json.loads(recorded.read_text())

    return call


def properties(arguments):
    return [argument.removeprefix("--property=") for argument in arguments if argument.startswith("--property=")]


def unit(name):
    """The lines of a unit that a property may have: `Name=value`."""
    return {line for line in (SYSTEMD / name).read_text().splitlines() if re.match(r"[A-Z]\w+=", line)}


@pytest.mark.parametrize(
    ("command", "role"),
    [
        ("drafts", "LoadCredential=database-url:/etc/accounts-api/operator-database-url"),
        ("doctor", "LoadCredential=database-url:/etc/accounts-api/database-url"),
        ("migrate", "LoadCredential=database-url:/etc/accounts-api/owner-database-url"),
    ],
)
def test_a_command_on_a_machine_gets_the_settings_and_keys_of_the_unit(call, command, role):
    arguments = call("systemd-run", SYSTEMD / "accounts-api-command", command, SUDO_USER="mina")
    given = set(properties(arguments))
    assert role in given
    user = [line for line in given if line.startswith("User=")]
    units = unit("accounts-api.service") | unit("accounts-api-migrate.service")
    assert user == ["User=accounts_operator"] if command == "drafts" else user[0] in units
    assert given - {role, *user} < unit("accounts-api.service")
    assert "--setenv=SUDO_USER=mina" in arguments
    secrets = {"ACCOUNTS_KEYS_FILE", "DATABASE_URL_FILE", "SMTP_URL_FILE"}
    assert secrets == {line.split("=")[1] for line in unit("accounts-api.service") if "_FILE=%d/" in line}
    assert secrets == {argument.split("=")[0] for argument in arguments if "=${CREDENTIALS_DIRECTORY}/" in argument}


def test_the_arguments_on_a_machine_are_those_of_the_command(call):
    typed = ["drafts", "list", "--email", "$HOME+${x}@example.com", "a  b", "--json"]
    arguments = call("systemd-run", SYSTEMD / "accounts-api-command", *typed)
    given = arguments[arguments.index("/usr/local/bin/accounts-api") + 1 :]
    # systemd replaces variables, and $$ by a dollar sign.
    assert [argument.replace("$$", "$") for argument in given] == typed
    assert not any(re.search(r"(?<!\$)\$(?!\$)", argument) for argument in given)


def test_systemd_restarts_a_server_that_sighup_has_ended():
    # After SIGHUP, `Restart=on-failure` restarts nothing, because systemd takes it for a clean exit.
    assert {"Restart=on-failure", "RestartForceExitStatus=SIGHUP"} < unit("accounts-api.service")


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="needs systemd")
def test_systemd_knows_every_property(call, tmp_path):
    arguments = call("systemd-run", SYSTEMD / "accounts-api-command", "drafts", "list")
    units = {
        "accounts-api-command.service": "[Service]\nExecStart=/bin/true\n" + "\n".join(properties(arguments)),
        **{name: (SYSTEMD / name).read_text() for name in ("accounts-api.service", "accounts-api-migrate.service")},
    }
    for name, text in units.items():
        (tmp_path / name).write_text(text.replace("/usr/local/bin/accounts-api", "/bin/true"))
    files = [tmp_path / name for name in units]
    verified = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *files], capture_output=True, check=False, text=True
    )
    assert (verified.returncode, verified.stdout + verified.stderr) == (0, "")


def test_a_command_in_the_cluster_gets_a_pod_like_that_of_a_server(call):
    deployment = yaml.safe_load((KUBERNETES / "deployment.yaml").read_text())
    server = deployment["spec"]["template"]["spec"]
    server["containers"][0]["image"] = "registry.example.com/accounts-api@sha256:1"
    typed = ["drafts", "list", "--email", "$HOME@example.com", "--json"]
    arguments = call(
        "kubectl", KUBERNETES / "accounts-api-command", *typed, DEPLOYMENT=json.dumps(deployment), USER="mina"
    )
    options = dict(argument.split("=", 1) for argument in arguments if "=" in argument)
    name = arguments[arguments.index("run") + 1]
    pod = json.loads(options["--overrides"])
    assert options["--image"] == "registry.example.com/accounts-api@sha256:1"

    # kubectl adds the kind and the name.
    pod["kind"] = "Pod"
    pod["metadata"]["name"] = name
    kubernetes_validate.validate(pod, kubernetes_validate.latest_version(), strict=True)
    [container] = pod["spec"]["containers"]
    assert (container["name"], container["args"]) == (name, typed)
    assert {"name": "SUDO_USER", "value": "mina"} in container["env"]
    for member in ("image", "envFrom", "volumeMounts", "securityContext", "resources"):
        assert container[member] == server["containers"][0][member]
    assert pod["spec"]["securityContext"] == server["securityContext"]
    [volume] = pod["spec"]["volumes"]
    assert {"key": "operator-database-url", "path": "database-url"} in volume["secret"]["items"]

    # The network policy selects it, and the service does not.
    labels = pod["metadata"]["labels"].items()
    selector = yaml.safe_load((KUBERNETES / "service.yaml").read_text())["spec"]["selector"].items()
    policy = yaml.safe_load((KUBERNETES / "network-policy.yaml").read_text())["spec"]["podSelector"]["matchLabels"]
    assert policy.items() <= labels
    assert not selector <= labels
