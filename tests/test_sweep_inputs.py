"""The tables that workers share: the same runs as from the files themselves, checked before anything is written."""

import json
import os
import random
import uuid
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from farweb import Scenario, WorkloadError, _core
from farweb.results.store import Store
from farweb.sweep.inputs import Inputs, Source, shared_tables, stored_hosts
from farweb.sweep.plan import run_of
from farweb.sweep.work import Version, work

pytestmark = pytest.mark.usefixtures("warm_workers")

ROWS = 300
HEAD = "start_s,host,request_bytes,response_bytes\n"
HOSTS = "host\tname\twindow_bytes\tmss_bytes\nh1.example\twww\t8760\t1460\nh2.example\t\t4096\t536\n"


Row = tuple[float, str, int, int, float | None, float | None, str | None, str | None]


def rows(latest_s: float, in_order: bool) -> list[Row]:
    rng = random.Random(7)
    starts = [rng.uniform(latest_s - 60, latest_s) for _ in range(ROWS)]
    # Equal starts keep the order of the file.
    starts = [round(start, 1 if number % 3 else 6) for number, start in enumerate(starts)]
    return [
        (
            start,
            f"h{rng.randrange(9)}.example",
            300 + number,
            1000 + number,
            None if number % 4 else rng.uniform(0.1, 0.2),
            None if number % 8 else rng.uniform(0, 0.1),
            "sample" if number % 7 == 0 else None,
            None if number % 5 == 0 else f"/{number % 50}",
        )
        for number, start in enumerate(sorted(starts) if in_order else starts)
    ]


def write_table(path: Path, latest_s: float = 60.0, *, in_order: bool = True) -> None:
    names = ("start_s", "host", "request_bytes", "response_bytes", "server_s", "wait_s", "tag", "object")
    table = rows(latest_s, in_order)
    if path.suffix == ".parquet":
        columns = {name: [row[place] for row in table] for place, name in enumerate(names)}
        pq.write_table(pa.table(columns), path, row_group_size=64)
        return
    separator = {".csv": ",", ".tsv": "\t"}[path.suffix]
    lines = [names, *(["" if value is None else str(value) for value in row] for row in table)]
    path.write_text("\n".join(separator.join(line) for line in lines) + "\n")


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet"])
def test_runs_from_shared_tables_are_those_from_the_files(
    cable: Path, folder: Path, suffix: str, in_order: bool
) -> None:
    write_table(folder / f"requests{suffix}", in_order=in_order)
    (folder / "hosts.tsv").write_text(HOSTS)
    text = cable.read_text().replace('"requests.csv"', f'"requests{suffix}"\nhosts = "hosts.tsv"\nload = 2')
    text = text.replace('"at-once"', '"after-wait"')
    cable.write_text(text.replace('mss = "1460 B", buffer = "32767 B"', 'mss = "host", buffer = "host"'))
    scenario = Scenario.load(cable)
    single = scenario.run(seed=5, out="single")
    for url in ("sweep", f"memory://{uuid.uuid4()}/sweep"):
        store, inputs = Store(url), Inputs()
        run = run_of(scenario, point=0, replication=0, seed=5, levels={}, inputs=inputs)
        inputs.write(store)
        outcome = work(store, run, Version.here(), "here")
        assert (outcome.status, outcome.error) == ("done", None)
        assert outcome.metrics["requests"] == 2 * ROWS
        assert outcome.metrics["sample_requests"] == -(-ROWS // 7), "of the first copy"
        for table in ("requests", "connections"):
            name = f"{table}.parquet"
            assert store.read(f"parts/run={run.run}/{name}") == (single.path / name).read_bytes()
        manifest = json.loads(store.read(f"parts/run={run.run}/manifest.json"))
        own = ("wall_s", "cpu_s", "sha256", "run", "point", "replication", "metrics", "warnings")  # of no load
        assert {key: value for key, value in manifest.items() if key not in own} == {
            key: value for key, value in single.manifest.items() if key not in own
        }


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_starts_far_from_zero_keep_their_nanoseconds(cable: Path, folder: Path, suffix: str) -> None:
    """From 52 days on, seconds in 64 bits are coarser than a nanosecond, and from Unix time by hundreds."""
    cable.write_text(cable.read_text().replace("requests.csv", f"requests{suffix}"))
    scenario = Scenario.load(cable)
    for latest_s in (5e6, 1.7e9):
        write_table(folder / f"requests{suffix}", latest_s)
        single = scenario.run(out="single")
        store, inputs = Store(f"sweep{latest_s}"), Inputs()
        run = run_of(scenario, point=0, replication=0, seed=1, levels={}, inputs=inputs)
        inputs.write(store)
        assert work(store, run, Version.here(), "here").status == "done"
        there = store.read(f"parts/run={run.run}/requests.parquet")
        assert there == (single.path / "requests.parquet").read_bytes()


def test_each_table_is_written_once_and_mapped_once(cable: Path, folder: Path) -> None:
    scenario = Scenario.load(cable)
    (folder / "same.csv").write_text((folder / "requests.csv").read_text())
    store, inputs = Store("sweep"), Inputs()
    first = inputs.of(scenario, 1)
    second = inputs.of(scenario.with_({"workload.requests": "same.csv"}), 1)
    assert (first["requests"].sha256, second["requests"].file) == (second["requests"].sha256, "same.csv")
    inputs.write(store)
    assert os.listdir("sweep/inputs") == [f"{first['requests'].sha256}.arrow"], "one file for equal content"
    copy = Path(f"sweep/inputs/{first['requests'].sha256}.arrow")
    written = copy.stat().st_mtime_ns
    inputs.of(scenario, 1)
    inputs.write(store)
    another = Inputs()  # of a sweep that goes on
    another.of(scenario, 1)
    another.write(store)
    assert copy.stat().st_mtime_ns == written
    read: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_core, "Prepared", lambda table, *_: read.append(table))
        for source, file in ((first, "requests.csv"), (second, "same.csv")):
            with shared_tables(store, scenario, 1, source) as prepared:
                assert prepared.inputs["requests"]["file"] == file
    assert read[0] is read[1]
    starts = read[0][0]["start_s"]
    assert not starts.flags.owndata
    assert not starts.flags.writeable, "it is the file"
    assert inputs.described() == {
        "requests": {"file": "requests.csv", "sha256": first["requests"].sha256, "caveats": (), "origin_unix_s": None},
        "requests 2": {"file": "same.csv", "sha256": first["requests"].sha256, "caveats": (), "origin_unix_s": None},
    }


