"""The rule of judgement: one of two alternatives is better, worse, mixed, equivalent, or not distinguished.

Pure arithmetic on differences with intervals (`farweb.statistics.units` has them of requests). Each quantity is judged
by itself; the overall judgement follows from these. docs/statistics.md has the rule in words, with an example.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

from farweb.statistics.quantiles import to_json
from farweb.text.quantities import difference, relative
from farweb.text.words import listed

MARGIN = 0.05
"""Practical equivalence: relative differences up to this do not matter; chosen: users do not feel less."""

POINTS_BY_MARGIN = 0.1
"""The margin of shares over the margin of relative differences: 5 % goes with half a percentage point; chosen."""

DECIDING = ("latency_p50_s", "latency_p90_s", "latency_p99_s", "failed_share")
"""Quantities that decide together unless the user names others."""

Origin = Literal["replications", "blocks", "none"]
"""Units that an interval comes from: replications of a run, blocks of consecutive requests, or no interval."""

Judgement = Literal["better", "worse", "equivalent", "undecided"]
Overall = Literal["better", "worse", "mixed", "equivalent", "not distinguished"]

_QUANTILE = re.compile(r"latency_p(\d+)_s")
_SLOWEST = 90  # percent: quantiles from here on are of the slowest requests


@dataclass(frozen=True)
class Quantity:
    """The difference of one quantity between two alternatives.

    Attributes:
        name: The metric: `latency_p50_s`, `failed_share` …
        value: Other by base, less 1; of a share, other less base. Infinite where failed requests reach the other only,
            negative where they reach the base only; None where they reach both, or there is no request.
        low: Lower end of the 95 % interval; None where there is none.
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
        return {"latency_mean_s": "mean", "failed_share": "failures"}.get(self.name, self.name)

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
            return f"{self.text} (the same everywhere, which decides nothing)"
        return f"{self.text} ({self._written(self.low)} … {self._written(self.high)})"

    @property
    def in_lines(self) -> str:
        """The value alone, and its interval on a second line."""
        value = self._written(self.value)
        if self.low is None or self.high is None:
            return f"{value}\nno interval"
        if math.isinf(self.low):
            return value
        return f"{value}\n{self._written(self.low)} … {self._written(self.high)}"

    def _written(self, value: float | None) -> str:
        if value is None:
            return "not comparable"
        if math.isinf(value):
            return "reached by failures" if value > 0 else "reached by failures at the base"
        return (difference(value, "1") if self.is_share else relative(100 * value)) or "0 %"

    def judged(self, margin: float = MARGIN) -> Judgement:
        """Judge it alone.

        Better or worse: the interval lies on one side of 0 and the value is at least the margin away. Equivalent: the
        interval lies within the margin. An interval without width decides nothing but that there is no difference at
        all, and without an interval nothing is decided.
        """
        limit = margin * POINTS_BY_MARGIN if self.is_share else margin
        value, low, high = self.value, self.low, self.high
        if value is None or low is None or high is None:
            return "undecided"
        if low == high and math.isfinite(value):
            return "equivalent" if value == 0 else "undecided"
        if -limit <= low and high <= limit:
            return "equivalent"
        if (low > 0 and value >= limit) or (high < 0 and value <= -limit):
            return "better" if (value > 0) == self.more_is_better else "worse"
        return "undecided"

    def is_good_enough(self, margin: float = MARGIN) -> bool | None:
        """True where it is shown to be at most the margin worse than the base, False where it is worse.

        It is at most the margin worse also where the interval is wide on the better side. None where neither is shown.
        An interval without width is the value: units that all say the same.
        """
        limit = margin * POINTS_BY_MARGIN if self.is_share else margin
        if self.value is None or self.low is None or self.high is None:
            return None
        if (-self.low if self.more_is_better else self.high) <= limit:
            return True
        return False if self.low == self.high or self.judged(margin) == "worse" else None


