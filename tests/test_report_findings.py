"""Findings of sweeps made by hand: rows by levels, their order and sources of variation."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from farweb.report.findings import Row, ends_of, interval_of, ranked, rows_by, sources
from farweb.results.design import Factor, Level
from farweb.results.metrics import find_metric
from farweb.statistics.intervals import Estimate
from sample_sweeps import Levels, design_of, write_sweep

MEAN = find_metric("latency_mean_s")
GOODPUT = find_metric("goodput_bps")


def by_levels(levels: Levels, replication: int) -> Mapping[str, float]:
    """1, 2, 11 and 12 s, a second more in the second replication; a goodput that is the same everywhere."""
    seconds = 1.0 + (levels["b"] == "y") + 10 * (levels["a"] == 2) + replication
    return {"latency_mean_s": seconds, "goodput_bps": 8.0}


def test_rows_are_of_the_levels_that_are_asked_for(tmp_path: Path) -> None:
    sweep = write_sweep(tmp_path / "s", design_of({"a": [1, 2], "b": ["x", "y"]}, 2), by_levels)
    a, b = sweep.design.factors
    found = rows_by(sweep, [MEAN, GOODPUT], [a])
    assert [(row.levels, row.points) for row in found] == [((a.levels[0],), (0, 1)), ((a.levels[1],), (2, 3))]
    assert [row.estimates["latency_mean_s"].value for row in found] == [2.0, 12.0]
    assert found[0].estimates["goodput_bps"].value == 8.0
    both = rows_by(sweep, [MEAN], [b, a])
    assert [tuple(level.label for level in row.levels) for row in both] == [
        *(("x", "1"), ("y", "1"), ("x", "2"), ("y", "2"))
    ]
    assert [row.estimates["latency_mean_s"].value for row in both] == [1.5, 2.5, 11.5, 12.5]
    assert [row.points for row in rows_by(sweep, [MEAN], [])] == [(0, 1, 2, 3)]


def test_rows_of_a_search_are_in_the_order_of_its_values(tmp_path: Path) -> None:
    levels = (Level("40 B", 40, 40.0), Level("none", "none", None), Level("0.5 B", 1, 0.5), Level("20 B", 20, 20.0))
    for kind, labels in {"search": "none 0.5 20 40", "latin-hypercube": "40 none 0.5 20"}.items():
        design = design_of([Factor("a", "B", levels)], 1, kind=kind)  # type: ignore[arg-type]
        sweep = write_sweep(tmp_path / kind, design, lambda levels, replication: {"latency_mean_s": 1.0})
        found = rows_by(sweep, [MEAN], sweep.design.factors)
        assert [row.levels[0].label.removesuffix(" B") for row in found] == labels.split()


@pytest.mark.parametrize(
    ("metric", "ends"),
    [
        *(("latency_mean_s", ("Best", "worst", False)), ("failed_share", ("Best", "worst", False))),
        *(("link_0_up_drops", ("Best", "worst", False)), ("goodput_bps", ("Best", "worst", True))),
        *(("within(1 s)", ("Best", "worst", True)), ("requests", ("Lowest", "highest", False))),
    ],
)
def test_metrics_have_a_good_end_or_none(metric: str, ends: tuple[str, str, bool]) -> None:
    assert ends_of(find_metric(metric)) == ends


def test_rows_are_ranked_from_the_first_end_without_those_that_have_no_value() -> None:
    means = [0.5, 0.0, None, 2.0, -0.5]
    for metric, expected in {MEAN: [-0.5, 0.0, 0.5, 2.0], GOODPUT: [2.0, 0.5, 0.0, -0.5]}.items():
        rows = [Row((), (), {metric.name: Estimate(1, mean, None, None, None)}) for mean in means]
        assert [row.estimates[metric.name].value for row in ranked(rows, metric)] == expected


def test_no_interval_of_a_metric_begins_below_zero() -> None:
    assert interval_of(MEAN, Estimate(3, 0.05, 0.1, -0.3, 0.4)) == "0 … 400 ms"
    assert interval_of(MEAN, Estimate(1, 0.05, None, None, None)) == ""


def test_sources_are_in_the_order_of_their_shares(tmp_path: Path) -> None:
    """Sums of squares over 8 runs: 200 by a, 2 by b, 2 by the replications."""
    sweep = write_sweep(tmp_path / "s", design_of({"b": ["x", "y"], "a": [1, 2]}, 2), by_levels)
    found = sources(sweep, MEAN)
    assert next(iter(found)) == "a" and list(found.values()) == sorted(found.values(), reverse=True)
    assert (found["a"], found["b"], found["replications"]) == pytest.approx((20000 / 204, 200 / 204, 200 / 204))
