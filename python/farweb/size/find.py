"""Finds a size: does the runs that the search asks for, as a sweep does, and leaves a folder like a sweep's.

The folder's design is of the kind `search`: one factor, the values tried as its levels, and their replications. The
manifest has the answer. Runs with results in the folder are not repeated, whichever search did them: an interrupted
search continues, and another target or more confidence adds only the missing runs.
"""

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from farweb.check.check import check
from farweb.check.extent import Extent, extent_of_values
from farweb.errors import FarwebError, ResultsError, RunError
from farweb.inputs.description import Description
from farweb.inputs.tables import open_hosts
from farweb.progress import unseen
from farweb.results.design import Design, Factor, Level
from farweb.results.manifest import has_random_links, repeats_its_requests
from farweb.results.requests import times_of
from farweb.results.run import RunTables
from farweb.results.store import Outcome, Store, part_name
from farweb.size.answer import Answer, answer_of
from farweb.size.log import OfLog, asked_of
from farweb.size.search import Limits, Search
from farweb.size.target import DEFAULT, Target, parse_target
from farweb.size.vary import Axis, parse_vary
from farweb.sweep.inputs import Inputs
from farweb.sweep.limits import RunLimits
from farweb.sweep.plan import Run, run_of
from farweb.sweep.pool import Pool
from farweb.sweep.sweep import RunTable, begin, describe, finish
from farweb.sweep.workers import Workers
from farweb.text.words import plural


@dataclass(frozen=True)
class Progress:
    """Progress of a search.

    Attributes:
        done: Runs that have ended.
        asked: Runs asked for so far. More follow, as a rule.
        low: The largest value that was shown not to meet the target, as far as is known, or None before there is one.
        high: The smallest value that was shown to meet it.
    """

    done: int
    asked: int
    low: str | None
    high: str | None


def extent_of_search(
    scenario: Description,
    vary: str,
    target: str = DEFAULT,
    *,
    largest: bool = False,
    resolution: str | None = None,
    width: str | None = None,
    limits: Limits | None = None,
) -> Extent | None:
    """Estimate the size of the first runs of a search. Later ones depend on their results.

    None without requests. Arguments as in `find_size`.

    Raises:
        TargetError: The target cannot be read.
        VaryError: The range cannot be read or used.
    """
    base, axis, search = _begun(scenario, vary, parse_target(target), largest, resolution, width, limits or Limits())
    asked = search.ask()
    tried = sorted({position for position, _ in asked})
    return extent_of_values(base, [axis.choice(position).changes for position in tried], len(asked))


def find_size(
    scenario: Description,
    vary: str,
    target: str = DEFAULT,
    *,
    largest: bool = False,
    resolution: str | None = None,
    width: str | None = None,
    limits: Limits | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    retries: int = 0,
    run_memory: str | None = None,
    run_time: str | None = None,
    progress: Callable[[Progress], None] = unseen,
) -> Answer:
    """Find the smallest value of a key that meets a target.

    Args:
        scenario: Scenario. Its replications have the seeds `run.seed`, `run.seed` + 1 and so on, at every value.
        vary: A key over a range or a list (``KEY=v1,v2,v3``), or the name of a factor of the scenario's table `[sweep]`
            (see `farweb.size.vary`). Other factors of that table are left out.
        target: Condition to meet: METRIC OP VALUE, joined by `and`, such as ``p50(latency) <= 0.5 s`` (see
            `farweb.size.target`). When left out, latencies are not to be worse than the best (``latency <=
            1.05*best``), by the rule of verdicts.
        largest: Find the largest value instead of the smallest.
        resolution: Step between values, such as ``1 B`` or ``0.1 %`` (default: 1 for whole numbers and packets,
            otherwise 1 %).
        width: Width of the answer's interval to stop at, such as ``5``, ``64 kB`` or ``10 %`` (default: a step).
        limits: Confidence of the answer, and the most runs it may take.
        out: Results folder, or a URL that fsspec knows, such as s3://… (default: ``results/NAME-size`` with the name of
            the scenario file).
        jobs: Runs at a time, a process each (default: as many as cores).
        scheduler: A running Dask cluster instead: tcp://host:port, tls://host:port, or its scheduler file.
        retries: How often a run that failed is tried again.
        run_memory: Memory of a run's process beyond which that run fails, such as ``2 GB`` (default: no limit).
        run_time: Time beyond which a run fails, such as ``10 min`` (default: no limit).
        progress: Called as runs end.

    Raises:
        TargetError: The target cannot be read.
        VaryError: The range cannot be read or used.
        ScenarioError: A value is not allowed.
        WorkloadError: A table of the workload cannot be used.
        ResultsError: There is something else at `out`, or another sweep is at work there.
        RunError: A run failed, or the folder cannot be written to. Finished runs stay.
    """
    limits = limits or Limits()
    of_run = RunLimits.of(run_memory, run_time)
    goal = parse_target(target)
    base, axis, search = _begun(scenario, vary, goal, largest, resolution, width, limits)
    seed: int = scenario.effective["run"]["seed"]
    scenario.with_({"run.seed": seed + max(limits.most, limits.replications) - 1})
    runs = _Runs(base, axis)
    store = Store(Path("results") / f"{scenario.path.stem}-size" if out is None else out)
    _may_search(store)
    with (
        Workers.of(jobs, scheduler) as workers,
        store.claimed(),
        Pool(store, workers, retries=retries, limits=of_run) as pool,
    ):
        _run(search, runs, store, pool, axis, goal, progress)
        if not search.runs:
            raise FarwebError(f"--max-runs {limits.runs}: the first values alone take {len(search.tried)} runs")
        _check_metrics(goal, runs.outcomes.values())
        warnings = [*_left_out(scenario, axis), *_opened_late(base, axis)]
        answer = answer_of(search, axis, goal, limits, scenario.name, warnings, _limits(base, axis))
        tried, design = runs.in_order()
        manifest = _manifest(base, runs.inputs, design, tried, goal, axis, limits)
        manifest["search"]["text"] = answer.text
        manifest["search"]["answer"] = json.loads(json.dumps(answer.to_dict()))
        begin(store, manifest, runs.inputs, design, tried)
        table = RunTable(tried)
        for outcome in runs.outcomes.values():
            table.add(outcome)
        finish(store, manifest, runs.inputs, design, table, pool)
    return answer


