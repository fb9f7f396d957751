"""The study from the command line, from the repository's folder.

python -m papers.trace design FOLDER           write the sweeps of the design into a folder
farweb sweep FOLDER/points-0.toml --out …      run each
python -m papers.trace report RESULTS…         tables, ranges of the scoreboard and figures from the results folders
farweb sweep papers/trace/inmost.toml --out …  the middle of the allowed region, which report has written
python -m papers.trace numbers RESULTS…        the numbers at the points of results folders, beside each other
python -m papers.trace changed FOLDER          write sweeps of reading B with one thing changed, each a file
"""

import argparse
from itertools import islice
from pathlib import Path

import polars as pl

from farweb import SweepResults

from .changed import CHANGES, full
from .changed import runs as of_change
from .design import CASES, POINTS, Proxies, of_point, runs, unit_points, write
from .factors import FACTORS, values
from .findings import Findings, tables, write_points, write_ranges
from .kinds import beside
from .numbers import by_point

_POINTS_A_SWEEP = 20  # a scenario file has at most 1,000,000 bytes


def main() -> None:
    """Write the design, or report its results."""
    parser = argparse.ArgumentParser(
        prog="python -m papers.trace", description="Which 1997 workload do the published numbers allow?"
    )
    steps = parser.add_subparsers(dest="step", required=True)
    design = steps.add_parser("design", help="write the sweeps of the design into a folder")
    design.add_argument("folder", type=Path)
    report = steps.add_parser("report", help="tables, ranges and figures from results folders")
    report.add_argument("results", type=Path, nargs="+")
    report.add_argument("--out", type=Path, default=Path(__file__).parent, help="folder of the figures")
    numbers = steps.add_parser("numbers", help="the published numbers at the points of results folders")
    numbers.add_argument("results", type=Path, nargs="+")
    one = steps.add_parser("changed", help="write sweeps of reading B with one thing changed, each a file")
    one.add_argument("folder", type=Path)
    chosen = parser.parse_args()
    if chosen.step == "design":
        _design(chosen.folder)
    elif chosen.step == "report":
        _report(chosen.results, chosen.out)
    elif chosen.step == "changed":
        _changed(chosen.folder)
    else:
        _numbers(chosen.results)


def _design(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    every, number = runs(unit_points()), 0
    for place in range(0, POINTS, _POINTS_A_SWEEP):
        out = folder / f"points-{place // _POINTS_A_SWEEP}.toml"
        number += write(out, islice(every, _POINTS_A_SWEEP * len(CASES)))
        print(out)
    print(f"{POINTS} points, {number} runs")


def _changed(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, its in [*((change.name, of_change(change)) for change in CHANGES), ("full", full())]:
        out = folder / f"{name}.toml"
        write(out, its, replications=3)
        print(out)


def _report(results: list[Path], out: Path) -> None:
    from .figures import draw

    findings = Findings.read(results)
    text = tables(findings)
    (out / "findings.md").write_text(text, encoding="utf-8")
    write_ranges(findings, out / "ranges.toml")
    write_points(findings, out / "points.csv")
    draw(findings, out)
    inmost = values(findings.inmost)
    for name, proxies in (
        ("inmost", Proxies()),
        ("inmost-in-turns", Proxies(assign="round-robin")),
        ("inmost-no-nagle", Proxies(nagle=False)),
    ):
        write(out / f"{name}.toml", of_point(name, inmost, proxies), replications=3)
    print(text)
    print({factor.name: factor.written(float(part)) for factor, part in zip(FACTORS, findings.inmost, strict=True)})


def _numbers(results: list[Path]) -> None:
    """Print the numbers of each point, means over replications."""
    runs = pl.concat([SweepResults.open(folder).runs for folder in results], how="diagonal_relaxed")
    print("\n".join(beside(by_point(runs))))


if __name__ == "__main__":
    main()
