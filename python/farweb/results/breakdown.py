"""Where the time of a request goes: the journey of its first byte up and of the last byte of its response down.

The parts of a request's latency follow one another without gaps, so that they add up to it, to the nanosecond. On each
leg, from the clients: waiting for a connection, its handshake, the request on its way; at the end of the last leg that
it reached the server, or the cache that serves it, until it has released the last byte (of a delayed hit: until the
fetch under way has brought that); then on each leg, from the servers: the last byte waits because the sender is held by
cwnd, by a window or otherwise, it travels, and what is left is the rest. A request that was served before the last leg
spent no time on the legs behind. One that failed or was under way when the run ended has
no latency: it counts in no mean, and is told beside it with the legs that it reached.

- **Held**: from when the last byte was there to be sent until it was. A sender that has bytes
  and does not send them is held; the table `exchanges` has how long, and by what, since the first byte was there. Where
  bytes were held before the last one was there, which cost nothing, what remains is divided in the same proportion.
  By Nagle's rule a segment that is not full waits for the acknowledgement of what is on its way; on connections that
  carry one response this does not happen, as the end of the stream goes with the last byte. Credit is that of the
  carrier, as W3C MUX has it. What none of these held is held otherwise: by a program that takes time to wake, by the
  recovery from a loss, or by a connection that is not established.
- **Travel** is the propagation of the leg's links; **the rest** is queues, transmission, segments sent again, and what
  a proxy takes to pass something on (nothing, as it is modelled).
- **The request on its way** contains its own queues and transmission.

Round trips are propagation there and back over the whole path.
"""

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Literal, get_args

from farweb.errors import ResultsError
from farweb.results.connection_use import ConnectionUse, connection_uses
from farweb.results.held import Held, held_by_leg, held_sheet
from farweb.results.metrics import SAMPLE
from farweb.text.parse import parse
from farweb.text.quantities import count, number, seconds, share
from farweb.text.sheet import Sheet, to_html, to_rich

if TYPE_CHECKING:
    import polars as pl
    from rich.console import RenderableType

    from farweb.results.run import RunTables

Kind = Literal[
    "wait",
    "handshake",
    "request",
    "fetch",
    "server",
    "cwnd",
    "window",
    "buffer",
    "credit",
    "nagle",
    "other",
    "travel",
    "rest",
]

KINDS: Mapping[Kind, str] = {
    "wait": "waiting for a connection",
    "handshake": "handshake",
    "request": "request on its way",
    "fetch": "waiting for a fetch under way",
    "server": "server",
    "cwnd": "held by cwnd",
    "window": "held by the window",
    "buffer": "held by the send buffer",
    "credit": "held by credit",
    "nagle": "held by Nagle's rule",
    "other": "held otherwise",
    "travel": "response on its way",
    "rest": "the rest",
}
"""The kinds of parts in the order of time, and what they are called."""

_SELDOM: Sequence[Kind] = ("buffer", "credit", "nagle", "other")
"""Kinds of parts that the table for people leaves out where they took no time."""

_NS = 1e9


@dataclass(frozen=True)
class Leg:
    """What a breakdown has to know of a leg.

    Attributes:
        from_node: Its end at the clients.
        to_node: Its end at the servers.
        carrier: Kind of its carrier.
        use: How its carrier uses connections.
        up_ns: Propagation of its links, upwards.
        down_ns: Propagation of its links, downwards.
        inside: By node inside it that has a cache, propagation from there, downwards.
        has_cache: Whether there is a cache at its end at the servers, or inside.
    """

    from_node: str
    to_node: str
    carrier: str
    use: ConnectionUse
    up_ns: int
    down_ns: int
    inside: Mapping[str, int] = field(default_factory=dict)
    has_cache: bool = False


@dataclass(frozen=True)
class Part:
    """A part of the latency, as the mean over requests.

    Attributes:
        kind: Which.
        leg: Number of the leg; None: at the server.
        mean_s: How long.
        share: Of the latency, 0 to 1.
        round_trips: How many round trips of the path; None over a path without delay.
    """

    kind: Kind
    leg: int | None
    mean_s: float
    share: float
    round_trips: float | None


