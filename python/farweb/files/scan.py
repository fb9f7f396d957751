"""Tables that need not fit into memory, lazily for queries of polars."""

import contextlib
import functools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from farweb.files.parquet import Table, unreadable


def scan(
    tables: Sequence[tuple[Mapping[str, Any], Table]], labels: Mapping[str, pl.DataType] | None = None
) -> pl.LazyFrame:
    """Rows of tables of the same columns, one table after the other. A query reads only its own columns and rows.

    Args:
        tables: Each with the values of its labels, columns that precede its own and are the same in all of its rows.
        labels: Types of these columns.

    Raises:
        ResultsError: The first table is damaged. The others are checked when read.
    """
    from polars.io.plugins import register_io_source

    first = tables[0][1]
    own = _schema(tuple((field.name, field.type) for field in first.fields))
    schema = {**(labels or {}), **{name: kind for name, kind in own.items() if name not in (labels or {})}}

    def read(
        columns: list[str] | None, predicate: pl.Expr | None, most: int | None, _: int | None
    ) -> Iterator[pl.DataFrame]:
        wanted = list(schema) if columns is None else columns
        yield pl.DataFrame(schema={name: schema[name] for name in wanted})
        for values, table in tables:
            if most == 0:
                return
            with table.opened() as file:
                count = file.metadata.num_rows
                other = {field.name: schema[field.name] for field in file.schema_arrow if _is_other(field, table)}
            rows = pl.scan_parquet(_source(table), glob=False, hive_partitioning=False)
            if other:
                rows = rows.cast(other)
            if values:
                rows = rows.with_columns(pl.lit(value, schema[name]).alias(name) for name, value in values.items())
            if most is not None:
                rows, most = rows.head(most), max(0, most - count)
            if predicate is not None:
                rows = rows.filter(predicate)
            rows = rows.select(wanted)
            try:
                if count <= _AT_ONCE:
                    yield rows.collect()
                else:
                    yield from rows.collect_batches(maintain_order=True)
            except pl.exceptions.PolarsError as error:
                raise unreadable(table.place, str(error)) from None

    return register_io_source(read, schema=schema)


_AT_ONCE = 100_000  # rows of a table that batches would only make slower (chosen)


@functools.cache
def _schema(fields: tuple[tuple[str, pa.DataType], ...]) -> Mapping[str, pl.DataType]:
    """The types of Polars for columns of these names and types."""
    frame = pl.from_arrow(pa.Table.from_batches([], pa.schema(fields)))  # `empty_table` loads all of pandas
    assert isinstance(frame, pl.DataFrame), "it has columns"
    return frame.schema


def _is_other(field: pa.Field, table: Table) -> bool:
    """True for a column of another type than is declared, as another program may have written it."""
    declared = table.declared(field.name)
    return declared is not None and declared.type != field.type


def _source(table: Table) -> Path | bytes:
    """The name of a file, if it is UTF-8 from the root on, as Polars needs it, or else its content."""
    if table.path is not None:
        with contextlib.suppress(UnicodeEncodeError):
            str(table.path.absolute()).encode()
            return table.path
    with table.open() as stream:
        return stream.read()
