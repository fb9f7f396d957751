"""Differences with their intervals, and the verdict on two alternatives, in numbers and in a sentence.

The rule is in `farweb.statistics.verdicts`, the latencies come from `farweb.statistics.units`.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from farweb.statistics.intervals import CONFIDENCE, Estimate
from farweb.statistics.quantiles import to_json
from farweb.statistics.verdicts import MARGIN, MARGIN_BY_POINTS, SignTest, Slice, Word, single_word
from farweb.text.quantities import difference, percents, relative, share
from farweb.text.words import listed, plural

DECIDING = ("change", "slowest_tenth", "slowest_hundredth", "failed_share")
"""Quantities that decide together unless the user names others."""

SHOWN = ("latency_p50_s", "latency_p90_s", "latency_p99_s")
"""Quantities that are shown beside them, and decide nothing."""

Origin = Literal["replications", "blocks", "none"]
"""Units that an interval comes from: replications of a run, blocks of consecutive requests, or no interval."""

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
        return single_word(Estimate(self.units, value, None, low, high), self._limit(margin))

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
        gain: Names of slices, and `failed_share`, that are better beside the average.
        harm: Slices that are worse.
        groups: First and later requests of visits, by label, where clients are named.
        failed: Shares of failed requests, of the base and of the other.
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
    groups: "tuple[tuple[str, Verdict], ...]" = ()
    failed: tuple[float, float] = (0.0, 0.0)

    @property
    def is_of_pairs(self) -> bool:
        """True where the same requests were compared, of one load."""
        return bool(self.slices) and self.slices[0].count.value is not None

    @property
    def change(self) -> Estimate:
        """Relative difference of all requests, with its interval, or empty where failures decide."""
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
    def by_failures(self) -> bool:
        """True where so many requests failed on one side that the others' latencies say little."""
        return bool(self.slices) and not self.named and self.slices[0].requests > 0 and self.slices[0].by_count

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        groups = [{"group": label, **each.to_dict()} for label, each in self.groups]
        found: dict[str, Any] = to_json({**vars(self), "groups": groups})
        return found


def turned(verdict: Verdict) -> Verdict:
    """The word and the change of the base against the other."""
    sides: dict[Word, Word] = {"better": "worse", "slightly better": "slightly worse"}
    sides |= {worse: better for better, worse in sides.items()}
    everyone = verdict.slices[0]
    change = replace(everyone, change=_inverted(everyone.change), word=sides.get(everyone.word, everyone.word))
    overall = sides.get(verdict.overall, verdict.overall)
    quantities = tuple(each.turned() for each in verdict.named) or verdict.quantities
    return replace(verdict, overall=overall, slices=(change,), failed=verdict.failed[::-1], quantities=quantities)


def _inverted(change: Estimate) -> Estimate:
    """A relative difference the other way round."""
    mean, low, high = (None if each is None else 1 / (1 + each) - 1 for each in (change.value, change.high, change.low))
    return Estimate(change.n, mean, None, low, high)


def cell(word: Word) -> str:
    """A judgement in a cell of a table."""
    return "open" if word in ("unclear", "cannot be told apart") else word


def is_apart(word: Word) -> bool:
    """True where two alternatives do not tie."""
    return word in ("better", "worse", "mixed")


_HEADS: dict[Word, str] = {
    "mixed": "{other} against {base} is mixed",
    "equivalent": "{other} and {base} are equivalent",
    "cannot be told apart": "{other} and {base} cannot be told apart",
}
_PARTS = {"slowest_tenth": "the slowest tenth", "slowest_hundredth": "the slowest hundredth"}
_GROUPS = {"first of a visit": "first requests of visits", "later in a visit": "later requests"}


