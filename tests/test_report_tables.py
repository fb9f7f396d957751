"""Tables of a sweep's page, from sweeps made by hand and from findings that are known beforehand."""

import re
from collections.abc import Mapping
from html import unescape
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest

from farweb.library.sweep_results import SweepResults
from farweb.report import tables
from farweb.report.tables import factors_that_matter, results, warmup
from farweb.results.metrics import find_metric
from farweb.statistics.intervals import TWO
from sample_reports import with_manifest
from sample_sweeps import Levels, design_of, write_sweep

MEAN = find_metric("latency_mean_s")
GOODPUT = find_metric("goodput_bps")


def cells(html: str) -> list[list[str]]:
    """The texts of a table, its header first; lines of a cell are joined by a blank."""
    plain = html.replace("<br>", " ").replace("\N{NO-BREAK SPACE}", " ")
    rows = [re.findall(r"<t[dh]\b[^>]*>(.*?)</t[dh]>", row, re.DOTALL) for row in re.findall(r"<tr>(.*?)</tr>", plain)]
    return [[unescape(re.sub(r"<[^>]+>", "", cell)) for cell in row] for row in rows]


def by_load(levels: Levels, replication: int) -> Mapping[str, float]:
    """A mean that grows with the load and is not of all requests; a goodput that falls."""
    load = levels["load"]
    return {"latency_mean_s": float(load), "goodput_bps": 1e6 * (100 - load), "failed_share": 0.01 * load}


def with_seeds(levels: Levels, replication: int) -> Mapping[str, float]:
    return {"latency_mean_s": float(levels["load"]) + replication}


SCENARIO = {"path": {"link": []}, "leg": []}


def loads(folder: Path, points: int) -> SweepResults:
    sweep = write_sweep(folder / f"{points}", design_of({"load": range(1, points + 1)}, 1), by_load)
    return with_manifest(sweep, {"scenario": SCENARIO})


def test_a_table_of_24_points_has_them_all_and_one_of_25_the_ends(tmp_path: Path) -> None:
    whole = loads(tmp_path, 24)
    table, note = results(whole, [MEAN], whole.design.factors)
    assert "Estimates at each point" in table
    assert cells(table)[1:] == [[f"{load}", f"{cells(table)[load][1]}"] for load in range(1, 25)]
    assert "One run each." in note and "interval" not in note
    more = loads(tmp_path, 25)
    table, _, below = results(more, [MEAN, GOODPUT], more.design.factors)
    # By goodput, as the mean is of more requests at some points than at others.
    assert "The points with the 8 best and the 8 worst values of goodput" in table
    assert [int(row[0]) for row in cells(table)[1:]] == [*range(1, 9), *range(18, 26)]
    assert [int(row[0]) for row in cells(below)[1:]] == list(range(1, 26))
    assert "All 25 points" in below and 'class="scrolls long"' in below and "scrolls long" not in table
    only, *_ = results(more, [MEAN, find_metric("latency_max_s")], more.design.factors)
    assert "worst values of mean latency" in only


