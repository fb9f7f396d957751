"""Summary of a run in a few numbers."""

import dataclasses
import math
from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING

from farweb.results.clients import ClientTotals, clients_of
from farweb.results.distribution import Distribution, distributions
from farweb.results.legs import LegTotals, legs_of, sheets
from farweb.results.measure import tunnel_share
from farweb.results.run import RunTables
from farweb.results.totals import (
    LINK_COLUMNS,
    CacheTotals,
    FailureTotals,
    LinkTotals,
    busiest_of,
    caches_of,
    failures_of,
    links_of,
    marked,
)
from farweb.statistics.quantiles import has_quantile
from farweb.text.quantities import count, in_one_unit, rate, seconds, share, size
from farweb.text.sheet import Screen, Sheet, Shown
from farweb.text.words import plural

if TYPE_CHECKING:
    from farweb.results.parts import Kind

_NS = 1e9
_VISITS = {"first": "visit_first", "later": "visit_later"}  # groups of `farweb.results.metrics`


@dataclasses.dataclass(frozen=True)
class Quantiles:
    """A distribution of times in seconds; quantiles are interpolated linearly between the two nearest values.

    `p50_observed_s`, `p90_observed_s` and `p99_observed_s` are the smallest times that half, 90 % and 99 % of all
    requests took at most; these are on the screen.

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
    p50_observed_s: float | None
    p90_observed_s: float | None
    p99_observed_s: float | None

    def text(self, value: float | None) -> str:
        """A quantile in words: ``342 ms``, or ``more than 78.2 s`` where failed requests reach it."""
        if value is None or math.isfinite(value):
            return seconds(value)
        return seconds(value) if self.max_s is None else f"more than {seconds(self.max_s)}"


@dataclasses.dataclass(frozen=True)
class VisitTotals:
    """The requests that begin visits, or the later ones.

    Attributes:
        place: `first` or `later`.
    """

    place: str
    requests: int
    failed_share: float | None
    latency: Quantiles


@dataclasses.dataclass(frozen=True)
class Summary(Shown):
    """A run in a few numbers.

    Requests that began before the scenario's `run.warmup` count in `left_out` alone. Connections, links and
    events are of the whole run, connections open at a time of the measured interval.

    Attributes:
        requests: Requests that began at or after the end of the warm-up.
        failed_share: `failed` and `unfinished` over `requests`; None of no requests.
        failures: Requests that failed or were cut off, by cause.
        latency: Times from the request at the first node to the last byte of its response there.
        first_byte: Times from the request at the first node to the first byte of its response there.
        mean_parts: Parts of the mean latency in s, as `farweb.results.breakdown` has them; None without a table of
            exchanges.
        clients: None where requests name no client.
        visits: First and later requests of visits; empty where requests name no client.
        response_bytes: Responses of finished requests, headers included.
        goodput_bps: `response_bytes` in bits, over the time from the first start to the last end, both after the
            warm-up.
        tunnel_share: Share of the presented load in tunnels (CONNECT), 0 to 1; None without a load.
        connections: None when the run did not record them.
        caches: Caches from the clients on; empty where there are none.
    """

    name: str
    seed: int
    simulated_s: float
    requests: int
    done: int
    failed: int
    unfinished: int
    left_out: int
    failed_share: float | None
    failures: tuple[FailureTotals, ...]
    latency: Quantiles
    first_byte: Quantiles
    mean_parts: "Mapping[Kind, float] | None"
    clients: ClientTotals | None
    visits: tuple[VisitTotals, ...]
    response_bytes: int
    goodput_bps: float | None
    tunnel_share: float | None
    retransmits: int
    timeouts: int
    connections: int | None
    links: tuple[LinkTotals, ...]
    legs: tuple[LegTotals, ...]
    caches: tuple[CacheTotals, ...]
    events: int
    packet_hops: int
    wall_s: float
    cpu_s: float

    @property
    def nine_tenths_s(self) -> float | None:
        """The smallest time in s that 90 % of the requests took at most; None of fewer than 10."""
        return self.latency.p90_observed_s if has_quantile(self.requests, 0.9) else None

    @property
    def answer(self) -> str:
        """How long requests take, in a sentence."""
        if not self.requests:
            return f"No request began{' after the warm-up' if self.left_out else ''}."
        cut_off = f", {count(self.unfinished)} cut off by the end of the run" if self.unfinished else ""
        lost = f"{count(self.failed)} failed{cut_off}"
        of, half, most = plural(self.requests, "request"), self.latency.p50_observed_s, self.nine_tenths_s
        if half is None or math.isinf(half):
            return f"At least half of {of} failed or were cut off: {lost}."
        if self.requests == 1:
            return f"The only request takes {seconds(half)}."
        if most is None or math.isinf(most):
            return f"Half of {of} take {seconds(half)} or less; {lost}."
        return f"Half of {of} take {seconds(half)} or less, 90 % take {seconds(most)} or less; {lost}."

    def screen(self, more: Collection[str] = (), called: str = "") -> Screen:
        """The answer in a screen, and the parts asked for beside it.

        Args:
            more: Of `SHOWN`.
            called: Command that shows more, where it is another one: ``farweb show results/link``.
        """
        hints = [f"--{name}" for name in ("links", "breakdown", "details") if name not in more]
        if self.mean_parts is None:
            hints.remove("--breakdown")
        facts = [*self._facts(), f"more: {called} {' '.join(hints)}".replace("  ", " ")]
        tables = self._sheets() if "details" in more else self._of_links() if "links" in more else []
        return Screen((self.answer, "", self._latency(), "", *facts, *tables))

    def _latency(self) -> Sheet:
        """Distributions of times, in one unit."""
        rows = [
            ("all", self.requests, self.failed_share, self.latency),
            *(
                ("  first of a visit" if of.place == "first" else "  later", of.requests, of.failed_share, of.latency)
                for of in self.visits
            ),
        ]
        every = [*(of for *_, of in rows), self.first_byte]
        write, unit = in_one_unit(
            value
            for of in every
            for value in (of.mean_s, of.p50_observed_s, of.p90_observed_s, of.p99_observed_s, of.max_s)
        )
        columns = [percent for percent in (90, 99) if has_quantile(self.requests, percent / 100)]

        def cells(requests: int, of: Quantiles) -> list[str]:
            values = {90: of.p90_observed_s, 99: of.p99_observed_s}
            high = [write(values[each]) if has_quantile(requests, each / 100) else "" for each in columns]
            return [count(requests), write(of.mean_s), write(of.p50_observed_s), *high, write(of.max_s)]

        shown = [[label, *cells(number, of), count(round((lost or 0) * number))] for label, number, lost, of in rows]
        header = [f"latency, {unit}", "requests", "mean", "median", *(f"{each} %" for each in columns), "max", "failed"]
        return Sheet("", header, [*shown, ["first byte", *cells(self.requests, self.first_byte), ""]])

    def _facts(self) -> Iterator[str]:
        """Lines about the mean, failures, the fullest link and caches."""
        if self.latency.mean_s is not None:
            mean = f"mean {self.of_ended(seconds(self.latency.mean_s))}"
            why = f": {_largest(self.mean_parts)}" if self.mean_parts else ""
            yield f"{mean}{why or '; record.exchanges = true says where it goes'}"
        if self.left_out:
            yield f"in the warm-up: {plural(self.left_out, 'request')}, in no number above"
        if self.failures:
            causes = ", ".join(f"{count(of.requests)} {of.cause}" for of in self.failures)
            yield f"failed: {causes}"
        if self.links:
            fullest = max(self.links, key=lambda link: link.busy if link.busiest is None else link.busiest.busy)
            drops = sum(link.drops for link in self.links)
            lost = f"{plural(drops, 'drop')} on all links" if drops else "no drops"
            lost += marked(sum(link.marks for link in self.links))
            busiest = "" if fullest.busiest is None else f", {fullest.busiest.text}"
            yield f"fullest link: {fullest.name}, {share(fullest.busy)} busy over the run{busiest}; {lost}"
        for cache in self.caches:
            bytes_hit = f", {share(cache.byte_hit_ratio)} of bytes" if cache.byte_hit_ratio is not None else ""
            asked = f"; {count(cache.revalidations)} of them revalidated" if cache.revalidations else ""
            waited = f"; delayed hits for {share(cache.delayed_hit_ratio)} more" if cache.delayed_hits else ""
            yield f"cache at {cache.node}: hits for {share(cache.hit_ratio)} of requests{bytes_hit}{asked}{waited}"

    def _of_links(self) -> list[Sheet]:
        links = Sheet(
            "Links, over the whole run",
            LINK_COLUMNS,
            [link.cells() for link in self.links],
        )
        busiest = Sheet(
            "Busiest minute",
            ["link", "busy", "from"],
            [[link.name, *link.busiest.cells()] for link in self.links if link.busiest is not None],
        )
        return [links, *([busiest] if busiest.rows else []), *sheets({self.name: self.legs})]

    def _sheets(self) -> list[Sheet]:
        facts = [
            ["finished", count(self.done)],
            ["failed", count(self.failed)],
            ["cut off by the end of the run", count(self.unfinished)],
            ["in the warm-up", count(self.left_out)],
            ["response bytes", size(self.response_bytes)],
            ["goodput", rate(self.goodput_bps)],
            *([["of the load in tunnels", share(self.tunnel_share)]] if self.tunnel_share else []),
            ["retransmissions", count(self.retransmits)],
            ["timeouts", count(self.timeouts)],
            ["connections", count(self.connections)],
            *([] if self.clients is None else self.clients.facts()),
            ["seed", str(self.seed)],
            ["simulated time", seconds(self.simulated_s)],
            ["packets over links", count(self.packet_hops)],
            ["wall time", seconds(self.wall_s)],
        ]
        caches = Sheet(
            "Caches, after the warm-up",
            ["cache", "holds", "requests", "hits", "delayed", "bytes hit", "revalidated", "at the end"],
            [cache.cells() for cache in self.caches],
            names=2,
        )
        failures = Sheet(
            "Failed requests",
            ["cause", "requests", "of all", "after, median"],
            [cause.cells() for cause in self.failures],
        )
        found = [Sheet("Requests", ["", "value"], facts), failures, caches, *self._of_links()]
        return [sheet for sheet in found if sheet.rows]

    def of_ended(self, text: str) -> str:
        """Text about the requests that ended, with the share of all that they are where they are not all."""
        return _of_ended(text, self.latency.n, self.failed_share)


def _of_ended(text: str, ended: int, lost: float | None) -> str:
    return f"{text} (of {share(1 - lost)})" if lost and ended else text


def summarize(results: RunTables) -> Summary:
    """The summary of `results`; memory does not grow with the number of requests that ended."""
    manifest = results.manifest
    requests, of_times = distributions(results.table("requests"), results.warmup_ns, (0.5, 0.9, 0.99))
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
        latency=_quantiles(of_times["latency"]),
        first_byte=_quantiles(of_times["first_byte"]),
        mean_parts=_mean_parts(results) if of_times["latency"].n else None,
        clients=clients_of(results),
        visits=tuple(
            VisitTotals(place, number, requests.failed_share(group), _quantiles(of_times[f"{group}_latency"]))
            for place, group in _VISITS.items()
            if (number := counts[f"{group}_requests"])
        ),
        response_bytes=counts["response_bytes"],
        goodput_bps=requests.goodput_bps,
        tunnel_share=tunnel_share(manifest["measured"]),
        retransmits=counts["retransmits"],
        timeouts=counts["timeouts"],
        connections=manifest["rows"].get("connections"),
        links=links_of(manifest, busiest_of(results)),
        legs=legs_of(results),
        caches=caches_of(results),
        events=manifest["events"],
        packet_hops=manifest["packet_hops"],
        wall_s=manifest["wall_s"],
        cpu_s=manifest["cpu_s"],
    )


# Polars takes longer to load than a small run: only exchanges need it.
def _mean_parts(results: RunTables) -> "dict[Kind, float] | None":
    if not results.has("exchanges"):
        return None
    from farweb.results.breakdown import break_down

    return break_down(results, tagged=False).means_s


def _largest(mean_parts: "Mapping[Kind, float]") -> str:
    from farweb.results.breakdown import largest_parts

    return largest_parts(mean_parts)


def _quantiles(of: Distribution) -> Quantiles:
    (p50, p90, p99), observed = of.quantiles, of.observed
    return Quantiles(of.n, of.mean, p50, p90, p99, of.largest, *observed)
