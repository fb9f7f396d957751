"""Estimates how large a run or a sweep becomes, before anything is simulated, and holds it against limits.

Rows of requests, of intervals and of exchanges follow from the scenario. Packets count requests, responses, an
acknowledgement for every second segment, and seven to open and close a connection. Retransmissions, frames, answers of
caches and reuse of connections are left out. They cross each link of their leg, until the run ends. Requests under way
are the larger of two bounds: requests that start within the round trips of a request (Little's law, from the mean
rate), and the backlog of the busiest link while they arrive.

Some points of a sweep, spread over its design, stand for all; of a search the first values. A request table that all
points share is read once.
"""

import contextlib
import functools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from farweb.check.offered import MINUTE_S, Laid
from farweb.check.trace import RatedLink, Trace, is_alone, rated_links, read_trace
from farweb.errors import FarwebError, ScenarioError
from farweb.inputs.description import Description, Value
from farweb.inputs.prepared import Prepared
from farweb.results.design import spread
from farweb.text.parse import parse
from farweb.text.quantities import count
from farweb.text.sheet import Sheet

ROWS_WARNED, ROWS_MAX = 100_000_000, 1_000_000_000
"""Rows of all tables. Chosen: a row takes 14 B (of packets) to 45 B (of exchanges) on the disk, so the limit is some
tens of GB and the warning some GB."""

UNDER_WAY_WARNED, UNDER_WAY_MAX = 1_000_000, 10_000_000
"""Requests under way at once. Chosen: a connection with its request takes 2 to 3 kB of memory (the case `open` of
docs/performance.md), so the limit is some tens of GB and the warning some GB."""

HOPS_WARNED, HOPS_MAX = 10_000_000_000, 300_000_000_000
"""Packets over links, each counted at every link that it crosses. Chosen: a core does some 4 million in a second
(docs/performance.md), so the limit is about a day of a core and the warning most of an hour."""

_POINTS = 16  # chosen: the ends of a design and what lies between, in some hundredths of a second
_HOPS_AN_HOUR = 4_000_000 * 3600
_OPENING = 7  # packets that open and close a connection: SYN, SYN ACK, ACK, and two FINs with their ACKs
_SERIES = "links, legs and caches"


@dataclass(frozen=True)
class Extent:
    """Size of a run, or of all runs of a sweep, by estimate.

    Attributes:
        runs: 1, or the runs of the sweep.
        rows: Rows of all runs, by table. Links, legs and caches count together.
        packet_hops: Packets that links carry, of all runs.
        under_way: Requests under way at once in the largest run, at least.
        cause: Key of the workload that says how many requests there are.
    """

    runs: int
    rows: Mapping[str, int]
    packet_hops: int
    under_way: int
    cause: str

    @property
    def warnings(self) -> list[str]:
        """Lines about large sizes, each beginning with its key."""
        return [f"{key}: {words}" for key, words, _, _ in self._large()]

    @property
    def is_allowed(self) -> bool:
        """True when nothing is beyond a limit."""
        return all(amount <= limit for _, _, amount, limit in self._large())

    def require_allowed(self, scenario: Description) -> None:
        """Refuse sizes beyond a limit. `scenario` knows the places of its keys.

        Raises:
            ScenarioError: It is. The message names file, key, estimate and limit.
        """
        lines = [
            scenario.core.problem(key, f"{words}; the limit is {count(limit)}, and --no-limits lifts it")
            for key, words, amount, limit in self._large()
            if amount > limit
        ]
        if lines:
            raise ScenarioError("\n".join(lines))

    def _large(self) -> Iterator[tuple[str, str, int, int]]:
        """Warnings: key, words, the number and its limit."""
        rows = sum(self.rows.values())
        if rows > ROWS_WARNED:
            most = max(self.rows, key=lambda table: self.rows[table])
            keys = {_SERIES: "record.links_every", "packets": "record.packets", "exchanges": "record.exchanges"}
            who = "a run writes" if self.runs == 1 else f"{count(self.runs)} runs write"
            words = f"{who} about {count(rows)} rows, most of them ({count(self.rows[most])}) of {most}"
            yield keys.get(most, self.cause), words, rows, ROWS_MAX
        if self.packet_hops > HOPS_WARNED:
            who = "a run sends" if self.runs == 1 else f"{count(self.runs)} runs send"
            hours = count(round(self.packet_hops / _HOPS_AN_HOUR))
            words = f"{who} about {count(self.packet_hops)} packets over links, which take a core some {hours} h"
            yield self.cause, words, self.packet_hops, HOPS_MAX
        if self.under_way > UNDER_WAY_WARNED:
            words = f"about {count(self.under_way)} requests are in flight, with some kB of memory each"
            yield self.cause, words, self.under_way, UNDER_WAY_MAX

    def to_dict(self) -> dict[str, Any]:
        """The numbers, as plain values."""
        return {
            "runs": self.runs,
            "requests": self.rows["requests"],
            "packet_hops": self.packet_hops,
            "under_way": self.under_way,
            "rows": {**self.rows},
        }


