"""The rule of judgement in closed form: each branch, ends of intervals, failures, rankings."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from farweb.statistics.judgement import Judgement, Origin, Overall, Quantity, Verdict, judge, ranked
from farweb.statistics.units import Floats, Units


def times(name: str, value: float | None, low: float | None, high: float | None, of: Origin = "blocks") -> Quantity:
    return Quantity(name, value, low, high, of, 20)


def failures(value: float, low: float, high: float) -> Quantity:
    return Quantity("failed_share", value, low, high, "blocks", 20, is_share=True)


@pytest.mark.parametrize(
    ("value", "low", "high", "expected"),
    [
        (-0.10, -0.12, -0.08, "better"),
        (0.10, 0.08, 0.12, "worse"),
        (0.05, 0.01, 0.09, "worse"),  # at the margin
        (0.04, 0.01, 0.07, "undecided"),  # real, less than the margin, perhaps more
        (0.04, 0.03, 0.05, "equivalent"),  # real, and too small to matter
        (0.0, -0.05, 0.05, "equivalent"),
        (0.10, -0.01, 0.21, "undecided"),
        (-0.5, -0.5, -0.5, "undecided"),  # no width, no decision
        (0.0, 0.0, 0.0, "equivalent"),  # nothing differs at all
        (-0.5, None, None, "undecided"),
        (None, None, None, "undecided"),
        (math.inf, math.inf, math.inf, "worse"),
        (-math.inf, -math.inf, -math.inf, "better"),
        (math.inf, None, None, "undecided"),
    ],
)
def test_a_quantity_alone(value: float | None, low: float | None, high: float | None, expected: Judgement) -> None:
    assert times("latency_p50_s", value, low, high).judged(0.05) == expected


def test_shares_have_a_margin_of_their_own_and_a_direction() -> None:
    assert failures(0.006, 0.004, 0.008).judged(0.05) == "worse"
    assert failures(0.004, 0.003, 0.0049).judged(0.05) == "equivalent"
    assert failures(0.004, 0.003, 0.0051).judged(0.05) == "undecided"
    assert failures(0.004, 0.003, 0.0051).judged(0.03) == "worse"
    within = Quantity("within(5 s)", 0.1, 0.05, 0.15, "blocks", 20, is_share=True, more_is_better=True)
    assert within.judged(0.05) == "better"


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
        mirrored = Quantity("rate", -value, -high, -low, "blocks", 20, more_is_better=True)
        assert mirrored.is_good_enough(0.05) is expected


BETTER = times("latency_p50_s", -0.3, -0.35, -0.25)
WORSE = times("latency_p99_s", 0.45, 0.3, 0.6)
EQUAL = times("latency_p90_s", 0.01, -0.01, 0.03)
OPEN = times("latency_p90_s", 0.02, -0.3, 0.4)


@pytest.mark.parametrize(
    ("quantities", "overall", "sentence"),
    [
        ([BETTER, EQUAL], "better", "b is better than a for this log: median −30 % (−35 % … −25 %)"),
        (
            [BETTER, OPEN],
            "better",
            "b is better than a for this log: median −30 % (−35 % … −25 %); not decided: p90 +2 % (−30 % … +40 %)",
        ),
        ([EQUAL, WORSE], "worse", "b is worse than a for this log: p99 +45 % (+30 % … +60 %)"),
        (
            [BETTER, EQUAL, WORSE],
            "mixed",
            "b against a, mixed for this log: median −30 %, p99 +45 %: better for most, worse for the slowest",
        ),
        ([EQUAL], "equivalent", "b and a are equivalent for this log, within ± 5 %: p90 +1 % (−1 % … +3 %)"),
        ([EQUAL, OPEN], "not distinguished", None),
        ([OPEN], "not distinguished", "b and a are not distinguished for this log: p90 +2 % (−30 % … +40 %)"),
    ],
)
def test_quantities_together(quantities: list[Quantity], overall: Overall, sentence: str | None) -> None:
    found = judge(quantities, faster=0.7, slower=0.3, names=("a", "b"), scope="for this log")
    assert found.overall == overall
    assert sentence is None or found.sentence == sentence
    assert found.interval_of == "blocks"


def test_most_are_more_than_half() -> None:
    half = judge([BETTER, WORSE], faster=0.5, slower=0.5)
    assert half.sentence.endswith("better by median, worse for the slowest")
    unpaired = judge([BETTER, WORSE])
    assert "most" not in unpaired.sentence


def test_failures_can_make_it_mixed() -> None:
    found = judge([BETTER, failures(0.02, 0.01, 0.03)], faster=0.9)
    assert (found.overall, found.by_quantity["failed_share"]) == ("mixed", "worse")
    assert found.sentence.endswith("median −30 %, failures +2 points: better for most, worse by failures")


def test_infinite_values_are_plain_in_json() -> None:
    found = judge([times("latency_p90_s", math.inf, math.inf, math.inf)]).to_dict()
    assert (found["overall"], found["quantities"][0]["value"]) == ("worse", None)


def test_a_ranking_has_ties_where_pairs_were_not_distinguished() -> None:
    better, worse, same = judge([BETTER]), judge([WORSE]), judge([OPEN])

    def placed(**verdicts: Verdict) -> list[list[str]]:
        return ranked(["a", "b", "c"], [(pair[0], pair[1], verdict) for pair, verdict in verdicts.items()])

    assert placed(ab=better, ac=better, bc=better) == [["c"], ["b"], ["a"]]
    assert placed(ab=worse, ac=same, bc=same) == [["a", "c"], ["b"]]
    assert placed(ab=same, ac=same, bc=same) == [["a", "b", "c"]]
    assert placed(ab=better, bc=better, ac=worse) == [["a", "b", "c"]]  # a circle


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
    few = samples(1, 0.8, requests=30)
    assert Units(few, [0]).quantity("latency_p50_s").interval_of == "none"


def test_a_ratio_of_quantiles_is_that_of_all_requests() -> None:
    """Where all requests take 0.8 times as long each quantile is 20 % less, without width."""
    exact = Units(samples(1, 0.8), [0]).quantity("latency_p90_s")
    assert exact.value == pytest.approx(-0.2)
    assert exact.low == exact.high == exact.value and exact.judged() == "undecided"
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
    assert found.low < -0.5 < found.high and found.judged() == "better"


def test_means_are_of_those_that_ended_on_both_sides_and_shares_of_all() -> None:
    base, other = np.full(400, 1.0), np.full(400, 2.0)
    base[::20], other[10::20] = np.inf, np.inf
    units = Units([Sample(base, other)], [0])
    assert units.quantity("latency_mean_s").value == pytest.approx(1.0)
    assert units.quantity("failed_share").value == pytest.approx(0.0)
    assert units.quantity("within(1 s)").value == pytest.approx(-0.95)
    other[:] = np.inf
    lost = units.quantity("latency_p50_s")
    assert (lost.value, lost.judged()) == (math.inf, "worse")
