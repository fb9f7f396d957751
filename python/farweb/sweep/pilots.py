"""Pilot runs: a few runs of a plan, on workers as the sweep will have them, in a folder that goes afterwards.

They show costs on this machine under its present load: runs with everything written to the disk, side by side on as
many processes, their start and end, and the statistics of the requests.
"""

import time
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from farweb.errors import FarwebError, RunError
from farweb.files.scratch import scratch
from farweb.results.design import Design, spread
from farweb.results.store import Store
from farweb.results.sweep_statistics import compute, of_requests
from farweb.run import Progress
from farweb.sweep.cluster import NO_WORKER, has_ended, local_cluster
from farweb.sweep.estimate import Besides, Measured
from farweb.sweep.inputs import Inputs
from farweb.sweep.plan import Run
from farweb.sweep.pool import result_of, wait_for_one
from farweb.sweep.work import Version, work_batch

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster

_PILOT_S = 2.0  # chosen: five runs at least a worker in the time of all
_PILOTS_S = 10.0  # chosen: as long as one waits for an answer
_RUNS = 16  # replications of a point at most. Chosen: the cost of a batch is little beside so many, however short
_METRICS = 2  # chosen: the time of tables of statistics grows with the number of metrics


@dataclass(frozen=True)
class _Pilot:
    """Outcome of some runs of a point.

    Attributes:
        wall_s: Of a run, or None when they failed, or showed nothing in their time.
        statistics_s: Time for the statistics of a run's requests.
        metrics: Names of the metrics that a run has.
    """

    wall_s: float | None
    statistics_s: float = 0.0
    metrics: tuple[str, ...] = ()


def pilot(design: Design, runs: Sequence[Run], inputs: Inputs, jobs: int, most: int) -> tuple[list[Measured], Besides]:
    """Measure runs at some points, spread over the plan, for about ten seconds at most.

    A run that takes longer than two seconds is stopped, and its time follows from the share of its requests that were
    answered.

    Args:
        design: Of the sweep.
        runs: Runs still to do, at least one.
        inputs: Their tables.
        jobs: Runs at a time.
        most: Points that are tried at most.

    Raises:
        RunError: All workers have died and do not start again.
    """
    of_points: dict[int, list[Run]] = {}
    for run in runs:
        of_points.setdefault(run.point, []).append(run)
    batches = [each[:_RUNS] for each in of_points.values()]
    began = time.perf_counter()
    with scratch("pilot") as folder:
        store = Store(folder)
        inputs.write(store)
        with local_cluster(jobs) as cluster:
            from distributed import Client

            with Client(cluster, set_as_default=False) as client:
                workers = _Workers(cluster, client, store)
                first = workers.warmed_up(batches[0][:1])
                begin_s = time.perf_counter() - began - (first.wall_s or 0.0)
                chosen = [batches[place] for place in spread(len(batches), most)]
                found = list(workers.pilots(chosen, 2 * jobs))
            ended = time.perf_counter()
        begin_s += time.perf_counter() - ended
    known = [(point, each) for point, each in found if each.wall_s is not None]
    whole = [each for _, each in known if each.metrics]
    statistics_s = float(np.mean([each.statistics_s for each in whole])) if whole else 0.0
    tables_s = _tables_s(design, whole[0].metrics) if whole else 0.0
    return [Measured(point, each.wall_s or 0.0) for point, each in known], Besides(begin_s, statistics_s, tables_s)


@dataclass(frozen=True)
class _Workers:
    """Processes for the pilot runs."""

    cluster: "LocalCluster"
    client: "Client"
    store: Store

    def warmed_up(self, runs: list[Run]) -> _Pilot:
        """Let each worker do a run: a process's first one is slower, since libraries are loaded."""
        addresses = self.client.scheduler_info(n_workers=-1)["workers"]
        # One that dies has another address when it starts again.
        futures = [self._submit(runs, workers=[each], allow_other_workers=True) for each in addresses]
        return [self._result(future) for future in futures][-1]

    def pilots(self, batches: Sequence[Sequence[Run]], ahead: int) -> Iterator[tuple[int, _Pilot]]:
        """Outcomes of batches, by point, so many of them under way at a time."""
        from distributed import as_completed

        points: dict[Future[_Pilot], int] = {}
        ended = as_completed(loop=self.client.loop)
        waiting = deque(batches)
        until = time.perf_counter() + _PILOTS_S - _PILOT_S
        while True:
            while waiting and len(points) < ahead and time.perf_counter() < until:
                future = self._submit(waiting[0])
                points[future] = waiting.popleft()[0].point
                ended.add(future)
            if not points:
                return
            wait_for_one(ended, self._check)
            future = next(ended)
            yield points.pop(future), self._result(future)

    def _submit(self, runs: Sequence[Run], **options: Any) -> "Future[_Pilot]":
        return self.client.submit(_try, self.store, Version.here(), runs, pure=False, **options)

    def _result(self, future: "Future[_Pilot]") -> _Pilot:
        """Outcome of a batch, or nothing of one that kills its workers."""
        from distributed import KilledWorker

        try:
            return result_of(future, self._check)
        except KilledWorker:
            return _Pilot(None)

    def _check(self) -> None:
        if has_ended(self.cluster):
            raise RunError(NO_WORKER)


class _Stopped(BaseException):
    """A pilot run has had its time. No handler of errors catches this one."""


def _try(store: Store, version: Version, runs: Sequence[Run]) -> _Pilot:
    """Do runs of a point as a worker does them, and the statistics of their requests."""
    began = time.perf_counter()
    share = 0.0

    def look(now: Progress) -> None:
        nonlocal share
        share = now.ended / now.total if now.total else 0.0
        if time.perf_counter() - began > _PILOT_S:
            raise _Stopped

    try:
        outcomes = work_batch(store, runs, version, "", look)
    except _Stopped:
        return _Pilot((time.perf_counter() - began) / share if share else None)
    except FarwebError:
        return _Pilot(None)
    done = [outcome for outcome in outcomes if outcome.status == "done"]
    if not done:
        return _Pilot(None)
    ended = time.perf_counter()
    of_requests(store, [outcome.run for outcome in done])
    statistics_s = (time.perf_counter() - ended) / len(done)
    return _Pilot((ended - began) / len(outcomes), statistics_s, tuple(done[0].metrics))


def _tables_s(design: Design, metrics: Sequence[str]) -> float:
    """Time of the tables of statistics, for some metrics with random values.

    Made twice: the first time includes loading libraries, once for all metrics.
    """
    random = np.random.default_rng(1)
    shape = (len(design.points), design.replications)
    some = {metric: random.random(shape) for metric in metrics[:_METRICS]}
    times = []
    for _ in range(2):
        began = time.perf_counter()
        compute(design, some, [None] * len(design.points))
        times.append(time.perf_counter() - began)
    first_s, again_s = times
    return max(0.0, first_s - again_s) + again_s * len(metrics) / len(some)
