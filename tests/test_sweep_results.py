"""Sweeps made by hand: their runs, complete or not, and their tables."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from farweb import Results, ResultsError
from farweb.results import open_results
from farweb.sweep.results import SweepResults
from sample_results import request
from sample_sweeps import design_of, write_sweep

LOADS: dict[str, list[Any]] = {"workload.load": [1, 2], "circuit": ["cable", "satellite"]}


def latency(levels: Mapping[str, Any], replication: int) -> dict[str, float]:
    return {"latency_mean_s": float(levels["workload.load"]) + replication}


def test_runs_in_the_order_of_the_plan(tmp_path: Path) -> None:
    sweep = write_sweep(tmp_path / "s", design_of(LOADS, 2), latency)
    assert sweep.complete
    assert sweep.runs["workload.load"].to_list() == [1, 1, 1, 1, 2, 2, 2, 2]
    assert sweep.runs["circuit"].to_list()[:4] == ["cable", "cable", "satellite", "satellite"]
    assert sweep.runs["seed"].to_list()[:2] == [1, 2]
    assert sweep.points.to_list() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_an_estimate_is_the_mean_with_students_interval(tmp_path: Path) -> None:
    sweep = write_sweep(tmp_path / "s", design_of(LOADS, 3), latency)
    first = sweep.estimates(["latency_mean_s"]).row(0, named=True)
    # 1, 2, 3: mean 2, standard deviation 1; t of 2 degrees of freedom at 97.5 % is 4.302653.
    assert (first["n"], first["mean"], first["sd"]) == (3, 2.0, 1.0)
    assert first["high"] - first["mean"] == pytest.approx(4.302653 / 3**0.5, rel=1e-6)


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


def test_a_folder_is_opened_as_what_it_is(tmp_path: Path) -> None:
    sweep = write_sweep(tmp_path / "s", design_of(LOADS, 2), requests=lambda levels, r: [request(1, 0.5, 1000)])
    assert isinstance(open_results(sweep.path), SweepResults)
    part = sweep.path / "parts" / f"run={sweep.runs['run'][0]}"
    assert isinstance(open_results(part), Results)
    with pytest.raises(ResultsError, match="not the results folder of a run, but of a sweep"):
        Results.open(sweep.path)
    with pytest.raises(ResultsError, match="not the results folder of a sweep, but of a run"):
        SweepResults.open(part)
