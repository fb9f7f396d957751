"""ECN between farweb's TCP and the Linux kernel's: what a mark does, as the packets of both ends have it.

The server sends, and a link of farweb's marks some of its packets. Asserted are flags, codepoints and counts, never
times.
"""

import struct
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass

import pytest
from namespaces import FARWEB, KERNEL, missing
from talks import CAPTURES, Farweb, Outcome, Role, Talk, Way, talk
from under_way import under_way

if reason := missing():
    pytest.skip(reason, allow_module_level=True)

pytestmark = [pytest.mark.timeout(300), pytest.mark.alone]

FIN, SYN, ACK, ECE, CWR = 0x01, 0x02, 0x10, 0x40, 0x80
NOT_ECT, ECT, CE = 0, 2, 3

GET = [["write 300 B", "read end"]]
ANSWER = [["read 300 B", "write 100 kB", "shutdown", "read end"]]


@dataclass(frozen=True)
class Case:
    """Farweb's role, the congestion control of the sending server, and the packets that are marked."""

    role: Role
    control: str
    marks: str

    def __str__(self) -> str:
        return f"ecn-{self.role}-{self.control}-{self.marks}".replace(" ", "-").replace("..", "-to-")

    def run(self) -> Outcome:
        is_server = self.role == "server"
        plan = Talk(
            GET,
            ANSWER,
            down=Way(mark=(self.marks,)),
            kernel_control=None if is_server else self.control,
            kernel_asks_for_ecn=is_server,
        )
        constants = {"ecn": "accept", "congestion_control": self.control} if is_server else {"ecn": "request"}
        return talk(plan, self.role, Farweb("linux", buffer=None, constants=constants), CAPTURES / str(self))


@dataclass(frozen=True)
class Seen:
    """A packet in the capture of an end."""

    source: str
    ecn: int
    seq: int
    flags: int
    payload: int


def seen(outcome: Outcome, end: str) -> list[Seen]:
    """The packets in the capture of an end: IPv4 and TCP, without a link layer."""
    data, found, at = (outcome.folder / f"{end}.pcap").read_bytes(), [], 24
    while at < len(data):
        (kept,) = struct.unpack_from("<8xI", data, at)
        packet = data[at + 16 : at + 16 + kept]
        tcp = packet[4 * (packet[0] & 15) :]
        payload = int.from_bytes(packet[2:4], "big") - 4 * (packet[0] & 15) - 4 * (tcp[12] >> 4)
        source = ".".join(map(str, packet[12:16]))
        found.append(Seen(source, packet[1] & 3, int.from_bytes(tcp[4:8], "big"), tcp[13], payload))
        at += 16 + kept
    return found


CASES = [
    Case(role, control, marks)
    for role in ("client", "server")
    for control in ("cubic", "reno", "bbr")
    for marks in ("data 8", "data 5..8")
]

Talks = Mapping[Case, Future[Outcome]]


@pytest.fixture(scope="module")
def talks(request: pytest.FixtureRequest) -> Iterator[Talks]:
    """The talks of all chosen tests, under way."""
    with under_way(request.node, Case) as talks:
        yield talks


@pytest.mark.parametrize("case", CASES, ids=str)
def test_marks_of_a_window_are_answered_once_and_nothing_is_sent_again(case: Case, talks: Talks) -> None:
    outcome = talks[case].result()
    kernel, farweb, is_server = outcome.kernel, outcome.farweb, case.role == "server"
    assert kernel is not None and kernel.info is not None and kernel.info.ecn, str(outcome)
    first, _, last = case.marks.removeprefix("data ").partition("..")
    assert outcome.report["down"]["marked"] == [f"data {one}" for one in range(int(first), int(last or first) + 1)]
    assert (farweb["acknowledged"], farweb["read"]) == (kernel.read, kernel.written), str(outcome)
    assert outcome.report["down"]["dropped"] == outcome.report["up"]["dropped"] == [], str(outcome)
    assert farweb["ece_cuts"] == (is_server and case.control != "bbr"), str(outcome)
    server, client = (FARWEB, KERNEL) if is_server else (KERNEL, FARWEB)
    sent = [one for one in seen(outcome, "farweb" if is_server else "kernel") if one.source == server]
    came = [one for one in seen(outcome, "kernel" if is_server else "farweb") if one.source == server]
    answers = [one for one in seen(outcome, "kernel" if is_server else "farweb") if one.source == client]
    assert [one.flags for one in answers if one.flags & SYN] == [SYN | ECE | CWR], str(outcome)
    assert [one.flags for one in sent if one.flags & SYN] == [SYN | ACK | ECE], str(outcome)
    data = [one for one in sent if one.payload]
    assert all(one.ecn == ECT for one in data) and all(one.ecn == NOT_ECT for one in sent if not one.payload)
    assert sum(one.ecn == CE for one in came) == len(outcome.report["down"]["marked"]), str(outcome)
    assert len({one.seq for one in data}) == len(data), f"sent again: {outcome}"
    # The window is reduced once, and the new data that says so ends the echo.
    assert sum(bool(one.flags & CWR) for one in data) == 1, str(outcome)
    echoes = [bool(one.flags & ECE) for one in answers if not one.flags & SYN]
    assert any(echoes) and not echoes[-1], str(outcome)
    assert echoes == sorted(echoes[: echoes.index(True)]) + sorted(echoes[echoes.index(True) :], reverse=True)
