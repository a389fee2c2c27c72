"""The command of docs/operating.md that turns the paths of runbooks into links."""

import re
import subprocess
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]


def rules(path):
    return [rule for group in yaml.safe_load(path.read_text())["groups"] for rule in group["rules"]]


def test_each_alert_links_to_its_section_after_the_documented_command(tmp_path):
    document = (ROOT / "docs" / "operating.md").read_text()
    command = re.search(r"```sh\n(sed [^\n]*alerts\.yaml) >\S+\n```", document)[1]
    linked = tmp_path / "linked.yaml"
    linked.write_text(subprocess.run(command, shell=True, cwd=ROOT, check=True, capture_output=True, text=True).stdout)
    paths = rules(ROOT / "deploy" / "alerts.yaml")
    assert len(paths) > 20
    for rule in paths:
        url = rule["annotations"]["runbook_url"]
        rule["annotations"]["runbook_url"] = "https://git.example.com/accounts-api/blob/main/" + url
    assert rules(linked) == paths
