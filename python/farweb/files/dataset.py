"""Tables as datasets of Arrow, for DuckDB."""

import io
import weakref
from collections.abc import Mapping
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.dataset as ds
from pyarrow import fs

from farweb.errors import FarwebError, ResultsError
from farweb.files.parquet import Table


class _Files:
    """Files of tables as fsspec has them, for Arrow: each is checked whenever it is opened.

    One that fails is empty to Arrow, which may wait for itself for ever when Python raises an error in its threads.
    """

    protocol = "farweb"

    def __init__(self, tables: Mapping[str, Table], refusals: list[FarwebError]) -> None:
        self._tables = tables
        self._refusals = refusals

    def isfile(self, path: str) -> bool:
        """True for the key of a table."""
        return path in self._tables

    def open(self, path: str, mode: str) -> "_Lent":
        """The file of a table, open."""
        assert mode == "rb", "nothing is written"
        try:
            with self._tables[path].opened():
                return _Lent(self._tables[path].open())
        except (FarwebError, OSError) as error:
            self._refusals.append(error if isinstance(error, FarwebError) else ResultsError(str(error)))
            return _Lent(io.BytesIO())


class _Lent:
    """A file that is closed when Arrow, which never closes it, has forgotten it."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        weakref.finalize(self, file.close)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


class _Rows(ds.FileSystemDataset):  # type: ignore[misc]  # pyarrow has no types
    """A dataset that opens its files in Python."""

    def scanner(self, **asked: Any) -> "Scan":
        """A scan of the columns and rows that are asked for."""
        return Scan(super().scanner(**asked))


class Scan:
    """A scan that lets go of Python's interpreter before it waits.

    `to_reader` of Arrow keeps it, and waits for ever where a thread that holds a lock of the scan opens the next file.
    """

    def __init__(self, scanner: ds.Scanner) -> None:
        self._scanner = scanner

    def to_reader(self) -> pa.RecordBatchReader:
        """The rows, batch by batch."""
        return pa.RecordBatchReader.from_batches(self._scanner.projected_schema, self._scanner.to_batches())


def dataset(tables: Mapping[str, Table], refusals: list[FarwebError], part: str | None = None) -> ds.Dataset:
    """Rows of tables of the same columns, by their keys, as a dataset of Arrow.

    Args:
        tables: At least one.
        refusals: Takes the reason when a table is found damaged while rows are read, which then ends with any error.
        part: Name of a further column, with the key of each row's table.

    Raises:
        ResultsError: The first table is damaged. The others are checked when read.
    """
    form = ds.ParquetFileFormat()
    files = fs.PyFileSystem(fs.FSSpecHandler(_Files(tables, refusals)))
    first = next(iter(tables.values()))
    schema = pa.schema([*first.fields, *([pa.field(part, pa.string())] if part else [])])
    fragments = [form.make_fragment(key, files, ds.field(part) == key if part else None) for key in tables]
    return _Rows(fragments, schema, form, files)
