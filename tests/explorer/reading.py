"""Scenario, request table and result tables as the judge reads them: from the files alone, with nothing of farweb's."""

import csv
import json
import math
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from explorer.way import MS, Frames, S, Step, Trace, Way

ROOT = Path(__file__).parents[2]

Columns = dict[str, list[Any]]
Tables = dict[str, Columns]
Row = dict[str, Any]

TIMES = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": S, "min": 60 * S, "h": 3600 * S}
UNITS = TIMES | {
    "B": 1,
    "kB": 1000,
    "KiB": 1024,
    "MB": 1000**2,
    "MiB": 1024**2,
    "GB": 1000**3,
    "GiB": 1024**3,
    "bit/s": 1,
    "kbit/s": 1000,
    "Mbit/s": 1000**2,
    "Gbit/s": 1000**3,
    "packets": 1,
}


def quantity(text: str) -> int:
    """The number of smallest units that a quantity has."""
    number, unit = text.split(" ")
    value = Decimal(number) * UNITS[unit]
    assert value == int(value), text
    return int(value)


PRESETS = {
    preset["name"]: preset
    for preset in json.loads((ROOT / "crates/farweb/src/scenario/presets.json").read_text("utf-8"))
}
"""Presets of links, by name."""


@dataclass(frozen=True)
class Leg:
    """A leg: the places of its ends among the nodes, and its tables."""

    near: int
    far: int
    carrier: dict[str, Any]
    table: dict[str, Any]

    @property
    def kind(self) -> str:
        return str(self.carrier["kind"])

    @property
    def splits(self) -> list[dict[str, Any]]:
        return list(self.table.get("split", []))

    @property
    def connect_bytes(self) -> int:
        """Bytes of a CONNECT that its client ends send first."""
        return 200 if self.splits and self.splits[0].get("by") == "connect" else 0

    def stands(self, stretch: int) -> bool:
        """True of a stretch without handshakes."""
        return stretch > 0 and self.splits[stretch - 1].get("open") == "ready"

    def first_stretch(self, way: str) -> int:
        """The first stretch of that way: the clients' or the servers'."""
        return 0 if way == "up" else len(self.splits)

    @property
    def is_bare(self) -> bool:
        """True when its connections carry the bytes of messages and nothing else."""
        return self.kind in ("http/1.0", "http/1.1") and "tls" not in self.table


