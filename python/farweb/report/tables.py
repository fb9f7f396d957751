"""Tables of a sweep's page: estimates by levels, and warm-up."""

import math
from collections.abc import Sequence

import polars as pl

from farweb.paint import document
from farweb.report.findings import Row, interval_of, ranked, rows_by, sources
from farweb.report.words import Names, extent, names_of
from farweb.results.design import Factor
from farweb.results.metrics import Metric, words
from farweb.results.sweep import SweepTables
from farweb.results.sweep_warnings import comparable
from farweb.statistics.intervals import TWO, Estimate
from farweb.text.quantities import count, quantity, seconds
from farweb.text.sheet import Sheet
from farweb.text.words import listed, plural

_ROWS = 24
"""Rows that a table of results has at most; chosen: they fit on a page, and a reader can still compare them."""

_FACTOR_PERCENT = 1.0
"""Share of the variation from which a factor has a place in a table that not all have; chosen."""

_ENDS = 8
"""Best points, and worst points, of more than `_ROWS` that cannot be pooled."""

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
        note = f"Pooled over {listed(pooled)}: means over all levels. "
    elif len(rows) > _ROWS:
        ranking = next((metric for metric in metrics if comparable(sweep, metric.name)), metrics[0])
        in_order = ranked(rows, ranking)
        rows = [*in_order[:_ENDS], *in_order[max(_ENDS, len(in_order) - _ENDS) :]]
        title = f"The points with the {_ENDS} best and the {_ENDS} worst values of {words(ranking)}"
    repeats = extent((estimate.n for row in rows for estimate in row.estimates.values()), count)
    fixed = bool(sweep.fixed_points)
    units = "the log's time blocks" if fixed else f"{repeats} seeds"
    few = f"; {TWO}" if repeats == "2" and not fixed else ""
    note += f"Below each: its 95 % interval, of {units}{few}." if repeats != "1" else "One run each."
    sheet = _sheet(title, rows, by, metrics, names)
    parts = [document.table(sheet), document.paragraph(note, "note")]
    if len(rows) < len(design.points):
        parts.append(_all(sweep, metrics))
    return parts


def _all(sweep: SweepTables, metrics: Sequence[Metric]) -> str:
    points = len(sweep.design.points)
    if points > _ALL_ROWS:
        return document.paragraph(f"All {points:,} points are in the table estimates of the results folder.", "note")
    factors = sweep.design.factors
    sheet = _sheet("Estimates at each point", rows_by(sweep, metrics, factors), factors, metrics, names_of(sweep))
    return document.folded(f"All {plural(points, 'point')}", document.table(sheet, long=True)) + document.paragraph(
        f"The table of all {points:,} points is in the page itself, and left out on paper.", "note paper"
    )


def _sheet(
    title: str, rows: Sequence[Row], factors: Sequence[Factor], metrics: Sequence[Metric], names: Names
) -> Sheet:
    cells = [
        [*(level.label for level in row.levels), *(_cell(metric, row.estimates[metric.name]) for metric in metrics)]
        for row in rows
    ]
    header = [*(names[factor.name] for factor in factors), *map(words, metrics)]
    return Sheet(title, header, cells, names=len(factors))


def _cell(metric: Metric, estimate: Estimate) -> str:
    """An estimate, and below it its interval."""
    return f"{quantity(estimate.value, metric.unit)}\n{interval_of(metric, estimate)}".rstrip("\n")


def factors_that_matter(sweep: SweepTables, metric: Metric) -> Sequence[Factor]:
    """Factors of the table: all, or the most influential ones of a large factorial design."""
    design = sweep.design
    if len(design.points) <= _ROWS or design.kind != "full-factorial":
        return design.factors
    known = sources(sweep, metric)
    percent = {factor.name: 0.0 if known else 100.0 for factor in design.factors} | known
    by_percent = sorted(design.factors, key=lambda factor: -percent[factor.name])
    chosen = by_percent[:1]
    for factor in by_percent[1:]:
        fits = math.prod(len(each.levels) for each in (*chosen, factor)) <= _ROWS
        if fits and percent[factor.name] >= _FACTOR_PERCENT:
            chosen.append(factor)
    return [factor for factor in design.factors if factor in chosen]


def warmup(sweep: SweepTables) -> str:
    """Table of the time left out and measured of runs, and when latency settles."""
    done = sweep.runs.filter(pl.col("status") == "done")
    table = sweep.warmup()
    rows = [
        ["requests of a run", extent(done["requests"].drop_nulls(), count)],
        ["requests in the warm-up", extent(done["left_out"].drop_nulls(), count)],
        ["measured interval", extent(done["measured_s"].drop_nulls(), seconds)],
        ["simulated time", extent(done["simulated_s"].drop_nulls(), seconds)],
        ["latency settles after", extent(table.filter(pl.col("steady"))["truncated_s"].drop_nulls(), seconds)],
    ]
    restless = table.filter(~pl.col("steady")).height
    if restless:
        rows.append(["points without a steady state", f"{restless:,} of {table.height:,}"])
    return document.table(Sheet("Warm-up and measurement", ["", ""], [row for row in rows if row[1]]))
