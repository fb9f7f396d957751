"""Writes the load of a page as results of a run, with the page beside the tables: for figures, reports and exports."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from farweb._core import Loaded, Recording, asked_of, graph_of, short_url
from farweb.files.atomic import staged_folder, taken
from farweb.files.scratch import scratch
from farweb.inputs.description import Description, Value
from farweb.inputs.prepared import Prepared
from farweb.pages.paths import Way
from farweb.pages.tables import page_rows
from farweb.pages.weather import SEED
from farweb.results.run import RunTables
from farweb.results.tables import PAGE, PAGE_REQUESTS, PAGE_SCHEMA
from farweb.run import check_place, scenario_warnings, simulate_into, write_manifest
from farweb.views.page_load import View, read_view

_CLIENT = 1
_STARTS = pa.schema([("start_s", pa.float64()), ("client", pa.int64()), ("tls", pa.bool_())])
_REQUESTS = pa.schema(
    [*_STARTS, *(PAGE_SCHEMA.field(name) for name in ("host", "request_bytes", "response_bytes", "server_s"))]
)
_RECORD: dict[str, Value] = {"record.exchanges": True, "record.connections": True, "record.links_every": "100 ms"}


def write_results(
    recording: Recording, way: Way, loaded: Loaded, out: Path, seed: int = SEED, *, replace: bool = False
) -> None:
    """Run a settled page once more and write its results.

    Args:
        recording: The page as recorded.
        way: The way that it was loaded over.
        loaded: Its load by the likely graph.
        out: The results folder.
        seed: Seed of the load.
        replace: True when older results that are there are replaced.

    Raises:
        ResultsError: There is something else there, or results that may not be replaced.
        RunError: The place cannot be written to.
    """
    with taken(out, lambda _: check_place(out, replace)), staged_folder(out) as stage:
        _write(recording, way, loaded, seed, stage)


def view_of(recording: Recording, way: Way, loaded: Loaded, seed: int = SEED) -> View:
    """The same load with its critical path. Nothing is left on the disk."""
    with scratch() as folder:
        _write(recording, way, loaded, seed, folder)
        return read_view(RunTables.open(folder))


def _write(recording: Recording, way: Way, loaded: Loaded, seed: int, folder: Path) -> None:
    page = asked_of(recording, graph_of(recording), is_multiplexed=way.protocol == "h2")
    times = loaded.issue_ns.tolist()
    rows = [
        {**row, "start_s": issue / 1e9, "client": _CLIENT, "host": asked.host, "tls": asked.is_secure}
        for row, issue, asked in zip(page_rows(recording.url, recording), times, page, strict=True)
    ]
    rows.sort(key=lambda row: row["start_s"])
    for table, schema in ((PAGE, PAGE_SCHEMA), (PAGE_REQUESTS, _REQUESTS)):
        pq.write_table(pa.Table.from_pylist(rows, schema), folder / f"{table}.parquet", compression="zstd")
    proxy = "" if way.proxy == "none" else f", {way.proxy}"
    name = json.dumps(f"{short_url(recording.url)} over {way.path}, {way.protocol}{proxy}")  # bare [::1] is a list
    named: dict[str, Value] = {"name": name, "workload.requests": f"{PAGE_REQUESTS}.parquet", **_RECORD}
    scenario = Description(json.loads(way.scenario.effective()), named, tables=folder)
    with Prepared.of(scenario) as prepared:
        write_manifest(folder, simulate_into(folder, prepared, seed, warnings=scenario_warnings(prepared)))
