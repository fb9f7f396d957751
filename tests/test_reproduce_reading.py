"""Readings of the papers: their changes of scenarios, and the sweeps and claims that have them."""

import pytest

from farweb.errors import FarwebError
from farweb.reproduce import PAPERS, find_studies
from farweb.reproduce.reading import find_reading
from farweb.reproduce.study import Study

NAMES = ["cable", "asymmetric", "satellite"]


def studies(reading: str) -> dict[str, Study]:
    return {study.name: study for study in find_studies(PAPERS, NAMES, reading)}


def test_reading_a_is_the_scenarios_as_they_are_written() -> None:
    assert find_reading(PAPERS, "A").changes(PAPERS / "cable" / "proxy.toml") == {}
    assert all(sweep.reading is None for study in studies("A").values() for sweep in study.sweeps)


def test_reading_b_reaches_every_leg_to_servers_in_every_level() -> None:
    kinds = set()
    for study in studies("B").values():
        assert study.sweeps
        for sweep in study.sweeps:
            loaded = sweep.load(quick=False)
            assert loaded.design is not None
            for number in range(len(loaded.design.points)):
                scenario = loaded.point(number).effective
                assert scenario["origin"] == {"release": "regulated"}
                parameters = scenario["workload"]["parameters"]
                assert (parameters["wait_recorded"], parameters["us_rate"]) == (False, "75 kbit/s")
                *others, last = scenario["leg"]
                assert last["tcp"]["constants"]["syn_ack_opens_cwnd"] is False
                assert all("syn_ack_opens_cwnd" not in leg["tcp"]["constants"] for leg in others)
                assert last["carrier"]["closed_by"] == "client"
                kinds.add(last["carrier"]["kind"])
    assert kinds == {"http/1.0", "http/1.1"}


def test_both_readings_judge_the_same_claims_by_the_same_bounds() -> None:
    a, b = studies("A"), studies("B")
    for name in NAMES:
        assert [(each.id, each.bounds, each.fitted) for each in a[name].claims] == [
            (each.id, each.bounds, each.fitted) for each in b[name].claims
        ]
        assert all(not (each.why or each.range or each.decides) for each in b[name].claims)


def test_all_studies_in_a_reading_are_those_that_have_it() -> None:
    assert [study.name for study in find_studies(PAPERS, [], "B")] == NAMES


@pytest.mark.parametrize(
    ("names", "reading", "message"),
    [
        (["cable"], "b", "there is no reading 'b'; B? readings: A, B"),
        (["mux"], "B", "reading B is not of the study mux"),
    ],
)
def test_a_reading_that_is_not_there_is_named(names: list[str], reading: str, message: str) -> None:
    with pytest.raises(FarwebError) as caught:
        find_studies(PAPERS, names, reading)
    assert str(caught.value) == message
