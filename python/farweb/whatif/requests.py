"""The requests of a log or of a scenario under changes: a sweep with a level a change, judged by the same requests."""

import functools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pyarrow.parquet as pq

from farweb.check.check import explained
from farweb.check.extent import Extent, core_check
from farweb.errors import RunError
from farweb.files.columns import NULL_ID, arrow_schema, to_arrow
from farweb.files.scratch import scratch
from farweb.inputs.description import Description
from farweb.inputs.prepared import Prepared
from farweb.inputs.tables import REQUESTS, open_requests
from farweb.judge.judged import Matched, matched, verdict_of
from farweb.judge.judgement import Verdict, held_by
from farweb.judge.pairs import Pairs, pair, read_once
from farweb.judge.sentences import holders
from farweb.pages.weather import SEEDS, check_seeds, is_drawn
from farweb.progress import Progress, unseen
from farweb.results.groups import VISIT_LABELS
from farweb.results.sweep import SweepTables
from farweb.sweep.sweep import Progress as SweepProgress
from farweb.sweep.sweep import run_sweep
from farweb.sweep.workers import Workers
from farweb.whatif.answer import Effect, WhatIf, are_disputed, helping, ranked
from farweb.whatif.changes import EDGE, WHOLE_EDGE, Base, Change, Level, levels_of, together

_FACTOR = "change"
_AS_IT_IS = "as it is"
_RECORD = {"connections": False, "exchanges": False}
_HITS = "The edge keeps all that passes, and a changed size is a miss."


def of_requests(
    scenario: Description,
    out: str,
    where: str,
    *,
    seeds: int | None = None,
    jobs: int | None = None,
    limits: bool = True,
    progress: Progress = unseen,
) -> WhatIf:
    """Simulate a scenario under each change, then under the best ones together.

    Args:
        scenario: The unchanged scenario. Of a sweep of its own only the number of seeds counts.
        out: Folder of the sweep. Runs that are there are not repeated.
        where: Name of the log or scenario, and its path.
        seeds: Seeds of each change, from `run.seed` on (default: the sweep's where it has several, or else five where
            the path has chance).
        jobs: Runs at a time (default: as many as cores).
        limits: False to accept runs however large they are estimated to become.
        progress: Called as runs end.

    Raises:
        WorkloadError: A table of the workload cannot be used.
        ResultsError: There is something else at `out`.
        RunError: A run failed, or the folder cannot be written to. Finished runs stay.
        FarwebError: The runs are estimated to become larger than a limit, or no seed makes a difference and several
            are asked for.
    """
    bare = scenario.without_sweep().with_({"record": _RECORD})
    has_own_requests = _is_drawn(bare.effective["workload"])
    check_seeds(seeds, *(() if has_own_requests else (bare.effective,)))
    usual = SEEDS if is_drawn(bare.effective) else 1
    of_sweep = scenario.effective.get("sweep", {}).get("replications", 1)
    seeds = seeds or (of_sweep if of_sweep > 1 else usual)
    with scratch() as folder:
        edge = EDGE if _has_objects(bare) else WHOLE_EDGE
        base = Base(bare.complete(), _halved(bare, folder / "half-server-time.parquet"), edge)
        levels, left = levels_of(base)
        with Prepared.of(bare, may_lack=True) as prepared:
            known = core_check(bare, prepared)
            checked = explained(bare, prepared, known)
            extent = Extent.of([known], seeds * (1 + len(levels)))
        if limits and extent is not None:
            extent.require_allowed(scenario)

        def on_progress(now: SweepProgress) -> None:
            ended = now.done + now.failed
            progress(ended, now.total, f"{ended:,} of {now.total:,} runs")

        with Workers(jobs) as workers:
            run = functools.partial(run_sweep, out=out, workers=workers, progress=on_progress)
            alone = _Judge(run(_sweep(bare, base, levels, seeds)), len(levels))
            effects = [
                replace(alone.effect(level.changes, point), hits=alone.hits(level, base))
                for point, level in enumerate(levels, 1)
            ]
            combined = []
            if best := together(base, helping(effects)):
                both = _Judge(run(_sweep(bare, base, [*levels, *best], seeds)), len(best))
                combined = [both.effect(level.changes, point) for point, level in enumerate(best, 1 + len(levels))]
    first_s, later_s, overall_s = alone.means()
    return WhatIf(
        f"{where}: {_served(base)}",
        first_s,
        later_s,
        overall_s,
        ranked(effects),
        combined,
        left,
        ("a visit's first request", "a later one", "a request"),
        next((each.sure for each in alone.verdicts), "interval"),
        " ".join((*alone.held, *([_HITS] if any(each.hits is not None for each in effects) else []))),
        out,
        warned=checked.warned,
    )


def _is_drawn(workload: Mapping[str, Any]) -> bool:
    """True where another seed has other requests."""
    return "family" in workload or "resample" in workload or "{seed}" in str(workload.get("requests"))


def _has_objects(scenario: Description) -> bool:
    """True where requests name what they ask for."""
    table = scenario.inputs().get("requests")
    if table is None:
        return bool(scenario.effective["workload"].get("family") == "prowgen")
    with open_requests(table.path) as requests:
        return any(bool((np.asarray(columns["object"]) != NULL_ID).any()) for columns in requests.core)


