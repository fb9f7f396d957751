"""Files that links name: what they say holds, and what they may not say is refused in a line."""

import gzip
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from farweb import Results, Scenario, WorkloadError, _core
from farweb.check.check import check
from farweb.inputs.prepared import Prepared
from farweb.results.store import Store
from farweb.sweep.inputs import Inputs
from farweb.sweep.plan import run_of
from farweb.sweep.work import Version, work
from samples import Farweb

PASS = "time_s,rate_mbps,delay_ms,loss,state\n5,2,80,,\n10.1,0,,,\n11,4,,0.5,\n20.2,,,,drop\n20.3,,,0,up\n"
DOWN = "path.link.0.down"


def same_rows(one: Results, other: Results) -> bool:
    return bool(one.requests.equals(other.requests) and one.connections.equals(other.connections))


def test_a_schedule_gives_the_rows_of_its_steps_and_outages(cable: Path, folder: Path) -> None:
    (folder / "pass.csv").write_text(PASS)
    steps = [
        {"at": "5 s", "rate": "2 Mbit/s", "delay": "80 ms"},
        {"at": "11 s", "rate": "4 Mbit/s", "loss": 0.5},
        {"at": "20.3 s", "loss": 0},
    ]
    outages = [{"at": "10.1 s", "lasts": "900 ms"}, {"at": "20.2 s", "lasts": "100 ms", "mode": "drop"}]
    plain = Scenario.load(cable).run(out="plain")
    by_file = Scenario.load(cable, {f"{DOWN}.schedule": "pass.csv"}).run(out="file")
    by_keys = Scenario.load(cable, {f"{DOWN}.steps": steps, f"{DOWN}.outage": outages}).run(out="keys")
    assert same_rows(by_file, by_keys)
    assert not same_rows(by_file, plain)
    assert by_file.manifest["links"] == by_keys.manifest["links"]
    entry = by_file.manifest["inputs"][f"{DOWN}.schedule"]
    assert (entry["file"], entry["rows"], len(entry["sha256"])) == ("pass.csv", 5, 64)
    assert by_file.manifest["scenario"]["path"]["link"][0]["down"]["schedule"] == "pass.csv"


def test_a_constant_schedule_is_the_constant_link(cable: Path, folder: Path) -> None:
    (folder / "flat.csv.gz").write_bytes(gzip.compress(b"time_s,rate_mbps,delay_ms\n1,34.368,60\n2,34.368,60\n"))
    flat = {f"{DOWN}.schedule": "flat.csv.gz", f"{DOWN}.schedule_after": "repeat"}
    plain, scheduled = Scenario.load(cable).run(out="plain"), Scenario.load(cable, flat).run(out="flat")
    assert same_rows(plain, scheduled)
    assert plain.manifest["links"] == scheduled.manifest["links"]


def test_check_says_what_the_file_has(cable: Path, folder: Path) -> None:
    (folder / "pass.csv").write_text(PASS)
    found = check(Scenario.load(cable, {f"{DOWN}.schedule": "pass.csv", "run.until": "30 s"}))
    down = found.figures["links"][0]["down"]
    assert (down["rate_bps_min"], down["rate_bps_max"]) == (2_000_000, 34_368_000)
    assert "loss up to 50 %" in down["changes"]
    assert found.scenario["path"]["link"][0]["down"]["schedule"] == "pass.csv"


def traced(**more: object) -> dict[str, Any]:
    """The direction down with a trace in place of its rate."""
    down = {"delay": "60 ms", "queue": "256000 B", "trace": "down.trace", **more}
    return {DOWN: down}


