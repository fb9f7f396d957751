"""The study of a cache hierarchy: its workload to the byte, its closed form, and its campaign end to end."""

import csv
import re
import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from farweb.reproduce.study import PAPERS, Study, StudyResults, read_study
from samples import Farweb

CALGARY: Study = read_study(PAPERS / "calgary")
workload: Any = CALGARY.module("workload")
traces: Any = CALGARY.module("traces")
transfers: Any = CALGARY.module("transfers")
figures: Any = CALGARY.module("figures")


@pytest.mark.parametrize("seed", workload.SEEDS[:2])
def test_seeds_meet_the_tables(seed: int) -> None:
    drawn = workload.workload(seed)
    size = np.sort(drawn.size)
    assert (size.size, size.sum(), size[0], size[-1]) == (5000, 48_121_956, 68, 1_494_900)
    assert (size[2499] + size[2500]) / 2 == 3958
    table: dict[str, list[tuple[int, int | None]]] = {
        "good": [(2252, 20_957_250), (758, 6_821_625), (1990, 20_343_081)],
        # 21,353,484 in the paper: its sum is 8 bytes short of its total.
        "threshold": [(2187, 21_353_492), (723, 20_291_324), (2090, 6_477_140)],
        "average": [(2973, None), (514, None), (1513, None)],
        "poor": [(3642, None), (354, None), (1004, None)],
    }
    for case, rows in table.items():
        for number, (count, total) in enumerate(rows):
            own = drawn.size[drawn.source[case] == number]
            assert own.size == count, case
            assert total is None or own.sum() == total, case
    server, parent, child = (drawn.size[drawn.source["threshold"] == number] for number in range(3))
    assert child.max() <= 8192 < parent.min() and server.max() > 8192 > server.min()


def test_the_tables_of_the_first_seed_are_those_that_are_kept() -> None:
    kept = sorted((PAPERS / "calgary" / "tables").iterdir())
    assert [file.name for file in kept] == sorted(f"{case}-1.parquet" for case in workload.COUNTS)
    for file in kept:
        assert pq.read_table(file).equals(CALGARY.tables[file.name]()), file


def test_sizes_and_gaps_stay_those_of_the_model() -> None:
    for seed in workload.SEEDS[:2]:
        drawn = workload.workload(seed)
        tail = drawn.size[drawn.size >= 10_000]
        assert tail.size / 5000 == pytest.approx(0.22, abs=0.02)
        # Hill's estimate of the index; drawn with 1.322, cut off at the largest, stretched to the total.
        assert 1 / np.log(tail / 10_000).mean() == pytest.approx(1.322, rel=0.1)
        assert drawn.gap.mean() == pytest.approx(1, abs=0.05)
        assert drawn.gap.std() == pytest.approx(1, abs=0.06)


def test_seeds_differ_and_come_again() -> None:
    assert not (workload.workload(1).size == workload.workload(2).size).all()
    again = workload.workload.__wrapped__(1)
    assert (again.size == workload.workload(1).size).all()
    assert (again.gap == workload.workload(1).gap).all()


def test_clusters_move_transfers_and_change_none() -> None:
    drawn, correlations = workload.workload(1), []
    for strength in workload.STRENGTHS:
        moved = drawn.clustered(strength, 1)
        assert sorted(zip(moved.size, moved.source["good"], strict=True)) == sorted(
            zip(drawn.size, drawn.source["good"], strict=True)
        )
        assert (moved.gap == drawn.gap).all()
        large = moved.size >= 10_000
        assert (moved.size[large] == drawn.size[drawn.size >= 10_000]).all(), "they keep their order"
        correlations.append(np.corrcoef(large[1:], large[:-1])[0, 1])
    assert drawn.clustered(0, 1) is drawn
    assert correlations[0] == pytest.approx(0, abs=0.05)
    assert correlations == sorted(correlations) and correlations[-1] > 0.8


def test_clusters_among_the_hits_at_the_child_leave_the_others_where_they_are() -> None:
    drawn = workload.workload(1)
    child = drawn.source["good"] == workload.CHILD
    moved = drawn.clustered(0.95, 1, child)
    assert (moved.source["good"] == drawn.source["good"]).all()
    assert (moved.size[~child] == drawn.size[~child]).all()
    assert (moved.size[child] != drawn.size[child]).any()


def test_requests_that_travel_are_those_of_the_case() -> None:
    drawn = workload.workload(1)
    table, plain = CALGARY.tables["requests-threshold-1.parquet"](), drawn.table("threshold")
    assert table.drop_columns("request_bytes").equals(plain.drop_columns("request_bytes"))
    assert set(table["request_bytes"].to_pylist()) == {300}


MEASURED = slice(10_000, 15_000)


