"""Times of a HAR: what each exporter means, queues of browsers, round trips and server times."""

from pathlib import Path
from typing import Any

import pytest

from farweb.pages.graph import RULES
from farweb.pages.har import read_har
from farweb.pages.recording import recording_of
from hars import CSS, WPT, entry, recorded, sent
from page_errors import issues_within

DATA = next((up / "shared/data" for up in Path(__file__).parents if (up / "shared/data").is_dir()), None)
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


def test_pcap2har_begins_with_the_connection_behind_the_look_up(tmp_path: Path) -> None:
    given = entry(start_ms=140, timings={"dns": 100, "connect": 30, "wait": 50, "receive": 10}, time=90)
    found = sent(tmp_path, "pcap2har", given)
    assert (found.issue_ms, found.send_ms, found.first_ms, found.end_ms) == (40, 170, 220, 230)


def test_webpagetest_stamps_what_waited_for_a_connection_when_it_was_ready(tmp_path: Path) -> None:
    waited: dict[str, Any] = {**WPT, "_load_start": 204, "_protocol": "h2"}
    shake = {"_connect_start": 150, "_connect_end": 170, "_ssl_start": 170, "_ssl_end": 195}
    opener: dict[str, Any] = {**WPT, **shake, "_protocol": "h2"}
    page = recorded(
        tmp_path, entry(**opener), entry("https://a.example/b.css", **waited), creator="WebPagetest", onload=900
    )
    assert [each.issue_ms for each in page.sent] == [150, 150]
    hop = entry(
        "https://b.example/", **{**WPT, "_load_start": 100}, response={"status": 302, "redirectURL": f"{CSS}?q"}
    )
    for target in (opener, waited):  # its connection, or another one's, is under way when the hop ends at 170
        rows = [entry(**opener), hop, entry(f"{CSS}?masked", **target)]
        page = recorded(tmp_path, *rows, creator="WebPagetest", onload=900)
        assert [each.issue_ms for each in page.sent] == [100, 150, 170]


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


@pytest.mark.parametrize("wait", ["NaN", 1e9])
def test_a_wait_out_of_range_is_as_long_as_the_time_of_its_entry_says(tmp_path: Path, wait: Any) -> None:
    assert sent(tmp_path, "other", entry(timings={"wait": wait})).wait_ms == 50


@pytest.mark.skipif(DATA is None, reason="the open HARs are not here")
@pytest.mark.parametrize("name", ["wikipedia-2018-browsertime-chrome-5runs", "nytimes-2015-wpt", "google-2026-wpt-h3"])
def test_issue_times_of_open_hars_come_back_in_the_recorded_network(name: str) -> None:
    assert DATA is not None
    for page in read_har(DATA / f"har/{name}.har.gz"):
        assert min(issues_within(recording_of(page), rule) for rule in RULES) >= 0.95
