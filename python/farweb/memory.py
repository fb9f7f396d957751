"""Memory that this process may still take, as a run looks at it before each of its steps.

The core ends the whole process when the system refuses it memory, and the system kills a process that takes the last of
a machine's or a control group's. A run ends with an error before that, with a reserve left for the next step. Free
memory includes page cache that the system gives up on demand, and swap of the machine but not of a control group.
Without /proc (macOS, Windows) limits are unknown, and no run is ended.

Source: proc(5), getrlimit(2), and Documentation/admin-guide/cgroup-v1/memory.rst and cgroup-v2.rst of Linux.
"""

import contextlib
import ctypes
import functools
import gc
import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from farweb.text.quantities import size as size_of

with contextlib.suppress(ImportError):  # of Windows
    import resource

_PROC, _GROUPS = Path("/proc"), Path("/sys/fs/cgroup")

_RESERVE_BYTES = 64 << 20
"""Left of memory. Chosen: where no requests begin, a step took 26 MB at most, with a million connections open."""

_RESERVE_SHARE = 3
"""Left of address space: the memory of the process, divided by this. Chosen: a table that doubles took 0.3 of it at
most in such runs, at once, and most of it is not touched before it is needed."""

_BYTES_AN_EVENT = 4096
"""Chosen: steps in which each event was the start of a request took 2.4 kB an event at most, with all recorded."""

_LEAST_EVENTS = 1000  # chosen: far less than the reserve


@dataclass(frozen=True)
class Room:
    """Memory that a limit leaves to this process.

    Attributes:
        limit: Which limit it is, in words.
        free_bytes: Memory that may still be taken.
        reserve_bytes: Part of it that must stay free.
    """

    limit: str
    free_bytes: int
    reserve_bytes: int = _RESERVE_BYTES

    @property
    def spare_bytes(self) -> int:
        """Memory that can be taken without touching the reserve. Negative once it is touched."""
        return self.free_bytes - self.reserve_bytes


def room() -> Room | None:
    """The room of the limit that leaves least to spare, or None where none is known."""
    try:
        return min((*_of_process(), *_of_groups(), _of_machine()), key=lambda each: each.spare_bytes)
    except (OSError, LookupError, ValueError):  # no /proc, or not Linux's
        return None


def spare_bytes() -> float:
    """Memory that may be taken without touching any reserve, or infinite where nothing is known of limits."""
    found = room()
    return math.inf if found is None else max(found.spare_bytes, 0)


def events_allowed(most: int) -> int:
    """Most events that the next step of a run may have with memory for everything that begins in them.

    Raises:
        MemoryError: There may be too little for any. It names the limit reached.
    """
    found = room()
    if found is not None and found.spare_bytes < 0:
        give_back()
        found = room()
    if found is None:
        return most
    if found.spare_bytes < 0:
        raise MemoryError(f"{found.limit} leaves {size_of(max(found.free_bytes, 0))}, too little for a further step")
    return min(most, max(_LEAST_EVENTS, found.spare_bytes // _BYTES_AN_EVENT))


def give_back() -> None:
    """Return unused memory to the system, after a collection of Python's garbage."""
    gc.collect()
    trim()


def trim() -> None:
    """Return freed memory to the system: glibc keeps it, and it would count as in use."""
    if sys.platform == "linux":
        with contextlib.suppress(AttributeError):  # of another C library
            ctypes.CDLL(None).malloc_trim(0)


def _of_process() -> Iterator[Room]:
    """The limits of the process itself: of its address space, and of its data."""
    if sys.platform == "win32":
        return
    pages = [int(each) for each in (_PROC / "self/statm").read_text().split()]
    total, resident, _, _, _, data, _ = (each * resource.getpagesize() for each in pages)
    for limit, used, words in (
        (resource.RLIMIT_AS, total, "the limit of address space (ulimit -v)"),
        (resource.RLIMIT_DATA, data, "the limit of data (ulimit -d)"),
    ):
        allowed, _ = resource.getrlimit(limit)
        if allowed != resource.RLIM_INFINITY:
            yield Room(f"{words}, {size_of(allowed)},", allowed - used, max(_RESERVE_BYTES, resident // _RESERVE_SHARE))


def _of_machine() -> Room:
    """The memory of the machine that is available without killing a process."""
    lines = (line.split() for line in (_PROC / "meminfo").read_text().splitlines())
    found = {name.rstrip(":"): int(amount) << 10 for name, amount, *_ in lines}
    return Room("the memory of this machine", found["MemAvailable"] + found["SwapFree"])


def _of_groups() -> Iterator[Room]:
    """The limits of the control group of the process and of the groups around it."""
    for folder, names in _limited_groups(_GROUPS, _PROC):
        allowed = _allowed(folder, names)
        rows = (line.split() for line in (folder / "memory.stat").read_text().splitlines())
        kept = {name: int(amount) for name, amount in rows}
        used = int((folder / names.used).read_text()) - sum(kept[name] for name in names.given_up)
        yield Room(f"the memory limit of its control group, {size_of(allowed)},", int(allowed) - used)


class _Names(NamedTuple):
    """Files of a control group, and the rows of `memory.stat` that the system can reclaim."""

    limit: str
    used: str
    given_up: tuple[str, str]


_VERSIONS = {
    "memory": _Names("memory.limit_in_bytes", "memory.usage_in_bytes", ("total_inactive_file", "total_active_file")),
    "": _Names("memory.max", "memory.current", ("inactive_file", "active_file")),
}
"""By the controllers that /proc/self/cgroup has in the line of a group: of the first version, and of the second."""

_UNLIMITED = 1 << 60  # beyond any machine: the first version has no word for it


def _allowed(folder: Path, names: _Names) -> float:
    text = (folder / names.limit).read_text().strip()
    return math.inf if text == "max" else int(text)


@functools.cache
def _limited_groups(mount: Path, proc: Path) -> tuple[tuple[Path, _Names], ...]:
    """The control groups with a limit of memory that this process is in, with the names of their files."""
    found = []
    for line in (proc / "self/cgroup").read_text().splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers in _VERSIONS:
            names, top = _VERSIONS[controllers], mount / controllers
            own = top / path.lstrip("/")
            for folder in (own, *(each for each in own.parents if each.is_relative_to(top))):
                with contextlib.suppress(OSError):  # unseen by this process
                    if _allowed(folder, names) < _UNLIMITED:
                        found.append((folder, names))
    return tuple(found)
