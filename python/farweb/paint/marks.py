"""Marks along axes: as many as have room for their labels side by side, and two at least where that is possible."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axis import Axis as MplAxis
from matplotlib.ticker import (
    AutoLocator,
    EngFormatter,
    FixedLocator,
    FuncFormatter,
    Locator,
    LogLocator,
    MaxNLocator,
    NullFormatter,
)

from farweb.paint.figure import Axis
from farweb.paint.letters import TEXT, points, width
from farweb.paint.style import FEW_DECADES
from farweb.text.quantities import plain

_FEW_SIZES = 30
"""Factor up to which an axis of sizes, with a unit in its labels, has room for 2 and 5 (chosen)."""

_BETWEEN = {"x": 0.5, "y": 0.2}
"""Least room between two labels, in heights of their letters. Chosen: digits side by side are no longer number."""


class Apart(Locator):
    """The first of several sets of marks with two or more in view whose labels stand apart; else the last."""

    def __init__(self, sets: Sequence[Locator]) -> None:
        self._sets = sets

    def set_axis(self, axis: Any) -> None:
        """Mark this axis."""
        super().set_axis(axis)
        for each in self._sets:
            each.set_axis(axis)

    def tick_values(self, vmin: float, vmax: float) -> Sequence[float]:
        """The fullest set between two values, whatever room they have."""
        return self._sets[0].tick_values(vmin, vmax)

    def __call__(self) -> Sequence[float]:
        """The places of the marks."""
        marks: Sequence[float] = ()
        for each in self._sets:
            marks = each()
            if self._stand_apart(marks):
                break
        return marks

    def _stand_apart(self, marks: Sequence[float]) -> bool:
        axis: Any = self.axis
        low, high = sorted(axis.get_view_interval())
        inside = [mark for mark in marks if low <= mark <= high]
        if len(inside) < 2:
            return False
        across, along = axis.axis_name, axis.axes.get_xaxis_transform()
        at = np.column_stack((inside, np.zeros(len(inside))))
        if across == "y":
            along, at = axis.axes.get_yaxis_transform(), at[:, ::-1]
        places = along.transform(at)[:, 0 if across == "x" else 1] / axis.axes.figure.dpi
        letters = axis.get_tick_params().get("labelsize", points(TEXT))
        labels = axis.get_major_formatter().format_ticks(inside)
        lengths = [width(label, letters) if across == "x" else letters / 72 for label in labels]
        halves = (np.array(lengths) + _BETWEEN[across] * letters / 72) / 2
        return bool((np.diff(places) >= halves[:-1] + halves[1:]).all())


class Ends(Locator):
    """The first and the last round number in view: of an axis with room for two marks only."""

    def tick_values(self, vmin: float, vmax: float) -> Sequence[float]:
        """Multiples of the power of ten that is no larger than the distance of two values, nearest to them."""
        one = 10.0 ** math.floor(math.log10(vmax - vmin)) if vmax > vmin else 1.0
        return [math.ceil(vmin / one) * one, math.floor(vmax / one) * one]

    def __call__(self) -> Sequence[float]:
        """The places of the marks."""
        axis: Any = self.axis
        return self.tick_values(*sorted(axis.get_view_interval()))


def mark(mpl_axis: MplAxis, axis: Axis) -> None:
    """Mark an axis, with the unit in each label where it spans prefixes; it has its limits."""
    if axis.scale == "category":
        return
    few = [*(MaxNLocator(most, steps=[1, 2, 2.5, 5, 10], integer=axis.whole) for most in (4, 3, 2)), Ends()]
    if axis.scale == "log":
        low, high = mpl_axis.get_view_interval()
        is_short = high < low * (_FEW_SIZES if axis.marks_carry_unit else FEW_DECADES)
        decades = [LogLocator(subs=(1, 2, 5)), LogLocator(subs=(1,))][0 if is_short else 1 :]
        mpl_axis.set_major_locator(Apart([*decades, *few]))
        in_unit = FuncFormatter(lambda value, _: plain(value, 6))
        mpl_axis.set_major_formatter(EngFormatter(axis.unit) if axis.marks_carry_unit else in_unit)
        mpl_axis.set_minor_formatter(NullFormatter())  # its labels are formulas
    elif axis.marks:
        mpl_axis.set_major_locator(Apart([FixedLocator(each) for each in _fewer(axis.marks)]))
    else:
        mpl_axis.set_major_locator(Apart([MaxNLocator(nbins=3, integer=True) if axis.whole else AutoLocator(), *few]))


def _fewer(marks: Sequence[float]) -> list[list[float]]:
    """Marks, and fewer and fewer of them: the ends stay, and each time the one that is farthest from the others."""
    kept = list(dict.fromkeys((marks[0], marks[-1])))
    sets = [sorted(kept)]
    while left := [mark for mark in marks if mark not in kept]:
        kept.append(max(left, key=lambda mark: min(abs(mark - each) for each in kept)))
        sets.append(sorted(kept))
    return sets[::-1]
