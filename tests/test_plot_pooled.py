"""Requests of all replications together: distributions and medians, with replications as clusters."""

from pathlib import Path

import numpy as np
import pytest

from farweb.errors import ResultsError
from farweb.plot import describe
from farweb.plot.latency import medians
from farweb.plot.pooled import Pool, medians_of, shares
from sample_results import Row, request
from sample_sweeps import Levels, design_of, write_sweep


def test_share_and_interval_by_hand() -> None:
    latency = np.array([1.0, 2.0, 1.0, 3.0, 5.0, 7.0])
    share, half = shares(latency, np.array([0, 0, 1, 1, 1, 1]), 2, np.array([2.0, 7.0]))
    # Up to 2 s: 2 of 2 and 1 of 4: clusters are 1 above and 1 below the common half; t for 1 degree: 12.7062.
    assert share.tolist() == [0.5, 1]
    assert half.tolist() == pytest.approx([12.7062 * (2 * (1 + 1)) ** 0.5 / 6, 0], abs=1e-3)


def pool(random: np.random.Generator, clusters: int, each: int) -> Pool:
    """Latencies with a median of 1 s, alike within a replication; all of one size class."""
    of_cluster = np.repeat(random.normal(0, 0.4, clusters), each)
    latency = np.exp(of_cluster + random.normal(0, 0.3, clusters * each))
    return Pool(np.full(latency.size, 5000), latency, np.repeat(np.arange(clusters), each), clusters)


def test_intervals_cover_as_often_as_they_say_where_requests_of_a_run_are_alike() -> None:
    random = np.random.default_rng(7)
    by_cluster = by_request = of_share = 0
    for _ in range(600):
        found = pool(random, 8, 40)
        honest, naive = medians_of(found), medians(found.size, found.latency)
        by_cluster += bool(honest.low[0] <= 1 <= honest.high[0])
        by_request += bool(naive.low[0] <= 1 <= naive.high[0])
        share, half = shares(found.latency, found.cluster, 8, np.array([1.0]))
        of_share += bool(abs(share[0] - 0.5) <= half[0])
    assert 0.92 < by_cluster / 600 < 0.985
    assert 0.92 < of_share / 600 < 0.985
    assert by_request / 600 < 0.7  # what taking requests as independent would claim


def rows(levels: Levels, replication: int) -> list[Row]:
    """Twelve requests of 1 to 12 s, later replications later by 1 ms; with ten times the load ten times as long."""
    return [
        *(request(n, levels["workload.load"] * (n + 0.001 * replication), 1500) for n in range(1, 13)),
        request(20, 9.0, 100, status="failed", end_ns=None),
    ]


def test_distribution_of_all_replications_of_a_point(tmp_path: Path) -> None:
    sweep = write_sweep(tmp_path / "sweep", design_of({"workload.load": [1, 10]}, 3), requests=rows)
    figure = describe("cdf", [sweep])
    (panel,) = figure.panels
    one, dots, ten, _ = panel.series
    assert (one.label, one.detail) == ("1", ":  median 7.00 s")
    assert (figure.legend, panel.x.label) == ("load", "latency [s]")
    # 36 different latencies, and the foot; of 39 requests three failed.
    assert (len(one.x), one.y[0], one.y[-1]) == (37, 0, pytest.approx(36 / 39))
    assert dots.y.tolist() == [0.5]
    assert np.allclose(ten.x, 10 * one.x)
    # One step of a replication lies before the others' steps: its share is ahead by one request of twelve.
    assert one.low is not None and one.high is not None
    assert (one.high - one.low).max() > 0.05
    assert (one.high - one.low)[-1] == 0
    assert "each seed taken as a cluster" in figure.caption
    assert "n = 78 requests, 6 failed (7.69 %): they count as slower than any that ended." in figure.caption
    assert figure.caption.endswith("n = 6 runs: 2 points × 3 seeds. Seeds 1–3, farweb 0.1.0.")


def test_one_replication_takes_requests_as_independent(tmp_path: Path) -> None:
    sweep = write_sweep(tmp_path / "sweep", design_of({"workload.load": [1]}, 1), requests=rows)
    for name in ("cdf", "size-latency"):
        figure = describe(name, [sweep])
        assert "requests taken as independent" in figure.caption
        assert "cluster" not in figure.caption


def test_median_by_size_of_all_replications(tmp_path: Path) -> None:
    sweep = write_sweep(tmp_path / "sweep", design_of({"workload.load": [1, 10]}, 3), requests=rows)
    one, ten = describe("size-latency", [sweep]).panels[0].series
    assert one.n is not None
    assert (one.x.tolist(), one.n.tolist(), one.label) == ([pytest.approx(1500)], [36], "1")
    assert (one.y[0], ten.y[0]) == pytest.approx((6.501, 65.01))  # halfway between 6.002 and 7.000 s


def test_levels_put_together_are_told(tmp_path: Path) -> None:
    design = design_of({"workload.load": [1, 10], "circuit": ["a", "b"]}, 2)
    figure = describe("cdf", [write_sweep(tmp_path / "sweep", design, requests=rows)], by=["circuit"])
    assert [series.label.split(":")[0] for series in figure.panels[0].series if series.label] == ["a", "b"]
    assert "Requests at all levels of workload.load together." in figure.caption


def test_of_many_levels_a_few_are_drawn_unless_they_are_named(tmp_path: Path) -> None:
    sweep = write_sweep(tmp_path / "sweep", design_of({"workload.load": range(1, 10)}, 1), requests=rows)
    figure = describe("size-latency", [sweep])
    assert [series.label for series in figure.panels[0].series] == ["1", "3", "5", "7", "9"]
    assert "Of 9 levels of workload.load, 5 are drawn." in figure.caption
    figure = describe("size-latency", [sweep], where={"workload.load": [str(n) for n in range(1, 8)]})
    assert len(figure.panels[0].series) == 7


def test_points_of_a_latin_hypercube_are_all_taken_together(tmp_path: Path) -> None:
    design = design_of({"workload.load": range(1, 8)}, 1, kind="latin-hypercube")
    figure = describe("cdf", [write_sweep(tmp_path / "sweep", design, requests=rows)])
    assert len(figure.panels[0].series) == 2
    assert "n = 91 requests, 7 failed" in figure.caption
    assert "are drawn" not in figure.caption


def test_a_point_without_finished_runs_is_left_out(tmp_path: Path) -> None:
    design = design_of({"workload.load": [1, 10]}, 1)
    sweep = write_sweep(tmp_path / "sweep", design, requests=rows, failed={(1, 0): "no"})
    assert len(describe("size-latency", [sweep]).panels[0].series) == 1
    nothing = write_sweep(tmp_path / "nothing", design, requests=lambda levels, r: rows(levels, r)[-1:])
    with pytest.raises(ResultsError, match="no request finished, so there is no latency to plot"):
        describe("cdf", [nothing])
