"""The fields of HARs as each exporter means them: an entry in the normal form, times in ms since the page began.

What crossed no network is in `farweb.pages.crossing`, the normal form in `farweb.pages.sent`.

Sources: the exporters' own code (chrome-har, DevTools, WebKit, mitmproxy, pcap2har, WebPageTest), and files of each.
"""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode, urljoin, urlsplit

from farweb.pages.crossing import why_gone
from farweb.pages.har import PAGE_MS_MAX, HarPage, Json, header, identifier, number, table, text
from farweb.pages.sent import REQUEST_HEADER_BYTES, RESPONSE_HEADER_BYTES, Sent

_HEADER_MAX = 16_384  # chosen: servers accept no longer ones, so it is a mistake of the exporter
_BYTES_MAX = 2**40


_NAMES = {
    "webpagetest": "webpagetest",
    "chrome-har": "browsertime",
    "webinspector": "devtools",
    "firefox": "firefox",
    "firebug": "firebug",
    "fiddler": "proxy",
    "charles proxy": "proxy",
    "pcap2har": "packets",
    "browsertime": "browsertime",
    "webkit web inspector": "safari",
    "mitmproxy": "mitmproxy",
    "mitmproxy har_dump": "mitmproxy",
    "playwright": "playwright",
    "farweb": "farweb",
}


def exporter_of(page: HarPage) -> str:
    """The exporter of a page, by the name of its rules. An unknown one follows the format."""
    name = page.exporter[0].lower()
    return _NAMES.get(name, next((rules for word, rules in _NAMES.items() if name.startswith(word)), "other"))


def normal(page: HarPage, entry: Json, exporter: str) -> Sent:
    """An entry in the normal form."""
    request, response = table(entry.get("request")), table(entry.get("response"))
    url = text(request.get("url"))
    try:
        parts = urlsplit(url)
        host, scheme = parts.netloc.rpartition("@")[2].lower(), parts.scheme.lower()
    except ValueError:
        host, scheme = "", "unreadable"
    times = _of_webpagetest(page, entry) if exporter == "webpagetest" else _of_timings(page, entry, exporter)
    status = int(number(response.get("status")) or 0)
    request_bytes, response_bytes = _sizes(page, entry, request, response, status, exporter)
    initiator, initiator_type = _initiator(entry)
    sent = Sent(
        url,
        host,
        _kind(entry, response, url),
        text(request.get("method")).upper() or "GET",
        status,
        _protocol(entry, response, exporter),
        scheme == "https",
        request_bytes=request_bytes,
        response_bytes=response_bytes,
        redirect=_redirect(url, response, status),
        initiator=initiator,
        initiator_type=initiator_type,
        connection=_connection(entry, exporter),
        **times,
    )
    sent.gone = why_gone(page, entry, sent, scheme, exporter)
    sent.is_pushed = _is_pushed(entry, sent, exporter)
    sent.is_sized = _is_sized(entry, response)
    sent.is_unpacked = _is_unpacked(page, entry, request, response, exporter)
    if exporter == "farweb":
        sent.parents, sent.dependency = text(entry.get("_parents")), text(entry.get("_dependency"))
        sent.server_ms = _span(entry.get("_server_ms"))
    return sent


def _is_pushed(entry: Json, sent: Sent, exporter: str) -> bool:
    """True for a pushed response: by its mark, a wait of nothing after a block, or Firefox 54's status 0 in no time."""
    blocked = _span(table(entry.get("timings")).get("blocked"))
    is_marked = str(entry.get("_was_pushed")).lower() in ("1", "true")
    has_no_wait = sent.protocol == "h2" and sent.wait_ms < 0.5 and blocked > 15 and not sent.is_new
    return is_marked or has_no_wait or (exporter == "firefox" and sent.status == 0 and sent.end_ms == sent.send_ms)


