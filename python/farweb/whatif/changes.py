"""Changes to a path, its protocols and its servers: the keys that each sets, and where it does not apply.

A change acts on each leg where it can. No change adds or removes TLS: cleartext stays cleartext.
"""

import functools
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from farweb import _core
from farweb.errors import ScenarioError
from farweb.inputs.paths import RELAY_TCP
from farweb.text import parse as quantity
from farweb.text import toml

Keys = dict[str, str]
"""Values by dotted key of a scenario, as TOML or bare text."""

_THERE = "there already"
_CLEAR = "no TLS"
_SHARED = "connections carry many requests at once"
_NO_PLACE = "this scenario has no place for it"

_NEWEST = '"1.3"'  # in quotes: bare it is a number

_WINDOW = 30  # segments, chosen: large sites begin so
_PER_HOST = 6  # connections of a browser to a host
_LARGER = 4
_UNSCALED = {"bsd44-lite": 65_535, "solaris-2.5": 65_535}  # largest windows without scaling, in bytes
_WAYS = ("up", "down")
EDGE = {"policy": "lru", "capacity": "1000000 GB", "changed": "fetch"}
"""An edge that keeps all that passes, for requests that name objects. What has changed its size is a miss."""
WHOLE_EDGE = {"hit_ratio": 1.0}
"""An edge with all that a cache may serve."""


