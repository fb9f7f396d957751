"""What `farweb show` and `farweb sql` print of sweeps made by hand."""

import csv
import io
import json
import math
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pytest
import rich

from farweb import Results, ResultsError
from farweb.library.sweep_results import SweepResults
from farweb.results import sql
from farweb.results.sweep_statistics import STATISTICS
from farweb.run import check_place
from farweb.summary.screen import screen
from farweb.text import quantities
from farweb.text.quantities import with_margin
from sample_results import Row, interval, request, write_results
from sample_sweeps import design_of, write_sweep
from samples import Farweb

LOADS: dict[str, list[Any]] = {"workload.load": [1, 2], "circuit": ["cable", "satellite"]}


def requests(levels: Mapping[str, Any], replication: int) -> list[Row]:
    random = np.random.default_rng(replication)
    slow = 3.0 if levels["circuit"] == "satellite" else 1.0
    return [request(number, slow * levels["workload.load"] * random.lognormal(-1, 0.3), 1000) for number in range(60)]


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> SweepResults:
    """A sweep that tests only read."""
    return write_sweep(tmp_path_factory.mktemp("summary") / "sweep", design_of(LOADS, 3), requests=requests)


def test_show_prints_estimates_differences_and_the_allocation(sweep: SweepResults, farweb: Farweb) -> None:
    screen = farweb("show", sweep.path).out
    assert screen.startswith(
        "Best: load 1, circuit cable (386 ms on average). The other 3 points take 100 to\n500 % more time.\n"
    )
    assert "satellite for cable" in screen and "12 of 12 runs, 3 seeds. Holds for traffic of this" in screen
    assert len(screen.splitlines()) <= 25 and max(map(len, screen.splitlines())) <= 80
    shown = farweb("show", sweep.path, "--details", "--variation", "--pairs")
    assert shown.code == 0, shown.err
    for text in (
        *("full factorial, 4 points", "workload.load (2), circuit (2)", "1 to 3, the same at each point"),
        *("12 of 12 done, 0 failed, 0 missing", "latency_p90_s", "workload.load: 2 against 1"),
        *("circuit: satellite against cable", "(+200 %)", "(+100 %)", "load × circuit", "error"),
        "\nDifferences are per run, results over all runs: they can disagree.\n",
    ):
        assert text in shown.out, text
    assert "incomplete" not in shown.out
    pairs = shown.out.partition("\nPairs\n")[2]
    assert all(re.search(each, pairs) for each in ("load, circuit +for", "2, cable +1, satellite", "load 2 +load 1"))


def test_each_pair_of_a_factor_stands_once_and_the_ranking_says_what_it_holds_for(
    tmp_path: Path, farweb: Farweb
) -> None:
    design = design_of({"circuit": ["cable", "satellite"], "workload.load": [1]}, 3)
    sweep = write_sweep(tmp_path / "s", design, requests=requests)
    rows = farweb("show", sweep.path, "--pairs").out.partition("\nPairs\n")[2].splitlines()
    assert [row.split()[:2] for row in rows[:-1]] == [["circuit", "for"], ["satellite", "cable"]]
    unjudged = replace(sweep.summary(), judged=[])  # as after a search
    assert "6 of 6 runs, 3 seeds. Holds for traffic of this kind (95 %, 3 seeds)." in screen(unjudged).parts
    said = (
        "circuit cable is better than circuit satellite: requests take 66.7 % less time on average (386 ms instead of"
    )
    assert " ".join(farweb("show", sweep.path).out.split()).startswith(said), "two points have the words of compare"


def test_heads_are_whole_and_name_the_confidence_of_each_interval(tmp_path: Path, farweb: Farweb) -> None:
    """Six points are fifteen pairs, three levels three, two one; a long factor leaves no room."""
    long = "leg.0.tcp.constants.initial_cwnd_segments"
    factors: dict[str, list[Any]] = {"circuit": ["cable"], "workload.load": [1, 2, 3], long: [10, 20]}
    sweep = write_sweep(tmp_path / "s", design_of(factors, 3), requests=requests)
    shown = farweb("show", sweep.path).out
    assert re.search(r"time % +99\.7 % interval", shown) and "95 % for all pairs" in shown
    of_levels = shown.partition("\nOne setting changed\n")[2]
    assert "95 % a setting" in of_levels and "…" not in of_levels.replace(" … ", ""), of_levels


