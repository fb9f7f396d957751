"""Allocation of variation and analysis of variance.

How much of the variation of a metric over a design is due to each factor, to what factors do together (interactions),
and to chance. Percentages are Jain's allocation of variation: the term's share of the total sum of squares. F and p
test, under independent normal errors of equal variance, whether a term is more than chance.

With common random numbers the errors of a replication depend on each other at all points; replications are then blocks,
a term of their own, and the rest is the error.

Sources: Jain, The Art of Computer Systems Performance Analysis, 1991, chapters 17 to 23 (allocation; 18.5
effects and their intervals), 15.4 and 18.8 (logarithms); Montgomery, Design and Analysis of Experiments, 8th ed., 2012,
section 4.1 (blocks); Saltelli et al., Sensitivity Analysis, 2000, chapter 6 (rank regression); Pratt, Dividing the
indivisible: using simple symmetry to partition variance explained, 1987.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farweb.statistics.intervals import CONFIDENCE, student_quantiles

_ALL_ORDERS = 3  # chosen: beyond three factors, interactions of more than two are many and hard to read
_ORDERS_BEYOND = 2

_Sum = tuple[tuple[int, ...], str, float, int]
"""Factors, kind, sum of squares and degrees of freedom."""


@dataclass(frozen=True)
class Term:
    """A source of variation.

    Attributes:
        factors: Numbers of its factors, or none for `kind`s other than `effect`.
        kind: `effect`; `higher`, interactions that are not separated; `replications`, blocks; `error`.
        ss: Sum of squares, of standardized ranks for a regression.
        df: Degrees of freedom.
        percent: Share of the variation, or None when nothing varies.
        ms: Mean square, or None without degrees of freedom.
        f: Mean square over the error's, or None when there is no error or the term has none.
        p: Chance of an F as large when the term does nothing, or None without an F.
        coefficient: Of a regression, -1 to 1 or a little beyond, or None elsewhere.
    """

    factors: tuple[int, ...]
    kind: str
    ss: float
    df: int
    percent: float | None
    ms: float | None
    f: float | None
    p: float | None
    coefficient: float | None = None


@dataclass(frozen=True)
class Effect:
    """Distance of a level of a factor, or of a combination of levels of several, from what lower orders predict.

    Attributes:
        factors: Numbers of the factors.
        levels: The level of each.
        effect: In the unit of the metric (of its natural logarithm after a transform).
        low: Lower end of its confidence interval, or None without an error to judge by.
        high: Upper end.
    """

    factors: tuple[int, ...]
    levels: tuple[int, ...]
    effect: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Analysis:
    """Terms in the order of factors and orders, the error last, and the effects of levels."""

    terms: tuple[Term, ...]
    effects: tuple[Effect, ...]


def full_factorial(values: ArrayLike, *, blocks: bool, confidence: float = CONFIDENCE) -> Analysis:
    """Analysis of a full factorial design.

    Args:
        values: An axis a factor, then an axis of two or more replications, without NaN. Factors of one level are no
            source of variation.
        blocks: True when replication r is the same realization of chance at all points (common random numbers).
        confidence: Of the effects' intervals.
    """
    given = np.asarray(values, float)
    counts, replications = given.shape[:-1], given.shape[-1]
    varied = [number for number, count in enumerate(counts) if count > 1]
    orders = len(varied) if len(varied) <= _ALL_ORDERS else _ORDERS_BEYOND
    subsets = [subset for order in range(1, orders + 1) for subset in itertools.combinations(varied, order)]
    cells = given.mean(axis=-1)
    effects = {subset: _effects(cells, subset) for subset in subsets}
    sums: list[_Sum] = [
        (
            subset,
            "effect",
            float(given.size / effects[subset].size * np.square(effects[subset]).sum()),
            math.prod(counts[number] - 1 for number in subset),
        )
        for subset in subsets
    ]
    between = float(replications * np.square(cells - cells.mean()).sum())
    lumped = max(between - sum(ss for *_, ss, _ in sums), 0.0), cells.size - 1 - sum(df for *_, df in sums)
    if orders < len(varied):
        sums.append(((), "higher", *lumped))
    terms = _terms(given, sums, blocks)
    return Analysis(terms, _with_intervals(effects, terms[-1], given.size, confidence))


def _effects(cells: NDArray[np.float64], subset: tuple[int, ...]) -> NDArray[np.float64]:
    """The joint effect of these factors beyond the effects of fewer of them: an axis a factor."""
    left = cells.mean(axis=tuple(axis for axis in range(cells.ndim) if axis not in subset))
    for axis in range(left.ndim):
        left = left - left.mean(axis=axis, keepdims=True)
    return np.asarray(left, np.float64)


def _with_intervals(
    effects: dict[tuple[int, ...], NDArray[np.float64]], error: Term, size: int, confidence: float
) -> tuple[Effect, ...]:
    """Effects of levels. Their variance is the error's times their degrees of freedom by the number of values."""
    found = []
    for subset, values in effects.items():
        half = _half(error, math.prod(count - 1 for count in values.shape), size, confidence)
        found += [_effect(subset, levels, float(values[levels]), half) for levels in np.ndindex(values.shape)]
    return tuple(found)


