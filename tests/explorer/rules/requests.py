"""Requests: those that were asked, in order, each with an end."""

from collections import Counter
from collections.abc import Iterator
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from explorer.reading import Row, Run, quantity
from explorer.rules import rule
from explorer.way import S

Asked = tuple[int, str, int | None, str | None, str | None, int, int]

_VISIT_GAP = 1800 * S

MASK = (1 << 64) - 1


def fnv1a(data: bytes) -> int:
    """The 64-bit FNV-1a hash (RFC 9923)."""
    value = 0xCBF29CE484222325
    for byte in data:
        value = (value ^ byte) * 0x100000001B3 & MASK
    return value


def object_id(text: str) -> int | None:
    """Id of an object that a request table names."""
    if not text:
        return None
    return int(text) if text.isdigit() else fnv1a(text.encode())


def _asked(run: Run) -> list[Asked]:
    """Columns as the request table and the load have them: start, host, object, source, tag, sizes."""
    workload = run.scenario["workload"]
    load = workload.get("load", 1) if workload.get("scale", "copies") == "copies" else 1
    offset = quantity(workload.get("copies_offset", "37 s"))
    period = quantity(workload["period"]) if "period" in workload else None
    days = sorted({int(row["day"]) for row in run.asked}) if "day" in run.asked[0] else [None]
    asked = []
    # Where days are drawn, each may run as often as there are days at the same time.
    for place in range(load * len(days) if workload.get("resample") == "days" else load):
        day, copy = days[place % len(days)], place // len(days)
        for row in run.asked:
            if day is not None and int(row["day"]) != day:
                continue
            start = _start(row["start_s"], workload.get("speed")) + copy * offset
            host, thing, tag = row["host"], object_id(row.get("object", "")), row.get("tag") or None
            if copy > 0:
                tag = None
                if workload.get("copies_hosts") == "renamed":
                    host = f"{host}~{copy}"
                    if thing is not None:
                        thing = fnv1a(thing.to_bytes(8, "little") + copy.to_bytes(4, "little"))
            asked.append(
                (
                    start if period is None else start % period,
                    host,
                    thing,
                    row.get("source") or None,
                    tag,
                    int(row["request_bytes"]),
                    int(row["response_bytes"]),
                )
            )
    return asked


def _start(text: str, speed: float | None) -> int:
    start = (Decimal(text) * S).to_integral_value(ROUND_HALF_UP)
    return int(start) if speed is None else int((start / Decimal(str(speed))).to_integral_value(ROUND_HALF_UP))


def _seen(row: Row) -> Asked:
    return (
        row["start_ns"],
        row["host"],
        row["object"],
        row["source"],
        row["tag"],
        row["request_bytes"],
        row["response_bytes"],
    )


@rule("requests.asked")
def asked_once(run: Run) -> Iterator[str]:
    """Every request that starts before the end of the run has one row, with what the table says of it."""
    rows = run.rows("requests")
    numbers = sorted(row["request"] for row in rows)
    if numbers != list(range(len(rows))):
        yield f"requests are numbered {numbers}"
    by_number = sorted(rows, key=lambda row: row["request"])
    starts = [row["start_ns"] for row in by_number]
    if starts != sorted(starts):
        yield f"requests by number start at {starts}"
    asked = [one for one in _asked(run) if run.until is None or one[0] <= run.until]
    workload = run.scenario["workload"]
    if workload.get("scale") == "rate" or workload.get("resample") == "clients":
        yield from _drawn(run, asked, rows)
        return
    if workload.get("resample") == "days":
        yield from (f"there, and of no day: {seen}" for seen in map(_seen, rows) if seen not in asked)
        return
    missing, more = Counter(asked), Counter(map(_seen, rows))
    for one in (missing - more).elements():
        yield f"asked, and not there: {one}"
    for one in (more - missing).elements():
        yield f"there, and not asked: {one}"


@rule("requests.visits")
def visits(run: Run) -> Iterator[str]:
    """A visit begins where its client has asked nothing for half an hour; others have none."""
    last: dict[int, int] = {}
    for row in sorted(run.rows("requests"), key=lambda row: row["request"]):
        client, start = row["client"], row["start_ns"]
        is_later = client in last and start - last[client] < _VISIT_GAP
        expected = None if client is None else "later" if is_later else "first"
        if row["visit_request"] != expected:
            yield f"request {row['request']} of client {client} is {row['visit_request']} in its visit, not {expected}"
        if client is not None:
            last[client] = start


