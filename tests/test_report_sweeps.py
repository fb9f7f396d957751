"""The page of a sweep: its words on each kind of design, and on missing runs."""

import random
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from farweb.errors import FarwebError, ResultsError
from farweb.library.sweep_results import SweepResults
from farweb.report import report
from farweb.report.tables import results
from farweb.report.words import names_of
from farweb.results.design import Factor, Level
from farweb.results.metrics import find_metric
from farweb.size.judge import Meets
from farweb.size.screen import screen
from farweb.size.tried import Numbers, Reading, Tried
from farweb.summary.screen import screen as screen_of_sweep
from sample_reports import bare_figures, with_manifest, with_scenarios
from sample_results import Row, request
from sample_sweeps import Levels, design_of, factor, write_sweep
from test_report import HOSTILE, Outline

pytestmark = pytest.mark.usefixtures("unpainted")

BUFFER = "leg.0.tcp.buffer"
QUEUE = "path.link.0.down.queue"
LOAD = "workload.load"


def circuits(labels: Mapping[str, str]) -> dict[str, Any]:
    """The keys that the levels of `circuit` set, beside those that factors are named after."""
    keys: dict[str, Any] = {key: label for key, label in labels.items() if key != "circuit"}
    if "circuit" in labels:
        delay = {"cable": "60 ms", "satellite": "320 ms"}[labels["circuit"]]
        keys |= {"path.link.0.up.delay": delay, "path.link.0.down.delay": delay}
    return {key: int(value) if key == LOAD else value for key, value in keys.items()}


def seconds(levels: Levels, replication: int) -> float:
    """0.1 s and 0.4 s more over the satellite, 0.02 s a load; nothing by the queue; a chance that all points share."""
    far = 0.4 if levels.get("circuit") == "satellite" else 0.0
    own = 0.0005 * random.Random(f"{sorted(levels.items())} {replication}").random()
    return 0.1 + far + 0.02 * float(levels.get(LOAD, 1)) + 0.001 * replication + own


def requests(levels: Levels, replication: int) -> list[Row]:
    """Three requests that all take as long: it is their mean and their median."""
    return [request(place, seconds(levels, replication), 1000) for place in range(3)]


def quick(levels: Levels, replication: int) -> Row:
    """Metrics without the requests behind them: fewer files to write where quantiles do not matter."""
    return {"latency_mean_s": seconds(levels, replication), "requests": 100, "done": 100, "measured_s": 60.0}


@pytest.fixture(scope="module")
def factorial(tmp_path_factory: pytest.TempPathFactory) -> SweepResults:
    """2 circuits × 2 loads × 2 queues, 3 replications."""
    tmp_path = tmp_path_factory.mktemp("factorial")
    design = design_of({"circuit": ["cable", "satellite"], LOAD: [1, 4], QUEUE: ["64000 B", "256000 B"]}, 3)
    return with_scenarios(write_sweep(tmp_path / "factorial", design, None, requests, name="a sweep"), circuits)


HEADINGS = ["Results", "Figures", "Assumptions", "Warnings", "How to reproduce"]


@pytest.fixture(scope="module")
def page(factorial: SweepResults) -> str:
    with bare_figures():
        return report([factorial]).html()


def test_the_page_of_a_full_factorial_has_the_screen_of_show(factorial: SweepResults, page: str) -> None:
    outline = Outline(page)
    question = "How does mean latency depend on circuit, load and queue down?"
    assert outline.headings == [question, *HEADINGS]
    assert "a sweep · full factorial · 8 points × 3 seeds · 24 runs · seeds 1 to 3" in outline.text
    shown = [part for part in screen_of_sweep(factorial.summary()).parts if isinstance(part, str)]
    assert "Best: " in shown[0]
    for line in shown[:-1]:
        assert line.startswith("warning: ") or line in outline.text
    assert "60 ms or 320 ms" in outline.text
    assert "64 kB or 256 kB" in outline.text
    assert "farweb sweep scenario.toml --out factorial\nfarweb report factorial" in outline.text
    assert "0" * 64 in outline.text


def test_three_figures_that_the_design_allows(factorial: SweepResults, page: str) -> None:
    assert len(Outline(page).values("img", "src")) == 3
    asked = Outline(report([factorial], plots=["effects"]).html())
    assert len(asked.values("img", "src")) == 1


