"""Public HARs against a count of their entries by other code."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from farweb.pages.answer import RULES, PageAnswer
from farweb.pages.paths import way_of
from farweb.text.quantities import size
from farweb.text.words import plural
from hars import recordings
from page_errors import issues_within

DATA = next((up / "shared/data" for up in Path(__file__).parents if (up / "shared/data").is_dir()), None)
OPEN = [] if DATA is None else sorted((DATA / "har").glob("*.har.gz"))


def of_no_network(entry: dict[str, Any]) -> str:
    """Why an entry of these files is no request that a page waits for, or nothing."""
    response = entry["response"]
    if "ocsp-response" in str(response["content"].get("mimeType")):
        return "certificate status"
    if response["status"] == 101:
        return "web socket"
    if response["status"] < 0:
        return "no answer"
    came_from_nowhere = response.get("_transferSize") == 0 or entry.get("cache", {}).get("beforeRequest")
    return "cache" if response["status"] == 200 and came_from_nowhere else ""


def bytes_of(entry: dict[str, Any], creator: str, *, counts_once: bool) -> int:
    """Header and body of a response: the transfer where it is there, else the sum of what the fields say."""
    response = entry["response"]
    if response.get("_transferSize", 0) > 0:
        return int(response["_transferSize"])
    if counts_once and int(entry.get("_bytesIn", 0)) > 0:
        return int(entry["_bytesIn"])
    head = response["headersSize"] if response["headersSize"] > 0 else 400
    lengths = [int(each["value"]) for each in response["headers"] if each["name"].lower() == "content-length"]
    body = int(entry.get("_objectSize", response["bodySize"]))
    if creator == "Firefox":  # its bodySize is the transfer
        body -= head
    body = response["content"].get("size", 0) if body < 0 else body
    if response["status"] in (204, 304):
        body = 0
    if 300 <= response["status"] < 400 and lengths:
        body = min(body, *lengths)
    return head + body


@pytest.mark.parametrize("file", OPEN, ids=lambda file: file.name.removesuffix(".har.gz"))
def test_requests_and_bytes_of_open_hars_are_those_of_another_count(file: Path) -> None:
    log = json.loads(gzip.decompress(file.read_bytes()))["log"]
    for found in recordings(file):
        rows = [each for each in log["entries"] if each.get("pageref", "") == found.page]
        kept = [each for each in rows if not of_no_network(each)]
        left = [why for each in rows if (why := of_no_network(each))]
        assert {why: left.count(why) for why in left} == found.dropped
        creator = log["creator"]["name"]
        once = "expressen" not in file.name
        assert sum(bytes_of(each, creator, counts_once=once) for each in kept) == sum(
            each.response_bytes for each in found.sent
        )
        assert sorted(each["request"]["url"] for each in kept) == sorted(each.name for each in found.sent)
        assert all(each.is_secure == each.name.startswith("https:") for each in found.sent)
        assert found.sent[0].issue_ms == min(each.issue_ms for each in found.sent) >= 0


SOUND = {
    "wikipedia-2018-wpt-chrome": 0.0,
    "amazon-2026-wpt-run1": 0.0005,
    "bbc-2016-wpt-5runs": 0.0,
    "nytimes-2015-wpt": 0.0,
    "google-2026-wpt-h3": 0.02,
}
"""Files of WebPageTest that count once, with the share of bytes that entries without a count have."""


@pytest.mark.parametrize("file", [each for each in OPEN if each.name.removesuffix(".har.gz") in SOUND])
def test_a_page_has_the_bytes_that_its_har_says_came(file: Path) -> None:
    entries = json.loads(gzip.decompress(file.read_bytes()))["log"]["entries"]
    came = sum(int(each["_bytesIn"]) for each in entries if not of_no_network(each))
    taken = sum(each.response_bytes for page in recordings(file) for each in page.sent)
    assert taken == pytest.approx(came, rel=SOUND[file.name.removesuffix(".har.gz")])


def test_there_are_twenty_open_hars() -> None:
    assert DATA is None or len(OPEN) == 20


@pytest.mark.parametrize("file", OPEN, ids=lambda file: file.name.removesuffix(".har.gz"))
def test_the_likely_answer_lies_between_the_bounds(file: Path) -> None:
    recording = recordings(file)[-1]
    answer = PageAnswer.of(recording, [way_of("cable", "h1", "none", is_secure=recording.has_tls)])
    (cell,) = answer.cells
    whole = sum(each.response_bytes for each in recording.sent)
    assert f": {plural(len(recording.sent), 'request')}, {size(whole)}, " in answer.recorded
    assert cell.low_s <= cell.load_s <= cell.high_s
    assert cell.load_s <= cell.full_s + recording.tail_ms / 1000


@pytest.mark.parametrize(
    "file", [each for each in OPEN if each.name.startswith(("wikipedia-2018-browsertime", "nytimes", "google"))]
)
def test_issue_times_of_open_hars_come_back_in_the_recorded_network(file: Path) -> None:
    for page in recordings(file):
        assert min(issues_within(page, rule) for rule in RULES) >= 0.95
