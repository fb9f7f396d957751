"""Congestion window, slow-start threshold and flight of one connection over time."""

from collections.abc import Sequence

import polars as pl
from matplotlib.axes import Axes

from farweb.plot import style
from farweb.plot.connection import trace
from farweb.plot.measured import labels, provenance
from farweb.results import Results


def cwnd(
    result: Results, connection: int | None = None, *, request: int | None = None, leg: int | None = None
) -> style.Chart:
    """What limited one connection: its windows and what was in flight, at the sender of its data.

    Flight is the highest sequence number sent less the highest acknowledgement received.

    Args:
        result: One with recorded packets.
        connection: Number of the connection; None: that of the request.
        request: Number of a request; None: the slowest finished one. Of a connection that may have others the time of
            this one is drawn.
        leg: The leg on which its connection is; None: leg 0.

    Raises:
        ResultsError: No packets recorded, or none of that connection.
    """
    one = trace(result, connection, request=request, leg=leg)
    chart = style.Chart(figsize=(9, 5))
    axes = chart.subplots()
    time = one.state["time_s"].to_numpy()
    flight = one.state["flight_bytes"].to_numpy()
    axes.fill_between(
        time, flight, step="post", color=style.QUIET, alpha=0.25, linewidth=0, label="in flight", gid="flight"
    )
    windows = one.state.filter(pl.col("cwnd_bytes").is_not_null())
    seen = windows["time_s"].to_numpy()
    axes.step(seen, windows["cwnd_bytes"], where="post", color=style.PALETTE[0], label="cwnd", gid="cwnd")
    axes.step(
        one.acks["time_s"],
        one.acks["window_bytes"],
        where="post",
        color=style.PALETTE[4],
        linewidth=1.1,
        label="advertised window",
        gid="window",
    )
    highest = max([1, *one.state["flight_bytes"], *windows["cwnd_bytes"], *one.acks["window_bytes"]])
    # A threshold that no loss has set yet lies at 1 GB or so: an axis that reached it would flatten all the rest.
    threshold = windows.filter(pl.col("ssthresh_bytes") <= 2 * highest)
    axes.step(
        threshold["time_s"],
        threshold["ssthresh_bytes"],
        where="post",
        color=style.PALETTE[1],
        linestyle=style.LINES[1],
        label="ssthresh" if len(threshold) else None,
        gid="ssthresh",
    )
    _mark(axes, one.sent.filter(pl.col("retransmission"))["time_s"].to_list(), "sent again", "v")
    _mark(axes, one.drops["time_s"].to_list(), "dropped", "x")
    axes.set_xlabel(f"time since the connection's first packet [s]  ({one.start_s:.3f} s into the run)")
    axes.set_ylabel("window")
    style.counted(axes.yaxis, "B")
    axes.set_ylim(0, 1.08 * max([highest, *threshold["ssthresh_bytes"]]))
    if one.request is None:
        axes.set_xlim(left=0)
    style.legend(axes, columns=6)
    hidden = "" if len(threshold) == len(windows) else " ssthresh is not drawn while it is above twice the rest."
    style.frame(
        chart,
        f"Windows of {one.name} – {labels([result])[0]}",
        f"At {one.node}, the sender ({one.direction}). In flight: highest byte sent less highest acknowledged.{hidden} "
        f"n = {len(one.sent):,} segments sent, {int(one.sent['retransmission'].sum()):,} of them again, "
        f"{len(one.drops):,} dropped. {provenance([result])}",
    )
    return chart


def _mark(axes: Axes, times: Sequence[float], label: str, marker: str) -> None:
    """Mark moments at the foot of the axes."""
    if times:
        axes.plot(
            times,
            [0.03] * len(times),
            transform=axes.get_xaxis_transform(),
            linestyle="",
            marker=marker,
            markersize=6,
            markeredgewidth=1.5,
            color=style.PALETTE[1],
            label=label,
            gid=label,
        )
