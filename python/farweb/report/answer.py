"""The answer that a sweep gives to its question, in sentences: no more than its numbers bear.

A fact is what matters in a few words, and the rest of its sentence.
"""

import math
from collections.abc import Sequence

import numpy as np

from farweb.plot.replicated import words
from farweb.report.comparisons import Change, changes, strongest
from farweb.report.estimated import Row, order, rows_by
from farweb.report.naming import Names, at, names_of, term
from farweb.report.words import between, change, change_between, percent, plural, shown
from farweb.results.analysis import JOINT
from farweb.results.cautions import comparable
from farweb.results.metrics import Metric
from farweb.results.sweep import SweepTables
from farweb.statistics.paired import paired
from farweb.text.words import listed

Fact = tuple[str, str]

_TERMS = 4  # chosen: more sources of variation than these nobody keeps in mind
CHANCE = ("replications", "error")
"""Sources of variation, as the table `effects` names them, that no factor is the reason of."""

_JOINT_PERCENT = 5.0  # of the variation, from which an interaction is worth a sentence; chosen
_LEAST_PERCENT = 1.0  # of the variation, that a source has to have to be named; chosen


def answer(sweep: SweepTables, metrics: Sequence[Metric]) -> list[Fact]:
    """What was checked, and what the runs say of each of these metrics, the most important first."""
    checked = listed([words(metric) for metric in metrics])
    done = int((sweep.runs["status"] == "done").sum())
    facts = [
        (
            f"Checked: {checked}",
            f"of {plural(done, 'run')} at {plural(len(sweep.design.points), 'point')}{_how(sweep)}.",
        )
    ]
    for metric in metrics:
        facts += _answer(sweep, metric)
    return facts


def _how(sweep: SweepTables) -> str:
    """How points are compared."""
    if sweep.design.replications == 1:
        return ", one run each, so that chance cannot be seen"
    return ", compared by replication" if sweep.design.random_numbers == "common" else ""


def _answer(sweep: SweepTables, metric: Metric) -> list[Fact]:
    """What the runs say of a metric."""
    if not comparable(sweep, metric.name):
        why = "it is of the requests that ended, which are not the same share of all everywhere; quantiles count all."
        return [(f"Points are not ranked by {words(metric)}:", why)]
    rows = [row for row in rows_by(sweep, [metric], sweep.design.factors) if _has_value(row, metric)]
    if not rows:
        return [("There is no answer yet:", f"no run has a {words(metric)}.")]
    if len(rows) == 1:
        return [(_estimate(metric, rows[0], _capital(words(metric))), f"{_interval(metric, rows[0])}.")]
    names = names_of(sweep)
    if len({row.estimates[metric.name].mean for row in rows}) == 1:
        return [(_estimate(metric, rows[0], _capital(words(metric))), f"{_interval(metric, rows[0])} at every point.")]
    return [
        *_ends(sweep, metric, rows, names),
        *_changes(metric, strongest(changes(sweep, metric)), names),
        *_variation(sweep, metric, names),
    ]


def _ends(sweep: SweepTables, metric: Metric, rows: Sequence[Row], names: Names) -> list[Fact]:
    """The best point and the worst, and how many cannot be told from the best."""
    first, last, larger = order(metric)
    ranked = sorted(rows, key=lambda row: row.estimates[metric.name].mean or 0.0, reverse=larger)
    best, worst = ranked[0], ranked[-1]
    factors = sweep.design.factors
    return [
        (
            _estimate(metric, best, f"{first} {words(metric)}"),
            f"{_interval(metric, best)} at {at(names, factors, best.levels)}.{_like_the_first(sweep, metric, ranked)}",
        ),
        (
            _estimate(metric, worst, _capital(last)),
            f"{_interval(metric, worst)} at {at(names, factors, worst.levels)}.",
        ),
    ]


