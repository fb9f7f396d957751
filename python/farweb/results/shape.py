"""Shapes of manifests: the keys and types of values that someone else may have written.

A manifest is held against them before it is used. A shape is a type, several of them, a list of
a shape, or keys with a shape each; besides `Each` and `Perhaps`. Keys that no shape has are passed over.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from farweb.files.regular import is_within

TEXT_MAX = 65_536
"""Letters of the longest name, or other text, in a manifest or a table. Chosen: longer than any URL or path."""

FOUND_MAX = 40  # letters of a found value that a message repeats


@dataclass(frozen=True)
class Each:
    """Any keys, whose values have one shape."""

    shape: Any


@dataclass(frozen=True)
class Perhaps:
    """Keys that may each be missing: only some manifests have them, or none of an older farweb."""

    shape: Mapping[str, Any]


WHOLE, NUMBER, TEXT, TRUTH = int, (int, float), str, bool
_OPTIONAL_TEXT = (str, type(None))

_LINK = {
    **dict.fromkeys(("link", "interval_ns", "bytes", "packets", "drops", "queue_bytes_max"), WHOLE),
    **dict.fromkeys(("queue_bytes_mean", "busy"), NUMBER),
    "direction": TEXT,
}
_LEG = {
    **dict.fromkeys(("leg", "interval_ns", "open_max", "busy_max", "requests_max", "connection_requests_max"), WHOLE),
    **dict.fromkeys(("open_mean", "busy_mean", "requests_mean"), NUMBER),
}
_CACHE = dict.fromkeys(
    ("cache", "requests", "hits", "delayed_hits", "revalidations", "request_bytes", "hit_bytes", "objects", "bytes"),
    WHOLE,
)
_MEASURED = Perhaps({"from_ns": WHOLE, "to_ns": WHOLE, "links": [_LINK], "legs": [_LEG], "caches": [_CACHE]})
_DIRECTION = {"delay": TEXT}
_SCENARIO = {
    "path": {"nodes": [TEXT], "link": [{"up": _DIRECTION, "down": _DIRECTION}]},
    "leg": [{"from": TEXT, "to": TEXT, "carrier": {"kind": TEXT}, "tcp": {}}],
}
_LEVEL = {"label": TEXT, "value": (str, int, float, bool), "number": (int, float, type(None))}
_DESIGN = {
    **{"kind": TEXT, "replications": WHOLE, "random_numbers": TEXT, "points": [[WHOLE]]},
    "factors": [{"name": TEXT, "unit": TEXT, "levels": [_LEVEL]}],
}
_COMMON = {
    **{"name": _OPTIONAL_TEXT, "seed": WHOLE, "version": TEXT},
    "inputs": Each({"file": TEXT, "sha256": TEXT}),
}
RUN_SHAPE: Mapping[str, Any] = {
    **_COMMON,
    **dict.fromkeys(("events", "now_ns", "packet_hops", "warmup_ns"), WHOLE),
    **dict.fromkeys(("cpu_s", "wall_s"), NUMBER),
    **{"links": [_LINK], "rows": Each(WHOLE), "scenario": _SCENARIO},
}
SWEEP_SHAPE: Mapping[str, Any] = {**_COMMON, "complete": TRUTH, "design": _DESIGN, "runs": WHOLE, "scenario": {}}

MORE_SHAPE = Perhaps(
    {
        **{"files": Each({"bytes": WHOLE, "sha256": TEXT}), "measured": _MEASURED, "warnings": [TEXT]},
        **{"legs": [{"leg": WHOLE, "connection_use": Each(TRUTH)}], "metrics": Each((int, float, type(None)))},
        **{"run": TEXT, "point": WHOLE, "replication": WHOLE, "scenario": Perhaps({"record": {}})},
    }
)
"""Of all manifests, also of the parts of a sweep."""

FAILURE_SHAPE: Mapping[str, Any] = {"error": TEXT, "point": WHOLE, "replication": WHOLE, "seed": WHOLE}


def misfits(value: Any, shape: Any, *, whole: bool, place: str = "") -> Iterator[str]:
    """Values that are not of their shape, in a few words each: the place, and the value found there.

    Args:
        value: As JSON has it.
        shape: Its required shape.
        whole: True when all keys of the shape have to be there; else those that are there are looked at.
        place: Where it is, with dots between keys.
    """
    before = f"{place}." if place else ""
    match shape:
        case Each() | Perhaps() | dict() if isinstance(value, dict):
            keys: Mapping[str, Any] = shape if isinstance(shape, dict) else shape.shape
            if isinstance(shape, Each):
                keys = dict.fromkeys(value, shape.shape)
            if whole and isinstance(shape, dict) and (missing := sorted(keys.keys() - value.keys())):
                yield f"{place} has no {missing[0]}"
            for key in sorted(keys.keys() & value.keys()):
                yield from misfits(value[key], keys[key], whole=whole, place=f"{before}{key:.{FOUND_MAX}}")
            return
        case [each] if isinstance(value, list):
            for number, one in enumerate(value):
                yield from misfits(one, each, whole=whole, place=f"{before}{number}")
            return
        case type() | tuple():
            kinds = shape if isinstance(shape, tuple) else (shape,)
            # A truth value is no number, though Python has it for one; counts are not below zero.
            if isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool)):  # noqa: SIM102
                if shape is not WHOLE or 0 <= value < 1 << 64:
                    return
    yield f"{place}: found {value!r:.{FOUND_MAX}}"


def too_long(value: Any) -> str | None:
    """The beginning of a text that is longer than `TEXT_MAX` letters, anywhere in a value; None: there is none."""
    rest = [value]
    while rest:
        each = rest.pop()
        if isinstance(each, dict):
            rest += [*each, *each.values()]
        elif isinstance(each, list):
            rest += each
        elif isinstance(each, str) and len(each) > TEXT_MAX:
            return each[:FOUND_MAX]
    return None


def contradictions(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Impossible values in a manifest of the right shape: places that do not exist, names that lead elsewhere."""
    for key in ("files", "rows"):
        yield from (f"{key}: found {name!r:.{FOUND_MAX}}" for name in manifest.get(key, {}) if not is_within(name))
    for name, table in manifest["inputs"].items():
        if not re.fullmatch("[0-9a-f]{64}", table.get("sha256", "0" * 64)):
            yield f"inputs.{name}.sha256: found {table['sha256']!r:.{FOUND_MAX}}"
    if "design" in manifest:
        yield from _out_of_design(manifest["design"])
    else:
        yield from _out_of_path(manifest)
        yield from _out_of_events(manifest)


