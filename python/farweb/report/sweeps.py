"""The page of a sweep."""

import shlex
from collections.abc import Sequence

import polars as pl

from farweb.errors import FarwebError
from farweb.judge.judgement import DECIDING
from farweb.judge.units import is_quantity
from farweb.paint import document
from farweb.paint.document import Page, section
from farweb.paint.figure import Figure
from farweb.report.findings import ends_of, ranked, rows_by
from farweb.report.path import span
from farweb.report.points import Point, sweep_points, which
from farweb.report.sections import Asked, first_screen, paths, reproduction, rests_on, tunnels, warnings
from farweb.report.tables import factors_that_matter, results, warmup
from farweb.report.words import at, names_of
from farweb.results.design import KINDS, Factor
from farweb.results.metrics import Metric, find_metric, words
from farweb.results.sweep import SweepTables
from farweb.results.sweep_warnings import comparable, warnings_of
from farweb.size.screen import screen as size_screen
from farweb.size.tried import Numbers
from farweb.summary.screen import screen
from farweb.summary.sweep import MAIN, SweepSummary, summarize
from farweb.text import toml
from farweb.text.quantities import quantity
from farweb.text.sheet import Part, Sheet
from farweb.text.words import capital, listed, named, plural, ranged

_AGAINST = ("latency-load", "carried-offered", "buffer", "connections")
"""Figures that have a factor along their axis; all but the first are about the load."""

_OTHERS = ("effects", "cdf", "size-latency")
_FIGURES = 3
_LOAD = "workload.load"
_ERRORS = 3  # chosen: different errors listed; more are rarely different causes


def sweep_page(sweep: SweepTables, asked: Asked) -> Page:
    """The page of a sweep.

    Raises:
        FarwebError: There is no such metric, figure or factor.
        ResultsError: No run has ended yet.
        RunError: All that have ended failed.
    """
    sweep.require_done()
    found = _answer_of_search(sweep)
    metrics = _metrics(sweep, asked.metrics or _metrics_of(found))
    main = metrics[0]
    factors = sweep.design.chosen(asked.by) or factors_that_matter(sweep, main)
    points = sweep_points(sweep)
    there = list(points.values())
    summary = summarize(sweep, [metric.name for metric in metrics], None, decide=asked.metrics)
    figures = _figures(sweep, main, asked, factors)
    shown = results(sweep, metrics, factors) if found is None or asked.metrics else []
    warned = [*(found.warnings if found else ()), *_warnings(sweep, metrics)]
    sections = [
        document.warnings(_state(sweep)),
        first_screen(_answer(sweep, summary, found, main), figures[:1], paths(there, _called)),
        _factors(sweep),
        section("Results", *shown, document.table(summary.sheets()["variation"])),
        section("Figures", *map(document.figure, figures[1:])),
        rests_on(there, [*_design_sentences(sweep, metrics), *tunnels(summary.tunnel_shares or ())], warmup(sweep)),
        warnings(warned, there, lambda some: which(sweep, points, some)),
        _reproduction(sweep, asked, found),
    ]
    question = _question(sweep, metrics)
    return asked.page(question, _subject(sweep), sections, [each.to_dict() for each in summary.judged])


def _answer_of_search(sweep: SweepTables) -> Numbers | None:
    """The answer of `farweb size`; None of another sweep, and before it has one."""
    found = (sweep.manifest.get("search") or {}).get("answer")
    return Numbers.of_dict(found) if found else None


def _metrics_of(found: Numbers | None) -> list[str]:
    """Metrics of the target."""
    return list(dict.fromkeys(each.metric for each in found.curve[0].estimates)) if found else []


def _answer(sweep: SweepTables, summary: SweepSummary, found: Numbers | None, main: Metric) -> list[Part]:
    """The screen of `size`, or of `show` without the estimates that `results` has."""
    if found is not None:
        return list(size_screen(found, details=True).parts)
    is_judged = summary.ranking is not None and (is_quantity(main.name) or main.name in DECIDING)
    ends = [] if is_judged else _ends(sweep, main)
    shown = screen(summary).parts[0 if summary.ranking else 1 :]
    return [
        *(ends or [f"{summary.name}: {plural(len(summary.design.points), 'point')}"] if not is_judged else []),
        *(part for part in shown if not isinstance(part, tuple)),
        *summary.notes,
    ]


def _ends(sweep: SweepTables, metric: Metric) -> list[str]:
    """The best and the worst point by a metric that does not judge; nothing where all are alike."""
    rows = ranked(rows_by(sweep, [metric], sweep.design.factors), metric) if comparable(sweep, metric.name) else []
    if len({row.estimates[metric.name].value for row in rows}) < 2:
        return []
    names, (first, last, _) = names_of(sweep), ends_of(metric)
    best, worst = (
        f"{quantity(row.estimates[metric.name].value, metric.unit)} at {at(names, sweep.design.factors, row.levels)}"
        for row in (rows[0], rows[-1])
    )
    return [f"{first} {words(metric)}: {best}; {last}: {worst}."]


