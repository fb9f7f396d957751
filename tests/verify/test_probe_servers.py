"""`farweb workload probe --connect` with real tcpdump, against servers with chosen MSS and windows.

The servers live in a network namespace of their own: sockets of the kernel with `TCP_MAXSEG` and `SO_RCVBUF`, and one
host made of raw packets, since the kernel never leaves the MSS out. The kernel chooses the window that a socket
advertises; tshark reads it.
"""

import csv
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from namespaces import Namespace, missing, namespace

if reason := missing("tcpdump", "tshark", "setpriv"):
    pytest.skip(reason, allow_module_level=True)

pytestmark = pytest.mark.alone

NETWORK = "10.78.0"
SILENT, NOBODY = f"{NETWORK}.98", f"{NETWORK}.99"
SILENT_WINDOW, SILENT_S = 4321, 0.05
"""Values that the host of raw packets advertises, and its time to answer."""


@dataclass(frozen=True)
class Server:
    """A listening socket of the kernel."""

    address: str
    mss: int
    buffer: int


SERVERS = [
    Server(f"{NETWORK}.{n}", *chosen) for n, chosen in enumerate([(536, 4096), (1200, 20_000), (1400, 65_000)], 10)
]
REFUSING = f"{NETWORK}.9"


def ip(there: Namespace, *arguments: str) -> str:
    done = subprocess.run(["ip", "-n", there.name, *arguments], check=True, capture_output=True, text=True, timeout=60)
    return done.stdout


def setting(there: Namespace, name: str, value: int) -> None:
    with there.entered():
        Path("/proc/sys/net/ipv4", name).write_text(str(value))


@contextmanager
def listening(there: Namespace, server: Server, port: int = 80) -> Iterator[None]:
    """A server."""
    with there.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_MAXSEG, server.mss)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, server.buffer)
        listener.bind((server.address, port))
        listener.listen()
        yield


def answer_raw(wire: socket.socket, stop: threading.Event) -> None:
    """Answer SYNs to `SILENT` with SYN|ACKs that have no options, until asked to stop."""
    wire.settimeout(0.1)
    while not stop.is_set():
        try:
            frame = wire.recv(2048)
        except TimeoutError:
            continue
        if frame[12:14] != b"\x08\x00" or frame[30:34] != socket.inet_aton(SILENT) or frame[23] != 6 or frame[47] != 2:
            continue
        time.sleep(SILENT_S)
        ports, seq = frame[34:38], struct.unpack_from("!I", frame, 38)[0]
        tcp = ports[2:] + ports[:2] + struct.pack("!IIBBHHH", 1, seq + 1, 5 << 4, 0x12, SILENT_WINDOW, 0, 0)
        ends = frame[30:34] + frame[26:30]
        tcp = tcp[:16] + struct.pack("!H", checksum(ends + struct.pack("!HH", 6, 20) + tcp)) + tcp[18:]
        head = struct.pack("!BBHHHBBH", 0x45, 0, 40, 0, 0x4000, 64, 6, 0) + ends
        head = head[:10] + struct.pack("!H", checksum(head)) + head[12:]
        wire.send(frame[6:12] + frame[:6] + b"\x08\x00" + head + tcp)


def checksum(data: bytes) -> int:
    total: int = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return 0xFFFF - total


