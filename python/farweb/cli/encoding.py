"""Output to terminals that lack some characters: spells each of those with characters that the terminal has."""

import codecs
import io
import sys
import unicodedata

_SPELLED = {
    **{"–": "-", "—": "-", "−": "-", "…": "...", "‘": "'", "’": "'", "“": '"', "”": '"', "„": '"'},
    **{"→": "->", "←": "<-", "↔": "<->", "≥": ">=", "≤": "<=", "≈": "~", "×": "x", "·": ".", "±": "+-", "µ": "u"},
    **{"μ": "u", "•": "*", "█": "#"},
    **dict.fromkeys(map(chr, range(0x2500, 0x2580)), "+"),  # corners and crossings of lines
    **{"─": "-", "━": "-", "│": "|", "┃": "|"},
}


def write_in_any_encoding() -> None:
    """Make standard output and standard error spell characters that their encoding lacks, instead of failing."""
    codecs.register_error("farweb-spelled", _spell)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="farweb-spelled")


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
