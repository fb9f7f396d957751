"""Tables that need not fit into memory, lazily for queries of polars.

Whatever a query keeps of them is less than the memory that is left, or reading ends with an error.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

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

    frame = pl.from_arrow(pa.Table.from_batches([], pa.schema(fields)))  # `empty_table` loads all of pandas
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
