"""Tunnels of a log: both directions where it has both, and their share beside the load of runs, sweeps and reports."""

import re
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from farweb import Results
from farweb.inputs.carried import carried
from samples import SCENARIO, Farweb

pytestmark = pytest.mark.usefixtures("warm_workers", "unpainted")

REQUESTS = """\
start_s,host,request_bytes,response_bytes,method
0.0,a.example,4000,8760,CONNECT
10.0,a.example,300,960,GET
"""
"""On the wire: 8760 B in 6 segments of 1460 B are 9000 B, and 960 B in one are 1000 B."""

SWEEP = """
[sweep]
replications = 2
[sweep.factors]
"workload.load" = [1, 2]
"""


@pytest.fixture
def scenario(folder: Path) -> Path:
    (folder / "requests.csv").write_text(REQUESTS)
    (folder / "tunnel.toml").write_text(SCENARIO)
    return folder / "tunnel.toml"


def test_a_run_says_the_share_of_tunnels(scenario: Path, farweb: Farweb) -> None:
    assert farweb("run", scenario, "--out", "r").code == 0
    assert re.search(r"of the load in tunnels +90(\.0)? %", farweb("show", "r", "--details").out)
    assert farweb("show", "r", "--json").json()["summary"]["tunnel_share"] == 0.9
    assert farweb("report", "r").code == 0
    assert "Tunnels are 90 % of the load" in said_in("r/report.html")
    (scenario.parent / "requests.csv").write_text(REQUESTS.replace("CONNECT", "GET"))
    assert farweb("run", scenario, "--out", "without").code == 0
    assert "tunnels" not in farweb("show", "without", "--details").out
    assert farweb("show", "without", "--json").json()["summary"]["tunnel_share"] == 0
    farweb("report", "without")
    assert "Tunnels are" not in said_in("without/report.html")


def test_tunnels_of_the_warm_up_do_not_count(scenario: Path, farweb: Farweb) -> None:
    assert farweb("run", scenario, "--out", "r", "--set", "run.warmup=5 s").code == 0
    assert farweb("show", "r", "--json").json()["summary"]["tunnel_share"] == 0


def test_a_sweep_says_the_share_of_tunnels(scenario: Path, farweb: Farweb) -> None:
    scenario.write_text(SCENARIO + SWEEP)
    assert farweb("sweep", scenario, "--out", "s", "--jobs", 1).code == 0
    assert re.search(r"of the load in tunnels +90(\.0)? %", farweb("show", "s", "--details").out)
    assert farweb("show", "s", "--json").json()["sweep"]["tunnel_shares"] == [0.9, 0.9]
    assert farweb("report", "s").code == 0
    assert "Tunnels are 90 % of the load" in said_in("s/report.html")


def said_in(page: str) -> str:
    """Text of a report, without its elements."""
    return " ".join(re.sub(r"<[^>]*>", " ", Path(page).read_text("utf-8")).replace("\N{NO-BREAK SPACE}", " ").split())


SQUID = "1157689320.327 90000 10.0.0.1 TCP_TUNNEL/200 95000 4000 CONNECT a.example:443\n"
APACHE = '10.0.0.1 - - [10/Oct/2000:13:55:36 -0700] "CONNECT a.example:443 HTTP/1.1" 200 95000 "-" "-" 4000 90000000\n'
ENVOY = (
    '[2016-04-15T20:17:00.310Z] "CONNECT a.example:443 HTTP/1.1" 200 - 4000 95000 90000 100 "10.0.35.28" "x" "1" '
    '"a.example" "tcp://10.0.2.1:443"\n'
)
AS_LOGGED = range(4000, 4001)
NATIVE = "1157689320.327 90000 10.0.0.1 TCP_TUNNEL/200 95000 CONNECT a.example:443 - HIER_DIRECT/192.0.2.1 -\n"


