"""The runs of a sweep, and their ids."""

import pickle
from pathlib import Path

import pytest

from farweb import Scenario, ScenarioError, WorkloadError, _core
from farweb.sweep.inputs import Inputs
from farweb.sweep.plan import Run, plan, run_of
from samples import REQUESTS

SWEEP = """
[sweep]
replications = 2
[sweep.factors]
"workload.load" = [1, 2]
"leg.0.tcp.buffer" = ["8192 B", "32767 B", "65535 B"]
"""


def planned(scenario: Path, **changes: str | int) -> list[Run]:
    return plan(Scenario.load(scenario, {key.replace("__", "."): value for key, value in changes.items()}), Inputs())


@pytest.fixture
def swept(cable: Path) -> Path:
    cable.write_text(cable.read_text() + SWEEP)
    return cable


def test_runs_come_by_point_and_replication(swept: Path) -> None:
    runs = planned(swept)
    assert [(run.point, run.replication, run.seed) for run in runs] == [
        (point, replication, 1 + replication) for point in range(6) for replication in range(2)
    ]
    assert [tuple(run.levels.values()) for run in runs[::2]] == [
        (load, buffer) for load in (1, 2) for buffer in ("8192 B", "32767 B", "65535 B")
    ]
    assert list(runs[0].levels) == ["workload.load", "leg.0.tcp.buffer"]
    assert runs[2].scenario.effective["leg"][0]["tcp"]["buffer"] == "32767 B"
    assert len({run.run for run in runs}) == 12
    assert all(len(run.run) == 16 and set(run.run) <= set("0123456789abcdef") for run in runs)


def test_each_seed_may_have_a_table_of_its_own(swept: Path) -> None:
    for seed in (1, 2):
        (swept.parent / f"day-{seed}.csv").write_text(REQUESTS.replace("4000", str(4000 + seed)))
    inputs = Inputs()
    runs = plan(Scenario.load(swept, {"workload.requests": "day-{seed}.csv"}), inputs)
    assert [run.inputs["requests"].file for run in runs[:4]] == ["day-1.csv", "day-2.csv"] * 2
    assert len({run.run for run in runs}) == 12
    assert [table["file"] for table in inputs.described().values()] == ["day-1.csv", "day-2.csv"]
    # A run is known by the content of its own table, not by the others'.
    (swept.parent / "day-2.csv").write_text(REQUESTS)
    again = plan(Scenario.load(swept, {"workload.requests": "day-{seed}.csv"}), Inputs())
    assert [run.run for run in again[::2]] == [run.run for run in runs[::2]]
    assert not {run.run for run in again[1::2]} & {run.run for run in runs}


def test_tables_may_be_in_another_folder(swept: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (swept.parent / "requests.csv").rename(elsewhere / "requests.csv")
    with pytest.raises(WorkloadError, match=r"requests\.csv"):
        planned(swept)
    loaded = Scenario.load(swept, tables=elsewhere)
    for each in (loaded, loaded.with_({"run.seed": 3}).point(1)):
        assert each.inputs()["requests"].path == elsewhere / "requests.csv"
    assert pickle.loads(pickle.dumps(loaded.point(1))).tables == elsewhere
    assert len(plan(loaded, Inputs())) == 12


def test_an_id_is_of_what_determines_the_results(swept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ids = [run.run for run in planned(swept)]
    assert [run.run for run in planned(swept)] == ids
    # A name changes nothing; other seeds and settings do, and records are results too.
    assert [run.run for run in planned(swept, name="another")] == ids
    (swept.parent / "same.csv").write_text(REQUESTS)
    assert [run.run for run in planned(swept, workload__requests="same.csv")] == ids
    assert [run.run for run in planned(swept, run__seed=2)][::2] == ids[1::2], "seed 2 is the second of seed 1"
    for changed in (
        planned(swept, path__link__0__up__delay="61 ms"),
        planned(swept, record__packets="all"),
        planned(swept, run__seed=3),
    ):
        assert not {run.run for run in changed} & set(ids)
    (swept.parent / "requests.csv").write_text(REQUESTS.replace("4000", "4001"))
    assert not {run.run for run in planned(swept)} & set(ids)
    (swept.parent / "requests.csv").write_text(REQUESTS)
    monkeypatch.setattr(_core, "result_version", _core.result_version + 1)
    assert not {run.run for run in planned(swept)} & set(ids)


def test_an_id_is_the_same_in_every_version(cable: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another one, and no sweep of an older version is resumed."""
    monkeypatch.setattr(_core, "result_version", 1)
    monkeypatch.setattr("farweb.sweep.plan.DEFINITION", 1)
    cable.write_text(cable.read_text() + "\n[sweep]\nreplications = 2\n")
    (cable.parent / "hosts.tsv").write_text("host\tmss_bytes\na.example\t1460\n")
    assert [run.run for run in planned(cable)] == ["c9803e14bd47d4c3", "54828dc20eadca43"]
    assert planned(cable, workload__hosts="hosts.tsv")[0].run == "efcdc8e0dd8af99f"


def test_ids_stay_when_levels_and_replications_are_added(swept: Path) -> None:
    ids = {run.run for run in planned(swept)}
    text = swept.read_text()
    swept.write_text(text.replace("replications = 2", "replications = 3").replace("[1, 2]", "[1, 3, 2]"))
    more = planned(swept)
    assert len(more) == 27
    assert ids < {run.run for run in more}


def test_a_single_run_is_called_as_in_a_sweep(swept: Path) -> None:
    first = planned(swept)[3]
    base = Scenario.load(swept).without_sweep().with_({"leg.0.tcp.buffer": "32767 B"})
    run = run_of(base, point=9, replication=4, seed=2, levels={"leg.0.tcp.buffer": 32767}, inputs=Inputs())
    assert (run.run, run.point, run.replication, run.seed) == (first.run, 9, 4, 2)
    assert run.levels == {"leg.0.tcp.buffer": 32767}


def test_what_cannot_be_planned_is_told(cable: Path) -> None:
    with pytest.raises(ScenarioError, match=r"cable.toml: has no table \[sweep\]; farweb run simulates it once"):
        planned(cable)
    cable.write_text(cable.read_text() + SWEEP)
    with pytest.raises(WorkloadError, match=r"none.csv: no such file; name a table of requests"):
        planned(cable, workload__requests="none.csv")
