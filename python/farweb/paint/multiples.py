"""Small multiples: more curves than can be distinguished have a panel each, with the others pale behind it."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from farweb.paint.figure import OTHERS, Figure, Panel, Series

SERIES_MAX = 8
"""Series in a panel. Chosen: more are not distinguished, least of all in grey."""

PANELS_MAX = 36
"""Panels of a quantity. Chosen: as many series differ in colour and marker (`style.MARKERS`)."""

_OTHERS_MAX = 36
"""Most curves of a quantity that each panel draws behind its own. Chosen: more are a grey area."""

_CURVES = ("points", "steps", "line")


def columns_of(panels: int) -> int:
    """In how many columns so many panels stand."""
    return next(columns for columns, most in ((1, 1), (2, 4), (3, 9), (4, panels)) if panels <= most)


def height_of(rows: int, of_each: float) -> float:
    """Height of so many rows of panels, title and caption, in inches; from five rows on they are lower."""
    return 1.9 + (of_each if rows < 5 else 0.75 * of_each) * rows


def with_others(panels: Sequence[Panel], quantities: int = 1) -> tuple[tuple[Panel, ...], str]:
    """Panels with the curves of the others in grey behind their own.

    Args:
        panels: By row.
        quantities: Panels in a row that are each of another quantity; only those below one another are compared.

    Returns:
        The panels, and a sentence for the caption, with a space in front, or empty where nothing is drawn behind.
    """
    curves = [[series for series in panel.series if series.form in _CURVES] for panel in panels]
    if len(panels) <= quantities or not 0 < sum(map(len, curves)) <= _OTHERS_MAX * quantities:
        return tuple(panels), ""
    drawn = []
    for place, panel in enumerate(panels):
        others = [number for number in range(place % quantities, len(panels), quantities) if number != place]
        behind = [_pale(series) for number in others for series in curves[number]]
        drawn.append(replace(panel, series=(*behind, *panel.series)))
    return tuple(drawn), " Grey: the curves of the other panels."


def by_curve(figure: Figure) -> Figure:
    """The figure; with more than `SERIES_MAX` names of curves, a panel of each quantity for each of them."""
    names = [series.label for panel in figure.panels for series in panel.series if series.label]
    names = list(dict.fromkeys(names))
    if len(names) <= SERIES_MAX:
        return figure
    rows = [_alone(panel, name) for name in names for panel in figure.panels]
    quantities = len(figure.panels)
    columns = quantities if quantities > 1 else columns_of(len(rows))
    panels, grey = with_others(rows, quantities)
    return replace(
        figure,
        panels=panels,
        caption=figure.caption + grey,
        columns=columns,
        legend="",
        size=(figure.size[0], height_of(-(-len(rows) // columns), 2.7)),
        share_x="columns" if quantities > 1 else True,
        share_y="columns" if quantities > 1 else True,
    )


def _alone(panel: Panel, name: str) -> Panel:
    """A panel with the curve of one name, which its title says."""
    own = [series for series in panel.series if series.label == name]
    said = "".join(series.detail for series in own)
    title = "\n".join(filter(None, (f"{name}{said}", panel.title)))
    return replace(panel, series=tuple(replace(series, label="", detail="") for series in own), title=title)


def _pale(series: Series) -> Series:
    bare: dict[str, Any] = {"label": "", "detail": "", "shade": None, "low": None, "high": None, "n": None}
    form = "line" if series.form == "points" and series.joined else series.form
    return replace(series, index=OTHERS, form=form, part="another panel's", failed=None, **bare)