def sheet(extents: tuple[Extent, ...]) -> Sheet:
    """A table for people, of a run and, beside it, of all runs of a sweep."""
    header = ["", *("a run" if extent.runs == 1 else f"all {count(extent.runs)} runs" for extent in extents)]
    tables = dict.fromkeys(table for extent in extents for table in extent.rows)
    rows = [
        ["requests in flight, at least", *(count(extent.under_way) for extent in extents)],
        ["packets over links, about", *(count(extent.packet_hops) for extent in extents)],
    ]
    rows += [[f"rows of {table}", *(count(extent.rows.get(table, 0)) for extent in extents)] for table in tables]
    return Sheet("Estimated size", header, rows)


@dataclass(frozen=True)
class Point:
    """A run that may be done, alone or as a point of a sweep or a search, and its size.

    Attributes:
        scenario: What is simulated.
        figures: Of its check.
        trace: Its workload.
    """

    scenario: Description
    figures: Mapping[str, Any]
    trace: Trace

    @functools.cached_property
    def extent(self) -> Extent:
        """The estimated size of the run."""
        rows = {"requests": self._requests, **self._recorded()}
        return Extent(1, rows, self._packet_hops(), self._under_way(), _cause(self.scenario.effective["workload"]))

    @functools.cached_property
    def _laid(self) -> Laid:
        return Laid.of(self.figures["workload"], self.scenario.effective["run"]["until"], self.trace)

    @functools.cached_property
    def _requests(self) -> int:
        """Requests that begin before the run ends."""
        laid = self._laid
        started = 1.0 if laid.until_s is None or laid.ends_s <= 0 else min(1.0, laid.until_s / laid.ends_s)
        return round(laid.requests * started)

    def _recorded(self) -> dict[str, int]:
        """Rows of the tables that `record` asks for."""
        record, legs, laid = self.scenario.effective["record"], self.figures["legs"], self._laid
        rows = {}
        if record["connections"] and (alone := sum(is_alone(leg) for leg in legs)):
            rows["connections"] = self._requests * alone
        if record["exchanges"]:
            rows["exchanges"] = self._requests * len(legs)
        if (every := record.get("links_every")) is not None:
            series = 2 * len(self.figures["links"]) + len(legs) + len(self.figures["caches"])
            ends_s = laid.ends_s if laid.until_s is None else min(laid.ends_s, laid.until_s)
            rows[_SERIES] = math.ceil(ends_s / float(parse(every).number)) * series
        if record["packets"] != "none":
            seen = 1.0 if record["packets"] == "all" else self.trace.sampled
            rows["packets"] = round(seen * sum(self._requests * self._packets(leg, record["points"]) for leg in legs))
        return rows

    def _packets(self, leg: Mapping[str, Any], points: Sequence[str]) -> float:
        """Rows of packets that a request leaves on a leg: in each direction, at each point on the leg."""
        segments_bytes = self.trace.rows * leg["mss_bytes"]
        response = self.trace.response_bytes / segments_bytes + 0.5  # half a segment is begun
        request = self.trace.request_bytes / segments_bytes + 0.5 if leg["connection_use"]["requests"] else 0.0
        opening = _OPENING / 2 if is_alone(leg) else 0.0
        passing = {"up": request + response / 2 + opening, "down": response + request / 2 + opening}
        first, behind = (self.figures["nodes"].index(leg[end]) for end in ("from", "to"))
        rows = 0.0
        for point in points:
            place, _, direction = point.removeprefix("link ").partition(" ")
            if point == "ends":
                rows += 2 * max(1, len(leg["stretches"])) * sum(passing.values())
            elif first <= int(place) < behind:
                rows += passing[direction] if direction else sum(passing.values())
        return rows

    def _packet_hops(self) -> int:
        """Packets over all links, cut to the share that the slowest link for them can carry until the run ends."""
        everywhere = [f"link {index}" for index in range(len(self.figures["links"]))]
        hops = self._requests * sum(self._packets(leg, everywhere) for leg in self.figures["legs"])
        give_up = self.scenario.effective.get("clients", {}).get("give_up")
        ends = [self._laid.until_s, None if give_up is None else self._laid.ends_s + float(parse(give_up).number)]
        lasts_s = min((end for end in ends if end is not None), default=math.inf)
        times = self._requests / self.trace.rows
        links = [(link.rate_bps, bits * times) for link, bits in self._bits()]
        return round(hops * min((min(1.0, rate * lasts_s / bits) for rate, bits in links if bits), default=1.0))

    def _under_way(self) -> int:
        """The larger of the two bounds."""
        effective, place_of, laid = self.scenario.effective, self.figures["nodes"].index, self._laid
        caches = [place_of(cache["node"]) for cache in effective.get("cache") or []]
        passed = [leg for leg in self.figures["legs"] if not any(at <= place_of(leg["from"]) for at in caches)]
        trips = ((2 if is_alone(leg) else 1) if leg["connection_use"]["requests"] else 0.5 for leg in passed)
        takes_s = sum(trip * leg["rtt_ns"] / 1e9 for trip, leg in zip(trips, passed, strict=True))
        moving = self._requests * (min(1.0, takes_s / laid.span_s) if laid.span_s > 0 else 1)
        if "give_up" in effective.get("clients", {}):
            return round(moving)
        a_second = self._requests / self.trace.rows / max(laid.span_s, MINUTE_S)
        busy = max((bits * a_second / link.rate_bps for link, bits in self._bits()), default=0.0)
        return round(max(moving, self._requests * (1 - 1 / busy) if busy > 1 else 0.0))

    def _bits(self) -> Iterator[tuple[RatedLink, float]]:
        """Load of all requests of the trace on each link, in bits; behind a live cache what that cannot answer."""
        for link in rated_links(self.scenario, self.figures):
            yield link, 8 * float((link.missed(self.trace) if link.at_most else link.sent(self.trace)).sum())


