"""Checks of a results folder against what its manifest says of it.

A manifest has the size and the SHA-256 digest of every table beside it, and a digest of itself. Sizes and numbers of
rows show what is missing or cut off, at the price of a look at each file; digests show a single bit that is not as it
was written.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO

from farweb.errors import ResultsError
from farweb.results.manifest import MANIFEST

if TYPE_CHECKING:
    from farweb.results.store import Store

_FILES = "files"
_OWN = "sha256"
_CHUNK_BYTES = 1 << 20  # chosen: large enough that reading costs more than calling


@dataclass(frozen=True)
class Damage:
    """A file of a results folder that is not as it was written.

    Attributes:
        file: Its path within the folder.
        what: What is wrong with it, in a few words.
    """

    file: str
    what: str


def describe(file: BinaryIO) -> dict[str, Any]:
    """What a manifest says of a file, open at its start: its size in bytes and its SHA-256 digest."""
    digest = hashlib.sha256()
    size = 0
    while chunk := file.read(_CHUNK_BYTES):
        size += len(chunk)
        digest.update(chunk)
    return {"bytes": size, "sha256": digest.hexdigest()}


def seal(manifest: Mapping[str, Any], tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A manifest with what `describe` says of its tables, by file name, and with its own digest."""
    whole = {**manifest, _FILES: dict(tables)}
    return {**whole, _OWN: _digest(whole)}


def unsealed(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """What a manifest says but for what `seal` has added."""
    return {key: value for key, value in manifest.items() if key not in {_FILES, _OWN}}


def _digest(manifest: Mapping[str, Any]) -> str:
    rest = {key: value for key, value in manifest.items() if key != _OWN}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def damages(store: "Store", folder: str = "", *, full: bool) -> Iterator[Damage]:
    """The files that are not as they were written, of a run's folder, a sweep's, or a part of it.

    Of results from before manifests had digests nothing but numbers of rows can be checked.

    Args:
        store: The results folder.
        folder: Where in it the manifest stands: `""`, or the name of a part.
        full: Whether digests are compared, which reads every byte.

    Raises:
        StorageError: The place cannot be read.
    """
    place = f"{folder}/" if folder else ""
    try:
        manifest = json.loads(store.read(place + MANIFEST))
        sizes, rows = manifest.get(_FILES, {}), manifest.get("rows")
        if full and manifest.get(_OWN, own := _digest(manifest)) != own:
            yield Damage(place + MANIFEST, _NOT_AS_WRITTEN)
            return
    except (ResultsError, ValueError, AttributeError) as error:
        yield Damage(place + MANIFEST, f"cannot be read: {str(error).splitlines()[0]}")
        return
    counts = {f"{table}.parquet": count for table, count in rows.items()} if isinstance(rows, dict) else {}
    for name in sorted({*counts, *sizes}):
        if what := _damage(store, place + name, sizes.get(name), counts.get(name), full=full):
            yield Damage(place + name, what)


_NOT_AS_WRITTEN = "is not as it was written (by its SHA-256 digest)"


def _damage(store: "Store", file: str, said: Mapping[str, Any] | None, rows: int | None, *, full: bool) -> str | None:
    size = store.size(file)
    if size is None:
        return "is missing"
    if said is not None and size != said["bytes"]:
        return f"has {size:,} B, and {said['bytes']:,} B were written"
    if said is not None and full:
        with store.open(file) as stream:
            return None if describe(stream) == said else _NOT_AS_WRITTEN
    return None if rows is None else _wrong_rows(store, file, rows)


def _wrong_rows(store: "Store", file: str, rows: int) -> str | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with store.open(file) as stream:
            found = pq.read_metadata(stream).num_rows
    except (pa.ArrowException, OSError) as error:
        return f"cannot be read: {str(error).splitlines()[0]}"
    return None if found == rows else f"has {found:,} rows, and {rows:,} were written"
