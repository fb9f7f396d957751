"""The page of a sweep."""

import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from farweb.errors import FarwebError, ResultsError
from farweb.plot.replicated import words
from farweb.report import page
from farweb.report.answer import answer
from farweb.report.assumptions import assumptions, left_out
from farweb.report.estimated import factors_named
from farweb.report.naming import names_of
from farweb.report.page import Page, section
from farweb.report.path_drawing import draw_path, path_of, shape, span
from farweb.report.points import Point
from farweb.report.reproduction import command, inputs_sheet, manifest, scenario
from farweb.report.search import answer_of, command_of, metrics_of, question_of, warnings_of
from farweb.report.statistics import design_sentences, differences, variation, warmup
from farweb.report.sweep_points import sweep_points, where
from farweb.report.sweep_tables import factors_that_matter, results
from farweb.report.sweep_warnings import state, sweep_warnings
from farweb.report.warned import warned
from farweb.report.words import plural
from farweb.results.design import Factor
from farweb.results.metrics import Metric, find_metric
from farweb.results.sweep import SweepTables
from farweb.results.sweep_summary import MAIN
from farweb.text import toml
from farweb.text.quantities import count
from farweb.text.sheet import Sheet
from farweb.text.words import listed

if TYPE_CHECKING:
    from farweb.plot.chart import Chart

_DESIGNS = {
    "full-factorial": "full factorial design",
    "one-at-a-time": "one factor at a time",
    "latin-hypercube": "Latin hypercube",
    "search": "search",
}

_AGAINST = ("latency-load", "carried-offered", "buffer", "connections")
"""Figures that have a factor along their axis; all but the first are about the load."""

_OTHERS = ("effects", "cdf", "size-latency")
_FIGURES = 3
_LOAD = "workload.load"


def sweep_page(
    sweep: SweepTables,
    *,
    title: str | None = None,
    question: str | None = None,
    metrics: Sequence[str] = (),
    plots: Sequence[str] = (),
    by: Sequence[str] = (),
) -> Page:
    """The page of a sweep; see `farweb.report.report` for the arguments.

    Raises:
        FarwebError: There is no such metric, figure or factor.
        ResultsError: No run has ended yet.
    """
    if sweep.runs.is_empty():
        raise ResultsError(f"{sweep.path}: no run has ended yet, so there is nothing to report")
    wanted = _metrics(sweep, metrics)
    factors = factors_named(sweep.design, by) or factors_that_matter(sweep, wanted[0])
    points = sweep_points(sweep)
    asked = question or question_of(sweep) or _question(sweep, wanted)
    sections = [
        page.warnings(state(sweep)),
        section(
            "Answer",
            page.facts([*answer_of(sweep), *answer(sweep, _deciding(sweep, wanted, metrics))]),
            _intervals(sweep),
            kind="answer",
        ),
        section("Path", *_paths(points), _factors(sweep)),
        section("Results", *results(sweep, wanted, factors)),
        section("Figures", *map(page.figure, _charts(sweep, wanted[0], plots, factors))),
        section("What makes the difference", differences(sweep, wanted), variation(sweep, wanted)),
        _assumptions(sweep, wanted, list(points.values())),
        section("Warnings", _warnings(sweep, wanted, points)),
        _reproduction(sweep, title, question, metrics, plots, by),
    ]
    return Page(title or asked, asked if title else "", _subject(sweep), tuple(sections))


def _metrics(sweep: SweepTables, names: Sequence[str]) -> list[Metric]:
    """The metrics of the page: those asked for, or those that suit and of which there is anything to tell."""
    names = names or metrics_of(sweep)
    for name in names:
        sweep.values(name)  # refuses one that the runs do not have
    if names:
        return [find_metric(name) for name in dict.fromkeys(names)]
    told = [name for name in MAIN if _is_above_zero(sweep, name)]
    return [find_metric(name) for name in told or ["done"]]


_DECIDING = ("latency_p50_s", "latency_p90_s")
"""What answers a question that names no metric: how it feels as a rule, and how when it is slow."""


def _deciding(sweep: SweepTables, wanted: Sequence[Metric], asked: Sequence[str]) -> list[Metric]:
    """The metrics of the answer: that asked for or those that suit, and the share that failed where any request did."""
    chosen = [metric for metric in wanted if metric.name in _DECIDING and not asked] or [wanted[0]]
    failures = [find_metric("failed_share")] if _is_above_zero(sweep, "failed_share") else []
    return [*chosen, *(metric for metric in failures if metric not in chosen)]


def _is_above_zero(sweep: SweepTables, name: str) -> bool:
    """Whether a metric has a value that is not zero, in any run."""
    return name in sweep.metrics and bool(sweep.runs[name].drop_nulls().cast(float).abs().sum() > 0)


def _question(sweep: SweepTables, metrics: Sequence[Metric]) -> str:
    called = names_of(sweep)
    names = [called[factor.name] for factor in sweep.design.factors if len(factor.levels) > 1]
    if not names:
        return f"What is the {words(metrics[0])} of “{sweep.name}”?"
    return f"How does {words(metrics[0])} depend on {listed(names)}?"


