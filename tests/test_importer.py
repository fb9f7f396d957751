"""Imports: in order of start, from zero, nothing lost, or nothing written."""

import errno
import gzip
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
from samples import CLF, LOG, Farweb, refused

PARTS = ("schemes", "http_versions", "table_http_versions", "methods", "caching")


def reader_of(batches: list[list[int]], dropped: dict[str, int] | None = None) -> Any:
    """Stands for the core's reader: requests with these starts (in ms), each a byte larger than the last."""

    class Reader:
        origin_unix_s = 850_000_000

        def __init__(self, paths: list[str], format: str, **options: object) -> None:
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
            counts = {"formats": ["squid"], "lines": self._rows, "requests": self._rows, **left_out}
            sizes = {"request_bytes": 300 * self._rows, "response_bytes": self._rows * (self._rows + 1) // 2}
            remarks: dict[str, Any] = {"unreadable_lines": 0, "unreadable": [], "assumptions": []}
            order = {"origin_unix_s": self.origin_unix_s, "sorted": starts == sorted(starts)}
            part = {"requests": self._rows, "bytes": self._rows}
            facts: dict[str, Any] = {name: {"x": part} for name in PARTS}
            facts |= {"tunnels": part, "bytes_logged": self._rows, "dropped_bytes": {}, "software": None}
            facts |= {"errors": part, "storable_with": {}, "has_cache_control": True, "with_elapsed_time": 0}
            facts |= {"kept_apart": 0, "seconds_come_back": False, "with_server_time": 0, "with_wait": 0}
            waits = {"requests": 0, "longest_s": 0.0, "status": 0, "line": 0, "log": ""}
            facts |= {"unreadable_by": {}, "first_request": None, "time_outs": waits}
            facts |= {"unread_fields": {"requests": 0, "fields": 0, "text": ""}, "units": [], "unit_doubt": None}
            facts |= {"given_up": {"requests": 0, "bytes": 0}, "unclear": {}}
            return json.dumps({**counts, **sizes, **remarks, **order, **facts})

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


def test_requests_for_objects_with_several_sizes_are_counted(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "LogReader", reader_of([[1000, 2000, 3000], [4000, 9000]]))
    every = import_log("-", "out.parquet", format="squid")
    assert (every.counts["objects"], every.counts["cache_treatment"]["of_several_sizes"]) == (2, 5)
    assert "5 (100 %)" in every._repr_html_()


@pytest.mark.parametrize("busiest_s", [None, 60])
def test_logs_without_a_request_say_what_they_had(folder: Path, busiest_s: float | None) -> None:
    hit = LOG.splitlines()[0].replace("TCP_MISS", "TCP_HIT")
    for name, lines in (("a.log", [hit, "", hit]), ("b.log", [hit.replace("TCP_HIT/200", "TCP_DENIED/403"), "junk"])):
        (folder / name).write_text("\n".join(lines))
    says = "a.log, b.log: read as squid, no request is left: of 4 lines "
    with pytest.raises(WorkloadError, match=f"^{says}.*; --keep all keeps them$"):
        import_log(["a.log", "b.log"], "out.parquet", max_unreadable=1, busiest_s=busiest_s)
    assert sorted(os.listdir(folder)) == ["a.log", "b.log"]


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
