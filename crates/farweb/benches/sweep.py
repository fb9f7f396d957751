"""Measure what farweb takes besides simulating: a sweep of 1,000 runs of a second, a single run, and `--help`.

    make bench-sweep

Processor time, user and system, of the command and of all processes that it starts. On a machine that others use it
grows by up to half, and the time that passes by any factor: take the least of some. The simulation itself is measured
here, in the core alone.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from farweb import Scenario, _core

REPLICATIONS, POINTS = 20, 50
REQUESTS = 20
EVENTS = 1_000_000

SCENARIO = """
format = 1
name = "one second"

[path]
nodes = ["office", "server"]

[[path.link]]
up = { rate = "10 Mbit/s", delay = "10 ms", queue = "64000 B" }
down = { rate = "10 Mbit/s", delay = "10 ms", queue = "256000 B" }

[[leg]]
from = "office"
to = "server"
carrier = { kind = "http/1.0" }
tcp = { profile = "bsd44-lite", mss = "1460 B", buffer = "32767 B" }

[workload]
requests = "requests.csv"

[run]
seed = 1
"""

SWEEP = f"""
[sweep]
replications = {REPLICATIONS}

[sweep.factors]
"leg.0.tcp.buffer" = ["8192 B", "16384 B", "32767 B", "49152 B", "65535 B"]
"path.link.0.down.delay" = [
    "5 ms", "10 ms", "15 ms", "20 ms", "25 ms", "30 ms", "35 ms", "40 ms", "45 ms", "50 ms",
]
"""


@dataclass(frozen=True)
class Cost:
    """What a command took, in s."""

    cpu_s: float
    wall_s: float


def main() -> None:
    """Measure each several times and print the least processor time of each."""
    parser = argparse.ArgumentParser(description="Measure what farweb takes besides simulating.")
    parser.add_argument("--repeat", type=int, default=3, help="times that each is measured")
    parser.add_argument("--jobs", type=int, default=2, help="runs at a time")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="farweb-bench-") as place:
        folder = Path(place)
        write_inputs(folder)
        helped = least([command("--help") for _ in range(arguments.repeat)])
        run = least([command("run", folder / "one.toml", "-o", folder / "run", "-q", "--force") for _ in range(3)])
        said = json.loads((folder / "run" / "manifest.json").read_text())
        sweeps = [
            command("sweep", folder / "sweep.toml", "-o", folder / f"sweep-{number}", "-q", "--jobs", arguments.jobs)
            for number in range(arguments.repeat)
        ]
        simulated_s = simulation_s(folder / "sweep.toml")
    sweep, runs = least(sweeps), POINTS * REPLICATIONS
    sys.stdout.write(
        f"{'':<34}{'processor':>12}{'passes':>12}\n"
        f"{'farweb --help':<34}{helped.cpu_s:>10.2f} s{helped.wall_s:>10.2f} s\n"
        f"{'one run, as a command':<34}{run.cpu_s:>10.2f} s{run.wall_s:>10.2f} s\n"
        f"{'  of that, as its manifest says':<34}{said['cpu_s']:>10.3f} s{said['wall_s']:>10.3f} s\n"
        f"{f'{runs:,} runs, {arguments.jobs} at a time':<34}{sweep.cpu_s:>10.2f} s{sweep.wall_s:>10.2f} s\n"
        f"{'  a run':<34}{1e3 * sweep.cpu_s / runs:>9.2f} ms\n"
        f"{'  of that, the simulation itself':<34}{1e3 * simulated_s / runs:>9.2f} ms\n"
    )


def write_inputs(folder: Path) -> None:
    """Write a second of requests, a scenario of one run, and one of the sweep."""
    drawn = random.Random(1)
    rows = sorted((drawn.random(), drawn.randrange(5), drawn.randrange(1000, 20_000)) for _ in range(REQUESTS))
    lines = [f"{start:.6f},host{host}.example,300,{size}\n" for start, host, size in rows]
    (folder / "requests.csv").write_text("start_s,host,request_bytes,response_bytes\n" + "".join(lines))
    (folder / "one.toml").write_text(SCENARIO)
    (folder / "sweep.toml").write_text(SCENARIO + SWEEP)


def command(*arguments: object) -> Cost:
    """What a command takes, with all processes that it starts."""
    before, began = os.times(), time.perf_counter()
    subprocess.run([sys.executable, "-m", "farweb", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)
    wall_s, after = time.perf_counter() - began, os.times()
    cpu_s = after.children_user + after.children_system - before.children_user - before.children_system
    return Cost(cpu_s, wall_s)


def simulation_s(file: Path) -> float:
    """Processor time of the simulations of the sweep, in the core alone: nothing is read twice, nothing written."""
    scenario, took_s = Scenario.load(file), 0.0
    table = str(file.parent / "requests.csv")
    prepared = _core.Prepared(table, table)
    for point in range(POINTS):
        core = scenario.point(point).core
        for replication in range(REPLICATIONS):
            simulation = _core.Simulation(core, scenario.core.seed(point, replication), prepared)
            began = time.thread_time()
            while simulation.advance(EVENTS):
                pass
            took_s += time.thread_time() - began
    return took_s


def least(costs: list[Cost]) -> Cost:
    """That with the least processor time."""
    return min(costs, key=lambda cost: cost.cpu_s)


if __name__ == "__main__":
    main()
