"""The packets of one connection as the sender of its data saw them: what time–sequence and window plots draw."""

from dataclasses import dataclass

import polars as pl

from farweb.errors import ResultsError
from farweb.results import Results

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
        state: The sender after each of its segments: `time_s`, `cwnd_bytes`, `ssthresh_bytes`, `flight_bytes`.
        start_s: When the first packet was sent, in seconds of the run.
    """

    connection: int
    leg: int
    direction: str
    node: str
    sent: pl.DataFrame
    acks: pl.DataFrame
    drops: pl.DataFrame
    state: pl.DataFrame
    start_s: float


def trace(results: Results, connection: int | None) -> Trace:
    """Take one connection out of the packet table.

    Args:
        results: A result with recorded packets.
        connection: Number of the connection; None: that of the slowest finished request among the recorded ones.

    Raises:
        ResultsError: No packets were recorded, or none of that connection.
    """
    if connection is None:
        connection = slowest(results)
    rows = results.scan("packets").filter(pl.col("connection") == connection).collect()
    if rows.is_empty():
        raise ResultsError(_absent(results, connection))
    if "send" not in rows["event"]:
        raise ResultsError(
            f'{results.path}: packets of connection {connection} were recorded on links only; add "ends" to '
            "record.points and run again"
        )
    payload = rows.filter(pl.col("event") == "send").group_by("direction").agg(pl.col("payload_bytes").sum())
    most = payload.sort(["payload_bytes", "direction"], descending=[True, False])
    direction = str(most["direction"][0])
    rows = rows.sort("time_ns", maintain_order=True)
    start_ns = int(rows["time_ns"][0])
    rows = rows.with_columns(time_s=(pl.col("time_ns") - start_ns) / 1e9)
    forward = pl.col("direction") == direction
    sent = rows.filter(forward & (pl.col("event") == "send"))
    acks = rows.filter((pl.col("direction") == OPPOSITE[direction]) & (pl.col("event") == "receive"))
    at_sender = rows.filter((forward & (pl.col("event") == "send")) | (~forward & (pl.col("event") == "receive")))
    return Trace(
        connection=connection,
        leg=int(rows["leg"][0]),
        direction=direction,
        node=str(sent["node"][0]),
        sent=sent.select("time_s", "seq", "payload_bytes", "flags", "retransmission"),
        acks=acks.filter(pl.col("flags").str.contains(".", literal=True)).select(
            "time_s", "ack", "window_bytes", "payload_bytes", "sack"
        ),
        drops=rows.filter(forward & (pl.col("event") == "drop")).select("time_s", "seq", "payload_bytes"),
        state=_state(at_sender, direction),
        start_s=start_ns / 1e9,
    )


def slowest(results: Results) -> int:
    """Connection of the slowest finished request of which packets were recorded; the first of equals.

    Raises:
        ResultsError: No packets were recorded, or no request of theirs finished.
    """
    recorded = results.scan("packets").select("connection").unique()
    finished = results.scan("requests").filter(pl.col("status") == "done").join(recorded, on="connection", how="semi")
    latency = pl.col("end_ns") - pl.col("start_ns")
    first = finished.sort([latency, pl.col("request")], descending=[True, False]).head(1).collect()
    if first.is_empty():
        raise ResultsError(f"{results.path}: no finished request has recorded packets; name one with --connection")
    return int(first["connection"][0])


def _absent(results: Results, connection: int) -> str:
    known = results.scan("packets").select(pl.col("connection").unique().sort()).collect()["connection"]
    if known.is_empty():
        return f'{results.path}: the packet table has no rows; set record.packets = "all" and run again'
    return (
        f"{results.path}: no packets of connection {connection}; there are {len(known):,} recorded connections "
        f"from {known[0]} to {known[-1]}"
    )


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
        # Before the first acknowledgement nothing of ours has been confirmed; before the first segment nothing flies.
        flight_bytes=(pl.col("highest") - pl.col("acked")).clip(lower_bound=0),
    )