@pytest.mark.parametrize("locality", ["dynamic", "static"])
def test_traces_are_near_the_tables_and_ask_again(locality: str) -> None:
    for seed in workload.SEEDS[:2]:
        trace = traces.trace(seed, locality)
        size = trace.size[MEASURED]
        assert trace.size.size == 15_000
        assert size.sum() == pytest.approx(48_121_956, rel=0.06)
        assert np.median(size) == pytest.approx(3958, rel=0.06) and size.max() <= 1_494_900
        assert trace.start_s[9_999] == pytest.approx(10_000, abs=1e-9), "the measured ones start after the warm-up"
        documents, first, place = np.unique(trace.document, return_index=True, return_inverse=True)
        assert (trace.size == trace.size[first][place]).all(), "a document has one size"
        assert documents.size < 10_000


@pytest.mark.slow(reason="traces")
@pytest.mark.parametrize(
    ("case", "child", "parent"),
    [
        *(("good", 0.40, 0.15), ("average", 0.30, 0.10), ("poor", 0.20, 0.07)),
        *(("threshold", 0.418, 0.145), ("static", 0.30, 0.10)),
    ],
)
def test_capacities_give_the_hit_ratios_of_the_paper(case: str, child: float, parent: float) -> None:
    ratios = []
    for seed in workload.SEEDS:
        trace = traces.trace(seed, traces.LOCALITIES[case])
        source = traces.served(trace, traces.caches(case))
        ratios.append([(source[MEASURED] == each).mean() for each in (workload.CHILD, workload.PARENT)])
        if case == "threshold":
            assert trace.size[source == workload.CHILD].max() <= 8192 < trace.size[source == workload.PARENT].min()
    assert np.mean(ratios, axis=0) == pytest.approx([child, parent], abs=0.006)


@pytest.mark.parametrize("case", ["good", "threshold", "static"])
def test_arrangements_leave_more_and_more_to_chance(case: str) -> None:
    tables = {each: CALGARY.tables[f"trace-{case}-{each}-1.parquet"]().to_pandas() for each in traces.ARRANGEMENTS[1:]}
    listed, alike, drawn, shuffled = tables.values()
    for table in tables.values():
        assert (table[:10_000] == listed[:10_000]).all(axis=None), "those that fill the caches stay"
        assert (table["start_s"] == listed["start_s"]).all()
        measured, own = table[10_000:], listed[10_000:]
        assert measured["source"].value_counts().to_dict() == own["source"].value_counts().to_dict()
    listed, alike, drawn, shuffled = (table[10_000:] for table in tables.values())

    def bytes_of_child(table: Any) -> int:
        return int(table["response_bytes"][table["source"] == "child"].sum())

    assert (alike["source"] != listed["source"]).any() and (drawn["source"] != alike["source"]).any()
    assert (alike["response_bytes"] == listed["response_bytes"]).all()
    assert (drawn["response_bytes"] == listed["response_bytes"]).all()
    assert bytes_of_child(alike) == pytest.approx(bytes_of_child(listed), rel=0.1)
    pairs = [sorted(zip(table["response_bytes"], table["source"], strict=True)) for table in (drawn, shuffled)]
    assert pairs[0] == pairs[1]
    assert (drawn["object"] != shuffled["object"]).mean() > 0.9
    if case == "threshold":
        small = drawn["response_bytes"] <= 8192
        assert set(drawn["source"][small]) == {"child", "server"}
        assert set(drawn["source"][~small]) == {"parent", "server"}


def test_live_caches_are_asked_for_a_trace_without_sources() -> None:
    live, listed = (CALGARY.tables[f"trace-{each}-1.parquet"]() for each in ("dynamic", "good-listed"))
    assert listed.drop_columns("source").equals(live)


def test_both_scenarios_have_the_same_caches() -> None:
    folder = PAPERS / "calgary"
    live, policies = (tomllib.loads((folder / f"{name}.toml").read_text("utf-8")) for name in ("live", "policies"))
    assert live["cache"] == policies["cache"]
    held = {
        level["level"]: tuple(level["set"][f"cache.{number}.capacity"] for number in range(2))
        for level in policies["sweep"]["factors"]["memory"]
    }
    for case, level in (("good", "9.2 / 30 MB"), ("poor", "1.6 / 3.7 MB")):
        assert tuple(cache["capacity"] for cache in traces.caches(case)) == held[level]
    (both,) = (level["set"] for level in policies["sweep"]["factors"]["threshold"] if level["level"] == "both")
    assert [both[f"cache.{number}.admit"] for number in range(2)] == [
        cache["admit"] for cache in traces.caches("threshold")
    ]


