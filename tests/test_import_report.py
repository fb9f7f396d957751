"""Reports of imports: facts of all requests, the first one, what is doubtful, and what a check says of it."""

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from farweb.inputs.importer import import_log
from farweb.inputs.provenance import REPORT_KEY
from samples import CLF, LOG, Farweb, refused


def test_users_on_every_line_and_times_that_cannot_be_read_are_warned_of(folder: Path) -> None:
    """The remedy that is named makes the requests storable; a third of the bad lines have a wrong time."""
    form = """{client} {} {} [{start}] "{request}" {status} {bytes}"""
    line = '192.0.2.1 - app [12/Mar/2024:10:00:00 +0000] "GET /a HTTP/1.1" 200 900'
    Path("access.log").write_text(f"{line}\n" * 4 + line.replace("app", "web"))
    warned = " ".join(" ".join(import_log("access.log", "a.parquet").lines()).split())
    assert "5 requests named a user, and no cache may serve them; if it is no log-in, leave it out by" in warned
    assert f"--log-format '{form}'" in warned
    read = import_log("access.log", "a.parquet", log_format=form)
    assert list(read.counts["caching"]) == ["storable"]
    Path("access.log").write_text(f"{line} 5\n" * 5 + f"{line} 5q\n{line}\n{line}\n")
    bad = import_log("access.log", "a.parquet", log_format=f"{form} {{elapsed:ms}}", max_unreadable=1.0)
    warned = " ".join(" ".join(bad.lines()).split())
    assert "33.3 % of 3 unreadable lines have a time that cannot be read: the slowest requests may be missing" in warned


TUNNEL = "851000009.000 90000 10.0.0.3 TCP_TUNNEL/200 84500 CONNECT far.example:443 - DIRECT/192.0.2.3 -\n"


def test_the_facts_of_all_requests_stand_beside_what_the_table_carries(farweb: Farweb, folder: Path) -> None:
    (folder / "access.log").write_text(LOG + TUNNEL)
    found = farweb("workload", "import", "access.log", "--no-tunnels", "--json").json()
    assert found["schemes"] == {"http": {"requests": 4, "bytes": 18500}, "https": {"requests": 1, "bytes": 84500}}
    assert found["methods"] == {"GET": {"requests": 4, "bytes": 18500}, "CONNECT": {"requests": 1, "bytes": 84500}}
    assert found["http_versions"] == {"unknown": {"requests": 5, "bytes": 103000}}
    assert found["tunnels"] == {"requests": 1, "bytes": 84500}
    assert found["dropped_bytes"] == {"hit": 3000, "connect-tunnel": 84500}
    assert (found["bytes_logged"], found["software"]) == (103000, "Squid")
    assert found["carried_bytes_share"] == pytest.approx(15500 / 103000)
    kept = json.loads(pq.read_schema("access.parquet").metadata[REPORT_KEY])
    assert all(kept[name] == found[name] for name in ("schemes", "methods", "tunnels", "carried_bytes_share"))
    with_tunnels = farweb("workload", "import", "access.log", "--force", "--explain")
    assert "tunnels: 1 in the log" in with_tunnels.out
    shown = farweb("workload", "import", "access.log", "--no-tunnels", "--force", "--explain").out
    for row in ("http 80 %, https 20 %", "GET 80 %, CONNECT 20 %", "82.0 %", "15.0 %", "Squid"):
        assert row in shown, row


def test_facts_of_several_logs_add_up(farweb: Farweb, folder: Path) -> None:
    (folder / "a.log").write_text(LOG)
    (folder / "b.log").write_text(TUNNEL)
    (folder / "c.log").write_text('c - - [25/Oct/2015:04:11:25 +0100] "GET /x HTTP/1.1" 200 1000\n')
    found = farweb("workload", "import", "a.log", "b.log", "--json").json()
    assert found["tunnels"] == {"requests": 1, "bytes": 84500}
    assert (found["bytes_logged"], found["schemes"]["http"]["requests"]) == (103000, 4)
    other = farweb("workload", "import", "a.log", "c.log", "--json", "-o", "other.parquet").json()
    assert (other["software"], other["http_versions"]["1.1"]["requests"]) == ("Squid", 1)


