"""Writes a commented scenario to start from, by kind of path and of proxies, for a log or a family (`farweb new`).

Facts of a log decide how its servers are simulated (`serving`). The core writes the text.
"""

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import pyarrow.parquet as pq

from farweb import _core
from farweb.errors import WorkloadError
from farweb.files.atomic import write_text
from farweb.files.parquet import equals
from farweb.inputs.formats import AUTO, TABLE, format_of
from farweb.inputs.import_report import ImportReport
from farweb.inputs.importer import import_log
from farweb.inputs.paths import PathKind, path_kind, years_apart
from farweb.inputs.provenance import provenance, server_times, unread
from farweb.inputs.serving import OF_TODAY, Serving, serving_of
from farweb.inputs.tables import open_requests
from farweb.progress import Progress, unseen
from farweb.text.quantities import count, moment, seconds, size
from farweb.text.sheet import Screen, Sheet
from farweb.text.words import plural

PROXIES = tuple(_core.proxies)
"""Proxies on the path, by name."""

QUEUES = ("drop-tail", "drop-head", "codel", "fq-codel", "pie")
"""Disciplines of queues that `--queue` writes."""

_SEEN_AT = {
    "server": ("each", "The log is a server's: each of its clients has connections of its own."),
    "proxy-clients": ("each", "The log is a proxy's, towards its clients: each has connections of its own to it."),
    "proxy-servers": ("all", "The log is a proxy's, towards the servers: it asks for all its clients, who share."),
}

SEEN_AT = tuple(_SEEN_AT)
"""Where a log was written, as seen from the path: who has connections of its own there."""

_LINE_SHOWN = 80  # bytes (chosen)
_FAMILY_S = 600  # chosen: as long as the family nzix


@dataclass(frozen=True)
class Way:
    """A kind of path and the proxies on it.

    Attributes:
        path: A key of `PATHS` or `STAND_FOR`.
        proxy: One of `PROXIES`.
    """

    path: str
    proxy: str

    @classmethod
    def of(cls, text: str, proxy: str) -> Self:
        """The way that a text names: ``geo+pep``, or ``geo`` with the `proxy` of those that name none."""
        path, _, own = text.partition("+")
        return cls(path, own or proxy)

    @property
    def kind(self) -> PathKind:
        """Its kind of path."""
        return path_kind(self.path)


@dataclass(frozen=True)
class NewScenario:
    """Files that were written.

    Attributes:
        scenario: The scenario file.
        requests: The request table of the log, if there is one.
        hosts: The host table of the log.
        imported: Numbers that the import kept and left out.
        remarks: Reservations about the answers, a sentence each.
        facts: Decisions of the log about the scenario: a label and a sentence each.
    """

    scenario: Path
    requests: Path | None
    hosts: Path | None
    imported: ImportReport | None
    remarks: tuple[str, ...] = ()
    facts: tuple[tuple[str, str], ...] = ()

    def screen(self, path: str, swept: str = "") -> Screen:
        """The path, the log's first request, its decisions, and the factors of a sweep.

        Args:
            path: The path in a sentence.
            swept: Factors of the scenario's sweep beside it.
        """
        rows = [*map(list, self.facts), *([["sweep", swept]] if swept else [])]
        return Screen((path, "", Sheet("", ["", ""], rows)) if rows else (path,))

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        paths = {"requests": self.requests, "hosts": self.hosts}
        named = {name: None if path is None else str(path) for name, path in paths.items()}
        imported = None if self.imported is None else self.imported.to_dict()
        return {"scenario": str(self.scenario), **named, "import": imported, "remarks": list(self.remarks)}


def files_of(file: Path, logs: Sequence[Path], table: Path | None) -> list[Path]:
    """Files of `new_scenario`: the scenario, the requests of logs, and the hosts of these or of their `table`."""
    tables = ["requests.parquet"] if logs and table is None else []
    if tables or (table is not None and provenance(table) is not None):
        tables.append("hosts.tsv")
    return [file, *(file.with_name(f"{file.stem}-{name}") for name in tables)]


