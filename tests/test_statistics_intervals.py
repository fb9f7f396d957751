"""Confidence intervals against closed forms, SciPy, brute force, and the truth that simulated samples come from."""

import itertools
import math

import numpy as np
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray

from farweb.statistics.intervals import (
    _resampled_quantiles,
    _resamples,
    effective_units,
    quantiles,
    ratio_of_units,
    student,
    students,
)
from farweb.statistics.paired import paired

FINITE = st.floats(-1e6, 1e6)


def test_students_interval_by_hand() -> None:
    # 2, 4, 6: mean 4, standard deviation 2; half width is 4.302653 · 2/√3.
    found = student([2, 4, 6])
    assert (found.n, found.value, found.sd) == (3, 4.0, 2.0)
    assert found.half_width == pytest.approx(4.302652730 * 2 / math.sqrt(3), rel=1e-9)


@settings(deadline=None)
@given(st.lists(FINITE, min_size=2, max_size=30), st.sampled_from([0.8, 0.95, 0.99]))
def test_students_interval_is_scipys(values: list[float], confidence: float) -> None:
    found = student(values, confidence)
    if np.ptp(values) < 1e-9:
        assert found.low == pytest.approx(found.high, abs=1e-6)
        return
    low, high = scipy.stats.t.interval(confidence, len(values) - 1, np.mean(values), scipy.stats.sem(values))
    assert found.low == pytest.approx(low, rel=1e-9, abs=1e-6)
    assert found.high == pytest.approx(high, rel=1e-9, abs=1e-6)


def test_one_replication_has_no_interval_and_none_has_no_mean() -> None:
    assert (student([3]).value, student([3]).low, student([3]).half_width) == (3, None, None)
    assert (student([]).n, student([math.nan]).value) == (0, None)
    assert (quantiles([[3.0, 4.0]], [0.5])[0].value, quantiles([[3.0, 4.0]], [0.5])[0].low) == (3.5, None)
    assert quantiles([[], []], [0.5])[0].n == 0


def test_a_missing_value_counts_for_nothing() -> None:
    assert student([1, math.nan, 2]) == student([1, 2])


def test_no_variation_between_replications_gives_no_width() -> None:
    # 0.1 added up thirteen times and divided is not 0.1.
    found = student([0.1] * 13)
    assert (found.sd, found.low, found.high) == (0, 0.1, 0.1)
    (same,) = quantiles([[1.0, 2.0, 5.0]] * 4, [0.9])
    assert (same.sd, same.half_width) == (0, 0)


def test_a_ratio_of_sums_is_that_of_all_resamples_written_out() -> None:
    """Of four units with the effective number of their weights; against the base it is the inverse."""
    base, other = np.array([1.0, 2, 2, 3]), np.array([2.0, 2, 3, 3])
    logs = [
        math.log(other[list(each)].sum() / base[list(each)].sum()) for each in itertools.product(range(4), repeat=4)
    ]
    weights = base / 8 + other / 10
    units = effective_units(weights)
    assert units == pytest.approx(weights.sum() ** 2 / (weights**2).sum()) and 3 < units < 4
    half = scipy.stats.t.ppf(0.975, units - 1) * np.std(logs) * math.sqrt(units / (units - 1))
    found, back = ratio_of_units(base, other), ratio_of_units(other, base)
    assert found.value == pytest.approx(0.25)
    assert (found.low, found.high) == pytest.approx((1.25 * math.exp(-half) - 1, 1.25 * math.exp(half) - 1))
    assert found.low is not None and back.high is not None
    assert (1 + found.low) * (1 + back.high) == pytest.approx(1)
    means = ratio_of_units(base, other, sizes=([2, 2, 2, 2], [4, 4, 4, 4]))
    assert means.value == pytest.approx(1.25 / 2 - 1)
    assert effective_units([3, 3, 3]) == pytest.approx(3)


def test_a_ratio_has_no_interval_where_one_unit_holds_most() -> None:
    assert ratio_of_units([1, 1, 50], [1, 2, 50]).low is None
    assert ratio_of_units([1, 1, 1], [1, 2, 1]).low is not None
    assert ratio_of_units([1, 1e-3], [1e-3, 1]).low is None, "from a thousandth to a thousand says nothing"


def test_a_ratio_without_spread_has_no_width_whatever_its_weights() -> None:
    found = ratio_of_units([1, 100, 3], [0.5, 50, 1.5])
    assert (found.value, found.low, found.high) == (-0.5, -0.5, -0.5)
    assert ratio_of_units([1], [2]).low is None
    for here, there in (([0, 0], [1, 1]), ([1, 1], [0, 0]), ([], [])):
        assert ratio_of_units(here, there).value is None


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=7), min_size=2, max_size=5), st.floats(0, 1))
def test_quantiles_of_resamples_are_those_of_the_observations_written_out(
    groups: list[list[int]], share: float
) -> None:
    ordered = [np.sort(np.array(group, float)) for group in groups]
    times, chances = _resamples(len(groups))
    found = _resampled_quantiles(ordered, times, share)
    for row, quantile in zip(times, found, strict=True):
        written_out = np.concatenate([np.tile(group, count) for group, count in zip(ordered, row, strict=True)])
        assert quantile == pytest.approx(np.quantile(written_out, share), abs=1e-9)
    assert chances.sum() == pytest.approx(1)


def test_the_bootstraps_standard_error_by_hand() -> None:
    # Replications of one observation, 0 and 1: the resamples' medians are 0, ½, ½, 1, with a variance of 1/8, which
    # √(n/(n-1)) doubles; Student's t of one degree of freedom is 12.7062.
    (found,) = quantiles([[0.0], [1.0]], [0.5])
    assert found.value == 0.5
    assert found.half_width == pytest.approx(12.706204736 * math.sqrt(1 / 4), rel=1e-9)


