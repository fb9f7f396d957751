"""Waterfalls of pages: bars at their times, the critical path, cuts in long ones, and hostile names."""

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from farweb.paint.figure import Panel, Series
from farweb.plot import waterfall
from farweb.views.page_load import View, Viewed
from hars import entry, har, written
from samples import Farweb

MS = 1_000_000


def request(number: int, parent: str = "", at_ms: int = 0, gates: bool = True) -> Viewed:
    """Of 100 ms, 20 to get a connection and 60 to the first byte; recorded in a tenth of all times."""
    issue, connect, first, end = ((at_ms + span) * MS for span in (0, 20, 60, 100))
    name, kind = f"https://a.example/{number}.js", "script" if number else "html"
    parents = ((int(parent), "end"),) if parent else ()
    recorded = (issue / MS / 10_000, connect / MS / 10_000, first / MS / 10_000, end / MS / 10_000)
    sizes, times = (0, 400, 1000), (issue, connect, first, end)
    return Viewed(number, name, "a.example", kind, "GET", "h2", parents, "initiator", gates, *sizes, recorded, *times)


def view(*requests: Viewed) -> View:
    return View("a.example", requests, 10 * MS)


def drawn(panel: Panel, label: str) -> Series:
    return next(series for series in panel.series if series.label == label)


def test_bars_stand_where_requests_were() -> None:
    load = view(request(0), request(1, "0", 130), request(2, "0", 120))
    panel = waterfall.panel(load, [0, 1, 2], "as loaded")
    scripts, waiting, outlined = (drawn(panel, label) for label in ("script", "waiting, connecting", "critical path"))
    assert scripts.base is not None
    assert np.allclose(scripts.base, [0.15, 0.14])
    assert np.allclose(scripts.x, 0.08)
    assert np.allclose(waiting.x, 0.02)
    assert outlined.y.tolist() == [0, 1]
    assert [reference.at for reference in panel.references] == [0.24]
    assert panel.title == "as loaded: onLoad after 240 ms"
    assert drawn(waterfall.panel(load.recorded, [0], ""), "HTML").x.tolist() == pytest.approx([0.008])


def test_of_many_requests_the_critical_path_and_the_longest_are_drawn() -> None:
    others = [request(number, "0", 100) for number in range(2, 90)]
    long = replace(others[40], end_ns=180 * MS, gates=False)
    late = request(90, "0", 5_000, gates=False)
    load = view(
        request(0), request(1, "0", 500), *others[:40], replace(long, end_ns=others[40].end_ns + 1), *others[41:], late
    )
    numbers = waterfall.shown(load)
    assert len(numbers) == 22
    assert {0, 1, long.number} <= set(numbers)
    assert waterfall.counted(load).endswith(" 69 of them are not drawn: shorter ones, or issued after onLoad.")
    few = view(request(0), request(1, "0", 120), late)
    assert waterfall.shown(replace(few, requests=[*few.requests[:2], replace(late, number=2)])) == [0, 1]


HOSTILE = 'https://a.example/<img src=x>&"\u202e\x1b]0;x\x07 $x^$.js'


def test_names_from_a_har_stay_text(folder: Path, farweb: Farweb) -> None:
    """In SVG, HTML and on a terminal."""
    script = {"response": {"content": {"mimeType": "text/javascript"}}}
    written(folder, har(entry(), entry(HOSTILE, 70, **script), creator="chrome-har", onload=160))
    one = ("--path", "leo", "--protocol", "h1", "--proxy", "none")
    screen = farweb("page", "page.har", *one, "--breakdown", "-o", "run")
    assert screen.code == 0
    assert "\x1b" not in screen.out + screen.err
    for command in (("plot", "waterfall", "run"), ("workload", "stats", "page.har")):
        for file in ("w.svg", "w.html", "w.png"):
            assert farweb(*command, "-o", file, "--force").code == 0
        words = " ".join(ElementTree.parse(folder / "w.svg").getroot().itertext())
        assert "\u202e" not in words and "\x1b" not in words
        assert "<img src=x>" in words
        assert "<img src" not in (folder / "w.html").read_text()
    assert farweb("report", "run").code == 0
    page = (folder / "run/report.html").read_text()
    assert "<img src" not in page and "\x1b" not in page
    assert "a.example/&lt;img" in page


def test_a_run_of_no_page_is_refused(farweb: Farweb, cable: Path) -> None:
    farweb("run", cable, "-o", "run")
    refused = farweb("plot", "waterfall", "run")
    assert refused.code == 2
    assert refused.err == "farweb: run: is not of a page; farweb page FILE.har -o RESULTS writes such results\n"