def test_the_figure_of_effects_judges_as_the_table_above_it(tmp_path: Path) -> None:
    """A fifth of the requests takes a third longer: the median is the same, the level worse by the whole rule."""

    def slower(levels: Levels, _: int) -> list[Row]:
        slow = 4.0 if levels["circuit"] == "satellite" else 3.0
        return [request(place, slow if place % 5 == 0 else 1.0, 1000) for place in range(300)]

    design = design_of({"circuit": ["cable", "satellite"]}, 1)
    sweep = with_scenarios(write_sweep(tmp_path / "s", design, None, slower), circuits)
    with bare_figures():
        of_rule, of_median = (
            Outline(report([sweep], plots=["effects"], metrics=metrics).html()).text.partition("What each level")[2]
            for metrics in ((), ["latency_p50_s"])
        )
    assert "satellite is worse than cable" in of_rule
    assert "equivalent" in of_median


def test_large_designs_are_pooled_by_what_matters_or_by_what_was_asked_for(tmp_path: Path) -> None:
    queues = [f"{size}000 B" for size in (16, 32, 64, 128, 256)]
    design = design_of({"circuit": ["cable", "satellite"], LOAD: [1, 2, 4], QUEUE: queues}, 2)
    sweep = with_scenarios(write_sweep(tmp_path / "sweep", design, quick), circuits)
    outline = Outline(report([sweep], metrics=["latency_mean_s"], plots=["effects"]).html())
    assert "Estimates by circuit and load" in outline.text
    assert "Pooled over queue down" in outline.text
    assert "All 30 points" in outline.text
    assert outline.tags.count("tr") > 36
    asked = Outline(report([sweep], by=[QUEUE], metrics=["latency_mean_s"], plots=["effects"]).html())
    assert "Estimates by queue down" in asked.text
    assert "Pooled over circuit and load" in asked.text
    assert "--by path.link.0.down.queue" in asked.text


def hypercube(folder: Path, failed: int = 0) -> SweepResults:
    """Thirty loads, 1 to 30, in an order of chance; the runs of the first ones fail."""
    order = random.Random(2).sample(range(30), 30)
    design = design_of({LOAD: range(1, 31)}, 2, kind="latin-hypercube", points=[(place,) for place in order])
    lost = {(point, replication): "out of memory" for point in range(failed) for replication in range(2)}
    return with_scenarios(write_sweep(folder / "sweep", design, quick, failed=lost), circuits)


def loads_in(table: str) -> list[int]:
    """The loads that name the rows of a table."""
    return [int(load) for load in re.findall(r'<th scope="row" class="name">(\d+)</th>', table)]


@pytest.mark.parametrize(
    ("metric", "best", "worst"),
    [
        ("latency_mean_s", range(1, 9), range(23, 31)),
        ("goodput_bps", range(30, 22, -1), range(8, 0, -1)),
    ],
)
def test_of_many_points_the_table_has_the_best_and_the_worst(
    tmp_path: Path, metric: str, best: range, worst: range
) -> None:
    """Latency and goodput grow with the load: one is best where the other is worst. All points are below, folded."""
    sweep = hypercube(tmp_path)
    goodput = sweep.runs.with_columns(goodput_bps=sweep.runs[LOAD] * 1e6)
    goodput.write_parquet(sweep.path / "runs.parquet")
    ends, _, below = results(SweepResults.open(sweep.path), [find_metric(metric)], sweep.design.factors)
    assert loads_in(ends) == [*best, *worst]
    assert loads_in(below) == [level[0] + 1 for level in sweep.design.points]


def test_no_point_is_twice_in_a_table_of_few_that_have_values(tmp_path: Path) -> None:
    sweep = hypercube(tmp_path, failed=19)
    ends, *_ = results(sweep, [find_metric("latency_mean_s")], sweep.design.factors)
    assert loads_in(ends) == sorted(level[0] + 1 for level in sweep.design.points[19:])


def test_pooled_estimates_are_of_the_replications_means(tmp_path: Path) -> None:
    """Means over both levels: 1.5 and 2.5 in the two replications; t(1) = 12.706, so 2 ± 12.706 · 0.5."""
    design = design_of({LOAD: [1, 2], "run.seed": [3, 4]}, 2)

    def metrics(levels: Levels, replication: int) -> Row:
        return {"latency_p50_s": 1.0 + replication + (levels["run.seed"] == 4) + 10 * (levels[LOAD] == 2)}

    sweep = with_scenarios(write_sweep(tmp_path / "sweep", design, metrics), lambda labels: {})
    page = report([sweep], metrics=["latency_p50_s"], by=[LOAD], plots=["effects"]).html()
    assert ">2 s<br><small>0 … 8.35 s</small></td>" in page
    assert ">12 s<br><small>5.65 … 18.4 s</small></td>" in page


