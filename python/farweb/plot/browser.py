"""Figures in a browser: a description as one HTML file, to zoom into, with the values under the pointer.

The file holds plotly.js itself and refers to nothing outside; its content policy forbids it to. The same figure gives
the same bytes.
"""

import math
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from farweb.extras import require
from farweb.plot import style
from farweb.plot.figure import OTHERS, Axis, Density, Figure, Floats, Panel, Phase, Reference, Series

if TYPE_CHECKING:
    from plotly.graph_objects import Figure as Plotly

_SYMBOLS = {
    "o": "circle",
    "s": "square",
    "^": "triangle-up",
    "D": "diamond",
    "v": "triangle-down",
    "P": "cross",
    "x": "x-thin",
    "|": "line-ns",
    "_": "line-ew",
}
_DASHES = ("solid", "7px,3px", "2px,2px", "9px,3px,2px,3px")
"""Dashes in the order of `style.LINES`."""

_COMPARED = "3px,4px"
_IDENTITY = "14px,5px"
_BAND = 0.17
_FEW = 4  # whole numbers that each have a mark
_MANY = 500  # values that make a line thinner, to show its turns
_BEHIND = 1  # pixels: width of the curves of other panels
_SHARED = {True: "all", "columns": "columns", False: False}
_PIXELS_AN_INCH = 96
_WIDTH_PIXELS = 1000  # that the legend's rows are reckoned for
_FONT = "system-ui, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif"


def page(figure: Figure) -> str:
    """The figure as an HTML page.

    Raises:
        FarwebError: plotly is not installed.
    """
    require("a figure as .html", "plotly")
    import plotly.io

    drawn = plotly.io.to_html(
        _paint(figure),
        full_html=False,
        include_plotlyjs=True,
        include_mathjax=False,
        div_id="figure",
        config={"responsive": True, "displaylogo": False},
    )
    caption, title = escape(figure.caption), escape(figure.title)
    return _PAGE.format(title=title, caption=caption, drawn=drawn, font=_FONT, ink=style.INK, quiet=style.QUIET)


