"""The rule of verdicts: the better of two alternatives, and for whom, from the latencies of the same requests.

Two measures of each slice of the requests decide: the change of the geometric mean, and the count of slower less
faster requests. The slowest tenth and hundredth and the failures can make a better average mixed. Pure arithmetic on
arrays; docs/statistics.md has the rule in words, with its tables.

Sources: Wilcoxon and sign tests of pairs: Conover, Practical Nonparametric Statistics, 3rd ed., 1999, section 3.4;
letters: Piepho, An algorithm for a letter-based representation of all-pairwise comparisons, Journal of Computational
and Graphical Statistics 13, 2004.
"""

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from farweb.statistics.intervals import CONFIDENCE, Estimate, margin_of, mean_of_units, resampled_means

Floats = NDArray[np.float64]

MARGIN = 0.05
"""Practical equivalence: relative differences up to this do not matter. Chosen: users do not feel less."""

MARGIN_BY_LEAST = 5
"""The margin over the least difference that counts: 1 % goes with 5 % (chosen)."""

MARGIN_BY_POINTS = 10
"""The margin of relative differences over the margin of shares: 5 % goes with half a point (chosen)."""

ENOUGH = 50
"""Different requests that a slice needs to vote. Chosen: with 26 one seed was worse and three were equivalent."""

SLICES = {"slowest_tenth": 0.1, "slowest_hundredth": 0.01}
"""Slices beside all requests, by the share of the slowest."""

ONE_SIDED = 0.01
"""Share answered on one side only, beyond which survivors say little of the others (chosen)."""

LEAST_S = 1e-6
"""Least latency to count, for a finite ratio of a request served at once (chosen)."""

Word = Literal[
    "better", "slightly better", "equivalent", "slightly worse", "worse", "split", "mixed", "unclear",
    "cannot be told apart",
]  # fmt: skip
"""Slices can be `split` and `unclear`, the whole `mixed` and `cannot be told apart`, both the rest."""


def log_ratios(base: Floats, other: Floats) -> Floats:
    """Logarithm of latencies there by here: infinite where one side failed, 0 where both did."""
    base, other = np.maximum(base, LEAST_S), np.maximum(other, LEAST_S)
    logs = np.zeros_like(base)
    both = np.isfinite(base) & np.isfinite(other)
    logs[both] = np.log(other[both] / base[both])
    logs[np.isinf(other) & ~np.isinf(base)] = np.inf
    logs[np.isinf(base) & ~np.isinf(other)] = -np.inf
    return logs


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
    def logs(self) -> Floats:
        """The `log_ratios` of the pairs."""
        return log_ratios(self.base, self.other)


@dataclass(frozen=True)
class Slice:
    """One slice of the requests, measured and judged.

    Attributes:
        name: `all`, `slowest_tenth` or `slowest_hundredth`.
        requests: Pairs in it.
        faster: Share that is faster by the least difference or more.
        slower: Share that is slower.
        one_sided: Share answered on one side only.
        change: Other by base less 1, in the geometric mean of those answered on both sides.
        count: `slower` less `faster`.
        word: The judgement.
    """

    name: str
    requests: int
    faster: float
    slower: float
    one_sided: float
    change: Estimate
    count: Estimate
    word: Word

    @property
    def by_count(self) -> bool:
        """True where failures leave only the count to decide."""
        return self.one_sided > ONE_SIDED or self.change.value is None

    @property
    def judged_change(self) -> Estimate:
        """`change`, empty where the count decides: requests left out would be the slowest."""
        return Estimate(self.change.n, None, None, None, None) if self.by_count else self.change


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


def slice_word(change: Estimate, count: Estimate, one_sided: float, margin: float = MARGIN) -> Word:
    """Judge a slice by the first line of the table that fits."""
    slower, moved = clear(count, margin), clear(change, margin / MARGIN_BY_LEAST)
    if one_sided > ONE_SIDED or change.value is None:
        return _side(slower, slightly=True) if slower else "unclear"
    if moved and slower == -moved:
        return "split"
    if moved:
        return _side(moved, slightly=abs(change.value) < margin)
    if within(change, margin) and abs(change.value) < margin / MARGIN_BY_LEAST:
        return "equivalent"
    if slower and slower == np.sign(change.value):
        return _side(slower, slightly=True)
    return "equivalent" if within(change, margin) else "unclear"


