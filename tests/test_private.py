"""What another user could have laid where a command looks: it is not imported, not read, not written through."""

import os
import subprocess
import sys
import uuid
from collections.abc import Iterable
from pathlib import Path

import pytest

from farweb.sweep.cluster import local_cluster
from samples import Farweb
from sweeps import PATIENCE_S, ended, write_scenario

SHARED = 0o777

FARWEB = Path(sys.executable).with_name("farweb")  # the command itself: `python -m` has the current folder on its path

# Modules that Dask or Python try to import, and that are not installed or come later on the path; and any other.
MODULES = (
    "cityhash",
    "xxhash",
    "mmh3",
    "lz4",
    "snappy",
    "uvloop",
    "crick",
    "pynvml",
    "sitecustomize",
    "typing",
    "numpy",
)


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


def test_nothing_is_imported_from_the_current_folder_or_where_dask_keeps_its_files_by_itself(
    folder: Path, shared: Path
) -> None:
    write_scenario(folder, requests=50)
    places = [shared / name for name in ("dask-scratch-space", f"dask-scratch-space-{os.getuid()}")]
    said = [*map(plant, places), plant(folder, (*MODULES, "multiprocessing"))]
    answer = run("sweep", "s.toml", "--jobs", 1, "--out", "out", "--quiet", cwd=folder, TMPDIR=str(shared))
    assert [each.read_text() for each in said if each.exists()] == []
    assert (answer.returncode, answer.stderr) == (0, "")
    assert sorted(shared.iterdir()) == sorted(places), "what was made is gone"
    for module in (*MODULES, "multiprocessing"):
        (folder / f"{module}.py").unlink()
    plant(folder, ("polars", "duckdb", "pyarrow"))  # which are loaded when they are needed
    answer = ended("sql", "out", "select count(*) from runs", "--quiet")  # by `python -m farweb`
    assert (said[-1].exists(), answer.returncode, answer.stderr) == (False, 0, "")


def test_dask_has_a_folder_of_this_user_alone(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import Client

    monkeypatch.setattr("tempfile.tempdir", str(shared))

    def seen() -> tuple[str, str | None]:
        return sys.path[0], os.environ.get("PYTHONSAFEPATH")

    with local_cluster(1) as cluster, Client(cluster, set_as_default=False) as client:
        (own,) = shared.iterdir()
        assert (own.stat().st_mode & 0o777, own.stat().st_uid) == (0o700, os.geteuid())
        for first, safe in (client.submit(seen).result(), seen()):
            assert Path(first).is_relative_to(own)
            assert safe == "1"
    assert "PYTHONSAFEPATH" not in os.environ
    assert list(shared.iterdir()) == []


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
