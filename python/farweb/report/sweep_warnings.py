"""What to beware of in the numbers of a sweep: runs that are missing, and requests that no latency has."""

import polars as pl

from farweb.quantities import share
from farweb.report.words import plural
from farweb.sweep.results import SweepResults

_ERRORS = 3  # chosen: different errors told; more are rarely different causes


def state(sweep: SweepResults) -> list[str]:
    """What the reader must know before anything else: whether the sweep has ended, and well."""
    planned, ended = sweep.manifest["runs"], len(sweep.runs)
    failed = sweep.runs.filter(pl.col("status") == "failed").height
    said = []
    if not sweep.complete:
        said.append(
            f"This sweep is not finished: {ended:,} of {planned:,} runs have ended. Numbers are of these, and will change."
        )
    if failed:
        said.append(f"{plural(failed, 'run')} of {ended:,} failed. Numbers are of the others.")
    return said


def sweep_warnings(sweep: SweepResults) -> list[str]:
    """Failed runs with their errors, points without a run, single replications, requests that were cut off."""
    return [*_failures(sweep), *_missing(sweep), *_single(sweep), *_lost(sweep, "failed"), *_lost(sweep, "unfinished")]


def _failures(sweep: SweepResults) -> list[str]:
    failed = sweep.runs.filter(pl.col("status") == "failed")
    counted = failed.group_by("error", maintain_order=True).len().sort("len", descending=True, maintain_order=True)
    said = [f"{plural(number, 'run')} failed: {error}" for error, number in counted.head(_ERRORS).iter_rows()]
    if counted.height > _ERRORS:
        said.append(f"There are {counted.height - _ERRORS} other errors; the table runs has them all.")
    return said


def _missing(sweep: SweepResults) -> list[str]:
    done = sweep.points.filter(sweep.runs["status"] == "done")
    missing = len(sweep.design.points) - done.n_unique()
    return [f"{plural(missing, 'point')} of {len(sweep.design.points):,} without a finished run."] if missing else []


def _single(sweep: SweepResults) -> list[str]:
    if sweep.runs["replication"].n_unique() > 1:
        return []
    return [
        "There is one replication of each point: no intervals, and nothing tells differences from chance. Set "
        "sweep.replications to 5 or more."
    ]


def _lost(sweep: SweepResults, what: str) -> list[str]:
    """Requests that no latency has, as the slow ones are the ones that fail or do not end."""
    done = sweep.runs.with_columns(point=sweep.points).filter(pl.col("status") == "done")
    lost = done.filter(pl.col(what) > 0).with_columns(share=pl.col(what) / pl.col("requests"))
    if lost.is_empty():
        return []
    most = float(lost["share"].max() or 0)  # type: ignore[arg-type]
    words = {"failed": "failed", "unfinished": "had not ended when the run did"}[what]
    return [
        f"In {plural(lost.height, 'run')} at {plural(lost['point'].n_unique(), 'point')} requests {words}, up to "
        f"{share(most)} of a run's. No latency has them, so latencies look better there than they are."
    ]
