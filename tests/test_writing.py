"""A run writes each step in a thread while it simulates the next: same bytes, same errors, nothing half written."""

import errno
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

import farweb.run
from farweb import Scenario
from farweb.files.columns import Column
from farweb.inputs.prepared import Prepared
from farweb.results.measure import Measurement
from farweb.run import TableWriter, simulate_into
from samples import Farweb

Columns = Mapping[str, Column]
WriterSpy = Callable[[Callable[[], None]], None]


@pytest.fixture
def steps(cable: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A scenario that records packets, in steps of a few events."""
    cable.write_text(cable.read_text() + '[record]\npackets = "all"\n')
    monkeypatch.setattr(farweb.run, "_EVENTS_A_STEP", 5)
    return cable


@pytest.fixture
def before_each_write(monkeypatch: pytest.MonkeyPatch) -> WriterSpy:
    """Have a function called before rows of a table are added."""
    add = TableWriter.add

    def have(called: Callable[[], None]) -> None:
        def spied(self: TableWriter, columns: Columns) -> None:
            called()
            add(self, columns)

        monkeypatch.setattr(TableWriter, "add", spied)

    return have


def simulated(scenario: Path, folder: str, measurement: Measurement | None = None) -> dict[str, Any]:
    Path(folder).mkdir()
    with Prepared.of(Scenario.load(scenario)) as prepared:
        return simulate_into(Path(folder), prepared, 1, measurement=measurement)


def test_the_thread_writes_the_same_bytes(
    steps: Path, before_each_write: WriterSpy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(farweb.run, "_ROWS_A_GROUP", 16)
    writers: list[str] = []
    before_each_write(lambda: writers.append(threading.current_thread().name))
    of_sweep = simulated(steps, "of-sweep", Measurement(0))
    assert set(writers) == {threading.current_thread().name}
    writers.clear()
    alone = simulated(steps, "alone")
    assert set(writers) == {"writer_0"}
    assert len(writers) > 10
    assert alone["rows"] == of_sweep["rows"]
    one, other = ({path.name: path.read_bytes() for path in Path(name).iterdir()} for name in ("alone", "of-sweep"))
    assert set(one) == {"packets.parquet", "requests.parquet", "connections.parquet"}
    assert one == other


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)), "No space left on device"),
        (MemoryError("of Arrow"), "memory ran out after "),
    ],
)
def test_an_error_in_the_thread_ends_the_run(
    steps: Path, before_each_write: WriterSpy, farweb: Farweb, error: Exception, said: str
) -> None:
    calls = []

    def fail() -> None:
        calls.append(threading.current_thread().name)
        if len(calls) == 3:
            raise error

    before_each_write(fail)
    answer = farweb("run", steps, "-o", "out/r", "-q")
    assert (answer.code, calls) == (3, ["writer_0"] * 3)
    assert said in answer.err
    assert answer.err.count("\n") == 1
    assert not Path("out").exists()


def test_an_interrupted_run_waits_for_the_thread_and_leaves_nothing(
    steps: Path, before_each_write: WriterSpy, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupted = threading.Event()
    allowed = iter([5])
    stages: list[list[str]] = []

    def interrupt(_: int) -> int:
        for most in allowed:
            return most
        interrupted.set()
        raise KeyboardInterrupt

    def write() -> None:
        assert interrupted.wait(10)
        time.sleep(0.05)  # without waiting for the thread the run would be over by now
        stages.append(os.listdir("out"))

    monkeypatch.setattr(farweb.run, "events_allowed", interrupt)
    before_each_write(write)
    with pytest.raises(KeyboardInterrupt):
        Scenario.load(steps).run(out="out/r")
    assert stages
    assert all(stages)
    assert not Path("out").exists()
