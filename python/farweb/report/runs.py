"""The page of one run, or of several beside one another."""

import shlex
from collections.abc import Mapping, Sequence

from farweb.check.check import Check
from farweb.check.warned import Warned
from farweb.comparison import Comparison, compare
from farweb.errors import ResultsError
from farweb.inputs.import_report import ImportReport
from farweb.judge.units import is_quantity
from farweb.paint import document
from farweb.paint.document import Page, section
from farweb.paint.figure import Figure
from farweb.plot import FIGURES, describe
from farweb.report import load
from farweb.report.lead import lead
from farweb.report.points import Point, parse, point
from farweb.report.sections import Asked, first_screen, paths, reproduction, rests_on, tunnels, warnings
from farweb.results.folder import folder_names
from farweb.results.legs import connection_uses, decrypting, sheets
from farweb.results.measure import measure
from farweb.results.metrics import Metric, find_metric, words
from farweb.results.run import RunTables
from farweb.results.totals import LINK_COLUMNS
from farweb.summary.run import Summary, summarize
from farweb.text.quantities import quantity, seconds
from farweb.text.sheet import Part, Sheet
from farweb.text.words import listed, plural, ranged

Summaries = Mapping[str, Summary]
"""The summary of each run, by its folder."""

_IN_TABLES = ("fullest link", "more: ")
_BUSY = 0.01  # of the time, from which a link is in the table; chosen


def runs_page(
    results: Sequence[RunTables],
    asked: Asked,
    *,
    figures: Sequence[Figure] = (),
    checks: Sequence[Check] | None = None,
    imported: ImportReport | None = None,
) -> Page:
    """The page of runs.

    Args:
        results: The runs, in the order of the tables.
        asked: Title, question and figures; metrics get a table of their own.
        figures: Figures below the answer, instead of the usual ones.
        checks: Meaning of each run's scenario with its host table; worked out from the manifests when left out.
        imported: The import of the requests, where they were made from a log.

    Raises:
        FarwebError: There is no such metric or figure, or a result lacks a table that one needs.
    """
    metrics = [find_metric(name) for name in asked.metrics]
    names = folder_names(results)
    points = _points(results, names, checks)
    compared = _compared(results, names, asked.metrics)
    summaries = {name: summarize(result) for name, result in zip(names, results, strict=True)}
    views = load.views_of(results)
    finished = [result for result, summary in zip(results, summaries.values(), strict=True) if summary.done]
    if asked.plots:
        shown = _asked(results, asked.plots)
    elif views:
        shown = [load.lead(results, names, views), *_recorded(finished, summaries)]
    else:
        shown = [lead(finished, compared), *(figures or _usual(finished, summaries))] if finished else []
    sections = [
        first_screen(
            load.answer(names, views) if views else _answer(summaries, compared, results),
            shown[:1],
            paths(points, _called),
        ),
        *map(load.load_section, results),
        document.table(_measured(names, results, metrics)),
        section("Figures", *map(document.figure, shown[1:])),
        section(
            "Links and connections",
            document.table(_links(summaries)),
            *map(document.table, sheets({name: summary.legs for name, summary in summaries.items()})),
        ),
        section("Log", *([document.table(imported.sheet()), document.bullets(imported.remarks())] if imported else [])),
        rests_on(points, tunnels(summary.tunnel_share for summary in summaries.values()), loads=bool(views)),
        warnings([], points, _called),
        _reproduction(asked, results),
    ]
    over = listed([f"“{name}”" for name in names])
    question = (
        f"How long does the page take to load over {over}?" if views else f"How long do requests take over {over}?"
    )
    judged = [] if compared is None else [pair.to_dict() for pair in compared.pairs]
    return asked.page(question, _subject(results), sections, judged)


def _subject(results: Sequence[RunTables]) -> str:
    called = listed(list(dict.fromkeys(result.name for result in results)))
    seeds = sorted({int(result.manifest["seed"]) for result in results})
    versions = sorted({str(result.manifest["version"]) for result in results})
    seeds_said = f"{'seed' if len(seeds) == 1 else 'seeds'} {ranged(seeds)}"
    return " · ".join([called, plural(len(results), "run"), seeds_said, f"farweb {listed(versions)}"])


def _points(results: Sequence[RunTables], names: Sequence[str], checks: Sequence[Check] | None) -> list[Point]:
    if checks is not None:
        caveats = [result.manifest["inputs"].get("requests", {}).get("caveats", ()) for result in results]
        return [
            Point(name, check.scenario, check.figures, caveats=of, kept=check.warned)
            for name, check, of in zip(names, checks, caveats, strict=True)
        ]
    return [
        point(
            name,
            parse(result.manifest["scenario"], str(result.path / "manifest.json")),
            None,
            result.manifest["inputs"],
            [Warned.of(line) for line in result.manifest["warnings"]] if "warnings" in result.manifest else None,
        )
        for name, result in zip(names, results, strict=True)
    ]


def _called(points: Sequence[Point]) -> str:
    return listed([each.label for each in points])


