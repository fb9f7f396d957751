"""Runs a scenario: drives the compiled simulation and writes its rows to a results folder as they come."""

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from farweb import _core
from farweb.errors import ResultsError, RunError
from farweb.files.atomic import is_stage, staged_folder, taken
from farweb.files.columns import Column, arrow_schema, results_tables, to_arrow
from farweb.files.made import is_made
from farweb.files.regular import kind_of
from farweb.inputs.prepared import Prepared
from farweb.memory import events_allowed, trim
from farweb.progress import unseen
from farweb.results import integrity, legs
from farweb.results.folder import EXPORTED
from farweb.results.manifest import MANIFEST, RUN_KIND, SWEEP_KIND, read_manifest
from farweb.results.tables import PAGE, PAGE_REQUESTS
from farweb.text.quantities import count, seconds
from farweb.text.sheet import to_json

if TYPE_CHECKING:
    from farweb.results.measure import Measurement

_EVENTS_A_STEP = 200_000  # chosen: some 50 ms, for a prompt Ctrl-C and progress bar
_ROWS_A_GROUP = 131_072  # chosen: Parquet reads well by groups of some MB
_BATCHES = 64  # chosen: a batch takes 20 to 40 kB besides its rows
_ROWS_AS_THEY_ARE = 128  # chosen: to compress so few rows takes longer than all else, and saves 6 kB at most


@dataclass(frozen=True)
class Progress:
    """Progress of a run.

    Attributes:
        now_ns: Simulated time since the start, in ns.
        events: Events processed.
        packet_hops: Arrivals of a packet at the far end of a link.
        started: Requests that have begun.
        ended: Requests that were answered or have failed.
        total: Requests in all, if known.
    """

    now_ns: int
    events: int
    packet_hops: int
    started: int
    ended: int
    total: int | None


def simulate(
    prepared: Prepared,
    out: Path,
    progress: Callable[[Progress], None] = unseen,
    *,
    replace: bool = True,
    warnings: Sequence[str] = (),
) -> None:
    """Run the scenario of `prepared` and write its results to the folder `out` (see `Scenario.run`).

    The manifest has the warnings.
    """
    seed = prepared.scenario.effective["run"]["seed"]
    with taken(out, lambda _: check_place(out, replace)), staged_folder(out) as stage:
        write_manifest(stage, simulate_into(stage, prepared, seed, progress, warnings=warnings))


def simulate_into(
    folder: Path,
    prepared: Prepared,
    seed: int,
    progress: Callable[[Progress], None] = unseen,
    measurement: "Measurement | None" = None,
    *,
    warnings: Sequence[str] = (),
) -> dict[str, Any]:
    """Run the scenario of `prepared`, write its tables to `folder` and return its manifest for the caller to write.

    The manifest has the warnings.

    All rows go to `measurement` as well, if there is one: the run is of a sweep, where other runs fill the cores, and
    writes between its steps. Another run writes each step in a thread while it simulates the next.
    """
    wall, cpu, scenario = time.perf_counter(), time.thread_time(), prepared.scenario
    prepared.require_untouched()
    simulation = _core.Simulation(prepared.complete, seed, prepared.core)
    total = simulation.progress()["requests_total"]
    if total is None and "requests" in prepared.inputs:
        total = round(prepared.inputs["requests"]["rows"] * scenario.effective["workload"]["load"])
    rows, cpu_of_writer = _run(simulation, folder, scenario.name, seed, total, progress, measurement)
    prepared.require_untouched()
    wall, cpu = time.perf_counter() - wall, time.thread_time() - cpu + cpu_of_writer
    return {
        "kind": RUN_KIND,
        "version": _core.version,
        "result_version": _core.result_version,
        "name": scenario.name,
        "seed": seed,
        "wall_s": round(wall, 3),
        "cpu_s": round(cpu, 3),
        **{key: simulation.progress()[key] for key in ("now_ns", "events", "packet_hops")},
        "warmup_ns": scenario.core.warmup_ns,
        "warnings": list(warnings),
        "links": json.loads(simulation.link_totals()),
        "legs": legs.described(scenario.effective),
        "measured": json.loads(simulation.measured()),
        "rows": rows,
        "inputs": {name: dict(each) for name, each in prepared.inputs.items()},
        "scenario": {**scenario.effective, "run": {**scenario.effective["run"], "seed": seed}},
    }


def scenario_warnings(prepared: Prepared) -> list[str]:
    """Warnings about the scenario of `prepared` without its requests, as lines."""
    found = json.loads(prepared.complete.check(prepared.core.hosts))["warnings"]
    return [f"{each['key']}: {each['words']}" for each in found]


def write_manifest(folder: Path, manifest: Mapping[str, Any]) -> None:
    """Write the manifest of a results folder, when all its tables are there."""
    tables = {path.name: _described(path) for path in sorted(folder.glob("*.parquet"))}
    whole = integrity.seal(to_json(manifest), tables)
    (folder / MANIFEST).write_text(json.dumps(whole, indent=2, ensure_ascii=False) + "\n", "utf-8")


