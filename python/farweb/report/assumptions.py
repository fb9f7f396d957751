"""Assumptions of a result, in sentences made from the scenarios, and what the models leave out.

The sentences say what `docs/models/` says at length.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from farweb.report.path import span
from farweb.report.points import Point
from farweb.report.words import extent, key_words
from farweb.text.quantities import count, rate, seconds
from farweb.text.words import listed, plural

_PROFILES = {
    "bsd44-lite": "that of 4.4BSD-Lite (1994), timers of 500 ms and all",
    "solaris-2.5": "that of 4.4BSD-Lite with what is known of Solaris 2.5 (1995), for paths without loss",
    "linux": "that of Linux 6.18 with its defaults (CUBIC, SACK, RACK, initial window 10)",
    "linux-classic": "that of Linux 6.18 set back to the rules of the 1990s (Reno, no SACK, initial window 1)",
    "ns2-reno": "the one-way Agent/TCP/Reno of ns-2, counted in packets",
}

_RELEASES = {
    "at-once": "Servers answer at once: the whole response is there when the request has arrived.",
    "delayed": "Servers release a whole response after the server time that the request table has for it.",
    "after-wait": "Servers release a whole response after the wait for its first byte that the request table has, or "
    "after the server time where it has no wait.",
    "paced": "Servers release a response segment by segment, spread over the server time that the request table has "
    "for it; without a recorded time at once.",
    "closed-loop": "Servers release a response segment by segment over the recorded server time, and the time to the "
    "next segment counts from when TCP took the one before.",
    "regulated": "Servers give TCP a whole response at once; below it packets leave at the mean rate of the recorded "
    "server time.",
}

_LEFT_OUT = {
    "links": "Links have a constant delay and rate and one drop-tail queue a direction: nothing is reordered or "
    "corrupted, no active queue management, no medium that directions or senders share.",
    "http": "HTTP is byte counts: no pages, no pipelining, no load on servers, no look-ups of names.",
    "proxy": "Proxies take no time to process anything and have memory without limit.",
    "cache": "Look-ups in caches and their disks take no time.",
    "tcp": "TCP is without ECN, BBR, Fast Open, path MTU discovery and offloads.",
}


def assumptions(points: Sequence[Point]) -> list[str]:
    """Assumptions of the scenarios, a sentence or two each."""
    return [
        *_workload(points),
        *_proxies(points),
        *_caches(points),
        *_unique(leg["carrier_sentences"] for leg in _leg_figures(points)),
        *_carriers(points),
        *_tls(points),
        *_tcp(points),
        *_windows(points),
        *_unique(_RELEASES.get(release, release) for release in _values(points, "origin", "release")),
        *_interval(points),
    ]


def left_out(points: Sequence[Point]) -> list[str]:
    """Effects that no number contains, since the models do not have them."""
    with_requests = any(leg["connection_use"]["requests"] for leg in _leg_figures(points))
    return [
        _LEFT_OUT["links"],
        *([_LEFT_OUT["http"]] if with_requests else []),
        *([_LEFT_OUT["proxy"]] if any(len(point.scenario["leg"]) > 1 for point in points) else []),
        *([_LEFT_OUT["cache"]] if any(point.scenario.get("cache") for point in points) else []),
        _LEFT_OUT["tcp"],
    ]


def _workload(points: Sequence[Point]) -> list[str]:
    loads = _texts(points, "workload", "load")
    if "rate" in _values(points, "workload", "scale"):
        window = span(_texts(points, "workload", "copies_offset"))
        return [
            _arrivals(points),
            f"Load {span(loads)} stands for as many times the requests of the table, or of a day where it has days: "
            f"drawn ones are left out, or repeated at random within {window}, each by itself. Measured requests are "
            "there at every load.",
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
            f"Each seed draws the {listed(units)} of the request table anew, with replacement: replications differ as "
            "other weeks of the same users would."
        )
    if speeds := _texts(points, "workload", "speed"):
        said.append(
            f"Requests come {span(speeds)} times as fast as the table has them, in the same order; what servers take "
            "for each stays as it is."
        )
    if loads != ["1"] and tables:
        said.append(
            f"Load {span(loads)} stands for as many copies of the request table, each starting {span(copies)} after "
            "the one before: the same mix of requests, closer together."
        )
    return said


def _arrivals(points: Sequence[Point]) -> str:
    """Start of requests, and patience of clients."""
    waits = _texts(points, "clients", "give_up")
    patience = "Clients wait for ever."
    if waits:
        is_everywhere = all("clients" in point.scenario for point in points)
        some = "" if is_everywhere else ", in some runs only; in the others it waits for ever"
        patience = f"A client gives up a request after {span(waits)} and does not ask again{some}."
    return (
        "Requests start when the request table says, whatever the path does: nobody waits for a page before asking for "
        f"the next, or asks less because it is slow. {patience}"
    )


def _proxies(points: Sequence[Point]) -> list[str]:
    """Proxies, where legs meet."""
    nodes = _unique(leg["from"] for point in points for leg in point.scenario["leg"][1:])
    if not nodes:
        return []
    return [
        f"{listed(nodes)} {'is a proxy' if len(nodes) == 1 else 'are proxies'}: a request goes on when the whole of it "
        "is there, a response as it is read, segment by segment."
    ]


def _caches(points: Sequence[Point]) -> list[str]:
    """Contents of caches, and how hits come about."""
    caches = [cache for point in points for cache in point.scenario.get("cache") or ()]
    said = []
    if drawn := _unique(cache["node"] for cache in caches if "hit_ratio" in cache):
        said.append(
            f"Hits at {listed(drawn)} are drawn at random as a share of all client requests, whatever is asked for; "
            "they are the same requests in every run with the same seed."
        )
    if listed_at := _unique(cache["node"] for cache in caches if not cache.keys() & {"hit_ratio", "policy"}):
        said.append(f"Which requests hit at {listed(listed_at)}, the request table says.")
    if live := _unique(cache["node"] for cache in caches if "policy" in cache):
        said.append(
            f"The cache at {listed(live)} is empty when a run begins; an object is kept when all of it has come, and "
            "requests for what is being fetched wait for that fetch where the scenario does not say otherwise."
        )
        rules = _unique(cache.get("changed", "serve") for cache in caches if "policy" in cache)
        said += [_CHANGED[rule] for rule in rules if rule in _CHANGED]
    return said


def _carriers(points: Sequence[Point]) -> list[str]:
    """Settings of the carriers, stretch by stretch."""
    said = []
    for stretch, found in _stretches(points).items():
        carriers = [point.scenario["leg"][number]["carrier"] for point, number in found]
        keys = dict.fromkeys(key for carrier in carriers for key in carrier if key != "kind")
        values = {key: _unique(str(each[key]) for each in carriers if each.get(key) is not None) for key in keys}
        if any(values.values()):
            keys_said = [f"{key_words(key)} {span(texts)}" for key, texts in values.items() if texts]
            said.append(f"{stretch}: {', '.join(keys_said)}.")
    return said


def _stretches(points: Sequence[Point]) -> dict[str, list[tuple[Point, int]]]:
    """The legs of all points by their ends, each as its point and its number there."""
    found: dict[str, list[tuple[Point, int]]] = {}
    for point in points:
        for number, leg in enumerate(point.scenario["leg"]):
            found.setdefault(f"{leg['from']} – {leg['to']}", []).append((point, number))
    return found


def _tls(points: Sequence[Point]) -> list[str]:
    """TLS, stretch by stretch."""
    said = []
    for stretch, found in _stretches(points).items():
        kinds = []
        for leg, parts in ((point.scenario["leg"][at], point.figures["legs"][at]["tls_parts"]) for point, at in found):
            if leg["carrier"]["kind"] != "transfer":  # which has no connections
                tls = leg.get("tls")
                start = None if tls is None else _STARTS.get(tls["start"], tls["start"])
                kinds.append("no TLS" if tls is None else f"TLS {tls['version']}, {start}{_handshake_parts(parts)}")
        said += [f"{stretch}: {' or '.join(_unique(kinds))}."] if kinds else []
    return said


def _handshake_parts(parts: Mapping[str, Any] | None) -> str:
    """Key exchange and certificates, where the scenario says what handshakes consist of."""
    if parts is None:
        return ""
    others = plural(parts["intermediates"], "intermediate")
    return f", key exchange {parts['key_exchange']}, certificates {parts['certificates']} with {others}"


_STARTS = {"full": "a full handshake", "resumed": "resumed where a client has a ticket", "0-rtt": "0-RTT with a ticket"}

_CHANGED = {
    "serve": "A request for an object in another size is served by a fresh copy, whatever its size.",
    "fetch": "A request for an object in another size than the cache holds is a miss, and the new version replaces it.",
}


def _tcp(points: Sequence[Point]) -> list[str]:
    profiles = _unique(leg["tcp"]["profile"] for point in points for leg in point.scenario["leg"])
    said = [f"TCP with the profile {profile} is {_PROFILES.get(profile, profile)}." for profile in profiles]
    changed: dict[str, list[str]] = {}
    for point in points:
        for leg in point.scenario["leg"]:
            for name, value in (leg["tcp"].get("constants") or {}).items():
                changed.setdefault(name, []).append(value if isinstance(value, str) else json.dumps(value))
    if changed:
        texts = [f"{name} = {span(_unique(values))}" for name, values in changed.items()]
        said.append(f"Constants of the profile that differ from it: {', '.join(texts)}.")
    return said


def _windows(points: Sequence[Point]) -> list[str]:
    """Limits of one connection, stretch by stretch."""
    said = []
    for stretch, found in _stretches(points).items():
        legs = [point.figures["legs"][number] for point, number in found]
        round_trip = extent([leg["rtt_ns"] / 1e9 for leg in legs], seconds)
        if any(_by_host(*place) and leg["hosts"] is None for place, leg in zip(found, legs, strict=True)):
            said.append(
                f"{stretch}: {round_trip} of propagation there and back. Servers have the window and the segment size "
                "that the host table has; it is not at hand here, so limits are not worked out."
            )
            continue
        limits = [leg["connection_limit_bps"] for leg in legs if leg["connection_limit_bps"] is not None]
        by = [_LIMITED_BY[each] for each in dict.fromkeys(leg["limited_by"] for leg in legs)]
        fill = [leg["connections_to_fill"] for leg in legs if leg["connections_to_fill"] is not None]
        text = f"{stretch}: {round_trip} of propagation there and back"
        if limits:
            whose = " (median of the servers)" if any(leg["hosts"] for leg in legs) else ""
            verb = "lets" if len(by) == 1 and by[0] != _LIMITED_BY["loss"] else "let"
            text += f"; {listed(by)} {verb} one connection carry {extent(limits, rate)} at most{whose}"
        if limits and fill:
            needed = extent(fill, count)
            text += ", and one fills the path" if needed == "1" else f"; it takes {needed} of them to fill the path"
        said.append(f"{text}.")
    links = (link for point in points for link in point.figures["links"])
    if any(link[way]["changes"] for link in links for way in ("up", "down")):
        said.append("Links change with time: these are of their mean rates and least delays.")
    return said


_LIMITED_BY = {"window": "its window", "credit": "its credit", "loss": "losses (an estimate)"}


def _by_host(point: Point, leg: int) -> bool:
    tcp = point.scenario["leg"][leg]["tcp"]
    ends = [tcp, tcp.get("from") or {}, tcp.get("to") or {}]
    return any(end.get(key) == "host" for end in ends for key in ("mss", "buffer"))


def _interval(points: Sequence[Point]) -> list[str]:
    """Interval of a run that is counted and measured."""
    warmups = _texts(points, "run", "warmup")
    if warmups == ["0 s"]:
        said = ["There is no warm-up: what happens while the path is still empty counts."]
    else:
        said = [f"Warm-up: requests that start in the first {span(warmups)} are counted nowhere."]
    measures = _values(points, "run", "measure")
    if measures == ["whole"]:
        said.append("Rates, utilisation and queues are of the time from the end of the warm-up to the end of the run.")
    elif "arrivals" in measures:
        said.append(
            "Rates, utilisation and queues are of the time from the end of the warm-up to the start of the last "
            "request; the emptying of the path afterwards does not dilute them."
        )
    until = _texts(points, "run", "until")
    ends = [each for each in until if each != "done"]
    if len(ends) < len(until):
        said.append(f"A run {'may end' if ends else 'ends'} when every request is answered or has failed.")
    if ends:
        said.append(f"Runs end at {span(ends)}; requests that are not answered then count as unfinished.")
    return said


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
