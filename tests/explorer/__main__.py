"""Explores: random cases on all cores, for `make explore`; cases that fail are made small, printed and kept."""

import argparse
import os
import random
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from explorer.explore import explore

KEPT = Path("build/explorer")
CHUNK = 50  # cases of a process: its start takes as long as two of them
PATIENCE_S = 900  # chosen: a chunk takes half a minute, and up to as much more for each case that has to be made small


def main() -> int:
    """Explore what the command line asks for; 1 where a case fails."""
    parser = argparse.ArgumentParser(prog="explorer", description=__doc__)
    parser.add_argument("--seed", type=int, default=1, help="draws the cases")
    parser.add_argument("--cases", type=int, default=2000, help="how many")
    parser.add_argument("--case", type=int, nargs="+", help="these cases, by number, in this process")
    asked = parser.parse_args()
    if asked.case:
        return _try(asked.case)
    numbers = random.Random(asked.seed)
    drawn = [numbers.getrandbits(48) for _ in range(asked.cases)]
    chunks = [drawn[place : place + CHUNK] for place in range(0, len(drawn), CHUNK)]
    with ThreadPoolExecutor(os.cpu_count()) as threads:
        found = [said for said in threads.map(_chunk, chunks) if said]
    print(*found, f"{asked.cases} random scenarios, {len(found) or 'no'} chunks of {CHUNK} with findings", sep="\n")  # noqa: T201
    return 1 if found else 0


def _chunk(numbers: list[int]) -> str:
    """Findings of a process of its own in these cases: the core may not come back, or end it."""
    command = [sys.executable, "-m", "explorer", "--case", *map(str, numbers)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
    except subprocess.TimeoutExpired as late:
        return f"{_last(late.stderr)} has no end after {PATIENCE_S} s"
    return (
        done.stdout
        if done.returncode in (0, 1)
        else f"{_last(done.stderr)} ends the process ({done.returncode})\n{done.stderr}"
    )


def _last(said: str | bytes | None) -> str:
    """The case that a process was at."""
    text = said.decode() if isinstance(said, bytes) else said or ""
    return next((line for line in reversed(text.splitlines()) if line.startswith("case ")), "no case")


def _try(numbers: list[int]) -> int:
    """Try cases one after the other, saying which, and print and keep those that fail."""

    def announced(number: int) -> int:
        print(f"case {number}", file=sys.stderr, flush=True)  # noqa: T201
        return number

    failed = 0
    for finding in explore(map(announced, numbers), by_verbs=True):
        failed += 1
        folder = KEPT / f"case-{finding.number}"
        finding.case.write(folder)
        (folder / "what.txt").write_text("\n".join(map(str, finding.violations)) + "\n", "utf-8")
        print(finding, f"kept in {folder}", sep="\n", flush=True)  # noqa: T201
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
