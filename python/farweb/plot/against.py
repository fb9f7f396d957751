"""Points of a sweep as series over an axis."""

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from farweb.errors import FarwebError, ResultsError
from farweb.paint.figure import Axis, Figure, Floats, Panel, Reference, Series
from farweb.paint.multiples import columns_of, height_of, with_others
from farweb.plot.grouping import Group, arrange
from farweb.plot.replicated import about_failures, about_intervals, about_runs, failed_share, series_of
from farweb.results.design import Design
from farweb.results.estimates import Estimates
from farweb.results.metrics import base_unit, find_metric, words
from farweb.results.select import Where, factor_index, level_index, numeric, select, varying
from farweb.results.sweep import SweepTables
from farweb.text.words import listed

LOAD = "workload.load"
DECADES = 30
"""Ratio of the largest to the smallest number from which an axis is logarithmic; chosen: one and a half decades."""

ASIDE = 0.45
"""Distance of the outermost series at a level of a factor without numbers; chosen: less than to the next level, 1."""

OFFERED = "offered_bps"

_ABOUT = {
    OFFERED: "Offered load: response bits of requests that start in the measured interval, over its length.",
    "presented_bps": "Presented load: IP bits of the response segments as servers send them, of requests that start in "
    "the measured interval, over its length.",
}


class Abscissa:
    """The horizontal axis of a sweep's figure, and where on it points are.

    Args:
        sweep: Which.
        points: Points drawn.
        wanted: Name of the factor on it, or of the metric with the mean that places points; then they are joined along
            the load, or the factor with most numbers. None: that factor.
        by_load: True when points are placed by a metric in any case, by the load that they offered unless `wanted` is
            another; else they are by that load where the factor is the load and nothing is wanted.

    Raises:
        FarwebError: There is no such factor, and no such metric.
        ResultsError: No factor varies that could be on it, or no run has a value of the metric.
    """

    def __init__(self, sweep: SweepTables, points: Sequence[int], wanted: str | None, *, by_load: bool = False) -> None:
        metric = _metric(sweep, wanted)
        self.factor = _along(sweep, points, None if metric else wanted)
        self._design = sweep.design
        self._sweep = sweep
        if metric is None and (by_load or (wanted is None and sweep.design.factors[self.factor].name == LOAD)):
            metric = OFFERED
        self._placing = Estimates(sweep, metric) if metric else None
        self._levels = sorted({sweep.design.points[point][self.factor] for point in points})
        self.axis = self._axis(points)

    @property
    def name(self) -> str:
        """Name of the axis, in few words."""
        return (
            self.axis.quantity
            if self._placing is not None
            else self._design.short_names[self._design.factors[self.factor].name]
        )

    @property
    def about(self) -> str:
        """Meaning of the axis, for a caption; empty when its label says all."""
        if self._placing is None:
            return ""
        metric = self._placing.metric
        return _ABOUT.get(metric.name, f"Horizontal axis: {metric.description}")

    @property
    def by_number(self) -> bool:
        """True when places are numbers, and not levels side by side."""
        return self.axis.scale != "category"

    def cells(self, group: Group) -> list[tuple[float, tuple[int, ...]]]:
        """Places on the axis and the points there, in the order of the factor's numbers or levels.

        Places of a metric can go back: a run that lasts longer offers less a second.
        """
        of_level: dict[int, list[int]] = {}
        for point in group.points:
            of_level.setdefault(self._design.points[point][self.factor], []).append(point)
        ordered = sorted(of_level.items(), key=lambda item: self._rank(item[0]))
        placed = [(self._place(level, points), tuple(points)) for level, points in ordered]
        return [(place, points) for place, points in placed if place is not None]

    def _rank(self, level: int) -> float:
        number = self._design.factors[self.factor].levels[level].number
        return float(level) if number is None or not self.by_number else number

    def _place(self, level: int, points: Sequence[int]) -> float | None:
        if self._placing is not None:
            mean = self._placing.of(points).value
            return mean if mean is not None and math.isfinite(mean) else None
        number = self._design.factors[self.factor].levels[level].number
        return float(self._levels.index(level)) if not self.by_number else number

    def _axis(self, points: Sequence[int]) -> Axis:
        factor = self._design.factors[self.factor]
        levels = [factor.levels[level] for level in self._levels]
        if self._placing is not None:
            metric = self._placing.metric
            found = [mean for point in points if (mean := self._placing.of([point]).value) is not None]
            means = [mean for mean in found if math.isfinite(mean)]
            if not means:
                raise ResultsError(f"{self._sweep.path}: no run has a value of {metric.name}")
            return Axis(words(metric), base_unit(metric), low=min(0.0, *means)).fitted(means)
        if not numeric(factor):
            return Axis(factor.name, scale="category", levels=tuple(level.label for level in levels))
        numbers = [level.number or 0.0 for level in levels]
        spread = min(numbers) > 0 and max(numbers) >= DECADES * min(numbers)
        return Axis(factor.name, factor.unit, "log" if spread else "linear").fitted(numbers)


