"""A page under changes: loads of a HAR by several readings of it, as a first visit and as a later one.

A reading is a graph of the requests in a draw: think times of the file or drawn ones for another load, and a seed of
the path. Changes meet the same readings at the same times, each in a pair with the unchanged page.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farweb import _core
from farweb._core import Asked, Dependency, Loaded, Recording, asked_of, graph_of, later_visit, settle_each
from farweb.inputs.description import Description, Value
from farweb.judge.verdicts import MARGIN, MARGIN_BY_LEAST, Table, sign_test
from farweb.pages.answer import RULES, onload_s
from farweb.pages.owners import own_hosts
from farweb.pages.paths import way_of
from farweb.pages.weather import SEEDS, is_drawn, is_steady
from farweb.progress import Progress, unseen
from farweb.statistics.intervals import Estimate
from farweb.whatif.answer import Effect, WhatIf, are_disputed, helping, ranked
from farweb.whatif.changes import Base, Change, levels_of, together

Floats = NDArray[np.float64]

_SPREAD = 0.1
"""Standard deviation of the logarithm of a think from load to load. Chosen: onLoad differs by as much in recordings."""

_PAUSE_MS = 600_000.0
"""From a visit to a later one: beyond idle connections, within the life of tickets. Chosen."""

_HALVED = "page, half the server time"
_LEAST = MARGIN / MARGIN_BY_LEAST


@dataclass(frozen=True)
class _Reading:
    """A graph of a page with its think times, and the seed of the path."""

    graph: Sequence[Dependency]
    seed: int


@dataclass(frozen=True)
class Loads:
    """Each reading's onLoad in s.

    Attributes:
        first: Of a first visit.
        later: Of a later one; the same object where it takes as long.
    """

    first: Floats
    later: Floats


def base_of(recording: Recording, path: str, settings: Mapping[str, Value] | None = None) -> Base:
    """A page over a path by the protocol that it was recorded with, without proxies.

    Args:
        recording: The page.
        path: A key of `PATHS` or `STAND_FOR`.
        settings: Other values for the scenario, by key.

    Raises:
        ScenarioError: A key or value is not allowed.
    """
    protocol = "h1" if recording.protocol == "h1" else "h2"
    way = way_of(path, protocol, "none", is_secure=recording.has_tls)
    scenario = Description(way.effective, settings or {})
    return Base(scenario.complete(), _HALVED if any(recording.server_ms) else None, {})


def of_page(
    recording: Recording,
    base: Base,
    where: str,
    seeds: int | None = None,
    progress: Progress = unseen,
) -> WhatIf:
    """Load a page under each change.

    Args:
        recording: The page as recorded.
        base: The scenario of `base_of`.
        where: Name of the path.
        seeds: How many draws of think times and of the path, from `run.seed` on (default: five).
        progress: Called as changes are done.

    Raises:
        RunError: A request fails.
    """
    readings = _readings(recording, base.effective["run"]["seed"], seeds or SEEDS)
    as_is = _loaded(recording, readings, base)
    levels, left = levels_of(base)
    effects = []
    for done, level in enumerate(levels):
        effects.append(effect_of(level.changes, as_is, _loaded(recording, readings, level.base)))
        progress(done + 1, len(levels), f"{done + 1:,} of {len(levels):,} changes")
    combined = [
        effect_of(level.changes, as_is, _loaded(recording, readings, level.base))
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
        " ".join((_holds(readings, base), *recording.reservations)),
        recording=json.loads(recording.facts()),
    )


def _about(recording: Recording, base: Base, where: str) -> str:
    leg = base.effective["leg"][0]
    kind = leg["carrier"]["kind"].upper()
    tls = f"TLS {leg['tls']['version']} (assumed)" if "tls" in leg and recording.has_tls else "no TLS"
    return ". ".join((f"{recording.counted}; {where}, {kind}, {tls}", *recording.in_the_clear))


def _holds(readings: Sequence[_Reading], base: Base) -> str:
    draws = len(readings) // len(RULES)
    drawn = " and a seed of the path" if is_drawn(base.effective) else ""
    of = f"{len(RULES)} graphs in {draws} draws of think times{drawn}" if draws > 1 else f"{len(RULES)} graphs"
    return f"{len(readings)} readings of the file: {of}."


def _readings(recording: Recording, seed: int, draws: int) -> list[_Reading]:
    """The graphs of a page in each draw: the thinks of the file in the first, drawn ones in the others."""
    graphs = [graph_of(recording, rule) for rule in RULES]
    found = []
    for draw in range(seed, seed + draws):
        for graph in graphs:
            factors = np.ones(len(graph))
            if draw > seed:
                factors = np.random.default_rng(draw).lognormal(0.0, _SPREAD, len(graph))
            thinks = zip(graph, factors, strict=True)
            found.append(_Reading([each.thinking(factor) for each, factor in thinks], draw))
    return found


def _loaded(recording: Recording, readings: Sequence[_Reading], base: Base) -> Loads:
    scenario, effective = base.core, base.effective
    pages = [_page(recording, each.graph, effective) for each in readings]
    seeds = [each.seed for each in readings]
    first = np.array([onload_s(recording, each) for each in _settled(scenario, pages, seeds)])
    keeps_nothing = all(leg.get("tls", {}).get("start", "full") == "full" for leg in effective["leg"])
    if keeps_nothing and is_steady(effective):
        return Loads(first, first)  # the same load at another time
    again = [later_visit(page, _PAUSE_MS) for page in pages]
    loaded = zip(again, _settled(scenario, [page for page, _ in again], seeds), strict=True)
    later = [onload_s(recording, each.behind(number, round(_PAUSE_MS * 1e6))) for (_, number), each in loaded]
    return Loads(first, np.array(later))


def _settled(scenario: _core.Scenario, pages: Sequence[Sequence[Asked]], seeds: Sequence[int]) -> list[Loaded]:
    return settle_each([(scenario, page, seed) for page, seed in zip(pages, seeds, strict=True)])


def _page(recording: Recording, graph: Sequence[Dependency], effective: dict[str, Any]) -> list[Asked]:
    """The requests of a page under a change: its own hosts' are those that an edge serves."""
    is_multiplexed = effective["leg"][0]["carrier"]["kind"] == "http/2"
    server = 0.5 if effective["workload"]["requests"] == _HALVED else 1.0
    listed = (cache["node"] for cache in effective.get("cache", ()) if not {"policy", "hit_ratio"} & set(cache))
    edge = next(listed, None)
    sources = {} if edge is None else dict.fromkeys(own_hosts(recording), edge)
    return asked_of(recording, graph, is_multiplexed=is_multiplexed, server=server, sources=sources)


def effect_of(changes: tuple[Change, ...], base: Loads, other: Loads) -> Effect:
    """The effect of changes, from loads with and without them. Visits that do not differ count once."""
    kinds = ["first"] if base.later is base.first and other.later is other.first else ["first", "later"]
    at_base, at_other = (np.concatenate([getattr(each, kind) for kind in kinds]) for each in (base, other))
    draws = base.first.size // len(RULES)
    draw = np.tile(np.repeat(np.arange(draws), len(RULES)), len(kinds))
    table = Table(at_base, at_other, draw, np.arange(at_base.size), draws)
    is_disputed = are_disputed(table.sums(at_other) / table.sums(at_base))
    word = "cannot be told apart" if is_disputed else sign_test(table).word
    return Effect(
        changes,
        _ends(other.first - base.first),
        _ends(other.later - base.later),
        _ends(at_other - at_base),
        float((table.signs(_LEAST) < 0).mean()),
        word,
        is_sure=word.endswith("better"),
    )


def _ends(differences: Floats) -> Estimate:
    """The mean of differences, and the least and the greatest."""
    return Estimate(
        differences.size, float(differences.mean()), None, float(differences.min()), float(differences.max())
    )
