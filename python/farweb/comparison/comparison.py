"""Comparisons of runs, or of points of a sweep, with the first of them and with each other."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from farweb.comparison import words
from farweb.comparison.change import Change, Pair, Side
from farweb.comparison.measure import changed
from farweb.comparison.points import point_text, runs_of_points
from farweb.errors import FarwebError
from farweb.judge.judged import Matched, judged, pairs_together, quantity_name
from farweb.judge.judgement import DECIDING, Verdict
from farweb.judge.ranking import Ranking, ranking
from farweb.judge.verdicts import MARGIN
from farweb.results.folder import folder_names
from farweb.results.groups import By, RequestGroup, grouped
from farweb.results.legs import tls_differs, tls_of
from farweb.results.manifest import RUN_KIND, kind_of
from farweb.results.run import RunTables
from farweb.results.sweep import SweepTables
from farweb.text.quantities import plain
from farweb.text.sheet import Part, Screen, Shown
from farweb.text.words import listed, plural

SHOWN = ("details", "sizes", "causes", "pairs")
"""Names of what a screen can have beside the answer."""


@dataclass(frozen=True)
class Comparison(Shown):
    """Several runs or points compared with the base, judged and ranked.

    Attributes:
        base: Name of the base, the first unless another one was asked for.
        changes: One for each of the others.
        pairs: The judgement of each two; of more than six each against the best.
        names: Of the runs or points, as they were given.
        rankings: By group of requests, the best first.
        tls: The TLS of each run in a sentence where it is not the same; else empty.
    """

    base: str
    changes: tuple[Change, ...]
    pairs: tuple[Pair, ...]
    names: tuple[str, ...]
    rankings: dict[str, Ranking]
    tls: str = ""

    @property
    def ranking(self) -> dict[str, list[list[str]]]:
        """By group of requests the names, the best first; those not told apart share a place."""
        return {group: each.places for group, each in self.rankings.items()}

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        ranked = [
            {"group": group, "places": each.places, "letters": {row.name: row.letters for row in each.rows}}
            for group, each in self.rankings.items()
        ]
        return {
            "base": self.base,
            "changes": [change.to_dict() for change in self.changes],
            "pairs": [pair.to_dict() for pair in self.pairs],
            "ranking": ranked,
            **({"tls": self.tls} if self.tls else {}),
        }

    def screen(self, more: Collection[str] = ()) -> Screen:
        """The answer in a screen, and the parts asked for beside it.

        Args:
            more: Of `SHOWN`.
        """
        parts: list[Part] = []
        hints = [f"--{name}" for name in self._hints() if name.partition(" ")[0] not in more]
        for group, ranked in self.rankings.items():
            of_group = [change for change in self.changes if change.group == group]
            if len(self.names) == 2:
                parts += [*words.screen(of_group[0], hints), ""]
            else:
                verdicts = [pair.verdict for pair in self.pairs if pair.group == group]
                parts += [*words.several(ranked, self._sides(of_group), verdicts, group), ""]
        if len(self.names) > 2:
            parts[-1:] = [f"more: {' '.join(hints)}"] if hints else []
        else:
            parts.pop()
        parts += [self.tls] if self.tls else []
        for change in self.changes:
            named = [f"{change.called} against {change.base}"] if len(self.changes) > 1 else []
            found = [
                *(words.details(change) if "details" in more else ()),
                *(words.sizes(change) if "sizes" in more else ()),
                *(words.causes(change) if "causes" in more else ()),
            ]
            parts += ["", *named, *found] if found else []
        if "pairs" in more:
            parts.append(words.pairs(self.pairs))
        return Screen(tuple(parts))

    def _hints(self) -> Iterator[str]:
        if len(self.names) > 2:
            yield from (f"pairs ({plural(len(self.pairs), 'verdict')})", "base NAME")
            return
        if any(len(change.sizes) > 1 for change in self.changes):
            yield "sizes"
        if any(change.causes for change in self.changes):
            yield "causes"
        yield "details"

    def _sides(self, changes: Sequence[Change]) -> list[Side]:
        """Latencies of each, in the order of the names."""
        found = {change.other: change.of_other for change in changes}
        return [found.get(name, changes[0].of_base) for name in self.names]


def compare(
    *results: RunTables | SweepTables | str | Path,
    points: Sequence[Mapping[str, str]] | None = None,
    by: str | Sequence[str] | None = None,
    margin: float = MARGIN,
    base: str | None = None,
    names: Sequence[str] | None = None,
) -> Comparison:
    """Compare runs of the same requests, or points of a sweep, with one of them, and rank them.

    Args:
        results: Runs, at least two, or one sweep; folders are opened.
        points: Of a sweep, the levels by factor that name each point, at least two points:
            ``[{"circuit": "cable"}, {"circuit": "satellite"}]``. Runs that differ in nothing else are paired.
        by: `visit` or `client`: compare first and later requests of visits, or clients. Or quantities, which decide
            instead of all requests, the slowest and failures: `p99`, `mean`, `within(5 s)` …
        margin: Largest relative difference of equivalent alternatives, for shares a tenth of it.
        base: The run or point to compare with: the first, and of several the best, when left out.
        names: What runs are called; their folders when left out.

    Raises:
        FarwebError: Too few results, runs and sweeps together, or an unknown factor, level, grouping, quantity or base.
        ResultsError: The requests are not the same; the message names the difference. Or none names its client.
    """
    asked = [by] if isinstance(by, str) else list(by or ())
    kinds = [each for each in asked if each in get_args(By)]
    deciding = [quantity_name(each) for each in asked if each not in get_args(By)] or DECIDING
    if not 0 < margin < 1:
        raise FarwebError(f"--margin {plain(margin, 6)}: a relative difference above 0 and below 1, such as 5%")
    opened = [_opened(each) if isinstance(each, str | Path) else each for each in results]
    found, between = _sides(opened, points)
    names = list(names or found)
    if base is not None and base not in names:
        raise FarwebError(f"--base {base}: no such run; there are {listed(names)}")
    first = 0 if base is None else names.index(base)
    together = pairs_together(len(names))
    changes: list[Change] = []
    pairs: list[Pair] = []
    rankings = {}
    for group in grouped(between(0, 1).base[0], kinds):
        of_group = {
            other: changed(names[first], names[other], between(first, other), group, deciding, margin, together)
            for other in range(len(names))
            if other != first
        }

        def judge(one: int, other: int, of: dict[int, Change] = of_group, rows: RequestGroup = group) -> Verdict:
            if one == first:
                return of[other].judgement
            called = names[one], names[other]
            return judged(between(one, other), called, deciding, margin, rows.rows, together=together)

        ranked = ranking(names, judge, None if base is None else first)
        changes += of_group.values()
        rankings[group.label] = ranked
        pairs += [Pair(names[one], names[other], group.label, each) for (one, other), each in ranked.verdicts.items()]
    changes.sort(key=lambda each: names.index(each.other))
    runs = [] if points else zip(names, opened, strict=True)
    tls = tls_differs({name: tls_of(each.manifest["scenario"]) for name, each in runs})
    return Comparison(names[first], tuple(changes), tuple(pairs), tuple(names), rankings, tls)


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
        first, last = (point_text(sweeps[0].design, at) for at in (0, -1))
        raise FarwebError(f"{sweeps[0].path}: is a sweep; name two points of it: --point {first} --point {last}")
    if len(runs) < 2:
        raise FarwebError("a comparison needs at least two runs; name their folders")
    return folder_names(runs), lambda base, other: Matched([runs[base]], [runs[other]], [0])


def _opened(path: str | Path) -> RunTables | SweepTables:
    return RunTables.open(path) if kind_of(path) == RUN_KIND else SweepTables.open(path)
