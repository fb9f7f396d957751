"""Assumptions of a result, in sentences made from the scenarios; `docs/models/` has them at length."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from farweb.report.path import span
from farweb.report.points import Point
from farweb.report.words import extent
from farweb.text.quantities import rate, seconds
from farweb.text.words import listed, plural

_PROFILES = {
    "bsd44-lite": "4.4BSD-Lite (1994), with its timers of 500 ms",
    "solaris-2.5": "4.4BSD-Lite with the known parts of Solaris 2.5 (1995), for paths without loss",
    "linux": "Linux 6.18 with its defaults (CUBIC, SACK, RACK, initial window 10)",
    "linux-classic": "Linux 6.18 set back to the rules of the 1990s (Reno, no SACK, initial window 1)",
    "ns2-reno": "the one-way Agent/TCP/Reno of ns-2, counted in packets",
}

_RELEASES = {
    "at-once": "Servers answer at once.",
    "delayed": "Servers release a whole response after its server time.",
    "after-wait": "Servers release a whole response after the logged wait for its first byte, else its server time.",
    "paced": "Servers release a response evenly over its server time; without one at once.",
    "closed-loop": "Servers release a response over its server time, each segment once TCP took the one before.",
    "regulated": "Servers give TCP a whole response at once; its packets leave at the mean rate of the server time.",
}

_LOADS = (
    "A request is issued when what it waited for is there: what waited for what is the likely reading of the file.",
    "Think, server times and the time from the last request to onLoad are as recorded.",
)

_LEFT_OUT = {
    "links": "reordering, corruption, shared media",
    "http": "pages, pipelining, load on servers, DNS",
    "proxy": "processing and memory limits of proxies",
    "cache": "look-ups in caches",
    "tcp": "accurate ECN, BBR 2 and 3, Fast Open, path MTU discovery, offloads",
}


def assumptions(points: Sequence[Point], *, loads: bool = False) -> list[str]:
    """Assumptions of the scenarios, a sentence or two each; the drawing of the path has the values of keys.

    Args:
        points: The simulated points.
        loads: True of page loads, whose requests wait for one another.
    """
    return [
        *(_LOADS if loads else _workload(points)),
        *_proxies(points),
        *_relays(points),
        *_caches(points),
        *_unique(leg["carrier_sentences"] for leg in _leg_figures(points)),
        *_tcp(points),
        *_legs(points),
        *_unique(_RELEASES.get(release, release) for release in _values(points, "origin", "release")),
        *([] if loads else _interval(points)),
    ]


def left_out(points: Sequence[Point], *, loads: bool = False) -> str:
    """Effects that the models do not have; `loads`: of page loads."""
    effects = {**_LEFT_OUT, **({"http": _LEFT_OUT["http"].removeprefix("pages, ")} if loads else {})}
    is_there = {
        "http": any(leg["connection_use"]["requests"] for leg in _leg_figures(points)),
        "proxy": any(len(point.scenario["leg"]) > 1 for point in points),
        "cache": any(point.scenario.get("cache") for point in points),
    }
    return f"Not modelled: {'; '.join(said for name, said in effects.items() if is_there.get(name, True))}."


def _workload(points: Sequence[Point]) -> list[str]:
    loads = _texts(points, "workload", "load")
    if "rate" in _values(points, "workload", "scale"):
        window = span(_texts(points, "workload", "copies_offset"))
        return [
            _arrivals(points),
            f"Load {span(loads)}: as many times the requests of the table (or of one of its days), drawn ones left out "
            f"or repeated at random within {window}. Measured requests are there at every load.",
        ]
    tables = _values(points, "workload", "requests")
    copies = _texts(points, "workload", "copies_offset")
    said = [_arrivals(points)]
    families = _texts(points, "workload", "family")
    if "prowgen" in families:
        load = f": load {span(loads)} stands for as many copies, shifted by {span(copies)} each"
        generated = "Requests are those of the family prowgen, generated from the seed of the run"
        said.append(f"{generated}{load if loads != ['1'] else ''}.")
    if "nzix" in families:
        days = _unique(str(found) for point in points if (found := point.figures["workload"]["days"]))
        renamed = "renamed" in _values(points, "workload", "copies_hosts")
        hosts = "hosts of their own" if renamed else "the same hosts"
        said.append(
            "Requests are those of the family nzix, generated from the seed of the run: load "
            f"{span(loads)} stands for as many of its {span(days)} days at the same time, and for copies beyond, "
            f"shifted by {span(copies)} each and turned round within the period, with {hosts}."
        )
    digests = _unique(point.requests for point in points)
    if len(tables) > 1 and len(digests) == 1 and None not in digests:
        said.append(f"All runs have the same requests, under several names: {listed(tables)}.")
    elif len(tables) > 1:
        said.append(f"The runs have different request tables: {listed(tables)}.")
    if units := _texts(points, "workload", "resample"):
        said.append(
            f"Each seed draws the {listed(units)} of the request table anew, with replacement: seeds differ like other "
            "weeks of the same users."
        )
    if speeds := _texts(points, "workload", "speed"):
        said.append(
            f"Requests come {span(speeds)} times as fast as in the table, in the same order; server times stay."
        )
    if loads != ["1"] and tables:
        said.append(
            f"Load {span(loads)} stands for as many copies of the request table, each starting {span(copies)} after "
            "the one before."
        )
    return said


def _arrivals(points: Sequence[Point]) -> str:
    """Start of requests, and patience of clients."""
    waits = _texts(points, "clients", "give_up")
    patience = "No client timeout."
    if waits:
        is_everywhere = all("clients" in point.scenario for point in points)
        some = "" if is_everywhere else " (in some runs only)"
        patience = f"A client gives up a request after {span(waits)}{some} and does not ask again."
    return f"Requests start at the times of the request table, however slow the path is. {patience}"


def _proxies(points: Sequence[Point]) -> list[str]:
    """Proxies, where legs meet."""
    nodes = _unique(leg["from"] for point in points for leg in point.scenario["leg"][1:])
    if not nodes:
        return []
    called = "is a proxy" if len(nodes) == 1 else "are proxies"
    return [f"{listed(nodes)} {called}: it passes on whole requests, and responses segment by segment."]


def _relays(points: Sequence[Point]) -> list[str]:
    """Splits inside legs."""
    splits = [split for point in points for leg in point.scenario["leg"] for split in leg.get("split") or ()]
    if not splits:
        return []
    nodes = _unique(split["at"] for split in splits)
    said = f"{listed(nodes)} {'splits' if len(nodes) == 1 else 'split'} TCP: bytes go on at once, TLS from end to end."
    if standing := _unique(split["at"] for split in splits if split.get("open") == "ready"):
        said += f" Behind {listed(standing)} each connection finds a stretch that stands, with a window of its own."
    return [said]


def _caches(points: Sequence[Point]) -> list[str]:
    """Contents of caches, and how hits come about."""
    caches = [cache for point in points for cache in point.scenario.get("cache") or ()]
    said = []
    if drawn := _unique(cache["node"] for cache in caches if "hit_ratio" in cache):
        said.append(
            f"Hits at {listed(drawn)} are drawn at random from all client requests, the same in each run of a seed."
        )
    if listed_at := _unique(cache["node"] for cache in caches if not cache.keys() & {"hit_ratio", "policy"}):
        said.append(f"Hits at {listed(listed_at)} are marked in the request table.")
    if live := _unique(cache["node"] for cache in caches if "policy" in cache):
        said.append(
            f"The cache at {listed(live)} begins empty and keeps whole objects; requests for an object on its way wait "
            "for it unless the scenario says otherwise."
        )
        rules = _unique(cache.get("changed", "serve") for cache in caches if "policy" in cache)
        said += [_CHANGED[rule] for rule in rules if rule in _CHANGED]
    return said


def _stretches(points: Sequence[Point]) -> dict[str, list[tuple[Point, int]]]:
    """The legs of all points by their ends, each as its point and its number there."""
    found: dict[str, list[tuple[Point, int]]] = {}
    for point in points:
        for number, leg in enumerate(point.scenario["leg"]):
            found.setdefault(f"{leg['from']} – {leg['to']}", []).append((point, number))
    return found


def _legs(points: Sequence[Point]) -> list[str]:
    """TLS, round trip and limits of one connection, stretch by stretch."""
    return [
        f"{stretch}: {'; '.join(part for part in (_tls(found), _windows(found)) if part)}."
        for stretch, found in _stretches(points).items()
    ]


def _tls(found: Sequence[tuple[Point, int]]) -> str:
    """TLS of the legs of a stretch, or empty without connections."""
    kinds = []
    for leg, parts in ((point.scenario["leg"][at], point.figures["legs"][at]["tls_parts"]) for point, at in found):
        if leg["carrier"]["kind"] != "transfer":
            tls = leg.get("tls")
            start = None if tls is None else _STARTS.get(tls["start"], tls["start"])
            kinds.append("no TLS" if tls is None else f"TLS {tls['version']}, {start}{_handshake_parts(parts)}")
    return " or ".join(_unique(kinds))


def _handshake_parts(parts: Mapping[str, Any] | None) -> str:
    """Key exchange and certificates, where the scenario says what handshakes consist of."""
    if parts is None:
        return ""
    others = plural(parts["intermediates"], "intermediate")
    return f", key exchange {parts['key_exchange']}, certificates {parts['certificates']} with {others}"


_STARTS = {"full": "a full handshake", "resumed": "resumed where a client has a ticket", "0-rtt": "0-RTT with a ticket"}

_CHANGED = {
    "serve": "Requests for objects whose size changed since cached are hits.",
    "fetch": "Requests for objects whose size changed since cached are misses.",
}


def _tcp(points: Sequence[Point]) -> list[str]:
    legs = [leg for point in points for leg in point.scenario["leg"]]
    stacks = [end["tcp"] for leg in legs for end in (leg, *(leg.get("split") or ())) if "tcp" in end]
    profiles = _unique(tcp["profile"] for tcp in stacks)
    said = [f"TCP {profile}: {_PROFILES.get(profile, profile)}." for profile in profiles]
    changed: dict[str, list[str]] = {}
    for tcp in stacks:
        for name, value in (tcp.get("constants") or {}).items():
            changed.setdefault(name, []).append(value if isinstance(value, str) else json.dumps(value))
    if changed:
        texts = [f"{name} = {span(_unique(values))}" for name, values in changed.items()]
        said.append(f"Constants set differently: {', '.join(texts)}.")
    return said


def _windows(found: Sequence[tuple[Point, int]]) -> str:
    """Round trip and limit of one connection of the legs of a stretch."""
    legs = [point.figures["legs"][number] for point, number in found]
    text = f"round trip {extent([leg['rtt_ns'] / 1e9 for leg in legs], seconds)}"
    if any(_by_host(*place) and leg["hosts"] is None for place, leg in zip(found, legs, strict=True)):
        return f"{text}; windows and segment sizes are in the host table, not at hand here"
    limited = [leg for leg in legs if leg["connection_limit_bps"] is not None]
    limits = [leg["connection_limit_bps"] for leg in limited]
    by = [_LIMITED_BY[each] for each in dict.fromkeys(leg["limited_by"] for leg in limited)]
    fill = [leg["connections_to_fill"] for leg in legs if leg["connections_to_fill"] is not None]
    if limits:
        whose = " (median of the servers)" if any(leg["hosts"] for leg in legs) else ""
        text += f"; a connection can carry {extent(limits, rate)}{whose}, limited by {listed(by)}"
        text += f"; {plural(max(fill), 'connection')} can fill the link" if fill and max(fill) > 1 else ""
    ways = (link[way] for point, _ in found for link in point.figures["links"] for way in ("up", "down"))
    if any(way["changes"] for way in ways):
        text += "; of mean rates and least delays, as links change"
    return text


_LIMITED_BY = {
    "window": "its window",
    "credit": "its credit",
    "loss": "loss (an estimate)",
    "send-buffer": "its send buffer",
}


def _by_host(point: Point, leg: int) -> bool:
    tcp = point.scenario["leg"][leg]["tcp"]
    ends = [tcp, tcp.get("from") or {}, tcp.get("to") or {}]
    return any(end.get(key) == "host" for end in ends for key in ("mss", "buffer"))


def _interval(points: Sequence[Point]) -> list[str]:
    """Interval of a run that is counted and measured."""
    warmups = _texts(points, "run", "warmup")
    text = "No warm-up" if warmups == ["0 s"] else f"Warm-up: requests of the first {span(warmups)} are in no number"
    measures = _values(points, "run", "measure")
    ends = {"whole": "the end of the run", "arrivals": "the last request"}
    said = [f"{text}. Rates and queues are measured from there to {' or '.join(ends[each] for each in measures)}."]
    until = [each for each in _texts(points, "run", "until") if each != "done"]
    return [*said, *([f"Runs end at {span(until)}; requests under way then are cut off."] if until else [])]


def _values(points: Sequence[Point], table: str, key: str) -> list[Any]:
    """The different values of a key, in the order of the points; absent ones left out."""
    found = (point.scenario.get(table, {}).get(key) for point in points)
    return _unique(value for value in found if value is not None)


def _texts(points: Sequence[Point], table: str, key: str) -> list[str]:
    return [str(value) for value in _values(points, table, key)]


def _leg_figures(points: Sequence[Point]) -> Iterator[Mapping[str, Any]]:
    return (leg for point in points for leg in point.figures["legs"])


def _unique(values: Iterable[Any]) -> list[Any]:
    return list(dict.fromkeys(values))
