"""Judges a value against a target, from replications made in batches until the verdict is clear.

For a log, `farweb.size.log` judges metrics of requests from one run of a value. The rest here is about all others.

After each batch (a *look*) the interval of a metric's mean (`farweb.size.intervals`) is compared with its bound. A
value is decided once the interval lies on one side. Looking again and again at ever more data errs more often than
looking once, and many values are looked at. Bonferroni's inequality pays for both: the error that the whole search may
make is split equally over all values that it can try and all looks at each: *all* verdicts of a search hold together
with the stated confidence. This group-sequential design spends equal error at each look. Its intervals are wider than
necessary.

Bounds that are multiples of `best` are judged by pairs: replication r of all values has the same seed (common random
numbers), and the differences of a value's metric and the multiple of another's are compared with 0. A value meets `<=
1.05*best` when shown to against every other value tried, and fails when shown to against one of them. Which value is
the best never matters.

Runs that are equal in every metric whatever their seed need no statistics: where two of them are, one run of a value
decides. That is believed only of a scenario without random losses, and until two runs of a value differ
anywhere in the search. Where runs differ but the metric does not, chance does not reach the metric, and the first look
decides. Counts, zeros and
all metrics under random losses may be equal by chance (no drops in any run, so far): they are decided when so many
equal ones would be improbable if every third run had another value.

A quantile that failed requests reach is infinite: a value with one such run does not meet a bound from above, whatever
its other runs. Means and maxima cover completed requests only. A value with any failed request has no such metric to
compare: it fails the clause and cannot be the best, and the answer says so.

The rule of verdicts does not take these over. It judges latencies of requests; drops, queues and rates have none. It
looks once, at all requests of two sides. A search goes on until it is decided, so errors of looks and of values would
add up. Ratios to the best have the rule's intervals.

Left out: metrics of few replications that are far from normal. A rare event that no replication has shown (one run in a
hundred) is not in the interval: ask for more replications where rare events matter.

Sources: Jennison and Turnbull, Group Sequential Methods with Applications to Clinical Trials, 2000, chapters 2 and 7
(repeated looks, error spending); Law, Simulation Modeling and Analysis, 5th ed., 2015, chapters 9 (Bonferroni), 10
(paired t) and 11 (common random numbers).
"""

import bisect
import math
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from farweb.judge.verdicts import slice_word
from farweb.size.intervals import mean_interval
from farweb.size.log import Beside, OfLog, change_of
from farweb.size.target import Clause, Target
from farweb.statistics.blocks import Origin
from farweb.statistics.intervals import ratio_of_units, student

Row = Mapping[str, float | int | None]

_GROWTH = (1 + math.sqrt(5)) / 2  # chosen: a look then costs two thirds of the runs so far: 5, 8, 13, 21 …
_OTHERWISE = 1 / 3  # chosen: some 21 equal runs decide. Events in fewer runs than a third may go unseen
_ALIKE = 2  # runs that have to be equal for a scenario to count as one without chance


class Meets(StrEnum):
    """The verdict on a value, as far as decided."""

    MEETS = "meets"
    FAILS = "does not meet"
    UNDECIDED = "undecided"  # after as many replications as a value may have
    OPEN = "open"  # more replications would decide, but were not needed


def schedule(first: int, most: int) -> tuple[int, ...]:
    """List the numbers of replications to look after."""
    looks = [first]
    while looks[-1] < most:
        looks.append(min(round(looks[-1] * _GROWTH), most))
    return tuple(looks)


