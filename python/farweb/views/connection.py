"""Packets of one connection as the sender of its data saw them: what time–sequence and window plots draw."""

from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from farweb.errors import FarwebError, ResultsError
from farweb.results.legs import connection_uses
from farweb.results.run import RunTables, how_to_record

OPPOSITE = {"up": "down", "down": "up"}


@dataclass(frozen=True)
class Trace:
    """One connection at the sender of its data.

    Times are seconds since the connection's first packet; sequence numbers are relative: SYN 0, data from 1.

    Attributes:
        connection: Its number.
        leg: Number of its leg.
        direction: ``down`` or ``up``: the way that most of its payload goes.
        node: Where the sender is.
        sent: Segments as they left the sender: `time_s`, `seq`, `payload_bytes`, `flags`, `retransmission`.
        acks: Segments as they reached the sender: `time_s`, `ack`, `window_bytes`, `payload_bytes`, `sack`.
        drops: Segments that a link dropped on their way from the sender: `time_s`, `seq`, `payload_bytes`.
        state: The sender after each of its segments: `time_s`, `cwnd_bytes`, `ssthresh_bytes`, `pace_bps`, null where
            nothing paces, `bbr_state`, null with another control, `flight_bytes`.
        credit: How far the sender's application may fill its stream with its credit: `time_s`, `credit_limit`, null
            while no message is limited; no rows where none ever is.
        start_s: When the first packet was sent, in seconds of the run.
        carrier: Kind of the carrier of its leg.
        legs: How many legs the path has.
        request: Number of the request that limits the time shown, where it may have others; None: all of its life.
    """

    connection: int
    leg: int
    direction: str
    node: str
    sent: pl.DataFrame
    acks: pl.DataFrame
    drops: pl.DataFrame
    state: pl.DataFrame
    credit: pl.DataFrame
    start_s: float
    carrier: str = "http/1.0"
    legs: int = 1
    request: int | None = None

    @property
    def name(self) -> str:
        """Name in titles."""
        of_leg = f" (leg {self.leg}, {self.carrier})" if self.legs > 1 else ""
        return f"connection {self.connection}{of_leg}{'' if self.request is None else f', request {self.request}'}"


@dataclass(frozen=True)
class Stay:
    """A request on a connection: which, where, and from when to when in the run."""

    request: int
    connection: int
    leg: int
    start_ns: int
    end_ns: int


def trace(
    results: RunTables, connection: int | None = None, *, request: int | None = None, leg: int | None = None
) -> Trace:
    """Take one connection out of the packet table.

    Of a connection that may carry several requests, and that is found by one of them, the time of that one is shown.

    Args:
        results: A result with recorded packets.
        connection: Number of the connection; None: the request's.
        request: Number of the request that it carried. None: the slowest finished one with recorded packets.
        leg: Its leg. None: leg 0.

    Raises:
        ResultsError: No packets were recorded, or none of that connection, or the request is not known there.
    """
    stay = None
    if connection is None:
        stay = stay_of(results, request, leg or 0)
        connection = stay.connection
    rows = results.scan("packets").filter(pl.col("connection") == connection).collect()
    if rows.is_empty():
        raise ResultsError(_absent(results, connection))
    rows = rows.filter(pl.col("stretch") == pl.col("stretch").max())  # of a split the one with the sender of responses
    if "send" not in rows["event"]:
        raise ResultsError(
            f'{results.path}: packets of connection {connection} were recorded on links only; add "ends" to '
            "record.points and run again"
        )
    payload = rows.filter(pl.col("event") == "send").group_by("direction").agg(pl.col("payload_bytes").sum())
    most = payload.sort(["payload_bytes", "direction"], descending=[True, False])
    direction = str(most["direction"][0])
    legs, leg = results.manifest["scenario"]["leg"], int(rows["leg"][0])
    if not connection_uses(results.manifest)[leg].reused:
        stay = None
    rows = rows.sort("time_ns", maintain_order=True)
    start_ns = int(rows["time_ns"][0])
    rows = rows.with_columns(time_s=(pl.col("time_ns") - start_ns) / 1e9)
    forward = pl.col("direction") == direction
    sent = rows.filter(forward & (pl.col("event") == "send"))
    acks = rows.filter((pl.col("direction") == OPPOSITE[direction]) & (pl.col("event") == "receive"))
    at_sender = rows.filter((forward & (pl.col("event") == "send")) | (~forward & (pl.col("event") == "receive")))
    shown = _during(stay, start_ns)
    return Trace(
        connection=connection,
        leg=leg,
        direction=direction,
        node=str(sent["node"][0]),
        sent=sent.filter(shown).select("time_s", "seq", "payload_bytes", "flags", "retransmission"),
        acks=acks.filter(shown & pl.col("flags").str.contains(".", literal=True)).select(
            "time_s", "ack", "window_bytes", "payload_bytes", "sack"
        ),
        drops=rows.filter(shown & forward & (pl.col("event") == "drop")).select("time_s", "seq", "payload_bytes"),
        state=_state(at_sender, direction).filter(shown),
        credit=_credit(at_sender).filter(shown),
        start_s=start_ns / 1e9,
        carrier=str(legs[leg]["carrier"]["kind"]),
        legs=len(legs),
        request=None if stay is None else stay.request,
    )


TRACES_MAX = 4
"""Connections side by side; chosen: more are too narrow to be read."""


