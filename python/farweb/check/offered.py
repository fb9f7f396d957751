"""Compares the load that a workload offers to each link with the rate of the link, for `farweb check`.

Bytes as `farweb.check.trace` counts them, without retransmissions, server times and the opening of kept connections.
Links behind a live cache have two bounds: all that is asked for, and what no cache answers, however large: uncacheable
requests and the first ones for objects. Copies are laid over each other as a run lays them.

Memory: some arrays over the seconds of the workload, or over longer steps beyond `_BINS_MAX` seconds.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import inf, isfinite
from typing import Any

import numpy as np

from farweb.check.trace import RatedLink, Series, Trace, rated_links
from farweb.inputs.description import Description
from farweb.text.parse import parse
from farweb.text.quantities import began, count, plain, rate, seconds, share
from farweb.text.sheet import Sheet

BUSY = 0.8
"""Share of a link's rate above which the busiest minute is warned of. Chosen: queues of random arrivals are some
packets long below it and grow without bound towards 1 (in M/D/1 a packet waits for 2 others at 0.8, for 4.5 at 0.9)."""

MINUTE_S = 60
"""Shortest time over which a mean load is taken, in s."""

_NS = 1e9
_BURSTS_S = (60, 600, 3600)
_BURST = 2.0  # chosen: less than twice the mean is no burst
_TOGETHER = 0.5  # chosen: more than half of the burst of one copy above its mean is still there
_STRETCHED = 0.9  # chosen: a load that is a tenth less than it says is another load
_BINS_MAX = 1 << 23  # chosen: 97 days of seconds, 64 MB an array


@dataclass(frozen=True)
class OfferedLoad:
    """Load that requests offer to one direction of a link.

    Attributes:
        link: Place of the link on the path, from 0.
        direction: `up` or `down`.
        from_node: The node that sends.
        to_node: The node that receives.
        rate_bps: Rate of the bits that it carries, in bit/s.
        is_mean: True when that is a mean over time.
        mean_bps: Offered from the first to the last start, a minute at least.
        minute_bps: In the busiest minute, in which the load takes the largest share of the rate, or None when the
            workload is too long for steps of a minute.
        minute_from_s: Its begin, since the start of the run.
        origin_unix_s: Start of the run on the clock of its log. None: it has none, or keeps none at another speed.
        minute_rate_bps: Mean rate of the link in that minute.
        second_bps: In the busiest second, or None as above.
        at_most: True when a live cache nearer to the clients takes an unknown part of it off.
        least_mean_bps: The part that no cache answers, as `mean_bps`; without such a cache all.
        least_from_s: When its busiest minute begins, or None as above.
        least_minute_bps: That part then or on average.
        least_rate_bps: Mean rate of the link in that minute.
    """

    link: int
    direction: str
    from_node: str
    to_node: str
    rate_bps: float
    is_mean: bool
    mean_bps: float
    minute_bps: float | None
    minute_from_s: float | None
    origin_unix_s: float | None
    minute_rate_bps: float | None
    second_bps: float | None
    at_most: bool
    least_mean_bps: float
    least_from_s: float | None
    least_minute_bps: float
    least_rate_bps: float

    @property
    def name(self) -> str:
        """The direction by its ends."""
        return f"{self.from_node} to {self.to_node}"

    @property
    def when(self) -> str:
        """The busiest minute in words, or the mean over time."""
        return _when(self.minute_from_s, self.origin_unix_s)

    @property
    def least_when(self) -> str:
        """The same of what no cache answers."""
        return _when(self.least_from_s, self.origin_unix_s)

    @property
    def peak(self) -> tuple[float, float]:
        """Load and rate of the link in the busiest minute, or where that is not known on average, in bit/s."""
        if self.minute_bps is None or self.minute_rate_bps is None:
            return self.mean_bps, self.rate_bps
        return self.minute_bps, self.minute_rate_bps

    @property
    def fullness(self) -> float:
        """Their ratio; infinite for a load on a link that sends nothing."""
        return _ratio(*self.peak)

    @property
    def least_fullness(self) -> float:
        """The same of what no cache answers."""
        return _ratio(self.least_minute_bps, self.least_rate_bps)

    @property
    def line(self) -> str:
        """That rate in words."""
        rate_bps = self.peak[1]
        return of_rate(rate_bps, self.is_mean or rate_bps != self.rate_bps)

    @property
    def part(self) -> str:
        """The share of that rate in words, behind a live cache the least one."""
        if not isfinite(self.least_fullness):
            return "with nothing sent"
        return f"{'at least ' if self.at_most else ''}{share(self.least_fullness)} of {self.line}"


def _when(begin_s: float | None, origin_unix_s: float | None) -> str:
    return "on average" if begin_s is None else f"in the busiest minute (from {began(begin_s, origin_unix_s)} on)"


def _ratio(load: float, line: float) -> float:
    return load / line if line else inf if load else 0.0


@dataclass(frozen=True)
class Offered:
    """Load that a workload offers to the links with a rate.

    Attributes:
        requests: Of all days and copies.
        span_s: From the first to the last start.
        load: Days and copies that run at the same time, or how many times as many requests there are.
        links: Both directions of each link that has a rate.
        warnings: Loads that will not fit, and copies that stretch the workload or burst together, each beginning with
            its key.
        rate_multiple: Mean requests a second relative to a load of 1: less than the load where copies begin so far
            apart that the workload takes longer.
    """

    requests: int
    span_s: float
    load: float
    links: tuple[OfferedLoad, ...]
    warnings: tuple[str, ...]
    rate_multiple: float

    def to_dict(self) -> dict[str, Any]:
        """All of it but the warnings, as plain values."""
        values = asdict(self)
        del values["warnings"]
        return values

    def sheet(self) -> Sheet:
        """A table for people."""
        rows = [
            [
                f"{load.name}{', at most' if load.at_most else ''}",
                of_rate(load.rate_bps, load.is_mean),
                _of(load.mean_bps, load.rate_bps),
                _of(load.minute_bps, load.peak[1]),
                _of(load.second_bps, load.rate_bps),
                "–" if load.minute_from_s is None else began(load.minute_from_s, load.origin_unix_s),
            ]
            for load in self.links
        ]
        title = f"Offered load: {count(self.requests)} requests in {seconds(self.span_s)}, load {plain(self.load, 6)}"
        return Sheet(title, ["", "rate", "mean", "busiest minute", "busiest second", "busiest minute from"], rows)


def of_rate(rate_bps: float, is_mean: bool) -> str:
    """A rate in words, which say when it is a mean over time."""
    return f"a mean of {rate(rate_bps)}" if is_mean else rate(rate_bps)


def _of(value: float | None, rate_bps: float) -> str:
    return "–" if value is None else f"{share(value / rate_bps) if rate_bps else '∞'} ({rate(value)})"


def offered(scenario: Description, figures: Mapping[str, Any], trace: Trace) -> Offered | None:
    """Work out the load that the workload of `scenario` offers, or None when no link has a rate."""
    links = list(rated_links(scenario, figures))
    return _held_against(scenario, figures, trace, links) if links else None


def _held_against(scenario: Description, figures: Mapping[str, Any], trace: Trace, links: list[RatedLink]) -> Offered:
    laid = Laid.of(figures["workload"], scenario.effective["run"]["until"], trace)
    loads, warnings = [], []
    for link in links:
        series = laid.series(link.sent(trace), trace) * laid.rate
        minute, minute_from, minute_rate = _fullest(scenario, link, series, laid.step_s)
        is_renamed = scenario.effective["workload"].get("copies_hosts") == "renamed"
        least = _missed(link, laid, trace, is_renamed=is_renamed) if link.at_most else series
        least_minute, least_from, least_rate = _fullest(scenario, link, least, laid.step_s)
        lasts_s = max(laid.span_s, MINUTE_S)
        least_mean = 8 * float(least.sum()) / lasts_s
        ends = figures["nodes"][link.index : link.index + 2]
        from_node, to_node = ends if link.direction == "up" else ends[::-1]
        load = OfferedLoad(
            link=link.index,
            direction=link.direction,
            from_node=from_node,
            to_node=to_node,
            rate_bps=link.rate_bps,
            is_mean=link.is_mean,
            mean_bps=8 * float(series.sum()) / lasts_s,
            minute_bps=minute,
            minute_from_s=minute_from,
            origin_unix_s=trace.origin_unix_s if laid.speed == 1 else None,
            minute_rate_bps=minute_rate,
            second_bps=_peak(series, 1, laid.step_s)[0],
            at_most=link.at_most,
            least_mean_bps=least_mean,
            least_from_s=least_from,
            least_minute_bps=least_mean if least_minute is None else least_minute,
            least_rate_bps=link.rate_bps if least_rate is None else least_rate,
        )
        loads.append(load)
        if (warning := _too_much(load)) is not None:
            warnings.append(warning)
    if (together := _bursts_together(scenario.effective["workload"], trace, laid)) is not None:
        warnings.append(together)
    times, multiple = laid.load * laid.rate, laid.rate_multiple(trace)
    if multiple < _STRETCHED * times:
        warnings.append(_longer(times, multiple, trace, laid))
    return Offered(laid.requests, laid.span_s, times, tuple(loads), tuple(warnings), multiple)


def _missed(link: RatedLink, laid: "Laid", trace: Trace, *, is_renamed: bool) -> Series:
    """Bytes by step that no cache answers. Copies ask for the same objects, unless their hosts are renamed."""
    always, missed = link.always(trace), link.missed(trace)
    if is_renamed:
        return laid.series(missed, trace) * laid.rate
    series: Series = laid.series(always, trace) * laid.rate
    first = laid.series(np.maximum(missed - always, 0), trace, min(laid.load, trace.days)) * min(1, laid.rate)
    series[: len(first)] += first
    return series


def _too_much(load: OfferedLoad) -> str | None:
    if load.least_fullness <= BUSY:
        return None
    cost = "latencies are those of a queue that grows" if load.least_fullness > 1 else "latencies are mostly queueing"
    key = f"path.link.{load.link}.{load.direction}.rate"
    if load.at_most:
        return f"{key}: what no cache answers takes {load.part} {load.least_when}: {cost}"
    return (
        f"{key}: the workload offers {rate(load.peak[0])} {load.when}, "
        f"{load.part} (on average {share(load.mean_bps / load.rate_bps)}): {cost}"
    )


@dataclass(frozen=True)
class Laid:
    """How days and copies of a trace lie over each other, and how many requests they have then."""

    load: int
    rate: float
    offset_s: float
    period_s: float | None
    speed: float
    step_s: int
    span_s: float
    until_s: float | None
    ends_s: float
    requests: int

    @classmethod
    def of(cls, workload: Mapping[str, Any], until: str, trace: Trace) -> "Laid":
        """Lay a trace over itself, for the `workload` of a check and the key `run.until`."""
        load, speed = workload["load"], workload["speed"]
        offset_s = workload["copies_offset_ns"] / _NS
        period_s = None if workload["period_ns"] is None else workload["period_ns"] / _NS
        copies = -(-load // trace.days)
        length = trace.last_s / speed + (0 if period_s else (copies - 1) * offset_s)
        until_s = _span(until)
        step_s = next((step for step in (1, 10, 60, 600, 3600, 86_400) if length / step < _BINS_MAX), 604_800)
        first = 0.0 if period_s and copies > 1 else trace.first_s / speed
        ends_s = period_s if period_s and copies > 1 else length
        span_s = min(ends_s - first, until_s or ends_s)
        requests = round(trace.rows * load / trace.days * workload["rate"])
        return cls(load, workload["rate"], offset_s, period_s, speed, step_s, span_s, until_s, ends_s, requests)

    def rate_multiple(self, trace: Trace) -> float:
        """Mean requests a second, relative to a load of 1."""
        load, alone_s = self.load * self.rate, (trace.last_s - trace.first_s) / self.speed
        copies = -(-self.load // trace.days)
        longer_s = self.offset_s * (copies - 1 if self.rate == 1 else float(self.rate > 1))
        return load if self.period_s or not alone_s else load * alone_s / (alone_s + longer_s)

    def series(self, values: Series, trace: Trace, load: int | None = None) -> Series:
        """Bytes by step, of `load` days and copies, or of all; `values` of each entry of the trace."""
        begins = trace.second / self.speed
        load = self.load if load is None else load
        copies = -(-load // trace.days)
        last = trace.last_s / self.speed + (0 if self.period_s else (copies - 1) * self.offset_s)
        total = np.zeros(int(max(last, self.period_s or 0) // self.step_s) + 2)
        for copy in range(copies):
            here = trace.day < load - copy * trace.days
            at = begins[here] + copy * self.offset_s
            if self.period_s:
                at = at % self.period_s
            found = np.bincount((at // self.step_s).astype(np.int64), weights=values[here])
            total[: len(found)] += found
        return total if self.until_s is None else total[: int(self.until_s // self.step_s) + 1]


def _span(until: str) -> float | None:
    """The end of a run in s, or None where it ends with its last request."""
    return float(parse(until).number) if until[0].isdigit() else None


def _peak(series: Series, window_s: int, step_s: int) -> tuple[float | None, float | None]:
    """Largest rate over a window, in bit/s, and when it begins, or None when steps are longer than the window."""
    if step_s > window_s:
        return None, None
    windows = _windows(series, window_s, step_s)
    best = int(np.argmax(windows))
    return float(windows[best]), float(best * step_s)


def _windows(series: Series, window_s: int, step_s: int) -> Series:
    """Rates over each window, in bit/s; one of a series that is shorter."""
    steps = window_s // step_s
    sums = np.concatenate([[0.0], np.cumsum(series)])
    windows: Series = 8 * (sums[steps:] - sums[:-steps] if len(sums) > steps else sums[-1:]) / window_s
    return windows


def _fullest(
    scenario: Description, link: RatedLink, series: Series, step_s: int
) -> tuple[float | None, float | None, float | None]:
    """Load of the minute with the largest share of a link's rate, when it begins, and its mean rate, or None thrice."""
    busiest, begin = _peak(series, MINUTE_S, step_s)
    rates = None
    if link.changes and busiest is not None:
        number = max(len(series), MINUTE_S // step_s)
        rates = scenario.complete().mean_rates(link.index, link.direction == "down", step_s, number)
    if rates is None:
        return busiest, begin, None if busiest is None else link.rate_bps
    loads, lines = _windows(series, MINUTE_S, step_s), _windows(rates * step_s / 8, MINUTE_S, step_s)
    with np.errstate(divide="ignore", invalid="ignore"):
        best = int(np.argmax(np.where(loads > 0, loads / lines, 0)))
    return float(loads[best]), float(best * step_s), float(lines[best])


def _longer(load: float, multiple: float, trace: Trace, laid: Laid) -> str:
    """A warning about copies, or repeats, that stretch the workload."""
    if laid.rate > 1:
        cause, remedy = "repeats start up to", f'copies_offset = "{_whole(trace.last_s / laid.speed / 60)} s"'
    else:
        copies = laid.load / trace.days
        cause, remedy = f"{plain(copies, 3)} copies start each", _whole_trace(trace, laid, copies)
    wanted = plain(load, 6)
    return (
        f"workload.load: {wanted} is {plain(multiple, 3)} times the rate of requests: {cause} {seconds(laid.offset_s)} "
        f"later (copies_offset), and the workload takes longer; for {wanted} times the rate write {remedy}"
    )


def _whole_trace(trace: Trace, laid: Laid, copies: float) -> str:
    """Keys that spread copies over the whole trace, which stays as long as it is."""
    last_s = trace.last_s / laid.speed
    return f'period = "{_whole(last_s + 1)} s" and copies_offset = "{_whole(last_s / copies)} s"'


def _bursts_together(workload: Mapping[str, Any], trace: Trace, laid: Laid) -> str | None:
    """A warning when copies lie so close together that their bursts meet.

    The peak factor is the largest load over a window, of a minute, ten or an hour, divided by the mean load. Copies far
    enough apart have a factor near 1, as bursts of some meet quiet times of others. Copies that burst together keep the
    factor of a single one.
    """
    copies = laid.load / trace.days
    if copies < 2:
        return None
    one = laid.series(trace.values[0], trace, trace.days)
    all_of_them = laid.series(trace.values[0], trace)
    span_s = (trace.last_s - trace.first_s) / laid.speed
    worst = None
    for window_s in _BURSTS_S:
        if window_s * 4 > span_s or laid.step_s > window_s:
            continue
        mean = 8 * float(one.sum()) / span_s
        alone = (_peak(one, window_s, laid.step_s)[0] or 0) / mean
        together = (_peak(all_of_them, window_s, laid.step_s)[0] or 0) / (mean * copies)
        if alone >= _BURST and together - 1 > _TOGETHER * (alone - 1) and (worst is None or together > worst[1]):
            worst = (window_s, together, alone)
    if worst is None:
        return None
    window_s, together, alone = worst
    return (
        f"workload.copies_offset: {workload['copies_offset']} keeps the bursts of {plain(copies, 3)} copies together: "
        f"the busiest {seconds(window_s)} of all have {together:.1f} times the mean load, those of one copy "
        f"{alone:.1f} times; copies spread over the whole trace have {_whole_trace(trace, laid, copies)}"
    )


def _whole(value: float) -> int:
    return max(1, round(value))
