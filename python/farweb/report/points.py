"""What the scenarios of a report mean: read again from manifests, so that a report needs nothing but the results.

The core reads and checks scenarios; a manifest has one with every default spelled out.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from farweb import _core


@dataclass(frozen=True)
class Point:
    """A scenario and what it means.

    Attributes:
        label: What tells it from the others of a report; empty when there are no others.
        scenario: The scenario, every default spelled out.
        figures: Links, legs and warnings with their numbers, as `farweb.scenario.Check` has them.
    """

    label: str
    scenario: Mapping[str, Any]
    figures: Mapping[str, Any]

    @property
    def warnings(self) -> list[str]:
        """What is allowed but may not be meant."""
        return list(self.figures["warnings"])


def parse(effective: Mapping[str, Any], name: str) -> _core.Scenario:
    """The scenario of a manifest.

    Args:
        effective: As the manifest has it.
        name: Its name, for messages.

    Raises:
        ScenarioError: This version of farweb does not know such a scenario.
    """
    return _core.Scenario.of_effective(json.dumps(effective), name)


def point(label: str, scenario: _core.Scenario, hosts: _core.HostTable | None) -> Point:
    """What a scenario means.

    Args:
        label: What tells it from others.
        scenario: The scenario.
        hosts: The host table that it was run with, where it is at hand.
    """
    return Point(label, json.loads(scenario.effective()), json.loads(scenario.check(hosts)))
