"""Measures the differences between two runs of the same requests."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from farweb.comparison import words
from farweb.comparison.change import Cause, Change, Estimate, Side, SizeClass
from farweb.comparison.pairs import Floats, Pairs, pair
from farweb.results.breakdown import parts_by_kind
from farweb.results.parts import KINDS
from farweb.statistics import blocks
from farweb.statistics.intervals import quantile_differences, quantiles, student, student_quantiles
from farweb.statistics.quantiles import quantiles as of_times

if TYPE_CHECKING:
    from farweb.results.run import RunTables

SHARES = (0.5, 0.9, 0.99)
SIZES = (0, 1_000, 10_000, 100_000, 1_000_000)
"""Where classes of response sizes begin, in B: a decade each."""

ENOUGH = 20
"""Requests that a size class needs for a median; chosen: of fewer, two or three decide it."""


def changed(
    base: str,
    other: str,
    base_runs: "Sequence[RunTables]",
    other_runs: "Sequence[RunTables]",
    replications: Sequence[int],
) -> Change:
    """Measure the effect of runs on the requests of as many base runs.

    Args:
        base: Name of the base.
        other: Name of the others.
        base_runs: Each is compared with that at its place among the others.
        other_runs: The others.
        replications: Number of the replication of each pair.

    Raises:
        ResultsError: The requests of a pair are not the same.
    """
    found = [pair(first, second) for first, second in zip(base_runs, other_runs, strict=True)]
    units = _Units(found, replications)
    differences = np.concatenate([each.differences for each in found])
    before, after = (np.concatenate([getattr(each, side) for each in found]) for side in ("base", "other"))
    lost_before, lost_after = np.isinf(before), np.isinf(after)
    total = max(len(differences), 1)
    mean = units.mean(lambda each: each.differences[np.isfinite(each.base) & np.isfinite(each.other)])
    means = [
        float(each.mean()) for each in units.parts(lambda each: np.nan_to_num(each.differences, posinf=0, neginf=0))
    ]
    change = Change(
        base=base,
        other=other,
        pairs=len(differences),
        runs=len(found),
        method=units.method,
        units=units.number,
        effective=_effective(differences, mean, units.number) if units.method == "blocks" else None,
        dependent=units.method == "blocks" and blocks.is_dependent(means),
        median_s=units.median(lambda each: each.differences),
        mean_s=mean,
        both=float((~lost_before & ~lost_after).sum() / total),
        quantiles_s=units.quantile_differences(),
        faster=float((differences < 0).sum() / total),
        slower=float((differences > 0).sum() / total),
        net=units.mean(lambda each: np.sign(each.differences)),
        failed=units.mean(lambda each: np.isinf(each.other).astype(float) - np.isinf(each.base)),
        only_base=int((~lost_before & lost_after).sum()),
        only_other=int((lost_before & ~lost_after).sum()),
        neither=int((lost_before & lost_after).sum()),
        of_base=_side(before),
        of_other=_side(after),
        sizes=tuple(_sizes(found, units)),
        causes=_causes(found, base_runs, other_runs),
        differences=differences,
    )
    return replace(change, verdict=words.verdict(change))


class _Units:
    """Pairs of requests in parts that are independent, or nearly: replications, or blocks of consecutive requests.

    Replications that are all alike, as those of a scenario that leaves nothing to chance are, count as one; of several
    points, blocks of the same place go together.
    """

    def __init__(self, found: Sequence[Pairs], replications: Sequence[int]) -> None:
        by_replication: dict[int, list[Pairs]] = {}
        for each, replication in zip(found, replications, strict=True):
            by_replication.setdefault(replication, []).append(each)
        first, *others = by_replication.values()
        in_blocks = all(_are_alike(first, each) for each in others)
        self._parts = list(by_replication.values())
        if in_blocks:
            number = min(blocks.number_of_blocks(len(each.requests)) for each in first)
            self._parts = [list(part) for part in zip(*(each.cut(number) for each in first), strict=True)]
        self.number = len(self._parts)
        self.method = "none" if self.number < 2 else "blocks" if in_blocks else "replications"

    def parts(self, of: Callable[[Pairs], Floats]) -> list[NDArray[np.float64]]:
        """The observations, in parts."""
        return [np.concatenate([of(each) for each in part]) for part in self._parts]

    def mean(self, of: Callable[[Pairs], Floats]) -> Estimate:
        """The mean of all, with the interval that the means of the parts have."""
        parts = [part for part in self.parts(of) if part.size]
        half = student([part.mean() for part in parts]).half_width
        if not parts:
            return Estimate(None, None, None)
        mean = float(np.concatenate(parts).mean())
        return Estimate(mean, None, None) if half is None else Estimate(mean, mean - half, mean + half)

    def median(self, of: Callable[[Pairs], Floats]) -> Estimate:
        """The median of all."""
        return Estimate.of(quantiles(self.parts(of), [0.5])[0])

    def quantile_differences(self) -> dict[int, Estimate]:
        """Differences of quantiles, by share in percent."""
        found = quantile_differences(self.parts(lambda each: each.other), self.parts(lambda each: each.base), SHARES)
        return {round(100 * share): Estimate.of(each) for share, each in zip(SHARES, found, strict=True)}


def _are_alike(some: Sequence[Pairs], others: Sequence[Pairs]) -> bool:
    """Whether two replications make the same differences."""
    return len(some) == len(others) and all(
        np.array_equal(one.differences, other.differences) for one, other in zip(some, others, strict=True)
    )


def _effective(differences: Floats, mean: Estimate, parts: int) -> int | None:
    """The number of independent differences whose mean is as sure as that of so many parts."""
    if mean.low is None or mean.high is None or mean.high == mean.low:
        return None
    ended = differences[np.isfinite(differences)]
    error = (mean.high - mean.low) / 2 / float(student_quantiles(parts - 1))
    return min(round(float(ended.var(ddof=1)) / error**2), ended.size)


def _side(latency: Floats) -> Side:
    found = of_times(latency, SHARES)
    lost = float(np.isinf(latency).mean()) if latency.size else 0.0
    return Side({round(100 * share): value for share, value in zip(SHARES, found, strict=True)}, lost)


def _sizes(found: Sequence[Pairs], units: _Units) -> list[SizeClass]:
    """The size classes that have enough requests."""
    size = np.concatenate([each.size for each in found])
    differences = np.concatenate([each.differences for each in found])
    classes = []
    for low, high in zip(SIZES, (*SIZES[1:], math.inf), strict=True):
        inside = differences[(size >= low) & (size < high)]
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
    recorded = all((run.path / "exchanges.parquet").is_file() for run in (*base_runs, *other_runs))
    if not recorded:
        return ()
    sums: dict[str, float] = dict.fromkeys(KINDS, 0.0)
    number = 0
    for pairs, base, other in zip(found, base_runs, other_runs, strict=True):
        ended = pairs.requests[np.isfinite(pairs.base) & np.isfinite(pairs.other)].tolist()
        number += len(ended)
        for run, sign in ((base, -1), (other, 1)):
            parts = parts_by_kind(run)
            taken = parts.filter(parts["number"].is_in(ended)).drop("number").sum()
            for kind, total in taken.row(0, named=True).items():
                sums[kind] += sign * (total or 0.0)
    causes = [Cause(kind, sums[kind] / number) for kind in KINDS if number and sums[kind]]
    return tuple(sorted(causes, key=lambda each: -abs(each.mean_s)))
