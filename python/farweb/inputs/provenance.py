"""Provenance of a request table: the log and counts that its import kept with it, and server times by these."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from farweb.text.quantities import seconds, share
from farweb.text.words import elided, plural

REPORT_KEY = b"farweb.import"
_SHARE_SAID = 0.01  # chosen: fewer lines are odd ones, with quotes in an agent


def provenance(table: Path) -> dict[str, Any] | None:
    """Log and counts of the import that a table is from, or None of any other table, and of one that cannot be read."""
    if table.suffix.lower() != ".parquet" or not table.exists():
        return None
    try:
        return imported(pq.read_schema(table))
    except (OSError, pa.ArrowException):  # a run reports the fault of the table
        return None


def imported(schema: pa.Schema) -> dict[str, Any] | None:
    """Log and counts of the import that a table with this schema is from, or None of any other table."""
    report = (schema.metadata or {}).get(REPORT_KEY)
    kept: dict[str, Any] | None = None if report is None else json.loads(report)
    return kept


def origin(kept: Mapping[str, Any] | None) -> float | None:
    """Unix time of second 0 of a table, or None where it is from no log."""
    return None if kept is None else kept["origin_unix_s"]


def errors_of(kept: Mapping[str, Any] | None, requests: int) -> int | None:
    """Requests of a table that are answered by an error (4xx, 5xx). None: not known, as of a part of a log.

    Args:
        kept: Log and counts of the import that the table is from.
        requests: Rows of the table.
    """
    if kept is None or "errors" not in kept or sum(part["requests"] for part in kept["caching"].values()) != requests:
        return None
    return int(kept["errors"]["requests"])


def server_times(kept: Mapping[str, Any]) -> str:
    """Time that servers take, in a few words."""
    if timed := kept["with_server_time"]:
        return f"{plural(timed, 'request')} with a server time"
    if kept["log"].get("server_time") == "none":
        return "answer at once: server times were left out"
    of_log = "read from" if kept.get("unread_fields", {"requests": 0})["requests"] else "in"
    return f"answer at once: no server times {of_log} the log"


def doubts(kept: Mapping[str, Any]) -> Iterator[str]:
    """Reasons why server times may be wrong, a sentence each with its remedy."""
    if kept["with_server_time"] and (unit := kept.get("unit_doubt")):
        yield unit
    elapsed = kept["with_elapsed_time"]
    if elapsed and not kept["log"].get("rtt_ns"):
        yield (
            f"server times of {plural(elapsed, 'request')} are elapsed times and contain the path "
            "that the log was written on: --rtt-ms says the round trip of that, --server-time none leaves them out"
        )
    waits = kept["time_outs"]
    if waits and waits["requests"]:
        log = f" of {waits['log']}" if waits["log"] else ""
        yield (
            f"{plural(waits['requests'], 'request')} with 408, 502, 503 or 504 after 10 s or more, the longest "
            f"{seconds(waits['longest_s'])} ({waits['status']}, line {waits['line']}{log}): time-outs of the log's own "
            "count as server times; --no-errors leaves errors out, --server-time none all server times"
        )


def unread(counts: Mapping[str, Any]) -> Iterator[str]:
    """What lines have and farweb does not read, a sentence each.

    Values that say nothing, and fields at the ends of lines that their format does not name where more lines have them.

    Args:
        counts: `unread_fields` and `unclear` of an import.
    """
    for name, those in counts["unclear"].items():
        yield f"no clear {name} in {plural(those['requests'], 'request')} ({elided(those['text'], 40)})"
    fields = counts["unread_fields"]
    if fields["share"] >= _SHARE_SAID:
        where = "the end of each line" if fields["share"] == 1 else f"the ends of {share(fields['share'])} of lines"
        are = "is not read" if fields["fields"] == 1 else "are not read"
        text, them = elided(fields["text"], 40), "it" if fields["fields"] == 1 else "them"
        yield f"{plural(fields['fields'], 'more field')} at {where} {are} ({text}): --log-format names {them}"


def caveats(kept: Mapping[str, Any] | None) -> list[str]:
    """Assumptions about the server times of a table that an answer rests on, a sentence each."""
    if kept is None:
        return []
    at_once = [] if kept["with_server_time"] else [f"servers {server_times(kept)}; latencies contain no work of theirs"]
    return [*at_once, *doubts(kept)]
