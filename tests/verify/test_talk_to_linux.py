"""Farweb's TCP and the Linux kernel's talk to each other over real packets: every scenario, profile and role.

Between them lie farweb's links, in real time. Each talk has a network namespace of its own, so many run at a time. What is
asserted are outcomes (bytes, options, states, the packets that were lost), never times. The captures of a talk that
failed are where its message says.
"""

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from namespaces import delete_leftovers, missing
from talks import Farweb, Outcome, Role, Talk, Way, talk

if reason := missing():
    pytest.skip(reason, allow_module_level=True)

TALKS_AT_A_TIME = 24
"""They mostly wait, for delays and timers."""
CAPTURES = Path(os.environ.get("FARWEB_ARTIFACTS", "target/talks"))
"""Folder of what both ends saw of each talk."""

PROFILES: Mapping[str, Farweb] = {
    "bsd44-lite": Farweb("bsd44-lite"),
    "bsd44-lite-rfc1323": Farweb("bsd44-lite", constants={"timestamps": True, "window_scaling": True}, buffer="200 kB"),
}
ROLES: tuple[Role, ...] = ("client", "server")

SCENARIOS: Mapping[str, Talk] = {
    "handshake": Talk([["write 1 B", "read 1 B"]], [["read 1 B", "write 1 B", "read end"]]),
    "download": Talk([["write 300 B", "read end"]], [["read 300 B", "write 1 MB"]]),
    "upload": Talk([["write 1 MB", "shutdown", "read end"]], [["read end", "write 300 B"]]),
    "both ways": Talk([["write 1 MB", "shutdown"], ["read end"]], [["write 1 MB", "shutdown"], ["read end"]]),
}


@dataclass(frozen=True)
class Case:
    """A scenario with farweb's profile and role."""

    scenario: str
    profile: str
    role: Role

    def __str__(self) -> str:
        return f"{self.profile}-{self.role}-{self.scenario}".replace(" ", "-")

    def run(self) -> Outcome:
        return talk(SCENARIOS[self.scenario], self.role, PROFILES[self.profile], CAPTURES / str(self))


CASES = [Case(scenario, profile, role) for scenario in SCENARIOS for profile in PROFILES for role in ROLES]


@pytest.fixture(scope="module")
def outcomes(request: pytest.FixtureRequest) -> Iterator[Mapping[Case, Future[Outcome]]]:
    """The talks of all chosen tests, under way."""
    delete_leftovers()
    calls = [item.callspec for item in request.session.items if hasattr(item, "callspec")]
    cases = dict.fromkeys(call.params["case"] for call in calls if "case" in call.params)
    with ThreadPoolExecutor(TALKS_AT_A_TIME) as pool:
        yield {case: pool.submit(case.run) for case in cases}


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_talk(case: Case, outcomes: Mapping[Case, Future[Outcome]]) -> None:
    outcome = outcomes[case].result()
    print(outcome)
    assert outcome.kernel is not None
    assert outcome.kernel.outcomes == ["done"] * len(outcome.kernel.outcomes)
    assert outcome.farweb["application"] == {"script": ["done"] * len(outcome.farweb["application"]["script"])}
    assert outcome.left_open == []
    assert not outcome.report["late"]