@dataclass(frozen=True)
class Base:
    """A scenario that can be changed.

    Attributes:
        core: The scenario, without a sweep.
        halved: Value of `workload.requests` with half of the servers' time. None where no request has any.
        edge: Keys of the cache that an edge would be, but for its node: a live one's, or what it has of everything.
    """

    core: _core.Scenario
    halved: str | None
    edge: Mapping[str, Any]

    @functools.cached_property
    def effective(self) -> dict[str, Any]:
        """The scenario with every default spelled out."""
        effective: dict[str, Any] = json.loads(self.core.effective())
        return effective

    @functools.cached_property
    def facts(self) -> dict[str, Any]:
        """What `farweb check` says of it."""
        facts: dict[str, Any] = json.loads(self.core.check(None))
        return facts

    @property
    def legs(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """The legs, each with its key."""
        for place, leg in enumerate(self.effective["leg"]):
            yield f"leg.{place}", leg

    def with_(self, keys: Keys) -> "Base":
        """The same with other values.

        Raises:
            ScenarioError: They are not allowed together.
        """
        return Base(self.core.with_(keys), self.halved, self.edge)


@dataclass(frozen=True)
class Change:
    """A change that can be made.

    Attributes:
        name: For people.
        keys: Keys that it sets in a scenario, or why it does not apply.
        is_for_speed: False for one with another aim, which is shown for its price and never advised.
        is_bound: True for the most that something could save, which is shown apart and never advised.
        is_told: False for one that the first line leaves out.
    """

    name: str
    keys: Callable[[Base], Keys | str]
    is_for_speed: bool = True
    is_bound: bool = False
    is_told: bool = True


@dataclass(frozen=True)
class Level:
    """A scenario after changes.

    Attributes:
        changes: Which.
        base: The scenario with them.
    """

    changes: tuple[Change, ...]
    base: Base

    @property
    def name(self) -> str:
        """The names of the changes."""
        return " + ".join(change.name for change in self.changes)


def levels_of(base: Base) -> tuple[list[Level], dict[str, list[str]]]:
    """A level for each change that applies, and the names of the others by reason."""
    levels: list[Level] = []
    left: dict[str, list[str]] = {}
    for change in changes_of(base):
        found = _made(base, change, {})
        if isinstance(found, str):
            left.setdefault(found, []).append(change.name)
        else:
            levels.append(Level((change,), found[0]))
    return levels, left


def together(base: Base, ranked: Sequence[Change], most: int = 3) -> list[Level]:
    """The first two of some changes made together, then the first three. Changes of the same keys exclude each other.

    Args:
        base: The scenario.
        ranked: Changes, the best first.
        most: How many are made together at most.
    """
    levels: list[Level] = []
    chosen: tuple[Change, ...] = ()
    taken: Keys = {}
    for change in ranked:
        found = _made(base, change, taken)
        if isinstance(found, str):
            continue
        base, keys = found
        chosen, taken = (*chosen, change), taken | keys
        if len(chosen) > 1:
            levels.append(Level(chosen, base))
        if len(chosen) == most:
            break
    return levels


def _made(base: Base, change: Change, taken: Keys) -> tuple[Base, Keys] | str:
    """A scenario after a change and the keys that were set, or why it does not apply."""
    keys = change.keys(base)
    if isinstance(keys, str):
        return keys
    if any(f"{one}.".startswith(f"{two}.") or f"{two}.".startswith(f"{one}.") for one in keys for two in taken):
        return _NO_PLACE
    try:
        return base.with_(keys), keys
    except ScenarioError:
        return _NO_PLACE


def _on_legs(of: Callable[[str, Mapping[str, Any]], Keys | str]) -> Callable[[Base], Keys | str]:
    """Keys of all legs on which a change applies. With none: a leg has it already, or the first one's reason."""

    def keys(base: Base) -> Keys | str:
        found = [of(key, leg) for key, leg in base.legs]
        reasons = [each for each in found if isinstance(each, str)]
        if len(reasons) < len(found):
            return {key: value for each in found if isinstance(each, dict) for key, value in each.items()}
        return _THERE if _THERE in reasons else reasons[0]

    return keys


def _reused(key: str, leg: Mapping[str, Any]) -> Keys | str:
    kind = leg["carrier"]["kind"]
    return {f"{key}.carrier": '{ kind = "http/1.1" }'} if kind == "http/1.0" else _THERE


def _multiplexed(key: str, leg: Mapping[str, Any]) -> Keys | str:
    kind = leg["carrier"]["kind"]
    if kind in ("http/1.0", "http/1.1"):
        return {f"{key}.carrier": '{ kind = "http/2" }'}
    return _THERE if kind == "http/2" else _SHARED


def _newer_tls(key: str, leg: Mapping[str, Any]) -> Keys | str:
    if (tls := leg.get("tls")) is None:
        return _CLEAR
    return _THERE if tls["version"] == "1.3" else {f"{key}.tls.version": _NEWEST}


def _resumed(key: str, leg: Mapping[str, Any]) -> Keys | str:
    if (tls := leg.get("tls")) is None:
        return _CLEAR
    return {f"{key}.tls.start": "resumed"} if tls["start"] == "full" else _THERE


def _early(key: str, leg: Mapping[str, Any]) -> Keys | str:
    if (tls := leg.get("tls")) is None:
        return _CLEAR
    return _THERE if tls["start"] == "0-rtt" else {f"{key}.tls.version": _NEWEST, f"{key}.tls.start": "0-rtt"}


def _small_records(key: str, leg: Mapping[str, Any]) -> Keys | str:
    if (tls := leg.get("tls")) is None:
        return _CLEAR
    return _THERE if "small_record" in tls else {f"{key}.tls.small_record": "cloudflare"}


def _chain(scheme: str) -> Callable[[str, Mapping[str, Any]], Keys | str]:
    """Certificates for quantum computers, or back to ordinary ones."""
    is_of_today = scheme.startswith("ecdsa")

    def keys(key: str, leg: Mapping[str, Any]) -> Keys | str:
        if (tls := leg.get("tls")) is None:
            return _CLEAR
        if "server_flight" in tls:
            return "the size of the server's flight is given"
        if tls.get("certificates", "ecdsa").startswith(("ecdsa", "rsa")) == is_of_today:
            return _THERE
        return "TLS 1.2 has none" if tls["version"] == "1.2" else {f"{key}.tls.certificates": scheme}

    return keys


def _first_window(key: str, leg: Mapping[str, Any]) -> Keys | str:
    constants = leg["tcp"]["constants"]
    if constants.get("initial_cwnd_segments", 0) >= _WINDOW:
        return _THERE
    return {f"{key}.tcp.constants.initial_cwnd_segments": str(_WINDOW)}


def _by_rate(key: str, leg: Mapping[str, Any]) -> Keys | str:
    """BBR at both ends of a leg; relays inside it keep theirs."""
    if leg["tcp"]["profile"] != "linux":
        return "not Linux"
    control = leg["tcp"]["constants"].get("congestion_control")
    return _THERE if control == "bbr" else {f"{key}.tcp.constants.congestion_control": "bbr"}


def _more_connections(base: Base) -> Keys | str:
    is_of_browsers = base.effective.get("clients", {}).get("share", "each") == "each"

    def keys(key: str, leg: Mapping[str, Any]) -> Keys | str:
        carrier = leg["carrier"]
        if carrier["kind"] == "mux":
            return {f"{key}.carrier.connections": str(2 * carrier["connections"])}
        if carrier["kind"] != "http/1.1":
            return "a connection a request" if carrier["kind"] == "http/1.0" else _SHARED
        limit = carrier.get("per_host", _PER_HOST if is_of_browsers and key == "leg.0" else None)
        return "no limit of connections" if limit is None else {f"{key}.carrier.per_host": str(2 * limit)}

    return _on_legs(keys)(base)


def _larger_window(base: Base) -> Keys | str:
    found: Keys = {}
    for (key, leg), facts in zip(base.legs, base.facts["legs"], strict=True):
        tcp, window = leg["tcp"], facts["window_bytes"]
        if window is None or window >= _held(base, facts):
            continue
        larger = min(_LARGER * window, _UNSCALED.get(tcp["profile"], _LARGER * window))
        if larger > window:
            end = ".from" if "buffer" in tcp.get("from", {}) or tcp.get("buffer") == "host" else ""
            found[f"{key}.tcp{end}.buffer"] = f"{larger} B"
    return found or "the window is no limit"


def _held(base: Base, leg: Mapping[str, Any]) -> float:
    """Bytes that the path of a leg holds while its links are as fast as they ever are. 0 without a rate."""
    nodes = base.facts["nodes"]
    inside = base.facts["links"][nodes.index(leg["from"]) : nodes.index(leg["to"])]
    rates = [float(link["down"]["rate_bps_max"]) for link in inside if link["down"]["rate_bps_max"] is not None]
    return min(rates, default=0.0) * float(leg["rtt_ns"]) / 8e9


def _access(base: Base) -> int:
    """Place of the access link, that of the lowest rate."""
    rates = [link["down"]["rate_bps_max"] for link in base.facts["links"]]
    return min(range(len(rates)), key=lambda link: math.inf if rates[link] is None else rates[link])


def _fair_queue(base: Base) -> Keys | str:
    """FQ-CoDel in both directions of the access link, where they have a rate."""
    place = _access(base)
    link, facts = base.effective["path"]["link"][place], base.facts["links"][place]
    rated = [way for way in _WAYS if facts[way]["rate_bps_max"] is not None]
    if not rated:
        return "no link has a rate"
    queues = {way: link[way].get("queue") for way in rated}
    others = [way for way, queue in queues.items() if not (isinstance(queue, dict) and queue["kind"] == "fq-codel")]
    found = {f"path.link.{place}.{way}.queue": "fq-codel" for way in others}
    found |= {f"path.link.{place}.{way}.queue_counts": "all" for way in others if link[way]["queue_counts"] != "all"}
    return found or _THERE


def _edge(base: Base) -> Keys | str:
    """A cache behind the access link, that of the lowest rate.

    A live one ends the connections of clients and has its own to the servers, for what it lacks. One that has
    everything is where the connections to the hosts end that it serves.
    """
    nodes, legs, caches = base.effective["path"]["nodes"], base.effective["leg"], base.effective.get("cache", [])
    place = 1 + _access(base)
    node = nodes[place]
    if node == nodes[-1]:
        return "no node behind the access link"
    if any(cache["node"] == node for cache in caches):
        return _THERE
    found = {"cache": toml.value([*caches, {"node": node, **base.edge}])}
    inside = [number for number, leg in enumerate(legs) if nodes.index(leg["from"]) < place < nodes.index(leg["to"])]
    if "policy" in base.edge and inside:
        (number,) = inside
        both = [{**legs[number], "to": node}, {**legs[number], "from": node}]
        found["leg"] = toml.value([*legs[:number], *both, *legs[number + 1 :]])
    return found


def _beside(base: Base) -> Keys | str:
    """A cache in front of the path that has everything, on the users' local network."""
    (first, *nodes), links = ([*base.effective["path"][key]] for key in ("nodes", "link"))
    cache = {"node": "user-cache", **WHOLE_EDGE}
    return {
        "path.nodes": toml.value([first, cache["node"], *nodes]),
        "path.link": toml.value([_LOCAL, *links]),
        "cache": toml.value([cache, *base.effective.get("cache", [])]),
    }


_AT_ONCE = {way: {"rate": "unlimited", "delay": "0 ms"} for way in _WAYS}
_LOCAL = {way: {"rate": "1 Gbit/s", "delay": "1 ms"} for way in _WAYS}  # chosen, as `farweb new` has it


def _split(base: Base) -> Keys | str:
    """Relays at both ends of the longest link, and a stretch between them that stands."""
    nodes, links = ([*base.effective["path"][key]] for key in ("nodes", "link"))
    both = [sum(quantity.parse(link[way]["delay"]).number for way in _WAYS) for link in links]
    place = both.index(max(both))
    near, far = nodes[place : place + 2]
    key, leg = next((key, leg) for key, leg in base.legs if place < nodes.index(leg["to"]))
    if leg.get("split"):
        return _THERE
    if far == leg["to"]:
        return "no node for a relay behind the longest link"
    found: Keys = {}
    if near == leg["from"]:
        near = "terminal"
        nodes.insert(place + 1, near)
        links.insert(place, _AT_ONCE)
        found = {"path.nodes": toml.value(nodes), "path.link": toml.value(links)}
    first, second = (f"at = {toml.value(node)}" for node in (near, far))
    return {**found, f"{key}.split": f'[{{ {first}, tcp = {RELAY_TCP}, open = "ready" }}, {{ {second} }}]'}


def _faster_servers(base: Base) -> Keys | str:
    return "no server times" if base.halved is None else {"workload.requests": base.halved}


CHANGES = (
    Change("cache beside the user", _beside, is_bound=True, is_told=False),
    Change("half server time", _faster_servers),
    Change("PEP", _split),
    Change("FQ-CoDel", _fair_queue),
    Change("BBR", _on_legs(_by_rate)),
    Change("keep-alive", _on_legs(_reused)),
    Change("HTTP/2", _on_legs(_multiplexed)),
    Change("more connections", _more_connections),
    Change("TLS 1.3", _on_legs(_newer_tls)),
    Change("resumed TLS", _on_legs(_resumed)),
    Change("0-RTT", _on_legs(_early)),
    Change("small records", _on_legs(_small_records)),
    Change("ML-DSA-65 chain", _on_legs(_chain("ml-dsa-65")), is_for_speed=False),
    Change("ECDSA chain", _on_legs(_chain("ecdsa-p256"))),
    Change(f"first window {_WINDOW}", _on_legs(_first_window)),
    Change(f"window × {_LARGER}", _larger_window),
)
"""Changes of any scenario, in the order of their runs."""


def changes_of(base: Base) -> Iterator[Change]:
    """All changes to a scenario. An edge that has everything cannot be had: it is a bound."""
    yield Change("edge at the far end", _edge, is_bound="policy" not in base.edge)
    yield from CHANGES
