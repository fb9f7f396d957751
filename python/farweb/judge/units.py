"""Units of latencies that are independent, or nearly: replications, or blocks of a log's time.

If each replication has the same requests, replications repeat the log and say nothing about other requests: intervals
come from blocks of consecutive requests, of all replications together (`farweb.statistics.blocks`). Otherwise they come
from replications, or from blocks where these are identical.
"""

import functools
import math
import re
from collections.abc import Callable, Sequence
from typing import Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from farweb.judge.judgement import Difference
from farweb.judge.verdicts import Table
from farweb.statistics import blocks
from farweb.statistics.blocks import Origin
from farweb.statistics.intervals import CONFIDENCE, margin_of, quantiles, ratio_of_units, resampled, student

Floats = NDArray[np.float64]


class Latencies(Protocol):
    """Latencies of requests of two runs in the order of their starts, in s, infinite for unfinished ones."""

    @property
    def base(self) -> Floats:
        """Latencies at the base."""
        ...

    @property
    def other(self) -> Floats:
        """Latencies of the other run."""
        ...

    @property
    def are_pairs(self) -> bool:
        """True where both have the same requests, in the same order."""
        ...

    def cut(self, number: int) -> list[Self]:
        """Consecutive ones, in parts of the same number, give or take one."""
        ...


L = TypeVar("L", bound=Latencies)
N = TypeVar("N", np.float64, np.int64)

WITHIN = re.compile(r"within\((\d+(?:\.\d+)?) s\)")
_ROUNDING = 1e-12
"""Half of an interval of logarithms up to which it has no width: rounding reaches as far."""

_NUMBER_BITS = 40
"""Bits of a request's number, above which stands its replication. Chosen: a million million requests."""

_QUANTILE = re.compile(r"latency_p(\d+)_s")


def is_quantity(name: str) -> bool:
    """True for metrics that alternatives can be judged by: quantiles and mean of the latency, shares of requests."""
    return bool(_QUANTILE.fullmatch(name) or WITHIN.fullmatch(name)) or name in ("latency_mean_s", "failed_share")


