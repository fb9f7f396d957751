"""What the points of a sweep mean, from the manifests of their runs."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from farweb import _core
from farweb.report.naming import at, names_of
from farweb.report.points import Point, parse, point
from farweb.report.words import plural
from farweb.results.manifest import MANIFEST
from farweb.results.store import input_name, part_name
from farweb.results.sweep import SweepTables
from farweb.sweep.inputs import stored_hosts
from farweb.text.words import listed


def sweep_points(sweep: SweepTables) -> dict[int, Point]:
    """What each point means that has a finished run, by its number in the design."""
    done = sweep.runs["status"] == "done"
    first: dict[int, str] = {}
    for number, run in zip(sweep.points.filter(done), sweep.runs["run"].filter(done), strict=True):
        first.setdefault(number, run)
    design, names, hosts = sweep.design, names_of(sweep), _Hosts(sweep.store.folder)
    found = {}
    for number, run in sorted(first.items()):
        name = f"{part_name(run)}/{MANIFEST}"
        manifest = json.loads(sweep.store.read(name))
        levels = [design.levels(number)[factor.name] for factor in design.factors]
        scenario = parse(manifest["scenario"], f"{sweep.store.url}/{name}")
        found[number] = point(at(names, design.factors, levels), scenario, hosts.of(manifest))
    return found


def where(sweep: SweepTables, points: dict[int, Point], some: Sequence[Point]) -> str:
    """Which of the points some are: how many, and the levels that only they have in common."""
    numbers = [number for number, each in points.items() if any(each is one for one in some)]
    said, names = [], names_of(sweep)
    for place, factor in enumerate(sweep.design.factors):
        here = {sweep.design.points[number][place] for number in numbers}
        all_there_are = {sweep.design.points[number][place] for number in points}
        if here != all_there_are:
            said.append(f"{names[factor.name]} {listed([factor.levels[index].label for index in sorted(here)])}")
    told = f"{len(numbers)} of {plural(len(points), 'point')}"
    return f"{told}: {', '.join(said)}" if said else told


class _Hosts:
    """The host tables that a sweep on this machine keeps with its results, each read once."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._read: dict[str, _core.HostTable] = {}

    def of(self, manifest: Mapping[str, Any]) -> _core.HostTable | None:
        """The host table of a run; None when it had none, or when it is not at hand."""
        sha256 = manifest["inputs"].get("hosts", {}).get("sha256")
        if sha256 is None or self._folder is None or not (self._folder / input_name(sha256)).is_file():
            return None
        if sha256 not in self._read:
            self._read[sha256] = stored_hosts(self._folder, sha256)
        return self._read[sha256]
