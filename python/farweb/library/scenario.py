"""Scenarios as users handle them: load one, change it, check it, run it, sweep it."""

from collections.abc import Callable
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from farweb.check.check import Check, check
from farweb.inputs.description import Description
from farweb.progress import unseen

if TYPE_CHECKING:
    from farweb.library.run_results import Results
    from farweb.library.sweep_results import SweepResults
    from farweb.run import Progress
    from farweb.sweep.sweep import Progress as SweepProgress


class Scenario(Description):
    """A checked scenario: from a file with `Scenario.load`, or from a dict with the keys of such a file.

    Change keys with `with_`, simulate with `run` or `sweep`. It can be pickled and is checked again after that.
    """

    def check(self) -> Check:
        """Explain the scenario: round-trip times, bytes that the path holds, window limits, offered load, warnings.

        Reads the tables of the workload, if they are there, and simulates nothing.

        Raises:
            WorkloadError: A table cannot be used.
        """
        return check(self)

    def run(
        self,
        seed: int | None = None,
        out: str | Path | None = None,
        progress: "Callable[[Progress], None]" = unseen,
        *,
        replace: bool = True,
    ) -> "Results":
        """Simulate the scenario and write a results folder.

        Args:
            seed: Root of every random stream (default: the scenario's `run.seed`). The same scenario, seed and version
                give the same tables, byte for byte, in any process.
            out: The folder (default: ``results/NAME`` with the name of the scenario file).
            progress: Called some ten times a second.
            replace: True to replace an older result of a run. Anything else there stays.

        Raises:
            ScenarioError: The seed is not allowed.
            WorkloadError: A table of the workload cannot be used.
            ResultsError: There is a folder at `out` that is not a result, or may not be replaced.
            RunError: The run failed, or the disk is full. Nothing is left at `out` then.
        """
        from farweb.check.check import explained
        from farweb.inputs.prepared import Prepared
        from farweb.library.run_results import Results
        from farweb.run import simulate

        scenario = self if seed is None else self.with_({"run.seed": seed})
        folder = Path("results") / self.path.stem if out is None else Path(out)
        with Prepared.of(scenario) as prepared:
            warnings = explained(scenario.without_sweep(), prepared).warnings
            simulate(prepared, folder, progress, replace=replace, warnings=warnings)
        return Results.open(folder)

    def sweep(
        self,
        out: str | Path | None = None,
        *,
        jobs: int | None = None,
        scheduler: str | None = None,
        retries: int = 0,
        run_memory: str | None = None,
        run_time: str | None = None,
        progress: "Callable[[SweepProgress], None]" = unseen,
    ) -> "SweepResults":
        """Do the runs of the scenario's table `[sweep]`, as many at a time as there are cores.

        Runs with results in the folder are not repeated. A run that fails is recorded, and the others continue.

        Args:
            out: Results folder, or a URL that fsspec knows, such as s3://… (default: ``results/NAME`` with the name of
                the scenario file).
            jobs: Runs at a time, a process each (default: as many as cores).
            scheduler: A running Dask cluster instead: tcp://host:port, tls://host:port, or its scheduler file.
            retries: How often a run that failed is tried again.
            run_memory: Memory of a run's process beyond which that run fails, such as ``2 GB`` (default: no limit).
            run_time: Time beyond which a run fails, such as ``10 min`` (default: no limit).
            progress: Called some ten times a second.

        Raises:
            ScenarioError: There is no table `[sweep]`, or a combination of levels is not allowed.
            WorkloadError: A table of the workload cannot be used. Nothing is written then.
            ResultsError: There is something else at `out`, or another sweep is at work there.
            RunError: The folder cannot be written to, or the scheduler has gone. Finished runs stay.
        """
        from farweb.library.sweep_results import SweepResults
        from farweb.sweep.limits import RunLimits
        from farweb.sweep.sweep import run_sweep
        from farweb.sweep.workers import Workers

        folder = Path("results") / self.path.stem if out is None else out
        limits = RunLimits.of(run_memory, run_time)
        with Workers.of(jobs, scheduler) as workers:
            run_sweep(self, folder, workers, retries=retries, limits=limits, progress=progress)
        return SweepResults.open(folder)

    def _repr_html_(self) -> str:
        return f"<strong>{escape(self.name)}</strong><pre>{escape(self.check().text)}</pre>"
