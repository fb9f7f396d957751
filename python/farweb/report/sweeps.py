"""The page of a sweep."""

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from farweb.errors import FarwebError, ResultsError
from farweb.plot.replicated import words
from farweb.report import page
from farweb.report.answer import Search, answer, judgements
from farweb.report.page import Page, section
from farweb.report.path import span
from farweb.report.points import Point, sweep_points, which
from farweb.report.sections import Asked, paths, reproduction, rests_on, warnings
from farweb.report.tables import differences, factors_that_matter, results, variation, warmup
from farweb.report.words import names_of, tunnels
from farweb.results.design import KINDS, Factor
from farweb.results.judged import deciding, levels_judged
from farweb.results.metrics import Metric, find_metric
from farweb.results.sweep import SweepTables
from farweb.results.sweep_summary import MAIN, tunnel_shares
from farweb.results.sweep_warnings import warnings_of
from farweb.statistics.intervals import TWO
from farweb.text import toml
from farweb.text.quantities import count
from farweb.text.sheet import Sheet
from farweb.text.words import capital, listed, named, plural, ranged

if TYPE_CHECKING:
    from farweb.plot.chart import Chart

_AGAINST = ("latency-load", "carried-offered", "buffer", "connections")
"""Figures that have a factor along their axis; all but the first are about the load."""

_OTHERS = ("effects", "cdf", "size-latency")
_FIGURES = 3
_LOAD = "workload.load"
_ERRORS = 3  # chosen: different errors listed; more are rarely different causes

_DECIDING = ("latency_p50_s", "latency_p90_s")
"""Metrics that answer a question without one: how it feels as a rule, and how when it is slow."""


def sweep_page(sweep: SweepTables, asked: Asked) -> Page:
    """The page of a sweep.

    Raises:
        FarwebError: There is no such metric, figure or factor.
        ResultsError: No run has ended yet.
    """
    if sweep.runs.is_empty():
        raise ResultsError(f"{sweep.path}: no run has ended yet, so there is nothing to report")
    search = Search(sweep)
    metrics = _metrics(sweep, asked.metrics or search.metrics)
    main = metrics[0]
    factors = sweep.design.chosen(asked.by) or factors_that_matter(sweep, main)
    points = sweep_points(sweep)
    there = list(points.values())
    judged, why_not = levels_judged(sweep, deciding(asked.metrics))
    checked = answer(sweep, _deciding(sweep, metrics, asked.metrics))
    load = tunnels(tunnel_shares(sweep) or ())
    facts = [*search.answer(), *judgements(sweep, judged, why_not), *checked, *load]
    replicated = sweep.points.value_counts()["count"].max() != 1
    few = f", of {TWO}" if sweep.points.value_counts()["count"].max() == 2 else ""
    brackets = page.paragraph(f"In brackets: 95 % confidence intervals{few}.", "note") if replicated else ""
    sections = [
        page.warnings(_state(sweep)),
        section("Answer", page.facts(facts), brackets, kind="answer"),
        section("Path", *paths(there, _called), _factors(sweep)),
        section("Results", *results(sweep, metrics, factors)),
        section("Figures", *map(page.figure, _charts(sweep, main, asked.plots, factors))),
        section("What makes the difference", differences(sweep, main), variation(sweep, main)),
        rests_on(there, _design_sentences(sweep, metrics), warmup(sweep)),
        warnings(_warnings(sweep, metrics, search), there, lambda some: which(sweep, points, some)),
        _reproduction(sweep, asked, search),
    ]
    return asked.page(
        search.question or _question(sweep, metrics), _subject(sweep), sections, [each.to_dict() for each in judged]
    )


def _metrics(sweep: SweepTables, names: Sequence[str]) -> list[Metric]:
    """The metrics of the page: those named, or those that suit and have a value but zero."""
    for name in names:
        sweep.values(name)  # refuses one that the runs do not have
    names = names or [name for name in MAIN if _is_above_zero(sweep, name)] or ["done"]
    return [find_metric(name) for name in dict.fromkeys(names)]


def _deciding(sweep: SweepTables, wanted: Sequence[Metric], asked: Sequence[str]) -> list[Metric]:
    """The metrics of the answer: that asked for or those that suit, and the share that failed where any request did."""
    chosen = [metric for metric in wanted if metric.name in _DECIDING and not asked] or [wanted[0]]
    failures = [find_metric("failed_share")] if _is_above_zero(sweep, "failed_share") else []
    return [*chosen, *(metric for metric in failures if metric not in chosen)]


def _is_above_zero(sweep: SweepTables, name: str) -> bool:
    """True where a metric has a value that is not zero, in any run."""
    return name in sweep.metrics and bool(sweep.runs[name].drop_nulls().cast(float).abs().sum() > 0)


def _state(sweep: SweepTables) -> list[str]:
    """Notes that stand before anything else: the sweep has not ended, or runs failed."""
    planned, ended = sweep.manifest["runs"], len(sweep.runs)
    failed = int((sweep.runs["status"] == "failed").sum())
    unfinished = (
        f"This sweep is not finished: {ended:,} of {planned:,} runs have ended. Numbers are of these, and will change."
    )
    without = f"{plural(failed, 'run')} of {ended:,} failed. Numbers are of the others."
    return [*([] if sweep.complete else [unfinished]), *([without] if failed else [])]


def _question(sweep: SweepTables, metrics: Sequence[Metric]) -> str:
    called = names_of(sweep)
    names = [called[factor.name] for factor in sweep.design.factors if len(factor.levels) > 1]
    if not names:
        return f"What is the {words(metrics[0])} of “{sweep.name}”?"
    return f"How does {words(metrics[0])} depend on {listed(names)}?"


