"""Values of metrics in words, and words in sentences."""

from farweb.metrics import Metric
from farweb.quantities import count, rate, seconds, share, size

_NONE = "–"


def shown(metric: Metric, value: float | None) -> str:
    """A value of a metric with its unit."""
    if value is None:
        return _NONE
    match metric.unit:
        case "s":
            return seconds(value)
        case "bit/s":
            return rate(value)
        case "B":
            return size(value)
        case "1":
            return share(value)
    return count(value) if abs(value) >= 1000 or value == round(value) else f"{value:.3g}"


def between(metric: Metric, low: float | None, high: float | None) -> str:
    """An interval: ``305 … 319 ms``; the unit stands once where both ends have the same."""
    if low is None or high is None:
        return ""
    first, last = shown(metric, low), shown(metric, high)
    number, _, unit = first.rpartition(" ")
    if number and last.endswith(f" {unit}"):
        first = number
    return f"{first} … {last}"


def listed(words: list[str]) -> str:
    """Words as a person lists them: ``a, b and c``."""
    if len(words) < 2:
        return "".join(words)
    return f"{', '.join(words[:-1])} and {words[-1]}"


def plural(number: int, word: str) -> str:
    """A number of things: ``1 run``, ``480 runs``."""
    return f"{number:,} {word}{'' if number == 1 else 's'}"
