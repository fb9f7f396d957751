"""Exported HARs: what the format asks for, spans that add up, and the same page when farweb reads it again."""

import json
from pathlib import Path
from typing import Any

import pytest

from farweb._core import Edge, Recording, graph_of
from farweb.pages.paths import Way, way_of
from farweb.pages.results import write_results
from farweb.pages.tables import page_rows
from farweb.results.run import RunTables
from farweb.views.har import export_har
from farweb.views.page_load import read_view, recorded_view
from hars import H2, entry, har, loaded_over, page_of, path, recordings
from samples import Farweb

ROOT = Path(__file__).parents[1]
DATA = next((up / "shared/data" for up in Path(__file__).parents if (up / "shared/data").is_dir()), None)

REQUEST = {"method", "url", "httpVersion", "cookies", "headers", "queryString", "headersSize", "bodySize"}
RESPONSE = {"status", "statusText", "httpVersion", "cookies", "headers", "content", "redirectURL"}
"""Fields that HAR 1.2 requires."""


def exported(folder: Path, recording: Recording, way: Way) -> Path:
    write_results(recording, way, loaded_over(recording, way), folder / "results")
    export_har(RunTables.open(folder / "results"), folder / "out.har")
    return folder / "out.har"


def test_a_har_has_what_the_format_asks_for(folder: Path, farweb: Farweb) -> None:
    way = ("--path", "leo-2021", "--protocol", "h2", "--proxy", "none")
    assert farweb("page", ROOT / "examples/shop.har", *way, "-o", "shop").code == 0
    assert farweb("export", "har", "shop", "--json").json() == {"file": "shop/page.har", "entries": 5}
    assert farweb("export", "har", "shop").code == 2
    log = json.loads((folder / "shop/page.har").read_text())["log"]
    assert (log["version"], log["creator"]["name"]) == ("1.2", "farweb")
    assert log["pages"][0]["pageTimings"]["onLoad"] > log["entries"][-1]["time"]
    for each in log["entries"]:
        assert {*each["request"]} >= REQUEST
        assert {*each["response"]} >= RESPONSE | {"headersSize", "bodySize"}
        assert {*each["response"]["content"]} == {"size", "mimeType"}
        spans = [span for name, span in each["timings"].items() if name != "ssl" and span >= 0]
        assert sum(spans) == pytest.approx(each["time"], abs=1e-6)
    assert [each["timings"]["connect"] > 0 for each in log["entries"]] == [True, False, False, False, False]
    assert log["entries"][0]["timings"]["ssl"] == pytest.approx(log["entries"][0]["timings"]["connect"] / 2, rel=0.1)
    assert [each["_parents"] for each in log["entries"]] == ["", "0@end", "0@end", "2@end", "2@end 3@end"]
    assert farweb("page", ROOT / "examples/shop.har", *way, "-o", "shop", "--force").code == 0


def test_a_redirect_leads_to_its_target(tmp_path: Path) -> None:
    there = "https://b.example/"
    hop = entry(response={"status": 302, "redirectURL": there})
    recording = page_of(tmp_path, har(hop, entry(there, 70), creator="chrome-har", onload=140))
    file = exported(tmp_path, recording, way_of("leo", "h1", "none", is_secure=True))
    first, second = json.loads(file.read_text())["log"]["entries"]
    assert (first["response"]["status"], first["response"]["redirectURL"]) == (302, there)
    assert (second["response"]["status"], second["response"]["redirectURL"]) == (200, "")


def again(folder: Path, recording: Recording, way: Way) -> tuple[Recording, Recording]:
    """Checks a view written and read again, to µs: the format's times are no finer."""
    read = recordings(exported(folder, recording, way))[0]
    written = read_view(RunTables.open(folder / "results"))
    seen = recorded_view(page_rows(recording.url, read))
    order = sorted(written.requests, key=lambda each: (each.issue_ns, each.number))
    for one, other in zip(order, seen.requests, strict=True):
        for name in ("name", "kind", "method", "request_bytes", "response_bytes", "dependency", "server_ns"):
            assert getattr(one, name) == getattr(other, name)
        for name in ("issue_ns", "connect_ns", "first_ns", "end_ns"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), abs=2_000)
        assert [(order.index(written.requests[parent]), part) for parent, part in one.parents] == [*other.parents]
    assert read.load_ms == written.load_ns / 1e6
    return recording, read


def test_a_har_that_is_read_again_is_the_same_page(tmp_path: Path) -> None:
    way = way_of("geo", "h2", "none", is_secure=True)
    one, other = (loaded_over(each, way) for each in again(tmp_path, recordings(ROOT / "examples/shop.har")[0], way))
    assert other.end_ns == pytest.approx(one.end_ns, abs=10_000)


def test_issue_times_come_back_in_the_network_that_was_recorded(tmp_path: Path) -> None:
    """A load over 30 ms, read as a browser's file without farweb's own fields, is loaded over 30 ms again."""
    way = Way("near", "h2", "none", path(30, H2, 1, "50 Mbit/s"))
    first = loaded_over(recordings(ROOT / "examples/shop.har")[0], way)
    content = json.loads(exported(tmp_path, recordings(ROOT / "examples/shop.har")[0], way).read_text())
    content["log"]["creator"]["name"] = "WebInspector"
    again = loaded_over(page_of(tmp_path, content), way)
    assert again.issue_ns == pytest.approx(sorted(first.issue_ns), abs=2_000_000)


@pytest.mark.skipif(DATA is None, reason="the open HARs are not here")
@pytest.mark.parametrize(("name", "protocol", "proxy"), [("thegreenwebfoundation-2020-chrome", "h1", "mux")])
def test_open_pages_are_the_same_when_they_are_read_again(tmp_path: Path, name: str, protocol: str, proxy: str) -> None:
    assert DATA is not None
    recording = recordings(DATA / f"har/{name}.har.gz")[0]
    way = way_of("leo", protocol, proxy, is_secure=True)
    one, other = (loaded_over(each, way) for each in again(tmp_path, recording, way))
    assert other.end_ns.max() == pytest.approx(one.end_ns.max(), rel=0.001)


@pytest.mark.parametrize("stated", ["1@end", "7@end", "x@end", "0", "0@2000", "0@²", "0@end 9@end", "-1@end"])
def test_dependencies_that_cannot_be_are_inferred(tmp_path: Path, stated: str) -> None:
    late = entry("https://a.example/x.png", 100, _parents=stated, _dependency="initiator")
    recording = page_of(tmp_path, har(entry(), late, creator="farweb"))
    assert graph_of(recording)[1].edges == (Edge(0, 1.0),)
    assert graph_of(recording)[1].kind == "time"
    late["_parents"] = "0@1300"
    recording = page_of(tmp_path, har(entry(), late, creator="farweb"))
    assert graph_of(recording)[1].edges == (Edge(0, 1.0),)
    assert graph_of(recording)[1].kind == "initiator"


def test_results_of_no_page_are_refused(farweb: Farweb, cable: Any) -> None:
    farweb("run", cable, "-o", "run")
    refused = farweb("export", "har", "run")
    assert (refused.code, "is not of a page" in refused.err) == (2, True)
