"""The metrics of a run: the numbers that a sweep keeps of each run, and that statistics are made of.

Requests that start before the end of the scenario's `run.warmup` count in `left_out` and in nothing else. Rates,
utilisation, queues and what legs held are those of the measured interval (`run.measure`); counters of the simulation
are of the whole run.

A request that failed, or that the end of the run cut off, counts in quantiles as slower than any that ended
(`farweb.statistics.quantiles`): one that falls among them is infinite, and null in JSON. Means and maxima are of the
requests that ended, which says nothing of the others; `failed_share` has how many they are.
"""

import functools
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from farweb.errors import ResultsError
from farweb.files.columns import NULL_INT, Column, results_tables
from farweb.files.parquet import equals, read_columns
from farweb.results.caches import ratios
from farweb.statistics.quantiles import quantiles, with_lost
from farweb.text import parse as quantity

if TYPE_CHECKING:
    from farweb.files.columns import TableSpec
    from farweb.results.run import RunTables

Kind = Literal["count", "mean", "quantile", "maximum", "rate"]
Value = int | float | None

_NS = 1e9
SAMPLE = "sample"  # the tag of requests that are measured in every run
DEFINITION = 2
"""Number of what the metrics mean: with another one the same run has other values. 2: quantiles count failures."""


@dataclass(frozen=True)
class Metric:
    """A number that every run has.

    Attributes:
        name: Its column; the unit stands at the end.
        unit: As the metadata of columns has it; empty for a number of things.
        description: What exactly it is.
        kind: Which statistics suit it. A quantile's interval comes from the requests of all replications (bootstrap),
            that of all others from their values in each run (Student).
        of_ended: Whether it is a mean or maximum of requests that ended, so that runs in which other shares failed
            cannot be ranked by it.
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
        """Whether it is a whole number."""
        return self.kind == "count" or self.name.endswith("queue_bytes_max") or _is_peak_of_leg(self.name)


def _times(name: str, what: str, shares: Iterable[int]) -> list[Metric]:
    of = f"from the request at the first node to the {what} byte of its response there"
    return [
        Metric(f"{name}_mean_s", "s", f"Mean time {of}; finished requests only.", "mean", of_ended=True),
        *(
            Metric(
                f"{name}_p{share}_s",
                "s",
                f"Time within which {share} % of all requests had it, {of}. Linear between the two nearest values; "
                "those that failed or were cut off count as slower than any that ended, and it is infinite among them.",
                "quantile",
            )
            for share in shares
        ),
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
    Metric("sample_requests", "", f"Requests tagged `{SAMPLE}` that start after the warm-up.", "count"),
    Metric(
        "sample_latency_mean_s",
        "s",
        f"Mean time to the last byte of requests tagged `{SAMPLE}`; finished.",
        "mean",
        of_ended=True,
    ),
    Metric(
        "sample_latency_p50_s",
        "s",
        f"Time within which 50 % of all requests tagged `{SAMPLE}` had the last byte; as `latency_p50_s`.",
        "quantile",
    ),
    Metric("response_bytes", "B", "Responses of finished requests, headers included.", "count"),
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
    Metric("drops", "", f"Packets dropped by all links {_INTERVAL}, by full queues or loss processes.", "count"),
    Metric("loss_ratio", "1", f"`drops` over packets offered to links (dropped or transmitted) {_INTERVAL}.", "rate"),
    Metric(
        "retransmits",
        "",
        "Segments sent again, by either end of the first leg's connection, while it carried a request.",
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
"""The metrics that every run has, in the order of their columns; those of each link follow them (`link_metrics`), then
those of each leg (`leg_metrics`) and of each cache (`cache_metrics`)."""

_OF_A_LINK = {
    "bps": ("bit/s", "IP bits carried {}, over its length.", "rate"),
    "utilisation": ("1", "Share of time in which it was transmitting {}.", "rate"),
    "queue_bytes_mean": ("B", "Time-weighted mean of the bytes queued {}.", "mean"),
    "queue_bytes_max": ("B", "Peak of the bytes queued {}.", "maximum"),
    "drops": ("", "Packets dropped {}, by the full queue or the loss process.", "count"),
}
_LINK_NAME = re.compile(r"link_(\d+)_(up|down)_(" + "|".join(_OF_A_LINK) + ")")

_OF_A_LEG = {
    column["name"]: column
    for column in results_tables()["legs"]["columns"]
    if column["name"] not in ("leg", "time_ns", "interval_ns")
}
_LEG_NAME = re.compile(r"leg_(\d+)_(" + "|".join(_OF_A_LEG) + ")")

_OF_A_CACHE = {
    "requests": ("", "Requests that came to it after the warm-up, up to the end of the run.", "count"),
    "hit_ratio": ("1", "Share of them that it served from what it held; delayed hits left out.", "rate"),
    "delayed_hit_ratio": ("1", "Share of them that it served from a fetch that was under way.", "rate"),
    "byte_hit_ratio": ("1", "Share of the response bytes asked for that were hits; delayed hits left out.", "rate"),
}
_PART = re.compile(r"(link|leg|cache)_(\d+)")
_CACHE_NAME = re.compile(r"cache_(\d+)_(" + "|".join(_OF_A_CACHE) + ")")


def _is_peak_of_leg(name: str) -> bool:
    return _LEG_NAME.fullmatch(name) is not None and name.endswith("_max")


def link_metrics(link: int, direction: str) -> list[Metric]:
    """The metrics of a direction of a link: `link_0_down_bps` and its like."""
    return [
        Metric(f"link_{link}_{direction}_{what}", unit, f"Link {link} {direction}: {text.format(_INTERVAL)}", kind)  # type: ignore[arg-type]
        for what, (unit, text, kind) in _OF_A_LINK.items()
    ]


def leg_metrics(leg: int) -> list[Metric]:
    """The metrics of a leg, the columns of the table `legs`: `leg_0_open_mean` and its like."""
    kinds: dict[str, Kind] = {"mean": "mean", "max": "maximum"}
    return [
        Metric(
            *(f"leg_{leg}_{name}", column["unit"]),
            f"Leg {leg}, {_INTERVAL}: {column['description']}",
            kinds[name.rpartition("_")[2]],
        )
        for name, column in _OF_A_LEG.items()
    ]


def cache_metrics(cache: int) -> list[Metric]:
    """The metrics of a cache, by its place among the caches of the scenario: `cache_0_hit_ratio` and its like."""
    return [
        Metric(f"cache_{cache}_{what}", unit, f"Cache {cache}: {text}", kind)  # type: ignore[arg-type]
        for what, (unit, text, kind) in _OF_A_CACHE.items()
    ]


_WITHIN = re.compile(r"within\s*\((.*)\)")


def within(limit: str) -> Metric:
    """The share of requests whose last byte came within a time: ``within(5 s)``.

    Requests that failed were not answered in time, however long it was; nor were those that the end of the run cut off.

    Args:
        limit: The time with its unit.

    Raises:
        ResultsError: It is no time.
    """
    try:
        time = quantity.parse(limit)
    except quantity.QuantityError as error:
        raise ResultsError(f"within({limit}): {error}") from None
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
    if of_link := _LINK_NAME.fullmatch(name):
        link, direction, _ = of_link.groups()
        return next(metric for metric in link_metrics(int(link), direction) if metric.name == name)
    if of_leg := _LEG_NAME.fullmatch(name):
        return next(metric for metric in leg_metrics(int(of_leg[1])) if metric.name == name)
    if of_cache := _CACHE_NAME.fullmatch(name):
        return next(metric for metric in cache_metrics(int(of_cache[1])) if metric.name == name)
    import difflib

    near = difflib.get_close_matches(name, [*METRICS, *_alike(name), "within(5 s)"], 1, 0.4)
    raise ResultsError(f"{name}: no such metric{f'; {near[0]}?' if near else ''} (`farweb schema results` lists them)")


def is_of_part(name: str) -> bool:
    """Whether a name begins as those of a link's, leg's or cache's metrics do."""
    return _PART.match(name) is not None


