"""Line 1 of `farweb check`, and its screen."""

import re
from pathlib import Path

import pytest

from farweb import Scenario
from farweb.check import capacity
from samples import SCENARIO, Farweb

# A response of 1340 B in each of 60 seconds, 1500 B with headers and the packets that open and close: 12 kbit/s.
STEADY = "start_s,host,request_bytes,response_bytes\n" + "".join(f"{second},a,300,1340\n" for second in range(61))


@pytest.mark.parametrize(
    ("rate", "answer"),
    [
        (
            "24 kbit/s",
            "The path carries this load: its fullest link, server to client, is 50 % busy in the busiest minute (from"
            " 0 s on), 50 % in the busiest second. No request can take less than 240 ms.",
        ),
        (
            "15 kbit/s",
            "The path carries this load: its fullest link, server to client, is 80 % busy in the busiest minute (from"
            " 0 s on), 80 % in the busiest second. No request can take less than 240 ms.",
        ),
        (
            "14 kbit/s",
            "Nearly full: its fullest link, server to client, is 85.7 % busy in the busiest minute (from 0 s on), "
            "85.7 % in the busiest second. Latencies are mostly queueing. No request can take less than 240 ms.",
        ),
        (
            "8 kbit/s",
            "Overloaded: 150 % of 8 kbit/s from server to client in the busiest minute (from 0 s on); queues grow. "
            "Raise the rate or lower workload.load.",
        ),
    ],
)
def test_line_1_says_whether_the_path_can_carry_the_load(cable: Path, rate: str, answer: str) -> None:
    Path("requests.csv").write_text(STEADY)
    assert Scenario.load(cable, {"path.link.0.down.rate": rate}).check().answer == answer


@pytest.mark.parametrize(
    ("levels", "answer"),
    [
        (
            '"24 kbit/s", "30 kbit/s"',
            "The path carries the load of all 2 points: its fullest link, server to client, is 50 % busy in the "
            "busiest minute (from 0 s on), 50 % in the busiest second, at rate 24 kbit/s. No request can take less "
            "than 240 ms.",
        ),
        (
            '"24 kbit/s", "8 kbit/s", "6 kbit/s"',
            "Overloaded at 2 of 3 points, first at rate 8 kbit/s, worst at rate 6 kbit/s: 200 % of 6 kbit/s from "
            "server to client in the busiest minute (from 0 s on); queues grow. Raise the rate or lower "
            "workload.load.",
        ),
        (
            '"14 kbit/s", "24 kbit/s"',
            "Nearly full at 1 of 2 points, worst at rate 14 kbit/s: its fullest link, server to client, is 85.7 % "
            "busy in the busiest minute (from 0 s on), 85.7 % in the busiest second. No request can take less than "
            "240 ms.",
        ),
        (
            ", ".join(f'"{rate} kbit/s"' for rate in range(1, 31)),
            "Overloaded at 6 of 16 points looked at, of 30, worst at rate 1 kbit/s: 1,200 % of 1 kbit/s from server "
            "to client in the busiest minute (from 0 s on); queues grow. Raise the rate or lower workload.load.",
        ),
    ],
)
def test_line_1_of_a_sweep_names_the_worst_point(cable: Path, levels: str, answer: str) -> None:
    Path("requests.csv").write_text(STEADY)
    cable.write_text(f'{SCENARIO}\n[sweep.factors]\n"path.link.0.down.rate" = [{levels}]\n')
    checked = Scenario.load(cable).check()
    assert checked.answer == answer
    assert any("(at rate" in each for each in checked.warnings) == (not answer.startswith("The path carries"))


def test_the_least_time_of_points_with_a_cache_is_of_requests_to_the_servers() -> None:
    said = [
        capacity.answer_of_points([capacity.PointLoad("a", None, 0.24, has_cache)], 1) for has_cache in (False, True)
    ]
    assert [each.rpartition("rate. ")[2] for each in said] == [
        "No request can take less than 240 ms.",
        "No request to the servers can take less than 240 ms.",
    ]


@pytest.mark.parametrize(
    ("leg", "least"),
    [
        ('carrier = { kind = "http/1.0" }', "240 ms"),
        ('carrier = { kind = "http/1.1" }', "120 ms"),
        ('carrier = { kind = "http/1.0" }\ntls = { version = "1.3" }', "360 ms"),
        ('carrier = { kind = "http/1.0" }\ntls = { version = "1.3" }\n[clients.tunnels]\ntls = {}', "240 ms"),
    ],
)
def test_the_least_time_of_a_request(cable: Path, leg: str, least: str) -> None:
    """In round trips of 120 ms: the handshake and the request, the request alone, a handshake of TLS as well.

    A tunnel with TLS inside does without the leg's.
    """
    leg, _, clients = leg.partition("\n[")
    text = SCENARIO.replace('carrier = { kind = "http/1.0" }', leg)
    cable.write_text(f"{text}\n[{clients}" if clients else text)
    assert Scenario.load(cable).check().answer.endswith(f"No request can take less than {least}.")


def test_a_second_that_asks_for_more_than_the_rate_is_not_busier_than_busy(cable: Path) -> None:
    """15 kB and headers at once, over 3 kB/s."""
    cable.with_name("web.csv").write_text(STEADY.replace("\n0,a,300,1340", "\n0,a,300,15000"))
    answer = Scenario.load(cable, {"path.link.0.down.rate": "24 kbit/s"}).check().answer
    assert (offers := re.search(r"\(from 0 s on\); the busiest second offers (\d+) % of its rate\. ", answer)), answer
    assert int(offers[1]) > 500


