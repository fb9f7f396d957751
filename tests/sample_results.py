"""Results made by hand, with known content: Parquet and a manifest as a run leaves them."""

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from farweb.files.columns import arrow_type, results_tables
from farweb.library.run_results import Results
from farweb.results.legs import described

COLUMNS: dict[str, dict[str, pa.DataType]] = {
    table: {column["name"]: arrow_type(column) for column in spec["columns"]}
    for table, spec in results_tables().items()
}
"""Types of the columns of each table, by their names."""

Row = Mapping[str, Any]
SECOND = 1_000_000_000
NOTHING: Row = {
    **dict.fromkeys(("bytes", "packets", "drops", "drops_full", "drops_aqm", "drops_loss", "marks"), 0),
    "queue_bytes_max": 0,
    **{"queue_bytes_mean": 0.0, "busy": 0.0},
    **dict.fromkeys(("sojourn_p50_s", "sojourn_p95_s", "sojourn_max_s")),
}
"""Row of a link that carried nothing."""


def request(number: int, latency_s: float, size: int, **more: Any) -> Row:
    """A finished request that starts `number` seconds into the run, on the connection of the same number."""
    start = number * SECOND
    end = start + round(latency_s * SECOND)
    return {
        "request": number,
        "host": "a.example",
        "start_ns": start,
        "first_byte_ns": (start + end) // 2,
        "end_ns": end,
        "request_bytes": 300,
        "response_bytes": size,
        **{"connection": number, "retransmits": 0, "timeouts": 0, "status": "done"},
        **more,
    }


