"""The path as a report draws it, and scenarios as reports read and write them."""

import json
import pathlib
import re
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farweb import _core
from farweb.library.scenario import Scenario
from farweb.report.assumptions import assumptions, left_out
from farweb.report.drawing import draw_path, wrap
from farweb.report.path import Leg, Path, Term, path_of, shape, span, told_apart
from farweb.report.points import Point, parse, point, warnings
from farweb.text import toml

EXAMPLES = pathlib.Path(__file__).parent.parent / "examples"
SVG = re.compile(r"<svg.*?</svg>", re.DOTALL)


def made(nodes: int = 2, *, names: list[str] | None = None, label: str = "", **down: Any) -> Point:
    """A path of so many nodes, with these values downwards on each link."""
    way = {"rate": "2 Mbit/s", "delay": "60 ms", "queue": "64000 B"}
    names = names or ["client", *(f"router{place}" for place in range(1, nodes - 1)), "server"]
    tcp = {"profile": "bsd44-lite", "mss": "1460 B", "buffer": down.pop("buffer", "32767 B")}
    effective = {
        "format": 1,
        "name": "a path",
        "path": {"nodes": names, "link": [{"up": way, "down": {**way, **down}}] * (len(names) - 1)},
        "leg": [{"from": names[0], "to": names[-1], "carrier": {"kind": "http/1.0"}, "tcp": tcp}],
        "workload": {"requests": "requests.csv", "load": 1},
    }
    return point(label, parse(effective, "a path"), None)


def drawn(*points: Point) -> str:
    """The text in the drawing of points of one shape, what varies in brackets."""
    return written(path_of(points))


def written(path: Path) -> str:
    (svg,) = SVG.findall(draw_path(path, "a path in words"))
    lines = ElementTree.fromstring(svg).iter("text")
    parts = []
    for line in lines:
        for span_ in line:
            span_.text = f"[{span_.text}]"
        text = "".join(line.itertext())
        parts.append(f"[{text}]" if "varied" in (line.get("class") or "") else text)
    return "\n".join(parts).replace("\N{NO-BREAK SPACE}", " ")


def test_splits_are_marked_at_their_nodes_and_on_the_leg() -> None:
    plain = made(4)
    split = made(4)
    split.scenario["leg"][0]["split"] = [{"at": "router1"}, {"at": "router2"}]
    assert shape(split) != shape(plain)
    assert drawn(split).splitlines().count("TCP split") == 2
    assert "TCP split" not in drawn(plain)
    ticks = [draw_path(path_of([each]), "").count('d="M17 ') for each in (plain, split)]
    assert ticks == [0, 2]


@pytest.mark.parametrize("nodes", range(2, 7))
def test_a_drawing_has_every_node_and_link_once(nodes: int) -> None:
    lines = drawn(made(nodes)).splitlines()
    assert lines.count("client") == lines.count("server") == 1
    assert sum(line.startswith("router") for line in lines) == nodes - 2
    assert sum(line.startswith("up ") for line in lines) == nodes - 1
    assert sum(line.startswith("down ") for line in lines) == nodes - 1
    assert "leg 0: http/1.0 · no TLS · bsd44-lite · closed by server" in " · ".join(lines)


def test_up_and_down_have_values_of_their_own() -> None:
    loss = {"kind": "bernoulli", "probability": 0.01}
    text = drawn(made(rate="10 Mbit/s", delay="320 ms", queue=None, loss=loss)).replace("\n", " · ")
    assert "up ↑ 2 Mbit/s · 60 ms · queue 64 kB" in text
    assert "down ↓ 10 Mbit/s · 320 ms · queue unlimited · loss 1 %" in text


def test_a_link_without_a_rate_has_no_queue() -> None:
    assert "down ↓ unlimited rate · 60 ms\n" in drawn(made(rate="unlimited", queue=None))


def test_what_differs_between_scenarios_stands_out_and_nothing_else() -> None:
    points = [
        made(delay=delay, buffer=buffer) for delay in ("320 ms", "60 ms") for buffer in ("8 kB", "32767 B", "1 MiB")
    ]
    text = drawn(*points)
    assert "[60 ms or 320 ms]" in text
    assert "buffer [8000 B … 1 MiB]" in text
    assert text.count("[") == 2


def handed_over(**handover: Any) -> Point:
    effective = json.loads(json.dumps(made().scenario))
    effective["path"]["link"][0]["handover"] = {"every": "15 s", "gap": ["59 ms", "135 ms"], **handover}
    return point("", parse(effective, "handovers"), None)


