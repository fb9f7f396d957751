"""Measurement of a run's metrics from its tables and its manifest."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from farweb.files.columns import NULL_INT, Column
from farweb.results.metrics import GROUPS, METRICS, Metric, Value, metrics_of
from farweb.results.requests import QUANTILES, Requests
from farweb.results.run import RunTables
from farweb.results.totals import carried_bps, ratios

_NS = 1e9


def measure(results: RunTables, more: Iterable[Metric] = ()) -> dict[str, Value]:
    """Measure the metrics of a run from its folder; see `Measurement.metrics`.

    Args:
        results: The run.
        more: Shares `within` a time that are measured too.

    Raises:
        ResultsError: The run has no measured interval, or a table is damaged.
    """
    measurement = Measurement(results.warmup_ns)
    measurement.requests.read(results.table("requests"))
    if results.has("connections"):
        measurement.begin("connections")
        for columns in results.table("connections").columns(("open_ns", "close_ns")):
            measurement.add("connections", columns)
    return measurement.metrics(results.manifest, more)


class Measurement:
    """Collects what metrics need of the tables of a run, as their rows come.

    Memory grows like `Requests`, and by 16 bytes a connection.

    Args:
        warmup_ns: Requests that start before are left out.
    """

    def __init__(self, warmup_ns: int) -> None:
        self.requests = Requests(warmup_ns)
        self._connections: _Connections | None = None

    def begin(self, table: str) -> None:
        """Take note that the run has this table, if with no row."""
        if table == "connections" and self._connections is None:
            self._connections = _Connections()

    def add(self, table: str, columns: Mapping[str, Column]) -> None:
        """Take the next rows of a table; tables without a metric are passed over."""
        if table == "requests":
            self.requests.add(columns)
        elif table == "connections":
            self.begin(table)
            assert self._connections is not None, "begin() has made it"
            self._connections.add(columns)

    def metrics(self, manifest: Mapping[str, Any], more: Iterable[Metric] = ()) -> dict[str, Value]:
        """The metrics in the order of `METRICS`, then of links, legs and caches; None without a value.

        Args:
            manifest: The run's, when all rows are there.
            more: Shares `within` a time that are measured too.
        """
        measured, now_ns = manifest["measured"], manifest["now_ns"]
        from_ns, to_ns = measured["from_ns"], measured["to_ns"]
        span_s = (to_ns - from_ns) / _NS
        connections = self._connections
        found: dict[str, Value] = {
            **_of_requests(self.requests),
            "offered_bps": _rate(self.requests.offered_bytes(from_ns, to_ns), span_s),
            "presented_bps": _rate(measured["presented_bytes"], span_s),
            "tunnel_share": tunnel_share(measured),
            **_path(measured["links"]),
            **(dict.fromkeys(_OPEN) if connections is None else connections.metrics(from_ns, to_ns, now_ns)),
            "simulated_s": now_ns / _NS,
            "measured_s": span_s,
            "events": manifest["events"],
            "packet_hops": manifest["packet_hops"],
        }
        shares = {metric.name: self.requests.within(metric.within_s) for metric in more if metric.within_s is not None}
        return {**{name: found[name] for name in METRICS}, **_parts(measured), **shares}


def _rate(size: int, span_s: float) -> float | None:
    """Bytes in bit/s; None over no time."""
    return 8 * size / span_s if span_s > 0 else None


def tunnel_share(measured: Mapping[str, Any]) -> float | None:
    """Share of the presented bytes in tunnels; None without any."""
    presented = measured["presented_bytes"]
    return measured["tunnel_bytes"] / presented if presented else None


def _of_requests(requests: Requests) -> dict[str, Value]:
    """The metrics of the table of requests."""
    counts = requests.counts
    found: dict[str, Value] = {**counts.of, "failed_share": counts.failed_share()}
    found |= {f"{group}_failed_share": counts.failed_share(group) for group in GROUPS}
    for of, shares in QUANTILES.items():
        names = (f"{of}_mean_s", *shares, f"{of}_max_s")
        found |= dict(zip(names, requests.distribution_s(of, list(shares.values())), strict=True))
    found["acked_mean_s"] = float(requests.acked_ns.mean()) / _NS if requests.acked_ns.size else None
    return {**found, "goodput_bps": counts.goodput_bps}


def _path(links: Sequence[Mapping[str, Any]]) -> dict[str, Value]:
    """Metrics of all links together."""
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


def _parts(measured: Mapping[str, Any]) -> dict[str, Value]:
    """Metrics of each direction of a link, each leg and each cache."""
    values: dict[str, Mapping[str, Any]] = {}
    for link in measured["links"]:
        of_link = {"bps": carried_bps(link), "utilisation": float(link["busy"])}
        of_link["queue_bytes_mean"] = float(link["queue_bytes_mean"])
        available = link.get("available_bytes") or 0
        of_link["used"] = link["bytes"] / available if available > 0 else None
        values[f"link_{link['link']}_{link['direction']}"] = {**link, **of_link}
    values |= {f"leg_{leg['leg']}": leg for leg in measured["legs"]}
    values |= {f"cache_{cache['cache']}": {**cache, **ratios(cache)} for cache in measured["caches"]}
    return {metric.name: of[what] for part, of in values.items() for what, metric in metrics_of(part).items()}


_OPEN = ("connections", "connections_open_mean", "connections_open_max")


class _Connections:
    """Counts and collects what metrics need of the table of connections."""

    def __init__(self) -> None:
        self._open = [np.empty(0, np.int64)]
        self._close = [np.empty(0, np.int64)]

    def add(self, columns: Mapping[str, Any]) -> None:
        self._open.append(columns["open_ns"])
        self._close.append(columns["close_ns"])

    def metrics(self, from_ns: int, to_ns: int, now_ns: int) -> dict[str, Value]:
        """Number of connections, and how many were open at a time in the measured interval.

        Connections open at the end, at `now_ns`, close then.
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
