"""Writes files and folders completely or not at all.

A command takes the name that it writes to when its work begins: it holds a lock `.NAME.taken` beside it, and a second
command with the same name is refused at once. Files and folders are written under a hidden name beside their
destination, a link's own where a link has the name, and get it when they are complete, as `farweb.files.place` has it.
A process that is killed leaves at most its lock and a hidden `.NAME.….partial` or `.NAME.….old`, which nothing takes
for a result: the next command that writes NAME removes them, and brings back an older folder whose place is empty. A
stage that a living process writes is locked, so that no other takes it for a leftover.

Files, and the folders that name them, are on the disk before and after the renaming, so that a power failure empties
none. Windows has no locks of folders, and brings only files to the disk.
"""

import contextlib
import errno
import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from pathlib import Path
from typing import TypeVar

from farweb.errors import FarwebError, StorageError
from farweb.files.place import OLD, Place

with contextlib.suppress(ImportError):  # of Windows
    import fcntl

T = TypeVar("T")

_STAGE, _LOCK = ".partial", ".taken"
_HIDDEN = re.compile(r"\.(.*)(?:\.[0-9a-f]{12}\.(?:partial|old)|\.taken)", re.DOTALL)

# Answers of cluster file systems that know no locks. Two writers at once are then one's own responsibility.
_NO_LOCKS = {errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP}

_FLUSHERS = 16  # files that are brought to the disk at a time; chosen: more are no faster
_TRIES = 10  # chosen: of making something in a folder that others make and remove

_TAKEN: ContextVar[Mapping[Path, Place]] = ContextVar("taken")  # what this thread has taken, by real path


@contextlib.contextmanager
def taken(out: Path, allow: Callable[[Place], None] = lambda _: None) -> Iterator[Place]:
    """Have a name for the block: any other command, or thread, that wants to write to it is refused.

    `staged_folder` and `staged_file` do it themselves; whoever works for long before them takes the name first.
    Within the block they replace only a file or folder that is there at its beginning.

    Args:
        out: The name, of what may not be there yet; links are followed.
        allow: Raises an error when the file or folder there may not be replaced; called when the name is taken.

    Raises:
        FarwebError: Another command has the name.
        StorageError: The place cannot be written to.
    """
    with contextlib.ExitStack() as held:
        with storage_errors(out):
            already, real = _TAKEN.get({}), Path(os.path.realpath(out))
            if real not in already:
                held.enter_context(made_folder(real.parent))
                held.enter_context(_locked_name(real, out))
                recover(real)
            place = already.get(real) or Place(out)
            allow(place)
        before = _TAKEN.set({**already, real: place})
        held.callback(_TAKEN.reset, before)
        yield place


@contextlib.contextmanager
def _locked_name(path: Path, out: Path) -> Iterator[None]:
    lock = path.with_name(f".{path.name}{_LOCK}")
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(locked_file(lock))
        except (BlockingIOError, PermissionError) as error:
            if isinstance(error, PermissionError) and not lock.exists():
                raise
            raise FarwebError(
                f"{out}: another farweb command writes to this name (by {lock}); wait for its end, or name another"
            ) from None
        yield


@contextlib.contextmanager
def staged_folder(out: Path, *, replace: bool = True, flushed: bool = True) -> Iterator[Path]:
    """Give a hidden folder that becomes `out` when the block ends; when the block raises, nothing is left of it.

    A folder that is at `out` when the block begins is replaced; the caller has to have made sure that it may be. One
    that comes there in the block stays, and the new folder gets another name. Without `replace` no name is taken, a
    folder that is there first stays, and the new one goes: for folders whose content their name determines. Without
    `flushed`, it takes its name before its files are on the disk: the caller flushes many folders at once (`flush`).

    Raises:
        FarwebError: Another command has taken the name.
        StorageError: The disk is full, the place cannot be written to, or something came there in the block.
    """
    with storage_errors(out), _placed(out, take=replace) as place, _hidden_folder(place.path) as stage:
        if replace:
            place.require_folder()
        yield stage
        if flushed:
            flush([*stage.iterdir(), stage])
        if replace:
            place.put(stage)
        else:
            try:
                stage.rename(place.path)
            except OSError:
                if not place.path.is_dir():
                    raise
        if flushed:
            flush([place.path.parent])


