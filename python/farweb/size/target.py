"""Reads targets, the conditions that `farweb size` is to meet, such as `p50(latency) <= 1.05*best and drops <= 0`.

A target is one clause or several joined by `and`. A clause is METRIC OP BOUND:

- METRIC is a metric of `farweb.results.metrics`, or a friendly form of one: its name without the unit (`goodput`,
  `carried`), a statistic of a quantity (`p50(latency)`, `mean(first_byte)`, `max(queue_bytes)`), or the share of
  requests answered in time (`within(5 s)`);
- `latency` alone with a multiple of `best` is judged by the rule of verdicts in a log, elsewhere by the mean.
- OP is `<=`, `<`, `>=` or `>`;
- BOUND is a number, a quantity with its unit (`0.5 s`, `30 Mbit/s`, `1 %`), `best`, or a multiple of it (`1.05*best`).

`best` is the smallest expectation of the metric (with `<=`, `<`) or the largest (with `>=`, `>`) among all values
tried. `farweb.size.search` chooses and compares them.
"""

import re
from dataclasses import dataclass
from typing import Literal, NoReturn

from farweb.errors import FarwebError, ResultsError
from farweb.judge.verdicts import MARGIN
from farweb.results.metrics import METRICS, Metric, find_metric, metrics_table, within
from farweb.text import parse as quantity
from farweb.text.parse import NUMBER, UNIT, QuantityError
from farweb.text.words import nearest

Operator = Literal["<=", "<", ">=", ">"]


class TargetError(FarwebError):
    """A target cannot be read. The message names the place and the expectation there."""


@dataclass(frozen=True)
class Clause:
    """A condition on one metric.

    Attributes:
        metric: The metric, by its expectation over replications.
        operator: The comparison.
        bound: A number in the metric's unit, or the factor of `best`.
        of_best: True when `bound` is a factor of `best`.
        text: As it was written, blanks set right.
        by_rule: True when requests of a log are judged by the rule of verdicts as a whole, and not by the metric.
    """

    metric: Metric
    operator: Operator
    bound: float
    of_best: bool
    text: str
    by_rule: bool = False

    @property
    def called(self) -> str:
        """The metric as it was written."""
        return self.text[: self.text.index(f" {self.operator} ")]

    @property
    def upper(self) -> bool:
        """True when the bound is one from above."""
        return self.operator in ("<=", "<")

    @property
    def strict(self) -> bool:
        """True when the bound itself does not meet the clause."""
        return self.operator in ("<", ">")


@dataclass(frozen=True)
class Target:
    """All clauses have to hold."""

    clauses: tuple[Clause, ...]

    def __str__(self) -> str:
        return " and ".join(clause.text for clause in self.clauses)


DEFAULT = f"latency <= {1 + MARGIN:g}*best"
"""The target where none is given: not worse than the best, by the rule of verdicts."""


def parse_target(text: str) -> Target:
    """Read a target.

    Raises:
        TargetError: It cannot be read. The message has the place of the error.
    """
    reader = _Reader(text)
    clauses = [reader.clause()]
    while not reader.at_end():
        reader.expect(r"and\b", "`and` and another clause, or the end")
        clauses.append(reader.clause())
    return Target(tuple(clauses))


_NAME = r"[A-Za-z_][A-Za-z_0-9]*"
_BY_RULE = "latency"
_UNIT_ENDS = {"s": "_s", "bit/s": "_bps"}


