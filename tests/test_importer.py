"""Imports: in order of start, from zero, nothing lost, or nothing written."""

import errno
import gzip
import hashlib
import json
import lzma
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from farweb import RunError, WorkloadError, _core, object_ids
from farweb.files.columns import Column
from farweb.inputs.importer import import_log
from farweb.inputs.provenance import REPORT_KEY
from farweb.inputs.tables import open_requests
from samples import LOG, Farweb, refused

PARTS = ("schemes", "http_versions", "table_http_versions", "methods", "caching")


def reader_of(batches: list[list[int]], dropped: dict[str, int] | None = None) -> Any:
    """Stands for the core's reader: requests with these starts (in ms), each a byte larger than the last."""

    class Reader:
        origin_unix_s = 850_000_000

        def __init__(self, path: str, format: str, **options: object) -> None:
            self._batches = iter(batches)
            self._rows = 0

        def batch(self, rows: int) -> dict[str, Column] | None:
            starts = next(self._batches, None)
            if starts is None:
                return None
            numbers = np.arange(self._rows, self._rows + len(starts), dtype=np.int64)
            self._rows += len(starts)
            return {
                "start_s": np.array(starts, dtype=np.int64) / 1000,
                "second": np.full(len(starts), _core.null_int),
                "before_s": np.zeros(len(starts)),
                "host": ((numbers % 3).astype(np.int32), ["a", "b", "c"]),
                "request_bytes": np.full(len(starts), 300, dtype=np.int64),
                "response_bytes": numbers + 1,
                "object": (numbers % 2 + 1).astype(np.uint64),
                "server_s": np.full(len(starts), np.nan),
                "wait_s": np.full(len(starts), np.nan),
                "client": (numbers % 5).astype(np.uint64),
                "method": ((numbers * 0).astype(np.int32), ["GET"]),
                "caching": ((numbers * 0).astype(np.int32), ["store"]),
                "tls": (numbers % 3 - 1).astype(np.int8),
            }

        def report(self) -> str:
            starts = [start / 1000 for batch in batches for start in batch]
            left_out = {"dropped": dropped or {}, "meanings": dict.fromkeys(dropped or {}, "are left out")}
            counts = {"format": "squid", "lines": self._rows, "requests": self._rows, **left_out}
            sizes = {"request_bytes": 300 * self._rows, "response_bytes": self._rows * (self._rows + 1) // 2}
            remarks: dict[str, Any] = {"unreadable_lines": 0, "unreadable": [], "assumptions": []}
            times = {"first_start_s": min(starts, default=None), "last_start_s": max(starts, default=None)}
            order = {"origin_unix_s": self.origin_unix_s, "sorted": starts == sorted(starts)}
            part = {"requests": self._rows, "bytes": self._rows}
            facts: dict[str, Any] = {name: {"x": part} for name in PARTS}
            facts |= {"tunnels": part, "bytes_logged": self._rows, "dropped_bytes": {}, "software": None}
            facts |= {"errors": part, "storable_with": {}, "has_cache_control": True, "with_elapsed_time": 0}
            facts |= {"kept_apart": 0}
            waits = {"requests": 0, "longest_s": 0.0, "status": 0, "line": 0}
            facts |= {"unreadable_by": {}, "first_request": None, "time_outs": waits}
            facts |= {"unread_fields": {"requests": 0, "fields": 0, "text": ""}, "unit": None, "unit_doubt": None}
            facts |= {"given_up": {"requests": 0, "bytes": 0}, "unclear": {}}
            return json.dumps({**counts, **sizes, **remarks, **times, **order, **facts})

    return Reader


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.lists(st.integers(-(10**9), 10**9), max_size=20), min_size=1, max_size=4).filter(any))
@example([[], [0]])
def test_starts_are_in_order_from_zero_and_equal_ones_keep_theirs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, milliseconds: list[list[int]]
) -> None:
    monkeypatch.setattr(_core, "LogReader", reader_of(milliseconds))
    report = import_log("-", "out.parquet", format="squid")
    table = pq.read_table("out.parquet")
    flat = [start for batch in milliseconds for start in batch]
    order = sorted(range(len(flat)), key=lambda row: flat[row])  # stable
    assert table["response_bytes"].to_pylist() == [row + 1 for row in order]
    assert table["start_s"].to_pylist() == [(flat[row] - min(flat)) / 1000 for row in order]
    assert report.requests == len(flat)
    assert report.counts["origin_unix_s"] == pytest.approx(850_000_000 + min(flat) / 1000)
    assert report.span_s == pytest.approx((max(flat) - min(flat)) / 1000)
    assert os.listdir(folder) == ["out.parquet"]


