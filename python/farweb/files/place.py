"""The place that a finished file or folder takes, looked at when work on it begins and again when it goes there.

A file or folder found at the beginning may be replaced, as its writer has made sure. One that came later stays, and the
finished result takes a second name, `NAME-2`: the exchange itself looks. A free name is taken by a rename that fails
where something is (`RENAME_NOREPLACE` of Linux, `RENAME_EXCL` of macOS; elsewhere a hard link, which fails likewise). A
name that is not free is taken by an exchange of both names in one step, and back where something else came out. Where
the system cannot do that, an older folder goes by a hidden name for a moment, and a file is looked at just before it is
replaced.
"""

import contextlib
import ctypes
import errno
import functools
import itertools
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from farweb.errors import StorageError
from farweb.files.regular import kind_of

OLD = ".old"
"""Suffix of the hidden name under which an older folder is, where two names cannot change places."""

Identity = tuple[tuple[str, int, int, int, int], ...]
"""A file, or a folder with its entries: name, device, inode, size and time of change; folders have no last two."""


class Place:
    """Where a result goes: `out`, or what a link of that name points to.

    Attributes:
        out: As it was named, for messages.
        path: Where links lead.

    Raises:
        OSError: It cannot be looked at.
    """

    def __init__(self, out: Path) -> None:
        self.out = out
        self.path = _followed(out)
        self._found = _identity(self.path)

    def require_file(self) -> None:
        """Refuse a folder, a device or anything else that no file replaces.

        Raises:
            StorageError: There is one.
        """
        if self._found is not None and not self.path.is_file():
            raise StorageError(f"{self.out}: {kind_of(self.path)}; name a file")

    def require_folder(self) -> None:
        """Refuse what no folder replaces.

        Raises:
            StorageError: There is a file, a loop of links, the current folder, or one on which a disk is mounted.
        """
        if self._found is None:
            return
        if not self.path.is_dir():
            raise StorageError(f"{self.out}: {kind_of(self.path)}; name a folder")
        if self.path.is_mount() or self.path.samefile(Path()):
            what = "a mount point" if self.path.is_mount() else "the current folder"
            raise StorageError(f"{self.out}: is {what}, which cannot be replaced; name a folder in it")

    def put(self, stage: Path) -> None:
        """Give the finished `stage` its name. The file or folder replaced has the name of the stage then.

        Raises:
            StorageError: Something else is there; the result is at the place that the message says.
            OSError: The place cannot be written to.
        """
        try:
            if self._found is None or not os.path.lexists(self.path):
                _rename(stage, self.path)
            else:
                _replace(stage, self.path, self._found)
        except OSError as error:
            came = error.errno in _SOMETHING_IS_THERE
            why = "something else came there meanwhile, and stays" if came else f"cannot be written: {error.strerror}"
            raise StorageError(f"{self.out}: {why}; the result is in {self._kept(stage)}") from error
        self._found = _identity(self.path)

    def _kept(self, stage: Path) -> Path:
        """Give the stage a free name beside its place."""
        stem, suffix = (self.path.name, "") if stage.is_dir() else (self.path.stem, self.path.suffix)
        for number in itertools.count(2):
            other = self.path.with_name(f"{stem}-{number}{suffix}")
            with contextlib.suppress(FileExistsError):
                _rename(stage, other)
                return other
        raise AssertionError("numbers end")


def _followed(out: Path) -> Path:
    """The path that links lead to, relative where `out` is: folders above it may have names that libraries refuse."""
    path = Path(os.path.realpath(out))
    if not out.is_absolute():
        with contextlib.suppress(ValueError):  # on another drive of Windows
            relative = Path(os.path.relpath(path))
            return path if relative.name in ("", "..") else relative
    return path


def _identity(path: Path) -> Identity | None:
    """Identity of the file or folder at `path`, a folder with its direct entries; None where there is nothing."""
    try:
        found = path.lstat()
    except FileNotFoundError:
        return None
    there = [("", found)]
    if stat.S_ISDIR(found.st_mode):
        for each in sorted(path.iterdir()):
            with contextlib.suppress(FileNotFoundError):  # gone since
                there.append((each.name, each.lstat()))
    return tuple(
        (name, each.st_dev, each.st_ino, *((0, 0) if stat.S_ISDIR(each.st_mode) else (each.st_size, each.st_mtime_ns)))
        for name, each in there
    )


def _replace(stage: Path, path: Path, found: Identity) -> None:
    """Put `stage` in the place of the file or folder found at `path`, and of no other.

    Raises:
        FileExistsError: It is something else now.
    """
    if _identity(path) != found:
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    if _moved(stage, path, exchange=True):
        if _identity(stage) == found:
            return
        _moved(stage, path, exchange=True)
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), str(path))
    if not stage.is_dir():
        stage.replace(path)
        return
    old = stage.with_suffix(OLD)
    path.rename(old)
    try:
        _rename(stage, path)
    except OSError:
        old.rename(path)
        raise
    old.rename(stage)


def _rename(stage: Path, path: Path) -> None:
    """Rename `stage` to `path`, where nothing must be.

    Raises:
        FileExistsError: Something is there.
    """
    if _moved(stage, path, exchange=False):
        return
    if stage.is_dir() or sys.platform == "win32":  # which replaces at most an empty folder
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


def _moved(stage: Path, path: Path, *, exchange: bool) -> bool:
    """Rename only where nothing is, or let two names change places; False, and nothing done, where the system cannot.

    Raises:
        OSError: It can, and did not.
    """
    call = _renamer()
    if call is None:
        return False
    number = call(os.fsencode(stage), os.fsencode(path), exchange)
    if number == 0:
        return True
    if number in _NO_SUCH_RENAME:
        return False
    raise OSError(number, os.strerror(number), str(path))


@functools.cache
def _renamer() -> Callable[[bytes, bytes, bool], int] | None:
    """The system's call that renames with a flag; it gives 0 or a number of `errno`. None where there is none."""
    system = ctypes.CDLL(None, use_errno=True) if os.name == "posix" else None
    renameat2: Any = getattr(system, "renameat2", None)
    renamex_np: Any = getattr(system, "renamex_np", None)

    def of_linux(one: bytes, other: bytes, exchange: bool) -> int:  # with glibc 2.28 or musl 1.2.4
        flag = _RENAME_EXCHANGE if exchange else _RENAME_NOREPLACE
        return ctypes.get_errno() if renameat2(_AT_CWD, one, _AT_CWD, other, flag) else 0

    def of_macos(one: bytes, other: bytes, exchange: bool) -> int:
        return ctypes.get_errno() if renamex_np(one, other, _RENAME_SWAP if exchange else _RENAME_EXCL) else 0

    if renameat2 is not None:
        return of_linux
    return None if renamex_np is None else of_macos


_AT_CWD, _RENAME_NOREPLACE, _RENAME_EXCHANGE = -100, 1, 2  # of <fcntl.h> and <stdio.h> on Linux
_RENAME_SWAP, _RENAME_EXCL = 2, 4  # of <sys/stdio.h> on macOS
_NO_SUCH_RENAME = {errno.EINVAL, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP}  # of the system, or of this file system
_SOMETHING_IS_THERE = {errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR, errno.EISDIR}
