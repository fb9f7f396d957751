"""Runs on Dask: a local cluster with a process a core, or any cluster that is already there.

A future is a batch of runs: one, or enough short ones to make it worth its cost. The scheduler has only enough of them
to keep its workers busy, so memory does not grow with the number of runs. Results are in the store before a future
ends: finished runs survive any kill.
"""

import contextlib
import functools
import itertools
import time
import uuid
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, TypeVar

from farweb.errors import FarwebError, RunError
from farweb.results.integrity import damages
from farweb.results.store import Outcome, Store, failure_name, part_name
from farweb.sweep.cluster import NO_WORKER, cores, has_ended, local_cluster, quiet
from farweb.sweep.limits import RunLimits
from farweb.sweep.plan import Run
from farweb.sweep.work import BATCH_S, Version, work_batch

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster, as_completed

T = TypeVar("T")
R = TypeVar("R")

_AHEAD = 16  # futures a thread. Chosen: who ends one finds the next one there, even if runs take milliseconds
_BATCH = 64  # runs a future at most. Chosen: they are described in some 10 kB
_MOMENT_S = 0.2  # chosen: the longest acceptable pause of the progress bar
_LOST = 5  # times that an outcome may be lost. Chosen: workers rarely die at all
_CHUNK = 8  # items of `map` a future. Chosen: the cost of a future is little beside them, and all workers have some
_COUNTED_S = 2.0  # how often workers are counted, which asks the scheduler. Chosen: new ones get work at once
_CONNECT_S = 10  # chosen: longer than a busy scheduler needs to answer
_READERS = 16  # manifests read at a time from an object store. Chosen: each takes some 50 ms to come


