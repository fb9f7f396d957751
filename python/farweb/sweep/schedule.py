"""Plans a sweep without running it, for `farweb sweep --plan`: its runs, which are done, how long the others take."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from farweb.description import Description
from farweb.results.design import Design
from farweb.results.store import Store
from farweb.sweep.cluster import cores
from farweb.sweep.estimate import Besides, Durations, Measured, estimate
from farweb.sweep.inputs import Inputs
from farweb.sweep.pilots import pilot
from farweb.sweep.plan import Run, plan
from farweb.text.quantities import count, interval, seconds
from farweb.text.sheet import Screen, Sheet, Shown
from farweb.text.words import plural

_SHOWN = 10  # points of a table's head, and of its tail. Chosen: both fit on a screen
_PILOTS = 24  # points. Chosen: twice as many as most designs have levels
_READ = 1000  # finished runs with times to read. Chosen: more do not improve an estimate


@dataclass(frozen=True)
class Schedule(Shown):
    """The runs of a sweep before they are run.

    Attributes:
        design: The factors and points.
        runs: In the order of the plan.
        finished: Ids of runs with results in the folder.
        jobs: Runs at a time.
        estimate: How long a run takes at each point, or None when no run could be measured.
        piloted: True when the estimate comes from pilot runs, and not from finished ones.
        besides: Time of the sweep besides its runs, or None when all are done.
    """

    design: Design
    runs: Sequence[Run]
    finished: frozenset[str]
    jobs: int
    estimate: Durations | None
    piloted: bool
    besides: Besides | None

    @property
    def missing(self) -> list[Run]:
        """The runs that are to be done."""
        return [run for run in self.runs if run.run not in self.finished]

    @property
    def expected_s(self) -> float | None:
        """How long these take, with the start of workers and with statistics, or None when nothing was measured."""
        if self.estimate is None:
            return None
        points = [run.point for run in self.missing]
        besides_s = 0.0 if self.besides is None else self.besides.total_s(len(self.runs), self.jobs)
        return self.estimate.total_s(points, self.jobs) + besides_s

    @property
    def total_s(self) -> tuple[float, float] | None:
        """From how long to how long, or None when nothing was measured."""
        expected_s = self.expected_s
        if self.estimate is None or expected_s is None:
            return None
        factor = self.estimate.factor([run.point for run in self.missing])
        return expected_s / factor, expected_s * factor

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        total = self.total_s
        return {
            "design": self.design.kind,
            "points": len(self.design.points),
            "replications": self.design.replications,
            "jobs": self.jobs,
            "missing": len(self.missing),
            "estimate": {
                "from": "nothing" if self.estimate is None else "pilot runs" if self.piloted else "finished runs",
                "measured": 0 if self.estimate is None else self.estimate.measured,
                "expected_s": self.expected_s,
                "low_s": None if total is None else total[0],
                "high_s": None if total is None else total[1],
            },
            "runs": [
                {
                    **{key: getattr(run, key) for key in ("run", "point", "replication", "seed")},
                    "levels": dict(run.levels),
                    "done": run.run in self.finished,
                    "estimate_s": None if self.estimate is None else self.estimate.point_s[run.point],
                }
                for run in self.runs
            ],
        }

    @property
    def answer(self) -> str:
        """How many runs are to be done and how long they take, in a sentence."""
        number, left = len(self.runs), len(self.missing)
        if not left:
            return f"All {count(number)} runs are done."
        runs = plural(number, "run") if left == number else f"{count(left)} of {count(number)} runs are left"
        total, expected_s = self.total_s, self.expected_s
        if total is None or expected_s is None:
            return f"{runs}; none could be measured, and their time is not known."
        return f"{runs}, about {seconds(expected_s)} ({interval(*total, 's', of=expected_s)}), {self.jobs} at a time."

    def _basis(self) -> str:
        if self.estimate is None or not self.missing:
            return ""
        measured = plural(self.estimate.measured, f"{'pilot' if self.piloted else 'finished'} run")
        return f"Judged by {measured}, with the start of workers and with statistics."

    def _sheet(self) -> Sheet:
        points = len(self.design.points)
        header = [*self.design.short_names.values(), "runs", "done", "a run takes"]
        shown = range(points) if points <= 2 * _SHOWN else [*range(_SHOWN), *range(points - _SHOWN, points)]
        rows = [self._row(point) for point in shown]
        if left_out := points - len(rows):
            rows.insert(_SHOWN, [f"… {count(left_out)} more", *[""] * (len(header) - 1)])
        return Sheet("", header, rows, len(self.design.names))

    def _row(self, point: int) -> list[str]:
        labels = [level.label for level in self.design.levels(point).values()]
        runs = [run.run for run in self.runs if run.point == point]
        done = sum(run in self.finished for run in runs)
        return [
            *labels,
            count(len(runs)),
            count(done),
            "" if self.estimate is None else seconds(self.estimate.point_s[point]),
        ]

    def screen(self) -> Screen:
        """The answer, and a line a point."""
        return Screen((self.answer, "", self._sheet(), self._basis()))


def schedule(scenario: Description, out: str | Path, jobs: int | None = None) -> Schedule:
    """The plan of a scenario's sweep into the folder `out`. Nothing is written there.

    If no run of the plan is finished, pilot runs take ten seconds at most in all, in a folder that is deleted. For a
    plan already begun a few show the cost of workers and statistics.

    Raises:
        ScenarioError: The scenario has no sweep, or a combination of levels is not allowed.
        WorkloadError: A table cannot be used.
        ResultsError: There is something else in the folder.
    """
    store = Store(out)
    store.manifest()
    inputs = Inputs()
    runs = plan(scenario, inputs)
    design = scenario.design
    assert design is not None, "plan() asks for one"
    found = store.finished()
    finished = frozenset(run.run for run in runs if run.run in found)
    known = [run for run in runs if run.run in finished]
    every = -(-len(known) // _READ) or 1
    measured = [Measured(run.point, store.outcome(run.run).wall_s) for run in known[::every]]
    jobs, besides = jobs or cores(), None
    if missing := [run for run in runs if run.run not in finished]:
        pilots, besides = pilot(design, missing, inputs, jobs, jobs if measured else _PILOTS)
    piloted = not measured
    fitted = estimate(design, measured or pilots) if measured or pilots else None
    return Schedule(design, runs, finished, jobs, fitted, piloted, besides)
