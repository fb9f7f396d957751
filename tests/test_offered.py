"""The load that a workload offers, against a run, in the answer of `farweb check` and to a search."""

from pathlib import Path

import polars as pl
import pytest

from farweb import Scenario
from farweb.size.find import is_overloaded
from samples import SCENARIO, Farweb


@pytest.mark.parametrize(("profile", "syn"), [("bsd44-lite", 4), ("linux", 8)])
def test_a_run_sends_as_much_but_for_options_of_syns(folder: Path, profile: str, syn: int) -> None:
    """Linux acknowledges a connection's first segments at once, before there is a response to do so."""
    (folder / "requests.csv").write_text("start_s,host,request_bytes,response_bytes\n0,a.example,300,1000\n")
    text = SCENARIO.replace("bsd44-lite", profile) + '\n[record]\nlinks_every = "60 s"\n'
    (folder / "cable.toml").write_text(text)
    scenario = Scenario.load(folder / "cable.toml")
    found = scenario.check().offered
    assert found is not None
    up, down = (load.second_bps for load in found.links)
    assert up is not None and down is not None
    sent = dict(scenario.run().links.group_by("direction").agg(pl.col("bytes").sum()).rows())
    assert sent == {"up": up / 8 + syn, "down": down / 8 + syn}


def test_a_family_is_laid_over_itself_within_its_own_period(folder: Path) -> None:
    text = SCENARIO.replace('requests = "requests.csv"', 'family = "nzix"\ndays = 1\nload = 20')
    (folder / "family.toml").write_text(text)
    found = Scenario.load(folder / "family.toml").check().offered
    assert found is not None and found.span_s == 600


def test_check_shows_the_load_and_json_has_it(farweb: Farweb, cable: Path) -> None:
    answer = farweb("check", cable, "--details")
    assert "Offered load: 3 requests in 20 s, load 1" in answer.out
    assert "more:" not in answer.err
    figures = farweb("check", cable, "--json").json()["check"]
    assert [load["direction"] for load in figures["offered"]["links"]] == ["up", "down"]
    answer = farweb("check", cable, "--set", "path.link.0.down.rate=2 kbit/s")
    assert "warning: path.link.0.down.rate: the workload offers 3.48 kbit/s in the busiest minute (from 0 s on)" in (
        " ".join(answer.out.split())
    )


def test_a_mean_load_above_the_rate_of_a_link_is_an_overload(cable: Path) -> None:
    """25 kB and their headers in a minute are 3.5 kbit/s."""
    rates = ("3 kbit/s", "4 kbit/s")
    assert [is_overloaded(Scenario.load(cable, {"path.link.0.down.rate": rate})) for rate in rates] == [True, False]
