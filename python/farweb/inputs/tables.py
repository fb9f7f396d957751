"""Reads request and host tables in Parquet, in batches for the core.

The core reads .csv, .tsv and whitespace-separated tables itself; of Parquet it takes columns. The meaning of each row
is checked there, once for all formats; here only that the columns are there and have the right type.
"""

import contextlib
import difflib
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from farweb import _core
from farweb.errors import WorkloadError
from farweb.files.columns import Column, TableSpec, arrow_type, from_arrow, workload_tables
from farweb.files.regular import check_file
from farweb.files.sorting import sort_parquet
from farweb.text.words import elided

_ROWS = 65_536  # chosen: some MB a batch, and few enough batches that their cost does not show
_BUFFER_BYTES = 65_536  # of a column; chosen: larger ones are not faster


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
class RequestBatches:
    """The batches of a request table; every iteration reads the table from its beginning."""

    path: Path
    name: str
    columns: tuple[str, ...]

    def __iter__(self) -> Iterator[dict[str, Column]]:
        for batch in _batches(self.path, REQUESTS, self.columns, self.name):
            yield from_arrow(batch)


@contextlib.contextmanager
def open_requests(path: Path) -> Iterator[RequestBatches | str]:
    """Open a request table as the core takes it: a Parquet file as batches by start time, any other as its path.

    A Parquet file in another order is sorted first, on disk.

    Raises:
        WorkloadError: There is no file; or one with the suffix .parquet is not Parquet, has no row, lacks a column or
            has one that a request table does not have.
    """
    check_file(path, WorkloadError, "name a request table")
    if path.suffix.lower() != ".parquet":
        yield str(path)
        return
    columns = _checked_columns(path, REQUESTS)
    if row_count(path) == 0:
        raise WorkloadError(f"{path}: has no requests")
    if _is_sorted(path):
        yield RequestBatches(path, str(path), tuple(columns))
        return
    with tempfile.TemporaryDirectory(prefix="farweb-") as folder:
        in_order = Path(folder) / "requests.parquet"
        sort_parquet(path, in_order, by="start_s", scratch=Path(folder))
        yield RequestBatches(in_order, str(path), tuple(columns))


def open_hosts(path: Path) -> _core.HostTable:
    """Open a host table: Parquet, or what the core reads.

    Raises:
        WorkloadError: The file cannot be read as a host table.
    """
    check_file(path, WorkloadError, "name a host table")
    if path.suffix.lower() != ".parquet":
        return _core.HostTable.open(str(path))
    read = {"name", *(column["name"] for column in HOSTS_READ["columns"])}
    names = [name for name in _checked_columns(path, HOSTS) if name in read]
    table = pa.Table.from_batches(_batches(path, HOSTS, names, str(path)), _schema(HOSTS, names)).combine_chunks()
    batches = table.to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]
    return _core.HostTable.from_columns(from_arrow(batches[0]), str(path))


def row_count(path: Path) -> int:
    """Rows of a Parquet file, from its footer."""
    with pq.ParquetFile(path) as file:
        rows: int = file.metadata.num_rows
    return rows


def check_columns(path: Path, names: Sequence[str], spec: TableSpec) -> None:
    """Check that a file with columns of these names is a table of this kind.

    Raises:
        WorkloadError: A column is unknown or missing; the message says which there are, and the nearest.
    """
    known = {column["name"]: column for column in spec["columns"]}
    allowed = ", ".join(known)
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f' (did you mean "{near[0]}"?)' if near else ""
            raise WorkloadError(f'{path}: unknown column "{name}"{hint}; the columns are {allowed}')
    for name, column in known.items():
        if name not in names and not column["nullable"]:
            raise WorkloadError(f'{path}: no column "{name}"; the columns are {allowed}')


def _checked_columns(path: Path, spec: TableSpec) -> list[str]:
    """The names of the columns of a Parquet file, after `check_columns`."""
    try:
        names: list[str] = pq.read_schema(path).names
    except FileNotFoundError:
        raise WorkloadError(f"{path}: no such file") from None
    except (OSError, pa.ArrowException) as error:
        raise WorkloadError(f"{path}: not a Parquet file that can be read: {_first_line(error)}") from None
    check_columns(path, names, spec)
    return names


def _batches(path: Path, spec: TableSpec, columns: Sequence[str], name: str) -> Iterator[pa.RecordBatch]:
    """Some columns of a Parquet file in the types that the core takes; `name` is for messages."""
    try:
        rows = 0
        # Without a buffer the columns of a whole row group are read at once, and one may have all rows of the table.
        with pq.ParquetFile(path, buffer_size=_BUFFER_BYTES, pre_buffer=False) as file:
            for batch in file.iter_batches(batch_size=_ROWS, columns=list(columns)):
                yield _cast(batch, spec, name, rows)
                rows += batch.num_rows
    except (OSError, pa.ArrowException) as error:
        raise WorkloadError(f"{name}: cannot be read: {_first_line(error)}") from None


def _schema(spec: TableSpec, columns: Sequence[str]) -> pa.Schema:
    types = {column["name"]: arrow_type(column) for column in spec["columns"]}
    return pa.schema([(name, types[name]) for name in columns])


def _cast(batch: pa.RecordBatch, spec: TableSpec, name: str, before: int) -> pa.RecordBatch:
    """Columns in the types that the core takes; int32 sizes, or ids that are texts are as good.

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
            columns.append(column.cast(wanted.type))
        except pa.ArrowException as error:
            raise WorkloadError(
                f'{name}: column "{found.name}": {found.type} found, {wanted.type} expected: {_first_line(error)}'
            ) from None
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _ids(column: pa.Array) -> pa.Array:
    """The ids of objects or clients that are texts; any other column as it is."""
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


def _is_sorted(path: Path) -> bool:
    """True when starts never decrease; values that are no times are the core's to refuse."""
    import pyarrow.compute as pc

    last = float("-inf")
    for batch in _batches(path, REQUESTS, ("start_s",), str(path)):
        starts = batch.column(0)
        if len(starts) == 0:
            continue
        steps = pc.pairwise_diff(starts)
        if starts[0].as_py() is not None and starts[0].as_py() < last:
            return False
        if pc.any(pc.less(steps, 0.0)).as_py():
            return False
        last = starts[-1].as_py() if starts[-1].as_py() is not None else last
    return True


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0].rstrip(".")