@pytest.fixture(scope="module")
def client() -> Iterator[Namespace]:
    """A namespace with one neighbour, which has the servers."""
    with ExitStack() as whole:
        here, there = whole.enter_context(namespace()), whole.enter_context(namespace())
        ip(here, "link", "add", "near", "type", "veth", "peer", "name", "far", "netns", there.name)
        ip(here, "addr", "add", f"{NETWORK}.1/24", "dev", "near")
        for address in (REFUSING, *(server.address for server in SERVERS)):
            ip(there, "addr", "add", f"{address}/24", "dev", "far")
        ip(here, "link", "set", "near", "up")
        ip(there, "link", "set", "far", "up")
        far = ip(there, "-o", "link", "show", "far").split("link/ether ")[1].split()[0]
        for address in (SILENT, NOBODY):
            ip(here, "neigh", "add", address, "lladdr", far, "dev", "near", "nud", "permanent")
        for server in SERVERS:
            whole.enter_context(listening(there, server))
        whole.enter_context(listening(here, Server("127.0.0.1", 900, 30_000), 8080))
        with there.entered():
            wire = whole.enter_context(socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0800)))
        wire.bind(("far", 0x0800))
        stop = threading.Event()
        answering = threading.Thread(target=answer_raw, args=(wire, stop))
        answering.start()
        whole.callback(answering.join)
        whole.callback(stop.set)
        setting(there, "tcp_window_scaling", 0)
        yield here


def command(there: Namespace, *arguments: object, within: tuple[str, ...] = ()) -> list[str]:
    python = (sys.executable, "-W", "ignore::RuntimeWarning", "-m", "farweb")
    return there.command(*within, *python, "workload", "probe", *map(str, arguments))


def probe(there: Namespace, *arguments: object, within: tuple[str, ...] = ()) -> subprocess.CompletedProcess[str]:
    called = command(there, *arguments, within=within)
    return subprocess.run(called, check=False, capture_output=True, text=True, timeout=100)


def rows(path: Path) -> dict[str, dict[str, str]]:
    with path.open(newline="") as file:
        return {row["host"]: row for row in csv.DictReader(file, delimiter="\t")}


def synacks(capture: Path) -> dict[str, tuple[int, int]]:
    """Window and MSS of SYN|ACKs, as tshark reads them."""
    fields = ("ip.src", "tcp.window_size_value", "tcp.options.mss_val")
    shown = subprocess.run(
        ["tshark", "-r", str(capture), "-Y", "tcp.flags.syn == 1 && tcp.flags.ack == 1", "-T", "fields"]
        + [argument for each in fields for argument in ("-e", each)],
        check=True,
        capture_output=True,
        text=True,
    )
    lines = (line.split("\t") for line in shown.stdout.splitlines())
    return {address: (int(window), int(mss or 0)) for address, window, mss in lines}


def test_what_servers_were_told_to_advertise_is_in_the_table(client: Namespace, tmp_path: Path) -> None:
    hosts = [server.address for server in SERVERS]
    listed = [*hosts, SILENT, REFUSING, NOBODY, "localhost:8080", "no.such.host.invalid"]
    (tmp_path / "hosts.txt").write_text("# servers\n" + "\n".join(listed))
    out, kept = tmp_path / "hosts.tsv", tmp_path / "kept.pcap"
    ran = probe(client, "--connect", tmp_path / "hosts.txt", "-o", out, "--keep", kept, "--timeout", 2)
    assert ran.returncode == 0, ran.stderr
    found, seen = rows(out), synacks(kept)
    assert set(found) == {*hosts, SILENT, "localhost"}
    for server in SERVERS:
        row = found[server.address]
        assert (int(row["window_bytes"]), int(row["mss_bytes"])) == seen[server.address]
        assert int(row["mss_bytes"]) == server.mss
        # Linux keeps a part of the buffer for itself, and doubles the size asked for.
        assert 0 < int(row["window_bytes"]) <= 2 * server.buffer
        assert row["window_scale"] == ""
        assert float(row["rtt_s"]) > 0
    windows = [int(found[host]["window_bytes"]) for host in hosts]
    assert windows == sorted(set(windows)), "larger buffers, larger windows"
    assert found["localhost"]["address"] == "127.0.0.1"
    assert found["localhost"]["mss_bytes"] == "900"
    assert found["localhost"]["window_scale"] != ""
    silent = found[SILENT]
    assert (silent["window_bytes"], silent["mss_bytes"]) == (str(SILENT_WINDOW), "1480")
    assert float(silent["rtt_s"]) >= SILENT_S
    assert f"no MSS advertised, 1480 B taken: {SILENT}" in ran.stdout
    assert f"hosts that refused: {REFUSING}" in ran.stdout
    assert f"hosts without an answer: {NOBODY}" in ran.stdout
    assert "hosts with a name that is not known: no.such.host.invalid" in ran.stdout


