"""Busiest spans of logs, by bytes, and of tables, by requests."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest

from farweb.inputs import busiest
from samples import Farweb


def test_a_busiest_span_has_its_length_and_no_more(farweb: Farweb, folder: Path) -> None:
    line = '10.0.0.1 - - [25/Oct/2015:{} +0100] "GET /a HTTP/1.1" 200 {}\n'
    times = {"04:00:00": 1000, "05:00:00": 900_000, "05:30:00": 5000, "07:00:00": 7000}
    (folder / "access.log").write_text("".join(line.format(*each) for each in times.items()))

    def sizes(span: str) -> list[int]:
        answer = farweb("workload", "import", "access.log", "--json", "--force", "-o", "out.parquet", "--busiest", span)
        assert answer.json()["dropped"] == {"outside-time": 4 - answer.json()["requests"]}
        found: list[int] = pq.read_table("out.parquet")["response_bytes"].to_pylist()
        return found

    assert sizes("1h") == [900_250, 5250]
    assert sizes("90 min") == [900_250, 5250], "its end is outside"
    assert sizes("2h") == [1250, 900_250, 5250]
    assert sizes("30 min") == sizes("30m") == [900_250]


def test_a_busiest_span_is_what_its_ends_give_of_several_logs_in_any_order_and_of_a_pipe(
    farweb: Farweb, folder: Path
) -> None:
    """Every count is of the span's own requests: errors, those given up, bytes, the first request."""
    nginx = '192.0.2.1 - - [25/Oct/2015:0{}:00:0{} +0100] "GET /{} HTTP/1.1" {} {}\n'
    quiet = [nginx.format(4, n, "q", *row) for n, row in enumerate([(499, 0), (499, 700), (404, 300), (200, 10)])]
    busy = [nginx.format(6, n, "b", *row) for n, row in enumerate([(200, 5000), (499, 0), (499, 70), (502, 30)])]
    (folder / "new.log").write_text("".join(reversed(busy)))
    (folder / "old.log").write_text("".join(quiet))
    words = ("--json", "-o")

    def imported(out: str, *options: str) -> dict[str, Any]:
        found = farweb("workload", "import", "new.log", "old.log", *options, *words, out).json()
        return {name: each for name, each in found.items() if name not in ("busiest", "log", "out")}

    busiest = imported("a.parquet", "--busiest", "1h")
    assert busiest == imported("b.parquet", "--from", "2015-10-25T06:00", "--to", "2015-10-25T07:00")
    assert (busiest["given_up"], busiest["errors"]["requests"]) == ({"requests": 1, "bytes": 320}, 2)
    assert busiest["dropped"] == {"outside-time": 4, "aborted": 1}
    first = busiest["first_request"]
    assert (first["log"], first["line"], first["url"]) == ("new.log", 4, "/b"), "the earliest, last in its log"
    assert imported("c.parquet")["first_request"]["log"] == "old.log"
    assert pq.read_table("a.parquet").equals(pq.read_table("b.parquet"))
    earlier = imported("d.parquet", "--busiest", "1h", "--to", "2015-10-25T05:00")
    assert (earlier["requests"], earlier["dropped"]) == (3, {"outside-time": 5}), "it begins with a request"
    command = [sys.executable, "-m", "farweb", "workload", "import", "-", "--busiest", "1h", *words, "p.parquet"]
    logs = "".join((folder / name).read_text() for name in ("new.log", "old.log"))
    piped = json.loads(subprocess.run(command, input=logs.encode(), capture_output=True, check=True).stdout)
    of_pipe = {**busiest, **{name: {**busiest[name], "log": ""} for name in ("first_request", "time_outs")}}
    assert {name: piped[name] for name in of_pipe} == of_pipe
    failed = subprocess.run([*command[:-1], "f.parquet"], input=b"junk\n", capture_output=True, check=False)
    assert (failed.returncode, b"farweb: standard input: no known" in failed.stderr) == (2, True), failed.stderr
    assert set(os.listdir(folder)) == {"new.log", "old.log", *(f"{name}.parquet" for name in "abcdp")}


def test_a_trace_has_its_own_clock(farweb: Farweb, folder: Path) -> None:
    (folder / "trace.csv").write_text("time,object,size\n0,a,100\n65.5,b,900\n")
    form = ("--log-format", "{start},{url},{bytes}")
    shown = farweb("workload", "import", "trace.csv", "-o", "t.parquet", "--busiest", "1s", *form).out
    assert "start        65.5 s on the log's own clock" in shown, "the first request of the span"
    assert pq.read_table("t.parquet")["response_bytes"].to_pylist() == [900]
    answer = farweb("new", "t.toml", "--log", "trace.csv", "--from", "60s", *form)
    assert "1 of 3 lines: 900 B of responses in 0 s, from 65.5 s on the log's own clock" in " ".join(answer.out.split())


def test_the_busiest_span_reaches_over_batches(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(busiest, "_ROWS", 3)
    draw = np.random.default_rng(1)
    for _ in range(20):
        starts = np.sort(draw.integers(0, 60, 25)) / 10
        pl.DataFrame({"start_s": starts}).write_parquet("r.parquet")
        numbers = [sum(begin <= start < begin + 0.95 for start in starts) for begin in starts]
        expected = (starts[int(np.argmax(numbers))], max(numbers))
        assert busiest.most_requests(Path("r.parquet"), 0.95) == expected
