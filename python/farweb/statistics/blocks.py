"""Intervals from one run with dependent requests: blocks of consecutive requests serve as replications.

Requests near each other in time share queues, connections and losses. In the order of their starts they are cut into
blocks of equal number. Blocks longer than the influence of one request on the next are nearly independent and serve as
replications: Student's interval for means, resampled blocks for quantiles (`farweb.statistics.intervals`).
`dependence`, the correlation of the means of neighbouring blocks, shows how far that holds.

Left out: chance that hits a whole run alike, such as another seed. Only replications see that.

Sources: Schmeiser, Batch size effects in the analysis of simulation output, Operations Research 30, 1982 (10 to 30
blocks; more make intervals no narrower and blocks less independent); Law, Simulation Modeling and Analysis, 5th ed.,
2015, section 9.5.3 (batch means); Carlstein, The use of subseries values for estimating the variance of a general
statistic from a stationary sequence, Annals of Statistics 14, 1986 (statistics other than means).
"""

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Origin = Literal["replications", "blocks", "none"]
"""Units that an interval comes from: replications of a run, blocks of consecutive requests, or no interval."""

BLOCKS = 20
"""Most blocks. Chosen: the middle of Schmeiser's range."""

SHORTEST = 5
"""Requests of a block, at least. Chosen: a quantile of fewer is one of them."""

FEWEST = 10
"""Blocks below which there are none: Schmeiser's lower end."""


def number_of_blocks(requests: int) -> int:
    """The number of blocks for so many requests, or 1 for too few."""
    number = min(BLOCKS, requests // SHORTEST)
    return number if number >= FEWEST else 1


def places(starts: ArrayLike, number: int) -> NDArray[np.int64]:
    """The block of each request, from 0, by the order of starts."""
    order = np.argsort(np.asarray(starts), kind="stable")
    found = np.empty(order.size, np.int64)
    for block, inside in enumerate(np.array_split(order, number)):
        found[inside] = block
    return found


def dependence(means: ArrayLike) -> float:
    """The correlation of neighbouring blocks' means, -1 to 1, or 0 where all are the same."""
    series = np.asarray(means, np.float64)
    deviation = series - series.mean()
    variance = float(deviation @ deviation)
    return float(deviation[1:] @ deviation[:-1]) / variance if variance else 0.0


def is_dependent(means: ArrayLike) -> bool:
    """True when neighbouring blocks are more alike than independent ones are by chance, in 19 of 20 cases."""
    number = np.size(means)
    return number > 1 and dependence(means) > 1.645 / math.sqrt(number)