def test_an_opportunity_a_millisecond_is_nearly_a_link_of_12_mbps(cable: Path, folder: Path) -> None:
    (folder / "down.trace").write_text("1\n")
    by_trace, by_rate = (Scenario.load(cable, keys) for keys in (traced(), {f"{DOWN}.rate": "12 Mbit/s"}))
    ends = [each.run(out=name).requests["end_ns"] for name, each in (("trace", by_trace), ("rate", by_rate))]
    late_ms = (ends[0] - ends[1]) / 1e6
    assert 0 <= late_ms.min() <= late_ms.max() < 40, "small packets wait for the grid"  # type: ignore[operator]
    checked = check(by_trace)
    assert checked.figures["links"][0]["down"]["rate"] == "12 Mbit/s by down.trace"
    assert "rate" not in checked.scenario["path"]["link"][0]["down"]


def test_replications_begin_elsewhere_in_a_trace_and_directions_together(cable: Path, folder: Path) -> None:
    (folder / "down.trace").write_text("".join(f"{5 * each * each}\n" for each in range(1, 40)))
    scenario = Scenario.load(cable, traced(trace_offset="random"))
    first, again, other = (scenario.run(seed=seed, out=f"{seed}-{place}") for place, seed in enumerate((1, 1, 2)))
    assert same_rows(first, again)
    assert not same_rows(first, other)


def test_a_run_ends_with_a_trace_that_does_not_repeat(cable: Path, folder: Path) -> None:
    (folder / "down.trace").write_text("".join(f"{each}\n" for each in range(1, 15_001)))
    results = Scenario.load(cable, traced(trace_repeat=False)).run(out="out")
    assert results.manifest["now_ns"] <= 15_000_000_000
    assert results.requests["status"].to_list() == ["done", "done"], "the third would start later"
    warning = f"{DOWN}.trace_repeat: the run ends with the trace after 15 s at most, whatever is open then"
    assert warning in results.manifest["warnings"]


def test_runs_of_a_worker_share_a_trace(cable: Path, folder: Path) -> None:
    (folder / "down.trace").write_text("1\n2\n")
    scenario = Scenario.load(cable, traced())
    store, inputs = Store("sweep"), Inputs()
    first, second = (
        run_of(each, point=0, replication=0, seed=1, levels={}, inputs=inputs)
        for each in (scenario, scenario.with_({"path.link.0.up.delay": "10 ms"}))
    )
    inputs.write(store)
    with pytest.MonkeyPatch.context() as patch:
        read = Mock(side_effect=_core.LinkFile)
        patch.setattr(_core, "LinkFile", read)
        assert [work(store, run, Version.here(), "here").status for run in (first, second)] == ["done", "done"]
    read.assert_called_once()


def empty(path: Path) -> None:
    path.write_text("")


def pipe(path: Path) -> None:
    os.mkfifo(path)


def two_gigabytes(path: Path) -> None:
    path.touch()
    os.truncate(path, 2 << 30)


def binary(path: Path) -> None:
    path.write_bytes(b"\0\1\2")


