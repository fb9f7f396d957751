"""Intervals of means from few replications, with a stated probability of error at each end.

Latencies have a long tail: of an exponential metric the upper end of Student's interval is too low 15 to 35 times as
often as it may be at an error of 0.0004. Hall's transformation takes the skewness away to the first order. With few
replications the skewness itself is uncertain, so each end is the farther one of the two, and no interval is shortened.
That leaves 2 to 15 times the stated error in this case, and no more than stated for normal metrics.

Source: Hall, "On the removal of skewness by transformation", J. Royal Stat. Soc. B 54, 1992.
"""

import math

import numpy as np
from numpy.typing import NDArray

from farweb.statistics.intervals import student_quantiles

_STRAIGHT = 1e-6  # below it Hall's transformation is Student's t but for rounding


def mean_interval(values: NDArray[np.float64], error_low: float, error_high: float) -> tuple[float, float]:
    """The interval of a mean that its lower and its upper end miss with these probabilities.

    Args:
        values: At least three.
        error_low: Of the lower end, below 0.5.
        error_high: Of the upper end, below 0.5.
    """
    n = len(values)
    mean, deviations = values.mean(), values - values.mean()
    variance = np.square(deviations).sum() / (n - 1)
    error = math.sqrt(variance / n)
    if error == 0:
        return float(mean), float(mean)
    lean = float((deviations**3).sum()) * n / ((n - 1) * (n - 2)) / variance**1.5 / math.sqrt(n)
    low, high = (float(student_quantiles(n - 1, 1 - 2 * each)) for each in (error_low, error_high))
    return float(mean - error * max(low, _unskewed(low, lean))), float(
        mean + error * max(high, -_unskewed(-high, lean))
    )


def _unskewed(t: float, lean: float) -> float:
    """Hall's transformation: Student's t of a metric with estimated skewness, by the root of n, `lean`."""
    if abs(lean) < _STRAIGHT:
        return t
    return 3 / lean * float(np.cbrt(1 + lean * (t - lean / 6)) - 1)