def _compared(results: Sequence[RunTables], names: Sequence[str], metrics: Sequence[str]) -> Comparison | None:
    """The runs ranked; None of a single run, and where their requests are not the same."""
    if len(results) < 2:
        return None
    try:
        return compare(*results, by=[name for name in metrics if is_quantity(name)], names=names)
    except ResultsError:
        return None


def _answer(summaries: Summaries, compared: Comparison | None, results: Sequence[RunTables]) -> list[Part]:
    """The screen of `run`, or of `compare` with the parts of each mean and their reach."""
    screens = {name: summary.screen().parts for name, summary in summaries.items()}
    if len(screens) == 1:
        ((name, parts),) = screens.items()
        said = [part.replace("mean ", "Why a mean of ", 1) if isinstance(part, str) else part for part in parts]
        said[:1] = [f"{part}{decrypting(results[0].manifest['scenario'])}" for part in said[:1]]
        return [*said, _holds(summaries[name], results[0])]
    of_each: list[Part] = []
    for name, (answer, *parts) in screens.items():
        of_each += [] if compared else [f"{name}: {answer}", *(part for part in parts if isinstance(part, Sheet))]
        facts = [part for part in parts if isinstance(part, str) and part and not part.startswith(_IN_TABLES)]
        of_each.append(f"{name}: {'; '.join(facts)}")
    return [*(compared.screen().parts if compared else ()), *of_each]


def _holds(summary: Summary, result: RunTables) -> str:
    """The answer of one run holds for its requests, and for one seed."""
    requests = "this log" if result.manifest["scenario"]["workload"].get("requests") else "requests of this kind"
    clients = "" if summary.clients is None else f", {plural(summary.clients.clients, 'client')}"
    return f"Holds for {requests} ({seconds(summary.simulated_s)}{clients}), one seed, the assumptions below."


def _measured(names: Sequence[str], results: Sequence[RunTables], metrics: Sequence[Metric]) -> Sheet:
    """The metrics that were asked for: a row a run; no row when there are none."""
    rows = []
    for name, result in zip(names, results, strict=True) if metrics else ():
        values = measure(result, metrics)
        rows.append([name, *(quantity(values.get(metric.name), metric.unit) for metric in metrics)])
    return Sheet("Metrics", ["", *map(words, metrics)], rows)


def _asked(results: Sequence[RunTables], plots: Sequence[str]) -> list[Figure]:
    """The figures asked for: of all results where a figure can show them together."""
    each = [[result] for result in results]
    return [describe(name, of) for name in plots for of in (each if _is_of_one(name) else [list(results)])]


def _usual(finished: Sequence[RunTables], summaries: Summaries) -> list[Figure]:
    """Latencies by size, and of several runs their distribution; then what was recorded."""
    names = ["size-latency", *(["cdf"] if len(finished) > 1 else [])]
    broken_down = [result for result in finished if result.has("exchanges")]
    return [
        *(describe(name, finished) for name in names),
        *_recorded(finished, summaries),
        *([describe("breakdown", broken_down)] if broken_down else []),
    ]


def _recorded(finished: Sequence[RunTables], summaries: Summaries) -> list[Figure]:
    """The busiest link, and connections that are kept, of runs that recorded them."""
    recorded = [result for result in finished if result.has("links")]
    busy = dict(zip((result.path for result in finished), summaries.values(), strict=False))
    found = []
    if recorded:
        busiest = max(recorded, key=lambda result: max(link.busy for link in busy[result.path].links))
        found.append(describe("link", [busiest]))
    return found + [describe("connections", [result]) for result in finished if _has_legs_to_show(result)]


def _has_legs_to_show(result: RunTables) -> bool:
    """True for a run that recorded legs, and keeps connections on one: else they come and go with requests."""
    reused = any(use.reused for use in connection_uses(result.manifest))
    return reused and result.has("legs")


def _is_of_one(name: str) -> bool:
    return name in FIGURES and FIGURES[name].is_of_one_run


def _links(summaries: Summaries) -> Sheet:
    """The fullest direction of each run, and all others that are busy or drop packets."""
    rows = []
    for name, summary in summaries.items():
        fullest = max((link.busy for link in summary.links), default=0.0)
        shown = [link for link in summary.links if link.busy >= min(fullest, _BUSY) or link.drops]
        rows += [[name, *link.cells()] for link in shown]
    title = f"Links that are busy for {100 * _BUSY:.0f} % or more, and the fullest"
    return Sheet(title, ["run", *LINK_COLUMNS], rows, names=2)


def _reproduction(asked: Asked, results: Sequence[RunTables]) -> str:
    files = ["scenario.toml"] if len(results) == 1 else [f"scenario-{at}.toml" for at, _ in enumerate(results, 1)]
    runs = [f"farweb run {file} --out {shlex.quote(each.path.name)}" for file, each in zip(files, results, strict=True)]
    page = asked.command(*(result.path.name for result in results))
    lines = [*runs, page, *(f"farweb studio {file}" for file in files)]
    return reproduction(lines, dict(zip(files, (result.manifest for result in results), strict=True)))
