"""Parts of a figure that a size leaves no room for: panels that would be too small, levels with names too close."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from farweb.paint.figure import INSETS, Figure, Floats, Panel, Series

LEVEL = 5.75
"""Points from one level to the next, at least. Chosen: letters of 5 points, which are read in print."""

_LEAST = (0.6, 0.28)
"""Inches of axes across and upright, at least, of the row with the most weight. Chosen: they have two marks, and a
curve is seen between them."""

_LEAST_INSET = (1.2, 0.6)
"""The same of an inset, which has names within it."""


def fewer(figure: Figure, sizes: Sequence[tuple[float, float]]) -> Figure | None:
    """A figure with fewer panels or levels, where its size has no room for all of them; None where it has.

    Caption and title go first, then insets, panels that can be spared, rows and columns of panels from the end, levels.

    Args:
        figure: The figure.
        sizes: Width and height of the axes of each panel, in inches.
    """
    held = [max(int(72 * height / LEVEL), 1) for _, height in sizes]
    crowded = [len(panel.y.levels) > most for panel, most in zip(figure.panels, held, strict=True)]
    narrow = any(across < _LEAST[0] for across, _ in sizes)
    most = max(panel.weight for panel in figure.panels)
    low = any(up < _LEAST[1] * panel.weight / most for panel, (_, up) in zip(figure.panels, sizes, strict=True))
    insets = [
        panel.inset is not None and _is_small(INSETS[panel.inset_at], size)
        for panel, size in zip(figure.panels, sizes, strict=True)
    ]
    if not (any(crowded) or narrow or low or any(insets)):
        return None
    if figure.exact and (figure.caption or figure.title):
        return replace(figure, caption="", title="" if not figure.caption else figure.title)
    if any(insets):
        return replace(figure, panels=tuple(replace(panel, inset=None) for panel in figure.panels))
    kept = [panel for panel in figure.panels if not panel.is_spare]
    if 0 < len(kept) < len(figure.panels):
        return replace(figure, panels=tuple(kept))
    if low and figure.rows > 1:
        return replace(figure, panels=figure.panels[: (figure.rows - 1) * figure.columns])
    if narrow and figure.columns > 1:
        left = [panel for place, panel in enumerate(figure.panels) if (place + 1) % figure.columns]
        return replace(figure, panels=tuple(left), columns=figure.columns - 1)
    if any(crowded):
        panels = [
            _of_levels(panel, most) if is_crowded else panel
            for panel, most, is_crowded in zip(figure.panels, held, crowded, strict=True)
        ]
        return replace(figure, panels=tuple(panels))
    return None


def left_out(whole: Figure, drawn: Figure, around: Sequence[str]) -> list[str]:
    """Parts that a figure lacks of the whole one, in words.

    Args:
        whole: The figure.
        drawn: The figure with its room.
        around: Parts around the axes that are not drawn either.
    """
    said = [name for name in ("caption", "title") if getattr(whole, name) and not getattr(drawn, name)]
    panels = len(whole.panels) - len(drawn.panels)
    said += [*around, *([f"{panels} of {len(whole.panels)} panels"] if panels else [])]
    for axis in dict.fromkeys(panel.y for panel in drawn.panels if panel.y.total):
        said.append(f"{axis.total - len(axis.levels)} of {axis.total} rows")
    insets = [panel.inset.title for panel in whole.panels if panel.inset is not None]
    return said if any(panel.inset for panel in drawn.panels) else [*said, *insets]


def _is_small(inset: tuple[float, float, float, float], size: tuple[float, float]) -> bool:
    """True of an inset, by its part of the panel, that would be too small."""
    return inset[2] * size[0] < _LEAST_INSET[0] or inset[3] * size[1] < _LEAST_INSET[1]


def _of_levels(panel: Panel, most: int) -> Panel:
    """A panel with no more than so many levels, the most important ones in their order."""
    axis = panel.y
    kept = np.array(sorted((axis.rank or range(len(axis.levels)))[:most]))
    series = [_at_places(each, kept) for each in panel.series]
    return replace(
        panel,
        y=replace(
            axis, levels=tuple(axis.levels[place] for place in kept), rank=(), total=axis.total or len(axis.levels)
        ),
        series=tuple(each for each in series if len(each.x)),
    )


def _at_places(series: Series, kept: Floats) -> Series:
    """The values of a series at some places of a category axis, at their new places."""
    there = np.isin(series.y, kept)

    def some(part: Floats | None) -> Floats | None:
        return None if part is None else part[there]

    return replace(
        series,
        x=series.x[there],
        y=np.searchsorted(kept, series.y[there]).astype(np.float64),
        low=some(series.low),
        high=some(series.high),
        base=some(series.base),
        failed=some(series.failed),
        n=None if series.n is None else series.n[there],
        names=tuple(name for name, is_there in zip(series.names, there, strict=False) if is_there),
    )
