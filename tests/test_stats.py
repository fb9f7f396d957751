"""`farweb workload stats` on tables of known content."""

import gzip
import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from farweb import WorkloadError
from farweb.inputs.spread import Spread
from farweb.inputs.statistics import read_stats
from samples import LOG, Farweb, refused


@pytest.fixture
def requests() -> pl.DataFrame:
    """A hundred requests, one a second, of 1, 2, … 100 kB; every fourth to host b."""
    return pl.DataFrame(
        {
            "start_s": [float(i) for i in range(100)],
            "host": ["b" if i % 4 == 0 else "a" for i in range(100)],
            "request_bytes": [300] * 100,
            "response_bytes": [1000 * (i + 1) for i in range(100)],
        }
    )


def test_numbers(folder: Path, requests: pl.DataFrame) -> None:
    requests.write_parquet("r.parquet")
    stats = read_stats("r.parquet")
    assert (stats.requests, stats.span_s, stats.hosts) == (100, 99.0, 2)
    assert stats.response_bytes_total == 5_050_000
    assert stats.response_bytes.mean == 50_500
    assert stats.response_bytes.quantiles[50] == 50_000
    assert stats.response_bytes.quantiles[99] == 99_000
    assert (stats.response_bytes.quantiles[0], stats.response_bytes.quantiles[100]) == (1000, 100_000)
    assert stats.server_s is None
    assert stats.interval_s == 1
    assert len(stats.by_interval) == 100
    assert stats.by_interval[9] == (9, 1, 10_000)
    assert stats.top_hosts[0][:2] == ("a", 75)
    assert stats.host_mix is None
    assert (stats.objects, stats.repeated) == (None, None)


def test_objects_and_how_often_they_are_asked_for_again(folder: Path, requests: pl.DataFrame) -> None:
    named = requests.with_columns(object=pl.Series([None, *(f"/{i % 33}" for i in range(99))]))
    for write in (named.write_parquet, named.write_csv):
        name = f"r.{write.__name__.removeprefix('write_')}"
        write(name)
        stats = read_stats(name)
        assert stats.objects == 33
        assert stats.repeated == pytest.approx(2 / 3)


def by_hand(rows: list[tuple[int | None, int, float]]) -> tuple[list[int], list[float], list[int]]:
    """Requests of each client, gaps and requests of each visit, one row after the other."""
    requests, gaps, visits = [], [], []
    for client in {row[0] for row in rows if row[0] is not None}:
        requests.append(sum(row[0] == client for row in rows))
        for day in {row[1] for row in rows if row[0] == client}:
            starts = sorted(start for who, when, start in rows if (who, when) == (client, day))
            apart = [later - start for start, later in itertools.pairwise(starts)]
            gaps += apart
            visits.append(1)
            for gap in apart:
                if gap >= 1800:
                    visits.append(1)
                else:
                    visits[-1] += 1
    return requests, gaps, visits


@pytest.mark.parametrize("days", [1, 3])
def test_clients_and_visits_are_those_counted_by_hand(folder: Path, days: int) -> None:
    random = np.random.default_rng(days)
    n = 4000
    clients = [None if who == 0 else 2**64 - 2 - int(who) for who in random.zipf(1.3, n) % 400]
    starts = np.sort(random.integers(0, 40_000, n)).astype(float)
    of_day = random.integers(1, days + 1, n)
    table = {"start_s": starts, "host": ["a"] * n, "request_bytes": [1] * n, "response_bytes": [1] * n}
    frame = pl.DataFrame({**table, "client": pl.Series(clients, dtype=pl.UInt64)})
    (frame.with_columns(day=of_day) if days > 1 else frame).write_parquet("r.parquet")
    requests, gaps, visits = by_hand(list(zip(clients, of_day.tolist(), starts.tolist(), strict=True)))
    found = read_stats("r.parquet").clients
    assert found is not None and found.gap_s is not None
    assert (found.count, found.visits, found.gap_s.n) == (len(requests), len(visits), len(gaps))
    assert found.without == pytest.approx(sum(client is None for client in clients) / n)
    spreads: list[tuple[Spread, list[Any]]] = [(found.requests, requests), (found.visit_requests, visits)]
    for spread, values in (*spreads, (found.gap_s, gaps)):
        ordered = sorted(values)
        assert spread.mean == pytest.approx(sum(values) / len(values))
        assert spread.quantiles[50] == ordered[math.ceil(0.5 * len(ordered)) - 1]
        assert spread.quantiles[90] == ordered[math.ceil(0.9 * len(ordered)) - 1]
        assert (spread.quantiles[0], spread.quantiles[100]) == (ordered[0], ordered[-1])


