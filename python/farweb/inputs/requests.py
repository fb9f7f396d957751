"""Reads the requests of an input in batches, whatever its format: time, object and size.

Requests come by time (of a trace in its order), may be read several times, and are never held as a whole.
"""

import contextlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farweb import _core
from farweb.errors import WorkloadError
from farweb.files.columns import NULL_ID
from farweb.files.scratch import scratch
from farweb.inputs.caching import BYPASS, INVALIDATE, STORE, caching_codes
from farweb.inputs.formats import (
    AUTO,
    CACHE2K,
    DESCRIBE,
    FORMATS,
    LOGS,
    ORACLE_GENERAL,
    TABLE,
    kind_of_all,
    paths_of,
    unpacked,
)
from farweb.inputs.provenance import errors_of, unread
from farweb.progress import Progress, unseen
from farweb.text.quantities import count

ROWS = 65_536  # chosen: some MB a batch, and few enough batches that their cost does not show

_UNREADABLE_SHOWN = 5  # chosen: enough to see the mistake


@dataclass(frozen=True)
class Batch:
    """Some requests, in their order.

    Attributes:
        time_ns: Their times, uint64, or 0 where the format has none.
        object: Objects that they ask for, uint64.
        bytes: Sizes of the objects, int64, or of the response with its header in a request table or log. 0: none or
            unknown.
        caching: Their treatment by caches, uint8, places in `farweb._core.caching_words`.
    """

    time_ns: NDArray[np.uint64]
    object: NDArray[np.uint64]
    bytes: NDArray[np.int64]
    caching: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.object)

    def named(self) -> "Batch":
        """The requests that name an object."""
        return self._those(self.object != NULL_ID)

    def for_copies(self) -> "Batch":
        """The requests that a copy may serve."""
        return self._those((self.caching != BYPASS) & (self.caching != INVALIDATE))

    def _those(self, those: NDArray[np.bool_]) -> "Batch":
        if those.all():
            return self
        return Batch(self.time_ns[those], self.object[those], self.bytes[those], self.caching[those])


class Requests:
    """The requests of an input. Every iteration reads it from its beginning, and gives at least one request.

    Args:
        name: The file, for people.
        format: Of `formats.FORMATS`.
        read: Gives the batches, and counts lines left out.

    Attributes:
        counts: Numbers read and left out, as plain values.
        left_out: Lines, rows or records that are no request for an object, by reason.
        remarks: Remarks on it, a line each. All three are complete when it has been read to its end.
        header_bytes: Of the sizes, how much was added for headers that the input does not have.
        errors: Requests that are answered by an error (4xx, 5xx). None: not known.
    """

    def __init__(self, name: str, format: str, read: "Callable[[Requests], Iterator[Batch]]") -> None:
        self.name = name
        self.format = format
        self.counts: dict[str, Any] = {}
        self.left_out: dict[str, int] = {}
        self.remarks: list[str] = []
        self.header_bytes = 0
        self.errors: int | None = None
        self._read = read

    def __iter__(self) -> Iterator[Batch]:
        empty = True
        for batch in self._read(self):
            if len(batch):
                empty = False
                yield batch
        if empty:
            reasons = ", ".join(f"{number} {reason}" for reason, number in self.left_out.items())
            raise WorkloadError(f"{self.name}: has no request for an object{f' ({reasons})' if reasons else ''}")


