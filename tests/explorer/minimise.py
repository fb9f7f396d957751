"""Makes a case that fails smaller, as long as it fails in the same way.

Works on the scenario and the rows of its tables themselves: takes away requests, nodes, legs, caches and every key that
may be left out, and puts simple values in the place of others. What farweb does not accept does not count as failing.
"""

import copy
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from explorer.case import Case

Fails = Callable[[Case], bool]

SIMPLE: dict[str, list[Any]] = {
    "rate": ["unlimited", "1 Mbit/s"],
    "delay": ["0 ms", "10 ms"],
    "carrier": [{"kind": "http/1.0"}],
    "capacity": ["1 MB"],
    "policy": ["lru"],
    "probability": [1.0],
    "points": [["ends"]],
    "connections": [1],
    "name": [""],
}
SIMPLE_ROW: dict[str, list[Any]] = {
    "start_s": [0, 1, 2, 10],
    "host": ["a"],
    "request_bytes": [100],
    "response_bytes": [100, 1000, 10_000],
    "object": [0, 1],
    "server_s": [None, 0, 1],
    "wait_s": [None],
    "source": [None],
    "tag": [None],
    "day": [None],
}


def minimise(case: Case, fails: Fails, tries: int = 2000) -> Case:
    """The smallest case found that still `fails`, with at most so many tries."""
    left = tries
    progress = True
    while progress and left > 0:
        progress = False
        for smaller in _smaller(case):
            left -= 1
            if left <= 0:
                break
            if fails(smaller):
                case, progress = smaller, True
                break
    return case


def _smaller(case: Case) -> Iterator[Case]:
    """Cases with one thing less, the larger things first."""
    rows = case.requests
    for part in (2, 4, 8, len(rows)):
        step = max(1, len(rows) // part)
        for first in range(0, len(rows), step):
            if len(rows) > step:
                yield replace(case, requests=rows[:first] + rows[first + step :])
    yield from (replace(case, scenario=scenario) for scenario in _without_places(case.scenario))
    if case.hosts:
        scenario = copy.deepcopy(case.scenario)
        del scenario["workload"]["hosts"]
        yield replace(case, scenario=scenario, hosts=[])
    yield from (replace(case, scenario=scenario) for scenario in _without_keys(case.scenario))
    yield from (replace(case, scenario=scenario) for scenario in _simpler_values(case.scenario))
    for place, row in enumerate(rows):
        for name, values in SIMPLE_ROW.items():
            if name in row:
                for value in values[: values.index(row[name])] if row[name] in values else values:
                    yield replace(case, requests=[*rows[:place], row | {name: value}, *rows[place + 1 :]])


def _without_places(scenario: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Scenarios with a node less: a router or proxy, with the link before or behind it and the node's settings."""
    nodes = scenario["path"]["nodes"]
    for place in range(1, len(nodes) - 1):
        for kept in ("before", "behind"):
            small = copy.deepcopy(scenario)
            node = small["path"]["nodes"].pop(place)
            del small["path"]["link"][place - (kept == "behind")]
            legs = small["leg"]
            ends = [leg for leg in legs if leg["to"] == node]
            if ends:
                before = legs.index(ends[0])
                joined = legs[before] if kept == "before" else legs[before + 1]
                near, far = legs[before]["from"], legs[before + 1]["to"]
                legs[before : before + 2] = [joined | {"from": near, "to": far}]
            small["cache"] = [cache for cache in small.get("cache", []) if cache["node"] != node]
            if not small["cache"]:
                del small["cache"]
            yield small


def _paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where keys and entries are, the outer ones first."""
    is_list = isinstance(value, list)
    items = list(enumerate(value)) if is_list else list(value.items()) if isinstance(value, dict) else []
    for key, _ in items:
        yield (*path, key)
    for key, inner in items:
        yield from _paths(inner, (*path, key))


def _at(scenario: dict[str, Any], path: tuple[Any, ...]) -> Any:
    for key in path:
        scenario = scenario[key]
    return scenario


def _without_keys(scenario: dict[str, Any]) -> Iterator[dict[str, Any]]:
    needed = {
        "format",
        "path",
        "nodes",
        "link",
        "up",
        "down",
        "leg",
        "from",
        "to",
        "kind",
        "workload",
        "requests",
        "seed",
    }
    for path in _paths(scenario):
        if path[-1] in needed and not (path[0] == "leg" and path[-1] in ("from", "to") and "tcp" in path):
            continue
        small = copy.deepcopy(scenario)
        del _at(small, path[:-1])[path[-1]]
        yield small


def _simpler_values(scenario: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for path in _paths(scenario):
        now = _at(scenario, path)
        values = SIMPLE.get(path[-1], []) if isinstance(path[-1], str) else []
        for value in values[: values.index(now)] if now in values else values:
            small = copy.deepcopy(scenario)
            _at(small, path[:-1])[path[-1]] = value
            yield small
