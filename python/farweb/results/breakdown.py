"""Breakdown of the mean latency of a run's requests into the parts of each (`farweb.results.parts`).

A request that failed, or was under way when the run ended, has no latency: it counts in no mean, and stands beside it
with the legs that it reached.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast, get_args

import polars as pl

from farweb.errors import ResultsError
from farweb.memory import spare_bytes
from farweb.results.groups import RequestGroup, grouped
from farweb.results.legs import Held, held_by_leg, held_sheet
from farweb.results.metrics import GROUPS
from farweb.results.parts import KINDS, Kind, Leg, parts, path_legs
from farweb.results.run import RunTables
from farweb.text.quantities import count, number, seconds, share
from farweb.text.sheet import Screen, Sheet, Shown
from farweb.text.words import plural

_SELDOM: Sequence[Kind] = ("flight", "pacing", "buffer", "credit", "nagle", "other", "pace", "relay")
"""Kinds of parts that the table for people leaves out where they took no time."""

_UPLOAD = 0.1
"""Share of the latency from which on requests that took longer than a round trip are uploads. Chosen."""

_NS = 1e9
_PARTS_MAX = 3
_SMALL = 0.01  # of the mean, that a part has to have to be named; chosen
_, _SAMPLE = GROUPS["sample"]
_BYTES_A_REQUEST = 2_000  # of memory on each leg, in a piece
_LEAST_REQUESTS = 10_000  # in a piece; chosen: fewer are no faster


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
class Breakdown(Shown):
    """The mean latency of requests in parts that add up to it.

    Attributes:
        name: Of the run.
        tag: The tag of the requests; None: all of the run, or of the group.
        group: The property that the requests share (`farweb.results.groups`); None: all.
        requests: Number of requests that finished and began after the warm-up.
        reached: By leg, how many of them came to it; the others were served before.
        unfinished_reached: By leg, how many failed or cut-off requests came to it, in no
            part: of leg 0 all of them.
        latency_s: Mean latency of `requests`.
        rtt_s: Propagation there and back over the whole path.
        legs: From the clients.
        parts: In the order of `KINDS`, and of legs.
        held: Limits on the senders of each leg, on all of its connections; empty where the run did not record them.
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
    group: str | None = None

    @property
    def subject(self) -> str:
        """The requests in words."""
        requests = plural(self.requests, "request")
        tagged = f"{requests} tagged {self.tag}" if self.tag else requests
        return f"{tagged}, {self.group}" if self.group else tagged

    @property
    def remarks(self) -> list[str]:
        """Requests served before the last leg, requests in no part, and a part without causes; mostly nothing."""
        said = []
        upload = self.total_s("request")
        if upload > max(self.rtt_s, _UPLOAD * self.latency_s):
            said.append(
                "Requests on their way have no causes: what held their senders, such as the credit of servers or the "
                "way up, is not recorded; check says what a connection can carry up."
            )
        if min(self.reached) < self.requests:
            said.append(f"Of these requests {_by_leg(self.reached[1:])}; the others were served before.")
        if left := self.unfinished_reached[0]:
            came = f": {_by_leg(self.unfinished_reached[1:])}" if len(self.legs) > 1 else ""
            said.append(
                f"{plural(left, 'request')} more did not finish and {'is' if left == 1 else 'are'} in no part{came}."
            )
        return said

    @property
    def means_s(self) -> dict[Kind, float]:
        """Mean time of each kind of part in s, of those that took some."""
        return {kind: found for kind in KINDS if (found := self.total_s(kind))}

    def total_s(self, kind: Kind, leg: int | None = None) -> float:
        """Mean time of a kind of part in s, on one leg or, when None, all in all."""
        return sum(part.mean_s for part in self.parts if part.kind == kind and leg in (None, part.leg))

    def screen(self) -> Screen:
        """The largest parts in a sentence, all in a table, remarks, and what held the senders."""
        held = [held_sheet({self.name: self.held})] if self.held else []
        legs = (f"leg {place}: {leg.from_node} to {leg.to_node}" for place, leg in enumerate(self.legs))
        answer = f"{seconds(self.latency_s)} in the mean of {self.subject}: {largest_parts(self.means_s)}."
        return Screen((answer, "", self.sheet(), *(legs if len(self.legs) > 1 else ()), *self.remarks, *held))

    def sheet(self) -> Sheet:
        """The table for people: a row a kind, a column a leg."""
        legs = range(len(self.legs)) if len(self.legs) > 1 else ()
        rows = []
        for kind, called in KINDS.items():
            if kind == "fetch" and not any(leg.has_cache for leg in self.legs):
                continue
            total = self.total_s(kind)
            if kind in _SELDOM and not total:
                continue
            each = [None if kind == "server" else self.total_s(kind, leg) for leg in legs]
            rows.append([called, *map(seconds, each), *self._cells(total)])
        rows.append(["latency", *("" for _ in legs), *self._cells(self.latency_s)])
        header = ["", *(f"leg {place}" for place in legs), "mean", "share", "round trips"]
        return Sheet("", header, rows)

    def _cells(self, value_s: float) -> list[str]:
        trips = value_s / self.rtt_s if self.rtt_s else None
        return [seconds(value_s), share(value_s / self.latency_s if self.latency_s else None), number(trips)]