def test_line_1_of_a_sweep_says_that_failures_decide(tmp_path: Path, farweb: Farweb) -> None:
    def failing(levels: Mapping[str, Any], replication: int) -> list[Row]:
        lost = {"end_ns": None, "first_byte_ns": None, "status": "failed"}
        return [request(n, 0.5 + n / 600, 1000, **(lost if levels["load"] == 2 and n % 3 else {})) for n in range(600)]

    for levels, line in (
        ([1, 2], "Failures decide: 66.7 % of requests fail at load 2. Best: load 1."),
        ([1, 3], "No difference: all 2 points take the same time."),
    ):
        sweep = write_sweep(tmp_path / str(levels[1]), design_of({"load": levels}, 1), requests=failing)
        shown = farweb("show", sweep.path).out
        assert shown.startswith(f"{line}\n")
        assert ("failed" in shown.partition("one setting")[0].splitlines()[2]) == (levels[1] == 2)


def test_json_has_all_metrics_and_tables(sweep: SweepResults, farweb: Farweb) -> None:
    result = farweb("show", sweep.path, "--json").json()["sweep"]
    assert result["runs"] == {"planned": 12, "done": 12, "failed": 0, "missing": 0}
    assert (result["complete"], result["seeds"], result["points"]) == (True, [1, 2, 3], 4)
    assert {row["metric"] for row in result["estimates"]} == set(sweep.metrics)
    for table in STATISTICS:
        assert result[table] == json.loads(json.dumps(sweep.statistics(table).to_dicts())), table


def test_metric_and_by_choose(sweep: SweepResults, farweb: Farweb) -> None:
    result = farweb("show", sweep.path, "--metric", "latency_mean_s", "--by", "workload.load", "--json").json()["sweep"]
    values = sweep.values("latency_mean_s")
    rows = [(row["workload.load"], row["metric"], row["n"]) for row in result["estimates"]]
    assert rows == [(load, "latency_mean_s", 3) for load in (1, 2)]
    # The mean over circuits in each replication, then over replications.
    assert result["estimates"][1]["mean"] == pytest.approx(values[2:].mean())
    assert result["estimates"][1]["sd"] == pytest.approx(values[2:].mean(axis=0).std(ddof=1))
    shown = farweb("show", sweep.path, "-m", "latency_mean_s", "--by", "load").out
    assert "latency_p90_s" not in shown
    assert shown.startswith("Best by mean: ") and "Estimates, ± 95 % interval of seeds" in shown
    wrong = farweb("show", sweep.path, "--by", "link")
    assert (wrong.code, "no factor of this sweep; it has workload.load, circuit" in wrong.err) == (2, True)
    wrong = farweb("show", sweep.path, "--metric", "latency")
    assert (wrong.code, "no such metric" in wrong.err) == (2, True)


def test_a_quantile_of_too_few_requests_is_left_out(sweep: SweepResults, farweb: Farweb) -> None:
    heads = farweb("show", sweep.path).out.splitlines()[3]
    assert ("90 %" in heads, "99 %" in heads) == (True, False)
    asked = farweb("show", sweep.path, "--metric", "latency_p99_s", "--metric", "latency_p90_s").out
    assert "without latency_p99_s, as a run has 60 requests" in " ".join(asked.split())


def test_options_for_sweeps_are_refused_of_a_run(sweep: SweepResults, farweb: Farweb) -> None:
    part = next(sweep.path.glob("parts/*"))
    assert farweb("show", part).code == 0
    answer = farweb("show", part, "--log")
    assert (answer.code, "is a run" in answer.err) == (2, True)


