"""What `farweb workload stats` says of tables whose content is known."""

import gzip
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from farweb import WorkloadError
from farweb.inputs.statistics import read_stats
from samples import LOG, Farweb


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


def test_a_log_taken_for_a_table_is_told_to_be_one(folder: Path) -> None:
    Path("access.log").write_text(LOG)
    with pytest.raises(WorkloadError, match=r"access\.log:1: .* --format"):
        read_stats("access.log")


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
    for figure in ("5.05 MB", "50 kB", "250 ms", "99 s"):
        assert figure in answer.out
    assert "Server time" in Path("r.svg").read_text()
    assert farweb("workload", "stats", "r.parquet", "-o", "r.xlsx").code == 2
