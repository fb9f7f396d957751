"""A run in a few numbers."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from farweb.results import caches as totals
from farweb.results import failures, legs
from farweb.results.caches import CacheTotals
from farweb.results.failures import FailureTotals
from farweb.results.legs import LegTotals
from farweb.results.metrics import carried_bps, goodput_bps
from farweb.statistics.quantiles import quantiles, to_json, with_lost
from farweb.text.quantities import count, rate, seconds, share, size
from farweb.text.sheet import Sheet, to_html, to_rich

if TYPE_CHECKING:
    import polars as pl
    from rich.console import RenderableType

    from farweb.results.run import RunTables

_NS = 1e9


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

    def told(self, value: float | None) -> str:
        """A quantile in words: ``342 ms``, or ``more than 78.2 s`` where failed requests reach it."""
        if value is None or math.isfinite(value):
            return seconds(value)
        return seconds(value) if self.max_s is None else f"more than {seconds(self.max_s)}"


@dataclasses.dataclass(frozen=True)
class LinkTotals:
    """One direction of a link over the whole run."""

    link: int
    direction: str
    from_node: str
    to_node: str
    rate_bps: float
    """IP bits carried, a second of the run."""
    busy: float
    """Share of the run in which it was transmitting, 0 to 1."""
    packets: int
    drops: int
    queue_bytes_mean: float
    queue_bytes_max: int

    def cells(self) -> list[str]:
        """What tables for people say of it."""
        return [
            f"{self.from_node} → {self.to_node}",
            rate(self.rate_bps),
            share(self.busy),
            count(self.packets),
            count(self.drops),
            size(self.queue_bytes_mean),
            size(self.queue_bytes_max),
        ]


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
    """From the request at the first node to the last byte of its response there."""
    first_byte: Quantiles
    """From the request at the first node to the first byte of its response there."""
    response_bytes: int
    """Responses of finished requests, headers included."""
    goodput_bps: float | None
    """`response_bytes` in bits, over the time from the first start to the last end, both after the warm-up."""
    retransmits: int
    timeouts: int
    connections: int | None
    """None when the run did not record them."""
    links: tuple[LinkTotals, ...]
    legs: tuple[LegTotals, ...]
    """Empty for results of a farweb that did not measure them."""
    caches: tuple[CacheTotals, ...]
    """From the clients on; empty where there are none."""
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
                *(count(self.requests), share(self.failed_share)),
                *map(q.told, (q.p50_s, q.p90_s, q.p99_s)),
                *(self.of_ended(seconds(value)) for value in (q.mean_s, q.max_s)),
            ]
            for label, q in (("latency", self.latency), ("first byte", self.first_byte))
        ]
        facts = [
            ["finished", count(self.done)],
            ["failed", count(self.failed)],
            ["unfinished at the end", count(self.unfinished)],
            ["left out (warm-up)", count(self.left_out)],
            ["response bytes", size(self.response_bytes)],
            ["goodput", rate(self.goodput_bps)],
            ["segments sent again", count(self.retransmits)],
            ["timeouts", count(self.timeouts)],
            ["connections", count(self.connections)],
            ["simulated time", seconds(self.simulated_s)],
            ["packet-hops", count(self.packet_hops)],
            ["wall time", seconds(self.wall_s)],
        ]
        links = [link.cells() for link in self.links]
        told = [
            Sheet(f"{self.name}, seed {self.seed}", header, times),
            Sheet("Requests", ["", "value"], facts),
        ]
        told.extend(failures.sheets(self.failures))
        if links:
            header = ["link", "carried", "busy", "packets", "drops", "mean queue", "peak queue"]
            told.append(Sheet("Links", header, links))
        return [*told, *totals.sheets(self.caches), *legs.sheets({self.name: self.legs})]

    def of_ended(self, text: str) -> str:
        """What is said of the requests that ended, with the share of all that they are where they are not all."""
        if not self.failed_share or not self.latency.n:
            return text
        return f"{text} (of {share(1 - self.failed_share)})"


def summarize(results: "RunTables") -> Summary:
    """The summary of `results`; reads the columns that it needs, and keeps 16 bytes a request."""
    import polars as pl

    manifest = results.manifest
    warmup = results.warmup_ns
    requests = results.scan("requests")
    counted = pl.col("start_ns") >= warmup
    done = counted & (pl.col("status") == "done")
    times = requests.filter(done).select(
        latency=(pl.col("end_ns") - pl.col("start_ns")) / _NS,
        first_byte=(pl.col("first_byte_ns") - pl.col("start_ns")) / _NS,
    )
    ended = times.collect(engine="streaming")
    row = (
        requests.select(
            pl.len().alias("all"),
            counted.sum().alias("requests"),
            *((counted & (pl.col("status") == status)).sum().alias(status) for status in _STATUSES),
            pl.col("response_bytes").filter(done).sum(),
            pl.col("start_ns").filter(counted).min().alias("from_ns"),
            pl.col("end_ns").filter(done).max().alias("to_ns"),
            pl.col("retransmits", "timeouts").filter(counted).sum(),
        )
        .collect(engine="streaming")
        .row(0, named=True)
    )
    lost = row["requests"] - row["done"]
    return Summary(
        name=results.name,
        seed=manifest["seed"],
        simulated_s=manifest["now_ns"] / _NS,
        requests=row["requests"],
        done=row["done"],
        failed=row["failed"],
        unfinished=row["unfinished"],
        left_out=row["all"] - row["requests"],
        failed_share=lost / row["requests"] if row["requests"] else None,
        failures=failures.failures_of(results),
        latency=_distribution(ended["latency"], lost),
        first_byte=_distribution(ended["first_byte"], lost),
        response_bytes=row["response_bytes"],
        goodput_bps=goodput_bps(row["response_bytes"], row["from_ns"], row["to_ns"]),
        retransmits=row["retransmits"],
        timeouts=row["timeouts"],
        connections=manifest["rows"].get("connections"),
        links=tuple(_link(link, manifest["scenario"]["path"]["nodes"]) for link in manifest["links"]),
        legs=legs.legs_of(results),
        caches=totals.caches_of(results),
        events=manifest["events"],
        packet_hops=manifest["packet_hops"],
        wall_s=manifest["wall_s"],
        cpu_s=manifest["cpu_s"],
    )


_STATUSES = ("done", "failed", "unfinished")


def _distribution(ended: "pl.Series", lost: int) -> Quantiles:
    """The distribution of times of requests that ended, and of as many as did not."""
    p50, p90, p99 = quantiles(with_lost(ended, lost), (0.5, 0.9, 0.99))
    return Quantiles(len(ended), ended.mean(), p50, p90, p99, ended.max())  # type: ignore[arg-type]


def _link(link: Mapping[str, Any], nodes: Sequence[str]) -> LinkTotals:
    ends = nodes[link["link"]], nodes[link["link"] + 1]
    from_node, to_node = ends if link["direction"] == "up" else ends[::-1]
    return LinkTotals(
        link=link["link"],
        direction=link["direction"],
        from_node=from_node,
        to_node=to_node,
        rate_bps=carried_bps(link) or 0.0,
        busy=link["busy"],
        packets=link["packets"],
        drops=link["drops"],
        queue_bytes_mean=link["queue_bytes_mean"],
        queue_bytes_max=link["queue_bytes_max"],
    )
