"""Host tables from captures."""

import csv
import gzip
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
import pytest

import pcapng
from captures import ACK, RST, SYN, Packet, handshake, pcap
from farweb import Results
from farweb.inputs.probe import probe_captures
from samples import Farweb, refused, scenario_of

A, B, C, D = "198.51.100.1", "198.51.100.2", "198.51.100.3", "198.51.100.4"

REST = """hosts = "hosts.tsv"
[origin]
release = "at-once"
[record]
packets = "all"
points = ["ends", "link 0", "link 1"]
"""
LEG = 'client server http/1.0\ntcp = { profile = "PROFILE", mss = "host", buffer = "host" }'
SCENARIO = scenario_of("client proxy server", "2 Mbit/s, 35 ms", "10 Mbit/s, 5 ms", legs=[LEG], rest=REST)

HOSTS = {"a.example": (8760, 1460), "b.example": (32_696, 536), "c.example": (61_440, 512), "d.example": (4140, 1380)}
"""Window and MSS: whole segments, since 4.4BSD rounds its buffer up to these, and Linux its window down."""


def rows(path: Path | str) -> dict[str, dict[str, str]]:
    with Path(path).open(newline="") as file:
        return {row["host"]: row for row in csv.DictReader(file, delimiter="\t")}


@pytest.fixture(params=["bsd44-lite", "linux-classic"])
def run_of_hosts(request: pytest.FixtureRequest, folder: Path, farweb: Farweb) -> Results:
    """A run with a request to each host, twice."""
    (folder / "hosts.toml").write_text(SCENARIO.replace("PROFILE", request.param))
    lines = [f"{10 * n},{host},300,{5000 + 9000 * n}" for n, host in enumerate([*HOSTS, *HOSTS])]
    (folder / "requests.csv").write_text("\n".join(["start_s,host,request_bytes,response_bytes", *lines]))
    table = [f"{host}\t{window}\t{mss}" for host, (window, mss) in HOSTS.items()]
    (folder / "hosts.tsv").write_text("\n".join(["host\twindow_bytes\tmss_bytes", *table]))
    answer = farweb("run", "hosts.toml", "--out", "r")
    assert answer.code == 0, answer.err
    return Results.open("r")


def test_a_probe_of_an_exported_run_gives_its_host_table_back(run_of_hosts: Results, farweb: Farweb) -> None:
    farweb("export", "pcapng", "r", "--point", "client", "-o", "c.pcapng")
    syns = [packet for packet in pcapng.read(Path("c.pcapng")).packets if packet.flags == SYN]
    called = zip(syns, [*HOSTS, *HOSTS], strict=True)
    Path("names.txt").write_text("# made up by the export\n" + "\n".join(f"{s.target[0]} {host}" for s, host in called))
    answer = farweb("workload", "probe", "c.pcapng", "--hosts", "names.txt", "-o", "probed.tsv", "--json")
    assert answer.code == 0, answer.err
    shown = answer.json()
    assert (shown["connections"], shown["answered"], shown["rtt_samples"], shown["silent"]) == (8, 8, 8, [])
    found = rows("probed.tsv")
    assert {host: (int(row["window_bytes"]), int(row["mss_bytes"])) for host, row in found.items()} == HOSTS
    # 40 ms each way, and 44 B of SYN and of SYN|ACK at 2 and 10 Mbit/s.
    assert [float(row["rtt_s"]) for row in found.values()] == pytest.approx([0.080422] * 4, abs=1e-6)
    assert {row["window_scale"] for row in found.values()} == {""}
    for point, rtt_s in (("link 1", 0.01), ("server", 0.0)):  # shorter next to the server
        farweb("export", "pcapng", "r", "--point", point, "-o", "c.pcapng", "--force")
        assert farweb("workload", "probe", "c.pcapng", "-o", f"{point}.tsv").code == 0
        assert [float(row["rtt_s"]) for row in rows(f"{point}.tsv").values()] == pytest.approx([rtt_s] * 4, abs=2e-4)


