"""Requests of a run, read from their table: counts, and times of ended ones."""

import functools
import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from farweb.errors import ResultsError
from farweb.files.parquet import Table, equals
from farweb.results.manifest import MANIFEST, repeats_its_requests
from farweb.results.metrics import GROUPS, METRICS, group_of
from farweb.results.store import Store, part_name
from farweb.results.tables import table_of_run
from farweb.statistics.blocks import places
from farweb.statistics.quantiles import quantiles, with_lost

_NS = 1e9

TIMES = ("latency", "first_byte", *(f"{group}_latency" for group in GROUPS))
"""Times from the request at the first node: to the last byte, to the first byte, to the last byte for each group."""

QUANTILES: dict[str, dict[str, float]] = {
    of: {
        name: int(share.rpartition("_p")[2]) / 100
        for name, metric in METRICS.items()
        if metric.kind == "quantile" and (share := name.removesuffix("_s")).startswith(f"{of}_p")
    }
    for of in TIMES
}
"""Metrics that are quantiles with their shares, by their times."""


OF_GROUPS = tuple(dict.fromkeys(column for column, _ in GROUPS.values()))
"""Columns that say which groups a request is in."""


def members(columns: Mapping[str, Any]) -> dict[str, NDArray[np.bool_]]:
    """True for the rows that are in a group, by group."""
    return {group: equals(columns[column], word) for group, (column, word) in GROUPS.items()}


