"""Legs of a run: their use of connections, how many were open, the load on them, and the waits of their senders.

The core says how a carrier uses connections, once for all carriers, and a manifest has it for each leg.

On each connection one end sends the responses. From when the connection is opened until it is closed, or the run ends,
this sender is at every instant held by one of `HOLDERS`; where several would hold it, by the one nearest to the wire.
The columns `held_*_ns` of the table `connections` have these times: the shares of a leg add up to one. All connections
of the run count, also in the warm-up, with all of their time, also between requests.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farweb import _core
from farweb.files.columns import NULL_INT
from farweb.results.run import RunTables
from farweb.text.parse import parse
from farweb.text.quantities import count, number, seconds, share, size
from farweb.text.sheet import Sheet
from farweb.text.words import listed

_NS = 1e9


@dataclass(frozen=True)
class ConnectionUse:
    """Use of connections by a carrier.

    Attributes:
        requests: Requests ride connections; else responses come alone, one-way, without handshake and close.
        reused: A connection may carry one request after another; else it goes with its request.
        shared: A connection may carry many requests at once; else one at a time.
        standing: Connections are open whether requests need them or not; else a request opens the one that it lacks.
    """

    requests: bool
    reused: bool
    shared: bool
    standing: bool


def described(scenario: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The legs of a scenario as a manifest has them."""
    uses = (json.loads(_core.connection_use(json.dumps(leg["carrier"]))) for leg in scenario["leg"])
    return [{"leg": number, "connection_use": use} for number, use in enumerate(uses)]


def connection_uses(manifest: Mapping[str, Any]) -> tuple[ConnectionUse, ...]:
    """By leg, what the manifest of a run says."""
    return tuple(ConnectionUse(**leg["connection_use"]) for leg in manifest["legs"])


@dataclass(frozen=True)
class Lives:
    """The connections of a leg over the whole run, at least one.

    A connection lives from its first SYN until both ends are closed, or to the end of the run. It is busy while a
    request is on it; the rest of its life it is idle: opening, waiting for the next request, or closing.

    Attributes:
        requests: Requests that they carried; one that came and went on two connections of a mux counts at both.
        reused: Requests for which no connection was opened: all on a connection but its first. None where they always
            stand.
        idle_p50_s: The median.
        idle_share: Idle time of all connections over the time that they lived, 0 to 1; None when they all opened at the
            very end.
    """

    opened: int
    requests: int
    reused: int | None
    bytes_up: int
    bytes_down: int
    life_mean_s: float
    idle_mean_s: float
    idle_p50_s: float
    idle_share: float | None

    def cells(self) -> list[str]:
        """Cells of tables for people."""
        return [
            count(self.opened),
            number(self.requests / self.opened),
            share(None if self.reused is None or not self.requests else self.reused / self.requests),
            _both(size(self.bytes_up), size(self.bytes_down)),
            seconds(self.life_mean_s),
            _both(seconds(self.idle_mean_s), seconds(self.idle_p50_s)),
            share(self.idle_share),
        ]


@dataclass(frozen=True)
class Memory:
    """The socket buffers of a leg's connections at one of its nodes, in the measured interval.

    Each open connection counts with its send and its receive buffer in full: the memory that a system keeps at hand,
    not the bytes in it at a moment.

    Attributes:
        connection_bytes: Send and receive buffer of one connection.
        idle_mean_bytes: Buffers of connections without a request.
    """

    node: str
    connection_bytes: int
    open_mean_bytes: float
    open_max_bytes: int
    idle_mean_bytes: float

    def cells(self) -> list[str]:
        """Cells of tables for people."""
        at_a_time = _both(size(self.open_mean_bytes), size(self.open_max_bytes))
        return [self.node, size(self.connection_bytes), at_a_time, size(self.idle_mean_bytes)]


@dataclass(frozen=True)
class LegTotals:
    """A leg: connections and requests on it at a time in the measured interval, and its connections over the run.

    Attributes:
        open_mean: Connections open at a time, time-weighted; `busy` ones carry a request.
        requests_mean: Requests on the leg at a time, also in the connection queue.
        connection_requests_max: Most requests on one connection at once.
        memory: Buffers at each end, of sizes that the scenario fixes.
        connections: None when the run did not record connections with the time that they were busy.
    """

    leg: int
    from_node: str
    to_node: str
    carrier: str
    open_mean: float
    open_max: int
    busy_mean: float
    busy_max: int
    requests_mean: float
    requests_max: int
    connection_requests_max: int
    memory: tuple[Memory, ...]
    connections: Lives | None

    @property
    def name(self) -> str:
        """Name in tables for people."""
        return f"{self.leg}: {self.from_node} → {self.to_node}"

    def cells(self) -> list[str]:
        """Cells of tables for people about the measured interval."""
        return [
            self.carrier,
            _both(number(self.open_mean), count(self.open_max)),
            _both(number(self.busy_mean), count(self.busy_max)),
            _both(number(self.requests_mean), count(self.requests_max)),
            count(self.connection_requests_max),
        ]


