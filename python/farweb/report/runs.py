"""The page of one run, or of several beside one another."""

import math
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from farweb.comparison import compare
from farweb.errors import ResultsError
from farweb.plot.measured import labels
from farweb.plot.replicated import words
from farweb.report import page
from farweb.report.assumptions import assumptions, left_out
from farweb.report.page import Page, section
from farweb.report.path_drawing import draw_path, path_of, shape
from farweb.report.points import Point, parse, point
from farweb.report.reproduction import command, inputs_sheet, manifest, scenario
from farweb.report.warned import warned
from farweb.report.words import plural, shown
from farweb.results.connection_use import connection_uses
from farweb.results.held import held_by_leg, held_sheet
from farweb.results.legs import sheets
from farweb.results.metrics import Metric, find_metric, measure
from farweb.results.run import RunTables
from farweb.results.summary import Summary, summarize
from farweb.text.quantities import count, seconds, share
from farweb.text.sheet import Sheet
from farweb.text.words import listed

if TYPE_CHECKING:
    from farweb.check import Check
    from farweb.inputs.importer import ImportReport
    from farweb.plot.chart import Chart


def runs_page(
    results: Sequence[RunTables],
    *,
    title: str | None = None,
    question: str | None = None,
    metrics: Sequence[str] = (),
    plots: Sequence[str] = (),
    charts: "Sequence[Chart]" = (),
    checks: "Sequence[Check] | None" = None,
    imported: "ImportReport | None" = None,
) -> Page:
    """The page of runs.

    Args:
        results: The runs, in the order in which the tables have them.
        title: Heading; the question when left out.
        question: What the page answers; made from the runs' names when left out.
        metrics: Further columns of the table of latencies, by their names in `farweb.results.metrics`.
        plots: Names of figures, instead of those that suit the results.
        charts: Figures that have been drawn already, instead of `plots`.
        checks: What each run's scenario means, where it is known with its host table; worked out from the manifests
            when left out.
        imported: How the requests came about, where they were made from a log.

    Raises:
        FarwebError: There is no such metric or figure, or a result lacks what it needs.
    """
    wanted = [find_metric(name) for name in metrics]
    names = labels(results)
    points = _points(results, names, checks)
    summaries = [summarize(result) for result in results]
    asked = question or _question(names)
    sections = [
        section(
            "Answer",
            page.facts([*_compared(results), *_answer(names, summaries), *_asked(names, results, wanted)]),
            kind="answer",
        ),
        section("Path", *_paths(points)),
        section(
            "Results",
            page.table(latency_sheet(results)),
            page.paragraph(_LATENCY, "note"),
            _measured(results, wanted),
        ),
        section("Figures", *map(page.figure, charts or _charts(results, plots, summaries))),
        section(
            "Links and connections",
            page.table(_links_sheet(names, summaries)),
            *_legs(names, summaries),
            *_held(names, results),
        ),
        section("Log", imported._repr_html_() if imported is not None else ""),
        _assumptions(points),
        section("Warnings", _warnings(points, names, summaries)),
        _reproduction(results, names, title, question, metrics, plots),
    ]
    return Page(title or asked, asked if title else "", _subject(results), tuple(sections))


def latency_sheet(results: Sequence[RunTables]) -> Sheet:
    """A row a result: how many requests finished and failed, and how long they took.

    Quantiles are of all requests; the mean says of which share it is.
    """
    rows = []
    for name, result in zip(labels(results), results, strict=True):
        summary = summarize(result)
        latency = summary.latency
        counts = [count(summary.done), count(summary.failed), share(summary.failed_share)]
        times = map(latency.told, (latency.p50_s, latency.p90_s, latency.p99_s))
        mean, first = summary.of_ended(seconds(latency.mean_s)), summary.first_byte
        rows.append([name, *counts, *times, mean, first.told(first.p50_s)])
    header = ["", "done", "failed", "not answered", "median", "90 %", "99 %", "mean", "first byte"]
    return Sheet("Latency of requests", header, rows)


