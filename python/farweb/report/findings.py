"""Estimates of a sweep for tables and sentences: at its points, or at the levels of some factors with others pooled."""

from collections.abc import Sequence
from dataclasses import dataclass

from farweb.errors import ResultsError
from farweb.plot.replicated import Estimates
from farweb.results.design import Design, Factor, Level
from farweb.results.metrics import Metric
from farweb.results.sweep import SweepTables
from farweb.statistics.intervals import Interval
from farweb.text.quantities import count

_LOW_IS_GOOD = {"failed", "unfinished", "failed_share", "drops", "loss_ratio", "retransmits", "timeouts"}
_HIGH_IS_GOOD = {"done", "goodput_bps", "carried_bps", "carried_up_bps", "response_bytes", "utilisation"}


@dataclass(frozen=True)
class Row:
    """Levels of some factors, and what the runs at them say.

    Attributes:
        levels: A level of each of the factors.
        points: Numbers of the design's points that have them.
        estimates: By the metric's name, with 95 % intervals over replications.
    """

    levels: tuple[Level, ...]
    points: tuple[int, ...]
    estimates: dict[str, Interval]


def rows_by(sweep: SweepTables, metrics: Sequence[Metric], by: Sequence[Factor]) -> list[Row]:
    """A row for each combination of levels of some factors, in the order of the design; the others are pooled.

    Pooled points have the same weight; a replication that lacks one of them is left out.
    """
    together: dict[tuple[Level, ...], list[int]] = {}
    for point in range(len(sweep.design.points)):
        together.setdefault(levels_of(sweep.design, point, by), []).append(point)
    tables = {metric.name: Estimates(sweep, metric.name) for metric in metrics}
    rows = [
        Row(levels, tuple(points), {name: table.of(points) for name, table in tables.items()})
        for levels, points in together.items()
    ]
    if sweep.design.kind == "search":  # which tries values in an order that tells nobody anything
        rows.sort(key=lambda row: [level.number or 0.0 for level in row.levels])
    return rows


def levels_of(design: Design, point: int, factors: Sequence[Factor]) -> tuple[Level, ...]:
    """The levels that a point has of some factors."""
    levels = design.levels(point)
    return tuple(levels[factor.name] for factor in factors)


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
    """What the two ends of a metric are called, the first to be told first, and whether that one is the larger."""
    if metric.unit == "s" or metric.name in _LOW_IS_GOOD or "drops" in metric.name:
        return "Best", "worst", False
    if metric.name in _HIGH_IS_GOOD or metric.within_s is not None:
        return "Best", "worst", True
    return "Lowest", "highest", False


def replications_of(rows: Sequence[Row]) -> str:
    """How many replications estimates rest on: ``5``, ``3 to 5``."""
    found = [estimate.n for row in rows for estimate in row.estimates.values()]
    low, high = min(found, default=0), max(found, default=0)
    return count(low) if low == high else f"{count(low)} to {count(high)}"