def test_the_first_request_is_shown_as_its_line_was_read(farweb: Farweb, folder: Path) -> None:
    (folder / "access.log").write_text(f"junk\n{CLF}")
    options = ("workload", "import", "access.log", "--max-unreadable", 0.5, "--force")
    found = farweb(*options, "--json").json()
    first = found["first_request"]
    assert (first["line"], first["client"], first["method"], first["url"]) == (2, "10.0.0.1", "GET", "/a")
    assert (first["response_bytes"], first["response_bytes_logged"], first["server_s"]) == (1250, 1000, None)
    assert (found["hosts"], found["clients"], found["unreadable_by"]) == (1, 3, {"form": 1})
    assert found["gaps"] == {"longer_than_s": 3600.0, "number": 1, "longest_s": 5400.0}
    kept = json.loads(pq.read_schema("access.parquet").metadata[REPORT_KEY])
    assert kept["first_request"] == {**first, "client": None}, "a pseudonym does not stand beside its client"
    shown = farweb(*options)
    assert shown.out.splitlines() == [
        "4 requests of 3 clients to 1 host: 914 kB of responses in 3 h 00 min",
        "",
        "first request, from line 2 (common log format, recognized)",
        "  start        2015-10-25 03:00:00 UTC",
        "  client       10.0.0.1, stored as a pseudonym",
        '  request      GET /a to "server", 238 B (estimated)',
        "  response     200, 1,250 B: 1,000 B logged + 250 B of header (assumed)",
        "  server time  not in this log: servers answer at once",
        "",
        "left out   1 of 5 lines: 1 unreadable",
        'warning: unreadable: line 1: has no " " after the client',
        "warning: 1 gap of more than 1 h, the longest 90 min; choose a part with",
        "  --busiest 1h or --from",
    ]
    assert shown.err.splitlines()[-1] == "wrote access.parquet    next: farweb new link.toml --log access.parquet"


def test_time_outs_of_a_log_are_named(farweb: Farweb, folder: Path) -> None:
    line = '10.0.0.1 - - [25/Oct/2015:04:00:0{} +0100] "GET /a HTTP/1.1" {} 3000 {}\n'
    (folder / "a.log").write_text(line.format(0, 200, 70_000_000) + line.format(1, 504, 60_000_000))
    (folder / "b.log").write_text(line.format(2, 503, 155_000_000))
    logs = ("a.log", "b.log", "--log-format", '%h %l %u %t "%r" %>s %b %D')
    found = farweb("workload", "import", *logs, "-o", "table.parquet", "--json").json()
    assert found["time_outs"] == {"log": "b.log", "requests": 2, "longest_s": 155.0, "status": 503, "line": 1}
    shown = " ".join(farweb("workload", "import", *logs, "-o", "table.parquet", "--force").out.split())
    assert (
        "warning: 2 requests with 408, 502, 503 or 504 after 10 s or more, the longest 155 s (503, line 1 of "
        "b.log): time-outs of the log's own count as server times; --no-errors leaves errors out"
    ) in shown
    for case, options in enumerate((("--no-errors",), ("--busiest", "1s"), ("--server-time", "none"))):
        without = farweb("workload", "import", *logs, "-o", f"{case}.parquet", *options, "--json").json()
        assert without["time_outs"]["requests"] == 0, "of the requests of the table"