def _both(one: str, other: str) -> str:
    """Two numbers that belong together in one cell: tables on paper are narrow."""
    return f"{one} / {other}"


def fields_in(of: type, values: Mapping[str, Any]) -> dict[str, Any]:
    """The values that a dataclass has fields for."""
    return {each.name: values[each.name] for each in fields(of) if each.name in values}


def legs_of(results: RunTables) -> tuple[LegTotals, ...]:
    """The legs of a run."""
    manifest = results.manifest
    lives, legs, uses = _lives(results), manifest["scenario"]["leg"], connection_uses(manifest)
    found = []
    for leg in manifest["measured"]["legs"]:
        number = leg["leg"]
        connections = lives.get(number)
        if connections is not None and uses[number].standing:
            connections = replace(connections, reused=None)
        of_scenario = {
            "from_node": legs[number]["from"],
            "to_node": legs[number]["to"],
            "carrier": carrier_name(legs[number]["carrier"]),
            "memory": tuple(_memory(legs[number], leg)),
            "connections": connections,
        }
        found.append(LegTotals(**fields_in(LegTotals, {**leg, **of_scenario})))
    return tuple(found)


def sheets(legs: Mapping[str, Sequence[LegTotals]]) -> Iterator[Sheet]:
    """The tables for people: of the measured interval, of the connections' lives, and of memory; those there are.

    Args:
        legs: By the name of a run, its legs; of several runs rows have the name.
    """
    first = ["leg"] if len(legs) == 1 else ["run", "leg"]
    every = [([run, leg.name][-len(first) :], leg) for run, those in legs.items() for leg in those]
    if not every:
        return
    yield Sheet(
        "Connections and requests at a time, mean / peak in the measured interval",
        [*first, "carrier", "open", "busy", "requests", "most on one"],
        [[*name, *leg.cells()] for name, leg in every],
        names=len(first) + 1,
    )
    lives = [[*name, *leg.connections.cells()] for name, leg in every if leg.connections is not None]
    if lives:
        times = ["mean life", "idle, mean / median", "idle share"]
        header = [*first, "opened", "requests each", "reused", "bytes up / down", *times]
        yield Sheet("Connections, over the whole run", header, lives, names=len(first))
    memory = [[*name, *each.cells()] for name, leg in every for each in leg.memory]
    if memory:
        header = [*first, "at", "a connection", "open, mean / peak", "idle, mean"]
        title = "Socket buffers that connections stand for, in the measured interval"
        yield Sheet(title, header, memory, names=len(first) + 1)


def decrypting(scenario: Mapping[str, Any]) -> str:
    """Sentence about the nodes where TLS ends on the way, after a space; empty where it goes from end to end."""
    nodes = [near["to"] for near, far in pairwise(scenario["leg"]) if near.get("tls") or far.get("tls")]
    return f" TLS is decrypted at {listed(nodes)}." if nodes else ""


def tls_of(scenario: Mapping[str, Any]) -> str:
    """TLS of the legs of a scenario in a few words: ``TLS 1.3 resumed``, ``no TLS``, ``TLS 1.3 and no TLS``."""
    found = (leg.get("tls") for leg in scenario["leg"] if leg["carrier"]["kind"] != "transfer")
    return listed(list(dict.fromkeys(tls_name(tls) for tls in found)))


def tls_differs(found: Mapping[str, str]) -> str:
    """The TLS of each of several results in a sentence where it is not the same, or nothing: handshakes differ then."""
    said = listed([f"{tls or 'no connections'} in {name}" for name, tls in found.items()])
    return f"TLS differs: {said}." if len(set(found.values())) > 1 else ""


def tls_name(tls: Mapping[str, Any] | None) -> str:
    """TLS of a leg: its version, and how handshakes begin where they are not full."""
    if tls is None:
        return "no TLS"
    return f"TLS {tls['version']}{_STARTS.get(tls['start'], '')}"


_STARTS = {"resumed": " resumed", "0-rtt": " 0-RTT"}


def carrier_name(carrier: Mapping[str, Any]) -> str:
    """A carrier in a word: ``http/1.1``, ``mux over 50``."""
    return f"{carrier['kind']} over {carrier['connections']}" if "connections" in carrier else str(carrier["kind"])


def _memory(scenario: Mapping[str, Any], measured: Mapping[str, Any]) -> Iterator[Memory]:
    """Buffers at each end with a fixed size: neither a host's nor the profile's own, which may grow."""
    tcp = scenario["tcp"]
    for end in ("from", "to"):
        buffer = (tcp.get(end) or {}).get("buffer") or tcp.get("buffer")
        if buffer is None or buffer == "host":
            continue
        both = 2 * int(parse(buffer).number)
        idle = measured["open_mean"] - measured["busy_mean"]
        yield Memory(scenario[end], both, both * measured["open_mean"], both * measured["open_max"], both * idle)


