"""Loads a page by runs of the core: issue times, a run, new issue times, until they settle.

Each run is right about one more level of the graph at least, since no request depends on a later one: a page of n
requests settles within n + 2 runs, to the nanosecond. A dependency on a share of a response is the exception: its time
depends on the whole transfer, and the waiting request may compete with it. If runs repeat because of that, the times of
transfers are held, and no request depends on a later one any more.
"""

import math
import os
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from farweb import _core
from farweb._core import Recording
from farweb.errors import RunError
from farweb.files.columns import NULL_CODE, NULL_INT, Column
from farweb.pages.graph import Dependency, Edge

SEED = 1
"""Root of the random streams of each run, unless another is named: `run.seed` of a scenario without it."""

_EVENTS_A_STEP = 200_000
_GUESS_NS = 200_000_000
_CLIENT = 1


@dataclass(frozen=True)
class Asked:
    """A request of a page as a run has it.

    Attributes:
        host: Host of the connections it uses.
        request_bytes: Header and body.
        response_bytes: Header and body.
        server_s: Time of the server.
        dependency: Its causes.
        is_secure: True under TLS.
        source: Node that serves it, empty for its server.
    """

    host: str
    request_bytes: int
    response_bytes: int
    server_s: float
    dependency: Dependency
    is_secure: bool = True
    source: str = ""


@dataclass(frozen=True)
class Loaded:
    """A page that was loaded, times in ns since it began.

    Attributes:
        issue_ns: Issue of each request.
        first_ns: First byte of its response.
        end_ns: Last byte.
        runs: How often the page was run until it settled.
    """

    issue_ns: NDArray[np.int64]
    first_ns: NDArray[np.int64]
    end_ns: NDArray[np.int64]
    runs: int

    def behind(self, number: int, begin_ns: int) -> "Loaded":
        """The load without its first requests, times since a visit that began later.

        Args:
            number: How many they are.
            begin_ns: When it began.
        """
        issue, first, end = (each[number:] - begin_ns for each in (self.issue_ns, self.first_ns, self.end_ns))
        return Loaded(issue, first, end, self.runs)


def asked_of(recording: Recording, graph: Sequence[Dependency], *, is_multiplexed: bool) -> list[Asked]:
    """The requests of a page: over HTTP/2 hosts share connections as recorded."""
    hosts = recording.origins if is_multiplexed else [sent.host for sent in recording.sent]
    return [
        Asked(host, sent.request_bytes, sent.response_bytes, server / 1000, dependency, sent.is_secure)
        for host, sent, server, dependency in zip(hosts, recording.sent, recording.server_ms, graph, strict=True)
    ]


def settle(scenario: _core.Scenario, page: Sequence[Asked], seed: int = SEED) -> Loaded:
    """Load a page.

    Args:
        scenario: The path, without its own requests.
        page: Its requests, each behind earlier ones alone.
        seed: Root of the random streams of each run.

    Raises:
        RunError: A request fails, or the issue times do not settle.
    """
    issue, seen = _guess(page), set[bytes]()
    held: NDArray[np.int64] | None = None
    for runs in range(1, 2 * len(page) + 5):
        first, end = _run(scenario, page, issue, seed)
        if held is None and issue.tobytes() in seen:
            held = end - first
        seen.add(issue.tobytes())
        after = _issues(page, first, end, end - first if held is None else held)
        if (after == issue).all():
            return Loaded(issue, first, end, runs)
        moved, issue = np.abs(after - issue).max(), after
    raise RunError(f"the page does not settle: after {runs} runs a request still moves by {moved / 1e6:.1f} ms")


def settle_each(loads: Iterable[tuple[_core.Scenario, Sequence[Asked], int]]) -> list[Loaded]:
    """Load several pages, each over its scenario with its seed, as many at once as there are cores.

    Raises:
        RunError: As `settle`.
    """
    with ThreadPoolExecutor(os.cpu_count()) as threads:  # runs of the core let go of Python
        return list(threads.map(lambda load: settle(*load), loads))


def think_ms(graph: Sequence[Dependency], loaded: Loaded, place: int) -> float:
    """Think on the critical path to a request of a load, its own included."""
    found = 0.0
    while True:
        found += graph[place].think_ms
        edges = graph[place].edges
        if not edges:
            return found
        place = max(edges, key=lambda edge: _held_ns(edge, loaded)).parent


def _held_ns(edge: Edge, loaded: Loaded) -> float:
    if edge.share is None:
        return float(loaded.issue_ns[edge.parent])
    first, end = loaded.first_ns[edge.parent], loaded.end_ns[edge.parent]
    return float(first + edge.share * (end - first))


def _guess(page: Sequence[Asked]) -> NDArray[np.int64]:
    issue = np.zeros(len(page), np.int64)
    for place, each in enumerate(page):
        before = max((int(issue[edge.parent]) + _GUESS_NS for edge in each.dependency.edges), default=0)
        issue[place] = before + round(each.dependency.think_ms * 1e6)
    return issue


def _issues(
    page: Sequence[Asked], first: NDArray[np.int64], end: NDArray[np.int64], spans: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Issue of each request by first and last bytes of a run, and by how long each response takes in between.

    A request that follows another is issued a nanosecond later: the connection of that is idle by then.
    """
    issue = np.zeros(len(page), np.int64)
    for place, each in enumerate(page):
        held = 0
        for edge in each.dependency.edges:
            parent, share = edge.parent, edge.share
            if share is None:
                at = int(issue[parent])
            else:
                at = int(end[parent]) if share == 1 else int(first[parent]) + math.ceil(share * int(spans[parent]))
            held = max(held, at + 1)
        issue[place] = held + round(each.dependency.think_ms * 1e6)
    return issue


def _run(
    scenario: _core.Scenario, page: Sequence[Asked], issue: NDArray[np.int64], seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """First and last byte of each response, with requests issued at these times."""
    order = np.argsort(issue, kind="stable")
    hosts = sorted({each.host for each in page})
    code = {host: number for number, host in enumerate(hosts)}
    rows = [page[place] for place in order]
    batch: dict[str, Column] = {
        "start_s": issue[order] / 1e9,
        "host": (np.array([code[each.host] for each in rows], np.int32), hosts),
        "request_bytes": np.array([each.request_bytes for each in rows], np.int64),
        "response_bytes": np.array([each.response_bytes for each in rows], np.int64),
        "server_s": np.array([each.server_s for each in rows]),
        "tls": np.array([each.is_secure for each in rows], np.int8),
        "client": np.full(len(rows), _CLIENT, np.uint64),
    }
    nodes = sorted({each.source for each in rows if each.source})
    if nodes:
        sources = [nodes.index(each.source) if each.source else NULL_CODE for each in rows]
        batch["source"] = (np.array(sources, np.int32), nodes)
    simulation = _core.Simulation(scenario, seed, _core.Prepared([batch], "the page"))
    first, end = np.full(len(page), NULL_INT, np.int64), np.full(len(page), NULL_INT, np.int64)
    more = True
    while more:
        more = simulation.advance(_EVENTS_A_STEP)
        rows_of = simulation.take().get("requests", {})
        if rows_of:
            places = order[np.asarray(rows_of["request"], np.int64)]
            first[places], end[places] = np.asarray(rows_of["first_byte_ns"]), np.asarray(rows_of["end_ns"])
    if failed := int((end == NULL_INT).sum()):
        raise RunError(f"{failed:,} of {len(page):,} requests of the page fail over this path; farweb run shows why")
    return first, end
