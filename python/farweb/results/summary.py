"""Summary of a run in a few numbers."""

import dataclasses
import math
from typing import TYPE_CHECKING, Any

from farweb.results.clients import ClientTotals, clients_of
from farweb.results.distribution import Distribution, distributions
from farweb.results.legs import LegTotals, legs_of, sheets
from farweb.results.measure import tunnel_share
from farweb.results.totals import CacheTotals, FailureTotals, LinkTotals, caches_of, failures_of, links_of
from farweb.statistics.quantiles import to_json
from farweb.text.quantities import count, rate, seconds, share, size
from farweb.text.sheet import Sheet, to_html, to_rich

if TYPE_CHECKING:
    from rich.console import RenderableType

    from farweb.results.run import RunTables

_NS = 1e9
_VISITS = {"first": "visit_first", "later": "visit_later"}  # groups of `farweb.results.metrics`


@dataclasses.dataclass(frozen=True)
class Quantiles:
    """A distribution of times in seconds; quantiles are interpolated linearly between the two nearest values.

    Mean and maximum are of the `n` requests that ended. Quantiles are of all: one that did not end counts as slower
    than any that did, and where a quantile falls among those it is infinite: all that is known is that it is more
    than `max_s`. All but `n` are None when there is no value.
    """

    n: int
    mean_s: float | None
    p50_s: float | None
    p90_s: float | None
    p99_s: float | None
    max_s: float | None

    def text(self, value: float | None) -> str:
        """A quantile in words: ``342 ms``, or ``more than 78.2 s`` where failed requests reach it."""
        if value is None or math.isfinite(value):
            return seconds(value)
        return seconds(value) if self.max_s is None else f"more than {seconds(self.max_s)}"


@dataclasses.dataclass(frozen=True)
class VisitTotals:
    """The requests that begin visits, or those that follow in them."""

    place: str
    """`first` or `later`."""
    requests: int
    failed_share: float | None
    latency: Quantiles


