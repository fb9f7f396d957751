"""Comparisons of runs, or of points of a sweep, with the first of them and with each other."""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from farweb.comparison import words
from farweb.comparison.change import Change, Pair
from farweb.comparison.measure import changed
from farweb.comparison.points import runs_of_points
from farweb.errors import FarwebError
from farweb.plot.measured import labels
from farweb.results.groups import By, grouped
from farweb.results.judged import FIXED_LOG, OF_LOG, Matched, judged, quantity_name
from farweb.results.manifest import RUN_KIND, kind_of
from farweb.results.run import RunTables
from farweb.results.sweep import SweepTables
from farweb.statistics.judgement import DECIDING, MARGIN, ranked
from farweb.text.sheet import Sheet, to_html, to_rich

if TYPE_CHECKING:
    from rich.console import RenderableType


@dataclass(frozen=True)
class Comparison:
    """Several runs or points compared with the first, and judged each against each.

    Attributes:
        base: Name of the first.
        changes: One for each of the others.
        pairs: The judgement of each two.
        names: Of the runs or points, the first before the others.
    """

    base: str
    changes: tuple[Change, ...]
    pairs: tuple[Pair, ...]
    names: tuple[str, ...]

    @property
    def ranking(self) -> dict[str, list[list[str]]]:
        """By group of requests the names by all pairs, the best first; what shares a place is not ranked."""
        groups = dict.fromkeys(each.group for each in self.pairs)
        return {
            group: ranked(
                self.names, [(each.base, each.other, each.verdict) for each in self.pairs if each.group == group]
            )
            for group in groups
        }

    @property
    def of_a_log(self) -> bool:
        """True where each replication repeats the same requests, so that intervals hold for these."""
        return any(each.verdict.scope == OF_LOG and each.verdict.interval_of == "blocks" for each in self.pairs)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return {
            "base": self.base,
            "changes": [change.to_dict() for change in self.changes],
            "pairs": [pair.to_dict() for pair in self.pairs],
            "ranking": [{"group": group, "places": places} for group, places in self.ranking.items()],
        }

    def _said(self) -> tuple[list[Sheet], str]:
        """The table of all pairs, and where requests repeat a log, what would replicate; neither of two runs alone."""
        several = len(self.names) > 2
        sheets = [words.matrix(self.names, self.pairs, group, self.ranking[group]) for group in self.ranking]
        return (sheets if several else []), FIXED_LOG if self.of_a_log else ""

    def __rich__(self) -> "RenderableType":
        from rich.console import Group
        from rich.text import Text

        said = [(to_rich(words.sheets(each)), Text(words.remarks(each)), Text(each.verdict)) for each in self.changes]
        matrix, note = self._said()
        end = [to_rich(matrix)] if matrix else []
        return Group(*(part for parts in said for part in parts), *end, *([Text(note)] if note else []))

    def _repr_html_(self) -> str:
        from html import escape

        matrix, note = self._said()
        said = "".join(
            f"{to_html(words.sheets(each))}<p>{escape(words.remarks(each))}</p><p>{escape(each.verdict)}</p>"
            for each in self.changes
        )
        return said + to_html(matrix) + (f"<p>{escape(note)}</p>" if note else "")


def compare(
    *results: RunTables | SweepTables | str | Path,
    points: Sequence[Mapping[str, str]] | None = None,
    by: str | Sequence[str] | None = None,
    margin: float = MARGIN,
) -> Comparison:
    """Compare runs of the same requests, or points of a sweep, with the first, and judge each against each.

    Args:
        results: Runs, at least two, or one sweep; folders are opened.
        points: Of a sweep, the levels by factor that name each point, at least two points:
            ``[{"circuit": "cable"}, {"circuit": "satellite"}]``. Runs that differ in nothing else are paired.
        by: `visit` or `client`: compare each group of requests by itself (`farweb.results.groups`). Quantities beside
            it or alone decide instead of median, p90, p99 and failures: `p99`, `mean`, `within(5 s)` …
        margin: Relative difference up to which alternatives are equivalent; of shares a tenth of it.

    Raises:
        FarwebError: Too few results, runs and sweeps together, or an unknown factor, level, grouping or quantity.
        ResultsError: The requests are not the same; the message names the difference. Or none names its client.
    """
    asked = [by] if isinstance(by, str) else list(by or ())
    groups = [each for each in asked if each in get_args(By)]
    deciding = [quantity_name(each) for each in asked if each not in get_args(By)] or DECIDING
    if not 0 < margin < 1:
        raise FarwebError(f"--margin {margin:g}: a relative difference above 0 and below 1, such as 5%")
    opened = [_opened(each) if isinstance(each, str | Path) else each for each in results]
    names, between = _sides(opened, points)
    first = between(0, 1)
    changes, pairs = [], []
    for group in grouped(first.base[0], groups):
        for base, other in itertools.combinations(range(len(names)), 2):
            runs = between(base, other)
            called = names[base], names[other]
            if base == 0:
                change = changed(*called, runs, group, deciding, margin)
                changes.append(change)
                verdict = change.judgement
            else:
                verdict = judged(runs, called, deciding, margin, group.rows)
            pairs.append(Pair(*called, group.label, verdict))
    changes.sort(key=lambda each: names.index(each.other))
    return Comparison(names[0], tuple(changes), tuple(pairs), tuple(names))


def _sides(
    opened: Sequence[RunTables | SweepTables], points: Sequence[Mapping[str, str]] | None
) -> tuple[list[str], Callable[[int, int], Matched]]:
    """Names, and the runs of each two that are compared."""
    runs = [each for each in opened if isinstance(each, RunTables)]
    sweeps = [each for each in opened if not isinstance(each, RunTables)]
    if points is not None:
        if len(sweeps) != 1 or runs:
            raise FarwebError("points are of one sweep: name its folder, and nothing else")
        if len(points) < 2 or len({frozenset(each) for each in points}) > 1:
            raise FarwebError("name at least two points of the sweep, each by levels of the same factors")
        names = [", ".join(each.values()) for each in points]
        return names, lambda base, other: runs_of_points(sweeps[0], points[base], points[other])
    if sweeps:
        raise FarwebError(f"{sweeps[0].path}: is a sweep; name two points of it, as in --point circuit=cable --point …")
    if len(runs) < 2:
        raise FarwebError("a comparison needs at least two runs; name their folders")
    return labels(runs), lambda base, other: Matched([runs[base]], [runs[other]], [0])


def _opened(path: str | Path) -> RunTables | SweepTables:
    return RunTables.open(path) if kind_of(path) == RUN_KIND else SweepTables.open(path)