class Pool:
    """Workers for the runs of a sweep. Use it in a `with` block. Dask starts with the first run.

    Args:
        store: Where the runs leave their results. Their tables have to be there (`Inputs.write`).
        jobs: Processes of a local cluster (default: as many as cores).
        scheduler: Address of a Dask scheduler (`tls://…`, `tcp://…`), path of its scheduler file, or a cluster.
        retries: How often a run that failed is tried again.
        limits: Limits of a run.
    """

    def __init__(
        self,
        store: Store,
        *,
        jobs: int | None = None,
        scheduler: "str | LocalCluster | None" = None,
        retries: int = 0,
        limits: RunLimits | None = None,
    ) -> None:
        self._store = store
        self._jobs = jobs or cores()
        self._scheduler = scheduler
        self._retries = retries
        self._limits = limits or RunLimits()
        self._version = Version.here()
        self._name = uuid.uuid4().hex[:8]  # other sweeps at the same scheduler have tasks of other names
        self._numbers = itertools.count()
        self._client: Client | None = None
        self._cluster: LocalCluster | None = None
        self._open = contextlib.ExitStack()
        self._threads = 0
        self._counted = float("-inf")
        self._flight: _Flight | None = None
        self._finished: set[str] = set()
        self._damaged = 0
        self._failed: set[str] = set()

    def __enter__(self) -> "Pool":
        self._finished = self._store.finished()
        self._failed = self._store.failed()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):  # a cluster that cannot say that it ends: its runs are in the store
            self._open.close()
        self._client = None

    @property
    def threads(self) -> int:
        """Runs that the workers do at a time, as last counted, or 0 before there are any."""
        return self._threads

    @property
    def damaged(self) -> int:
        """Runs that are done again since their parts were damaged."""
        return self._damaged

    @property
    def handed_over(self) -> bool:
        """True when no run waits to be given to the workers."""
        return self._flight is None or self._flight.handed_over

    def outcomes(self, runs: Iterable[Run]) -> Iterator[Outcome]:
        """Outcomes of runs, as they end. Undamaged runs in the store are not simulated again.

        A run that fails is tried again `retries` times, then its failure is written to the store. Runs with the same id
        are simulated once and have one outcome.

        Raises:
            StorageError: The store cannot be written to or read: every run would fail.
            RunError: The workers have another version of farweb, or the scheduler has gone before the last run ended.
        """
        each = {run.run: run for run in runs}.values()
        self._remove_damaged(run.run for run in each)
        missing = {run.run: run for run in each if run.run not in self._finished}
        yield from self._stored([run for run in each if run.run in self._finished])
        if missing:
            self._flight = _Flight(self, list(missing.values()), self._retries)
            try:
                for outcome in self._flight.outcomes():
                    del missing[outcome.run]
                    yield outcome
            except Exception:
                if not missing.keys() <= self._store.finished():
                    raise
                yield from self._stored(list(missing.values()))  # the cluster went after its last run
            finally:
                self._flight.cancel()

    def _remove_damaged(self, runs: Iterable[str]) -> None:
        """Remove parts with a damaged table, for their runs to be repeated."""
        for run in runs:
            if run in self._finished and any(damages(self._store, part_name(run), full=True)):
                self._store.remove_part(run)
                self._finished.remove(run)
                self._damaged += 1

    def _stored(self, runs: list[Run]) -> Iterator[Outcome]:
        if self._store.folder is not None:
            yield from (self._store.outcome(run.run) for run in runs)
            return
        with ThreadPoolExecutor(_READERS) as readers:
            for begin in range(0, len(runs), _READERS * 8):
                yield from readers.map(lambda run: self._store.outcome(run.run), runs[begin : begin + _READERS * 8])

    def map(self, function: Callable[[T], R], items: Iterable[T]) -> Iterator[R]:
        """As the built-in `map`, on the workers if there are any. `function` needs only the store."""
        if self._client is None or self._client.status != "running":
            return map(function, items)
        each = list(items)
        chunks = [each[begin : begin + _CHUNK] for begin in range(0, len(each), _CHUNK)]
        futures = [self._client.submit(_map, function, chunk, pure=False, priority=1) for chunk in chunks]
        return self._mapped(function, chunks, futures)

    def _mapped(
        self, function: Callable[[T], R], chunks: list[list[T]], futures: "list[Future[list[R]]]"
    ) -> Iterator[R]:
        """Results of chunks. This process computes those that workers lose."""
        for chunk, future in zip(chunks, futures, strict=True):
            try:
                results = result_of(future, self.check_workers)
            except Exception:
                results = _map(function, chunk)
            future.release()  # its result need not stay with the worker
            yield from results

    def settle(self, run: Run, outcome: Outcome, attempts: int) -> None:
        """Keep the store's failures true: one for each failed run, none for others."""
        if outcome.status == "done":
            self._finished.add(run.run)
            if run.run in self._failed:
                self._failed.remove(run.run)
                self._store.remove(failure_name(run.run))
            return
        self._failed.add(run.run)
        failure = {"error": outcome.error, "attempts": attempts}
        self._store.write_json(
            failure_name(run.run),
            {"run": run.run, **failure, "point": run.point, "replication": run.replication, "seed": run.seed},
        )

    def room(self) -> int:
        """How many futures may be with the scheduler now."""
        if time.monotonic() - self._counted > _COUNTED_S:
            self._counted = time.monotonic()
            self._threads = sum(self.client.nthreads().values())
        return _AHEAD * max(self._threads, 1)

    def submit(self, batches: Sequence[Sequence[Run]]) -> "list[Future[list[Outcome]]]":
        """Hand batches of runs to the scheduler."""
        # Keys are tuples: Dask takes all batches for one group of tasks.
        keys = [(f"farweb-{self._name}", next(self._numbers)) for _ in batches]
        task = functools.partial(_task, self._store, self._version, self._limits)
        futures: list[Future[list[Outcome]]] = self.client.map(task, batches, key=keys, pure=False)
        return futures

    @property
    def client(self) -> "Client":
        """The connection to the scheduler, made when it is first needed.

        Raises:
            RunError: There is no scheduler at this address.
        """
        if self._client is None:
            quiet()
            if isinstance(self._scheduler, str):
                self._client = self._remote(self._scheduler)
            else:
                self._cluster = self._scheduler or self._open.enter_context(local_cluster(self._jobs))
                self._client = self._local(self._cluster)
        return self._client

    def _local(self, cluster: "LocalCluster") -> "Client":
        from distributed import Client

        client: Client = self._open.enter_context(Client(cluster, set_as_default=False))
        return client

    def _remote(self, scheduler: str) -> "Client":
        from distributed import Client

        where: dict[str, Any] = {"address": scheduler} if "://" in scheduler else {"scheduler_file": scheduler}
        if "scheduler_file" in where and not Path(scheduler).is_file():
            raise RunError(
                f"{scheduler}: no such file; name a scheduler's address (tcp://host:port) or its scheduler file"
            )
        if scheduler.startswith("tls://"):
            _check_certificates(scheduler)
        try:
            client: Client = self._open.enter_context(Client(**where, timeout=_CONNECT_S, set_as_default=False))
        except (OSError, ValueError, TimeoutError) as error:
            raise RunError(f"no Dask scheduler answers at {scheduler}: {_first_line(error)}") from None
        return client

    def check_workers(self) -> None:
        """See that runs can go on.

        Raises:
            RunError: All workers of this machine have died and do not start again.
        """
        if self._cluster is not None and has_ended(self._cluster):
            raise RunError(
                f"{NO_WORKER}; what is finished stays in {self._store.url}, and the same command goes on from there"
            )

    def gone(self) -> RunError:
        """Message for a scheduler that has gone."""
        where = self._scheduler if isinstance(self._scheduler, str) else "of this machine"
        return RunError(
            f"the Dask scheduler {where} has gone; what is finished stays in {self._store.url}, and the same command "
            "goes on from there"
        )


