"""Results made by hand, with known content: Parquet and a manifest as a run leaves them."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from farweb.results import Results

_I, _F, _S, _B = pa.int64(), pa.float64(), pa.string(), pa.bool_()
_RANGES = pa.list_(pa.struct([("start", _I), ("end", _I)]))

COLUMNS: dict[str, dict[str, pa.DataType]] = {
    "requests": {
        "request": _I,
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
        "connection": _I,
        "retransmits": _I,
        "timeouts": _I,
        "status": _S,
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


def write_results(
    path: Path,
    requests: Sequence[Row] = (),
    *,
    name: str = "cable",
    seed: int = 1,
    warmup_ns: int = 0,
    links: Sequence[Row] | None = None,
    packets: Sequence[Row] | None = None,
) -> Results:
    """Write a results folder of two nodes and one link (or as many as `links` has) and open it."""
    path.mkdir(parents=True)
    for table, rows in {"requests": requests, "links": links, "packets": packets}.items():
        if rows is not None:
            schema = pa.schema(list(COLUMNS[table].items()))
            pq.write_table(pa.Table.from_pylist([dict(row) for row in rows], schema=schema), path / f"{table}.parquet")
    number = 1 + max((row["link"] for row in links or ()), default=0)
    direction = {"rate": "34.368 Mbit/s", "delay": "60 ms", "queue": "256000 B"}
    nodes = ["client", *(f"router{place}" for place in range(1, number)), "server"]
    totals = {"bytes": 0, "packets": 0, "drops": 0, "queue_bytes_mean": 0.0, "queue_bytes_max": 0, "busy": 0.0}
    manifest = {
        "kind": "farweb run",
        "version": "0.1.0",
        "name": name,
        "seed": seed,
        "wall_s": 0.1,
        "cpu_s": 0.1,
        "now_ns": 60 * SECOND,
        "events": 1000,
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
    (path / "manifest.json").write_text(json.dumps(manifest))
    return Results.open(path)