_LATENCY = (
    "Latency: from the start of a request at the first node to the last byte of its response there. First byte: the "
    "median time to the first byte. Requests that were not answered, since they failed or the run ended, count in "
    "quantiles as slower than any that ended; the mean is of the others."
)


def _question(names: Sequence[str]) -> str:
    if len(names) == 1:
        return f"How long do requests take over “{names[0]}”?"
    return f"How long do requests take over {listed([f'“{name}”' for name in names])}?"


def _subject(results: Sequence[RunTables]) -> str:
    seeds = sorted({int(result.manifest["seed"]) for result in results})
    versions = sorted({str(result.manifest["version"]) for result in results})
    said = [
        plural(len(results), "run"),
        f"{'seed' if len(seeds) == 1 else 'seeds'} {listed(list(map(str, seeds)))}",
        f"farweb {listed(versions)}",
    ]
    return " · ".join(said)


def _points(results: Sequence[RunTables], names: Sequence[str], checks: "Sequence[Check] | None") -> list[Point]:
    if checks is not None:
        return [Point(name, check.scenario, check.figures) for name, check in zip(names, checks, strict=True)]
    return [
        point(name, parse(result.manifest["scenario"], str(result.path / "manifest.json")), None)
        for name, result in zip(names, results, strict=True)
    ]


def _answer(names: Sequence[str], summaries: Sequence[Summary]) -> list[tuple[str, str]]:
    """What was checked, what it says, and what single runs cannot say."""
    found = [(name, summary) for name, summary in zip(names, summaries, strict=True) if summary.latency.n]
    ranked = sorted(found, key=lambda row: row[1].latency.p50_s or 0.0)
    told = [("Checked: median, 90 % and 99 % of the latency", "of all requests, and the share that was not answered.")]
    for name, summary in ranked:
        latency = summary.latency
        without = f"; {share(summary.failed_share)} were not answered" if summary.failed_share else ""
        told.append(
            (
                f"{f'{name}: median' if len(names) > 1 else 'Median'} latency {latency.told(latency.p50_s)}",
                f"of {plural(summary.requests, 'request')}; 90 %: {latency.told(latency.p90_s)}, "
                f"99 %: {latency.told(latency.p99_s)}{without}.",
            )
        )
    if not ranked:
        told.append(("There is no latency:", "no request finished."))
    if len(ranked) > 1:
        told += _ranking(ranked)
    for name, summary in zip(names, summaries, strict=True):
        counts = ((summary.failed, "failed"), (summary.unfinished, "had not ended when the run did"))
        lost = [f"{count(number)} {what}" for number, what in counts if number]
        if lost:
            whose = f"{name}: of" if len(names) > 1 else "Of"
            told.append((f"{whose} {plural(summary.requests, 'request')} {listed(lost)}:", _LOST))
    told.append((f"One run{' each' if len(names) > 1 else ''}, one seed:", _ONE_SEED))
    return told


def _compared(results: Sequence[RunTables]) -> list[tuple[str, str]]:
    """What each run makes of the requests of the first, one by one; nothing where their requests are not the same."""
    if len(results) < 2:
        return []
    try:
        changes = compare(*results).changes
    except ResultsError:
        return []
    parted = [change.verdict.partition(": ") for change in changes]
    return [(f"{first}:", rest) for first, _, rest in parted]