def _metric(sweep: SweepTables, wanted: str | None) -> str | None:
    """The metric that `wanted` names; None when it names a factor, or nothing."""
    if wanted is None or any(factor.name == wanted for factor in sweep.design.factors):
        return None
    try:
        return find_metric(wanted).name
    except ResultsError as no_metric:
        try:
            factor_index(sweep.design, wanted)
        except FarwebError as no_factor:
            raise FarwebError(f"{no_factor}; as a metric, {no_metric}") from None
    return None


def _along(sweep: SweepTables, points: Sequence[int], wanted: str | None) -> int:
    """The number of the factor on the horizontal axis."""
    design = sweep.design
    if wanted is not None:
        return factor_index(design, wanted)
    some = varying(design, points)
    for number in some:
        if design.factors[number].name == LOAD:
            return number
    numbers = [number for number in some if numeric(design.factors[number])]
    if not numbers:
        names = [design.factors[number].name for number in some]
        choice = f", or choose one with --x: {listed(names)}" if names else ""
        raise ResultsError(
            f"{sweep.path}: no factor with numbers varies, so there is nothing to draw against: give "
            f'"{LOAD}" several levels in [sweep.factors]{choice}'
        )
    return max(numbers, key=lambda number: (_levels(design, points, number), -number))


def _levels(design: Design, points: Sequence[int], number: int) -> int:
    return len({design.points[point][number] for point in points})


