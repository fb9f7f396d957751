"""Size of a run or a sweep before anything is simulated, by the core's estimate (`crates/farweb/src/load/extent.rs`).

Some points of a sweep, spread over its design, stand for all; of a search the first values. A request table that all
points share is read once.
"""

import contextlib
import functools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

from farweb import _core
from farweb.check.warned import Warned, warned
from farweb.errors import FarwebError, ScenarioError
from farweb.inputs.description import Description, Value
from farweb.inputs.prepared import Prepared
from farweb.inputs.provenance import origin
from farweb.results.design import spread
from farweb.text.quantities import count
from farweb.text.sheet import Sheet

_POINTS = 16  # chosen: the ends of a design and what lies between, in some hundredths of a second


@dataclass(frozen=True)
class Extent:
    """Size of a run, or of all runs of a sweep, by estimate.

    Attributes:
        runs: 1, or the runs of the sweep.
        requests: Requests of all runs that begin before they end.
        rows: Rows of all runs, by table. Links, legs and caches count together.
        packet_hops: Packets that links carry, of all runs.
        under_way: Requests under way at once in the largest run, at least.
        row: A label and a few words.
        large: Sizes that are warned of: `key` and `words`, and `refusal` in place of the words beyond a limit.
    """

    runs: int
    requests: int
    rows: Mapping[str, int]
    packet_hops: int
    under_way: int
    row: list[str]
    large: Sequence[Mapping[str, Any]]

    @classmethod
    def of(cls, checks: Iterable[_core.Check], runs: int) -> Self | None:
        """Estimate the size of that many runs, each check standing for an equal part, or None without requests."""
        found = _core.extent_of(list(checks), runs)
        return None if found is None else cls(**json.loads(found))

    @property
    def warned(self) -> list[Warned]:
        """Warnings about large sizes."""
        return warned(self.large)

    @property
    def is_allowed(self) -> bool:
        """True when nothing is beyond a limit."""
        return all(each["refusal"] is None for each in self.large)

    def require_allowed(self, scenario: Description) -> None:
        """Refuse sizes beyond a limit. `scenario` knows the places of its keys.

        Raises:
            ScenarioError: It is. The message names file, key, estimate and limit.
        """
        beyond = [each for each in self.large if each["refusal"] is not None]
        if beyond:
            raise ScenarioError("\n".join(scenario.core.problem(each["key"], each["refusal"]) for each in beyond))

    def to_dict(self) -> dict[str, Any]:
        """The numbers, as plain values."""
        return {name: getattr(self, name) for name in ("runs", "requests", "packet_hops", "under_way", "rows")}


def sheet(extents: Sequence[Extent]) -> Sheet:
    """A table for people, of a run and, beside it, of all runs of a sweep."""
    header = ["", *("a run" if extent.runs == 1 else f"all {count(extent.runs)} runs" for extent in extents)]
    tables = dict.fromkeys(table for extent in extents for table in extent.rows)
    rows = [
        ["requests in flight, at least", *(count(extent.under_way) for extent in extents)],
        ["packets over links, about", *(count(extent.packet_hops) for extent in extents)],
    ]
    rows += [[f"rows of {table}", *(count(extent.rows.get(table, 0)) for extent in extents)] for table in tables]
    return Sheet("Estimated size", header, rows)


def core_check(scenario: Description, prepared: Prepared, known: _core.Check | None = None) -> _core.Check:
    """Explain a scenario with open files. `known` is a check with the same requests, which are not read again for it.

    Raises:
        WorkloadError: A table cannot be used.
    """
    kept = prepared.imported
    has_tunnels = kept is None or bool(kept["caching"].get("tunnel"))
    return _core.Check(scenario.complete(), prepared.core, origin(kept), has_tunnels, known)


def points_of_sweep(
    scenario: Description, prepared: Prepared, known: _core.Check, most: int = _POINTS
) -> dict[int, _core.Check]:
    """Points of the sweep of `scenario` that stand for it, by number. `known` is its check, with `prepared`.

    Points with levels that contradict each other are left out: their runs fail.
    """
    design = scenario.design
    assert design is not None, "who asks has a sweep"
    numbers = sorted(spread(len(design.points), most))
    found = {number: _point(functools.partial(scenario.point, number), prepared, known) for number in numbers}
    return {number: point for number, point in found.items() if point is not None}


def packets_of_points(scenario: Description) -> dict[int, int]:
    """Estimate the packets over links of a run at each point of the sweep of `scenario`, without those of no requests.

    Raises:
        WorkloadError: A table cannot be used.
    """
    design = scenario.design
    assert design is not None, "who asks has a sweep"
    with Prepared.of(scenario, may_lack=True) as prepared:
        known = core_check(scenario, prepared)
        if known.packet_hops is None:
            return {}
        points = points_of_sweep(scenario, prepared, known, len(design.points))
        return {number: hops for number, point in points.items() if (hops := point.packet_hops) is not None}


def extent_of_values(scenario: Description, changes: Sequence[Mapping[str, Value]], runs: int) -> Extent | None:
    """Estimate the size of so many runs of `scenario`, spread over some of the values of its keys.

    None without requests, and when it can be run with none of the values.
    """
    with Prepared.of(scenario, may_lack=True) as prepared:
        known = core_check(scenario, prepared)
        if known.packet_hops is None:
            return None
        points = (_point(functools.partial(scenario.with_, each), prepared, known) for each in changes)
        return Extent.of([point for point in points if point is not None], runs)


def _point(make: Callable[[], Description], base: Prepared, known: _core.Check) -> _core.Check | None:
    """The check of a point, with the requests of `known` where these are its own, or None where it cannot be run."""
    try:
        point = make()
        is_own = base.fits(point)
        with contextlib.nullcontext(base) if is_own else Prepared.of(point) as prepared:
            found = core_check(point, prepared, known if is_own else None)
    except FarwebError:
        return None
    return None if found.packet_hops is None else found
