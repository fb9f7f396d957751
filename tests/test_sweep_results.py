"""Sweeps made by hand: their runs, complete or not, and their tables."""

import json
import math
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from farweb import Results, ResultsError
from farweb.files.dataset import Scan
from farweb.library.folders import open_results
from farweb.library.sweep_results import SweepResults
from farweb.results.sweep_schema import to_table, write_table
from farweb.results.sweep_statistics import STATISTICS, comparisons, compute, left_out, warmup
from farweb.statistics.intervals import quantiles, student
from sample_results import SECOND, Row, request
from sample_sweeps import design_dict, design_of, write_sweep

LOADS: dict[str, list[Any]] = {"workload.load": [1, 2], "circuit": ["cable", "satellite"]}


def latency(levels: Mapping[str, Any], replication: int) -> dict[str, float]:
    return {"latency_mean_s": float(levels["workload.load"]) + replication}


def requests(levels: Mapping[str, Any], replication: int) -> list[Row]:
    """Sixty requests, one a second; their latencies depend on load, circuit and replication."""
    random = np.random.default_rng(replication)
    slow = 3.0 if levels.get("circuit") == "satellite" else 1.0
    return [
        request(
            number,
            slow * levels["workload.load"] * random.lognormal(-1, 0.3),
            1000,
            tag="sample" if number % 2 else None,
        )
        for number in range(60)
    ]


def test_runs_in_the_order_of_the_plan(tmp_path: Path) -> None:
    sweep = write_sweep(tmp_path / "s", design_of(LOADS, 2), latency)
    assert sweep.complete
    assert sweep.runs["workload.load"].to_list() == [1, 1, 1, 1, 2, 2, 2, 2]
    assert sweep.runs["circuit"].to_list()[:4] == ["cable", "cable", "satellite", "satellite"]
    assert sweep.runs["seed"].to_list()[:2] == [1, 2]
    assert sweep.points.to_list() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert sweep.values("latency_mean_s").tolist() == [[1, 2], [1, 2], [2, 3], [2, 3]]


def test_an_estimate_is_the_mean_with_students_interval(tmp_path: Path) -> None:
    sweep = write_sweep(tmp_path / "s", design_of(LOADS, 3), latency)
    first = sweep.estimates(["latency_mean_s"]).row(0, named=True)
    # 1, 2, 3: mean 2, standard deviation 1; t of 2 degrees of freedom at 97.5 % is 4.302653.
    assert (first["n"], first["mean"], first["sd"], first["method"]) == (3, 2.0, 1.0, "student")
    assert first["high"] - first["mean"] == pytest.approx(4.302653 / 3**0.5, rel=1e-6)
    few = write_sweep(tmp_path / "few", design_of(LOADS, 2), latency, failed={(0, 1): "no memory"})
    assert few.estimates(["latency_mean_s"])["method"].to_list() == ["none", "student", "student", "student"]


def test_quantiles_are_of_the_requests_of_all_replications(tmp_path: Path) -> None:
    sweep = write_sweep(tmp_path / "s", design_of(LOADS, 4), requests=requests, warmup_ns=10 * SECOND)
    rows = sweep.estimates(["latency_p90_s", "sample_latency_p50_s"]).filter(pl.col("point") == 3).to_dicts()
    each = [requests({"workload.load": 2, "circuit": "satellite"}, r)[10:] for r in range(4)]
    times = [[(row["end_ns"] - row["start_ns"]) / 1e9 for row in one] for one in each]
    (p90,) = quantiles(times, [0.9])
    (half,) = quantiles([one[1::2] for one in times], [0.5])
    for row, expected in zip(rows, (p90, half), strict=True):
        assert (row["n"], row["method"]) == (4, "bootstrap")
        assert [row["mean"], row["low"], row["high"]] == pytest.approx([expected.value, expected.low, expected.high])


def test_without_the_requests_a_quantile_has_students_interval(tmp_path: Path) -> None:
    sweep = write_sweep(tmp_path / "s", design_of(LOADS, 3), lambda levels, r: {"latency_p90_s": 1.0 + r})
    for part in sweep.path.glob("parts/*"):
        (part / "requests.parquet").unlink()
        manifest = json.loads((part / "manifest.json").read_text())
        (part / "manifest.json").write_text(json.dumps({**manifest, "rows": {}}))
    row = sweep.estimates(["latency_p90_s"]).row(0, named=True)
    assert (row["mean"], row["high"], row["method"]) == (2, student([1, 2, 3]).high, "student")
    assert sweep.warmup().is_empty()


