"""What-if: closed forms of what changes save, which are left out, the best ones together, and the screen."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from farweb.check.warned import Warned
from farweb.judge.verdicts import Word
from farweb.pages.owners import registered
from farweb.pages.paths import way_of
from farweb.statistics.intervals import Estimate
from farweb.whatif.answer import Effect, WhatIf, helping, ranked
from farweb.whatif.changes import EDGE, Base, changes_of, levels_of, together
from farweb.whatif.pages import base_of, of_page
from hars import entry, har, page_of, written
from samples import LOG, Farweb, refused, scenario_of

pytestmark = pytest.mark.usefixtures("warm_workers")

RTT_S = 0.14
NO_RATES = {f"path.link.{link}.{way}.rate": "unlimited" for link in (0, 1) for way in ("up", "down")}
"""A sea cable without limits: a round trip of 140 ms, and no time for bytes."""


def effects(folder: Path, content: Any, **keys: str) -> dict[str, Effect]:
    """What each change does to a page over the cable, by name."""
    recording = page_of(folder, content)
    base = base_of(recording, "cable", {**NO_RATES, **{k.replace("__", "."): v for k, v in keys.items()}})
    return {each.name: each for each in of_page(recording, base, "the cable").effects}


def saved(effect: Effect) -> tuple[Any, Any]:
    """Round trips saved for a first visit and for a later one."""
    assert effect.first is not None
    assert effect.later is not None
    assert effect.first.value is not None
    assert effect.later.value is not None
    return pytest.approx(-effect.first.value / RTT_S, abs=1e-6), pytest.approx(-effect.later.value / RTT_S, abs=1e-6)


def test_a_page_of_one_request_saves_round_trips_of_its_handshakes(tmp_path: Path) -> None:
    found = effects(tmp_path, har(entry(), onload=60), leg__0__tls__version='"1.2"')
    assert saved(found["TLS 1.3"]) == (1, 1)
    assert saved(found["resumed TLS"]) == (0, 1)
    assert saved(found["0-RTT"]) == (1, 2)
    assert saved(found["edge at the far end"]) == (4 * 0.02 / RTT_S, 4 * 0.02 / RTT_S), "the cable is as long as before"
    assert saved(found["cache beside the user"])[0] == pytest.approx(4 - 4 * 0.002 / RTT_S, abs=1e-3)
    assert saved(found["PEP"]) == (0.12 / RTT_S, 0.12 / RTT_S), "TCP shakes hands over the cable no more"
    assert saved(found["HTTP/2"]) == saved(found["small records"]) == saved(found["first window 30"]) == (0, 0)
    assert (found["TLS 1.3"].word, found["small records"].word) == ("better", "equivalent")
    assert (found["TLS 1.3"].helped, found["resumed TLS"].helped, found["small records"].helped) == (1, 0.5, 0)


def test_more_connections_save_the_rounds_that_requests_wait_for_one(tmp_path: Path) -> None:
    """30 images behind their page, TLS 1.3: 3 + ⌈(30 + 2 (c - 1)) / c⌉ round trips over c connections."""
    images = [entry(f"https://a.example/{n}.png", 60) for n in range(30)]
    found = effects(tmp_path, har(entry(), *images, onload=120))
    assert saved(found["more connections"]) == (10 - 8, 10 - 8)
    overall = found["more connections"].overall
    assert overall.low == overall.high == pytest.approx(overall.value)


def test_half_of_a_server_s_time_is_saved(tmp_path: Path) -> None:
    slow = entry(timings={"connect": 50, "ssl": -1, "wait": 250})
    found = effects(tmp_path, har(slow, onload=320))
    assert saved(found["half server time"]) == (pytest.approx(0.1 / RTT_S), pytest.approx(0.1 / RTT_S))


def test_a_saving_that_depends_on_the_graph_has_its_ends(tmp_path: Path) -> None:
    """An image that names the page is asked for 10 ms after a script: only one graph of three has it not wait."""
    named = {"type": "parser", "url": "https://a.example/"}
    script = entry("https://a.example/app.js", 60, timings={"wait": 400}, _initiator=named)
    script["response"]["content"]["mimeType"] = "text/javascript"
    image = entry("https://b.example/i.png", 480, _initiator=named)
    half = effects(tmp_path, har(entry(), script, image, onload=540))["half server time"]
    assert half.overall.low == pytest.approx(-0.175)
    assert half.overall.high == pytest.approx(0, abs=1e-9)
    assert half.helped == pytest.approx(2 / 3)


def test_what_the_file_cannot_say_stands_below_what_its_changes_save(tmp_path: Path) -> None:
    recording = page_of(tmp_path, har(entry(), creator="Firefox", onload=60))
    shown = lines_of(of_page(recording, base_of(recording, "cable", {}), "the cable"))
    assert "The file: it names no initiators: what waited for what is taken" in " ".join(shown.split())


@pytest.mark.parametrize(
    ("schemes", "says"),
    [
        (("http", "https"), "TLS 1.3 (assumed). 1 of 2 requests is http, without TLS."),
        (("http", "http"), "no TLS. Its URLs are http: no TLS, with either protocol."),
        (("https", "https"), "TLS 1.3 (assumed)"),
    ],
)
def test_a_page_has_its_requests_and_those_without_tls_beside_its_name(
    folder: Path, farweb: Farweb, schemes: tuple[str, str], says: str
) -> None:
    first, second = (f"{scheme}://a.example" for scheme in schemes)
    content = har(entry(f"{first}/"), entry(f"{second}/x.css", 70), entry("ws://a.example/"), onload=200)
    written(folder, content)
    found = farweb("what-if", "page.har", "--path", "cable", "--json").json()["recording"]
    (row, *_) = farweb("page", "page.har", "--path", "cable", "--json").json()["pages"]
    assert found == {key: row[key] for key in found}
    assert (found["requests"], found["clear_requests"]) == (2, schemes.count("http"))
    assert found["dropped"] == {"web socket": 1}
    shown = " ".join(farweb("what-if", "page.har", "--path", "cable").out.split())
    assert f"a.example: 2 requests, 2.60 kB, 1 host; sea cable, HTTP/1.1, {says} change, in ms" in shown
    assert "Left out: 1 web socket." in shown


def test_changes_that_are_there_or_have_no_place_say_why() -> None:
    secure = Base(way_of("geo", "h2", "none", is_secure=True).scenario, "half", {})
    levels, left = levels_of(secure)
    assert [level.name for level in levels] == [
        *("edge at the far end", "cache beside the user", "half server time", "PEP", "FQ-CoDel", "BBR"),
        *("resumed TLS", "0-RTT", "small records", "ML-DSA-65 chain", "first window 30"),
    ]
    assert left == {
        "there already": ["keep-alive", "HTTP/2", "TLS 1.3", "ECDSA chain"],
        "connections carry many requests at once": ["more connections"],
        "the window is no limit": ["window × 4"],
    }
    older = secure.with_({"leg.0.tcp": '{ profile = "bsd44-lite", mss = "1460 B" }'})
    assert levels_of(older)[1]["not Linux"] == ["BBR"]
    clear = Base(way_of("geo", "h1", "none", is_secure=False).scenario, None, {})
    _, left = levels_of(clear)
    assert left["no TLS"] == ["TLS 1.3", "resumed TLS", "0-RTT", "small records", "ML-DSA-65 chain", "ECDSA chain"]
    assert left["no server times"] == ["half server time"]
    for level in levels_of(clear)[0]:
        assert all("tls" not in leg for _, leg in level.base.legs), "cleartext stays cleartext"


def test_chains_change_both_ways_and_each_change_is_then_there() -> None:
    base = Base(way_of("geo", "h2", "none", is_secure=True).scenario, None, {})
    levels, _ = levels_of(base.with_({"leg.0.tls.certificates": "ml-dsa-65"}))
    (back,) = [level.base for level in levels if level.name == "ECDSA chain"]
    assert back.effective["leg"][0]["tls"]["certificates"] == "ecdsa-p256"
    for level in levels_of(base)[0]:
        if level.name != "cache beside the user":  # another would stand in front of it
            assert level.changes[0].keys(level.base) == "there already", level.name


@pytest.mark.parametrize(
    ("profile", "buffer", "larger"),
    [("linux", "64000 B", "251120 B"), ("bsd44-lite", "32767 B", "65535 B")],
)
def test_a_window_that_is_a_limit_grows_as_far_as_its_tcp_can(profile: str, buffer: str, larger: str) -> None:
    way = way_of("geo", "h2", "none", is_secure=True).scenario
    tcp = f'{{ profile = "{profile}", mss = "1460 B", buffer = "{buffer}" }}'
    base = Base(way.with_({"leg.0.tcp": tcp}), None, {})
    (level,) = [level for level in levels_of(base)[0] if level.name == "window × 4"]
    assert level.base.effective["leg"][0]["tcp"]["buffer"] == larger


def test_a_window_is_held_against_the_largest_rate_that_a_link_ever_has() -> None:
    way = way_of("geo", "h2", "none", is_secure=True).scenario
    steps = '[{ at = "1 s", rate = "8 Mbit/s", delay = "300 ms" }, { at = "2 s", loss = 0.01 }]'
    keys = {"path.link.0.down.steps": steps, "leg.0.tcp.buffer": "1 MB"}
    assert "window × 4" in {level.name for level in levels_of(Base(way.with_(keys), None, {}))[0]}


@pytest.mark.parametrize(
    ("path", "keys", "node"),
    [
        ("docsis", {}, "far-end"),  # the cable of the house, though the servers are farther behind it
        ("geo", {}, "far-end"),
        ("geo", {"path.link.1.down.rate": "1 Mbit/s"}, None),  # the servers' own line is the narrow one
    ],
)
def test_an_edge_stands_behind_the_narrowest_link(path: str, keys: dict[str, str], node: str | None) -> None:
    way = way_of(path, "h2", "none", is_secure=True).scenario.with_(keys)
    levels = {level.name: level.base.effective for level in levels_of(Base(way, None, {}))[0]}
    edge = levels.get("edge at the far end")
    assert (edge and edge["cache"][0]["node"]) == node
    assert edge is None or edge["path"] == json.loads(way.effective())["path"], "no link becomes shorter"


def test_an_edge_that_keeps_what_passes_ends_connections_and_may_be_advised() -> None:
    way = way_of("geo", "h1", "none", is_secure=True).scenario
    (live,) = [level for level in levels_of(Base(way, None, EDGE))[0] if level.name == "edge at the far end"]
    assert [(leg["from"], leg["to"]) for leg in live.base.effective["leg"]] == [
        ("clients", "far-end"),
        ("far-end", "servers"),
    ]
    assert [change.is_bound for change in live.changes] == [False]
    (whole,) = [level for level in levels_of(Base(way, None, {}))[0] if level.name == "edge at the far end"]
    assert len(whole.base.effective["leg"]) == 1 and whole.changes[0].is_bound


def test_an_edge_is_of_the_page_s_own_hosts(tmp_path: Path) -> None:
    """A document and a sheet behind it, with three round trips each where the sheet has a connection of its own."""
    for host, trips in (("cdn.shop.example", 6), ("ads.example", 3), ("shop.example.org", 3), ("www.shop.example", 4)):
        sheet = entry(f"https://{host}/x.css", 60)
        found = effects(tmp_path, har(entry("https://www.shop.example/"), sheet, onload=120))
        assert saved(found["edge at the far end"])[0] == pytest.approx(trips * 0.02 / RTT_S), host


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("www.shop.example", "shop.example"),
        ("shop.example:8443", "shop.example"),
        ("a.b.shop.co.uk", "shop.co.uk"),
        ("shop.com.br", "shop.com.br"),
        ("co.uk", "co.uk"),
        ("192.0.2.7:80", "192.0.2.7"),
        ("[2001:db8::1]:443", "[2001:db8::1]"),
        ("localhost", "localhost"),
    ],
)
def test_a_host_is_of_the_name_that_was_registered(host: str, name: str) -> None:
    assert registered(host) == name


def test_changes_of_the_same_keys_are_not_made_together() -> None:
    base = Base(way_of("geo", "h1", "none", is_secure=True).scenario, None, {})
    order = [NAMED[name] for name in ("HTTP/2", "more connections", "0-RTT", "resumed TLS", "first window 30")]
    assert [level.name for level in together(base, order)] == ["HTTP/2 + 0-RTT", "HTTP/2 + 0-RTT + first window 30"]


LEG = """clients servers { kind = "http/1.1", idle_timeout = "5 s" }
tcp = { profile = "linux", mss = "1460 B" }
tls = { version = "1.2" }"""
SITE = scenario_of("clients servers", "unlimited, 100 ms", legs=[LEG], rest='[origin]\nrelease = "delayed"\n')


def site(folder: Path) -> None:
    """Twelve clients with two requests each on a connection, a server of 80 ms."""
    asked = ((10 * client + 2 * number, client) for client in range(1, 13) for number in (0, 1))
    rows = "".join(f"{start},a.example,400,2000,0.08,{client}\n" for start, client in asked)
    (folder / "site.csv").write_text(f"start_s,host,request_bytes,response_bytes,server_s,client\n{rows}")
    (folder / "site.toml").write_text(SITE.replace("requests.csv", "site.csv"))


def test_requests_save_by_first_and_later_ones(folder: Path, farweb: Farweb) -> None:
    site(folder)
    answer = farweb("what-if", "site.toml", "--json")
    assert answer.code == 0, answer.err
    found = answer.json()
    by_name = {each["change"]: (each["first_s"], each["later_s"]) for each in found["changes"]}
    assert found["as_it_is"]["first_s"] == pytest.approx(0.88)
    assert found["as_it_is"]["later_s"] == pytest.approx(0.28)
    assert by_name["TLS 1.3"] == (pytest.approx(-0.2), 0)
    assert by_name["0-RTT"] == (pytest.approx(-0.2), 0)
    assert by_name["half server time"] == (pytest.approx(-0.04), pytest.approx(-0.04))
    seconds = {
        "first_s": 4 * 0.002 - 0.88,
        "later_s": 0.002 - 0.28,
        "all_s": 0.005 - 0.58,
        "low_s": None,
        "high_s": None,
    }
    said = {
        "change": "cache beside the user",
        "helped_share": 1.0,
        "verdict": "better",
        "for": None,
        "hits_share": None,
        "at_most": True,
    }
    assert found["changes"][-1] == {
        **said,
        **{name: at and pytest.approx(at, abs=1e-4) for name, at in seconds.items()},
    }
    assert found["text"] == (
        "First: TLS 1.3. It takes 200 ms off the 880 ms of a visit's first request and nothing off the 280 ms of a "
        "later one."
    )
    two = found["together"][0]
    assert two["change"] == "TLS 1.3 + half server time"
    assert (two["all_s"], two["sum_s"]) == (pytest.approx(-0.14), pytest.approx(-0.14))
    there = dict.fromkeys(("keep-alive", "ECDSA chain"), "there already")
    others = {"ML-DSA-65 chain": "TLS 1.2 has none", "window × 4": "the window is no limit"}
    others |= {"PEP": "no node for a relay behind the longest link"}
    others |= {"edge at the far end": "no node behind the access link", "FQ-CoDel": "no link has a rate"}
    assert {each["change"]: each["reason"] for each in found["left_out"]} == {**there, **others}


def test_an_edge_has_the_hits_of_the_log(folder: Path, farweb: Farweb) -> None:
    """Twelve visits of two requests, for the same page, and for another that only this visit asks for.

    100 ms lie in front of the edge and 50 behind it; hits take no time of the server. Of a visit's first request the
    first one of all is a miss. The edge has its own connections to the servers, so a miss shakes no hands behind it.
    """
    asked = [(10 * visit + 2 * n, f"/{visit}" if n else "/", visit) for visit in range(12) for n in (0, 1)]
    rows = "".join(f"{start},a.example,400,2000,0.08,{visit},{name}\n" for start, name, visit in asked)
    head = "start_s,host,request_bytes,response_bytes,server_s,client,object\n"
    (folder / "site.csv").write_text(head + rows)
    legs = ['clients servers { kind = "http/1.1", idle_timeout = "60 s" }\ntcp = { profile = "linux", mss = "1460 B" }']
    text = scenario_of(
        "clients edge servers",
        "unlimited, 100 ms",
        "unlimited, 50 ms",
        legs=legs,
        rest='[origin]\nrelease = "delayed"\n',
    )
    (folder / "site.toml").write_text(text.replace("requests.csv", "site.csv"))
    found = farweb("what-if", "site.toml", "--json").json()
    by_name = {each["change"]: each for each in found["changes"]}
    edge = by_name["edge at the far end"]
    assert (found["as_it_is"]["first_s"], found["as_it_is"]["later_s"]) == (pytest.approx(0.68), pytest.approx(0.38))
    assert edge["first_s"] == pytest.approx((0.4 - 0.68) * 11 / 12 + (0.68 - 0.68) / 12)
    assert edge["later_s"] == pytest.approx(0, abs=1e-3)
    assert edge["hits_share"] == pytest.approx(11 / 24)
    shown = " ".join(farweb("what-if", "site.toml").out.split())
    assert shown.startswith("First: edge at the far end, with 45.8 % of hits. It takes ")
    assert "The edge keeps all that passes, and a changed size is a miss." in shown
    assert "if it had everything" not in shown


def test_runs_are_those_of_a_sweep_and_not_repeated(folder: Path, farweb: Farweb) -> None:
    site(folder)
    first = farweb("what-if", "site.toml", "--json").json()
    parts = {
        path: path.stat().st_mtime_ns for path in (folder / "results/site-what-if/parts").rglob("requests.parquet")
    }
    assert len(parts) == 1 + len(first["changes"]) + len(first["together"])
    assert farweb("what-if", "site.toml", "--json").json() == first
    assert all(path.stat().st_mtime_ns == when for path, when in parts.items())
    assert farweb("show", first["results"]).code == 0


@pytest.mark.parametrize("kind", ["page", "log", "scenario"])
def test_the_answer_is_a_screen_and_its_first_line_what_to_do(folder: Path, farweb: Farweb, kind: str) -> None:
    site(folder)
    text = "".join(LOG.replace("8510000", f"85100{i:02}") for i in range(8))
    (folder / "access.log").write_text("".join(f"edge {line}\n" for line in text.splitlines()))
    file = {"page": written(folder, har(entry(), onload=60)), "log": "access.log", "scenario": "site.toml"}[kind]
    options = [] if kind == "scenario" else ["--path", "cable"]
    options += ["--log-format", "edge %ts.%03tu %tr %>a %Ss/%03>Hs %<st %rm %ru"] if kind == "log" else []
    answer = farweb("what-if", file, *options)
    assert answer.code == 0, answer.err
    lines = answer.out.splitlines()
    assert len(lines) <= 25
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("First: ")
    assert any(line.startswith("Left out: ") for line in lines)
    is_added = any(" together, " in line and line.endswith(" added up.") for line in lines)
    assert is_added


WAY = Base(way_of("geo", "h2", "none", is_secure=True).scenario, None, {})
NAMED = {change.name: change for change in changes_of(WAY)}


def lines_of(found: WhatIf, width: int = 80) -> str:
    console = Console(width=width)
    with console.capture() as shown:
        console.print(found)
    return shown.get()


def effect(name: str, mean: float, word: Word, *, is_sure: bool = True) -> Effect:
    return Effect((NAMED[name],), None, None, Estimate(9, mean, None, mean, mean), 0.5, word, is_sure=is_sure)


def test_what_helps_for_sure_is_first_and_columns_of_nothing_known_are_left_out() -> None:
    price, slow = "ML-DSA-65 chain", "half server time"
    sure = [effect(price, -0.5, "better"), effect(slow, -0.1, "slightly better"), effect("PEP", -0.2, "better")]
    unsure = effect("HTTP/2", -0.9, "cannot be told apart"), effect("keep-alive", -0.3, "better", is_sure=False)
    order = ranked([*unsure, *sure])
    assert [each.name for each in order] == ["PEP", slow, "HTTP/2", price, "keep-alive"]
    assert helping(order) == [NAMED["PEP"], NAMED[slow]]
    bounds = [effect("cache beside the user", -0.9, "better"), effect("edge at the far end", -0.8, "better")]
    assert ranked([*bounds, *sure])[-2:] == bounds and helping(bounds) == [], "the most that is possible is no advice"
    both = Effect((NAMED["PEP"], NAMED[slow]), None, None, Estimate(9, -0.25, None, -0.3, -0.2), 0.5, "better")
    nouns = "a visit's first request", "a later one", "a request"
    found = WhatIf("a site", None, None, 1.0, order, [both], {"no TLS": ["0-RTT"]}, nouns, "interval", "Holds.")
    assert found.text == "First: PEP. It takes 200 ms off the 1 s of a request."
    assert found.to_dict()["together"][0]["sum_s"] == pytest.approx(-0.3)
    (header,) = [line.split() for line in lines_of(found).splitlines() if line.startswith("change, in ms")]
    assert header == ["change,", "in", "ms", "all", "interval", "helps"]
    wide = replace(found, effects=[replace(each, first=each.overall, later=each.overall) for each in order])
    assert lines_of(wide, 60).count("change, in ms") == 1, "verdicts beside their changes"
    with_bounds = replace(found, effects=[order[0], *bounds], together=[])
    shown = " ".join(lines_of(with_bounds).split())
    assert shown.count("50 % at most") == 2 and "At most: a cache that has everything from the start" in shown
    assert "At most" not in lines_of(found)
    some = with_bounds.text
    assert some.endswith("of a request. Edge at the far end, if it had everything: 800 ms off the 1 s of a request.")
    for place in (2, 3):
        assert replace(found, effects=order[place:]).text == "None of these changes is shown to help."
    full = [Warned("path.link.0.down.rate", "the workload offers too much")] * 3
    below = " ".join(lines_of(replace(found, warned=full)).split())
    assert below.count("warning: path.link.0.down.rate: the workload offers too much") == 2
    assert below.endswith("+ 1 warning more (farweb check)")
    for_most = replace(unsure[0], word="better", alone="quicker_nine_tenths")
    said = "None of these changes is shown to help on average; HTTP/2 is better for the quicker nine tenths."
    assert replace(found, effects=[bounds[0], order[3], for_most]).text == said


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("site.toml", "--path", "geo"), "has a path of its own"),
        (("site.toml", "--page", "2"), "--page is of a HAR"),
        (("site.csv", "--path", "moon"), "--path: found moon"),
        (("page.har", "--out", "r"), "are of logs and scenarios"),
        (("page.har", "--no-limits"), "are of logs and scenarios"),
        (("page.har", "--seeds", "2000"), "--seeds: found 2000; write 1 to 1000"),
        (("page.har", "--page", "2"), "--page: found 2; "),
        (("page.har", "--set", "leg.0.tls.version=1.4"), "--set leg.0.tls.version=1.4: leg.0.tls.version: found"),
        (("none.log",), "none.log: no such file"),
        (("site.toml", "--from", "1996-12-19"), "--from: is of logs, and site.toml is none"),
        (("site.csv", "--format", "auto"), "--format: is of logs, and site.csv is none"),
    ],
)
def test_what_is_refused(folder: Path, farweb: Farweb, arguments: tuple[str, ...], says: str) -> None:
    site(folder)
    written(folder, har(entry(), onload=60))
    refused(farweb, "what-if", *arguments, says=says)
