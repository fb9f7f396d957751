"""Several alternatives ranked by the rule of verdicts: the best first, and letters that tie those not told apart."""

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from farweb.errors import ResultsError
from farweb.results.judged import MOST_LEVELS, MOST_REQUESTS, judged, kept, matched, pairs_together
from farweb.statistics.intervals import Estimate
from farweb.statistics.judgement import DECIDING, Difference, Verdict, is_apart, turned
from farweb.statistics.verdicts import ONE_SIDED, Word, letters
from farweb.text.quantities import count, plain, share
from farweb.text.words import listed, plural

if TYPE_CHECKING:
    from farweb.results.sweep import SweepTables

_FAILING_MAX = 3

Judge = Callable[[int, int], Verdict]
"""Judges the second of two alternatives against the first, by their places."""


@dataclass(frozen=True)
class Placed:
    """An alternative in a ranking.

    Attributes:
        place: Its place among the alternatives as they were given.
        name: Its name.
        letters: Shared by points that tie; empty where not each two were judged.
        change: Difference against the reference, of time or of the named quantity; None of the reference itself.
        word: The judgement against the reference; None of itself.
        failed_share: Share of its requests that failed.
        by_failures: True where failures decide against the reference: no change is known.
    """

    place: int
    name: str
    letters: str
    change: Estimate | Difference | None
    word: Word | None
    failed_share: float
    by_failures: bool


@dataclass(frozen=True)
class Ranking:
    """Alternatives in their order.

    Attributes:
        rows: The best first.
        verdicts: By places of base and other, of the pairs that were judged.
        reference: Name of the one that all stand against: the best, or the one asked for.
    """

    rows: tuple[Placed, ...]
    verdicts: dict[tuple[int, int], Verdict]
    reference: str

    def to_dicts(self) -> list[dict[str, Any]]:
        """Rows as plain values, for JSON."""
        return [
            {
                "name": row.name,
                "letters": row.letters,
                "overall": "best" if row.change is None else row.word,
                "change": None if row.change is None else row.change.value,
                "low": None if row.change is None else row.change.low,
                "high": None if row.change is None else row.change.high,
            }
            for row in self.rows
        ]

    @property
    def places(self) -> list[list[str]]:
        """Names, the best first; those with the same letters, or ties with the best of many, share a place."""
        marked = [(row.letters or str(row.word is not None and is_apart(row.word)), row.name) for row in self.rows]
        return [[name for _, name in tied] for _, tied in itertools.groupby(marked, key=lambda each: each[0])]

    @property
    def heading(self) -> str:
        """Name and unit of the changes, over their column."""
        return next(iter(self.verdicts.values())).heading

    def sentence(self, what: str = "run") -> str:
        """Say which is the best, what ties with it, and how much more time the others take.

        Where named quantities decide it names them, and leaves the numbers to the table.

        Args:
            what: A word for an alternative.
        """
        best, *others = self.rows
        ties = [row for row in others if row.letters and set(row.letters) & set(best.letters)]
        ties = ties or [row for row in others if not row.letters and row.word is not None and not is_apart(row.word)]
        rest = [row for row in others if row not in ties]
        tied = f"; {_names(ties, what)} {'ties' if len(ties) == 1 else 'tie'} with it." if ties else "."
        if named := listed([each.called for each in next(iter(self.verdicts.values())).named]):
            return f"Best by {named}: {best.name}{tied}" if rest else f"All {len(self.rows)} {what}s tie in {named}."
        lost = [row for row in others if row.failed_share > best.failed_share + ONE_SIDED]
        if lost or any(row.by_failures for row in others):
            return self._failures([row for row in self.rows if row not in lost], what)
        if all(row.change is None or row.change.value == row.change.low == row.change.high == 0 for row in self.rows):
            return f"No difference: all {len(self.rows)} {what}s take the same time."
        if not rest:
            return f"{best.name} takes the least time{tied}"
        said = (f"Best: {best.name}" if what == "point" else f"{best.name} is best") + tied
        second = [row for row in rest if row.letters and set(row.letters) & set(rest[0].letters)]
        if len(rest) == 1:
            return f"{said} {rest[0].name} is {rest[0].word}{_more(rest)}."
        if ties or len(second) in (1, len(rest)) or len(rest) > MOST_LEVELS:
            who = f"The other {len(rest)} {what}s take" if not ties else f"{plural(len(rest), 'other')} take"
            return f"{said} {who} {_more(rest, alone=True)}."
        return f"{said} {listed([row.name for row in second])} tie for second{_more(second)}."

    def _failures(self, left: Sequence[Placed], what: str) -> str:
        """Say which fail how often, and the best of those left, of equal failures."""
        said = f"Failures decide: {failing([(row.name, row.failed_share) for row in self.rows])}."
        if len(left) == 1:
            return f"{said} Best: {left[0].name}."
        if any(row.by_failures for row in left):
            return f"{said} {_names(left, what)} fail alike."
        return f"{said} {replace(self, rows=tuple(left)).sentence(what)}"


