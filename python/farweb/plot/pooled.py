"""Requests of a sweep, all replications of a point together, by size and as a distribution.

Requests of a run share its queues and depend on each other; only replications do not. Intervals take each
replication for a cluster: by Cochran, Sampling Techniques, 3rd ed., 1977, 3.12 (a share, from clusters of unequal
sizes), and for medians by Woodruff, Confidence Intervals for Medians and Other Position Measures, Journal of the
American Statistical Association 47, 1952, which turns the interval of the share below the median into one of latencies.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from farweb.errors import ResultsError
from farweb.paint.figure import Figure, Floats, Panel, Series
from farweb.paint.multiples import with_others
from farweb.plot.grouping import Group, arrange
from farweb.plot.latency import Medians, distribution, marked, medians, of_latency, size_classes
from farweb.plot.measured import Measured, counts_together, measured_run
from farweb.plot.replicated import about_runs
from farweb.results.design import Design
from farweb.results.estimates import REPLICATIONS_MIN
from farweb.results.select import Where, numeric, select, thinned, varying
from farweb.results.sweep import SweepTables
from farweb.statistics import blocks
from farweb.statistics.intervals import student_quantiles
from farweb.statistics.quantiles import quantiles
from farweb.text.words import listed

Numbers = NDArray[np.int64]

GRID = 400
"""Times at which the distribution of a pool is reckoned; chosen: there are several in a figure, each smaller."""


@dataclass(frozen=True)
class Pool:
    """Requests of several runs.

    Attributes:
        size: Response sizes, in B.
        latency: In s; infinite of requests that did not end.
        cluster: The replication of each, or, where each replication has the same requests, the block of the log's time,
            numbered from 0 without gaps.
        clusters: How many there are.
    """

    size: Numbers
    latency: Floats
    cluster: Numbers
    clusters: int


class Pools:
    """The requests of the groups of a sweep's points, one group at a time in memory.

    Attributes:
        arrangement: The groups.
        clusters: Most of a group, once `panels` has read them.
        counted: Their requests by run, from then on.
    """

    def __init__(self, sweep: SweepTables, by: Sequence[str] | None, where: Where | None) -> None:
        self._sweep = sweep
        selected = select(sweep.design, where or {})
        by = _by(sweep.design, selected, by)
        points, self._notes = thinned(sweep.design, selected, [name for name in by if name not in (where or {})])
        self._runs = about_runs(sweep, points)
        self.arrangement = arrange(sweep.design, points, by)
        self._fixed = not sweep.fixed_points.isdisjoint(points)
        self.clusters = 1
        self.counted: list[Measured] = []

    def panels(self, series: Callable[[Pool, Group], tuple[Series, ...]]) -> list[tuple[Series, ...]]:
        """Series that `series` makes of each group, by panel.

        Raises:
            ResultsError: No request finished.
        """
        drawn: list[list[Series]] = [[] for _ in self.arrangement.titles]
        for group in self.arrangement.groups:
            pool = self._read(group)
            if np.isfinite(pool.latency).any():
                self.clusters = max(self.clusters, pool.clusters)
                drawn[group.panel] += series(pool, group)
        if not any(drawn):
            raise ResultsError(f"{self._sweep.path}: no request finished, so there is no latency to plot")
        return [tuple(each) for each in drawn]

    def interval(self, sign: str, alone: str) -> str:
        """Meaning of the intervals and their sign, for the caption; `alone`: the way with one seed."""
        if self.clusters == 1:
            return f"{sign}: 95 % interval ({alone}), requests taken as independent."
        if self.clusters < REPLICATIONS_MIN:
            return f"{self.clusters} seeds are too few for intervals."
        if self._fixed:
            return f"{sign}: 95 % interval, each time block of this log taken as a cluster."
        return f"{sign}: 95 % interval, each seed taken as a cluster."

    def _read(self, group: Group) -> Pool:
        rows = self._sweep.runs.with_columns(point=self._sweep.points)
        rows = rows.filter((pl.col("status") == "done") & pl.col("point").is_in(group.points))
        numbers = {each: number for number, each in enumerate(sorted(set(rows["replication"])))}
        found = [
            (measured_run(self._sweep.part(run)), numbers[r])
            for run, r in rows.select("run", "replication").iter_rows()
        ]
        self.counted += [each for each, _ in found]
        if not found:
            return Pool(np.empty(0, np.int64), np.empty(0), np.empty(0, np.int64), 0)
        clusters, of_each = len(numbers), [np.full(len(each.sizes), number) for each, number in found]
        if self._fixed:
            clusters = blocks.number_of_blocks(min(len(each.sizes) for each, _ in found))
            of_each = [blocks.places(each.starts, clusters) for each, _ in found]
        return Pool(
            np.concatenate([each.sizes for each, _ in found]),
            np.concatenate([each.latencies for each, _ in found]),
            np.concatenate(of_each),
            clusters,
        )

    def figure(self, title: str, seen: str, panels: Sequence[Panel]) -> Figure:
        """The figure of these panels, with its message at the head of the caption."""
        together = listed(list(self.arrangement.together))
        caption = (
            seen,
            f"Requests at all levels of {together} together." if together else "",
            *self._notes,
            *self.arrangement.notes,
            counts_together(self.counted),
            self._runs,
        )
        drawn, grey = with_others(panels)
        return of_latency(
            f"{title} – {self._sweep.name}",
            " ".join(each for each in caption if each) + grey,
            drawn,
            self.arrangement.legend,
        )


def _by(design: Design, points: Sequence[int], by: Sequence[str] | None) -> Sequence[str]:
    """Factors that make series: those named, or all that vary; the one with most levels last, to make colours."""
    if by is not None:
        return by
    levels = {number: len({design.points[point][number] for point in points}) for number in varying(design, points)}
    if design.kind == "latin-hypercube":
        # Every point has numbers of its own: only names can be distinguished.
        levels = {number: each for number, each in levels.items() if not numeric(design.factors[number])}
    return [design.factors[number].name for number in sorted(levels, key=lambda number: levels[number])]


def distribution_of(pool: Pool, index: int) -> tuple[Series, Series]:
    """The curve of a pool's latencies with the interval of each share, and percentiles on it."""
    if pool.clusters == 1:
        return distribution(pool.latency, "", index)
    ended = pool.latency[np.isfinite(pool.latency)]
    grid = np.unique(np.quantile(ended, np.linspace(0, 1, GRID), method="inverted_cdf"))
    share, half = shares(pool.latency, pool.cluster, pool.clusters, grid)
    x, share, half = np.append(grid[:1], grid), np.append(0.0, share), np.append(0.0, half)
    low, high = np.clip(share - half, 0, 1), np.clip(share + half, 0, 1)
    ends = (low, high) if pool.clusters >= REPLICATIONS_MIN else (None, None)
    return Series("", index, x, share, "steps", *ends), marked(pool.latency, index)