def test_the_table_can_be_used_as_it_is_in_every_format(run_of_hosts: Results, farweb: Farweb) -> None:
    farweb("export", "pcapng", "r", "-o", "c.pcapng")
    before = run_of_hosts.requests
    for suffix in ("tsv", "csv", "parquet"):
        answer = farweb("workload", "probe", "c.pcapng", "-o", f"p.{suffix}")
        assert answer.code == 0, answer.err
        stats = farweb("workload", "stats", "requests.csv", "--hosts", f"p.{suffix}", "--json")
        assert stats.code == 0, stats.err
        ran = farweb("run", "hosts.toml", "--set", f"workload.hosts=p.{suffix}", "--out", suffix)
        assert ran.code == 0, ran.err
        assert Results.open(suffix).requests.height == before.height


def test_what_hosts_said_is_gathered_over_captures(folder: Path, farweb: Farweb) -> None:
    one = [*handshake(A, window=8760), *handshake(B, 10, mss=None)]
    two = [
        *handshake(A, 0, 0.125, window=17_520),
        *handshake(A, 9, 0.5, port=4001, mss=536),
        *handshake(C, 20, scale=3),
    ]
    two.append(replace(two[-2], time_s=21, flags=ACK, window=4_000, mss=None, scale=None))
    (folder / "1.pcap").write_bytes(pcap(one))
    (folder / "2.pcap.gz").write_bytes(gzip.compress(pcap(two)))
    answer = farweb("workload", "probe", "1.pcap", "2.pcap.gz", "-o", "h.tsv", "--json")
    shown, found = answer.json(), rows("h.tsv")
    assert (found[A]["mss_bytes"], found[A]["window_bytes"], found[A]["rtt_s"]) == ("1460", "17520", "0.125")
    assert (found[B]["mss_bytes"], shown["silent"], shown["default_mss"]) == ("1480", [B], 1480)
    assert (found[C]["window_bytes"], found[C]["window_scale"]) == ("32000", "3")
    host = next(host for host in shown["hosts"] if host["host"] == A)
    assert (host["connections"], host["mss_differs"], host["window_differs"]) == (3, True, True)
    farweb("workload", "probe", "1.pcap", "--default-mss", 536, "-o", "h.tsv", "--force")
    assert rows("h.tsv")[B]["mss_bytes"] == "536"


def test_hosts_that_did_not_answer_are_told_and_not_in_the_table(folder: Path, farweb: Farweb) -> None:
    refused = replace(Packet(1.0, B), flags=RST | ACK, down=True, time_s=1.1)
    packets = [*handshake(A), Packet(1.0, B), refused, Packet(2.0, C), Packet(5.0, C), *handshake(D, 6)[:2]]
    (folder / "c.pcap").write_bytes(pcap(packets))
    answer = farweb("workload", "probe", "c.pcap", "-o", "h.tsv")
    assert f"refused every connection: {B}" in answer.out
    assert f"answered no connection: {C}" in answer.out
    shown = farweb("workload", "probe", "c.pcap", "-o", "h.tsv", "--force", "--json").json()
    counts = ("connections", "answered", "refused", "unanswered", "half_open", "retransmitted")
    assert [shown[name] for name in counts] == [4, 2, 1, 1, 1, 1]
    assert set(rows("h.tsv")) == {A, D}


def test_a_name_may_have_several_addresses_and_an_address_several_names(folder: Path, farweb: Farweb) -> None:
    (folder / "c.pcap").write_bytes(pcap([*handshake(A, rtt_s=0.5), *handshake(B, 9), *handshake(C, 18)]))
    (folder / "names").write_text(f"{A} www.example mirror.example\n\n{B} www.example # the other one\n")
    farweb("workload", "probe", "c.pcap", "--hosts", "names", "-o", "h.tsv")
    found = rows("h.tsv")
    addresses = {host: row["address"] for host, row in found.items()}
    assert addresses == {"www.example": f"{A},{B}", "mirror.example": A, C: C}
    assert found["www.example"]["rtt_s"] == "0.25"


def test_a_cut_off_capture_counts_up_to_there(folder: Path, farweb: Farweb) -> None:
    (folder / "c.pcap").write_bytes(pcap([*handshake(A), Packet(9.0, B)])[:-1])
    answer = farweb("workload", "probe", "c.pcap", "-o", "h.tsv")
    assert answer.code == 0, answer.err
    assert "c.pcap: the file is cut off within a packet after packet 3" in answer.out


