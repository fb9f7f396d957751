"""The rule of verdicts line by line: slices, the whole, groups, few requests, letters, and quantities alone."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from farweb.judge.judgement import Difference
from farweb.judge.units import Floats, Units
from farweb.judge.verdicts import (
    QUICKER,
    Slice,
    Table,
    Word,
    few_of,
    letters,
    measured,
    sign_test,
    slice_word,
    slices,
    together_of,
    unpaired,
    whole_of,
)
from farweb.statistics.blocks import Origin
from farweb.statistics.intervals import Estimate


def ends(value: float, half: float = 0.005) -> Estimate:
    return Estimate(20, value, None, value - half, value + half)


NONE = Estimate(0, None, None, None, None)


@pytest.mark.parametrize(
    ("change", "count", "by_count", "most", "expected"),
    [
        (ends(-0.5), ends(0.05), True, 0, "slightly worse"),  # 1: survivors say little
        (ends(-0.5), ends(-0.05), True, 0, "slightly better"),
        (ends(-0.5), ends(0.049), True, 0, "unclear"),
        (NONE, ends(0.3), True, 0, "slightly worse"),
        (ends(-0.01), NONE, False, 1, "split"),  # 2
        (ends(0.3), NONE, False, -1, "split"),
        (ends(-0.0099), NONE, False, 1, "equivalent"),
        (ends(0.05), NONE, False, 1, "worse"),  # 3
        (ends(-0.05), ends(0.9), False, -1, "better"),
        (ends(0.049), NONE, False, 0, "slightly worse"),  # 4
        (ends(-0.01), NONE, False, 0, "slightly better"),
        (ends(-0.0099), NONE, False, 0, "equivalent"),  # 5
        (ends(0.02, 0.021), NONE, False, 0, "equivalent"),
        (ends(0.05, 0.06), NONE, False, 0, "unclear"),  # 6
        (ends(0.0, 0.051), NONE, False, 0, "unclear"),
        (ends(-0.5, 0.0), NONE, False, 0, "better"),  # an interval without width decides
        (Estimate(1, -0.5, None, None, None), NONE, False, 0, "unclear"),
    ],
)
def test_a_slice_is_judged_by_the_first_line_that_fits(
    change: Estimate, count: Estimate, by_count: bool, most: int, expected: Word
) -> None:
    assert slice_word(change, count=count, by_count=by_count, most=most) == expected


def slice_of(word: Word, name: str = "all", change: Estimate = NONE, *, by_count: bool = False) -> Slice:
    return Slice(name, 1000, 0.0, 0.0, 0.0, 1.0, 1.0, change, None, NONE, 0, by_count, word)


@pytest.mark.parametrize(
    ("all_requests", "neither", "gain", "harm", "both"),
    [
        ("better", "better", "better", "mixed", "mixed"),
        ("slightly better", "slightly better", "better", "mixed", "mixed"),
        ("equivalent", "equivalent", "better", "worse", "mixed"),
        ("unclear", "cannot be told apart", "better", "worse", "mixed"),
        ("worse", "worse", "mixed", "worse", "mixed"),
        ("slightly worse", "slightly worse", "mixed", "worse", "mixed"),
        ("split", "mixed", "mixed", "mixed", "mixed"),
    ],
)
def test_the_whole_weighs_the_slices(all_requests: Word, neither: Word, gain: Word, harm: Word, both: Word) -> None:
    found = []
    for is_worse in (False, True):
        for is_better in (False, True):
            tenth = slice_of("better" if is_better else "slightly better", "slowest_tenth")
            rest = slice_of("worse" if is_worse else "slightly worse", QUICKER)
            found.append(whole_of([slice_of(all_requests), rest, tenth]))
    assert [each.word for each in found] == [neither, gain, harm, both]
    is_open = all_requests in ("equivalent", "unclear")
    assert [each.alone for each in found] == (["", "slowest_tenth", QUICKER, ""] if is_open else [""] * 4)


def test_failures_weigh_as_a_slice_and_leave_counts_to_the_slow_ones() -> None:
    everyone = slice_of("unclear", by_count=True)
    assert whole_of([everyone], "worse").word == "worse" and whole_of([everyone], "worse").alone == ""
    assert whole_of([everyone], "slightly worse").word == "cannot be told apart"
    counted = slice_of("slightly worse", "slowest_tenth", by_count=True)
    assert whole_of([everyone, counted]).word == "worse"
    assert whole_of([everyone, slice_of("worse", QUICKER)]).word == "cannot be told apart"
    assert whole_of([slice_of("better"), counted], "better").word == "mixed"


def test_a_slice_alone_is_mixed_where_another_is_clear_on_the_other_side() -> None:
    tenth = slice_of("better", "slowest_tenth", ends(-0.1))
    for change, word in ((ends(0.01), "mixed"), (ends(0.009), "better"), (ends(0.02, 0.03), "better")):
        assert whole_of([slice_of("equivalent"), slice_of("slightly worse", QUICKER, change), tenth]).word == word


@pytest.mark.parametrize(
    ("whole", "groups", "expected"),
    [
        ("slightly worse", ["worse", "slightly better"], "mixed"),
        ("better", ["slightly worse", "better"], "mixed"),
        ("better", ["slightly worse", "slightly better"], "better"),  # neither by the margin
        ("equivalent", ["better", "slightly better"], "equivalent"),
        ("equivalent", [], "equivalent"),
    ],
)
def test_groups_on_two_sides_are_mixed(whole: Word, groups: Sequence[Word], expected: Word) -> None:
    assert whole_of([slice_of(whole)], groups=groups).word == expected


def test_named_quantities_decide_together() -> None:
    assert together_of(["slightly better", "unclear", "better"]) == "better"
    assert together_of(["slightly worse", "equivalent"]) == "slightly worse"
    assert together_of(["slightly worse", "better"]) == "mixed"
    assert together_of(["equivalent", "unclear"]) == "cannot be told apart"
    assert together_of(["equivalent"]) == "equivalent"


def table(logs: Sequence[float] | Floats, requests: NDArray[np.int64] | None = None, units: int = 1) -> Table:
    """Pairs with ratios of these logarithms; infinite ones fail there, or with a minus here."""
    given = np.asarray(logs, np.float64)
    base = np.where(np.isneginf(given), np.inf, 1.0)
    other = np.where(np.isinf(given), np.where(given > 0, np.inf, 1.0), np.exp(np.where(np.isinf(given), 0, given)))
    unit = np.arange(given.size) * units // given.size
    return Table(base, other, unit, np.arange(given.size) if requests is None else requests, units)


@pytest.mark.parametrize(
    ("faster", "slower", "same", "size", "expected"),
    [
        (6, 0, 0, 0.3, "better"),
        (5, 0, 3, 0.3, "cannot be told apart"),
        (8, 1, 0, 0.3, "better"),
        (7, 1, 0, 0.3, "cannot be told apart"),
        (9, 1, 4, 0.3, "better"),
        (15, 5, 0, 0.3, "better"),
        (14, 6, 0, 0.3, "cannot be told apart"),
        (0, 6, 0, 0.3, "worse"),
        (6, 0, 0, 0.03, "slightly better"),
        (5, 4, 0, 0.04, "equivalent"),
        (5, 4, 0, 0.06, "cannot be told apart"),
        (0, 0, 5, 0.0, "equivalent"),
        (0, 0, 0, 0.0, "cannot be told apart"),
    ],
)
def test_few_requests_have_an_exact_test(faster: int, slower: int, same: int, size: float, expected: Word) -> None:
    logs = [-size] * faster + [size] * slower + [0.0] * same
    assert sign_test(table(logs)).word == expected


def test_few_requests_with_failures_and_several_runs() -> None:
    assert sign_test(table([math.inf] * 6)).word == "worse"
    assert sign_test(table([-0.1] * 8 + [2.0])).word == "cannot be told apart"  # M is on the other side
    twice = table([-0.3] * 10, np.arange(10) % 5)
    assert (sign_test(twice).faster, sign_test(twice).word) == (5, "cannot be told apart")


BASE = np.where(np.arange(1000) % 5 == 0, 1.4, 2.0) + np.arange(1000) % 7 * 1e-3
"""Latencies of a thousand requests: a fifth take 1.4 s, the others 2 s."""


def cut(base: Floats, other: Floats, *, requests: NDArray[np.int64] | None = None) -> Table:
    """Pairs in 20 blocks of time."""
    n = np.arange(base.size)
    return Table(base, other, n * 20 // base.size, n if requests is None else requests, 20)


def everyone(base: Floats, other: Floats) -> Slice:
    return slices(cut(base, other))[0]


def test_the_change_is_of_the_sum_of_waiting() -> None:
    """A fifth is answered at once: the mean falls by 15 %, the geometric mean by 69 %."""
    hits = np.where(np.arange(1000) % 5 == 0, 0.004, BASE)
    found, back, scaled = everyone(BASE, hits), everyone(hits, BASE), everyone(BASE * 1e3, hits * 1e3)
    assert found.change.value == pytest.approx(hits.sum() / BASE.sum() - 1) and found.word == "better"
    assert (found.base_s, found.other_s) == pytest.approx((BASE.mean(), hits.mean()))
    assert found.geometric == pytest.approx(np.exp(np.log(hits / BASE).mean()) - 1)
    for one, other in zip(
        (found.change.value, found.change.low, found.change.high),
        (back.change.value, back.change.high, back.change.low),
        strict=True,
    ):
        assert one is not None and other is not None and (1 + one) * (1 + other) == pytest.approx(1)
    turned = found.turned()
    assert (turned.word, turned.base_s, turned.faster) == (back.word, back.base_s, back.faster)
    assert (turned.count.value, turned.count.low) == (back.count.value, back.count.low) and turned.most == back.most
    assert turned.change.low == pytest.approx(back.change.low)
    assert scaled.change.low == pytest.approx(found.change.low) and scaled.word == found.word


def test_ms_and_percent_never_disagree() -> None:
    found = everyone(BASE, np.where(np.arange(1000) % 5 == 0, 0.004, BASE))
    saved, change = found.difference_s, found.change
    assert saved.value == pytest.approx((found.other_s or 0) - (found.base_s or 0))
    for in_s, relative in ((saved.low, change.low), (saved.high, change.high)):
        assert in_s == pytest.approx((relative or 0) * (found.base_s or 0))


def test_slices_add_up() -> None:
    random = np.random.default_rng(4)
    base = random.pareto(1.5, 6000) + 1
    whole, rest, tenth, hundredth = slices(cut(base, base * random.lognormal(0, 0.2, 6000)))
    assert [each.name for each in (rest, tenth, hundredth)] == [QUICKER, "slowest_tenth", "slowest_hundredth"]
    moved = [each.requests * (each.difference_s.value or 0) for each in (whole, rest, tenth)]
    assert moved[0] == pytest.approx(moved[1] + moved[2]) and rest.requests + tenth.requests == 6000


def test_the_same_everywhere_is_sure_and_a_trace_of_it_equivalent() -> None:
    sure = everyone(BASE, BASE * 0.9)
    assert sure.change.low == sure.change.high == sure.change.value == pytest.approx(-0.1)
    assert everyone(BASE, BASE * 0.9997).word == "equivalent" and everyone(BASE, BASE).word == "equivalent"


def test_one_request_of_hours_decides_nothing_and_is_few() -> None:
    """A download of hours takes half as long: without an interval. Beside it the others take 20 % less."""
    base = BASE.copy()
    base[500] = 20_000.0
    other = base.copy()
    other[500] = 10_000.0
    found = slices(cut(base, other))
    assert (found[0].change.low, found[0].word, found[1].word) == (None, "unclear", "equivalent")
    assert few_of(cut(base, other)) == (1, 1000) and few_of(cut(BASE, BASE)) is None
    other[np.arange(1000) != 500] *= 0.8
    whole = whole_of(slices(cut(base, other)))
    assert (whole.word, whole.alone) == ("better", QUICKER)


def test_many_small_gains_against_large_losses_are_split_but_not_where_they_are_worth_little() -> None:
    random = np.random.default_rng(3)
    size = np.where(random.random(1000) < 0.7, 0.2, 2.0) * random.lognormal(0, 0.1, 1000)
    found = everyone(size, np.where(size < 1, size * 0.5, size * 1.3))
    assert (found.most, found.word) == (-1, "split") and (found.change.value or 0) > 0
    assert measured(cut(size, np.where(size < 1, size * 0.5, size * 1.3)), QUICKER).word == "worse", "no slice is split"
    small = np.where(random.random(1000) < 0.8, 0.004, 1.4) * random.lognormal(0, 0.1, 1000)
    found = everyone(small, np.where(small < 0.1, small + 0.001, small * 0.5))
    assert (found.slower > 0.7, found.most, found.word) == (True, 0, "better")
    found = everyone(BASE, BASE * np.where(np.arange(1000) % 3 == 0, 0.9, 1.014))
    assert (found.slower > 0.6, found.most) == (True, -1), "63 % slower by 1.4 % are no majority by the margin"


@pytest.mark.parametrize(("share", "by_count"), [(0.0100, False), (0.011, True)])
def test_more_than_a_percent_answered_on_one_side_leave_the_count(share: float, by_count: bool) -> None:
    lost = np.arange(1000) < 1000 * share
    found = everyone(BASE, np.where(lost, np.inf, BASE * 0.9))
    assert (found.by_count, found.word) == (by_count, "slightly better" if by_count else "better")
    assert (found.judged_change.value is None) == by_count


def test_few_failures_that_held_much_of_the_waiting_leave_the_count() -> None:
    """0.9 % of the requests held a third of the waiting; the others take 2 % less."""
    held = BASE.copy()
    held[5::110] = 100.0
    found = everyone(held, np.where(held == 100, np.inf, held * 0.98))
    assert found.one_sided < 0.011 and (found.by_count, found.word) == (True, "slightly better")
    assert everyone(np.where(held == 100, np.inf, held), held).by_count, "on either side"


def test_zero_latencies_cost_nothing() -> None:
    zero = np.where(np.arange(1000) % 3 == 0, 0.0, BASE)
    found = everyone(zero, zero * 0.5)
    assert (everyone(zero, zero).word, found.word, found.faster) == ("equivalent", "better", 0.666)
    nothing = everyone(np.zeros(1000), np.zeros(1000))
    assert (nothing.change.value, nothing.word) == (None, "equivalent")
    lost = np.full(1000, np.inf)
    assert not cut(lost, lost).signs(0.01).any(), "what fails on both sides is neither"
    dearer = everyone(np.zeros(1000), np.ones(1000))
    assert (dearer.by_count, dearer.word, dearer.slower) == (True, "slightly worse", 1.0)


def test_slices_are_cut_by_both_latencies_and_need_fifty_requests() -> None:
    """Of 1,000 requests 100 take ten times as long, and twice that there."""
    slow = np.arange(1000) % 10 == 0
    base = np.where(slow, 10.0, 1.0) + np.arange(1000) / 1e6
    other = base * np.where(slow, 2.0, 1.0)
    _, rest, tenth = slices(cut(base, other))
    assert (tenth.name, tenth.requests, rest.requests) == ("slowest_tenth", 100, 900)
    assert (tenth.slower, tenth.faster, rest.word) == (1.0, 0.0, "equivalent")
    assert tenth.change.value == pytest.approx(1.0) and tenth.word == "worse"
    for number, names in ((490, [QUICKER]), (56, [QUICKER]), (55, [])):
        assert [each.name for each in slices(cut(base[:number], other[:number]))[1:]] == names
    repeated = cut(base, other, requests=np.arange(1000) % 400)
    assert [each.name for each in slices(repeated)[1:]] == [QUICKER], "seeds add no different requests"
    # Exchanged, the same requests are the slowest.
    assert slices(cut(other, base))[2].requests == 100


def test_requests_that_are_equally_slow_are_no_slice() -> None:
    """A slow slice takes all at its cut, up to twice its share."""
    assert [each.name for each in slices(cut(np.where(np.arange(1000) % 5 == 0, 0.1, 3.0), np.full(1000, 3.0)))] == [
        "all"
    ]
    twice = np.where(np.arange(1000) % 5 == 0, 3.0, 1.0)
    found = slices(cut(twice, twice))
    assert [each.requests for each in found] == [1000, 800, 200]


def test_the_intervals_of_blocks_hold_the_change() -> None:
    random = np.random.default_rng(1)
    covered = 0
    for _ in range(200):
        base = random.lognormal(0, 0.5, 200)
        other = base * np.repeat(random.lognormal(-0.1, 0.1, 20), 10) * random.lognormal(0, 0.3, 200)
        found = everyone(base, other).change
        assert found.low is not None and found.high is not None
        covered += found.low <= math.exp(-0.1 + (0.1**2 + 0.3**2) / 2) - 1 <= found.high
    assert covered >= 180


def test_different_requests_are_compared_by_their_means() -> None:
    random = np.random.default_rng(1)
    base, other = ([random.lognormal(mean, 0.1, 40) for _ in range(20)] for mean in (0.0, 0.2))
    found = unpaired(base, [*other[:-1], other[-1][:30]], 0.05, 0.95)
    means = [np.concatenate(side).mean() for side in (base, [*other[:-1], other[-1][:30]])]
    assert found.change.value == pytest.approx(means[1] / means[0] - 1)
    assert (found.base_s, found.other_s) == pytest.approx(means)
    assert found.word == "worse" and found.count.value is None
    for part in other:
        part[0] = np.inf
    assert unpaired(base, other, 0.05, 0.95).word == "unclear", "survivors say little"


def test_few_different_requests_are_equivalent_within_the_margin() -> None:
    for latency, word in ((2.09, "equivalent"), (2.2, "unclear"), (math.inf, "unclear")):
        base, other = [np.array([2.0, 2.05])], [np.array([2.0, latency, 2.0])]
        assert unpaired(base, other, 0.05, 0.95).word == word


@pytest.mark.parametrize(
    ("apart", "expected"),
    [
        ([], {"a": "a", "b": "a", "c": "a"}),
        (["ab", "ac", "bc"], {"a": "a", "b": "b", "c": "c"}),
        (["ab", "ac"], {"a": "a", "b": "b", "c": "b"}),
        (["ac"], {"a": "a", "b": "ab", "c": "b"}),  # b ties with both
        (["ac", "bc"], {"a": "a", "b": "a", "c": "b"}),
    ],
)
def test_letters_are_shared_by_those_that_tie(apart: Sequence[str], expected: dict[str, str]) -> None:
    assert letters("abc", [frozenset(pair) for pair in apart]) == expected


def test_letters_of_six_mark_each_pair() -> None:
    """Whatever is apart: two share a letter exactly if they tie."""
    random = np.random.default_rng(3)
    pairs = [frozenset((one, other)) for one in "abcdef" for other in "abcdef" if one < other]
    for _ in range(50):
        apart = [pair for pair in pairs if random.random() < 0.5]
        found = letters("abcdef", apart)
        for pair in pairs:
            one, other = pair
            assert bool(set(found[one]) & set(found[other])) == (pair not in apart)


def times(name: str, value: float | None, low: float | None, high: float | None, of: Origin = "blocks") -> Difference:
    return Difference(name, value, low, high, of, 20)


@pytest.mark.parametrize(
    ("value", "low", "high", "expected"),
    [
        (-0.10, -0.12, -0.08, "better"),
        (0.05, 0.01, 0.09, "worse"),
        (0.04, 0.01, 0.07, "slightly worse"),
        (0.0, -0.05, 0.05, "equivalent"),
        (0.10, -0.01, 0.21, "unclear"),
        (-0.5, -0.5, -0.5, "unclear"),  # resampled quantiles without width decide nothing
        (0.0, 0.0, 0.0, "equivalent"),
        (-0.5, None, None, "unclear"),
        (None, None, None, "unclear"),
        (math.inf, math.inf, math.inf, "worse"),
        (-math.inf, -math.inf, -math.inf, "better"),
    ],
)
def test_a_quantile_alone(value: float | None, low: float | None, high: float | None, expected: Word) -> None:
    assert times("latency_p50_s", value, low, high).word() == expected


def test_shares_have_a_margin_of_their_own_and_a_direction() -> None:
    def failures(value: float, low: float, high: float) -> Difference:
        return Difference("failed_share", value, low, high, "blocks", 20, is_share=True)

    assert failures(0.005, 0.004, 0.006).word() == "worse"
    assert failures(0.004, 0.003, 0.005).word() == "slightly worse"
    assert failures(0.0004, -0.001, 0.002).word() == "equivalent"
    assert failures(0.01, 0.01, 0.01).word() == "worse", "an interval without width decides"
    within = Difference("within(5 s)", 0.1, 0.05, 0.15, "blocks", 20, is_share=True, more_is_better=True)
    assert within.word() == "better"


@pytest.mark.parametrize(
    ("value", "low", "high", "expected"),
    [
        (0.10, 0.08, 0.12, False),
        (0.07, 0.02, 0.12, False),  # worse by the rule, and by more than the margin as far as is known
        (0.04, 0.01, 0.07, None),
        (-0.10, -0.30, 0.04, True),  # undecided by the rule, and at most the margin worse
        (0.02, -0.01, 0.05, True),
        (0.02, -0.01, 0.06, None),
        (0.10, 0.10, 0.10, False),  # units that all say the same
        (0.04, 0.04, 0.04, True),
        (math.inf, math.inf, math.inf, False),
        (-math.inf, -math.inf, -math.inf, True),
        (0.10, None, None, None),
    ],
)
def test_good_enough_is_at_most_the_margin_worse(
    value: float, low: float | None, high: float | None, expected: bool | None
) -> None:
    assert times("latency_p50_s", value, low, high).is_good_enough(0.05) is expected
    if low is not None and high is not None:
        mirrored = Difference("rate", -value, -high, -low, "blocks", 20, more_is_better=True)
        assert mirrored.is_good_enough(0.05) is expected


@dataclass(frozen=True)
class Sample:
    base: Floats
    other: Floats
    are_pairs: bool = True

    def cut(self, number: int) -> "list[Sample]":
        both = (np.array_split(each, number) for each in (self.base, self.other))
        return [Sample(base, other, self.are_pairs) for base, other in zip(*both, strict=True)]


def samples(replications: int, factor: float, spread: float = 0.0, requests: int = 400) -> list[Sample]:
    """Lognormal latencies; the other takes `factor` as long, in replication r by `spread` · r longer still."""
    found = []
    for number in range(replications):
        base = np.random.default_rng(number).lognormal(size=requests)
        found.append(Sample(base, base * factor * (1 + spread * number)))
    return found


def test_intervals_of_a_fixed_log_are_of_blocks_and_else_of_replications() -> None:
    found = samples(3, 0.8, 0.01)
    assert [Units(found, range(3), fixed=fixed).method for fixed in (True, False)] == ["blocks", "replications"]
    alike = [found[0]] * 3
    assert (Units(alike, range(3)).method, Units(alike, range(3)).number) == ("blocks", 20)
    once = [part.size for part in Units(found[:1], [0]).parts(lambda each: each.base)]
    assert [part.size for part in Units(alike, range(3)).parts(lambda each: each.base)] == [3 * size for size in once]
    few = samples(1, 0.8, requests=30)
    assert Units(few, [0]).quantity("latency_p50_s").interval_of == "none"


def test_a_ratio_of_quantiles_is_that_of_all_requests() -> None:
    """Where all requests take 0.8 times as long each quantile is 20 % less, without width."""
    exact = Units(samples(1, 0.8), [0]).quantity("latency_p90_s")
    assert exact.value == pytest.approx(-0.2)
    assert exact.low == exact.high == exact.value
    noisy = samples(5, 0.8, 0.02)
    found = Units(noisy, range(5)).quantity("latency_p50_s")
    base, other = (np.concatenate([getattr(each, side) for each in noisy]) for side in ("base", "other"))
    assert found.value == pytest.approx(np.median(other) / np.median(base) - 1)
    assert found.low is not None and found.high is not None and found.value is not None
    assert found.low < found.value < found.high
    # Symmetric in the logarithm: the other way round it is the same interval.
    assert (1 + found.low) * (1 + found.high) == pytest.approx((1 + found.value) ** 2)


def test_equal_latencies_leave_width_to_the_quantiles_of_blocks() -> None:
    """Nine of ten requests take 1 s, so do all resampled medians; one block has another."""
    base, other = np.full(400, 1.0), np.full(400, 0.5)
    other[:20] = 0.55
    found = Units([Sample(base, other)], [0]).quantity("latency_p50_s")
    assert found.value == -0.5 and found.low is not None and found.high is not None
    assert found.low < -0.5 < found.high and found.word() == "better"


def test_means_are_of_those_that_ended_on_both_sides_and_shares_of_all() -> None:
    base, other = np.full(400, 1.0), np.full(400, 2.0)
    base[::20], other[10::20] = np.inf, np.inf
    units = Units([Sample(base, other)], [0])
    assert units.quantity("latency_mean_s").value == pytest.approx(1.0)
    assert units.quantity("failed_share").value == pytest.approx(0.0)
    assert units.quantity("within(1 s)").value == pytest.approx(-0.95)
    other[:] = np.inf
    lost = units.quantity("latency_p50_s")
    assert (lost.value, lost.word()) == (math.inf, "worse")
