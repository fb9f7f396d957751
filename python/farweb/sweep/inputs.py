"""The tables of a workload as the workers of a sweep share them.

Each table is read and checked once, whatever its format, before anything runs, and written to the sweep's folder as a
stream of Arrow batches, uncompressed, in the very columns that the core takes: by start time, words as codes. A worker
maps the file into its memory once and keeps it: the workers of a machine share one copy, and no run reads it again.
"""

import contextlib
import functools
import hashlib
import platform
import tempfile
import threading
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from farweb import _core
from farweb.description import Description
from farweb.errors import ResultsError, StorageError, WorkloadError
from farweb.files.columns import NULL_CODE, Column, TableSpec, arrow_type, from_arrow
from farweb.inputs.tables import HOSTS, HOSTS_READ, REQUESTS, open_hosts, open_requests
from farweb.results.store import Store, input_name
from farweb.run import Tables

_ROWS = 65_536  # chosen: some MB a batch; the core copies a batch at a time
_KEPT = 64  # tables that a worker keeps open; chosen: more than a sweep has, and each costs an open file


@dataclass(frozen=True)
class Source:
    """A table of a workload.

    Attributes:
        file: How the scenario calls it.
        sha256: Digest of the file's content.
    """

    file: str
    sha256: str


class Inputs:
    """The tables that the runs of a sweep read. Each file is digested once, and written once."""

    def __init__(self) -> None:
        self._digests: dict[Path, str] = {}
        self._pending: dict[str, tuple[TableSpec, Path]] = {}
        self._met: dict[tuple[str, Source], None] = {}  # in this order

    def of(self, scenario: Description, seed: int) -> dict[str, Source]:
        """The tables of a run: `requests`, and `hosts` if the scenario names one; none when it names a family.

        Raises:
            WorkloadError: A table is not there.
        """
        found = {}
        for spec in (REQUESTS, HOSTS):
            path = scenario.table(spec["name"], seed)
            if path is not None:
                named = str(scenario.effective["workload"][spec["name"]]).replace("{seed}", str(seed))
                found[spec["name"]] = Source(named, self._digest(spec, path))
        self._met.update(dict.fromkeys(found.items()))
        return found

    def described(self) -> dict[str, dict[str, str]]:
        """All tables met so far, for a manifest: `requests`, `requests 2` and so on, and so for `hosts`."""
        described: dict[str, dict[str, str]] = {}
        for table in ("requests", "hosts"):
            sources = [source for kind, source in self._met if kind == table]
            for number, source in enumerate(sources, 1):
                described[table if number == 1 else f"{table} {number}"] = asdict(source)
        return described

    def _digest(self, spec: TableSpec, path: Path) -> str:
        if path not in self._digests:
            try:
                with path.open("rb") as file:
                    self._digests[path] = hashlib.file_digest(file, "sha256").hexdigest()
            except OSError as error:
                raise WorkloadError(f"{path}: {error.strerror}; name a table of {spec['name']}") from None
            self._pending.setdefault(self._digests[path], (spec, path))
        return self._digests[path]

    def write(self, store: Store) -> None:
        """Check the tables met since the last call and write those that the store does not have; all of them or none.

        Raises:
            WorkloadError: A table cannot be used; the message names file and line.
            StorageError: The store cannot be written to.
        """
        with contextlib.ExitStack() as whole:
            for sha256, (spec, path) in self._pending.items():
                if not store.has(input_name(sha256)):
                    copy = whole.enter_context(store.file(input_name(sha256)))
                    _write(spec, path, copy)
        self._pending.clear()


