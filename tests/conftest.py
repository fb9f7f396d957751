"""Fixtures: a small scenario with its tables in a folder of its own, and the command line as a function."""

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from farweb.cli import main
from sample_reports import bare_figures
from samples import REQUESTS, SCENARIO, Answer, Farweb

pytest_plugins = ["budget"]

# The same cases in every run: a test fails because of a change, not by chance. `make explore` draws others.
# How long an example takes is no matter of a test.
settings.register_profile("repeatable", derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("repeatable")

# Output is as without a terminal, whatever the shell asks for and whatever width pytest gives its processes.
for name in ("COLUMNS", "FORCE_COLOR"):
    os.environ.pop(name, None)

# What a script starts in the background ignores SIGINT, and so would every process that a test starts to interrupt it.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """A process more than cores: some tests wait for processes that they have started."""
    return (os.cpu_count() or 1) + 1


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cable(folder: Path) -> Path:
    """A scenario of three requests over a cable, with its request table beside it."""
    (folder / "requests.csv").write_text(REQUESTS)
    scenario = folder / "cable.toml"
    scenario.write_text(SCENARIO)
    return scenario


class Kept:
    """A worker that outlives the sweeps of a test: to start one takes longer than a hundred small runs."""

    def __init__(self, executor: Any) -> None:
        self.submit = executor.submit

    def shutdown(self, **_: object) -> None:
        """Do nothing."""


@pytest.fixture(scope="session")
def warm() -> Iterator[Callable[[], AbstractContextManager[None]]]:
    """A block with a worker ready for sweeps."""
    from farweb.sweep.workers import processes

    started: list[Kept] = []
    with contextlib.ExitStack() as stack:

        def given(_: int) -> Kept:
            if not started:
                executor = processes(1)
                stack.callback(executor.shutdown, kill_workers=True)
                started.append(Kept(executor))
            return started[0]

        @contextlib.contextmanager
        def block() -> Iterator[None]:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr("farweb.sweep.workers.processes", given)
                yield

        yield block


@pytest.fixture
def warm_workers(warm: Callable[[], AbstractContextManager[None]]) -> Iterator[None]:
    """Sweeps of a test in this process find a worker there."""
    with warm():
        yield


@pytest.fixture
def unpainted() -> Iterator[None]:
    """Figures are as `bare_figures` has them."""
    with bare_figures():
        yield


@pytest.fixture
def farweb(capsys: pytest.CaptureFixture[str]) -> Farweb:
    """The command `farweb`, as a function of its arguments."""

    def run(*arguments: object) -> Answer:
        capsys.readouterr()
        code = main([str(argument) for argument in arguments])
        printed = capsys.readouterr()
        return Answer(code, printed.out, printed.err)

    return run
