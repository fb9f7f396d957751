"""Searches for the smallest value that meets a target: chooses the next runs, and keeps what is found.

It runs nothing itself: `ask` names the runs that it needs, `add` takes their metrics, until `ask` names no more. What
it asks for depends only on these metrics, not on the order or the place of the runs, so the same scenario and seed give
the same answer on any number of workers.

1. Both ends of the range and values spread between them are tried first: 5 in all, or 9 when the target names `best`;
   they bracket the answer, begin the curve and show whether the metric rises or falls throughout. `best` is taken over
   these and over every value that is tried later.
2. The bracket is halved (in ratios on a wide range): it is between the largest value that was shown not to meet the
   target and the smallest above it that was shown to. `farweb.size.judge` says what shown means.
3. A value may stay undecided after the most replications that one may have. The bracket is then narrowed on either side
   of it, until a quarter of the bracket or less is left to gain there; it stays wider than a step.

That values above the answer meet the target and those below do not is an assumption. It is checked on all values that
were tried: the answer is the smallest value from which on all that were tried meet the target, as far as any do.

With `largest` the axis runs downwards, and "above" and "below" change places.
"""

import math
from dataclasses import dataclass
from typing import Protocol

from farweb.size.judge import Judge, Row, Verdict, schedule
from farweb.size.target import Target

_SPREAD = 5  # chosen: quarters of the range; one more than two steps of halving would try
_SIDE = 0.25  # chosen: nearer to an undecided value, all take the most replications, and nearly none is decided
_SPREAD_OF_BEST = 9  # chosen: eighths, so that a best value between the ends is met or nearly so


class Line(Protocol):
    """Values in a row; `farweb.size.vary.Axis` is one."""

    def __len__(self) -> int: ...
    def between(self, one: int, other: int) -> int:
        """A position between two others."""

    def spread(self, number: int) -> list[int]:
        """Both ends and positions between."""


@dataclass(frozen=True)
class Limits:
    """Confidence that an answer is to have, and the most runs that it may take.

    Attributes:
        confidence: Probability that all verdicts, and with them the answer's interval, are right.
        replications: The least number of replications of a value, where runs differ by their seed. Not below 3. At 3,
            Student's interval of a normal metric is right too, but hopelessly wide; 5 is chosen.
        most: The most replications of a value. 55 is chosen: half a standard deviation from the bound is seen then.
        runs: The most runs in all; chosen.
    """

    confidence: float = 0.95
    replications: int = 5
    most: int = 55
    runs: int = 1000

    def __post_init__(self) -> None:
        if not 0 < self.confidence < 1 or self.replications < 3:
            raise ValueError("the confidence is between 0 and 1, and there are at least 3 replications")


@dataclass(frozen=True)
class Found:
    """Findings of a search, as positions on the axis.

    Attributes:
        answer: The smallest value shown to meet the target; None when none was.
        below: The largest value below it that was shown not to; None when there is none.
        attainable: Whether a value meets the target; None when that is not decided.
        again: Values above the answer that do not meet it: the metric neither only rises nor only falls.
        before: Values below `below` that meet it all the same.
        undecided: Values that their most replications did not decide.
        stopped: Whether the search ended because it may make no more runs.
    """

    answer: int | None
    below: int | None
    attainable: bool | None
    again: tuple[int, ...]
    before: tuple[int, ...]
    undecided: tuple[int, ...]
    stopped: bool


class Search:
    """A search along an axis.

    Args:
        axis: The values that may be tried.
        target: The condition to meet.
        limits: Confidence and the most runs.
        chance: Whether the scenario is known to depend on its seed; without it that is found out.

    Attributes:
        tried: Positions that were asked for, ascending.
        values: The most positions that can be tried.
        runs: Runs that were added.
        judge: Keeps the metrics and the verdict of each value.
    """

    def __init__(self, axis: Line, target: Target, limits: Limits, chance: bool = False) -> None:
        self._axis = axis
        self._limits = limits
        of_best = any(clause.of_best for clause in target.clauses)
        self.tried = axis.spread(_SPREAD_OF_BEST if of_best else _SPREAD)
        widest = max(high - low for low, high in zip(self.tried, self.tried[1:], strict=False))
        # Halving takes log2 steps, on both sides of an undecided value twice as many.
        self.values = len(self.tried) + 2 * math.ceil(math.log2(widest))
        looks = schedule(limits.replications, max(limits.most, limits.replications))
        self.judge = Judge(target, looks, limits.confidence, self.values, chance)
        self.runs = 0
        self._stopped = False

    def ask(self) -> list[tuple[int, int]]:
        """Positions and replications to run next, all at once; none when the search is over."""
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
        below, answer, verdicts = self._bracket()
        meets = [position for position in self.tried if verdicts[position] == Verdict.MEETS]
        fails = [position for position in self.tried if verdicts[position] == Verdict.FAILS]
        undecided = tuple(position for position in self.tried if verdicts[position] == Verdict.UNDECIDED)
        attainable = True if meets else False if len(fails) == len(self.tried) else None
        again = () if answer is None else tuple(position for position in fails if position > answer)
        before = () if below is None else tuple(position for position in meets if position < below)
        return Found(answer, below, attainable, again, before, undecided, self._stopped)

    def _bracket(self) -> tuple[int | None, int | None, dict[int, Verdict]]:
        """The largest value that fails below the smallest from which on all meet the target, and that one."""
        verdicts = {position: self.judge.verdict(position) for position in self.tried}
        meets = [position for position in self.tried if verdicts[position] == Verdict.MEETS]
        last = max(meets, default=len(self._axis))
        fails = [position for position in self.tried if verdicts[position] == Verdict.FAILS and position < last]
        below = max(fails, default=None)
        answer = min((position for position in meets if below is None or position > below), default=None)
        return below, answer, verdicts

    def _wanted(self) -> dict[int, int]:
        """The number of replications that each value should have, by position."""
        if not self.runs:
            return dict.fromkeys(self.tried, self.judge.first_look())
        below, answer, verdicts = self._bracket()
        wanted: dict[int, int] = {}
        for position in self.tried:
            if verdicts[position] == Verdict.OPEN and (below is None or position > below):
                for each, number in self.judge.wanted(position).items():
                    wanted[each] = max(number, wanted.get(each, 0))
        if not wanted and answer is not None:
            for position in self._halves(below, answer):
                self.tried = sorted([*self.tried, position])
                wanted[position] = self.judge.first_look()
        return wanted

    def _halves(self, below: int | None, answer: int) -> list[int]:
        """New values in the bracket, on either side of those in it that stay undecided."""
        low = -1 if below is None else below
        inside = [position for position in self.tried if low < position < answer]
        gaps = [(low, inside[0]), (inside[-1], answer)] if inside else [(low, answer)]
        least = max(1, _SIDE * (answer - low)) if inside else 1
        return [self._axis.between(one, other) for one, other in gaps if one >= 0 and other - one > least]
