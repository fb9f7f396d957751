"""Findings of a sweep in a metric: estimates by levels, their order, and shares of variation."""

from collections.abc import Sequence
from dataclasses import dataclass

from farweb.results.design import Factor, Level
from farweb.results.estimates import Estimates
from farweb.results.metrics import Metric
from farweb.results.select import pooled
from farweb.results.sweep import SweepTables
from farweb.statistics.intervals import Estimate
from farweb.text.quantities import interval

_LOW_IS_GOOD = {"failed", "unfinished", "failed_share", "drops", "loss_ratio", "retransmits", "timeouts"}
_HIGH_IS_GOOD = {"done", "goodput_bps", "carried_bps", "carried_up_bps", "response_bytes", "utilisation"}


@dataclass(frozen=True)
class Row:
    """Levels of some factors, and what the runs at them say.

    Attributes:
        levels: A level of each of the factors.
        points: Numbers of the design's points that have them.
        estimates: By the metric's name, with 95 % intervals over replications, or of blocks of a log.
    """

    levels: tuple[Level, ...]
    points: tuple[int, ...]
    estimates: dict[str, Estimate]


def rows_by(sweep: SweepTables, metrics: Sequence[Metric], by: Sequence[Factor]) -> list[Row]:
    """A row for each combination of levels of some factors, in the order of the design; the others are pooled.

    Pooled points have the same weight; a replication that lacks one of them is left out.
    """
    tables = {metric.name: Estimates(sweep, metric.name) for metric in metrics}
    rows = [
        Row(levels, tuple(points), {name: table.of(points) for name, table in tables.items()})
        for levels, points in pooled(sweep.design, [factor.name for factor in by]).items()
    ]
    if sweep.design.kind == "search":  # which tries values in an order of its own
        rows.sort(key=lambda row: [level.number or 0.0 for level in row.levels])
    return rows


def ranked(rows: Sequence[Row], metric: Metric) -> list[Row]:
    """The rows with a value of a metric, the first end's (see `ends_of`) first."""
    known = [row for row in rows if row.estimates[metric.name].value is not None]
    return sorted(known, key=lambda row: row.estimates[metric.name].value or 0.0, reverse=ends_of(metric)[2])


def ends_of(metric: Metric) -> tuple[str, str, bool]:
    """Names of the two ends of points ranked by a metric, and whether the first is the largest."""
    if metric.unit == "s" or metric.name in _LOW_IS_GOOD or "drops" in metric.name:
        return "Best", "worst", False
    if metric.name in _HIGH_IS_GOOD or metric.within_s is not None:
        return "Best", "worst", True
    return "Lowest", "highest", False


def interval_of(metric: Metric, estimate: Estimate) -> str:
    """The interval of an estimate; empty where there is none."""
    return interval(estimate.low, estimate.high, metric.unit)


def sources(sweep: SweepTables, metric: Metric) -> dict[str, float]:
    """Sources of variation and their percentages, the largest first."""
    rows = sweep.effects([metric.name]).select("term", "percent").drop_nulls()
    return dict(rows.sort("percent", descending=True, maintain_order=True).iter_rows())
