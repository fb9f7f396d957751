"""Confidence intervals from independent replications.

A replication is a run with its own seed; its value of a metric is one observation. Observations within a run (the
latencies of its requests) depend on each other and are never taken for independent.

Sources: Law, Simulation Modeling and Analysis, 5th ed., 2015, 9.4.1 (replications); Efron and Tibshirani, An
Introduction to the Bootstrap, 1993.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

CONFIDENCE = 0.95  # chosen: the level that most tables of simulation studies have


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


def student_quantile(degrees: float, confidence: float = CONFIDENCE) -> float:
    """The t by which a standard error is multiplied for a two-sided interval.

    Args:
        degrees: Degrees of freedom, at least 1.
        confidence: 0 < confidence < 1.
    """
    from scipy.special import stdtrit

    return float(stdtrit(degrees, (1 + confidence) / 2))


def student(values: ArrayLike, confidence: float = CONFIDENCE) -> Interval:
    """Student's interval of a mean; NaN stands for a replication without a value.

    Exact when the values are independent and normal; the mean of many requests of a run is nearly so.
    """
    given = np.asarray(values, float)
    given = given[~np.isnan(given)]
    n = given.size
    if n == 0:
        return Interval(0, None, None, None, None)
    # All equal: the mean of n equal numbers need not be that number in floating point.
    mean = float(given[0]) if (given == given[0]).all() else float(given.mean())
    if n == 1:
        return Interval(1, mean, None, None, None)
    sd = math.sqrt(float(np.square(given - mean).sum()) / (n - 1))
    half = student_quantile(n - 1, confidence) * sd / math.sqrt(n)
    return Interval(n, mean, sd, mean - half, mean + half)