def _begun(
    scenario: Description,
    vary: str,
    goal: Target,
    largest: bool,
    resolution: str | None,
    width: str | None,
    limits: Limits,
) -> tuple[Description, Axis, Search]:
    """The scenario, the varied key, and the search before its first question."""
    axis = parse_vary(vary, scenario, resolution, largest, width)
    base = scenario.without_sweep()
    ends = [base.with_(axis.choice(position).changes).effective for position in (0, len(axis) - 1)]
    log = OfLog(limits.confidence) if all(map(repeats_its_requests, ends)) else None
    return base, axis, Search(axis, goal, limits, any(map(has_random_links, ends)), log)


def earlier_search(out: str | Path) -> dict[str, Any] | None:
    """The search with results at `out`, from its manifest: without `answer` if it did not end."""
    found: dict[str, Any] | None = (Store(out).manifest() or {}).get("search")
    return found


def _may_search(store: Store) -> None:
    """Leave the folder of a sweep alone: its manifest and tables would be replaced.

    Raises:
        ResultsError: It is one.
    """
    manifest = store.manifest()
    if manifest is not None and "search" not in manifest:
        raise ResultsError(f"{store.url}: has the results of a sweep; name another folder with --out")


def _run(
    search: Search,
    runs: "_Runs",
    store: Store,
    pool: Pool,
    axis: Axis,
    target: Target,
    progress: Callable[[Progress], None],
) -> None:
    """Do the runs that the search asks for until it asks for none."""
    while asked := search.ask():
        batch: dict[str, list[tuple[int, int]]] = {}
        for position, replication in asked:
            batch.setdefault(runs.add(position, replication).run, []).append((position, replication))
        runs.inputs.write(store)
        design = runs.design()
        manifest = _manifest(runs.base, runs.inputs, design, runs.tried, target, axis, None)
        begin(store, manifest, runs.inputs, design, runs.tried)
        ended = 0
        for outcome in pool.outcomes([runs.by_id[run] for run in batch]):
            runs.outcomes[outcome.run] = outcome
            ended += len(batch[outcome.run])
            progress(_progress(search, axis, ended, len(asked)))
        failed = [run for run in batch if runs.outcomes[run].status == "failed"]
        if failed:
            first = runs.by_id[failed[0]]
            raise RunError(
                f"{len(failed)} of {len(asked)} runs failed, the first with {axis.name} = {first.levels[axis.name]}, "
                f"seed {first.seed}: {runs.outcomes[first.run].error} (the same command tries them again)"
            )
        for position in {position for position, _ in asked}:
            if is_overloaded(runs.scenario(position)):
                search.judge.overloaded.add(position)
        for run, places in batch.items():
            row = {**runs.outcomes[run].metrics, **_shares(store, run, target)}
            for position, replication in places:
                search.add(position, replication, row)
                if search.judge.log is not None and not replication:
                    part = RunTables.open_part(store, part_name(run))
                    search.judge.log.add(position, asked_of(part, [clause.metric for clause in target.clauses]), part)


def is_overloaded(scenario: Description) -> bool:
    """True where the mean load that no cache answers is above the rate of a link."""
    load = check(scenario).offered
    return load is not None and any(each.least_mean_bps > each.rate_bps for each in load.links)


def _shares(store: Store, run: str, target: Target) -> dict[str, float | None]:
    """The shares of a run's requests that were answered within the times of the target."""
    metrics = [clause.metric for clause in target.clauses if clause.metric.within_s is not None]
    times = times_of(store, run) if metrics else None
    return {each.name: times.within(each.within_s) for each in metrics if times and each.within_s}


