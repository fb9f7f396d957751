"""What the study reads off transfers: their latency to the last ACK, by source, in each run of a sweep.

Left out: the latency to the last byte, which is that of a user; the study does not report it. Requests that fill live
caches are not counted.
"""

import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farweb.errors import ResultsError
from farweb.reproduce.study import StudyResults

from .traces import FILLING

Floats = NDArray[np.float64]
Levels = Mapping[str, str | int]

PACKET = 512
SLOW, FAST = "10 / 10 / 10", "100 / 10 / 10"
RATE = "workload.speed"

RATES_MBIT = {SLOW: (10, 10, 10), FAST: (100, 10, 10)}
DELAYS_MS = (1, 5, 30)
_HEADER, _WINDOW = 40, 20
LINKS = {"child": 1, "parent": 2, "server": 3}
"""Links between each source and the clients."""
_MEASURED_FROM = {"live": FILLING, "policies": FILLING}
"""Number of the first request that is measured, by sweep; of the others all are."""


def _measured(sweep: str) -> Any:
    """Expression: a request is measured."""
    import polars as pl

    return pl.col("request") >= _MEASURED_FROM.get(sweep, 0)


@functools.lru_cache(maxsize=8)
def _runs(results: StudyResults, sweep: str) -> dict[tuple[frozenset[Any], str | None], list[dict[str, Any]]]:
    """Summarize runs by their levels and a source (None: all), in the order of replications."""
    import polars as pl

    swept = results.sweep(sweep)
    factors = [factor.name for factor in swept.design.factors]
    taken = pl.col("acked_ns") - pl.col("start_ns")
    statistics = [
        pl.len().alias("transfers"),
        pl.col("response_bytes").sum().alias("bytes"),
        taken.mean().alias("mean_s") / 1e9,
        taken.median().alias("median_s") / 1e9,
        taken.quantile(0.9, "linear").alias("p90_s") / 1e9,
        (pl.col("end_ns") - pl.col("start_ns")).mean().alias("delivered_s") / 1e9,
        (taken > 1e9).sum().alias("above 1 s"),
        (taken >= 6e9).sum().alias("from 6 s"),
        ((taken >= 6e9) & (taken < 6.1e9) & (pl.col("timeouts") > 0)).sum().alias("near 6 s"),
    ]
    used = ["acked_ns", "end_ns", "start_ns", "response_bytes", "timeouts"]
    rows = swept.scan("requests").filter(pl.col("status") == "done", _measured(sweep))
    rows = rows.select(*factors, "replication", *used, source=pl.col("served_by").cast(pl.String)).collect().lazy()
    keys = [*factors, "replication"]
    by_source = rows.group_by(*keys, "source").agg(statistics).collect()
    together = rows.group_by(*keys).agg(statistics).with_columns(source=pl.lit(None, pl.String)).collect()
    found: dict[tuple[frozenset[Any], str | None], list[dict[str, Any]]] = {}
    for row in pl.concat([by_source, together.select(by_source.columns)]).sort("replication").to_dicts():
        levels = frozenset((factor, row[factor]) for factor in factors)
        found.setdefault((levels, row["source"]), []).append(row)
    return found


def of_runs(results: StudyResults, sweep: str, what: str, levels: Levels, source: str | None = None) -> Floats:
    """A number of the runs of a point, by replication.

    Args:
        results: Of the study.
        sweep: Which.
        what: ``mean_s`` (to the last ACK), ``delivered_s`` (to the last byte), ``above 1 s`` and its like.
        levels: Of all factors of the sweep.
        source: Whose transfers; None: all.

    Raises:
        ResultsError: The sweep has no such run.
    """
    rows = _runs(results, sweep).get((frozenset(levels.items()), source))
    if rows is None:
        raise ResultsError(
            f"{results.path / sweep}: no run has {', '.join(f'{key} = {levels[key]}' for key in levels)}"
        )
    return np.array([row[what] for row in rows], float)


def of_case(
    results: StudyResults, what: str, case: str, rate: int, source: str | None = None, capacity: str = SLOW
) -> Floats:
    """A number of each of the workloads, for a case of the tables at an arrival rate; see `of_runs`."""
    return of_runs(results, "cases", what, {"case": case, RATE: rate, "capacity": capacity}, source)