def _alike(name: str) -> list[str]:
    """The metrics of the link, the leg or the cache that a name begins with."""
    if not (begun := _PART.match(name)):
        return []
    number = int(begun[2])
    of = {
        "link": [metric for direction in ("up", "down") for metric in link_metrics(number, direction)],
        "leg": leg_metrics(number),
        "cache": cache_metrics(number),
    }
    return [metric.name for metric in of[begun[1]]]


def metrics_table() -> "TableSpec":
    """The metrics as a description of columns, as `farweb schema` prints it.

    Those of link 0 down stand for those of all links, those of leg 0 and cache 0 for those of all legs and caches.
    Shares `within` a time are worked out for the times that are asked for, and are no columns.
    """
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
            for metric in [*METRICS.values(), *link_metrics(0, "down"), *leg_metrics(0), *cache_metrics(0)]
        ],
    }


def measure(results: "RunTables", more: Iterable[Metric] = ()) -> dict[str, Value]:
    """The metrics of a run from its folder; see `Measurement.metrics`.

    Reads the columns that it needs, a row group at a time.

    Args:
        results: The run.
        more: Shares `within` a time that are measured too.

    Raises:
        ResultsError: The run has no measured interval, or a table is damaged.
    """
    if "measured" not in results.manifest:
        raise ResultsError(f"{results.path}: does not say what was measured: it is of an older farweb; run it again")
    measurement = Measurement(results.warmup_ns)
    for table, names in _MEASURED.items():
        file = results.path / f"{table}.parquet"
        if table == "requests" or file.is_file():
            measurement.begin(table)
            for columns in read_columns(file, names):
                measurement.add(table, columns)
    return measurement.metrics(results.manifest, more)


