"""Captures and plots from results, read back."""

from pathlib import Path

import polars as pl
import pytest

import pcapng
from farweb import Results
from farweb.errors import ResultsError
from farweb.views.export import capture_points, export_pcapng
from sample_results import request, write_results
from samples import SCENARIO, Farweb, refused

PATH = """\
[path]
nodes = ["client", "router", "server"]

[[path.link]]
up   = { rate = "2 Mbit/s", delay = "30 ms" }
down = { rate = "2 Mbit/s", delay = "30 ms", loss = { kind = "list", drop = ["data 5", "data 9"] } }

[[path.link]]
up   = { rate = "10 Mbit/s", delay = "5 ms" }
down = { rate = "10 Mbit/s", delay = "5 ms" }

[[leg]]"""

RECORD = '[record]\npackets = "all"\npoints = ["ends", "link 0", "link 1 down"]\n'


@pytest.fixture
def results(farweb: Farweb, cable: Path) -> Results:
    """Three requests over two links; the first link loses the 5th and 9th data packet of a connection."""
    before, _, rest = SCENARIO.partition("[path]")
    cable.write_text(before + PATH + rest.partition("[[leg]]")[2] + RECORD)
    assert farweb("run", cable, "--out", "r").code == 0
    return Results.open("r")


def rows(results: Results, point: str) -> pl.DataFrame:
    """The rows of the packet table that a capture at a point has."""
    at = pl.col("link").is_null() & (pl.col("node") == point)
    if point.startswith("link "):
        at = (pl.col("link") == int(point.split()[1])) & (pl.col("event") == "pass")
    return results.packets.filter(at)


def test_a_capture_is_what_the_table_says(farweb: Farweb, results: Results) -> None:
    assert list(capture_points(results)) == ["client", "server", "link 0", "link 1"]
    for point in capture_points(results):
        answer = farweb("export", "pcapng", "r", "--point", point, "--payload", "-o", "a.pcapng", "--force", "--json")
        assert answer.code == 0, answer.err
        expected, capture = rows(results, point), pcapng.read(Path("a.pcapng"))
        assert capture.interfaces == [point]
        told = {"file": "a.pcapng", "packets": len(expected), "points": [point], "connection": None}
        assert answer.json() == told
        columns = {
            "time_ns": [packet.time_ns for packet in capture.packets],
            "payload_bytes": [packet.payload for packet in capture.packets],
            "window_field": [packet.window for packet in capture.packets],
        }
        for name, values in columns.items():
            assert values == expected[name].to_list(), f"{name} at {point}"
        assert all(packet.checksums_hold for packet in capture.packets)


def test_sequence_numbers_count_from_one_start_for_each_end(farweb: Farweb, results: Results) -> None:
    farweb("export", "pcapng", "r", "--connection", 1, "-o", "a.pcapng")
    expected = rows(results, "server").filter(pl.col("connection") == 1)
    packets = pcapng.read(Path("a.pcapng")).packets
    first = {packet.source: packet.seq for packet in reversed(packets)}
    assert len(first) == 2
    assert len({seq >> 20 for seq in first.values()}) == 2, "they are random"
    for packet, row in zip(packets, expected.iter_rows(named=True), strict=True):
        assert (packet.seq - first[packet.source]) % 2**32 == row["seq"]
        if "." in row["flags"]:
            assert (packet.ack - first[packet.target]) % 2**32 == row["ack"]
        else:
            assert packet.ack == 0


def test_a_packet_is_known_again_at_another_point(farweb: Farweb, results: Results) -> None:
    farweb("export", "pcapng", "r", "--point", "all", "-o", "a.pcapng")
    capture = pcapng.read(Path("a.pcapng"))
    assert capture.interfaces == ["client", "server", "link 0", "link 1"]
    seen: dict[tuple[object, ...], dict[str, pcapng.Packet]] = {}
    for packet in capture.packets:
        seen.setdefault((packet.source, packet.target, packet.identification), {})[packet.interface] = packet
    lost = 0
    for places in seen.values():
        assert len({(packet.seq, packet.ack, packet.options) for packet in places.values()}) == 1
        going_up = places.get("client") and places["client"].target[1] == 80
        if going_up:
            assert {name: packet.ttl for name, packet in places.items()} == {"client": 64, "link 0": 64, "server": 63}
        elif "client" in places:
            ttl = {"server": 64, "link 1": 64, "link 0": 63, "client": 63}
            assert {name: packet.ttl for name, packet in places.items()} == ttl
            times = [places[name].time_ns for name in ("server", "link 1", "link 0", "client")]
            assert times == sorted(times)
        else:
            assert set(places) == {"server", "link 1"}, "link 0 has lost it"
            lost += 1
    assert lost == results.packets.filter(event="drop").height == 2