def new_scenario(
    file: str | Path,
    *,
    path: str = "geo",
    compare: Sequence[str] = (),
    proxy: str = "none",
    queues: Sequence[str] = (),
    cache: tuple[str, str] | Literal["none"] | None = None,
    shield: tuple[str, str] | None = None,
    seen_at: str | None = None,
    log: str | Path | Sequence[str | Path] | None = None,
    progress: Progress = unseen,
    **options: Any,
) -> NewScenario:
    """Write a scenario, and beside it the tables of a log.

    Args:
        file: The scenario. Its tables are called ``NAME-requests.parquet``, of logs, and ``NAME-hosts.tsv``, of logs
            and of a table that was imported from some.
        path: A key of `PATHS`, or of `STAND_FOR`.
        compare: Several of them, in place of `path`: the scenario has a sweep over them. One may name a proxy of its
            own, such as ``geo+pep``.
        proxy: One of `PROXIES`.
        queues: Of `QUEUES`, in both directions of the long part, in place of the path's own; the scenario has a sweep
            over several. Drop-tail and drop-head have the depth of the path.
        cache: Capacity and policy of a cache in front of the long part of the path, such as ``("10 GB", "lru")``, or
            ``"none"`` for the same path and requests without it.
        shield: The same of a second level at the far end, which the cache asks.
        seen_at: One of `SEEN_AT`: which requests of a proxy's log are taken, and who shares connections. When left out,
            `proxy-servers` for a log that marks cache hits, `server` for others.
        log: The log or logs, or a request table, simulated as it is (default: the family nzix).
        progress: Called as requests are imported.
        options: For the import, as `import_log` takes them. `proxy-clients` and a cache keep hits by default.

    Raises:
        WorkloadError: The log cannot be imported, or would be replaced. Nothing is written then.
    """
    file = Path(file)
    ways = tuple(dict.fromkeys(Way.of(each, proxy) for each in compare or (path,)))
    is_local = cache is not None
    choices = {
        "file": file.name,
        "ways": [vars(way) for way in ways],
        "queues": list(dict.fromkeys(queues)),
        "cache": None if cache == "none" else _level(cache),
        "shield": _level(shield),
        "is_local": is_local,
    }
    logs = [] if log is None else [Path(each) for each in ([log] if isinstance(log, str | Path) else log)]
    table = table_of(logs, options)
    remarks = tuple(filter(None, (years_apart(tuple(dict.fromkeys(way.path for way in ways))),)))
    files = files_of(file, logs, table)
    for written in files:
        if any(each.exists() and written.exists() and written.samefile(each) for each in logs):
            raise WorkloadError(f"{written}: is the log itself; name another file")
    counts: Mapping[str, Any] | None = None
    served, release, clients, span_s = OF_TODAY, "paced", None, float(_FAMILY_S)
    requests: str | dict[str, Any] = "prowgen" if is_local else "nzix"
    made = NewScenario(file, None, None, None, remarks)
    if table is not None:
        counts, span_s, has_tunnels = _table(table)
        place = seen_at or ("server" if counts is None else _likely(counts))
        requests = {"table": {"requests": os.path.relpath(table, file.parent)}}
        made = replace(made, requests=table)
    elif logs:
        table = files[1]
        if seen_at == "proxy-clients" or is_local:
            options = {"keep": "all", **options}
        imported = import_log(logs, table, progress=progress, **options)
        counts, span_s = {"log": imported.log, **imported.counts}, imported.span_s
        has_tunnels, place = bool(counts["caching"].get("tunnel")), seen_at or _likely(counts)
        facts = tuple(_facts(imported, serving_of(counts), _SEEN_AT[place][1]))
        made = replace(made, requests=table, imported=imported, facts=facts)
    if table is not None and counts is not None:
        hosts = files[-1]
        write_text(hosts, _host_table(table))
        named = {"requests": os.path.relpath(table, file.parent), "hosts": hosts.name}
        requests = {"log": {"origin": _origin(counts), **named}}
        made = replace(made, hosts=hosts)
    if logs:
        clients = _clients(place, has_tunnels)
    if counts is not None:
        served, release = serving_of(counts), _release(counts)
    said = {"serving": vars(served), "clients": clients, "release": release, "requests": requests, "span_s": span_s}
    write_text(file, _core.draft(json.dumps({**choices, **said})))
    return made


def _level(cache: tuple[str, str] | None) -> dict[str, str] | None:
    return None if cache is None else {"capacity": cache[0], "policy": cache[1]}


