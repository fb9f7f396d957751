"""Results that cannot be read: what is wrong with them, found when a reader has failed."""

import json
import re
from collections.abc import Iterable
from pathlib import Path

from farweb.parquet import unreadable
from farweb.results import MANIFEST

_READERS = {"polars", "pyarrow", "duckdb", "_duckdb"}
_NO_COLUMN = re.compile(r'(?:unable to find column|Referenced column|a column named) "?(\w+)')


def explain(error: BaseException, folders: Iterable[Path]) -> str | None:
    """Why results could not be read, in a line; None when they are not to blame for an error.

    Every table is read, so that the damaged one is named.

    Args:
        error: What a reader ended with.
        folders: Results folders that it may have read.
    """
    found = [folder for folder in folders if (folder / MANIFEST).is_file()]
    for folder in found:
        for file in sorted(folder.rglob("*.parquet")):
            if why := _damage(file):
                return str(unreadable(file, why))
    if found and type(error).__module__.partition(".")[0] in _READERS and (missing := _NO_COLUMN.search(str(error))):
        version = json.loads((found[0] / MANIFEST).read_bytes()).get("version")
        return f"{found[0]}: has no column {missing[1]}: farweb {version} wrote it otherwise; run the scenario again"
    return None


def _damage(file: Path) -> str | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(file) as table:
            for _ in table.iter_batches():
                pass
    except (OSError, pa.ArrowException) as error:
        return str(error)
    return None
