"""Figures of sweeps, against sweeps made by hand."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from farweb.errors import FarwebError, ResultsError
from farweb.library.sweep_results import SweepResults
from farweb.paint.figure import OTHERS, Figure
from farweb.plot import describe, draw
from farweb.plot.links import IN_PICTURE
from sample_results import Row, request
from sample_sweeps import Levels, design_of, factor, write_sweep

HALF = 4.302653 * 0.1 / 3**0.5
"""Half the Student interval of three values 0.1 apart: t for 2 degrees of freedom, times sd / sqrt(3)."""

LOADS = [1, 2, 4]


def metrics(levels: Levels, replication: int) -> dict[str, Any]:
    """Latency is the load, thrice of it by satellite, spread by 0.1 s between replications; 3 Mbit/s are carried."""
    load = levels["workload.load"]
    by = 3.0 if levels.get("circuit") == "satellite" else 1.0
    offered = load * 1e6 + 1e4 * replication
    return {
        "latency_mean_s": load * by + 0.1 * (replication - 1),
        "latency_max_s": 2 * load * by,
        "offered_bps": offered,
        "presented_bps": 2.2e6 if (load, by) == (4, 3.0) else 1.2e6 * load,
        "carried_bps": min(offered, 3e6),
        "link_0_down_queue_bytes_mean": load * 10_000.0,
        "link_0_down_queue_bytes_max": min(load * 64_000, 100_000),
        "link_0_down_utilisation": 0.5,
        "leg_0_open_mean": load * 2.0,
        "leg_0_open_max": load * 5,
        "leg_0_busy_mean": load * 1.5,
    }


@pytest.fixture
def sweep(tmp_path: Path) -> SweepResults:
    design = design_of({"workload.load": LOADS, "circuit": ["cable", "satellite"]}, 3)
    return write_sweep(tmp_path / "sweep", design, metrics, name="loads")


def labels(figure: Figure, panel: int = 0) -> list[str]:
    return [series.label for series in figure.panels[panel].series if series.index != OTHERS]


def test_latency_against_the_offered_load(sweep: SweepResults) -> None:
    figure = describe("latency-load", [sweep])

    (panel,) = figure.panels
    assert (labels(figure), figure.legend) == (["cable", "satellite"], "circuit")
    assert (panel.x.label, panel.y.label) == ("offered load [Mbit/s]", "mean latency [s]")
    cable, satellite = panel.series
    assert cable.x.tolist() == pytest.approx([1.01e6, 2.01e6, 4.01e6])  # the mean over replications
    assert cable.y.tolist() == pytest.approx([1, 2, 4])
    assert satellite.y.tolist() == pytest.approx([3, 6, 12])
    assert cable.low is not None and cable.high is not None and cable.n is not None
    assert (cable.y - cable.low).tolist() == pytest.approx([HALF] * 3)
    assert (cable.high - cable.y).tolist() == pytest.approx([HALF] * 3)
    assert (cable.n.tolist(), figure.counted, cable.interval) == ([3, 3, 3], "replications", "band")
    assert figure.title == "Mean latency against offered load – loads"
    assert "95 % interval over seeds (Student)" in figure.caption
    assert figure.caption.endswith("n = 18 runs: 6 points × 3 seeds. Seeds 1–3, farweb 0.1.0.")


def test_a_metric_on_the_axis_places_points_in_the_order_of_the_load(sweep: SweepResults) -> None:
    figure = describe("latency-load", [sweep], x="presented_bps", by=["circuit"])
    (panel,) = figure.panels
    assert (labels(figure), figure.legend) == (["cable", "satellite"], "circuit")
    assert panel.x.label == "presented load [Mbit/s]"
    # The satellite's load of 4 is presented over a longer time: its place lies before the load of 2.
    assert [series.x.tolist() for series in panel.series] == [[1.2e6, 2.4e6, 4.8e6], [1.2e6, 2.4e6, 2.2e6]]
    assert [series.y.tolist() for series in panel.series] == [pytest.approx([1, 2, 4]), pytest.approx([3, 6, 12])]
    assert figure.title == "Mean latency against presented load – loads"
    assert "Presented load: IP bits of the response segments as servers send them" in figure.caption


def test_carried_against_the_presented_load(sweep: SweepResults) -> None:
    figure = describe("carried-offered", [sweep], x="presented_bps", where={"circuit": "cable"})
    (panel,) = figure.panels
    (series,) = panel.series
    assert (series.x.tolist(), series.y.tolist()) == ([1.2e6, 2.4e6, 4.8e6], pytest.approx([1.01e6, 2.01e6, 3e6]))
    assert panel.references[0].label == "throughput = presented"
    assert figure.title == "Throughput against presented load – loads"
    with pytest.raises(FarwebError, match="against a load in bit/s, and latency_mean_s is none; try presented_bps"):
        describe("carried-offered", [sweep], x="latency_mean_s")


def test_a_metric_that_no_run_has_cannot_be_an_axis(tmp_path: Path) -> None:
    design = design_of({"workload.load": LOADS}, 2)
    sweep = write_sweep(tmp_path / "sweep", design, lambda levels, r: {"presented_bps": None})
    with pytest.raises(ResultsError, match="no run has a value of presented_bps"):
        describe("latency-load", [sweep], x="presented_bps")
    with pytest.raises(ResultsError, match="its runs have no leg_1_open_mean"):
        describe("latency-load", [sweep], x="leg_1_open_mean")


def test_another_metric_and_the_factor_itself(sweep: SweepResults) -> None:
    figure = describe("latency-load", [sweep], x="workload.load", metric="latency_max_s", where={"circuit": "cable"})
    (panel,) = figure.panels
    (series,) = panel.series
    assert (panel.x.label, panel.y.label) == ("workload.load", "longest latency [s]")
    assert (series.x.tolist(), series.y.tolist(), series.label) == ([1, 2, 4], [2, 4, 8], "")
    assert "9 runs: 3 points" in figure.caption


def test_a_factor_without_numbers_stands_side_by_side(sweep: SweepResults) -> None:
    (panel,) = describe("latency-load", [sweep], x="circuit").panels
    assert (panel.x.scale, panel.x.levels) == ("category", ("cable", "satellite"))
    places = np.array([series.x for series in panel.series])
    assert places.T.tolist() == [pytest.approx([at - 0.225, at, at + 0.225]) for at in (0, 1)]
    assert [(series.interval, series.joined) for series in panel.series] == [("bars", False)] * 3


def test_levels_that_make_no_series_are_averaged_by_replication(sweep: SweepResults) -> None:
    figure = describe("latency-load", [sweep], by=[])
    (series,) = figure.panels[0].series
    # Both circuits vary together by replication: the interval stays as wide as one circuit's.
    assert series.y.tolist() == pytest.approx([2, 4, 8])
    assert series.high is not None
    assert (series.high - series.y).tolist() == pytest.approx([HALF] * 3)
    assert "Averaged over the levels of circuit." in figure.caption


def test_a_replication_that_lacks_a_level_is_not_averaged(tmp_path: Path) -> None:
    design = design_of({"workload.load": [1], "circuit": ["cable", "satellite"], "size": [1, 2]}, 3)
    sweep = write_sweep(tmp_path / "sweep", design, metrics, failed={(2, 0): "the disk is full"})
    (series,) = describe("latency-load", [sweep], x="size", by=[]).panels[0].series
    assert series.n is not None
    assert series.n.tolist() == [2, 3]
    assert series.y.tolist() == pytest.approx([2.05, 2])


def test_failed_and_missing_runs_are_told(tmp_path: Path) -> None:
    design = design_of({"workload.load": LOADS}, 3)
    sweep = write_sweep(tmp_path / "sweep", design, metrics, failed={(0, 1): "no"}, missing=[(2, 2)])
    figure = describe("latency-load", [sweep])
    assert "n = 7 runs: 3 points × 2 to 3 seeds; 1 failed and left out." in figure.caption
    assert "The sweep is not finished." in figure.caption
    assert figure.panels[0].series[0].n is not None
    assert figure.panels[0].series[0].n.tolist() == [2, 3, 2]


def test_requests_without_latency_are_told(tmp_path: Path) -> None:
    lost = {"requests": 100, "failed": 3, "unfinished": 2}
    design = design_of({"workload.load": LOADS}, 2)
    sweep = write_sweep(tmp_path / "sweep", design, lambda levels, r: {**metrics(levels, r), **lost})
    figure = describe("latency-load", [sweep])
    assert "Hollow: requests failed or were cut off there, 30 (5 %) in all and up to 5 % at a point" in figure.caption
    assert figure.panels[0].series[0].hollow.all()
    # Its markers are drawn without a filling, over the line's.
    (axes,) = draw("latency-load", [sweep]).axes
    assert [line.get_markerfacecolor() for line in axes.get_lines()][-1] == "white"
    whole = write_sweep(tmp_path / "whole", design, metrics)
    assert "Hollow" not in describe("latency-load", [whole]).caption
    assert not describe("latency-load", [whole]).panels[0].series[0].hollow.any()


def test_a_quantile_that_failures_reach_is_not_drawn_and_told(tmp_path: Path) -> None:
    def requests(levels: Levels, replication: int) -> list[Row]:
        lost = 20 if levels["workload.load"] == LOADS[-1] else 0
        rows = [request(number, 1.0 + number / 100 + replication, 1000) for number in range(100)]
        return [{**row, "status": "failed", "end_ns": None} for row in rows[:lost]] + rows[lost:]

    sweep = write_sweep(tmp_path / "sweep", design_of({"workload.load": LOADS}, 2), metrics, requests)
    figure = describe("latency-load", [sweep], metric="latency_p95_s")
    assert len(figure.panels[0].series[0].x) == len(LOADS) - 1
    assert "Not drawn: 1 point whose value failed requests reach." in figure.caption


def test_failures_at_the_base_are_in_differences_from_it(tmp_path: Path) -> None:
    """At load 1 failed requests reach the percentile of the base alone, at 2 both; at 4 they reach neither."""

    def values(levels: Levels, replication: int) -> dict[str, Any]:
        base, load = levels["circuit"] == "cable", levels["workload.load"]
        reached = load == 2 or (base and load == 1)
        found = {"latency_p90_s": math.inf if reached else load * (1.0 if base else 3.0)}
        return {**metrics(levels, replication), **found, "requests": 100, "failed": 4 if base else 0}

    design = design_of({"workload.load": LOADS, "circuit": ["cable", "satellite"]}, 3)
    sweep = write_sweep(tmp_path / "sweep", design, values)
    figure = describe("latency-load", [sweep], metric="latency_p90_s", against=("circuit", "cable"))
    (series,) = figure.panels[0].series
    assert series.y.tolist() == [8.0]
    assert series.failed is not None
    assert series.failed.tolist() == [pytest.approx(0.02)]  # four of the 200 requests that it rests on
    assert "Not drawn: 2 points whose value failed requests reach." in figure.caption


def test_one_replication_has_no_interval(tmp_path: Path) -> None:
    sweep = write_sweep(tmp_path / "sweep", design_of({"workload.load": LOADS}, 1), metrics)
    figure = describe("latency-load", [sweep])
    assert figure.panels[0].series[0].low is None
    assert "interval" not in figure.caption.replace("measured interval", "")
    assert "Seed 1, farweb" in figure.caption


def test_numbers_over_decades_take_logarithmic_axes(tmp_path: Path) -> None:
    design = design_of([factor("leg.0.tcp.buffer", [1000, 10_000, 100_000], "B")], 3)
    sweep = write_sweep(
        tmp_path / "sweep", design, lambda levels, r: {"latency_mean_s": levels["leg.0.tcp.buffer"] / 1000 + r - 1}
    )
    (panel,) = describe("latency-load", [sweep]).panels
    assert (panel.x.scale, panel.x.label, panel.x.marks_carry_unit) == ("log", "leg.0.tcp.buffer", True)
    assert (panel.y.scale, panel.y.low) == ("log", 0.5)
    assert panel.series[0].low is not None
    assert panel.series[0].low.min() == 0.5  # 1 − 2.48 has no place on the axis


def test_the_factor_with_most_numbers_is_the_axis(tmp_path: Path) -> None:
    design = design_of([factor("a.few", [1, 2]), factor("b.many", [1, 2, 3], "s"), factor("name", ["x", "y"])], 2)
    sweep = write_sweep(tmp_path / "sweep", design)
    figure = describe("latency-load", [sweep])
    assert figure.panels[0].x.label == "b.many [s]"
    assert figure.title == "Mean latency against many – by hand"
    assert (figure.legend, labels(figure)) == ("few, name", ["1, x", "1, y", "2, x", "2, y"])


def test_many_series_become_panels_by_the_first_factor(tmp_path: Path) -> None:
    design = design_of({"workload.load": LOADS, "a": [1, 2, 3], "b": list("vwxyz")}, 1)
    sweep = write_sweep(tmp_path / "sweep", design, metrics)
    figure = describe("latency-load", [sweep])
    assert [panel.title for panel in figure.panels] == ["a = 1", "a = 2", "a = 3"]
    assert (figure.legend, labels(figure, 2)) == ("b", list("vwxyz"))
    assert figure.share_x and figure.share_y
    figure = describe("buffer", [sweep])
    assert [panel.title for panel in figure.panels[:5]] == [
        *(f"a = 1\n{what}" for what in ("down, mean", "up, mean", "down, peak", "up, peak")),
        "a = 2\ndown, mean",
    ]
    many = design_of({"workload.load": [1, 2], "a": list(range(40)), "b": list(range(9))}, 1)
    with pytest.raises(FarwebError, match=r"360 series \(by a, b\).* --by, or fewer levels with --where FACTOR=LEVEL"):
        describe("latency-load", [write_sweep(tmp_path / "many", many, metrics)])


def test_points_of_a_latin_hypercube_are_not_joined(tmp_path: Path) -> None:
    design = design_of(
        [factor("workload.load", [1, 2, 4]), factor("delay", [0.1, 0.2, 0.3], "s")],
        2,
        kind="latin-hypercube",
        points=[(0, 2), (1, 0), (2, 1)],
    )
    figure = describe("latency-load", [write_sweep(tmp_path / "sweep", design, metrics)])
    (series,) = figure.panels[0].series
    assert (series.joined, series.interval, len(series.x)) == (False, "bars", 3)
    assert "Averaged" not in figure.caption


def test_one_at_a_time_keeps_the_other_factors_at_their_base(tmp_path: Path) -> None:
    design = design_of(
        {"workload.load": LOADS, "circuit": ["cable", "satellite"]},
        3,
        kind="one-at-a-time",
        points=[(0, 0), (1, 0), (2, 0), (0, 1)],
    )
    sweep = write_sweep(tmp_path / "sweep", design, metrics)
    assert [series.y.tolist() for series in describe("latency-load", [sweep]).panels[0].series] == [
        pytest.approx([1, 2, 4]),
        pytest.approx([3]),
    ]
    figure = describe("latency-load", [sweep], by=[])
    assert figure.panels[0].series[0].y.tolist() == pytest.approx([1, 2, 4])
    assert "Other factors at their base: circuit = cable." in figure.caption
    assert "Averaged" not in figure.caption


def test_carried_load_has_equality_and_rates_to_compare_with(sweep: SweepResults) -> None:
    figure = describe("carried-offered", [sweep])
    (panel,) = figure.panels
    assert panel.series[0].y.tolist() == pytest.approx([1.01e6, 2.01e6, 3e6])
    assert [(line.label, line.along) for line in panel.references] == [("throughput = offered", "identity")]
    # 34 Mbit/s would flatten curves that reach 3.
    assert "Not drawn, far above the values: rate of link 0 down, 34.4 Mbit/s." in figure.caption
    slow(sweep, lambda levels: {"rate": "3 Mbit/s" if levels["circuit"] == "cable" else "3500 kbit/s"})
    (panel,) = describe("carried-offered", [sweep]).panels
    assert [(line.label, line.at, line.index) for line in panel.references[1:]] == [
        ("rate of link 0 down, 3 Mbit/s", 3e6, 0),
        ("rate of link 0 down, 3.50 Mbit/s", 3.5e6, 1),
    ]


def test_carried_load_needs_loads_that_differ(tmp_path: Path) -> None:
    sweep = write_sweep(tmp_path / "sweep", design_of({"delay": [1, 2]}, 1), lambda levels, r: {"offered_bps": 2e6})
    with pytest.raises(ResultsError, match=r"hardly varies \(2 Mbit/s to 2 Mbit/s\): give \"workload\.load\" several"):
        describe("carried-offered", [sweep])


def test_queues_with_their_limit(sweep: SweepResults) -> None:
    slow(sweep, lambda levels: {"queue": "100000 B"})
    figure = describe("buffer", [sweep])
    assert [panel.title for panel in figure.panels] == ["down, mean", "up, mean", "down, peak", "up, peak"]
    down_mean, up_mean, down_peak, _ = figure.panels
    assert down_mean.series[0].y.tolist() == [10_000, 20_000, 40_000]
    assert down_peak.series[0].y.tolist() == [64_000, 100_000, 100_000]
    assert (down_peak.y.label, down_mean.references) == ("queue, peak [kB]", ())  # 40 kB are far below the limit
    assert [(line.label, line.at, line.index) for line in down_peak.references] == [("queue limit 100 kB", 1e5, None)]
    assert up_mean.references == ()
    assert "far above the values: queue limit 256 kB." in figure.caption  # the other direction's
    assert IN_PICTURE * 40_000 < 100_000
    with pytest.raises(FarwebError, match="there is no link 1; links: 0 to 0"):
        describe("buffer", [sweep], link=1)
    slow(sweep, lambda levels: {"rate": "3200 kbit/s", "queue": "250 ms"})
    down_peak = describe("buffer", [sweep]).panels[2]
    assert [(line.label, line.at) for line in down_peak.references] == [("queue limit 100 kB", 1e5)]


def slow(sweep: SweepResults, change: Any) -> None:
    """Change what the scenarios of the points say of link 0 down."""
    for row in sweep.runs.iter_rows(named=True):
        file = sweep.path / "parts" / f"run={row['run']}" / "manifest.json"
        manifest = json.loads(file.read_text())
        manifest["scenario"]["path"]["link"][0]["down"] |= change(row)
        file.write_text(json.dumps(manifest))


def test_connections_of_each_leg(tmp_path: Path, sweep: SweepResults) -> None:
    mean, most, busy = describe("connections", [sweep]).panels
    assert (mean.title, mean.series[0].y.tolist()) == ("open, on average", [2, 4, 8])
    assert (most.title, most.series[0].y.tolist()) == ("open, at most", [5, 10, 20])
    assert (busy.title, busy.series[0].y.tolist()) == ("busy, on average", [1.5, 3, 6])
    more = {"leg_1_open_mean": 50.0, "leg_1_open_max": 50, "leg_1_busy_mean": 0.5}
    two = write_sweep(tmp_path / "two", sweep.design, lambda levels, r: {**metrics(levels, r), **more})
    titles = [panel.title for panel in describe("connections", [two], x="presented_bps").panels]
    assert titles == [f"leg {leg}, {title}" for leg in (0, 1) for title in (mean.title, most.title, busy.title)]


def test_effects_are_shares_and_levels(sweep: SweepResults) -> None:
    figure = describe("effects", [sweep])
    shares, levels = figure.panels
    # Means 1 2 4 and 3 6 12: of the sum of squares of 6 means, by hand: load 37 1/3, circuit 32 2/3, both 9 1/3.
    total = 112 + 98 + 28  # times the three replications
    noise = 6 * 0.02  # replications shift all points alike by -0.1, 0 and 0.1
    expected = np.array([112, 98, 28, noise, 0]) / (total + noise) * 100
    assert shares.series[0].x.tolist() == pytest.approx(expected.tolist(), abs=1e-6)
    terms = ["load", "circuit", "load × circuit", "replications", "error"]
    assert [label.split("  ")[0] for label in shares.y.levels] == terms
    assert shares.x.label == "share of variation [%]"
    assert levels.y.levels == ("load = 1", "load = 2", "load = 4", "circuit = cable", "circuit = satellite")
    load, circuit = levels.series
    assert load.x.tolist() == pytest.approx([2 - 14 / 3, 4 - 14 / 3, 8 - 14 / 3])
    assert circuit.x.tolist() == pytest.approx([7 / 3 - 14 / 3, 7 - 14 / 3])
    assert (levels.x.label, levels.references[0].along) == ("effect on mean latency [s]", "y")
    assert figure.caption.startswith("Most of the variation, 47.0 %, is due to load; < 0.1 % is chance.")


def test_effects_say_why_there_are_none(tmp_path: Path) -> None:
    design = design_of({"workload.load": LOADS}, 2)
    still = write_sweep(tmp_path / "still", design)
    with pytest.raises(ResultsError, match="no allocation of the variation of latency_mean_s: it does not vary"):
        describe("effects", [still])
    failed = write_sweep(tmp_path / "failed", design, metrics, failed={(0, 0): "no", (1, 1): "no"})
    with pytest.raises(ResultsError, match="of latency_mean_s: fewer than two seeds have a value at every point"):
        describe("effects", [failed])


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("latency-load", {"by": ["circui"]}, r"no factor 'circui'; circuit\?; factors: workload\.load, circuit"),
        ("latency-load", {"x": "presentd_bps"}, r"no factor 'presentd_bps'; .* as a metric, .*; presented_bps\?"),
        ("latency-load", {"metric": "latency_p91_s"}, r"latency_p91_s: no such metric; latency_p9\d_s\?"),
        ("latency-load", {"metric": "link_7_up_bps"}, "its runs have no link_7_up_bps"),
        ("cdf", {"where": {"oad": "1"}}, r"no factor 'oad'"),
        ("latency-load", {"by": ["circuit"], "x": "circuit"}, "circuit is on the horizontal axis already"),
        ("latency-load", {"where": {"workload.load": "1"}}, r"no factor with numbers varies.*--x: circuit"),
        ("effects", {"by": ["circuit"]}, "plot effects has no option by"),
        ("effects", {"metric": "latency"}, "latency: no such metric"),
    ],
)
def test_mistakes_name_what_there_is(sweep: SweepResults, name: str, options: Any, message: str) -> None:
    with pytest.raises(FarwebError, match=message):
        describe(name, [sweep], **options)


def test_nothing_ended_well(tmp_path: Path) -> None:
    design = design_of({"workload.load": [1, 2]}, 1)
    sweep = write_sweep(tmp_path / "sweep", design, failed={(0, 0): "no", (1, 0): "no"})
    with pytest.raises(ResultsError, match="no run of these points is done"):
        describe("latency-load", [sweep])


def test_panels_are_made_by_the_factors_that_leave_few_enough_series(tmp_path: Path) -> None:
    nine = design_of({"workload.load": [1, 2], "a": [1, 2], "b": list("qrstuvwxy")}, 1)
    sweep = write_sweep(tmp_path / "nine", nine, metrics)
    figure = describe("latency-load", [sweep])
    assert [panel.title for panel in figure.panels] == list("qrstuvwxy")
    assert (figure.legend, labels(figure)) == ("a", ["1", "2"])