def test_the_report_is_kept_with_the_table(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "LogReader", reader_of([[3000, 1000]], {"hit": 5}))
    report = import_log("-", "out.parquet", format="squid", keep="misses", request_bytes=None)
    kept = json.loads(pq.read_schema("out.parquet").metadata[REPORT_KEY])
    clients = {"client_names": "pseudonyms", "client_key": "random"}
    asked = {"file": "-", "format": "squid", "keep": "misses", **clients}
    assert kept["log"].items() >= asked.items() and kept["log"]["errors"] is True
    assert not {"request_bytes", "sample", "seed"} & set(kept["log"])
    assert kept["dropped"] == {"hit": 5}
    assert report.span_s == 2.0
    assert (kept["objects"], kept["cache_treatment"]["of_several_sizes"]) == (2, 0)
    assert report.to_dict()["dropped"] == {"hit": 5}
    assert "left out: hit" in report._repr_html_()


def test_users_on_every_line_and_times_that_cannot_be_read_are_warned_of(folder: Path) -> None:
    """The remedy that is named makes the requests storable; a third of the bad lines have a wrong time."""
    form = """{client} {} {} [{start}] "{request}" {status} {bytes}"""
    line = '192.0.2.1 - app [12/Mar/2024:10:00:00 +0000] "GET /a HTTP/1.1" 200 900'
    Path("access.log").write_text(f"{line}\n" * 4 + line.replace("app", "web"))
    warned = " ".join(" ".join(import_log("access.log", "a.parquet").lines()).split())
    assert "5 requests named a user, and no cache may serve them; if it is no log-in, leave it out by" in warned
    assert f"--log-format '{form}'" in warned
    read = import_log("access.log", "a.parquet", log_format=form)
    assert list(read.counts["caching"]) == ["storable"]
    Path("access.log").write_text(f"{line} 5\n" * 5 + f"{line} 5q\n{line}\n{line}\n")
    bad = import_log("access.log", "a.parquet", log_format=f"{form} {{elapsed:ms}}", max_unreadable=1.0)
    warned = " ".join(" ".join(bad.lines()).split())
    assert "33.3 % of 3 unreadable lines have a time that cannot be read: the slowest requests may be missing" in warned


TUNNEL = "851000009.000 90000 10.0.0.3 TCP_TUNNEL/200 84500 CONNECT far.example:443 - DIRECT/192.0.2.3 -\n"


def test_the_facts_of_all_requests_stand_beside_what_the_table_carries(farweb: Farweb, folder: Path) -> None:
    (folder / "access.log").write_text(LOG + TUNNEL)
    found = farweb("workload", "import", "access.log", "--no-tunnels", "--json").json()
    assert found["schemes"] == {"http": {"requests": 4, "bytes": 18500}, "https": {"requests": 1, "bytes": 84500}}
    assert found["methods"] == {"GET": {"requests": 4, "bytes": 18500}, "CONNECT": {"requests": 1, "bytes": 84500}}
    assert found["http_versions"] == {"unknown": {"requests": 5, "bytes": 103000}}
    assert found["tunnels"] == {"requests": 1, "bytes": 84500}
    assert found["dropped_bytes"] == {"hit": 3000, "connect-tunnel": 84500}
    assert (found["bytes_logged"], found["software"]) == (103000, "Squid")
    assert found["carried_bytes_share"] == pytest.approx(15500 / 103000)
    kept = json.loads(pq.read_schema("access.parquet").metadata[REPORT_KEY])
    assert all(kept[name] == found[name] for name in ("schemes", "methods", "tunnels", "carried_bytes_share"))
    with_tunnels = farweb("workload", "import", "access.log", "--force", "--explain")
    assert "tunnels: 1 in the log" in with_tunnels.out
    shown = farweb("workload", "import", "access.log", "--no-tunnels", "--force", "--explain").out
    for row in ("http 80 %, https 20 %", "GET 80 %, CONNECT 20 %", "82.0 %", "15.0 %", "Squid"):
        assert row in shown, row


def test_facts_of_several_logs_add_up(farweb: Farweb, folder: Path) -> None:
    (folder / "a.log").write_text(LOG)
    (folder / "b.log").write_text(TUNNEL)
    (folder / "c.log").write_text('c - - [25/Oct/2015:04:11:25 +0100] "GET /x HTTP/1.1" 200 1000\n')
    found = farweb("workload", "import", "a.log", "b.log", "--json").json()
    assert found["tunnels"] == {"requests": 1, "bytes": 84500}
    assert (found["bytes_logged"], found["schemes"]["http"]["requests"]) == (103000, 4)
    other = farweb("workload", "import", "a.log", "c.log", "--json", "-o", "other.parquet").json()
    assert (other["software"], other["http_versions"]["1.1"]["requests"]) == ("Squid", 1)


def test_requests_for_objects_with_several_sizes_are_counted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "LogReader", reader_of([[1000, 2000, 3000], [4000, 9000]]))
    every = import_log("-", "out.parquet", format="squid")
    assert (every.counts["objects"], every.counts["cache_treatment"]["of_several_sizes"]) == (2, 5)
    assert "5 (100 %)" in every._repr_html_()


