"""Packets: each sent once, then received or dropped, in order; connections count them."""

from collections import defaultdict
from collections.abc import Iterator

from explorer.flights import Flight, flights, size
from explorer.reading import Run
from explorer.rules import rule


@rule("packets.fate")
def fate(run: Run) -> Iterator[str]:
    """A packet is sent once and received or dropped once; it is under way in the end only where the run is cut off."""
    if not run.sees_ends:
        return
    for flight in flights(run).values():
        if flight.repeated:
            yield f"{flight} is seen twice at one place"
        if flight.sent is None:
            yield f"{flight} was never sent"
        if flight.received is not None and flight.dropped is not None:
            yield f"{flight} is received and dropped"
        if flight.received is None and flight.dropped is None and run.until is None:
            yield f"{flight} is lost on the way, and no link dropped it"
        seen = [flight.sent and flight.sent[0], *_places(flight), flight.received and flight.received[0]]
        times = [time for time in seen if time is not None]
        if times != sorted(times):
            yield f"{flight} is seen at {times}"


def _places(flight: Flight) -> list[int]:
    """When links saw it, in its direction."""
    return [flight.passed[link] for link in sorted(flight.passed, reverse=flight.key[2] == "down")]


@rule("packets.same")
def same(run: Run) -> Iterator[str]:
    """A packet looks the same wherever it is seen."""
    for flight in flights(run).values():
        for row in flight.differing:
            names = [name for name in row if name in flight.head and row[name] != flight.head[name]]
            names = [
                name
                for name in names
                if name in ("seq", "ack", "payload_bytes", "window_field", "window_bytes", "flags", "retransmission")
            ]
            seen = ", ".join(f"{name} {flight.head[name]} and {row[name]}" for name in names)
            yield f"{flight}: {seen} ({row['event']})"


@rule("packets.order")
def order(run: Run) -> Iterator[str]:
    """Packets of a connection are received in sending order, and numbered in it."""
    if not run.sees_ends:
        return
    ways: dict[tuple[int, int, str], list[Flight]] = defaultdict(list)
    for flight in flights(run).values():
        ways[flight.key[:3]].append(flight)
    for own in ways.values():
        by_number = sorted(own, key=lambda flight: flight.key[3])
        if [flight.key[3] for flight in by_number] != list(range(len(own))):
            yield f"{own[0]}: packets are numbered {[flight.key[3] for flight in by_number]}"
        for what in ("sent", "received"):
            places = [place for flight in by_number if (place := getattr(flight, what)) is not None]
            if places != sorted(places):
                yield f"{own[0]}: packets are {what} out of order"
    times = run.tables.get("packets", {}).get("time_ns", [])
    if times != sorted(times):
        yield "rows are not in order of time"


@rule("packets.connections")
def of_connections(run: Run) -> Iterator[str]:
    """A connection counts the packets and bytes that its ends sent on it."""
    if not (run.sees_ends and run.record["connections"]):
        return
    counts: dict[int, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for flight in flights(run).values():
        number, stretch, way, _ = flight.key
        if stretch != run.legs[flight.head["leg"]].first_stretch(way):
            continue
        counts[number][f"segments_{way}"] += 1
        counts[number][f"bytes_{way}"] += size(run, flight)
    for number, row in run.connections.items():
        for column in ("segments_up", "segments_down", "bytes_up", "bytes_down"):
            if row[column] != counts[number][column]:
                yield f"connection {number}: {column} is {row[column]}, and {counts[number][column]} were sent"
    for number in counts.keys() - run.connections.keys():
        yield f"packets were sent on connection {number}, which has no row"