def _like_the_first(sweep: SweepTables, metric: Metric, ranked: Sequence[Row]) -> str:
    """How many points cannot be told from the first, each compared by replication."""
    values = sweep.values(metric.name)
    first, *others = (row.points[0] for row in ranked)
    compared = [each.interval for each in paired(values[others], np.broadcast_to(values[first], values[others].shape))]
    if len(ranked) < 3 or any(each.low is None and not (each.mean and math.isinf(each.mean)) for each in compared):
        return ""
    same = sum(each.low is not None and each.high is not None and each.low <= 0 <= each.high for each in compared)
    if same == 0:
        return f" Each of the other {len(others)} points differs from it by more than chance explains."
    if same == len(others):
        return f" None of the other {len(others)} points can be told from it."
    return f" Of the other {len(others)} points {same} cannot be told from it."


def _changes(metric: Metric, found: Sequence[Change], names: Names) -> list[Fact]:
    """What the factors do, the largest difference first; then those of which one cannot say that they do anything."""
    ranked = sorted(found, key=lambda each: -abs(each.mean))
    facts = [
        (
            f"{_capital(names[each.factor])} {each.level} instead of {each.base}: {change(metric, each.mean)}",
            f"in {words(metric)} ({change_between(metric, each.low, each.high)}), {percent(each.percent)}.",
        )
        for each in ranked
        if each.is_real
    ]
    unsure = [
        f"{names[each.factor]} {each.level} instead of {each.base}, {change(metric, each.mean)} "
        f"({change_between(metric, each.low, each.high)})"
        for each in ranked
        if each.is_judged and not each.is_real
    ]
    if unsure:
        facts.append((f"Not distinguishable from no difference in {words(metric)}:", f"{'; '.join(unsure)}."))
    ended = [f"{names[each.factor]} {each.level} instead of {each.base}" for each in ranked if math.isinf(each.mean)]
    if ended:
        what = f"failed requests reach the {words(metric)} of one of the two; compare the share that failed."
        facts.append((f"Decided by failures: {'; '.join(ended)}:", what))
    return facts


def _variation(sweep: SweepTables, metric: Metric, names: Names) -> list[Fact]:
    """Which factors the variation comes from."""
    terms = sources(sweep, metric)
    large = [(name, part) for name, part in terms if name not in CHANCE and part >= _LEAST_PERCENT]
    told = [f"{term(names, name)} {part:.1f} %" for name, part in large]
    if not told:
        return []
    chance = sum(part for name, part in terms if name in CHANCE)
    what, rest = (
        f"Where the variation of {words(metric)} comes from",
        f"chance between replications makes {chance:.1f} %",
    )
    if sweep.design.kind == "latin-hypercube":
        what, rest = f"{what}, by ranks", f"{chance:.1f} % is not explained by ranks of these factors"
    rest = f"; {rest}" if chance >= 0.05 else ""
    return [(f"{what}:", f"{listed(told[:_TERMS])}{rest}."), *_together(large, names)]


def _together(terms: Sequence[tuple[str, float]], names: Names) -> list[Fact]:
    """That what one factor does depends on another, where that makes a difference."""
    joint = [term(names, name).split(JOINT) for name, part in terms if JOINT in name and part >= _JOINT_PERCENT]
    if not joint:
        return []
    *some, last = joint[0]
    told = "the differences above are averages over both; table and figures show each."
    return [(f"How much {listed(some)} matters depends on {last}:", told)]


def sources(sweep: SweepTables, metric: Metric) -> list[tuple[str, float]]:
    """Sources of variation and their percentages, the largest first."""
    rows = sweep.effects([metric.name]).select("term", "percent").drop_nulls().iter_rows()
    return sorted(((str(name), float(part)) for name, part in rows), key=lambda row: -row[1])


def _has_value(row: Row, metric: Metric) -> bool:
    return row.estimates[metric.name].mean is not None


def _estimate(metric: Metric, row: Row, what: str) -> str:
    return f"{what}: {shown(metric, row.estimates[metric.name].mean)}"


def _interval(metric: Metric, row: Row) -> str:
    estimate = row.estimates[metric.name]
    ends = between(metric, estimate.low, estimate.high)
    return f"({ends})" if ends else "(a single run)"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
