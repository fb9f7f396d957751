"""Curves of a sweep's metrics over the load, and the values that papers read off such curves.

A curve keeps the values of every replication, for a Student interval of whatever is read off it, such as a slope or a
ratio of two curves. Sweeps with common random numbers have the same requests in replication r of every point, and
ratios of two curves are paired by it.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farweb.errors import ResultsError
from farweb.results.sweep import SweepTables
from farweb.statistics.intervals import Estimate, student

LOAD = "workload.load"
PRESENTED = "presented_bps"

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Curve:
    """A metric over the load, or over another metric.

    Attributes:
        levels: Levels of the load, ascending.
        x: Horizontal place of each run, a row a level, a column a replication. NaN where there is none.
        y: Its value there.
        failed: Share of each run's requests that failed or were cut off, or None of values that are not read from runs.
    """

    levels: tuple[float, ...]
    x: Floats
    y: Floats
    failed: Floats | None = None

    def __len__(self) -> int:
        return len(self.levels)

    @property
    def x_mean(self) -> Floats:
        """The mean of each level over the replications."""
        return means(self.x)

    @property
    def y_mean(self) -> Floats:
        """The mean of each level over the replications."""
        return means(self.y)

    def interval(self, place: int) -> Estimate:
        """The value at a level, with its interval over the replications."""
        return student(self.y[place])

    def where(self, wanted: NDArray[np.bool_]) -> "Curve":
        """The part of the curve at some of its levels.

        Raises:
            ResultsError: Nothing is left.
        """
        if not wanted.any():
            raise ResultsError("the sweep has no load at which this is read off")
        return replace(
            self,
            levels=tuple(level for level, each in zip(self.levels, wanted, strict=True) if each),
            x=self.x[wanted],
            y=self.y[wanted],
            failed=None if self.failed is None else self.failed[wanted],
        )

    def between(self, low: float, high: float) -> "Curve":
        """The part with mean places on the horizontal axis between these."""
        return self.where(np.array([low <= x <= high for x in self.x_mean]))

    def at(self, x: float, widest: float = math.inf) -> Floats:
        """The value of each replication at a place on the axis, linear between levels, NaN outside.

        Args:
            x: Where.
            widest: Largest ratio of the neighbouring levels' places to interpolate between. NaN beyond.
        """

        def value(places: Floats, values: Floats) -> float:
            if not places.size or not places[0] <= x <= places[-1]:
                return math.nan
            above = int(np.searchsorted(places, x))
            is_near = places[above] == x or places[above] <= widest * places[above - 1]
            return float(np.interp(x, places, values)) if is_near else math.nan

        return self.read_off(value)

    def read_off(self, value: Callable[[Floats, Floats], float]) -> Floats:
        """A number of each replication: what `value` reads off its places, ascending, and its values there."""
        found = []
        for x, y in zip(self.x.T, self.y.T, strict=True):
            order = np.argsort(x, kind="stable")
            there = order[~(np.isnan(x) | np.isnan(y))[order]]
            found.append(value(x[there], y[there]))
        return np.array(found)


def curve(
    sweep: SweepTables, metric: str, x: str = PRESENTED, where: Mapping[str, Any] | None = None, along: str = LOAD
) -> Curve:
    """A metric of a sweep over its loads.

    Args:
        sweep: Which.
        metric: On the vertical axis.
        x: Metric on the horizontal axis.
        where: Levels of the other factors: ``{"leg.0.carrier.connections": 5}``.
        along: Factor with the levels of the curve.

    Raises:
        ResultsError: There is no such metric, factor or level, or no run has a value.
    """
    design = sweep.design
    names = [factor.name for factor in design.factors]
    for name in (along, *(where or {})):
        if name not in names:
            raise ResultsError(f"{sweep.path}: there is no factor {name}; factors: {', '.join(names)}")
    found: dict[float, int] = {}
    for point in range(len(design.points)):
        levels = design.levels(point)
        if all(levels[name].value == value for name, value in (where or {}).items()):
            number = levels[along].number
            if number is None:
                raise ResultsError(f"{sweep.path}: the levels of {along} are no numbers")
            found[number] = point
    if not found:
        raise ResultsError(f"{sweep.path}: no point has {where}")
    ordered = sorted(found)
    points = [found[level] for level in ordered]
    made = Curve(tuple(ordered), *(sweep.values(each)[points] for each in (x, metric, "failed_share")))
    if np.isnan(made.y).all():
        raise ResultsError(f"{sweep.path}: no run has a value of {metric}")
    return made.where(np.asarray(~np.isnan(made.y).all(axis=1)))


def largest(of: Curve) -> Estimate:
    """The largest mean of a curve, with its interval: an asymptote that it has reached."""
    return of.interval(int(np.nanargmax(of.y_mean)))


def slopes(of: Curve) -> Floats:
    """The slope of each replication's straight line through its points, by least squares, NaN with fewer than two."""

    def slope(x: Floats, y: Floats) -> float:
        if len(x) < 2 or np.ptp(x) == 0:
            return math.nan
        from_mean = x - x.mean()
        return float((from_mean * (y - y.mean())).sum() / (from_mean**2).sum())

    return of.read_off(slope)


def ratios(of: Curve, base: Curve) -> Floats:
    """The ratio of two curves in each replication: of their sums over the levels that both have.

    Raises:
        ResultsError: They have no level in common.
    """
    common = [level for level in of.levels if level in base.levels]
    if not common:
        raise ResultsError("the two curves have no load in common")
    mine, others = (np.array([each.levels.index(level) for level in common]) for each in (of, base))
    most = min(of.y.shape[1], base.y.shape[1])
    ratio: Floats = of.y[mine, :most].sum(axis=0) / base.y[others, :most].sum(axis=0)
    return ratio


def rises(of: Curve, share: float, widest: float = math.inf) -> Floats:
    """The last place of each replication's curve within `share` above its lowest value, linear between levels.

    NaN where it never leaves that band, or between places with a ratio above `widest`.
    """

    def last_place(x: Floats, y: Floats) -> float:
        limit = y.min(initial=math.inf) * (1 + share)
        last = int(np.flatnonzero(y <= limit)[-1]) if y.size else 0
        if last + 1 >= y.size or x[last + 1] > widest * x[last]:
            return math.nan
        return float(np.interp(limit, y[last : last + 2], x[last : last + 2]))

    return of.read_off(last_place)


def means(values: Floats) -> Floats:
    """The mean of each row without its NaN, or NaN where there is nothing else."""
    there = ~np.isnan(values)
    number = there.sum(axis=1)
    total = np.where(there, values, 0).sum(axis=1)
    return np.where(number > 0, total / np.maximum(number, 1), math.nan)
