"""Differences with their intervals, and the verdict on two alternatives.

The rule is in `farweb.judge.verdicts`, the latencies come from `farweb.judge.units`, the sentence from
`farweb.judge.sentences`.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from farweb.judge.verdicts import (
    MARGIN,
    MARGIN_BY_POINTS,
    QUICKER,
    SLOW,
    SignTest,
    Slice,
    Word,
    mirrored,
    slice_word,
)
from farweb.statistics.blocks import Origin
from farweb.statistics.intervals import CONFIDENCE, Estimate
from farweb.text.quantities import difference, plain, relative
from farweb.text.sheet import to_object

DECIDING = ("change", QUICKER, *SLOW, "failed_share")
"""Quantities that decide together unless the user names others."""

SHOWN = ("latency_p50_s", "latency_p90_s", "latency_p99_s")
"""Quantities that are shown beside them, and decide nothing."""

_QUANTILE = re.compile(r"latency_p(\d+)_s")


@dataclass(frozen=True)
class Difference:
    """The difference of one quantity between two alternatives.

    Attributes:
        name: The metric: `latency_p50_s`, `failed_share` …
        value: Other by base, less 1 (shares: other less base). Infinite where failed requests reach the other only,
            negative where they reach the base only, None where they reach both, or without requests.
        low: Lower end of the 95 % interval, or None where there is none.
        high: Upper end.
        interval_of: Units that the interval comes from.
        units: How many of them.
        is_share: True for a difference of shares, 0.01 being a percentage point.
        more_is_better: True where larger values are the better ones.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    interval_of: Origin
    units: int
    is_share: bool = False
    more_is_better: bool = False

    @property
    def called(self) -> str:
        """Its short name: ``median``, ``p99``, ``failures``."""
        if found := _QUANTILE.fullmatch(self.name):
            return "median" if found[1] == "50" else f"p{found[1]}"
        return {"latency_mean_s": "mean", "failed_share": "failures"}.get(self.name, self.name.replace("_", " "))

    @property
    def text(self) -> str:
        """Name and value: ``"p99 +45 %"``, ``"failures +0.8 points"``."""
        return f"{self.called} {self._written(self.value)}"

    @property
    def with_interval(self) -> str:
        """The same, with its interval where there is one."""
        if self.low is None or self.high is None:
            return f"{self.text} (no interval)"
        if math.isinf(self.low):
            return self.text
        if self.low == self.high and self.value:
            return f"{self.text} (everywhere)"
        return f"{self.text} ({self._written(self.low)} … {self._written(self.high)})"

    @property
    def heading(self) -> str:
        """Its name and unit over a column: ``p99 %``, ``failures, points``."""
        return f"{self.called}, points" if self.is_share else f"{self.called} %"

    def turned(self) -> "Difference":
        """The base against the other."""
        value, low, high = (
            None if end is None else -end if self.is_share or math.isinf(end) else 1 / (1 + end) - 1
            for end in (self.value, self.high, self.low)
        )
        return replace(self, value=value, low=low, high=high)

    def _written(self, value: float | None) -> str:
        if value is None:
            return "not comparable"
        if math.isinf(value):
            return "reached by failures" if value > 0 else "reached by failures at the base"
        return (difference(value, "1") if self.is_share else relative(100 * value)) or "0 %"

    def word(self, margin: float = MARGIN) -> Word:
        """Judge it alone. A resampled quantile with an interval without width shows equality alone."""
        value, low, high = self.value, self.low, self.high
        if value is None or low is None or high is None:
            return "unclear"
        if low == high and value and math.isfinite(value) and _QUANTILE.fullmatch(self.name):
            return "unclear"
        if self.more_is_better:
            value, low, high = -value, -high, -low
        return slice_word(Estimate(self.units, value, None, low, high), self._limit(margin))

    def _limit(self, margin: float) -> float:
        return margin / MARGIN_BY_POINTS if self.is_share else margin

    def is_good_enough(self, margin: float = MARGIN) -> bool | None:
        """True where it is shown to be at most the margin worse than the base, False where it is worse.

        It is at most the margin worse also where the interval is wide on the better side. None where neither is shown.
        An interval without width is the value: units that all say the same.
        """
        limit = self._limit(margin)
        if self.value is None or self.low is None or self.high is None:
            return None
        if (-self.low if self.more_is_better else self.high) <= limit:
            return True
        return False if self.low == self.high or self.word(margin) == "worse" else None


