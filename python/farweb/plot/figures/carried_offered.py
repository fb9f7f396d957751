"""Throughput of a link against the offered load."""

from collections.abc import Sequence

from farweb.errors import FarwebError, ResultsError
from farweb.paint.figure import Axis, Figure, Panel, Reference
from farweb.plot.against import LOAD, Drawing
from farweb.plot.catalogue import figure
from farweb.plot.links import Lines
from farweb.results.estimates import Estimates
from farweb.results.links import Links
from farweb.results.select import Where
from farweb.results.sweep import SweepTables
from farweb.text.quantities import rate

VARIES = 0.05
"""Share of the largest offered load by which loads have to differ to be an axis; chosen: less is chance."""


@figure(
    "carried-offered",
    of="sweep",
    shows="throughput of the link against the offered or presented load",
    needs="a factor with numbers",
)
def carried_offered(
    sweep: SweepTables,
    *,
    by: Sequence[str] | None = None,
    x: str | None = None,
    where: Where | None = None,
) -> Figure:
    """Throughput of link 0 down against the offered load, with the line of equality and the rates of links.

    With a metric on the axis it is against that one: `presented_bps` is the load as papers have it, headers included.

    Raises:
        FarwebError: An unknown factor or level, a metric that is no load, or too many series.
        ResultsError: Nothing varies, or no run has ended well.
    """
    drawing = Drawing(sweep, by, x, where, by_load=True)
    load = drawing.x.name
    if drawing.x.axis.unit != "bit/s":
        raise FarwebError(f"plot carried-offered is against a load in bit/s, and {x} is none; try presented_bps")
    offered = [place for group in drawing.arrangement.groups for place, _ in drawing.x.cells(group)]
    if max(offered) - min(offered) < VARIES * max(offered):
        raise ResultsError(
            f"{sweep.path}: the {load} hardly varies ({rate(min(offered))} to {rate(max(offered))}): give "
            f'"{LOAD}" several levels in [sweep.factors]'
        )
    carried = Estimates(sweep, "carried_bps")
    y = Axis("throughput, link 0 down", "bit/s", low=0).fitted(drawing.means(carried))
    links, lines = Links(sweep), Lines()
    panels = []
    every = [drawing.series(carried, number) for number in range(len(drawing.arrangement.titles))]
    for number, series in enumerate(every):
        groups = [group for group in drawing.arrangement.groups if group.panel == number]
        references = [Reference(f"throughput = {load.removesuffix(' load')}", along="identity")]
        for link in range(links.number):
            references += lines.of(
                groups,
                lambda group, link=link: links.rate(group.points, link, "down"),  # type: ignore[misc]
                f"rate of link {link} down,",
                rate,
                series,
                [each for some in every for each in some],
            )
        panels.append(Panel(drawing.x.axis, y, series, tuple(references), drawing.title(number)))
    own = x == "presented_bps"  # which has the headers of responses
    more = "retransmissions, acknowledgements and framing" if own else "headers and retransmissions"
    return drawing.figure(
        f"Throughput against {load} – {sweep.name}",
        f"Markers: IP bits over link 0 down in the measured interval, with {more}; the {load} is without them.",
        [panels],
        lines.left_out,
    )
