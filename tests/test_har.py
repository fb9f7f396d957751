"""HARs: what each exporter means, which requests waited for which, and files that are odd or hostile."""

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from farweb.errors import WorkloadError
from farweb.pages.exporters import exporter_of, normal
from farweb.pages.graph import RULES, Dependency, Edge, graph_of
from farweb.pages.har import is_har, read_har
from farweb.pages.recording import Recording, recording_of
from farweb.pages.sent import Sent
from hars import at, entry, har, page_of, written
from page_errors import issues_within
from samples import Farweb

DATA = next((up / "shared/data" for up in Path(__file__).parents if (up / "shared/data").is_dir()), None)


PAGE = "https://a.example/"


def about(number: float) -> Any:
    """A number up to what floats lose, where a value of ours has one."""
    return pytest.approx(number)


def sent(folder: Path, creator: str, given: dict[str, Any], version: str = "1") -> Sent:
    page = page_of(folder, har(given, creator=creator, version=version))
    return normal(page, page.entries[0][1], exporter_of(page))


def recorded(folder: Path, *entries: dict[str, Any], **file: Any) -> Recording:
    return recording_of(page_of(folder, har(*entries, **file)))


OPENED = {"blocked": 5, "dns": 7, "connect": 80, "ssl": 50, "send": 1, "wait": 30, "receive": 10}
"""A request on a new connection, TLS inside connect as the format has it."""


@pytest.mark.parametrize(
    ("creator", "given", "issue", "send", "first", "end", "tcp"),
    [
        ("WebInspector", {"timings": OPENED}, 100, 193, 223, 233, 30),
        ("unheard of", {"timings": OPENED}, 100, 193, 223, 233, 30),
        # chrome-har begins behind the renderer's queue.
        ("chrome-har", {"timings": {**OPENED, "_queued": 40}}, 60, 193, 223, 233, 30),
        # Firefox had ssl beside connect, and time is the sum of all.
        ("Firefox", {"timings": OPENED, "time": 183}, 100, 243, 273, 283, 80),
        ("Firefox", {"timings": OPENED, "time": 133}, 100, 193, 223, 233, 30),
        ("mitmproxy", {"timings": OPENED, "time": 183}, 100, 243, 273, 283, 80),
        # Firebug, Browsertime 1 and Fiddler write 0 for what did not happen.
        ("Firebug", {"timings": {"blocked": 0, "dns": 0, "connect": 0, "ssl": 0}}, 100, 100, 150, 160, 0),
        ("Browsertime", {"timings": {"blocked": 0, "connect": 0, "ssl": 0}, "time": 99}, 100, 100, 150, 160, 0),
        ("Fiddler", {"timings": {"connect": 0, "ssl": 0}}, 100, 100, 150, 160, 0),
        ("Playwright", {"timings": {"wait": 50}}, 100, 100, 150, 160, 0),
        # Where there is no wait, time says how long it was.
        ("Postman", {"timings": {"wait": -1, "receive": -1}, "time": "70ms"}, 100, 100, 170, 170, 0),
        # A renderer's queue begins with the page at the earliest.
        ("Browsertime", {"timings": {"_queued": 140}}, 0, 100, 150, 160, 0),
        ("pcap2har", {"timings": {"connect": 20, "wait": 50}, "time": 3}, 100, 120, 170, 180, 20),
        # Safari counts the time before a request on a used connection twice.
        ("WebKit Web Inspector", {"timings": {"blocked": 20, "send": 20}, "time": 80}, 100, 120, 170, 180, 0),
    ],
)
def test_times_by_exporter(
    tmp_path: Path, creator: str, given: dict[str, Any], issue: float, send: float, first: float, end: float, tcp: float
) -> None:
    found = sent(tmp_path, creator, entry(start_ms=100, **given))
    times = (found.issue_ms, found.send_ms, found.first_ms, found.end_ms, found.tcp_ms)
    assert times == pytest.approx((issue, send, first, end, tcp))


WPT: dict[str, Any] = {"_load_start": 200, "_ttfb_ms": 50, "_load_ms": 70}
WPT |= {"_socket": "9", "_objectSize": "900", "_bytesIn": "1200"}


@pytest.mark.parametrize(
    ("given", "issue", "tcp", "tls", "is_new"),
    [
        ({"_connect_start": 150, "_connect_end": 170, "_ssl_start": 170, "_ssl_end": 195}, 150, 20, 25, True),
        # 2.17 to 2.19 write "0" for what did not happen.
        ({"_dns_start": "0", "_dns_end": "0", "_connect_start": "0", "_connect_end": "0"}, 200, 0, 0, False),
        # A connection that was long ready had been made for another.
        ({"_connect_start": 100, "_connect_end": 120}, 200, 20, 0, True),
        # QUIC: no TCP, the whole handshake is TLS.
        ({"_connect_start": -1, "_connect_end": -1, "_ssl_start": 170, "_ssl_end": 195}, 170, 0, 25, True),
    ],
)
def test_times_of_webpagetest(
    tmp_path: Path, given: dict[str, Any], issue: float, tcp: float, tls: float, is_new: bool
) -> None:
    found = sent(tmp_path, "WebPagetest", entry(**WPT, **given))
    assert (found.issue_ms, found.tcp_ms, found.tls_ms, found.is_new) == (issue, tcp, tls, is_new)
    assert (found.send_ms, found.first_ms, found.end_ms) == (200, 250, 270)
    assert (found.connection, found.response_bytes) == ("9", 1200)


