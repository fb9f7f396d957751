"""How long a plan takes, from runs that were measured."""

import itertools
import math
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from farweb import Scenario
from farweb.results.design import Design, Factor, Level, spread
from farweb.results.store import Store
from farweb.sweep import pilots
from farweb.sweep.estimate import Besides, Measured, estimate
from farweb.sweep.inputs import Inputs
from farweb.sweep.pilots import pilot
from farweb.sweep.plan import Run, plan
from farweb.sweep.schedule import schedule
from farweb.sweep.work import Version, work
from samples import Farweb

LOADS = (1, 2, 4, 8)
CIRCUITS = {"cable": 1.0, "satellite": 3.0, "both": 0.5}


def design() -> Design:
    """A factorial of a factor with numbers and one without."""
    load = Factor("load", "", tuple(Level(str(value), value, value) for value in LOADS))
    circuit = Factor("circuit", "", tuple(Level(name, name, None) for name in CIRCUITS))
    points = tuple(itertools.product(range(len(LOADS)), range(len(CIRCUITS))))
    return Design("full-factorial", 2, "common", (load, circuit), points)


def truth(point: int) -> float:
    load, circuit = divmod(point, len(CIRCUITS))
    return 0.01 * LOADS[load] * math.sqrt(LOADS[load]) * list(CIRCUITS.values())[circuit]


def test_times_that_are_products_are_found_exactly() -> None:
    every_other = [Measured(point, truth(point)) for point in range(0, 12, 2)] + [Measured(1, truth(1))]
    for measured in ([Measured(point, truth(point)) for point in range(12)], every_other):
        fitted = estimate(design(), measured)
        assert fitted.point_s == pytest.approx([truth(point) for point in range(12)], rel=1e-9)
        assert fitted.measured == len(measured)
        assert fitted.factor(range(12)) == pytest.approx(math.exp(0.2)), "equal runs differ by a tenth all the same"


def test_levels_that_were_not_measured_follow_a_power_law() -> None:
    measured = [Measured(point, truth(point)) for point in range(9)]  # load 8 is missing
    assert estimate(design(), measured).point_s[9:] == pytest.approx([truth(point) for point in (9, 10, 11)], rel=1e-9)


def test_few_runs_tell_the_mean_and_how_far_off_it_may_be() -> None:
    fitted = estimate(design(), [Measured(0, 1.0), Measured(11, 4.0)])
    # The mean of logarithms gives 2 s; scaled to the sum of the measured times, 2.5 s.
    assert fitted.point_s == pytest.approx([1.0, *[2.5] * 10, 4.0])
    spread = math.sqrt(2) * math.log(2)
    assert fitted.factor([5]) == pytest.approx(math.exp(2 * math.hypot(0.1, spread)))
    assert fitted.factor([0, 11, 5, 5]) == pytest.approx(math.exp(2 * math.hypot(0.1, spread / 2))), "half is known"
    assert fitted.factor([0, 11]) == pytest.approx(math.exp(0.2))
    assert estimate(design(), [Measured(3, 0.5)]).point_s == pytest.approx([0.5] * 12)


def test_what_was_measured_at_a_point_is_what_it_takes_there() -> None:
    odd = [Measured(point, truth(point)) for point in range(12)] + [Measured(5, 3 * truth(5))]
    assert estimate(design(), odd).point_s[5] == pytest.approx(2 * truth(5))


def test_the_total_is_what_the_machine_needs() -> None:
    fitted = estimate(design(), [Measured(point, truth(point)) for point in range(12)])
    assert fitted.total_s([0, 3, 6], jobs=1) == pytest.approx(truth(0) + truth(3) + truth(6))
    assert fitted.total_s([0, 3, 6], jobs=100) == pytest.approx(truth(6)), "no faster than the longest run"
    # 10 ms and 30 ms at a time: the first worker is free first, and takes the last run.
    assert fitted.total_s([0, 1, 10], jobs=2) == pytest.approx(truth(0) + truth(10))
    assert fitted.total_s([], jobs=2) == 0.0
    assert Besides(1.5, 0.01, 0.5).total_s(runs=300, jobs=2) == pytest.approx(1.5 + 1.5 + 0.5)


