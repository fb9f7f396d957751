"""Distribution of latency: of runs a curve each, of a sweep one of all seeds."""

from collections.abc import Sequence
from dataclasses import replace

from farweb.paint.figure import Figure, Panel, Series
from farweb.paint.multiples import SERIES_MAX, with_others
from farweb.plot.catalogue import figure
from farweb.plot.grouping import Group
from farweb.plot.latency import LATENCY, SHARE, distribution, of_latency, percentiles
from farweb.plot.measured import counts, measured, provenance
from farweb.plot.pooled import Pool, Pools, distribution_of
from farweb.results.run import RunTables
from farweb.results.select import Where
from farweb.results.sweep import SweepTables


@figure("cdf", of="runs", shows="distribution of latency")
def of_runs(results: Sequence[RunTables], *, by: Sequence[str] | None = None) -> Figure:
    """Distribution of latency: the share of requests that took at most so long, a curve a result or a group of it.

    Where requests failed or were cut off, the curve ends at the share of the others.

    The band is the 95 % band of Dvoretzky, Kiefer and Wolfowitz with Massart's constant (Annals of Probability 18,
    1990), which takes requests as independent. Dots mark the 50th, 90th and 99th percentile, with five requests beyond.

    Raises:
        FarwebError: A result has no finished request.
    """
    requests = measured(results, by)
    many = len(requests) > SERIES_MAX
    curves = [distribution(each.latencies, each.label, index) for index, each in enumerate(requests)]
    panels = [Panel(LATENCY, SHARE, tuple(part for curve in curves for part in curve))]
    if many:
        panels = [
            Panel(LATENCY, SHARE, (replace(curve, label=""), marks), title=curve.label + curve.detail)
            for curve, marks in curves
        ]
    drawn, grey = with_others(panels)
    return of_latency(
        "Distribution of latency",
        "Share of all requests whose last byte arrived within the time on the axis. Dots: 50th, 90th and 99th "
        f"percentile, with five requests beyond. Bands: 95 % (Dvoretzky–Kiefer–Wolfowitz), requests taken as "
        f"independent. {counts(requests)} "
        f"{provenance(results, measured=True)}{grey}",
        drawn,
    )


@figure("cdf", of="sweep", shows="distribution of latency")
def of_sweep(sweep: SweepTables, *, by: Sequence[str] | None = None, where: Where | None = None) -> Figure:
    """Distribution of latency, a curve a combination of levels.

    Raises:
        FarwebError: An unknown factor or level, or too many series.
        ResultsError: No request finished, or the tables of requests are not there.
    """
    pools = Pools(sweep, by, where)
    single = len(pools.arrangement.titles) == 1

    def series(pool: Pool, group: Group) -> tuple[Series, ...]:
        curve, dots = distribution_of(pool, group.index)
        # The same levels have other percentiles in each panel; the legend has room for one panel's.
        detail = f":  {percentiles(pool.latency)}" if single else ""
        label = group.label or (sweep.name if single else "")
        return replace(curve, label=label, detail=detail, shade=group.shade), replace(dots, shade=group.shade)

    panels = [
        Panel(LATENCY, SHARE, drawn, title=title)
        for drawn, title in zip(pools.panels(series), pools.arrangement.titles, strict=True)
    ]
    return pools.figure(
        "Distribution of latency",
        "Share of all requests whose last byte arrived within the time on the axis, the requests of all seeds "
        f"together. Dots: 50th, 90th and 99th percentile, with five requests beyond. "
        f"{pools.interval('Shade', 'Dvoretzky–Kiefer–Wolfowitz')}",
        panels,
    )