def test_the_closed_form_of_slow_start_by_hand() -> None:
    server, child = transfers.alone_ns("server", 40), transfers.alone_ns("child", 40)
    # One packet of 512 B over three links of 10 Mbit/s, and its ACK of 40 B: 72 ms there and back.
    assert server[0] == 72_000_000 + 3 * (409_600 + 32_000)
    # Its ACK lets out two of 552 B; the second waits for the first once.
    assert server[1] == server[0] + 72_000_000 + 3 * (441_600 + 32_000)
    assert server[2] == server[1] + 441_600
    steps = np.flatnonzero(np.diff(server) > 10_000_000) + 1
    assert steps.tolist() == [1, 3, 7, 15, 31]
    # In a round trip of 2 ms the link sends four and a half: from the fourth on it is never idle.
    assert set(np.diff(child[7:])) == {441_600}


def test_references_are_what_ns_2_has_left() -> None:
    with (PAPERS / "calgary" / "ns-2.csv").open(encoding="utf-8") as file:
        rows = {(row["case"], row["rate"], row["c1_mbit"], row["seed"]): row for row in csv.DictReader(file)}

    def shown(column: str, *runs: tuple[str, int, int]) -> list[str]:
        return [f"{float(rows[case, str(rate), str(c1), '1'][column]):.3f}" for case, rate, c1 in runs]

    three = [(case, 40, 10) for case in ("good", "average", "poor")]
    expected = {
        "C8": shown("all_s", *three),
        "C9": [value for source in ("server", "parent", "child") for value in shown(f"{source}_s", *three)],
        "C10": shown("all_s", ("good", 40, 10), ("threshold", 40, 10)),
        "C11": shown("all_s", ("good", 40, 100), ("threshold", 40, 100)),
        "C12": shown("all_s", ("good", 80, 10), ("threshold", 80, 10), ("good", 80, 100), ("threshold", 80, 100)),
    }
    references = {claim.id: claim.reference for claim in CALGARY.claims}
    for name, values in expected.items():
        assert re.findall(r"\d\.\d+", references[name]) == values, name
    light = rows["good", "40", "10", "1"]
    assert references["C5"] == f"{light['above_1_s']}; none near 6.0 s" and light["near_6_s"] == "0"
    heavy = rows["good", "80", "10", "1"]
    assert references["C6"] == f"{heavy['above_1_s']} / {heavy['from_6_s']}"


@pytest.mark.slow(reason="study")
@pytest.mark.timeout(400)  # some ten seconds on two idle cores
def test_a_coarse_look_end_to_end(folder: Path, farweb: Farweb) -> None:
    answer = farweb("reproduce", "calgary", "--quick", "--jobs", "2", "--json")
    assert answer.code == 4, answer.err  # C6 is not met, and says why
    claims = {claim["id"]: claim for claim in answer.json()["claims"]}
    assert list(claims) == [f"C{number}" for number in range(1, 17)]
    verdicts = {name: claim["verdict"] for name, claim in claims.items()}
    assert {name for name, verdict in verdicts.items() if verdict == "fail"} == {"C5", "C6"}
    assert {name for name, verdict in verdicts.items() if verdict == "not run"} == {"C14", "C15", "C16"}
    assert all(claims[name]["why"] for name in ("C5", "C6", "C14", "C15", "C16"))
    assert claims["C3"]["measured"] == 0
    assert claims["C8"]["reference"] == "0.153 / 0.192 / 0.227 s" and "reference" not in claims["C1"]
    out = folder / "results" / "reproduce-quick"
    drawn = {path.stem.removeprefix("calgary-") for path in (out / "figures").iterdir()}
    assert drawn == set(CALGARY.figures)
    assert "| reference |" in (out / "scoreboard.md").read_text("utf-8")

    # Of equal transfers without loss farweb has the latencies of ns-2, in the mean of each source to a part in 5,000.
    results = StudyResults(CALGARY, out / "calgary", quick=True)
    for row in figures._of_ns2():
        if row["seed"] == "1" and row["rate"] in ("10", "40") and row["retransmits"] == "0":
            capacity = transfers.SLOW if row["c1_mbit"] == "10" else transfers.FAST
            for source in transfers.LINKS:
                found = transfers.of_case(results, "mean_s", row["case"], int(row["rate"]), source, capacity)
                assert found[0] == pytest.approx(float(row[f"{source}_s"]), rel=2e-4), (row, source)

    # Live caches serve as if fetching took no time, but for documents that are asked for again at once.
    for case in ("good", "threshold"):
        for source in ("child", "parent"):
            points = [
                {"rate": 80, "served": f"{case}, {way}", "capacity": transfers.SLOW} for way in ("live", "listed")
            ]
            live, listed = (transfers.of_runs(results, "live", "transfers", point, source) for point in points)
            assert live == pytest.approx(listed, abs=50), (case, source)
