"""`farweb check`, `farweb run` and `farweb show`: explain a scenario, simulate it, summarize its results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from farweb.cli.verbs import Call, UsageError, verb
from farweb.errors import ScenarioError, WorkloadError
from farweb.text.words import command, plural

if TYPE_CHECKING:
    from farweb.check.extent import Extent
    from farweb.library.scenario import Scenario
    from farweb.run import Progress

_UNANSWERED = 3


@dataclass(frozen=True, kw_only=True)
class Changed:
    """A scenario with changes, and the limits of its size.

    Attributes:
        settings: Set a key of the scenario, such as leg.0.tcp.buffer='65535 B'; may be given more than once.
        no_limits: Accept a run or a sweep however large it is estimated to become.
    """

    settings: Mapping[str, str] = field(default_factory=dict)
    no_limits: bool = False

    def load(self, path: Path, seed: int | None = None) -> "Scenario":
        """Load the scenario, with another seed where there is one."""
        from farweb.library.scenario import Scenario

        try:
            loaded = Scenario.load(path, self.settings)
        except ScenarioError as error:
            if (instead := _instead(path)) is not None:
                raise ScenarioError(f"{path}: {instead}") from None
            raise (error.__cause__ or error) from None  # which says --set, as it was typed
        return loaded if seed is None else loaded.with_({"run.seed": seed})

    def allow(self, scenario: "Scenario", extents: "Sequence[Extent]") -> None:
        """Refuse an estimated size above a limit, unless limits are off."""
        if not self.no_limits:
            for extent in extents:
                extent.require_allowed(scenario)

    def again(self, verb: str, scenario: Path, *options: str) -> str:
        """A command for the same scenario with the same settings."""
        return command(
            verb, scenario, *(word for each in self.settings.items() for word in ("--set", "=".join(each))), *options
        )


@verb(writes=False)
def check(call: Call, scenario: Path, *, changed: Changed, details: bool = False) -> None:
    """Say whether a path can carry its load, without simulating it.

    Holds the load against each link, says what limits a connection and how large a run or a sweep becomes, and ends
    with exit code 2 beyond a limit.

    Args:
        scenario: A scenario file (TOML).
        details: The path drawn, windows, handshakes, the load of every link, rows.

    Examples:

        farweb check satellite.toml

        farweb check satellite.toml --set leg.0.tcp.buffer="65535 B"
    """
    loaded = changed.load(scenario)
    checked = loaded.check()
    call.result(checked.to_dict(), checked.screen(details))
    changed.allow(loaded, checked.extents)
    if loaded.design is None:
        following = changed.again("run", scenario)
    else:
        following = _sweep_beside(Path("results") / scenario.stem, scenario, changed)
    call.note(f"{'' if details else 'more: --details    '}next: {following}")


def _sweep_beside(run: Path, scenario: Path, changed: Changed) -> str:
    """The command for the sweep of a scenario, with results beside those of its run."""
    return changed.again("sweep", scenario, "-o", f"{run}-sweep")


@verb(out="--out -o DIR")
def run(
    call: Call, scenario: Path, *, changed: Changed, seed: int | None = None, out: Path | None = None
) -> int | None:
    """Simulate a scenario and write a results folder.

    The same scenario, seed and version give the same tables, byte for byte. With --force an older result in the folder
    is replaced when the new one is complete. A folder with anything else in it is left alone. Warnings of `farweb
    check` are repeated, and kept in the manifest. Ends with exit code 3 without a single answer.

    Args:
        scenario: A scenario file (TOML).
        seed: Root of every random stream, instead of the scenario's run.seed.
        out: Results folder (default: results/SCENARIO).

    Examples:

        farweb run satellite.toml

        farweb run satellite.toml --set workload.load=4 --out results/load-4
    """
    from farweb.check.check import explained
    from farweb.inputs.prepared import Prepared
    from farweb.library.run_results import Results
    from farweb.run import simulate

    loaded = changed.load(scenario, seed)
    folder = Path("results") / loaded.path.stem if out is None else out
    with Prepared.of(loaded) as prepared:
        checked = explained(loaded.without_sweep(), prepared)
        changed.allow(loaded, checked.extents)
        for warning in checked.warnings:
            call.warn(warning)
        with call.progress("simulating") as show:

            def on_progress(now: "Progress") -> None:
                show(now.ended, now.total, f"{now.ended:,} requests ended by {now.now_ns / 1e9:,.0f} s")

            simulate(prepared, folder, on_progress, replace=call.force, warnings=checked.warnings)
    results = Results.open(folder)
    if call.as_json or not call.is_quiet:
        summary = results.summary()
        found = {"answer": summary.answer, "summary": summary.to_dict(), "warnings": checked.warnings}
        call.result({"results": str(results.path), **found}, summary.screen(called=command("show", results.path)))
    if results.unanswered:
        call.warn(f"no request was answered, of {results.unanswered:,} that began; wrote {results.path}")
        return _UNANSWERED
    if loaded.design is not None:
        points = plural(len(loaded.design.points), "point")
        call.note(f"its sweep of {points}: {_sweep_beside(results.path, scenario, changed)}")
    call.wrote(results.path, "report", results.path)
    return None


@verb(writes=False, by="--by FACTOR", everyone="--all")
def show(
    call: Call,
    results: str,
    *,
    metric: Sequence[str] = (),
    by: Sequence[str] = (),
    log: bool = False,
    breakdown: bool = False,
    links: bool = False,
    details: bool = False,
    everyone: bool = False,
    variation: bool = False,
    pairs: bool = False,
) -> None:
    """Summarize a run or a sweep.

    Of a run: how long requests take, and why. Of a sweep, finished or not: the best point, how much more time the
    others take, what each setting changes, failed runs, and warnings.

    Args:
        results: The results folder of a run or a sweep; of a sweep also a URL.
        metric: Of a sweep: a metric to show; may be given more than once.
        by: Of a sweep: show means by this factor; more than once for several. With --breakdown: visit (its first
            requests and its later ones) or client.
        log: Of a sweep: allocate the variation of logarithms, for effects that multiply.
        breakdown: Of a run with record.exchanges: where the time of the requests tagged sample goes, or of all.
        links: Of a run: links, and connections by leg.
        details: Of a run: failures, caches, clients, links, connections and memory as well. Of a sweep: estimates,
            differences with intervals, and the warm-up.
        everyone: Of a sweep: all points. With --breakdown: of all requests, tagged or not.
        variation: Of a sweep: shares of variation, with seeds of their own requests.
        pairs: Of a sweep: the verdict on each pair.

    Examples:

        farweb show results/satellite

        farweb show results/satellite --breakdown

        farweb show results/satellite --breakdown --by visit

        farweb show results/sweep --metric latency_p90_s --by workload.load
    """
    from farweb.library.folders import open_results
    from farweb.library.run_results import Results
    from farweb.results.tables import PAGE
    from farweb.text.sheet import Screen

    opened = open_results(results)
    if isinstance(opened, Results):
        if everyone and not breakdown:
            raise UsageError("--all is for --breakdown: give both")
        if variation or pairs:
            raise UsageError(f"{results}: is a run; --variation and --pairs are for sweeps")
        if metric or log or (by and not breakdown):
            raise UsageError(f"{results}: is a run; --metric and --log are for sweeps, --by is for --breakdown")
        if by:
            if everyone:
                raise UsageError("--by has all requests: leave --all out")
            groups = opened.breakdowns(by)
            shown = Screen([part for each in groups for part in ("", *each.screen().parts)])
            call.result({"results": str(results), "breakdowns": [each.to_dict() for each in groups]}, shown)
            return
        if breakdown:
            parts = opened.breakdown(tagged=False if everyone else None)
            call.result({"results": str(results), "breakdown": parts.to_dict()}, parts)
            return
        summary, warnings = opened.summary(), opened.manifest.get("warnings", [])
        found = {"answer": summary.answer, "summary": summary.to_dict(), "warnings": warnings}
        asked = [name for name, is_asked in (("links", links), ("details", details)) if is_asked]
        shown = summary.screen(asked)
        if opened.has(PAGE):
            from farweb.pages.breakdown import largest_parts
            from farweb.views.page_load import read_view

            view = read_view(opened)
            found["page"] = {"onload_ns": view.load_ns, "split_ns": view.split_ns}
            shown = Screen((f"Page in {largest_parts(view)}.", *shown.parts))
        call.result({"results": str(results), **found}, shown)
        return
    if links:
        raise UsageError(f"{results}: is a sweep; --links is of a run")
    if breakdown:
        raise UsageError(f"{results}: is a sweep; --breakdown is of a run: name one in {opened.path / 'parts'}")
    if not call.as_json:
        opened.require_done()
    from farweb.summary.screen import screen

    sweep = opened.summary(
        metric or (opened.metrics if call.as_json else None), by or None, log=log, decide=metric or None
    )
    more = {"all": everyone, "details": details, "variation": variation or log, "pairs": pairs}
    whole = screen(sweep, [name for name, is_asked in more.items() if is_asked], asked=bool(metric or by))
    call.result({"results": str(results), "sweep": sweep.to_dict()}, whole)


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
