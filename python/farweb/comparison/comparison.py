"""Comparisons of runs, or of points of a sweep, with the first of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farweb.comparison import words
from farweb.comparison.change import Change
from farweb.comparison.measure import changed
from farweb.comparison.pairs import runs_of_points
from farweb.errors import FarwebError
from farweb.plot.measured import labels
from farweb.results.manifest import RUN_KIND, kind_of
from farweb.results.run import RunTables
from farweb.results.sweep import SweepTables
from farweb.text.sheet import to_html, to_rich

if TYPE_CHECKING:
    from rich.console import RenderableType

    from farweb.results.run import RunTables


@dataclass(frozen=True)
class Comparison:
    """The effect of each of several runs on the requests of the first.

    Attributes:
        base: Name of the first.
        changes: One for each of the others.
    """

    base: str
    changes: tuple[Change, ...]

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return {"base": self.base, "changes": [change.to_dict() for change in self.changes]}

    def __rich__(self) -> "RenderableType":
        from rich.console import Group
        from rich.text import Text

        said = [(to_rich(words.sheets(each)), Text(words.remarks(each)), Text(each.verdict)) for each in self.changes]
        return Group(*(part for parts in said for part in parts))

    def _repr_html_(self) -> str:
        from html import escape

        return "".join(
            f"{to_html(words.sheets(each))}<p>{escape(words.remarks(each))}</p><p>{escape(each.verdict)}</p>"
            for each in self.changes
        )


def compare(
    *results: RunTables | SweepTables | str | Path, points: Sequence[Mapping[str, str]] | None = None
) -> Comparison:
    """Compare runs of the same requests with the first of them, or points of a sweep with the first of those.

    Args:
        results: Runs, at least two, or one sweep; folders are opened.
        points: Of a sweep, the levels by factor that name each point, at least two points:
            ``[{"circuit": "cable"}, {"circuit": "satellite"}]``. Runs that differ in nothing else are paired.

    Raises:
        FarwebError: Too few results, runs and sweeps together, or an unknown factor or level.
        ResultsError: The requests are not the same; the message says in what they differ.
    """
    opened = [_opened(each) if isinstance(each, str | Path) else each for each in results]
    runs = [each for each in opened if isinstance(each, RunTables)]
    if points is not None:
        sweeps = [each for each in opened if not isinstance(each, RunTables)]
        if len(sweeps) != 1 or runs:
            raise FarwebError("points are of one sweep: name its folder, and nothing else")
        if len(points) < 2 or len({frozenset(each) for each in points}) > 1:
            raise FarwebError("name at least two points of the sweep, each by levels of the same factors")
        names = [", ".join(each.values()) for each in points]
        found = runs_of_points(sweeps[0], points)
        return Comparison(
            names[0], tuple(changed(names[0], name, *both) for name, both in zip(names[1:], found, strict=True))
        )
    if len(runs) < len(opened):
        sweep = next(each for each in opened if not isinstance(each, RunTables))
        raise FarwebError(f"{sweep.path}: is a sweep; name two points of it, as in --point circuit=cable --point …")
    if len(runs) < 2:
        raise FarwebError("a comparison needs at least two runs; name their folders")
    base, *names = labels(runs)
    return Comparison(
        base, tuple(changed(base, name, runs[:1], [run], [0]) for name, run in zip(names, runs[1:], strict=True))
    )


def _opened(path: str | Path) -> RunTables | SweepTables:
    return RunTables.open(path) if kind_of(path) == RUN_KIND else SweepTables.open(path)