def largest_parts(means_s: Mapping[Kind, float]) -> str:
    """The three largest parts of a mean in words, those on the way as one."""
    sums: dict[str, float] = {}
    for kind, mean_s in means_s.items():
        called = "on the way" if kind in ("request", "travel") else KINDS[kind]
        sums[called] = sums.get(called, 0.0) + mean_s
    least = _SMALL * sum(sums.values())
    largest = sorted((name for name in sums if sums[name] >= least), key=lambda name: -sums[name])
    return ", ".join(f"{seconds(sums[name])} {name}" for name in largest[:_PARTS_MAX])


def break_down(results: RunTables, *, tagged: bool | None = None) -> Breakdown:
    """Break down the mean latency of a run's requests.

    Args:
        results: A run with the table `exchanges`.
        tagged: Of the requests tagged `sample` only; None: of those where there are any, else of all.

    Raises:
        ResultsError: The run did not record exchanges, or none of the requests finished.
    """
    tag = _tag(results, tagged)
    return _of(results, tag, _is_tagged(tag))


def break_down_by(results: RunTables, by: str | Sequence[str]) -> list[Breakdown]:
    """Break down the mean latency of each group of a run's requests; the order is the groups'.

    Args:
        results: A run with the table `exchanges`.
        by: `visit` or `client`, see `farweb.results.groups`.

    Raises:
        FarwebError: There is no such grouping.
        ResultsError: The run did not record exchanges, no request names its client, or none of a group finished.
    """
    return [_of(results, None, group.rows, group) for group in grouped(results, by)]


def _of(results: RunTables, tag: str | None, rows: pl.Expr, group: RequestGroup | None = None) -> Breakdown:
    """The breakdown of the requests of these rows."""
    legs = path_legs(results.manifest)
    sums = _Sums(legs)
    for exchanges, found in _pieces(results, legs, rows):
        sums.add(exchanges, found)
    if not sums.requests:
        which = f" tagged {tag}" if tag else f" ({group.label})" if group else ""
        raise ResultsError(f"{results.path}: no request{which} finished")
    latency = sum(sums.of.values()) / sums.requests
    rtt = sum(leg.up_ns + leg.down_ns for leg in legs)
    means = [
        _part(name, sums.of[name] / max(1, sums.known[name]), latency, rtt) for name in sorted(sums.of, key=_place)
    ]
    return Breakdown(
        name=results.name,
        tag=tag,
        requests=sums.requests,
        reached=tuple(sums.reached),
        unfinished_reached=tuple(sums.unfinished_reached),
        latency_s=latency / _NS,
        rtt_s=rtt / _NS,
        legs=legs,
        parts=tuple(means),
        held=() if group else held_by_leg(results),
        group=group.label if group else None,
    )


class _Sums:
    """Sums over the requests of a run, piece by piece.

    Attributes:
        requests: How many have ended.
        of: Their times in ns, by part.
        known: How many of them have that part.
        reached: How many came to each leg.
        unfinished_reached: The same of requests that have not ended.
    """

    def __init__(self, legs: Sequence[Leg]) -> None:
        self.requests = 0
        self.of: Counter[str] = Counter()
        self.known: Counter[str] = Counter()
        self.reached, self.unfinished_reached = [0] * len(legs), [0] * len(legs)

    def add(self, exchanges: pl.DataFrame, found: pl.DataFrame) -> None:
        """Take exchanges, and the parts of those requests among theirs that have ended."""
        self.requests += len(found)
        for name in found.columns[1:]:
            self.of[name] += int(found[name].sum())
            self.known[name] += found[name].count()
        for leg, done, requests in exchanges.group_by("leg", "done").agg(pl.n_unique("request")).iter_rows():
            (self.reached if done else self.unfinished_reached)[leg] += requests


