"""What each level of a factor makes of a metric, against the factor's first level, with all else equal."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from farweb.results.metrics import Metric
from farweb.results.sweep import SweepTables


@dataclass(frozen=True)
class Change:
    """A level against the first.

    Attributes:
        factor: Name of the factor.
        level: The level.
        base: The factor's first level.
        mean: Level less base, averaged over all pairs of points that differ in nothing else.
        low: Lower end of its 95 % interval; None for fewer than two replications.
        high: Upper end.
        percent: Of the mean at the base; None when that is zero.
    """

    factor: str
    level: str
    base: str
    mean: float
    low: float | None
    high: float | None
    percent: float | None

    @property
    def is_judged(self) -> bool:
        """Whether there is an interval."""
        return self.low is not None and self.high is not None

    @property
    def is_real(self) -> bool:
        """Whether the interval leaves zero out."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


def changes(sweep: SweepTables, metric: Metric) -> list[Change]:
    """The levels of each factor against its first, in the order of the design; those without a value are left out.

    A search has none: its levels are those that it came to try, and its first is no base for anything.
    """
    if sweep.design.kind == "search":
        return []
    rows = sweep.differences([metric.name]).filter((pl.col("scope") == "overall") & pl.col("mean").is_not_null())
    columns = ["factor", "level", "base", "mean", "low", "high", "percent"]
    return [Change(*row) for row in rows.select(columns).iter_rows()]


def strongest(found: Sequence[Change]) -> list[Change]:
    """Of each factor the level that makes the largest difference."""
    largest: dict[str, Change] = {}
    for change in found:
        before = largest.get(change.factor)
        if before is None or abs(change.mean) > abs(before.mean):
            largest[change.factor] = change
    return list(largest.values())