@pytest.mark.parametrize(
    ("creator", "given", "size"),
    [
        ("WebInspector", {"response": {"_transferSize": 777, "bodySize": -1}}, 777),
        ("chrome-har", {"response": {"_transferSize": 500, "bodySize": 500}}, 500),
        ("Firefox", {"response": {"bodySize": 783}}, 1083),
        ("other", {"response": {"bodySize": -1, "headersSize": -1}}, 1400),  # decoded size, and a usual header
        ("other", {"response": {"bodySize": "2000", "headersSize": None}}, 2400),
        ("other", {"response": {"status": 304, "bodySize": -1}}, 300),
    ],
)
def test_sizes_by_exporter(tmp_path: Path, creator: str, given: dict[str, Any], size: int) -> None:
    assert sent(tmp_path, creator, entry(**given)).response_bytes == size


CSS = "https://a.example/x.css"
OCSP: dict[str, Any] = {"response": {"content": {"mimeType": "application/ocsp-response"}}}
BY_WORKER: dict[str, Any] = {"response": {"_fetchedViaServiceWorker": True, "_transferSize": 0}}
NO_BYTES: dict[str, Any] = {"response": {"_transferSize": 0, "bodySize": -1}}
BLOCKED = {"_error": "net::ERR_BLOCKED_BY_CLIENT"}
HSTS: dict[str, Any] = {"headers": [{"name": "non-authoritative-reason", "value": "HSTS"}], "redirectURL": PAGE}


@pytest.mark.parametrize(
    ("creator", "given", "why"),
    [
        ("WebInspector", entry("data:image/png;base64,AA"), "no http (data)"),
        ("WebInspector", entry("javascript:alert(1)"), "no http (javascript)"),
        ("WebInspector", entry("wss://a.example/live"), "web socket"),
        ("Firefox", entry(response={"status": 101}), "web socket"),
        ("WebPagetest", entry("http://a.example/", **OCSP), "certificate status"),
        ("WebInspector", entry("http://ocsp.a.example/"), ""),  # a name is no mark
        ("Charles Proxy", entry(request={"method": "CONNECT"}), "tunnel"),
        ("WebInspector", entry(response={"status": -2, "bodySize": 0}), "no answer"),
        (
            "WebInspector",
            entry(response={"status": 0, "_error": "net::ERR_BLOCKED_BY_CLIENT"}),
            "blocked in the browser",
        ),
        ("WebInspector", entry(CSS), ""),
        # Redirects inside the browser.
        ("WebInspector", entry(response={"status": 307, **HSTS}), "internal redirect"),
        ("chrome-har", entry(response={"status": 307, "statusText": "Internal Redirect"}), "internal redirect"),
        ("WebInspector", entry(response={"status": 307, **HSTS}, _fromCache="disk"), "internal redirect"),
        ("WebInspector", entry(response={"status": 307, "redirectURL": PAGE}), ""),
        # Caches of browsers.
        ("WebInspector", entry(CSS, _fromCache="disk"), "cache"),
        ("WebInspector", entry(CSS, timings={"wait": 1, "receive": 0.5}), ""),  # near, and no mark
        ("WebInspector", entry(CSS, **NO_BYTES), "cache"),
        ("WebInspector", entry(CSS, timings={"connect": 30}, **NO_BYTES), ""),  # a connection was opened for it
        ("chrome-har", entry(CSS, cache={"beforeRequest": {"hitCount": 0}}), "cache"),
        ("chrome-har", entry(CSS, connection="0", response={"_transferSize": 0}), "cache"),
        ("Firefox", entry(CSS, cache={"afterRequest": None}), "cache"),
        ("Firefox", entry(CSS, response={"bodySize": -1}), "cache"),
        ("other", entry(CSS, response={"bodySize": -1}), ""),  # unknown
        ("other", entry(CSS, response={"bodySize": 0}), "cache"),
        ("Firefox", entry(CSS, cache={"afterRequest": None}, response={"status": 304}), ""),  # asked, and answered
        ("WebKit Web Inspector", entry(CSS, _fetchType="Memory Cache"), "cache"),
        # Service workers.
        ("WebKit Web Inspector", entry(CSS, _fetchType="Service Worker"), "service worker"),
        ("chrome-har", entry(CSS, response={"fromServiceWorker": True}), "service worker"),
        ("WebInspector", entry(CSS, **BY_WORKER), "service worker"),
        ("WebInspector", entry(CSS, _initiator="https://a.example/sw.js"), ""),
        ("WebInspector", entry(CSS, **BY_WORKER, _serviceWorkerResponseSource="network"), ""),
    ],
)
def test_what_crossed_no_network(tmp_path: Path, creator: str, given: dict[str, Any], why: str) -> None:
    """A second entry shows that the file counts bytes."""
    counted = entry("https://a.example/counted", response={"_transferSize": 900, "bodySize": 700})
    page = recorded(tmp_path, given, counted, creator=creator)
    assert page.dropped == ({why: 1} if why else {})