class Units(Generic[L]):
    """Latencies of pairs of runs, in units.

    Args:
        found: Of each pair of runs.
        replications: Number of the replication of each. One replication makes one unit.
        fixed: True where the requests are the same in each replication.
        confidence: Of intervals of quantities, 0 to 1.

    Attributes:
        number: Units, at least 1.
        method: Their kind.
    """

    def __init__(
        self,
        found: Sequence[L],
        replications: Sequence[int],
        *,
        fixed: bool = False,
        confidence: float = CONFIDENCE,
    ) -> None:
        self._confidence = confidence
        by_replication: dict[int, list[L]] = {}
        for each, replication in zip(found, replications, strict=True):
            by_replication.setdefault(replication, []).append(each)
        first, *others = by_replication.values()
        self._parts = list(by_replication.values())
        self._is_cut = fixed or all(_are_alike(first, each) for each in others)
        if self._is_cut:
            number = min(blocks.number_of_blocks(min(each.base.size, each.other.size)) for each in found)
            self._parts = [list(part) for part in zip(*(each.cut(number) for each in found), strict=True)]
        self.number = len(self._parts)
        self.method: Origin = "none" if self.number < 2 else "blocks" if self._is_cut else "replications"

    @property
    def are_pairs(self) -> bool:
        """True where both sides have the same requests."""
        return all(each.are_pairs for part in self._parts for each in part)

    @property
    def is_dependent(self) -> bool:
        """True where blocks resemble their neighbours: intervals are too narrow."""
        if self.method != "blocks":
            return False
        sums = [[_joined(part, side, only_ended=True).sum() for side in ("base", "other")] for part in self._parts]
        return blocks.is_dependent([math.log(other / base) for base, other in sums if base > 0 and other > 0])

    def parts(self, of: Callable[[L], NDArray[N]]) -> list[NDArray[N]]:
        """The observations, in units."""
        return [np.concatenate([of(each) for each in part]) for part in self._parts]

    def table(self, numbers: Callable[[L], NDArray[np.int64]]) -> Table:
        """All pairs with their units, for the rule of verdicts.

        Args:
            numbers: The numbers of the requests, the same in each run where requests are.
        """
        base, other = self.parts(lambda each: each.base), self.parts(lambda each: each.other)
        unit = np.repeat(np.arange(self.number), [part.size for part in base])
        request = np.concatenate([numbers(each) for part in self._parts for each in part])
        own = request if self._is_cut else request + (unit << _NUMBER_BITS)
        return Table(np.concatenate(base), np.concatenate(other), unit, own, self.number)

    @property
    def failed_shares(self) -> tuple[float, float]:
        """Shares of requests that failed, of the base and of the other."""
        base, other = (np.concatenate(self.parts(of)) for of in (lambda each: each.base, lambda each: each.other))
        return float(np.isinf(base).sum() / max(base.size, 1)), float(np.isinf(other).sum() / max(other.size, 1))

    def quantity(self, name: str) -> Difference:
        """The difference of a quantity, as `farweb.judge.judgement.judge` takes it.

        Units without a request on either side are left out.

        Args:
            name: One that `is_quantity`.
        """
        mean = name == "latency_mean_s"
        sides = [(_joined(part, "base", mean), _joined(part, "other", mean)) for part in self._parts]
        sides = [(one, two) for one, two in sides if one.size and two.size]
        if not sides:
            return Difference(name, None, None, None, "none", 0)
        bases, others = ([each[side] for each in sides] for side in (0, 1))
        if found := _QUANTILE.fullmatch(name):
            share = int(found[1]) / 10 ** max(2, len(found[1]))  # p999 is 99.9 %
            found_all = resampled(bases, share), resampled(others, share)
            own = functools.partial(_own_margin, bases, others, share, self._confidence)
            return self._ratio(name, *found_all, len(sides), own)
        if mean:
            here, there = ([float(each.sum()) for each in side] for side in (bases, others))
            sizes = [each.size for each in bases], [each.size for each in others]
            change = ratio_of_units(here, there, self._confidence, sizes)
            return self._made(name, change.value, change.low, change.high, len(sides))
        limit = WITHIN.fullmatch(name)
        at_base, at_other = ([_counted(times, limit and float(limit[1])) for times in each] for each in (bases, others))
        value = float(np.concatenate(at_other).mean() - np.concatenate(at_base).mean())
        means = [two.mean() - one.mean() for one, two in zip(at_base, at_other, strict=True)]
        half = student(means, self._confidence).half_width
        low, high = (None, None) if half is None else (value - half, value + half)
        return self._made(name, value, low, high, len(sides), is_share=True, more_is_better=limit is not None)

    def _ratio(self, name: str, base: Floats, other: Floats, n: int, own: Callable[[], float]) -> Difference:
        """The relative difference, by its resamples. The interval comes from the logarithm, so no end is below -1.

        Infinite where failed requests reach one side, and decided if they do in all resamples. Where many
        latencies are equal, all resamples can have the same quantile; the spread then comes from the units' own
        quantiles, `own`.
        """
        reached = np.isinf(base), np.isinf(other)
        if reached[0][0] or reached[1][0]:
            if reached[0][0] and reached[1][0]:
                return self._made(name, None, None, None, n)
            value = -math.inf if reached[0][0] else math.inf
            ends = value if n > 1 and (reached[0] != reached[1]).all() and len({*reached[0].tolist()}) == 1 else None
            return self._made(name, value, ends, ends, n)
        if not (base > 0).all() or not (other > 0).all():
            return self._made(name, 0.0 if base[0] == other[0] else None, None, None, n)
        value = float(other[0] / base[0]) - 1
        if n < 2 or any(each.any() for each in reached):
            return self._made(name, value, None, None, n)
        logs = np.log(other) - np.log(base)
        half = margin_of(logs, n, self._confidence)
        half = half if half > _ROUNDING else own()
        if half <= _ROUNDING:
            return self._made(name, value, value, value, n)
        return self._made(name, value, math.expm1(logs[0] - half), math.expm1(logs[0] + half), n)

    def _made(
        self, name: str, value: float | None, low: float | None, high: float | None, n: int, **more: bool
    ) -> Difference:
        return Difference(name, value, low, high, "none" if low is None else self.method, n, **more)


def _joined(part: Sequence[Latencies], side: str, only_ended: bool) -> Floats:
    """The latencies on one side of a unit. Means take pairs completed on both sides."""
    found = []
    for each in part:
        times: Floats = getattr(each, side)
        if only_ended:
            times = times[np.isfinite(each.base) & np.isfinite(each.other) if each.are_pairs else np.isfinite(times)]
        found.append(times)
    return np.concatenate(found)


def _own_margin(bases: Sequence[Floats], others: Sequence[Floats], share: float, confidence: float) -> float:
    """Half the width of Student's interval of the logarithms of the units' own ratios, or 0 where one has none."""
    own = np.array([[quantiles([times], [share])[0].value for times in side] for side in (bases, others)], float)
    if not np.isfinite(own).all() or not (own > 0).all():
        return 0.0
    return student(np.log(own[1]) - np.log(own[0]), confidence).half_width or 0.0


def _counted(times: Floats, within_s: float | None) -> Floats:
    """1 for each request within the limit or, without one, for each unfinished one, else 0."""
    return (np.isinf(times) if within_s is None else times <= within_s).astype(np.float64)


def _are_alike(some: Sequence[Latencies], others: Sequence[Latencies]) -> bool:
    """True where two replications have the same latencies on both sides."""
    return len(some) == len(others) and all(
        np.array_equal(one.base, other.base) and np.array_equal(one.other, other.other)
        for one, other in zip(some, others, strict=True)
    )
