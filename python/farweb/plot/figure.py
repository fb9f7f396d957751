"""What a figure is, in numbers and words: panels, axes, series, a caption; nothing of how it is painted.

Figures are described here and painted by `paper` (matplotlib: PNG, SVG, PDF) or `browser` (plotly: HTML), so that both
show the same. Values are in base units: s, B, bit/s; an axis chooses the decimal prefix in which it is read.
"""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Scale = Literal["linear", "log", "category"]
Form = Literal["points", "line", "steps", "area", "dots", "marks", "bars"]

_PREFIXES = {"n": 1e-9, "µ": 1e-6, "m": 1e-3, "": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
_PREFIXED = {"s": ("n", "µ", "m", ""), "B": ("", "k", "M", "G", "T"), "bit/s": ("", "k", "M", "G", "T")}


@dataclass(frozen=True)
class Axis:
    """An axis of a panel.

    Attributes:
        quantity: What is on it, in words.
        unit: Base unit of the values: ``s``, ``B``, ``bit/s``, ``%``, or nothing.
        scale: A ``category`` axis has its places at 0, 1, … with the names of `levels`.
        levels: Names of the places of a category axis.
        low: Lower limit in the base unit; None: by the data.
        high: Upper limit in the base unit; None: by the data.
        prefix: Decimal prefix of the unit in which the axis is read; `fitted` chooses it.
        whole: Whether only whole numbers are marked.
        marks: Places that are marked, in the unit in which the axis is read; empty: round numbers.
    """

    quantity: str
    unit: str = ""
    scale: Scale = "linear"
    levels: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    prefix: str = ""
    whole: bool = False
    marks: tuple[float, ...] = ()

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
        """One of what the axis counts in, in the base unit: 1e6 for Mbit/s."""
        return _PREFIXES[self.prefix]

    @property
    def read_in(self) -> str:
        """The unit in which the axis is read: ``Mbit/s``."""
        return self.prefix + self.unit

    @property
    def marks_carry_unit(self) -> bool:
        """Whether each mark has prefix and unit (10 kB), since the axis spans several of them."""
        return self.scale == "log" and self.unit in ("B", "bit/s")

    @property
    def label(self) -> str:
        """What stands beside the axis: quantity and unit."""
        return f"{self.quantity} [{self.read_in}]" if self.read_in and not self.marks_carry_unit else self.quantity


def _largest(values: ArrayLike | None) -> float:
    array = np.abs(np.asarray([] if values is None else values, dtype=np.float64))
    array = array[np.isfinite(array)]
    return float(array.max()) if array.size else 0.0


@dataclass(frozen=True)
class Series:
    """Values that belong together.

    Attributes:
        label: Its name in the legend; empty: it has no entry of its own.
        index: Number of its colour, marker and dash; None: the colour of text; `style.QUIETLY`: the quiet one.
        x: Places along the horizontal axis, in its base unit; a category axis counts its levels from 0.
        y: Values, as many as `x`.
        form: ``points``: markers joined by a line; ``line``: a line without markers; ``steps``: a level that holds
            until the next; ``area``: the same, shaded down to 0; ``dots``: many faint ones; ``marks``: a few that stand
            out; ``bars``: from 0, across a category axis.
        low: Lower ends of the interval of each value, None where there are no intervals.
        high: Upper ends.
        interval: ``band``: shaded between the ends; ``bars``: a bar each.
        n: On how many each value rests; what they are, `Figure.counted` says.
        joined: Whether a line joins ``points``.
        base: Where each of the ``bars`` begins, so that they stand on one another; None: at 0.
        failed: Share of requests that failed or were cut off at each value, whose marker is hollow where that is above
            0; None: none.
    """

    label: str
    index: int | None
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


@dataclass(frozen=True)
class Reference:
    """A straight line to compare with.

    Attributes:
        label: Its name in the legend; empty: it has no entry of its own.
        at: Where it is, in the axis's base unit; not used by ``identity``.
        along: ``x``: horizontal, at a value of y; ``y``: vertical, at a value of x; ``identity``: y = x.
        index: Number of the series whose colour it has; None: the quiet colour of what is only compared with.
    """

    label: str
    at: float = math.nan
    along: Literal["x", "y", "identity"] = "x"
    index: int | None = None


@dataclass(frozen=True)
class Density:
    """How many there are in each cell, where they are too many to be dots.

    Attributes:
        x_edges: Edges of the columns, one more than there are.
        y_edges: Edges of the rows, one more than there are.
        count: Of each row and column.
        of: What is counted.
    """

    x_edges: Floats
    y_edges: Floats
    count: NDArray[np.int64]
    of: str


@dataclass(frozen=True)
class Panel:
    """One pair of axes.

    Attributes:
        x: Horizontal axis.
        y: Vertical axis.
        series: From the back to the front.
        references: Lines to compare with.
        title: Above the panel, at the left; may have several lines.
        note: Above the panel, at the right.
        density: Behind the series.
        index: Number of the series whose colour the title has; None: the colour of text.
        weight: Height of the panel's row, relative to the others.
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


@dataclass(frozen=True)
class Figure:
    """A figure.

    Attributes:
        title: One line: what is drawn.
        caption: What is to be seen, with n, seeds and version.
        panels: By row.
        columns: Panels in a row.
        legend: What the series are: heading of the legend, empty for none.
        counted: What `Series.n` counts: ``replications``, ``requests``.
        size: Width and height on paper, in inches.
        share_x: Whether all panels have the same horizontal axis.
        share_y: Whether all panels have the same vertical axis.
    """

    title: str
    caption: str
    panels: tuple[Panel, ...]
    columns: int = 1
    legend: str = ""
    counted: str = ""
    size: tuple[float, float] = (8.0, 5.0)
    share_x: bool = False
    share_y: bool = False

    @property
    def rows(self) -> int:
        """Rows of panels."""
        return math.ceil(len(self.panels) / self.columns)

    def lowest(self, place: int) -> bool:
        """Whether no panel is below this one, so that a shared horizontal axis is written there."""
        return place + self.columns >= len(self.panels)

    def leftmost(self, place: int) -> bool:
        """Whether this panel is the first of its row."""
        return place % self.columns == 0
