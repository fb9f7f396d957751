"""The same requests in two runs: pairs by request number, each with its latency on either side.

Requests are the same when number, host, start and sizes are. Those that start before the longer of the two warm-ups are
left out. A request that did not end has an infinite latency: where it ended on the other side, it is slower here.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from farweb.errors import ResultsError

if TYPE_CHECKING:
    from farweb.results.run import RunTables
    from farweb.results.sweep import SweepTables

Floats = NDArray[np.float64]

_SAME = ("host", "start_ns", "request_bytes", "response_bytes")
_NS = 1e9


@dataclass(frozen=True)
class Pairs:
    """The requests of two runs, by start.

    Attributes:
        requests: Their numbers.
        size: Sizes of the responses, in B.
        base: Latency at the base in s; infinite of those that did not end.
        other: Latency in the other run.
    """

    requests: NDArray[np.int64]
    size: NDArray[np.int64]
    base: Floats
    other: Floats

    def cut(self, number: int) -> "list[Pairs]":
        """Consecutive ones, in parts of the same number, give or take one."""
        columns = (self.requests, self.size, self.base, self.other)
        return [Pairs(*part) for part in zip(*(np.array_split(column, number) for column in columns), strict=True)]

    @property
    def differences(self) -> Floats:
        """Other less base, in s: infinite where one of the two did not end, 0 where neither did."""
        neither = np.isinf(self.base) & np.isinf(self.other)
        return np.subtract(self.other, self.base, out=np.zeros_like(self.base), where=~neither)


def pair(base: "RunTables", other: "RunTables") -> Pairs:
    """Pair the requests of two runs.

    Raises:
        ResultsError: They are not the same; the message names the first that differs, and in what.
    """
    warmup_ns = max(base.warmup_ns, other.warmup_ns)
    first, second = (_requests(each, warmup_ns) for each in (base, other))
    if len(first) != len(second) or (first["request"] != second["request"]).any():
        alone = set(first["request"].to_list()) ^ set(second["request"].to_list())
        number = min(alone)
        has, lacks = (base, other) if number in first["request"] else (other, base)
        raise ResultsError(
            f"{other.path}: its {len(second):,} requests are not the {len(first):,} of {base.path}: {has.path} has "
            f"request {number}, {lacks.path} has not; only runs of the same requests can be compared"
        )
    for name in _SAME:
        differ = first[name].ne_missing(second[name])
        if differ.any():
            place = int(differ.arg_true()[0])
            raise ResultsError(
                f"{other.path}: request {first['request'][place]} has the {name} {second[name][place]}, in {base.path} "
                f"{first[name][place]}; only runs of the same requests can be compared"
            )
    order = first["start_ns"].arg_sort()  # in the order of numbers where starts are equal
    columns = (first["request"], first["response_bytes"], first["latency_s"], second["latency_s"])
    return Pairs(*(column.gather(order).to_numpy() for column in columns))


def _requests(results: "RunTables", warmup_ns: int) -> pl.DataFrame:
    """The requests of a run after the warm-up, by number."""
    latency = pl.when(pl.col("status") == "done").then((pl.col("end_ns") - pl.col("start_ns")) / _NS)
    since = results.scan("requests").filter(pl.col("start_ns") >= warmup_ns)
    return since.select("request", *_SAME, latency_s=latency.fill_null(float("inf"))).sort("request").collect()


def runs_of_points(
    sweep: "SweepTables", points: Sequence[Mapping[str, str]]
) -> list[tuple[list["RunTables"], list["RunTables"], list[int]]]:
    """Runs of a sweep to compare: with the first levels, and with each of the others, that differ in nothing else.

    Args:
        sweep: Which.
        points: Levels by factor, at least two; each names the same factors. Runs are paired that have the same levels
            of the other factors and the same replication.

    Returns:
        For each of the points but the first, the runs of the base, as many of the other, and their replications.

    Raises:
        FarwebError: There is no such factor or level.
        ResultsError: No two runs differ in these levels alone.
    """
    from farweb.plot.grouping import factor_index, select

    done = {
        (point, replication): run
        for point, replication, run, status in zip(
            sweep.points, sweep.runs["replication"], sweep.runs["run"], sweep.runs["status"], strict=True
        )
        if status == "done"
    }
    named = [{name: [level] for name, level in levels.items()} for levels in points]
    factors = {factor_index(sweep.design, name) for levels in points for name in levels}

    def by_rest(levels: Mapping[str, Sequence[str]]) -> dict[tuple[tuple[int, ...], int], str]:
        chosen = set(select(sweep.design, levels))
        return {
            (
                tuple(level for place, level in enumerate(sweep.design.points[point]) if place not in factors),
                number,
            ): run
            for (point, number), run in done.items()
            if point in chosen
        }

    base, *others = (by_rest(levels) for levels in named)
    found = []
    for levels, other in zip(points[1:], others, strict=True):
        both = [key for key in base if key in other]
        if not both:
            raise ResultsError(
                f"{sweep.path}: no two finished runs differ only in {_words(points[0])} and {_words(levels)}"
            )
        runs = [[sweep.part(side[key]) for key in both] for side in (base, other)]
        found.append((runs[0], runs[1], [replication for _, replication in both]))
    return found


def _words(levels: Mapping[str, str]) -> str:
    return " and ".join(f"{name}={level}" for name, level in levels.items())
