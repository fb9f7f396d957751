"""The painter of figures: a description drawn with matplotlib."""

import math
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from farweb.paint import chart  # first: it sees to matplotlib

# isort: split

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axes._secondary_axes import SecondaryAxis
from matplotlib.collections import LineCollection, QuadMesh
from matplotlib.colors import LogNorm

from farweb.paint import names, style
from farweb.paint.figure import INSETS, OTHERS, Density, Figure, Floats, Panel, Reference, Series
from farweb.paint.letters import TEXT, clipped, points, wrapped
from farweb.paint.letters import width as width_of
from farweb.paint.marks import mark
from farweb.paint.presentation import Presentation, within_bounds
from farweb.paint.room import fewer, left_out

_BAND = 0.17  # opacity of an interval: three that overlap can still be distinguished
_FEW_DOTS = 3_000  # chosen: more are drawn smaller, and hide less of one another
_ROOM = 1.06  # of an axis that begins at 0: above the highest value
_ROOM_AT_THE_RIGHT = 1.02  # the same, beyond the last one: half a marker
_BEHIND = 0.7  # points: width of the curves of other panels. Chosen: many of them are no grey area
_ROUND_POINTS = 7.5  # height of the numbers of round trips
_LOW = 1.25  # inches: a lower row of a figure that keeps its size has no room for names beside its panels (chosen)
_SMALL_POINTS = 6.5  # letters of such a row
_OVER = 1.15  # of axes upright: their name may be a little longer (chosen)
_ALIKE = 1e-6  # of a value: ends of a logarithmic axis that are closer differ by rounding
_DECADE = math.sqrt(10)  # from one value to either end of its axis


def draw(figure: Figure, out: Path | None = None, presentation: Presentation | None = None) -> chart.Chart:
    """Paint a figure; save it by the suffix of `out`.

    Raises:
        FarwebError: The suffix is none of png, svg, pdf, html; or the figure has no such label.
        RunError: The file cannot be written.
    """
    painted = paint(within_bounds(figure if presentation is None else presentation.of(figure)))
    if out is not None:
        chart.save(painted, out)
    return painted


def paint(figure: Figure) -> chart.Chart:
    """The figure as a matplotlib figure; a tight one leaves out panels and levels without room."""
    with chart.look(figure.letters):
        painted = _painted(figure)
        while figure.is_tight and (less := fewer(painted.drawn, _sizes(painted))) is not None:
            painted = _painted(less)
        painted.left_out = left_out(figure, painted.drawn, painted.left_out)
        painted.description = figure
        return painted


def _sizes(painted: chart.Chart) -> list[tuple[float, float]]:
    """Width and height of the axes of each panel as the layout has them, in inches; nothing where it finds no place."""
    engine = painted.get_layout_engine()
    assert engine is not None, "a chart has a layout"
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        engine.execute(painted)
    if any("not applied" in str(each.message) for each in said):
        return [(0.0, 0.0)] * len(painted.drawn.panels)
    boxes = [axes.get_window_extent() for axes in painted.axes[: len(painted.drawn.panels)]]
    return [(box.width / painted.dpi, box.height / painted.dpi) for box in boxes]


def _painted(figure: Figure) -> chart.Chart:
    painted = chart.Chart(figsize=figure.size)
    painted.description = painted.drawn = figure
    grid = painted.subplots(
        figure.rows,
        figure.columns,
        sharex="col" if figure.share_x == "columns" else figure.share_x,
        sharey="col" if figure.share_y == "columns" else figure.share_y,
        squeeze=False,
        height_ratios=[figure.panels[row * figure.columns].weight for row in range(figure.rows)],
    )
    cells: list[Axes] = list(grid.flat)
    width, height = figure.size[0] / figure.columns, figure.size[1] / figure.rows
    drawn = list(zip(cells, figure.panels, strict=False))
    for axes, panel in drawn:
        _contents(axes, panel)
    for place, (axes, panel) in enumerate(drawn):  # shared axes fit all panels
        _limit(axes, panel)
        mark(axes.xaxis, panel.x)
        mark(axes.yaxis, panel.y)
        names.name_levels(axes, panel, width, math.inf)
        axes.tick_params(which="both", labelbottom=figure.writes_x(place), labelleft=figure.writes_y(place))
        if panel.rounds:
            _count_rounds(axes, panel, named=figure.writes_y(place))
        _name(axes, figure, place, (0.85 * width, 0.75 * height))
        if panel.inset is not None:
            _enlarge(axes, panel.inset, panel.inset_at)
    for axes in cells[len(figure.panels) :]:
        axes.set_visible(False)
    _scale_of_densities(painted, cells, figure)
    heading = wrapped(figure.legend, 0.95 * figure.size[0], points(9))
    entries = names.entries(figure)
    if names.labelled_at_ends(figure):
        names.label_ends(cells[0], figure)
        entries = [
            entry for entry in entries if entry.get_label() in {each.label for each in figure.panels[0].references}
        ]
        heading = ""
    painted.left_out = chart.frame(painted, figure.title, figure.caption, entries, heading, exact=figure.exact)
    if figure.is_tight:
        for place, ((axes, panel), (across, up)) in enumerate(zip(drawn, _sizes(painted), strict=True)):
            _name(axes, figure, place, (across, _OVER * up))
            names.name_levels(axes, panel, width, up)
    _settle(painted, drawn)
    return painted


