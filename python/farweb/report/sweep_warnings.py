"""What to beware of in the numbers of a sweep."""

from collections.abc import Sequence

import polars as pl

from farweb.report.words import plural
from farweb.results.cautions import cautions
from farweb.results.metrics import Metric
from farweb.results.sweep import SweepTables

_ERRORS = 3  # chosen: different errors told; more are rarely different causes


def state(sweep: SweepTables) -> list[str]:
    """What the reader must know before anything else: whether the sweep has ended, and well."""
    planned, ended = sweep.manifest["runs"], len(sweep.runs)
    failed = sweep.runs.filter(pl.col("status") == "failed").height
    said = []
    if not sweep.complete:
        said.append(
            f"This sweep is not finished: {ended:,} of {planned:,} runs have ended. Numbers are of these, and will "
            "change."
        )
    if failed:
        said.append(f"{plural(failed, 'run')} of {ended:,} failed. Numbers are of the others.")
    return said


def sweep_warnings(sweep: SweepTables, metrics: Sequence[Metric], before: Sequence[str]) -> list[str]:
    """What to beware of in the numbers, and why runs failed; `before` is what is to be told first."""
    told = [*before, *cautions(sweep, [metric.name for metric in metrics])]
    return [*map(_sentence, told), *_failures(sweep)]


def _sentence(text: str) -> str:
    """A caution as a sentence; keys of scenarios and names of metrics keep their small letters."""
    first, _, rest = text.partition(" ")
    return f"{first.capitalize() if first.isalpha() else first} {rest}."


def _failures(sweep: SweepTables) -> list[str]:
    failed = sweep.runs.filter(pl.col("status") == "failed")
    counted = failed.group_by("error", maintain_order=True).len().sort("len", descending=True, maintain_order=True)
    said = [f"{plural(number, 'run')} failed: {error}" for error, number in counted.head(_ERRORS).iter_rows()]
    if counted.height > _ERRORS:
        said.append(f"There are {counted.height - _ERRORS} other errors; the table runs has them all.")
    return said
