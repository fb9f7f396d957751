"""Page loads: closed forms of settled pages, answers beside `farweb run`, how sure they are, and what is refused."""

import math
from pathlib import Path
from statistics import median
from typing import Any

import pyarrow.parquet as pq
import pytest

from farweb import _core
from farweb.errors import RunError
from farweb.page.answer import answer, onload_s
from farweb.page.graph import Dependency, Edge, graph_of
from farweb.page.har import read_har
from farweb.page.paths import way_of
from farweb.page.recording import Recording, recording_of
from farweb.page.settle import Asked, Loaded, asked_of, settle
from hars import entry, har, page_of, written
from samples import Farweb

DATA = next((up / "shared/data" for up in Path(__file__).parents if (up / "shared/data").is_dir()), None)

H1 = '{ kind = "http/1.1", idle_timeout = "60 s" }'
H2 = '{ kind = "http/2", request_text = "0 B", response_text = "0 B" }'
TLS = {0: "", 1: 'tls = { version = "1.3" }', 2: 'tls = { version = "1.2" }'}


def path(rtt_ms: float, carrier: str, turns: int, down: str = "unlimited") -> _core.Scenario:
    """A path without limits, but for `down`, whose handshake takes so many round trips for TLS."""
    text = f"""
format = 1
name = "page"
[path]
nodes = ["client", "server"]
[[path.link]]
up   = {{ rate = "unlimited", delay = "{rtt_ms / 2:g} ms" }}
down = {{ rate = "{down}", delay = "{rtt_ms / 2:g} ms" }}
[[leg]]
from = "client"
to = "server"
carrier = {carrier}
tcp = {{ profile = "linux", mss = "1460 B", buffer = "16 MB", constants = {{ nagle = false }} }}
{TLS[turns]}
[origin]
release = "delayed"
[workload]
requests = "page"
"""
    return _core.Scenario.parse(text, "page.toml", {})


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


@pytest.mark.parametrize(("objects", "turns"), [(1, 0), (6, 1), (12, 2), (13, 0), (30, 1)])
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
    recording = recording_of(page_of(tmp_path, shop()))
    way = way_of("geo-2021", "h2", "none", is_secure=True)
    cell = answer(recording, [way]).cells[0]
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


def test_the_screen_gives_one_number_only_where_it_is_sure(folder: Path, farweb: Farweb) -> None:
    written(folder, shop())
    sure = farweb("page", "page.har", "--path", "leo", "--protocol", "h2", "--proxy", "none").out
    assert sure.splitlines()[0] == "a.example: 3 requests, 3.90 kB, 1 host, 290 ms"
    chain = [entry(f"https://a.example/{place}.js", 110 + 80 * place, **SCRIPT) for place in range(12)]
    written(folder, har(entry(PAGE), *chain, creator="Firefox", onload=1_200))
    unsure = farweb("page", "page.har", "--path", "geo-2021", "--protocol", "h2", "--proxy", "none").out
    assert "which of the two, this file cannot say. Chrome's HAR" in " ".join(unsure.split())
    assert "(" not in unsure.splitlines()[4]


def test_a_scenario_of_ones_own(folder: Path, farweb: Farweb, cable: Path) -> None:
    written(folder, shop())
    rows = farweb("page", "page.har", "--scenario", cable.name, "--json").json()["pages"]
    assert [(row["path"], row["proxy"]) for row in rows] == [("cable", "own")]
    cable.write_text(cable.read_text().replace("[workload]", "[workload]\nload = 3"))
    assert farweb("page", "page.har", "--scenario", cable.name, "--json").json()["pages"] == rows
    assert farweb("page", "page.har", "--scenario", cable.name, "--path", "geo").code == 2
    assert farweb("new", "link.toml", "--path", "leo", "--quiet").code == 0
    (row,) = farweb("page", "page.har", "--scenario", "link.toml", "--json").json()["pages"]
    assert row["onload_s"] < rows[0]["onload_s"]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--metric", "lcp"), "largest contentful paint is decided by layout and paint"),
        (("--metric", "TBT"), "total blocking time is decided by the browser's main thread"),
        (("--metric", "plt"), 'found "plt"; write onload'),
        (("--protocol", "h3"), "h3 rides QUIC, which farweb does not simulate"),
        (("--protocol", "spdy"), "write h1 or h2"),
        (("--path", "starlnk"), 'did you mean "starlink"?'),
        (("--proxy", "pep"), "write none, split, mux"),
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
    recording = recording_of(read_har(DATA / "har/wikipedia-2018-wpt-chrome.har.gz")[0])
    ways = [way_of("geo-2021", protocol, "none", is_secure=True) for protocol in ("h1", "h2")]
    h1, h2 = answer(recording, ways).cells
    assert h1.is_sure
    assert h2.is_sure
    assert 2 * h2.load_s < h1.load_s
    assert h1.load_s == pytest.approx(16.1, abs=0.3)


@pytest.mark.skipif(DATA is None, reason="the open HARs are not here")
def test_one_page_over_two_networks() -> None:
    """The errors that docs/pages.md states, of the first load over A and the one over B."""
    assert DATA is not None
    a, b = (
        recording_of(read_har(DATA / f"har/wikipedia-2018-{name}.har.gz")[0])
        for name in ("browsertime-chrome-5runs", "wpt-chrome")
    )

    def taken_to(page: Recording, to: Recording) -> float:
        rtt_ms = median(to.rtt_ms[sent.host] for sent in to.sent)
        scenario = path(rtt_ms, '{ kind = "http/2" }', 2, f"{to.rate_bps / 1e6:.3f} Mbit/s")
        return onload_s(page, settle(scenario, asked_of(page, graph_of(page), is_multiplexed=True)))

    assert taken_to(a, b) == pytest.approx(2.72, abs=0.05)
    assert taken_to(b, a) == pytest.approx(3.57, abs=0.05)
    assert taken_to(b, b) == pytest.approx(3.30, abs=0.05)
