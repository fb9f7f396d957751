"""`farweb plot` of sweeps: options, errors, and the same figures from Python."""

import csv
import re
from pathlib import Path
from typing import Any

import pytest

from farweb.library.sweep_results import SweepResults
from farweb.plot import draw
from sample_results import request
from sample_sweeps import Levels, design_of, write_sweep
from samples import Farweb, refused


def metrics(levels: Levels, replication: int) -> dict[str, Any]:
    load = levels["workload.load"]
    return {"offered_bps": load * 1e6, "carried_bps": load * 1e6, "latency_mean_s": load + 0.1 * replication}


@pytest.fixture
def sweep(folder: Path) -> SweepResults:
    design = design_of({"workload.load": [1, 2], "circuit": ["cable", "satellite"]}, 2)
    return write_sweep(folder / "s", design, metrics, lambda *_: [request(n, 1.0, 1000) for n in range(3)], name="s")


def test_a_figure_of_a_sweep_goes_where_it_is_told(farweb: Farweb, sweep: SweepResults) -> None:
    answer = farweb("plot", "latency-load", "s", "--json")
    assert (answer.code, answer.json()) == (0, {"figure": "latency-load", "file": "s/latency-load.png"})
    options = ("--by", "circuit", "--x", "workload.load", "--metric", "drops", "--where", "circuit=cable")
    answer = farweb("plot", "latency-load", "s", *options, "--where", "circuit=satellite", "-o", "drops.html")
    assert (answer.code, answer.out) == (0, "wrote drops.html: Drops against load, 8 runs of s\n")
    drawn = draw("latency-load", [sweep], by=["circuit"], x="workload.load", metric="drops")
    assert Path("drops.html").read_text() == drawn.html()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("latency-load", "s", "--by", "circuits"), "no factor 'circuits'; circuit?"),
        (("latency-load", "s", "--x", "loads"), "no factor 'loads'; workload.load?"),
        (("latency-load", "s", "--metric", "latency_maen_s"), "no such metric; latency_mean_s?"),
        (("latency-load", "s", "--where", "circuit=cabel"), "no level 'cabel'; cable?"),
        (("latency-load", "s", "--where", "circuit"), "write FACTOR=LEVEL"),
        (("latency-lod", "s"), "no plot 'latency-lod'; latency-load?"),
        (("link", "s"), "s: is a sweep, and plot link draws a run: name one in s/parts"),
        (("latency-load", "s", "s"), "plot latency-load draws one sweep at a time, not 2"),
        (("latency-load", "s", "--connection", "1"), "plot latency-load has no option connection"),
        (("latency-load", "s", "-o", "figure.jpg"), "a figure is written as .png, .svg, .pdf, .html; the suffix"),
        (("latency-load", "s", "-o", "figure"), "a figure is written as .png, .svg, .pdf, .html; the suffix"),
        (("connections", "s", "s"), "plot connections draws one sweep at a time, not 2"),
        (("breakdown", "s"), "s: is a sweep, and plot breakdown draws a run: name one in s/parts"),
        (("latency-load",), "needs results to draw"),
        (("latency-load", "s", "--width", "12"), "12: write a length with its unit, for example 8in or 20cm"),
        (("latency-load", "s", "--height", "3cm"), "3cm: a figure is 2 to 40 in wide and high"),
        (("latency-load", "s", "--label", "cabel=x"), "nothing is called 'cabel'; 'cable'?"),
        (("latency-load", "s", "--label", "cable"), "label cable: write OLD=NEW"),
        (("latency-load", "s", "--data", "a.xlsx"), "the numbers of a figure are written as .csv"),
        (("latency-load", "s", "--against", "circuit=cabel"), "no level 'cabel'; cable?"),
        (("cdf", "s", "--against", "circuit=cable"), "plot cdf has no option against; latency-load has"),
    ],
)
def test_mistakes_are_one_line_and_leave_nothing(
    farweb: Farweb, sweep: SweepResults, folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    refused(farweb, "plot", *arguments, says=message)
    assert farweb("plot", *arguments).err.count("\n") == 1


def test_a_figure_has_the_size_the_names_and_the_words_that_are_asked_for(farweb: Farweb, sweep: SweepResults) -> None:
    options = ("--width", "12.7cm", "--height", "4in", "--no-caption", "--label", "cable=sea deep")
    answer = farweb("plot", "latency-load", "s", *options, "--label", "offered load=load", "-o", "a.svg", "--json")
    assert answer.code == 0
    svg = Path("a.svg").read_text()
    assert 'width="360pt" height="288pt"' in svg
    written = re.findall(r">([^<>]+)</text>", svg)  # text is text
    assert {"sea deep", "satellite", "load [Mbit/s]", "mean latency [s]"} < set(written)
    assert not any("Seeds" in line for line in written)
    assert any("Mean latency" in line for line in written)
    assert farweb("plot", "latency-load", "s", "--no-title", "-o", "b.svg").code == 0
    assert "Mean latency against" not in Path("b.svg").read_text()
    column = ("plot", "latency-load", "s", "--width", "8.5cm", "--height", "5.1cm", "-o", "c.png")
    assert farweb(*column).out.splitlines()[1:] == ["no room for caption"]
    assert farweb(*column, "--force", "--json").json()["left_out"] == ["caption"]


def test_letters_of_a_pdf_are_truetype(farweb: Farweb, sweep: SweepResults) -> None:
    assert farweb("plot", "latency-load", "s", "-o", "a.pdf").code == 0
    pdf = Path("a.pdf").read_bytes()
    assert b"/CIDFontType2" in pdf or b"/TrueType" in pdf
    assert b"/Type3" not in pdf


def test_the_numbers_that_are_drawn_as_csv(farweb: Farweb, sweep: SweepResults) -> None:
    answer = farweb("plot", "latency-load", "s", "--data", "a.csv", "-o", "a.png", "--json")
    assert answer.json() == {"figure": "latency-load", "file": "a.png", "data": "a.csv"}
    rows = list(csv.DictReader(Path("a.csv").read_text().splitlines()))
    assert list(rows[0]) == ["panel", "series", "offered load [bit/s]", "mean latency [s]", "n [replications]"]
    assert [(row["series"], float(row["offered load [bit/s]"]), float(row["mean latency [s]"])) for row in rows] == [
        ("cable", 1e6, 1.05),
        ("cable", 2e6, 2.05),
        ("satellite", 1e6, 1.05),
        ("satellite", 2e6, 2.05),
    ]
    assert farweb("plot", "cdf", "s", "--data", "cdf.csv", "-o", "cdf.png").code == 0
    parts = {row["part"] for row in csv.DictReader(Path("cdf.csv").read_text().splitlines())}
    assert parts == {"", "percentiles"}


def test_numbers_have_the_share_that_was_not_answered(farweb: Farweb, folder: Path) -> None:
    lost = {"requests": 100, "failed": 3, "unfinished": 2}
    design = design_of({"workload.load": [1, 2]}, 2)
    write_sweep(folder / "s", design, lambda levels, r: {**metrics(levels, r), **lost})
    assert farweb("plot", "latency-load", "s", "--data", "a.csv").code == 0
    rows = list(csv.DictReader(Path("a.csv").read_text().splitlines()))
    assert [float(row["not answered"]) for row in rows] == [0.05, 0.05]


def test_numbers_replace_no_file_without_force(farweb: Farweb, sweep: SweepResults) -> None:
    Path("a.csv").write_text("mine")
    answer = farweb("plot", "cdf", "s", "--data", "a.csv", "-o", "a.png")
    assert (answer.code, Path("a.png").exists(), Path("a.csv").read_text()) == (2, False, "mine")
    assert "a.csv: exists already; --force replaces it" in answer.err
    assert farweb("plot", "cdf", "s", "--data", "a.csv", "-o", "a.png", "--force").code == 0
    assert Path("a.csv").read_text().startswith("panel,series")


def test_differences_from_a_level(farweb: Farweb, sweep: SweepResults) -> None:
    options = ("--against", "workload.load=1", "--x", "circuit", "--data", "a.csv", "-o", "a.png")
    assert farweb("plot", "latency-load", "s", *options).code == 0
    rows = list(csv.DictReader(Path("a.csv").read_text().splitlines()))
    # A load of 2 takes a second longer in each replication; that replications are 0.1 s apart is no part of it.
    name = "mean latency, less that of load = 1 [s]"
    assert [float(row[name]) for row in rows] == pytest.approx([1, 1])


def test_a_run_is_no_sweep(farweb: Farweb, sweep: SweepResults) -> None:
    (run, *_) = sorted((sweep.path / "parts").iterdir())
    refused(farweb, "plot", "latency-load", run, says="is a run, and plot latency-load draws a sweep")
    of_sweep = ("--where", "circuit=cable", "-o", "cdf.png")
    refused(farweb, "plot", "cdf", run, *of_sweep, says="is a run, and plot cdf has option where of a sweep only")
    assert farweb("plot", "cdf", run, "-o", "cdf.png").code == 0
