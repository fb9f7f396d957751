"""Does the runs of studies: all sweeps on one set of workers, each begun when the one before has handed out its own."""

import contextlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from farweb.errors import FarwebError
from farweb.files.atomic import staged_file
from farweb.inputs.description import Description
from farweb.progress import unseen
from farweb.reproduce.study import Study, StudyResults, StudySweep
from farweb.results.store import Store
from farweb.sweep.inputs import Inputs
from farweb.sweep.plan import plan
from farweb.sweep.sweep import Progress as SweepProgress
from farweb.sweep.sweep import sweep_steps
from farweb.sweep.workers import Workers


@dataclass(frozen=True)
class Progress:
    """Progress of a campaign.

    Attributes:
        total: Runs of all sweeps.
        ended: Runs that have ended, earlier campaigns included.
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
    workers: Workers,
    progress: Callable[[Progress], None] = unseen,
) -> list[StudyResults]:
    """Do the runs that are missing in the folder `out`, which has a folder a study and in it one a sweep.

    All scenarios are checked before the first run begins.

    Raises:
        ScenarioError: A scenario is not allowed.
        ResultsError: There is something else at a sweep's place, or another command is at work there.
        RunError: The folder cannot be written to. Finished runs stay.
    """
    planned = [_plan(study, sweep, out / study.name, quick=quick) for study in studies for sweep in study.sweeps]
    campaign = _Campaign(planned, progress)
    with contextlib.ExitStack() as stack:
        before: Iterator[None] = iter(())
        for each in planned:
            folder = out / each.study.name / each.sweep.name
            whole = set(each.runs) <= Store(folder).finished()
            report = campaign.reporter(each, done=len(each.runs) if whole else 0)
            steps = sweep_steps(each.scenario, folder, workers, progress=report)
            stack.callback(steps.close)
            next(steps, None)
            _end(before)
            before = steps
        _end(before)
    return [StudyResults(study, out / study.name, quick=quick) for study in studies]


def _end(steps: Iterator[None]) -> None:
    for _ in steps:
        pass


class _Campaign:
    """Progress of the sweeps, two of them at a time at most."""

    def __init__(self, planned: Sequence[_Planned], progress: Callable[[Progress], None]) -> None:
        self._total = sum(len(each.runs) for each in planned)
        self._progress = progress
        self._of_sweeps: dict[str, tuple[int, int]] = {}

    def reporter(self, planned: _Planned, done: int) -> Callable[[SweepProgress], None]:
        """Callback for the progress of a sweep with so many runs done."""
        name = f"{planned.study.name}/{planned.sweep.name}"

        def take(now: SweepProgress) -> None:
            self._of_sweeps[name] = now.done, now.failed
            done, failed = map(sum, zip(*self._of_sweeps.values(), strict=True))
            self._progress(Progress(self._total, done + failed, failed, name))

        self._of_sweeps[name] = done, 0
        return take


def _plan(study: Study, sweep: StudySweep, folder: Path, *, quick: bool) -> _Planned:
    """Plan the runs of a sweep, and generate the tables of the study that they need into the folder."""
    scenario = sweep.load(quick=quick, tables=folder if study.tables else None)
    design = scenario.design
    if study.tables and design is not None:
        points = range(len(design.points))
        seeds = {(point, scenario.core.seed(point, each)) for point in points for each in range(design.replications)}
        inputs = [scenario.point(point).inputs(seed).values() for point, seed in sorted(seeds)]
        _write_tables(study, {each.path for named in inputs for each in named})
    return _Planned(study, sweep, scenario, tuple(run.run for run in plan(scenario, Inputs())))


def _write_tables(study: Study, files: Iterable[Path]) -> None:
    """Generate the tables that are missing, or older than what generates them.

    Raises:
        FarwebError: The study does not know such a table.
        RunError: The folder cannot be written to.
    """
    import pyarrow.parquet as pq

    module = study.folder / "workload.py"
    for file in sorted(files):
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
