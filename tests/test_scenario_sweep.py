"""Sweeps of scenarios: designs, points, seeds, and scenarios on their way to other processes."""

import json
import pickle
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from farweb import Scenario, ScenarioError, _core
from farweb.files.columns import results_tables
from farweb.results.design import Level
from farweb.results.metrics import METRICS
from farweb.results.sweep_schema import FACTORS, SWEEP_TABLES
from samples import SCENARIO, Farweb

SWEEP = """
[sweep]
replications = 3
[sweep.factors]
"workload.load" = [1, 2]
"leg.0.tcp.buffer" = ["32767 B", "65535 B"]
[[sweep.factors.circuit]]
level = "cable"
set = { "path.link.0.up.delay" = "60 ms", "path.link.0.down.delay" = "60 ms" }
[[sweep.factors.circuit]]
level = "satellite"
set = { "path.link.0.up.delay" = "250 ms", "path.link.0.down.delay" = "250 ms" }
"""

WHAT_IF = """
[sweep.factors]
change = [{ level = "as it is" }, { level = "TLS", set = { "leg.0.tls.version" = "1.2" } }]
"""

HYPERCUBE = """
[sweep]
design = "latin-hypercube"
samples = 7
random_numbers = "independent"
[sweep.factors]
"path.link.0.down.delay" = { from = "10 ms", to = "600 ms", scale = "log" }
"workload.load" = [1, 2, 4]
"""


@pytest.fixture
def swept(folder: Path) -> Scenario:
    (folder / "swept.toml").write_text(SCENARIO + SWEEP)
    return Scenario.load("swept.toml")


def test_a_design_has_factors_and_points(swept: Scenario) -> None:
    design = swept.design
    assert design is not None
    assert (design.kind, design.replications, design.random_numbers) == ("full-factorial", 3, "common")
    units = {"workload.load": "", "leg.0.tcp.buffer": "B", "circuit": ""}
    assert {factor.name: factor.unit for factor in design.factors} == units
    assert design.points[:3] == ((0, 0, 0), (0, 0, 1), (0, 1, 0))
    levels = [Level("2", 2, 2.0), Level("65535 B", "65535 B", 65535.0), Level("cable", "cable", None)]
    assert design.levels(6) == dict(zip(units, levels, strict=True))
    assert [swept.core.seed(5, replication) for replication in range(3)] == [1, 2, 3]


def test_a_scenario_without_a_sweep_has_no_design(cable: Path) -> None:
    scenario = Scenario.load(cable)
    assert scenario.design is None
    assert scenario.without_sweep() is scenario
    with pytest.raises(IndexError, match="the scenario has no sweep"):
        scenario.point(0)
    with pytest.raises(IndexError, match="the scenario has no sweep"):
        scenario.core.seed(0, 0)


def test_a_point_has_its_levels_and_later_changes_win(swept: Scenario) -> None:
    point = swept.point(5)
    assert point.design is None and "sweep" not in point.effective
    assert point.effective["path"]["link"][0]["up"]["delay"] == "250 ms"
    assert point.effective["workload"]["load"] == 2
    changed = point.with_({"path.link.0.up.delay": "1 ms", "run.seed": 9}).with_({"run.seed": 10})
    assert changed.effective["path"]["link"][0]["up"]["delay"] == "1 ms"
    assert changed.effective["path"]["link"][0]["down"]["delay"] == "250 ms"
    assert changed.effective["run"]["seed"] == 10
    assert changed.overrides == {"path.link.0.up.delay": "1 ms", "run.seed": "10"}
    with pytest.raises(IndexError, match="there is no point 8; the sweep has 8, from 0"):
        swept.point(8)
    with pytest.raises(ScenarioError, match=r"^run\.seed: found -1"):
        changed.with_({"run.seed": -1})


def test_overrides_reach_the_levels_of_points(swept: Scenario) -> None:
    more = swept.with_({'sweep.factors."workload.load"': [1, 2, 3], "run.until": "9 s"})
    assert more.design is not None and len(more.design.points) == 12
    assert more.point(11).effective["workload"]["load"] == 3
    assert more.point(11).effective["run"]["until"] == "9 s"


def test_a_run_leaves_the_sweep_out_of_account(swept: Scenario, farweb: Farweb) -> None:
    checked = farweb("check", "swept.toml", "--details")
    shown = " ".join(checked.out.split())
    assert "sweep: full-factorial, 8 points × 3 seeds, the same at each point: 24 runs" in shown
    assert "circuit cable, satellite" in shown
    bare = swept.without_sweep()
    assert bare.design is None
    assert bare.effective == {key: value for key, value in swept.effective.items() if key != "sweep"}


