"""The queue of a link against the load or another factor."""

from collections.abc import Sequence

from farweb.paint.figure import Axis, Figure, Panel
from farweb.plot.against import Drawing
from farweb.plot.catalogue import figure
from farweb.plot.links import Lines
from farweb.results.estimates import Estimates
from farweb.results.links import Links
from farweb.results.select import Where
from farweb.results.sweep import SweepTables
from farweb.text.quantities import size


@figure("buffer", of="sweep", shows="mean and peak of a queue against the load", needs="a factor with numbers")
def buffer(
    sweep: SweepTables,
    *,
    by: Sequence[str] | None = None,
    x: str | None = None,
    where: Where | None = None,
    link: int | None = None,
) -> Figure:
    """Mean and peak of a link's queue in both directions, against the load or another factor.

    Raises:
        FarwebError: An unknown factor, level or link, or too many series.
        ResultsError: Nothing varies that it could be drawn against, or no run has ended well.
    """
    drawing = Drawing(sweep, by, x, where)
    links, lines = Links(sweep), Lines()
    number = links.chosen(link)
    quantities = [
        _panels(drawing, links, lines, number, direction, *statistic)
        for statistic in (("mean", "mean"), ("max", "peak"))
        for direction in ("down", "up")
    ]
    return drawing.figure(
        f"Queue of link {number} against {drawing.x.name} – {sweep.name}",
        f"Bytes queued at link {number}, the packet in transmission included: time-weighted mean and peak of the "
        "measured interval. Scales differ between them, and between the directions.",
        quantities,
        lines.left_out,
        columns=2,
    )


def _panels(
    drawing: Drawing, links: Links, lines: Lines, link: int, direction: str, statistic: str, what: str
) -> list[Panel]:
    """The panels of a statistic of the queue in a direction, which share their vertical axis."""
    estimates = Estimates(drawing.sweep, f"link_{link}_{direction}_queue_bytes_{statistic}")
    series = [drawing.series(estimates, number) for number in range(len(drawing.arrangement.titles))]
    every = [each for some in series for each in some]
    limits = [
        lines.of(
            [group for group in drawing.arrangement.groups if group.panel == number],
            lambda group: links.queue(group.points, link, direction),
            "queue limit",
            size,
            some,
            every,
        )
        for number, some in enumerate(series)
    ]
    y = Axis(f"queue, {what}", "B", low=0).fitted(
        *(each.y for each in every), [line.at for some in limits for line in some]
    )
    return [
        Panel(drawing.x.axis, y, some, tuple(limits[number]), drawing.title(number, f"{direction}, {what}"))
        for number, some in enumerate(series)
    ]
