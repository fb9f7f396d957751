"""Connections open and busy: of a run over time, of a sweep against the load or another factor."""

import re
from collections.abc import Sequence

import polars as pl

from farweb.paint.figure import Axis, Figure, Panel
from farweb.plot.against import Drawing
from farweb.plot.catalogue import figure
from farweb.plot.measured import Samples, mean, provenance, rows_of, samples, warmup_line
from farweb.results.legs import carrier_name
from farweb.results.run import RunTables
from farweb.results.select import Where
from farweb.results.sweep import SweepTables
from farweb.text.quantities import seconds


@figure(
    "connections",
    of="run",
    shows="connections open and busy, and requests, by leg over time",
    needs="record.links_every",
)
def of_run(result: RunTables) -> Figure:
    """Connections open and busy, and requests at a time, over time: a row a leg.

    Raises:
        ResultsError: No recorded intervals.
    """
    rows = rows_of(result, "legs")
    found = {number: intervals(rows, number) for number in sorted(rows["leg"].unique().to_list())}
    return Figure(
        f"Connections over time – {result.path.name}",
        f"Averages over {seconds(next(iter(found.values())).length_s)} of connections open and of those that carry a "
        "request (shade: most open), and of requests on the leg, those that wait for a connection included (shade: "
        f"most at a time). {provenance([result])}",
        tuple(panel for number, shown in found.items() for panel in _panels(result, number, shown)),
        columns=2,
        size=(9, 1.6 + 2.3 * len(found)),
        share_x=True,
    )


def intervals(rows: pl.DataFrame, leg: int) -> Samples:
    """Samples of a leg: `open_mean`, `busy_mean`, `requests_mean`, `open_max`, `requests_max` and so on."""
    means, peaks = ("open_mean", "busy_mean", "requests_mean"), ("open_max", "requests_max", "connection_requests_max")
    return samples(
        rows.filter(pl.col("leg") == leg),
        **{name: mean(name) for name in means},
        **{name: pl.col(name).max() for name in peaks},
    )


def _panels(result: RunTables, number: int, shown: Samples) -> tuple[Panel, Panel]:
    """Connections and requests of a leg."""
    leg = result.manifest["scenario"]["leg"][number]
    title = f"leg {number}: {leg['from']} – {leg['to']}, {carrier_name(leg['carrier'])}"
    most = int(shown.rows["connection_requests_max"].max() or 0)  # type: ignore[arg-type]
    connections = (
        shown.series("", 0, "open_max", "area", "most open"),
        shown.series("open", 0, "open_mean", part="mean"),
        shown.series("busy", 1, "busy_mean", part="mean"),
    )
    requests = (
        shown.series("", 2, "requests_max", "area", "most"),
        shown.series("requests", 2, "requests_mean", part="mean"),
    )
    x, warmup = shown.axis, warmup_line(result)
    return (
        Panel(x, Axis("connections", low=0), connections, warmup, title=title),
        Panel(x, Axis("requests", low=0), requests, warmup, note=f"at most {most:,} on one connection"),
    )


@figure(
    "connections",
    of="sweep",
    shows="connections open and busy by leg against the load or another factor",
    needs="a factor with numbers",
)
def of_sweep(
    sweep: SweepTables,
    *,
    by: Sequence[str] | None = None,
    x: str | None = None,
    where: Where | None = None,
) -> Figure:
    """Connections of each leg open at a time, on average and at most, and those busy, against the load or else.

    Raises:
        FarwebError: An unknown factor or level, or too many series.
        ResultsError: There is nothing to draw against.
    """
    legs = [int(found[1]) for name in sweep.metrics if (found := re.fullmatch(r"leg_(\d+)_open_mean", name))]
    drawing = Drawing(sweep, by, x, where)
    quantities = [
        drawing.quantity(f"leg_{leg}_{what}", Axis(quantity, low=0), f"leg {leg}, {title}" if legs[1:] else title)
        for leg in legs
        for what, quantity, title in _MEASURED
    ]
    return drawing.figure(
        f"Connections against {drawing.x.name} – {sweep.name}",
        "Connections in the measured interval: open at a time as the time-weighted mean (left) and the most at any "
        "moment (middle), and those that carry a request (right).",
        quantities,
        columns=3,
    )


_MEASURED = (
    ("open_mean", "connections open", "open, on average"),
    ("open_max", "connections open", "open, at most"),
    ("busy_mean", "connections busy", "busy, on average"),
)
