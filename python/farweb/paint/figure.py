"""Figures in numbers and words: panels, axes, series, a caption; nothing of how they are painted.

Figures are described here and painted by `paper`. Values are in base units: s, B, bit/s. An axis chooses its decimal
prefix.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Scale = Literal["linear", "log", "category"]
Form = Literal["points", "line", "steps", "area", "dots", "marks", "bars", "outlines", "spans", "signs"]

_PREFIXES = {"n": 1e-9, "µ": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_PREFIXED = {"s": ("n", "µ", "m", ""), "B": ("", "k", "M", "G", "T"), "bit/s": ("", "k", "M", "G", "T")}

OTHERS = "others"
"""Role of the curves of other panels, behind a panel's own."""

_SPANS = {"s": 1.0, "min": 60.0, "h": 3600.0, "d": 86_400.0}
_SPAN_FROM = {"min": 600.0, "h": 3 * 3600.0, "d": 10 * 86_400.0}
"""Lengths that put an axis of time in minutes, hours, days. Chosen: fewer than ten of a unit say too little, and
hundreds of one are hard to read."""

_SPAN_STEPS = {"min": (1, 2, 5, 10, 15, 30), "h": (1, 2, 3, 6, 12, 24), "d": (1, 2, 7, 14, 28, 91)}
_SPAN_MARKS = 8  # on an axis of time, at most. Chosen: they do not collide in half the width of a figure


@dataclass(frozen=True)
class Axis:
    """An axis of a panel.

    Attributes:
        quantity: Quantity on it, in words.
        unit: Base unit of the values: ``s``, ``B``, ``bit/s``, ``%``, or nothing.
        scale: A ``category`` axis has its places at 0, 1, … with the names of `levels`.
        levels: Names of the places of a category axis.
        rank: Places of the levels by importance, where it is not their order: the last go where there is no room.
        total: Number of levels where only some are drawn; else 0.
        low: Lower limit in the base unit. None: by the data.
        high: Upper limit in the base unit. None: by the data.
        prefix: Decimal prefix of the axis' unit, chosen by `fitted`.
        whole: True when only whole numbers are marked.
        marks: Marked places, in the axis' unit (empty: round numbers).
        span: Unit of an axis of time longer than minutes: ``min``, ``h`` or ``d`` (empty: s, with a decimal prefix).
    """

    quantity: str
    unit: str = ""
    scale: Scale = "linear"
    levels: tuple[str, ...] = ()
    rank: tuple[int, ...] = ()
    total: int = 0
    low: float | None = None
    high: float | None = None
    prefix: str = ""
    whole: bool = False
    marks: tuple[float, ...] = ()
    span: str = ""

    @classmethod
    def of_time(cls, quantity: str, times: ArrayLike) -> "Axis":
        """An axis from the first to the last of some times, in s; read in minutes, hours or days where it is long.

        Marks stand at what clocks and calendars divide their units by: every 6 or 12 h, not every 5,000 s.
        """
        values = np.asarray(times, dtype=np.float64)
        low, high = float(values.min(initial=0.0)), float(values.max()) if values.size else 1.0
        axis = cls(quantity, "s", low=low, high=high)
        fitting = [span for span, length in _SPAN_FROM.items() if high - low >= length]
        if not fitting:
            return axis
        span = fitting[-1]
        first, last = low / _SPANS[span], high / _SPANS[span]
        step = next((each for each in _SPAN_STEPS[span] if (last - first) / each < _SPAN_MARKS), None)
        if step is None:
            return replace(axis, span=span)
        marks = step * np.arange(math.ceil(first / step), last / step + 1e-9)
        return replace(axis, span=span, marks=tuple(float(mark) for mark in marks))

    def fitted(self, *values: ArrayLike | None) -> "Axis":
        """The axis with the prefix that suits the largest of the values.

        A logarithmic axis keeps the base unit: its marks span prefixes, and carry them themselves.
        """
        if self.scale != "linear" or self.unit not in _PREFIXED:
            return self
        largest = max(map(_largest, values), default=0.0)
        fitting = [prefix for prefix in _PREFIXED[self.unit] if _PREFIXES[prefix] <= largest * (1 + 1e-9)]
        return replace(self, prefix=fitting[-1] if fitting else "")

    @property
    def one(self) -> float:
        """One of the axis' unit, in the base unit: 1e6 for Mbit/s."""
        return _SPANS[self.span] if self.span else _PREFIXES[self.prefix]

    @property
    def read_in(self) -> str:
        """The axis' unit: ``Mbit/s``."""
        return self.span or self.prefix + self.unit

    @property
    def marks_carry_unit(self) -> bool:
        """True when each mark has prefix and unit (10 kB), since the axis spans several of them."""
        return self.scale == "log" and self.unit in ("B", "bit/s")

    @property
    def label(self) -> str:
        """Text beside the axis: quantity and unit, or how many levels are drawn where these are not all."""
        if self.total:
            return f"{len(self.levels)} of {self.total} drawn"
        return f"{self.quantity} [{self.read_in}]" if self.read_in and not self.marks_carry_unit else self.quantity