def test_an_incomplete_sweep_says_so_and_ends_well(tmp_path: Path, farweb: Farweb) -> None:
    sweep = write_sweep(
        tmp_path / "s", design_of(LOADS, 4), requests=requests, failed={(1, 0): "no memory left"}, missing=[(3, 2)]
    )
    shown = farweb("show", sweep.path, "--details")
    assert shown.code == 0
    assert shown.out.startswith("1 of 16 runs are missing. Best: ")
    assert "incomplete: 1 of 16 runs are missing" in shown.out
    assert "1 of 16 runs failed" in shown.out
    assert "no memory left" in shown.out
    assert "2 replications, in which a point lacks a value" in shown.out
    result = farweb("show", sweep.path, "--json").json()["sweep"]
    assert result["runs"] == {"planned": 16, "done": 14, "failed": 1, "missing": 1}
    assert result["failed_runs"][0]["error"] == "no memory left"


def test_a_sweep_of_failed_runs_ends_with_the_first_error(tmp_path: Path, farweb: Farweb) -> None:
    failed = dict.fromkeys([(0, 0), (1, 0)], "no memory left")
    sweep = write_sweep(tmp_path / "s", design_of({"load": [1, 2]}, 1), failed=failed)
    for verb in ("show", "report"):
        answer = farweb(verb, sweep.path)
        line = f"farweb: {sweep.path}: 2 of 2 runs failed, the first with: no memory left\n"
        assert (answer.code, answer.out, answer.err) == (3, "", line), verb
    assert farweb("show", sweep.path, "--json").json()["sweep"]["runs"]["failed"] == 2
    rich.print(sweep)


def test_a_run_is_refused_the_folder_of_a_sweep(sweep: SweepResults) -> None:
    with pytest.raises(ResultsError, match="/sweep: has the results of a sweep; name another folder with --out"):
        check_place(sweep.path, True)


def test_points_without_an_answer_are_not_ranked(tmp_path: Path) -> None:
    lost = {"end_ns": None, "first_byte_ns": None, "status": "failed"}
    rows = [request(number, 0.5, 1000, **lost) for number in range(60)]
    sweep = write_sweep(tmp_path / "s", design_of({"load": [1, 2]}, 1), requests=lambda levels, replication: rows)
    found = sweep.summary()
    assert (sweep.unanswered, found.ranking) == (120, None)
    head = "by hand: 2 points; 100 % of requests fail at load 1 and 100 % at load 2"
    assert screen(found).parts[0] == head


def warnings_of(path: Path, design: Any, **more: Any) -> str:
    return "\n".join(write_sweep(path, design, **more).summary().warnings)


def test_warnings(tmp_path: Path) -> None:
    one = {"workload.load": [1, 2]}
    assert "one replication has no confidence interval" in warnings_of(tmp_path / "1", design_of(one, 1))
    alone = write_sweep(tmp_path / "2", design_of(LOADS, 1))
    assert set(alone.refusals().values()) == {"one run a point: no split of variation"}
    same = warnings_of(tmp_path / "3", design_of(one, 2), metrics=lambda levels, r: {"latency_p50_s": 1.5})
    assert "latency_p50_s: the same in all replications" in same
    cut = warnings_of(
        tmp_path / "4", design_of(one, 2), metrics=lambda levels, r: {"requests": 10, "unfinished": 5 * r}
    )
    assert "10 of 40 requests (50 % in the worst run) were cut off" in cut
    lost = warnings_of(tmp_path / "5", design_of(one, 2), metrics=lambda levels, r: {"requests": 10, "failed": r})
    assert "2 of 40 requests failed" in lost
    short = {"simulated_s": 100.0, "measured_s": 5.0}
    assert "(5 s of 100 s); see run.measure" in warnings_of(
        tmp_path / "6", design_of(one, 2), metrics=lambda levels, r: short
    )
    single = design_of({"a": [1, 2], "b": [1, 2]}, 2, kind="one-at-a-time", points=[(0, 0), (1, 0), (0, 1)])
    assert "what factors do together was not looked at" in warnings_of(tmp_path / "7", single)
    few = design_of({"a": [1.0, 2.0]}, 2, kind="latin-hypercube")
    assert "too few points for a regression" in warnings_of(tmp_path / "8", few)
    four = design_of({name: [1, 2] for name in "abcd"}, 2)
    assert "higher interactions" in warnings_of(tmp_path / "9", four)


