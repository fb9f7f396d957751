"""What factors are called in sentences and tables: ``load`` for `workload.load`, ``TCP MSS`` for `leg.0.tcp.mss`."""

import re
from collections.abc import Mapping, Sequence

from farweb.results.analysis import JOINT
from farweb.results.design import Factor, Level
from farweb.results.sweep import SweepTables

Names = Mapping[str, str]
"""What each factor is called, by its name."""


def names_of(sweep: SweepTables) -> Names:
    """Short names of the factors; a factor that would share one with another keeps its own."""
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
        return f"{_words(what)} {direction}" if links == 1 else f"{_words(what)} of link {number} {direction}"
    if found := re.fullmatch(r"leg\.(\d+)\.(tcp|carrier)\.(?:constants\.)?(\w+)", key):
        number, part, what = found.groups()
        stem = f"TCP {_words(what)}" if part == "tcp" else _words(what)
        return stem if legs == 1 else f"{stem} of leg {number}"
    return key


def _words(key: str) -> str:
    return "MSS" if key == "mss" else key.replace("_", " ")


def term(names: Names, told: str) -> str:
    """A source of variation, as the table `effects` names it."""
    return JOINT.join(names.get(each, each) for each in told.split(JOINT))


def at(names: Names, factors: Sequence[Factor], levels: Sequence[Level]) -> str:
    """Levels in words: ``load 8, circuit satellite``; factors of one level are not told."""
    told = [
        f"{names[factor.name]} {level.label}"
        for factor, level in zip(factors, levels, strict=True)
        if len(factor.levels) > 1
    ]
    return ", ".join(told)
