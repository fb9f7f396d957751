"""Reads columns of a run's tables as the core has them, a row group at a time.

For small tables this is much faster than a query, and a sweep reads thousands of them.
"""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from farweb.errors import ResultsError
from farweb.files.columns import NULL_CODE, Column, from_arrow


def read_columns(
    file: Path | BinaryIO, names: Collection[str], optional: Collection[str] = ()
) -> Iterable[dict[str, Column]]:
    """Row groups of a table of a run, as columns by name.

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
                yield from map(from_arrow, read.combine_chunks().to_batches())
    except (OSError, pa.ArrowException) as error:
        raise unreadable(place, str(error)) from None


def unreadable(place: object, why: str) -> ResultsError:
    """Make the error for a table of results that is damaged."""
    first = (why.splitlines() or ["it is empty"])[0].rstrip(".")
    return ResultsError(f"{place}: cannot be read: {first}; it is damaged: run the scenario again")


def equals(column: Column, word: str) -> NDArray[np.bool_]:
    """Mark the rows in which a column of words has `word`."""
    assert isinstance(column, tuple) and len(column) == 2, "a column of words"
    codes, words = column
    equal: NDArray[np.bool_] = codes == (words.index(word) if word in words else _NO_CODE)
    return equal


_NO_CODE = NULL_CODE - 1
