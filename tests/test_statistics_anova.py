"""Allocation of variation: arithmetic by hand, statsmodels, and what holds for any table."""

import itertools
import math
from typing import Any

import numpy as np
import pandas
import pytest
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from farweb.statistics.anova import Analysis, full_factorial, one_at_a_time, rank_regression
from farweb.statistics.warmup import mser5


def by_factors(analysis: Analysis) -> dict[Any, Any]:
    return {term.factors or term.kind: term for term in analysis.terms}


def test_two_factors_of_two_levels_by_hand() -> None:
    # Means 10, 20, 14, 32 of pairs that lie 1 to either side: q0 = 19, qA = 4, qB = 7, qAB = 2 and SSE = 4 · 2 · 1.
    # Sums of squares 2² r q²: 8 · 16 = 128, 8 · 49 = 392, 8 · 4 = 32; the total is 560.
    values = np.array([[[9, 11], [19, 21]], [[13, 15], [31, 33]]], float)
    analysis = full_factorial(values, blocks=False)
    terms = by_factors(analysis)
    assert {key: (term.ss, term.df) for key, term in terms.items()} == {
        (0,): (128, 1),
        (1,): (392, 1),
        (0, 1): (32, 1),
        "error": (8, 4),
    }
    assert terms[1,].percent == pytest.approx(100 * 392 / 560)
    assert (terms[1,].ms, terms[1,].f) == (392, 196)
    assert terms[1,].p == pytest.approx(scipy.stats.f.sf(196, 1, 4))
    effects = {(effect.factors, effect.levels): effect for effect in analysis.effects}
    assert effects[(0,), (1,)].effect == 4
    assert effects[(1,), (0,)].effect == -7
    assert effects[(0, 1), (1, 1)].effect == 2
    # Jain's standard deviation of an effect: s_e / √(2² r) with s_e = √(8/4).
    half = scipy.stats.t.ppf(0.975, 4) * math.sqrt(2) / math.sqrt(8)
    high = effects[(0,), (1,)].high
    assert high is not None and high - 4 == pytest.approx(half)


def test_the_interaction_is_the_error_with_one_replication() -> None:
    values = np.array([[[10], [20]], [[14], [32]]], float)
    terms = by_factors(full_factorial(values, blocks=True))
    assert set(terms) == {(0,), (1,), "error"}
    assert (terms["error"].ss, terms["error"].df) == (16, 1)


def test_one_factor_and_one_replication_have_nothing_to_judge_by() -> None:
    analysis = full_factorial(np.array([[1.0], [2.0], [4.0]]), blocks=False)
    terms = by_factors(analysis)
    assert {key: (term.percent, term.df, term.f) for key, term in terms.items()} == {
        (0,): (pytest.approx(100), 2, None),
        "error": (pytest.approx(0), 0, None),
    }


def frame_of(values: Any) -> tuple[Any, list[str]]:
    """The values as a data frame for formulas, and the names of its factors."""
    axes = list("abcde"[: values.ndim - 1])
    rows = [[*map(str, index), float(value)] for index, value in np.ndenumerate(values)]
    return pandas.DataFrame(rows, columns=[*axes, "r", "y"]), axes