def _check_certificates(scheduler: str) -> None:
    """Check that Dask's configuration has the certificates of a scheduler behind TLS.

    Raises:
        RunError: It names no certificates, or files that cannot be read.
    """
    from distributed.security import Security

    keys = "distributed.comm.tls.ca-file, client.cert and client.key"
    try:
        if Security().get_connection_args("client")["ssl_context"] is not None:
            return
    except OSError as error:
        raise RunError(f"{scheduler}: the certificates that Dask's configuration names ({keys}): {error}") from None
    raise RunError(f"{scheduler}: needs certificates, which Dask's configuration does not name ({keys})")


def result_of(future: "Future[T]", check: Callable[[], None]) -> T:
    """The result of a future. Until then `check` is called now and then, and may raise.

    It is asked for once, without a limit: Dask's `result` that has run out of its time takes another one's answer along
    (`Client._gather` cancels what both wait for, and `sync` returns nothing).
    """
    while not future.done():
        try:
            future.exception(_COUNTED_S)
        except TimeoutError:
            check()
    result: T = future.result()
    return result


def wait_for_one(ended: "as_completed", check: Callable[[], None]) -> None:
    """Wait until one of several futures has ended. Meanwhile `check` is called now and then, and may raise."""
    while not ended.has_ready():
        check()
        with ended.thread_condition:
            ended.thread_condition.wait(_MOMENT_S / 2)


