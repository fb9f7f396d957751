"""The page of one run, or of several beside one another."""

import math
import shlex
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from farweb.comparison import Comparison, compare
from farweb.comparison.words import pairs as pairs_sheet
from farweb.errors import ResultsError
from farweb.plot.measured import labels
from farweb.plot.replicated import words
from farweb.report import page
from farweb.report.page import Page, section
from farweb.report.points import Point, parse, point
from farweb.report.sections import Asked, paths, reproduction, rests_on, warnings
from farweb.report.words import tunnels
from farweb.results.judged import FIXED_LOG
from farweb.results.legs import connection_uses, held_by_leg, held_sheet, sheets
from farweb.results.measure import measure
from farweb.results.metrics import Metric, find_metric
from farweb.results.run import RunTables
from farweb.results.summary import Summary, summarize
from farweb.statistics.units import is_quantity
from farweb.text.quantities import count, quantity, seconds, share
from farweb.text.sheet import Sheet
from farweb.text.words import capital, listed, plural, ranged

if TYPE_CHECKING:
    from farweb.check import Check
    from farweb.inputs.import_report import ImportReport
    from farweb.plot.chart import Chart

Summaries = Mapping[str, Summary]
"""The summary of each run, by what it is called."""


def runs_page(
    results: Sequence[RunTables],
    asked: Asked,
    *,
    charts: "Sequence[Chart]" = (),
    checks: "Sequence[Check] | None" = None,
    imported: "ImportReport | None" = None,
) -> Page:
    """The page of runs.

    Args:
        results: The runs, in the order in which the tables have them.
        asked: Title, question and figures; metrics are further columns of the table of latencies.
        charts: Figures that have been drawn already, instead of those asked for.
        checks: What each run's scenario means, where it is known with its host table; worked out from the manifests
            when left out.
        imported: How the requests came about, where they were made from a log.

    Raises:
        FarwebError: There is no such metric or figure, or a result lacks what it needs.
    """
    metrics = [find_metric(name) for name in asked.metrics]
    names = labels(results)
    points = _points(results, names, checks)
    compared = _compared(results, asked.metrics)
    summaries = {name: summarize(result) for name, result in zip(names, results, strict=True)}
    measured = _measured(names, results, metrics)
    sections = [
        section(
            "Answer",
            page.facts([*_verdicts(compared), *_answer(summaries), *_asked(measured)]),
            page.table(_pairs(compared)),
            kind="answer",
        ),
        section("Path", *paths(points, _called)),
        section("Results", page.table(latency_sheet(results)), page.paragraph(_LATENCY, "note"), page.table(measured)),
        section("Figures", *map(page.figure, charts or _charts(results, asked.plots, list(summaries.values())))),
        section(
            "Links and connections",
            page.table(_links_sheet(summaries)),
            *map(page.table, sheets({name: summary.legs for name, summary in summaries.items()})),
            page.table(held_sheet({name: held_by_leg(result) for name, result in zip(names, results, strict=True)})),
        ),
        section("Log", *([page.table(imported.sheet()), page.bullets(imported.remarks())] if imported else [])),
        rests_on(points, [_NOT_INDEPENDENT]),
        warnings(_lost(summaries), points, _called),
        _reproduction(asked, results, names),
    ]
    question = f"How long do requests take over {listed([f'“{name}”' for name in names])}?"
    judged = [] if compared is None else [pair.to_dict() for pair in compared.pairs]
    return asked.page(question, _subject(results), sections, judged)


_NOT_INDEPENDENT = (
    "Requests of a run share queues and connections, so they are not independent; intervals and bands in figures "
    "of one run take them as if they were, and are too narrow where the path is busy."
)
_LATENCY = (
    "Latency: from the start of a request at the first node to the last byte of its response there. First byte: the "
    "median time to the first byte. Requests that were not answered, since they failed or the run ended, count in "
    "quantiles as slower than any that ended; the mean is of the others."
)


def latency_sheet(results: Sequence[RunTables]) -> Sheet:
    """A row a result: how many requests finished and failed, and how long they took.

    Quantiles are of all requests; the mean says of which share it is.
    """
    rows = []
    for name, result in zip(labels(results), results, strict=True):
        summary = summarize(result)
        latency, first = summary.latency, summary.first_byte
        counts = [count(summary.done), count(summary.failed), share(summary.failed_share)]
        times = map(latency.text, (latency.p50_s, latency.p90_s, latency.p99_s))
        rows.append([name, *counts, *times, summary.of_ended(seconds(latency.mean_s)), first.text(first.p50_s)])
    header = ["", "done", "failed", "not answered", "median", "90 %", "99 %", "mean", "first byte"]
    return Sheet("Latency of requests", header, rows)


