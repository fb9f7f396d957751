"""Cost of each file of tests, in seconds of the processor: a clock would tell of other work of the machine.

`CONTRIBUTING.md` has the rules. What costs `FAR` times its budget fails a run of all tests; less may be the machine's,
where processes share caches and a core's halves.
"""

import os
from collections import defaultdict
from collections.abc import Generator, Mapping, Sequence

import pytest

BUDGET_S = 20
FAR = 5
SHOWN = 10
SLOW = pytest.StashKey[Mapping[str, pytest.Mark]]()
"""Marks of the cases that are slow, by their names; `test_budget.py` counts them."""

_cost_s: defaultdict[str, float] = defaultdict(float)
_before_s = 0.0


def _taken_s() -> float:
    """Of this process, and of those that it has waited for."""
    return sum(os.times()[:4])


def pytest_runtest_logstart() -> None:
    global _before_s
    _before_s = _taken_s()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    global _before_s
    report = yield
    now_s = _taken_s()
    report.cost_s, _before_s = now_s - _before_s, now_s  # type: ignore[attr-defined]  # goes along to the first process
    return report


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    _cost_s[report.nodeid.partition("::")[0]] += getattr(report, "cost_s", 0.0)  # a process that died says nothing


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if _cost_s:
        terminalreporter.section(f"dearest files, of {sum(_cost_s.values()):.0f} s of the processor")
    for name, cost_s in sorted(_cost_s.items(), key=lambda each: each[1], reverse=True)[:SHOWN]:
        terminalreporter.line(f"{cost_s:5.1f} s  {name}", red=cost_s > FAR * BUDGET_S)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    is_of_all = session.config.option.markexpr == "not slow"
    if is_of_all and exitstatus == pytest.ExitCode.OK and max(_cost_s.values(), default=0.0) > FAR * BUDGET_S:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


@pytest.hookimpl(tryfirst=True)  # before `-m` takes them out
def pytest_collection_modifyitems(config: pytest.Config, items: Sequence[pytest.Item]) -> None:
    config.stash[SLOW] = {item.nodeid: mark for item in items for mark in item.iter_markers("slow")}
