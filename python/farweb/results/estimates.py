"""Metrics at the points of a sweep, pooled over some of them: estimates, and differences from another level.

A point where failed requests reach a quantile has an infinite value (`farweb.statistics.quantiles`).
"""

import math
import re
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from farweb.results.links import Links
from farweb.results.metrics import find_metric
from farweb.results.sweep import SweepTables
from farweb.results.sweep_statistics import Row, Values, columns_of
from farweb.statistics.intervals import Estimate, student

REPLICATIONS_MIN = 3
"""Replications from which intervals are drawn."""

POOLED = ("n", "mean", "sd", "low", "high", "method", "interval_of")
"""Columns of the table `estimates` that pooled points have too."""

_OF_LINK = re.compile(r"link_(\d+)_(up|down)_(bps|queue_bytes_mean|queue_bytes_max)")
_LINK_0 = {"carried_bps": "link_0_down_bps", "carried_up_bps": "link_0_up_bps"}


class Estimates:
    """A metric at the points of a sweep, with 95 % intervals over replications.

    Attributes:
        metric: The metric.
        methods: Methods of the intervals so far, of `REPLICATIONS_MIN` replications or more.

    Raises:
        ResultsError: There is no such metric; the message names the nearest.
    """

    def __init__(self, sweep: SweepTables, metric: str) -> None:
        self.metric = find_metric(metric)
        self._sweep = sweep
        self._values = sweep.values(metric)
        # Only quantiles' intervals need more than the values of runs, and take long where they are not tables yet.
        is_quantile = self.metric.kind == "quantile"
        self._rows = {row["point"]: row for row in sweep.estimates([metric]).to_dicts()} if is_quantile else {}
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

    def of(self, points: Sequence[int]) -> Estimate:
        """The mean over some points, with its interval; see `row`."""
        row = self.row(points)
        if row["n"] >= REPLICATIONS_MIN and row["low"] is not None:
            self.methods.add("blocks" if row["interval_of"] == "blocks" else row["method"])
        return Estimate(*(row[name] for name in ("n", "mean", "sd", "low", "high")))

    def row(self, points: Sequence[int]) -> Row:
        """The mean over some points, with the columns `POOLED`.

        Of several points the interval is of each replication's mean: under common random numbers, values of the same
        replication at different points depend on each other. A replication that lacks one of the points is left out.
        """
        if len(points) == 1 and points[0] in self._rows:
            return self._rows[points[0]]
        found = student(self._values[list(points)].mean(axis=0))
        if not self._sweep.fixed_points.isdisjoint(self.rests_on(points)):
            found = replace(found, low=None, high=None)  # replications repeat a log
        method, origin = ("none", "none") if found.low is None else ("student", "replications")
        return {**columns_of(found), "method": method, "interval_of": origin}


class Differences(Estimates):
    """Differences of a metric at the points of a sweep from its value at another level of one factor.

    Differences are taken replication by replication, with Student's interval of their mean: under common random numbers
    both have the same requests, and what both have of chance cancels (Law, Simulation Modeling and Analysis, 5th ed.,
    2015, 10.2.1 and 11.2).

    Args:
        sweep: Which.
        metric: Its name.
        factor: Number of the factor.
        level: Number of the level that differences start from.

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
        self._rows = {}

    def rests_on(self, points: Sequence[int]) -> list[int]:
        """These points, and the points that their differences start from."""
        bases = [base for point in points if (base := self._bases[point]) is not None]
        return sorted({*points, *bases})

    def possible(self, points: Sequence[int]) -> tuple[float, float]:
        """A difference may be anything."""
        del points
        return -math.inf, math.inf


def _less(values: Values, base: Values) -> Values:
    """Differences; infinite where failed requests reach either value: their distance is not known."""
    reached = np.isinf(values) | np.isinf(base)
    with np.errstate(invalid="ignore"):
        return np.where(reached, np.inf, values - base)
