"""Captures of runs, judged by programs for real ones.

tshark finds nothing wrong in them; tcptrace counts and draws what farweb does. `make verify` runs this and names the
programs that are missing.
"""

import csv
import json
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from farweb import Results, Scenario, _core
from farweb.views.export import capture_points, export_pcapng, export_xpl

pytestmark = pytest.mark.slow(reason="tshark and tcptrace")

SCENARIO = """\
format = 1
name = "{name}"

[path]
nodes = ["client", "router", "server"]

[[path.link]]
up   = {{ rate = "2 Mbit/s", {up} }}
down = {{ rate = "2 Mbit/s", {down} }}

[[path.link]]
up   = {{ rate = "10 Mbit/s", delay = "5 ms" }}
down = {{ rate = "10 Mbit/s", delay = "5 ms" }}

[[leg]]
from = "client"
to = "server"
carrier = {{ kind = "http/1.0" }}
tcp = {{ profile = "{profile}", buffer = "{buffer}" }}

[origin]
release = "at-once"

[workload]
requests = "requests.csv"

[record]
packets = "all"
points = ["ends", "link 0", "link 1"]
"""

CLEAN = 'delay = "30 ms"'
FIRST_PORT, PORTS = 32_768, 28_232

WARNING = 6_291_456
"""Severity of a warning of tshark; errors are above."""


@dataclass(frozen=True)
class Case:
    """Link 0 in both directions, the buffer of both ends, and start, request and response of requests."""

    up: str
    down: str
    requests: Sequence[tuple[float, int, int]]
    buffer: str = "32767 B"


def many(count: int, apart_s: float) -> Sequence[tuple[float, int, int]]:
    """Requests of many sizes."""
    return [(n * apart_s, 300 + 2_900 * (n % 5 == 0), 400 + n * 7_919 % 40_000) for n in range(count)]


CASES = {
    "clean": Case(CLEAN, CLEAN, many(6, 2.0)),
    "lossy": Case(
        f'{CLEAN}, loss = {{ kind = "bernoulli", probability = 0.01 }}',
        f'{CLEAN}, queue = "12 packets", loss = {{ kind = "bernoulli", probability = 0.03 }}',
        many(30, 0.8),
    ),
    "many connections": Case(CLEAN, f'{CLEAN}, queue = "30 packets"', many(400, 0.05)),
    # The SYN|ACK comes after the client has given up.
    "resets": Case(CLEAN, 'delay = "80 s"', [(0.0, 300, 5_000), (1.0, 300, 5_000)]),
    # The window closes as the hole of the fifth segment is filled; the update that opens it again is lost.
    "zero windows": Case(
        f'{CLEAN}, loss = {{ kind = "list", drop = ["ack 8"] }}',
        f'{CLEAN}, loss = {{ kind = "list", drop = ["data 5"] }}',
        [(0.0, 300, 60_000)],
        buffer="5840 B",
    ),
}


def profiles() -> list[str]:
    """The profiles with handshakes."""
    schema = json.loads(_core.scenario_schema())
    names = [entry["const"] for entry in schema["$defs"]["ProfileName"]["oneOf"]]
    return [name for name in names if not name.startswith("ns2")]


@dataclass
class Frame:
    """A packet as tshark sees it, and the row of the packet table that it was made from."""

    row: dict[str, Any]
    warnings: list[str]
    notes: list[str]
    malformed: bool
    tcp_checksum: str
    ip_checksum: str