def test_differences_are_paired_overall_and_at_each_point(tmp_path: Path) -> None:
    def metrics(levels: Mapping[str, Any], replication: int) -> Row:
        luck = [0.0, 50.0, -30.0][replication]
        satellite = levels["circuit"] == "satellite"
        return {"events": luck + 10 * levels["workload.load"] + (5 + replication) * satellite}

    sweep = write_sweep(tmp_path / "s", design_of(LOADS, 3), metrics)
    rows = sweep.differences(["events"]).to_dicts()
    assert [(row["factor"], row["scope"], row["workload.load"], row["circuit"], row["mean"]) for row in rows] == [
        ("workload.load", "overall", 2, None, 10),
        ("workload.load", "point", 2, "cable", 10),
        ("workload.load", "point", 2, "satellite", 10),
        ("circuit", "overall", None, "satellite", 6),
        ("circuit", "point", 1, "satellite", 6),
        ("circuit", "point", 2, "satellite", 6),
    ]
    assert {(row["factor"], row["level"], row["base"]) for row in rows} == {
        ("workload.load", "2", "1"),
        ("circuit", "satellite", "cable"),
    }
    # Differences are 5, 6 and 7 whatever the luck.
    assert rows[3]["high"] == pytest.approx(student([5, 6, 7]).high)
    assert rows[3]["variance_reduction"] > 0.99
    assert rows[3]["unpaired_half_width"] > 10 * (rows[3]["high"] - rows[3]["mean"])
    assert (rows[1]["low"], rows[1]["high"]) == (10, 10)


def test_a_replication_without_a_pair_is_left_out_of_its_comparisons_only(tmp_path: Path) -> None:
    sweep = write_sweep(tmp_path / "s", design_of(LOADS, 3), latency, failed={(1, 0): "no memory"})
    rows = sweep.differences(["latency_mean_s"]).to_dicts()
    counts = {(row["factor"], row["workload.load"], row["circuit"]): row["n"] for row in rows}
    assert counts == {
        ("workload.load", 2, None): 2,
        ("workload.load", 2, "cable"): 3,
        ("workload.load", 2, "satellite"): 2,
        ("circuit", None, "satellite"): 2,
        ("circuit", 1, "satellite"): 2,
        ("circuit", 2, "satellite"): 3,
    }
    effects = sweep.effects(["latency_mean_s"])
    assert effects["n"].unique().to_list() == [8]


def test_the_allocation_of_variation_adds_up(tmp_path: Path) -> None:
    sweep = write_sweep(tmp_path / "s", design_of(LOADS, 4), requests=requests)
    effects = sweep.effects(["latency_p50_s"])
    assert effects["term"].to_list() == ["workload.load", "circuit", "workload.load × circuit", "replications", "error"]
    assert effects["percent"].sum() == pytest.approx(100)
    levels = sweep.level_effects(["latency_p50_s"])
    assert levels.filter(pl.col("term") == "circuit")["effect"].sum() == pytest.approx(0)
    # Load and circuit multiply: logarithms have no interaction, and their effects come from factors 2 and 3.
    log = sweep.effects(["latency_p50_s"], log=True)
    assert log.filter(pl.col("order") == 2)["percent"].item() == pytest.approx(0, abs=1e-6)
    satellite = sweep.level_effects(["latency_p50_s"], log=True).filter(pl.col("levels") == "satellite")
    assert satellite["effect"].item() == pytest.approx(math.log(3) / 2, abs=1e-6)


def test_effects_are_of_the_values_themselves() -> None:
    """Sums of squares of 1, 3, 5 and 7, each twice: 32 by the first factor, 8 by the second, 40 in all."""
    design = design_of(LOADS, 2)
    values = np.repeat([[1.0], [3.0], [5.0], [7.0]], 2, axis=1)
    tables = compute(design, {"events": values}, [None] * 4)
    rows = tables["effects"].to_pylist()
    assert [(row["term"], row["ss"], row["percent"]) for row in rows[:2]] == [
        ("workload.load", pytest.approx(32), pytest.approx(80)),
        ("circuit", pytest.approx(8), pytest.approx(20)),
    ]
    assert {(row["transform"], row["n"], row["method"]) for row in rows} == {("none", 8, "full-factorial")}
    assert [row["effect"] for row in tables["level_effects"].to_pylist()[:4]] == pytest.approx([-2, 2, -1, 1])


def test_replications_that_an_analysis_does_without_are_counted() -> None:
    values = np.array([[1.0, math.nan, math.nan], [1.0, 2.0, 3.0]])
    factors = {"workload.load": [1, 2]}
    assert left_out(design_of(factors, 3), values) == 2
    assert left_out(design_of(factors, 3, kind="search"), values) == 0


