"""Formats numbers with units, three significant digits, and times of day for people."""

import math
from collections.abc import Callable, Iterable
from typing import Protocol

from farweb import _core

_NONE = "–"
_LEAST_PERCENT = 0.01
"""Percent below which digits are noise: one request of ten thousand. Chosen."""

_NO_PERCENT = 0.005
"""Percent below which a difference is none. Chosen."""

ENDLESS = "more than any that ended"
"""A time that failed requests reach, where the slowest that ended is not at hand."""


def seconds(value: float | None) -> str:
    """A time in seconds, from µs to hours: ``"342 ms"``, ``"5.21 s"``, ``"2 h 46 min"``, or in words if infinite."""
    if value is None:
        return _NONE
    if math.isinf(value):
        return ENDLESS if value > 0 else f"−({ENDLESS})"
    return _core.seconds(value)


def moment(unix_s: float) -> str:
    """A time of a log: its date, or the time since the start of a log that counts from there."""
    return _core.moment(unix_s)


def began(time_s: float, origin_unix_s: float | None) -> str:
    """A time of a run: on the clock of its log, or since the start of the run.

    Args:
        time_s: Since the start of the run.
        origin_unix_s: Time of that start on the clock of the log. None: it has none.
    """
    return seconds(time_s) if origin_unix_s is None else moment(origin_unix_s + time_s)


def rate(bits_per_second: float | None) -> str:
    """A bit rate: ``"34.4 Mbit/s"``."""
    return _NONE if bits_per_second is None else _core.scaled(bits_per_second, "bit/s")


def size(in_bytes: float | None) -> str:
    """A number of bytes, in powers of ten: ``"12.3 kB"``."""
    return _NONE if in_bytes is None else _core.scaled(in_bytes, "B")


def share(value: float | None) -> str:
    """A share of 0 to 1, in percent: ``"87.3 %"``, or ``"< 0.01 %"``."""
    return _NONE if value is None else _core.share(value)


def relative(percent: float | None) -> str:
    """A relative difference: ``"+8.74 %"``, ``"+(< 0.01 %)"``, and from ten times the base on ``"+78.4 ×"``."""
    if percent is None:
        return _NONE
    size = abs(percent)
    if 0 < size < _LEAST_PERCENT:
        return f"{_sign(percent)}(< {_LEAST_PERCENT:g} %)"
    if size >= 1000:
        return f"{_sign(percent)}{_core.digits(size / 100)} ×"
    return f"{_sign(percent)}{plain(size, 3 if size >= 0.1 else 1)} %"


def percents(value: float, *, signed: bool = False) -> str:
    """A relative difference in percent without its unit: ``"24.1"``, ``"<0.1"``, ``"+121"``.

    Args:
        value: 0.01 is a percent.
        signed: True for a sign, False for the size alone.
    """
    size = abs(100 * value)
    text = "0" if size < _NO_PERCENT else "<0.1" if size < 0.05 else f"{size:.1f}" if size < 99.95 else f"{size:,.0f}"
    if math.isinf(size):
        text = "∞"
    if not signed or text == "0":
        return text
    return f">−{text[1:]}" if value < 0 and text[0] == "<" else text if text[0] == "<" else _sign(value) + text


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


def plain(value: float, digits: int) -> str:
    """A number with so many significant digits, without an exponent, and without zeros at its end."""
    return _core.plain(value, digits) if math.isfinite(value) else f"{value:g}"


def count(value: float | None) -> str:
    """A whole number, by thousands: ``"117,635"``."""
    return _NONE if value is None else _core.count(value)


def number(value: float | None) -> str:
    """A number without a unit: ``"0.123"``, ``"12.3"``, ``"117,635"``."""
    if value is None:
        return _NONE
    return _core.digits(value) if abs(value) < 999.5 else count(value)


_WRITERS: dict[str, Callable[[float | None], str]] = {"s": seconds, "bit/s": rate, "B": size, "1": share}


def quantity(value: float | None, unit: str) -> str:
    """A number with its unit.

    Args:
        value: The number. Infinite means an infinite time, whatever the unit.
        unit: ``s``, ``bit/s``, ``B``, ``1`` (shown in percent), or any other, which is left away.
    """
    if value is None or math.isinf(value):
        return seconds(value)
    return f"{'−' if value < 0 else ''}{_WRITERS.get(unit, number)(abs(value))}"


