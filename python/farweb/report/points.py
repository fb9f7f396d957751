"""Meanings of the scenarios of a report, read again from manifests: a report needs only the results.

The core reads and checks scenarios; a manifest has one with every default spelled out.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from farweb import _core
from farweb.check.warned import Warned, warned
from farweb.report.words import at, names_of
from farweb.results.manifest import MANIFEST
from farweb.results.store import Store, input_name, part_name
from farweb.results.sweep import SweepTables
from farweb.sweep.inputs import stored_hosts
from farweb.text.words import listed, named, plural


@dataclass(frozen=True)
class Point:
    """A scenario and its meaning.

    Attributes:
        label: What tells it from the others of a report, or empty when there are none.
        scenario: The scenario, every default spelled out.
        figures: Links, legs and warnings with their numbers, as `farweb.library.scenario.Check` has them.
        requests: SHA-256 of the request table, or None of a family, and where it is not known.
        caveats: Assumptions about the server times of the request table.
        kept: Warnings of its run, load included. None where those of the scenario are all that is known.
    """

    label: str
    scenario: Mapping[str, Any]
    figures: Mapping[str, Any]
    requests: str | None = None
    caveats: Sequence[str] = ()
    kept: Sequence[Warned] | None = None

    @property
    def warned(self) -> list[Warned]:
        """Warnings of `farweb check`, allowed and perhaps not meant, and caveats of the request table."""
        found = warned(self.figures["warnings"]) if self.kept is None else self.kept
        return list(dict.fromkeys([*found, *(Warned("workload.requests", caveat) for caveat in self.caveats)]))


def parse(effective: Mapping[str, Any], name: str) -> _core.Scenario:
    """The scenario of a manifest.

    Args:
        effective: As the manifest has it.
        name: Its name, for messages.

    Raises:
        ScenarioError: This version of farweb does not know such a scenario.
    """
    return _core.Scenario.of_effective(json.dumps(effective), name)


def point(
    label: str,
    scenario: _core.Scenario,
    hosts: _core.HostTable | None,
    inputs: Mapping[str, Any] | None = None,
    kept: Sequence[Warned] | None = None,
) -> Point:
    """Meaning of a scenario.

    Args:
        label: What tells it from the others.
        scenario: The scenario.
        hosts: The host table that it was run with, where it is at hand.
        inputs: Files of the run, as its manifest has them.
        kept: Warnings of its run, load included.
    """
    requests = (inputs or {}).get("requests", {})
    figures = json.loads(scenario.check(hosts))
    effective, caveats = json.loads(scenario.effective()), requests.get("caveats", ())
    return Point(label, effective, figures, requests.get("sha256"), caveats, kept)


def sweep_points(sweep: SweepTables) -> dict[int, Point]:
    """Meaning of each point that has a finished run, by its number in the design."""
    done = sweep.runs["status"] == "done"
    first: dict[int, str] = {}
    for number, run in zip(sweep.points.filter(done), sweep.runs["run"].filter(done), strict=True):
        first.setdefault(number, run)
    design, names, hosts = sweep.design, names_of(sweep), _Hosts(sweep.store)
    found = {}
    for number, run in sorted(first.items()):
        name, manifest = f"{part_name(run)}/{MANIFEST}", sweep.manifest_of(run)
        label = at(names, design.factors, list(design.levels(number).values()))
        scenario = parse(manifest["scenario"], f"{sweep.store.url}/{name}")
        found[number] = point(label, scenario, hosts.of(manifest), manifest["inputs"])
    return found


class _Hosts:
    """The host tables that a sweep on this machine keeps with its results, each read once."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._read: dict[str, _core.HostTable] = {}

    def of(self, manifest: Mapping[str, Any]) -> _core.HostTable | None:
        """The host table of a run, or None when it had none, or when it is not at hand."""
        sha256 = manifest["inputs"].get("hosts", {}).get("sha256")
        folder = self._store.folder
        if sha256 is None or folder is None or self._store.size(input_name(sha256)) is None:
            return None
        if sha256 not in self._read:
            self._read[sha256] = stored_hosts(folder, sha256)
        return self._read[sha256]


def which(sweep: SweepTables, points: Mapping[int, Point], some: Sequence[Point]) -> str:
    """Names some of the points: how many, and the levels that only they have in common."""
    numbers = [number for number, each in points.items() if any(each is one for one in some)]
    said, names = [], names_of(sweep)
    for place, factor in enumerate(sweep.design.factors):
        here = {sweep.design.points[number][place] for number in numbers}
        if here != {sweep.design.points[number][place] for number in points}:
            said.append(named(names[factor.name], listed([factor.levels[index].label for index in sorted(here)])))
    how_many = f"{len(numbers)} of {plural(len(points), 'point')}"
    return f"{how_many}: {', '.join(said)}" if said else how_many


_NOT_OF_A_POINT = ("sweep:", "record.")  # keys about running a scenario, not about its meaning


def warnings(points: Sequence[Point], where: Callable[[Sequence[Point]], str]) -> list[str]:
    """The warnings of `farweb check` for all points, each once.

    Warnings that differ in numbers alone are one, with the numbers of the first point, as are equal ones on several
    keys.

    Args:
        points: The simulated points.
        where: Says of some of the points, not all, which they are.
    """
    found: dict[str, dict[str, list[Point]]] = {}
    for each in points:
        for key, words in each.warned:
            if not f"{key}:".startswith(_NOT_OF_A_POINT):
                found.setdefault(without_numbers(words), {}).setdefault(key, []).append(each)
    said = []
    for alike, keys in found.items():
        concerned = [each for each in points if any(each in some for some in keys.values())]
        first = next(words for _, words in concerned[0].warned if without_numbers(words) == alike)
        place = f" (the first of {plural(len(points), 'point')})" if len(points) > 1 else ""
        if len(concerned) < len(points):
            place = f" ({where(concerned)})"
        said.append(f"{listed(list(keys))}: {first}{place}.")
    return said


def without_numbers(text: str) -> str:
    """A text with a sign in place of each number and its unit."""
    return re.sub(r"\d[\d.,]*( [kMGµm]?(?:B|bit/s|s)\b)?", "#", text)
