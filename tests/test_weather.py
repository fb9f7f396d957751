"""Chance and change on a path: seeds of pages and of what-if, the same times for all that is compared, refusals."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import farweb as front
from farweb._core import Recording
from farweb.errors import FarwebError
from farweb.pages.paths import ALL_PATHS, way_of
from farweb.pages.weather import check_seeds, is_drawn, is_steady, seeds_of
from farweb.whatif.answer import are_disputed
from farweb.whatif.changes import CHANGES
from farweb.whatif.pages import Loads, base_of, effect_of, of_page
from hars import entry, har, page_of, written
from samples import Farweb

DRAWN = {"starlink", "starlink-operator", "5g", "lte", "leo", "mobile"}
"""Presets with handovers or variation; the losses of others are rarer than one in a hundred pages meets."""


def effective(path: str = "docsis", **keys: str) -> dict[str, Any]:
    way = way_of(path, "h2", "none", is_secure=True).scenario
    found: dict[str, Any] = json.loads(way.with_({key.replace("__", "."): keys[key] for key in keys}).effective())
    return found


def test_which_paths_have_chance() -> None:
    assert {path for path in ALL_PATHS if is_drawn(effective(path))} == DRAWN
    assert {path for path in ALL_PATHS if is_steady(effective(path))} == set(ALL_PATHS) - DRAWN


@pytest.mark.parametrize(
    ("keys", "is_of_chance", "is_at_any_time"),
    [
        ({"path__link__0__up__loss": '{ kind = "bernoulli", probability = 0.001 }'}, True, False),
        ({"path__link__1__down__loss": '{ kind = "bernoulli", probability = 1e-6 }'}, False, True),
        ({"path__link__1__down__loss": '{ kind = "list", drop = ["data 8"] }'}, False, True),
        ({"path__link__0__down__jitter": '{ uniform = "3 ms" }'}, True, False),
        ({"path__link__0__up__dama": "{}"}, True, False),
        ({"path__link__0__up__wake": '{ after = "10 s", delay = "80 ms" }'}, False, False),
        ({"path__link__0__up__steps": '[{ at = "300 s", delay = "200 ms" }]'}, False, False),
        ({"path__link__0__up__steps": '[{ at = "1 s", loss = 0.02 }]'}, True, False),
        ({"path__link__0__down__outage": '[{ at = "2 s", lasts = "1 s" }]'}, False, False),
        ({"path__link__0__handover": '{ every = "15 s", gap = ["60 ms", "80 ms"] }'}, True, False),
        ({"leg__0__tcp__profile": "bsd44-lite"}, True, False),
    ],
)
def test_what_is_chance_and_what_changes(keys: dict[str, str], is_of_chance: bool, is_at_any_time: bool) -> None:
    found = effective(**keys)
    assert (is_drawn(found), is_steady(found)) == (is_of_chance, is_at_any_time)


def test_seeds_count_from_that_of_the_run() -> None:
    assert [*seeds_of(effective("5g", run__seed="7"), None)] == [7, 8, 9, 10, 11]
    assert [*seeds_of(effective("5g"), 2)] == [1, 2]
    assert [*seeds_of(effective(), None)] == [1]
    assert [*seeds_of(effective("geo"), 3)] == [1, 2, 3], "rare losses are chance too, for who asks"
    for asked in (0, 1_001):
        with pytest.raises(FarwebError, match=f"--seeds: found {asked}"):
            check_seeds(asked)


def page(folder: Path) -> Path:
    """A document and a large picture behind it."""
    big = {"bodySize": 2_000_000, "content": {"size": 2_000_000, "mimeType": "image/png"}}
    picture = entry("https://a.example/x.png", 60, response=big)
    return written(folder, har(entry(timings={"connect": 60, "ssl": 30}), picture, onload=120))


def test_a_page_over_a_path_with_chance_has_five_seeds_and_their_median(folder: Path, farweb: Farweb) -> None:
    file = page(folder)
    one = [front.page(file, path="5g", protocol="h2", proxy="none", seeds=n).cells[0] for n in (1, 5)]
    assert [cell.seeds for cell in one] == [1, 5]
    likely = sorted(one[1].readings_s[::3])
    assert one[1].load_s == likely[2] and one[1].readings_s[3 * (one[1].seed - 1)] == likely[2]
    assert (one[1].low_s, one[1].high_s) == (min(one[1].readings_s), max(one[1].readings_s))
    assert one[1].low_s < one[0].low_s or one[1].high_s > one[0].high_s
    shown = " ".join(farweb("page", file.name, "--path", "5g", "--proxy", "none").out.split())
    assert "three readings of what waited for what, over a path with chance with 5 seeds each;" in shown
    front.page(file, path="5g", protocol="h2", proxy="none", out="results/shop")
    results = front.Results.open("results/shop")
    assert results.manifest["seed"] == one[1].seed
    assert results.requests["end_ns"].to_list()[-1] / 1e9 == pytest.approx(one[1].full_s)


def test_the_seed_of_a_scenario_counts_and_seeds_without_effect_are_refused(folder: Path, farweb: Farweb) -> None:
    file = page(folder).name
    assert farweb("new", "link.toml", "--path", "starlink", "--quiet").code == 0
    text = (folder / "link.toml").read_text()
    loads = []
    for seed in (1, 2, 2):
        (folder / "link.toml").write_text(re.sub(r"(?m)^seed = 1", f"seed = {seed}", text))
        answer = farweb("page", file, "--scenario", "link.toml", "--seeds", "1", "--json").json()
        loads.append(answer["pages"][0]["onload_s"])
    assert loads[0] != loads[1] == loads[2]
    refused = farweb("page", file, "--path", "docsis", "--seeds", "3")
    assert (refused.code, refused.err) == (
        2,
        "farweb: --seeds: nothing is drawn by chance on this path; leave it out\n",
    )


# --- what-if ---


def recorded(folder: Path) -> Recording:
    return page_of(folder, har(entry(timings={"connect": 60, "ssl": 30}), onload=60))


def test_later_visits_of_all_changes_are_at_the_same_time(tmp_path: Path) -> None:
    """At 300 s the way there becomes longer by 100 ms: a later visit takes 300 ms more, and a ticket is worth the same.

    TLS 1.3 and the request are three round trips; 0-RTT saves the one of TLS.
    """
    recording = recorded(tmp_path)
    base = base_of(recording, "docsis", {"path.link.0.up.steps": [{"at": "300 s", "delay": "107.5 ms"}]})
    found = of_page(recording, base, "docsis")
    assert found.first_s is not None and found.later_s is not None
    assert found.later_s - found.first_s == pytest.approx(0.3, abs=1e-3)
    early = {each.name: each for each in found.effects}["0-RTT"]
    assert early.first is not None and early.later is not None
    assert early.first.value == 0
    assert early.later.value == pytest.approx(-0.135, abs=1e-3)


def test_tickets_cost_nothing_over_a_path_with_chance(tmp_path: Path) -> None:
    """Without losses the weather is one of times alone, and 0-RTT saves in each draw of it."""
    recording = recorded(tmp_path)
    lossless = {f"path.link.0.{way}.loss": {"kind": "none"} for way in ("up", "down")}
    found = of_page(recording, base_of(recording, "starlink", lossless), "Starlink")
    early = {each.name: each for each in found.effects}["0-RTT"]
    assert early.later is not None and early.later.high is not None
    assert early.later.high < -0.02
    assert early.word.endswith("better")


def test_the_seed_of_the_run_and_their_number_count(tmp_path: Path) -> None:
    recording = recorded(tmp_path)
    found = {
        (seed, seeds): of_page(recording, base_of(recording, "5g", {"run.seed": seed}), "5G", seeds)
        for seed, seeds in ((1, 2), (1, 3), (9, 2))
    }
    assert len({each.overall_s for each in found.values()}) == 3
    assert "9 readings of the file: 3 graphs in 3 draws of think times and a seed of the path" in found[1, 3].holds


def test_a_change_that_helps_in_four_draws_and_harms_in_one_is_open() -> None:
    """Twelve readings of fifteen would be enough for the exact test."""
    as_is = np.full(15, 2.0)
    for change, word in ((np.repeat([1.0, 1.0, 1.0, 1.0, 1.99], 3), "better"), (np.repeat([1, 1, 1, 1, 2.1], 3), None)):
        found = effect_of((CHANGES[0],), Loads(as_is, as_is), Loads(change, change))
        assert found.word == (word or "cannot be told apart")
        assert found.is_sure == (word is not None)


@pytest.mark.parametrize(
    ("ratios", "is_open"),
    [([0.9, 0.8], False), ([0.9, 1.0], False), ([0.9, 1.02], True), ([0.995, 1.005], False), ([1.1, 1.2], False)],
)
def test_draws_that_disagree_leave_a_change_open(ratios: list[float], is_open: bool) -> None:
    assert are_disputed(np.array(ratios)) == is_open


def test_a_log_takes_seeds_where_they_matter(folder: Path, farweb: Farweb) -> None:
    rows = "".join(f"{10 * n},a.example,400,2000\n" for n in range(3))
    (folder / "log.csv").write_text(f"start_s,host,request_bytes,response_bytes\n{rows}")
    found = farweb("what-if", "log.csv", "--path", "5g", "-o", "r").out
    assert front.SweepResults.open("r").runs["seed"].unique().sort().to_list() == [1, 2, 3, 4, 5]
    assert "One seed" not in found
    refused = farweb("what-if", "log.csv", "--path", "cable", "--seeds", "3")
    assert (refused.code, "--seeds: nothing is drawn by chance" in refused.err) == (2, True)


def test_one_seed_of_a_link_that_hardly_loses_names_the_option_for_more(folder: Path, farweb: Farweb) -> None:
    """Losses of one packet in a million: rarer than what five seeds are drawn for."""
    rows = "".join(f"{n},a.example,400,{2000 + n}\n" for n in range(60))
    (folder / "log.csv").write_text(f"start_s,host,request_bytes,response_bytes\n{rows}")
    assert farweb("new", "link.toml", "--log", "log.csv", "--path", "cable").code == 0
    rare = ("--set", 'path.link.0.down.loss={ kind = "bernoulli", probability = 1e-6 }')
    found = farweb("what-if", "link.toml", *rare, "-o", "r")
    assert found.code == 0, found.err
    said = " ".join(found.out.split())
    assert "One seed of its links: --seeds 5 includes their chance." in said and "sweep.replications" not in said
    assert "99.4 % interval" in found.out or "99.5 % interval" in found.out
