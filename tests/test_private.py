"""What another user could have laid where a command looks: it is not imported, not read, not written through."""

import os
import subprocess
import sys
import uuid
from collections.abc import Iterable
from pathlib import Path

import pytest

from samples import Farweb
from sweeps import PATIENCE_S, ended, write_scenario

SHARED = 0o777

FARWEB = Path(sys.executable).with_name("farweb")  # the command itself: `python -m` has the current folder on its path

# Modules that Python tries to import, and that are not installed or come later on the path; and any other.
MODULES = ("sitecustomize", "typing", "multiprocessing", "numpy", "viztracer")


def plant(folder: Path, modules: Iterable[str] = MODULES) -> Path:
    """Modules in a folder that all may write to; each says in the file `imported` beside it that it was imported."""
    folder.mkdir(parents=True, exist_ok=True)
    said = folder / "imported"
    for module in modules:
        code = f"import sys\nwith open({str(said)!r}, 'a') as file: file.write({module!r} + chr(10))\nsys.exit(1)\n"
        (folder / f"{module}.py").write_text(code)
    folder.chmod(SHARED)
    return said


def run(*arguments: object, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command `farweb` with other variables."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("POLARS_")}
    command = [str(FARWEB), *map(str, arguments)]
    kept = {"env": {**inherited, **environment}, "capture_output": True, "text": True}
    return subprocess.run(command, cwd=cwd, check=False, timeout=PATIENCE_S, **kept)  # type: ignore[call-overload,no-any-return]


@pytest.fixture
def shared(folder: Path) -> Path:
    """A folder that all users may write to, as a volume of a container."""
    place = folder / "shared"
    place.mkdir()
    place.chmod(SHARED)
    return place


def test_nothing_is_imported_from_the_current_folder(folder: Path, shared: Path) -> None:
    write_scenario(folder, requests=50)
    said = plant(folder)
    answer = run("sweep", "s.toml", "--jobs", 1, "--out", "out", "--quiet", cwd=folder, TMPDIR=str(shared))
    assert not said.exists(), said.read_text()
    assert (answer.returncode, answer.stderr) == (0, "")
    assert list(shared.iterdir()) == [], "what was made is gone"
    for module in MODULES:
        (folder / f"{module}.py").unlink()
    plant(folder, ("polars", "duckdb", "pyarrow"))  # which are loaded when they are needed
    answer = ended("sql", "out", "select count(*) from runs", "--quiet")  # by `python -m farweb`
    assert (said.exists(), answer.returncode, answer.stderr) == (False, 0, "")


def test_queries_spill_to_a_private_folder(folder: Path, farweb: Farweb) -> None:
    write_scenario(folder, requests=50)
    assert farweb("run", "s.toml", "--out", "run", "--quiet").code == 0
    query = "select value from duckdb_settings() where name = 'temp_directory'"
    place = farweb("sql", "run", query, "--csv").out.splitlines()[1]
    assert Path(place).name == "spilled"
    assert not Path(place).parent.exists(), "it goes with the query"


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere Polars has no folder in /var/tmp")
def test_polars_removes_nothing_by_way_of_a_link_of_another(folder: Path) -> None:
    """Polars removes folders that are called like a process that has ended from /var/tmp/polars-USER/spill."""
    write_scenario(folder, requests=50)
    assert ended("run", "s.toml", "--out", "run", "--quiet").returncode == 0
    (folder / "years" / "2000000").mkdir(parents=True)
    user = uuid.uuid4().hex
    link = Path("/var/tmp") / f"polars-{user}" / "spill"
    link.parent.mkdir()
    try:
        link.symlink_to(folder / "years")
        assert run("show", folder / "run", USER=user).returncode == 0
        assert (folder / "years" / "2000000").is_dir()
    finally:
        link.unlink()
        link.parent.rmdir()
