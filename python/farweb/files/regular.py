"""Inputs that are regular files of a sensible size: whatever else a path names is refused before it is read.

To open a pipe without a writer waits for ever, a device such as /dev/zero never ends, and to read /proc/kmsg waits for
the kernel.
"""

import contextlib
import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from farweb.errors import FarwebError
from farweb.memory import spare_bytes
from farweb.text.quantities import size as in_bytes

TEXT_MAX = 16 << 20
"""Bytes of the largest text that is read as a whole. Chosen: a thousand times as long as any scenario of ours."""

_JSON_GROWS = 25
"""Bytes of objects that a byte of JSON becomes at most: an empty list is 2 to 3 bytes long, and takes 64."""

_JSON_SMALL = 1 << 20  # bytes; chosen: there is memory for so little, or for nothing

_KINDS = (
    (stat.S_ISDIR, "is a folder"),
    (stat.S_ISFIFO, "is a pipe, not a file"),
    (stat.S_ISSOCK, "is a socket, not a file"),
    (stat.S_ISCHR, "is a device, not a file"),
    (stat.S_ISBLK, "is a device, not a file"),
)


def check_file(path: Path, error: type[FarwebError], advice: str = "") -> os.stat_result:
    """Refuse all but regular files with content of their own; the system's description of one.

    Args:
        path: The file to read.
        error: Type of the error raised.
        advice: A way out, at the end of the message.

    Raises:
        FarwebError: There is no such file; of the type `error`.
    """
    end = f"; {advice}" if advice else ""
    try:
        found = path.stat()
    except OSError as reason:
        what = "no such file" if reason.errno == errno.ENOENT else f"cannot be read: {reason.strerror}"
        raise error(f"{path}: {what}{end}") from None
    except ValueError:  # a name with a null byte
        raise error(f"{path!r}: is no name of a file{end}") from None
    if kind := _other_kind(found) or _made_by_kernel(path, found):
        raise error(f"{path}: {kind}{end}")
    return found


def _made_by_kernel(path: Path, found: os.stat_result) -> str | None:
    """Words for a regular file that the kernel writes as it is read, below /proc for one: it has no size."""
    if found.st_size or not hasattr(os, "statvfs"):  # of Windows
        return None
    with contextlib.suppress(OSError):
        if not os.statvfs(path).f_blocks:
            return "is empty, or the kernel makes it as it is read"
    return None


def _other_kind(found: os.stat_result) -> str | None:
    """Kind of a file that is not regular; None for a regular file."""
    return next((what for is_kind, what in _KINDS if is_kind(found.st_mode)), None)


def kind_of(path: Path) -> str:
    """Kind of whatever a name leads to, in words."""
    try:
        return _other_kind(path.stat()) or "is a file"
    except OSError as reason:
        return "is a loop of links" if reason.errno == errno.ELOOP else f"cannot be read: {reason.strerror}"


# Flags are 0 on systems that lack them.
_READ = (
    os.O_RDONLY
    | getattr(os, "O_NONBLOCK", 0)  # a pipe without a writer opens at once, and is seen to be one
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_CLOEXEC", 0)
    | getattr(os, "O_BINARY", 0)
)
_ENTER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_CLOEXEC", 0)


def is_within(name: str) -> bool:
    """True when a name with ``/`` between its parts leads to nothing outside its folder."""
    return all(part not in ("", ".", "..") and "\0" not in part and "\\" not in part for part in name.split("/"))


def open_within(folder: Path, name: str, error: type[FarwebError], place: str = "") -> BinaryIO:
    """Open a regular file below a folder that someone else may have made.

    The open file itself is checked: nothing can take its place meanwhile. The folder itself may be a link; below it
    no link is followed.

    Args:
        folder: The folder.
        name: The file in it, with ``/`` between its parts.
        error: Type of the error to raise.
        place: How the file is called in messages; by its path when left out.

    Raises:
        FileNotFoundError: There is no such file.
        OSError: It cannot be opened.
        FarwebError: It is no regular file, a link, or not within the folder; of the type `error`.
    """
    path = place or f"{folder}/{name}"
    if not is_within(name):
        raise error(f"{path!r}: is no name of a file within the folder")
    try:
        descriptor = _descriptor(folder, name.split("/"))
    except OSError as reason:
        # ENOTDIR: of a folder that is a link, or a file; ENXIO: of a socket, or a device that is not there
        if reason.errno in (errno.ELOOP, errno.ENOTDIR, errno.ENXIO):
            raise error(f"{path}: is no regular file, or a link is on the way to it; results have neither") from None
        raise
    if what := _other_kind(os.fstat(descriptor)):
        os.close(descriptor)
        raise error(f"{path}: {what}")
    return os.fdopen(descriptor, "rb")


def _descriptor(folder: Path, parts: list[str]) -> int:
    if os.open not in os.supports_dir_fd:  # Windows
        return os.open(folder.joinpath(*parts), _READ)
    at = os.open(folder, _ENTER)
    try:
        for part in parts[:-1]:
            above, at = at, os.open(part, _ENTER | os.O_NOFOLLOW, dir_fd=at)
            os.close(above)
        return os.open(parts[-1], _READ, dir_fd=at)
    finally:
        os.close(at)


def read_text(path: Path, error: type[FarwebError], what: str) -> str:
    """The text of a file in UTF-8 that is no larger than `TEXT_MAX`.

    Args:
        path: The file.
        error: Type of the error raised.
        what: Kind of file expected, for messages: ``a scenario is a TOML file``.

    Raises:
        FarwebError: It cannot be read, is too large, or is not UTF-8; of the type `error`.
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
    """The content of a JSON file whose objects fit into memory.

    Args:
        file: The file, open at its start.
        place: How it is called in messages.
        error: Type of the error to raise.

    Raises:
        FarwebError: There is too little memory; of the type `error`.
    """
    size, spare = file.seek(0, os.SEEK_END), spare_bytes()
    if size > _JSON_SMALL and _JSON_GROWS * size > spare:
        raise error(f"{place}: has {size:,} B, too much for the {in_bytes(spare)} of memory that can be spared")
    file.seek(0)
    return file.read(size)
