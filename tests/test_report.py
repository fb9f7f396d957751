"""The page of runs: whole, self-contained, and with the right numbers; and the command."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from farweb.errors import FarwebError, ResultsError
from farweb.folders import Results
from farweb.report import report
from farweb.report.runs import latency_sheet
from farweb.scenario import Scenario
from sample_reports import scenario, with_scenario
from sample_results import request, write_results
from samples import Farweb

pytestmark = pytest.mark.usefixtures("unpainted")

VOID = {"meta", "img", "br", "hr", "link", "input"}
HOSTILE = "</title><script>alert(1)</script><b onclick='x'>\"&amp;"


class Outline(HTMLParser):
    """Checks that elements nest, and keeps their attributes, the text and the headings."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.attributes: list[tuple[str, str, str | None]] = []
        self.tags: list[str] = []
        self.text = ""
        self.headings: list[str] = []
        self.feed(html)
        self.close()
        assert self.open == []
        self.text = self.text.replace("\N{NO-BREAK SPACE}", " ")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value) for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)
        if tag in ("h1", "h2"):
            self.headings.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("h1", "h2"):
            self.headings[-1] += data
        self.text += data

    def values(self, tag: str, name: str) -> list[str]:
        return [str(value) for one, attribute, value in self.attributes if (one, attribute) == (tag, name)]


HEADINGS = [
    "Answer",
    "Path",
    "Results",
    "Figures",
    "Links and connections",
    "Assumptions",
    "Warnings",
    "How to reproduce",
]


@pytest.fixture
def cable_run(cable: Path) -> Results:
    return Scenario.load(cable, {"record.links_every": "1 s"}).run(out="cable")


@pytest.fixture
def satellite_run(cable: Path) -> Results:
    far = {"path.link.0.up.delay": "320 ms", "path.link.0.down.delay": "320 ms", "name": "satellite"}
    return Scenario.load(cable, far).run(out="satellite")


@pytest.fixture
def lossy(tmp_path: Path) -> list[Results]:
    """Two results by hand: ten requests of which one failed, and one request."""
    rows = [request(place, 0.1 * place, 1000) for place in range(1, 10)]
    lost = request(20, 9.0, 1, status="failed", end_ns=None, first_byte_ns=None)
    cable = write_results(tmp_path / "cable", [*rows, lost], name="cable <b>")
    satellite = write_results(tmp_path / "satellite", [request(1, 2.0, 1000)], name="satellite")
    return [with_scenario(each, scenario(tmp_path)) for each in (cable, satellite)]


def test_the_table_has_the_numbers_of_each_run(lossy: list[Results]) -> None:
    sheet = latency_sheet(lossy)
    # Nine latencies 0.1 … 0.9 s and one without an end: the median has place 4.5 of 0 … 9, the 90 % quantile 8.1.
    lost = ["9", "1", "10 %"]
    times = ["550 ms", "more than 900 ms", "more than 900 ms", "500 ms (of 90 %)", "275 ms"]
    assert sheet.rows[0] == ["cable <b>", *lost, *times]
    assert sheet.rows[1] == ["satellite", "1", "0", "0 %", "2 s", "2 s", "2 s", "2 s", "1 s"]


def test_a_page_can_be_read_aloud(cable_run: Results, satellite_run: Results) -> None:
    outline = Outline(report([cable_run, satellite_run]).html())
    assert outline.values("html", "lang") == ["en"]
    assert outline.tags.count("h1") == 1
    shown = outline.values("img", "alt")
    assert any(words.startswith("Distribution of latency. Share of all requests") for words in shown) and all(shown)
    assert set(outline.values("th", "scope")) == {"col", "row"}
    assert outline.tags.count("caption") == outline.tags.count("table")
    assert outline.values("svg", "role") == ["img", "img"]
    assert all(len(label) > 100 for label in outline.values("svg", "aria-label"))


