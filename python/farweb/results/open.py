"""Opening a results folder that may be of a run or of a sweep."""

from pathlib import Path
from typing import TypeVar

from farweb.results.manifest import RUN_KIND, read_manifest
from farweb.results.run import RunTables
from farweb.results.sweep import SweepTables

Run = TypeVar("Run", bound=RunTables)
Sweep = TypeVar("Sweep", bound=SweepTables)


def open_folder(path: str | Path, run: type[Run], sweep: type[Sweep]) -> Run | Sweep:
    """Open the results folder of a run or of a sweep, whichever it is; a sweep may be at a URL, such as s3://….

    Args:
        path: The folder.
        run: What to open the folder of a run as.
        sweep: What to open that of a sweep as.

    Raises:
        ResultsError: There is neither at `path`.
    """
    if "://" in str(path):
        return sweep.open(path)
    path = Path(path)
    kind = read_manifest(path, None)["kind"]
    return run.open(path) if kind == RUN_KIND else sweep.open(path)