def _ranking(ranked: Sequence[tuple[str, Summary]]) -> list[tuple[str, str]]:
    """How much longer the slowest takes than the quickest, as far as failures leave that to be said."""
    (quick, first), (slow, last) = ranked[0], ranked[-1]
    told = []
    for what, short, long in (
        ("median", first.latency.p50_s, last.latency.p50_s),
        ("90 % quantile", first.latency.p90_s, last.latency.p90_s),
    ):
        if short and long and math.isfinite(short) and math.isfinite(long):
            told.append((f"The {what} is {long / short:.3g} times as long", f"for {slow} as for {quick}."))
    more, less = first.failed_share or 0.0, last.failed_share or 0.0
    if more > less:
        why = f"{share(more)} of its requests were not answered, against {share(less)} with {slow}."
        told.append((f"Failures decide: {quick} has the lower median, and", why))
    return told


def _asked(names: Sequence[str], results: Sequence[RunTables], metrics: Sequence[Metric]) -> list[tuple[str, str]]:
    """The values of the metrics that were asked for, a fact each."""
    values = [measure(result, metrics) for result in results] if metrics else []
    return [
        (
            f"{words(metric)[:1].upper()}{words(metric)[1:]}:",
            listed([f"{name} {shown(metric, of.get(metric.name))}" for name, of in zip(names, values, strict=True)])
            + ".",
        )
        for metric in metrics
    ]


_LOST = "quantiles count them as slower than any that ended, means leave them out."
_ONE_SEED = "how much chance had a hand in it cannot be told from that; a sweep with replications tells."


def _paths(points: Sequence[Point]) -> list[str]:
    """A drawing for each shape of path; runs that differ in values only share one."""
    shapes: dict[tuple[Any, ...], list[Point]] = {}
    for each in points:
        shapes.setdefault(shape(each), []).append(each)
    drawn = []
    for alike in shapes.values():
        names = listed([each.label for each in alike])
        drawing = draw_path(path_of(alike), f"The path of {names}, in words: {_in_words(alike[0])}")
        drawn.append(page.part(names, drawing) if len(shapes) > 1 else drawing)
    if any(len(alike) > 1 for alike in shapes.values()):
        drawn.append(page.paragraph("In colour: what differs between the runs.", "note"))
    return drawn


def _in_words(each: Point) -> str:
    return " ".join(str(each.figures["text"]).split())


def _measured(results: Sequence[RunTables], metrics: Sequence[Metric]) -> str:
    """A table of the metrics that were asked for."""
    if not metrics:
        return ""
    rows = []
    for name, result in zip(labels(results), results, strict=True):
        values = measure(result, metrics)
        rows.append([name, *(shown(metric, values.get(metric.name)) for metric in metrics)])
    return page.table(Sheet("Metrics", ["", *map(words, metrics)], rows))


def _charts(results: Sequence[RunTables], plots: Sequence[str], summaries: Sequence[Summary]) -> "list[Chart]":
    """The figures that were asked for, or those that suit: of all results where a figure can show them together."""
    from farweb.plot import draw

    if plots:
        each = [[result] for result in results]
        chosen = [(name, of) for name in plots for of in (each if _is_of_one(name) else [list(results)])]
    elif not any(summary.done for summary in summaries):
        return []
    else:
        finished = [result for result, summary in zip(results, summaries, strict=True) if summary.done]
        chosen = [("size-latency", finished), ("cdf", finished)]
        recorded = [place for place, result in enumerate(results) if (result.path / "links.parquet").is_file()]
        if recorded:
            busiest = max(recorded, key=lambda place: max(link.busy for link in summaries[place].links))
            chosen.append(("link", [results[busiest]]))
        chosen += [("connections", [result]) for result in finished if _has_legs_to_show(result)]
        broken_down = [result for result in finished if (result.path / "exchanges.parquet").is_file()]
        chosen += [("breakdown", broken_down)] if broken_down else []
    return [draw(name, of) for name, of in chosen]


def _has_legs_to_show(result: RunTables) -> bool:
    """Whether the run recorded legs, of which one keeps connections open: else they only come and go with requests."""
    reused = any(use.reused for use in connection_uses(result.manifest))
    return reused and (result.path / "legs.parquet").is_file()