@dataclass
class Run:
    """A result, and a folder for captures of it."""

    results: Results
    folder: Path
    _frames: dict[tuple[str, bool], list[Frame]] = field(default_factory=dict)

    def capture(self, point: str, payload: bool = True) -> Path:
        """A capture at a point."""
        path = self.folder / f"{point}{payload}.pcapng"
        if not path.exists():
            export_pcapng(self.results, path, points=[point], payload=payload)
        return path

    def rows(self, point: str) -> list[dict[str, Any]]:
        """The rows of a capture, in its order."""
        at = pl.col("link").is_null() & (pl.col("node") == point)
        if point.startswith("link "):
            at = (pl.col("link") == int(point.split()[1])) & (pl.col("event") == "pass")
        return self.results.packets.filter(at).to_dicts()

    def frames(self, point: str, payload: bool = True) -> list[Frame]:
        """What tshark says of each packet at a point."""
        if (point, payload) not in self._frames:
            self._frames[point, payload] = self._judge(point, payload)
        return self._frames[point, payload]

    def _judge(self, point: str, payload: bool) -> list[Frame]:
        fields = ("_ws.expert.severity", "_ws.expert.message", "_ws.malformed", "tcp.checksum.status")
        shown = run(
            "tshark",
            *("-r", self.capture(point, payload), "-o", "tcp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE"),
            *("-T", "fields", "-E", "aggregator=|"),
            *(argument for each in (*fields, "ip.checksum.status") for argument in ("-e", each)),
        )
        rows = self.rows(point)
        frames = []
        for row, line in zip(rows, shown.splitlines(), strict=True):
            severities, messages, malformed, tcp, ip = line.split("\t")
            said = list(zip(severities.split("|"), messages.split("|"), strict=True)) if severities else []
            frames.append(
                Frame(
                    row=row,
                    warnings=[message for severity, message in said if int(severity) >= WARNING],
                    notes=[message for severity, message in said if int(severity) < WARNING],
                    malformed=bool(malformed),
                    tcp_checksum=tcp,
                    ip_checksum=ip,
                )
            )
        return frames


