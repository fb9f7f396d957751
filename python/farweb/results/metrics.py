"""Metrics of a run: the numbers that a sweep keeps of each run, and the input of its statistics.

Requests that start before the end of the scenario's `run.warmup` count in `left_out` and in nothing else. Rates,
utilisation, queues and legs cover the measured interval (`run.measure`), counters of the simulation the whole run.

A request that failed, or that the end of the run cut off, counts in quantiles as slower than any that ended
(`farweb.statistics.quantiles`): one that falls among them is infinite, and null in JSON. Means and maxima are of the
requests that ended, which says nothing of the others; `failed_share` has how many they are.
"""

import functools
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from farweb.errors import ResultsError
from farweb.files.columns import TableSpec, results_tables
from farweb.text import parse as quantity
from farweb.text.words import nearest

Kind = Literal["count", "mean", "quantile", "maximum", "rate"]
Value = int | float | None

GROUPS = {
    "sample": ("tag", "sample"),
    "visit_first": ("visit_request", "first"),
    "visit_later": ("visit_request", "later"),
}
"""Groups of requests, by the beginning of their metrics' names: a column of the requests, and its word there."""

DEFINITION = 2
"""Number of what the metrics mean: with another one the same run has other values. 2: quantiles count failures."""


@dataclass(frozen=True)
class Metric:
    """A number that every run has.

    Attributes:
        name: Its column; the unit stands at the end.
        unit: As the metadata of columns has it; empty for a number of things.
        description: Its definition.
        kind: Which statistics suit it. A quantile's interval comes from the requests of all replications (bootstrap),
            others' intervals from their values in each run (Student).
        of_ended: True when it is a mean or maximum of requests that ended: no rank of runs with other failed shares.
        within_s: Of a share of requests answered in time, that time in s; None for others.
    """

    name: str
    unit: str
    description: str
    kind: Kind
    of_ended: bool = False
    within_s: float | None = None

    @property
    def whole(self) -> bool:
        """True for a whole number."""
        peak_of_leg = re.fullmatch(r"leg_\d+_\w+_max", self.name) is not None
        return self.kind == "count" or self.name.endswith("queue_bytes_max") or peak_of_leg


def _times(name: str, what: str, shares: Iterable[int], which: str = "requests") -> list[Metric]:
    of = f"from the request at the first node to the {what} byte of its response there"
    return [
        Metric(f"{name}_mean_s", "s", f"Mean time {of}; finished {which} only.", "mean", of_ended=True),
        *(
            Metric(
                f"{name}_p{share}_s",
                "s",
                f"Time within which {share} % of all {which} had it, {of}. Linear between the two nearest values; "
                "those that failed or were cut off count as slower than any that ended, and it is infinite among them.",
                "quantile",
            )
            for share in shares
        ),
    ]


def _of_group(group: str, which: str) -> list[Metric]:
    return [
        Metric(f"{group}_requests", "", f"Requests {which} and start after the warm-up.", "count"),
        Metric(f"{group}_failed_share", "1", f"Share of the requests {which} that was not answered.", "rate"),
        *_times(f"{group}_latency", "last", (50, 90), f"requests {which}"),
    ]


_INTERVAL = "in the measured interval"

