"""What holds of every run: a module for each subject, a function for each rule."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from explorer.reading import Run

Rule = Callable[[Run], Iterator[str]]

RULES: dict[str, Rule] = {}


@dataclass(frozen=True)
class Violation:
    """A rule that does not hold, and where."""

    rule: str
    text: str

    def __str__(self) -> str:
        return f"{self.rule}: {self.text}"


def rule(name: str) -> Callable[[Rule], Rule]:
    """Make a function a rule with this name; it yields a line for each place where the rule does not hold."""

    def add(function: Rule) -> Rule:
        assert name not in RULES, name
        RULES[name] = function
        return function

    return add