def single_word(found: Estimate, margin: float) -> Word:
    """Judge by one quantity alone: the lines of a slice without a count."""
    sign = clear(found, margin / MARGIN_BY_LEAST)
    if sign and found.value is not None:
        return _side(sign, slightly=abs(found.value) < margin)
    return "equivalent" if within(found, margin) else "unclear"


def whole_word(all_requests: Word, *, gain: bool, harm: bool) -> Word:
    """Judge the whole: all requests, with gain or harm of failures and of the slowest."""
    if all_requests in ("split", "mixed") or (gain and harm):
        return "mixed"
    if all_requests in ("better", "slightly better"):
        return "mixed" if harm else "better" if gain else all_requests
    if all_requests in ("worse", "slightly worse"):
        return "mixed" if gain else "worse" if harm else all_requests
    if gain or harm:
        return "better" if gain else "worse"
    return "equivalent" if all_requests == "equivalent" else "cannot be told apart"


def whole_of(words: Sequence[Word]) -> Word:
    """Judge the whole by the words of named quantities together."""
    sides = [[word for word in words if word.endswith(side)] for side in ("better", "worse")]
    if all(sides):
        return "mixed"
    if any(sides):
        return max(sides[0] or sides[1], key=lambda word: not word.startswith("slightly"))
    return "equivalent" if all(word == "equivalent" for word in words) else "cannot be told apart"


def with_groups(whole: Word, groups: Sequence[Word]) -> Word:
    """Judge the whole with the words of its groups: sides that differ make it mixed."""
    for strong, weak in (("better", "worse"), ("worse", "better")):
        if strong in groups and any(word.endswith(weak) for word in groups):
            return "mixed"
    if whole in ("equivalent", "cannot be told apart") and groups:
        for side in ("better", "worse"):
            if all(word.endswith(side) for word in groups):
                return min(groups, key=lambda word: not word.startswith("slightly"))
    return whole


def measured(table: Table, logs: Floats, chosen: NDArray[np.bool_], name: str, margin: float, sure: float) -> Slice:
    """Measure and judge the chosen pairs.

    Args:
        table: All pairs.
        logs: Their `Table.logs`.
        chosen: True for pairs of the slice.
        name: Of the slice.
        margin: Relative difference that matters.
        sure: Confidence of intervals, 0 to 1.
    """
    inside = logs[chosen]
    unit = table.unit[chosen]
    finite = np.isfinite(inside)
    both = finite & np.isfinite(table.base[chosen])
    signs = signs_of(inside, margin)
    sizes = np.bincount(unit, minlength=table.units)
    count = mean_of_units(np.bincount(unit, signs, table.units).astype(np.float64), sizes, sure)
    sums = np.bincount(unit[both], inside[both], table.units).astype(np.float64)
    change = _ratio(mean_of_units(sums, np.bincount(unit[both], minlength=table.units), sure))
    total = max(inside.size, 1)
    one_sided = float((~finite).sum() / total)
    shares = float((signs < 0).sum() / total), float((signs > 0).sum() / total)
    return Slice(name, inside.size, *shares, one_sided, change, count, slice_word(change, count, one_sided, margin))


def _ratio(found: Estimate) -> Estimate:
    """An interval of a mean logarithm as one of a relative difference."""
    mean, low, high = (None if each is None else math.expm1(each) for each in (found.value, found.low, found.high))
    return Estimate(found.n, mean, found.sd, low, high)


def signs_of(logs: Floats, margin: float) -> Floats:
    """1 for pairs that are slower by a fifth of the margin or more, −1 for faster ones, 0 for others."""
    least = margin / MARGIN_BY_LEAST
    return np.where(logs >= math.log1p(least), 1.0, np.where(logs <= math.log1p(-least), -1.0, 0.0))