def test_drawn_resamples_agree_with_scipys_bootstrap() -> None:
    values = np.random.default_rng(5).lognormal(size=(20, 1))
    (found,) = quantiles(list(values), [0.5])
    other = scipy.stats.bootstrap(
        (values[:, 0],), np.median, n_resamples=20_000, rng=np.random.default_rng(6), method="percentile"
    )
    t = scipy.stats.t.ppf(0.975, 19)
    assert found.half_width == pytest.approx(t * other.standard_error * math.sqrt(20 / 19), rel=0.06)


@settings(deadline=None)
@given(st.lists(st.lists(st.floats(0, 100), min_size=1, max_size=9), min_size=2, max_size=5), st.floats(0, 1))
def test_intervals_contain_the_quantile_whatever_the_order_of_replications(
    groups: list[list[float]], share: float
) -> None:
    (found,) = quantiles(groups, [share])
    (turned,) = quantiles(groups[::-1], [share])
    assert found.low is not None and found.high is not None and found.value is not None
    assert found.low <= found.value <= found.high
    assert turned.value == found.value
    assert turned.low == pytest.approx(found.low, abs=1e-6)


def coverage(n: int, share: float, spread: float, rounds: int = 400) -> float:
    """How often the interval has the true quantile, of replications that differ by a factor exp(N(0, spread))."""
    random = np.random.default_rng(n)
    truth = math.exp(math.sqrt(1 + spread**2) * scipy.stats.norm.ppf(share))
    hits = 0
    for _ in range(rounds):
        groups: list[NDArray[np.float64]] = [np.exp(random.normal(random.normal(0, spread), 1, 200)) for _ in range(n)]
        (found,) = quantiles(groups, [share])
        assert found.low is not None and found.high is not None
        hits += found.low <= truth <= found.high
    return hits / rounds


@pytest.mark.parametrize(("n", "share", "at_least"), [(3, 0.5, 0.92), (5, 0.5, 0.92), (5, 0.9, 0.92), (10, 0.9, 0.91)])
def test_intervals_of_quantiles_cover_what_they_say(n: int, share: float, at_least: float) -> None:
    # Percentiles of the resamples cover 0.72 with three replications and 0.83 with five.
    assert at_least <= coverage(n, share, 0.1) <= 0.99


def test_paired_differences_by_hand() -> None:
    # Differences 1, 2, 3 from levels that vary with the replication by far more.
    (found,) = paired([[11, 22, 33]], [[10, 20, 30]])
    assert (found.interval.n, found.interval.value, found.interval.sd) == (3, 2.0, 1.0)
    assert (found.base, found.percent) == (20.0, 10.0)
    # Variances 121 and 100: the pairing leaves 1 of 221.
    assert found.variance_reduction == pytest.approx(1 - 1 / 221)
    degrees = 2 * 221**2 / (121**2 + 100**2)
    assert found.unpaired == pytest.approx(scipy.stats.t.ppf(0.975, degrees) * math.sqrt(221 / 3))


@settings(deadline=None)
@given(st.lists(st.tuples(FINITE, FINITE), min_size=2, max_size=20))
def test_pairs_are_scipys_and_welch_is_too(pairs: list[tuple[float, float]]) -> None:
    level, base = (np.array(values) for values in zip(*pairs, strict=True))
    (found,) = paired([level], [base])
    if min(np.ptp(level), np.ptp(base), np.ptp(level - base)) < 1e-3:
        return
    related = scipy.stats.ttest_rel(level, base).confidence_interval()
    assert found.interval.low == pytest.approx(related.low, rel=1e-6, abs=1e-6)
    independent = scipy.stats.ttest_ind(level, base, equal_var=False).confidence_interval()
    assert found.unpaired == pytest.approx((independent.high - independent.low) / 2, rel=1e-6)


def test_a_replication_that_lacks_either_is_no_pair() -> None:
    (one,) = paired([[1, 2, math.nan]], [[0, math.nan, 5]])
    assert (one.interval.n, one.base, one.unpaired, one.variance_reduction) == (1, 0, None, None)
    (none,) = paired([[math.nan]], [[1]])
    assert (none.interval.n, none.base, none.percent) == (0, None, None)
    (of_zero,) = paired([[1, 2]], [[0, 0]])
    assert of_zero.percent is None


def test_differences_that_vary_by_rounding_alone_do_not_vary() -> None:
    base = np.array([0.2, 0.7, 0.3])
    assert np.ptp((base + 0.1) - base) > 0
    (found,) = paired([base + 0.1], [base])
    assert (found.interval.low, found.interval.high) == (found.interval.value, found.interval.value)
    assert found.variance_reduction == 1


@settings(deadline=None)
@given(arrays.arrays(np.float64, (4, 5), elements=st.sampled_from([math.nan, 0.1, 0.2, 7, 1e6])))
def test_rows_are_judged_one_by_one(rows: NDArray[np.float64]) -> None:
    assert students(rows) == [student(row) for row in rows]
    for place, together in enumerate(paired(rows, rows[::-1])):
        assert [together] == paired(rows[place : place + 1], rows[::-1][place : place + 1])


@settings(deadline=None, max_examples=20)
@given(st.integers(2, 8), st.integers(1, 30))
def test_equal_input_gives_equal_intervals(n: int, size: int) -> None:
    groups = np.random.default_rng(size).exponential(size=(n, size))
    assert quantiles(list(groups), [0.5, 0.9]) == quantiles(list(groups.copy()), [0.5, 0.9])
