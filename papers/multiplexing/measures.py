"""What the studies of multiplexing between two proxies read off their curves, over a cable or an asymmetric circuit.

Their sweeps are `no-proxy` (the load), `proxy` and `few` (numbers of connections between the proxies, and the load).
"""

import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from farweb.errors import ResultsError
from farweb.reproduce.claims import Measured
from farweb.reproduce.curves import Curve, Floats, curve, largest, means, ratios, rises, slopes
from farweb.reproduce.study import StudyResults
from farweb.results.breakdown import Breakdown, break_down
from farweb.results.parts import Kind
from farweb.statistics.intervals import student

LATENCY = "sample_latency_mean_s"
CONNECTIONS = "leg.0.carrier.connections"

_FLAT = (0.15, 0.80)
"""Between which shares of the link's rate, presented, latencies and ratios are taken: not so low that a few responses
decide, nor so high that queues grow. Chosen before the first run."""

_LINE = 0.9  # share of the link's rate that is carried at most where the slope is taken; chosen before the first run
_LEFT = 0.01  # less than the line is carried where a curve has left it; chosen before the first run
_FILLED = 0.98  # of the link's rate: the link is full
_VERY_LOW = 0.02  # of the link's rate, presented at most; chosen before the first run
_KNOWN = (
    1.5  # ratio of two loads up to which latency is taken as linear between them; chosen: it explodes beyond capacity
)
_RISEN = 0.10  # above its lowest value a latency has begun to rise; chosen before the first run
_NEAR_BEST = 1.05  # of the lowest latency; chosen before the first run


