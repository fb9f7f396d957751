"""The requests of a study of caches: time, object and size, from request tables, logs and traces, in batches.

Whatever the format, requests come by time, may be read several times, and are never held as a whole.
"""

import contextlib
import difflib
import gzip
import json
import lzma
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from farweb import _core
from farweb.columns import NULL_ID
from farweb.errors import WorkloadError
from farweb.quantities import count

ROWS = 65_536  # chosen: some MB a batch, and few enough batches that their cost does not show

LOGS = ("squid", "clf")
TRACES = ("oracle-general", "webcachesim", "cache2k")
FORMATS = (*LOGS, *TRACES)

_ORACLE = np.dtype([("time_s", "<u4"), ("object", "<u8"), ("bytes", "<u4"), ("next", "<i8")])
_NUMBERS = np.dtype(">u4")
_UNREADABLE_SHOWN = 5  # chosen: enough to see what is wrong


@dataclass(frozen=True)
class Batch:
    """Some requests, in their order.

    Attributes:
        time_ns: Their times, uint64.
        object: What they ask for, uint64.
        bytes: Sizes of what they ask for, int64; of a request table and a log the response with its header.
    """

    time_ns: NDArray[np.uint64]
    object: NDArray[np.uint64]
    bytes: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.object)


class Requests:
    """The requests of an input; every iteration reads it from its beginning.

    Args:
        name: The file, for people.
        read: Gives the batches, and fills `remarks`.

    Attributes:
        counts: What was read and what was left out, as plain values.
        remarks: The same for people, a line each; of a trace there when it has been read to its end.
    """

    def __init__(self, name: str, read: "Callable[[Requests], Iterator[Batch]]") -> None:
        self.name = name
        self.counts: dict[str, Any] = {}
        self.remarks: list[str] = []
        self._read = read

    def __iter__(self) -> Iterator[Batch]:
        return self._read(self)


@contextlib.contextmanager
def open_input(
    path: Path, format: str | None, *, keep: str = "all", progress: Callable[[int], None] | None = None
) -> Iterator[Requests]:
    """Open a request table, a log or a trace.

    Args:
        path: The file. Traces may be packed as .xz, .gz or .zst, logs and tables as .gz.
        format: One of `FORMATS`; None: a trace by its name (`.oracleGeneral`), else a request table.
        keep: Of a log: `misses`, `crossed` or `all`, as `import_log` has it.
        progress: Called with the number of requests of a log that were imported so far.

    Raises:
        WorkloadError: The file cannot be read as that.
    """
    kind = "oracle-general" if format is None and ".oracleGeneral" in path.name else format
    if kind is not None and kind not in FORMATS:
        near = difflib.get_close_matches(kind, FORMATS, 1)
        hint = f' (did you mean "{near[0]}"?)' if near else ""
        raise WorkloadError(f'unknown format "{kind}"{hint}; the formats are {", ".join(FORMATS)}')
    if not path.is_file():
        raise WorkloadError(f"{path}: {'is a folder' if path.is_dir() else 'no such file'}; name the requests")
    if kind is None:
        with _table(path, str(path)) as requests:
            yield requests
    elif kind in LOGS:
        with _log(path, kind, keep, progress) as requests:
            yield requests
    else:
        readers = {"oracle-general": _oracle_general, "webcachesim": _webcachesim, "cache2k": _cache2k}
        with _unpacked(path) as plain:
            yield Requests(str(path), lambda requests: readers[kind](plain, requests))


@contextlib.contextmanager
def _table(path: Path, name: str) -> Iterator[Requests]:
    from farweb.tables import open_requests

    with open_requests(path) as rows:

        def read(requests: Requests) -> Iterator[Batch]:
            number = 0
            try:
                reader = _core.RequestReader(rows, name)
                while (columns := cast("dict[str, NDArray[Any]] | None", reader.batch(ROWS))) is not None:
                    batch = Batch(
                        np.rint(columns["start_s"] * 1e9).astype(np.uint64),
                        columns["object"],
                        columns["response_bytes"],
                    )
                    _check_objects(batch, name, number)
                    number += len(batch)
                    yield batch
            except WorkloadError as error:
                told = path.suffix.lower() in (".parquet", ".csv", ".tsv")
                hint = "" if told else f" (if it is a log or a trace, tell --format: {', '.join(FORMATS)})"
                raise WorkloadError(f"{error}{hint}") from None
            requests.counts["rows"] = number

        yield Requests(name, read)


def _check_objects(batch: Batch, name: str, before: int) -> None:
    missing = np.flatnonzero(batch.object == NULL_ID)
    if len(missing):
        raise WorkloadError(
            f"{name}: request {before + int(missing[0]) + 1} (by start time) names no object, and caches hold objects; "
            "give the table a column object, a number or a text such as the URL; a table that an earlier version "
            "imported from a log gets it when the log is imported again"
        )


