"""The same requests in two runs: pairs by request number, each with its latency on either side.

Requests are the same when number, host, start and sizes are. Requests before the end of the longer warm-up are
left out. A request that did not end has an infinite latency: where it ended on the other side, it is slower here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from farweb.errors import ResultsError
from farweb.files.parquet import equals
from farweb.results.run import RunTables

Floats = NDArray[np.float64]

Read = Callable[[RunTables, int, pl.Expr | None], dict[str, NDArray[Any]]]
"""A way to read the requests of a run, with the arguments of `requests_of`."""

SAME = ("host", "start_ns", "request_bytes", "response_bytes")
"""Columns in which requests of the same number are equal where they are the same requests."""

VISIT = ("first", "later")
"""Values of the column `visit_request`."""

_COLUMNS = {
    "request": np.int64,
    **dict.fromkeys(SAME, np.int64),
    "host": object,
    "latency_s": np.float64,
    "visit": np.int8,
}

_S = 1e-9  # Polars multiplies where a column is divided by 1e9: times equal the table's, to the last bit


@dataclass(frozen=True)
class Pairs:
    """The requests of two runs, by start.

    Attributes:
        requests: Their numbers.
        size: Sizes of the responses, in B.
        base: Latency at the base in s; infinite where it did not end.
        other: Latency in the other run.
        visit: Place in `VISIT` of requests that begin a visit or follow in one; beyond it where no client is named.
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
        """0 for requests that begin a visit, 1 for those behind."""
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


def pair(base: RunTables, other: RunTables, rows: pl.Expr | None = None, read: Read | None = None) -> Pairs:
    """Pair requests of two runs, in the rows that are asked for.

    Args:
        base: A run.
        other: The run against it.
        rows: Which requests; all when left out.
        read: Reads them; `requests_of` when left out.

    Raises:
        ResultsError: They are not the same; the message names the first that differs, and in what.
    """
    warmup_ns = max(base.warmup_ns, other.warmup_ns)
    first, second = ((read or requests_of)(each, warmup_ns, rows) for each in (base, other))
    if not np.array_equal(first["request"], second["request"]):
        number = np.setxor1d(first["request"], second["request"])[0]
        has, lacks = (base, other) if number in first["request"] else (other, base)
        raise ResultsError(
            f"{other.path}: its {second['request'].size:,} requests are not the {first['request'].size:,} of "
            f"{base.path}: {has.path} has request {number}, {lacks.path} has not; only runs of the same requests can "
            "be compared"
        )
    for name in SAME:
        if (differ := first[name] != second[name]).any():
            place = int(differ.argmax())
            raise ResultsError(
                f"{other.path}: request {first['request'][place]} has the {name} {second[name][place]}, in {base.path} "
                f"{first[name][place]}; only runs of the same requests can be compared"
            )
    order = np.argsort(first["start_ns"], kind="stable")  # in the order of numbers where starts are equal
    columns = (first["request"], first["response_bytes"], first["latency_s"], second["latency_s"], first["visit"])
    return Pairs(*(column[order] for column in columns))


def requests_of(
    results: RunTables, warmup_ns: int, rows: pl.Expr | None = None, to: str = "end_ns"
) -> dict[str, NDArray[Any]]:
    """Requests of a run after the warm-up, in the rows that are asked for, by number.

    NumPy reads all rows: a sweep has thousands of small tables, and Polars plans some milliseconds for each query.

    Args:
        results: The run.
        warmup_ns: Requests that start before are left out.
        rows: Which of the others; all when left out.
        to: The column up to which `latency_s` counts.

    Returns:
        The columns `request`, `SAME`, `latency_s` and `visit`, the place in `VISIT`.

    Raises:
        ResultsError: The table is damaged.
    """
    parts: list[dict[str, NDArray[Any]]] = [{name: np.empty(0, dtype) for name, dtype in _COLUMNS.items()}]
    names = list(dict.fromkeys(("request", *SAME, "status", "visit_request", to)))
    batch: Any
    for batch in results.table("requests").columns(names):
        late = batch["start_ns"] >= warmup_ns
        codes, hosts = batch["host"]
        places, words = batch["visit_request"]
        found = {
            **batch,
            "host": np.array([*hosts, None], object)[codes],
            "latency_s": np.where(equals(batch["status"], "done"), (batch[to] - batch["start_ns"]) * _S, np.inf),
            "visit": np.array([*map(VISIT.index, words), len(VISIT)], np.int8)[places],
        }
        parts.append({name: found[name][late] for name in _COLUMNS})
    whole = {name: np.concatenate([part[name] for part in parts]) for name in _COLUMNS}
    order = np.argsort(whole["request"], kind="stable")
    if rows is not None:
        asked = results.scan("requests").filter(rows).select("request").collect()["request"]
        order = order[np.isin(whole["request"][order], asked.to_numpy())]
    return {name: column[order] for name, column in whole.items()}


def read_once() -> Read:
    """A way to read each run once: for runs that stand in many pairs, always with the same rows."""
    kept: dict[tuple[Path, int], dict[str, NDArray[Any]]] = {}

    def read(results: RunTables, warmup_ns: int, rows: pl.Expr | None) -> dict[str, NDArray[Any]]:
        key = results.path, warmup_ns
        if key not in kept:
            kept[key] = requests_of(results, warmup_ns, rows)
        return kept[key]

    return read


def beside(base: RunTables, other: RunTables, rows: pl.Expr | None = None, read: Read | None = None) -> Sides:
    """The latencies of two runs of different requests; see `pair`."""
    warmup_ns = max(base.warmup_ns, other.warmup_ns)
    both = ((read or requests_of)(each, warmup_ns, rows) for each in (base, other))
    return Sides(*(each["latency_s"][np.argsort(each["start_ns"], kind="stable")] for each in both))
