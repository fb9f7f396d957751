"""What another user could have laid where a command looks: it is not imported, not read, not written through."""

import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterable
from pathlib import Path

import pytest

from farweb import FarwebError
from farweb.files.private import exposed, private_folder
from farweb.sweep.cluster import local_cluster, quiet
from samples import Farweb
from sweeps import PATIENCE_S, ended, write_scenario

SHARED, STICKY = 0o777, 0o1777

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
    return subprocess.run(
        [str(FARWEB), *map(str, arguments)],
        cwd=cwd,
        env={**inherited, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE_S,
    )


@pytest.fixture
def shared(folder: Path) -> Path:
    """A folder that all users may write to, each to what is theirs, as /tmp."""
    place = folder / "shared"
    place.mkdir()
    place.chmod(STICKY)
    return place


SWEEPS = (
    ("sweep", "s.toml", "--jobs", 1, "--out", "out", "--quiet"),
    ("sweep", "s.toml", "--plan", "--jobs", 1, "--out", "out", "--quiet"),
    (
        "size",
        "s.toml",
        "--vary",
        "leg.0.tcp.buffer=8192 B,32767 B",
        "--target",
        "p50(latency) < 9 s",
        "--jobs",
        1,
        "--quiet",
    ),
)


@pytest.mark.parametrize(
    "command",
    [SWEEPS[0], *(pytest.param(command, marks=pytest.mark.slow) for command in SWEEPS[1:])],
    ids=["sweep", "plan", "size"],
)
def test_workers_import_nothing_from_where_dask_keeps_its_files_by_itself(
    folder: Path, shared: Path, command: tuple[object, ...]
) -> None:
    write_scenario(folder, requests=50)
    places = [shared / name for name in ("dask-scratch-space", f"dask-scratch-space-{os.getuid()}")]
    said = [plant(place) for place in places]
    answer = run(*command, cwd=folder, TMPDIR=str(shared))
    assert [each.read_text() for each in said if each.exists()] == []
    assert (answer.returncode, answer.stderr) == (0, "")
    assert sorted(shared.iterdir()) == sorted(places), "what was made is gone"


def test_nothing_is_imported_from_the_current_folder(folder: Path) -> None:
    write_scenario(folder, requests=50)
    said = plant(folder, (*MODULES, "multiprocessing"))
    answer = run(*SWEEPS[0], cwd=folder)
    assert (said.exists(), answer.returncode, answer.stderr) == (False, 0, "")
    for module in MODULES:
        (folder / f"{module}.py").unlink()
    (folder / "multiprocessing.py").unlink()
    plant(folder, ("polars", "duckdb", "pyarrow"))  # which are loaded when they are needed
    answer = ended("sql", "out", "select count(*) from runs", "--quiet")  # by `python -m farweb`
    assert (said.exists(), answer.returncode, answer.stderr) == (False, 0, "")


def test_modules_come_from_folders_that_are_nobody_elses(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from distributed import Client

    monkeypatch.setattr("tempfile.tempdir", str(shared))

    def seen() -> tuple[list[str], str | None]:
        return sys.path, os.environ.get("PYTHONSAFEPATH")

    with local_cluster(1) as cluster, Client(cluster, set_as_default=False) as client:
        for path, safe in (client.submit(seen).result(), seen()):
            assert [entry for entry in path if exposed(Path(entry)) is not None] == []
            assert Path(path[0]).is_relative_to(shared), "Dask's own folder is the first"
            assert safe == "1"
    assert "PYTHONSAFEPATH" not in os.environ
    assert list(shared.iterdir()) == []


def test_a_temporary_folder_that_others_may_rename_in_is_refused(folder: Path, shared: Path) -> None:
    write_scenario(folder, requests=50)
    shared.chmod(SHARED)
    answer = run(*SWEEPS[0], cwd=folder, TMPDIR=str(shared))
    assert answer.returncode == 2
    assert answer.stderr == (
        f"farweb: {shared}: other users may replace what is in it; set TMPDIR to a folder of your own, or one with the "
        "sticky bit (chmod +t)\n"
    )
    assert list(shared.iterdir()) == []


def test_a_script_in_a_shared_folder_may_not_sweep(folder: Path, shared: Path) -> None:
    write_scenario(folder, requests=50)
    script = shared / "study.py"
    script.write_text(
        "from farweb import Scenario\nif __name__ == '__main__':\n"
        f"    Scenario.load({str(folder / 's.toml')!r}).sweep({str(folder / 'out')!r}, jobs=1)\n"
    )
    for options, code in (((), 1), (("-P",), 0)):
        answer = subprocess.run([sys.executable, *options, script], capture_output=True, text=True, check=False)
        assert answer.returncode == code, answer.stderr
        refused = f"{shared}: other users may put modules there, and worker processes would import them"
        assert (refused in answer.stderr) == bool(code)


def test_settings_of_dask_that_others_may_lay_are_refused(
    folder: Path, shared: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(shared))
    with pytest.raises(
        FarwebError, match=rf"^{shared}: other users may write there, and Dask takes its settings from "
    ):
        quiet()
    shared.chmod(0o755)
    quiet()
    monkeypatch.setenv("DASK_CONFIG", str(folder / "dask.yaml"))
    (folder / "dask.yaml").touch()
    (folder / "dask.yaml").chmod(0o666)
    with pytest.raises(FarwebError, match=r"dask.yaml: other users may write there"):
        quiet()


def test_a_command_takes_no_settings_from_a_shared_home(folder: Path, shared: Path) -> None:
    """As where HOME is /tmp: Dask would run a module by its settings, and matplotlib ask each font that it finds."""
    write_scenario(folder, requests=50)
    said, opened = folder / "said", shared / ".cache" / "matplotlib"
    dask = shared / ".config" / "dask"
    for each in (dask, opened, shared / ".fonts"):
        each.mkdir(parents=True)
    code = f"open({str(said)!r}, 'a').close()"
    (dask / "evil.yaml").write_text(json.dumps({"distributed": {"worker": {"preload": [code]}}}))
    for each in sorted(shared.rglob("*")):
        each.chmod(SHARED)
    answer = run(*SWEEPS[0], cwd=folder, HOME=str(shared))
    assert (answer.returncode, answer.stderr, said.exists()) == (0, "", False)
    before = sorted(shared.rglob("*"))
    drawn = run("plot", "cdf", "out", "-o", "cdf.png", cwd=folder, HOME=str(shared), MPLCONFIGDIR=str(opened))
    assert drawn.returncode == 0, drawn.stderr
    assert sorted(shared.rglob("*")) == before, "nothing was written there either"


def test_settings_of_matplotlib_in_a_shared_current_folder_are_refused(folder: Path, shared: Path) -> None:
    write_scenario(folder, requests=50)
    assert ended("run", "s.toml", "--out", "run", "--quiet").returncode == 0
    settings = shared / "matplotlibrc"
    settings.touch()
    settings.chmod(0o666)
    shown = run("show", folder / "run", cwd=shared)
    assert shown.returncode == 0, "which draws nothing"
    for verb in (("plot", "cdf", folder / "run", "-o", folder / "cdf.png"), ("report", folder / "run", "-o", "r.html")):
        answer = run(*verb, cwd=shared)
        assert (answer.returncode, answer.stderr.count("\n")) == (2, 1)
        assert "other users may write there, and matplotlib would take its settings from" in answer.stderr
    settings.unlink()
    os.mkfifo(settings)  # matplotlib would wait for ever
    answer = run("plot", "cdf", folder / "run", "-o", folder / "cdf.png", cwd=shared)
    assert (answer.returncode, answer.stderr) == (2, "farweb: matplotlibrc: is a pipe, not a file\n")
    settings.unlink()
    assert run("plot", "cdf", folder / "run", "-o", folder / "cdf.png", cwd=shared).returncode == 0


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


def test_what_is_exposed(tmp_path: Path) -> None:
    home, shared = tmp_path / "home", tmp_path / "shared"
    home.mkdir(mode=0o755)
    shared.mkdir()
    shared.chmod(STICKY)
    own, there = shared / "own", shared / "there"
    own.mkdir()
    there.symlink_to(home)
    assert exposed(shared) == exposed(shared / "absent" / "below") == shared
    for safe in (home, home / "absent", own, own / "absent", there, there / "absent"):
        assert exposed(safe) is None, safe
    home.chmod(0o775)
    assert exposed(home) is None, "whom its owner lets write is no other"
    (home / "file").touch()
    (home / "file").chmod(0o666)
    assert exposed(home / "file") == home / "file"
    home.chmod(SHARED)
    assert exposed(home / "absent") == home
    assert exposed(there) == exposed(there / "absent") == there
    shared.chmod(SHARED)
    assert exposed(own) == shared, "without the sticky bit anybody may put another in its place"


@pytest.mark.skipif(not hasattr(os, "getuid") or os.getuid() != 0, reason="only root can give folders to others")
def test_what_another_user_owns_in_a_shared_folder_is_exposed(shared: Path) -> None:
    place = shared / "place"
    place.mkdir()
    os.chown(place, 65534, 65534)
    assert exposed(place) == exposed(place / "below") == place
    (shared / "link").symlink_to("/usr")
    os.lchown(shared / "link", 65534, 65534)
    assert exposed(shared / "link" / "bin") == shared / "link"


def test_a_private_folder_is_ones_own_and_goes(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(shared))
    with private_folder("farweb-") as folder:
        assert (folder.parent, folder.stat().st_mode & 0o777, folder.stat().st_uid) == (shared, 0o700, os.geteuid())
    assert not folder.exists()
