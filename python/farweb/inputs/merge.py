"""Merges the request tables of several logs into one, and host tables too, for `farweb workload merge`.

Rows are checked by the core as they stream past, shifted, given their day, and put in order on disk, so memory does not
grow with the tables. The NZ–US study did this with traces of the same ten minutes of successive days.
"""

import csv
import gzip
import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from farweb.errors import WorkloadError
from farweb.files.atomic import staged_file
from farweb.files.columns import arrow_schema, to_arrow
from farweb.files.sorting import sort_parquet
from farweb.inputs.probe import check_host_table, write_host_table
from farweb.inputs.tables import HOSTS, REQUESTS, open_hosts, open_requests
from farweb.progress import Progress, unseen
from farweb.text.quantities import count, seconds
from farweb.text.sheet import Screen, Sheet, Shown

ALIGNMENTS = ("start", "day", "none")

_KEY = "farweb.merge"
_DAY_S = 86_400
_ROWS = 65_536  # chosen: some MB a batch
_SHOWN = 5  # chosen: enough to see the pattern (JSON has all)
_CHECKED = ("window_bytes", "mss_bytes")
_SCHEMA = arrow_schema(REQUESTS, {})


@dataclass(frozen=True)
class MergedTable:
    """A table that went into another: its rows, its days there, and how its starts were shifted, in s."""

    table: str
    requests: int
    first_day: int
    last_day: int
    shift_s: float


@dataclass(frozen=True)
class Conflict:
    """A host with different values in two tables, and the first one's kept."""

    host: str
    column: str
    kept: int
    kept_from: str
    other: int
    other_from: str


@dataclass(frozen=True)
class MergeReport(Shown):
    """Report of a merge of request tables.

    Attributes:
        out: The request table.
        requests: Its rows.
        span_s: From the first start to the last.
        align: Origin of the starts.
        tables: Numbers of each table.
        tagged: Rows that were tagged, by tag.
    """

    out: Path
    requests: int
    span_s: float
    align: str
    tables: tuple[MergedTable, ...]
    tagged: Mapping[str, int]

    def screen(self) -> Screen:
        """The table, and those that became it."""
        rows = [
            [
                table.table,
                count(table.requests),
                str(table.first_day) if table.first_day == table.last_day else f"{table.first_day}–{table.last_day}",
                f"{table.shift_s:+g} s",
            ]
            for table in self.tables
        ]
        header = ["", "requests", "day", "starts shifted by"]
        facts = [
            ["requests", count(self.requests)],
            ["days", count(self.tables[-1].last_day)],
            ["from first to last start", seconds(self.span_s)],
            *([f"tagged {tag}", count(n)] for tag, n in self.tagged.items()),
        ]
        return Screen((Sheet(str(self.out), ["", "value"], facts), Sheet("Tables", header, rows)))


@dataclass(frozen=True)
class MergedHosts(Shown):
    """Host tables that became one.

    Attributes:
        out: The host table.
        hosts: Its rows.
        conflicts: Where tables disagree about a window or an MSS.
    """

    out: Path
    hosts: int
    conflicts: tuple[Conflict, ...]

    def screen(self) -> Screen:
        """The table, and where tables disagree."""
        facts = [["hosts", count(self.hosts)], ["disagreements", count(len(self.conflicts))]]
        lines = [
            f"{each.host}: {each.column} {each.kept} of {each.kept_from} kept, not {each.other} of {each.other_from}"
            for each in self.conflicts[:_SHOWN]
        ]
        if len(self.conflicts) > _SHOWN:
            lines.append(f"and {count(len(self.conflicts) - _SHOWN)} more: --json lists all")
        return Screen((Sheet(str(self.out), ["", "value"], facts), *lines))


