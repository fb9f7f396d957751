"""Queues beside those of ns-3 3.37, to which the packets come that came to a link in a run of farweb.

CoDel does the same with each packet, to the nanosecond. FQ-CoDel of ns-3 differs by two rules, and by these alone:
CoDel of a flow looks at the bytes that are left of this flow, where Linux looks at those of all; and a new flow that is
found empty goes to the old flows, where Linux forgets it when there are no old ones. PIE draws: the shares of packets
that are dropped agree. Its burst allowance shrinks with each update in ns-3, with each packet taken in Linux, so the
first drops differ.
"""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from explorer.case import Case
from explorer.queues import Offer, Served, serve
from explorer.reading import Run
from explorer.rules.links import hops, in_order
from explorer.run import run

pytestmark = pytest.mark.slow(reason="ns-3")

INCLUDES = Path("/usr/include/ns3")
PROGRAM = Path(__file__).parent / "ns3_queue.cc"
LIBRARIES = ("-lns3-traffic-control", "-lns3-network", "-lns3-core")


@pytest.fixture(scope="module")
def ns3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not INCLUDES.is_dir():
        pytest.skip(f"ns-3 is not here: there is no {INCLUDES} (Debian: apt-get install libns3-dev)")
    program = tmp_path_factory.mktemp("ns3") / "ns3_queue"
    subprocess.run(["g++", "-O1", "-o", program, PROGRAM, *LIBRARIES], check=True)
    return program


def simulated(folder: Path, kind: str) -> tuple[Run, list[Offer], Served]:
    """Transfers over 8 Mbit/s with such a queue; the packets that came to it, in order, and what became of them."""
    way = {"rate": "8 Mbit/s", "delay": "10 ms"}
    scenario = {
        "format": 1,
        "path": {"nodes": ["a", "b"], "link": [{"up": way, "down": way | {"queue": kind}}]},
        "leg": [{"from": "a", "to": "b", "carrier": {"kind": "http/1.0"}, "tcp": {"profile": "linux"}}],
        "workload": {"requests": "requests.csv"},
        "record": {"packets": "all", "points": ["ends", "link 0"], "links_every": "1 s"},
    }
    sizes = [2_000_000, 20_000, 300_000, 5_000_000, 1_000, 80_000]
    asked = {"host": "h", "request_bytes": 300}
    requests = [asked | {"start_s": 0.7 * n, "response_bytes": sizes[n % 6]} for n in range(40)]
    outcome = run(Case(scenario, requests), folder)
    assert outcome.error is None
    own = Run.read(folder, outcome.tables)
    came = in_order(own, hops(own)[0, "down"])
    offers = [Offer(hop.arrival, hop.flight.key[0], hop.size, number) for number, hop in enumerate(came)]
    served = Served(
        {number: hop.departure for number, hop in enumerate(came) if hop.departure is not None},
        {number: hop.dropped for number, hop in enumerate(came) if hop.dropped is not None},
    )
    return own, offers, served


def of_ns3(program: Path, kind: str, offers: Sequence[Offer]) -> Served:
    text = "".join(f"{offer.at} {offer.flow} {offer.size}\n" for offer in offers)
    done = subprocess.run([program, kind], input=text, capture_output=True, text=True, check=True)
    found: Mapping[str, dict[int, int]] = {"sent": {}, "dropped": {}}
    for what, number, at in map(str.split, done.stdout.splitlines()):
        found[what][int(number)] = int(at)
    return Served(found["sent"], found["dropped"])


def test_codel_drops_and_sends_the_same_packets(ns3: Path, tmp_path: Path) -> None:
    _, offers, served = simulated(tmp_path, "codel")
    assert len(served.dropped) > 300
    assert of_ns3(ns3, "codel", offers) == served


def test_fq_codel_differs_by_two_rules(ns3: Path, tmp_path: Path) -> None:
    own, offers, served = simulated(tmp_path, "fq-codel")
    assert len(served.dropped) > 300
    way = own.links[0]["down"]
    assert serve(way, offers) == served
    there = of_ns3(ns3, "fq-codel", offers)
    assert there != served
    assert serve(way, offers, of_ns3=True) == there
    assert len(there.dropped) == pytest.approx(len(served.dropped), rel=0.2)


def test_pie_drops_the_same_share(ns3: Path, tmp_path: Path) -> None:
    _, offers, served = simulated(tmp_path, "pie")
    there = of_ns3(ns3, "pie", offers)
    assert len(served.dropped) > 300
    assert len(there.dropped) == pytest.approx(len(served.dropped), rel=0.1)
    here_ms, there_ms = (mean_wait(offers, each) / 1e6 for each in (served, there))
    assert there_ms == pytest.approx(here_ms, rel=0.1)


def mean_wait(offers: Sequence[Offer], served: Served) -> float:
    return sum(left - offers[number].at for number, left in served.left.items()) / len(served.left)
