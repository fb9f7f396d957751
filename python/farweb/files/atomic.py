"""Writes files and folders completely or not at all.

Files and folders are written under a hidden name beside their destination and renamed when they are complete. A folder
that stands in the place of an older one changes places with it in one step where the system can (Linux, macOS);
elsewhere the older one goes by a hidden name for a moment, and comes back with the next command that writes there. A
process that is killed leaves at most a hidden `.NAME.….partial`, which nothing takes for a result: the next command
that writes NAME removes it. A stage that a living process writes is locked, so that nobody takes it for a leftover.

Files, and the folders that name them, are on the disk before and after the renaming, so that a power failure empties
none. Windows has no locks of folders, and brings only files to the disk.
"""

import contextlib
import ctypes
import errno
import functools
import os
import re
import secrets
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from farweb.errors import StorageError

with contextlib.suppress(ImportError):  # of Windows
    import fcntl

_STAGE, _OLD = ".partial", ".old"
_HIDDEN = re.compile(r"\.(.*)\.[0-9a-f]{12}\.(?:partial|old)", re.DOTALL)

# What the machine, not the program, has to put right.
_ENVIRONMENT = {
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EFBIG,
    errno.EIO,
    errno.EROFS,
    errno.EACCES,
    errno.EPERM,
    errno.ENOTDIR,
    errno.EEXIST,
    errno.EISDIR,
    errno.ELOOP,
    errno.ENAMETOOLONG,
    errno.ENOENT,  # folders of /proc cannot be made
}


_FLUSHERS = 16  # files that are brought to the disk at a time; chosen: more are no faster


@contextlib.contextmanager
def staged_folder(out: Path, *, replace: bool = True, flushed: bool = True) -> Iterator[Path]:
    """Give a hidden folder that becomes `out` when the block ends; when the block raises, nothing is left of it.

    A folder that is already at `out` is replaced: the two change places, then the older one is deleted. The caller has
    to have made sure that it may be. Without `replace`, a folder that is there first stays and the new one goes:
    for folders whose content their name determines. Without `flushed`, it takes its name before its files are on the
    disk: the caller brings those of many folders there at once (`flush`).

    Raises:
        StorageError: The disk is full, or the place cannot be written to.
    """
    with storage_errors(out), made_folder(out.parent):
        if replace:
            recover(out)
        with _hidden_folder(out) as stage:
            yield stage
            if flushed:
                flush([*stage.iterdir(), stage])
            stage.chmod(0o777 & ~_umask())
            if replace:
                _replace_folder(stage, out)
            else:
                _add_folder(stage, out)
        if flushed:
            flush([out.parent])


@contextlib.contextmanager
def staged_file(out: Path, *, tidy: bool = True) -> Iterator[Path]:
    """Give the path of a hidden file that becomes `out` when the block ends; when it raises, nothing is left of it.

    Its folder is hidden too and goes at the end: the block may keep other files beside it. What killed processes have
    left of `out` goes first, unless not `tidy`: to look for it takes longer the more files stand beside `out`.

    Raises:
        StorageError: The disk is full, or the place cannot be written to.
    """
    with storage_errors(out), made_folder(out.parent), _hidden_folder(out) as folder:
        if tidy:
            remove(leftovers(out.parent, out.name))
        stage = folder / out.name
        yield stage
        flush([stage])
        stage.replace(out)
        flush([out.parent])


@contextlib.contextmanager
def storage_errors(out: Path | str) -> Iterator[None]:
    """Turn what the machine, not the program, has to put right into one line about `out`.

    Raises:
        StorageError: The disk is full, or the place cannot be written to.
    """
    try:
        yield
    except OSError as error:
        if error.errno not in _ENVIRONMENT:
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


@contextlib.contextmanager
def _hidden_folder(out: Path) -> Iterator[Path]:
    """Make a hidden folder beside `out` for the block, locked meanwhile, and remove it with what is left in it."""
    folder = out.parent / f".{out.name}.{secrets.token_hex(6)}{_STAGE}"
    try:  # before it is made: an interrupt may come as soon as it is there
        folder.mkdir(mode=0o700)
        with _locked(folder):
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _replace_folder(stage: Path, out: Path) -> None:
    if not out.exists():
        stage.rename(out)
        return
    if _exchange(stage, out):
        return  # what was at `out` is the stage now, and goes with it
    old = stage.with_suffix(_OLD)
    out.rename(old)
    try:
        stage.rename(out)
    except OSError:
        old.rename(out)
        raise
    shutil.rmtree(old, ignore_errors=True)


def _exchange(one: Path, other: Path) -> bool:
    """Let two folders change places in one step; False, and nothing changed, where the system cannot."""
    exchange = _exchanger()
    return exchange is not None and exchange(os.fsencode(one), os.fsencode(other)) == 0


@functools.cache
def _exchanger() -> Callable[[bytes, bytes], int] | None:
    """The system's call that lets two names change places; 0 is success. None where there is none."""
    system = ctypes.CDLL(None) if os.name == "posix" else None
    linux, macos = getattr(system, "renameat2", None), getattr(system, "renamex_np", None)
    if linux is not None:  # Linux, with glibc 2.28 or musl 1.2.4
        return lambda one, other: int(linux(_AT_CWD, one, _AT_CWD, other, _RENAME_EXCHANGE))
    if macos is not None:
        return lambda one, other: int(macos(one, other, _RENAME_SWAP))
    return None


_AT_CWD, _RENAME_EXCHANGE = -100, 2  # of <fcntl.h> and <stdio.h> on Linux
_RENAME_SWAP = 2  # of <sys/stdio.h> on macOS


def _add_folder(stage: Path, out: Path) -> None:
    try:
        stage.rename(out)
    except OSError:
        if not out.is_dir():
            raise


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
    """Whether a hidden name is one under which `name` is written, or was set aside; None: whatever it is."""
    found = _HIDDEN.fullmatch(hidden)
    return found is not None and name in (None, found[1])


def is_held(path: Path) -> bool:
    """Whether a living process has locked a file or folder; True also where the file system cannot say."""
    if sys.platform == "win32":
        return True
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
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
        shutil.rmtree(path, ignore_errors=True)


def flush(paths: Iterable[Path]) -> None:
    """Bring files and folders to the disk, so that a power failure cannot empty them.

    They go together: a file system then commits once for many of them.
    """
    with ThreadPoolExecutor(_FLUSHERS) as flushers:
        for _ in flushers.map(_flush, paths):
            pass


def _flush(path: Path) -> None:
    if sys.platform == "win32":  # which takes a file that may be written to, and has no descriptors of folders
        if path.is_dir():
            return
        descriptor = os.open(path, os.O_RDWR)
    else:
        descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
