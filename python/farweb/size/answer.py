"""The answer of a search for a size, in numbers, in a sentence and as a table."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from farweb.results.judged import OF_LOG
from farweb.size.judge import Judge, Verdict
from farweb.size.search import Found, Limits, Search
from farweb.size.target import Clause, Target
from farweb.size.vary import Axis
from farweb.statistics.judgement import Origin
from farweb.statistics.quantiles import to_json
from farweb.text import parse as quantity
from farweb.text.quantities import ENDLESS, interval, plain
from farweb.text.sheet import Sheet, to_html, to_rich

if TYPE_CHECKING:
    from rich.console import RenderableType

_DIGITS = 5  # of estimates: three would not distinguish 0.9798 from 0.98


@dataclass(frozen=True)
class Estimate:
    """A metric at a value.

    Attributes:
        metric: Its name.
        mean: Over the replications; of a log's requests the first run's. None when a run has no value.
        low: Lower end of the interval; intervals from replications hold for all values together. None before the first
            look.
        high: Upper end.
        interval_of: Units that intervals come from.
        ratio: The metric over that at the best value tried, when the target names `best`.
        ratio_low: Lower end of the ratio's interval, from pairs of equal seeds or of the same blocks of a log.
        ratio_high: Upper end.
    """

    metric: str
    mean: float | None
    low: float | None
    high: float | None
    interval_of: Origin = "none"
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None


@dataclass(frozen=True)
class Tried:
    """A value that was tried.

    Attributes:
        label: Its text.
        value: Its value in the table `runs`.
        number: Its place on an axis, in the answer's unit; None when it has none.
        n: Replications.
        verdict: The judgement against the target, as far as decided.
        estimates: One for each metric of the target.
    """

    label: str
    value: str | int | float | bool
    number: float | None
    n: int
    verdict: Verdict
    estimates: tuple[Estimate, ...]


@dataclass(frozen=True)
class Answer:
    """The smallest (or largest) value of a key that meets a target.

    Attributes:
        name: Name of the scenario.
        key: The key that was varied.
        unit: Of the values' numbers: `s`, `B`, `bit/s`, `packets`, or nothing.
        target: The target, as text.
        largest: True when the largest value was asked for.
        confidence: Probability that the interval is right, and where it comes from replications all verdicts together.
        attainable: True when a value meets the target; None when that could not be decided.
        answer: The smallest value that was shown to meet it, or that meets it in a log; None when none was or does.
        low: The answer's interval. The smallest value that meets the target lies above `low`, the largest value that
            was shown not to; None when the range begins with values that were not.
        high: The other end: the smallest value that was shown to meet it, which is the answer unless that is of a log;
            None when none was. With `largest`, `low` was shown to meet it and `high` was shown not to.
        interval_of: Units that this interval comes from; none where the seed makes no difference.
        scope: Where the answer holds: ``for this log``, or in general (empty).
        reached: For each clause of the target the best estimate and where it is, in words.
        without_chance: True when runs do not depend on the seed.
        curve: The values tried, from the smallest to the largest.
        runs: Runs that the search took.
        connections: Limit of a connection of the legs whose connections were varied, as `farweb check` says it.
        warnings: Limits of the answer, a sentence each.
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

    @property
    def text(self) -> str:
        """The answer as a sentence."""
        runs = f"{self.runs:,} run{'s' if self.runs != 1 else ''}"
        if self.answer is None:
            return f"{self._refusal()}; {runs}."
        kind = "largest" if self.largest else "smallest"
        return (
            f"The {kind} {self.key} with {self.target} is {self.answer.label}{self._where} ({self.interval}); {runs}."
        )

    @property
    def interval(self) -> str:
        """The answer's interval in words; empty without an answer."""
        if self.answer is None:
            return ""
        fails, meets = (self.high, self.low) if self.largest else (self.low, self.high)
        if self.without_chance and self.interval_of == "none" and fails is not None:
            return f"{fails.label} does not meet it; the seed makes no difference"
        if fails is not None and meets is not None:
            if self.largest:
                return f"at least {meets.label}, below {fails.label} {self._sure}"
            return f"above {fails.label}, at most {meets.label} {self._sure}"
        if fails is not None:
            return f"{'below' if self.largest else 'above'} {fails.label} {self._sure}, no value was shown to meet it"
        if meets is None:
            return f"no value was shown to meet it or not to {self._sure}"
        if meets != self.answer:
            return f"at {'least' if self.largest else 'most'} {meets.label} {self._sure}"
        ends = "at the end of the range" if self.answer == self.curve[-1 if self.largest else 0] else "or beyond"
        return ends if self.without_chance else f"{ends}, {self._sure}"

    @property
    def _where(self) -> str:
        return f" {self.scope}" if self.scope else ""

    @property
    def _sure(self) -> str:
        return f"at {self._percent} % confidence"

    @property
    def _percent(self) -> str:
        return quantity.decimal(Fraction(str(self.confidence)) * 100)

    def _refusal(self) -> str:
        """Say that no value meets the target, and how near the best one comes."""
        span = f"{self.key} from {self.curve[0].label} to {self.curve[-1].label}"
        reached = "; ".join(self.reached)
        if self.attainable is False:
            sure = "the seed makes no difference" if self.without_chance else self._sure
            return f"No {span} meets {self.target}{self._where} ({sure}): {reached}"
        return (
            f"No {span} was shown to meet {self.target}{self._where}, and not every value was shown not to: {reached}"
        )

    def _metrics(self) -> list[str]:
        return list(dict.fromkeys(estimate.metric for estimate in self.curve[0].estimates))

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        found: dict[str, Any] = to_json({**asdict(self), "interval": self.interval})
        return found

    def __rich__(self) -> "RenderableType":
        from rich.console import Group
        from rich.text import Text

        warnings = [Text(f"warning: {warning}", style="yellow") for warning in self.warnings]
        return Group(to_rich([self._sheet()]), Text(self.text), *map(Text, self.connections), *warnings)

    def _repr_html_(self) -> str:
        from html import escape

        warnings = "".join(f"<li>{escape(warning)}</li>" for warning in self.warnings)
        said = "".join(f"<p>{escape(each)}</p>" for each in (self.text, *self.connections))
        return f"{to_html([self._sheet()])}{said}<ul>{warnings}</ul>"

    def _sheet(self) -> Sheet:
        names = self._metrics()
        header = [self.key, "runs"]
        for name in names:
            header += [name, "interval"]
        rated = any(estimate.ratio is not None for tried in self.curve for estimate in tried.estimates)
        header += ["of best", "interval"] if rated else []
        rows = []
        for tried in self.curve:
            row = [tried.label, str(tried.n)]
            by_name = {estimate.metric: estimate for estimate in reversed(tried.estimates)}
            for name in names:
                unit = _unit(name)
                row += [shown(by_name[name].mean, unit), _interval(by_name[name].low, by_name[name].high, unit)]
            if rated:
                best = next((each for each in tried.estimates if each.ratio is not None), tried.estimates[0])
                row += [shown(best.ratio, "1"), _interval(best.ratio_low, best.ratio_high, "1")]
            rows.append([*row, tried.verdict.value])
        units = {"none": "", "blocks": "blocks of this log", "replications": "replications, together"}[self.interval_of]
        of = f"; {self._percent} % intervals of {units}" if units else ""
        return Sheet(f"{self.name}: {self.target}{of}", [*header, "target"], rows)


