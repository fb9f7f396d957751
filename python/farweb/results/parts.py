"""Parts of the latency of each request: the journey of its first byte up and of the last byte of its response down.

The parts of a request's latency follow one another without gaps and add up to it, to the nanosecond. On each
leg, from the clients: waiting for a connection, its handshake, the request on its way; at the end of the last leg that
it reached the server, or the cache that serves it, until it has released the last byte (of a delayed hit: until the
fetch under way has brought that); then on each leg, from the servers: the last byte waits because the sender is held by
cwnd, by pacing, by a window or otherwise, it travels, and the rest are queues and transmission. A request served before
the last leg spent no time on the legs behind. One that failed or was under way when the run ended has no
latency: its parts are null from where it stopped. Of one that was sent again the last crossing of each leg counts;
those before are part of the wait on the leg nearer to the clients.

- **Held**: from when the last byte was there to be sent until it was. A sender that has bytes
  and does not send them is held; the table `exchanges` has how long, and by what, since the first byte was there. Where
  bytes were held before the last one was there, which cost nothing, what remains is divided in the same proportion.
  By Nagle's rule a segment that is not full waits for the acknowledgement of data in flight; on connections that
  carry one response this does not happen, as the end of the stream goes with the last byte. Credit is the
  carrier's, as in W3C MUX. Any other wait is held otherwise: by a program that takes time to wake, by the
  recovery from a loss, or by a connection that is not established.
- **A flight of TLS** that does not fit the server's window waits for acknowledgements, which is no part of a handshake
  here. A request that came during a handshake has at most its rest.
- **A tunnel** with TLS inside connects, on the first leg, until the client has that handshake: CONNECT, connections of
  proxies and flights over the whole path are in it. The legs behind begin with what follows.
- **The server's pace** holds what TCP has sent, where the release is regulated (`origin.release = "regulated"`).
- **The relays** of a split leg hold the last byte from when the server has sent it until the one nearest to the clients
  has, less propagation: slow start, windows, queues and transmission behind that one.
- **Travel** is the propagation of the leg's links; **queues and transmission** have retransmissions as well, and
  what a proxy takes to pass something on (nothing, as it is modelled).
- **The request on its way** contains its own queues and transmission, and its waits for the client's windows.

Round trips are propagation there and back over the whole path.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import polars as pl

from farweb.results.legs import ConnectionUse, connection_uses
from farweb.text.parse import parse

Kind = Literal[
    "wait",
    "handshake",
    "flight",
    "request",
    "fetch",
    "server",
    "cwnd",
    "pacing",
    "window",
    "buffer",
    "credit",
    "nagle",
    "other",
    "pace",
    "relay",
    "travel",
    "rest",
]

KINDS: Mapping[Kind, str] = {
    "wait": "connection queue",
    "handshake": "connecting",
    "flight": "slow start of TLS flights",
    "request": "request on the way",
    "fetch": "waiting for a fetch in flight",
    "server": "server",
    "cwnd": "slow start",
    "pacing": "pacing",
    "window": "receive window",
    "buffer": "send buffer",
    "credit": "credit",
    "nagle": "Nagle's rule",
    "other": "held otherwise",
    "pace": "server's pace",
    "relay": "beyond the relay",
    "travel": "response on the way",
    "rest": "queues and transmission",
}
"""The kinds of parts in the order of time, in words."""


@dataclass(frozen=True)
class Leg:
    """A leg, as far as a breakdown needs it.

    Attributes:
        from_node: Its end at the clients.
        to_node: Its end at the servers.
        carrier: Kind of its carrier.
        use: How its carrier uses connections.
        up_ns: Propagation of its links, upwards.
        down_ns: Propagation of its links, downwards.
        inside: By node inside it that has a cache, propagation from there, downwards.
        has_cache: True when there is a cache at its end at the servers, or inside.
        behind_ns: Propagation behind the split nearest to the clients, downwards; None without splits.
    """

    from_node: str
    to_node: str
    carrier: str
    use: ConnectionUse
    up_ns: int
    down_ns: int
    inside: Mapping[str, int] = field(default_factory=dict)
    has_cache: bool = False
    behind_ns: int | None = None


def _least_delay(link: Mapping[str, Any], direction: str) -> int:
    """The least delay over time of a direction of a link, in ns: what varies above it is queueing."""
    way = link[direction]
    steps = way.get("steps") or []
    delays = (way["delay"], *(step["delay"] for step in steps if step.get("delay")))
    least = min(int(parse(delay).number * 10**9) for delay in delays)
    shift = link["handover"]["delay"][0] if link.get("handover") else "0 ns"
    return max(0, least + int(parse(shift).number * 10**9))


def path_legs(manifest: Mapping[str, Any]) -> tuple[Leg, ...]:
    """The legs of a run."""
    scenario = manifest["scenario"]
    nodes = scenario["path"]["nodes"]
    legs = []
    caches = {cache["node"] for cache in scenario.get("cache", ())}

    def propagation(first: int, last: int, direction: str) -> int:
        links = scenario["path"]["link"][first:last]
        return sum(_least_delay(link, direction) for link in links)

    for leg, use in zip(scenario["leg"], connection_uses(manifest), strict=True):
        first, last = nodes.index(leg["from"]), nodes.index(leg["to"])
        up_ns, down_ns = (propagation(first, last, direction) for direction in ("up", "down"))
        inside = {
            node: propagation(first, place, "down")
            for place, node in enumerate(nodes)
            if first < place < last and node in caches
        }
        has_cache = bool(inside) or leg["to"] in caches
        behind = [propagation(nodes.index(split["at"]), last, "down") for split in leg.get("split", ())][:1]
        carrier = leg["carrier"]["kind"]
        legs.append(Leg(leg["from"], leg["to"], carrier, use, up_ns, down_ns, inside, has_cache, *behind))
    return tuple(legs)


def parts(exchanges: pl.DataFrame, legs: Sequence[Leg], opened: pl.DataFrame | None) -> pl.DataFrame:
    """The parts of each request's latency, in ns.

    Args:
        exchanges: The table `exchanges`, or rows of it, with `served_by` of the table `requests` where there are caches
            inside a leg.
        legs: Of the scenario, from the clients.
        opened: `connection`, `open_ns` and `tls_cwnd_ns` of each connection; None where they were not recorded: then
            time before a connection is there counts as its handshake.

    Returns:
        A row a request that came to the first leg, with the columns `request`, `server`, and `kind leg` for each other
        kind and leg; all int64. Where a request was served before a leg, its parts there are 0. Parts that it never
        finished, as it failed or the run ended, are null. `server` is at the end of the last leg that it reached.
    """
    sources = ["served_by"] if any(leg.inside for leg in legs) else []
    path = _leg_rows(exchanges, 0, legs[0], opened, *sources)
    for place in range(1, len(legs)):
        of_leg = _leg_rows(exchanges, place, legs[place], opened)
        arrived, is_tunnel = _at("requested", place - 1), pl.col("is_tunnel")
        rows = path.select("request", "is_tunnel", arrived).join(of_leg.drop("is_tunnel"), on="request")
        rows = rows.with_columns(
            *(
                pl.when(is_tunnel).then(arrived).otherwise(_at(step, place)).alias(f"{step}_ns {place}")
                for step in _BEGIN
            ),
            pl.when(is_tunnel).then(0).otherwise(_at("flight", place)).alias(f"flight_ns {place}"),
        )
        # Of a request that was sent again, and answered before this leg, the row is of a crossing before.
        rows = rows.filter(_at("start", place) >= arrived).drop("is_tunnel", f"requested_ns {place - 1}")
        path = path.join(rows, on="request", how="left")
    columns = [pl.col("request")]
    for place, leg in enumerate(legs):
        served_before = pl.col(f"start_ns {place}").is_null() & pl.col("end_ns 0").is_not_null()
        columns += [
            pl.when(served_before).then(0).otherwise(part).cast(pl.Int64).alias(name)
            for name, part in _of_leg(place, leg, is_last=place == len(legs) - 1)
        ]
    return path.sort("request").select(*columns, _server(legs).alias("server"))


_BEGIN = ("start", "begun", "connect")
_REASONS: Sequence[Kind] = ("cwnd", "pacing", "window", "buffer", "credit", "nagle")


def _leg_rows(exchanges: pl.DataFrame, place: int, leg: Leg, opened: pl.DataFrame | None, *more: str) -> pl.DataFrame:
    """The steps of each request's last exchange on a leg, with the leg's number, and when its handshake began."""
    rows = exchanges.filter(pl.col("leg") == place).sort("start_ns").unique("request", keep="last")
    if opened is None:
        rows = rows.with_columns(open_ns=pl.col("start_ns"), tls_cwnd_ns=pl.lit(None, pl.Int64))
    else:
        rows = rows.join(opened, left_on="connection_up", right_on="connection", how="left")
    if not leg.use.requests:
        rows = rows.with_columns(connect_ns=pl.col("start_ns"), requested_ns=pl.col("start_ns"))
    begun = pl.col("open_ns").fill_null(pl.col("start_ns"))
    if leg.use.reused and not leg.use.shared:
        # A connection that was there before the request had another one on it, and no handshake of its own.
        begun = pl.when(begun < pl.col("start_ns")).then(pl.col("connect_ns")).otherwise(begun)
    is_open = pl.col("connect_ns").is_not_null()
    begun = pl.when(is_open).then(begun.clip(upper_bound=pl.col("connect_ns"))).otherwise(pl.col("open_ns"))
    rows = rows.with_columns(begun_ns=begun.clip(lower_bound=pl.col("start_ns")))
    shaken = pl.col("connect_ns") - pl.col("begun_ns")
    rows = rows.with_columns(flight_ns=pl.min_horizontal(shaken, pl.col("tls_cwnd_ns").fill_null(0)) + 0 * shaken)
    rows = rows.with_columns(
        window_ns=pl.col("window_ns") - pl.col("buffer_ns"),
        connect_ns=pl.coalesce("tunnel_ready_ns", "connect_ns"),
        is_tunnel=pl.col("tunnel_ready_ns").is_not_null(),
    )
    steps = ("start", "begun", "connect", "requested", "ready_last", "sent_last", "relayed_last", "end")
    held = ("flight", *_REASONS, "pace")
    of_leg = (*(f"{name}_ns" for name in (*steps, *held)), "cache_answer")
    return rows.select("request", "is_tunnel", *more, *(pl.col(name).alias(f"{name} {place}") for name in of_leg))


def _at(name: str, leg: int) -> pl.Expr:
    """Column of a step of a request on a leg, or of a time that the table has for it there."""
    return pl.col(f"{name}_ns {leg}")


def _server(legs: Sequence[Leg]) -> pl.Expr:
    """Time of the server, at the end of the last leg that a request came to; where it waited for a fetch, 0."""

    def at_end(place: int) -> pl.Expr:
        taken = _at("ready_last", place) - _at("requested", place)
        leg = legs[place]
        waited = leg.has_cache and not _waits_before(leg)
        joined = _joined(place, is_last=place == len(legs) - 1)
        return pl.when(joined).then(0 * taken).otherwise(taken) if waited else taken

    server = at_end(0)
    for place in range(1, len(legs)):
        server = pl.when(_at("start", place).is_null()).then(server).otherwise(at_end(place))
    return server


def _joined(place: int, *, is_last: bool) -> pl.Expr:
    """Condition of requests that came to this leg last, and waited for a fetch under way there."""
    delayed = pl.col(f"cache_answer {place}").eq_missing("delayed hit")
    return delayed if is_last else delayed & _at("start", place + 1).is_null()


def _waits_before(leg: Leg) -> bool:
    """True where requests wait for a fetch before their connection is opened: at caches inside a leg."""
    return bool(leg.inside) and leg.use.requests


def _of_leg(place: int, leg: Leg, *, is_last: bool) -> Iterator[tuple[str, pl.Expr]]:
    """The parts that a leg has in the latency of each request that came to it, and their names."""

    def at(name: str) -> pl.Expr:
        return _at(name, place)

    held = at("sent_last") - at("ready_last")
    first_ones = [
        pl.sum_horizontal(*map(at, _REASONS[: count + 1]), ignore_nulls=False) for count in range(len(_REASONS))
    ]
    since_first = first_ones[-1]
    # Some of it may have been before the last byte was there.
    costs = pl.when(held < since_first).then(held).otherwise(since_first)
    ends = [(costs * (some / since_first)).fill_nan(0).round().cast(pl.Int64) for some in first_ones]
    way = at("end") - at("sent_last") - at("pace")
    down = pl.lit(leg.down_ns)
    for node, from_there in leg.inside.items():
        down = pl.when(pl.col("served_by").eq_missing(node)).then(from_there).otherwise(down)
    travel = pl.when(way > down).then(down).otherwise(way)
    relay = 0 * way
    if leg.behind_ns is not None:
        relay = (at("relayed_last") - at("sent_last") - at("pace") - leg.behind_ns).clip(lower_bound=0)
    rest = way - travel - relay
    if not is_last:
        start, end = _at("start", place + 1), _at("end", place + 1)
        between = (start - at("requested")) + (at("ready_last") - end)
        rest = rest + pl.when(start.is_null()).then(0).otherwise(between)
    wait = at("begun") - at("start")
    if leg.has_cache:
        joined = _joined(place, is_last=is_last)
        fetch = wait if _waits_before(leg) else at("ready_last") - at("requested")
        yield f"fetch {place}", pl.when(joined).then(fetch).otherwise(0 * wait)
        if _waits_before(leg):
            wait = pl.when(joined).then(0 * wait).otherwise(wait)
    yield f"wait {place}", wait
    yield f"handshake {place}", at("connect") - at("begun") - at("flight")
    yield f"flight {place}", at("flight")
    yield f"request {place}", at("requested") - at("connect")
    for kind, begin, end in zip(_REASONS, [0 * costs, *ends], ends, strict=False):
        yield f"{kind} {place}", end - begin
    yield f"other {place}", held - ends[-1]
    yield f"pace {place}", at("pace")
    yield f"relay {place}", relay
    yield f"travel {place}", travel
    yield f"rest {place}", rest
