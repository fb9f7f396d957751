"""Exchanges: a request on each leg, in order, one leg after the other, no faster than the path."""

from collections.abc import Iterator

from explorer.reading import Leg, Row, Run, quantity
from explorer.rules import rule

PARTS = ["cwnd", "pacing", "window", "nagle", "recovery", "handshake", "credit", "application"]
NOT_MODIFIED = 200
OWN_ANSWERS = ("hit", "delayed hit", "revalidated")


def is_conditional(run: Run, request: int, leg: int) -> bool:
    """True when the exchange of a request on a leg asks only whether a copy is still good, and finds it so."""
    if leg == 0 or request not in run.by_leg[leg - 1]:
        return False
    below = run.by_leg[leg - 1][request]["cache_answer"]
    return below == "revalidated" or (below not in OWN_ANSWERS and is_conditional(run, request, leg - 1))


def response_size(run: Run, request: int, leg: int) -> int | None:
    """Bytes of the response to a request on a leg; None where no table says which version that was."""
    if is_conditional(run, request, leg):
        return NOT_MODIFIED
    row = run.requests[request]
    if request in run.tunnels:
        return int(row["response_bytes"]) - connect_bytes(run, request, leg)[1]
    if row["status"] == "done" or not any("policy" in cache for cache in run.caches.values()):
        return served_bytes(row)
    return None


def connect_bytes(run: Run, request: int, leg: int) -> tuple[int, int]:
    """Bytes of a CONNECT and of its answer that a leg does not carry: behind the last proxy."""
    return run.tunnels.get(request, (0, 0)) if leg > 0 and leg == len(run.legs) - 1 else (0, 0)


def served_bytes(row: Row) -> int:
    """Bytes of the version of the object that serves a request."""
    return int(row["response_bytes"] if row["served_bytes"] is None else row["served_bytes"])


def server_place(run: Run, row: Row) -> int:
    """Place among the nodes at which the response to an exchange begins on its leg, or the nearest at which it may."""
    leg = run.legs[row["leg"]]
    inside = [run.nodes.index(node) for node in run.caches_inside(leg)]
    by = run.requests[row["request"]]["served_by"]
    if by is not None and leg.near < run.nodes.index(by) < leg.far:
        return run.nodes.index(by)
    return inside[0] if inside and row["cache_answer"] in OWN_ANSWERS else leg.far


@rule("exchanges.requests")
def of_requests(run: Run) -> Iterator[str]:
    """Every request has an exchange on the first leg, which is its row; legs follow one another without a gap."""
    if not run.record["exchanges"]:
        return
    for number, request in run.requests.items():
        first = run.by_leg[0].get(number)
        if first is None:
            yield f"request {number} has no exchange"
            continue
        for column in ("start_ns", "connect_ns", "first_byte_ns", "end_ns"):
            if first[column] != request[column]:
                yield f"request {number}: {column} is {request[column]}, and {first[column]} of its exchange"
        carried = first["connection_down"] if first["connection_down"] is not None else first["connection_up"]
        if carried != request["connection"]:
            yield f"request {number} is on connection {request['connection']}, and its exchange on {carried}"
    for leg in range(1, len(run.legs)):
        for number in run.by_leg[leg].keys() - run.by_leg[leg - 1].keys():
            yield f"request {number} is on leg {leg}, and was not on leg {leg - 1}"
    if all(row["resent"] == 0 for row in run.exchanges) and not _may_go_again(run):
        rows = [(row["request"], row["leg"]) for row in run.exchanges]
        if len(rows) != len(set(rows)):
            yield "a request has two exchanges on a leg"


def _may_go_again(run: Run) -> bool:
    """True when a request that waited for a fetch may go on by itself."""
    return bool(run.caches) and any(row["status"] != "done" for row in run.requests.values())


@rule("exchanges.times")
def times(run: Run) -> Iterator[str]:
    """Events of an exchange come in order."""
    for row in run.exchanges:
        for chain in (
            ("start_ns", "connect_ns", "tunnel_ready_ns", "requested_ns", "ready_first_ns", "ready_last_ns"),
            ("ready_last_ns", "sent_last_ns", "end_ns"),
            ("ready_first_ns", "first_byte_ns", "end_ns"),
        ):
            known = [row[name] for name in chain if row[name] is not None]
            if known != sorted(known):
                yield f"{_name(row)}: {dict(zip(chain, (row[name] for name in chain), strict=True))}"
        if row["end_ns"] is not None and row["sent_last_ns"] is None:
            yield f"{_name(row)} ends, and its last byte was not sent"
        latest = max(
            row[name] or 0 for name in row if name.endswith("_ns") and name.split("_")[0] in ("start", "end", "sent")
        )
        if run.end is not None and latest > run.end:
            yield f"{_name(row)}: {latest} is behind the end of the run, {run.end}"


def _name(row: Row) -> str:
    return f"request {row['request']} on leg {row['leg']}"


@rule("exchanges.parts")
def parts(run: Run) -> Iterator[str]:
    """What holds a response adds up to the time from its first byte there to its last byte sent."""
    for row in run.exchanges:
        values = [row[f"{part}_ns"] for part in PARTS]
        if row["sent_last_ns"] is None:
            if any(value is not None for value in values):
                yield f"{_name(row)} was not sent, and was held for {values}"
            continue
        span = row["sent_last_ns"] - row["ready_first_ns"]
        if min(values) < 0 or sum(values) != span or not 0 <= row["buffer_ns"] <= row["window_ns"]:
            yield f"{_name(row)}: {values}, of the window {row['buffer_ns']} for the buffer, of {span} ns"