def answer_of(
    search: Search,
    axis: Axis,
    target: Target,
    limits: Limits,
    name: str,
    warnings: Sequence[str],
    connections: Sequence[str] = (),
) -> Answer:
    """Translate the findings of a search from positions on the axis to values."""
    found = search.found()
    tried = {
        position: _tried(search, axis, target, position) for position in search.tried if search.judge.count(position)
    }
    answer, below, above = (
        None if position is None or found.answer is None else tried[position]
        for position in (found.answer, found.below, found.above)
    )
    curve = tuple(tried[position] for position in sorted(tried, reverse=axis.downwards))
    labels = {position: each.label for position, each in tried.items()}
    return Answer(
        name=name,
        key=axis.name,
        unit=axis.unit,
        target=str(target),
        largest=axis.downwards,
        confidence=limits.confidence,
        attainable=found.attainable,
        answer=answer,
        low=above if axis.downwards else below,
        high=below if axis.downwards else above,
        interval_of=_origin(search.judge, target),
        scope=OF_LOG if search.judge.log is not None else "",
        reached=tuple(dict.fromkeys(_reached(curve, clause) for clause in target.clauses)),
        without_chance=search.judge.without_chance,
        curve=curve,
        runs=search.runs,
        connections=tuple(connections),
        warnings=(
            *_warnings(found, labels, limits, search.judge.is_of_log),
            *_partial(search, target, labels),
            *warnings,
        ),
    )


