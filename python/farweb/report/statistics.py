"""Differences, allocation of variation and warm-up of a sweep as small tables, and how they were made in sentences."""

from collections.abc import Callable, Sequence

import polars as pl

from farweb.plot.replicated import words
from farweb.report import page
from farweb.report.answer import CHANCE, sources
from farweb.report.comparisons import Change, changes
from farweb.report.naming import names_of, term
from farweb.report.words import change, change_between, percent
from farweb.results.cautions import comparable
from farweb.results.metrics import Metric
from farweb.results.sweep import SweepTables
from farweb.text.quantities import count, seconds
from farweb.text.sheet import Sheet
from farweb.text.words import listed

_LEAST_PERCENT = 0.1
"""Of the variation, that a source has to have to be in the table by itself; chosen."""


def differences(sweep: SweepTables, metrics: Sequence[Metric]) -> str:
    """What each level makes of the main metric, against the first level of its factor."""
    metric = metrics[0]
    found = changes(sweep, metric) if comparable(sweep, metric.name) else []
    if not found:
        return ""
    names = names_of(sweep)
    rows = [[names[each.factor], f"{each.level} instead of {each.base}", *_cells(metric, each)] for each in found]
    header = ["factor", "level", "difference", "95 % interval", "relative", "judgement"]
    note = (
        "Averaged over all pairs of points that differ in nothing else, by replication. Real: the interval leaves zero "
        "out. Each is judged by itself at 95 %: of twenty that are none, one looks real."
    )
    if metric.kind == "quantile":
        note += (
            " Differences are between the quantiles of single runs; estimates are quantiles of the requests of all "
            "replications together, so that of few requests the two need not agree."
        )
    sheet = Sheet(f"Differences in {words(metric)}", header, rows, names=2)
    return page.table(sheet) + page.paragraph(note, "note")


def _cells(metric: Metric, each: Change) -> list[str]:
    return [
        change(metric, each.mean),
        change_between(metric, each.low, each.high) or "–",
        percent(each.percent),
        "none" if not each.is_judged else "real" if each.is_real else "not distinguishable",
    ]


def variation(sweep: SweepTables, metrics: Sequence[Metric]) -> str:
    """Where the variation of the main metric comes from."""
    metric, names = metrics[0], names_of(sweep)
    if not comparable(sweep, metric.name):
        return page.paragraph(
            f"The {words(metric)} is of the requests that ended, not the same share of all at each point: levels are "
            "not compared by it, nor is its variation allocated.",
            "note",
        )
    terms = {row["term"]: row for row in sweep.effects([metric.name]).iter_rows(named=True)}
    rows, rest = [], 0.0
    for name, part in sources(sweep, metric):
        if part < _LEAST_PERCENT and name not in CHANCE:
            rest += part
            continue
        rows.append([term(names, name), f"{part:.1f} %", _test(terms[name]["f"]), _chance(terms[name]["p"])])
    if rest:
        rows.append(["all others together", f"{rest:.1f} %", "–", "–"])
    return page.table(Sheet(f"Where the variation of {words(metric)} comes from", ["source", "share", "F", "p"], rows))


def _test(f: float | None) -> str:
    return "–" if f is None else f"{f:,.3g}" if f < 1000 else f"{f:,.0f}"


def _chance(p: float | None) -> str:
    return "–" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"


def design_sentences(sweep: SweepTables, metrics: Sequence[Metric]) -> list[str]:
    """How the points were chosen and repeated, and what intervals rest on."""
    design = sweep.design
    methods = set(sweep.estimates([metric.name for metric in metrics])["method"].to_list())
    said = []
    if design.random_numbers == "common":
        said.append(
            "Replication r has the same seed at every point (common random numbers): points meet the same chance, so "
            "that differences between them, taken by replication, are surer than the points are by themselves."
        )
    else:
        said.append("Every run has a seed of its own; runs are independent of each other.")
    used = [told for method, told in _METHODS.items() if method in methods]
    if used:
        said.append(
            "Intervals are 95 % confidence intervals over replications, which are independent of each other "
            f"({listed(used)}): they say how far chance moves a number, not how far the models are from a real network."
        )
    return said


_METHODS = {"student": "Student's t", "bootstrap": "of quantiles at a point, a bootstrap of the replications"}


def warmup(sweep: SweepTables) -> str:
    """What was left out and measured of each run, and what the runs themselves say should be left out."""
    done = sweep.runs.filter(pl.col("status") == "done")
    table = sweep.warmup()
    rows = [
        ["requests of a run", _range(done["requests"], count)],
        ["requests left out (warm-up)", _range(done["left_out"], count)],
        ["measured interval", _range(done["measured_s"], seconds)],
        ["simulated time", _range(done["simulated_s"], seconds)],
        ["warm-up that MSER-5 advises", _range(table.filter(pl.col("steady"))["truncated_s"], seconds)],
    ]
    restless = table.filter(~pl.col("steady")).height
    if restless:
        rows.append(["points without a steady state", f"{restless:,} of {table.height:,}"])
    return page.table(Sheet("Warm-up and measurement", ["", ""], [row for row in rows if row[1]]))


def _range(values: pl.Series, say: Callable[[float], str]) -> str:
    """From the smallest to the largest; nothing when there is none."""
    given = values.drop_nulls()
    if given.is_empty():
        return ""
    low, high = say(float(given.min())), say(float(given.max()))  # type: ignore[arg-type]
    return low if low == high else f"{low} to {high}"