class Measurement:
    """Collects what metrics need of the tables of a run, as their rows come.

    Memory grows by some 50 bytes a request and 16 bytes a connection.

    Args:
        warmup_ns: Requests that start before are left out.
    """

    def __init__(self, warmup_ns: int) -> None:
        self._requests = _Requests(warmup_ns)
        self._connections: _Connections | None = None

    def begin(self, table: str) -> None:
        """Take note that the run has this table, if with no row."""
        if table == "connections" and self._connections is None:
            self._connections = _Connections()

    def add(self, table: str, columns: Mapping[str, Column]) -> None:
        """Take the next rows of a table; those of tables that no metric is made of are passed over."""
        if table == "requests":
            self._requests.add(columns)
        elif table == "connections":
            self.begin(table)
            assert self._connections is not None, "begin() has made it"
            self._connections.add(columns)

    def metrics(self, manifest: Mapping[str, Any], more: Iterable[Metric] = ()) -> dict[str, Value]:
        """The metrics in the order of `METRICS`, then those of links, legs and caches; None without a value.

        Results of a farweb that did not measure legs have no metrics of them.

        Args:
            manifest: That of the run, when all rows are there.
            more: Shares `within` a time that are measured too.
        """
        measured, now_ns = manifest["measured"], manifest["now_ns"]
        from_ns, to_ns = measured["from_ns"], measured["to_ns"]
        span_s = (to_ns - from_ns) / _NS
        presented = measured.get("presented_bytes")
        connections = self._connections
        found: dict[str, Value] = {
            **self._requests.metrics(from_ns, to_ns),
            "presented_bps": 8 * presented / span_s if presented is not None and span_s > 0 else None,
            **_path(measured["links"]),
            **(dict.fromkeys(_OPEN) if connections is None else connections.metrics(from_ns, to_ns, now_ns)),
            "simulated_s": now_ns / _NS,
            "measured_s": span_s,
            "events": manifest["events"],
            "packet_hops": manifest["packet_hops"],
        }
        each = {
            **_each_link(measured["links"]),
            **_each_leg(measured.get("legs", ())),
            **_each_cache(measured.get("caches", ())),
        }
        shares = {metric.name: self._requests.within(metric.within_s) for metric in more if metric.within_s is not None}
        return {**{name: found[name] for name in METRICS}, **each, **shares}


def restored(metrics: Mapping[str, Value]) -> dict[str, Value]:
    """Metrics that were JSON, which has no infinity: a quantile that is null though there were requests is infinite."""
    found = dict(metrics)
    for name, value in metrics.items():
        asked = metrics.get("sample_requests" if name.startswith("sample_") else "requests")
        if value is None and asked and name in METRICS and METRICS[name].kind == "quantile":
            found[name] = math.inf
    return found


