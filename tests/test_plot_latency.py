"""Latency figures, against results made by hand."""

import math
from pathlib import Path

import numpy as np
import pytest

from farweb.errors import ResultsError
from farweb.plot import describe, draw
from farweb.plot.figures.size_latency import SCATTER_MAX
from farweb.plot.latency import CURVE_POINTS, medians
from farweb.results.folder import folder_names
from sample_results import SECOND, request, write_results


def test_dots_are_the_finished_requests_since_the_warm_up(tmp_path: Path) -> None:
    rows = [
        request(0, 9.0, 111),
        request(1, 0.5, 1000),
        request(2, 2.0, 20000),
        request(3, 7.0, 777, status="failed", end_ns=None),
        request(4, 7.0, 777, status="unfinished", end_ns=None),
    ]
    results = write_results(tmp_path / "a", rows, warmup_ns=SECOND)

    figure = describe("size-latency", [results])

    (panel,) = figure.panels
    dots = panel.series[0]
    assert (dots.form, dots.x.tolist(), dots.y.tolist()) == ("dots", [1000, 20000], [0.5, 2.0])
    assert (panel.x.label, panel.y.label) == ("response size, headers included", "latency [s]")
    assert panel.x.marks_carry_unit
    assert "n = 4 requests, 1 failed and 1 cut off by the end of the run (50 %): they count as slo" in figure.caption
    assert "Seed 1, farweb 0.1.0." in figure.caption


def test_median_and_its_interval_by_size_class() -> None:
    # [1024, 2048): latencies 1..25, ranks floor(12.5 - 4.9) = 7 and ceil(13.5 + 4.9) = 19 bound the median.
    size = np.array([1024] * 25 + [2048] * 9)
    latency = np.array([*range(25, 0, -1), *[100] * 9], dtype=np.float64)

    found = medians(size, latency)

    assert np.allclose(found.size, [1024])
    assert (found.median.tolist(), found.low.tolist(), found.high.tolist()) == ([13], [7], [19])
    assert (found.size_class.tolist(), found.n.tolist()) == ([10], [25])


def test_medians_count_requests_that_did_not_end() -> None:
    """Twelve that ended after 1 to 12 s and four that did not: place 7.5 of 0 … 15. Of the other class most failed."""
    size = np.array([1024] * 16 + [2048] * 12)
    latency = np.array([*range(1, 13), *[math.inf] * 4, *range(1, 6), *[math.inf] * 7], dtype=np.float64)
    found = medians(size, latency)
    assert (found.median.tolist(), found.n.tolist(), found.failed.tolist()) == ([8.5], [16], [0.25])
    # Ranks floor(8 - 3.92) = 4 and ceil(9 + 3.92) = 13: the upper one failed, and the slowest that ended is its end.
    assert (found.low.tolist(), found.high.tolist()) == ([4], [12])
    assert found.series("", 0).hollow.tolist() == [True]


def test_a_distribution_ends_at_the_share_that_was_answered(tmp_path: Path) -> None:
    """45 of 60 requests end. Of 60, six lie beyond the share of 90 %, and too few beyond that of 99 %."""
    rows = [request(number, number / 10, 1000) for number in range(1, 46)]
    rows += [request(number, 1.0, 1000, status="failed", end_ns=None) for number in range(46, 61)]
    curve, dots = describe("cdf", [write_results(tmp_path / "a", rows)]).panels[0].series
    assert (curve.y[0], curve.y[-1], curve.x[-1]) == (0.0, 0.75, 4.5)
    assert (curve.label, curve.detail) == ("a", ":  median 3.05 s, 90 % not reached")
    assert (dots.x.tolist(), dots.y.tolist()) == ([pytest.approx(3.05)], [0.5])


def test_interval_of_the_median_covers_it_as_often_as_it_says() -> None:
    random = np.random.default_rng(1)
    size = np.full(40, 5000)
    covered = 0
    for _ in range(2000):
        found = medians(size, random.lognormal(0, 1, 40))
        covered += bool(found.low[0] <= 1 <= found.high[0])
    assert 0.94 < covered / 2000 < 0.99


def test_no_size_class_is_large_enough(tmp_path: Path) -> None:
    results = write_results(tmp_path / "a", [request(1, 1.0, 1000)])
    assert draw("size-latency", [results]).axes[0].get_xscale() == "log"


def test_many_requests_become_density_with_a_panel_a_result(tmp_path: Path) -> None:
    number = SCATTER_MAX // 2 + 1
    rows = [request(0, 0.1 + 0.001 * (place % 100), 100 + place) for place in range(number)]
    both = [write_results(tmp_path / name, rows, name=name) for name in ("a", "b")]

    figure = describe("size-latency", both)

    assert [(panel.title, panel.index) for panel in figure.panels] == [("a", 0), ("b", 1)]
    for panel in figure.panels:
        assert panel.density is not None
        assert panel.density.count.sum() == number
        assert panel.density.count.shape == (len(panel.density.y_edges) - 1, len(panel.density.x_edges) - 1)
        assert (panel.density.x_edges[0] < 100) and (panel.density.y_edges[-1] > 0.199)


def test_distribution_reaches_each_share_at_its_latency(tmp_path: Path) -> None:
    rows = [request(place, latency, 1000) for place, latency in enumerate([4.0, 1.0, 3.0, 2.0])]
    results = write_results(tmp_path / "a", rows)

    curve, dots = describe("cdf", [results]).panels[0].series
    assert curve.x.tolist() == [1, 1, 2, 3, 4]
    assert curve.y.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert dots.x[0] == 2.5
    assert (curve.label, curve.detail) == ("a", ":  median 2.50 s")
    # Half the width of the band: sqrt(ln(2 / 0.05) / (2 * 4)) = 0.679.
    assert curve.low is not None and curve.high is not None
    assert curve.low.tolist() == pytest.approx([0, 0, 0, 0.0709, 0.3209], abs=1e-4)
    assert curve.high[0] == pytest.approx(0.6791, abs=1e-4)


def test_distribution_of_many_requests_keeps_both_ends(tmp_path: Path) -> None:
    rows = [request(0, 0.001 * place, 1000) for place in range(1, 5001)]
    curve = describe("cdf", [write_results(tmp_path / "a", rows)]).panels[0].series[0]
    assert len(curve.x) <= CURVE_POINTS + 1
    assert (curve.x[0], curve.x[-1], curve.y[-1]) == (0.001, 5.0, 1.0)
    assert np.allclose(curve.y[1:], curve.x[1:] / 5)


@pytest.mark.parametrize("name", ["size-latency", "cdf"])
def test_nothing_finished(tmp_path: Path, name: str) -> None:
    results = write_results(tmp_path / "a", [request(1, 1.0, 1000, status="failed", end_ns=None)])
    with pytest.raises(ResultsError, match=r"a: no request finished.* \(1 failed, 0 unfinished\)"):
        draw(name, [results])


def test_runs_are_called_by_as_much_of_their_folders_as_tells_them_apart(tmp_path: Path) -> None:
    runs = [write_results(tmp_path / folder, name="cable") for folder in ("one", "x/two", "y/two")]
    assert folder_names(runs[:2]) == ["one", "two"]
    assert folder_names(runs[1:]) == ["x/two", "y/two"]
    assert folder_names([runs[0], runs[0]]) == ["one #1", "one #2"]
