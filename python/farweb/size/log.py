"""Judges values by the requests of a log, the same in each replication, in blocks of its time.

Another seed repeats the log and says nothing about other requests: one run of a value is enough, and intervals come
from blocks of consecutive requests, as in `show` and `compare`. A numeric bound is compared with the interval of the
metric. A multiple of `best` is judged by pairs, against the best value tried, by the rule of
`farweb.judge.judgement` with the multiple as the margin: a worse value fails, one worse by at most the margin
passes. For `latency` alone all of the rule decides: a value fails where M is clear and beyond the margin, or failures
or the slowest are worse by it; all others pass. So a search and `farweb compare` never contradict each other.

Intervals are of the search's confidence each, and not of all verdicts together: each value is looked at once, and the
same blocks decide at all values. If larger values meet the target whenever smaller ones do, the answer's interval is
wrong only where the verdict at its true value would be.

Metrics that blocks do not have, such as the drops of a link, are judged by `farweb.size.judge`.
"""

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from farweb.judge.judged import Matched, is_long, judged
from farweb.judge.judgement import SHORT, Difference, Verdict, held_by
from farweb.judge.pairs import SAME, Pairs, Sides, read_once, requests_of
from farweb.judge.ranking import ranking
from farweb.judge.sentences import called, holders
from farweb.judge.units import Units
from farweb.judge.verdicts import MARGIN, MARGIN_BY_LEAST, MARGIN_BY_POINTS, SLOW, clear
from farweb.results.metrics import GROUPS, Metric, group_of
from farweb.results.requests import QUANTILES, TIMES
from farweb.results.run import RunTables
from farweb.size.target import Clause
from farweb.statistics.blocks import number_of_blocks
from farweb.statistics.intervals import Estimate, margin_of, resampled, resampled_means
from farweb.text.quantities import percents

Floats = NDArray[np.float64]
Ends = tuple[float | None, float | None, float | None]
Beside = Literal["ties", "within", "open"]
"""A value beside the best: shown to be equal, shown to be within the bound, or not told apart from it."""

_NONE: Ends = (None, None, None)


def change_of(ratio: Ends) -> Estimate:
    """The relative difference of a ratio, with its interval."""
    value, low, high = (None if each is None else each - 1 for each in ratio)
    return Estimate(1, value, None, low, high)


@dataclass(frozen=True)
class Asked:
    """Times of requests of a run.

    Attributes:
        same: Equal where the requests are the same.
        requests: Their numbers, by start.
        size: Sizes of the responses in B.
        times: Times in s, infinite for unfinished requests.
    """

    same: bytes
    requests: NDArray[np.int64]
    size: NDArray[np.int64]
    times: Floats


def times_of_metric(metric: Metric) -> str | None:
    """The times that a metric is made of, one of `TIMES`, or None where it is not made of times of requests."""
    for of in TIMES:
        if metric.name in QUANTILES.get(of, {}) or metric.name == f"{of}_mean_s":
            return of
    if metric.within_s is not None or metric.name == "failed_share":
        return "latency"
    group = group_of(metric.name)
    return f"{group}_latency" if group and metric.name == f"{group}_failed_share" else None


def asked_of(run: RunTables, metrics: Iterable[Metric]) -> dict[str, Asked]:
    """The times behind metrics, from the requests of a run, by their names in `TIMES`.

    Raises:
        ResultsError: A table is damaged.
    """
    found = {}
    for of in {times for metric in metrics if (times := times_of_metric(metric))}:
        column, word = GROUPS.get(group_of(of) or "", ("", ""))
        rows = pl.col(column) == word if column else None
        requests = requests_of(run, run.warmup_ns, rows, "first_byte_ns" if of == "first_byte" else "end_ns")
        same = hashlib.blake2b("\0".join(requests["host"]).encode())
        for name in ("request", *SAME[1:]):
            same.update(requests[name].tobytes())
        by_start = np.argsort(requests["start_ns"], kind="stable")
        found[of] = Asked(
            same.digest(), *(requests[name][by_start] for name in ("request", "response_bytes", "latency_s"))
        )
    return found


