"""Farweb's TCP and the Linux kernel's talk to each other over real packets: every scenario, profile and role.

Between them lie farweb's links, in real time. Each talk has a network namespace of its own, so many run at a time. What
is asserted are outcomes (bytes, options, states, packets that were lost), never times. What both ends saw of a talk,
and its description, stay in a folder of its name, which the message of a failure names.
"""

import csv
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass

import pytest
from namespaces import FARWEB, KERNEL, missing
from scenarios import SCENARIOS, Expected
from talks import CAPTURES, PROFILES, Outcome, Role, talk
from under_way import under_way

if reason := missing():
    pytest.skip(reason, allow_module_level=True)

pytestmark = [pytest.mark.timeout(300), pytest.mark.alone]

ROLES: tuple[Role, ...] = ("client", "server")


@dataclass(frozen=True)
class Case:
    """A scenario with farweb's profile and role."""

    scenario: str
    profile: str
    role: Role

    def __str__(self) -> str:
        return f"{self.profile}-{self.role}-{self.scenario}".replace(" ", "-")

    def run(self) -> Outcome:
        return talk(SCENARIOS[self.scenario][0], self.role, PROFILES[self.profile], CAPTURES / str(self))


def cases(*scenarios: str) -> list[Case]:
    every = (Case(name, profile, role) for name in scenarios for profile in PROFILES for role in ROLES)
    return [case for case in every if case.role == "client" or not SCENARIOS[case.scenario].talk.crossing]


Talks = Mapping[Case, Future[Outcome]]


@pytest.fixture(scope="module")
def talks(request: pytest.FixtureRequest) -> Iterator[Talks]:
    """The talks of all chosen tests, under way."""
    with under_way(request.node, Case) as talks:
        yield talks


@pytest.mark.parametrize("case", cases(*SCENARIOS), ids=str)
def test_both_ends_do_what_they_were_told(case: Case, talks: Talks) -> None:
    plan, expected = SCENARIOS[case.scenario]
    outcome = talks[case].result()
    check_path(outcome, expected)
    if plan.listening:
        check_ends(case, outcome, expected)
    else:
        check_refusal(case, outcome)
    if plan.crossing:
        assert outcome.farweb["states"][:3] == ["SynSent", "SynReceived", "Established"], str(outcome)
    assert outcome.left_open == [], str(outcome)
    assert outcome.report["undecodable"] == [], str(outcome)
    assert not outcome.report["late"], str(outcome)


def check_path(outcome: Outcome, expected: Expected) -> None:
    """Every packet had its planned fate."""
    for direction in ("up", "down"):
        shown, was = getattr(expected, direction), outcome.report[direction]
        for fate in ("dropped", "late", "twice"):
            wanted = getattr(shown, fate)
            assert wanted is None or sorted(was[fate]) == sorted(wanted), f"{direction}, {fate}: {outcome}"


def check_ends(case: Case, outcome: Outcome, expected: Expected) -> None:
    """Both ends took all their steps, agree on the bytes, and sent lost segments again."""
    kernel, farweb = outcome.kernel, outcome.farweb
    assert kernel is not None and kernel.info is not None, str(outcome)
    assert set(kernel.outcomes) == {"done"}, str(outcome)
    assert set(farweb["application"]["script"]) == {"done"}, str(outcome)
    if expected.reset:
        assert "Closed" in farweb["states"], str(outcome)
        return
    assert farweb["connected"], str(outcome)
    assert farweb["closed"] in (None, "Finished"), str(outcome)
    assert farweb["states"][-1] in ("Closed", "TimeWait"), str(outcome)
    assert (farweb["acknowledged"], farweb["read"]) == (kernel.read, kernel.written), str(outcome)
    again = {case.role: farweb["retransmits"], other(case.role): kernel.info.retransmits}
    assert again["client"] >= expected.again_by_client, str(outcome)
    assert again["server"] >= expected.again_by_server, str(outcome)
    if expected.window_shuts is not None:
        shut = farweb["sent" if expected.window_shuts == case.role else "received"]["zero_windows"]
        assert shut > 0, str(outcome)