def _run(
    simulation: _core.Simulation,
    folder: Path,
    name: str,
    seed: int,
    total: int | None,
    progress: Callable[[Progress], None],
    measurement: "Measurement | None",
) -> tuple[dict[str, int], float]:
    """Run to the end and write the tables as rows come.

    Returns:
        The number of rows of each table, and the processor time of the thread that wrote them, in s.
    """
    metadata = {
        "farweb.version": _core.version,
        "farweb.library.scenario": name,
        "farweb.seed": str(seed),
    }
    with contextlib.ExitStack() as stack:
        stack.enter_context(_memory_errors(simulation, total))
        writers: dict[str, TableWriter] = {}

        def writer(table: str) -> TableWriter:
            if table not in writers:
                schema = arrow_schema(results_tables()[table], {"farweb.table": table, **metadata})
                writers[table] = stack.enter_context(TableWriter(folder / f"{table}.parquet", schema))
            return writers[table]

        def write(step: Mapping[str, Mapping[str, Column]]) -> float:
            for table, columns in step.items():
                writer(table).add(columns)
                if measurement is not None:
                    measurement.add(table, columns)
            return time.thread_time()

        writer("requests")  # a run without a single request has this table too
        written: Future[float] | None = None
        with ThreadPoolExecutor(1, "writer") as thread:  # over before the files are closed
            more = True
            while more:
                more = simulation.advance(events_allowed(_EVENTS_A_STEP))
                step = simulation.take()
                if measurement is not None:
                    write(step)
                else:
                    if written is not None:
                        written.result()  # memory holds one step that waits
                    written = thread.submit(write, step)
                progress(_progress(simulation, total))
        cpu = 0.0 if written is None else written.result()
    return {table: writer.rows for table, writer in sorted(writers.items())}, cpu


@contextlib.contextmanager
def _memory_errors(simulation: _core.Simulation, total: int | None) -> Iterator[None]:
    """Turn a lack of memory into one line that says how far the run was.

    Raises:
        RunError: There is too little.
    """
    try:
        yield
    except MemoryError as error:
        now = _progress(simulation, total)
        raise RunError(
            f"memory ran out after {seconds(now.now_ns / 1e9)} of the simulation, when {count(now.ended)} of "
            f"{count(total)} requests had ended and {count(now.started - now.ended)} were under way "
            f"({str(error) or 'an allocation failed'}); fewer requests (workload.load, run.until) or fewer records "
            "(record.packets, record.exchanges) take less"
        ) from error


class TableWriter:
    """Writes columns of the core to a Parquet file, in groups of a fixed number of rows.

    Where groups begin, and whether they are compressed, depends on the rows alone, not on how they were handed over:
    equal rows give equal bytes.
    """

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self.rows = 0
        self._path = path
        self._schema = schema
        self._pending: list[pa.RecordBatch] = []
        self._pending_rows = 0
        self._file: pq.ParquetWriter | None = None

    def add(self, columns: Mapping[str, Column]) -> None:
        """Append rows and write full groups to the file."""
        batch = to_arrow(columns, self._schema)
        if not batch.num_rows:
            return
        self.rows += batch.num_rows
        self._pending.append(batch)
        self._pending_rows += batch.num_rows
        if len(self._pending) >= _BATCHES:
            self._pending = pa.Table.from_batches(self._pending).combine_chunks().to_batches()
        if self._pending_rows >= _ROWS_A_GROUP:
            self._write(self._pending_rows // _ROWS_A_GROUP * _ROWS_A_GROUP)
            trim()  # what stays of each group would add up

    @property
    def _writer(self) -> pq.ParquetWriter:
        """Writer of the file, made with the first full group or once there will be none."""
        if self._file is None:
            words = [field.name for field in self._schema if pa.types.is_string(field.type)]
            compression = "zstd" if self.rows > _ROWS_AS_THEY_ARE else "none"
            self._file = pq.ParquetWriter(self._path, self._schema, compression=compression, use_dictionary=words)
        return self._file

    def _write(self, rows: int) -> None:
        table = pa.Table.from_batches(self._pending, self._schema)
        self._writer.write_table(table.slice(0, rows), row_group_size=_ROWS_A_GROUP)
        self._pending = table.slice(rows).to_batches()
        self._pending_rows -= rows

    def __enter__(self) -> "TableWriter":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None and self._pending_rows:
            self._write(self._pending_rows)
        self._writer.close()  # of a table without rows too: a file with its columns


def _described(path: Path) -> dict[str, Any]:
    with path.open("rb") as file:
        return integrity.describe(file)


def _progress(simulation: _core.Simulation, total: int | None) -> Progress:
    now = simulation.progress()
    return Progress(
        now_ns=now["now_ns"] or 0,
        events=now["events"] or 0,
        packet_hops=now["packet_hops"] or 0,
        started=now["requests_started"] or 0,
        ended=(now["requests_finished"] or 0) + (now["requests_failed"] or 0),
        total=total,
    )


def check_place(out: Path, replace: bool) -> None:
    """Refuse a place with other things than a result, or a result that may not be replaced, before simulating.

    Raises:
        ResultsError: There is such a thing.
    """
    if not os.path.exists(out) or (out.is_dir() and not any(out.iterdir())):  # noqa: PTH110 - a name may be too long
        return
    if not out.is_dir():
        raise ResultsError(f"{out}: {kind_of(out)}; name a folder with --out")
    try:
        kind = read_manifest(out, None)["kind"]
    except ResultsError:
        kind = None
    if kind == SWEEP_KIND:
        raise ResultsError(f"{out}: has the results of a sweep; name another folder with --out")
    own = {MANIFEST, *(f"{table}.parquet" for table in (*results_tables(), PAGE, PAGE_REQUESTS))}
    rest = (path for path in out.iterdir() if path.name not in own | EXPORTED and not is_stage(path.name))
    other = sorted(path.name for path in rest if not (path.is_file() and is_made(path)))
    if other:
        raise ResultsError(
            f"{out}: has files that are not a farweb result, such as {other[0]}, and is left alone; "
            "name another folder with --out"
        )
    if kind is None:
        raise ResultsError(f"{out}: has files but no {MANIFEST} of a run, and is left alone; name another folder")
    if not replace:
        raise ResultsError(f"{out}: has the results of a run; --force replaces them, or name another folder with --out")
