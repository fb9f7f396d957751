"""Differences between two levels of a factor, paired by replication.

With common random numbers replication r has the same arrivals and sizes at both levels. Their luck cancels in the
difference, and the interval of differences is narrower than for two independent samples.

Sources: Law, Simulation Modeling and Analysis, 5th ed., 2015, sections 10.2.1 (paired t), 11.2 (common random numbers);
Welch, Biometrika 34, 1947 (two samples of unequal variances).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farweb.statistics.intervals import CONFIDENCE, Estimate, student_quantiles, students

_ROUNDING = 1e-13  # chosen: some hundred times the precision of a double


@dataclass(frozen=True)
class Paired:
    """The effect of a level on a metric, against its base.

    Where failed requests make the metric infinite at one of the two, the difference is infinite without an interval. At
    both, there is none.

    Attributes:
        interval: Of the differences, level less base.
        base: Mean at the base, of the same replications, or None without a replication.
        percent: The mean difference in percent of `base`, or None when that is zero, or one of them infinite.
        unpaired: Half the width that the interval would have if the two were independent (Welch), or None for fewer
            than two replications.
        variance_reduction: Share of the variance of the difference that pairing removed. Negative when it added some,
            or None when neither varies.
    """

    interval: Estimate
    base: float | None
    percent: float | None
    unpaired: float | None
    variance_reduction: float | None


def paired(level: ArrayLike, base: ArrayLike, confidence: float = CONFIDENCE) -> list[Paired]:
    """Compare two levels by replication, without pairs that have a NaN.

    Args:
        level: The metric at the level: a row a comparison, a column a replication.
        base: The metric at the base, likewise.
        confidence: 0 < confidence < 1.
    """
    at_level, at_base = np.array(level, float), np.array(base, float)
    single = np.isnan(at_level) | np.isnan(at_base)
    at_level[single] = at_base[single] = np.nan
    unknown = (np.isinf(at_level) & np.isinf(at_base)).any(axis=1)
    intervals = students(_differences(at_level, at_base), confidence)
    levels, bases = students(at_level, confidence), students(at_base, confidence)
    variances = np.square([[each.sd or 0.0, alone.sd or 0.0] for each, alone in zip(levels, bases, strict=True)])
    widths = _welch(variances, np.array([each.n for each in intervals]), confidence)
    found = []
    columns = variances.sum(axis=1).tolist(), widths.tolist(), unknown.tolist()
    for interval, alone, variance, width, is_unknown in zip(intervals, bases, *columns, strict=True):
        if is_unknown:
            found.append(Paired(Estimate(alone.n, None, None, None, None), alone.value, None, None, None))
            continue
        known = interval.value is not None and alone.value and math.isfinite(interval.value)
        percent = 100 * interval.value / alone.value if known else None  # type: ignore[operator]
        if interval.sd is None:
            found.append(Paired(interval, alone.value, percent, None, None))
            continue
        reduction = 1 - interval.sd**2 / variance if variance else None
        found.append(Paired(interval, alone.value, percent, width, reduction))
    return found


def _differences(level: NDArray[np.float64], base: NDArray[np.float64]) -> NDArray[np.float64]:
    """Level less base. Differences that vary only by rounding do not vary."""
    with np.errstate(invalid="ignore"):  # two infinite ones have no difference
        differences = level - base
    there = ~np.isnan(differences)
    finite = np.where(np.isfinite(differences), differences, 0)
    largest = np.where(there, np.maximum(np.abs(level), np.abs(base)), 0).max(axis=1, initial=0)
    high = np.where(there, finite, -np.inf).max(axis=1, initial=-np.inf)
    low = np.where(there, finite, np.inf).min(axis=1, initial=np.inf)
    same = there.any(axis=1) & np.isfinite(largest) & (high - low <= _ROUNDING * largest)
    return np.where(there & same[:, None], low[:, None], differences)


def _welch(variances: NDArray[np.float64], numbers: NDArray[np.int64], confidence: float) -> NDArray[np.float64]:
    """Half the widths of intervals of differences of independent samples, of as many values each."""
    totals = variances.sum(axis=1)
    widths = np.zeros(len(totals))
    known = (totals > 0) & (numbers > 1)
    shares = variances[known] / totals[known, None]
    degrees = (numbers[known] - 1) / np.square(shares).sum(axis=1)
    widths[known] = student_quantiles(degrees, confidence) * np.sqrt(totals[known] / numbers[known])
    return widths