def test_a_scenario_that_asks_for_ecn_says_which_links_mark(cable: Path) -> None:
    ecn = {"leg.0.tcp": '{ profile = "linux", constants = { ecn = "request" } }', "path.link.0.up.queue": "fq-codel"}
    explained = Scenario.load(cable, ecn).check()
    rows = capacity.rows(explained.figures, explained.scenario, None, (), None)
    assert ["ECN", "both ends ask; link 0 up (fq-codel)"] in rows


def test_uploads_have_a_limit_of_their_own(cable: Path) -> None:
    """By the credit that the server grants in 120 ms: of 65,536 B 4.53 Mbit/s of packets, by halves 7.6 ms later."""
    linux = Scenario.load(cable, {"leg.0.tcp": '{ profile = "linux" }', "leg.0.carrier": '{ kind = "http/2" }'})

    def limit(server: str) -> list[str]:
        explained = linux.with_({"leg.0.carrier.server.preset": server}).check()
        rows = capacity.rows(explained.figures, explained.scenario, None, (), None)
        return [text for label, text in rows if label == "limit up"]

    credit = "{} Mbit/s an upload, of 34.4 Mbit/s (credit of the carrier)"
    assert limit("rfc-default") == [credit.format("4.26")], "of the connection, by halves"
    assert limit("nginx-unbuffered") == [credit.format("4.53")], "of the stream, as it is read"
    assert limit("nginx") == []


def test_losses_limit_cubic_and_not_bbr(cable: Path) -> None:
    def rows(control: str, way: str = "down", share: float = 0.01) -> dict[str, str]:
        loss = {f"path.link.0.{way}.loss": f'{{ kind = "bernoulli", probability = {share} }}'}
        tcp = {"leg.0.tcp": f'{{ profile = "linux", constants = {{ congestion_control = "{control}" }} }}'}
        explained = Scenario.load(cable, loss | tcp).check()
        found = capacity.rows(explained.figures, explained.scenario, None, (), None)
        return dict(found)

    assert rows("cubic")["limit"].endswith("(losses); 31 fill it")
    assert "losses" not in rows("cubic")
    assert rows("bbr")["losses"].startswith("no limit: BBR sends at the rate that it measures")
    assert "losses" not in rows("bbr").get("limit", "")
    assert "losses" not in rows("bbr", "up")
    assert rows("bbr", "up")["losses up"] == rows("bbr")["losses"]
    many = rows("bbr", share=0.2)
    assert many["losses"] == "a limit without an estimate: BBR takes 20 % lost for a policer's losses"
    assert "limit" not in many


@pytest.mark.parametrize(
    ("carrier", "limit"),
    [
        ('{ kind = "webmux" }', "176 kbit/s a response, of 34.4 Mbit/s (credit of the carrier)"),
        (
            '{ kind = "http/2", client = { session_credit = "65535 B", connection_credit = "15 MB" } }',
            "2.26 Mbit/s a response, of 34.4 Mbit/s (credit of the carrier)",
        ),
        ('{ kind = "http/1.1" }', "none: a connection can carry 978 Mbit/s"),
    ],
)
def test_a_credit_of_a_session_limits_a_response(cable: Path, carrier: str, limit: str) -> None:
    """More than half of 4096 B, in fragments, and of 65,535 B in 120 ms, with 1500 B on the wire for 1448 B."""
    keys = {"leg.0.tcp": '{ profile = "linux" }', "leg.0.carrier": carrier}
    explained = Scenario.load(cable, keys).check()
    rows = capacity.rows(explained.figures, explained.scenario, None, (), None)
    assert [text for label, text in rows if label == "limit"] == [limit]


def test_the_screen_of_check(cable: Path, farweb: Farweb) -> None:
    answer = farweb("check", cable)
    assert (
        answer.out
        == """\
The path carries this load: its fullest link, server to client, is 0.0101 % busy
in the busiest minute (from 0 s on), 0.481 % in the busiest second. No request
can take less than 240 ms.

path      client -- 34.4 Mbit/s, 60 ms -- server
requests  3 in 20 s; no request names its client
http/1.0  a connection a request: two round trips of 120 ms at least
limit     2.19 Mbit/s a connection, of 34.4 Mbit/s (receive window); 16 fill it
queues    256 kB up, 256 kB down: 49.7 % of what the path holds
a run     about 52 packets over links
"""
    )
    assert answer.said == f"more: --details next: farweb run {cable}"


def test_a_link_that_changes_says_so_and_that_figures_are_of_its_mean_rate(cable: Path, farweb: Farweb) -> None:
    gaps = 'path.link.0.down.outage=[{ at = "2 s", lasts = "1 s", every = "10 s" }]'
    said = " ".join(farweb("check", cable, "--set", gaps).out.split())
    for words in (
        "in the busiest second, of a mean of 30.9 Mbit/s.",
        "changes client to server, down: mean 30.9 Mbit/s; outage 1 s every 10 s",
        "a connection, of a mean of 30.9 Mbit/s (receive window); 15 fill it",
    ):
        assert words in said


def test_changes_of_each_direction_are_said_whole(cable: Path, farweb: Farweb) -> None:
    link = 'path.link.0={ preset = "starlink" }'
    said = " ".join(farweb("check", cable, "--set", link).out.split())
    each = "20.5 ms to 24.5 ms; rate varies by 13 % every 100 ms; handover every 15 s, gap 59 ms to 135 ms"
    assert f"up: 9.75 Mbit/s to 27.3 Mbit/s, mean 16.9 Mbit/s; {each}" in said
    assert f"down: 67.1 Mbit/s to 188 Mbit/s, mean 116 Mbit/s; {each}" in said
