"""Connections: their lives, their loads, and the times something held them."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from explorer.flights import flights
from explorer.reading import Row, Run
from explorer.rules import rule

_BROWSER = {"per_host": 6, "total": 256}  # limits of a client of its own, where the carrier has no other
HELD = ["cwnd", "pacing", "window", "buffer", "nagle", "recovery", "handshake", "credit", "application", "nothing"]


def life(run: Run, row: Row) -> int | None:
    """Time for which a connection was open, in ns, where that is known."""
    end = row["close_ns"] if row["close_ns"] is not None else run.end
    return None if end is None else int(end - row["open_ns"])


@rule("connections.lives")
def lives(run: Run) -> Iterator[str]:
    """Connections are numbered as they open, close later, and are busy while they are open."""
    rows = run.rows("connections")
    by_number = sorted(rows, key=lambda row: row["connection"])
    if [row["connection"] for row in by_number] != list(range(len(rows))):
        yield f"connections are numbered {[row['connection'] for row in by_number]}"
    opened = [row["open_ns"] for row in by_number]
    if opened != sorted(opened):
        yield f"connections by number open at {opened}"
    for row in by_number:
        span = life(run, row)
        if span is not None and not 0 <= row["busy_ns"] <= span:
            yield f"connection {row['connection']} is busy for {row['busy_ns']} of {span} ns"
        if row["close_ns"] is not None and run.end is not None and row["close_ns"] > run.end:
            yield f"connection {row['connection']} closes at {row['close_ns']}, and the run ends at {run.end}"
        if row["busy_ns"] > 0 and row["requests"] == 0:
            yield f"connection {row['connection']} is busy with no request"


@rule("connections.carrier")
def carrier(run: Run) -> Iterator[str]:
    """A connection carries what its carrier lets it, for a host where it belongs to one."""
    for row in run.rows("connections"):
        name, leg = f"connection {row['connection']} of leg {row['leg']}", run.legs[row["leg"]]
        one_at_a_time = leg.kind in ("http/1.0", "http/1.1", "transfer")
        if row["requests_max"] > (1 if one_at_a_time else row["requests"]):
            yield f"{name}: {row['requests_max']} requests at once, {row['requests']} in all"
        most = 1 if leg.kind in ("http/1.0", "transfer") else leg.carrier.get("per_connection", row["requests"])
        if row["requests"] > most:
            yield f"{name}: {row['requests']} requests, and {most} at most"
        belongs_to_host = leg is run.legs[-1] or leg.kind == "http/1.0"
        if (row["host"] is not None) != belongs_to_host:
            yield f"{name} is for {row['host']}"


@rule("connections.requests")
def requests(run: Run) -> Iterator[str]:
    """A connection counts the exchanges that it carried."""
    if not (run.record["connections"] and run.record["exchanges"]):
        return
    carried: Counter[int] = Counter()
    for row in run.exchanges:
        carried.update({row["connection_up"], row["connection_down"]} - {None})
    for number, row in run.connections.items():
        resent = sum(other["resent"] for other in run.by_leg[row["leg"]].values())
        if not carried[number] <= row["requests"] <= carried[number] + resent:
            yield f"connection {number} counts {row['requests']} requests, and {carried[number]} exchanges were on it"
    for number in set(carried) - set(run.connections):
        yield f"exchanges were on connection {number}, which has no row"


@rule("connections.clients")
def clients(run: Run) -> Iterator[str]:
    """On the first leg a client's connections carry its own requests alone, unless all come through one place."""
    asks = {number: row["client"] for number, row in run.requests.items()}
    on: dict[int, set[int | None]] = {}
    for row in run.exchanges:
        for number in {row["connection_up"], row["connection_down"]} - {None}:
            on.setdefault(number, set()).add(asks[row["request"]])
    for number, row in run.connections.items():
        leg = run.legs[row["leg"]]
        is_for_all = leg.kind == "mux" or leg.carrier.get("open_rule") == "fixed"
        is_own = row["leg"] == 0 and run.is_each and not is_for_all
        if row["client"] is not None and not is_own:
            yield f"connection {number} of leg {row['leg']} is of client {row['client']}, where clients share"
        if is_own and on.get(number, {row["client"]}) != {row["client"]}:
            yield f"connection {number} is of client {row['client']}, and carries requests of {on[number]}"


@rule("connections.handshakes")
def handshakes(run: Run) -> Iterator[str]:
    """A connection begins as its leg says; a client resumes only where it had one to this server before."""
    earlier: set[tuple[int, int, str | None]] = set()
    for row in sorted(run.connections.values(), key=lambda row: row["open_ns"]):
        tls = run.legs[row["leg"]].table.get("tls")
        name, start = f"connection {row['connection']}", None if tls is None else tls.get("start", "full")
        key = (row["leg"], row["client"], row["host"])
        if row["client"] is None or start in (None, "full"):
            if row["handshake"] not in (start, None):
                yield f"{name} begins with {row['handshake']}, and the leg says {start}"
        elif row["handshake"] not in ("full", start, None):
            yield f"{name} of client {row['client']} begins with {row['handshake']}, and the leg says {start}"
        elif row["handshake"] == start and key not in earlier:
            yield f"{name} of client {row['client']} resumes, and it had none with {row['host']} before"
        earlier.add(key)


