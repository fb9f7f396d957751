"""The figures of caches that decide by what they hold: against drawn hits, and by policy and size threshold."""

import itertools
from typing import Any

import numpy as np

from farweb.paint.figure import Axis, Figure, Panel, Reference, Series
from farweb.reproduce.drawing import runs_text
from farweb.reproduce.study import StudyResults

from .drawing import PLACE, scatter, scatters, spread
from .traces import ARRANGEMENTS, LOCALITIES
from .transfers import FAST, SLOW, Floats, Levels, latencies_s, of_runs

SCATTERED = {
    "good, live": "live LRU caches",
    "good, drawn": "the same, hits drawn",
    "static, live": "live, short-range locality",
}
DISTRIBUTED = {
    "good, live": "live LRU caches, 40 / 15 %",
    "good, drawn": "drawn, 40 / 15 %",
    "static, live": "live, short-range locality",
    "static, drawn": "drawn, short-range locality",
}
STEPS = dict(
    zip(
        ("fetching takes time", "hits remember the past", "hits depend on size", "sizes remember the past"),
        itertools.pairwise(ARRANGEMENTS),
        strict=True,
    )
)
"""What each step from live caches to drawn hits takes away."""
POLICIES = ("LRU", "GDSF", "S3-FIFO")
THRESHOLDS = {"none": "no threshold", "child": "child: small only", "both": "child: small, parent: large"}


def _levels(results: StudyResults, sweep: str, factor: str) -> list[Any]:
    """The levels of a factor that were run, in their order."""
    (found,) = (each for each in results.sweep(sweep).design.factors if each.name == factor)
    return [level.value for level in found.levels]


def _live(results: StudyResults) -> Figure:
    """Latency over size with live caches, with drawn hits, and with live caches that are asked again soon."""
    rates = _levels(results, "live", "rate")
    panels = [
        scatter(
            results,
            "live",
            {"rate": rate, "served": served, "capacity": SLOW},
            f"({letter}) {caption}, {rate} requests/s",
        )
        for letter, (rate, served, caption) in zip(
            "abcdef", ((rate, *each) for rate in rates for each in SCATTERED.items()), strict=False
        )
    ]
    caption = "Links of 10 Mbit/s. Short-range locality: ProWGen's static stack, with the hit ratios 30 / 10 %."
    return scatters(results, "Live caches", caption, panels, "live", columns=len(SCATTERED))


def _distribution(results: StudyResults) -> Figure:
    """How many transfers take longer than a latency, with live caches and with drawn hits."""
    sweep = results.sweep("live")
    panels = []
    for rate in _levels(results, "live", "rate"):
        series = []
        for number, (served, label) in enumerate(DISTRIBUTED.items()):
            taken = latencies_s(results, "live", {"rate": rate, "served": served, "capacity": SLOW})
            longer = 1 - np.arange(taken.size) / taken.size
            shown = np.searchsorted(-longer, -np.geomspace(1, 1 / taken.size, 400)).clip(max=taken.size - 1)
            shown = np.union1d(shown, np.linspace(0, taken.size - 1, 400).astype(int))
            series.append(Series(label, number, taken[shown], 100 * longer[shown], "line"))
        x = Axis("transfer latency", "s", "log", low=0.001, high=20)
        y = Axis("transfers that take at least as long", "%", "log", low=0.01, high=100)
        panels.append(Panel(x, y, tuple(series), title=f"{rate} requests/s"))
    return Figure(
        f"Latencies with live caches – {PLACE}",
        "C1 = 10 Mbit/s. The same requests with live LRU caches, and with hits drawn as often. Short-range locality: "
        f"ProWGen's static stack, with the hit ratios 30 / 10 %. All traces together. {runs_text([sweep])}",
        tuple(panels),
        columns=len(panels),
        size=(6.3 * len(panels), 5.2),
        share_y=True,
    )


def _steps(results: StudyResults) -> Figure:
    """What the mean latency gains or loses by each thing that live caches do and drawn hits do not."""
    sweep = results.sweep("live")
    rates, capacities = _levels(results, "live", "rate"), _levels(results, "live", "capacity")
    panels = [_step_by_step(results, rate, capacity) for capacity in capacities for rate in rates]
    return Figure(
        f"From live caches to drawn hits – {PLACE}",
        "Change of the mean latency by each thing that live caches do and drawn hits do not. Fetching takes time: "
        "requests wait for what is on its way. Hits remember the past: who serves a request depends on those before. "
        "Hits depend on size: popular documents are small. Sizes remember the past: a large document comes again. "
        "Cases: hit ratios 40 / 15, 30 / 10, 20 / 7 %; 42 / 15 % with the size threshold; 30 / 10 % with short-range "
        f"locality. Bars: 95 % interval (Student), paired by trace. {runs_text([sweep])}",
        tuple(panels),
        columns=len(rates),
        counted="traces",
        size=(6.3 * len(rates), 1.9 + 3.35 * len(capacities)),
        share_x=True,
    )