def test_the_page_of_one_run(cable_run: Results) -> None:
    outline = Outline(report([cable_run]).html())
    assert outline.headings == ["How long do requests take over “cable”?", *HEADINGS]
    latency = cable_run.summary().latency
    assert latency.p50_s is not None
    assert f"Median latency {latency.p50_s * 1e3:.0f} ms of 3 requests" in outline.text
    assert "One run, one seed:" in outline.text
    assert "farweb run scenario.toml --out cable\nfarweb report cable" in outline.text
    assert "None." in outline.text
    assert '"farweb run"' in outline.text


def test_the_page_of_two_runs_compares_them(cable_run: Results, satellite_run: Results) -> None:
    page = report([cable_run, satellite_run])
    outline = Outline(page.html())
    assert outline.headings == ["How long do requests take over “cable” and “satellite”?", *HEADINGS]
    medians = [result.summary().latency.p50_s or 0 for result in (cable_run, satellite_run)]
    assert f"The median is {medians[1] / medians[0]:.3g} times as long for satellite as for cable." in outline.text
    assert "60 ms or 320 ms" in outline.text
    assert "bursts will lose packets (satellite)" in outline.text
    assert "scenario-2.toml --out satellite\nfarweb report cable satellite" in outline.text


def test_runs_of_the_same_requests_are_compared_one_by_one(tmp_path: Path) -> None:
    """A second in the slow fifth, and nothing in the median: 5.5 s become 4.5 s at 90 %, give or take a tenth."""

    def run(name: str, slow_s: float) -> Results:
        rows = [
            request(number, slow_s + number % 7 / 30 if number % 5 == 0 else 1.0, 1000 << number % 4)
            for number in range(200)
        ]
        return with_scenario(write_results(tmp_path / name, rows, name=name), scenario(tmp_path))

    before, after = run("before", 5.5), run("after", 4.5)
    text = Outline(report([before, after], plots=["cdf"]).html()).text
    text = text.replace("\xa0", " ")
    assert re.search(r"after is slightly better than before:\s*requests take 3\.\d % less time on average\.", text)
    assert "Holds for this log (95 %, 20 time blocks). To cover other weeks" in text
    other = with_scenario(write_results(tmp_path / "other", [request(1, 1.0, 1000)], name="other"), scenario(tmp_path))
    assert "better" not in Outline(report([before, other], plots=["cdf"]).html()).text


def test_three_runs_are_ranked_and_each_pair_is_a_row(tmp_path: Path) -> None:
    def run(name: str, latency_s: float) -> Results:
        rows = [request(number, latency_s + number % 7 / 100, 1000) for number in range(200)]
        return with_scenario(write_results(tmp_path / name, rows, name=name), scenario(tmp_path))

    text = Outline(report([run("slow", 3), run("quick", 1), run("alike", 1.001)], plots=["cdf"]).html()).text
    text = text.replace("\xa0", " ")
    assert "quick is best; alike ties with it. slow is worse: 194 % more time." in text
    assert re.search(r"quick against slow\s*−66\.\d\s*−66\.\d … −66\.\d\s*better", text)
    assert re.search(r"alike against quick\s*\+0\.1.*?equivalent", text)
    assert "The median is 2.94 times as long for slow as for quick." in text
    assert "1 times" not in text


def test_quantiles_that_are_alike_as_printed_are_said_to_be(tmp_path: Path) -> None:
    def run(name: str, latency_s: float) -> Results:
        rows = [request(number, latency_s, 1000) for number in range(5)]
        return with_scenario(write_results(tmp_path / name, rows, name=name), scenario(tmp_path))

    text = Outline(report([run("a", 1), run("b", 1.004)], plots=["cdf"]).html()).text
    assert "The 90 % quantile is as long for b as for a, within half a percent." in text
    assert "To cover other weeks" not in text  # no interval is of blocks: there are too few requests


