"""Rates and queue limits of links, as the scenarios of a sweep have them, and lines at them to compare with."""

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from farweb.errors import FarwebError
from farweb.plot.figure import Reference, Series
from farweb.plot.grouping import Group
from farweb.results.sweep import SweepTables
from farweb.text.parse import parse
from farweb.text.words import listed

IN_PICTURE = 1.6
"""Up to how many times the largest value a line to compare with is drawn; chosen: beyond, it would flatten the rest."""

LINES_MAX = 4
"""Different values of a line to compare with; chosen: more hide the series."""

UNLIMITED = "unlimited"
"""Rate of a link that has none."""


class Links:
    """Rates (bit/s) and queue limits (bytes) of links, as the scenarios of a sweep's points have them."""

    def __init__(self, sweep: SweepTables) -> None:
        self._sweep = sweep
        done = sweep.runs.with_columns(point=sweep.points).filter(pl.col("status") == "done")
        self._runs = {int(point): str(run) for point, run in done.select("point", "run").iter_rows()}

    @functools.cached_property
    def number(self) -> int:
        """Number of links of the path."""
        return len(self._sweep.manifest["scenario"]["path"]["link"])

    def rate(self, points: Sequence[int], link: int, direction: str) -> float | None:
        """The largest rate of a link over time, without variation, in bit/s; None when it differs between points."""
        return self._same([self._largest(point, link, direction) for point in points])

    def queue(self, points: Sequence[int], link: int, direction: str) -> float | None:
        """The queue limit of a link in bytes; None when it has none, counts packets, or differs between the points."""
        return self._same([self._quantity(point, link, direction, "queue", "B") for point in points])

    def chosen(self, wanted: int | None) -> int:
        """The number of the link that is drawn: the one named, or the busiest.

        Raises:
            FarwebError: There is no such link.
        """
        if wanted is None:
            return int(np.argmax([self._busy(link) for link in range(self.number)]))
        if wanted >= self.number:
            raise FarwebError(f"{self._sweep.path}: there is no link {wanted}; links: 0 to {self.number - 1}")
        return wanted

    def _busy(self, link: int) -> float:
        names = [f"link_{link}_{direction}_utilisation" for direction in ("up", "down")]
        there = [self._sweep.runs[name].mean() for name in names if name in self._sweep.metrics]
        return max((float(mean or 0) for mean in there), default=0.0)  # type: ignore[arg-type]

    def _same(self, values: Sequence[float | None]) -> float | None:
        return values[0] if len(set(values)) == 1 else None

    def _largest(self, point: int, link: int, direction: str) -> float | None:
        own = self._quantity(point, link, direction, "rate", "bit/s")
        both = self._path(point)["link"][link]
        steps = both[direction].get("steps") or []
        factor = both["handover"]["rate"][1] if both.get("handover") else 1.0
        rates = (float(parse(step["rate"]).number) for step in steps if step.get("rate"))
        return own and max(own, *rates, 0.0) * factor

    def _quantity(self, point: int, link: int, direction: str, key: str, base: str) -> float | None:
        text = str(self._path(point)["link"][link][direction].get(key, UNLIMITED))
        quantity = None if text == UNLIMITED else parse(text)
        return float(quantity.number) if quantity is not None and quantity.base == base else None

    @functools.cache  # noqa: B019 - lives as long as a figure is described
    def _path(self, point: int) -> Mapping[str, Any]:
        if point not in self._runs:
            return dict(self._sweep.manifest["scenario"]["path"])
        path: Mapping[str, Any] = self._sweep.part(self._runs[point]).manifest["scenario"]["path"]
        return path


class Lines:
    """Lines to compare with, those that no panel of the figure reaches left out and named in words."""

    def __init__(self) -> None:
        self._drawn: set[str] = set()
        self._above: dict[str, None] = {}

    def of(
        self,
        groups: Sequence[Group],
        value_of: Callable[[Group], float | None],
        name: str,
        in_words: Callable[[float], str],
        series: Sequence[Series],
        beside: Sequence[Series] = (),
    ) -> list[Reference]:
        """A line for each value that groups have and a panel reaches.

        Args:
            groups: Those of the panel.
            value_of: The value of a group; one that a single group of several has is drawn in its colour.
            name: Name of the values.
            in_words: A value in words.
            series: Of the panel.
            beside: Of other panels on the same axis, which reach as far.
        """
        values: dict[float, list[int]] = {}
        for group in groups:
            if (value := value_of(group)) is not None:
                values.setdefault(value, []).append(group.index)
        values = dict(sorted(values.items()))
        highest = max((float(each.y.max()) for each in (*series, *beside)), default=0.0)
        few = len(values) <= LINES_MAX
        near = [value for value in values if few and value <= IN_PICTURE * highest]
        self._drawn |= {f"{name} {in_words(value)}" for value in near}
        self._above |= {f"{name} {in_words(value)}": None for value in values if value not in near}
        own = {value: values[value][0] for value in near if len(values[value]) == 1 and len(series) > 1}
        quiet = [value for value in near if value not in own]
        lines = [Reference(f"{name} {in_words(value)}", value, index=index) for value, index in own.items()]
        # Those of one look are one entry of the legend.
        entry = f"{name} {listed([in_words(value) for value in quiet])}"
        return lines + [Reference("" if number else entry, value) for number, value in enumerate(quiet)]

    @property
    def left_out(self) -> str:
        """Lines that are in no panel, for the caption."""
        missing = [label for label in self._above if label not in self._drawn]
        return f"Not drawn, far above the values: {listed(missing)}." if missing else ""
