"""Reads tables that someone else may have written: Parquet, some rows at a time, in the columns that are declared.

A footer is no longer than farweb's own; columns have their declared types, once each, and no null where none is
declared; rows and bytes are as many as a manifest says; a part decoded at a time fits into memory, and
no text is longer than any that farweb writes. Columns that are not declared are not read.
"""

import contextlib
import dataclasses
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from farweb.errors import FarwebError, ResultsError, StorageError, refusal_in
from farweb.files.columns import NULL_CODE, Column, from_arrow
from farweb.memory import spare_bytes
from farweb.text.quantities import size

_ROWS = 131_072  # chosen: as many as farweb writes to a group of rows
_FOOTER_BYTES = 16 << 20  # chosen: thrice the footer of 100 million packets, in groups as farweb writes them
TEXT_BYTES = 65_536
"""Bytes of the longest text in a table. Chosen: longer than any URL or path."""


_TEXTS_BYTES = 64 << 20  # of a batch, up to which nothing has to be counted; chosen

Declared = Callable[[str], pa.Field | None]
"""The field of a column by name; None for a column that is not declared."""


@dataclass(frozen=True)
class Table:
    """A Parquet file, opened anew each time that it is read.

    Attributes:
        place: Its name in messages.
        open: Opens it, at its start.
        declared: Its columns.
        rows: How many it has, as far as that is known.
        bytes: Likewise its size.
        numbers: Of columns that number something, how many there are of that.
        words: Of columns of words, which there are.
    """

    place: str
    open: Callable[[], BinaryIO]
    declared: Declared
    rows: int | None = None
    bytes: int | None = None
    numbers: Mapping[str, int] = dataclasses.field(default_factory=dict)
    words: Mapping[str, Collection[str]] = dataclasses.field(default_factory=dict)

    @property
    def fields(self) -> list[pa.Field]:
        """The declared fields that it has, in its order.

        Raises:
            ResultsError: It is damaged.
        """
        with self.opened() as file:
            return self._fields(file.schema_arrow)

    def require(self, names: Collection[str]) -> None:
        """Look for columns.

        Raises:
            ResultsError: It lacks one, or is damaged.
        """
        with self.opened() as file:
            self._having(file, names)

    def _having(self, file: pq.ParquetFile, names: Collection[str]) -> Collection[str]:
        """The names of its columns, these among them."""
        has = {field.name for field in self._fields(file.schema_arrow)}
        if missing := [name for name in names if name not in has]:
            raise ResultsError(
                f"{self.place}: has no column {missing[0]}: another version of farweb wrote it; run the scenario again"
            )
        return has

    def columns(self, names: Sequence[str], optional: Collection[str] = ()) -> Iterator[dict[str, Column]]:
        """Rows as columns of the core by name, batch by batch.

        For small tables this is much faster than a query, and a sweep reads thousands of them.

        Args:
            names: Columns that it must have.
            optional: Further columns, read where it has them.

        Raises:
            ResultsError: It is damaged, or has no such column.
        """
        with self.opened() as file:
            has = self._having(file, names)
            wanted = [*names, *(name for name in optional if name in has)]
            yield from map(from_arrow, self.batches(file, wanted))

    def batches(
        self, file: pq.ParquetFile, names: Sequence[str], groups: Iterable[int] | None = None, rows: int = _ROWS
    ) -> Iterator[pa.RecordBatch]:
        """Rows of the file while it is open, in the declared types; texts are dictionaries.

        Args:
            file: The file from `opened`.
            names: Columns.
            groups: Numbers of groups of rows; all when left out.
            rows: How many at a time, at most.

        Raises:
            ResultsError: It is damaged.
        """
        fields = {field.name: field for field in self._fields(file.schema_arrow)}
        with self._errors():
            for some in _together(file, range(file.num_row_groups) if groups is None else groups, rows):
                # Bytes read of groups stay in memory until the last group has been decoded.
                for batch in file.iter_batches(rows, row_groups=some, columns=list(names), use_threads=False):
                    columns = [self._checked(batch.column(name), fields[name]) for name in names]
                    yield pa.RecordBatch.from_arrays(columns, names=list(names))

    @contextlib.contextmanager
    def opened(self) -> Iterator[pq.ParquetFile]:
        """Give the file, open and checked, for the block.

        Raises:
            FileNotFoundError: There is none.
            ResultsError: It is damaged.
        """
        with self.open() as stream, contextlib.ExitStack() as stack:
            with self._errors():
                self._look_at_footer(stream)
                metadata = pq.read_metadata(stream)
                schema = metadata.schema.to_arrow_schema()
                words = [field.name for field in schema if _is_text(field.type)]
                stream.seek(0)
                # With `pre_buffer` threads of Arrow read the stream, and one that lets go of a buffer while Python ends
                # aborts the process.
                file = stack.enter_context(
                    pq.ParquetFile(stream, metadata=metadata, read_dictionary=words, pre_buffer=False)
                )
                self._fields(schema)
                self._look_at_extent(stream, metadata)
            yield file

    def require_room(self, bytes_a_row: int) -> None:
        """Refuse rows that are all to be in memory and do not fit, before one is read.

        Raises:
            ResultsError: They take more than can be spared, or it is damaged.
        """
        with self.opened() as file:
            rows: int = file.metadata.num_rows
        if (needed := rows * bytes_a_row) > (spare := spare_bytes()):
            raise self.too_large(f"its {rows:,} rows take {size(needed)}, and {size(spare)} of memory can be spared")

    def require_sound_groups(self) -> None:
        """Look at each group of rows, for readers that take no less of a column at once and look at no value.

        Raises:
            ResultsError: One is too large for memory, or has a text that is, or a null where none may be; or the table
                is damaged.
        """
        with self.opened() as file:
            fields, spare = self._fields(file.schema_arrow), spare_bytes()
            for number in range(file.num_row_groups):
                group = file.metadata.row_group(number)
                if (decoded := 8 * len(fields) * group.num_rows) > spare:
                    raise self.too_large(
                        f"{group.num_rows:,} rows that are read at once take {size(decoded)}, and {size(spare)} of "
                        "memory can be spared"
                    )
                chunks = (group.column(place) for place in range(group.num_columns))
                sizes = {chunk.path_in_schema: chunk.total_uncompressed_size for chunk in chunks}
                long = [each.name for each in fields if _is_text(each.type) and sizes.get(each.name, 0) > TEXT_BYTES]
                optional = [each.name for each in fields if not each.nullable and _may_have_nulls(file, each.name)]
                if doubtful := list(dict.fromkeys([*long, *optional])):
                    for _ in self.batches(file, doubtful, [number]):
                        pass  # each value is looked at

    def _look_at_footer(self, stream: BinaryIO) -> None:
        end = stream.seek(0, os.SEEK_END)
        stream.seek(max(0, end - 8))
        length, magic = int.from_bytes(stream.read(4), "little"), stream.read(4)
        if magic == b"PAR1" and _FOOTER_BYTES < length <= end:
            raise self._damaged(f"its description has {length:,} B, and no more than {_FOOTER_BYTES:,} B are read")
        stream.seek(0)

    def _look_at_extent(self, stream: BinaryIO, metadata: pq.FileMetaData) -> None:
        """Check rows and bytes against the manifest, and memory needed at once against the memory there is."""
        found = stream.seek(0, os.SEEK_END)
        if self.bytes is not None and found != self.bytes:
            raise self._damaged(f"has {found:,} B, and {self.bytes:,} B were written")
        if self.rows is not None and metadata.num_rows != self.rows:
            raise self._damaged(f"has {metadata.num_rows:,} rows, and {self.rows:,} were written")
        groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
        if sum(group.num_rows for group in groups) != metadata.num_rows:
            raise self._damaged("its groups have other numbers of rows than it says")
        chunks = [group.column(number) for group in groups for number in range(group.num_columns)]
        # The pages of a column are decoded one by one, at worst all of them at once; a list is of any length.
        most = max((max(chunk.total_uncompressed_size, 8 * _in_lists(chunk)) for chunk in chunks), default=0)
        if most > (spare := spare_bytes()):
            raise self.too_large(f"a part of it takes {size(most)}, and {size(spare)} of memory can be spared")

    def _fields(self, schema: pa.Schema) -> list[pa.Field]:
        """The declared fields of a file."""
        found: list[pa.Field] = []
        for field in schema:
            declared = self.declared(field.name)
            if declared is None:
                continue
            if any(other.name == field.name for other in found):
                raise self._damaged(f"has two columns {field.name}")
            if not _may_be(field.type, declared.type):
                raise self._damaged(
                    f"its column {field.name} is of type {field.type!s:.60}, and {declared.type} was written"
                )
            found.append(declared)
        return found

    def _checked(self, array: pa.Array, field: pa.Field) -> pa.Array:
        """A column of a batch in its declared type, with nothing in it that farweb does not write."""
        if array.null_count and not field.nullable:
            raise self._damaged(f"its column {field.name} has nulls")
        if _is_text(field.type):
            return self._texts(array, field.name)
        if pa.types.is_dictionary(array.type):
            array = array.dictionary_decode()
        values = array if array.type == field.type else array.cast(field.type)
        if (number := self.numbers.get(field.name)) is not None:
            for end in pc.min_max(values).as_py().values():
                if end is not None and not 0 <= end < number:
                    raise self._damaged(f"its column {field.name} has {end}, and there are {number}")
        return values

    def _texts(self, array: pa.Array, name: str) -> pa.DictionaryArray:
        """A column of words."""
        if not pa.types.is_dictionary(array.type):
            array = array.cast(pa.string()).dictionary_encode()
        array.dictionary.validate(full=True)  # texts are UTF-8
        lengths = pc.binary_length(array.dictionary)
        if (longest := pc.max(lengths).as_py() or 0) > TEXT_BYTES:
            raise self._damaged(f"its column {name} has a text of {longest:,} B, and {TEXT_BYTES:,} B are read at most")
        if longest * len(array) > _TEXTS_BYTES and pc.sum(lengths.take(array.indices)).as_py() > spare_bytes():
            raise self.too_large(f"texts of its column {name} do not fit into memory")
        if name in self.words and (odd := {*array.dictionary.to_pylist()} - {*self.words[name]}):
            raise self._damaged(f"its column {name} has {min(odd)!r:.60}")
        if array.type == _WORDS:
            return array
        return pa.DictionaryArray.from_arrays(array.indices.cast(pa.int32()), array.dictionary.cast(pa.string()))

    @contextlib.contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn what Arrow raises over a damaged file into one line."""
        try:
            yield
        except MemoryError:
            raise self.too_large("there is too little memory for a part of it") from None
        except (OSError, ValueError, KeyError, TypeError, pa.ArrowException) as error:
            raise unreadable(self.place, str(error)) from None

    def _damaged(self, what: str) -> ResultsError:
        return ResultsError(f"{self.place}: {what}; it is damaged: run the scenario again")

    def too_large(self, why: str) -> ResultsError:
        """Make the error for a table that memory does not hold."""
        return ResultsError(f"{self.place}: is too large: {why}")


def _together(file: pq.ParquetFile, groups: Iterable[int], rows: int) -> Iterator[list[int]]:
    """Groups of rows in lists with so many rows, or a few more."""
    found, left = [], rows
    for group in groups:
        found.append(group)
        left -= file.metadata.row_group(group).num_rows
        if left <= 0:
            yield found
            found, left = [], rows
    if found:
        yield found


_WORDS = pa.dictionary(pa.int32(), pa.string())


def _is_text(kind: pa.DataType) -> bool:
    return any(is_kind(kind) for is_kind in (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view))


def _may_have_nulls(file: pq.ParquetFile, name: str) -> bool:
    return bool(file.schema_arrow.field(name).nullable)


def _in_lists(chunk: pq.ColumnChunkMetaData) -> int:
    """Values of a column that is part of a list."""
    return chunk.num_values if "." in chunk.path_in_schema else 0


_ALIKE = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean, _is_text)


def _may_be(found: pa.DataType, declared: pa.DataType) -> bool:
    """True when values of a type, as other programs write them, can stand for the declared one."""
    if pa.types.is_dictionary(found):
        found = found.value_type
    if pa.types.is_null(found):
        return True
    if pa.types.is_list(declared):
        is_list = pa.types.is_list(found) or pa.types.is_large_list(found)
        return is_list and _structure(found.value_type) == _structure(declared.value_type)
    whole_for_number = pa.types.is_integer(found) and pa.types.is_floating(declared)
    return bool(whole_for_number) or any(is_kind(found) and is_kind(declared) for is_kind in _ALIKE)


def _structure(kind: pa.DataType) -> list[tuple[str, bool]] | str:
    """The names in a structure of whole numbers, and whether they are."""
    if not pa.types.is_struct(kind):
        return str(kind)
    return [
        (kind.field(number).name, pa.types.is_integer(kind.field(number).type)) for number in range(kind.num_fields)
    ]


def unreadable(place: object, why: str) -> FarwebError:
    """Make the error for a table of results that is damaged, or that the machine cannot read."""
    if refused := refusal_in(why):
        return StorageError(f"{place}: cannot be read: {refused}")
    first = (why.splitlines() or ["it is empty"])[0].rstrip(".")
    return ResultsError(f"{place}: cannot be read: {first:.200}; it is damaged: run the scenario again")


def equals(column: Column, word: str) -> NDArray[np.bool_]:
    """Mark the rows in which a column of words has `word`."""
    assert isinstance(column, tuple) and len(column) == 2, "a column of words"
    codes, words = column
    equal: NDArray[np.bool_] = codes == (words.index(word) if word in words else _NO_CODE)
    return equal


_NO_CODE = NULL_CODE - 1