def test_no_request_is_sent_and_the_capture_alone_gives_the_same_table(client: Namespace, tmp_path: Path) -> None:
    (tmp_path / "hosts.txt").write_text("\n".join(server.address for server in SERVERS))
    kept = tmp_path / "kept.pcap"
    assert probe(client, "--connect", tmp_path / "hosts.txt", "-o", tmp_path / "a.tsv", "--keep", kept).returncode == 0
    assert probe(client, kept, "-o", tmp_path / "b.tsv").returncode == 0
    assert rows(tmp_path / "a.tsv") == rows(tmp_path / "b.tsv")
    shown = subprocess.run(
        ["tshark", "-r", str(kept), "-T", "fields", "-e", "tcp.len"], check=True, capture_output=True, text=True
    )
    assert set(shown.stdout.split()) == {"0"}


def test_when_nobody_answers_nothing_is_written(client: Namespace, tmp_path: Path) -> None:
    (tmp_path / "hosts.txt").write_text(f"{REFUSING}\n{NOBODY}\n")
    ran = probe(client, "--connect", tmp_path / "hosts.txt", "-o", tmp_path / "h.tsv", "--timeout", 0.3)
    assert ran.returncode == 3
    assert "none of 2 hosts could be connected to: 1 that refused, 1 without an answer" in ran.stderr
    assert not (tmp_path / "h.tsv").exists()


def test_without_the_right_to_capture_a_line_says_so(client: Namespace, tmp_path: Path) -> None:
    (tmp_path / "hosts.txt").write_text(SERVERS[0].address)
    without = ("setpriv", "--bounding-set=-net_raw,-net_admin", "--inh-caps=-net_raw,-net_admin")
    ran = probe(client, "--connect", tmp_path / "hosts.txt", "-o", tmp_path / "h.tsv", within=without)
    assert ran.returncode == 3
    assert "--connect needs the right to capture" in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def test_an_interface_that_is_not_there_is_told(client: Namespace, tmp_path: Path) -> None:
    (tmp_path / "hosts.txt").write_text(SERVERS[0].address)
    ran = probe(client, "--connect", tmp_path / "hosts.txt", "-o", tmp_path / "h.tsv", "--interface", "nowhere0")
    assert ran.returncode == 3
    assert 'tcpdump cannot capture on interface "nowhere0"' in ran.stderr


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 128 + signal.SIGTERM)])
def test_an_interrupted_probe_ends_tcpdump_and_leaves_nothing(
    client: Namespace, tmp_path: Path, number: signal.Signals, code: int
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (tmp_path / "hosts.txt").write_text(NOBODY)
    called = command(client, "--connect", tmp_path / "hosts.txt", "-o", tmp_path / "h.tsv", "--timeout", 60)
    environment = {**os.environ, "TMPDIR": str(scratch)}
    with subprocess.Popen(called, stderr=subprocess.PIPE, text=True, env=environment) as running:
        deadline = time.monotonic() + 60
        while not (dump := tcpdumps_of(running.pid)) or not any(scratch.rglob("probe.pcap")):
            assert time.monotonic() < deadline
            assert running.poll() is None, running.stderr and running.stderr.read()
            time.sleep(0.05)
        running.send_signal(number)
        assert running.wait(30) == code
    assert not any(Path("/proc", pid).exists() for pid in dump)
    assert list(scratch.iterdir()) == []
    assert not (tmp_path / "h.tsv").exists()


def tcpdumps_of(parent: int) -> list[str]:
    """Processes called tcpdump that a process started."""
    children = Path(f"/proc/{parent}/task/{parent}/children").read_text().split()
    return [pid for pid in children if Path("/proc", pid, "comm").read_text().strip() == "tcpdump"]
