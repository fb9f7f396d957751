"""Reads request and host tables in Parquet, in batches for the core.

The core reads .csv, .tsv and whitespace-separated tables itself, and takes columns of Parquet. It checks the meaning of
each row, once for all formats. This module checks only the presence and types of columns.
"""

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from farweb import _core
from farweb.errors import WorkloadError
from farweb.files.columns import Column, TableSpec, arrow_type, from_arrow, to_arrow, workload_tables
from farweb.files.regular import check_file
from farweb.files.sorting import sort_parquet
from farweb.inputs.provenance import imported
from farweb.progress import Progress, unseen
from farweb.text.words import elided, nearest

_ROWS = 65_536  # chosen: some MB a batch, and few enough batches that their cost does not show
_BUFFER_BYTES = 65_536  # of a column. Chosen: larger ones are not faster


_TEXTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view)
_IDS = ("object", "client")


REQUESTS: TableSpec = workload_tables()["requests"]
HOSTS: TableSpec = workload_tables()["hosts"]

HOSTS_READ: TableSpec = {
    **HOSTS,
    "columns": [each for each in HOSTS["columns"] if each["name"] in ("host", "window_bytes", "mss_bytes")],
}
"""Columns that a run takes from a host table."""


@dataclass(frozen=True)
class RequestTable:
    """A request table, open.

    Attributes:
        core: Its rows, as often as they are iterated over.
        imported: Counts of the import that it is from, or None of any other table.
    """

    core: _core.Prepared
    imported: dict[str, Any] | None = None


@contextlib.contextmanager
def open_requests(path: Path, hosts: _core.HostTable | None = None) -> Iterator[RequestTable]:
    """Open a request table of any format for the block.

    A Parquet file is opened once, and sorted on disk where it is in another order. Up to `_core.rows_kept` rows are
    kept, others are read again by each iteration.

    Raises:
        WorkloadError: There is no file, or it is no request table or has no row. The message names file and line.
    """
    check_file(path, WorkloadError, "name a request table")
    if path.suffix.lower() != ".parquet":
        yield RequestTable(_core.Prepared(str(path), str(path), hosts))
        return
    with contextlib.ExitStack() as opened:
        file = opened.enter_context(_opened(path))
        names, rows, counts = file.schema_arrow.names, file.metadata.num_rows, imported(file.schema_arrow)
        check_columns(path, names, REQUESTS)
        if rows == 0:
            raise WorkloadError(f"{path}: has no requests")
        table = _Table(file, REQUESTS, names, str(path))
        kept = list(table) if rows <= _core.rows_kept else None
        if not _is_sorted(kept or _Table(file, REQUESTS, ["start_s"], str(path))):
            from farweb.files.scratch import scratch

            folder = opened.enter_context(scratch())
            in_order = folder / "requests.parquet"
            sort_parquet(path, in_order, by="start_s", scratch=folder)
            table = replace(table, file=opened.enter_context(_opened(in_order)))
            kept = kept and list(table)
        yield RequestTable(_core.Prepared(kept or table, str(path), hosts, rows), counts)


def write_requests(requests: _core.Prepared, path: Path, schema: pa.Schema, progress: Progress = unseen) -> int:
    """Write the columns of `schema` of all rows to a Parquet file and return the number of rows.

    `progress` is called with each batch.
    """
    rows = 0
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for columns in requests:
            batch = to_arrow(columns, schema)
            writer.write_batch(batch)
            rows += batch.num_rows
            progress(rows, None, f"{rows:,} requests")
    return rows


def open_hosts(path: Path) -> _core.HostTable:
    """Open a host table: Parquet, or a text format of the core.

    Raises:
        WorkloadError: The file cannot be read as a host table.
    """
    check_file(path, WorkloadError, "name a host table")
    if path.suffix.lower() != ".parquet":
        return _core.HostTable.open(str(path))
    wanted = {"name", *(column["name"] for column in HOSTS_READ["columns"])}
    with _opened(path) as file:
        check_columns(path, file.schema_arrow.names, HOSTS)
        names = [name for name in file.schema_arrow.names if name in wanted]
        read = _Table(file, HOSTS, names, str(path)).batches()
        table = pa.Table.from_batches(read, _schema(HOSTS, names)).combine_chunks()
    batches = table.to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]
    return _core.HostTable.from_columns(from_arrow(batches[0]), str(path))


