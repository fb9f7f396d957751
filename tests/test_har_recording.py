"""A page of a HAR: its document, time zero, onLoad, and what the file cannot say."""

from pathlib import Path
from typing import Any

import pytest

from farweb.pages.har import read_har
from farweb.pages.recording import recording_of
from hars import CSS, PAGE, WPT, at, entry, har, page_of, recorded, written


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