def exchange(number: int, **more: Any) -> Row:
    """A second of a request on leg 0 over 60 ms each way; the server has half of it."""
    start = number * SECOND
    at_ms = {"connect": 120, "requested": 180, "ready_first": 680, "ready_last": 680, "sent_last": 900, "end": 1000}
    times = {f"{name}_ns": start + at * SECOND // 1000 for name, at in at_ms.items()}
    held = dict.fromkeys(("pacing_ns", "window_ns", "buffer_ns", "credit_ns", "nagle_ns"), 0)
    return {"request": number, "leg": 0, "start_ns": start, **times, "cwnd_ns": SECOND // 5, **held, **more}


def leg_interval(leg: int, number: int, **more: Any) -> Row:
    """Row of a leg in second `number`, counted from 0."""
    held = {"open_mean": 0.0, "open_max": 0, "busy_mean": 0.0, "busy_max": 0, "requests_mean": 0.0, "requests_max": 0}
    time = {"time_ns": (number + 1) * SECOND, "interval_ns": SECOND}
    return {"leg": leg, **time, **held, "connection_requests_max": 0, **more}


def cache_interval(node: str, number: int, **more: Any) -> Row:
    """Requests to a cache and its answers in second `number`, counted from 0, and its contents at the end."""
    time = {"time_ns": (number + 1) * SECOND, "interval_ns": SECOND}
    zero = dict.fromkeys(list(COLUMNS["caches"])[3:], 0)
    return {"node": node, **time, **zero, **more}


def interval(link: int, direction: str, number: int, **more: Any) -> Row:
    """Row of a link in second `number`, counted from 0."""
    time = {"time_ns": (number + 1) * SECOND, "interval_ns": SECOND}
    return {"link": link, "direction": direction, **time, **NOTHING, **more}


def leg(carrier: Row | None = None, **tcp: Any) -> Row:
    """A leg of a scenario: `http/1.0` with a buffer of 10,000 B at both ends, unless given."""
    return {
        "carrier": {"kind": "http/1.0", **(carrier or {})},
        "tcp": {"profile": "bsd44-lite", "mss": "1460 B", "buffer": "10000 B", **tcp},
    }


def measured_leg(number: int, **more: Any) -> Row:
    """Entry of the manifest for a leg, measured over 60 s."""
    zero = {"open_mean": 0.0, "open_max": 0, "busy_mean": 0.0, "busy_max": 0, "requests_mean": 0.0, "requests_max": 0}
    return {"leg": number, "interval_ns": 60 * SECOND, **zero, "connection_requests_max": 0, **more}


def write_results(
    path: Path,
    requests: Sequence[Row] = (),
    *,
    name: str = "cable",
    seed: int = 1,
    warmup_ns: int = 0,
    links: Sequence[Row] | None = None,
    packets: Sequence[Row] | None = None,
    connections: Sequence[Row] | None = None,
    legs: Sequence[Row] | None = None,
    exchanges: Sequence[Row] | None = None,
    caches: Sequence[Row] | None = None,
    measured: Sequence[Row] | None = None,
    scenario: Sequence[Row] | None = None,
) -> Results:
    """Write a results folder of two nodes and one link (or as many as `links` has) and open it.

    Args:
        path: The folder, which is made.
        requests: Rows of the table; `links`, `packets`, `connections`, `legs`, `exchanges` and `caches` are others.
        name: Of the run.
        seed: Of the run.
        warmup_ns: Of the run.
        links: As `requests`.
        packets: As `requests`.
        connections: As `requests`.
        legs: As `requests`.
        exchanges: As `requests`.
        caches: As `requests`; the scenario has an LRU cache of 1 MB at each of their nodes.
        measured: What the manifest says of each leg, measured over the whole run.
        scenario: The legs of the scenario, a link each (see `leg`); one over all links where left out.
    """
    path.mkdir(parents=True)
    tables = {"requests": requests, "links": links, "packets": packets}
    tables |= {"connections": connections, "legs": legs, "exchanges": exchanges, "caches": caches}
    for table, rows in tables.items():
        if rows is not None:
            schema = pa.schema(list(COLUMNS[table].items()))
            pq.write_table(
                pa.Table.from_pylist([_filled(table, row) for row in rows], schema=schema), path / f"{table}.parquet"
            )
    number = max(1 + max((row["link"] for row in links or ()), default=0), len(scenario or ()))
    direction = {"rate": "34.368 Mbit/s", "delay": "60 ms", "queue": "256000 B"}
    middle = "proxy" if scenario else "router"
    nodes = ["client", *(f"{middle}{place}" for place in range(1, number)), "server"]
    manifest = {
        **{"kind": "farweb run", "version": "0.1.0", "name": name, "seed": seed, "warmup_ns": warmup_ns},
        **{"wall_s": 0.1, "cpu_s": 0.1, "now_ns": 60 * SECOND, "events": 1000 + len(requests), "packet_hops": 500},
        "links": [
            {"link": link, "direction": way, "interval_ns": 60 * SECOND, **NOTHING}
            for link in range(number)
            for way in ("up", "down")
        ],
        "rows": {"requests": len(requests)},
        "inputs": {},
        "scenario": {
            **{"name": name, "workload": {}},
            "path": {"nodes": nodes, "link": [{"up": direction, "down": direction}] * number},
        },
    }
    ends = [("client", "server")] if scenario is None else list(itertools.pairwise(nodes))
    manifest["scenario"]["leg"] = [  # type: ignore[index]
        {"from": here, "to": there, **each} for (here, there), each in zip(ends, scenario or [leg()], strict=True)
    ]
    manifest["legs"] = described(manifest["scenario"])  # type: ignore[arg-type]
    whole = {"from_ns": 0, "to_ns": 60 * SECOND, "links": manifest["links"]}
    presented = {"presented_bytes": 0, "tunnel_bytes": 0}
    manifest["measured"] = {**whole, **presented, "legs": list(measured or ()), "caches": []}
    if caches is not None:
        _add_caches(manifest, caches)
    (path / "manifest.json").write_text(json.dumps(manifest))
    return Results.open(path)


def _filled(table: str, row: Row) -> Row:
    """A row with the columns that follow from its others, and zeros in those that are never null."""
    zeros = {
        column["name"]: _ZEROS[column["type"].partition("<")[0]]
        for column in results_tables()[table]["columns"]
        if not column["nullable"]
    }
    follows: dict[str, Row] = {
        "requests": {"served_bytes": row.get("response_bytes")},
        "exchanges": {"pace_ns": 0},
    }
    return {**zeros, **follows.get(table, {}), **row}


_ZEROS: Row = {"int64": 0, "float64": 0.0, "bool": False, "string": "", "list": []}


def _add_caches(manifest: dict[str, Any], rows: Sequence[Row]) -> None:
    """Describe the caches of `rows`, and their answers in the whole run."""
    nodes = sorted({row["node"] for row in rows})
    counted = ("requests", "hits", "delayed_hits", "bypasses", "revalidations", "request_bytes", "hit_bytes")
    manifest["scenario"] |= {
        "record": {"links_every": "1 s"},
        "cache": [{"node": node, "policy": "lru", "capacity": "1 MB", "siblings": 1} for node in nodes],
    }
    manifest["measured"]["caches"] = [
        {
            "cache": cache,
            **{name: sum(row.get(name, 0) for row in rows if row["node"] == node) for name in counted},
            **{name: next(row[name] for row in reversed(rows) if row["node"] == node) for name in ("objects", "bytes")},
        }
        for cache, node in enumerate(nodes)
    ]