def sentence(
    names: tuple[str, str],
    overall: Word,
    slices: Sequence[Slice],
    failures: Difference,
    few: SignTest | None,
    sides: Sequence[str],
    groups: Sequence[tuple[str, Verdict]],
) -> str:
    """Say the judgement: the word, the number, and for whom.

    Args:
        names: The base and the other.
        overall: The judgement.
        slices: All requests first.
        failures: Difference of the failed shares.
        few: The exact test, where it decides.
        sides: Names of slices, and `failed_share`, that decide beside the average.
        groups: Groups that decide.
    """
    base, other = names
    head = _HEADS.get(overall, "{other} is {overall} than {base}").format(base=base, other=other, overall=overall)
    everyone = slices[0]
    if not everyone.requests:
        return f"{head}: there is no request to compare"
    if few is not None:
        return f"{head}: {_few(few, everyone)}"
    is_slowest_only = everyone.word in ("equivalent", "unclear") and sides and overall in ("better", "worse")
    head += f" for {_PARTS.get(sides[0], 'failures')}" if is_slowest_only and sides[0] in _PARTS else ""
    clauses = [_on_average(everyone, overall)]
    clauses += [_of_slice(each) for each in slices[1:] if each.name in sides]
    clauses += [_of_group(label, each) for label, each in groups]
    if "failed_share" in sides and failures.value is not None:
        more = "more" if failures.value > 0 else "fewer"
        clauses.append(f"{difference(abs(failures.value), '1').lstrip('+')} {more} fail")
    return f"{head}: {', '.join(clauses)}"


def by_quantities(names: tuple[str, str], overall: Word, found: Sequence[tuple[Difference, Word]]) -> str:
    """Say a judgement by named quantities: deciding ones first, then the others."""
    base, other = names
    head = _HEADS.get(overall, "{other} is {overall} than {base}").format(base=base, other=other, overall=overall)
    decided = listed([each.with_interval for each, word in found if word != "unclear"])
    open_ = listed([each.with_interval for each, word in found if word == "unclear"])
    return f"{head}: {'; open: '.join(part for part in (decided, open_) if part)}"


def more_or_less(change: float) -> str:
    """A relative difference in words: ``24.1 % less``, ``as much``."""
    size = percents(change)
    return "as much" if size == "0" else f"{size} % {'more' if change > 0 else 'less'}"


def _on_average(found: Slice, overall: Word) -> str:
    counts = f"{share(found.slower)} are slower and {share(found.faster)} faster"
    if found.by_count or found.change.value is None:
        return f"{share(found.slower)} of requests are slower and {share(found.faster)} faster"
    said = f"requests take {more_or_less(found.change.value)} time on average".replace("as much time", "the same time")
    if overall == "cannot be told apart" and found.change.low is not None and found.change.high is not None:
        low, high = (percents(end, signed=True) for end in (found.change.low, found.change.high))
        said += f" ({low} … {high} %)"
    is_by_count = overall.startswith("slightly") and abs(found.change.value) < abs(found.count.value or 0) / 10
    return f"{said}, {counts}" if found.word == "split" or is_by_count else said


def _of_slice(found: Slice) -> str:
    who = _PARTS[found.name]
    if found.change.value is not None and math.isinf(found.change.value):
        return f"failures {'reach' if found.change.value > 0 else 'no longer reach'} {who}"
    if found.by_count or found.change.value is None:
        return f"{share(found.slower)} of {who} slower and {share(found.faster)} faster"
    return f"{more_or_less(found.change.value)} for {who}"


def _of_group(label: str, found: Verdict) -> str:
    change, who = found.change.value, _GROUPS.get(label, label)
    return f"{found.overall} for {who}" if change is None else f"{more_or_less(change)} for {who}"


def _few(found: SignTest, everyone: Slice) -> str:
    number = found.faster + found.slower + found.same
    counts = [
        f"{count} {word}"
        for count, word in ((found.faster, "faster"), (found.slower, "slower"), (found.same, "the same"))
        if count
    ]
    first, *rest = counts
    count, _, word = first.partition(" ")
    said = ", ".join([f"{count} of {number} {word}", *rest])
    change = "" if everyone.change.value is None else f": {percents(everyone.change.value, signed=True)} %"
    return f"{said}{change}; for {'this' if number == 1 else 'these'} {plural(number, 'request')}"