def test_an_unfinished_sweep_with_failures_says_so_first(tmp_path: Path) -> None:
    design = design_of({"circuit": ["cable", "satellite"], LOAD: [1, 2]}, 3)
    failed = {(0, 1): "disk full", (1, 2): "disk full", (1, 0): "other"}
    sweep = write_sweep(tmp_path / "sweep", design, None, requests, failed=failed, missing=[(3, 0), (3, 1), (3, 2)])
    outline = Outline(report([with_scenarios(sweep, circuits)]).html())
    assert outline.text.index("This sweep is not finished: 9 of 12 runs have ended.") < outline.text.index("Results")
    assert "3 runs of 9 failed. Numbers are of the others." in outline.text
    assert "2 runs failed: disk full" in outline.text
    assert "1 run failed: other" in outline.text
    assert "The sweep is incomplete: 3 of 12 runs are missing" in outline.text


def test_independent_seeds_are_no_range(tmp_path: Path) -> None:
    design = replace(design_of({LOAD: [1, 2]}, 2), random_numbers="independent")
    sweep = with_scenarios(write_sweep(tmp_path / "sweep", design, None, requests, seed=2**52), circuits)
    seeds = {f"{2**52 + place}": 2 + place * 2**40 for place in range(2)}
    changed = sweep.runs.with_columns(seed=sweep.runs["seed"].cast(str).replace_strict(seeds))
    changed.write_parquet(sweep.path / "runs.parquet")
    outline = Outline(report([SweepResults.open(sweep.path)], plots=["effects"]).html())
    assert f"seeds 2 and {2 + 2**40}" in outline.text
    assert "Every run has its own seed" in outline.text


def test_one_replication_is_no_basis_for_intervals(tmp_path: Path) -> None:
    sweep = with_scenarios(write_sweep(tmp_path / "s", design_of({LOAD: [1, 2]}, 1), None, requests), circuits)
    outline = Outline(report([sweep]).html())
    assert "One replication has no confidence interval" in outline.text
    assert "Intervals: " not in outline.text


def test_requests_without_a_latency_are_warned_of(tmp_path: Path) -> None:
    def metrics(levels: Levels, replication: int) -> Row:
        return {**quick(levels, replication), "unfinished": 25 if levels[LOAD] == 2 else 0}

    sweep = with_scenarios(write_sweep(tmp_path / "sweep", design_of({LOAD: [1, 2]}, 3), metrics), circuits)
    outline = Outline(report([sweep]).html())
    assert "75 of 600 requests (25 % in the worst run) were cut off by the end of the run" in outline.text


def test_the_page_of_a_latin_hypercube(tmp_path: Path) -> None:
    shares = [place / 29 for place in range(30)]
    loads = [Level(f"{1 + place}", 1 + place, float(1 + place)) for place in range(30)]
    delays = [
        Level(f"{10 + round(90 * share)} ms", f"{10 + round(90 * share)} ms", 0.01 + 0.09 * share) for share in shares
    ]
    factors = [Factor(LOAD, "", tuple(loads)), Factor("path.link.0.down.delay", "s", tuple(delays))]
    order = random.Random(1).sample(range(30), 30)
    design = design_of(factors, 2, kind="latin-hypercube", points=list(zip(range(30), order, strict=True)))
    sweep = with_scenarios(write_sweep(tmp_path / "sweep", design, None, requests), circuits)
    outline = Outline(report([sweep]).html())
    assert "Latin hypercube · 30 points × 2 seeds" in outline.text
    assert "The points with the 8 best and the 8 worst values of mean latency" in outline.text
    assert "1 … 30, 30 values" in outline.text
    assert "10 ms … 100 ms" in outline.text
    assert re.search(r"Best mean latency: 1\d\d ms at load 1, .*; worst: .* at load 30, ", outline.text)
    assert "Share of variation of ranks" in outline.text


def test_the_page_of_a_search_has_the_screen_of_size(tmp_path: Path) -> None:
    windows = [Level(f"{size} B", size, float(size)) for size in (8192, 65536, 32768)]
    design = design_of([Factor(BUFFER, "B", tuple(windows))], 4, kind="search")

    def metrics(levels: Levels, replication: int) -> Row:
        return {"utilisation": levels[BUFFER] / 65536 * (1 - 0.01 * replication), "carried_bps": 1e6}

    sweep = with_scenarios(write_sweep(tmp_path / "sweep", design, metrics, repeats={0: 2, 1: 3}))
    small, middle, large = (
        Tried(f"{size} B", size, float(size), n, verdict, (Reading("utilisation", size / 65536, None, None),), word)
        for size, n, verdict, word in (
            (8192, 2, Meets.FAILS, "fails"),
            (32768, 4, Meets.UNDECIDED, "open"),
            (65536, 3, Meets.MEETS, "meets"),
        )
    )
    found = Numbers(
        name="a",
        key=BUFFER,
        unit="B",
        target="utilisation >= 0.9",
        largest=False,
        confidence=0.95,
        attainable=True,
        answer=large,
        low=small,
        high=large,
        interval_of="replications",
        scope="",
        reached=(),
        without_chance=False,
        curve=(small, middle, large),
        runs=9,
        connections=(),
        warnings=("the load is at its first level",),
        best=None,
        holds="Holds for traffic of this kind.",
    )
    assert Numbers.of_dict(found.to_dict()) == found
    search = {"key": BUFFER, "target": found.target, "largest": False, "answer": found.to_dict()}
    outline = Outline(report([with_manifest(sweep, {"search": search})]).html())
    assert outline.headings[0] == "What is the smallest TCP buffer with utilisation >= 0.9?"
    for line in (*screen(found, details=True).parts,):
        assert not isinstance(line, str) or line in outline.text
    assert re.search(r"65536 B.*meets.*32768 B.*open.*8192 B.*fails", outline.text)
    vary = "--vary 'leg.0.tcp.buffer=8192 B..65536 B' --target 'utilisation >= 0.9' --out sweep"
    assert f"farweb size scenario.toml {vary}\n" in outline.text
    assert "the load is at its first level" in outline.text
    assert "search for a size · 3 points · 9 runs" in outline.text
    assert "Estimates at each point" not in outline.text


