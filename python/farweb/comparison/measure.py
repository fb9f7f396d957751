"""Measures the differences between two runs of the same requests."""

import math
from collections.abc import Iterator, Sequence

import numpy as np
import polars as pl

from farweb.comparison import words
from farweb.comparison.change import Cause, Change, Side, SizeClass
from farweb.errors import ResultsError
from farweb.judge.judged import Matched, verdict_of
from farweb.judge.judgement import DECIDING, Verdict
from farweb.judge.pairs import Floats, Pairs, pair
from farweb.judge.units import Units
from farweb.judge.verdicts import MARGIN, measured
from farweb.results.breakdown import sums_by_kind
from farweb.results.groups import RequestGroup
from farweb.results.parts import KINDS
from farweb.results.run import RunTables
from farweb.statistics.quantiles import quantiles as of_times

SHARES = (0.5, 0.9, 0.99)
PERCENTS = (50, 90, 99)
SIZES = (0, 1_000, 10_000, 100_000, 1_000_000)
"""Where classes of response sizes begin, in B: a decade each."""

ENOUGH = 20
"""Requests that a size class needs for a mean; chosen: of fewer, two or three decide it."""


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
    differences = np.concatenate([each.differences for each in found])
    if not differences.size:
        of_them = f" ({group.label})" if group.label else ""
        raise ResultsError(f"{base_runs[0].path}: no request{of_them} after the warm-up: there is nothing to compare")
    judgement, units = verdict_of(found, runs, (base, other), by, margin, together)
    before, after = (np.concatenate([getattr(each, side) for each in found]) for side in ("base", "other"))
    lost_before, lost_after = np.isinf(before), np.isinf(after)
    return Change(
        base=base,
        other=other,
        group=group.label,
        pairs=differences.size,
        runs=len(found),
        only_base=int((~lost_before & lost_after).sum()),
        only_other=int((lost_before & ~lost_after).sum()),
        neither=int((lost_before & lost_after).sum()),
        of_base=_side(before),
        of_other=_side(after),
        sizes=tuple(_sizes(units, judgement)),
        causes=_causes(found, base_runs, other_runs),
        differences=differences,
        judgement=judgement,
        verdict=words.verdict(judgement, group.label),
    )


def _side(latency: Floats) -> Side:
    ended = latency[np.isfinite(latency)]
    quantiles = dict(zip(PERCENTS, of_times(latency, SHARES), strict=True))
    return Side(float(ended.mean()) if ended.size else None, quantiles, 1 - ended.size / latency.size, latency.size)


def _sizes(units: Units[Pairs], judgement: Verdict) -> Iterator[SizeClass]:
    """The size classes that have enough requests."""
    table = units.table(lambda each: each.requests)
    size = np.concatenate(units.parts(lambda each: each.size))
    for low, high in zip(SIZES, (*SIZES[1:], math.inf), strict=True):
        inside = (size >= low) & (size < high)
        if inside.sum() >= ENOUGH:
            found = measured(table.of(inside), "", judgement.margin, judgement.confidence)
            yield SizeClass(low, found.requests, found.judged_change, found.difference_s, found.faster, found.slower)


def _causes(
    found: Sequence[Pairs], base_runs: Sequence[RunTables], other_runs: Sequence[RunTables]
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
