"""Recognizes figures and pages that farweb has made: they name it, and may be replaced."""

from pathlib import Path

HTML = ".html"
SUFFIXES = (".png", ".svg", ".pdf", HTML)
"""Suffixes of the files that a figure can be written to."""

_AT_AN_END = 65_536  # bytes; chosen: programs that write these formats name themselves at the beginning or at the end


def is_figure(file: Path) -> bool:
    """Whether a file is a figure or a page, by its name."""
    return file.suffix.lower() in SUFFIXES


def is_made(file: Path) -> bool:
    """Whether a file is a figure or a page of farweb's, by the name of farweb in it."""
    if not is_figure(file):
        return False
    content = file.read_bytes()
    return b"farweb" in content[:_AT_AN_END] or b"farweb" in content[-_AT_AN_END:]
