"""Standard output and standard error, whatever they are: closed, full, without a reader, of any encoding.

Without a reader of standard output the command goes on in silence, as for `| head`. Any other failure to write there
fails the command. Text that standard error refuses is lost: there is no other place for it. A character outside the
encoding is escaped.
"""

import codecs
import io
import os
import sys
import unicodedata
from typing import TYPE_CHECKING, TextIO

from farweb.errors import StorageError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

_SPELLED = {
    **{"–": "-", "—": "-", "−": "-", "…": "...", "‘": "'", "’": "'", "“": '"', "”": '"', "„": '"'},
    **{"→": "->", "←": "<-", "↔": "<->", "≥": ">=", "≤": "<=", "≈": "~", "×": "x", "·": ".", "±": "+-", "µ": "u"},
    **{"μ": "u", "•": "*", "█": "#"},
    **dict.fromkeys(map(chr, range(0x2500, 0x2580)), "+"),  # corners and crossings of lines
    **{"─": "-", "━": "-", "│": "|", "┃": "|"},
}


def open_standard_streams() -> None:
    """Make standard output and standard error writable as this module has it, and none of them absent.

    Otherwise the next file to be opened would get the closed descriptor, and printed text with it.
    """
    codecs.register_error("farweb-spelled", _spell)
    for name, flags in (("stdin", os.O_RDONLY), ("stdout", os.O_RDONLY), ("stderr", os.O_WRONLY)):
        if getattr(sys, name) is None:  # writes to a descriptor for reading fail, as to a closed one
            descriptor = os.open(os.devnull, flags)
            setattr(sys, name, os.fdopen(descriptor, "r" if name == "stdin" else "w", encoding="utf-8", closefd=False))
    sys.stdout, sys.stderr = _opened(sys.stdout, fails=True), _opened(sys.stderr, fails=False)


def _opened(stream: TextIO, *, fails: bool) -> TextIO:
    """The same stream, written to by `_Descriptor`."""
    stream.flush()
    return io.TextIOWrapper(
        io.BufferedWriter(_Descriptor(stream.fileno(), fails=fails)),
        encoding=stream.encoding,
        errors="farweb-spelled",
        line_buffering=stream.isatty() or not fails,
    )


class _Descriptor(io.FileIO):
    """A descriptor that writes nothing after its first failed write."""

    def __init__(self, descriptor: int, *, fails: bool) -> None:
        super().__init__(descriptor, "w", closefd=False)
        self._fails = fails
        self._is_gone = False

    def write(self, data: "ReadableBuffer", /) -> int:
        if not self._is_gone:
            try:
                return super().write(data)
            except BrokenPipeError:
                self._is_gone = True
            except OSError as error:
                self._is_gone = True
                if self._fails:
                    raise StorageError(f"standard output: cannot be written to: {error.strerror}") from None
        return memoryview(data).nbytes


def _spell(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    found = error.object[error.start : error.end]
    return "".join(map(_plain, found)), error.end


def _plain(character: str) -> str:
    """A character in ASCII: its usual spelling, its letter without accents, or a question mark."""
    if character in _SPELLED:
        return _SPELLED[character]
    letters = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return letters or "?"