def _drawn(run: Run, asked: list[Asked], rows: list[Row]) -> Iterator[str]:
    """Of a rate, or of clients drawn anew, each row is a request of the table, at its time or up to an offset later."""
    workload = run.scenario["workload"]
    load, offset = workload.get("load", 1), quantity(workload.get("copies_offset", "37 s"))
    is_rate, has_doubles = workload.get("scale") == "rate", workload.get("resample") == "clients"
    offset *= is_rate + has_doubles
    for row in rows:
        seen = _seen(row)
        if not any(
            seen[1:4] + seen[5:] == one[1:4] + one[5:] and one[0] <= seen[0] < one[0] + offset + (offset == 0)
            for one in asked
        ):
            yield f"request {row['request']} is no repeat of one in the table: {seen}"
    if run.until is None and is_rate and not has_doubles and len(rows) > (int(load) + 1) * len(asked):
        yield f"{len(rows)} requests of {len(asked)} at a load of {load}"


@rule("requests.clients drawn")
def drawn_whole(run: Run) -> Iterator[str]:
    """A client that is drawn asks all that it asks in the table, in the same order."""
    workload = run.scenario["workload"]
    if workload.get("resample") != "clients" or workload.get("scale") == "rate" or run.until is not None:
        return
    if "period" in workload or workload.get("copies_hosts") == "renamed":
        return
    table: dict[str, list[tuple[int, int]]] = {}
    for row in run.asked:
        table.setdefault(row["client"], []).append((int(row["request_bytes"]), int(row["response_bytes"])))
    possible = [sorted(sizes) for sizes in table.values()]
    drawn: dict[int, list[tuple[int, int]]] = {}
    for seen in run.rows("requests"):
        drawn.setdefault(seen["client"], []).append((seen["request_bytes"], seen["response_bytes"]))
    for client, sizes in drawn.items():
        if sorted(sizes) not in possible:
            yield f"client {client} asks {sizes}, as none of the table does"


@rule("requests.times")
def in_order(run: Run) -> Iterator[str]:
    """Start, connection, first byte and end follow each other, before the run ends; so does the acknowledgement.

    What a program has yet to wake for is acknowledged before it is read, and so is what a relay has taken.
    """
    sleeps = "wake" in run.legs[0].table.get("application", {}) or bool(run.legs[0].splits)
    for row in run.rows("requests"):
        names = ["start_ns", "connect_ns", "first_byte_ns", "end_ns", "acked_ns"]
        times = [row[name] for name in names[: 4 if sleeps else 5] if row[name] is not None]
        if times != sorted(times):
            yield f"request {row['request']}: {[row[name] for name in names]}"
        latest = max(*times, row["acked_ns"] or 0, row["failed_ns"] or 0)
        if run.end is not None and latest > run.end:
            yield f"request {row['request']}: {latest} ns is behind the end of the run, {run.end} ns"
        if row["end_ns"] is not None and row["first_byte_ns"] is None:
            yield f"request {row['request']} ends without a first byte"


@rule("requests.ends")
def every_request_ends(run: Run) -> Iterator[str]:
    """A request is done, or has failed with a cause; only where the run is cut off is it unfinished without one."""
    for row in run.rows("requests"):
        name = f"request {row['request']}"
        is_done = row["status"] == "done"
        if (
            is_done != (row["end_ns"] is not None)
            or is_done != (row["failure"] is None)
            or is_done != (row["failed_ns"] is None)
        ):
            yield f"{name}: {_cause(row)} and an end at {row['end_ns']}"
        if row["failed_ns"] is not None and row["failed_ns"] < row["start_ns"]:
            yield f"{name}: {_cause(row)}, and it starts at {row['start_ns']}"
        if row["status"] == "unfinished" and run.until is None:
            yield f"{name}: {_cause(row)}, and the run is not cut off"
        if row["failure"] == "run ended":
            if run.until is None:
                yield f"{name} is open, and nothing is left to happen"
            elif row["failed_ns"] != run.until:
                yield f"{name}: {_cause(row)}, and the run ends at {run.until}"


