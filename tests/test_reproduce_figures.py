"""The figures of the studies: their curves, axes and intervals, on results made by hand."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from farweb.paint import chart, paper
from farweb.paint.figure import Axis, Figure
from farweb.reproduce.curves import Curve, curve
from farweb.reproduce.drawing import Line, figure, panel
from farweb.reproduce.study import StudyResults
from sample_results import Row
from sample_studies import ASYMMETRIC, CABLE, DAY, LOADS, results_of, satellite_of
from sample_sweeps import design_of, write_sweep

MANY = ["1 connection", *(f"{number} connections" for number in (5, 10, 15, 20, 35, 50, 70))]


def figures(results: StudyResults) -> dict[str, Figure]:
    drawn = {name: describe for name, describe in results.study.figures.items() if name != "breakdown"}  # needs rows
    return {name: describe(results) for name, describe in drawn.items()}


@pytest.fixture(scope="module")
def cable() -> dict[str, Figure]:
    return figures(results_of("cable", CABLE, replications=3))


def labels(figure: Figure, panel: int = 0) -> list[str]:
    return [series.label for series in figure.panels[panel].series]


def test_each_number_of_connections_keeps_its_colour_from_light_to_dark(cable: dict[str, Figure]) -> None:
    for name in ("5a", "5b", "6a", "6b", "6c", "6d", "7a", "7c", "7d"):
        assert labels(cable[name]) == ["no US proxy", *MANY], name
        assert [series.index for series in cable[name].panels[0].series] == list(range(9))
    assert [series.shade for series in cable["5b"].panels[0].series] == [None, *(n / 7 for n in range(8))]
    start = cable["7b"].panels[0].series
    assert [(series.label, series.index) for series in start[1:]] == list(zip(MANY[4:], range(5, 9), strict=True))


def test_the_papers_draw_against_the_presented_load(cable: dict[str, Figure]) -> None:
    (panel,) = cable["5a"].panels
    assert (panel.x.label, panel.y.label) == ("presented load [Mbit/s]", "load carried to NZ [Mbit/s]")
    assert panel.series[0].x.tolist() == pytest.approx([load * DAY * 1.001 for load in LOADS])
    assert [(line.label, line.at) for line in panel.references] == [("link rate", 34.368e6)]
    assert cable["5a"].caption.endswith("n = 486 runs, seeds 1–3, farweb 0.1.0.")
    assert "Presented load: IP bits" in cable["5a"].caption
    (inbound,) = cable["7d"].panels
    assert (inbound.x.label, inbound.y.label) == ("traffic to the US [Mbit/s]", "traffic to NZ [Mbit/s]")
    assert "Presented load: IP bits" not in cable["7d"].caption


def test_intervals_are_those_of_the_replications(cable: dict[str, Figure]) -> None:
    series = cable["5b"].panels[0].series[0]
    assert series.low is not None and series.n is not None
    # t of two degrees; 2.8, 2.828 and 2.856 s.
    assert series.y[3] - series.low[3] == pytest.approx(4.302653 * 0.028 / 3**0.5)
    assert set(series.n.tolist()) == {3}


def test_intervals_end_where_the_link_does() -> None:
    carried = Curve((1.0,), np.ones((1, 3)), np.array([[10e6, 30e6, 34e6]]))
    (series,) = panel([Line("a", carried, 0)], Axis("carried", "bit/s", low=0), most=34.368e6).series
    assert series.low is not None and series.high is not None
    assert (series.low[0], series.high[0]) == (0, 34.368e6)


def test_loads_at_which_requests_failed_are_marked(tmp_path: Path) -> None:
    def lost(levels: Mapping[str, Any], _replication: int) -> Row:
        return {"failed_share": (levels["workload.load"] - 1) / 20, "requests": 100, "latency_mean_s": 1.0}

    sweep = write_sweep(tmp_path / "s", design_of({"workload.load": [1, 2, 3]}, 2), lost)
    found = curve(sweep, "latency_mean_s", x="requests")
    drawn = figure("t", "", [panel([Line("a", found, 0)], Axis("latency", "s", low=0), x=Axis("n", ""))], [sweep])
    assert "Hollow: requests failed or were cut off there, up to 10 % of them" in drawn.caption
    (series,) = drawn.panels[0].series
    assert series.failed is not None and series.failed.tolist() == [0, 0.05, 0.1]
    left = found.where(np.array([False, True, True])).failed
    assert left is not None and left.tolist() == [[0.05, 0.05], [0.1, 0.1]]


def test_curves_that_are_compared_within_replications_have_no_intervals(cable: dict[str, Figure]) -> None:
    assert {series.low is None for series in cable["7b"].panels[0].series} == {True}
    assert "the same in all curves" in cable["7b"].caption
    assert "Shade" in cable["5b"].caption


def test_the_single_connection_has_its_limit_to_compare_with(cable: dict[str, Figure]) -> None:
    (panel,) = cable["4"].panels
    assert [line.at for line in panel.references] == [2.18e6]
    assert panel.y.read_in == "Mbit/s"


def test_three_ways_stand_side_by_side(cable: dict[str, Figure]) -> None:
    assert labels(cable["headline"]) == ["no US proxy", "US proxy, a connection each", "US proxy, 70 connections"]
    assert labels(cable["headline"], 1) == labels(cable["headline"])
    assert [panel.title for panel in cable["idle"].panels] == ["ties to the first connection", "ties in turns"]
    assert labels(cable["idle"]) == ["no US proxy", "restart since-received", "restart off"]
    assert labels(cable["nagle"]) == ["no US proxy", "with Nagle's rule", "without Nagle's rule"]


def test_the_satellite_study_has_the_papers_labels() -> None:
    found = figures(satellite_of())
    assert labels(found["4"])[:3] == ["cable", "cable, persistent", "cable out, satellite in"]
    assert len(set(labels(found["6"]))) == 12
    assert labels(found["persistence"]) == ["copies have same hosts", "copies have renamed hosts"]


@pytest.mark.parametrize("name", ["5b", "6a", "headline"])
def test_they_can_be_painted(name: str) -> None:
    results = results_of("asymmetric", ASYMMETRIC)
    with chart.look():
        painted = paper.paint(results.study.figures[name](results))
    assert len(chart.encode(painted, "png")) > 20_000
