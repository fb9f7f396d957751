"""Plans a sweep without running it, for `farweb sweep --plan`: its runs, which are done, how large they become."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from farweb.check.extent import packets_of_points
from farweb.errors import require_range
from farweb.inputs.description import Description
from farweb.results.design import Design
from farweb.results.store import Store
from farweb.sweep.inputs import Inputs
from farweb.sweep.plan import Run, plan
from farweb.sweep.workers import cores
from farweb.text.quantities import count
from farweb.text.sheet import Screen, Sheet, Shown
from farweb.text.words import plural

_SHOWN = 10  # points of a table's head, and of its tail. Chosen: both fit on a screen


@dataclass(frozen=True)
class Schedule(Shown):
    """The runs of a sweep before they are run.

    Attributes:
        design: The factors and points.
        runs: In the order of the plan.
        finished: Ids of runs with results in the folder.
        jobs: Runs at a time.
        packets: Packets over links of a run, by point, as `farweb check` estimates them (`farweb.check.extent`). Points
            without requests, or with levels that contradict each other, are left out.
    """

    design: Design
    runs: Sequence[Run]
    finished: frozenset[str]
    jobs: int
    packets: Mapping[int, int]

    @property
    def missing(self) -> list[Run]:
        """The runs that are to be done."""
        return [run for run in self.runs if run.run not in self.finished]

    @property
    def packet_hops(self) -> int:
        """Packets over links of these."""
        return sum(self.packets.get(run.point, 0) for run in self.missing)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return {
            "design": self.design.kind,
            "points": len(self.design.points),
            "replications": self.design.replications,
            "jobs": self.jobs,
            "missing": len(self.missing),
            "packet_hops": self.packet_hops,
            "runs": [
                {
                    **{key: getattr(run, key) for key in ("run", "point", "replication", "seed")},
                    "levels": dict(run.levels),
                    "done": run.run in self.finished,
                    "packet_hops": self.packets.get(run.point),
                }
                for run in self.runs
            ],
        }

    @property
    def answer(self) -> str:
        """How many runs are to be done and how large they become, in a sentence."""
        number, left = len(self.runs), len(self.missing)
        if not left:
            return f"All {count(number)} runs are done."
        runs = plural(number, "run") if left == number else f"{count(left)} of {count(number)} runs are left"
        return f"{runs}, about {count(self.packet_hops)} packets over links, {self.jobs} at a time."

    def screen(self) -> Screen:
        """The answer, and a line a point."""
        points, runs = len(self.design.points), Counter(run.point for run in self.runs)
        done = Counter(run.point for run in self.runs if run.run in self.finished)
        shown = range(points) if points <= 2 * _SHOWN else [*range(_SHOWN), *range(points - _SHOWN, points)]
        rows = []
        for point in shown:
            packets = count(self.packets[point]) if point in self.packets else ""
            labels = (level.label for level in self.design.levels(point).values())
            rows.append([*labels, count(runs[point]), count(done[point]), packets])
        header = [*self.design.short_names.values(), "runs", "done", "packets of a run"]
        if left_out := points - len(rows):
            rows.insert(_SHOWN, [f"… {count(left_out)} more", *[""] * (len(header) - 1)])
        return Screen((self.answer, "", Sheet("", header, rows, len(self.design.names))))


def schedule(scenario: Description, out: str | Path, jobs: int | None = None) -> Schedule:
    """The plan of a scenario's sweep into the folder `out`. Nothing is written there, and nothing is simulated.

    Raises:
        ScenarioError: The scenario has no sweep, or a combination of levels is not allowed.
        WorkloadError: A table cannot be used.
        ResultsError: There is something else in the folder.
    """
    require_range("--jobs", jobs, 1)
    store = Store(out)
    store.manifest()
    runs = plan(scenario, Inputs())
    design = scenario.design
    assert design is not None, "plan() asks for one"
    finished = frozenset(run.run for run in runs) & store.finished()
    return Schedule(design, runs, finished, jobs or cores(), packets_of_points(scenario))
