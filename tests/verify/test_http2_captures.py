"""Captures of simulated HTTP/2, judged by tshark: every frame of the run is there, and none is malformed."""

import csv
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest

from farweb import Results, Scenario
from farweb.views.export import capture_points, export_pcapng

pytestmark = pytest.mark.slow(reason="tshark")

SCENARIO = """\
format = 1
name = "http/2"

[path]
nodes = ["client", "server"]

[[path.link]]
up   = {{ rate = "5 Mbit/s", delay = "30 ms", {up} }}
down = {{ rate = "5 Mbit/s", delay = "30 ms", {down} }}

[[leg]]
from = "client"
to = "server"
carrier = {{ kind = "http/2", {carrier} }}
tcp = {{ profile = "{profile}" }}

[origin]
release = "at-once"

[workload]
requests = "requests.csv"

[record]
packets = "all"
points = ["ends"]
"""

LOSSY = 'loss = { kind = "bernoulli", probability = 0.02 }'


@dataclass(frozen=True)
class Case:
    """A carrier, and losses of the link."""

    carrier: str
    profile: str = "linux"
    up: str = 'queue = "100 packets"'
    down: str = 'queue = "100 packets"'


CASES = {
    "defaults": Case('preset = "rfc-default"'),
    "lossy": Case('preset = "nghttp2"', up=LOSSY, down=LOSSY),
    "4.4BSD": Case('client = { preset = "chrome" }, server = { preset = "nginx" }', profile="bsd44-lite"),
    "measured path": Case('preset = "grpc", session_credit = "5 kB"'),
    "small": Case('session_credit = "5 kB", session_limit = 3, fragment = "700 B", header_repeat = "1 B"'),
}
"""Header blocks of 1 B have no room for a request, and are there all the same."""

REQUESTS = [(0.3 * (n // 6), 300 + 3_000 * (n % 4 == 1), 251 + n * 7_919 % 60_000) for n in range(24)]
"""Start, request and response of requests, six at a time; some requests have data."""

TYPES = {0: "DATA", 1: "HEADERS", 3: "RST_STREAM", 4: "SETTINGS", 6: "PING", 7: "GOAWAY", 8: "WINDOW_UPDATE"}
"""Types of frames (RFC 9113, section 6)."""


@pytest.fixture(scope="module", params=CASES)
def results(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Results]:
    """The run of a case."""
    case, folder = CASES[request.param], tmp_path_factory.mktemp("http2")
    with (folder / "requests.csv").open("w") as file:
        table = csv.writer(file)
        table.writerow(["start_s", "host", "request_bytes", "response_bytes"])
        table.writerows((start, "www.example", up, down) for start, up, down in REQUESTS)
    text = SCENARIO.format(carrier=case.carrier, profile=case.profile, up=case.up, down=case.down)
    (folder / "scenario.toml").write_text(text)
    run = Scenario.load(folder / "scenario.toml").run(out=folder / "r")
    assert set(run.requests["status"]) == {"done"}
    yield run


@dataclass(frozen=True)
class Seen:
    """A frame as tshark sees it."""

    direction: str
    kind: str
    stream: int
    length: int


def by_tshark(results: Results, point: str, folder: Path) -> list[Seen]:
    """The frames of a capture: none is malformed, every checksum is good."""
    capture = folder / f"{point}.pcapng"
    export_pcapng(results, capture, points=[point], payload=True)
    fields = ("_ws.malformed", "tcp.checksum.status", "tcp.srcport", "http2.type", "http2.streamid", "http2.length")
    settings = ("tcp.check_checksum:TRUE", "tcp.reassemble_out_of_order:TRUE")
    shown = subprocess.run(
        [
            *("tshark", "-r", str(capture), "-d", "tcp.port==80,http2", "-T", "fields"),
            *(word for setting in settings for word in ("-o", setting)),
            *(word for field in fields for word in ("-e", field)),
        ],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    seen = []
    for line in shown.stdout.splitlines():
        malformed, checksum, port, *frames = line.split("\t")
        assert not malformed, line
        assert checksum == "1", line
        for kind, stream, length in zip(*(field.split(",") for field in frames if field), strict=True):
            seen.append(Seen("down" if port == "80" else "up", TYPES[int(kind)], int(stream), int(length)))
    return seen


def test_tshark_sees_every_frame_of_the_run(results: Results, tmp_path: Path) -> None:
    frames = results.frames.to_dicts()
    recorded = Counter(
        Seen(
            frame["direction"],
            frame["kind"].removesuffix(" ACK"),
            frame["stream"] or 0,
            # A client's first SETTINGS follow the preface of 24 B.
            frame["framing_bytes"] + frame["data_bytes"] - 9 - 24 * (frame["direction"] == "up" and frame["seq"] == 1),
        )
        for frame in frames
    )
    kinds = Counter((frame["direction"], frame["kind"]) for frame in frames)
    assert {kind for _, kind in kinds} >= {"SETTINGS", "HEADERS", "DATA", "WINDOW_UPDATE", "GOAWAY"}
    # The last one may still be out when the connection is closed.
    assert kinds["up", "PING"] - 1 <= kinds["down", "PING ACK"] <= kinds["up", "PING"]
    for point in capture_points(results):
        assert Counter(by_tshark(results, point, tmp_path)) == recorded


def test_frames_fill_the_stream_and_carry_the_messages(results: Results) -> None:
    for (connection, direction), frames in results.frames.group_by("connection", "direction", maintain_order=True):
        ends = frames["seq"] + frames["framing_bytes"] + frames["data_bytes"]
        assert frames["seq"][0] == 1
        assert frames["seq"][1:].to_list() == ends[:-1].to_list()
        sent = results.packets.filter(
            (pl.col("connection") == connection)
            & (pl.col("direction") == direction)
            & (pl.col("event") == "send")
            & ~pl.col("retransmission")
        )
        assert ends[-1] - 1 == sent["payload_bytes"].sum()
    down = results.frames.filter(pl.col("direction") == "down").group_by("request").agg(pl.col("data_bytes").sum())
    data = {row["request"]: row["data_bytes"] for row in down.to_dicts() if row["request"] is not None}
    assert data == {number: response - 250 for number, (_, _, response) in enumerate(REQUESTS)}
