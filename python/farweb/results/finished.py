"""The requests of a run, as far as intervals of quantiles and the warm-up need them."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from farweb.errors import ResultsError
from farweb.files.parquet import equals, read_columns, whole_numbers
from farweb.results.manifest import MANIFEST
from farweb.results.metrics import METRICS, SAMPLE
from farweb.results.store import Store, part_name
from farweb.statistics.quantiles import with_lost

_NS = 1e9
_OF = ("latency", "first_byte", "sample_latency")

QUANTILES: dict[str, dict[str, float]] = {
    of: {
        name: int(share.rpartition("_p")[2]) / 100
        for name, metric in METRICS.items()
        if metric.kind == "quantile" and (share := name.removesuffix("_s")).startswith(f"{of}_p")
    }
    for of in _OF
}
"""Metrics that are quantiles with their shares, by what they are quantiles of."""


@dataclass(frozen=True)
class Finished:
    """The finished requests of a run, in the order of their starts; those before the warm-up included.

    Attributes:
        warmup_s: What the scenario leaves out, in s.
        start_s: Starts, in s since the start of the run.
        latency_s: From the request to the last byte of its response, in s.
        first_byte_s: From the request to the first byte of its response, in s.
        sample: Which are tagged `sample`.
        lost: Requests after the warm-up that failed or were cut off.
        lost_sample: Those of them that are tagged `sample`.
    """

    warmup_s: float
    start_s: NDArray[np.float64]
    latency_s: NDArray[np.float64]
    first_byte_s: NDArray[np.float64]
    sample: NDArray[np.bool_]
    lost: int
    lost_sample: int

    def times(self, of: str) -> NDArray[np.float64]:
        """What the quantiles `of` are of, after the warm-up; infinite for requests that did not end."""
        counted = self.start_s >= self.warmup_s
        if of == "sample_latency":
            return with_lost(self.latency_s[counted & self.sample], self.lost_sample)
        return with_lost((self.first_byte_s if of == "first_byte" else self.latency_s)[counted], self.lost)

    def within(self, limit_s: float) -> float | None:
        """The share of requests after the warm-up that were answered within a time; None of no requests."""
        times = self.times("latency")
        return float((times <= limit_s).mean()) if times.size else None


def finished_requests(store: Store, run: str) -> Finished:
    """Read them from the part of a run.

    Raises:
        ResultsError: The part is damaged.
    """
    part = part_name(run)
    try:
        warmup_ns: int = json.loads(store.read(f"{part}/{MANIFEST}"))["warmup_ns"]
    except (KeyError, TypeError, ValueError):
        raise ResultsError(f"{store.url}/{part}/{MANIFEST}: is damaged") from None
    if store.folder is not None:
        return _finished(store.folder / part / "requests.parquet", warmup_ns)
    with store.filesystem.open(store.path(f"{part}/requests.parquet"), "rb") as opened:
        return _finished(opened, warmup_ns)


def _finished(file: Path | BinaryIO, warmup_ns: int) -> Finished:
    found: list[tuple[NDArray[np.int64], ...]] = [tuple(np.empty(0, np.int64) for _ in range(4))]
    lost = lost_sample = 0
    for columns in read_columns(file, ("start_ns", "first_byte_ns", "end_ns", "status", "tag")):
        done = equals(columns["status"], "done")
        start, first_byte, end = (whole_numbers(columns[name]) for name in ("start_ns", "first_byte_ns", "end_ns"))
        sample = equals(columns["tag"], SAMPLE) if "tag" in columns else np.zeros(start.size, bool)
        without = ~done & (start >= warmup_ns)
        lost, lost_sample = lost + int(without.sum()), lost_sample + int((without & sample).sum())
        of_done = (start, end - start, first_byte - start, sample.astype(np.int64))
        found.append(tuple(each[done] for each in of_done))
    start, latency, first_byte, sample = (np.concatenate(parts) for parts in zip(*found, strict=True))
    # The table is in the order of ends; requests that start at the same time stay in it.
    order = np.argsort(start, kind="stable")
    return Finished(
        warmup_s=warmup_ns / _NS,
        start_s=start[order] / _NS,
        latency_s=latency[order] / _NS,
        first_byte_s=first_byte[order] / _NS,
        sample=sample[order].astype(bool),
        lost=lost,
        lost_sample=lost_sample,
    )
