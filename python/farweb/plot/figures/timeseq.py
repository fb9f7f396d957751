"""Time–sequence plot of connections, in the vocabulary of Shawn Ostermann's tcptrace."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from farweb.paint.figure import INSETS, Axis, Figure, Floats, Panel, Series
from farweb.plot.catalogue import figure
from farweb.plot.connection import (
    chosen,
    counted,
    first_loss,
    has_window,
    phases,
    round_trips,
    shaded,
    side_by_side,
    title,
)
from farweb.results.run import RunTables
from farweb.views.connection import Trace

ROOM = 1.12
"""Height of the picture, in sequence numbers sent: a limiting window touches the data."""

ENLARGED = 0.35
"""Share of the time shown that a loss may take to be enlarged. Chosen: more is large enough as it is."""

HIDDEN = 0.02
"""Share of the drawing that an inset may hide. Chosen: a line that passes behind it, and no part of the story."""

NAMED = 30
"""Most retransmissions with a letter each. Chosen: more hide the marks below them."""


@figure(
    "timeseq",
    of="side by side",
    shows="time–sequence plot of connections: segments, ACKs, window, SACK",
    needs="record.packets",
)
def timeseq(
    results: Sequence[RunTables],
    *,
    connection: int | Sequence[int] | None = None,
    request: int | None = None,
    leg: int | None = None,
) -> Figure:
    """Sequence numbers over time, at the sender of the data of a connection, or of several side by side.

    A bar is a segment, from its first to its last byte; the stair below is what has been acknowledged, the stair above
    how far the advertised window allows to send. Of a carrier with credit a dashed stair is how far the sender's
    program may fill its stream with the credit that it has, of all messages together. Thin bars between them are blocks
    of selective acknowledgements, where they reached the sender. Slow start or the states of BBR, limits by the
    window and recovery are shaded, round trips are counted above. A short loss is enlarged.

    Raises:
        FarwebError: As `chosen`.
        ResultsError: As `chosen`.
    """
    found = chosen("timeseq", results, connection, request, leg)
    ones = [one for _, one in found]
    single = len(ones) == 1
    x, y = _axes(ones)
    panels = tuple(_panel(one, x, y, "" if single else title(result, one, results)) for result, one in found)
    if single:
        (panel,) = panels
        corner = _free_corner(panel)
        panels = (replace(panel, inset=_loss(ones[0], panel), inset_at=corner) if corner else panel,)
    caption = (
        f"What {ones[0].node} sent ({ones[0].direction}) and the acknowledgements that came back to it, both as seen "
        "there.",
        shaded(ones),
        counted(found, results, "(R)", "by a link (×)"),
        _beyond(ones, y),
    )
    return side_by_side("Time–sequence", found, results, caption, panels, (6, 5.5))


def _beyond(ones: Sequence[Trace], y: Axis) -> str:
    """Place of the advertised window, if that is not in the picture."""
    if any(has_window(one) and not _shows_window(one, y) for one in ones):
        return "The advertised window lies above the picture."
    return ""


def _axes(ones: Sequence[Trace]) -> tuple[Axis, Axis]:
    """Limits by the data sent, common to all connections: the window may leave the picture."""
    # All of a connection begins at 0; the stay of a request in the midst of it where that finds it.
    feet = [0 if one.request is None else min([*one.sent["seq"], *one.acks["ack"]], default=0) for one in ones]
    foot = min(feet)
    top = max(foot + 1, *(end for one in ones for end in (one.sent["seq"] + one.sent["payload_bytes"])))
    top = max([top, *(limit for one in ones for limit in one.credit["credit_limit"].drop_nulls() if limit < 2 * top)])
    begins, ends = [], []
    for one in ones:
        times = [*one.sent["time_s"], *one.acks["time_s"], *one.drops["time_s"]]
        begins.append(0.0 if one.request is None else min(times, default=0.0))
        ends.append(max(times, default=0.0))
    first, length = min(begins), max(max(ends) - min(begins), 1e-6)
    height = max(top - foot, 1)
    x = Axis("time since the connection's first packet", "s", low=first - 0.02 * length, high=first + 1.05 * length)
    y = Axis("sequence number, relative", "B", low=foot - 0.055 * height, high=foot + ROOM * height)
    return x.fitted(first + length), y.fitted(float(top))


def _panel(one: Trace, x: Axis, y: Axis, name: str) -> Panel:
    series = (*_stairs(one, y), *_credit(one), *_sack(one), *_segments(one), *_ends(one))
    return Panel(x, y, series, title=name, phases=phases(one), rounds=round_trips(one))


def _loss(one: Trace, panel: Panel) -> Panel | None:
    """The first loss, enlarged, or None where there is none, or it fills the picture."""
    stretch = first_loss(one)
    if stretch is None or panel.x.low is None or panel.x.high is None:
        return None
    begin, end = stretch
    if not 0 < end - begin < ENLARGED * (panel.x.high - panel.x.low):
        return None
    margin = 0.06 * (end - begin)
    during = pl.col("time_s").is_between(begin - margin, end + margin)
    sent, acks = one.sent.filter(during), one.acks.filter(during)
    low = float(min([*sent["seq"], *acks["ack"]]))
    high = float(max([*(sent["seq"] + sent["payload_bytes"]), *acks["ack"]]))
    room = 0.08 * max(high - low, 1.0)
    return replace(
        panel,
        x=replace(panel.x, low=begin - margin, high=end + margin),
        y=replace(panel.y, low=low - room, high=high + room),
        title="the first loss",
        rounds=(),
        phases=(),
    )


def _free_corner(panel: Panel) -> str:
    """The corner where an inset hides least, or an empty name where it would hide much in each."""
    x, y = (np.concatenate([getattr(series, axis) for series in panel.series]) for axis in ("x", "y"))
    across, up = (
        (values - (axis.low or 0.0)) / ((axis.high or 1.0) - (axis.low or 0.0))
        for values, axis in ((x, panel.x), (y, panel.y))
    )
    hidden = {
        corner: float(
            ((across > left) & (across < left + width) & (up > bottom) & (up < bottom + height)).mean() if len(x) else 0
        )
        for corner, (left, bottom, width, height) in INSETS.items()
    }
    best = min(hidden, key=lambda corner: hidden[corner])
    return best if hidden[best] <= HIDDEN else ""


def _segments(one: Trace) -> tuple[Series, ...]:
    """Data sent, retransmissions with a letter, and drops of links."""
    data = one.sent.filter(one.sent["payload_bytes"] > 0)
    drawn = []
    for again, role, label, part in (
        (False, "data", "segment", "segments"),
        (True, "again", "retransmission (R)", "retransmissions"),
    ):
        some = data.filter(data["retransmission"] == again)
        low = some["seq"].to_numpy().astype(np.float64)
        high = low + some["payload_bytes"].to_numpy()
        shown = label if len(some) or not again else ""
        drawn.append(Series(shown, role, some["time_s"].to_numpy(), high, "spans", low, high, part=part))
        if again:
            letters = ("R",) * len(some) if len(some) <= NAMED else ()
            drawn.append(Series("", role, some["time_s"].to_numpy(), high, "signs", sign="_", part="R", names=letters))
    middle = (one.drops["seq"] + one.drops["payload_bytes"] / 2).to_numpy()
    dropped = Series(
        "dropped" if len(middle) else "", "again", one.drops["time_s"].to_numpy(), middle, "signs", sign="x"
    )
    return (*drawn, replace(dropped, part="drops"))


def _stairs(one: Trace, y: Axis) -> tuple[Series, ...]:
    """The ACK line with a tick for each acknowledgement that repeats the one before, and the window line."""
    time = one.acks["time_s"].to_numpy()
    ack = np.maximum.accumulate(one.acks["ack"].to_numpy())
    edge = np.maximum.accumulate(one.acks["ack"].to_numpy() + one.acks["window_bytes"].to_numpy())
    until = max([*time[-1:], *one.sent["time_s"].to_numpy()[-1:]], default=0.0)
    held = np.append(time, until)

    def stair(label: str, role: str, level: Floats) -> Series:
        return Series(label, role, held, np.append(level, level[-1:] if len(level) else [0]), "steps", part=role)

    empty = one.acks["payload_bytes"].to_numpy() == 0
    repeated = np.flatnonzero((np.diff(one.acks["ack"].to_numpy(), prepend=-1) == 0) & empty)
    ticks = Series("", "ack", time[repeated], ack[repeated], "signs", sign="|", part="repeated acks")
    window = (stair("advertised window", "window", edge),) if _shows_window(one, y) else ()
    return (stair("acknowledged", "ack", ack), *window, ticks)


def _credit(one: Trace) -> tuple[Series, ...]:
    limit = one.credit["credit_limit"].cast(pl.Float64).fill_null(np.nan).to_numpy()
    drawn = Series("credit", "credit", one.credit["time_s"].to_numpy(), limit, "steps", part="credit")
    return (drawn,) if len(limit) else ()


def _shows_window(one: Trace, y: Axis) -> bool:
    """True when any of the window line is in the picture."""
    edges = one.acks["ack"] + one.acks["window_bytes"]
    return has_window(one) and y.high is not None and float(edges.min() or 0) < y.high  # type: ignore[arg-type]


def _sack(one: Trace) -> tuple[Series, ...]:
    """The blocks of selective acknowledgements, each from its first byte to its last."""
    blocks = one.acks.select("time_s", "sack").explode("sack").drop_nulls("sack").unnest("sack")
    if blocks.is_empty():
        return ()
    low, high = (blocks[end].to_numpy().astype(np.float64) for end in ("start", "end"))
    return (Series("SACK block", "sack", blocks["time_s"].to_numpy(), high, "spans", low, high, part="sack"),)


def _ends(one: Trace) -> tuple[Series, ...]:
    """SYN and FIN, with their names."""
    drawn = []
    for letter, name in (("S", "SYN"), ("F", "FIN")):
        some = one.sent.filter(one.sent["flags"].str.contains(letter))
        place = (some["seq"] + some["payload_bytes"]).to_numpy().astype(np.float64)
        # A segment that carries data says by itself that it is sent again.
        again = (some["retransmission"] & (some["payload_bytes"] == 0)).to_list()
        names = tuple(f"{name} R" if each else name for each in again)
        drawn.append(Series("", "ends", some["time_s"].to_numpy(), place, "signs", sign="D", part=name, names=names))
    return tuple(drawn)
