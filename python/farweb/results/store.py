"""Folder of a sweep: on this machine, or in an object store.

All of its files are opened here: on this machine regular files only, or links to some, below the folder by name.

Its parts are whole or absent. A part of a local folder is written beside its place and renamed; to an object store its
tables go first and its manifest last, and a part without a manifest does not count. A file `.lock` is held by the one
sweep at work in a local folder, and released by the system at the end of that process. In an object store two sweeps of
the same scenario write the same objects, and do no harm.
"""

import contextlib
import errno
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from farweb.errors import FarwebError, ResultsError, StorageError
from farweb.files.atomic import (
    flush,
    is_held,
    is_stage,
    leftovers,
    locked_file,
    made_folder,
    remove,
    staged_file,
    staged_folder,
    storage_errors,
)
from farweb.files.regular import is_within, kind_of, open_within, read_json
from farweb.results.manifest import MANIFEST, SWEEP_KIND
from farweb.results.metrics import restored

if TYPE_CHECKING:
    import fsspec
_PARTS = "parts"
_FAILURES = "failures"
_INPUTS = "inputs"
_LOCK = ".lock"
_PREFIX = "run="
_FOLDERS = ("", _PARTS, _FAILURES, _INPUTS)


@dataclass(frozen=True)
class Outcome:
    """Outcome of a run.

    Attributes:
        run: Its id.
        status: `done` when there are results.
        error: Why there are none, in a line.
        metrics: Metrics of `farweb.results.metrics.METRICS` by name, or empty when the run failed.
        wall_s: From when the worker began until its results were in the store, in s; for one that the store already
            had, until its manifest was written.
        cpu_s: Processor time of that, in s.
        events: Events processed.
        packet_hops: Arrivals of a packet at the far end of a link.
        worker: Who ran it, or empty for a run that the store already had.
    """

    run: str
    status: Literal["done", "failed"]
    error: str | None = None
    metrics: Mapping[str, float | int | None] = field(default_factory=dict)
    wall_s: float = 0.0
    cpu_s: float = 0.0
    events: int = 0
    packet_hops: int = 0
    worker: str = ""


