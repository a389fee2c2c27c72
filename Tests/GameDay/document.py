"""Writes a run of the game day down, for people."""

import getpass
import math
import re
import socket
import textwrap
from pathlib import Path

from monitoring import LEFT_OUT
from recording import INTERVAL
from service import ROOT

HEAD = """# The game day

This page shows {count} faults: what people notice, which alarms fire, what the dashboard shows, and what the commands
of the [runbook](operating.md#alarms) print. `scripts/gameday --write docs/gameday.md` has written it from a real run.
The script fails if an alarm of a fault does not fire, or if any other alarm fires before, during or after a fault.
Use it to practise: read the alarms and the panels of a fault, say what is broken, and then look.

**The installation.** Two servers, a and b, run behind a load balancer that sends requests only to servers that are
ready (and to all if none is). People sign up and sign in all the time. PostgreSQL has the
[roles](operating.md#a-role-for-each-task) that this documentation recommends, and a disk of 400 MB in memory. The
commands run on the machine of b, with its settings; `log` prints what both servers have logged since the fault began.

**The time.** Both servers are scraped every {interval} seconds while they are calm, while the fault lasts and after
it, for 20 seconds or longer each. Alarms wait for minutes or an hour. So the script repeats each recorded phase until it
has lasted as long as the page says: gauges repeat their values, and counters go on with their rate. An age, such as
that of the oldest mail, therefore never exceeds the highest recorded value. `promtool test rules`
evaluates [deploy/alerts.yaml](../deploy/alerts.yaml) on this timeline each minute; a Prometheus that has the timeline
in its storage answers the queries of [deploy/grafana.json](../deploy/grafana.json), with a range of 15 minutes and
rates over 2 minutes.

Without a fault, no alarm fires in three hours of that timeline.{left_out}

| fault | alarms |
|---|---|
{summary}
"""


def write(path, outcomes, panels):
    rows = [
        f"| [{outcome.breakdown.title}](#{anchor(outcome.breakdown.title)}) | "
        f"{', '.join(f'*{alarm.name}*' for alarm in ordered(outcome))} |"
        for outcome in outcomes
    ]
    count = {9: "nine"}.get(len(outcomes), len(outcomes))
    left_out = ""
    if LEFT_OUT:
        names = ", ".join(f"*{name}*" for name in sorted(LEFT_OUT))
        left_out = f"\n{names} is left out here, because the machine of this run had other work."
    parts = [HEAD.format(count=count, interval=INTERVAL, left_out=left_out, summary="\n".join(rows))]
    parts += [section(outcome, panels) for outcome in outcomes]
    text = "\n".join(parts)
    for secret in (str(ROOT), str(Path.home()), socket.gethostname(), getpass.getuser()):
        found = re.search(rf"(?<![\w-]){re.escape(secret)}(?![\w-])", text)
        if found:
            raise ValueError(f"the document contains {secret}: {text[max(0, found.start() - 80) : found.end() + 80]}")
    path.write_text(text)


def anchor(title):
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def ordered(outcome):
    return sorted(outcome.alarms.values(), key=lambda alarm: (min(alarm.minutes), alarm.name))


def section(outcome, panels):
    breakdown = outcome.breakdown
    lines = [
        f"## {breakdown.title}",
        "",
        wrapped(breakdown.happens),
        "",
        wrapped(f"**People.** {breakdown.people}"),
        "",
    ]
    lines += [f"**Alarms** in {breakdown.minutes} minutes:", ""]
    lines += ["| alarm | severity | fires after | ends after the repair | what it says |", "|---|---|---|---|---|"]
    for alarm in ordered(outcome):
        begins = min(alarm.minutes) - outcome.begins_at
        ends = max(alarm.minutes) + 1 - outcome.ends_at
        link = f"[{alarm.name}](operating.md#{alarm.name.lower()})"
        says = "; ".join(alarm.summaries)
        lines.append(f"| {link} | {alarm.severity} | {begins} min | {max(0, ends)} min | {says} |")
    lines += ["", "**Dashboard:**", "", "| panel | series | before | during | after |", "|---|---|---|---|---|"]
    for panel in breakdown.panels:
        title, _, wanted = panel.partition(": ")
        before, during, after = outcome.panels[title]
        for legend in sorted(before.keys() | during.keys() | after.keys()):
            if wanted not in ("", legend):
                continue
            shown = [text(values.get(legend), panels[title].unit) for values in (before, during, after)]
            if not wanted and len(set(shown)) == 1:
                continue
            lines.append(f"| {title} | {legend or '–'} | {' | '.join(shown)} |")
    lines += ["", f"**Commands** of [the runbook](operating.md#{breakdown.runbook}), during the fault:", ""]
    lines += [line for result in outcome.during for line in block(*result)]
    lines += [wrapped(f"**Repair.** {breakdown.mending}"), ""]
    lines += [line for result in outcome.after for line in block(*result)]
    return "\n".join(lines)


def block(command, output, code):
    lines = output.rstrip("\n").split("\n") if output else []
    if len(lines) > command.lines:
        rest = len(lines) - command.lines
        lines = [*lines[: command.lines], f"… {rest} more {'line' if rest == 1 else 'lines'}"]
    if code or not output:
        lines.append(f"[exit code {code}]")
    remark = [wrapped(command.remark), ""] if command.remark else []
    return [*remark, "```text", *("$ " + command.text).split("\n"), *(line.rstrip() for line in lines), "```", ""]


def wrapped(paragraph):
    return textwrap.fill(paragraph, 120, break_long_words=False, break_on_hyphens=False)


def text(value, unit):
    """A value as the panel shows it."""
    if value is None:
        return "nothing"
    if math.isnan(value):
        return "no value"
    if unit == "percentunit":
        return f"{value:.0%}"
    if unit == "s":
        return f"{value * 1000:.0f} ms" if value < 1 else f"{value:.0f} s"
    if unit == "bytes":
        return f"{value / 2**20:.0f} MiB"
    number = f"{value:.0f}" if value == int(value) or value >= 99.5 else f"{value:.2g}"
    return number + {"cpm": " per minute", "reqps": " per second"}.get(unit, "")
