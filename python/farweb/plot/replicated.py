"""Metrics at the points of a sweep: estimates over replications, and the words of captions on their basis.

A point where requests failed, or were cut off by the end of the run, has a hollow marker. A quantile that they reach
has no place on an axis (`farweb.statistics.quantiles`): the point is left out, and the caption says how many are.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from farweb.errors import ResultsError
from farweb.plot.figure import Floats, Series
from farweb.plot.links import Links
from farweb.results.metrics import find_metric
from farweb.results.sweep import SweepTables
from farweb.statistics.intervals import Interval, student
from farweb.text.parse import parse
from farweb.text.quantities import share
from farweb.text.words import listed

REPLICATIONS_MIN = 3
"""Replications from which intervals are drawn."""

_OF_LINK = re.compile(r"link_(\d+)_(up|down)_(bps|queue_bytes_mean|queue_bytes_max)")
_LINK_0 = {"carried_bps": "link_0_down_bps", "carried_up_bps": "link_0_up_bps"}


class Estimates:
    """A metric at the points of a sweep, with 95 % intervals over replications.

    Raises:
        ResultsError: There is no such metric; the message names the nearest.
    """

    def __init__(self, sweep: SweepTables, metric: str) -> None:
        self.metric = find_metric(metric)
        self._sweep = sweep
        self._values = sweep.values(metric)
        # Only quantiles' intervals need more than the values of runs, and take long where they are not tables yet.
        self._table = sweep.estimates([metric]) if self.metric.kind == "quantile" else None
        self.methods: set[str] = set()

    def possible(self, points: Sequence[int]) -> tuple[float, float]:
        """The least and the largest value that the metric can have there: an interval that goes beyond says nothing.

        Everything measured is at least 0, a share at most 1, a queue at most what its link can hold, and what a link
        carries at most its rate.
        """
        if self.metric.unit == "1":
            return 0.0, 1.0
        found = _OF_LINK.fullmatch(_LINK_0.get(self.metric.name, self.metric.name))
        if found is None:
            return 0.0, math.inf
        links = Links(self._sweep)
        limit = (links.rate if found[3] == "bps" else links.queue)(points, int(found[1]), found[2])
        return 0.0, math.inf if limit is None else limit

    def rests_on(self, points: Sequence[int]) -> list[int]:
        """The points with requests in the value over some points."""
        return list(points)

    def of(self, points: Sequence[int]) -> Interval:
        """The mean over some points, with its interval.

        Of several points it is the interval of each replication's mean: under common random numbers, values of the same
        replication at different points depend on each other. A replication that lacks one of the points is left out.
        """
        if len(points) == 1 and self._table is not None:
            row = self._table.row(by_predicate=pl.col("point") == points[0], named=True)
            found = Interval(*(row[name] for name in ("n", "mean", "sd", "low", "high")))
            method = "blocks" if row["interval_of"] == "blocks" else str(row["method"])
        else:
            found, method = student(self._values[list(points)].mean(axis=0)), "student"
            if not self._sweep.fixed_points.isdisjoint(self.rests_on(points)):
                found = replace(found, low=None, high=None)  # replications repeat a log
        if found.n >= REPLICATIONS_MIN and found.low is not None:
            self.methods.add(method)
        return found


class Differences(Estimates):
    """Differences of a metric at the points of a sweep from its value at another level of one factor.

    Differences are taken replication by replication, with Student's interval of their mean: under common random numbers
    both have the same requests, and what both have of chance cancels (Law, Simulation Modeling and Analysis, 5th ed.,
    2015, 10.2.1 and 11.2).

    Args:
        sweep: Which.
        metric: Its name.
        factor: Number of the factor.
        level: Number of the level from which differences are.

    Raises:
        ResultsError: There is no such metric; the message names the nearest.
    """

    def __init__(self, sweep: SweepTables, metric: str, factor: int, level: int) -> None:
        super().__init__(sweep, metric)
        design = sweep.design.points
        numbers = {tuple(levels): point for point, levels in enumerate(design)}
        self._bases = [numbers.get((*levels[:factor], level, *levels[factor + 1 :])) for levels in design]
        self._values = np.array(
            [
                _less(values, self._values[base]) if base is not None else np.full(len(values), np.nan)
                for values, base in zip(self._values, self._bases, strict=True)
            ]
        )
        self._table = None

    def rests_on(self, points: Sequence[int]) -> list[int]:
        """These points, and those from which their differences are."""
        bases = [base for point in points if (base := self._bases[point]) is not None]
        return sorted({*points, *bases})

    def possible(self, points: Sequence[int]) -> tuple[float, float]:
        """A difference may be anything."""
        del points
        return -math.inf, math.inf


def _less(values: Floats, base: Floats) -> Floats:
    """Differences; infinite where failed requests reach either value: their distance is not known."""
    reached = np.isinf(values) | np.isinf(base)
    with np.errstate(invalid="ignore"):
        return np.where(reached, np.inf, values - base)


def judged(found: Interval) -> tuple[float, float] | None:
    """The ends of an interval that is worth drawing; None where there is none.

    Of two values Student's interval is thirteen times as wide as they are apart, and says nothing but that two are few.
    """
    if found.n < REPLICATIONS_MIN or found.low is None or found.high is None:
        return None
    return found.low, found.high


def series_of(x: Floats, found: Sequence[Interval], least: float, most: float) -> Series:
    """Means with their intervals as a series, which has neither name nor look yet.

    Args:
        x: Place of each.
        found: The means and intervals.
        least: Where intervals end below.
        most: Where they end above, if the mean itself is not higher.
    """
    mean = np.array([each.mean for each in found], dtype=np.float64)
    ends = [judged(each) for each in found]
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
