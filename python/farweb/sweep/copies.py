"""Copies of input files in the folder of a sweep.

A copy of a table is a stream of Arrow batches, uncompressed, in the core's own columns: by start time, words as codes.
One of a file that links name has its bytes. Its name is the SHA-256 digest of its source file, and a change of that
file meanwhile is an error.

After the content come 32 bytes, the digest of the name and of the content. With these alone whoever opens a copy sees
that it is not as it was written, or that it has the name of another.
"""

import functools
import hashlib
import io
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from farweb import _core
from farweb.errors import ResultsError, WorkloadError
from farweb.files.columns import NULL_CODE, Column, TableSpec, arrow_type, from_arrow, of_numbers, of_values
from farweb.files.regular import sha256_of, stamp
from farweb.inputs.link_files import read_link_file
from farweb.inputs.tables import HOSTS, HOSTS_READ, REQUESTS, open_hosts, open_requests
from farweb.results.store import Store, input_name

_CHUNK_BYTES = 1 << 20  # chosen: large enough that reading costs more than calling
_SEAL_BYTES = 32


def write_copy(kind: str, source: Path, sha256: str, copy: Path) -> dict[str, Any]:
    """Write the copy of a file, each row checked by the core.

    Args:
        kind: Kind of the file, as `farweb.inputs.description.Input` has it.
        source: The file, of any format.
        sha256: Digest of its content, which names the copy.
        copy: Where the copy goes.

    Returns:
        Size and digest of the copy, as `farweb.results.integrity.describe` has them.

    Raises:
        WorkloadError: The file cannot be used, or its content is or becomes another.
    """
    before = stamp(source)
    described = _write(kind, source, sha256, copy)
    if stamp(source) != before or sha256_of(source, WorkloadError) != sha256:
        raise WorkloadError(f"{source}: was changed while the sweep began; begin again when it stays as it is")
    return described


def _write(kind: str, source: Path, sha256: str, copy: Path) -> dict[str, Any]:
    with copy.open("wb") as file:
        sink = _Digested(file)
        if table := _TABLES.get(kind):
            schema, batches = table(source)
            with pa.ipc.new_stream(pa.PythonFile(sink, "w"), schema) as writer:
                for batch in batches:
                    writer.write_batch(batch)
        else:
            read_link_file(kind, source)
            sink.write(source.read_bytes())
        sink.write(_seal(sha256, sink.digest.digest()))
    return {"bytes": sink.size, "sha256": sink.digest.hexdigest()}


class _Digested(io.RawIOBase):
    """Passes written bytes on, and keeps their size and digest."""

    def __init__(self, file: BinaryIO) -> None:
        self.size = 0
        self.digest = hashlib.sha256()
        self._file = file

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        self.digest.update(data)
        self.size += len(data)
        return self._file.write(data)


def _seal(sha256: str, of_stream: bytes) -> bytes:
    """Seal at the end of a copy."""
    return hashlib.sha256(bytes.fromhex(sha256) + of_stream).digest()


def whole_copy(store: Store, sha256: str) -> dict[str, Any] | None:
    """Size and digest of the copy in a store, as `describe` has them, or None where none is as it was written.

    Raises:
        StorageError: The store cannot be read.
    """
    name = input_name(sha256)
    left = (store.size(name) or 0) - _SEAL_BYTES
    if left < 0:
        return None
    size, digest = left + _SEAL_BYTES, hashlib.sha256()
    with store.open(name) as file:
        while left and (chunk := file.read(min(left, _CHUNK_BYTES))):
            digest.update(chunk)
            left -= len(chunk)
        seal = file.read(_SEAL_BYTES)
    if seal != _seal(sha256, digest.digest()):
        return None
    digest.update(seal)
    return {"bytes": size, "sha256": digest.hexdigest()}


class Copy:
    """A copy, mapped into memory.

    Args:
        path: The file.
        sha256: What names it.

    Raises:
        ResultsError: It is not as it was written.
    """

    def __init__(self, path: Path, sha256: str) -> None:
        self._path = path
        self._stamp = stamp(path)
        self._link_files: dict[tuple[str, str], _core.LinkFile] = {}
        with pa.memory_map(str(path)) as file:  # arrays keep the mapping for as long as they need it
            mapped = file.read_buffer()
        content = memoryview(mapped)
        self._content, seal = content[:-_SEAL_BYTES], content[-_SEAL_BYTES:]
        if bytes(seal) != _seal(sha256, hashlib.sha256(self._content).digest()):
            raise ResultsError(
                f"{path}: is not as it was written (by its SHA-256 digest); the same farweb sweep or farweb "
                "size as before writes it again"
            )
        self._mapped = mapped

    @functools.cached_property
    def rows(self) -> int:
        """Rows of a table."""
        return sum(batch.num_rows for batch in self._stream)

    @functools.cached_property
    def batches(self) -> list[dict[str, Column]]:
        """Columns of a table, which share the memory of the copy."""
        return [from_arrow(batch) for batch in self._stream]

    @functools.cached_property
    def _stream(self) -> list[pa.RecordBatch]:
        return list(pa.ipc.open_stream(self._mapped))

    def link_file(self, kind: str, name: str) -> _core.LinkFile:
        """A file that links name, called `name`, read once."""
        if (kind, name) not in self._link_files:
            self._link_files[kind, name] = _core.LinkFile(kind, name, bytes(self._content))
        return self._link_files[kind, name]

    @property
    def is_untouched(self) -> bool:
        """False when the file was written to, replaced or removed since it was opened."""
        return stamp(self._path) == self._stamp

    @functools.cached_property
    def hosts(self) -> _core.HostTable:
        """A host table as the core has it."""
        return _core.HostTable.from_columns(self.batches[0], "hosts")


def _requests(path: Path) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """A request table in batches, each row checked by the core."""
    schema = _schema(REQUESTS, [column["name"] for column in REQUESTS["columns"]])

    def batches() -> Iterator[pa.RecordBatch]:
        with open_requests(path) as requests:
            for columns in requests.core:
                yield _batch(columns, schema)

    return schema, batches()


def _hosts(path: Path) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
    """A host table as one batch. Columns for people, such as names, are left out."""
    schema = _schema(HOSTS, [column["name"] for column in HOSTS_READ["columns"]])
    return schema, iter([_batch(open_hosts(path).columns(), schema)])


_TABLES = {"requests": _requests, "hosts": _hosts}


def _schema(spec: TableSpec, names: list[str]) -> pa.Schema:
    """The schema of a copy: no column is nullable, since the core's own marks of a missing value are kept."""
    types = {column["name"]: arrow_type(column) for column in spec["columns"]}
    codes = {pa.string(): pa.dictionary(pa.int32(), pa.string()), pa.bool_(): pa.int8()}
    return pa.schema(
        [pa.field(name, codes.get(types[name], types[name])) for name in names],
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
        assert len(column) == 2, "lists are in no input"
        codes, words = column
        indexes = of_numbers(codes, pa.int32(), codes == NULL_CODE)
        return pa.DictionaryArray.from_arrays(indexes, of_values(words, pa.string()))
    return pa.nulls(rows, type) if column is None else of_numbers(column, type)