def by_worker(url: str, start_ms: float, **fields: Any) -> list[dict[str, Any]]:
    """The page's request that a service worker passes on, and the worker's own 3 ms later."""
    own: dict[str, Any] = {"_transferSize": 9_000}
    asked = entry(url, start_ms, **BY_WORKER, **fields)
    return [asked, entry(url, start_ms + 3, response=own, _initiator={"type": "script", "url": f"{PAGE}worker"})]


def test_what_a_service_worker_passes_on_is_one_request_of_the_page(tmp_path: Path) -> None:
    passed = by_worker(CSS, 80, _initiator={"type": "parser", "url": PAGE})
    page = recorded(tmp_path, entry(), *passed, onload=500)
    assert [(each.name, each.response_bytes, each.initiator) for each in page.sent] == [
        (PAGE, 1300, ""),
        (CSS, 9_000, PAGE),
    ]
    assert page.dropped == {"service worker": 1}


def test_what_a_service_worker_fetches_ahead_holds_no_onload(tmp_path: Path) -> None:
    """Its script is known by the fetches that it passed on, or by the header of the fetch of it."""
    ahead = entry("https://a.example/later", 90, _initiator={"type": "script", "url": f"{PAGE}worker"})
    page = recorded(tmp_path, entry(), *by_worker(CSS, 80), ahead, onload=500)
    assert page.gates == [True, True, False]
    script = entry(f"{PAGE}worker", 70, request={"headers": [{"name": "Service-Worker", "value": "script"}]})
    assert recorded(tmp_path, entry(), script, ahead, onload=500).gates == [True, True, False]
    assert recorded(tmp_path, entry(), ahead, onload=500).gates == [True, True]


@pytest.mark.parametrize(
    ("response", "size"),
    [
        ({"status": 302, "bodySize": 9_000, "headers": [{"name": "Content-Length", "value": "0"}]}, 300),
        ({"status": 302, "bodySize": 9_000, "headers": [{"name": "content-length", "value": "154"}]}, 454),
        ({"status": 302, "_transferSize": 99_000, "headers": [{"name": "content-length", "value": "0"}]}, 300),
        ({"status": 302, "_transferSize": 280, "bodySize": -1}, 280),
        ({"status": 302, "bodySize": 1000, "content": {"size": 1000}}, 300),  # as its target has
        ({"status": 302, "bodySize": 154, "content": {"size": 154}}, 454),
        ({"status": 304, "bodySize": 9_000}, 300),  # of the copy in the cache
        ({"status": 204, "bodySize": 9_000}, 300),
    ],
)
def test_a_response_without_a_body_of_its_own_has_a_header(tmp_path: Path, response: dict[str, Any], size: int) -> None:
    hop = entry("http://a.example/", response={"redirectURL": PAGE, **response})
    assert recorded(tmp_path, hop, entry(PAGE, 90), creator="other").sent[0].response_bytes == size


@pytest.mark.parametrize(
    ("creator", "given", "is_pushed"),
    [
        ("chrome-har", {"_was_pushed": 1}, True),
        ("Browsertime", {"timings": {"wait": 0, "blocked": 40}, "response": {"httpVersion": "h2"}}, True),
        ("Firefox", {"timings": {"wait": 0, "receive": 0}, "response": {"status": 0, "bodySize": 99}}, True),
        ("chrome-har", {}, False),
    ],
)
def test_pushed_responses(tmp_path: Path, creator: str, given: dict[str, Any], is_pushed: bool) -> None:
    assert sent(tmp_path, creator, entry(**given)).is_pushed == is_pushed


@pytest.mark.parametrize(
    ("creator", "given", "connection", "protocol"),
    [
        ("WebInspector", {"connection": "443", "_connectionId": "7"}, "7", "h1"),
        ("WebInspector", {"connection": "443"}, "", "h1"),  # a port
        ("Firefox", {"connection": "8443", "response": {"httpVersion": "HTTP/2"}}, "", "h2"),
        ("chrome-har", {"connection": "1106", "response": {"httpVersion": "spdy"}}, "1106", "h2"),
        ("WebPagetest", {"_socket": 12, "response": {"httpVersion": "us:"}, "_protocol": "h3-29"}, "12", "h3"),
        ("WebInspector", {"response": {"httpVersion": "http/2.0"}}, "", "h2"),
    ],
)
def test_connections_and_protocols(
    tmp_path: Path, creator: str, given: dict[str, Any], connection: str, protocol: str
) -> None:
    found = sent(tmp_path, creator, entry(**given))
    assert (found.connection, found.protocol) == (connection, protocol)


def test_initiators_of_both_forms(tmp_path: Path) -> None:
    stack = {"callFrames": [], "parent": {"callFrames": [{"url": ""}, {"url": "https://a.example/app.js"}]}}
    devtools = sent(tmp_path, "WebInspector", entry(_initiator={"type": "script", "stack": stack}))
    assert (devtools.initiator, devtools.initiator_type) == ("https://a.example/app.js", "script")
    of_text = sent(tmp_path, "chrome-har", entry(_initiator="https://a.example/", _initiator_type="parser"))
    assert (of_text.initiator, of_text.initiator_type) == ("https://a.example/", "parser")


# --- the page ---


def test_requests_that_overlap_on_a_connection_of_unknown_version_ride_http2(tmp_path: Path) -> None:
    unknown: dict[str, Any] = {"connection": "7", "response": {"httpVersion": "unknown"}}
    page = recorded(tmp_path, entry(**unknown), entry("https://a.example/b.css", 20, **unknown))
    assert [each.protocol for each in page.sent] == ["h2", "h2"]


