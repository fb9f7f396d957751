"""`farweb verify`, and what other verbs make of results that are damaged."""

import contextlib
import json
import random
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from farweb.cli import main
from farweb.results.manifest import MANIFEST
from samples import REQUESTS, SCENARIO, Farweb

pytestmark = pytest.mark.usefixtures("warm_workers")

SWEEP = '[sweep]\nreplications = 2\n[sweep.factors]\n"workload.load" = [1, 2]\n'


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, warm: Callable[[], AbstractContextManager[None]]) -> Path:
    """A folder with a run, and a sweep of `cable.toml`, as they were written."""
    folder = tmp_path_factory.mktemp("whole")
    (folder / "requests.csv").write_text(REQUESTS)
    (folder / "cable.toml").write_text(SCENARIO)
    with contextlib.chdir(folder), warm():
        assert main(["run", "cable.toml", "--out", "run", "--quiet", "--set", "record.connections=true"]) == 0
        Path("cable.toml").write_text(SCENARIO + SWEEP)
        assert main(["sweep", "cable.toml", "--out", "sweep", "--jobs", "1", "--quiet"]) == 0
    return folder


@pytest.fixture
def run(folder: Path, whole: Path) -> Path:
    shutil.copytree(whole, folder, dirs_exist_ok=True)
    return Path("run")


@pytest.fixture
def sweep(folder: Path, whole: Path) -> Path:
    shutil.copytree(whole, folder, dirs_exist_ok=True)
    return Path("sweep")


def flip(file: Path, byte: int, bit: int = 0) -> None:
    content = bytearray(file.read_bytes())
    content[byte] ^= 1 << bit
    file.write_bytes(content)


def found(farweb: Farweb, results: Path, *options: str) -> dict[str, str]:
    """What `farweb verify` names, by file."""
    answer = farweb("verify", results, "--json", *options)
    report = answer.json()
    assert answer.code == (0 if report["whole"] else 4)
    return {damage["file"]: damage["what"] for damage in report["damages"]}


def test_results_as_they_were_written(run: Path, sweep: Path, farweb: Farweb) -> None:
    assert found(farweb, run) == found(farweb, run, "--full") == {}
    assert found(farweb, sweep) == found(farweb, sweep, "--full") == {}
    shown = farweb("verify", sweep, "--full")
    assert "complete (5 folders; every byte read)" in shown.out


def test_every_bit_that_is_flipped_is_seen(run: Path, farweb: Farweb) -> None:
    """Flips that a reader stumbles over, and flips that give other numbers without a word."""
    draw = random.Random(1)
    for name in ("requests.parquet", "connections.parquet", MANIFEST):
        file = run / name
        whole = file.read_bytes()
        for _ in range(20):
            flip(file, draw.randrange(len(whole)), draw.randrange(8))
            answer = farweb("verify", run, "--full", "--json")
            # A damaged manifest may turn into one of another kind.
            assert answer.code == 4 or (name == MANIFEST and "not the results folder of" in answer.err)
            file.write_bytes(whole)
    assert found(farweb, run, "--full") == {}


@pytest.mark.parametrize("content", ["{", "", "[]", "{}", '{"kind": "farweb run"}', "rows"])
def test_a_manifest_of_a_run_of_a_sweep_that_is_not_one_is_a_damage(sweep: Path, farweb: Farweb, content: str) -> None:
    manifest = sorted((sweep / "parts").iterdir())[1] / MANIFEST
    changed = {**json.loads(manifest.read_text()), "rows": {"requests": "x"}, "files": {"requests.parquet": 5}}
    manifest.write_text(json.dumps(changed) if content == "rows" else content)
    for options in ((), ("--full",)):
        answer = farweb("verify", sweep, *options)
        assert answer.code == 4
        assert f"  parts/{manifest.parent.name}/{MANIFEST}: " in answer.out
        assert "\nrepair: the same farweb run with" in answer.out
    assert farweb("sweep", "cable.toml", "--out", sweep, "--jobs", 1, "--quiet").code == 0
    assert found(farweb, sweep, "--full") == {}


