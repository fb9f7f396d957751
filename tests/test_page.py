"""Page loads: closed forms of settled pages, answers beside `farweb run`, how sure they are, and refusals."""

import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from farweb._core import Asked, Dependency, Edge, Loaded, asked_of, graph_of
from farweb.errors import RunError
from farweb.pages.answer import Cell, PageAnswer, onload_s
from farweb.pages.paths import ALL_PATHS, Way, way_of
from hars import H1, H2, TLS, entry, har, page_of, path, recordings, settle, written
from page_errors import Network
from samples import Farweb

DATA = next((up / "shared/data" for up in Path(__file__).parents if (up / "shared/data").is_dir()), None)


def asked(size: int, *parents: int, think_ms: float = 0.0, server_s: float = 0.0) -> Asked:
    edges = tuple(Edge(parent, 1.0) for parent in parents)
    return Asked("a.example", 400, size, server_s, Dependency(edges, think_ms, "time"))


def fan(objects: int, **last: Any) -> list[Asked]:
    """A document and objects that it names at its end."""
    return [asked(10_000), *(asked(10_000, 0, **last) for _ in range(objects))]


def load_ms(loaded: Loaded) -> float:
    return int(loaded.end_ns.max()) / 1e6


ISSUE = 1e-6
"""A request that follows another is issued a nanosecond after it."""


@pytest.mark.parametrize("turns", [0, 1, 2])
def test_two_requests_in_a_row_take_their_round_trips_to_the_nanosecond(turns: int) -> None:
    loaded = settle(path(600, H1, turns), [asked(10_000), asked(10_000, 0)])
    assert int(loaded.issue_ns[1]) == int(loaded.end_ns[0]) + 1
    assert load_ms(loaded) == (2 + turns + 1) * 600 + ISSUE


@pytest.mark.parametrize(("objects", "turns"), [(1, 0), (2, 0), (6, 1), (12, 2), (13, 0), (30, 1), (59, 2)])
def test_a_page_over_six_connections(objects: int, turns: int) -> None:
    rounds = 2 + turns + min(objects, math.ceil((objects + 5 * (1 + turns)) / 6))
    assert load_ms(settle(path(600, H1, turns), fan(objects))) == pytest.approx(rounds * 600, abs=0.1)


def test_a_page_over_http2_takes_the_rounds_of_slow_start() -> None:
    assert load_ms(settle(path(600, H2, 1), fan(12))) == pytest.approx(3_600, abs=0.1)


@pytest.mark.parametrize("depth", [1, 5, 11])
def test_a_chain_takes_a_round_trip_each(depth: int) -> None:
    chain = [asked(5_000), *(asked(2_000, place) for place in range(depth))]
    loaded = settle(path(150, H2, 1), chain)
    assert load_ms(loaded) == pytest.approx((2 + 1 + depth) * 150, abs=0.1)
    assert loaded.runs <= len(chain) + 2


def test_server_times_add_where_they_stand_on_the_way() -> None:
    page = [asked(10_000, server_s=0.07), *fan(12, server_s=0.05)[1:]]
    assert load_ms(settle(path(600, H1, 0), page)) == pytest.approx(5 * 600 + 70 + 100, abs=0.1)


@pytest.mark.parametrize("rtt_ms", [1, 30, 600])
def test_think_is_free_of_the_path(rtt_ms: float) -> None:
    scenario = path(rtt_ms, H1, 0)
    apart = load_ms(settle(scenario, fan(12, think_ms=40))) - load_ms(settle(scenario, fan(12)))
    assert apart == pytest.approx(40, abs=1e-9)


def test_a_page_is_bound_by_its_bytes() -> None:
    loaded = settle(path(40, H1, 0, "10 Mbit/s"), [asked(10_000), *(asked(200_000, 0) for _ in range(6))])
    bits = 8 * 1_210_000 * (1 + 40 / 1460)
    assert load_ms(loaded) >= 2 * 40 + bits / 10e6 * 1e3
    assert load_ms(loaded) <= 6 * 40 + bits / 10e6 * 1e3


