"""Writes files and folders completely or not at all.

A command takes the name that it writes to when its work begins: it holds a lock `.NAME.taken` beside it, and a second
command with the same name is refused at once. Files and folders are written under a hidden name beside their
destination, a link's own where a link has the name, and get it when they are complete. A file or folder found at the
beginning is replaced, as its writer has made sure that it may be. One that came later, or got other entries, stays, and
the result takes a second name, `NAME-2`: a hard link, and the renaming of a folder, fail where something is.

A process that is killed leaves at most its lock and a hidden `.NAME.….partial` or `.NAME.….old`, never taken for
results. The next command that writes NAME removes them and restores an older folder if its place is empty. A stage that
a living process writes is locked, and so never taken for a leftover.

Files, and the folders that name them, are flushed to the disk before and after the renaming: a power failure empties
none. Windows has no such locks and flushes only files.
"""

import contextlib
import errno
import itertools
import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from pathlib import Path

from farweb.errors import FarwebError, StorageError
from farweb.files.regular import kind_of

with contextlib.suppress(ImportError):  # of Windows
    import fcntl

_STAGE, _OLD, _LOCK = ".partial", ".old", ".taken"
_HIDDEN = re.compile(r"\.(.*)(?:\.[0-9a-f]{12}\.(?:partial|old)|\.taken)", re.DOTALL)

# Answers of cluster file systems that know no locks. Two writers at once are then one's own responsibility.
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}

_SOMETHING_IS_THERE = {errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR, errno.EISDIR}

_FLUSHERS = 16  # files that are brought to the disk at a time. Chosen: more are no faster


class Place:
    """Place of a result, looked at when work on it begins and again when the result goes there."""

    def __init__(self, out: Path) -> None:
        self.out = out  # as it was named, for messages
        self.path = Path(os.path.realpath(out)) if out.is_symlink() or out.name in ("", "..") else out
        self._found = _identity(self.path)

    def require_file(self) -> None:
        """Refuse a folder, a device or anything else that no file replaces."""
        if self._found is not None and not self.path.is_file():
            raise StorageError(f"{self.out}: {kind_of(self.path)}; name a file")

    def require_folder(self) -> None:
        """Refuse a file, a loop of links, the current folder, and a mount point."""
        if self._found is None:
            return
        if not self.path.is_dir():
            raise StorageError(f"{self.out}: {kind_of(self.path)}; name a folder")
        if self.path.is_mount() or self.path.samefile(Path()):
            what = "a mount point" if self.path.is_mount() else "the current folder"
            raise StorageError(f"{self.out}: is {what}, which cannot be replaced; name a folder in it")

    def put(self, stage: Path) -> None:
        """Give the finished `stage` its name. An older folder has the hidden name of the stage then.

        Raises:
            StorageError: Something else is there. The message names the place of the result.
        """
        try:
            if self._found is not None and self._found == _identity(self.path):
                _replace(stage, self.path)
            else:
                _rename(stage, self.path)
        except OSError as error:
            came = error.errno in _SOMETHING_IS_THERE
            why = "something else came there meanwhile, and stays" if came else f"cannot be written: {error.strerror}"
            stem, suffix = (self.path.name, "") if stage.is_dir() else (self.path.stem, self.path.suffix)
            names = (self.path.with_name(f"{stem}-{number}{suffix}") for number in itertools.count(2))
            other = next(each for each in names if not os.path.lexists(each))
            _rename(stage, other)
            raise StorageError(f"{self.out}: {why}; the result is in {other}") from error
        self._found = _identity(self.path)