@pytest.mark.parametrize(
    ("line", "options", "up", "down"),
    [
        (SQUID, ("--log-format", "%ts.%03tu %6tr %>a %Ss/%03>Hs %<st %>st %rm %ru"), AS_LOGGED, 95000),
        (APACHE, ("--log-format", '%h %l %u %t "%r" %>s %O "%{Referer}i" "%{User-Agent}i" %I %D'), AS_LOGGED, 95000),
        (ENVOY, ("--format", "envoy"), range(4200, 4400), 95250),
        (NATIVE, ("--format", "squid"), range(200, 400), 95000),
    ],
    ids=["squid with %>st", "apache with %I", "envoy", "squid, one direction"],
)
def test_bytes_of_a_tunnel_go_both_ways_where_the_log_has_both(
    scenario: Path, farweb: Farweb, line: str, options: tuple[str, ...], up: range, down: int
) -> None:
    """Where a log has one direction the other is the header of the request alone, which is estimated."""
    Path("access.log").write_text(line)
    found = farweb("workload", "import", "access.log", "-o", "requests.parquet", "--json", *options)
    assert found.code == 0, found.err
    (tunnel,) = pq.read_table("requests.parquet").to_pylist()
    assert (tunnel["method"], tunnel["response_bytes"]) == ("CONNECT", down)
    assert tunnel["request_bytes"] in up
    scenario.write_text(SCENARIO.replace("requests.csv", "requests.parquet"))
    assert farweb("run", scenario, "--out", "r").code == 0
    (carried,) = Results.open("r").connections.to_dicts()
    assert carried["bytes_up"] > tunnel["request_bytes"]
    assert carried["bytes_down"] > down


@pytest.mark.parametrize("proxy", ["split", "mux"])
def test_a_log_with_connect_gets_tls_inside_its_tunnels(folder: Path, farweb: Farweb, proxy: str) -> None:
    (folder / "access.log").write_text(NATIVE)
    written = farweb("new", "t.toml", "--log", "access.log", "--path", "geo", "--proxy", proxy)
    assert re.search(
        r"^tunnels +TLS 1.3 inside each of 1, over the whole path, but to clear ports$",
        written.out,
        re.MULTILINE,
    )
    assert '\n[clients.tunnels]\ntls = { version = "1.3" }\n' in (folder / "t.toml").read_text()
    assert re.search(r"^tunnels +1, TLS 1.3 inside", farweb("check", "t.toml").out, re.MULTILINE)
    without = ("--set", 'clients.tunnels.tls="none"')
    checked, warned = (farweb("check", "t.toml", *more, "--json").json()["check"] for more in ((), without))
    said = "clients.tunnels: 1 tunnel (CONNECT) with 100 % of the bytes of responses come without"
    assert [[each.startswith(said) for each in found["warnings"]].count(True) for found in (checked, warned)] == [0, 1]
    assert (
        farweb("run", "t.toml", "--out", "with").code == farweb("run", "t.toml", "--out", "without", *without).code == 0
    )
    ((one,), (other,)) = (Results.open(name).requests.to_dicts() for name in ("with", "without"))
    near, far = (leg["rtt_ns"] for leg in checked["legs"])
    more = one["first_byte_ns"] - other["first_byte_ns"] - 2 * near - far
    assert 0 <= more < 50_000_000, "the rest is transmission"
    parts = farweb("show", "with", "--breakdown", "--json").json()["breakdown"]
    (connecting,) = (part["mean_s"] for part in parts["parts"] if (part["kind"], part["leg"]) == ("handshake", 0))
    first = next(row for row in Results.open("with").exchanges.to_dicts() if row["leg"] == 0)
    assert connecting * 1e9 == pytest.approx(first["tunnel_ready_ns"] - first["start_ns"])
    assert sum(part["mean_s"] for part in parts["parts"]) == pytest.approx(parts["latency_s"])


def test_a_table_without_connect_gets_no_tunnels(scenario: Path, farweb: Farweb) -> None:
    """An upgrade (101) in the log of a server is kept as a tunnel, and has no CONNECT to answer."""
    upgrade = '192.0.2.1 - - [10/Oct/2000:13:55:36 -0700] "GET /socket HTTP/1.1" 101 9500 "-" "-"\n'
    (scenario.parent / "access.log").write_text(upgrade)
    farweb("new", "log.toml", "--log", "access.log")
    farweb("new", "table.toml", "--log", "requests.csv")
    assert ["[clients.tunnels]" in Path(name).read_text() for name in ("log.toml", "table.toml")] == [False, True]
    assert farweb("check", "log.toml", "--json").json()["check"]["tunnels"] == 0


def test_a_tunnel_has_a_part_of_the_responses_whatever_was_uploaded() -> None:
    treated = {"store": {"requests": 1, "bytes": 900}, "tunnel": {"requests": 1, "bytes": 100}}
    counts = {"log": {"file": "a.log"}, "bytes_logged": 3000, "dropped_bytes": {}, "dropped": {}, "unreadable_lines": 0}
    found = carried("t", {**counts, "caching": treated, "first_request": {"request_bytes_logged": 500}})
    assert found is not None and "; 1 tunnel with 10 % of the bytes of responses" in found.text