@rule("exchanges.chain")
def chain(run: Run) -> Iterator[str]:
    """A request goes on when whole; a response as it is read, or when whole where stored first or without a body."""
    for leg in range(1, len(run.legs)):
        node = run.nodes[run.legs[leg].near]
        cache = run.caches.get(node)
        for number, above in run.by_leg[leg].items():
            below = run.by_leg[leg - 1].get(number)
            if below is None or below["cache_answer"] in ("delayed hit", "hit") or below["resent"] or above["resent"]:
                continue
            name = f"request {number} from leg {leg - 1} to {leg}"
            if number in run.tunnels:
                if below["tunnel_ready_ns"] is not None and above["connect_ns"] > below["tunnel_ready_ns"]:
                    yield f"{name} is ready at {below['tunnel_ready_ns']}, and connected at {above['connect_ns']}"
            elif below["requested_ns"] != above["start_ns"] and not _may_go_again(run):
                yield f"{name} is whole at {below['requested_ns']} and starts at {above['start_ns']}"
            if below["cache_answer"] == "revalidated":
                if above["end_ns"] is not None and below["ready_first_ns"] not in (None, above["end_ns"]):
                    yield f"{name} is found good at {above['end_ns']}, and sent on from {below['ready_first_ns']}"
                continue
            stores = cache is not None and cache.get("mode") == "store-and-forward" and number not in run.tunnels
            is_stored = stores or (cache is not None and is_conditional(run, number, leg))
            first = above["end_ns"] if is_stored else above["first_byte_ns"]
            if below["ready_first_ns"] is not None and below["ready_first_ns"] != first:
                yield f"{name} is read from {first}, and goes on from {below['ready_first_ns']}"
            if below["ready_last_ns"] is not None and below["ready_last_ns"] != above["end_ns"]:
                yield f"{name} is read until {above['end_ns']}, and goes on until {below['ready_last_ns']}"


@rule("exchanges.done")
def done(run: Run) -> Iterator[str]:
    """A request that is done has gone as far as the node that served it, and has all its times on the way."""
    if not run.record["exchanges"]:
        return
    for number, request in run.requests.items():
        if request["status"] != "done":
            continue
        for leg, own in enumerate(run.legs):
            row = run.by_leg[leg].get(number)
            if row is None:
                yield f"request {number} is done, and was not on leg {leg}"
                break
            needed = ["ready_first_ns", "ready_last_ns", "sent_last_ns", "first_byte_ns", "end_ns", "connection_down"]
            needed += [] if own.kind == "transfer" else ["connect_ns", "requested_ns", "connection_up"]
            for column in needed:
                if row[column] is None:
                    yield f"{_name(row)} is done without {column}"
            if row["cache_answer"] in OWN_ANSWERS:
                break


@rule("exchanges.travel")
def travel(run: Run) -> Iterator[str]:
    """No message is faster than the path: its delays, and its bytes at the slowest rate."""
    for row in run.exchanges:
        leg = run.legs[row["leg"]]
        near, far = leg.near, server_place(run, row)
        up = [link["up"] for link in run.links[near:far]]
        down = [link["down"] for link in run.links[near:far]]
        size = run.requests[row["request"]]["request_bytes"] - _text(leg, "request_text", 1024)
        size -= connect_bytes(run, row["request"], row["leg"])[0]
        least = sum(way.delay for way in up) + max(way.sent_in(max(size, 0)) for way in up)
        if None not in (row["connect_ns"], row["requested_ns"]) and row["requested_ns"] - row["connect_ns"] < least:
            yield f"{_name(row)} is asked in {row['requested_ns'] - row['connect_ns']} ns; the path takes {least}"
        if row["end_ns"] is None or row["ready_first_ns"] is None:
            continue
        size = (response_size(run, row["request"], row["leg"]) or 0) - _text(leg, "response_text", 250)
        size = 0 if row["request"] in run.tunnels else size  # of the last turn
        delay = sum(way.delay for way in down)
        least = delay + max(way.sent_in(max(size, 0)) for way in down)
        if row["end_ns"] - row["ready_first_ns"] < least:
            yield f"{_name(row)} is answered in {row['end_ns'] - row['ready_first_ns']} ns; the path takes {least}"
        if leg.splits and not row["sent_last_ns"] <= row["relayed_last_ns"] <= row["end_ns"]:
            yield f"{_name(row)} is sent, relayed at {row['relayed_last_ns']} and read: {row}"
        if row["end_ns"] - row["sent_last_ns"] < delay or row["first_byte_ns"] - row["ready_first_ns"] < delay:
            yield f"{_name(row)}: a byte is faster than the delay of {delay} ns"
        first = run.stretches(leg)[0][1] - near
        opens = sum(way.delay for way in [*up[:first], *down[:first]])
        if leg.kind == "http/1.0" and row["connect_ns"] - row["start_ns"] < opens:
            yield f"{_name(row)} has its connection in {row['connect_ns'] - row['start_ns']} ns"


def _text(leg: Leg, key: str, default: int) -> int:
    """Bytes of a message that HTTP/2 sends as a header block, of another size."""
    if leg.kind != "http/2":
        return 0
    return quantity(leg.carrier[key]) if key in leg.carrier else default
