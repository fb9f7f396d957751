"""Estimates how long a sweep will take, from runs that were measured.

Measured points take their measured time. For the others a least-squares fit takes the logarithm of a run's time as a
sum: a mean, and a part of each level of each factor. Factors such as load and bandwidth multiply times, so logarithms
add. Interactions are left out and show in the range. The exponential of a mean logarithm is below the mean: the fit is
scaled to the sum of the measured times.

Runs go to workers in the order of the plan, each to the first free one. Starting workers and making statistics is
added.
"""

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from farweb.results.design import Design, Factor

_SPREAD = 2.0  # standard deviations on either side: some 95 % of runs
_LEAST_SD = 0.1  # chosen: equal runs on a shared machine differ by a tenth


@dataclass(frozen=True)
class Measured:
    """The time of a run that was measured.

    Attributes:
        point: Of the design.
        wall_s: In s.
    """

    point: int
    wall_s: float


@dataclass(frozen=True)
class Besides:
    """Time of a sweep besides its runs.

    Attributes:
        begin_s: To copy tables and to start and end the workers, in s.
        statistics_s: For the statistics of the requests of a run, which workers make, in s.
        tables_s: For the tables of statistics, in s.
    """

    begin_s: float
    statistics_s: float
    tables_s: float

    def total_s(self, runs: int, jobs: int) -> float:
        """All of it for a plan of so many runs, in s."""
        return self.begin_s + runs * self.statistics_s / jobs + self.tables_s


@dataclass(frozen=True)
class Durations:
    """How long runs take.

    Attributes:
        point_s: Seconds of a run at each point of the design.
        known: The measured points.
        sd: Standard deviation of the logarithm of a run's time from the model, where unmeasured.
        measured: Runs that the estimate is made of.
    """

    point_s: tuple[float, ...]
    known: frozenset[int]
    sd: float
    measured: int

    def total_s(self, points: Sequence[int], jobs: int) -> float:
        """How long runs at these points take together, `jobs` at a time."""
        free = [0.0] * jobs
        for point in points:
            heapq.heapreplace(free, free[0] + self.point_s[point])
        return max(free)

    def factor(self, points: Sequence[int]) -> float:
        """All of that together takes between its estimate divided and multiplied by this."""
        times = [self.point_s[point] for point in points]
        unknown = math.fsum(self.point_s[point] for point in points if point not in self.known)
        share = unknown / math.fsum(times) if times else 0.0
        return math.exp(_SPREAD * math.hypot(_LEAST_SD, share * self.sd))


def estimate(design: Design, measured: Sequence[Measured]) -> Durations:
    """Fit the times of all points to at least one measured.

    Takes the first model with two more runs than unknowns: a part of each level, a power law of each factor's numbers,
    the mean alone.
    """
    logs = np.log([max(each.wall_s, 1e-6) for each in measured])
    places = np.array([each.point for each in measured])
    for model in (_by_level, _by_number, _mean):
        matrix = model(design, places)
        rank = int(np.linalg.matrix_rank(matrix[places]))
        if rank <= len(measured) - _FREEDOM:
            break
    weights, *_ = np.linalg.lstsq(matrix[places], logs, rcond=None)
    residuals = logs - matrix[places] @ weights
    freedom = len(measured) - rank
    sd = math.sqrt(float(residuals @ residuals) / freedom) if freedom > 0 else _UNKNOWN_SD
    # A power law may run away where nothing was measured.
    predicted = np.exp(np.clip(matrix @ weights, logs.min() - _BEYOND, logs.max() + _BEYOND))
    predicted *= np.exp(logs).sum() / predicted[places].sum()
    for point in set(places.tolist()):
        predicted[point] = np.exp(logs[places == point]).mean()
    return Durations(tuple(predicted.tolist()), frozenset(places.tolist()), sd, len(measured))


_FREEDOM = 2  # runs that a model must not use up. Chosen: with fewer, nothing shows how far off it is
_UNKNOWN_SD = math.log(2)  # chosen: one run gives the order of magnitude
_BEYOND = math.log(20)  # chosen: twenty times the measured time


def _mean(design: Design, _measured: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.ones((len(design.points), 1))


def _by_level(design: Design, measured: NDArray[np.int64]) -> NDArray[np.float64]:
    """A column for each level of each factor, or for its numbers where levels were not measured."""
    columns = [_mean(design, measured)]
    for index, factor in enumerate(design.factors):
        levels = np.array([point[index] for point in design.points])
        known = set(levels[measured].tolist())
        columns.append(_levels(levels) if set(levels.tolist()) == known else _numbers(factor, levels))
    return np.hstack(columns)


def _by_number(design: Design, measured: NDArray[np.int64]) -> NDArray[np.float64]:
    """A column for the numbers of each factor, or for each level without numbers."""
    columns = [_mean(design, measured)]
    for index, factor in enumerate(design.factors):
        levels = np.array([point[index] for point in design.points])
        numbered = all(level.number is not None for level in factor.levels)
        columns.append(_numbers(factor, levels) if numbered else _levels(levels))
    return np.hstack(columns)


def _levels(levels: NDArray[np.int64]) -> NDArray[np.float64]:
    columns: NDArray[np.float64] = (levels[:, None] == np.unique(levels)[None, :]).astype(float)
    return np.asarray(columns - columns.mean(axis=0))


def _numbers(factor: Factor, levels: NDArray[np.int64]) -> NDArray[np.float64]:
    """The logarithms of a factor's numbers, or the numbers unless all are above zero, or nothing without numbers."""
    numbers = [level.number for level in factor.levels]
    if any(number is None for number in numbers):
        return np.zeros((len(levels), 0))
    values = np.array(numbers, dtype=float)[levels]
    values = np.log(values) if values.min() > 0 else values
    return np.asarray((values - values.mean())[:, None])
