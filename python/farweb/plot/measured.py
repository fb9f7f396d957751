"""Runs as figures show them: their requests, their samples over time, their names, and what captions say of them.

Requests that failed, or that the end of a run cut off, count as slower than any that ended; a quantile that they reach
has no place on an axis (`farweb.statistics.quantiles`) and is left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from farweb.errors import ResultsError
from farweb.paint.figure import Axis, Floats, Form, Reference, Series
from farweb.results.folder import folder_names
from farweb.results.groups import RequestGroup, grouped
from farweb.results.run import RunTables
from farweb.statistics.quantiles import with_lost
from farweb.text.quantities import seconds, share
from farweb.text.words import distinguishing, listed


@dataclass(frozen=True)
class Measured:
    """The requests of one result that enter a figure.

    Attributes:
        label: Name of the result, unique in the figure.
        finished: Finished requests that started after the warm-up, with the columns `response_bytes` (int64) and
            `latency_s` (float64, s): from the start of the request to its last byte at the first node.
        lost_bytes: Response sizes of the requests since the warm-up that failed or were cut off.
        starts: Starts of all requests since the warm-up in ns, finished ones first.
        failed: Requests since the warm-up that failed.
        unfinished: Requests since the warm-up that the end of the run cut off.
    """

    label: str
    finished: pl.DataFrame
    lost_bytes: NDArray[np.int64]
    starts: NDArray[np.int64]
    failed: int
    unfinished: int

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Response sizes of all requests since the warm-up, finished ones first."""
        return np.concatenate((self.finished["response_bytes"].to_numpy(), self.lost_bytes))

    @property
    def latencies(self) -> NDArray[np.float64]:
        """Latencies of the same requests, in s, infinite for unfinished ones."""
        return with_lost(self.finished["latency_s"], len(self.lost_bytes))


def measured(results: Sequence[RunTables], by: Sequence[str] | None = None) -> list[Measured]:
    """The requests of each result that enter a figure, together or in the groups that `by` names.

    Raises:
        FarwebError: There is no such grouping.
        ResultsError: A result, or a group of it, has no finished request.
    """
    found = []
    for result, label in zip(results, short_labels(results), strict=True):
        for group in grouped(result, by):
            each = measured_run(result, of_group(label, group.label, results), group)
            if each.finished.is_empty():
                which = f" ({group.label})" if group.label else ""
                raise ResultsError(
                    f"{result.path}: no request{which} finished, so there is no latency to plot "
                    f"({each.failed} failed, {each.unfinished} unfinished)"
                )
            found.append(each)
    return found


def of_group(label: str, group: str, results: Sequence[RunTables]) -> str:
    """The label of a group of a result; the name of a single result is left out."""
    return ": ".join(part for part in (label if len(results) > 1 or not group else "", group) if part)


def measured_run(result: RunTables, label: str = "", group: RequestGroup | None = None) -> Measured:
    """Requests of a result that enter a figure, all or a group; there may be none.

    Raises:
        ResultsError: The table is damaged.
    """
    rows = [] if group is None else [group.rows]
    since = result.scan("requests").filter(pl.col("start_ns") >= result.warmup_ns, *rows)
    statuses = dict(since.group_by("status").len().collect().iter_rows())
    finished = (
        since.filter(pl.col("status") == "done")
        .select(
            response_bytes="served_bytes",
            # At least one tick of the clock: a path without delay or rate gives 0, which logarithmic axes cannot hold.
            latency_s=(pl.col("end_ns") - pl.col("start_ns")).clip(lower_bound=1) / 1e9,
            start_ns="start_ns",
        )
        .collect()
    )
    lost = since.filter(pl.col("status") != "done").select("response_bytes", "start_ns").collect()
    starts = np.concatenate([each["start_ns"].to_numpy() for each in (finished, lost)])
    finished = finished.drop("start_ns")
    return Measured(
        label,
        finished,
        lost["response_bytes"].to_numpy(),
        starts,
        statuses.get("failed", 0),
        statuses.get("unfinished", 0),
    )


LABEL_LETTERS = 28
"""Most letters of a whole name. Chosen: three of them stand side by side in a legend."""


def short_labels(results: Sequence[RunTables]) -> list[str]:
    """Names for figures, where there is little room: of long ones only what differs is left."""
    return distinguishing(folder_names(results), LABEL_LETTERS)


def provenance(results: Sequence[RunTables], *, measured: bool = False) -> str:
    """The seeds and versions behind a figure, as a sentence for a caption.

    Args:
        results: The results drawn.
        measured: True when the figure leaves out the warm-up; then it says how much that is.
    """
    seeds = sorted({int(result.manifest["seed"]) for result in results})
    versions = sorted({str(result.manifest["version"]) for result in results})
    word = "Seed" if len(seeds) == 1 else "Seeds"
    said = f"{word} {listed([str(seed) for seed in seeds])}, farweb {listed(versions)}."
    warmups = sorted({result.warmup_ns / 1e9 for result in results})
    if measured and warmups[-1]:
        of = "" if len(warmups) == 1 else f"{seconds(warmups[0])} to "
        said += f" Warm-up: the first {of}{seconds(warmups[-1])} are left out."
    return said


def counts(requests: Sequence[Measured]) -> str:
    """Numbers of requests of each result that are drawn, and what became of the others, for a caption."""
    return " ".join(f"{each.label + ': ' if requests[1:] else ''}{counts_together([each])}" for each in requests)


def counts_together(requests: Sequence[Measured]) -> str:
    """Number of requests of all results that are drawn, and what became of the others, for a caption."""
    answered = sum(len(each.finished) for each in requests)
    failed = sum(each.failed for each in requests)
    unfinished = sum(each.unfinished for each in requests)
    total = answered + failed + unfinished
    lost = [f"{failed:,} failed"] * bool(failed) + [f"{unfinished:,} cut off by the end of the run"] * bool(unfinished)
    if not lost:
        return f"n = {total:,} requests."
    out = share(1 - answered / total)
    return f"n = {total:,} requests, {' and '.join(lost)} ({out}): they count as slower than any that ended."


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


def rows_of(result: RunTables, table: str) -> pl.DataFrame:
    """A table recorded by interval: of links, legs or caches.

    Raises:
        ResultsError: It has no rows.
    """
    rows: pl.DataFrame = getattr(result, table)
    if rows.is_empty():
        raise ResultsError(
            f"{result.path}: the table of {table} has no rows; run again with an interval, for example "
            'record.links_every = "1 s"'
        )
    return rows


def samples(rows: pl.DataFrame, **columns: pl.Expr) -> Samples:
    """The samples of a table, neighbours merged until there are at most `POINTS_MAX`.

    Args:
        rows: Of one link, leg or cache, with `time_ns` (the end of each interval) and `interval_ns`.
        columns: Columns wanted, made of the rows that are merged.
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