class Times:
    """Times of the requests that ended, and how many did not; memory grows by 27 bytes a request that ended.

    Args:
        warmup_ns: Requests that start before are in `series` only.

    Attributes:
        warmup_s: The same in s.
        fixed: True where each replication has the same requests.
    """

    fixed = False
    columns: tuple[str, ...] = ("start_ns", "first_byte_ns", "end_ns", "status", *OF_GROUPS)

    def __init__(self, warmup_ns: int) -> None:
        self.warmup_s = warmup_ns / _NS
        self._warmup_ns = warmup_ns
        self._lost: Counter[str | None] = Counter()
        self._lost_parts = [(np.empty(0, np.int64), *(np.empty(0, bool) for _ in GROUPS))]
        self._parts = [(*(np.empty(0, np.int64) for _ in range(3)), *(np.empty(0, bool) for _ in GROUPS))]

    def read(self, table: Table) -> Self:
        """Read a table of requests, some rows at a time.

        Raises:
            ResultsError: It is damaged.
        """
        for columns in table.columns(self.columns):
            self.add(columns)
        return self

    def add(self, columns: Mapping[str, Any]) -> None:
        """Take the next rows of the table, as the core has them."""
        done = equals(columns["status"], "done")
        start, first_byte, end = (np.asarray(columns[name]) for name in ("start_ns", "first_byte_ns", "end_ns"))
        groups = members(columns)
        lost = ~done & (start >= self._warmup_ns)
        self._lost[None] += int(lost.sum())
        for group, of_it in groups.items():
            self._lost[group] += int((lost & of_it).sum())
        self._lost_parts.append(tuple(each[lost] for each in (start, *groups.values())))
        of_done = (start, end - start, first_byte - start, *groups.values())
        self._parts.append(tuple(each[done] for each in of_done))

    @functools.cached_property
    def _ended(self) -> tuple[NDArray[Any], ...]:
        return tuple(np.concatenate(parts) for parts in zip(*self._parts, strict=True))

    def ended_ns(self, of: str) -> NDArray[np.int64]:
        """Times after the warm-up of requests that ended, in ns; `of` is one of `TIMES`."""
        start, latency, first_byte, *groups = self._ended
        counted = start >= self._warmup_ns
        if group := group_of(of):
            counted &= groups[list(GROUPS).index(group)]
        return (first_byte if of == "first_byte" else latency)[counted]

    def all_ns(self, of: str) -> NDArray[np.float64]:
        """Times of all requests after the warm-up, infinite without an end, in ns."""
        return with_lost(self.ended_ns(of), self._lost[group_of(of)])

    @property
    def number(self) -> int:
        """Requests after the warm-up."""
        return int(self.all_ns("latency").size)

    def blocks_ns(self, of: str, number: int) -> list[NDArray[np.float64]]:
        """The times of `all_ns` in blocks of as many consecutive requests of all kinds, by start."""
        start, latency, first_byte, *groups = self._ended
        lost, *lost_groups = (np.concatenate(parts) for parts in zip(*self._lost_parts, strict=True))
        counted = start >= self._warmup_ns
        times = with_lost((first_byte if of == "first_byte" else latency)[counted], lost.size)
        blocks = places(np.concatenate((start[counted], lost)), number)
        if group := group_of(of):
            place = list(GROUPS).index(group)
            inside = np.concatenate((groups[place][counted], lost_groups[place]))
            times, blocks = times[inside], blocks[inside]
        return [times[blocks == block] for block in range(number)]

    def distribution_s(self, of: str, shares: Sequence[float]) -> tuple[float | None, ...]:
        """Mean of the times that ended, quantiles of all, and the longest that ended, in s; None of no times."""
        ended = self.ended_ns(of)
        mean, most = (float(ended.mean()), float(ended.max())) if ended.size else (None, None)
        found = (mean, *quantiles(self.all_ns(of), shares), most)
        return tuple(None if value is None else value / _NS for value in found)

    def series(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Starts and latencies in s of requests that ended, in the order of starts, those in the warm-up included."""
        start, latency, *_ = self._ended
        order = np.argsort(start, kind="stable")  # equal starts stay in the order of ends
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
        manifest = json.loads(store.read_json(f"{part}/{MANIFEST}"))
        times = Times(manifest["warmup_ns"])
        times.fixed = repeats_its_requests(manifest.get("scenario", {}))
    except (KeyError, TypeError, ValueError):
        raise ResultsError(f"{store.url}/{part}/{MANIFEST}: is damaged") from None
    return times.read(table_of_run(store, part, manifest, "requests"))


class Counts:
    """Counts of the requests of a run; memory does not grow with them.

    Args:
        warmup_ns: Requests that start before are left out.

    Attributes:
        of: Counts of requests after the warm-up, by the names of metrics; `left_out` has those in it.
    """

    columns = ("start_ns", "end_ns", "status", "served_bytes", "retransmits", "timeouts", *OF_GROUPS)

    def __init__(self, warmup_ns: int) -> None:
        self.of = dict.fromkeys(_COUNTS, 0)
        self._warmup_ns = warmup_ns
        self._first_ns: list[int] = []
        self._last_ns: list[int] = []

    def add(self, columns: Mapping[str, Any]) -> None:
        """Take the next rows of the table, as the core has them."""
        start = columns["start_ns"]
        counted = start >= self._warmup_ns
        ended = {status: counted & equals(columns["status"], status) for status in ("done", "failed", "unfinished")}
        done = ended["done"]
        found = {
            "requests": counted.sum(),
            "left_out": (~counted).sum(),
            **{status: of_them.sum() for status, of_them in ended.items()},
            "response_bytes": columns["served_bytes"][done].sum(),
            **{name: columns[name][counted].sum() for name in ("retransmits", "timeouts")},
        }
        for group, of_it in members(columns).items():
            found |= {f"{group}_requests": (counted & of_it).sum(), f"{group}_done": (done & of_it).sum()}
        for name, value in found.items():
            self.of[name] += int(value)
        if counted.any():
            self._first_ns.append(int(start[counted].min()))
        if done.any():
            self._last_ns.append(int(columns["end_ns"][done].max()))

    def lost(self, group: str | None = None) -> int:
        """Requests after the warm-up that did not end, of a group or of all."""
        return self._of(group, "requests") - self._of(group, "done")

    def failed_share(self, group: str | None = None) -> float | None:
        """The same as a share of the requests of the group or of all; None of none."""
        number = self._of(group, "requests")
        return self.lost(group) / number if number else None

    def _of(self, group: str | None, what: str) -> int:
        return self.of[f"{group}_{what}" if group else what]

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

    columns = tuple(dict.fromkeys((*Times.columns, *Counts.columns, "response_bytes", "acked_ns")))

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
    *("requests", "done", "failed", "unfinished", "left_out", "response_bytes", "retransmits", "timeouts"),
    *(f"{group}_{what}" for group in GROUPS for what in ("requests", "done")),
)