def _subject(results: Sequence[RunTables]) -> str:
    seeds = sorted({int(result.manifest["seed"]) for result in results})
    versions = sorted({str(result.manifest["version"]) for result in results})
    seeds_said = f"{'seed' if len(seeds) == 1 else 'seeds'} {ranged(seeds)}"
    return " · ".join([plural(len(results), "run"), seeds_said, f"farweb {listed(versions)}"])


def _points(results: Sequence[RunTables], names: Sequence[str], checks: "Sequence[Check] | None") -> list[Point]:
    if checks is not None:
        return [Point(name, check.scenario, check.figures) for name, check in zip(names, checks, strict=True)]
    return [
        point(
            name,
            parse(result.manifest["scenario"], str(result.path / "manifest.json")),
            None,
            result.manifest["inputs"],
        )
        for name, result in zip(names, results, strict=True)
    ]


def _called(points: Sequence[Point]) -> str:
    return listed([each.label for each in points])


def _answer(summaries: Summaries) -> list[tuple[str, str]]:
    """Facts: what was checked, quantiles of each run, and the limits of single runs."""
    found = [(name, summary) for name, summary in summaries.items() if summary.latency.n]
    by_median = sorted(found, key=lambda row: row[1].latency.p50_s or 0.0)
    several = len(summaries) > 1
    facts = [("Checked: median, 90 % and 99 % of the latency", "of all requests, and the share that was not answered.")]
    for name, summary in by_median:
        latency = summary.latency
        without = f"; {share(summary.failed_share)} were not answered" if summary.failed_share else ""
        facts.append(
            (
                f"{f'{name}: median' if several else 'Median'} latency {latency.text(latency.p50_s)}",
                f"of {plural(summary.requests, 'request')}; 90 %: {latency.text(latency.p90_s)}, "
                f"99 %: {latency.text(latency.p99_s)}{without}.",
            )
        )
        facts += _visitors(name if several else "", summary)
    if not by_median:
        facts.append(("There is no latency:", "no request finished."))
    if len(by_median) > 1:
        facts += _ranking(by_median)
    facts += tunnels(summary.tunnel_share for summary in summaries.values())
    facts.append((f"One run{' each' if several else ''}, one seed:", _ONE_SEED))
    return facts


def _visitors(name: str, summary: Summary) -> list[tuple[str, str]]:
    """Waits of new and of returning visitors; nothing where clients are unknown."""
    of = {each.place: each for each in summary.visits}
    if len(of) < 2 or summary.clients is None:
        return []
    new, later = of["first"], of["later"]
    lost = [share(each.failed_share) for each in (new, later)]
    known = f"{plural(summary.clients.clients, 'client')}, {summary.clients.whose}"
    return [
        (
            f"{f'{name}: n' if name else 'N'}ew visitors wait {new.latency.text(new.latency.p50_s)}, returning ones "
            f"{later.latency.text(later.latency.p50_s)}",
            f"(medians of {plural(new.requests, 'request')} that begin a visit and {count(later.requests)} that follow "
            f"in one; {lost[0]} and {lost[1]} not answered); {known}.",
        )
    ]


_ONE_SEED = "how much of it is chance cannot be seen; a sweep with replications shows that."


def _compared(results: Sequence[RunTables], metrics: Sequence[str]) -> Comparison | None:
    """Each run compared with each, request by request; None where their requests are not the same."""
    if len(results) < 2:
        return None
    try:
        return compare(*results, by=[name for name in metrics if is_quantity(name)], names=labels(results))
    except ResultsError:
        return None


def _verdicts(compared: Comparison | None) -> list[tuple[str, str]]:
    """The verdict on two runs, or which of several is the best; and what it holds for."""
    if compared is None:
        return []
    if len(compared.names) > 2:
        facts = [_parted(compared.rankings[""].sentence(), ". ")]
    else:
        facts = [_parted(change.verdict, ": ") for change in compared.changes]
    holds = next((pair.verdict.holds for pair in compared.pairs), "")
    more = f" {FIXED_LOG}" if compared.of_a_log else ""
    first, _, rest = f"{holds}{more}".partition(" (")
    return [*facts, (first, f"({rest}" if rest else "")]


def _parted(sentence: str, at: str) -> tuple[str, str]:
    first, found, rest = sentence.partition(at)
    return first + found.rstrip(), rest


