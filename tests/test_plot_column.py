"""Figures at the width of a column of a paper: nothing on another thing, and words about what has no room."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from farweb.library.sweep_results import SweepResults
from farweb.paint.figure import Figure
from farweb.paint.marks import Ends
from farweb.paint.paper import paint
from farweb.paint.presentation import Presentation
from farweb.plot import describe, waterfall
from farweb.results.run import RunTables
from legible import flaws
from sample_results import interval, leg, leg_interval, request, write_results
from sample_sweeps import Levels, design_of, write_sweep
from test_plot_connection import connection, packet
from test_waterfall import request as page_request
from test_waterfall import view

COLUMN = Presentation(width=8.5 / 2.54, height=6 / 2.54)


def run_of(path: Path, **tables: Any) -> list[RunTables]:
    """A run of ten requests of sizes and latencies that differ, or of those given."""
    rows = [request(n, 0.3 * 1.3**n, 500 * 2**n) for n in range(10)]
    return [write_results(path, **{"requests": rows, **tables})]


def pages(path: Path, requests: int) -> Figure:
    """A page as recorded and as loaded, as `figures.waterfall` has it."""
    load = view(page_request(0), *(page_request(n, str(n // 3), 40 * n) for n in range(1, requests)))
    numbers = waterfall.shown(load)
    above = replace(waterfall.panel(load.recorded, numbers, "as recorded"), is_spare=True)
    return Figure(
        "Waterfall",
        str(path),
        (above, waterfall.panel(load, numbers, "as loaded")),
        size=(9, 2.6 + 2 * waterfall.height(requests)),
    )


def link(path: Path) -> Figure:
    rows = [interval(0, way, second, bytes=1000) for way in ("up", "down") for second in range(3)]
    return describe("link", run_of(path, links=rows))


def connections(path: Path) -> Figure:
    rows = [leg_interval(at, second, open_mean=3.2, open_max=4) for at in (0, 1) for second in range(9)]
    return describe("connections", run_of(path, legs=rows, scenario=[leg(), leg()]))


def lossy(path: Path) -> Figure:
    later = packet(3, 7000, "server", "send", "down", seq=3001, ack=301, payload_bytes=10)
    packets = [*connection(3, start_ms=3000), later]
    return describe("timeseq", run_of(path, requests=[request(3, 1.0, 3000)], packets=packets))


def alike(path: Path) -> list[RunTables]:
    """Requests of one size whose latencies differ by a hundredth."""
    return run_of(path, requests=[request(n, 0.447 + n / 20_000, 8000) for n in range(60)])


def loads(path: Path) -> list[SweepResults]:
    """Six curves over four loads."""

    def values(levels: Levels, replication: int) -> dict[str, Any]:
        load = levels["workload.load"]
        return {"offered_bps": load * 1e6, "latency_mean_s": load + 0.1 * replication}

    design = design_of({"workload.load": [1, 2, 3, 4], "circuit": ["a", "b"], "profile": ["x", "y", "z"]}, 3)
    return [write_sweep(path, design, values, lambda *_: [request(n, 1 + n / 9, 1000) for n in range(12)])]


SMALL: dict[str, Callable[[Path], Figure]] = {
    "waterfall of 22": lambda path: pages(path, 22),
    "size-latency of one size": lambda path: describe("size-latency", alike(path)),
    "cdf of like latencies": lambda path: describe("cdf", alike(path)),
    "cdf of a sweep": lambda path: describe("cdf", loads(path)),
    "buffer": lambda path: describe("buffer", loads(path)),
    "link": link,
    "connections": connections,
    "timeseq with a loss": lossy,
}


@pytest.mark.parametrize("name", SMALL)
def test_a_figure_in_a_column_can_be_read(tmp_path: Path, name: str) -> None:
    chart = paint(COLUMN.of(SMALL[name](tmp_path / "of")))
    assert chart.get_size_inches() == pytest.approx(COLUMN.of(chart.description).size)
    assert chart.axes[0].xaxis.label.get_fontsize() == pytest.approx(0.7 * 9.5)
    assert flaws(chart) == []


def test_a_column_says_what_it_has_no_room_for(tmp_path: Path) -> None:
    whole = pages(tmp_path, 60)
    chart = paint(COLUMN.of(whole))
    assert flaws(chart) == []
    *others, rows = chart.left_out
    found = re.fullmatch(r"(\d+) of 60 rows", rows)
    assert others == ["caption", "title", "1 of 2 panels"] and found
    assert 30 < int(found[1]) < 50
    assert chart.shortage == f"no room for caption, title, 1 of 2 panels and {rows}"
    (axes,) = chart.axes
    assert axes.get_ylabel().replace("\n", " ") == f"{60 - int(found[1])} of 60 drawn"
    # The critical path is there, and all numbers are behind the figure.
    critical = next(series for series in whole.panels[1].series if series.label == "critical path")
    assert len([patch for patch in axes.patches if patch.get_gid() == "critical path"]) == len(critical.x)
    assert [len(panel.y.levels) for panel in chart.description.panels] == [60, 60]
    assert paint(COLUMN.of(lossy(tmp_path / "loss"))).left_out == ["caption", "title", "the first loss"]


def test_a_figure_of_a_columns_width_is_as_high_as_its_rows(tmp_path: Path) -> None:
    chart = paint(Presentation(width=8.5 / 2.54).of(pages(tmp_path, 30)))
    assert (flaws(chart), chart.left_out) == ([], [])
    assert chart.get_size_inches()[1] > 5
    wide = describe("cdf", alike(tmp_path / "of"))
    assert Presentation(width=4.0).of(wide).size == pytest.approx((4.0, 1.4 + 0.5 * (wide.size[1] - 1.4)))


def test_marks_of_little_room_are_the_ends(tmp_path: Path) -> None:
    """Of given marks the ends stay, of a tiny axis the round numbers nearest to them."""
    shares = [paint(replace(describe("cdf", alike(tmp_path / str(n))), size=(4, n), exact=True)) for n in (6, 1.8)]
    seen = [[round(float(mark), 2) for mark in chart.axes[0].get_yticks()] for chart in shares]
    assert seen[0] == [0, 0.25, 0.5, 0.75, 0.9, 1]
    assert seen[1] == [0, 0.25, 0.5, 0.75, 1]
    assert [*Ends().tick_values(0, 0.0498)] == pytest.approx([0, 0.04])
    assert [*Ends().tick_values(0.447, 0.451)] == pytest.approx([0.447, 0.451])