@pytest.mark.parametrize(("spare_ms", "think_ms"), [(40, 30), (40, 70)])
def test_think_beside_the_critical_path_counts_beyond_its_slack(spare_ms: float, think_ms: float) -> None:
    long, short = asked(10_000, 0, think_ms=spare_ms), asked(10_000, 0, think_ms=think_ms)
    grown = load_ms(settle(path(600, H1, 0), [asked(10_000), long, short]))
    alone = load_ms(settle(path(600, H1, 0), [asked(10_000), long, asked(10_000, 0)]))
    assert grown - alone == pytest.approx(max(0, think_ms - spare_ms), abs=0.1)


@pytest.mark.parametrize(("megabytes", "mbit_s", "rtt_ms"), [(10, 5, 300), (20, 20, 600), (20, 100, 50)])
def test_one_object_takes_its_bytes_and_the_gaps_of_slow_start(megabytes: int, mbit_s: int, rtt_ms: int) -> None:
    """Each of K flights of IW · 2^k leaves a gap of r without its own bytes, until one fills the path.

    A gap is longer by what an ACK waits for: two segments, and one in the first two flights.
    """
    bytes_ms = 8 / mbit_s / 1e3
    segments = math.ceil(megabytes * 1e6 / 1460)
    flights = math.ceil(math.log2(rtt_ms / (10 * 1500 * bytes_ms)))
    gaps_ms = flights * rtt_ms - ((2**flights - 1) * 10 - 2 * (flights - 1)) * 1500 * bytes_ms
    heads = 40 * segments + 52 + 40  # of all segments, the SYN-ACK, and the ACK of the request
    scenario = path(rtt_ms, H1, 0, f"{mbit_s} Mbit/s").with_({"leg.0.tcp.constants.timestamps": "false"})
    expected = 2 * rtt_ms + (megabytes * 1e6 + heads) * bytes_ms + gaps_ms
    assert load_ms(settle(scenario, [asked(megabytes * 1_000_000)])) == pytest.approx(expected, abs=0.1)


KEPLER = (
    *(644, 96, 189, 190, 90, 109, 7668, 13201, 16517, 61031, 27462, 26434, 23536, 26043, 5366, 3885, 97147, 38100),
    *(1659, 1547, 881, 1064, 924, 866, 995, 747, 646, 685, 1520, 879, 1056, 1146, 663, 1372, 666, 2126, 843, 387),
    *(481, 899, 115557, 46336, 46108, 46820, 743, 754, 770, 757, 822, 772, 751, 778, 797, 728, 765, 760, 2257, 2731),
    *(2125, 2001, 1908, 2367, 2992, 2870, 1947, 2608, 2150, 2292, 2226, 1951, 2102, 46, 98, 130032),
)
"""Bytes of what a public test page of 17,323 B names, in its order: style sheets, texts, pictures, a frame."""


@pytest.mark.parametrize(
    ("rtt_ms", "measured_s", "low", "high"), [(612, 10.81, -0.05, 0.05), (140, 3.22, -0.25, 0.0)], ids=["geo", "leo"]
)
def test_a_page_that_was_measured_over_satellites(rtt_ms: float, measured_s: float, low: float, high: float) -> None:
    """Medians of browsers, HTTP/1.1 without TLS at 18 Mbit/s (kosekmi/2022-ifip-nw-quic-proxies); no compute here.

    The document's first flight names all but the frame.
    """
    named = [Asked("a.example", 400, size, 0.0, Dependency((Edge(0, 0.0),), 0, "time")) for size in KEPLER[:-1]]
    page = [asked(17_323), *named, asked(KEPLER[-1], 0)]
    loaded = settle(path(rtt_ms, H1, 0, "18 Mbit/s"), page)
    assert int(loaded.first_ns[0]) / 1e6 == pytest.approx(2 * rtt_ms, abs=2)
    assert int(loaded.end_ns[0]) / 1e6 == pytest.approx(3 * rtt_ms, abs=12)
    assert low <= load_ms(loaded) / 1e3 / measured_s - 1 <= high


def test_part_of_a_response_is_enough_for_what_its_first_bytes_name() -> None:
    page = [asked(100_000), asked(10_000, 0), asked(10_000, 0)]
    first = Asked("a.example", 400, 10_000, 0, Dependency((Edge(0, 0.0),), 0, "initiator"))
    at_once = Asked("a.example", 400, 10_000, 0, Dependency((Edge(0, None),), 0, "initiator"))
    loaded = settle(path(600, H1, 0), [page[0], first, at_once])
    assert int(loaded.issue_ns[1]) == int(loaded.first_ns[0]) + 1
    assert int(loaded.issue_ns[2]) == int(loaded.issue_ns[0]) + 1


