"""Warnings of `farweb check`, of one scenario or of the points of a sweep: each told once, with where it holds."""

import re
from collections.abc import Callable, Sequence

from farweb.report.points import Point
from farweb.report.words import plural
from farweb.text.words import listed

_NOT_OF_A_POINT = ("sweep:", "record.")  # what concerns how one runs it, not what it means


def warned(points: Sequence[Point], where: Callable[[Sequence[Point]], str]) -> list[str]:
    """The warnings of all points.

    Those that differ in their numbers alone are one, told with the numbers of the first point; so are those of
    several keys that otherwise say the same.

    Args:
        points: What was simulated.
        where: Says of some of the points, not all, which they are.
    """
    found: dict[str, dict[str, list[Point]]] = {}
    for point in points:
        for warning in point.warnings:
            key, _, text = warning.partition(": ")
            if not warning.startswith(_NOT_OF_A_POINT):
                found.setdefault(_without_numbers(text), {}).setdefault(key, []).append(point)
    return [_told(keys, points, where) for keys in found.values()]


def _told(keys: dict[str, list[Point]], points: Sequence[Point], where: Callable[[Sequence[Point]], str]) -> str:
    concerned = [point for point in points if any(point in each for each in keys.values())]
    key = next(iter(keys))
    texts = [text for text in concerned[0].warnings if text.startswith(f"{key}: ")]
    example = texts[0].partition(": ")[2]
    told = f"{listed(list(keys))}: {example}"
    if len(concerned) == len(points):
        return f"{told}." if len(points) == 1 else f"{told} (the first of {plural(len(points), 'point')})."
    return f"{told} ({where(concerned)})."


def _without_numbers(text: str) -> str:
    return re.sub(r"\d[\d.,]*( [kMGµm]?(?:B|bit/s|s)\b)?", "#", text)
