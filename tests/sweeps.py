"""Sweeps for tests: a scenario with its requests, the command in processes of its own, and what a folder holds."""

import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from samples import SCENARIO

FARWEB = (sys.executable, "-W", "ignore::RuntimeWarning", "-m", "farweb")

SWEEP = """
[sweep]
replications = 3
[sweep.factors]
"leg.0.tcp.buffer" = ["8192 B", "32767 B"]
"path.link.0.down.delay" = ["20 ms", "320 ms"]
"""
RUNS = 12

PATIENCE_S = 60  # for what takes a second on an idle machine


def write_scenario(folder: Path, sweep: str = SWEEP, requests: int = 1500) -> Path:
    """A scenario `s.toml` with a sweep, and its request table; a run takes some 20 ms."""
    rng = random.Random(1)
    rows, start = ["start_s,host,request_bytes,response_bytes,tag"], 0.0
    for number in range(requests):
        start += rng.expovariate(50)
        tag = "sample" if number % 10 == 0 else ""
        rows.append(f"{start:.6f},h{rng.randrange(20)}.example,300,{int(rng.lognormvariate(8.5, 1))},{tag}")
    (folder / "requests.csv").write_text("\n".join(rows) + "\n")
    scenario = folder / "s.toml"
    scenario.write_text(SCENARIO + sweep)
    return scenario


@contextmanager
def started(*arguments: object) -> Iterator[subprocess.Popen[str]]:
    """`farweb` in a process group of its own, which is gone afterwards."""
    with subprocess.Popen(
        [*FARWEB, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def ended(*arguments: object) -> subprocess.CompletedProcess[str]:
    """`farweb` from its start to its end."""
    with started(*arguments) as process:
        out, err = process.communicate(timeout=PATIENCE_S)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def parts(folder: Path) -> set[str]:
    """Names of the whole parts of a sweep's folder."""
    return {path.parent.name for path in folder.glob("parts/run=*/manifest.json")}


def wait_until(true: Callable[[], bool]) -> None:
    """Wait for something that takes a second or two."""
    began = time.monotonic()
    while not true():
        assert time.monotonic() - began < PATIENCE_S, "it does not come"
        time.sleep(0.005)


def content(folder: Path) -> dict[str, object]:
    """All that has to be equal in the folders of equal sweeps, by name: what runs cost is left out."""
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_dir() or name == "timings.parquet":
            continue
        if path.name == "manifest.json" and name != "manifest.json":
            manifest = json.loads(path.read_text("utf-8"))
            del manifest["sha256"]  # which has the times in it
            assert manifest.pop("wall_s") >= manifest.pop("cpu_s") * 0.5 >= 0
            found[name] = manifest
        else:
            found[name] = path.read_bytes()
    return found