def test_the_warm_up_is_among_the_details_and_never_beyond_a_tenth(tmp_path: Path) -> None:
    def slow_at_first(levels: Mapping[str, Any], replication: int) -> list[Row]:
        random = np.random.default_rng(replication)
        return [request(n, (20 if n < 50 else 5) + random.normal(0, 0.1), 10) for n in range(1000)]

    def rising(levels: Mapping[str, Any], replication: int) -> list[Row]:
        return [request(n, 1 + n, 10) for n in range(200)]

    one = design_of({"workload.load": [1]}, 2)
    settled = write_sweep(tmp_path / "1", one, requests=slow_at_first).summary()
    assert "latency settles within 50" in settled._repr_html_() and not settled.warnings
    assert "does not settle within a tenth" in write_sweep(tmp_path / "3", one, requests=rising).summary()._repr_html_()


def test_a_design_of_many_points_is_cut(tmp_path: Path) -> None:
    sweep = write_sweep(tmp_path / "s", design_of({"a": list(range(60))}, 1), lambda levels, r: {"goodput_bps": 1.0})
    html = sweep._repr_html_()
    assert "the first 48 of 60" in html
    assert html.count("<tr>") < 120


def test_html_names_levels_and_is_escaped(tmp_path: Path) -> None:
    sweep = write_sweep(tmp_path / "s", design_of({"a": ["<b>", "&"]}, 2), name="<i>")
    html = sweep._repr_html_()
    assert "&lt;b&gt;" in html and "&lt;i&gt;" in html and "<i>" not in html


@pytest.mark.parametrize(
    ("value", "margin", "unit", "text"),
    [
        (0.4733, 0.0098, "s", "473.3 ± 9.8 ms"),
        (1.42, 0.029, "s", "1.420 ± 0.029 s"),
        (0.0, 0.003, "s", "0 s (0 … 3 ms)"),
        (882e-3, 81e-3, "s", "882 ± 81 ms"),
        (34_368_000, 1_200_000, "bit/s", "34.4 ± 1.2 Mbit/s"),
        (0.5, 0.02, "1", "50.0 ± 2.0 %"),
        (12_345.6, 210.0, "", "12,346 ± 210"),
        (64_000, 0, "B", "64.0 ± 0 kB"),
        (0, 0, "B", "0 ± 0 B"),
        (1.0, 1e-9, "s", "1.00000 ± 0.000000001 s"),
    ],
)
def test_an_estimate_and_its_margin(value: float, margin: float, unit: str, text: str) -> None:
    assert with_margin(value, margin, unit) == text


def test_an_interval_ends_at_zero_but_of_a_difference() -> None:
    assert with_margin(21.0, 31.0, "s") == "21 s (0 … 52 s)"
    assert with_margin(0.25, 0.5, "1") == "25 % (0 … 75 %)"
    assert with_margin(0.0, 3.0, "") == "0 (0 … 3)"
    assert with_margin(21.0, 31.0, "s", signed=True) == "+21 ± 31 s"
    assert quantities.interval(-1.0, 2.0, "s") == "0 … 2 s"
    assert quantities.interval(-1.0, 2.0, "s", signed=True) == "−1 … +2 s"


@pytest.mark.parametrize(
    ("low", "high", "of", "text"),
    [
        (0.305, 1.31, None, "0.305 … 1.31 s"),
        (-0.4, 1.31, 0.5, "−400 … +1,310 ms"),
        (-0.4, 1.31, 1.0, "−0.400 … +1.31 s"),
        (-0.004, 1.31, 0.0, "−0.004 … +1.31 s"),
        (500.0, 900.0, None, "8.33 … 15 min"),
        (0.2, math.inf, None, "+200 ms … +∞"),
        (0.0, 0.0, 0.0, "0"),
    ],
)
def test_an_interval_has_the_unit_of_its_estimate(low: float, high: float, of: float | None, text: str) -> None:
    assert quantities.interval(low, high, "s", of=of, signed=text[0] in "−+") == text


