"""Waits for connections as recordings hold them: before a request is sent, or in its wait for the response."""

import heapq
from collections.abc import Sequence

from farweb.pages.har import HarPage, Json, number, table
from farweb.pages.sent import Sent

PER_HOST = 6
"""Connections of HTTP/1.1 that browsers open to a host."""

_TOGETHER_MS = 8.0


def wait_for_connections(sent: Sequence[Sent]) -> None:
    """WebPageTest stamps what waited for a multiplexed connection when that was ready: it was wanted with the first.

    The target of a redirect was wanted when that had ended, even on a connection that was being opened already.
    """
    hops = [(_place(each.redirect), each.end_ms) for each in sent if each.redirect]
    first: dict[tuple[str, str], Sent] = {}
    for each in sorted(sent, key=lambda each: each.send_ms):
        if each.protocol != "h1" and each.is_new:
            first.setdefault((each.host, each.protocol), each)
    for each in sent:
        opener = first.get((each.host, each.protocol))
        if opener is not None and each is not opener and abs(each.send_ms - opener.send_ms) <= _TOGETHER_MS:
            each.issue_ms = min(each.issue_ms, opener.issue_ms)
    for each in sent:
        before = (end for place, end in hops if place == _place(each.name) and end <= each.send_ms)
        each.issue_ms = max([each.issue_ms, *before])


def _place(url: str) -> str:
    """A URL without its query, which files mask."""
    return url.partition("?")[0]


def queue_anew(page: HarPage, sent: Sequence[Sent], exporter: str) -> int:
    """Leave a wait for one of the host's connections to the run, and give any other to the browser.

    Returns:
        How many waits for a response held such a queue.
    """
    by_host: dict[str, list[Sent]] = {}
    for each in sent:
        if each.protocol == "h1":
            by_host.setdefault(each.host, []).append(each)
    for each in sent:
        if each.queued_ms <= 0:
            continue
        others = by_host.get(each.host, ()) if each.protocol == "h1" else ()
        released = each.issue_ms + each.queued_ms
        busy = sum(other.send_ms < released <= other.end_ms + 1 for other in others if other is not each)
        if busy < PER_HOST:
            each.issue_ms = min(released, each.send_ms)
    if exporter in _ON_THE_WIRE or any(_blocked_ms(entry) > 0 for _, entry in page.entries):
        return 0
    return sum(_send_in_turn(those) for those in by_host.values())


_ON_THE_WIRE = ("webpagetest", "proxy", "packets", "mitmproxy")
"""Exporters whose requests begin when they are sent, outside of the browser's queue."""


def _blocked_ms(entry: Json) -> float:
    return number(table(entry.get("timings")).get("blocked")) or 0.0


def _send_in_turn(sent: Sequence[Sent]) -> int:
    """Send what had more than six others of its host before it when one of those ended: its wait held the queue.

    Where a recorded connection, or a wait shorter than any, contradicts that, the host had more connections, or HTTP/2
    under another name, and nothing moves.

    Returns:
        How many were moved.
    """
    if any(each.connection for each in sent):
        return 0
    least = min(each.wait_ms for each in sent)
    ends: list[float] = []
    turns: list[tuple[Sent, float]] = []
    for each in sorted(sent, key=lambda each: (each.send_ms, each.end_ms)):
        while ends and ends[0] <= each.send_ms:
            heapq.heappop(ends)
        if len(ends) >= PER_HOST and not each.is_new:
            turns.append((each, heapq.heappop(ends)))
        heapq.heappush(ends, each.end_ms)
    if any(each.first_ms - turn < _LIKE * least for each, turn in turns):
        return 0
    for each, turn in turns:
        each.send_ms = turn
    return len(turns)


_LIKE = 0.8  # of the host's least wait, chosen: waits of one server differ by some tens of per cent