@rule("connections.held")
def held(run: Run) -> Iterator[str]:
    """The clocks of what holds a sender add up to the life of its connection, and are kept with exchanges alone."""
    for row in run.rows("connections"):
        clocks = [row[f"held_{cause}_ns"] for cause in HELD]
        if not run.record["exchanges"]:
            if any(clock is not None for clock in clocks):
                yield f"connection {row['connection']} has clocks {clocks}, and exchanges are not recorded"
            continue
        span = life(run, row)
        if min(clocks) < 0 or (span is not None and sum(clocks) != span):
            yield f"connection {row['connection']}: {clocks} of {span} ns"


@rule("connections.pool")
def pool(run: Run) -> Iterator[str]:
    """A leg has no more connections at once than its carrier allows, up to what ends each at the client end.

    Tunnels count apart at each host.
    """
    if not (run.sees_ends and run.record["connections"] and run.record["exchanges"]):
        return
    if not run.methods and any(row.get("method") == "CONNECT" for row in run.asked):
        return
    ends = _client_ends(run)
    tunnels = {row["connection_up"] for row in run.exchanges if run.methods.get(row["request"]) == "CONNECT"}
    for place, leg in enumerate(run.legs):
        of_leg = [row for row in run.connections.values() if row["leg"] == place]
        if leg.kind == "mux":
            yield from _within(of_leg, ends, leg.carrier["connections"], f"leg {place}")
        if leg.kind != "http/1.1":
            continue
        _end_when_used_up(run, place, ends)
        for client in {row["client"] for row in of_leg}:
            own = [row for row in of_leg if row["client"] == client]
            limits = dict(_BROWSER) if client is not None else {}
            limits |= {key: leg.carrier[key] for key in ("per_host", "total") if key in leg.carrier}
            where = f"leg {place}" + ("" if client is None else f" of client {client}")
            if "total" in limits:
                yield from _within(own, ends, limits["total"], where)
            if "per_host" not in limits:
                continue
            is_last = leg is run.legs[-1]  # on the others all connections are to the same proxy
            groups: dict[tuple[str, bool], list[Row]] = {}
            for row in own:
                key = (str(row["host"]) if is_last else run.nodes[leg.far], row["connection"] in tunnels)
                groups.setdefault(key, []).append(row)
            for (to, is_tunnel), rows in sorted(groups.items()):
                yield from _within(rows, ends, limits["per_host"], f"{where} to {to}{' (tunnels)' * is_tunnel}")


def _client_ends(run: Run) -> dict[int, int]:
    """When the client end of each connection sent or received the first segment that ends it, or its request failed.

    A connection that is being opened ends without a segment, and a FIN waits behind the bytes to send.
    """
    ends: dict[int, int] = {}
    for row in run.rows("packets"):
        is_near = (row["event"], row["direction"]) in (("send", "up"), ("receive", "down"))
        if is_near and row["stretch"] == 0 and ("F" in row["flags"] or "R" in row["flags"]):
            ends.setdefault(row["connection"], row["time_ns"])
    for row in run.exchanges:
        failed = run.requests[row["request"]]["failed_ns"]
        if failed is not None and row["connection_up"] is not None and row["end_ns"] is None:
            ends[row["connection_up"]] = min(failed, ends.get(row["connection_up"], failed))
    return ends


def _end_when_used_up(run: Run, place: int, ends: dict[int, int]) -> None:
    """A client end that closes behind its last request does so at once; its FIN may wait for a congestion window."""
    carrier = run.legs[place].carrier
    if carrier.get("closed_by") != "client" or "per_connection" not in carrier:
        return
    read: dict[int, list[int]] = {}
    for row in run.exchanges:
        if row["leg"] == place and row["end_ns"] is not None:
            read.setdefault(row["connection_up"], []).append(row["end_ns"])
    for connection, times in read.items():
        if len(times) == carrier["per_connection"]:
            ends[connection] = min(max(times), ends.get(connection, max(times)))


def _within(rows: list[Row], ends: dict[int, int], most: int, where: str) -> Iterator[str]:
    changes = [(row["open_ns"], 1) for row in rows]
    for row in rows:
        end = ends.get(row["connection"], row["close_ns"])
        if end is not None:
            changes.append((end, -1))
    there = 0
    for time, change in sorted(changes):
        there += change
        if there > most:
            yield f"{where} has {there} connections at {time}, and may have {most}"
            return


@rule("connections.ecn")
def ecn(run: Run) -> Iterator[str]:
    """New data alone is ECT, of connections that ask for it; a window is reduced for a mark where one was echoed."""
    if not (run.sees_ends and run.record["connections"]):
        return
    echoes: Counter[int] = Counter()
    for flight in flights(run).values():
        head, number = flight.head, flight.key[0]
        echoes[number] += flight.received is not None and "E" in head["flags"] and "S" not in head["flags"]
        is_ect = flight.sent is not None and head["ecn"] != "Not-ECT"
        if is_ect and (not head["payload_bytes"] or head["retransmission"] or not _asks(run.legs[head["leg"]].table)):
            yield f"{flight} is {head['ecn']}"
    for number, row in run.connections.items():
        if row["ece_cuts"] > echoes[number]:
            yield f"connection {number}: {row['ece_cuts']} reductions for marks, and {echoes[number]} echoes of them"


def _asks(leg: dict[str, Any]) -> bool:
    tcps = [leg.get("tcp", {}), *(split.get("tcp", {}) for split in leg.get("split", ()))]
    return any(tcp.get("constants", {}).get("ecn") == "request" for tcp in tcps)
