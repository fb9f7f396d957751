"""Draws a comparison: the distribution of differences of requests, and their mean by response size."""

import math

import numpy as np

from farweb.comparison import Change, Comparison
from farweb.paint.figure import Axis, Figure, Panel, Reference, Series
from farweb.paint.multiples import by_curve
from farweb.plot.latency import CURVE_POINTS, SHARE, SIZE
from farweb.text.quantities import count, share

_CUT = 0.01
"""Share of requests at either end that the axis leaves out. Chosen: single ones would flatten all others."""


def describe(comparison: Comparison) -> Figure:
    """Describe the figure: the distribution of the differences, and their mean by response size."""
    curves = [_distribution(change, index) for index, change in enumerate(comparison.changes)]
    by_size = [_by_size(change, index) for index, change in enumerate(comparison.changes)]
    axis = Axis("difference in latency", "s").fitted(*(each.x for each in curves))
    panels = [Panel(axis, SHARE, tuple(curves), (Reference("", 0.0, along="y"),), title="all requests")]
    if any(len(each.x) for each in by_size):
        means = Axis("mean difference", "s").fitted(*(each.y for each in by_size))
        panels.append(Panel(SIZE, means, tuple(by_size), (Reference("", 0.0),), title="by response size"))
    figure = Figure(
        f"Differences of requests against {comparison.base}",
        " ".join(
            (
                "All requests: share whose latency differs by at most so much; left of 0 they are faster. A curve "
                "begins above 0 or ends below 1 where requests ended on one side only; the outermost 1 % at either end "
                "are not drawn.",
                *(["By response size: mean difference, with its 95 % interval."] if panels[1:] else []),
                *(_counted(change) for change in comparison.changes),
            )
        ),
        tuple(panels),
        columns=len(panels),
        counted="requests",
        size=(9, 4.6),
    )
    return by_curve(figure)


def _distribution(change: Change, index: int) -> Series:
    """The share of requests up to each difference; infinite ones are beyond its ends."""
    ordered = np.sort(change.differences)
    total = len(ordered)
    places = np.unique(np.linspace(_CUT * (total - 1), (1 - _CUT) * (total - 1), CURVE_POINTS).round().astype(np.int64))
    places = places[np.isfinite(ordered[places])]
    detail = f": {share(change.everyone.faster)} faster, {share(change.everyone.slower)} slower"
    return Series(change.called, index, ordered[places], (places + 1) / max(total, 1), "steps", detail=detail)


def _by_size(change: Change, index: int) -> Series:
    """The mean difference of each class of sizes that has one, at the geometric middle of the class."""
    there = [each for each in change.sizes if each.mean_s.value is not None]
    middle = [math.sqrt(10) * max(each.from_bytes, 100) for each in there]
    values = [(each.mean_s.value, each.mean_s.low, each.mean_s.high) for each in there]
    y, low, high = (np.array(column, dtype=np.float64) for column in zip(*values, strict=True)) if values else _EMPTY
    low, high = np.where(np.isnan(low), y, low), np.where(np.isnan(high), y, high)
    n = np.array([each.n for each in there], dtype=np.int64)
    return Series(change.called, index, np.array(middle), y, "points", low, high, "bars", n)


_EMPTY = (np.empty(0), np.empty(0), np.empty(0))


def _counted(change: Change) -> str:
    lost = [
        f"{count(number)} ended {where}"
        for number, where in ((change.only_base, "at the base only"), (change.only_other, "there only"))
        if number
    ]
    return f"{change.called}: n = {count(change.pairs)} requests{', ' + ' and '.join(lost) if lost else ''}."