class Judge:
    """Keeps the replications of all values and judges them.

    Args:
        target: The condition to meet.
        looks: Numbers of replications after which to look (see `schedule`).
        confidence: Probability that all verdicts are right.
        values: The most values that the search can try.
        chance: True when the scenario is known to depend on its seed.
        log: Judge of the requests of a log, or None where replications have requests of their own.

    Attributes:
        overloaded: Values with a mean load above the rate of a link. Their times grow as long as the load lasts, so
            they meet no number.
    """

    def __init__(
        self,
        target: Target,
        looks: Sequence[int],
        confidence: float,
        values: int,
        chance: bool,
        log: OfLog | None = None,
    ) -> None:
        self.log = log
        self.overloaded: set[int] = set()
        self._chance = chance
        self._alike = self._differ = False
        self._clauses = target.clauses
        self._looks = looks
        self._rows: dict[int, dict[int, Row]] = {}
        self._arrays: dict[tuple[str, int], tuple[int, NDArray[np.float64] | None]] = {}
        self._decided: dict[tuple[Clause, int, int | None], tuple[int, bool | None]] = {}
        # The error of one look at one value. "Does not meet" needs one of several comparisons, so errors add up.
        # "Meets" needs all of them.
        self._error = (1 - confidence) / values / len(looks)
        self._rivals = values

    def add(self, position: int, replication: int, row: Row) -> None:
        """Take the metrics of a run."""
        rows = self._rows.setdefault(position, {})
        if rows:
            self._alike = True
            self._differ |= row != next(iter(rows.values()))
        rows[replication] = row

    @property
    def without_chance(self) -> bool:
        """True where runs of other seeds are known to be equal in every metric."""
        return self._alike and not self.may_differ

    @property
    def may_differ(self) -> bool:
        """True where chance is known to be in the runs."""
        return self._chance or self._differ

    def count(self, position: int) -> int:
        """Count the replications of a value."""
        return len(self._rows.get(position, ()))

    def verdict(self, position: int) -> Meets:
        """Judge a value by the replications so far."""
        if not self.count(position):
            return Meets.OPEN
        found = [self._compare(clause, position, rival) for clause, rival in self._comparisons(position)]
        if any(holds is False for holds in found):
            return Meets.FAILS
        if all(found):
            return Meets.MEETS
        return Meets.OPEN if self.wanted(position) else Meets.UNDECIDED

    def taken(self, position: int) -> Meets:
        """The verdict. A comparison with the best that no more runs decide counts as not worse."""
        verdict = self.verdict(position)
        if verdict != Meets.UNDECIDED:
            return verdict
        numbers = (each for each in self._comparisons(position) if not each[0].of_best)
        return Meets.MEETS if all(self._compare(clause, position, None) for clause, _ in numbers) else verdict

    def leans(self, position: int) -> Meets:
        """Judge a value by the means so far, where nothing is shown yet. In a log the best beats only worse values."""
        for clause, rival in self._comparisons(position):
            if clause.of_best and self._is_of_log(clause):
                if self._compare(clause, position, rival) is False:
                    return Meets.FAILS
                continue
            values, others = self._pair(clause, position, rival)
            holds = _settled(clause, rival, values, others)
            if holds is None and values is not None:
                n = len(values) if others is None else min(len(values), len(others))
                holds = _within(float(_excess(clause, values[:n], others).mean()), clause.strict)
            if not holds:
                return Meets.FAILS
        return Meets.MEETS

    def wanted(self, position: int) -> dict[int, int]:
        """List the replications that each value needs, by position, before this value can be looked at again."""
        wanted: dict[int, int] = {}
        for clause, rival in self._comparisons(position):
            if not self._is_of_log(clause) and self._compare(clause, position, rival) is None:
                pair = [position] if rival is None else [position, rival]
                look = self._next_look(min(self.count(each) for each in pair))
                wanted.update({each: max(look, wanted.get(each, 0)) for each in pair if look > self.count(each)})
        return wanted

    def origin(self, clause: Clause) -> Origin:
        """Units that the intervals of a clause's metric come from."""
        if self._is_of_log(clause):
            return "blocks"
        return "none" if self.without_chance or not self.may_differ else "replications"

    @property
    def is_of_log(self) -> bool:
        """True where a clause is judged by the requests of a log."""
        return any(self._is_of_log(clause) for clause in self._clauses)

    @property
    def is_of_best_of_log(self) -> bool:
        """True where all of the target is about the best value of a log."""
        return all(clause.of_best and self._is_of_log(clause) for clause in self._clauses)

    def are_apart(self, position: int, other: int) -> bool:
        """True where the requests of a log set two values apart in any of the target."""
        return self.log is not None and any(self.log.are_apart(each, position, other) for each in self._clauses)

    def beside_best(self, position: int) -> Beside:
        """How a value that meets the target stands to the best of each clause: the least sure word of them."""
        found = {self._beside(clause, position) for clause in self._clauses}
        return next(word for word in ("open", "within", "ties") if word in found)

    def _beside(self, clause: Clause, position: int) -> Beside:
        best = self.best(clause)
        if self.log is not None and best is not None and self._is_of_log(clause):
            return self.log.beside(clause, position, best)
        change = change_of(self.ratio(clause, position))
        return "ties" if slice_word(change, abs(clause.bound - 1)) == "equivalent" else "within"

    def _is_of_log(self, clause: Clause) -> bool:
        return self.log is not None and self.log.judges(clause)

    def interval(self, clause: Clause, position: int) -> tuple[float | None, float | None, float | None]:
        """Mean of the clause's metric at a value, with its interval, simultaneous with all others.

        A log's interval holds by itself. A share is from 0 to 1.
        """
        mean, low, high = self._interval(clause, position)
        if clause.metric.unit == "1" and low is not None and high is not None:
            low, high = max(low, 0.0), min(high, 1.0)
        return mean, low, high

    def _interval(self, clause: Clause, position: int) -> tuple[float | None, float | None, float | None]:
        values = self._values(clause, position)
        if values is None:
            return None, None, None
        if self.log is not None and self._is_of_log(clause):
            return self.log.interval(clause, position)
        mean = student(values).value
        if np.isinf(values).any():
            return mean, None, None
        if self.without_chance:
            return mean, mean, mean
        return (
            mean,
            *(mean_interval(values, self._error, self._error) if len(values) >= self._looks[0] else (None, None)),
        )

    def ratio(self, clause: Clause, position: int) -> tuple[float | None, float | None, float | None]:
        """The metric at a value over the metric at the best value tried, with its interval, of pairs of equal seeds."""
        best, mean = self.best(clause), self.interval(clause, position)[0]
        if best is None or mean is None or not math.isfinite(mean):
            return None, None, None
        above, below = self._values(clause, position), self._values(clause, best)
        if above is None or below is None or not self.interval(clause, best)[0]:
            return None, None, None
        if self.log is not None and self._is_of_log(clause):
            return self.log.ratio(clause, position, best)
        n = min(len(above), len(below))
        above, below = above[:n], below[:n]
        ratio = float(above.mean() / below.mean())
        if best == position or self.without_chance:
            return ratio, ratio, ratio
        change = ratio_of_units(below, above, 1 - 2 * self._error)
        if n < self._looks[0] or change.low is None or change.high is None:
            return ratio, None, None
        return ratio, 1 + change.low, 1 + change.high

    def why(self, clause: Clause, position: int) -> tuple[str, str]:
        """What decides against a value: in a table, and in a sentence for one that is worse than the best."""
        if position in self.overloaded and _is_time(clause):
            return "load above the rate", ""
        best = self.best(clause) if clause.by_rule and self._is_of_log(clause) else None
        return ("", "") if self.log is None or best in (None, position) else self.log.why(clause, position, best)

    def best(self, clause: Clause) -> int | None:
        """The value with the best mean of the clause's metric, of equal ones the first, or None where none has one."""
        if self.log is not None and clause.by_rule and self._is_of_log(clause):
            return self.log.best(clause, sorted(self._rows))
        means = {each: self._mean(clause, each) for each in sorted(self._rows)}
        known = {each: mean for each, mean in means.items() if mean is not None and math.isfinite(mean)}
        return (min if clause.upper else max)(known, key=known.__getitem__) if known else None

    def anchor(self) -> int | None:
        """The smallest best value of a clause that does not fail, or None where no clause names the best."""
        best = (self.best(clause) for clause in self._clauses if clause.of_best)
        return min((each for each in best if each is not None and self.verdict(each) != Meets.FAILS), default=None)

    def _mean(self, clause: Clause, position: int) -> float | None:
        values = self._values(clause, position)
        if values is None:
            return None
        if self.log is not None and self._is_of_log(clause):
            return self.log.interval(clause, position)[0]
        return float(values.mean())

    def _comparisons(self, position: int) -> Iterable[tuple[Clause, int | None]]:
        """List the comparisons that a value has to pass: each clause against its number, or every other value.

        In a log it is known which value is the best.
        """
        for clause in self._clauses:
            if not clause.of_best:
                yield clause, None
                continue
            best = self.best(clause) if self._is_of_log(clause) else None
            yield from ((clause, rival) for rival in self._rows if rival != position and best in (rival, None))

    def _next_look(self, count: int) -> int:
        """The replications of the next look after `count`, or 0 when there is none."""
        if not self.may_differ:
            return _ALIKE if count < _ALIKE else 0
        return next((look for look in self._looks if look > count), 0)

    def _compare(self, clause: Clause, position: int, rival: int | None) -> bool | None:
        """True when the value meets the clause, or None when that is not clear yet.

        The first look that decides is the one that counts, whatever later replications show.
        """
        key = clause, position, rival
        looked, holds = self._decided.get(key, (0, None))
        if holds is not None and not self.without_chance:
            return holds
        if position in self.overloaded and _is_time(clause):
            return False
        values, others = self._pair(clause, position, rival)
        settled = _settled(clause, rival, values, others)
        if values is None or (rival is not None and others is None):
            return settled
        if not clause.of_best and clause.upper and clause.bound == 0 and not clause.strict and (values > 0).any():
            return False  # no metric is negative, so its expectation is above 0
        if self.log is not None and self._is_of_log(clause):
            return self.log.holds(clause, position, rival)
        if settled is not None:
            return settled
        if self.without_chance:
            return _within(float(_excess(clause, values[:1], others)[0]), clause.strict)
        n = len(values) if others is None else min(len(values), len(others))
        for look in self._looks[bisect.bisect_right(self._looks, looked) :]:
            if holds is None and look <= n:
                by_chance = self._chance or clause.metric.whole or not values[0]
                holds = self._look(clause, _excess(clause, values[:look], others), by_chance)
                self._decided[key] = look, holds
        return holds

    def _look(self, clause: Clause, excess: NDArray[np.float64], by_chance: bool) -> bool | None:
        """True when the expectation of `excess` is within the bound at 0, if these replications show it.

        Args:
            clause: The clause that is judged.
            excess: How far each replication is beyond the bound.
            by_chance: True when they may all be equal by chance.
        """
        broken = self._error / len(self._clauses) / (self._rivals if clause.of_best else 1)
        if (excess == excess[0]).all():
            within = _within(float(excess[0]), clause.strict)
            likelihood = (1 - _OTHERWISE) ** (len(excess) - 1) if by_chance else 0.0
            return within if likelihood <= (self._error if within else broken) else None
        low, high = mean_interval(excess, broken, self._error)
        if _within(high, clause.strict):
            return True
        return None if _within(low, clause.strict) else False

    def is_partial(self, clause: Clause, position: int) -> bool:
        """True when the clause's metric is one of requests that ended, and at a value others did not."""
        if clause.by_rule and self._is_of_log(clause):
            return False
        return clause.metric.of_ended and any(row.get("failed_share") for row in self._rows.get(position, {}).values())

    def _pair(
        self, clause: Clause, position: int, rival: int | None
    ) -> tuple[NDArray[np.float64] | None, NDArray[np.float64] | None]:
        return self._values(clause, position), None if rival is None else self._values(clause, rival)

    def _values(self, clause: Clause, position: int) -> NDArray[np.float64] | None:
        """The clause's metric in the replications of a value, in order, or None when one has none to compare."""
        name, rows = clause.metric.name, self._rows.get(position, {})
        count, values = self._arrays.get((name, position), (-1, None))
        if count != len(rows):
            found = [rows[replication].get(name) for replication in sorted(rows)]
            known = [] if self.is_partial(clause, position) else [value for value in found if value is not None]
            values = np.array(known, float) if len(known) == len(found) else None
            self._arrays[name, position] = len(rows), values
        return values


def _is_time(clause: Clause) -> bool:
    """True for a time held against a number."""
    return clause.metric.unit == "s" and clause.upper and not clause.of_best


def _settled(
    clause: Clause, rival: int | None, values: NDArray[np.float64] | None, others: NDArray[np.float64] | None
) -> bool | None:
    """Verdict on a clause where a run lacks the metric or has an infinite one, or None elsewhere."""
    if values is None:
        return False  # a run has no such value: nothing finished, say
    if rival is not None and others is None:
        return True
    if np.isinf(values).any():
        return not clause.upper
    return clause.upper if others is not None and np.isinf(others).any() else None


def _excess(clause: Clause, values: NDArray[np.float64], rivals: NDArray[np.float64] | None) -> NDArray[np.float64]:
    """The excess of values over the bound, replication by replication."""
    bound = clause.bound if rivals is None else clause.bound * rivals[: len(values)]
    return values - bound if clause.upper else bound - values


def _within(excess: float, strict: bool) -> bool:
    return excess < 0 or (excess == 0 and not strict)