def test_a_settled_page_is_a_run_of_its_issue_times(folder: Path, farweb: Farweb) -> None:
    """The same issue times in a table, run by `farweb run`, end when the page says."""
    page = fan(8)
    loaded = settle(path(200, H1, 1), page)
    rows = sorted(range(9), key=lambda place: int(loaded.issue_ns[place]))
    lines = (f"{int(loaded.issue_ns[place]) / 1e9:.9f},a.example,400,10000,1" for place in rows)
    (folder / "page.csv").write_text("start_s,host,request_bytes,response_bytes,client\n" + "\n".join(lines) + "\n")
    links = 'up = { rate = "unlimited", delay = "100 ms" }\ndown = { rate = "unlimited", delay = "100 ms" }'
    (folder / "page.toml").write_text(
        f'format = 1\nname = "page"\n[path]\nnodes = ["client", "server"]\n[[path.link]]\n{links}\n[[leg]]\n'
        f'from = "client"\nto = "server"\ncarrier = {H1}\n{TLS[1]}\ntcp = {{ profile = "linux", mss = "1460 B", '
        'buffer = "16 MB", constants = { nagle = false } }\n[workload]\nrequests = "page.csv"\n'
    )
    assert farweb("run", "page.toml", "-o", "run", "--quiet").code == 0
    table = pq.read_table(folder / "run/requests.parquet", columns=["request", "end_ns"]).to_pydict()
    ends = dict(zip(table["request"], table["end_ns"], strict=True))
    assert [ends[row] for row in range(9)] == [int(loaded.end_ns[place]) for place in rows]


def test_a_request_that_fails_ends_the_load() -> None:
    scenario = path(600, H1, 0).with_({"clients.give_up": "1 s"})
    with pytest.raises(RunError, match="1 of 1 requests of the page fail"):
        settle(scenario, [asked(10_000)])


# --- the answer ---

PAGE = "https://a.example/"
SCRIPT: dict[str, Any] = {"response": {"content": {"mimeType": "text/javascript"}}}


def shop(*, has_initiators: bool = True) -> dict[str, Any]:
    """A document, a script, and a picture that began right behind the script; both are named by the document."""
    named: dict[str, Any] = {"_initiator": PAGE, "_initiator_type": "parser"} if has_initiators else {}
    return har(
        entry(PAGE, timings={"connect": 40, "ssl": 20}),
        entry("https://a.example/app.js", 110, **SCRIPT, **named),
        entry("https://a.example/x.png", 220, **named),
        creator="chrome-har",
        onload=290,
    )


def test_low_and_high_are_those_of_the_bounding_graphs(tmp_path: Path) -> None:
    recording = page_of(tmp_path, shop())
    way = way_of("geo-2021", "h2", "none", is_secure=True)
    cell = PageAnswer.of(recording, [way]).cells[0]
    each = [
        onload_s(recording, settle(way.scenario, asked_of(recording, graph_of(recording, rule), is_multiplexed=True)))
        for rule in ("few", "many")
    ]
    assert (cell.low_s, cell.high_s) == (min(each), max(each))
    assert cell.low_s <= cell.load_s <= cell.high_s
    assert cell.high_s - cell.low_s == pytest.approx(0.59, abs=0.01)  # of 620 ms and 30 of the server, for 60 ms


def test_the_answer_as_json(folder: Path, farweb: Farweb) -> None:
    written(folder, shop())
    rows = farweb("page", "page.har", "--path", "leo", "--path", "geo", "--protocol", "h2", "--json").json()["pages"]
    assert [(row["path"], row["protocol"], row["proxy"]) for row in rows] == [
        (each, "h2", proxy) for each in ("leo", "geo") for proxy in ("none", "split", "mux")
    ]
    assert all(row["low_s"] <= row["onload_s"] <= row["high_s"] for row in rows)
    assert (rows[0]["page"], rows[0]["recorded_onload_s"]) == (PAGE, 0.29)


