"""Reads numbers with units exactly, as users write them, and writes them in the unit that suits.

Units as in the scenario format. Numbers are fractions in the base unit of their kind: s, B, bit/s, packets.
"""

import re
from dataclasses import dataclass
from fractions import Fraction

from farweb import _core
from farweb.errors import FarwebError


def is_binary(unit: str) -> bool:
    """True when a unit is a power of 1024 bytes."""
    return unit.endswith("iB")


def _families() -> dict[str, tuple[dict[str, Fraction], ...]]:
    """By base unit: the families of units with their sizes, smallest first, which is a scenario's grain.

    Times, sizes and rates have the units of the core.
    """
    times, sizes, rates = (dict(units) for units in _core.units)
    decimal = {unit: size for unit, size in sizes.items() if not is_binary(unit)}
    binary = {unit: size for unit, size in sizes.items() if is_binary(unit) or size == 1}
    exact = {
        "s": (times,),
        "B": (decimal, binary),
        "bit/s": (rates,),
        "packets": ({"packets": 1},),
        "1": ({"%": 1},),
    }
    one = {"s": times["s"], "1": 100}
    return {
        base: tuple({unit: Fraction(size, one.get(base, 1)) for unit, size in family.items()} for family in families)
        for base, families in exact.items()
    }


_FAMILIES = _families()
_BASES = {unit: base for base, families in _FAMILIES.items() for family in families for unit in family}

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
_ALIASES = {alias: unit for kind in _core.unit_aliases for alias, unit in kind}
UNIT = r"[A-Za-zµμ%][A-Za-z/%]*"
_QUANTITY = re.compile(rf"\s*(?P<number>{NUMBER})\s*(?P<unit>{UNIT})?\s*")


class QuantityError(FarwebError):
    """A text is no number, or its unit is not known."""


@dataclass(frozen=True)
class Quantity:
    """A number with a unit.

    Attributes:
        number: In the base unit.
        base: `s`, `B`, `bit/s`, `packets`, `1` (a share, written in percent), or empty for a number without a unit.
        unit: As it was written, or the unit that another way to write it stands for.
        whole: True when it was written without a decimal point.
    """

    number: Fraction
    base: str
    unit: str
    whole: bool


def parse(text: str, *bases: str) -> Quantity:
    """Read `64 kB`, `30 Mbit/s`, `1 %` or a bare number.

    Args:
        text: The number with its unit.
        bases: Base units of the kinds that fit, for messages (default: all).

    Raises:
        QuantityError: The text is no number, or has an unknown unit.
    """
    match = _QUANTITY.fullmatch(text)
    if match is None:
        raise QuantityError(f'"{text.strip()}" is no number with a unit; write for example 0.5 s, 64 kB or 30 Mbit/s')
    number, unit = match["number"], match["unit"] or ""
    unit = _ALIASES.get(unit, unit)
    if unit and unit not in _BASES:
        known = [unit for base in bases or _FAMILIES for unit in units(base)]
        raise QuantityError(f'"{text.strip()}" has the unknown unit "{unit}" (units: {", ".join(known)})')
    base = _BASES[unit] if unit else ""
    whole = re.fullmatch(r"[-+]?\d+", number) is not None
    return Quantity(Fraction(number) * scale(unit), base, unit, whole)


def read(name: str, text: str, *bases: str, error: type[FarwebError] = FarwebError) -> Quantity:
    """Read as `parse` does, with what the text is for in front of a message.

    Raises:
        FarwebError: Or `error`, in place of `QuantityError`.
    """
    try:
        return parse(text, *bases)
    except QuantityError as wrong:
        raise error(f"{name} {wrong}") from None


def scale(unit: str) -> Fraction:
    """The size of a unit in base units, or 1 for no unit."""
    for families in _FAMILIES.values():
        for family in families:
            if unit in family:
                return family[unit]
    return Fraction(1)


def grain(base: str) -> Fraction | None:
    """The smallest difference that a scenario can express, or None for plain numbers."""
    return None if base in ("", "1") else next(iter(_FAMILIES[base][0].values()))


def units(base: str) -> list[str]:
    """The units of a kind."""
    return list(dict.fromkeys(unit for family in _FAMILIES[base] for unit in family))


def write(number: Fraction, base: str, binary: bool = False) -> str:
    """The number in the largest unit in which it has at most two decimals: `516 kB`, `1.25 MiB`, `32767 B`.

    The text is exact: a scenario reads the same number from it.
    """
    if base == "":
        return decimal(number)
    family = _FAMILIES[base][1 if binary else 0]
    for unit, size in reversed(family.items()):
        scaled = number / size
        if abs(scaled) >= 1 and (scaled * 100).denominator == 1:
            return f"{decimal(scaled)} {unit}"
    unit, size = next(iter(family.items()))
    return f"{decimal(number / size)} {unit}"


def decimal(number: Fraction) -> str:
    """A fraction as a decimal number, exact where its decimals end, else as the nearest float."""
    if number.denominator == 1:
        return str(number.numerator)
    for places in range(1, 31):
        if (number * 10**places).denominator == 1:
            digits = f"{abs(number) * 10**places}".rjust(places + 1, "0")
            return f"{'-' if number < 0 else ''}{digits[:-places]}.{digits[-places:]}"
    return repr(float(number))
