"""Times and counts of requests from rows made by hand."""

import json
import uuid
from collections.abc import Sequence
from pathlib import Path

import pytest

from farweb.errors import ResultsError
from farweb.results.manifest import MANIFEST
from farweb.results.metrics import GROUPS
from farweb.results.requests import QUANTILES, Counts, Requests, Times, times_of
from farweb.results.store import Store, part_name
from sample_results import SECOND, Row, request, write_results

ENDED = {"end_ns": None, "first_byte_ns": None}
# Answered after 1, 3, 2 and 4 s, the first of them before the warm-up of 5 s; the last row starts before the others.
ROWS = [
    request(4, 1, 100, retransmits=1, visit_request="first"),
    request(5, 3, 200, tag="sample", visit_request="first"),
    request(7, 2, 400, retransmits=4, timeouts=2, visit_request="later"),
    request(8, 1, 800, status="failed", tag="sample", retransmits=8, visit_request="later", **ENDED),
    request(9, 1, 1600, status="unfinished", visit_request="later", **ENDED),
    request(6, 4, 3200),
]
WARMUP_NS = 5 * SECOND


def read(folder: Path, rows: Sequence[Row] = ROWS) -> Requests:
    return Requests(WARMUP_NS).read(write_results(folder / "r", rows).table("requests"))


def test_times_are_of_the_requests_that_ended_after_the_warm_up(tmp_path: Path) -> None:
    found = read(tmp_path)
    assert found.warmup_s == 5.0
    assert found.ended_ns("latency").tolist() == [3 * SECOND, 2 * SECOND, 4 * SECOND]
    assert found.ended_ns("first_byte").tolist() == [1.5 * SECOND, SECOND, 2 * SECOND]
    assert found.ended_ns("sample_latency").tolist() == [3 * SECOND]
    lost = float("inf")
    assert found.all_ns("latency").tolist() == [3e9, 2e9, 4e9, lost, lost]
    assert found.all_ns("sample_latency").tolist() == [3e9, lost]
    assert found.all_ns("visit_first_latency").tolist() == [3e9]
    assert found.all_ns("visit_later_latency").tolist() == [2e9, lost, lost]
    assert found.distribution_s("latency", [0.0, 0.5, 1.0]) == (3.0, 2.0, 4.0, lost, 4.0)
    assert found.distribution_s("first_byte", [0.25]) == (1.5, 1.5, 2.0)
    assert [found.within(limit) for limit in (1.999999999, 2.0, 4.0, 1e9)] == [0.0, 0.2, 0.6, 0.6]


def test_series_are_in_the_order_of_starts_with_the_warm_up(tmp_path: Path) -> None:
    """Requests that start together stay in the order of the table."""
    rows = [request(5, 1, 1), request(4, 2, 1), *(request(5, 3 + number, 1) for number in range(20)), ROWS[3]]
    start, latency = read(tmp_path, rows).series()
    assert start.tolist() == [4.0] + [5.0] * 21
    assert latency.tolist() == [2.0, 1.0, *(3.0 + number for number in range(20))]


def test_counts_are_of_requests_that_start_after_the_warm_up(tmp_path: Path) -> None:
    counts = read(tmp_path).counts
    assert counts.of == {
        **{"requests": 5, "done": 3, "failed": 1, "unfinished": 1, "left_out": 1, "sample_requests": 2},
        **{"sample_done": 1, "visit_first_requests": 1, "visit_first_done": 1},
        **{"visit_later_requests": 3, "visit_later_done": 1},
        **{"response_bytes": 3800, "retransmits": 12, "timeouts": 2},
    }
    assert counts.failed_share() == 0.4
    assert [counts.failed_share(group) for group in GROUPS] == [0.5, 0.0, 2 / 3]
    # From the first start after the warm-up, 5 s, to the last end, 10 s.
    assert counts.goodput_bps == 8 * 3800 / 5


def test_no_requests_have_no_times_and_no_rates(tmp_path: Path) -> None:
    found = read(tmp_path, ROWS[:1])
    assert set(found.counts.of.values()) == {0, 1} and found.counts.of["left_out"] == 1
    assert (found.counts.failed_share(), found.counts.goodput_bps, found.within(1.0)) == (None, None, None)
    assert found.distribution_s("latency", [0.5]) == (None, None, None)
    assert found.acked_ns.size == found.offered_bytes(0, WARMUP_NS - SECOND) == 0
    # A response that takes no time has no rate.
    assert read(tmp_path / "at once", [request(5, 0, 100)]).counts.goodput_bps is None
    assert read(tmp_path / "fast", [request(5, 1e-9, 100)]).counts.goodput_bps == pytest.approx(8e11)
    lost = read(tmp_path / "lost", [{**ROWS[3], "start_ns": WARMUP_NS}])
    assert (lost.counts.failed_share(), lost.counts.goodput_bps, lost.within(1e9)) == (1.0, None, 0.0)
    assert Counts(0).of["requests"] == 0


def test_offered_bytes_are_of_an_interval_without_its_end(tmp_path: Path) -> None:
    found = read(tmp_path)
    assert found.offered_bytes(4 * SECOND, 8 * SECOND) == 100 + 200 + 400 + 3200
    assert found.offered_bytes(0, 60 * SECOND) == 6300


def test_acknowledgements_are_of_answers_after_the_warm_up_that_have_one(tmp_path: Path) -> None:
    acked = {4: 5, 5: 5, 7: 10, 8: 11, 9: None, 6: None}
    rows = [{**row, "acked_ns": at and at * SECOND} for row, at in zip(ROWS, acked.values(), strict=True)]
    assert read(tmp_path, rows).acked_ns.tolist() == [0, 3 * SECOND]


def test_the_metrics_that_are_quantiles_have_their_shares() -> None:
    assert QUANTILES["latency"] == {f"latency_p{share}_s": share / 100 for share in (50, 90, 95, 99)}
    assert QUANTILES["first_byte"] == {f"first_byte_p{share}_s": share / 100 for share in (50, 90)}
    assert QUANTILES["sample_latency"] == {f"sample_latency_p{share}_s": share / 100 for share in (50, 90)}
    assert QUANTILES["visit_first_latency"] == {f"visit_first_latency_p{share}_s": share / 100 for share in (50, 90)}


@pytest.fixture(params=["local", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    return Store(tmp_path / "sweep" if request.param == "local" else f"memory://{uuid.uuid4()}/sweep")


def test_times_of_a_run_of_a_sweep(store: Store, tmp_path: Path) -> None:
    results = write_results(tmp_path / "r", ROWS)
    store.write(f"{part_name('a')}/requests.parquet", (results.path / "requests.parquet").read_bytes())
    manifest = f"{part_name('a')}/{MANIFEST}"
    store.write(manifest, json.dumps({"warmup_ns": WARMUP_NS}).encode())
    times = Times(WARMUP_NS).read(results.table("requests"))
    assert times_of(store, "a").all_ns("latency").tolist() == times.all_ns("latency").tolist()
    for damaged in (b"{", b"{}", b"[]", b'{"warmup_ns": "x"}'):
        store.write(manifest, damaged)
        with pytest.raises(ResultsError, match=r"parts/run=a/manifest\.json: is damaged$"):
            times_of(store, "a")