@dataclass(frozen=True)
class Breakdown:
    """The mean latency of requests in parts that add up to it.

    Attributes:
        name: Of the run.
        tag: The tag of the requests; None: all of the run.
        requests: How many: those that finished and began after the warm-up.
        reached: By leg, how many of them came to it; the others were served before.
        unfinished_reached: By leg, how many came to it of those that failed or that the end of the run cut off, in no
            part: of leg 0 all of them.
        latency_s: Mean latency of `requests`.
        rtt_s: Propagation there and back over the whole path.
        legs: From the clients.
        parts: In the order of `KINDS`, and of legs.
        held: What held the senders of each leg, on all of its connections; empty where the run did not record them.
    """

    name: str
    tag: str | None
    requests: int
    reached: tuple[int, ...]
    unfinished_reached: tuple[int, ...]
    latency_s: float
    rtt_s: float
    legs: tuple[Leg, ...]
    parts: tuple[Part, ...]
    held: tuple[Held, ...] = ()

    @property
    def subject(self) -> str:
        """Whose latency it is."""
        requests = _requests_of(self.requests)
        return f"{requests} tagged {self.tag}" if self.tag else requests

    @property
    def remarks(self) -> list[str]:
        """Who was served before the last leg, and who is in no part; nothing where all finished on all legs."""
        said = []
        if min(self.reached) < self.requests:
            said.append(f"Of these requests {_by_leg(self.reached[1:])}; the others were served before.")
        if left := self.unfinished_reached[0]:
            came = f": {_by_leg(self.unfinished_reached[1:])}" if len(self.legs) > 1 else ""
            said.append(
                f"{_requests_of(left)} more did not finish and {'is' if left == 1 else 'are'} in no part{came}."
            )
        return said

    def total_s(self, kind: Kind, leg: int | None = None) -> float:
        """How long a kind of part takes, on one leg or, when None, all in all."""
        return sum(part.mean_s for part in self.parts if part.kind == kind and leg in (None, part.leg))

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return dataclasses.asdict(self)

    def __rich__(self) -> "RenderableType":
        from rich.console import Group
        from rich.text import Text

        return Group(to_rich([self.sheet()]), *map(Text, self.remarks), to_rich(self._held_sheets()))

    def _repr_html_(self) -> str:
        remarks = "".join(f"<p>{escape(remark)}</p>" for remark in self.remarks)
        return to_html([self.sheet()]) + remarks + to_html(self._held_sheets())

    def _held_sheets(self) -> list[Sheet]:
        return [held_sheet(self.name, self.held)] if self.held else []

    def sheet(self) -> Sheet:
        """The table for people: a row a kind, a column a leg."""
        names = [f"leg {place}: {leg.from_node} → {leg.to_node}" for place, leg in enumerate(self.legs)]
        legs = range(len(self.legs)) if len(self.legs) > 1 else ()
        rows = []
        for kind, told in KINDS.items():
            if kind == "fetch" and not any(leg.has_cache for leg in self.legs):
                continue
            total = self.total_s(kind)
            if kind in _SELDOM and not total:
                continue
            each = [None if kind == "server" else self.total_s(kind, leg) for leg in legs]
            rows.append([told, *map(seconds, each), *self._cells(total)])
        rows.append(["latency", *("" for _ in legs), *self._cells(self.latency_s)])
        header = ["", *(names if legs else ()), "mean", "share", "round trips"]
        return Sheet(f"{self.name}: mean latency of {self.subject}", header, rows)

    def _cells(self, value_s: float) -> list[str]:
        trips = value_s / self.rtt_s if self.rtt_s else None
        return [seconds(value_s), share(value_s / self.latency_s if self.latency_s else None), number(trips)]