@dataclass(frozen=True, eq=False)
class Run:
    """A run: its scenario, its request table and its recorded tables."""

    scenario: dict[str, Any]
    asked: list[dict[str, str]]
    tables: Tables

    @classmethod
    def read(cls, folder: Path, tables: Tables) -> "Run":
        """Read the scenario and the request table in `folder`."""
        scenario = tomllib.loads((folder / "scenario.toml").read_text("utf-8"))
        for link in scenario["path"]["link"]:
            link |= {name: _scheduled(link[name], folder) for name in ("up", "down") if name in link}
        with (folder / scenario["workload"]["requests"]).open(encoding="utf-8", newline="") as file:
            return cls(scenario, list(csv.DictReader(file)), tables)

    @cached_property
    def nodes(self) -> list[str]:
        return list(self.scenario["path"]["nodes"])

    @cached_property
    def links(self) -> list[dict[str, Way]]:
        links = map(_filled, self.scenario["path"]["link"])
        return [{name: _way(link, name) for name in ("up", "down")} for link in links]

    @cached_property
    def legs(self) -> list[Leg]:
        place = self.nodes.index
        return [Leg(place(leg["from"]), place(leg["to"]), leg["carrier"], leg) for leg in self.scenario["leg"]]

    @cached_property
    def caches(self) -> dict[str, dict[str, Any]]:
        """Caches by node, from the clients on."""
        found = {cache["node"]: cache for cache in self.scenario.get("cache", [])}
        return {node: found[node] for node in self.nodes if node in found}

    @cached_property
    def record(self) -> dict[str, Any]:
        """The scenario's `record` table, with the defaults of keys that were left out."""
        own: dict[str, Any] = self.scenario.get("record", {})
        return {"connections": True, "exchanges": False, "packets": "none", "points": ["ends"]} | own

    @cached_property
    def until(self) -> int | None:
        """Time at which the run is cut off, in ns; None where it goes on to its end."""
        until = self.scenario.get("run", {}).get("until", "done")
        ends = [each.ends for link in self.links for each in link.values() if each.ends is not None]
        return min([*ends, *([] if until == "done" else [quantity(until)])], default=None)

    @cached_property
    def patience(self) -> int | None:
        wait = self.scenario.get("clients", {}).get("give_up")
        return None if wait is None else quantity(wait)

    @cached_property
    def is_each(self) -> bool:
        """True if each client has connections of its own."""
        return bool(self.scenario.get("clients", {}).get("share", "each") == "each")

    @cached_property
    def end(self) -> int | None:
        """Time at which the run ended, in ns, where that is known."""
        if self.until is not None:
            return self.until
        for table in ("links", "caches"):
            if self.tables.get(table, {}).get("time_ns"):
                return int(max(self.tables[table]["time_ns"]))
        return None

    def rows(self, table: str) -> list[Row]:
        """The rows of a table; none of one that was not recorded."""
        columns = self.tables.get(table, {})
        return [dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True)]

    @cached_property
    def requests(self) -> dict[int, Row]:
        return {row["request"]: row for row in self.rows("requests")}

    @cached_property
    def treatments(self) -> dict[int, str]:
        """Treatment of each request by caches; none where a load or a draw makes other requests of the table's."""
        return {
            number: row.get("caching") or BY_METHOD.get(row.get("method") or "", "invalidate")
            for number, row in self._rows_asked.items()
        }

    @cached_property
    def methods(self) -> dict[int, str]:
        """Method of each request, empty where it has none; none likewise."""
        return {number: row.get("method") or "" for number, row in self._rows_asked.items()}

    @cached_property
    def tunnels(self) -> dict[int, tuple[int, int]]:
        """Requests with TLS inside: bytes of the CONNECT and of its answer, 0 on the last leg of all."""
        tls = self.scenario.get("clients", {}).get("tunnels", {}).get("tls")
        if tls is None:
            return {}
        start = tls.get("start", "full")
        turns = 4 if (tls.get("version"), start) == ("1.2", "full") else 2 if start == "0-rtt" else 3
        found = {}
        for number, row in self.requests.items():
            method, treatment = self.methods.get(number, ""), self.treatments.get(number)
            sizes = row["request_bytes"], row["response_bytes"]
            if method == "CONNECT" and treatment == "bypass" and row["source"] is None and min(sizes) >= turns:
                found[number] = (min(200, sizes[0] - turns + 1), min(39, sizes[1] - turns + 1))
        return found

    @cached_property
    def _rows_asked(self) -> dict[int, dict[str, str]]:
        if {"load", "rate", "resample"} & set(self.scenario["workload"]):
            return {}
        return dict(enumerate(sorted(self.asked, key=lambda row: Decimal(row["start_s"]))))

    @cached_property
    def is_stored(self) -> bool:
        """True if every response may be stored by caches, for all that the request table says."""
        return not any(row.get("caching") or row.get("method") for row in self.asked)

    @cached_property
    def connections(self) -> dict[int, Row]:
        return {row["connection"]: row for row in self.rows("connections")}

    @cached_property
    def exchanges(self) -> list[Row]:
        return self.rows("exchanges")

    @cached_property
    def by_leg(self) -> list[dict[int, Row]]:
        """The last exchange of each request on each leg."""
        legs: list[dict[int, Row]] = [{} for _ in self.legs]
        for row in self.exchanges:
            legs[row["leg"]][row["request"]] = row
        return legs

    @cached_property
    def is_clean(self) -> bool:
        """True when every request was answered, and none was sent again."""
        is_done = all(row["status"] == "done" for row in self.requests.values())
        return is_done and all(row["resent"] == 0 for row in self.exchanges)

    @cached_property
    def sees_ends(self) -> bool:
        """True when the packets of all connections were recorded at their ends."""
        return self.record["packets"] == "all" and "ends" in self.record["points"]

    @cached_property
    def sees_links(self) -> bool:
        """True when all packets were recorded on all links as well, and the judge knows what these do."""
        if any(way.is_drawn for link in self.links for way in link.values()):
            return False
        taps = {f"link {link}" for link in range(len(self.links))}
        return self.sees_ends and taps <= set(self.record["points"])

    def stretches(self, leg: Leg) -> list[tuple[int, int]]:
        """Places of the ends of each stretch of a leg."""
        ends = [leg.near, *(self.nodes.index(split["at"]) for split in leg.splits), leg.far]
        return list(pairwise(ends))

    def is_inside(self, node: str) -> bool:
        """True when a node is between the ends of a leg."""
        return not any(self.nodes[leg.far] == node for leg in self.legs)

    def caches_inside(self, leg: Leg) -> Iterator[str]:
        """Nodes with caches between the ends of a leg."""
        return (node for node in self.nodes[leg.near + 1 : leg.far] if node in self.caches)


