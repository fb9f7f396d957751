"""Tables that need not fit into memory, lazily for queries of polars."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from farweb.files.parquet import Table, unreadable

if TYPE_CHECKING:
    import polars as pl


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

    own = pl.from_arrow(pa.Table.from_batches([], pa.schema(tables[0][1].fields)))
    assert isinstance(own, pl.DataFrame), "it has columns"
    schema = {**(labels or {}), **{name: kind for name, kind in own.schema.items() if name not in (labels or {})}}

    def read(
        columns: list[str] | None, predicate: "pl.Expr | None", most: int | None, _: int | None
    ) -> "Iterator[pl.DataFrame]":
        wanted = list(schema) if columns is None else columns
        yield pl.DataFrame(schema={name: schema[name] for name in wanted})
        for values, table in tables:
            if most == 0:
                return
            rows, count = _rows(table, schema)
            rows = rows.with_columns(pl.lit(value, schema[name]).alias(name) for name, value in values.items())
            if most is not None:
                rows, most = rows.head(most), max(0, most - count)
            if predicate is not None:
                rows = rows.filter(predicate)
            try:
                yield from rows.select(wanted).collect_batches(maintain_order=True)
            except pl.exceptions.PolarsError as error:
                raise unreadable(table.place, str(error)) from None

    return register_io_source(read, schema=schema)


def _rows(table: Table, schema: "Mapping[str, pl.DataType]") -> "tuple[pl.LazyFrame, int]":
    """The rows of a table in the types of `schema`, and how many there are."""
    import polars as pl

    with table.opened() as file:
        count, names = file.metadata.num_rows, file.schema_arrow.names
    source: Path | bytes
    if table.path is not None and _is_text(str(table.path.absolute())):
        source = table.path
    else:
        with table.open() as stream:
            source = stream.read()
    rows = pl.scan_parquet(source, glob=False, hive_partitioning=False)
    return rows.cast({name: schema[name] for name in names if name in schema}), count


def _is_text(name: str) -> bool:
    """True for what Polars takes as a path: it has to be UTF-8 from the root on."""
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True
