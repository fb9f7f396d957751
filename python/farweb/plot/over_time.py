"""Samples of a run over time: rows of a table by interval, as levels that hold until the next."""

from dataclasses import dataclass

import numpy as np
import polars as pl

from farweb.plot.figure import Axis, Floats, Form, Reference, Series
from farweb.results.run import RunTables

POINTS_MAX = 1_500
"""Intervals drawn; more are merged. Chosen: about the number of pixel columns of a panel."""


@dataclass(frozen=True)
class Samples:
    """Measurements by interval.

    Attributes:
        rows: By time: `from_s`, `to_s` (s), and the columns that were asked for.
        length_s: The time that a row covers, in s; the last one may cover less.
    """

    rows: pl.DataFrame
    length_s: float

    @property
    def ends(self) -> Floats:
        """Ends of the intervals, from the beginning of the first one, in s."""
        ends: Floats = np.append(self.rows["from_s"].to_numpy(), self.rows["to_s"].to_numpy()[-1:])
        return ends

    @property
    def axis(self) -> Axis:
        """The axis of their time."""
        return Axis.of_time("time", self.ends)

    def series(
        self, label: str, index: int | None, column: str, form: Form = "steps", part: str = "", scale: float = 1.0
    ) -> Series:
        """A column as a series, multiplied by `scale`; nothing is drawn where it is null."""
        values = self.rows[column].cast(pl.Float64).fill_null(np.nan).to_numpy() * scale
        return Series(label, index, self.ends, np.append(values, values[-1:]), form, part=part)


def samples(rows: pl.DataFrame, **columns: pl.Expr) -> Samples:
    """The samples of a table, neighbours merged until there are at most `POINTS_MAX`.

    Args:
        rows: Of one link, leg or cache, with `time_ns` (the end of each interval) and `interval_ns`.
        columns: What is wanted, made of the rows that are merged.
    """
    one = rows.sort("time_ns")
    merge = max(1, -(-len(one) // POINTS_MAX))
    merged = (
        one.with_row_index("row")
        .group_by(pl.col("row") // merge, maintain_order=True)
        .agg(
            from_s=(pl.col("time_ns").first() - pl.col("interval_ns").first()) / 1e9,
            to_s=pl.col("time_ns").last() / 1e9,
            **columns,
        )
        .drop("row")
    )
    return Samples(merged, float(one["interval_ns"].to_list()[0] if len(one) else 0) * merge / 1e9)


def mean(column: str) -> pl.Expr:
    """The mean of a column over the time of the intervals that are merged."""
    return (pl.col(column) * pl.col("interval_ns")).sum() / pl.col("interval_ns").sum()


def warmup_line(result: RunTables) -> tuple[Reference, ...]:
    """The end of the warm-up on an axis of time, where there is one: figures over time show it, others leave it out."""
    return (Reference("end of the warm-up", result.warmup_ns / 1e9, along="y"),) if result.warmup_ns else ()
