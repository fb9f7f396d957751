"""Tables of a sweep's page: estimates by levels, differences, allocation of variation, warm-up."""

import math
from collections.abc import Sequence
from dataclasses import replace

import polars as pl

from farweb.plot.replicated import words
from farweb.report import page
from farweb.report.answer import Search
from farweb.report.findings import CHANCE, Row, changes, interval_of, ranked, rows_by, sources
from farweb.report.words import Names, extent, names_of, term
from farweb.results.design import Factor
from farweb.results.metrics import Metric
from farweb.results.sweep import SweepTables
from farweb.results.sweep_warnings import comparable
from farweb.statistics.intervals import TWO, Interval
from farweb.text.quantities import count, difference, interval, number, quantity, relative, seconds
from farweb.text.sheet import Sheet
from farweb.text.words import listed, plural

_ROWS = 24
"""Rows that a table of results has at most; chosen: they fit on a page, and a reader can still compare them."""

_FACTOR_PERCENT = 1.0
"""Share of the variation from which a factor has a place in a table that not all have; chosen."""

_SOURCE_PERCENT = 0.1
"""Share of the variation from which a source is in the table by itself; chosen."""

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
        note = f"Pooled over {listed(pooled)}: the mean over all levels, each with the same weight. "
    elif len(rows) > _ROWS:
        ranking = next((metric for metric in metrics if comparable(sweep, metric.name)), metrics[0])
        in_order = ranked(rows, ranking)
        rows = [*in_order[:_ENDS], *in_order[max(_ENDS, len(in_order) - _ENDS) :]]
        title = f"The points with the {_ENDS} best and the {_ENDS} worst values of {words(ranking)}"
    repeats = extent((estimate.n for row in rows for estimate in row.estimates.values()), count)
    fixed = bool(sweep.fixed_points)
    units = "blocks of this log's time, where it has one" if fixed else "replications"
    few = f"; of {TWO}" if repeats == "2" and not fixed else ""
    note += f"Below each: its 95 % interval over {units}, n = {repeats}{few}." if repeats != "1" else "One run each."
    sheet = _sheet(title, rows, by, metrics, names)
    if verdicts := Search(sweep).verdicts:
        cells = [[*row, *verdicts.get(row[0], ["–", "–"])] for row in sheet.rows]
        sheet = replace(sheet, header=[*sheet.header, "runs", "target"], rows=cells)
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
        [*(level.label for level in row.levels), *(_cell(metric, row.estimates[metric.name]) for metric in metrics)]
        for row in rows
    ]
    header = [*(names[factor.name] for factor in factors), *map(words, metrics)]
    return Sheet(title, header, cells, names=len(factors))


def _cell(metric: Metric, estimate: Interval) -> str:
    """An estimate, and below it its interval."""
    return f"{quantity(estimate.mean, metric.unit)}\n{interval_of(metric, estimate)}".rstrip("\n")


def factors_that_matter(sweep: SweepTables, metric: Metric) -> Sequence[Factor]:
    """The factors that the table has: all, or of a large factorial design those from which most variation comes."""
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


def differences(sweep: SweepTables, metric: Metric) -> str:
    """Table of the differences that each level makes, against the first level of its factor."""
    found = changes(sweep, metric) if comparable(sweep, metric.name) else []
    if not found:
        return ""
    names = names_of(sweep)
    rows = [
        [
            names[each.factor],
            each.levels,
            "failures decide" if math.isinf(each.mean) else difference(each.mean, metric.unit),
            interval(each.low, each.high, metric.unit, signed=True) or "–",
            relative(each.percent),
            "–" if not each.is_judged else "no" if each.is_real else "yes",
        ]
        for each in found
    ]
    header = ["factor", "level", "difference", "95 % interval", "relative", "interval has 0"]
    note = (
        "Averaged over all pairs of points that differ in nothing else, by replication. Each interval is at 95 %: of "
        "twenty differences that are none, one leaves 0 out. Better and worse are judged in the answer."
    )
    if metric.kind == "quantile":
        note += " Differences are per run, results over all runs: they can disagree."
    sheet = Sheet(f"Differences in {words(metric)}", header, rows, names=2)
    return page.table(sheet) + page.paragraph(note, "note")


def variation(sweep: SweepTables, metric: Metric) -> str:
    """Table of the sources of variation."""
    names = names_of(sweep)
    if not comparable(sweep, metric.name):
        return page.paragraph(
            f"The {words(metric)} is of the requests that ended, not the same share of all at each point: levels are "
            "not compared by it, nor is its variation allocated.",
            "note",
        )
    tests = {row["term"]: row for row in sweep.effects([metric.name]).iter_rows(named=True)}
    rows, rest = [], 0.0
    for name, part in sources(sweep, metric).items():
        if part < _SOURCE_PERCENT and name not in CHANCE:
            rest += part
        else:
            rows.append([term(names, name), f"{part:.1f} %", number(tests[name]["f"]), _chance(tests[name]["p"])])
    if rest:
        rows.append(["all others together", f"{rest:.1f} %", "–", "–"])
    return page.table(Sheet(f"Where the variation of {words(metric)} comes from", ["source", "share", "F", "p"], rows))


def _chance(p: float | None) -> str:
    return "–" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"


def warmup(sweep: SweepTables) -> str:
    """Table of what was left out and measured of runs, and when latency settles."""
    done = sweep.runs.filter(pl.col("status") == "done")
    table = sweep.warmup()
    rows = [
        ["requests of a run", extent(done["requests"].drop_nulls(), count)],
        ["requests left out (warm-up)", extent(done["left_out"].drop_nulls(), count)],
        ["measured interval", extent(done["measured_s"].drop_nulls(), seconds)],
        ["simulated time", extent(done["simulated_s"].drop_nulls(), seconds)],
        ["latency settles after", extent(table.filter(pl.col("steady"))["truncated_s"].drop_nulls(), seconds)],
    ]
    restless = table.filter(~pl.col("steady")).height
    if restless:
        rows.append(["points without a steady state", f"{restless:,} of {table.height:,}"])
    return page.table(Sheet("Warm-up and measurement", ["", ""], [row for row in rows if row[1]]))
