"""Shapes of manifests: the keys and types of values that someone else may have written.

A manifest is held against them before it is used. A shape is a type, several of them, a list of
a shape, or keys with a shape each; besides `Each` and `Perhaps`. Keys that no shape has are passed over.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

_FOUND_MAX = 40  # letters of a found value that a message repeats


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
                yield from misfits(value[key], keys[key], whole=whole, place=f"{before}{key:.{_FOUND_MAX}}")
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
    yield f"{place}: found {value!r:.{_FOUND_MAX}}"
