"""Reads tables of results: Parquet, some rows at a time, in the columns that are declared.

A table that has other bytes or rows than its manifest says, or that cannot be read, is named in one line.
"""

import contextlib
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from farweb.errors import FarwebError, ResultsError, StorageError, refusal_in
from farweb.files.columns import NULL_CODE, Column, from_arrow

_ROWS = 131_072  # chosen: as many as farweb writes to a group of rows
_WORDS = pa.dictionary(pa.int32(), pa.string())

Declared = Callable[[str], pa.Field | None]
"""The field of a column by name, or None for a column that is not declared, which is not read."""


@dataclass(frozen=True)
class Table:
    """A Parquet file, opened anew each time that it is read.

    Attributes:
        place: Its name in messages.
        open: Opens it, at its start.
        declared: Its columns.
        rows: How many it has, as far as that is known.
        bytes: Likewise its size.
        path: On this machine, or None in an object store.
    """

    place: str
    open: Callable[[], BinaryIO]
    declared: Declared
    rows: int | None = None
    bytes: int | None = None
    path: Path | None = None

    @property
    def fields(self) -> list[pa.Field]:
        """The declared fields that it has, in its order.

        Raises:
            ResultsError: It is damaged.
        """
        with self.opened() as file:
            return self._fields(file)

    def _fields(self, file: pq.ParquetFile) -> list[pa.Field]:
        return [found for name in file.schema_arrow.names if (found := self.declared(name)) is not None]

    def require(self, names: Collection[str]) -> None:
        """Look for columns.

        Raises:
            ResultsError: It lacks one, or is damaged.
        """
        with self.opened() as file:
            self._require(file, names)

    def _require(self, file: pq.ParquetFile, names: Collection[str]) -> None:
        has = file.schema_arrow.names
        if missing := [name for name in names if name not in has]:
            raise ResultsError(
                f"{self.place}: has no column {missing[0]}: another version of farweb wrote it; run the scenario again"
            )

    def columns(self, names: Sequence[str]) -> Iterator[dict[str, Column]]:
        """Rows as columns of the core by name, batch by batch.

        For small tables this is much faster than a query, and a sweep reads thousands of them.

        Args:
            names: Columns that it must have.

        Raises:
            ResultsError: It is damaged, or has no such column.
        """
        with self.opened() as file:
            self._require(file, names)
            with self.errors():
                yield from map(from_arrow, self.batches(file, names))

    def batches(
        self, file: pq.ParquetFile, names: Sequence[str], groups: Iterable[int] | None = None, rows: int = _ROWS
    ) -> Iterator[pa.RecordBatch]:
        """Rows of the file while it is open, in the declared types. Texts may be dictionaries.

        Args:
            file: The file from `opened`.
            names: Columns, all declared.
            groups: Numbers of groups of rows (default: all).
            rows: How many at a time, at most.

        Raises:
            ResultsError: It is damaged.
        """
        with self.errors():
            # One after the other: bytes read of groups stay in memory until the last of them has been decoded.
            for group in range(file.num_row_groups) if groups is None else groups:
                for batch in file.iter_batches(rows, row_groups=[group], columns=list(names), use_threads=False):
                    columns = [self._typed(batch.column(name), name) for name in names]
                    yield pa.RecordBatch.from_arrays(columns, names=list(names))

    def _typed(self, array: pa.Array, name: str) -> pa.Array:
        field = self.declared(name)
        assert field is not None, "it is declared"
        if array.null_count and not field.nullable:
            raise self._damaged(f"its column {name} has nulls")
        return array if array.type in (field.type, _WORDS) else array.cast(field.type)

    @contextlib.contextmanager
    def opened(self) -> Iterator[pq.ParquetFile]:
        """Give the open file for the block, after a check of its size and number of rows.

        Raises:
            FileNotFoundError: There is none.
            ResultsError: It is damaged.
        """
        with self.open() as stream, contextlib.ExitStack() as stack:
            found = stream.seek(0, os.SEEK_END)
            if self.bytes not in (None, found):
                raise self._damaged(f"has {found:,} B, and {self.bytes:,} B were written")
            stream.seek(0)
            with self.errors():
                metadata = pq.read_metadata(stream)
                words = [field.name for field in metadata.schema.to_arrow_schema() if field.type == pa.string()]
                stream.seek(0)
                # With `pre_buffer` threads of Arrow read the stream, and one that lets go of a buffer while Python ends
                # aborts the process.
                file = pq.ParquetFile(stream, metadata=metadata, read_dictionary=words, pre_buffer=False)
                stack.enter_context(file)
            if self.rows not in (None, metadata.num_rows):
                raise self._damaged(f"has {metadata.num_rows:,} rows, and {self.rows:,} were written")
            yield file

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Turn what readers raise over a damaged file into one line."""
        try:
            yield
        except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
            raise unreadable(self.place, str(error)) from None

    def _damaged(self, what: str) -> ResultsError:
        return ResultsError(f"{self.place}: {what}; it is damaged: run the scenario again")


def unreadable(place: object, why: str) -> FarwebError:
    """Make the error for a table of results that is damaged, or that the machine cannot read."""
    if refused := refusal_in(why):
        return StorageError(f"{place}: cannot be read: {refused}")
    first = (why.splitlines() or ["it is empty"])[0].rstrip(".")
    return ResultsError(f"{place}: cannot be read: {first:.200}; it is damaged: run the scenario again")


def equals(column: Column, word: str) -> NDArray[np.bool_]:
    """Mark the rows with `word` in a column of words."""
    assert isinstance(column, tuple) and len(column) == 2, "a column of words"
    codes, words = column
    equal: NDArray[np.bool_] = codes == (words.index(word) if word in words else _NO_CODE)
    return equal


_NO_CODE = NULL_CODE - 1