def test_webpagetest_stamps_what_waited_for_a_connection_when_it_was_ready(tmp_path: Path) -> None:
    waited: dict[str, Any] = {**WPT, "_load_start": 204, "_protocol": "h2"}
    shake = {"_connect_start": 150, "_connect_end": 170, "_ssl_start": 170, "_ssl_end": 195}
    opener: dict[str, Any] = {**WPT, **shake, "_protocol": "h2"}
    page = recorded(
        tmp_path, entry(**opener), entry("https://a.example/b.css", **waited), creator="WebPagetest", onload=900
    )
    assert [each.issue_ms for each in page.sent] == [150, 150]


def test_a_wait_for_six_busy_connections_is_made_anew_and_any_other_is_the_browsers(tmp_path: Path) -> None:
    busy = [entry(f"https://a.example/{n}.png", timings={"wait": 90}) for n in range(6)]
    late: dict[str, Any] = {"timings": {"blocked": 100, "_blocked_queueing": 100}}
    page = recorded(tmp_path, *busy, entry("https://a.example/7.png", **late))
    assert page.sent[-1].issue_ms == 0
    alone = recorded(tmp_path, *busy[:3], entry("https://a.example/7.png", **late))
    assert alone.sent[-1].issue_ms == 100


def at_once(*waits_ms: float, **fields: Any) -> list[dict[str, Any]]:
    """Requests of one host at 0, each with such a wait and without what its browser's queue took."""
    spans = {"blocked": -1, "receive": 0, **fields.pop("timings", {})}
    return [
        entry(f"https://a.example/{place}.png", timings={**spans, "wait": wait}, **fields)
        for place, wait in enumerate(waits_ms)
    ]


SIX = (100,) * 6
H2_OF_OLD: dict[str, Any] = {"response": {"httpVersion": "h2"}}


@pytest.mark.parametrize(
    ("creator", "entries", "waits"),
    [
        ("Playwright", at_once(*SIX, *(200,) * 6, *(300,) * 6), [100] * 18),
        ("Playwright", at_once(*SIX, 190), [100] * 6 + [90]),
        ("Playwright", at_once(*SIX), [100] * 6),
        ("Playwright", at_once(100, 150, 200), [100, 150, 200]),  # six or fewer are servers
        ("Playwright", at_once(*(100,) * 18), [100] * 18),  # no turn fits: more connections, or HTTP/2
        ("Playwright", at_once(*SIX, 150), [100] * 6 + [150]),  # shorter than any after its turn
        ("Playwright", at_once(*SIX, *(200,) * 6, **H2_OF_OLD), [100] * 6 + [200] * 6),
        ("Playwright", at_once(*SIX, 200, timings={"blocked": 4}), [100] * 6 + [200]),  # its queue is apart
        ("Playwright", at_once(*SIX, 200, connection="7"), [100] * 6 + [200]),
        ("Charles Proxy", at_once(*SIX, 200), [100] * 6 + [200]),  # sent when it begins
        ("unheard of", at_once(*SIX, 200, 260, 300), [100] * 6 + [100, 160, 200]),
    ],
)
def test_a_queue_in_a_wait_is_taken_out(
    tmp_path: Path, creator: str, entries: list[dict[str, Any]], waits: list[float]
) -> None:
    page = recorded(tmp_path, *entries, creator=creator, onload=900)
    assert [each.wait_ms for each in page.sent] == pytest.approx(waits)
    assert {each.issue_ms for each in page.sent} <= {0, 4}
    moved = sum(given["timings"]["wait"] != wait for given, wait in zip(entries, waits, strict=True))
    assert sum("queue for connections" in each for each in page.warnings) == bool(moved)


def test_round_trips_and_server_times(tmp_path: Path) -> None:
    page = recorded(
        tmp_path,
        entry(timings={"connect": 30, "wait": 80}),
        entry("https://b.example/x.png", 200, timings={"wait": 44}),
        entry("https://b.example/y.png", 300, timings={"wait": 54}),
    )
    assert page.rtt_ms == {"a.example": 30, "b.example": 44}
    assert page.server_ms == [50, 0, 10]


def test_hosts_on_one_multiplexed_connection_have_one_origin(tmp_path: Path) -> None:
    shared: dict[str, Any] = {"connection": "7", "response": {"httpVersion": "h2"}}
    page = recorded(tmp_path, entry(**shared), entry("https://b.example/x.png", 100, **shared))
    assert page.origins == ["a.example", "a.example"]


def test_the_document_is_its_last_reload_before_onload(tmp_path: Path) -> None:
    page = recorded(tmp_path, entry(response={"status": 202}), entry(start_ms=500), onload=900)
    assert (page.root, page.url) == (1, "https://a.example/")


def hop(path: str, start_ms: float, to: str) -> dict[str, Any]:
    return entry(PAGE + path, start_ms, response={"status": 302, "redirectURL": to, "bodySize": 0})


PING: dict[str, Any] = {"_resourceType": "ping"}


