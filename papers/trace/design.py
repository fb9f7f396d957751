"""Points over the open choices, and the simulations that measure the published numbers at each.

A point is a trace family, a rule for the release of responses, and a first window. At each point the same
configurations are simulated at loads that are presented alike whatever the size of responses, all as one sweep of
farweb.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import qmc

from farweb import _core
from farweb.inputs.generate import family_scenario
from farweb.text import toml

from .factors import FACTORS, Floats, values

POINTS = 200  # fourteen a factor; chosen: they take an hour of two cores
SEED = 1997  # of the Latin hypercube

LINK_BPS = 34.368e6
CABLE_BPS = 2.18e6  # of one connection: 32,767 B in 120 ms
SATELLITE_BPS = 690e3  # the same in 380 ms
PERIOD_S = 600
UNWRAPPED = "10 h"  # longer than all copies one behind the other
REQUESTS_A_DAY = 421

_SPREADS = {
    "server_host_sigma": 1.0,
    "server_request_sigma": 1.0,
    "us_rate_host_sigma": 0.8,
    "us_rate_request_sigma": 0.5,
}
_DELAYS = {"TT": ("60 ms", "60 ms"), "ST": ("60 ms", "320 ms"), "SS": ("320 ms", "320 ms")}


@dataclass(frozen=True)
class Proxies:
    """What the proxies do between themselves; the papers publish both.

    Attributes:
        assign: Rule that selects the connection of a response.
        nagle: True when short segments wait for acknowledgements.
    """

    assign: str = "least-outstanding"
    nagle: bool = True


AS_PUBLISHED = Proxies()


@dataclass(frozen=True)
class Case:
    """A configuration at a load.

    Attributes:
        links: ``TT``, ``ST`` or ``SS``: by cable or satellite toward the United States and back.
        connections: Between the proxies; None without them.
        http: ``1.0`` or ``1.1`` toward the servers.
        load_bps: What servers are to present in ten minutes, in bit/s.
    """

    links: str
    connections: int | None
    http: str
    load_bps: float

    @property
    def label(self) -> str:
        """Its name among the runs of a point."""
        between = "no proxy" if self.connections is None else f"{self.connections} connections"
        return f"{self.links}, {between}, HTTP/{self.http}, {self.load_bps / 1e6:.3g} Mbit/s"

    def keys(self, point: Mapping[str, float], proxies: Proxies = AS_PUBLISHED) -> dict[str, Any]:
        """Keys of the scenario at a point."""
        up, down = _DELAYS[self.links]
        constants = {"syn_ack_opens_cwnd": int(point["first window"]) == 1}
        server = {"mss": "host", "buffer": "host", "from": {"buffer": "32767 B"}, "constants": constants}
        closed_by = ("server", "client")[int(point["closer"])]
        how = {"closed_by": closed_by} if self.http == "1.0" else {"idle_timeout": "15 s"}
        carrier = {"kind": f"http/{self.http}", **how}
        if self.connections is None:
            leg = [{"from": "nz-proxy", "to": "server", "carrier": carrier, "tcp": server}]
        else:
            mux = {"kind": "mux", "connections": self.connections, "overhead": "20 B", "assign": proxies.assign}
            between = {"mss": "1460 B", "buffer": "32767 B", "constants": {"nagle": proxies.nagle}}
            leg = [
                {"from": "nz-proxy", "to": "us", "carrier": mux, "tcp": between},
                {"from": "us", "to": "server", "carrier": carrier, "tcp": server},
            ]
        return {
            "path.link.0.up.delay": up,
            "path.link.0.down.delay": down,
            "leg": leg,
            "workload.load": copies(self.load_bps, point["response mean"]),
        }


FLAT = (0.2, 0.6)  # of the link's rate: within the 15 to 80 % of which the claims take the mean
FEW = 10  # connections between the proxies where they are to be too few
RISE = (0.2, 0.5, 0.65, 0.8, 0.9, 1.3)  # shares of what they carry: where latency begins to rise
BUSY_BPS = 0.8 * LINK_BPS
CASES = {
    **{
        f"{links}{http} {part}": Case(links, None, http, part * LINK_BPS)
        for links, http in [("TT", "1.0"), ("ST", "1.0"), ("SS", "1.0"), ("SS", "1.1")]
        for part in FLAT
    },
    **{
        f"{name} proxy {part}": Case(links, connections, http, part * LINK_BPS)
        for name, links, connections, http in [
            ("TT", "TT", 70, "1.0"),
            ("ST", "ST", 70, "1.0"),
            ("SS", "SS", 100, "1.0"),
            ("SS1.1", "SS", 100, "1.1"),
        ]
        for part in FLAT
    },
    **{f"TT few {part}": Case("TT", FEW, "1.0", part * FEW * CABLE_BPS) for part in RISE},
    **{f"ST few {part}": Case("ST", FEW, "1.0", part * FEW * SATELLITE_BPS) for part in RISE},
    **{f"TT busy {number}": Case("TT", number, "1.0", BUSY_BPS) for number in (20, 70)},
    **{f"ST busy {number}": Case("ST", number, "1.0", BUSY_BPS) for number in (50, 70)},
    "ST one": Case("ST", 1, "1.0", 30e6),
}
"""What is simulated at each point, by the names that `numbers.py` uses."""


def unit_points(number: int = POINTS) -> Floats:
    """A Latin hypercube over the factors, a row a point, each from 0 to 1."""
    sampler = qmc.LatinHypercube(d=len(FACTORS), rng=np.random.default_rng(SEED), optimization="random-cd")
    found: Floats = sampler.random(number)
    return found


def trace_means(parameters: Mapping[str, str | float]) -> dict[str, float]:
    """Means over the 31 days of seed 1: response in B, server time and the wait in it in s."""
    texts = {name: str(value) for name, value in parameters.items()}
    scenario = family_scenario("nzix", seed=1, parameters={**texts, "wait_recorded": "true"})
    sums, rows = dict.fromkeys(("response_bytes", "server_s", "wait_s"), 0.0), 0
    for columns in _core.Prepared.of_family(scenario, 1):
        rows += len(columns["start_s"])
        for name in sums:
            sums[name] += float(np.asarray(columns[name]).sum())
    return {name: total / rows for name, total in sums.items()}


def family(point: Mapping[str, float]) -> dict[str, str | float]:
    """Parameters of the family whose trace has the means of a point."""
    spread = point["server spread"]
    found: dict[str, str | float] = {
        **{name: round(sigma * spread, 4) for name, sigma in _SPREADS.items()},
        "tail_shape": round(point["tail index"], 4),
        "request_median": f"{point['request median']:.0f} B",
        "small_mss_share": round(point["small MSS"], 4),
        "small_window_share": round(point["small windows"], 4),
        "page_requests_max": round(point["objects a page"]),
    }
    wait = point["wait share"] * point["server mean"]
    transfer = point["server mean"] - wait
    share, median, slowness = 0.3, 0.2, 8.0  # slowness: ms for 1000 bit, the inverse of the rate
    for _ in range(6):
        found |= {
            "tail_share": round(share, 5),
            "server_median": f"{1000 * median:.3f} ms",
            "us_rate": f"{1000 / slowness:.3f} kbit/s",
        }
        means = trace_means(found)
        share *= 1 + 1.6 * (point["response mean"] / means["response_bytes"] - 1)
        median = max(median + (wait - means["wait_s"]) / _slope(spread), 1e-3)
        taken = means["server_s"] - means["wait_s"]
        slowness = max(slowness * (1 + 1.2 * (transfer / taken - 1)), 0.1)
    return found


def _slope(spread: float) -> float:
    """How much the mean wait grows with the median thinking time: the mean of both lognormal factors."""
    sigmas = [_SPREADS[name] * spread for name in ("server_host_sigma", "server_request_sigma")]
    return float(np.exp(sum(sigma**2 for sigma in sigmas) / 2))


def copies(load_bps: float, response_bytes: float) -> int:
    """Copies of a day that present a load in ten minutes."""
    segments = response_bytes / 1200  # of 1460 and 536 B in their shares
    bits_a_day = REQUESTS_A_DAY * 8 * (response_bytes + 40 * segments)
    return max(round(load_bps * PERIOD_S / bits_a_day), 1)


def runs(points: Floats) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every run: its label, and the keys of its scenario."""
    for number, row in enumerate(points):
        yield from of_point(f"{number:03}", values(row))


