"""`farweb workload import`: a proxy's or server's log becomes a request table.

The core reads the log in a stream; the rows go to a Parquet file as they come, which is then put in order of start time
(on disk, when it is large) and begun at zero. Memory does not grow with the log.
"""

import contextlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from farweb import _core
from farweb.atomic import staged_file
from farweb.columns import arrow_schema, to_arrow
from farweb.errors import RunError, WorkloadError
from farweb.quantities import count, seconds
from farweb.sheet import Sheet, to_html, to_rich
from farweb.sorting import sort_parquet
from farweb.tables import REQUESTS

if TYPE_CHECKING:
    from rich.console import RenderableType

REPORT_KEY = b"farweb.import"

_ROWS = 65_536  # chosen: some MB a batch, and some ten batches a second for the progress line
_UNREADABLE_SHOWN = 5  # chosen: enough to see what is wrong; the table keeps more


@dataclass(frozen=True)
class ImportReport:
    """What an import kept and what it left out.

    Attributes:
        out: The request table.
        requests: Its rows.
        span_s: From the first start to the last.
        log: Name, format and options of the log.
        counts: As the reader counted: `lines`, `dropped` by reason, `unreadable`, `assumptions` and others;
            `origin_unix_s` is the Unix time of `start_s` 0.
    """

    out: Path
    requests: int
    span_s: float
    log: Mapping[str, Any]
    counts: Mapping[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        figures = {"requests": self.requests, "span_s": self.span_s}
        return {**self.counts, "out": str(self.out), **figures, "log": dict(self.log)}

    def _sheet(self) -> Sheet:
        dropped = sorted(self.counts["dropped"].items(), key=lambda item: (-item[1], item[0]))
        rows = [
            ["lines", count(self.counts["lines"])],
            ["requests kept", count(self.requests)],
            ["unreadable", count(self.counts["unreadable_lines"])],
            *([f"left out: {reason}", count(lines)] for reason, lines in dropped),
            ["from first to last start", seconds(self.span_s)],
        ]
        return Sheet(self.log["file"], ["", "value"], rows)

    def _remarks(self) -> list[str]:
        assumed = [f"assumed: {text}" for text in self.counts["assumptions"]]
        unreadable = [
            f"unreadable: line {line['line']}: {line['why']}: {line['text']}" for line in self.counts["unreadable"]
        ]
        return assumed + unreadable[:_UNREADABLE_SHOWN]

    def __rich__(self) -> "RenderableType":
        from rich.console import Group
        from rich.text import Text

        return Group(to_rich([self._sheet()]), *map(Text, self._remarks()))

    def _repr_html_(self) -> str:
        remarks = "".join(f"<li>{escape(remark)}</li>" for remark in self._remarks())
        return f"{to_html([self._sheet()])}<ul>{remarks}</ul>"


def import_log(
    log: str | Path,
    out: str | Path,
    *,
    format: str,
    progress: Callable[[int], None] | None = None,
    **options: Any,
) -> ImportReport:
    """Make a request table from a log.

    Args:
        log: The log, plain or gzip.
        out: The request table, a .parquet file; an older one is replaced when the new one is complete.
        format: What the log is: ``squid``, ``clf``.
        progress: Called with the number of requests kept so far, some ten times a second.
        options: As `farweb._core.LogReader` has them: `keep`, `tunnels`, `rtt_ns`, `request_bytes`, `server_time`,
            `server_name`, `max_unreadable`.

    Raises:
        WorkloadError: The log cannot be read, or holds no request. Nothing is written then.
        RunError: The disk is full. Nothing is left then.
    """
    log, out = Path(log), Path(out)
    if out.suffix.lower() != ".parquet":
        raise WorkloadError(f"{out}: a request table is written as Parquet; give it a name that ends in .parquet")
    if out.is_dir():
        raise RunError(f"{out}: is a folder; name a file")
    source = {
        "file": log.name,
        "format": format,
        **{key: value for key, value in options.items() if value is not None},
    }
    reader = _core.LogReader(str(log), format, **options)
    with staged_file(out) as stage:
        raw = stage.with_name("raw.parquet")
        _copy(reader, raw, progress)
        counts = json.loads(reader.report())
        if counts["requests"] == 0:
            reasons = ", ".join(f"{number} {reason}" for reason, number in counts["dropped"].items())
            raise WorkloadError(f"{log}: holds no request to simulate; {counts['lines']} lines: {reasons or 'none'}")
        if not counts.pop("sorted"):
            unsorted = raw
            raw = stage.with_name("sorted.parquet")
            sort_parquet(unsorted, raw, by="start_s", scratch=stage.parent)
        first_s = counts.pop("first_start_s")
        span_s = counts.pop("last_start_s") - first_s
        counts["origin_unix_s"] += first_s
        _begin_at_zero(raw, stage, first_s, json.dumps({"log": source, **counts}, ensure_ascii=False))
    return ImportReport(out, counts["requests"], span_s, source, counts)


def _copy(reader: _core.LogReader, raw: Path, progress: Callable[[int], None] | None) -> None:
    """Write the requests as they come; no file when there is none."""
    rows = 0
    with contextlib.ExitStack() as stack:
        writer = None
        while (columns := reader.batch(_ROWS)) is not None:
            if writer is None:
                schema = _schema(columns, "")
                writer = stack.enter_context(pq.ParquetWriter(raw, schema, compression="zstd"))
            batch = to_arrow(columns, schema)
            writer.write_batch(batch)
            rows += batch.num_rows
            if progress is not None:
                progress(rows)


def _begin_at_zero(raw: Path, out: Path, first_s: float, report: str) -> None:
    """Write the rows of `raw` to `out` with starts since the first one."""
    with pq.ParquetFile(raw) as source:
        schema = _schema(source.schema_arrow.names, report)
        position = schema.get_field_index("start_s")
        with pq.ParquetWriter(out, schema, compression="zstd") as writer:
            for batch in source.iter_batches(batch_size=_ROWS, columns=schema.names):
                # No log is finer than a millisecond: whole microseconds take off what subtraction adds.
                microseconds = np.rint((batch.column(position).to_numpy() - first_s) * 1e6)
                columns = [*batch.columns[:position], pa.array(microseconds / 1e6), *batch.columns[position + 1 :]]
                writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))


def _schema(names: Iterable[str], report: str) -> pa.Schema:
    """The schema of a request table with the columns `names`; `report` goes with the table."""
    present = [column for column in REQUESTS["columns"] if column["name"] in set(names)]
    return arrow_schema({**REQUESTS, "columns": present}, {REPORT_KEY.decode(): report})