def test_requests_without_a_latency_are_named_beside_the_numbers(lossy: list[Results]) -> None:
    outline = Outline(report(lossy, plots=["cdf"]).html())
    assert "cable <b>: median latency 550 ms of 10 requests; 90 %: more than 900 ms" in outline.text
    assert "more than 900 ms; 10 % were not answered." in outline.text
    assert "cable <b>: 1 request failed: quantiles count them as slower than any that ended" in outline.text


def test_a_run_without_an_answered_request_has_a_page(tmp_path: Path) -> None:
    result = write_results(tmp_path / "lost", [request(1, 1.0, 1, status="failed", end_ns=None, first_byte_ns=None)])
    outline = Outline(report([with_scenario(result, scenario(tmp_path))]).html())
    assert "There is no latency: no request finished." in outline.text
    assert "Figures" not in outline.headings


def test_names_are_text_whatever_they_hold(tmp_path: Path) -> None:
    effective = scenario(
        tmp_path, {"name": HOSTILE, "path.nodes": [HOSTILE, "b"], "leg.0.from": HOSTILE, "leg.0.to": "b"}
    )
    run = write_results(tmp_path / "a", [request(1, 1.0, 1000)], name=HOSTILE)
    again = write_results(tmp_path / "b", [request(1, 2.0, 1000)], name=HOSTILE)
    made = report(
        [with_scenario(each, effective) for each in (run, again)], title=HOSTILE, question=HOSTILE, plots=["cdf"]
    )
    page = made.html()
    outline = Outline(page)
    assert "script" not in outline.tags
    assert "<b onclick" not in page
    assert outline.headings[0] == HOSTILE
    assert outline.text.count(HOSTILE) > 10


def test_title_question_metrics_and_plots_are_as_asked_for(cable_run: Results) -> None:
    made = report([cable_run], title="A title", question="Why?", plots=["cdf"])
    outline = Outline(made.html())
    assert made.title == outline.headings[0] == "A title"
    assert "Why?" in outline.text
    assert len(outline.values("img", "src")) == 1
    assert "farweb report cable --title 'A title' --question 'Why?' --plot cdf" in outline.text


def test_no_results_are_no_report() -> None:
    with pytest.raises(FarwebError, match="needs results"):
        report([])


def test_the_same_results_give_the_same_page(cable_run: Results, satellite_run: Results) -> None:
    pages = [report([Results.open(each.path) for each in (cable_run, satellite_run)]).html() for _ in range(2)]
    assert pages[0] == pages[1]


def test_the_command_writes_the_page_where_it_is_asked_to(farweb: Farweb, cable_run: Results) -> None:
    answer = farweb("report", "cable", "-o", "page.html", "--json")
    assert answer.code == 0, answer.err
    size = Path("page.html").stat().st_size
    title = "How long do requests take over “cable”?"
    assert answer.json() == {"report": "page.html", "title": title, "bytes": size, "judged": []}
    assert farweb("report", "cable").out == "cable/report.html\n"
    # What the report left in the folder does not stop the next run.
    assert farweb("run", "cable.toml", "--out", "cable", "--force", "--quiet").code == 0
    assert not Path("cable/report.html").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("nowhere", "no such folder"),
        ("cable --plot pie", "there is no plot 'pie'"),
        ("cable --by circuit", "runs have none"),
        ("cable --metric latency_p51_s", "latency_p51_s: no such metric; latency_p95_s?"),
    ],
)
def test_the_command_says_what_is_wrong_in_a_line(
    farweb: Farweb, cable_run: Results, arguments: str, message: str
) -> None:
    answer = farweb("report", *arguments.split())
    assert answer.code == 2
    assert message in answer.err
    assert len(answer.err.splitlines()) == 1
    assert not Path("cable/report.html").exists()


def test_sweeps_and_runs_do_not_go_on_one_page(tmp_path: Path, cable_run: Results) -> None:
    from sample_sweeps import design_of, write_sweep

    sweep = write_sweep(tmp_path / "sweep", design_of({"workload.load": [1, 2]}, 2))
    with pytest.raises(ResultsError, match="one sweep, or of runs"):
        report([sweep, cable_run])
