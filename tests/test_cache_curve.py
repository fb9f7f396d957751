"""Caches without packets: reading requests, counting answers, reporting curves."""

import gzip
import json
from collections import OrderedDict
from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from farweb import WorkloadError, cache_curve
from farweb.cache.replay import STACK_FROM, next_requests
from farweb.cache.settings import POLICIES, USUAL_POLICIES
from farweb.inputs.caching import BYPASS, INVALIDATE, STORE
from samples import LOG, Farweb, refused

# Objects of 1 to 4 kB; of a cache of 5 kB: a b, c pushes a out, b is a hit, a pushes c out.
TABLE = """\
start_s,host,request_bytes,response_bytes,object
0,x,300,2000,a
1,x,300,1000,b
2,y,300,4000,c
3,x,300,1000,b
4,x,300,2000,a
5,y,300,2000,a
"""


def write_trace(path: Path, requests: Sequence[tuple[int, int]]) -> None:
    path.write_text("".join(f"{time} {object_} {size}\n" for time, (object_, size) in enumerate(requests)))


def lru_hits(requests: Sequence[tuple[int, int]], capacity: int) -> list[bool]:
    """An LRU cache in the fewest words."""
    held: OrderedDict[int, int] = OrderedDict()
    hits = []
    for object_, size in requests:
        hits.append(object_ in held)
        if object_ in held:
            held.move_to_end(object_)
        elif size <= capacity:
            while sum(held.values()) + size > capacity:
                held.popitem(last=False)
            held[object_] = size
    return hits


def results(found: dict[str, Any]) -> dict[tuple[str, int], dict[str, Any]]:
    return {(each["policy"], each["capacity_bytes"]): each for each in found["results"]}


def test_hits_and_bytes_of_a_table_that_a_person_can_check(folder: Path, farweb: Farweb) -> None:
    Path("r.csv").write_text(TABLE)
    answer = farweb(
        "workload", "cache", "r.csv", "--policy", "lru", "--policy", "belady", "--capacity", "5 kB", "--json"
    )
    assert answer.code == 0, answer.err
    found = answer.json()
    assert (found["requests"], found["objects"], found["footprint_bytes"]) == (6, 3, 7000)
    assert (found["request_bytes"], found["largest_bytes"], found["resized"]) == (12_000, 4000, 0)
    lru = results(found)["lru", 5000]
    assert (lru["requests"], lru["hits"], lru["hit_ratio"], lru["byte_hit_ratio"]) == (6, 2, 2 / 6, 3000 / 12_000)
    assert results(found)["belady", 5000]["hits"] == 2


def test_a_capacity_is_a_share_of_the_footprint_too(folder: Path, farweb: Farweb) -> None:
    Path("r.csv").write_text(TABLE)
    found = farweb("workload", "cache", "r.csv", "--policy", "fifo", "--capacity", "50 %", "--json").json()
    assert [each["capacity_bytes"] for each in found["results"]] == [3500]
    again = farweb(
        "workload", "cache", "r.csv", "--policy", "lru", "fifo", "--capacity", "1 kB", "100 %,2 kB", "--json"
    )
    assert list(results(again.json())) == list(product(("lru", "fifo"), (1000, 2000, 7000)))


@given(st.lists(st.integers(0, 30), min_size=1, max_size=300), st.integers(30, 300))
def test_lru_in_one_pass_is_lru_run_by_run(
    tmp_path_factory: pytest.TempPathFactory, objects: list[int], capacity: int
) -> None:
    trace = tmp_path_factory.mktemp("stack") / "trace"
    requests = [(object_, 1 + 7 * object_ % 29) for object_ in objects]
    write_trace(trace, requests)
    capacities = [capacity, *range(30, 30 + STACK_FROM)]
    found = cache_curve(trace, ["lru"], [f"{each} B" for each in capacities], format="webcachesim", warmup="3")
    for each in found.results:
        hits = lru_hits(requests, each.capacity_bytes)
        assert each.hits == sum(hits[3:])
        assert each.hit_bytes == sum(size for hit, (_, size) in list(zip(hits, requests, strict=True))[3:] if hit)


@pytest.mark.parametrize("last_size", [10, 40], ids=["one size", "a size that changes"])
def test_capacities_that_the_stack_cannot_answer_get_a_cache_each(folder: Path, last_size: int) -> None:
    requests = [(1, 10), (2, 25), (3, 10), (1, 10), (2, 25), (4, 60), (1, last_size), (2, 25), (3, 10), (1, last_size)]
    write_trace(Path("t"), requests)
    capacities = range(10, 250, 10)
    found = cache_curve("t", ["lru"], [f"{each} B" for each in capacities], format="webcachesim")
    assert [each.hits for each in found.results] == [sum(lru_hits(requests, each)) for each in capacities]
    assert found.resized == (2 if last_size == 40 else 0)


