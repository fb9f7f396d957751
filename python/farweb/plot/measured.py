"""Requests of runs as figures show them, and the words that name runs and say what became of their requests.

Requests that failed, or that the end of a run cut off, count as slower than any that ended; a quantile that they reach
has no place on an axis (`farweb.statistics.quantiles`) and is left out.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from farweb.errors import ResultsError
from farweb.results.run import RunTables
from farweb.statistics.quantiles import with_lost
from farweb.text.quantities import seconds, share
from farweb.text.words import distinguishing, listed


@dataclass(frozen=True)
class Measured:
    """The requests of one result that enter a figure.

    Attributes:
        label: Name of the result, unlike that of the others in the figure.
        finished: Finished requests that started after the warm-up, with the columns `response_bytes` (int64) and
            `latency_s` (float64, s): from the start of the request to its last byte at the first node.
        lost_bytes: Response sizes of the requests since the warm-up that failed or were cut off.
        failed: Requests since the warm-up that failed.
        unfinished: Requests since the warm-up that the end of the run cut off.
    """

    label: str
    finished: pl.DataFrame
    lost_bytes: NDArray[np.int64]
    failed: int
    unfinished: int

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Response sizes of all requests since the warm-up, of those that ended first."""
        return np.concatenate((self.finished["response_bytes"].to_numpy(), self.lost_bytes))

    @property
    def latencies(self) -> NDArray[np.float64]:
        """Latencies of the same requests, in s; infinite of those that did not end."""
        return with_lost(self.finished["latency_s"], len(self.lost_bytes))


def measured(results: Sequence[RunTables]) -> list[Measured]:
    """The requests of each result that enter a figure.

    Raises:
        ResultsError: A result has no finished request.
    """
    found = [measured_run(result, label) for result, label in zip(results, short_labels(results), strict=True)]
    for result, each in zip(results, found, strict=True):
        if each.finished.is_empty():
            raise ResultsError(
                f"{result.path}: no request finished, so there is no latency to plot "
                f"({each.failed} failed, {each.unfinished} unfinished)"
            )
    return found


def measured_run(result: RunTables, label: str = "") -> Measured:
    """The requests of one result that enter a figure; there may be none."""
    since = result.scan("requests").filter(pl.col("start_ns") >= result.warmup_ns)
    statuses = dict(since.group_by("status").len().collect().iter_rows())
    finished = (
        since.filter(pl.col("status") == "done")
        .select(
            "response_bytes",
            # At least one tick of the clock: a path without delay or rate gives 0, which logarithmic axes cannot hold.
            latency_s=(pl.col("end_ns") - pl.col("start_ns")).clip(lower_bound=1) / 1e9,
        )
        .collect()
    )
    lost = since.filter(pl.col("status") != "done").select("response_bytes").collect()["response_bytes"].to_numpy()
    return Measured(label, finished, lost, statuses.get("failed", 0), statuses.get("unfinished", 0))


LABEL_LETTERS = 28
"""Letters of a name up to which it stays whole; chosen: three of them stand side by side in a legend."""


def labels(results: Sequence[RunTables]) -> list[str]:
    """A name for each result: that of its run, with the folder's or the place in the list where names repeat."""
    names = [result.name for result in results]
    folders = [
        name if names.count(name) == 1 or name == result.path.name else f"{name} ({result.path.name})"
        for name, result in zip(names, results, strict=True)
    ]
    return [name if folders.count(name) == 1 else f"{name} #{place}" for place, name in enumerate(folders, 1)]


def short_labels(results: Sequence[RunTables]) -> list[str]:
    """Names for figures, where there is little room: of long ones only what differs is left."""
    return distinguishing(labels(results), LABEL_LETTERS)


def provenance(results: Sequence[RunTables], *, measured: bool = False) -> str:
    """The seeds and versions behind a figure, as a sentence for a caption.

    Args:
        results: What is drawn.
        measured: Whether the figure leaves out the warm-up; then it says how much that is.
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
