"""SIGKILL at random moments: of sweeps, which go on; of runs, imports and generators that replace earlier files."""

import json
import os
import random
import shutil
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import psutil

from farweb.errors import FarwebError
from farweb.files.atomic import remove
from farweb.results.integrity import verify
from farweb.results.manifest import MANIFEST
from sweeps import content, ended, parts, started, write_scenario
from torture.table import Row, say

SWEEP = """
[sweep]
replications = 5
[sweep.factors]
"leg.0.tcp.buffer" = ["8192 B", "32767 B"]
"path.link.0.down.delay" = ["20 ms", "320 ms"]
"""
RUNS = 20
KILLS_A_SWEEP = 4  # of one sweep, before it may end


def sweeps(folder: Path, draw: random.Random, scale: float) -> list[Row]:
    """Kill sweeps 40 times."""
    rows = [Row(f"SIGKILL of a sweep: {whom}") for whom in ("the command", "the whole group", "a worker")]
    resumed = Row("sweep that goes on after kills")
    _sweeps(folder, draw, round(40 * scale), rows, resumed)
    return [*rows, resumed]


def replacements(folder: Path, draw: random.Random, scale: float) -> list[Row]:
    """Kill runs 30, imports 20 and generators 10 times."""
    run = Row("SIGKILL of `farweb run --force` over a result")
    _replacing(_run_over(folder / "runs"), draw, round(30 * scale), run)
    imported = Row("SIGKILL of `farweb workload import --force` over a table")
    _replacing(_import_over(folder / "imports"), draw, round(20 * scale), imported)
    generated = Row("SIGKILL of `farweb workload generate`")
    _replacing(_generate(folder / "generated"), draw, round(10 * scale), generated)
    return [run, imported, generated]


def _sweeps(folder: Path, draw: random.Random, kills: int, rows: Sequence[Row], resumed: Row) -> None:
    scenario = write_scenario(folder, SWEEP, requests=6000)
    _checked("sweep", scenario, "--jobs", 2, "--out", folder / "whole", "--quiet")
    whole = content(folder / "whole")
    out = folder / "out"
    done = 0
    while done < kills:
        for _ in range(min(KILLS_A_SWEEP, kills - done)):
            row = rows[done % len(rows)]
            while not _killed_sweep(scenario, out, draw, row):
                shutil.rmtree(out, ignore_errors=True)
            _nothing_is_half(out, row)
            done += 1
            say(f"  {done} of {kills} kills of sweeps")
        _checked("sweep", scenario, "--jobs", 2, "--out", out, "--quiet")
        equal = content(out) == whole and verify(out, full=True).whole
        resumed.expect(equal, "equal to an undisturbed one, byte for byte", f"{out} is not what an undisturbed one is")
        shutil.rmtree(out)


def _killed_sweep(scenario: Path, out: Path, draw: random.Random, row: Row) -> bool:
    """Kill a sweep, or one of its workers, at a random moment; False when it ended before that."""
    until = draw.randint(len(parts(out)), RUNS)  # all: while it writes the sweep's tables
    with started("sweep", scenario, "--jobs", 2, "--out", out, "--quiet") as client:
        while client.poll() is None and len(parts(out)) < until:
            time.sleep(0.002)
        time.sleep(draw.uniform(0, 0.3) if draw.random() < 0.5 else draw.uniform(0, 2))
        if "worker" in row.what:
            workers = _workers(client.pid)
            if not workers:
                os.killpg(client.pid, signal.SIGKILL)
                return False
            draw.choice(workers).kill()
            _, err = client.communicate(timeout=120)
            if client.returncode:
                row.lose(f"a sweep ended with {client.returncode} since a worker was killed: {err[-200:]}")
            return True
        if client.poll() is not None:
            return False
        workers = _workers(client.pid)
        (os.killpg if "group" in row.what else os.kill)(client.pid, signal.SIGKILL)
        client.wait()
        _, alive = psutil.wait_procs(workers, timeout=30)
        for worker in alive:
            row.lose("a worker outlives its sweep")
            worker.kill()
        return True


def _workers(pid: int) -> list[psutil.Process]:
    try:
        children = psutil.Process(pid).children(recursive=True)
        return [child for child in children if "spawn_main" in " ".join(child.cmdline())]
    except psutil.NoSuchProcess:
        return []


def _nothing_is_half(out: Path, row: Row) -> None:
    """A killed sweep leaves nothing yet, or a folder with every byte as it was written."""
    if not (out / MANIFEST).exists():
        left = [path.name for path in out.glob("*") if not path.name.startswith(".") and path.name != "inputs"]
        row.expect(not left, "before anything was there", f"without a manifest there is {left}")
        return
    found = verify(out, full=True)
    what = "with results, all whole" if any(out.glob("parts/run=*")) else "with a plan"
    row.expect(found.whole, what, f"half: {[damage.file for damage in found.damages]}")