@dataclass(frozen=True)
class Multiplexing:
    """The results of such a study, and what is known of its path.

    Attributes:
        results: Its sweeps.
        connection_bps: What a connection between the proxies can carry, in bit/s: window over round trip.
        few: Numbers of connections of the sweep `few`.
        enough: Those of the sweep `proxy`.
        link_bps: Rate of the link.
    """

    results: StudyResults
    connection_bps: float
    few: tuple[int, ...]
    enough: tuple[int, ...]
    link_bps: float = 34.368e6

    @property
    def numbers(self) -> tuple[int, ...]:
        """All numbers of connections, ascending."""
        return self.few + self.enough

    @property
    def most(self) -> int:
        """The largest number of connections."""
        return self.enough[-1]

    def no_proxy(self, metric: str, x: str = "presented_bps") -> Curve:
        """A metric over the load, without the US proxy."""
        return curve(self.results.sweep("no-proxy"), metric, x)

    def proxy(self, connections: int, metric: str, x: str = "presented_bps") -> Curve:
        """A metric over the load, with so many connections between the proxies."""
        sweep = self.results.sweep("few" if connections in self.few else "proxy")
        return curve(sweep, metric, x, where={CONNECTIONS: connections})

    def asymptote(self, scale: float) -> Measured:
        """What one connection carries at most, in bit/s times `scale`."""
        return Measured.of(largest(self.proxy(1, "carried_bps")), many(1), scale=scale)

    def line(self, carried: Curve) -> Curve:
        """The part of a curve of carried load that is well below saturation."""
        return carried.where(np.asarray(carried.y_mean < _LINE * self.link_bps))

    def flat(self, of: Curve) -> Curve:
        """The part of a curve between low load and saturation."""
        return of.between(_FLAT[0] * self.link_bps, _FLAT[1] * self.link_bps)

    def slope(self) -> list[Measured]:
        """The slope of carried against presented load without proxy."""
        return [Measured.of(student(slopes(self.line(self.no_proxy("carried_bps")))))]

    def leaving_the_line(self) -> list[Measured]:
        """By how many percent of the link's rate less than it the curve without proxy carries where it leaves the line.

        That is where it carries a percent less than the line, linear between the first load of the upper half at which
        it does and the one before.
        """
        carried = self.no_proxy("carried_bps")
        straight = self.line(carried)
        below = np.full(carried.y.shape[1], math.nan)
        for replication, slope in enumerate(slopes(straight)):
            start = float((straight.y[:, replication] - slope * straight.x[:, replication]).mean())
            x, y = carried.x[:, replication], carried.y[:, replication]
            missing = 1 - y / (start + slope * x)
            left = np.flatnonzero((missing > _LEFT) & (carried.y_mean > self.link_bps / 2))
            if left.size:
                before, after = left[0] - 1, left[0]
                part = (_LEFT - missing[before]) / (missing[after] - missing[before])
                at = x[before] + part * (x[after] - x[before])
                below[replication] = 100 * (1 - (1 - _LEFT) * (start + slope * at) / self.link_bps)
        return [Measured.of(student(below))]

    def utilisation(self, numbers: Sequence[int], bound: str = "") -> list[Measured]:
        """The largest load that is carried, in percent of the link's rate."""
        return [
            Measured.of(largest(self.proxy(number, "carried_bps")), many(number), bound, 100 / self.link_bps)
            for number in numbers
        ]

    def plateaus(self, numbers: Sequence[int]) -> list[Measured]:
        """The largest load that is carried, over what so many connections can carry."""
        return [
            Measured.of(
                largest(self.proxy(number, "carried_bps")), many(number), scale=1 / (number * self.connection_bps)
            )
            for number in numbers
        ]

    def slopes_less_that_without(self, numbers: Sequence[int]) -> list[Measured]:
        """Slopes of carried against presented load, less that without proxy, in the same replication and loads."""
        found = []
        for number in numbers:
            with_proxy, without = self._common(self.line(self.proxy(number, "carried_bps")), "carried_bps")
            found.append(Measured.of(student(_less(slopes(with_proxy), slopes(without))), many(number)))
        return found

    def _common(self, with_proxy: Curve, metric: str) -> tuple[Curve, Curve]:
        """A curve with proxy and one without, at the loads that both have."""
        without = self.no_proxy(metric)
        return (
            with_proxy.where(np.array([level in without.levels for level in with_proxy.levels])),
            without.where(np.array([level in with_proxy.levels for level in without.levels])),
        )

    def latency_change(self) -> Floats:
        """Latency of the sample with most connections against that without proxy, in percent, a value a replication."""
        ratio = ratios(self.flat(self.proxy(self.most, LATENCY)), self.no_proxy(LATENCY))
        return 100 * (ratio - 1)

    def gain_lost_at_low_load(self) -> list[Measured]:
        """The change of `latency_change` at very low loads, in percent points: above 0 where less is gained there."""
        with_proxy = self.proxy(self.most, LATENCY)
        low = with_proxy.between(0, _VERY_LOW * self.link_bps)
        at_low = 100 * (ratios(low, self.no_proxy(LATENCY)) - 1)
        return [Measured.of(student(_less(at_low, self.latency_change())), many(self.most))]

    def requests_on_a_connection(self, numbers: Sequence[int]) -> list[Measured]:
        """The most requests at once on a connection between the proxies, where a replication does not fill the link."""
        peaks = []
        for number in numbers:
            fills = self.proxy(number, "carried_bps").y >= _FILLED * self.link_bps
            most = self.proxy(number, "leg_0_connection_requests_max").y
            peaks.append(np.nanmax(np.where(fills, math.nan, most), axis=0))
        replications = min(map(len, peaks))
        return [Measured.of(student(np.max([each[:replications] for each in peaks], axis=0)))]

    def begin_of_rise(self, numbers: Sequence[int]) -> list[Measured]:
        """Presented load where the sample's latency begins to rise, in percent of what the connections can carry."""
        found = []
        for number in numbers:
            at = rises(self.proxy(number, LATENCY), _RISEN, _KNOWN)
            found.append(Measured.of(student(100 * at / (number * self.connection_bps)), many(number)))
        return found

    def saturating(self, numbers: Sequence[int]) -> Iterator[tuple[str, Callable[[str], Curve]]]:
        """Configurations that fill the link: no proxy, and these numbers; the name and what gives a metric of each."""
        yield "no proxy", self.no_proxy
        for number in numbers:
            yield many(number), lambda metric, number=number: self.proxy(number, metric)  # type: ignore[misc]

    def buffers_at_saturation(self, numbers: Sequence[int]) -> list[Measured]:
        """The queue toward NZ at the highest load over that at half of the link's rate."""
        found = []
        for name, of in self.saturating(numbers):
            for statistic, label in (("mean", "mean"), ("max", "peak")):
                queue = of(f"link_0_down_queue_bytes_{statistic}")
                found.append(Measured.of(student(queue.y[-1] / queue.at(self.link_bps / 2)), f"{name}, {label}"))
        return found

    def buffers_with_few(self, numbers: Sequence[int]) -> list[Measured]:
        """The mean queue toward NZ at the highest load over its largest at any."""
        found = []
        for number in numbers:
            queue = self.proxy(number, "link_0_down_queue_bytes_mean")
            highest = int(np.nanargmax(queue.y_mean))
            found.append(Measured.of(student(queue.y[-1] / queue.y[highest]), many(number)))
        return found

    def buffer_toward_the_us(self, numbers: Sequence[int]) -> list[Measured]:
        """The largest peak of the queue toward the US, in percent of that toward NZ at the highest load."""
        found = []
        for name, of in self.saturating(numbers):
            up, down = of("link_0_up_queue_bytes_max"), of("link_0_down_queue_bytes_max")
            found.append(Measured.of(student(100 * np.nanmax(up.y, axis=0) / down.y[-1]), name))
        return found

    def connections(self, rise: str, more: str) -> list[Measured]:
        """Connections without proxy: their growth at saturation over that of the load, and how many times the proxy's.

        Args:
            rise: Name of the bound of the growth.
            more: Name of the bound of the comparison, made with most connections at each load below saturation.
        """
        half = self.link_bps / 2
        without = self.no_proxy("leg_0_open_max")
        growth = (without.y[-1] / without.at(half)) / (without.x[-1] / half)
        found = [Measured.of(student(growth), "no proxy", rise)]
        with_proxy = self.proxy(self.most, "leg_1_open_max")
        below = with_proxy.where(np.asarray(with_proxy.x_mean < _FLAT[1] * self.link_bps))
        for level, x in zip(below.levels, below.x_mean, strict=True):
            at = below.where(np.array([each == level for each in below.levels]))
            if level in without.levels:
                found.append(Measured.of(student(1 / ratios(at, without)), f"at {x / 1e6:.3g} Mbit/s", more))
        return found

    def inbound_over_outbound(self, numbers: Sequence[int]) -> list[Measured]:
        """What the link carries toward NZ over that toward the US: these numbers, and beside them no proxy."""
        return [
            replace(
                Measured.of(student(ratios(self.flat(of("carried_bps")), of("carried_up_bps"))), name),
                beside=name == "no proxy",
            )
            for name, of in self.saturating(numbers)
        ]

    def outbound_saved(self, numbers: Sequence[int]) -> list[Measured]:
        """Traffic toward the US with proxy over that without."""
        without = self.no_proxy("carried_up_bps")
        return [
            Measured.of(student(ratios(self.flat(self.proxy(number, "carried_up_bps")), without)), many(number))
            for number in numbers
        ]

    def connections_needed(self, to_fill: str, for_latency: str) -> list[Measured]:
        """Numbers of connections that fill the link, and that have nearly the best latency at a busy hour.

        Busy: as much as `_FLAT` ends with is presented. The ends are the least and the most of single replications.

        Args:
            to_fill: Name of the first bound.
            for_latency: Name of the second.
        """
        carried = [self.proxy(number, "carried_bps") for number in self.numbers]
        fill = np.array([np.append(np.nanmax(each.y, axis=0), np.nanmax(each.y_mean)) for each in carried])
        busy = np.array([self.proxy(number, LATENCY).at(_FLAT[1] * self.link_bps, _KNOWN) for number in self.numbers])
        wait = np.column_stack([busy, means(busy)])
        near_best = wait <= _NEAR_BEST * wait.min(axis=0)  # never, where one of them is not known
        return [
            self._smallest(fill >= _FILLED * self.link_bps, to_fill),
            self._smallest(near_best, for_latency),
        ]

    def _smallest(self, met: np.ndarray[tuple[int, int], np.dtype[np.bool_]], bound: str) -> Measured:
        """The smallest number that meets something: a row a number, a column a replication, the mean in the last."""
        found = np.where(met.any(axis=0), np.array(self.numbers, float)[np.argmax(met, axis=0)], math.nan)
        single = found[:-1][~np.isnan(found[:-1])]
        several = single.size > 1
        low, high = (float(single.min()), float(single.max())) if several else (None, None)
        return Measured(float(found[-1]), low, high, bound, bound)


