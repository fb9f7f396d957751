"""Names on paper: of levels along an axis, in a legend, beside the ends of curves, beside single values."""

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from farweb.paint import style
from farweb.paint.figure import Figure, Panel, Reference, Series
from farweb.paint.letters import TEXT, clipped, points, wrapped
from farweb.paint.room import LEVEL

_ENDS_ALIKE = 0.9  # of the last end: curves beyond it end at the same place. Chosen: their names are near it
_LINE = 1.15  # height of a line, in heights of its letters
_LABEL_POINTS = 12.5  # from one name at the end of a curve to the next


def labelled_at_ends(figure: Figure) -> bool:
    """True when curves have their names at their ends: levels of a number, in one panel, that end at the same place."""
    series = figure.panels[0].series
    if len(figure.panels) > 1 or all(each.shade is None for each in series) or not all(each.x.size for each in series):
        return False
    ends = [float(each.x[-1]) for each in series]
    alike = min(ends) >= _ENDS_ALIKE * max(ends)
    return alike and all(each.form == "points" and each.joined for each in series)


def label_ends(axes: Axes, figure: Figure) -> None:
    """Write the names of curves beside their ends, close ones apart, below their heading."""
    (panel,) = figure.panels
    named = [series for series in panel.series if series.label]
    right = max(float(series.x[-1]) for series in named) / panel.x.one
    ends = [float(series.y[-1]) / panel.y.one for series in named]
    height = axes.get_window_extent().height * 72 / axes.figure.dpi
    to_axes = axes.transData + axes.transAxes.inverted()
    heights = [float(to_axes.transform((right, end))[1]) * height for end in ends]
    places = _apart(heights)
    for series, end, height, place in zip(named, ends, heights, places, strict=True):
        colour = style.series(series.index, series.shade)["color"]
        write(axes, series.label, (right, end), (8, place - height), colour, "center")
    if figure.legend:
        top = max(range(len(named)), key=lambda number: places[number])
        above = places[top] - heights[top] + points(_LABEL_POINTS)
        write(axes, figure.legend, (right, ends[top]), (8, above), style.QUIET, "center")


def _apart(heights: Sequence[float]) -> list[float]:
    """Places of names nearest to the heights that they are for, `_LABEL_POINTS` apart at least, all in points."""
    groups: list[list[int]] = []
    apart = points(_LABEL_POINTS)

    def lowest(group: Sequence[int]) -> float:
        middle = sum(heights[number] for number in group) / len(group)
        return middle - apart * (len(group) - 1) / 2

    for number in sorted(range(len(heights)), key=lambda number: (round(heights[number]), number)):
        groups.append([number])
        while len(groups) > 1 and lowest(groups[-1]) < lowest(groups[-2]) + apart * len(groups[-2]):
            groups[-2:] = [groups[-2] + groups[-1]]
    places = {number: lowest(group) + apart * place for group in groups for place, number in enumerate(group)}
    return [places[number] for number in range(len(heights))]


def write(
    axes: Axes, text: str, place: tuple[float, float], offset: tuple[float, float], colour: str, across: str
) -> None:
    """Write beside a place; with a white edge, readable across the lines."""
    axes.annotate(
        text,
        place,
        xytext=offset,
        textcoords="offset points",
        va=across,
        color=colour,
        fontsize=points(8.5),
        zorder=6,
        path_effects=[withStroke(linewidth=2.5, foreground="white")],
    )


def keep_apart(parts: Sequence[Axes]) -> None:
    """Hide words in a panel and its insets that would stand on a title, on the name of an axis or on one another."""
    texts = [child for axes in parts for child in axes.get_children() if isinstance(child, Text)]
    written = [text for axes in parts for text in axes.texts]
    others = [*(text for text in texts if text not in written), *(axes.yaxis.label for axes in parts)]
    kept: list[Bbox] = [text.get_window_extent() for text in others if text.get_text()]
    for text in written:
        box = text.get_window_extent()
        text.set_visible(not any(box.overlaps(other) for other in kept))
        kept += [box] if text.get_visible() else []