_ALL = [
    Metric("requests", "", "Requests that start after the warm-up.", "count"),
    Metric("done", "", "Those whose whole response arrived.", "count"),
    Metric("failed", "", "Those whose connection was refused, reset or timed out.", "count"),
    Metric("unfinished", "", "Those that the end of the run cut off.", "count"),
    Metric("failed_share", "1", "`failed` and `unfinished` over `requests`: the share that was not answered.", "rate"),
    Metric("left_out", "", "Requests that start before the end of the warm-up.", "count"),
    *_times("latency", "last", (50, 90, 95, 99)),
    Metric(
        "latency_max_s", "s", "The longest time to the last byte; finished requests only.", "maximum", of_ended=True
    ),
    *_times("first_byte", "first", (50, 90)),
    Metric(
        "acked_mean_s",
        "s",
        "Mean time from the request at the first node until the sender of its response had the last acknowledgement; "
        "finished requests for which it is known.",
        "mean",
        of_ended=True,
    ),
    *_of_group("sample", "tagged `sample`"),
    *_of_group("visit_first", "that begin a client's visit"),
    *_of_group("visit_later", "that follow in a client's visit"),
    Metric("response_bytes", "B", "Responses that finished requests were served, headers included.", "count"),
    Metric(
        "goodput_bps", "bit/s", "`response_bytes` in bits, over the time from the first start to the last end.", "rate"
    ),
    Metric(
        "offered_bps",
        "bit/s",
        "Response bits, whether they arrived or not, of requests that start in the measured interval (its end left "
        "out), over its length.",
        "rate",
    ),
    Metric(
        "presented_bps",
        "bit/s",
        "IP bits of the response segments as servers send them (response bytes and 40 B for each MSS of the host) of "
        "requests that start in the measured interval, over its length.",
        "rate",
    ),
    Metric(
        "tunnel_share",
        "1",
        "Share of the bytes of `presented_bps` in tunnels (CONNECT).",
        "rate",
    ),
    Metric("carried_bps", "bit/s", f"IP bits that link 0 carried down {_INTERVAL}, over its length.", "rate"),
    Metric("carried_up_bps", "bit/s", f"IP bits that link 0 carried up {_INTERVAL}, over its length.", "rate"),
    Metric(
        "utilisation",
        "1",
        f"Share of time in which a link direction was transmitting {_INTERVAL}: the largest of all.",
        "rate",
    ),
    Metric(
        "queue_bytes_mean",
        "B",
        f"Time-weighted mean of the bytes queued at a link direction {_INTERVAL}, the packet in transmission "
        "included: the largest of all.",
        "mean",
    ),
    Metric("queue_bytes_max", "B", f"Peak of the bytes queued at any link direction {_INTERVAL}.", "maximum"),
    Metric("drops", "", f"Packets dropped by all links {_INTERVAL}, by full queues, AQM or loss processes.", "count"),
    Metric("loss_ratio", "1", f"`drops` over packets offered to links (dropped or transmitted) {_INTERVAL}.", "rate"),
    Metric(
        "retransmits",
        "",
        "Retransmissions, by either end of the first leg's connection, while it carried a request.",
        "count",
    ),
    Metric(
        "timeouts",
        "",
        "Retransmission timeouts, at either end of the first leg's connection, while it carried a request.",
        "count",
    ),
    Metric("connections", "", "Connections of the whole run, all legs; null without the table.", "count"),
    Metric(
        "connections_open_mean",
        "",
        f"Time-weighted mean of the connections open {_INTERVAL}, all legs; null without the table.",
        "mean",
    ),
    Metric(
        "connections_open_max",
        "",
        f"Most connections open at a time {_INTERVAL}, all legs; null without the table.",
        "maximum",
    ),
    Metric("simulated_s", "s", "Simulated time, from the start of the run to its end.", "mean"),
    Metric("measured_s", "s", "Length of the measured interval.", "mean"),
    Metric("events", "", "Events that the simulation processed.", "count"),
    Metric("packet_hops", "", "Arrivals of a packet at the far end of a link.", "count"),
]

METRICS: dict[str, Metric] = {metric.name: metric for metric in _ALL}
"""Metrics of every run, in the order of their columns; metrics of its parts follow (`metrics_of`)."""

_KINDS: dict[str, Kind] = {"mean": "mean", "max": "maximum"}

