"""A page under changes: loads of a HAR by several readings of it, as a first visit and as a later one.

A reading is a graph of the requests with thinks of its own: the file's, or drawn ones for another load. Changes meet
the same readings, each in a pair with the unchanged page.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from farweb import _core
from farweb.pages.answer import onload_s
from farweb.pages.graph import RULES, Dependency, Edge, graph_of
from farweb.pages.paths import way_of
from farweb.pages.recording import Recording, short_url
from farweb.pages.settle import Asked, Loaded, asked_of, settle
from farweb.statistics.intervals import Estimate
from farweb.statistics.verdicts import Table, measured, sign_test
from farweb.whatif.answer import Effect, WhatIf, helping, ranked
from farweb.whatif.changes import Base, Change, Keys, levels_of, together

Floats = NDArray[np.float64]

_THINKS = 5
_SPREAD = 0.1
"""Standard deviation of the logarithm of a think from load to load. Chosen: onLoad differs by as much in recordings."""

_PAUSE_MS = 600_000.0
"""From a visit to a later one: beyond idle connections, within the life of tickets. Chosen."""

_HALVED = "page, half the server time"

_HOLDS = (
    f"Low and high: {_THINKS * len(RULES)} readings of the file, {len(RULES)} graphs with {_THINKS} think times each."
)


@dataclass(frozen=True)
class _Loads:
    """onLoad of each reading in s."""

    first: Floats
    later: Floats


def base_of(recording: Recording, path: str, keys: Keys) -> Base:
    """A page over a path by the protocol that it was recorded with, without proxies.

    Args:
        recording: The page.
        path: A key of `PATHS` or `STAND_FOR`.
        keys: Other values for the scenario.

    Raises:
        ScenarioError: A key or value is not allowed.
    """
    protocol = "h1" if recording.protocol == "h1" else "h2"
    way = way_of(path, protocol, "none", is_secure=recording.has_tls)
    return Base(way.scenario.with_(keys), _HALVED if any(recording.server_ms) else None)


def of_page(recording: Recording, base: Base, where: str, progress: Callable[[int, int], None] | None = None) -> WhatIf:
    """Load a page under each change.

    Args:
        recording: The page as recorded.
        base: The scenario of `base_of`.
        where: Name of the path.
        progress: Called with the number of changes that are done, and of all.

    Raises:
        RunError: A request fails.
    """
    readings = list(_readings(recording))
    as_is = _loaded(recording, readings, base.core)
    levels, left = levels_of(base)
    effects = []
    for done, level in enumerate(levels):
        effects.append(_effect(level.changes, as_is, _loaded(recording, readings, level.base.core)))
        if progress is not None:
            progress(done + 1, len(levels))
    combined = [
        _effect(level.changes, as_is, _loaded(recording, readings, level.base.core))
        for level in together(base, helping(effects))
    ]
    return WhatIf(
        _about(recording, base, where),
        float(as_is.first.mean()),
        float(as_is.later.mean()),
        float(np.concatenate([as_is.first, as_is.later]).mean()),
        ranked(effects),
        combined,
        left,
        ("a first visit", "a later one", "a visit"),
        "low … high",
        " ".join((_HOLDS, *recording.reservations)),
    )


def _about(recording: Recording, base: Base, where: str) -> str:
    leg = base.effective["leg"][0]
    kind = leg["carrier"]["kind"].upper()
    tls = f"TLS {leg['tls']['version']} (assumed)" if "tls" in leg else "no TLS"
    return f"{short_url(recording.url)} over {where}: {kind}, {tls}"


def _readings(recording: Recording) -> list[Sequence[Dependency]]:
    """The graphs of a page, each with the thinks of the file and with drawn ones."""
    found: list[Sequence[Dependency]] = []
    for rule in RULES:
        graph = graph_of(recording, rule)
        found.append(graph)
        for seed in range(1, _THINKS):
            factors = np.random.default_rng(seed).lognormal(0.0, _SPREAD, len(graph))
            found.append(
                [replace(each, think_ms=each.think_ms * factor) for each, factor in zip(graph, factors, strict=True)]
            )
    return found


def _loaded(recording: Recording, readings: Sequence[Sequence[Dependency]], scenario: _core.Scenario) -> _Loads:
    effective = json.loads(scenario.effective())
    is_multiplexed = effective["leg"][0]["carrier"]["kind"] == "http/2"
    server = 0.5 if effective["workload"]["requests"] == _HALVED else 1.0
    pages = [
        [
            replace(each, server_s=server * each.server_s)
            for each in asked_of(recording, graph, is_multiplexed=is_multiplexed)
        ]
        for graph in readings
    ]
    first = np.array([onload_s(recording, settle(scenario, page)) for page in pages])
    if all(leg.get("tls", {}).get("start", "full") == "full" for leg in effective["leg"]):
        return _Loads(first, first)  # nothing is kept from one visit to the next
    return _Loads(first, np.array([onload_s(recording, _visited_again(scenario, page)) for page in pages]))


def _visited_again(scenario: _core.Scenario, page: Sequence[Asked]) -> Loaded:
    """Load a page for a client that has been at its hosts before and holds their tickets. Times since it begins."""
    before = [
        Asked(host, 1, 1, 0.0, Dependency((), 0.0, "first")) for host in dict.fromkeys(each.host for each in page)
    ]
    again = [replace(each, dependency=_behind(each.dependency, len(before))) for each in page]
    loaded = settle(scenario, [*before, *again])
    issue, first, end = (
        times[len(before) :] - round(_PAUSE_MS * 1e6) for times in (loaded.issue_ns, loaded.first_ns, loaded.end_ns)
    )
    return Loaded(issue, first, end, loaded.runs)


def _behind(dependency: Dependency, number: int) -> Dependency:
    """A dependency behind so many requests, which came a pause earlier."""
    edges = tuple(Edge(edge.parent + number, edge.share) for edge in dependency.edges)
    return Dependency(edges, dependency.think_ms if edges else dependency.think_ms + _PAUSE_MS, dependency.kind)


def _effect(changes: tuple[Change, ...], base: _Loads, other: _Loads) -> Effect:
    """The effect of changes, from loads with and without them. Visits that do not differ count once."""
    kinds = ["first"] if base.later is base.first and other.later is other.first else ["first", "later"]
    at_base, at_other = (np.concatenate([getattr(each, kind) for kind in kinds]) for each in (base, other))
    table = Table(at_base, at_other, np.zeros(at_base.size, np.int64), np.arange(at_base.size), 1)
    word = sign_test(table).word
    return Effect(
        changes,
        _ends(other.first - base.first),
        _ends(other.later - base.later),
        _ends(at_other - at_base),
        measured(table, "all").faster,
        word,
        is_sure=word.endswith("better"),
    )


def _ends(differences: Floats) -> Estimate:
    """The mean of differences, and the least and the greatest."""
    return Estimate(
        differences.size, float(differences.mean()), None, float(differences.min()), float(differences.max())
    )
