"""The runs of a sweep, their order and their ids.

The id of a run follows from everything that determines its results: another sweep, or the same one with more levels,
finds the runs it already has.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from farweb import _core
from farweb.errors import ScenarioError
from farweb.inputs.description import Description
from farweb.results.metrics import DEFINITION
from farweb.sweep.inputs import Inputs, Source

_ID_DIGITS = 16  # hex digits, 64 bits: among a million runs two equal ids come with a probability of 3e-8


@dataclass(frozen=True)
class Run:
    """A run of a plan: everything that a worker needs but the tables.

    Attributes:
        run: Its id: a digest of the effective scenario, the seed, the tables' content and the version of the models.
        point: Number of the combination of levels.
        replication: Counted from 0 at each point.
        seed: Root of its random streams.
        levels: Values in the columns of the factors, by factor.
        scenario: The scenario of the point.
        inputs: Its files by name: `requests`, and `hosts` if there is a host table.
    """

    run: str
    point: int
    replication: int
    seed: int
    levels: Mapping[str, str | int | float | bool]
    scenario: Description
    inputs: Mapping[str, Source]


def plan(scenario: Description, inputs: Inputs) -> list[Run]:
    """The runs of a scenario's sweep, by point and replication.

    Raises:
        ScenarioError: The scenario has no sweep, or a combination of levels is not allowed.
        WorkloadError: A table is not there.
    """
    design = scenario.design
    if design is None:
        raise ScenarioError(f"{scenario.path}: has no table [sweep]; farweb run simulates it once")
    runs = []
    for point in range(len(design.points)):
        of_point = scenario.point(point).plain()
        levels = {name: level.value for name, level in design.levels(point).items()}
        effective = _effective(of_point)
        for replication in range(design.replications):
            seed = scenario.core.seed(point, replication)
            sources = inputs.of(of_point, seed)
            run = _id(effective, sources, seed)
            runs.append(Run(run, point, replication, seed, levels, of_point, sources))
    return runs


def run_of(
    scenario: Description,
    *,
    point: int,
    replication: int,
    seed: int,
    levels: Mapping[str, str | int | float | bool],
    inputs: Inputs,
) -> Run:
    """A single run of `scenario`, without regard to its table [sweep]."""
    sources = inputs.of(scenario, seed)
    run = _id(_effective(scenario), sources, seed)
    return Run(run, point, replication, seed, levels, scenario.plain(), sources)


def _effective(scenario: Description) -> dict[str, Any]:
    """Everything that determines results but files and seed, of a scenario: no names, for these change nothing."""
    effective = scenario.effective
    for key in ("name", "sweep", "run.seed", *(each.key for each in scenario.inputs().values())):
        effective = _without(effective, key.split("."))
    return effective


def _without(tree: Any, key: Sequence[str]) -> Any:
    """A tree of tables and lists without a dotted key."""
    name, *rest = key
    if isinstance(tree, list):
        return [_without(value, rest) if str(place) == name else value for place, value in enumerate(tree)]
    return {
        each: _without(value, rest) if each == name else value for each, value in tree.items() if rest or each != name
    }


def _id(effective: Mapping[str, Any], sources: Mapping[str, Source], seed: int) -> str:
    """The id of a run, of everything that determines its results."""
    identity = {
        "scenario": effective,
        "result_version": _core.result_version,
        "metrics": DEFINITION,
        "tables": {name: source.sha256 for name, source in sources.items()},
        "seed": seed,
    }
    canonical = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:_ID_DIGITS]