class OfLog:
    """Keeps the requests of each value, and judges it by blocks of them.

    Args:
        confidence: Of an interval.
    """

    def __init__(self, confidence: float) -> None:
        self._confidence = confidence
        self._asked: dict[int, Mapping[str, Asked]] = {}
        self._intervals: dict[tuple[str, int], Ends] = {}
        self._quantities: dict[tuple[str, int, int], Difference] = {}
        self._runs: dict[int, RunTables] = {}
        self._verdicts: dict[tuple[int, int], Verdict] = {}
        self._read = read_once()

    def add(self, position: int, asked: Mapping[str, Asked], run: RunTables | None = None) -> None:
        """Take the requests of a value's first run, and for the rule of verdicts the run itself."""
        self._asked.setdefault(position, asked)
        if run is not None:
            self._runs.setdefault(position, run)

    def judges(self, clause: Clause) -> bool:
        """True for a metric of requests, with enough of them at each value for blocks."""
        of = times_of_metric(clause.metric)
        return (
            of is not None
            and bool(self._asked)
            and (clause.by_rule or all(number_of_blocks(asked[of].times.size) > 1 for asked in self._asked.values()))
        )

    def best(self, clause: Clause, positions: Sequence[int]) -> int:
        """The best value by the rule of verdicts."""

        def judge(base: int, other: int) -> Verdict:
            return self._verdict(clause, positions[other], positions[base])

        return positions[ranking([str(each) for each in positions], judge).rows[0].place]

    @property
    def is_long(self) -> bool:
        """True for a log of a day or more."""
        return is_long(self._runs.values())

    @property
    def blocks(self) -> int:
        """Blocks of the log's time behind the intervals, the fewest of any value."""
        sizes = (asked.times.size for of_value in self._asked.values() for asked in of_value.values())
        return min(map(number_of_blocks, sizes), default=0)

    def holds_for(self, position: int | None) -> str:
        """Scope of a verdict on a value, and the few requests that decide it; empty where the rule judges nothing."""
        found = [each for both, each in self._verdicts.items() if position in both] or [*self._verdicts.values()]
        return " ".join([held_by(found), *(f"{few}." for few in holders(found[0]))]) if found else ""

    def holds(self, clause: Clause, position: int, rival: int | None) -> bool | None:
        """True where a value meets a clause, against its number or another value, or None where that is not shown."""
        if rival is None:
            mean, low, high = self.interval(clause, position)
            if mean is None or low is None or high is None:
                return None
            if clause.upper:
                return _holds(high, low, clause.bound, clause.strict)
            return _holds(-low, -high, -clause.bound, clause.strict)
        if clause.by_rule:
            verdict = self._verdict(clause, position, rival)
            is_open = verdict.few is not None and verdict.overall == "cannot be told apart"
            return None if is_open else not _is_worse(verdict)
        quantity = self._quantity(clause, position, rival)
        margin = self._margin(clause, quantity, rival)
        return replace(quantity, more_is_better=not clause.upper).is_good_enough(margin)

    def _margin(self, clause: Clause, quantity: Difference, best: int) -> float:
        """How far from the best a metric may be, as the rule takes it."""
        margin = abs(clause.bound - 1)
        return margin * (self.interval(clause, best)[0] or 0.0) * MARGIN_BY_POINTS if quantity.is_share else margin

    def interval(self, clause: Clause, position: int) -> Ends:
        """The metric at a value, with its interval."""
        key = clause.metric.name, position
        if key not in self._intervals:
            self._intervals[key] = self._measured(clause, position)
        return self._intervals[key]

    def _measured(self, clause: Clause, position: int) -> Ends:
        metric, asked = clause.metric, self._of(clause, position)
        parts = np.array_split(asked.times, number_of_blocks(asked.times.size))
        if metric.kind == "quantile":
            values = resampled(parts, QUANTILES[str(times_of_metric(metric))][metric.name])
        else:
            values = resampled_means([_counted(metric, part) for part in parts])
        mean = float(values[0])
        if len(parts) < 2:
            return mean, None, None
        if np.isinf(values).all():
            return mean, mean, mean
        if np.isinf(values).any():
            return mean, None, None
        if metric.unit == "s" and (values > 0).all():  # times differ by factors: no end below 0
            half = margin_of(np.log(values), len(parts), self._confidence)
            return mean, mean * math.exp(-half), mean * math.exp(half)
        half = margin_of(values, len(parts), self._confidence)
        return mean, mean - half, mean + half

    def ratio(self, clause: Clause, position: int, best: int) -> Ends:
        """The metric at a value over the metric at another, with its interval. Shares have none."""
        if clause.metric.unit == "1":
            return _NONE
        if position == best:
            return 1.0, 1.0, 1.0
        if clause.by_rule:
            change = self._verdict(clause, position, best).change
            value, low, high = change.value, change.low, change.high
        else:
            quantity = self._quantity(clause, position, best)
            value, low, high = quantity.value, quantity.low, quantity.high
        value, low, high = (None if each is None else 1 + each for each in (value, low, high))
        return _NONE if value is None else (value, low, high)

    def why(self, clause: Clause, position: int, best: int) -> tuple[str, str]:
        """What makes a value worse that is not so on average: in a table, and in a sentence; empty for others."""
        found = self._verdict(clause, position, best)
        if not _is_worse(found) or found.slices[0].word == "worse":
            return "", ""
        slow = next((each for each in found.slices if each.name in found.harm and each.name in SLOW), None)
        by = None if slow is None else slow.judged_change.value
        much = "" if by is None else f"{percents(by, signed=True)} %"
        decided = "failures" if "failed_share" in found.harm else ""
        if slow is None:
            return decided, ""
        said = f"{_ON_AVERAGE[self.beside(clause, position, best)]}is worse for {called(slow.name)}"
        return decided or (much and f"{SHORT[slow.name]} {much}"), said + (much and f" ({much})")

    def are_apart(self, clause: Clause, position: int, other: int) -> bool:
        """True where two values are apart: by the rule, or in a named metric by 1 % or more, where that is clear."""
        if clause.by_rule:
            return self._verdict(clause, position, other).is_apart
        quantity = self._quantity(clause, position, other)
        found = Estimate(quantity.units, quantity.value, None, quantity.low, quantity.high)
        return bool(clear(found, MARGIN / MARGIN_BY_LEAST))

    def beside(self, clause: Clause, position: int, best: int) -> Beside:
        """How a value that meets a clause stands to the best: by the rule it may be open."""
        if clause.by_rule:
            found = self._verdict(clause, position, best)
            return "ties" if found.ties else "within" if found.is_apart else "open"
        quantity = self._quantity(clause, position, best)
        return "ties" if quantity.word(self._margin(clause, quantity, best)) == "equivalent" else "within"

    def _verdict(self, clause: Clause, position: int, base: int) -> Verdict:
        """Judge a value against another by the rule of verdicts."""
        key = position, base  # one clause of a target is by the rule
        if key not in self._verdicts:
            runs = Matched([self._runs[base]], [self._runs[position]], [0])
            self._verdicts[key] = judged(
                runs, ("the best", "this"), margin=clause.bound - 1, read=self._read, confidence=self._confidence
            )
        return self._verdicts[key]

    def _quantity(self, clause: Clause, position: int, rival: int) -> Difference:
        """The difference of two values, the second one the base, as `farweb compare` has it."""
        key = clause.metric.name, position, rival
        if key not in self._quantities:
            base, other = self._of(clause, rival), self._of(clause, position)
            units: Units[Any]
            if base.same == other.same:
                pairs = Pairs(base.requests, base.size, base.times, other.times, np.zeros(base.times.size, np.int8))
                units = Units([pairs], [0], fixed=True, confidence=self._confidence)
            else:
                units = Units([Sides(base.times, other.times)], [0], fixed=True, confidence=self._confidence)
            self._quantities[key] = replace(units.quantity(_of_latency(clause.metric)), name=clause.metric.name)
        return self._quantities[key]

    def _of(self, clause: Clause, position: int) -> Asked:
        return self._asked[position][str(times_of_metric(clause.metric))]