@dataclass(frozen=True)
class Verdict:
    """The judgement of one alternative against another.

    Attributes:
        overall: ``better``, ``slightly worse``, ``mixed``, ``equivalent``, ``cannot be told apart`` …: the other
            against the base.
        by_quantity: Judgement of each quantity that decides, by its name.
        quantities: The differences that were judged, and others shown beside them.
        margin: Relative difference up to which alternatives are equivalent.
        interval_of: Units that intervals come from.
        scope: Where it holds: ``for this log``, or in general (empty).
        sentence: The judgement in words, without a full stop.
        holds: Requests that it holds for, and how to make it hold for more.
        confidence: Of each interval, 0 to 1.
        slices: All requests and the slowest, measured and judged.
        few: The exact test, where requests are too few for intervals.
        gain: Names of slices, and `failed_share`, that are better beside all requests.
        harm: Slices that are worse.
        alone: The slice that the word is for where all requests together are neither better nor worse; else empty.
        groups: First and later requests of visits, by label, where clients are named.
        failed: Shares of failed requests, of the base and of the other.
        few_hold: The few requests that hold half of the waiting of both sides, and of how many; None where these are
            not few.
        is_dependent: True where time blocks resemble their neighbours: intervals are less sure than they say.
    """

    overall: Word
    by_quantity: dict[str, Word]
    quantities: tuple[Difference, ...]
    margin: float
    interval_of: Origin
    scope: str
    sentence: str
    holds: str = ""
    confidence: float = CONFIDENCE
    slices: tuple[Slice, ...] = ()
    few: SignTest | None = None
    gain: tuple[str, ...] = ()
    harm: tuple[str, ...] = ()
    alone: str = ""
    groups: tuple[tuple[str, Slice], ...] = ()
    failed: tuple[float, float] = (0.0, 0.0)
    few_hold: tuple[int, int] | None = None
    is_dependent: bool = False

    @property
    def is_of_pairs(self) -> bool:
        """True where the same requests were compared, of one load."""
        return bool(self.slices) and self.slices[0].count.value is not None

    @property
    def change(self) -> Estimate:
        """M of all requests, with its interval, or empty where failures decide."""
        return self.slices[0].judged_change if self.slices else Estimate(0, None, None, None, None)

    @property
    def named(self) -> tuple[Difference, ...]:
        """Quantities that decide because they were named; none where the whole rule decides."""
        return () if "change" in self.by_quantity else self.quantities

    @property
    def decisive(self) -> Difference | Estimate:
        """The first named quantity, else `change`."""
        return self.named[0] if self.named else self.change

    @property
    def heading(self) -> str:
        """Name and unit of `decisive` over a column."""
        return self.named[0].heading if self.named else "time %"

    @property
    def sure(self) -> str:
        """Confidence of each interval, over a column: above 95 % where several pairs hold together."""
        return f"{plain(100 * self.confidence, 3)} % interval"

    @property
    def by_failures(self) -> bool:
        """True where so many requests failed on one side that the others' latencies say little."""
        return bool(self.slices) and not self.named and self.slices[0].requests > 0 and self.slices[0].by_count

    @property
    def is_apart(self) -> bool:
        """True where M or failures set the two apart; of few requests or named quantities, where the word does."""
        if self.named or self.few is not None:
            return self.overall not in ("equivalent", "cannot be told apart")
        by_count = self.slices[0].by_count and self.slices[0].word != "unclear"
        by_failures = by_count or "failed_share" in (*self.gain, *self.harm)
        return by_failures or bool(self.slices[0].moved(self.margin))

    @property
    def ties(self) -> bool:
        """True where the two are shown to be equal on average; two that neither tie nor are apart are open."""
        word = self.overall if self.named or self.few is not None else self.slices[0].word
        return not self.is_apart and word == "equivalent"

    @property
    def cell(self) -> str:
        """The judgement in a cell of a table: ``better``, ``open``, ``worse: slowest 10 %``."""
        return cell_of(self.overall, self.alone)

    def turned(self) -> "Verdict":
        """The base against the other, without a sentence."""
        return replace(
            self,
            overall=mirrored(self.overall),
            by_quantity={name: mirrored(word) for name, word in self.by_quantity.items()},
            quantities=tuple(each.turned() for each in self.quantities),
            sentence="",
            slices=tuple(each.turned() for each in self.slices),
            few=None if self.few is None else self.few.turned(),
            gain=self.harm,
            harm=self.gain,
            groups=tuple((label, each.turned()) for label, each in self.groups),
            failed=self.failed[::-1],
        )

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON: `for` is the slice that the word is for, `change` M."""
        found = to_object({name: value for name, value in vars(self).items() if name != "alone"})
        found |= {"for": self.alone or None, "change": self.change.to_dict()}
        found["geometric"] = self.slices[0].geometric if self.slices else None
        found["groups"] = [{"group": label, **to_object(vars(each))} for label, each in self.groups]
        return found


def held_by(verdicts: Sequence[Verdict]) -> str:
    """What all of several verdicts hold for: the words of the least sure; empty of none."""
    return next((each.holds for each in sorted(verdicts, key=lambda each: not each.is_dependent)), "")


SHORT = {QUICKER: "quicker 90 %", "slowest_tenth": "slowest 10 %", "slowest_hundredth": "slowest 1 %"}
"""Slices in a table."""


def cell_of(word: Word, alone: str = "") -> str:
    """A judgement in a cell of a table, with the slice that it is for."""
    said = "open" if word in ("unclear", "cannot be told apart") else word
    return f"{said}: {SHORT[alone]}" if alone else said
