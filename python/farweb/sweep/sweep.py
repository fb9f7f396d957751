"""A sweep from its scenario to its results: plan, run the missing runs, write the tables."""

import json
import sys
import time
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from farweb import _core
from farweb.files.columns import of_numbers, of_values
from farweb.inputs.description import Description
from farweb.progress import unseen
from farweb.results import integrity
from farweb.results.design import Design
from farweb.results.manifest import MANIFEST, SWEEP_KIND
from farweb.results.metrics import METRICS
from farweb.results.store import Outcome, Store, part_name
from farweb.results.sweep import SweepTables
from farweb.results.sweep_schema import factor_value, schema, write_table
from farweb.results.sweep_statistics import STATISTICS
from farweb.sweep.inputs import Inputs
from farweb.sweep.limits import RunLimits
from farweb.sweep.plan import Run, plan
from farweb.sweep.pool import Pool
from farweb.sweep.workers import Workers

_SHOWN_S = 0.1  # how often progress is reported


@dataclass(frozen=True)
class Progress:
    """How far a sweep is.

    Attributes:
        total: Runs of the plan.
        done: Runs with results, earlier sweeps included.
        failed: Runs that failed.
        found: Runs with earlier results.
        events: Events processed by the runs of this sweep.
        elapsed_s: Since the first run was handed out.
        workers: Runs done at a time, or 0 while no worker has come.
        damaged: Runs that are done again, since their results were there but not as they were written.
    """

    total: int
    done: int
    failed: int
    found: int
    events: int
    elapsed_s: float
    workers: int
    damaged: int

    @property
    def left_s(self) -> float | None:
        """Estimate of the time that is left, from the runs of this sweep so far, or None before there are any."""
        made = self.done + self.failed - self.found
        return (self.total - self.done - self.failed) * self.elapsed_s / made if made else None


def run_sweep(
    scenario: Description,
    out: str | Path,
    workers: Workers,
    *,
    retries: int = 0,
    limits: RunLimits | None = None,
    progress: Callable[[Progress], None] = unseen,
) -> SweepTables:
    """Do the runs of a scenario's sweep that are missing in the folder `out` (see `Scenario.sweep`)."""
    for _ in sweep_steps(scenario, out, workers, retries=retries, limits=limits, progress=progress):
        pass
    return SweepTables.open(out)


def sweep_steps(
    scenario: Description,
    out: str | Path,
    workers: Workers,
    *,
    retries: int = 0,
    limits: RunLimits | None = None,
    progress: Callable[[Progress], None] = unseen,
) -> Generator[None, None, None]:
    """A sweep that pauses whenever its workers have all of its runs.

    A further sweep on the same workers can begin then: they need not wait for the last runs of this one, and not while
    its statistics are made. See `run_sweep`.
    """
    store, inputs = Store(out), Inputs()
    runs = plan(scenario, inputs)
    design = scenario.design
    assert design is not None, "plan() asks for one"
    manifest = describe(scenario, design, inputs, len(runs))
    if _is_whole(store, manifest, runs):
        return
    with store.claimed():
        inputs.write(store)
        begin(store, manifest, inputs, design, runs)
        table = RunTable(runs)
        with Pool(store, workers, retries=retries, limits=limits) as pool:
            yield from _collected(pool, runs, table, progress)
            finish(store, manifest, inputs, design, table, pool)


def _is_whole(store: Store, manifest: Mapping[str, Any], runs: Sequence[Run]) -> bool:
    """True when the store has a finished sweep of this plan, all of it as it was written."""
    there = store.manifest()
    if there is None or integrity.unsealed(there) != {**manifest, "complete": True}:
        return False
    parts = {run.run for run in runs}
    return parts <= store.finished() and not any(
        any(integrity.damages(store, folder, full=True)) for folder in ("", *map(part_name, sorted(parts)))
    )


def describe(scenario: Description, design: Design, inputs: Inputs, runs: int) -> dict[str, Any]:
    """The manifest of a sweep, but for `complete`: nothing that differs between two equal sweeps."""
    return {
        "kind": SWEEP_KIND,
        "version": _core.version,
        "result_version": _core.result_version,
        "name": scenario.name,
        "seed": scenario.effective["run"]["seed"],
        "scenario": scenario.effective,
        "design": json.loads(json.dumps(asdict(design))),  # lists as they come back from a file
        "inputs": inputs.described(),
        "runs": runs,
    }


def begin(store: Store, manifest: Mapping[str, Any], inputs: Inputs, design: Design, runs: Sequence[Run]) -> None:
    """Write the sweep's manifest before any run begins, and remove the tables of an earlier one."""
    store.write_json(MANIFEST, integrity.seal({**manifest, "complete": False}, inputs.copies))
    for table in ("runs", "timings", *STATISTICS):
        store.remove(f"{table}.parquet")
    with store.file("plan.parquet") as file:
        write_table(_table(schema("plan", design), _planned(design, runs), {}, len(runs)), file)


