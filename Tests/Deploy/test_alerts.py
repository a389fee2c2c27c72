"""The command of docs/operating.md that turns the paths of runbooks into links."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]


def rules(path):
    document = yaml.safe_load(path.read_text())
    return [rule for group in document.get("spec", document)["groups"] for rule in group["rules"]]


@pytest.mark.parametrize("name", ["deploy/alerts.yaml", "deploy/kubernetes/monitoring/prometheus-rule.yaml"])
def test_each_alert_links_to_its_section_after_the_documented_command(name, tmp_path):
    document = (ROOT / "docs" / "operating.md").read_text()
    command = re.search(r"```sh\n(sed [^`]*runbook_url[^`]*)\n```", document)[1]
    shutil.copytree(ROOT / "deploy", tmp_path / "deploy")
    # The second time, it changes nothing.
    for _ in range(2):
        subprocess.run(command, shell=True, cwd=tmp_path, check=True)
    paths = rules(ROOT / name)
    assert len(paths) > 20
    for rule in paths:
        url = rule["annotations"]["runbook_url"]
        rule["annotations"]["runbook_url"] = "https://git.example.com/accounts-api/blob/main/" + url
    assert rules(tmp_path / name) == paths
