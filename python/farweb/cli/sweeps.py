"""`farweb sweep`: runs all combinations of the levels in a scenario's table `[sweep]`."""

from typing import TYPE_CHECKING, Annotated

import typer

from farweb.cli.options import Debug, Jobs, Json, NoLimits, Output, Quiet, Retries, RunMemory, RunTime, Scheduler
from farweb.cli.runs import ScenarioFile, Settings, allow, load
from farweb.errors import RunError
from farweb.extras import SWEEP, require
from farweb.text.words import command

if TYPE_CHECKING:
    from farweb.sweep.sweep import Progress


def sweep(
    scenario: ScenarioFile,
    settings: Settings = None,
    jobs: Jobs = None,
    scheduler: Scheduler = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Results folder, or a URL such as s3://… (default: results/SCENARIO).",
        ),
    ] = None,
    retries: Retries = 0,
    run_memory: RunMemory = None,
    run_time: RunTime = None,
    only_plan: Annotated[
        bool, typer.Option("--plan", help="List the runs and estimate their packets, without running them.")
    ] = False,
    no_limits: NoLimits = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Simulate all combinations of a scenario's table `[sweep]`, as many at a time as there are cores.

    Runs with results in the folder are not repeated: the same command continues after an interruption, and with more
    levels or replications adds only the missing runs. A run that fails is recorded, and the others continue.

    Examples:

        farweb sweep buffers.toml --plan

        farweb sweep buffers.toml --jobs 8

        farweb sweep buffers.toml --scheduler tcp://cluster.example:8786 --out /shared/buffers
    """
    del debug
    if jobs is not None and scheduler is not None:
        raise typer.BadParameter("--jobs is for this machine; a cluster that runs (--scheduler) has its own workers")
    require("farweb sweep", *SWEEP)
    loaded = load(scenario, settings)
    folder = f"results/{scenario.stem}" if out is None else out
    output = Output(as_json, quiet)
    of_all = loaded.check().extents[1:] if loaded.design is not None else ()
    allow(loaded, of_all, no_limits)
    for extent in of_all:
        for warning in extent.warnings:
            output.warn(warning)
    if only_plan:
        from farweb.sweep.schedule import schedule

        planned = schedule(loaded, folder, jobs)
        output.result({"results": folder, "plan": planned.to_dict()}, planned)
        return
    damaged = 0
    with output.progress("sweeping", left=False) as show:

        def on_progress(now: "Progress") -> None:
            nonlocal damaged
            damaged = now.damaged
            show(now.done + now.failed, now.total, _words(now))

        with output.continuing(folder):
            results = loaded.sweep(
                folder,
                jobs=jobs,
                scheduler=scheduler,
                retries=retries,
                run_memory=run_memory,
                run_time=run_time,
                progress=on_progress,
            )
    if damaged:
        output.note(f"{damaged} runs were done again: a file of theirs was missing, or not as it was written.")
    failures = results.runs.filter(results.runs["status"] == "failed")
    if as_json or (not quiet and len(failures) < len(results.runs)):
        from farweb.summary.screen import screen

        summary = results.summary()
        done = {"results": folder, "runs": len(results.runs), "failed": len(failures), "summary": summary.to_dict()}
        output.result(done, screen(summary))
    if len(failures):
        raise RunError(
            f"{len(failures)} of {len(results.runs)} runs failed, the first with: {failures['error'][0]} "
            f"({folder}/failures describes each; the same command tries them again)"
        )
    if results.unanswered:
        raise RunError(f"no request was answered, of {results.unanswered:,} that began; wrote {folder}")
    output.note(f"wrote {folder}    next: {command('report', folder)}")


def _words(now: "Progress") -> str:
    from farweb.text.quantities import count, seconds

    if not now.workers and now.done + now.failed == now.found:
        return f"{count(now.done)} of {count(now.total)} runs; waiting for workers"
    words = f"{count(now.done + now.failed)} of {count(now.total)} runs"
    if now.failed:
        words += f", {count(now.failed)} failed"
    if now.elapsed_s > 0:
        words += f", {now.events / now.elapsed_s / 1e6:.2f} million events/s"
    return words if now.left_s is None else f"{words}, {seconds(now.left_s)} left"
