"""Differences between two levels of a factor, paired by replication.

With common random numbers replication r has the same arrivals and sizes at both levels; what both have of luck cancels
in their difference, and the interval of the differences is narrower than that of two independent samples.

Sources: Law, Simulation Modeling and Analysis, 5th ed., 2015, sections 10.2.1 (paired t), 11.2 (common random numbers);
Welch, Biometrika 34, 1947 (two samples of unequal variances).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from farweb.statistics.intervals import CONFIDENCE, Interval, student, student_quantile

_ROUNDING = 1e-13  # chosen: some hundred times the precision of a double


@dataclass(frozen=True)
class Difference:
    """What a level makes of a metric, against its base.

    Attributes:
        interval: Of the differences, level less base.
        base: Mean at the base, of the same replications; None without a replication.
        percent: The mean difference in percent of `base`; None when that is zero.
        unpaired: Half the width that the interval would have if the two were independent (Welch); None for fewer than
            two replications.
        variance_reduction: By which share pairing has reduced the variance of the difference; negative when it has
            raised it; None when neither varies.
    """

    interval: Interval
    base: float | None
    percent: float | None
    unpaired: float | None
    variance_reduction: float | None


def paired(level: ArrayLike, base: ArrayLike, confidence: float = CONFIDENCE) -> Difference:
    """Compare two levels by replication; a pair in which either is NaN is left out.

    Args:
        level: The metric at the level, by replication.
        base: The metric at the base, by the same replications.
        confidence: 0 < confidence < 1.
    """
    at_level, at_base = np.asarray(level, float), np.asarray(base, float)
    both = ~(np.isnan(at_level) | np.isnan(at_base))
    at_level, at_base = at_level[both], at_base[both]
    differences = at_level - at_base
    # Differences that vary by no more than the rounding of what they are of do not vary.
    if differences.size and np.ptp(differences) <= _ROUNDING * max(np.abs(at_level).max(), np.abs(at_base).max()):
        differences = np.full(differences.size, at_level.mean() - at_base.mean())
    interval = student(differences, confidence)
    alone, compared = student(at_base, confidence), student(at_level, confidence)
    if interval.mean is None or alone.mean is None:
        return Difference(interval, None, None, None, None)
    percent = 100 * interval.mean / alone.mean if alone.mean else None
    if interval.sd is None or alone.sd is None or compared.sd is None:
        return Difference(interval, alone.mean, percent, None, None)
    variances = alone.sd**2, compared.sd**2
    reduction = 1 - interval.sd**2 / sum(variances) if sum(variances) else None
    return Difference(interval, alone.mean, percent, _welch(variances, interval.n, confidence), reduction)


def _welch(variances: tuple[float, float], n: int, confidence: float) -> float:
    """Half the width of the interval of the difference of two independent samples of n each."""
    total = sum(variances)
    if total == 0:
        return 0.0
    degrees = (n - 1) * total**2 / sum(variance**2 for variance in variances)
    return student_quantile(degrees, confidence) * math.sqrt(total / n)