def test_sql_over_runs_requests_and_statistics(sweep: SweepResults, farweb: Farweb) -> None:
    query = 'select "workload.load", circuit, avg(latency_p50_s) as p50 from runs group by all order by all'
    rows = farweb("sql", sweep.path, query, "--json").json()["rows"]
    expected = sweep.values("latency_p50_s").mean(axis=1)
    assert [(row["workload.load"], row["circuit"]) for row in rows] == [
        (1, "cable"), (1, "satellite"), (2, "cable"), (2, "satellite")
    ]  # fmt: skip
    assert [row["p50"] for row in rows] == pytest.approx(expected.tolist())
    joined = sweep.sql(
        "select run, circuit, replication, sum(response_bytes) as bytes, count(*) as n from requests "
        'where "workload.load" = 2 group by all order by all'
    )
    assert joined.schema["bytes"] == pl.Int64
    assert (joined["n"].to_list(), joined["bytes"].to_list()) == ([60] * 6, [60_000] * 6)
    tables = {row["name"] for row in farweb("sql", sweep.path, "show tables", "--json").json()["rows"]}
    assert tables == {"runs", "requests", "timings", *STATISTICS}
    assert sweep.sql("select count(*) from estimates where metric = 'latency_p50_s'").item() == 4


def test_sql_of_an_unfinished_sweep_computes_what_it_names(tmp_path: Path) -> None:
    sweep = write_sweep(tmp_path / "s", design_of(LOADS, 3), requests=requests, missing=[(0, 0)])
    counts = sweep.sql("select n from Estimates where metric = 'latency_p50_s' order by point")
    assert counts["n"].to_list() == [2, 3, 3, 3]
    assert sweep.sql("select count(*) from runs").item() == 11


def test_sql_of_a_folder_with_an_odd_name(tmp_path: Path) -> None:
    sweep = write_sweep(
        tmp_path / "x=1 it's [a]*", design_of({"b": [1]}, 1), requests=lambda levels, r: [request(0, 1, 5)]
    )
    assert sweep.sql("select response_bytes from requests").item() == 5


def test_sql_of_a_run(tmp_path: Path) -> None:
    results = write_results(tmp_path / "r", [request(1, 2, 3)], links=[interval(0, "down", 1)])
    assert results.sql("select (end_ns - start_ns) / 1e9 from requests").item() == 2
    assert results.sql("select count(*) from links").item() == 1
    assert isinstance(results, Results)
    with pytest.raises(ResultsError, match="no table packets: the run did not record it; there are links, requests"):
        results.sql("select * from packets")


def test_sql_of_a_sweep_says_why_a_table_is_not_there(tmp_path: Path, sweep: SweepResults) -> None:
    begun = write_sweep(tmp_path / "s", design_of({"b": [1]}, 1), missing=[(0, 0)])
    with pytest.raises(ResultsError, match="no table requests: no run has ended; there are differences,"):
        begun.sql("select * from requests")
    with pytest.raises(ResultsError, match=r"no table request; did you mean requests\? no run has ended; there are"):
        begun.sql("select * from request")
    with pytest.raises(ResultsError, match="no table packets: no run recorded it; there are differences,"):
        sweep.sql("select * from packets")


def test_sql_into_files_and_as_csv(sweep: SweepResults, farweb: Farweb, tmp_path: Path) -> None:
    query = "select run, replication, [replication, seed] as both from runs order by all"
    printed = list(csv.DictReader(io.StringIO(farweb("sql", sweep.path, query, "--csv").out)))
    assert len(printed) == 12
    assert json.loads(printed[0]["both"]) == [int(printed[0]["replication"]), int(printed[0]["replication"]) + 1]
    answer = farweb("sql", sweep.path, query, "-o", tmp_path / "a.parquet")
    assert (answer.code, answer.out) == (0, "")
    assert "12 rows" in answer.said
    assert pl.read_parquet(tmp_path / "a.parquet")["run"].to_list() == [row["run"] for row in printed]
    assert farweb("sql", sweep.path, query, "-o", tmp_path / "a.csv").code == 0
    assert pl.read_csv(tmp_path / "a.csv").height == 12
    again = farweb("sql", sweep.path, "select 1", "-o", tmp_path / "a.csv")
    assert (again.code, pl.read_csv(tmp_path / "a.csv").height) == (2, 12)
    assert farweb("sql", sweep.path, "select chr(27) as bytes", "--csv").out == "bytes\n\x1b\n"
    assert farweb("sql", sweep.path, query, "-o", tmp_path / "a.txt").code == 2
    assert farweb("sql", sweep.path, query, "--csv", "--json").code == 2