def break_down(results: "RunTables", *, tagged: bool | None = None) -> Breakdown:
    """Where the time of a run's requests goes.

    Args:
        results: A run with the table `exchanges`.
        tagged: Of the requests tagged `sample` only; None: of those where there are any, else of all.

    Raises:
        ResultsError: The run did not record exchanges, or none of the requests finished.
    """
    import polars as pl

    legs = path_legs(results.manifest)
    chosen, tag = _requests(results, tagged, any(leg.inside for leg in legs))
    table = results.scan("exchanges")
    if missing := [name for name in _STEPS if name not in table.collect_schema()]:
        raise ResultsError(
            f"{results.path}: its table of exchanges has no {missing[0]}: it is of an older farweb; run it again"
        )
    exchanges = table.join(chosen.lazy(), on="request").collect()
    done = exchanges.filter("done")
    found = parts(done, legs, _opened(results))
    if found.is_empty():
        raise ResultsError(f"{results.path}: no request{' tagged ' + tag if tag else ''} finished")
    latency = float(found.select(pl.sum_horizontal(pl.exclude("request")).mean()).item())
    rtt = sum(leg.up_ns + leg.down_ns for leg in legs)
    told = [
        _part(name, float(found[name].mean()), latency, rtt)  # type: ignore[arg-type]
        for name in sorted(found.columns[1:], key=_place)
    ]
    return Breakdown(
        name=results.name,
        tag=tag,
        requests=len(found),
        reached=_reached(done, len(legs)),
        unfinished_reached=_reached(exchanges.filter(~pl.col("done")), len(legs)),
        latency_s=latency / _NS,
        rtt_s=rtt / _NS,
        legs=legs,
        parts=tuple(told),
        held=held_by_leg(results),
    )


def parts_by_kind(results: "RunTables") -> "pl.DataFrame":
    """How long each kind of part took of each request that ended after the warm-up, in s, on all legs together.

    Columns: `number` of the request, and a kind of `KINDS` each, as far as the run has them.

    Raises:
        ResultsError: The run did not record exchanges.
    """
    import polars as pl

    legs = path_legs(results.manifest)
    chosen, _ = _requests(results, False, any(leg.inside for leg in legs))
    exchanges = results.scan("exchanges").join(chosen.lazy(), on="request").collect()
    found = parts(exchanges.filter("done"), legs, _opened(results))
    there = {kind: [name for name in found.columns[1:] if name.partition(" ")[0] == kind] for kind in KINDS}
    taken = {kind: pl.sum_horizontal(names) / _NS for kind, names in there.items() if names}
    return found.select(pl.col("request").alias("number"), **taken)


def _requests(results: "RunTables", tagged: bool | None, sources: bool) -> "tuple[pl.DataFrame, str | None]":
    """The requests after the warm-up that are asked for: if each is `done`, with `sources` who served it; their tag."""
    import polars as pl

    begun = results.scan("requests").filter(pl.col("start_ns") >= results.warmup_ns)
    names = ["request", "tag", *(["served_by"] if sources else [])]
    chosen = begun.select(*names, done=pl.col("status") == "done").collect()
    sample = chosen.filter(pl.col("tag") == SAMPLE)
    if tagged is None:
        tagged = not sample.is_empty()
    return (sample, SAMPLE) if tagged else (chosen, None)


def _opened(results: "RunTables") -> "pl.DataFrame | None":
    """When each connection was opened, where the run recorded that."""
    if not (results.path / "connections.parquet").is_file():
        return None
    return results.scan("connections").select("connection", "open_ns").collect()


def _reached(exchanges: "pl.DataFrame", legs: int) -> tuple[int, ...]:
    """How many requests came to each leg."""
    import polars as pl

    by_leg = dict(exchanges.group_by("leg").agg(pl.col("request").n_unique()).iter_rows())
    return tuple(by_leg.get(leg, 0) for leg in range(legs))


