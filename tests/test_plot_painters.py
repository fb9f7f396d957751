"""The painter of figures and their page: every figure is painted, shows its values, and gives the same bytes again."""

import html
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from farweb.library.run_results import Results
from farweb.library.sweep_results import SweepResults
from farweb.pages.tables import page_rows
from farweb.paint.chart import encode, look, save
from farweb.paint.figure import Axis, Density, Figure, Panel, Reference, Series
from farweb.paint.paper import paint
from farweb.plot import FIGURES, describe, draw
from farweb.results.tables import PAGE, PAGE_SCHEMA
from hars import entry, har
from hars import page_of as page_of_har
from sample_results import cache_interval, exchange, interval, leg, leg_interval, request, write_results
from sample_sweeps import Levels, design_of, factor, write_sweep
from test_plot_connection import connection


def metrics(levels: Levels, replication: int) -> dict[str, Any]:
    load = levels["workload.load"]
    loads = {"latency_mean_s": load + 0.1 * replication, "offered_bps": load * 1e6, "carried_bps": load * 1.1e6}
    held = {"leg_0_open_mean": float(load), "leg_0_open_max": 2 * load}
    return {**loads, "link_0_down_queue_bytes_max": 1000 * load, **held}


def requests(levels: Levels, replication: int) -> list[Any]:
    return [request(n, 0.1 * levels["workload.load"] + 0.01 * n + 0.001 * replication, 1000 + n) for n in range(12)]


@pytest.fixture(scope="module")
def sweep(tmp_path_factory: pytest.TempPathFactory) -> SweepResults:
    design = design_of({"workload.load": [1, 2, 4], "circuit": ["cable", "satellite & more"]}, 3)
    return write_sweep(tmp_path_factory.mktemp("sweep") / "sweep", design, metrics, requests, name="a <sweep>")


@pytest.fixture(scope="module")
def capacities(tmp_path_factory: pytest.TempPathFactory) -> SweepResults:
    """A sweep of the size of a cache."""
    shares = {f"cache_0_{what}": 0.1 for what in ("hit_ratio", "byte_hit_ratio", "delayed_hit_ratio")}
    folder = tmp_path_factory.mktemp("capacities") / "sweep"
    design = design_of({"cache.0.capacity": ["1 MB", "2 MB"]}, 2)
    return write_sweep(folder, design, lambda levels, replication: shares, caches=[{"node": "server"}])


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Results:
    links = [interval(0, way, second, bytes=1000) for way in ("up", "down") for second in range(3)]
    caches = [cache_interval("server", second, requests=4, hits=second) for second in range(3)]
    tables: Any = {"links": links, "exchanges": [exchange(1)], "caches": caches, "scenario": [leg()]}
    tables |= {"packets": connection(1), "legs": [leg_interval(0, second) for second in range(3)]}
    run = write_results(tmp_path_factory.mktemp("run") / "run", [request(1, 1.0, 3000, connect_ns=10)], **tables)
    (row,) = page_rows("a", page_of_har(tmp_path_factory.mktemp("har"), har(entry())))
    pq.write_table(pa.Table.from_pylist([row], PAGE_SCHEMA), run.path / f"{PAGE}.parquet")
    return run