def test_places_are_far_apart_from_the_first_few_on() -> None:
    assert spread(100, 3) == [0, 99, 61]
    assert sorted(spread(5, 24)) == [0, 1, 2, 3, 4]
    assert spread(1, 24) == [0]


@pytest.fixture
def swept(cable: Path) -> Path:
    cable.write_text(cable.read_text() + '[sweep]\nreplications = 40\n[sweep.factors]\n"workload.load" = [1, 2, 3]\n')
    return cable


@pytest.mark.usefixtures("warm_workers")
def test_pilots_do_what_the_sweep_will_do(swept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs, scenario = Inputs(), Scenario.load(swept)
    design = scenario.design
    assert design is not None
    measured, besides = pilot(design, plan(scenario, inputs), inputs, jobs=2, most=24)
    assert sorted(each.point for each in measured) == [0, 1, 2]
    assert all(0 < each.wall_s < 2 for each in measured)
    assert min(besides.begin_s, besides.statistics_s, besides.tables_s) > 0
    monkeypatch.setattr("farweb.sweep.pilots._PILOTS_S", 0.0)
    assert pilot(design, plan(scenario, inputs), inputs, jobs=1, most=24)[0] == []


def test_a_pilot_that_kills_its_worker_says_nothing_of_its_point(swept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = pilots._try

    def deadly(store: Store, version: Version, runs: Sequence[Run]) -> Any:
        if runs[0].point == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return whole(store, version, runs)

    monkeypatch.setattr(pilots, "_try", deadly)
    inputs, scenario = Inputs(), Scenario.load(swept)
    design = scenario.design
    assert design is not None
    measured, _ = pilot(design, plan(scenario, inputs), inputs, jobs=1, most=24)
    assert sorted(each.point for each in measured) == [0, 2]


@pytest.mark.usefixtures("warm_workers")
def test_a_plan_is_listed_without_being_run(farweb: Farweb, swept: Path, folder: Path) -> None:
    before = {path.name for path in folder.iterdir()}
    answer = farweb("sweep", swept, "--plan", "--jobs", 2, "--json")
    assert (answer.code, answer.err) == (0, "")
    assert {path.name for path in folder.iterdir()} == before
    result = answer.json()["plan"]
    assert (result["points"], result["replications"], result["missing"], result["jobs"]) == (3, 40, 120, 2)
    assert result["estimate"]["from"] == "pilot runs"
    assert 0 < result["estimate"]["low_s"] < result["estimate"]["expected_s"] < result["estimate"]["high_s"]
    assert len(result["runs"]) == 120
    assert result["runs"][41]["levels"] == {"workload.load": 2}
    assert (result["runs"][41]["seed"], result["runs"][41]["done"]) == (2, False)
    shown = farweb("sweep", swept, "--plan")
    assert shown.out.startswith("120 runs, about ")
    assert [line.split()[:3] for line in shown.out.splitlines()[3:6]] == [[f"{load}", "40", "0"] for load in (1, 2, 3)]
    assert "Judged by 3 pilot runs" in shown.out


def test_finished_runs_tell_more_than_pilots(swept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inputs = Inputs()
    runs = plan(Scenario.load(swept), inputs)
    store = Store("out")
    inputs.write(store)
    store.write_json("manifest.json", {"kind": "farweb sweep"})
    for run in runs[:12]:
        work(store, run, Version.here(), "here")
    planned = schedule(Scenario.load(swept), "out", jobs=1)
    assert not planned.piloted
    assert planned.estimate is not None
    assert planned.estimate.measured == 12
    assert [run.run for run in planned.missing] == [run.run for run in runs[12:]]
    assert planned.answer.startswith("108 of 120 runs are left, about ")
