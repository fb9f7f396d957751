"""Treatment of requests by caches, from the log to the hit ratio: methods, statuses, cookies, queries."""

import gzip
import json
import re
from collections import OrderedDict
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from farweb import Scenario
from farweb.cache.curve import cache_curve
from farweb.inputs.importer import import_log
from farweb.inputs.statistics import read_stats
from samples import Farweb, scenario_of

DATA = next((up / "shared/data" for up in Path(__file__).parents if (up / "shared/data").is_dir()), None)
LINE = (
    '10.0.0.1 - - [25/Oct/2015:04:{minute:02}:{second:02} +0100] "{method} {path} HTTP/1.1" {status} {size} "-" "-"\n'
)


def log(tmp_path: Path, *requests: str) -> Path:
    """A log in the common format of requests such as `GET /a 200 900`."""
    file = tmp_path / "access.log"
    lines = []
    for number, request in enumerate(requests):
        method, path, status, size = request.split()
        at = {"minute": number // 60, "second": number % 60}
        lines.append(LINE.format(**at, method=method, path=path, status=status, size=size))
    file.write_text("".join(lines))
    return file


def test_a_post_is_no_hit_and_makes_the_cache_give_up_its_copy(tmp_path: Path) -> None:
    file = log(tmp_path, "GET /a 200 900", "GET /a 200 900", "POST /a 200 90", "GET /a 200 900", "GET /a 200 900")
    curve = cache_curve(file, ["lru", "sieve", "belady"], ["1 MB"])
    assert {result.policy: result.hits for result in curve.results} == {"lru": 2, "sieve": 2, "belady": 2}
    assert (curve.treatment.bypassing, curve.treatment.invalidating, curve.resized) == (1, 1, 0)
    assert curve.footprint_bytes == 1150, "a body with its header; the response to POST is no version of it"
    assert all(result.other_hit_ratio is None for result in curve.results), "no object changes its size"


def test_a_failed_post_leaves_the_copy(tmp_path: Path) -> None:
    file = log(tmp_path, "GET /a 200 900", "POST /a 403 90", "GET /a 200 900")
    [result] = cache_curve(file, ["lru"], ["1 MB"]).results
    assert (result.requests, result.hits) == (3, 1)


def test_a_copy_serves_head_206_and_304_which_are_not_stored(tmp_path: Path) -> None:
    file = log(
        tmp_path, "HEAD /a 200 0", "GET /a 206 90", "GET /a 200 900", "HEAD /a 200 0", "GET /a 206 90", "GET /a 304 -"
    )
    curve = cache_curve(file, ["lru", "fifo"], ["1 MB"])
    assert [result.hits for result in curve.results] == [3, 3]
    assert (curve.treatment.served_only, curve.resized) == (5, 0)


def test_an_error_page_is_stored_only_where_its_status_allows_it(tmp_path: Path) -> None:
    file = log(tmp_path, "GET /a 404 90", "GET /a 404 90", "GET /b 500 90", "GET /b 500 90")
    [result] = cache_curve(file, ["lru"], ["1 MB"]).results
    assert result.hits == 1


def test_queries_bypass_where_that_is_asked_for(tmp_path: Path) -> None:
    file = log(tmp_path, "GET /a?b 200 900", "GET /a?b 200 900")
    assert [cache_curve(file, ["lru"], ["1 MB"], bypass=each).results[0].hits for each in ("", "query")] == [1, 0]


def test_the_other_rule_for_changed_sizes_stands_beside_the_hit_ratio(tmp_path: Path) -> None:
    file = log(tmp_path, "GET /a 200 900", "GET /a 200 901", "GET /a 200 901", "GET /b 200 5", "GET /b 200 5")
    serve, fetch = (cache_curve(file, ["lru"], ["1 MB"], changed=changed).results[0] for changed in ("serve", "fetch"))
    assert (serve.hit_ratio, serve.other_hit_ratio) == (3 / 5, 2 / 5)
    assert (fetch.hit_ratio, fetch.other_hit_ratio) == (2 / 5, 3 / 5)
    assert serve.other_byte_hit_ratio == fetch.byte_hit_ratio


def test_lru_caches_of_many_sizes_agree_with_one_each_where_requests_bypass(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    paths = random.zipf(1.3, 3000) % 200
    methods = np.where(random.random(3000) < 0.1, "OPTIONS", "GET")
    file = log(tmp_path, *(f"{method} /{path} 200 {100 + path}" for method, path in zip(methods, paths, strict=True)))
    capacities = [f"{kilobytes} kB" for kilobytes in range(2, 30, 2)]
    stacked = {each.capacity_bytes: each.hits for each in cache_curve(file, ["lru"], capacities).results}
    for capacity in capacities:
        [alone] = cache_curve(file, ["lru"], [capacity]).results
        assert stacked[alone.capacity_bytes] == alone.hits


def test_a_table_has_the_columns_where_they_say_something(tmp_path: Path) -> None:
    plain = import_log(log(tmp_path, "GET /a 200 900", "GET /a 200 900"), tmp_path / "plain.parquet").out
    assert not {"method", "caching"} & set(pl.read_parquet_schema(plain))
    mixed = log(tmp_path, "GET /a 200 900", "HEAD /a 200 0", "PATCH /a 200 9", "REPORT /a 200 9", "GET /a 500 9")
    table = pl.read_parquet(import_log(mixed, tmp_path / "mixed.parquet").out)
    assert table["method"].to_list() == ["GET", "HEAD", "PATCH", "other", "GET"]
    assert table["caching"].to_list() == ["store", "serve", "invalidate", "invalidate", "serve"]


def test_an_import_says_which_rules_it_followed_and_what_it_assumed(tmp_path: Path, farweb: Farweb) -> None:
    file = log(tmp_path, "GET /a?b 200 900", "POST /a 200 9", "GET /a 302 9")
    found = json.loads(farweb("workload", "import", file, "-o", tmp_path / "t.parquet", "--json").out)
    assert {rule: part["requests"] for rule, part in found["caching"].items()} == {
        "storable": 1,
        "unsafe-method": 1,
        "status": 1,
    }
    assert found["storable_with"]["query"] == 1
    assert found["cache_treatment"]["bypassing"] == 1
    text = farweb("workload", "import", file, "-o", tmp_path / "t2.parquet", "--explain").out
    assert "1 unsafe method: passes by, copies are given up" in text
    assert "This log has no Cache-Control" in text
    refused = farweb("workload", "import", file, "-o", tmp_path / "t3.parquet", "--bypass", "queries")
    assert refused.code == 2
    assert 'found "queries"; write one of: set-cookie, cookie, query' in refused.err


def test_statistics_count_what_caches_pass_by_and_what_changes(tmp_path: Path) -> None:
    file = log(tmp_path, "GET /a 200 900", "GET /a 200 901", "POST /a 200 9", "HEAD /a 200 0")
    treatment = read_stats(file).caching
    assert treatment is not None
    assert (treatment.requests, treatment.bypassing, treatment.served_only) == (4, 1, 1)
    assert (treatment.of_several_sizes, treatment.objects_of_several_sizes, treatment.objects) == (2, 1, 1)


CACHE = '[[cache]]\nnode = "cache"\npolicy = "lru"\ncapacity = "1 MB"\n'
LEGS = ("client cache http/1.0", "cache server http/1.0")
SCENARIO = scenario_of("client cache server", *["10 Mbit/s, 10 ms"] * 2, legs=LEGS, rest=CACHE)


@pytest.fixture
def scenario(tmp_path: Path) -> Path:
    file = log(tmp_path, "GET /a 200 900", "GET /a 200 900", "POST /a 200 90", "GET /a 200 900")
    import_log(file, tmp_path / "mixed.parquet")
    (tmp_path / "s.toml").write_text(SCENARIO.replace("requests.csv", "mixed.parquet"))
    return tmp_path / "s.toml"


def test_a_run_serves_no_post_from_its_cache(scenario: Path) -> None:
    requests = Scenario.load(scenario).run().requests.sort("request")
    assert requests["served_by"].to_list() == ["server", "cache", "server", "server"]


def test_check_says_how_many_requests_no_copy_may_serve(scenario: Path, farweb: Farweb) -> None:
    assert "1 request (25 %) are not cacheable" in farweb("check", scenario, "--details").out
    assert json.loads(farweb("check", scenario, "--json").out)["check"]["requests_bypassing_caches"] == 1


@pytest.mark.skipif(DATA is None, reason="the logs are not here")
def test_lru_over_a_servers_log_is_that_of_another_count() -> None:
    """Ten thousand requests of a public log, read and cached in the fewest words."""
    assert DATA is not None
    file = DATA / "clf/semicomplete-2015-combined.log.gz"
    text = gzip.decompress(file.read_bytes()).decode()
    line = r'^.*?\[(\d\d)/May/2015:([\d:]+) .*?\] "(\S+) (.*?)(?: HTTP/1.\d)?" (\d+) (\d+|-) '
    rows = sorted(re.findall(line, text, re.MULTILINE), key=lambda row: row[:2])
    capacities = (10_000_000, 1_000_000_000)
    hits = []
    for capacity in capacities:
        held, count = OrderedDict[str, int](), 0
        for _, _, method, url, status, body in rows:
            size = 250 + (0 if body == "-" or method == "HEAD" or status == "304" else int(body))
            if method in ("POST", "OPTIONS"):
                if method == "POST" and int(status) < 400:
                    held.pop(url, None)
            elif url in held:
                count += 1
                held.move_to_end(url)
            elif method == "GET" and status in ("200", "301", "404") and size <= capacity:
                held[url] = size
                while sum(held.values()) > capacity:
                    held.popitem(last=False)
        hits.append(count)
    found = cache_curve(file, ["lru"], [f"{capacity} B" for capacity in capacities])
    assert [each.hits for each in found.results] == hits == [6320, 8450]