def test_a_host_table_can_be_read_back(cable: Path, folder: Path) -> None:
    (folder / "hosts.tsv").write_text(HOSTS)
    scenario = Scenario.load(cable, {"workload.hosts": "hosts.tsv"})
    inputs = Inputs()
    sources: dict[str, Source] = inputs.of(scenario, 1)
    inputs.write(Store("sweep"))
    columns = stored_hosts(Path("sweep"), sources["hosts"].sha256).columns()
    assert columns["host"][1] == ["h1.example", "h2.example"]
    window = columns["window_bytes"]
    assert isinstance(window, np.ndarray)
    assert window.tolist() == [8760, 4096]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("requests.csv", f"{HEAD}0,a,1,1\n1,a,1,x\n", r'requests.csv:3: .*found "x"'),
        ("requests.csv", HEAD, r"requests.csv: has no requests"),
        ("hosts.tsv", "host\tmss_bytes\na\t1\n", r"hosts.tsv:2: "),
        ("hosts.tsv", "", r"hosts.tsv: "),
    ],
)
def test_a_wrong_table_is_told_before_anything_is_written(
    cable: Path, folder: Path, name: str, text: str, message: str
) -> None:
    (folder / "hosts.tsv").write_text(HOSTS)
    (folder / name).write_text(text)
    before = sorted(os.listdir(folder))
    scenario = Scenario.load(cable, {"workload.hosts": "hosts.tsv", "sweep.replications": 2})
    with pytest.raises(WorkloadError, match=message):
        scenario.sweep("sweep", jobs=1)
    assert sorted(os.listdir(folder)) == before


@pytest.mark.timeout(30)  # to open a pipe without a writer waits for ever
@pytest.mark.parametrize("key", ["requests", "hosts"])
def test_a_pipe_is_no_table(cable: Path, folder: Path, key: str) -> None:
    os.mkfifo("pipe")
    before = sorted(os.listdir(folder))
    scenario = Scenario.load(cable, {f"workload.{key}": "pipe", "sweep.replications": 2})
    with pytest.raises(WorkloadError, match=f"pipe: is a pipe, not a file; name a table of {key}"):
        scenario.sweep("sweep", jobs=1)
    assert sorted(os.listdir(folder)) == before
