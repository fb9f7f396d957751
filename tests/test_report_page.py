"""The page as a file: it needs nothing but itself, is small, and leaves out empty sections."""

import base64
import json
import re
from pathlib import Path
from typing import Any

import pytest

from farweb import _core
from farweb.library.scenario import Scenario
from farweb.paint.document import Page, bullets, paragraph, section, table, text_of
from farweb.report import report
from farweb.report.sections import first_screen
from farweb.text.sheet import Sheet
from sample_reports import with_scenarios
from sample_sweeps import design_of, write_sweep
from test_report import Outline
from test_report_sweeps import BUFFER, LOAD, QUEUE, circuits, quick


def test_a_page_needs_nothing_but_itself(cable: Path) -> None:
    results = Scenario.load(cable, {"record.links_every": "1 s"}).run(out="cable")
    page = report([results]).html()
    outline = Outline(page)
    assert "http://" not in page
    assert "https://" not in page
    linked = [value for tag, name, value in outline.attributes if name in ("src", "href", "srcset", "data")]
    assert [str(value).partition(";")[0] for value in linked] == ["data:image/png"] * 6 + ["data:text/plain"] * 2
    assert base64.b64decode(str(linked[0]).partition(",")[2]).startswith(b"\x89PNG")
    assert not re.search(r"<script|@import|url\(", page)
    assert "default-src 'none'" in page
    written = base64.b64decode(str(linked[6]).partition(",")[2]).decode()
    assert json.loads(_core.Scenario.parse(written, "written", {}).effective()) == results.manifest["scenario"]
    assert not [name for _, name, _ in outline.attributes if name.startswith("on")]


@pytest.mark.slow(reason="480 runs")
def test_the_page_of_a_large_sweep_is_small(tmp_path: Path) -> None:
    queues = [f"{size}000 B" for size in (32, 128, 256)]
    buffers = ["8760 B", "16384 B", "32767 B", "65535 B"]
    factors: dict[str, list[Any]] = {"circuit": ["cable", "satellite"], LOAD: [1, 2, 4, 8], QUEUE: queues}
    factors[BUFFER] = buffers
    sweep = with_scenarios(write_sweep(tmp_path / "sweep", design_of(factors, 5), quick), circuits)
    assert len(sweep.runs) == 480
    assert len(report([sweep], metrics=["latency_mean_s"]).html().encode()) < 3_000_000


def test_numbers_of_wide_tables_have_their_heads_with_them() -> None:
    """A phone has no columns for them."""
    wide = table(Sheet("", ["s", "mean", "max", "", "n"], [["all", "1", "<2>", "better", "3"]]))
    assert 'class="scrolls wide"' in wide
    assert '<td data-head="mean">1</td><td data-head="max">&lt;2&gt;</td><td class="better">better</td>' in wide
    assert 'class="scrolls"' in table(Sheet("", ["s", "mean", "max"], [["all", "1", "2"]]))


def test_rows_that_a_table_leaves_out_are_counted_beside_it() -> None:
    parts: list[Sheet | str] = ["Answer.", Sheet("", ["a", "b"], [["1", "2"]]), "… 3 more", "A line."]
    places = [first_screen(parts, [], ["the path"]).index(text) for text in ("</table>", "3 more", "path", "A line.")]
    assert places == sorted(places)


def test_a_line_does_not_break_before_a_unit() -> None:
    shown = text_of("64 kB of 2 packets at 3.5 Mbit/s in 60 ms: 5 %, then 7 more").replace("\N{NO-BREAK SPACE}", "_")
    assert shown == "64_kB of 2_packets at 3.5_Mbit/s in 60_ms: 5_%, then 7 more"


def test_what_has_nothing_to_say_is_not_there() -> None:
    assert section("Heading", "", "") == ""
    assert table(Sheet("Empty", ["a"], [])) == ""
    assert bullets([]) == ""
    assert "<section" not in Page("Title", "", "subject", ("", "")).html()
    assert section("Heading", paragraph("text")) == "<section><h2>Heading</h2><p>text</p></section>"
