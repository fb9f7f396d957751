"""Processes that do the work of sweeps: those of this machine, or those of a Dask scheduler.

Processes of this machine have one thread each and import nothing from the current folder. They end with the process
that started them, however that ends. A terminal sends Ctrl-C to all processes: they leave it to the one that answers.
"""

import contextlib
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Future
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, TypeVar

from farweb.errors import FarwebError, RunError, refused_by_machine, require_range
from farweb.extras import CLUSTER, require

if TYPE_CHECKING:
    from distributed import Client
    from loky import ProcessPoolExecutor

R = TypeVar("R")

_STARTS = 3  # starts in a row without success. Chosen: what kills a process each time will not pass
_LOOK_S = 1.0  # how often a process looks for the one that started it. Chosen: it may go on for so long
_FED_S = 1.0  # for a thread to end that feeds processes. Chosen: it has nothing to do, unless a full pipe holds it
_COUNTED_S = 2.0  # how often workers are counted, which asks the scheduler. Chosen: new ones get work at once
_CONNECT_S = 10  # chosen: longer than a busy scheduler needs to answer
_TLS = "distributed.comm.tls.ca-file, client.cert and client.key"
_NOTHING = logging.CRITICAL + 1  # above the level of any message

# Libraries would start a thread a core, modules could come from the current folder, and loky would start a process anew
# that has grown by 300 MB, which a large run does.
_ENVIRONMENT = {
    "POLARS_MAX_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "PYTHONSAFEPATH": "1",
    "LOKY_MAX_MEMORY_LEAK_SIZE": "1e18",
}


class WorkerDiedError(Exception):
    """The process of a call has died, or another one that took the call with it."""


class NoWorkerError(RunError):
    """Nobody does calls any more."""


class Workers:
    """Processes for any number of sweeps, started with the first call. Use them in a `with` block.

    Args:
        jobs: Processes of this machine (default: as many as cores).
    """

    def __init__(self, jobs: int | None = None) -> None:
        require_range("--jobs", jobs, 1)
        self._jobs = jobs or cores()
        self._executor: ProcessPoolExecutor | None = None

    @classmethod
    def of(cls, jobs: int | None, scheduler: str | None) -> "Workers":
        """Workers of this machine, or of a scheduler where there is one.

        Raises:
            FarwebError: Both are asked for.
        """
        if jobs is not None and scheduler is not None:
            raise FarwebError("--jobs is for this machine; a cluster that runs (--scheduler) has its own workers")
        return cls(jobs) if scheduler is None else _OfScheduler(scheduler)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        """End all processes, with calls that are under way. A further call starts them again."""
        if self._executor is not None:
            _end(self._executor)
            self._executor = None

    @property
    def threads(self) -> int:
        """Calls that they do at a time, or 0 before the first one."""
        return 0 if self._executor is None else self._jobs

    def submit(self, function: Callable[..., R], *arguments: object) -> "Future[R]":
        """Hand over a call. Function and arguments are pickled.

        Raises:
            NoWorkerError: No process starts.
        """
        if self._executor is not None:
            with contextlib.suppress(BrokenExecutor):
                return self._submitted(function, *arguments)
        self.end()
        self._executor = processes(self._jobs)
        return self._submitted(function, *arguments)

    def _submitted(self, function: Callable[..., R], *arguments: object) -> "Future[R]":
        assert self._executor is not None, "who asks has started them"
        future: Future[R] = self._executor.submit(function, *arguments)
        return future

    def result(self, future: "Future[R]") -> R:
        """Result of a call that has ended.

        Raises:
            WorkerDiedError: Its process may have died of it.
            Exception: As the call.
        """
        try:
            return future.result()
        except BrokenExecutor as error:
            raise WorkerDiedError from error

    def map(self, function: Callable[..., R], *items: Iterable[Any], chunk: int = 1) -> Iterator[R]:
        """As the built-in `map`, on the workers if there are any, so many items a call. What they lose is done here."""
        if not self.threads:
            return map(function, *items)
        each = list(zip(*items, strict=False))
        chunks = [each[begin : begin + chunk] for begin in range(0, len(each), chunk)]
        return self._mapped(function, chunks, [self.submit(_map, function, chunk) for chunk in chunks])

    def _mapped(
        self, function: Callable[..., R], chunks: Sequence[Sequence[Any]], futures: "Sequence[Future[list[R]]]"
    ) -> Iterator[R]:
        for chunk, future in zip(chunks, futures, strict=True):
            try:
                results = future.result()
            except Exception:
                results = _map(function, chunk)
            yield from results

    def alone(self) -> "contextlib.AbstractContextManager[Workers]":
        """Workers for calls one at a time, each of which is to blame when its process dies."""
        return Workers(1)

    def require_there(self) -> None:
        """See that calls can be answered.

        Raises:
            NoWorkerError: The scheduler has gone.
        """


def processes(jobs: int) -> "ProcessPoolExecutor":
    """Start processes of this machine, and wait for the first one.

    Raises:
        NoWorkerError: They die while they start, several times in a row.
    """
    for _ in range(_STARTS):
        try:
            return _started(jobs)
        except (BrokenExecutor, OSError, RuntimeError) as error:
            cause = error
    why = refused_by_machine(cause)
    raise NoWorkerError(
        f"a worker process of this machine ends while it starts, {_STARTS} times in a row{f': {why}' if why else ''}"
    ) from cause


