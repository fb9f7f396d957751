"""The place that a finished file or folder takes, looked at when work on it begins and again when it goes there.

A file or folder found at the beginning may be replaced, as its writer has made sure. One that came later, or got other
entries, stays, and the finished result takes a second name, `NAME-2`. A free name is taken by a hard link, or of a
folder by a rename, which fail where something is, but for an empty folder. What is replaced is looked at just before;
an older folder goes by a hidden name for a moment.
"""

import contextlib
import errno
import itertools
import os
from pathlib import Path

from farweb.errors import StorageError
from farweb.files.regular import kind_of

OLD = ".old"
"""Suffix of the hidden name under which an older folder is until the new one is there."""


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
        """Give the finished `stage` its name. An older folder has the hidden name of the stage then.

        Raises:
            StorageError: Something else is there; the result is at the place that the message says.
            OSError: The place cannot be written to.
        """
        try:
            if self._found is not None and self._found == _identity(self.path):
                _replace(stage, self.path)
            else:
                _rename(stage, self.path)
        except OSError as error:
            came = error.errno in _SOMETHING_IS_THERE
            why = "something else came there meanwhile, and stays" if came else f"cannot be written: {error.strerror}"
            raise StorageError(f"{self.out}: {why}; the result is in {self._kept(stage)}") from error
        self._found = _identity(self.path)

    def _kept(self, stage: Path) -> Path:
        """Give the stage a free name beside its place."""
        stem, suffix = (self.path.name, "") if stage.is_dir() else (self.path.stem, self.path.suffix)
        names = (self.path.with_name(f"{stem}-{number}{suffix}") for number in itertools.count(2))
        other = next(each for each in names if not os.path.lexists(each))
        _rename(stage, other)
        return other


def _followed(out: Path) -> Path:
    """The path that links lead to, relative where `out` is: folders above it may have names that libraries refuse."""
    path = Path(os.path.realpath(out))
    if not out.is_absolute():
        with contextlib.suppress(ValueError):  # on another drive of Windows
            relative = Path(os.path.relpath(path))
            return path if relative.name in ("", "..") else relative
    return path


def _identity(path: Path) -> tuple[int, int, int, int] | None:
    """Device, inode, size and time of change of the file or folder at `path`; None where there is nothing."""
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
    old = stage.with_suffix(OLD)
    path.rename(old)
    try:
        stage.rename(path)
    except OSError:
        old.rename(path)
        raise
    old.rename(stage)


def _rename(stage: Path, path: Path) -> None:
    """Rename `stage` to `path`, where nothing must be but an empty folder.

    Raises:
        OSError: Something is there, with one of `_SOMETHING_IS_THERE`.
    """
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


_SOMETHING_IS_THERE = {errno.EEXIST, errno.ENOTEMPTY, errno.ENOTDIR, errno.EISDIR}
