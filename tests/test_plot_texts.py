"""Texts of figures on paper: none overprints another, and none runs out of the figure."""

from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from farweb.paint.chart import Chart, look
from farweb.paint.figure import Axis, Figure, Panel, Series
from farweb.paint.letters import wrapped
from farweb.paint.paper import paint
from farweb.plot import draw
from sample_results import request, write_results
from test_plot_connection import packet


def long_connection(number: int, round_trips: int) -> list[Any]:
    """A connection that sends a segment a round trip of 20 ms; they grow longer, and numbers lie at odd places."""
    rows, at, seq = [packet(number, 1000, "client", "send", "up", flags="S")], 1050, 1
    for place in range(round_trips):
        rows.append(packet(number, at, "server", "send", "down", seq=seq, ack=1, payload_bytes=1000))
        at, seq = at + 20 + 7 * (place % 3), seq + 1000
        rows.append(packet(number, at, "server", "receive", "up", seq=1, ack=seq))
    return rows


def shown(texts: list[Text]) -> list[tuple[str, Bbox]]:
    return [(text.get_text(), text.get_window_extent()) for text in texts if text.get_visible() and text.get_text()]


def above(chart: Chart) -> list[tuple[str, Bbox]]:
    """Texts above the panels, once the figure is laid out: numbers of round trips, their name, and titles."""
    chart.draw_without_rendering()
    found = []
    for axes in chart.axes:
        for upper in axes.child_axes:
            found += shown(upper.get_xticklabels())
        found += shown([axes.title, axes._left_title, *axes.texts])  # type: ignore[attr-defined]
    return found


@pytest.mark.parametrize("name", ["timeseq", "cwnd"])
@pytest.mark.parametrize(("connections", "round_trips"), [(1, 3), (1, 150), (4, 60)])
def test_numbers_of_round_trips_do_not_overprint(tmp_path: Path, name: str, connections: int, round_trips: int) -> None:
    packets = [row for number in range(connections) for row in long_connection(number, round_trips)]
    results = write_results(tmp_path / "a", [request(0, 9.0, 3000)], packets=packets)
    chart = draw(name, [results], connection=list(range(connections)))
    texts = above(chart)
    numbers = [int(text) for text, _ in texts if text.isdigit()]
    assert numbers.count(1) == connections
    assert len(numbers) >= min(round_trips, 4) * connections
    over = [(one, other) for (one, a), (other, b) in combinations(texts, 2) if a.overlaps(b)]
    assert not over


def of_caption(caption: str, width: float) -> Figure:
    series = Series("a", 0, np.array([1.0, 2.0]), np.array([1.0, 2.0]))
    return Figure(
        caption[:150], caption, (Panel(Axis("x"), Axis("y"), (series,), title=caption[:60]),), size=(width, 4.0)
    )


CAPTIONS = {
    "digits": "n = 1,234,567,890,123 requests of 9,876,543,210,987; 0.000000001234 s to 88888.88888888 s. " * 5,
    "wide": "WWWWWWWW MMMMMMMMMMMM @@@@@@@ " * 20,
    "one word": "8" * 900,
    "usual": "Share of all requests whose last byte arrived within the time on the axis, with n = 1,000 requests. " * 4,
}


@pytest.mark.parametrize(("width", "dpi"), [(2.0, 100), (2.0, 160), (11.0, 100)])
@pytest.mark.parametrize("caption", CAPTIONS.values(), ids=CAPTIONS)
def test_title_and_caption_stay_within_the_figure(caption: str, width: float, dpi: int) -> None:
    with look():
        chart = paint(of_caption(caption, width))
        chart.set_dpi(dpi)
        chart.draw_without_rendering()
        for text in chart.texts:
            extent = text.get_window_extent()
            assert extent.x0 >= 0
            assert extent.x1 <= chart.bbox.width, text.get_gid()
    said = next(text.get_text() for text in chart.texts if text.get_gid() == "caption")
    assert "".join(said.split()) == "".join(caption.split())


def test_lines_are_as_long_as_their_place() -> None:
    with look():
        narrow, wide = ("i" * 9 + " ") * 40, ("W" * 9 + " ") * 40
        assert len(wrapped(narrow, 4.0, 8).splitlines()) * 2 < len(wrapped(wide, 4.0, 8).splitlines())
        assert wrapped("one\ntwo", 4.0, 8) == "one\ntwo"
        assert wrapped("", 4.0, 8) == ""


def test_a_figure_that_keeps_its_size_leaves_out_what_has_no_room() -> None:
    drawn = of_caption(CAPTIONS["usual"], 0)
    panels = (replace(drawn.panels[0], title=""),)
    for size, kept in (((3.3, 6.0), {"title", "caption"}), ((3.3, 1.6), {"title"}), ((3.3, 0.9), set())):
        with look():
            chart = paint(replace(drawn, panels=panels, title="Windows", size=size, exact=True))
            chart.draw_without_rendering()
        assert {text.get_gid() for text in chart.texts if text.get_text()} == kept
        (axes,) = chart.axes
        around = axes.get_tightbbox()
        assert around is not None and axes.bbox.height > 0.2 * chart.bbox.height
        assert not [text for text, box in shown(chart.texts) if box.overlaps(around)]