def test_a_drawing_says_how_links_change_and_the_tls_of_legs() -> None:
    assert "handover every 15 s, gap 59 ms\nto 135 ms" in drawn(handed_over())
    assert "[handover every 15 s, gap]\n[59 ms to 135 ms or none]" in drawn(made(), handed_over())
    both = drawn(handed_over(), handed_over(every="9 s")).replace("]\n[", " ")
    assert both.count("to 135 ms or handover every 9 s, gap 59 ms to 135 ms]") == 2
    stepped = made(steps=[{"at": "1 s", "rate": "1 Mbit/s"}, {"at": "2 s", "rate": "2 Mbit/s"}])
    assert "1 Mbit/s to 2 Mbit/s, mean" in drawn(stepped)
    secure = with_leg(tls={"version": "1.3", "start": "resumed"})
    assert "http/1.0 · TLS 1.3 resumed" in drawn(secure).replace("\n", " · ")
    assert "[no TLS or TLS 1.3 resumed]" in drawn(made(), secure).replace("\n", " · ")


def test_what_paths_of_two_shapes_differ_in_stands_out() -> None:
    """A proxy for TCP at both ends of the long link, against none."""
    plain = made(3, names=["client", "far", "server"])
    long = plain.scenario["path"]["link"][0]
    near = {"rate": "1 Gbit/s", "delay": "1 ms"}
    links = [{"up": near, "down": near}, long, plain.scenario["path"]["link"][1]]
    (leg,) = plain.scenario["leg"]
    splits = [{"at": "modem", "open": "ready", "tcp": {**leg["tcp"], "buffer": "16 MB"}}, {"at": "far"}]
    path = {"nodes": ["client", "modem", "far", "server"], "link": links}
    pep = point("", parse({**plain.scenario, "path": path, "leg": [{**leg, "split": splits}]}, "pep"), None)
    without, with_ = map(written, told_apart([path_of([plain]), path_of([pep])]))
    assert "[" not in without
    assert [line for line in with_.splitlines() if "[" in line] == [
        "[TCP split]",
        "[modem]",
        "[TCP split]",
        "[connections stand]",
        "buffer [16 MB]",
        "up ↑ [1 Gbit/s] · [1 ms]",
        "queue [unlimited]",
        "down ↓ [1 Gbit/s] · [1 ms]",
        "queue [unlimited]",
    ]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["60 ms"], "60 ms"),
        (["320 ms", "60 ms"], "60 ms or 320 ms"),
        (["1 s", "60 ms", "320 ms"], "60 ms … 1 s"),
        (["8", "1", "4"], "1 … 8"),
        (["linux", "bsd44-lite"], "linux or bsd44-lite"),
        (["unlimited", "64 kB", "1 MB", "100 kB"], "64 kB … 1 MB or unlimited"),
        (["a", "b", "c", "d"], "4 values"),
    ],
)
def test_values_in_a_few_words(texts: list[str], expected: str) -> None:
    assert span(texts) == expected


@pytest.mark.parametrize(
    ("delay", "expected"), [("10.73 ms", "10.73 ms"), ("250 us", "250 us"), ("1500 ms", "1.5 s"), ("0.4 s", "400 ms")]
)
def test_delays_are_in_a_unit_that_fits(delay: str, expected: str) -> None:
    assert f"down ↓ 2 Mbit/s · {expected}" in drawn(made(delay=delay))


def proxied(connections: int = 20) -> Point:
    """A path of two legs that meet at a proxy: mux to it, persistent connections behind it."""
    one = made(3, names=["office", "hub", "server"])
    tcp = one.scenario["leg"][0]["tcp"]
    mux = {"kind": "mux", "connections": connections, "overhead": "20 B", "assign": "least-outstanding"}
    persistent = {"kind": "http/1.1", "idle_timeout": "15 s", "closed_by": "client", "per_host": None, "total": 100}
    legs = [
        {"from": "office", "to": "hub", "carrier": mux, "tcp": tcp},
        {"from": "hub", "to": "server", "carrier": persistent, "tcp": tcp},
    ]
    return point("", parse({**one.scenario, "leg": legs}, "proxied"), None)


def test_a_proxy_is_named_and_legs_have_their_carriers() -> None:
    text = drawn(proxied())
    assert text.splitlines().count("proxy") == 1
    for said in (
        "leg 0: mux · no TLS · bsd44-lite",
        "connections 20",
        "overhead 20 B",
        "leg 1: http/1.1 · no TLS · bsd44-lite",
    ):
        assert said in text
    assert "idle timeout 15 s" in text and "total 100" in text
    assert "per host" not in text  # no limit
    assert "proxy" not in drawn(made(3)).splitlines()


