"""Converts columns of the core to Arrow arrays and back, and holds the schema of a results folder with its units.

The core knows no Arrow: it takes and gives a `Column`.
"""

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from farweb import _core

if TYPE_CHECKING:
    import polars as pl

Column = NDArray[Any] | tuple[NDArray[np.int32], list[str]] | tuple[NDArray[Any], NDArray[Any], NDArray[Any]]
"""A column of the core: an array, codes with their words, or lists of ranges: where each list begins and the last one
ends, the first numbers, and the numbers after the last.

A missing value is `NULL_INT` among int64, `NULL_ID` among uint64, NaN among float64 and `NULL_CODE` among codes. Truth
values of which some may be missing are codes as well: int8, 0 or 1.
"""

NULL_INT, NULL_ID, NULL_CODE = _core.null_int, _core.null_id, _core.null_code

_RANGE = pa.struct([("start", pa.int64()), ("end", pa.int64())])
_TYPES = {
    "int64": pa.int64(),
    "uint64": pa.uint64(),
    "float64": pa.float64(),
    "bool": pa.bool_(),
    "string": pa.string(),
    "list<struct<start: int64, end: int64>>": pa.list_(_RANGE),
}


class ColumnSpec(TypedDict):
    """A column of a table, as `farweb schema` prints it."""

    name: str
    type: str
    unit: str
    nullable: bool
    description: str


class TableSpec(TypedDict):
    """A table, as `farweb schema` prints it."""

    name: str
    description: str
    columns: list[ColumnSpec]


@functools.cache
def results_tables() -> dict[str, TableSpec]:
    """The tables of a results folder by name, in the core's order."""
    return _by_name(_core.results_schema())


@functools.cache
def workload_tables() -> dict[str, TableSpec]:
    """The tables that a scenario reads, `requests` and `hosts`, by name."""
    return _by_name(_core.workload_schema())


def _by_name(schema: str) -> dict[str, TableSpec]:
    specs: list[TableSpec] = json.loads(schema)
    return {spec["name"]: spec for spec in specs}


@dataclass(frozen=True)
class Derived:
    """A time in seconds between two columns of a table, added by readers and absent from files."""

    name: str
    since: str
    until: str
    description: str


DERIVED = {
    "requests": (
        Derived(
            *("latency_s", "start_ns", "end_ns"),
            "From the request at the first node to the last byte of its response there; null where it did not finish.",
        ),
        Derived(
            *("first_byte_s", "start_ns", "first_byte_ns"),
            "From the request at the first node to the first byte of its response there; null where none came.",
        ),
        Derived(
            *("transfer_s", "first_byte_ns", "end_ns"),
            "From the first byte of the response at the first node to the last; null where it did not finish.",
        ),
    )
}
"""Columns that readers add to tables of results, by table."""


def derived_tables() -> list[TableSpec]:
    """Describe the columns that readers add to tables."""
    return [
        {
            "name": f"{table} (derived)",
            "description": f"Columns that `{table}` has besides in Python and in SQL; the file does not have them.",
            "columns": [
                {"name": each.name, "type": "float64", "unit": "s", "nullable": True, "description": each.description}
                for each in columns
            ],
        }
        for table, columns in DERIVED.items()
    ]


def with_derived(table: str, rows: "pl.LazyFrame") -> "pl.LazyFrame":
    """A table as it was read, with what readers add to it."""
    import polars as pl

    return rows.with_columns(
        ((pl.col(each.until) - pl.col(each.since)) / 1e9).alias(each.name) for each in DERIVED.get(table, ())
    )


def derived_in_sql(table: str, rows: str) -> str:
    """The same in SQL: expressions to select besides the columns of `rows`."""
    return "".join(
        f", ({rows}.{each.until} - {rows}.{each.since}) / 1e9 AS {each.name}" for each in DERIVED.get(table, ())
    )


def arrow_type(column: ColumnSpec) -> pa.DataType:
    """The Arrow type of a column."""
    return _TYPES[column["type"]]


def arrow_schema(spec: TableSpec, metadata: Mapping[str, str]) -> pa.Schema:
    """The Arrow schema of a table: unit and description in each field's metadata, `metadata` in the table's."""
    fields = [
        pa.field(
            column["name"],
            arrow_type(column),
            nullable=column["nullable"],
            metadata={"unit": column["unit"], "description": column["description"]},
        )
        for column in spec["columns"]
    ]
    return pa.schema(fields, metadata={"description": spec["description"], **metadata})


def to_arrow(columns: Mapping[str, Column], schema: pa.Schema) -> pa.RecordBatch:
    """Columns of the core as a record batch, with null for a sentinel where the field may be null."""
    return pa.RecordBatch.from_arrays([_array(columns[field.name], field) for field in schema], schema=schema)