def failing(shares: Sequence[tuple[str, float]]) -> str:
    """Say where which share of the requests fails, the worst three by name; empty where less than 1 % do."""
    worst = sorted((each for each in shares if each[1] > ONE_SIDED), key=lambda each: -each[1])
    said = [f"{share(lost)} at {name}" for name, lost in worst[:_FAILING_MAX]]
    if left := worst[_FAILING_MAX:]:
        said.append(f"up to {share(left[0][1])} at {len(left)} more")
    return listed(said).replace(" at", " of requests fail at", 1)


def _names(rows: Sequence[Placed], what: str) -> str:
    return listed([row.name for row in rows]) if len(rows) < MOST_LEVELS else f"{len(rows)} {what}s"


def _more(rows: Sequence[Placed], *, alone: bool = False) -> str:
    """How much more time some take than the reference."""
    known = [row.change.value for row in rows if row.change is not None and row.change.value is not None]
    if len(known) < len(rows) or not all(math.isfinite(each) and each > 0 for each in known):
        return "another time" if alone else ""
    low, high = (plain(each, 2) if each < 999.5 else count(each) for each in (100 * min(known), 100 * max(known)))
    span = low if low == high else f"{low} to {high}"
    return f"{span} % more time" if alone else f": {span} % more time"


def ranking(names: Sequence[str], judge: Judge, reference: int | None = None) -> Ranking:
    """Rank alternatives: each two judged, of more than six each against the best.

    Args:
        names: Their names.
        judge: Judges two.
        reference: Place of the one that the rows stand against; the best when left out.
    """
    numbers = range(len(names))
    verdicts: dict[tuple[int, int], Verdict] = {}

    def against(base: int, other: int) -> Verdict:
        if (other, base) in verdicts:
            return turned(verdicts[other, base])
        if (base, other) not in verdicts:
            verdicts[base, other] = judge(base, other)
        return verdicts[base, other]

    all_pairs = len(names) <= MOST_LEVELS
    if all_pairs:
        for base, other in itertools.combinations(numbers, 2):
            against(base, other)
        unbeaten = [each for each in numbers if not any(_beats(against, other, each) for other in numbers)]
        best = min(unbeaten or numbers, key=lambda each: _cost(against, 0, each))
    else:
        best, seen = min(numbers, key=lambda each: _cost(against, 0, each)), set[int]()
        while best not in seen and (better := [each for each in numbers if _beats(against, each, best)]):
            seen.add(best)
            best = min(better, key=lambda each: _cost(against, 0, each))
        verdicts = {(base, other): each for (base, other), each in verdicts.items() if best in (base, other)}
    order = sorted(numbers, key=lambda each: (each != best, _cost(against, best, each)))
    marks: dict[str, str] = {}
    if all_pairs:
        apart = [frozenset(map(str, pair)) for pair, found in verdicts.items() if is_apart(found.overall)]
        marks = letters([str(each) for each in order], apart)
    to = best if reference is None else reference
    found = {each: against(to, each) for each in order if each != to}
    own = next((each.failed[0] for each in found.values()), 0.0)
    rows = []
    for each in order:
        place = functools.partial(Placed, each, names[each], marks.get(str(each), ""))
        if each == to:
            rows.append(place(None, None, own, False))
        else:
            its = found[each]
            rows.append(place(its.decisive, its.overall, its.failed[1], its.by_failures))
    return Ranking(tuple(rows), verdicts, names[to])


def rank_points(sweep: "SweepTables", by: Sequence[str] = DECIDING) -> tuple[Ranking | None, str]:
    """Rank the points of a sweep that have the same requests, or say why they are not ranked.

    Args:
        sweep: Which.
        by: Names of quantities that decide.
    """
    points = [point for point in range(len(sweep.design.points)) if sweep.has_requests(point)]
    if sweep.unanswered:
        return None, "no request was answered"
    if len(points) < 2 or sweep.design.kind == "latin-hypercube":
        return None, "fewer than two points have requests" if len(points) < 2 else ""
    if (requests := int(sweep.runs["requests"].sum() or 0)) > MOST_REQUESTS:
        return None, f"{requests:,} requests are too many to rank points here"
    read, part = kept(sweep)
    factors, together = range(len(sweep.design.factors)), pairs_together(len(points))
    names = [sweep.design.point_name(point) for point in points]

    def judge(base: int, other: int) -> Verdict:
        runs = matched(sweep, [points[base]], [points[other]], factors, part)
        if not runs.base:
            raise ResultsError("points have no seeds in common")
        verdict = judged(runs, (names[base], names[other]), by, read=read, together=together)
        if not verdict.is_of_pairs:
            raise ResultsError("points have different requests")
        return verdict

    try:
        return ranking(names, judge), ""
    except ResultsError as error:
        return None, str(error)


def _beats(against: Judge, one: int, other: int) -> bool:
    """True where one is better than the other."""
    return one != other and against(other, one).overall == "better"


def _cost(against: Judge, base: int, other: int) -> tuple[float, float]:
    """What one has more than another: failed requests, where these decide, else time or the named quantity."""
    if base == other:
        return 0.0, 0.0
    found = against(base, other)
    mean = found.decisive.value
    if mean is not None and found.named and found.named[0].more_is_better:
        mean = -mean
    return found.failed[1] - found.failed[0] if found.by_failures else 0.0, math.inf if mean is None else mean
