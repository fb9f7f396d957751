"""Answers whether a path can carry its load, and lays out what `farweb check` prints of a scenario."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf
from typing import Any

from farweb.check.extent import Extent
from farweb.check.offered import BUSY, Offered, OfferedLoad, of_rate
from farweb.check.trace import varies
from farweb.inputs.carried import Carried
from farweb.results.legs import carrier_name
from farweb.text.quantities import count, plain, rate, seconds, share
from farweb.text.words import elided, listed, plural

_NS = 1e9
_TURNS = {1: "a round trip", 2: "two round trips", 3: "three round trips", 4: "four round trips"}
_OVERLOADED, _FULL, _OPEN = "Overloaded", "Nearly full", "The cache decides"
_NAME = 40  # letters of a point in a sentence. Chosen: half a line
_LIMITS = {
    "window": "receive window",
    "credit": "credit of the carrier",
    "loss": "losses",
    "send-buffer": "send buffer",
}


@dataclass(frozen=True)
class PointLoad:
    """A point of a sweep.

    Attributes:
        name: Its name.
        load: Load offered to the links. None without a rate or with too many requests to lay out.
        least_s: Least time of a request to the servers, in s.
        has_cache: True where caches may answer sooner.
    """

    name: str
    load: Offered | None
    least_s: float
    has_cache: bool

    def to_dict(self) -> dict[str, Any]:
        """Name, fullness of the fullest link and least time, as plain values."""
        fullness = None if self.load is None else _fullest(self.load).fullness
        fullness = None if fullness == inf else fullness
        return {"name": self.name, "fullest_link": fullness, "least_s": self.least_s}


def answer(figures: Mapping[str, Any], load: Offered | None) -> str:
    """A sentence: whether the fullest link has room, and the least time of a request."""
    least = _least(least_s(figures), has_cache=bool(figures["caches"]))
    if load is None:
        return f"The load was not held against the path: no link has a rate, or there are no requests yet. {least}"
    state, says = _state(load), _says(load)
    if state == _OVERLOADED:
        return f"{state}: {says}"
    if state == _OPEN:
        return f"{state} whether the path carries this load: {says} {least}"
    if state == _FULL:
        return f"{state}: {says} Latencies are mostly queueing. {least}"
    return f"The path carries this load: {says} {least}"


def _least(time_s: float, *, has_cache: bool) -> str:
    return f"No request{' to the servers' if has_cache else ''} can take less than {seconds(time_s)}."


def answer_of_points(points: Sequence[PointLoad], number: int) -> str:
    """The same of a sweep: at how many points, which is the worst, and how full its fullest link is.

    Args:
        points: The points looked at.
        number: Points of the sweep.
    """
    known = [(point, point.load) for point in points if point.load is not None]
    least = _least(min(point.least_s for point in points), has_cache=any(point.has_cache for point in points))
    if not known:
        return f"The load of {plural(number, 'point')} was not held against the path: no link has a rate. {least}"
    worst, load = max(known, key=lambda each: _severity(each[1]))
    state, says = _state(load), _says(load)
    which = elided(worst.name, _NAME)
    looked = plural(number, "point") if len(known) == number else f"{len(known)} points looked at, of {number},"
    if not state:
        alike = len({_says(each) for _, each in known}) == 1
        return f"The path carries the load of all {looked}: {says[:-1]}{'' if alike else f', at {which}'}. {least}"
    there = [point for point, each in known if _state(each) == state]
    if state == _OPEN:
        return f"{state} at {len(there)} of {looked.rstrip(',')}, worst at {which}: {says} {least}"
    first = "" if there[0] == worst else f"first at {elided(there[0].name, _NAME)}, "
    end = "" if state == _OVERLOADED else f" {least}"
    return f"{state} at {len(there)} of {looked.rstrip(',')}, {first}worst at {which}: {says}{end}"


def warnings_of_points(points: Sequence[PointLoad], known: Sequence[str]) -> list[str]:
    """Warnings about the load of the worst point, but for keys that are warned of already."""
    loads = [(point.name, point.load) for point in points if point.load is not None]
    keys = {warning.partition(":")[0] for warning in known}
    if not loads:
        return []
    name, load = max(loads, key=lambda each: _severity(each[1]))
    return [f"{each} (at {elided(name, _NAME)})" for each in load.warnings if each.partition(":")[0] not in keys]


def _state(load: Offered) -> str:
    """Overloaded or nearly full whatever a cache answers, or for the cache to decide, or empty with room left."""
    least = max(link.least_fullness for link in load.links)
    if least > BUSY:
        return _OVERLOADED if least > 1 else _FULL
    return _OPEN if _fullest(load).fullness > BUSY else ""


def _says(load: Offered) -> str:
    """How full the fullest link is, as a sentence goes on."""
    state = _state(load)
    fullest = _fullest(load) if state in (_OPEN, "") else max(load.links, key=lambda link: link.least_fullness)
    if state == _OVERLOADED:
        whatever = ", whatever a cache answers" if fullest.at_most else ""
        part = f"{fullest.part} from {fullest.name} {fullest.least_when}"
        return f"{part}{whatever}; queues grow. Raise the rate or lower workload.load."
    of_mean = f", of {fullest.line}" if fullest.is_mean else ""
    if fullest.at_most and state:
        full = f"{share(fullest.least_fullness)} to {share(fullest.fullness)}"
        return f"its fullest link, {fullest.name}, is {full} busy {fullest.when}, by what a cache answers{of_mean}."
    at_most = "at most " if fullest.at_most else ""
    busy = f"{at_most}{share(fullest.fullness)} busy {fullest.when}"
    return f"its fullest link, {fullest.name}, is {busy}{_of_second(fullest)}{of_mean}."


def _of_second(link: OfferedLoad) -> str:
    """The busiest second, as the sentence goes on: beyond the rate no link is busy, and it is what requests ask for."""
    if link.second_bps is None:
        return ""
    of_rate = link.second_bps / link.peak[1]
    if of_rate > 1:
        whose = "" if link.is_mean else " of its rate"
        return f"; the busiest second offers {share(of_rate)}{whose}"
    return f", {share(of_rate)} in the busiest second"


def _severity(load: Offered) -> tuple[int, float, float]:
    """Order of loads, the worst last."""
    least = max(link.least_fullness for link in load.links)
    return ["", _OPEN, _FULL, _OVERLOADED].index(_state(load)), least, _fullest(load).fullness


def _fullest(load: Offered) -> OfferedLoad:
    return max(load.links, key=lambda link: link.fullness)


def _least_ns(figures: Mapping[str, Any], leg: Mapping[str, Any]) -> float:
    """Least time of a request on a leg: on an open connection, where there may be one."""
    use = leg["connection_use"]
    if not use["requests"]:
        return float(leg["rtt_ns"]) / 2
    if use["reused"] or use["shared"] or use["standing"]:
        return float(leg["rtt_ns"])
    is_clear = figures["tls"] is not None and figures["tls"]["http"]
    return float(leg["first_byte_clear_ns" if is_clear or leg["has_bare_tunnels"] else "first_byte_ns"])


def least_s(figures: Mapping[str, Any]) -> float:
    """Least time of a request to the servers, in s."""
    return sum(_least_ns(figures, leg) for leg in figures["legs"]) / _NS


def rows(
    figures: Mapping[str, Any],
    scenario: Mapping[str, Any],
    load: Offered | None,
    extents: Sequence[Extent],
    part: Carried | None,
) -> list[list[str]]:
    """Facts about the path, the requests and each leg: a label and a few words."""
    found = [["path", _path(figures)], *_changes(figures)]
    if load is not None:
        clients = figures["clients"]["text"]
        multiple = plain(load.rate_multiple, 3)
        times = f" ({multiple} times the rate)" if float(multiple) < load.load else ""
        copies = f", load {plain(load.load, 6)}{times}" if load.load != 1 else ""
        found.append(["requests", f"{count(load.requests)} in {seconds(load.span_s)}{copies}; {clients}"])
    if figures["tunnels"]:
        tls = scenario.get("clients", {}).get("tunnels", {}).get("tls")
        inside = f"TLS {tls['version']} inside, over the whole path" if tls else "each one transfer of all its bytes"
        found.append(["tunnels", f"{count(figures['tunnels'])}, {inside}"])
    for leg in figures["legs"]:
        found += _leg(figures, scenario, leg)
    found += [[f"cache at {cache['node']}", cache["contents"]] for cache in figures["caches"]]
    found += [] if part is None else [["log", part.text]]
    found += [["servers", figures["servers"]]] if figures["servers"] else []
    for extent in extents:
        runs = "a run" if extent.runs == 1 else f"{count(extent.runs)} runs"
        found.append([runs, f"about {_rounded(extent.packet_hops)} packets over links"])
    return found


def _rounded(number: int) -> str:
    """A number by thousands, with three digits that are not zero."""
    places = max(0, len(str(number)) - 3)
    return count(round(number, -places))


def _path(figures: Mapping[str, Any]) -> str:
    ways = [figures["nodes"][0]]
    for link in figures["links"]:
        up, down = link["up"], link["down"]
        if up == down:
            says = f"{up['rate']}, {up['delay']}"
        elif up["delay"] == down["delay"]:
            says = f"{up['rate']} up, {down['rate']} down, {up['delay']}"
        else:
            says = f"{up['rate']}, {up['delay']} up, {down['rate']}, {down['delay']} down"
        loss = "" if up["loss"] == down["loss"] == "none" else ", losses"
        ways.append(f"-- {says}{loss} -- {link['to']}")
    return " ".join(ways)


def _changes(figures: Mapping[str, Any]) -> Iterator[list[str]]:
    """Changes of links with time, a row a direction where they differ."""
    for link in figures["links"]:
        up, down = ("; ".join(link[way]["changes"]) for way in ("up", "down"))
        ways = [("up and down", up)] if up == down else [("up", up), ("down", down)]
        yield from (["changes", f"{link['from']} to {link['to']}, {way}: {said}"] for way, said in ways if said)


def _leg(figures: Mapping[str, Any], scenario: Mapping[str, Any], leg: Mapping[str, Any]) -> Iterator[list[str]]:
    """How a leg uses connections, what limits them, and the queues of its slowest link."""
    use, described = leg["connection_use"], scenario["leg"][leg["index"]]
    rtt = seconds(leg["rtt_ns"] / _NS)
    manner = (
        "responses come alone"
        if not use["requests"]
        else "connections always stand"
        if use["standing"]
        else "requests share connections"
        if use["shared"]
        else "connections are kept"
        if use["reused"]
        else "a connection a request"
    )
    least = ""
    if use["requests"] and leg["rtt_ns"]:
        shortest = _least_ns(figures, leg)
        turns = shortest / leg["rtt_ns"]
        time = f"{_TURNS[int(turns)]} of {rtt}" if turns.is_integer() else seconds(shortest / _NS)
        least = f": {time} at least"
    tls = described.get("tls") or {}
    secured = f", TLS {tls['version']}{_of_schemes(figures['tls'])}" if tls.get("version") else ""
    is_only = len(figures["legs"]) == 1
    of = "" if is_only else f"{leg['from']} to {leg['to']}: "
    yield [carrier_name(described["carrier"]), f"{of}{manner}{least}{secured}"]
    if leg["stretches"]:
        first, whole = (seconds(leg[key] / _NS) for key in ("first_byte_ns", "first_byte_unsplit_ns"))
        nodes = listed([stretch["from"] for stretch in leg["stretches"][1:]])
        yield ["splits", f"TCP ends at {nodes}: {first} to the first byte on a new connection, {whole} without"]
    yield from _limit_down(figures, leg, is_only)
    yield from _limit_up(figures, leg)
    yield from _losses(leg)
    if leg["ecn"]:
        yield ["ECN", leg["ecn"]]
    narrow = min(figures["links"], key=lambda link: link["down"]["rate_bps_mean"] or inf)
    if _is_inside(figures, leg, narrow) and narrow["down"]["queue"] != "unlimited":
        held = narrow["down"]["queue_bytes"]
        of_path = _of_path(held, leg) if held and leg["bdp_bytes"] else ""
        yield ["queues", f"{narrow['up']['queue']} up, {narrow['down']['queue']} down{of_path}"]


def _of_path(held: int, leg: Mapping[str, Any]) -> str:
    """A queue beside what the path holds. Half of slow start's last window queues: it sends twice what ACKs bring."""
    burst = min(leg["bdp_bytes"], leg["window_bytes"]) / 2
    short = ", too short for slow start's bursts" if held < burst else ""
    return f": {share(held / leg['bdp_bytes'])} of what the path holds{short}"


