"""The rule of verdicts: the better of two alternatives, and for whom, from the latencies of the same requests.

One number decides: M, the sum of waiting there over the sum of waiting here, less 1, of requests answered on both
sides. It is measured of all requests, of the quicker nine tenths, of the slowest tenth and hundredth, and of groups.
Sums add up, so the parts explain the whole. Where many requests fail on one side only, counts decide instead. Pure
arithmetic on arrays; docs/statistics.md has the rule in words, with its tables.

Sources: sign test of pairs: Conover, Practical Nonparametric Statistics, 3rd ed., 1999, section 3.4; letters: Piepho,
An algorithm for a letter-based representation of all-pairwise comparisons, Journal of Computational and Graphical
Statistics 13, 2004.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from farweb.statistics.intervals import CONFIDENCE, Estimate, mean_of_units, ratio_of_units

Floats = NDArray[np.float64]
Some = NDArray[np.bool_]

MARGIN = 0.05
"""Practical equivalence: relative differences up to this do not matter. Chosen: users do not feel less."""

MARGIN_BY_LEAST = 5
"""The margin over the least difference that counts: 1 % goes with 5 % (chosen)."""

MARGIN_BY_POINTS = 10
"""The margin of relative differences over the margin of shares: 5 % goes with half a point (chosen)."""

ENOUGH = 50
"""Different requests that a slice needs to vote. Chosen: with 26 one seed was worse and three were equivalent."""

QUICKER = "quicker_nine_tenths"
"""Name of the slice of all but the slowest tenth."""

SLOW = {"slowest_tenth": 0.1, "slowest_hundredth": 0.01}
"""The slowest slices, by their share."""

ONE_SIDED = 0.01
"""Share answered on one side only, beyond which survivors say little of the others (chosen)."""

_TIED = 2
"""Requests at the cut of a slow slice, over its own number, beyond which it is none: they are all as slow; chosen."""

_FEW = 50
"""Requests over those that hold half of the waiting, from which on these are few (chosen)."""

_OUTWEIGHS = 4
"""Time that the minority wins over the time that the majority loses, from which on these do not count (chosen)."""

_LEAST_S = 1e-6  # for a finite geometric mean of requests served at once; chosen

Word = Literal[
    "better", "slightly better", "equivalent", "slightly worse", "worse", "split", "mixed", "unclear",
    "cannot be told apart",
]  # fmt: skip
"""Slices can be `split` and `unclear`, the whole `mixed` and `cannot be told apart`, both the rest."""

_MIRRORED: dict[Word, Word] = {
    "better": "worse", "slightly better": "slightly worse", "worse": "better", "slightly worse": "slightly better"
}  # fmt: skip

_SILENT = Estimate(0, None, None, None, None)


def mirrored(word: Word) -> Word:
    """The word of the base against the other."""
    return _MIRRORED.get(word, word)


def inverted(change: Estimate) -> Estimate:
    """A relative difference of the base against the other."""
    mean, low, high = (None if each is None else 1 / (1 + each) - 1 for each in (change.value, change.high, change.low))
    return Estimate(change.n, mean, None, low, high)


def _negated(found: Estimate) -> Estimate:
    mean, low, high = (None if each is None else -each for each in (found.value, found.high, found.low))
    return Estimate(found.n, mean, found.sd, low, high)


@dataclass(frozen=True)
class Table:
    """Latencies of pairs of requests.

    Attributes:
        base: Latency at the base in s, infinite where it failed.
        other: Latency there.
        unit: Number of the independent unit of each, a time block or a seed, from 0.
        request: Equal for the same request in several runs.
        units: How many units.
    """

    base: Floats
    other: Floats
    unit: NDArray[np.int64]
    request: NDArray[np.int64]
    units: int

    @property
    def ended(self) -> Some:
        """True for pairs answered on both sides."""
        return np.isfinite(self.base) & np.isfinite(self.other)

    def of(self, chosen: Some) -> "Table":
        """The chosen pairs alone."""
        return Table(self.base[chosen], self.other[chosen], self.unit[chosen], self.request[chosen], self.units)

    def signs(self, by: float) -> Floats:
        """1 for pairs that are slower by this or more, or answered at the base only, −1 for the reverse, else 0."""
        # Both infinite: neither.
        slower = (self.other > 0) & (self.other >= self.base * (1 + by)) & np.isfinite(self.base)
        faster = (self.base > 0) & (self.base >= self.other * (1 + by)) & np.isfinite(self.other)
        return slower.astype(np.float64) - faster

    def sums(self, values: Floats) -> Floats:
        """The sum of values of the pairs in each unit."""
        return np.bincount(self.unit, values, self.units).astype(np.float64)


@dataclass(frozen=True)
class Slice:
    """One slice of the requests, measured and judged.

    Attributes:
        name: `all`, `quicker_nine_tenths`, `slowest_tenth`, `slowest_hundredth`, or the name of a group.
        requests: Pairs in it.
        faster: Share that is faster by the least difference or more, or answered on this side only.
        slower: Share that is slower, likewise.
        one_sided: Share answered on one side only.
        base_s: Mean latency at the base in s, of those answered on both sides; None of none.
        other_s: Mean latency there.
        change: M: other by base less 1, in the sum of those answered on both sides.
        geometric: The same in the geometric mean, which decides nothing; None of none.
        count: `slower` less `faster`.
        most: 1 where most requests are slower by the margin and that weighs, −1 where faster, else 0.
        by_count: True where failures leave only the count to decide.
        word: The judgement.
    """

    name: str
    requests: int
    faster: float
    slower: float
    one_sided: float
    base_s: float | None
    other_s: float | None
    change: Estimate
    geometric: float | None
    count: Estimate
    most: int
    by_count: bool
    word: Word

    @property
    def judged_change(self) -> Estimate:
        """`change`, empty where the count decides: requests left out would be the slowest."""
        return Estimate(self.change.n, None, None, None, None) if self.by_count else self.change

    @property
    def difference_s(self) -> Estimate:
        """`change` in s a request: of the mean latency at the base."""
        found = self.judged_change
        ends = (None if each is None else each * (self.base_s or 0.0) for each in (found.value, found.low, found.high))
        value, low, high = ends
        return Estimate(found.n, value, None, low, high)

    def moved(self, margin: float = MARGIN) -> int:
        """Sign of a change that is clear and counts, else 0."""
        return 0 if self.by_count else clear(self.change, margin / MARGIN_BY_LEAST)

    def turned(self) -> "Slice":
        """The base against the other."""
        return replace(
            self,
            faster=self.slower,
            slower=self.faster,
            base_s=self.other_s,
            other_s=self.base_s,
            change=inverted(self.change),
            geometric=None if self.geometric is None else 1 / (1 + self.geometric) - 1,
            count=_negated(self.count),
            most=-self.most,
            word=mirrored(self.word),
        )


def clear(found: Estimate, least: float) -> int:
    """Sign of an estimate with an interval that excludes 0, `least` or more away from it, else 0."""
    value, low, high = found.value, found.low, found.high
    if value is None or low is None or high is None or abs(value) < least:
        return 0
    return 1 if low > 0 else -1 if high < 0 else 0


def within(found: Estimate, most: float) -> bool:
    """True where the interval lies within ± `most`."""
    return found.low is not None and found.high is not None and -most <= found.low and found.high <= most


def _side(sign: int, *, slightly: bool) -> Word:
    if sign < 0:
        return "slightly better" if slightly else "better"
    return "slightly worse" if slightly else "worse"


def slice_word(
    change: Estimate, margin: float = MARGIN, *, count: Estimate = _SILENT, by_count: bool = False, most: int = 0
) -> Word:
    """Judge a slice by the first line of the table that fits.

    Args:
        change: M.
        margin: Relative difference that matters.
        count: Share slower less share faster.
        by_count: True where failures leave only the count.
        most: As in `Slice`, of all requests; 0 for other slices, which are never split.
    """
    if by_count:
        slower = clear(count, margin)
        return _side(slower, slightly=True) if slower else "unclear"
    moved = clear(change, margin / MARGIN_BY_LEAST)
    if moved and most == -moved:
        return "split"
    if moved and change.value is not None:
        return _side(moved, slightly=abs(change.value) < margin)
    return "equivalent" if within(change, margin) else "unclear"


def measured(table: Table, name: str, margin: float = MARGIN, confidence: float = CONFIDENCE) -> Slice:
    """Measure and judge pairs.

    Args:
        table: The pairs.
        name: Of the slice.
        margin: Relative difference that matters.
        confidence: Of intervals, 0 to 1.
    """
    ended, least = table.ended, margin / MARGIN_BY_LEAST
    both = table.of(ended)
    change = ratio_of_units(both.sums(both.base), both.sums(both.other), confidence)
    signs = table.signs(least)
    sizes = np.bincount(table.unit, minlength=table.units)
    count = mean_of_units(table.sums(signs), sizes, confidence)
    felt = clear(mean_of_units(table.sums(table.signs(margin)), sizes, confidence), margin)
    most = felt if felt and _weighs(both.other - both.base, felt) else 0
    total = max(signs.size, 1)
    one_sided = float((np.isfinite(table.base) != np.isfinite(table.other)).sum() / total)
    by_count = one_sided > ONE_SIDED or _hidden(table) > margin or change.value is None
    word = slice_word(change, margin, count=count, by_count=by_count, most=most if name == "all" else 0)
    if signs.size and np.array_equal(table.base, table.other):
        word = "equivalent"
    here, there = (_mean(each) for each in (both.base, both.other))
    logs = np.log(np.maximum(both.other, _LEAST_S)) - np.log(np.maximum(both.base, _LEAST_S))
    geometric = math.expm1(logs.mean()) if logs.size else None
    shares = float((signs < 0).sum() / total), float((signs > 0).sum() / total)
    return Slice(name, signs.size, *shares, one_sided, here, there, change, geometric, count, most, by_count, word)


def _mean(times: Floats) -> float | None:
    return float(times.mean()) if times.size else None


def _weighs(differences: Floats, sign: int) -> bool:
    """True where the side of this sign moves a quarter or more of the time that the other side moves."""
    along = differences * sign
    return float(along[along > 0].sum()) >= -float(along[along < 0].sum()) / _OUTWEIGHS


def _hidden(table: Table) -> float:
    """Share of the waiting of requests answered on one side only, of both sides together."""
    lost = np.isfinite(table.base) != np.isfinite(table.other)
    found = 0.0
    for side in (table.base, table.other):
        known = np.isfinite(side)
        if (whole := float(side[known].sum())) > 0:
            found += float(side[known & lost].sum()) / whole
    return found


def slices(table: Table, margin: float = MARGIN, confidence: float = CONFIDENCE) -> list[Slice]:
    """All requests, the quicker nine tenths, the slowest tenth and hundredth, each with `ENOUGH` different requests.

    The slowest are those with the largest sum of both latencies, which favours neither side. A slow slice takes all
    requests at its cut; where that more than doubles it, requests are equally slow, and there is none.
    """
    found = [measured(table, "all", margin, confidence)]
    different = np.unique(table.request).size
    key = table.base + table.other
    ordered = np.sort(key)
    for name, share in SLOW.items():
        number = round(share * key.size)
        if not number:
            continue
        slow = key >= ordered[key.size - number]
        if slow.sum() > _TIED * number:
            continue
        if name == "slowest_tenth" and different - round(share * different) >= ENOUGH:
            found.append(measured(table.of(~slow), QUICKER, margin, confidence))
        if round(share * different) >= ENOUGH:
            found.append(measured(table.of(slow), name, margin, confidence))
    return found


def few_of(table: Table) -> tuple[int, int] | None:
    """The few requests that hold half of the waiting of both sides, and of how many; None where they are not few."""
    numbers, place = np.unique(table.request, return_inverse=True)
    ended = table.ended
    held = np.cumsum(np.sort(np.bincount(place[ended], (table.base + table.other)[ended], numbers.size))[::-1])
    if numbers.size < ENOUGH or not held[-1] > 0:
        return None
    fewest = int(np.searchsorted(held, held[-1] / 2)) + 1
    return (fewest, numbers.size) if fewest * _FEW <= numbers.size else None


@dataclass(frozen=True)
class Whole:
    """The judgement of the whole.

    Attributes:
        word: The judgement.
        gain: Names of slices, and `failed_share`, that are better.
        harm: Those that are worse.
        alone: The slice that the word is for, where all requests together are neither better nor worse; else empty.
    """

    word: Word
    gain: tuple[str, ...] = ()
    harm: tuple[str, ...] = ()
    alone: str = ""


def whole_of(
    found: Sequence[Slice], failures: Word = "equivalent", groups: Sequence[Word] = (), margin: float = MARGIN
) -> Whole:
    """Judge the whole by all requests, the other slices, failures and groups.

    Args:
        found: All requests first.
        failures: The judgement of failures alone.
        groups: The judgement of each group.
        margin: Relative difference that matters.
    """
    everyone, *parts = found
    votes = {each.name: each.word for each in parts if _votes(each, everyone)}
    if failures in ("better", "worse"):
        votes["failed_share"] = failures
    gain, harm = (tuple(name for name, word in votes.items() if word.endswith(side)) for side in ("better", "worse"))
    is_open = everyone.word in ("equivalent", "unclear")
    against = [each.moved(margin) for each in parts]
    alone = ""
    if is_open and (gain or harm):
        slow = [name for name in (*gain, *harm) if name in SLOW]
        alone = "" if "failed_share" in votes else (*slow, *gain, *harm)[0]
        opposed = (1 if gain else -1) in against
        word: Word = "mixed" if (gain and harm) or opposed else "better" if gain else "worse"
    else:
        word = _with_votes(everyone.word, gain=bool(gain), harm=bool(harm))
    if are_opposed(groups):
        word = "mixed"
    return Whole(word, gain, harm, alone if word in ("better", "worse") else "")


def _votes(found: Slice, everyone: Slice) -> bool:
    """True for a slice that decides: by its change, or of the slow ones by the count of failures."""
    if found.name == QUICKER:
        return found.word in ("better", "worse") and not everyone.by_count
    return found.word in ("better", "worse") or (found.by_count and found.word.startswith("slightly"))


def _with_votes(word: Word, *, gain: bool, harm: bool) -> Word:
    """The word of all requests where it is on a side, split or undecided, with votes."""
    if word == "split" or (gain and harm):
        return "mixed"
    if word.endswith("better"):
        return "mixed" if harm else "better" if gain else word
    if word.endswith("worse"):
        return "mixed" if gain else "worse" if harm else word
    return "equivalent" if word == "equivalent" else "cannot be told apart"


def are_opposed(groups: Sequence[Word]) -> bool:
    """True where one group is better and another worse, one of them by the margin."""
    pairs = (("better", "worse"), ("worse", "better"))
    return any(strong in groups and any(word.endswith(weak) for word in groups) for strong, weak in pairs)


def together_of(words: Sequence[Word]) -> Word:
    """Judge the whole by the words of named quantities together."""
    sides = [[word for word in words if word.endswith(side)] for side in ("better", "worse")]
    if all(sides):
        return "mixed"
    if any(sides):
        return max(sides[0] or sides[1], key=lambda word: not word.startswith("slightly"))
    return "equivalent" if all(word == "equivalent" for word in words) else "cannot be told apart"


def unpaired(
    base: Sequence[Floats], other: Sequence[Floats], margin: float = MARGIN, confidence: float = CONFIDENCE
) -> Slice:
    """All requests of two sides that have different ones, in as many units: the ratio of means, and no count.

    In a single unit sides are equivalent where all latencies of both lie within the margin.
    """
    lost = [float(np.isinf(np.concatenate(side)).mean()) for side in (base, other)]
    ended = [[part[np.isfinite(part)] for part in side] for side in (base, other)]
    sums = [np.array([part.sum() for part in side]) for side in ended]
    sizes = [np.array([part.size for part in side]) for side in ended]
    change = ratio_of_units(sums[0], sums[1], confidence, (sizes[0], sizes[1]))
    total, one_sided = sum(map(len, other)), abs(lost[1] - lost[0])
    by_count = one_sided > ONE_SIDED or change.value is None
    word = slice_word(change, margin, by_count=by_count)
    if len(base) == 1 and not any(lost):
        every = np.concatenate([*base, *other])
        word = "equivalent" if every.size and every.max() <= every.min() * (1 + margin) else word
    here, there = (_mean(np.concatenate(side)) for side in ended)
    return Slice("all", total, 0.0, 0.0, one_sided, here, there, change, None, _SILENT, 0, by_count, word)


@dataclass(frozen=True)
class SignTest:
    """The exact test of few requests.

    Attributes:
        faster: Requests that are faster.
        slower: Requests that are slower.
        same: The others.
        p: Chance of as uneven numbers where neither side is likelier.
        word: The judgement; `cannot be told apart`: too few.
    """

    faster: int
    slower: int
    same: int
    p: float
    word: Word

    def turned(self) -> "SignTest":
        """The base against the other."""
        return replace(self, faster=self.slower, slower=self.faster, word=mirrored(self.word))


def sign_test(table: Table, margin: float = MARGIN, confidence: float = CONFIDENCE) -> SignTest:
    """Judge few requests by the counts of faster and slower, and the sign of M; one of several runs counts once."""
    number, place = np.unique(table.request, return_inverse=True)
    here, there = (np.bincount(place, each, number.size).astype(np.float64) for each in (table.base, table.other))
    once = Table(here, there, np.zeros(number.size, np.int64), number, 1)
    signs = once.signs(margin / MARGIN_BY_LEAST)
    faster, slower = int((signs < 0).sum()), int((signs > 0).sum())
    p = _chance(min(faster, slower), faster + slower)
    both = once.of(once.ended)
    change = ratio_of_units([both.base.sum()], [both.other.sum()]).value
    side = 1 if slower > faster else -1
    word: Word = "cannot be told apart"
    if p <= 1 - confidence and (change is None or np.sign(change) == side):
        word = _side(side, slightly=change is not None and abs(change) < margin)
    elif number.size and not once.signs(math.nextafter(margin, 1)).any():
        word = "equivalent"
    return SignTest(faster, slower, number.size - faster - slower, p, word)


def _chance(fewer: int, of: int) -> float:
    """Chance that fair coins, so many, fall as unevenly: at most `fewer` on either side.

    >>> _chance(0, 5), _chance(2, 4), _chance(0, 0)
    (0.0625, 1.0, 1.0)
    """
    return min(1.0, 2 * sum(math.comb(of, each) for each in range(fewer + 1)) / (1 << of))


def letters(order: Sequence[str], apart: Collection[frozenset[str]]) -> dict[str, str]:
    """Letters of a ranking: two alternatives share one unless they are apart (insert and absorb).

    Args:
        order: The alternatives, the best first.
        apart: Pairs that do not tie.
    """
    columns = [frozenset(order)]
    for pair in apart:
        split = [part for each in columns for part in ([each - {one} for one in pair] if pair <= each else [each])]
        columns = [
            each
            for place, each in enumerate(split)
            if not any(each < other or (each == other and place > at) for at, other in enumerate(split))
        ]
    columns.sort(key=lambda each: sorted(map(order.index, each)))
    return {name: "".join(chr(97 + at) for at, each in enumerate(columns) if name in each) for name in order}
