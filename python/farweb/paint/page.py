"""A figure as a page for a browser: the picture of the paper, with the values under the pointer."""

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from farweb.paint import style
from farweb.paint.figure import OTHERS, Axis, Figure, Panel, Series
from farweb.paint.html import framed
from farweb.text.quantities import count, plain, quantity, share

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_VALUES_MAX = 400
"""Values of a series under the pointer, at most. Chosen: two or three for each of its pixels across."""
_SPOTS_MAX = 4_000
"""Values of a page, at most. Chosen: 0.35 MB as `plot link` has them, 87 B each, 0.6 MB with intervals, up to 156 B."""
_RADIUS = 4  # points around a value


def page(figure: Figure, axes: Sequence["Axes"], svg: str) -> str:
    """A figure as an HTML page.

    Args:
        figure: The figure.
        axes: Of its panels, as they are painted.
        svg: Its picture, of the same layout.
    """
    series = sum(len(panel.series) for panel in figure.panels)
    most = min(_VALUES_MAX, _SPOTS_MAX // max(series, 1))
    spots = "".join(
        spot
        for painted, panel in zip(axes, figure.panels, strict=False)
        for spot in (*_cells(painted, panel), *_values(painted, panel, figure.counted, most))
    )
    picture = svg[svg.index("<svg") :].replace("</svg>", f'<g fill="transparent">{spots}</g></svg>')
    said = escape(f"{figure.title}. {figure.caption}")
    return framed(figure.title, _STYLE, f'<figure aria-label="{said}">\n{picture}\n</figure>')


def _values(axes: "Axes", panel: Panel, counted: str, most: int) -> Iterator[str]:
    """A circle at each value, at `most` of a series; the nearer series last: it is found first."""
    for series in panel.series:
        if series.index == OTHERS:
            continue
        number = len(series.x)
        chosen = np.unique(np.linspace(0, number - 1, min(number, most)).round().astype(int)) if number else ()
        begin = 0.0 if series.base is None else series.base
        places = np.column_stack(((series.x + begin) / panel.x.one, series.y / panel.y.one))
        room = axes.bbox.padded(_RADIUS)
        for at in chosen:
            if room.contains(*axes.transData.transform(places[at])):
                across, up = _place(axes, *places[at])
                said = escape("\n".join(_words(panel, series, int(at), counted)))
                yield f'<circle cx="{across:.1f}" cy="{up:.1f}" r="{_RADIUS}"><title>{said}</title></circle>'


def _words(panel: Panel, series: Series, at: int, counted: str) -> Iterator[str]:
    """Name, values, interval, n and failures of a value, a line each."""
    if series.label:
        yield series.label + series.detail
    if series.names and series.names[at]:
        yield series.names[at]
    yield _value(panel.x, series.x[at])
    yield _value(panel.y, series.y[at])
    if series.low is not None and series.high is not None and series.form != "spans":
        axis = panel.x if panel.y.scale == "category" else panel.y
        yield f"95 %: {_number(axis, series.low[at])} to {_number(axis, series.high[at])}"
    if series.n is not None:
        yield f"n = {count(int(series.n[at]))} {counted}".rstrip()
    if series.failed is not None and series.failed[at] > 0:
        yield f"failed: {share(float(series.failed[at]))}"


def _value(axis: Axis, value: float) -> str:
    if axis.scale == "category":
        return axis.levels[round(float(value))].strip()
    return f"{axis.quantity}: {_number(axis, value)}"


def _number(axis: Axis, value: float) -> str:
    """A number with the unit of the axis, or with the prefix that suits it where marks carry theirs."""
    if axis.marks_carry_unit:
        return quantity(float(value), axis.unit)
    return f"{plain(float(value) / axis.one, 4)} {axis.read_in}".rstrip()


def _cells(axes: "Axes", panel: Panel) -> Iterator[str]:
    """A rectangle for each cell of a density that has something in it."""
    density = panel.density
    if density is None:
        return
    for row, column in np.argwhere(density.count > 0):
        left, low = _place(axes, density.x_edges[column], density.y_edges[row])
        right, high = _place(axes, density.x_edges[column + 1], density.y_edges[row + 1])
        box = f'x="{left:.1f}" y="{high:.1f}" width="{right - left:.1f}" height="{low - high:.1f}"'
        said = f"{count(int(density.count[row, column]))} {density.of}"
        yield f"<rect {box}><title>{escape(said)}</title></rect>"


def _place(axes: "Axes", x: float, y: float) -> tuple[float, float]:
    """A point in the picture, in points from its upper left corner."""
    one = 72 / axes.figure.dpi
    across, up = axes.transData.transform((x, y))
    return float(across * one), float((axes.figure.bbox.height - up) * one)


_STYLE = f"""
body {{ margin: 1rem; color: {style.INK}; }} figure {{ margin: 0 auto; max-width: 72rem; }}
svg {{ display: block; width: 100%; height: auto; }}
svg text {{ font-family: "DejaVu Sans", Verdana, sans-serif !important; }}
circle:hover, rect:hover {{ fill: #0003; }}
"""
