"""The live probe with a tcpdump of our own: a script that says what the real one says and has a capture ready.

`tests/verify/test_probe_servers.py` does it with the real one.
"""

import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from captures import handshake, pcap
from farweb import WorkloadError
from farweb.inputs.probe_live import Target, read_targets
from samples import Farweb, refused

LISTENS = "tcpdump: listening on any, link-type RAW (Raw IP), snapshot length 160 bytes"


@pytest.fixture
def tcpdump(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program called tcpdump, the only one on the PATH; the test writes its script."""
    (folder / "bin").mkdir()
    monkeypatch.setenv("PATH", str(folder / "bin"))
    monkeypatch.setattr("farweb.inputs.probe_live._SBIN", "")
    monkeypatch.setattr("farweb.inputs.probe_live._START_S", 5.0)
    monkeypatch.setattr("tempfile.tempdir", str(folder / "scratch"))
    (folder / "scratch").mkdir()
    return folder / "bin/tcpdump"


def write(program: Path, *lines: str) -> None:
    program.write_text("\n".join(["#!/bin/sh", *lines, ""]))
    program.chmod(0o755)


def captures(program: Path, folder: Path) -> None:
    """Have the program capture a handshake with 127.0.0.1, and note its arguments."""
    (folder / "ready.pcap").write_bytes(pcap(handshake("127.0.0.1", mss=None, window=4_096)))
    asked, ready = f'echo "$@" > {folder}/asked', f"/bin/cat {folder}/ready.pcap"
    says = f'echo "{LISTENS}" >&2'
    write(program, 'trap "exit 0" INT', asked, ready, says, "while :; do /bin/sleep 0.01; done")


@pytest.fixture
def listener() -> Iterator[int]:
    """The port of a server on 127.0.0.1."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


def test_the_table_is_of_the_hosts_of_the_list(folder: Path, farweb: Farweb, tcpdump: Path, listener: int) -> None:
    captures(tcpdump, folder)
    with socket.create_server(("127.0.0.1", 0)) as server:
        closed = server.getsockname()[1]
    (folder / "hosts.txt").write_text(f"127.0.0.1\n127.0.0.1:{closed}\nno.such.host.invalid:81\n")
    arguments = ("--connect", "hosts.txt", "--port", listener, "-o", "h.tsv", "--keep", "k.pcap", "--default-mss", 536)
    answer = farweb("workload", "probe", *arguments, "--json")
    assert answer.code == 0, answer.err
    shown = answer.json()
    assert shown["silent"] == ["127.0.0.1"]
    assert shown["failures"] == {
        "127.0.0.1": "that refused",
        "no.such.host.invalid": "with a name that is not known",
    }
    assert Path("h.tsv").read_text().splitlines()[1] == "127.0.0.1\t127.0.0.1\t4096\t536\t0.25\t\t127.0.0.1"
    assert Path("k.pcap").read_bytes() == Path("ready.pcap").read_bytes()
    ports = " or ".join(f"port {port}" for port in sorted((81, closed, listener)))
    asked = Path("asked").read_text()
    assert asked == f"-p -n -U --immediate-mode -i any -s 160 -w - tcp and ({ports})\n"
    assert list((folder / "scratch").iterdir()) == []


def test_without_tcpdump_a_line_says_how_to_get_it(folder: Path, farweb: Farweb, tcpdump: Path) -> None:
    (folder / "hosts.txt").write_text("127.0.0.1\n")
    says = "farweb: --connect needs tcpdump, and it is not on the PATH: install it (Debian: apt-get install tcpdump)\n"
    refused(farweb, "workload", "probe", "--connect", "hosts.txt", says=says)


DENIED = "tcpdump: any: You don't have permission to perform this capture on that device"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ((f'echo "{DENIED}" >&2', "exit 1"), "--connect needs the right to capture: run it as root"),
        (('echo "tcpdump: any: No such device exists" >&2', "exit 1"), 'interface "any": any: No such device exists'),
        (("exit 0",), 'tcpdump cannot capture on interface "any": it said nothing'),
        ((f'echo "{LISTENS}" >&2', "exit 0"), "tcpdump ended before the last host was done"),
    ],
)
def test_a_tcpdump_that_does_not_capture_is_told(
    folder: Path, farweb: Farweb, tcpdump: Path, listener: int, lines: tuple[str, ...], message: str
) -> None:
    write(tcpdump, *lines)
    (folder / "hosts.txt").write_text("127.0.0.1\n")
    refused(farweb, "workload", "probe", "--connect", "hosts.txt", "--port", listener, says=message, code=3)


def test_what_tcpdump_did_not_see_is_no_table(folder: Path, farweb: Farweb, tcpdump: Path, listener: int) -> None:
    captures(tcpdump, folder)
    (folder / "ready.pcap").write_bytes(pcap(handshake("192.0.2.200")))
    (folder / "hosts.txt").write_text("127.0.0.1\n")
    answer = farweb("workload", "probe", "--connect", "hosts.txt", "--port", listener)
    assert (answer.code, 'tcpdump saw nothing of it on interface "any"' in answer.err) == (3, True)


def test_a_list_of_hosts_has_names_addresses_and_ports(folder: Path) -> None:
    lines = ["www.example", "www.example:8080 # twice", "", "192.0.2.7:81", "2001:db8::1", "[2001:db8::2]:82", "[::3]"]
    (folder / "hosts").write_text("\n".join([*lines, "www.example"]))
    expected = {"www.example": 80, "192.0.2.7": 81, "2001:db8::1": 80, "2001:db8::2": 82, "::3": 80}
    targets = [Target(host, port) for host, port in expected.items()]
    assert read_targets(Path("hosts"), 80) == [targets[0], Target("www.example", 8080), *targets[1:]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("a b\n", "hosts:1: 2 words; write one host a line"),
        ("a\nb:http\n", "hosts:2: 'b:http' is no host"),
        ("a:0", "hosts:1: 'a:0' is no host"),
        ("a:65536", "hosts:1: 'a:65536' is no host"),
        ("a:٣", "hosts:1: 'a:٣' is no host"),
        ("[::1", "hosts:1: '[::1' is no host"),
        (":80", "hosts:1: ':80' is no host"),
        ("# nobody\n", "hosts: names no host"),
    ],
)
def test_a_wrong_list_is_told_with_its_line(folder: Path, content: str, message: str) -> None:
    (folder / "hosts").write_text(content)
    with pytest.raises(WorkloadError) as error:
        read_targets(Path("hosts"), 80)
    assert str(error.value).startswith(message)