@pytest.mark.parametrize(
    ("entries", "issues", "load"),
    [
        ([entry(), entry(CSS, 70)], [0, 70], 500),
        ([entry(start_ms=30), entry(CSS, 100)], [30, 100], 500),  # the browser began before
        ([hop("in", -420, PAGE), entry(PAGE, -280), entry(CSS, 22)], [0, 140, 442], 920),
        ([hop("in", -90, "login"), hop("login", 0, PAGE), entry(PAGE, 70)], [0, 90, 160], 590),
        ([entry(PAGE, -10), entry(CSS, 60)], [0, 70], 510),
        ([entry(CSS, 60), entry(PAGE, -10)], [0, 70], 510),  # out of order
        ([entry(f"{PAGE}bye", -50, **PING), entry(PAGE), entry(CSS, 70)], [0, 0, 70], 500),  # of the page before
        ([entry("data:x", -70), entry(PAGE), entry(CSS, 70)], [0, 70], 500),  # no request
        ([entry(PAGE, -0.5), entry(CSS, 60)], [0, 60.5], 500.5),
        ([hop("in", -60_000, PAGE), entry(PAGE)], [0, 60_000], 60_500),
        ([entry(PAGE, 5, timings={"_queued": 40}), entry(CSS, 70)], [5, 70], 500),  # a queue begins none
    ],
)
def test_time_begins_with_the_first_request(
    tmp_path: Path, entries: list[dict[str, Any]], issues: list[float], load: float
) -> None:
    page = recorded(tmp_path, *entries, creator="chrome-har", onload=500)
    assert [each.issue_ms for each in page.sent] == pytest.approx(issues, abs=0.01)
    assert page.load_ms == pytest.approx(load, abs=0.01)


def test_onload_waits_for_what_began_and_ended_before_it(tmp_path: Path) -> None:
    page = recorded(
        tmp_path,
        entry(),
        entry("https://a.example/beacon", 70, _resourceType="ping"),
        entry("https://a.example/late.png", 150),
        onload=180,
    )
    assert (page.gates, page.tail_ms) == ([True, False, False], 120)


@pytest.mark.parametrize(
    ("entries", "file", "says"),
    [
        ([entry()], {}, "no onLoad"),
        ([entry()], {"onload": 4e6}, "its onLoad, 67 min, is beyond an hour, and the end"),
        ([entry()], {"onload": 10}, "its onLoad is before the end of any request"),
        ([entry()], {"onload": 100}, "names no initiators"),
        ([entry(timings={"wait": None, "receive": None}, time=None)], {}, "1 request without a time, taken for 0"),
        ([entry(response={"bodySize": -1, "content": {}})], {}, "1 request without a size, taken for 0"),
        ([entry(_was_pushed=1)], {"creator": "chrome-har"}, "server push"),
        ([entry(), entry("https://a.example/x.css", _fromCache="memory")], {}, "warm cache"),
        ([entry(**WPT)], {"creator": "WebPagetest", "page": "page_1_1"}, "warm cache"),
        ([entry(), entry("https://a.example/x.png", 5_000)], {}, "never filled its line"),
        ([entry(timings={"connect": 1, "wait": 80}) for _ in range(3)], {}, "a proxy near the browser"),
        ([entry(timings={"wait": "NaN"})], {}, "1 request with a time that is no number or beyond an hour"),
    ],
)
def test_what_a_file_cannot_say(tmp_path: Path, entries: list[Any], file: dict[str, Any], says: str) -> None:
    assert any(says in each for each in recorded(tmp_path, *entries, **file).warnings)


# --- the graph ---


def test_entries_left_out_are_counted_beside_the_answer(tmp_path: Path) -> None:
    """Each is in the sentence, one with a URL that cannot be read too."""
    gone = [entry("data:x"), entry("blob:x"), entry("https://[::1/"), entry("wss://a.example/live")]
    page = recorded(tmp_path, entry(), *gone, entry("https://a.example/x.css", _fromCache="disk"))
    assert next(page.reservations) == (
        "Left out: 1 no http (data), 1 no http (blob), 1 no http (unreadable), 1 web socket, 1 cache."
    )


@pytest.mark.parametrize("wait", ["NaN", 1e9])
def test_a_wait_out_of_range_is_as_long_as_the_time_of_its_entry_says(tmp_path: Path, wait: Any) -> None:
    assert sent(tmp_path, "other", entry(timings={"wait": wait})).wait_ms == 50


@pytest.mark.parametrize("odd", [5, entry(""), entry(startedDateTime=""), entry(startedDateTime="soon")])
def test_an_entry_that_cannot_be_read_costs_no_other(tmp_path: Path, odd: Any) -> None:
    content = har(entry(), entry(CSS, 70))
    content["log"]["entries"].insert(1, odd)
    page = recording_of(page_of(tmp_path, content))
    assert (len(page.sent), page.dropped) == (2, {"unreadable": 1})


def test_entries_of_no_page_are_counted_in_the_page_of_their_time(tmp_path: Path) -> None:
    content = har(entry(), entry(CSS, 100), entry(PAGE, 5_000), onload=500)
    second = {"id": "q", "startedDateTime": at(5_000), "pageTimings": {"onLoad": 500}}
    content["log"]["pages"].append(second)
    content["log"]["entries"][2]["pageref"] = "q"
    del content["log"]["entries"][1]["pageref"]
    pages = [recording_of(page) for page in read_har(written(tmp_path, content))]
    assert [(len(page.sent), page.dropped) for page in pages] == [(1, {"of no page": 1}), (1, {})]
    for each in content["log"]["entries"]:
        each.pop("pageref", None)
    pages = [recording_of(page) for page in read_har(written(tmp_path, content))]
    assert [(len(page.sent), page.dropped) for page in pages] == [(2, {}), (1, {})]


