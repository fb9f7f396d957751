"""The pool by itself: runs that kill workers, fail now and then, or come twice; and who may talk to its processes."""

import asyncio
import os
import signal
import socket
import ssl
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from farweb import RunError, Scenario, StorageError
from farweb.results.store import Outcome, Store
from farweb.sweep import cluster as cluster_module
from farweb.sweep import pool as pool_module
from farweb.sweep.cluster import local_cluster
from farweb.sweep.inputs import Inputs
from farweb.sweep.plan import Run, plan
from farweb.sweep.pool import Pool
from farweb.sweep.work import BATCH_S, Version, work, work_batch

SWEEP = "[sweep]\nreplications = 6\n"

Task = Callable[[Store, Run, Version], Outcome]


@pytest.fixture
def runs(cable: Path) -> list[Run]:
    cable.write_text(cable.read_text() + SWEEP)
    inputs = Inputs()
    runs = plan(Scenario.load(cable), inputs)
    inputs.write(Store("out"))
    return runs


class Tampered(Pool):
    """A pool with workers that do something else for some runs."""

    def __init__(self, task: Task, **options: Any) -> None:
        super().__init__(Store("out"), jobs=2, **options)
        self.task = task
        self.sizes: list[int] = []

    def submit(self, batches: Sequence[Sequence[Run]]) -> Any:
        task, store, version = self.task, self._store, self._version
        self.sizes += map(len, batches)

        def each(runs: Sequence[Run]) -> list[Outcome]:
            return [task(store, run, version) for run in runs]

        return [self.client.submit(each, runs, pure=False) for runs in batches]


def test_a_run_that_kills_its_worker_is_set_apart_and_takes_none_of_its_batch_with_it(cable: Path) -> None:
    cable.write_text(cable.read_text() + SWEEP.replace("6", "80"))
    inputs = Inputs()
    runs = plan(Scenario.load(cable), inputs)
    inputs.write(Store("out"))
    deadly = runs[60].run

    def task(store: Store, run: Run, version: Version) -> Outcome:
        if run.run == deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        return replace(work(store, run, version, "worker"), wall_s=BATCH_S / 10.5)

    pool = Tampered(task, retries=1)
    with pool:
        outcomes = {outcome.run: outcome for outcome in pool.outcomes(runs)}
    assert {run: outcome.status for run, outcome in outcomes.items()} == {
        run.run: "failed" if run.run == deadly else "done" for run in runs
    }
    assert (outcomes[deadly].error or "").startswith("every worker process that ran it was killed")
    assert Store("out").failed() == {deadly}
    assert Store("out").finished() == {run.run for run in runs} - {deadly}
    assert pool.sizes[:3] == [1, 1, 1], "before it is known how long runs take"
    assert max(pool.sizes) == 10, "as many as take the time of a batch"