def shares(latency: Floats, cluster: Numbers, clusters: int, at: Floats) -> tuple[Floats, Floats]:
    """The share of latencies up to each time, and half the width of its 95 % interval.

    Args:
        latency: Of all clusters.
        cluster: Cluster of each, from 0.
        clusters: How many there are, at least 2; some may be empty.
        at: The times.
    """
    total = np.bincount(cluster, minlength=clusters).astype(np.float64)
    reached = np.stack(
        [np.searchsorted(np.sort(latency[cluster == number]), at, "right") for number in range(clusters)]
    ).astype(np.float64)
    share: Floats = reached.sum(axis=0) / total.sum()
    apart = reached - share * total[:, None]
    variance = np.square(apart).sum(axis=0) * clusters / (clusters - 1) / total.sum() ** 2
    return share, student_quantiles(clusters - 1) * np.sqrt(variance)


def medians_of(pool: Pool) -> Medians:
    """Median latency by size class as `medians`, with the interval that replications give where there are several."""
    found = medians(pool.size, pool.latency)
    if pool.clusters == 1:
        return found
    classes = size_classes(pool.size)
    ends, slowest = [], []
    for number, median in zip(found.size_class, found.median, strict=True):
        latency = pool.latency[classes == number]
        at = np.array([median])
        half = shares(latency, pool.cluster[classes == number], pool.clusters, at)[1][0]
        ends.append(quantiles(latency, np.clip((0.5 - half, 0.5 + half), 0, 1).tolist()))
        slowest.append(latency[np.isfinite(latency)].max())
    low_high = np.array(ends, dtype=np.float64).reshape(-1, 2)
    return replace(found, low=low_high[:, 0], high=np.minimum(low_high[:, 1], slowest))