def test_a_pep_saves_a_round_trip_of_the_path(folder: Path, farweb: Farweb) -> None:
    written(folder, shop())
    ways = ("page", "page.har", "--path", "geo", "--protocol", "h2", "--proxy", "none", "--proxy", "pep")
    none, pep = (row["onload_s"] for row in farweb(*ways, "--json").json()["pages"])
    assert none - pep == pytest.approx(0.684, abs=0.02)
    assert "pep: TCP ends at both ends of the path, TLS does not." in farweb(*ways).out


def test_the_screen_gives_one_number_only_where_it_is_sure(folder: Path, farweb: Farweb) -> None:
    written(folder, shop())
    sure = farweb("page", "page.har", "--path", "leo", "--protocol", "h2", "--proxy", "none").out
    assert sure.splitlines()[0] == "Over LEO the page takes 0.50 s with HTTP/2."
    assert sure.splitlines()[1] == "a.example: 3 requests, 3.90 kB, 1 host; 290 ms by chrome-har 537 (h1)"
    assert "mux: " not in sure
    chain = [entry(f"https://a.example/{place}.js", 110 + 80 * place, **SCRIPT) for place in range(12)]
    written(folder, har(entry(PAGE), *chain, creator="Firefox", onload=1_200))
    unsure = farweb("page", "page.har", "--path", "geo-2021", "--protocol", "h2", "--proxy", "mux").out
    assert re.match(r"Over geo-2021 the page takes between [\d.]+ and [\d.]+ s with HTTP/2 and a mux", unsure)
    assert "mux: proxies at both ends" in unsure
    assert "it names no initiators" in unsure
    assert "(" not in next(line for line in unsure.splitlines() if line.startswith("geo-2021"))
    both = ("--path", "geo-2021", "--path", "cable", "--protocol", "h2", "--proxy", "mux")
    said = " ".join(farweb("page", "page.har", *both).out.split())
    found = re.search(
        r"between ([\d.]+) .*: this file cannot say more\. By every reading .* \(([\d.]+) to ([\d.]+) s\)\.", said
    )
    assert found is not None, said
    least, low, high = map(float, found.groups())
    assert low <= high < least


def test_the_least_time_is_of_a_way_that_the_answer_names(folder: Path, farweb: Farweb) -> None:
    """An http page has two round trips of 704 ms over either protocol; behind a mux one."""
    written(folder, har(entry("http://a.example/", timings={"connect": 40}), onload=90))
    words = ("page", "page.har", "--path", "geo", "--proxy", "none")
    assert "round trips alone take 1.4 s with HTTP/2." in farweb(*words).out
    for row in farweb(*words, "--proxy", "mux", "--proxy", "pep", "--json").json()["pages"]:
        assert row["simple_s"] <= row["onload_s"]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("http://a.example/", "https://a.example/"),
        ("http://a.example/", "https://www.a.example/"),
        ("https://a.example/", "http://www.a.example/"),
    ],
)
def test_a_redirect_between_http_and_https_pays_both_connections(folder: Path, first: str, second: str) -> None:
    """Two round trips for the request in the clear and three for the one under TLS, over either protocol."""
    moved = {"status": 301, "redirectURL": second, "headersSize": 300, "bodySize": 0}
    at_once: dict[str, Any] = {"_server_ms": 0}
    content = har(entry(first, response=moved, **at_once), entry(second, 60, **at_once), creator="farweb", onload=120)
    recording = page_of(folder, content)
    for protocol in ("h1", "h2"):
        way = way_of("geo", protocol, "none", is_secure=recording.has_tls)
        loaded = settle(way.scenario, asked_of(recording, graph_of(recording), is_multiplexed=protocol == "h2"))
        assert int(loaded.end_ns[1]) / 0.704e9 == pytest.approx(5, abs=0.05)


@pytest.mark.parametrize(
    ("scheme", "says"),
    [
        ("http", "Its URLs are http: no TLS, with either protocol."),
        ("https", None),
        ("", "1 of 2 requests is http, without TLS."),
    ],
)
def test_the_answer_says_what_has_no_tls(folder: Path, farweb: Farweb, scheme: str, says: str | None) -> None:
    urls = (f"{scheme or 'http'}://a.example/", f"{scheme or 'https'}://a.example/x.css")
    written(folder, har(entry(urls[0]), entry(urls[1], 70), onload=200))
    shown = " ".join(farweb("page", "page.har", "--path", "cable", "--proxy", "none").out.split())
    assert "TLS" not in shown if says is None else says in shown


