"""Reads the files that links name."""

import functools
from pathlib import Path

from farweb import _core
from farweb.errors import WorkloadError
from farweb.files.regular import check_file, stamp

_BYTES_MAX = 256 << 20
"""Largest file. Chosen: some hours of a fast link."""
_KEPT = 64  # files that a process keeps. Chosen: more than a sweep has


def read_link_file(kind: str | None, path: Path) -> _core.LinkFile:
    """Read a file of a link; runs of a process share it.

    Args:
        kind: ``schedule`` or ``trace``. None: by its first line.
        path: Its place.

    Raises:
        WorkloadError: It is no such file. The message names file and line, and what is allowed.
    """
    what = kind or "schedule or a trace"
    size = check_file(path, WorkloadError, f"name a {what}").st_size
    if size > _BYTES_MAX:
        raise WorkloadError(f"{path}: has {size:,} B; a {what} has at most {_BYTES_MAX:,} B")
    return _read(kind, path, stamp(path))


@functools.lru_cache(maxsize=_KEPT)
def _read(kind: str | None, path: Path, _: tuple[int, ...]) -> _core.LinkFile:
    try:
        content = path.read_bytes()
    except OSError as reason:
        raise WorkloadError(f"{path}: cannot be read: {reason.strerror}") from None
    return _core.LinkFile.of_any(str(path), content) if kind is None else _core.LinkFile(kind, str(path), content)