def _origin(judge: Judge, target: Target) -> Origin:
    """Units of the answer's interval: blocks, where any clause has them."""
    origins = [judge.origin(clause) for clause in target.clauses]
    return next((origin for origin in ("blocks", "replications") if origin in origins), "none")


def _tried(search: Search, axis: Axis, target: Target, position: int) -> Tried:
    choice, judge = axis.choice(position), search.judge
    estimates = tuple(
        Estimate(
            clause.metric.name,
            *judge.interval(clause, position),
            judge.origin(clause),
            *(judge.ratio(clause, position) if clause.of_best else (None, None, None)),
        )
        for clause in target.clauses
    )
    verdict = judge.verdict(position)
    return Tried(choice.label, choice.value, choice.number, judge.count(position), verdict, estimates)


def _warnings(found: Found, labels: Mapping[int, str], limits: Limits, is_of_log: bool) -> list[str]:
    def listed(positions: Sequence[int]) -> str:
        return ", ".join(labels[position] for position in positions if position in labels)

    warnings = []
    if found.again:
        warnings.append(
            f"the target is not met at {listed(found.again)} beyond the answer: it is met within a range, "
            "whose other end was not searched for"
        )
    if found.before:
        warnings.append(
            f"the target is also met at {listed(found.before)}, but not at all values between: the answer is where it "
            "begins to be met at all values tried"
        )
    if found.undecided and is_of_log:
        warnings.append(
            f"not decided by the blocks of this log: {listed(found.undecided)}; a longer log narrows the interval"
        )
    elif found.undecided:
        warnings.append(
            f"not decided after {limits.most} replications: {listed(found.undecided)}; more (--max-replications) make "
            "the interval narrower"
        )
    if found.stopped:
        warnings.append(f"ended after the most runs that it may make (--max-runs {limits.runs})")
    return warnings


def _partial(search: Search, target: Target, labels: Mapping[int, str]) -> list[str]:
    """Warn of values at which a metric of the target cannot be compared, since requests failed."""
    warnings = []
    for clause in target.clauses:
        if at := [label for position, label in sorted(labels.items()) if search.judge.is_partial(clause, position)]:
            warnings.append(
                f"requests failed or were cut off at {', '.join(at)}: {clause.metric.name} is of the others there, so "
                "it is not compared and does not meet the target; p90(latency), failed_share and within(5 s) count all"
            )
    return warnings


def _reached(curve: Sequence[Tried], clause: Clause) -> str:
    """The best estimate of a clause's metric and where it was."""
    name, unit = clause.metric.name, clause.metric.unit
    known = [
        (estimate.mean, estimate, tried)
        for tried in curve
        for estimate in tried.estimates
        if estimate.metric == name and estimate.mean is not None
    ]
    if not known:
        return f"no value has a {name} that can be compared"
    mean, best, tried = (min if clause.upper else max)(known, key=lambda each: each[0])
    interval = "" if best.low == best.high else f" ({_interval(best.low, best.high, unit)})"
    return f"the best {name} is {shown(mean, unit)}{interval} at {tried.label}"


def _unit(name: str) -> str:
    """The unit of a metric."""
    from farweb.results.metrics import find_metric

    return find_metric(name).unit


def shown(value: float | None, unit: str) -> str:
    """A number with five digits in the unit that suits it."""
    if value is None:
        return "–"
    if math.isinf(value):
        return ENDLESS
    if unit not in ("", "1"):
        for name, size in reversed(quantity.decimal_units(unit).items()):
            if abs(value) >= size:
                return f"{plain(value / float(size), _DIGITS)} {name}"
        return f"{plain(value, _DIGITS)} {unit}"
    whole = value == round(value) or abs(value) >= 10**_DIGITS
    return f"{value:,.0f}" if whole else plain(value, _DIGITS)


def _interval(low: float | None, high: float | None, unit: str) -> str:
    """An interval of a metric or of a ratio."""
    if low is None or high is None:
        return "–"
    if low == high:
        return "all equal"
    return interval(low, high, unit, write=shown)
