"""Scenarios to compare: every example, the papers' sweeps thinned, and a grid of carriers, TCP profiles, conditions."""

import itertools
import math
import random
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from equality.toml import toml, write_scenario

RECORD = {"links_every": "500 ms", "exchanges": True, "packets": "all", "points": ["ends", "link 0"]}
SAMPLES = {"links_every": "1 s", "connections": True, "exchanges": True, "packets": "sample"}


@dataclass(frozen=True)
class Run:
    """One command: a scenario with other values of some of its keys."""

    name: str
    scenario: Path
    settings: Mapping[str, Any] = field(default_factory=dict)
    verb: Literal["run", "sweep"] = "run"

    def arguments(self, out: Path) -> list[str]:
        """What follows `farweb`."""
        jobs = ("--jobs", "1") if self.verb == "sweep" else ()
        return [self.verb, str(self.scenario), "--quiet", "--out", str(out), *jobs, *self._sets()]

    def check(self) -> list[str]:
        """What follows `farweb` to check it instead."""
        return ["check", str(self.scenario), "--json", "--no-limits", *self._sets()]

    def _sets(self) -> Iterator[str]:
        for key, value in self.settings.items():
            yield from ("--set", f"{key}={toml(value)}")


def direction(rate: str, delay: str, queue: str | None = None, loss: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """One direction of a link."""
    optional = {key: value for key, value in (("queue", queue), ("loss", loss)) if value is not None}
    return {"rate": rate, "delay": delay, **optional}


def recorded(keys: Mapping[str, Any]) -> dict[str, Any]:
    """Settings that record as much as `keys` says."""
    return {f"record.{key}": value for key, value in keys.items()}


# Examples


def example_runs(folder: Path) -> Iterator[Run]:
    """Every example at its own seed, with all that it can record; and their sweeps with few levels."""
    for file in sorted(folder.glob("*.toml")):
        yield Run(f"examples/{file.stem}", file, recorded(RECORD))
        if levels := tomllib.loads(file.read_text("utf-8")).get("sweep", {}).get("factors", {}).get("workload.load"):
            few = {"sweep.replications": 1, 'sweep.factors."workload.load"': [levels[0], levels[-1]]}
            yield Run(f"examples/{file.stem}, swept", file, few, "sweep")


# Papers

LENGTHS = ((4, "done"), (62, "75 s"), (403, "35 s"))
"""Loads, and when their runs end."""
POINTS = 24
"""Most combinations of levels of a scenario; of more than that, so many evenly spread."""
CONNECTIONS = (1, 20, 70)
"""Numbers of connections that stand for all."""
LIGHT = ("idle", "breakdown")
"""Scenarios that are about the lightest load."""
HEAVY = ("no-proxy", "proxy", "split")
"""Scenarios that are also run with more than the line carries."""


def paper_runs(folder: Path) -> Iterator[Run]:
    """Every scenario of the papers at few loads: a light one to its end, heavier ones cut off."""
    for file in sorted(folder.glob("*/*.toml")):
        scenario = tomllib.loads(file.read_text("utf-8"))
        if "path" not in scenario:
            continue
        points = list(_points(scenario.get("sweep", {}).get("factors", {})))
        for name, point in points[:: math.ceil(len(points) / POINTS)]:
            table = point.get("workload.requests", scenario["workload"].get("requests"))
            if table and not (file.parent / table).exists():
                continue  # its study makes it first
            lengths = LENGTHS if file.stem in HEAVY else LENGTHS[:1] if file.stem in LIGHT else LENGTHS[:2]
            for load, length in lengths:
                settings = {**point, "workload.load": load, "run.until": length, **recorded(SAMPLES)}
                yield Run(", ".join([f"papers/{file.parent.name}/{file.stem}", *name, f"load {load}"]), file, settings)


def _points(factors: Mapping[str, Any]) -> Iterator[tuple[list[str], dict[str, Any]]]:
    """The combinations of levels, without the load's: their names and settings."""
    sides: list[list[tuple[str, dict[str, Any]]]] = []
    for key, levels in factors.items():
        if key == "workload.load":
            continue
        if isinstance(levels[0], dict):
            sides.append([(str(level["level"]), level["set"]) for level in levels])
        else:
            word = key.rpartition(".")[2]
            sides.append(
                [(f"{word} {level}", {key: level}) for level in (CONNECTIONS if word == "connections" else levels)]
            )
    for combination in itertools.product(*sides):
        settings: dict[str, Any] = {}
        for _, sets in combination:
            settings |= sets
        yield [name for name, _ in combination], settings


# The grid

PROFILES = ("bsd44-lite", "linux", "linux-classic")
HTTP_10 = {"kind": "http/1.0"}
HTTP_11 = {"kind": "http/1.1", "idle_timeout": "2 s", "closed_by": "client"}
LIMITED = {"kind": "http/1.1", "idle_timeout": "1 s", "closed_by": "server", "per_host": 2, "total": 5}
MUX = {"kind": "mux", "connections": 4, "overhead": "20 B", "assign": "least-outstanding", "ties": "first"}
TURNS = {"kind": "mux", "connections": 3, "overhead": "2 %", "assign": "round-robin", "ties": "next"}
NEXT = {"kind": "mux", "connections": 5, "overhead": "none", "assign": "least-outstanding", "ties": "next"}
HTTP_2 = {"kind": "http/2", "client": {"preset": "chrome"}, "server": {"preset": "nginx"}, "idle_timeout": "2 s"}
SMALL_CREDIT = {"kind": "http/2", "connections": 2, "session_credit": "4096 B", "session_limit": 3}
WEBMUX = {"kind": "webmux"}

CARRIERS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "http/1.0": [HTTP_10],
    "http/1.1": [HTTP_11],
    "http/1.1 with limits": [LIMITED],
    "http/1.0 and http/1.1": [HTTP_10, HTTP_11],
    "http/1.1 with limits and http/1.0": [LIMITED, HTTP_10],
    "mux and http/1.0": [MUX, HTTP_10],
    "mux in turns and http/1.1": [TURNS, HTTP_11],
    "mux next and http/1.1 with limits": [NEXT, LIMITED],
    "http/2": [HTTP_2],
    "webmux": [WEBMUX],
    "http/2 with small credit and webmux": [SMALL_CREDIT, WEBMUX],
}

