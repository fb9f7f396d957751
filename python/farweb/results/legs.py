"""The legs of a run: how many connections were open, what they carried, and what memory they stand for."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from farweb.results.connection_use import ConnectionUse, connection_uses
from farweb.text.parse import parse
from farweb.text.quantities import count, number, seconds, share, size
from farweb.text.sheet import Sheet

if TYPE_CHECKING:
    from farweb.results.run import RunTables

_NS = 1e9


@dataclass(frozen=True)
class Lives:
    """The connections of a leg over the whole run, of which there was at least one.

    A connection lives from its first SYN until both ends are closed, or to the end of the run. It is busy while a
    request is on it; the rest of its life it is idle: opening, waiting for the next request, or closing.
    """

    opened: int
    requests: int
    """Requests that they carried; one that came and went on two connections of a mux counts at both."""
    reused: int | None
    """Those for which no connection was opened: all on a connection but its first. None where they always stand."""
    bytes_up: int
    bytes_down: int
    life_mean_s: float
    idle_mean_s: float
    idle_p50_s: float
    """The median."""
    idle_share: float | None
    """Idle time of all connections over the time that they lived, 0 to 1; None when they all opened at the very end."""

    def cells(self) -> list[str]:
        """What tables for people say of them."""
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

    Each open connection counts with its send and its receive buffer in full: that is what a system has to have at hand,
    not what it holds at a moment.
    """

    node: str
    connection_bytes: int
    """Send and receive buffer of one connection."""
    open_mean_bytes: float
    open_max_bytes: int
    idle_mean_bytes: float
    """Those of connections without a request."""

    def cells(self) -> list[str]:
        """What tables for people say of it."""
        at_a_time = _both(size(self.open_mean_bytes), size(self.open_max_bytes))
        return [self.node, size(self.connection_bytes), at_a_time, size(self.idle_mean_bytes)]


@dataclass(frozen=True)
class LegTotals:
    """A leg: connections and requests on it at a time in the measured interval, and its connections over the run."""

    leg: int
    from_node: str
    to_node: str
    carrier: str
    open_mean: float
    """Connections open at a time, time-weighted; `busy` are those of them that carry a request."""
    open_max: int
    busy_mean: float
    busy_max: int
    requests_mean: float
    """Requests on the leg at a time, those that wait for a connection included."""
    requests_max: int
    connection_requests_max: int
    """Most requests on one connection at once."""
    memory: tuple[Memory, ...]
    """At each end whose buffer the scenario fixes."""
    connections: Lives | None
    """None when the run did not record connections with the time that they were busy."""

    @property
    def name(self) -> str:
        """What tables for people call it."""
        return f"{self.leg}: {self.from_node} → {self.to_node}"

    def cells(self) -> list[str]:
        """What tables for people say of the measured interval."""
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


def legs_of(results: "RunTables") -> tuple[LegTotals, ...]:
    """The legs of a run; empty for results of a farweb that did not measure them."""
    manifest = results.manifest
    measured = manifest.get("measured", {}).get("legs", ())
    if not measured:
        return ()
    lives = _lives(results)
    legs, uses = manifest["scenario"]["leg"], connection_uses(manifest)
    return tuple(_leg(legs[leg["leg"]], uses[leg["leg"]], leg, lives.get(leg["leg"])) for leg in measured)


def sheets(legs: Mapping[str, Sequence[LegTotals]]) -> Iterator[Sheet]:
    """The tables for people: of the measured interval, of the connections' lives, and of memory; those there are.

    Args:
        legs: By the name of a run, its legs; of several runs rows have the name.
    """
    every = [(_named(run, leg, len(legs)), leg) for run, those in legs.items() for leg in those]
    if not every:
        return
    first = ["leg"] if len(legs) == 1 else ["run", "leg"]
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


def _named(run: str, leg: LegTotals, runs: int) -> list[str]:
    return [leg.name] if runs == 1 else [run, leg.name]


def _leg(
    scenario: Mapping[str, Any], use: ConnectionUse, measured: Mapping[str, Any], lives: Lives | None
) -> LegTotals:
    if lives is not None and use.standing:
        lives = replace(lives, reused=None)
    return LegTotals(
        leg=measured["leg"],
        from_node=scenario["from"],
        to_node=scenario["to"],
        carrier=carrier_name(scenario["carrier"]),
        open_mean=measured["open_mean"],
        open_max=measured["open_max"],
        busy_mean=measured["busy_mean"],
        busy_max=measured["busy_max"],
        requests_mean=measured["requests_mean"],
        requests_max=measured["requests_max"],
        connection_requests_max=measured["connection_requests_max"],
        memory=tuple(_memory(scenario, measured)),
        connections=lives,
    )


def carrier_name(carrier: Mapping[str, Any]) -> str:
    """A carrier in a word: ``http/1.1``, ``mux over 50``."""
    return f"{carrier['kind']} over {carrier['connections']}" if "connections" in carrier else str(carrier["kind"])


def _memory(scenario: Mapping[str, Any], measured: Mapping[str, Any]) -> Iterator[Memory]:
    """At each end whose buffer is a size: not that of each host, and not the profile's own, which may grow."""
    tcp = scenario["tcp"]
    for end in ("from", "to"):
        buffer = (tcp.get(end) or {}).get("buffer") or tcp.get("buffer")
        if buffer is None or buffer == "host":
            continue
        both = 2 * int(parse(buffer).number)
        idle = measured["open_mean"] - measured["busy_mean"]
        yield Memory(scenario[end], both, both * measured["open_mean"], both * measured["open_max"], both * idle)


def _lives(results: "RunTables") -> dict[int, Lives]:
    """By leg, its connections over the run, where the run recorded them."""
    import polars as pl

    if not (results.path / "connections.parquet").is_file():
        return {}
    connections = results.scan("connections")
    if "busy_ns" not in connections.collect_schema():
        return {}
    life = pl.col("close_ns").fill_null(results.manifest["now_ns"]) - pl.col("open_ns")
    idle = life - pl.col("busy_ns")
    found = connections.group_by("leg").agg(
        pl.len().alias("opened"),
        pl.col("requests", "bytes_up", "bytes_down").sum(),
        (pl.col("requests") - 1).clip(lower_bound=0).sum().alias("reused"),
        life.mean().alias("life_mean_ns"),
        idle.mean().alias("idle_mean_ns"),
        idle.median().alias("idle_p50_ns"),
        life.sum().alias("life_ns"),
        idle.sum().alias("idle_ns"),
    )
    rows = found.collect().iter_rows(named=True)
    return {row["leg"]: _of_leg(row) for row in rows}


def _of_leg(row: Mapping[str, Any]) -> Lives:
    return Lives(
        opened=row["opened"],
        requests=row["requests"],
        reused=row["reused"],
        bytes_up=row["bytes_up"],
        bytes_down=row["bytes_down"],
        life_mean_s=row["life_mean_ns"] / _NS,
        idle_mean_s=row["idle_mean_ns"] / _NS,
        idle_p50_s=row["idle_p50_ns"] / _NS,
        idle_share=row["idle_ns"] / row["life_ns"] if row["life_ns"] else None,
    )