def sums_by_kind(results: RunTables, requests: pl.Series) -> dict[Kind, float]:
    """Times of each kind of part, in s, on all legs and of all of these requests together.

    Args:
        results: The run.
        requests: Numbers of requests; only those that end after the warm-up count.

    Raises:
        ResultsError: The run did not record exchanges.
    """
    sums = dict.fromkeys(KINDS, 0.0)
    for _, found in _pieces(results, path_legs(results.manifest), _is_tagged(None)):
        taken = found.filter(found["request"].is_in(requests.implode())).drop("request").sum()
        for part, time_ns in taken.row(0, named=True).items():
            sums[_kind(part)] += (time_ns or 0) / _NS
    return sums


def parts_by_request(results: RunTables) -> dict[int, dict[Kind, int]]:
    """Times of each kind of part on all legs, in ns, by the number of each request that ended.

    Raises:
        ResultsError: The run did not record exchanges.
    """
    found: dict[int, dict[Kind, int]] = {}
    for _, rows in _pieces(results, path_legs(results.manifest), _is_tagged(None)):
        for row in rows.iter_rows(named=True):
            of = found.setdefault(row.pop("request"), dict.fromkeys(KINDS, 0))
            for part, time_ns in row.items():
                of[_kind(part)] += time_ns
    return found


def _tag(results: RunTables, tagged: bool | None) -> str | None:
    """The tag of the requests that are broken down."""
    if tagged is not None:
        return _SAMPLE if tagged else None
    sample = results.scan("requests").filter(pl.col("start_ns") >= results.warmup_ns, _is_tagged(_SAMPLE))
    return None if sample.select("tag").head(1).collect().is_empty() else _SAMPLE


def _is_tagged(tag: str | None) -> pl.Expr:
    """True for the requests with this tag; None: for all."""
    return pl.lit(True) if tag is None else pl.col("tag") == tag


def _pieces(results: RunTables, legs: Sequence[Leg], rows: pl.Expr) -> Iterator[tuple[pl.DataFrame, pl.DataFrame]]:
    """Exchanges of some requests after the warm-up, `done` or not, and the parts of the done ones.

    No request is in two pieces, and a piece is as large as memory allows.
    """
    table, all_requests = results.scan("exchanges"), results.scan("requests")
    chosen = all_requests.filter(pl.col("start_ns") >= results.warmup_ns, rows)
    names = ["request", *(["served_by"] if any(leg.inside for leg in legs) else [])]
    opened, numbers = _opened(results), all_requests.select("request").collect()["request"].sort()
    most = int(min(max(spare_bytes() // (len(legs) * _BYTES_A_REQUEST), _LEAST_REQUESTS), max(1, len(numbers))))
    for begin in range(0, len(numbers), most):
        one = pl.col("request").is_between(numbers[begin], numbers[min(begin + most, len(numbers)) - 1])
        some, steps = (chosen, table) if most == len(numbers) else (chosen.filter(one), table.filter(one))
        requests = some.select(*names, done=pl.col("status") == "done").collect()
        exchanges = steps.join(requests.lazy(), on="request").collect()
        yield exchanges, parts(exchanges.filter("done"), legs, opened)


def _opened(results: RunTables) -> pl.DataFrame | None:
    """Opening times of connections and holding times of TLS flights, where the run recorded them."""
    if not results.has("connections"):
        return None
    return results.scan("connections").select("connection", "open_ns", "tls_cwnd_ns").collect()


def _by_leg(reached: Sequence[int]) -> str:
    """Words for the numbers that came to each leg behind the first."""
    return ", ".join(f"{count(number)} reached leg {leg}" for leg, number in enumerate(reached, 1))


def _kind(name: str) -> Kind:
    """The kind of part in a column."""
    return cast("Kind", name.partition(" ")[0])


def _place(name: str) -> tuple[int, int]:
    """Sort key of columns: kind, then leg."""
    return get_args(Kind).index(_kind(name)), int(name.partition(" ")[2] or 0)


def _part(name: str, mean_ns: float, latency_ns: float, rtt_ns: int) -> Part:
    kind, _, leg = name.partition(" ")
    trips = mean_ns / rtt_ns if rtt_ns else None
    share_of = mean_ns / latency_ns if latency_ns else 0.0
    return Part(kind, int(leg) if leg else None, mean_ns / _NS, share_of, trips)  # type: ignore[arg-type]
