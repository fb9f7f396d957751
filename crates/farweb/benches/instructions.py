"""Count the instructions of the shortened cases of `benches/world` and compare them with instructions.toml.

    make bench-check       fails when a case takes over 3 % more than it did
    make bench-baseline    keeps what the cases take now

Counted by callgrind: unlike times, counts are the same in every run, on a busy machine too. They differ between
compilers, and by less than the limit between processors and C libraries. Only the simulation counts. Reading the
scenario does not, since it takes longer with every new key, whether the case has that or not.

Beside them stand misses of a modelled instruction cache of 32 kB: code that is compiled twice saves instructions and
costs misses. They move by a tenth with the layout of the program alone, so no limit is set on them.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

BASELINE = Path(__file__).with_suffix(".toml")
ROOT = Path(__file__).parents[3]
LIMIT = 0.03
CACHE = ("--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64")  # of any machine
PROFILE = ("cargo", "bench", "-p", "farweb", "--bench", "world", "--locked", "--no-run", "--message-format=json")


@dataclass(frozen=True)
class Count:
    """Instructions of a case, and the packet-hops it made with them."""

    case: str
    instructions: int
    misses: int
    packet_hops: int
    before: int | None

    @property
    def change(self) -> float:
        """Share by which the count has grown."""
        return self.instructions / self.before - 1 if self.before else 0.0

    def line(self) -> str:
        """A line of the table."""
        per_hop, misses = self.instructions / self.packet_hops, self.misses / self.packet_hops
        before = "new" if self.before is None else f"{self.change:+.2%}"
        verdict = "  ABOVE THE LIMIT" if self.change > LIMIT else ""
        return f"{self.case:<24} {self.instructions:>14,} {per_hop:>9,.0f} {before:>9} {misses:>14.1f}{verdict}\n"


def main() -> int:
    """Count, print, compare; the exit code."""
    parser = argparse.ArgumentParser(description="Compare the instructions of the benchmark's cases with the baseline.")
    parser.add_argument("cases", nargs="*", help="cases, or how their names begin; all when left out")
    parser.add_argument("--update", action="store_true", help="keep the counts as the baseline")
    arguments = parser.parse_args()
    if shutil.which("valgrind") is None:
        return _fail(
            "bench-check needs valgrind, and it is not on the PATH: install it (Debian: apt-get install valgrind)"
        )
    kept = tomllib.loads(BASELINE.read_text()) if BASELINE.exists() else {"rustc": "", "instructions": {}}
    compiler = _output("rustc", "--version").strip()
    if kept["rustc"] != compiler and not arguments.update:
        sys.stdout.write(f"The baseline is of {kept['rustc']}, this is {compiler}: counts may differ for that alone.\n")
    program = built()
    names = [name for name in cases(program) if not arguments.cases or name.startswith(tuple(arguments.cases))]
    if not names:
        return _fail(f"no case begins so; there are {', '.join(cases(program))}")
    sys.stdout.write(f"{'case':<24} {'instructions':>14} {'a hop':>9} {'change':>9} {'I1 misses a hop':>14}\n")
    counts = []
    for name in names:
        counts.append(counted(program, name, kept["instructions"].get(name)))
        sys.stdout.write(counts[-1].line())
        sys.stdout.flush()
    if arguments.update:
        instructions = kept["instructions"] | {count.case: count.instructions for count in counts}
        write_baseline(compiler, instructions, kept.get("misses", {}) | {count.case: count.misses for count in counts})
        return 0
    above = [f"{count.case} takes {count.change:.1%} more" for count in counts if count.change > LIMIT]
    if above:
        return _fail(f"{'; '.join(above)}: at most {LIMIT:.0%} more is allowed, or make bench-baseline", 1)
    return 0


def built() -> Path:
    """The program of the benchmark, compiled."""
    for line in _output(*PROFILE).splitlines():
        message = json.loads(line)
        if message.get("target", {}).get("name") == "world" and message.get("executable"):
            return Path(message["executable"])
    raise SystemExit("cargo names no program of the benchmark")


def cases(program: Path) -> Iterator[str]:
    """The names of all cases."""
    yield from _output(program, "--list").split()


def counted(program: Path, case: str, before: int | None) -> Count:
    """Run a case under callgrind."""
    tool = ("valgrind", "--tool=callgrind", *CACHE, "--callgrind-out-file=/dev/null", "--toggle-collect=world::run")
    ran = subprocess.run(
        [*tool, program, "--here", "--short", "--repeat", "1", case], capture_output=True, text=True, check=False
    )
    collected = re.search(r"Collected : (\d+)", ran.stderr)
    missed = re.search(r"I1  misses: +([\d,]+)", ran.stderr)
    if ran.returncode != 0 or collected is None or collected[1] == "0" or missed is None:
        raise SystemExit(f"{case}: valgrind ended with code {ran.returncode}\n{ran.stderr}")
    misses = int(missed[1].replace(",", ""))
    return Count(case, int(collected[1]), misses, json.loads(ran.stdout)["packet_hops"], before)


def write_baseline(compiler: str, instructions: dict[str, int], misses: dict[str, int]) -> None:
    """Write instructions.toml."""
    head = "# Instructions and I1 misses of the shortened cases of benches/world; written by make bench-baseline."
    lines = [head, f'rustc = "{compiler}"']
    for table, numbers in (("instructions", instructions), ("misses", misses)):
        lines += ["", f"[{table}]", *(f'"{case}" = {number}' for case, number in numbers.items())]
    BASELINE.write_text("\n".join(lines) + "\n")


def _output(*command: str | Path) -> str:
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, cwd=ROOT).stdout


def _fail(message: str, code: int = 2) -> int:
    sys.stderr.write(f"{message}\n")
    return code


if __name__ == "__main__":
    sys.exit(main())