def _of_timings(page: HarPage, entry: Json, exporter: str) -> dict[str, Any]:
    """Times by `startedDateTime` and `timings`, as the exporter means them."""
    timings = table(entry.get("timings"))
    spans = {name: _span(timings.get(name)) for name in _SPANS}
    if not _has_wait(timings):
        spans["wait"] = max(0.0, _span(entry.get("time")) - sum(spans.values()) + spans["ssl"])
    start = _bounded(entry["startedDateTime"] - page.start_ms)
    if exporter == "packets":  # begins with the connection, behind the look-up of the name
        start -= spans["dns"]
    tcp = spans["connect"]
    before = spans["blocked"] + spans["dns"] + spans["connect"] + spans["send"]
    if exporter in ("firefox", "mitmproxy") and not _has_ssl_within(entry, spans):
        before += spans["ssl"]  # beside connect
    else:
        tcp = max(0.0, tcp - spans["ssl"])
    is_new = spans["connect"] > 0
    if exporter == "safari" and not is_new:
        before = max(0.0, _span(entry.get("time")) - spans["wait"] - spans["receive"])  # blocked and send overlap
    queued = _span(timings.get("_blocked_queueing") or entry.get("_blocked_queueing"))
    issue = start
    if "_queued" in timings:  # of chrome-har, which begins behind the renderer's queue
        queued = min(max(0.0, start), _span(timings["_queued"]))
        issue -= queued
    send = start + before
    first = send + spans["wait"]
    return {
        "issue_ms": issue,
        "queued_ms": min(queued, max(0.0, send - issue)),
        "send_ms": send,
        "first_ms": first,
        "end_ms": first + spans["receive"],
        "tcp_ms": tcp,
        "tls_ms": spans["ssl"],
        "is_new": is_new,
    }


_SPANS = ("blocked", "dns", "connect", "send", "wait", "receive", "ssl")


def _has_wait(timings: Json) -> bool:
    waited = number(timings.get("wait"))
    return waited is not None and 0 <= waited <= PAGE_MS_MAX


def has_odd_times(entry: Json) -> bool:
    """True where a span of an entry is no number, or beyond `PAGE_MS_MAX`."""
    timings = table(entry.get("timings"))
    given = [timings[name] for name in _SPANS if timings.get(name) is not None]
    return any((found := number(value)) is None or found > PAGE_MS_MAX for value in given)


def _has_ssl_within(entry: Json, spans: Mapping[str, float]) -> bool:
    """True where `time` is the sum without `ssl`: the newer files of an exporter follow the format."""
    whole = _span(entry.get("time"))
    beside = sum(spans.values())
    within = beside - spans["ssl"]
    return spans["connect"] >= spans["ssl"] > 0 and abs(whole - within) < abs(whole - beside)


_READY_MS = 20.0
"""A connection that was ready longer before its request was made for another."""


def _of_webpagetest(page: HarPage, entry: Json) -> dict[str, Any]:
    """Times by WebPageTest's own fields. A span counts if it ends behind its start: old versions write 0 for -1."""
    sends = (number(entry.get("_load_start_float")), number(entry.get("_load_start")))
    at = next((each for each in sends if each is not None and each >= 0), entry["startedDateTime"] - page.start_ms)
    send = _bounded(at)
    first = send + _span(entry.get("_ttfb_ms"))
    end = max(first, _span(entry.get("_download_end")) or send + _span(entry.get("_load_ms")))
    spans = {}
    for name in ("dns", "connect", "ssl"):
        begin, over = number(entry.get(f"_{name}_start")), number(entry.get(f"_{name}_end"))
        if begin is not None and over is not None and over > begin >= 0:
            spans[name] = (_bounded(begin), _bounded(over))
    issue = send
    ready = max((spans[name][1] for name in ("connect", "ssl") if name in spans), default=send)
    if spans and send - ready < _READY_MS:
        issue = min(begin for begin, _ in spans.values())
    lasted = {name: over - begin for name, (begin, over) in spans.items()}
    return {
        "issue_ms": min(issue, send),
        "send_ms": send,
        "first_ms": first,
        "end_ms": end,
        "tcp_ms": lasted.get("connect", 0.0),
        "tls_ms": lasted.get("ssl", 0.0),
        "is_new": "connect" in lasted or "ssl" in lasted,
    }