def _metrics(sweep: SweepTables, names: Sequence[str]) -> list[Metric]:
    """The metrics of the page: the named ones, or the default ones with a value but zero."""
    for name in names:
        sweep.values(name)  # refuses one that the runs do not have
    names = names or [name for name in MAIN if _is_above_zero(sweep, name)] or ["done"]
    return [find_metric(name) for name in dict.fromkeys(names)]


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
    if search := sweep.manifest.get("search"):
        key = called.get(search["key"], search["key"])
        return f"What is the {'largest' if search['largest'] else 'smallest'} {key} with {search['target']}?"
    names = [called[factor.name] for factor in sweep.design.factors if len(factor.levels) > 1]
    if not names:
        return f"What is the {words(metrics[0])} of “{sweep.name}”?"
    return f"How does {words(metrics[0])} depend on {listed(names)}?"


def _subject(sweep: SweepTables) -> str:
    design, runs = sweep.design, plural(len(sweep.runs), "run")
    points = plural(len(design.points), "point")
    if design.kind != "search":
        points += f" × {plural(design.replications, 'seed')}"
    seeds = f"seeds {ranged(sorted(set(sweep.runs['seed'].to_list())))}"
    return " · ".join([sweep.name, KINDS[design.kind], points, runs, seeds, f"farweb {sweep.manifest['version']}"])


def _called(points: Sequence[Point]) -> str:
    """Name of points in a drawing of them all."""
    such_as = f", such as {points[0].label}" if points[0].label else ""
    return plural(len(points), "point") + such_as


def _factors(sweep: SweepTables) -> str:
    """Table of the factors."""
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
    return document.table(Sheet("What was varied", header, rows, names=3)) + document.bullets(sets)


def _levels(factor: Factor) -> str:
    labels = [level.label for level in factor.levels]
    return ", ".join(labels) if len(labels) <= 12 else f"{span(labels)}, {len(labels)} values"


def _figures(sweep: SweepTables, main: Metric, asked: Asked, factors: Sequence[Factor]) -> list[Figure]:
    """The figures asked for; else three that the design allows, first figures with an axis of it."""

    def figure(name: str) -> Figure:
        # A metric that was not asked for decides nothing: effects are judged as in the table above.
        metric = None if name == "effects" and not asked.metrics else main.name
        return _figure(sweep, name, metric, factors)

    if asked.plots:
        return [figure(name) for name in asked.plots]
    found: list[Figure] = []
    has_load = any(factor.name == _LOAD and len(factor.levels) > 1 for factor in sweep.design.factors)
    for name in (*(_AGAINST if has_load else _AGAINST[:1]), *_OTHERS):
        room = _FIGURES - 1 if name in _AGAINST else _FIGURES
        if len(found) < room:
            try:
                found.append(figure(name))
            except FarwebError:  # the design does not have what the figure shows
                continue
    return found


def _figure(sweep: SweepTables, name: str, metric: str | None, factors: Sequence[Factor]) -> Figure:
    """A figure, of a metric and by the factors of the table as far as it has these options."""
    from farweb.plot import FIGURES, describe

    options = FIGURES[name].options if name in FIGURES else ()
    by = None
    if "by" in options and len(factors) < len(sweep.design.factors):
        by = [factor.name for factor in factors if factor.name != _LOAD]  # which is along the axis
    return describe(name, [sweep], by=by, metric=metric if "metric" in options else None)


def _design_sentences(sweep: SweepTables, metrics: Sequence[Metric]) -> list[str]:
    """Seeds, and the basis of intervals."""
    is_common = sweep.design.random_numbers == "common"
    said = ["Same seeds at every point: differences are taken by seed." if is_common else "Every run has its own seed."]
    origins = set(sweep.estimates([metric.name for metric in metrics])["interval_of"].to_list())
    if "replications" in origins:
        said.append("Intervals: 95 %, over seeds. They show chance, not the distance of the models from a network.")
    if "blocks" in origins:
        said.append("Intervals of latencies and failures: 95 %, of time blocks of the log; other numbers have none.")
    return said


def _warnings(sweep: SweepTables, metrics: Sequence[Metric]) -> list[str]:
    """Warnings about the numbers, and the errors of runs that failed."""
    said = warnings_of(sweep, [metric.name for metric in metrics])
    # Keys of scenarios and names of metrics keep their small letters.
    sentences = [f"{capital(text) if text.partition(' ')[0].isalpha() else text}." for text in said]
    failed = sweep.runs.filter(pl.col("status") == "failed")
    errors = failed.group_by("error", maintain_order=True).len().sort("len", descending=True, maintain_order=True)
    sentences += [f"{plural(number, 'run')} failed: {error}" for error, number in errors.head(_ERRORS).iter_rows()]
    if errors.height > _ERRORS:
        sentences.append(f"There are {errors.height - _ERRORS} other errors; the table runs has them all.")
    return sentences


def _reproduction(sweep: SweepTables, asked: Asked, found: Numbers | None) -> str:
    folder, search = shlex.quote(sweep.path.name), sweep.manifest.get("search")
    made = f"farweb sweep scenario.toml --out {folder}"
    if search:
        levels = [level for factor in sweep.design.factors for level in factor.levels]
        labels = [tried.label for tried in found.curve] if found else [level.label for level in levels]
        has_numbers = all(level.number is not None for level in levels)
        vary = f"{search['key']}={f'{labels[0]}..{labels[-1]}' if has_numbers else ','.join(labels)}"
        largest = " --largest" if search["largest"] else ""
        target = f"--target {shlex.quote(search['target'])}"
        made = f"farweb size scenario.toml --vary {shlex.quote(vary)} {target}{largest} --out {folder}"
    return reproduction([made, asked.command(sweep.path.name)], {"scenario.toml": sweep.manifest})