def brackets(svg: str) -> set[str | None]:
    return {path.get("d") for path in ElementTree.fromstring(svg).iter("path") if path.get("class") == "leg"}


@pytest.mark.parametrize(("connections", "strands"), [(1, 1), (2, 2), (4, 4), (50, 4)])
def test_a_bundle_of_connections_has_several_strands(connections: int, strands: int) -> None:
    for svg in SVG.findall(draw_path(path_of([proxied(connections)]), "in words")):
        assert len(brackets(svg)) == strands + 1  # and the other leg's


@pytest.mark.parametrize(("open_rule", "strands"), [("fixed", 3), ("at-session-limit", 1)])
def test_only_connections_that_stand_all_the_time_are_strands(open_rule: str, strands: int) -> None:
    near, far = proxied().scenario["leg"]
    http2 = {"kind": "http/2", "connections": 3, "open_rule": open_rule}
    legs = [{**near, "carrier": http2}, far]
    some = point("", parse({**proxied().scenario, "leg": legs}, "proxied"), None)
    for svg in SVG.findall(draw_path(path_of([some]), "in words")):
        assert len(brackets(svg)) == strands + 1


def test_how_many_connections_a_bundle_has_may_be_varied() -> None:
    assert "connections [1 … 50]" in drawn(*map(proxied, (1, 20, 50)))


def test_assumptions_name_proxies_and_their_carriers() -> None:
    said = "\n".join(assumptions([proxied(20), proxied(50)]))
    assert "hub is a proxy: it passes on whole requests" in said
    assert "share connections that stay open (mux)" in said
    assert "processing and memory limits of proxies" in left_out([proxied()])
    assert "proxies" not in left_out([made()])


def test_assumptions_name_splits_and_their_constants() -> None:
    scenario = made(4).scenario
    (leg,) = scenario["leg"]
    wide = {**leg["tcp"], "profile": "linux", "constants": {"initial_cwnd_segments": 100}}
    splits = [{"at": "router1", "open": "ready", "tcp": wide}, {"at": "router2"}]
    said = assumptions([point("", parse({**scenario, "leg": [{**leg, "split": splits}]}, "split"), None)])
    (of_splits,) = [each for each in said if each.startswith("router1 and router2 split TCP: ")]
    assert "Behind router1 each connection finds a stretch that stands" in of_splits
    assert "Constants set differently: initial_cwnd_segments = 100." in said
    assert {each[:10] for each in said if each.startswith("TCP ")} == {"TCP bsd44-", "TCP linux:"}


def test_assumptions_of_paths_of_several_shapes_are_each_of_its_legs() -> None:
    said = "\n".join(assumptions([with_leg(carrier={"kind": "http/1.1", "total": 7}), proxied(20)]))
    for stretch in ("client – server", "office – hub", "hub – server"):
        assert f"{stretch}: no TLS; round trip " in said


def test_lines_are_as_wide_as_there_is_room_and_the_label_stays_with_the_first() -> None:
    terms = [Term("", "34 Mbit/s"), Term("", "60 ms"), Term("queue ", "256000 B")]
    assert [len(line) for line in wrap("up ↑ ", terms, 1000)] == [3]
    assert [len(line) for line in wrap("up ↑ ", terms, 120)] == [1, 1, 1]
    assert wrap("up ↑ ", terms, 120)[0][0].lead == "up ↑ "
    (first,), (second,), (third,) = wrap("down ↓ ", [Term("", "handover every 15 s, gap 59 ms", True)], 120)
    assert [(each.lead, each.text) for each in (first, second, third)] == [
        ("down ↓ ", "handover"), ("", "every 15\xa0s, gap"), ("", "59\xa0ms")
    ]  # fmt: skip
    assert first.varied and third.varied


def test_scenarios_of_another_shape_are_drawn_apart() -> None:
    assert shape(made(2)) == shape(made(2, delay="1 s"))
    assert len({shape(made(2)), shape(made(3)), shape(made(2, names=["a", "b"]))}) == 3


HOSTILE = '<script>alert("1")</script>&amp;\'\x7f\\'


def test_names_are_text_whatever_they_hold() -> None:
    names = [HOSTILE.replace("\x7f", ""), "b" * 200, "server"]
    drawing = draw_path(path_of([made(names=names)]), HOSTILE)
    assert "<script" not in drawing
    for svg in SVG.findall(drawing):
        titles = [title.text for title in ElementTree.fromstring(svg.replace("\x7f", "")).iter("title")]
        assert sorted(filter(None, titles)) == sorted(names)  # in full; the drawing cuts them