def _half(error: Term, freedom: int, size: int, confidence: float) -> float | None:
    """Half the interval of an effect with so many degrees of freedom of so many values. None without an error."""
    if error.ms is None:
        return None
    return float(student_quantiles(error.df, confidence)) * math.sqrt(error.ms * freedom / size)


def _effect(factors: tuple[int, ...], levels: tuple[int, ...], effect: float, half: float | None) -> Effect:
    return Effect(factors, levels, effect, *((None, None) if half is None else (effect - half, effect + half)))


def _terms(given: NDArray[np.float64], sums: Sequence[_Sum], blocks: bool) -> tuple[Term, ...]:
    """Terms with percentages and tests. Sums of squares below rounding become zero.

    The error is what varies within points, with `blocks` without the variation between replications.
    """
    from scipy.special import fdtrc

    cells, replications = given.mean(axis=-1), given.shape[-1]
    within, degrees, rows = float(np.square(given - cells[..., None]).sum()), cells.size * (replications - 1), [*sums]
    if blocks and replications > 1:
        shifts = given.mean(axis=tuple(range(cells.ndim))) - given.mean()
        block = float(cells.size * np.square(shifts).sum())
        rows.append(((), "replications", block, replications - 1))
        within, degrees = max(within - block, 0.0), degrees - (replications - 1)
    rows.append(((), "error", within, degrees))
    if not np.ptp(given):
        rows = [(factors, kind, 0.0, df) for factors, kind, _, df in rows]
    total = sum(ss for *_, ss, _ in rows)
    error_ms = rows[-1][2] / degrees if degrees else None
    # An error of pure rounding measures nothing.
    tested = error_ms is not None and rows[-1][2] > 1e-12 * total
    found = []
    for factors, kind, ss, df in rows:
        ms = ss / df if df else None
        f = p = None
        if tested and error_ms and ms is not None and kind != "error":
            f = ms / error_ms
            p = float(fdtrc(df, degrees, f))
        found.append(Term(factors, kind, ss, df, 100 * ss / total if total else None, ms, f, p))
    return tuple(found)


def one_at_a_time(
    values: ArrayLike, groups: Sequence[Sequence[int]], *, blocks: bool, confidence: float = CONFIDENCE
) -> Analysis:
    """Analysis of a base point and, for each factor, points that differ from it in that factor alone.

    The sum of squares of a factor is the variation among the base and its own points. As all share the base, sums are
    not independent: percentages are shares of the sum of all and the error. Interactions cannot be seen.

    Args:
        values: Rows are points, columns replications, without NaN.
        groups: For each factor, its points by level, the base first.
        blocks: See `full_factorial`.
        confidence: Of the intervals of effects, which are differences to the base.
    """
    given = np.asarray(values, float)
    replications, means = given.shape[-1], given.mean(axis=1)
    sums: list[_Sum] = []
    for number, group in enumerate(groups):
        if len(group) > 1:
            own = means[list(group)]
            sums.append(((number,), "effect", float(replications * np.square(own - own.mean()).sum()), len(group) - 1))
    terms = _terms(given, sums, blocks)
    half = _half(terms[-1], 2, replications, confidence)
    effects = [
        _effect((number,), (level,), float(means[point] - means[group[0]]), half)
        for number, group in enumerate(groups)
        for level, point in enumerate(group[1:], start=1)
    ]
    return Analysis(terms, tuple(effects))


def rank_regression(inputs: ArrayLike, outputs: ArrayLike) -> Analysis | None:
    """Standardized rank regression coefficients of a Latin hypercube.

    Inputs and outputs are replaced by their ranks (ties share the mean rank), standardized, and the outputs regressed
    on the inputs: a coefficient shows how strongly and in which direction the output follows the input, if it rises or
    falls throughout. The percentage of a factor is its coefficient times its correlation with the output (Pratt),
    percentages and the error add up to 100. A barely correlated factor can be slightly negative.

    Args:
        inputs: A row a point, a column a factor.
        outputs: The metric at each point.

    Returns:
        None when there are not at least two points more than factors, or when an input or the output does not vary.
    """
    from scipy.special import fdtrc
    from scipy.stats import rankdata

    x, y = np.asarray(inputs, float), np.asarray(outputs, float)
    points, factors = x.shape
    degrees = points - factors - 1
    if degrees < 1 or np.ptp(y) == 0 or (np.ptp(x, axis=0) == 0).any():
        return None
    ranks = np.column_stack([rankdata(x, axis=0), rankdata(y)])
    scores = (ranks - ranks.mean(axis=0)) / ranks.std(axis=0)
    x, y = scores[:, :-1], scores[:, -1]
    inverse = np.linalg.pinv(x.T @ x)
    coefficients = inverse @ x.T @ y
    error = float(np.square(y - x @ coefficients).sum())
    error_ms = error / degrees
    terms = []
    for number, coefficient in enumerate(coefficients.tolist()):
        ss = coefficient**2 / float(inverse[number, number])  # what leaving the factor out would add to the error
        f = ss / error_ms if error > 1e-12 * points else None
        p = None if f is None else float(fdtrc(1, degrees, f))
        percent = 100 * coefficient * float(x[:, number] @ y) / points
        terms.append(Term((number,), "effect", ss, 1, percent, ss, f, p, coefficient))
    terms.append(Term((), "error", error, degrees, 100 * error / points, error_ms, None, None))
    return Analysis(tuple(terms), ())
