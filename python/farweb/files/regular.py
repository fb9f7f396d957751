"""Inputs that are regular files of a sensible size: whatever else a path names is refused before it is opened.

To open a pipe that nobody writes to waits for ever, and a device such as /dev/zero never ends.
"""

import errno
import os
import stat
from pathlib import Path

from farweb.errors import FarwebError

TEXT_MAX = 16 << 20
"""Bytes of the largest text that is read as a whole. Chosen: a thousand times as long as any scenario of ours."""

_KINDS = (
    (stat.S_ISDIR, "is a folder"),
    (stat.S_ISFIFO, "is a pipe, not a file"),
    (stat.S_ISSOCK, "is a socket, not a file"),
    (stat.S_ISCHR, "is a device, not a file"),
    (stat.S_ISBLK, "is a device, not a file"),
)


def check_file(path: Path, error: type[FarwebError], advice: str = "") -> os.stat_result:
    """Refuse what is not a regular file; what the system says of one that is.

    Args:
        path: What is to be read.
        error: What is raised.
        advice: What to do instead, at the end of the message.

    Raises:
        FarwebError: There is no regular file; of the type `error`.
    """
    end = f"; {advice}" if advice else ""
    try:
        found = path.stat()
    except OSError as reason:
        what = "no such file" if reason.errno == errno.ENOENT else f"cannot be read: {reason.strerror}"
        raise error(f"{path}: {what}{end}") from None
    except ValueError:  # a name with a null byte
        raise error(f"{path!r}: is no name of a file{end}") from None
    for is_kind, what in _KINDS:
        if is_kind(found.st_mode):
            raise error(f"{path}: {what}{end}")
    return found


def read_text(path: Path, error: type[FarwebError], what: str) -> str:
    """The text of a file in UTF-8 that is no larger than `TEXT_MAX`.

    Args:
        path: The file.
        error: What is raised.
        what: What it should be, for messages: ``a scenario is a TOML file``.

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