@pytest.mark.parametrize("varied", [False, True])
def test_values_are_text_whatever_they_hold(varied: bool) -> None:
    terms = (Term(f"{HOSTILE} ", HOSTILE, varied),)
    nodes = (Term("", "a"), Term("", "b", varied))
    drawing = draw_path(Path(nodes, (terms,), (terms,), (Leg(0, 1, terms),), (terms, ()), (terms, ())), "in words")
    assert "<script" not in drawing
    assert drawing.count("script&gt;alert") == 2 * 5  # lead and text: up, down, leg, cache and split


@pytest.mark.parametrize("name", ["cable", "satellite", "cache-hierarchy"])
def test_a_scenario_is_read_again_from_what_a_report_writes(name: str) -> None:
    effective = Scenario.load(EXAMPLES / f"{name}.toml").effective
    assert json.loads(_core.Scenario.parse(toml.document(effective), "written", {}).effective()) == effective


@given(st.text(st.characters(exclude_categories=["Cc", "Cs"])), st.integers(0, 2**52), st.floats(0, 1))
def test_any_name_is_read_again(name: str, seed: int, probability: float) -> None:
    effective = dict(made(loss={"kind": "bernoulli", "probability": probability}).scenario)
    effective |= {
        "name": name,
        "run": {"seed": seed},
        "sweep": {"replications": 2, "factors": {"workload.load": [1, 2]}},
    }
    again = json.loads(parse(effective, "again").effective())
    assert again["name"] == name
    assert again["run"]["seed"] == seed
    assert again["path"] == effective["path"]


def test_assumptions_are_those_of_the_scenarios() -> None:
    said = "\n".join(assumptions([made(delay="320 ms"), made(buffer="8760 B")]))
    assert "HTTP/1.0" in said
    assert "TCP bsd44-lite: 4.4BSD-Lite (1994)" in said
    # 22 and 6 segments of 1460 B, 1500 B on the wire, a round trip of 380 and of 120 ms and the 6 ms of a segment:
    # 22 · 12000 bit / 0.386 s = 684 kbit/s, and 6 · 12000 bit / 0.126 s = 571 kbit/s.
    assert "client – server: no TLS; round trip 120 ms to 380 ms" in said
    assert "a connection can carry 571 kbit/s to 684 kbit/s, limited by its window" in said
    assert "No warm-up." in said
    assert "Load" not in said


def test_assumptions_name_loads_warm_up_end_and_changed_constants() -> None:
    effective = json.loads(json.dumps(made().scenario))
    effective["leg"][0]["tcp"]["constants"] = {"nagle": False}
    effective["workload"]["load"] = 4
    effective["run"] = {**effective["run"], "warmup": "30 s", "until": "10 min"}
    said = "\n".join(assumptions([made(), point("", parse(effective, "changed"), None)]))
    assert "Load 1 or 4 stands for as many copies" in said
    assert "requests of the first 0 s or 30 s are in no number" in said
    assert "Runs end at 600 s" in said
    assert "nagle = false" in said


def with_leg(**keys: Any) -> Point:
    effective = json.loads(json.dumps(made().scenario))
    effective["leg"][0] |= keys
    return point("", parse(effective, "with a leg"), None)


def test_assumptions_say_which_legs_have_tls() -> None:
    plain, resumed = made(), with_leg(carrier={"kind": "http/1.1"}, tls={"version": "1.3", "start": "resumed"})

    def said(*points: Point) -> str:
        return "\n".join(assumptions(points))

    assert "client – server: no TLS; " in said(plain)
    assert "client – server: TLS 1.3, resumed where a client has a ticket; " in said(resumed)
    assert "client – server: no TLS or TLS 1.3, resumed where a client has a ticket; " in said(plain, resumed)


@pytest.mark.parametrize(
    ("tls", "parts"),
    [
        ({"certificates": "ml-dsa-65"}, ", key exchange x25519mlkem768, certificates ml-dsa-65 with 1 intermediate"),
        ({"version": "1.2", "intermediates": 2}, ", key exchange x25519, certificates ecdsa-p256 with 2 intermediates"),
        ({"server_flight": "30 kB"}, ""),
    ],
)
def test_assumptions_name_key_exchange_and_certificates(tls: dict[str, Any], parts: str) -> None:
    leg = with_leg(carrier={"kind": "http/1.1"}, tls=tls)
    said = f"client – server: TLS {tls.get('version', '1.3')}, a full handshake{parts};"
    assert any(text.startswith(said) for text in assumptions([leg]))


