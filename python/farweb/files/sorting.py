"""Works on Parquet files that need not fit into memory: a database that uses the disk, and sorting with it."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from farweb.errors import RunError

if TYPE_CHECKING:
    import duckdb

_MEMORY = "512MB"  # chosen: 10 million requests sort without the disk, more with it
_THREADS = 2  # chosen: each thread needs memory of its own


def open_database(scratch: Path, **limits: str | int) -> "duckdb.DuckDBPyConnection":
    """Open a database in memory that spills to a folder below `scratch`, and loads no extension.

    By itself DuckDB writes to a folder `.tmp` in the current one, which another user may have made.

    Args:
        scratch: A folder of this user alone.
        limits: Settings of DuckDB's.
    """
    import duckdb  # takes a while to load, and most tables are in order

    own = {"temp_directory": str(scratch / "spilled")}
    extensions = dict.fromkeys(("autoload_known_extensions", "autoinstall_known_extensions"), False)
    return duckdb.connect(config={**own, **extensions, **limits})


def spilling(scratch: Path, memory: str = _MEMORY) -> "duckdb.DuckDBPyConnection":
    """Open a database that spills rows beyond so much memory (see `open_database`).

    Sorts, distinct values and groups spill. Quantiles and lists fail beyond it.
    """
    return open_database(scratch, memory_limit=memory, threads=_THREADS)


def sort_parquet(
    source: Path, target: Path, *, by: str, scratch: Path, instead: Mapping[str, str] | None = None
) -> None:
    """Write the rows of `source` to `target` in the order of the column `by`, equal values in their own.

    Args:
        source: A Parquet file.
        target: Where the sorted one goes.
        by: A column of numbers.
        scratch: A folder for spilled rows.
        instead: New values of columns, in SQL, before the rows are sorted; `file_row_number` is the place of a row.

    Raises:
        RunError: The disk is full, or the file cannot be read.
    """
    import duckdb

    connection = spilling(scratch)
    relation = f"read_parquet({_quoted(source)}, file_row_number = true)"
    if instead:
        changed = ", ".join(f'{expression} AS "{name}"' for name, expression in instead.items())
        relation = f"(SELECT * REPLACE ({changed}) FROM {relation})"
    try:
        connection.execute(
            f'COPY (SELECT * EXCLUDE (file_row_number) FROM {relation} ORDER BY "{by}", file_row_number) '
            f"TO {_quoted(target)} (FORMAT parquet, COMPRESSION zstd)"
        )
    except duckdb.Error as error:
        raise RunError(f"{source}: cannot be sorted by {by}: {str(error).splitlines()[0]}") from error
    finally:
        connection.close()


def _quoted(path: Path) -> str:
    return "'" + str(path).replace("'", "''") + "'"
