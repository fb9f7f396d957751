"""Sweeps made by hand, with known content: a folder as a sweep leaves it, complete or not."""

import hashlib
import itertools
import json
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from farweb.library.run_results import Results
from farweb.library.sweep_results import SweepResults
from farweb.results.design import Design, Factor, Kind, Level
from farweb.results.measure import measure
from farweb.results.metrics import METRICS, metrics_of
from farweb.results.sweep_schema import to_table, write_table
from sample_results import SECOND, Row, leg, measured_leg, write_results

Levels = Mapping[str, Any]
LINKS = [metric.name for part in ("link_0_up", "link_0_down") for metric in metrics_of(part).values()]
LEGS = [metric.name for metric in metrics_of("leg_0").values()]


def factor(name: str, values: Sequence[str | int | float | bool], unit: str = "") -> Factor:
    """A factor with these levels; numbers have a place on an axis, texts have none."""
    levels = [Level(f"{value}", value, None if isinstance(value, str | bool) else float(value)) for value in values]
    return Factor(name, unit, tuple(levels))


def design_of(
    factors: Sequence[Factor] | Mapping[str, Sequence[Any]],
    replications: int = 5,
    *,
    kind: Kind = "full-factorial",
    points: Sequence[Sequence[int]] | None = None,
) -> Design:
    """A design with common random numbers; its points are all combinations unless given."""
    if isinstance(factors, Mapping):
        factors = [factor(name, values) for name, values in factors.items()]
    if points is None:
        points = list(itertools.product(*(range(len(each.levels)) for each in factors)))
    return Design(kind, replications, "common", tuple(factors), tuple(map(tuple, points)))


def write_sweep(
    path: Path,
    design: Design,
    metrics: Callable[[Levels, int], Row] | None = None,
    requests: Callable[[Levels, int], Sequence[Row]] | None = None,
    *,
    name: str = "by hand",
    seed: int = 1,
    warmup_ns: int = 0,
    failed: Mapping[tuple[int, int], str] | None = None,
    missing: Collection[tuple[int, int]] = (),
    repeats: Mapping[int, int] | None = None,
    caches: Sequence[Row] = (),
) -> SweepResults:
    """Write the folder of a sweep and open it.

    Args:
        path: The folder, which is made.
        design: Factors, points and replications.
        metrics: From levels by factor and the replication, the metrics that are given; the others are measured from the
            requests, or zero.
        requests: From the same, the rows of the part's table of requests (see `sample_results.request`).
        name: Of the sweep.
        seed: Of replication 0; the others follow.
        warmup_ns: `run.warmup` of all runs.
        failed: Runs that failed with their error, by point and replication.
        missing: Runs that have not ended, by point and replication; with any, the sweep is not complete.
        repeats: How many replications points have that were run less often than others, as a search for a size does.
        caches: Of the scenario.
    """
    path.mkdir(parents=True)
    failed = failed or {}
    rows: list[dict[str, Any]] = []
    timings: list[Row] = []
    for point, replication in itertools.product(range(len(design.points)), range(design.replications)):
        if (point, replication) in missing or replication >= (repeats or {}).get(point, design.replications):
            continue
        levels = {name: level.value for name, level in design.levels(point).items()}
        run = hashlib.sha256(json.dumps([name, levels, replication]).encode()).hexdigest()[:16]
        row: dict[str, Any] = {"run": run, **levels, "replication": replication, "seed": seed + replication}
        if error := failed.get((point, replication)):
            rows.append({**row, "status": "failed", "error": error})
            failure = {"run": run, "point": point, "replication": replication, "seed": seed + replication}
            _write_json(path / "failures" / f"{run}.json", {**failure, "error": error, "attempts": 1})
            continue
        part = _write_part(
            path / "parts" / f"run={run}", requests(levels, replication) if requests else (), row["seed"], warmup_ns
        )
        found: dict[str, Any] = {**(measure(part) if requests else dict.fromkeys([*METRICS, *LINKS, *LEGS], 0))}
        found |= metrics(levels, replication) if metrics else {}
        manifest = {**part.manifest, "run": run, "point": point, "replication": replication, "metrics": found}
        _write_json(part.path / "manifest.json", manifest)
        rows.append({**row, "status": "done", "error": None, **found})
        timings.append(
            {"run": run, "wall_s": 0.5, "cpu_s": 0.4, "events": 1000, "packet_hops": 500, "worker": "worker 1"}
        )
    if not missing:
        write_table(to_table("runs", design, rows), path / "runs.parquet")
        write_table(to_table("timings", design, timings), path / "timings.parquet")
    manifest = {
        "kind": "farweb sweep",
        "version": "0.1.0",
        "result_version": 1,
        "name": name,
        "seed": seed,
        "scenario": {**SCENARIO, "cache": list(caches)},
        "design": design_dict(design),
        "inputs": {},
        "runs": len(design.points) * design.replications,
        "complete": not missing,
    }
    _write_json(path / "manifest.json", manifest)
    return SweepResults.open(path)


_DIRECTION = {"rate": "34.368 Mbit/s", "delay": "60 ms", "queue": "256000 B"}
SCENARIO = {
    "name": "by hand",
    "run": {"warmup": "0 s", "seed": 1},
    "path": {"nodes": ["client", "server"], "link": [{"up": _DIRECTION, "down": _DIRECTION}]},
}


def _write_part(folder: Path, requests: Sequence[Row], seed: int, warmup_ns: int) -> Results:
    """A run of 60 s, measured from the warm-up to its end."""
    part = write_results(folder, requests, seed=seed, warmup_ns=warmup_ns, scenario=[leg()])
    links = [{**link, "interval_ns": max(0, 60 * SECOND - warmup_ns)} for link in part.manifest["links"]]
    part.manifest["measured"] |= {"from_ns": warmup_ns, "to_ns": 60 * SECOND, "links": links}
    part.manifest["measured"] |= {"legs": [measured_leg(0)]}
    return part


def design_dict(design: Design) -> dict[str, Any]:
    """A design as manifests write it."""
    return {
        "kind": design.kind,
        "replications": design.replications,
        "random_numbers": design.random_numbers,
        "factors": [
            {"name": each.name, "unit": each.unit, "levels": [vars(level) for level in each.levels]}
            for each in design.factors
        ],
        "points": [list(point) for point in design.points],
    }


def _write_json(path: Path, value: Mapping[str, Any]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value))
