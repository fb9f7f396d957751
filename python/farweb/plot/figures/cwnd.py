"""Congestion window, slow-start threshold, flight and pace of connections over time."""

from collections.abc import Sequence

import numpy as np
import polars as pl

from farweb.paint.figure import Axis, Figure, Panel, Phase, Series
from farweb.plot.catalogue import figure
from farweb.plot.connection import chosen, counted, phases, round_trips, shaded, side_by_side, title
from farweb.results.run import RunTables
from farweb.views.connection import Trace

WINDOW_ROOM = 1.5
"""Height limit of the advertised window, in the largest value of cwnd, threshold and flight. Chosen: they keep two
thirds of the picture."""

FOOT = 0.03
"""Height of marks of losses, as a share of the picture."""


@figure(
    "cwnd",
    of="side by side",
    shows="congestion window, threshold, flight and pace of connections",
    needs="record.packets",
)
def cwnd(
    results: Sequence[RunTables],
    *,
    connection: int | Sequence[int] | None = None,
    request: int | None = None,
    leg: int | None = None,
) -> Figure:
    """Limits of a connection, or of several side by side: windows and bytes in flight, at the sender of its data.

    Flight is the highest sequence number sent less the highest acknowledgement received. Slow start or the states of
    BBR, limits by the window and recovery are shaded, round trips are counted above. Where a sender paces, its pace is
    a panel below.

    Raises:
        FarwebError: As `chosen`.
        ResultsError: As `chosen`.
    """
    found = chosen("cwnd", results, connection, request, leg)
    ones = [one for _, one in found]
    single = len(ones) == 1
    x, y = _axes(ones)
    hidden = any(len(_threshold(one)) < len(_windows(one)) for one in ones)
    above = any(len(one.acks) and _lowest_window(one) > (y.high or 0) for one in ones)
    caption = (
        f"At {ones[0].node}, the sender ({ones[0].direction}). In flight: highest byte sent less highest acknowledged.",
        shaded(ones),
        "ssthresh is not drawn while it is above twice the rest." if hidden else "",
        "The advertised window lies above the picture." if above else "",
        counted(found, results),
    )
    panels = [_panel(one, x, y, "" if single else title(result, one, results)) for result, one in found]
    if not any(_paces(one) for one in ones):
        return side_by_side("Windows", found, results, caption, panels, (5, 5))
    fastest = max(float(one.state["pace_bps"].max() or 0) for one in ones)  # type: ignore[arg-type]
    pace = Axis("pace of payload", "bit/s", low=0, high=1.08 * fastest).fitted(fastest)
    panels += [_pace(one, x, pace, upper.phases) for one, upper in zip(ones, panels, strict=True)]
    return side_by_side("Windows and pace", found, results, caption, panels, (7, 7))


def _axes(ones: Sequence[Trace]) -> tuple[Axis, Axis]:
    """Limits common to all connections: the advertised window may leave the picture."""
    times = [time for one in ones for time in one.state["time_s"]]
    first = 0.0 if ones[0].request is None else min(times, default=0.0)
    x = Axis("time since the connection's first packet", "s", low=first, high=1.03 * max([*times, first + 1e-6]))
    own = max(
        float(max([1, *one.state["flight_bytes"], *_threshold(one)["ssthresh_bytes"], *_cwnd(one)])) for one in ones
    )
    windows = [window for one in ones for window in one.acks["window_bytes"] if window <= WINDOW_ROOM * own]
    y = Axis("window", "B", low=0, high=1.08 * max([own, *windows]))
    return x.fitted(max([*times, first])), y.fitted(own)


def _panel(one: Trace, x: Axis, y: Axis, name: str) -> Panel:
    windows, threshold = _windows(one), _threshold(one)
    time = windows["time_s"].to_numpy()
    foot = FOOT * (y.high or 1.0)
    series = [
        Series("in flight", "flight", *_columns(one.state, "flight_bytes"), "area", part="flight"),
        Series("cwnd", "cwnd", time, _column(windows, "cwnd_bytes"), "steps", part="cwnd"),
    ]
    if len(one.acks) and _lowest_window(one) <= (y.high or 0):
        series.append(
            Series("advertised window", "window", *_columns(one.acks, "window_bytes"), "steps", part="window")
        )
    if len(threshold):
        series.append(Series("ssthresh", "ssthresh", *_columns(threshold, "ssthresh_bytes"), "steps", part="ssthresh"))
    again = one.sent.filter(pl.col("retransmission"))["time_s"].to_numpy()
    for label, sign, times in (("retransmission", "v", again), ("dropped", "x", one.drops["time_s"].to_numpy())):
        if len(times):
            series.append(Series(label, "again", times, np.full(len(times), foot), "signs", sign=sign, part=label))
    return Panel(x, y, tuple(series), title=name, phases=phases(one), rounds=round_trips(one))


def _pace(one: Trace, x: Axis, y: Axis, shades: tuple[Phase, ...]) -> Panel:
    paced = one.state.drop_nulls("pace_bps")
    series = Series("pace", "pace", *_columns(paced, "pace_bps"), "steps", part="pace")
    return Panel(x, y, (series,), phases=shades)


def _paces(one: Trace) -> bool:
    return not one.state["pace_bps"].is_null().all()


def _windows(one: Trace) -> pl.DataFrame:
    return one.state.drop_nulls("cwnd_bytes")


def _cwnd(one: Trace) -> list[int]:
    return _windows(one)["cwnd_bytes"].to_list()


def _threshold(one: Trace) -> pl.DataFrame:
    """Threshold, if drawn: before the first loss it lies at 1 GB or so, and would flatten all the rest."""
    highest = max([1, *one.state["flight_bytes"], *_cwnd(one)])
    return _windows(one).filter(pl.col("ssthresh_bytes") <= 2 * highest)


def _lowest_window(one: Trace) -> float:
    return float(one.acks["window_bytes"].min() or 0)  # type: ignore[arg-type]


def _columns(frame: pl.DataFrame, name: str) -> tuple[np.ndarray, np.ndarray]:
    return frame["time_s"].to_numpy(), _column(frame, name)


def _column(frame: pl.DataFrame, name: str) -> np.ndarray:
    return frame[name].to_numpy().astype(np.float64)