def path_legs(manifest: Mapping[str, Any]) -> tuple[Leg, ...]:
    """The legs of a run."""
    scenario = manifest["scenario"]
    nodes = scenario["path"]["nodes"]
    legs = []
    caches = {cache["node"] for cache in scenario.get("cache", ())}

    def propagation(first: int, last: int, direction: str) -> int:
        links = scenario["path"]["link"][first:last]
        return sum(int(parse(link[direction]["delay"]).number * 10**9) for link in links)

    for leg, use in zip(scenario["leg"], connection_uses(manifest), strict=True):
        first, last = nodes.index(leg["from"]), nodes.index(leg["to"])
        up_ns, down_ns = (propagation(first, last, direction) for direction in ("up", "down"))
        inside = {
            node: propagation(first, place, "down")
            for place, node in enumerate(nodes)
            if first < place < last and node in caches
        }
        has_cache = bool(inside) or leg["to"] in caches
        legs.append(Leg(leg["from"], leg["to"], leg["carrier"]["kind"], use, up_ns, down_ns, inside, has_cache))
    return tuple(legs)


def parts(exchanges: "pl.DataFrame", legs: Sequence[Leg], opened: "pl.DataFrame | None") -> "pl.DataFrame":
    """The parts of each request's latency, in ns.

    Args:
        exchanges: The table `exchanges`, or rows of it, with `served_by` of the table `requests` where there are caches
            inside a leg.
        legs: Of the scenario, from the clients.
        opened: `connection` and `open_ns` of each connection; None where they were not recorded: then what comes before
            a connection is there counts as its handshake.

    Returns:
        A row a request that came to the first leg, with the columns `request`, `server`, and `kind leg` for each other
        kind and leg; all int64. Where a request was served before a leg, its parts there are 0; what it never came to
        the end of is null, when it failed or was under way when the run ended. `server` is at the end of the last leg
        that it came to.
    """
    import polars as pl

    if "cache_answer" not in exchanges.columns:  # of a farweb without caches
        exchanges = exchanges.with_columns(cache_answer=pl.lit(None, pl.String))
    if "credit_ns" not in exchanges.columns:  # of a farweb that told only cwnd and window
        exchanges = exchanges.with_columns(buffer_ns=0, credit_ns=0, nagle_ns=0)
    sources = ["served_by"] if any(leg.inside for leg in legs) else []
    path = _leg_rows(exchanges, 0, legs[0], opened, *sources)
    for place in range(1, len(legs)):
        path = path.join(_leg_rows(exchanges, place, legs[place], opened), on="request", how="left")
    columns = [pl.col("request")]
    for place, leg in enumerate(legs):
        served_before = pl.col(f"start_ns {place}").is_null() & pl.col("end_ns 0").is_not_null()
        columns += [
            pl.when(served_before).then(0).otherwise(part).cast(pl.Int64).alias(name)
            for name, part in _of_leg(place, leg, is_last=place == len(legs) - 1)
        ]
    return path.sort("request").select(*columns, _server(legs).alias("server"))


_STEPS = ("start_ns", "connect_ns", "requested_ns", "ready_last_ns", "sent_last_ns", "end_ns", "cwnd_ns", "window_ns")
_REASONS: Sequence[Kind] = ("cwnd", "window", "buffer", "credit", "nagle")


def _leg_rows(
    exchanges: "pl.DataFrame", place: int, leg: Leg, opened: "pl.DataFrame | None", *more: str
) -> "pl.DataFrame":
    """The steps of each exchange on a leg, the number of the leg in their names, and when its handshake began."""
    import polars as pl

    rows = exchanges.filter(pl.col("leg") == place)
    if opened is None:
        rows = rows.with_columns(open_ns=pl.col("start_ns"))
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
    rows = rows.with_columns(window_ns=pl.col("window_ns") - pl.col("buffer_ns"))
    of_leg = (*_STEPS, "buffer_ns", "credit_ns", "nagle_ns", "begun_ns", "cache_answer")
    return rows.select("request", *more, *(pl.col(name).alias(f"{name} {place}") for name in of_leg))


