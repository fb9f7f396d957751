"""A page load as recorded: its requests by issue, entries left out, and warnings of gaps in the file."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from farweb.errors import WorkloadError
from farweb.pages.crossing import CACHE, WORKER, join_workers, own_sizes
from farweb.pages.exporters import exporter_of, normal
from farweb.pages.har import PAGE_MS_MAX, HarPage, number
from farweb.pages.queues import queue_anew, wait_for_connections
from farweb.pages.reservations import warnings_of
from farweb.pages.sent import Sent
from farweb.text.quantities import seconds, size
from farweb.text.words import elided, plural, visible

BYTES_MAX = 10**9
"""Most bytes of a page, requests and responses. Chosen: some seconds of packets a load."""

_TOLD = (
    "no initiators",
    "server push",
    "warm cache",
    "stands for it",
    "proxy near",
    "without a",
    "unknown",
    "queue",
    "twice",
    "unpacked",
)
"""Reservations that belong beside an answer. The others are in the report of an import."""


@dataclass(frozen=True)
class Recording:
    """A page load as recorded, times in ms since its start, or since its first request if that was earlier.

    Attributes:
        file: Name of the file.
        page: Id of the page in it.
        url: URL of the document; where the file has none, the page's title, or the first request's URL.
        exporter: Program that wrote the file, with its version.
        browser: Browser, where known.
        start_ms: Time 0 of it, Unix time in ms.
        sent: Requests over the network, by issue.
        server_ms: Time of the server for each.
        origins: For each the host that shares a connection with its own over HTTP/2.
        root: Place of the document among them.
        dropped: Entries that were left out, by reason.
        load_ms: onLoad, or the last end where the file has none.
        is_load_known: False where the last end stands for it.
        is_repeat: True where the exporter marks it as a later view, with what the first one left in the cache.
        dom_ms: DOMContentLoaded, where known.
        gates: For each request True if onLoad waited for it.
        rtt_ms: Round trip to each host as estimated.
        rate_bps: Lower bound of the line's rate, from its busiest fifth of a second.
        warnings: Limits of the file, a sentence each.
    """

    file: str
    page: str
    url: str
    exporter: str
    browser: str
    start_ms: float
    sent: Sequence[Sent]
    server_ms: Sequence[float]
    origins: Sequence[str]
    root: int
    dropped: Mapping[str, int]
    load_ms: float
    is_load_known: bool
    is_repeat: bool
    dom_ms: float | None
    gates: Sequence[bool]
    rtt_ms: Mapping[str, float]
    rate_bps: float
    warnings: Sequence[str]

    @property
    def tail_ms(self) -> float:
        """From the last end that gated onLoad to onLoad."""
        ends = [sent.end_ms for sent, gates in zip(self.sent, self.gates, strict=True) if gates]
        return max(0.0, self.load_ms - max(ends, default=0.0))

    @property
    def response_bytes(self) -> int:
        """Bytes of all responses."""
        return sum(sent.response_bytes for sent in self.sent)

    @property
    def gating_bytes(self) -> int:
        """Bytes of the responses that gated onLoad."""
        return sum(sent.response_bytes for sent, gates in zip(self.sent, self.gates, strict=True) if gates)

    @property
    def has_tls(self) -> bool:
        """True where a request went under TLS."""
        return any(sent.is_secure for sent in self.sent)

    @property
    def protocol(self) -> str:
        """The protocol of most requests."""
        return Counter(sent.protocol for sent in self.sent).most_common(1)[0][0]

    @property
    def counted(self) -> str:
        """The page with its requests, bytes and hosts, as lines begin with them."""
        return (
            f"{short_url(self.url)}: {plural(len(self.sent), 'request')}, {size(self.response_bytes)}, "
            f"{plural(len(self.rtt_ms), 'host')}"
        )

    @property
    def in_the_clear(self) -> Iterator[str]:
        """A sentence where requests have no TLS: they have none over any protocol."""
        clear = self.clear_requests
        if clear == len(self.sent):
            yield "Its URLs are http: no TLS, with either protocol."
        elif clear:
            yield f"{clear} of {plural(len(self.sent), 'request')} {'is' if clear == 1 else 'are'} http, without TLS."

    @property
    def clear_requests(self) -> int:
        """Number of requests without TLS."""
        return sum(not sent.is_secure for sent in self.sent)

    @property
    def reservations(self) -> Iterator[str]:
        """Sentences on entries left out and on gaps in the file that belong beside an answer."""
        if self.dropped:
            yield left_out(self.dropped)
        told = [each for each in self.warnings if any(word in each for word in _TOLD)]
        if told:
            yield f"The file: {'; '.join(told)}."

    @property
    def facts(self) -> dict[str, Any]:
        """What the file holds and what was left out of it, as plain values, for JSON."""
        return {
            "page": self.url,
            "file": self.file,
            "requests": len(self.sent),
            "clear_requests": self.clear_requests,
            "response_bytes": self.response_bytes,
            "recorded_onload_s": self.load_ms / 1000 if self.is_load_known else None,
            "dropped": dict(self.dropped),
            "warnings": list(self.warnings),
        }


def recording_of(page: HarPage) -> Recording:
    """A page of a HAR as it was recorded.

    Raises:
        WorkloadError: No request of the page went over the network, or it has too many bytes.
    """
    exporter = exporter_of(page)
    entries = [normal(page, entry, exporter) for _, entry in page.entries]
    join_workers(page, entries)
    own_sizes(page, entries)
    _find_multiplexed(entries, exporter)
    dropped = Counter(sent.gone for sent in entries if sent.gone) + Counter(page.left_out)
    sent = [each for each in entries if not each.gone]
    which = f"{page.file}: page {elided(page.name, 60)!r}" if page.name else str(page.file)
    if not sent:
        reasons = ", ".join(f"{n} {why}" for why, n in dropped.most_common())
        raise WorkloadError(f"{which}: no request is left: {reasons}")
    if (whole := sum(each.request_bytes + each.response_bytes for each in sent)) > BYTES_MAX:
        raise WorkloadError(f"{which}: has {size(whole)}; {size(BYTES_MAX)} at most can be loaded")
    if exporter == "webpagetest":
        wait_for_connections(sent)
    queued = queue_anew(page, sent, exporter)
    ahead = _begin_with_the_first(sent, has_page=bool(page.name))
    sent.sort(key=lambda each: each.issue_ms)
    given = number(page.timings.get("onLoad")) or 0.0
    fault = "it has no onLoad" if given <= 0 else ""
    if given > PAGE_MS_MAX:
        fault = f"its onLoad, {seconds(given / 1000)}, is beyond an hour"
    load = max(each.end_ms for each in sent) if fault else given + ahead
    gates = [
        each.issue_ms < load and each.end_ms <= load + 1 and each.kind != "beacon" and not each.is_ahead
        for each in sent
    ]
    if not any(gates):  # an onLoad before any end, by a mistake of the exporter
        gates = [True] * len(sent)
        load, fault = max(each.end_ms for each in sent), "its onLoad is before the end of any request"
    rtt = _round_trips(sent)
    dom = number(page.timings.get("onContentLoad"))
    bits = _busiest_bps(sent)
    is_repeat = _is_repeat(page, exporter)
    root = _root(sent, load, page.title)
    return Recording(
        page.file.name,
        page.name,
        _called(page.title, sent[root], entries),
        " ".join(part for part in page.exporter if part) or "an exporter without a name",
        page.browser,
        page.start_ms - ahead,
        sent,
        _server_times(sent, rtt),
        _origins(sent),
        root,
        dict(dropped),
        load,
        not fault,
        is_repeat,
        dom + ahead if dom is not None and 0 < dom <= load - ahead else None,
        gates,
        rtt,
        bits,
        warnings_of(page, sent, rtt, dropped, bits, fault, queued, is_repeat),
    )


def recordings_of(pages: Sequence[HarPage]) -> tuple[list[Recording], list[WorkloadError]]:
    """The pages of a HAR that can be loaded, and why the others cannot."""
    found, refused = [], []
    for page in pages:
        try:
            found.append(recording_of(page))
        except WorkloadError as error:
            refused.append(error)
    return found, refused


def _find_multiplexed(entries: Sequence[Sent], exporter: str) -> None:
    """Requests that overlap on one secure connection ride HTTP/2, whatever old files call it."""
    if exporter not in ("devtools", "browsertime"):
        return
    by_connection: dict[tuple[str, str], list[Sent]] = {}
    for each in entries:
        if each.connection and each.is_secure and not each.gone:
            by_connection.setdefault((each.connection, each.host), []).append(each)
    for those in by_connection.values():
        those.sort(key=lambda each: each.send_ms)
        if any(after.send_ms < before.end_ms - 2 for before, after in pairwise(those)):
            for each in those:
                each.protocol = "h2" if each.protocol == "h1" else each.protocol


def _begin_with_the_first(sent: Sequence[Sent], *, has_page: bool) -> float:
    """Count times from the first request where that is before the page's own start, which is behind its redirects.

    A beacon of the page before begins none. A file without pages begins with no entry that is left out.

    Returns:
        How long before the page's start it was, in ms.
    """
    ahead = -min((each.issue_ms for each in sent if each.kind != "beacon"), default=0.0)
    ahead = max(0.0, ahead) if has_page else ahead
    for each in sent:
        each.shift(ahead)
    return ahead


def _root(sent: Sequence[Sent], load_ms: float, title: str) -> int:
    """The document: HTML with the page's title for a URL, or the first that is no redirect. Its last reload counts.

    A reload begins and ends before onLoad.
    """
    documents = [place for place, each in enumerate(sent) if _is_document(each)]
    if not documents:
        return 0
    first = next((place for place in documents if sent[place].name == title), documents[0])
    url = sent[first].name
    return max(
        (place for place in documents if sent[place].name == url and sent[place].end_ms <= load_ms + 1), default=first
    )


def _is_document(sent: Sent) -> bool:
    return sent.kind in ("html", "xml") and not sent.redirect


def _called(title: str, root: Sent, entries: Sequence[Sent]) -> str:
    """The name of a page: its document's URL, also of one that a cache answered, or else its title."""
    if title.startswith(("http://", "https://")):
        return title
    if _is_document(root):
        return root.name
    cached = (each.name for each in entries if each.gone in (CACHE, WORKER) and _is_document(each))
    return next(cached, title.strip() or root.name)