def check_columns(path: Path, names: Sequence[str], spec: TableSpec) -> None:
    """Check that a file with columns of these names is a table of this kind.

    Raises:
        WorkloadError: A column is unknown or missing. The message says which there are, and the nearest.
    """
    known = {column["name"]: column for column in spec["columns"]}
    allowed = ", ".join(known)
    for name in names:
        if name not in known:
            hint = f' (did you mean "{near}"?)' if (near := nearest(name, known)) else ""
            raise WorkloadError(f'{path}: unknown column "{name}"{hint}; the columns are {allowed}')
    for name, column in known.items():
        if name not in names and not column["nullable"]:
            raise WorkloadError(f'{path}: no column "{name}"; the columns are {allowed}')


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[pq.ParquetFile]:
    """A Parquet file, open."""
    try:
        # Without a buffer the columns of a whole row group are read at once, and one may have all rows of the table.
        file = pq.ParquetFile(path, buffer_size=_BUFFER_BYTES, pre_buffer=False)
    except (OSError, pa.ArrowException) as error:
        raise WorkloadError(f"{path}: not a Parquet file that can be read: {_first_line(error)}") from None
    with file:
        yield file


@dataclass(frozen=True)
class _Table:
    """Some columns of a Parquet file as the core takes them, with `name` for messages."""

    file: pq.ParquetFile
    spec: TableSpec
    columns: Sequence[str]
    name: str

    def __iter__(self) -> Iterator[dict[str, Column]]:
        return map(from_arrow, self.batches())

    def batches(self) -> Iterator[pa.RecordBatch]:
        rows = 0
        try:
            for batch in self.file.iter_batches(batch_size=_ROWS, columns=list(self.columns)):
                yield _cast(batch, self.spec, self.name, rows)
                rows += batch.num_rows
        except (OSError, pa.ArrowException) as error:
            raise WorkloadError(f"{self.name}: cannot be read: {_first_line(error)}") from None


def _schema(spec: TableSpec, columns: Sequence[str]) -> pa.Schema:
    types = {column["name"]: arrow_type(column) for column in spec["columns"]}
    return pa.schema([(name, types[name]) for name in columns])


def _cast(batch: pa.RecordBatch, spec: TableSpec, name: str, before: int) -> pa.RecordBatch:
    """Columns in the types that the core takes. int32 sizes and ids that are texts are accepted.

    `before` is the number of rows before this batch.
    """
    schema = _schema(spec, batch.schema.names)
    columns = []
    for found, wanted, column in zip(batch.schema, schema, batch.columns, strict=True):
        try:
            if found.name in _IDS:
                column = _ids(column)
            if found.name == "client":
                _check_whole(column, name, before)
            column = column.cast(wanted.type)
            columns.append(column.cast(pa.int8()) if pa.types.is_boolean(wanted.type) else column)
        except pa.ArrowException as error:
            raise WorkloadError(
                f'{name}: column "{found.name}": {found.type} found, {wanted.type} expected: {_first_line(error)}'
            ) from None
    return pa.RecordBatch.from_arrays(columns, names=schema.names)


def _ids(column: pa.Array) -> pa.Array:
    """The ids of objects or clients that are texts, and any other column as it is."""
    if pa.types.is_dictionary(column.type):
        column = column.dictionary_decode()
    if not any(is_text(column.type) for is_text in _TEXTS):
        return column
    words = column.cast(pa.large_string()).dictionary_encode()
    return pa.array(_core.object_ids(words.dictionary.to_pylist())).take(words.indices)


def _check_whole(column: pa.Array, file: str, before: int) -> None:
    """Refuse clients that are neither text nor whole numbers, with the row of the first."""
    if pa.types.is_unsigned_integer(column.type):
        return
    import pyarrow.compute as pc

    refused = pc.less(column, 0) if pa.types.is_signed_integer(column.type) else column.is_valid()
    wrong = pc.index(refused, pa.scalar(True)).as_py()
    if wrong >= 0:
        place = f"{file}, row {before + wrong + 1}: column client"
        found = f"{elided(str(column[wrong]), 40)} ({column.type})"
        raise WorkloadError(f"{place}: found {found}; write text, or a whole number from 0 to 2^64 - 2")


def _is_sorted(batches: Iterable[Mapping[str, Column]]) -> bool:
    """True when starts never decrease. Invalid times are left to the core to refuse."""
    last = -np.inf
    for batch in batches:
        starts = np.asarray(batch["start_s"])
        if len(starts) and (starts[0] < last or np.any(starts[1:] < starts[:-1])):
            return False
        last = starts[-1] if len(starts) else last
    return True


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(".")