def check_refusal(case: Case, outcome: Outcome) -> None:
    """No one listened, and the client was notified."""
    assert outcome.kernel is None
    if case.role == "client":
        assert outcome.farweb["states"] == ["SynSent", "Closed"], str(outcome)
        assert outcome.farweb["closed"] == "Refused", str(outcome)
    else:
        assert outcome.refused, str(outcome)
        assert outcome.report["connections"] == [], str(outcome)


def other(role: Role) -> Role:
    return "server" if role == "client" else "client"


@pytest.mark.parametrize("case", cases("handshake"), ids=str)
def test_options_are_agreed_as_both_ends_see_them(case: Case, talks: Talks) -> None:
    outcome = talks[case].result()
    kernel, farweb = outcome.kernel, outcome.farweb
    assert kernel is not None and kernel.info is not None, str(outcome)
    offered = {"farweb": options(farweb["sent"]["syn"]), "kernel": options(farweb["received"]["syn"])}
    agreed = offered["farweb"].keys() & offered["kernel"].keys()
    # The end that opens offers all that it can; the other one answers only those options.
    assert offered["farweb" if case.role == "client" else "kernel"].keys() >= agreed
    wanted = {
        "bsd44-lite": {"mss"},
        "bsd44-lite-rfc1323": {"mss", "wscale", "timestamps"},
        "linux": {"mss", "sackOK", "wscale", "timestamps"},
        "linux-bbr": {"mss", "sackOK", "wscale", "timestamps"},
        "linux-classic": {"mss"},
    }[case.profile]
    assert agreed == wanted, str(outcome)
    info = kernel.info
    flags = {"timestamps": info.timestamps, "sackOK": info.sack, "wscale": info.window_scaling}
    assert {name for name, agreed in flags.items() if agreed} == wanted - {"mss"}, str(outcome)
    stamps = 12 if "timestamps" in wanted else 0
    assert offered["farweb"]["mss"] == offered["kernel"]["mss"] == 1460, str(outcome)
    assert info.send_mss == 1460 - stamps, str(outcome)
    if "wscale" in wanted:
        assert (info.send_shift, info.receive_shift) == (offered["farweb"]["wscale"], offered["kernel"]["wscale"])
        assert farweb["window_shift"] == info.send_shift, str(outcome)
    sent = farweb["sent"]
    assert sent["with_timestamps"] == (sent["segments"] if stamps else 0), str(outcome)


def options(syn: str) -> dict[str, int | None]:
    """Options of a SYN, from `mss 1460, sackOK, wscale 7, timestamps`."""
    matches = [re.fullmatch(r"(\w+)(?: (\d+))?", word) for word in syn.split(", ")]
    return {match[1]: int(match[2]) if match[2] else None for match in matches if match}