@contextlib.contextmanager
def open_input(
    files: str | Path | Sequence[str | Path],
    format: str | None,
    *,
    keep: str = "all",
    dynamic: bool = True,
    errors: bool = True,
    bypass: str = "",
    max_unreadable: float = 0.01,
    log_format: str | None = None,
    fields: Mapping[str, str] | None = None,
    nameless: bool = False,
    progress: Progress = unseen,
) -> Iterator[Requests]:
    """Open a request table, one or several logs, or a trace.

    Args:
        files: The file, plain or packed by gzip, xz or zstd, or several logs in any order.
        format: One of `formats.FORMATS`. None: detected by `formats.format_of`.
        keep: Of a log: `misses`, `crossed`, `all` or `lines`, as `import_log` has it.
        dynamic: Of a log: True takes pages that are made for each request too.
        errors: Of a log: True takes requests without a status of 2xx or 3xx too.
        bypass: Of a log: requests that caches pass by although RFC 9111 lets them store, as `import_log` has it.
        max_unreadable: Share of the lines of a log or a text trace that may be unreadable, 0 to 1.
        log_format: Format string of a log's lines, as `import_log` has it.
        fields: Keys of a log's JSON objects, likewise.
        nameless: True when a request table may have requests without an object, which are left out.
        progress: Called as requests of a log are imported.

    Raises:
        WorkloadError: The file cannot be read as that.
    """
    described = {"log_format": log_format, "fields": fields}
    paths = paths_of(files)
    path, kind = paths[0], kind_of_all(paths, format, described)
    if kind == TABLE:
        with _table(path, str(path), nameless=nameless, guessed=format is None) as requests:
            yield requests
    elif kind in (AUTO, *LOGS):
        options: dict[str, Any] = {"keep": keep, "dynamic": dynamic, "errors": errors, "bypass": bypass}
        options |= {"max_unreadable": max_unreadable, **described}
        with _log(paths, kind, options, progress) as requests:
            yield requests
    else:
        readers: dict[str, Callable[[Path, Requests], Iterator[Batch]]] = {
            "oracle-general": _oracle_general,
            "webcachesim": lambda plain, requests: _webcachesim(plain, max_unreadable, requests),
            "cache2k": _cache2k,
        }
        with unpacked(path) as plain:
            yield Requests(str(path), kind, lambda requests: readers[kind](plain, requests))


@contextlib.contextmanager
def _table(path: Path, name: str, *, nameless: bool, guessed: bool) -> Iterator[Requests]:
    from farweb.inputs.tables import open_requests

    is_certain = not guessed or path.suffix.lower() in (".parquet", ".tsv")
    hint = "" if is_certain else f"; {DESCRIBE}, or name it with --format: {', '.join(FORMATS)}"
    with contextlib.ExitStack() as opened:
        with _hinted(hint):
            table = opened.enter_context(open_requests(path))

        def read(requests: Requests) -> Iterator[Batch]:
            number = without = 0
            with _hinted(hint):
                for columns in table.core:
                    times = np.rint(np.asarray(columns["start_s"]) * 1e9).astype(np.uint64)
                    objects, sizes = (np.asarray(columns[name]) for name in ("object", "response_bytes"))
                    batch = Batch(times, objects, sizes, caching_codes(columns["caching"]))
                    if not nameless:
                        _check_objects(batch, name, number)
                    named = batch.named()
                    number += len(batch)
                    without += len(batch) - len(named)
                    yield named
            requests.counts["rows"] = number
            requests.errors = errors_of(table.imported, number)
            if without:
                requests.left_out["no-object"] = without

        yield Requests(name, TABLE, read)


@contextlib.contextmanager
def _hinted(hint: str) -> Iterator[None]:
    try:
        yield
    except WorkloadError as error:
        raise WorkloadError(f"{error}{hint}") from None


def _storable(time_ns: NDArray[np.uint64], object: NDArray[np.uint64], bytes: NDArray[np.int64]) -> Batch:
    """Requests of a format that knows no methods."""
    return Batch(time_ns, object, bytes, np.full(len(object), STORE, dtype=np.uint8))


def _check_objects(batch: Batch, name: str, before: int) -> None:
    missing = np.flatnonzero(batch.object == NULL_ID)
    if len(missing):
        raise WorkloadError(
            f"{name}: request {before + int(missing[0]) + 1} (by start time) names no object, and caches hold objects; "
            "give the table a column object, a number or a text such as the URL; a table that an earlier version "
            "imported from a log gets it when the log is imported again"
        )


