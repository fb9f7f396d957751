"""Reads the results of a case by every verb, wherever their files lie: what farweb has written it takes back."""

import contextlib
import io
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path

from explorer.case import Case
from explorer.rules import Violation
from explorer.run import RESULTS
from farweb import Scenario
from farweb.cli import main

FACTOR, LEVELS = "path.link.0.down.delay", ("1 ms", "70 ms")
SWEEP = f"\n[sweep.factors]\n{json.dumps(FACTOR)} = {json.dumps(LEVELS)}\n"


def sweep(case: Case, folder: Path) -> Path:
    """Write the files of a case to `folder`, and sweep it there over two delays; the results."""
    path = case.write(folder)
    path.write_text(path.read_text("utf-8") + SWEEP, "utf-8")
    Scenario.load(path).sweep(folder / RESULTS, jobs=1)
    return folder / RESULTS


def unread(results: Path, number: int, *, drawn: bool) -> list[Violation]:
    """What a verb says of results that it does not read.

    Args:
        results: The folder of a run or a sweep, which is displaced.
        number: Of the case; draws what becomes of its files.
        drawn: True when what takes seconds is tried too: the report and a figure.
    """
    moved = random.Random(number).choice(DISPLACED)(results)
    return [Violation(f"verbs.{verb}", said) for verb, said in _refusals(moved, drawn=drawn)]


def _refusals(results: Path, *, drawn: bool) -> Iterator[tuple[str, str]]:
    points: list[str | Path] = (
        [] if (results / "requests.parquet").exists() else [f"--point={FACTOR}={level}" for level in LEVELS]
    )
    verbs: dict[str, list[str | Path]] = {
        "show": [results],
        "verify": [results, "--full"],
        "sql": [results, "select * from requests"],
        "compare": [results, *(points or [results])],
    }
    if drawn:
        verbs["report"] = [results, "--out", results.parent / "page.html"]
        verbs["plot"] = ["cdf", results, "--out", results.parent / "cdf.svg"]
    for verb, arguments in verbs.items():
        said = io.StringIO()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
            code = main([verb, *map(str, arguments)])
        if code and not (verb in NEED_LATENCIES and code == 2 and "no request" in said.getvalue()):
            yield verb, f"ends with {code}: {said.getvalue().strip()}"


NEED_LATENCIES = ("compare", "plot")
"""Verbs that may refuse results of which no request has ended."""


def _linked(results: Path) -> Path:
    """Every table is a link, as git-annex and DVC leave it."""
    objects = results.parent / "objects"
    objects.mkdir()
    for place, file in enumerate(sorted(results.rglob("*.parquet"))):
        file.symlink_to(file.rename(objects / str(place)))
    return results


def _elsewhere(results: Path) -> Path:
    """The folder, and the parts of a sweep, are links to another disk."""
    disk = results.parent / "disk"
    disk.mkdir()
    for folder in (results / "parts", results):
        if folder.exists():
            folder.symlink_to(folder.rename(disk / folder.name), target_is_directory=True)
    return results


def _open_to_all(results: Path) -> Path:
    return _with_modes(results, 0o777, 0o666)


def _read_only(results: Path) -> Path:
    return _with_modes(results, 0o555, 0o444)


def _with_modes(results: Path, folders: int, files: int) -> Path:
    for each in (results, *results.rglob("*")):
        each.chmod(folders if each.is_dir() else files)
    return results


DISPLACED: tuple[Callable[[Path], Path], ...] = (_linked, _elsewhere, _open_to_all, _read_only, lambda results: results)
