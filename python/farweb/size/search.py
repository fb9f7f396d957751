"""Searches for the smallest value that meets a target: chooses the next runs, and keeps their results.

It runs nothing itself: `ask` names the runs that it needs, `add` takes their metrics, until `ask` names no more. Its
choices depend only on these metrics, not on the order or the place of the runs: the same scenario and seed give the
same answer on any number of workers.

1. Both ends of the range and values spread between them are tried first: 5 in all, or 9 when the target names `best`.
   They begin the curve and show whether the metric rises or falls throughout. `best` is taken over all values tried,
   later ones too. The bracket about the answer is halved (in ratios on a wide range) to the width asked for, with a run
   of each value.
2. Where the requests come from a log, a run decides as much as runs can (`farweb.size.log`). The answer's interval is
   halved from outside, between the largest value that was shown not to meet the target and the smallest that was shown
   to. A target of `best` ends where these are at most 5 % apart, or at most a factor of 2 and tie: more runs would
   overfit the log.
3. If the seed may matter, two runs of the values about the answer show it. If so, the two values next to the answer
   first get the replications of the first look; then the bracket is halved again, from the values of the spread about
   it towards these. `farweb.size.judge` has the rule of decisions.
4. A value may stay undecided after the most replications. The bracket is then narrowed on either side of it, until a
   quarter of the bracket or less is left to gain. It stays wider than a step.

The search assumes that values above the answer meet the target and values below fail, and checks it on all values
tried: the answer is the smallest value from which on all values tried meet the target, as far as any do. Where the
target names `best`, it is the smallest value from which on none tried is worse, up to the best: ties with the best are
not worse, and values beyond the best do not matter.

With `largest` the axis runs downwards, and "above" and "below" change places.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from farweb.errors import FarwebError, require_range
from farweb.size.judge import Judge, Meets, Row, schedule
from farweb.size.log import OfLog
from farweb.size.target import Target

_SPREAD = 5  # chosen: quarters of the range, one more than two steps of halving would try
_SIDE = 0.25  # chosen: nearer to an undecided value, all take the most replications, and nearly none is decided
_NEAR = 1.05  # chosen: the margin of the rule of verdicts, as a size
_TIED = 2.0  # chosen: a buffer or queue is doubled, not fitted
_SPREAD_OF_BEST = 9  # chosen: eighths, to meet or nearly meet a best value between the ends


class Line(Protocol):
    """Values in a row, such as `farweb.size.vary.Axis`."""

    def __len__(self) -> int: ...
    def between(self, one: int, other: int) -> int:
        """A position between two others."""

    def spread(self, number: int) -> list[int]:
        """Both ends and positions between."""

    def is_narrow(self, one: int, other: int) -> bool:
        """True where an answer between two positions is as narrow as asked."""

    def times(self, one: int, other: int) -> float | None:
        """The larger of two values over the smaller, where no precision was asked for."""


@dataclass(frozen=True)
class Limits:
    """Confidence that an answer is to have, and the most runs that it may take.

    Attributes:
        confidence: Probability that the answer's interval and every verdict are right, 0.5 to 0.9999.
        replications: Runs of a value at first, where the seed makes a difference. At least 3, where Student's interval
            of a normal metric is right but hopelessly wide. Chosen: 5.
        most: Most runs of a value; then it stays open. 55 is chosen: half a standard deviation from the bound is seen
            then.
        runs: Most runs in all (chosen).

    Raises:
        FarwebError: A number is outside of its range.
    """

    confidence: float = 0.95
    replications: int = 5
    most: int = 55
    runs: int = 1000

    def __post_init__(self) -> None:
        require_range("--confidence", self.confidence, 0.5, 0.9999)
        require_range("--replications", self.replications, 3, 10_000)
        require_range("--max-replications", self.most, 3, 10_000)
        require_range("--max-runs", self.runs, 1)
        if self.most < self.replications:
            raise FarwebError("--max-replications must be at least --replications")


@dataclass(frozen=True)
class Found:
    """Findings of a search, as positions on the axis.

    Attributes:
        answer: The smallest value shown to meet the target, or with `best` the smallest from which on none up to the
            best is worse, as far as runs can show. None without one.
        below: The largest value below it that was shown not to, or None when there is none.
        above: The smallest value from there on that was shown to meet it, or None when none was.
        attainable: True when a value was shown to meet the target, or None when that is not decided.
        again: Values above the answer that do not meet it: the metric neither only rises nor only falls.
        before: Values below `below` that meet it all the same.
        undecided: Values that their most replications did not decide.
        stopped: True when the search ended because it may make no more runs.
        best: The best value, where the target names it and it meets the other clauses.
    """

    answer: int | None
    below: int | None
    above: int | None
    attainable: bool | None
    again: tuple[int, ...]
    before: tuple[int, ...]
    undecided: tuple[int, ...]
    stopped: bool
    best: int | None = None


class Search:
    """A search along an axis.

    Args:
        axis: The values that may be tried.
        target: The condition to meet.
        limits: Confidence and the most runs.
        chance: True when the scenario is known to depend on its seed, False to find out.
        log: Judge of the requests of a log, where each replication has them (see `farweb.size.log`).

    Attributes:
        tried: Positions that were asked for, ascending.
        values: The most positions that can be tried.
        runs: Runs that were added.
        judge: Keeps the metrics and the verdict of each value.
    """

    def __init__(
        self, axis: Line, target: Target, limits: Limits, chance: bool = False, log: OfLog | None = None
    ) -> None:
        self._axis = axis
        self._limits = limits
        of_best = any(clause.of_best for clause in target.clauses)
        self.tried = axis.spread(_SPREAD_OF_BEST if of_best else _SPREAD)
        widest = max(high - low for low, high in zip(self.tried, self.tried[1:], strict=False))
        # Halving takes log2 steps, on both sides of an undecided value twice as many, and as many before by single
        # runs.
        self._steps = math.ceil(math.log2(widest))
        self.values = len(self.tried) + 3 * self._steps
        looks = schedule(limits.replications, max(limits.most, limits.replications))
        self.judge = Judge(target, looks, limits.confidence, self.values, chance, log)
        self._spread = tuple(self.tried)
        self._raised: set[int] = set()
        self.runs = 0
        self._stopped = False

    def ask(self) -> list[tuple[int, int]]:
        """Positions and replications to run next, all at once, or none when the search is over."""
        wanted = self._wanted()
        asked = [
            (position, replication)
            for position in sorted(wanted)
            for replication in range(self.judge.count(position), wanted[position])
        ]
        if self.runs + len(asked) > self._limits.runs:
            self._stopped = True
            return []
        return asked

    def add(self, position: int, replication: int, metrics: Row) -> None:
        """Take the metrics of a run that was asked for."""
        self.runs += 1
        self.judge.add(position, replication, metrics)

    def found(self) -> Found:
        """Sum up the findings so far."""
        verdicts = self._verdicts()
        below, above = self._bracket(verdicts)
        said = {position: self.judge.taken(position) for position in self.tried}
        last, answer = self._bracket(said)
        meets, fails, undecided = (
            [position for position in self.tried if verdicts[position] == of]
            for of in (Meets.MEETS, Meets.FAILS, Meets.UNDECIDED)
        )
        attainable = True if meets else False if len(fails) == len(self.tried) else None
        again = () if answer is None else self._of(said, Meets.FAILS, answer, len(self._axis))
        best = self.judge.anchor()
        before = () if last is None else self._of(said, Meets.MEETS, -1, last)
        return Found(answer, below, above, attainable, again, before, tuple(undecided), self._stopped, best)

    def _of(self, verdicts: Mapping[int, Meets], of: Meets, low: int, high: int) -> tuple[int, ...]:
        """Values between two positions with a verdict."""
        return tuple(position for position in self.tried if low < position < high and verdicts[position] == of)

    def _verdicts(self) -> dict[int, Meets]:
        return {position: self.judge.verdict(position) for position in self.tried}

    def _likely(self, verdicts: Mapping[int, Meets]) -> dict[int, Meets]:
        """The verdicts, by the means so far where more runs may decide, or where runs of a log do not."""
        leaning = (Meets.OPEN, Meets.UNDECIDED) if self.judge.is_of_log else (Meets.OPEN,)
        return {
            position: self.judge.leans(position) if verdict in leaning and self.judge.count(position) else verdict
            for position, verdict in verdicts.items()
        }

    def _bracket(self, verdicts: Mapping[int, Meets]) -> tuple[int | None, int | None]:
        """The largest failing value below the smallest from which on all meet the target, and that smallest one.

        Up to the best value where the target names `best`, otherwise up to the largest value that meets it.
        """
        meets = [position for position in self.tried if verdicts[position] == Meets.MEETS]
        best = self.judge.anchor()
        last = max(meets, default=len(self._axis)) if best is None else best
        fails = [position for position in self.tried if verdicts[position] == Meets.FAILS and position < last]
        below = max(fails, default=None)
        return below, min((position for position in meets if below is None or position > below), default=None)

    def _wanted(self) -> dict[int, int]:
        """The number of replications that each value should have, by position."""
        if new := [position for position in self.tried if not self.judge.count(position)]:
            return dict.fromkeys(new, 1)
        verdicts = self._verdicts()
        likely = self._likely(verdicts)
        bracket = self._bracket(likely)
        between = self._halves(*bracket, likely)
        if not between and Meets.OPEN not in verdicts.values():
            between = self._halves(*self._bracket(verdicts), verdicts)
        kept = 2 * self._steps if Meets.OPEN in verdicts.values() else 0  # values, for halving with replications
        if between and len(self.tried) + len(between) <= self.values - kept:
            return self._try(between)
        first = self._first(*bracket, likely)
        nearest = [each for each in bracket if each is not None and verdicts[each] == Meets.OPEN]
        if not self.judge.may_differ:
            open_ = (each for each in first if verdicts[each] == Meets.OPEN)
            return {each: self.judge.wanted(each)[each] for each in (*nearest, *open_)}
        return self._decide(nearest, first, verdicts)

    def _decide(self, nearest: Sequence[int], first: Iterable[int], verdicts: Mapping[int, Meets]) -> dict[int, int]:
        """Replications for the next look at the values that come next.

        The values next to the answer have a first look, which may be enough. Then the bracket is halved towards them
        from outside. They have more looks where all others are decided.
        """
        if wanted := self._looks([each for each in nearest if self.judge.count(each) < self._limits.replications]):
            return wanted
        self._raised |= {each for each in first if verdicts[each] == Meets.OPEN}
        if not self._looks(self._raised):
            below, answer = self._bracket(verdicts)
            between = self._halves(below, answer, {**verdicts, **dict.fromkeys(nearest, Meets.UNDECIDED)})
            if new := [each for each in between if each not in self.tried]:
                self._raised |= set(between)
                return self._try(new)
            is_left = not self._is_narrow(below, answer)
            self._raised |= set(between or (nearest if is_left and Meets.UNDECIDED not in verdicts.values() else ()))
        return self._looks(self._raised)

    def _try(self, positions: Sequence[int]) -> dict[int, int]:
        """Ask for a run of new values."""
        self.tried = sorted([*self.tried, *positions])
        return dict.fromkeys(positions, 1)

    def _looks(self, positions: Iterable[int]) -> dict[int, int]:
        """The replications that values need for their next look, as far as it can decide."""
        wanted: dict[int, int] = {}
        for position in positions:
            if self.judge.verdict(position) == Meets.OPEN:
                for each, number in self.judge.wanted(position).items():
                    wanted[each] = max(number, wanted.get(each, 0))
        return wanted

    def _first(self, below: int | None, answer: int | None, likely: Mapping[int, Meets]) -> set[int]:
        """Values of the spread to be decided before those between: about the answer, or in contradiction to it.

        Where none is likely to meet the target: all, or two as long as runs may be alike.
        """
        if answer is None:
            return set(self._spread if self.judge.may_differ else self._spread[-2:])
        fails, meets = ([each for each in self._spread if likely[each] == of] for of in (Meets.FAILS, Meets.MEETS))
        low = [position for position in fails if below is not None and position < below]
        high = [position for position in meets if position > answer]
        again = [position for position in fails if position > answer]
        before = [position for position in meets if below is not None and position < below]
        ends = {below, answer}.intersection(self._spread)
        return {*(low[-1:] or ends), *(high[:1] or ends), *again, *before}

    def _is_narrow(self, below: int | None, answer: int | None) -> bool:
        if below is None or answer is None:
            return False
        return self._axis.is_narrow(below, answer) or self._is_near(below, answer)

    def _is_near(self, below: int, answer: int) -> bool:
        """True where nothing between a value that fails and one that passes would be another answer of a log.

        They are at most 5 % apart, or at most a factor of 2 and tie with each other.
        """
        times = self._axis.times(below, answer) if self.judge.is_of_best_of_log else None
        return times is not None and (times <= _NEAR or (times <= _TIED and not self.judge.are_apart(below, answer)))

    def _halves(self, below: int | None, answer: int | None, verdicts: Mapping[int, Meets]) -> list[int]:
        """Values in the bracket, on either side of its undecided ones, or none where it is narrow."""
        if self._is_narrow(below, answer) or (answer is None and not self.judge.is_of_log):
            return []
        low, high = -1 if below is None else below, len(self._axis) if answer is None else answer
        inside = self._of(verdicts, Meets.UNDECIDED, low, high)
        gaps = [(low, inside[0]), (inside[-1], high)] if inside else [(low, high)]
        least = max(1, _SIDE * (high - low)) if inside and self.judge.may_differ else 1
        ended = [(one, other) for one, other in gaps if one >= 0 and other < len(self._axis) and other - one > least]
        return [self._middle(one, other) for one, other in ended if not self._is_near(one, other)]

    def _middle(self, one: int, other: int) -> int:
        """A position between two others, one that was tried where that is in the middle half."""
        middle = self._axis.between(one, other)
        inside = (position for position in self.tried if one < position < other)
        near = min(inside, key=lambda position: abs(position - middle), default=middle)
        return near if abs(near - middle) <= (other - one) / 4 else middle