def _is_of_one(name: str) -> bool:
    from farweb.plot import FIGURES

    return name in FIGURES and FIGURES[name].is_of_one_run


def _links_sheet(names: Sequence[str], summaries: Sequence[Summary]) -> Sheet:
    rows = [[name, *link.cells()] for name, summary in zip(names, summaries, strict=True) for link in summary.links]
    header = ["run", "from – to", "carried", "busy", "packets", "drops", "mean queue", "peak queue"]
    return Sheet("Links over the whole run", header, rows, names=2)


def _legs(names: Sequence[str], summaries: Sequence[Summary]) -> list[str]:
    """Tables of connections, by leg."""
    by_run = {name: summary.legs for name, summary in zip(names, summaries, strict=True)}
    return [page.table(sheet) for sheet in sheets(by_run)]


def _held(names: Sequence[str], results: Sequence[RunTables]) -> list[str]:
    """What holds the senders of responses; of runs that recorded exchanges."""
    return [page.table(held_sheet(name, held_by_leg(result))) for name, result in zip(names, results, strict=True)]


def _assumptions(points: Sequence[Point]) -> str:
    """What the numbers rest on and what they leave out."""
    said = [
        *assumptions(points),
        "Requests of a run share queues and connections, so they are not independent; intervals and bands in figures "
        "of one run take them as if they were, and are too narrow where the path is busy.",
    ]
    out = page.part("What the models leave out", page.bullets(left_out(points)))
    return section("Assumptions", page.bullets(said), out)


def _warnings(points: Sequence[Point], names: Sequence[str], summaries: Sequence[Summary]) -> str:
    said = warned(points, lambda some: listed([each.label for each in some]))
    for name, summary in zip(names, summaries, strict=True):
        if summary.unfinished:
            said.append(
                f"{name}: {plural(summary.unfinished, 'request')} had not ended when the run did; how long they would "
                f"have taken is not known: {_LOST}"
            )
        if summary.failed:
            said.append(f"{name}: {plural(summary.failed, 'request')} failed: {_LOST}")
    return page.warnings(said) or page.paragraph("None.")


def _reproduction(
    results: Sequence[RunTables],
    names: Sequence[str],
    title: str | None,
    question: str | None,
    metrics: Sequence[str],
    plots: Sequence[str],
) -> str:
    """What it takes to have these numbers again."""
    folders = [result.path.name for result in results]
    lines = [
        f"farweb run scenario{'' if len(results) == 1 else f'-{place}'}.toml --out {shlex.quote(folder)}"
        for place, folder in enumerate(folders, 1)
    ]
    lines.append(command(*folders, title=title, question=question, metric=metrics, plot=plots))
    folds = [
        page.folded(f"{name}: scenario, as a file", scenario(result.manifest))
        + page.folded(f"{name}: manifest", manifest(result.manifest))
        for name, result in zip(names, results, strict=True)
    ]
    return section(
        "How to reproduce",
        page.paragraph(
            "The same scenario, seed, request table and version of farweb give the same tables, byte for byte. With "
            "the scenarios below saved as files beside their tables:"
        ),
        page.commands(lines),
        page.table(_runs_sheet(names, results)),
        page.table(inputs_sheet([result.manifest for result in results])),
        *folds,
        page.paragraph("Scenarios and manifests are in the page itself, and left out on paper.", "note paper"),
    )


def _runs_sheet(names: Sequence[str], results: Sequence[RunTables]) -> Sheet:
    """A row a result: what it takes to run it again, and how much it was."""
    rows = []
    for name, result in zip(names, results, strict=True):
        run = result.manifest
        rows.append(
            [
                name,
                str(run["version"]),
                str(run["seed"]),
                seconds(run["now_ns"] / 1e9),
                count(run["packet_hops"]),
                seconds(run["wall_s"]),
            ]
        )
    return Sheet("Runs", ["", "farweb", "seed", "simulated time", "packet-hops", "wall time"], rows)