def difference(value: float | None, unit: str) -> str:
    """A difference with its sign: ``"+12.3 ms"``, ``"+∞"``, in percentage points for shares."""
    if value is None:
        return _NONE
    size = "∞" if math.isinf(value) else quantity(abs(value), unit)
    return _sign(value) + (f"{size.removesuffix(' %')} points" if unit == "1" else size)


def interval(
    low: float | None,
    high: float | None,
    unit: str,
    *,
    of: float | None = None,
    signed: bool = False,
) -> str:
    """An interval in one unit: ``"305 … 319 ms"``, ``"−0.4 … +1.31 s"``, or empty where an end is missing.

    Args:
        low: Lower end, below zero for differences only.
        high: Upper end.
        unit: As `quantity` takes it.
        of: The estimate, which sets the unit of the ends. None, or far smaller than an end: the unit of the larger end.
        signed: True when it is an interval of a `difference`.
    """
    if low is None or high is None:
        return ""
    low = low if signed else max(low, 0.0)
    if low == high == 0:
        return "0"
    first, last = (difference(end, unit) if signed else quantity(end, unit) for end in (low, high))
    larger = max(abs(low), abs(high))
    scale, name = _scale_of(of if of and 10 * abs(of) >= larger else larger, unit)
    if unit in ("s", "bit/s", "B") and math.isfinite(low) and math.isfinite(high):
        first, last = (f"{_sign(end) if signed else ''}{_short(abs(end) / scale)} {name}" for end in (low, high))
    without, _, name = first.rpartition(" ")
    return f"{without if without and (low == 0 or last.endswith(f' {name}')) else first} … {last}"


def _scale_of(value: float, unit: str) -> tuple[float, str]:
    """The unit that suits a value, and its size."""
    if unit == "s" and 600 <= abs(value) < math.inf:
        return 60.0, "min"
    scales = _SCALES.get(unit, ((1.0, ""),))
    return next((each for each in reversed(scales) if abs(value) >= 0.9995 * each[0]), scales[0])


def _short(value: float) -> str:
    """A number of an interval: three significant digits, one below a hundredth."""
    return number(value) if value >= 0.01 or value == 0 else plain(value, 1)


def _sign(value: float) -> str:
    return "+" if value > 0 else "−" if value < 0 else ""


_SCALES: dict[str, tuple[tuple[float, str], ...]] = {
    "s": ((1e-6, "µs"), (1e-3, "ms"), (1, "s")),
    "1": ((1e-2, "%"),),
    **{
        unit: tuple((1000.0**power, f"{prefix}{unit}") for power, prefix in enumerate(("", "k", "M", "G")))
        for unit in ("bit/s", "B")
    },
}
_MOST_DIGITS = 6


def with_margin(value: float, margin: float, unit: str, *, signed: bool = False) -> str:
    """An estimate and its margin in one unit: ``"473.0 ± 9.8 ms"``, the margin with two significant digits.

    Where the margin goes below zero, which no quantity but a difference does, the interval ends there: ``"21 s (0 … 52
    s)"``.

    Args:
        value: The estimate.
        margin: Half the width of its interval, at least 0.
        unit: As `quantity` takes it.
        signed: True when it is a difference: with its sign, and of shares in percentage points.
    """
    if not signed and margin > value:
        return f"{quantity(value, unit)} ({interval(value - margin, value + margin, unit)})"
    largest = max(abs(value), margin)
    scales = _SCALES.get(unit, ((1.0, ""),))
    scale, name = next((each for each in reversed(scales) if largest >= each[0]), scales[0])
    if signed and unit == "1":
        name = "points"
    value, margin = value / scale, margin / scale
    finest = _MOST_DIGITS - 1 - math.floor(math.log10(largest / scale)) if largest else 0
    wanted = 1 - math.floor(math.log10(margin)) if margin else 2 - math.floor(math.log10(abs(value))) if value else 0
    places = max(0, min(wanted, finest))
    width = f"{margin:,.{places}f}"
    if not float(width.replace(",", "")):
        width = plain(margin, 1)  # none, or narrower than the digits that are shown
    text = f"{value:{'+' if signed else ''},.{places}f}".replace("-", "−")
    return f"{text} ± {width} {name}".rstrip()
