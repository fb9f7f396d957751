"""Marks and sizes in HARs: what crossed no network, bytes, connections, versions and initiators, by exporter."""

from pathlib import Path
from typing import Any

import pytest

from hars import CSS, PAGE, entry, recorded, sent

LENGTH = {"name": "Content-Length", "value": "2000"}


@pytest.mark.parametrize(
    ("creator", "given", "size"),
    [
        ("WebInspector", {"response": {"_transferSize": 777, "bodySize": -1}}, 777),
        ("chrome-har", {"response": {"_transferSize": 500, "bodySize": 500}}, 500),
        # Firefox counts the header, of 300 B here, in bodySize; not where that is the length that the header has.
        ("Firefox", {"response": {"bodySize": 783}}, 783),
        ("Firefox", {"response": {"bodySize": 783, "headers": [{"name": "Content-Length", "value": "783"}]}}, 1083),
        ("other", {"response": {"bodySize": -1, "headersSize": -1}}, 1400),  # decoded size, and a usual header
        ("other", {"response": {"bodySize": "2000", "headersSize": None}}, 2400),
        ("other", {"response": {"status": 304, "bodySize": -1}}, 300),
        # Of a packed body that is not counted: what compression saved, or the length that was announced.
        ("other", {"response": {"bodySize": -1, "content": {"size": 9000, "compression": 8000}}}, 1300),
        ("other", {"response": {"bodySize": -1, "content": {"size": 9000}, "headers": [LENGTH]}}, 2300),
        ("other", {"response": {"bodySize": -1, "content": {"size": 500}, "headers": [LENGTH]}}, 800),  # cut off
        ("other", {"response": {"bodySize": -1, "headers": [{"name": "Content-Length", "value": "0"}]}}, 300),
    ],
)
def test_sizes_by_exporter(tmp_path: Path, creator: str, given: dict[str, Any], size: int) -> None:
    assert sent(tmp_path, creator, entry(**given)).response_bytes == size


@pytest.mark.parametrize(
    ("response", "is_told"),
    [
        ({"headers": [{"name": "Content-Encoding", "value": "br"}]}, True),
        ({"headers": [{"name": "Content-Encoding", "value": "identity"}]}, False),
        ({"headers": []}, True),  # stripped
        ({"headers": [LENGTH]}, False),
        ({"headers": [{"name": "Server", "value": "x"}]}, False),  # sent as it is
        ({"content": {"size": 9000, "compression": 8000}}, False),
        ({"_transferSize": 700}, False),
        ({"bodySize": 700}, False),
        ({"status": 304}, False),
    ],
)
def test_sizes_of_unpacked_content_are_told_beside_the_answer(
    tmp_path: Path, response: dict[str, Any], is_told: bool
) -> None:
    page = recorded(tmp_path, entry(response={"bodySize": -1, **response}), entry(CSS, 70), creator="other", onload=200)
    said = "1 response with no size but the unpacked one: fewer bytes may have crossed"
    assert (said in " ".join(page.reservations)) == is_told


@pytest.mark.parametrize(
    ("request_", "size"),
    [
        ({"bodySize": 700, "headers": [LENGTH]}, 1100),
        ({"bodySize": -1, "headers": [LENGTH]}, 2400),
        ({"bodySize": 0, "headers": [LENGTH], "postData": {"text": "x"}}, 2400),
        ({"bodySize": -1, "postData": {"text": "größe"}}, 407),
        ({"bodySize": -1}, 400),
        ({"bodySize": -1, "postData": {"text": 7000 * "x"}}, 7400),
        ({"bodySize": -1, "postData": {"params": [{"name": "a b", "value": "1"}, {"name": "c"}]}}, 408),
    ],
)
def test_an_upload_has_the_bytes_that_are_counted_announced_or_there(
    tmp_path: Path, request_: dict[str, Any], size: int
) -> None:
    given = entry(request={"method": "POST", **request_})
    assert sent(tmp_path, "WebPagetest", given).request_bytes == size


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
        ("WebInspector", entry(response={"status": 103}), "interim response"),
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
        ({"bodySize": -1, "content": {}, "headers": [{"name": "content-length", "value": "5000"}]}, 5300),
        ({"bodySize": -1, "content": {"size": -1}, "headers": [{"name": "content-length", "value": "5000"}]}, 5300),
        ({"bodySize": -1, "content": {"size": 900}, "headers": [{"name": "content-length", "value": "5000"}]}, 1200),
    ],
)
def test_a_response_has_the_body_that_came_or_was_announced(
    tmp_path: Path, response: dict[str, Any], size: int
) -> None:
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
        ("WebPagetest", {"_socket": 12, "response": {"httpVersion": "us:"}}, "12", "h2"),
        ("WebPagetest", {"_socket": 12, "response": {"httpVersion": "2 3"}}, "12", "h2"),
        ("WebPagetest", {"_socket": 12, "response": {"httpVersion": "1.1"}}, "12", "h1"),
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