def _subject(sweep: SweepTables) -> str:
    design, runs = sweep.design, plural(len(sweep.runs), "run")
    points = plural(len(design.points), "point")
    if design.kind != "search":
        points += f" × {plural(design.replications, 'replication')}"
    return " · ".join([sweep.name, KINDS[design.kind], points, runs, f"farweb {sweep.manifest['version']}"])


def _called(points: Sequence[Point]) -> str:
    """Name of points in a drawing of them all."""
    such_as = f", such as {points[0].label}" if points[0].label else ""
    return plural(len(points), "point") + such_as


def _factors(sweep: SweepTables) -> str:
    """Table of what was varied."""
    given = (sweep.manifest["scenario"].get("sweep") or {}).get("factors") or {}
    names = names_of(sweep)
    rows = [[names[factor.name], factor.name, _levels(factor)] for factor in sweep.design.factors]
    sets = []
    for name, levels in given.items():
        for level in levels if isinstance(levels, list) else ():
            if isinstance(level, dict) and "set" in level:
                values = [
                    f"{key} = {value if isinstance(value, str) else toml.value(value)}"
                    for key, value in level["set"].items()
                ]
                sets.append(f"{named(name, str(level['level']))}: {', '.join(values) or 'as the scenario has it'}")
    header = ["called here", "factor", "levels"]
    return page.table(Sheet("What was varied", header, rows, names=3)) + page.bullets(sets)


def _levels(factor: Factor) -> str:
    labels = [level.label for level in factor.levels]
    return ", ".join(labels) if len(labels) <= 12 else f"{span(labels)}, {len(labels)} values"


def _charts(sweep: SweepTables, metric: Metric, plots: Sequence[str], factors: Sequence[Factor]) -> "list[Chart]":
    """The figures that were asked for; else three that the design allows, first those that have an axis of it."""
    if plots:
        return [_chart(sweep, name, metric, factors) for name in plots]
    charts: list[Chart] = []
    has_load = any(factor.name == _LOAD and len(factor.levels) > 1 for factor in sweep.design.factors)
    for name in (*(_AGAINST if has_load else _AGAINST[:1]), *_OTHERS):
        room = _FIGURES - 1 if name in _AGAINST else _FIGURES
        if len(charts) < room:
            try:
                charts.append(_chart(sweep, name, metric, factors))
            except FarwebError:  # the design does not have what the figure shows
                continue
    return charts


def _chart(sweep: SweepTables, name: str, metric: Metric, factors: Sequence[Factor]) -> "Chart":
    """A figure, of the main metric and by the factors of the table as far as it has these options."""
    from farweb.plot import FIGURES, draw

    options = FIGURES[name].options if name in FIGURES else ()
    by = None
    if "by" in options and len(factors) < len(sweep.design.factors):
        by = [factor.name for factor in factors if factor.name != _LOAD]  # which is along the axis
    return draw(name, [sweep], by=by, metric=metric.name if "metric" in options else None)


def _design_sentences(sweep: SweepTables, metrics: Sequence[Metric]) -> list[str]:
    """Seeds, and what intervals rest on."""
    said = ["Every run has a seed of its own; runs are independent of each other."]
    if sweep.design.random_numbers == "common":
        said = [
            "Replication r has the same seed at every point (common random numbers): points meet the same chance, so "
            "that differences between them, taken by replication, are surer than the points are by themselves."
        ]
    estimates = sweep.estimates([metric.name for metric in metrics])
    made = set(estimates.filter(pl.col("interval_of") == "replications")["method"].to_list())
    used = [name for method, name in _METHODS.items() if method in made]
    if used:
        said.append(
            "Intervals are 95 % confidence intervals over replications, which are independent of each other "
            f"({listed(used)}): they say how far chance moves a number, not how far the models are from a real network."
        )
    if "blocks" in set(estimates["interval_of"].to_list()):
        said.append(
            "Intervals of latencies and failures are 95 % confidence intervals of blocks of the log's time, which each "
            "replication repeats; other numbers of this log, and means over several points, have none."
        )
    return said


_METHODS = {"student": "Student's t", "bootstrap": "of quantiles at a point, a bootstrap of the replications"}


def _warnings(sweep: SweepTables, metrics: Sequence[Metric], search: Search) -> list[str]:
    """Warnings about the numbers, and the errors of runs that failed."""
    said = [*search.warnings, *warnings_of(sweep, [metric.name for metric in metrics])]
    # Keys of scenarios and names of metrics keep their small letters.
    sentences = [f"{capital(text) if text.partition(' ')[0].isalpha() else text}." for text in said]
    failed = sweep.runs.filter(pl.col("status") == "failed")
    errors = failed.group_by("error", maintain_order=True).len().sort("len", descending=True, maintain_order=True)
    sentences += [f"{plural(number, 'run')} failed: {error}" for error, number in errors.head(_ERRORS).iter_rows()]
    if errors.height > _ERRORS:
        sentences.append(f"There are {errors.height - _ERRORS} other errors; the table runs has them all.")
    return sentences


def _reproduction(sweep: SweepTables, asked: Asked, search: Search) -> str:
    folder, manifest = sweep.path.name, sweep.manifest
    made = search.command() if "search" in manifest else f"farweb sweep scenario.toml --out {shlex.quote(folder)}"
    ran = [
        ["farweb", str(manifest["version"])],
        ["result version", str(manifest.get("result_version", "–"))],
        ["seeds", ranged(sorted(set(sweep.runs["seed"].to_list())))],
        ["runs", f"{count(len(sweep.runs))} of {count(manifest['runs'])}"],
    ]
    return reproduction([made, asked.command(folder)], Sheet("What ran", ["", ""], ran), [("", manifest)])