def _counted(page: HarPage, entry: Json) -> float:
    """Bytes that WebPageTest counted of a response, header included. 0: none, or its counts of the page are double."""
    return 0.0 if page.counts_twice else _bytes(entry.get("_bytesIn"))


def _sizes(page: HarPage, entry: Json, request: Json, response: Json, status: int, exporter: str) -> tuple[int, int]:
    """Bytes of request and response on the wire, headers included."""
    asked = number(request.get("headersSize"))
    request_bytes = asked if asked is not None and 0 < asked < _HEADER_MAX else REQUEST_HEADER_BYTES
    request_bytes += _upload(request)
    body = _body(entry, exporter)
    if not body and number(response.get("bodySize")) != 0:
        body = _packed(response)
    most = _body_max(request, response, status)
    head = number(response.get("headersSize")) or 0
    head = head if 0 < head < _HEADER_MAX else RESPONSE_HEADER_BYTES
    body = min(body, most)  # else of a copy from the cache, or of the target of a redirect
    transferred = _bytes(response.get("_transferSize"))
    is_transferred = 0 < transferred <= most + _HEADER_MAX
    whole = transferred if is_transferred else _counted(page, entry) or body + head
    return round(request_bytes), max(1, round(whole))


def _upload(request: Json) -> float:
    """Bytes of the body of a request: as counted, else as announced, else its text, else its parameters as a form."""
    posted = table(request.get("postData"))
    sent, rows = posted.get("text"), posted.get("params")
    if not isinstance(sent, str):
        form = (table(each) for each in (rows if isinstance(rows, list) else ()))
        sent = urlencode([(text(each.get("name")), text(each.get("value"))) for each in form])
    return _bytes(request.get("bodySize")) or _announced(request) or len(sent.encode("utf-8", "replace"))


def _packed(response: Json) -> float:
    """Bytes of a body that the exporter did not count: of its content, less what compression saved, or as announced."""
    content, announced = table(response.get("content")), _announced(response)
    if (number(content.get("size")) or 0.0) < 0 or content.get("size") is None:
        return announced or 0.0
    size = max(0.0, _bytes(content["size"]) - _bytes(content.get("compression")))
    return size if announced is None else min(size, announced)  # less came than was announced where it was cut off


def _announced(message: Json) -> float | None:
    """Bytes of a body by its `Content-Length`, None where unknown."""
    length = number(header(message, "content-length") or None)
    return None if length is None or length < 0 else _bytes(length)


def _body_max(request: Json, response: Json, status: int) -> float:
    """Most bytes of a body: none where HTTP allows none, and what a redirect announces."""
    if status in (204, 304) or text(request.get("method")).upper() == "HEAD":
        return 0.0
    announced = _announced(response) if 300 <= status < 400 else None
    return _BYTES_MAX if announced is None else announced


def _is_sized(entry: Json, response: Json) -> bool:
    """True where any size of the response is known."""
    sizes = (
        entry.get("_bytesIn"),
        entry.get("_objectSize"),
        *(response.get(name) for name in ("_transferSize", "bodySize")),
    )
    return _announced(response) is not None or any(
        (number(size) or 0.0) >= 0 and size is not None for size in (*sizes, table(response.get("content")).get("size"))
    )


def _is_unpacked(page: HarPage, entry: Json, request: Json, response: Json, exporter: str) -> bool:
    """True where only the size of the content is known, and it may have crossed packed."""
    content = table(response.get("content"))
    counted = (_body(entry, exporter), _counted(page, entry), _announced(response), _bytes(content.get("compression")))
    if any(counted) or number(response.get("bodySize")) == 0 or not _bytes(content.get("size")):
        return False
    has_body = _body_max(request, response, int(number(response.get("status")) or 0)) > 0
    return has_body and (not response.get("headers") or header(response, "content-encoding") not in ("", "identity"))