_MEASURED = {
    "requests": (
        *("start_ns", "first_byte_ns", "end_ns", "acked_ns", "response_bytes", "retransmits", "timeouts", "status"),
        "tag",
    ),
    "connections": ("open_ns", "close_ns"),
}
"""The columns that metrics are made of, by table."""

_OPEN = ("connections", "connections_open_mean", "connections_open_max")


class _Requests:
    """What is counted and collected of the table of requests."""

    def __init__(self, warmup_ns: int) -> None:
        self._warmup_ns = warmup_ns
        self._counts = dict.fromkeys(
            (
                *("requests", "done", "failed", "unfinished", "left_out", "sample_requests", "response_bytes"),
                *("retransmits", "timeouts"),
            ),
            0,
        )
        self._start: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
        self._size: list[NDArray[np.int64]] = [np.empty(0, np.int64)]
        self._first_ns: int | None = None
        self._last_ns: int | None = None
        self._latency: list[NDArray[np.int64]] = []
        self._first_byte: list[NDArray[np.int64]] = []
        self._acked: list[NDArray[np.int64]] = []
        self._sample: list[NDArray[np.int64]] = []

    def add(self, columns: Mapping[str, Any]) -> None:
        start, size = columns["start_ns"], columns["response_bytes"]
        self._start.append(start)
        self._size.append(size)
        counted = start >= self._warmup_ns
        tag = columns.get("tag")
        sample = counted & equals(tag, SAMPLE) if tag is not None else np.zeros_like(counted)
        done = counted & equals(columns["status"], "done")
        found = {
            "requests": counted.sum(),
            "left_out": (~counted).sum(),
            "done": done.sum(),
            **{status: (counted & equals(columns["status"], status)).sum() for status in ("failed", "unfinished")},
            "sample_requests": sample.sum(),
            "response_bytes": size[done].sum(),
            **{name: columns[name][counted].sum() for name in ("retransmits", "timeouts")},
        }
        for name, value in found.items():
            self._counts[name] += int(value)
        if counted.any():
            first = int(start[counted].min())
            self._first_ns = first if self._first_ns is None else min(self._first_ns, first)
        if done.any():
            end = columns["end_ns"]
            last = int(end[done].max())
            self._last_ns = last if self._last_ns is None else max(self._last_ns, last)
            self._latency.append((end - start)[done])
            self._first_byte.append((columns["first_byte_ns"] - start)[done])
            self._sample.append((end - start)[done & sample])
            if "acked_ns" in columns:  # tables of an older farweb lack it
                acked = columns["acked_ns"]
                self._acked.append((acked - start)[done & (acked >= start)])

    def within(self, limit_s: float) -> float | None:
        """The share of requests that were answered within a time."""
        if not self._counts["requests"]:
            return None
        answered = sum(int((times <= round(limit_s * _NS)).sum()) for times in self._latency)
        return answered / self._counts["requests"]

    def metrics(self, from_ns: int, to_ns: int) -> dict[str, Value]:
        span_s = (to_ns - from_ns) / _NS
        start = np.concatenate(self._start)
        offered_bytes = int(np.concatenate(self._size)[(start >= from_ns) & (start < to_ns)].sum())
        number, done = self._counts["requests"], self._counts["done"]
        lost = number - done
        lost_sample = self._counts["sample_requests"] - sum(map(len, self._sample))
        return {
            **self._counts,
            "failed_share": lost / number if number else None,
            **_distribution("latency", self._latency, lost),
            **_distribution("first_byte", self._first_byte, lost),
            **_distribution("acked", self._acked, 0),
            **_distribution("sample_latency", self._sample, lost_sample),
            "goodput_bps": goodput_bps(self._counts["response_bytes"], self._first_ns, self._last_ns),
            "offered_bps": 8 * offered_bytes / span_s if span_s > 0 else None,
        }


