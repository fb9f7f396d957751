"""Runs cases, judges them, and minimises those that fail."""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from explorer.case import Case
from explorer.generate import generate
from explorer.judge import judge
from explorer.minimise import minimise
from explorer.reading import Run
from explorer.rules import Violation
from explorer.run import run
from explorer.variants import VARIANTS, differences
from farweb.errors import ScenarioError


@dataclass(frozen=True)
class Finding:
    """A case that fails, as small as it was made.

    Attributes:
        number: The number of the case as drawn.
        case: The smallest case that fails in the same way.
        violations: What is wrong with it.
    """

    number: int
    case: Case
    violations: list[Violation]

    def __str__(self) -> str:
        wrong = "\n".join(map(str, self.violations))
        return f"case {self.number} fails, and made smaller:\n{self.case}\n{wrong}"


def violations(case: Case, variant: int) -> list[Violation]:
    """What is wrong with the results of a case, on its own and beside one of its variants."""
    with tempfile.TemporaryDirectory() as folder:
        own = Path(folder, "own")
        outcome = run(case, own)
        if outcome.error is not None:
            return [Violation("run", outcome.error)]
        here = Run.read(own, outcome.tables)
        found = judge(here)
        other = Path(folder, "other")
        again = run(VARIANTS[variant % len(VARIANTS)](case), other)
        if again.error is not None:
            return [*found, Violation("run", again.error)]
        return [*found, *differences(here, Run.read(other, again.tables))]


def explore(numbers: Iterator[int]) -> Iterator[Finding]:
    """Try the cases with these numbers, and yield those that fail."""
    for number in numbers:
        case = generate(number)
        wrong = violations(case, number)
        if wrong:
            small = minimise(case, partial(_fails_alike, number, wrong[0].rule))
            yield Finding(number, small, violations(small, number))


def _fails_alike(number: int, rule: str, case: Case) -> bool:
    try:
        return any(one.rule == rule for one in violations(case, number))
    except (ScenarioError, ValueError):
        return False
