"""The open reference runs as scenarios: transfers that Linux and ns-2 made, which the crate's tests compare with."""

import csv
import gzip
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from equality.scenarios import RECORD, Run, direction
from equality.toml import write_scenario

CLASSIC = {"profile": "linux-classic", "mss": "1460 B", "buffer": "32767 B"}
MODERN = {"profile": "linux", "mss": "1460 B"}
LARGE = {
    "receive_buffer_initial": "4194304 B",
    "receive_buffer_max": "4194304 B",
    "receive_buffer_tuning": False,
    "window_scaling": True,
}

STACKS: Mapping[str, Mapping[str, Any]] = {
    "classic": CLASSIC,
    "classic536": {**CLASSIC, "mss": "536 B"},
    "classic-w8k": {**CLASSIC, "buffer": "8760 B"},
    "classic-w64k": {**CLASSIC, "buffer": "65535 B"},
    "classic-sack": {**CLASSIC, "constants": {"sack": True}},
    "classic-sack-rack": {**CLASSIC, "constants": {"sack": True, "rack": True, "tail_loss_probe": True}},
    "classic-ts": {**CLASSIC, "constants": {"timestamps": True}},
    "classic-iw2": {**CLASSIC, "constants": {"initial_cwnd_segments": 2}},
    "classic-iw4": {**CLASSIC, "constants": {"initial_cwnd_segments": 4}},
    "classic-iw10": {**CLASSIC, "constants": {"initial_cwnd_segments": 10}},
    "classic-qack": {**CLASSIC, "constants": {"quick_ack_always": True}},
    "classic-rtomin1s": {**CLASSIC, "constants": {"rto_min": "1 s"}},
    "classic-ssai0": {**CLASSIC, "constants": {"slow_start_after_idle": False}},
    "modern": MODERN,
    "modern-defwmem": {**MODERN, "constants": {"send_buffer_initial": "16384 B", "send_buffer_max": "4194304 B"}},
    "modern-iw1": {**MODERN, "constants": {"initial_cwnd_segments": 1}},
    "modern-reno": {**MODERN, "constants": {"congestion_control": "reno"}},
    "modern-notlp": {**MODERN, "constants": {"tail_loss_probe": False}},
    "modern-norack": {**MODERN, "constants": {"rack": False}},
    "modern-nosack": {**MODERN, "constants": {"sack": False}},
    "modern-ssai0": {**MODERN, "constants": {"slow_start_after_idle": False}},
    "modern-paced": {**MODERN, "constants": {"pacing": "internal"}},
    "reno-paced": {**MODERN, "constants": {"congestion_control": "reno", "pacing": "internal"}},
    "bbr": {**MODERN, "constants": {"congestion_control": "bbr"}},
    "reno-big": {"profile": "linux-classic", "mss": "1460 B", "constants": LARGE},
    "reno-big-sack": {"profile": "linux-classic", "mss": "1460 B", "constants": {"sack": True, **LARGE}},
}
"""The kernel settings of the reference, as a leg's `tcp`."""

START_GAP_S = 20e-6
"""Between the starts of parallel connections."""

NS2 = {"good-10": (10, "source"), "average-40": (40, "source_average"), "good-80": (80, "source")}
"""Arrival rate in transfers/s, and the column that says who serves a transfer."""


def linux_runs(data: Path, inputs: Path) -> Iterator[Run]:
    """A run for each cell of the kernel's table."""
    with (data / "linux" / "cells.csv").open(newline="") as table:
        rows = list(csv.DictReader(table))
    for name, group in itertools.groupby(rows, key=lambda row: row["cell"]):
        yield _linux_run(name, list(group), inputs)


def _linux_run(name: str, rows: list[dict[str, str]], inputs: Path) -> Run:
    """A cell: connections that start together, or requests that follow one another on one connection."""
    cell = rows[0]
    starts = [number * START_GAP_S for number in range(int(cell["nconn"]))]
    carrier: dict[str, Any] = {"kind": "http/1.0"}
    if int(cell["nreq"]) > 1:
        carrier = {"kind": "http/1.1", "idle_timeout": "120 s", "per_host": 1}
        spans = [float(row["total_ms"]) / 1e3 + float(cell["gap_s"]) for row in rows]
        starts = list(itertools.accumulate(spans[:-1], initial=0.0))
    stem = f"linux-{name}".translate(str.maketrans("/ ,:", "____"))
    requests = inputs / f"{stem}.csv"
    lines = [f"{start:.9f},server,300,{cell['size']},{cell['server_delay_s']}" for start in starts]
    requests.write_text("\n".join(["start_s,host,request_bytes,response_bytes,server_s", *lines]) + "\n")
    queue = f"{cell['queue_pkts']} packets"
    rate = f"{cell['rate_bps']} bit/s"
    scenario = write_scenario(
        inputs / f"{stem}.toml",
        path={
            "nodes": ["client", "server"],
            "link": [
                {
                    "up": direction(rate, f"{cell['d_to_server_ms']} ms", queue, _listed(cell["drop"], "ab")),
                    "down": direction(rate, f"{cell['d_to_client_ms']} ms", queue, _listed(cell["drop"], "ba")),
                }
            ],
        },
        leg=[{"from": "client", "to": "server", "carrier": carrier, "tcp": STACKS[cell["stack"]]}],
        origin={"release": "delayed"},
        workload={"requests": requests.name},
        record=RECORD,
    )
    return Run(f"linux/{name}", scenario)


def _listed(drop: str, way: str) -> dict[str, Any] | None:
    """Losses of one direction: `ba:data:13-15,20` as `["data 13..15", "data 20"]`."""
    if not drop.startswith(f"{way}:"):
        return None
    _, kind, numbers = drop.split(":")
    return {"kind": "list", "drop": [f"{kind} {number.replace('-', '..')}" for number in numbers.split(",")]}


def ns2_runs(data: Path, example: Path, inputs: Path) -> Iterator[Run]:
    """The cases of the cache hierarchy that ns-2 has run, 5,000 transfers each."""
    with gzip.open(data / "ns2" / "workload.csv.gz", "rt", newline="") as table:
        rows = list(csv.DictReader(table))
    for case, (rate, source) in NS2.items():
        elapsed, lines = 0, ["start_s,host,request_bytes,response_bytes,source"]
        for row in rows:
            elapsed += int(row["unit_gap"].replace(".", ""))  # ns at one transfer a second
            lines.append(f"{(elapsed + rate // 2) // rate / 1e9:.9f},web,0,{row['bytes']},{row[source]}")
        requests = inputs / f"ns2-{case}.csv"
        requests.write_text("\n".join(lines) + "\n")
        yield Run(f"ns-2/{case}", example, {"workload.requests": str(requests), "record.connections": True})