def test_logarithms_of_what_is_not_positive_are_refused(tmp_path: Path) -> None:
    sweep = write_sweep(tmp_path / "s", design_of(LOADS, 2))
    with pytest.raises(ResultsError, match="drops has values that are not positive"):
        sweep.effects(["drops"], log=True)


def test_designs_other_than_factorials(tmp_path: Path) -> None:
    one = design_of({"a": [1, 2, 3], "b": [1, 2]}, 2, kind="one-at-a-time", points=[(0, 0), (1, 0), (2, 0), (0, 1)])
    sweep = write_sweep(tmp_path / "one", one, lambda levels, r: {"events": 10 * levels["a"] + 3 * levels["b"] + r})
    assert sweep.effects(["events"])["term"].to_list() == ["a", "b", "replications", "error"]
    assert [(row["factor"], row["level"], row["mean"]) for row in sweep.differences(["events"]).to_dicts()] == [
        ("a", "2", 10),
        ("a", "3", 20),
        ("b", "2", 3),
    ]
    cube = design_of(
        {"a": [0.5, 0.1, 0.9, 0.3, 0.7], "b": [1, 4, 2, 5, 3], "same": [1], "two": [1, 2]},
        2,
        kind="latin-hypercube",
        points=[(i, i, 0, i % 2) for i in range(5)],
    )
    sweep = write_sweep(tmp_path / "cube", cube, lambda levels, r: {"events": math.exp(9 * levels["a"]) + r})
    effects = sweep.effects(["events"]).to_dicts()
    assert {row["term"]: round(row["coefficient"] or 0, 9) for row in effects} == {"a": 1, "b": 0, "two": 0, "error": 0}
    assert sweep.differences().is_empty()
    # Levels stand in their order when one has no number.
    queues = {"queue": [4, 8, 16, 32, "unlimited"]}
    cube = design_of(queues, 1, kind="latin-hypercube", points=[(i,) for i in range(5)])
    rows = compute(cube, {"events": np.arange(5.0)[:, None]}, [None] * 5)["effects"].to_pylist()
    assert (rows[0]["term"], rows[0]["coefficient"]) == ("queue", pytest.approx(1))


def test_a_level_without_a_point_is_compared_with_nothing() -> None:
    design = design_of({"a": [1, 2, 3]}, 1, kind="one-at-a-time", points=[(0,), (2,)])
    assert [(row["level"], level, base) for row, level, base in comparisons(design)] == [("3", [1], [0])]


def test_a_search_for_a_size_has_unequal_replications(tmp_path: Path) -> None:
    design = design_of({"path.link.0.down.queue": [4000, 8000, 6000]}, 5, kind="search")
    sweep = write_sweep(
        tmp_path / "s", design, requests=lambda levels, r: [request(1, 1 + r, 10)], repeats={0: 2, 1: 3}
    )
    assert sweep.estimates(["latency_p50_s"])["n"].to_list() == [2, 3, 5]
    assert sweep.effects().is_empty()
    assert sweep.differences(["latency_p50_s"])["n"].to_list() == [2, 2]
    assert "search" in sweep.refusals(["events"])["events"]


def test_an_unfinished_sweep_shows_what_is_there(tmp_path: Path) -> None:
    whole = write_sweep(tmp_path / "whole", design_of(LOADS, 2), latency, failed={(2, 0): "no memory"})
    part = write_sweep(
        tmp_path / "part", design_of(LOADS, 2), latency, failed={(2, 0): "no memory"}, missing=[(1, 1), (3, 0)]
    )
    assert not part.complete
    assert part.runs.schema == whole.runs.schema
    kept = [row for row in whole.runs.rows() if row[0] in set(part.runs["run"])]
    assert part.runs.rows() == kept
    assert part.runs.height == 6
    assert part.timings.height == 5


def test_a_sweep_of_which_no_run_has_ended(tmp_path: Path) -> None:
    design = design_of(LOADS, 2)
    sweep = write_sweep(tmp_path / "s", design, missing=[(point, r) for point in range(4) for r in range(2)])
    assert sweep.runs.is_empty()
    assert sweep.values("events").shape == (4, 0)
    assert sweep.estimates(["events"])["n"].to_list() == [0, 0, 0, 0]
    assert sweep.effects().is_empty()
    assert sweep.differences(["events"])["mean"].null_count() == 6
    assert sweep.sql("select count(*) from runs").item() == 0
    assert "8 missing" in sweep.summary()._repr_html_()