@pytest.mark.parametrize("shape", [(3, 4), (2, 3, 4), (2, 3, 4, 3), (3, 2, 2, 5)])
@pytest.mark.parametrize("blocks", [False, True])
def test_agrees_with_statsmodels(shape: tuple[int, ...], blocks: bool) -> None:
    from statsmodels.formula.api import ols
    from statsmodels.stats.anova import anova_lm

    values = np.random.default_rng(sum(shape)).lognormal(1, 0.5, shape) + np.arange(shape[0]).reshape(
        -1, *[1] * (len(shape) - 1)
    )
    frame, axes = frame_of(values)
    formula = "y ~ " + " * ".join(f"C({axis})" for axis in axes) + (" + C(r)" if blocks else "")
    table = anova_lm(ols(formula, frame).fit(), typ=2)
    terms = by_factors(full_factorial(values, blocks=blocks))
    names: dict[Any, str] = {
        tuple(subset): ":".join(f"C({axes[number]})" for number in subset)
        for order in range(1, len(axes) + 1)
        for subset in itertools.combinations(range(len(axes)), order)
    }
    names |= {"error": "Residual"} | ({"replications": "C(r)"} if blocks else {})
    assert set(terms) == set(names)
    for key, name in names.items():
        expected = table.loc[name]
        assert terms[key].ss == pytest.approx(expected["sum_sq"], rel=1e-9)
        assert terms[key].df == expected["df"]
        if key != "error":
            assert terms[key].f == pytest.approx(expected["F"], rel=1e-8)
            assert terms[key].p == pytest.approx(expected["PR(>F)"], rel=1e-6)


def test_beyond_three_factors_higher_interactions_are_one_term() -> None:
    values = np.random.default_rng(1).normal(size=(2, 2, 3, 2, 2))
    terms = by_factors(full_factorial(values, blocks=False))
    assert terms["higher"].df == 23 - (1 + 1 + 2 + 1) - (1 + 2 + 1 + 2 + 1 + 2)
    assert terms["error"].df == 24
    single = by_factors(full_factorial(values[..., :1], blocks=False))
    assert "higher" not in single
    assert single["error"].df == terms["higher"].df


SHAPES = arrays.array_shapes(min_dims=2, max_dims=4, min_side=1, max_side=3)


@settings(deadline=None)
@given(arrays.arrays(np.float64, SHAPES, elements=st.floats(-100, 100)), st.booleans())
def test_percentages_add_up_and_so_do_degrees(values: Any, blocks: bool) -> None:
    terms = full_factorial(values, blocks=blocks).terms
    assert sum(term.df for term in terms) == values.size - 1
    if np.ptp(values) > 1e-3:
        assert sum(term.percent or 0 for term in terms) == pytest.approx(100)
        assert sum(term.ss for term in terms) == pytest.approx(np.square(values - values.mean()).sum(), rel=1e-6)
    elif np.ptp(values) == 0:
        assert all(term.percent is None and term.ss == 0 for term in terms)


@settings(deadline=None)
@given(arrays.arrays(np.float64, (3, 2, 4), elements=st.floats(0, 100)), st.permutations(range(4)), st.booleans())
def test_the_order_of_replications_and_levels_changes_no_sum(values: Any, order: list[int], blocks: bool) -> None:
    first = full_factorial(values, blocks=blocks).terms
    second = full_factorial(values[::-1, :, order], blocks=blocks).terms
    assert [term.ss for term in second] == pytest.approx([term.ss for term in first], rel=1e-9, abs=1e-6)


def test_common_random_numbers_take_luck_out_of_the_error() -> None:
    luck = np.array([0.0, 10.0, -5.0])
    values = np.array([1.0, 2.0, 4.0])[:, None] + luck + np.random.default_rng(2).normal(0, 0.01, (3, 3))
    plain = by_factors(full_factorial(values, blocks=False))
    blocked = by_factors(full_factorial(values, blocks=True))
    assert plain[0,].p > 0.5
    assert blocked[0,].p < 1e-6
    assert blocked["replications"].percent > 90


def test_deterministic_runs_have_no_error_to_test_against() -> None:
    values = np.repeat(np.array([0.1, 0.2, 0.7])[:, None], 5, axis=1)
    terms = by_factors(full_factorial(values, blocks=True))
    assert terms[0,].percent == pytest.approx(100)
    assert (terms[0,].f, terms[0,].p) == (None, None)


