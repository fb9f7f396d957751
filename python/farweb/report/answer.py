"""The answer that a sweep gives to its question, in sentences: no more than its numbers bear."""

from collections.abc import Sequence

import numpy as np

from farweb.metrics import Metric
from farweb.quantities import share
from farweb.report.comparisons import Change, changes
from farweb.report.estimated import Row, at, at_points, order, replicated
from farweb.report.words import between, called, listed, plural, shown
from farweb.statistics.intervals import student
from farweb.sweep.results import SweepResults

_NAMED = 3  # chosen: more factors in a sentence than these nobody keeps in mind


def answer(sweep: SweepResults, metric: Metric) -> list[str]:
    """What the runs say of the main metric, the most important first."""
    rows = [row for row in at_points(sweep, [metric]) if row.estimates[metric.name].mean is not None]
    if not rows:
        return [f"No run has a {called(metric)} yet, so there is no answer."]
    if len(rows) == 1:
        return [f"{_capital(called(metric))}: {_estimate(metric, rows[0])}."]
    said = [_ends(sweep, metric, rows)]
    said += _variation(sweep, metric)
    said += [_change(metric, each) for each in _largest(changes(sweep, metric))]
    return said


def _ends(sweep: SweepResults, metric: Metric, rows: Sequence[Row]) -> str:
    """The best point and the worst, and how many cannot be told from the best."""
    first, last, larger = order(metric)
    ranked = sorted(rows, key=lambda row: row.estimates[metric.name].mean or 0.0, reverse=larger)
    best, worst = ranked[0], ranked[-1]
    if best.estimates[metric.name].mean == worst.estimates[metric.name].mean:
        return f"{_capital(called(metric))} is {_estimate(metric, best)} at every point."
    factors = sweep.design.factors
    told = (
        f"{first} {called(metric)}: {_estimate(metric, best)} at {at(factors, best.levels)}; {last}: "
        f"{_estimate(metric, worst)} at {at(factors, worst.levels)}."
    )
    same = _like(sweep, metric, ranked)
    if same is None or len(rows) < 3:
        return told
    if same == 0:
        return f"{told} Every other point differs from the first by more than chance explains."
    which = "another point" if same == 1 else f"{same} other points"
    return f"{told} From the first {which} of {len(rows) - 1} cannot be told apart."


def _like(sweep: SweepResults, metric: Metric, ranked: Sequence[Row]) -> int | None:
    """How many points cannot be told from the first: pairs by replication, each compared at 95 %; None without pairs."""
    table = replicated(sweep, metric)
    base = table[ranked[0].points[0]]
    intervals = [student(table[row.points[0]] - base) for row in ranked[1:]]
    if any(each.low is None for each in intervals):
        return None
    return sum(not _excludes_zero(each.low, each.high) for each in intervals)


def _variation(sweep: SweepResults, metric: Metric) -> list[str]:
    """Which factors the variation comes from."""
    effects = sweep.effects([metric.name]).filter(np.array([True]) if False else True)
    del effects
    return []


def _largest(found: Sequence[Change]) -> list[Change]:
    return list(found)


def _change(metric: Metric, change: Change) -> str:
    return ""


def _estimate(metric: Metric, row: Row) -> str:
    estimate = row.estimates[metric.name]
    ends = between(metric, estimate.low, estimate.high)
    return f"{shown(metric, estimate.mean)} ({ends})" if ends else shown(metric, estimate.mean)


def _excludes_zero(low: float | None, high: float | None) -> bool:
    return low is not None and high is not None and (low > 0 or high < 0)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
