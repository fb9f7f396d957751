"""farweb from Python: scenarios from dicts, messages without the command line, times in seconds, scripts that sweep."""

import pickle
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from farweb import FarwebError, Results, Scenario, ScenarioError
from sample_results import request
from sample_sweeps import design_of, write_sweep
from samples import SCENARIO, Farweb

SWEPT = '"sweep.replications": 2, "sweep.factors": {"workload.load": [1, 2]}'


def test_a_dict_is_the_scenario_of_its_file(cable: Path) -> None:
    described = Scenario(tomllib.loads(SCENARIO), {"workload.load": 2, "leg.0.carrier": {"kind": "http/1.1"}})
    loaded = Scenario.load(cable, {"workload.load": 2, "leg.0.carrier": '{ kind = "http/1.1" }'})
    assert described.effective == loaded.effective
    assert described.with_({"run.seed": 9}).effective == loaded.with_({"run.seed": 9}).effective
    results = described.run()
    assert results.path == Path("results/scenario")
    assert results.requests.equals(loaded.run().requests)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"leg.0.tcp.bufer": "1 kB"}, r"^leg\.0\.tcp\.bufer: unknown key; .*did you mean buffer\?"),
        ({"path.link.0.up.rate": "fast"}, r'^path\.link\.0\.up\.rate: "fast" does not start with a number'),
        ({"name": "a\nb"}, r"^name: found"),
        ({"run.seed": None}, r"^run\.seed: found None; a scenario has texts, numbers"),
    ],
)
def test_messages_begin_with_the_key(cable: Path, changes: dict[str, Any], message: str) -> None:
    description = tomllib.loads(SCENARIO)
    made: tuple[Callable[[], Scenario], ...] = (
        lambda: Scenario(description, changes),
        lambda: Scenario.load(cable, changes),
        lambda: Scenario.load(cable).with_(changes),
    )
    for make in made:
        with pytest.raises(ScenarioError, match=message) as shown:
            make()
        assert "--set" not in str(shown.value)


def test_an_error_has_its_problems(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(SCENARIO.replace("release", "relese"))
    with pytest.raises(ScenarioError) as shown:
        Scenario.load(tmp_path / "s.toml", {"leg.0.tcp.bufer": "64 kB"})
    written, typed = shown.value.problems
    line = SCENARIO[: SCENARIO.index("release")].count("\n") + 1
    assert (written.file, written.line, written.column) == (str(tmp_path / "s.toml"), line, 1)
    assert (written.key, typed.key, typed.file, typed.line) == ("origin.relese", "leg.0.tcp.bufer", None, None)
    first = f"{written.file}:{line}: {written.key}: {written.message}"
    assert str(shown.value).splitlines()[:2] == [first, f"{typed.key}: {typed.message}"]
    again = pickle.loads(pickle.dumps(shown.value))  # as it goes from a worker
    assert (str(again), again.problems) == (str(shown.value), shown.value.problems)
    assert not ScenarioError("--vary: …").problems


def test_a_dict_with_mistakes_is_told_without_lines_of_a_file() -> None:
    with pytest.raises(ScenarioError, match=r"^format: missing; write for example format = 1\npath: missing"):
        Scenario({})
    with pytest.raises(ScenarioError, match=r"not 'cable\.toml'; Scenario\.load reads a file"):
        Scenario("cable.toml")  # type: ignore[arg-type]


def test_on_the_command_line_a_mistake_is_that_of_an_option(farweb: Farweb, cable: Path) -> None:
    assert farweb("check", cable, "--set", "run.seed=-1").err.startswith("--set run.seed=-1: run.seed: found -1")


def test_requests_have_their_times_in_seconds(farweb: Farweb, cable: Path) -> None:
    farweb("run", cable, "-o", "r", "--set", "run.until=10.3 s")  # the second one is cut off
    requests = Results.open("r").requests.sort("request")
    assert requests["status"].to_list() == ["done", "unfinished"]
    first = requests.row(0, named=True)
    assert first["latency_s"] == pytest.approx((first["end_ns"] - first["start_ns"]) / 1e9, rel=1e-15)
    assert first["first_byte_s"] + first["transfer_s"] == pytest.approx(first["latency_s"], abs=1e-12)
    assert requests["latency_s"].to_list()[1] is None
    assert "latency_s" not in pl.read_parquet("r/requests.parquet").columns
    rows = farweb("sql", "r", "select latency_s from requests order by request", "--json").json()["rows"]
    assert [row["latency_s"] for row in rows] == [pytest.approx(first["latency_s"], rel=1e-15), None]
    tables = {table["name"]: table for table in farweb("schema", "results", "--json").json()["tables"]}
    derived = [each["name"] for each in tables["requests (derived)"]["columns"]]
    assert derived == ["latency_s", "first_byte_s", "transfer_s"]


def test_requests_of_a_sweep_have_them_too(folder: Path) -> None:
    made = write_sweep(folder / "s", design_of({"workload.load": [1, 2]}, 2), requests=lambda *_: [request(0, 1, 9)])
    assert made.scan("requests").select("latency_s").collect()["latency_s"].to_list() == [1.0] * 4
    assert made.sql("select max(latency_s) as most from requests")["most"].to_list() == [1.0]


def test_a_figure_by_name_has_near_names(farweb: Farweb, cable: Path) -> None:
    farweb("run", cable, "-o", "r")
    results = Results.open("r")
    assert results.plot("cdf").description is not None
    with pytest.raises(FarwebError, match="there is no plot 'cfd'; cdf"):
        results.plot("cfd")


def test_a_script_sweeps_with_a_class_of_its_own_and_workers_do_not_import_it(cable: Path) -> None:
    Path("bare.py").write_text(
        "from pathlib import Path\nfrom farweb import Scenario\n"
        "class Own(Scenario):\n    pass\n"
        'Path("imported").open("a").write("x")\n'
        f'Own.load("cable.toml", {{{SWEPT}}}).sweep("s", jobs=1)\n'
    )
    subprocess.run([sys.executable, "bare.py"], check=True, capture_output=True)
    assert Path("imported").read_text() == "x"
