"""Figures of latency: against the size of the response, and as a distribution."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from farweb.plot.figure import Axis, Density, Figure, Floats, Panel, Series
from farweb.plot.measured import Measured, counts, measured, provenance
from farweb.quantities import seconds
from farweb.results import Results

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


def size_latency(results: Sequence[Results]) -> Figure:
    """Latency against response size on logarithmic axes, with the median by size class.

    Every finished request is a dot; with more than `SCATTER_MAX` requests each result gets a panel that shows density.
    A size class spans a factor of two; bars are the 95 % interval of its median.

    Raises:
        FarwebError: A result has no finished request.
    """
    requests = measured(results)
    dots = sum(len(each.finished) for each in requests) <= SCATTER_MAX
    panels = _scatter(requests) if dots else _densities(requests)
    what = "Each dot is a request." if dots else "Shade: number of requests, on a logarithmic scale."
    columns = min(2, len(panels))
    return Figure(
        "Latency by response size",
        f"{what} Lines: median by size class (a factor of two, at least {CLASS_MIN} requests); bars: its 95 % interval "
        f"by order statistics, requests taken as independent. Latency runs from the start of a request to the last "
        f"byte of its response at the first node. {counts(requests)} {provenance(results)}",
        panels,
        columns=columns,
        counted="requests",
        size=(8, 5.2 if len(panels) == 1 else 1.2 + 3.6 * math.ceil(len(panels) / columns)),
        share_x=True,
        share_y=True,
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
        np.geomspace(min(float(each.min()) for each in both) / 1.05, max(float(each.max()) for each in both) * 1.05, n + 1)
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
    size, median, low, high, n = medians(
        each.finished["response_bytes"].to_numpy(), each.finished["latency_s"].to_numpy()
    )
    return Series(label, index, size, median, "points", low, high, "bars", n)


def medians(
    size: NDArray[np.int64], latency: Floats
) -> tuple[Floats, Floats, Floats, Floats, NDArray[np.int64]]:
    """Median latency by size class, with the 95 % interval of each.

    Classes are [2^k, 2^(k+1)) bytes; those with fewer than `CLASS_MIN` requests are left out. The interval lies between
    two order statistics, by the normal approximation of the binomial: ranks n/2 ± 0.98·√n.

    Returns:
        Geometric mean size, median, low and high end of the interval, and n; an element a class, by size.
    """
    size_class = np.floor(np.log2(np.maximum(size, 1))).astype(np.int64)
    rows = []
    for each in np.unique(size_class):
        inside = size_class == each
        n = int(inside.sum())
        if n < CLASS_MIN:
            continue
        ordered = np.sort(latency[inside])
        reach = 0.98 * math.sqrt(n)
        low = ordered[max(math.floor(n / 2 - reach), 1) - 1]
        high = ordered[min(math.ceil(1 + n / 2 + reach), n) - 1]
        rows.append((np.exp(np.log(np.maximum(size[inside], 1)).mean()), np.median(ordered), low, high, n))
    table = np.array(rows, dtype=np.float64).reshape(-1, 5)
    return table[:, 0], table[:, 1], table[:, 2], table[:, 3], table[:, 4].astype(np.int64)


def cdf(results: Sequence[Results]) -> Figure:
    """Distribution of latency: the share of finished requests that took at most so long, a curve a result.

    The band is the 95 % band of Dvoretzky, Kiefer and Wolfowitz with Massart's constant (Annals of Probability 18,
    1990), which takes requests as independent. Dots mark the 50th, 90th and 99th percentile.

    Raises:
        FarwebError: A result has no finished request.
    """
    requests = measured(results)
    series = [
        part
        for index, each in enumerate(requests)
        for part in distribution(each.finished["latency_s"].to_numpy(), each.label, index)
    ]
    return Figure(
        "Distribution of latency",
        "Share of requests whose last byte arrived within the time on the axis. Dots: 50th, 90th and 99th percentile. "
        f"Bands: 95 % (Dvoretzky–Kiefer–Wolfowitz), requests taken as independent. {counts(requests)} "
        f"{provenance(results)}",
        (Panel(LATENCY, SHARE, tuple(series)),),
    )


SHARE = Axis("share of requests", low=0, high=1.02, marks=(0, 0.25, 0.5, 0.75, 0.9, 1))


def distribution(latency: Floats, label: str, index: int) -> tuple[Series, Series]:
    """The curve of a distribution with its band, and the percentiles on it; its label tells them."""
    ordered = np.sort(latency)
    n = len(ordered)
    place = np.unique(np.linspace(0, n - 1, min(n, CURVE_POINTS)).round().astype(np.int64))
    x = np.concatenate((ordered[:1], ordered[place]))
    share = np.concatenate(([0.0], (place + 1) / n))
    half = math.sqrt(math.log(2 / 0.05) / (2 * n))
    low, high = np.clip(share - half, 0, 1), np.clip(share + half, 0, 1)
    marks = np.quantile(ordered, MARKED)
    curve = Series(f"{label}:  {percentiles(marks)}", index, x, share, "steps", low, high)
    return curve, Series("", index, marks, np.array(MARKED), "marks")


def percentiles(marks: Floats) -> str:
    """The percentiles that a curve marks, in words."""
    return ", ".join(f"{name} {seconds(mark)}" for name, mark in zip(("median", "90 %", "99 %"), marks, strict=True))