def test_what_is_exported_unless_it_is_named(farweb: Farweb, results: Results) -> None:
    """Lengths without payload, at the end nearest to the servers, and the slowest connection."""
    answer = farweb("export", "pcapng", "r")
    capture = pcapng.read(Path("r/packets.pcapng"))
    assert {packet.captured for packet in capture.packets} == {40, 44}
    assert max(packet.length for packet in capture.packets) == 1500
    assert capture.interfaces == ["server"] and "client, link 0, link 1" in answer.err
    assert farweb("export", "xpl", "r", "--json").json()["connection"] == 1


def test_a_plot_is_of_the_sender_of_most_data(farweb: Farweb, results: Results) -> None:
    answer = farweb("export", "xpl", "r", "--connection", 1, "--json")
    assert answer.json()["points"] == ["server"]
    down = Path("r/timeseq.xpl").read_text()
    assert down.startswith("timeval signed\ntitle\nserver_==>_client ")
    assert down.endswith("\ngo\n")
    assert down.count("\nR\n") == results.packets.filter(event="send", connection=1, retransmission=True).height > 0
    farweb("export", "xpl", "r", "--connection", 1, "--direction", "up", "--point", "link 0", "-o", "up.xpl")
    assert Path("up.xpl").read_text().startswith("timeval signed\ntitle\nclient_==>_server ")


def test_two_exports_have_the_same_bytes(farweb: Farweb, results: Results) -> None:
    for name in ("one", "two"):
        farweb("export", "pcapng", "r", "--point", "all", "--payload", "-o", f"{name}.pcapng")
        farweb("export", "xpl", "r", "-o", f"{name}.xpl")
    for suffix in ("pcapng", "xpl"):
        assert Path(f"one.{suffix}").read_bytes() == Path(f"two.{suffix}").read_bytes()


def test_a_result_with_exports_in_it_may_be_replaced(farweb: Farweb, results: Results, cable: Path) -> None:
    farweb("export", "pcapng", "r")
    farweb("export", "xpl", "r")
    assert farweb("run", cable, "--out", "r", "--force").code == 0
    assert not Path("r/packets.pcapng").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("pcapng r --point severs", "packets were not recorded at severs (did you mean server?)"),
        ("pcapng r --point router", "they were at client, server, link 0, link 1: set record.points"),
        ("pcapng r --connection 9", "r: no packets of connection 9 at server"),
        ("xpl r --connection 9", "r: no packets of connection 9 at client, server, link 0, link 1"),
        ("xpl r --connection 0 --point router", "packets were not recorded at router"),
        ("pcapng nowhere", "nowhere: not a results folder"),
        ("pcapng r --connection -1", "--connection"),
        ("xpl r --direction left", "left"),
    ],
)
def test_what_is_not_there_is_told(farweb: Farweb, results: Results, arguments: str, message: str) -> None:
    refused(farweb, "export", *arguments.split(), says=message)


def test_a_result_without_packets_says_what_to_set(farweb: Farweb, cable: Path) -> None:
    farweb("run", cable, "--out", "r")
    for what in ("pcapng", "xpl"):
        refused(farweb, "export", what, "r", says='set record.packets = "all"')


def test_a_table_of_an_older_version_is_told(tmp_path: Path) -> None:
    old = write_results(tmp_path / "old", [request(1, 1.0, 10)], packets=[])
    old.manifest["scenario"]["leg"] = [{"from": "client", "to": "server", "carrier": {"kind": "http/1.0"}}]
    pl.DataFrame({"time_ns": [1]}).write_parquet(old.path / "packets.parquet")
    with pytest.raises(ResultsError, match="has no column connection: another version of farweb wrote it"):
        export_pcapng(old, tmp_path / "a.pcapng")
    (old.path / "packets.parquet").write_text("no table")
    with pytest.raises(ResultsError, match="cannot be read"):
        export_pcapng(old, tmp_path / "a.pcapng")