def _body(entry: Json, exporter: str) -> float:
    """Bytes of the body on the wire, 0 where unknown. Firefox counts the header in `bodySize`."""
    size = number(entry.get("_objectSize"))
    if size is not None and size >= 0:
        return _bytes(size)
    response = table(entry.get("response"))
    body = _bytes(response.get("bodySize"))
    if exporter == "firefox" and _announced(response) != body:
        body -= min(body, _bytes(response.get("headersSize")))
    return _bytes(response.get("_transferSize")) or body


_CUT = ("us:", "2 ", "k")
"""Beginnings of `httpVersion` in old files of WebPageTest for HTTP/2 and SPDY: three letters, from the sixth on, of a
first header line ``:status: 200``, ``HTTP/2 200`` or ``200 OK``, where one of HTTP/1.1 has ``1.1``."""


def _protocol(entry: Json, response: Json, exporter: str) -> str:
    word = (text(entry.get("_protocol")) or text(response.get("httpVersion"))).lower()
    if exporter == "webpagetest" and word.startswith(_CUT):
        return "h2"
    if word.startswith("h3") or "quic" in word or "http/3" in word:
        return "h3"
    return "h2" if word.startswith(("h2", "spdy")) or "/2" in word else "h1"


def _connection(entry: Json, exporter: str) -> str:
    """Id of a connection. A port, as Firefox writes it and DevTools since 2023, is none."""
    if exporter == "webpagetest":
        return identifier(entry.get("_socket"))
    if exporter == "firefox":
        return ""
    found = identifier(entry.get("_connectionId")) or identifier(entry.get("connection"))
    return "" if found in ("0", "80", "443") else found


def _initiator(entry: Json) -> tuple[str, str]:
    """URL and type of what asked for a request: DevTools' object, or the texts of chrome-har and WebPageTest."""
    given = entry.get("_initiator")
    if not isinstance(given, dict):
        return text(given), text(entry.get("_initiator_type"))
    url, stack = text(given.get("url")), table(given.get("stack"))
    while not url and stack:
        frames = stack.get("callFrames")
        named = [text(table(frame).get("url")) for frame in frames] if isinstance(frames, list) else []
        url = next((each for each in named if each), "")
        stack = table(stack.get("parent"))
    return url, text(given.get("type"))


_BY_MIME = (
    ("text/html", "html"),
    ("text/css", "css"),
    ("javascript", "script"),
    ("ecmascript", "script"),
    ("font", "font"),
    ("image/", "image"),
    ("json", "json"),
    ("xml", "xml"),
)
_BY_ENDING = {
    "css": "css",
    "js": "script",
    "mjs": "script",
    "woff": "font",
    "woff2": "font",
    "png": "image",
    "gif": "image",
    "jpg": "image",
    "webp": "image",
    "svg": "image",
    "html": "html",
}


def _kind(entry: Json, response: Json, url: str) -> str:
    asked = (text(entry.get("_request_type")) or text(entry.get("_resourceType"))).lower()
    if asked == "preflight" or text(table(entry.get("request")).get("method")).upper() == "OPTIONS":
        return "preflight"
    if asked in ("ping", "beacon"):
        return "beacon"
    mime = (text(table(response.get("content")).get("mimeType")) or text(entry.get("_contentType"))).lower()
    ending = url.partition("?")[0].rpartition(".")[2].lower()
    return next((kind for word, kind in _BY_MIME if word in mime), _BY_ENDING.get(ending, "other"))


def _redirect(url: str, response: Json, status: int) -> str:
    if not 300 <= status < 400 or status == 304:
        return ""
    target = text(response.get("redirectURL")) or header(response, "location")
    try:
        return urljoin(url, target) if target else ""
    except ValueError:
        return ""


def _span(value: Any) -> float:
    """A span in ms, 0 for -1 and whatever else is none."""
    found = number(value) or 0.0
    return found if 0 < found <= PAGE_MS_MAX else 0.0


def _bounded(ms: float) -> float:
    return min(PAGE_MS_MAX, max(-PAGE_MS_MAX, ms))


def _bytes(value: Any) -> float:
    return min(float(_BYTES_MAX), max(0.0, number(value) or 0.0))