@pytest.mark.parametrize(
    ("creator", "ids", "says"),
    [
        (
            "chrome-har",
            ("page_1", "page_2"),
            "2 loads of it in this file took 0.12 to 0.20 s, with 1 to 2 requests and 1",
        ),
        (
            "WebPagetest",
            ("page_1_0", "page_1_1"),
            "anyway. 1 repeat view of it in this file took 0.12 s, with 1 request and 1",
        ),
        (
            "WebPagetest",
            ("page_1_1", "page_1_0"),
            "anyway. 1 first view of it in this file took 0.12 s, with 1 request and 1",
        ),
    ],
)
def test_other_loads_in_the_file_have_their_requests_and_a_repeat_view_stands_apart(
    folder: Path, farweb: Farweb, creator: str, ids: tuple[str, str], says: str
) -> None:
    content = har(entry(), entry("https://a.example/x.css", 70), creator=creator, onload=200, page=ids[0])["log"]
    again = har(entry(), creator=creator, onload=120, page=ids[1])["log"]
    written(folder, {"log": {**content, **{key: content[key] + again[key] for key in ("pages", "entries")}}})
    shown = farweb("page", "page.har", "--path", "cable", "--protocol", "h1", "--proxy", "none").out
    assert says in " ".join(shown.split())


def cells_of(*ways: tuple[str, float]) -> PageAnswer:
    scenario, none = path(600, H1, 0), np.zeros(1, np.int64)
    cells = [
        Cell(Way("geo", "h2", proxy, scenario), load_s, load_s, load_s, load_s, None, Loaded(none, none, none, 1))
        for proxy, load_s in ways
    ]
    return PageAnswer(None, cells, (), (1, 1))  # type: ignore[arg-type]


def test_the_answer_names_best_and_worst_and_all_that_tie() -> None:
    found = cells_of(("none", 6.02), ("split", 6.0), ("mux", 9.0))
    assert found.sentence == (
        "Over GEO the page takes 6.0 s at best, with HTTP/2 or HTTP/2 and a split, and 9.0 s at worst, with HTTP/2 and "
        "a mux between proxies."
    )
    assert found.best is found.cells[0]
    both = "HTTP/2 or HTTP/2 and a split"
    assert cells_of(("split", 6.0), ("none", 6.02)).sentence == f"Over GEO the page takes 6.0 s with {both}."
    written_alike = cells_of(("none", 1.454), ("mux", 1.432), ("split", 1.49))
    assert written_alike.sentence.startswith("Over GEO the page takes 1.5 s with HTTP/2"), (
        "1.5 at best and 1.5 at worst"
    )


def test_time_that_is_no_load_is_named_from_half_of_the_answer(folder: Path, farweb: Farweb) -> None:
    """The same page with a tail, with a think between its requests, and without: 1 s more or less."""
    words = ("page", "page.har", "--path", "cable", "--protocol", "h1", "--proxy", "none")
    for second, load, is_named in ((70, 5_130, True), (5_070, 5_130, True), (70, 130, False)):
        written(folder, har(entry(), entry("https://a.example/x.css", second), onload=load))
        (row,) = farweb(*words, "--json").json()["pages"]
        line = " ".join(farweb(*words).out.split("\n\n")[0].split())
        assert ("the rest was a script or a person." in line) == is_named
        loads = row["onload_s"] - row["idle_s"]
        assert row["idle_s"] == pytest.approx((load - 120) / 1000, abs=1e-3)
        assert not is_named or f"the load takes {loads:.2f} s" in line or f"the load takes {loads:.1f} s" in line


@pytest.mark.parametrize(
    ("document", "title", "name"),
    [
        (entry(), "Shop", "https://a.example/"),
        (entry(), "https://a.example/", "https://a.example/"),
        (entry(_fromCache="disk"), "Shop", "https://a.example/"),  # left out, and still what it is called by
        (entry(_fromCache="disk"), "https://a.example/#top", "https://a.example/#top"),
        (entry("data:x"), " Shop ", "Shop"),
        (entry("data:x"), "", "https://ads.example/x.png"),
    ],
)
def test_a_page_is_called_by_its_document_or_title(tmp_path: Path, document: Any, title: str, name: str) -> None:
    content = har(document, entry("https://ads.example/x.png", 30), onload=500)
    content["log"]["pages"][0]["title"] = title
    assert page_of(tmp_path, content).url == name


