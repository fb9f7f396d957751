"""Counts of a run's requests and distributions of their times, from passes over the table of them.

Memory is the same for any number of requests; `farweb.results.requests` has their times in memory.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farweb.files.parquet import Table, equals
from farweb.results.metrics import group_of
from farweb.results.requests import TIMES, Counts, Times, members
from farweb.statistics.quantiles import between, observed, places
from farweb.statistics.selection import Selection

_NS = 1e9


@dataclass(frozen=True)
class Distribution:
    """Times in s of the requests after the warm-up.

    Attributes:
        n: Requests that ended.
        mean: Of those; None of none, as `largest`.
        quantiles: Of all requests: one that did not end counts as slower than any that did; None of none.
        observed: The smallest times that at least as large shares of all requests took at most; None of none.
        largest: Of finished requests.
    """

    n: int
    mean: float | None
    quantiles: tuple[float | None, ...]
    observed: tuple[float | None, ...]
    largest: float | None


def distributions(table: Table, warmup_ns: int, shares: Sequence[float]) -> tuple[Counts, dict[str, Distribution]]:
    """Count the requests of a table, and find the distributions of their `TIMES`.

    Args:
        table: The table, which is read some four times.
        warmup_ns: Requests that start before are left out.
        shares: The quantiles, 0 to 1.

    Raises:
        ResultsError: It is damaged.
    """
    counts, times = Counts(warmup_ns), {name: _Times() for name in TIMES}
    for columns in table.columns(list(dict.fromkeys((*Counts.columns, *Times.columns)))):
        counts.add(columns)
        for name, ended in _ended_ns(columns, warmup_ns).items():
            times[name].add(ended)
    lost = {name: counts.lost(group_of(name)) for name in TIMES}
    searches = {name: of.search(lost[name], shares) for name, of in times.items()}
    for _ in range(max(search.passes for search in searches.values())):
        for columns in table.columns(Times.columns):
            for name, ended in _ended_ns(columns, warmup_ns).items():
                searches[name].add(ended)
        for search in searches.values():
            search.turn()
    return counts, {name: of.distribution(lost[name], shares, searches[name]) for name, of in times.items()}


def _ended_ns(columns: Mapping[str, Any], warmup_ns: int) -> dict[str, NDArray[np.int64]]:
    """Times of the requests that ended, by their names in `TIMES`."""
    start = columns["start_ns"]
    ended, groups = equals(columns["status"], "done") & (start >= warmup_ns), members(columns)
    first_byte, latency = columns["first_byte_ns"] - start, columns["end_ns"] - start
    of_groups = {f"{group}_latency": latency[ended & of_it] for group, of_it in groups.items()}
    return {"latency": latency[ended], "first_byte": first_byte[ended], **of_groups}


class _Times:
    """Summary of times in ns from the first pass."""

    def __init__(self) -> None:
        self._n = self._total = self._low = self._high = 0

    def add(self, times: NDArray[np.int64]) -> None:
        if not times.size:
            return
        low, high = int(times.min()), int(times.max())
        self._low, self._high = (min(self._low, low), max(self._high, high)) if self._n else (low, high)
        self._n += times.size
        self._total += int(times.sum())

    def search(self, lost: int, shares: Sequence[float]) -> Selection:
        """Look for what the quantiles lie between, as far as those ended."""
        every = (*places(self._n + lost, shares)[:2], observed(self._n + lost, shares))
        return Selection(self._low, self._high, (place for each in every for place in each if place < self._n))

    def distribution(self, lost: int, shares: Sequence[float], search: Selection) -> Distribution:
        """The distribution, when the search has ended."""
        if not self._n + lost:
            return Distribution(0, None, (None,) * len(shares), (None,) * len(shares), None)
        below, above, part = places(self._n + lost, shares)
        lower, upper, at_most = (
            np.array([search.found.get(place, np.inf) for place in each])
            for each in (below, above, observed(self._n + lost, shares))
        )
        quantiles, reached = (tuple((each / _NS).tolist()) for each in (between(lower, upper, part), at_most))
        if not self._n:
            return Distribution(0, None, quantiles, reached, None)
        return Distribution(self._n, self._total / self._n / _NS, quantiles, reached, self._high / _NS)
