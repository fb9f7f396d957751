"""Measures the differences between two runs of the same requests."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from farweb.comparison import words
from farweb.comparison.change import Cause, Change, Side, SizeClass
from farweb.errors import ResultsError
from farweb.results.breakdown import sums_by_kind
from farweb.results.groups import RequestGroup
from farweb.results.judged import Matched, are_fixed, verdict_of
from farweb.results.pairs import Floats, Pairs, pair
from farweb.results.parts import KINDS
from farweb.statistics import blocks
from farweb.statistics.intervals import Estimate, student_quantiles
from farweb.statistics.judgement import DECIDING
from farweb.statistics.quantiles import quantiles as of_times
from farweb.statistics.units import Units
from farweb.statistics.verdicts import MARGIN, log_ratios, signs_of

if TYPE_CHECKING:
    from farweb.results.run import RunTables

SHARES = (0.5, 0.9, 0.99)
PERCENTS = (50, 90, 99)
SIZES = (0, 1_000, 10_000, 100_000, 1_000_000)
"""Where classes of response sizes begin, in B: a decade each."""

ENOUGH = 20
"""Requests that a size class needs for a median; chosen: of fewer, two or three decide it."""


def changed(
    base: str,
    other: str,
    runs: Matched,
    group: RequestGroup,
    by: Sequence[str] = DECIDING,
    margin: float = MARGIN,
    together: int = 1,
) -> Change:
    """Measure the effect of runs on the requests of as many base runs.

    Args:
        base: Name of the base.
        other: Name of the others.
        runs: Runs of the base and as many of the other.
        group: The requests that are compared.
        by: Names of quantities that decide.
        margin: Largest relative difference of two equivalent runs.
        together: Pairs that are judged together.

    Raises:
        ResultsError: The requests of a pair are not the same, or there are none.
    """
    base_runs, other_runs = runs.base, runs.other
    rows = group.rows if group.label else None
    found = [pair(first, second, rows) for first, second in zip(base_runs, other_runs, strict=True)]
    if not any(len(each.differences) for each in found):
        of_them = f" ({group.label})" if group.label else ""
        raise ResultsError(f"{base_runs[0].path}: no request{of_them} after the warm-up: there is nothing to compare")
    fixed = are_fixed((*base_runs, *other_runs))
    units = Units(found, runs.replications, fixed=fixed)
    differences = np.concatenate([each.differences for each in found])
    signs = np.concatenate([_signs(each, margin) for each in found])
    before, after = (np.concatenate([getattr(each, side) for each in found]) for side in ("base", "other"))
    lost_before, lost_after = np.isinf(before), np.isinf(after)
    total = max(len(differences), 1)
    mean = units.mean(lambda each: each.differences[np.isfinite(each.base) & np.isfinite(each.other)])
    means = [
        float(each.mean()) for each in units.parts(lambda each: np.nan_to_num(each.differences, posinf=0, neginf=0))
    ]
    return Change(
        base=base,
        other=other,
        group=group.label,
        pairs=len(differences),
        runs=len(found),
        method=units.method,
        units=units.number,
        effective=_effective(differences, mean, units.number) if units.method == "blocks" else None,
        dependent=units.method == "blocks" and blocks.is_dependent(means),
        median_s=units.median(lambda each: each.differences),
        mean_s=mean,
        both=float((~lost_before & ~lost_after).sum() / total),
        quantiles_s=dict(zip(PERCENTS, units.quantile_differences(SHARES), strict=True)),
        faster=float((signs < 0).sum() / total),
        slower=float((signs > 0).sum() / total),
        net=units.mean(lambda each: _signs(each, margin)),
        failed=units.mean(lambda each: np.isinf(each.other).astype(float) - np.isinf(each.base)),
        only_base=int((~lost_before & lost_after).sum()),
        only_other=int((lost_before & ~lost_after).sum()),
        neither=int((lost_before & lost_after).sum()),
        of_base=_side(before),
        of_other=_side(after),
        sizes=tuple(_sizes(found, units, signs)),
        causes=_causes(found, base_runs, other_runs),
        differences=differences,
        judgement=(judgement := verdict_of(found, runs, (base, other), by, margin, together)),
        verdict=words.verdict(judgement, group.label),
    )


def _effective(differences: Floats, mean: Estimate, parts: int) -> int | None:
    """The number of independent differences with a mean as sure as so many parts give."""
    if mean.low is None or mean.high is None or mean.high == mean.low:
        return None
    ended = differences[np.isfinite(differences)]
    error = (mean.high - mean.low) / 2 / float(student_quantiles(parts - 1))
    return min(round(float(ended.var(ddof=1)) / error**2), ended.size)


def _side(latency: Floats) -> Side:
    found = of_times(latency, SHARES)
    lost = float(np.isinf(latency).mean()) if latency.size else 0.0
    return Side(dict(zip(PERCENTS, found, strict=True)), lost, latency.size)


def _signs(pairs: Pairs, margin: float) -> Floats:
    return signs_of(log_ratios(pairs.base, pairs.other), margin)


def _sizes(found: Sequence[Pairs], units: Units[Pairs], signs: Floats) -> list[SizeClass]:
    """The size classes that have enough requests."""
    size = np.concatenate([each.size for each in found])
    classes = []
    for low, high in zip(SIZES, (*SIZES[1:], math.inf), strict=True):
        inside = signs[(size >= low) & (size < high)]
        if inside.size < ENOUGH:
            continue

        def of_class(each: Pairs, low: float = low, high: float = high) -> Floats:
            return each.differences[(each.size >= low) & (each.size < high)]

        faster, slower = float((inside < 0).mean()), float((inside > 0).mean())
        classes.append(SizeClass(low, inside.size, units.median(of_class), faster, slower))
    return classes


def _causes(
    found: Sequence[Pairs], base_runs: "Sequence[RunTables]", other_runs: "Sequence[RunTables]"
) -> tuple[Cause, ...]:
    """The mean difference of each part of the latency, over requests that ended on both sides."""
    recorded = all(run.has("exchanges") for run in (*base_runs, *other_runs))
    if not recorded:
        return ()
    sums: dict[str, float] = dict.fromkeys(KINDS, 0.0)
    number = 0
    for pairs, base, other in zip(found, base_runs, other_runs, strict=True):
        ended = pl.Series(pairs.requests[np.isfinite(pairs.base) & np.isfinite(pairs.other)])
        number += len(ended)
        for run, sign in ((base, -1), (other, 1)):
            for kind, total in sums_by_kind(run, ended).items():
                sums[kind] += sign * total
    causes = [Cause(kind, sums[kind] / number) for kind in KINDS if number and sums[kind]]
    return tuple(sorted(causes, key=lambda each: -abs(each.mean_s)))
