"""Numbers with units, as people read them: three significant digits."""

import math

_NONE = "–"


def seconds(value: float | None) -> str:
    """A time in seconds, from µs to hours: ``"342 ms"``, ``"5.21 s"``, ``"2 h 46 min"``."""
    if value is None:
        return _NONE
    if abs(value) < 1e-3:
        return f"{_digits(value * 1e6)} µs" if value else "0 s"
    if abs(value) < 0.9995:
        return f"{_digits(value * 1e3)} ms"
    if abs(value) < 600:
        return f"{_digits(value)} s"
    minutes = round(value / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60:02d} min"


def rate(bits_per_second: float | None) -> str:
    """A bit rate: ``"34.4 Mbit/s"``."""
    return _scaled(bits_per_second, "bit/s")


def size(in_bytes: float | None) -> str:
    """A number of bytes, in powers of ten: ``"12.3 kB"``."""
    return _scaled(in_bytes, "B")


def share(value: float | None) -> str:
    """A share of 0 to 1, in percent: ``"87.3 %"``."""
    return _NONE if value is None else f"{_digits(value * 100)} %"


def count(value: float | None) -> str:
    """A whole number, by thousands: ``"117,635"``."""
    return _NONE if value is None else f"{value:,.0f}"


def _scaled(value: float | None, unit: str) -> str:
    if value is None:
        return _NONE
    for prefix in ("", "k", "M", "G"):
        if abs(value) < 999.5:
            return f"{_digits(value)} {prefix}{unit}"
        value /= 1000
    return f"{_digits(value)} T{unit}"


def _digits(value: float) -> str:
    """Three significant digits, without an exponent; whole numbers below 1000 as they are."""
    if value == 0:
        return "0"
    if value == round(value) and abs(value) < 1000:
        return f"{value:.0f}"
    places = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:.{places}f}"
