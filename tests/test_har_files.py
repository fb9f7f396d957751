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

from farweb._core import graph_of
from farweb.errors import WorkloadError
from farweb.pages.answer import RULES
from farweb.pages.har import is_har
from hars import entry, har, recordings, written
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


def broken(change: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
    content = har(entry())
    change(content["log"])
    return content


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ('{"log": {"entries": [', "line 1: the file ends in the middle: it was cut off; save it again"),
        ('{"log":\n{"a" 5}}', "line 2: found '5}}' in column 6, where JSON has something else; save it again"),
        ("PK\x03\x04", "is a zip archive; unpack it"),
        (broken(lambda log: log.update(entries=5)), "log.entries: found 5; write a list"),
        (broken(lambda log: log.update(entries=[])), "log.entries: is empty"),
        (har(entry(response={"bodySize": 2e9})), "page 'p': has 2.00 GB; 1 GB at most can be loaded"),
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
        pages = recordings(path)
    except WorkloadError as error:
        assert str(error).startswith(str(path))
        return
    for page in pages:
        for rule in RULES:
            for place, each in enumerate(graph_of(page, rule)):
                assert each.think_ms >= 0
                assert all(0 <= edge.parent < place for edge in each.edges)
