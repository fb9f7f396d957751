"""The requests of a workload by the second, in one pass, for everything that looks at them before a run.

Bytes count in the second of their request's start, those of a tunnel over its recorded life, with headers and
timestamps a segment: messages, their ACKs, and the opening and closing of connections where each request has its own.
ACKs by a timer and options of SYNs are left out.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farweb import _core
from farweb.check.ports import Opens, are_limited
from farweb.files.parquet import equals
from farweb.inputs.caching import BYPASS, INVALIDATE, caching_codes
from farweb.inputs.description import Description
from farweb.inputs.prepared import Prepared
from farweb.inputs.provenance import origin
from farweb.statistics.tally import Tally

Series = NDArray[np.float64]

_SAMPLE = "sample"  # the tag of requests with recorded connections under packets = "sample"


def varies(way: Mapping[str, Any]) -> bool:
    """True when the rate of a direction of a link, as a check has it, changes with time, be it by outages."""
    return len({way["rate_bps_min"], way["rate_bps_mean"], way["rate_bps_max"]}) > 1


@dataclass(frozen=True)
class RatedLink:
    """One direction of a link that has a rate, with what matters for its load.

    Attributes:
        segments: Of the leg.
        opening_bytes: Of the packets that open and close a request's own connection; 0 on connections that stay.
        factor: Share of the requests that no drawn hit answers, among those that a copy may serve.
        at_most: Other caches take an unknown part off.
        is_live: All of these hold objects, none at the beginning.
    """

    index: int
    direction: str
    rate_bps: float
    is_mean: bool
    changes: bool
    segments: "Segments"
    opening_bytes: int
    factor: float
    at_most: bool
    is_live: bool
    has_requests: bool

    def sent(self, trace: "Trace") -> Series:
        """Bytes that each entry of a trace sends over it, with what caches of unknown hits take off."""
        return self._behind_draws(trace, trace.values)

    def always(self, trace: "Trace") -> Series:
        """Those of them that no copy may serve."""
        return self._of(trace, trace.uncacheable) if trace.uncacheable else np.zeros_like(trace.values[-1])

    def missed(self, trace: "Trace") -> Series:
        """Those of them that no cache answers, however large: these, and first requests for objects."""
        is_known = self.is_live and trace.missed
        return self._behind_draws(trace, trace.missed) if is_known else np.zeros_like(trace.values[-1])

    def _behind_draws(self, trace: "Trace", values: tuple[Series, ...]) -> Series:
        whole = self._of(trace, values)
        if self.factor == 1:
            return whole
        always = self.always(trace)
        return always + (whole - always) * self.factor

    def _of(self, trace: "Trace", values: tuple[Series, ...]) -> Series:
        place = _CHANNELS * trace.segments.index(self.segments)
        responses, requests, of_responses, of_requests = values[place : place + _CHANNELS]
        if not self.has_requests:
            return responses if self.direction == "down" else of_responses
        both = responses + of_requests if self.direction == "down" else requests + of_responses
        return both + values[-1] * self.opening_bytes


def is_alone(leg: Mapping[str, Any]) -> bool:
    """True when each request on a leg has a connection of its own."""
    use = leg["connection_use"]
    return not (use["reused"] or use["shared"] or use["standing"])


@dataclass(frozen=True, order=True)
class Segments:
    """Segments of a leg.

    Attributes:
        payload: Of a full one, in bytes.
        header: Of each, with timestamps, in bytes.
        quick_acks: Segments of a message that are acknowledged one by one, before every second one is.
    """

    payload: int
    header: int
    quick_acks: int

    @classmethod
    def of(cls, leg: Mapping[str, Any]) -> "Segments":
        """Segments of a leg, from its figures; on a connection that stays few are acknowledged quickly."""
        payload = leg["payload_bytes"]
        return cls(payload, _core.header_bytes + leg["mss_bytes"] - payload, leg["quick_acks"] if is_alone(leg) else 0)


def _opening_bytes(leg: Mapping[str, Any], direction: str) -> int:
    """SYN, FIN and a bare ACK, and the flight of the last kind of TLS handshake."""
    segments = Segments.of(leg)
    if not (leg["connection_use"]["requests"] and is_alone(leg)):
        return 0
    flight = leg["handshakes"][-1][direction]["bytes"] if leg["handshakes"] else 0
    return int(flight + segments.header * (3 - -flight // segments.payload))


def rated_links(scenario: Description, figures: Mapping[str, Any]) -> Iterator[RatedLink]:
    """The directions of links with a rate, leg by leg, from the `figures` of the check of `scenario`."""
    effective, nodes = scenario.effective, figures["nodes"]
    for leg in figures["legs"]:
        for index in range(nodes.index(leg["from"]), nodes.index(leg["to"])):
            before = [cache for cache in effective.get("cache") or [] if nodes.index(cache["node"]) <= index]
            drawn = [cache["hit_ratio"] for cache in before if cache.get("hit_ratio") is not None]
            for direction in ("up", "down"):
                way = figures["links"][index][direction]
                if way["rate_bps_mean"] is not None:
                    yield RatedLink(
                        index,
                        direction,
                        float(way["rate_bps_mean"]),
                        varies(way),
                        bool(way["changes"]),
                        Segments.of(leg),
                        _opening_bytes(leg, direction),
                        1 - sum(drawn),
                        len(drawn) < len(before),
                        all(cache.get("policy") or cache.get("hit_ratio") is not None for cache in before),
                        leg["connection_use"]["requests"],
                    )


@dataclass(frozen=True)
class Trace:
    """A workload by the second: where there is something, what.

    Attributes:
        rows: Requests.
        response_bytes: Of all of them.
        request_bytes: Likewise.
        sampled: Share of response bytes in requests tagged `sample`.
        first_s: The first start.
        last_s: The last one.
        day: Index of the day of each entry, from 0. Equal pairs of day and second are merged.
        second: Seconds since the start of the table.
        segments: Of the legs with a rate.
        values: For each of them bytes of responses and of requests with headers, and of the acknowledgements of both;
            behind them the number of requests.
        uncacheable: The same of requests that no copy may serve, empty without a cache.
        missed: The same of these and of first requests for objects, empty without a live cache.
        of_several_sizes: Requests for objects that change size, or 0 without a live cache.
        bypassing: Requests for uncacheable objects, or 0 without a live cache.
        clients: Who asks: how many.
        without_client: Requests that name no client.
        opens: Requests by host and minute, where source ports are a limit.
        tunnels: Requests with CONNECT.
        tunnel_bytes: Bytes of their responses.
        secure: Others that are under TLS by the table.
        clear: Others in the clear by the table.
        origin_unix_s: Time of second 0 on the clock of the log that the table is from, or None.
    """

    rows: int
    response_bytes: int
    request_bytes: int
    sampled: float
    first_s: float
    last_s: float
    day: NDArray[np.int64]
    second: NDArray[np.int64]
    segments: list[Segments]
    values: tuple[Series, ...]
    uncacheable: tuple[Series, ...] = ()
    missed: tuple[Series, ...] = ()
    of_several_sizes: int = 0
    bypassing: int = 0
    clients: int = 0
    without_client: int = 0
    opens: Opens | None = None
    tunnels: int = 0
    tunnel_bytes: int = 0
    secure: int = 0
    clear: int = 0
    origin_unix_s: float | None = None

    @property
    def days(self) -> int:
        """Number of days, or 1 without days."""
        return int(self.day.max()) + 1


_CHANNELS = 4  # for each kind of segments: responses, requests, acknowledgements of responses, of requests
_Entries = tuple[NDArray[np.int64], NDArray[np.int64], tuple[Series, ...]]
"""Days, seconds, and values of each."""
_MERGED_AT = 1 << 21  # entries. Chosen: some 100 MB with their values


def read_trace(scenario: Description, figures: Mapping[str, Any], prepared: Prepared) -> Trace | None:
    """Read the workload of `scenario` once, with the `figures` of its check.

    None when it has no requests yet.

    Raises:
        WorkloadError: The request table cannot be read.
    """
    segments = sorted({link.segments for link in rated_links(scenario, figures)})
    caches = scenario.effective.get("cache") or []
    has_live = any(cache.get("policy") for cache in caches)
    survey = _core.Survey() if has_live and "requests" in prepared.inputs else None
    opens = Opens() if are_limited(figures) else None
    trace = _trace(prepared.core, segments, survey, opens, has_caches=bool(caches))
    return None if trace is None else replace(trace, origin_unix_s=origin(prepared.imported))


def _trace(
    requests: _core.Prepared,
    segments: list[Segments],
    survey: _core.Survey | None = None,
    opens: Opens | None = None,
    *,
    has_caches: bool = False,
) -> Trace | None:
    """Read a workload, its objects too with `survey`, or None when it is empty."""
    parts: list[_Entries] = []
    lives: list[_Entries] = []
    rows = held = down = up = tagged = tunnels = tunnel_bytes = secure = clear = 0
    first, last, clients = float("inf"), 0.0, Tally()
    for columns in requests:
        start = np.asarray(columns["start_s"])
        if not len(start):
            continue
        days_given = np.asarray(columns["day"]) if "day" in columns else np.zeros(len(start))
        day = np.nan_to_num(days_given.astype(np.float64), nan=0.0).astype(np.int64)
        rows += len(start)
        first, last = min(first, float(start.min())), max(last, float(start.max()))
        request, response = np.asarray(columns["request_bytes"]), np.asarray(columns["response_bytes"])
        down, up = down + int(response.sum()), up + int(request.sum())
        values = _bytes(request, response, segments)
        if has_caches:
            never = np.isin(caching_codes(columns["caching"]), (BYPASS, INVALIDATE))
            of_all = values
            values += tuple(channel * never for channel in of_all)
            if survey is not None:
                missed = ~_served(survey, columns, response)
                values += tuple(channel * missed for channel in of_all)
        if opens is not None:
            opens.add(columns["host"], day, start)
        if "client" in columns:
            clients.add(np.asarray(columns["client"]))
        tagged += int(response[equals(columns["tag"], _SAMPLE)].sum()) if "tag" in columns else 0
        is_tunnel = equals(columns["method"], "CONNECT") if "method" in columns else np.zeros(len(start), np.bool_)
        if is_tunnel.any():
            tunnels, tunnel_bytes = tunnels + int(is_tunnel.sum()), tunnel_bytes + int(response[is_tunnel].sum())
        if "tls" in columns:
            tls = np.asarray(columns["tls"])[~is_tunnel]
            secure, clear = secure + int((tls == 1).sum()), clear + int((tls == 0).sum())
        second = np.floor(start).astype(np.int64)
        lasts = _lasting(columns, is_tunnel)
        lives += _events(day[lasts], start[lasts], columns["server_s"], lasts, values) if lasts.any() else []
        if lasts.all():
            continue
        parts.append(_merged([(day[~lasts], second[~lasts], tuple(channel[~lasts] for channel in values))]))
        held += len(parts[-1][0])
        if held > _MERGED_AT:
            parts = [_merged(parts)]
            held = len(parts[0][0])
    if not rows:
        return None
    days, second, values = _merged([*parts, *([_between(_merged(lives), int(last))] if lives else [])])
    numbered = np.unique(days, return_inverse=True)[1]
    share_tagged = tagged / down if down else 0.0
    treated = (0, 0) if survey is None else (survey.of_several_sizes, survey.bypassing)
    counts = clients.counts()
    asked_by = counts.size, rows - int(counts.sum())
    more = (*treated, *asked_by, opens, tunnels, tunnel_bytes, secure, clear)
    kinds = _CHANNELS * len(segments) + 1
    sent, fixed, rest = values[:kinds], values[kinds : 2 * kinds], values[2 * kinds :]
    return Trace(rows, down, up, share_tagged, first, last, numbered, second, segments, sent, fixed, rest, *more)


def _served(survey: _core.Survey, columns: Mapping[str, Any], response: NDArray[Any]) -> NDArray[np.bool_]:
    """True for requests that a cache without limit has a copy for, of all in their order."""
    served: NDArray[np.bool_] = np.zeros(len(response), np.bool_)
    if "object" in columns:
        objects = np.asarray(columns["object"])
        known = objects != _core.null_id
        served[known] = survey.add(objects[known], response[known], caching_codes(columns["caching"])[known])
    return served


def _bytes(request: NDArray[Any], response: NDArray[Any], segments: list[Segments]) -> tuple[Series, ...]:
    """Bytes of each request on a link, by kind of segments, and ones. Responses acknowledge last ones of requests."""
    channels: list[Series] = []
    for each in segments:
        responses, requests = -(-response // each.payload), -(-request // each.payload)
        quick, quick_up = np.minimum(responses, each.quick_acks), np.minimum(requests, each.quick_acks)
        acks, acks_up = quick - (quick - responses) // 2, quick_up + (requests - quick_up) // 2
        channels.append((response + each.header * responses).astype(np.float64))
        channels.append((request + each.header * requests).astype(np.float64))
        channels += [(each.header * number).astype(np.float64) for number in (acks, acks_up)]
    return *channels, np.ones(len(response))


def _lasting(columns: Mapping[str, Any], is_tunnel: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Tunnels with a recorded life of more than a second."""
    if columns.get("server_s") is None or not is_tunnel.any():
        return np.zeros(len(is_tunnel), np.bool_)
    lasting: NDArray[np.bool_] = is_tunnel & (np.nan_to_num(np.asarray(columns["server_s"])) > 1)
    return lasting