STARTS = {"html": b"<!doctype html>", "png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


@pytest.mark.parametrize(("name", "of"), [(name, form.of) for name, kind in FIGURES.items() for form in kind.forms])
def test_every_figure_is_painted_and_has_a_page(
    tmp_path: Path, run: Results, sweep: SweepResults, capacities: SweepResults, name: str, of: str
) -> None:
    results = run if of != "sweep" else capacities if name == "cache-size" else sweep
    chart = draw(name, [results])
    for suffix in ("html", "svg"):
        save(chart, tmp_path / f"figure.{suffix}")
        assert (tmp_path / f"figure.{suffix}").read_bytes().startswith(STARTS[suffix])


@pytest.mark.parametrize("suffix", STARTS)
def test_a_figure_has_the_same_bytes_in_each_format(tmp_path: Path, sweep: SweepResults, suffix: str) -> None:
    files = [tmp_path / f"{number}.{suffix}" for number in range(2)]
    for file in files:
        draw("latency-load", [sweep], file)
    one, other = (file.read_bytes() for file in files)
    assert one == other and one.startswith(STARTS[suffix])


def spots(page: str) -> list[tuple[float, float, str]]:
    """Place and words of each value under the pointer."""
    found = re.findall(r'<circle cx="([\d.-]+)" cy="([\d.-]+)" r="4"><title>(.*?)</title>', page, re.DOTALL)
    return [(float(across), float(up), html.unescape(said)) for across, up, said in found]


def test_values_stand_in_the_unit_of_the_axis_and_under_the_pointer(sweep: SweepResults) -> None:
    figure = describe("latency-load", [sweep], metric="carried_bps")
    (panel,) = figure.panels
    assert (panel.x.read_in, panel.y.read_in) == ("Mbit/s", "Mbit/s")
    chart = draw("latency-load", [sweep], metric="carried_bps")
    (axes,) = chart.axes
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("offered load [Mbit/s]", "throughput, link 0 down [Mbit/s]")
    assert [np.asarray(line.get_ydata()).tolist() for line in axes.lines] == [[1.1, 2.2, 4.4]] * 2
    assert [np.asarray(line.get_xdata()).tolist() for line in axes.lines] == [[1, 2, 4]] * 2
    assert [text.get_text() for text in chart.legends[0].get_texts()] == ["cable", "satellite & more"]

    shown = spots(chart.html())
    assert [said.split("\n")[0] for _, _, said in shown] == ["cable"] * 3 + ["satellite & more"] * 3
    assert shown[1][2].split("\n") == [
        "cable",
        "offered load: 2 Mbit/s",
        "throughput, link 0 down: 2.2 Mbit/s",
        "95 %: 2.2 Mbit/s to 2.2 Mbit/s",
        "n = 3 replications",
    ]


def test_the_pointer_finds_each_value_where_it_is_painted() -> None:
    """Axes over the whole of 4 by 3 inches: a quarter across is 72 points, half up 108."""
    x, y = Axis("x", "B").fitted([4000.0]), Axis("y", "s", scale="log")
    series = Series("a", 0, np.array([1000.0, 3000.0, 9000.0]), np.array([0.1, 1.0, 1.0]))
    chart = paint(Figure("t", "c", (Panel(x, y, (series,)),), size=(4.0, 3.0), exact=True))
    (axes,) = chart.axes
    chart.set_layout_engine(None)
    axes.set_position((0, 0, 1, 1))
    axes.set(xlim=(0, 4), ylim=(0.01, 1.0))
    assert spots(chart.html()) == [(72.0, 108.0, "a\nx: 1 kB\ny: 0.1 s"), (216.0, 0.0, "a\nx: 3 kB\ny: 1 s")]


def test_the_page_says_what_the_paper_says_and_refers_to_nothing_outside(sweep: SweepResults) -> None:
    chart = draw("latency-load", [sweep])
    page = chart.html()
    assert f"<title>{html.escape(chart.description.title)}</title>" in page and "a &lt;sweep&gt;</title>" in page
    assert f'{chart.description.caption}"' in page
    assert "default-src 'none'" in page
    assert not re.search(r"<(script|link|img|iframe)[^>]*\b(src|href)=", page)
    assert len(re.findall(r'(?:href|src)="(?!#|data:)', page)) == 0


def test_a_series_of_any_length_has_so_many_values_under_the_pointer() -> None:
    values = np.arange(100_000.0)
    chart = paint(Figure("t", "c", (Panel(Axis("x"), Axis("y"), (Series("", 0, values, values, "line"),)),)))
    shown = spots(chart.html())
    assert len(shown) == 400
    assert (shown[0][2], shown[-1][2]) == ("x: 0\ny: 0", "x: 99999\ny: 99999")


def test_a_page_of_many_packets_is_below_a_megabyte_and_its_paper_has_lines() -> None:
    times = np.arange(12_000.0)
    series = (
        Series("segment", 0, times, times, "spans", low=times, high=times + 1),
        Series("acknowledged", 1, times, np.sin(times), "steps"),
        Series("dropped", 2, times, times, "signs", sign="x"),
    )
    chart = paint(Figure("t", "c", (Panel(Axis("x"), Axis("y"), series),)))
    lines = encode(chart, "svg")
    page = chart.html()
    assert len(page) < 1_000_000 < len(lines) and "data:image/png" in page
    assert encode(chart, "svg") == lines


def test_cells_of_a_density_say_their_count() -> None:
    edges = np.array([0.0, 1.0, 2.0])
    density = Density(edges, edges, np.array([[0, 7], [0, 0]]), "packets")
    series = Series("", 0, np.array([0.0, 2.0]), np.array([0.0, 2.0]), "line")
    page = paint(Figure("t", "c", (Panel(Axis("x"), Axis("y"), (series,), density=density),))).html()
    assert re.findall(r"<rect [^>]*><title>(.*?)</title>", page) == ["7 packets"]


def test_a_bar_on_another_tells_its_length_and_not_its_end() -> None:
    x, y = Axis("time", "s").fitted([3.0]), Axis("run", scale="category", levels=("one",))
    series = Series("wait", 0, np.array([1.0]), np.array([0.0]), "bars", base=np.array([2.0]))
    assert [said for _, _, said in spots(paint(Figure("t", "c", (Panel(x, y, (series,)),))).html())] == [
        "wait\ntime: 1 s\none"
    ]


def test_panels_without_room_are_not_under_the_pointer() -> None:
    """Of two panels in half an inch the spare one goes, and so do its values."""
    series = [Series(name, 0, np.array([0.0, 1.0]), np.array([0.0, 1.0])) for name in ("spare", "kept")]
    panels = [Panel(Axis("x"), Axis("y"), (each,), is_spare=each.label == "spare") for each in series]
    chart = paint(Figure("", "", tuple(panels), size=(3.0, 0.9), exact=True))
    assert [said.split("\n")[0] for _, _, said in spots(chart.html())] == ["kept", "kept"]


def test_places_of_axes_are_rounded_in_files_and_the_layout_stays(sweep: SweepResults) -> None:
    chart = draw("buffer", [sweep])
    engine = chart.get_layout_engine()
    encode(chart, "svg")
    sides = [side for axes in chart.axes for side in axes.get_position(original=True).bounds]
    assert all(abs(side - round(side, 4)) < 1e-12 for side in sides)
    assert chart.get_layout_engine() is engine


def test_no_mark_of_a_logarithmic_axis_is_a_formula() -> None:
    """Sizes within a decade: marks between powers of ten would have labels of their own."""
    x, y = Axis("response size", "B", scale="log").fitted([2000.0, 9000.0]), Axis("latency", "s", scale="log")
    figure = Figure("t", "c", (Panel(x, y, (Series("a", 0, np.array([2000.0, 9000.0]), np.array([1.0, 2.0])),)),))
    with look():
        chart = paint(figure)
        chart.canvas.draw()
        axes = chart.axes[0]
        marks = [mark for of in (axes.xaxis, axes.yaxis) for mark in of.get_ticklabels(which="both")]
        labels = {mark.get_text() for mark in marks}
    assert not [label for label in labels if "$" in label]
    assert {"2 kB", "5 kB"} <= labels


def test_styles_differ_in_grey_too(sweep: SweepResults) -> None:
    one, two = draw("latency-load", [sweep]).axes[0].lines
    assert one.get_color() != two.get_color()
    assert one.get_linestyle() != two.get_linestyle()
    assert one.get_marker() != two.get_marker()


def test_an_interval_is_a_band_or_bars(sweep: SweepResults) -> None:
    (axes,) = draw("latency-load", [sweep]).axes
    band = axes.collections[0].get_paths()[0].vertices
    mean, half = 1.1, 4.302653 * 0.1 / 3**0.5  # of 1.0, 1.1 and 1.2: t for 2 degrees of freedom
    assert np.asarray(band)[:, 1].max() > mean
    assert sorted(set(np.asarray(band)[np.asarray(band)[:, 0] == 1][:, 1].round(4)))[:2] == pytest.approx(
        [mean - half, mean + half], abs=1e-3
    )
    (axes,) = draw("latency-load", [sweep], x="circuit", where={"workload.load": "1"}).axes
    assert len(axes.collections) == 1  # bars of one series
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["cable", "satellite & more"]


@pytest.mark.parametrize("name", ["latency-load", "buffer", "effects"])
def test_names_of_any_length_leave_room_for_the_data(tmp_path: Path, name: str) -> None:
    long = "x" * 70
    design = design_of([factor("workload.load", [1, 2]), factor(f"a.{long}", [f"{n} {long}" for n in range(4)])], 1)
    sweep = write_sweep(tmp_path / "sweep", design, metrics, requests)
    chart = draw(name, [sweep])
    with look():
        chart.draw_without_rendering()  # lays it out, and warns when there is no room
    assert all(axes.get_position().width > 0.1 for axes in chart.axes)


def test_a_long_legend_does_not_take_the_room_of_the_axes(tmp_path: Path) -> None:
    def height(series: int) -> float:
        design = design_of({"workload.load": [1, 2], "circuit": [f"level {n}" for n in range(series)]}, 1)
        sweep = write_sweep(tmp_path / str(series), design, metrics, requests)
        chart = draw("latency-load", [sweep])
        with look():
            chart.draw_without_rendering()
        assert chart.legends[0].get_window_extent().height < 0.4 * chart.bbox.height
        return float(chart.axes[0].get_window_extent().height)

    assert height(8) > 0.93 * height(2)


@pytest.mark.parametrize(
    ("unit", "values", "label"),
    [
        ("bit/s", [0, 2.5e6], "q [Mbit/s]"),
        ("bit/s", [999], "q [bit/s]"),
        ("B", [1000.0], "q [kB]"),
        ("s", [0.25], "q [ms]"),
        ("s", [2e-6], "q [µs]"),
        ("s", [3600], "q [s]"),
        ("s", [float("nan"), 0], "q [s]"),
        ("%", [5000], "q [%]"),
        ("", [5000], "q"),
        ("B", [], "q [B]"),
    ],
)
def test_an_axis_reads_in_the_prefix_of_its_largest_value(unit: str, values: list[float], label: str) -> None:
    assert Axis("q", unit).fitted(values).label == label


def test_lines_to_compare_with_keep_to_their_axis() -> None:
    x, y = Axis("x", "B").fitted([4000.0]), Axis("y", "B").fitted([9000.0])
    series = Series("a", 0, np.array([1000.0, 4000.0]), np.array([1.0, 9000.0]))
    lines = (Reference("limit", 8000), Reference("then", 2000, along="y"), Reference("same", along="identity"))
    figure = Figure("t", "c", (Panel(x, y, (series,), lines),))
    with look():
        chart = paint(figure)
    drawn = {
        line.get_gid(): [np.asarray(line.get_xdata()).tolist(), np.asarray(line.get_ydata()).tolist()]
        for line in chart.axes[0].lines
    }
    assert drawn["limit"][1] == [8, 8]
    assert drawn["then"][0] == [2, 2]
    assert drawn["same"] == [[0, 4], [0, 4]]
    assert [text.get_text() for text in chart.legends[0].get_texts()] == ["a", "limit", "then", "same"]