def test_a_log_without_a_request_says_what_it_had(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "LogReader", reader_of([], {"hit": 5, "icp": 2}))
    with pytest.raises(WorkloadError, match=r"of 0 lines 5 are left out, 2 .*--keep all keeps them"):
        import_log("-", "out.parquet", format="squid")
    assert os.listdir(folder) == []


def test_a_full_disk_keeps_the_older_table(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "out.parquet").write_text("older")
    monkeypatch.setattr(_core, "LogReader", reader_of([[1]]))

    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(pq.ParquetWriter, "write_batch", full)
    with pytest.raises(RunError, match="No space left"):
        import_log("-", "out.parquet", format="squid")
    assert (folder / "out.parquet").read_text() == "older"
    assert os.listdir(folder) == ["out.parquet"]


def test_a_squid_log_becomes_a_table_that_runs(farweb: Farweb, folder: Path) -> None:
    (folder / "access.log").write_text(LOG)
    answer = farweb("workload", "import", "access.log", "--format", "squid", "--json")
    assert answer.code == 0, answer.err
    report = answer.json()
    assert (report["out"], report["requests"], report["lines"]) == ("access.parquet", 3, 4)
    assert sum(report["dropped"].values()) == 1
    table = pq.read_table("access.parquet")
    assert table["start_s"].to_pylist() == [0.0, 0.75, 1.9]  # ends less elapsed times: 6.0, 6.75, 7.9
    assert table["host"].to_pylist() == ["slow.example", "quick.example", "quick.example"]
    assert table["server_s"].to_pylist() == [4.5, 0.25, 0.1]
    urls = ["http://slow.example/a", "http://quick.example/b", "http://quick.example/c"]
    assert table["object"].to_pylist() == object_ids(urls).tolist()
    assert table.schema.field("start_s").metadata[b"unit"] == b"s"
    farweb("workload", "import", "access.log", "--rtt-ms", 120, "-o", "out.parquet", "--quiet")
    assert pq.read_table("out.parquet")["server_s"].to_pylist() == pytest.approx([4.38, 0.13, 0.0])


def test_a_round_trip_is_taken_off_elapsed_times_alone(farweb: Farweb, folder: Path) -> None:
    """Where no request has one the option is refused, with the reason."""
    behind = '$remote_addr - - [$time_local] "$request" $status $body_bytes_sent $upstream_response_time'
    (folder / "squid.log").write_text(LOG)
    (folder / "clf.log").write_text(CLF)
    (folder / "nginx.log").write_text("".join(f"{line} 0.120\n" for line in CLF.splitlines()))
    for log, options, why in (
        ("clf.log", [], "no request has an elapsed time to take it off: it has no times"),
        (
            "nginx.log",
            ["--log-format", behind],
            "no request has an elapsed time to take it off: server times are of servers behind",
        ),
        ("squid.log", ["--server-time", "none"], "--server-time none leaves out the times that it is taken off"),
    ):
        refused(farweb, "workload", "import", log, *options, "--rtt-ms", 120, says=f"{log}: --rtt-ms: {why}")
        assert farweb("workload", "import", log, *options, "--rtt-ms", 0, "--quiet", "--force").code == 0


CLF = """\
10.0.0.1 - - [25/Oct/2015:04:00:00 +0100] "GET /a HTTP/1.1" 200 1000
10.0.0.1 - - [25/Oct/2015:05:00:00 +0100] "GET /b HTTP/1.1" 404 900000
10.0.0.2 - - [25/Oct/2015:05:30:00 +0100] "GET /c HTTP/1.1" 200 5000
10.0.0.3 - - [25/Oct/2015:07:00:00 +0100] "GET /d HTTP/1.1" 200 7000
"""


def test_the_format_is_found_and_said(farweb: Farweb, folder: Path) -> None:
    (folder / "access.log").write_text(CLF)
    answer = farweb("workload", "import", "access.log", "--explain")
    assert answer.code == 0, answer.err
    assert re.search(r"format +│? *recognized +│? *clf", answer.out)
    assert "no server times" in answer.out
    assert pq.read_table("access.parquet")["response_bytes"].to_pylist() == [1250, 900250, 5250, 7250]
    (folder / "other.log").write_text("hello\n")
    answer = farweb("workload", "import", "other.log")
    assert (answer.code, Path("other.parquet").exists()) == (2, False)
    assert 'no known format has lines like its first, "hello"' in answer.err


