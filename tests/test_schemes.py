"""Requests of http and https in one log: the column `tls`, and what import, new, check and a run make of it."""

from pathlib import Path

import polars as pl
import pytest

from farweb import Results
from samples import Farweb

FORMAT = '$remote_addr - - [$time_local] "$request" $status $body_bytes_sent $scheme'
LINE = '10.0.0.{who} - - [25/Oct/2015:04:{minute:02}:00 +0100] "GET /{minute} HTTP/1.1" 200 20000 {scheme}\n'


def imported(farweb: Farweb, folder: Path, *schemes: str) -> pl.DataFrame:
    """The table of a log with a request a minute."""
    lines = (LINE.format(who=minute % 2, minute=minute, scheme=scheme) for minute, scheme in enumerate(schemes))
    (folder / "access.log").write_text("".join(lines))
    assert farweb("new", "mixed.toml", "--log", "access.log", "--log-format", FORMAT, "--force").code == 0
    return pl.read_parquet("mixed-requests.parquet")


def test_each_request_has_tls_as_its_line_says(farweb: Farweb, folder: Path) -> None:
    table = imported(farweb, folder, "https", "http", "-", "https", "https")
    assert table["tls"].to_list() == [True, False, None, True, True]
    written = (folder / "mixed.toml").read_text()
    assert "\ntls = {" in written
    said = " ".join(written.replace("\n# ", " ").split())
    assert "75 % of the requests kept that name their scheme were under TLS; the others go in the clear" in said
    assert "it is assumed for 1 request without a scheme" in said
    shown = " ".join(farweb("check", "mixed.toml").out.split())
    assert "TLS 1.3 for 80 % of the requests, 1 of them unknown" in shown
    assert farweb("check", "mixed.toml", "--json").json()["check"]["tls"] == {"https": 3, "http": 1, "unknown": 1}
    report = farweb("workload", "import", "access.log", "--log-format", FORMAT, "-o", "again.parquet")
    assert "TLS 75 % of the requests that name their scheme; unknown of 1 request" in " ".join(report.out.split())


def test_versions_and_schemes_are_of_the_same_requests(farweb: Farweb, folder: Path) -> None:
    """Of those in the table, not of the whole log beside them."""
    imported(farweb, folder, "http", "http", "https")
    lines = (folder / "access.log").read_text().replace("HTTP/1.1", "HTTP/1.0", 2)
    (folder / "access.log").write_text(lines)
    told = ("--log-format", FORMAT, "--from", "2015-10-25T04:02", "--force")
    assert farweb("new", "mixed.toml", "--log", "access.log", *told).code == 0
    said = " ".join((folder / "mixed.toml").read_text().replace("\n# ", " ").split())
    assert "100 % of the requests kept came by HTTP/1.1." in said
    assert "100 % of the requests kept that name their scheme were under TLS." in said


@pytest.mark.parametrize(("scheme", "column"), [("-", False), ("https", True), ("http", True)])
def test_a_log_of_one_scheme(farweb: Farweb, folder: Path, scheme: str, column: bool) -> None:
    table = imported(farweb, folder, scheme, scheme)
    assert ("tls" in table.columns) is column
    assert ("\ntls = {" in (folder / "mixed.toml").read_text()) is (scheme == "https")


def test_the_clear_requests_of_a_run_save_the_round_trip_of_tls(farweb: Farweb, folder: Path) -> None:
    imported(farweb, folder, "https", "http")
    carrier = ("--set", 'leg.0.carrier={kind="http/1.0"}')
    assert "No request can take less than 1.41 s" in " ".join(farweb("check", "mixed.toml", *carrier).out.split())
    assert farweb("run", "mixed.toml", *carrier, "-o", "run", "--quiet").code == 0
    rows = Results.open("run").connections.sort("open_ns")
    assert rows["handshake"].to_list() == ["full", None]


def test_tunnels_to_ports_without_tls_have_none_inside(farweb: Farweb, folder: Path) -> None:
    line = "{}.000 900 10.0.0.7 TCP_TUNNEL/200 90000 CONNECT a.example:{} - HIER_DIRECT/192.0.2.1 -\n"
    (folder / "access.log").write_text("".join(line.format(857160000 + n, port) for n, port in enumerate((443, 8080))))
    assert farweb("workload", "import", "access.log", "-o", "r.parquet").code == 0
    assert pl.read_parquet("r.parquet")["tls"].to_list() == [True, False]


def test_merged_tables_keep_it(farweb: Farweb, folder: Path) -> None:
    (folder / "a.csv").write_text("start_s,host,request_bytes,response_bytes,tls\n0,a,1,1,false\n2,a,1,1,true\n")
    (folder / "b.csv").write_text("start_s,host,request_bytes,response_bytes\n1,a,1,1\n")
    assert farweb("workload", "merge", "a.csv", "b.csv", "-o", "m.parquet").code == 0
    assert sorted(map(str, pl.read_parquet("m.parquet")["tls"].to_list())) == ["False", "None", "True"]
