"""Claims of a paper, and the verdicts of measurements on them.

A claim is a row of a study's `claims.toml`: its id, a statement, the published value, and bounds fixed before the first
run. A measurement meets a bound if its estimate does. The interval shows how sure it is.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from farweb.errors import FarwebError
from farweb.reproduce.reading import read_toml
from farweb.statistics.intervals import Estimate
from farweb.text.quantities import plain

Word = Literal["pass", "fail", "not run"]

_KEYS = {"id", "claim", "published", "tolerance", "unit", "bounds", "how", "why"}
_OPTIONAL = {"reference", "fitted"}
_EDGES = ("at_least", "at_most", "above", "below")


@dataclass(frozen=True)
class Bound:
    """Limits that a value has to keep.

    Attributes:
        of: Which measurements it is for (empty: all).
        at_least: Smallest value that meets it.
        at_most: Largest value that meets it.
        above: Value that has to be exceeded.
        below: Value that must not be reached.
    """

    of: str = ""
    at_least: float | None = None
    at_most: float | None = None
    above: float | None = None
    below: float | None = None

    def margin(self, value: float) -> float:
        """Distance of a value from the nearest edge, relative to that edge, below 0 outside the bound."""
        low, high = (_first(self.at_least, self.above), _first(self.at_most, self.below))
        inside = [(value - low) / _scale(low)] if low is not None else []
        return min(inside + ([(high - value) / _scale(high)] if high is not None else []))

    def holds(self, value: float) -> bool:
        """True when a value meets it."""
        return not (
            (self.at_least is not None and value < self.at_least)
            or (self.at_most is not None and value > self.at_most)
            or (self.above is not None and value <= self.above)
            or (self.below is not None and value >= self.below)
        )

    @property
    def text(self) -> str:
        """The bound in words: ``2.09 to 2.31``."""
        if self.at_least is not None and self.at_most is not None:
            least, most = plain(self.at_least, 6), plain(self.at_most, 6)
            return least if self.at_least == self.at_most else f"{least} to {most}"
        edges = [(edge.replace("_", " "), getattr(self, edge)) for edge in _EDGES]
        return " and ".join(f"{words} {plain(value, 6)}" for words, value in edges if value is not None)


def _first(*values: float | None) -> float | None:
    return next((value for value in values if value is not None), None)


def _scale(edge: float) -> float:
    return abs(edge) or 1.0


@dataclass(frozen=True)
class Claim:
    """A statement of a paper.

    Attributes:
        id: Its name: ``T1``.
        claim: The claim in words.
        published: The published value, as the paper has it.
        tolerance: How far from it is near enough, in words.
        unit: Unit of the measured value, or empty for none.
        bounds: The tolerance in numbers.
        how: Description of the measurement.
        why: Reason why it is not met, where that is known. ``{T1}`` stands for what decides that claim in the same
            runs, and another name in braces for the fact of that name (`FACTS` of the study's ``claims.py``).
        reference: Result of another program, in words, or empty for none.
        fitted: True when the workload was calibrated to it: it is no prediction then.
        range: The values that it takes over the workloads that sources of the time allow, in words, or empty where no
            study of the workload has it.
        decides: The open choice of the workload that moves it most, or empty likewise.
    """

    id: str
    claim: str
    published: str
    tolerance: str
    unit: str
    bounds: tuple[Bound, ...]
    how: str
    why: str
    reference: str = ""
    fitted: bool = False
    range: str = ""
    decides: str = ""

    def bound(self, of: str) -> Bound:
        """The bound for measurements of this name."""
        for bound in self.bounds:
            if bound.of in ("", of):
                return bound
        raise FarwebError(f"claim {self.id} has no bound for {of!r}")


@dataclass(frozen=True)
class Measured:
    """A measurement for a claim, in the claim's unit.

    Attributes:
        value: The estimate, or NaN when there is none.
        low: Lower end of its 95 % interval, or None without one.
        high: Upper end.
        what: Its subject, such as ``15 connections``, or empty for a single one.
        bound: Name of the bound it has to meet.
        beside: True when it is shown beside others and decides nothing.
    """

    value: float
    low: float | None = None
    high: float | None = None
    what: str = ""
    bound: str = ""
    beside: bool = False

    @classmethod
    def of(cls, interval: Estimate, what: str = "", bound: str = "", scale: float = 1.0) -> "Measured":
        """An estimate with its interval, times `scale`."""
        ends = (interval.low, interval.high)
        low, high = (None if end is None else end * scale for end in (ends if scale >= 0 else ends[::-1]))
        return cls(math.nan if interval.value is None else interval.value * scale, low, high, what, bound)


@dataclass(frozen=True)
class Verdict:
    """The verdict on a claim.

    Attributes:
        claim: Which.
        study: Name of its study.
        verdict: ``pass``, ``fail`` or ``not run``.
        measured: The one that decides: of several measurements the least inside its bound, or most outside.
        all: All measurements.
        why: Why it fails or was not run, or empty when it passes.
    """

    claim: Claim
    study: str
    verdict: Word
    measured: Measured | None
    all: tuple[Measured, ...]
    why: str

    def to_dict(self) -> dict[str, Any]:
        """The row of the scoreboard, for JSON, with numbers in the unit of the claim."""
        measured = self.measured
        unit = f" [{self.claim.unit}]" if self.claim.unit else ""
        sometimes = {
            "reference": self.claim.reference,
            "fitted": self.claim.fitted,
            "range": self.claim.range,
            "decided_by": self.claim.decides,
        }
        return {
            "id": self.claim.id,
            "claim": self.claim.claim + unit,
            "published": self.claim.published,
            **{key: value for key, value in sometimes.items() if value},
            "measured": None if measured is None else measured.value,
            "low": None if measured is None else measured.low,
            "high": None if measured is None else measured.high,
            "verdict": self.verdict,
            "why": self.why,
        }


def judge(claim: Claim, study: str, measured: Sequence[Measured]) -> Verdict:
    """Judge a claim: pass when all measurements meet their bounds, not run when one has no value."""
    deciding = [each for each in measured if not each.beside]
    missing = [each.what or each.bound for each in deciding if math.isnan(each.value)]
    if missing or not deciding:
        of = ", ".join(each for each in missing if each)
        why = f"no run has a value{f' for {of}' if of else ''}"
        return Verdict(claim, study, "not run", None, tuple(measured), why)
    failing = [each for each in deciding if not claim.bound(each.bound).holds(each.value)]
    worst = min(failing or deciding, key=lambda each: claim.bound(each.bound).margin(each.value))
    if failing:
        return Verdict(claim, study, "fail", worst, tuple(measured), claim.why or "not explained yet")
    return Verdict(claim, study, "pass", worst, tuple(measured), "")


def not_run(claim: Claim, study: str, why: str) -> Verdict:
    """The verdict on a claim that nothing was measured for."""
    return Verdict(claim, study, "not run", None, (), why)


def read_claims(file: Path, ranges: Mapping[str, Mapping[str, str]] | None = None) -> tuple[Claim, ...]:
    """Read the claims of a study.

    Args:
        file: Its `claims.toml`.
        ranges: By claim, the findings of a study of the workload: ``range`` and ``decides`` of `Claim`.

    Raises:
        FarwebError: The file is missing or wrong. The message names the claim.
    """
    try:
        rows = read_toml(file)["claim"]
    except KeyError as error:
        raise FarwebError(f"{file}: not a file of claims ({error})") from None
    claims = tuple(_claim(file, row, (ranges or {}).get(row.get("id", ""), {})) for row in rows)
    ids = [claim.id for claim in claims]
    if twice := {each for each in ids if ids.count(each) > 1}:
        raise FarwebError(f"{file}: {', '.join(sorted(twice))}: claimed twice")
    return claims


def _claim(file: Path, row: Mapping[str, Any], found: Mapping[str, str]) -> Claim:
    name = row.get("id", "a claim without an id")
    if odd := (set(row) - _OPTIONAL) ^ _KEYS:
        raise FarwebError(f"{file}: {name}: unknown or missing: {', '.join(sorted(odd))}")
    bounds = []
    for bound in row["bounds"]:
        if unknown := set(bound) - {"of", *_EDGES}:
            raise FarwebError(f"{file}: {name}: unknown in bounds: {', '.join(sorted(unknown))}")
        if not set(bound) & set(_EDGES):
            raise FarwebError(f"{file}: {name}: a bound has one of {', '.join(_EDGES)}")
        bounds.append(Bound(**bound))
    return Claim(**{**row, **found, "bounds": tuple(bounds)})
