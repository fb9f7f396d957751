"""What the scenarios of a report mean: read again from manifests, so that a report needs nothing but the results.

The core parses and checks scenarios. A manifest has one as JSON, every default spelled out; it is written as TOML here.
"""

import json
import re
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
    return _core.Scenario.parse(toml(effective), name, {})


def toml(effective: Mapping[str, Any]) -> str:
    """A scenario as its file could be: a table a part, a line a key."""
    present = {key: value for key, value in effective.items() if value is not None}
    lines = [f"{key} = {toml_value(value)}" for key, value in present.items() if not _is_table(value)]
    for key, value in present.items():
        if isinstance(value, Mapping):
            lines += ["", f"[{key}]", *_pairs(value)]
        elif _is_table(value):
            for each in value:
                lines += ["", f"[[{key}]]", *_pairs(each)]
    return "\n".join(lines) + "\n"


def point(label: str, scenario: _core.Scenario, hosts: _core.HostTable | None) -> Point:
    """What a scenario means.

    Args:
        label: What tells it from others.
        scenario: The scenario.
        hosts: The host table that it was run with, where it is at hand.
    """
    return Point(label, json.loads(scenario.effective()), json.loads(scenario.check(hosts)))


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping) or (isinstance(value, list) and bool(value) and isinstance(value[0], Mapping))


def _pairs(table: Mapping[str, Any]) -> list[str]:
    return [f"{_key(key)} = {toml_value(value)}" for key, value in table.items() if value is not None]


def toml_value(value: Any) -> str:
    """A value as a scenario has it in a line."""
    if isinstance(value, Mapping):
        return f"{{ {', '.join(_pairs(value))} }}" if value else "{}"
    if isinstance(value, list):
        return f"[{', '.join(map(toml_value, value))}]"
    return _text(value) if isinstance(value, str) else json.dumps(value)


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else _text(key)


def _text(text: str) -> str:
    """A text in quotes. What JSON escapes TOML escapes alike; it forbids one character more, DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