class _Reader:
    """A text and how far it has been read."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def at_end(self) -> bool:
        self._skip()
        return self._at == len(self._text)

    def clause(self) -> Clause:
        metric, name, friendly = self._metric()
        operator = self.expect(r"<=|>=|<|>", f"one of <=, <, >=, > after {name}").group()
        begin = self._at
        bound, of_best, shown = self._bound(metric, name, friendly, operator)
        by_rule = name == _BY_RULE
        if by_rule and (not of_best or bound <= 1):
            self._fail(f"latency alone is held against the best: write {DEFAULT}, or p90(latency) <= 1 s", begin)
        return Clause(metric, operator, bound, of_best, f"{name} {operator} {shown}", by_rule)  # type: ignore[arg-type]

    def expect(self, pattern: str, wanted: str) -> re.Match[str]:
        """Take what matches `pattern`, blanks before it left out."""
        self._skip()
        match = re.compile(pattern).match(self._text, self._at)
        if match is None:
            found = re.match(r"\S+", self._text[self._at :])
            self._fail(f"found {found.group() if found else 'the end'!r}, expected {wanted}", self._at)
        self._at = match.end()
        return match

    def _metric(self) -> tuple[Metric, str, bool]:
        """A metric, how it was called, and whether by a name without its unit."""
        self._skip()
        begin = self._at
        word = self.expect(_NAME, "a metric, such as p50(latency), goodput or drops").group()
        if re.match(r"\s*\(", self._text[self._at :]):
            self.expect(r"\(", "(")
            if word == "within":
                return self._within()
            of = self.expect(_NAME, f"what {word} is to be taken of, such as latency").group()
            self.expect(r"\)", f") after {word}({of}")
            name, joined = f"{word}({of})", f"{of}_{word}"
        else:
            name = joined = word
        if name == _BY_RULE:
            return METRICS["latency_mean_s"], name, True
        for full in (joined, *(joined + end for end in _UNIT_ENDS.values())):
            metric = _find(full)
            if metric is not None:
                return metric, name, full != name
        names = _names()
        within_names = sorted((each for each in names if joined in each), key=len)
        near = within_names[0] if within_names else nearest(joined, names, 0.4)
        hint = f" (did you mean {near}?)" if near else ""
        self._fail(f"{name!r} is no metric{hint}; `farweb schema results` lists them", begin)

    def _within(self) -> tuple[Metric, str, bool]:
        self._skip()
        begin = self._at
        limit = self.expect(r"[^()]*", "a time, such as 5 s").group()
        self.expect(r"\)", f") after within({limit}")
        try:
            metric = within(limit)
        except ResultsError as error:
            self._fail(str(error), begin)
        return metric, metric.name, False

    def _bound(self, metric: Metric, name: str, friendly: bool, operator: str) -> tuple[float, bool, str]:
        self._skip()
        begin = self._at
        match = self.expect(
            rf"(?:(?P<factor>{NUMBER})\s*\*\s*)?best\b|(?P<number>{NUMBER})\s*(?!and\b|best\b)(?P<unit>{UNIT})?",
            f"a number, a quantity or a multiple of best after {operator}",
        )
        if match["number"] is None:
            return *self._of_best(match, operator, begin), match.group()
        try:
            value = quantity.parse(match.group(), metric.unit or "1")
        except QuantityError as error:
            self._fail(str(error), begin)
        unit = metric.unit or "1"
        if value.base and value.base != unit:
            wanted = ", ".join(quantity.units(unit)) if metric.unit else "none: it is a number"
            self._fail(f"{match.group().strip()!r} is no bound of {name} (units: {wanted})", begin)
        if not value.base and friendly and unit in _UNIT_ENDS:
            self._fail(f"{match.group().strip()!r} needs a unit (units: {', '.join(quantity.units(unit))})", begin)
        return float(value.number), False, match.group().strip()

    def _of_best(self, match: re.Match[str], operator: str, begin: int) -> tuple[float, bool]:
        factor = float(match["factor"] or 1)
        reachable = factor >= 1 if operator in ("<=", "<") else 0 < factor <= 1
        if not reachable or (factor == 1 and operator in ("<", ">")):
            wanted = "a factor above 1" if operator in ("<=", "<") else "a factor between 0 and 1"
            self._fail(f"nothing is {operator} {match.group()}: write {wanted}", begin)
        return factor, True

    def _skip(self) -> None:
        while self._at < len(self._text) and self._text[self._at].isspace():
            self._at += 1

    def _fail(self, message: str, at: int) -> NoReturn:
        raise TargetError(f"--target {self._text!r}: character {at + 1}: {message}")


def _find(name: str) -> Metric | None:
    try:
        return find_metric(name)
    except FarwebError:
        return None


def _names() -> list[str]:
    """Names that may be meant: full ones, those of the first link, leg and cache, and all without their unit."""
    names = [column["name"] for column in metrics_table()["columns"]]
    return [*names, *(name.removesuffix(end) for name in names for end in _UNIT_ENDS.values() if name.endswith(end))]
