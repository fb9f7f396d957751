"""Results made by hand, with known content: Parquet and a manifest as a run leaves them."""

import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from farweb.folders import Results
from farweb.results.legs import HOLDERS

_I, _F, _S, _B = pa.int64(), pa.float64(), pa.string(), pa.bool_()
_RANGES = pa.list_(pa.struct([("start", _I), ("end", _I)]))

COLUMNS: dict[str, dict[str, pa.DataType]] = {
    "requests": {
        "request": _I,
        "client": pa.uint64(),
        "visit_request": _S,
        "host": _S,
        "source": _S,
        "tag": _S,
        "start_ns": _I,
        "connect_ns": _I,
        "first_byte_ns": _I,
        "end_ns": _I,
        "acked_ns": _I,
        "request_bytes": _I,
        "response_bytes": _I,
        "served_bytes": _I,
        "connection": _I,
        "retransmits": _I,
        "timeouts": _I,
        "status": _S,
        "failure": _S,
        "failed_ns": _I,
    },
    "links": {
        "link": _I,
        "direction": _S,
        "time_ns": _I,
        "interval_ns": _I,
        "bytes": _I,
        "packets": _I,
        "drops": _I,
        "queue_bytes_mean": _F,
        "queue_bytes_max": _I,
        "busy": _F,
        "available_bytes": _I,
    },
    "connections": {
        "connection": _I,
        "leg": _I,
        "client": pa.uint64(),
        "open_ns": _I,
        "close_ns": _I,
        "bytes_up": _I,
        "bytes_down": _I,
        "requests": _I,
        "busy_ns": _I,
        "requests_max": _I,
        "tls_cwnd_ns": _I,
        **{f"held_{holder}_ns": _I for holder in HOLDERS},
    },
    "legs": {
        "leg": _I,
        "time_ns": _I,
        "interval_ns": _I,
        "open_mean": _F,
        "open_max": _I,
        "busy_mean": _F,
        "busy_max": _I,
        "requests_mean": _F,
        "requests_max": _I,
        "connection_requests_max": _I,
    },
    "exchanges": {
        "request": _I,
        "leg": _I,
        "connection_up": _I,
        "connection_down": _I,
        "start_ns": _I,
        "connect_ns": _I,
        "requested_ns": _I,
        "ready_first_ns": _I,
        "ready_last_ns": _I,
        "sent_last_ns": _I,
        "first_byte_ns": _I,
        "end_ns": _I,
        "cwnd_ns": _I,
        "window_ns": _I,
        "buffer_ns": _I,
        "credit_ns": _I,
        "nagle_ns": _I,
    },
    "caches": {
        "node": _S,
        "time_ns": _I,
        "interval_ns": _I,
        "requests": _I,
        "hits": _I,
        "delayed_hits": _I,
        "revalidations": _I,
        "request_bytes": _I,
        "hit_bytes": _I,
        "delayed_hit_bytes": _I,
        "objects": _I,
        "bytes": _I,
    },
    "packets": {
        "time_ns": _I,
        "connection": _I,
        "leg": _I,
        "node": _S,
        "link": _I,
        "event": _S,
        "direction": _S,
        "seq": _I,
        "ack": _I,
        "payload_bytes": _I,
        "window_bytes": _I,
        "flags": _S,
        "retransmission": _B,
        "sack": _RANGES,
        "cwnd_bytes": _I,
        "ssthresh_bytes": _I,
        "credit_limit": _I,
    },
}

Row = Mapping[str, Any]
SECOND = 1_000_000_000


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
        "connection": number,
        "retransmits": 0,
        "timeouts": 0,
        "status": "done",
        **more,
    }