def _contents(axes: Axes, panel: Panel) -> None:
    """Draw the content of a panel. Its limits and marks follow once all panels are drawn."""
    axes.set_xscale("log" if panel.x.scale == "log" else "linear")
    axes.set_yscale("log" if panel.y.scale == "log" else "linear")
    for phase in panel.phases:
        colour, opacity = style.SHADES[phase.role]
        ends = phase.begin / panel.x.one, phase.end / panel.x.one
        axes.axvspan(*ends, color=colour, alpha=opacity, linewidth=0, zorder=1, gid=phase.label)
    if panel.density is not None:
        _shade(axes, panel.density)
    for number, series in enumerate(panel.series):
        _draw(axes, panel, series, zorder=3 + number / 100)
    for reference in panel.references:
        _compare(axes, reference, panel)


def _name(axes: Axes, figure: Figure, place: int, room: tuple[float, float]) -> None:
    """Write the title and the names of the axes of a panel, in lines of so many inches across and upright."""
    panel, (across, up) = figure.panels[place], room
    below = panel.x.label if figure.writes_x(place) else ""
    left = panel.y.label if figure.writes_y(place) else ""
    if figure.is_tight and figure.rows > 1 and figure.size[1] / figure.rows < _LOW:
        _crowd(axes, panel, across, left)
    else:
        if panel.title:
            colour = style.INK if panel.index is None else style.series(panel.index)["color"]
            weight = "normal" if panel.index is None else "bold"
            axes.set_title(wrapped(panel.title, across, points(9)), color=colour, fontsize=points(9), fontweight=weight)
        if panel.note:
            note = wrapped(panel.note, across, points(8.5))
            axes.set_title(note, loc="right", fontsize=points(8.5), pad=2)
        axes.set_ylabel(wrapped(left, up, points(TEXT)))
    axes.set_xlabel(wrapped(below, across, points(TEXT)))


def _crowd(axes: Axes, panel: Panel, room: float, name: str) -> None:
    """Write above a low panel, in small letters, its title, and the name of its axis, with the note where that fits."""
    both = ", ".join(filter(None, (name, panel.note)))
    said = panel.title.split("\n")[0], both if width_of(both, _SMALL_POINTS) <= room else name or panel.note
    lines = [clipped(line, room, _SMALL_POINTS) for line in said if line]
    axes.set_title("\n".join(lines), fontsize=_SMALL_POINTS, pad=1)
    axes.tick_params(which="both", labelsize=_SMALL_POINTS, pad=1)


def _count_rounds(axes: Axes, panel: Panel, *, named: bool) -> None:
    """A tick for each round trip along the upper edge; `_settle` numbers them when the axes have their width."""
    upper = axes.secondary_xaxis("top")
    begins = [begin / panel.x.one for begin in panel.rounds]
    upper.set_xticks(begins, minor=True)
    upper.set_xticks(begins[:1], ["1"])
    upper.tick_params(which="both", labelsize=points(_ROUND_POINTS), length=2.5, pad=1)
    upper.spines["top"].set_visible(False)
    if named:
        place: dict[str, Any] = {"xycoords": axes.get_xaxis_transform(), "textcoords": "offset points"}
        letters = points(_ROUND_POINTS)
        axes.annotate("round trip", (begins[0], 1), xytext=(-letters, 3.5), ha="right", fontsize=letters, **place)


