"""Does the runs of studies: all sweeps one after the other, on one set of workers."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from farweb.description import Description
from farweb.errors import FarwebError
from farweb.files.atomic import staged_file
from farweb.reproduce.study import Study, StudyResults, StudySweep
from farweb.results.store import Store
from farweb.sweep.inputs import Inputs
from farweb.sweep.plan import plan
from farweb.sweep.pool import local_cluster
from farweb.sweep.sweep import Progress as SweepProgress
from farweb.sweep.sweep import run_sweep

if TYPE_CHECKING:
    from distributed import LocalCluster


@dataclass(frozen=True)
class Progress:
    """Progress of a campaign.

    Attributes:
        total: Runs of all sweeps.
        ended: Runs that have ended, those of earlier campaigns included.
        failed: Runs that failed.
        sweep: The sweep under way: ``cable/proxy``.
    """

    total: int
    ended: int
    failed: int
    sweep: str


@dataclass(frozen=True)
class _Planned:
    study: Study
    sweep: StudySweep
    scenario: Description
    runs: tuple[str, ...]


def run_studies(
    studies: Sequence[Study],
    out: Path,
    *,
    quick: bool,
    jobs: int | None = None,
    progress: Callable[[Progress], None] | None = None,
) -> list[StudyResults]:
    """Do the runs that are missing in the folder `out`, which has a folder a study and in it one a sweep.

    All scenarios are checked before the first run begins.

    Raises:
        ScenarioError: A scenario is not allowed.
        ResultsError: There is something else at a sweep's place, or another command is at work there.
        RunError: The folder cannot be written to. What was finished stays.
    """
    planned = [_plan(study, sweep, out / study.name, quick=quick) for study in studies for sweep in study.sweeps]
    total = sum(len(each.runs) for each in planned)
    ended = failed = 0
    with contextlib.ExitStack() as stack:
        cluster: LocalCluster | None = None
        for each in planned:
            folder = out / each.study.name / each.sweep.name
            if cluster is None and not set(each.runs) <= Store(folder).finished():
                cluster = stack.enter_context(local_cluster(jobs))
            name, before = f"{each.study.name}/{each.sweep.name}", (ended, failed)

            def on_progress(now: SweepProgress, name: str = name, before: tuple[int, int] = before) -> None:
                if progress is not None:
                    progress(Progress(total, before[0] + now.done + now.failed, before[1] + now.failed, name))

            results = run_sweep(each.scenario, folder, scheduler=cluster, progress=on_progress)
            ended += len(each.runs)
            failed += int((results.runs["status"] == "failed").sum())
    return [StudyResults(study, out / study.name, quick=quick) for study in studies]


def _plan(study: Study, sweep: StudySweep, folder: Path, *, quick: bool) -> _Planned:
    """Plan the runs of a sweep, and generate the tables of the study that they need into the folder."""
    scenario = sweep.load(quick=quick, tables=folder if study.tables else None)
    design = scenario.design
    if study.tables and design is not None:
        points = range(len(design.points))
        seeds = {(point, scenario.core.seed(point, each)) for point in points for each in range(design.replications)}
        _write_tables(study, {scenario.point(point).table("requests", seed) for point, seed in sorted(seeds)})
    return _Planned(study, sweep, scenario, tuple(run.run for run in plan(scenario, Inputs())))


def _write_tables(study: Study, files: Iterable[Path | None]) -> None:
    """Generate the tables that are missing, or older than what generates them.

    Raises:
        FarwebError: The study does not know such a table.
        RunError: The folder cannot be written to.
    """
    import pyarrow.parquet as pq

    module = study.folder / "workload.py"
    for file in sorted(file for file in files if file is not None):
        if file.name not in study.tables:
            raise FarwebError(f"{module}: TABLES has no {file.name}")
        if file.exists() and file.stat().st_mtime >= module.stat().st_mtime:
            continue
        file.parent.mkdir(parents=True, exist_ok=True)
        with staged_file(file) as stage:
            pq.write_table(study.tables[file.name](), stage, compression="zstd")


def failures(results: Sequence[StudyResults]) -> Iterator[tuple[str, str]]:
    """Runs that failed: the sweep, and the error."""
    for each in results:
        for sweep in each.study.sweeps:
            runs = each.sweep(sweep.name).runs
            for error in runs.filter(runs["status"] == "failed")["error"]:
                yield f"{each.study.name}/{sweep.name}", str(error)
