"""Which entries of a HAR crossed the network, by the marks of its exporter.

An entry without such a mark is a request, however short it was and whatever it is called. The marks:

- Chrome (DevTools, chrome-har, WebPageTest): `_fromCache`, `_fetchedViaServiceWorker` or `fromServiceWorker`, 307 with
  `Non-Authoritative-Reason` for a redirect inside the browser, connection 0, `_transferSize` 0, `_error` of a blocker.
- Safari: `_fetchType`. Firefox and Firebug: `cache.afterRequest`, and a body of which nothing was transferred.
- Playwright: `_wasFulfilled` and `_wasAborted` of a route, `_apiRequest` of a request that the test made itself.
- The format: `cache.beforeRequest`, and `bodySize` 0 of a response with content, which is an answer of a cache.

Sizes of 0 are marks only in files that count them, so that one sees some above 0.
"""

from collections import defaultdict
from collections.abc import Sequence

from farweb.pages.har import HarPage, Json, header, identifier, number, table, text
from farweb.pages.sent import RESPONSE_HEADER_BYTES, Sent

WORKER = "service worker"
INTERNAL = "internal redirect"
CACHE = "cache"


def why_gone(page: HarPage, entry: Json, sent: Sent, scheme: str, exporter: str) -> str:
    """Why an entry is no request over the network, or empty."""
    response = table(entry.get("response"))
    asked = text(entry.get("_resourceType")).lower()
    if scheme in ("ws", "wss") or asked == "websocket" or sent.status == 101 or entry.get("_webSocketMessages"):
        return "web socket"
    if 100 <= sent.status < 200:  # such as 103 (RFC 8297): the response has an entry of its own
        return "interim response"
    if sent.method == "CONNECT":
        return "tunnel"
    if scheme not in ("http", "https") or not sent.host:
        return f"no http ({scheme[:20] or 'no scheme'})"
    if any("application/ocsp-" in word for word in _types(entry)):
        return "certificate status"
    if sent.status == 307 and (header(response, "non-authoritative-reason") or _is_internal(response)):
        return INTERNAL
    for mark, why in _BY_TEST.items():
        if entry.get(mark) is True:
            return why
    if "override" in text(entry.get("_fetchType")).lower():
        return "answered by the inspector"
    if _is_of_worker(entry, response):
        return WORKER
    if _is_cached(page, entry, response, sent, exporter):
        return CACHE
    if text(response.get("_error")).startswith("net::ERR_BLOCKED_BY"):
        return "blocked in the browser"
    has_body = max(number(response.get(name)) or 0.0 for name in _COUNTS) > 0 or (number(entry.get("_objectSize")) or 0)
    return "no answer" if sent.status <= 0 and not has_body else ""


_COUNTS = ("_transferSize", "bodySize")
_BY_TEST = {
    "_wasFulfilled": "answered by a test",
    "_wasAborted": "blocked in the browser",
    "_apiRequest": "asked by a test",
}


def _types(entry: Json) -> tuple[str, ...]:
    """Media types of request and response."""
    request, response = table(entry.get("request")), table(entry.get("response"))
    return (
        text(table(response.get("content")).get("mimeType")).lower(),
        text(entry.get("_contentType")).lower(),
        header(request, "content-type").lower(),
    )


def _is_internal(response: Json) -> bool:
    return text(response.get("statusText")).lower() == "internal redirect"


def _is_of_worker(entry: Json, response: Json) -> bool:
    """True for what a service worker answered."""
    if "service worker" in text(entry.get("_fetchType")).lower():
        return True
    return any(
        each.get(name) for each in (entry, response) for name in ("_fetchedViaServiceWorker", "fromServiceWorker")
    )


def _is_cached(page: HarPage, entry: Json, response: Json, sent: Sent, exporter: str) -> bool:
    """True for an answer of the browser's own cache, or one that was joined to another request."""
    if (
        any(each.get(name) for each in (entry, response) for name in _CACHED)
        or "cache" in text(entry.get("_fetchType")).lower()
    ):
        return True
    if sent.is_new or sent.status == 304:  # a question to the server
        return False
    cache = table(entry.get("cache"))
    if cache.get("beforeRequest") or (exporter in _MOZILLA and "afterRequest" in cache):
        return not (number(response.get("_transferSize")) or 0) > 0
    if exporter == "browsertime" and identifier(entry.get("connection")) == "0" and not entry.get("serverIPAddress"):
        return (number(response.get("_transferSize")) or 0) <= 0
    return _came_from_nowhere(page, response, sent, exporter)


