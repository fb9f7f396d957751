"""Latency against the size of the response: of runs each request, of a sweep medians over all seeds."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from farweb.paint.figure import Density, Figure, Floats, Panel, Series
from farweb.paint.multiples import SERIES_MAX, with_others
from farweb.plot.catalogue import figure
from farweb.plot.grouping import Group
from farweb.plot.latency import CLASS_MIN, LATENCY, SIZE, about_hollow, medians, of_latency
from farweb.plot.measured import Measured, counts, measured, provenance
from farweb.plot.pooled import Pool, Pools, medians_of
from farweb.results.estimates import REPLICATIONS_MIN
from farweb.results.run import RunTables
from farweb.results.select import Where
from farweb.results.sweep import SweepTables

SCATTER_MAX = 20_000
"""Requests up to which each is a dot of its own; above, density is drawn. Chosen: more dots hide one another."""

CELLS = (70, 50)
"""Columns and rows of cells in which density is counted; chosen: a cell of a panel is some two points wide."""


@figure("size-latency", of="runs", shows="latency against response size, with the median by size class")
def of_runs(results: Sequence[RunTables]) -> Figure:
    """Latency against response size on logarithmic axes, with the median by size class.

    Every finished request is a dot; with more than `SCATTER_MAX` requests each result gets a panel that shows density.
    A size class spans a factor of two; bars are the 95 % interval of its median.

    Raises:
        FarwebError: A result has no finished request.
    """
    requests = measured(results)
    dots = sum(len(each.finished) for each in requests) <= SCATTER_MAX
    many = len(requests) > SERIES_MAX
    panels = (_scatters(requests) if many else _scatter(requests)) if dots else _densities(requests)
    drawn, grey = with_others(panels) if many else (panels, "")
    what = "Each dot is a request." if dots else "Shade: number of requests, on a logarithmic scale."
    return of_latency(
        "Latency by response size",
        f"{what} Lines: median by size class (a factor of two, at least {CLASS_MIN} requests); bars: its 95 % interval "
        f"by order statistics, requests taken as independent. Latency runs from the start of a request to the last "
        f"byte of its response at the first node. {counts(requests)}{about_hollow(requests)} "
        f"{provenance(results, measured=True)}{grey}",
        drawn,
    )


def _scatter(requests: Sequence[Measured]) -> tuple[Panel, ...]:
    series: list[Series] = []
    for index, each in enumerate(requests):
        size, latency = _columns(each)
        series.append(Series("", index, size, latency, "dots"))
    for index, each in enumerate(requests):
        series.append(_medians(each, index, each.label if len(requests) > 1 else ""))
    return (Panel(SIZE, LATENCY, tuple(series)),)


def _scatters(requests: Sequence[Measured]) -> tuple[Panel, ...]:
    """A panel a result."""
    return tuple(
        Panel(SIZE, LATENCY, (Series("", index, *_columns(each), "dots"), _medians(each, index, "")), title=each.label)
        for index, each in enumerate(requests)
    )


def _densities(requests: Sequence[Measured]) -> tuple[Panel, ...]:
    """A panel a result, with common cells."""
    columns = [_columns(each) for each in requests]
    edges = [
        np.geomspace(
            min(float(each.min()) for each in both) / 1.05, max(float(each.max()) for each in both) * 1.05, n + 1
        )
        for both, n in zip(zip(*columns, strict=True), CELLS, strict=True)
    ]
    panels = []
    for index, (each, (size, latency)) in enumerate(zip(requests, columns, strict=True)):
        count = np.histogram2d(size, latency, bins=edges)[0].T.astype(np.int64)
        density = Density(edges[0], edges[1], count, "requests")
        panels.append(
            Panel(SIZE, LATENCY, (_medians(each, index, ""),), title=each.label, index=index, density=density)
        )
    return tuple(panels)


def _columns(each: Measured) -> tuple[Floats, Floats]:
    """Size and latency of each finished request; a logarithmic axis has no place for a size of 0."""
    size = each.finished["response_bytes"].to_numpy().astype(np.float64)
    return np.maximum(size, 1.0), each.finished["latency_s"].to_numpy()


def _medians(each: Measured, index: int, label: str) -> Series:
    return medians(each.sizes, each.latencies).series(label, index)


@figure("size-latency", of="sweep", shows="median latency by response size, by size class")
def of_sweep(sweep: SweepTables, *, by: Sequence[str] | None = None, where: Where | None = None) -> Figure:
    """Median latency by size class, a line a combination of levels.

    Raises:
        FarwebError: An unknown factor or level, or too many series.
        ResultsError: No request finished, or the tables of requests are not there.
    """
    pools = Pools(sweep, by, where)

    def series(pool: Pool, group: Group) -> tuple[Series, ...]:
        found = replace(medians_of(pool).series(group.label, group.index), shade=group.shade)
        return (replace(found, low=None, high=None) if 1 < pool.clusters < REPLICATIONS_MIN else found,)

    panels = [
        Panel(SIZE, LATENCY, drawn, title=title)
        for drawn, title in zip(pools.panels(series), pools.arrangement.titles, strict=True)
    ]
    return pools.figure(
        "Latency by response size",
        f"Median latency by size class (a factor of two, at least {CLASS_MIN} requests), the requests of all "
        f"seeds. {pools.interval('Bars', 'by order statistics')}{about_hollow(pools.counted)}",
        panels,
    )
