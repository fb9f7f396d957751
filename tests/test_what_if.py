"""What-if: closed forms of what changes save, which are left out, the best ones together, and the screen."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from farweb.pages.paths import way_of
from farweb.pages.recording import recording_of
from farweb.statistics.intervals import Estimate
from farweb.statistics.verdicts import Word
from farweb.whatif.answer import Effect, WhatIf, helping, ranked
from farweb.whatif.changes import CHANGES, Base, levels_of, together
from farweb.whatif.pages import base_of, of_page
from hars import entry, har, page_of, written
from samples import LOG, Farweb, refused, scenario_of

pytestmark = pytest.mark.usefixtures("warm_workers")

RTT_S = 0.14
NO_RATES = {f"path.link.{link}.{way}.rate": "unlimited" for link in (0, 1) for way in ("up", "down")}
"""A sea cable without limits: a round trip of 140 ms, and no time for bytes."""


def effects(folder: Path, content: Any, **keys: str) -> dict[str, Effect]:
    """What each change does to a page over the cable, by name."""
    recording = recording_of(page_of(folder, content))
    base = base_of(recording, "cable", {**NO_RATES, **{k.replace("__", "."): v for k, v in keys.items()}})
    return {each.name: each for each in of_page(recording, base, "the cable").effects}


def saved(effect: Effect) -> tuple[Any, Any]:
    """What a first visit and a later one save, in round trips."""
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
    assert saved(found["edge at a tenth"]) == (0.9 * 4, 0.9 * 4)
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
    recording = recording_of(page_of(tmp_path, har(entry(), creator="Firefox", onload=60)))
    shown = lines_of(of_page(recording, base_of(recording, "cable", {}), "the cable"))
    assert "The file: it names no initiators: what waited for what is taken" in " ".join(shown.split())


def test_changes_that_are_there_or_have_no_place_say_why() -> None:
    secure = Base(way_of("geo", "h2", "none", is_secure=True).scenario, "half")
    levels, left = levels_of(secure)
    assert [level.name for level in levels] == [
        *("edge at a tenth", "half server time", "PEP", "resumed TLS", "0-RTT", "small records", "ML-DSA-65 chain"),
        "first window 30",
    ]
    assert left == {
        "there already": ["keep-alive", "HTTP/2", "TLS 1.3", "ECDSA chain"],
        "connections carry many requests at once": ["more connections"],
        "the window is no limit": ["window × 4"],
    }
    clear = Base(way_of("geo", "h1", "none", is_secure=False).scenario, None)
    _, left = levels_of(clear)
    assert left["no TLS"] == ["TLS 1.3", "resumed TLS", "0-RTT", "small records", "ML-DSA-65 chain", "ECDSA chain"]
    assert left["no server times"] == ["half server time"]
    for level in levels_of(clear)[0]:
        assert all("tls" not in leg for _, leg in level.base.legs), "cleartext stays cleartext"


def test_chains_change_both_ways_and_each_change_is_then_there() -> None:
    base = Base(way_of("geo", "h2", "none", is_secure=True).scenario, None)
    levels, _ = levels_of(base.with_({"leg.0.tls.certificates": "ml-dsa-65"}))
    (back,) = [level.base for level in levels if level.name == "ECDSA chain"]
    assert back.effective["leg"][0]["tls"]["certificates"] == "ecdsa-p256"
    for level in levels_of(base)[0]:
        if level.name != "edge at a tenth":
            assert level.changes[0].keys(level.base) == "there already", level.name


@pytest.mark.parametrize(
    ("profile", "buffer", "larger"),
    [("linux", "64000 B", "254848 B"), ("bsd44-lite", "32767 B", "65535 B")],
)
def test_a_window_that_is_a_limit_grows_as_far_as_its_tcp_can(profile: str, buffer: str, larger: str) -> None:
    way = way_of("geo", "h2", "none", is_secure=True).scenario
    base = Base(way.with_({"leg.0.tcp": f'{{ profile = "{profile}", mss = "1460 B", buffer = "{buffer}" }}'}), None)
    (level,) = [level for level in levels_of(base)[0] if level.name == "window × 4"]
    assert level.base.effective["leg"][0]["tcp"]["buffer"] == larger


def test_changes_act_on_all_that_a_link_becomes() -> None:
    """An edge is nearer in each step and handover, and a window is held against the largest rate of all steps."""
    way = way_of("geo", "h2", "none", is_secure=True).scenario
    steps = '[{ at = "1 s", rate = "8 Mbit/s", delay = "300 ms" }, { at = "2 s", loss = 0.01 }]'
    handover = '{ every = "15 s", delay = ["-10 ms", "20 ms"] }'
    keys = {"path.link.0.down.steps": steps, "path.link.0.handover": handover, "leg.0.tcp.buffer": "1 MB"}
    levels = {level.name: level.base.effective for level in levels_of(Base(way.with_(keys), None))[0]}
    link = levels["edge at a tenth"]["path"]["link"][0]
    delays = [link["down"]["delay"], link["down"]["steps"][0]["delay"], *link["handover"]["delay"]]
    assert delays == ["34200 us", "30 ms", "-1 ms", "2 ms"]
    assert "window × 4" in levels


def test_changes_of_the_same_keys_are_not_made_together() -> None:
    base = Base(way_of("geo", "h1", "none", is_secure=True).scenario, None)
    named = {change.name: change for change in CHANGES}
    order = [named[name] for name in ("HTTP/2", "more connections", "0-RTT", "resumed TLS", "first window 30")]
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
    seconds = {"first_s": -0.72, "later_s": -0.18, "all_s": -0.45, "low_s": None, "high_s": None}
    said = {"change": "edge at a tenth", "helped_share": 1.0, "verdict": "better", "for": None}
    assert found["changes"][-1] == {**said, **{name: at and pytest.approx(at) for name, at in seconds.items()}}
    assert found["text"] == (
        "First: TLS 1.3. It takes 200 ms off the 880 ms of a visit's first request and nothing off the 280 ms of a "
        "later one. Edge at a tenth, if it had everything: 450 ms off the 580 ms of a request."
    )
    two = found["together"][0]
    assert two["change"] == "TLS 1.3 + half server time"
    assert (two["all_s"], two["sum_s"]) == (pytest.approx(-0.14), pytest.approx(-0.14))
    there = dict.fromkeys(("keep-alive", "ECDSA chain"), "there already")
    others = {"ML-DSA-65 chain": "TLS 1.2 has none", "window × 4": "the window is no limit"}
    others["PEP"] = "no node for a relay behind the longest link"
    assert {each["change"]: each["reason"] for each in found["left_out"]} == {**there, **others}


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
    assert is_added == (kind != "log"), "one change alone helps the log"


def lines_of(found: WhatIf, width: int = 80) -> str:
    console = Console(width=width)
    with console.capture() as shown:
        console.print(found)
    return shown.get()


def effect(place: int, mean: float, word: Word, *, is_sure: bool = True) -> Effect:
    return Effect((CHANGES[place],), None, None, Estimate(9, mean, None, mean, mean), 0.5, word, is_sure=is_sure)


def test_what_helps_for_sure_is_first_and_columns_of_nothing_known_are_left_out() -> None:
    (price,) = (place for place, change in enumerate(CHANGES) if not change.is_for_speed)
    sure = [effect(price, -0.5, "better"), effect(1, -0.1, "slightly better"), effect(2, -0.2, "better")]
    unsure = effect(0, -0.9, "cannot be told apart"), effect(3, -0.3, "better", is_sure=False)
    order = ranked([*unsure, *sure])
    assert [each.changes for each in order] == [(CHANGES[place],) for place in (2, 1, price, 3, 0)]
    assert helping(order) == [CHANGES[2], CHANGES[1]]
    bound = effect(0, -0.9, "better")
    assert ranked([bound, *sure])[-1] == bound and helping([bound]) == [], "what an edge could save is no advice"
    both = Effect((CHANGES[2], CHANGES[1]), None, None, Estimate(9, -0.25, None, -0.3, -0.2), 0.5, "better")
    nouns = "a visit's first request", "a later one", "a request"
    found = WhatIf("a site", None, None, 1.0, order, [both], {"no TLS": ["0-RTT"]}, nouns, "interval", "Holds.")
    assert found.text == "First: PEP. It takes 200 ms off the 1 s of a request."
    assert found.to_dict()["together"][0]["sum_s"] == pytest.approx(-0.3)
    (header,) = [line.split() for line in lines_of(found).splitlines() if line.startswith("change, in ms")]
    assert header == ["change,", "in", "ms", "all", "interval", "helps"]
    wide = replace(found, effects=[replace(each, first=each.overall, later=each.overall) for each in order])
    assert lines_of(wide, 60).count("change, in ms") == 1, "verdicts beside their changes"
    for place in (2, 3):
        assert replace(found, effects=order[place:]).text == "None of these changes is shown to help."


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("site.toml", "--path", "geo"), "has a path of its own"),
        (("site.toml", "--page", "2"), "--page is of a HAR"),
        (("site.csv", "--path", "moon"), "--path: found moon"),
        (("page.har", "--out", "r"), "are of logs and scenarios"),
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