@pytest.mark.parametrize("make", ["whole", "point", "changed", "bare"])
def test_a_scenario_arrives_in_another_process_as_it_is(swept: Scenario, make: str) -> None:
    scenario = swept.with_({"run.until": "7 s"})
    if make == "point":
        scenario = scenario.point(3)
    elif make == "changed":
        scenario = scenario.point(3).with_({"path.link.0.up.delay": "1 ms"})
    elif make == "bare":
        scenario = scenario.without_sweep()
    assert pickle.loads(pickle.dumps(scenario)) == scenario
    program = "import json, pickle, sys; print(json.dumps(pickle.load(sys.stdin.buffer).effective))"
    there = subprocess.run(
        [sys.executable, "-c", program], input=pickle.dumps(scenario), capture_output=True, check=True
    )
    assert json.loads(there.stdout) == scenario.effective


def test_a_latin_hypercube_is_the_same_wherever_it_is_drawn(folder: Path) -> None:
    (folder / "cube.toml").write_text(SCENARIO + HYPERCUBE)
    scenario = Scenario.load("cube.toml")
    design = scenario.design
    assert design is not None and len(design.points) == 7
    delay = design.factors[0]
    drawn = ["12.69 ms", "29.17 ms", "37.81 ms", "84.42 ms", "121.6 ms", "300 ms", "457 ms"]
    assert (delay.unit, [level.label for level in delay.levels]) == ("s", drawn)
    assert sorted(point[0] for point in design.points) == list(range(7))
    seeds = {scenario.core.seed(point, replication) for point in range(7) for replication in range(2)}
    assert len(seeds) == 14 and all(0 <= seed < 2**53 for seed in seeds)


def test_the_published_schema_knows_every_kind_of_factor() -> None:
    validator = Draft202012Validator(json.loads(_core.scenario_schema()))
    for sweep in (SWEEP, HYPERCUBE, WHAT_IF):
        assert list(validator.iter_errors(tomllib.loads(SCENARIO + sweep))) == []
    effective = json.loads(_core.Scenario.parse(SCENARIO + HYPERCUBE, "cube.toml", {}).effective())
    assert list(validator.iter_errors(effective)) == []
    assert list(effective["sweep"]["factors"]) == ["path.link.0.down.delay", "workload.load"]
    for wrong in ('factors = { "workload.load" = [] }', 'design = "full"', 'factors = { "workload.load" = 3 }'):
        assert list(validator.iter_errors(tomllib.loads(f"{SCENARIO}[sweep]\n{wrong}")))


def test_no_factor_is_called_like_a_column_beside_it(folder: Path) -> None:
    beside = {"link_0", "Utilisation", "link_0_down_bps", "leg_0_open_mean", "leg_12_busy_max", *METRICS}
    for table in SWEEP_TABLES.values():
        columns = {column["name"] for column in table["columns"]}
        if FACTORS in columns:
            beside |= columns - {FACTORS}
    beside |= {column["name"] for table in results_tables().values() for column in table["columns"]}
    for name in beside:
        factor = f'{name} = [{{ level = "a", set = {{ "workload.load" = 3 }} }}]'
        file = folder / "taken.toml"
        file.write_text(f"{SCENARIO}[sweep.factors]\n{factor}\n")
        line = SCENARIO.count("\n") + 2
        with pytest.raises(
            ScenarioError, match=f"taken.toml:{line}: sweep.factors.{name}: results have a column of this name"
        ):
            Scenario.load(file)


def test_a_sweep_that_makes_no_sense_is_told_with_its_line(folder: Path, farweb: Farweb) -> None:
    (folder / "wrong.toml").write_text(SCENARIO + SWEEP.replace('"65535 B"', '"65535"'))
    answer = farweb("check", "wrong.toml")
    line = SCENARIO.count("\n") + 6
    assert answer.code == 2
    assert f'wrong.toml:{line}: sweep.factors."leg.0.tcp.buffer": leg.0.tcp.buffer: "65535" has no unit' in answer.err


def test_the_manifest_tells_the_measured_interval_and_the_result_version(cable: Path) -> None:
    manifest = Scenario.load(cable, {"run.warmup": "5 s"}).run(out="measured").manifest
    assert manifest["result_version"] == _core.result_version
    measured = manifest["measured"]
    # From the end of the warm-up to the start of the last request.
    assert (measured["from_ns"], measured["to_ns"]) == (5_000_000_000, 20_000_000_000)
    links = [(link["link"], link["direction"], link["interval_ns"]) for link in measured["links"]]
    assert links == [(0, way, 15_000_000_000) for way in ("up", "down")]
    whole = Scenario.load(cable, {"run.measure": "whole"}).run(out="whole").manifest
    assert (whole["measured"]["from_ns"], whole["measured"]["to_ns"]) == (0, whole["now_ns"])
    assert whole["measured"]["links"] == whole["links"]