def _largest(values: ArrayLike | None) -> float:
    array = np.abs(np.asarray([] if values is None else values, dtype=np.float64))
    array = array[np.isfinite(array)]
    return float(array.max()) if array.size else 0.0


@dataclass(frozen=True)
class Series:
    """Values that belong together.

    Attributes:
        label: Its name in the legend (empty: it has no entry of its own).
        index: Number of its colour, marker and dash. None: the colour of text; `style.QUIETLY`: the quiet one. Of a
            series of a role, such as acknowledgements, the name of the role in `style.ROLES`.
        x: Places along the horizontal axis, in its base unit; a category axis counts its levels from 0.
        y: Values, as many as `x`.
        form: ``points``: markers joined by a line; ``line``: a line without markers; ``steps``: a level that holds
            until the next; ``area``: the same, shaded down to 0; ``dots``: many faint ones; ``marks``: a few that stand
            out; ``bars``: from 0, across a category axis; ``outlines``: bars without filling; ``spans``: upright
            strokes from `low` to `high`; ``signs``: each with the marker `sign`.
        low: Lower ends of the interval of each value, None where there are no intervals.
        high: Upper ends.
        interval: ``band``: shaded between the ends; ``bars``: a bar each.
        n: Number of things (`Figure.counted`) behind each value.
        joined: True when a line joins ``points``.
        base: Beginning of each of the ``bars``, for bars on one another. None: at 0.
        failed: Share of requests that failed or were cut off at each value: above 0 its marker is hollow. None: none.
        shade: Of levels of one number, the place among them, from 0 (the least) to 1: the series has a colour of the
            scale from light to dark instead of its index's. None: it is one of several kinds.
        detail: Text behind the label in the legend.
        part: Which of several it shows, unless the label says so: ``mean``, ``peak``; for readers of its numbers.
        sign: Marker of ``signs``, as matplotlib names it.
        names: Words beside the values, as many as `x` (empty: none).
    """

    label: str
    index: int | str | None
    x: Floats
    y: Floats
    form: Form = "points"
    low: Floats | None = None
    high: Floats | None = None
    interval: Literal["band", "bars"] = "band"
    n: NDArray[np.int64] | None = None
    joined: bool = True
    base: Floats | None = None
    failed: Floats | None = None
    shade: float | None = None
    detail: str = ""
    part: str = ""
    sign: str = "o"
    names: tuple[str, ...] = ()

    @property
    def hollow(self) -> NDArray[np.bool_]:
        """Which values have a hollow marker."""
        return np.zeros(len(self.x), bool) if self.failed is None else self.failed > 0


@dataclass(frozen=True)
class Reference:
    """A straight line to compare with.

    Attributes:
        label: Its name in the legend (empty: it has no entry of its own).
        at: Where it is, in the axis's base unit; not used by ``identity``.
        along: ``x``: horizontal, at a value of y; ``y``: vertical, at a value of x; ``identity``: y = x.
        index: Number of the series with the same colour. None: the quiet colour of mere references.
        shade: The series' own, where it has one.
    """

    label: str
    at: float = math.nan
    along: Literal["x", "y", "identity"] = "x"
    index: int | None = None
    shade: float | None = None