def test_a_row_that_no_recorder_writes_is_told(results: Results) -> None:
    table = results.packets.with_columns(window_field=pl.lit(70_000))
    table.write_parquet(results.path / "packets.parquet")
    del results.manifest["files"]
    with pytest.raises(ResultsError, match="column window_field: found 70000"):
        export_pcapng(results, Path("a.pcapng"))
    assert not Path("a.pcapng").exists()


def test_rows_of_one_connection_are_found_wherever_they_stand(results: Results) -> None:
    whole = results.packets
    expected = whole.filter((pl.col("connection") == 2) & pl.col("link").is_null() & (pl.col("node") == "server"))
    whole.write_parquet(results.path / "packets.parquet", row_group_size=16)
    del results.manifest["files"]
    done: list[tuple[int, int | None, str]] = []
    exported = export_pcapng(results, Path("a.pcapng"), connection=2, progress=lambda *now: done.append(now))
    assert exported.packets == len(expected) > 0
    assert done[-1][:2] == (len(whole), len(whole))
    assert len(done) == -(-len(whole) // 16)


def test_a_split_connection_is_captured_stretch_by_stretch(farweb: Farweb, cable: Path) -> None:
    before, _, rest = SCENARIO.partition("[path]")
    text = before + PATH + rest.partition("[[leg]]")[2] + RECORD
    cable.write_text(text.replace("[origin]", '[[leg.split]]\nat = "router"\n[origin]'))
    assert farweb("run", cable, "--out", "r").code == 0
    results = Results.open("r")
    for point, stretches in (("link 0", [0]), ("link 1", [1]), ("router", [0, 1])):
        farweb("export", "pcapng", "r", "--point", point, "-o", "a.pcapng", "--force")
        expected, packets = rows(results, point), pcapng.read(Path("a.pcapng")).packets
        assert expected["stretch"].unique().sort().to_list() == stretches
        assert [packet.payload for packet in packets] == expected["payload_bytes"].to_list()
    last = rows(results, "server").filter((pl.col("connection") == 0) & (pl.col("direction") == "down"))
    answer = farweb("export", "xpl", "r", "--connection", 0, "--json").json()
    assert (answer["points"], set(last["stretch"])) == (["server"], {1})
    assert answer["packets"] >= last.filter(pl.col("payload_bytes") > 0).height > 0


def test_transfers_are_seen_at_the_node_that_sends_them(farweb: Farweb, cable: Path) -> None:
    before, _, rest = SCENARIO.partition("[path]")
    text = before + PATH + rest.partition("[[leg]]")[2] + RECORD
    text = text.replace('"http/1.0"', '"transfer"').replace('"bsd44-lite"', '"ns2-reno"').replace("[origin]", "")
    text = text.replace('release = "at-once"', "")
    text = text.replace(', mss = "1460 B", buffer = "32767 B"', "")
    cable.write_text(text)
    header = "start_s,host,request_bytes,response_bytes,source"
    Path("requests.csv").write_text(f"{header}\n0.0,a.example,300,20000,router\n1.0,a.example,300,20000,server\n")
    ran = farweb("run", cable, "--out", "r")
    assert ran.code == 0, ran.err
    results = Results.open("r")
    assert list(capture_points(results)) == ["client", "router", "server", "link 0", "link 1"]
    for connection, node in enumerate(["router", "server"]):
        answer = farweb("export", "xpl", "r", "--connection", connection, "--force", "--json")
        assert answer.json()["points"] == [node]
        assert {"yellow", "Z", "P"}.isdisjoint(Path("r/timeseq.xpl").read_text().splitlines())
    farweb("export", "pcapng", "r", "--point", "router", "-o", "a.pcapng")
    packets = pcapng.read(Path("a.pcapng")).packets
    assert {(packet.source[1], packet.payload) for packet in packets if packet.payload} >= {(80, 512)}
