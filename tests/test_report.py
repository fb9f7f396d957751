"""The page of runs: whole, self-contained, and with the right numbers; and the command."""

import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

from farweb.comparison import compare
from farweb.comparison.words import for_whom
from farweb.errors import FarwebError, ResultsError
from farweb.library.run_results import Results
from farweb.library.scenario import Scenario
from farweb.report import report
from farweb.report.lead import lead
from sample_reports import scenario, with_scenario
from sample_results import request, write_results
from samples import Farweb

pytestmark = pytest.mark.usefixtures("unpainted")

VOID = {"meta", "img", "br", "hr", "link", "input", "source"}
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


HEADINGS = ["Figures", "Links and connections", "Assumptions", "How to reproduce"]


@pytest.fixture
def cable_run(cable: Path) -> Results:
    return Scenario.load(cable, {"record.links_every": "1 s"}).run(out="cable")


@pytest.fixture
def satellite_run(cable: Path) -> Results:
    far = {"path.link.0.up.delay": "320 ms", "path.link.0.down.delay": "320 ms", "name": "satellite"}
    return Scenario.load(cable, far).run(out="satellite")


@pytest.fixture
def lossy(tmp_path: Path) -> list[Results]:
    """Two results by hand: ten requests, one of them failed, and one request."""
    rows = [request(place, 0.1 * place, 1000) for place in range(1, 10)]
    lost = request(20, 9.0, 1, status="failed", end_ns=None, first_byte_ns=None)
    cable = write_results(tmp_path / "cable", [*rows, lost], name="cable <b>")
    satellite = write_results(tmp_path / "satellite", [request(1, 2.0, 1000)], name="satellite")
    return [with_scenario(each, scenario(tmp_path)) for each in (cable, satellite)]


def test_a_page_can_be_read_aloud(cable_run: Results, satellite_run: Results) -> None:
    outline = Outline(report([cable_run, satellite_run]).html())
    assert outline.values("html", "lang") == ["en"]
    assert outline.tags.count("h1") == 1
    shown = outline.values("img", "alt")
    assert "Distribution of latency" in shown and all(shown)
    assert "Share of all requests whose last byte" in outline.text  # the caption is text
    assert set(outline.values("th", "scope")) == {"col", "row"}
    assert outline.values("svg", "role") == ["img"]
    assert all(len(label) > 100 for label in outline.values("svg", "aria-label"))


def test_the_page_of_one_run_begins_with_its_screen(cable_run: Results) -> None:
    outline = Outline(report([cable_run]).html())
    assert outline.headings == ["How long do requests take over “cable”?", *HEADINGS]
    summary = cable_run.summary()
    first = outline.text[: outline.text.index("Figures")]
    parts = [summary.answer, "latency, ", "first byte", "Why a mean of", "Holds for this log (", "), one seed"]
    places = [first.index(part) for part in parts]
    assert places == sorted(places)
    assert "more:" not in first and "--links" not in first
    assert "farweb run scenario.toml --out cable\nfarweb report cable" in outline.text
    assert outline.values("a", "download") == ["scenario.toml", "manifest.json"]


def test_the_page_of_two_runs_compares_them(cable_run: Results, satellite_run: Results) -> None:
    outline = Outline(report([cable_run, satellite_run]).html())
    question = "How long do requests take over “cable” and “satellite”?"
    assert outline.headings == [question, *HEADINGS[:3], "Warnings", HEADINGS[3]]
    assert compare(cable_run, satellite_run).changes[0].verdict in outline.text
    assert "60 ms or 320 ms" in outline.text
    assert "bursts will lose packets (satellite)" in outline.text
    assert "scenario-2.toml --out satellite\nfarweb report cable satellite" in outline.text


def paired(folder: Path, name: str, latency_s: Callable[[int], float]) -> Results:
    """A run of 200 requests that take as long as a function of their numbers says."""
    rows = [request(number, latency_s(number), 1000 << number % 4) for number in range(200)]
    return with_scenario(write_results(folder / name, rows, name=name), scenario(folder))