_ON_AVERAGE: dict[Beside, str] = {
    "ties": "ties on average and ", "open": "cannot be told apart on average and ", "within": ""
}  # fmt: skip


def _is_worse(found: Verdict) -> bool:
    """True where M is clear and beyond the margin, or failures or the slowest are worse by it."""
    if found.few is not None:
        return found.overall == "worse"
    slow = any(name in ("failed_share", *SLOW) for name in found.harm)
    return slow or clear(found.change, found.margin) > 0


def _of_latency(metric: Metric) -> str:
    """The quantity of latencies for all requests that corresponds to the metric of its times."""
    of = str(times_of_metric(metric))
    if metric.within_s is not None:
        return metric.name
    return "failed_share" if metric.name.endswith("failed_share") else metric.name.replace(of, "latency", 1)


def _counted(metric: Metric, times: Floats) -> Floats:
    """Values with the metric as their mean: completed times, or 1 for each request that counts."""
    if metric.within_s is not None:
        return (times <= metric.within_s).astype(np.float64)
    if metric.name.endswith("failed_share"):
        return np.isinf(times).astype(np.float64)
    return times[np.isfinite(times)]


def _holds(most: float, least: float, bound: float, strict: bool) -> bool | None:
    """True if an interval lies below a bound, False if beyond it, else None."""
    if most < bound or (most == bound and not strict):
        return True
    return False if least > bound or (least == bound and strict) else None
