"""A file or folder is complete or absent."""

import errno
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from farweb.errors import RunError
from farweb.files.atomic import is_held, leftovers, staged_file, staged_folder


def test_a_folder_appears_when_it_is_complete(folder: Path) -> None:
    out = folder / "very" / "deep" / "out"
    with staged_folder(out) as stage:
        (stage / "a").write_text("1")
        assert not out.exists()
    assert [path.name for path in out.iterdir()] == ["a"]
    assert os.listdir(folder / "very" / "deep") == ["out"]


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
    with pytest.raises(ZeroDivisionError), staged_folder(folder / "very" / "deep" / "out"):
        raise ZeroDivisionError
    with pytest.raises(ConnectionResetError), staged_file(folder / "file"):
        raise ConnectionResetError(errno.ECONNRESET, "not of the disk")
    assert os.listdir(folder) == []


def test_a_folder_that_its_name_determines_stays(folder: Path) -> None:
    (folder / "out").mkdir()
    (folder / "out" / "first").touch()
    (folder / "file").touch()
    with staged_folder(folder / "out", take=False) as stage:
        (stage / "second").touch()
    assert os.listdir("out") == ["first"]
    with pytest.raises(RunError, match="file: cannot be written"), staged_folder(folder / "file", take=False):
        pass
    assert sorted(os.listdir()) == ["file", "out"]


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


def test_a_folder_that_a_killed_process_set_aside_comes_back(folder: Path) -> None:
    for hidden in (".out.0123456789ab.old", ".out.0123456789ab.partial", ".out.b.0123456789ab.partial"):
        (folder / hidden).mkdir()
    (folder / ".out.0123456789ab.old" / "results").touch()
    with pytest.raises(ZeroDivisionError), staged_folder(folder / "out"):
        raise ZeroDivisionError
    assert os.listdir("out") == ["results"]
    assert sorted(os.listdir()) == [".out.b.0123456789ab.partial", "out"]  # of another result: not ours to remove


def test_what_a_living_process_writes_is_no_leftover(folder: Path) -> None:
    with staged_folder(folder / "out") as stage, staged_folder(folder / "out") as other:
        assert stage.is_dir() and other.is_dir()
        assert leftovers(folder) == []


def test_nothing_is_a_leftover_where_there_are_no_locks(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stage = folder / ".out.0123456789ab.partial"
    stage.mkdir()
    assert leftovers(folder) == [stage]
    monkeypatch.setattr(sys, "platform", "win32")
    assert leftovers(folder) == []


def test_what_is_gone_has_no_leftovers(folder: Path) -> None:
    (folder / "file").touch()
    assert leftovers(folder / "gone") == leftovers(folder / "file") == []
    assert not is_held(folder / "gone")


def test_files_and_the_folder_that_names_them_go_to_the_disk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[str] = []
    fsync = os.fsync

    def watched(descriptor: int) -> None:
        flushed.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)
        fsync(descriptor)

    monkeypatch.setattr(os, "fsync", watched)
    with staged_folder(folder / "out") as stage:
        (stage / "a").touch()
        hidden = stage.name
    assert {"a", hidden, folder.name} == set(flushed) and flushed[-1] == folder.name
    flushed.clear()
    with staged_file(folder / "file") as stage:
        stage.touch()
    assert flushed == ["file", folder.name]


def test_windows_opens_no_folder_and_brings_files_to_the_disk_that_may_be_written_to(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: dict[int, int] = {}
    flushed: list[str] = []
    opens = os.open

    def strict(path: os.PathLike[str], flags: int, *more: int) -> int:
        if Path(path).is_dir():
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), os.fspath(path))
        descriptor = opens(path, flags, *more)
        opened[descriptor] = flags
        return descriptor

    def fsync(descriptor: int) -> None:
        if not opened[descriptor] & os.O_RDWR:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        flushed.append(Path(f"/proc/self/fd/{descriptor}").readlink().name)

    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(os, "open", strict)
    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(shutil, "rmtree", lambda path, ignore_errors: None)  # which opens folders, but not on Windows
    with staged_folder(folder / "out") as stage:
        (stage / "a").touch()
    with staged_file(folder / "file") as stage:
        stage.touch()
    assert flushed == ["a", "file"]
    assert leftovers(folder) == [], "what may be locked is nobody's leftover"


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


def test_what_was_left_of_a_file_goes_unless_nobody_looks(folder: Path) -> None:
    left = folder / ".table.0123456789ab.partial"
    left.mkdir()
    with staged_file(folder / "table", take=False) as stage:
        stage.touch()
    assert left.exists()
    with staged_file(folder / "table") as stage:
        stage.touch()
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
    stage, lock = sorted(os.listdir(folder))
    assert stage.startswith(".out.") and stage.endswith(".partial")
    assert lock == ".out.taken"
    assert leftovers(folder) == [folder / stage, folder / lock]
    with staged_folder(Path("out")):
        pass
    assert os.listdir(folder) == ["out"]
