"""Provenance of a request table: the log and counts that its import kept with it, and what they say of server times.

A server's time-out is logged like any other time, and the status that tells it is not in the table. It shows as a long
time of a small response, the error page.
"""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from farweb.text.quantities import count, seconds, size
from farweb.text.words import plural

REPORT_KEY = b"farweb.import"
TIME_OUT_S = 30.0
"""Server time in s from which a small response may be that of a time-out; chosen: proxies give up after 30 to 60 s."""
ERROR_PAGE_BYTES = 16_000
"""Response that is small; chosen: above error pages."""


def provenance(table: Path) -> dict[str, Any] | None:
    """Log and counts of the import that a table is from; None of any other table, and of one that cannot be read."""
    if table.suffix.lower() != ".parquet" or not table.exists():
        return None
    try:
        report = (pq.read_schema(table).metadata or {}).get(REPORT_KEY)
    except (OSError, pa.ArrowException):  # a run reports the fault of the table
        return None
    kept: dict[str, Any] | None = None if report is None else json.loads(report)
    return kept


def server_times(kept: Mapping[str, Any]) -> str:
    """Time that servers take, in a few words."""
    if timed := kept["with_server_time"]:
        return f"{plural(timed, 'request')} with a server time"
    if kept["log"].get("server_time") == "none":
        return "answer at once: server times were left out"
    return "answer at once: no server times in the log"


def doubts(kept: Mapping[str, Any]) -> Iterator[str]:
    """Reasons why server times may be too long, a sentence each with its remedy."""
    if kept["with_elapsed_time"] and not kept["log"].get("rtt_ns"):
        yield (
            f"server times of {plural(kept['with_elapsed_time'], 'request')} are elapsed times and contain the path "
            "that the log was written on: --rtt-ms says the round trip of that, --server-time none leaves them out"
        )
    late = kept["time_outs"]
    if late["requests"]:
        many = late["most_frequent"] > 1
        which = f"{count(late['most_frequent'])} of them {seconds(late['most_frequent_s'])}" if many else "the longest"
        which += "" if many else f" {seconds(late['longest_s'])}"
        yield (
            f"{plural(late['requests'], 'response')} of at most {size(ERROR_PAGE_BYTES)} took {seconds(TIME_OUT_S)} or "
            f"more, {which}: time-outs in the log become server times; --no-errors leaves out failed requests, "
            "--server-time none all server times"
        )


def caveats(table: Path) -> list[str]:
    """Assumptions about the server times of a table that an answer rests on, a sentence each."""
    kept = provenance(table)
    if kept is None:
        return []
    at_once = [] if kept["with_server_time"] else [f"servers {server_times(kept)}; latencies contain no work of theirs"]
    return [*at_once, *doubts(kept)]
