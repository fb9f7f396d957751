"""Arranges the points of a sweep as panels and series: which go together, and their names."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from farweb.errors import FarwebError
from farweb.paint.multiples import PANELS_MAX, SERIES_MAX
from farweb.results.design import Design
from farweb.results.select import factor_index, numeric, varying
from farweb.text.words import listed, named

LEVELS_MIN = 3
"""Levels of a number from which series have colours from light to dark; chosen: two are clearer as kinds."""


@dataclass(frozen=True)
class Group:
    """Points that make a series.

    Attributes:
        label: Its levels; empty for a single group.
        index: Number of its style; the same in every panel, or its panel's number where it is alone there.
        panel: Number of its panel.
        points: Their numbers in the design.
        shade: Of levels of one number, its place among them, from 0 to 1; None: it is one of several kinds.
    """

    label: str
    index: int
    panel: int
    points: tuple[int, ...]
    shade: float | None = None


@dataclass(frozen=True)
class Arrangement:
    """The points of a sweep as panels and series.

    Attributes:
        titles: Of the panels; a single empty one where there is one panel.
        legend: Heading of the labels of the groups: names of factors.
        groups: By panel and style.
        notes: Values left out or put together, as sentences for the caption.
        together: Factors with all levels together in each group.
    """

    titles: tuple[str, ...]
    legend: str
    groups: tuple[Group, ...]
    notes: tuple[str, ...]
    together: tuple[str, ...]


def arrange(
    design: Design,
    points: Sequence[int],
    by: Sequence[str] | None,
    *,
    along: int | None = None,
) -> Arrangement:
    """Put points into series, a series for each combination of levels of some factors, and those into panels.

    More series than `SERIES_MAX` are spread over panels by the first of the factors.

    Args:
        design: Of the sweep.
        points: Points that are drawn.
        by: Names of the factors that make series; None: all that vary, but for `along`.
        along: Number of the factor that is on the horizontal axis; None: there is none.

    Raises:
        FarwebError: An unknown factor, or more series than can be drawn.
    """
    free = [number for number in varying(design, points) if number != along]
    series = free if by is None else [_series_factor(design, name, along) for name in by]
    rest = [number for number in free if number not in series]
    points, notes = _hold(design, points, rest)
    rest = [] if design.kind == "one-at-a-time" else rest
    return _spread(design, points, series, notes, rest)


def _series_factor(design: Design, name: str, along: int | None) -> int:
    number = factor_index(design, name)
    if number == along:
        raise FarwebError(f"{name} is on the horizontal axis already; name another factor with --by, or with --x")
    return number


def _hold(design: Design, points: Sequence[int], rest: Sequence[int]) -> tuple[list[int], list[str]]:
    """Points that can be compared: of a one-at-a-time design those where the other factors are at their base."""
    if not rest or design.kind != "one-at-a-time":
        return list(points), []
    held = [point for point in points if all(design.points[point][number] == 0 for number in rest)]
    if not held:
        names = listed([design.factors[number].name for number in rest])
        raise FarwebError(f"no point that is drawn has the base level of {names}; name it with --by")
    said = listed([f"{design.factors[number].name} = {design.factors[number].levels[0].label}" for number in rest])
    return held, [f"Other factors at their base: {said}."]


def _spread(
    design: Design, points: Sequence[int], series: Sequence[int], notes: list[str], rest: Sequence[int]
) -> Arrangement:
    """Panels by as few of the first factors, or of the last where that makes fewer, as leave `SERIES_MAX` in each."""
    orders = (_split(design, points, series), _split(design, points, series[::-1]))
    of_panels, of_styles = min(orders, key=lambda order: _combinations(design, points, order[0]))
    if _combinations(design, points, of_panels) > PANELS_MAX:
        number = _combinations(design, points, series)
        names = ", ".join(design.factors[each].name for each in series)
        raise FarwebError(
            f"that makes {number:,} series (by {names}), and no more than {SERIES_MAX} can be distinguished in each of "
            f"{PANELS_MAX} panels: name fewer factors with --by, or fewer levels with --where FACTOR=LEVEL"
        )
    panels, styles = (_numbered(design, points, some) for some in (of_panels, of_styles))
    members: dict[tuple[int, int], list[int]] = {}
    for point in points:
        row = design.points[point]
        place = (
            panels[tuple(row[each] for each in of_panels)],
            styles[tuple(row[each] for each in of_styles)],
        )
        members.setdefault(place, []).append(point)
    names_of_styles = _labels(design, styles, of_styles)
    alone_in_panels = len(styles) == 1
    shades = _shades(design, of_panels, len(panels)) if alone_in_panels else _shades(design, of_styles, len(styles))
    groups = []
    for (panel, style), some in members.items():
        index = panel if alone_in_panels else style
        groups.append(Group(names_of_styles[style], index, panel, tuple(some), shades[index]))
    short = design.short_names
    alone = [short[design.factors[each].name] for each in of_panels if _is_plain(design, of_panels)]
    return Arrangement(
        titles=tuple(_titles(design, panels, of_panels)),
        legend=", ".join(short[design.factors[each].name] for each in of_styles),
        groups=tuple(sorted(groups, key=lambda group: (group.panel, group.index))),
        notes=(*notes, *(f"A panel for each {name}." for name in alone)),
        together=tuple(design.factors[each].name for each in rest),
    )


def _split(design: Design, points: Sequence[int], order: Sequence[int]) -> tuple[Sequence[int], Sequence[int]]:
    """Factors of panels, as few of the first as leave no more than `SERIES_MAX` series in each, and of series."""
    first = next(
        number for number in range(len(order) + 1) if _combinations(design, points, order[number:]) <= SERIES_MAX
    )
    return order[:first], order[first:]


def _combinations(design: Design, points: Sequence[int], factors: Sequence[int]) -> int:
    return len(_numbered(design, points, factors))


def _numbered(design: Design, points: Sequence[int], factors: Sequence[int]) -> dict[tuple[int, ...], int]:
    """A number for each combination of levels that occurs, in the order of the levels."""
    found = sorted({tuple(design.points[point][each] for each in factors) for point in points})
    return {levels: number for number, levels in enumerate(found)}


def _labels(design: Design, combinations: Iterable[tuple[int, ...]], factors: Sequence[int]) -> list[str]:
    return [
        ", ".join(design.factors[factor].levels[level].label for factor, level in zip(factors, levels, strict=True))
        for levels in combinations
    ]


def _shades(design: Design, factors: Sequence[int], styles: int) -> list[float | None]:
    """Places from light to dark, where the styles are levels of one number; None for each where they are kinds."""
    ordered = len(factors) == 1 and numeric(design.factors[factors[0]]) and styles >= LEVELS_MIN
    return [style / (styles - 1) if ordered else None for style in range(styles)]


def _is_plain(design: Design, factors: Sequence[int]) -> bool:
    """True when panels are of one factor with names, not numbers, for levels, which need no caption."""
    return len(factors) == 1 and not numeric(design.factors[factors[0]])


def _titles(design: Design, combinations: Iterable[tuple[int, ...]], factors: Sequence[int]) -> list[str]:
    if _is_plain(design, factors):
        return _labels(design, combinations, factors)
    short = design.short_names
    return [
        "\n".join(
            named(short[design.factors[factor].name], design.factors[factor].levels[level].label, " = ")
            for factor, level in zip(factors, levels, strict=True)
        )
        for levels in combinations
    ]