_OF_A_PART: dict[str, dict[str, tuple[str, str, Kind]]] = {
    "link": {
        "bps": ("bit/s", f"IP bits carried {_INTERVAL}, over its length.", "rate"),
        "utilisation": ("1", f"Share of time in which it was transmitting {_INTERVAL}.", "rate"),
        "used": (
            "1",
            f"Bytes carried {_INTERVAL} over those that its rate could have carried; null where it is unlimited.",
            "rate",
        ),
        "queue_bytes_mean": ("B", f"Time-weighted mean of the bytes queued {_INTERVAL}.", "mean"),
        "queue_bytes_max": ("B", f"Peak of the bytes queued {_INTERVAL}.", "maximum"),
        "drops": ("", f"Packets dropped {_INTERVAL}, by the full queue, AQM or the loss process.", "count"),
    },
    "leg": {
        column["name"]: (
            column["unit"],
            f"{column['description']} In the measured interval.",
            _KINDS[column["name"].rpartition("_")[2]],
        )
        for column in results_tables()["legs"]["columns"]
        if column["name"] not in ("leg", "time_ns", "interval_ns")
    },
    "cache": {
        "requests": ("", "Requests that came to it after the warm-up, up to the end of the run.", "count"),
        "hit_ratio": ("1", "Share of them that it served from what it held; delayed hits left out.", "rate"),
        "delayed_hit_ratio": ("1", "Share of them that it served from a fetch that was under way.", "rate"),
        "byte_hit_ratio": ("1", "Share of the response bytes asked for that were hits; delayed hits left out.", "rate"),
    },
}


def metrics_of(part: str) -> dict[str, Metric]:
    """The metrics of a part of the path, by the end of their names.

    Args:
        part: A direction of a link, `link_0_down`; a leg, `leg_0`; or a cache, `cache_0`, by its place among the caches
            of the scenario.
    """
    called = part.replace("_", " ").capitalize()
    return {
        what: Metric(f"{part}_{what}", unit, f"{called}: {text}", kind)
        for what, (unit, text, kind) in _OF_A_PART[part.partition("_")[0]].items()
    }


_WITHIN = re.compile(r"within\s*\((.*)\)")


def within(limit: str) -> Metric:
    """The share of requests answered within a time: ``within(5 s)``.

    Failed requests and those cut off by the end of the run were not answered in time, however long it was.

    Args:
        limit: The time with its unit.

    Raises:
        ResultsError: It is no time.
    """
    time = quantity.read(f"within({limit}):", limit, "s", error=ResultsError)
    if time.base != "s" or time.number <= 0:
        units = ", ".join(quantity.units("s"))
        raise ResultsError(f"within({limit}): write a time above 0 with its unit ({units}), such as within(5 s)")
    text = quantity.write(time.number, "s")
    what = f"Share of `requests` whose last byte came within {text}; those that failed or were cut off did not."
    return Metric(f"within({text})", "1", what, "rate", within_s=float(time.number))


@functools.cache
def find_metric(name: str) -> Metric:
    """The metric of that name, of the run, a link, a leg or a cache, or a share `within` a time.

    Raises:
        ResultsError: There is none; the message names the nearest.
    """
    if name in METRICS:
        return METRICS[name]
    if in_time := _WITHIN.fullmatch(name):
        return within(in_time[1])
    of_part = _of_named_part(name)
    if name in of_part:
        return of_part[name]
    near = nearest(name, [*METRICS, *of_part, "within(5 s)"], 0.4)
    raise ResultsError(f"{name}: no such metric{f'; {near}?' if near else ''} (`farweb schema results` lists them)")


_PART = re.compile(r"(link|leg|cache)_\d+")


def is_of_part(name: str) -> bool:
    """True for the name of a metric of a link, a leg or a cache."""
    return _PART.match(name) is not None


def _of_named_part(name: str) -> dict[str, Metric]:
    """The metrics of the link, the leg or the cache that a name begins with."""
    if not (part := _PART.match(name)):
        return {}
    parts = [f"{part[0]}_up", f"{part[0]}_down"] if part[1] == "link" else [part[0]]
    return {metric.name: metric for each in parts for metric in metrics_of(each).values()}


