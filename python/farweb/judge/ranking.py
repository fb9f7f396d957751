"""Several alternatives ranked by the rule of verdicts: the best first, and letters that tie those not told apart."""

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from farweb.errors import ResultsError
from farweb.judge.judged import MOST_LEVELS, MOST_REQUESTS, judged, kept, matched, pairs_together
from farweb.judge.judgement import DECIDING, Difference, Verdict
from farweb.judge.sentences import beside, holders, sentence
from farweb.judge.verdicts import ONE_SIDED, letters
from farweb.results.sweep import SweepTables
from farweb.statistics.intervals import Estimate
from farweb.text.quantities import count, percents, plain, seconds, share
from farweb.text.words import listed, plural

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
        verdict: The judgement against the reference; None of itself.
        failed_share: Share of its requests that failed.
    """

    place: int
    name: str
    letters: str
    verdict: Verdict | None
    failed_share: float

    @property
    def change(self) -> Estimate | Difference | None:
        """Difference against the reference, of M or of the named quantity; None of the reference itself."""
        return None if self.verdict is None else self.verdict.decisive

    @property
    def by_failures(self) -> bool:
        """True where failures decide against the reference: no change is known."""
        return self.verdict is not None and self.verdict.by_failures

    @property
    def cell(self) -> str:
        """The judgement in a cell; empty of the reference."""
        return "" if self.verdict is None else self.verdict.cell


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
                "overall": "best" if row.verdict is None else row.verdict.overall,
                "for": None if row.verdict is None else row.verdict.alone or None,
                "change": None if row.change is None else row.change.value,
                "low": None if row.change is None else row.change.low,
                "high": None if row.change is None else row.change.high,
            }
            for row in self.rows
        ]

    @property
    def places(self) -> list[list[str]]:
        """Names, the best first; those with the same letters, or of many not apart from the best, share a place."""
        marked = [(row.letters or str(row.verdict is not None and row.verdict.is_apart), row.name) for row in self.rows]
        return [[name for _, name in tied] for _, tied in itertools.groupby(marked, key=lambda each: each[0])]

    @property
    def heading(self) -> str:
        """Name and unit of the changes, over their column."""
        return next(iter(self.verdicts.values())).heading

    @property
    def sure(self) -> str:
        """Confidence of their intervals, likewise."""
        return next(iter(self.verdicts.values())).sure

    def sentence(self, what: str = "run") -> str:
        """Say which is the best, how those not apart from it stand to it, and how much more time the others take.

        Two have the sentence of their verdict. Where named quantities decide it names them, and leaves the numbers to
        the table.

        Args:
            what: A word for an alternative.
        """
        best, *others = self.rows
        found = {row.place: self._against(best, row) for row in others}
        near = [row for row in others if not found[row.place].is_apart]
        rest = [row for row in others if row not in near]
        groups = [[row for row in near if found[row.place].ties is ties] for ties in (True, False)]
        stand = [_beside(rows, found, what) for rows in groups if rows]
        if named := listed([each.called for each in next(iter(self.verdicts.values())).named]):
            if not rest:
                return f"All {len(self.rows)} {what}s {'cannot be told apart' if groups[1] else 'tie'} in {named}."
            return f"{'; '.join([f'Best by {named}: {best.name}', *stand])}."
        lost = [row for row in others if row.failed_share > best.failed_share + ONE_SIDED]
        if lost or any(each.by_failures for each in found.values()):
            return self._failures([row for row in self.rows if row not in lost], what)
        if all(each.change.value == each.change.low == each.change.high == 0 for each in found.values()):
            return f"No difference: all {len(self.rows)} {what}s take the same time."
        if not others[1:]:
            return f"{sentence((others[0].name, best.name), found[others[0].place].turned())}."
        mean = f"({seconds(found[others[0].place].slices[0].base_s)} on average{self._off_reference(best)})"
        head = f"Best: {best.name} {mean}" if what == "point" else f"{best.name} is best {mean}"
        if not rest or any(not found[row.place].ties for row in near):
            head = f"{best.name} takes the least time {mean}"
        said = ["; ".join([head, *stand])]
        second = [row for row in rest if row.letters and set(row.letters) & set(rest[0].letters)]
        if len(rest) == 1:
            said.append(f"{rest[0].name} is {found[rest[0].place].overall}{_more(rest, found)}")
        elif rest and (near or len(second) < 2 or len(rest) > MOST_LEVELS):
            who = plural(len(rest), "other") if near else f"The other {len(rest)} {what}s"
            said.append(f"{who} take {_more(rest, found, alone=True)}")
        elif rest:
            said.append(f"{_names(second, what)} are second{_more(second, found)}")
        said += next((held for each in found.values() if (held := holders(each))), [])
        return f"{'. '.join(said)}."

    def _off_reference(self, best: Placed) -> str:
        """How the best stands to the alternative that was asked for as the reference; empty where it is the best."""
        change = None if best.verdict is None else best.verdict.change.value
        return "" if change is None else f", {percents(change, signed=True)} % against {self.reference}"

    def _against(self, best: Placed, row: Placed) -> Verdict:
        """The verdict on an alternative against the best, whichever the table has for its reference."""
        found = self.verdicts.get((best.place, row.place))
        return self.verdicts[row.place, best.place].turned() if found is None else found

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


def _beside(rows: Sequence[Placed], found: dict[int, Verdict], what: str) -> str:
    """How alternatives stand to the best, all equal or all open: ``b ties with it: +0.2 %``."""
    verdicts = [found[row.place] for row in rows]
    if verdicts[0].ties:
        said = f"{_names(rows, what)} {'ties' if len(rows) == 1 else 'tie'} with it"
    else:
        said = f"{_names(rows, what)} cannot be told apart from it"
    if verdicts[0].named or any(each.change.value is None for each in verdicts):
        return said
    if len(verdicts) == 1:
        return f"{said}: {beside(verdicts[0])}"
    changes = [each.change.value or 0.0 for each in verdicts]
    low, high = (percents(each, signed=True) for each in (min(changes), max(changes)))
    return f"{said}: {low if low == high else f'{low} to {high}'} %"


def _more(rows: Sequence[Placed], found: dict[int, Verdict], *, alone: bool = False) -> str:
    """How much more time some take than the best."""
    known = [change for row in rows if (change := found[row.place].change.value) is not None]
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
            return verdicts[other, base].turned()
        if (base, other) not in verdicts:
            verdicts[base, other] = judge(base, other)
        return verdicts[base, other]

    best, seen = 0, set[int]()
    while best not in seen:  # failures decide between pairs, so the best against one may fail against another
        seen.add(best)
        best = min(numbers, key=functools.partial(_cost, against, best))
    order = sorted(numbers, key=lambda each: (each != best, _cost(against, best, each)))
    marks: dict[str, str] = {}
    if len(names) <= MOST_LEVELS:
        pairs = {pair: against(*pair) for pair in itertools.combinations(numbers, 2)}
        apart = [frozenset(map(str, pair)) for pair, found in pairs.items() if found.is_apart]
        marks = letters([str(each) for each in order], apart)
    else:
        verdicts = {pair: each for pair, each in verdicts.items() if best in pair}
    to = best if reference is None else reference
    found = {each: against(to, each) for each in order if each != to}
    own = next((each.failed[0] for each in found.values()), 0.0)
    rows = []
    for each in order:
        its = found.get(each)
        failed = own if its is None else its.failed[1]
        rows.append(Placed(each, names[each], marks.get(str(each), ""), its, failed))
    return Ranking(tuple(rows), verdicts, names[to])


def rank_points(sweep: SweepTables, by: Sequence[str] = DECIDING) -> tuple[Ranking | None, str]:
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


def _cost(against: Judge, base: int, other: int) -> tuple[float, float]:
    """What one has more than another: failed requests, where these decide, else M or the named quantity."""
    if base == other:
        return 0.0, 0.0
    found = against(base, other)
    mean = found.decisive.value
    if mean is not None and found.named and found.named[0].more_is_better:
        mean = -mean
    return found.failed[1] - found.failed[0] if found.by_failures else 0.0, math.inf if mean is None else mean
