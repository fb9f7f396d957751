"""The tables of a sweep's results: a row a point, or a row for the levels of the factors that matter."""

import math
from collections.abc import Sequence
from dataclasses import replace

from farweb.plot.replicated import words
from farweb.report import page
from farweb.report.answer import sources
from farweb.report.estimated import Row, order, replications_of, rows_by
from farweb.report.naming import Names, names_of
from farweb.report.search import verdicts_of
from farweb.report.words import between, plural, shown
from farweb.results.cautions import comparable
from farweb.results.design import Factor
from farweb.results.metrics import Metric
from farweb.results.sweep import SweepTables
from farweb.statistics.intervals import Interval
from farweb.text.sheet import Sheet
from farweb.text.words import listed

_ROWS = 24
"""Rows that a table of results has at most; chosen: they fit on a page, and a reader can still compare them."""

_LEAST_PERCENT = 1.0
"""Of the variation, that a factor has to explain to have a place in a table that not all have; chosen."""

_ENDS = 8
"""Of more points than `_ROWS` that cannot be pooled, so many of the best and of the worst."""

_ALL_ROWS = 1_000
"""Points that the folded table of all has at most; chosen: a page of them is some 300 kB."""


def results(sweep: SweepTables, metrics: Sequence[Metric], by: Sequence[Factor]) -> list[str]:
    """The table of results, and folded below it all points, where the table has not all of them."""
    design, names = sweep.design, names_of(sweep)
    rows = rows_by(sweep, metrics, by)
    pooled = [names[factor.name] for factor in design.factors if factor not in by and len(factor.levels) > 1]
    title, note = "Estimates at each point", ""
    if pooled:
        title = f"Estimates by {listed([names[factor.name] for factor in by])}"
        note = f"Pooled over {listed(pooled)}: the mean over all levels, each with the same weight. "
    elif len(rows) > _ROWS:
        ranking = next((metric for metric in metrics if comparable(sweep, metric.name)), metrics[0])
        rows = _ends(rows, ranking)
        title = f"The points with the {_ENDS} best and the {_ENDS} worst values of {words(ranking)}"
    each = replications_of(rows)
    note += f"Below each: its 95 % interval over replications, n = {each}." if each != "1" else "One run each."
    sheet = _with_verdicts(sweep, _sheet(title, rows, by, metrics, names))
    parts = [page.table(sheet), page.paragraph(note, "note")]
    if len(rows) < len(design.points):
        parts.append(_all(sweep, metrics))
    return parts


def _all(sweep: SweepTables, metrics: Sequence[Metric]) -> str:
    points = len(sweep.design.points)
    if points > _ALL_ROWS:
        return page.paragraph(f"All {points:,} points are in the table estimates of the results folder.", "note")
    factors = sweep.design.factors
    sheet = _sheet("Estimates at each point", rows_by(sweep, metrics, factors), factors, metrics, names_of(sweep))
    return page.folded(f"All {plural(points, 'point')}", page.table(sheet, long=True)) + page.paragraph(
        f"The table of all {points:,} points is in the page itself, and left out on paper.", "note paper"
    )


def _sheet(
    title: str, rows: Sequence[Row], factors: Sequence[Factor], metrics: Sequence[Metric], names: Names
) -> Sheet:
    cells = [
        [*(level.label for level in row.levels), *(_told(metric, row.estimates[metric.name]) for metric in metrics)]
        for row in rows
    ]
    header = [*(names[factor.name] for factor in factors), *map(words, metrics)]
    return Sheet(title, header, cells, names=len(factors))


def _with_verdicts(sweep: SweepTables, sheet: Sheet) -> Sheet:
    """The table of a search has what it found of each value too."""
    verdicts = verdicts_of(sweep)
    if not verdicts:
        return sheet
    rows = [[*row, *verdicts.get(row[0], ["–", "–"])] for row in sheet.rows]
    return replace(sheet, header=[*sheet.header, "runs", "target"], rows=rows)


def _told(metric: Metric, estimate: Interval) -> str:
    """An estimate, and below it its interval."""
    ends = between(metric, estimate.low, estimate.high)
    return f"{shown(metric, estimate.mean)}\n{ends}" if ends else shown(metric, estimate.mean)


def factors_that_matter(sweep: SweepTables, metric: Metric) -> Sequence[Factor]:
    """The factors that the table has: all, or of a large factorial design those from which most variation comes."""
    design = sweep.design
    if len(design.points) <= _ROWS or design.kind != "full-factorial":
        return design.factors
    percent = dict(sources(sweep, metric))
    ranked = sorted(design.factors, key=lambda factor: -percent.get(factor.name, 0.0))
    chosen = [ranked[0]]
    for factor in ranked[1:]:
        fits = math.prod(len(each.levels) for each in (*chosen, factor)) <= _ROWS
        if fits and percent.get(factor.name, 0.0) >= _LEAST_PERCENT:
            chosen.append(factor)
    return [factor for factor in design.factors if factor in chosen]


def _ends(rows: Sequence[Row], metric: Metric) -> list[Row]:
    """The rows with the best and the worst estimates."""
    ranked = [row for row in rows if row.estimates[metric.name].mean is not None]
    ranked.sort(key=lambda row: row.estimates[metric.name].mean or 0.0, reverse=order(metric)[2])
    return [*ranked[:_ENDS], *ranked[-_ENDS:]] if len(ranked) > 2 * _ENDS else ranked
