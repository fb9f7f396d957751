"""Latencies by response size and as a distribution: size classes with their medians, curves with their percentiles."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from farweb.paint.figure import Axis, Figure, Floats, Panel, Series
from farweb.paint.multiples import columns_of, height_of
from farweb.plot.measured import Measured
from farweb.statistics.quantiles import has_quantile, quantiles
from farweb.text.quantities import seconds

CLASS_MIN = 10
"""Requests that a size class needs for a median. Chosen: from 6 on the sample holds a 95 % interval (1 − 2·2⁻⁶), but
that is its whole range; from 10 on the extremes no longer decide."""

CURVE_POINTS = 1_000
"""Points of a distribution curve. Chosen: about as many as a screen has columns."""

SIZE = Axis("response size, headers included", "B", "log")
LATENCY = Axis("latency", "s", "log")
SHARE = Axis("share of requests", low=0, high=1.02, marks=(0, 0.25, 0.5, 0.75, 0.9, 1))
_MARKED = {0.5: "median", 0.9: "90 %", 0.99: "99 %"}


@dataclass(frozen=True)
class Medians:
    """Medians by size class, an element a class, by size.

    Classes with failed requests at the median are left out.

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


def distribution(latency: Floats, label: str, index: int) -> tuple[Series, Series]:
    """The curve of a distribution with its band, and the percentiles on it; its label names them.

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
    """Dots at the percentiles of a distribution with enough requests beyond, except those among unfinished ones."""
    shares = _marks(len(latency))
    places = np.array(quantiles(latency, shares), dtype=np.float64)
    there = np.isfinite(places)
    return Series("", index, places[there], np.array(shares)[there], "marks", part="percentiles")


def percentiles(latency: Floats) -> str:
    """The percentiles that a curve marks, in words."""
    shares = _marks(len(latency))
    return ", ".join(
        f"{_MARKED[share]} {_reached(value)}" for share, value in zip(shares, quantiles(latency, shares), strict=True)
    )


def _marks(requests: int) -> list[float]:
    """The median, and the percentiles that enough of so many requests lie beyond."""
    return [share for share in _MARKED if share <= 0.5 or has_quantile(requests, share)]


def _reached(percentile: float | None) -> str:
    return seconds(percentile) if percentile is not None and math.isfinite(percentile) else "not reached"


def of_latency(title: str, caption: str, panels: Sequence[Panel], legend: str = "") -> Figure:
    """A figure of panels of latency that share their axes."""
    columns = columns_of(len(panels))
    rows = -(-len(panels) // columns)
    return Figure(
        title,
        caption,
        tuple(panels),
        columns=columns,
        legend=legend,
        counted="requests",
        size=(8.0, 5.2) if len(panels) == 1 else (2.4 * columns + 3.0, height_of(rows, 3.6 if columns == 2 else 2.7)),
        share_x=True,
        share_y=True,
    )


def about_hollow(requests: Sequence[Measured]) -> str:
    """Meaning of hollow markers, for a caption, or empty where there are none."""
    return " Hollow: a class in which requests did not end." if any(len(each.lost_bytes) for each in requests) else ""
