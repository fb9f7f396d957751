"""Formats of inputs: names them, detects the format of a file, and unpacks packed files.

- ``table``: a request table, in any form that a run takes.
- ``squid``, ``clf`` and others of `LOGS`: logs, as `farweb workload import` reads them.
- ``oracle-general``: of libCacheSim, little-endian records of 24 bytes: time in s (32 bits), object (64), size (32),
  and the number of the next request for the object (64, -1 or the largest for none).
- ``webcachesim``: of webcachesim and AdaptSize, text with time in s, object and size in bytes on each line.
- ``cache2k``: of cache2k, big-endian objects of 32 bits and nothing else.
"""

import contextlib
import gzip
import lzma
import shutil
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np

from farweb import _core
from farweb.errors import WorkloadError
from farweb.files.regular import check_file
from farweb.files.scratch import scratch
from farweb.text.words import nearest

TABLE = "table"
AUTO = "auto"
"""A log with lines described by a format string or by keys, or that show their format."""
LOGS = tuple(_core.log_formats())
TRACES = ("oracle-general", "webcachesim", "cache2k")
FORMATS = (TABLE, *LOGS, *TRACES)
TIMELESS = ("webcachesim", "cache2k")
"""Traces without times. Most webcachesim traces have the number of the request in their place."""
UNSIZED = ("cache2k",)
"""Traces without sizes."""
DESCRIBE = "describe the columns of a log or a trace, {} for others: --log-format '{start},{url},{bytes},{}'"
"""The way out for a file with columns of its own."""

ORACLE_GENERAL = np.dtype([("time_s", "<u4"), ("object", "<u8"), ("bytes", "<u4"), ("next", "<i8")])
CACHE2K = np.dtype(">u4")

_HEAD_BYTES = 1 << 16  # chosen: some hundreds of lines
_LEAST_RECORDS = 10  # chosen: no other file has so many fitting numbers by chance


def format_of(path: Path, given: str | None) -> str:
    """The format of a file: as given, or as detected from its name and beginning.

    An undetected file is taken for a request table, also a ``cache2k`` trace.

    Raises:
        WorkloadError: There is no such format, or no such file.
    """
    if given is not None and given not in FORMATS:
        hint = f' (did you mean "{near}"?)' if (near := nearest(given, FORMATS)) else ""
        raise WorkloadError(f'unknown format "{given}"{hint}; the formats are {", ".join(FORMATS)}')
    check_file(path, WorkloadError, "name the requests")
    if given is not None:
        return given
    if ".oracleGeneral" in path.name:
        return "oracle-general"
    head = head_of(path)
    if b"\0" in head:
        return "oracle-general" if _is_oracle_general(head) else TABLE
    whole = head if len(head) < _HEAD_BYTES else head[: head.rfind(b"\n") + 1]
    log = _core.log_format(whole)
    if log is None and whole.lstrip().startswith((b"{", b"[")):
        _core.LogReader([str(path)], AUTO)  # no table begins so: its reader says what it is and the remedy
    return log or ("webcachesim" if _is_webcachesim(whole) else TABLE)


def kind_of(path: Path, given: str | None, described: Mapping[str, Any]) -> str:
    """The format of a file, or `AUTO` for a log from standard input, or one described by a format string or by keys.

    Raises:
        WorkloadError: There is no such format, no such file, or standard input is to be anything but a log.
    """
    if str(path) == "-":
        if given in (TABLE, *TRACES):
            raise WorkloadError(f"standard input: {given} is read from a file; logs alone come from -")
        return given or AUTO
    if any(each is not None for each in described.values()):
        check_file(path, WorkloadError, "name the requests")
        return given or AUTO
    return format_of(path, given)


def paths_of(files: str | Path | Sequence[str | Path]) -> list[Path]:
    """The paths of one file, or of several without empty ones, as a log is that was just rotated."""
    paths = [Path(each) for each in ([files] if isinstance(files, str | Path) else files)]
    return [each for each in paths if len(paths) == 1 or not _is_empty(each)] or paths


