"""TLS, entries that crossed no network, time zero and queues of HARs, each a small file with its value by hand."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from farweb.pages.paths import Way
from farweb.pages.recording import Recording, recording_of
from hars import H1, H2, at, entry, har, loaded_over, page_of, path

RTT_MS = 600


def recorded(folder: Path, *entries: dict[str, Any], creator: str = "WebInspector", onload: float = 5_000) -> Recording:
    return recording_of(page_of(folder, har(*entries, creator=creator, onload=onload)))


def redirect(url: str, to: str, start_ms: float = 0) -> dict[str, Any]:
    return entry(url, start_ms, response={"status": 301, "redirectURL": to, "bodySize": 0})


@pytest.mark.parametrize("carrier", [H1, H2], ids=["h1", "h2"])
@pytest.mark.parametrize(
    ("urls", "trips"),
    [
        (["http://a.example/"], 2),
        (["https://a.example/"], 3),
        (["HTTPS://A.example/"], 3),
        (["http://a.example:443/"], 2),  # the scheme says it, no port
        (["http://a.example/", "http://a.example/"], 3),
        (["https://a.example/", "https://a.example/"], 4),
        (["http://a.example/", "http://www.a.example/"], 4),
        (["http://a.example/", "https://a.example/"], 5),
        (["https://a.example/", "http://a.example/"], 5),
        (["http://a.example/", "https://a.example:8443/"], 5),
        (["https://a.example/", "https://a.example:8443/"], 6),
        (["http://a.example/", "https://a.example/", "https://www.a.example/"], 8),
        (["http://a.example/", "https://a.example/", "https://a.example/"], 6),
        (["https://a.example/", "http://a.example/", "https://a.example/"], 6),  # its connection is still there
    ],
    ids=lambda each: " ".join(each) if isinstance(each, list) else None,
)
def test_tls_goes_by_the_url(tmp_path: Path, carrier: str, urls: list[str], trips: int) -> None:
    """Each hop of a chain takes a round trip, a connection in the clear one more, and one under TLS 1.3 two."""
    targets = [f"{url}{number}" for number, url in enumerate(urls)]
    hops = [redirect(*pair, 60 * number) for number, pair in enumerate(pairwise(targets))]
    last = entry(targets[-1], 60 * len(hops))
    recording = recorded(tmp_path, *hops, last)
    way = Way("lab", "h1" if carrier == H1 else "h2", "none", path(RTT_MS, carrier, 1))
    assert int(loaded_over(recording, way).end_ns.max()) / 1e6 == pytest.approx(trips * RTT_MS, abs=0.1)


COUNTED = entry("https://a.example/counted", response={"_transferSize": 900, "bodySize": 700})
"""It shows that a file counts bytes."""
CSS = "https://a.example/x.css"
CSP = {"redirectURL": "https://a.example/", "headers": [{"name": "Non-Authoritative-Reason", "value": "CSP"}]}


@pytest.mark.parametrize(
    ("creator", "given", "why"),
    [
        ("WebInspector", entry("blob:https://a.example/0d4b"), "no http (blob)"),
        ("WebInspector", entry("about:blank"), "no http (about)"),
        ("WebInspector", entry("chrome-extension://id/x.js"), "no http (chrome-extension)"),
        ("WebInspector", entry(CSS, _resourceType="websocket"), "web socket"),
        ("WebInspector", entry(CSS, _fromCache="memory"), "cache"),
        ("WebInspector", entry(CSS, _fromCache="prefetch"), "cache"),
        ("WebInspector", entry(CSS, response={"status": 304, "_transferSize": 120}), ""),
        ("WebInspector", entry(response={"status": 307, **CSP}), "internal redirect"),
        (
            "WebInspector",
            entry(CSS, response={"status": 0, "_error": "net::ERR_BLOCKED_BY_CSP"}),
            "blocked in the browser",
        ),
        ("WebInspector", entry(CSS, response={"status": 0, "_error": "net::ERR_FAILED", "bodySize": 0}), "no answer"),
        ("WebInspector", entry(CSS, response={"status": 200, "_transferSize": 0, "content": {"size": 0}}), ""),
        ("WebInspector", entry(CSS, request={"method": "HEAD"}, response={"_transferSize": 0, "bodySize": 0}), ""),
        ("chrome-har", entry(CSS, response={"fromDiskCache": True}), "cache"),
        ("chrome-har", entry(CSS, connection="0", serverIPAddress="192.0.2.1", response={"_transferSize": 80}), ""),
        ("WebKit Web Inspector", entry(CSS, _fetchType="Disk Cache"), "cache"),
        ("WebKit Web Inspector", entry(CSS, _fetchType="Network Load"), ""),
        ("WebKit Web Inspector", entry(CSS, _fetchType="Inspector Override"), "answered by the inspector"),
        ("Firefox", entry(CSS, response={"bodySize": 0}), "cache"),
        ("Firefox", entry(CSS, cache={"afterRequest": {"fetchCount": 3}}), "cache"),
        ("Firefox", entry(CSS, cache={"afterRequest": None}, timings={"connect": 20}), ""),
        ("playwright", entry(CSS, _wasFulfilled=True), "answered by a test"),
        ("playwright", entry(CSS, _wasAborted=True, response={"status": -1}), "blocked in the browser"),
        ("playwright", entry(CSS, _apiRequest=True), "asked by a test"),
        ("playwright", entry(CSS, _wasContinued=True), ""),
        ("Charles Proxy", entry(CSS, response={"bodySize": 0, "content": {"size": 0}}), ""),
        ("Fiddler", entry("http://a.example/", request={"method": "CONNECT"}), "tunnel"),
    ],
)
def test_what_crossed_no_network_is_named(tmp_path: Path, creator: str, given: dict[str, Any], why: str) -> None:
    assert recorded(tmp_path, given, COUNTED, creator=creator).dropped == ({why: 1} if why else {})


BEACON: dict[str, Any] = {"_resourceType": "ping"}


@pytest.mark.parametrize(
    ("starts", "page_ms", "onload", "first", "load"),
    [
        ([0, 70], 0, 200, 0, 200),
        ([40, 70], 0, 200, 40, 200),  # a browser that thinks before it asks
        ([-420, 10], 0, 200, 0, 620),  # redirects before the document's start
        ([-420, -300, 10], 0, 200, 0, 620),
        ([-0.5, 70], 0, 200, 0, 200.5),
        ([10, -30], 0, 200, 0, 230),  # entries out of order
        ([600, 700], 600, 200, 0, 200),
        ([600, 700], 500, 200, 100, 200),
        ([180, 700], 600, 200, 0, 620),
        ([0, 70], -9_000_000, 200, 0, 200),  # a clock that is hours behind is another
        ([0, 70], 9_000_000, 200, 0, 200),
        ([0, 70], 0, -1, 0, 130),  # without an onLoad the last end
        ([-420, 10], 0, -1, 0, 490),
    ],
)
def test_time_zero_is_the_first_request_or_the_start_before_it(
    tmp_path: Path, starts: list[float], page_ms: float, onload: float, first: float, load: float
) -> None:
    """Times of entries and the page's start on one clock, onLoad from that start; each request takes 60 ms."""
    content = har(*(entry(f"https://a.example/{place}", start) for place, start in enumerate(starts)), onload=onload)
    content["log"]["pages"][0]["startedDateTime"] = at(page_ms)
    recording = recording_of(page_of(tmp_path, content))
    assert recording.sent[0].issue_ms == pytest.approx(first)
    assert recording.load_ms == pytest.approx(load)


