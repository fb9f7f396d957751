"""Results that cannot be read: what is wrong with them, found when a reader has failed."""

import contextlib
import json
import re
from collections.abc import Iterable
from pathlib import Path

from farweb.errors import ResultsError
from farweb.results.manifest import MANIFEST
from farweb.results.verify import verify

_READERS = {"polars", "pyarrow", "duckdb", "_duckdb"}
_NO_COLUMN = re.compile(r'(?:unable to find column|Referenced column|a column named) "?(\w+)')


def explain(error: BaseException, folders: Iterable[Path]) -> str | None:
    """Why results could not be read, in a line; None when they are not to blame for an error.

    Every byte is compared with the digests of the manifests, so that the damaged file is named.

    Args:
        error: What a reader ended with.
        folders: RunTables folders that it may have read.
    """
    found = [folder for folder in folders if (folder / MANIFEST).is_file()]
    for folder in found:
        with contextlib.suppress(ResultsError):
            for damage in verify(folder, full=True).damages:
                return f"{folder / damage.file}: {damage.what}: run the scenario again"
    if found and type(error).__module__.partition(".")[0] in _READERS and (missing := _NO_COLUMN.search(str(error))):
        version = json.loads((found[0] / MANIFEST).read_bytes()).get("version")
        return f"{found[0]}: has no column {missing[1]}: farweb {version} wrote it otherwise; run the scenario again"
    return None
