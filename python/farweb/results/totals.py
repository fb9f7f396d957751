"""Totals of a run: what each link carried, each cache served, and which requests have no whole response, by cause."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farweb.files.columns import NULL_CODE
from farweb.files.parquet import equals
from farweb.results.legs import fields_in
from farweb.results.run import RunTables
from farweb.text.parse import parse
from farweb.text.quantities import began, count, rate, seconds, share, size

_NS = 1e9
_SECOND_NS, _MINUTE_NS = 10**9, 60 * 10**9


@dataclass(frozen=True)
class Busiest:
    """The busiest minute of a direction of a link, or its busiest interval where the recorded ones are longer.

    Attributes:
        busy: Share of it in which the link was transmitting, 0 to 1.
        from_s: Its begin, since the start of the run.
        origin_unix_s: Start of the run on the clock of its log. None: it has none, or keeps none at another speed.
    """

    busy: float
    from_s: float
    lasts_s: float
    origin_unix_s: float | None

    @property
    def text(self) -> str:
        """Its share and time in words."""
        lasts = "minute" if self.lasts_s <= 60 else seconds(self.lasts_s)
        busy, begin = self.cells()
        return f"{busy} in the busiest {lasts} (from {begin} on)"

    def cells(self) -> list[str]:
        """Cells of tables for people."""
        return [share(self.busy), began(self.from_s, self.origin_unix_s)]


@dataclass(frozen=True)
class LinkTotals:
    """One direction of a link over the whole run.

    Attributes:
        rate_bps: IP bits carried, a second of the run.
        busy: Share of the run in which it was transmitting, 0 to 1.
        reasons: The drops by reason, where there are two or more.
        marks: Packets marked by ECN.
        busiest: None where the run recorded no intervals, or ended before.
    """

    link: int
    direction: str
    from_node: str
    to_node: str
    rate_bps: float
    busy: float
    packets: int
    drops: int
    reasons: str
    marks: int
    queue_bytes_mean: float
    queue_bytes_max: int
    busiest: Busiest | None

    @property
    def name(self) -> str:
        """The direction by its ends."""
        return f"{self.from_node} to {self.to_node}"

    def cells(self) -> list[str]:
        """Cells of tables for people."""
        return [
            self.name,
            rate(self.rate_bps),
            share(self.busy),
            count(self.packets),
            count(self.drops) + (f": {self.reasons}" if self.reasons else "") + marked(self.marks),
            size(self.queue_bytes_mean),
            size(self.queue_bytes_max),
        ]


LINK_COLUMNS = ("link", "throughput", "busy", "packets", "drops", "mean queue", "peak queue")
"""Header of the cells of links."""


def links_of(
    manifest: Mapping[str, Any], busiest: Mapping[tuple[int, str], Busiest] | None = None
) -> tuple[LinkTotals, ...]:
    """Each direction of each link of a run.

    Args:
        manifest: Of the run.
        busiest: See `busiest_of`.
    """
    nodes = manifest["scenario"]["path"]["nodes"]
    found = []
    for link in manifest["links"]:
        ends = nodes[link["link"]], nodes[link["link"] + 1]
        from_node, to_node = ends if link["direction"] == "up" else ends[::-1]
        kept = {**fields_in(LinkTotals, link), "rate_bps": carried_bps(link) or 0.0, "reasons": reasons_of(link)}
        kept["busiest"] = (busiest or {}).get((link["link"], link["direction"]))
        found.append(LinkTotals(**{"marks": 0, **kept, "from_node": from_node, "to_node": to_node}))
    return tuple(found)


def busiest_of(results: RunTables) -> dict[tuple[int, str], Busiest]:
    """The busiest minute by link and direction; empty without recorded intervals, or where the run is shorter.

    Memory grows by the seconds of the run, or by its recorded intervals where these are longer.
    """
    if not results.has("links"):
        return {}
    scenario, requests = results.manifest["scenario"], results.manifest["inputs"].get("requests", {})
    has_clock = scenario["workload"].get("speed") in (None, 1)
    origin_unix_s = requests.get("origin_unix_s") if has_clock else None
    ways = 2 * (len(scenario["path"]["nodes"]) - 1)
    step_ns, sums = 0, np.zeros(0)
    for columns in results.table("links").columns(("link", "direction", "time_ns", "interval_ns", "busy")):
        every_ns = np.asarray(columns["interval_ns"])
        step_ns = step_ns or int(every_ns[0]) * max(1, _SECOND_NS // int(every_ns[0]))
        way = 2 * np.asarray(columns["link"]) + equals(columns["direction"], "down")
        places = (np.asarray(columns["time_ns"]) - 1) // step_ns * ways + way
        found = np.bincount(places, np.asarray(columns["busy"]) * every_ns, len(sums))
        sums = np.add(found, np.pad(sums, (0, len(found) - len(sums))), dtype=np.float64)
    by_step = np.pad(sums, (0, -len(sums) % ways)).reshape(-1, ways)
    steps = max(1, _MINUTE_NS // step_ns) if step_ns else 1
    if len(by_step) < steps:
        return {}
    until = np.vstack([np.zeros(ways), np.cumsum(by_step, axis=0)])
    windows, lasts_ns = until[steps:] - until[:-steps], steps * step_ns
    return {
        (way // 2, "down" if way % 2 else "up"): Busiest(
            float(windows[first, way]) / lasts_ns, int(first) * step_ns / _NS, lasts_ns / _NS, origin_unix_s
        )
        for way, first in enumerate(np.argmax(windows, axis=0))
    }


def carried_bps(link: Mapping[str, Any]) -> float | None:
    """Bits that a direction of a link carried, over the length of the interval; None where that is no time."""
    span_s = link["interval_ns"] / _NS
    return 8 * link["bytes"] / span_s if span_s > 0 else None


REASONS = {"drops_full": "by a full queue", "drops_aqm": "by AQM", "drops_loss": "by loss"}
"""Columns with the drops of a link by reason, in words; results of earlier states of farweb have none."""


def reasons_of(link: Mapping[str, Any]) -> str:
    """Drops of a link by reason in words; empty where there is one reason, or none is known."""
    parts = [f"{count(link[name])} {why}" for name, why in REASONS.items() if link.get(name)]
    return ", ".join(parts) if len(parts) > 1 else ""


def marked(marks: int) -> str:
    """Marks beside drops, in words; empty without any."""
    return f"; {count(marks)} marked" if marks else ""


@dataclass(frozen=True)
class CacheTotals:
    """A cache: the requests that came to it after the warm-up, and its contents at the end of the run.

    A request that is neither a hit nor a delayed hit nor a bypass is a miss.

    Attributes:
        holds: Policy and capacity, or how its hits are known.
        hits: Served from its copies; delayed hits left out.
        delayed_hits: Served from a fetch that was under way.
        bypasses: Requests with responses of a size that it does not keep.
        revalidations: Hits on stale copies that a conditional request found unchanged.
        hit_ratio: `hits` over `requests`; None without requests, as those below.
        delayed_hit_ratio: `delayed_hits` over `requests`.
        byte_hit_ratio: Response bytes of hits over bytes of all requests; delayed hits left out.
    """

    node: str
    holds: str
    requests: int
    hits: int
    delayed_hits: int
    bypasses: int
    revalidations: int
    hit_ratio: float | None
    delayed_hit_ratio: float | None
    byte_hit_ratio: float | None
    objects: int
    bytes: int

    def cells(self) -> list[str]:
        """Cells of tables for people."""
        return [
            self.node,
            self.holds,
            count(self.requests),
            share(self.hit_ratio),
            share(self.delayed_hit_ratio),
            share(self.byte_hit_ratio),
            count(self.revalidations),
            f"{count(self.objects)} / {size(self.bytes)}",
        ]


def caches_of(results: RunTables) -> tuple[CacheTotals, ...]:
    """The caches of a run, from the clients on; empty where there are none."""
    manifest = results.manifest
    path: list[str] = manifest["scenario"]["path"]["nodes"]
    found = (
        _cache(manifest["scenario"]["cache"][measured["cache"]], measured)
        for measured in manifest["measured"]["caches"]
    )
    return tuple(sorted(found, key=lambda cache: path.index(cache.node)))


def ratios(measured: Mapping[str, Any]) -> dict[str, float | None]:
    """Hits of a cache, as shares of its requests; None without any."""
    requests, in_bytes = measured["requests"], measured["request_bytes"]
    return {
        "hit_ratio": measured["hits"] / requests if requests else None,
        "delayed_hit_ratio": measured["delayed_hits"] / requests if requests else None,
        "byte_hit_ratio": measured["hit_bytes"] / in_bytes if in_bytes else None,
    }


def _cache(scenario: Mapping[str, Any], measured: Mapping[str, Any]) -> CacheTotals:
    known = {**measured, **ratios(measured), "node": scenario["node"], "holds": _holds(scenario)}
    return CacheTotals(**fields_in(CacheTotals, known))


def _holds(scenario: Mapping[str, Any]) -> str:
    """Contents of a cache, in a few words."""
    if "policy" in scenario:
        siblings = f"{scenario['siblings']} × " if scenario["siblings"] > 1 else ""
        return f"{siblings}{size(float(parse(scenario['capacity']).number))}, {scenario['policy']}"
    if "hit_ratio" in scenario:
        return f"{share(scenario['hit_ratio'])}, drawn"
    return "as the table lists"


MEANINGS = {
    "refused": "A reset answered the SYN or the SYN-ACK.",
    "handshake timed out": "Nothing answered the SYN or the SYN-ACK, however often it was sent again.",
    "reset": "A reset came on the established connection.",
    "server gave up": "A server or proxy got no answer to the response that it sent again, or closed before its end.",
    "client gave up": "The client ended it after clients.give_up, or got no answer to what it sent again.",
    "proxy lost": "One of these happened on a leg behind a proxy, which passed it on.",
    "run ended": "The end of the run came first, or nothing was left to happen.",
}
"""Meaning of each cause, in the order of tables. Source: the column `failure` of `farweb schema results`."""


@dataclass(frozen=True)
class FailureTotals:
    """Requests after the warm-up that failed or were cut off, of one cause.

    Attributes:
        share: Share of all requests after the warm-up, 0 to 1.
        after_p50_s: Median time from the start of a request to its failure, or to the end of the run that cut it off,
            in seconds.
    """

    cause: str
    requests: int
    share: float
    after_p50_s: float
    meaning: str

    def cells(self) -> list[str]:
        """Cells of tables for people."""
        return [self.cause, count(self.requests), share(self.share), seconds(self.after_p50_s)]


def failures_of(results: RunTables, requests: int) -> tuple[FailureTotals, ...]:
    """The causes that there were, in the order of `MEANINGS`.

    Args:
        results: The run.
        requests: Requests after the warm-up, the whole of the causes' shares.
    """
    after_ns: dict[str, list[NDArray[np.int64]]] = {}
    batches: Iterable[Mapping[str, Any]] = results.table("requests").columns(("start_ns", "failure", "failed_ns"))
    for columns in batches:
        start, (codes, words), failed = columns["start_ns"], columns["failure"], columns["failed_ns"]
        counted = (codes != NULL_CODE) & (start >= results.warmup_ns)
        for code in np.unique(codes[counted]):
            own = counted & (codes == code)
            after_ns.setdefault(words[code], []).append(failed[own] - start[own])
    found = {cause: np.concatenate(each) / _NS for cause, each in after_ns.items()}
    return tuple(
        FailureTotals(cause, len(after_s), len(after_s) / requests, float(np.median(after_s)), meaning)
        for cause, meaning in MEANINGS.items()
        if (after_s := found.get(cause)) is not None
    )
