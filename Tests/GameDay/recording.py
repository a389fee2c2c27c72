"""Scrapes of the metrics of real servers, and the timeline that is made of them: each recorded phase is repeated."""

import math
import time

from prometheus_client.parser import text_string_to_metric_families

# Seconds between two scrapes.
INTERVAL = 10
JOB = "accounts-api"


class Scrape:
    """
    time: when the scrape was made, in seconds.
    values: for each server its samples by series; None if it did not answer.
    counters: the series that only grow.
    """

    def __init__(self, servers):
        self.time = time.time()
        self.values = {}
        self.counters = set()
        for server in servers:
            text = server.metrics()
            self.values[server.name] = None if text is None else self.samples(server.name, text)

    def samples(self, instance, text):
        samples = {}
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                labels = sample.labels | {"job": JOB, "instance": instance}
                series = sample.name, tuple(sorted(labels.items()))
                samples[series] = sample.value
                if family.type in ("counter", "histogram"):
                    self.counters.add(series)
        return samples


def record(servers, seconds, is_enough=lambda scrapes: True):
    """Scrapes the servers for so many seconds, and then until it is enough."""
    scrapes = [Scrape(servers)]
    while len(scrapes) <= seconds / INTERVAL or not is_enough(scrapes):
        time.sleep(max(0, scrapes[-1].time + INTERVAL - time.time()))
        scrapes.append(Scrape(servers))
    return scrapes


class Timeline:
    """
    What Prometheus would have stored if each phase had lasted longer. A phase is repeated from its second scrape on.
    Gauges repeat their values, so an age does not become higher than it was when it was recorded. Counters go on, so
    their rates are those of the phase.
    """

    def __init__(self):
        # The number of scrapes so far.
        self.length = 0
        # For each series its values, by the number of the scrape.
        self.series = {}
        self.last = None
        self.totals = {}
        self.starts = {}

    def add(self, scrapes, minutes):
        """Adds a phase of this length, of which these scrapes were recorded."""
        ends_at = self.length + round(minutes * 60 / INTERVAL)
        index = 0
        while self.length < ends_at:
            is_repeated = self.length >= ends_at - round(minutes * 60 / INTERVAL) + len(scrapes)
            # The scrape before, from which counters have grown.
            before = self.last if index == 0 else scrapes[index - 1]
            for instance in scrapes[index].values:
                self.append(instance, scrapes[index], before, scrapes[-1] if is_repeated else None)
            self.length += 1
            self.last = scrapes[index]
            index = index % (len(scrapes) - 1) + 1

    def append(self, instance, scrape, before, end):
        """
        before: the scrape before this one, None at the beginning of the timeline.
        end: the last scrape of a phase that is repeated, otherwise None.
        """
        values = scrape.values[instance]
        self.put("up", (("instance", instance), ("job", JOB)), 0 if values is None else 1)
        if values is None:
            return
        earlier = (before and before.values[instance]) or {}
        for series, value in values.items():
            if series in scrape.counters:
                growth = value - earlier.get(series, 0)
                # A lower value is that of a server that was started meanwhile.
                self.totals[series] = self.totals.get(series, 0) + (growth if growth >= 0 else value)
                value = self.totals[series]
            elif series[0] == "process_start_time_seconds":
                value = self.start_time(series, value, scrape)
            self.put(*series, value)
        # A counter that has appeared during the phase exists whenever the phase is repeated.
        for series in ((end and end.values[instance]) or {}).keys() - values.keys():
            if series in end.counters:
                self.put(*series, self.totals[series])

    def start_time(self, series, value, scrape):
        """The start time of a process on the timeline. It stays as it is as long as the recorded one does."""
        recorded, shown = self.starts.get(series, (None, None))
        if recorded != value:
            shown = value - scrape.time + self.length * INTERVAL
        self.starts[series] = value, shown
        return shown

    def put(self, name, labels, value):
        self.series.setdefault((name, labels), {})[self.length] = value

    def input_series(self, names):
        """The series with these names, in the notation of promtool."""
        for (name, labels), values in self.series.items():
            if name in names:
                yield {"series": f"{name}{{{notation(labels)}}}", "values": " ".join(self.notations(values))}

    def notations(self, values):
        was_there = False
        for number in range(self.length):
            if number in values:
                yield number_text(values[number])
            else:
                # Prometheus ends a series at the first scrape that lacks it.
                yield "stale" if was_there else "_"
            was_there = number in values

    def open_metrics(self, begins_at):
        """The timeline in the OpenMetrics format, beginning at this time in seconds."""
        for (name, labels), values in self.series.items():
            for number, value in values.items():
                if name == "process_start_time_seconds":
                    value += begins_at
                time = begins_at + number * INTERVAL
                yield f"{name}{{{notation(labels)}}} {number_text(value)} {time}\n"
        yield "# EOF\n"


def notation(labels):
    return ",".join(f'{name}="{escaped(value)}"' for name, value in labels)


def escaped(value):
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def number_text(value):
    if math.isinf(value) or math.isnan(value):
        return {math.inf: "+Inf", -math.inf: "-Inf"}.get(value, "NaN")
    return repr(int(value)) if value == int(value) else repr(value)