def merge_requests(
    tables: Sequence[str | Path],
    out: str | Path,
    *,
    align: str = "start",
    tags: Mapping[str, int] | None = None,
    progress: Progress = unseen,
) -> MergeReport:
    """Merge request tables into one, by start time. Requests that start at once keep the order of the tables.

    Each table is a day, in the order given, numbered in the column `day`. A table with days of its own keeps them,
    after the days of the tables before it.

    Args:
        tables: Request tables, a day each, in their order. Objects keep their ids, as a run has them, without texts.
        out: The request table, a .parquet file. An older one is replaced when the new one is complete.
        align: start: each table's first request is at 0; day: by the time of day; none: starts stay as they are. By the
            time of day, the same minutes of several days fall together: the log's where the table was imported, else
            starts are times since one midnight. The first request of all starts at 0.
        tags: Tag the requests of a table, by its number from 1: sample=1. Other requests keep theirs.
        progress: Called as requests are read.

    Raises:
        WorkloadError: A table cannot be read, or an argument makes no sense. Nothing is written then.
        RunError: The disk is full. Nothing is left then.
    """
    paths, out = [Path(table) for table in tables], Path(out)
    _check(paths, out, align, tags or {})
    shifts = _shifts(paths, align)
    rows, day, merged = 0, 0, []
    with staged_file(out) as stage:
        raw, ordered = stage.with_name("raw.parquet"), stage.with_name("sorted.parquet")
        with pq.ParquetWriter(raw, _SCHEMA, compression="zstd") as writer:
            for number, (path, shift_s) in enumerate(zip(paths, shifts, strict=True), start=1):
                tag = next((tag for tag, chosen in (tags or {}).items() if chosen == number), None)
                requests, days = 0, 1
                with open_requests(path) as table:
                    for columns in table.core:
                        batch = to_arrow(columns, _SCHEMA)
                        last = pa.compute.max(batch["day"]).as_py()
                        days = max(days, last or 1)
                        writer.write_batch(_placed(batch, shift_s, day, tag))
                        requests += batch.num_rows
                        progress(rows + requests, None, f"{rows + requests:,} requests")
                merged.append(MergedTable(str(path), requests, day + 1, day + days, shift_s))
                rows, day = rows + requests, day + days
        sort_parquet(raw, ordered, by="start_s", scratch=stage.parent)
        said = {"align": align, "tables": [{**asdict(each), "table": Path(each.table).name} for each in merged]}
        span_s = _write(ordered, stage, json.dumps(said, ensure_ascii=False))
    tagged = {tag: merged[number - 1].requests for tag, number in (tags or {}).items()}
    return MergeReport(out, rows, span_s, align, tuple(merged), tagged)


def _check(paths: Sequence[Path], out: Path, align: str, tags: Mapping[str, int]) -> None:
    if align not in ALIGNMENTS:
        raise WorkloadError(f'align: found "{align}"; write one of {", ".join(ALIGNMENTS)}')
    if out.suffix.lower() != ".parquet":
        raise WorkloadError(f"{out}: a request table is written as Parquet; give it a name that ends in .parquet")
    for path in paths:
        if path.exists() and out.exists() and out.samefile(path):
            raise WorkloadError(f"{out}: is one of the tables; name another file with --out")
    for tag, number in tags.items():
        if not tag or not 1 <= number <= len(paths):
            raise WorkloadError(f"tag {tag}={number}: write a tag and the number of a table, 1 to {len(paths)}")
    if len(set(tags.values())) < len(tags):
        raise WorkloadError("two tags for one table; a request has one tag")


def _shifts(paths: Sequence[Path], align: str) -> list[float]:
    """The time that is added to the starts of each table, in s."""
    if align == "none":
        return [0.0] * len(paths)
    firsts, origins = zip(*map(_beginning, paths), strict=True)
    if align == "start":
        return [0.0 - first for first in firsts]
    known = [origin is not None for origin in origins]
    if any(known) and not all(known):
        without = paths[known.index(False)]
        raise WorkloadError(f"{without}: has no date, as other tables do; import its log again, or use --align start")
    times = [(origin or 0.0) + first for origin, first in zip(origins, firsts, strict=True)]
    # To the nearest day: minutes before and after midnight stay neighbours.
    days = [math.floor((time - times[0]) / _DAY_S + 0.5) for time in times]
    begin = min(time - _DAY_S * day for time, day in zip(times, days, strict=True))
    return [(origin or 0.0) - _DAY_S * day - begin for origin, day in zip(origins, days, strict=True)]


def _beginning(path: Path) -> tuple[float, float | None]:
    """The first start of a table, in s, and the Unix time of start 0 of one that was imported."""
    with open_requests(path) as table:
        first = float(np.asarray(next(iter(table.core))["start_s"])[0])
    return first, None if table.imported is None else float(table.imported["origin_unix_s"])


def _placed(batch: pa.RecordBatch, shift_s: float, days_before: int, tag: str | None) -> pa.RecordBatch:
    """Rows with their starts shifted, behind the days of the tables before, and tagged."""
    values = {name: batch[name] for name in batch.schema.names}
    # Times are whole nanoseconds: rounding takes off what addition adds.
    shifted = np.rint((batch["start_s"].to_numpy() + shift_s) * 1e9) / 1e9
    values["start_s"] = pa.array(np.maximum(shifted, 0.0))
    values["day"] = pa.compute.add(pa.compute.fill_null(batch["day"], 1), days_before)
    if tag is not None:
        values["tag"] = pa.repeat(tag, batch.num_rows)
    return pa.RecordBatch.from_arrays([values[name] for name in _SCHEMA.names], schema=_SCHEMA)


