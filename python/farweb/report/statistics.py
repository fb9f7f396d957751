"""Differences, allocation of variation and warm-up of a sweep as small tables, and how they were made in sentences."""

from collections.abc import Sequence

import polars as pl

from farweb.metrics import Metric
from farweb.plot.replicated import words
from farweb.quantities import seconds, share
from farweb.report import page
from farweb.report.comparisons import Change, changes
from farweb.report.words import between, shown
from farweb.sheet import Sheet
from farweb.sweep.results import SweepResults

_TERMS = 10
"""Sources that the table of variation has at most; the rest is small by then."""


def differences(sweep: SweepResults, metrics: Sequence[Metric]) -> str:
    """What each level makes of the main metric, against the first level of its factor."""
    metric = metrics[0]
    found = changes(sweep, metric)
    if not found:
        return ""
    rows = [[each.factor, f"{each.level} instead of {each.base}", *_cells(metric, each)] for each in found]
    header = ["factor", "level", "difference", "95 % interval", "in percent", ""]
    note = (
        "Averaged over all pairs of points that differ in nothing else, by replication. Real: the interval leaves zero "
        "out. Each is judged by itself at 95 %: of twenty that are none, one looks real."
    )
    sheet = Sheet(f"Differences in {words(metric)}", header, rows, names=2)
    return page.table(sheet) + page.paragraph(note, "note")


def _cells(metric: Metric, change: Change) -> list[str]:
    sign = "+" if change.mean > 0 else ""
    return [
        f"{sign}{shown(metric, change.mean)}",
        between(metric, change.low, change.high) or "–",
        f"{change.percent:+.3g} %" if change.percent is not None else "–",
        "" if not change.is_judged else "real" if change.is_real else "not distinguishable",
    ]


def variation(sweep: SweepResults, metrics: Sequence[Metric]) -> str:
    """Where the variation of the main metric comes from."""
    metric = metrics[0]
    terms = sweep.effects([metric.name]).filter(pl.col("percent").is_not_null())
    if terms.is_empty():
        return ""
    ranked = terms.sort(pl.col("percent"), descending=True, maintain_order=True).head(_TERMS)
    rows = [
        [str(row["term"]), share(row["percent"] / 100), _test(row["f"]), _chance(row["p"])]
        for row in ranked.iter_rows(named=True)
    ]
    return page.table(Sheet(f"Variation of {words(metric)}", ["source", "share", "F", "p"], rows))


def _test(f: float | None) -> str:
    return "–" if f is None else f"{f:,.3g}" if f < 1000 else f"{f:,.0f}"


def _chance(p: float | None) -> str:
    return "–" if p is None else "< 0.001" if p < 0.001 else f"{p:.3f}"


def design_sentences(sweep: SweepResults, metrics: Sequence[Metric]) -> list[str]:
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
    if "student" in methods:
        said.append(
            "Intervals are 95 % confidence intervals over replications (Student's t), which are independent of each other: "
            "they say how far chance moves a number, not how far the models are from a real network."
        )
    if "bootstrap" in methods:
        said.append("Those of quantiles at a point are by bootstrap of the replications' requests.")
    return said


def warmup(sweep: SweepResults) -> str:
    """What the runs themselves say about the warm-up that they should have had."""
    return ""


__all__ = ["design_sentences", "differences", "seconds", "variation", "warmup"]