@pytest.mark.parametrize("release", ["at-once", "after-wait", "delayed", "paced", "closed-loop", "regulated"])
def test_assumptions_say_how_responses_are_released(release: str) -> None:
    effective = json.loads(json.dumps(made().scenario))
    effective["origin"]["release"] = release
    (said,) = (text for text in assumptions([point("", parse(effective, "released"), None)]) if "Servers " in text)
    assert len(said.split()) > 3


@pytest.mark.parametrize(
    ("digests", "said"),
    [
        (("a", "a"), "All runs have the same requests, under several names: one.csv and other.csv."),
        (("a", "b"), "The runs have different request tables: one.csv and other.csv."),
        ((None, None), "The runs have different request tables: one.csv and other.csv."),
    ],
)
def test_request_tables_are_the_same_by_what_they_hold(digests: tuple[str | None, ...], said: str) -> None:
    one = made()
    points = [
        Point("", {**one.scenario, "workload": {**one.scenario["workload"], "requests": name}}, one.figures, digest)
        for name, digest in zip(("one.csv", "other.csv"), digests, strict=True)
    ]
    assert said in assumptions(points)


def test_assumptions_name_what_is_drawn_anew() -> None:
    one = made()
    workload = {**one.scenario["workload"], "resample": "clients"}
    said = assumptions([Point("", {**one.scenario, "workload": workload}, one.figures)])
    assert any(text.startswith("Each seed draws the clients of the request table anew") for text in said)


def test_assumptions_name_a_generated_workload() -> None:
    one = made()
    workload = {"family": "nzix", "load": 62, "copies_offset": "37 s", "copies_hosts": "renamed"}
    figures = {**one.figures, "workload": {"days": 31}}
    said = "\n".join(assumptions([Point("", {**one.scenario, "workload": workload}, figures)]))
    assert (
        "those of the family nzix, generated from the seed of the run: load 62 stands for as many of its 31 days"
        in said
    )
    assert "shifted by 37 s each and turned round within the period, with hosts of their own." in said
    assert "copies of the request table" not in said


def test_assumptions_name_a_model_of_clients() -> None:
    one = made()
    workload = {"family": "prowgen", "load": 1, "copies_offset": "37 s", "copies_hosts": "same"}
    said = "\n".join(assumptions([Point("", {**one.scenario, "workload": workload}, one.figures)]))
    assert "those of the family prowgen, generated from the seed of the run.\n" in said
    said = "\n".join(assumptions([Point("", {**one.scenario, "workload": {**workload, "load": 3}}, one.figures)]))
    assert "the seed of the run: load 3 stands for as many copies, shifted by 37 s each." in said


def test_limits_by_host_are_not_made_up_without_the_host_table() -> None:
    scenario = Scenario.load(EXAMPLES / "cable.toml")
    without = "\n".join(assumptions([point("", scenario.core, None)]))
    assert "windows and segment sizes are in the host table" in without
    check = scenario.check()
    with_it = "\n".join(assumptions([Point("", check.scenario, check.figures)]))
    assert "(median of the servers), limited by" in with_it


def test_what_is_left_out_depends_on_the_carrier() -> None:
    assert "pages" in left_out([made()])
    transfer = Scenario.load(EXAMPLES / "cache-hierarchy.toml")
    assert "pages" not in left_out([point("", transfer.core, None)])


def test_a_warning_is_there_once_with_where_it_holds() -> None:
    # A queue of 1000 B is less than a segment in any case; 64 kB are little for 2 Mbit/s only at 2 s.
    points = [made(label=delay, delay=delay, queue="64000 B") for delay in ("60 ms", "320 ms", "5 s", "8 s")]
    said = warnings(points, lambda some: ", ".join(each.label for each in some))
    assert len(said) == 1
    assert said[0].startswith("path.link.0.")
    assert said[0].endswith("(5 s, 8 s).")
    assert warnings([made()], lambda some: "") == []


def test_warnings_of_how_runs_are_recorded_say_nothing_of_what_they_mean() -> None:
    effective = {**made().scenario, "record": {"points": ["link 0"], "packets": "none"}}
    recorded = point("", parse(effective, "recorded"), None)
    assert [warning.key for warning in recorded.warned] == ["record.points"]
    assert warnings([recorded], lambda some: "") == []