def _step_by_step(results: StudyResults, rate: int, capacity: str) -> Panel:
    def mean_of(case: str, arrangement: str) -> Floats:
        levels: Levels = {"rate": rate, "served": f"{case}, {arrangement}", "capacity": capacity}
        return of_runs(results, "live", "mean_s", levels)

    series = []
    for number, (label, (more, less)) in enumerate(STEPS.items()):
        values = [mean_of(case, more) - mean_of(case, less) for case in LOCALITIES]
        place = np.arange(float(len(values))) + 0.15 * (number - 1.5)
        mean = np.array([each.mean() for each in values])
        series.append(Series(label, number, place, mean, "points", **spread(values), interval="bars", joined=False))
    x = Axis("", scale="category", levels=tuple(LOCALITIES))
    y = Axis("change of the mean latency", "s").fitted(*(each.y for each in series))
    title = f"C1 = {capacity.split()[0]} Mbit/s, {rate} requests/s"
    return Panel(x, y, tuple(series), (Reference("", 0.0),), title=title)


def _policies(results: StudyResults) -> Figure:
    """Mean latency by policy and threshold, and what the paper's threshold costs or gains, by what caches hold."""
    sweep = results.sweep("policies")
    panels, memories = [], _levels(results, "policies", "memory")
    for memory in memories:
        panels += [_by_policy(results, memory), *(_gained(results, memory, capacity) for capacity in (SLOW, FAST))]
    return Figure(
        f"Policies of the child and size thresholds – {PLACE}",
        "Live caches: three policies at the child, LRU at the parent. Thresholds: the child takes in documents of 8 "
        "KiB at most; with the paper's the parent takes in larger ones alone. Middle and right: mean latency with "
        "the paper's threshold less that without one, paired by trace. Bars: 95 % interval (Student). "
        f"{runs_text([sweep])}",
        tuple(panels),
        columns=3,
        counted="traces",
        size=(12.6, 1.9 + 3.35 * len(memories)),
    )


def _mean(results: StudyResults, rate: int, memory: str, policy: str, threshold: str, capacity: str) -> Floats:
    """The mean latency by trace."""
    levels: Levels = {"rate": rate, "memory": memory, "policy": policy, "threshold": threshold, "capacity": capacity}
    return of_runs(results, "policies", "mean_s", levels)


def _by_policy(results: StudyResults, memory: str) -> Panel:
    """The mean latency at the heaviest load by policy, a series a threshold."""
    rate = max(_levels(results, "policies", "rate"))
    series = []
    for number, (threshold, label) in enumerate(THRESHOLDS.items()):
        values = [_mean(results, rate, memory, policy, threshold, SLOW) for policy in POLICIES]
        place = np.arange(float(len(values))) + 0.15 * (number - 1)
        mean = np.array([each.mean() for each in values])
        series.append(Series(label, number, place, mean, "points", **spread(values), interval="bars", joined=False))
    x = Axis("", scale="category", levels=POLICIES)
    y = Axis("mean latency", "s").fitted(*(each.y for each in series))
    return Panel(x, y, tuple(series), title=f"{memory}: C1 = 10 Mbit/s, {rate} requests/s")


def _gained(results: StudyResults, memory: str, capacity: str) -> Panel:
    """The paper's threshold less none, over the arrival rate."""
    rates = _levels(results, "policies", "rate")
    series = []
    for number, policy in enumerate(POLICIES, start=len(THRESHOLDS)):
        values = []
        for rate in rates:
            with_it, without = (_mean(results, rate, memory, policy, each, capacity) for each in ("both", "none"))
            values.append(with_it - without)
        mean = np.array([each.mean() for each in values])
        series.append(Series(policy, number, np.array(rates, float), mean, "points", **spread(values), interval="bars"))
    x = Axis("arrival rate", "requests/s", low=0, marks=tuple(map(float, rates)))
    y = Axis("threshold less none", "s").fitted(*(each.y for each in series))
    return Panel(x, y, tuple(series), (Reference("", 0.0),), title=f"{memory}: C1 = {capacity.split()[0]} Mbit/s")


LIVE_FIGURES = {"live": _live, "live-latency": _distribution, "live-steps": _steps, "policies": _policies}
