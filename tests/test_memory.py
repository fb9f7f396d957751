"""Runs that end before memory does: the room that limits leave, and what becomes of a run without any."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from farweb import Scenario, memory
from farweb.library.sweep_results import SweepResults
from farweb.memory import Room, room
from samples import Farweb
from sweeps import FARWEB

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits are read from /proc")

MB = 10**6


@pytest.fixture
def crowd(cable: Path) -> Path:
    """A million requests that begin within a second and are answered after forty."""
    text = cable.read_text().replace('"60 ms"', '"20 s"').replace('"34.368 Mbit/s"', '"unlimited"')
    text = text.replace(', queue = "256000 B"', "").replace("[workload]", '[workload]\ncopies_offset = "1 us"')
    cable.write_text(text + "load = 1_000_000\n")
    (cable.parent / "requests.csv").write_text("start_s,host,request_bytes,response_bytes\n0,a.example,300,1000\n")
    return cable


LIMITED = """
import re, resource, sys
import farweb.run, farweb.cli
taken = 1024 * int(re.search(r"VmSize:\\s+(\\d+)", open("/proc/self/status").read())[1])
resource.setrlimit(resource.RLIMIT_AS, (taken + 1_000_000_000,) * 2)
sys.exit(farweb.cli.main(sys.argv[1:]))
"""


def test_a_run_without_memory_ends_in_a_line_and_leaves_the_older_result(crowd: Path, farweb: Farweb) -> None:
    assert farweb("run", crowd, "--set", "workload.load=1", "-o", "out/r").code == 0
    files = {path: path.stat().st_size for path in sorted(crowd.parent.rglob("*"))}
    command = (sys.executable, "-c", LIMITED, "run", str(crowd), "-o", "out/r", "--force", "-q")
    died = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert died.returncode == 3, died.stderr
    assert died.stderr.startswith("farweb: memory ran out after "), died.stderr
    assert "when 0 of 1,000,000 requests had ended and " in died.stderr
    assert "were under way (the limit of address space (ulimit -v), " in died.stderr
    assert died.stderr.endswith("take less\n")
    assert died.stderr.count("\n") == 1
    assert {path: path.stat().st_size for path in sorted(crowd.parent.rglob("*"))} == files


def test_a_run_of_a_sweep_without_memory_fails_alone(crowd: Path) -> None:
    """So do two in a row in the same worker: what the first has left is given back."""
    sweep = '[sweep]\nreplications = 2\n[sweep.factors]\n"workload.load" = [1_500_000, 1]\n'
    crowd.write_text(crowd.read_text() + sweep)
    limited = ("sh", "-c", 'ulimit -v 3000000; exec "$@"', "-", *FARWEB, "sweep", crowd, "-j", "1", "-o", "out", "-q")
    alone = dict.fromkeys(("POLARS_MAX_THREADS", "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"), "1")
    swept = subprocess.run(
        limited, capture_output=True, text=True, check=False, timeout=120, env={**os.environ, **alone}
    )
    assert swept.returncode == 3, swept.stderr
    assert "2 of 4 runs failed, the first with: memory ran out after " in swept.stderr
    runs = SweepResults.open("out").runs
    assert runs["status"].to_list() == ["failed", "failed", "done", "done"]
    assert all("(the limit of address space (ulimit -v), 3.07 GB" in error for error in runs["error"][:2])
    assert not any("when 0 of 1,500,000 requests had ended and 0 were" in error for error in runs["error"][:2])


# In a process of its own: in one that has freed blocks before, new ones take no new memory.
FREED = """
import psutil
from farweb import RunError
from farweb.run import Progress
from farweb.sweep.limits import RunLimits

MB = 1_000_000
process = psutil.Process()
before = process.memory_info().rss
blocks = [bytes(4000) for _ in range(50_000)]
top = blocks[-1]
del blocks
kept = process.memory_info().rss
assert kept - before > 150 * MB, "or there is nothing to be seen"
look = RunLimits(memory_bytes=before + 100 * MB).watch()
look(Progress(0, 0, 0, 0, 0, None))
assert process.memory_info().rss < before + 100 * MB
try:
    RunLimits(memory_bytes=before / 2).watch()(Progress(0, 0, 0, 0, 0, None))
except RunError as error:
    print(error)
"""


def test_what_runs_before_have_freed_is_not_the_memory_of_a_run() -> None:
    """Blocks below one that stays are free, and still in RAM, since glibc returns the top of its heap alone."""
    command = (sys.executable, "-W", "ignore::RuntimeWarning", "-c", FREED)
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert ended.returncode == 0, ended.stderr
    assert re.search(r"its process took more than .*, which --run-memory allows", ended.stdout)


def test_little_room_makes_steps_short_and_changes_nothing(cable: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario = Scenario.load(cable, {"workload.load": 200, "record.packets": "all", "record.links_every": "1 s"})
    steps: list[int] = []

    def run(out: str, spare: int | None) -> dict[str, bytes]:
        found = None if spare is None else Room("a limit", memory._RESERVE_BYTES + spare)
        monkeypatch.setattr(memory, "room", lambda: found)
        scenario.run(out=out, progress=lambda now: steps.append(now.events))
        return {path.name: path.read_bytes() for path in Path(out).glob("*.parquet")}

    ample = run("ample", None)
    assert len(steps) == 1
    steps.clear()
    assert run("tight", 1500 * memory._BYTES_AN_EVENT) == ample
    assert steps[:3] == [1500, 3000, 4500]


def test_the_room_is_what_the_narrowest_limit_leaves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    proc, groups = tmp_path / "proc", tmp_path / "groups"
    monkeypatch.setattr(memory, "_PROC", proc)
    monkeypatch.setattr(memory, "_GROUPS", groups)
    assert room() is None, "a system without /proc"

    def write(file: Path, text: object) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")

    def narrowest() -> tuple[str, int]:
        memory._limited_groups.cache_clear()
        least = room()
        assert least is not None
        return least.limit, least.free_bytes

    write(proc / "self/statm", "100000 20000 5000 1 0 50000 0")
    write(proc / "self/cgroup", "4:memory:/job/step\n0::/user/app")
    write(proc / "meminfo", "MemTotal: 9000000 kB\nMemAvailable: 3000000 kB\nSwapFree: 1000000 kB")
    assert narrowest() == ("the memory of this machine", 4_000_000 << 10)
    write(groups / "user/memory.max", 900 * MB)  # of a group that holds the process's own
    write(groups / "user/memory.current", 700 * MB)
    write(groups / "user/memory.stat", f"anon 1\ninactive_file {100 * MB}\nactive_file {50 * MB}\nslab 7")
    write(groups / "user/app/memory.max", "max")
    assert narrowest() == ("the memory limit of its control group, 900 MB,", 350 * MB)
    write(groups / "memory/job/step/memory.limit_in_bytes", 500 * MB)
    write(groups / "memory/job/step/memory.usage_in_bytes", 490 * MB)
    write(groups / "memory/job/step/memory.stat", f"total_inactive_file {40 * MB}\ntotal_active_file {20 * MB}")
    write(groups / "memory/job/memory.limit_in_bytes", 9223372036854771712)  # none
    assert narrowest() == ("the memory limit of its control group, 500 MB,", 70 * MB)
    write(groups / "memory/job/step/memory.usage_in_bytes", 550 * MB)
    with pytest.raises(MemoryError, match=r"of its control group, 500 MB, leaves 10 MB, too little"):
        memory.events_allowed(200_000)