def _of_schemes(tls: Mapping[str, int] | None) -> str:
    """The requests that have a leg's TLS, or empty where none is known to go in the clear."""
    if tls is None or not tls["http"]:
        return ""
    unknown = f", {count(tls['unknown'])} of them unknown" if tls["unknown"] else ""
    return f" for {share(1 - tls['http'] / sum(tls.values()))} of the requests{unknown}"


def _limit_down(figures: Mapping[str, Any], leg: Mapping[str, Any], is_only: bool) -> Iterator[list[str]]:
    """Limit of a response where its session has less credit than its connection can carry, or of a connection."""
    if (found := _limit(leg)) is None:
        return
    (limit, why), line = found, leg["bottleneck_down_bps"]
    of_line = _line(figures, leg, "down")
    if line is not None and limit < line and limit < leg["connection_limit_bps"]:
        yield ["limit", f"{rate(limit)} a response, of {of_line} ({_LIMITS[why]})"]
    elif line is not None and limit < line:
        fill = count(leg["connections_to_fill"])
        yield ["limit", f"{rate(limit)} a connection, of {of_line} ({_LIMITS[why]}); {fill} fill it"]
    elif is_only:
        yield ["limit", f"none: a connection can carry {rate(leg['connection_limit_bps'])}"]


def _limit_up(figures: Mapping[str, Any], leg: Mapping[str, Any]) -> Iterator[list[str]]:
    """Limit of an upload, where a credit or losses set another one than the window."""
    if leg["up"] is None or (found := _limit(leg["up"])) is None:
        return
    (limit, why), line = found, leg["bottleneck_up_bps"]
    if line is not None and why != "window" and limit < line:
        yield ["limit up", f"{rate(limit)} an upload, of {_line(figures, leg, 'up')} ({_LIMITS[why]})"]


