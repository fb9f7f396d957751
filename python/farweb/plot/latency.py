"""Figures of latency: against the size of the response, and as a distribution."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from numpy.typing import NDArray

from farweb.plot import style
from farweb.plot.measured import Measured, counts, measured, provenance
from farweb.quantities import seconds
from farweb.results import Results

Floats = NDArray[np.float64]

SCATTER_MAX = 20_000
"""Requests up to which each is a dot of its own; above, density is drawn. Chosen: more dots hide one another."""

CLASS_MIN = 10
"""Requests that a size class needs for a median. Chosen: from 6 on the sample holds a 95 % interval (1 − 2·2⁻⁶), but
that is its whole range; from 10 on the extremes no longer decide."""

CURVE_POINTS = 2_000
"""Points of a distribution curve; chosen: more than a screen has columns."""


def size_latency(results: Sequence[Results]) -> style.Chart:
    """Latency against response size on logarithmic axes, with the median by size class.

    Every finished request is a dot; with more than `SCATTER_MAX` requests each result gets a panel that shows density.
    A size class spans a factor of two; bars are the 95 % interval of its median.

    Raises:
        FarwebError: A result has no finished request.
    """
    requests = measured(results)
    total = sum(len(each.finished) for each in requests)
    if total <= SCATTER_MAX:
        chart = style.Chart(figsize=(8, 5.2))
        _scatter(chart.subplots(), requests)
        what = "Each dot is a request."
    else:
        chart = style.Chart(figsize=(8, 1.2 + 3.6 * math.ceil(len(requests) / 2)) if len(requests) > 1 else (8, 5.2))
        _densities(chart, requests)
        what = "Shade: number of requests, on a logarithmic scale."
    style.frame(
        chart,
        "Latency by response size",
        f"{what} Lines: median by size class (a factor of two, at least {CLASS_MIN} requests); bars: its 95 % interval "
        f"by order statistics, requests taken as independent. Latency runs from the start of a request to the last "
        f"byte of its response at the first node. {counts(requests)} {provenance(results)}",
    )
    return chart


def _scatter(axes: Axes, requests: Sequence[Measured]) -> None:
    size = 14 if sum(len(each.finished) for each in requests) < 3_000 else 5
    for index, each in enumerate(requests):
        colour = style.series(index)["color"]
        axes.scatter(
            each.finished["response_bytes"].to_numpy(),
            each.finished["latency_s"].to_numpy(),
            s=size,
            alpha=0.35,
            color=colour,
            marker=style.MARKERS[index % len(style.MARKERS)],
            linewidths=0,
            rasterized=True,
        )
        _draw_medians(axes, each, index, label=each.label)
    _log_axes(axes)
    if len(requests) > 1:
        style.legend(axes, columns=3)


def _densities(chart: style.Chart, requests: Sequence[Measured]) -> None:
    """A panel a result, on common axes and with a common scale of density."""
    columns = min(2, len(requests))
    rows = math.ceil(len(requests) / columns)
    grid = chart.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
    panels = list(grid.flat)
    bins = []
    for index, (axes, each) in enumerate(zip(panels, requests, strict=False)):
        bins.append(
            axes.hexbin(
                each.finished["response_bytes"].to_numpy(),
                each.finished["latency_s"].to_numpy(),
                xscale="log",
                yscale="log",
                gridsize=(70, 45),
                mincnt=1,
                cmap="Greys",
                linewidths=0.1,
                rasterized=True,
            )
        )
        _draw_medians(axes, each, index, label=None)
        axes.set_title(each.label, color=style.series(index)["color"], fontweight="bold")
        _log_axes(axes)
        axes.label_outer()
    for axes in panels[len(requests) :]:
        axes.set_visible(False)
    most = max(float(np.max(each.get_array())) for each in bins)
    for each in bins:
        each.set_norm(_density_norm(most))
    chart.colorbar(bins[0], ax=panels, label="requests in a cell", shrink=0.7, pad=0.01)


def _density_norm(most: float) -> Any:
    from matplotlib.colors import LogNorm

    return LogNorm(0.35, max(most, 2.0))  # below 1, so that a single request is grey and not white


def _draw_medians(axes: Axes, each: Measured, index: int, label: str | None) -> None:
    look = style.series(index)
    size, median, low, high = medians(each.finished["response_bytes"].to_numpy(), each.finished["latency_s"].to_numpy())
    axes.errorbar(
        size,
        median,
        yerr=(median - low, high - median),
        color=look["color"],
        linestyle=look["linestyle"],
        marker=style.MARKERS[index % len(style.MARKERS)],
        markersize=5,
        markeredgecolor="white",
        markeredgewidth=0.7,
        elinewidth=1.1,
        capsize=2,
        label=label,
        zorder=5,
    )


def medians(size: NDArray[np.int64], latency: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Median latency by size class, with the 95 % interval of each.

    Classes are [2^k, 2^(k+1)) bytes; those with fewer than `CLASS_MIN` requests are left out. The interval lies between
    two order statistics, by the normal approximation of the binomial: ranks n/2 ± 0.98·√n.

    Returns:
        Geometric mean size, median, low and high end of the interval; an element a class, by size.
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
        rows.append((np.exp(np.log(size[inside]).mean()), np.median(ordered), low, high))
    table = np.array(rows, dtype=np.float64).reshape(-1, 4)
    return table[:, 0], table[:, 1], table[:, 2], table[:, 3]


def _log_axes(axes: Axes) -> None:
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("response size, headers included")
    axes.set_ylabel("latency [s]")
    style.counted(axes.xaxis, "B")
    style.log_seconds(axes.yaxis)


def cdf(results: Sequence[Results]) -> style.Chart:
    """Distribution of latency: the share of finished requests that took at most so long, a curve a result.

    The band is the 95 % band of Dvoretzky, Kiefer and Wolfowitz with Massart's constant (Annals of Probability 18,
    1990), which takes requests as independent. Dots mark the 50th, 90th and 99th percentile.

    Raises:
        FarwebError: A result has no finished request.
    """
    requests = measured(results)
    chart = style.Chart(figsize=(8, 5))
    axes = chart.subplots()
    for index, each in enumerate(requests):
        _draw_distribution(axes, each, index)
    axes.set_xscale("log")
    axes.set_xlabel("latency [s]")
    axes.set_ylabel("share of requests")
    axes.set_ylim(0, 1.02)
    axes.set_yticks([0, 0.25, 0.5, 0.75, 0.9, 1])
    style.log_seconds(axes.xaxis)
    style.legend(axes, columns=1)
    style.frame(
        chart,
        "Distribution of latency",
        "Share of requests whose last byte arrived within the time on the axis. Dots: 50th, 90th and 99th percentile. "
        f"Bands: 95 % (Dvoretzky–Kiefer–Wolfowitz), requests taken as independent. {counts(requests)} "
        f"{provenance(results)}",
    )
    return chart


def _draw_distribution(axes: Axes, each: Measured, index: int) -> None:
    ordered = np.sort(each.finished["latency_s"].to_numpy())
    n = len(ordered)
    place = np.unique(np.linspace(0, n - 1, min(n, CURVE_POINTS)).round().astype(np.int64))
    latency = np.concatenate((ordered[:1], ordered[place]))
    share = np.concatenate(([0.0], (place + 1) / n))
    look = style.series(index)
    marks = np.quantile(ordered, (0.5, 0.9, 0.99))
    told = ", ".join(f"{name} {seconds(mark)}" for name, mark in zip(("median", "90 %", "99 %"), marks, strict=True))
    axes.step(latency, share, where="post", label=f"{each.label}:  {told}", **look)
    half = math.sqrt(math.log(2 / 0.05) / (2 * n))
    axes.fill_between(
        latency,
        np.clip(share - half, 0, 1),
        np.clip(share + half, 0, 1),
        step="post",
        color=look["color"],
        alpha=0.15,
        linewidth=0,
    )
    axes.plot(marks, (0.5, 0.9, 0.99), "o", color=look["color"], markersize=4.5, markeredgecolor="white", clip_on=False)