def test_the_unit_of_times_is_one_for_a_log_and_may_be_stated(farweb: Farweb, folder: Path) -> None:
    head = "#Fields: date time cs-method cs-uri-stem sc-status sc-bytes time-taken\n"
    line = "2026-03-01 08:00:01 GET /x 200 900 {}\n"
    for name, spans in (("ms", "40 2"), ("s", "40 0.2")):
        (folder / f"{name}.log").write_text(head + "".join(line.format(span) for span in spans.split()))
    said = " ".join(farweb("workload", "import", "ms.log").out.split())
    assert "unit times are in ms, as none has decimals; --elapsed-unit s takes them for s" in said
    assert pq.read_table("ms.parquet")["server_s"].to_pylist() == [0.04, 0.002]
    found = farweb("workload", "import", "s.log", "ms.log", "-o", "both.parquet", "--json").json()
    assert found["units"] == [
        "s.log times are in s, as some have decimals; --elapsed-unit ms takes them for ms",
        "ms.log times are in ms, as none has decimals; --elapsed-unit s takes them for s",
    ]
    assert sorted(pq.read_table("both.parquet")["server_s"].to_pylist()) == [0.002, 0.04, 0.2, 40.0]
    stated = farweb("workload", "import", "ms.log", "--elapsed-unit", "s", "--force", "--json").json()
    assert (stated["units"], stated["log"]["elapsed_unit"]) == ([], "s")
    assert pq.read_table("ms.parquet")["server_s"].to_pylist() == [40, 2]
    assert farweb("workload", "stats", "ms.log", "--elapsed-unit", "s", "--json").json()["server_s"]["mean"] == 21
    (folder / "access.log").write_text(LOG)
    refused(farweb, "workload", "import", "access.log", "--elapsed-unit", "s", says="states the units of its times")


def test_check_names_what_crossed_and_is_out(farweb: Farweb, folder: Path) -> None:
    """All that crossed is in only where nothing that crossed is out."""
    line = '192.0.2.1 - - [12/Mar/2024:10:00:0{}] "GET /{} HTTP/1.1" {} "-" "-"\n'
    rows = ["200 900", "304 0", "302 -", "200 5000"]

    def shown(scenario: str) -> str:
        return " ".join(farweb("check", scenario).out.split())

    text = "".join(line.format(f"{n} +0000", n, row) for n, row in enumerate(rows))
    (folder / "a.log").write_text(text)
    farweb("new", "a.toml", "--log", "a.log")
    assert "a.log: all 5.90 kB of responses that crossed the link are in" in shown("a.toml")
    assert pq.read_metadata("a-requests.parquet").num_rows == 4
    (folder / "b.log").write_text(text + line.format("5 +0000", 5, "499 0") * 2 + "junk\n")
    farweb("new", "b.toml", "--log", "b.log", "--max-unreadable", 0.5)
    said = shown("b.toml")
    assert (
        "b.log: all 5.90 kB of responses logged on the link are in; out: 1 request of no known size (unreadable) and "
        "2 requests without a byte (aborted)" in said
    )
    squid = LOG.replace("TCP_HIT", "TCP_REFRESH_UNMODIFIED")
    for junk, out in (
        ("", "1 request of no known size (revalidation)"),
        ("junk\n" * 2, "3 requests of no known size (2 unreadable and 1 revalidation)"),
    ):
        (folder / "c.log").write_text(squid + junk)
        farweb("new", "c.toml", "--log", "c.log", "--max-unreadable", 0.5, "--force")
        said = shown("c.toml")
        assert f"c.log: all 15.5 kB of responses logged on the link are in; out: {out}" in said
        assert said.count("; 3 kB did not cross it") == 1
    form = '$remote_addr - - [$time_local] "$request" $status $bytes_sent $request_length'
    (folder / "d.log").write_text(CLF.replace("\n", " 500\n"))
    farweb("new", "d.toml", "--log", "d.log", "--log-format", form)
    assert "d.log: all 915 kB of requests and responses that crossed the link are in" in shown("d.toml")


def test_a_log_of_years_has_its_days_without_an_exponent(folder: Path, farweb: Farweb) -> None:
    line = '192.0.2.1 - - [{}:04:11:12 +0000] "GET / HTTP/1.1" 200 {}\n'
    (folder / "access.log").write_text(line.format("25/Oct/2015", 100) + line.format("05/Aug/2019", 200))
    answer = farweb("workload", "import", "access.log", "-o", "r.parquet")
    assert "1380 days" in " ".join(answer.out.split()), answer.out
