"""Estimates of a sweep as series, and the words of captions on their basis.

A point where requests failed, or were cut off by the end of the run, has a hollow marker. A quantile that they reach
has no place on an axis (`farweb.statistics.quantiles`): the point is left out, and the caption says how many are.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import polars as pl

from farweb.errors import ResultsError
from farweb.paint.figure import Floats, Series
from farweb.results.estimates import REPLICATIONS_MIN, Estimates
from farweb.results.sweep import SweepTables
from farweb.statistics.intervals import Estimate
from farweb.text.parse import parse
from farweb.text.quantities import share
from farweb.text.words import listed


def drawn_ends(found: Estimate) -> tuple[float, float] | None:
    """The ends of an interval that is worth drawing; None where there is none.

    Of two values Student's interval is thirteen times as wide as they are apart, and says only that two are few.
    """
    if found.n < REPLICATIONS_MIN or found.low is None or found.high is None:
        return None
    return found.low, found.high


def series_of(x: Floats, found: Sequence[Estimate], least: float, most: float) -> Series:
    """Means with their intervals as a series, which has neither name nor look yet.

    Args:
        x: Place of each.
        found: The means and intervals.
        least: Where intervals end below.
        most: Where they end above, if the mean itself is not higher.
    """
    mean = np.array([each.value for each in found], dtype=np.float64)
    ends = [drawn_ends(each) for each in found]
    low, high = (
        np.array([m if each is None else each[side] for m, each in zip(mean, ends, strict=True)]) for side in (0, 1)
    )
    low, high = np.maximum(low, least), np.minimum(high, np.maximum(most, mean))
    drawn = {"low": low, "high": high} if any(ends) else {}
    return Series("", None, x, mean, **drawn, n=np.array([each.n for each in found], dtype=np.int64))


def about_intervals(estimates: Iterable[Estimates]) -> str:
    """Method of the intervals, for a caption; empty where none is drawn."""
    methods = set().union(*(each.methods for each in estimates))
    names = {"student": "Student", "bootstrap": "bootstrap of the seeds"}
    used = [name for method, name in names.items() if method in methods]
    said = [f"over seeds ({listed(used)})"] if used else []
    said += ["of time blocks of this log (bootstrap)"] if "blocks" in methods else []
    return f"95 % interval {' and '.join(said)}" if said else ""


def about_runs(sweep: SweepTables, points: Sequence[int]) -> str:
    """Points, seeds and version of the runs drawn, for a caption."""
    drawn = sweep.runs.with_columns(point=sweep.points).filter(pl.col("point").is_in(points))
    done = drawn.filter(pl.col("status") == "done")
    if done.is_empty():
        raise ResultsError(f"{sweep.path}: no run of these points is done: nothing to plot")
    repeats = done.group_by("point").len()["len"]
    fewest, most = int(repeats.min()), int(repeats.max())  # type: ignore[arg-type]
    each = f"{most}" if fewest == most else f"{fewest} to {most}"
    seeds = sorted(set(done["seed"].to_list()))
    failed = len(drawn) - len(done)
    left_out = f"; {failed:,} failed and left out" if failed else ""
    unfinished = "" if sweep.complete else " The sweep is not finished."
    return (
        f"n = {len(done):,} runs: {len(repeats):,} {_many('point', len(repeats))} × {each} "
        f"{_many('seed', most)}{left_out}. {_seeds(seeds)}, farweb {sweep.manifest['version']}."
        f"{_about_warmup(sweep)}{unfinished}"
    )


def _about_warmup(sweep: SweepTables) -> str:
    """Length of the beginning of each run that is in no number, for a caption."""
    if any(factor.name == "run.warmup" for factor in sweep.design.factors):
        return " Warm-up is left out, as long as the factor says."
    warmup = sweep.manifest["scenario"].get("run", {}).get("warmup", "0 s")
    return f" Warm-up: the first {warmup} are left out." if parse(str(warmup)).number else ""


def _many(word: str, number: int) -> str:
    return word if number == 1 else f"{word}s"


def _seeds(seeds: Sequence[int]) -> str:
    if len(seeds) == 1:
        return f"Seed {seeds[0]}"
    if seeds == list(range(seeds[0], seeds[0] + len(seeds))):
        return f"Seeds {seeds[0]}–{seeds[-1]}"
    return f"Seeds {listed([str(seed) for seed in seeds])}" if len(seeds) <= 6 else f"{len(seeds):,} seeds"


def failed_share(sweep: SweepTables, points: Sequence[int]) -> float:
    """The share of requests of all runs of some points that failed or were cut off."""
    requests, lost = _counted(sweep, points)
    return lost / requests if requests else 0.0


def about_failures(sweep: SweepTables, points: Sequence[int], beyond: int = 0) -> str:
    """Number of requests that failed at the points that are drawn, for a caption; empty when none did.

    Args:
        sweep: Which.
        points: Points that are drawn.
        beyond: Points that are not, since failed requests reach their value.
    """
    requests, lost = _counted(sweep, points)
    if not lost:
        return ""
    most = max(failed_share(sweep, [point]) for point in points)
    out = f" Not drawn: {beyond:,} {_many('point', beyond)} whose value failed requests reach." if beyond else ""
    return (
        f"Hollow: requests failed or were cut off there, {lost:,} ({share(lost / requests)}) in all and up to "
        f"{share(most)} at a point; quantiles count them as slower than any that ended, means leave them out.{out}"
    )


def _counted(sweep: SweepTables, points: Sequence[int]) -> tuple[int, int]:
    """Requests of all runs of some points, and how many failed or were cut off."""
    drawn = sweep.runs.filter(sweep.points.is_in(list(points)))
    requests, failed, unfinished = (int(drawn[name].sum() or 0) for name in ("requests", "failed", "unfinished"))
    return requests, failed + unfinished