def _write(spec: TableSpec, path: Path, copy: Path) -> None:
    schema, batches = (_hosts if spec is HOSTS else _requests)(path)
    rows = 0
    with pa.OSFile(str(copy), "wb") as sink, pa.ipc.new_stream(sink, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
            rows += batch.num_rows
    if rows == 0 and spec is REQUESTS:
        raise WorkloadError(f"{path}: has no requests")


def _requests(path: Path) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """A request table in batches, each row checked by the core."""
    schema = _schema(REQUESTS, [column["name"] for column in REQUESTS["columns"]])

    def batches() -> Iterator[pa.RecordBatch]:
        with open_requests(path) as requests:
            reader = _core.RequestReader(requests, str(path))
            while (columns := reader.batch(_ROWS)) is not None:
                yield _batch(columns, schema)

    return schema, batches()


def _hosts(path: Path) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """A host table as one batch. What is for people, as names are, is left out."""
    schema = _schema(HOSTS, [column["name"] for column in HOSTS_READ["columns"]])
    return schema, iter([_batch(open_hosts(path).columns(), schema)])


def _schema(spec: TableSpec, names: list[str]) -> pa.Schema:
    """The schema of a copy: no column is nullable, since the core's own marks of a missing value are kept."""
    types = {column["name"]: arrow_type(column) for column in spec["columns"]}
    words = pa.dictionary(pa.int32(), pa.string())
    return pa.schema(
        [pa.field(name, words if pa.types.is_string(types[name]) else types[name]) for name in names],
        metadata={"farweb.table": spec["name"]},
    )


def _batch(columns: Mapping[str, Column | None], schema: pa.Schema) -> pa.RecordBatch:
    given = {name: column for name, column in columns.items() if column is not None}
    rows = max(len(column[0] if isinstance(column, tuple) else column) for column in given.values())
    return pa.RecordBatch.from_arrays(
        [_array(given.get(field.name), field.type, rows) for field in schema], schema=schema
    )


def _array(column: Column | None, type: pa.DataType, rows: int) -> pa.Array:
    if isinstance(column, tuple):
        codes, words = column[0], column[1]
        indexes = pa.array(codes, pa.int32(), mask=codes == NULL_CODE)
        return pa.DictionaryArray.from_arrays(indexes, pa.array(words, pa.string()))
    return pa.nulls(rows, type) if column is None else pa.array(column, type)


def shared_tables(store: Store, inputs: Mapping[str, Source]) -> Tables:
    """The tables of a run from the store. They stay open in this process for the runs to come.

    Raises:
        StorageError: They are not there: this machine does not see the folder of the sweep.
    """
    if "requests" not in inputs:
        return Tables(None, None, {})
    with _OPENING:
        requests = _kept(store, inputs["requests"].sha256)
        described: dict[str, dict[str, Any]] = {"requests": {**asdict(inputs["requests"]), "rows": requests.rows}}
        hosts = None
        if "hosts" in inputs:
            hosts = _kept(store, inputs["hosts"].sha256).hosts
            described["hosts"] = {**asdict(inputs["hosts"]), "rows": len(hosts)}
    return Tables(requests.batches, hosts, described)


class _Copy:
    """A table of the store in the columns that the core takes, which share the memory that the file is mapped to."""

    def __init__(self, path: Path) -> None:
        with pa.memory_map(str(path)) as file:  # arrays keep the mapping for as long as they need it
            batches = list(pa.ipc.open_stream(file))
        self.rows = sum(batch.num_rows for batch in batches)
        self.batches = [from_arrow(batch) for batch in batches]

    @functools.cached_property
    def hosts(self) -> _core.HostTable:
        """A host table as the core has it."""
        return _core.HostTable.from_columns(self.batches[0], "hosts")


def stored_hosts(folder: Path, sha256: str) -> _core.HostTable:
    """The host table that a sweep on this machine keeps, by the digest in its manifest."""
    return _Copy(folder / input_name(sha256)).hosts


_OPENING = threading.Lock()  # a worker may have several threads
_OPEN: dict[str, _Copy] = {}


def _kept(store: Store, sha256: str) -> _Copy:
    copy = _OPEN.pop(sha256, None) or _Copy(_local(store, sha256))
    if len(_OPEN) == _KEPT:
        _OPEN.pop(next(iter(_OPEN)))
    _OPEN[sha256] = copy  # at the end: the first one is that used longest ago
    return copy


def _local(store: Store, sha256: str) -> Path:
    """The file of a copy on this machine; from an object store it is fetched."""
    name = input_name(sha256)
    if store.folder is not None:
        path = store.folder / name
        if not path.is_file():
            raise StorageError(
                f"{path}: is not there for the worker on {platform.node()}: all workers have to see the sweep's "
                "folder; name one that they share, or an object store, with --out"
            )
        return path
    path = Path(_fetched().name) / f"{sha256}.arrow"
    try:
        path.write_bytes(store.read(name))
    except ResultsError as error:
        raise StorageError(str(error)) from None
    return path


@functools.cache
def _fetched() -> tempfile.TemporaryDirectory[str]:
    """A folder that goes with this process."""
    return tempfile.TemporaryDirectory(prefix="farweb-inputs-")
