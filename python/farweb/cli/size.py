"""`farweb size`: finds the smallest or largest value of a key that meets a target."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from farweb.cli.options import Debug, Jobs, Json, NoLimits, Output, Quiet, Retries, RunMemory, RunTime, Scheduler
from farweb.cli.runs import ScenarioFile, Settings, allow, load
from farweb.extras import SWEEP, require
from farweb.text.words import command

if TYPE_CHECKING:
    from farweb.size.find import Progress

_NOT_MET = 4
_WARNINGS_MAX = 3
_LOAD = ("workload.load", "workload.speed")  # more is wanted of them


def size(
    scenario: ScenarioFile,
    vary: Annotated[
        str,
        typer.Option(
            metavar="KEY=LO..HI",
            help="What to vary: a key over a range or a list (KEY=v1,v2,v3), or the name of a factor of [sweep].",
        ),
    ],
    target: Annotated[
        str | None,
        typer.Option(
            metavar="EXPR",
            help="Condition to meet: METRIC OP VALUE, joined by `and`, such as 'p50(latency) <= 0.5 s'; not worse than "
            "the best (latency <= 1.05*best) by default.",
        ),
    ] = None,
    largest: Annotated[bool, typer.Option("--largest", help="Find the largest value instead of the smallest.")] = False,
    resolution: Annotated[
        str | None,
        typer.Option(
            metavar="STEP",
            help="Step between values, such as '1 B' or '0.1 %'; 1 for whole numbers and packets, otherwise 1 %.",
        ),
    ] = None,
    width: Annotated[
        str | None,
        typer.Option(
            metavar="WIDTH",
            help="Width of the answer's interval to stop at, such as 5, '64 kB' or '10 %' (default: a step).",
        ),
    ] = None,
    confidence: Annotated[
        float,
        typer.Option(min=0.5, max=0.9999, help="Probability that the answer's interval and every verdict are right."),
    ] = 0.95,
    replications: Annotated[
        int, typer.Option(min=3, max=10_000, help="Runs of a value at first, where the seed makes a difference.")
    ] = 5,
    max_replications: Annotated[
        int, typer.Option(min=3, max=10_000, help="Most runs of a value; then it stays open.")
    ] = 55,
    max_runs: Annotated[int, typer.Option(min=1, help="Most runs in all.")] = 1000,
    settings: Settings = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, help="Seed of the first replication, instead of the scenario's run.seed."),
    ] = None,
    jobs: Jobs = None,
    scheduler: Scheduler = None,
    retries: Retries = 0,
    run_memory: RunMemory = None,
    run_time: RunTime = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Results folder, or a URL such as s3://… (default: results/SCENARIO-size).",
        ),
    ] = None,
    no_limits: NoLimits = False,
    details: Annotated[bool, typer.Option("--details", help="All values with their runs and intervals.")] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Find the smallest value of a key that meets a target, or that is not worse than the best.

    Brackets the value with a run at each, replicates where the seed matters and the answer is open, and compares the
    values tried with it. Runs with results in the folder are not repeated. Ends with exit code 4 when no value meets
    the target.

    Examples:

        farweb size satellite.toml --vary workload.load=1..8 --largest

        farweb size satellite.toml --vary leg.0.tcp.buffer='4 KiB..64 KiB' --target 'p50(latency) <= 1.1*best'

        farweb size satellite.toml --vary path.link.0.down.queue='1 packets..400 packets' --target 'drops <= 0'

        farweb size satellite.toml --vary workload.load=1..16 --largest --target 'p90(latency) <= 4 s'
    """
    del debug
    if jobs is not None and scheduler is not None:
        raise typer.BadParameter("--jobs is for this machine; a cluster that runs (--scheduler) has its own workers")
    if max_replications < replications:
        raise typer.BadParameter("--max-replications must be at least --replications")
    if target is None and not largest and (key := vary.partition("=")[0].strip()) in _LOAD:
        raise typer.BadParameter(
            f"--vary {key}: the smallest load is always the fastest; write --largest for the most load that is not "
            "worse than the best, or a condition: --largest --target 'p90(latency) <= 4 s'"
        )
    require("farweb size", *SWEEP)
    from farweb.size.find import earlier_search, extent_of_search, find_size
    from farweb.size.screen import screen
    from farweb.size.search import Limits
    from farweb.size.target import DEFAULT, parse_target

    loaded = load(scenario, settings)
    if seed is not None:
        loaded = loaded.with_({"run.seed": seed})
    folder = f"results/{scenario.stem}-size" if out is None else out
    output = Output(as_json, quiet)
    target = DEFAULT if target is None else target
    limits = Limits(confidence, replications, max_replications, max_runs)
    of_first = extent_of_search(
        loaded, vary, target, largest=largest, resolution=resolution, width=width, limits=limits
    )
    if of_first is not None:
        allow(loaded, [of_first], no_limits)
        for warning in of_first.warnings:
            output.warn(warning)
    if (before := earlier_search(folder)) is not None:
        output.note(_about_earlier(before, folder, vary, str(parse_target(target))))
    with output.progress("searching") as show:

        def on_progress(now: "Progress") -> None:
            show(now.done, None, _words(now))

        with output.continuing(folder):
            answer = find_size(
                loaded,
                vary,
                target,
                largest=largest,
                resolution=resolution,
                width=width,
                limits=limits,
                out=folder,
                jobs=jobs,
                scheduler=scheduler,
                retries=retries,
                run_memory=run_memory,
                run_time=run_time,
                progress=on_progress,
            )
    if as_json or not quiet:
        output.result({"results": folder, **answer.to_dict(), "text": answer.text}, screen(answer, details=details))
    if not as_json:
        for warning in answer.warnings if details else answer.warnings[:_WARNINGS_MAX]:
            output.warn(warning)
    output.note(f"wrote {folder}    next: {command('report', folder)}")
    if answer.answer is None:
        raise typer.Exit(_NOT_MET)


def _about_earlier(before: dict[str, Any], folder: str, vary: str, target: str) -> str:
    """Say that a search continues, or which answer it replaces: by what was asked otherwise then."""
    if "answer" not in before:
        return f"continues the search in {folder}"
    other = [before["key"]] if before["key"] != vary.partition("=")[0].strip() else []
    other += [before["target"]] if before["target"] != target else []
    what = f" for {', '.join(other)}" if other else ""
    return f"replaces the answer{what} in {folder}, and takes its runs where they are alike"


def _words(now: "Progress") -> str:
    words = f"{now.done:,} of {now.asked:,} runs so far"
    if now.low is None and now.high is None:
        return words
    return f"{words}; between {now.low or 'the first value'} and {now.high or 'the last value'}"
