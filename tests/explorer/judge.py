"""The judge: all rules, over one run."""

from collections.abc import Iterator
from itertools import islice

import explorer.rules.breakdown
import explorer.rules.caches
import explorer.rules.connections
import explorer.rules.exchanges
import explorer.rules.intervals
import explorer.rules.links
import explorer.rules.packets
import explorer.rules.requests
import explorer.rules.streams  # noqa: F401 - each module adds its rules
from explorer.reading import Run
from explorer.rules import RULES, Violation

PLACES_MAX = 3  # of one rule: more say the same


def judge(run: Run) -> list[Violation]:
    """Every rule that does not hold of a run, with the first places where it does not."""
    return [violation for name in RULES for violation in islice(_violations(name, run), PLACES_MAX)]


def _violations(name: str, run: Run) -> Iterator[Violation]:
    try:
        yield from (Violation(name, text) for text in RULES[name](run))
    except Exception as error:
        yield Violation(f"{name} cannot judge", repr(error))