def _out_of_path(manifest: Mapping[str, Any]) -> Iterator[str]:
    scenario, measured = manifest["scenario"], manifest.get("measured", {})
    nodes, links = scenario["path"].get("nodes", ()), scenario["path"].get("link", ())
    if len(links) != len(nodes) - 1:
        yield f"scenario.path.link: found {len(links)}, between {len(nodes)} nodes"
    if "legs" in manifest and len(manifest["legs"]) != len(scenario["leg"]):
        yield f"legs: found {len(manifest['legs'])}, of {len(scenario['leg'])}"
    for number, leg in enumerate(scenario["leg"]):
        ends = [nodes.index(leg[end]) if leg.get(end) in nodes else -1 for end in ("from", "to")]
        if not 0 <= ends[0] < ends[1]:
            yield f"scenario.leg.{number}: found {leg.get('from')!r:.{FOUND_MAX}} to {leg.get('to')!r:.{FOUND_MAX}}"
    numbered = (
        *(("links", link["link"], len(links)) for link in manifest["links"]),
        *(("measured.legs", leg["leg"], len(scenario["leg"])) for leg in measured.get("legs", ())),
        *(("measured.caches", cache["cache"], len(scenario.get("cache", ()))) for cache in measured.get("caches", ())),
    )
    yield from (f"{what}: found {number}, of {count}" for what, number, count in numbered if number >= count)


def _out_of_events(manifest: Mapping[str, Any]) -> Iterator[str]:
    """Numbers of rows that no run has: each request begins with an event, and has a row a leg at most."""
    rows, legs = manifest["rows"], len(manifest["scenario"]["leg"])
    if (requests := rows.get("requests")) is None:
        return
    if requests > manifest["events"]:
        yield f"rows.requests: found {requests:,}, in a run of {manifest['events']:,} events"
    if (exchanges := rows.get("exchanges", 0)) > requests * legs:
        yield f"rows.exchanges: found {exchanges:,}, of {requests:,} requests on {legs} legs"


def _out_of_design(design: Mapping[str, Any]) -> Iterator[str]:
    factors = design.get("factors", [])
    names = [factor["name"] for factor in factors]
    if len(set(names)) < len(names):
        yield "design.factors: found two of one name"
    for number, point in enumerate(design.get("points", ())):
        if len(point) != len(factors) or any(
            index >= len(factor["levels"]) for index, factor in zip(point, factors, strict=True)
        ):
            yield f"design.points.{number}: found {point!r:.{FOUND_MAX}}"
            return
