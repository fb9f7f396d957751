"""Values of metrics in words, and words in sentences."""

import math
from dataclasses import replace

from farweb.results.metrics import Metric
from farweb.text.quantities import count, rate, relative, seconds, share, size

_NONE = "–"
_MINUS = "−"


def shown(metric: Metric, value: float | None) -> str:
    """A value of a metric with its unit."""
    if value is None:
        return _NONE
    if math.isinf(value):
        return seconds(value)  # only times are
    if value < 0:
        return f"{_MINUS}{shown(metric, -value)}"
    match metric.unit:
        case "s":
            return seconds(value)
        case "bit/s":
            return rate(value)
        case "B":
            return size(value)
        case "1":
            return share(value)
        case "points":
            return f"{share(value).removesuffix(' %')} points"
    return count(value) if value >= 1000 or value == round(value) else f"{value:.3g}"


def change(metric: Metric, value: float) -> str:
    """A difference, with its sign: ``+12.3 ms``; that of shares is in percentage points."""
    if math.isinf(value):
        return "failures decide"
    told = shown(_difference(metric), value)
    return f"+{told}" if value > 0 else told


def change_between(metric: Metric, low: float | None, high: float | None) -> str:
    """The interval of a difference."""
    return _between(_difference(metric), low, high)


def _difference(metric: Metric) -> Metric:
    return replace(metric, unit="points") if metric.unit == "1" else metric


def percent(value: float | None) -> str:
    """A relative difference, given in percent, with its sign."""
    return relative(value).replace("-", _MINUS)


def between(metric: Metric, low: float | None, high: float | None) -> str:
    """An interval: ``305 … 319 ms``; the unit stands once where both ends have the same.

    No metric is negative, so no interval is told to begin below zero.
    """
    return _between(metric, None if low is None else max(low, 0.0), high)


def _between(metric: Metric, low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ""
    first, last = shown(metric, low), shown(metric, high)
    number, _, unit = first.rpartition(" ")
    if number and (low == 0 or last.endswith(f" {unit}")):
        first = number
    return f"{first} … {last}"


def plural(number: int, word: str) -> str:
    """A number of things: ``1 run``, ``480 runs``."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"