def metrics_table() -> TableSpec:
    """The metrics as a description of columns, as `farweb schema` prints it.

    Link 0 down stands for all links, leg 0 and cache 0 for all legs and caches.
    Shares `within` a time are worked out for the times that are asked for, and are no columns.
    """
    parts = ("link_0_down", "leg_0", "cache_0")
    return {
        "name": "metrics",
        "description": "The metrics of a run: columns of the table `runs` of a sweep. Links and directions each have "
        "those of link 0 down, legs those of leg 0, caches those of cache 0. `within(5 s)`, with any time, is one more "
        "that `--metric`, `--target` and `--x` take: the share of requests answered in that time.",
        "columns": [
            {
                "name": metric.name,
                "type": "int64" if metric.whole else "float64",
                "unit": metric.unit,
                "nullable": True,
                "description": metric.description,
            }
            for metric in [*METRICS.values(), *(each for part in parts for each in metrics_of(part).values())]
        ],
    }


def group_of(name: str) -> str | None:
    """The group of requests that a metric, or the times it is made of, is about; None for all."""
    return next((group for group in GROUPS if name.startswith(f"{group}_")), None)


def restored(metrics: Mapping[str, Value]) -> dict[str, Value]:
    """Metrics that were JSON, which has no infinity: a quantile that is null though there were requests is infinite."""
    found = dict(metrics)
    for name, value in metrics.items():
        group = group_of(name)
        asked = metrics.get(f"{group}_requests" if group else "requests")
        if value is None and asked and name in METRICS and METRICS[name].kind == "quantile":
            found[name] = math.inf
    return found


_WORDS = {
    "failed_share": "failed share",
    "sample_failed_share": "failed share of the sample",
    "visit_first_failed_share": "failed share of visits' first requests",
    "visit_later_failed_share": "failed share of visits' later requests",
    "goodput_bps": "goodput",
    "offered_bps": "offered load",
    "presented_bps": "presented load",
    "carried_bps": "throughput, link 0 down",
    "carried_up_bps": "throughput, link 0 up",
    "queue_bytes_mean": "mean queue",
    "queue_bytes_max": "peak of the queue",
    "connections_open_mean": "connections open, mean",
    "connections_open_max": "connections open, most at a time",
}
_OF_LEG = re.compile(r"leg_(\d+)_(\w+)_(mean|max)")
_ON_LEG = {
    "open": "connections open on leg {}",
    "busy": "busy connections of leg {}",
    "requests": "requests on leg {}",
    "connection_requests": "requests on a connection of leg {}",
}
_TIMES = {
    "latency": "latency",
    "first_byte": "time to the first byte",
    "acked": "time to the last ACK",
    "sample_latency": "latency of the sample",
    "visit_first_latency": "latency of visits' first requests",
    "visit_later_latency": "latency of visits' later requests",
}
_OF_TIMES = re.compile(rf"({'|'.join(_TIMES)})_(mean|max|p\d+)_s")
_STATISTICS = {"mean": "mean {}", "max": "longest {}", "p50": "median {}"}


def words(metric: Metric) -> str:
    """Name of a metric on an axis, without its unit: `latency_p90_s` is ``90th percentile of latency``."""
    if metric.within_s is not None:
        return f"share answered {metric.name.replace('(', ' ').rstrip(')')}"
    if times := _OF_TIMES.fullmatch(metric.name):
        what, statistic = _TIMES[times[1]], times[2]
        return _STATISTICS.get(statistic, f"{statistic[1:]}th percentile of {{}}").format(what)
    if of_leg := _OF_LEG.fullmatch(metric.name):
        return f"{_ON_LEG[of_leg[2]].format(of_leg[1])}, {'mean' if of_leg[3] == 'mean' else 'most at a time'}"
    plain = metric.name.removesuffix({"s": "_s", "bit/s": "_bps"}.get(metric.unit, "")).replace("_", " ")
    return _WORDS.get(metric.name, plain)


def base_unit(metric: Metric) -> str:
    """Its unit on an axis; a ratio has none."""
    return "" if metric.unit == "1" else metric.unit
