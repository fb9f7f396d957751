"""A link over time: what it carried, how full its queue was, and what it dropped, in both directions."""

from typing import Any

import numpy as np
import polars as pl

from farweb.errors import ResultsError
from farweb.plot.figure import Axis, Figure, Form, Panel, Series
from farweb.plot.measured import labels, provenance, warmup_line
from farweb.results.run import RunTables
from farweb.text.quantities import seconds

POINTS_MAX = 1_500
"""Intervals drawn; more are merged. Chosen: about the number of pixel columns of a panel."""

DIRECTIONS = ("down", "up")
"""Columns of the figure: responses ride down, requests up; most bytes go down."""


def link(result: RunTables, index: int | None = None) -> Figure:
    """Rate carried, queue, busy share and drops of one link over time, a column a direction.

    Args:
        result: What to draw.
        index: Number of the link, 0 at the clients; the busiest one when None.

    Raises:
        ResultsError: No recorded intervals, or no such link.
    """
    rows = result.links
    if rows.is_empty():
        raise ResultsError(
            f"{result.path}: the link table has no rows; run again with an interval, for example "
            'record.links_every = "1 s"'
        )
    numbers = sorted(rows["link"].unique().to_list())
    if index is None:
        index = _busiest(rows)
    if index not in numbers:
        raise ResultsError(f"{result.path}: there is no link {index}; links: {', '.join(map(str, numbers))}")
    columns = [_panels(result, rows, index, direction) for direction in DIRECTIONS]
    length_s = max(intervals(rows, index, direction)[1] for direction in DIRECTIONS)
    packets = rows["packets"].filter(rows["link"] == index).sum()
    return Figure(
        f"Link {index} over time – {labels([result])[0]}",
        f"Averages over {seconds(length_s)} of: IP bits carried, queue (line: time-weighted mean; shade: peak), share "
        f"of time in transmission; and packets dropped in each. Scales differ by column. n = {packets:,} packets. "
        f"{provenance([result])}",
        tuple(panel for row in zip(*columns, strict=True) for panel in row),
        columns=2,
        size=(9, 7),
        share_x=True,
    )


def _busiest(rows: pl.DataFrame) -> int:
    busy = rows.group_by("link").agg(pl.col("busy").mean()).sort(["busy", "link"], descending=[True, False])
    return int(busy["link"][0])


def intervals(rows: pl.DataFrame, index: int, direction: str) -> tuple[pl.DataFrame, float]:
    """Samples of one direction of a link, neighbours merged until there are at most `POINTS_MAX`.

    Returns:
        Columns `from_s`, `to_s` (s), `rate_bps` (bit/s), `queue_mean`, `queue_max` (B), `busy_percent` and `drops`, by
        time; and the time that a row covers, in s.
    """
    one = rows.filter((pl.col("link") == index) & (pl.col("direction") == direction)).sort("time_ns")
    merge = max(1, -(-len(one) // POINTS_MAX))
    length = pl.col("interval_ns")
    samples = (
        one.with_row_index("row")
        .group_by(pl.col("row") // merge, maintain_order=True)
        .agg(
            from_s=(pl.col("time_ns").first() - length.first()) / 1e9,
            to_s=pl.col("time_ns").last() / 1e9,
            rate_bps=pl.col("bytes").sum() * 8e9 / length.sum(),
            queue_mean=(pl.col("queue_bytes_mean") * length).sum() / length.sum(),
            queue_max=pl.col("queue_bytes_max").max(),
            busy_percent=(pl.col("busy") * length).sum() / length.sum() * 100,
            drops=pl.col("drops").sum(),
        )
        .drop("row")
    )
    return samples, float(one["interval_ns"].to_list()[0] if len(one) else 0) * merge / 1e9


def _panels(result: RunTables, rows: pl.DataFrame, index: int, direction: str) -> tuple[Panel, ...]:
    """The four panels of a direction, from the top."""
    samples, _ = intervals(rows, index, direction)
    time = np.append(samples["from_s"].to_numpy(), samples["to_s"].to_numpy()[-1:])
    x = Axis.of_time("time", time)

    def series(column: str, form: Form = "steps", style: int | None = 0, part: str = "") -> Series:
        held = samples[column].to_numpy().astype(np.float64)
        return Series("", style, time, np.append(held, held[-1:]), form, part=part)

    def panel(axis: Axis, *drawn: Series, weight: float, title: str = "", note: str = "") -> Panel:
        fitted = axis.fitted(*(each.y for each in drawn))
        return Panel(x, fitted, drawn, warmup_line(result), title=title, note=note, weight=weight)

    most = float(samples["busy_percent"].max() or 0)  # type: ignore[arg-type]
    busy = Axis("busy", "%", low=0, high=105 if most > 95 else None)
    drops = int(samples["drops"].sum())
    told = f"{drops:,} dropped in all" if drops else "none dropped"
    return (
        panel(
            Axis("carried", "bit/s", low=0),
            series("rate_bps"),
            weight=3,
            title=_title(result.manifest["scenario"], index, direction),
        ),
        panel(
            Axis("queue", "B", low=0),
            series("queue_max", "area", part="peak"),
            series("queue_mean", part="mean"),
            weight=3,
        ),
        panel(busy, series("busy_percent"), weight=1.6),
        panel(
            Axis("drops", low=0, high=None if drops else 1.5, whole=True),
            series("drops", "area", None),
            weight=1.6,
            note=told,
        ),
    )


def _title(scenario: dict[str, Any], index: int, direction: str) -> str:
    """What the scenario says about a direction of a link, in its own words."""
    nodes = scenario["path"]["nodes"]
    ends = nodes[index : index + 2]
    if direction == "down":
        ends.reverse()
    values = scenario["path"]["link"][index][direction]
    queue = f"queue {values['queue']}" if values.get("queue") else "unlimited queue"
    kind = values.get("loss", {}).get("kind", "none")
    loss = "" if kind == "none" else f", loss: {kind}"
    return f"{direction}, {ends[0]} → {ends[1]}\n{values['rate']}, {values['delay']}, {queue}{loss}"
