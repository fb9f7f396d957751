"""Packets, each put together from all rows that show it."""

from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from explorer.reading import Row, Run

HEADERS = 40  # IPv4 and TCP without options
SAME = ["seq", "ack", "payload_bytes", "window_field", "flags", "retransmission", "window_bytes"]

Key = tuple[int, int, str, int]


@dataclass
class Flight:
    """A packet of a connection on its way.

    Attributes:
        key: Connection, stretch, direction, and number among the packets of its sender.
        head: Its first row.
        sent: When its sender sent it, and the place of that row in the table; None where that was not seen.
        received: When the other end received it.
        dropped: When a link dropped it, and which.
        passed: When it was seen on links, by link.
        ecn: Its codepoint of ECN as links had it, by link; a link that drops it has it as well.
        differing: Rows where it looks different.
    """

    key: Key
    head: Row
    sent: tuple[int, int] | None = None
    received: tuple[int, int] | None = None
    dropped: tuple[int, int] | None = None
    passed: dict[int, int] = field(default_factory=dict)
    ecn: dict[int, str] = field(default_factory=dict)
    differing: list[Row] = field(default_factory=list)
    repeated: bool = False

    def __str__(self) -> str:
        connection, stretch, way, number = self.key
        what = f"{self.head['flags'] or 'no flag'}, {self.head['payload_bytes']} B"
        return f"packet {number} {way} on connection {connection}, stretch {stretch} ({what})"


@lru_cache(maxsize=2)
def flights(run: Run) -> dict[Key, Flight]:
    """The packets of a run, in the order of their first rows."""
    found: dict[Key, Flight] = {}
    for place, row in enumerate(run.rows("packets")):
        key = (row["connection"], row["stretch"], row["direction"], row["packet"])
        flight = found.get(key)
        if flight is None:
            flight = found[key] = Flight(key, row)
        elif any(row[name] != flight.head[name] for name in SAME):
            flight.differing.append(row)
        event, time = row["event"], row["time_ns"]
        if event == "send":
            flight.repeated |= flight.sent is not None
            flight.sent = (time, place)
        elif event == "receive":
            flight.repeated |= flight.received is not None
            flight.received = (time, place)
        elif event == "drop":
            flight.repeated |= flight.dropped is not None
            flight.dropped = (time, row["link"])
            flight.ecn[row["link"]] = row["ecn"]
        else:
            flight.repeated |= row["link"] in flight.passed
            flight.passed[row["link"]] = time
            flight.ecn[row["link"]] = row["ecn"]
    return found


def size(run: Run, flight: Flight) -> int:
    """Bytes of the IP packet; of ns-2's, those that its agents give it."""
    head = flight.head
    if run.legs[head["leg"]].kind == "transfer":
        return _agents_size(run.legs[head["leg"]].table["tcp"].get("constants", {}), head)
    words = sum(head[name] is not None for name in ("mss_bytes", "window_scale"))
    words += 3 if head["timestamp"] is not None else head["sack_permitted"]
    words += 1 + 2 * len(head["sack"]) if head["sack"] else 0
    return HEADERS + 4 * words + int(head["payload_bytes"])


def _agents_size(constants: dict[str, Any], head: Row) -> int:
    if head["payload_bytes"] == 0:
        return HEADERS
    payload = int(constants.get("packet_size", "512 B").removesuffix(" B"))
    has_header = constants.get("headers", True) and not (head["seq"] == 1 and not constants.get("syn", False))
    return payload + (HEADERS if has_header else 0)