def of(tmp_path: Path, *entries: dict[str, Any], rule: Any = "likely", onload: float = 5_000) -> list[Dependency]:
    return graph_of(recorded(tmp_path, *entries, creator="chrome-har", onload=onload), rule)


SCRIPT: dict[str, Any] = {"response": {"content": {"mimeType": "text/javascript"}}}


def test_a_redirect_leads_to_its_target(tmp_path: Path) -> None:
    hop = entry("https://a.example/old", response={"status": 301, "redirectURL": "/"})
    found = of(tmp_path, hop, entry(PAGE, 75))
    assert found[1] == Dependency((Edge(0, 1.0),), about(15), "redirect")


def test_a_tag_within_a_document_waits_for_its_part(tmp_path: Path) -> None:
    document = entry(PAGE, timings={"wait": 50, "receive": 100})
    found = of(tmp_path, document, entry("https://a.example/x.css", 75, _initiator=PAGE, _initiator_type="parser"))
    assert found[1] == Dependency((Edge(0, about(0.25)),), 0, "initiator")


def test_what_ended_right_before_may_stand_behind_an_initiator_that_ended_long_ago(tmp_path: Path) -> None:
    entries = [
        entry(PAGE),
        entry("https://a.example/app.js", 61, **SCRIPT),
        entry("https://a.example/x.png", 140, _initiator=PAGE, _initiator_type="parser"),
    ]
    assert of(tmp_path, *entries)[2] == Dependency((Edge(0, 1.0), Edge(1, 1.0)), about(19), "hidden")
    assert of(tmp_path, *entries, rule="few")[2].edges == (Edge(0, 1.0),)
    assert of(tmp_path, *entries, rule="many")[2].edges == (Edge(1, 1.0),)


def test_an_initiator_that_is_not_clear_is_none(tmp_path: Path) -> None:
    twice = [entry("https://a.example/app.js", start, **SCRIPT) for start in (70, 150)]
    asked = entry("https://a.example/x.json", 300, _initiator="https://a.example/app.js", _initiator_type="script")
    assert of(tmp_path, entry(PAGE), *twice, asked)[3].kind == "time"
    itself = entry("https://a.example/x.css", 80, _initiator="https://a.example/x.css")
    assert of(tmp_path, entry(PAGE), itself)[1].kind == "time"


def test_entries_that_name_each_other_and_times_below_zero_make_no_circle(tmp_path: Path) -> None:
    names = [f"https://a.example/{place}.js" for place in range(3)]
    odd: dict[str, Any] = {"startedDateTime": "1969-12-31T23:59:59Z", "timings": {"wait": "-9", "receive": -1e300}}
    ring = [entry(name, _initiator=names[place - 1], **odd, **SCRIPT) for place, name in enumerate(names)]
    for rule in RULES:
        for place, each in enumerate(of(tmp_path, entry(PAGE), *ring, rule=rule)):
            assert each.think_ms >= 0
            assert all(edge.parent < place for edge in each.edges)


def test_a_request_waits_for_its_preflight(tmp_path: Path) -> None:
    preflight = entry("https://b.example/api", 70, _initiator="https://b.example/api", _request_type="Preflight")
    found = of(tmp_path, entry(PAGE), preflight, entry("https://b.example/api", 140, _initiator=PAGE))
    assert (found[1].kind, found[2].edges) == ("time", (Edge(1, 1.0),))


# --- files ---


def test_a_har_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    content = har(entry())
    assert is_har(written(tmp_path, content, "a.json"))
    assert is_har(written(tmp_path, "\ufeff " + json.dumps(content), "b.txt"))
    packed = tmp_path / "c.gz"
    packed.write_bytes(gzip.compress(json.dumps(content).encode()))
    assert is_har(packed)
    assert not is_har(written(tmp_path, '{"ts": 1, "url": "/"}\n', "d.json"))
    os.mkfifo(tmp_path / "pipe")  # no name of a HAR: it is not waited for
    assert not is_har(tmp_path / "pipe")
    assert not is_har(tmp_path / ("x" * 5_000))
    assert not is_har(tmp_path)


def test_pages_that_are_missing_numbers_that_are_texts_and_times_of_any_precision(tmp_path: Path) -> None:
    odd = entry(timings={"wait": "40", "dns": None}, startedDateTime="2026-01-01T02:00:00.1234567+02:00")
    content = har(odd)
    del content["log"]["pages"]
    page = recording_of(page_of(tmp_path, content))
    assert page.sent[0].wait_ms == 40
    assert page.warnings[0].startswith("it has no pages, and is taken for one load; it has no onLoad")