def _subject(sweep: SweepTables) -> str:
    design = sweep.design
    return " · ".join(
        [
            sweep.name,
            _DESIGNS.get(design.kind, design.kind),
            f"{plural(len(design.points), 'point')} × {plural(design.replications, 'replication')}"
            if design.kind != "search"
            else plural(len(design.points), "point"),
            plural(len(sweep.runs), "run"),
            f"farweb {sweep.manifest['version']}",
        ]
    )


def _intervals(sweep: SweepTables) -> str:
    """What stands in brackets."""
    most = sweep.runs.group_by(sweep.points).len()["len"].max()
    return page.paragraph("In brackets: 95 % confidence intervals.", "note") if most != 1 else ""


def _paths(points: dict[int, Point]) -> list[str]:
    """A drawing for each shape of path that points have."""
    shapes: dict[tuple[Any, ...], list[Point]] = {}
    for each in points.values():
        shapes.setdefault(shape(each), []).append(each)
    drawn = []
    for alike in shapes.values():
        told = " ".join(str(alike[0].figures["text"]).split())
        drawing = draw_path(path_of(alike), f"The path, in words and as it is at {alike[0].label}: {told}")
        heading = plural(len(alike), "point")
        drawn.append(page.part(f"{heading}, such as {alike[0].label}", drawing) if len(shapes) > 1 else drawing)
    return drawn


def _factors(sweep: SweepTables) -> str:
    """What was varied."""
    given = (sweep.manifest["scenario"].get("sweep") or {}).get("factors") or {}
    names = names_of(sweep)
    rows = [[names[factor.name], factor.name, _levels(factor)] for factor in sweep.design.factors]
    sets = [
        f"{name} {level['level']}: {', '.join(f'{key} = {_set_to(value)}' for key, value in level['set'].items())}"
        for name, levels in given.items()
        if isinstance(levels, list)
        for level in levels
        if isinstance(level, dict) and "set" in level
    ]
    header = ["called here", "factor", "levels"]
    return page.table(Sheet("What was varied (in the drawing in colour)", header, rows, names=3)) + page.bullets(sets)


def _set_to(value: Any) -> str:
    """A value that a level sets: texts as they are, lists and tables as a scenario has them."""
    return value if isinstance(value, str) else toml.value(value)


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


def _assumptions(sweep: SweepTables, metrics: Sequence[Metric], points: Sequence[Point]) -> str:
    """What the numbers rest on and what they leave out."""
    said = [*assumptions(points), *design_sentences(sweep, metrics)] if points else design_sentences(sweep, metrics)
    out = page.part("What the models leave out", page.bullets(left_out(points)))
    return section("Assumptions", page.bullets(said), warmup(sweep), out)


def _warnings(sweep: SweepTables, metrics: Sequence[Metric], points: dict[int, Point]) -> str:
    said = [
        *sweep_warnings(sweep, metrics, warnings_of(sweep)),
        *warned(list(points.values()), lambda some: where(sweep, points, some)),
    ]
    return page.warnings(said) or page.paragraph("None.")


def _reproduction(
    sweep: SweepTables,
    title: str | None,
    question: str | None,
    metrics: Sequence[str],
    plots: Sequence[str],
    by: Sequence[str],
) -> str:
    """What it takes to have these numbers again."""
    folder = sweep.path.name
    lines = [
        command_of(sweep, folder)
        if "search" in sweep.manifest
        else f"farweb sweep scenario.toml --out {shlex.quote(folder)}",
        command(folder, title=title, question=question, metric=metrics, plot=plots, by=by),
    ]
    told = sweep.manifest
    facts = [
        ["farweb", str(told["version"])],
        ["result version", str(told.get("result_version", "–"))],
        ["seeds", _seeds(sweep)],
        ["runs", f"{count(len(sweep.runs))} of {count(told['runs'])}"],
    ]
    return section(
        "How to reproduce",
        page.paragraph(
            "The same scenario, seeds, request table and result version give the same tables, byte for byte. With the "
            "scenario below saved as scenario.toml beside its tables:"
        ),
        page.commands(lines),
        page.table(Sheet("What ran", ["", ""], facts)),
        page.table(inputs_sheet([told])),
        page.folded("Scenario, as a file", scenario(told)),
        page.folded("Manifest", manifest(told)),
        page.paragraph("Scenario and manifest are in the page itself, and left out on paper.", "note paper"),
    )


def _seeds(sweep: SweepTables) -> str:
    seeds = sorted(set(sweep.runs["seed"].to_list()))
    if len(seeds) > 1 and seeds[-1] - seeds[0] == len(seeds) - 1:
        return f"{seeds[0]} to {seeds[-1]}"
    return listed(list(map(str, seeds))) if len(seeds) <= 8 else f"{len(seeds):,}, in the table runs"