def _events(
    day: NDArray[np.int64],
    start: NDArray[np.float64],
    server_s: Any,
    lasts: NDArray[np.bool_],
    values: tuple[Series, ...],
) -> list[_Entries]:
    """Changes of the bytes a second at the beginnings and behind the ends of lives."""
    first = np.floor(start).astype(np.int64)
    end = np.floor(start + np.asarray(server_s)[lasts]).astype(np.int64) + 1
    each = tuple(channel[lasts] / (end - first) for channel in values)
    return [(day, first, each), (day, end, tuple(-channel for channel in each))]


def _between(events: _Entries, last: int) -> _Entries:
    """Bytes of each second from the changes at some, up to the last one with a start."""
    day, second, changes = events
    lengths = np.append(np.where(np.diff(day) == 0, np.diff(second), 0), 0)
    lengths = np.clip(np.minimum(lengths, last + 1 - second), 0, None)
    values = tuple(np.repeat(np.maximum(np.cumsum(change), 0), lengths) for change in changes)
    within = np.arange(lengths.sum()) - np.repeat(np.cumsum(lengths) - lengths, lengths)
    return np.repeat(day, lengths), np.repeat(second, lengths) + within, values


def _merged(parts: list[_Entries]) -> _Entries:
    """Entries of one day and second as one."""
    day = np.concatenate([part[0] for part in parts])
    second = np.concatenate([part[1] for part in parts])
    order = np.lexsort((second, day))
    day, second = day[order], second[order]
    new = np.concatenate([[True], (np.diff(day) != 0) | (np.diff(second) != 0)])
    sums = tuple(
        np.add.reduceat(np.concatenate([part[2][channel] for part in parts])[order], np.flatnonzero(new))
        for channel in range(len(parts[0][2]))
    )
    return day[new], second[new], sums