def facts(proxy: str) -> Mapping[str, Callable[[StudyResults], str]]:
    """What reasons say of the breakdown at little load, in s: parts of the latency without proxy and with one.

    Args:
        proxy: Level of the sweep `breakdown` with enough connections.
    """
    parts: tuple[Kind, ...] = ("server", "handshake", "cwnd", "buffer", "nagle")
    ways = {"": "no US proxy", "proxied_": proxy}
    return {
        f"{before}{kind}": lambda results, way=way, kind=kind: f"{_broken_down(results, way).total_s(kind):.2f} s"
        for before, way in ways.items()
        for kind in parts
    } | {
        f"{before}latency": lambda results, way=way: f"{_broken_down(results, way).latency_s:.2f} s"
        for before, way in ways.items()
    }


@functools.cache
def _broken_down(results: StudyResults, architecture: str) -> Breakdown:
    """The breakdown of the sample requests, in the first run of an architecture."""
    sweep = results.sweep("breakdown")
    runs = sweep.runs.filter((sweep.runs["status"] == "done") & (sweep.runs["architecture"] == architecture))
    if runs.is_empty():
        raise ResultsError(f"{sweep.path}: no run of {architecture} has ended well")
    return break_down(sweep.part(runs["run"][0]))


def many(connections: int) -> str:
    """A number of connections in words."""
    return "1 connection" if connections == 1 else f"{connections} connections"


def _less(values: Floats, base: Floats) -> Floats:
    """Differences by replication, of those that both have."""
    most = min(len(values), len(base))
    difference: Floats = values[:most] - base[:most]
    return difference
