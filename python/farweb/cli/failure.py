"""Words and exit codes for the errors that end a command.

Refusals by the machine, signals and gaps in results are never bugs in farweb, whichever library reports them.
"""

import contextlib
from collections.abc import Sequence
from pathlib import Path

from farweb import signals
from farweb.errors import FarwebError, RunError, refused_by_machine
from farweb.extras import how_to_install
from farweb.memory import room  # now: when memory has run out there may be none to import it
from farweb.text.quantities import size

INTERRUPTED = "interrupted", 130

_FAILED = 3
_LARGEST_LIBRARY_BYTES = 256 << 20  # chosen: no library takes more memory to be loaded


def check_names(arguments: Sequence[str]) -> None:
    """Refuse arguments that are not UTF-8, as the names of files may be: the core and most libraries take no others.

    Raises:
        FarwebError: One is not.
    """
    for argument in arguments:
        if not _is_utf8(argument):
            raise FarwebError(f"{argument}: is not UTF-8; give the file or folder a name that is")


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def ended_by(error: BaseException, arguments: Sequence[str]) -> tuple[str, int]:
    """Cause of a command's end, in words, and its exit code.

    Args:
        error: The error that the command raised.
        arguments: Its arguments, some of them names of results.

    Raises:
        SystemExit: `error`, where no signal is behind it.
    """
    if ended := signals.ending():
        return ended
    if isinstance(error, KeyboardInterrupt):
        return INTERRUPTED
    if isinstance(error, FarwebError):
        return str(error), _FAILED if isinstance(error, RunError) else 2
    if isinstance(error, SystemExit | GeneratorExit):
        raise error
    return _unforeseen(error, arguments)


def _unforeseen(error: BaseException, arguments: Sequence[str]) -> tuple[str, int]:
    """The same for errors that no verb has foreseen: of the machine, of missing packages or of damaged results."""
    if isinstance(error, UnicodeEncodeError) and not _is_utf8(folder := str(Path.cwd())):
        return f"{folder}: is not UTF-8; work in a folder whose name is", 2
    refused = refused_by_machine(error)
    if refused is None and isinstance(error, ModuleNotFoundError) and (needed := how_to_install(error.name or "")):
        return f"this needs {needed}", 2
    if refused is None or isinstance(error, MemoryError):  # a damaged file may ask for any memory
        with contextlib.suppress(Exception):  # there may be too little of the machine to look
            from farweb.results.integrity import explain

            if message := explain(error, map(Path, arguments)):
                return message, 2
    if refused is None:
        refused = _little_memory()
    if refused is not None:
        return refused, _FAILED
    what = f"{type(error).__name__}: {error}".splitlines()[0]
    return f"this is a bug in farweb: {what} (--debug shows where)", _FAILED


def _little_memory() -> str | None:
    """Message where libraries fail in ways of their own for want of memory, or None where there is enough."""
    try:
        found = room()
    except MemoryError:
        return "memory ran out"
    if found is None or found.free_bytes >= _LARGEST_LIBRARY_BYTES:
        return None
    return f"memory ran out: {found.limit} leaves {size(max(found.free_bytes, 0))}"