_CACHED = ("_fromCache", "fromDiskCache", "fromPrefetchCache", "_fromDiskCache")
_MOZILLA = ("firefox", "firebug")


def _came_from_nowhere(page: HarPage, response: Json, sent: Sent, exporter: str) -> bool:
    """True for a whole response with content that transferred none, where the file counts transfers."""
    if sent.status != 200 or sent.method == "HEAD" or _content(response) <= 0:
        return False
    sizes = {name: number(response.get(name)) for name in _COUNTS}
    transferred = sizes["_transferSize"]
    if transferred is not None and "_transferSize" in page.counted:
        return transferred == 0
    body = sizes["bodySize"]
    if body is None or "bodySize" not in page.counted or (transferred or 0) > 0:
        return False
    return body <= 0 if exporter == "firefox" else body == 0


def join_workers(page: HarPage, entries: Sequence[Sent]) -> None:
    """Make one request of each that a service worker passed on: its own over the network, for the cause of the page's.

    Where the file has the page's alone, that stays if the worker's answer came from the network. What a worker fetches
    that no request of the page asks for is ahead of need.

    Args:
        page: The page.
        entries: Its entries in the normal form, in the order of the page's.
    """
    own: dict[tuple[str, str], list[Sent]] = defaultdict(list)
    for each in entries:
        if not each.gone:
            own[each.method, each.name].append(each)
    workers = {each.name for (_, entry), each in zip(page.entries, entries, strict=True) if _is_script(entry)}
    twins = []
    for (_, entry), each in zip(page.entries, entries, strict=True):
        if each.gone != WORKER:
            continue
        found = [twin for twin in own[each.method, each.name] if each.issue_ms <= twin.issue_ms <= each.end_ms]
        if found:
            twin = min(found, key=lambda twin: twin.issue_ms)
            own[each.method, each.name].remove(twin)
            workers |= {twin.initiator} if twin.initiator_type == "script" else set()
            twins.append((twin, each))
        elif _source(entry) == "network" or _transferred(entry) > 0:
            each.gone = ""
    workers -= {"", *(asked.initiator for _, asked in twins)}
    joined = {id(twin) for twin, _ in twins}
    for twin, asked in twins:
        twin.initiator, twin.initiator_type, twin.kind = asked.initiator, asked.initiator_type, asked.kind
    for each in entries:
        each.is_ahead = each.initiator in workers and id(each) not in joined


def own_sizes(page: HarPage, entries: Sequence[Sent]) -> None:
    """Take the body of its target from a redirect that has a copy of it: the same size, and no length of its own."""
    rows = [(entry, each) for (_, entry), each in zip(page.entries, entries, strict=True) if not each.gone]
    target = {each.name: (entry, each) for entry, each in reversed(rows)}
    for entry, each in rows:
        hop, last = each, entry
        for _ in range(_HOPS):
            if hop.redirect not in target:
                break
            last, hop = target[hop.redirect]
        response, other = table(entry.get("response")), table(last.get("response"))
        size = _content(response)
        is_copied = size > 0 and size == _content(other)
        is_whole = each.response_bytes > size or response.get("bodySize") == other.get("bodySize")
        if each.redirect and not hop.redirect and is_copied and is_whole and not header(response, "content-length"):
            head = number(response.get("headersSize")) or 0
            each.response_bytes = min(each.response_bytes, round(head) if head > 0 else RESPONSE_HEADER_BYTES)


_HOPS = 20  # browsers follow no more


def _content(response: Json) -> float:
    return number(table(response.get("content")).get("size")) or 0.0


def _is_script(entry: Json) -> bool:
    """True for the script of a service worker: browsers say so in the request."""
    return header(table(entry.get("request")), "service-worker").lower() == "script"


def _source(entry: Json) -> str:
    """Where a service worker has its answer from: network, cache-storage and others."""
    of = (entry, table(entry.get("response")))
    return next((found for each in of if (found := text(each.get("_serviceWorkerResponseSource")).lower())), "")


def _transferred(entry: Json) -> float:
    return number(table(entry.get("response")).get("_transferSize")) or 0.0
