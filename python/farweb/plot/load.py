"""Figures of a sweep against the load, or against another factor: latency, carried load, queues, connections."""

import re
from collections.abc import Callable, Mapping, Sequence

from farweb.errors import FarwebError, ResultsError
from farweb.plot.against import DECADES, LOAD, Ask, Drawing
from farweb.plot.figure import Axis, Figure, Panel, Reference, Series
from farweb.plot.grouping import Group, level_index, short_names
from farweb.plot.replicated import Differences, Estimates, Links, base_unit, default_link, words
from farweb.results.sweep import SweepTables
from farweb.text.quantities import rate, size
from farweb.text.words import listed

IN_PICTURE = 1.6
"""Up to how many times the largest value a line to compare with is drawn; chosen: beyond, it would flatten the rest."""

VARIES = 0.05
"""Share of the largest offered load by which loads have to differ to be an axis; chosen: less is chance."""

LINES_MAX = 4
"""Different values of a line to compare with; chosen: more hide the series."""


def latency_load(sweep: SweepTables, ask: Ask) -> Figure:
    """A metric, latency as a rule, against the offered load or another factor.

    Raises:
        FarwebError: An unknown factor, level or metric, or too many series.
        ResultsError: Nothing varies that it could be drawn against, or no run has ended well.
    """
    drawing = Drawing(sweep, ask)
    if ask.against is not None:
        return _differences(sweep, drawing, ask.metric or "latency_mean_s", *ask.against)
    estimates = Estimates(sweep, ask.metric or "latency_mean_s")
    what = words(estimates.metric)
    y = _measured_axis(drawing, estimates)
    panels = [
        Panel(drawing.x.axis, y, drawing.series(estimates, number, floor=_floor(y)), title=title)
        for number, title in enumerate(drawing.arrangement.titles)
    ]
    title = f"{what[0].upper()}{what[1:]} against {drawing.x.name} – {sweep.name}"
    return drawing.figure(title, drawing.caption(f"Markers: {what}.", [estimates]), panels)


def _differences(sweep: SweepTables, drawing: Drawing, metric: str, factor: str, level: str) -> Figure:
    """How far a metric is from what it is at a level of a factor, with a line where both are alike."""
    estimates = Differences(sweep, metric, *level_index(sweep.design, factor, level))
    what, base = words(estimates.metric), f"{short_names(sweep.design)[factor]} = {level}"
    y = Axis(f"{what}, less that of {base}", base_unit(estimates.metric)).fitted(drawing.means(estimates))
    panels = [
        Panel(drawing.x.axis, y, drawing.series(estimates, number), (Reference("no difference", 0.0),), title)
        for number, title in enumerate(drawing.arrangement.titles)
    ]
    paired = "the same requests in both" if sweep.design.random_numbers == "common" else "of other requests in each"
    told = f"Markers: {what}, less that of {base} in the same replication ({paired}). Below the line it is less."
    title = f"{what[0].upper()}{what[1:]}, less that of {base}, against {drawing.x.name} – {sweep.name}"
    return drawing.figure(title, drawing.caption(told, [estimates]), panels)


def _measured_axis(drawing: Drawing, estimates: Estimates) -> Axis:
    """The vertical axis of a metric: from 0, or logarithmic where its values span decades."""
    means = drawing.means(estimates)
    quantity, unit = words(estimates.metric), base_unit(estimates.metric)
    if means.min() > 0 and means.max() >= DECADES * means.min():
        return Axis(quantity, unit, "log", low=float(means.min()) / 2)
    return Axis(quantity, unit, low=min(0.0, float(means.min()))).fitted(means)


def _floor(axis: Axis) -> float | None:
    """Where intervals end that reach below a logarithmic axis."""
    return axis.low if axis.scale == "log" else None


def carried_offered(sweep: SweepTables, ask: Ask) -> Figure:
    """What link 0 carried down against what was offered, with the line of equality and the rates of links.

    With a metric on the axis it is against that one: `presented_bps` is the load as papers have it, headers included.

    Raises:
        FarwebError: An unknown factor or level, a metric that is no load, or too many series.
        ResultsError: Nothing varies, or no run has ended well.
    """
    drawing = Drawing(sweep, ask, by_load=True)
    load = drawing.x.name
    if drawing.x.axis.unit != "bit/s":
        raise FarwebError(f"plot carried-offered is against a load in bit/s, and {ask.x} is none; try presented_bps")
    offered = [place for group in drawing.arrangement.groups for place, _ in drawing.x.cells(group)]
    if max(offered) - min(offered) < VARIES * max(offered):
        raise ResultsError(
            f"{sweep.path}: the {load} hardly varies ({rate(min(offered))} to {rate(max(offered))}): give "
            f'"{LOAD}" several levels in [sweep.factors]'
        )
    carried = Estimates(sweep, "carried_bps")
    links = Links(sweep)
    y = Axis("carried, link 0 down", "bit/s", low=0).fitted(drawing.means(carried))
    lines = _Lines()
    panels = []
    for number, title in enumerate(drawing.arrangement.titles):
        series = drawing.series(carried, number)
        groups = [group for group in drawing.arrangement.groups if group.panel == number]
        references = [Reference(f"carried = {load.removesuffix(' load')}", along="identity")]
        for link in range(links.number):
            rates = _by_group(groups, lambda group, link=link: links.rate(group.points, link, "down"))  # type: ignore[misc]
            references += lines.of(rates, f"rate of link {link} down,", rate, series)
        panels.append(Panel(drawing.x.axis, y, series, tuple(references), title))
    own = ask.x == "presented_bps"  # which has the headers of responses
    more = "segments sent again, acknowledgements and framing" if own else "headers and segments sent again"
    caption = drawing.caption(
        f"Markers: IP bits that link 0 carried down, over the measured interval; they hold {more}, which the {load} "
        "does not.",
        [carried],
        lines.told,
    )
    return drawing.figure(f"Carried against {load} – {sweep.name}", caption, panels)