Attempt = tuple[Callable[[], None], Sequence[object], Callable[[], str | None]]
"""How to lay the old files, the command, and the state it leaves: None for a bad one."""


def _replacing(attempt: Attempt, draw: random.Random, kills: int, row: Row) -> None:
    """Kill a command at random moments of its life; each time the old files or the new ones are left, whole."""
    lay, command, state = attempt
    lay()
    began = time.monotonic()
    _checked(*command)
    lasts_s = time.monotonic() - began
    done = 0
    while done < kills:
        lay()
        with started(*command) as process:
            time.sleep(draw.uniform(0.4, 1.05) * lasts_s)
            if process.poll() is not None:
                continue
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        done += 1
        found = state()
        row.expect(found is not None, str(found), "what is there is neither what was nor what is to be")
        if done % 10 == 0:
            say(f"  {done} of {kills}: {row.what}")


def _run_over(folder: Path) -> Attempt:
    folder.mkdir()
    scenario = write_scenario(folder, "", requests=30_000)
    for seed in (1, 2):
        _checked("run", scenario, "--seed", seed, "--out", folder / f"seed-{seed}", "--quiet")
    before, after = (_results(folder / f"seed-{seed}") for seed in (1, 2))
    out = folder / "out"

    def lay() -> None:
        _clear(folder, ".out.")
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(folder / "seed-1", out)

    def state() -> str | None:
        try:
            if out.exists() and verify(out, full=True).whole:
                return {0: "the old one, whole", 1: "the new one, whole"}.get(_which(_results(out), before, after))
        except FarwebError:
            return None
        hidden = [path for path in folder.glob(".out.*") if (path / MANIFEST).is_file()]
        whole = len(hidden) == 2 and all(verify(path, full=True).whole for path in hidden)
        return "both whole, under hidden names" if not out.exists() and whole else None

    return lay, ("run", scenario, "--seed", 2, "--out", out, "--force", "--quiet"), state


def _results(run: Path) -> dict[str, object]:
    """All that equal runs have in common: all but their cost."""
    found: dict[str, object] = {path.name: path.read_bytes() for path in run.iterdir() if path.name != MANIFEST}
    manifest = json.loads((run / MANIFEST).read_bytes())
    return found | {key: value for key, value in manifest.items() if key not in {"wall_s", "cpu_s", "sha256"}}


_IMPORT = ("workload", "import")


def _import_over(folder: Path) -> Attempt:
    folder.mkdir()
    log, out = folder / "access.log", folder / "requests.parquet"

    def write(lines: int) -> bytes:
        log.write_text(
            "".join(
                f"{851000000 + number / 10:.3f} 250 10.0.0.{number % 250} TCP_MISS/200 {1000 + number % 5000} GET "
                f"http://h{number % 99}.example/{number} - DIRECT/192.0.2.1 text/html\n"
                for number in range(lines)
            )
        )
        _checked(*_IMPORT, log, "-o", out, "--force", "--quiet")
        return out.read_bytes()

    before, after = write(1_000), write(200_000)

    def state() -> str | None:
        found = out.read_bytes() if out.exists() else b""
        return {0: "the old one, whole", 1: "the new one, whole"}.get(_which(found, before, after))

    def lay() -> None:
        _clear(folder, ".requests.")
        out.write_bytes(before)

    return lay, (*_IMPORT, log, "-o", out, "--force", "--quiet"), state


def _generate(folder: Path) -> Attempt:
    folder.mkdir()
    out = folder / "trace"
    command = ("workload", "generate", "prowgen", "--set", "requests=200000", "--out", out, "--quiet")
    _checked(*command)
    whole = {path.name: path.read_bytes() for path in out.iterdir()}

    def state() -> str | None:
        found = {path.name: path.read_bytes() for path in out.glob("[!.]*")}
        if any(whole.get(name) != content for name, content in found.items()):
            return None
        return "all files, whole" if found.keys() == whole.keys() else f"{len(found)} of {len(whole)} files, whole"

    return lambda: shutil.rmtree(out, ignore_errors=True), command, state


def _which(found: object, *known: object) -> int:
    return known.index(found) if found in known else -1


def _clear(folder: Path, begins: str) -> None:
    remove(folder.glob(f"{begins}*"))


def _checked(*arguments: object) -> None:
    done = ended(*arguments)
    if done.returncode:
        raise RuntimeError(f"farweb {' '.join(map(str, arguments))}: {done.returncode}: {done.stderr}")
