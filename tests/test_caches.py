"""Caches on the path, end to end: what commands, tables, figures and breakdowns say of them fits together."""

import re
from pathlib import Path

import polars as pl
import pytest

from farweb import FarwebError, Results, ResultsError, Scenario
from farweb.library.sweep_results import SweepResults
from farweb.plot import describe, draw
from farweb.results.measure import measure
from farweb.results.parts import parts, path_legs
from farweb.results.totals import caches_of
from samples import Farweb, scenario_of

pytestmark = pytest.mark.usefixtures("warm_workers")

LINKS = ("10 Mbit/s, 5 ms", "10 Mbit/s, 20 ms", "10 Mbit/s, 60 ms")
RECORD = '[origin]\nrelease = "at-once"\n[record]\nexchanges = true\nlinks_every = "1 s"\n'
NODES = "clients edge shield origin"
LEGS = ("clients edge http/1.0", "edge shield http/1.1", "shield origin http/1.0")
SPLIT = scenario_of(NODES, *LINKS, legs=LEGS, rest=RECORD)
THROUGH = scenario_of(NODES, *LINKS, legs=["clients origin http/1.0"], rest=RECORD)

CACHES = """
[[cache]]
node = "shield"
policy = "lru"
capacity = "1 MB"
ttl = "30 s"

[[cache]]
node = "edge"
policy = "lru"
capacity = "20 kB"
"""

# Objects 1 and 2 of 9 kB fit into the edge together, not with 3. The second request for 1 comes while that is fetched.
REQUESTS = """\
start_s,host,request_bytes,response_bytes,object
0.0,a.example,300,9000,1
0.2,a.example,300,9000,1
5.0,a.example,300,9000,1
10.0,a.example,300,9000,2
15.0,a.example,300,9000,3
20.0,a.example,300,9000,1
60.0,a.example,300,9000,2
"""


def write(folder: Path, text: str) -> Path:
    (folder / "requests.csv").write_text(REQUESTS)
    scenario = folder / "caches.toml"
    scenario.write_text(text)
    return scenario


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Results:
    folder = tmp_path_factory.mktemp("caches")
    return Scenario.load(write(folder, SPLIT + CACHES)).run(out=folder / "r")


def test_who_serves_whom(run: Results) -> None:
    served = run.requests.sort("request")["served_by"].to_list()
    # The fifth evicts 1 from the edge, and the shield serves it; its copy of 2 is 50 s old, and asked about.
    assert served == ["origin", "edge", "edge", "origin", "origin", "shield", "shield"]
    answers = run.exchanges.filter(pl.col("leg") == 0).sort("request")["cache_answer"].to_list()
    assert answers == ["miss", "delayed hit", "hit", "miss", "miss", "miss", "miss"]
    shield = run.exchanges.filter(pl.col("leg") == 1).sort("request")["cache_answer"].to_list()
    assert shield == ["miss", "miss", "miss", "hit", "revalidated"]


def test_show_tells_what_each_cache_served(run: Results, farweb: Farweb) -> None:
    edge, shield = farweb("show", run.path, "--json").json()["summary"]["caches"]
    assert (edge["node"], edge["requests"], edge["hits"], edge["delayed_hits"]) == ("edge", 7, 1, 1)
    assert (shield["node"], shield["requests"], shield["hits"], shield["revalidations"]) == ("shield", 5, 2, 1)
    assert (edge["objects"], edge["bytes"], shield["objects"]) == (2, 18_000, 3)
    assert (shield["hit_ratio"], shield["byte_hit_ratio"]) == (0.4, 0.4)
    said = " ".join(farweb("show", run.path).out.split())
    assert "cache at edge: hits for 14.3 % of requests, 14.3 % of bytes; delayed hits for 14.3 % more" in said
    shown = farweb("show", run.path, "--details").out
    assert "Caches, after the warm-up" in shown
    assert re.search(r"edge .* 20 kB, lru .* 7 .* 14.3 % .* 14.3 %", shown)


def test_the_table_adds_up_to_the_totals(run: Results) -> None:
    counts = ["requests", "hits", "delayed_hits", "revalidations", "request_bytes", "hit_bytes"]
    sums = run.caches.group_by("node").agg(pl.col(counts).sum()).sort("node")
    assert sums.select(counts).rows() == [(7, 1, 1, 0, 63_000, 9_000), (5, 2, 0, 1, 45_000, 18_000)]
    assert max(run.caches.filter(pl.col("node") == "edge")["bytes"].to_list()) <= 20_000