def test_a_warm_up_fills_the_caches_and_is_not_measured(folder: Path, farweb: Farweb) -> None:
    Path("r.csv").write_text(TABLE)
    command = ("workload", "cache", "r.csv", "--policy", "lru", "--capacity", "5 kB")
    found = farweb(*command, "--warmup", "50 %", "--json").json()
    assert found["warmup_requests"] == 3
    assert found["results"][0]["requests"] == 3
    assert found["results"][0]["hit_ratio"] == 2 / 3
    assert "; the first 3 only fill the caches" in " ".join(farweb(*command, "--warmup", "3").out.split())
    all_left_out = farweb(*command, "--warmup", "10", "--json").json()["results"][0]
    assert (all_left_out["requests"], all_left_out["hit_ratio"]) == (0, None)


def test_every_policy_runs_on_every_capacity(folder: Path, farweb: Farweb) -> None:
    Path("r.csv").write_text(TABLE)
    found = farweb("workload", "cache", "r.csv", *(word for p in POLICIES for word in ("--policy", p)), "--json").json()
    assert {each["policy"] for each in found["results"]} == set(POLICIES)
    usual = farweb("workload", "cache", "r.csv", "--policy", "all")
    assert usual.code == 0
    assert all(policy in usual.out for policy in USUAL_POLICIES)
    assert "belady" not in usual.out


def test_time_to_live_and_admission(folder: Path, farweb: Farweb) -> None:
    Path("r.csv").write_text(TABLE)
    command = ("workload", "cache", "r.csv", "--policy", "lru", "--capacity", "100 kB", "--json")
    # b is asked for again after 2 s, a after 4 s and then 1 s.
    (stale,) = farweb(*command, "--ttl", "2 s").json()["results"]
    assert (stale["hits"], stale["revalidated_ratio"], stale["revalidated_byte_ratio"]) == (1, 2 / 6, 3000 / 12_000)
    (small,) = farweb(*command, "--admit", "max=1500 B").json()["results"]
    assert small["hits"] == 1
    (between,) = farweb(*command, "--admit", "min=1500 B", "--admit", "max=2 kB").json()["results"]
    assert between["hits"] == 2
    (second,) = farweb(*command, "--admit", "second-hit").json()["results"]
    assert second["hits"] == 1
    (never,) = farweb(*command, "--admit", "probability=0").json()["results"]
    assert never["hits"] == 0


def test_the_screen_has_three_policies_at_five_capacities(folder: Path, farweb: Farweb) -> None:
    Path("r.csv").write_text(TABLE)
    answer = farweb("workload", "cache", "r.csv")
    lines = answer.out.splitlines()
    assert lines[0] == "A cache of 700 B (10 % of 7 kB) answers 0 % of requests with lru."
    assert [" ".join(line.split()[:2]) for line in lines[4:9]] == ["7 B", "35 B", "140 B", "700 B", "3.50 kB"]
    assert lines[3].split() == ["capacity", *("lru", "s3-fifo", "gdsf") * 2]
    assert lines[-1] == "more: --policy all, --details"
    assert all(len(line) <= 80 for line in farweb("workload", "cache", "r.csv", "--policy", "all").out.splitlines())


@pytest.mark.parametrize(
    ("statuses", "sizes", "says"),
    [
        ([200] * 20, range(100, 120), "answers 0 to 90 % of requests with lru, as a changed size is a miss or a hit."),
        ([200] * 20, [100] * 19 + [101], "answers 85 to 90 % of requests with lru, as"),
        ([200] * 20, [100] * 20, "answers 90 % of requests with lru."),
        ([200] * 15 + [404] * 4 + [500], [100] * 20, "of requests with lru; 25 % of all are errors (4xx, 5xx)."),
    ],
    ids=["every answer has another size", "one has", "none has", "errors"],
)
def test_line_1_is_a_range_where_sizes_change_and_says_how_many_are_errors(
    folder: Path, farweb: Farweb, statuses: list[int], sizes: Sequence[int], says: str
) -> None:
    """Twenty requests for two URLs in turn: 18 are hits where a copy of another size may serve."""
    line = '192.0.2.1 - - [25/Oct/2015:04:11:{:02} +0100] "GET /{} HTTP/1.1" {} {}\n'
    lines = (line.format(n, n % 2, *each) for n, each in enumerate(zip(statuses, sizes, strict=True)))
    Path("access.log").write_text("".join(lines))
    farweb("workload", "import", "access.log", "-o", "r.parquet")
    for file in ("access.log", "r.parquet"):
        answer = farweb("workload", "cache", file, "--capacity", "1 MB", "--policy", "lru")
        assert says in " ".join(answer.out.partition("\n\n")[0].split()), answer.out
    found = cache_curve("access.log", ["lru"], ["1 MB"])
    assert found.errors == sum(status >= 400 for status in statuses)


