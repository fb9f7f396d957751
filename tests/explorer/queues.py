"""Queues of links as the judge sees them: disciplines that decide as packets are taken, rebuilt from arrivals."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from explorer.way import Transmitter, Way

FULL = 1500  # bytes of a full packet


@dataclass(frozen=True)
class Offer:
    """A packet that reaches a link: when, of which connection, and its size."""

    at: int
    flow: int
    size: int
    number: int
    ect: bool = False
    """True when its sender takes marks."""


@dataclass
class Served:
    """What became of offers, by their number: departures, and drops, with their times; and those that were marked."""

    left: dict[int, int] = field(default_factory=dict)
    dropped: dict[int, int] = field(default_factory=dict)
    marked: set[int] = field(default_factory=set)


def _bytes(waiting: Sequence[Offer]) -> int:
    return sum(offer.size for offer in waiting)


class _DropHead:
    def __init__(self, way: Way) -> None:
        self.way, self.waiting = way, list[Offer]()

    def join(self, offer: Offer) -> None:
        self.waiting.append(offer)

    def take(self, now: int, served: Served) -> Offer | None:
        return self.waiting.pop(0) if self.waiting else None

    def shed(self, now: int, sending: Offer | None, served: Served) -> None:
        """Take the oldest out until the limit holds."""
        beside = [sending] if sending is not None and not self.way.waiting else []
        while self.waiting and not self.way.holds([*beside, *self.waiting]):
            served.dropped[self.waiting.pop(0).number] = now


class _Control:
    """CoDel of one queue; times are in the units of the variant."""

    def __init__(self, values: dict[str, Any]) -> None:
        self.is_linux, self.ecn = values["variant"] == "linux", values["ecn"]
        self.target, self.interval = self.units(values["target"]), self.units(values["interval"])
        self.first_above: int | None = None
        self.drop_next = self.count = self.last_count = 0
        self.root = 65535
        self.is_dropping = False

    def units(self, ns: int) -> int:
        return ns >> 10 if self.is_linux else ns

    def is_late(self, now: int, offer: Offer | None, behind: int) -> bool:
        """True when all have been above the target for an interval."""
        time = self.units(now)
        if offer is None or time - self.units(offer.at) < self.target or behind <= FULL:
            self.first_above = None
            return False
        if self.first_above is None:
            self.first_above = time + self.interval
        return time > self.first_above

    def after(self, time: int) -> int:
        if self.is_linux:
            return time + (self.interval * self.root >> 16)
        return time + int(self.interval / math.sqrt(self.count))

    def raise_to(self, count: int) -> None:
        self.count = count
        root = self.root << 16
        rest = ((3 << 32) - count * (root * root >> 32)) % 2**64
        self.root = ((rest >> 2) * root % 2**64 >> 47) % 2**16

    def take(self, now: int, waiting: list[Offer], left: Callable[[], int], served: Served) -> Offer | None:
        """Take the next packet, behind those that are dropped."""

        def next_one() -> Offer | None:
            return waiting.pop(0) if waiting else None

        def marks(offer: Offer) -> bool:
            if is_marked := self.ecn and offer.ect:
                served.marked.add(offer.number)
            return is_marked

        offer = next_one()
        if offer is None:
            self.is_dropping = False
            return None
        time, is_late = self.units(now), self.is_late(now, offer, left())
        if self.is_dropping:
            self.is_dropping = is_late
            while self.is_dropping and time >= self.drop_next:
                assert offer is not None
                self.raise_to(self.count + 1)
                if marks(offer):
                    self.drop_next = self.after(self.drop_next)
                    break
                served.dropped[offer.number] = now
                offer = next_one()
                self.is_dropping = self.is_late(now, offer, left())
                if self.is_dropping:
                    self.drop_next = self.after(self.drop_next)
        elif is_late:
            if not marks(offer):
                served.dropped[offer.number] = now
                offer = next_one()
                self.is_late(now, offer, left())
            self.is_dropping = True
            fresh = self.count - self.last_count
            if fresh > 1 and time < self.drop_next + 16 * self.interval:
                self.raise_to(fresh)
            else:
                self.count, self.root = 1, 65535
            self.last_count = self.count
            self.drop_next = self.after(time)
        return offer


class _Codel:
    def __init__(self, way: Way) -> None:
        self.way, self.waiting, self.control = way, list[Offer](), _Control(way.queue)

    def bytes(self) -> int:
        return _bytes(self.waiting)

    def join(self, offer: Offer) -> None:
        self.waiting.append(offer)

    def take(self, now: int, served: Served) -> Offer | None:
        return self.control.take(now, self.waiting, self.bytes, served)

    def shed(self, now: int, sending: Offer | None, served: Served) -> None:
        """Drop the newest where it does not fit."""
        if not self.way.holds(self.waiting):
            served.dropped[self.waiting.pop().number] = now


class _FqCodel:
    def __init__(self, way: Way, *, of_ns3: bool = False) -> None:
        self.way, self.of_ns3 = way, of_ns3
        self.flows: dict[int, tuple[list[Offer], _Control]] = {}
        self.credit: dict[int, int] = {}
        self.new: list[int] = []
        self.old: list[int] = []

    def bytes(self) -> int:
        return sum(_bytes(waiting) for waiting, _ in self.flows.values())

    def join(self, offer: Offer) -> None:
        waiting, _ = self.flows.setdefault(offer.flow, ([], _Control(self.way.queue)))
        waiting.append(offer)
        if offer.flow not in (*self.new, *self.old):
            self.new.append(offer.flow)
            self.credit[offer.flow] = self.way.queue["quantum"]

    def take(self, now: int, served: Served) -> Offer | None:
        while self.new or self.old:
            of = self.new or self.old
            flow = of[0]
            if self.credit[flow] <= 0:
                self.credit[flow] += self.way.queue["quantum"]
                self.old.append(of.pop(0))
                continue
            waiting, control = self.flows[flow]
            left = partial(_bytes, waiting) if self.of_ns3 else self.bytes
            if (offer := control.take(now, waiting, left, served)) is not None:
                self.credit[flow] -= offer.size
                return offer
            of.pop(0)
            if of is self.new and (self.old or self.of_ns3):
                self.old.append(flow)
        return None

    def shed(self, now: int, sending: Offer | None, served: Served) -> None:
        """Drop half of the fattest queue, 64 packets at most, from its head."""
        while not self.way.holds([offer for waiting, _ in self.flows.values() for offer in waiting]):
            sizes = {flow: _bytes(waiting) for flow, (waiting, _) in self.flows.items()}
            fattest = max(sizes, key=lambda flow: sizes[flow])
            waiting, control = self.flows[fattest]
            bytes_gone = drops = 0
            while drops < 64 and waiting and bytes_gone < sizes[fattest] // 2:
                bytes_gone += waiting[0].size
                served.dropped[waiting.pop(0).number] = now
                drops += 1
            control.count += drops


LATE = frozenset(("drop-head", "codel", "fq-codel"))
"""Kinds that decide as packets are taken."""


def serve(way: Way, offers: Sequence[Offer], *, of_ns3: bool = False) -> Served:
    """What a link does with packets in the order in which they reach it, an end of a transmission before an arrival.

    Args:
        way: The link.
        offers: The packets.
        of_ns3: True for FQ-CoDel of ns-3 3.37: CoDel looks at the bytes of its flow, and a new flow that is found empty
            becomes an old one.
    """
    queue: _DropHead | _Codel | _FqCodel
    if way.kind == "fq-codel":
        queue = _FqCodel(way, of_ns3=of_ns3)
    else:
        queue = _Codel(way) if way.kind == "codel" else _DropHead(way)
    served = Served()
    transmitter = Transmitter(way)
    sending: Offer | None = None

    def take(now: int) -> None:
        nonlocal sending
        sending = queue.take(now, served)
        if sending is not None:
            served.left[sending.number] = transmitter.send(sending.at, sending.size)

    for offer in [*offers, None]:
        while sending is not None and (offer is None or transmitter.free <= offer.at):
            take(transmitter.free)
        if offer is not None:
            queue.join(offer)
            if sending is None:
                take(offer.at)
            queue.shed(offer.at, sending, served)
    return served
