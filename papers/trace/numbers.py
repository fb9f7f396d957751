"""The published numbers as each point of the design gives them, and how far from the papers that is.

They are measured as the claims of the three studies are, at fewer loads (two of the 15 to 80 % of the link's rate) and
with all requests in place of the sample's: the mean is the same and known better. Left out are the claims that no open
choice can move (T1 to T5, T11, T12, T14, T16, A1 to A4, A6, S1's calibration apart from it, S7, S8) and two that take
loads beyond the link's rate (T6, T9).
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from .design import CABLE_BPS, FEW, FLAT, RISE, SATELLITE_BPS
from .factors import Floats

Cases = Mapping[str, Mapping[str, float]]
"""The metrics of a point's runs by case."""

_RISEN = 1.1  # times its lowest value a latency has begun to rise, as in the studies


@dataclass(frozen=True)
class Number:
    """A published number.

    Attributes:
        claim: Its id on the scoreboard.
        what: In words.
        unit: Its unit; empty for ratios.
        published: The papers' value, where they give one.
        low: Least value that the tolerance allows.
        high: Largest one.
        of: What makes it of the runs of a point; NaN where they do not give it.
    """

    claim: str
    what: str
    unit: str
    published: float | None
    low: float
    high: float
    of: Callable[[Cases], float]

    def implausibility(self, values: Floats) -> Floats:
        """Distance from the middle of the tolerance over its half: up to 1 the claim holds.

        Where only one side is bounded it is 0 on the open side, and 1 and more beyond the bound.
        """
        if math.isinf(self.high):
            return np.where(values >= self.low, 0.0, 1 + np.abs(self.low - values) / abs(self.low))
        if math.isinf(self.low):
            return np.where(values <= self.high, 0.0, 1 + np.abs(values - self.high) / abs(self.high))
        middle, half = (self.low + self.high) / 2, (self.high - self.low) / 2
        found: Floats = np.abs(values - middle) / half
        return found


def latency(cases: Cases, case: str) -> float:
    """Mean latency at the loads of `FLAT`, in s."""
    return float(np.mean([cases[f"{case} {part}"]["latency_mean_s"] for part in FLAT]))


def relative(cases: Cases, case: str, base: str, parts: Sequence[float] = FLAT) -> float:
    """Ratio of two cases' latencies at equal loads, in percent."""
    pairs = [(cases[f"{case} {part}"], cases[f"{base} {part}"]) for part in parts]
    return float(100 * np.mean([each["latency_mean_s"] / other["latency_mean_s"] for each, other in pairs]))


def _change(case: str, base: str) -> Callable[[Cases], float]:
    return lambda cases: relative(cases, case, base) - 100


def _of_satellite(case: str) -> Callable[[Cases], float]:
    return lambda cases: relative(cases, case, "SS1.0")


def _ratio(case: str) -> Callable[[Cases], float]:
    def of(cases: Cases) -> float:
        runs = [cases[f"{case} {part}"] for part in FLAT]
        return float(np.mean([run["carried_bps"] / run["carried_up_bps"] for run in runs]))

    return of


def _busy(links: str, few: int, many: int) -> Callable[[Cases], float]:
    """Ratio of the latencies with few and many connections, at 80 % of the link's rate."""
    runs = [f"{links} busy {number}" for number in (few, many)]
    return lambda cases: cases[runs[0]]["latency_mean_s"] / cases[runs[1]]["latency_mean_s"]


def _rise(links: str, connection_bps: float) -> Callable[[Cases], float]:
    """Use of the connections, in percent, at which latency leaves the tenth above its lowest value."""

    def of(cases: Cases) -> float:
        runs = [cases[f"{links} few {part}"] for part in RISE]
        x = np.array([run["presented_bps"] for run in runs]) / (FEW * connection_bps)
        y = np.array([run["latency_mean_s"] for run in runs])
        limit = _RISEN * y.min()
        last = int(np.flatnonzero(y <= limit)[-1])
        if x[last] >= 1 or last + 1 == len(x):
            return math.nan
        if x[last + 1] < 1:
            return float(100 * (x[last] + (x[last + 1] - x[last]) * (limit - y[last]) / (y[last + 1] - y[last])))
        # The next load is more than they carry, and latency grows as long as the run lasts: to there as 1 / (1 - use).
        added = max(y[last] - y.min(), 0.0)
        return float(100 * (1 - (1 - x[last]) * added / (limit - y.min())))

    return of


