"""Integrity of a results folder: which of its files are missing or not as they were written.

A manifest has the size and the SHA-256 digest of every table beside it, and a digest of itself, which is always
compared. Sizes and rows show tables that are missing or cut off, at the price of a look at each file; digests show a
single bit that is not as it was written.
"""

import contextlib
import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from farweb._core import version as this_version
from farweb.errors import FarwebError, ResultsError
from farweb.progress import Progress, unseen
from farweb.results.manifest import (
    AGAIN,
    MANIFEST,
    NOT_AS_WRITTEN,
    OWN_DIGEST,
    RUN_KIND,
    DamagedManifestError,
    OtherVersionError,
    digest,
    kind_of,
    parse_manifest,
)
from farweb.results.store import Store, part_name
from farweb.text.quantities import count
from farweb.text.words import plural

if TYPE_CHECKING:
    from farweb.results.sweep import SweepTables

_FILES = "files"
_CHUNK_BYTES = 1 << 20  # chosen: large enough that reading costs more than calling


@dataclass(frozen=True)
class Damage:
    """A file of a results folder that is not as it was written.

    Attributes:
        file: Its path within the folder.
        what: The damage in a few words.
    """

    file: str
    what: str


def describe(file: BinaryIO) -> dict[str, Any]:
    """Describe a file, open at its start, as a manifest does: its size in bytes and its SHA-256 digest."""
    digest = hashlib.sha256()
    size = 0
    while chunk := file.read(_CHUNK_BYTES):
        size += len(chunk)
        digest.update(chunk)
    return {"bytes": size, "sha256": digest.hexdigest()}


