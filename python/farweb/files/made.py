"""Recognizes figures and pages that farweb has made: they name it, and may be replaced."""

import os
from pathlib import Path

HTML = ".html"
SUFFIXES = (".png", ".svg", ".pdf", HTML)
"""Suffixes of the files that a figure can be written to."""

_AT_AN_END = 65_536  # bytes. Chosen: programs that write these formats name themselves at the beginning or at the end


def is_figure(file: Path) -> bool:
    """True when a file is a figure or a page, by its name."""
    return file.suffix.lower() in SUFFIXES


def is_made(file: Path) -> bool:
    """True when a file is a figure or a page of farweb's, by the name of farweb in it."""
    if not is_figure(file):
        return False
    with file.open("rb") as content:
        begin = content.read(_AT_AN_END)
        content.seek(max(0, content.seek(0, os.SEEK_END) - _AT_AN_END))
        return b"farweb" in begin or b"farweb" in content.read(_AT_AN_END)