def _cause(row: Row) -> str:
    return f"{row['status']}, {row['failure']} at {row['failed_ns']}"


@rule("requests.patience")
def gives_up(run: Run) -> Iterator[str]:
    """A client waits no longer than it has patience, and gives up no earlier."""
    for row in run.rows("requests"):
        name = f"request {row['request']}"
        if run.patience is None:
            continue
        last = row["start_ns"] + run.patience
        if row["end_ns"] is not None and row["end_ns"] > last:
            yield f"{name} ends at {row['end_ns']}, and its client waits until {last}"
        if row["failed_ns"] is not None and row["failed_ns"] > last:
            yield f"{name} is given up at {row['failed_ns']} ({row['failure']}), and its client waits until {last}"


@rule("requests.served_by")
def served_by(run: Run) -> Iterator[str]:
    """Who serves a request is a cache or the last node, or the one that the table names."""
    servers = {*run.caches, run.nodes[-1]}
    is_listed = all(not {"policy", "hit_ratio"} & set(cache) for cache in run.caches.values())
    is_transfer = run.legs[0].kind == "transfer"
    for row in run.rows("requests"):
        name, by = f"request {row['request']}", row["served_by"]
        if by is None and row["first_byte_ns"] is not None:
            yield f"{name} has a first byte of no node"
        if by is None:
            continue
        if not (run.caches or is_transfer) and by != run.nodes[-1]:
            yield f"{name} is served by {by}, and there is no cache"
        if by not in servers and not is_transfer:
            yield f"{name} is served by {by}, which has no cache"
        if is_listed and (run.caches or is_transfer) and by != (row["source"] or run.nodes[-1]):
            yield f"{name} is served by {by}, and the table says {row['source']}"


@rule("requests.connection")
def connection(run: Run) -> Iterator[str]:
    """The connection of a request is one of the first leg, to its host, and there while it is answered."""
    for row in run.rows("requests"):
        name, number = f"request {row['request']}", row["connection"]
        if number is None:
            if row["status"] == "done" or row["first_byte_ns"] is not None:
                yield f"{name} has a response and no connection"
            continue
        if row["retransmits"] < 0 or row["timeouts"] < 0:
            yield f"{name}: {row['retransmits']} retransmits, {row['timeouts']} timeouts"
        if not run.record["connections"]:
            continue
        own: dict[str, Any] | None = run.connections.get(number)
        if own is None or own["leg"] != 0:
            yield f"{name} is on connection {number}, which is none of the first leg"
            continue
        if own["host"] not in (None, row["host"]):
            yield f"{name} for {row['host']} is on connection {number} to {own['host']}"
        if row["retransmits"] > own["retransmits"] or row["timeouts"] > own["timeouts"]:
            yield f"{name} counts more sent again than its connection {number}"
        if row["first_byte_ns"] is not None and row["first_byte_ns"] < own["open_ns"]:
            yield f"{name} has its first byte before connection {number} opens"
        if row["end_ns"] is not None and own["close_ns"] is not None and row["end_ns"] > own["close_ns"]:
            yield f"{name} ends at {row['end_ns']}, and its connection {number} at {own['close_ns']}"


@rule("requests.served_bytes")
def served_bytes(run: Run) -> Iterator[str]:
    """A request is served a version of its object that someone asked for; where no cache is live, its own."""
    versions: dict[int | None, set[int]] = {}
    for row in run.rows("requests"):
        versions.setdefault(row["object"], set()).add(row["response_bytes"])
    for row in run.rows("requests"):
        name, size = f"request {row['request']}", row["served_bytes"]
        if size is None:
            if row["first_byte_ns"] is not None:
                yield f"{name} has a first byte, and nothing is served"
            continue
        if size != row["response_bytes"]:
            if not any("policy" in cache for cache in run.caches.values()):
                yield f"{name} is served {size} B and not {row['response_bytes']} B, and there is no live cache"
            elif row["object"] is None or size not in versions[row["object"]]:
                yield f"{name} is served {size} B, and the object's versions are {sorted(versions[row['object']])}"
