"""What the points of a sweep mean, from the manifests of their runs."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from farweb import _core
from farweb.report.naming import at, names_of
from farweb.report.points import Point, parse, point
from farweb.report.words import listed, plural
from farweb.results import MANIFEST
from farweb.sweep.results import PARTS, SweepResults


def sweep_points(sweep: SweepResults) -> dict[int, Point]:
    """What each point means that has a finished run, by its number in the design."""
    hosts = _hosts(sweep)
    done = sweep.runs["status"] == "done"
    first: dict[int, str] = {}
    for number, run in zip(sweep.points.filter(done), sweep.runs["run"].filter(done), strict=True):
        first.setdefault(number, run)
    design, names = sweep.design, names_of(sweep)
    found = {}
    for number, run in sorted(first.items()):
        manifest = sweep.path / PARTS / f"run={run}" / MANIFEST
        scenario = json.loads(manifest.read_text("utf-8"))["scenario"]
        levels = [design.levels(number)[factor.name] for factor in design.factors]
        found[number] = point(at(names, design.factors, levels), parse(scenario, str(manifest)), hosts)
    return found


def where(sweep: SweepResults, points: dict[int, Point], some: Sequence[Point]) -> str:
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


def _hosts(sweep: SweepResults) -> _core.HostTable | None:
    """The host table, which a sweep keeps with its results."""
    digest: Any = sweep.manifest["inputs"].get("hosts", {}).get("sha256")
    file: Path = sweep.path / "inputs" / f"{digest}.arrow"
    if not file.is_file():
        return None
    import pyarrow as pa

    with pa.memory_map(str(file)) as source:
        table = pa.ipc.open_file(source).read_all()
        return _core.HostTable.from_columns({name: table.column(name) for name in table.column_names}, file.name)
