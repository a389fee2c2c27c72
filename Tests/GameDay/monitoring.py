"""Prometheus and its tools: which alarms fire on a timeline, and what the panels of the dashboard show."""

import json
import os
import re
import subprocess
import time
import urllib.parse
import urllib.request

import yaml

from recording import INTERVAL
from service import ROOT, free_port

ALERTS = ROOT / "deploy/alerts.yaml"
RULES = {rule["alert"]: rule for group in yaml.safe_load(ALERTS.read_text())["groups"] for rule in group["rules"]}
# The rules and the panels contain only these names of metrics, besides functions and labels.
NAMES = re.compile(r"\b(?:accounts|process)_[a-z_]+|\bup\b")

# Alarms that say how busy the machine of the game day is, if it has other work.
LEFT_OUT = {"AccountsSlowSteps"} if os.environ.get("BUSY") else set()


class Alarm:
    """An alarm that has fired, with the minutes of the timeline at which it did."""

    def __init__(self, name):
        self.name = name
        self.severity = RULES[name]["labels"]["severity"]
        self.minutes = []
        self.summaries = []


def alarms(timeline, folder, summaries_at):
    """The alarms that fire on the timeline, by name. Asks promtool at each minute, and for the summaries at some."""
    minutes = range(timeline.length * INTERVAL // 60 + 1)
    needed = set(NAMES.findall(ALERTS.read_text()))
    test = {
        "interval": f"{INTERVAL}s",
        "input_series": list(timeline.input_series(needed)),
        # The tests expect that no alarm fires, so promtool lists in its failures those that do.
        "promql_expr_test": [
            {"expr": 'ALERTS{alertstate="firing"}', "eval_time": f"{minute}m", "exp_samples": []} for minute in minutes
        ],
        "alert_rule_test": [
            {"alertname": name, "eval_time": f"{minute}m", "exp_alerts": []}
            for minute in summaries_at
            for name in RULES
        ],
    }
    file = folder / "test.yaml"
    document = {"rule_files": [str(ALERTS)], "evaluation_interval": "1m", "tests": [test]}
    file.write_text(json.dumps(document))
    result = subprocess.run(
        [os.environ["PROMTOOL"], "test", "rules", file],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    fired = {}
    pattern = r'expr: "ALERTS[^\n]*time: (?:(\d+)h)?(?:(\d+)m)?(?:0s)?,\s+exp: [^\n]*\s+got: ([^\n]*)'
    for hours, minute, got in re.findall(pattern, result.stdout):
        for name in set(re.findall(r'alertname="(\w+)"', got)):
            fired.setdefault(name, Alarm(name)).minutes.append(int(hours or 0) * 60 + int(minute or 0))
    for name, got in re.findall(r"alertname: (\w+), time: [^\n]*\n(.*?)\n\s+\]\s*\n", result.stdout + "\n", re.DOTALL):
        # The last ones remain.
        fired[name].summaries = [
            summary.replace('\\"', '"') for summary in re.findall(r'summary="((?:[^"\\]|\\.)*)"', got)
        ]
    if result.returncode != (1 if fired else 0):
        raise RuntimeError(f"promtool failed: {result.stdout[-2000:]}")
    return {name: alarm for name, alarm in fired.items() if name not in LEFT_OUT}


class Panel:
    def __init__(self, panel):
        self.title = panel["title"]
        self.unit = panel.get("fieldConfig", {}).get("defaults", {}).get("unit", "short")
        self.targets = [(target["expr"], target.get("legendFormat") or "") for target in panel["targets"]]


def dashboard():
    """The panels of deploy/grafana.json, by title."""
    panels = json.loads((ROOT / "deploy/grafana.json").read_text())["panels"]
    panels += [inner for panel in panels for inner in panel.get("panels", [])]
    return {panel["title"]: Panel(panel) for panel in panels if panel.get("targets")}


class Prometheus:
    """A Prometheus with the blocks of a timeline. It scrapes nothing."""

    def __init__(self, timeline, folder):
        self.folder = folder
        # Two days ago, at the beginning of a block of two hours.
        self.begins_at = (int(time.time()) // 7200 - 24) * 7200
        (folder / "prometheus.yml").write_text("{}\n")
        with (folder / "metrics.txt").open("w") as file:
            file.writelines(timeline.open_metrics(self.begins_at))

    def __enter__(self):
        data = self.folder / "data"
        subprocess.run(
            [os.environ["PROMTOOL"], "tsdb", "create-blocks-from", "openmetrics", self.folder / "metrics.txt", data],
            check=True,
            capture_output=True,
        )
        self.port = free_port()
        self.process = subprocess.Popen(
            [
                os.environ["PROMETHEUS"],
                f"--config.file={self.folder / 'prometheus.yml'}",
                f"--storage.tsdb.path={data}",
                f"--web.listen-address=127.0.0.1:{self.port}",
                # As with the staleness of real scrapes, a series is gone when a scrape lacks it.
                f"--query.lookback-delta={INTERVAL - 1}s",
                "--log.level=error",
            ],
            stdout=subprocess.DEVNULL,
        )
        deadline = time.monotonic() + 60
        while True:
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/-/ready"):
                    return self
            except OSError:
                if time.monotonic() > deadline or self.process.poll() is not None:
                    raise
                time.sleep(0.1)

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def values(self, panel, number):
        """What the panel shows at the scrape with this number, by legend."""
        values = {}
        for expression, legend in panel.targets:
            # What Grafana does with a scrape interval of 30 s and a range of a quarter of an hour.
            for variable, value in (("$__rate_interval", "2m"), ("$__range", "15m"), ("$instance", ".*")):
                expression = expression.replace(variable, value)
            query = urllib.parse.urlencode({"query": expression, "time": self.begins_at + number * INTERVAL})
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v1/query?{query}") as answer:
                result = json.load(answer)["data"]["result"]
            for sample in result:
                labels = sample["metric"]
                name = re.sub(r"{{(\w+)}}", lambda match, labels=labels: labels.get(match[1], ""), legend)
                values[name] = float(sample["value"][1])
        return values