class Drawing:
    """The points of a sweep as series over an axis.

    Args:
        sweep: Which.
        by: Factors that make series; None: all that vary but the one on the axis.
        x: Factor or metric on the horizontal axis, as `Abscissa` takes it.
        where: By factor, the levels that are drawn; None: all.
        against: Factor and level to draw differences from. None draws values.
        by_load: As `Abscissa` takes it.

    Raises:
        FarwebError: An unknown factor or level, or too many series.
        ResultsError: No factor varies that could be on the axis, or no run has ended well.
    """

    def __init__(
        self,
        sweep: SweepTables,
        by: Sequence[str] | None,
        x: str | None,
        where: Where | None,
        *,
        against: tuple[str, str] | None = None,
        by_load: bool = False,
    ) -> None:
        self.sweep = sweep
        self._drawn: list[Estimates] = []
        points = select(sweep.design, where or {})
        if against is not None:
            factor, level = level_index(sweep.design, *against)
            points = [point for point in points if sweep.design.points[point][factor] != level]
        about_runs(sweep, points)
        self.x = Abscissa(sweep, points, x, by_load=by_load)
        self._scattered = sweep.design.kind == "latin-hypercube"
        if self._scattered and by is None:
            # Every point has levels of its own: only named ones can be series.
            by = [
                sweep.design.factors[number].name
                for number in varying(sweep.design, points)
                if number != self.x.factor and not numeric(sweep.design.factors[number])
            ]
        self.arrangement = arrange(sweep.design, points, by, along=self.x.factor)

    def series(self, estimates: Estimates, panel: int = 0, *, floor: float | None = None) -> tuple[Series, ...]:
        """A metric as series of a panel; `floor`: where intervals end on a logarithmic axis."""
        if estimates not in self._drawn:
            self._drawn.append(estimates)
        groups = [group for group in self.arrangement.groups if group.panel == panel]
        drawn = (self._series(estimates, group, len(groups), floor) for group in groups)
        return tuple(series for series in drawn if series is not None)

    def _series(self, estimates: Estimates, group: Group, groups: int, floor: float | None) -> Series | None:
        cells = [
            (place, estimates.of(points), failed_share(self.sweep, estimates.rests_on(points)))
            for place, points in self.x.cells(group)
        ]
        known = [cell for cell in cells if cell[1].value is not None and math.isfinite(cell[1].value)]
        if not known:
            return None
        x, lost = np.array([place for place, _, _ in known]), np.array([share for _, _, share in known])
        if not self.x.by_number and groups > 1:
            x = x + ASIDE * (group.index / (groups - 1) - 0.5)
        bars = not self.x.by_number or self._scattered or len(known) == 1
        least, most = estimates.possible(group.points)
        return replace(
            series_of(x, [found for _, found, _ in known], least if floor is None else max(least, floor), most),
            label=group.label,
            index=group.index,
            interval="bars" if bars else "band",
            joined=self.x.by_number and not self._scattered,
            shade=group.shade,
            failed=lost if lost.any() else None,
        )

    def means(self, estimates: Estimates) -> Floats:
        """The means that are drawn, of all panels.

        Raises:
            ResultsError: There is none.
        """
        found = [estimates.of(points) for group in self.arrangement.groups for _, points in self.x.cells(group)]
        means = np.array([each.value for each in found if each.value is not None], dtype=np.float64)
        if means.size == 0:
            raise ResultsError(f"{self.sweep.path}: no run has a value of {estimates.metric.name}")
        if not np.isfinite(means).any():
            raise ResultsError(f"{self.sweep.path}: failed requests reach {estimates.metric.name} at every point")
        return means[np.isfinite(means)]

    def title(self, panel: int, quantity: str = "") -> str:
        """Title of a panel: its levels, and the quantity where panels of several stand side by side."""
        return "\n".join(filter(None, (self.arrangement.titles[panel], quantity)))

    def panels(self, estimates: Estimates, y: Axis, *references: Reference, title: str = "") -> list[Panel]:
        """The panels of a metric on a common axis, with lines to compare with; `title`: name of the metric."""
        floor = y.low if y.scale == "log" else None
        return [
            Panel(self.x.axis, y, self.series(estimates, number, floor=floor), references, self.title(number, title))
            for number in range(len(self.arrangement.titles))
        ]

    def quantity(self, metric: str, axis: Axis, title: str) -> list[Panel]:
        """The panels of a metric among others; the prefix of its axis suits the values.

        Raises:
            ResultsError: No run has a value of it.
        """
        estimates = Estimates(self.sweep, metric)
        return self.panels(estimates, axis.fitted(self.means(estimates)), title=title)

    def figure(
        self, title: str, seen: str, quantities: Sequence[Sequence[Panel]], *more: str, columns: int | None = None
    ) -> Figure:
        """A figure of these series: one panel of a column's width, or several across the page.

        Args:
            title: One line.
            seen: The first sentences of the caption.
            quantities: Of each quantity its panels, of `series`. Where each has several they stand below one another.
            more: Further sentences; empty ones are left out.
            columns: Panels in a row, where each quantity has one; None: by their number.

        Raises:
            ResultsError: No panel has a series.
        """
        panels = [panel for row in zip(*quantities, strict=True) for panel in row]
        if not any(panel.series for panel in panels):
            raise ResultsError(f"{self.sweep.path}: no run has a value to draw")
        several, multiples = len(quantities) > 1, len(self.arrangement.titles) > 1
        columns = len(quantities) if several and multiples else columns or columns_of(len(panels))
        rows = -(-len(panels) // columns)
        drawn, grey = with_others(panels, len(quantities)) if multiples else (tuple(panels), "")
        alike = len(panels) > 1 and all(panel.y == panels[0].y for panel in panels)
        return Figure(
            title,
            " ".join(each for each in (seen, *self._about(more)) if each) + grey,
            drawn,
            columns=columns,
            legend=self.arrangement.legend,
            counted="replications",
            size=(6.5, 4.8) if len(panels) == 1 else (max(9, 2.5 * columns), height_of(rows, 2.7)),
            share_x=len(panels) > 1,
            share_y="columns" if several and multiples else alike,
        )

    def _about(self, more: Sequence[str]) -> tuple[str, ...]:
        """Sentences of the caption: the method of the intervals, omissions, number of runs."""
        points = [point for group in self.arrangement.groups for point in group.points]
        cells = [cell for group in self.arrangement.groups for _, cell in self.x.cells(group)]
        beyond = sum(math.isinf(each.of(cell).value or 0.0) for each in self._drawn for cell in cells)
        rests_on = sorted({point for each in self._drawn for point in each.rests_on(points)})
        interval = about_intervals(self._drawn)
        shown = "Bars" if not self.x.by_number or self._scattered else "Shade"
        together = self.arrangement.together
        return (
            f"{shown}: {interval}." if interval else "",
            f"Averaged over the levels of {listed(together)}." if together and not self._scattered else "",
            *self.arrangement.notes,
            *more,
            self.x.about,
            about_failures(self.sweep, rests_on, beyond),
            about_runs(self.sweep, points),
        )
