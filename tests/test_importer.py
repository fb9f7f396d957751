"""Imports: in order of start, from zero, nothing lost, or nothing written."""

import errno
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from farweb import RunError, WorkloadError, _core, object_ids
from farweb.columns import Column
from farweb.importer import REPORT_KEY, import_log
from samples import LOG, Farweb


def reader_of(batches: list[list[int]], dropped: dict[str, int] | None = None) -> Any:
    """Stands for the core's reader: requests with these starts (in ms), each a byte larger than the last."""

    class Reader:
        def __init__(self, path: str, format: str, **options: object) -> None:
            self._batches = iter(batches)
            self._rows = 0

        def batch(self, rows: int) -> dict[str, Column] | None:
            starts = next(self._batches, None)
            if starts is None:
                return None
            numbers = np.arange(self._rows, self._rows + len(starts), dtype=np.int64)
            self._rows += len(starts)
            return {
                "start_s": np.array(starts, dtype=np.int64) / 1000,
                "host": ((numbers % 3).astype(np.int32), ["a", "b", "c"]),
                "request_bytes": np.full(len(starts), 300, dtype=np.int64),
                "response_bytes": numbers + 1,
            }

        def report(self) -> str:
            starts = [start / 1000 for batch in batches for start in batch]
            counts = {"lines": self._rows, "requests": self._rows, "dropped": dropped or {}}
            remarks: dict[str, Any] = {"unreadable_lines": 0, "unreadable": [], "assumptions": []}
            times = {"first_start_s": min(starts, default=None), "last_start_s": max(starts, default=None)}
            order = {"origin_unix_s": 850_000_000, "sorted": starts == sorted(starts)}
            return json.dumps({**counts, **remarks, **times, **order})

    return Reader


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.integers(-(10**9), 10**9), max_size=20), min_size=1, max_size=4).filter(any))
def test_starts_are_in_order_from_zero_and_equal_ones_keep_theirs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, milliseconds: list[list[int]]
) -> None:
    monkeypatch.setattr(_core, "LogReader", reader_of(milliseconds))
    report = import_log("log", "out.parquet", format="squid")
    table = pq.read_table("out.parquet")
    flat = [start for batch in milliseconds for start in batch]
    order = sorted(range(len(flat)), key=lambda row: flat[row])  # stable
    assert table["response_bytes"].to_pylist() == [row + 1 for row in order]
    assert table["start_s"].to_pylist() == [(flat[row] - min(flat)) / 1000 for row in order]
    assert report.requests == len(flat)
    assert report.counts["origin_unix_s"] == pytest.approx(850_000_000 + min(flat) / 1000)
    assert report.span_s == pytest.approx((max(flat) - min(flat)) / 1000)
    assert os.listdir(folder) == ["out.parquet"]


def test_the_report_is_kept_with_the_table(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "LogReader", reader_of([[3000, 1000]], {"hit": 5}))
    report = import_log("access.log", "out.parquet", format="squid", keep="misses", request_bytes=None)
    kept = json.loads(pq.read_schema("out.parquet").metadata[REPORT_KEY])
    assert kept["log"] == {"file": "access.log", "format": "squid", "keep": "misses"}
    assert kept["dropped"] == {"hit": 5}
    assert report.span_s == 2.0
    assert report.to_dict()["dropped"] == {"hit": 5}
    assert "left out: hit" in report._repr_html_()


def test_a_log_without_a_request_says_what_it_had(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "LogReader", reader_of([], {"hit": 5, "icp": 2}))
    with pytest.raises(WorkloadError, match=r"no request to simulate.*5 hit, 2 icp"):
        import_log("access.log", "out.parquet", format="squid")
    assert os.listdir(folder) == []


def test_a_full_disk_keeps_the_older_table(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "out.parquet").write_text("older")
    monkeypatch.setattr(_core, "LogReader", reader_of([[1]]))

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(pq.ParquetWriter, "write_batch", full)
    with pytest.raises(RunError, match="No space left"):
        import_log("access.log", "out.parquet", format="squid")
    assert (folder / "out.parquet").read_text() == "older"
    assert os.listdir(folder) == ["out.parquet"]


def test_a_squid_log_becomes_a_table_that_runs(farweb: Farweb, folder: Path) -> None:
    (folder / "access.log").write_text(LOG)
    answer = farweb("workload", "import", "access.log", "--format", "squid", "--json")
    assert answer.code == 0, answer.err
    report = answer.json()
    assert (report["out"], report["requests"], report["lines"]) == ("access.parquet", 3, 4)
    assert sum(report["dropped"].values()) == 1
    table = pq.read_table("access.parquet")
    assert table["start_s"].to_pylist() == [0.0, 0.75, 1.9]  # ends less elapsed times: 6.0, 6.75, 7.9
    assert table["host"].to_pylist() == ["slow.example", "quick.example", "quick.example"]
    assert table["server_s"].to_pylist() == [4.5, 0.25, 0.1]
    urls = ["http://slow.example/a", "http://quick.example/b", "http://quick.example/c"]
    assert table["object"].to_pylist() == object_ids(urls).tolist()
    assert table.schema.field("start_s").metadata[b"unit"] == b"s"


def test_the_recorded_round_trip_is_taken_off_the_server_time(farweb: Farweb, folder: Path) -> None:
    (folder / "access.log").write_text(LOG)
    farweb("workload", "import", "access.log", "--format", "squid", "--rtt-ms", 120, "-o", "out.parquet", "--quiet")
    server_s = pq.read_table("out.parquet")["server_s"].to_pylist()
    assert server_s == pytest.approx([4.38, 0.13, 0.0])