def finish(
    store: Store, manifest: Mapping[str, Any], inputs: Inputs, design: Design, table: "RunTable", pool: Pool
) -> None:
    """Write the tables made of all runs, and at last mark the sweep complete."""
    for name, content in (("runs", table.runs(design)), ("timings", table.timings(design))):
        with store.file(f"{name}.parquet") as file:
            write_table(content, file)
    SweepTables.open(store.url).write_tables(pool.map)
    tables = dict(inputs.copies)
    for name in ("plan", "runs", *STATISTICS):  # not timings, which differ between equal sweeps
        with store.open(f"{name}.parquet") as file:
            tables[f"{name}.parquet"] = integrity.describe(file)
    store.write_json(MANIFEST, integrity.seal({**manifest, "complete": True}, tables))


def _collected(
    pool: Pool, runs: Sequence[Run], table: "RunTable", progress: Callable[[Progress], None]
) -> Iterator[None]:
    """Enter the outcomes of runs into a table, with a pause whenever the workers have all of them."""
    began = shown = time.monotonic()
    events = found = 0
    progress(Progress(len(runs), 0, 0, 0, 0, 0.0, 0, 0))
    for outcome in pool.outcomes(runs):
        table.add(outcome)
        if outcome.worker:
            events += outcome.events
        else:
            found += 1
        now = time.monotonic()
        if now - shown > _SHOWN_S or table.ended == len(runs):
            shown = now
            done = table.ended - table.failed
            progress(Progress(len(runs), done, table.failed, found, events, now - began, pool.threads, pool.damaged))
        if pool.handed_over and table.ended < len(runs):
            yield


class RunTable:
    """Outcomes of the runs of a plan, in the memory that all of them need from the start."""

    def __init__(self, runs: Sequence[Run]) -> None:
        self.ended = 0
        self.failed = 0
        self._runs = runs
        self._places: dict[str, list[int]] = {}
        for place, run in enumerate(runs):
            self._places.setdefault(run.run, []).append(place)
        self._errors: dict[int, str] = {}
        self._metrics: dict[str, NDArray[np.float64]] = {}
        self._names: list[tuple[str, ...]] = [()] * len(runs)
        self._known_names: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._costs = {name: np.full(len(runs), np.nan) for name in ("wall_s", "cpu_s", "events", "packet_hops")}
        self._workers: list[str | None] = [None] * len(runs)

    def add(self, outcome: Outcome) -> None:
        """Enter the outcome of a run, for every run of the plan with its id."""
        names = tuple(outcome.metrics)
        names = self._known_names.setdefault(names, names)
        for place in self._places[outcome.run]:
            self.ended += 1
            self._names[place] = names
            for name, value in outcome.metrics.items():
                if name not in self._metrics:
                    self._metrics[name] = np.full(len(self._runs), np.nan)
                self._metrics[name][place] = np.nan if value is None else value
            if outcome.status == "failed":
                self.failed += 1
                self._errors[place] = outcome.error or ""
                continue
            for name, column in self._costs.items():
                column[place] = getattr(outcome, name)
            self._workers[place] = sys.intern(outcome.worker) or None

    def runs(self, design: Design) -> pa.Table:
        """The table `runs`: a row a run in the order of the plan."""
        named = dict.fromkeys(name for names in dict.fromkeys(self._names) for name in names)
        wanted = schema("runs", design, [*METRICS, *(name for name in named if name not in METRICS)])
        columns = _planned(design, self._runs)
        columns["status"] = ["failed" if place in self._errors else "done" for place in range(len(self._runs))]
        columns["error"] = [self._errors.get(place) for place in range(len(self._runs))]
        return _table(wanted, columns, self._metrics, len(self._runs))

    def timings(self, design: Design) -> pa.Table:
        """The table `timings`: the cost of each run, in the order of the plan."""
        columns: dict[str, Sequence[Any]] = {"run": [run.run for run in self._runs], "worker": self._workers}
        return _table(schema("timings", design), columns, self._costs, len(self._runs))


def _planned(design: Design, runs: Sequence[Run]) -> dict[str, list[Any]]:
    """The columns that a run has before it has ended."""
    columns: dict[str, list[Any]] = {key: [getattr(run, key) for run in runs] for key in ("run", "replication", "seed")}
    for factor in design.factors:
        columns[factor.name] = [factor_value(factor, run.levels[factor.name]) for run in runs]
    return columns


def _table(
    wanted: pa.Schema, columns: Mapping[str, Sequence[Any]], numbers: Mapping[str, NDArray[np.float64]], rows: int
) -> pa.Table:
    """A table from lists, and from numbers with NaN as null."""
    arrays = []
    for field in wanted:
        if field.name in columns:
            arrays.append(of_values(columns[field.name], field.type))
        elif field.name in numbers:
            found = numbers[field.name]
            missing = np.isnan(found)
            whole = np.where(missing, 0, found).astype(np.int64) if pa.types.is_integer(field.type) else found
            arrays.append(of_numbers(whole, field.type, missing))
        else:
            arrays.append(pa.nulls(rows, field.type))
    return pa.Table.from_arrays(arrays, schema=wanted)
