"""What the files of tests cost, in seconds of the processor: on a busy machine a clock would tell of its other work.

`CONTRIBUTING.md` has the rule. A file that costs many times what it may fails `make test`: twice as much may be the
machine's, where processes share caches and a core's halves.
"""

import resource
from collections import defaultdict
from collections.abc import Generator

import pytest

BUDGET_S = 20
FAR_S = 6 * BUDGET_S
_SHOWN = 10

_cost_s: defaultdict[str, float] = defaultdict(float)
_before_s = 0.0


def _taken_s() -> float:
    """What this process has taken, and those that it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)


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


def too_dear(config: pytest.Config) -> list[str]:
    """Files that cost far more than they may, of the tests of `make test`."""
    if config.option.markexpr != "not slow":
        return []
    return [name for name, cost_s in _cost_s.items() if cost_s > FAR_S]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if not _cost_s:
        return
    terminalreporter.section(f"dearest files, of {sum(_cost_s.values()):.0f} s of the processor")
    for cost_s, name in sorted(((cost_s, name) for name, cost_s in _cost_s.items()), reverse=True)[:_SHOWN]:
        terminalreporter.line(f"{cost_s:5.1f} s  {name}")
    for name in too_dear(config):
        terminalreporter.line(f"{name} costs far more than {BUDGET_S} s: CONTRIBUTING.md says what to do", red=True)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    if exitstatus == pytest.ExitCode.OK and too_dear(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED
