"""A page load in the results of a run: its requests, the critical path, and where the time to onLoad goes.

`farweb page` writes the page beside the tables of the run. The *critical path* is found backwards: the last request
that gates onLoad, its last dependency, and so on to the first. Each step is think, from the earliest possible issue to
the issue, and the parts of its latency (`farweb.results.parts`) as far as the next step waited for it. Steps follow one
another without gaps: with the tail they add up to onLoad, to the nanosecond.

Where only a part of a response had to be there, travel counts whole: it is the journey of the part's last
byte. What held that byte is taken from the beginning of what held the response.
"""

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from farweb.errors import ResultsError
from farweb.results.breakdown import parts_by_request
from farweb.results.legs import tls_of
from farweb.results.parts import Kind
from farweb.results.run import RunTables
from farweb.results.tables import PAGE
from farweb.text.words import plural


class Part(NamedTuple):
    """A part of the time to onLoad.

    Attributes:
        words: Its name in sentences.
        head: Its name above a column.
        meaning: For people.
        kinds: Parts of a request's latency in it.
    """

    words: str
    head: str
    meaning: str
    kinds: Sequence[Kind] = ()


_STARTS: Sequence[Kind] = ("flight", "cwnd", "pacing")
_HOLDS: Sequence[Kind] = ("window", "buffer", "credit", "nagle", "other")
_QUEUED: Sequence[Kind] = ("wait", "pace", "relay", "rest")
PARTS: Mapping[str, Part] = {
    "handshakes": Part("handshakes", "connect", "handshakes of TCP and TLS", ("handshake",)),
    "request": Part("on the way", "request", "there with waits of its own, and back without", ("request", "travel")),
    "slow_start": Part("slow start", "start", "waiting for the congestion window or pacing", _STARTS),
    "windows": Part("windows and credit", "window", "receive windows, send buffers and credit", _HOLDS),
    "queues": Part("queues", "queues", "for connections and in links, with transmission", _QUEUED),
    "server": Part("servers", "server", "as recorded", ("fetch", "server")),
    "think": Part("think", "think", "the browser, as recorded"),
    "tail": Part("tail", "tail", "from the last request to onLoad, as recorded"),
}
_UNTIL_ANSWER: Sequence[Kind] = ("wait", "handshake", "flight", "request", "fetch", "server")
_BEHIND: Sequence[Kind] = ("cwnd", "pacing", *_HOLDS, "pace", "relay", "rest")


@dataclass(frozen=True)
class Viewed:
    """A request of a page, times since the page began.

    Attributes:
        number: Its place among the requests of the page, by recorded issue.
        name: URL.
        host: Host of the connections.
        kind: html, css, script, font, image, json, xml, preflight, beacon or other.
        method: HTTP method.
        protocol: As recorded: h1, h2 or h3.
        parents: Number of each request that it waited for, and as much of that as had to be there: ``start``,
            ``first``, ``end``, or bytes of the response.
        dependency: How that is known: first, redirect, preflight, initiator, hidden or time.
        gates: True where onLoad waits for its end.
        server_ns: Time of the server.
        request_bytes: Header and body.
        response_bytes: Header and body.
        recorded_s: Issue, sending, first byte and last byte as recorded, in s.
        issue_ns: When it was issued.
        connect_ns: When it had a connection; as recorded when it was sent.
        first_ns: First byte of the response.
        end_ns: Last byte.
        connection: Number of the connection, or None as recorded.
        parts: Its latency in parts, in ns; none as recorded.
    """

    number: int
    name: str
    host: str
    kind: str
    method: str
    protocol: str
    parents: tuple[tuple[int, str], ...]
    dependency: str
    gates: bool
    server_ns: int
    request_bytes: int
    response_bytes: int
    recorded_s: tuple[float, ...]
    issue_ns: int = 0
    connect_ns: int = 0
    first_ns: int = 0
    end_ns: int = 0
    connection: int | None = None
    parts: Mapping[Kind, int] = field(default_factory=dict)

    def anchor_ns(self, part: str) -> int:
        """When a part of it is there, as `parents` names it."""
        if part == "start":
            return self.issue_ns
        if part == "end":
            return self.end_ns
        share = 0.0 if part == "first" else int(part) / self.response_bytes
        return self.first_ns + math.ceil(share * (self.end_ns - self.first_ns))

    def split(self, until_ns: int) -> dict[str, int]:
        """Time from its issue to another time, at most its end, in ns by the names of `PARTS`."""
        left = until_ns - self.issue_ns
        found: dict[Kind, int] = {}
        for kind in (*_UNTIL_ANSWER, "travel", *_BEHIND):
            found[kind] = min(left, self.parts.get(kind, 0))
            left -= found[kind]
        return {name: sum(found[kind] for kind in part.kinds) for name, part in PARTS.items() if part.kinds}


