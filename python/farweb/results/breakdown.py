"""Breakdown of the mean latency of a run's requests into the parts of each (`farweb.results.parts`).

A request that failed, or was under way when the run ended, has no latency: it counts in no mean, and stands beside it
with the legs that it reached.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, get_args

from farweb.errors import ResultsError
from farweb.results.legs import Held, held_by_leg, held_sheet
from farweb.results.metrics import SAMPLE
from farweb.results.parts import KINDS, STEPS, Kind, Leg, parts, path_legs
from farweb.text.quantities import count, number, seconds, share
from farweb.text.sheet import Sheet, to_html, to_rich
from farweb.text.words import plural

if TYPE_CHECKING:
    import polars as pl
    from rich.console import RenderableType

    from farweb.results.run import RunTables

_SELDOM: Sequence[Kind] = ("buffer", "credit", "nagle", "other")
"""Kinds of parts that the table for people leaves out where they took no time."""

_NS = 1e9


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
        requests = plural(self.requests, "request")
        return f"{requests} tagged {self.tag}" if self.tag else requests

    @property
    def remarks(self) -> list[str]:
        """Requests served before the last leg, and requests in no part; nothing where all finished on all legs."""
        said = []
        if min(self.reached) < self.requests:
            said.append(f"Of these requests {_by_leg(self.reached[1:])}; the others were served before.")
        if left := self.unfinished_reached[0]:
            came = f": {_by_leg(self.unfinished_reached[1:])}" if len(self.legs) > 1 else ""
            said.append(
                f"{plural(left, 'request')} more did not finish and {'is' if left == 1 else 'are'} in no part{came}."
            )
        return said

    def total_s(self, kind: Kind, leg: int | None = None) -> float:
        """Mean time of a kind of part in s, on one leg or, when None, all in all."""
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
        for kind, called in KINDS.items():
            if kind == "fetch" and not any(leg.has_cache for leg in self.legs):
                continue
            total = self.total_s(kind)
            if kind in _SELDOM and not total:
                continue
            each = [None if kind == "server" else self.total_s(kind, leg) for leg in legs]
            rows.append([called, *map(seconds, each), *self._cells(total)])
        rows.append(["latency", *("" for _ in legs), *self._cells(self.latency_s)])
        header = ["", *(names if legs else ()), "mean", "share", "round trips"]
        return Sheet(f"{self.name}: mean latency of {self.subject}", header, rows)

    def _cells(self, value_s: float) -> list[str]:
        trips = value_s / self.rtt_s if self.rtt_s else None
        return [seconds(value_s), share(value_s / self.latency_s if self.latency_s else None), number(trips)]


def break_down(results: "RunTables", *, tagged: bool | None = None) -> Breakdown:
    """Break down the mean latency of a run's requests.

    Args:
        results: A run with the table `exchanges`.
        tagged: Of the requests tagged `sample` only; None: of those where there are any, else of all.

    Raises:
        ResultsError: The run did not record exchanges, or none of the requests finished.
    """
    import polars as pl

    legs = path_legs(results.manifest)
    exchanges, tag = _exchanges(results, legs, tagged)
    done = exchanges.filter("done")
    found = parts(done, legs, _opened(results))
    if found.is_empty():
        raise ResultsError(f"{results.path}: no request{' tagged ' + tag if tag else ''} finished")
    latency = float(found.select(pl.sum_horizontal(pl.exclude("request")).mean()).item())
    rtt = sum(leg.up_ns + leg.down_ns for leg in legs)
    means = [
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
        parts=tuple(means),
        held=held_by_leg(results),
    )


def parts_by_kind(results: "RunTables") -> "pl.DataFrame":
    """Times of each kind of part of each request that ended after the warm-up, in s, on all legs together.

    Columns: `number` of the request, and a kind of `KINDS` each, as far as the run has them.

    Raises:
        ResultsError: The run did not record exchanges.
    """
    import polars as pl

    legs = path_legs(results.manifest)
    exchanges, _ = _exchanges(results, legs, False)
    found = parts(exchanges.filter("done"), legs, _opened(results))
    there = {kind: [name for name in found.columns[1:] if name.partition(" ")[0] == kind] for kind in KINDS}
    taken = {kind: pl.sum_horizontal(names) / _NS for kind, names in there.items() if names}
    return found.select(pl.col("request").alias("number"), **taken)


def _exchanges(results: "RunTables", legs: Sequence[Leg], tagged: bool | None) -> "tuple[pl.DataFrame, str | None]":
    """The exchanges of requests after the warm-up, whether each request is `done` and who served it; their tag."""
    import polars as pl

    table = results.scan("exchanges")
    if missing := [name for name in STEPS if name not in table.collect_schema()]:
        raise ResultsError(
            f"{results.path}: its table of exchanges has no {missing[0]}: it is of an older farweb; run it again"
        )
    begun = results.scan("requests").filter(pl.col("start_ns") >= results.warmup_ns)
    names = ["request", "tag", *(["served_by"] if any(leg.inside for leg in legs) else [])]
    chosen = begun.select(*names, done=pl.col("status") == "done").collect()
    sample = chosen.filter(pl.col("tag") == SAMPLE)
    is_sample = not sample.is_empty() if tagged is None else tagged
    exchanges = table.join((sample if is_sample else chosen).lazy(), on="request").collect()
    return exchanges, SAMPLE if is_sample else None


def _opened(results: "RunTables") -> "pl.DataFrame | None":
    """Times at which connections were opened, where the run recorded them."""
    if not (results.path / "connections.parquet").is_file():
        return None
    return results.scan("connections").select("connection", "open_ns").collect()


def _reached(exchanges: "pl.DataFrame", legs: int) -> tuple[int, ...]:
    """Numbers of requests that came to each leg."""
    import polars as pl

    by_leg = dict(exchanges.group_by("leg").agg(pl.col("request").n_unique()).iter_rows())
    return tuple(by_leg.get(leg, 0) for leg in range(legs))


def _by_leg(reached: Sequence[int]) -> str:
    """Words for the numbers that came to each leg behind the first."""
    return ", ".join(f"{count(number)} reached leg {leg}" for leg, number in enumerate(reached, 1))


def _place(name: str) -> tuple[int, int]:
    """Key by which columns are sorted: kind, then leg."""
    kind, _, leg = name.partition(" ")
    return get_args(Kind).index(kind), int(leg or 0)


def _part(name: str, mean_ns: float, latency_ns: float, rtt_ns: int) -> Part:
    kind, _, leg = name.partition(" ")
    trips = mean_ns / rtt_ns if rtt_ns else None
    share_of = mean_ns / latency_ns if latency_ns else 0.0
    return Part(kind, int(leg) if leg else None, mean_ns / _NS, share_of, trips)  # type: ignore[arg-type]
