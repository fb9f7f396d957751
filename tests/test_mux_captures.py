"""Captures of simulated W3C MUX, taken apart byte by byte by what its drafts say, and nothing of farweb."""

import struct
from collections import defaultdict
from pathlib import Path

import polars as pl
import pytest

import pcapng
from farweb import Results
from samples import Farweb, scenario_of

CARRIER = 'kind = "webmux", credit = "4096 B", write_buffer = "8192 B", fragment = "512 B", layout = "LAYOUT"'
LEG = f"client server {{ {CARRIER} }}\n" + 'application = { write = "4096 B", head = "250 B" }'
REST = '[origin]\nrelease = "at-once"\n[record]\npackets = "all"\n'
LOSSY = '"30 ms", loss = { kind = "bernoulli", probability = 0.03 }'
SCENARIO = scenario_of("client server", "2 Mbit/s, 30 ms", legs=[LEG], rest=REST).replace('"30 ms"', LOSSY)

REQUESTS = [(0.4 * (n // 4), 301 + n + 5_000 * (n % 4 == 1), 251 + n * 7_919 % 30_000) for n in range(16)]
"""Start, request and response of requests, four at a time; some requests are larger than the credit."""

CREDIT = 3
"""Code of the control message that grants credit."""

Frame = tuple[int, str, int, int, int | None]
"""Its place in the stream, what it is, its session, payload, and what it grants."""


@pytest.fixture(params=["1996", "1998"])
def results(farweb: Farweb, folder: Path, request: pytest.FixtureRequest) -> Results:
    """The run of a layout."""
    rows = "".join(f"{start},www.example,{up},{down}\n" for start, up, down in REQUESTS)
    (folder / "requests.csv").write_text(f"start_s,host,request_bytes,response_bytes\n{rows}")
    (folder / "mux.toml").write_text(SCENARIO.replace("LAYOUT", request.param))
    assert farweb("run", "mux.toml", "--out", "r").code == 0
    return Results.open("r")


def streams(capture: pcapng.Capture) -> dict[bool, bytes]:
    """The bytes of each direction, up or not, put together; retransmissions have the same bytes."""
    joined: dict[bool, dict[int, int]] = defaultdict(dict)
    first: dict[bool, int] = {}
    for packet in capture.packets:
        up = packet.target[1] == 80
        if packet.flags & 2:
            first[up] = packet.seq + 1
        place = (packet.seq - first[up]) % 2**32
        for at, byte in enumerate(packet.data, place):
            assert joined[up].setdefault(at, byte) == byte
    return {up: bytes(found[at] for at in range(len(found))) for up, found in joined.items()}


def frames(stream: bytes, layout: str) -> list[Frame]:
    """The frames of a direction; payload and padding are zeros."""
    found: list[Frame] = []
    at = 0
    while at < len(stream):
        order = "<" if layout == "1996" else ">"
        (word,) = struct.unpack_from(f"{order}I", stream, at)
        shifts = (31, 30, 26, 18) if layout == "1996" else (18, 23, 19, 24)
        long, control, code, session = (
            word >> shift & mask for shift, mask in zip(shifts, (1, 1, 15, 255), strict=True)
        )
        header = 8 if long else 4
        second = struct.unpack_from(f"{order}I", stream, at + 4)[0] if long else None
        length, granted = word & 0x3FFFF, None
        if control:
            assert code == CREDIT
            kind, length, granted = "AddCredit", 0, length if second is None else second
        elif code == 8:
            assert (length, second) == (80, 0)  # HTTP, and no payload
            kind, length = "SYN", 0
        else:
            assert second is None
            kind = {0: "FRAGMENT", 4: "FIN", 2: "RST"}[code]
        found.append((at + 1, kind, session, length, granted))
        end = at + header + (length + header - 1) // header * header
        assert stream[at + header : end] == bytes(end - at - header)
        at = end
    assert at == len(stream)
    return found


@pytest.mark.parametrize("point", ["client", "server"])
def test_every_frame_of_the_run_is_in_its_capture(farweb: Farweb, results: Results, point: str) -> None:
    layout = results.manifest["scenario"]["leg"][0]["carrier"]["layout"]
    answer = farweb("export", "pcapng", "r", "--payload", "--point", point, "-o", "mux.pcapng")
    assert answer.code == 0, answer.err
    capture = pcapng.read(Path("mux.pcapng"))
    assert all(packet.checksums_hold for packet in capture.packets)
    assert results.packets["retransmission"].any()
    table = results.frames
    assert table["protocol"].unique().to_list() == [f"webmux {layout}"]
    for up, stream in streams(capture).items():
        shown = table.filter(pl.col("direction") == ("up" if up else "down"))
        columns = shown.select("seq", "kind", "stream", "data_bytes", "credit_bytes")
        assert frames(stream, layout) == columns.rows()
        assert {"FRAGMENT", "FIN", "AddCredit"} <= set(shown["kind"])
        sent = shown.filter(kind="FRAGMENT").group_by("request").agg(pl.col("data_bytes").sum()).rows()
        assert dict(sent) == {number: row[1 if up else 2] for number, row in enumerate(REQUESTS)}


def test_payload_of_other_carriers_is_zeros(farweb: Farweb, results: Results) -> None:
    farweb("run", "mux.toml", "--set", 'leg.0.carrier={ kind = "http/1.0" }', "--out", "plain")
    farweb("export", "pcapng", "plain", "--payload", "-o", "plain.pcapng")
    assert not any(any(packet.data) for packet in pcapng.read(Path("plain.pcapng")).packets)


def test_the_credit_is_a_stair_in_the_plot(farweb: Farweb, results: Results) -> None:
    assert farweb("export", "xpl", "r", "-o", "mux.xpl").code == 0
    colour, levels = "", set()
    for line in Path("mux.xpl").read_text().splitlines():
        word, *numbers = line.split()
        if word == "line" and colour == "blue":
            levels |= {int(numbers[1]), int(numbers[3])}
        elif not numbers:
            colour = word
    at_server = results.packets.filter(pl.col("node") == "server")
    shown = at_server.select(pl.col("credit_limit").drop_nulls())["credit_limit"]
    assert len(levels) > 10
    # The last level may have no line behind it.
    assert levels <= set(shown) and len(set(shown) - levels) <= 1