@pytest.mark.skipif(
    shutil.which("tcptrace") is None, reason="reading captures needs tcptrace, and it is not on the PATH"
)
@pytest.mark.parametrize(
    "case",
    cases(
        "download",
        "upload",
        "both ways",
        "a hundred requests",
        "small queue",
        "eighth segment lost",
        "last segment lost",
        "burst lost",
        "three holes",
        "tail lost",
        "losses of an upload",
    ),
    ids=str,
)
def test_tcptrace_counts_what_both_ends_counted(case: Case, talks: Talks) -> None:
    outcome = talks[case].result()
    kernel, farweb = outcome.kernel, outcome.farweb
    assert kernel is not None and kernel.info is not None, str(outcome)
    ours, theirs = ("a2b", "b2a") if case.role == "client" else ("b2a", "a2b")
    seen = {end: tcptrace(outcome, end) for end in ("farweb", "kernel")}
    for row in seen.values():
        assert (row[f"unique_bytes_sent_{ours}"], row[f"unique_bytes_sent_{theirs}"]) == (
            str(farweb["written"]),
            str(kernel.written),
        ), str(outcome)
        for end in (ours, theirs):
            # What still comes after the end is reset, and then tcptrace misses a byte that never was.
            if row["resets_sent_a2b"] == row["resets_sent_b2a"] == "0":
                assert row[f"missed_data_{end}"] == "0", str(outcome)
            assert row[f"urgent_data_pkts_{end}"] == row[f"hardware_dups_{end}"] == "0", str(outcome)
            assert row[f"mss_requested_{end}"] == "1460", str(outcome)
        for end, syn in ((ours, farweb["sent"]["syn"]), (theirs, farweb["received"]["syn"])):
            offered = options(syn)
            letters = ["Y" if name in offered else "N" for name in ("wscale", "timestamps", "sackOK")]
            assert row[f"req_1323_ws/ts_{end}"] == "/".join(letters[:2]), str(outcome)
            assert row[f"req_sack_{end}"] == letters[2], str(outcome)
    # What an end sent again shows only where nothing of it is lost yet.
    assert farweb["retransmits"] in sent_again(seen["farweb"], ours), str(outcome)
    assert kernel.info.retransmits in sent_again(seen["kernel"], theirs), str(outcome)


def sent_again(row: Mapping[str, str], end: str) -> range:
    """How many segments an end may say that it sent again, by what tcptrace counts.

    tcptrace counts a repeated FIN as data, sometimes; and the kernel may repeat one after it was last asked.
    """
    syns, fins = map(int, row[f"SYN/FIN_pkts_sent_{end}"].split("/"))
    repeated = syns + fins - 2
    data = int(row[f"rexmt_data_pkts_{end}"])
    return range(data - repeated, data + repeated + 1)


def tcptrace(outcome: Outcome, end: str) -> dict[str, str]:
    """What tcptrace says of the only connection in the capture of an end."""
    capture = outcome.folder / f"{end}.pcap"
    command = ["tcptrace", "-l", "-n", "--csv", str(capture)]
    result = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    assert result.stderr == "", result.stderr
    lines = [line for line in result.stdout.splitlines() if line and not line.startswith("#")]
    (row,) = csv.DictReader(lines)
    return {column: value.strip() for column, value in row.items() if column}


@pytest.mark.skipif(shutil.which("tshark") is None, reason="reading captures needs tshark, and it is not on the PATH")
@pytest.mark.parametrize("case", [Case("losses both ways", "linux", role) for role in ROLES], ids=str)
def test_both_ends_make_room_for_sack_blocks(case: Case, talks: Talks) -> None:
    """Data beside SACK blocks, first sent and sent again, fills the packet size to the byte and never exceeds it."""
    outcome = talks[case].result()
    for end, address in (("farweb", FARWEB), ("kernel", KERNEL)):
        sent = data_beside_sack(outcome, end, address)
        assert all(length <= room(blocks) for length, blocks in sent), f"{end}: {sent}: {outcome}"
        assert any(length == room(blocks) for length, blocks in sent), f"{end}: {sent}: {outcome}"


def room(blocks: int) -> int:
    """Payload of a full segment beside timestamps and SACK blocks (RFC 2018, section 3)."""
    return 1460 - 12 - (4 + 8 * blocks)


def data_beside_sack(outcome: Outcome, end: str, address: str) -> list[tuple[int, int]]:
    """Payload and number of SACK blocks of data segments with blocks from `address`, in the capture of an end."""
    chosen = f"ip.src == {address} && tcp.len > 0 && tcp.options.sack.count > 0"
    fields = ["-T", "fields", "-e", "tcp.len", "-e", "tcp.options.sack.count"]
    command = ["tshark", "-n", "-r", str(outcome.folder / f"{end}.pcap"), "-Y", chosen, *fields]
    result = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    return [(int(length), int(blocks)) for length, blocks in map(str.split, result.stdout.splitlines())]