def test_several_logs_are_merged_by_time_however_packed(farweb: Farweb, folder: Path) -> None:
    lines = CLF.splitlines(keepends=True)
    (folder / "new.log").write_text(lines[3])
    (folder / "old.log.gz").write_bytes(gzip.compress("".join(lines[:2]).encode()))
    (folder / "mid.log.xz").write_bytes(lzma.compress((lines[2] + "junk\n").encode()))
    (folder / "rotated.log").touch()
    options = ("--max-unreadable", 0.5, "--json", "-o", "all.parquet")
    answer = farweb("workload", "import", "rotated.log", "new.log", "mid.log.xz", "old.log.gz", *options)
    assert answer.code == 0, answer.err
    table = pq.read_table("all.parquet")
    assert table["start_s"].to_pylist() == [0.0, 3600.0, 5400.0, 10800.0]
    assert table["response_bytes"].to_pylist() == [1250, 900250, 5250, 7250]
    report = answer.json()
    assert (report["lines"], report["requests"], report["unreadable"][0]["log"]) == (5, 4, "mid.log.xz ")
    assert report["origin_unix_s"] == 1445742000


def test_only_what_is_asked_for_is_kept_and_the_rest_counted(farweb: Farweb, folder: Path) -> None:
    (folder / "access.log").write_text(CLF)

    def imported(*options: str) -> tuple[list[int], dict[str, int]]:
        answer = farweb("workload", "import", "access.log", "--json", "--force", "-o", "out.parquet", *options)
        assert answer.code == 0, answer.err
        sizes = pq.read_table("out.parquet")["response_bytes"].to_pylist()
        assert answer.json()["requests"] == len(sizes)
        assert answer.json()["response_bytes"] == sum(sizes)
        return sizes, answer.json()["dropped"]

    assert imported("--client", "10.0.0.1") == ([1250, 900250], {"other-client": 2})
    assert imported("--from", "2015-10-25T05:00", "--to", "2015-10-25T05:30") == ([900250], {"outside-time": 3})
    assert imported("--no-errors") == ([1250, 5250, 7250], {"not-successful": 1})
    (folder / "given-up.log").write_text(CLF.replace("404 900000", "000 900000"))
    shown = farweb("workload", "import", "given-up.log", "--no-errors").out
    assert "1 not answered with a status of 2xx or 3xx" in " ".join(shown.split()), "it has no status at all"
    samples = {tuple(imported("--sample", "50%", "--seed", str(seed))[0]) for seed in range(3, 6)}
    assert len(samples) > 1
    assert all((1250 in sample) == (900250 in sample) for sample in samples), "a client is whole or absent"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--from", "10:00"), '--from: found "10:00"; write a date or a date and a time'),
        (("--busiest", "much"), "--busiest: found much; write a span such as 1h"),
        (("--busiest", "500ms"), "--busiest: found 0.5 s; write whole seconds, such as 90 s or 1h"),
        (("--sample", "10"), "--sample: found 10; write a share such as 10%"),
        (("--sample", "200%"), "sample: write a share above 0 % and up to 100 %"),
        (("--sample-by", "host", "--sample", "1%", "--format", "clff"), 'format: found "clff"'),
        (("--sample-by", "host"), "--sample-by: is of a sample; write its share as well, --sample 10%"),
        (("--seed", "4"), "--seed: is of a sample; write its share as well, --sample 10%"),
        (("--bypass", "cookie"), "access.log: --bypass cookie: its lines have no Cookie"),
        (("--keep", "misses"), "access.log: --keep misses: its lines do not say whether a cache answered"),
        (("--log-format", "$status"), "not a format that says when a request was"),
        (("--client", "192.*"), "all 4 lines are of clients that were not selected; --client is a pattern"),
        (("--format", "squid"), "that line reads as format clf"),
    ],
)
def test_what_is_wrong_is_one_line_and_nothing_is_written(
    farweb: Farweb, folder: Path, options: tuple[str, ...], message: str
) -> None:
    (folder / "access.log").write_text(CLF)
    refused(farweb, "workload", "import", "access.log", *options, says=message)
    assert farweb("workload", "import", "access.log", *options).err.count("\n") == 1


def siphash(key: bytes, text: bytes) -> int:
    """SipHash-2-4, step by step as its paper has it."""
    mask = 2**64 - 1
    low, high = (int.from_bytes(key[i : i + 8], "little") for i in (0, 8))
    v = [low ^ 0x736F6D6570736575, high ^ 0x646F72616E646F6D, low ^ 0x6C7967656E657261, high ^ 0x7465646279746573]

    def rotate(number: int, by: int) -> int:
        return (number << by | number >> (64 - by)) & mask

    def rounds(times: int) -> None:
        for _ in range(times):
            for a, b, c, d, one, other in ((0, 1, 2, 3, 13, 16), (2, 1, 0, 3, 17, 21)):
                v[a] = (v[a] + v[b]) & mask
                v[c] = (v[c] + v[d]) & mask
                v[b], v[d] = rotate(v[b], one) ^ v[a], rotate(v[d], other) ^ v[c]
                v[a] = rotate(v[a], 32)

    padded = text + bytes(7 - len(text) % 8) + bytes([len(text) % 256])
    for i in range(0, len(padded), 8):
        word = int.from_bytes(padded[i : i + 8], "little")
        v[3] ^= word
        rounds(2)
        v[0] ^= word
    v[2] ^= 0xFF
    rounds(4)
    return v[0] ^ v[1] ^ v[2] ^ v[3]


