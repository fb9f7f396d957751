"""Links, rebuilt from the packets that were seen on them: order, rate, queue, losses, and the table."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import takewhile

from explorer.flights import Flight, flights, size
from explorer.queues import FULL, LATE, Offer, serve
from explorer.reading import Run
from explorer.rules import rule
from explorer.rules.intervals import PACKET_MAX
from explorer.way import S, Transmitter, Way


@dataclass
class Hop:
    """A packet at a link: when it reached it, and when its last bit left, if it did."""

    flight: Flight
    size: int
    arrival: int
    departure: int | None
    dropped: int | None
    """When a link dropped it."""
    ecn: str
    """Its codepoint of ECN as it reached it."""
    left_as: str
    """The same as it left, or was dropped."""

    @property
    def is_dropped(self) -> bool:
        return self.dropped is not None

    @property
    def gone(self) -> int:
        """When it was no longer in the queue."""
        gone = self.departure if self.dropped is None else self.dropped
        assert gone is not None
        return gone


@lru_cache(maxsize=2)
def hops(run: Run) -> dict[tuple[int, str], list[Hop]]:
    """The hops over each direction of each link, by departure; packets that never left come last."""
    found: dict[tuple[int, str], list[Hop]] = {
        (link, way): [] for link in range(len(run.links)) for way in ("up", "down")
    }
    for flight in flights(run).values():
        if flight.sent is None:
            continue
        _, stretch, way, _ = flight.key
        place = run.nodes.index(flight.head["node"])
        near, far = run.stretches(run.legs[flight.head["leg"]])[stretch]
        far = far if way == "up" else near
        at, now = place, flight.sent[0]
        ecn: str = flight.head["ecn"]
        while at != far:
            link = at if way == "up" else at - 1
            seen = flight.passed.get(link)
            dropped = flight.dropped[0] if flight.dropped is not None and flight.dropped[1] == link else None
            delay = run.links[link][way].delay  # towards the clients a link has one
            departure = seen if way == "up" or seen is None else seen - delay
            left_as = flight.ecn.get(link, ecn)
            found[link, way].append(Hop(flight, size(run, flight), now, departure, dropped, ecn, left_as))
            ecn = left_as
            if seen is None:
                break
            now = arrivals(run, link)[seen] if way == "up" else seen
            at += 1 if way == "up" else -1
            if flight.received is not None and flight.received[0] == now and _is_last(flight, at, way):
                break
    for way_hops in found.values():
        way_hops.sort(key=lambda hop: (hop.departure is None, hop.departure, hop.arrival))
    return found


@lru_cache(maxsize=32)
def arrivals(run: Run, link: int) -> dict[int, int]:
    """When a packet that leaves at an instant towards the servers is at the other end; none overtakes."""
    found, last = {}, 0
    for departure in sorted({flight.passed[link] for flight in flights(run).values() if _leaves(flight, link)}):
        last = found[departure] = max(last, departure + run.links[link]["up"].delay_at(departure))
    return found


def _leaves(flight: Flight, link: int) -> bool:
    return flight.key[2] == "up" and link in flight.passed


def _is_last(flight: Flight, at: int, way: str) -> bool:
    """True when no link beyond has seen or dropped it."""
    beyond = [*flight.passed, *([flight.dropped[1]] if flight.dropped else [])]
    return not any(link >= at if way == "up" else link < at for link in beyond)


@rule("links.way")
def way(run: Run) -> Iterator[str]:
    """A packet goes from link to link, and is dropped, at once by most, or received when the last one brings it."""
    if not run.sees_links:
        return
    for (link, direction), own in hops(run).items():
        for hop in own:
            may_wait = run.links[link][direction].kind in LATE
            if hop.dropped is not None and (hop.dropped < hop.arrival if may_wait else hop.dropped != hop.arrival):
                yield f"link {link} {direction}: {hop.flight} is there at {hop.arrival}, and dropped at {hop.dropped}"
    for flight in flights(run).values():
        if flight.sent is None or flight.received is None:
            continue
        direction = flight.key[2]
        links = sorted(flight.passed, reverse=direction == "down")
        if not links or abs(links[-1] - links[0]) + 1 != len(links):
            yield f"{flight} is received, and was seen on links {links}"
            continue
        last = links[-1]
        arrival = flight.passed[last] if direction == "down" else arrivals(run, last)[flight.passed[last]]
        if arrival != flight.received[0]:
            yield f"{flight} arrives at {arrival}, and is received at {flight.received[0]}"


@rule("links.fifo")
def fifo(run: Run) -> Iterator[str]:
    """A link sends packets, with FQ-CoDel of a flow, in the order of their arrival, without a gap, at its rate."""
    if not run.sees_links:
        return
    for (link, direction), own in hops(run).items():
        this = run.links[link][direction]
        transmitter = Transmitter(this)
        reached: defaultdict[int, int] = defaultdict(int)
        for hop in own:
            if hop.departure is None:
                continue
            where = f"link {link} {direction}: {hop.flight}"
            if hop.is_dropped:
                yield f"{where} is dropped and passes"
            flow = hop.flight.key[0] if this.kind == "fq-codel" else 0
            if this.queue.get("flows", "exact") == "exact" and hop.arrival < reached[flow]:
                yield f"{where} overtakes one that was there before it"
            reached[flow] = hop.arrival
            ends = transmitter.send(hop.arrival, hop.size)
            if hop.departure != ends:
                yield f"{where} is there at {hop.arrival} and leaves at {hop.departure}; its turn ends at {ends}"


@rule("links.queue")
def queue(run: Run) -> Iterator[str]:
    """A queue never holds more than its limit, and drops no packet for which there is room, unless it is PIE."""
    if not run.sees_links:
        return
    for (link, direction), own in hops(run).items():
        this = run.links[link][direction]
        if this.kind in LATE or any(hop.departure is None and not hop.is_dropped for hop in own):
            continue
        accepted = [hop for hop in own if not hop.is_dropped]
        where = f"link {link} {direction}"
        for place, hop in enumerate(accepted):
            if not _admits(this, hop, accepted[:place]):
                yield f"{where}: {hop.flight} is accepted at {hop.arrival}, and the queue is full"
        for hop in own:
            before = [other for other in accepted if other.arrival <= hop.arrival]
            if (
                hop.is_dropped
                and this.loss["kind"] == "none"
                and _admits(this, hop, before)
                and not _chosen(this, hop, before)
            ):
                yield f"{where}: {hop.flight} is dropped at {hop.arrival}, and the queue has room"


def _admits(way: Way, hop: Hop, before: list[Hop]) -> bool:
    """True when the queue has room for one more behind the packets before."""
    if way.limit is None or way.rate is None:
        return True
    held = _held(hop, before)
    if way.waiting:
        if not held:
            return True
        held = held[1:]
    return way.holds([*held, hop])


def _held(hop: Hop, before: list[Hop]) -> list[Hop]:
    return list(takewhile(lambda other: (other.departure or 0) > hop.arrival, reversed(before)))[::-1]


def _chosen(way: Way, hop: Hop, before: list[Hop]) -> bool:
    """True when PIE may drop the packet: after its first update, and behind two full packets."""
    waiting = _held(hop, before)[1:]
    return way.kind == "pie" and hop.arrival >= S // 2 and sum(other.size for other in waiting) >= 2 * FULL


def in_order(run: Run, own: list[Hop]) -> list[Hop]:
    """Hops by arrival; those of an instant, of one sender, in the order in which it sent them."""
    place = {id(flight): number for number, flight in enumerate(flights(run).values())}
    return sorted(own, key=lambda hop: (hop.arrival, place[id(hop.flight)]))


@rule("links.discipline")
def discipline(run: Run) -> Iterator[str]:
    """A queue that decides as packets are taken drops those that its discipline names, at their times."""
    if not run.sees_links:
        return
    for (link, direction), own in hops(run).items():
        this = run.links[link][direction]
        loses = this.loss["kind"] != "none" or this.is_drawn or this.queue.get("flows", "exact") != "exact"
        senders = {hop.arrival: set[str]() for hop in own}
        for hop in own:
            senders[hop.arrival].add(hop.flight.head["node"])
        has_ties = any(len(names) > 1 for names in senders.values())
        under_way = any(hop.departure is None and hop.dropped is None for hop in own)
        if this.kind not in LATE or this.rate is None or loses or has_ties or under_way:
            continue
        own = in_order(run, own)
        offers = [
            Offer(hop.arrival, hop.flight.key[0], hop.size, number, hop.ecn != NOT_ECT)
            for number, hop in enumerate(own)
        ]
        served = serve(this, offers)
        for number, hop in enumerate(own):
            found, wanted = (hop.departure, hop.dropped), (served.left.get(number), served.dropped.get(number))
            where = f"link {link} {direction}: {hop.flight}, there at {hop.arrival}"
            if found != wanted:
                yield f"{where}, leaves or is dropped at {found}; by {this.kind} at {wanted}"
            if hop.ecn != CE and (hop.left_as == CE) != (number in served.marked):
                yield f"{where}, leaves as {hop.left_as}; marked by {this.kind}: {number in served.marked}"


NOT_ECT, CE = "Not-ECT", "CE"
KINDS = ["syn", "synack", "data", "ack", "fin", "rst"]


def kind(hop: Hop) -> str:
    """The one kind of a packet."""
    flags = hop.flight.head["flags"]
    if "R" in flags:
        return "rst"
    if "S" in flags:
        return "synack" if "." in flags else "syn"
    if hop.flight.head["payload_bytes"]:
        return "data"
    return "fin" if "F" in flags else "ack"


@rule("links.losses")
def losses(run: Run) -> Iterator[str]:
    """Packets that a list names are lost, or marked where they are ECT; without losses and a limit no other is lost."""
    if not run.sees_links:
        return
    for (link, direction), own in hops(run).items():
        loss = run.links[link][direction].loss
        if loss["kind"] != "list":
            continue
        counts: Counter[tuple[int | None, str]] = Counter()
        named, to_mark = ([_item(item) for item in loss.get(name, ())] for name in ("drop", "mark"))
        arrivals = [hop.arrival for hop in own]
        has_ties = len(set(arrivals)) != len(arrivals)
        if loss.get("of") == "link" and has_ties:
            continue
        for hop in sorted(own, key=lambda hop: (hop.arrival, hop.flight.key)):
            number = hop.flight.key[0]
            of = None if loss.get("of") == "link" else number
            what = kind(hop)
            counts[of, what] += 1
            counts[of, "any"] += 1
            numbers = {what: counts[of, what], "any": counts[of, "any"]}
            may_be_marked = _names(to_mark, numbers)
            is_named = _names(named, numbers) or (may_be_marked and hop.ecn == NOT_ECT)
            is_marked = may_be_marked and not is_named
            where = f"link {link} {direction}: {hop.flight}, {what} {counts[of, what]}, any {counts[of, 'any']}"
            is_under_way = hop.departure is None and (run.end is None or hop.arrival >= run.end)
            if is_named and not hop.is_dropped and not is_under_way:
                yield f"{where} is named, and passes"
            if is_marked and not hop.is_dropped and not is_under_way and hop.left_as != CE:
                yield f"{where} is named, and not marked"
            if hop.is_dropped and not is_named and run.links[link][direction].limit is None:
                yield f"{where} is dropped, and neither named nor is there a limit"


def _names(items: list[tuple[str, int, int]], numbers: dict[str, int]) -> bool:
    """True when an item of a list names the packet with these numbers among its kind, and among all."""
    return any(kind in numbers and first <= numbers[kind] <= last for kind, first, last in items)


def _item(text: str) -> tuple[str, int, int]:
    what, numbers = text.split()
    first, _, last = numbers.partition("..")
    return what, int(first), int(last or first)


@rule("links.marks")
def marks(run: Run) -> Iterator[str]:
    """ECT alone becomes CE, where a list or a queue marks; the table of links counts these marks."""
    if not run.sees_links:
        return
    for (link, direction), own in hops(run).items():
        this, where = run.links[link][direction], f"link {link} {direction}"
        marked = [hop for hop in own if hop.left_as != hop.ecn]
        for hop in marked:
            if hop.ecn == NOT_ECT or hop.left_as != CE:
                yield f"{where}: {hop.flight} comes as {hop.ecn}, and leaves as {hop.left_as}"
        if marked and not (this.loss.get("mark") or this.queue.get("ecn")):
            yield f"{where}: {marked[0].flight} is marked, and nothing marks there"
        if any(hop.departure is None and not hop.is_dropped for hop in own) or "links" not in run.tables:
            continue
        rows = [row for row in run.rows("links") if (row["link"], row["direction"]) == (link, direction)]
        # What is marked once may be marked again.
        most = len(marked) + sum(hop.ecn == CE for hop in own)
        if not len(marked) <= (found := sum(row["marks"] for row in rows)) <= most:
            yield f"{where}: {found} marks, and {len(marked)} packets were marked there"


@rule("links.grants")
def grants(run: Run) -> Iterator[str]:
    """A link with capacity on demand is granted what it sends, and no more than frames hold; another has no grants."""
    used: Counter[tuple[int, str]] = Counter()
    carried: Counter[tuple[int, str]] = Counter()
    for row in run.rows("links"):
        key, frames = (row["link"], row["direction"]), run.links[row["link"]][row["direction"]].frames
        granted, unused = row["granted_bytes"], row["granted_unused_bytes"]
        where = f"link {key[0]} {key[1]} to {row['time_ns']}"
        if frames is None:
            if (granted, unused) != (None, None):
                yield f"{where}: {granted} B granted, {unused} B of it unused, and there are no frames"
            continue
        number = row["interval_ns"] // frames.every
        if not (frames.constant * number <= granted <= frames.most * (number + 1) and 0 <= unused <= granted):
            yield f"{where}: {granted} B granted, {unused} B of it unused, in some {number} frames of {frames}"
        used[key] += granted - unused
        carried[key] += row["bytes"]
    for (link, direction), sent in used.items():
        frames, over = run.links[link][direction].frames, sent - carried[link, direction]
        # Of a run that is cut off a frame is under way, and a packet that goes on in another.
        under_way = 0 if frames is None or run.until is None else frames.most + PACKET_MAX
        if not 0 <= over <= under_way:
            yield f"link {link} {direction}: grants of {sent} B were used, for {carried[link, direction]} B"


@rule("links.table")
def table(run: Run) -> Iterator[str]:
    """The table of links has what the packets did, interval by interval: bytes, packets, drops, time, queue."""
    if not (run.sees_links and "links" in run.tables):
        return
    for row in run.rows("links"):
        own = hops(run)[row["link"], row["direction"]]
        this = run.links[row["link"]][row["direction"]]
        if any(hop.departure is None and not hop.is_dropped for hop in own):
            continue
        to, since = row["time_ns"], row["time_ns"] - row["interval_ns"]
        where = f"link {row['link']} {row['direction']} from {since} to {to}"
        # What happens at the end of an interval belongs to it, and what happens at the start of the run to the first.
        inside = [hop for hop in own if not hop.is_dropped and (since < hop.gone <= to or hop.gone == 0 == since)]
        carried = (len(inside), sum(hop.size for hop in inside))
        if (row["packets"], row["bytes"]) != carried:
            yield f"{where}: {row['packets']} packets with {row['bytes']} B, and {carried[0]} with {carried[1]} B left"
        dropped = sum(since < hop.gone <= to or hop.gone == 0 == since for hop in own if hop.is_dropped)
        if row["drops"] != dropped:
            yield f"{where}: {row['drops']} drops, and {dropped} packets were dropped"
        reasons = [row[f"drops_{reason}"] for reason in ("full", "aqm", "loss")]
        may_be = [this.limit is not None, this.kind in ("codel", "fq-codel", "pie"), this.loss["kind"] != "none"]
        if sum(reasons) != row["drops"] or any(number and not may for number, may in zip(reasons, may_be, strict=True)):
            yield f"{where}: {row['drops']} drops, of which {reasons} by a full queue, AQM and loss"
        if this.rate is None:
            if (row["busy"], row["queue_bytes_mean"], row["queue_bytes_max"]) != (0, 0, 0):
                yield f"{where}: a queue on a link without a rate"
            continue
        yield from _queue_of(row, own, since, to, where, this)


def _queue_of(row: dict[str, float], own: list[Hop], since: int, to: int, where: str, this: Way) -> Iterator[str]:
    busy, integral, free, most = 0, 0, 0, 0
    silent_since: int | None = None
    waits: list[int] = []
    standing: list[Hop] = []
    for hop in own:
        if hop.is_dropped:
            continue
        start, begin = max(hop.arrival, free), max(this.awake_for(hop.arrival, silent_since), free)
        free = silent_since = hop.gone
        waits += [begin - hop.arrival] * (since < begin <= to or begin == 0 == since)
        busy += max(0, min(free, to) - max(start, since))
    for hop in sorted(own, key=lambda hop: hop.arrival):
        if hop.is_dropped and hop.gone == hop.arrival:
            continue
        integral += hop.size * max(0, min(hop.gone, to) - max(hop.arrival, since))
        standing = [other for other in standing if other.gone > hop.arrival]
        standing.append(hop)
        if since < hop.arrival <= to or hop.arrival == 0 == since:
            most = max(most, sum(other.size for other in standing))
    at_start = sum(hop.size for hop in own if hop.arrival <= since < hop.gone)
    most = max(most, at_start)
    span = to - since
    if abs(row["busy"] * span - busy) > 1 + 1e-9 * span:
        yield f"{where}: busy {row['busy']}, and packets took {busy} of {span} ns"
    if abs(row["queue_bytes_mean"] * span - integral) > 1 + 1e-9 * integral:
        yield f"{where}: a mean queue of {row['queue_bytes_mean']} B, and packets give {integral} B·ns in {span} ns"
    if row["sojourn_max_s"] is not None:
        waits.sort()
        told = [waits[-(-len(waits) * share // 100) - 1] for share in (50, 95, 99)] + [
            waits[-1],
            sum(waits) / len(waits),
        ]
        for name, wait in zip(("p50", "p95", "p99", "max", "mean"), told, strict=True):
            if abs(row[f"sojourn_{name}_s"] * S - wait) > 1 + wait / 128:
                yield f"{where}: waits with a {name} of {row[f'sojourn_{name}_s']} s, and packets give {wait} ns"
    # Of packets that come together such a queue may drop one that has just joined.
    is_known = this.kind not in LATE or len({hop.arrival for hop in own}) == len(own)
    if is_known and row["queue_bytes_max"] != most:
        yield f"{where}: a largest queue of {row['queue_bytes_max']} B, and packets give {most}"