@pytest.mark.parametrize(
    "change",
    [
        lambda log: log["entries"][0].pop("pageref"),
        lambda log: [each.update(pageref=7, id=7) for each in (*log["pages"], *log["entries"])],
        lambda log: log["pages"][0].update(startedDateTime="2025-01-01T00:00:00Z"),
        lambda log: log["pages"][0].update(startedDateTime="2026-01-01T00:00:09Z"),
        lambda log: log["entries"].reverse(),
    ],
    ids=["no pageref", "numbers", "a clock behind", "a clock ahead", "out of order"],
)
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32-be"])
def test_an_odd_file_is_read_as_the_plain_one(
    tmp_path: Path, change: Callable[[dict[str, Any]], Any], encoding: str
) -> None:
    def plain() -> dict[str, Any]:
        return har(entry(), entry("https://a.example/x.css", 80), onload=200)

    odd = plain()
    change(odd["log"])
    (tmp_path / "odd.har").write_bytes(json.dumps(odd).encode(encoding))
    found, expected = recording_of(read_har(tmp_path / "odd.har")[0]), recording_of(page_of(tmp_path, plain()))
    assert (found.sent, found.load_ms, found.gates) == (expected.sent, expected.load_ms, expected.gates)


def broken(change: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    content = har(entry())
    change(content["log"])
    return content


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("", "is empty; save it again, in the network panel of the browser"),
        ('{"log": {"entries": [', "line 1: the file ends in the middle: it was cut off; save it again"),
        ('{"log": {"entries": [{"url": "https://a', "line 1: the file ends in the middle: it was cut off"),
        ('{"log":\n{"a" 5}}', "line 2: found '5}}' in column 6, where JSON has something else; save it again"),
        ("<html>\n", "line 1: is no HAR: found '<html>', and a HAR begins with {; save it again"),
        ('{"foo": 1}', 'is no HAR: found an object with \'foo\'; a HAR is an object {"log": {"entries": [...]}}'),
        ('{"log": ' + "[" * 100_000, "nested too deeply"),
        ('{"log": {"entries": NaN}}', "NaN is no number of JSON"),
        ('{"log": 5}', "is no HAR"),
        ("[]", "is no HAR: found a list"),
        ("PK\x03\x04", "is a zip archive; unpack it"),
        (broken(lambda log: log.update(pages=log["pages"] * 2)), "log.pages[1].id: found 'p again'; write another id"),
        (har(entry(response={"bodySize": 2e9})), "page 'p': has 2.00 GB; 1 GB at most can be loaded"),
        ('{"log": {"entries": [{"time": 1e999, "x": -Infinity}]}}', "-Infinity is no number of JSON"),
        (broken(lambda log: log.update(entries=5)), "log.entries: found 5; write a list"),
        (broken(lambda log: log.update(entries=[])), "log.entries: is empty"),
        (broken(lambda log: log.update(entries=["x"])), "log.entries[0]: found 'x'; write an object"),
        (broken(lambda log: log["entries"][0]["request"].pop("url")), "log.entries[0].request.url: found nothing"),
        (broken(lambda log: log["entries"][0].update(startedDateTime="soon")), "log.entries[0].startedDateTime: found"),
        (broken(lambda log: log.update(pages=[{}] * 1_000_000)), "found '1,000,000 pages'; write 1,000 at most"),
        (broken(lambda log: log.update(entries=log["entries"] * 5_001)), "found '5,001 of one page'; write 5,000 at"),
        (json.dumps(broken(lambda log: log.update(entries=[5])), indent=1), "line 18: log.entries[0]: found 5"),
        (
            json.dumps(broken(lambda log: log.update(pages=[{"id": "p"}, 7])), indent=1),
            "line 11: log.pages[1]: found 7",
        ),
        (har(entry("javascript:alert(1)")), "no request is left: 1 no http (javascript)"),
        (har(entry("data:image/png;base64," + 10_000_000 * "A")), "no request is left: 1 no http (data)"),
    ],
)
def test_a_bad_file_is_refused_in_one_line_with_the_place(
    folder: Path, farweb: Farweb, content: Any, says: str
) -> None:
    path = written(folder, content)
    for verb in (("page", "page.har"), ("workload", "import", "page.har", "--format", "har")):
        answer = farweb(*verb)
        assert answer.code == 2
        assert says in answer.err
        assert answer.err.startswith("farweb: page.har: ")
        assert answer.err.count("\n") == 1
    assert [*folder.iterdir()] == [path]


def test_gzip_that_ends_early_or_never_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "page.har.gz"
    whole = gzip.compress(json.dumps(har(entry())).encode())
    path.write_bytes(whole[:-20])
    with pytest.raises(WorkloadError, match=r"page.har.gz: cannot be unpacked"):
        read_har(path)
    path.write_bytes(whole)
    monkeypatch.setattr("farweb.pages.har.BYTES_MAX", 100)
    with pytest.raises(WorkloadError, match="more than the 100 B"):
        read_har(path)


ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["url", "size", "x"]), inner, max_size=3)
    ),
    max_leaves=5,
)
FIELDS = ["startedDateTime", "request", "response", "timings", "time"]
FIELDS += ["_initiator", "_load_start", "connection", "pageref"]


