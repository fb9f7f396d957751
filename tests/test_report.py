"""The report: whole, self-contained, and with the right numbers."""

import base64
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from farweb.plot import draw
from farweb.report import Report, latency_sheet
from farweb.scenario import Check
from sample_results import request, write_results

VOID = {"meta", "img", "br", "hr", "link", "input"}


class Outline(HTMLParser):
    """Checks that elements nest, and keeps their attributes and the text."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.fixture
def report(tmp_path: Path) -> Report:
    rows = [request(place, 0.1 * place, 1000) for place in range(1, 10)]
    lost = request(20, 9.0, 1, status="failed", end_ns=None, first_byte_ns=None)
    cable = write_results(tmp_path / "cable", [*rows, lost], name="cable <b>")
    satellite = write_results(tmp_path / "satellite", [request(1, 2.0, 1000)], name="satellite")
    figures = {"name": "a path", "text": "a path\n\nclient --- server\n 60 ms & more\n", "warnings": ["MSS < 536"]}
    check = Check(figures, {})
    return Report(
        "A title <b> & more", "A lead.", [cable, satellite], [check, check], [draw("cdf", [cable, satellite])]
    )


def test_the_table_has_the_numbers_of_each_run(report: Report) -> None:
    sheet = latency_sheet(report.results)
    # Nine latencies 0.1 … 0.9 s: the median 0.5, the 90 % quantile between the 8th and 9th (rank 7.2 of 0 … 8).
    assert sheet.rows[0] == ["cable <b>", "9", "1", "500 ms", "820 ms", "892 ms", "500 ms", "250 ms"]
    assert sheet.rows[1] == ["satellite", "1", "0", "2 s", "2 s", "2 s", "2 s", "1 s"]


def test_the_page_is_well_formed_and_needs_nothing_else(tmp_path: Path, report: Report) -> None:
    report.write(tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text("utf-8")
    outline = Outline()
    outline.feed(page)
    outline.close()
    assert outline.open == []
    assert "http://" not in page
    assert "https://" not in page
    linked = [value for tag, name, value in outline.attributes if name in ("src", "href", "srcset", "data")]
    assert len(linked) == 1
    assert all(value and value.startswith("data:image/png;base64,") for value in linked)
    assert not re.search(r"<script|@import|url\(", page)
    assert "default-src 'none'" in page


def test_the_page_holds_table_figure_paths_and_manifests(report: Report) -> None:
    outline = Outline()
    page = report.html()
    outline.feed(page)
    for word in ("A title <b> & more", "A lead.", "cable <b>", "820 ms", "60 ms & more", "MSS < 536", '"farweb run"'):
        assert word in outline.text
    assert "a path" not in outline.text  # the heading has the run's name; the drawing begins below it
    assert "<pre>client --- server" in page
    (image,) = [str(value) for tag, name, value in outline.attributes if (tag, name) == ("img", "src")]
    assert base64.b64decode(image.partition(",")[2]).startswith(b"\x89PNG")
    (words,) = [str(value) for tag, name, value in outline.attributes if (tag, name) == ("img", "alt")]
    assert words.startswith("Distribution of latency. Share of requests")


def test_what_ran_tells_how_to_run_it_again(report: Report) -> None:
    row = "<tr><td>satellite</td><td>0.1.0</td><td>1</td><td>60 s</td><td>500</td><td>100 ms</td></tr>"
    assert row in report.html()


def test_the_same_results_give_the_same_page(report: Report) -> None:
    assert report.html() == report.html()
