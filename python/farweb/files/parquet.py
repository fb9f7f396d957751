"""Columns of a run's tables as arrays, a row group at a time.

For small tables this is much faster than a query, and a sweep reads thousands of them.
"""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from farweb.errors import ResultsError


def read_columns(
    file: Path | BinaryIO, names: Collection[str], optional: Collection[str] = ()
) -> Iterable[dict[str, Any]]:
    """Row groups of a table of a run, as Arrow columns by name.

    Args:
        file: The table.
        names: Columns that it must have.
        optional: Further columns, those of them that it has.

    Raises:
        ResultsError: The table is damaged, or has no such column.
    """
    place = file if isinstance(file, Path) else getattr(file, "path", file)
    try:
        with pq.ParquetFile(file) as parquet:
            has = set(parquet.schema_arrow.names)
            if missing := [name for name in names if name not in has]:
                raise ResultsError(
                    f"{place}: has no column {missing[0]}: another version of farweb wrote it; run the scenario again"
                )
            wanted = [*names, *(name for name in optional if name in has)]
            for group in range(parquet.num_row_groups):
                read = parquet.read_row_group(group, wanted, use_threads=False)
                yield {name: read.column(name) for name in wanted}
    except (OSError, pa.ArrowException) as error:
        raise unreadable(place, str(error)) from None


def unreadable(place: object, why: str) -> ResultsError:
    """What to say of a table of results that is damaged."""
    first = (why.splitlines() or ["it is empty"])[0].rstrip(".")
    return ResultsError(f"{place}: cannot be read: {first}; it is damaged: run the scenario again")


def whole_numbers(column: Any) -> NDArray[np.int64]:
    """A column of whole numbers as an array; nulls become the smallest number."""
    if column.null_count:
        column = column.fill_null(np.iinfo(np.int64).min)
    numbers: NDArray[np.int64] = column.to_numpy()
    return numbers


def equals(column: Any, word: str) -> NDArray[np.bool_]:
    """Where a column of texts has `word`."""
    equal: NDArray[np.bool_] = pc.fill_null(pc.equal(column, word), False).to_numpy()
    return equal
