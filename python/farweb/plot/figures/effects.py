"""The change that each level of a sweep makes, and the allocation of a metric's variation to its factors."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from farweb.errors import ResultsError
from farweb.judge.judged import deciding, levels_judged
from farweb.paint.figure import Axis, Figure, Panel, Reference, Series
from farweb.plot.catalogue import figure
from farweb.plot.replicated import about_runs
from farweb.results.design import Design
from farweb.results.metrics import Metric, base_unit, find_metric, words
from farweb.results.sweep import SweepTables
from farweb.results.sweep_statistics import NO_SPLIT
from farweb.results.sweep_warnings import comparable
from farweb.text.quantities import Ends
from farweb.text.words import capital, named

TERMS_MAX = 12
"""Terms of which the share is drawn; chosen: those that are left out explain little, and the caption says how much."""

_JUDGED_MAX = 3
"""Judgements of levels that the caption has; chosen: more are a table, which `farweb show` prints."""

_JOINED = " × "
_PARTIAL = "not the same share of all at each point: what failures do to the others is in these effects too."
_WAYS = {
    "full-factorial": "Shares: sums of squares by their total. Effects: mean at a level less the mean of all.",
    "one-at-a-time": "Shares: sums of squares by their total. Effects: mean at a level less that of the base point.",
}


@figure(
    "effects",
    of="sweep",
    shows="the change that each level makes; with seeds that have requests of their own, how much of a metric's "
    "variation each factor explains",
    needs="a design with factors",
)
def effects(sweep: SweepTables, *, metric: str | None = None) -> Figure:
    """The change that each level makes, the allocation of a metric's variation, and the effects of levels.

    Raises:
        ResultsError: There is no such metric, or the design allows neither; the message says why.
    """
    of = find_metric(metric or "latency_mean_s")
    terms = sweep.effects([of.name])
    judged, why_not = levels_judged(sweep, deciding([metric] if metric else None))
    names = sweep.design.short_names
    is_split = not terms["percent"].drop_nulls().is_empty()
    named_changes = [
        (f"{named(names[each.factor], each.level, ' = ')} for {each.base}", each.verdict.change) for each in judged
    ]
    changed = changes(named_changes)
    refused = sweep.refusals([of.name]).get(of.name, "it does not vary")
    if not is_split and (changed is None or not refused.endswith(NO_SPLIT)):
        raise ResultsError(f"{sweep.path}: no allocation of the variation of {of.name}: {why_not or refused}")
    panels, about = [each for each in (changed,) if each is not None and not is_split], ""
    if is_split:
        panels.append(_shares(terms, names))
        about, second = _second(sweep, of, terms, names)
        panels += [] if second is None else [second]
    partial = "" if comparable(sweep, of.name) else f"Of the requests that ended, {_PARTIAL}"
    entries = sum(len(panel.y.levels) for panel in panels)
    return Figure(
        f"What {words(of)} depends on – {sweep.name}" if is_split else f"What each level changes – {sweep.name}",
        " ".join(
            each
            for each in (
                _seen(sweep.design, terms, names) if is_split else _CHANGES,
                _WAYS.get(sweep.design.kind, "") if is_split else capital(f"{refused}."),
                about,
                partial,
                *(f"{each.verdict.sentence}." for each in judged[:_JUDGED_MAX]),
                _runs(sweep, terms) if is_split else about_runs(sweep, range(len(sweep.design.points))),
            )
            if each
        ),
        tuple(panels),
        counted="runs",
        size=(6.5, 1.7 + 0.75 * len(panels) + 0.26 * entries),
        judged=tuple(each.to_dict() for each in judged),
    )


_CHANGES = "Change: of the mean latency of the same requests, with its interval: 95 % for a factor."


def changes(named: Sequence[tuple[str, Ends]]) -> Panel | None:
    """Changes of time with their intervals, below one another; None where none is known."""
    known = [(name, each) for name, each in named if each.value is not None and math.isfinite(each.value)]
    if not known:
        return None
    x, low, high = (
        np.array([100 * (getattr(change, end) or 0.0) for _, change in known]) for end in ("value", "low", "high")
    )
    alone = np.array([change.low is None for _, change in known])
    low, high, place = np.where(alone, x, low), np.where(alone, x, high), np.arange(len(known), dtype=np.float64)
    series = Series("", 0, x, place, low=low, high=high, interval="bars", joined=False)
    return _across(Axis("change of time", "%").fitted(x, low, high), tuple(name for name, _ in known), series)


def _shares(terms: pl.DataFrame, names: Mapping[str, str]) -> Panel:
    """The largest shares, from the top."""
    rows = _largest(terms)
    labels = tuple(f"{_short(term, names)}  {_percent(percent)}" for term, percent in rows)
    values = np.array([percent for _, percent in rows])
    axis = Axis("share of variation", "%", low=0)
    series = Series("", 0, values, np.arange(len(rows), dtype=np.float64), "bars")
    return Panel(axis, Axis("", scale="category", levels=labels), (series,), weight=len(rows) + 1.5)


def _percent(value: float) -> str:
    return f"{value:.1f} %" if value >= 0.05 else "< 0.1 %"


def _largest(terms: pl.DataFrame) -> list[tuple[str, float]]:
    known = terms.drop_nulls("percent").sort("percent", descending=True, maintain_order=True)
    return [
        (str(term), float(percent)) for term, percent in known.select("term", "percent").head(TERMS_MAX).iter_rows()
    ]


def _second(
    sweep: SweepTables, metric: Metric, terms: pl.DataFrame, names: Mapping[str, str]
) -> tuple[str, Panel | None]:
    """Effects of levels, or the direction of factors where each point has levels of its own."""
    coefficients = terms.drop_nulls("coefficient")
    if len(coefficients):
        labels = tuple(_short(str(term), names) for term in coefficients["term"])
        x = coefficients["coefficient"].to_numpy()
        axis = Axis("standardized rank regression coefficient", low=-1, high=1)
        return "Coefficients: of a regression of ranks, from −1 to 1; a positive one: the more, the larger.", _across(
            axis, labels, Series("", 1, x, np.arange(len(labels), dtype=np.float64), "bars")
        )
    levels = sweep.level_effects([metric.name]).filter(~pl.col("term").str.contains(_JOINED, literal=True))
    if levels.is_empty():
        return "", None
    labels = tuple(
        named(names[str(term)], str(level), " = ") for term, level in levels.select("term", "levels").iter_rows()
    )
    place = np.arange(len(labels), dtype=np.float64)
    effect, low, high = (levels[name].cast(pl.Float64).to_numpy() for name in ("effect", "low", "high"))
    judged = not np.isnan(low.astype(np.float64)).all()
    axis = Axis(f"effect on {words(metric)}", base_unit(metric)).fitted(
        effect, low[~np.isnan(low)], high[~np.isnan(high)]
    )
    factors = levels["term"].to_numpy()
    series = []
    for number, factor in enumerate(dict.fromkeys(factors)):
        own = factors == factor
        ends = {"low": low[own], "high": high[own]} if judged else {}
        series.append(Series("", number, effect[own], place[own], **ends, interval="bars", joined=False))
    return "Bars: 95 % interval (Student)." if judged else "", _across(axis, labels, *series)


def _across(axis: Axis, labels: tuple[str, ...], *series: Series) -> Panel:
    y = Axis("", scale="category", levels=labels)
    return Panel(axis, y, series, (Reference("", 0.0, along="y"),), weight=len(labels) + 1.5)


def _seen(design: Design, terms: pl.DataFrame, names: Mapping[str, str]) -> str:
    """The factor that matters most, and how much no factor explains."""
    rows = _largest(terms)
    most, percent = rows[0]
    left = "is left unexplained" if design.kind == "latin-hypercube" else "is chance"
    error = terms.filter(pl.col("term") == "error")["percent"].to_list()
    chance = f"; {_percent(error[0])} {left}" if error and error[0] is not None and most != "error" else ""
    left_out = len(terms.drop_nulls("percent")) - len(rows)
    rest = f" The {left_out} smallest terms are left out." if left_out else ""
    return f"Most of the variation, {_percent(percent)}, is due to {_short(most, names)}{chance}.{rest}"


def _runs(sweep: SweepTables, terms: pl.DataFrame) -> str:
    transform = terms["transform"][0]
    analysed = {"none": "", "log": "Logarithms were analysed. ", "ranks": "Ranks were analysed. "}.get(transform, "")
    return analysed + about_runs(sweep, range(len(sweep.design.points)))


def _short(term: str, names: Mapping[str, str]) -> str:
    return _JOINED.join(names.get(part, part) for part in term.split(_JOINED))
