"""The synthetic log: reproducible, in Squid's format, and like its sources."""

import hashlib
import re
import statistics
from pathlib import Path

import pytest

from farweb.cli.demonstration import SEED
from farweb.inputs.web1997 import ORIGIN_UNIX_S, SEGMENTS, WINDOWS, Web, generate

LINE = re.compile(
    r"(?P<end>\d{9}\.\d{3}) (?P<elapsed> *\d+) (?P<client>[\d.]+) (?P<code>(?:TCP|UDP)_[A-Z_]+)/(?P<status>\d{3}) "
    r"(?P<bytes>\d+) (?P<method>[A-Z_]+) (?P<url>\S+) - (?P<peer>[A-Z_]+/\S+) (?P<type>\S+)"
)


def fields(web: Web) -> list[dict[str, str]]:
    found = [LINE.fullmatch(line) for line in web.lines]
    assert all(found)
    return [match.groupdict() for match in found if match]


def carried(web: Web) -> list[dict[str, str]]:
    """Lines of responses that crossed the path."""
    return [row for row in fields(web) if "MISS" in row["code"] and row["status"] == "200" and row["method"] == "GET"]


@pytest.mark.parametrize("seed", range(5))
def test_lines_are_squids_and_in_order_of_completion(seed: int) -> None:
    rows = fields(generate(seed))
    ends = [float(row["end"]) for row in rows]
    assert ends == sorted(ends)
    starts = [end - int(row["elapsed"]) / 1000 for end, row in zip(ends, rows, strict=True)]
    assert starts != sorted(starts)
    assert min(starts) > ORIGIN_UNIX_S - 1e-6


def test_the_log_of_a_seed_does_not_change() -> None:
    # A change of these is a change of what the demonstration shows: say so in the commit.
    digest = hashlib.sha256("\n".join(generate(SEED).lines).encode()).hexdigest()
    assert digest == "53a96d515457eca45fbc48d0b374f54fb6f0ee834262984262a99a3e48632894"


def test_sizes_and_counts_over_seeds() -> None:
    webs = [generate(seed) for seed in range(40)]
    requests = [carried(web) for web in webs]
    sizes = [int(row["bytes"]) for rows in requests for row in rows]
    # Mean 10.9 kB with a standard deviation of some 36 kB: ± 0.9 kB is three standard errors of 16,000 requests.
    assert 10_000 < statistics.mean(sizes) < 11_800
    assert 3_000 < statistics.median(sizes) < 4_200
    assert 380 < statistics.mean(len(rows) for rows in requests) < 460
    named = [len({row["url"].split("/")[2] for row in rows}) for rows in requests]
    assert 90 < statistics.mean(named) < 115
    elapsed = [int(row["elapsed"]) / 1000 for rows in requests for row in rows]
    assert 0.3 < statistics.median(elapsed) < 0.7
    assert statistics.quantiles(elapsed, n=100)[97] > 3  # those that waited for a timer


def test_every_kind_of_line_is_there_to_be_counted() -> None:
    kinds = {f"{row['code']}/{row['status']} {row['method']}" for row in fields(generate(SEED))}
    got = ("MISS/200", "HIT/200", "IMS_HIT/304", "REFRESH_HIT/304", "MISS/404", "MISS/000", "DENIED/403")
    assert {*(f"TCP_{kind} GET" for kind in got), "TCP_MISS/200 CONNECT", "UDP_MISS/000 ICP_QUERY"} <= kinds


def test_hosts_have_the_mixes_of_the_tables() -> None:
    hosts = [host for seed in range(20) for host in generate(seed).hosts]
    for attribute, mix in (("window_bytes", WINDOWS), ("mss_bytes", SEGMENTS)):
        values = [getattr(host, attribute) for host in hosts]
        for value, share in mix.items():
            assert values.count(value) / len(hosts) == pytest.approx(share, abs=0.03)


def test_files_hold_what_was_generated(tmp_path: Path) -> None:
    web = generate(3)
    web.write_log(tmp_path / "access.log")
    web.write_hosts(tmp_path / "hosts.tsv")
    assert (tmp_path / "access.log").read_text().splitlines() == list(web.lines)
    rows = [line.split("\t") for line in (tmp_path / "hosts.tsv").read_text().splitlines()]
    assert rows[0] == ["host", "name", "window_bytes", "mss_bytes"]
    assert [(row[0], int(row[2]), int(row[3])) for row in rows[1:]] == [
        (host.name, host.window_bytes, host.mss_bytes) for host in web.hosts
    ]
    visited = {re.split("[/:]+", row["url"])[row["method"] != "CONNECT"] for row in fields(web)}
    assert visited == {row[0] for row in rows[1:]}
