"""Input files as the workers of a sweep share them.

Each is read and checked once, whatever its format, before anything runs, and a copy is written to the sweep's
folder (`farweb.sweep.copies`). A worker maps the copy into its memory once and keeps it: the workers of a machine share
one, and no run reads it again.
"""

import atexit
import contextlib
import functools
import platform
import threading
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from farweb import _core
from farweb.errors import ResultsError, StorageError, WorkloadError
from farweb.files.regular import sha256_of
from farweb.files.scratch import scratch
from farweb.inputs.description import Description, Input
from farweb.inputs.prepared import Prepared
from farweb.inputs.provenance import caveats, origin, provenance
from farweb.results.store import Store, input_name
from farweb.sweep.copies import Copy, whole_copy, write_copy

_KEPT = 64  # tables that a worker keeps open. Chosen: more than a sweep has, and each costs an open file


@dataclass(frozen=True)
class Source:
    """A file that a scenario names.

    Attributes:
        file: How the scenario calls it.
        sha256: Digest of the file's content.
        caveats: Assumptions about its server times, a sentence each.
        origin_unix_s: Unix time of its second 0. None: it is from no log.
    """

    file: str
    sha256: str
    caveats: tuple[str, ...] = ()
    origin_unix_s: float | None = None


class Inputs:
    """The files that the runs of a sweep read. Each file is digested once, and written once."""

    def __init__(self) -> None:
        self._read: dict[Path, Source] = {}
        self._pending: dict[str, tuple[str, Path]] = {}
        self._met: dict[tuple[str, Source], None] = {}  # in this order
        self._copies: dict[str, dict[str, Any]] = {}

    def of(self, scenario: Description, seed: int) -> dict[str, Source]:
        """The files of a run by name, or none when it names a family.

        Raises:
            WorkloadError: A table is not there.
        """
        found = {name: self._source(each) for name, each in scenario.inputs(seed).items()}
        self._met.update(dict.fromkeys(found.items()))
        return found

    def described(self) -> dict[str, dict[str, Any]]:
        """All files met so far, for a manifest: `requests`, `requests 2` and so on, and so for the others."""
        described: dict[str, dict[str, Any]] = {}
        for name in dict.fromkeys(name for name, _ in self._met):
            sources = [source for of, source in self._met if of == name]
            for number, source in enumerate(sources, 1):
                described[name if number == 1 else f"{name} {number}"] = asdict(source)
        return described

    def _source(self, named: Input) -> Source:
        if named.path not in self._read:
            what = named.kind if named.is_of_link else f"table of {named.kind}"
            sha256 = sha256_of(named.path, WorkloadError, f"name a {what}")
            kept = provenance(named.path)
            self._read[named.path] = Source(named.file, sha256, tuple(caveats(kept)), origin(kept))
            self._pending.setdefault(sha256, (named.kind, named.path))
        return replace(self._read[named.path], file=named.file)

    def write(self, store: Store) -> None:
        """Check the tables met since the last call and write the missing or damaged ones to the store, all or none.

        Raises:
            WorkloadError: A table cannot be used, or has changed since it was met. The message names file and line.
            StorageError: The store cannot be written to.
        """
        written = {}
        with contextlib.ExitStack() as whole:
            for sha256, (kind, path) in self._pending.items():
                name = input_name(sha256)
                found = whole_copy(store, sha256)
                written[name] = found or write_copy(kind, path, sha256, whole.enter_context(store.file(name)))
        self._copies.update(written)
        self._pending.clear()

    @property
    def copies(self) -> Mapping[str, Mapping[str, Any]]:
        """Size and digest of each copy in the store, by name, for a manifest."""
        return self._copies


@contextlib.contextmanager
def shared_tables(store: Store, scenario: Description, seed: int, inputs: Mapping[str, Source]) -> Iterator[Prepared]:
    """Give the files of a run from the store for the block. They stay open in this process for the runs to come.

    Raises:
        StorageError: The tables are missing, since this machine does not see the folder of the sweep, or damaged, or
            changed during the block.
    """
    with _OPENING:
        copies = {name: _kept(store, source.sha256) for name, source in inputs.items()}
    named = scenario.inputs(seed)
    of_links = {name: each for name, each in named.items() if each.is_of_link}
    links = {name: copies[name].link_file(each.kind, str(each.path)) for name, each in of_links.items()}
    rows = {name: copy.rows if name not in links else links[name].rows for name, copy in copies.items()}
    described = {name: {**asdict(inputs[name]), "rows": rows[name]} for name in copies}
    if "requests" in copies:
        hosts = copies["hosts"].hosts if "hosts" in copies else None
        name = str(named["requests"].path)
        core = _core.Prepared(copies["requests"].batches, name, hosts, copies["requests"].rows)
    else:
        core = _core.Prepared.of_family(scenario.core, seed)
    yield Prepared(scenario, scenario.complete(seed, lambda name, _: links[name]), core, described)
    for name, copy in copies.items():
        if not copy.is_untouched:
            raise StorageError(f"{store.url}/{input_name(inputs[name].sha256)}: was changed while a run read it")


def stored_hosts(folder: Path, sha256: str) -> _core.HostTable:
    """The host table that a sweep on this machine keeps, by the digest in its manifest.

    Raises:
        ResultsError: It is not as it was written.
    """
    return Copy(folder / input_name(sha256), sha256).hosts


_OPENING = threading.Lock()  # a worker may have several threads
_OPEN: dict[str, Copy] = {}  # by their places


def _kept(store: Store, sha256: str) -> Copy:
    place = store.path(input_name(sha256))
    copy = _OPEN.pop(place, None)
    if copy is None or not copy.is_untouched:
        copy = _opened(store, sha256)
    if len(_OPEN) == _KEPT:
        _OPEN.pop(next(iter(_OPEN)))
    _OPEN[place] = copy  # at the end: the first one is that used longest ago
    return copy


def _opened(store: Store, sha256: str) -> Copy:
    try:
        return Copy(_local(store, sha256), sha256)
    except ResultsError as error:
        raise StorageError(str(error)) from None


def _local(store: Store, sha256: str) -> Path:
    """The file of a copy on this machine, fetched from an object store if need be."""
    name = input_name(sha256)
    if store.folder is not None:
        path = store.folder / name
        if not path.is_file():
            raise StorageError(
                f"{path}: is not there for the worker on {platform.node()}: all workers have to see the sweep's "
                "folder; name one that they share, or an object store, with --out"
            )
        return path
    path = _fetched() / f"{sha256}.arrow"
    path.write_bytes(store.read(name))
    return path


@functools.cache
def _fetched() -> Path:
    """A folder that goes with this process."""
    held = contextlib.ExitStack()
    atexit.register(held.close)
    return held.enter_context(scratch("inputs"))
