"""Verification of a results folder: which of its files are missing or not as they were written."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farweb.results.digests import Damage, damages
from farweb.results.open import open_folder
from farweb.results.run import RunTables
from farweb.results.store import Store, part_name

if TYPE_CHECKING:
    from rich.console import RenderableType

    from farweb.results.sweep import SweepTables


@dataclass(frozen=True)
class Verification:
    """What a verification has found.

    Attributes:
        path: The results folder.
        full: Whether every byte was compared with its digest, or sizes and numbers of rows only.
        folders: RunTables folders looked at: one of a run; of a sweep its own and those of its runs.
        unfinished: Planned runs of a sweep that have not ended; the sweep says itself that it is not complete.
        damages: Files that are missing or not as they were written.
        leftovers: What killed commands have left in the folder; nothing takes it for results.
    """

    path: str
    full: bool
    folders: int
    unfinished: int
    damages: tuple[Damage, ...]
    leftovers: tuple[str, ...]

    @property
    def whole(self) -> bool:
        """Whether nothing is damaged or missing."""
        return not self.damages

    def to_dict(self) -> dict[str, Any]:
        """What `farweb verify --json` prints."""
        return {**asdict(self), "whole": self.whole}

    def __rich__(self) -> "RenderableType":
        checked = "every byte" if self.full else "sizes and numbers of rows (--full: every byte)"
        lines = [f"{self.path}: {checked} of {self.folders:,} result folder{'s' if self.folders > 1 else ''} checked."]
        lines += [f"  {damage.file}: {damage.what}" for damage in self.damages]
        if self.unfinished:
            lines.append(f"{self.unfinished:,} planned runs have not ended; farweb sweep goes on with them.")
        if self.leftovers:
            lines.append(f"Left by commands that were killed, and safe to remove: {', '.join(self.leftovers)}")
        lines.append("Nothing is damaged." if self.whole else _ADVICE)
        return "\n".join(lines)


_ADVICE = "The same farweb run or farweb sweep as before makes what is damaged again."


def verify(path: str | Path, *, full: bool = False, progress: Callable[[int, int], None] | None = None) -> Verification:
    """Check that a results folder is as it was written.

    Args:
        path: The folder of a run or of a sweep; of a sweep also a URL.
        full: Compare every byte with its digest; otherwise sizes and numbers of rows.
        progress: Called with the number of folders checked, and of those in all.

    Raises:
        ResultsError: There are no results at `path`, or its manifest cannot be read.
    """
    opened = open_folder(path, RunTables, SweepTables)
    store = Store(path)
    if isinstance(opened, RunTables):
        return Verification(str(path), full, 1, 0, tuple(damages(store, full=full)), _leftovers(store, ""))
    found = list(damages(store, full=full))
    ended, lost, unfinished = _planned(opened)
    found += [Damage(part_name(run), "is missing") for run in lost]
    for checked, run in enumerate(ended, start=1):
        found += damages(store, part_name(run), full=full)
        if progress is not None:
            progress(checked, len(ended))
    leftovers = (*_leftovers(store, ""), *_leftovers(store, "parts"))
    return Verification(str(path), full, 1 + len(ended), unfinished, tuple(found), leftovers)


def _planned(sweep: "SweepTables") -> tuple[list[str], list[str], int]:
    """Of the runs of a sweep's plan: those with results, those whose results have gone, and how many have not ended."""
    finished, failed = sweep.store.finished(), sweep.store.failed()
    plan = sweep.planned_runs()
    ended = [run for run in plan if run in finished]
    rest = [run for run in plan if run not in finished and run not in failed]
    return (ended, rest, 0) if sweep.complete else (ended, [], len(rest))


def _leftovers(store: Store, folder: str) -> tuple[str, ...]:
    """Hidden files and folders of killed commands."""
    if store.folder is None or not (store.folder / folder).is_dir():
        return ()
    hidden = (path for path in (store.folder / folder).iterdir() if path.name.startswith("."))
    return tuple(sorted(str(path.relative_to(store.folder)) for path in hidden if path.suffix in {".partial", ".old"}))