def test_a_visit_ends_after_half_an_hour_of_silence(folder: Path, requests: pl.DataFrame, farweb: Farweb) -> None:
    starts = [0.0, 1799.0, 3599.0, 5399.5]
    table = requests.head(4).with_columns(start_s=pl.Series(starts), client=pl.Series(["a", "a", "a", "b"]))
    table.write_csv("r.csv")
    found = read_stats("r.csv").clients
    assert found is not None
    assert (found.count, found.visits, found.visit_requests.mean, found.without) == (2, 3, 4 / 3, 0)
    assert found.gap_s is not None and found.gap_s.quantiles[100] == 1800
    printed = farweb("workload", "stats", "r.csv", "--all").out
    assert "requests of a visit" in printed and "requests without a client" in printed
    document = farweb("workload", "stats", "r.csv", "--json").json()["clients"]
    assert (document["count"], document["requests"]["quantiles"]["90"]) == (2, 3)


def test_clients_that_ask_once_and_tables_without_any(folder: Path, requests: pl.DataFrame) -> None:
    requests.head(2).with_columns(client=pl.Series([7, 8])).write_parquet("once.parquet")
    found = read_stats("once.parquet").clients
    assert found is not None and (found.count, found.visits, found.gap_s) == (2, 2, None)
    requests.with_columns(client=pl.lit(None)).write_parquet("none.parquet")
    assert read_stats("none.parquet").clients is None
    requests.write_parquet("absent.parquet")
    assert read_stats("absent.parquet").clients is None