def _identity(path: Path) -> tuple[int, int, int, int] | None:
    """Device, inode, size and time of change of the file or folder at `path`, or None where there is nothing."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _replace(stage: Path, path: Path) -> None:
    """Put `stage` in the place of the file or folder at `path`."""
    if not stage.is_dir():
        stage.replace(path)
        return
    old = stage.with_suffix(_OLD)
    path.rename(old)
    try:
        stage.rename(path)
    except OSError:
        old.rename(path)
        raise
    old.rename(stage)


def _rename(stage: Path, path: Path) -> None:
    """Rename `stage` to `path`. An OSError with one of `_SOMETHING_IS_THERE` means more than an empty folder there."""
    if stage.is_dir():
        stage.rename(path)
        return
    try:
        os.link(stage, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without hard links
        if os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path)) from None
        stage.rename(path)
    else:
        stage.unlink()


_TAKEN: ContextVar[Mapping[Path, Place]] = ContextVar("taken")  # names taken by this thread, by real path


@contextlib.contextmanager
def taken(out: Path, allow: Callable[[Place], None] = lambda _: None) -> Iterator[Place]:
    """Have a name for the block: any other command, or thread, that wants to write to it is refused.

    `staged_folder` and `staged_file` do it themselves. For long work before them, take the name first. Within the block
    they replace only a file or folder there at its beginning.

    Args:
        out: The name, possibly not there yet. Links are followed.
        allow: Raises an error when the file or folder there may not be replaced. Called once the name is taken.

    Raises:
        FarwebError: Another command has the name.
        StorageError: The place cannot be written to.
    """
    with contextlib.ExitStack() as held:
        with storage_errors(out):
            already, real = _TAKEN.get({}), Path(os.path.realpath(out))
            if real not in already:
                held.enter_context(made_folder(real.parent))
                lock = real.with_name(f".{real.name}{_LOCK}")
                try:
                    held.enter_context(locked_file(lock))
                except (BlockingIOError, PermissionError) as error:
                    if isinstance(error, PermissionError) and not lock.exists():
                        raise
                    words = f"another farweb command writes to this name (by {lock})"
                    raise FarwebError(f"{out}: {words}; wait for its end, or name another") from None
                recover(real)
            place = already.get(real) or Place(out)
            allow(place)
        before = _TAKEN.set({**already, real: place})
        held.callback(_TAKEN.reset, before)
        yield place


def write_text(out: Path, text: str) -> None:
    """Write a text, whole or not at all, as `staged_file` has it."""
    with staged_file(out) as stage:
        stage.write_text(text, "utf-8")


@contextlib.contextmanager
def staged_folder(out: Path, *, take: bool = True) -> Iterator[Path]:
    """Give a hidden folder that becomes `out` at the end of the block. An error removes it.

    A folder at `out` at the start of the block is replaced: callers check first that it may be. One that appears during
    the block stays, and the new folder gets another name. Without `take` a folder that is there first stays, the new
    one goes, and the caller flushes: for many folders named by their content.

    Raises:
        FarwebError: Another command has taken the name.
        StorageError: The disk is full, the place cannot be written to, or something came there in the block.
    """
    with _staged(out, take) as (place, stage):
        if take:
            place.require_folder()
            yield stage
            flush([*stage.iterdir(), stage])
            place.put(stage)
            flush([place.path.parent])
            return
        yield stage
        try:
            stage.rename(out)
        except OSError:
            if not out.is_dir():
                raise


@contextlib.contextmanager
def staged_file(out: Path, *, take: bool = True) -> Iterator[Path]:
    """Give the path of a hidden file that becomes `out` at the end of the block. An error removes it.

    Its folder is hidden too and goes at the end: the block may keep other files beside it. A file at `out` when the
    block begins is replaced, one that comes in the block stays, as with `staged_folder`. Unless the name is taken,
    whatever is there is replaced, and what killed processes have left of `out` stays: for folders with many files that
    the caller alone writes to.

    Raises:
        FarwebError: Another command has taken the name.
        StorageError: The disk is full, the place cannot be written to, or something came there in the block.
    """
    with _staged(out, take) as (place, folder):
        if take:
            place.require_file()
        stage = folder / place.path.name
        yield stage
        flush([stage])
        if take:
            place.put(stage)
        else:
            stage.replace(place.path)
        flush([place.path.parent])


@contextlib.contextmanager
def _staged(out: Path, take: bool) -> Iterator[tuple[Place, Path]]:
    """Make a hidden folder beside `out` for the block, locked meanwhile, and remove it with its content."""
    with storage_errors(out), contextlib.ExitStack() as held:
        held.enter_context(made_folder(out.parent))
        place = held.enter_context(taken(out)) if take else Place(out)
        folder = place.path.parent / f".{place.path.name}.{secrets.token_hex(6)}{_STAGE}"
        held.callback(shutil.rmtree, folder, ignore_errors=True)  # first: an interrupt may come as soon as it is there
        folder.mkdir()
        if sys.platform != "win32":
            descriptor = os.open(folder, os.O_RDONLY)
            held.callback(os.close, descriptor)
            with contextlib.suppress(OSError):  # of a file system without locks
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield place, folder


@contextlib.contextmanager
def storage_errors(out: Path | str) -> Iterator[None]:
    """Turn errors of the machine, not of the program, into one line about `out`.

    Raises:
        StorageError: The disk is full, or the place cannot be written to.
    """
    try:
        yield
    except OSError as error:
        if error.errno is None or isinstance(error, ConnectionError):
            raise
        raise StorageError(f"{out}: cannot be written: {os.strerror(error.errno)}; nothing was left there") from error


@contextlib.contextmanager
def made_folder(folder: Path) -> Iterator[None]:
    """Make a folder and its parents for the block. An error removes those made."""
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for each in made:
            with contextlib.suppress(OSError):  # another process may have put something into it
                each.rmdir()
        raise


@contextlib.contextmanager
def locked_file(path: Path) -> Iterator[None]:
    """Hold the lock of a file for the block, where the file system has locks, and delete the file at the end.

    Raises:
        BlockingIOError: A living process, or another thread, holds it.
        OSError: It cannot be made.
    """
    with contextlib.ExitStack() as held:
        while sys.platform != "win32":
            descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o666)
            held.callback(os.close, descriptor)
            lock(descriptor)
            with contextlib.suppress(FileNotFoundError):  # its holder may have removed it before our locking
                if os.path.samestat(os.fstat(descriptor), path.stat()):
                    held.callback(path.unlink, missing_ok=True)
                    break
        yield


def lock(descriptor: int) -> None:
    """Lock a file or folder, where the file system has locks.

    Raises:
        BlockingIOError: A living process, or another thread, has it.
    """
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise


def leftovers(folder: Path, name: str | None = None) -> list[Path]:
    """List what killed processes have left in a folder under hidden names.

    Args:
        folder: The folder. A missing one has none.
        name: Of the file or folder written. None: any.
    """
    try:
        hidden = [entry.name for entry in os.scandir(folder) if is_stage(entry.name, name)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(folder / each for each in hidden if not is_held(folder / each))


def is_stage(hidden: str, name: str | None = None) -> bool:
    """True for a hidden name under which `name` is written, or was set aside. None: any name."""
    found = _HIDDEN.fullmatch(hidden)
    return found is not None and name in (None, found[1])


def is_held(path: Path) -> bool:
    """True when a living process has locked a file or folder, or the system cannot say."""
    if sys.platform == "win32":
        return True
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a stranger may have put a pipe there
    except OSError as error:
        return not isinstance(error, FileNotFoundError)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


def recover(out: Path) -> None:
    """Bring back the folder `out` that a killed process had set aside, and remove what else such processes left of it.

    Raises:
        OSError: The place cannot be written to.
    """
    left = leftovers(out.parent, out.name)
    older = [path for path in left if path.suffix == _OLD]
    if older and not out.exists():
        older[-1].rename(out)
        left.remove(older[-1])
    remove(left)


def remove(paths: Iterable[Path]) -> None:
    """Remove leftovers."""
    for path in paths:
        if path.suffix == _LOCK:
            path.unlink(missing_ok=True)
        else:
            shutil.rmtree(path, ignore_errors=True)


def flush(paths: Iterable[Path]) -> None:
    """Flush files and folders to the disk, against a power failure.

    They go together: a file system then commits once for many of them.
    """
    with ThreadPoolExecutor(_FLUSHERS) as flushers:
        for _ in flushers.map(_flush, paths):
            pass


def _flush(path: Path) -> None:
    on_windows = sys.platform == "win32"  # no descriptors of folders here, and it flushes only files open for writing
    if on_windows and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDWR if on_windows else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
