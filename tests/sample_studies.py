"""Results of studies made by hand: lines, windows and queues as on paper give each claim a known answer."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from farweb.errors import ResultsError
from farweb.reproduce import PAPERS
from farweb.reproduce.study import Study, StudyResults, read_study
from farweb.results.design import Design
from farweb.results.sweep import SweepTables
from sample_sweeps import Levels, design_of

LINK = 34.368e6
DAY = 65e3  # presented by a day of traffic, in bit/s
LOADS = [1, 4, 16, 31, 62, 93, 155, 217, 279, 341, 403, 434, 465, 496, 512, 527, 558, 620]

CONNECTIONS = "leg.0.carrier.connections"
LATENCY = "sample_latency_mean_s"
IDLE = "leg.0.tcp.constants.idle_restart"

Model = Callable[[int | None, float, int], dict[str, float]]
Change = Callable[[int | None, dict[str, float]], dict[str, float]]


def multiplexing(connection: float, gain: float, rise: float) -> Model:
    """Metrics of a configuration (None: no proxy, or a number of connections), load and replication.

    Args:
        connection: What a connection carries, in bit/s.
        gain: Latency with proxy over that without.
        rise: Share of the connections' capacity at which latency begins to rise.
    """

    def metrics(connections: int | None, load: float, replication: int) -> dict[str, float]:
        presented = load * DAY * (1 + 0.001 * replication)
        capacity = 0.998 * LINK if connections is None else min(0.998 * LINK, connections * connection)
        slope = 1.03 if connections is None else 1.02
        carried = min(slope * presented, capacity)
        full = slope * presented > 0.998 * LINK
        used = slope * presented / capacity
        of_connections = presented / (LINK if connections is None else connections * connection)
        latency = (2.8 if connections is None else 2.8 * gain) * (1 + 0.01 * replication)
        # Less is gained at a thirtieth of the link and below; beyond the rise latency doubles at once.
        latency *= 1.1 if connections is not None and presented < LINK / 30 else 1.0
        latency *= 1 if of_connections < (rise if connections else 0.97) else 2 + of_connections
        growth = 50.0 if full else 1.0
        few = connections is not None and connections * connection < LINK
        queue = 20e3 * (0.5 * capacity if few and used > 1 else presented * growth) / LINK
        up = carried / 19 * (1.1 if connections is None else 1.0)
        opened = 40 * presented / 1e6 * growth * (1 if connections is None else gain)
        own = "leg_0" if connections is None else "leg_1"
        return {
            "presented_bps": presented,
            "carried_bps": carried,
            "carried_up_bps": up,
            "sample_latency_mean_s": latency,
            "link_0_down_queue_bytes_mean": queue,
            "link_0_down_queue_bytes_max": 5 * queue,
            "link_0_up_queue_bytes_mean": 30,
            "link_0_up_queue_bytes_max": 2000,
            "link_1_down_bps": min(presented, 18e6) if connections == 1 else presented,
            f"{own}_open_max": opened,
            "leg_0_connection_requests_max": opened / (connections or 1),
        }

    return metrics


CABLE = multiplexing(2.18e6, 0.83, 0.6)
ASYMMETRIC = multiplexing(690e3, 0.75, 0.75)


@dataclass(frozen=True)
class Sweep:
    """What curves are made of: a design, and the values of each run."""

    path: Path
    design: Design
    metrics: Callable[[Levels, int], dict[str, float]]

    @property
    def runs(self) -> pl.DataFrame:
        seeds = [1 + r for _ in self.design.points for r in range(self.design.replications)]
        return pl.DataFrame({"seed": seeds, "status": ["done"] * len(seeds)})

    @property
    def manifest(self) -> dict[str, str]:
        return {"version": "0.1.0"}

    def values(self, metric: str) -> NDArray[np.float64]:
        points = [
            {name: level.value for name, level in self.design.levels(point).items()}
            for point in range(len(self.design.points))
        ]
        replications = range(self.design.replications)
        runs = [[{"failed_share": 0.0, **self.metrics(levels, r)} for r in replications] for levels in points]
        if not any(metric in run for point in runs for run in point):
            raise ResultsError(f"{self.path}: its runs have no {metric}")
        return np.array([[run.get(metric, np.nan) for run in point] for point in runs])


class Results(StudyResults):
    """Results of a study that are in memory only."""

    def __init__(self, study: Study, sweeps: Mapping[str, Sweep]) -> None:
        super().__init__(study, Path(study.name), quick=False)
        self._made = sweeps

    def sweep(self, name: str) -> SweepTables:
        return cast(SweepTables, self._made[name]) if name in self._made else super().sweep(name)


def results_of(name: str, model: Model, change: Change | None = None, replications: int = 2) -> StudyResults:
    """The sweeps of the cable or the asymmetric study as a model has them.

    Args:
        name: ``cable`` or ``asymmetric``.
        model: What each run says.
        change: Turns what a configuration says into something else.
        replications: Of each point.
    """
    few, enough = ([1, 5, 10, 15], [20, 35, 50, 70]) if name == "cable" else ([1, 5, 10, 15, 20], [35, 50, 70])

    def metrics(levels: Levels, replication: int) -> dict[str, float]:
        connections = levels.get(CONNECTIONS)
        found = model(connections, levels["workload.load"], replication)
        return change(connections, found) if change else found

    factors: dict[str, dict[str, list[Any]]] = {
        "no-proxy": {"workload.load": LOADS},
        "few": {CONNECTIONS: few, "workload.load": LOADS},
        "proxy": {CONNECTIONS: enough, "workload.load": LOADS},
    }
    factors |= {
        "split": {"workload.load": LOADS},
        "linux": {"architecture": ["no US proxy", "50 connections"], "workload.load": LOADS},
        "idle": {
            IDLE: ["since-received", "off"],
            "leg.0.carrier.ties": ["first", "next"],
            "leg.0.tcp.constants.nagle": [True, False],
            "workload.load": LOADS[:4],
        },
    }
    sweeps = {each: Sweep(Path(each), design_of(by, replications), metrics) for each, by in factors.items()}
    return Results(read_study(PAPERS / name), sweeps)


SLOW = {"TT": 2.8, "ST": 0.75 * 5.8, "SS": 5.8}
WAYS = {"noprxy{}1.0": 1.0, "noprxy{}1.1": 0.8, "proxy{}1.0": 0.55, "proxy{}1.1": 0.45}


def satellite_of(factors: Mapping[tuple[str, str], float] | None = None) -> StudyResults:
    """The sweep of the satellite study, as its paper has it; `factors` change metrics of configurations."""

    def metrics(levels: Levels, replication: int) -> dict[str, float]:
        configuration, load = levels["configuration"], levels["workload.load"]
        way, link = next((way, link) for way in WAYS for link in SLOW if way.format(link) == configuration)
        gain_of_load = 1 - 0.1 * load / 620 / WAYS[way] if way == "noprxy{}1.1" else 1.0
        leg = "leg_1" if configuration.startswith("proxy") else "leg_0"
        opened = load * WAYS[way.replace("1.1", "1.0")] * (2 if configuration.endswith("1.1") else 1)
        found = {
            "presented_bps": load * DAY,
            LATENCY: SLOW[link] * WAYS[way] * gain_of_load,
            "link_0_down_queue_bytes_max": 256_000.0,
            "carried_bps": min(load * DAY, LINK),
            f"{leg}_open_max": opened,
        }
        return {metric: value * (factors or {}).get((configuration, metric), 1) for metric, value in found.items()}

    configurations = [way.format(link) for link in SLOW for way in WAYS]
    design = design_of({"configuration": configurations, "workload.load": LOADS}, 2)
    sweep = Sweep(Path("configurations"), design, metrics)

    def persistent(levels: Levels, replication: int) -> dict[str, float]:
        return metrics({**levels, "configuration": "noprxySS1.1"}, replication)

    copies = design_of({"workload.copies_hosts": ["same", "renamed"], "workload.load": LOADS}, 2)
    persistence = Sweep(Path("persistence"), copies, persistent)
    return Results(read_study(PAPERS / "satellite"), {"configurations": sweep, "persistence": persistence})
