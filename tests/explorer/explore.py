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
from explorer.run import RESULTS, run
from explorer.variants import VARIANTS, differences
from explorer.verbs import sweep, unread
from farweb.errors import ScenarioError


@dataclass(frozen=True)
class Finding:
    """A case that fails, as small as it was made.

    Attributes:
        number: The number of the case as drawn.
        case: The smallest case that fails in the same way.
        violations: The rules it breaks.
    """

    number: int
    case: Case
    violations: list[Violation]

    def __str__(self) -> str:
        wrong = "\n".join(map(str, self.violations))
        return f"case {self.number} fails, and made smaller:\n{self.case}\n{wrong}"


# Of so many cases one is drawn, or swept too: a page takes seconds, and so does the start of workers.
DRAWN, SWEPT = 8, 64


def violations(case: Case, variant: int, *, by_verbs: bool = False) -> list[Violation]:
    """Violations in the results of a case, on its own and beside one of its variants.

    Args:
        case: The case.
        variant: Which variant; and what becomes of the results before verbs read them.
        by_verbs: True when every verb has to read the results, and some cases are swept.
    """
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
        found += differences(here, Run.read(other, again.tables))
        if by_verbs:
            found += unread(own / RESULTS, variant, drawn=variant % DRAWN == 0)
            if variant % SWEPT == 0:
                found += unread(sweep(case, Path(folder, "swept")), variant, drawn=True)
        return found


def explore(numbers: Iterator[int], *, by_verbs: bool = False) -> Iterator[Finding]:
    """Try the cases with these numbers, and yield those that fail; `by_verbs` as `violations` has it."""
    for number in numbers:
        case = generate(number)
        wrong = violations(case, number, by_verbs=by_verbs)
        if wrong:
            small = minimise(case, partial(_fails_alike, number, wrong[0].rule))
            yield Finding(number, small, violations(small, number, by_verbs=by_verbs))


def _fails_alike(number: int, rule: str, case: Case) -> bool:
    try:
        return any(one.rule == rule for one in violations(case, number, by_verbs=rule.startswith("verbs.")))
    except (ScenarioError, ValueError):
        return False
