"""`farweb sweep`: runs all combinations of the levels in a scenario's table `[sweep]`."""

from pathlib import Path
from typing import TYPE_CHECKING

from farweb.cli.runs import Changed
from farweb.cli.verbs import Call, UsageError, verb
from farweb.errors import RunError
from farweb.extras import SWEEP, require

if TYPE_CHECKING:
    from farweb.sweep.sweep import Progress


@verb("library.scenario:Scenario.sweep", writes=False, out="--out -o DIR", only_plan="--plan")
def sweep(call: Call, scenario: Path, *, changed: Changed, out: str | None = None, only_plan: bool = False) -> None:
    """Simulate all combinations of a scenario's table `[sweep]`, as many at a time as there are cores.

    Runs with results in the folder are not repeated: the same command continues after an interruption, and with more
    levels or replications adds only the missing runs. A run that fails is recorded, and the others continue.

    Args:
        scenario: A scenario file (TOML).
        out: Results folder, or a URL such as s3://… (default: results/SCENARIO).
        only_plan: List the runs and estimate their packets, without running them.

    Examples:

        farweb sweep buffers.toml --plan

        farweb sweep buffers.toml --jobs 8

        farweb sweep buffers.toml --scheduler tcp://cluster.example:8786 --out /shared/buffers
    """
    if {"jobs", "scheduler"} <= set(call.given):
        raise UsageError("--jobs is for this machine; a cluster that runs (--scheduler) has its own workers")
    require("farweb sweep", *SWEEP)
    loaded = changed.load(scenario)
    folder = out or f"results/{scenario.stem}"
    of_all = loaded.check().extents[1:] if loaded.design is not None else ()
    changed.allow(loaded, of_all)
    for extent in of_all:
        for warning in extent.warned:
            call.warn(str(warning))
    if only_plan:
        from farweb.sweep.schedule import schedule

        planned = schedule(loaded, folder, call.given.get("jobs"))
        call.result({"results": folder, "plan": planned.to_dict()}, planned)
        return
    damaged = 0
    with call.progress("sweeping", left=False) as show, call.continuing(folder):

        def on_progress(now: "Progress") -> None:
            nonlocal damaged
            damaged = now.damaged
            show(now.done + now.failed, now.total, _words(now))

        results = loaded.sweep(folder, progress=on_progress, **call.of(loaded.sweep))
    if damaged:
        call.note(f"{damaged} runs were done again: a file of theirs was missing, or not as it was written.")
    failures = results.runs.filter(results.runs["status"] == "failed")
    if call.as_json or (not call.is_quiet and len(failures) < len(results.runs)):
        from farweb.summary.screen import screen

        summary = results.summary()
        done = {"results": folder, "runs": len(results.runs), "failed": len(failures), "summary": summary.to_dict()}
        call.result(done, screen(summary))
    if len(failures):
        raise RunError(
            f"{len(failures)} of {len(results.runs)} runs failed, the first with: {failures['error'][0]} "
            f"({folder}/failures describes each; the same command tries them again)"
        )
    if results.unanswered:
        raise RunError(f"no request was answered, of {results.unanswered:,} that began; wrote {folder}")
    call.wrote(folder, "report", folder)


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
