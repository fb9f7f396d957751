"""Worker processes on this machine: a local cluster of Dask for one command.

Whoever talks to a scheduler has its workers run any code. The local one listens on this machine only, and talks to
those alone that hold its certificate, which is made when the cluster starts and kept in memory. Dask puts its scratch
folder before all others on the path of modules: it is made anew each time, and is this user's alone.
"""

import contextlib
import logging
import os
import signal
import sys
import threading
from collections.abc import Iterator
from multiprocessing import resource_tracker
from typing import TYPE_CHECKING

from farweb.errors import RunError, refused_by_machine
from farweb.files.scratch import scratch
from farweb.sweep.main_guard import check_main_guard

if TYPE_CHECKING:
    from distributed import LocalCluster

_HERE = "127.0.0.1"
_NOTHING = logging.CRITICAL + 1  # above the level of any message
_ENDED = ("closing", "closed", "failed")  # states of the parent of a worker that does not start it again

# Differences of a local cluster from Dask's defaults: no sampling of workers, short histories of the scheduler (they
# are for its dashboard, and take some 10 MB), and a run that has killed two workers is set apart,
# since it gets another chance alone (`_Flight.outcomes`).
_LOCAL = {
    "distributed.worker.profile.enabled": False,
    "distributed.admin.system-monitor.gil.enabled": False,
    "distributed.admin.system-monitor.log-length": 100,
    "distributed.admin.low-level-log-length": 100,
    "distributed.scheduler.allowed-failures": 1,
    "distributed.scheduler.dashboard.status.task-stream-length": 10,
    "distributed.scheduler.dashboard.tasks.task-stream-length": 10,
    "distributed.scheduler.http.routes": [],  # status pages are open to all users of the machine
    "distributed.worker.http.routes": [],
    "distributed.deploy.lost-worker-timeout": "300 s",  # restarted by its nanny: 15 s are little on a busy machine
}

# A worker has one core: libraries that would start a thread a core must not.
_ONE_THREAD = {"POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


_SAFE_PATH = "PYTHONSAFEPATH"


@contextlib.contextmanager
def local_cluster(jobs: int | None = None) -> "Iterator[LocalCluster]":
    """Workers on this machine, for one pool or for several one after the other.

    Args:
        jobs: Processes (default: as many as cores).

    Raises:
        FarwebError: They could not import the script that is running.
        RunError: They do not start.
    """
    check_main_guard()
    level = quiet()
    import dask
    from distributed import LocalCluster
    from distributed.security import Security

    from farweb.sweep.nanny import STARTS, PersistentNanny

    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(scratch("dask"))
        stack.enter_context(dask.config.set({**_LOCAL, "temporary-directory": str(folder)}))
        stack.enter_context(_without_current_folder())
        try:
            with _without_interrupts():
                cluster: LocalCluster = stack.enter_context(
                    LocalCluster(
                        n_workers=jobs or cores(),
                        threads_per_worker=1,
                        worker_class=PersistentNanny,
                        host=_HERE,
                        protocol="tls://",
                        security=Security.temporary(),
                        dashboard_address=f"{_HERE}:0",  # no port that another may have
                        scheduler_kwargs={"dashboard": False},
                        local_directory=str(folder),
                        memory_limit=None,
                        silence_logs=level,
                        env=_ONE_THREAD,
                    )
                )
        except Exception as error:
            why = refused_by_machine(error)
            if why is None and not isinstance(error, RuntimeError):
                raise
            cause = f": {why}" if why else ""
            raise RunError(
                f"a worker process of this machine ends while it starts, {STARTS} times in a row{cause}"
            ) from error
        yield cluster


NO_WORKER = "no worker process starts any more on this machine"


def has_ended(cluster: "LocalCluster") -> bool:
    """True if all workers of a local cluster have died and do not start again."""
    return all(each.status.name in _ENDED for each in cluster.workers.values())


def cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def _without_interrupts() -> Iterator[None]:
    """Start threads and processes that Ctrl-C does not reach: a terminal sends it to all processes, and one answers."""
    if sys.platform == "win32" or threading.current_thread() is not threading.main_thread():  # it masks no signals
        yield
        return
    resource_tracker.ensure_running()  # which lets signals through again when the first process is started
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


@contextlib.contextmanager
def _without_current_folder() -> Iterator[None]:
    """Start processes that import nothing from the current folder: modules come from this process's path."""
    before = os.environ.get(_SAFE_PATH)
    os.environ[_SAFE_PATH] = "1"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop(_SAFE_PATH, None)
        else:
            os.environ[_SAFE_PATH] = before


def quiet() -> int:
    """Load Dask, and keep its own messages from the terminal: outcomes and errors have their content.

    Where the logger `farweb` is enabled for DEBUG they are shown from warnings on.

    Returns:
        The level of messages that are shown.
    """
    import distributed  # noqa: F401 - which sets the levels of its loggers as it is imported

    level = logging.WARNING if logging.getLogger("farweb").isEnabledFor(logging.DEBUG) else _NOTHING
    for name in ("distributed", "tornado", "asyncio", *logging.root.manager.loggerDict):
        if name.partition(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(level)
    return level