CONDITIONS: Mapping[str, Mapping[str, Any]] = {
    "clean": {"origin.release": "paced"},
    "delayed, warm-up": {"origin.release": "delayed", "run.warmup": "3 s", "run.measure": "whole"},
    "at once, cut off": {"origin.release": "at-once", "run.until": "5 s"},
    "single losses": {
        "path.link.0.up.loss": {"kind": "bernoulli", "probability": 0.01},
        "path.link.0.down.loss": {"kind": "bernoulli", "probability": 0.03},
    },
    "bursts": {
        "path.link.1.down.loss": {"kind": "gilbert-elliott", "good_to_bad": 0.01, "bad_to_good": 0.3, "loss_bad": 0.8}
    },
    "listed losses": {
        "path.link.0.up.loss": {"kind": "list", "drop": ["syn 1", "data 1", "ack 3"]},
        "path.link.0.down.loss": {"kind": "list", "drop": ["synack 1", "data 2", "data 5..6", "fin 1"]},
    },
    "small queues": {"path.link.0.down.queue": "5 packets", "path.link.1.down.queue": "4000 B"},
    "waiting counts": {"path.link.0.down.queue": "6 packets", "path.link.0.down.queue_counts": "waiting"},
    "links that change": {
        "path.link.0.handover": {
            **{"every": "3 s", "gap": ["50 ms", "200 ms"], "rate": [0.7, 1.3], "delay": ["-5 ms", "5 ms"]},
            **{"loss": 0.1, "loss_for": "100 ms"},
        },
        "path.link.0.down.variation": {"sigma": 0.3, "every": "100 ms", "correlation": 0.8},
        "path.link.0.up.jitter": {"uniform": "3 ms"},
        "path.link.1.down.steps": [{"at": "2 s", "rate": "5 Mbit/s"}, {"at": "6 s", "delay": "10 ms", "loss": 0.01}],
        "path.link.1.up.outage": [{"at": "4 s", "lasts": "500 ms", "mode": "drop"}],
    },
    "broken": {"path.link.0.down.loss": {"kind": "list", "drop": ["any 5..300"]}, "workload.load": 1},
    "unreachable": {"path.link.0.up.loss": {"kind": "list", "drop": ["syn 1..100"]}},
    "copies": {"workload.load": 3, "workload.copies_offset": "700 ms", "workload.copies_hosts": "renamed"},
    "turned copies": {"workload.load": 3, "workload.copies_offset": "5 s", "workload.period": "20 s"},
    "unrecorded": {"record.exchanges": False, "record.packets": "none"},
    "TLS": {"leg.0.tls": {"version": "1.2", "small_record": "1400 B"}},
    "programs that wake": {"leg.0.application": {"wake": "1600 us"}},
    "programs that write in pieces": {"leg.0.application": {"wake": "1600 us", "write": "4096 B", "head": "250 B"}},
}

HTTP_ONLY = ("TLS", "programs that wake", "programs that write in pieces")
"""Conditions of connections with programs at their ends, which transfers have none of."""

CACHES: Mapping[str, Mapping[str, Any]] = {
    "hits at random": {"hit_ratio": 0.4},
    "live": {"policy": "lru", "capacity": "60 kB", "ttl": "3 s"},
    "store and forward": {"policy": "gdsf", "capacity": "60 kB", "mode": "store-and-forward", "siblings": 2},
}
"""A cache at the node in the middle, where two legs meet."""