def _started(jobs: int) -> "ProcessPoolExecutor":
    from loky import ProcessPoolExecutor

    with contextlib.ExitStack() as unless_started:
        with _as_workers():
            executor = ProcessPoolExecutor(jobs, timeout=None, initializer=_end_with, initargs=(os.getpid(),))
            unless_started.callback(_end, executor)
            first = executor.submit(os.getpid)
        first.result()
        unless_started.pop_all()
    return executor


def _end(executor: "ProcessPoolExecutor") -> None:
    """End processes, and wait for the threads that feed them.

    loky does not wait for them. The last one to hold a semaphore removes it. A thread that the exit stops while it does
    so leaves a warning of a leak behind.
    """
    executor.shutdown(kill_workers=True)
    for thread in threading.enumerate():
        if thread.name == "QueueFeederThread":
            thread.join(_FED_S)


def _end_with(parent: int) -> None:
    """Let this process end when the one that started it has ended, and could not say so."""

    def look() -> None:
        while os.getppid() == parent:
            time.sleep(_LOOK_S)
        os._exit(1)

    threading.Thread(target=look, daemon=True).start()


@contextlib.contextmanager
def _as_workers() -> Iterator[None]:
    """Start processes in the environment of workers, with Ctrl-C held back."""
    quiet = {
        "PYTHONWARNINGS": ",".join(sys.warnoptions),
        "PYTHONFAULTHANDLER": os.environ.get("PYTHONFAULTHANDLER", ""),
    }
    given = {**_ENVIRONMENT, **quiet}
    before = {name: os.environ.get(name) for name in given}
    os.environ.update(given)
    resource_tracker.ensure_running()  # which lets signals through again when the first process is started
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _map(function: Callable[..., R], items: Sequence[Any]) -> list[R]:
    return [function(*item) for item in items]


class _OfScheduler(Workers):
    """Workers of a Dask scheduler, which may come and go.

    Args:
        scheduler: Its address (`tls://…`, `tcp://…`), or the path of its scheduler file.

    Raises:
        FarwebError: Dask is not installed.
    """

    def __init__(self, scheduler: str) -> None:
        require("--scheduler", *CLUSTER)
        super().__init__()
        self._scheduler = scheduler
        self._client: Client | None = None
        self._threads, self._counted = 0, float("-inf")

    def end(self) -> None:
        """Take back all calls, and leave the scheduler."""
        if self._client is not None:
            with contextlib.suppress(OSError):  # one that cannot say that it ends
                self._client.close()
            self._client = self._executor = None

    @property
    def threads(self) -> int:
        """Calls that they do at a time, as last counted, or 0 before there are any."""
        if self._client is not None and time.monotonic() - self._counted > _COUNTED_S:
            try:
                self._threads, self._counted = sum(self._client.nthreads().values()), time.monotonic()
            except OSError:
                raise self._gone() from None
        return self._threads

    def submit(self, function: Callable[..., R], *arguments: object) -> "Future[R]":
        """Hand over a call.

        Raises:
            RunError: There is no scheduler at this address, or it has gone.
        """
        if self._executor is None:
            self._client = _client(self._scheduler)
            self._executor = self._client.get_executor(pure=False)
        self.require_there()
        return self._submitted(function, *arguments)

    def result(self, future: "Future[R]") -> R:
        """Result of a call that has ended.

        Raises:
            WorkerDiedError: Several workers have died that had it, among other calls.
            NoWorkerError: The scheduler has gone.
            Exception: As the call.
        """
        from distributed import KilledWorker

        try:
            return future.result()
        except KilledWorker as error:
            raise WorkerDiedError from error
        except CancelledError:
            raise self._gone() from None

    def alone(self) -> "contextlib.AbstractContextManager[Workers]":
        """The same: Dask blames a call that was with several workers when they died."""
        return contextlib.nullcontext(self)

    def require_there(self) -> None:
        """See that calls can be answered.

        Raises:
            NoWorkerError: The scheduler has gone.
        """
        if self._client is not None and self._client.status != "running":
            raise self._gone()

    def _gone(self) -> NoWorkerError:
        return NoWorkerError(f"the Dask scheduler {self._scheduler} has gone")


def _client(scheduler: str) -> "Client":
    """Connect to a scheduler.

    Raises:
        RunError: None answers there.
    """
    where: dict[str, Any] = {"address": scheduler} if "://" in scheduler else {"scheduler_file": scheduler}
    if "scheduler_file" in where and not Path(scheduler).is_file():
        raise RunError(f"{scheduler}: no such file; name a scheduler's address (tcp://host:port) or its scheduler file")
    quiet()
    from distributed import Client
    from distributed.security import Security

    try:
        if scheduler.startswith("tls://") and Security().get_connection_args("client")["ssl_context"] is None:
            raise RunError(f"{scheduler}: needs certificates, which Dask's configuration does not name ({_TLS})")
        return Client(**where, timeout=_CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise RunError(f"no Dask scheduler answers at {scheduler}: {first_line(error)}") from None


def first_line(error: BaseException) -> str:
    """Kind of an error, and the first line of its message."""
    return f"{type(error).__name__}: {error}".splitlines()[0].rstrip(".")


def quiet() -> None:
    """Load Dask, and keep its own messages from the terminal: outcomes and errors have their content.

    Where the logger `farweb` is enabled for DEBUG they are shown from warnings on.
    """
    import distributed  # noqa: F401 - which sets the levels of its loggers as it is imported

    level = logging.WARNING if logging.getLogger("farweb").isEnabledFor(logging.DEBUG) else _NOTHING
    for name in ("distributed", "tornado", "asyncio", *logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(level)