def exchange(number: int, **more: Any) -> Row:
    """A second of a request on leg 0 over 60 ms each way, of which the server has half."""
    start = number * SECOND
    at_ms = {"connect": 120, "requested": 180, "ready_first": 680, "ready_last": 680, "sent_last": 900, "end": 1000}
    times = {f"{name}_ns": start + at * SECOND // 1000 for name, at in at_ms.items()}
    held = dict.fromkeys(("window_ns", "buffer_ns", "credit_ns", "nagle_ns"), 0)
    return {"request": number, "leg": 0, "start_ns": start, **times, "cwnd_ns": SECOND // 5, **held, **more}


def leg_interval(leg: int, number: int, **more: Any) -> Row:
    """What a leg held in second `number`, counted from 0."""
    held = {"open_mean": 0.0, "open_max": 0, "busy_mean": 0.0, "busy_max": 0, "requests_mean": 0.0, "requests_max": 0}
    time = {"time_ns": (number + 1) * SECOND, "interval_ns": SECOND}
    return {"leg": leg, **time, **held, "connection_requests_max": 0, **more}


def cache_interval(node: str, number: int, **more: Any) -> Row:
    """What a cache was asked for and served in second `number`, counted from 0; what it held at its end."""
    time = {"time_ns": (number + 1) * SECOND, "interval_ns": SECOND}
    zero = dict.fromkeys(list(COLUMNS["caches"])[3:], 0)
    return {"node": node, **time, **zero, **more}


def interval(link: int, direction: str, number: int, **more: Any) -> Row:
    """What a link did in second `number`, counted from 0."""
    return {
        "link": link,
        "direction": direction,
        "time_ns": (number + 1) * SECOND,
        "interval_ns": SECOND,
        "bytes": 0,
        "packets": 0,
        "drops": 0,
        "queue_bytes_mean": 0.0,
        "queue_bytes_max": 0,
        "busy": 0.0,
        **more,
    }


def leg(carrier: Row | None = None, **tcp: Any) -> Row:
    """A leg of a scenario: `http/1.0` with a buffer of 10,000 B at both ends, unless given."""
    return {
        "carrier": {"kind": "http/1.0", **(carrier or {})},
        "tcp": {"profile": "bsd44-lite", "mss": "1460 B", "buffer": "10000 B", **tcp},
    }


def measured_leg(number: int, **more: Any) -> Row:
    """What the manifest says of a leg, measured over 60 s."""
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
    totals = {"bytes": 0, "packets": 0, "drops": 0, "queue_bytes_mean": 0.0, "queue_bytes_max": 0, "busy": 0.0}
    manifest = {
        "kind": "farweb run",
        "version": "0.1.0",
        "name": name,
        "seed": seed,
        "wall_s": 0.1,
        "cpu_s": 0.1,
        "now_ns": 60 * SECOND,
        "events": 1000 + len(requests),
        "packet_hops": 500,
        "warmup_ns": warmup_ns,
        "links": [
            {"link": link, "direction": way, "interval_ns": 60 * SECOND, **totals}
            for link in range(number)
            for way in ("up", "down")
        ],
        "rows": {"requests": len(requests)},
        "inputs": {},
        "scenario": {"name": name, "path": {"nodes": nodes, "link": [{"up": direction, "down": direction}] * number}},
    }
    ends = [("client", "server")] if scenario is None else list(itertools.pairwise(nodes))
    manifest["scenario"]["leg"] = [  # type: ignore[index]
        {"from": here, "to": there, **each} for (here, there), each in zip(ends, scenario or [leg()], strict=True)
    ]
    whole = {"from_ns": 0, "to_ns": 60 * SECOND, "links": manifest["links"]}
    manifest["measured"] = {**whole, "presented_bytes": 0, "legs": list(measured or ())}
    if caches is not None:
        _add_caches(manifest, caches)
    (path / "manifest.json").write_text(json.dumps(manifest))
    return Results.open(path)


def _filled(table: str, row: Row) -> Row:
    """A row with what follows from its other columns."""
    return {"served_bytes": row["response_bytes"], **row} if table == "requests" else dict(row)


def _add_caches(manifest: dict[str, Any], rows: Sequence[Row]) -> None:
    """Describe the caches that `rows` are of, and what they served in the whole run."""
    nodes = sorted({row["node"] for row in rows})
    counted = ("requests", "hits", "delayed_hits", "revalidations", "request_bytes", "hit_bytes")
    manifest["scenario"] |= {
        "record": {"links_every": "1 s"},
        "cache": [{"node": node, "policy": "lru", "capacity": "1 MB", "siblings": 1} for node in nodes],
    }
    manifest["measured"]["caches"] = [
        {
            "cache": cache,
            **{name: sum(row[name] for row in rows if row["node"] == node) for name in counted},
            **{name: next(row[name] for row in reversed(rows) if row["node"] == node) for name in ("objects", "bytes")},
        }
        for cache, node in enumerate(nodes)
    ]
