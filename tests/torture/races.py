"""Something comes to the name that a command works for, at a random moment of its life: a file, a folder, a link,
another result, or another run of that name. Whatever came stays, and what the command has made is whole."""

import contextlib
import json
import os
import random
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

from farweb.errors import FarwebError
from farweb.results.integrity import verify
from farweb.results.manifest import MANIFEST
from sweeps import ended, started, wait_until, write_scenario
from torture.table import Row

TIMES = 20
COMES = ("a file", "a folder", "a link", "a link to a folder", "another result")


def torture(folder: Path, draw: random.Random, scale: float) -> list[Row]:
    """Start pairs of runs, and plant things in the way of runs and of merges of tables."""
    scenario = write_scenario(folder, "", requests=40_000)
    began = time.monotonic()
    for name, seed in (("older", 1), ("another", 2)):
        done = ended("run", scenario, "--seed", seed, "--out", folder / name, "--quiet")
        if done.returncode:
            raise RuntimeError(done.stderr)
    lasts_s = (time.monotonic() - began) / 2
    times = range(round(TIMES * scale))
    pairs = Row("two runs into one folder")
    for number in times:
        _pair(
            folder / f"pair-{number}",
            scenario,
            ["--force"] if number % 2 else [],
            draw.uniform(0, 0.4) * lasts_s,
            pairs,
        )
    run, over = Row("something comes to `--out` of `farweb run`"), Row("the same with `--force`, over a result")
    merge = Row("something comes to `-o` of `farweb workload merge`")
    for number in times:
        after_s = draw.uniform(0, 0.3) * lasts_s
        _planted(folder / f"run-{number}", ["run", scenario, "--out", "out"], draw.choice(COMES), after_s, run)
        what = draw.choice([*COMES, "a file in it"])
        _planted(folder / f"over-{number}", ["run", scenario, "--force", "--out", "out"], what, after_s, over)
        command = ["workload", "merge", *[folder / "requests.csv"] * 20, "-o", "out.parquet"]
        _planted(folder / f"merge-{number}", command, draw.choice(COMES), draw.uniform(0, 0.5), merge)
    return [pairs, run, over, merge]


def _pair(out: Path, scenario: Path, force: Sequence[str], apart_s: float, row: Row) -> None:
    """Two runs into one folder, one a moment after the other: one ends, or with `--force` one after the other."""
    arguments = ("run", scenario, "--out", out, "--quiet", *force)
    with started(*arguments, "--seed", 1) as first:
        time.sleep(apart_s)
        with started(*arguments, "--seed", 2) as second:
            said = [each.communicate(timeout=120)[1] for each in (first, second)]
    codes = [first.returncode, second.returncode]
    seed = json.loads((out / MANIFEST).read_bytes())["seed"] if (out / MANIFEST).is_file() else None
    if sorted(codes) == [0, 2] and "another farweb command" in said[codes.index(2)]:
        right, what = seed == 1 + codes.index(0), "one refused at once, the other whole"
    elif codes == [0, 2] and "--force replaces" in said[1]:
        right, what = seed == 1, "the second refused after the end of the first"
    else:
        right, what = codes == [0, 0] and bool(force), "one after the other, with `--force`"
    row.expect(right and _is_whole(out), what, f"{codes}, {said}, of seed {seed}")


def _planted(folder: Path, command: Sequence[object], what: str, after_s: float, row: Row) -> None:
    """Start a command in a folder of its own, and put something to the name that it writes to."""
    folder.mkdir()
    out = folder / str(command[-1])
    if "--force" in command:
        shutil.copytree(folder.parent / "older", out)
    home = Path.cwd()
    os.chdir(folder)
    try:
        with started(*command, "--quiet") as process:
            lock = out.with_name(f".{out.name}.taken")
            wait_until(lambda: lock.exists() or process.poll() is not None)
            time.sleep(after_s)
            came = _plant(what, out)
            _, said = process.communicate(timeout=120)
    finally:
        os.chdir(home)
    second = out.with_name(f"{out.stem}-2{out.suffix}")
    code = process.returncode
    if came and not _is_there(what, out):
        row.lose(f"{what} is gone from {out}: {code}: {said}")
    elif code == 3 and f"the result is in {second.name}" in said:
        row.expect(_is_whole(second), "stays, the result is whole beside it", f"{second} is not whole")
    elif code and any(words in said for words in ("name a file", "name a folder", "exists already", "is left alone")):
        row.expect(not second.exists(), "stays, refused before work began", said)
    else:
        whole = _is_whole(out) or _is_whole(out.with_name("away"))  # even where the command no longer finds it
        row.expect(whole, "came after the result", f"{code}: {said}")
    shutil.rmtree(folder)


def _plant(what: str, out: Path) -> bool:
    """Put something to a name from which an older result is moved away; False when a new one is there first."""
    if what == "a file in it":
        (out / "mine").touch()
        return True
    if (out / MANIFEST).exists():
        out.rename(out.with_name("away"))
    made = out.with_name("made")
    with contextlib.suppress(OSError):
        if what == "a file":
            made.write_text("mine")
            os.link(made, out)
        elif what == "a folder":
            made.mkdir()
            (made / "mine").touch()
            made.rename(out)
        elif what == "another result":
            shutil.copytree(out.parents[1] / "another", made)
            made.rename(out)
        else:
            if what == "a link to a folder":
                made.mkdir()
            out.symlink_to("made")
        return True
    return False


def _is_there(what: str, out: Path) -> bool:
    if what == "a file":
        return out.is_file() and out.read_text() == "mine"
    if what == "another result":
        return _is_whole(out) and json.loads((out / MANIFEST).read_bytes())["seed"] == 2
    return out.is_symlink() if "link" in what else (out / "mine").exists()


def _is_whole(out: Path) -> bool:
    """True for a run with every byte as it was written, and for a table."""
    try:
        return out.read_bytes()[-4:] == b"PAR1" if out.is_file() else verify(out, full=True).whole
    except (FarwebError, OSError):
        return False