_SOME_MS = 0.5  # a span below is none, or measured where the network is not


def _round_trips(sent: Sequence[Sent]) -> dict[str, float]:
    """Round trip to each host: the least of its TCP handshakes and waits, or else the median of other hosts."""
    seen: dict[str, float | None] = {}
    for each in sent:
        handshake = each.tls_ms if each.protocol == "h3" else each.tcp_ms
        spans = [handshake, 0.0 if each.is_pushed else each.wait_ms]
        least = min((span for span in spans if span > _SOME_MS), default=None)
        before = seen.get(each.host)
        seen[each.host] = least if before is None else before if least is None else min(before, least)
    known = [value for value in seen.values() if value is not None]
    usual = median(known) if known else 20.0
    return {host: usual if value is None else value for host, value in seen.items()}


_STREAMS = 6  # more open at once, and the wait holds other streams' bodies


def _server_times(sent: Sequence[Sent], rtt_ms: Mapping[str, float]) -> list[float]:
    """The wait for the first byte beyond a round trip.

    Where many streams shared the connection it is the lower quartile of the host.
    """
    if all(each.server_ms is not None for each in sent):
        return [each.server_ms or 0.0 for each in sent]
    found = [max(0.0, each.wait_ms - rtt_ms[each.host]) for each in sent]
    by_host: dict[str, list[int]] = {}
    for place, each in enumerate(sent):
        by_host.setdefault(each.host, []).append(place)
    raw = list(found)
    for places in by_host.values():
        usual = sorted(raw[place] for place in places)[len(places) // 4]
        sends = np.sort([sent[place].send_ms for place in places])
        ends = np.sort([sent[place].end_ms for place in places])
        for place in places:
            at = sent[place].send_ms
            is_open = np.searchsorted(sends, at, "right") - np.searchsorted(ends, at, "right")
            if sent[place].protocol != "h1" and is_open > _STREAMS:
                found[place] = usual
    return found


def _origins(sent: Sequence[Sent]) -> list[str]:
    """For each request the host that shares a connection with its own: the first on the recorded connection."""
    first: dict[str, str] = {}
    origin: dict[str, str] = {}
    for each in sent:
        if each.protocol != "h1" and each.connection:
            leader = first.setdefault(each.connection, origin.get(each.host, each.host))
            origin.setdefault(each.host, leader)
    return [origin.get(each.host, each.host) for each in sent]


_WINDOW_MS = 200.0


def _busiest_bps(sent: Sequence[Sent]) -> float:
    """Bits a second in the busiest window, each response spread over its transfer."""
    begins = np.array([each.first_ms for each in sent])
    ends = np.maximum([each.end_ms for each in sent], begins + 1)
    bits = np.array([8.0 * each.response_bytes for each in sent])
    most = 0.0
    for begin in begins:
        within = np.clip(np.minimum(ends, begin + _WINDOW_MS) - np.maximum(begins, begin), 0, None) / (ends - begins)
        most = max(most, float(bits @ within))
    return most / (_WINDOW_MS / 1000)


_REPEAT_VIEW = re.compile(r"page_\d+_1(?:_|$)")


def _is_repeat(page: HarPage, exporter: str) -> bool:
    """True for the later view of a page, by WebPageTest's mark of its entries or by the page's id."""
    is_marked = any(number(entry.get("_cached")) == 1 for _, entry in page.entries)
    return is_marked or (exporter == "webpagetest" and _REPEAT_VIEW.match(page.name) is not None)


def left_out(dropped: Mapping[str, int]) -> str:
    """A sentence on entries left out, by reason."""
    return "Left out: " + ", ".join(f"{n} {why}" for why, n in Counter(dropped).most_common()) + "."


def short_url(url: str) -> str:
    """A URL without its scheme and query, as short as a line allows."""
    parts = urlsplit(url)
    return elided(visible(f"{parts.netloc}{parts.path}".rstrip("/")), 48)
