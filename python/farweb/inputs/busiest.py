"""Busiest spans: of the logs of an import by bytes, found by a first reading, and of a table by requests."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from farweb import _core
from farweb.progress import Progress

_ROWS = 65_536  # chosen: some MB a batch


@dataclass(frozen=True)
class Busiest:
    """The span of some length with most bytes of responses.

    Attributes:
        begin_s: Its first second, Unix time or since the start of the log.
        length_s: Its length.
        all_bytes: Bytes of all responses, in it or not.
    """

    begin_s: int
    length_s: int
    all_bytes: int

    @property
    def ns(self) -> tuple[int, int]:
        """Its begin and its end, in ns."""
        return self.begin_s * 10**9, (self.begin_s + self.length_s) * 10**9

    def counted(self, response_bytes: int) -> dict[str, float]:
        """As an import counts it, with the share of the bytes that are in it."""
        return {
            "length_s": float(self.length_s),
            "from_unix_s": float(self.begin_s),
            "bytes_share": response_bytes / self.all_bytes,
        }


def busiest_of(
    logs: Sequence[Path], length_s: float, format: str, options: Mapping[str, Any], progress: Progress
) -> Busiest:
    """The span of `length_s` with most bytes of responses, from a whole second with a request on.

    Args:
        logs: The logs, each a file.
        length_s: Its length, in whole seconds.
        format: As the core's reader takes it.
        options: The same.
        progress: Called as requests are read.

    Returns:
        The first one of several.

    Raises:
        WorkloadError: A log cannot be read, or none has a request.
    """
    by_second, rows = Counter[int](), 0
    reader = _core.LogReader([*map(str, logs)], format, **options)
    while (columns := reader.batch(_ROWS)) is not None:
        assert reader.origin_unix_s is not None, "there is a request"
        seconds = np.floor(np.asarray(columns["start_s"])).astype(np.int64) + reader.origin_unix_s
        found, places = np.unique(seconds, return_inverse=True)
        sums = np.bincount(places, weights=np.asarray(columns["response_bytes"]))
        by_second.update(dict(zip(found.tolist(), map(round, sums.tolist()), strict=True)))
        rows += len(seconds)
        progress(rows, None, f"{rows:,} requests looked at")
    starts = np.sort(np.fromiter(by_second, np.int64))
    sums = np.cumsum([0, *(by_second[second] for second in starts.tolist())])
    ends = np.searchsorted(starts, starts + int(length_s), side="left")
    best = int(np.argmax(sums[ends] - sums[:-1]))
    return Busiest(int(starts[best]), int(length_s), int(sums[-1]))


def most_requests(table: Path, length_s: float) -> tuple[float, int]:
    """Start and number of the requests in the span of this length with most of them, the first of several.

    Args:
        table: A request table in Parquet, in the order of starts.
        length_s: Its length; its end is outside.
    """
    length, begin, most = round(length_s * 1e6), 0, 0
    held = np.empty(0, np.int64)
    with pq.ParquetFile(table) as file:
        for batch in file.iter_batches(batch_size=_ROWS, columns=["start_s"]):
            # Whole microseconds: sums of decimal fractions miss the end by a digit.
            starts = np.concatenate((held, np.rint(batch["start_s"].to_numpy() * 1e6).astype(np.int64)))
            firsts = np.searchsorted(starts, starts - length, side="right")
            numbers = np.arange(1, len(starts) + 1) - firsts
            last = int(np.argmax(numbers))
            if numbers[last] > most:
                begin, most = int(starts[firsts[last]]), int(numbers[last])
            held = starts[firsts[-1] :]
    return begin / 1e6, most