def damaged(share: float) -> bytes:
    """A capture that is damaged so far before its end."""
    whole = bytearray(pcap([packet for port in range(300) for packet in handshake(A, port, port=port)]))
    place = round(len(whole) * (1 - share))
    whole[place : place + 100] = b"\xff" * 100
    return bytes(whole)


def test_damage_is_borne_up_to_a_stated_share(folder: Path, farweb: Farweb) -> None:
    (folder / "c.pcap").write_bytes(damaged(0.05))
    refused(farweb, "workload", "probe", "c.pcap", "-o", "h.tsv", says="c.pcap: damaged at packet 85")
    answer = farweb("workload", "probe", "c.pcap", "-o", "h.tsv", "--max-unreadable", 0.06)
    assert answer.code == 0, answer.err
    assert "what follows is lost" in answer.out


UDP = bytearray(pcap([Packet(0.0, A)]))
UDP[24 + 16 + 9] = 17


@pytest.mark.parametrize(
    ("files", "arguments", "message"),
    [
        ({}, ("gone.pcap",), "gone.pcap: no such file; name a capture"),
        ({"c": b"<html>"}, ("c",), "c: is not a capture (pcap or pcapng, plain or gzip): it begins with 3c 68 74 6d"),
        ({"c": b""}, ("c",), "c: is not a capture (pcap or pcapng, plain or gzip): it is empty"),
        ({"c": bytes(UDP)}, ("c",), "c: no host answered a connection; 1 packets: 0 of TCP"),
        ({"c": pcap(handshake(A), snap=39)}, ("c",), "3 cut before the end of the TCP header"),
        ({"c": pcap(handshake(A))}, ("c", "-o", "h.txt"), "h.txt: give the host table a name that ends in .tsv"),
        (
            {"c": pcap(handshake(A))},
            ("c", "--default-mss", "31"),
            "default MSS: found 31; write a number of bytes from 32",
        ),
        ({"c": pcap([]), "n": b"a.example 1.2.3.4"}, ("c", "--hosts", "n"), "n:1: 'a.example' is no address"),
        ({"c": pcap([]), "n": b"\n1.2.3.4"}, ("c", "--hosts", "n"), "n:2: 1.2.3.4 has no name"),
        ({"c": pcap([]), "n": b"1.2.3.4 a\x1b[2J"}, ("c", "--hosts", "n"), "n:1: 'a\\x1b[2J' is no name of a host"),
        ({"c": pcap([]), "n": b"\xff\xfe"}, ("c", "--hosts", "n"), "n: not UTF-8 text (byte 0)"),
        ({"c.tsv": pcap(handshake(A))}, ("c.tsv", "-o", "c.tsv", "--force"), "c.tsv: is a capture itself"),
        ({}, (), "probe takes either captures, or --connect"),
        ({}, ("c", "--connect", "n"), "probe takes either captures, or --connect"),
    ],
)
def test_what_is_wrong_is_told_and_nothing_written(
    folder: Path, farweb: Farweb, files: dict[str, bytes], arguments: tuple[str, ...], message: str
) -> None:
    for name, content in files.items():
        (folder / name).write_bytes(content)
    refused(farweb, "workload", "probe", *arguments, says=message)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == files


def test_from_python_and_in_a_notebook(folder: Path) -> None:
    (folder / "c.pcap").write_bytes(pcap(handshake(A)))
    seen: list[Any] = []
    report = probe_captures(["c.pcap"], "h.parquet", names=[(A, "a.example")], progress=lambda *now: seen.append(now))
    assert report.answered[0]["host"] == "a.example"
    assert "a.example" in report._repr_html_()
    table = pl.read_parquet("h.parquet")
    assert table.columns == ["host", "name", "window_bytes", "mss_bytes", "rtt_s", "window_scale", "address"]
    assert table.row(0) == ("a.example", "a.example", 8760, 1460, 0.25, None, A)
    assert pq.read_schema("h.parquet").field("rtt_s").metadata[b"unit"] == b"s"
