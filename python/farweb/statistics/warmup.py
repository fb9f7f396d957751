"""Finds the end of the initial transient of a series: MSER-5.

The truncation is chosen that makes the marginal standard error of the remaining mean smallest: with batch means Z_0 …
Z_{k-1} of five observations, the d that minimizes Σ_{i≥d} (Z_i - mean)² / (k-d)². Truncations of more than half of the
series are not considered. A minimum beyond a tenth of it is no recommendation: the series is too short, or has no
steady state, such as a trace with a load that changes by the hour.

Left out: the test of whether the mean after truncation is biased still.

Sources: White, An effective truncation heuristic for bias reduction in simulation output, Simulation 69(6), 1997;
White, Cobb and Spratt, A comparison of five steady-state truncation heuristics for simulation, Winter Simulation
Conference 2000 (batches of five, the first half); averaging over replications first: Welch, The statistical analysis of
simulation results, 1983.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

BATCH = 5
_MOST = 0.1  # of the series, that a recommendation leaves out (chosen)
_FEWEST_BATCHES = 10  # chosen: of fewer, a minimum says nothing


@dataclass(frozen=True)
class Truncation:
    """Truncation that MSER-5 recommends.

    Attributes:
        observations: How many to leave out at the beginning, a multiple of five.
        length: Observations that were looked at, of the shortest replication.
        steady: True when the minimum lies within the first tenth, False when `observations` is no recommendation.
    """

    observations: int
    length: int
    steady: bool


def mser5(replications: Sequence[ArrayLike]) -> Truncation | None:
    """The truncation for a series that several replications have observed.

    Args:
        replications: Observations in order, a series a replication, averaged up to the end of the shortest.

    Returns:
        None when there are fewer than 50 observations.
    """
    series = [np.asarray(values, float) for values in replications]
    length = min((values.size for values in series), default=0)
    batches = length // BATCH
    if batches < _FEWEST_BATCHES:
        return None
    mean = np.mean([values[: batches * BATCH] for values in series], axis=0)
    # Sums of squares from the end lose digits when the mean is far from zero. A shift changes no deviation.
    means = mean.reshape(batches, BATCH).mean(axis=1)
    means -= means.mean()
    left = np.arange(batches, 0, -1)
    sums = np.cumsum(means[::-1])[::-1]
    squares = np.cumsum(np.square(means)[::-1])[::-1]
    deviations = np.maximum(squares - np.square(sums) / left, 0)
    half = batches // 2
    best = int(np.argmin((deviations / np.square(left))[: half + 1]))
    return Truncation(best * BATCH, length, best <= _MOST * batches)
