"""What failed requests make of a figure: which markers are hollow, and what the caption says of them.

A point where requests failed, or were cut off by the end of the run, has a hollow marker. A quantile that they reach
has no place on an axis (`farweb.statistics.quantiles`): the point is left out, and the caption says how many are.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from farweb.plot.figure import Series
from farweb.results.sweep import SweepTables
from farweb.text.quantities import share


def hollow(series: Series) -> NDArray[np.bool_]:
    """Which values of a series have a hollow marker."""
    return np.zeros(len(series.x), bool) if series.failed is None else series.failed > 0


def failed_share(sweep: SweepTables, points: Sequence[int]) -> float:
    """The share of requests of all runs of some points that failed or were cut off."""
    requests, lost = _counted(sweep, points)
    return lost / requests if requests else 0.0


def failures_told(sweep: SweepTables, points: Sequence[int], beyond: int = 0) -> str:
    """How many requests failed at the points that are drawn, for a caption; empty when none did.

    Args:
        sweep: Which.
        points: Those that are drawn.
        beyond: Points that are not, since failed requests reach their value.
    """
    requests, lost = _counted(sweep, points)
    if not lost:
        return ""
    most = max(failed_share(sweep, [point]) for point in points)
    out = f" Not drawn: {points_told(beyond)} whose value failed requests reach." if beyond else ""
    return (
        f"Hollow: requests failed or were cut off there, {lost:,} ({share(lost / requests)}) in all and up to "
        f"{share(most)} at a point; quantiles count them as slower than any that ended, means leave them out.{out}"
    )


def points_told(number: int) -> str:
    """A number of points in words."""
    return f"{number:,} point{'' if number == 1 else 's'}"


def lost_told(answered: int, lost: Iterable[tuple[str, int]]) -> str:
    """How many requests of runs are drawn, and what became of the others, as a sentence for a caption.

    Args:
        answered: Requests that ended.
        lost: What became of the others, and how many they are.
    """
    named = [(what, number) for what, number in lost if number]
    total = answered + sum(number for _, number in named)
    if not named:
        return f"n = {total:,} requests."
    parts = " and ".join(f"{number:,} {what}" for what, number in named)
    return f"n = {total:,} requests, {parts} ({share(1 - answered / total)}): they count as slower than any that ended."


def _counted(sweep: SweepTables, points: Sequence[int]) -> tuple[int, int]:
    drawn = sweep.runs.filter(sweep.points.is_in(list(points)))
    requests, failed, unfinished = (int(drawn.select(pl.col(name).sum()).item() or 0) for name in _COUNTS)
    return requests, failed + unfinished


_COUNTS = ("requests", "failed", "unfinished")