def test_quantiles_are_those_of_all_requests_with_a_bootstrap(tmp_path: Path) -> None:
    def many(levels: Levels, replication: int) -> list[Row]:
        return [request(place, 0.1 * (1 + (place + replication) % 5) * levels[LOAD], 1000) for place in range(40)]

    sweep = write_sweep(tmp_path / "sweep", design_of({LOAD: [1, 2]}, 4), requests=many)
    page = report([with_scenarios(sweep, circuits)]).html()
    outline = Outline(page)
    assert ">300 ms<" in page
    assert "Warm-up and measurement" in outline.text
    assert "requests of a run40" in outline.text


def test_names_are_text_whatever_they_hold(tmp_path: Path) -> None:
    design = design_of([factor(HOSTILE[8:40], [f"{HOSTILE[-25:]}1", f"{HOSTILE[-25:]}2"])], 2)
    failed = {(0, 1): HOSTILE}
    sweep = write_sweep(tmp_path / "sweep", design, None, requests, name=HOSTILE, failed=failed)
    page = report([with_scenarios(sweep, lambda labels: {})]).html()
    outline = Outline(page)
    assert "script" not in outline.tags
    assert "<b onclick" not in page
    assert outline.text.count(HOSTILE) == 5  # the name of the sweep, titles of three figures, and the error
    assert outline.text.count(HOSTILE[8:40]) > 5


def test_the_same_sweep_gives_the_same_page(factorial: SweepResults, page: str) -> None:
    assert report([SweepResults.open(factorial.path)]).html() == page


def test_a_sweep_in_an_object_store_has_the_same_answer(factorial: SweepResults, page: str) -> None:
    import fsspec

    fsspec.filesystem("memory").put(str(factorial.path), "/factorial", recursive=True)
    with bare_figures():
        away = report([SweepResults.open("memory://factorial")]).html()
    answers = [each.partition('<section class="answer">')[2].partition("</section>")[0] for each in (away, page)]
    assert answers[0] == answers[1] != ""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"metrics": ["link_7_up_bps"]}, "its runs have no link_7_up_bps"),
        ({"by": ["speed"]}, "no factor of this sweep; it has circuit"),
    ],
)
def test_what_there_is_not_is_named(factorial: SweepResults, options: dict[str, list[str]], message: str) -> None:
    with pytest.raises(FarwebError, match=message):
        report([factorial], **options)  # type: ignore[arg-type]


def test_a_sweep_without_a_run_has_no_page(tmp_path: Path) -> None:
    design = design_of({LOAD: [1, 2]}, 1)
    sweep = write_sweep(tmp_path / "sweep", design, None, requests, missing=[(0, 0), (1, 0)])
    with pytest.raises(ResultsError, match="no run has ended yet"):
        report([sweep])


def test_factors_have_short_names_unless_two_would_share_one(tmp_path: Path) -> None:
    keys = [LOAD, QUEUE, BUFFER, "leg.0.tcp.constants.rto_min", "leg.0.carrier.connections", "circuit", "TCP mss"]
    design = design_of({key: [1, 2] for key in [*keys, "leg.0.tcp.mss"]}, 1, points=[(0,) * 8])
    sweep = with_scenarios(write_sweep(tmp_path / "sweep", design, None, requests), lambda labels: {})
    short = ["load", "queue down", "TCP buffer", "TCP rto min", "connections", "circuit", "TCP mss", "TCP MSS"]
    assert list(names_of(sweep).values()) == short
    twice = design_of({"load": [1], LOAD: [1]}, 1)
    sweep = with_scenarios(write_sweep(tmp_path / "twice", twice, None, requests), lambda labels: {})
    assert list(names_of(sweep).values()) == ["load", LOAD]
