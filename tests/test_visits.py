"""Who asks: clients and visits in summaries, groups, breakdowns, figures, comparisons and reports."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from farweb import FarwebError, Results, ResultsError
from farweb.results.groups import grouped
from sample_results import SECOND, Row, exchange, request, write_results
from samples import SCENARIO, Answer, Farweb

LOST = {"status": "failed", "end_ns": None, "first_byte_ns": None}
# Client 1 visits twice, client 2 once; client 3 only fails. The last row has no client. The first is in the warm-up.
ROWS = [
    request(1, 9, 100, client=1, visit_request="first"),
    request(5, 2, 100, client=1, visit_request="later"),
    request(6, 1, 100, client=2, visit_request="first"),
    request(7, 3, 100, client=2, visit_request="later"),
    request(8, 5, 100, client=1, visit_request="first"),
    request(9, 1, 100, client=3, visit_request="first", **LOST),
    request(10, 8, 100),
]
CONNECTIONS = [{"client": client, "leg": 0} for client in (1, 1, 1, 2, None)]
MS = 1_000_000


def results(folder: Path, rows: Sequence[Row] = ROWS, **tables: Any) -> Results:
    write_results(folder / "r", rows, warmup_ns=2 * SECOND, **tables)
    return Results.open(folder / "r")


def test_the_summary_counts_clients_and_times_of_visits(tmp_path: Path) -> None:
    summary = results(tmp_path, connections=CONNECTIONS).summary()
    of = summary.clients
    assert of is not None
    assert of.whose == "each with its own connections"
    assert (of.clients, of.unknown, of.requests_p50, of.requests_max) == (3, 1, 2.0, 2)
    assert (of.connections_p50, of.connections_max) == (2.0, 3)
    first, later = summary.visits
    assert (first.place, first.requests, first.failed_share) == ("first", 3, 1 / 3)
    assert (first.latency.n, first.latency.mean_s, first.latency.p50_s) == (2, 3.0, 5.0)
    assert (later.requests, later.failed_share, later.latency.p50_s) == (2, 0.0, 2.5)
    assert summary.to_dict()["visits"][1]["latency"]["mean_s"] == 2.5


def test_without_clients_the_summary_has_none(tmp_path: Path) -> None:
    summary = results(tmp_path, [request(5, 2, 100)]).summary()
    assert (summary.clients, summary.visits) == (None, ())


def test_groups_are_of_requests_after_the_warm_up(tmp_path: Path) -> None:
    found = results(tmp_path)

    def numbers(by: str | None) -> dict[str, list[int]]:
        table = found.requests
        return {group.label: table.filter(group.rows)["request"].to_list() for group in grouped(found, by)}

    assert numbers(None) == {"": [1, 5, 6, 7, 8, 9, 10]}
    assert numbers("visit") == {"first of a visit": [1, 6, 8, 9], "later in a visit": [5, 7], "client unknown": [10]}
    assert numbers("client") == {
        **{"client 1": [1, 5, 8], "client 2": [6, 7], "client 3": [9]},
        "client unknown": [10],
    }


def test_those_who_ask_least_are_one_group(tmp_path: Path) -> None:
    rows = [request(5 + place, 1, 100, client=place // 2) for place in range(16)]
    found = results(tmp_path, rows)
    groups = grouped(found, "client")
    assert [group.label for group in groups] == [*(f"client {number}" for number in range(5)), "the other 3 clients"]
    assert found.requests.filter(groups[-1].rows)["client"].unique().sort().to_list() == [5, 6, 7]


def test_groups_that_there_are_not_are_refused(tmp_path: Path) -> None:
    nobody = results(tmp_path, [request(5, 1, 100)])
    with pytest.raises(ResultsError, match="no request names its client, so none is grouped by visit"):
        grouped(nobody, "visit")
    with pytest.raises(FarwebError, match="grouped by visit or client, not by 'visits'"):
        grouped(nobody, "visits")
    with pytest.raises(FarwebError, match="not by 'visit and client'"):
        grouped(nobody, ["visit", "client"])


def test_breakdowns_of_groups_are_of_their_own_requests(tmp_path: Path) -> None:
    rows = [row for row in ROWS if row["request"] not in (9, 10)]
    steps = [exchange(row["request"], end_ns=row["end_ns"], first_byte_ns=row["end_ns"]) for row in rows]
    found = results(tmp_path, rows, exchanges=steps)
    first, later = found.breakdowns("visit")
    assert (first.group, first.requests, first.latency_s) == ("first of a visit", 2, 3.0)
    assert (later.group, later.requests, later.latency_s) == ("later in a visit", 2, 2.5)
    assert later.subject == "2 requests, later in a visit"
    assert [each.latency_s for each in found.breakdowns("client")] == [3.5, 2.0]
    assert found.breakdown().latency_s == 2.75


@pytest.fixture
def visited(farweb: Farweb, folder: Path) -> Answer:
    """A run of two clients over 120 ms with HTTP/1.1; each comes twice, half an hour apart, and asks at once again."""
    (folder / "link.toml").write_text(
        SCENARIO.replace("http/1.0", "http/1.1") + "[record]\nexchanges = true\nconnections = true\n"
    )
    starts = [(visit * 2000 + client + more, client) for client in (1, 2) for visit in (0, 1) for more in (0, 5)]
    lines = [f"{start},a.example,300,1000,0,c{client}" for start, client in sorted(starts)]
    header = "start_s,host,request_bytes,response_bytes,server_s,client"
    (folder / "requests.csv").write_text("\n".join([header, *lines]))
    return farweb("run", "link.toml", "-o", "r", "--json")


def test_first_requests_of_visits_wait_for_handshakes(visited: Answer, farweb: Farweb, folder: Path) -> None:
    """The first waits a round trip of 120 ms longer than the second, on the connection that lies there."""
    first, later = visited.json()["summary"]["visits"]
    assert (first["requests"], later["requests"]) == (4, 4)
    assert first["latency"]["p50_s"] - later["latency"]["p50_s"] == pytest.approx(0.120, abs=0.001)
    query = "SELECT visit_request, median(latency_s) AS p50_s FROM requests GROUP BY 1 ORDER BY 1"
    assert Results.open(folder / "r").sql(query).rows() == [
        (each["place"], pytest.approx(each["latency"]["p50_s"], rel=1e-12)) for each in (first, later)
    ]
    of_first, of_later = farweb("show", "r", "--breakdown", "--by", "visit", "--json").json()["breakdowns"]
    handshakes = [
        sum(part["mean_s"] for part in each["parts"] if part["kind"] == "handshake") for each in (of_first, of_later)
    ]
    assert handshakes == [pytest.approx(0.120, abs=0.001), 0.0]
    shown = farweb("show", "r", "--details")
    assert re.search(r"clients, each with its own connections +2\b", shown.out)
    assert re.search(r"first of a visit +4", shown.out)


@pytest.mark.usefixtures("unpainted")
def test_figures_comparisons_and_reports_have_the_groups(visited: Answer, farweb: Farweb, folder: Path) -> None:
    assert farweb("run", "link.toml", "-o", "shared", "--set", "clients.share=all", "-q").code == 0
    assert farweb("plot", "cdf", "r", "--by", "visit", "-o", "cdf.svg", "--data", "cdf.csv").code == 0
    assert "first of a visit" in (folder / "cdf.csv").read_text()
    assert farweb("plot", "breakdown", "r", "shared", "--by", "client", "-o", "b.svg", "--data", "b.csv").code == 0
    compared = farweb("compare", "r", "shared", "--by", "visit", "--json").json()["changes"]
    assert [change["group"] for change in compared] == ["first of a visit", "later in a visit"]
    assert [change["pairs"] for change in compared] == [4, 4]
    # Where clients share, the second of two that come at once finds the connection of the first.
    assert compared[0]["mean_s"]["value"] == pytest.approx(-0.060, abs=0.001)
    assert compared[1]["mean_s"]["value"] == pytest.approx(0.0, abs=0.001)
    assert farweb("report", "r", "-o", "r.html").code == 0
    words = re.sub(r"<[^>]+>", "", (folder / "r.html").read_text())
    assert "first of a visit" in words
    assert ", 2 clients), one seed" in words


def test_groups_of_the_command_line_that_there_are_not(visited: Answer, farweb: Farweb) -> None:
    for line, said in [
        (("show", "r", "--by", "visit"), "--by is for --breakdown"),
        (("show", "r", "--breakdown", "--by", "visit", "--all"), "leave --all out"),
        (("show", "r", "--breakdown", "--by", "host"), "grouped by visit or client, not by 'host'"),
        (("plot", "cdf", "r", "--by", "visits", "-o", "x.svg"), "grouped by visit or client, not by 'visits'"),
        (("compare", "r", "r", "--by", "hosts"), "groups: visit, client"),
    ]:
        answer = farweb(*line)
        assert (answer.code, said in answer.err) == (2, True), answer.err


def test_check_says_who_asks(visited: Answer, farweb: Farweb, folder: Path) -> None:
    def said(*options: str) -> tuple[str, list[str]]:
        check = farweb("check", "link.toml", "--json", *options).json()["check"]
        return check["clients"]["text"], [one for one in check["warnings"] if one.startswith("clients.share")]

    assert said() == ("2 clients, each with its own connections", [])
    assert said("--set", "clients.share=all") == ("2 clients, all through one place", [])
    table = (folder / "requests.csv").read_text()
    (folder / "requests.csv").write_text(table.replace(",c2", ","))
    assert said()[0] == "1 client, each with its own connections; 4 requests of unknown clients share others"
    (folder / "requests.csv").write_text(re.sub(r",c(lient|\d)$", "", table, flags=re.MULTILINE))
    text, (warning,) = said()
    assert text == "no request names its client; all share connections"
    assert 'write share = "all"' in warning
    assert said("--set", "clients.share=all")[1] == []
    assert said("--set", "leg.0.carrier.kind=http/1.0")[1] == []


def test_a_chain_beyond_the_first_window_costs_new_visitors_a_round_trip(farweb: Farweb, folder: Path) -> None:
    """A flight of 16 kB is more than ten segments, and waits for an ACK, 120 ms; one who comes back has a ticket."""
    leg = (
        'carrier = { kind = "http/1.1", idle_timeout = "1 s" }\n'
        'tls = { start = "resumed", certificates = "ml-dsa-65" }\ntcp = { profile = "linux" }\n'
    )
    before, _, behind = SCENARIO.partition('carrier = { kind = "http/1.0" }\n')
    text = before + leg + behind.partition("\n")[2]
    (folder / "link.toml").write_text(text + "[record]\nexchanges = true\nconnections = true\n")
    lines = "".join(f"{start},a.example,300,1000,c1\n" for start in (0, 100))
    (folder / "requests.csv").write_text("start_s,host,request_bytes,response_bytes,client\n" + lines)
    farweb("run", "link.toml", "-o", "r")
    shown = farweb("show", "r", "--breakdown", "--by", "visit", "--json").json()["breakdowns"]
    parts_s = [{part["kind"]: part["mean_s"] for part in each["parts"]} for each in shown]
    assert [each["flight"] for each in parts_s] == [pytest.approx(0.120, abs=0.001), 0.0]
    # The handshakes of TCP and TLS.
    assert [each["handshake"] for each in parts_s] == [pytest.approx(0.240, abs=0.002)] * 2
    assert "slow start of TLS flights" in farweb("show", "r", "--breakdown").out
