"""The pool by itself: runs that kill workers, fail now and then, or come twice."""

import json
import os
import signal
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import replace
from pathlib import Path
from typing import Any

import loky.backend.queues
import pytest

from farweb import RunError, Scenario, StorageError
from farweb.results.store import Outcome, Store
from farweb.sweep.inputs import Inputs
from farweb.sweep.plan import Run, plan
from farweb.sweep.pool import Pool
from farweb.sweep.work import BATCH_S, Version, work, work_batch
from farweb.sweep.workers import Workers

SWEEP = "[sweep]\nreplications = 6\n"

Task = Callable[[Store, Run, Version], Outcome]


def runs_of(cable: Path, replications: int) -> list[Run]:
    cable.write_text(f"{cable.read_text()}[sweep]\nreplications = {replications}\n")
    inputs = Inputs()
    runs = plan(Scenario.load(cable), inputs)
    inputs.write(Store("out"))
    return runs


@pytest.fixture
def runs(cable: Path) -> list[Run]:
    return runs_of(cable, 6)


class Tampered(Workers):
    """Workers that do something else for some runs."""

    def __init__(self, task: Task, jobs: int = 2) -> None:
        super().__init__(jobs)
        self.task = task
        self.sizes: list[int] = []

    def submit(self, _: Any, *arguments: Any) -> "Future[Any]":
        store, batch, version, _ = arguments
        self.sizes.append(len(batch))
        return super().submit(_each, self.task, store, batch, version)

    def alone(self) -> Any:
        return Tampered(self.task, 1)


def _each(task: Task, store: Store, batch: Sequence[Run], version: Version) -> list[Outcome]:
    return [task(store, run, version) for run in batch]


def test_a_run_that_kills_its_worker_is_set_apart_and_takes_none_of_its_batch_with_it(cable: Path) -> None:
    runs = runs_of(cable, 80)
    deadly = runs[60].run

    def task(store: Store, run: Run, version: Version) -> Outcome:
        if run.run == deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        return replace(work(store, run, version, "worker"), wall_s=BATCH_S / 10.5)

    with Tampered(task) as workers, Pool(Store("out"), workers, retries=1) as pool:
        outcomes = {outcome.run: outcome for outcome in pool.outcomes(runs)}
    assert {run: outcome.status for run, outcome in outcomes.items()} == {
        run.run: "failed" if run.run == deadly else "done" for run in runs
    }
    assert (outcomes[deadly].error or "").startswith("every worker process that ran it was killed")
    assert json.loads(Path(f"out/failures/{deadly}.json").read_text())["attempts"] == 1, "alone, and not again"
    assert Store("out").failed() == {deadly}
    assert Store("out").finished() == {run.run for run in runs} - {deadly}
    assert workers.sizes[:3] == [1, 1, 1], "before it is known how long runs take"
    assert max(workers.sizes) == 10, "as many as take the time of a batch"


def test_a_batch_ends_in_time_and_what_it_did_is_on_the_disk(runs: list[Run], monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[Path] = []
    monkeypatch.setattr("farweb.files.atomic._flush", flushed.append)
    store = Store("out")
    for limit_s, done in ((0.0, runs[:1]), (60.0, runs)):
        monkeypatch.setattr("farweb.sweep.work.BATCH_S", limit_s)
        outcomes = work_batch(store, runs, Version.here())
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

    with Tampered(task) as workers, Pool(Store("out"), workers, retries=2) as pool:
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
    for task, error, shown in cases:
        with Tampered(task) as workers:
            with pytest.raises(error, match=shown), Pool(Store("out"), workers) as pool:
                list(pool.outcomes(runs[:2]))
            assert workers.threads == 0, "none goes on to write"
    assert Store("out").failed() == set()


@pytest.mark.usefixtures("warm_workers")
def test_what_no_worker_computes_is_computed_here() -> None:
    here = os.getpid()

    def computed(number: int) -> tuple[int, bool]:
        if number > 8 and os.getpid() != here:
            raise MemoryError
        return number, os.getpid() == here

    with Workers(1) as workers:
        assert list(workers.map(computed, range(2))) == [(0, True), (1, True)], "there are none yet"
        workers.submit(int).result()
        found = list(workers.map(computed, range(10), chunk=8))
    assert found == [(number, number > 7) for number in range(10)], "by eights"


def test_workers_have_one_thread_and_import_nothing_from_the_current_folder() -> None:
    names = ("POLARS_MAX_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "PYTHONSAFEPATH")
    before = dict(os.environ)
    with Workers(1) as workers:
        assert workers.submit(_environment, names).result() == ["1"] * 5
        held = workers.submit(signal.pthread_sigmask, signal.SIG_BLOCK, ()).result()
    assert signal.SIGINT in held, "a terminal sends Ctrl-C to all processes, and one answers"
    assert dict(os.environ) == before
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())


def _environment(names: Sequence[str]) -> list[str | None]:
    return [os.environ.get(name) for name in names]


def test_workers_that_ended_leave_no_thread_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    feed = loky.backend.queues.Queue._feed

    def late(*arguments: Any) -> None:
        feed(*arguments)
        time.sleep(0.2)  # with semaphores still in its hands

    monkeypatch.setattr(loky.backend.queues.Queue, "_feed", staticmethod(late))
    before = threading.active_count()
    with Workers(1) as workers:
        assert workers.result(workers.submit(abs, -3)) == 3
    assert threading.active_count() == before


def test_a_run_is_sent_without_what_a_users_class_adds(cable: Path) -> None:
    class Own(Scenario):
        """Of a script, that no worker can import."""

    cable.write_text(cable.read_text() + SWEEP)
    (first, *_) = plan(Own.load(cable), Inputs())
    assert type(first.scenario).__name__ == "Description"
