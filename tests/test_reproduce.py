"""`farweb reproduce` end to end, on a small study of its own: runs, figures, the scoreboard and how it ends."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from farweb.errors import FarwebError, ResultsError
from farweb.reproduce import find_studies, reproduce
from farweb.reproduce.claims import Bound, Claim, Measured, judge, read_claims
from farweb.reproduce.scoreboard import Scoreboard, judge_study
from farweb.reproduce.study import PAPERS, StudyResults, toml_of
from samples import SCENARIO, Farweb, refused

pytestmark = pytest.mark.usefixtures("warm_workers")

REQUESTS = "start_s,host,request_bytes,response_bytes,server_s,tag\n" + "".join(
    f"{number}.5,a.example,300,12000,0,{'sample' if number % 2 else ''}\n" for number in range(10)
)

SWEEP = """
[sweep]
replications = 2
[sweep.factors]
"workload.load" = [1, 2, 3, 4]
"""

STUDY = """
order = 1
title = "A small study"
question = "Does it work?"
source = "Nobody: Nothing. 2026."

[[sweep]]
name = "loads"
scenario = "s.toml"
[sweep.quick]
"sweep.replications" = 1
'sweep.factors."workload.load"' = [1, 4]
"""

CLAIM = """
[[claim]]
id = "X{number}"
claim = "load is carried | all of it"
published = "yes"
tolerance = "sign"
unit = "kbit/s"
bounds = [{{ {bound} }}]
how = "the largest carried_bps"
why = "{why}"
"""

CLAIMS_PY = """
from farweb.reproduce.claims import Measured
from farweb.reproduce.curves import curve, largest


def carried(results):
    return [Measured.of(largest(curve(results.sweep("loads"), "carried_bps", "offered_bps")), scale=1e-3)]


MEASURES = {"X1": carried, "X2": lambda results: [Measured(results.sweep("missing"))]}
"""

FIGURES_PY = """
from farweb.paint.figure import Axis
from farweb.reproduce.curves import curve
from farweb.reproduce.drawing import Line, figure, panel

from .claims import carried


def latency(results):
    sweep = results.sweep("loads")
    line = Line("all", curve(sweep, "latency_mean_s", "offered_bps"), 0)
    offered = Axis("offered load", "bit/s", low=0)
    return figure("Latency", "Mean.", [panel([line], Axis("latency", "s", low=0), x=offered)], [sweep])


FIGURES = {"1": latency, "2": lambda results: results.sweep("missing")}
"""


def write_study(papers: Path, bound: str = "above = 0", name: str = "small", why: str = "") -> Path:
    folder = papers / name
    folder.mkdir(parents=True)
    (folder / "study.toml").write_text(STUDY)
    (folder / "s.toml").write_text(SCENARIO + SWEEP)
    (folder / "requests.csv").write_text(REQUESTS)
    (folder / "claims.toml").write_text(
        CLAIM.format(number=1, bound=bound, why=why) + CLAIM.format(number=2, bound="above = 0", why="")
    )
    (folder / "claims.py").write_text(CLAIMS_PY)
    (folder / "figures.py").write_text(FIGURES_PY)
    return papers


def test_a_campaign_leaves_results_figures_a_page_and_the_scoreboard(folder: Path, farweb: Farweb) -> None:
    papers = write_study(folder / "papers")
    answer = farweb(
        "reproduce", "--papers", papers, "--out", folder / "out", "--json", "--format", "svg", "--format", "png"
    )

    assert answer.code == 0, answer.err
    met, missing = answer.json()["claims"]
    assert set(met) == {"id", "claim", "published", "measured", "low", "high", "verdict", "why"}
    assert (met["id"], met["verdict"], met["why"]) == ("X1", "pass", "")
    assert met["claim"] == "load is carried | all of it [kbit/s]"
    assert met["low"] <= met["measured"] <= met["high"]
    assert (missing["verdict"], missing["measured"], missing["low"]) == ("not run", None, None)
    assert "missing: the sweep was not run" in missing["why"]
    out = folder / "out"
    assert json.loads((out / "scoreboard.json").read_text()) == answer.json()
    assert {path.name for path in (out / "figures").iterdir()} == {"small-1.svg", "small-1.png"}
    assert len(list((out / "small" / "loads").glob("parts/run=*"))) == 8
    page = (out / "reproduction.html").read_text("utf-8")
    assert "1 of 2 claims pass, 1 not run." in page
    assert page.count("<img") == 1
    assert "figure 2:" in page
    markdown = (out / "scoreboard.md").read_text("utf-8")
    assert "| X1 | load is carried \\| all of it | yes |" in markdown
    assert "![figure 1](figures/small-1.svg)" in markdown

    times = {path: path.stat().st_mtime_ns for path in out.glob("small/loads/parts/*/requests.parquet")}
    again = farweb("reproduce", "--papers", papers, "--out", "out")
    assert again.code == 0, again.err
    assert "X2 not run" in again.out
    assert "8 simulations" in again.err
    assert {path: path.stat().st_mtime_ns for path in times} == times


def test_a_claim_that_is_not_met_is_an_exit_code_after_all_is_written(folder: Path, farweb: Farweb) -> None:
    papers = write_study(folder / "papers", "at_most = 1", why="It carries more.")
    answer = farweb("reproduce", "small", "--quick", "--jobs", "1", "--papers", papers, "--json")
    assert answer.code == 4
    failed = answer.json()["claims"][0]
    assert (failed["verdict"], failed["why"]) == ("fail", "It carries more.")
    out = folder / "results" / "reproduce-quick"
    assert (out / "reproduction.html").exists()
    assert len(list(out.glob("small/loads/parts/run=*"))) == 2  # quick: two loads, once


def test_runs_that_fail_are_told_after_all_is_written(folder: Path, farweb: Farweb) -> None:
    papers = write_study(folder / "papers")
    empty = REQUESTS.replace(",300,", ",0,")  # a table that is right, and no use for this carrier
    (papers / "small" / "empty.csv").write_text(empty)
    scenario = papers / "small" / "s.toml"
    scenario.write_text(scenario.read_text() + '"workload.requests" = ["requests.csv", "empty.csv"]\n')
    answer = farweb("reproduce", "--quick", "--jobs", "1", "--papers", papers)
    assert answer.code == 3
    assert "2 runs failed, the first in small/loads with:" in answer.err
    assert (folder / "results" / "reproduce-quick" / "scoreboard.md").exists()


WORKLOAD_PY = """
import pyarrow as pa


