"""Metrics of runs made by hand, with known figures."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from farweb import Results, ResultsError, Scenario
from farweb.results.measure import measure
from farweb.results.metrics import METRICS, find_metric, is_of_part, metrics_of, metrics_table, restored, within
from sample_results import NOTHING, SECOND, Row, leg, measured_leg, request, write_results
from samples import Farweb


def link(number: int, direction: str, **more: Any) -> Row:
    return {"link": number, "direction": direction, "interval_ns": 10 * SECOND, **NOTHING, **more}


SHARE = {"bytes": 100_000, "available_bytes": 250_000}
LINKS = [
    link(0, "up", bytes=1000, packets=10, busy=0.1),
    link(0, "down", packets=80, drops=5, busy=0.5, queue_bytes_mean=300.5, queue_bytes_max=3000, **SHARE),
    link(1, "up", bytes=1000, packets=5, busy=0.9, queue_bytes_max=500),
    link(1, "down", bytes=90_000, packets=0, queue_bytes_mean=20.0, available_bytes=0),
]


def make(
    path: Path,
    requests: Sequence[Row],
    *,
    warmup_s: int = 0,
    interval_s: tuple[int, int] = (0, 60),
    links: Sequence[Row] = LINKS,
    connections: Sequence[tuple[int, int | None]] | None = None,
    **more: Any,
) -> Results:
    legs = [leg() for _ in more.get("legs", [0])]
    results = write_results(path, requests, warmup_ns=warmup_s * SECOND, scenario=legs)
    if connections is not None:
        columns = {
            "open_ns": pa.array([open_s * SECOND for open_s, _ in connections], pa.int64()),
            "close_ns": pa.array([None if s is None else s * SECOND for _, s in connections], pa.int64()),
        }
        pq.write_table(pa.table(columns), path / "connections.parquet")
    measured = {"from_ns": interval_s[0] * SECOND, "to_ns": interval_s[1] * SECOND, "links": list(links), **more}
    measured = {**results.manifest["measured"], **measured}
    (path / "manifest.json").write_text(json.dumps({**results.manifest, "measured": measured}))
    return Results.open(path)


def test_all_metrics_in_order(tmp_path: Path) -> None:
    found = measure(make(tmp_path / "r", [request(0, 1, 1000)]))
    names = list(found)
    assert names[: len(METRICS)] == list(METRICS)
    assert names[len(METRICS) :] == [
        f"link_{number}_{direction}_{what}"
        for number in (0, 1)
        for direction in ("up", "down")
        for what in ("bps", "utilisation", "used", "queue_bytes_mean", "queue_bytes_max", "drops")
    ]
    assert all(find_metric(name).name == name for name in names)


def test_latencies_are_those_of_the_summary(tmp_path: Path) -> None:
    # Latencies of 0, 10, … 1000 ms: the p-th percentile is p times 10 ms.
    results = make(tmp_path / "r", [request(number, number / 100, 1000) for number in range(101)])
    found = measure(results)
    for name, value in {"mean": 0.5, "p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "max": 1.0}.items():
        assert found[f"latency_{name}_s"] == pytest.approx(value)
    assert (found["first_byte_p50_s"], found["first_byte_p90_s"]) == pytest.approx((0.25, 0.45))
    summary = results.summary()
    assert found["goodput_bps"] == pytest.approx(summary.goodput_bps)
    assert (found["done"], found["response_bytes"]) == (summary.done, summary.response_bytes)


def test_the_time_to_the_last_ack_is_of_requests_that_have_one(tmp_path: Path) -> None:
    rows = [
        request(0, 1, 700, acked_ns=1_500_000_000),
        request(10, 1, 1000, acked_ns=12_500_000_000),
        request(11, 1, 1000, acked_ns=None),
        request(12, 1, 5000, status="failed", end_ns=None, acked_ns=13_000_000_000),
    ]
    assert measure(make(tmp_path / "r", rows))["acked_mean_s"] == 2.0
    assert measure(make(tmp_path / "none", rows[2:]))["acked_mean_s"] is None


def failing(number: int, status: str = "failed") -> Row:
    return request(number, 1, 0, status=status, end_ns=None, first_byte_ns=None)


def test_failed_requests_count_as_slower_than_any_that_ended(tmp_path: Path) -> None:
    # Of ten that ended after 1 to 10 s and one that failed, place 9 of 0 to 10 is the slowest that ended.
    rows = [request(number, number + 1, 1000) for number in range(10)]
    found = measure(make(tmp_path / "one", [*rows, failing(10)]))
    assert (found["latency_p50_s"], found["latency_p90_s"], found["latency_p95_s"]) == (6, 10, math.inf)
    assert (found["latency_mean_s"], found["latency_max_s"], found["failed_share"]) == (5.5, 10, 1 / 11)
    # Left out, they would make it faster: the same ten, and as many that did not end.
    half = measure(make(tmp_path / "half", [*rows, *(failing(10 + n, "unfinished") for n in range(10))]))
    assert (half["latency_p50_s"], half["failed_share"], half["latency_mean_s"]) == (math.inf, 0.5, 5.5)


def test_shares_within_a_time_have_the_failed_ones_outside(tmp_path: Path) -> None:
    rows = [request(0, 5, 700), request(1, 1, 1000), request(2, 5.000000001, 1000), failing(3)]
    results = make(tmp_path / "r", rows)
    assert measure(results, [within("5 s"), find_metric("within(5000001 us)")]) == {
        **measure(results),
        "within(5 s)": 0.5,
        "within(5000001 us)": 0.75,
    }
    assert find_metric("within( 5000 ms )").name == "within(5 s)"
    assert find_metric("within(500 ms)").within_s == 0.5
    refused = {"within(5)": "write a time", "within(5 kB)": "write a time", "within(0 s)": "above 0"}
    for wrong, said in {**refused, "within(soon)": r"within\(soon\): "}.items():
        with pytest.raises(ResultsError, match=said):
            find_metric(wrong)


def test_what_is_infinite_comes_back_from_json(tmp_path: Path) -> None:
    for name, rows in {"half": [request(0, 1, 1000), failing(1)], "none": []}.items():
        found = measure(make(tmp_path / name, rows))
        plain = {key: None if value == math.inf else value for key, value in found.items()}
        assert restored(plain) == found


def test_requests_are_counted_by_what_came_of_them(tmp_path: Path) -> None:
    rows = [
        request(0, 1, 700),
        request(10, 2, 1000, retransmits=3, timeouts=1),
        request(11, 4, 1000, tag="sample"),
        request(12, 1, 5000, status="failed", end_ns=None, first_byte_ns=None, retransmits=2, timeouts=2, tag="sample"),
        request(13, 1, 6000, status="unfinished", end_ns=None),
    ]
    found = measure(make(tmp_path / "r", rows, warmup_s=5))
    counts = ("requests", "done", "failed", "unfinished", "left_out", "sample_requests", "response_bytes")
    assert [found[name] for name in counts] == [4, 2, 1, 1, 1, 2, 2000]
    assert (found["retransmits"], found["timeouts"]) == (5, 3)
    assert (found["latency_mean_s"], found["sample_latency_mean_s"]) == (3, 4)
    assert (found["failed_share"], found["sample_latency_p50_s"]) == (0.5, math.inf)
    # From the first start after the warm-up, 10 s, to the last end, 15 s.
    assert found["goodput_bps"] == 8 * 2000 / 5


def test_offered_bits_are_of_requests_that_start_in_the_interval(tmp_path: Path) -> None:
    rows = [
        request(0, 1, 10_000),
        request(5, 1, 100),
        request(9, 1, 200, status="failed", end_ns=None),
        request(10, 1, 4000),
    ]
    found = measure(make(tmp_path / "r", rows, interval_s=(5, 10)))
    assert (found["offered_bps"], found["measured_s"], found["simulated_s"]) == (8 * 300 / 5, 5, 60)


def test_links_over_the_measured_interval(tmp_path: Path) -> None:
    found = measure(make(tmp_path / "r", []))
    assert (found["carried_bps"], found["carried_up_bps"]) == (80_000, 800)
    assert (found["utilisation"], found["queue_bytes_mean"], found["queue_bytes_max"]) == (0.9, 300.5, 3000)
    # Five dropped, 95 transmitted.
    assert (found["drops"], found["loss_ratio"]) == (5, 0.05)
    assert (found["link_0_down_used"], found["link_1_up_used"], found["link_1_down_used"]) == (0.4, None, None)
    assert (found["link_1_up_utilisation"], found["link_1_down_bps"], found["link_0_down_drops"]) == (0.9, 72_000, 5)


LEGS = [
    measured_leg(0, open_mean=50.0, open_max=50, busy_mean=12.5, busy_max=40, connection_requests_max=7),
    measured_leg(1, open_mean=30.25, open_max=90, requests_mean=31.5, requests_max=95),
]


def test_legs_and_the_presented_load_over_the_measured_interval(tmp_path: Path) -> None:
    results = make(tmp_path / "r", [], interval_s=(10, 20), legs=LEGS, presented_bytes=125_000)
    found = measure(results)
    assert found["presented_bps"] == 8 * 125_000 / 10
    names = [name for name in found if name.startswith("leg_")]
    assert names == [metric.name for number in (0, 1) for metric in metrics_of(f"leg_{number}").values()]
    assert (found["leg_0_open_mean"], found["leg_0_busy_max"], found["leg_0_connection_requests_max"]) == (50, 40, 7)
    assert (found["leg_1_open_mean"], found["leg_1_requests_mean"], found["leg_1_requests_max"]) == (30.25, 31.5, 95)
    assert all(find_metric(name).name == name for name in names)
    assert find_metric("leg_1_open_max").whole and not find_metric("leg_1_open_mean").whole


def test_a_run_without_a_request(tmp_path: Path) -> None:
    found = measure(make(tmp_path / "r", [], links=[link(0, "up"), link(0, "down")]))
    assert (found["requests"], found["offered_bps"]) == (0, 0)
    assert [found[name] for name in ("latency_p50_s", "goodput_bps", "loss_ratio")] == [None] * 3


def test_connections_that_are_open_in_the_interval(tmp_path: Path) -> None:
    # In 10 … 20 s: one all the time, one for 4 s, one that opens as that one closes and stays, one before, one after.
    connections = [(0, None), (8, 14), (14, 30), (1, 10), (20, 25)]
    found = measure(make(tmp_path / "r", [], interval_s=(10, 20), connections=connections))
    assert (found["connections"], found["connections_open_max"]) == (5, 2)
    assert found["connections_open_mean"] == pytest.approx((10 + 4 + 6) / 10)
    without = measure(make(tmp_path / "without", []))
    assert (without["connections"], without["connections_open_mean"]) == (None, None)
    none = measure(make(tmp_path / "none", [], connections=[]))
    assert (none["connections"], none["connections_open_mean"], none["connections_open_max"]) == (0, 0, 0)


def test_the_peak_of_connections_by_brute_force(tmp_path: Path) -> None:
    connections = [(start % 17, start % 17 + 1 + start % 5) for start in range(40)]
    found = measure(make(tmp_path / "r", [], interval_s=(0, 60), connections=connections))
    assert found["connections_open_max"] == max(
        sum(begin <= second < end for begin, end in connections) for second in range(60)
    )


def test_row_groups_change_nothing(tmp_path: Path) -> None:
    rows = [
        request(number, 1 + number % 7, 1000 + number, tag="sample" if number % 3 else None) for number in range(50)
    ]
    results = make(tmp_path / "r", rows, warmup_s=3, interval_s=(3, 40))
    whole = measure(results)
    file = results.path / "requests.parquet"
    pq.write_table(pq.read_table(file), file, row_group_size=7)
    assert pq.ParquetFile(file).num_row_groups == 8
    assert measure(results) == whole


def test_a_simulated_run_measures_itself(cable: Path) -> None:
    # Requests at 0, 10 and 20 s of 1,000, 20,000 and 4,000 B, each on a connection of its own.
    results = Scenario.load(cable, {"record.connections": "true", "path.link.0.up.rate": "unlimited"}).run(seed=1)
    found = measure(results)
    summary = results.summary()
    assert (found["done"], found["connections"], found["connections_open_max"]) == (3, 3, 1)
    assert found["measured_s"] == 20
    assert found["offered_bps"] == 8 * 21_000 / 20
    assert found["latency_p90_s"] == pytest.approx(summary.latency.p90_s)
    # The third response falls outside; headers come on top of the other two.
    carried = found["carried_bps"]
    assert carried is not None and 8 * 21_000 / 20 < carried < 1.1 * 8 * 21_000 / 20
    assert found["link_0_down_used"] == pytest.approx(carried / 34_368_000, abs=1e-12)
    unlimited = results.manifest["links"][0]
    assert (found["link_0_up_used"], unlimited["available_bytes"], unlimited["rate_bps_mean"]) == (None, None, None)
    # Each packet takes a whole number of nanoseconds.
    assert found["utilisation"] == pytest.approx(carried / 34_368_000, rel=1e-5)


def test_means_and_maxima_of_times_are_of_requests_that_ended() -> None:
    of_ended = {name for name, metric in METRICS.items() if metric.of_ended}
    of_times = {name for name, metric in METRICS.items() if metric.unit == "s" and metric.kind != "quantile"}
    assert of_ended == of_times - {"simulated_s", "measured_s"}


def test_names_of_metrics_of_parts_begin_alike() -> None:
    names = ("link_0_down_drops", "leg_1_open_max", "cache_0_hit_ratio", "latency_mean_s", "drops")
    assert [is_of_part(name) for name in names] == [True, True, True, False, False]


def test_an_unknown_metric_names_the_nearest() -> None:
    with pytest.raises(ResultsError, match="link_0_sideways_bps: no such metric; link_0_"):
        find_metric("link_0_sideways_bps")
    with pytest.raises(ResultsError, match=r"leg_3_opn_mean: no such metric; leg_3_open_mean\?"):
        find_metric("leg_3_opn_mean")


def test_the_schema_describes_metrics_and_tables_of_sweeps(farweb: Farweb) -> None:
    shown = {table["name"]: table for table in farweb("schema", "results", "--json").json()["tables"]}
    assert [column["name"] for column in shown["metrics"]["columns"]][: len(METRICS)] == list(METRICS)
    assert {"requests", "runs", "estimates", "differences", "effects", "level_effects", "warmup", "timings"} <= set(
        shown
    )
    whole = {column["name"] for column in metrics_table()["columns"] if column["type"] == "int64"}
    assert {"done", "drops", "queue_bytes_max", "link_0_down_queue_bytes_max", "leg_0_open_max"} <= whole
    assert not whole & {"latency_max_s", "queue_bytes_mean", "connections_open_mean", "leg_0_open_mean"}
    for column in metrics_table()["columns"]:
        assert column["nullable"]
        suffix = {"s": "_s", "bit/s": "_bps"}.get(column["unit"], "")
        assert column["name"].endswith(suffix)
        assert column["description"].endswith(".")