@given(
    creator=st.sampled_from(["WebInspector", "chrome-har", "WebPagetest", "Firefox", "WebKit Web Inspector", ""]),
    outer=st.dictionaries(st.sampled_from(FIELDS), ANY, max_size=3),
    timings=st.dictionaries(st.sampled_from(["blocked", "dns", "connect", "ssl", "wait", "receive"]), ANY, max_size=4),
    response=st.dictionaries(st.sampled_from(["status", "bodySize", "redirectURL", "content", "headers"]), ANY),
    onload=ANY,
)
def test_anything_in_a_field_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory,
    creator: str,
    outer: dict[str, Any],
    timings: dict[str, Any],
    response: dict[str, Any],
    onload: Any,
) -> None:
    odd = {**entry("https://a.example/x.css", 50, timings=timings, response=response), **outer}
    content = har(entry(), odd, creator=creator, onload=onload)
    content["log"]["entries"][1].update(outer)
    path = written(tmp_path_factory.mktemp("odd"), content)
    try:
        pages = [recording_of(page) for page in read_har(path)]
    except WorkloadError as error:
        assert str(error).startswith(str(path))
        return
    for page in pages:
        for rule in RULES:
            for place, each in enumerate(graph_of(page, rule)):
                assert each.think_ms >= 0
                assert all(0 <= edge.parent < place for edge in each.edges)


# --- the import ---


def test_import_writes_pages_views_and_hosts(folder: Path, farweb: Farweb) -> None:
    document = entry(PAGE, timings={"wait": 50, "receive": 100})
    css = entry("https://cdn.example/x.css", 75, _initiator=PAGE, _initiator_type="parser")
    late = entry("https://a.example/x.png", 300, _initiator=PAGE, _initiator_type="parser")
    written(folder, har(document, css, late, entry("data:x"), creator="chrome-har", onload=200), "shop.har")
    written(folder, har(entry(), onload=80), "blog.har")
    described = farweb("workload", "stats", "blog.har", "--json").json()["pages"]
    assert described[0]["recorded_onload_s"] == 0.08 and sorted(os.listdir()) == ["blog.har", "shop.har"]
    answer = farweb("workload", "import", "shop.har", "blog.har", "-o", "both", "--json").json()
    assert [page["page"] for page in answer["pages"]] == ["shop", "blog"]
    assert answer["pages"][0]["dropped"] == {"no http (data)": 1}
    assert [host["confidence"] for host in answer["pages"][0]["hosts"]] == [0.95, 0.9]
    rows = pq.read_table(folder / "both-pages.parquet").to_pylist()
    assert [row["parents"] for row in rows] == ["", "0@325", "0@end", ""]
    assert rows[0]["tail_s"] == pytest.approx(0.05)
    views = pq.read_table(folder / "both-views.parquet").to_pylist()
    assert [(view["client"], view["page"], view["host"]) for view in views] == [
        (0, "shop", "a.example"),
        (1, "blog", "a.example"),
    ]
    assert "cdn.example" in (folder / "both-hosts.tsv").read_text()


def test_a_view_begins_with_its_page(folder: Path, farweb: Farweb) -> None:
    """A page that began with its redirect, 420 ms before its own start, and another one 5 s behind that start."""
    written(folder, har(entry("https://a.example/old", -420), entry(PAGE, 10), onload=200), "first.har")
    second = har(entry(PAGE, 5_000), onload=200)
    second["log"]["pages"][0]["startedDateTime"] = at(5_000)
    written(folder, second, "second.har")
    farweb("workload", "import", "second.har", "first.har", "-o", "both")
    views = pq.read_table(folder / "both-views.parquet").to_pylist()
    assert [(view["page"], view["start_s"]) for view in views] == [("first", 0), ("second", about(5.42))]


def test_a_page_without_requests_stands_in_no_others_way(folder: Path, farweb: Farweb) -> None:
    both = har(entry(), onload=80)
    cached = entry("https://a.example/x.css", 50, _fromCache="disk", pageref="q")
    both["log"] = {
        **both["log"],
        "entries": [*both["log"]["entries"], cached],
        "pages": [*both["log"]["pages"], {"id": "q"}],
    }
    written(folder, both)
    says = "page.har: page 'q': no request is left: 1 cache"
    assert farweb("page", "page.har", "--path", "leo", "--protocol", "h2").code == 0
    assert farweb("page", "page.har", "--page", "2").err == f"farweb: {says}\n"
    assert farweb("workload", "stats", "page.har", "--json").json()["refused"] == [f"{says}."]
    assert f"{says}." in farweb("workload", "import", "page.har", "-o", "one").out


def test_import_takes_a_folder(folder: Path, farweb: Farweb) -> None:
    (folder / "hars").mkdir()
    for name in ("a.har", "b.har"):
        written(folder / "hars", har(entry()), name)
    assert len(farweb("workload", "import", "hars", "-o", "all", "--json").json()["pages"]) == 2


def test_names_from_a_har_command_no_terminal(folder: Path, farweb: Farweb) -> None:
    written(folder, har(entry("https://a\x1b7.example/"), creator="\x1b]0;x\x07"), "odd.har")
    answer = farweb("workload", "import", "odd.har")
    assert answer.code == 0
    assert "\x1b" not in answer.out


@pytest.mark.skipif(DATA is None, reason="the open HARs are not here")
@pytest.mark.parametrize("name", ["wikipedia-2018-browsertime-chrome-5runs", "nytimes-2015-wpt", "google-2026-wpt-h3"])
def test_issue_times_of_open_hars_come_back_in_the_recorded_network(name: str) -> None:
    assert DATA is not None
    for page in read_har(DATA / f"har/{name}.har.gz"):
        assert min(issues_within(recording_of(page), rule) for rule in RULES) >= 0.95
