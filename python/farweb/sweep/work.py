"""The work of a worker: simulates each of its runs into its part of the store and reports outcomes."""

import os
import platform
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from farweb import _core
from farweb.errors import FarwebError, RunError, StorageError
from farweb.results.manifest import MANIFEST
from farweb.results.measure import Measurement
from farweb.results.store import Outcome, Store, part_name
from farweb.run import scenario_warnings, simulate_into, write_manifest
from farweb.sweep.inputs import shared_tables
from farweb.sweep.limits import RunLimits
from farweb.sweep.plan import Run


@dataclass(frozen=True)
class Version:
    """Versions that must be the same where a sweep is begun and where it is worked on."""

    version: str
    result_version: int

    @classmethod
    def here(cls) -> "Version":
        """The one of this process."""
        return cls(_core.version, _core.result_version)


_NO_LIMITS = RunLimits()

BATCH_S = 0.2  # chosen: files of short runs reach the disk together, and runs are spread evenly enough


def work_batch(
    store: Store,
    runs: Sequence[Run],
    wanted: Version,
    limits: RunLimits = _NO_LIMITS,
) -> list[Outcome]:
    """Do runs one after the other, and no further one after `BATCH_S` (see `work`).

    Returns:
        Outcomes of the runs done, which are on the disk by then.

    Raises:
        StorageError: As `work`.
        RunError: As `work`.
    """
    until, worker = time.monotonic() + BATCH_S, f"{platform.node()}:{os.getpid()}"
    outcomes = [work(store, runs[0], wanted, worker, limits)]
    while len(outcomes) < len(runs) and time.monotonic() < until:
        outcomes.append(work(store, runs[len(outcomes)], wanted, worker, limits))
    store.flush(outcome.run for outcome in outcomes if outcome.status == "done")
    return outcomes


def work(
    store: Store,
    run: Run,
    wanted: Version,
    worker: str,
    limits: RunLimits = _NO_LIMITS,
) -> Outcome:
    """Simulate `run` into its part.

    Returns:
        Its outcome. A failed run is an outcome too.

    Raises:
        StorageError: The store cannot be written to, or this machine does not see it.
        RunError: This worker has another version of farweb.
    """
    if (here := Version.here()) != wanted:
        raise RunError(
            f"the worker {worker} has farweb {here.version} (results version {here.result_version}), and the sweep was "
            f"begun with {wanted.version} ({wanted.result_version}); install the same everywhere"
        )
    if store.has(f"{part_name(run.run)}/{MANIFEST}"):  # of a worker that was lost before it could answer
        return store.outcome(run.run)
    began, cpu = time.perf_counter(), time.thread_time()
    try:
        manifest = _simulate(store, run, limits, began, cpu)
    except _Failed as failed:
        return Outcome(run.run, "failed", str(failed), wall_s=time.perf_counter() - began, worker=worker)
    return Outcome(
        run.run,
        "done",
        metrics=manifest["metrics"],
        wall_s=time.perf_counter() - began,
        cpu_s=time.thread_time() - cpu,
        events=manifest["events"],
        packet_hops=manifest["packet_hops"],
        worker=worker,
    )


class _Failed(Exception):  # noqa: N818 - an outcome of a run
    """A run has failed, with the reason in a line."""


def _simulate(store: Store, run: Run, limits: RunLimits, began: float, cpu: float) -> dict[str, Any]:
    """Simulate into the part of the run and return its manifest."""
    watch = limits.watch()
    with store.part(run.run) as folder:
        try:
            measurement = Measurement(run.scenario.core.warmup_ns)
            with shared_tables(store, run.scenario, run.seed, run.inputs) as prepared:
                manifest = simulate_into(
                    folder, prepared, run.seed, watch, measurement, warnings=scenario_warnings(prepared)
                )
            manifest |= {"run": run.run, "point": run.point, "replication": run.replication}
            manifest["metrics"] = measurement.metrics(manifest)
        except (OSError, StorageError):
            raise  # of the machine: the store puts it in a line
        except BaseException as error:
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":  # of the core
                raise
            # The folder has another name each time. Equal runs have the same error.
            raise _Failed(_one_line(error).replace(str(folder), part_name(run.run))) from error
        manifest["wall_s"] = round(time.perf_counter() - began, 6)
        manifest["cpu_s"] = round(time.thread_time() - cpu, 6)
        write_manifest(folder, manifest)
    return manifest


def _one_line(error: BaseException) -> str:
    first = (str(error) or type(error).__name__).splitlines()[0]
    if isinstance(error, MemoryError):
        return f"memory ran out: {first}"
    return first if isinstance(error, FarwebError) else f"this is a bug in farweb: {type(error).__name__}: {first}"