def _falls(cases: Cases) -> float:
    queues = [cases[f"TT few {part}"]["link_0_down_queue_bytes_mean"] for part in RISE]
    return queues[-1] / max(queues)


NUMBERS = (
    Number("S1", "mean latency, cable, no proxy", "s", 2.8, 2.52, 3.08, lambda cases: latency(cases, "TT1.0")),
    Number("S2", "mean latency, satellite, no proxy", "s", 5.8, 5.22, 6.38, lambda cases: latency(cases, "SS1.0")),
    Number("S3", "proxy, satellite, of S2", "%", 55, 45, 60, _of_satellite("SS proxy")),
    Number(
        "S4",
        "persistent, satellite, gain on S2 at 60 %",
        "%",
        29,
        18,
        40,
        lambda cases: 100 - relative(cases, "SS1.1", "SS1.0", FLAT[-1:]),
    ),
    Number("S5", "satellite one way, of S2", "%", 75, 70, 82, _of_satellite("ST1.0")),
    Number("S6", "proxy and persistent, satellite, on S2", "%", -55, -63, -47, _change("SS1.1 proxy", "SS1.0")),
    Number("T7", "proxy on cable, change of latency", "%", -17, -25, -10, _change("TT proxy", "TT1.0")),
    Number("T8", "cable: latency rises at this use of connections", "%", 60, 50, 75, _rise("TT", CABLE_BPS)),
    Number("T10", "cable: mean queue falls again, few connections", "", None, -math.inf, 0.999, _falls),
    Number("T13", "cable: bytes in for one out, proxies", "", 19, 16.15, 21.85, _ratio("TT proxy")),
    Number(
        "T15",
        "cable at 80 %: latency, 20 connections over 70",
        "",
        None,
        1.05,
        math.inf,
        _busy("TT", 20, 70),
    ),
    Number("A5", "proxy on circuit, change of latency", "%", -25, -35, -15, _change("ST proxy", "ST1.0")),
    Number("A7", "circuit: latency rises at this use of connections", "%", 75, 60, 85, _rise("ST", SATELLITE_BPS)),
    Number(
        "A8",
        "circuit: presented load with one connection",
        "Mbit/s",
        18,
        12,
        24,
        lambda cases: cases["ST one"]["link_1_down_bps"] / 1e6,
    ),
    Number("A9", "circuit: bytes in for one out, proxies", "", 19, 16.15, 21.85, _ratio("ST proxy")),
    Number(
        "A10",
        "circuit at 80 %: latency, 50 connections over 70",
        "",
        None,
        1.05,
        math.inf,
        _busy("ST", 50, 70),
    ),
)
"""The published numbers that open choices can move, in the order of figures."""

_METRICS = (
    "latency_mean_s",
    "presented_bps",
    "carried_bps",
    "carried_up_bps",
    "link_0_down_queue_bytes_mean",
    "link_1_down_bps",
)


def by_point(runs: pl.DataFrame) -> dict[str, Cases]:
    """The metrics of all runs, means over replications: a point each, by its label.

    Args:
        runs: Table of the runs of the sweeps, with the label of each in the column ``case``.

    Raises:
        ValueError: Requests failed: a latency that leaves some out is no latency of the study.
    """
    if int(runs["failed"].sum()):
        raise ValueError(f"{runs['failed'].sum()} requests failed")
    means = runs.group_by("case").agg([pl.col(name).mean() for name in _METRICS])
    points: dict[str, dict[str, dict[str, float]]] = {}
    for row in means.sort("case").iter_rows(named=True):
        label, _, case = row["case"].partition(" ")
        points.setdefault(label, {})[case] = {name: float(row[name]) for name in _METRICS}
    return dict(points)
