"""Estimates of a sweep for tables and sentences: at its points, or at the levels of some factors with others pooled."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from farweb.errors import ResultsError
from farweb.metrics import Metric
from farweb.quantities import count
from farweb.report.words import between, shown
from farweb.statistics.intervals import student
from farweb.sweep.design import Design, Factor, Level
from farweb.sweep.results import SweepResults

_LOW_IS_GOOD = {"failed", "unfinished", "drops", "loss_ratio", "retransmits", "timeouts"}
_HIGH_IS_GOOD = {"done", "goodput_bps", "carried_bps", "carried_up_bps", "response_bytes", "utilisation"}


@dataclass(frozen=True)
class Estimate:
    """A metric at a point, or over several.

    Attributes:
        n: Replications that have a value.
        mean: The estimate; None without a value.
        low: Lower end of its 95 % interval; None for fewer than two replications.
        high: Upper end.
    """

    n: int
    mean: float | None
    low: float | None
    high: float | None

    def told(self, metric: Metric) -> str:
        """The estimate in a sentence: ``312 ms (305 … 319 ms)``."""
        ends = between(metric, self.low, self.high)
        return f"{shown(metric, self.mean)} ({ends})" if ends else shown(metric, self.mean)


@dataclass(frozen=True)
class Row:
    """Levels of some factors, and what the runs at them say.

    Attributes:
        levels: A level of each of the factors.
        points: Numbers of the design's points that have them.
        estimates: By the metric's name.
    """

    levels: tuple[Level, ...]
    points: tuple[int, ...]
    estimates: dict[str, Estimate]


def at_points(sweep: SweepResults, metrics: Sequence[Metric]) -> list[Row]:
    """A row a point, in the order of the design."""
    design = sweep.design
    rows = [Row(_levels(design, point, design.factors), (point,), {}) for point in range(len(design.points))]
    if metrics:
        columns = ["point", "metric", "n", "mean", "low", "high"]
        for point, metric, *ends in sweep.estimates([metric.name for metric in metrics]).select(columns).iter_rows():
            rows[point].estimates[metric] = Estimate(*ends)
    return rows


def at_levels(sweep: SweepResults, metrics: Sequence[Metric], by: Sequence[Factor]) -> list[Row]:
    """A row for each combination of levels of `by`; the other factors are pooled.

    Within a replication the points of a row are averaged, each with the same weight; the interval is Student's, over the
    replications. A replication counts where all points of the row have a value, so that each is of the same points.
    """
    if len(by) == len(sweep.design.factors):
        return at_points(sweep, metrics)
    together: dict[tuple[Level, ...], list[int]] = {}
    for point in range(len(sweep.design.points)):
        together.setdefault(_levels(sweep.design, point, by), []).append(point)
    tables = {metric.name: replicated(sweep, metric) for metric in metrics}
    rows = []
    for levels, points in together.items():
        estimates = {}
        for name, table in tables.items():
            found = student(table[points].mean(axis=0))
            estimates[name] = Estimate(found.n, found.mean, found.low, found.high)
        rows.append(Row(levels, tuple(points), estimates))
    return rows


def replicated(sweep: SweepResults, metric: Metric) -> NDArray[np.float64]:
    """The values of a metric by point and replication; NaN where there is none."""
    runs = sweep.runs
    replications = runs["replication"].to_numpy()
    most = int(replications.max()) + 1 if len(replications) else 0
    table = np.full((len(sweep.design.points), most), np.nan)
    done = (runs["status"] == "done").to_numpy()
    values = runs[metric.name].cast(float).fill_null(float("nan")).to_numpy()
    table[sweep.points.to_numpy()[done], replications[done]] = values[done]
    return table


def factors_named(design: Design, names: Sequence[str]) -> list[Factor]:
    """Factors by name.

    Raises:
        ResultsError: The design has no such factor.
    """
    known = {factor.name: factor for factor in design.factors}
    for name in names:
        if name not in known:
            raise ResultsError(f"{name}: the sweep has no such factor; it has {', '.join(known)}")
    return [known[name] for name in dict.fromkeys(names)]


def order(metric: Metric) -> tuple[str, str, bool]:
    """What the two ends of a metric are called, the first to be told first, and whether that is the larger one."""
    if metric.unit == "s" or metric.name in _LOW_IS_GOOD or "drops" in metric.name:
        return "Best", "worst", False
    if metric.name in _HIGH_IS_GOOD:
        return "Best", "worst", True
    return "Lowest", "highest", False


def at(factors: Sequence[Factor], levels: Sequence[Level]) -> str:
    """Levels in words: ``workload.load 8, circuit satellite``."""
    return ", ".join(f"{factor.name} {level.label}" for factor, level in zip(factors, levels, strict=True))


def replications_of(rows: Sequence[Row], metrics: Sequence[Metric]) -> str:
    """How many replications the estimates rest on: ``5``, ``3 to 5``."""
    found = [row.estimates[metric.name].n for row in rows for metric in metrics if metric.name in row.estimates]
    low, high = min(found, default=0), max(found, default=0)
    return count(low) if low == high else f"{count(low)} to {count(high)}"


def _levels(design: Design, point: int, factors: Sequence[Factor]) -> tuple[Level, ...]:
    levels = design.levels(point)
    return tuple(levels[factor.name] for factor in factors)
