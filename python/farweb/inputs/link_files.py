"""Reads the files that links name."""

import functools
from pathlib import Path

from farweb import _core
from farweb.errors import WorkloadError
from farweb.files.regular import check_file, stamp

_BYTES_MAX = 256 << 20
"""Largest file. Chosen: some hours of a fast link."""
_KEPT = 64  # files that a process keeps. Chosen: more than a sweep has


def open_link_file(kind: str, path: Path) -> _core.LinkFile:
    """Read a file of a link; runs of a process share it.

    Args:
        kind: ``schedule``.
        path: Its place.

    Raises:
        WorkloadError: It is no such file. The message names file and line, and what is allowed.
    """
    size = check_file(path, WorkloadError, f"name a {kind}").st_size
    if size > _BYTES_MAX:
        raise WorkloadError(f"{path}: has {size:,} B; a {kind} has at most {_BYTES_MAX:,} B")
    return _read(kind, path, stamp(path))


@functools.lru_cache(maxsize=_KEPT)
def _read(kind: str, path: Path, _: tuple[int, ...]) -> _core.LinkFile:
    try:
        return _core.LinkFile(kind, str(path), path.read_bytes())
    except OSError as reason:
        raise WorkloadError(f"{path}: cannot be read: {reason.strerror}") from None
