"""Time–sequence plot of one connection, in the vocabulary of Shawn Ostermann's tcptrace."""

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patheffects import withStroke

from farweb.plot import style
from farweb.plot.connection import Trace, trace
from farweb.plot.measured import labels, provenance
from farweb.results import Results

DATA = style.INK
ACK = "#009E73"
WINDOW = "#E69F00"
CREDIT = "#0072B2"
AGAIN = "#D55E00"
ENDS = "#9A4F82"
SACK = "#6A51E8"
"""Colours by role. tcptrace draws on black: data white, ACK green, window yellow, retransmission red, SACK purple, SYN
and FIN orange; here its hues, as far as they can be told apart on white with any colour vision; it knows no credit."""

ARROWS_POINTS = 9
"""Height of a full segment, in points, from which its bar has arrow heads; chosen: below, they run together."""

WINDOW_ROOM = 2.2
"""How far up the window line is followed, in sequence numbers sent; chosen: segments keep nearly half the picture."""


def timeseq(
    result: Results, connection: int | None = None, *, request: int | None = None, leg: int | None = None
) -> style.Chart:
    """Sequence numbers over time, at the sender of the data of one connection.

    A bar is a segment, from its first to its last byte; the stair below is what has been acknowledged, the stair above
    how far the advertised window allows to send. Of a carrier with credit a dashed stair is how far the sender's
    program may fill its stream with the credit that it has, of all messages together. Thin bars between them are blocks
    of selective acknowledgements, where they reached the sender.

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
    chart = style.Chart(figsize=(9, 6))
    axes = chart.subplots()
    window = _set_limits(axes, one)
    _draw_stairs(axes, one)
    _draw_credit(axes, one)
    _draw_sack(axes, one)
    _draw_segments(axes, one)
    _draw_ends(axes, one)
    axes.set_xlabel(f"time since the connection's first packet [s]  ({one.start_s:.3f} s into the run)")
    axes.set_ylabel("sequence number, relative")
    style.counted(axes.yaxis, "B")
    _draw_legend(axes, one, window)
    again = int(one.sent["retransmission"].sum())
    beyond = "" if window or not _has_window(one) else "The advertised window lies above the picture. "
    style.frame(
        chart,
        f"Time–sequence of {one.name} – {labels([result])[0]}",
        f"What {one.node} sent ({one.direction}) and the acknowledgements that came back to it, both as seen there. "
        f"n = {len(one.sent):,} segments sent, {again:,} of them again (R), {len(one.drops):,} dropped by a link (×). "
        f"{beyond}{provenance([result])}",
    )
    return chart


def _draw_segments(axes: Axes, one: Trace) -> None:
    data = one.sent.filter(one.sent["payload_bytes"] > 0)
    arrows = _points(axes, one.sent["payload_bytes"].to_list()) >= ARROWS_POINTS
    for again, colour in ((False, DATA), (True, AGAIN)):
        some = data.filter(data["retransmission"] == again)
        time = some["time_s"].to_numpy()
        low = some["seq"].to_numpy()
        high = low + some["payload_bytes"].to_numpy()
        bars = np.stack((np.column_stack((time, low)), np.column_stack((time, high))), axis=1)
        gid = "retransmissions" if again else "segments"
        width = 1.1 if arrows and not again else 2.2
        axes.add_collection(LineCollection(list(bars), colors=colour, linewidths=width, zorder=4, gid=gid))
        if arrows:
            axes.plot(time, high, linestyle="", marker=6, markersize=3.2, color=colour, zorder=4)
            axes.plot(time, low, linestyle="", marker=7, markersize=3.2, color=colour, zorder=4)
        elif again:
            axes.plot(time, (low + high) / 2, linestyle="", marker="|", markersize=6, color=colour, zorder=4)
        for x, y in zip(time, high, strict=True) if again else ():
            _name(axes, "R", (x, y), (0, 5), "center", colour)
    axes.plot(
        one.drops["time_s"].to_numpy(),
        (one.drops["seq"] + one.drops["payload_bytes"] / 2).to_numpy(),
        linestyle="",
        marker="x",
        markersize=6.5,
        markeredgewidth=1.8,
        color=AGAIN,
        zorder=6,
        gid="drops",
    )


def _points(axes: Axes, payload: Sequence[int]) -> float:
    """Height of the largest segment on paper, in points; the axes take about three quarters of the figure."""
    low, high = axes.get_ylim()
    figure = axes.get_figure()
    height = figure.get_figheight() if isinstance(figure, Figure) else 0.0
    return max(payload, default=0) / (high - low) * 0.75 * height * 72


def _draw_stairs(axes: Axes, one: Trace) -> None:
    """The ACK line with a tick for each acknowledgement that repeats the one before, and the window line."""
    time = one.acks["time_s"].to_numpy()
    ack = np.maximum.accumulate(one.acks["ack"].to_numpy())
    edge = np.maximum.accumulate(one.acks["ack"].to_numpy() + one.acks["window_bytes"].to_numpy())
    until = max([*time[-1:], *one.sent["time_s"].to_numpy()[-1:]], default=0.0)
    time = np.append(time, until)
    levels = [(ack, ACK, "ack"), (edge, WINDOW, "window")]
    for level, colour, gid in levels if _has_window(one) else levels[:1]:
        held = np.append(level, level[-1:] if len(level) else [0])
        axes.step(time, held, where="post", color=colour, linewidth=1.3, zorder=3, gid=gid)
    empty = one.acks["payload_bytes"].to_numpy() == 0
    repeated = np.flatnonzero((np.diff(one.acks["ack"].to_numpy(), prepend=-1) == 0) & empty)
    axes.plot(
        time[repeated], ack[repeated], linestyle="", marker=3, markersize=4, color=ACK, zorder=3, gid="repeated acks"
    )


def _draw_credit(axes: Axes, one: Trace) -> None:
    axes.step(
        one.credit["time_s"].to_numpy(),
        one.credit["credit_limit"].to_numpy(),
        where="post",
        color=CREDIT,
        linestyle=(0, (4, 1.5)),
        linewidth=1.3,
        zorder=3,
        gid="credit",
    )


def _has_window(one: Trace) -> bool:
    """Whether the receiver ever advertised one; the one-way agents of ns-2 do not."""
    return bool((one.acks["window_bytes"] > 0).any())


def _draw_sack(axes: Axes, one: Trace) -> None:
    """The blocks of selective acknowledgements, each from its first byte to its last."""
    blocks = one.acks.select("time_s", "sack").explode("sack").drop_nulls("sack").unnest("sack")
    time = blocks["time_s"].to_numpy()
    ends = (blocks["start"].to_numpy(), blocks["end"].to_numpy())
    bars = np.stack([np.column_stack((time, end)) for end in ends], axis=1)
    axes.add_collection(LineCollection(list(bars), colors=SACK, linewidths=0.9, zorder=3.5, gid="sack"))
    for end in ends:
        axes.plot(time, end, linestyle="", marker="_", markersize=3.5, markeredgewidth=0.9, color=SACK, zorder=3.5)


def _draw_ends(axes: Axes, one: Trace) -> None:
    """SYN and FIN, with their names where nothing else is: below the one, and beyond the last ACK of the other."""
    for letter, name, offset, side in (("S", "SYN", (5, -11), "left"), ("F", "FIN", (3, 4), "left")):
        some = one.sent.filter(one.sent["flags"].str.contains(letter))
        place = some["seq"] + some["payload_bytes"]
        for x, y, again in zip(some["time_s"], place, some["retransmission"], strict=True):
            axes.plot([x], [y], marker="D", markersize=4.5, color=ENDS, zorder=5)
            # A segment that carries data says by itself that it is sent again.
            told = f"{name} R" if again and not y > 0 else name
            _name(axes, told, (x, y), offset, side, AGAIN if told != name else ENDS)


def _name(
    axes: Axes, text: str, place: tuple[float, float], offset: tuple[float, float], side: str, colour: str
) -> None:
    """Write beside a place; with a white edge, so that it can be read across the lines."""
    axes.annotate(
        text,
        place,
        xytext=offset,
        textcoords="offset points",
        ha=side,
        color=colour,
        fontsize=8,
        zorder=6,
        path_effects=[withStroke(linewidth=2.5, foreground="white")],
    )


def _set_limits(axes: Axes, one: Trace) -> bool:
    """Limits by what was sent: the window line may leave the picture, the segments may not shrink to a line.

    Returns:
        Whether any of the window line is in the picture.
    """
    # All of a connection begins at 0; the stay of a request in the midst of it where that finds it.
    foot = 0 if one.request is None else min([*one.sent["seq"], *one.acks["ack"]], default=0)
    top = max(foot + 1, *(one.sent["seq"] + one.sent["payload_bytes"]).to_list())
    edges: list[int] = (one.acks["ack"] + one.acks["window_bytes"]).to_list()
    room = max(WINDOW_ROOM * (top - foot), 2_000)
    shown = _has_window(one) and min(edges) - foot < room
    highest = min(max([top, *(edges if shown else ()), *one.credit["credit_limit"].drop_nulls()]) - foot, room)
    axes.set_ylim(foot - 0.055 * highest, foot + 1.06 * highest)
    ends = [*one.sent["time_s"].to_list(), *one.acks["time_s"].to_list(), *one.drops["time_s"].to_list()]
    first = 0.0 if one.request is None else min(ends, default=0.0)
    length = max(max(ends, default=0.0) - first, 1e-6)
    axes.set_xlim(first - 0.02 * length, first + 1.05 * length)
    return shown


def _draw_legend(axes: Axes, one: Trace, window: bool) -> None:
    entries = [
        Line2D([], [], color=DATA, marker="|", markersize=10, linestyle="", label="segment"),
        Line2D([], [], color=ACK, label="acknowledged"),
    ]
    if window:
        entries.append(Line2D([], [], color=WINDOW, label="advertised window"))
    if len(one.credit):
        entries.append(Line2D([], [], color=CREDIT, linestyle=(0, (4, 1.5)), label="credit"))
    if (one.acks["sack"].list.len() > 0).any():
        entries.append(Line2D([], [], color=SACK, marker="|", markersize=10, linestyle="", label="SACK block"))
    if one.sent["retransmission"].any():
        entries.append(Line2D([], [], color=AGAIN, marker="|", markersize=10, linestyle="", label="sent again (R)"))
    if len(one.drops):
        entries.append(Line2D([], [], color=AGAIN, marker="x", markeredgewidth=1.8, linestyle="", label="dropped"))
    # Six in a row are as wide as the axes.
    style.legend(
        axes,
        columns=len(entries) if len(entries) <= 6 else 4,
        handles=entries,
        handlelength=1.1,
        handletextpad=0.5,
        columnspacing=1.3,
    )
