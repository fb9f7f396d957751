"""Results that cannot be read: what is wrong with them, found when a reader has failed."""

import contextlib
import json
import re
from collections.abc import Iterable
from pathlib import Path

from farweb._core import version as this_version
from farweb.errors import ResultsError
from farweb.results.manifest import MANIFEST
from farweb.results.verify import verify

_READERS = {"polars", "pyarrow", "duckdb", "_duckdb"}
_OTHERWISE = (AttributeError, LookupError, TypeError, ValueError)  # from what a manifest lacks, or has in another form
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
    for folder in found:
        version = json.loads((folder / MANIFEST).read_bytes()).get("version")
        if type(error).__module__.partition(".")[0] in _READERS and (missing := _NO_COLUMN.search(str(error))):
            return f"{folder}: has no column {missing[1]}: farweb {version} wrote it otherwise; run the scenario again"
        if isinstance(error, _OTHERWISE) and version != this_version:
            what = f"{type(error).__name__}: {error}".splitlines()[0]
            return f"{folder}: farweb {version} wrote it otherwise ({what}); run the scenario again"
    return None