@contextlib.contextmanager
def _log(paths: Sequence[Path], format: str, options: Mapping[str, Any], progress: Progress) -> Iterator[Requests]:
    from farweb.inputs.importer import import_log

    with scratch() as folder:
        table = folder / "requests.parquet"
        report = import_log(paths, table, format=format, progress=progress, **options)
        with _table(table, ", ".join(map(str, paths)), nameless=False, guessed=False) as requests:
            dropped = sorted(report.counts["dropped"].items(), key=lambda item: (-item[1], item[0]))
            kept = f"{count(report.requests)} requests (keep: {options['keep']})"
            formats = report.counts["formats"]
            requests.format = ", ".join(formats) if format == AUTO else format
            is_without = all(_core.log_formats().get(each, False) for each in formats)
            requests.header_bytes = _core.log_header_bytes if is_without else 0
            requests.counts = {"log": dict(report.log), **report.counts}
            requests.left_out = {reason: lines for reason, lines in dropped if reason != "header"}  # none of a request
            reasons = ", ".join(f"{count(lines)} {reason}" for reason, lines in dropped)
            requests.remarks = [
                f"{count(report.counts['lines'])} lines of the log, {kept}",
                *([f"left out: {reasons}"] if dropped else []),
                *unread(report.counts),
            ]
            _report_unreadable(report.counts, requests)
            yield requests


def _webcachesim(path: Path, max_unreadable: float, requests: Requests) -> Iterator[Batch]:
    reader = _core.TraceReader(str(path), max_unreadable=max_unreadable)
    try:
        while (columns := reader.batch(ROWS)) is not None:
            yield _storable(columns["time_ns"], columns["object"], columns["bytes"])
    except WorkloadError as error:
        raise WorkloadError(str(error).replace(str(path), requests.name)) from None
    requests.counts = json.loads(reader.unreadable())
    requests.remarks = []
    _report_unreadable(requests.counts, requests)


def _report_unreadable(counts: Mapping[str, Any], requests: Requests) -> None:
    if counts["unreadable_lines"]:
        requests.left_out["unreadable"] = counts["unreadable_lines"]
        requests.remarks += [
            f"unreadable: {count(counts['unreadable_lines'])} lines",
            *(
                f"unreadable: line {line['line']}: {line['why']}: {line['text']}"
                for line in counts["unreadable"][:_UNREADABLE_SHOWN]
            ),
        ]


def _oracle_general(path: Path, requests: Requests) -> Iterator[Batch]:
    without = 0
    for records in _records(path, ORACLE_GENERAL, requests):
        times = records["time_s"].astype(np.uint64) * np.uint64(10**9)
        batch = _storable(times, records["object"].astype(np.uint64), records["bytes"].astype(np.int64))
        named = batch.named()
        without += len(batch) - len(named)
        yield named
    if without:
        requests.counts["without_object"] = requests.left_out["no-object"] = without
        requests.remarks.append(f"left out: {count(without)} records with the object 2^64 - 1, which stands for none")


def _cache2k(path: Path, requests: Requests) -> Iterator[Batch]:
    for numbers in _records(path, CACHE2K, requests):
        nothing = np.zeros(len(numbers), dtype=np.int64)
        yield _storable(nothing.astype(np.uint64), numbers.astype(np.uint64), nothing)
    requests.remarks.append("the trace has neither sizes nor times")


def _records(path: Path, record: np.dtype[Any], requests: Requests) -> Iterator[NDArray[Any]]:
    """The records of a file. An incomplete record at its end is reported."""
    size = path.stat().st_size
    requests.counts = {"records": size // record.itemsize, "bytes_left_out": size % record.itemsize}
    requests.remarks = []
    if size < record.itemsize:
        raise WorkloadError(f"{requests.name}: holds no record of {record.itemsize} bytes")
    if size % record.itemsize:
        requests.left_out["unreadable"] = 1
        requests.remarks.append(
            f"unreadable: the last {size % record.itemsize} bytes, no whole record of {record.itemsize} bytes"
        )
    with path.open("rb") as file:
        while len(records := np.fromfile(file, record, ROWS)):
            yield records