def name_levels(axes: Axes, panel: Panel, width: float, height: float) -> None:
    """The names of levels at their places; aslant, or in small letters, where axes so high have no room."""
    usual = points(TEXT)
    for axis, mpl_axis in ((panel.x, axes.xaxis), (panel.y, axes.yaxis)):
        if axis.scale == "category":
            levels = [_indented(name, 0.42 * width, usual) for name in axis.levels]
            each = 72 * height / len(levels)
            if axis is panel.y and any(_LINE * usual * (1 + name.count("\n")) > each for name in levels):
                small = max(LEVEL / _LINE, min(usual, each / _LINE))
                levels = [clipped(name, 0.42 * width, small) for name in axis.levels]
                axes.tick_params(axis="y", labelsize=small, pad=1)
            mpl_axis.set_ticks(list(range(len(levels))), levels)
            mpl_axis.grid(False)
    if panel.y.scale == "category" and any(name != name.lstrip() for name in panel.y.levels):
        _align_left(axes)
    if panel.x.scale == "category":
        each = 0.8 * width / len(panel.x.levels)
        if any(wrapped(name, each, usual) != name for name in panel.x.levels):
            axes.tick_params(axis="x", rotation=30)
            for label in axes.get_xticklabels():
                label.set(horizontalalignment="right", rotation_mode="anchor")


def _align_left(axes: Axes) -> None:
    """Let the names of levels begin below one another: indents are seen."""
    labels = axes.get_yticklabels()
    widest = max((label.get_window_extent().width for label in labels), default=0.0) * 72 / axes.figure.dpi
    axes.tick_params(axis="y", pad=widest + 3.5)
    for label in labels:
        label.set(horizontalalignment="left", multialignment="left")


def _indented(name: str, room: float, letters: float) -> str:
    """A name in as many lines as it takes, all of them as far to the right as the first."""
    indent = name[: len(name) - len(name.lstrip())]
    return "\n".join(indent + line for line in wrapped(name.strip(), room, letters).splitlines())


def entries(figure: Figure) -> list[Line2D]:
    """The legend: each label once, in the order of the panels."""
    entries: dict[str, Line2D] = {}
    for panel in figure.panels:
        dotted = {(series.index, series.shade) for series in panel.series if series.form == "marks"}
        for series in panel.series:
            if series.label:
                entry = _entry(series, figure.size[0], dotted=(series.index, series.shade) in dotted)
                entries.setdefault(series.label, entry)
        for phase in panel.phases:
            colour, opacity = style.SHADES[phase.role]
            square: dict[str, Any] = {"marker": "s", "markersize": 9, "linestyle": "", "alpha": 2 * opacity}
            entries.setdefault(phase.label, Line2D([], [], color=colour, label=phase.label, **square))
    for panel in figure.panels:
        for reference in panel.references:
            if reference.label:
                look = {key: value for key, value in look_of(reference).items() if key not in ("gid", "zorder")}
                entries.setdefault(reference.label, Line2D([], [], label=reference.label, **look))
    return list(entries.values())


def _entry(series: Series, width: float, *, dotted: bool) -> Line2D:
    """An entry of the legend, in a figure so many inches wide; `dotted`: marks stand on its curve."""
    look = style.series(series.index, series.shade)
    own = style.marker(series.index, series.shade)
    square = dict.fromkeys(("area", "bars", "outlines"), "s")
    marker = {**square, **dict.fromkeys(("points", "dots", "marks"), own), "spans": "|", "signs": series.sign}
    line: Any = look["linestyle"] if series.form in ("points", "line", "steps") and series.joined else ""
    stroke = series.form in ("spans", "signs", "outlines")
    return Line2D(
        [],
        [],
        color=look["color"],
        linestyle=line,
        marker=own if dotted else marker.get(series.form),
        markersize=10 if series.form == "spans" else None,
        fillstyle="none" if series.form == "outlines" else None,
        markeredgewidth=1.5 if stroke else None,
        markeredgecolor=look["color"] if stroke else "white",
        alpha=0.4 if series.form == "area" and series.index is not None else None,
        label=wrapped(f"{series.label}{series.detail}", 0.8 * width, points(9)),
    )


def look_of(reference: Reference) -> dict[str, Any]:
    """Colour and dash of a line to compare with, and its name for whoever looks it up."""
    own = reference.index is not None
    return {
        "color": style.series(reference.index, reference.shade)["color"] if own else style.QUIET,
        "linestyle": style.COMPARED if reference.along != "identity" else style.IDENTITY,
        "linewidth": 1.2,
        "zorder": 2.5,
        "gid": reference.label or "reference",
    }
