"""Many curves: no two look alike, and more than eight are small multiples, whatever the figure."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from farweb.comparison import compare
from farweb.comparison.figure import describe as describe_comparison
from farweb.library.sweep_results import SweepResults
from farweb.paint import style
from farweb.paint.figure import OTHERS, Axis, Figure, Panel, Series
from farweb.paint.multiples import PANELS_MAX, by_curve, with_others
from farweb.paint.names import entries
from farweb.plot import describe, draw
from farweb.report.words import at
from farweb.text.words import named
from sample_results import request, write_results
from sample_sweeps import Levels, design_of, write_sweep

VALUES = np.array([1.0, 2.0])
"""A curve for its look alone."""

CURVES = 24
"""Kinds of a sweep, as many as a factor has in practice."""

QUANTITIES = {"buffer": 4, "cache-size": 4, "connections": 3}
QUANTITIES |= dict.fromkeys(("latency-load", "carried-offered", "size-latency", "cdf"), 1)


def number_of(levels: Levels) -> int:
    return int(str(levels["carrier"]).split()[-1])


def metrics(levels: Levels, replication: int) -> dict[str, Any]:
    load, by = levels.get("workload.load", 1), 1 + number_of(levels)
    queues = {
        f"link_0_{way}_queue_bytes_{what}": 10.0 * load * by for way in ("up", "down") for what in ("mean", "max")
    }
    legs = {f"leg_0_{what}": float(load * by) for what in ("open_mean", "open_max", "busy_mean")}
    caches = {f"cache_0_{what}": 0.01 * by for what in ("hit_ratio", "byte_hit_ratio", "delayed_hit_ratio")}
    loads = {"offered_bps": load * 1e6, "carried_bps": load * 1e5 * by}
    return {"latency_mean_s": float(load * by), **loads, **queues, **legs, **caches}


def requests(levels: Levels, replication: int) -> list[Any]:
    return [request(n, 0.1 * (n + 1) * (1 + number_of(levels)), 1000 << n % 2) for n in range(24)]


@pytest.fixture(scope="module")
def sweeps(tmp_path_factory: pytest.TempPathFactory) -> dict[str, SweepResults]:
    """Twenty-four kinds against the load, against the capacity of a cache, and alone."""
    carriers = [f"carrier {number}" for number in range(CURVES)]
    folder = tmp_path_factory.mktemp("kinds")
    along: dict[str, dict[str, list[Any]]] = {
        "load": {"workload.load": [1, 2]},
        "cache": {"cache.0.capacity": ["1 MB", "2 MB"]},
        "alone": {},
    }

    return {
        name: write_sweep(
            folder / name,
            design_of({**factors, "carrier": carriers}, 1),
            metrics,
            requests if name == "alone" else None,
            caches=[{"node": "server"}],
        )
        for name, factors in along.items()
    }


def drawn_of(name: str, sweeps: dict[str, SweepResults]) -> SweepResults:
    return sweeps[{"cache-size": "cache", "cdf": "alone", "size-latency": "alone"}.get(name, "load")]


def curves(panel: Panel) -> list[Series]:
    """Curves of a panel, without others behind them."""
    return [each for each in panel.series if each.form in ("points", "line", "steps") and each.index != OTHERS]


def look(series: Series) -> tuple[str, str, str]:
    found = style.series(series.index, series.shade)
    return found["color"], style.marker(series.index, series.shade), str(found["linestyle"])


def test_no_two_curves_share_colour_and_marker_or_colour_and_dash() -> None:
    looks = [look(Series(f"{number}", number, VALUES, VALUES)) for number in range(PANELS_MAX)]
    assert len({(colour, marker) for colour, marker, _ in looks}) == PANELS_MAX
    assert len({(colour, dash) for colour, _, dash in looks[:CURVES]}) == CURVES


@pytest.mark.parametrize("name", QUANTITIES)
def test_every_figure_of_a_sweep_has_a_panel_a_curve(name: str, sweeps: dict[str, SweepResults]) -> None:
    figure, quantities = describe(name, [drawn_of(name, sweeps)]), QUANTITIES[name]
    assert len(figure.panels) == CURVES * quantities
    assert [panel.title.split("\n")[0] for panel in figure.panels[::quantities]] == [
        f"carrier {number}" for number in range(CURVES)
    ]
    own = [curves(panel) for panel in figure.panels]
    assert {len(some) for some in own} == {1}
    pairs = [look(series)[:2] for (series,) in own[::quantities]]
    assert len(set(pairs)) == CURVES
    # Behind each the others of its quantity, pale and without names.
    pale = [[series for series in panel.series if series.index == OTHERS] for panel in figure.panels]
    assert {len(some) for some in pale} == {CURVES - 1}
    assert not any(series.label for some in pale for series in some)
    assert pale[quantities][0].y.tolist() == own[0][0].y.tolist()
    assert (
        figure.caption.endswith("Grey: the curves of the other panels.")
        and "A panel for each carrier." in figure.caption
    )


@pytest.mark.parametrize("name", [pytest.param("buffer", marks=pytest.mark.slow(reason="32 panels")), "latency-load"])
def test_panels_of_a_quantity_have_one_scale(name: str, sweeps: dict[str, SweepResults]) -> None:
    figure, quantities = describe(name, [sweeps["load"]]), QUANTITIES[name]
    chart = draw(name, [sweeps["load"]])
    for quantity in range(quantities):
        shown = chart.axes[quantity : len(figure.panels) : quantities]
        assert {(axes.get_xlim(), axes.get_ylim()) for axes in shown} == {(shown[0].get_xlim(), shown[0].get_ylim())}


def test_levels_of_a_number_that_have_a_panel_each_go_from_light_to_dark(tmp_path: Path) -> None:
    design = design_of({"workload.load": [1, 2], "carrier": list(range(12))}, 1)
    figure = describe("latency-load", [write_sweep(tmp_path / "s", design, metrics)])
    shades = [series.shade for panel in figure.panels for series in curves(panel)]
    assert shades == [number / 11 for number in range(12)]


def test_runs_have_a_panel_each_and_looks_of_their_own(tmp_path: Path) -> None:
    runs = [
        write_results(tmp_path / str(n), [request(k, 1 + n + k / 10, 1000) for k in range(20)], name=f"way {n}")
        for n in range(10)
    ]
    for name in ("cdf", "size-latency"):
        figure = describe(name, runs)
        assert [panel.title.partition(":")[0] for panel in figure.panels] == [f"{n}" for n in range(10)]
        assert len({look(curves(panel)[0])[:2] for panel in figure.panels}) == 10
        assert {[series.index for series in panel.series].count(OTHERS) for panel in figure.panels} == {9}
    compared = describe_comparison(compare(*runs))
    assert len(compared.panels) == 2 * 9
    few = [write_results(tmp_path / f"few {n}", [request(1, 1.0 + n, 1000)], name=f"way {n}") for n in range(10)]
    without = describe_comparison(compare(*few))
    assert (len(without.panels), without.columns) == (9, 3)  # too few requests for medians by size
    assert (compared.columns, compared.share_x, compared.share_y) == (2, "columns", "columns")
    assert compared.panels[0].title.startswith("1: ") and compared.panels[0].title.endswith("all requests")


def test_eight_curves_stay_in_one_panel_and_nine_do_not() -> None:
    assert len(by_curve(of_curves(8)).panels) == 1
    nine = by_curve(of_curves(9))
    assert [panel.title for panel in nine.panels] == [f"{number}" for number in range(9)]
    assert (nine.columns, nine.share_x, nine.share_y) == (3, True, True)


def of_curves(number: int) -> Figure:
    series = tuple(Series(f"{place}", place, VALUES, place + VALUES) for place in range(number))
    return Figure("t", "c", (Panel(Axis("x"), Axis("y"), series),))


def test_others_that_would_be_a_grey_area_are_left_out() -> None:
    def panels(each: int) -> Sequence[Panel]:
        series = tuple(Series("", place, VALUES, VALUES) for place in range(each))
        return [Panel(Axis("x"), Axis("y"), series)] * 4

    few, said = with_others(panels(9))
    assert (len(few[0].series), said) == (36, " Grey: the curves of the other panels.")
    assert with_others(panels(0))[1] == ""
    many, said = with_others(panels(10))
    assert (len(many[0].series), said) == (10, "")


def test_percentiles_have_the_marker_of_their_curve_and_the_legend_shows_it(sweeps: dict[str, SweepResults]) -> None:
    kinds = {"carrier": [f"carrier {number}" for number in range(7)]}
    chart = draw("cdf", [sweeps["alone"]], where=kinds)
    markers = [line.get_marker() for line in chart.axes[0].lines if line.get_marker() not in ("None", "")]
    assert markers == [style.marker(number) for number in range(7)]
    assert [entry.get_marker() for entry in entries(chart.description)] == markers


def test_a_level_that_begins_with_its_factors_name_says_it_once(tmp_path: Path) -> None:
    carriers = [f"Carrier {number}" for number in range(2)]
    design = design_of({"workload.load": [1, 2], "carrier": carriers}, 2)
    figure = describe("effects", [write_sweep(tmp_path / "s", design, metrics)])
    assert figure.panels[1].y.levels == ("load = 1", "load = 2", *carriers)
    assert at({"carrier": "carrier"}, [design.factors[1]], [design.factors[1].levels[1]]) == "Carrier 1"
    assert named("a", "auto") == "a auto"
