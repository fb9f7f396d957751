"""A direction of a link as the judge sees it: what holds at an instant, and when packets leave and arrive."""

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol

S = 1_000_000_000
MS = 1_000_000


@dataclass(frozen=True)
class Step:
    """Rate in bit/s (None without a limit) and delay from a time on, in ns from the start of the run or the period."""

    at: int
    rate: int | None
    delay: int


@dataclass(frozen=True)
class Trace:
    """Opportunities to send.

    Attributes:
        times: Their times in ms.
        size: Bytes of each.
        overhead: Those that a packet takes besides its own.
        offset: Time of the trace at the start of the run, in ns.
        repeats: True when it begins again.
    """

    times: tuple[int, ...]
    size: int
    overhead: int
    offset: int
    repeats: bool

    @property
    def rate(self) -> int:
        """Mean rate of packets that fill an opportunity, in bit/s."""
        return round(len(self.times) / (self.times[-1] / 1000) * 8 * (self.size - self.overhead))

    def passed(self, now: int) -> int:
        """Opportunities from the begin of the first pass up to `now`."""
        passes, rest = divmod(now + self.offset, self.times[-1] * MS)
        return passes * len(self.times) + bisect_right(self.times, rest // MS)

    def at(self, place: int) -> int:
        """Time of the opportunity at a place."""
        passes, place = divmod(place, len(self.times))
        return (passes * self.times[-1] + self.times[place]) * MS - self.offset


@dataclass(frozen=True)
class Frames:
    """Frames of a link with capacity on demand: their length in ns, and most and least bytes of one."""

    every: int
    most: int
    constant: int


class Sized(Protocol):
    """Anything with a size in bytes."""

    @property
    def size(self) -> int: ...


@dataclass(frozen=True)
class Way:
    """A link in one direction; times are in ns.

    Attributes:
        steps: Its own values at 0, and each step's.
        every: Period of the steps.
        outages: Begin, length and period of each.
        factor: Largest on the rates, of handovers and variation: of the latter six deviations from its middle.
        shift: Least of the delays, by handovers.
        trace: In place of its rates, where the rate of steps is the mean.
        frames: In which it sends, with capacity on demand.
        wake: Silence after which it sleeps, and time to wake.
        is_drawn: True where handovers, variation, jitter, a fade, frames or an offset make it: then no one here knows
            when packets leave.
        kind: Of its queue.
        limit: The queue's.
        in_packets: True when that counts packets.
        waiting: True when it counts only those that wait.
        queue: Further values of its queue: times in ns, sizes in bytes.
        loss: Its loss process; of the kind "changing" where steps or outages lose packets.
    """

    steps: tuple[Step, ...]
    every: int | None
    outages: tuple[tuple[int, int, int | None], ...]
    factor: Fraction | int
    shift: int
    trace: Trace | None
    frames: Frames | None
    wake: tuple[int, int] | None
    is_drawn: bool
    kind: str
    limit: int | None
    in_packets: bool
    waiting: bool
    queue: dict[str, Any]
    loss: dict[str, Any]

    @property
    def rate(self) -> int | None:
        """Largest rate over time."""
        rates = [step.rate for step in self.steps if step.rate is not None]
        return math.ceil(max(rates) * self.factor) if rates else None

    @property
    def delay(self) -> int:
        """Least delay over time."""
        return max(0, min(step.delay for step in self.steps) + self.shift)

    @property
    def ends(self) -> int | None:
        """When the run ends with its trace."""
        if self.trace is None or self.trace.repeats:
            return None
        return self.trace.times[-1] * MS - self.trace.offset

    @property
    def is_constant(self) -> bool:
        """True when nothing changes but losses."""
        return (
            not self.is_drawn
            and self.trace is None
            and self.wake is None
            and len({(step.rate, step.delay) for step in self.steps}) == 1
            and not self.outages
        )

    def holds(self, packets: Sequence[Sized]) -> bool:
        """True when the limit of the queue has room for all these."""
        held = len(packets) if self.in_packets else sum(packet.size for packet in packets)
        return self.limit is None or held <= self.limit

    def sent_in(self, size: int) -> int:
        """Least time to send `size` bytes, rounded up."""
        return 0 if self.rate is None or self.trace is not None else -(-size * 8 * S // self.rate)

    def awake_for(self, at: int, silent_since: int | None) -> int:
        """When it can send a packet that is there at `at`, with the one before gone since a time."""
        if self.wake is None or (silent_since is not None and at < silent_since + self.wake[0]):
            return at
        return at + self.wake[1]

    def delay_at(self, now: int) -> int:
        """Delay of a packet that leaves at `now`."""
        return self._step(now)[0].delay

    def sent_by(self, since: int, bits: int) -> int:
        """When the last of `bits` has left that are sent from `since` on."""
        now, work = since, bits * S
        while True:
            step, until = self._step(now)
            rate = step.rate
            for at, lasts, every in self.outages:
                begin = at if every is None or now < at else now - (now - at) % every
                change: int | None = begin + lasts
                if begin <= now < begin + lasts:
                    rate = 0
                else:
                    change = begin if now < begin else None if every is None else begin + every
                until = min((time for time in (until, change) if time is not None), default=None)
            if rate is None:
                return now
            if rate and (until is None or -(-work // rate) <= until - now):
                return now - (-work // rate)
            assert until is not None
            work -= rate * (until - now)
            now = until

    def _step(self, now: int) -> tuple[Step, int | None]:
        """What holds at `now`, and until when."""
        begin = 0 if self.every is None else now - now % self.every
        place = max(place for place, step in enumerate(self.steps) if step.at <= now - begin)
        later = self.steps[place + 1].at if place + 1 < len(self.steps) else self.every
        return self.steps[place], None if later is None else begin + later


class Transmitter:
    """Sends packets over a link, one after the other."""

    def __init__(self, way: Way) -> None:
        self.free = 0
        self._way = way
        self._silent_since: int | None = None
        self._since, self._bits = 0, 0
        self._next, self._left = 0, 0

    def send(self, at: int, size: int) -> int:
        """When a packet has left that is there at `at`."""
        self._silent_since = self._send(self._way.awake_for(at, self._silent_since), size)
        return self._silent_since

    def _send(self, at: int, size: int) -> int:
        trace = self._way.trace
        if at >= self.free:
            self._since, self._bits, self._left = at, 0, 0
            self._next = 0 if trace is None else trace.passed(at)
        if trace is None:
            self._bits += 8 * size
            self.free = self._way.sent_by(self._since, self._bits)
            return self.free
        self._left -= size + trace.overhead
        while self._left < 0:
            self.free = trace.at(self._next)
            self._next += 1
            self._left += trace.size
        return self.free