def _write(ordered: Path, out: Path, said: str) -> float:
    """Write the rows with the meaning of their columns, empty columns left out, and return the span of starts in s."""
    with pq.ParquetFile(ordered) as source:
        empty = {
            name
            for name in ("server_s", "wait_s", "object", "source", "tag", "client", "method", "caching", "tls")
            if _is_empty(source, name)
        }
        columns = [column for column in REQUESTS["columns"] if column["name"] not in empty]
        schema = arrow_schema({**REQUESTS, "columns": columns}, {_KEY: said})
        first = last = None
        with pq.ParquetWriter(out, schema, compression="zstd") as writer:
            for batch in source.iter_batches(batch_size=_ROWS, columns=schema.names):
                starts = batch.column(schema.get_field_index("start_s"))
                first = starts[0].as_py() if first is None else first
                last = starts[-1].as_py()
                writer.write_batch(pa.RecordBatch.from_arrays(batch.columns, schema=schema))
    return float((last or 0.0) - (first or 0.0))


def _is_empty(file: pq.ParquetFile, name: str) -> bool:
    """True when a column has no value, from the footer of its file."""
    groups = (file.metadata.row_group(group) for group in range(file.metadata.num_row_groups))
    number = file.schema_arrow.names.index(name)
    return all(group.column(number).statistics.null_count == group.num_rows for group in groups)


def merge_hosts(tables: Sequence[str | Path], out: str | Path) -> MergedHosts:
    """Merge host tables: each value of a host comes from the first table that has it.

    Args:
        tables: Host tables of any kind that a run takes.
        out: The host table: .tsv, .csv or .parquet. An older one is replaced when the new one is complete.

    Raises:
        WorkloadError: A table cannot be read. Nothing is written then.
        RunError: The disk is full. Nothing is left then.
    """
    out = Path(out)
    check_host_table(out)
    hosts: dict[str, dict[str, Any]] = {}
    sources: dict[tuple[str, str], str] = {}
    conflicts = []
    for table in map(Path, tables):
        if table.exists() and out.exists() and out.samefile(table):
            raise WorkloadError(f"{out}: is one of the tables; name another file with --hosts-out")
        for row in _hosts(table):
            known = hosts.setdefault(row["host"], {})
            for column, value in row.items():
                if value is None:
                    continue
                if column not in known:
                    known[column], sources[row["host"], column] = value, str(table)
                elif column in _CHECKED and known[column] != value:
                    first = sources[row["host"], column]
                    conflicts.append(Conflict(row["host"], column, known[column], first, value, str(table)))
    merged = pa.Table.from_pylist(list(hosts.values()), schema=arrow_schema(HOSTS, {}))
    with staged_file(out) as stage:
        write_host_table(merged, stage)
    return MergedHosts(out, len(hosts), tuple(conflicts))


def _hosts(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a host table: columns of the core, checked, and columns for people."""
    read = to_arrow(open_hosts(path).columns(), _schema_of("host", *_CHECKED)).to_pylist()
    beside = {row["host"]: row for row in _for_people(path)}
    for row in read:
        yield {**beside.get(row["host"], {}), **row}


def _for_people(path: Path) -> Iterable[dict[str, Any]]:
    """The columns of a host table that the core passes over, and the key."""
    schema = _schema_of("host", "name", "rtt_s", "window_scale", "address")
    if path.suffix.lower() == ".parquet":
        there = [name for name in schema.names if name in pq.read_schema(path).names]
        table = pq.read_table(path, columns=there).cast(pa.schema([schema.field(name) for name in there]))
        rows: list[dict[str, Any]] = table.to_pylist()
        return rows
    kind = Path(path.name.removesuffix(".gz")).suffix.lower()
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt", encoding="utf-8-sig", newline="") as file:
        if kind in (".csv", ".tsv"):
            lines = list(csv.reader(file, delimiter="," if kind == ".csv" else "\t"))
        else:
            lines = [[word if word != "-" else "" for word in line.split()] for line in file]
    lines = [line for line in lines if line]
    header = lines.pop(0) if "host" in lines[0] else ["host", "name", *_CHECKED]
    return [
        {
            name: (float(word) if name == "rtt_s" else int(word) if name == "window_scale" else word)
            for name, word in zip(header, line, strict=False)
            if word and name in schema.names
        }
        for line in lines
    ]


def _schema_of(*names: str) -> pa.Schema:
    return arrow_schema({**HOSTS, "columns": [each for each in HOSTS["columns"] if each["name"] in names]}, {})
