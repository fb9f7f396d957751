"""The answer of a search for a size, in numbers; `farweb.size.screen` has it in words."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from farweb.results.judged import OF_LOG
from farweb.size.judge import Judge, Verdict
from farweb.size.screen import screen, sentence, shown
from farweb.size.search import Found, Limits, Search
from farweb.size.target import Clause, Target
from farweb.size.vary import Axis
from farweb.statistics.judgement import Origin
from farweb.statistics.quantiles import to_json
from farweb.text import parse as quantity
from farweb.text.quantities import interval
from farweb.text.words import listed

if TYPE_CHECKING:
    from rich.console import RenderableType


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
        called: The metric as the target has it.
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
        word: The same in a word: `best`, `ties`, `open` or `worse` where all of the target is about the best value,
            otherwise `meets`, `open` or `fails`.
    """

    label: str
    value: str | int | float | bool
    number: float | None
    n: int
    verdict: Verdict
    estimates: tuple[Estimate, ...]
    word: str = "open"


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
        answer: The smallest value that was shown to meet it; of a target with `best` the smallest from which on none up
            to the best is worse. None when there is none.
        low: The answer's interval. The smallest value that meets the target lies above `low`, the largest value that
            was shown not to; None when the range begins with values that were not.
        high: The other end: the smallest value that was shown to meet it, which is the answer unless the target names
            `best`; None when none was. With `largest`, `low` was shown to meet it and `high` was shown not to.
        interval_of: Units that this interval comes from; none where the seed makes no difference.
        scope: Where the answer holds: ``for this log``, or in general (empty).
        reached: For each clause of the target the best estimate and where it is, in words.
        without_chance: True when runs do not depend on the seed.
        curve: The values tried, from the smallest to the largest.
        runs: Runs that the search took.
        connections: Limit of a connection of the legs whose connections were varied, as `farweb check` says it.
        warnings: Limits of the answer, a sentence each.
        best: The best value tried, which the others stand against; None where the target names none.
        holds: What the answer holds for.
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

    @property
    def text(self) -> str:
        """The answer as a sentence."""
        return sentence(self)

    @property
    def interval(self) -> str:
        """The answer's interval in words; empty without an answer."""
        if self.answer is None:
            return ""
        fails, meets = (self.high, self.low) if self.largest else (self.low, self.high)
        if self.without_chance and self.interval_of == "none" and fails is not None:
            return f"{fails.label} fails; nothing is random here"
        if fails is not None and meets is not None:
            if self.largest:
                return f"at least {meets.label}, below {fails.label} {self._sure}"
            return f"above {fails.label}, at most {meets.label} {self._sure}"
        if fails is not None:
            return f"{'below' if self.largest else 'above'} {fails.label} {self._sure}, no value is shown to meet it"
        if meets is None:
            return f"no value was shown to meet it or not to {self._sure}"
        if meets != self.answer:
            return f"at {'least' if self.largest else 'most'} {meets.label} {self._sure}"
        ends = "at the end of the range" if self.answer == self.curve[-1 if self.largest else 0] else "or beyond"
        return ends if self.without_chance else f"{ends}, {self._sure}"

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

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        found: dict[str, Any] = to_json({**asdict(self), "interval": self.interval})
        return found

    def __rich__(self) -> "RenderableType":
        return screen(self)

    def _repr_html_(self) -> str:
        return screen(self)._repr_html_()


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
            *_warnings(found, labels, limits),
            *_partial(search, target, labels),
            *warnings,
        ),
        best=None if found.best is None else tried[found.best],
        holds=_holds(search.judge, target, limits),
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
            clause.called,
        )
        for clause in target.clauses
    )
    verdict = judge.verdict(position)
    of_best = all(clause.of_best for clause in target.clauses)
    word = _WORDS[of_best].get(verdict, "open")
    if of_best and position == judge.anchor():
        word = "best"
    return Tried(choice.label, choice.value, choice.number, judge.count(position), verdict, estimates, word)


_WORDS = {
    True: {Verdict.MEETS: "ties", Verdict.FAILS: "worse"},
    False: {Verdict.MEETS: "meets", Verdict.FAILS: "fails"},
}


def _holds(judge: Judge, target: Target, limits: Limits) -> str:
    """Say what the answer holds for, and how sure it is."""
    what = "this log" if judge.log is not None else "traffic of this kind"
    sure = f"{quantity.decimal(Fraction(str(limits.confidence)) * 100)} %"
    origin = _origin(judge, target)
    if origin == "blocks" and judge.log is not None:
        few = "too few requests for intervals" if judge.log.blocks < 2 else f"{sure}, {judge.log.blocks} time blocks"
        return f"Holds for {what} ({few})."
    if origin == "replications":
        return f"Holds for {what} ({sure} for all verdicts together)."
    return f"Holds for {what if judge.log is not None else 'these requests'}: nothing is random here."


def _warnings(found: Found, labels: Mapping[int, str], limits: Limits) -> list[str]:
    def which(positions: Sequence[int]) -> str:
        return listed([labels[position] for position in positions if position in labels])

    warnings = []
    if found.again and found.best is None:
        warnings.append(f"{which(found.again)} beyond the answer {'fails' if len(found.again) == 1 else 'fail'} again")
    if found.before:
        warnings.append(
            f"the target is also met at {which(found.before)} and fails between: look at the curve (farweb plot "
            "latency-load)"
        )
    if found.stopped:
        warnings.append(f"ended at --max-runs {limits.runs}; the same command with more continues")
    return warnings


def _partial(search: Search, target: Target, labels: Mapping[int, str]) -> list[str]:
    """Warn of values at which a metric of the target cannot be compared, since requests failed."""
    warnings = []
    for clause in target.clauses:
        if at := [label for position, label in sorted(labels.items()) if search.judge.is_partial(clause, position)]:
            warnings.append(
                f"requests failed or were cut off at {', '.join(at)}, which {clause.metric.name} does not count: they "
                "fail the target; use p90(latency), failed_share or within(5 s)"
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
    span = "" if best.low is None or best.low == best.high else f" ({interval(best.low, best.high, unit, write=shown)})"
    return f"the best {name} is {shown(mean, unit)}{span} at {tried.label}"