TRANSFERS: Mapping[str, Mapping[str, Any]] = {
    "plain": {},
    "delayed ACKs": {"leg.0.tcp.constants.delayed_ack": True},
    "SYN": {"leg.0.tcp.constants.syn": True, "leg.0.tcp.constants.limited_transmit": True},
}
"""Variants of ns-2's transfers."""


def grid_runs(inputs: Path) -> Iterator[Run]:
    """Every carrier with every profile under every condition, on one small log."""
    requests, hosts = _small_log(inputs)
    for (carrier, kinds), profile in itertools.product(CARRIERS.items(), PROFILES):
        scenario = _grid_scenario(inputs, carrier, kinds, profile, requests, hosts)
        for condition, settings in CONDITIONS.items():
            # HTTP/2 writes frames, as long as its preset has them.
            if kinds[0]["kind"] != "http/2" or condition != "programs that write in pieces":
                yield Run(f"{carrier}, {profile}, {condition}", scenario, settings)
    scenario = _grid_scenario(inputs, "transfer", [{"kind": "transfer"}], "ns2-reno", requests, hosts)
    for (variant, constants), (condition, settings) in itertools.product(TRANSFERS.items(), CONDITIONS.items()):
        # No SYN is ever lost there without end: its sender would never give up.
        if condition != "unreachable" and condition not in HTTP_ONLY:
            yield Run(f"transfer, {variant}, {condition}", scenario, {**constants, **settings})
    objects = _object_log(inputs)
    scenario = _grid_scenario(inputs, "cache", [HTTP_11, HTTP_10], "linux", objects, hosts)
    for (cache, keys), (condition, settings) in itertools.product(CACHES.items(), CONDITIONS.items()):
        node = {"node": "middle", **keys}
        yield Run(f"cache, {cache}, {condition}", scenario, {"cache": [node], **settings})


def _grid_scenario(
    inputs: Path, carrier: str, kinds: Sequence[Mapping[str, Any]], profile: str, requests: Path, hosts: Path
) -> Path:
    """One leg from end to end over a router, or two with a proxy in the middle."""
    nodes = ["client", "middle", "server"]
    ends = [("client", "server")] if len(kinds) == 1 else list(itertools.pairwise(nodes))
    tcp: Mapping[str, Any] = {"profile": profile}
    last = tcp if profile == "ns2-reno" else {**tcp, "mss": "host", "buffer": "host", "from": {"mss": "1460 B"}}
    return write_scenario(
        inputs / f"grid-{carrier.replace('/', '-').replace(' ', '-')}-{profile}.toml",
        path={
            "nodes": nodes,
            "link": [
                {"up": direction("1 Mbit/s", "40 ms", "30 packets"), "down": direction("2 Mbit/s", "90 ms", "64 kB")},
                {"up": direction("unlimited", "3 ms"), "down": direction("10 Mbit/s", "3 ms")},
            ],
        },
        leg=[
            {"from": near, "to": far, "carrier": kind, "tcp": last if far == "server" else tcp}
            for (near, far), kind in zip(ends, kinds, strict=True)
        ],
        workload={"requests": requests.name, "hosts": hosts.name},
        record=RECORD,
    )


def _small_log(inputs: Path) -> tuple[Path, Path]:
    """90 requests to six hosts within 12 s, a few of them large; the host table."""
    draw = random.Random(1998).random
    rows, start = ["start_s,host,request_bytes,response_bytes,server_s,source,tag"], 0.0
    for number in range(90):
        start += -math.log(1 - draw()) / 7.5
        size = int(math.exp(7 + 3 * draw() ** 2)) + (150_000 if number % 30 == 10 else 0)
        source = ("middle", "server")[number % 2]
        tag = "sample" if number % 3 == 0 else ""
        rows.append(f"{start:.6f},h{int(6 * draw())}.example,{200 + number},{size},{draw() ** 3:.3f},{source},{tag}")
    requests, hosts = inputs / "small.csv", inputs / "small-hosts.csv"
    requests.write_text("\n".join(rows) + "\n")
    windows = ((32_120, 1460), (8_760, 1460), (4_096, 512), (17_520, 1480), (61_440, 536))  # the sixth has the default
    lines = [f"h{number}.example,h{number},{window},{mss}" for number, (window, mss) in enumerate(windows)]
    hosts.write_text("\n".join(["host,name,window_bytes,mss_bytes", *lines]) + "\n")
    return requests, hosts


def _object_log(inputs: Path) -> Path:
    """120 requests for 30 objects within 12 s, some of them much more often than others."""
    draw = random.Random(2002).random
    rows = ["start_s,host,request_bytes,response_bytes,server_s,tag,object"]
    for number in range(120):
        item = int(30 * draw() ** 3)
        tag = "sample" if number % 3 == 0 else ""
        rows.append(
            f"{number / 10:.1f},h{item % 6}.example,300,{500 + item * 7919 % 20_000},{draw() ** 3:.3f},{tag},{item}"
        )
    requests = inputs / "objects.csv"
    requests.write_text("\n".join(rows) + "\n")
    return requests