def seal(manifest: Mapping[str, Any], tables: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """A manifest with what `describe` says of its tables, by file name, and with its own digest."""
    whole = {**manifest, _FILES: dict(tables)}
    return {**whole, OWN_DIGEST: digest(whole)}


def unsealed(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """A manifest without what `seal` has added."""
    return {key: value for key, value in manifest.items() if key not in {_FILES, OWN_DIGEST}}


def damages(store: Store, folder: str = "", *, full: bool) -> Iterator[Damage]:
    """The files that are not as they were written, of a run's folder, a sweep's, or a part of it.

    In results from before manifests had digests only numbers of rows can be checked.

    Args:
        store: The results folder.
        folder: Where in it the manifest stands: `""`, or the name of a part.
        full: True when digests of tables are compared, which reads every byte; the manifest's always is.

    Raises:
        FarwebError: A folder stands in the place of the manifest.
        StorageError: The place cannot be read.
    """
    place = f"{folder}/" if folder else ""
    try:
        manifest = parse_manifest(store.read_json(place + MANIFEST), store.url, RUN_KIND if folder else None)
    except OtherVersionError:  # this one does not know its tables
        return
    except ResultsError as error:
        yield _of_manifest(place, error)
        return
    sizes, rows = manifest.get(_FILES, {}), manifest.get("rows")
    counts = {f"{table}.parquet": count for table, count in rows.items()} if isinstance(rows, dict) else {}
    for name in sorted({*counts, *sizes}):
        if what := _damage(store, place + name, sizes.get(name), counts.get(name), full=full):
            yield Damage(place + name, what)


def _of_manifest(place: str, error: ResultsError) -> Damage:
    """The damage of a manifest, without its place, which stands in front."""
    return Damage(
        place + MANIFEST, str(error).partition(f"{MANIFEST}: ")[2].removesuffix(AGAIN) or "is not that of a run"
    )


def _damage(store: Store, file: str, said: Mapping[str, Any] | None, rows: int | None, *, full: bool) -> str | None:
    size = store.size(file)
    if size is None:
        return "is missing"
    if said is not None and size != said["bytes"]:
        return f"has {size:,} B, and {said['bytes']:,} B were written"
    if said is not None and full:
        with store.open(file) as stream:
            return None if describe(stream) == said else NOT_AS_WRITTEN
    return None if rows is None else _wrong_rows(store, file, rows)


def _wrong_rows(store: Store, file: str, rows: int) -> str | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with store.open(file) as stream:
            found = pq.read_metadata(stream).num_rows
    except (pa.ArrowException, OSError) as error:
        return f"cannot be read: {str(error).splitlines()[0]}"
    return None if found == rows else f"has {found:,} rows, and {rows:,} were written"


@dataclass(frozen=True)
class Verification:
    """Outcome of a verification.

    Attributes:
        path: The results folder.
        full: True when every byte was compared with its digest; else manifests, sizes and numbers of rows.
        folders: Results folders looked at: one of a run; of a sweep its own and its runs'.
        unfinished: Planned runs of a sweep that have not ended; the sweep says itself that it is not complete.
        damages: Files that are missing or not as they were written.
        leftovers: Files left by killed commands; nothing takes them for results.
    """

    path: str
    full: bool
    folders: int
    unfinished: int
    damages: tuple[Damage, ...]
    leftovers: tuple[str, ...]

    @property
    def whole(self) -> bool:
        """True when nothing is damaged or missing."""
        return not self.damages

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as `farweb verify --json` prints them."""
        return {**asdict(self), "whole": self.whole}

    @property
    def text(self) -> str:
        """The outcome in lines, paths in one piece."""
        read = "every byte read" if self.full else "--full reads every byte"
        folders = f"{plural(self.folders, 'folder')}; " if self.folders > 1 else ""
        if self.whole:
            lines = [f"{self.path}: complete ({folders}{read})"]
        else:
            are = "file is" if len(self.damages) == 1 else "files are"
            lines = [f"{self.path}: {count(len(self.damages))} {are} damaged or missing ({read})"]
        lines += [f"  {damage.file}: {damage.what}" for damage in self.damages]
        if self.unfinished:
            lines.append(f"{count(self.unfinished)} planned runs have not ended; farweb sweep continues with them.")
        if self.leftovers:
            lines.append(f"Left by commands that were killed, and safe to remove: {', '.join(self.leftovers)}")
        if self.damages:
            first = "remove the folder, then " if any(each.file == MANIFEST for each in self.damages) else ""
            lines.append(f"repair: {first}the same farweb run with -o {self.path} --force, or the same farweb sweep")
        return "\n".join(lines)


def verify(path: str | Path, *, full: bool = False, progress: Progress = unseen) -> Verification:
    """Check that a results folder is as it was written.

    Args:
        path: The folder of a run or of a sweep; of a sweep also a URL.
        full: Compare every byte with the digests in the manifests, not sizes and rows only.
        progress: Called as folders are checked.

    Raises:
        ResultsError: There are no results at `path`.
        FarwebError: A folder stands in the place of a manifest.
    """
    from farweb.results.sweep import SweepTables

    store = Store(path)
    left = tuple(map(str, store.leftovers()))
    try:
        kind = kind_of(path)
    except DamagedManifestError as error:
        return Verification(str(path), full, 1, 0, (_of_manifest("", error),), left)
    if kind == RUN_KIND:
        return Verification(str(path), full, 1, 0, tuple(damages(store, full=full)), left)
    found = list(damages(store, full=full))
    ended, lost, unfinished = _planned(SweepTables.open(path))
    found += [Damage(part_name(run), "is missing") for run in lost]
    for checked, run in enumerate(ended, start=1):
        found += damages(store, part_name(run), full=full)
        progress(checked, len(ended), f"{checked:,} of {len(ended):,} runs")
    return Verification(str(path), full, 1 + len(ended), unfinished, tuple(found), left)


def _planned(sweep: "SweepTables") -> tuple[list[str], list[str], int]:
    """Runs of a sweep's plan: with results, with results that have gone, and the number without an end."""
    finished, failed = sweep.store.finished(), sweep.store.failed()
    plan = sweep.planned_runs()
    ended = [run for run in plan if run in finished]
    rest = [run for run in plan if run not in finished and run not in failed]
    return (ended, rest, 0) if sweep.complete else (ended, [], len(rest))


_READERS = {"polars", "pyarrow", "duckdb", "_duckdb"}
_OTHERWISE = (AttributeError, LookupError, TypeError, ValueError)  # keys missing in a manifest, or of another form
_NO_COLUMN = re.compile(r'(?:unable to find column|Referenced column|a column named) "?(\w+)')


def explain(error: BaseException, folders: Iterable[Path]) -> str | None:
    """Explain in a line why results could not be read, or None when they are not to blame for an error.

    Every byte is compared with the digests of the manifests: the damaged file is named.

    Args:
        error: The error of a reader.
        folders: Results folders that it may have read.
    """
    found = [folder for folder in folders if (folder / MANIFEST).is_file()]
    for folder in found:
        with contextlib.suppress(FarwebError):
            for damage in verify(folder, full=True).damages:
                return f"{folder / damage.file}: {damage.what}: run the scenario again"
    for folder in found:
        version = json.loads(Store(folder).read_json(MANIFEST)).get("version")
        if type(error).__module__.partition(".")[0] in _READERS and (missing := _NO_COLUMN.search(str(error))):
            return f"{folder}: has no column {missing[1]}: farweb {version} wrote it otherwise; run the scenario again"
        if isinstance(error, _OTHERWISE) and version != this_version:
            what = f"{type(error).__name__}: {error}".splitlines()[0]
            return f"{folder}: farweb {version} wrote it otherwise ({what}); run the scenario again"
    return None
