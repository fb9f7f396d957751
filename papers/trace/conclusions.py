"""The conclusions of the NZ–US studies in words, and at how many points of the design each holds."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .design import CABLE_BPS, FEW, FLAT, RISE, SATELLITE_BPS
from .numbers import Cases, latency, relative


@dataclass(frozen=True)
class Conclusion:
    """A statement that an engineer would take from the papers.

    Attributes:
        text: What is said.
        holds: Judges it at a point.
    """

    text: str
    holds: Callable[[Cases], bool]


def _gain(cases: Cases, links: str) -> float:
    return 1 - latency(cases, f"{links} proxy") / latency(cases, f"{links}1.0")


def _persistent(cases: Cases, part: float) -> float:
    """Gain of persistent connections over the satellite at a load, in percent."""
    return 100 - relative(cases, "SS1.1", "SS1.0", [part])


def _carried(cases: Cases, case: str, bps: float) -> bool:
    return bool(np.isclose(cases[case]["carried_bps"], bps, rtol=0.05))


CONCLUSIONS = (
    Conclusion(
        "n connections between proxies carry n windows a round trip, and no more",
        lambda cases: (
            _carried(cases, f"TT few {RISE[-1]}", FEW * CABLE_BPS)
            and _carried(cases, f"ST few {RISE[-1]}", FEW * SATELLITE_BPS)
        ),
    ),
    Conclusion(
        "an asymmetric circuit carries what a symmetric one with its round trip would",
        lambda cases: _carried(cases, "ST one", SATELLITE_BPS),
    ),
    Conclusion(
        "proxies with connections enough lower latency: cable, circuit, satellite",
        lambda cases: all(_gain(cases, links) > 0 for links in ("TT", "ST", "SS")),
    ),
    Conclusion(
        "the longer the round trip, the larger that gain",
        lambda cases: _gain(cases, "TT") < _gain(cases, "ST") < _gain(cases, "SS"),
    ),
    Conclusion(
        "proxies save traffic toward the United States",
        lambda cases: all(
            cases[f"TT proxy {part}"]["carried_up_bps"] < cases[f"TT1.0 {part}"]["carried_up_bps"] for part in FLAT
        ),
    ),
    Conclusion(
        "a satellite in one direction costs less than in both",
        lambda cases: latency(cases, "TT1.0") < latency(cases, "ST1.0") < latency(cases, "SS1.0"),
    ),
    Conclusion(
        "over the satellite proxies gain more than persistent connections",
        lambda cases: latency(cases, "SS proxy") < latency(cases, "SS1.1"),
    ),
    Conclusion(
        "persistent connections gain over the satellite at 20 % of its rate",
        lambda cases: _persistent(cases, FLAT[0]) > 0,
    ),
    Conclusion(
        "they gain more at 60 %",
        lambda cases: _persistent(cases, FLAT[1]) > _persistent(cases, FLAT[0]),
    ),
    Conclusion(
        "persistent connections behind the proxy gain a tenth besides",
        lambda cases: latency(cases, "SS1.1 proxy") < 0.9 * latency(cases, "SS proxy"),
    ),
    Conclusion(
        "more connections than fill the cable lower its latency at 80 % of its rate",
        lambda cases: cases["TT busy 70"]["latency_mean_s"] < 0.95 * cases["TT busy 20"]["latency_mean_s"],
    ),
)
"""In the order in which the page shows them: what every workload gives comes first."""