def clients_of(farweb: Farweb, *options: str) -> tuple[list[Any], dict[str, Any]]:
    """The clients of the requests that an import writes, and its report."""
    answer = farweb("workload", "import", *options, "--json", "--force", "-o", "out.parquet")
    assert answer.code == 0, answer.err
    return pq.read_table("out.parquet")["client"].to_pylist(), answer.json()


def test_clients_get_pseudonyms_by_a_key(farweb: Farweb, folder: Path) -> None:
    (folder / "access.log").write_text(CLF)
    names = [line.split()[0] for line in CLF.splitlines()]
    first, report = clients_of(farweb, "access.log")
    assert [first.index(client) for client in first] == [names.index(name) for name in names]
    assert (report["log"]["client_names"], report["log"]["client_key"]) == ("pseudonyms", "log")
    assert report["with_client"] == 4
    assert clients_of(farweb, "access.log")[0] == first, "a key of the log"
    (folder / "longer.log").write_text(CLF + CLF.splitlines()[0] + "\n")
    assert not set(clients_of(farweb, "longer.log")[0]) & set(first), "another log, another key"
    given, report = clients_of(farweb, "access.log", "--client-key", "of 2015")
    content = (folder / "out.parquet").read_bytes()
    assert report["log"]["client_key"] == "given"
    assert b"of 2015" not in content
    assert clients_of(farweb, "access.log", "--client-key", "of 2015")[0] == given
    assert (folder / "out.parquet").read_bytes() == content, "the same input and key give the same bytes"
    assert not set(clients_of(farweb, "access.log", "--client-key", "of 2016")[0]) & set(given)
    key = hashlib.blake2b(b"of 2015", digest_size=16, person=b"farweb clients").digest()
    assert given == [siphash(key, name.encode()) for name in names]


def test_rotated_logs_keep_pseudonyms_with_one_key(farweb: Farweb, folder: Path) -> None:
    lines = CLF.splitlines(keepends=True)
    (folder / "one.log").write_text("".join(lines[:2]))
    (folder / "two.log").write_text("".join(lines[2:]))
    (folder / "access.log").write_text(CLF)
    whole, _ = clients_of(farweb, "access.log", "--client-key", "k")
    one, two = (clients_of(farweb, f"{name}.log", "--client-key", "k")[0] for name in ("one", "two"))
    assert one + two == whole
    together, _ = clients_of(farweb, "one.log", "two.log")
    names = [line.split()[0] for line in lines]
    assert [together.index(each) for each in together] == [names.index(name) for name in names], "one key an import"


def test_clients_are_kept_as_logged_on_demand(farweb: Farweb, folder: Path) -> None:
    lines = CLF.splitlines(keepends=True)
    lines[1] = lines[1].replace(lines[1].split()[0], "-", 1)
    (folder / "access.log").write_text("".join(lines))
    names = [None if line.startswith("- ") else line.split()[0] for line in lines]
    kept, report = clients_of(farweb, "access.log", "--keep-clients")
    assert kept == names
    assert (report["log"]["client_names"], "client_key" in report["log"]) == ("as-logged", False)
    assert (report["with_client"], report["requests"]) == (3, 4)
    with open_requests(Path("out.parquet")) as table:
        columns = next(iter(table.core))
    assert np.asarray(columns["client"]).tolist() == [
        2**64 - 1 if name is None else object_ids([name])[0] for name in names
    ]
    answer = farweb("workload", "import", "access.log", "--force", "-o", "out.parquet", "--keep-clients", "--explain")
    assert re.search(r"requests without a client\s+clients are named as in the log\s+1\b", answer.out)
    answer = farweb("workload", "import", "access.log", "--keep-clients", "--client-key", "k", "-o", "x.parquet")
    assert (answer.code, answer.err.count("\n")) == (2, 1)


def test_a_log_without_clients_gives_a_table_without_the_column(farweb: Farweb, folder: Path) -> None:
    (folder / "access.log").write_text(re.sub(r"(?m)^\S+", "-", CLF))
    for options in ((), ("--keep-clients",)):
        answer = farweb("workload", "import", "access.log", "--json", "--force", "-o", "out.parquet", *options)
        assert answer.json()["with_client"] == 0
        assert "client" not in pq.read_schema("out.parquet").names


