"""The way into the figures: names, options, files."""

from pathlib import Path

import matplotlib as mpl
import pytest

from farweb.library.run_results import Results
from farweb.plot import draw
from sample_results import cache_interval, exchange, interval, leg, leg_interval, request, write_results
from test_plot_connection import connection


@pytest.fixture
def results(tmp_path: Path) -> Results:
    return write_results(
        tmp_path / "results",
        [request(3, 1.0, 3000), request(5, 2.0, 10_000, connection=3)],
        links=[interval(0, way, second, bytes=1000) for way in ("up", "down") for second in range(5)],
        packets=connection(3),
        legs=[leg_interval(0, second) for second in range(5)],
        exchanges=[exchange(3), exchange(5)],
        caches=[cache_interval("server", second, requests=4, hits=second) for second in range(5)],
        scenario=[leg()],
    )


def test_a_figure_leaves_the_global_state_alone(tmp_path: Path, results: Results) -> None:
    with mpl.rc_context({"font.size": 30}):
        before = dict(mpl.rcParams)
        draw("cdf", [results], tmp_path / "figure.png")
        assert dict(mpl.rcParams) == before


def test_settings_of_the_user_do_not_change_a_figure(tmp_path: Path, results: Results) -> None:
    draw("cdf", [results], tmp_path / "one.png")
    with mpl.rc_context({"axes.facecolor": "red", "font.size": 30, "savefig.dpi": 30}):
        draw("cdf", [results], tmp_path / "two.png")
    assert (tmp_path / "one.png").read_bytes() == (tmp_path / "two.png").read_bytes()


def test_methods_of_a_result_draw_the_same(results: Results) -> None:
    plots = results.plot
    drawn = [plots.size_latency(), plots.cdf(results), plots.link(0), plots.timeseq(3), plots.cwnd()]
    drawn += [plots.connections(), plots.breakdown(results)]
    titles = [chart.texts[0].get_text() for chart in drawn]
    assert titles == [
        "Latency by response size",
        "Distribution of latency",
        "Link 0 over time – results",
        "Time–sequence of connection 3 – results",
        "Windows of connection 3 – results",
        "Connections over time – results",
        "Where the time goes",
    ]
    assert drawn[0]._repr_png_().startswith(b"\x89PNG")