def slices(table: Table, margin: float = MARGIN, confidence: float = CONFIDENCE) -> list[Slice]:
    """All requests, then the slowest tenth and hundredth as far as they have `ENOUGH` different requests.

    The slowest are those with the largest product of both latencies, which favours neither side.
    """
    logs = table.logs
    found = [measured(table, logs, np.ones(logs.size, bool), "all", margin, confidence)]
    different = np.unique(table.request).size
    wanted = {name: share for name, share in SLICES.items() if round(share * different) >= ENOUGH}
    if wanted:
        key = np.log(np.maximum(table.base, LEAST_S)) + np.log(np.maximum(table.other, LEAST_S))
        ordered = np.sort(key)
        for name, share in wanted.items():
            chosen = key >= ordered[key.size - round(share * key.size)]
            found.append(measured(table, logs, chosen, name, margin, confidence))
    return found


def unpaired(base: Sequence[Floats], other: Sequence[Floats], margin: float, confidence: float) -> Slice:
    """All requests of two sides that have different ones, in as many units: the change of geometric means, no count.

    In a single unit sides are equivalent where all latencies of both lie within the margin.
    """
    silent = Estimate(0, None, None, None, None)
    lost = [float(np.isinf(np.concatenate(side)).mean()) for side in (base, other)]
    logs = [[np.log(np.maximum(part[np.isfinite(part)], LEAST_S)) for part in side] for side in (base, other)]
    there = [(one, two) for one, two in zip(*logs, strict=True) if one.size and two.size]
    change, n = silent, len(there)
    if there:
        here, beyond = (resampled_means([each[side] for each in there]) for side in (0, 1))
        means = beyond - here
        mean = float(means[0])
        half = margin_of(means, n, confidence) if n > 1 else None
        ends = (None, None) if half is None else (mean - half, mean + half)
        change = _ratio(Estimate(n, mean, None, *ends))
    total, one_sided = sum(map(len, other)), abs(lost[1] - lost[0])
    word = slice_word(change, silent, one_sided, margin)
    if n == 1 and not any(lost) and np.ptp(np.concatenate(there[0])) <= math.log1p(margin):
        word = "equivalent"
    return Slice("all", total, 0.0, 0.0, one_sided, change, silent, word)


@dataclass(frozen=True)
class SignTest:
    """The exact test of few requests.

    Attributes:
        faster: Requests that are faster.
        slower: Requests that are slower.
        same: The others.
        p: Chance of as uneven numbers where neither side is likelier.
        word: The judgement.
    """

    faster: int
    slower: int
    same: int
    p: float
    word: Word


def sign_test(table: Table, margin: float = MARGIN, confidence: float = CONFIDENCE) -> SignTest:
    """Judge few requests by the counts of faster and slower. A request of several runs counts once."""
    from scipy.stats import binomtest

    _, place = np.unique(table.request, return_inverse=True)
    times = np.bincount(place)
    with np.errstate(invalid="ignore"):  # failed here in one run and there in another
        logs = np.nan_to_num(np.bincount(place, table.logs) / times, posinf=np.inf, neginf=-np.inf)
    signs = signs_of(logs, margin)
    faster, slower = int((signs < 0).sum()), int((signs > 0).sum())
    p = float(binomtest(max(faster, slower), faster + slower).pvalue) if faster + slower else 1.0
    finite = logs[np.isfinite(logs)]
    change = math.expm1(finite.mean()) if finite.size else None
    side = 1 if slower > faster else -1
    word: Word = "cannot be told apart"
    if p <= 1 - confidence and (change is None or np.sign(change) == side):
        word = _side(side, slightly=change is not None and abs(change) < margin)
    elif logs.size and (np.abs(np.expm1(logs)) <= margin).all():
        word = "equivalent"
    return SignTest(faster, slower, logs.size - faster - slower, p, word)


def letters(order: Sequence[str], apart: Collection[frozenset[str]]) -> dict[str, str]:
    """Letters of a ranking: two alternatives share one unless they are apart (insert and absorb).

    Args:
        order: The alternatives, the best first.
        apart: Pairs that are better, worse or mixed.
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