def test_the_client_behind_a_proxy(farweb: Farweb, folder: Path) -> None:
    line = '10.0.0.1 [25/Oct/2015:04:00:0{} +0100] "GET /a HTTP/1.1" 200 1000 "{}"\n'
    forwarded = ["203.0.113.9, 10.0.0.2", "-", "203.0.113.10"]
    (folder / "nginx.log").write_text("".join(line.format(i, each) for i, each in enumerate(forwarded)))
    string = '$remote_addr [$time_local] "$request" $status $bytes_sent'
    options = ("nginx.log", "--keep-clients", "--client-from-forwarded", "--log-format")
    found, report = clients_of(farweb, *options, f'{string} "$http_x_forwarded_for"')
    assert found == ["203.0.113.9", "10.0.0.1", "203.0.113.10"]
    assert report["log"]["client_from_forwarded"] is True
    answer = farweb("workload", "import", *options, string, "-o", "none.parquet")
    assert (answer.code, answer.err.count("\n"), (folder / "none.parquet").exists()) == (2, 1, False)
    assert f"nginx.log: has no field X-Forwarded-For; its fields are {string}" in answer.err


def test_a_table_that_is_there_is_replaced_on_demand_only(farweb: Farweb, folder: Path) -> None:
    (folder / "access.log").write_text(CLF)
    (folder / "access.parquet").write_text("older")
    answer = farweb("workload", "import", "access.log")
    assert (answer.code, (folder / "access.parquet").read_text()) == (2, "older")
    assert "access.parquet: exists already; --force replaces it" in answer.err
    assert farweb("workload", "import", "access.log", "--force").code == 0


def test_a_format_string_describes_any_log(farweb: Farweb, folder: Path) -> None:
    (folder / "nginx.log").write_text('192.0.2.1 [25/Oct/2015:04:00:01 +0100] "GET /a HTTP/1.1" 200 1000 0.350 0.100\n')
    string = '$remote_addr [$time_local] "$request" $status $bytes_sent $request_time $upstream_response_time'
    answer = farweb("workload", "import", "nginx.log", "--log-format", string, "--json")
    assert answer.code == 0, answer.err
    assert pq.read_table("nginx.parquet")["server_s"].to_pylist() == [0.1]
    assert (answer.json()["with_server_time"], answer.json()["formats"]) == (1, [string])


def test_a_log_comes_from_standard_input(folder: Path) -> None:
    command = [sys.executable, "-m", "farweb", "workload", "import", "-", "--json"]
    done = subprocess.run(command, input=gzip.compress(CLF.encode()), capture_output=True, check=True)
    assert json.loads(done.stdout)["requests"] == 4
    assert pq.read_metadata("requests.parquet").num_rows == 4


def test_the_first_request_is_shown_as_its_line_was_read(farweb: Farweb, folder: Path) -> None:
    (folder / "access.log").write_text(f"junk\n{CLF}")
    options = ("workload", "import", "access.log", "--max-unreadable", 0.5, "--force")
    found = farweb(*options, "--json").json()
    first = found["first_request"]
    assert (first["line"], first["client"], first["method"], first["url"]) == (2, "10.0.0.1", "GET", "/a")
    assert (first["response_bytes"], first["response_bytes_logged"], first["server_s"]) == (1250, 1000, None)
    assert (found["hosts"], found["clients"], found["unreadable_by"]) == (1, 3, {"form": 1})
    assert found["gaps"] == {"longer_than_s": 3600.0, "number": 1, "longest_s": 5400.0}
    kept = json.loads(pq.read_schema("access.parquet").metadata[REPORT_KEY])
    assert kept["first_request"] == {**first, "client": None}, "a pseudonym does not stand beside its client"
    shown = farweb(*options)
    assert shown.out.splitlines() == [
        "4 requests of 3 clients to 1 host: 914 kB of responses in 3 h 00 min",
        "",
        "first request, from line 2 (common log format, recognized)",
        "  start        2015-10-25 03:00:00 UTC",
        "  client       10.0.0.1, stored as a pseudonym",
        '  request      GET /a to "server", 238 B (estimated)',
        "  response     200, 1,250 B: 1,000 B logged + 250 B of header (assumed)",
        "  server time  not in this log: servers answer at once",
        "",
        "left out   1 of 5 lines: 1 unreadable",
        'warning: unreadable: line 1: has no " " after the client',
        "warning: 1 gap of more than 1 h, the longest 90 min; choose a part with",
        "  --busiest 1h or --from",
    ]
    assert shown.err.splitlines()[-1] == "wrote access.parquet    next: farweb new link.toml --log access.parquet"


