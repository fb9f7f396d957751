"""How the claims of the satellite study are measured."""

import itertools
import math

import numpy as np

from farweb.reproduce.claims import Measured
from farweb.reproduce.curves import Curve, Floats, curve, ratios, slopes
from farweb.reproduce.study import StudyResults
from farweb.statistics.intervals import student

LINK_BPS = 34.368e6
LATENCY = "sample_latency_mean_s"
LINKS = ("TT", "ST", "SS")
FROM_SLOW_TO_FAST = ("noprxy{}1.0", "noprxy{}1.1", "proxy{}1.0", "proxy{}1.1")
CONFIGURATIONS = tuple(way.format(link) for link in LINKS for way in FROM_SLOW_TO_FAST)


def of(results: StudyResults, configuration: str, metric: str = LATENCY) -> Curve:
    """A metric of a configuration over the load."""
    return curve(results.sweep("configurations"), metric, where={"configuration": configuration})


def flat(each: Curve) -> Curve:
    """The part of a curve between low load and saturation."""
    return each.between(0.15 * LINK_BPS, 0.80 * LINK_BPS)


def to_servers(results: StudyResults, configuration: str) -> Curve:
    """The most connections open at a time on the leg to the servers."""
    leg = 1 if configuration.startswith("proxy") else 0
    return of(results, configuration, f"leg_{leg}_open_max")


def _mean(results: StudyResults, configuration: str) -> list[Measured]:
    return [Measured.of(student(flat(of(results, configuration)).y.mean(axis=0)), configuration)]


def _relative(results: StudyResults, configuration: str) -> Floats:
    """Latency over that of the satellite without anything, by replication."""
    return ratios(flat(of(results, configuration)), of(results, "noprxySS1.0"))


def _share(results: StudyResults, configuration: str) -> list[Measured]:
    return [Measured.of(student(100 * _relative(results, configuration)), configuration)]


def _change(results: StudyResults, configuration: str) -> list[Measured]:
    return [Measured.of(student(100 * (_relative(results, configuration) - 1)), configuration)]


def _persistent(results: StudyResults) -> list[Measured]:
    persistent = of(results, "noprxySS1.1").between(0, 0.80 * LINK_BPS)
    base = of(results, "noprxySS1.0")
    common = np.array([level in base.levels for level in persistent.levels])
    persistent = persistent.where(common)
    base = base.where(np.array([level in persistent.levels for level in base.levels]))
    gain = Curve(persistent.levels, persistent.x, 100 * (1 - persistent.y / base.y))
    most, least = int(np.nanargmax(gain.y_mean)), int(np.nanargmin(gain.y_mean))
    return [
        Measured.of(gain.interval(most), f"most, at {gain.x_mean[most] / 1e6:.3g} Mbit/s", "most"),
        Measured.of(gain.interval(least), f"least, at {gain.x_mean[least] / 1e6:.3g} Mbit/s", "least"),
        Measured.of(student(slopes(gain)), "slope, % for each 10 Mbit/s", "slope", scale=10e6),
    ]


def _peak_buffer(results: StudyResults) -> list[Measured]:
    peaks = [np.nanmax(of(results, each, "link_0_down_queue_bytes_max").y) for each in CONFIGURATIONS]
    return [Measured(float(max(peaks)), what=CONFIGURATIONS[int(np.argmax(peaks))])]


def _sessions(results: StudyResults) -> list[Measured]:
    pairs = [(f"noprxy{link}{version}", f"proxy{link}{version}") for link in LINKS for version in ("1.0", "1.1")]
    pairs += [(f"{way}{link}1.1", f"{way}{link}1.0") for link in LINKS for way in ("noprxy", "proxy")]
    return [
        Measured.of(student(ratios(flat(to_servers(results, more)), to_servers(results, less))), f"{more} over {less}")
        for more, less in pairs
    ]


def implied_order() -> list[tuple[str, str]]:
    """Pairs of configurations of which the text implies that the first is slower."""
    within = [
        (slow.format(link), fast.format(link))
        for link in LINKS
        for slow, fast in itertools.combinations(FROM_SLOW_TO_FAST, 2)
    ]
    across = [
        (way.format(slow), way.format(fast))
        for way in FROM_SLOW_TO_FAST
        for slow, fast in itertools.combinations(LINKS[::-1], 2)
    ]
    return [*within, *across, ("noprxyTT1.0", "proxySS1.1")]


def _order(results: StudyResults) -> list[Measured]:
    latency = {each: float(np.nanmean(flat(of(results, each)).y_mean)) for each in CONFIGURATIONS}
    if any(math.isnan(each) for each in latency.values()):
        return []
    pairs = implied_order()
    wrong = [(slow, fast) for slow, fast in pairs if latency[slow] <= latency[fast]]
    wrong_words = ", ".join(f"{slow} is not slower than {fast}" for slow, fast in wrong)
    return [Measured(100 * (1 - len(wrong) / len(pairs)), what=wrong_words)]


MEASURES = {
    "S1": lambda results: _mean(results, "noprxyTT1.0"),
    "S2": lambda results: _mean(results, "noprxySS1.0"),
    "S3": lambda results: _share(results, "proxySS1.0"),
    "S4": _persistent,
    "S5": lambda results: _share(results, "noprxyST1.0"),
    "S6": lambda results: _change(results, "proxySS1.1"),
    "S7": _peak_buffer,
    "S8": _sessions,
    "S9": _order,
}


def _round_trips(results: StudyResults) -> str:
    """By how many round trips a request takes longer over the satellite than over the cable."""
    satellite, cable = (flat(of(results, name)).y.mean() for name in ("noprxySS1.0", "noprxyTT1.0"))
    return f"{(satellite - cable) / 0.52:.1f}"


FACTS = {"round_trips": _round_trips}
