"""
Breaks an installation in nine ways, and checks which alarms fire, what the dashboard shows, and what the commands of
the runbook print.

Usage: gameday.py [--write FILE] NAME...

Needs in the environment: ACCOUNTS_API, the program; PYTHON, an interpreter with aiosmtpd; PROMTOOL and PROMETHEUS. With
--write, the run is written down in FILE. If BUSY is set, alarms that say how busy the machine is are left out.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from breakdowns import BREAKDOWNS
from document import write
from monitoring import Prometheus, alarms, dashboard
from recording import INTERVAL, JOB, Timeline, record
from world import OPERATING, World

# Seconds that are recorded at least of each phase, and minutes that the time before a fault lasts on the timeline.
CALM, DURING, AFTER = 60, 30, 20
BEFORE = 30


class Outcome:
    """What one fault has shown."""

    def __init__(self, breakdown):
        self.breakdown = breakdown
        self.mistakes = []

    def check(self, is_right, mistake):
        if not is_right:
            self.mistakes.append(mistake)


def has_swept(scrapes):
    """Whether a server has erased expired data, which each does once a minute. A repeated phase needs it."""
    name = "accounts_reaper_sweep_duration_seconds_count"
    for instance in scrapes[0].values:
        first, last = (scrape.values[instance] or {} for scrape in (scrapes[0], scrapes[-1]))
        series = name, (("instance", instance), ("job", JOB))
        if first.get(series) != last.get(series):
            return True
    return False


def run_commands(world, commands, outcome):
    results = []
    for item in commands:
        command, result = item if isinstance(item, tuple) else (item, world.run(item.text))
        output, code = result
        results.append((command, output, code))
        if command.is_in_runbook:
            outcome.check(command.text in OPERATING, f"docs/operating.md lacks the command {command.text}")
    return results


def run(world, breakdown, before):
    """Runs one fault after the recorded calm, and returns its outcome and the calm after it."""
    outcome = Outcome(breakdown)
    world.forget_log()
    breakdown.begin()
    during = record(world.servers, DURING, lambda scrapes: breakdown.minutes <= 20 or has_swept(scrapes))
    outcome.during = run_commands(world, breakdown.commands(), outcome)
    breakdown.mend()
    world.wait_until_ready()
    outcome.after = run_commands(world, breakdown.afterwards(), outcome)
    after = record(world.servers, AFTER, has_swept)
    timeline = Timeline()
    for scrapes, minutes in ((before, BEFORE), (during, breakdown.minutes), (after, breakdown.recovery)):
        timeline.add(scrapes, minutes)
    outcome.timeline = timeline
    return outcome, after


def judge_alarms(outcome, folder):
    breakdown = outcome.breakdown
    outcome.begins_at, outcome.ends_at = BEFORE, BEFORE + breakdown.minutes
    ends_at = outcome.ends_at
    fired = alarms(outcome.timeline, folder, summaries_at=range(BEFORE + 1, ends_at))
    early = {name for name, alarm in fired.items() if min(alarm.minutes) <= BEFORE}
    outcome.check(not early, f"fired before the fault: {', '.join(sorted(early))}")
    outcome.check(
        set(fired) - early == breakdown.alarms,
        f"expected {', '.join(sorted(breakdown.alarms))}, but these fired: {', '.join(sorted(fired))}",
    )
    late = {name for name, alarm in fired.items() if max(alarm.minutes) >= ends_at + breakdown.recovery}
    outcome.check(not late, f"did not end after the repair: {', '.join(sorted(late))}")
    outcome.alarms = fired


def read_panels(outcome, prometheus, panels):
    """Reads all panels before, during and after the fault."""
    ends = (BEFORE, outcome.breakdown.minutes, outcome.breakdown.recovery)
    numbers = [sum(ends[: index + 1]) * 60 // INTERVAL - 1 for index in range(3)]
    outcome.panels = {
        title: [prometheus.values(panel, number) for number in numbers] for title, panel in panels.items()
    }
    for panel in outcome.breakdown.panels:
        title, _, legend = panel.partition(": ")
        before, during, _ = (
            {name: value for name, value in values.items() if legend in ("", name)} for values in outcome.panels[title]
        )
        outcome.check(before != during, f"the panel {panel} does not show the fault: {before}, {during}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--write", metavar="FILE")
    parser.add_argument("names", nargs="+")
    options = parser.parse_args()
    started = time.monotonic()
    panels = dashboard()
    with tempfile.TemporaryDirectory(prefix="gameday-", dir="/var/tmp") as folder:
        os.chmod(folder, 0o711)
        folder = Path(folder)
        with World(folder) as world:
            calm = after = record(world.servers, CALM, has_swept)
            outcomes = []
            for name in BREAKDOWNS:
                if name in options.names:
                    begun = time.monotonic()
                    outcome, after = run(world, BREAKDOWNS[name](world), after)
                    outcomes.append(outcome)
                    print(f"{name}: recorded in {time.monotonic() - begun:.0f} s", flush=True)
        quiet = Timeline()
        quiet.add(calm, 180)
        false = alarms(quiet, folder, summaries_at=[180])
        for number, outcome in enumerate(outcomes):
            part = folder / str(number)
            part.mkdir()
            judge_alarms(outcome, part)
            with Prometheus(outcome.timeline, part) as prometheus:
                read_panels(outcome, prometheus, panels)
    mistakes = [f"calm: fired: {', '.join(sorted(false))}"] if false else []
    for outcome in outcomes:
        for mistake in outcome.mistakes:
            mistakes.append(f"{outcome.breakdown.title}: {mistake}")
    shown = {title for outcome in outcomes for title, values in outcome.panels.items() if any(values)}
    if silent := set(panels) - shown:
        print(f"these panels showed nothing: {', '.join(sorted(silent))}")
    for outcome in outcomes:
        print(f"{outcome.breakdown.title}: {', '.join(sorted(outcome.alarms)) or 'no alarm'}")
    for mistake in mistakes:
        print(f"  {mistake}")
    print(f"{len(outcomes)} faults in {(time.monotonic() - started) / 60:.0f} minutes, {len(mistakes)} mistakes")
    if options.write:
        # A run with mistakes does not replace the document.
        write(Path(options.write + (".failed" if mistakes else "")), outcomes, panels)
    sys.exit(bool(mistakes))


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        sys.exit(f"{error}\n{error.stderr or ''}")
