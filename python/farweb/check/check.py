"""Explains a scenario without simulating it."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from farweb.check import capacity
from farweb.check.extent import Extent, Point, extent_of_points, points_of_sweep, sheet
from farweb.check.offered import Offered, offered
from farweb.check.ports import too_few
from farweb.check.trace import Trace, read_trace
from farweb.inputs.carried import LOW, Carried, carried
from farweb.inputs.description import Description
from farweb.inputs.prepared import Prepared
from farweb.inputs.provenance import doubts, server_times
from farweb.results.clients import whose
from farweb.results.design import Design
from farweb.results.legs import decrypting
from farweb.text.quantities import count, share
from farweb.text.sheet import Screen, Sheet, Shown
from farweb.text.words import elided, listed, plural

_WARNINGS_MAX = 3
_LETTERS = 600  # of a line that is not folded, a name or a drawing. Chosen: some lines of a terminal


@dataclass(frozen=True)
class Check(Shown):
    """Explanation of a scenario: its path, legs and workload in numbers.

    Attributes:
        figures: Links, legs and warnings with their numbers, units in the names.
        scenario: The scenario after overrides, every default spelled out.
        offered: Load offered to the links, or None without requests, without a rate, or with too many requests to lay
            out.
        extents: Estimated size of a run and, if there is one, of the sweep, or empty without requests.
        part: Share of its log that the request table has, or None without a log.
        points: Load of the points of a sweep looked at: both ends and some between.
        design: Of the sweep, or None without one.
    """

    figures: Mapping[str, Any]
    scenario: Mapping[str, Any]
    offered: Offered | None = None
    extents: tuple[Extent, ...] = ()
    part: Carried | None = None
    points: tuple[capacity.PointLoad, ...] = ()
    design: Design | None = None

    @property
    def text(self) -> str:
        """The path drawn in text, and a paragraph a leg."""
        return str(self.figures["text"])

    @property
    def warnings(self) -> list[str]:
        """Warnings about settings that are allowed but may be mistakes."""
        return list(self.figures["warnings"])

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {"answer": self.answer, "check": dict(self.figures), "scenario": dict(self.scenario)}

    def screen(self, details: bool = False) -> Screen:
        """The answer in a screen, with `details` the path drawn, every leg, load and warning."""
        shown: list[Sheet | str] = [self.answer, ""]
        shown += self._details() if details else [Sheet("", ["", ""], [*self._sweep(), *self._rows()])]
        most = len(self.warnings) if details else _WARNINGS_MAX
        shown += [f"warning: {warning}" for warning in self.warnings[:most]]
        if len(self.warnings) > most:
            shown.append(f"+ {plural(len(self.warnings) - most, 'warning')} more (--details)")
        return Screen(tuple(shown))

    @property
    def answer(self) -> str:
        """One sentence: if the path can carry the load, the least time of a request, and where TLS ends on the way."""
        if self.design is not None and self.points:
            said = capacity.answer_of_points(self.points, len(self.design.points))
        else:
            said = capacity.answer(self.figures, self.offered)
        return said + decrypting(self.scenario)

    def _rows(self) -> list[list[str]]:
        return capacity.rows(self.figures, self.scenario, self.offered, self.extents, self.part)

    def _sweep(self) -> list[list[str]]:
        """A row about the points of a sweep, as the others are about the scenario without it."""
        if self.design is None:
            return []
        names = listed(list(self.design.short_names.values()))
        return [["sweep", f"{plural(len(self.design.points), 'point')} of {names}; below is the scenario without it"]]

    def _details(self) -> Iterator[Sheet | str]:
        rows: list[list[str]] = []
        for line in self.text.rstrip().splitlines():
            if found := re.fullmatch(r"  (\S.*?)  +(\S.*)", line):
                rows.append([f"  {found[1]}", found[2]])
                continue
            if rows:
                yield Sheet("", ["", ""], rows)
                rows = []
            yield elided(line, _LETTERS)
        yield from [Sheet("", ["", ""], rows)] if rows else []
        yield from [] if self.offered is None else [self.offered.sheet()]
        yield from [sheet(self.extents)] if self.extents else []


def check(scenario: Description) -> Check:
    """Explain a scenario (see `Scenario.check`)."""
    with Prepared.of(scenario, may_lack=True) as prepared:
        return explained(scenario, prepared)


def explained(scenario: Description, prepared: Prepared) -> Check:
    """Explain a scenario with open files.

    Raises:
        WorkloadError: A table cannot be used.
    """
    figures = json.loads(scenario.complete().check(prepared.core.hosts))
    requests = scenario.inputs().get("requests")
    if requests is not None and "requests" not in prepared.inputs:
        figures["warnings"].append(f"workload.requests: {requests.path} does not exist yet; a run needs it")
    trace = read_trace(scenario, figures, prepared)
    figures["tls"] = None if trace is None else _schemes(trace)
    load, extents = None, tuple[Extent, ...]()
    if trace is not None:
        run = Point(scenario, figures, trace)
        load, extents = _load(run), (run.extent,)
    points: tuple[capacity.PointLoad, ...] = ()
    if trace is not None and scenario.design is not None:
        points, of_sweep = _swept(scenario, scenario.design, prepared, trace)
        extents += () if of_sweep is None else (of_sweep,)
    figures["offered"] = None if load is None else load.to_dict()
    figures["points"] = [point.to_dict() for point in points]
    figures["extents"] = [extent.to_dict() for extent in extents]
    figures["requests_of_several_sizes"] = None if trace is None else trace.of_several_sizes
    figures["requests_bypassing_caches"] = None if trace is None else trace.bypassing
    figures["text"] += "" if trace is None or not trace.bypassing else f"{_bypassing(trace)}\n"
    kept = prepared.imported
    part = None if requests is None or kept is None else carried(requests.path.name, kept)
    figures["servers"] = None if kept is None else server_times(kept)
    figures["warnings"] += [] if kept is None else [f"workload.requests: {each}" for each in doubts(kept)]
    figures["carried_bytes_share"] = None if part is None else part.share
    figures["text"] += "" if part is None else f"\n{part.table} from {part.text}\n"
    figures["warnings"] += [] if part is None else _carries_little(part)
    figures["clients"] = None if trace is None else _clients(scenario, figures, trace)
    figures["text"] += "" if trace is None else f"\n{figures['clients']['text']}\n"
    figures["warnings"] += [] if trace is None else [*_several_sizes(trace), *_nobody_named(scenario, figures, trace)]
    has_tunnels = trace is not None and trace.tunnels and (kept is None or kept["caching"].get("tunnel"))
    figures["tunnels"] = trace.tunnels if trace is not None and has_tunnels else 0
    figures["warnings"] += [] if trace is None or not has_tunnels else _tunnels_without_tls(scenario, trace)
    figures["warnings"] += [] if trace is None or trace.opens is None else too_few(figures, trace.opens, trace.days)
    figures["warnings"] += [] if load is None else load.warnings
    figures["warnings"] += capacity.warnings_of_points(points, figures["warnings"])
    figures["warnings"] += [warning for extent in extents for warning in extent.warnings]
    return Check(figures, scenario.effective, load, extents, part, points, scenario.design)


def _clients(scenario: Description, figures: Mapping[str, Any], trace: Trace) -> dict[str, Any]:
    """Who asks, and over which connections."""
    keeps = figures["legs"][0]["connection_use"]
    if not trace.clients:
        text = "no request names its client" + ("; all share connections" if keeps["reused"] else "")
    else:
        text = f"{plural(trace.clients, 'client')}, {whose(scenario.effective, keeps['standing'])}"
        if trace.without_client:
            text += f"; {plural(trace.without_client, 'request')} of unknown clients share others"
    return {"clients": trace.clients, "requests_without": trace.without_client, "text": text}


def _nobody_named(scenario: Description, figures: Mapping[str, Any], trace: Trace) -> list[str]:
    """Warning about a table without clients where connections are kept."""
    use = figures["legs"][0]["connection_use"]
    is_said = scenario.effective.get("clients", {}).get("share") == "all" or use["standing"]
    if trace.clients or "requests" not in scenario.inputs() or is_said or not use["reused"]:
        return []
    return [
        "clients.share: the request table names no client (column client), so that all requests share the connections "
        'of one, as behind a proxy; write share = "all" under [clients] if that is so'
    ]


def _schemes(trace: Trace) -> dict[str, int]:
    """Requests that are no tunnels, by scheme."""
    unknown = trace.rows - trace.tunnels - trace.secure - trace.clear
    return {"https": trace.secure, "http": trace.clear, "unknown": unknown}


def _tunnels_without_tls(scenario: Description, trace: Trace) -> list[str]:
    """Warning about tunnels without their handshakes."""
    if scenario.effective.get("clients", {}).get("tunnels", {}).get("tls"):
        return []
    part = share(trace.tunnel_bytes / max(1, trace.response_bytes))
    return [
        f"clients.tunnels: {plural(trace.tunnels, 'tunnel')} (CONNECT) with {part} of the bytes of responses "
        'come without the round trips of TLS inside, too early; write tls = { version = "1.3" } under [clients.tunnels]'
    ]


def _carries_little(part: Carried) -> list[str]:
    """Warning about a table without much of its log."""
    if part.share >= LOW:
        return []
    return [f"workload.requests: {part.text}; the load is smaller than the log's"]


def _bypassing(trace: Trace) -> str:
    """Requests that live caches never serve, with the share of hits that they leave."""
    part = trace.bypassing / trace.rows
    return (
        f"{plural(trace.bypassing, 'request')} ({share(part)}) are not cacheable, by their methods or the column "
        f"caching: at most {share(1 - part)} of the requests can be hits"
    )


def _several_sizes(trace: Trace) -> list[str]:
    """Warning about objects that change size behind live caches."""
    if not (several := trace.of_several_sizes):
        return []
    return [
        f"cache: {count(several)} of {count(trace.rows)} requests ({share(several / trace.rows)}) are for objects "
        'whose size changes; changed = "serve", the default, serves them with the copy held while it is fresh, and '
        '"fetch" makes each change a miss: the truth lies between'
    ]


def _load(point: Point) -> Offered | None:
    """The load on the links of a run, unless it is too large to be looked at."""
    return offered(point.scenario, point.figures, point.trace) if point.extent.is_allowed else None


def _swept(
    scenario: Description, design: Design, prepared: Prepared, trace: Trace
) -> tuple[tuple[capacity.PointLoad, ...], Extent | None]:
    """The load at the points of the sweep that are looked at, and the size of all runs."""
    points = points_of_sweep(scenario, prepared, trace)
    loads = []
    for number, point in points.items():
        least_s = capacity.least_s({**point.figures, "tls": _schemes(point.trace)})
        has_cache = bool(point.figures["caches"])
        loads.append(capacity.PointLoad(design.point_name(number), _load(point), least_s, has_cache))
    return tuple(loads), extent_of_points(points.values(), len(design.points) * design.replications)