@contextlib.contextmanager
def _log(path: Path, format: str, keep: str, progress: Callable[[int], None] | None) -> Iterator[Requests]:
    from farweb.importer import import_log

    with tempfile.TemporaryDirectory(prefix="farweb-") as folder:
        table = Path(folder) / "requests.parquet"
        report = import_log(path, table, format=format, keep=keep, progress=progress)
        with _table(table, str(path)) as requests:
            dropped = sorted(report.counts["dropped"].items(), key=lambda item: (-item[1], item[0]))
            requests.remarks += [
                f"{count(report.counts['lines'])} lines of the log, {count(report.requests)} requests (keep: {keep})",
                *(f"left out: {count(lines)} {reason}" for reason, lines in dropped),
                *_unreadable(report.counts),
            ]
            requests.counts = {"log": dict(report.log), **report.counts}
            yield requests


def _webcachesim(path: Path, requests: Requests) -> Iterator[Batch]:
    reader = _core.TraceReader(str(path))
    try:
        while (columns := reader.batch(ROWS)) is not None:
            yield Batch(columns["time_ns"], columns["object"], columns["bytes"])
    except WorkloadError as error:
        raise WorkloadError(str(error).replace(str(path), requests.name)) from None
    requests.counts = json.loads(reader.unreadable())
    requests.remarks = _unreadable(requests.counts)


def _unreadable(counts: Mapping[str, Any]) -> list[str]:
    if not counts["unreadable_lines"]:
        return []
    lines = counts["unreadable"][:_UNREADABLE_SHOWN]
    return [
        f"unreadable: {count(counts['unreadable_lines'])} lines",
        *(f"unreadable: line {line['line']}: {line['why']}: {line['text']}" for line in lines),
    ]


def _oracle_general(path: Path, requests: Requests) -> Iterator[Batch]:
    nameless = 0
    for records in _records(path, _ORACLE, requests):
        named = records["object"] != NULL_ID
        nameless += len(records) - int(named.sum())
        kept = records[named]
        yield Batch(
            kept["time_s"].astype(np.uint64) * np.uint64(10**9),
            kept["object"].astype(np.uint64),
            kept["bytes"].astype(np.int64),
        )
    if nameless:
        requests.counts["without_object"] = nameless
        requests.remarks.append(f"left out: {count(nameless)} records with the object 2^64 - 1, which stands for none")


def _cache2k(path: Path, requests: Requests) -> Iterator[Batch]:
    for numbers in _records(path, _NUMBERS, requests):
        ones = np.ones(len(numbers), dtype=np.int64)
        yield Batch(np.zeros(len(numbers), dtype=np.uint64), numbers.astype(np.uint64), ones)
    requests.remarks.append("the trace has neither sizes nor times: each object has one byte, a capacity is in objects")


def _records(path: Path, record: np.dtype[Any], requests: Requests) -> Iterator[NDArray[Any]]:
    """The records of a file; bytes at its end that are no whole record are told."""
    size = path.stat().st_size
    requests.counts = {"records": size // record.itemsize, "bytes_left_out": size % record.itemsize}
    requests.remarks = []
    if size < record.itemsize:
        raise WorkloadError(f"{requests.name}: holds no record of {record.itemsize} bytes")
    if size % record.itemsize:
        requests.remarks.append(
            f"unreadable: the last {size % record.itemsize} bytes, no whole record of {record.itemsize} bytes"
        )
    with path.open("rb") as file:
        while len(records := np.fromfile(file, record, ROWS)):
            yield records


@contextlib.contextmanager
def _unpacked(path: Path) -> Iterator[Path]:
    """The file, or an unpacked copy of it that goes with the block."""
    with path.open("rb") as file:
        head = file.read(6)
    opener = next((opener for magic, opener in _PACKED.items() if head.startswith(magic)), None)
    if opener is None:
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="farweb-") as folder:
        plain = Path(folder) / "trace"
        try:
            with opener(path) as packed, plain.open("wb") as out:
                shutil.copyfileobj(packed, out, 1 << 20)
        except (OSError, EOFError, lzma.LZMAError) as error:
            raise WorkloadError(f"{path}: cannot be unpacked: {str(error).splitlines()[0].rstrip('.')}") from None
        yield plain


def _open_zstd(path: Path) -> Any:
    import pyarrow as pa

    return pa.CompressedInputStream(pa.OSFile(str(path)), "zstd")


_PACKED: dict[bytes, Callable[[Path], IO[bytes]]] = {
    b"\xfd7zXZ\x00": lzma.open,
    b"\x1f\x8b": gzip.open,  # type: ignore[dict-item]
    b"\x28\xb5\x2f\xfd": _open_zstd,
}
