"""Hands runs to workers, in batches: one run, or enough short ones to make a call worth its cost.

Workers have only enough batches to keep them busy, so memory does not grow with the number of runs. Results are in the
store before a batch ends: finished runs survive any kill. When a worker dies, no run of the batches under way is
blamed: each is done alone later, and is to blame where its process dies again.
"""

import contextlib
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import Self, TypeVar

from farweb.errors import FarwebError, RunError, require_range
from farweb.results.integrity import damages
from farweb.results.store import Outcome, Store, failure_name, part_name
from farweb.sweep.limits import RunLimits
from farweb.sweep.plan import Run
from farweb.sweep.work import BATCH_S, Version, work_batch
from farweb.sweep.workers import NoWorkerError, WorkerDiedError, Workers, first_line

T = TypeVar("T")
R = TypeVar("R")

_AHEAD = 3  # batches a thread. Chosen: who ends one finds the next one there
_BATCH = 64  # runs a batch at most. Chosen: they are described in some 10 kB
_CHUNK = 8  # items of `map` a call. Chosen: the cost of a call is little beside them, and all workers have some
_LOOK_S = 2.0  # how often is seen that workers can answer. Chosen: a scheduler that goes is soon noticed
_READERS = 16  # manifests read at a time from an object store. Chosen: each takes some 50 ms to come
_KILLED = "every worker process that ran it was killed, as systems do when memory runs out"


class Pool:
    """The runs of a sweep on workers, in a `with` block. An error ends the workers: none goes on to write.

    Args:
        store: Where the runs leave their results. Their tables have to be there (`Inputs.write`).
        workers: Who does them.
        retries: How often a run that failed is tried again.
        limits: Limits of a run.

    Attributes:
        damaged: Runs that are done again since their parts were damaged.
    """

    def __init__(self, store: Store, workers: Workers, *, retries: int = 0, limits: RunLimits | None = None) -> None:
        require_range("--retries", retries, 0)
        self.damaged = 0
        self._store, self._workers = store, workers
        self._retries, self._limits, self._version = retries, limits or RunLimits(), Version.here()
        self._finished, self._failed = store.finished(), store.failed()
        self._waiting: deque[Run] = deque()
        self._suspects: list[Run] = []
        self._attempts: Counter[str] = Counter()
        self._open = contextlib.ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.close()
        if kind is not None:
            self._workers.end()

    @property
    def threads(self) -> int:
        """Runs that the workers do at a time, or 0 before there are any."""
        return self._workers.threads

    @property
    def handed_over(self) -> bool:
        """True when no run waits to be given to the workers."""
        return not self._waiting

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """See `Workers.map`. `function` needs only the store."""
        return self._workers.map(function, items, chunk=_CHUNK)

    def outcomes(self, runs: Iterable[Run]) -> Iterator[Outcome]:
        """Outcomes of runs, as they end. Undamaged runs in the store are not simulated again.

        A run that fails is tried again `retries` times, then its failure is written to the store. Runs with the same id
        are simulated once and have one outcome.

        Raises:
            StorageError: The store cannot be written to or read: every run would fail.
            RunError: The workers have another version of farweb, none starts, or the scheduler has gone.
        """
        each = {run.run: run for run in runs}
        self._remove_damaged(each)
        self._waiting.extend(run for run in each.values() if run.run not in self._finished)
        yield from self._stored([run for run in each if run in self._finished])
        try:
            yield from self._made(self._workers)
            if self._suspects:
                self._waiting.extend(self._suspects)
                self._suspects.clear()
                yield from self._made(self._open.enter_context(self._workers.alone()), is_alone=True)
        except NoWorkerError as error:
            if not self._store.finished():
                raise
            kept = f"what is finished stays in {self._store.url}, and the same command goes on from there"
            raise RunError(f"{error}; {kept}") from error

    def _remove_damaged(self, runs: Iterable[str]) -> None:
        """Remove parts with a damaged table, for their runs to be repeated."""
        for run in runs:
            if run in self._finished and any(damages(self._store, part_name(run), full=True)):
                self._store.remove_part(run)
                self._finished.remove(run)
                self.damaged += 1

    def _stored(self, runs: Sequence[str]) -> Iterator[Outcome]:
        if self._store.folder is not None:
            yield from map(self._store.outcome, runs)
            return
        with ThreadPoolExecutor(_READERS) as readers:
            for begin in range(0, len(runs), _READERS * 8):
                yield from readers.map(self._store.outcome, runs[begin : begin + _READERS * 8])

    def _made(self, workers: Workers, is_alone: bool = False) -> Iterator[Outcome]:
        """Outcomes of the waiting runs, in batches as they end, or of one run at a time."""
        flying: dict[Future[list[Outcome]], list[Run]] = {}
        size = 1  # until it is known how long runs take
        while self._waiting or flying:
            while self._waiting and len(flying) < (1 if is_alone else _AHEAD * max(workers.threads, 1)):
                batch = [self._waiting.popleft() for _ in range(min(size, len(self._waiting)))]
                flying[workers.submit(work_batch, self._store, batch, self._version, self._limits)] = batch
            if not wait(flying, _LOOK_S, FIRST_COMPLETED).done:
                workers.require_there()
            for future in [future for future in flying if future.done()]:
                batch = flying.pop(future)
                outcomes = self._answered(workers, future, batch, is_alone)
                if outcomes is not None:
                    size = size if is_alone else _size(outcomes) or size
                    yield from self._settled(batch, outcomes)

    def _answered(
        self, workers: Workers, future: "Future[list[Outcome]]", batch: Sequence[Run], is_alone: bool
    ) -> list[Outcome] | None:
        """Outcomes of a batch that has ended, or None when a worker died and its runs are suspects."""
        try:
            return workers.result(future)
        except WorkerDiedError:
            if is_alone:
                return [Outcome(batch[0].run, "failed", _KILLED)]
            self._suspects += batch
            return None
        except FarwebError:
            raise
        except Exception as error:
            raise RunError(f"a worker cannot do runs: {first_line(error)}") from error

    def _settled(self, batch: Sequence[Run], outcomes: Sequence[Outcome]) -> Iterator[Outcome]:
        """Outcomes of a batch, except of runs to be tried again."""
        self._waiting.extendleft(reversed(batch[len(outcomes) :]))  # which its time was too short for
        for run, outcome in zip(batch, outcomes, strict=False):
            self._attempts[run.run] += 1
            if outcome.status == "failed" and outcome.error != _KILLED and self._attempts[run.run] <= self._retries:
                self._waiting.append(run)
            else:
                self._keep(run, outcome)
                yield outcome

    def _keep(self, run: Run, outcome: Outcome) -> None:
        """Keep the store's failures true: one for each failed run, none for others."""
        if outcome.status == "done":
            self._finished.add(run.run)
            if run.run in self._failed:
                self._failed.remove(run.run)
                self._store.remove(failure_name(run.run))
            return
        self._failed.add(run.run)
        failure = {"error": outcome.error, "attempts": self._attempts[run.run]}
        self._store.write_json(
            failure_name(run.run),
            {"run": run.run, **failure, "point": run.point, "replication": run.replication, "seed": run.seed},
        )


def _size(outcomes: Sequence[Outcome]) -> int:
    """Runs that take `BATCH_S` when they take as long as these, or 0 if none of these was simulated."""
    walls_s = [outcome.wall_s for outcome in outcomes if outcome.worker]
    return min(max(int(BATCH_S * len(walls_s) / max(sum(walls_s), 1e-6)), 1), _BATCH) if walls_s else 0
