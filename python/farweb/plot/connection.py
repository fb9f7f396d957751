"""Connections as the senders of their data see them: which are drawn, their round trips, limits and recovery.

- A *round trip* begins with a segment of data and ends when that segment is acknowledged; the next one begins with the
  first segment of data after that. So slow start doubles from one to the next, and where the sender waits for its
  program nothing is counted.
- *Recovery* begins with a segment sent again and ends when all that was sent until then is acknowledged: `recover` of
  RFC 6582, whether an ACK or a timeout made it begin.
- *Slow start* is when the congestion window limits the sender and is below its threshold (RFC 5681, 3.1). BBR has none:
  its states STARTUP, DRAIN and PROBE_RTT are shaded, and what is not is PROBE_BW.
- *Limited by the window* is when the window that the receiver advertises does, as the smaller of the two.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from farweb.errors import FarwebError
from farweb.paint.figure import Figure, Panel, Phase
from farweb.plot.measured import provenance, short_labels
from farweb.results.run import RunTables
from farweb.views.connection import Trace, traces

Stretch = tuple[float, float]

SLOW_START, WINDOW, RECOVERY = "slow start", "limited by the window", "recovery"
STATES = ("STARTUP", "DRAIN", "PROBE_RTT")
"""States of BBR that are shaded; the names of all shades are their roles in `style.SHADES`."""


def chosen(
    name: str,
    results: Sequence[RunTables],
    connection: int | Sequence[int] | None,
    request: int | None,
    leg: int | None,
) -> list[tuple[RunTables, Trace]]:
    """The connections that a figure shows side by side, each with its run.

    Args:
        name: Of the figure.
        results: Runs with recorded packets.
        connection: Their numbers, as `traces` takes them, or the only one.
        request: Number of a request. None: the slowest finished one. Of a connection that may have others the time of
            this one is drawn.
        leg: The leg of its connection. None: leg 0.

    Raises:
        FarwebError: A connection is named and a request too, or more connections than can be drawn.
        ResultsError: No packets recorded, or none of that connection.
    """
    if connection is not None and (request is not None or leg is not None):
        raise FarwebError(f"plot {name}: name a connection, or the request and the leg that lead to it")
    numbers = [connection] if isinstance(connection, int) else list(connection or ())
    return traces(results, numbers, request=request, leg=leg)


def title(result: RunTables, one: Trace, results: Sequence[RunTables]) -> str:
    """Name of a connection and of its run."""
    name = short_labels(results)[list(results).index(result)]
    return f"{one.name} – {name}"


def shaded(ones: Sequence[Trace]) -> str:
    """The shades of connections, as a sentence for a caption."""
    bbr = [has_states(one) for one in ones]
    slow = [] if all(bbr) else ["slow start (cwnd is full, and below its threshold)"]
    states = ["the states of BBR but PROBE_BW"] if any(bbr) else []
    return (
        f"Shaded: {', '.join(slow + states)}, limited by the window (the advertised window is full, and no larger than "
        "cwnd) and recovery (from a retransmission until all sent before is acknowledged)."
    )


def counted(found: Sequence[tuple[RunTables, Trace]], results: Sequence[RunTables], *signs: str) -> str:
    """Number of segments of each connection and when it began; `signs`: of those sent again, and of those dropped."""
    again, dropped = (f" {sign}" if sign else "" for sign in signs or ("", ""))
    said = [
        f"{'' if len(found) == 1 else f'{title(result, one, results)}: '}n = {len(one.sent):,} segments sent, "
        f"{int(one.sent['retransmission'].sum()):,} of them again{again}, {len(one.drops):,} dropped{dropped}; the "
        f"connection begins {one.start_s:.3f} s into the run"
        for result, one in found
    ]
    return f"{'; '.join(said)}."


def side_by_side(
    what: str,
    found: Sequence[tuple[RunTables, Trace]],
    results: Sequence[RunTables],
    caption: Sequence[str],
    panels: Sequence[Panel],
    heights: tuple[float, float],
) -> Figure:
    """A figure of connections on the same axes.

    Args:
        what: The view of them.
        found: Connections, each with its run.
        results: All runs, as they are named beside one another.
        caption: Sentences; empty ones are left out.
        panels: By row, one a connection in each.
        heights: Of a single connection and of several, in inches.
    """
    single, rows = len(found) == 1, len(panels) // len(found)
    return Figure(
        f"{what} of {title(*found[0], results) if single else 'connections'}",
        " ".join(each for each in (*caption, provenance(results)) if each),
        tuple(panels),
        columns=len(found),
        size=(9, heights[0]) if single else (11, heights[1]),
        share_x="columns" if rows > 1 else not single,
        share_y=rows == 1 and not single,
    )


def round_trips(one: Trace) -> tuple[float, ...]:
    """When each round trip of a connection begins, in s."""
    data = one.sent.filter(pl.col("payload_bytes") > 0)
    sent, ends = data["time_s"].to_numpy(), (data["seq"] + data["payload_bytes"]).to_numpy()
    acked, acks = one.acks["time_s"].to_numpy(), np.maximum.accumulate(one.acks["ack"].to_numpy())
    begins: list[float] = []
    place = 0
    while place < len(sent):
        begins.append(float(sent[place]))
        answered = int(np.searchsorted(acks, ends[place]))
        if answered == len(acks):
            break
        place = int(np.searchsorted(sent, max(acked[answered], np.nextafter(sent[place], np.inf))))
    return tuple(begins)


def recoveries(one: Trace) -> list[Stretch]:
    """From when to when a connection recovers from losses, in s; the last one may end with the trace."""
    ends = (one.sent["seq"] + one.sent["payload_bytes"]).cum_max().to_list()
    acked, acks = one.acks["time_s"].to_list(), one.acks["ack"].to_list()
    found: list[Stretch] = []
    until = -np.inf
    for time, again, end in zip(one.sent["time_s"], one.sent["retransmission"], ends, strict=True):
        if not again or time < until:
            continue
        until = next((at for at, ack in zip(acked, acks, strict=True) if at >= time and ack >= end), _last(one))
        found.append((time, until))
    return found


def limited(one: Trace) -> dict[str, list[Stretch]]:
    """From when to when cwnd below its threshold, and when the advertised window, limits a connection, in s.

    Either does while it is the smaller one and another segment does not fit into it; of two that are alike the window,
    since cwnd may grow. Where the sender has nothing to send, paces, or recovers from a loss, neither does; nor does
    either after the last segment of data.
    """
    largest = int(one.sent["payload_bytes"].max() or 0)  # type: ignore[arg-type]
    state = one.state.drop_nulls("cwnd_bytes")
    found: dict[str, list[Stretch]] = {SLOW_START: [], WINDOW: []}
    if not largest or state.is_empty():
        return found
    windows = one.acks.select("time_s", "window_bytes") if has_window(one) else one.acks.clear()
    state = state.join_asof(windows.select("time_s", "window_bytes"), on="time_s").with_columns(
        full=pl.col("flight_bytes") + largest > pl.min_horizontal("cwnd_bytes", "window_bytes"),
        by_window=(pl.col("window_bytes") <= pl.col("cwnd_bytes")).fill_null(False),
        below=(pl.col("bbr_state").is_null() & (pl.col("cwnd_bytes") < pl.col("ssthresh_bytes"))).fill_null(False),
    )
    lost = recoveries(one)
    data = one.sent.filter(pl.col("payload_bytes") > 0)["time_s"]
    times = state["time_s"].clip(data[0], data[-1]).to_list()
    rows = state.select("full", "by_window", "below").iter_rows()
    for begin, end, (full, by_window, below) in zip(times, [*times[1:], times[-1]], rows, strict=True):
        if not full or end <= begin or not (by_window or below) or any(low <= begin < high for low, high in lost):
            continue
        stretches = found[WINDOW if by_window else SLOW_START]
        joined = bool(stretches) and stretches[-1][1] == begin
        stretches[-1:] = [(stretches[-1][0], end)] if joined else [*stretches[-1:], (begin, end)]
    return found


def has_states(one: Trace) -> bool:
    """True where BBR controls the sender."""
    return not one.state["bbr_state"].is_null().all()


def states(one: Trace) -> dict[str, list[Stretch]]:
    """From when to when BBR was in each of `STATES`, in s."""
    known = one.state.drop_nulls("bbr_state")
    changes = known.filter(pl.col("bbr_state").ne_missing(pl.col("bbr_state").shift()))
    times = [*changes["time_s"], *known["time_s"].tail(1)]
    stretches = list(zip(changes["bbr_state"], times, times[1:], strict=False))
    return {name: [(begin, end) for state, begin, end in stretches if state == name] for name in STATES}


def has_window(one: Trace) -> bool:
    """True where the receiver ever advertised one; the one-way agents of ns-2 do not."""
    return bool((one.acks["window_bytes"] > 0).any())


def phases(one: Trace) -> tuple[Phase, ...]:
    """Slow start or the states of BBR, limits by the window, and recovery of a connection, to be shaded."""
    stretches = {**states(one), **limited(one), RECOVERY: recoveries(one)}
    return tuple(Phase(name, *stretch, name) for name, found in stretches.items() for stretch in found)


def first_loss(one: Trace) -> Stretch | None:
    """From when to when the first loss and its recovery last, in s: from the drop where that was recorded."""
    found = recoveries(one)
    if not found:
        return None
    begin, end = found[0]
    return min([begin, *one.drops["time_s"].to_list()]), end


def _last(one: Trace) -> float:
    """Time of the last fact known of a connection, in s."""
    times: Sequence[pl.Series] = (one.sent["time_s"], one.acks["time_s"], one.drops["time_s"])
    return max((float(each[-1]) for each in times if len(each)), default=0.0)
