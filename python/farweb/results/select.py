"""Selects points of a sweep by levels of its factors."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from farweb.errors import FarwebError
from farweb.results.design import Design, Factor, Level
from farweb.text.words import nearest

Where = Mapping[str, str | Sequence[str]]
"""By factor, the level or levels that are drawn."""

LEVELS_MAX = 5
"""Levels of a factor with distributions drawn; chosen: their curves lie close to one another."""


def factor_index(design: Design, name: str) -> int:
    """The number of the factor with this name, or with this end of its name alone.

    Raises:
        FarwebError: There is none; the message names the nearest and all.
    """
    if (place := design.place(name)) is not None:
        return place
    names = design.names
    raise FarwebError(f"there is no factor {name!r}{_nearest(name, names)}; factors: {', '.join(names)}")


def select(design: Design, where: Where) -> list[int]:
    """The points that have one of the levels named, for each factor named.

    Args:
        design: Of the sweep.
        where: By factor, the labels or values of the levels that are drawn.

    Raises:
        FarwebError: An unknown factor or level, or no point has them together.
    """
    wanted = {
        (index := factor_index(design, name)): {_level_index(design.factors[index], level) for level in _several(some)}
        for name, some in where.items()
    }
    points = [
        number
        for number, point in enumerate(design.points)
        if all(point[index] in levels for index, levels in wanted.items())
    ]
    if not points:
        said = ", ".join(f"{name}={'|'.join(_several(some))}" for name, some in where.items())
        raise FarwebError(f"no point of the design has {said}")
    return points


def _several(levels: str | Sequence[str]) -> Sequence[str]:
    return [levels] if isinstance(levels, str) else levels


def level_index(design: Design, factor: str, level: str) -> tuple[int, int]:
    """The numbers of a factor and of a level of it.

    Raises:
        FarwebError: There is none; the message names the nearest.
    """
    index = factor_index(design, factor)
    return index, _level_index(design.factors[index], level)


def _level_index(factor: Factor, text: str) -> int:
    for number, level in enumerate(factor.levels):
        if text in (level.label, str(level.value)) or _same_number(text, level):
            return number
    labels = [level.label for level in factor.levels]
    raise FarwebError(
        f"factor {factor.name} has no level {text!r}{_nearest(text, labels)}; levels: {', '.join(labels)}"
    )


def _same_number(text: str, level: Level) -> bool:
    try:
        return not isinstance(level.value, str | bool) and float(text) == level.value
    except ValueError:
        return False


def _nearest(name: str, names: Sequence[str]) -> str:
    # The last part of a dotted key is what people remember.
    parts = {each.rpartition(".")[2]: each for each in names}
    near = nearest(name, names, 0.5) or nearest(name, parts)
    return f"; {parts.get(near, near)}?" if near else ""


def varying(design: Design, points: Iterable[int]) -> list[int]:
    """Numbers of the factors that have more than one level among the points."""
    rows = [design.points[point] for point in points]
    return [number for number in range(len(design.factors)) if len({row[number] for row in rows}) > 1]


def pooled(design: Design, by: Sequence[str]) -> dict[tuple[Level, ...], list[int]]:
    """The points with each combination of levels of some factors, in the order of the design."""
    found: dict[tuple[Level, ...], list[int]] = {}
    for point in range(len(design.points)):
        levels = design.levels(point)
        found.setdefault(tuple(levels[name] for name in by), []).append(point)
    return found


def numeric(factor: Factor) -> bool:
    """True when all its levels have a place on an axis of numbers."""
    return all(level.number is not None for level in factor.levels)


def thinned(design: Design, points: Sequence[int], factors: Collection[str]) -> tuple[list[int], list[str]]:
    """Points with `LEVELS_MAX` levels, evenly from the first to the last, of each of some factors with more numbers.

    Args:
        design: Of the sweep.
        points: Points that could be drawn.
        factors: Their names.

    Returns:
        The points, and sentences for a caption on points left out.
    """
    kept, notes = list(points), []
    for number in varying(design, points):
        factor = design.factors[number]
        levels = sorted({design.points[point][number] for point in kept})
        if len(levels) <= LEVELS_MAX or not numeric(factor) or factor.name not in factors:
            continue
        few = [levels[round(place * (len(levels) - 1) / (LEVELS_MAX - 1))] for place in range(LEVELS_MAX)]
        kept = [point for point in kept if design.points[point][number] in few]
        notes.append(f"Of {len(levels)} levels of {factor.name}, {LEVELS_MAX} are drawn.")
    return kept, notes