@dataclass(frozen=True)
class Phase:
    """A stretch of the horizontal axis, shaded over the height of the panel.

    Attributes:
        label: Its name in the legend; phases of one name share an entry.
        begin: Where it begins, in the axis's base unit.
        end: Where it ends.
        role: Name of its colour in `style.SHADES`.
    """

    label: str
    begin: float
    end: float
    role: str


@dataclass(frozen=True)
class Density:
    """Counts by cell, of more things than dots could show.

    Attributes:
        x_edges: Edges of the columns, one more than there are.
        y_edges: Edges of the rows, one more than there are.
        count: Of each row and column.
        of: The things counted.
    """

    x_edges: Floats
    y_edges: Floats
    count: NDArray[np.int64]
    of: str


AROUND = 1.4
"""Inches of title, legend and caption in the sizes of figures."""

_USUAL = 4.8  # inches: narrower figures have smaller letters. Chosen: half the width of a page
_SMALLEST = 0.7  # of the letters of wide figures. Chosen: 6.7 points, which journals print

INSETS = {"upper left": (0.07, 0.52, 0.42, 0.38), "lower right": (0.56, 0.1, 0.42, 0.38)}
"""Left, bottom, width and height of insets, as parts of their panel, by corner."""


@dataclass(frozen=True)
class Panel:
    """One pair of axes.

    Attributes:
        x: Horizontal axis.
        y: Vertical axis.
        series: From the back to the front.
        references: Lines to compare with.
        phases: Times shaded behind the series.
        rounds: Where round trips begin, along the horizontal axis; counted along the upper edge.
        inset: A part of the panel, enlarged in a corner of it.
        inset_at: The corner, one of `INSETS`.
        title: Above the panel, at the left; may have several lines.
        note: Above the panel, at the right.
        density: Behind the series.
        index: Number of the series with the title's colour. None: the colour of text.
        weight: Height of the panel's row, relative to the others.
        is_spare: True when it goes first where there is no room for all.
    """

    x: Axis
    y: Axis
    series: tuple[Series, ...]
    references: tuple[Reference, ...] = ()
    title: str = ""
    note: str = ""
    density: Density | None = None
    index: int | None = None
    weight: float = 1.0
    is_spare: bool = False
    phases: tuple[Phase, ...] = ()
    rounds: tuple[float, ...] = ()
    inset: "Panel | None" = None
    inset_at: str = "upper left"


@dataclass(frozen=True)
class Figure:
    """A figure.

    Attributes:
        title: One line: the subject.
        caption: Caption, with n, seeds and version.
        panels: By row.
        columns: Panels in a row.
        legend: Heading of the legend, empty for none.
        counted: Units of `Series.n`: ``replications``, ``requests``.
        size: Width and height on paper, in inches.
        share_x: True when all panels have the same horizontal axis; ``columns``: those below one another.
        share_y: True when all panels have the same vertical axis; ``columns``: those below one another.
        exact: True when `size` is the whole figure's; else it grows by long captions and legends.
        judged: Judgements of the caption, as plain values.
    """

    title: str
    caption: str
    panels: tuple[Panel, ...]
    columns: int = 1
    legend: str = ""
    counted: str = ""
    size: tuple[float, float] = (8.0, 5.0)
    share_x: bool | Literal["columns"] = False
    share_y: bool | Literal["columns"] = False
    exact: bool = False
    judged: tuple[Mapping[str, Any], ...] = ()

    @property
    def letters(self) -> float:
        """Height of its letters by that in a figure of usual width: a column of a paper has small ones."""
        return min(1.0, max(_SMALLEST, self.size[0] / _USUAL))

    @property
    def is_tight(self) -> bool:
        """True of a size that may have no room for all of it: one that is asked for, or that has small letters."""
        return self.exact or self.letters < 1

    @property
    def rows(self) -> int:
        """Rows of panels."""
        return math.ceil(len(self.panels) / self.columns)

    def writes_x(self, place: int) -> bool:
        """True where marks and name of the horizontal axis stand: at the lowest panel that shares it."""
        return not self.share_x or place + self.columns >= len(self.panels)

    def writes_y(self, place: int) -> bool:
        """True where marks and name of the vertical axis stand: at the first panel of a row that shares it."""
        return self.share_y is not True or place % self.columns == 0