def test_the_plan_says_which_parts_belong_to_the_sweep(tmp_path: Path) -> None:
    sweep = write_sweep(tmp_path / "s", design_of(LOADS, 2), latency, missing=[(3, 1)])
    ids = sweep.runs["run"].to_list()
    # A plan with runs elsewhere than their parts say, and without the last part.
    design = design_of({**LOADS, "workload.load": [2, 1]}, 2)
    rows = [
        {"run": run, **design_row, "replication": place % 2, "seed": 7 + place % 2}
        for place, run in enumerate(ids[:6][::-1])
        for design_row in [{name: level.value for name, level in design.levels(place // 2).items()}]
    ]
    write_table(to_table("plan", design, rows), sweep.path / "plan.parquet")
    manifest = {**sweep.manifest, "design": design_dict(design)}
    (sweep.path / "manifest.json").write_text(json.dumps(manifest))
    planned = SweepResults.open(sweep.path)
    assert planned.runs["run"].to_list() == ids[:6][::-1]
    assert planned.runs["workload.load"].to_list() == [2, 2, 2, 2, 1, 1]
    assert planned.points.to_list() == [0, 0, 1, 1, 2, 2]
    assert planned.runs["seed"].to_list() == [7, 8] * 3


def test_tables_are_written_once_and_read_again(tmp_path: Path) -> None:
    design = design_of(LOADS, 3)
    sweep = write_sweep(tmp_path / "s", design, requests=requests)
    computed = {table: sweep.statistics(table) for table in STATISTICS}
    sweep.write_tables()
    again = SweepResults.open(sweep.path)
    for part in sweep.path.glob("parts/*"):
        shutil.rmtree(part)
    for table in STATISTICS:
        assert again.statistics(table).equals(computed[table]), table
    other = write_sweep(tmp_path / "other", design, requests=requests)
    other.write_tables()
    for table in (*STATISTICS, "runs"):
        assert (other.path / f"{table}.parquet").read_bytes() == (sweep.path / f"{table}.parquet").read_bytes(), table


def test_columns_tell_their_units(tmp_path: Path) -> None:
    sweep = write_sweep(tmp_path / "s", design_of(LOADS, 2), requests=requests)
    sweep.write_tables()
    runs = pq.read_schema(sweep.path / "runs.parquet")
    assert runs.field("latency_p50_s").metadata[b"unit"] == b"s"
    assert runs.field("link_0_down_bps").metadata[b"unit"] == b"bit/s"
    assert b"workload.load" in runs.field("workload.load").metadata[b"description"]
    for table in STATISTICS:
        fields = pq.read_schema(sweep.path / f"{table}.parquet")
        assert all(field.metadata[b"description"] for field in fields), table


def test_levels_of_several_types_are_told_apart(tmp_path: Path) -> None:
    design = design_of({"sack": [False, True], "queue": [4, "unlimited"], "rate": [1, 2.5]}, 1)
    sweep = write_sweep(tmp_path / "s", design, lambda levels, r: {"events": 1})
    types = [pl.Boolean(), pl.String(), pl.Float64()]
    assert [sweep.runs.schema[name] for name in ("sack", "queue", "rate")] == types
    assert sweep.points.to_list() == list(range(8))
    assert sweep.estimates(["events"])["queue"].unique().sort().to_list() == ["4", "unlimited"]


def test_a_scan_joins_the_factors_to_the_rows_of_all_runs(tmp_path: Path) -> None:
    sweep = write_sweep(tmp_path / "x=1 [a]*", design_of(LOADS, 2), requests=requests, failed={(0, 0): "no memory"})
    frame = sweep.scan("requests").collect()
    assert frame.columns[:5] == ["run", "workload.load", "circuit", "replication", "request"]
    assert frame.height == 7 * 60
    assert frame["run"].unique(maintain_order=True).to_list() == sweep.runs["run"].to_list()[1:]
    one = frame.filter((pl.col("workload.load") == 2) & (pl.col("circuit") == "satellite"), replication=1)
    assert one["end_ns"].to_list() == [
        row["end_ns"] for row in requests({"workload.load": 2, "circuit": "satellite"}, 1)
    ]
    with pytest.raises(ResultsError, match=r"no run has a table of packets: set record\.packets"):
        sweep.scan("packets")


def test_the_warm_up_by_mser(tmp_path: Path) -> None:
    def slow_at_first(levels: Mapping[str, Any], replication: int) -> list[Row]:
        random = np.random.default_rng(replication)
        return [request(n, (20 if n < 100 else 5) + random.normal(0, 0.1), 10) for n in range(1000)]

    sweep = write_sweep(tmp_path / "s", design_of({"workload.load": [1]}, 3), requests=slow_at_first, warmup_ns=SECOND)
    row = sweep.warmup().row(0, named=True)
    assert (row["n"], row["requests"], row["warmup_s"], row["steady"]) == (3, 1000, 1, True)
    # A request starts each second: as many requests as seconds.
    assert 100 <= row["truncated_requests"] == row["truncated_s"] <= 120

    def steady(levels: Mapping[str, Any], replication: int) -> list[Row]:
        return [request(n, 5 + n % 2, 10) for n in range(10, 1010)]

    sweep = write_sweep(tmp_path / "steady", design_of({"workload.load": [1]}, 3), requests=steady)
    row = sweep.warmup().row(0, named=True)
    assert (row["truncated_requests"], row["truncated_s"]) == (0, 0.0)
    nothing = dict.fromkeys(("truncated_requests", "truncated_s", "steady"))
    assert warmup([(np.array([]), np.array([]))], 1.0) == {"n": 0, "requests": 0, **nothing, "warmup_s": 1.0}


def test_a_folder_is_opened_as_what_it_is(tmp_path: Path) -> None:
    sweep = write_sweep(tmp_path / "s", design_of(LOADS, 2), requests=requests)
    assert isinstance(open_results(sweep.path), SweepResults)
    run = sweep.runs["run"][0]
    part = sweep.path / "parts" / f"run={run}"
    assert isinstance(open_results(part), Results)
    assert sweep.part(run).requests.height == 60
    with pytest.raises(ResultsError, match="not the results folder of a run, but of a sweep"):
        Results.open(sweep.path)
    with pytest.raises(ResultsError, match="not the results folder of a sweep, but of a run"):
        SweepResults.open(part)
    with pytest.raises(ResultsError, match="no such folder"):
        open_results(tmp_path / "none")
    (part / "manifest.json").write_text(json.dumps({"kind": "something else"}))
    with pytest.raises(ResultsError, match="not the results folder of a run or a sweep"):
        open_results(part)


def test_unknown_metrics_are_named(tmp_path: Path) -> None:
    sweep = write_sweep(tmp_path / "s", design_of(LOADS, 2))
    for ask in (sweep.estimates, sweep.differences, sweep.effects):
        with pytest.raises(ResultsError, match=r"utilization: no such metric; utilisation\?"):
            ask(["utilization"])
    with pytest.raises(ResultsError, match="its runs have no link_9_up_bps"):
        sweep.values("link_9_up_bps")


def test_a_sweep_in_an_object_store(tmp_path: Path) -> None:
    local = write_sweep(tmp_path / "s", design_of(LOADS, 2), requests=requests)
    memory = fsspec.filesystem("memory")
    memory.put(str(local.path), "/bucket/sweep", recursive=True)
    remote = open_results("memory://bucket/sweep")
    assert isinstance(remote, SweepResults)
    remote.write_tables()
    local.write_tables()
    for table in STATISTICS:
        assert memory.cat_file(f"/bucket/sweep/{table}.parquet") == (local.path / f"{table}.parquet").read_bytes()
    assert remote.scan("requests").collect().equals(local.scan("requests").collect())
    assert remote.part(remote.runs["run"][0]).requests.equals(local.part(local.runs["run"][0]).requests)
    query = 'select "workload.load", sum(response_bytes) from requests group by all order by all'
    assert remote.sql(query).equals(local.sql(query))
    memory.rm("/bucket", recursive=True)


def test_sql_reads_by_scans_that_let_go_of_the_interpreter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Any other may wait for ever for the thread that opens the next run's table."""
    readers = []

    def counted(scan: Scan, own: Callable[[Scan], pa.RecordBatchReader] = Scan.to_reader) -> pa.RecordBatchReader:
        readers.append(own(scan))
        return readers[-1]

    monkeypatch.setattr(Scan, "to_reader", counted)
    sweep = write_sweep(tmp_path / "s", design_of(LOADS, 2), requests=requests)
    of_part = f"select sum(response_bytes) as sum from requests where run = '{sweep.runs['run'][0]}'"
    assert sweep.sql(of_part)["sum"].to_list() == [60_000]
    assert readers


def test_a_sweep_of_nothing_but_replications_has_one_point(tmp_path: Path) -> None:
    sweep = write_sweep(tmp_path / "s", design_of({}, 3), lambda _, replication: {"latency_mean_s": replication})
    assert sweep.points.to_list() == [0, 0, 0]
    assert sweep.values("latency_mean_s").tolist() == [[0, 1, 2]]
    (estimate,) = sweep.estimates(["latency_mean_s"]).to_dicts()
    assert (estimate["n"], estimate["mean"]) == (3, 1)
