"""HARs that are odd, damaged or hostile."""

import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farweb.errors import WorkloadError
from farweb.pages.graph import RULES, graph_of
from farweb.pages.har import is_har, read_har
from farweb.pages.recording import recording_of
from hars import entry, har, page_of, written
from samples import Farweb

# --- files ---


def test_a_har_is_known_by_its_first_bytes(tmp_path: Path) -> None:
    content = har(entry())
    assert is_har(written(tmp_path, content, "a.json"))
    assert is_har(written(tmp_path, "\ufeff " + json.dumps(content), "b.txt"))
    packed = tmp_path / "c.gz"
    packed.write_bytes(gzip.compress(json.dumps(content).encode()))
    assert is_har(packed)
    assert not is_har(written(tmp_path, '{"ts": 1, "url": "/"}\n', "d.json"))
    assert not is_har(written(tmp_path, '{"log": "192.0.2.1 - - […", "stream": "stdout"}\n', "e.log"))
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
        ("{}", "is no HAR: found an object with nothing in it"),
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