@dataclass(frozen=True)
class Step:
    """A step of the critical path.

    Attributes:
        request: Request of the step.
        until_ns: When the next one need no longer wait for it.
        split: From when the request could have been issued until then, in ns by the names of `PARTS`.
    """

    request: Viewed
    until_ns: int
    split: Mapping[str, int]


@dataclass(frozen=True)
class View:
    """A load of a page.

    Attributes:
        page: Its URL, or the name that its file gives it.
        requests: By recorded issue.
        tail_ns: From the last end that gates onLoad to onLoad.
        tls: TLS of its connections in a few words; empty as recorded.
    """

    page: str
    requests: Sequence[Viewed]
    tail_ns: int
    tls: str = ""

    @property
    def load_ns(self) -> int:
        """Its onLoad."""
        return max(each.end_ns for each in self.requests if each.gates) + self.tail_ns

    @property
    def response_bytes(self) -> int:
        """Bytes of all responses."""
        return sum(each.response_bytes for each in self.requests)

    @property
    def recorded(self) -> "View":
        """The same load as it was recorded."""
        requests = [_at_times(each, [round(at * 1e9) for at in each.recorded_s]) for each in self.requests]
        return View(self.page, requests, self.tail_ns)

    @functools.cached_property
    def critical(self) -> tuple[Step, ...]:
        """The critical path, from the first request."""
        steps: list[Step] = []
        request: Viewed | None = max((each for each in self.requests if each.gates), key=lambda each: each.end_ns)
        part = "end"
        while request is not None:
            held = [(self.requests[parent].anchor_ns(of), parent, of) for parent, of in request.parents]
            begin, parent, of = max(held, default=(0, -1, ""))
            until = request.anchor_ns(part)
            steps.append(Step(request, until, {**request.split(until), "think": request.issue_ns - begin}))
            request, part = (self.requests[parent] if held else None), of
        return tuple(reversed(steps))

    @property
    def split_ns(self) -> dict[str, int]:
        """The time to onLoad in ns by the names of `PARTS`; adds up to it."""
        found = {name: sum(step.split.get(name, 0) for step in self.critical) for name in PARTS}
        return {**found, "tail": self.tail_ns}


def recorded_view(rows: Iterable[Mapping[str, Any]]) -> View:
    """A page as it was recorded, from the rows that a table of pages has for it."""
    requests, tail_s = [], 0.0
    for row in sorted(rows, key=lambda row: row["object"]):
        tail_s += row["tail_s"] or 0.0
        recorded_s = tuple(row[f"recorded_{at}_s"] for at in ("issue", "send", "first", "end"))
        request = Viewed(
            row["object"],
            row["name"],
            row["host"],
            row["kind"],
            row["method"],
            row["recorded_protocol"],
            tuple((int(parent), of) for parent, _, of in (each.partition("@") for each in row["parents"].split())),
            row["dependency"],
            row["gates"] == "load",
            round(row["server_s"] * 1e9),
            row["request_bytes"],
            row["response_bytes"],
            recorded_s,
        )
        requests.append(_at_times(request, [round(at * 1e9) for at in recorded_s]))
        page = row["page"]
    return View(page, requests, round(tail_s * 1e9))


def _at_times(request: Viewed, times_ns: Sequence[int]) -> Viewed:
    issue, connect, first, end = times_ns
    return replace(request, issue_ns=issue, connect_ns=connect, first_ns=first, end_ns=end)


def read_view(results: RunTables) -> View:
    """The page load in the results of a run.

    Raises:
        ResultsError: They are of no page, or damaged.
    """
    if not results.has(PAGE):
        raise ResultsError(f"{results.path}: is not of a page; farweb page FILE.har -o RESULTS writes such results")
    rows = results.scan(PAGE).collect().to_dicts()
    times = results.scan("requests").collect().sort("request").to_dicts()
    parts = parts_by_request(results)
    recorded = recorded_view(rows)
    requests = [
        replace(
            _at_times(
                recorded.requests[row["object"]],
                [run[at] for at in ("start_ns", "connect_ns", "first_byte_ns", "end_ns")],
            ),
            connection=run["connection"],
            parts=parts[run["request"]],
        )
        for row, run in zip(rows, times, strict=True)
    ]
    requests.sort(key=lambda each: each.number)
    return View(recorded.page, requests, recorded.tail_ns, _tls(results.manifest["scenario"], requests))


def _tls(scenario: Mapping[str, Any], requests: Sequence[Viewed]) -> str:
    """TLS of the legs, and the number of requests that go in the clear beside it."""
    clear = sum(each.name.startswith("http:") for each in requests)
    is_beside = clear and any(leg.get("tls") for leg in scenario["leg"])
    return f"{tls_of(scenario)} but for {plural(clear, 'request')}" if is_beside else tls_of(scenario)
