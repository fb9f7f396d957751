"""The demonstration: ten minutes of a proxy of 1997, over a sea cable and over a satellite.

Imports the log as one would import a log of one's own, simulates it over the two paths of `examples/`, then
sweeps a slow line under growing load, and ends with tables, figures and two reports.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.text import Text

from farweb.comparison import compare
from farweb.files.shipped import shipped
from farweb.inputs.import_report import ImportReport
from farweb.inputs.importer import import_log
from farweb.library.run_results import Results
from farweb.library.scenario import Scenario
from farweb.paint.chart import Chart
from farweb.plot import draw
from farweb.report import report as report_of
from farweb.report.runs import runs_page
from farweb.report.sections import Asked
from farweb.results.folder import REPORT, figure_file
from farweb.text.quantities import count, in_one_unit, plain, seconds
from farweb.text.sheet import Screen, Sheet

SCENARIOS = ("cable", "satellite")
SWEEP = "circuits"
EXAMPLES = shipped("examples")
LOG, HOSTS = EXAMPLES / "web1997.log.gz", EXAMPLES / "web1997-hosts.tsv"
"""The log and its hosts, by `tests/web1997.py`."""

_TITLE = "A proxy of 1997 over a sea cable and over a satellite"


def main(into: Path, console: Console) -> list[Path]:
    """Run the demonstration.

    Args:
        into: Folder of all its files. An earlier demonstration in it is replaced.
        console: Where it reports its progress.

    Returns:
        The pages that it has written.

    Raises:
        FarwebError: Something could not be written.
    """
    imported = _workload(into, console)
    scenarios = {name: _scenario(name, into) for name in SCENARIOS}
    runs = {name: _run(scenario, into / name, console) for name, scenario in scenarios.items()}
    charts = _figures(runs, into, console)
    report = into / "report.html"
    runs_page(
        list(runs.values()),
        Asked(
            title=_TITLE,
            question=f"What does the delay of a satellite cost? {imported.requests:,} requests of a synthetic proxy "
            "log, carried packet by packet over two paths that differ in nothing but their delay.",
        ),
        figures=[chart.description for chart in charts],
        checks=[scenario.check() for scenario in scenarios.values()],
        imported=imported,
    ).write(report)
    page = _sweep(into, console)
    console.print()
    console.print(_answer(runs, into, report, page))
    return [report, page]


def _answer(runs: Mapping[str, Results], out: Path, report: Path, page: Path) -> Screen:
    """The cost of the satellite in a sentence, latencies of both paths, and where to read on."""
    change = compare(*(out / name for name in SCENARIOS)).changes[0]
    slower, longer = round(change.everyone.slower * change.pairs), 1 + (change.judgement.change.value or 0.0)
    said = (
        f"Over a satellite {count(slower)} of {count(change.pairs)} requests are slower than over a sea cable: "
        f"{plain(longer, 2)} times as long on average."
    )
    summaries = {name: results.summary() for name, results in runs.items()}
    of = {name: (each.latency.mean_s, each.latency.p50_s, each.latency.p90_s) for name, each in summaries.items()}
    write, unit = in_one_unit(value for values in of.values() for value in values)
    rows = [
        [name, *map(write, values), count(summaries[name].failed + summaries[name].unfinished)]
        for name, values in of.items()
    ]
    latency = Sheet("", [f"latency, {unit}", "mean", "median", "90 %", "failed"], rows)
    pages = [f"{report}  all of it on one page", f"{page}  a slow line under growing load"]
    copy = f"{EXAMPLES}  the scenarios, to copy and change"
    return Screen((said, "", latency, "", *pages, copy, "next: farweb new link.toml --log YOUR.log"))


def _workload(out: Path, console: Console) -> ImportReport:
    """Import the log."""
    # Successful requests only, as in the studies of this path.
    imported = import_log(LOG, out / "requests.parquet", format="squid", errors=False)
    _say(console, f"a log of {imported.counts['lines']:,} lines", LOG)
    _say(console, f"{imported.requests:,} requests in it that cross the path", imported.out)
    return imported


def _scenario(name: str, out: Path) -> Scenario:
    """An example, with the tables of the demonstration in place of its own."""
    tables = {"requests": out / "requests.parquet", "hosts": HOSTS}
    return Scenario.load(EXAMPLES / f"{name}.toml").with_(
        {f"workload.{key}": str(path.resolve()) for key, path in tables.items()}
    )


def _run(scenario: Scenario, out: Path, console: Console) -> Results:
    with _bar(console, f"simulating {scenario.name}", "requests") as show:
        results = scenario.run(out=out, progress=lambda now: show(now.ended, now.total))
    summary = results.summary()
    hops, wall = count(summary.packet_hops), seconds(summary.wall_s)
    _say(console, f"{summary.name}: {hops} packets over a link in {wall}", out)
    return results


def _sweep(out: Path, console: Console) -> Path:
    """Sweep the same log over a slow line of three kinds under growing load and return the page."""
    scenario = _scenario(SWEEP, out)
    with _bar(console, f"sweeping {scenario.name}", "runs") as show:
        results = scenario.sweep(out / SWEEP, progress=lambda now: show(now.done + now.failed, now.total))
    _say(console, f"{results.name}: {count(len(results.runs))} runs", results.path)
    file = out / f"{SWEEP}-{figure_file('latency-load')}"
    draw("latency-load", [results], file)
    _say(console, "latency against load", file)
    page = results.path / REPORT
    report_of([results], question="A cable, a satellite, or one of each: what does a slow line carry?").write(page)
    return page


@contextmanager
def _bar(console: Console, title: str, of: str) -> Iterator[Callable[[float, float | None], None]]:
    """Give a function that shows how far something is: done, of how many."""
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn(of))
    with Progress(*columns, TimeElapsedColumn(), console=console, transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _figures(runs: Mapping[str, Results], out: Path, console: Console) -> list[Chart]:
    """Draw and save the figures."""
    both = list(runs.values())
    wanted = (
        ("size-latency", both, "latency by response size"),
        ("cdf", both, "distribution of latency"),
        ("timeseq", both[-1:], "time–sequence plot of the satellite's slowest request"),
    )
    charts = []
    for name, results, what in wanted:
        file = out / figure_file(name)
        charts.append(draw(name, results, file))
        _say(console, what, file)
    return charts


def _say(console: Console, what: str, where: Path) -> None:
    console.print(Text(f"{what}: ").append(str(where), style="bold"), soft_wrap=True)