def text(content: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(content)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (empty, "pass.csv: is empty; a schedule has the columns time_s, rate_mbps, delay_ms, loss, state"),
        (pipe, "pass.csv: is a pipe, not a file; name a schedule"),
        (two_gigabytes, "pass.csv: has 2,147,483,648 B; a schedule has at most 268,435,456 B"),
        (binary, "pass.csv: is not text but binary data (byte 0x00 at offset 0)"),
        (Path.mkdir, "pass.csv: is a folder; name a schedule"),
        (lambda _: None, "pass.csv: no such file; name a schedule"),
        (text("time_s,loss\n1,0\n0,1\n"), 'pass.csv:3: column time_s: found "0"; write a time after that of the row'),
        (text("time_s,rate_mbps\n0,-1\n"), 'pass.csv:2: column rate_mbps: found "-1"; write a rate in Mbit/s from 0'),
        (text("time_s,state\n2,down\n"), f"cable.toml:9: {DOWN}.schedule: pass.csv: nothing is sent from 2 s on; end"),
    ],
)
@pytest.mark.parametrize("verb", ["check", "run"])
def test_what_is_no_schedule_is_refused_in_a_line(
    cable: Path, folder: Path, farweb: Farweb, make: Callable[[Path], object], message: str, verb: str
) -> None:
    cable.write_text(cable.read_text().replace('"256000 B" }\n\n', '"256000 B", schedule = "pass.csv" }\n\n', 1))
    make(folder / "pass.csv")
    before = sorted(folder.iterdir())
    answer = farweb(verb, cable)
    assert answer.code == 2
    assert message in answer.err.replace(f"{folder}/", "")
    assert sorted(folder.iterdir()) == before, "nothing is written"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (empty, "down.trace: is empty; a trace has a line for each delivery opportunity, in whole ms"),
        (pipe, "down.trace: is a pipe, not a file; name a trace"),
        (two_gigabytes, "down.trace: has 2,147,483,648 B; a trace has at most 268,435,456 B"),
        (binary, "down.trace: is not text but binary data (byte 0x00 at offset 0)"),
        (text("2\n1\n"), 'down.trace:2: found "1" behind "2"; write times in whole ms that do not go back'),
        (text("-1\n"), 'down.trace:1: found "-1"; write a time in whole ms from 0 to 4294967295'),
    ],
)
def test_what_is_no_trace_is_refused_in_a_line(
    cable: Path, folder: Path, farweb: Farweb, make: Callable[[Path], object], message: str
) -> None:
    down = 'down = { trace = "down.trace", delay = "60 ms" }'
    cable.write_text(re.sub(r"^down .*$", down, cable.read_text(), count=1, flags=re.MULTILINE))
    make(folder / "down.trace")
    before = sorted(folder.iterdir())
    answer = farweb("run", cable)
    assert answer.code == 2
    assert message in answer.err.replace(f"{folder}/", "")
    assert sorted(folder.iterdir()) == before, "nothing is written"


def test_a_file_that_changes_while_it_is_read_is_refused(
    cable: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "pass.csv").write_text(PASS)
    scenario, opened = Scenario.load(cable, {f"{DOWN}.schedule": "pass.csv"}), Scenario.complete

    def changed(*arguments: object) -> object:
        read = opened(*arguments)  # type: ignore[arg-type]
        (folder / "pass.csv").write_text(PASS + "99,1,,,\n")
        return read

    monkeypatch.setattr(Scenario, "complete", changed)
    with pytest.raises(WorkloadError, match=r"pass.csv: was changed after it was read"), Prepared.of(scenario):
        pass


@pytest.mark.parametrize("requests", [{}, {"workload": {"family": "prowgen", "parameters": {"requests": 20}}}])
def test_runs_of_a_sweep_read_a_copy(cable: Path, folder: Path, requests: dict[str, Any]) -> None:
    (folder / "pass-5.csv").write_text(PASS)
    scenario = Scenario.load(cable, {f"{DOWN}.schedule": "pass-{seed}.csv", **requests})
    single = scenario.run(seed=5, out="single")
    store, inputs = Store("sweep"), Inputs()
    run = run_of(scenario, point=0, replication=0, seed=5, levels={}, inputs=inputs)
    inputs.write(store)
    (folder / "pass-5.csv").unlink()
    outcome = work(store, run, Version.here(), "here")
    assert (outcome.status, outcome.error) == ("done", None)
    assert store.read(f"parts/run={run.run}/requests.parquet") == (single.path / "requests.parquet").read_bytes()
    manifest = json.loads(store.read(f"parts/run={run.run}/manifest.json"))
    assert manifest["inputs"] == single.manifest["inputs"]


def test_the_content_of_a_file_makes_another_run(cable: Path, folder: Path) -> None:
    def planned(name: str) -> str:
        scenario = Scenario.load(cable, {f"{DOWN}.schedule": name})
        return run_of(scenario, point=0, replication=0, seed=1, levels={}, inputs=Inputs()).run

    (folder / "pass.csv").write_text(PASS)
    (folder / "same.csv").write_text(PASS)
    (folder / "other.csv").write_text(PASS + "99,1,,,\n")
    assert planned("pass.csv") == planned("same.csv") != planned("other.csv")