def of_point(
    label: str, point: Mapping[str, float], proxies: Proxies = AS_PUBLISHED
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The runs of one point, whose family is solved for its means."""
    yield from at(label, point, family(point), proxies)


def at(
    label: str,
    point: Mapping[str, float],
    parameters: Mapping[str, str | float],
    proxies: Proxies,
    cases: Mapping[str, Case] = CASES,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """The runs of one point with these parameters of the family."""
    kind = int(point["release"])
    common = {
        "origin.release": ("paced", "paced", "closed-loop", "delayed", "regulated")[kind],
        "workload.copies_offset": f"{point['copies offset']:.3f} s",
        "workload.period": UNWRAPPED if int(point["copies"]) else f"{PERIOD_S} s",
        **{f"workload.parameters.{name}": value for name, value in parameters.items()},
        "workload.parameters.wait_recorded": kind in (1, 2),
    }
    for name, case in cases.items():
        yield f"{label} {name}", {**common, **case.keys(point, proxies)}


def write(out: Path, all_runs: Iterator[tuple[str, dict[str, Any]]], replications: int = 1) -> int:
    """Write a sweep of runs beside its base scenario; how many there are."""
    text = [
        Path(__file__).with_name("base.toml").read_text(encoding="utf-8"),
        f"\n[sweep]\nreplications = {replications}\n",
    ]
    count = 0
    for label, keys in all_runs:
        count += 1
        text.append(f"\n[[sweep.factors.case]]\nlevel = {toml.value(label)}\n[sweep.factors.case.set]\n")
        text += [f"{toml.key(key)} = {toml.value(value, key)}\n" for key, value in keys.items()]
    out.write_text("".join(text), encoding="utf-8")
    return count
