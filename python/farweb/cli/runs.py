"""`farweb check`, `farweb run` and `farweb show`: explain a scenario, simulate it, summarize its results."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from farweb.cli.options import Debug, Force, Json, NoLimits, Output, Quiet
from farweb.errors import ScenarioError, WorkloadError
from farweb.text.words import command, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farweb.check.extent import Extent
    from farweb.library.scenario import Scenario
    from farweb.run import Progress

_UNANSWERED = 3

ScenarioFile = Annotated[Path, typer.Argument(metavar="SCENARIO", help="A scenario file (TOML).")]
Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Set a key of the scenario, such as leg.0.tcp.buffer='65535 B'; may be given more than once.",
    ),
]


def check(
    scenario: ScenarioFile,
    settings: Settings = None,
    details: Annotated[
        bool, typer.Option("--details", help="The path drawn, windows, handshakes, the load of every link, rows.")
    ] = False,
    no_limits: NoLimits = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Say whether a path can carry its load, without simulating it.

    Holds the load against each link, says what limits a connection and how large a run or a sweep becomes, and ends
    with exit code 2 beyond a limit.

    Examples:

        farweb check satellite.toml

        farweb check satellite.toml --set leg.0.tcp.buffer="65535 B"
    """
    del debug  # main() reads it
    loaded = load(scenario, settings)
    checked = loaded.check()
    output = Output(as_json, quiet)
    output.result(checked.to_dict(), checked.screen(details))
    allow(loaded, checked.extents, no_limits)
    if loaded.design is None:
        following = _again("run", scenario, settings)
    else:
        following = _sweep_beside(Path("results") / scenario.stem, scenario, settings)
    output.note(f"{'' if details else 'more: --details    '}next: {following}")


def _again(verb: str, scenario: Path, settings: list[str] | None, *options: str) -> str:
    """A command for the same scenario with the same settings."""
    return command(verb, scenario, *(word for each in settings or () for word in ("--set", each)), *options)


def _sweep_beside(run: Path, scenario: Path, settings: list[str] | None) -> str:
    """The command for the sweep of a scenario, with results beside those of its run."""
    return _again("sweep", scenario, settings, "-o", f"{run}-sweep")