def delayed_by_others(results: StudyResults, case: str, rate: int, source: str) -> list[Floats]:
    """How much longer each transfer takes than alone on the way, in s, by workload; links of 10 Mbit/s."""
    import polars as pl

    rows = (
        results.sweep("cases")
        .scan("requests")
        .filter(pl.col("case") == case, pl.col(RATE) == rate, pl.col("capacity") == SLOW)
        .select("replication", "source", "response_bytes", taken=pl.col("acked_ns") - pl.col("start_ns"))
        .collect()
        .filter(pl.col("source") == source)
    )
    found = []
    for (_,), own in rows.sort("replication").group_by("replication", maintain_order=True):
        packets = -(-own["response_bytes"].to_numpy() // PACKET)
        found.append((own["taken"].to_numpy() - alone_ns(source, int(packets.max()))[packets - 1]) / 1e9)
    return found


def of_transfers(results: StudyResults, sweep: str, levels: Levels) -> dict[str, dict[str, Any]]:
    """The transfers of the first replication at a point, by source: ``packets``, ``bits``, ``latency_s``.

    Raises:
        ResultsError: The sweep has no such run.
    """
    import polars as pl

    swept = results.sweep(sweep)
    runs = swept.runs.filter(pl.col("status") == "done", *(pl.col(factor) == level for factor, level in levels.items()))
    if runs.is_empty():
        raise ResultsError(f"{swept.path}: no run has {', '.join(f'{key} = {levels[key]}' for key in levels)}")
    rows = swept.part(runs.sort("replication")["run"][0]).requests.filter(_measured(sweep))
    found = {}
    for source in LINKS:
        own = rows.filter(pl.col("served_by") == source)
        size = own["response_bytes"].to_numpy()
        found[source] = {
            "packets": -(-size // PACKET),
            "bits": 8.0 * size,
            "latency_s": (own["acked_ns"] - own["start_ns"]).to_numpy() / 1e9,
            "latency_ns": (own["acked_ns"] - own["start_ns"]).to_numpy(),
        }
    return found


def latencies_s(results: StudyResults, sweep: str, levels: Levels) -> Floats:
    """The latency of all measured transfers at a point, all replications together, shortest first.

    Raises:
        ResultsError: The sweep has no such run.
    """
    import polars as pl

    swept = results.sweep(sweep)
    at = [pl.col(factor) == level for factor, level in levels.items()]
    rows = swept.scan("requests").filter(pl.col("status") == "done", _measured(sweep), *at)
    found = rows.select(taken=(pl.col("acked_ns") - pl.col("start_ns")) / 1e9).collect()["taken"].sort()
    if found.is_empty():
        raise ResultsError(f"{swept.path}: no run has {', '.join(f'{key} = {levels[key]}' for key in levels)}")
    return found.to_numpy()


@functools.cache
def alone_ns(
    source: str,
    most: int,
    rates_mbit: tuple[int, ...] = RATES_MBIT[SLOW],
    delays_ms: tuple[int, ...] = DELAYS_MS,
) -> NDArray[np.int64]:
    """How long transfers of 1 to `most` packets take to their last ACK when nothing else is on the way.

    Slow start sends 1, 2, 4, 8, 16 packets a round trip: k ACKs let out k + min(1 + k, 20) packets. Each link sends a
    packet when it has the whole of it and has sent the one before. What comes after a packet does not move its ACK, so
    that one long transfer has the times of all shorter ones.

    Args:
        source: Which says how many links there are.
        most: Packets of the longest; the first has 512 B on the wire, each other 40 B more, an ACK 40 B.
        rates_mbit: Of the links, from the clients on.
        delays_ms: Of the links, from the clients on.
    """
    links = LINKS[source]
    down = [(rates_mbit[link], delays_ms[link]) for link in reversed(range(links))]
    free_down, free_up = [0] * links, [0] * links
    acked: list[int] = []
    needed = 0
    for packet in range(most):
        while packet >= needed + min(1 + needed, _WINDOW):
            needed += 1
        sent = acked[needed - 1] if needed else 0
        there = _through(down, free_down, sent, PACKET if packet == 0 else PACKET + _HEADER)
        acked.append(_through(down[::-1], free_up, there, _HEADER))
    return np.array(acked)


def _through(links: list[tuple[int, int]], free: list[int], now: int, size: int) -> int:
    """When a packet that is there at `now`, in ns, has crossed links, each of which is free from a time on."""
    for link, (rate, delay) in enumerate(links):
        free[link] = max(now, free[link]) + 8_000 * size // rate
        now = free[link] + 1_000_000 * delay
    return now