def buffer(sweep: SweepTables, ask: Ask) -> Figure:
    """Mean and peak of a link's queue in both directions, against the load or another factor.

    Raises:
        FarwebError: An unknown factor, level or link, or too many series.
        ResultsError: Nothing varies that it could be drawn against, or no run has ended well.
    """
    drawing = Drawing(sweep, ask, panels=1)
    links = Links(sweep)
    link = default_link(sweep, links, ask.link)
    lines = _Lines()
    panels, used = [], []
    for statistic, what in (("mean", "mean"), ("max", "peak")):
        for direction in ("down", "up"):
            estimates = Estimates(sweep, f"link_{link}_{direction}_queue_bytes_{statistic}")
            used.append(estimates)
            series = drawing.series(estimates)
            limits = _by_group(
                drawing.arrangement.groups,
                lambda group, direction=direction: links.queue(group.points, link, direction),  # type: ignore[misc]
            )
            drawn = lines.of(limits, "queue limit", size, series)
            y = Axis(f"queue, {what}", "B", low=0).fitted(*(each.y for each in series), [line.at for line in drawn])
            panels.append(Panel(drawing.x.axis, y, series, tuple(drawn), f"{direction}, {what}"))
    caption = drawing.caption(
        f"Bytes queued at link {link}, the packet in transmission included: time-weighted mean (above) and peak "
        "(below) of the measured interval. Scales differ between panels.",
        used,
        lines.told,
    )
    return drawing.figure(f"Queue of link {link} against {drawing.x.name} – {sweep.name}", caption, panels, 2)


def connections(sweep: SweepTables, ask: Ask) -> Figure:
    """Connections of each leg open at a time, on average and at most, and those busy, against the load or else.

    Raises:
        FarwebError: An unknown factor or level, or too many series.
        ResultsError: The runs did not measure legs, or there is nothing to draw against.
    """
    legs = [int(found[1]) for name in sweep.metrics if (found := re.fullmatch(r"leg_(\d+)_open_mean", name))]
    if not legs:
        raise ResultsError(f"{sweep.path}: its runs did not measure legs: they are of an older farweb; run it again")
    drawing = Drawing(sweep, ask, panels=1)
    panels, used = [], []
    for leg in legs:
        on = f"leg {leg}, " if len(legs) > 1 else ""
        for what, quantity, title in _OF_CONNECTIONS:
            estimates = Estimates(sweep, f"leg_{leg}_{what}")
            used.append(estimates)
            series = drawing.series(estimates)
            y = Axis(quantity, low=0).fitted(*(each.y for each in series))
            panels.append(Panel(drawing.x.axis, y, series, title=on + title))
    caption = drawing.caption(
        "Connections in the measured interval: open at a time as the time-weighted mean (left) and the most at any "
        "moment (middle), and those that carry a request (right).",
        used,
    )
    return drawing.figure(f"Connections against {drawing.x.name} – {sweep.name}", caption, panels, 3)


_OF_CONNECTIONS = (
    ("open_mean", "connections open", "open, on average"),
    ("open_max", "connections open", "open, at most"),
    ("busy_mean", "connections busy", "busy, on average"),
)


def _by_group(groups: Sequence[Group], of: Callable[[Group], float | None]) -> dict[float, list[int]]:
    """Values that groups have, and the styles of the groups that have each."""
    found: dict[float, list[int]] = {}
    for group in groups:
        if (value := of(group)) is not None:
            found.setdefault(value, []).append(group.index)
    return dict(sorted(found.items()))


class _Lines:
    """Lines to compare with, those that no panel of the figure reaches left out and told in words."""

    def __init__(self) -> None:
        self._drawn: set[str] = set()
        self._above: dict[str, None] = {}

    def of(
        self, values: Mapping[float, list[int]], name: str, told: Callable[[float], str], series: Sequence[Series]
    ) -> list[Reference]:
        """A line for each value that a panel reaches.

        Args:
            values: Values and the styles of the groups that have each; one that a single group of several has is drawn
                in its colour.
            name: What they are.
            told: A value in words.
            series: Of the panel.
        """
        highest = max((float(each.y.max()) for each in series), default=0.0)
        few = len(values) <= LINES_MAX
        near = [value for value in values if few and value <= IN_PICTURE * highest]
        self._drawn |= {f"{name} {told(value)}" for value in near}
        self._above |= {f"{name} {told(value)}": None for value in values if value not in near}
        own = {value: values[value][0] for value in near if len(values[value]) == 1 and len(series) > 1}
        quiet = [value for value in near if value not in own]
        lines = [Reference(f"{name} {told(value)}", value, index=index) for value, index in own.items()]
        # Those of one look are one entry of the legend.
        entry = f"{name} {listed([told(value) for value in quiet])}"
        return lines + [Reference("" if number else entry, value) for number, value in enumerate(quiet)]

    @property
    def told(self) -> str:
        """What is in no panel, for the caption."""
        missing = [label for label in self._above if label not in self._drawn]
        return f"Not drawn, far above the values: {listed(missing)}." if missing else ""
