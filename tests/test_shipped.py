"""Files of a wheel: examples and studies, as far as verbs need them, and the licences of crates linked in."""

import importlib.util
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from farweb.cli import demonstration
from farweb.files import shipped
from farweb.library.scenario import Scenario
from farweb.reproduce.study import PAPERS, find_studies

ROOT = Path(__file__).parents[1]
BINDING = ROOT / "crates" / "farweb-py"


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A package's folder, filled as maturin fills a wheel: by the build script and pyproject.toml."""
    folder = tmp_path_factory.mktemp("wheel")
    script, out = folder / "script", folder / "out"
    subprocess.run(["rustc", "--edition=2024", BINDING / "build.rs", "-o", script], check=True)
    subprocess.run([script], check=True, cwd=BINDING, env={**os.environ, "OUT_DIR": str(out)}, stdout=subprocess.PIPE)
    told = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["maturin"]["include"]
    for include in told:
        for file in out.glob(include["path"]) if include.get("from") == "out-dir" else ():
            if file.is_file():
                place = folder / include["to"] / file.relative_to(out)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(file.read_bytes())
    return folder / "farweb"


def test_a_wheel_has_every_study_whole(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # the package is judged by its own files
    studies = find_studies(package / "papers", [])
    assert [study.name for study in studies] == [study.name for study in find_studies(PAPERS, [])]
    for study in studies:
        assert study.measures and study.figures  # which imports its modules
        assert bool(study.tables) == (study.folder / "workload.py").is_file()
        for sweep in study.sweeps:
            assert sweep.scenario.is_file()


def test_a_wheel_has_every_example_and_no_picture(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "_PACKAGE", package)
    examples = shipped.shipped("examples")
    assert examples == package / "examples"
    assert {file.name for file in examples.iterdir()} == {file.name for file in (ROOT / "examples").iterdir()}
    for name in (*demonstration.SCENARIOS, demonstration.SWEEP):
        Scenario.load(examples / f"{name}.toml")
    files = [file for file in package.rglob("*") if file.is_file()]
    assert {file.suffix for file in files}.isdisjoint({".png", ".pyc"})


def test_a_source_tree_comes_before_the_package() -> None:
    assert shipped.shipped("papers") == ROOT / "papers"


def test_the_licences_of_what_is_linked_in_are_there() -> None:
    spec = importlib.util.spec_from_file_location("notices", BINDING / "notices.py")
    assert spec is not None and spec.loader is not None
    notices = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(notices)
    assert notices.notices() == notices.FILE.read_text("utf-8"), "Cargo.lock has changed: make notices"
