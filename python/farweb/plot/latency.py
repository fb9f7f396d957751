"""Figures of latency: against the size of the response, and as a distribution."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from farweb.plot.figure import Axis, Density, Figure, Floats, Panel, Series, columns_of, size_of, with_others
from farweb.plot.grouping import SERIES_MAX
from farweb.plot.measured import Measured, counts, measured, provenance
from farweb.results.run import RunTables
from farweb.statistics.quantiles import quantiles
from farweb.text.quantities import seconds

SCATTER_MAX = 20_000
"""Requests up to which each is a dot of its own; above, density is drawn. Chosen: more dots hide one another."""

CLASS_MIN = 10
"""Requests that a size class needs for a median. Chosen: from 6 on the sample holds a 95 % interval (1 − 2·2⁻⁶), but
that is its whole range; from 10 on the extremes no longer decide."""

CURVE_POINTS = 1_000
"""Points of a distribution curve; chosen: about as many as a screen has columns."""

CELLS = (70, 50)
"""Columns and rows of cells in which density is counted; chosen: a cell of a panel is some two points wide."""

SIZE = Axis("response size, headers included", "B", "log")
LATENCY = Axis("latency", "s", "log")
MARKED = (0.5, 0.9, 0.99)


def size_latency(results: Sequence[RunTables]) -> Figure:
    """Latency against response size on logarithmic axes, with the median by size class.

    Every finished request is a dot; with more than `SCATTER_MAX` requests each result gets a panel that shows density.
    A size class spans a factor of two; bars are the 95 % interval of its median.

    Raises:
        FarwebError: A result has no finished request.
    """
    requests = measured(results)
    dots = sum(len(each.finished) for each in requests) <= SCATTER_MAX and len(requests) <= SERIES_MAX
    panels = _scatter(requests) if dots else _densities(requests)
    what = "Each dot is a request." if dots else "Shade: number of requests, on a logarithmic scale."
    columns = columns_of(len(panels))
    return Figure(
        "Latency by response size",
        f"{what} Lines: median by size class (a factor of two, at least {CLASS_MIN} requests); bars: its 95 % interval "
        f"by order statistics, requests taken as independent. Latency runs from the start of a request to the last "
        f"byte of its response at the first node. {counts(requests)}{hollow_told(requests)} "
        f"{provenance(results, measured=True)}",
        panels,
        columns=columns,
        counted="requests",
        size=size_of(len(panels)),
        share_x=True,
        share_y=True,
    )


@dataclass(frozen=True)
class Medians:
    """Medians by size class, an element a class, by size.

    Classes whose median failed requests reach are left out.

    Attributes:
        size: Geometric mean of the sizes, in B.
        median: Of the latencies, in s.
        low: Lower ends of the 95 % intervals.
        high: Upper ends; the slowest request that ended where failed ones reach them.
        size_class: Numbers of the classes.
        n: Requests in each.
        failed: Share of them that did not end.
    """

    size: Floats
    median: Floats
    low: Floats
    high: Floats
    size_class: NDArray[np.int64]
    n: NDArray[np.int64]
    failed: Floats

    def series(self, label: str, index: int) -> Series:
        """The medians as a line with bars."""
        failed = self.failed if self.failed.any() else None
        return Series(
            label, index, self.size, self.median, "points", self.low, self.high, "bars", self.n, failed=failed
        )


def _scatter(requests: Sequence[Measured]) -> tuple[Panel, ...]:
    series: list[Series] = []
    for index, each in enumerate(requests):
        size, latency = _columns(each)
        series.append(Series("", index, size, latency, "dots"))
    for index, each in enumerate(requests):
        series.append(_medians(each, index, each.label if len(requests) > 1 else ""))
    return (Panel(SIZE, LATENCY, tuple(series)),)


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


def hollow_told(requests: Sequence[Measured]) -> str:
    """What hollow markers are, where there are any."""
    return " Hollow: a class in which requests did not end." if any(len(each.lost_bytes) for each in requests) else ""


def _columns(each: Measured) -> tuple[Floats, Floats]:
    """Size and latency of each finished request; a logarithmic axis has no place for a size of 0."""
    size = each.finished["response_bytes"].to_numpy().astype(np.float64)
    return np.maximum(size, 1.0), each.finished["latency_s"].to_numpy()


def _medians(each: Measured, index: int, label: str) -> Series:
    return medians(each.sizes, each.latencies).series(label, index)


def size_classes(size: NDArray[np.int64]) -> NDArray[np.int64]:
    """The class of each size: k for [2^k, 2^(k+1)) bytes."""
    return np.floor(np.log2(np.maximum(size, 1))).astype(np.int64)


def medians(size: NDArray[np.int64], latency: Floats) -> Medians:
    """Median latency by size class, with the 95 % interval of each.

    Classes with fewer than `CLASS_MIN` requests are left out. Latencies are infinite of requests that did not end. The
    interval lies between two order statistics, by the
    normal approximation of the binomial: ranks n/2 ± 0.98·√n.
    """
    classes = size_classes(size)
    numbers, rows = [], []
    for number in np.unique(classes):
        inside = classes == number
        n = int(inside.sum())
        if n < CLASS_MIN:
            continue
        ordered = np.sort(latency[inside])
        (median,) = quantiles(ordered, [0.5])
        if median is None or math.isinf(median):
            continue
        reach = 0.98 * math.sqrt(n)
        low = ordered[max(math.floor(n / 2 - reach), 1) - 1]
        high = ordered[min(math.ceil(1 + n / 2 + reach), n) - 1]
        ended = ordered[np.isfinite(ordered)]
        numbers.append((number, n))
        at = np.exp(np.log(np.maximum(size[inside], 1)).mean())
        rows.append((at, median, low, min(high, ended[-1]), 1 - len(ended) / n))
    table = np.array(rows, dtype=np.float64).reshape(-1, 5)
    whole = np.array(numbers, dtype=np.int64).reshape(-1, 2)
    middle, medians_s, lows, highs, failed = table.T
    return Medians(middle, medians_s, lows, highs, whole[:, 0], whole[:, 1], failed)


def cdf(results: Sequence[RunTables]) -> Figure:
    """Distribution of latency: the share of requests that took at most so long, a curve a result.

    Where requests failed or were cut off, the curve ends at the share of the others.

    The band is the 95 % band of Dvoretzky, Kiefer and Wolfowitz with Massart's constant (Annals of Probability 18,
    1990), which takes requests as independent. Dots mark the 50th, 90th and 99th percentile.

    Raises:
        FarwebError: A result has no finished request.
    """
    requests = measured(results)
    many = len(requests) > SERIES_MAX
    curves = [distribution(each.latencies, each.label, 0 if many else index) for index, each in enumerate(requests)]
    panels = [Panel(LATENCY, SHARE, tuple(part for curve in curves for part in curve))]
    if many:
        panels = [
            Panel(LATENCY, SHARE, (replace(curve, label=""), marks), title=curve.label + curve.detail)
            for curve, marks in curves
        ]
    drawn, grey = with_others(panels)
    return Figure(
        "Distribution of latency",
        "Share of all requests whose last byte arrived within the time on the axis. Dots: 50th, 90th and 99th "
        f"percentile. Bands: 95 % (Dvoretzky–Kiefer–Wolfowitz), requests taken as independent. {counts(requests)} "
        f"{provenance(results, measured=True)}{grey}",
        drawn,
        columns=columns_of(len(panels)),
        counted="requests",
        size=size_of(len(panels)),
        share_x=True,
        share_y=True,
    )


SHARE = Axis("share of requests", low=0, high=1.02, marks=(0, 0.25, 0.5, 0.75, 0.9, 1))


def distribution(latency: Floats, label: str, index: int) -> tuple[Series, Series]:
    """The curve of a distribution with its band, and the percentiles on it; its label tells them.

    Args:
        latency: Infinite of requests that did not end, which the curve does not reach.
        label: Name of the curve.
        index: Number of its style.
    """
    ordered, all_of_them = np.sort(latency[np.isfinite(latency)]), len(latency)
    n = len(ordered)
    place = np.unique(np.linspace(0, n - 1, min(n, CURVE_POINTS)).round().astype(np.int64))
    x = np.concatenate((ordered[:1], ordered[place]))
    share = np.concatenate(([0.0], (place + 1) / all_of_them))
    half = math.sqrt(math.log(2 / 0.05) / (2 * all_of_them))
    low, high = np.clip(share - half, 0, 1), np.clip(share + half, 0, 1)
    curve = Series(label, index, x, share, "steps", low, high, detail=f":  {percentiles(latency)}")
    return curve, marked(latency, index)


def marked(latency: Floats, index: int) -> Series:
    """Dots at the percentiles of a distribution, as far as they are not among requests that did not end."""
    places = np.array(quantiles(latency, MARKED), dtype=np.float64)
    there = np.isfinite(places)
    return Series("", index, places[there], np.array(MARKED)[there], "marks", part="percentiles")


def percentiles(latency: Floats) -> str:
    """The percentiles that a curve marks, in words."""
    named = zip(("median", "90 %", "99 %"), quantiles(latency, MARKED), strict=True)
    return ", ".join(f"{name} {_reached(value)}" for name, value in named)


def _reached(percentile: float | None) -> str:
    return seconds(percentile) if percentile is not None and math.isfinite(percentile) else "not reached"