class Store:
    """The folder of a sweep.

    Args:
        url: A path, or a URL that fsspec knows: `s3://bucket/folder`, `file:///srv/results`. A path is made absolute,
            for workers to find the same place.

    Attributes:
        url: As it was given, for messages.
        folder: The folder on this machine, or None for an object store.

    Raises:
        ResultsError: No package for this kind of URL is installed.
    """

    def __init__(self, url: str | Path) -> None:
        self.url = str(url)
        scheme, found, rest = self.url.partition("://")
        self.folder: Path | None = None
        if not found:
            self.folder = Path(self.url).absolute()
        elif scheme in {"file", "local"}:
            self.url, self.folder = rest, Path(rest).absolute()
        self._root = str(self.folder) if self.folder is not None else ""
        self._filesystem: fsspec.AbstractFileSystem | None = None
        if self.folder is None:
            self._connect()

    def __reduce__(self) -> tuple[Any, ...]:
        return Store, (self.url if self.folder is None else self.folder,)

    @property
    def filesystem(self) -> "fsspec.AbstractFileSystem":
        """The file system that the folder is in."""
        if self._filesystem is None:
            self._connect()
        return self._filesystem

    def _connect(self) -> None:
        import fsspec

        try:
            self._filesystem, root = fsspec.core.url_to_fs(self.url if self.folder is None else self._root)
        except (ImportError, ValueError) as error:
            raise ResultsError(f"{self.url}: cannot be opened: {_first_line(error)}") from None
        self._root = root.rstrip("/")

    def path(self, name: str) -> str:
        """Path of `name`, as the file system has it."""
        return f"{self._root}/{name}" if name else self._root

    def has(self, name: str) -> bool:
        """True when there is a file or folder `name`."""
        if self.folder is not None:
            return is_within(name) and os.path.lexists(self.folder / name)  # a link to nothing is something
        with _transfer_errors(self.url, "read"):
            return bool(self.filesystem.exists(self.path(name)))

    def read(self, name: str) -> bytes:
        """The content of a file.

        Raises:
            ResultsError: It is not there, or is no regular file in the folder.
            FarwebError: A folder stands in its place.
            StorageError: It cannot be read.
        """
        try:
            with self.open(name) as file, _transfer_errors(f"{self.url}/{name}", "read"):
                return file.read()
        except FileNotFoundError:
            raise ResultsError(f"{self.url}/{name}: no such file") from None

    def read_json(self, name: str) -> bytes:
        """The content of a JSON file of sensible size.

        Raises:
            ResultsError: It is too large; or as `read`.
            FarwebError: As `read`.
            StorageError: As `read`.
        """
        try:
            with self.open(name) as file, _transfer_errors(f"{self.url}/{name}", "read"):
                return read_json(file, f"{self.url}/{name}", ResultsError)
        except FileNotFoundError:
            raise ResultsError(f"{self.url}/{name}: no such file") from None

    def open(self, name: str) -> BinaryIO:
        """A file to be read from, in a `with` block.

        Raises:
            FileNotFoundError: There is none.
            ResultsError: It is no regular file in the folder.
            FarwebError: A folder stands in its place.
            StorageError: It cannot be read.
        """
        try:
            with _transfer_errors(f"{self.url}/{name}", "read"):
                if self.folder is not None:
                    return open_within(self.folder, name, ResultsError, f"{self.url}/{name}")
                stream: BinaryIO = self.filesystem.open(self.path(name), "rb")
                return stream
        except (ResultsError, StorageError):
            if self.folder is not None and is_within(name) and (self.folder / name).is_dir():
                raise FarwebError(
                    f"{self.url}/{name}: is a folder where a file was written; remove it and run the scenario again"
                ) from None
            raise

    def size(self, name: str) -> int | None:
        """Bytes of a file, or None when there is none.

        Raises:
            ResultsError: As `open`.
            FarwebError: As `open`.
            StorageError: The place cannot be read.
        """
        with contextlib.suppress(FileNotFoundError):
            if self.folder is not None:
                with self.open(name) as file:
                    return os.fstat(file.fileno()).st_size
            with _transfer_errors(f"{self.url}/{name}", "read"):
                return int(self.filesystem.size(self.path(name)))
        return None

    def write(self, name: str, data: bytes) -> None:
        """Write a file, which is there afterwards or unchanged.

        Raises:
            StorageError: It cannot be written.
        """
        if self.folder is not None:
            with staged_file(self.folder / name, take=False) as stage:
                stage.write_bytes(data)
            return
        with _transfer_errors(f"{self.url}/{name}", "written"):
            self.filesystem.pipe_file(self.path(name), data)

    def write_json(self, name: str, value: Mapping[str, Any]) -> None:
        """Write a file of JSON (see `write`)."""
        self.write(name, (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode())

    @contextlib.contextmanager
    def file(self, name: str) -> Iterator[Path]:
        """Give the path of a file on this machine that becomes `name` when the block ends without an error.

        Raises:
            StorageError: It cannot be written.
        """
        if self.folder is not None:
            with staged_file(self.folder / name, take=False) as stage:
                yield stage
            return
        from farweb.files.scratch import scratch

        with scratch() as folder:
            stage = folder / Path(name).name
            with storage_errors(stage):
                yield stage
            self._put(stage, name)

    def remove(self, name: str) -> None:
        """Remove a file, if it is there."""
        with storage_errors(f"{self.url}/{name}"):
            if self.folder is not None:
                (self.folder / name).unlink(missing_ok=True)
            elif self.has(name):
                self.filesystem.rm_file(self.path(name))

    def remove_part(self, run: str) -> None:
        """Remove the part of a run: its manifest first, without which a part does not count.

        Raises:
            StorageError: It cannot be removed.
        """
        self.remove(f"{part_name(run)}/{MANIFEST}")
        with storage_errors(f"{self.url}/{part_name(run)}"):
            if self.folder is not None:
                shutil.rmtree(self.folder / part_name(run))
            else:
                self.filesystem.rm(self.path(part_name(run)), recursive=True)

    def finished(self) -> set[str]:
        """Ids of the runs with whole parts."""
        if self.folder is not None:
            with contextlib.suppress(FileNotFoundError), os.scandir(self.folder / _PARTS) as entries:
                parts = [entry.name for entry in entries if entry.name.startswith(_PREFIX)]
                return {
                    part.removeprefix(_PREFIX)
                    for part in parts
                    if os.path.exists(f"{self._root}/{_PARTS}/{part}/{MANIFEST}")  # noqa: PTH110 - 100,000 of them
                }
            return set()
        ending = f"/{MANIFEST}"
        return {
            name.removesuffix(ending).rpartition(_PREFIX)[2] for name in self._listed(_PARTS) if name.endswith(ending)
        }

    def failed(self) -> set[str]:
        """Ids of the runs that have left a failure."""
        if self.folder is not None:
            return {path.stem for path in (self.folder / _FAILURES).glob("*.json")}
        return {name.rpartition("/")[2].removesuffix(".json") for name in self._listed(_FAILURES)}

    def _listed(self, name: str) -> list[str]:
        """All files below `name` of an object store."""
        with _transfer_errors(self.url, "read"):
            self.filesystem.invalidate_cache()
            found: list[str] = self.filesystem.find(self.path(name))
            return found

    @contextlib.contextmanager
    def part(self, run: str) -> Iterator[Path]:
        """Give a folder on this machine that becomes the part of `run` when the block ends without an error.

        A part that is there first stays: it is the same, unless its manifest has gone. A power failure may empty a part
        until it is flushed.

        Raises:
            StorageError: The disk is full, or the place cannot be written to.
        """
        if self.folder is not None:
            part = self.folder / part_name(run)
            if part.exists() and not (part / MANIFEST).exists():  # it came with one, and was damaged since
                with storage_errors(part):
                    shutil.rmtree(part)
            with staged_folder(part, take=False) as stage:
                yield stage
            return
        from farweb.files.scratch import scratch

        with scratch() as folder:
            with storage_errors(folder):
                yield folder
            for file in sorted(folder.iterdir(), key=lambda path: (path.name == MANIFEST, path.name)):
                self._put(file, f"{part_name(run)}/{file.name}")

    def flush(self, runs: Iterable[str]) -> None:
        """Flush the parts of runs to the disk. An object store needs no flush.

        Raises:
            StorageError: The disk is full, or fails.
        """
        if self.folder is not None:
            with storage_errors(self.url):
                flush([path for run in runs for path in (self.folder / part_name(run)).iterdir()])

    def _put(self, file: Path, name: str) -> None:
        with _transfer_errors(f"{self.url}/{name}", "written"):
            self.filesystem.makedirs(self.path(name).rpartition("/")[0], exist_ok=True)
            self.filesystem.put_file(str(file), self.path(name))

    def outcome(self, run: str) -> Outcome:
        """Outcome of a run with a whole part.

        Raises:
            ResultsError: Its manifest cannot be read.
        """
        name = f"{part_name(run)}/{MANIFEST}"
        try:
            manifest = json.loads(self.read_json(name))
            figures = {key: manifest[key] for key in ("wall_s", "cpu_s", "events", "packet_hops")}
            figures["metrics"] = restored(manifest["metrics"])
        except (KeyError, TypeError, ValueError):
            raise ResultsError(
                f"{self.url}/{name}: is damaged; remove the folder {part_name(run)}, and the run is done again"
            ) from None
        return Outcome(run, "done", **figures)

    def manifest(self) -> dict[str, Any] | None:
        """The manifest of the sweep in the folder, or None when it is new or empty.

        Raises:
            ResultsError: There is something else in it, which is to be left alone.
        """
        names = self._names()
        if MANIFEST in names:
            try:
                manifest = json.loads(self.read_json(MANIFEST))
            except ValueError:
                manifest = None
            if not isinstance(manifest, dict) or manifest.get("kind") != SWEEP_KIND:
                raise ResultsError(
                    f"{self.url}: has results that are not those of a sweep; name another folder with --out"
                )
            return manifest
        # A sweep that was killed at its very beginning has left these.
        if other := sorted(names - {_INPUTS, _LOCK}):
            raise ResultsError(
                f"{self.url}: has files that are not of a farweb sweep, such as {other[0]}, and is left alone; "
                "name another folder with --out"
            )
        return None

    def _names(self) -> set[str]:
        """Names in the folder, without hidden stages."""
        if self.folder is not None:
            try:
                return {path.name for path in self.folder.iterdir() if not is_stage(path.name)}
            except FileNotFoundError:
                return set()
            except NotADirectoryError:
                raise ResultsError(f"{self.url}: {kind_of(self.folder)}; name a folder with --out") from None
            except OSError as error:
                raise StorageError(f"{self.url}: cannot be read: {os.strerror(error.errno or 0)}") from None
        with _transfer_errors(self.url, "read"):
            self.filesystem.invalidate_cache()
            try:
                return {name.rstrip("/").rpartition("/")[2] for name in self.filesystem.ls(self._root, detail=False)}
            except FileNotFoundError:
                return set()

    @contextlib.contextmanager
    def claimed(self) -> Iterator[None]:
        """Have the folder for one sweep while the block lasts: no other writes to it, and no leftovers are in it.

        If the block raises before writing anything, a folder made for it is removed.

        Raises:
            ResultsError: Another sweep is at work in it, or something else is in it.
            StorageError: It cannot be written to.
        """
        self.manifest()
        if self.folder is None:
            yield
            return
        with contextlib.ExitStack() as stack:
            with storage_errors(self.url):
                stack.enter_context(made_folder(self.folder))
                try:
                    stack.enter_context(locked_file(self.folder / _LOCK))
                except BlockingIOError:
                    raise ResultsError(
                        f"{self.url}: another sweep is at work in this folder; wait for its end"
                    ) from None
            self._remove_stages()
            stack.callback(self._remove_stages)
            yield

    def leftovers(self) -> list[Path]:
        """List what killed commands have left, in the folder and beside it; the lock of a sweep that has gone, too."""
        if self.folder is None:
            return []
        inside = [path for name in _FOLDERS for path in leftovers(self.folder / name)]
        lock = self.folder / _LOCK
        locks = [lock] if lock.exists() and not is_held(lock) else []
        return [*leftovers(self.folder.parent, self.folder.name), *inside, *locks]

    def _remove_stages(self) -> None:
        assert self.folder is not None
        for name in _FOLDERS:
            remove(leftovers(self.folder / name))


def part_name(run: str) -> str:
    """Name of the folder of a run's results in its sweep's folder."""
    return f"{_PARTS}/{_PREFIX}{run}"


def failure_name(run: str) -> str:
    """Name of the file that says why a run failed."""
    return f"{_FAILURES}/{run}.json"


def input_name(sha256: str) -> str:
    """Name of the copy of a workload's table."""
    return f"{_INPUTS}/{sha256}.arrow"


@contextlib.contextmanager
def _transfer_errors(place: str, what: str) -> Iterator[None]:
    """Turn whatever a file system raises into one line; packages of object stores have exceptions of their own."""
    try:
        yield
    except FarwebError:
        raise
    except Exception as error:
        if what == "read" and isinstance(error, FileNotFoundError):
            raise
        raise StorageError(f"{place}: cannot be {what}: {_first_line(error)}") from error


def _first_line(error: BaseException) -> str:
    if isinstance(error, OSError) and error.errno in errno.errorcode:
        return os.strerror(error.errno or 0)
    return (str(error) or type(error).__name__).splitlines()[0].rstrip(".")
