"""Errors that a user can put right, each message with the remedy, and refusals of the machine in words."""

import errno
import math
import os
import re
from collections.abc import Iterator

from farweb._core import FarwebError, RunError, ScenarioError, WorkloadError

__all__ = [
    "FarwebError",
    "ResultsError",
    "RunError",
    "ScenarioError",
    "StorageError",
    "WorkloadError",
    "refusal_in",
    "refused_by_machine",
    "require_range",
]


class ResultsError(FarwebError):
    """A results folder cannot be used, or lacks a table. The message names the folder and what to do."""


class StorageError(RunError):
    """A place cannot be written to or read from: the machine has to be put right, and every run would fail there."""


def refused_by_machine(error: BaseException) -> str | None:
    """The machine's refusal behind an error, in words, or None where none is seen.

    Libraries turn such a refusal into errors of their own, among them that a module is not there, or a process.
    """
    said = [words for each, is_cause in _chain(error) if (words := _refusal(each, is_cause)) is not None]
    if said:
        return said[-1]
    return _too_many_files() if _are_files_exhausted() else None


def _chain(error: BaseException) -> Iterator[tuple[BaseException, bool]]:
    """An error and those behind it, each with True for a cause and False for an error merely handled before."""
    each, is_cause = error, True
    while True:
        yield each, is_cause
        behind = each.__cause__ or (None if each.__suppress_context__ else each.__context__)
        if behind is None:
            return
        is_cause = is_cause and each.__cause__ is not None
        each = behind


def refusal_in(text: str) -> str | None:
    """The machine's refusal, from a library's wording of it, or None where the text says something else."""
    if _NO_MEMORY.search(text):
        return "memory ran out"
    if _NO_FILES.search(text):
        return _too_many_files()
    if _NO_THREAD.search(text):
        return "no further thread or process can be started (ulimit -u, the limit of a container, or memory)"
    return None


def _refusal(error: BaseException, is_cause: bool) -> str | None:
    if isinstance(error, MemoryError):
        return "memory ran out"
    if isinstance(error, OSError) and error.errno in (errno.EMFILE, errno.ENFILE):
        return _too_many_files()
    if said := refusal_in(str(error)):
        return said
    if isinstance(error, OSError) and error.errno is not None and (is_cause or error.errno in _EXHAUSTED):
        place = f"{os.fsdecode(error.filename)}: " if isinstance(error.filename, str | bytes) else ""
        return f"{place}{os.strerror(error.errno)}"
    return None


_EXHAUSTED = {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS}

# As the loader of libraries, C++, Rust and the libraries that farweb uses put it.
_NO_MEMORY = re.compile(
    r"cannot allocate memory|failed to map segment|std::bad_alloc|failed to allocate|out of memory"
    r"|memory allocation of \d+ bytes failed",
    re.IGNORECASE,
)
_NO_FILES = re.compile(r"too many open files", re.IGNORECASE)
_NO_THREAD = re.compile(r"can't start new thread|resource temporarily unavailable", re.IGNORECASE)


def _too_many_files() -> str:
    try:
        import resource
    except ImportError:
        return "too many open files"
    return f"too many open files: ulimit -n allows {resource.getrlimit(resource.RLIMIT_NOFILE)[0]}"


def _are_files_exhausted() -> bool:
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno in (errno.EMFILE, errno.ENFILE)
    return False


def require_range(option: str, value: float | None, low: float, high: float = math.inf) -> None:
    """Refuse a number outside of its range.

    Args:
        option: As it is typed, which scripts see too: ``--seed``.
        value: The number. None: not given.
        low: The least.
        high: The largest.

    Raises:
        FarwebError: It is outside.

    >>> require_range("--days", 0, 1, 3660)
    Traceback (most recent call last):
    farweb._core.FarwebError: --days: found 0; write a number from 1 to 3,660
    """
    if value is not None and not low <= value <= high:
        wanted = f"from {low:,} to {high:,}" if high < math.inf else f"of at least {low:,}"
        raise FarwebError(f"{option}: found {value:,}; write a number {wanted}")
