"""Widths of texts on paper as the renderer measures them, and texts in as many lines as their place asks for."""

import functools
import itertools
import re
from typing import Any

from farweb.text.words import shortened

# isort: split

import matplotlib as mpl
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import FontProperties

FONT = "DejaVu Sans"
"""Ships with matplotlib: the same letters on every machine."""

TEXT = 9.5
"""Points of the letters of most texts in a figure of usual width."""

DPI = 160
"""Pixels an inch of files."""

_MEASURED_AT = (100, DPI)  # and of matplotlib's own pictures: letters are as wide as whole pixels make them
_TOGETHER = re.compile(r"(?<=\S) (?=[=%\[])|(?<==) ")
_NARROWEST = 0.6  # inches: a place that is narrower has lines of this width all the same


def points(usual: float) -> float:
    """Height of letters in the look in force (`chart.look`), in points.

    Args:
        usual: Their height in a figure of usual width.
    """
    return usual * float(mpl.rcParams["font.size"]) / TEXT


@functools.lru_cache(4096)  # chosen: names and captions of a report come again in each of its figures
def width(text: str, points: float, *, bold: bool = False) -> float:
    """Width of a line in inches, in letters of so many points, at the resolution that makes it widest."""
    return max(_measured(text, points, bold, dpi) / dpi for dpi in _MEASURED_AT)


def _measured(text: str, points: float, bold: bool, dpi: int) -> float:
    """Width in pixels."""
    across, _, _ = _renderer(dpi).get_text_width_height_descent(text, _font(points, bold), ismath=False)
    return float(across)


def wrapped(text: str, inches: float, points: float = 9.0, *, bold: bool = False) -> str:
    """Text in as many lines as its place asks for; nothing of it is left out.

    Lines end at spaces, but for those before a unit, a percent and around an equals sign; a word that is wider than the
    place goes on in the next line.

    Args:
        text: Lines.
        inches: Width of the place.
        points: Height of the letters.
        bold: True when they are bold.
    """
    room = max(inches, _NARROWEST)
    together = _TOGETHER.sub("\N{NO-BREAK SPACE}", text)
    lines = [line for each in together.splitlines() for line in _lines(each, room, points, bold)]
    return "\n".join(lines).replace("\N{NO-BREAK SPACE}", " ")


def clipped(text: str, inches: float, points: float = 9.0) -> str:
    """Text on one line; of a longer one than its place takes the beginning is left out."""
    most = len(text)
    while most > 2 and width(shortened(text, most), points) > inches:
        most -= 1
    return shortened(text, most)


def _lines(text: str, room: float, points: float, bold: bool) -> list[str]:
    """The lines of a text without line ends; at least one."""
    lines = []
    words = text.split(" ")
    while words:
        if not words[0] and len(words) > 1:  # a space at the beginning of a line
            del words[0]
            continue
        fitting = _fitting(words[0], room, points, bold)
        if fitting < len(words[0]):
            lines.append(words[0][:fitting])
            words[0] = words[0][fitting:]
            continue
        number = _side_by_side(words, room, points, bold)
        lines.append(" ".join(words[:number]))
        words = words[number:]
    return lines


def _side_by_side(words: list[str], room: float, points: float, bold: bool) -> int:
    """Number of words that fit, the first at least; guessed from the widths of words, most of them measured before."""
    space = width("n n", points, bold=bold) - 2 * width("n", points, bold=bold)
    ends = itertools.accumulate(width(word, points, bold=bold) + space for word in words)
    number = max(1, sum(1 for _ in itertools.takewhile(lambda end: end - space <= room, ends)))
    while number < len(words) and width(" ".join(words[: number + 1]), points, bold=bold) <= room:
        number += 1
    while number > 1 and width(" ".join(words[:number]), points, bold=bold) > room:
        number -= 1
    return number


def _fitting(word: str, room: float, points: float, bold: bool) -> int:
    """Number of letters of a word that fit, at least 1; found by halving."""
    low, high = 1, len(word)
    if width(word, points, bold=bold) <= room:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if width(word[:middle], points, bold=bold) <= room:
            low = middle
        else:
            high = middle - 1
    return low


@functools.cache
def _renderer(dpi: int) -> Any:  # matplotlib types none of its methods
    return RendererAgg(1, 1, dpi)  # type: ignore[no-untyped-call]


@functools.cache
def _font(points: float, bold: bool) -> FontProperties:
    return FontProperties(family=FONT, size=points, weight="bold" if bold else "normal")