def test_sql_has_numbers_that_json_has(sweep: SweepResults, farweb: Farweb) -> None:
    query = "select 'nan'::double as a, sum(seed) as b, 1.5::decimal(4,2) as c, {'x': [1, null]} as d, null as e"
    row = farweb("sql", sweep.path, query + " from runs", "--json").json()["rows"][0]
    assert row == {"a": None, "b": 24, "c": 1.5, "d": {"x": [1, None]}, "e": None}
    huge = sweep.sql("select sum(9000000000000000000) from runs").item()
    assert huge == pytest.approx(1.08e20)
    shown = farweb("sql", sweep.path, "select 1/3::double as third, null as none, 12345678 as whole").out
    assert shown.split()[-3:] == ["0.333333", "–", "12345678"]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("select latency_p51_s from runs", "no column latency_p51_s in that table; did you mean latency_p"),
        ("select base from runs", "no column base in that table; differences has it"),
        ('select "workload.lod" from runs', 'did you mean "workload.load"?'),
        ("select * from run", "no table run; did you mean runs?; there are differences,"),
        ("selec 1", 'SQL: syntax error at or near "selec" (in: selec 1)'),
        ("select 1; select 2", "takes one query"),
        ("select * from query('copy runs to ''here.csv''')", "SQL: "),
        ("select * from read_csv('/etc/passwd')", "SQL: Cannot access file"),
        ("select * from '/etc/passwd'", "passwd"),
        ("select * from read_parquet('parts/*/requests.parquet')", "Cannot access file"),
        ("select * from query", "no table query"),
        ("select seed + 'x' from runs", "SQL: Could not convert string 'x' to INT64 (in: select seed + 'x' from runs)"),
    ],
)
def test_sql_errors_are_a_line(sweep: SweepResults, farweb: Farweb, query: str, message: str) -> None:
    before = sorted(sweep.path.rglob("*"))
    answer = farweb("sql", sweep.path, query)
    assert answer.code == 2
    assert message in answer.err
    assert answer.err.count("\n") == 1
    assert sorted(sweep.path.rglob("*")) == before


NO_QUERIES = (
    *("", "create table x as select 1", "insert into requests select * from requests", "attach 'x.db'"),
    *("copy requests to 'here.csv'", "explain analyze copy requests to 'here.csv'", "export database 'here'"),
    *("update requests set request = 1", "delete from requests", "drop view requests", "explain select 1"),
    *("pragma show_tables", "call pragma_version()", "set threads = 1", "install httpfs"),
)


def test_what_is_no_query_is_refused(folder: Path) -> None:
    results = write_results(folder / "r", [request(1, 2, 3)])
    before = sorted(folder.rglob("*"))
    for statement in NO_QUERIES:
        with pytest.raises(ResultsError, match="takes one query"):
            results.sql(statement)
    assert sorted(folder.rglob("*")) == before


def test_a_locked_database_has_no_way_out(tmp_path: Path) -> None:
    rows = pl.DataFrame({"x": [1]})
    with duckdb.connect() as database:
        database.register("runs", rows.to_arrow())
        sql.lock(database)
        for statement, message in (
            (f"copy runs to '{tmp_path}/out.parquet'", "disabled by configuration"),
            ("select * from rows", "Table with name rows does not exist"),
            ("set enable_external_access = true", "configuration has been locked"),
        ):
            with pytest.raises(duckdb.Error, match=message):
                database.execute(statement)
    assert list(tmp_path.iterdir()) == []


def test_many_rows_are_cut_on_a_terminal_only(sweep: SweepResults, farweb: Farweb) -> None:
    query = "select a.request from requests a, range(2) order by all"
    shown = farweb("sql", sweep.path, query)
    assert "The first 1,000 of 1,440 rows" in shown.err
    assert "The first" not in farweb("sql", sweep.path, f"{query} limit 1000").err
    assert len(farweb("sql", sweep.path, query, "--json").json()["rows"]) == 1440


def test_nothing_in_json_is_nan(tmp_path: Path, farweb: Farweb) -> None:
    sweep = write_sweep(tmp_path / "s", design_of(LOADS, 2), lambda levels, r: {"events": r * math.pi})
    assert "NaN" not in farweb("show", sweep.path, "--json").out