class _Runs:
    """The runs of a search with their outcomes."""

    def __init__(self, base: Description, axis: Axis) -> None:
        self.base = base
        self.inputs = Inputs()
        self.tried: list[Run] = []
        self.by_id: dict[str, Run] = {}
        self.outcomes: dict[str, Outcome] = {}
        self._axis = axis
        self._points: dict[int, int] = {}
        self._scenarios: dict[int, Description] = {}
        self._seed: int = base.effective["run"]["seed"]

    def add(self, position: int, replication: int) -> Run:
        """A run at a position of the axis."""
        choice = self._axis.choice(position)
        if position not in self._points:
            self._points[position] = len(self._points)
            self._scenarios[position] = self.base.with_(choice.changes)
        run = run_of(
            self._scenarios[position],
            point=self._points[position],
            replication=replication,
            seed=self._seed + replication,
            levels={self._axis.name: choice.value},
            inputs=self.inputs,
        )
        self.tried.append(run)
        self.by_id[run.run] = run
        return run

    def scenario(self, position: int) -> Description:
        """The scenario of a value that was added."""
        return self._scenarios[position]

    def design(self) -> Design:
        """The design of the runs so far, values in the order tried."""
        return self._design(list(self._points))

    def in_order(self) -> tuple[list[Run], Design]:
        """All runs by value and replication, and their design, values from the smallest to the largest."""
        positions = sorted(self._points, reverse=self._axis.downwards)
        places = {self._points[position]: place for place, position in enumerate(positions)}
        runs = [replace(run, point=places[run.point]) for run in self.tried]
        return sorted(runs, key=lambda run: (run.point, run.replication)), self._design(positions)

    def _design(self, positions: Iterable[int]) -> Design:
        choices = [self._axis.choice(position) for position in positions]
        levels = tuple(Level(choice.label, choice.value, choice.number) for choice in choices)
        most = 1 + max((run.replication for run in self.tried), default=0)
        points = tuple((place,) for place in range(len(levels)))
        return Design("search", most, "common", (Factor(self._axis.name, self._axis.unit, levels),), points)


def _manifest(
    base: Description,
    inputs: Inputs,
    design: Design,
    tried: list[Run],
    target: Target,
    axis: Axis,
    limits: Limits | None,
) -> dict[str, Any]:
    search: dict[str, Any] = {"key": axis.name, "target": str(target), "largest": axis.downwards}
    if limits is not None:
        search["confidence"] = limits.confidence
    return {**describe(base, design, inputs, len(tried)), "search": search}


def _check_metrics(target: Target, outcomes: Iterable[Outcome]) -> None:
    """Refuse a metric that no run has, which is no failure to meet the target.

    Raises:
        FarwebError: There is one.
    """
    outcomes = list(outcomes)
    for clause in target.clauses:
        unknown = all(outcome.metrics.get(clause.metric.name) is None for outcome in outcomes)
        if clause.metric.within_s is None and unknown:
            raise FarwebError(f"no run has {clause.metric.name}: {clause.metric.description}")


def _left_out(scenario: Description, axis: Axis) -> list[str]:
    """Warn that other factors of the scenario's own sweep have no part in the answer."""
    factors: Mapping[str, Any] = scenario.effective.get("sweep", {}).get("factors", {})
    others = [name for name in factors if name != axis.name]
    if not others:
        return []
    return [f"factors of [sweep] were not varied: {', '.join(others)}; their keys have the scenario's other values"]


def _opened_late(base: Description, axis: Axis) -> list[str]:
    """Warn that HTTP/2 does not open the connections that are varied until streams run out."""
    found = re.fullmatch(r"leg\.(\d+)\.carrier\.connections", axis.name)
    carrier = base.effective["leg"][int(found[1])]["carrier"] if found else {}
    if carrier.get("kind") != "http/2" or carrier["open_rule"] == "fixed":
        return []
    limit = carrier.get("server", {}).get("session_limit", carrier.get("session_limit"))
    streams = "as many streams as the server allows" if limit is None else f"{limit} streams, the server's limit"
    return [
        f"{axis.name}: with http/2 a second connection opens only when the first has {streams}, so that more change "
        'nothing before; on an inner leg carrier.open_rule = "fixed" opens all when the run begins'
    ]


def _limits(base: Description, axis: Axis) -> list[str]:
    """Limit of a connection of each leg with varied connections, in the words of `farweb check`."""
    found = [
        re.fullmatch(r"leg\.(\d+)\.carrier\.(?:connections|per_host|total)", key) for key in axis.choice(0).changes
    ]
    if not any(found):
        return []
    hosts = base.inputs().get("hosts")
    legs = json.loads(base.complete().check(None if hosts is None else open_hosts(hosts.path)))["legs"]
    said = []
    for number in sorted({int(each[1]) for each in found if each}):
        limit, fill = legs[number]["connection_limit_text"], legs[number]["connections_to_fill"]
        if limit is not None:
            filled = f"; {plural(fill, 'connection')} can fill the link to the clients" if fill else ""
            said.append(f"A connection of leg {number} can carry {limit}{filled}.")
    return said


def _progress(search: Search, axis: Axis, ended: int, asked: int) -> Progress:
    found = search.found()
    low, high = (None if position is None else axis.choice(position).label for position in (found.below, found.answer))
    return Progress(search.runs + ended, search.runs + asked, low, high)
