"""A reading of what papers leave open: keys that a study's scenarios have otherwise, by the name of the reading.

`papers/calibration/readings.toml` has the readings, each with the sentences that it rests on. A reading sets keys of
every scenario, and keys of every leg that ends at the servers, in the scenario and in the levels of its factors. The
scenario files are as reading A has them.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from farweb.errors import FarwebError
from farweb.text.words import nearest

READINGS = Path("calibration") / "readings.toml"
AS_WRITTEN = "A"
"""The reading that the scenario files are."""


@dataclass(frozen=True)
class Reading:
    """A reading of the papers.

    Attributes:
        name: Its name: ``B``.
        title: Its assumption, in a line.
        set: Keys of every scenario.
        constants: Constants of TCP on legs that end at the servers.
        http10: Keys of the carrier ``http/1.0`` on these legs.
    """

    name: str
    title: str
    set: Mapping[str, Any] = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)
    http10: Mapping[str, Any] = field(default_factory=dict)

    def changes(self, scenario: Path) -> dict[str, Any]:
        """Its changes to a scenario file, by dotted key."""
        text = tomllib.loads(scenario.read_text("utf-8"))
        changes = dict(self.set)
        if not (self.constants or self.http10):
            return changes
        changes["leg"] = [self._leg(leg) for leg in text["leg"]]
        for name, levels in text.get("sweep", {}).get("factors", {}).items():
            if any(isinstance(level, Mapping) and "leg" in level["set"] for level in levels):
                changes[f'sweep.factors."{name}"'] = [self._level(level) for level in levels]
        return changes

    def _level(self, level: Mapping[str, Any]) -> dict[str, Any]:
        return {**level, "set": {**level["set"], "leg": [self._leg(leg) for leg in level["set"]["leg"]]}}

    def _leg(self, leg: Mapping[str, Any]) -> Mapping[str, Any]:
        if leg["to"] != "server":
            return leg
        tcp = leg.get("tcp", {})
        carrier = {**leg["carrier"], **(self.http10 if leg["carrier"]["kind"] == "http/1.0" else {})}
        return {**leg, "carrier": carrier, "tcp": {**tcp, "constants": {**tcp.get("constants", {}), **self.constants}}}


def find_reading(papers: Path, name: str) -> Reading:
    """Read a reading of a folder of studies.

    Raises:
        FarwebError: There is no such reading, or its file is wrong.
    """
    found = read_toml(papers / READINGS)
    if name not in found:
        hint = f" {near}?" if (near := nearest(name.upper(), found, 0.4)) else ""
        raise FarwebError(f"there is no reading {name!r};{hint} readings: {', '.join(found)}")
    own = found[name]
    servers = own.get("to_servers", {})
    return Reading(name, own["title"], own.get("set", {}), servers.get("constants", {}), servers.get("http10", {}))


def read_toml(file: Path) -> dict[str, Any]:
    """Read a file of a study.

    Raises:
        FarwebError: It is missing, or no TOML.
    """
    try:
        return tomllib.loads(file.read_text("utf-8"))
    except OSError as error:
        raise FarwebError(f"{file}: {error.strerror}") from None
    except tomllib.TOMLDecodeError as error:
        raise FarwebError(f"{file}: {error}") from None
