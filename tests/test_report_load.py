"""Reports of page loads: onLoad and the winner first, a page's assumptions, bars that add up."""

from pathlib import Path

import pytest

from farweb.library.run_results import Results
from farweb.report import report
from farweb.report.load import lead, views_of
from hars import entry, har, written
from sample_reports import bare_figures
from samples import Farweb
from test_report import Outline

SCRIPT = {"response": {"content": {"mimeType": "text/javascript"}}}


@pytest.fixture
def loads(folder: Path, farweb: Farweb) -> list[Results]:
    """A page over two paths."""
    written(folder, har(entry(), entry("https://a.example/1.js", 70, **SCRIPT), creator="chrome-har", onload=160))
    for path in ("leo", "geo"):
        options = ("--path", path, "--protocol", "h2", "--proxy", "none", "-o", path)
        assert farweb("page", "page.har", *options).code == 0
    return [Results.open("geo"), Results.open("leo")]


def test_a_report_of_two_loads_begins_with_onload_and_the_winner(loads: list[Results]) -> None:
    with bare_figures():
        text = Outline(report(loads).html()).text
    assert "How long does the page take to load over “geo” and “leo”?" in text
    first = text[: text.index("Where the time to onLoad goes")]
    geo, leo = (view.load_ns / 1e9 for view in views_of(loads))
    assert f"leo is faster: {leo * 1000:.0f} ms to onLoad, {geo:.2f} s in geo" in first
    assert f" kB{geo:.2f}" in first  # requests, bytes and onLoad
    assert "requests take" not in text and "Half of" not in text


def test_assumptions_of_a_load_are_a_pages(loads: list[Results]) -> None:
    with bare_figures():
        text = Outline(report(loads[:1]).html()).text
    assert "onLoad after" in text[: text.index("Waterfall")]
    assert "A request is issued when what it waited for is there" in text
    assert "at the times of the request table" not in text and "Warm-up" not in text
    assert "Not modelled: reordering" in text and "shared media; pipelining, load on servers" in text


def test_bars_of_loads_add_up_to_onload(loads: list[Results]) -> None:
    views = views_of(loads)
    (panel,) = lead(loads, ["geo", "leo"], views).panels
    assert panel.y.levels[0].startswith("geo: ")
    assert sum(series.x for series in panel.series) == pytest.approx([view.load_ns / 1e9 for view in views])
    last = panel.series[-1]
    assert last.base is not None
    assert last.base + last.x == pytest.approx([view.load_ns / 1e9 for view in views])
    colours = [series.index for series in panel.series]
    assert len(set(colours)) == len(colours)
