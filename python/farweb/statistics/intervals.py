"""Confidence intervals from independent replications.

A replication is a run with its own seed; its value of a metric is one observation. Observations within a run (the
latencies of its requests) depend on each other and are never taken for independent: the bootstrap of a quantile draws
whole replications.

Sources: Law, Simulation Modeling and Analysis, 5th ed., 2015, section 9.4.1 (replications); Efron and Tibshirani, An
Introduction to the Bootstrap, 1993, chapters 6 (standard error), 8 (resampling units), 12 (intervals with Student's t).
"""

import functools
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

CONFIDENCE = 0.95  # chosen: the level that most tables of simulation studies have

# Up to six replications all their resamples are looked at (462 different ones, so that chance plays no part); of more,
# chosen: a thousand drawn ones, five times what Efron and Tibshirani (6.4) find enough for a standard error.
_MOST_ENUMERATED = 6
_DRAWN = 1000


@dataclass(frozen=True)
class Interval:
    """An estimate with its confidence interval.

    Attributes:
        n: Observations: replications that have a value.
        mean: The estimate; None without an observation.
        sd: Standard deviation between replications; None for fewer than two.
        low: Lower end; None for fewer than two observations.
        high: Upper end; None for fewer than two observations.
    """

    n: int
    mean: float | None
    sd: float | None
    low: float | None
    high: float | None

    @property
    def half_width(self) -> float | None:
        """Half the width of the interval; None when there is none."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


def student_quantiles(degrees: ArrayLike, confidence: float = CONFIDENCE) -> NDArray[np.float64]:
    """The t by which standard errors are multiplied for two-sided intervals.

    Args:
        degrees: Degrees of freedom, each at least 1.
        confidence: 0 < confidence < 1.
    """
    from scipy.special import stdtrit

    return np.asarray(stdtrit(degrees, (1 + confidence) / 2), np.float64)


def student(values: ArrayLike, confidence: float = CONFIDENCE) -> Interval:
    """Student's interval of a mean; NaN stands for a replication without a value.

    Exact when the values are independent and normal; the mean of many requests of a run is nearly so.
    """
    return students(np.asarray(values, float)[None, :], confidence)[0]


def students(rows: ArrayLike, confidence: float = CONFIDENCE) -> list[Interval]:
    """Student's interval of the mean of each row; see `student`."""
    given = np.asarray(rows, float)
    numbers, means, deviations = _moments(given)
    several = numbers > 1
    halves = np.zeros(len(given))
    t = student_quantiles(numbers[several] - 1, confidence)
    halves[several] = t * deviations[several] / np.sqrt(numbers[several])
    found = []
    for n, mean, sd, half in zip(numbers.tolist(), means.tolist(), deviations.tolist(), halves.tolist(), strict=True):
        if n > 1:
            found.append(Interval(n, mean, sd, mean - half, mean + half))
        else:
            found.append(Interval(n, mean if n else None, None, None, None))
    return found


def _moments(rows: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """How many values each row has, their mean and standard deviation (0 for fewer than two)."""
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
) -> list[Interval]:
    """Quantiles of the observations of all replications together, with bootstrap intervals.

    Whole replications are drawn with replacement; the quantile of each resample is that of all its observations,
    linear between the two nearest. The interval is the quantile ± t · se, where se is the standard deviation of the
    resamples' quantiles times √(n/(n-1)) and t is Student's with n-1 degrees of freedom: with few replications,
    percentiles of the resamples are far too narrow (documented, with coverages, in docs/statistics.md).

    Every resample's quantile is exact: it is found by bisection among the pooled observations.

    Args:
        replications: The observations of each; those without any are left out.
        shares: Of which quantiles, 0 to 1.
        confidence: 0 < confidence < 1.
    """
    groups = [np.sort(np.asarray(values, float)) for values in replications]
    groups = [group for group in groups if group.size]
    n = len(groups)
    if n == 0:
        return [Interval(0, None, None, None, None) for _ in shares]
    pooled = np.sort(np.concatenate(groups))
    found = np.quantile(pooled, shares).tolist()
    if n == 1:
        return [Interval(1, quantile, None, None, None) for quantile in found]
    _, _, deviations = _moments(np.array([np.quantile(group, shares) for group in groups]).T)
    t = float(student_quantiles(n - 1, confidence))
    halves = [t * _standard_error(groups, pooled, share) for share in shares]
    return [
        Interval(n, quantile, sd, quantile - half, quantile + half)
        for quantile, sd, half in zip(found, deviations.tolist(), halves, strict=True)
    ]


def _standard_error(groups: list[NDArray[np.float64]], pooled: NDArray[np.float64], share: float) -> float:
    """Standard error of the pooled quantile by the bootstrap over groups."""
    times, chances = _resamples(len(groups))
    resampled = _resampled_quantiles(groups, pooled, times, share)
    if (resampled == resampled[0]).all():
        return 0.0
    n = len(groups)
    variance = float((chances * np.square(resampled - (chances * resampled).sum())).sum())
    return math.sqrt(variance * n / (n - 1))


@functools.cache
def _resamples(n: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """How often each of n replications is in a resample, a row a resample; and how likely that resample is."""
    if n > _MOST_ENUMERATED:
        drawn = np.random.Generator(np.random.PCG64(n)).multinomial(n, np.full(n, 1 / n), _DRAWN)
        return drawn, np.full(_DRAWN, 1 / _DRAWN)
    choices = itertools.combinations_with_replacement(range(n), n)
    times = np.array([np.bincount(choice, minlength=n) for choice in choices])
    orders = [math.factorial(n) / math.prod(map(math.factorial, row)) for row in times.tolist()]
    return times, np.array(orders) / float(n**n)


def _resampled_quantiles(
    groups: list[NDArray[np.float64]], pooled: NDArray[np.float64], times: NDArray[np.int64], share: float
) -> NDArray[np.float64]:
    """The quantile of each resample, linear between its two nearest observations."""
    place = (times @ np.array([group.size for group in groups]) - 1) * share
    whole = np.floor(place).astype(np.int64)

    def counts(values: NDArray[np.float64]) -> NDArray[np.int64]:
        """How many observations of each resample are at most its value."""
        different, which = np.unique(values, return_inverse=True)  # few to begin with, and always in order
        ranks = np.stack([np.searchsorted(group, different, "right") for group in groups], axis=1)
        found: NDArray[np.int64] = np.einsum("rg,rg->r", times, ranks[which])
        return found

    low = np.zeros(len(times), np.int64)
    high = np.full(len(times), pooled.size - 1)
    while (low < high).any():
        middle = (low + high) // 2
        reached = counts(pooled[middle]) > whole
        high = np.where(reached, middle, high)
        low = np.where(reached, low, np.minimum(middle + 1, high))
    below = pooled[low]
    above = np.where(counts(below) > whole + 1, below, _next(groups, times, below))
    part = place - whole
    return np.where(part > 0, below + part * (np.where(part > 0, above, below) - below), below)


def _next(
    groups: list[NDArray[np.float64]], times: NDArray[np.int64], values: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The observation of each resample that follows its value; infinite when none does."""
    following = np.full(len(values), np.inf)
    for number, group in enumerate(groups):
        place = np.searchsorted(group, values, "right")
        after = np.where(place < group.size, group[np.minimum(place, group.size - 1)], np.inf)
        following = np.where(times[:, number] > 0, np.minimum(following, after), following)
    return following
