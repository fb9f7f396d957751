"""Trials and their outcomes: counted while they go on, a table at the end."""

import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

LOSS = "LOST"


@dataclass
class Row:
    """One kind of mistreatment.

    Attributes:
        what: In words.
        outcomes: How often each thing came of it.
        losses: What must not come of it, in words.
    """

    what: str
    outcomes: Counter[str] = field(default_factory=Counter)
    losses: list[str] = field(default_factory=list)

    def count(self, outcome: str) -> None:
        """Something that may come of it."""
        self.outcomes[outcome] += 1

    def lose(self, what: str) -> None:
        """Something that must not."""
        self.outcomes[LOSS] += 1
        self.losses.append(what)
        say(f"  {LOSS}: {self.what}: {what}")

    def expect(self, right: bool, outcome: str, otherwise: str) -> None:
        """Count `outcome` where something is right, and a loss where it is not."""
        if right:
            self.count(outcome)
        else:
            self.lose(otherwise)


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


@contextmanager
def section(title: str) -> Iterator[None]:
    """Say what begins, and how long it took."""
    say(f"{title} …")
    began = time.monotonic()
    yield
    say(f"{title}: {time.monotonic() - began:.0f} s")


def markdown(rows: list[Row]) -> str:
    """The table."""
    lines = ["| what | times | what came of it | lost |", "|---|--:|---|--:|"]
    for row in rows:
        told = ", ".join(f"{count} {outcome}" for outcome, count in row.outcomes.most_common() if outcome != LOSS)
        lines.append(f"| {row.what} | {row.outcomes.total()} | {told} | {len(row.losses)} |")
    return "\n".join(lines)