def _distribution(name: str, parts: list[NDArray[np.int64]], lost: int) -> dict[str, Value]:
    """Mean, quantiles and maximum of times in ns, in s, as far as there are metrics of them; `lost` never ended."""
    shares = {f"{name}_p{share}_s": share / 100 for share in (50, 90, 95, 99) if f"{name}_p{share}_s" in METRICS}
    times = np.concatenate(parts) if parts else np.empty(0, np.int64)
    found = quantiles(with_lost(times, lost), list(shares.values()))
    values = [float(times.mean()) if times.size else None, *found, float(times.max()) if times.size else None]
    names = [f"{name}_mean_s", *shares, f"{name}_max_s"]
    return {name: None if value is None else value / _NS for name, value in zip(names, values, strict=True)}


def _path(links: Iterable[Mapping[str, Any]]) -> dict[str, Value]:
    """What all links did together."""
    links = list(links)
    drops = sum(link["drops"] for link in links)
    offered = drops + sum(link["packets"] for link in links)
    carried = {link["direction"]: carried_bps(link) for link in links if link["link"] == 0}
    return {
        "carried_bps": carried.get("down"),
        "carried_up_bps": carried.get("up"),
        "utilisation": max((float(link["busy"]) for link in links), default=None),
        "queue_bytes_mean": max((float(link["queue_bytes_mean"]) for link in links), default=None),
        "queue_bytes_max": max((link["queue_bytes_max"] for link in links), default=None),
        "drops": drops,
        "loss_ratio": drops / offered if offered else None,
    }


def _each_link(links: Iterable[Mapping[str, Any]]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for link in links:
        values = (
            *(carried_bps(link), float(link["busy"]), float(link["queue_bytes_mean"]), link["queue_bytes_max"]),
            link["drops"],
        )
        metrics = link_metrics(link["link"], link["direction"])
        found |= {metric.name: value for metric, value in zip(metrics, values, strict=True)}
    return found


def _each_leg(legs: Iterable[Mapping[str, Any]]) -> dict[str, Value]:
    return {f"leg_{leg['leg']}_{what}": leg[what] for leg in legs for what in _OF_A_LEG}


def _each_cache(caches: Iterable[Mapping[str, Any]]) -> dict[str, Value]:
    found: dict[str, Value] = {}
    for cache in caches:
        of = {"requests": cache["requests"], **ratios(cache)}
        found |= {f"cache_{cache['cache']}_{what}": of[what] for what in _OF_A_CACHE}
    return found


def goodput_bps(response_bytes: int, first_ns: int | None, last_ns: int | None) -> float | None:
    """Bits of responses over the time from the first start to the last end; None where that is no time."""
    if first_ns is None or last_ns is None or last_ns <= first_ns:
        return None
    return 8 * response_bytes / ((last_ns - first_ns) / _NS)


def carried_bps(link: Mapping[str, Any]) -> float | None:
    """Bits that a direction of a link carried, over the length of the interval; None where that is no time."""
    span_s = link["interval_ns"] / _NS
    return 8 * link["bytes"] / span_s if span_s > 0 else None


class _Connections:
    """What is counted and collected of the table of connections."""

    def __init__(self) -> None:
        self._open = [np.empty(0, np.int64)]
        self._close = [np.empty(0, np.int64)]

    def add(self, columns: Mapping[str, Any]) -> None:
        self._open.append(columns["open_ns"])
        self._close.append(columns["close_ns"])

    def metrics(self, from_ns: int, to_ns: int, now_ns: int) -> dict[str, Value]:
        """How many connections there were, and how many were open at a time in the measured interval.

        Those that are open at the end, at `now_ns`, close then.
        """
        opened, closed = np.concatenate(self._open), np.concatenate(self._close)
        closed = np.where(closed == NULL_INT, now_ns, closed)
        if to_ns <= from_ns:
            return {**dict.fromkeys(_OPEN), "connections": opened.size}
        within = (opened < to_ns) & (closed > from_ns)
        begin, end = np.maximum(opened[within], from_ns), np.minimum(closed[within], to_ns)
        # One that closes at the moment when another opens was not open beside it.
        mean = float((end - begin).sum() / (to_ns - from_ns))
        begin.sort()
        end.sort()
        most = int((np.arange(1, begin.size + 1) - np.searchsorted(end, begin, "right")).max(initial=0))
        return dict(zip(_OPEN, (opened.size, mean, most), strict=True))