BY_METHOD = {"": "store", "GET": "store", "HEAD": "serve"} | dict.fromkeys(("OPTIONS", "TRACE", "CONNECT"), "bypass")
"""Treatment by caches of a method, where the table has no other; `invalidate` of all others."""


def read_tables(folder: Path) -> Tables:
    """All tables of a results folder."""
    return {path.stem: pq.read_table(path).to_pydict() for path in sorted(folder.glob("*.parquet"))}


def _filled(link: dict[str, Any]) -> dict[str, Any]:
    """A link with the keys that its preset gives."""
    if "preset" not in link:
        return link
    preset = PRESETS[link["preset"]]
    filled = {"handover": preset.get("handover", {}).get("value", {}) | link.get("handover", {})}
    for name in ("up", "down"):
        own = link.get(name, {})
        way: dict[str, Any] = {"rate": f"{preset['rate'][name]} Mbit/s", "delay": f"{preset['delay'][name]} ms"}
        if "loss" in preset:
            way["loss"] = {"kind": "bernoulli", "probability": preset["loss"][name]}
        way |= own
        if way["rate"] != "unlimited":
            depth_ms = preset.get("queue", {}).get(name, preset["delay"]["up"] + preset["delay"]["down"])
            limit = f"{max(2, round(quantity(way['rate']) / 8e6 * depth_ms))} kB"
            table = preset.get("discipline", {}).get(name, {"kind": "drop-tail"})
            way.setdefault("queue", limit if table["kind"] == "drop-tail" else table | {"limit": limit})
            if "variation" in preset:
                way["variation"] = preset["variation"]["value"] | own.get("variation", {})
        filled[name] = way
    return filled


def _scheduled(way: dict[str, Any], folder: Path) -> dict[str, Any]:
    """A direction with the steps, outages and opportunities that its files have."""
    if "trace" in way:
        return way | {"trace": tuple(map(int, (folder / way["trace"]).read_text("utf-8").split()))}
    if "schedule" not in way:
        return way
    with (folder / way["schedule"]).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    repeats = way.get("schedule_after", "hold") == "repeat"
    period = {"every": f"{rows[-1]['time_s']} s"} if repeats else {}
    units = {"rate": ("rate_mbps", "Mbit/s"), "delay": ("delay_ms", "ms")}
    steps: list[dict[str, Any]] = []
    silent: list[tuple[int, str]] = []  # when a mode begins, "" for none
    state, rate = "up", ""
    for row in rows[:-1] if repeats else rows:
        at = f"{row['time_s']} s"
        step = {key: f"{row[name]} {unit}" for key, (name, unit) in units.items() if row.get(name) and row[name] != "0"}
        steps.append({"at": at} | step | ({"loss": float(row["loss"])} if row.get("loss") else {}))
        state, rate = row.get("state") or state, row.get("rate_mbps") or rate
        silent.append((quantity(at), "drop" if state == "drop" else "hold" if state == "down" or rate == "0" else ""))
    ends = [at for at, _ in silent[1:]] + [quantity(f"{rows[-1]['time_s']} s")]
    outages = [
        {"at": f"{at} ns", "lasts": f"{end - at} ns"} | period | ({"mode": mode} if mode == "drop" else {})
        for (at, mode), end in zip(silent, ends, strict=True)
        if mode
    ]
    every = {"steps_every": period["every"]} if repeats else {}
    return way | {"steps": steps, "outage": outages} | every


def _limit(queue: str, rate: str) -> int:
    """The limit of a queue in bytes or packets; a time is the whole bytes that are sent in it."""
    in_time = queue.split(" ")[1] in TIMES
    return quantity(queue) * quantity(rate) // 8_000_000_000 if in_time else quantity(queue)