def test_time_outs_of_a_log_are_named(farweb: Farweb, folder: Path) -> None:
    line = '10.0.0.1 - - [25/Oct/2015:04:00:0{} +0100] "GET /a HTTP/1.1" {} 3000 {}\n'
    (folder / "a.log").write_text(line.format(0, 200, 70_000_000) + line.format(1, 504, 60_000_000))
    (folder / "b.log").write_text(line.format(2, 503, 155_000_000))
    logs = ("a.log", "b.log", "--log-format", '%h %l %u %t "%r" %>s %b %D')
    found = farweb("workload", "import", *logs, "-o", "table.parquet", "--json").json()
    assert found["time_outs"] == {"log": "b.log", "requests": 2, "longest_s": 155.0, "status": 503, "line": 1}
    shown = " ".join(farweb("workload", "import", *logs, "-o", "table.parquet", "--force").out.split())
    assert (
        "warning: 2 requests with 408, 502, 503 or 504 after 10 s or more, the longest 155 s (503, line 1 of "
        "b.log): time-outs of the log's own count as server times; --no-errors leaves errors out"
    ) in shown
    for case, options in enumerate((("--no-errors",), ("--busiest", "1s"), ("--server-time", "none"))):
        without = farweb("workload", "import", *logs, "-o", f"{case}.parquet", *options, "--json").json()
        assert without["time_outs"]["requests"] == 0, "of the requests of the table"


def test_a_size_that_a_log_lacks_may_be_assumed(farweb: Farweb, folder: Path) -> None:
    head = "#Fields: date time cs-method cs-uri-stem sc-status\n"
    (folder / "iis.log").write_text(head + "2026-03-01 08:00:01 GET /x 200\n" * 3120)
    refused = farweb("workload", "import", "iis.log")
    assert refused.code == 2
    said = (
        "iis.log: read as w3c, no request is left: all 3,120 lines are without the size of the response; let the server"
    )
    assert said in refused.err
    assert "sc-bytes in IIS" in refused.err and "--assume-bytes 10000 assumes a size" in refused.err
    answer = farweb("workload", "import", "iis.log", "--assume-bytes", 10000)
    assert "response     200, 10,000 B (assumed)" in answer.out
    assert set(pq.read_table("iis.parquet")["response_bytes"].to_pylist()) == {10000}


def test_logs_that_overlap_are_read_once_and_named(farweb: Farweb, folder: Path) -> None:
    """A log that was copied and truncated begins with lines of the one before; the same log twice is one."""
    lines = [f'192.0.2.1 - - [12/Mar/2024:10:00:{n:02} +0000] "GET /{n} HTTP/1.1" 200 900' for n in range(6)]
    (folder / "old").write_text("\n".join(lines[:4]) + "\n")
    (folder / "new").write_text("\n".join(lines[2:]) + "\n")
    words = ["workload", "import", "new", "old", "--out", "a.parquet"]
    both = farweb(*words)
    assert "6 requests" in both.out
    assert "new begins with 2 lines that old ends with: read once" in " ".join(both.out.split())
    kept = farweb(*words, "--force", "--keep", "lines").out
    assert "8 requests" in kept and "--keep lines" not in kept
    alone = farweb("workload", "import", "old", "--out", "c.parquet", "--keep", "lines").out
    assert "warning: --keep lines takes what --keep all does: no line is marked" in alone
    twice = farweb("workload", "import", "old", "old", "--out", "b.parquet")
    assert "4 requests" in " ".join(twice.out.split())
    assert "old is given twice: read once" in " ".join(twice.out.split())


def test_the_unit_of_times_is_one_for_a_log_and_may_be_stated(farweb: Farweb, folder: Path) -> None:
    head = "#Fields: date time cs-method cs-uri-stem sc-status sc-bytes time-taken\n"
    line = "2026-03-01 08:00:01 GET /x 200 900 {}\n"
    for name, spans in (("ms", "40 2"), ("s", "40 0.2")):
        (folder / f"{name}.log").write_text(head + "".join(line.format(span) for span in spans.split()))
    said = " ".join(farweb("workload", "import", "ms.log").out.split())
    assert "unit times are in ms, as none has decimals; --elapsed-unit s takes them for s" in said
    assert pq.read_table("ms.parquet")["server_s"].to_pylist() == [0.04, 0.002]
    found = farweb("workload", "import", "s.log", "ms.log", "-o", "both.parquet", "--json").json()
    assert found["units"] == [
        "s.log times are in s, as some have decimals; --elapsed-unit ms takes them for ms",
        "ms.log times are in ms, as none has decimals; --elapsed-unit s takes them for s",
    ]
    assert sorted(pq.read_table("both.parquet")["server_s"].to_pylist()) == [0.002, 0.04, 0.2, 40.0]
    stated = farweb("workload", "import", "ms.log", "--elapsed-unit", "s", "--force", "--json").json()
    assert (stated["units"], stated["log"]["elapsed_unit"]) == ([], "s")
    assert pq.read_table("ms.parquet")["server_s"].to_pylist() == [40, 2]
    assert farweb("workload", "stats", "ms.log", "--elapsed-unit", "s", "--json").json()["server_s"]["mean"] == 21
    (folder / "access.log").write_text(LOG)
    refused(farweb, "workload", "import", "access.log", "--elapsed-unit", "s", says="states the units of its times")