def _cause(workload: Mapping[str, Any]) -> str:
    """The key that makes requests many."""
    if workload["load"] > 1:
        return "workload.load"
    return "workload.requests" if workload.get("requests") is not None else "workload.family"


def points_of_sweep(scenario: Description, prepared: Prepared, trace: Trace, most: int = _POINTS) -> dict[int, Point]:
    """Points of the sweep of `scenario` that stand for it, by number. `prepared` and `trace` are its workload.

    Points with levels that contradict each other are left out: their runs fail.
    """
    design = scenario.design
    assert design is not None, "who asks has a sweep"
    numbers = spread(len(design.points), most)
    found = ((number, _point(functools.partial(scenario.point, number), prepared, trace)) for number in sorted(numbers))
    return {number: point for number, point in found if point is not None}


def packets_of_points(scenario: Description) -> dict[int, int]:
    """Estimate the packets over links of a run at each point of the sweep of `scenario`, without those of no requests.

    Raises:
        WorkloadError: A table cannot be used.
    """
    design = scenario.design
    assert design is not None, "who asks has a sweep"
    with Prepared.of(scenario, may_lack=True) as prepared:
        trace = read_trace(scenario, json.loads(scenario.core.check(prepared.core.hosts)), prepared)
        if trace is None:
            return {}
        points = points_of_sweep(scenario, prepared, trace, len(design.points))
        return {number: point.extent.packet_hops for number, point in points.items()}


def extent_of_points(points: Iterable[Point], runs: int) -> Extent | None:
    """Estimate the size of that many runs, each point standing for an equal part, or None without points."""
    extents = [point.extent for point in points]
    if not extents:
        return None
    tables = dict.fromkeys(table for extent in extents for table in extent.rows)
    rows = {table: round(runs * np.mean([extent.rows.get(table, 0) for extent in extents])) for table in tables}
    return replace(
        max(extents, key=lambda extent: extent.rows["requests"]),
        runs=runs,
        rows=rows,
        packet_hops=round(runs * np.mean([extent.packet_hops for extent in extents])),
        under_way=max(extent.under_way for extent in extents),
    )


def extent_of_values(scenario: Description, changes: Sequence[Mapping[str, Value]], runs: int) -> Extent | None:
    """Estimate the size of so many runs of `scenario`, spread over some of the values of its keys.

    None without requests, and when it can be run with none of the values.
    """
    with Prepared.of(scenario, may_lack=True) as prepared:
        trace = read_trace(scenario, json.loads(scenario.complete().check(prepared.core.hosts)), prepared)
        if trace is None:
            return None
        points = (_point(functools.partial(scenario.with_, each), prepared, trace) for each in changes)
        return extent_of_points([point for point in points if point is not None], runs)


def _point(make: Callable[[], Description], base: Prepared, trace: Trace) -> Point | None:
    """A point of a sweep of `base`, with its `trace` where that is its own, or None where its levels make no sense."""
    try:
        point = make()
        is_own = base.fits(point)
        with contextlib.nullcontext(base) if is_own else Prepared.of(point) as prepared:
            figures = json.loads(point.complete().check(prepared.core.hosts))
            segments = {link.segments for link in rated_links(point, figures)}
            of_point = trace if is_own and segments.issubset(trace.segments) else read_trace(point, figures, prepared)
    except FarwebError:
        return None
    return None if of_point is None else Point(point, figures, of_point)
