"""Words of a report: ranges of values, and short names of factors."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from farweb.results.design import Factor, Level
from farweb.results.sweep import SweepTables
from farweb.text.words import named

Names = Mapping[str, str]
"""Short names of factors, by their names."""


def extent(values: Iterable[float], say: Callable[[float], str]) -> str:
    """Values in words, from the smallest to the largest: ``60 ms to 320 ms``, or empty when there is none."""
    ordered = sorted(values)
    if not ordered:
        return ""
    low, high = say(ordered[0]), say(ordered[-1])
    return low if low == high else f"{low} to {high}"


def names_of(sweep: SweepTables) -> Names:
    """Short names: ``load`` for `workload.load`, ``TCP MSS`` for `leg.0.tcp.mss`; two that would be alike stay long."""
    scenario = sweep.manifest["scenario"]
    links, legs = len(scenario["path"]["link"]), len(scenario["leg"])
    short = {factor.name: _short(factor.name, links, legs) for factor in sweep.design.factors}
    called = list(short.values())
    return {name: each if called.count(each) == 1 else name for name, each in short.items()}


def _short(key: str, links: int, legs: int) -> str:
    if key == "workload.load":
        return "load"
    if found := re.fullmatch(r"path\.link\.(\d+)\.(up|down)\.(\w+)", key):
        number, direction, what = found.groups()
        return f"{key_words(what)} {direction}" if links == 1 else f"{key_words(what)} of link {number} {direction}"
    if found := re.fullmatch(r"leg\.(\d+)\.(tcp|carrier)\.(?:constants\.)?(\w+)", key):
        number, part, what = found.groups()
        stem = f"TCP {key_words(what)}" if part == "tcp" else key_words(what)
        return stem if legs == 1 else f"{stem} of leg {number}"
    return key


def key_words(key: str) -> str:
    """A key of a scenario in words."""
    return "MSS" if key == "mss" else key.replace("_", " ")


def at(names: Names, factors: Sequence[Factor], levels: Sequence[Level]) -> str:
    """Levels in words: ``load 8, circuit satellite``; factors of one level are left out."""
    pairs = zip(factors, levels, strict=True)
    return ", ".join(named(names[factor.name], level.label) for factor, level in pairs if len(factor.levels) > 1)