@dataclasses.dataclass(frozen=True)
class Summary:
    """A run in a few numbers.

    Requests that began before the scenario's `run.warmup` are counted in `left_out` and in nothing else; connections,
    links and events are those of the whole run. Of legs, what was open at a time is that of the measured interval.
    """

    name: str
    seed: int
    simulated_s: float
    requests: int
    """Requests that began at or after the end of the warm-up."""
    done: int
    failed: int
    unfinished: int
    left_out: int
    failed_share: float | None
    """`failed` and `unfinished` over `requests`; None of no requests."""
    failures: tuple[FailureTotals, ...]
    """Requests that failed or were cut off, by cause; empty for results of a farweb that did not record it."""
    latency: Quantiles
    """Times from the request at the first node to the last byte of its response there."""
    first_byte: Quantiles
    """Times from the request at the first node to the first byte of its response there."""
    clients: ClientTotals | None
    """None where requests name no client."""
    visits: tuple[VisitTotals, ...]
    """First and later requests of visits; empty where requests name no client."""
    response_bytes: int
    """Responses of finished requests, headers included."""
    goodput_bps: float | None
    """`response_bytes` in bits, over the time from the first start to the last end, both after the warm-up."""
    tunnel_share: float | None
    """Share of the presented load in tunnels (CONNECT), 0 to 1; None in results of an older farweb."""
    retransmits: int
    timeouts: int
    connections: int | None
    """None when the run did not record them."""
    links: tuple[LinkTotals, ...]
    legs: tuple[LegTotals, ...]
    """Empty for results of a farweb that did not measure them."""
    caches: tuple[CacheTotals, ...]
    """Caches from the clients on; empty where there are none."""
    events: int
    packet_hops: int
    wall_s: float
    cpu_s: float

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON: what is infinite is None."""
        found: dict[str, Any] = to_json(dataclasses.asdict(self))
        return found

    def __rich__(self) -> "RenderableType":
        return to_rich(self._sheets())

    def _repr_html_(self) -> str:
        return to_html(self._sheets())

    def _sheets(self) -> list[Sheet]:
        header = ["", "n", "not answered", "median", "90 %", "99 %", "mean", "max"]
        times = [
            [
                label,
                *(count(requests), share(lost)),
                *map(q.text, (q.p50_s, q.p90_s, q.p99_s)),
                *(_of_ended(seconds(value), q.n, lost) for value in (q.mean_s, q.max_s)),
            ]
            for label, requests, lost, q in (
                ("latency", self.requests, self.failed_share, self.latency),
                *((f"  {of.place} of a visit", of.requests, of.failed_share, of.latency) for of in self.visits),
                ("first byte", self.requests, self.failed_share, self.first_byte),
            )
        ]
        facts = [
            ["finished", count(self.done)],
            ["failed", count(self.failed)],
            ["unfinished at the end", count(self.unfinished)],
            ["left out (warm-up)", count(self.left_out)],
            ["response bytes", size(self.response_bytes)],
            ["goodput", rate(self.goodput_bps)],
            *([["of the load in tunnels", share(self.tunnel_share)]] if self.tunnel_share else []),
            ["segments sent again", count(self.retransmits)],
            ["timeouts", count(self.timeouts)],
            ["connections", count(self.connections)],
            *([] if self.clients is None else self.clients.facts()),
            ["simulated time", seconds(self.simulated_s)],
            ["packet-hops", count(self.packet_hops)],
            ["wall time", seconds(self.wall_s)],
        ]
        first = [
            Sheet(f"{self.name}, seed {self.seed}", header, times),
            Sheet("Requests", ["", "value"], facts),
            Sheet(
                "Requests without a whole response",
                ["cause", "meaning", "requests", "of all", "after, median"],
                [cause.cells() for cause in self.failures],
                names=2,
            ),
            Sheet(
                "Links",
                ["link", "carried", "busy", "packets", "drops", "mean queue", "peak queue"],
                [link.cells() for link in self.links],
            ),
            Sheet(
                "Caches, after the warm-up",
                ["cache", "holds", "requests", "hits", "delayed", "bytes hit", "asked again", "holds at the end"],
                [cache.cells() for cache in self.caches],
                names=2,
            ),
        ]
        return [*(sheet for sheet in first if sheet.rows), *sheets({self.name: self.legs})]

    def of_ended(self, text: str) -> str:
        """Text about the requests that ended, with the share of all that they are where they are not all."""
        return _of_ended(text, self.latency.n, self.failed_share)


def _of_ended(text: str, ended: int, lost: float | None) -> str:
    return f"{text} (of {share(1 - lost)})" if lost and ended else text


def summarize(results: "RunTables") -> Summary:
    """The summary of `results`; memory does not grow with the number of requests that ended."""
    manifest = results.manifest
    requests, times = distributions(results.table("requests"), results.warmup_ns, (0.5, 0.9, 0.99))
    counts = requests.of
    return Summary(
        name=results.name,
        seed=manifest["seed"],
        simulated_s=manifest["now_ns"] / _NS,
        requests=counts["requests"],
        done=counts["done"],
        failed=counts["failed"],
        unfinished=counts["unfinished"],
        left_out=counts["left_out"],
        failed_share=requests.failed_share(),
        failures=failures_of(results, counts["requests"]),
        latency=_quantiles(times["latency"]),
        first_byte=_quantiles(times["first_byte"]),
        clients=clients_of(results),
        visits=tuple(
            VisitTotals(place, number, requests.failed_share(group), _quantiles(times[f"{group}_latency"]))
            for place, group in _VISITS.items()
            if (number := counts[f"{group}_requests"])
        ),
        response_bytes=counts["response_bytes"],
        goodput_bps=requests.goodput_bps,
        tunnel_share=tunnel_share(manifest.get("measured", {})),
        retransmits=counts["retransmits"],
        timeouts=counts["timeouts"],
        connections=manifest["rows"].get("connections"),
        links=links_of(manifest),
        legs=legs_of(results),
        caches=caches_of(results),
        events=manifest["events"],
        packet_hops=manifest["packet_hops"],
        wall_s=manifest["wall_s"],
        cpu_s=manifest["cpu_s"],
    )


def _quantiles(of: Distribution) -> Quantiles:
    p50, p90, p99 = of.quantiles
    return Quantiles(of.n, of.mean, p50, p90, p99, of.largest)