def test_the_figure_beside_the_answer_shows_what_line_1_says(tmp_path: Path) -> None:
    """Percentiles of one run; of two the change of all requests, line 1's, and of each part; of three of each run."""
    by_name = {"here": 1.0, "there": 0.8, "far": 3.0}
    runs = {
        name: paired(tmp_path, name, lambda number, s=s: s * (1 + number % 7 / 10))  # type: ignore[misc]
        for name, s in by_name.items()
    }
    titles = [Outline(report([runs[name] for name in names]).html()).text for names in (["here"], ["here", "there"])]
    assert titles[0].index("Distribution of latency") < titles[0].index("Latency by response size")
    assert titles[1].index("Change of time: there against here") < titles[1].index("Latency by response size")
    compared = compare(runs["here"], runs["there"])
    (panel,) = lead([runs["here"], runs["there"]], compared).panels
    rows = dict(zip(panel.y.levels, panel.series[0].x, strict=True))
    assert rows["all"] == pytest.approx(-20)
    assert list(rows) == [label for label, _ in for_whom(compared.changes[0].judgement)]
    three = compare(*runs.values())
    (panel,) = lead([*runs.values()], three).panels
    assert dict(zip(panel.y.levels, panel.series[0].x, strict=True)) == pytest.approx({"here": 25, "far": 275})


def test_runs_of_other_requests_are_set_side_by_side(tmp_path: Path) -> None:
    before = paired(tmp_path, "before", lambda number: 5.5 + number % 7 / 30 if number % 5 == 0 else 1.0)
    after = paired(tmp_path, "after", lambda number: 4.5 + number % 7 / 30 if number % 5 == 0 else 1.0)
    text = Outline(report([before, after], plots=["cdf"]).html()).text
    assert re.search(r"after is better than before:\s*requests take 10\.\d % less time on average", text)
    assert "Holds for this log (95 %, 20 time blocks)" in text
    other = with_scenario(write_results(tmp_path / "other", [request(1, 1.0, 1000)], name="other"), scenario(tmp_path))
    text = Outline(report([before, other], plots=["cdf"]).html()).text
    assert "better than" not in text
    assert "before: Half of 200 requests" in text and "other: The only request takes 1 s." in text


def test_the_page_of_three_runs_ranks_them_in_900_words(tmp_path: Path) -> None:
    seconds = {"slow": 3.0, "quick": 1.0, "alike": 1.001}
    runs = [paired(tmp_path, name, lambda number, s=s: s + number % 7 / 100) for name, s in seconds.items()]  # type: ignore[misc]
    page = report(runs).html()
    text = Outline(page).text
    assert "quick is best (1.03 s on average); alike ties with it: +0.1 %. slow is worse: 194 % more time." in text
    assert '<td class="worse">worse</td>' in page
    visible = re.sub(r"<(style|title)>.*?</\1>", "", page, flags=re.DOTALL)
    assert len(re.sub(r"<[^>]*>", " ", visible).split()) <= 900


def test_requests_without_a_latency_are_named_beside_the_numbers(lossy: list[Results]) -> None:
    page = report(lossy, plots=["cdf"]).html()
    text = Outline(page).text
    assert "cable: Half of 10 requests take 500 ms or less; 1 failed." in text
    assert "cable &lt;b&gt;" in page


def test_a_run_without_an_answered_request_has_a_page(tmp_path: Path) -> None:
    result = write_results(tmp_path / "lost", [request(1, 1.0, 1, status="failed", end_ns=None, first_byte_ns=None)])
    outline = Outline(report([with_scenario(result, scenario(tmp_path))]).html())
    assert "At least half of 1 request failed or were cut off: 1 failed." in outline.text
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
    assert outline.text.count(HOSTILE) > 4


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
    assert farweb("report", "cable").out.startswith("wrote cable/report.html: ")
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