_QUEUES: dict[str, dict[str, Any]] = {
    "drop-tail": {},
    "drop-head": {},
    "codel": {"limit": "1000 packets", "target": "5 ms", "interval": "100 ms", "variant": "linux", "ecn": False},
    "fq-codel": {
        "limit": "10240 packets",
        "target": "5 ms",
        "interval": "100 ms",
        "variant": "linux",
        "quantum": "1500 B",
        "flows": "exact",
        "ecn": True,
    },
    "pie": {"limit": "1000 packets", "target": "15 ms", "update": "16 ms", "burst": "150 ms", "ecn": False},
}
"""Values of queues that a table leaves out."""


def _queue(written: str | dict[str, Any] | None, rate: str, counts: str) -> dict[str, Any]:
    if written is None or (isinstance(written, str) and written not in _QUEUES):
        written = {"kind": "drop-tail", "counts": counts} | ({} if written is None else {"limit": written})
    elif isinstance(written, str):
        written = {"kind": written}
    values = _QUEUES[written["kind"]] | written
    limit = values.get("limit")
    numbers = {"target", "interval", "update", "burst", "quantum"}
    return {
        "kind": written["kind"],
        "limit": None if limit is None else _limit(limit, rate),
        "in_packets": limit is not None and limit.endswith("packets"),
        "waiting": values.get("counts", "all") == "waiting" or written["kind"] in ("codel", "fq-codel", "pie"),
        "queue": {name: quantity(value) if name in numbers else value for name, value in values.items()},
    }


def _trace(table: dict[str, Any]) -> Trace:
    offset, times = table.get("trace_offset", "0 s"), table["trace"]
    return Trace(
        times=times,
        size=quantity(table.get("trace_bytes", "1504 B")),
        overhead=quantity(table.get("trace_overhead", "4 B")),
        offset=0 if offset == "random" else quantity(offset) % (times[-1] * MS),
        repeats=table.get("trace_repeat", True),
    )


def _frames(dama: dict[str, Any], rate: str) -> Frames:
    every = quantity(dama.get("frame", "100 ms"))
    most, constant = (
        quantity(dama.get(key, own)) * every // 8 // S for key, own in (("max", rate), ("cra", "0 bit/s"))
    )
    return Frames(every, most, min(most, constant))


def _way(link: dict[str, Any], name: str) -> Way:
    table, handover = link[name], link.get("handover")
    trace = _trace(table) if "trace" in table else None
    own = table["rate"] if trace is None else f"{trace.rate} bit/s"
    of_queue = _queue(table.get("queue"), own, table.get("queue_counts", "all"))
    steps = [Step(0, None if own == "unlimited" else quantity(own), quantity(table["delay"]))]
    for step in table.get("steps", []):
        rate = quantity(step["rate"]) if "rate" in step else steps[-1].rate
        delay = quantity(step["delay"]) if "delay" in step else steps[-1].delay
        steps.append(Step(quantity(step["at"]), rate, delay))
    outages = table.get("outage", [])
    loses = any("loss" in step for step in table.get("steps", [])) or any("mode" in each for each in outages)
    loses |= bool(handover and handover.get("loss")) or "fade" in table
    variation, wake = table.get("variation"), table.get("wake")
    return Way(
        steps=tuple(steps),
        factor=(Fraction(str(handover.get("rate", [1, 1])[1])) if handover else 1)
        * (Fraction(math.exp(6 * variation["sigma"])) if variation else 1),
        shift=quantity(handover["delay"][0]) if handover and "delay" in handover else 0,
        trace=trace,
        frames=_frames(table["dama"], table["rate"]) if "dama" in table else None,
        wake=(quantity(wake["after"]), quantity(wake["delay"])) if wake else None,
        is_drawn=any((handover, variation, table.get("jitter"), table.get("fade"), "dama" in table))
        or table.get("trace_offset") == "random",
        every=quantity(table["steps_every"]) if "steps_every" in table else None,
        outages=tuple(
            (quantity(each["at"]), quantity(each["lasts"]), quantity(each["every"]) if "every" in each else None)
            for each in outages
        ),
        **of_queue,
        loss={"kind": "changing"} if loses else table.get("loss", {"kind": "none"}),
    )
