"""Streams: a connection carries the bytes of its messages, whole and once; no end acknowledges bytes still to come."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field

from explorer.flights import flights
from explorer.reading import Leg, Row, Run, quantity
from explorer.rules import rule
from explorer.rules.exchanges import connect_bytes, response_size


@dataclass
class Half:
    """One direction of a connection: the numbers sent, those received without a gap, and those ahead of a gap."""

    sent: int = 0
    got: int = 0
    ahead: list[tuple[int, int]] = field(default_factory=list)

    def receive(self, start: int, end: int) -> None:
        self.ahead.append((start, end))
        self.ahead.sort()
        while self.ahead and self.ahead[0][0] <= self.got:
            self.got = max(self.got, self.ahead.pop(0)[1])


def _numbers(row: Row) -> tuple[int, int]:
    """Sequence numbers of a packet, from the first to the one after the last; SYN and FIN take one each."""
    length = row["payload_bytes"] + ("S" in row["flags"]) + ("F" in row["flags"])
    return row["seq"], row["seq"] + length


@rule("streams.acknowledged")
def acknowledged(run: Run) -> Iterator[str]:
    """Nothing is received that was not sent, nor acknowledged that was not received, nor sent beyond the window."""
    if not run.sees_ends:
        return
    halves: dict[tuple[int, int, str], Half] = defaultdict(Half)
    edges: dict[tuple[int, int, str], int] = {}
    other = {"up": "down", "down": "up"}
    for row in run.rows("packets"):
        if row["event"] not in ("send", "receive"):
            continue
        number, way = (row["connection"], row["stretch"]), row["direction"]
        is_agent = run.legs[row["leg"]].kind == "transfer"
        start, end = _numbers(row)
        if run.legs[row["leg"]].stands(row["stretch"]):
            for each in other:
                halves.setdefault((*number, each), Half(1, 1))
        half, reverse = halves[*number, way], (*number, other[way])
        where = f"connection {number[0]}, stretch {number[1]}, {way} at {row['time_ns']}"
        if row["event"] == "receive":
            if "R" not in row["flags"]:
                half.receive(start, end)
            if end > half.sent:
                yield f"{where}: {end} is received, and only {half.sent} was sent"
            if "." in row["flags"]:
                edges[reverse] = max(edges.get(reverse, 0), row["ack"] + row["window_bytes"])
            continue
        if "." in row["flags"] and not is_agent and row["ack"] > halves[reverse].got:
            yield f"{where}: {row['ack']} is acknowledged, and {halves[reverse].got} was received"
        edge = edges.get((*number, way))
        is_new = end > half.sent and row["payload_bytes"] > 1
        if edge is not None and is_new and not is_agent and row["seq"] + row["payload_bytes"] > edge:
            yield f"{where}: {end} is sent, and the window ends at {edge}"
        half.sent = max(half.sent, end)


def _carried(run: Run) -> dict[tuple[int, str], int]:
    """Bytes of the stream that the ends of each connection sent in each direction, without a CONNECT to a split."""
    sent: dict[tuple[int, str], int] = defaultdict(int)
    for flight in flights(run).values():
        head, (number, stretch, way, _) = flight.head, flight.key
        leg = run.legs[head["leg"]]
        if head["payload_bytes"] and stretch == leg.first_stretch(way):
            asked = leg.connect_bytes if way == "up" else 0
            sent[number, way] = max(sent[number, way], head["seq"] + head["payload_bytes"] - 1 - asked)
    return sent


@rule("streams.messages")
def messages(run: Run) -> Iterator[str]:
    """A connection carries the bytes of its requests and responses, its carrier's framing, and not a byte more."""
    if not (run.sees_ends and run.record["exchanges"] and run.record["connections"]):
        return
    sent = _carried(run)
    for place, leg in enumerate(run.legs):
        if leg.kind in ("http/2", "webmux", "transfer") or "tls" in leg.table:
            continue
        rows = [row for row in run.exchanges if row["leg"] == place]
        sizes = {row["request"]: response_size(run, row["request"], place) for row in rows}
        if any(row["resent"] for row in rows) or None in sizes.values():
            continue  # no table says what else, or which version, was on the connections
        own = [number for number, row in run.connections.items() if row["leg"] == place]
        is_whole = run.is_clean and run.until is None
        for number in own:
            up = sum(
                run.requests[row["request"]]["request_bytes"] - connect_bytes(run, row["request"], place)[0]
                for row in rows
                if row["connection_up"] == number
            )
            down = sum(sizes[row["request"]] or 0 for row in rows if row["connection_down"] == number)
            is_counted = is_whole and run.connections[number]["requests"] > 0
            yield from _compare(f"connection {number} up", sent[number, "up"], up, is_counted)
            if leg.kind != "mux":
                yield from _compare(f"connection {number} down", sent[number, "down"], down, is_counted)
        if leg.kind == "mux" and is_whole:
            down = sum(size or 0 for size in sizes.values())
            framing = sum(sent[number, "down"] for number in own) - down
            yield from _framing(f"leg {place}", leg, framing, down, len(rows))


def _compare(where: str, sent: int, messages: int, is_whole: bool) -> Iterator[str]:
    if sent > messages or (is_whole and sent != messages):
        yield f"{where}: {sent} B were sent, and its messages have {messages} B"


def _framing(where: str, leg: Leg, framing: int, payload: int, messages: int) -> Iterator[str]:
    overhead = leg.carrier.get("overhead", "20 B")
    if overhead == "none":
        is_right = framing == 0
    elif overhead.endswith("%"):
        is_right = framing == payload * 2 // 100
    else:
        each = quantity(overhead)
        is_right = framing % each == 0 and framing >= each * messages
    if not is_right:
        yield f"{where}: {framing} B of framing for {payload} B in {messages} messages, and the overhead is {overhead}"


@rule("streams.frames")
def frames(run: Run) -> Iterator[str]:
    """The frames of a message have its bytes; HTTP/2's have them without the header."""
    if not (run.sees_ends and run.record["exchanges"] and "frames" in run.tables):
        return
    data: dict[tuple[int, int, str], int] = defaultdict(int)
    for row in run.rows("frames"):
        if row["request"] is not None:
            data[row["leg"], row["request"], row["direction"]] += row["data_bytes"]
    for place, leg in enumerate(run.legs):
        if leg.kind not in ("http/2", "webmux") or "tls" in leg.table:
            continue
        for number, row in run.by_leg[place].items():
            if row["resent"] or row["end_ns"] is None:
                continue
            for way, whole in (
                ("up", run.requests[number]["request_bytes"] - connect_bytes(run, number, place)[0]),
                ("down", response_size(run, number, place)),
            ):
                if leg.kind == "http/2" and number in run.tunnels:
                    continue  # its header block is no larger than its first turn
                wanted = max(0, (whole or 0) - _text(leg, way))
                if whole is not None and data[place, number, way] != wanted:
                    framed = data[place, number, way]
                    yield f"request {number} on leg {place} {way}: frames with {framed} B, and {wanted} B to send"


def _text(leg: Leg, way: str) -> int:
    if leg.kind != "http/2":
        return 0
    key, default = {"up": ("request_text", 1024), "down": ("response_text", 250)}[way]
    return quantity(leg.carrier[key]) if key in leg.carrier else default
