"""Confidence intervals from independent replications.

A replication is a run with its own seed, and one observation of a metric. Observations within a run, such as latencies
of its requests, depend on each other and never count as independent: the bootstrap of a quantile draws whole
replications.

A value can be infinite: a quantile that failed requests reach (`farweb.statistics.quantiles`). Then the estimate is
infinite without an interval. A finite estimate has no interval if the quantile of a resample is infinite.

Sources: Law, Simulation Modeling and Analysis, 5th ed., 2015, section 9.4.1 (replications); Efron and Tibshirani, An
Introduction to the Bootstrap, 1993, chapters 6 (standard error), 8 (resampling units), 12 (intervals with Student's t);
Kish, Survey Sampling, Wiley, 1965, section 11.7 (effective sample size of unequal weights).
"""

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farweb.statistics.quantiles import between, split
from farweb.statistics.quantiles import quantiles as of_times
from farweb.text.sheet import to_object

CONFIDENCE = 0.95  # chosen: the level that most tables of simulation studies have

TWO = "2 seeds: ± 12.7 standard errors"
"""Said beside intervals of two replications, which are wide."""

# Up to six replications all their 462 resamples are taken: chance plays no part. Beyond, a thousand are drawn. Chosen:
# five times what Efron and Tibshirani (6.4) find enough for a standard error.
_MOST_ENUMERATED = 6
_DRAWN = 1000

_ROUNDING = 1e-12
"""Half of an interval, over its mean, up to which it has no width: rounding reaches as far."""

_LEAST_UNITS = 2
"""Effective units below which a ratio has no interval: one unit holds most of it."""

_WIDEST = math.log(1000)
"""Half of an interval of a logarithm beyond which it says nothing; chosen."""


@dataclass(frozen=True)
class Estimate:
    """An estimate with its confidence interval.

    Attributes:
        n: Observations: replications that have a value.
        value: The estimate, which may be infinite, or None without an observation.
        sd: Standard deviation between replications, or None for fewer than two, or where one is infinite.
        low: Lower end, or None for fewer than two observations, or where failed requests reach the estimate.
        high: Upper end, or None as `low`.
    """

    n: int
    value: float | None
    sd: float | None
    low: float | None
    high: float | None

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval, or None when there is none."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2

    def to_dict(self) -> dict[str, float | None]:
        """Value and ends as plain values, for JSON."""
        return to_object({name: getattr(self, name) for name in ("value", "low", "high")})


def student_quantiles(degrees: ArrayLike, confidence: float = CONFIDENCE) -> NDArray[np.float64]:
    """Student's t for two-sided intervals.

    Args:
        degrees: Degrees of freedom, each at least 1.
        confidence: 0 < confidence < 1.
    """
    from scipy.special import stdtrit

    return np.asarray(stdtrit(degrees, (1 + confidence) / 2), np.float64)


def student(values: ArrayLike, confidence: float = CONFIDENCE) -> Estimate:
    """Student's interval of a mean. NaN stands for a replication without a value.

    Exact for independent normal values. The mean of many requests of a run is nearly normal.
    """
    return students(np.asarray(values, float)[None, :], confidence)[0]


def students(rows: ArrayLike, confidence: float = CONFIDENCE) -> list[Estimate]:
    """Student's interval of the mean of each row (see `student`)."""
    given = np.asarray(rows, float)
    infinite = np.isinf(given).any(axis=1)
    numbers, means, deviations = _moments(np.where(infinite[:, None] & ~np.isnan(given), 0, given))
    several = numbers > 1
    halves = np.zeros(len(given))
    t = student_quantiles(numbers[several] - 1, confidence)
    halves[several] = t * deviations[several] / np.sqrt(numbers[several])
    found = []
    columns = numbers.tolist(), means.tolist(), deviations.tolist(), halves.tolist()
    for row, (n, mean, sd, half) in enumerate(zip(*columns, strict=True)):
        if infinite[row]:
            found.append(Estimate(n, _infinite(given[row]), None, None, None))
        elif n > 1:
            found.append(Estimate(n, mean, sd, mean - half, mean + half))
        else:
            found.append(Estimate(n, mean if n else None, None, None, None))
    return found


def _infinite(values: NDArray[np.float64]) -> float | None:
    """The mean of values, some of them infinite, or None where they are so in both directions."""
    signs = set(np.sign(values[np.isinf(values)]).tolist())
    return math.copysign(math.inf, signs.pop()) if len(signs) == 1 else None