def test_what_does_not_fit_into_memory_goes_to_the_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A million sizes, times and objects of 8 B each; the ranks of per mille are whole numbers of rows."""
    monkeypatch.setattr("farweb.inputs.statistics._MEMORY", "24MB")
    n = 1_000_000
    order = np.random.default_rng(1).permutation(n)
    columns = {"request_bytes": np.full(n, 300), "response_bytes": order + 1, "server_s": (order + 1) / 1e6}
    table = pl.DataFrame({"start_s": np.arange(n) / 100, "host": "a", **columns, "object": order // 4})
    table.write_parquet("r.parquet")
    stats = read_stats("r.parquet")
    assert stats.server_s is not None
    assert stats.objects == n // 4
    ranks = {0: 1, 1: 10_000, 50: 500_000, 99: 990_000, 99.9: 999_000, 100: n}
    assert {percent: stats.response_bytes.quantiles[percent] for percent in ranks} == ranks
    assert {percent: round(1e6 * stats.server_s.quantiles[percent]) for percent in ranks} == ranks


def test_intervals_without_a_request_are_there(folder: Path) -> None:
    columns = {"start_s": [5.0, 5.5, 8.2], "host": ["a"] * 3, "request_bytes": [1] * 3, "response_bytes": [1] * 3}
    pl.DataFrame(columns).write_parquet("r.parquet")
    stats = read_stats("r.parquet")
    assert stats.interval_s == 0.1
    assert [n for _, n, _ in stats.by_interval if n] == [1, 1, 1]
    assert len(stats.by_interval) == 32
    assert stats.by_interval[0][1] == 1
    assert stats.by_interval[-1][1] == 1


def test_the_busiest_span_begins_anywhere(folder: Path, farweb: Farweb) -> None:
    """Nine requests from 15.3 s on within 10 s, five of them in the second ten seconds; the tenth one is 10 s later."""
    starts = [0.0, *(15.3 + n for n in range(9)), 25.3, *(100.0 * n for n in range(1, 16))]
    pl.DataFrame({"start_s": sorted(starts)}).with_columns(
        host=pl.lit("a"), request_bytes=pl.lit(300), response_bytes=pl.lit(1000)
    ).write_parquet("r.parquet")
    stats = read_stats("r.parquet")
    assert (stats.interval_s, max(n for _, n, _ in stats.by_interval)) == (10, 5)
    assert (stats.busiest_from_s, stats.busiest_requests) == (15.3, 9)
    assert "busiest 10 s: 9 requests, from 15.3 s on" in farweb("workload", "stats", "r.parquet").out


@pytest.mark.parametrize(("name", "separator"), [("r.csv", ","), ("r.tsv", "\t")])
def test_text_tables_are_read_like_parquet(folder: Path, requests: pl.DataFrame, name: str, separator: str) -> None:
    requests.write_parquet("r.parquet")
    requests.write_csv(name, separator=separator)
    assert {**read_stats(name).to_dict(), "source": ""} == {**read_stats("r.parquet").to_dict(), "source": ""}


def test_the_mix_of_hosts(folder: Path, requests: pl.DataFrame) -> None:
    requests.write_parquet("r.parquet")
    Path("hosts.tsv").write_text("host\tname\twindow_bytes\tmss_bytes\na\tA\t8760\t1460\n")
    mix = read_stats("r.parquet", hosts="hosts.tsv").host_mix
    assert mix == {"mss_bytes": ((1460, 1, 75), (None, 1, 25)), "window_bytes": ((8760, 1, 75), (None, 1, 25))}


def test_a_log_is_read_as_it_is_imported(folder: Path, farweb: Farweb) -> None:
    Path("access.log").write_text(LOG)
    assert farweb("workload", "import", "access.log", "-o", "r.parquet").code == 0
    log, table = read_stats("access.log").to_dict(), read_stats("r.parquet").to_dict()
    assert log["requests"] == LOG.count("\n") - LOG.count("TCP_HIT")
    assert log["imported"]["dropped"] == {"hit": 1}
    assert {**log, "source": "", "imported": None} == {**table, "source": ""}
    with pytest.raises(WorkloadError, match=r"access\.log.*that line reads as format squid"):
        read_stats("access.log", format="combined")


def test_the_part_of_tunnels_stands_beside_the_load(folder: Path, farweb: Farweb) -> None:
    line = "{}.500 100 10.0.0.1 TCP_{}/200 {} {} - HIER_DIRECT/192.0.2.1 -\n"
    asked = [("TUNNEL", 9000, "CONNECT a.example:443"), *(("MISS", 500, f"GET http://a.example/{n}") for n in (1, 2))]
    Path("access.log").write_text("".join(line.format(1157689320 + at, *each) for at, each in enumerate(asked)))
    answer = farweb("workload", "stats", "access.log")
    assert "\ntunnels: 90 % of the load, 1 request\n" in answer.out
    assert farweb("workload", "stats", "access.log", "--json").json()["tunnels"] == {"requests": 1, "bytes": 9000}


def test_a_log_of_any_keys_is_described_as_for_its_import(folder: Path, farweb: Farweb) -> None:
    line = '{{"ts": {}.5, "who": "10.0.0.1", "uri": "/{}", "size": 900, "code": 200}}\n'
    Path("app.json").write_text("".join(line.format(1157689320 + at, at % 2) for at in range(4)))
    keys = ("--field", "start=ts", "--field", "client=who", "--field", "url=uri", "--field", "body=size")
    found = farweb("workload", "stats", "app.json", "--json", *keys).json()
    assert (found["requests"], found["objects"], found["imported"]["lines"]) == (4, 2, 4)
    caches = farweb("workload", "cache", "app.json", "--policy", "lru", "--capacity", "100 %", "--json", *keys).json()
    assert [each["hits"] for each in caches["results"]] == [2]
    for verb in ("stats", "cache"):
        asked = ("workload", verb, "app.json")
        refused(farweb, *asked, "--field", "start", says="--field: found start; write NAME=KEY")
        both = "fields describe a log of JSON objects; leave out its format"
        refused(farweb, *asked, *keys, "--format", "json", says=both)
    Path("own.log").write_text("10.0.0.1 1157689320.5 /a 900\n10.0.0.1 1157689321.5 /a 900\n")
    own = ("--log-format", "{client} {start} {url} {bytes}")
    assert farweb("workload", "stats", "own.log", "--json", *own).json()["objects"] == 1
    assert farweb("workload", "cache", "own.log", "--json", *own).json()["requests"] == 2


@pytest.mark.parametrize("verb", ["cache", "fit"])
def test_a_har_file_is_called_one(folder: Path, farweb: Farweb, verb: str) -> None:
    entries = ",".join(f'{{"startedDateTime": "2024-05-01T17:27:{at:02}Z", "time": 3}}' for at in range(60))
    Path("page.har").write_text(f'{{"log": {{"version": "1.2", "entries": [{entries}]}}}}')
    refused(farweb, "workload", verb, "page.har", says="page.har: is a HAR file, the page loads of a browser")


def test_a_packed_logfile_of_blank_separated_columns(folder: Path) -> None:
    Path("logfile").write_bytes(gzip.compress(b"0.0 a 300 1000\n2.5 b 310 3000 0.5\n"))
    Path("hostfile").write_text("a - 8760 1460\n")
    stats = read_stats("logfile", hosts="hostfile")
    assert (stats.requests, stats.span_s, stats.response_bytes_total) == (2, 2.5, 4000)
    assert stats.server_s is not None
    assert stats.server_s.n == 1
    assert stats.host_mix is not None
    assert stats.host_mix["window_bytes"] == ((8760, 1, 1), (None, 1, 1))


def test_a_table_of_one_request(folder: Path, requests: pl.DataFrame, farweb: Farweb) -> None:
    requests.head(1).write_parquet("r.parquet")
    answer = farweb("workload", "stats", "r.parquet", "-o", "r.png")
    assert answer.code == 0, answer.err
    assert Path("r.png").stat().st_size > 1000


def test_an_empty_table(folder: Path, requests: pl.DataFrame) -> None:
    requests.head(0).write_parquet("r.parquet")
    with pytest.raises(WorkloadError, match=r"r\.parquet: has no requests"):
        read_stats("r.parquet")


def test_the_command_prints_and_draws(folder: Path, requests: pl.DataFrame, farweb: Farweb) -> None:
    requests.with_columns(server_s=pl.lit(0.25)).write_parquet("r.parquet")
    answer = farweb("workload", "stats", "r.parquet", "-o", "r.svg")
    assert answer.code == 0, answer.err
    for figure in ("5.05 MB", "response, kB", "server time, ms"):
        assert figure in answer.out
    assert "Server time" in Path("r.svg").read_text()
    assert farweb("workload", "stats", "r.parquet", "-o", "r.xlsx").code == 2
