"""How long the runs of a plan will take, from runs that were measured.

The logarithm of a run's time is taken as a sum: a mean, and what each level of each factor adds. It is fitted by least
squares. Times vary by factors (load, bandwidth), which in logarithms are sums; interactions are left out, and show in
the range that is told.
"""

import math
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from farweb.errors import FarwebError
from farweb.results.design import Design, Factor
from farweb.run import Progress, open_tables, simulate_into
from farweb.sweep.plan import Run

_PILOTS = 24  # points; chosen: twice as many as most designs have levels
_PILOT_S = 2.0  # chosen: five runs at least in the time of all
_PILOTS_S = 10.0  # chosen: as long as one waits for an answer
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
class Estimate:
    """How long runs take.

    Attributes:
        point_s: Seconds of a run at each point of the design.
        factor: A run takes between its estimate divided and multiplied by this.
        measured: Runs that the estimate is made of.
    """

    point_s: tuple[float, ...]
    factor: float
    measured: int

    def total_s(self, points: Sequence[int], jobs: int) -> tuple[float, float]:
        """From how long to how long runs at these points take together, `jobs` at a time."""
        if not points:
            return 0.0, 0.0
        times = [self.point_s[point] for point in points]
        together = max(sum(times) / jobs, max(times))
        return together / self.factor, together * self.factor


def estimate(design: Design, measured: Sequence[Measured]) -> Estimate:
    """Fit the times of all points to those of some; there has to be one at least.

    The first model is taken that leaves two runs more than it has unknowns: what each level adds, a power law of each
    factor's numbers, the mean alone.
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
    predicted = np.clip(matrix @ weights, logs.min() - _BEYOND, logs.max() + _BEYOND)
    return Estimate(tuple(np.exp(predicted).tolist()), math.exp(_SPREAD * max(sd, _LEAST_SD)), len(measured))


_FREEDOM = 2  # runs that a model must not use up; chosen: with fewer, nothing tells how far off it is
_UNKNOWN_SD = math.log(2)  # chosen: one run tells the order of magnitude
_BEYOND = math.log(20)  # chosen: twenty times what was measured


def _mean(design: Design, _measured: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.ones((len(design.points), 1))


def _by_level(design: Design, measured: NDArray[np.int64]) -> NDArray[np.float64]:
    """A column a level of each factor; of a factor with levels that were not measured, one of its numbers."""
    columns = [_mean(design, measured)]
    for index, factor in enumerate(design.factors):
        levels = np.array([point[index] for point in design.points])
        known = set(levels[measured].tolist())
        columns.append(_levels(levels) if set(levels.tolist()) == known else _numbers(factor, levels))
    return np.hstack(columns)


def _by_number(design: Design, measured: NDArray[np.int64]) -> NDArray[np.float64]:
    """A column of the numbers of each factor; of one without numbers, a column a level."""
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
    """The logarithms of a factor's numbers, or the numbers where not all are above zero; nothing without numbers."""
    numbers = [level.number for level in factor.levels]
    if any(number is None for number in numbers):
        return np.zeros((len(levels), 0))
    values = np.array(numbers, dtype=float)[levels]
    values = np.log(values) if values.min() > 0 else values
    return np.asarray((values - values.mean())[:, None])


def pilot(runs: Sequence[Run]) -> list[Measured]:
    """Measure some runs, spread over the points, for about ten seconds at most, in a folder that goes afterwards.

    A run that takes longer than two seconds is stopped, and its time follows from the share of its requests that were
    answered.
    """
    firsts = [run for run in runs if run.replication == 0]
    began = time.perf_counter()
    _time(firsts[0])  # a process's first run is slower: libraries are loaded
    measured = []
    for place in _spread(len(firsts)):
        if time.perf_counter() - began > _PILOTS_S - _PILOT_S:
            break
        wall_s = _time(firsts[place])
        if wall_s is not None:
            measured.append(Measured(firsts[place].point, wall_s))
    return measured


def _spread(number: int) -> list[int]:
    """Places among `number` that are far apart, from the first few on: the ends, then golden-section steps."""
    golden = (math.sqrt(5) - 1) / 2
    steps = (math.floor(number * (step * golden % 1)) for step in range(1, 4 * _PILOTS))
    return list(dict.fromkeys([0, number - 1, *steps]))[:_PILOTS]


class _Stopped(Exception):  # noqa: N818 - it is no error
    """A pilot run has had its time."""


def _time(run: Run) -> float | None:
    """How long a run takes, in s; None when it fails, or shows nothing in its time."""
    began = time.perf_counter()
    share = 0.0

    def look(now: Progress) -> None:
        nonlocal share
        share = now.ended / now.total if now.total else 0.0
        if time.perf_counter() - began > _PILOT_S:
            raise _Stopped

    try:
        with tempfile.TemporaryDirectory(prefix="farweb-pilot-") as folder, open_tables(run.scenario) as tables:
            simulate_into(Path(folder), run.scenario, run.seed, tables, look)
    except _Stopped:
        return (time.perf_counter() - began) / share if share else None
    except FarwebError:
        return None
    return time.perf_counter() - began
