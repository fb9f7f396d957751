"""What makes figures readable: scales that all panels share, colours of levels, names, and intervals that can be."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from farweb.library.sweep_results import SweepResults
from farweb.paint.chart import encode, look
from farweb.paint.figure import Axis, Figure, Panel, Series
from farweb.paint.letters import wrapped
from farweb.paint.paper import paint
from farweb.plot import describe, draw
from farweb.text.words import distinguishing
from sample_results import SECOND, interval, request, write_results
from sample_sweeps import Levels, design_of, write_sweep

HOUR = 3600.0


def spread(levels: Levels, replication: int) -> dict[str, Any]:
    """Values so far apart between replications that intervals reach below 0 and above what there can be."""
    load = levels["workload.load"]
    return {
        **{"latency_mean_s": load * (1.0, 1.1, 4.0)[replication], "offered_bps": load * 1e6},
        "link_0_down_queue_bytes_max": (100_000, 250_000, 256_000)[replication],
        "link_0_down_utilisation": (0.5, 0.98, 1.0)[replication],
        "carried_bps": (10e6, 34e6, 34.3e6)[replication],
    }


def swept(folder: Path, loads: list[int], replications: int = 3, **factors: list[Any]) -> SweepResults:
    """Requests of load seconds, ten times as long at circuit b."""

    def rows(levels: Levels, replication: int) -> list[Any]:
        by = 10.0 if levels.get("circuit") == "b" else 1.0
        return [request(n, by * levels["workload.load"] * (1 + n / 20), 1000) for n in range(12)]

    return write_sweep(folder, design_of({"workload.load": loads, **factors}, replications), spread, rows)


def test_panels_show_all_of_their_data_on_one_scale(tmp_path: Path) -> None:
    sweep = swept(tmp_path / "s", [1, 2, 3], circuit=["a", "b"], profile=["x", "y", "z"])
    chart = draw("cdf", [sweep])
    shown = chart.axes[: len(chart.description.panels)]
    assert len(shown) > 1
    for axes, panel in zip(shown, chart.description.panels, strict=True):
        assert axes.get_xlim() == shown[0].get_xlim()
        for series in panel.series:
            assert axes.get_xlim()[0] < series.x.min() <= series.x.max() < axes.get_xlim()[1]


@pytest.mark.parametrize(
    ("metric", "most"),
    [
        ("latency_mean_s", np.inf),
        ("link_0_down_queue_bytes_max", 256_000),
        ("link_0_down_utilisation", 1),
        ("carried_bps", 34.368e6),
    ],
)
def test_intervals_end_where_the_metric_does(tmp_path: Path, metric: str, most: float) -> None:
    # Sweeps made by hand have links of 34.368 Mbit/s with queues of 256,000 B.
    (panel,) = describe("latency-load", [swept(tmp_path / "s", [1, 2])], metric=metric).panels
    (series,) = panel.series
    assert series.low is not None and series.high is not None
    assert (series.low >= 0).all() and (series.high <= most).all()
    assert (series.low <= series.y).all() and (series.y <= series.high).all()
    assert series.high.max() == most or most == np.inf


def test_two_replications_have_no_interval(tmp_path: Path) -> None:
    sweep = swept(tmp_path / "s", [1, 2], replications=2)
    for name in ("latency-load", "cdf", "size-latency"):
        figure = describe(name, [sweep])
        assert all(series.low is None for panel in figure.panels for series in panel.series)
        assert "95 %" not in figure.caption
    assert "2 seeds are too few for intervals" in figure.caption


def test_levels_of_a_number_go_from_light_to_dark_and_kinds_do_not(tmp_path: Path) -> None:
    sweep = swept(tmp_path / "s", [1, 2, 4], circuit=["a", "b"])
    (of_levels,) = describe("latency-load", [sweep], x="circuit").panels
    assert [series.shade for series in of_levels.series] == [0, 0.5, 1]
    (of_kinds,) = describe("latency-load", [sweep]).panels
    assert [series.shade for series in of_kinds.series] == [None, None]
    chart = draw("cdf", [sweep], where={"circuit": "a"})
    lines = [line for line in chart.axes[0].lines if line.get_drawstyle() == "steps-post"]
    light = [sum(int(str(line.get_color())[at : at + 2], 16) for at in (1, 3, 5)) for line in lines]
    assert light[0] > light[1] > light[2]


def test_curves_of_levels_have_their_names_at_their_ends(tmp_path: Path) -> None:
    x = np.array([1.0, 2.0])
    series = tuple(Series(f"{n}", n, x, x + n / 1000, shade=n / 2) for n in range(3))
    figure = Figure("t", "c", (Panel(Axis("x"), Axis("y"), series),), legend="load")
    with look():
        chart = paint(figure)
        encode(chart, "png")
    names = {text.get_text(): text.get_window_extent() for text in chart.axes[0].texts}
    assert list(names) == ["0", "1", "2", "load"]
    assert not chart.legends
    # One above the other, however close the curves end.
    assert not any(names[a].overlaps(names[b]) for a, b in (("0", "1"), ("1", "2"), ("2", "load")))


def test_names_keep_what_they_differ_in() -> None:
    names = ["satellite to the island, HTTP/2 with 1 connection", "satellite to the island, HTTP/2 with 6 connections"]
    assert distinguishing(names, 28) == ["1 connection", "6 connections"]
    assert distinguishing(names, 60) == names
    nested = ["satellite to the island in the sea", "satellite to the island in the sea again"]
    assert distinguishing(nested, 28) == nested  # of the first nothing would be left
    assert wrapped("HTTP/2 as the RFC has it, six connections", 1.5).replace("\n", " ").endswith("six connections")


@pytest.mark.parametrize(
    ("length_s", "label", "marks"),
    [
        (500, "time [s]", ()),
        (30 * 60, "time [min]", (0, 5, 10, 15, 20, 25, 30)),
        (83 * HOUR, "time [h]", (0, 12, 24, 36, 48, 60, 72)),
        (14 * 24 * HOUR, "time [d]", (0, 2, 4, 6, 8, 10, 12, 14)),
    ],
)
def test_time_is_read_in_what_clocks_and_calendars_have(length_s: float, label: str, marks: tuple[float, ...]) -> None:
    axis = Axis.of_time("time", [0, length_s])
    assert (axis.label, axis.marks, axis.high) == (label, marks, length_s)


def test_a_link_over_days_is_read_in_hours(tmp_path: Path) -> None:
    rows = [interval(0, way, second, bytes=1000) for way in ("up", "down") for second in range(3)]
    rows = [{**row, "time_ns": row["time_ns"] * 36_000, "interval_ns": 36_000 * SECOND} for row in rows]
    run = write_results(tmp_path / "run", [request(1, 1.0, 3000)], links=rows, warmup_ns=3600 * SECOND)
    figure = describe("link", [run])
    assert figure.panels[0].x.label == "time [h]"
    (warmup,) = figure.panels[0].references
    assert (warmup.label, warmup.at, warmup.along) == ("end of the warm-up", 3600, "y")
    chart = draw("link", [run])
    assert np.asarray(chart.axes[0].lines[0].get_xdata())[-1] == pytest.approx(30)
