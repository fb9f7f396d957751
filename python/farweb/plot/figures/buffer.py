"""The queue of a link against the load or another factor."""

from collections.abc import Sequence

from farweb.plot.against import Drawing
from farweb.plot.catalogue import figure
from farweb.plot.figure import Axis, Figure, Panel
from farweb.plot.links import Lines, Links
from farweb.plot.options import Where
from farweb.plot.replicated import Estimates
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
    drawing = Drawing(sweep, by, x, where, panels=1)
    links, lines = Links(sweep), Lines()
    number = links.chosen(link)
    panels = []
    for statistic, what in (("mean", "mean"), ("max", "peak")):
        for direction in ("down", "up"):
            estimates = Estimates(sweep, f"link_{number}_{direction}_queue_bytes_{statistic}")
            series = drawing.series(estimates)
            drawn = lines.of(
                drawing.arrangement.groups,
                lambda group, way=direction: links.queue(group.points, number, way),  # type: ignore[misc]
                "queue limit",
                size,
                series,
            )
            y = Axis(f"queue, {what}", "B", low=0).fitted(*(each.y for each in series), [line.at for line in drawn])
            panels.append(Panel(drawing.x.axis, y, series, tuple(drawn), f"{direction}, {what}"))
    return drawing.figure(
        f"Queue of link {number} against {drawing.x.name} – {sweep.name}",
        f"Bytes queued at link {number}, the packet in transmission included: time-weighted mean (above) and peak "
        "(below) of the measured interval. Scales differ between panels.",
        panels,
        lines.left_out,
        columns=2,
    )
