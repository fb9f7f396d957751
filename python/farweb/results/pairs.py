"""The same requests in two runs: pairs by request number, each with its latency on either side.

Requests are the same when number, host, start and sizes are. Those that start before the longer of the two warm-ups are
left out. A request that did not end has an infinite latency: where it ended on the other side, it is slower here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from farweb.errors import ResultsError

if TYPE_CHECKING:
    from farweb.results.run import RunTables

Floats = NDArray[np.float64]

Read = Callable[["RunTables", int, pl.Expr], pl.DataFrame]
"""A way to read the requests of a run, with the arguments of `requests_of`."""

SAME = ("host", "start_ns", "request_bytes", "response_bytes")
"""Columns in which requests of the same number are equal where they are the same requests."""

VISIT = ("first", "later")
"""Values of the column `visit_request`."""

_NS = 1e9


@dataclass(frozen=True)
class Pairs:
    """The requests of two runs, by start.

    Attributes:
        requests: Their numbers.
        size: Sizes of the responses, in B.
        base: Latency at the base in s; infinite of those that did not end.
        other: Latency in the other run.
        visit: Place in `VISIT` of those that begin a visit or follow in one; beyond it where no client is named.
    """

    requests: NDArray[np.int64]
    size: NDArray[np.int64]
    base: Floats
    other: Floats
    visit: NDArray[np.int8]

    are_pairs: ClassVar[bool] = True

    def cut(self, number: int) -> "list[Pairs]":
        """Consecutive ones, in parts of the same number, give or take one."""
        columns = (self.requests, self.size, self.base, self.other, self.visit)
        return [Pairs(*part) for part in zip(*(np.array_split(column, number) for column in columns), strict=True)]

    def of_visits(self, place: int) -> "Pairs":
        """Those that begin a visit, 0, or those that follow in one, 1."""
        chosen = self.visit == place
        columns = (self.requests, self.size, self.base, self.other, self.visit)
        return Pairs(*(column[chosen] for column in columns))

    @property
    def differences(self) -> Floats:
        """Other less base, in s: infinite where one of the two did not end, 0 where neither did."""
        neither = np.isinf(self.base) & np.isinf(self.other)
        return np.subtract(self.other, self.base, out=np.zeros_like(self.base), where=~neither)


@dataclass(frozen=True)
class Sides:
    """The latencies of two runs of different requests, each by start.

    Attributes:
        base: Latency at the base in s; infinite of requests that did not end.
        other: Latency in the other run; not as many.
    """

    base: Floats
    other: Floats

    are_pairs: ClassVar[bool] = False

    def cut(self, number: int) -> "list[Sides]":
        """Parts of either side, each of the same number of its requests, give or take one."""
        sides = (np.array_split(side, number) for side in (self.base, self.other))
        return [Sides(*part) for part in zip(*sides, strict=True)]


def pair(base: "RunTables", other: "RunTables", rows: pl.Expr, read: Read | None = None) -> Pairs:
    """Pair requests of two runs, in the rows that are asked for.

    Args:
        base: A run.
        other: The run against it.
        rows: Which requests.
        read: Reads them; `requests_of` when left out.

    Raises:
        ResultsError: They are not the same; the message names the first that differs, and in what.
    """
    warmup_ns = max(base.warmup_ns, other.warmup_ns)
    first, second = ((read or requests_of)(each, warmup_ns, rows) for each in (base, other))
    if len(first) != len(second) or (first["request"] != second["request"]).any():
        alone = set(first["request"].to_list()) ^ set(second["request"].to_list())
        number = min(alone)
        has, lacks = (base, other) if number in first["request"] else (other, base)
        raise ResultsError(
            f"{other.path}: its {len(second):,} requests are not the {len(first):,} of {base.path}: {has.path} has "
            f"request {number}, {lacks.path} has not; only runs of the same requests can be compared"
        )
    for name in () if first.select(SAME).equals(second.select(SAME)) else SAME:
        differ = first[name].ne_missing(second[name])
        if differ.any():
            place = int(differ.arg_true()[0])
            raise ResultsError(
                f"{other.path}: request {first['request'][place]} has the {name} {second[name][place]}, in {base.path} "
                f"{first[name][place]}; only runs of the same requests can be compared"
            )
    order = first["start_ns"].arg_sort()  # in the order of numbers where starts are equal
    columns = (first["request"], first["response_bytes"], first["latency_s"], second["latency_s"], first["visit"])
    return Pairs(*(column.gather(order).to_numpy() for column in columns))


def requests_of(results: "RunTables", warmup_ns: int, rows: pl.Expr, to: str = "end_ns") -> pl.DataFrame:
    """Requests of a run after the warm-up, in the rows that are asked for, by number.

    Args:
        results: The run.
        warmup_ns: Requests that start before are left out.
        rows: Which of the others.
        to: The column up to which `latency_s` counts.

    Raises:
        ResultsError: The table is damaged.
    """
    latency = pl.when(pl.col("status") == "done").then((pl.col(to) - pl.col("start_ns")) / _NS)
    since = results.scan("requests").filter(pl.col("start_ns") >= warmup_ns, rows)
    asked = pl.col("visit_request") if "visit_request" in since.collect_schema() else pl.lit(None, pl.String)
    visit = asked.replace_strict(
        {word: place for place, word in enumerate(VISIT)}, default=len(VISIT), return_dtype=pl.Int8
    )
    columns = since.select("request", *SAME, latency_s=latency.fill_null(float("inf")), visit=visit)
    return columns.sort("request").collect()


def read_once() -> Read:
    """A way to read that keeps what it has read: for runs that stand in many pairs, always with the same rows."""
    kept: dict[tuple[Path, int], pl.DataFrame] = {}

    def read(results: "RunTables", warmup_ns: int, rows: pl.Expr) -> pl.DataFrame:
        key = results.path, warmup_ns
        if key not in kept:
            kept[key] = requests_of(results, warmup_ns, rows)
        return kept[key]

    return read


def beside(base: "RunTables", other: "RunTables", rows: pl.Expr, read: Read | None = None) -> Sides:
    """The latencies of two runs whose requests are not the same; see `pair`."""
    warmup_ns = max(base.warmup_ns, other.warmup_ns)
    both = ((read or requests_of)(each, warmup_ns, rows).sort("start_ns", "request") for each in (base, other))
    return Sides(*(requests["latency_s"].to_numpy() for requests in both))
