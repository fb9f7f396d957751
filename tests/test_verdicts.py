"""The rule of verdicts line by line: slices, the whole, groups, few requests, letters, and quantities alone."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from farweb.statistics.intervals import Estimate
from farweb.statistics.judgement import Difference, Origin
from farweb.statistics.units import Floats, Units
from farweb.statistics.verdicts import (
    Table,
    Word,
    letters,
    sign_test,
    slice_word,
    slices,
    unpaired,
    whole_of,
    whole_word,
    with_groups,
)


def ends(value: float, half: float = 0.005) -> Estimate:
    return Estimate(20, value, None, value - half, value + half)


NONE = Estimate(0, None, None, None, None)


@pytest.mark.parametrize(
    ("change", "count", "one_sided", "expected"),
    [
        (ends(-0.5), ends(0.05), 0.011, "slightly worse"),  # 1: survivors say little
        (ends(-0.5), ends(-0.05), 0.011, "slightly better"),
        (ends(-0.5), ends(0.049), 0.011, "unclear"),
        (ends(-0.5), ends(0.049), 0.01, "better"),
        (NONE, ends(0.3), 0.0, "slightly worse"),
        (ends(-0.01), ends(0.05), 0.0, "split"),  # 2
        (ends(-0.01), ends(0.049), 0.0, "slightly better"),
        (ends(0.05), ends(0.0), 0.0, "worse"),  # 3
        (ends(-0.05), ends(0.0), 0.0, "better"),
        (ends(0.05, 0.06), ends(0.0), 0.0, "unclear"),
        (ends(0.049), ends(0.0), 0.0, "slightly worse"),  # 4
        (ends(-0.01), ends(0.0), 0.0, "slightly better"),
        (ends(-0.0099), ends(0.0), 0.0, "equivalent"),  # 5
        (ends(-0.0099), ends(-0.9), 0.0, "equivalent"),
        (ends(0.02, 0.021), ends(0.05), 0.0, "slightly worse"),  # 6
        (ends(0.02, 0.2), ends(0.05), 0.0, "slightly worse"),
        (ends(0.02, 0.021), ends(-0.05), 0.0, "equivalent"),  # 7
        (ends(0.02, 0.03), ends(0.049), 0.0, "equivalent"),
        (ends(0.02, 0.031), ends(0.049), 0.0, "unclear"),  # 8
        (ends(0.0, 0.051), ends(0.0), 0.0, "unclear"),
        (ends(-0.5, 0.0), ends(-1.0, 0.0), 0.0, "better"),  # an interval without width decides
        (Estimate(1, -0.5, None, None, None), Estimate(1, -1.0, None, None, None), 0.0, "unclear"),
    ],
)
def test_a_slice_is_judged_by_the_first_line_that_fits(
    change: Estimate, count: Estimate, one_sided: float, expected: Word
) -> None:
    assert slice_word(change, count, one_sided) == expected


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
def test_the_whole_weighs_the_slowest_and_failures(
    all_requests: Word, neither: Word, gain: Word, harm: Word, both: Word
) -> None:
    found = [whole_word(all_requests, gain=a, harm=b) for b in (False, True) for a in (False, True)]
    assert found == [neither, gain, harm, both]


@pytest.mark.parametrize(
    ("whole", "groups", "expected"),
    [
        ("slightly worse", ["worse", "slightly better"], "mixed"),
        ("better", ["slightly worse", "better"], "mixed"),
        ("better", ["slightly worse", "slightly better"], "better"),  # neither by the margin
        ("equivalent", ["better", "slightly better"], "slightly better"),
        ("cannot be told apart", ["worse", "worse"], "worse"),
        ("equivalent", ["worse", "equivalent"], "equivalent"),
        ("slightly better", ["better", "better"], "slightly better"),
        ("equivalent", [], "equivalent"),
    ],
)
def test_groups_relate_to_the_whole(whole: Word, groups: Sequence[Word], expected: Word) -> None:
    assert with_groups(whole, groups) == expected


def test_named_quantities_decide_together() -> None:
    assert whole_of(["slightly better", "unclear", "better"]) == "better"
    assert whole_of(["slightly worse", "equivalent"]) == "slightly worse"
    assert whole_of(["slightly worse", "better"]) == "mixed"
    assert whole_of(["equivalent", "unclear"]) == "cannot be told apart"
    assert whole_of(["equivalent"]) == "equivalent"


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
    assert sign_test(table([-0.1] * 8 + [2.0])).word == "cannot be told apart"  # the mean is on the other side
    twice = table([-0.3] * 10, np.arange(10) % 5)
    assert (sign_test(twice).faster, sign_test(twice).word) == (5, "cannot be told apart")


def test_slices_are_cut_by_both_latencies_and_need_fifty_requests() -> None:
    """Of 1,000 requests 100 take ten times as long, and twice that there; of 490 the slowest are no slice."""
    slow = np.arange(1000) % 10 == 0
    base = np.where(slow, 10.0, 1.0) + np.arange(1000) / 1e6
    other = base * np.where(slow, 2.0, 1.0)
    units = np.arange(1000) // 50
    everyone, tenth = slices(Table(base, other, units, np.arange(1000), 20))
    assert (everyone.requests, tenth.name, tenth.requests) == (1000, "slowest_tenth", 100)
    assert (everyone.slower, tenth.slower, tenth.faster) == (0.1, 1.0, 0.0)
    assert everyone.change.value == pytest.approx(2**0.1 - 1)
    assert tenth.change.value == pytest.approx(1.0) and tenth.word == "worse"
    assert len(slices(Table(base[:490], other[:490], units[:490], np.arange(490), 10))) == 1
    repeated = Table(base, other, units, np.arange(1000) % 400, 20)
    assert len(slices(repeated)) == 1, "seeds add no different requests"


def test_a_slice_in_one_block_has_no_interval() -> None:
    base, other = np.ones(1000), np.ones(1000)
    base[:50], other[:50] = 10.0, 20.0
    found = slices(Table(base, other, np.arange(1000) // 50, np.arange(1000), 20))
    inside = [each for each in found if each.name == "slowest_tenth"]
    assert inside[0].requests == 1000 or inside[0].word == "unclear"


def test_the_change_is_the_geometric_mean_and_blocks_cover_it() -> None:
    random = np.random.default_rng(1)
    covered = 0
    for _ in range(200):
        logs = -0.1 + np.repeat(random.normal(0, 0.1, 20), 10) + random.normal(0, 0.3, 200)
        (found,) = slices(table(logs, units=20))
        assert found.change.value == pytest.approx(math.expm1(logs.mean()))
        assert found.change.low is not None and found.change.high is not None
        covered += found.change.low <= math.expm1(-0.1) <= found.change.high
    assert covered >= 180


def test_different_requests_are_compared_by_their_geometric_means() -> None:
    random = np.random.default_rng(1)
    base, other = ([random.lognormal(mean, 0.1, 40) for _ in range(20)] for mean in (0.0, 0.2))
    found = unpaired(base, other, 0.05, 0.95)
    means = [np.log(np.concatenate(side)).mean() for side in (base, other)]
    assert found.change.value == pytest.approx(math.expm1(means[1] - means[0]))
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
