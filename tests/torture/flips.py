"""Single bits that are not as they were written: every one has to be seen, and a sweep that goes on puts it right."""

import random
from collections.abc import Callable, Iterable
from pathlib import Path

from farweb.errors import FarwebError
from farweb.results.integrity import verify
from sweeps import content, ended, write_scenario
from torture.table import Row, say


def torture(folder: Path, draw: random.Random, scale: float) -> list[Row]:
    """Flip 20 bits of a run and 20 of a sweep, one at a time."""
    scenario = write_scenario(folder)
    recorded = ("--set", "record.packets=all", "--set", "record.exchanges=true")
    ended("run", scenario, *recorded, "--out", folder / "run", "--quiet").check_returncode()
    run = Row("a bit flipped in a file of a run")
    _flip(folder / "run", draw, round(20 * scale), run)
    sweep_of = ("sweep", scenario, "--jobs", 2, "--out", folder / "sweep", "--quiet")
    ended(*sweep_of).check_returncode()
    whole = content(folder / "sweep")
    healed = Row("sweep that goes on after such a flip")

    def heal(file: Path) -> None:
        again = ended(*sweep_of)
        if again.returncode == 2 and again.stderr.count("\n") == 1 and file.parent == folder / "sweep":
            healed.count("refused in a line, its own manifest cannot be read")
            return
        right = again.returncode == 0 and content(folder / "sweep") == whole
        right = right and verify(folder / "sweep", full=True).whole
        healed.expect(right, "as it was, byte for byte", f"{file.relative_to(folder)}: {again.stderr[-200:]}")

    sweep = Row("a bit flipped in a file of a sweep")
    _flip(folder / "sweep", draw, round(20 * scale), sweep, heal)
    return [run, sweep, healed]


def _flip(
    results: Path, draw: random.Random, flips: int, row: Row, then: Callable[[Path], None] = lambda file: None
) -> None:
    for done in range(1, flips + 1):
        kinds: dict[str, list[Path]] = {}
        for each in sorted(_files(results)):
            kinds.setdefault(each.suffix, []).append(each)
        file = draw.choice(draw.choice(list(kinds.values())))  # a sweep has one copy of its inputs, and many tables
        whole = file.read_bytes()
        content = bytearray(whole)
        byte, bit = draw.randrange(len(content)), draw.randrange(8)
        content[byte] ^= 1 << bit
        file.write_bytes(content)
        name = str(file.relative_to(results))
        row.expect(_seen(results, name), "seen", f"{name}: bit {bit} of byte {byte} is not seen")
        then(file)
        if _seen(results, name):  # not mended yet
            file.write_bytes(whole)
        if done % 5 == 0:
            say(f"  {done} of {flips}: {row.what}")


def _files(results: Path) -> Iterable[Path]:
    # What runs have cost differs between equal sweeps: their table is no result and has no digest.
    names = (path for path in results.rglob("*") if path.name != "timings.parquet")
    return (path for path in names if path.suffix in {".parquet", ".json", ".arrow"})


def _seen(results: Path, name: str) -> bool:
    """True when `farweb verify --full` names the file, in its list or as one that cannot be read."""
    try:
        return name in {damage.file for damage in verify(results, full=True).damages}
    except FarwebError as error:
        return name in str(error)
