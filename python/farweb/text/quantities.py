"""Numbers with units, three significant digits, and times of day for people: the core's words, and cells of tables."""

import math
from collections.abc import Callable, Iterable
from typing import Protocol

from farweb._core import (
    began,
    count,
    difference,
    interval,
    moment,
    number,
    percents,
    plain,
    quantity,
    rate,
    relative,
    seconds,
    share,
    size,
    with_margin,
)

__all__ = [
    "began",
    "change_cells",
    "count",
    "difference",
    "in_one_unit",
    "interval",
    "moment",
    "number",
    "percents",
    "plain",
    "quantity",
    "rate",
    "relative",
    "seconds",
    "share",
    "size",
    "with_margin",
]

_NONE = "–"


class Ends(Protocol):
    """A relative difference and its interval."""

    @property
    def value(self) -> float | None:
        """The difference."""

    @property
    def low(self) -> float | None:
        """Lower end."""

    @property
    def high(self) -> float | None:
        """Upper end."""


def change_cells(change: Ends) -> list[str]:
    """A relative difference in percent and its interval, or an empty cell without one."""
    if change.value is None:
        return [_NONE, ""]
    value = percents(change.value, signed=True)
    if change.low is None or change.high is None:
        return [value, ""]
    low, high = (percents(end, signed=True) for end in (change.low, change.high))
    return [value, "" if low == high == "0" else f"{low} … {high}"]


def in_one_unit(times_s: Iterable[float | None]) -> tuple[Callable[[float | None], str], str]:
    """A function that writes times in one fitting unit, and that unit. An infinite time is failed."""
    known = [value for value in times_s if value and math.isfinite(value)]
    scale, unit = (1.0, "s") if max(known, default=1.0) >= 0.9995 else (1000.0, "ms")

    def write(value: float | None) -> str:
        return _NONE if value is None else "failed" if math.isinf(value) else number(scale * value)

    return write, unit