class _Flight:
    """Some runs on their way through a pool."""

    def __init__(self, pool: Pool, runs: list[Run], retries: int) -> None:
        self._pool = pool
        self._retries = retries
        self._waiting = deque(runs)
        self._batch = 1
        self._suspects: list[Run] = []
        self._attempts: Counter[str] = Counter()
        self._futures: dict[Future[list[Outcome]], Sequence[Run]] = {}
        from distributed import as_completed

        self._ended = as_completed(loop=pool.client.loop, raise_errors=False)

    @property
    def handed_over(self) -> bool:
        """True when no run waits to be given to the workers."""
        return not self._waiting

    def outcomes(self) -> Iterator[Outcome]:
        while self._fill():
            yield from self._next()
        # Dask blames all runs that a worker had when it died. Alone with its worker, a run is to blame by itself.
        for run in self._suspects:
            self._submit([[run]])
            while self._futures:
                yield from self._next(alone=True)

    def _fill(self) -> bool:
        """Hand over as many runs as there is room for. True while any are in flight."""
        batches = []
        for _ in range(min(self._pool.room() - len(self._futures), len(self._waiting))):
            batches.append([self._waiting.popleft() for _ in range(min(self._batch, len(self._waiting)))])
        self._submit([batch for batch in batches if batch])
        return bool(self._futures)

    def _submit(self, batches: list[list[Run]]) -> None:
        if not batches:
            return
        futures = self._pool.submit(batches)
        self._futures.update(zip(futures, batches, strict=True))
        self._ended.update(futures)

    def _next(self, alone: bool = False) -> Iterator[Outcome]:
        """Wait for runs to end and give their outcomes, except of those to be tried again."""
        futures = self._some()
        found = self._results([future for future in futures if future.status == "finished"])
        again: list[Run] = []
        for future in futures:
            runs = self._futures.pop(future)
            if future not in found and future.status != "error":
                # Its outcomes were lost with their worker, but the store may have them.
                self._attempts.update(run.run for run in runs)
                if self._attempts[runs[0].run] > self._retries + _LOST:
                    raise RunError("what workers send back does not arrive; are their packages of the same versions?")
                again += runs
                continue
            outcomes = found[future] if future in found else self._blame(future, runs, alone)
            future.release()
            if outcomes is None:
                self._suspects += runs
                continue
            self._waiting.extendleft(reversed(runs[len(outcomes) :]))  # which its time was too short for
            for run, outcome in zip(runs, outcomes, strict=False):
                self._attempts[run.run] += 1
                if outcome.status == "failed" and outcome.error != _KILLED and self._attempts[run.run] <= self._retries:
                    again.append(run)
                else:
                    self._pool.settle(run, outcome, self._attempts[run.run])
                    yield outcome
        self._size([outcome.wall_s for outcomes in found.values() for outcome in outcomes if outcome.worker])
        self._submit([[run] for run in again])

    def _size(self, walls_s: list[float]) -> None:
        """Let batches be of as many runs as take `BATCH_S` when they take as long as the last ones did."""
        if walls_s:
            self._batch = min(max(int(BATCH_S * len(walls_s) / max(sum(walls_s), 1e-6)), 1), _BATCH)

    def _some(self) -> "list[Future[list[Outcome]]]":
        """Futures that have ended: half of those under way, or as many as end in a moment. Together they cost less."""
        wait_for_one(self._ended, self._pool.check_workers)
        ended = [next(self._ended)]
        until = time.monotonic() + _MOMENT_S
        while 2 * len(ended) < len(self._futures) and time.monotonic() < until:
            time.sleep(_MOMENT_S / 20)
            ended += self._ended.next_batch(block=False)
        return ended

    def _results(self, futures: "list[Future[list[Outcome]]]") -> "dict[Future[list[Outcome]], list[Outcome]]":
        """Values of finished futures, as far as it is still there.

        Raises:
            RunError: The scheduler has gone.
        """
        client = self._pool.client
        found = {}
        try:
            found = dict(zip(futures, client.gather(futures), strict=True))
        except Exception:  # a worker has gone since, or the scheduler
            for future in futures:
                with contextlib.suppress(Exception):
                    found[future] = future.result(_CONNECT_S)
        if client.status != "running":
            raise self._pool.gone()
        return found

    def _blame(self, future: "Future[list[Outcome]]", runs: Sequence[Run], alone: bool) -> list[Outcome] | None:
        """Outcomes of runs that ended in an error, or None when workers died that had them among others."""
        from distributed import KilledWorker

        error = future.exception()
        if isinstance(error, KilledWorker):
            return [Outcome(run.run, "failed", _KILLED) for run in runs] if alone else None
        if isinstance(error, FarwebError):
            raise error
        raise RunError(f"a worker cannot do runs: {_first_line(error)}") from error

    def cancel(self) -> None:
        """Take back unfinished futures."""
        if self._futures:
            with contextlib.suppress(Exception):  # the scheduler may have gone, and with it what there is to cancel
                self._pool.client.cancel(list(self._futures))
        self._futures.clear()


_KILLED = "every worker process that ran it was killed, as systems do when memory runs out"


def _map(function: Callable[[T], R], items: Sequence[T]) -> list[R]:
    return [function(item) for item in items]


def _task(store: Store, version: Version, limits: RunLimits, runs: Sequence[Run]) -> list[Outcome]:
    from distributed import get_worker

    return work_batch(store, runs, version, str(get_worker().name), limits=limits)


def _first_line(error: BaseException | None) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0].rstrip(".")
