"""Measurement of a run's metrics from its tables and its manifest."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from farweb.errors import ResultsError
from farweb.files.parquet import read_columns, whole_numbers
from farweb.results.metrics import METRICS, Metric, Value, metrics_of
from farweb.results.requests import QUANTILES, Requests
from farweb.results.totals import ratios

if TYPE_CHECKING:
    from farweb.results.run import RunTables

_NS = 1e9


def measure(results: "RunTables", more: Iterable[Metric] = ()) -> dict[str, Value]:
    """The metrics of a run, in the order of `METRICS`, then those of links, legs and caches; None without a value.

    Results of a farweb that did not measure legs have no metrics of them.

    Args:
        results: The run.
        more: Shares `within` a time that are measured too.

    Raises:
        ResultsError: The run has no measured interval, or a table is damaged.
    """
    manifest = results.manifest
    if "measured" not in manifest:
        raise ResultsError(f"{results.path}: does not say what was measured: it is of an older farweb; run it again")
    measured = manifest["measured"]
    from_ns, to_ns = measured["from_ns"], measured["to_ns"]
    requests = Requests(results.warmup_ns, from_ns, to_ns).read(results.file("requests"))
    span_s = (to_ns - from_ns) / _NS
    presented = measured.get("presented_bytes")
    found: dict[str, Value] = {
        **_of_requests(requests, span_s),
        "presented_bps": None if presented is None else _rate(presented, span_s),
        **_path(measured["links"]),
        **_connections(results, from_ns, to_ns),
        "simulated_s": manifest["now_ns"] / _NS,
        "measured_s": span_s,
        "events": manifest["events"],
        "packet_hops": manifest["packet_hops"],
    }
    shares = {metric.name: requests.within(metric.within_s) for metric in more if metric.within_s is not None}
    return {**{name: found[name] for name in METRICS}, **_parts(measured), **shares}


def _rate(size: int, span_s: float) -> float | None:
    """Bytes in bit/s; None over no time."""
    return 8 * size / span_s if span_s > 0 else None


def _of_requests(requests: Requests, span_s: float) -> dict[str, Value]:
    """The metrics of the table of requests."""
    found: dict[str, Value] = {**requests.counts, "failed_share": requests.failed_share}
    for of, shares in QUANTILES.items():
        names = (f"{of}_mean_s", *shares, f"{of}_max_s")
        found |= dict(zip(names, requests.distribution_s(of, list(shares.values())), strict=True))
    found["acked_mean_s"] = float(requests.acked_ns.mean()) / _NS if requests.acked_ns.size else None
    return {**found, "goodput_bps": requests.goodput_bps, "offered_bps": _rate(requests.offered_bytes, span_s)}


def _path(links: Sequence[Mapping[str, Any]]) -> dict[str, Value]:
    """Metrics of all links together."""
    drops = sum(link["drops"] for link in links)
    offered = drops + sum(link["packets"] for link in links)
    carried = {link["direction"]: _carried(link) for link in links if link["link"] == 0}
    return {
        "carried_bps": carried.get("down"),
        "carried_up_bps": carried.get("up"),
        "utilisation": max((float(link["busy"]) for link in links), default=None),
        "queue_bytes_mean": max((float(link["queue_bytes_mean"]) for link in links), default=None),
        "queue_bytes_max": max((link["queue_bytes_max"] for link in links), default=None),
        "drops": drops,
        "loss_ratio": drops / offered if offered else None,
    }


def _carried(link: Mapping[str, Any]) -> float | None:
    return _rate(link["bytes"], link["interval_ns"] / _NS)


def _parts(measured: Mapping[str, Any]) -> dict[str, Value]:
    """Metrics of each direction of a link, each leg and each cache."""
    values: dict[str, Mapping[str, Any]] = {}
    for link in measured["links"]:
        of_link = {"bps": _carried(link), "utilisation": float(link["busy"])}
        of_link["queue_bytes_mean"] = float(link["queue_bytes_mean"])
        values[f"link_{link['link']}_{link['direction']}"] = {**link, **of_link}
    values |= {f"leg_{leg['leg']}": leg for leg in measured.get("legs", ())}
    values |= {f"cache_{cache['cache']}": {**cache, **ratios(cache)} for cache in measured.get("caches", ())}
    return {metric.name: of[what] for part, of in values.items() for what, metric in metrics_of(part).items()}


def _connections(results: "RunTables", from_ns: int, to_ns: int) -> dict[str, Value]:
    """Number of connections, and how many were open at a time in the measured interval."""
    names = ("connections", "connections_open_mean", "connections_open_max")
    file = results.path / "connections.parquet"
    if not file.is_file():
        return dict.fromkeys(names)
    number, opens, closes = 0, [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for columns in read_columns(file, ("open_ns", "close_ns")):
        open_ns = whole_numbers(columns["open_ns"])
        number += open_ns.size
        close_ns = whole_numbers(columns["close_ns"].fill_null(results.manifest["now_ns"]))
        within = (open_ns < to_ns) & (close_ns > from_ns)
        opens.append(np.maximum(open_ns[within], from_ns))
        closes.append(np.minimum(close_ns[within], to_ns))
    begin, end = np.concatenate(opens), np.concatenate(closes)
    if to_ns <= from_ns:
        return {**dict.fromkeys(names), "connections": number}
    # One that closes at the moment when another opens was not open beside it.
    mean = float((end - begin).sum() / (to_ns - from_ns))
    begin.sort()
    end.sort()
    most = int((np.arange(1, begin.size + 1) - np.searchsorted(end, begin, "right")).max(initial=0))
    return dict(zip(names, (number, mean, most), strict=True))