def made(size):
    return lambda: pa.table({
        "start_s": [0.5, 1.5], "host": ["a.example"] * 2, "request_bytes": [300] * 2, "response_bytes": [size] * 2,
        "tag": ["sample"] * 2,
    })


TABLES = {f"day-{seed}.parquet": made(12000 * seed) for seed in (1, 2)}
"""


def test_a_study_may_generate_its_requests(folder: Path, farweb: Farweb) -> None:
    papers = write_study(folder / "papers")
    (papers / "small" / "requests.csv").unlink()
    (papers / "small" / "workload.py").write_text(WORKLOAD_PY)
    scenario = papers / "small" / "s.toml"
    scenario.write_text(scenario.read_text().replace('"requests.csv"', '"tables/day-{seed}.parquet"'))
    answer = farweb("reproduce", "--jobs", "1", "--papers", papers, "--out", "out")
    assert answer.code == 0, answer.err
    out = folder / "out" / "small"
    assert {path.name for path in (out / "tables").iterdir()} == {"day-1.parquet", "day-2.parquet"}
    runs = StudyResults(find_studies(papers, [])[0], out, quick=False).sweep("loads").runs
    assert runs.filter(runs["workload.load"] == 1)["response_bytes"].to_list() == [24_000, 48_000]

    table, written = out / "tables" / "day-1.parquet", (out / "tables" / "day-1.parquet").stat().st_mtime_ns
    assert farweb("reproduce", "--jobs", "1", "--papers", papers, "--out", "out").code == 0
    assert table.stat().st_mtime_ns == written, "made once"
    os.utime(papers / "small" / "workload.py", ns=(written + 10**9, written + 10**9))
    assert farweb("reproduce", "--jobs", "1", "--papers", papers, "--out", "out").code == 0
    assert table.stat().st_mtime_ns != written, "and again when what makes it is newer"

    scenario.write_text(scenario.read_text().replace("day-", "week-"))
    refused(farweb, "reproduce", "--papers", papers, "--out", "out", says="workload.py: TABLES has no week-1.parquet")


def test_a_reference_has_a_column_of_its_own(folder: Path, farweb: Farweb) -> None:
    papers = write_study(folder / "papers")
    file = papers / "small" / "claims.toml"
    file.write_text(file.read_text().replace('published = "yes"', 'published = "yes"\nreference = "about 20"', 1))
    answer = farweb("reproduce", "--quick", "--jobs", "1", "--papers", papers, "--json")
    assert [claim.get("reference") for claim in answer.json()["claims"]] == ["about 20", None]
    markdown = (folder / "results" / "reproduce-quick" / "scoreboard.md").read_text("utf-8")
    assert "|  | claim | published | reference | tolerance | measured | verdict |" in markdown
    assert "| yes | about 20 | sign |" in markdown and "| yes |  | sign |" in markdown


def test_what_a_study_of_the_workload_found_has_columns_of_its_own(folder: Path) -> None:
    papers = write_study(folder / "papers")
    study = papers / "small" / "study.toml"
    study.write_text('ranges = "../ranges.toml"\n' + study.read_text())
    (papers / "ranges.toml").write_text('[X1]\nrange = "1 … 2"\ndecides = "offset, 60 %"\n')
    (small,) = find_studies(papers, [])
    board = judge_study(StudyResults(small, folder / "nothing", quick=False))
    header, _, first, second, *_ = board.markdown().splitlines()
    assert header == "|  | claim | published | tolerance | range | measured | decided by | verdict |"
    assert "| sign | 1 … 2 | – | offset, 60 % | not run |" in first and "| sign |  | – |  | not run |" in second
    assert board.verdicts[0].to_dict()["range"] == "1 … 2"


def test_a_reason_has_the_numbers_of_the_runs_beside_it(folder: Path, farweb: Farweb) -> None:
    why = "the link carried {X1}, {percent} of it for images, {lost} of what was lost"
    papers = write_study(folder / "papers", bound="at_most = 0", why=why)
    module = papers / "small" / "claims.py"
    facts = 'FACTS = {"percent": lambda results: "40 %", "lost": lambda results: results.sweep("missing")}'
    module.write_text(f"{CLAIMS_PY}\n{facts}\n")
    answer = farweb("reproduce", "--quick", "--papers", papers, "--json")
    failed = answer.json()["claims"][0]
    value = float(failed["why"].split()[3])
    assert value == pytest.approx(failed["measured"], rel=1e-2)
    assert failed["why"].endswith(" kbit/s, 40 % of it for images, (not run) of what was lost")
    claims = papers / "small" / "claims.toml"
    claims.write_text(claims.read_text().replace("{percent}", "{share}"))
    unknown = farweb("reproduce", "--quick", "--papers", papers)
    assert (unknown.code, "{share}: neither a claim that was measured nor a fact" in unknown.err) == (2, True)


def test_results_of_another_study_of_the_campaign(folder: Path) -> None:
    papers = write_study(write_study(folder / "papers"), name="other")
    other, small = find_studies(papers, ["small", "other"])
    (folder / "out" / "other").mkdir(parents=True)
    results = StudyResults(small, folder / "out" / "small", quick=False)
    assert results.of_study("other").study == other
    with pytest.raises(ResultsError, match="was not run in this folder"):
        StudyResults(other, folder / "out" / "other", quick=False).of_study("small")


def test_an_unknown_study_is_told_with_the_nearest(folder: Path, farweb: Farweb) -> None:
    papers = write_study(folder / "papers")
    unknown = "farweb: there is no study 'smal'; small? studies: small\n"
    refused(farweb, "reproduce", "smal", "--papers", papers, says=unknown)
    refused(farweb, "reproduce", "--papers", papers / "small", says="there is no study here")


def test_a_wrong_scenario_is_told_before_anything_is_run(folder: Path, farweb: Farweb) -> None:
    papers = write_study(folder / "papers")
    scenario = papers / "small" / "s.toml"
    scenario.write_text(scenario.read_text().replace('"34.368 Mbit/s"', '"34.368 Mbit/h"'))
    refused(farweb, "reproduce", "--papers", papers, says="s.toml:8: path.link.0.up.rate")


def test_claims_and_measures_belong_together(folder: Path) -> None:
    papers = write_study(folder / "papers")
    (papers / "small" / "claims.py").write_text('MEASURES = {"X1": None, "X3": None}')
    (study,) = find_studies(papers, [])
    with pytest.raises(FarwebError, match=r"claims\.py: X2, X3: not in both"):
        reproduce([study], folder / "out")
    assert not (folder / "out").exists()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('id = "X2"', 'id = "X1"', "X1: claimed twice"),
        ('unit = "kbit/s"\n', "", "X1: unknown or missing: unit"),
        ("above = 0", "over = 0", "X1: unknown in bounds: over"),
        ("above = 0", 'of = "all"', "X1: a bound has one of at_least"),
        ("[[claim]]", "[[claims]]", "not a file of claims"),
        ("above = 0", "above = ", "claims.toml: Invalid value"),
    ],
)
def test_a_wrong_file_of_claims_is_told(folder: Path, old: str, new: str, message: str) -> None:
    file = write_study(folder / "papers") / "small" / "claims.toml"
    file.write_text(file.read_text().replace(old, new))
    with pytest.raises(FarwebError, match=message):
        read_claims(file)


def claim(*bounds: Bound) -> Claim:
    return Claim("X", "it is so", "yes", "", "", bounds, "", "because")


@pytest.mark.parametrize(
    ("bound", "value", "verdict"),
    [
        (Bound(at_least=1, at_most=2), 1.0, "pass"),
        (Bound(at_least=1, at_most=2), 2.0, "pass"),
        (Bound(at_least=1, at_most=2), 2.0001, "fail"),
        (Bound(at_least=1, at_most=2), 0.9999, "fail"),
        (Bound(above=0), 0.0, "fail"),
        (Bound(above=0), 1e-9, "pass"),
        (Bound(below=0), 0.0, "fail"),
        (Bound(below=0), -1e-9, "pass"),
        (Bound(at_least=516, at_most=516), 516.0, "pass"),
        (Bound(at_most=5), float("nan"), "not run"),
    ],
)
def test_a_bound_is_met_by_the_estimate(bound: Bound, value: float, verdict: str) -> None:
    assert judge(claim(bound), "s", [Measured(value)]).verdict == verdict


def test_the_measurement_that_decides_is_the_one_nearest_to_its_bound() -> None:
    between, large = Bound("between", at_least=10, at_most=20), Bound("large", at_least=100)
    both = claim(between, large)
    inside = [Measured(15, what="a", bound="between"), Measured(101, what="b", bound="large")]
    passed = judge(both, "s", inside)
    assert (passed.verdict, passed.measured, passed.why) == ("pass", inside[1], "")
    outside = judge(
        both, "s", [*inside, Measured(25, what="c", bound="between"), Measured(40, what="d", bound="large")]
    )
    assert outside.measured is not None
    assert (outside.verdict, outside.measured.what, outside.why) == ("fail", "d", "because")
    assert judge(both, "s", []).verdict == "not run"


def test_the_scoreboard_counts() -> None:
    verdicts = [judge(claim(Bound(above=0)), "s", [Measured(value)]) for value in (1, 2, -1, float("nan"))]
    board = Scoreboard(tuple(verdicts))
    assert (board.text, board.failed) == ("2 of 4 claims pass, 1 fail, 1 not run", 1)
    assert Scoreboard(tuple(verdicts[:2])).text == "2 of 2 claims pass"
    unexplained = judge(replace(claim(Bound(above=0)), why=""), "s", [Measured(-1)])
    assert unexplained.to_dict()["why"] == "not explained yet"


def test_what_was_fitted_is_counted_apart() -> None:
    fitted = replace(claim(Bound(above=0)), fitted=True)
    verdicts = [judge(fitted, "s", [Measured(1)]), *(judge(claim(Bound(above=0)), "s", [Measured(x)]) for x in (2, -1))]
    board = Scoreboard(tuple(verdicts))
    assert board.text == "1 of 2 predictions pass, 1 fail; 1 of 1 fitted"
    assert "| pass (fitted) |" in board.markdown()
    assert verdicts[0].to_dict()["fitted"] is True


def test_what_is_shown_beside_decides_nothing() -> None:
    measured = [Measured(1, what="a"), Measured(-1, what="b", beside=True)]
    verdict = judge(claim(Bound(above=0)), "s", measured)
    assert (verdict.verdict, verdict.measured, verdict.all) == ("pass", measured[0], tuple(measured))
    assert judge(claim(Bound(above=0)), "s", measured[1:]).verdict == "not run"


def test_the_studies_of_the_source_tree_are_in_their_order() -> None:
    studies = ["cable", "asymmetric", "satellite", "calgary", "mux", "post-quantum"]
    assert [study.name for study in find_studies(PAPERS, [])] == studies
    for study in find_studies(PAPERS, ["satellite", "cable"]):
        assert set(study.measures) == {claim.id for claim in study.claims}
        assert len(study.figures) >= 4


def test_without_runs_no_claim_has_a_verdict(folder: Path) -> None:
    (study,) = find_studies(PAPERS, ["satellite"])
    board = judge_study(StudyResults(study, folder / "nothing", quick=False))
    assert {each.verdict for each in board.verdicts} == {"not run"}


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ([1, 2], [1, 2]),
        ("60 ms", "60 ms"),
        ({"workload.load": [1, 2], "a b": True}, '{ "workload.load" = [1, 2], "a b" = true }'),
        ([{"level": 'a"b', "set": {"leg": [{}]}}], '[{ "level" = "a\\"b", "set" = { "leg" = [{  }] } }]'),
    ],
)
def test_tables_of_a_study_become_overrides(value: Any, message: Any) -> None:
    assert toml_of(value) == message
