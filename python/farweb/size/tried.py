"""The answer of a search for a size, in numbers. `farweb.size.screen` has it in words."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from farweb.size.judge import Meets
from farweb.statistics.blocks import Origin
from farweb.text import parse as quantity
from farweb.text.sheet import to_object


@dataclass(frozen=True)
class Reading:
    """A metric at a value.

    Attributes:
        metric: Its name.
        mean: Over the replications, or for a log's requests the first run's. None when a run has no value.
        low: Lower end of the interval. Intervals from replications hold for all values together. None before the first
            look.
        high: Upper end.
        interval_of: Units that intervals come from.
        ratio: The metric over the best value's, when the target names `best`.
        ratio_low: Lower end of the ratio's interval, from pairs of equal seeds or of the same blocks of a log.
        ratio_high: Upper end.
        called: The metric as the target has it.
        decided_by: What makes the value fail where the metric alone does not: the slowest requests, failures, or a load
            above the rate.
        reason: How the value stands to the best where the slowest requests make it worse, in words.
    """

    metric: str
    mean: float | None
    low: float | None
    high: float | None
    interval_of: Origin = "none"
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    called: str = ""
    decided_by: str = ""
    reason: str = ""


@dataclass(frozen=True)
class Tried:
    """A value that was tried.

    Attributes:
        label: Its text.
        value: Its value in the table `runs`.
        number: Its place on an axis, in the answer's unit, or None when it has none.
        n: Replications.
        verdict: The judgement against the target, as far as decided.
        estimates: One for each metric of the target.
        word: The same in a word: `best`, `ties` (shown to be equal), `within` (the bound), `open` (not told apart) or
            `worse` where all of the target is about the best value, otherwise `meets`, `open` or `fails`.
    """

    label: str
    value: str | int | float | bool
    number: float | None
    n: int
    verdict: Meets
    estimates: tuple[Reading, ...]
    word: str = "open"


@dataclass(frozen=True)
class Numbers:
    """The smallest (or largest) value of a key that meets a target.

    Attributes:
        name: Name of the scenario.
        key: The key that was varied.
        unit: Of the values' numbers: `s`, `B`, `bit/s`, `packets`, or nothing.
        target: The target, as text.
        largest: True when the largest value was asked for.
        confidence: Probability that the interval is right, and where it comes from replications all verdicts together.
        attainable: True when a value meets the target, or None when that could not be decided.
        answer: The smallest value shown to meet it, or with `best` the smallest from which on none up to the best is
            worse. None without one.
        low: The answer's interval. The smallest value that meets the target lies above `low`, the largest value that
            was shown not to, or None when the range begins with values that were not.
        high: The other end: the smallest value that was shown to meet it, which is the answer unless the target names
            `best`, or None when none was. With `largest`, `low` was shown to meet it and `high` was shown not to.
        interval_of: Units that this interval comes from, or none where the seed makes no difference.
        scope: Where the answer holds: ``for this log``, or in general (empty).
        reached: For each clause of the target the best estimate and where it is, in words.
        without_chance: True when runs do not depend on the seed.
        curve: The values tried, from the smallest to the largest.
        runs: Runs that the search took.
        connections: Load that a connection can carry on the legs with varied connections, as `farweb check` says it.
        warnings: Limits of the answer, a sentence each.
        best: The best value tried, which the others stand against, or None where the target names none.
        holds: Scope of the answer.
        remedy: What narrows its intervals, or empty.
    """

    name: str
    key: str
    unit: str
    target: str
    largest: bool
    confidence: float
    attainable: bool | None
    answer: Tried | None
    low: Tried | None
    high: Tried | None
    interval_of: Origin
    scope: str
    reached: tuple[str, ...]
    without_chance: bool
    curve: tuple[Tried, ...]
    runs: int
    connections: tuple[str, ...]
    warnings: tuple[str, ...]
    best: Tried | None
    holds: str
    remedy: str = ""

    @property
    def interval(self) -> str:
        """Where the value asked for lies, a sentence without its full stop; empty without an answer."""
        if self.answer is None:
            return ""
        fails, meets = (self.high, self.low) if self.largest else (self.low, self.high)
        if self.without_chance and self.interval_of == "none" and fails is not None:
            return f"{fails.label} fails; nothing is random here"
        if fails is None and meets is None:
            return f"no value is shown to meet the target, or to fail it, {self._sure}"
        does = "meets the target" if self.best is None else "is not worse"
        said = f"the {'largest' if self.largest else 'smallest'} value that {does} is"
        beyond, up_to = ("below", "at least") if self.largest else ("above", "at most")
        if fails is not None and meets is not None:
            ends = [f"{beyond} {fails.label}", f"{up_to} {meets.label}"]
            return f"{said} {' and '.join(ends[::-1] if self.largest else ends)}, {self._sure}"
        if fails is not None:
            return f"{said} {beyond} {fails.label}, {self._sure}; none is shown to"
        if meets is not None and meets != self.answer:
            return f"{said} {up_to} {meets.label}, {self._sure}"
        is_end = self.answer == self.curve[-1 if self.largest else 0]
        said = f"{said} at {'the end of the range' if is_end else f'{self.answer.label} or beyond'}"
        return said if self.without_chance else f"{said}, {self._sure}"

    @property
    def _sure(self) -> str:
        return f"at {self.percent} % confidence"

    @property
    def percent(self) -> str:
        """The confidence in percent."""
        return quantity.decimal(Fraction(str(self.confidence)) * 100)

    @property
    def in_order(self) -> tuple[Tried, ...]:
        """The values tried, in the order of the search: the one asked for is the first that will do."""
        return self.curve[::-1] if self.largest else self.curve

    @classmethod
    def of_dict(cls, found: Mapping[str, Any]) -> "Numbers":
        """The numbers that a manifest keeps, as `to_dict` made them."""

        def tried(row: Mapping[str, Any] | None) -> Tried | None:
            if row is None:
                return None
            return Tried(**{**row, "estimates": tuple(Reading(**each) for each in row["estimates"])})

        known = {name: found[name] for name in cls.__dataclass_fields__}
        known |= {name: tried(found[name]) for name in ("answer", "low", "high", "best")}
        known |= {name: tuple(found[name]) for name in ("reached", "connections", "warnings")}
        return cls(**{**known, "curve": tuple(map(tried, found["curve"]))})

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return to_object({**vars(self), "interval": self.interval})
