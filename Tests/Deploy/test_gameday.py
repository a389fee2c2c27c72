"""docs/gameday.md, and the timeline that scripts/gameday makes of recorded scrapes."""

import re
import sys
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
sys.path += [str(ROOT / "Tests/GameDay"), str(ROOT / "Tests/Faults")]

from document import text
from recording import INTERVAL, Timeline

COUNTER = "requests_total", (("instance", "a"),)
GAUGE = "ready", (("instance", "a"),)
START = "process_start_time_seconds", (("instance", "a"),)


class Recorded:
    """A scrape with these values of one server; None if it did not answer."""

    def __init__(self, time, values):
        self.time = time
        self.values = {"a": values}
        self.counters = {COUNTER}


def repeated(*values, scrapes=10):
    timeline = Timeline()
    phase = [Recorded(1000 + number * INTERVAL, value) for number, value in enumerate(values)]
    timeline.add(phase, scrapes * INTERVAL / 60)
    return timeline


def test_a_counter_goes_on_with_its_rate_and_a_gauge_repeats_its_values():
    timeline = repeated({COUNTER: 5, GAUGE: 1}, {COUNTER: 6, GAUGE: 2}, {COUNTER: 9, GAUGE: 3}, scrapes=7)
    assert list(timeline.series[COUNTER].values()) == [5, 6, 9, 10, 13, 14, 17]
    assert list(timeline.series[GAUGE].values()) == [1, 2, 3, 2, 3, 2, 3]


def test_a_counter_that_appears_during_the_phase_stays():
    timeline = repeated({}, {}, {COUNTER: 2}, scrapes=6)
    assert timeline.series[COUNTER] == {2: 2, 3: 2, 4: 4, 5: 4}


def test_the_start_of_a_process_is_repeated_only_if_it_has_changed():
    constant = repeated({START: 900}, {START: 900}, {START: 900}, scrapes=6)
    assert set(constant.series[START].values()) == {-100}
    restarted = repeated({START: 900}, {START: 900}, {START: 1015}, scrapes=6)
    assert list(restarted.series[START].values()) == [-100, -100, 15, -80, 35, -60]


def test_a_server_that_does_not_answer_is_down_and_its_counters_go_on_after_it():
    timeline = repeated({COUNTER: 5}, None, {COUNTER: 2}, scrapes=3)
    assert list(timeline.series["up", (("instance", "a"), ("job", "accounts-api"))].values()) == [1, 0, 1]
    assert timeline.series[COUNTER] == {0: 5, 2: 7}
    assert {one["values"] for one in timeline.input_series({"requests_total"})} == {"5 stale 7"}


def test_a_rate_is_written_without_an_exponent():
    assert [text(rate, "cpm") for rate in [0, 0.085, 99.4, 99.7, 5406.2]] == [
        "0 per minute",
        "0.085 per minute",
        "99 per minute",
        "100 per minute",
        "5406 per minute",
    ]


def test_the_document_names_alarms_and_sections_that_exist():
    document = (ROOT / "docs/gameday.md").read_text()
    rules = yaml.safe_load((ROOT / "deploy/alerts.yaml").read_text())["groups"][0]["rules"]
    named = set(re.findall(r"\*(Accounts\w+)\*|\[(Accounts\w+)\]", document))
    assert {name for names in named for name in names if name} <= {rule["alert"] for rule in rules}
    faults = re.findall(r"^## (.*)$", document, re.MULTILINE)
    assert len(faults) == 9
    headings = re.findall(r"^#+ (.*)$", (ROOT / "docs/operating.md").read_text(), re.MULTILINE)
    anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    assert set(re.findall(r"\(operating\.md#([\w-]+)\)", document)) <= anchors