def _paint(figure: Figure) -> "Plotly":
    from plotly.subplots import make_subplots

    heights = [figure.panels[row * figure.columns].weight for row in range(figure.rows)]
    drawn = make_subplots(
        figure.rows,
        figure.columns,
        shared_xaxes=_SHARED[figure.share_x],
        shared_yaxes=_SHARED[figure.share_y],
        row_heights=heights,
        horizontal_spacing=0.03 if figure.share_y is True else min(0.09, 0.3 / figure.columns),
        vertical_spacing=(0.2 if figure.share_x else 0.32) / figure.rows if figure.rows > 1 else 0.0,
    )
    named: set[str] = set()
    for place, panel in enumerate(figure.panels):
        cell = {"row": place // figure.columns + 1, "col": place % figure.columns + 1}
        if panel.density is not None:
            drawn.add_trace(_shade(panel.density), **cell)
        for series in panel.series:
            for trace in _traces(series, panel, figure.counted):
                trace["showlegend"] = trace.get("showlegend", True) and bool(series.label) and series.label not in named
                drawn.add_trace({**trace, "legendgroup": series.label or None}, **cell)
            named.add(series.label)
        for reference in panel.references:
            trace = _compared(reference, panel)
            trace["showlegend"] = bool(reference.label) and reference.label not in named
            drawn.add_trace(trace, **cell)
            named.add(reference.label)
        across = np.concatenate([series.x for series in panel.series])
        up = np.concatenate([series.y for series in panel.series])
        for phase in panel.phases:
            _mark_phase(drawn, phase, panel, cell, named)
        drawn.update_xaxes(_axis(panel.x, across, labelled=figure.writes_x(place)), **cell)
        drawn.update_yaxes(_axis(panel.y, up, labelled=figure.writes_y(place), downwards=True), **cell)
        _head(drawn, panel, place)
    named.discard("")
    drawn.update_layout(_layout(figure, sorted(named)))
    if densities := [panel.density for panel in figure.panels if panel.density is not None]:
        drawn.update_layout(coloraxis=_scale_of(densities))
    return drawn


def _mark_phase(drawn: "Plotly", phase: Phase, panel: Panel, cell: dict[str, int], named: set[str]) -> None:
    """Shade a stretch over the height of its panel; the first of a name is in the legend."""
    drawn.add_vrect(
        x0=phase.begin / panel.x.one,
        x1=phase.end / panel.x.one,
        fillcolor=_faint(*style.SHADES[phase.role]),
        line_width=0,
        layer="below",
        name=escape(phase.label),
        legendgroup=phase.label,
        showlegend=phase.label not in named,
        **cell,
    )
    named.add(phase.label)


def _layout(figure: Figure, named: list[str]) -> dict[str, Any]:
    """Layout of all that is not data: letters, margins, and a legend above, where it hides nothing."""
    # An entry takes its letters and some 60 pixels of line and room.
    widest = max((7 * len(name) + 60 for name in named), default=1)
    rows = math.ceil(len(named) / max(1, _WIDTH_PIXELS // widest)) + bool(figure.legend and named)
    lines = max((panel.title.count("\n") + 1 for panel in figure.panels if panel.title), default=0)
    above = 12 + 21 * max(rows, 1) + 17 * lines  # the buttons of plotly take a row as well
    heading = {"text": escape(figure.legend), "side": "top"} if figure.legend else {}
    return {
        "template": "none",
        "height": round(figure.size[1] * _PIXELS_AN_INCH) + above,
        "margin": {"l": 75, "r": 20, "t": above, "b": 55},
        "font": {"family": _FONT, "size": 13, "color": style.INK},
        "hovermode": "closest",
        "hoverlabel": {"font": {"family": _FONT}},
        "barmode": "overlay",
        "legend": {"orientation": "h", "yref": "container", "y": 1, "yanchor": "top", "x": 0, "title": heading},
    }


def _traces(series: Series, panel: Panel, counted: str) -> list[dict[str, Any]]:
    """Traces, as plotly calls them, of a series: the interval, and on it the line."""
    x, y = series.x / panel.x.one, series.y / panel.y.one
    colour = style.series(series.index, series.shade)["color"]
    trace: dict[str, Any] = {"type": "scatter", "x": x, "y": y, "name": escape(series.label + series.detail)}
    width = _BEHIND if series.index == OTHERS else 2 if len(x) < _MANY else 1.3
    line = {"color": colour, "width": width, "dash": _dash(series)}
    own = _SYMBOLS[style.marker(series.index, series.shade)]
    marker: dict[str, Any] = {"color": colour, "symbol": own, "size": 8}
    edge = {"color": "white", "width": 1}
    match series.form:
        case "dots":
            trace |= {"mode": "markers", "marker": {**marker, "size": 5, "opacity": 0.35}}
        case "area":
            fill = {"fill": "tozeroy", "fillcolor": _faint(colour, 0.25 if series.index is not None else 1)}
            trace |= {"mode": "lines", "line": {"width": 0, "shape": "hv"}, **fill}
        case "bars" | "outlines":
            base = {} if series.base is None else {"base": series.base / panel.x.one}
            hollow = {"color": "rgba(0,0,0,0)", "line": {"color": colour, "width": 1.5}}
            look = hollow if series.form == "outlines" else {"color": colour}
            trace |= {"type": "bar", "orientation": "h", "marker": look, "width": 0.6, **base}
        case "marks":
            trace |= {"mode": "markers", "marker": {**marker, "line": edge}, "cliponaxis": False}
        case "spans":
            return [_strokes(series, panel, trace)]
        case "signs":
            sign = {
                "color": colour,
                "symbol": _SYMBOLS[series.sign],
                "size": 8,
                "line": {"color": colour, "width": 1.5},
            }
            trace |= {"mode": "markers+text" if series.names else "markers", "marker": sign}
            trace |= (
                {"text": [escape(name) for name in series.names], "textposition": "top right"} if series.names else {}
            )
        case "steps" | "line":
            trace |= {"mode": "lines", "line": {**line, "shape": "hv" if series.form == "steps" else "linear"}}
        case "points":
            trace |= {"mode": "lines+markers" if series.joined else "markers", "line": line}
            trace |= {"marker": {**marker, "line": edge}}
            if (empty := series.hollow).any():
                signs = np.where(empty, f"{marker['symbol']}-open", marker["symbol"]).tolist()
                trace["marker"] |= {"symbol": signs, "line": {"width": 1.5, "color": colour}}
    trace |= _hover(series, panel, counted)
    return [*_spread(series, panel, trace), trace]


def _dash(series: Series) -> str:
    return _DASHES[style.LINES.index(style.series(series.index, series.shade)["linestyle"])]


def _strokes(series: Series, panel: Panel, trace: dict[str, Any]) -> dict[str, Any]:
    """Upright strokes as one line with gaps, which the pointer names by their ends."""
    low, high = series.y if series.low is None else series.low, series.y if series.high is None else series.high
    gaps = np.full(len(series.x), np.nan)
    ends = np.column_stack((low, high, gaps)).ravel() / panel.y.one
    colour, width = style.series(series.index, series.shade)["color"], 1 if series.index == "sack" else 2.5
    return {
        **trace,
        "mode": "lines",
        "x": np.repeat(series.x, 3) / panel.x.one,
        "y": ends,
        "line": {"color": colour, "width": width},
        "hovertemplate": "<br>".join([_value(panel.x, "x"), _value(panel.y, "y")]) + "<extra></extra>",
    }


def _hover(series: Series, panel: Panel, counted: str) -> dict[str, Any]:
    """Text under the pointer: values with their units, the interval, and n."""
    across = panel.y.scale == "category"
    lines = [f"<b>{_literal(series.label)}</b>"] if series.label else []
    more: list[Floats] = []
    if series.base is None:
        lines += [_value(axis, letter) for axis, letter in ((panel.x, "x"), (panel.y, "y"))]
    else:  # of a bar on another, plotly shows the end and not the length
        lines += [_value(panel.x, "customdata[0]"), _value(panel.y, "y")]
        more.append(series.x / panel.x.one)
    if series.low is not None and series.high is not None:
        axis = panel.x if across else panel.y
        more += [series.low / axis.one, series.high / axis.one]
        lines.append(f"95 %: %{{customdata[0]:.4~g}} to %{{customdata[1]:.4~g}} {axis.read_in}")
    if series.n is not None:
        lines.append(f"n = %{{customdata[{len(more)}]:,}} {_literal(counted)}")
        more.append(series.n.astype(np.float64))
    if series.failed is not None:
        lines.append(f"failed: %{{customdata[{len(more)}]:.3~p}}")
        more.append(series.failed)
    text: dict[str, Any] = {"hovertemplate": "<br>".join(lines) + "<extra></extra>"}
    return {**text, "customdata": np.column_stack(more)} if more else text


def _value(axis: Axis, letter: str) -> str:
    if axis.scale == "category":
        return f"%{{{letter}}}"
    if axis.marks_carry_unit:
        return f"{_literal(axis.quantity)}: %{{{letter}:.4~s}}{axis.unit}"
    return f"{_literal(axis.quantity)}: %{{{letter}:.4~g}} {axis.read_in}".rstrip()


def _literal(text: str) -> str:
    """Text within a template of plotly, which would put values where the text has ``%{…}``."""
    return escape(text).replace("%{", "%&#123;")


def _spread(series: Series, panel: Panel, trace: dict[str, Any]) -> list[dict[str, Any]]:
    """The shaded band as two traces without a line; bars go into the trace itself."""
    if series.low is None or series.high is None:
        return []
    colour = style.series(series.index, series.shade)["color"]
    across = panel.y.scale == "category"
    one = panel.x.one if across else panel.y.one
    low, high = series.low / one, series.high / one
    if series.interval == "bars":
        middle = series.x / one if across else series.y / one
        reach = {"array": high - middle, "arrayminus": middle - low, "symmetric": False}
        trace["error_x" if across else "error_y"] = {"type": "data", **reach, "color": colour, "thickness": 1.3}
        return []
    shape = {"width": 0, "shape": "hv" if series.form == "steps" else "linear"}
    side = {
        "type": "scatter",
        "x": trace["x"],
        "mode": "lines",
        "line": shape,
        "hoverinfo": "skip",
        "showlegend": False,
    }
    return [{**side, "y": low}, {**side, "y": high, "fill": "tonexty", "fillcolor": _faint(colour, _BAND)}]


def _compared(reference: Reference, panel: Panel) -> dict[str, Any]:
    """A reference line from one end of the data to the other."""
    every_x = np.concatenate([each.x for each in panel.series])
    every_y = np.concatenate([each.y for each in panel.series])
    if reference.along == "y":
        x, y = np.full(2, reference.at), _ends(panel.y, every_y)
    else:
        x = _ends(panel.x, every_x)
        y = x if reference.along == "identity" else np.full(2, reference.at)
    own = reference.index is not None
    colour = style.series(reference.index, reference.shade)["color"] if own else style.QUIET
    dash = _IDENTITY if reference.along == "identity" else _COMPARED
    return {
        "type": "scatter",
        "x": x / panel.x.one,
        "y": y / panel.y.one,
        "mode": "lines",
        "line": {"color": colour, "width": 1.5, "dash": dash},
        "name": escape(reference.label),
        "hoverinfo": "skip",
    }


def _ends(axis: Axis, values: Floats) -> Floats:
    """Ends of a line along an axis."""
    if axis.scale == "category":
        return np.array([-0.6, len(axis.levels) - 0.4])
    return np.array([values.min() if axis.low is None else axis.low, values.max()])


def _shade(density: Density) -> dict[str, Any]:
    """Cells of a logarithmic scale of greys; an empty one has no colour."""
    with np.errstate(divide="ignore"):
        shade = np.where(density.count > 0, np.log10(density.count), np.nan)
    return {
        "type": "heatmap",
        "x": density.x_edges,
        "y": density.y_edges,
        "z": shade,
        "customdata": density.count,
        "coloraxis": "coloraxis",
        "hovertemplate": f"%{{customdata}} {escape(density.of)}<extra></extra>",
    }


def _scale_of(densities: Sequence[Density]) -> dict[str, Any]:
    """One scale of shades for all panels, from below 1: a single one is grey, not white."""
    most = max(float(density.count.max()) for density in densities)
    decades = range(math.floor(math.log10(max(most, 1))) + 1)
    return {
        "cmin": math.log10(0.35),
        "cmax": math.log10(max(most, 2)),
        "colorscale": "Greys",
        "colorbar": {
            "title": {"text": f"{escape(densities[0].of)}<br>in a cell"},
            "tickvals": list(decades),
            "ticktext": [f"{10**decade:,}" for decade in decades],
            "len": 0.7,
        },
    }


def _axis(axis: Axis, values: Floats, *, labelled: bool, downwards: bool = False) -> dict[str, Any]:
    """Look of an axis.

    Args:
        axis: Which.
        values: Values on it.
        labelled: True when it has marks and a title of its own.
        downwards: True when its levels, if it has such, begin at the top.
    """
    look: dict[str, Any] = {
        "title": {"text": escape(axis.label) if labelled else "", "standoff": 8},
        "gridcolor": "#E3E3E3",
        "linecolor": style.QUIET,
        "showline": True,
        "ticks": "outside",
        "tickcolor": style.QUIET,
        "zeroline": False,
        "automargin": True,
        "showticklabels": labelled,
    }
    low, high = (None if end is None else end / axis.one for end in (axis.low, axis.high))
    if axis.scale == "category":
        # From the top down, as one reads; from the left to the right.
        ends = [-0.6, len(axis.levels) - 0.4][:: -1 if downwards else 1]
        names = [escape(level) for level in axis.levels]
        return look | {"tickvals": list(range(len(names))), "ticktext": names, "range": ends, "showgrid": False}
    if axis.scale == "log":
        form = {"tickformat": "~s", "ticksuffix": axis.unit} if axis.marks_carry_unit else {"tickformat": "~g"}
        few = values.size and values.max() < values.min() * style.FEW_DECADES
        return look | {"type": "log", "dtick": "D2" if few else 1, **form}
    if axis.marks:
        look |= {"tickvals": list(axis.marks)}
    if low is not None and high is not None:
        look |= {"range": [low, high]}
    whole = {"tickformat": ",d", **({"dtick": 1} if values.size and values.max() < _FEW else {})} if axis.whole else {}
    return look | ({"rangemode": "tozero"} if low == 0 else {}) | whole


def _head(drawn: "Plotly", panel: Panel, place: int) -> None:
    """Title and note above a panel."""
    number = "" if place == 0 else str(place + 1)
    colour = style.INK if panel.index is None else style.series(panel.index)["color"]
    for text, x, anchor in ((panel.title, 0, "left"), (panel.note, 1, "right")):
        if text:
            drawn.add_annotation(
                text=escape(text).replace("\n", "<br>"),
                x=x,
                y=1,
                xref=f"x{number} domain",
                yref=f"y{number} domain",
                xanchor=anchor,
                yanchor="bottom",
                align=anchor,
                showarrow=False,
                font={"color": colour, "size": 12},
            )


def _faint(colour: str, opacity: float) -> str:
    """A colour of the palette with an opacity, in CSS."""
    red, green, blue = (int(colour[place : place + 2], 16) for place in (1, 3, 5))
    return f"rgba({red}, {green}, {blue}, {opacity:g})"


_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data: blob:; \
style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>{title}</title>
<style>
body {{ max-width: 68rem; margin: 1.5rem auto; padding: 0 1rem; color: {ink}; background: #fff; }}
body {{ font: 16px/1.5 {font}; }}
figure {{ margin: 0; }} h1 {{ font-size: 1.2rem; margin: 0 0 .5rem; }}
figcaption {{ color: {quiet}; font-size: .9rem; margin-top: .5rem; }}
</style>
</head>
<body>
<figure>
<h1>{title}</h1>
{drawn}
<figcaption>{caption}</figcaption>
</figure>
</body>
</html>
"""
