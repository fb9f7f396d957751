"""How long the runs of a plan will take, from runs that were measured.

The logarithm of a run's time is taken as a sum: a mean, and what each level of each factor adds. It is fitted by least
squares. Times vary by factors (load, bandwidth), which in logarithms are sums; interactions are left out, and show in
the range that is told. A factor of which not all levels were measured counts by its numbers, as a power law.
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
from farweb.run import Progress, open_tables, simulate_into
from farweb.scenario import Scenario
from farweb.sweep.design import Design, Factor
from farweb.sweep.plan import Run

_PILOTS = 5  # points; chosen: the ends and the middle of a design
_PILOT_S = 2.0  # chosen: five pilots in ten seconds
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
    """Fit the times of all points to those of some; there has to be one at least."""
    logs = np.log([max(each.wall_s, 1e-6) for each in measured])
    places = np.array([each.point for each in measured])
    terms = [np.ones((len(design.points), 1))]
    for index, factor in enumerate(design.factors):
        levels = np.array([point[index] for point in design.points])
        terms.append(_terms(factor, levels, levels[places]))
    matrix = np.hstack(terms)
    rank = int(np.linalg.matrix_rank(matrix[places]))
    if rank >= len(measured) and rank > 1:  # as many unknowns as runs: nothing would tell how far off it is
        matrix, rank = terms[0], 1
    weights, *_ = np.linalg.lstsq(matrix[places], logs, rcond=None)
    residuals = logs - matrix[places] @ weights
    freedom = len(measured) - rank
    sd = math.sqrt(float(residuals @ residuals) / freedom) if freedom > 0 else math.log(2)
    predicted = np.clip(matrix @ weights, logs.min() - 3, logs.max() + 3)  # a power law may run away
    sd = max(sd, _LEAST_SD)
    return Estimate(tuple(np.exp(predicted).tolist()), math.exp(_SPREAD * sd), len(measured))


def _terms(factor: Factor, levels: NDArray[np.int64], measured: NDArray[np.int64]) -> NDArray[np.float64]:
    """The columns of a factor: one a level, or its numbers when levels were not measured; at mean zero."""
    if set(levels.tolist()) <= set(measured.tolist()):
        columns: NDArray[np.float64] = (levels[:, None] == np.unique(levels)[None, :]).astype(float)
        return np.asarray(columns - columns.mean(axis=0))
    numbers = [level.number for level in factor.levels]
    if any(number is None for number in numbers) or len(set(measured.tolist())) < 2:
        return np.zeros((len(levels), 0))
    values = np.array(numbers, dtype=float)[levels]
    values = np.log(values) if values.min() > 0 else values
    return np.asarray((values - values.mean())[:, None])


def pilot(runs: Sequence[Run]) -> list[Measured]:
    """Measure some runs, spread over the points, for ten seconds at most, in a folder that goes afterwards.

    A run that takes longer is stopped, and its time follows from the share of its requests that were answered.
    """
    firsts = [run for run in runs if run.replication == 0] or list(runs)
    chosen = {round(place * (len(firsts) - 1) / (_PILOTS - 1)): None for place in range(_PILOTS)}
    measured = []
    for place in chosen:
        run = firsts[place]
        wall_s = _time(run.scenario, run.seed)
        if wall_s is not None:
            measured.append(Measured(run.point, wall_s))
    return measured


class _Stopped(Exception):  # noqa: N818 - it is no error
    """A pilot run has had its time."""


def _time(scenario: Scenario, seed: int) -> float | None:
    """How long a run takes, in s; None when it fails, or shows nothing in its time."""
    began = time.perf_counter()
    share = 0.0

    def look(now: Progress) -> None:
        nonlocal share
        share = now.ended / now.total if now.total else 0.0
        if time.perf_counter() - began > _PILOT_S:
            raise _Stopped

    try:
        with tempfile.TemporaryDirectory(prefix="farweb-pilot-") as folder, open_tables(scenario) as tables:
            simulate_into(Path(folder), scenario, seed, tables, look)
    except _Stopped:
        return (time.perf_counter() - began) / share if share else None
    except FarwebError:
        return None
    return time.perf_counter() - began
