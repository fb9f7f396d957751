"""Requests of a run, read from their table: counts, and the times of those that ended."""

import functools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Self

import numpy as np
from numpy.typing import NDArray

from farweb.errors import ResultsError
from farweb.files.parquet import equals, read_columns
from farweb.results.manifest import MANIFEST
from farweb.results.metrics import METRICS, SAMPLE
from farweb.results.store import Store, part_name
from farweb.statistics.quantiles import quantiles, with_lost

_NS = 1e9

TIMES = ("latency", "first_byte", "sample_latency")
"""Times from the request at the first node: to the last byte, to the first byte, to the last byte of the sample."""

QUANTILES: dict[str, dict[str, float]] = {
    of: {
        name: int(share.rpartition("_p")[2]) / 100
        for name, metric in METRICS.items()
        if metric.kind == "quantile" and (share := name.removesuffix("_s")).startswith(f"{of}_p")
    }
    for of in TIMES
}
"""Metrics that are quantiles with their shares, by what they are quantiles of."""


class Times:
    """Times of the requests that ended, and how many did not; memory grows by 32 bytes a request that ended.

    Args:
        warmup_ns: Requests that start before are in `series` only.

    Attributes:
        warmup_s: The same in s.
    """

    columns: tuple[str, ...] = ("start_ns", "first_byte_ns", "end_ns", "status")
    optional: tuple[str, ...] = ("tag",)

    def __init__(self, warmup_ns: int) -> None:
        self.warmup_s = warmup_ns / _NS
        self._warmup_ns = warmup_ns
        self._lost = self._lost_of_sample = 0
        self._parts = [tuple(np.empty(0, np.int64) for _ in range(4))]

    def read(self, file: Path | BinaryIO) -> Self:
        """Read a table of requests, a row group at a time.

        Raises:
            ResultsError: It is damaged.
        """
        for columns in read_columns(file, self.columns, self.optional):
            self.add(columns)
        return self

    def add(self, columns: Mapping[str, Any]) -> None:
        """Take the next rows of the table, as the core has them."""
        done = equals(columns["status"], "done")
        start, first_byte, end = (np.asarray(columns[name]) for name in ("start_ns", "first_byte_ns", "end_ns"))
        sample = equals(columns["tag"], SAMPLE) if "tag" in columns else np.zeros(start.size, bool)
        lost = ~done & (start >= self._warmup_ns)
        self._lost += int(lost.sum())
        self._lost_of_sample += int((lost & sample).sum())
        of_done = (start, end - start, first_byte - start, sample.astype(np.int64))
        self._parts.append(tuple(each[done] for each in of_done))

    @functools.cached_property
    def _ended(self) -> tuple[NDArray[np.int64], ...]:
        return tuple(np.concatenate(parts) for parts in zip(*self._parts, strict=True))

    def ended_ns(self, of: str) -> NDArray[np.int64]:
        """Times after the warm-up of requests that ended, in ns; `of` is one of `TIMES`."""
        start, latency, first_byte, sample = self._ended
        counted = start >= self._warmup_ns
        if of == "sample_latency":
            counted &= sample > 0
        return (first_byte if of == "first_byte" else latency)[counted]

    def all_ns(self, of: str) -> NDArray[np.float64]:
        """Times of all requests after the warm-up, infinite for those that did not end, in ns."""
        return with_lost(self.ended_ns(of), self._lost_of_sample if of == "sample_latency" else self._lost)

    def distribution_s(self, of: str, shares: Sequence[float]) -> tuple[float | None, ...]:
        """Mean of the times that ended, quantiles of all, and the longest that ended, in s; None of no times."""
        ended = self.ended_ns(of)
        mean, most = (float(ended.mean()), float(ended.max())) if ended.size else (None, None)
        found = (mean, *quantiles(self.all_ns(of), shares), most)
        return tuple(None if value is None else value / _NS for value in found)

    def series(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Starts and latencies in s of requests that ended, in the order of starts, those in the warm-up included."""
        start, latency, *_ = self._ended
        order = np.argsort(start, kind="stable")  # those that start at the same time stay in the order of ends
        return start[order] / _NS, latency[order] / _NS

    def within(self, limit_s: float) -> float | None:
        """The share of requests after the warm-up that were answered within a time; None of no requests."""
        times = self.all_ns("latency")
        return float((times <= round(limit_s * _NS)).mean()) if times.size else None


def times_of(store: Store, run: str) -> Times:
    """The times of a run of a sweep.

    Raises:
        ResultsError: The part of the run is damaged.
    """
    part = part_name(run)
    try:
        times = Times(json.loads(store.read(f"{part}/{MANIFEST}"))["warmup_ns"])
    except (KeyError, TypeError, ValueError):
        raise ResultsError(f"{store.url}/{part}/{MANIFEST}: is damaged") from None
    if store.folder is not None:
        return times.read(store.folder / part / "requests.parquet")
    with store.filesystem.open(store.path(f"{part}/requests.parquet"), "rb") as opened:
        return times.read(opened)


class Counts:
    """Counts of the requests of a run; memory does not grow with them.

    Args:
        warmup_ns: Requests that start before are left out.

    Attributes:
        of: Counts of requests after the warm-up, by the names of metrics; `left_out` has those in it.
    """

    columns = ("start_ns", "end_ns", "status", "response_bytes", "retransmits", "timeouts")
    optional = ("tag",)

    def __init__(self, warmup_ns: int) -> None:
        self.of = dict.fromkeys(_COUNTS, 0)
        self._warmup_ns = warmup_ns
        self._first_ns: list[int] = []
        self._last_ns: list[int] = []

    def add(self, columns: Mapping[str, Any]) -> None:
        """Take the next rows of the table, as the core has them."""
        start, size = columns["start_ns"], columns["response_bytes"]
        counted = start >= self._warmup_ns
        ended = {status: counted & equals(columns["status"], status) for status in ("done", "failed", "unfinished")}
        done = ended["done"]
        found = {
            "requests": counted.sum(),
            "left_out": (~counted).sum(),
            **{status: of_them.sum() for status, of_them in ended.items()},
            "response_bytes": size[done].sum(),
            **{name: columns[name][counted].sum() for name in ("retransmits", "timeouts")},
        }
        if "tag" in columns:
            found["sample_requests"] = (counted & equals(columns["tag"], SAMPLE)).sum()
        for name, value in found.items():
            self.of[name] += int(value)
        if counted.any():
            self._first_ns.append(int(start[counted].min()))
        if done.any():
            self._last_ns.append(int(columns["end_ns"][done].max()))

    @property
    def failed_share(self) -> float | None:
        """The share of requests after the warm-up that did not end; None of no requests."""
        number = self.of["requests"]
        return (number - self.of["done"]) / number if number else None

    @property
    def goodput_bps(self) -> float | None:
        """Responses of requests that ended in bits, over the time from the first start to the last end."""
        span_ns = max(self._last_ns) - min(self._first_ns) if self._last_ns else 0
        return 8 * self.of["response_bytes"] / (span_ns / _NS) if span_ns > 0 else None


class Requests(Times):
    """Requests of a run: their times and their counts. Memory grows by some 60 bytes a request.

    Attributes:
        counts: Those after the warm-up.
    """

    columns = (*Times.columns, *(name for name in Counts.columns if name not in Times.columns))
    optional = (*Times.optional, "acked_ns")  # which tables of an older farweb lack

    def __init__(self, warmup_ns: int) -> None:
        super().__init__(warmup_ns)
        self.counts = Counts(warmup_ns)
        self._starts = [np.empty(0, np.int64)]
        self._sizes = [np.empty(0, np.int64)]
        self._acked = [np.empty(0, np.int64)]

    def add(self, columns: Mapping[str, Any]) -> None:
        """Take the next rows of the table, as the core has them."""
        super().add(columns)
        self.counts.add(columns)
        start = columns["start_ns"]
        self._starts.append(start)
        self._sizes.append(columns["response_bytes"])
        if "acked_ns" in columns:
            acked = columns["acked_ns"]
            done = equals(columns["status"], "done") & (start >= self._warmup_ns)
            self._acked.append((acked - start)[done & (acked >= start)])

    @property
    def acked_ns(self) -> NDArray[np.int64]:
        """Times until the sender of the response had the last acknowledgement, as far as they are known, in ns."""
        return np.concatenate(self._acked)

    def offered_bytes(self, from_ns: int, to_ns: int) -> int:
        """Response bytes of requests that start in an interval, its end left out."""
        start = np.concatenate(self._starts)
        return int(np.concatenate(self._sizes)[(start >= from_ns) & (start < to_ns)].sum())


_COUNTS = (
    *("requests", "done", "failed", "unfinished", "left_out", "sample_requests", "response_bytes", "retransmits"),
    "timeouts",
)