def _losses(leg: Mapping[str, Any]) -> Iterator[list[str]]:
    """What losses do beside the limits: of uploads where no estimate has them, as a limit up is not always said."""
    up = leg["up"] and leg["up"]["loss_limit_bps"] is None and leg["up"]["loss_limit_text"]
    if leg["loss_limit_text"]:
        yield ["losses", leg["loss_limit_text"]]
    if up and up != leg["loss_limit_text"]:
        yield ["losses up", up]


def _limit(way: Mapping[str, Any]) -> tuple[float, str] | None:
    """Rate of one transfer in a direction and its cause, or None without a limit."""
    connection, session = way["connection_limit_bps"], way["session_limit_bps"]
    if connection is None:
        return None
    return (session, "credit") if session is not None and session < connection else (connection, way["limited_by"])


def _line(figures: Mapping[str, Any], leg: Mapping[str, Any], way: str) -> str:
    """Rate of the slowest link of a leg in words."""
    is_mean = any(varies(link[way]) for link in figures["links"] if _is_inside(figures, leg, link))
    return of_rate(leg[f"bottleneck_{way}_bps"], is_mean)


def _is_inside(figures: Mapping[str, Any], leg: Mapping[str, Any], link: Mapping[str, Any]) -> bool:
    nodes = figures["nodes"]
    return bool(nodes.index(leg["from"]) <= link["index"] < nodes.index(leg["to"]))
