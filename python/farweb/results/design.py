"""The design of a sweep: which levels the factors have, and which combinations are run.

The core expands the table `[sweep]` of a scenario; here it is read. A *point* is a combination of levels, one of each
factor; each point is run once a replication.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from farweb.errors import ResultsError
from farweb.text.words import named

Kind = Literal["full-factorial", "one-at-a-time", "latin-hypercube", "search"]

KINDS: Mapping[Kind, str] = {
    "full-factorial": "full factorial",
    "one-at-a-time": "one factor at a time",
    "latin-hypercube": "Latin hypercube",
    "search": "search for a size",
}
"""Names of kinds of designs."""


@dataclass(frozen=True)
class Level:
    """A level of a factor.

    Attributes:
        label: How it is called: `8`, `65535 B`, `satellite`.
        value: Value in the factor's column of the table `runs`.
        number: Its place on an axis, in the factor's unit, or None when it has none.
    """

    label: str
    value: str | int | float | bool
    number: float | None


@dataclass(frozen=True)
class Factor:
    """A factor that a sweep varies.

    Attributes:
        name: A dotted key of the scenario, or the name given to keys that change together.
        unit: Unit of the levels' numbers: `s`, `B`, `bit/s`, `packets`, or nothing.
        levels: In the order of the scenario; the first is the base of comparisons.
    """

    name: str
    unit: str
    levels: tuple[Level, ...]


@dataclass(frozen=True)
class Design:
    """The factors of a sweep and their combinations.

    Attributes:
        kind: Kind of the design. `search` holds values tried by `farweb size`.
        replications: Runs a point, with different seeds.
        random_numbers: `common`: replication r has the same seed at all points; else `independent`.
        factors: In the order of the scenario.
        points: For each point the index of its level in each factor.
    """

    kind: Kind
    replications: int
    random_numbers: Literal["common", "independent"]
    factors: tuple[Factor, ...]
    points: tuple[tuple[int, ...], ...]

    @classmethod
    def from_dict(cls, design: Mapping[str, Any]) -> "Design":
        """The design as the core and manifests write it."""
        factors = tuple(
            Factor(factor["name"], factor["unit"], tuple(Level(**level) for level in factor["levels"]))
            for factor in design["factors"]
        )
        points = tuple(tuple(point) for point in design["points"])
        return cls(design["kind"], design["replications"], design["random_numbers"], factors, points)

    @property
    def names(self) -> list[str]:
        """Names of the factors."""
        return [factor.name for factor in self.factors]

    @property
    def short_names(self) -> dict[str, str]:
        """The end of each factor's name that distinguishes it, whole words of it."""
        found = {}
        for name in self.names:
            words = name.split(".")
            ends = (".".join(words[-number:]) for number in range(1, len(words) + 1))
            alike = [other for other in self.names if other != name]
            found[name] = next(
                (end for end in ends if not any(f".{other}".endswith(f".{end}") for other in alike)), name
            )
        return found

    def levels(self, point: int) -> dict[str, Level]:
        """The levels of a point by the factor's name."""
        indexes = self.points[point]
        return {factor.name: factor.levels[index] for factor, index in zip(self.factors, indexes, strict=True)}

    def point_name(self, point: int) -> str:
        """Name of a point in a sentence: ``http 1.1, window 20``."""
        levels = self.levels(point)
        varied = [factor.name for factor in self.factors if len(factor.levels) > 1] or list(levels)
        return ", ".join(named(self.short_names[name], levels[name].label) for name in varied)

    def place(self, name: str) -> int | None:
        """Place of the factor of this name, or of the only one with this end of its name, as screens have it."""
        if name in self.names:
            return self.names.index(name)
        ending = [place for place, each in enumerate(self.names) if each.endswith(f".{name}")]
        return ending[0] if len(ending) == 1 else None

    def chosen(self, names: Sequence[str]) -> list[Factor]:
        """The factors of these names, each once.

        Raises:
            ResultsError: There is no such factor.
        """
        places = {}
        for name in names:
            if (place := self.place(name)) is None:
                raise ResultsError(f"{name}: no factor of this sweep; it has {', '.join(self.names)}")
            places[place] = self.factors[place]
        return list(places.values())


def spread(number: int, most: int) -> list[int]:
    """At most so many places among `number` that are far apart, from the first few on: the ends, then golden steps."""
    golden = (math.sqrt(5) - 1) / 2
    steps = (math.floor(number * (step * golden % 1)) for step in range(1, 4 * most))
    return list(dict.fromkeys([0, number - 1, *steps]))[:most]
