"""The answer that a sweep gives to its question, in sentences: no more than its numbers bear."""

from collections.abc import Sequence

from farweb.metrics import Metric
from farweb.quantities import share
from farweb.report.comparisons import Change, changes, strongest
from farweb.report.estimated import Row, at, order, replicated, rows_by, told
from farweb.plot.replicated import words
from farweb.report.words import between, listed, shown
from farweb.statistics.intervals import student
from farweb.sweep.results import SweepResults

_TERMS = 4  # chosen: more sources of variation than these nobody keeps in mind


def answer(sweep: SweepResults, metric: Metric) -> list[str]:
    """What the runs say of the main metric, the most important first."""
    rows = [row for row in rows_by(sweep, [metric], sweep.design.factors) if row.estimates[metric.name].mean is not None]
    if not rows:
        return [f"No run has a {words(metric)} yet, so there is no answer."]
    if len(rows) == 1:
        return [f"{_capital(words(metric))}: {told(metric, rows[0].estimates[metric.name])}."]
    return [
        _ends(sweep, metric, rows),
        *_variation(sweep, metric),
        *_changes(metric, strongest(changes(sweep, metric))),
    ]


def _ends(sweep: SweepResults, metric: Metric, rows: Sequence[Row]) -> str:
    """The best point and the worst, and how many cannot be told from the best."""
    first, last, larger = order(metric)
    ranked = sorted(rows, key=lambda row: row.estimates[metric.name].mean or 0.0, reverse=larger)
    best, worst = ranked[0], ranked[-1]
    if best.estimates[metric.name].mean == worst.estimates[metric.name].mean:
        return f"{_capital(words(metric))} is {told(metric, best.estimates[metric.name])} at every point."
    factors = sweep.design.factors
    ends = (
        f"{first} {words(metric)}: {told(metric, best.estimates[metric.name])} at {at(factors, best.levels)}; {last}: "
        f"{told(metric, worst.estimates[metric.name])} at {at(factors, worst.levels)}."
    )
    same = _like_the_first(sweep, metric, ranked)
    if same is None or len(rows) < 3:
        return ends
    if same == 0:
        return f"{ends} All {len(rows) - 1} other points differ from the first by more than chance explains."
    verb = "cannot be told from the first: the difference is within what chance explains"
    return f"{ends} {same} of the other {len(rows) - 1} points {verb}."


def _like_the_first(sweep: SweepResults, metric: Metric, ranked: Sequence[Row]) -> int | None:
    """How many points cannot be told from the first, each compared at 95 % by replication; None without intervals."""
    values = replicated(sweep, metric)
    base = values[ranked[0].points[0]]
    intervals = [student(values[row.points[0]] - base) for row in ranked[1:]]
    ends = [(each.low, each.high) for each in intervals if each.low is not None and each.high is not None]
    return sum(low <= 0 <= high for low, high in ends) if len(ends) == len(intervals) else None


def _variation(sweep: SweepResults, metric: Metric) -> list[str]:
    """Which factors the variation comes from."""
    terms = [row for row in sweep.effects([metric.name]).iter_rows(named=True) if row["percent"] is not None]
    sources = sorted((row for row in terms if row["order"]), key=lambda row: -row["percent"])
    if not sources:
        return []
    shares = [f"{row['term']} {share(row['percent'] / 100)}" for row in sources[:_TERMS] if row["percent"] >= 1]
    if not shares:
        return []
    return [f"Of the variation of {words(metric)}, {listed(shares)}."]


def _changes(metric: Metric, found: Sequence[Change]) -> list[str]:
    """What the factors do: those that do something first, then those of which one cannot say so."""
    real = [_change(metric, each) for each in found if each.is_real]
    unsure = [_change(metric, each) for each in found if each.is_judged and not each.is_real]
    if unsure:
        unsure = [f"Not distinguishable from no difference: {'; '.join(unsure)}."]
    return [*(f"{each}." for each in real), *unsure]


def _change(metric: Metric, change: Change) -> str:
    sign = "+" if change.mean > 0 else ""
    percent = f", {change.percent:+.3g} %" if change.percent is not None else ""
    return (
        f"{change.factor} {change.level} instead of {change.base}: {sign}{shown(metric, change.mean)} "
        f"({between(metric, change.low, change.high)}){percent}"
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