def test_a_beacon_of_the_page_before_begins_none(tmp_path: Path) -> None:
    content = har(entry("https://a.example/left", -900, **BEACON), entry(), onload=200)
    recording = recording_of(page_of(tmp_path, content))
    assert ([each.issue_ms for each in recording.sent], recording.load_ms) == ([0, 0], 200)


def test_a_file_without_pages_begins_with_its_first_request(tmp_path: Path) -> None:
    """And not with the tunnel in front of it, as proxies write one."""
    tunnel = entry("http://a.example:443/", -800, request={"method": "CONNECT"})
    content = har(tunnel, entry(), entry("https://a.example/x.css", 70), creator="Charles Proxy")
    del content["log"]["pages"]
    for each in content["log"]["entries"]:
        del each["pageref"]
    recording = recording_of(page_of(tmp_path, content))
    assert ([each.issue_ms for each in recording.sent], recording.load_ms) == ([0, 70], 130)


def asked_at_once(*waits: float, **fields: Any) -> list[dict[str, Any]]:
    """Requests to one host that begin together, each with so long a wait."""
    return [
        entry(f"https://a.example/{n}.png", 0, timings={"wait": wait, "receive": 0}, **fields)
        for n, wait in enumerate(waits)
    ]


@pytest.mark.parametrize(
    ("waits", "fields", "own"),
    [
        ([100] * 6, {}, [100] * 6),
        ([100] * 6 + [200] * 6, {}, [100] * 12),
        ([100] * 6 + [200] * 6 + [300] * 6, {}, [100] * 18),
        ([100] * 6 + [220], {}, [100] * 6 + [120]),
        ([100, 110, 120, 130, 140, 150, 200], {}, [100, 110, 120, 130, 140, 150, 100]),
        ([100] * 6 + [150], {}, [100] * 6 + [150]),  # too soon behind another's end: a seventh connection
        ([100] * 12, {}, [100] * 12),  # twelve connections
        (
            [100] * 6 + [200] * 6,
            {"connection": "7"},
            [100] * 6 + [200] * 6,
        ),  # connections are named: no queue is hidden
        ([100] * 6 + [200] * 6, {"response": {"httpVersion": "h2"}}, [100] * 6 + [200] * 6),
        ([100] * 3 + [200] * 3, {}, [100] * 3 + [200] * 3),
    ],
)
def test_a_queue_of_the_browser_is_no_wait_for_a_response(
    tmp_path: Path, waits: list[float], fields: dict[str, Any], own: list[float]
) -> None:
    """A file without `blocked`: what had six others before it was sent when one of them ended."""
    recording = recorded(tmp_path, *asked_at_once(*waits, **fields), creator="playwright")
    by_name = sorted(recording.sent, key=lambda each: int(each.name.rpartition("/")[2].partition(".")[0]))
    assert [each.wait_ms for each in by_name] == pytest.approx(own)
    moved = sum(before != after for before, after in zip(waits, own, strict=True))
    assert any(f"{moved} wait" in each for each in recording.warnings) == bool(moved)
