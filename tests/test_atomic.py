"""A file or folder is complete or absent."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from farweb.errors import RunError
from farweb.files.atomic import staged_file, staged_folder


def test_a_folder_appears_when_it_is_complete(folder: Path) -> None:
    out = folder / "deep" / "out"
    with staged_folder(out) as stage:
        (stage / "a").write_text("1")
        assert not out.exists()
    assert [path.name for path in out.iterdir()] == ["a"]
    assert os.listdir(folder / "deep") == ["out"]


def test_a_folder_takes_the_place_of_an_older_one(folder: Path) -> None:
    out = folder / "out"
    for name in ("old", "new"):
        with staged_folder(out) as stage:
            (stage / name).touch()
    assert os.listdir(out) == ["new"]
    assert os.listdir(folder) == ["out"]


def test_permissions_are_those_that_mkdir_gives(folder: Path) -> None:
    (folder / "plain").mkdir()
    with staged_folder(folder / "out"):
        pass
    assert (folder / "out").stat().st_mode == (folder / "plain").stat().st_mode


@pytest.mark.parametrize("older", [False, True])
def test_a_full_disk_leaves_what_was_there(folder: Path, older: bool) -> None:
    out = folder / "out"
    if older:
        out.mkdir()
        (out / "old").touch()
    with pytest.raises(RunError, match=r"out: cannot be written: No space left on device"), staged_folder(out) as stage:
        (stage / "half").touch()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert os.listdir(folder) == (["out"] if older else [])
    assert not older or os.listdir(out) == ["old"]


def test_an_error_of_another_kind_passes(folder: Path) -> None:
    with pytest.raises(ZeroDivisionError), staged_folder(folder / "out"):
        raise ZeroDivisionError
    with pytest.raises(ConnectionResetError), staged_file(folder / "file"):
        raise ConnectionResetError(errno.ECONNRESET, "not of the disk")
    assert os.listdir(folder) == []


def test_a_rename_that_fails_puts_the_older_folder_back(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = folder / "out"
    out.mkdir()
    (out / "old").touch()
    rename = Path.rename

    def failing(self: Path, target: Path) -> Path:
        if self.suffix == ".partial":
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return rename(self, target)

    monkeypatch.setattr(Path, "rename", failing)
    with pytest.raises(RunError), staged_folder(out) as stage:
        (stage / "new").touch()
    assert os.listdir(out) == ["old"]


def test_a_file_replaces_an_older_one_only_when_complete(folder: Path) -> None:
    out = folder / "table"
    out.write_text("old")
    with pytest.raises(RunError), staged_file(out) as stage:
        stage.write_text("half")
        raise OSError(errno.EDQUOT, os.strerror(errno.EDQUOT))
    assert out.read_text() == "old"
    with staged_file(out) as stage:
        stage.with_name("scratch").write_text("beside it")
        stage.write_text("new")
    assert out.read_text() == "new"
    assert os.listdir(folder) == ["table"]


def test_a_killed_process_leaves_nothing_that_looks_whole(folder: Path) -> None:
    code = (
        "import os, signal, pathlib\n"
        "from farweb.files.atomic import staged_folder\n"
        "with staged_folder(pathlib.Path('out')) as stage:\n"
        "    (stage / 'manifest.json').write_text('{}')\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    died = subprocess.run([sys.executable, "-c", code], check=False)
    assert died.returncode == -signal.SIGKILL
    left = os.listdir(folder)
    assert len(left) == 1
    assert left[0].startswith(".out.")
    assert left[0].endswith(".partial")