def traces(
    results: Sequence[RunTables], connections: Sequence[int], *, request: int | None = None, leg: int | None = None
) -> list[tuple[RunTables, Trace]]:
    """The connections that a figure shows side by side, each with its run.

    Args:
        results: Runs with recorded packets.
        connections: Numbers of connections of a run; of several runs one for all or one for each. Empty: the request's,
            in each run.
        request: As `trace` takes it.
        leg: As `trace` takes it.

    Raises:
        FarwebError: More connections than can be drawn, or not as many as there are runs.
        ResultsError: As `trace`.
    """
    if len(results) > 1 and len(connections) not in (0, 1, len(results)):
        raise FarwebError(
            f"{len(connections)} connections of {len(results)} runs: name one for all runs, or one for each of them"
        )
    wanted = [connections[0] if connections else None] * len(results)
    if len(connections) > 1:
        wanted = list(connections)
    runs = list(results) * (len(wanted) if len(results) == 1 else 1)
    if len(wanted) > TRACES_MAX:
        raise FarwebError(f"{len(wanted)} connections are more than can be drawn side by side: {TRACES_MAX} at most")
    return [
        (run, trace(run, connection, request=request, leg=leg)) for run, connection in zip(runs, wanted, strict=True)
    ]


def _during(stay: Stay | None, start_ns: int) -> pl.Expr:
    """Condition of rows in the time that is shown."""
    if stay is None:
        return pl.lit(True)
    return pl.col("time_s").is_between((stay.start_ns - start_ns) / 1e9, (stay.end_ns - start_ns) / 1e9)


def stay_of(results: RunTables, request: int | None, leg: int) -> Stay:
    """A request on the connection that carried its response over a leg.

    Args:
        results: A result with recorded packets.
        request: Number of the request. None: the slowest finished one with packets recorded on the leg, the first of
            equals.
        leg: Number of the leg. Others than 0 need the table `exchanges`.

    Raises:
        ResultsError: No packets were recorded, there is no such request or leg, or it is not known which connection
            carried it there.
    """
    stays = _stays(results, leg)
    if request is not None:
        found = stays.filter(pl.col("request") == request).collect()
        if found.is_empty():
            raise ResultsError(f"{results.path}: there is no request {request} on a connection of leg {leg}")
        return _stay(found, leg)
    recorded = results.scan("packets").select("connection").unique()
    finished = results.scan("requests").filter(pl.col("status") == "done").select("request")
    known = stays.join(recorded, on="connection", how="semi").join(finished, on="request", how="semi")
    latency = pl.col("end_ns") - pl.col("start_ns")
    first = known.sort([latency, pl.col("request")], descending=[True, False]).head(1).collect()
    if first.is_empty():
        raise ResultsError(f"{results.path}: no finished request has recorded packets; name one with --connection")
    return _stay(first, leg)


def _stay(found: pl.DataFrame, leg: int) -> Stay:
    row = found.row(0, named=True)
    return Stay(row["request"], row["connection"], leg, row["start_ns"], row["end_ns"])


def _stays(results: RunTables, leg: int) -> pl.LazyFrame:
    """Requests, their connection on a leg and their time there, the end of the run where they did not end."""
    number = len(results.manifest["scenario"].get("leg") or [None])
    if leg >= number:
        raise ResultsError(f"{results.path}: there is no leg {leg}; legs: 0 to {number - 1}")
    columns: Sequence[str] = ("request", "connection", "start_ns", "end_ns")
    if leg == 0:
        rows = results.scan("requests")
    elif results.has("exchanges"):
        carried = pl.col("connection_down").fill_null(pl.col("connection_up"))
        rows = results.scan("exchanges").filter(pl.col("leg") == leg).with_columns(connection=carried)
    else:
        raise ResultsError(
            f"{results.path}: does not say which connections carried requests over leg {leg}: "
            f"{how_to_record('exchanges')}, or name one with --connection"
        )
    ended = pl.col("end_ns").fill_null(results.manifest["now_ns"])
    return rows.select(columns).with_columns(end_ns=ended).filter(pl.col("connection").is_not_null())


def _absent(results: RunTables, connection: int) -> str:
    known = results.scan("packets").select(pl.col("connection").unique().sort()).collect()["connection"]
    if known.is_empty():
        return f'{results.path}: the packet table has no rows; set record.packets = "all" and run again'
    return (
        f"{results.path}: no packets of connection {connection}; there are {len(known):,} recorded connections "
        f"from {known[0]} to {known[-1]}"
    )


def _credit(at_sender: pl.DataFrame) -> pl.DataFrame:
    """Limit that the credit sets, after each packet that the sender sent or received."""
    credit = at_sender.select("time_s", "credit_limit")
    return credit.clear() if credit["credit_limit"].is_null().all() else credit


def _state(at_sender: pl.DataFrame, direction: str) -> pl.DataFrame:
    """The sender's windows, and its flight: highest sequence number sent less highest acknowledgement received."""
    ours = pl.col("direction") == direction
    # A SYN and a FIN take a sequence number each.
    length = pl.col("payload_bytes") + pl.col("flags").str.contains("[SF]").cast(pl.Int64)
    end = pl.when(ours).then(pl.col("seq") + length)
    acked = pl.when(~ours & pl.col("flags").str.contains(".", literal=True)).then(pl.col("ack"))
    return at_sender.with_columns(
        highest=end.cum_max().forward_fill().fill_null(0),
        acked=acked.cum_max().forward_fill().fill_null(0),
    ).select(
        "time_s",
        "cwnd_bytes",
        "ssthresh_bytes",
        "pace_bps",
        "bbr_state",
        # Before the first acknowledgement nothing of ours has been confirmed; before the first segment nothing flies.
        flight_bytes=(pl.col("highest") - pl.col("acked")).clip(lower_bound=0),
    )
