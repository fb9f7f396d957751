"""How long a plan takes, from runs that were measured."""

import itertools
import math
from pathlib import Path

import pytest

from farweb import Scenario
from farweb.results.design import Design, Factor, Level
from farweb.sweep.estimate import Measured, estimate, pilot
from farweb.sweep.inputs import Inputs
from farweb.sweep.plan import plan
from farweb.sweep.schedule import schedule
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
        assert fitted.factor == pytest.approx(math.exp(0.2)), "equal runs differ by a tenth all the same"


def test_levels_that_were_not_measured_follow_a_power_law() -> None:
    measured = [Measured(point, truth(point)) for point in range(9)]  # load 8 is missing
    assert estimate(design(), measured).point_s[9:] == pytest.approx([truth(point) for point in (9, 10, 11)], rel=1e-9)


def test_few_runs_tell_the_mean_and_how_far_off_it_may_be() -> None:
    fitted = estimate(design(), [Measured(0, 1.0), Measured(11, 4.0)])
    assert fitted.point_s == pytest.approx([2.0] * 12)
    assert fitted.factor == pytest.approx(math.exp(2 * math.sqrt(2) * math.log(2)))
    assert estimate(design(), [Measured(3, 0.5)]).point_s == pytest.approx([0.5] * 12)


def test_the_total_is_what_the_machine_needs() -> None:
    fitted = estimate(design(), [Measured(point, truth(point)) for point in range(12)])
    low, high = fitted.total_s([0, 3, 6], jobs=1)
    assert math.sqrt(low * high) == pytest.approx(truth(0) + truth(3) + truth(6))
    assert high / low == pytest.approx(fitted.factor**2)
    low, high = fitted.total_s([0, 3, 6], jobs=100)
    assert math.sqrt(low * high) == pytest.approx(truth(6)), "no faster than the longest run"
    assert fitted.total_s([], jobs=2) == (0.0, 0.0)


@pytest.fixture
def swept(cable: Path) -> Path:
    cable.write_text(cable.read_text() + '[sweep]\nreplications = 40\n[sweep.factors]\n"workload.load" = [1, 2, 3]\n')
    return cable


def test_pilots_are_one_a_point_and_stop_in_time(swept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = plan(Scenario.load(swept), Inputs())
    measured = pilot(runs)
    assert sorted(each.point for each in measured) == [0, 1, 2]
    assert all(0 < each.wall_s < 2 for each in measured)
    monkeypatch.setattr("farweb.sweep.estimate._PILOTS_S", 0.0)
    assert pilot(runs) == []


def test_a_plan_is_listed_without_being_run(farweb: Farweb, swept: Path, folder: Path) -> None:
    before = {path.name for path in folder.iterdir()}
    answer = farweb("sweep", swept, "--plan", "--jobs", 2, "--json")
    assert (answer.code, answer.err) == (0, "")
    assert {path.name for path in folder.iterdir()} == before
    result = answer.json()["plan"]
    assert (result["points"], result["replications"], result["missing"], result["jobs"]) == (3, 40, 120, 2)
    assert result["estimate"]["from"] == "pilot runs"
    assert 0 < result["estimate"]["low_s"] < result["estimate"]["high_s"]
    assert len(result["runs"]) == 120
    assert result["runs"][41]["levels"] == {"workload.load": 2}
    assert (result["runs"][41]["seed"], result["runs"][41]["done"]) == (2, False)
    shown = farweb("sweep", swept, "--plan")
    assert "… 100 more" in shown.out
    assert shown.out.count("\n") < 30
    assert "120 of 120 runs are to be done: " in shown.out
    assert "judged by 3 pilot runs" in shown.out


def test_finished_runs_tell_more_than_pilots(swept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from farweb.results.store import Store
    from farweb.sweep.work import Version, work

    inputs = Inputs()
    runs = plan(Scenario.load(swept), inputs)
    store = Store("out")
    inputs.write(store)
    store.write_json("manifest.json", {"kind": "farweb sweep"})
    for run in runs[:50]:
        work(store, run, Version.here(), "here")
    planned = schedule(Scenario.load(swept), "out", jobs=1)
    assert not planned.piloted
    assert planned.estimate is not None
    assert planned.estimate.measured == 50
    assert [run.run for run in planned.missing] == [run.run for run in runs[50:]]
    assert "70 of 120 runs are to be done (50 are): " in planned.remark