def _at(name: str, leg: int) -> "pl.Expr":
    """When a request made a step on a leg, or a time that the table has for it there."""
    import polars as pl

    return pl.col(f"{name}_ns {leg}")


def _server(legs: Sequence[Leg]) -> "pl.Expr":
    """What the server takes: at the end of the last leg that a request came to; where it waited for a fetch, 0."""
    import polars as pl

    def at_end(place: int) -> "pl.Expr":
        taken = _at("ready_last", place) - _at("requested", place)
        leg = legs[place]
        waited = leg.has_cache and not _waits_before(leg)
        return pl.when(_joined(place, len(legs))).then(0 * taken).otherwise(taken) if waited else taken

    server = at_end(0)
    for place in range(1, len(legs)):
        server = pl.when(_at("start", place).is_null()).then(server).otherwise(at_end(place))
    return server


def _joined(place: int, legs: int) -> "pl.Expr":
    """Whether the last leg that a request came to is this one, and it waited for a fetch under way there."""
    import polars as pl

    delayed = pl.col(f"cache_answer {place}").eq_missing("delayed hit")
    return delayed & _at("start", place + 1).is_null() if place + 1 < legs else delayed


def _waits_before(leg: Leg) -> bool:
    """Whether requests wait for a fetch before their connection is opened: they do at caches inside a leg."""
    return bool(leg.inside) and leg.use.requests


def _of_leg(place: int, leg: Leg, *, is_last: bool) -> "Iterator[tuple[str, pl.Expr]]":
    """The parts that a leg has in the latency of each request that came to it, and their names."""
    import polars as pl

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
    way = at("end") - at("sent_last")
    down = pl.lit(leg.down_ns)
    for node, from_there in leg.inside.items():
        down = pl.when(pl.col("served_by").eq_missing(node)).then(from_there).otherwise(down)
    travel = pl.when(way > down).then(down).otherwise(way)
    rest = way - travel
    if not is_last:
        start, end = _at("start", place + 1), _at("end", place + 1)
        between = (start - at("requested")) + (at("ready_last") - end)
        rest = rest + pl.when(start.is_null()).then(0).otherwise(between)
    wait = at("begun") - at("start")
    if leg.has_cache:
        joined = _joined(place, place + 1 if is_last else place + 2)
        fetch = wait if _waits_before(leg) else at("ready_last") - at("requested")
        yield f"fetch {place}", pl.when(joined).then(fetch).otherwise(0 * wait)
        if _waits_before(leg):
            wait = pl.when(joined).then(0 * wait).otherwise(wait)
    yield f"wait {place}", wait
    yield f"handshake {place}", at("connect") - at("begun")
    yield f"request {place}", at("requested") - at("connect")
    for kind, begin, end in zip(_REASONS, [0 * costs, *ends], ends, strict=False):
        yield f"{kind} {place}", end - begin
    yield f"other {place}", held - ends[-1]
    yield f"travel {place}", travel
    yield f"rest {place}", rest


def _requests_of(number: int) -> str:
    return f"{count(number)} request{'' if number == 1 else 's'}"


def _by_leg(reached: Sequence[int]) -> str:
    """How many came to each leg behind the first."""
    return ", ".join(f"{count(number)} reached leg {leg}" for leg, number in enumerate(reached, 1))


def _place(name: str) -> tuple[int, int]:
    """Where a column stands among the parts: by kind, then by leg."""
    kind, _, leg = name.partition(" ")
    return get_args(Kind).index(kind), int(leg or 0)


def _part(name: str, mean_ns: float, latency_ns: float, rtt_ns: int) -> Part:
    kind, _, leg = name.partition(" ")
    trips = mean_ns / rtt_ns if rtt_ns else None
    share_of = mean_ns / latency_ns if latency_ns else 0.0
    return Part(kind, int(leg) if leg else None, mean_ns / _NS, share_of, trips)  # type: ignore[arg-type]