def _settle(painted: chart.Chart, drawn: Sequence[tuple[Axes, Panel]]) -> None:
    """Write the numbers of round trips and names of values, as many as stand apart where the layout puts the axes."""
    engine = painted.get_layout_engine()
    if engine is None or not any(panel.rounds or any(each.names for each in panel.series) for _, panel in drawn):
        return
    engine.execute(painted)
    for axes, panel in drawn:
        if panel.rounds:
            _number_rounds(axes, panel)
        names.keep_apart([axes, *(each for each in axes.child_axes if isinstance(each, Axes))])


def _number_rounds(axes: Axes, panel: Panel) -> None:
    """Write the numbers of round trips, as many as stand side by side."""
    begins = [begin / panel.x.one for begin in panel.rounds]
    places = axes.transData.transform([(begin, 0.0) for begin in begins])[:, 0] / axes.figure.dpi
    numbers: dict[float, str] = {}
    free = -math.inf
    for number, (begin, place) in enumerate(zip(begins, places, strict=True), 1):
        half = width_of(f"{number} ", points(_ROUND_POINTS)) / 2
        if place - half >= free:
            numbers[begin] = str(number)
            free = place + half
    (upper,) = (each for each in axes.child_axes if isinstance(each, SecondaryAxis))
    upper.set_xticks(list(numbers), list(numbers.values()))


def _enlarge(axes: Axes, panel: Panel, place: str) -> None:
    """Draw a part of a panel in a corner of it, and mark where it is of."""
    inset = axes.inset_axes(INSETS[place], zorder=7)
    _contents(inset, panel)
    _limit(inset, panel)
    mark(inset.xaxis, panel.x)
    mark(inset.yaxis, panel.y)
    inset.tick_params(labelsize=points(7))
    inset.set_facecolor("white")
    inset.set_title(panel.title, fontsize=points(8), pad=3)
    axes.indicate_inset_zoom(inset, edgecolor=style.QUIET)


def _draw(axes: Axes, panel: Panel, series: Series, zorder: float) -> None:
    look = style.series(series.index, series.shade)
    marker = style.marker(series.index, series.shade)
    x, y = series.x / panel.x.one, series.y / panel.y.one
    more: dict[str, Any] = {"color": look["color"], "zorder": zorder, "gid": series.part or series.label or None}
    match series.form:
        case "dots":
            size = 14 if len(x) < _FEW_DOTS else 5
            axes.scatter(x, y, s=size, alpha=0.35, marker=marker, linewidths=0, rasterized=True, **more)
        case "area":
            axes.fill_between(x, y, step="post", alpha=0.25 if series.index is not None else 1, linewidth=0, **more)
        case "bars":
            axes.barh(y, x, height=0.6, left=0 if series.base is None else series.base / panel.x.one, **more)
        case "outlines":
            base = 0 if series.base is None else series.base / panel.x.one
            axes.barh(y, x, height=0.8, left=base, fill=False, edgecolor=more.pop("color"), linewidth=1.2, **more)
        case "marks":
            axes.plot(x, y, marker, markersize=4.5, markeredgecolor="white", clip_on=False, **more)
        case "signs":
            axes.plot(x, y, marker=series.sign, markersize=6, markeredgewidth=1.5, linestyle="", **more)
        case "spans":
            _stroke(axes, panel, series, more)
            return
        case "steps" | "line":
            more |= {"linewidth": _BEHIND} if series.index == OTHERS else {}
            drawn = "steps-post" if series.form == "steps" else "default"
            axes.plot(x, y, drawstyle=drawn, linestyle=look["linestyle"], **more)
        case "points":
            joined = look["linestyle"] if series.joined else ""
            edge: dict[str, Any] = {"markeredgecolor": "white", "markeredgewidth": 0.7}
            axes.plot(x, y, marker=marker, markersize=5.5, linestyle=joined, **edge, **more)
            _hollow(axes, x, y, series, {**more, "marker": marker})
    for at_x, at_y, name in zip(x, y, series.names, strict=bool(series.names)):
        if name:
            names.write(axes, name, (at_x, at_y), (3, 4), look["color"], "bottom")
    _spread(axes, panel, series, zorder)


def _hollow(axes: Axes, x: Floats, y: Floats, series: Series, more: Mapping[str, Any]) -> None:
    """Markers without a filling over a series' own where requests failed."""
    empty = series.hollow
    if not empty.any():
        return
    look: dict[str, Any] = {"markerfacecolor": "white", "markeredgewidth": 1.3, "markersize": 5, "linestyle": ""}
    axes.plot(x[empty], y[empty], **look, **more)


