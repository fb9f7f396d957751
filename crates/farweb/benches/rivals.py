"""The same transfers through farweb, ns-2, ns-3 and htsim, in packet-hops a second.

    make bench-rivals                        the installed ones
    make bench-rivals HTSIM=/path/to/htsim   and a checkout of htsim with its libhtsim.a made

A packet-hop is the arrival of a packet at the far end of a link, data and ACKs alike. farweb does more for a transfer
than the others: a request goes up first, and a connection closes in order; ns-2 sends data without a connection. Times
are processor time of the whole process, its start included; the best of `--repeat` runs counts.
docs/measurements/simulators.md has results.
"""

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from instructions import built

RIVALS = Path(__file__).with_suffix("")
NS3_MODULES = ("core", "network", "internet", "point-to-point", "applications", "traffic-control")


@dataclass(frozen=True)
class Work:
    """A load: the case of `benches/world` that has it, and its path as the others want it."""

    title: str
    case: str
    links: int
    rate_mbps: str
    delay_ms: str
    window_bytes: int
    short: bool

    @property
    def length(self) -> list[str]:
        """What asks the benchmark for the shortened case."""
        return ["--short"] if self.short else []

    @property
    def window_packets(self) -> int:
        """The window of those that count packets."""
        return self.window_bytes // 1460


WORKS = (
    Work("web, one link", "web-link/bsd44-lite", 1, "34.368", "60", 32_767, short=True),
    Work("bulk, three links", "bulk/bsd44-lite", 3, "100", "10", 65_535, short=False),
)


@dataclass(frozen=True)
class Result:
    """What one simulator did."""

    packet_hops: int
    seconds: float


def main() -> int:
    """Run everything that is there and print a table."""
    parser = argparse.ArgumentParser(description="Compare packet-hops a second with those of other simulators.")
    parser.add_argument("--repeat", type=int, default=3, help="runs of each, of which the best counts")
    parser.add_argument("--json", action="store_true", help="print JSON, and nothing else, to standard output")
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        program = built()
        simulators = found(program, Path(scratch))
        for work in WORKS:
            table = Path(scratch) / "transfers"
            table.write_text(transfers(program, work))
            for name, simulate in simulators.items():
                best = min((simulate(work, table) for _ in range(arguments.repeat)), key=lambda result: result.seconds)
                speed = best.packet_hops / best.seconds
                rows.append({"work": work.title, "simulator": name, **vars(best), "hops_per_s": speed})
    if arguments.json:
        sys.stdout.write(json.dumps(rows, indent=2) + "\n")
        return 0
    sys.stdout.write("| work | simulator | packet-hops | CPU s | Mhops/s |\n|---|---|---|---|---|\n")
    for row in rows:
        numbers = f"{row['packet_hops']:,} | {row['seconds']:.2f} | {row['hops_per_s'] / 1e6:.3f}"
        sys.stdout.write(f"| {row['work']} | {row['simulator']} | {numbers} |\n")
    return 0


def found(bench: Path, scratch: Path) -> dict[str, Callable[[Work, Path], Result]]:
    """The simulators that are here; a line for each that is not."""
    simulators: dict[str, Callable[[Work, Path], Result]] = {"farweb": lambda work, _: farweb(bench, work)}
    if shutil.which("ns"):
        simulators["ns-2"] = ns2
    else:
        missing("ns-2 is not here: there is no ns on the PATH (Debian: apt-get install ns2)")
    if Path("/usr/include/ns3").is_dir():
        program = scratch / "ns3"
        libraries = [f"-lns3-{module}" for module in NS3_MODULES]
        subprocess.run(["g++", "-O3", "-DNDEBUG", "-o", program, RIVALS / "ns3.cc", *libraries], check=True)
        simulators["ns-3"] = lambda work, table: ns3(program, work, table)
    else:
        missing("ns-3 is not here: there is no /usr/include/ns3 (Debian: apt-get install libns3-dev)")
    library = Path(os.environ.get("HTSIM") or "htsim", "sim", "libhtsim.a")
    if library.exists():
        program_of_htsim = scratch / "htsim"
        sources = ("-I", library.parent, RIVALS / "htsim.cc", library)
        subprocess.run(["g++", "-O3", "-w", "-o", program_of_htsim, *sources], check=True)
        simulators["htsim"] = lambda work, table: htsim(program_of_htsim, work, table)
    else:
        missing(f"htsim is not here: there is no {library} (HTSIM names a checkout; make libhtsim.a in its folder sim)")
    return simulators


def missing(line: str) -> None:
    """Name a missing program on stderr."""
    sys.stderr.write(line + "\n")


def transfers(program: Path, work: Work) -> str:
    """The transfers of a case, a line each: start in s, bytes."""
    return output(program, "--requests", work.case, *work.length)


def farweb(program: Path, work: Work) -> Result:
    """Run the case itself."""
    printed, seconds = timed(program, "--here", work.case, "--repeat", "1", *work.length)
    return Result(json.loads(printed)["packet_hops"], seconds)


def ns2(work: Work, table: Path) -> Result:
    """Run ns2.tcl."""
    path = (str(work.links), f"{work.rate_mbps}Mb", f"{work.delay_ms}ms", str(work.window_packets))
    printed, seconds = timed("ns", RIVALS / "ns2.tcl", table, *path)
    return Result(int(printed), seconds)


def ns3(program: Path, work: Work, table: Path) -> Result:
    """Run ns3.cc, which counts nothing while its time is taken."""
    path = (str(work.links), f"{work.rate_mbps}Mbps", f"{work.delay_ms}ms", str(work.window_bytes))
    return Result(ns3_hops(program, table.read_text(), *path), timed(program, table, *path)[1])


@cache
def ns3_hops(program: Path, transfers: str, *path: str) -> int:
    """Packet-hops of ns3.cc, counted once for each table of transfers."""
    return int(output(program, "/dev/stdin", *path, "count", text=transfers))


def htsim(program: Path, work: Work, table: Path) -> Result:
    """Run htsim.cc."""
    path = (str(work.links), work.rate_mbps, work.delay_ms, str(work.window_bytes))
    printed, seconds = timed(program, table, *path)
    return Result(int(printed), seconds)


def timed(*command: str | Path) -> tuple[str, float]:
    """What a command prints, and the processor time that it takes in s."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    printed = output(*command)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return printed, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def output(*command: str | Path, text: str = "") -> str:
    """What a command prints that reads `text`."""
    return subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True).stdout


if __name__ == "__main__":
    sys.exit(main())
