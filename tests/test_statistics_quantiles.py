"""Quantiles of times when some never ended, and the intervals and differences they give."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from farweb.statistics import intervals
from farweb.statistics.intervals import Estimate, students
from farweb.statistics.paired import paired
from farweb.statistics.quantiles import has_quantile, observed, quantiles, with_lost
from farweb.text.sheet import to_json

INF = float("inf")
TIMES = st.lists(st.floats(0, 1e6), max_size=30)
SHARES = (0.0, 0.5, 0.9, 0.99, 1.0)


@given(TIMES, st.integers(0, 30))
def test_a_lost_request_is_slower_than_any_that_ended(ended: list[float], lost: int) -> None:
    found = quantiles(with_lost(ended, lost), SHARES)
    if not ended and not lost:
        assert found == [None] * len(SHARES)
        return
    # With an end far beyond all others in their place, quantiles are the same or beyond the slowest too.
    beyond = 1e15
    for share, value, expected in zip(
        SHARES, found, np.quantile([*ended, *[beyond] * lost], SHARES, method="linear"), strict=True
    ):
        reached = share * (len(ended) + lost - 1) > len(ended) - 1 + 1e-9
        assert value == INF if reached else math.isclose(value or 0.0, expected, rel_tol=1e-9, abs_tol=1e-6)


def test_places_are_exact_where_shares_are_not() -> None:
    # 0.07 · 100 is 7.000000000000001: the quantile is the 7th value, and not on the way to the infinite one behind it.
    assert quantiles(with_lost(np.arange(8), 93), [0.07]) == [7.0]
    # 0.29 · 100 is 28.999999999999996: the quantile is the 29th value, however far the next one is.
    assert quantiles([*range(30), *[1e18] * 71], [0.29]) == [29.0]


def test_observed_values_have_at_least_their_shares_at_or_below() -> None:
    # 0.07 · 100 is 7.000000000000001, and still needs 7 values and not 8.
    assert observed(100, [0.0, 0.07, 0.29, 0.5, 1.0]).tolist() == [0, 6, 28, 49, 99]
    assert observed(0, [0.5]).tolist() == []


def test_a_quantile_is_shown_when_five_values_lie_beyond_it() -> None:
    # 50 · (1 − 0.9) is 4.999999999999999.
    assert [has_quantile(number, 0.9) for number in (0, 49, 50)] == [False, False, True]
    assert [has_quantile(number, 0.99) for number in (499, 500)] == [False, True]


def test_replications_that_failures_reach_leave_no_interval() -> None:
    groups = [with_lost(np.arange(100), lost) for lost in (0, 5, 30)]
    low, middle, high = intervals.quantiles(groups, [0.5, 0.8, 0.95])
    assert low.low is not None and low.high is not None and low.low < low.value < low.high  # type: ignore[operator]
    # A resample with the third replication alone has no 0.8 quantile; all together still have one.
    assert (middle.low, middle.high, middle.sd) == (None, None, None) and 0 < (middle.value or 0) < 100
    assert high == Estimate(3, INF, None, None, None)


def test_means_and_differences_of_infinite_values() -> None:
    plus, mixed, finite = students([[1.0, INF, 3], [INF, -INF, 1.0], [1.0, 2.0, 3.0]])
    assert plus == Estimate(3, INF, None, None, None)
    assert (mixed.value, mixed.low) == (None, None)
    assert finite == students([[1.0, 2.0, 3.0]])[0]
    worse, better, unknown = paired([[1.0, INF], [1.0, 2.0], [INF, 2.0]], [[1.0, 2.0], [1.0, INF], [INF, 2.0]])
    assert (worse.interval.value, worse.interval.low, worse.percent) == (INF, None, None)
    assert (better.interval.value, better.base, better.percent) == (-INF, INF, None)
    # Two infinite values have no difference, and the other replications do not stand for it.
    assert (unknown.interval.n, unknown.interval.value) == (2, None)


def test_json_has_null_for_what_is_infinite() -> None:
    assert to_json({"a": [INF, 1.5], "b": (1, "x", None), "c": {"d": -INF}}) == {
        "a": [None, 1.5],
        "b": [1, "x", None],
        "c": {"d": None},
    }
