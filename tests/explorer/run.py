"""Runs a case in this process, and reads its results."""

from dataclasses import dataclass
from pathlib import Path

from explorer.case import Case
from explorer.reading import Tables, read_tables
from farweb import Results, Scenario
from farweb.errors import ResultsError
from farweb.run import Progress

# Chosen: a hundred times what the longest cases take.
EVENTS_MAX = 3_000_000

RESULTS = "results"


class EndlessError(Exception):
    """A run has gone on for longer than any case should."""


@dataclass(frozen=True)
class Outcome:
    """What came of a case.

    Attributes:
        tables: The result tables, and the breakdown of latencies; none where the run did not end well.
        error: Why it did not; None where it did.
    """

    tables: Tables
    error: str | None


def run(case: Case, folder: Path) -> Outcome:
    """Write the files of a case to `folder`, run it there, and read the results."""
    scenario = Scenario.load(case.write(folder))
    try:
        results = scenario.run(out=folder / RESULTS, progress=_watch)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic of the core is no Exception
        return Outcome({}, f"{type(error).__name__}: {error}")
    return Outcome(read_tables(folder / RESULTS) | _breakdown(results), None)


def _breakdown(results: Results) -> Tables:
    """What `farweb show --breakdown` says of all requests, as tables; none where it refuses."""
    try:
        found = results.breakdown(tagged=False)
    except ResultsError:
        return {}
    legs = range(len(found.legs))
    return {
        "breakdown": {name: [getattr(part, name) for part in found.parts] for name in ("kind", "leg", "mean_s")},
        "breakdown_legs": {
            "leg": list(legs),
            "reached": list(found.reached),
            "unfinished_reached": list(found.unfinished_reached),
        },
    }


def _watch(progress: Progress) -> None:
    if progress.events > EVENTS_MAX:
        raise EndlessError(f"{progress.events} events, and no end at {progress.now_ns} ns")
