"""Waits for the first byte, from the log of a server to latencies."""

import json
import re
from pathlib import Path

import polars as pl
import pytest

from farweb import Scenario
from farweb.inputs.generate import generate, read_parameters
from farweb.inputs.importer import REPORT_KEY
from farweb.inputs.merge import merge_requests
from farweb.inputs.statistics import read_stats
from samples import LOG, REQUESTS, SCENARIO, Farweb

FORMAT = (
    '$msec "$request" $status $bytes_sent rt=$request_time uht="$upstream_header_time" urt="$upstream_response_time"'
)
NGINX = """\
1445742685.900 "GET /a HTTP/1.1" 200 2920 rt=0.900 uht="0.250" urt="0.800"
1445742695.700 "GET /b HTTP/1.1" 200 2920 rt=0.700 uht="-, 0.100" urt="0.400, 0.300"
"""
BY_NGINX = '1445742705.050 "GET /c HTTP/1.1" 200 2920 rt=0.050 uht="-" urt="-"\n'

MS = 10**6


def imported(farweb: Farweb, log: str, *options: str) -> pl.DataFrame:
    Path("nginx.log").write_text(log)
    arguments = ("nginx.log", "--log-format", FORMAT, "--request-bytes", 300, "-o", "requests.parquet", "--force")
    answer = farweb("workload", "import", *arguments, *options)
    assert answer.code == 0, answer.err
    return pl.read_parquet("requests.parquet")


def as_json(line: str) -> str:
    """The line as nginx writes it with a JSON `log_format`."""
    values = re.fullmatch(r'(\S+) "(.+?)" (\d+) (\d+) rt=(\S+) uht="(.+)" urt="(.+)"', line)
    assert values is not None
    return json.dumps(dict(zip(re.findall(r"\$(\w+)", FORMAT), values.groups(), strict=True)))


def test_an_import_has_the_waits_and_counts_them(farweb: Farweb, folder: Path) -> None:
    table = imported(farweb, NGINX + BY_NGINX)
    assert table["server_s"].to_list() == [0.8, 0.7, 0.05]
    assert table["wait_s"].to_list() == [0.25, 0.5, None]
    report = json.loads(pl.read_parquet_metadata("requests.parquet")[REPORT_KEY.decode()])
    assert (report["with_server_time"], report["with_wait"]) == (3, 2)
    shown = farweb("workload", "import", "nginx.log", "--log-format", FORMAT, "--busiest", "5s", "--force", "--explain")
    assert "1 with a server time, 1 with its wait" in " ".join(shown.out.split())
    assert "wait_s" not in imported(farweb, BY_NGINX).columns, "a log without waits gives no column of nulls"
    assert "wait_s" not in imported(farweb, NGINX, "--server-time", "none").columns


@pytest.mark.parametrize(("release", "waits_ms"), [("after-wait", (250, 500)), ("delayed", (800, 700))])
def test_a_latency_has_the_wait_and_a_transfer_of_its_own(
    farweb: Farweb, folder: Path, release: str, waits_ms: tuple[int, int]
) -> None:
    imported(farweb, NGINX)
    scenario = SCENARIO.replace("requests.csv", "requests.parquet").replace("at-once", release)
    Path("cable.toml").write_text(scenario)
    assert Scenario.load("cable.toml").check().warnings == []
    requests = Scenario.load("cable.toml").run(1, "run").requests

    def ser(size: int) -> int:
        return -(-size * 8 * 10**9 // 34_368_000)

    # SYN and its answer, the ACK with the request, and two segments back to back.
    idle = 2 * (60 * MS + ser(44)) + ser(380) + 60 * MS + ser(3000) + 60 * MS
    latencies = (requests["end_ns"] - requests["start_ns"]).to_list()
    assert latencies == [idle + wait * MS for wait in waits_ms]


def test_stats_show_the_wait_beside_the_server_time(farweb: Farweb, folder: Path) -> None:
    imported(farweb, NGINX + BY_NGINX)
    stats = read_stats("requests.parquet")
    assert stats.server_s is not None
    assert stats.wait_s is not None
    assert (stats.wait_s.n, stats.wait_s.mean, stats.server_s.n) == (2, 0.375, 3)
    shown = farweb("workload", "stats", "requests.parquet", "-o", "r.svg")
    assert "wait for the first byte" in shown.out
    assert "wait for the first byte" in Path("r.svg").read_text()
    Path("access.log").write_text(LOG)
    assert read_stats("access.log", format="squid").wait_s is None
    Path("requests.csv").write_text(REQUESTS)
    assert read_stats("requests.csv").wait_s is None


def test_merged_tables_keep_waits(farweb: Farweb, folder: Path) -> None:
    imported(farweb, NGINX)
    Path("requests.csv").write_text(REQUESTS)
    merge_requests(["requests.parquet", "requests.csv"], "both.parquet", align="none")
    both = pl.read_parquet("both.parquet")
    assert both.filter(pl.col("day") == 1)["wait_s"].to_list() == [0.25, 0.5]
    assert both.filter(pl.col("day") == 2)["wait_s"].null_count() == 3
    merge_requests(["requests.csv", "requests.csv"], "none.parquet", align="none")
    assert "wait_s" not in pl.read_parquet("none.parquet").columns


def test_a_trace_has_waits_unless_they_are_not_recorded(folder: Path) -> None:
    Path("p.toml").write_text("wait_recorded = false\n")
    generate("nzix", "with", days=1)
    generate("nzix", "without", days=1, parameters=read_parameters("p.toml"))
    with_waits, without = (pl.read_parquet(f"{name}/requests.parquet") for name in ("with", "without"))
    assert with_waits.drop("wait_s").equals(without)
    assert with_waits.select((pl.col("wait_s") <= pl.col("server_s")).all()).item()
    assert with_waits["wait_s"].min() > 0  # type: ignore[operator]


@pytest.mark.parametrize(("log", "release"), [(NGINX, "after-wait"), (NGINX + BY_NGINX, "paced"), (BY_NGINX, "paced")])
def test_a_new_scenario_transfers_anew_where_every_wait_is_known(
    farweb: Farweb, folder: Path, log: str, release: str
) -> None:
    Path("nginx.log").write_text("".join(f"{as_json(line)}\n" for line in log.splitlines()))
    for proxy in ("none", "split", "mux"):
        answer = farweb("new", f"{proxy}.toml", "--proxy", proxy, "--log", "nginx.log")
        assert answer.code == 0, answer.err
        assert f'\nrelease = "{release}"\n' in Path(f"{proxy}.toml").read_text()
        warnings = farweb("check", f"{proxy}.toml", "--json").json()["check"]["warnings"]
        assert [one for one in warnings if "names no client" not in one] == []
        assert farweb("run", f"{proxy}.toml", "--quiet").code == 0
