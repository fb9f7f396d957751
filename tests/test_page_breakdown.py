"""Where the time of a page goes: closed forms of its parts, which add up to onLoad, and the results of its load."""

from pathlib import Path
from typing import Any

import pytest

from farweb._core import graph_of
from farweb.pages.paths import Way, way_of
from farweb.pages.results import view_of, write_results
from farweb.results.run import RunTables
from farweb.views.page_load import View, read_view
from hars import H1, H2, entry, har, loaded_over, page_of, path, recordings, written
from samples import Farweb
from test_page import SCRIPT

DATA = next((up / "shared/data" for up in Path(__file__).parents if (up / "shared/data").is_dir()), None)

MS = 1_000_000


def viewed(folder: Path, content: dict[str, Any], way: Way) -> View:
    recording = page_of(folder, content)
    return view_of(recording, way, loaded_over(recording, way))


def chain(requests: int, think_ms: float, host: str = "a.example") -> dict[str, Any]:
    """Requests of 60 ms, each issued so long after the one before; the browser is done 30 ms after the last."""
    starts = [place * (60 + think_ms) for place in range(requests)]
    urls = [f"https://{host}/", *(f"https://{host}/{place}.js" for place in range(1, requests))]
    named = [{}, *({"_initiator": url, "_initiator_type": "script"} for url in urls[:-1])]
    fields: list[dict[str, Any]] = [{}, *({**SCRIPT, **by} for by in named[1:])]
    rows = [entry(url, start, **of) for url, start, of in zip(urls, starts, fields, strict=True)]
    return har(*rows, creator="chrome-har", onload=starts[-1] + 90)


@pytest.mark.parametrize(("turns", "rtt_ms"), [(0, 600), (1, 600), (2, 40)])
def test_one_request_is_handshakes_and_a_round_trip(tmp_path: Path, turns: int, rtt_ms: int) -> None:
    view = viewed(tmp_path, chain(1, 0), Way("lab", "h1", "none", path(rtt_ms, H1, turns)))
    assert view.split_ns == {
        "handshakes": (1 + turns) * rtt_ms * MS,
        "request": rtt_ms * MS,
        "slow_start": 0,
        "windows": 0,
        "queues": 0,
        "server": 0,
        "think": 0,
        "tail": 30 * MS,
    }
    assert view.load_ns == ((2 + turns) * rtt_ms + 30) * MS


@pytest.mark.parametrize("requests", [2, 5, 11])
def test_a_chain_is_a_round_trip_and_a_think_each(tmp_path: Path, requests: int) -> None:
    """Each request is issued a nanosecond after its think is over."""
    view = viewed(tmp_path, chain(requests, 20), Way("lab", "h2", "none", path(150, H2, 1)))
    split = view.split_ns
    assert split["handshakes"] == 300 * MS
    assert split["request"] == requests * 150 * MS
    assert split["think"] == (requests - 1) * (20 * MS + 1)
    assert sum(split.values()) == view.load_ns
    assert [step.request.number for step in view.critical] == list(range(requests))


def test_a_response_of_two_windows_waits_a_round_trip_for_its_window(tmp_path: Path) -> None:
    large = entry(response={"headersSize": 300, "bodySize": 14_600 + 10_000})
    view = viewed(tmp_path, har(large, onload=70), Way("lab", "h1", "none", path(600, H1, 0)))
    assert (view.split_ns["slow_start"], view.split_ns["request"]) == (600 * MS, 600 * MS)


def test_of_a_response_that_is_needed_in_part_the_journey_counts_whole(tmp_path: Path) -> None:
    """The first byte has travelled there and back, and has not waited for any window of slow start."""
    document = entry(response={"headersSize": 300, "bodySize": 100_000})
    view = viewed(tmp_path, har(document, onload=70), way_of("geo", "h1", "none", is_secure=False))
    whole, first = (view.requests[0].split(until) for until in (view.requests[0].end_ns, view.requests[0].first_ns))
    assert sum(first.values()) == view.requests[0].first_ns
    assert first["request"] == whole["request"]
    assert first["slow_start"] < MS < whole["slow_start"]


def test_results_of_a_page_are_those_of_its_load(tmp_path: Path) -> None:
    recording = page_of(tmp_path, chain(3, 20, "[::1]:8443"))  # as TOML a list
    way = way_of("leo", "h2", "mux", is_secure=True)
    loaded = loaded_over(recording, way)
    write_results(recording, way, loaded, tmp_path / "results")
    view = read_view(RunTables.open(tmp_path / "results"))
    assert view == view_of(recording, way, loaded)
    assert [each.issue_ns for each in view.requests] == loaded.issue_ns.tolist()
    assert [each.end_ns for each in view.requests] == loaded.end_ns.tolist()