def _is_empty(path: Path) -> bool:
    """True for a file with nothing in it, packed or not."""
    try:
        if not path.is_file():
            return False
        with opened(path) as file:
            return not file.read(1)
    except (OSError, WorkloadError):  # its reader reports it
        return False


def kind_of_all(paths: Sequence[Path], given: str | None, described: Mapping[str, Any]) -> str:
    """The format of a file as `kind_of` has it, or of several logs, which each have their own: as given, or `AUTO`.

    Raises:
        WorkloadError: As there, or one of several files is no log.
    """
    kinds = [kind_of(path, given, described) for path in paths]
    if len(paths) == 1:
        return kinds[0]
    for path, kind in zip(paths, kinds, strict=True):
        if kind not in (AUTO, *LOGS):
            what = "a request table" if kind == TABLE else f"a trace ({kind})"
            raise WorkloadError(
                f"{path}: several files are read together if they are logs, and this is {what}; farweb workload merge "
                "makes one request table of several"
            )
    return given or AUTO


def head_of(path: Path) -> bytes:
    """The beginning of a file, unpacked, or nothing where that fails, for its reader to report."""
    try:
        with opened(path) as file:
            return file.read(_HEAD_BYTES)
    except WorkloadError:
        return b""


def _is_oracle_general(head: bytes) -> bool:
    """True when records have times that never decrease, and next requests that are to come."""
    records = np.frombuffer(head, ORACLE_GENERAL, len(head) // ORACLE_GENERAL.itemsize)
    following = records["next"]
    to_come = (following > np.arange(len(records))) & (following < 2**40)
    none = (following == -1) | (following == np.iinfo(np.int64).max)
    return (
        len(records) >= _LEAST_RECORDS
        and bool((np.diff(records["time_s"].astype(np.int64)) >= 0).all())
        and bool((to_come | none).all())
    )


def _is_webcachesim(head: bytes) -> bool:
    """True when lines are a trace's, not of a request table without a header, which has four columns or more."""
    if any(len(line.split()) > 3 for line in head.splitlines()):
        return False
    with scratch() as folder:
        start = folder / "head"
        start.write_bytes(head)
        try:
            return _core.TraceReader(str(start)).batch(_HEAD_BYTES) is not None
        except WorkloadError:
            return False


@contextlib.contextmanager
def unpacked(path: Path) -> Iterator[Path]:
    """The file, or an unpacked copy of it that goes with the block.

    Raises:
        WorkloadError: It is packed, and damaged.
    """
    if _opener(path) is _open_plain:
        yield path
        return
    with scratch() as folder:
        plain = folder / "trace"
        with opened(path) as packed, plain.open("wb") as out:
            shutil.copyfileobj(packed, out, 1 << 20)
        yield plain


@contextlib.contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """A file to be read, unpacked on the way.

    Raises:
        WorkloadError: It cannot be read, or is packed and damaged.
    """
    try:
        with _opener(path)(path) as file:
            yield file
    except (OSError, EOFError, lzma.LZMAError, zlib.error) as error:
        raise WorkloadError(f"{path}: cannot be unpacked: {str(error).splitlines()[0].rstrip('.')}") from None


_Opener = Callable[[Path], IO[bytes]]


def _open_plain(path: Path) -> IO[bytes]:
    return path.open("rb")


def _open_zstd(path: Path) -> Any:
    import pyarrow as pa

    return pa.CompressedInputStream(pa.OSFile(str(path)), "zstd")


_PACKED: dict[bytes, _Opener] = {
    b"\xfd7zXZ\x00": lzma.open,
    b"\x1f\x8b": gzip.open,  # type: ignore[dict-item]
    b"\x28\xb5\x2f\xfd": _open_zstd,
}


def _opener(path: Path) -> _Opener:
    """Opener of a file by its first bytes, whatever its name."""
    try:
        with path.open("rb") as file:
            head = file.read(max(map(len, _PACKED)))
    except OSError as error:
        raise WorkloadError(f"{path}: cannot be opened: {error.strerror}") from None
    return next((opener for magic, opener in _PACKED.items() if head.startswith(magic)), _open_plain)