# Between NumPy and Arrow stand buffers alone: `pa.array` and `to_numpy` load all of pandas wherever it is installed.

_DTYPES = {
    pa.int8(): np.int8,
    pa.int32(): np.int32,
    pa.int64(): np.int64,
    pa.uint64(): np.uint64,
    pa.float64(): np.float64,
}


def of_values(values: Sequence[Any], type: pa.DataType) -> pa.Array:
    """An Arrow array of texts, numbers or truth values, with None as null."""
    if pa.types.is_string(type):
        builder = pa.lib.StringBuilder()
        builder.append_values(values)
        return builder.finish()
    missing = np.array([value is None for value in values], np.bool_)
    numbers = [0 if value is None else value for value in values]
    return of_numbers(np.array(numbers, _DTYPES.get(type, np.bool_)), type, missing)


def _array(column: Column, field: pa.Field) -> pa.Array:
    if isinstance(column, tuple) and len(column) == 3:
        offsets, *ends = column
        ranges = pa.StructArray.from_arrays([of_numbers(each, pa.int64()) for each in ends], fields=list(_RANGE))
        return pa.ListArray.from_arrays(of_numbers(offsets, pa.int32()), ranges).cast(field.type)
    if isinstance(column, tuple):
        codes, words = column
        indices = of_numbers(codes, pa.int32(), codes == NULL_CODE if field.nullable else None)
        # Parquet finds its own dictionary: plain words do not depend on how rows fall into batches.
        return pa.DictionaryArray.from_arrays(indices, of_values(words, pa.string())).cast(pa.string())
    if not field.nullable:
        return of_numbers(column, field.type)
    missing = np.isnan(column) if column.dtype.kind == "f" else column == _null(field.type)
    return of_numbers(column, field.type, missing)


def of_numbers(values: NDArray[Any], type: pa.DataType, missing: NDArray[np.bool_] | None = None) -> pa.Array:
    """An Arrow array of numbers or truth values, null where they are missing."""
    nulls = 0 if missing is None else int(missing.sum())
    valid = _bits(~missing) if missing is not None and nulls else None
    dtype = _DTYPES.get(type)
    data = _bits(values) if dtype is None else pa.py_buffer(np.ascontiguousarray(values, dtype))
    return pa.Array.from_buffers(type, len(values), [valid, data], nulls)


def _bits(truth: NDArray[np.bool_]) -> pa.Buffer:
    return pa.py_buffer(np.packbits(truth, bitorder="little"))


def from_arrow(batch: pa.RecordBatch) -> dict[str, Column]:
    """A record batch of the types of tables as columns of the core."""
    return {name: _column(batch.column(name)) for name in batch.schema.names}


def _column(array: pa.Array) -> Column:
    """A column of the core. It shares the array's memory unless it has nulls to mark."""
    if pa.types.is_string(array.type):
        return _column(array.dictionary_encode())
    if pa.types.is_dictionary(array.type):
        codes: NDArray[Any] = _filled(array.indices, NULL_CODE)
        return codes.astype(np.int32, copy=False), array.dictionary.to_pylist()
    if pa.types.is_list(array.type):
        ranges = array.flatten()
        lengths = _filled(array.value_lengths(), 0)
        offsets = np.concatenate(([0], np.cumsum(lengths))).astype(np.int32)
        return offsets, _column(ranges.field("start")), _column(ranges.field("end"))  # type: ignore[return-value]
    if pa.types.is_boolean(array.type):
        return _filled(array, False)
    return _filled(array, _null(array.type))


def _null(type: pa.DataType) -> float:
    """The sentinel of the core for a missing number or truth value."""
    if pa.types.is_boolean(type) or pa.types.is_int8(type):
        return NULL_CODE
    if pa.types.is_floating(type):
        return np.nan
    return NULL_ID if pa.types.is_unsigned_integer(type) else NULL_INT


def _filled(array: pa.Array, null: float | bool) -> NDArray[Any]:
    """The numbers or truth values of an array, `null` where it has none."""
    valid, data = array.buffers()
    dtype = _DTYPES.get(array.type)
    values: NDArray[Any]
    if data is None:
        values = np.zeros(len(array), dtype or np.bool_)
    elif dtype is None:
        values = _truth(array, data)
    else:
        values = np.frombuffer(data, dtype, len(array), array.offset * np.dtype(dtype).itemsize)
    return np.where(_truth(array, valid), values, np.asarray(null).astype(values.dtype)) if array.null_count else values


def _truth(array: pa.Array, bits: pa.Buffer) -> NDArray[np.bool_]:
    """The bits of an array's elements in one of its buffers."""
    unpacked = np.unpackbits(np.frombuffer(bits, np.uint8), count=array.offset + len(array), bitorder="little")
    return unpacked[array.offset :].astype(np.bool_)
