"""Requests of logs, request tables and cache traces: what is asked for and how large it is, nothing else.

Cache traces have no clients and hosts; farweb reads three kinds of them here:

- ``webcachesim``: text, `time id size` on each line (the traces of webcachesim and AdaptSize);
- ``oracle-general``: little-endian records of 24 bytes, time (32 bits), id (64), size (32), next access (64), of
  libCacheSim;
- ``ids``: big-endian ids of 32 bits and nothing else (the traces of cache2k); they have no sizes.
"""

import gzip
import json
import lzma
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
from numpy.typing import NDArray

from farweb import _core
from farweb.errors import WorkloadError
from farweb.tables import open_requests

_ROWS = 65_536  # chosen: some MB a batch
_BYTES = 1 << 20

LOGS = ("squid", "clf")
TRACES = ("webcachesim", "oracle-general", "ids")

_ORACLE_GENERAL = np.dtype([("time", "<u4"), ("id", "<u8"), ("size", "<u4"), ("next", "<i8")])
_IDS = np.dtype([("id", ">u4")])


@dataclass
class Reading:
    """What was read so far; `references` has counted it.

    Attributes:
        references: The requests.
        requests: How many.
        unsized: Of these, how many told no size.
        left_out: Lines or rows that are no request for a document, by reason.
        first_s: First start, in s; None: the source has no times.
        last_s: Last start, in s.
    """

    references: _core.References = field(default_factory=_core.References)
    requests: int = 0
    unsized: int = 0
    left_out: dict[str, int] = field(default_factory=dict)
    first_s: float | None = None
    last_s: float | None = None

    def add(self, objects: NDArray[Any], sizes: NDArray[Any], starts_s: NDArray[Any] | None) -> None:
        """Count requests, in order."""
        if not len(objects):
            return
        self.references.add(np.ascontiguousarray(objects, np.uint64), np.ascontiguousarray(sizes, np.int64))
        self.requests += len(objects)
        self.unsized += int((sizes == 0).sum())
        if starts_s is not None:
            first, last = float(starts_s.min()), float(starts_s.max())
            self.first_s = first if self.first_s is None else min(first, self.first_s)
            self.last_s = last if self.last_s is None else max(last, self.last_s)


def read(
    path: Path, format: str | None, *, dynamic: bool = False, progress: Callable[[int], None] | None = None
) -> Reading:
    """Read a file to its end.

    Args:
        path: A log, a request table or a cache trace; logs plain or gzip, cache traces gzip or xz too.
        format: One of `LOGS` or `TRACES`; None: a request table.
        dynamic: Count pages that are made for each request, which a log's URLs tell.
        progress: Called with the number of requests read so far.

    Raises:
        WorkloadError: There is no such format; the file cannot be read, is no such file, or has no request that says
            what it asks for.
    """
    reading = Reading()
    if format is None:
        batches = _of_table(path, reading)
    elif format in LOGS:
        batches = _of_log(path, format, dynamic, reading)
    elif format in TRACES:
        if not path.is_file():
            raise WorkloadError(f"{path}: no such file; name a cache trace")
        batches = _of_text(path) if format == "webcachesim" else _of_records(path, format)
    else:
        known = ", ".join((*LOGS, *TRACES))
        raise WorkloadError(f'format: found "{format}"; write one of: {known}; or leave it out for a request table')
    for objects, sizes, starts_s in batches:
        reading.add(objects, sizes, starts_s)
        if progress is not None:
            progress(reading.requests)
    if reading.requests == 0:
        reasons = ", ".join(f"{number} {reason}" for reason, number in reading.left_out.items())
        raise WorkloadError(f"{path}: has no request that says what it asks for{f' ({reasons})' if reasons else ''}")
    return reading


_Batch = tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]


def _of_table(path: Path, reading: Reading) -> Iterator[_Batch]:
    with open_requests(path) as requests:
        reader = _core.RequestReader(requests, str(path))
        while (columns := reader.batch(_ROWS)) is not None:
            objects, sizes, starts = (
                cast(NDArray[Any], columns[name]) for name in ("object", "response_bytes", "start_s")
            )
            named = objects != np.uint64(_core.no_object)
            if not named.all():
                lost = reading.left_out.get("no-object", 0) + int((~named).sum())
                reading.left_out["no-object"] = lost
            yield objects[named], sizes[named], starts[named]


def _of_log(path: Path, format: str, dynamic: bool, reading: Reading) -> Iterator[_Batch]:
    """Everything that a client got with success; of a server's log without headers, which it does not tell."""
    reader = _core.LogReader(str(path), format, keep="all", dynamic=dynamic, server_time="none", max_unreadable=0.05)
    header = _core.log_header_bytes if format == "clf" else 0
    while (columns := reader.batch(_ROWS)) is not None:
        objects, sizes, starts = (cast(NDArray[Any], columns[name]) for name in ("object", "response_bytes", "start_s"))
        yield objects, sizes - header, starts
    report = json.loads(reader.report())
    reading.left_out.update(report["dropped"])
    if report["unreadable_lines"]:
        reading.left_out["unreadable"] = report["unreadable_lines"]


def _of_text(path: Path) -> Iterator[_Batch]:
    rest, line = b"", 1
    with _open(path) as file:
        while block := file.read(_BYTES):
            whole, newline, rest = (rest + block).rpartition(b"\n")
            yield _numbers(path, whole + newline, line)
            line += whole.count(b"\n") + len(newline)
    if rest.strip():
        yield _numbers(path, rest, line)


def _numbers(path: Path, text: bytes, first_line: int) -> _Batch:
    """The requests of some whole lines. The time of these traces is a count, in most of them."""
    rows = [line.split() for line in text.splitlines()]
    try:
        table = np.array([row for row in rows if row], dtype=np.uint64).reshape(-1, 3)
    except (ValueError, OverflowError):
        for number, row in enumerate(rows, first_line):
            if row and (len(row) != 3 or not all(part.isdigit() for part in row)):
                found = b" ".join(row)[:60].decode("utf-8", "replace")
                message = f'{path}:{number}: found "{found}"; a line is "time id size", three whole numbers'
                raise WorkloadError(message) from None
        raise WorkloadError(f"{path}: a number is above 2^64") from None
    return table[:, 1], table[:, 2].astype(np.int64), None


def _of_records(path: Path, format: str) -> Iterator[_Batch]:
    kind = _ORACLE_GENERAL if format == "oracle-general" else _IDS
    with _open(path) as file:
        while block := file.read(_ROWS * kind.itemsize):
            if len(block) % kind.itemsize:
                raise WorkloadError(f"{path}: ends in the middle of a record of {kind.itemsize} bytes; is it {format}?")
            rows = np.frombuffer(block, kind)
            if format == "ids":
                yield rows["id"], np.zeros(len(rows), np.int64), None
            else:
                yield rows["id"], rows["size"].astype(np.int64), rows["time"].astype(float)


class _Readable:
    """A compressed file whose errors name it."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self._path, self._file = path, file

    def __enter__(self) -> "_Readable":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, size: int) -> bytes:
        try:
            return self._file.read(size)
        except (OSError, EOFError, lzma.LZMAError) as error:
            raise WorkloadError(f"{self._path}: cannot be read: {error}") from None


def _open(path: Path) -> _Readable:
    if path.suffix == ".gz":
        return _Readable(path, cast(IO[bytes], gzip.open(path)))
    return _Readable(path, lzma.open(path) if path.suffix == ".xz" else path.open("rb"))
