"""Limits of the file that a page comes from, a sentence each."""

from collections.abc import Mapping, Sequence

from farweb.pages.exporters import has_odd_times
from farweb.pages.har import HarPage, number
from farweb.pages.sent import Sent
from farweb.text.words import plural

_IDLE = 0.25  # share of a load below which its line was idle, chosen


def warnings_of(
    page: HarPage,
    sent: Sequence[Sent],
    rtt_ms: Mapping[str, float],
    dropped: Mapping[str, int],
    rate_bps: float,
    fault: str,
    queued: int,
    is_repeat: bool,
) -> list[str]:
    """Limits of the file, a sentence each."""
    found = []
    if fault:
        whole = "" if page.name else "it has no pages, and is taken for one load; "
        found.append(f"{whole}{fault}, and the end of the last request stands for it")
    if not any(each.initiator for each in sent):
        found.append("it names no initiators: what waited for what is taken from times alone; Chrome's HAR names them")
    lacking = {
        "a time": sum(each.end_ms == each.issue_ms for each in sent),
        "a size": sum(not each.is_sized for each in sent),
    }
    found += [
        f"{plural(n, 'request')} without {what}, taken for 0" for what, n in lacking.items() if n > len(sent) / 10
    ]
    if unpacked := sum(each.is_unpacked for each in sent):
        found.append(f"{plural(unpacked, 'response')} with no size but the unpacked one: fewer bytes may have crossed")
    if page.counts_twice:
        counts = sum((number(entry.get("_bytesIn")) or 0) > 0 for _, entry in page.entries)
        found.append(
            f"it counts received bytes twice: of {plural(counts, 'response')} object and header are taken instead"
        )
    if odd := sum(has_odd_times(entry) for _, entry in page.entries):
        found.append(f"{plural(odd, 'request')} with a time that is no number or beyond an hour, taken as unknown")
    if queued:
        found.append(f"{plural(queued, 'wait')} held the browser's queue for connections, which is taken out")
    if pushed := sum(each.is_pushed for each in sent):
        found.append(f"{plural(pushed, 'response')} came by server push, which is not simulated")
    cached = dropped.get("cache", 0) + sum(each.status == 304 for each in sent)
    if is_repeat or cached > 0.1 * len(sent):
        found.append("it was recorded with a warm cache: a first visit takes longer than this")
    if split := _is_split(sent):
        found.append(split)
    if _peak_share(sent, rate_bps) < _IDLE:
        found.append("it never filled its line for long: the recorded rate is a lower bound")
    if len({round(value) for value in rtt_ms.values()}) > 1 and max(rtt_ms.values()) > 3 * min(rtt_ms.values()):
        found.append("its hosts are at different distances, which are taken as one here")
    return found


def _is_split(sent: Sequence[Sent]) -> str:
    """A sentence where handshakes are answered by something nearer than the servers."""
    pairs = [(each.tcp_ms, each.wait_ms) for each in sent if each.tcp_ms > 0]
    if len(pairs) < 3 or not all(tcp <= 5 and wait >= 10 * tcp for tcp, wait in pairs):
        return ""
    return "a proxy near the browser answered its handshakes: round trips are taken from waits"


def _peak_share(sent: Sequence[Sent], rate_bps: float) -> float:
    """How long the page would take at its busiest rate, as a share of its transfers' span."""
    begin, end = min(each.first_ms for each in sent), max(each.end_ms for each in sent)
    if rate_bps <= 0 or end <= begin:
        return 1.0
    return min(1.0, 8 * sum(each.response_bytes for each in sent) / rate_bps / ((end - begin) / 1000))