def test_metrics_of_caches_leave_the_warm_up_out(run: Results, tmp_path: Path) -> None:
    found = measure(run)
    # In the order of the scenario, where the shield stands first.
    assert (found["cache_0_requests"], found["cache_0_hit_ratio"], found["cache_1_hit_ratio"]) == (5, 0.4, 1 / 7)
    assert found["cache_1_delayed_hit_ratio"] == 1 / 7
    warm = Scenario.load(write(tmp_path, SPLIT + CACHES), {"run.warmup": "4 s"}).run(out=tmp_path / "r")
    assert [cache.requests for cache in caches_of(warm)] == [5, 4]


@pytest.mark.parametrize("legs", [SPLIT, THROUGH])
def test_parts_add_up_to_the_latency_of_each_request(tmp_path: Path, legs: str) -> None:
    caches = CACHES.replace('ttl = "30 s"\n', "") if legs == THROUGH else CACHES
    run = Scenario.load(write(tmp_path, legs + caches)).run(out=tmp_path / "r")
    served = run.requests.select("request", "served_by")
    found = parts(run.exchanges.join(served, on="request"), path_legs(run.manifest), run.connections)
    both = found.join(run.requests, on="request", maintain_order="left")
    total = both.select(pl.sum_horizontal(pl.col(found.columns).exclude("request")))
    assert total.to_series().to_list() == (both["end_ns"] - both["start_ns"]).to_list()
    assert found.select(pl.min_horizontal(pl.all()).min()).item() >= 0
    delayed = found.row(1, named=True)
    assert delayed["fetch 0"] > 50_000_000
    assert found.select(pl.col("fetch 0").drop_nulls().gt(0).sum()).item() == 1
    assert run.breakdown().total_s("fetch") == pytest.approx(delayed["fetch 0"] / 7e9)
    hit = found.row(2, named=True)
    assert (hit["travel 0"], hit["server"]) == (5_000_000, 0)


def test_hits_over_time_draw_a_row_a_cache(run: Results, tmp_path: Path) -> None:
    figure = describe("hits", [run])
    assert [panel.title for panel in figure.panels] == ["edge", "", "shield", ""]
    hits, delayed, in_bytes = figure.panels[0].series
    assert (hits.y[0], delayed.y[0], hits.y[5], in_bytes.y[5]) == (0, 50, 100, 100)
    assert "edge (20 kB, lru): 14.3 % of 7 requests hit" in figure.caption
    draw("hits", [run], tmp_path / "hits.png")
    bare = Scenario.load(write(tmp_path, SPLIT)).run(out=tmp_path / "bare")
    with pytest.raises(ResultsError, match=r"has no cache: write a \[\[cache\]\] table"):
        describe("hits", [bare])
    whole = SPLIT.replace('links_every = "1 s"\n', "") + CACHES
    with pytest.raises(ResultsError, match=r"record\.links_every"):
        describe("hits", [Scenario.load(write(tmp_path, whole)).run(out=tmp_path / "whole")])


@pytest.mark.usefixtures("unpainted")
def test_capacity_is_drawn_against_what_it_is_worth(tmp_path: Path, farweb: Farweb) -> None:
    sweep = (
        '\n[sweep.factors]\n"cache.1.capacity" = ["9 kB", "20 kB", "30 kB"]\n"leg.0.tcp.mss" = ["1460 B", "536 B"]\n'
    )
    scenario = write(tmp_path, SPLIT + CACHES + sweep)
    assert farweb("sweep", scenario, "--out", tmp_path / "s", "--quiet").code == 0
    results = SweepResults.open(tmp_path / "s")
    figure = describe("cache-size", [results], by=[])
    hits, _, _, latency = figure.panels
    assert hits.series[0].y.tolist() == [pytest.approx(share) for share in (1 / 7, 1 / 7, 3 / 7)]
    assert latency.series[0].y[0] > latency.series[0].y[-1]
    assert "cache at edge" in figure.caption
    assert [len(panel.series) for panel in figure.panels] == [1, 1, 1, 1]  # none has the curve of another quantity
    with pytest.raises(FarwebError, match=r"against the capacity of a cache, and leg\.0\.tcp\.mss is none"):
        describe("cache-size", [results], x="leg.0.tcp.mss")
    assert farweb("plot", "cache-size", tmp_path / "s", "-o", tmp_path / "size.html").code == 0


def test_a_request_without_object_is_an_error(tmp_path: Path, farweb: Farweb) -> None:
    scenario = write(tmp_path, SPLIT + CACHES)
    (tmp_path / "requests.csv").write_text(REQUESTS.replace(",2\n", ",\n"))
    answer = farweb("run", scenario, "--out", tmp_path / "r")
    assert answer.code == 2
    assert "column object: nothing for the request at 10.000000000 s" in answer.err
    assert not (tmp_path / "r").exists()
