"""Line 1 of `farweb check`, and its screen."""

from pathlib import Path

import pytest

from farweb import Scenario
from samples import SCENARIO, Farweb

# A response of 1340 B in each of 60 seconds, 1500 B with headers and the packets that open and close: 12 kbit/s.
STEADY = "start_s,host,request_bytes,response_bytes\n" + "".join(f"{second},a,300,1340\n" for second in range(61))


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
a run     about 49 packets over links
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