def test_the_breakdown_of_a_page(folder: Path, farweb: Farweb) -> None:
    written(folder, chain(3, 20))
    (row,) = farweb("page", "page.har", "--path", "geo", "--protocol", "h2", "--breakdown", "--json").json()["pages"]
    assert sum(row["split_ns"].values()) == round(row["onload_s"] * 1e9)
    assert [step["url"] for step in row["critical"]] == [
        "https://a.example/",
        "https://a.example/1.js",
        "https://a.example/2.js",
    ]
    out = farweb("page", "page.har", "--path", "geo", "--protocol", "h2", "--breakdown").out
    assert out.startswith("Over GEO with HTTP/2, 3.61 s: 2.12 on the way, 1.42 handshakes, ")
    assert "3 longest of 3 requests on the critical path" in out
    assert len(farweb("page", "page.har", "--breakdown").out.splitlines()) <= 25


def test_the_report_of_a_page(folder: Path, farweb: Farweb) -> None:
    written(folder, chain(3, 20))
    farweb("page", "page.har", "--path", "geo", "--protocol", "h2", "--proxy", "none", "-o", "geo")
    assert farweb("report", "geo").code == 0
    assert farweb("show", "geo").out.startswith("Page in 3.61 s: 2.12 on the way, 1.42 handshakes, 0.0400 think.\n")
    found = farweb("show", "geo", "--json").json()["page"]
    assert sum(found["split_ns"].values()) == found["onload_ns"]
    page = (folder / "geo/report.html").read_text()
    assert "<h2>Page</h2><p>https://a.example/: onLoad after 3.61\N{NO-BREAK SPACE}s, as recorded after 250" in page
    assert "3 longest of 3 requests on the critical path" in page
    assert page.index("Waterfall \N{EN DASH} a.example over geo, h2") < page.index("<h2>Links and connections</h2>")


def test_loads_of_a_page_are_compared_by_onload(folder: Path, farweb: Farweb) -> None:
    way = ("--path", "geo", "--proxy", "none")
    for name, requests, protocol in (("one", 3, "h1"), ("two", 3, "h2"), ("other", 4, "h2")):
        written(folder, chain(requests, 20))
        farweb("page", "page.har", *way, "--protocol", protocol, "-o", name)
    found = farweb("compare", "one", "two", "--json").json()
    assert [each["onload_s"] for each in found["loads"]] == pytest.approx(
        [sum(e["split_ns"].values()) / 1e9 for e in found["loads"]]
    )
    written(folder, chain(3, 20))
    farweb("page", "page.har", "--path", "docsis", "--proxy", "none", "--protocol", "h1", "-o", "by-cable")
    assert farweb("compare", "one", "by-cable").out.startswith("by-cable is faster"), "a name can be pasted"
    lines = farweb("compare", "one", "two", "two").out.splitlines()
    assert lines[0] == f"two {found['text'].partition(' ')[2]}"
    assert [line.split()[0] for line in lines[4:7]] == ["one", "two", "two"]
    assert "makes no difference" in farweb("compare", "one", "one").out
    assert farweb("compare", "one", "two", "--details").code == 2


def test_a_results_folder_is_of_one_load(folder: Path, farweb: Farweb) -> None:
    written(folder, chain(2, 20))
    one = ("page", "page.har", "--path", "leo", "--protocol", "h2", "--proxy", "none", "-o", "leo")
    assert farweb(*one).code == 0
    assert farweb("verify", "leo", "--full").out.startswith("leo: complete")
    assert farweb(*one).code == 2
    assert farweb(*one, "--force").code == 0
    refused = farweb("page", "page.har", "--path", "leo", "-o", "other")
    assert (refused.code, "--out: found 6 loads" in refused.err) == (2, True)


@pytest.mark.skipif(DATA is None, reason="the open HARs are not here")
@pytest.mark.parametrize("name", ["ferguson-2022-chrome-h3", "debian-2018-firefox", "wikipedia-2018-wpt-chrome"])
def test_parts_of_open_pages_add_up_to_the_nanosecond(name: str) -> None:
    assert DATA is not None
    recording = recordings(DATA / f"har/{name}.har.gz")[0]
    graph = graph_of(recording)
    for protocol, proxy in (("h1", "none"), ("h2", "split"), ("h2", "mux")):
        way = way_of("geo", protocol, proxy, is_secure=True)
        view = view_of(recording, way, loaded_over(recording, way))
        assert sum(view.split_ns.values()) == view.load_ns
        assert view.recorded.load_ns == pytest.approx(recording.load_ms * MS, abs=10)
        for step in view.critical:
            assert all(time >= 0 for time in step.split.values())
            recorded = graph[step.request.number].think_ms
            assert step.split["think"] / MS == pytest.approx(recorded, abs=1)  # an anchor is rounded to bytes