@dataclass(frozen=True)
class Verdict:
    """The judgement of one alternative against another.

    Attributes:
        overall: ``better``, ``worse``, ``mixed``, ``equivalent`` or ``not distinguished``: the other against the base.
        by_quantity: Judgement of each quantity, by the metric's name.
        quantities: The differences that were judged.
        margin: Relative difference up to which alternatives are equivalent.
        interval_of: Units that intervals come from.
        scope: Where it holds: ``for this log``, or in general (empty).
        sentence: The judgement in words.
    """

    overall: Overall
    by_quantity: dict[str, Judgement]
    quantities: tuple[Quantity, ...]
    margin: float
    interval_of: Origin
    scope: str
    sentence: str

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON; infinite ones are None."""
        plain: dict[str, Any] = to_json({**asdict(self), "quantities": [asdict(each) for each in self.quantities]})
        return plain


def judge(
    quantities: Sequence[Quantity],
    margin: float = MARGIN,
    *,
    faster: float | None = None,
    slower: float | None = None,
    names: tuple[str, str] = ("the base", "the other"),
    scope: str = "",
) -> Verdict:
    """Judge an alternative against a base by some quantities together.

    Args:
        quantities: Differences with their intervals, at least one.
        margin: Relative difference up to which alternatives are equivalent; of shares a tenth of it.
        faster: Share of requests that are faster, where they are paired.
        slower: Share of requests that are slower.
        names: The base and the other, for the sentence.
        scope: Where the judgement holds, such as ``for this log``; nothing where it holds in general.
    """
    judged = [each.judged(margin) for each in quantities]
    better, worse, equal, open_ = (
        [each for each, found in zip(quantities, judged, strict=True) if found == wanted]
        for wanted in ("better", "worse", "equivalent", "undecided")
    )
    overall: Overall = "not distinguished"
    if better and worse:
        overall = "mixed"
    elif better or worse:
        overall = "better" if better else "worse"
    elif not open_:
        overall = "equivalent"
    base, other = names
    where = f" {scope}" if scope else ""
    decided = listed([each.with_interval for each in (*better, *worse)])
    undecided = f"; not decided: {listed([each.with_interval for each in open_])}" if open_ else ""
    match overall:
        case "mixed":
            both = ", ".join(each.text for each in (*better, *worse))
            who = _who(better, worse, faster, slower)
            sentence = f"{other} against {base}, mixed{where}: {both}: {who}{undecided}"
        case "better" | "worse":
            sentence = f"{other} is {overall} than {base}{where}: {decided}{undecided}"
        case "equivalent":
            sentence = (
                f"{other} and {base} are equivalent{where}, within ± {100 * margin:g} %: "
                f"{listed([each.with_interval for each in equal])}"
            )
        case _:
            all_ = listed([each.with_interval for each in quantities])
            sentence = f"{other} and {base} are not distinguished{where}: {all_}"
    origins: set[Origin] = {each.interval_of for each in quantities} - {"none"}
    origin: Origin = next(iter(sorted(origins)), "none")
    by_quantity = {each.name: found for each, found in zip(quantities, judged, strict=True)}
    return Verdict(overall, by_quantity, tuple(quantities), margin, origin, scope, sentence)


def turned(overall: Overall) -> Overall:
    """The judgement of the base against the other."""
    match overall:
        case "better":
            return "worse"
        case "worse":
            return "better"
        case _:
            return overall


def _who(better: Sequence[Quantity], worse: Sequence[Quantity], faster: float | None, slower: float | None) -> str:
    """Say for whom it is better and for whom worse."""
    sides = [("better", better, faster), ("worse", worse, slower)]
    return ", ".join(f"{word} {_for_whom(some, share)}" for word, some, share in sides)


def _for_whom(quantities: Sequence[Quantity], share: float | None) -> str:
    """The requests that some quantities are about; most are only those that are more than half."""
    said = []
    percents = [int(found[1]) for each in quantities if (found := _QUANTILE.fullmatch(each.name))]
    if share is not None and share > 0.5 and any(percent < _SLOWEST for percent in percents):
        said.append("for most")
    elif typical := [each.called for each in quantities if _is_typical(each)]:
        said.append(f"by {listed(typical)}")
    if any(percent >= _SLOWEST for percent in percents):
        said.append("for the slowest")
    said += [f"by {each.called}" for each in quantities if each.is_share]
    return listed(said)


def _is_typical(quantity: Quantity) -> bool:
    found = _QUANTILE.fullmatch(quantity.name)
    return not quantity.is_share and (found is None or int(found[1]) < _SLOWEST)


def ranked(names: Sequence[str], verdicts: Sequence[tuple[str, str, Verdict]]) -> list[list[str]]:
    """Rank alternatives by all pairs, the best first; those that share a place are not ranked among each other.

    An alternative stands behind those that are better than it. Where pairs contradict each other in a circle, all in it
    share a place.

    Args:
        names: The alternatives.
        verdicts: Base, other and the verdict of the other against the base, of each pair.
    """
    beats: dict[str, set[str]] = {name: set() for name in names}
    for base, other, verdict in verdicts:
        if verdict.overall == "better":
            beats[other].add(base)
        elif verdict.overall == "worse":
            beats[base].add(other)
    rest, places = list(names), []
    while rest:
        first = [name for name in rest if not any(name in beats[other] for other in rest)] or rest
        places.append(first)
        rest = [name for name in rest if name not in first]
    return places