def test_a_scenario_of_ones_own(folder: Path, farweb: Farweb, cable: Path) -> None:
    written(folder, shop())
    rows = farweb("page", "page.har", "--scenario", cable.name, "--json").json()["pages"]
    assert [(row["path"], row["proxy"], row["simple_s"]) for row in rows] == [("cable", "own", None)]  # no sea cable
    cable.write_text(cable.read_text().replace("[workload]", "[workload]\nload = 3"))
    assert farweb("page", "page.har", "--scenario", cable.name, "--json").json()["pages"] == rows
    assert farweb("page", "page.har", "--scenario", cable.name, "--path", "geo").code == 2
    assert farweb("new", "link.toml", "--path", "leo", "--quiet").code == 0
    (row,) = farweb("page", "page.har", "--scenario", "link.toml", "--json").json()["pages"]
    assert row["onload_s"] < rows[0]["onload_s"]
    edge = Path(__file__).parents[1] / "examples/edge-cache.toml"
    assert "edge-cache.toml: cache: a page is one visit" in farweb("page", "page.har", "--scenario", edge).err


def test_the_help_names_all_paths(farweb: Farweb) -> None:
    assert set(ALL_PATHS) <= set(re.findall(r"[\w-]+", farweb("page", "--help").out))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--metric", "lcp"), "lcp is decided by layout and paint"),
        (("--metric", "TBT"), "TBT is decided by the browser's main thread"),
        (("--metric", "plt"), 'found "plt"; write onload'),
        (("--protocol", "h3"), "--protocol: farweb does not model QUIC and HTTP/3"),
        (("--protocol", "spdy"), "write one of: h1, h2"),
        (("--path", "starlnk"), "starlink is nearest"),
        (("--proxy", "squid"), "--proxy: found squid; write one of: none, split, mux, pep"),
        (("--page", "2"), "--page: found 2; page.har has 1"),
        (("--scenario", "none.toml"), "none.toml: no such file"),
    ],
)
def test_what_is_refused(folder: Path, farweb: Farweb, words: tuple[str, str], says: str) -> None:
    written(folder, shop())
    refused = farweb("page", "page.har", *words)
    assert refused.code == 2
    assert says in refused.err


# --- open HARs ---


@pytest.mark.skipif(DATA is None, reason="the open HARs are not here")
def test_wikipedia_over_a_satellite() -> None:
    """HTTP/2 halves the page, and all graphs say so."""
    assert DATA is not None
    recording = recordings(DATA / "har/wikipedia-2018-wpt-chrome.har.gz")[0]
    ways = [way_of("geo-2021", protocol, "none", is_secure=True) for protocol in ("h1", "h2")]
    h1, h2 = PageAnswer.of(recording, ways).cells
    assert h1.is_sure
    assert h2.is_sure
    assert 2 * h2.load_s < h1.load_s
    assert h1.load_s == pytest.approx(16.1, abs=0.3)


@pytest.mark.skipif(DATA is None, reason="the open HARs are not here")
def test_one_page_over_two_networks() -> None:
    """Loads of docs/models/pages.md: the median one over A, and the one over B."""
    assert DATA is not None
    a, b = (
        recordings(DATA / f"har/wikipedia-2018-{name}.har.gz")[place]
        for name, place in (("browsertime-chrome-5runs", 2), ("wpt-chrome", 0))
    )
    assert Network.of(b).onload_s(a) == pytest.approx(2.73, abs=0.05)
    assert Network.of(a).onload_s(b) == pytest.approx(3.72, abs=0.05)
    assert Network.of(b).onload_s(b) == pytest.approx(3.30, abs=0.05)


@pytest.mark.skipif(DATA is None, reason="the open HARs are not here")
def test_a_response_that_competes_with_what_it_names_settles() -> None:
    """Where most of the document is there depends on the requests that wait for that: runs alone never end."""
    assert DATA is not None
    recording = recordings(DATA / "har/wikipedia-2018-browsertime-chrome-5runs.har.gz")[0]
    asked_for = asked_of(recording, graph_of(recording), is_multiplexed=True)
    loaded = settle(way_of("leo", "h2", "split", is_secure=True).scenario, asked_for)
    assert loaded.runs < 20
