"""Tables that need not fit into memory, for queries: lazily for polars, and for programs that take datasets of Arrow.

Whatever a query keeps of them is less than the memory that is left, or reading ends with an error.
"""

import io
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

import pyarrow as pa
import pyarrow.dataset as ds

from farweb.errors import FarwebError, ResultsError
from farweb.files.parquet import Table
from farweb.memory import Kept

if TYPE_CHECKING:
    import polars as pl
    import pyarrow.parquet as pq

_BATCH_ROWS = 65_536  # chosen: with all columns some 10 MB


def scan(
    tables: Sequence[tuple[Mapping[str, Any], Table]], labels: "Mapping[str, pl.DataType] | None" = None
) -> "pl.LazyFrame":
    """Rows of tables of the same columns, one table after the other; a query reads the columns and rows that it needs.

    Args:
        tables: Each with the values of its labels, columns that precede its own and are the same in all of its rows.
        labels: Types of these columns.

    Raises:
        ResultsError: The first table is damaged; the others are looked at when they are read.
    """
    import polars as pl
    from polars.io.plugins import register_io_source

    fields = tables[0][1].fields
    own = {name: kind for name, kind in _empty(fields).schema.items() if name not in (labels or {})}
    schema = {**(labels or {}), **own}

    def read(
        columns: list[str] | None, predicate: "pl.Expr | None", most: int | None, _: int | None
    ) -> "Iterator[pl.DataFrame]":
        wanted = list(schema) if columns is None else columns
        kept = Kept()
        yield pl.DataFrame(schema={name: schema[name] for name in wanted})
        for values, table in tables:
            label = pl.DataFrame({name: [value] for name, value in values.items()}, schema=labels)
            for frame in _frames(table, label, wanted, predicate, most):
                if most is not None:
                    most -= len(frame)
                try:
                    kept.add(int(frame.estimated_size()))
                except MemoryError as error:
                    raise table.too_large(f"what is asked of it does not fit into memory ({error})") from None
                yield frame

    return register_io_source(read, schema=schema)


def _empty(fields: Sequence[pa.Field]) -> "pl.DataFrame":
    import polars as pl

    frame = pl.from_arrow(pa.schema(fields).empty_table())
    assert isinstance(frame, pl.DataFrame), "it has columns"
    return frame


def _frames(
    table: Table, label: "pl.DataFrame", wanted: Sequence[str], predicate: "pl.Expr | None", most: int | None
) -> "Iterator[pl.DataFrame]":
    """The rows of a table that a query asks for, of the first `most` of them, batch by batch."""
    asked = [] if predicate is None else predicate.meta.root_names()
    with table.opened() as file:
        for group in range(file.num_row_groups):
            if predicate is None:
                frames = _group(table, file, group, label, wanted)
            # Other columns of a group are read only if one of its rows matches.
            elif any(len(frame.filter(predicate)) for frame in _group(table, file, group, label, asked)):
                frames = _group(table, file, group, label, [*wanted, *asked])
            else:
                continue
            for frame in frames:
                found = frame if most is None else frame.head(most)
                yield (found if predicate is None else found.filter(predicate)).select(wanted)
                if most is not None and (most := most - len(found)) <= 0:
                    return


def _group(
    table: Table, file: "pq.ParquetFile", group: int, label: "pl.DataFrame", names: Sequence[str]
) -> "Iterator[pl.DataFrame]":
    """Columns of a group of rows, those that are labels among them, batch by batch."""
    import polars as pl

    own = [name for name in dict.fromkeys(names) if name not in label.columns]
    some = own or [table.fields[0].name]  # without a column there is no number of rows
    for batch in table.batches(file, some, [group], _BATCH_ROWS):
        frame = pl.from_arrow(batch)
        assert isinstance(frame, pl.DataFrame), "it has columns"
        frame = frame.with_columns(pl.col(pl.Categorical).cast(pl.String))
        yield frame.with_columns(pl.lit(label[name][0], label.schema[name]).alias(name) for name in label.columns)


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
            self._tables[path].require_sound_groups()
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
    """A dataset whose files are opened in Python."""

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
        ResultsError: The first table is damaged; the others are looked at when they are read.
    """
    from pyarrow import fs

    form = ds.ParquetFileFormat()
    files = fs.PyFileSystem(fs.FSSpecHandler(_Files(tables, refusals)))
    first = next(iter(tables.values()))
    first.require_sound_groups()
    schema = pa.schema([*first.fields, *([pa.field(part, pa.string())] if part else [])])
    fragments = [form.make_fragment(key, files, ds.field(part) == key if part else None) for key in tables]
    return _Rows(fragments, schema, form, files)
