"""Limits of a single run of a sweep: the time that it takes, and the memory of the process that does it.

A worker looks after each step of the simulation, of 200,000 events: a run that is beyond a limit ends there and fails,
its worker goes on with the next one. In a step memory may grow by some hundreds of MB at most. What needs too much
before the first step, as a generated workload may, is not seen. Limits of the system are `farweb.memory`'s to watch.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

from farweb.errors import FarwebError, RunError
from farweb.memory import give_back
from farweb.progress import unseen
from farweb.run import Progress
from farweb.text.parse import read
from farweb.text.quantities import seconds, size


@dataclass(frozen=True)
class RunLimits:
    """Limits of a run. None: as much as it needs.

    Attributes:
        memory_bytes: Memory of the process that does it, in RAM, with libraries and tables (some 150 MB).
        time_s: From its start, in s.
    """

    memory_bytes: float | None = None
    time_s: float | None = None

    @classmethod
    def of(cls, memory: str | None, time: str | None) -> Self:
        """Read limits from texts with a unit, such as ``2 GB`` and ``10 min``.

        Raises:
            FarwebError: A text is no size, or no time, above zero.
        """
        return cls(_amount("--run-memory", memory, "B", "2 GB"), _amount("--run-time", time, "s", "10 min"))

    def watch(self) -> Callable[[Progress], None]:
        """A callback for each step of the run that begins now. It raises `RunError` beyond a limit."""
        if self == RunLimits():
            return unseen
        import psutil

        began, process = time.monotonic(), psutil.Process()

        def is_beyond(memory_bytes: float) -> bool:
            return bool(process.memory_info().rss > memory_bytes)

        def look(_: Progress) -> None:
            if self.time_s is not None and time.monotonic() - began > self.time_s:
                raise RunError(f"it took more than {seconds(self.time_s)}, which --run-time allows")
            if self.memory_bytes is not None and is_beyond(self.memory_bytes):
                give_back()  # what runs before have left is not this run's
                if is_beyond(self.memory_bytes):
                    raise RunError(f"its process took more than {size(self.memory_bytes)}, which --run-memory allows")

        return look


def _amount(option: str, text: str | None, base: str, example: str) -> float | None:
    if text is None:
        return None
    found = read(f"{option}:", text)
    if found.base != base or found.number <= 0:
        raise FarwebError(f'{option}: "{text}" is not above zero with a unit; write for example "{example}"')
    return float(found.number)