def _stroke(axes: Axes, panel: Panel, series: Series, look: dict[str, Any]) -> None:
    """Upright strokes; selective acknowledgements are thin, with a foot at either end."""
    if series.low is None or series.high is None:
        return
    x = series.x / panel.x.one
    ends = [end / panel.y.one for end in (series.low, series.high)]
    strokes = np.stack([np.column_stack((x, end)) for end in ends], axis=1)
    thin = series.index == "sack"
    axes.add_collection(LineCollection(list(strokes), linewidths=0.9 if thin else 2.2, **look))
    axes.update_datalim(strokes.reshape(-1, 2))
    for end in ends if thin else ():
        foot = {"color": look["color"], "zorder": look["zorder"]}
        axes.plot(x, end, linestyle="", marker="_", markersize=3.5, markeredgewidth=0.9, **foot)


def _spread(axes: Axes, panel: Panel, series: Series, zorder: float) -> None:
    """The intervals of a series, behind its line."""
    if series.low is None or series.high is None:
        return
    colour = style.series(series.index, series.shade)["color"]
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
    look = names.look_of(reference)
    if reference.along == "identity":
        # By its two ends, since a straight line through the origin is none on logarithmic axes.
        ends = np.array(_span(panel.series, panel.x.scale == "log"))
        axes.plot(ends / panel.x.one, ends / panel.y.one, **look)
    elif reference.along == "x":
        axes.axhline(reference.at / panel.y.one, **look)
    else:
        axes.axvline(reference.at / panel.x.one, **look)


def _span(series: Sequence[Series], positive: bool) -> tuple[float, float]:
    """Ends of a line y = x: from where to where both values of a series go together."""
    x = np.concatenate([each.x for each in series])
    return (float(x[x > 0].min()) if positive else 0.0), float(x.max())


def _shade(axes: Axes, density: Density) -> None:
    count = np.ma.masked_equal(density.count, 0)
    axes.pcolormesh(density.x_edges, density.y_edges, count, cmap="Greys", rasterized=True, linewidth=0, zorder=2)


def _scale_of_densities(painted: chart.Chart, cells: list[Axes], figure: Figure) -> None:
    """One logarithmic scale of shades for all panels; it begins below 1: a single one is grey, not white."""
    shades = [each for axes in cells for each in axes.collections if isinstance(each, QuadMesh)]
    of = [panel.density for panel in figure.panels if panel.density is not None]
    if not of:
        return
    most = max(float(density.count.max()) for density in of)
    for each in shades:
        each.set_norm(LogNorm(0.35, max(most, 2.0)))
    shown = cells[: len(figure.panels)]
    painted.colorbar(shades[0], ax=shown, label=f"{of[0].of} in a cell", shrink=0.7, pad=0.01, format="%g")


def _limit(axes: Axes, panel: Panel) -> None:
    """Limits of both axes: the description's, and room above an axis from 0."""
    for axis, shared, low_high, limit in (
        (panel.x, axes.get_shared_x_axes(), axes.get_xlim, axes.set_xlim),
        (panel.y, axes.get_shared_y_axes(), axes.get_ylim, axes.set_ylim),
    ):
        if axis.scale == "category":
            ends = (-0.6, len(axis.levels) - 0.4)
            limit(*(ends if axis is panel.x else reversed(ends)))
            continue
        low, high = (None if end is None else end / axis.one for end in (axis.low, axis.high))
        reached = low_high()[1]
        if low is None and high is None:
            if axis.scale == "log" and reached < low_high()[0] * (1 + _ALIKE):
                limit(reached / _DECADE, reached * _DECADE)
            continue  # other limits would cut off later panels' data
        limit(low, high)
        alike = [each for each in shared.get_siblings(axes) if isinstance(each, Axes)]
        if low == 0 and high is None and axis is panel.y:
            limit(0, _top([each.dataLim.y1 for each in alike], reached))
        elif low == 0 and high is None and axis.scale == "linear":
            # The room that was left at the right is a share of the data's own width, which may be little.
            limit(0, max(reached, *(_ROOM_AT_THE_RIGHT * each.dataLim.x1 for each in alike)))


def _top(ends: Sequence[float], reached: float) -> float:
    highest = max((end for end in ends if np.isfinite(end)), default=0.0)
    return highest * _ROOM if highest > 0 else max(reached, 1.0)