@contextlib.contextmanager
def staged_file(out: Path, *, tidy: bool = True) -> Iterator[Path]:
    """Give the path of a hidden file that becomes `out` when the block ends; when it raises, nothing is left of it.

    Its folder is hidden too and goes at the end: the block may keep other files beside it. A file at `out` when the
    block begins is replaced, one that comes in the block stays, as with `staged_folder`. Unless `tidy`, no name is
    taken, whatever is there is replaced, and what killed processes have left of `out` stays: for folders with many
    files that the caller alone writes to.

    Raises:
        FarwebError: Another command has taken the name.
        StorageError: The disk is full, the place cannot be written to, or something came there in the block.
    """
    with storage_errors(out), _placed(out, take=tidy) as place, _hidden_folder(place.path) as folder:
        if tidy:
            place.require_file()
        stage = folder / place.path.name
        yield stage
        flush([stage])
        if tidy:
            place.put(stage)
        else:
            stage.replace(place.path)
        flush([place.path.parent])


@contextlib.contextmanager
def _placed(out: Path, *, take: bool) -> Iterator[Place]:
    """Make the folder that `out` goes to, and take its name if that is asked for."""
    if take:
        with taken(out) as place:
            yield place
    else:
        with made_folder(out.parent):
            yield Place(out)


@contextlib.contextmanager
def storage_errors(out: Path | str) -> Iterator[None]:
    """Turn what the machine, not the program, has to put right into one line about `out`.

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
    """Make a folder and those above it for the block; when the block raises, those that were made go again."""
    made = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for each in made:
            with contextlib.suppress(OSError):  # another process may have put something into it
                each.rmdir()
        raise


def _within(folder: Path, make: Callable[[], T]) -> T:
    """Call `make`, which needs `folder`: another command may fail meanwhile, and remove the folder that it had made."""
    for _ in range(_TRIES):
        with contextlib.suppress(FileNotFoundError):
            return make()
        folder.mkdir(parents=True, exist_ok=True)
    return make()


@contextlib.contextmanager
def _hidden_folder(out: Path) -> Iterator[Path]:
    """Make a hidden folder beside `out` for the block, locked meanwhile, and remove it with what is left in it."""
    folder = out.parent / f".{out.name}.{secrets.token_hex(6)}{_STAGE}"
    try:  # before it is made: an interrupt may come as soon as it is there
        _within(out.parent, lambda: folder.mkdir())
        with _locked(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def leftovers(folder: Path, name: str | None = None) -> list[Path]:
    """List what killed processes have left in a folder under hidden names.

    Args:
        folder: The folder; one that is not there has none.
        name: Of what is or was to be written; None: whatever it is.
    """
    try:
        hidden = [entry.name for entry in os.scandir(folder) if is_stage(entry.name, name)]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted(folder / each for each in hidden if not is_held(folder / each))


def is_stage(hidden: str, name: str | None = None) -> bool:
    """True for a hidden name under which `name` is written, or was set aside; None: any name."""
    found = _HIDDEN.fullmatch(hidden)
    return found is not None and name in (None, found[1])


def is_held(path: Path) -> bool:
    """True when a living process has locked a file or folder, or the system cannot say."""
    if sys.platform == "win32":
        return True
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # a stranger may have put a pipe there
    except FileNotFoundError:
        return False
    except PermissionError:  # another user's
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Lock a folder for the block, where the file system has locks."""
    if sys.platform == "win32":
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def locked_file(path: Path) -> Iterator[None]:
    """Hold the lock of a file for the block, where the file system has locks; the file goes at the end.

    Raises:
        BlockingIOError: A living process, or another thread, holds it.
        OSError: It cannot be made.
    """
    if sys.platform == "win32":
        yield
        return
    descriptor = -1
    while descriptor < 0:
        descriptor = _within(path.parent, lambda: _lock(path))
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            path.unlink(missing_ok=True)
        os.close(descriptor)


def _lock(path: Path) -> int:
    """Make and lock a file; -1 when its holder has removed it between our opening and our locking."""
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o666)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno not in _NO_LOCKS:
                raise
            return descriptor
        with contextlib.suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return -1


def recover(out: Path) -> None:
    """Bring back the folder `out` that a killed process had set aside, and remove what else such processes left of it.

    Raises:
        OSError: The place cannot be written to.
    """
    left = leftovers(out.parent, out.name)
    older = [path for path in left if path.suffix == OLD]
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
    """Bring files and folders to the disk, so that a power failure cannot empty them.

    They go together: a file system then commits once for many of them.
    """
    with ThreadPoolExecutor(_FLUSHERS) as flushers:
        for _ in flushers.map(_flush, paths):
            pass


def _flush(path: Path) -> None:
    on_windows = sys.platform == "win32"  # which has no descriptors of folders, and flushes what may be written to
    if on_windows and path.is_dir():
        return
    descriptor = os.open(path, os.O_RDWR if on_windows else os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
