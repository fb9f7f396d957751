"""Connections over time: how many of each leg are open and busy, and how many requests are on it."""

import numpy as np
import polars as pl

from farweb.errors import ResultsError
from farweb.plot.figure import Axis, Figure, Form, Panel, Series
from farweb.plot.measured import labels, provenance, warmup_line
from farweb.results.legs import carrier_name
from farweb.results.run import RunTables
from farweb.text.quantities import seconds

POINTS_MAX = 1_500
"""Intervals drawn; more are merged. Chosen: about the number of pixel columns of a panel."""


def legs(result: RunTables) -> Figure:
    """Connections open and busy, and requests at a time, over time: a row a leg.

    Raises:
        ResultsError: No recorded intervals.
    """
    rows = result.legs
    if rows.is_empty():
        raise ResultsError(
            f"{result.path}: the table of legs has no rows; run again with an interval, for example "
            'record.links_every = "1 s"'
        )
    numbers = sorted(rows["leg"].unique().to_list())
    found = [intervals(rows, number) for number in numbers]
    return Figure(
        f"Connections over time – {labels([result])[0]}",
        f"Averages over {seconds(found[0][1])} of connections open and of those that carry a request (shade: most "
        "open), and of requests on the leg, those that wait for a connection included (shade: most at a time). "
        f"{provenance([result])}",
        tuple(
            panel
            for number, (samples, _) in zip(numbers, found, strict=True)
            for panel in _panels(result, number, samples)
        ),
        columns=2,
        size=(9, 1.6 + 2.3 * len(numbers)),
        share_x=True,
    )


def intervals(rows: pl.DataFrame, leg: int) -> tuple[pl.DataFrame, float]:
    """Samples of a leg, neighbours merged until there are at most `POINTS_MAX`.

    Returns:
        Columns `from_s`, `to_s` (s), `open_mean`, `open_max`, `busy_mean`, `requests_mean`, `requests_max` and
        `connection_requests_max`, by time; and the time that a row covers, in s.
    """
    one = rows.filter(pl.col("leg") == leg).sort("time_ns")
    merge = max(1, -(-len(one) // POINTS_MAX))
    length = pl.col("interval_ns")
    means, peaks = ("open_mean", "busy_mean", "requests_mean"), ("open_max", "requests_max", "connection_requests_max")
    samples = (
        one.with_row_index("row")
        .group_by(pl.col("row") // merge, maintain_order=True)
        .agg(
            from_s=(pl.col("time_ns").first() - length.first()) / 1e9,
            to_s=pl.col("time_ns").last() / 1e9,
            **{name: (pl.col(name) * length).sum() / length.sum() for name in means},
            **{name: pl.col(name).max() for name in peaks},
        )
        .drop("row")
    )
    return samples, float(one["interval_ns"].to_list()[0] if len(one) else 0) * merge / 1e9


def _panels(result: RunTables, number: int, samples: pl.DataFrame) -> tuple[Panel, Panel]:
    """Connections and requests of a leg."""
    leg = result.manifest["scenario"]["leg"][number]
    warmup = warmup_line(result)
    time = np.append(samples["from_s"].to_numpy(), samples["to_s"].to_numpy()[-1:])
    x = Axis.of_time("time", time)

    def series(label: str, index: int, column: str, form: Form = "steps", part: str = "mean") -> Series:
        held = samples[column].to_numpy().astype(np.float64)
        return Series(label, index, time, np.append(held, held[-1:]), form, part=part)

    title = f"leg {number}: {leg['from']} – {leg['to']}, {carrier_name(leg['carrier'])}"
    most = int(samples["connection_requests_max"].max() or 0)  # type: ignore[arg-type]
    connections = (
        series("", 0, "open_max", "area", "most open"),
        series("open", 0, "open_mean"),
        series("busy", 1, "busy_mean"),
    )
    requests = (series("", 2, "requests_max", "area", "most"), series("requests", 2, "requests_mean"))
    return (
        Panel(x, Axis("connections", low=0), connections, warmup, title=title),
        Panel(x, Axis("requests", low=0), requests, warmup, note=f"at most {most:,} on one connection"),
    )