def test_a_manifest_that_cannot_be_read_is_a_damage_and_without_one_there_are_no_results(
    run: Path, sweep: Path, farweb: Farweb
) -> None:
    for results in (run, sweep):
        (results / MANIFEST).write_bytes((results / MANIFEST).read_bytes()[:-30])
        answer = farweb("verify", results)
        assert answer.code == 4
        assert f"  {MANIFEST}: cannot be read: " in answer.out
        assert "\nrepair: remove the folder, then the same farweb run" in answer.out
        (results / MANIFEST).unlink()
        answer = farweb("verify", results)
        assert (answer.code, answer.out, answer.err.count("\n")) == (2, "", 1)
    assert farweb("verify", "nowhere").code == 2


def test_a_sweep_does_what_is_damaged_again_and_nothing_else(sweep: Path, farweb: Farweb) -> None:
    files = {path: path.read_bytes() for path in sorted(sweep.rglob("*.parquet")) if path.name != "timings.parquet"}
    parts = sorted((sweep / "parts").iterdir())
    flip(parts[0] / "requests.parquet", 200)
    (parts[1] / "requests.parquet").unlink()
    (parts[2] / MANIFEST).write_text("{")
    assert set(found(farweb, sweep, "--full")) == {
        f"parts/{parts[0].name}/requests.parquet",
        f"parts/{parts[1].name}/requests.parquet",
        f"parts/{parts[2].name}/{MANIFEST}",
    }
    untouched = (parts[3] / MANIFEST).stat().st_mtime_ns
    answer = farweb("sweep", "cable.toml", "--out", sweep, "--jobs", 1)
    assert (answer.code, "3 runs were done again" in answer.err) == (0, True)
    assert {path: path.read_bytes() for path in files} == files
    assert (parts[3] / MANIFEST).stat().st_mtime_ns == untouched
    assert found(farweb, sweep, "--full") == {}


def test_a_finished_sweep_whose_table_is_damaged_makes_it_again(sweep: Path, farweb: Farweb) -> None:
    whole = (sweep / "runs.parquet").read_bytes()
    flip(sweep / "runs.parquet", 100)
    assert list(found(farweb, sweep, "--full")) == ["runs.parquet"]
    assert farweb("sweep", "cable.toml", "--out", sweep, "--jobs", 1, "--quiet").code == 0
    assert (sweep / "runs.parquet").read_bytes() == whole


def test_nobody_answers_from_a_part_of_a_sweep(sweep: Path, farweb: Farweb) -> None:
    part = sorted((sweep / "parts").iterdir())[0]
    (part / "requests.parquet").unlink()
    for verb in (("sql", sweep, "select count(*) from requests"), ("plot", "cdf", sweep)):
        answer = farweb(*verb)
        assert answer.code == 2
        assert f"{part.name}/requests.parquet: has gone" in answer.err and answer.err.count("\n") == 1


def test_a_run_whose_manifest_has_gone_is_done_again(sweep: Path, farweb: Farweb) -> None:
    part = sorted((sweep / "parts").iterdir())[1]
    requests = (part / "requests.parquet").read_bytes()
    (part / MANIFEST).unlink()
    flip(part / "requests.parquet", 100)
    assert farweb("sweep", "cable.toml", "--out", sweep, "--jobs", 1, "--quiet").code == 0
    assert (part / "requests.parquet").read_bytes() == requests
    assert found(farweb, sweep, "--full") == {}


def test_a_folder_in_the_place_of_a_manifest_is_refused_in_a_line(sweep: Path, farweb: Farweb) -> None:
    manifest = sorted((sweep / "parts").iterdir())[1] / MANIFEST
    manifest.unlink()
    manifest.mkdir()
    line = f"farweb: {manifest}: is a folder where a file was written; remove it and run the scenario again\n"
    verbs = (("verify", sweep), ("verify", sweep, "--full"), ("sql", sweep, "select count(*) from requests"))
    for verb in (*verbs, ("sweep", "cable.toml", "--out", sweep, "--jobs", 1, "--quiet")):
        answer = farweb(*verb)
        assert (answer.code, answer.out, answer.err) == (2, "", line)
    manifest.rmdir()
    assert farweb("sweep", "cable.toml", "--out", sweep, "--jobs", 1, "--quiet").code == 0
    assert found(farweb, sweep, "--full") == {}


def test_leftovers_of_killed_commands_are_named(sweep: Path, farweb: Farweb) -> None:
    (sweep / "parts" / ".run=0.0123456789ab.partial").mkdir()
    (sweep / ".lock").touch()
    answer = farweb("verify", sweep)
    assert answer.code == 0
    assert "parts/.run=0.0123456789ab.partial" in answer.out
    assert ".lock" in answer.out
