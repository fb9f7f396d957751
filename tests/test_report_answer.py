"""Sentences of the answer to a sweep, from numbers that can be worked out by hand.

The interval of two runs is their mean ± 12.706 / 2 times their difference.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from farweb.folders import SweepResults
from farweb.report.answer import Fact, answer
from farweb.results.metrics import find_metric
from sample_reports import with_scenarios
from sample_results import Row, request
from sample_sweeps import Levels, design_of, write_sweep

LOAD = "workload.load"
SIZES = [f"run.size{number}" for number in range(4)]


def measured(folder: Path, times: Mapping[int, Sequence[float]]) -> SweepResults:
    """Mean latencies in s, by load, of each replication."""

    def metrics(levels: Levels, replication: int) -> Row:
        return {"latency_mean_s": times[levels[LOAD]][replication], "done": 1}

    design = design_of({LOAD: list(times)}, len(next(iter(times.values()))))
    return with_scenarios(write_sweep(folder / "sweep", design, metrics), lambda _: {})


def of(sweep: SweepResults, metric: str = "latency_mean_s") -> list[Fact]:
    return answer(sweep, [find_metric(metric)])


def test_the_whole_answer_of_a_factor_that_matters(tmp_path: Path) -> None:
    """Load 4 makes the largest difference although it comes last and is negative; half of 0.1 s is chance."""
    assert of(measured(tmp_path, {1: [5.0, 5.1], 2: [6.0, 6.1], 4: [1.0, 1.1]})) == [
        ("Checked: mean latency", "of 6 runs at 3 points, compared by replication."),
        (
            "Best mean latency: 1.05 s",
            "(415 ms … 1.69 s) at load 4.",
        ),
        ("Worst: 6.05 s", "(5.41 … 6.69 s) at load 2."),
        ("Load 4 instead of 1: −4 s", "in mean latency (−4 … −4 s), −79.2 %."),
        ("Where the variation of mean latency comes from:", "load 99.9 %; chance between replications makes 0.1 %."),
    ]


def test_the_whole_answer_where_chance_is_larger(tmp_path: Path) -> None:
    """Sums of squares: 0.01 by the load, 0.08 in all; load 4 makes 0 and 0.2 s, so 0.1 ± 1.27 s."""
    assert of(measured(tmp_path, {1: [1.0, 1.1], 2: [1.2, 1.0], 4: [1.0, 1.3]})) == [
        ("Checked: mean latency", "of 6 runs at 3 points, compared by replication."),
        (
            "Best mean latency: 1.05 s",
            "(415 ms … 1.69 s) at load 1.",
        ),
        ("Worst: 1.15 s", "(0 … 3.06 s) at load 4."),
        (
            "Not distinguishable from no difference in mean latency:",
            "load 4 instead of 1, +100.0 ms (−1.17 … +1.37 s).",
        ),
        ("Where the variation of mean latency comes from:", "load 12.5 %; chance between replications makes 87.5 %."),
    ]


@pytest.mark.parametrize(
    ("times", "said"),
    [
        # Replications of a point vary by some percent: 1 and 1.02 s differ by less than what matters, 3 s by more.
        ({1: 1.0, 2: 1.02, 4: 3.0}, "at load 1. 1 of the 2 other points ties with the best."),
        ({1: 1.0, 2: 2.0, 4: 3.0}, "at load 1. Each of the other 2 points is worse."),
        ({1: 1.0, 2: 2.0}, "at load 1."),
    ],
)
def test_points_that_are_like_the_best(tmp_path: Path, times: Mapping[int, float], said: str) -> None:
    def rows(levels: Levels, replication: int) -> Sequence[Row]:
        longer = 1 + replication * levels[LOAD] / 100
        return [request(number, times[levels[LOAD]] * longer * (1 + number / 1000), 1000) for number in range(60)]

    sweep = write_sweep(tmp_path / "sweep", design_of({LOAD: list(times)}, 3), None, rows)
    assert of(with_scenarios(sweep, lambda _: {}), "latency_p50_s")[1][1].endswith(said)


def test_a_point_where_all_requests_failed_differs_and_has_no_interval(tmp_path: Path) -> None:
    def rows(levels: Levels, replication: int) -> Sequence[Row]:
        row = request(0, float(levels[LOAD]) + replication / 10, 1000)
        return [{**row, "status": "failed", "end_ns": None} if levels[LOAD] == 4 else row]

    sweep = write_sweep(tmp_path / "sweep", design_of({LOAD: [1, 2, 4]}, 2), None, rows)
    best, worst, decided = of(with_scenarios(sweep, lambda _: {}), "latency_p50_s")[1:]
    assert best[1].endswith("at load 1. Each of the other 2 points is worse.")
    assert worst == ("Worst: more than any that ended", "(2 runs) at load 4.")
    assert decided[0] == "Decided by failures: load 4 instead of 1:"


@pytest.mark.parametrize(("loads", "where"), [([1], "(3 … 3)."), ([1, 2], "(3 … 3) at every point.")])
def test_one_value_is_named_once(tmp_path: Path, loads: list[int], where: str) -> None:
    sweep = write_sweep(tmp_path / "sweep", design_of({LOAD: loads}, 2), lambda *_: {"done": 3})
    assert of(with_scenarios(sweep, lambda _: {}), "done")[1:] == [("Done: 3", where)]


def test_four_sources_of_variation_are_named(tmp_path: Path) -> None:
    """Squares of the slopes: 1, 4, 9, 16 and 25, of 55."""

    def metrics(levels: Levels, _: int) -> Row:
        slopes = {LOAD: 1, **{name: 2 + place for place, name in enumerate(SIZES)}}
        return {"latency_mean_s": 100.0 + sum(slope * levels[name] for name, slope in slopes.items()), "done": 1}

    design = design_of({LOAD: [1, 2], **{name: [1, 2] for name in SIZES}}, 2)
    checked, best, worst, *_, variation = of(with_scenarios(write_sweep(tmp_path / "s", design, metrics), lambda _: {}))
    assert checked[1] == "of 64 runs at 32 points, compared by replication."
    assert best[1].endswith("at load 1, run.size0 1, run.size1 1, run.size2 1, run.size3 1.")
    assert worst[0].startswith("Worst")
    assert variation[1] == "run.size3 45.5 %, run.size2 29.1 %, run.size1 16.4 % and run.size0 7.3 %."


def test_the_factors_that_do_most_together_are_named(tmp_path: Path) -> None:
    """Equal sizes take longer, of 0 and 1 twice as long as of 1 and 2: four fifths of the variation."""

    def metrics(levels: Levels, replication: int) -> Row:
        zero, one, two = (levels[name] for name in SIZES[:3])
        return {"latency_mean_s": 1.0 + 4 * (zero == one) + 2 * (one == two) + 0.01 * replication, "done": 1}

    sweep = write_sweep(tmp_path / "sweep", design_of({name: [1, 2] for name in SIZES[:3]}, 2), metrics)
    *_, variation, joint = of(with_scenarios(sweep, lambda _: {}))
    assert variation[1] == "run.size0 × run.size1 80.0 % and run.size1 × run.size2 20.0 %."
    assert joint[0] == "How much run.size0 matters depends on run.size1:"


def test_independent_seeds_are_not_compared_by_replication(tmp_path: Path) -> None:
    design = replace(design_of({LOAD: [1, 2]}, 2), random_numbers="independent")
    sweep = write_sweep(tmp_path / "sweep", design, lambda levels, _: {"done": levels[LOAD]})
    assert of(with_scenarios(sweep, lambda _: {}), "done")[0][1] == "of 4 runs at 2 points."
