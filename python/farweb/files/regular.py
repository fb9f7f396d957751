"""Inputs that are regular files of a sensible size: whatever else a path names is refused before it is read.

To open a pipe without a writer waits for ever, a device such as /dev/zero never ends, and to read /proc/kmsg waits for
the kernel.
"""

import errno
import hashlib
import os
import stat
from pathlib import Path
from typing import BinaryIO

from farweb.errors import FarwebError

TEXT_MAX = 16 << 20
"""Bytes of the largest text that is read as a whole. Chosen: a thousand times as long as any scenario of ours."""

_JSON_MAX = 256 << 20
"""Bytes of the largest JSON file that is read. Chosen: the manifest of a sweep of a million points takes 50 MB."""

_PART = 1 << 20  # of a file: a reader reserves all that is asked for, however little there is

_KINDS = (
    (stat.S_ISDIR, "is a folder"),
    (stat.S_ISFIFO, "is a pipe, not a file"),
    (stat.S_ISSOCK, "is a socket, not a file"),
    (stat.S_ISCHR, "is a device, not a file"),
    (stat.S_ISBLK, "is a device, not a file"),
)


def check_file(path: Path, error: type[FarwebError], advice: str = "") -> os.stat_result:
    """Refuse all but regular files and return the system's description of one.

    Args:
        path: The file to read.
        error: Type of the error raised.
        advice: A way out, at the end of the message.

    Raises:
        FarwebError, of the type `error`: There is no such file.
    """
    end = f"; {advice}" if advice else ""
    try:
        found = path.stat()
    except OSError as reason:
        what = "no such file" if reason.errno == errno.ENOENT else f"cannot be read: {reason.strerror}"
        raise error(f"{path}: {what}{end}") from None
    except ValueError:  # a name with a null byte
        raise error(f"{path!r}: is no name of a file{end}") from None
    if kind := _other_kind(found):
        raise error(f"{path}: {kind}{end}")
    return found


def sha256_of(path: Path, error: type[FarwebError], advice: str = "") -> str:
    """SHA-256 digest of a file (see `check_file`)."""
    check_file(path, error, advice)
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as reason:
        raise error(f"{path}: cannot be read: {reason.strerror}{f'; {advice}' if advice else ''}") from None


def stamp(path: Path) -> tuple[int, ...]:
    """Stamp of a file, another one when it was written to or replaced, or empty where there is none."""
    try:
        found = os.stat(path)  # noqa: PTH116 - before and after each run
    except OSError:
        return ()
    return found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns


def _other_kind(found: os.stat_result) -> str | None:
    """Kind of a file that is not regular, or None for a regular file."""
    return next((what for is_kind, what in _KINDS if is_kind(found.st_mode)), None)


def kind_of(path: Path) -> str:
    """Kind of whatever a name leads to, in words."""
    try:
        return _other_kind(path.stat()) or "is a file"
    except OSError as reason:
        return "is a loop of links" if reason.errno == errno.ELOOP else f"cannot be read: {reason.strerror}"


# A pipe without a writer opens at once, and is seen to be one. Flags are 0 on systems that lack them.
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)


def is_within(name: str) -> bool:
    """True when a name with ``/`` between its parts leads to nothing outside its folder."""
    return all(part not in ("", ".", "..") and "\0" not in part and "\\" not in part for part in name.split("/"))


def open_within(folder: Path, name: str, error: type[FarwebError], place: str = "") -> BinaryIO:
    """Open a regular file below a folder that someone else may have made. It and folders above may be links.

    Args:
        folder: The folder.
        name: The file in it, with ``/`` between its parts.
        error: Type of the error to raise.
        place: Name of the file in messages (default: its path).

    Raises:
        FileNotFoundError: There is no such file.
        OSError: It cannot be opened.
        FarwebError, of the type `error`: It is no regular file, or not within the folder.
    """
    path = place or f"{folder}/{name}"
    if not is_within(name):
        raise error(f"{path!r}: is no name of a file within the folder")
    try:
        descriptor = os.open(folder / name, _READ)
    except OSError as reason:
        if reason.errno in (errno.ELOOP, errno.ENOTDIR, errno.ENXIO):  # ENXIO: of a socket, or a device without driver
            raise error(f"{path}: is no regular file: {reason.strerror}") from None
        raise
    if what := _other_kind(os.fstat(descriptor)):
        os.close(descriptor)
        raise error(f"{path}: {what}")
    return os.fdopen(descriptor, "rb")


def read_text(path: Path, error: type[FarwebError], what: str) -> str:
    """The text of a file in UTF-8 that is no larger than `TEXT_MAX`.

    Args:
        path: The file.
        error: Type of the error raised.
        what: Kind of file expected, for messages: ``a scenario is a TOML file``.

    Raises:
        FarwebError, of the type `error`: It cannot be read, is too large, or is not UTF-8.
    """
    size = check_file(path, error).st_size
    if size > TEXT_MAX:
        raise error(f"{path}: has {size:,} B, and no more than {TEXT_MAX:,} B are read; {what}")
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as reason:
        raise error(f"{path}: cannot be read: {reason.strerror}") from None
    except UnicodeDecodeError as reason:
        raise error(f"{path}: not UTF-8 text (byte {reason.start}); {what}") from None


def read_json(file: BinaryIO, place: str, error: type[FarwebError]) -> bytes:
    """The content of a JSON file that is no larger than 256 MiB.

    Args:
        file: The file, open at its start.
        place: How it is called in messages.
        error: Type of the error to raise.

    Raises:
        FarwebError, of the type `error`: It is larger.
    """
    parts, left = [], _JSON_MAX + 1
    while left and (part := file.read(min(left, _PART))):
        parts.append(part)
        left -= len(part)
    if not left:
        raise error(f"{place}: has more than the {_JSON_MAX:,} B that are read of a JSON file")
    return b"".join(parts)
