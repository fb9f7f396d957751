"""The answer of a search for a size, and how a search becomes one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from farweb.judge.judged import OF_LOG
from farweb.results.metrics import words
from farweb.size.judge import Judge, Meets
from farweb.size.screen import screen, sentence
from farweb.size.search import Found, Limits, Search
from farweb.size.target import Clause, Target
from farweb.size.tried import Numbers, Reading, Tried
from farweb.size.vary import Axis
from farweb.statistics.blocks import Origin
from farweb.text import parse
from farweb.text.quantities import interval, quantity
from farweb.text.sheet import Screen, Shown
from farweb.text.words import listed


@dataclass(frozen=True)
class Answer(Numbers, Shown):
    """The numbers of an answer, and their words."""

    @property
    def text(self) -> str:
        """The answer as a sentence."""
        return sentence(self)

    def screen(self) -> Screen:
        """The answer, and how the values stand against it."""
        return screen(self)


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
            *_warnings(found, labels, limits, axis),
            *_partial(search, target, labels),
            *warnings,
        ),
        best=None if found.best is None else tried[found.best],
        holds=_holds(search.judge, target, limits, found.answer),
        remedy=_remedy(search.judge, target),
    )


def _origin(judge: Judge, target: Target) -> Origin:
    """Units of the answer's interval: blocks, where any clause has them."""
    origins = [judge.origin(clause) for clause in target.clauses]
    return next((origin for origin in ("blocks", "replications") if origin in origins), "none")


def _tried(search: Search, axis: Axis, target: Target, position: int) -> Tried:
    choice, judge = axis.choice(position), search.judge
    estimates = tuple(
        Reading(
            clause.metric.name,
            *judge.interval(clause, position),
            judge.origin(clause),
            *(judge.ratio(clause, position) if clause.of_best else (None, None, None)),
            clause.called,
            *judge.why(clause, position),
        )
        for clause in target.clauses
    )
    verdict = judge.verdict(position)
    of_best = all(clause.of_best for clause in target.clauses)
    word = _WORDS[of_best].get(verdict, "open")
    if of_best and position == judge.anchor():
        word = "best"
    elif word == "within":
        word = judge.beside_best(position)
    return Tried(choice.label, choice.value, choice.number, judge.count(position), verdict, estimates, word)


_WORDS = {
    True: {Meets.MEETS: "within", Meets.FAILS: "worse"},
    False: {Meets.MEETS: "meets", Meets.FAILS: "fails"},
}


def _holds(judge: Judge, target: Target, limits: Limits, answer: int | None) -> str:
    """Give the scope and certainty of the answer, in the words of its verdict where the rule has judged it."""
    if judge.log is not None and (said := judge.log.holds_for(answer)):
        return said
    what = "this log" if judge.log is not None else "traffic of this kind"
    sure = f"{parse.decimal(Fraction(str(limits.confidence)) * 100)} %"
    origin = _origin(judge, target)
    if origin == "blocks" and judge.log is not None:
        few = "too few requests for intervals" if judge.log.blocks < 2 else f"{sure}, {judge.log.blocks} time blocks"
        seeds = ", and one seed of its links: --seed 2 has another" if judge.may_differ else ""
        return f"Holds for {what} ({few}){seeds}."
    if origin == "replications":
        return f"Holds for {what} ({sure} for all verdicts together)."
    return f"Holds for {what if judge.log is not None else 'these requests'}: nothing is random here."


def _remedy(judge: Judge, target: Target) -> str:
    """What makes intervals narrower; empty where nothing does."""
    if _origin(judge, target) != "blocks":
        return "--max-replications narrows this"
    return "" if judge.log is None or judge.log.is_long else "a longer log narrows this"


def _warnings(found: Found, labels: Mapping[int, str], limits: Limits, axis: Axis) -> list[str]:
    def which(positions: Sequence[int]) -> str:
        return listed([labels[position] for position in positions if position in labels])

    warnings = []
    if found.again and found.best is None:
        first, on = found.again[0], "down" if axis.downwards else "on"
        if all(position in found.again for position in labels if position >= first):
            warnings.append(f"values from {labels[first]} {on} fail again")
        else:
            warnings.append(
                f"{which(found.again)} beyond the answer {'fails' if len(found.again) == 1 else 'fail'} again"
            )
    if found.before:
        warnings.append(
            f"the target is also met at {which(found.before)} and fails between: look at the curve (farweb plot "
            "latency-load)"
        )
    if found.stopped:
        warnings.append(f"ended at --max-runs {limits.runs}; the same command with more continues")
    return warnings


def _partial(search: Search, target: Target, labels: Mapping[int, str]) -> list[str]:
    """Warn of values with failed requests, where a metric of the target cannot be compared."""
    warnings = []
    for clause in target.clauses:
        if at := [label for position, label in sorted(labels.items()) if search.judge.is_partial(clause, position)]:
            warnings.append(
                f"requests failed or were cut off at {', '.join(at)}, which the {words(clause.metric)} does not count: "
                "they fail the target; use p90(latency), failed_share or within(5 s)"
            )
    return warnings


def _reached(curve: Sequence[Tried], clause: Clause) -> str:
    """The best estimate of a clause's metric and where it was."""
    name, unit, called = clause.metric.name, clause.metric.unit, words(clause.metric)
    known = [
        (estimate.mean, estimate, tried)
        for tried in curve
        for estimate in tried.estimates
        if estimate.metric == name and estimate.mean is not None
    ]
    if not known:
        return f"no value has a {called} that can be compared"
    mean, best, tried = (min if clause.upper else max)(known, key=lambda each: each[0])
    span = "" if best.low is None or best.low == best.high else f" ({interval(best.low, best.high, unit)})"
    is_short = not clause.of_best and (mean > clause.bound if clause.upper else mean < clause.bound)
    reads_alike = quantity(mean, unit) == quantity(clause.bound, unit)
    short = " just short of it," if is_short and reads_alike else ""
    return f"{called} at best {quantity(mean, unit)}{span},{short} at {tried.label}"
