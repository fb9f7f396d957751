"""Results folders as users open them, of runs and of sweeps.

Only a sweep needs Polars, which takes longer to load than a small run: it is imported where one is opened.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from farweb.library.run_results import Results
from farweb.results.manifest import RUN_KIND, kind_of

if TYPE_CHECKING:
    from farweb.library.sweep_results import SweepResults


def open_results(path: str | Path) -> "Results | SweepResults":
    """Open the results folder of a run or a sweep. A sweep may be at a URL, such as s3://….

    Raises:
        ResultsError: There is neither at `path`.
    """
    if kind_of(path) == RUN_KIND:
        return Results.open(path)
    from farweb.library.sweep_results import SweepResults

    return SweepResults.open(path)