def run(
    scenario: ScenarioFile,
    settings: Settings = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Root of every random stream, instead of the scenario's run.seed."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="DIR", help="Results folder (default: results/SCENARIO)."),
    ] = None,
    force: Force = False,
    no_limits: NoLimits = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Simulate a scenario and write a results folder.

    The same scenario, seed and version give the same tables, byte for byte. With --force an older result in the folder
    is replaced when the new one is complete. A folder with anything else in it is left alone. Warnings of `farweb
    check` are repeated, and kept in the manifest. Ends with exit code 3 without a single answer.

    Examples:

        farweb run satellite.toml

        farweb run satellite.toml --set workload.load=4 --out results/load-4
    """
    del debug
    from farweb.check.check import explained
    from farweb.inputs.prepared import Prepared
    from farweb.library.run_results import Results
    from farweb.run import simulate

    output = Output(as_json, quiet)
    loaded = load(scenario, settings)
    loaded = loaded if seed is None else loaded.with_({"run.seed": seed})
    folder = Path("results") / loaded.path.stem if out is None else out
    with Prepared.of(loaded) as prepared:
        checked = explained(loaded.without_sweep(), prepared)
        allow(loaded, checked.extents, no_limits)
        for warning in checked.warnings:
            output.warn(warning)
        with output.progress("simulating") as show:

            def on_progress(now: "Progress") -> None:
                show(now.ended, now.total, f"{now.ended:,} requests ended by {now.now_ns / 1e9:,.0f} s")

            simulate(prepared, folder, on_progress, replace=force)
    results = Results.open(folder)
    if as_json or not quiet:
        summary = results.summary()
        found = {"answer": summary.answer, "summary": summary.to_dict(), "warnings": results.manifest["warnings"]}
        output.result({"results": str(results.path), **found}, summary.screen(called=command("show", results.path)))
    if results.unanswered:
        output.warn(f"no request was answered, of {results.unanswered:,} that began; wrote {results.path}")
        raise typer.Exit(_UNANSWERED)
    if loaded.design is not None:
        points = plural(len(loaded.design.points), "point")
        output.note(f"its sweep of {points}: {_sweep_beside(results.path, scenario, settings)}")
    output.note(f"wrote {results.path}    next: {command('report', results.path)}")


def show(
    results: Annotated[
        str, typer.Argument(metavar="RESULTS", help="The results folder of a run or a sweep; of a sweep also a URL.")
    ],
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric", "-m", metavar="NAME", help="Of a sweep: a metric to show; may be given more than once."
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            "--by",
            metavar="FACTOR",
            help="Of a sweep: show means by this factor; more than once for several. With --breakdown: visit (its "
            "first requests and its later ones) or client.",
        ),
    ] = None,
    log: Annotated[
        bool, typer.Option("--log", help="Of a sweep: allocate the variation of logarithms, for effects that multiply.")
    ] = False,
    breakdown: Annotated[
        bool,
        typer.Option(
            "--breakdown",
            help="Of a run with record.exchanges: where the time of the requests tagged sample goes, or of all.",
        ),
    ] = False,
    links: Annotated[bool, typer.Option("--links", help="Of a run: links, and connections by leg.")] = False,
    details: Annotated[
        bool,
        typer.Option(
            "--details",
            help="Of a run: failures, caches, clients, links, connections and memory as well. Of a sweep: estimates, "
            "differences with intervals, and the warm-up.",
        ),
    ] = False,
    everyone: Annotated[
        bool, typer.Option("--all", help="Of a sweep: all points. With --breakdown: of all requests, tagged or not.")
    ] = False,
    variation: Annotated[
        bool, typer.Option("--variation", help="Of a sweep: shares of variation, with seeds of their own requests.")
    ] = False,
    pairs: Annotated[bool, typer.Option("--pairs", help="Of a sweep: the verdict on each pair.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Summarize a run or a sweep.

    Of a run: how long requests take, and why. Of a sweep, finished or not: the best point, how much more time the
    others take, what each setting changes, failed runs, and warnings.

    Examples:

        farweb show results/satellite

        farweb show results/satellite --breakdown

        farweb show results/satellite --breakdown --by visit

        farweb show results/sweep --metric latency_p90_s --by workload.load
    """
    del debug
    from farweb.library.folders import Results, open_results
    from farweb.summary.screen import screen
    from farweb.text.sheet import Screen
    from farweb.views.page_load import has_view, read_view

    opened = open_results(results)
    output = Output(as_json, quiet)
    if isinstance(opened, Results):
        if everyone and not breakdown:
            raise typer.BadParameter("--all is for --breakdown: give both")
        if variation or pairs:
            raise typer.BadParameter(f"{results}: is a run; --variation and --pairs are for sweeps")
        if metric or log or (by and not breakdown):
            raise typer.BadParameter(f"{results}: is a run; --metric and --log are for sweeps, --by is for --breakdown")
        if by:
            if everyone:
                raise typer.BadParameter("--by has all requests: leave --all out")
            groups = opened.breakdowns(by)
            shown = Screen([part for each in groups for part in ("", *each.screen().parts)])
            output.result({"results": str(results), "breakdowns": [each.to_dict() for each in groups]}, shown)
            return
        if breakdown:
            parts = opened.breakdown(tagged=False if everyone else None)
            output.result({"results": str(results), "breakdown": parts.to_dict()}, parts)
            return
        summary, warnings = opened.summary(), opened.manifest.get("warnings", [])
        found = {"answer": summary.answer, "summary": summary.to_dict(), "warnings": warnings}
        asked = [name for name, is_asked in (("links", links), ("details", details)) if is_asked]
        shown = summary.screen(asked)
        if has_view(opened):
            from farweb.pages.breakdown import largest_parts

            view = read_view(opened)
            found["page"] = {"onload_ns": view.load_ns, "split_ns": view.split_ns}
            shown = Screen((f"Page in {largest_parts(view)}.", *shown.parts))
        output.result({"results": str(results), **found}, shown)
        return
    if links:
        raise typer.BadParameter(f"{results}: is a sweep; --links is of a run")
    if breakdown:
        raise typer.BadParameter(f"{results}: is a sweep; --breakdown is of a run: name one in {opened.path / 'parts'}")
    if not as_json:
        opened.require_done()
    sweep = opened.summary(metric or (opened.metrics if as_json else None), by, log=log, decide=metric)
    more = {"all": everyone, "details": details, "variation": variation or log, "pairs": pairs}
    whole = screen(sweep, [name for name, is_asked in more.items() if is_asked], asked=bool(metric or by))
    output.result({"results": str(results), "sweep": sweep.to_dict()}, whole)


def allow(scenario: "Scenario", extents: "Sequence[Extent]", no_limits: bool) -> None:
    """Refuse an estimated size above a limit, unless limits are off."""
    if not no_limits:
        for extent in extents:
            extent.require_allowed(scenario)


def load(path: Path, settings: list[str] | None) -> "Scenario":
    """Load the scenario that a verb's arguments name, with the changes of `--set`."""
    from farweb.library.scenario import Scenario

    changes = changes_of(settings)
    try:
        return Scenario.load(path, changes)
    except ScenarioError as error:
        if (instead := _instead(path)) is not None:
            raise ScenarioError(f"{path}: {instead}") from None
        raise (error.__cause__ or error) from None  # which says --set, as it was typed


def changes_of(settings: list[str] | None) -> dict[str, str]:
    """The changes of `--set` by key."""
    changes = {}
    for setting in settings or ():
        key, equals, value = setting.partition("=")
        if not equals or not key.strip():
            raise typer.BadParameter(f"{setting}: --set wants KEY=VALUE, such as workload.load=4")
        changes[key.strip()] = value.strip()
    return changes


def _instead(path: Path) -> str | None:
    """The kind of a file that is no scenario and the remedy, or None where the kind is unknown."""
    if path.suffix == ".toml" or not path.is_file():
        return None
    from farweb.inputs.formats import LOGS, format_of
    from farweb.pages.har import is_har

    if is_har(path):
        return f"is a HAR and no scenario; farweb page {path} simulates it"
    is_table = path.suffix.lower() in (".parquet", ".csv", ".tsv")
    try:
        found = "a table" if is_table else format_of(path, None)
    except WorkloadError:
        return None
    named = found if is_table else f"a log ({found})" if found in LOGS else None
    return None if named is None else f"is {named} and no scenario; farweb new link.toml --log {path} writes one"