def _moments(rows: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """The number of values in each row, their mean and standard deviation (0 for fewer than two)."""
    there = ~np.isnan(rows)
    numbers = there.sum(axis=1)
    means = np.where(there, rows, 0).sum(axis=1) / np.maximum(numbers, 1)
    high = np.where(there, rows, -np.inf).max(axis=1, initial=-np.inf)
    # The mean of n equal numbers need not be that number in floating point.
    same = (high == np.where(there, rows, np.inf).min(axis=1, initial=np.inf)) & (numbers > 0)
    means = np.where(same, high, means)
    squares = np.square(np.where(there, rows - means[:, None], 0)).sum(axis=1)
    return numbers, means, np.sqrt(squares / np.maximum(numbers - 1, 1))


def quantiles(
    replications: Sequence[ArrayLike], shares: Sequence[float], confidence: float = CONFIDENCE
) -> list[Estimate]:
    """Quantiles of the observations of all replications together, with bootstrap intervals.

    Whole replications are drawn with replacement; the quantile of each resample is over all its observations,
    linear between the two nearest. The interval is the quantile ± t · se, where se is the standard deviation of the
    resamples' quantiles times √(n/(n-1)) and t is Student's with n-1 degrees of freedom: with few replications,
    percentiles of the resamples are far too narrow (documented, with coverages, in docs/statistics.md).

    Every resample's quantile is exact: it is found by bisection among the pooled observations.

    Args:
        replications: The observations of each, infinite for failed requests. Replications without any are left out.
        shares: Shares of the quantiles, 0 to 1.
        confidence: 0 < confidence < 1.
    """
    groups = [np.sort(np.asarray(values, float)) for values in replications]
    groups = [group for group in groups if group.size]
    n = len(groups)
    if n == 0:
        return [Estimate(0, None, None, None, None) for _ in shares]
    if n == 1:
        return [Estimate(1, quantile, None, None, None) for quantile in of_times(groups[0], shares)]
    own = students(np.array([of_times(group, shares) for group in groups], float).T, confidence)
    t = float(student_quantiles(n - 1, confidence))
    found = []
    for share, alone in zip(shares, own, strict=True):
        times, chances = _resamples(n)
        # The observations themselves are the resample that has each replication once.
        quantile, *resampled = _resampled_quantiles(groups, np.vstack([np.ones(n, np.int64), times]), share).tolist()
        if not np.isfinite(resampled).all():
            found.append(Estimate(n, quantile, alone.sd, None, None))
            continue
        half = t * _standard_error(np.array(resampled), chances, n)
        found.append(Estimate(n, quantile, alone.sd, quantile - half, quantile + half))
    return found


def resampled(groups: Sequence[ArrayLike], share: float) -> NDArray[np.float64]:
    """The quantile of all observations, then of each resample of whole groups.

    Equal numbers of groups have the same resamples: statistics of two sides with the same units are resampled
    together, and so are statistics made of them (`margin_of`).

    Args:
        groups: The observations of each unit, none empty.
        share: Share of the quantile, 0 to 1.
    """
    ordered = [np.sort(np.asarray(values, float)) for values in groups]
    return _resampled_quantiles(ordered, _with_itself(len(groups)), share)


def resampled_means(groups: Sequence[ArrayLike]) -> NDArray[np.float64]:
    """The mean of all observations, then of each resample of whole groups (see `resampled`)."""
    sums = np.array([np.sum(values) for values in groups], np.float64)
    sizes = np.array([np.size(values) for values in groups])
    times = _with_itself(len(groups))
    return np.asarray((times @ sums) / (times @ sizes), np.float64)


def mean_of_units(sums: NDArray[np.float64], sizes: NDArray[np.int64], confidence: float = CONFIDENCE) -> Estimate:
    """The mean of all observations, with the bootstrap interval of whole units. Units without any are left out.

    Args:
        sums: Sum of the observations of each unit.
        sizes: How many each has.
        confidence: 0 < confidence < 1.
    """
    there = sizes > 0
    sums, sizes, n = np.asarray(sums, np.float64)[there], sizes[there], int(there.sum())
    if n < 2:
        return Estimate(n, float(sums[0] / sizes[0]) if n else None, None, None, None)
    times = _with_itself(n)
    values = np.asarray((times @ sums) / (times @ sizes), np.float64)
    half = margin_of(values, n, confidence)
    mean = float(values[0])
    half = half if half > _ROUNDING * max(1.0, abs(mean)) else 0.0
    return Estimate(n, mean, None, mean - half, mean + half)


def ratio_of_units(
    base: ArrayLike,
    other: ArrayLike,
    confidence: float = CONFIDENCE,
    sizes: tuple[ArrayLike, ArrayLike] | None = None,
) -> Estimate:
    """The sum there over the sum here, less 1, with the bootstrap interval of whole units.

    The interval is of the logarithm: the base against the other has the inverse of value and ends. Units weigh by
    what they hold: where one has most of both sums, resamples hardly vary its weight, so the interval is as wide as
    `effective_units` of equal weight make it, and there is none for fewer than two.

    Args:
        base: Sum of each unit here, at least 0.
        other: Sum of each unit there.
        confidence: 0 < confidence < 1.
        sizes: Observations of each unit on either side, for the ratio of means; without them the ratio of sums.

    Returns:
        No value where either sum is 0.
    """
    one, two = np.asarray(base, np.float64), np.asarray(other, np.float64)
    there = (one > 0) | (two > 0)
    one, two = one[there], two[there]
    per = [np.ones_like(one)] * 2 if sizes is None else [np.asarray(each, np.float64)[there] for each in sizes]
    n = int(there.sum())
    if not one.sum() > 0 or not two.sum() > 0:
        return Estimate(n, None, None, None, None)
    value = float((two.sum() / per[1].sum()) / (one.sum() / per[0].sum())) - 1
    if n < 2:
        return Estimate(n, value, None, None, None)
    times, chances = _with_itself(n), _resamples(n)[1]
    sums = [times @ each for each in (one, two, *per)]
    known = np.logical_and.reduce([each > 0 for each in sums])
    here, beyond = (sums[side][known] / sums[side + 2][known] for side in (0, 1))
    logs, chances = np.log(beyond / here), chances[known[1:]]
    if np.ptp(logs) <= _ROUNDING:
        return Estimate(n, value, None, value, value)
    units = effective_units(one / one.sum() + two / two.sum())
    if units < _LEAST_UNITS:
        return Estimate(n, value, None, None, None)
    error = _standard_error(logs[1:], chances / chances.sum(), units)
    half = float(student_quantiles(units - 1, confidence)) * error
    if half > _WIDEST:
        return Estimate(n, value, None, None, None)
    return Estimate(n, value, None, math.expm1(float(logs[0]) - half), math.expm1(float(logs[0]) + half))


def effective_units(weights: ArrayLike) -> float:
    """The number of units of equal weight that say as much as units of these (Kish's effective sample size)."""
    found = np.asarray(weights, np.float64)
    return float(found.sum() ** 2 / np.square(found).sum())


def margin_of(resampled: NDArray[np.float64], n: int, confidence: float = CONFIDENCE) -> float:
    """Half the width of the interval of a statistic, by its values of all and of each resample of n groups.

    Args:
        resampled: As from `resampled`, finite.
        n: Groups, at least 2.
        confidence: 0 < confidence < 1.
    """
    return float(student_quantiles(n - 1, confidence)) * _standard_error(resampled[1:], _resamples(n)[1], n)


def _with_itself(n: int) -> NDArray[np.int64]:
    """Count of each of n groups in the sample, which has each once, and in each of its resamples."""
    return np.vstack([np.ones(n, np.int64), _resamples(n)[0]])


def _standard_error(resampled: NDArray[np.float64], chances: NDArray[np.float64], n: float) -> float:
    """Standard error of a statistic by its values in resamples of n replications, or as many effective ones."""
    if (resampled == resampled[0]).all():
        return 0.0
    variance = float((chances * np.square(resampled - (chances * resampled).sum())).sum())
    return math.sqrt(variance * n / (n - 1))


@functools.cache
def _resamples(n: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The count of each of n replications in a resample, a row a resample, and the probability of that resample."""
    if n > _MOST_ENUMERATED:
        drawn = np.random.Generator(np.random.PCG64(n)).multinomial(n, np.full(n, 1 / n), _DRAWN)
        return drawn, np.full(_DRAWN, 1 / _DRAWN)
    choices = itertools.combinations_with_replacement(range(n), n)
    times = np.array([np.bincount(choice, minlength=n) for choice in choices])
    orders = [math.factorial(n) / math.prod(map(math.factorial, row)) for row in times.tolist()]
    return times, np.array(orders) / float(n**n)


def _resampled_quantiles(
    groups: list[NDArray[np.float64]], times: NDArray[np.int64], share: float
) -> NDArray[np.float64]:
    """The quantile of each resample of sorted groups, linear between its two nearest observations.

    The quantile lies between the smallest and the largest of the groups' own: only these observations matter, with two
    places on either side for rounding.
    """
    sizes = np.array([group.size for group in groups])
    below = np.maximum(np.floor(share * sizes).astype(np.int64) - 2, 0)
    above = np.minimum(np.ceil(share * sizes).astype(np.int64) + 1, sizes - 1)
    smallest = min(group[place] for group, place in zip(groups, below, strict=True))
    largest = max(group[place] for group, place in zip(groups, above, strict=True))
    begins = np.array([np.searchsorted(group, smallest, "left") for group in groups])
    ends = np.array([np.searchsorted(group, largest, "right") for group in groups])
    near = np.concatenate([group[begin:end] for group, begin, end in zip(groups, begins, ends, strict=True)])
    order = np.argsort(near, kind="stable")
    owners = np.repeat(np.arange(len(groups)), ends - begins)[order]
    counts = np.cumsum(owners[:, None] == np.arange(len(groups)), axis=0)
    whole, part = split((times @ sizes - 1) * share)
    wanted = whole + 1 - times @ begins
    lower = near[order][_first(counts, times, wanted)]
    upper = near[order][_first(counts, times, np.minimum(wanted + 1, times @ counts[-1]))]
    return between(lower, upper, part)


def _first(counts: NDArray[np.int64], times: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """The first place up to which each resample has as many observations as wanted, by bisection."""
    low, high = np.zeros(len(times), np.int64), np.full(len(times), len(counts) - 1)
    while (low < high).any():
        middle = (low + high) // 2
        reached = (counts[middle] * times).sum(axis=1) >= wanted
        high = np.where(reached, middle, high)
        low = np.where(reached, low, np.minimum(middle + 1, high))
    return low
