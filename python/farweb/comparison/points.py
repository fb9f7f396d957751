"""Runs of a sweep that are compared: those at points that differ in nothing but the levels named."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from farweb.errors import ResultsError
from farweb.results.judged import Matched, matched

if TYPE_CHECKING:
    from farweb.results.sweep import SweepTables


def runs_of_points(sweep: "SweepTables", base: Mapping[str, str], other: Mapping[str, str]) -> Matched:
    """Runs of a sweep with some levels, and with others, that differ in nothing else.

    Args:
        sweep: Which.
        base: Levels by factor.
        other: Levels of the same factors.

    Raises:
        FarwebError: There is no such factor or level.
        ResultsError: No two runs differ in these levels alone.
    """
    from farweb.plot.grouping import factor_index, select

    factors = {factor_index(sweep.design, name) for name in base}
    chosen = [select(sweep.design, {name: [level] for name, level in levels.items()}) for levels in (base, other)]
    found = matched(sweep, chosen[0], chosen[1], factors)
    if not found.base:
        raise ResultsError(f"{sweep.path}: no two finished runs differ only in {_words(base)} and {_words(other)}")
    return found


def _words(levels: Mapping[str, str]) -> str:
    return " and ".join(f"{name}={level}" for name, level in levels.items())