def _pairs(compared: Comparison | None) -> Sheet:
    """Each pair of several runs, a row each; no row of fewer than three."""
    pairs = compared.pairs if compared is not None and len(compared.names) > 2 else ()
    return pairs_sheet(pairs)


def _ranking(by_median: Sequence[tuple[str, Summary]]) -> list[tuple[str, str]]:
    """Ratio of the slowest to the quickest, as far as failures leave that to be said."""
    (quick, first), (slow, last) = by_median[0], by_median[-1]
    facts = []
    for what, short, long in (
        ("median", first.latency.p50_s, last.latency.p50_s),
        ("90 % quantile", first.latency.p90_s, last.latency.p90_s),
    ):
        if not short or not long or not (math.isfinite(short) and math.isfinite(long)):
            continue
        if (ratio := f"{long / short:.3g}") == "1":
            facts.append((f"The {what} is as long", f"for {slow} as for {quick}, within half a percent."))
        else:
            facts.append((f"The {what} is {ratio} times as long", f"for {slow} as for {quick}."))
    more, less = first.failed_share or 0.0, last.failed_share or 0.0
    if more > less:
        why = f"{share(more)} of its requests were not answered, against {share(less)} with {slow}."
        facts.append((f"Failures decide: {quick} has the lower median, and", why))
    return facts


def _measured(names: Sequence[str], results: Sequence[RunTables], metrics: Sequence[Metric]) -> Sheet:
    """The metrics that were asked for: a row a run; no row when there are none."""
    rows = []
    for name, result in zip(names, results, strict=True) if metrics else ():
        values = measure(result, metrics)
        rows.append([name, *(quantity(values.get(metric.name), metric.unit) for metric in metrics)])
    return Sheet("Metrics", ["", *map(words, metrics)], rows)


def _asked(measured: Sheet) -> list[tuple[str, str]]:
    """The metrics that were asked for, a fact each."""
    return [
        (f"{capital(metric)}:", listed([f"{row[0]} {row[column]}" for row in measured.rows]) + ".")
        for column, metric in enumerate(measured.header)
        if metric
    ]


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
        recorded = [place for place, result in enumerate(results) if result.has("links")]
        if recorded:
            busiest = max(recorded, key=lambda place: max(link.busy for link in summaries[place].links))
            chosen.append(("link", [results[busiest]]))
        chosen += [("connections", [result]) for result in finished if _has_legs_to_show(result)]
        broken_down = [result for result in finished if result.has("exchanges")]
        chosen += [("breakdown", broken_down)] if broken_down else []
    return [draw(name, of) for name, of in chosen]


def _has_legs_to_show(result: RunTables) -> bool:
    """True for a run that recorded legs, one of which keeps connections: else they come and go with requests."""
    reused = any(use.reused for use in connection_uses(result.manifest))
    return reused and result.has("legs")


def _is_of_one(name: str) -> bool:
    from farweb.plot import FIGURES

    return name in FIGURES and FIGURES[name].is_of_one_run


def _links_sheet(summaries: Summaries) -> Sheet:
    rows = [[name, *link.cells()] for name, summary in summaries.items() for link in summary.links]
    header = ["run", "from – to", "carried", "busy", "packets", "drops", "mean queue", "peak queue"]
    return Sheet("Links over the whole run", header, rows, names=2)


def _lost(summaries: Summaries) -> list[str]:
    """Requests without a latency, by run."""
    return [
        f"{name}: {plural(number, 'request')} {what}: quantiles count them as slower than any that ended, means leave "
        "them out."
        for name, summary in summaries.items()
        for number, what in ((summary.failed, "failed"), (summary.unfinished, "had not ended when the run did"))
        if number
    ]


def _reproduction(asked: Asked, results: Sequence[RunTables], names: Sequence[str]) -> str:
    folders = [result.path.name for result in results]
    lines = [
        f"farweb run scenario{'' if len(results) == 1 else f'-{place}'}.toml --out {shlex.quote(folder)}"
        for place, folder in enumerate(folders, 1)
    ]
    manifests = [(name, result.manifest) for name, result in zip(names, results, strict=True)]
    ran = [
        [
            *(name, str(run["version"]), str(run["seed"])),
            *(seconds(run["now_ns"] / 1e9), count(run["packet_hops"]), seconds(run["wall_s"])),
        ]
        for name, run in manifests
    ]
    header = ["", "farweb", "seed", "simulated time", "packet-hops", "wall time"]
    return reproduction([*lines, asked.command(*folders)], Sheet("Runs", header, ran), manifests)