def test_one_at_a_time_by_hand() -> None:
    # Base 10, one factor's level 14, another's levels 10 and 16; two replications 1 to either side.
    means = np.array([10.0, 14.0, 10.0, 16.0])
    values = means[:, None] + np.array([-1.0, 1.0])
    analysis = one_at_a_time(values, [[0, 1], [0, 2, 3]], blocks=False)
    terms = by_factors(analysis)
    # 2 · (4 + 4) = 16; around the mean 12: 2 · (4 + 4 + 16) = 48; the error is 4 · 2.
    assert (terms[0,].ss, terms[0,].df) == (16, 1)
    assert (terms[1,].ss, terms[1,].df) == (48, 2)
    assert (terms["error"].ss, terms["error"].df) == (8, 4)
    assert sum(term.percent or 0 for term in analysis.terms) == pytest.approx(100)
    assert [(effect.factors, effect.levels, effect.effect) for effect in analysis.effects] == [
        ((0,), (1,), 4),
        ((1,), (1,), 0),
        ((1,), (2,), 6),
    ]
    assert by_factors(one_at_a_time(values, [[0, 1], [0, 2, 3]], blocks=True))["error"].ss == 0


def test_rank_regression_agrees_with_statsmodels() -> None:
    import statsmodels.api as sm

    random = np.random.default_rng(3)
    inputs = random.uniform(size=(40, 3))
    outputs = np.exp(3 * inputs[:, 0]) - inputs[:, 1] + 0.2 * random.normal(size=40)
    analysis = rank_regression(inputs, outputs)
    assert analysis is not None
    ranks = scipy.stats.zscore(np.column_stack([scipy.stats.rankdata(column) for column in (*inputs.T, outputs)]))
    fit = sm.OLS(ranks[:, 3], sm.add_constant(ranks[:, :3])).fit()
    found = analysis.terms[:3]
    assert [term.coefficient for term in found] == pytest.approx(fit.params[1:])
    assert [term.p for term in found] == pytest.approx(fit.pvalues[1:], rel=1e-6)
    assert analysis.terms[3].percent == pytest.approx(100 * (1 - fit.rsquared))
    assert sum(term.percent or 0 for term in analysis.terms) == pytest.approx(100)


def test_rank_regression_sees_a_rising_function_whole_and_refuses_too_few_points() -> None:
    x = np.random.default_rng(4).uniform(size=(20, 1))
    analysis = rank_regression(x, np.exp(10 * x[:, 0]))
    assert analysis is not None
    assert analysis.terms[0].coefficient == pytest.approx(1)
    assert rank_regression(x[:2], x[:2, 0]) is None
    assert rank_regression(x, np.ones(20)) is None


def test_mser_finds_where_a_transient_ends() -> None:
    random = np.random.default_rng(6)
    series = [5 + random.normal(0, 0.3, 1000) + np.where(np.arange(1000) < 60, 10.0, 0) for _ in range(3)]
    found = mser5(series)
    assert found is not None
    # It may leave out a little more, where a batch of the steady part lies off by chance; never less.
    assert 60 <= found.observations <= 80
    assert (found.length, found.steady) == (1000, True)


def test_mser_by_brute_force() -> None:
    random = np.random.default_rng(7)
    series = np.exp(-np.arange(403) / 40) * 20 + random.exponential(size=403) + 1e6
    means = series[:400].reshape(-1, 5).mean(axis=1)
    scores = [np.square(means[d:] - means[d:].mean()).sum() / (80 - d) ** 2 for d in range(41)]
    found = mser5([series])
    assert found is not None
    assert found.observations == 5 * int(np.argmin(scores))


def test_mser_of_a_series_that_only_rises_is_no_recommendation() -> None:
    found = mser5([np.arange(500.0)])
    assert found is not None and not found.steady
    assert mser5([np.arange(49.0)]) is None
    assert mser5([]) is None


def test_mser_leaves_a_steady_series_as_it_is() -> None:
    found = mser5([np.ones(200)])
    assert found is not None and (found.observations, found.steady) == (0, True)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 400))
def test_mser_does_not_depend_on_the_level(shift: int) -> None:
    series = np.random.default_rng(8).exponential(size=300) + np.where(np.arange(300) < 40, 5, 0)
    assert mser5([series]) == mser5([series + shift])
