"""Which request of a HAR waited for which."""

from pathlib import Path
from typing import Any

import pytest

from farweb.pages.graph import RULES, Dependency, Edge, graph_of
from hars import PAGE, entry, recorded


def about(number: float) -> Any:
    """A number up to what floats lose, where a value of ours has one."""
    return pytest.approx(number)


def of(tmp_path: Path, *entries: dict[str, Any], rule: Any = "likely", onload: float = 5_000) -> list[Dependency]:
    return graph_of(recorded(tmp_path, *entries, creator="chrome-har", onload=onload), rule)


SCRIPT: dict[str, Any] = {"response": {"content": {"mimeType": "text/javascript"}}}


def test_a_redirect_leads_to_its_target(tmp_path: Path) -> None:
    hop = entry("https://a.example/old", response={"status": 301, "redirectURL": "/"})
    found = of(tmp_path, hop, entry(PAGE, 75))
    assert found[1] == Dependency((Edge(0, 1.0),), about(15), "redirect")


def test_a_tag_within_a_document_waits_for_its_part(tmp_path: Path) -> None:
    document = entry(PAGE, timings={"wait": 50, "receive": 100})
    found = of(tmp_path, document, entry("https://a.example/x.css", 75, _initiator=PAGE, _initiator_type="parser"))
    assert found[1] == Dependency((Edge(0, about(0.25)),), 0, "initiator")


def test_what_ended_right_before_may_stand_behind_an_initiator_that_ended_long_ago(tmp_path: Path) -> None:
    entries = [
        entry(PAGE),
        entry("https://a.example/app.js", 61, **SCRIPT),
        entry("https://a.example/x.png", 140, _initiator=PAGE, _initiator_type="parser"),
    ]
    assert of(tmp_path, *entries)[2] == Dependency((Edge(0, 1.0), Edge(1, 1.0)), about(19), "hidden")
    assert of(tmp_path, *entries, rule="few")[2].edges == (Edge(0, 1.0),)
    assert of(tmp_path, *entries, rule="many")[2].edges == (Edge(1, 1.0),)


def test_an_initiator_that_is_not_clear_is_none(tmp_path: Path) -> None:
    twice = [entry("https://a.example/app.js", start, **SCRIPT) for start in (70, 150)]
    asked = entry("https://a.example/x.json", 300, _initiator="https://a.example/app.js", _initiator_type="script")
    assert of(tmp_path, entry(PAGE), *twice, asked)[3].kind == "time"
    itself = entry("https://a.example/x.css", 80, _initiator="https://a.example/x.css")
    assert of(tmp_path, entry(PAGE), itself)[1].kind == "time"


def test_entries_that_name_each_other_and_times_below_zero_make_no_circle(tmp_path: Path) -> None:
    names = [f"https://a.example/{place}.js" for place in range(3)]
    odd: dict[str, Any] = {"startedDateTime": "1970-01-01T00:00:00Z", "timings": {"wait": "-9", "receive": -1e300}}
    ring = [entry(name, _initiator=names[place - 1], **odd, **SCRIPT) for place, name in enumerate(names)]
    for rule in RULES:
        for place, each in enumerate(of(tmp_path, entry(PAGE), *ring, rule=rule)):
            assert each.think_ms >= 0
            assert all(edge.parent < place for edge in each.edges)


def test_a_request_waits_for_its_preflight(tmp_path: Path) -> None:
    preflight = entry("https://b.example/api", 70, _initiator="https://b.example/api", _request_type="Preflight")
    found = of(tmp_path, entry(PAGE), preflight, entry("https://b.example/api", 140, _initiator=PAGE))
    assert (found[1].kind, found[2].edges) == ("time", (Edge(1, 1.0),))
