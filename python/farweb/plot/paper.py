"""Figures on paper: a description painted with matplotlib."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import Axis as MplAxis
from matplotlib.collections import QuadMesh
from matplotlib.colors import LogNorm
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from farweb.plot import style
from farweb.plot.failures import hollow
from farweb.plot.figure import Axis, Density, Figure, Floats, Panel, Reference, Series

_BAND = 0.17  # opacity of an interval: three that overlap can still be told apart
_FEW_DOTS = 3_000  # chosen: more are drawn smaller, so that they hide less of one another
_ROOM = 1.06  # of an axis that begins at 0: above the highest value
_ROOM_AT_THE_RIGHT = 1.02  # the same, beyond the last one: half a marker


def draw(figure: Figure, out: Path | None = None) -> style.Chart:
    """Paint a figure; save it by the suffix of `out`.

    Raises:
        FarwebError: The suffix is none of png, svg, pdf, html.
        RunError: The file cannot be written.
    """
    with style.look():
        chart = paint(figure)
    if out is not None:
        style.save(chart, out)
    return chart


def paint(figure: Figure) -> style.Chart:
    """The figure as a matplotlib figure; call it inside `style.look()`."""
    chart = style.Chart(figsize=figure.size)
    chart.description = figure
    grid = chart.subplots(
        figure.rows,
        figure.columns,
        sharex=figure.share_x,
        sharey=figure.share_y,
        squeeze=False,
        height_ratios=[figure.panels[row * figure.columns].weight for row in range(figure.rows)],
    )
    cells: list[Axes] = list(grid.flat)
    for place, (axes, panel) in enumerate(zip(cells, figure.panels, strict=False)):
        _panel(axes, panel, figure.size[0] / figure.columns)
        below, left = not figure.share_x or figure.lowest(place), not figure.share_y or figure.leftmost(place)
        axes.tick_params(which="both", labelbottom=below, labelleft=left)
        axes.set_xlabel(style.cut(panel.x.label, 0.85 * figure.size[0] / figure.columns, 9.5) if below else "")
        axes.set_ylabel(style.cut(panel.y.label, 0.8 * figure.size[1] / figure.rows, 9.5) if left else "")
    for axes in cells[len(figure.panels) :]:
        axes.set_visible(False)
    _scale_of_densities(chart, cells, figure)
    width = figure.size[0]
    title = style.cut_name(figure.title, 0.98 * width, 11)
    style.frame(chart, title, figure.caption, _entries(figure), style.cut(figure.legend, 0.95 * width))
    return chart


def _panel(axes: Axes, panel: Panel, width: float) -> None:
    """Draw a panel that is so many inches wide, with what stands beside it."""
    axes.set_xscale("log" if panel.x.scale == "log" else "linear")
    axes.set_yscale("log" if panel.y.scale == "log" else "linear")
    if panel.density is not None:
        _shade(axes, panel.density)
    for number, series in enumerate(panel.series):
        _draw(axes, panel, series, zorder=3 + number / 100)
    for reference in panel.references:
        _compare(axes, reference, panel)
    if panel.title:
        colour = style.INK if panel.index is None else style.series(panel.index)["color"]
        title = "\n".join(style.cut(line, 0.85 * width) for line in panel.title.splitlines())
        axes.set_title(title, color=colour, fontsize=9, fontweight="normal" if panel.index is None else "bold")
    if panel.note:
        axes.set_title(panel.note, loc="right", fontsize=8.5, pad=2)
    _limit(axes, panel)
    _mark(axes.xaxis, panel.x)
    _mark(axes.yaxis, panel.y)
    _name_levels(axes, panel, width)


def _draw(axes: Axes, panel: Panel, series: Series, zorder: float) -> None:
    look = style.series(series.index)
    x, y = series.x / panel.x.one, series.y / panel.y.one
    more: dict[str, Any] = {"color": look["color"], "zorder": zorder, "gid": series.label or None}
    match series.form:
        case "dots":
            size = 14 if len(x) < _FEW_DOTS else 5
            axes.scatter(
                x, y, s=size, alpha=0.35, marker=style.marker(series.index), linewidths=0, rasterized=True, **more
            )
        case "area":
            axes.fill_between(x, y, step="post", alpha=0.25 if series.index is not None else 1, linewidth=0, **more)
        case "bars":
            axes.barh(y, x, height=0.6, left=0 if series.base is None else series.base / panel.x.one, **more)
        case "marks":
            axes.plot(x, y, "o", markersize=4.5, markeredgecolor="white", clip_on=False, **more)
        case "steps" | "line":
            drawn = "steps-post" if series.form == "steps" else "default"
            axes.plot(x, y, drawstyle=drawn, linestyle=look["linestyle"], **more)
        case "points":
            joined = look["linestyle"] if series.joined else ""
            edge: dict[str, Any] = {"markeredgecolor": "white", "markeredgewidth": 0.7}
            axes.plot(x, y, marker=style.marker(series.index), markersize=5.5, linestyle=joined, **edge, **more)
            _hollow(axes, x, y, series, more)
    _spread(axes, panel, series, zorder)


def _hollow(axes: Axes, x: Floats, y: Floats, series: Series, more: Mapping[str, Any]) -> None:
    """Markers without a filling over those of a series where requests failed."""
    empty = hollow(series)
    if not empty.any():
        return
    marker = style.marker(series.index)
    sign = marker if marker in Line2D.filled_markers else "o"  # a cross has nothing to fill
    look = {"markerfacecolor": "white", "markeredgecolor": more["color"], "markeredgewidth": 1.3}
    axes.plot(x[empty], y[empty], sign, markersize=5, zorder=more["zorder"], **look)


def _spread(axes: Axes, panel: Panel, series: Series, zorder: float) -> None:
    """The intervals of a series, behind its line."""
    if series.low is None or series.high is None:
        return
    colour = style.series(series.index)["color"]
    across = panel.y.scale == "category"
    one = panel.x.one if across else panel.y.one
    x, y, low, high = series.x / panel.x.one, series.y / panel.y.one, series.low / one, series.high / one
    if series.interval == "band":
        step = "post" if series.form == "steps" else None
        axes.fill_between(x, low, high, step=step, color=colour, alpha=_BAND, linewidth=0, zorder=zorder - 1)  # type: ignore[arg-type]
        return
    middle = x if across else y
    reach = np.stack((middle - low, high - middle)).clip(min=0)
    bars: dict[str, Any] = {"xerr": reach} if across else {"yerr": reach}
    axes.errorbar(x, y, fmt="none", ecolor=colour, elinewidth=1.1, capsize=2.5, zorder=zorder - 0.001, **bars)


def _compare(axes: Axes, reference: Reference, panel: Panel) -> None:
    look = _look(reference)
    if reference.along == "identity":
        # By its two ends, since a straight line through the origin is none on logarithmic axes.
        ends = np.array(_span(panel.series, panel.x.scale == "log"))
        axes.plot(ends / panel.x.one, ends / panel.y.one, **look)
    elif reference.along == "x":
        axes.axhline(reference.at / panel.y.one, **look)
    else:
        axes.axvline(reference.at / panel.x.one, **look)


def _span(series: Sequence[Series], positive: bool) -> tuple[float, float]:
    """From where to where both values of a series go together: the ends of a line y = x."""
    x = np.concatenate([each.x for each in series])
    return (float(x[x > 0].min()) if positive else 0.0), float(x.max())


def _look(reference: Reference) -> dict[str, Any]:
    own = reference.index is not None
    return {
        "color": style.series(reference.index)["color"] if own else style.QUIET,
        "linestyle": style.COMPARED if reference.along != "identity" else style.IDENTITY,
        "linewidth": 1.2,
        "zorder": 2.5,
        "gid": reference.label or "reference",
    }


def _shade(axes: Axes, density: Density) -> None:
    count = np.ma.masked_equal(density.count, 0)
    axes.pcolormesh(density.x_edges, density.y_edges, count, cmap="Greys", rasterized=True, linewidth=0, zorder=2)


def _scale_of_densities(chart: style.Chart, cells: list[Axes], figure: Figure) -> None:
    """One logarithmic scale of shades for all panels; it begins below 1, so that a single one is grey, not white."""
    shades = [each for axes in cells for each in axes.collections if isinstance(each, QuadMesh)]
    of = [panel.density for panel in figure.panels if panel.density is not None]
    if not of:
        return
    most = max(float(density.count.max()) for density in of)
    for each in shades:
        each.set_norm(LogNorm(0.35, max(most, 2.0)))
    shown = cells[: len(figure.panels)]
    chart.colorbar(shades[0], ax=shown, label=f"{of[0].of} in a cell", shrink=0.7, pad=0.01, format="%g")


def _limit(axes: Axes, panel: Panel) -> None:
    """Limits of both axes: those that the description tells, and room above what begins at 0."""
    for axis, low_high, limit in (
        (panel.x, axes.get_xlim, axes.set_xlim),
        (panel.y, axes.get_ylim, axes.set_ylim),
    ):
        if axis.scale == "category":
            ends = (-0.6, len(axis.levels) - 0.4)
            limit(*(ends if axis is panel.x else reversed(ends)))
            continue
        low, high = (None if end is None else end / axis.one for end in (axis.low, axis.high))
        reached = low_high()[1]
        limit(low, high)
        if low == 0 and high is None and axis is panel.y:
            limit(0, _top(axes, reached))
        elif low == 0 and high is None and axis.scale == "linear":
            # The room that was left at the right is a share of the data's own width, which may be little.
            limit(0, max(reached, _ROOM_AT_THE_RIGHT * axes.dataLim.x1))


def _top(axes: Axes, reached: float) -> float:
    highest = axes.dataLim.y1
    return highest * _ROOM if np.isfinite(highest) and highest > 0 else max(reached, 1.0)


def _mark(mpl_axis: MplAxis, axis: Axis) -> None:
    """Marks along an axis, with the unit in each where the axis spans prefixes."""
    if axis.scale == "log":
        if axis.marks_carry_unit:
            style.counted(mpl_axis, axis.unit)
        else:
            style.log_seconds(mpl_axis)
    elif axis.marks:
        mpl_axis.set_ticks(list(axis.marks))
    elif axis.whole:
        mpl_axis.set_major_locator(MaxNLocator(nbins=3, integer=True))


def _name_levels(axes: Axes, panel: Panel, width: float) -> None:
    """The names of levels at their places; aslant where they do not fit side by side."""
    for axis, mpl_axis in ((panel.x, axes.xaxis), (panel.y, axes.yaxis)):
        if axis.scale == "category":
            names = [style.cut(name, 0.45 * width) for name in axis.levels]
            mpl_axis.set_ticks(list(range(len(names))), names)
            mpl_axis.grid(False)
    if panel.x.scale == "category":
        each = 0.8 * width / len(panel.x.levels)
        if any(style.cut(name, each) != name for name in panel.x.levels):
            axes.tick_params(axis="x", rotation=30)
            for label in axes.get_xticklabels():
                label.set(horizontalalignment="right", rotation_mode="anchor")


def _entries(figure: Figure) -> list[Line2D]:
    """The legend: each label once, in the order in which the panels have them."""
    entries: dict[str, Line2D] = {}
    for panel in figure.panels:
        for series in panel.series:
            if series.label:
                entries.setdefault(series.label, _entry(series, figure.size[0]))
    for panel in figure.panels:
        for reference in panel.references:
            if reference.label:
                look = {key: value for key, value in _look(reference).items() if key not in ("gid", "zorder")}
                entries.setdefault(reference.label, Line2D([], [], label=reference.label, **look))
    return list(entries.values())


def _entry(series: Series, width: float) -> Line2D:
    look = style.series(series.index)
    marker = {"points": style.marker(series.index), "dots": style.marker(series.index), "area": "s", "bars": "s"}
    line: Any = look["linestyle"] if series.form in ("points", "line", "steps") and series.joined else ""
    return Line2D(
        [],
        [],
        color=look["color"],
        linestyle=line,
        marker=marker.get(series.form),
        markeredgecolor="white",
        label=style.cut(series.label, 0.8 * width),
    )