def _facts(imported: ImportReport, served: Serving, clients: str) -> Iterator[tuple[str, str]]:
    """Facts of the log, its first request, and the decisions from them."""
    counts = imported.counts
    log = (
        f"{count(imported.requests)} of {plural(counts['lines'], 'line')}: {size(counts['response_bytes'])} of "
        f"responses in {seconds(imported.span_s)}, from {moment(counts['origin_unix_s'])}"
    )
    yield "log", "; ".join([log, *unread(counts)])
    if first := counts.get("first_request"):
        yield (
            "first",
            f"{first['client']} {first['method']} {first['url']} to {first['host']}, {first['response_bytes']:,} B "
            f"(line {first['line']})",
        )
    yield "http", served.reasons[0]
    yield "clients", clients
    if tunnels := counts["caching"].get("tunnel"):
        yield "tunnels", f"TLS 1.3 inside each of {count(tunnels['requests'])}, over the whole path, but to clear ports"
    yield "servers", server_times({"log": imported.log, **counts})


def table_of(logs: Sequence[Path], options: Mapping[str, Any]) -> Path | None:
    """The request table that is given in place of logs. None: they are logs.

    Args:
        logs: The files.
        options: As `import_log` takes them. A file with options is a log.

    Raises:
        WorkloadError: There is no such file.
    """
    if options.get("log_format") or options.get("fields") or options.get("format", AUTO) != AUTO:
        return None
    if len(logs) != 1 or logs[0].suffix.lower() not in (".parquet", ".csv", ".tsv"):
        return None
    return logs[0] if format_of(logs[0], None) == TABLE else None


def _table(path: Path) -> tuple[Mapping[str, Any] | None, float, bool]:
    """Counts of the import that a table is from, None where it is from none, its span in s, and if it has tunnels."""
    first, last, has_tunnels = None, 0.0, False
    try:
        with open_requests(path) as table:
            for columns in table.core:
                starts = np.asarray(columns["start_s"])
                first, last = float(starts[0]) if first is None else first, float(starts[-1])
                has_tunnels |= "method" in columns and bool(equals(columns["method"], "CONNECT").any())
    except WorkloadError:
        with path.open("rb") as file:
            first_line = file.readline(_LINE_SHOWN)
        if path.suffix.lower() == ".parquet" or b"start_s" in first_line:
            raise
        raise WorkloadError(
            f"{path}: is neither a log that is recognized nor a request table; its first line is "
            f"{first_line.decode(errors='replace').strip()!r}; describe its lines, such as "
            "--log-format '{start},{client},{url},{bytes}', or give it the columns start_s, host, request_bytes "
            "and response_bytes"
        ) from None
    has_tunnels &= table.imported is None or bool(table.imported["caching"].get("tunnel"))
    return table.imported, 0.0 if first is None else last - first, has_tunnels


def _host_table(requests: Path) -> str:
    """The hosts of a request table, with empty places for facts that a log lacks."""
    names: set[str] = set()
    with pq.ParquetFile(requests) as table:
        for batch in table.iter_batches(columns=["host"]):
            names.update(batch["host"].unique().to_pylist())
    return "host\tname\twindow_bytes\tmss_bytes\n" + "".join(f"{name}\t{name}\t\t\n" for name in sorted(names))


def _origin(counts: Mapping[str, Any]) -> str:
    """The log of a table, and what was left out of it, in a sentence, by the counts of its import."""
    dropped = ", ".join(f"{count(lines)} {reason}" for reason, lines in sorted(counts["dropped"].items()))
    return (
        f"Imported from {counts['log']['file']} ({', '.join(counts['formats'])}): {count(counts['requests'])} requests "
        f"of {count(counts['lines'])} lines; left out: {dropped or 'nothing'}; "
        f"unreadable: {counts['unreadable_lines']}."
    )


def _likely(counts: Mapping[str, Any]) -> str:
    """Place of a log, by its format and its hits."""
    return "proxy-servers" if "squid" in counts["formats"] or "hit" in counts["dropped"] else "server"


def _clients(seen_at: str, has_tunnels: bool) -> dict[str, Any]:
    share, about = _SEEN_AT[seen_at]
    return {"share": share, "seen_at": seen_at, "about": about, "has_tunnels": has_tunnels}


def _release(counts: Mapping[str, Any]) -> str:
    """How responses are released: after the wait where the log has it of each, else over the recorded time.

    Without the wait of some, `after-wait` would put the recorded transfer of these before the simulated one.
    """
    served, waited = counts["with_server_time"], counts["with_wait"]
    return "after-wait" if 0 < served == waited else "paced"
