"""Tables of results folders: where each is, and which columns, rows and bytes it has to have."""

import functools
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from farweb.errors import ResultsError
from farweb.files.columns import arrow_schema, results_tables
from farweb.files.parquet import Declared, Table
from farweb.results.design import Design
from farweb.results.metrics import find_metric
from farweb.results.store import Store
from farweb.results.sweep_schema import metric_field, schema

PAGE, PAGE_REQUESTS = "page", "page-requests"
"""Names of the tables of a page in the results of its load: its requests as they depend on one another, and as a
request table that has them at their times."""

PAGE_SCHEMA = pa.schema(
    [
        ("page", pa.string()),
        ("object", pa.int64()),
        ("host", pa.string()),
        ("method", pa.string()),
        ("request_bytes", pa.int64()),
        ("response_bytes", pa.int64()),
        ("server_s", pa.float64()),
        ("parents", pa.string()),
        ("think_s", pa.float64()),
        ("gates", pa.string()),
        ("id", pa.string()),
        ("tail_s", pa.float64()),
        ("dom_tail_s", pa.float64()),
        ("name", pa.string()),
        ("kind", pa.string()),
        ("dependency", pa.string()),
        ("confidence", pa.float64()),
        ("recorded_issue_s", pa.float64()),
        ("recorded_send_s", pa.float64()),
        ("recorded_first_s", pa.float64()),
        ("recorded_end_s", pa.float64()),
        ("recorded_protocol", pa.string()),
    ]
)
"""Columns of a table of pages: a row a request, with its dependencies and recorded times."""


def table_of_run(store: Store, part: str, manifest: Mapping[str, Any], table: str) -> Table:
    """A table of a run.

    Args:
        store: The folder that it is in, of the run or of its sweep.
        part: Name of the run's part there, or empty for the folder of a run.
        manifest: Of the run.
        table: Name of the table.
    """
    name, rows = f"{table}.parquet", manifest.get("rows", {}).get(table)
    return _table(store, f"{part}/{name}" if part else name, manifest, _of_runs(table), rows)


def table_of_sweep(store: Store, manifest: Mapping[str, Any], design: Design, table: str) -> Table:
    """A table of a sweep that is not of one of its runs.

    Args:
        store: The folder of the sweep.
        manifest: Of the sweep.
        design: Of the sweep.
        table: Name of the table.
    """
    fields = {field.name: field for field in schema(table, design)}

    def declared(name: str) -> pa.Field | None:
        if name in fields or table != "runs":
            return fields.get(name)
        try:
            return metric_field(find_metric(name))
        except ResultsError:
            return None

    return _table(store, f"{table}.parquet", manifest, declared, None)


def _table(store: Store, name: str, manifest: Mapping[str, Any], declared: Declared, rows: int | None) -> Table:
    written = manifest.get("files", {}).get(name.rpartition("/")[2], {})
    path = None if store.folder is None else store.folder / name
    return Table(f"{store.url}/{name}", lambda: store.open(name), declared, rows, written.get("bytes"), path)


@functools.cache
def _of_runs(table: str) -> Declared:
    """The columns of a table of runs."""
    fields = PAGE_SCHEMA if table == PAGE else arrow_schema(results_tables()[table], {})
    return {field.name: field for field in fields}.get
