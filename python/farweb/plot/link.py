"""A link over time: what it carried, how full its queue was, and what it dropped, in both directions."""

from collections.abc import Sequence
from typing import Any

import polars as pl
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from farweb.errors import ResultsError
from farweb.plot import style
from farweb.plot.measured import labels, provenance
from farweb.quantities import seconds
from farweb.results import Results

POINTS_MAX = 1_500
"""Intervals drawn; more are merged. Chosen: about the number of pixel columns of a panel."""

DIRECTIONS = ("down", "up")
"""Columns of the figure: responses ride down, requests up; most bytes go down."""


def link(result: Results, index: int | None = None) -> style.Chart:
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
    chart = style.Chart(figsize=(9, 7))
    grid = chart.subplots(4, 2, sharex=True, height_ratios=(3, 3, 1.6, 1.6))
    length_s = 0.0
    for column, direction in enumerate(DIRECTIONS):
        samples, length_s = intervals(rows, index, direction)
        axes = list(grid[:, column])
        axes[0].set_title(_title(result.manifest["scenario"], index, direction), fontsize=9)
        _draw_direction(axes, samples, style.PALETTE[column])
        _say_drops(axes[3], samples)
        _label(axes)
    for axes, name in zip(grid[:, 0], ("carried", "queue", "busy [%]", "drops"), strict=True):
        axes.set_ylabel(name)
    packets = rows["packets"].filter(rows["link"] == index).sum()
    style.frame(
        chart,
        f"Link {index} over time – {labels([result])[0]}",
        f"Averages over {seconds(length_s)} of: IP bits carried, queue (line: time-weighted mean; shade: peak), share "
        f"of time in transmission; and packets dropped in each. Scales differ by column. n = {packets:,} packets. "
        f"{provenance([result])}",
    )
    return chart


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


def _draw_direction(axes: Sequence[Axes], samples: pl.DataFrame, colour: str) -> None:
    if samples.is_empty():
        return
    edges = [*samples["from_s"].to_list(), samples["to_s"][-1]]
    axes[0].stairs(samples["rate_bps"].to_numpy(), edges, color=colour, linewidth=1.2)
    axes[1].stairs(samples["queue_max"].to_numpy(), edges, color=colour, alpha=0.25, fill=True, linewidth=0)
    axes[1].stairs(samples["queue_mean"].to_numpy(), edges, color=colour, linewidth=1.2)
    axes[2].stairs(samples["busy_percent"].to_numpy(), edges, color=colour, linewidth=1.2)
    axes[3].stairs(samples["drops"].to_numpy(), edges, color=style.INK, fill=True, linewidth=0)
    axes[0].set_xlim(edges[0], edges[-1])


def _label(axes: Sequence[Axes]) -> None:
    for each in axes:
        each.set_ylim(bottom=0)
    style.counted(axes[0].yaxis, "bit/s")
    style.counted(axes[1].yaxis, "B")
    axes[2].set_ylim(0, min(105, axes[2].get_ylim()[1]))
    axes[3].yaxis.set_major_locator(MaxNLocator(nbins=3, integer=True))
    axes[3].set_ylim(0, max(1.5, axes[3].get_ylim()[1]))
    axes[3].set_xlabel("time [s]")


def _say_drops(axes: Axes, samples: pl.DataFrame) -> None:
    """How many there are, above the panel: bars may stand anywhere in it."""
    total = int(samples["drops"].sum())
    axes.set_title(f"{total:,} dropped in all" if total else "none dropped", loc="right", fontsize=8.5, pad=2)


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