def _sweep(scenario: Description, base: Base, levels: Sequence[Level], seeds: int) -> Description:
    """The scenario with a sweep over its levels, the first one unchanged."""
    named = [{"level": level.name or _AS_IT_IS, "set": _set(level.base)} for level in (Level((), base), *levels)]
    return scenario.with_({"sweep": {"replications": seeds, "factors": {_FACTOR: named}}})


def _set(base: Base) -> dict[str, Any]:
    """The part of a scenario that changes touch, whole: all levels of a factor set the same keys."""
    effective = base.effective
    found = {
        "path.nodes": effective["path"]["nodes"],
        "path.link": effective["path"]["link"],
        "leg": effective["leg"],
        "cache": effective.get("cache", []),
    }
    requests = effective["workload"].get("requests")
    return found if requests is None else {**found, "workload.requests": requests}


def _halved(scenario: Description, to: Path) -> str | None:
    """Write the request table with half of the servers' time. None where it has none, or there is no one table."""
    table = scenario.inputs().get("requests")
    is_one = "{seed}" not in str(scenario.effective["workload"].get("requests"))
    if table is None or not is_one or scenario.effective["origin"]["release"] == "at-once":
        return None
    found, schema = False, arrow_schema(REQUESTS, {})
    with open_requests(table.path) as requests, pq.ParquetWriter(to, schema, compression="zstd") as writer:
        for columns in requests.core:
            server, wait = (np.asarray(columns[name]) / 2 for name in ("server_s", "wait_s"))
            found = found or bool(np.nansum(server))
            writer.write(to_arrow({**columns, "server_s": server, "wait_s": wait}, schema))
    return str(to) if found else None


def _served(base: Base) -> str:
    """The protocols of the first leg."""
    leg = base.effective["leg"][0]
    tls = f"TLS {leg['tls']['version']}" if "tls" in leg else "no TLS"
    return f"{leg['carrier']['kind'].upper()}, {tls}"


class _Judge:
    """Judges points of a sweep against its first one, the unchanged scenario.

    Args:
        sweep: The sweep.
        number: How many points are judged together.

    Raises:
        RunError: A run failed.
    """

    def __init__(self, sweep: SweepTables, number: int) -> None:
        failed = sweep.runs.filter(sweep.runs["status"] == "failed")
        if len(failed):
            first = failed.row(0, named=True)
            raise RunError(
                f"{len(failed)} of {len(sweep.runs)} runs failed, the first with {first[_FACTOR]}: {first['error']} "
                "(the same command tries them again)"
            )
        self._sweep, self._number = sweep, number
        self._part, self._read = functools.cache(sweep.part), read_once()
        self.verdicts: list[Verdict] = []

    def effect(self, changes: tuple[Change, ...], point: int) -> Effect:
        """The effect of the changes of a point."""
        runs = matched(self._sweep, [0], [point], [0], self._part, "--seeds 5 includes their chance")
        pairs = self._pairs(runs)
        verdict, _ = verdict_of(pairs, runs, (_AS_IT_IS, "changed"), together=self._number)
        self.verdicts.append(verdict)
        everyone, groups = verdict.slices[0], dict(verdict.groups)
        first, later = (groups[label].difference_s if label in groups else None for label in VISIT_LABELS.values())
        is_sure = everyone.moved(verdict.margin) < 0 if verdict.few is None else verdict.overall.endswith("better")
        difference, word = everyone.difference_s, verdict.overall
        if are_disputed(np.array([_ratio(each) for each in pairs])):
            word, is_sure = "cannot be told apart", False
        return Effect(changes, first, later, difference, everyone.faster, word, verdict.alone, is_sure)

    @property
    def held(self) -> list[str]:
        """Requests that the verdicts hold for, and the few that hold most of the waiting."""
        few = next((held for each in self.verdicts if (held := holders(each))), [])
        return [held_by(self.verdicts), *(f"{each}." for each in few)]

    def means(self) -> tuple[float | None, float | None, float]:
        """Mean latencies, unchanged, in s: of first requests, of later ones, of all."""
        pairs = self._pairs(matched(self._sweep, [0], [0], [0], self._part))
        visits = ([each.of_visits(place) for each in pairs] for place in (0, 1))
        times = [np.concatenate([each.base for each in of]) for of in (*visits, pairs)]
        ended = [each[np.isfinite(each)] for each in times]
        first, later, overall = (float(each.mean()) if each.size else None for each in ended)
        return first, later, overall or 0.0

    def hits(self, level: Level, base: Base) -> float | None:
        """The hit ratio of a live cache that a level adds behind those of the base, over all seeds."""
        before, caches = (each.effective.get("cache", []) for each in (base, level.base))
        if not caches or caches[:-1] != before or "policy" not in caches[-1]:
            return None
        runs = self._sweep.runs.filter(pl.col(_FACTOR) == level.name)
        return float(np.mean(runs[f"cache_{len(before)}_hit_ratio"].to_numpy()))

    def _pairs(self, runs: Matched) -> list[Pairs]:
        both = zip(runs.base, runs.other, strict=True)
        return [pair(*each, pl.lit(True), self._read) for each in both]


def _ratio(pairs: Pairs) -> float:
    """The sum of waiting with a change over that without it, of requests that both answer."""
    ended = np.isfinite(pairs.base) & np.isfinite(pairs.other)
    base = pairs.base[ended].sum()
    return float(pairs.other[ended].sum() / base) if base > 0 else 1.0
