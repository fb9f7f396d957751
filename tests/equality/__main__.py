"""Run the same scenarios with two builds of farweb and compare every table, column by column.

    python -m equality REVISION                            that revision against the farweb that is installed here
    python -m equality --before-farweb A --after-farweb B  two that are installed: `farweb` commands or interpreters

With --checks it compares what `farweb check --json` says of them instead, in a tenth of the time.

Exit codes: 0 all results are equal, 1 some differ, 2 a build or an argument is wrong.
"""

import argparse
import itertools
import json
import os
import queue
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from equality.builds import Build, BuildError, Farweb, Repository
from equality.differences import Comparison, compare, compare_answers
from equality.references import linux_runs, ns2_runs
from equality.scenarios import Run, example_runs, grid_runs, paper_runs

ROOT = Path(__file__).parents[2]
DATA = ROOT / "crates/farweb/tests/data"
LINES_SHOWN = 8


@dataclass(frozen=True)
class Outcome:
    """A run and what the comparison of its results found; `error` is why there are none."""

    run: Run
    comparison: Comparison
    error: str | None = None

    @property
    def is_equal(self) -> bool:
        return self.error is None and not self.comparison.different

    def lines(self) -> str:
        """A line of the table, and below it what differs."""
        word = "equal" if self.is_equal else "ERROR" if self.error else "DIFFERENT"
        different = [self.error] if self.error else self.comparison.different
        more = [f"… and {len(different) - LINES_SHOWN} more"] if len(different) > LINES_SHOWN else []
        details = "".join(f"\n    {line}" for line in [*different[:LINES_SHOWN], *more])
        return f"{self.comparison.rows:>9,}  {word:<9}  {self.run.name}{details}\n"

    def to_dict(self) -> dict[str, Any]:
        return {
            "run": self.run.name,
            "equal": self.is_equal,
            "error": self.error,
            "rows": self.comparison.rows,
            "values": self.comparison.values,
            "different": self.comparison.different,
            "new": sorted(self.comparison.new),
        }


def main() -> int:
    arguments = parsed()
    repository = Repository(ROOT, *([arguments.cache] if arguments.cache else []))
    try:
        if arguments.revision is None:
            before = Build.installed(arguments.before_farweb)
        else:
            before = repository.build(arguments.revision)
    except BuildError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    after = Build.installed(arguments.after_farweb or Path(sys.executable))
    started = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="farweb-equality-") as scratch:
        runs = [run for run in all_runs(Path(scratch)) if arguments.only in run.name]
        outcomes = []
        for outcome in compared(runs, before, after, Path(scratch), arguments.jobs, checks=arguments.checks):
            outcomes.append(outcome)
            if not arguments.json:
                sys.stdout.write(outcome.lines())
                sys.stdout.flush()
    report(outcomes, time.monotonic() - started, as_json=arguments.json)
    return 0 if outcomes and all(outcome.is_equal for outcome in outcomes) else 1


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="equality", description="Compare the results of two builds of farweb.")
    parser.add_argument("revision", nargs="?", help="the revision before, as git names it")
    parser.add_argument("--before-farweb", type=Path, metavar="PATH", help="an installed farweb or python instead")
    parser.add_argument("--after-farweb", type=Path, metavar="PATH", help="the farweb after; that of this interpreter")
    parser.add_argument("--checks", action="store_true", help="compare what farweb check says, and run nothing")
    parser.add_argument("--only", default="", metavar="TEXT", help="only runs with this in their names")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="pairs of processes; as many as cores")
    parser.add_argument("--cache", type=Path, metavar="DIR", help="where builds are kept; ~/.cache/farweb/equality")
    parser.add_argument("--json", action="store_true", help="print JSON, and nothing else, to standard output")
    arguments = parser.parse_args()
    if (arguments.revision is None) == (arguments.before_farweb is None):
        parser.error("name either a revision or --before-farweb")
    return arguments


def all_runs(scratch: Path) -> Iterator[Run]:
    """Everything that is compared; generated inputs go below `scratch`."""
    inputs = scratch / "inputs"
    inputs.mkdir()
    yield from example_runs(ROOT / "examples")
    if DATA.is_dir():
        yield from ns2_runs(DATA, ROOT / "examples/cache-hierarchy.toml", inputs)
        yield from linux_runs(DATA, inputs)
    else:
        sys.stderr.write(f"without the references of ns-2 and Linux: {DATA} is not there\n")
    yield from paper_runs(ROOT / "papers")
    yield from grid_runs(inputs)


def compared(
    runs: list[Run], before: Build, after: Build, scratch: Path, jobs: int, *, checks: bool = False
) -> Iterator[Outcome]:
    """Run or check all with both builds, `jobs` at a time; outcomes in the order of the runs."""
    numbers = itertools.count()
    with ExitStack() as stack:
        pairs: queue.SimpleQueue[tuple[Farweb, Farweb]] = queue.SimpleQueue()
        for _ in range(jobs):
            pairs.put((stack.enter_context(Farweb(before, scratch)), stack.enter_context(Farweb(after, scratch))))

        def both(run: Run) -> Outcome:
            folder = scratch / f"run-{next(numbers)}"
            one, other = pair = pairs.get()
            try:
                if checks:
                    return Outcome(run, compare_answers(one.answer(run.check()), other.answer(run.check())))
                for side, farweb in (("before", one), ("after", other)):
                    if error := farweb.run(run.arguments(folder / side)):
                        return Outcome(run, Comparison(), f"{side}: {error}")
                return Outcome(run, compare(folder / "before", folder / "after"))
            finally:
                pairs.put(pair)
                shutil.rmtree(folder, ignore_errors=True)

        with ThreadPoolExecutor(jobs) as pool:
            yield from pool.map(both, runs)


def report(outcomes: list[Outcome], seconds: float, *, as_json: bool) -> None:
    """The closing lines, or everything as JSON."""
    different = [outcome for outcome in outcomes if not outcome.is_equal]
    new = sorted(set[str]().union(*(outcome.comparison.new for outcome in outcomes)))
    totals = {
        "runs": len(outcomes),
        "different": len(different),
        "rows": sum(outcome.comparison.rows for outcome in outcomes),
        "values": sum(outcome.comparison.values for outcome in outcomes),
        "new": new,
        "wall_s": round(seconds, 1),
    }
    if as_json:
        sys.stdout.write(
            json.dumps({**totals, "results": [outcome.to_dict() for outcome in outcomes]}, indent=2) + "\n"
        )
        return
    if new:
        sys.stdout.write(f"new in the later results, not compared: {', '.join(new)}\n")
    verdict = f"{len(different)} DIFFERENT" if different else "all equal" if outcomes else "nothing to compare"
    sys.stdout.write(
        f"{verdict}: {totals['runs']} runs, {totals['rows']:,} rows, {totals['values']:,} values in {seconds:.0f} s\n"
    )


if __name__ == "__main__":
    sys.exit(main())