def test_line_1_gives_a_changed_size_as_a_cause_only_where_its_own_policies_differ(folder: Path) -> None:
    """Three objects in turn, of another size each time, in a cache for two: LRU never has the next one, Belady may."""
    rows = (f"{second},a.example,300,{100 + second},{second % 3}\n" for second in range(30))
    Path("r.csv").write_text(TABLE.partition("\n")[0] + "\n" + "".join(rows))
    found = cache_curve("r.csv", ["lru", "belady"], ["260 B"])
    lru, belady = found.results
    assert (lru.hit_ratio, lru.other_hit_ratio, belady.other_hit_ratio) == (0, 0, 0)
    assert belady.hit_ratio is not None and belady.hit_ratio > 0.1
    (answer, *_) = found.screen(is_all=True).parts
    assert str(answer).endswith("answers 0 % of requests with lru.")


def test_a_log_is_read_by_the_rules_of_the_import(folder: Path, farweb: Farweb) -> None:
    Path("access.log.gz").write_bytes(gzip.compress(LOG.encode()))
    command = ("workload", "cache", "access.log.gz", "--format", "squid", "--policy", "lru", "--capacity", "1 MB")
    answer = farweb(*command, "--json")
    assert answer.code == 0, answer.err
    assert (answer.json()["requests"], answer.json()["results"][0]["hits"]) == (4, 1)
    read = answer.json()["input"]
    assert (read["lines"], read["rows"], read["unreadable_lines"], read["log"]["keep"]) == (4, 4, 0, "all")
    assert "4 lines of the log, 4 requests (keep: all)" in farweb(*command, "--details").out
    misses = farweb(*command, "--keep", "misses", "--details")
    assert "3 requests (keep: misses)" in misses.out
    assert "left out: 1 hit" in misses.out


def test_a_download_that_was_given_up_is_a_hit_where_a_copy_is_and_no_other_size(folder: Path, farweb: Farweb) -> None:
    """One object: given up before there is a copy, whole, given up, whole."""
    line = "{}.500 250 10.0.0.1 {} {} GET http://a.example/film - DIRECT/192.0.2.1 video/mp4\n"
    given_up, whole = ("TCP_MISS_ABORTED/200", 400), ("TCP_MISS/200", 1000)
    lines = (line.format(10**9 + n, *each) for n, each in enumerate([given_up, whole, given_up, whole]))
    Path("access.log").write_text("".join(lines))
    found = cache_curve("access.log", ["lru"], ["1 MB"])
    assert (found.results[0].hits, found.results[0].hit_bytes) == (2, 1400)
    assert (found.resized, found.footprint_bytes, found.treatment.served_only) == (0, 1000, 2)
    said = " ".join(farweb("workload", "cache", "access.log", "--policy", "lru").out.split())
    assert "50 % are never stored (HEAD, 206, 304, given up, errors), hits where a copy is held" in said
    assert (
        "2 given up by their client: a copy may serve"
        in farweb("workload", "import", "access.log", "-o", "r.parquet", "--explain").out
    )