def test_check_names_what_crossed_and_is_out(farweb: Farweb, folder: Path) -> None:
    """All that crossed is in only where nothing that crossed is out."""
    line = '192.0.2.1 - - [12/Mar/2024:10:00:0{}] "GET /{} HTTP/1.1" {} "-" "-"\n'
    rows = ["200 900", "304 0", "302 -", "200 5000"]

    def shown(scenario: str) -> str:
        return " ".join(farweb("check", scenario).out.split())

    text = "".join(line.format(f"{n} +0000", n, row) for n, row in enumerate(rows))
    (folder / "a.log").write_text(text)
    farweb("new", "a.toml", "--log", "a.log")
    assert "a.log: all 5.90 kB of responses that crossed the link are in" in shown("a.toml")
    assert pq.read_metadata("a-requests.parquet").num_rows == 4
    (folder / "b.log").write_text(text + line.format("5 +0000", 5, "499 0") * 2 + "junk\n")
    farweb("new", "b.toml", "--log", "b.log", "--max-unreadable", 0.5)
    said = shown("b.toml")
    assert (
        "b.log: all 5.90 kB of responses logged on the link are in; out: 1 request of no known size (unreadable) and "
        "2 requests without a byte (aborted)" in said
    )
    squid = LOG.replace("TCP_HIT", "TCP_REFRESH_UNMODIFIED")
    for junk, out in (
        ("", "1 request of no known size (revalidation)"),
        ("junk\n" * 2, "3 requests of no known size (2 unreadable and 1 revalidation)"),
    ):
        (folder / "c.log").write_text(squid + junk)
        farweb("new", "c.toml", "--log", "c.log", "--max-unreadable", 0.5, "--force")
        said = shown("c.toml")
        assert f"c.log: all 15.5 kB of responses logged on the link are in; out: {out}" in said
        assert said.count("; 3 kB did not cross it") == 1
    form = '$remote_addr - - [$time_local] "$request" $status $bytes_sent $request_length'
    (folder / "d.log").write_text(CLF.replace("\n", " 500\n"))
    farweb("new", "d.toml", "--log", "d.log", "--log-format", form)
    assert "d.log: all 915 kB of requests and responses that crossed the link are in" in shown("d.toml")


def test_several_logs_are_one_input_of_stats_cache_and_fit(farweb: Farweb, folder: Path) -> None:
    line = '192.0.2.{} - - [0{}/Jan/2024:00:00:01 +0000] "GET /{} HTTP/1.1" 200 1000 "-" "-"\n'
    (folder / "access.log.1").write_text(line.format(1, 1, "a") + line.format(2, 1, "b"))
    (folder / "access.log.2").write_text(line.format(1, 2, "a") + line.format(2, 2, "c"))
    (folder / "access.log").touch()
    (folder / "access.log.3.gz").write_bytes(gzip.compress(b""))
    logs = ["access.log", "access.log.2", "access.log.1", "access.log.3.gz"]
    found = farweb("workload", "stats", *logs, "--json").json()
    assert (found["requests"], found["objects"], found["imported"]["lines"]) == (4, 3, 4)
    assert "access.log.2, access.log.1 are logs" in farweb("workload", "stats", *logs).said
    words = ["workload", "cache", *logs, "--json", "--policy", "lru", "fifo", "--capacity", "1 MB", "3 kB,4 kB"]
    curve = farweb(*words).json()
    assert (curve["source"], curve["requests"]) == ("access.log.2, access.log.1", 4)
    cells = {(each["policy"], each["capacity_bytes"]): each["hits"] for each in curve["results"]}
    assert cells == {(policy, size): 1 for policy in ("fifo", "lru") for size in (3000, 4000, 1_000_000)}
    own = ("--log-format", '%h %l %u %t "%r" %>s %b')
    assert [farweb("workload", "fit", *logs, "--json", *given).json()["requests"] for given in ((), own)] == [4, 4]
    (folder / "t.csv").write_text("start_s,host,request_bytes,response_bytes,object\n0,a,300,1000,x\n")
    says = "t.csv: several files are read together if they are logs, and this is a request table; farweb workload merge"
    for verb in ("stats", "cache", "fit"):
        refused(farweb, "workload", verb, "access.log.1", "t.csv", says=says)
    refused(farweb, "workload", "cache", "access.log.1", "--capacity", "1 MB", "1 MBB", says='capacity "1 MBB"')


def test_a_log_of_years_has_its_days_without_an_exponent(folder: Path, farweb: Farweb) -> None:
    line = '192.0.2.1 - - [{}:04:11:12 +0000] "GET / HTTP/1.1" 200 {}\n'
    (folder / "access.log").write_text(line.format("25/Oct/2015", 100) + line.format("05/Aug/2019", 200))
    answer = farweb("workload", "import", "access.log", "-o", "r.parquet")
    assert "1380 days" in " ".join(answer.out.split()), answer.out