def test_the_folded_table_of_all_points_ends_where_it_would_be_too_large(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep = loads(tmp_path, 25)
    for most, folded in ((25, True), (24, False)):
        monkeypatch.setattr(tables, "_ALL_ROWS", most)
        *_, below = results(sweep, [MEAN], sweep.design.factors)
        assert ("All 25 points are in the table estimates" in below) != folded
        assert ("<table" in below) == folded


def test_pooled_factors_are_named_and_those_of_one_level_not(tmp_path: Path) -> None:
    design = design_of({"load": [1, 3], "queue": ["a", "b"], "one": ["x"]}, 2)
    sweep = with_manifest(write_sweep(tmp_path / "s", design, with_seeds), {"scenario": SCENARIO})
    load, queue, _ = sweep.design.factors
    table, note, below = (part.replace("\N{NO-BREAK SPACE}", " ") for part in results(sweep, [MEAN], [load]))
    assert "Estimates by load" in table and "All 4 points" in below
    assert "Pooled over queue: means over all levels. Below each: its 95 % interval, of 2 seeds; 2 seeds: ±" in note
    assert [row[:2] for row in cells(table)] == [
        ["load", "mean latency"],
        ["1", "1.50 s 0 … 7.85 s"],
        ["3", cells(table)[2][1]],
    ]
    table, note = results(sweep, [MEAN], [load, queue])
    assert "Estimates at each point" in table and "Pooled" not in note


def test_only_two_seeds_bring_the_remark_on_two(tmp_path: Path) -> None:
    for seeds in (2, 3):
        sweep = write_sweep(tmp_path / f"{seeds}", design_of({"load": [1, 3]}, seeds), with_seeds)
        sweep = with_manifest(sweep, {"scenario": SCENARIO})
        note = results(sweep, [MEAN], sweep.design.factors)[1].replace("\N{NO-BREAK SPACE}", " ")
        assert f"of {seeds} seeds" in note and (TWO in note) == (seeds == 2)


@pytest.mark.parametrize(
    ("levels", "percent", "chosen"),
    [
        # All of them, however little they do: 24 points.
        ({"a": 2, "b": 3, "c": 4}, {"a": 99.0}, "a b c"),
        # 25 points: from the second on, factors of 1 % and more.
        ({"a": 5, "b": 5}, {"b": 98.0, "a": 1.0}, "b"),
        ({"a": 2, "b": 3, "c": 5}, {"c": 80.0, "a": 1.0, "b": 0.5}, "a c"),
        ({"a": 2, "b": 3, "c": 2, "d": 3}, {"a": 90.0, "b": 0.99}, "a"),
        # As long as the table has 24 rows at most; a smaller factor after a large one may still fit.
        ({"a": 12, "b": 2, "c": 2}, {"a": 60.0, "b": 30.0, "c": 10.0}, "a b"),
        ({"a": 5, "b": 5, "c": 3}, {"a": 60.0, "b": 30.0, "c": 10.0}, "a c"),
        ({"a": 30, "b": 2}, {"a": 60.0, "b": 30.0}, "a"),
        ({"a": 4, "b": 4, "c": 2}, {"a": 60.0, "b": 30.0}, "a b"),
        # Of those that do little or nothing, the first that does most.
        ({"a": 5, "b": 5}, {"b": 0.5}, "b"),
        ({"a": 5, "b": 5}, {"b": 0.0}, "a"),
        ({"a": 26}, {}, "a"),
    ],
)
def test_the_factors_of_a_large_design_are_those_that_matter(
    monkeypatch: pytest.MonkeyPatch, levels: Mapping[str, int], percent: Mapping[str, float], chosen: str
) -> None:
    design = design_of({name: range(number) for name, number in levels.items()}, 1)
    monkeypatch.setattr(tables, "sources", lambda sweep, metric: percent)
    found = factors_that_matter(SimpleNamespace(design=design), MEAN)  # type: ignore[arg-type]
    assert [factor.name for factor in found] == chosen.split()


def test_the_factors_of_another_design_are_all_there() -> None:
    design = design_of({"a": range(30), "b": range(30)}, 1, kind="latin-hypercube", points=[(n, n) for n in range(30)])
    assert factors_that_matter(SimpleNamespace(design=design), MEAN) == design.factors  # type: ignore[arg-type]


def test_the_warm_up_is_of_runs_that_are_done_and_of_points_with_a_steady_state() -> None:
    runs = {"status": ["done", "done", "failed"], "requests": [100, 120, 7], "left_out": [3, 3, 1]}
    runs |= {"measured_s": [60.0, None, 1.0], "simulated_s": [None, None, 2.0]}
    steady = {"steady": [True, True, False], "truncated_s": [2.0, 4.0, 30.0]}

    def of(points: int) -> str:
        points_of = pl.DataFrame(steady).head(points)
        return warmup(SimpleNamespace(runs=pl.DataFrame(runs), warmup=lambda: points_of))  # type: ignore[arg-type]

    assert cells(of(3)) == [
        ["requests of a run", "100 to 120"],
        ["requests in the warm-up", "3"],
        ["measured interval", "60 s"],
        ["latency settles after", "2 s to 4 s"],
        ["points without a steady state", "1 of 3"],
    ]
    assert cells(of(2)) == cells(of(3))[:-1]