def test_requests_without_an_object_are_an_error_that_tells_what_to_do(folder: Path, farweb: Farweb) -> None:
    lines = TABLE.splitlines()
    Path("none.csv").write_text("\n".join(line.rpartition(",")[0] for line in lines) + "\n")
    Path("some.csv").write_text(TABLE.replace("3,x,300,1000,b", "3,x,300,1000,"))
    for name, row in (("none.csv", 1), ("some.csv", 4)):
        says = f"{name}: request {row} (by start time) names no object"
        refused(farweb, "workload", "cache", name, "--policy", "lru", "--capacity", "1 kB", says=says)
    assert "a column object" in farweb("workload", "cache", "none.csv").err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--policy", "lruu"], 'unknown policy "lruu" (did you mean "lru"?); the policies are fifo, lru'),
        (["--capacity", "10"], 'capacity "10": write a size such as 10 MB'),
        (["--capacity", "0 %"], 'capacity "0 %": write a size'),
        (
            ["--capacity", "10 Mb"],
            'capacity "10 Mb" has the unknown unit "Mb" (units: B, kB, MB, GB, KiB, MiB, GiB, %)',
        ),
        (["--capacity", "1.5 B"], 'capacity "1.5 B": write a size'),
        (["--warmup", "100 %"], 'warm-up "100 %": write a share of the requests from 0 to below 100 %'),
        (["--admit", "size=1 kB"], "the rules are min=SIZE, max=SIZE, second-hit, probability=SHARE"),
        (["--admit", "probability=1.5"], "a probability is from 0 to 1"),
        (["--admit", "max=1 s"], "max=1 s: write a number and a unit, such as 8 KiB"),
        (["--ttl", "5"], "time to live 5: write a number and a unit, such as 1 h"),
        (["--out", "t.xlsx"], "t.xlsx: a table is written as .parquet, .csv, .tsv, a figure as .png"),
        (["-o", "f.gif"], "f.gif: a table is written as"),
    ],
)
def test_what_is_asked_wrongly_is_told(folder: Path, farweb: Farweb, options: list[str], message: str) -> None:
    Path("r.csv").write_text(TABLE)
    refused(farweb, "workload", "cache", "r.csv", *options, says=message)


def test_requests_that_no_copy_may_serve_alone(folder: Path, farweb: Farweb) -> None:
    Path("r.csv").write_text("start_s,host,request_bytes,response_bytes,method,object\n0,a,300,1000,POST,7\n")
    answer = farweb("workload", "cache", "r.csv", "--capacity", "10 %")
    assert answer.code == 0, answer.err
    assert "1 request for 1 object, 0 storable with 0 B; 100 % are not cacheable." in answer.out


def test_the_table_and_the_figure(folder: Path, farweb: Farweb) -> None:
    Path("r.csv").write_text(TABLE)
    command = ("workload", "cache", "r.csv", "--warmup", "1")
    for suffix, drawing in (("parquet", ("-o", "f.svg")), ("csv", ()), ("tsv", ())):
        assert farweb(*command, "--out", f"t.{suffix}", *drawing).code == 0
    tables = [pl.read_parquet("t.parquet"), pl.read_csv("t.csv"), pl.read_csv("t.tsv", separator="\t")]
    assert all(table.select("policy", "hits").equals(tables[0].select("policy", "hits")) for table in tables)
    assert len(tables[0]) == 9 * len(USUAL_POLICIES)
    drawn = Path("f.svg").read_text()
    for words in ("Hit ratio", "Byte hit ratio", "capacity", "s3-fifo", "5 requests", "footprint of", "Seed 1"):
        assert words in drawn
    figure = cache_curve("r.csv", ["lru"], ["5 kB"]).draw()
    assert figure.description is not None
    hits, in_bytes = figure.description.panels
    assert hits.series[0].y.tolist() == [pytest.approx(100 * 2 / 6)]
    assert in_bytes.series[0].y.tolist() == [100 * 3000 / 12_000]


def test_the_next_request_for_an_object() -> None:
    never = 2**64 - 1
    found = next_requests(np.array([5, 6, 5, 5, 7, 6], dtype=np.uint64), np.full(6, STORE, dtype=np.uint8))
    assert found.tolist() == [2, 5, 3, never, never, never]
    caching = np.array([STORE, BYPASS, STORE, INVALIDATE, STORE], dtype=np.uint8)  # which gives the copy up
    assert next_requests(np.full(5, 5, dtype=np.uint64), caching).tolist() == [2, never, never, 4, never]


def test_a_seed_gives_the_same_and_another_seed_another_random_policy(folder: Path) -> None:
    write_trace(Path("t"), [(number * number % 97, 10) for number in range(3000)])
    hits = [
        cache_curve("t", ["rand"], ["200 B"], format="webcachesim", seed=seed).results[0].hits for seed in (1, 1, 2)
    ]
    assert hits[0] == hits[1] != hits[2]


def test_python_gets_what_the_command_prints(folder: Path, farweb: Farweb) -> None:
    Path("r.csv").write_text(TABLE)
    curve = cache_curve("r.csv", ["lru"], ["5 kB"])
    printed = farweb("workload", "cache", "r.csv", "--policy", "lru", "--capacity", "5 kB", "--json").json()
    assert json.loads(json.dumps(curve.to_dict())) == printed
    assert "<table>" in curve._repr_html_()
    with pytest.raises(WorkloadError, match="at least one policy"):
        cache_curve("r.csv", [], ["5 kB"])
