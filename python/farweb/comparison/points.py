"""Compared runs of a sweep: at points that differ only in the levels named."""

import shlex
from collections.abc import Mapping

from farweb.errors import FarwebError, ResultsError
from farweb.judge.judged import Matched, matched
from farweb.results.design import Design
from farweb.results.select import factor_index, select
from farweb.results.sweep import SweepTables

_POINTS_MAX = 4  # in a message


def point_text(design: Design, point: int) -> str:
    """A point as `--point` takes it: ``'circuit=cable and workload.load=9'``."""
    varied = [factor.name for factor in design.factors if len(factor.levels) > 1]
    levels = design.levels(point)
    return shlex.quote(" and ".join(f"{name}={levels[name].label}" for name in varied))


def runs_of_points(sweep: SweepTables, base: Mapping[str, str], other: Mapping[str, str]) -> Matched:
    """Runs of a sweep with some levels, and with others, that differ in nothing else.

    Args:
        sweep: Which.
        base: Levels by factor.
        other: Levels of the same factors.

    Raises:
        FarwebError: There is no such factor or level.
        ResultsError: No two runs differ in these levels alone.
    """
    try:
        factors = {factor_index(sweep.design, name) for name in base}
        chosen = [select(sweep.design, {name: [level] for name, level in levels.items()}) for levels in (base, other)]
    except FarwebError as error:
        points = [point_text(sweep.design, at) for at in range(len(sweep.design.points))]
        left = f" and {len(points) - _POINTS_MAX} more" if len(points) > _POINTS_MAX else ""
        said = str(error).partition("; ")[0]
        raise FarwebError(f"--point: {said}; points: {', '.join(points[:_POINTS_MAX])}{left}") from None
    found = matched(sweep, chosen[0], chosen[1], factors)
    if not found.base:
        raise ResultsError(f"{sweep.path}: no two finished runs differ only in {_words(base)} and {_words(other)}")
    return found


def _words(levels: Mapping[str, str]) -> str:
    return " and ".join(f"{name}={level}" for name, level in levels.items())
