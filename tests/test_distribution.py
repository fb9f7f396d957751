"""Distributions of the times of a table: as if all were in memory, without having them there."""

import io
import threading
import tracemalloc
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from farweb.files.parquet import Table
from farweb.results.distribution import Distribution, distributions
from farweb.results.requests import Requests
from farweb.results.store import Store
from farweb.results.tables import table_of_run
from sample_results import SECOND, request, write_results

SHARES = (0.0, 0.5, 0.9, 0.99, 1.0)
WARMUP_NS = 5_000_000_000


def a_table(path: Path, rows: int, failed_share: float) -> Table:
    """Latencies over seven orders of magnitude, in some groups of rows."""
    path.parent.mkdir(exist_ok=True)
    random = np.random.default_rng(rows)
    start = np.sort(random.integers(0, 60_000_000_000, rows))
    first = start + random.lognormal(15, 4, rows).astype(np.int64)
    ended = random.random(rows) >= failed_share
    table = pa.table(
        {
            "start_ns": start,
            "first_byte_ns": first,
            "end_ns": first + random.integers(0, 1 << 40, rows),
            "status": np.where(ended, "done", "failed"),
            **{name: np.full(rows, 1000) for name in ("response_bytes", "served_bytes")},
            **{name: np.zeros(rows, np.int64) for name in ("acked_ns", "retransmits", "timeouts")},
            "visit_request": np.where(random.random(rows) < 0.2, "first", "later"),
            "tag": pa.nulls(rows, pa.string()),
        }
    )
    pq.write_table(table, path, row_group_size=max(1_000, rows // 100))
    return table_of_run(Store(path.parent), "", {}, path.stem)


@pytest.mark.parametrize(("rows", "failed_share"), [(7_001, 0.0), (7_001, 0.06), (30, 0.5), (4, 1.0), (0, 0.0)])
def test_distributions_are_those_of_all_times(tmp_path: Path, rows: int, failed_share: float) -> None:
    file = a_table(tmp_path / "requests.parquet", rows, failed_share)
    counts, found = distributions(file, WARMUP_NS, SHARES)
    kept = Requests(WARMUP_NS).read(file)
    assert counts.of == kept.counts.of
    for name, distribution in found.items():
        mean, *quantiles, largest = kept.distribution_s(name, SHARES)
        assert distribution.n == kept.ended_ns(name).size
        assert distribution.mean == (None if mean is None else pytest.approx(mean, rel=1e-12))
        assert (distribution.quantiles, distribution.largest) == (tuple(quantiles), largest)


def test_of_as_many_that_end_as_do_not_the_median_lies_on_the_way_to_infinity(tmp_path: Path) -> None:
    """A request that starts as the warm-up ends counts."""
    failed = request(6, 1, 1000, status="failed", end_ns=None, first_byte_ns=None, visit_request="first")
    rows = [request(4, 3, 1000), request(5, 2, 1000, tag="sample"), failed]
    file = write_results(tmp_path / "r", rows).table("requests")
    counts, found = distributions(file, 5 * SECOND, (0.0, 0.5))
    assert (counts.of["requests"], counts.of["done"]) == (2, 1)
    assert found == {
        "latency": Distribution(1, 2.0, (2.0, np.inf), (2.0, 2.0), 2.0),
        "first_byte": Distribution(1, 1.0, (1.0, np.inf), (1.0, 1.0), 1.0),
        "sample_latency": Distribution(1, 2.0, (2.0, 2.0), (2.0, 2.0), 2.0),
        "visit_first_latency": Distribution(0, None, (np.inf, np.inf), (np.inf, np.inf), None),
        "visit_later_latency": Distribution(0, None, (None, None), (None, None), None),
    }


class Watched(io.BytesIO):
    """A stream that knows which threads have read it."""

    threads: set[int]

    def read(self, size: int | None = -1, /) -> bytes:
        self.threads.add(threading.get_ident())
        return super().read(size)


def test_no_other_thread_reads_a_stream_of_python(tmp_path: Path) -> None:
    """A thread of Arrow that drops a buffer while Python ends aborts the process."""
    file = a_table(tmp_path / "requests.parquet", 7_001, 0.0)
    stream = Watched((tmp_path / "requests.parquet").read_bytes())
    stream.threads = set()
    assert sum(len(each["start_ns"]) for each in replace(file, open=lambda: stream).columns(["start_ns"])) == 7_001
    assert stream.threads == {threading.get_ident()}


def test_memory_does_not_grow_with_the_requests(tmp_path: Path) -> None:
    def peak(rows: int) -> int:
        file = a_table(tmp_path / f"{rows}" / "requests.parquet", rows, 0.01)
        tracemalloc.start()
        distributions(file, 0, SHARES)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return most

    few, many = peak(100_000), peak(1_000_000)
    assert many < few + 4_000_000  # the times are 16 MB