def run(*command: object, folder: Path | None = None) -> str:
    """Output of a program."""
    done = subprocess.run([str(part) for part in command], cwd=folder, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module", params=[(case, profile) for profile in profiles() for case in CASES], ids=" ".join)
def a_run(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Run]:
    name, profile = request.param
    case, folder = CASES[name], tmp_path_factory.mktemp("captures")
    lines = [f"{start},host{n % 7}.example,{up},{down}" for n, (start, up, down) in enumerate(case.requests)]
    (folder / "requests.csv").write_text("\n".join(["start_s,host,request_bytes,response_bytes", *lines]))
    text = SCENARIO.format(name=name, profile=profile, up=case.up, down=case.down, buffer=case.buffer)
    (folder / "scenario.toml").write_text(text)
    yield Run(Scenario.load(folder / "scenario.toml").run(out=folder / "r"), folder)


def test_tshark_finds_no_packet_malformed_and_every_checksum_good(a_run: Run) -> None:
    for point in capture_points(a_run.results):
        frames = a_run.frames(point)
        assert not any(frame.malformed for frame in frames)
        assert {frame.tcp_checksum for frame in frames} == {"1"}
        assert {frame.ip_checksum for frame in frames} == {"1"}


def test_tshark_finds_the_same_without_payload(a_run: Run) -> None:
    bare = a_run.frames("client", payload=False)
    assert not any(frame.malformed for frame in bare)
    assert [frame.warnings for frame in bare] == [frame.warnings for frame in a_run.frames("client")]
    assert {frame.ip_checksum for frame in bare} == {"1"}


def test_tshark_warns_of_nothing_but_what_happened(a_run: Run) -> None:
    dropped = a_run.results.packets.filter(pl.col("event") == "drop").to_dicts()
    for point in capture_points(a_run.results):
        view = View(dropped)
        for frame in a_run.frames(point):
            for warning in frame.warnings:
                assert any(warning.startswith(known) and holds(view, frame.row) for known, holds in WARNINGS), (
                    f"{point}: {warning}: {frame.row}"
                )
            for note in frame.notes:
                assert "retransmission" not in note or frame.row["retransmission"], f"{point}: {note}: {frame.row}"
                assert "reused" not in note
            view.pass_by(frame.row)


class View:
    """Counts of a capture so far, by connection and direction."""

    def __init__(self, dropped: Sequence[dict[str, Any]]) -> None:
        self._dropped = dropped
        self._highest: dict[tuple[int, str], int] = defaultdict(int)
        # tshark leaves probes of a closed window out of account, as if they were never accepted.
        self._highest_unprobed: dict[tuple[int, str], int] = defaultdict(int)
        self._probed: set[tuple[int, str]] = set()
        self._window: dict[tuple[int, str], int] = {}
        self._edge: dict[tuple[int, str], int] = {}

    def pass_by(self, row: dict[str, Any]) -> None:
        way, back = key(row), key(row, back=True)
        self._highest[way] = max(self._highest[way], end(row))
        if self._window.get(back) == 0 and length(row):
            self._probed.add(way)
        else:
            self._highest_unprobed[way] = max(self._highest_unprobed[way], end(row))
        self._window[way] = row["window_bytes"]
        if "." in row["flags"]:
            self._edge[way] = row["ack"] + row["window_bytes"]

    def misses(self, row: dict[str, Any]) -> bool:
        """True when the segment before `row` was dropped on its way here, or was a probe."""
        seen, unprobed = self._highest[key(row)], self._highest_unprobed[key(row)]
        if row["seq"] <= seen:
            return bool(row["seq"] > unprobed)
        return any(
            key(each) == key(row) and each["seq"] <= seen < end(each) and each["time_ns"] < row["time_ns"]
            for each in self._dropped
        )

    def acknowledges_after_a_probe(self, row: dict[str, Any]) -> bool:
        other = key(row, back=True)
        return other in self._probed and bool(row["ack"] <= self._highest[other])

    def fills_the_window(self, row: dict[str, Any]) -> bool:
        return bool(self._edge.get(key(row, back=True)) == row["seq"] + row["payload_bytes"])


def key(row: dict[str, Any], back: bool = False) -> tuple[int, str]:
    """Connection and direction of a packet, or of those that go back."""
    other = {"up": "down", "down": "up"}
    return row["connection"], other[row["direction"]] if back else row["direction"]


def length(row: dict[str, Any]) -> int:
    """Sequence numbers that a packet takes."""
    return int(row["payload_bytes"]) + ("S" in row["flags"]) + ("F" in row["flags"])


def end(row: dict[str, Any]) -> int:
    """The sequence number after a packet's last."""
    return int(row["seq"]) + length(row)


def reports_a_duplicate(_: View, row: dict[str, Any]) -> bool:
    """True when the first SACK block is acknowledged already, or lies in the second (RFC 2883, section 4)."""
    first, *others = row["sack"]
    inside = others and others[0]["start"] <= first["start"] and first["end"] <= others[0]["end"]
    return bool(first["end"] <= row["ack"] or inside)


WARNINGS: Sequence[tuple[str, Callable[[View, dict[str, Any]], bool]]] = [
    ("Previous segment(s) not captured", View.misses),
    ("ACKed segment that wasn't captured", View.acknowledges_after_a_probe),
    ("This frame is a (suspected) out-of-order segment", lambda _, row: row["retransmission"]),
    ("D-SACK Sequence", reports_a_duplicate),
    ("TCP window specified by the receiver is now completely full", View.fills_the_window),
    ("TCP Zero Window segment", lambda _, row: row["window_bytes"] == 0),
    ("Connection reset (RST)", lambda _, row: "R" in row["flags"]),
]
"""Warnings of tshark that show what a simulated network or host did, and when each is true."""


@dataclass
class Counts:
    """What one end of a connection has sent, under tcptrace's names."""

    total_packets: int = 0
    actual_data_pkts: int = 0
    actual_data_bytes: int = 0
    rexmt_data_pkts: int = 0
    rexmt_data_bytes: int = 0
    zwnd_probe_pkts: int = 0
    unique_bytes_sent: int = 0
    zero_win_adv: int = 0
    sack_pkts_sent: int = 0
    resets_sent: int = 0


def our_counts(rows: Sequence[dict[str, Any]], direction: str) -> dict[int, Counts]:
    """Packets and bytes sent in a direction, by connection, from the rows of the point that sends them."""
    counts: dict[int, Counts] = defaultdict(Counts)
    highest: dict[int, int] = defaultdict(int)
    window: dict[int, int] = {}
    for row in rows:
        connection, reset = row["connection"], "R" in row["flags"]
        if row["direction"] != direction:
            if not reset:
                window[connection] = row["window_bytes"]
            continue
        one = counts[connection]
        one.total_packets += 1
        one.resets_sent += reset
        one.sack_pkts_sent += bool(row["sack"])
        one.zero_win_adv += row["window_bytes"] == 0 and "." in row["flags"] and not reset
        if row["payload_bytes"]:
            one.actual_data_pkts += 1
            one.actual_data_bytes += row["payload_bytes"]
        if not length(row):
            continue
        if window.get(connection) == 0:
            one.zwnd_probe_pkts += 1
            continue
        # A SYN and a FIN that are sent again count as bytes.
        again = max(0, min(end(row), highest[connection]) - row["seq"])
        one.rexmt_data_pkts += again > 0
        one.rexmt_data_bytes += again
        last_data = row["seq"] + row["payload_bytes"]
        one.unique_bytes_sent += max(0, last_data - max(row["seq"], highest[connection]))
        highest[connection] = max(highest[connection], end(row))
    return counts


def tcptrace_counts(a_run: Run, point: str, direction: str) -> dict[int, Counts]:
    """What tcptrace counts in a capture."""
    pcap = a_run.folder / f"{point}.pcap"
    run("editcap", "-F", "pcap", a_run.capture(point), pcap)
    lines = [line for line in run("tcptrace", "-n", "-l", "--csv", pcap).splitlines() if line and line[0] != "#"]
    # An attempt that was reset and goes on is two connections for tcptrace.
    counts: dict[int, Counts] = defaultdict(Counts)
    for row in csv.DictReader(lines, skipinitialspace=True):
        from_client = row["port_b"].strip() == "80"
        port, address = (row["port_a"], row["host_a"]) if from_client else (row["port_b"], row["host_b"])
        high, low = map(int, address.strip().split(".")[2:])
        connection = int(port) - FIRST_PORT + (high * 256 + low - 1) * PORTS
        way = "a2b" if (direction == "up") == from_client else "b2a"
        for name in Counts.__dataclass_fields__:
            shown = int(row[f"{name}_{way}"])
            setattr(counts[connection], name, getattr(counts[connection], name) + shown)
    return counts


@pytest.mark.parametrize(("direction", "sender"), [("up", "client"), ("down", "server")])
def test_tcptrace_counts_what_each_end_has_sent(a_run: Run, direction: str, sender: str) -> None:
    rows = a_run.rows(sender)
    ours, theirs = our_counts(rows, direction), tcptrace_counts(a_run, sender, direction)
    assert set(theirs) == {row["connection"] for row in rows}
    for connection, counts in theirs.items():
        assert counts == ours[connection], f"connection {connection} {direction}"


def test_counts_of_the_connection_table_are_those_of_tcptrace(a_run: Run) -> None:
    theirs = {way: tcptrace_counts(a_run, sender, way) for way, sender in (("up", "client"), ("down", "server"))}
    for row in a_run.results.connections.to_dicts():
        both = [counts[row["connection"]] for counts in theirs.values() if row["connection"] in counts]
        assert row["retransmits"] == sum(counts.rexmt_data_pkts for counts in both)
        assert row["segments_up"] == theirs["up"][row["connection"]].total_packets


def drawn(path: Path) -> Counter[tuple[str, ...]]:
    """Marks of a plot, each with its colour."""
    colours = {"white", "red", "orange", "green", "yellow", "purple", "magenta", "pink", "blue"}
    things: Counter[tuple[str, ...]] = Counter()
    colour = "white"
    lines = iter(path.read_text().splitlines()[7:])
    for line in lines:
        words = line.split()
        if len(words) == 1:
            colour = words[0]
            continue
        its_own = words.pop() if words[-1] in colours else colour
        text = next(lines) if words[0].endswith("text") else ""
        things[its_own, *words, text] += 1
    return things


def test_plots_are_those_of_tcptrace(a_run: Run) -> None:
    """Of the longest connections: what farweb draws, and what tcptrace draws of the capture."""
    pcap = a_run.folder / "server.pcap"
    run("editcap", "-F", "pcap", a_run.capture("server"), pcap)
    folder = a_run.folder / "plots"
    folder.mkdir()
    run("tcptrace", "-n", "-zy", "-S", pcap, folder=folder)
    theirs = {path.read_text().splitlines()[2].split()[0]: path for path in folder.glob("*_tsg.xpl")}
    longest = a_run.results.connections.sort("segments_down", descending=True)["connection"].to_list()[:10]
    for connection in longest:
        ours = a_run.folder / f"{connection}.xpl"
        export_xpl(a_run.results, ours, connection=connection, point="server", direction="down")
        (title,) = [title for title in theirs if title.endswith(f":{FIRST_PORT + connection}")]
        assert drawn(ours) == drawn(theirs[title])