_OF_LIVES = ("leg", "open_ns", "close_ns", "busy_ns", "requests", "bytes_up", "bytes_down")


def _lives(results: RunTables) -> dict[int, Lives]:
    """By leg, its connections over the run, where the run recorded them."""
    batches = list(results.table("connections").columns(_OF_LIVES)) if results.has("connections") else []
    if not batches:
        return {}
    table = np.array([np.concatenate([each[name] for each in batches]) for name in _OF_LIVES])
    legs, now_ns = table[0], results.manifest["now_ns"]
    return {int(leg): _lives_of(table[1:, legs == leg], now_ns) for leg in np.unique(legs)}


def _lives_of(connections: NDArray[np.int64], now_ns: int) -> Lives:
    """The connections of a leg, in columns as `_OF_LIVES` has them behind the leg."""
    opened, closed, busy, requests, up, down = connections
    life = np.where(closed == NULL_INT, now_ns, closed) - opened
    idle = life - busy
    return Lives(
        opened=len(opened),
        requests=int(requests.sum()),
        reused=int(np.maximum(requests - 1, 0).sum()),
        bytes_up=int(up.sum()),
        bytes_down=int(down.sum()),
        life_mean_s=float(life.mean()) / _NS,
        idle_mean_s=float(idle.mean()) / _NS,
        idle_p50_s=float(np.median(idle)) / _NS,
        idle_share=float(idle.sum() / life.sum()) if life.any() else None,
    )


HOLDERS: Mapping[str, str] = {
    "credit": "credit of the carrier",
    "cwnd": "slow start",
    "pacing": "pacing",
    "window": "receive window",
    "buffer": "send buffer",
    "nagle": "Nagle's rule",
    "recovery": "recovery from a loss",
    "handshake": "handshake",
    "application": "program",
    "nothing": "nothing to send",
}
"""Reasons for a sender to wait, by the names of columns, in words."""


@dataclass(frozen=True)
class Held:
    """Holders of the senders of a leg.

    Attributes:
        leg: Number of the leg.
        connections: How many it had.
        time_s: For how long they were open, all together.
        shares: Of that time, by the keys of `HOLDERS`, 0 to 1; they add up to 1.
    """

    leg: int
    connections: int
    time_s: float
    shares: Mapping[str, float]


def held_by_leg(results: RunTables) -> tuple[Held, ...]:
    """Holders of the senders of each leg; none for legs without such a time, and where the run did not record it."""
    import polars as pl

    columns = {name: f"held_{name}_ns" for name in HOLDERS}
    if not results.has("connections"):
        return ()
    table = results.scan("connections")
    known = table.filter(pl.all_horizontal(pl.col(*columns.values()).is_not_null()))
    sums = known.group_by("leg").agg(pl.len().alias("connections"), pl.col(*columns.values()).sum()).sort("leg")
    found = []
    for row in sums.collect().iter_rows(named=True):
        if total := sum(row[column] for column in columns.values()):
            shares = {name: row[column] / total for name, column in columns.items()}
            found.append(Held(row["leg"], row["connections"], total / _NS, shares))
    return tuple(found)


def held_sheet(held: Mapping[str, Sequence[Held]]) -> Sheet:
    """The table for people: a row a leg with shares that add up to 100.0 %, and a column a holder that held any.

    Args:
        held: By the name of a run, its legs; of several runs rows have the name.
    """
    first = ["leg"] if len(held) == 1 else ["run", "leg"]
    every = [([run, f"leg {leg.leg}"][-len(first) :], leg) for run, legs in held.items() for leg in legs]
    percents = [
        dict(zip(HOLDERS, _percent([leg.shares[holder] for holder in HOLDERS]), strict=True)) for _, leg in every
    ]
    some = [holder for holder in HOLDERS if any(percent[holder] != "0.0 %" for percent in percents)]
    rows = [
        [*name, *(percent[holder] for holder in some), seconds(leg.time_s), count(leg.connections)]
        for (name, leg), percent in zip(every, percents, strict=True)
    ]
    header = [*first, *(HOLDERS[holder] for holder in some), "open, in all", "connections"]
    return Sheet(
        "Waits of the senders of responses, shares of the time that connections are open", header, rows, len(first)
    )


def _percent(shares: Sequence[float]) -> list[str]:
    """Shares that add up to one, in percent with a digit behind the point, rounded to a sum of 100.0 %."""
    exact = [1000 * share for share in shares]
    tenths = [int(each) for each in exact]
    by_rest = sorted(range(len(exact)), key=lambda place: tenths[place] - exact[place])
    for place in by_rest[: 1000 - sum(tenths)]:
        tenths[place] += 1
    return [f"{each / 10:.1f} %" for each in tenths]