def test_a_batch_ends_in_time_and_what_it_did_is_on_the_disk(runs: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[Path] = []
    monkeypatch.setattr("farweb.files.atomic._flush", flushed.append)
    store = Store("out")
    for limit_s, done in ((0.0, runs[:1]), (60.0, runs)):
        monkeypatch.setattr("farweb.sweep.work.BATCH_S", limit_s)
        outcomes = work_batch(store, runs, Version.here(), "worker")
        assert [outcome.run for outcome in outcomes] == [run.run for run in done]
        parts = {file for run in done for file in Path(f"out/parts/run={run.run}").absolute().iterdir()}
        assert {file.name for file in parts} == {"requests.parquet", "connections.parquet", "manifest.json"}
        assert set(flushed) == parts


@pytest.mark.usefixtures("warm_workers")
def test_failing_runs_are_tried_again_and_equal_ones_are_done_once(runs: list[Run], folder: Path) -> None:
    flaky, hopeless = runs[1].run, runs[2].run

    def task(store: Store, run: Run, version: Version) -> Outcome:
        tries = folder / run.run
        with tries.open("a") as file:
            file.write("x")
        if run.run == hopeless or (run.run == flaky and tries.stat().st_size < 3):
            return Outcome(run.run, "failed", "no luck")
        return work(store, run, version, "worker")

    with Tampered(task, retries=2) as pool:
        outcomes = [*pool.outcomes([*runs, *runs]), *pool.outcomes(runs[:1])]
    assert sorted(outcome.run for outcome in outcomes) == sorted([*(run.run for run in runs), runs[0].run])
    assert [outcome.run for outcome in outcomes if outcome.status == "failed"] == [hopeless]
    tried = {run.run: (folder / run.run).stat().st_size for run in runs}
    assert tried == {run.run: 3 if run.run in {flaky, hopeless} else 1 for run in runs}
    assert Store("out").failed() == {hopeless}
    assert outcomes[-1].worker == "", "answered from the store"
    assert outcomes[-1].metrics == next(each for each in outcomes if each.run == runs[0].run).metrics


@pytest.mark.usefixtures("warm_workers")
def test_what_the_machine_has_to_put_right_ends_everything(runs: list[Run]) -> None:
    def full(store: Store, run: Run, version: Version) -> Outcome:
        raise StorageError(f"{run.run}: cannot be written: No space left on device")

    def older(store: Store, run: Run, version: Version) -> Outcome:
        return work(store, run, Version("0.0.1", version.result_version), "worker")

    def broken(store: Store, run: Run, version: Version) -> Outcome:
        raise ModuleNotFoundError("No module named 'farweb'")

    def blind(store: Store, run: Run, version: Version) -> Outcome:
        return work(Store("elsewhere"), run, version, "worker")

    cases = (
        (full, StorageError, "cannot be written: No space left on device"),
        (older, RunError, r"the worker worker has farweb .*, and the sweep was begun with 0.0.1"),
        (broken, RunError, "a worker cannot do runs: ModuleNotFoundError: No module named 'farweb'"),
        (blind, StorageError, "is not there for the worker on .*: all workers have to see the sweep's folder"),
    )
    pool = Tampered(full)
    with pool:
        for task, error, shown in cases:
            pool.task = task
            with pytest.raises(error, match=shown):
                list(pool.outcomes(runs[:2]))
    assert Store("out").failed() == set()


@pytest.mark.usefixtures("warm_workers")
def test_a_result_that_comes_as_a_wait_runs_out_is_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a wait begins late with Dask and ends late, in the middle of the answer to the next one."""
    monkeypatch.setattr(pool_module, "_COUNTED_S", 0.2)
    with Pool(Store("out"), jobs=1) as pool:
        client: Any = pool.client
        client.submit(int, pure=False).result()
        gather = client._gather_remote

        async def slow(*arguments: Any) -> Any:
            await asyncio.sleep(0.5)
            return await gather(*arguments)

        client._gather_remote = slow
        future = client.submit(time.sleep, 0.3, pure=False)
        client.loop.add_callback(time.sleep, 0.15)
        assert pool_module.result_of(future, lambda: None) is None


class Parting(Pool):
    """A pool that loses its scheduler when it has handed over runs, some of them in the store by then."""

    there = 0

    def submit(self, batches: Sequence[Sequence[Run]]) -> Any:
        futures = super().submit([runs[:0] for runs in batches])
        for run in [run for runs in batches for run in runs][: self.there]:
            work(self._store, run, self._version, "worker")
        self.client.close()
        return futures


@pytest.mark.usefixtures("warm_workers")
def test_when_all_runs_are_there_it_does_not_matter_what_becomes_of_the_cluster(runs: list[Run]) -> None:
    def late() -> None:
        raise TimeoutError("it does not end")

    first, second = (Parting(Store("out"), jobs=1) for _ in range(2))
    first.there, second.there = 5, 1
    with first, pytest.raises(RunError, match="the Dask scheduler of this machine has gone"):
        list(first.outcomes(runs))
    assert len(Store("out").finished()) == 5
    with second as pool:
        pool._open.callback(late)
        assert {(each.run, each.status) for each in pool.outcomes(runs)} == {(run.run, "done") for run in runs}
        assert list(pool.map(abs, [-1, 2])) == [1, 2]


@pytest.mark.usefixtures("warm_workers")
def test_what_no_worker_computes_is_computed_here() -> None:
    here = os.getpid()

    def computed(number: int) -> tuple[int, bool]:
        if number > 8 and os.getpid() != here:
            raise MemoryError
        return number, os.getpid() == here

    with Pool(Store("out"), jobs=1) as pool:
        pool.client.submit(int, pure=False).result()
        found = list(pool.map(computed, range(10)))
    assert found == [(number, number > 7) for number in range(10)], "by eights"


def test_nothing_is_held_back_where_no_signals_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(signal, "pthread_sigmask")
    held = cluster_module._without_interrupts
    with pytest.raises(AttributeError, match="pthread_sigmask"), held():
        pass
    monkeypatch.setattr(sys, "platform", "win32")
    with held():
        pass


def test_a_local_cluster_talks_to_nobody_else() -> None:
    stranger = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    stranger.check_hostname, stranger.verify_mode = False, ssl.CERT_NONE

    def answer(port: int, encrypted: bool) -> bytes:
        try:
            bare = socket.create_connection(("127.0.0.1", port), timeout=1)
            with stranger.wrap_socket(bare) if encrypted else bare as line:
                line.sendall(b"GET /status HTTP/1.0\r\n\r\n")
                return line.recv(100)
        except OSError:
            return b""

    with local_cluster(1):
        own = psutil.Process()
        sockets = [each for process in (own, *own.children(recursive=True)) for each in process.net_connections("tcp")]
        ports = {each.laddr.port for each in sockets if each.status == psutil.CONN_LISTEN}
        assert len(ports) >= 4, "a scheduler, its status server, a nanny and a worker"
        for port in ports:
            plain = answer(port, encrypted=False)
            assert plain == b"" or plain.startswith(b"HTTP/1.1 404"), plain
            assert answer(port, encrypted=True) == b""


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "needs certificates, which Dask's configuration does not name"),
        (
            {"distributed.comm.tls.ca-file": "no.pem", "distributed.comm.tls.client.cert": "no.pem"},
            "certificates that Dask's configuration names .*: .*No such file",
        ),
    ],
)
def test_a_scheduler_behind_tls_asks_for_certificates(runs: list[Run], settings: dict[str, str], message: str) -> None:
    import dask

    with (
        dask.config.set(settings),
        Pool(Store("out"), scheduler="tls://127.0.0.1:1") as pool,
        pytest.raises(RunError, match=message) as error,
    ):
        list(pool.outcomes(runs))
    assert "distributed.comm.tls.ca-file" in str(error.value)
