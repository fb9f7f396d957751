"""What comes to a name while a result for it is made stays, and the result is kept."""

import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from farweb.errors import FarwebError, StorageError
from farweb.files import atomic
from farweb.files.atomic import Place, leftovers, staged_file, staged_folder, taken
from planted import a_file, a_folder, a_link, a_link_to_a_folder, another_process, content


@pytest.fixture(params=["hard links", "no hard links"])
def renames(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two kinds of file system."""
    if request.param == "no hard links":
        monkeypatch.setattr(os, "link", _refusing(errno.EPERM))


def _refusing(number: int) -> Callable[..., None]:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(number, os.strerror(number))

    return refuse


CAME = (a_file, a_folder, a_link, a_link_to_a_folder)


@pytest.mark.usefixtures("renames")
@pytest.mark.parametrize("plant", CAME)
def test_what_came_meanwhile_stays_and_a_folder_gets_a_second_name(folder: Path, plant: Callable[[Path], None]) -> None:
    out = folder / "load-1.5"
    with pytest.raises(StorageError) as raised, staged_folder(out) as stage:
        (stage / "result").touch()
        plant(out)
        before = content(out)
    second = folder / "load-1.5-2"
    assert str(raised.value) == f"{out}: something else came there meanwhile, and stays; the result is in {second}"
    assert content(out) == before
    assert os.listdir(second) == ["result"]
    assert set(os.listdir(folder)) <= {"load-1.5", "load-1.5-2", "elsewhere"}


@pytest.mark.usefixtures("renames")
@pytest.mark.parametrize("plant", CAME)
def test_a_file_gets_a_second_name_likewise(folder: Path, plant: Callable[[Path], None]) -> None:
    Path("table-2.csv").write_text("mine too")
    table = Path("table.csv")
    with (
        pytest.raises(StorageError, match=r"meanwhile, and stays; the result is in table-3\.csv$"),
        staged_file(table) as stage,
    ):
        stage.write_text("result")
        plant(table)
        before = content(table)
    assert content(table) == before
    assert (Path("table-2.csv").read_text(), Path("table-3.csv").read_text()) == ("mine too", "result")


def one_more(out: Path) -> None:
    (out / "more").touch()


def another(out: Path) -> None:
    out.rename("moved")
    out.mkdir()
    (out / "old").touch()


@pytest.mark.usefixtures("renames")
@pytest.mark.parametrize("change", [one_more, another])
def test_only_the_folder_that_was_there_at_the_beginning_is_replaced(
    folder: Path, change: Callable[[Path], None]
) -> None:
    out = Path("out")
    out.mkdir()
    (out / "old").touch()
    os.utime(out, (1, 1))  # a change within the same tick of the clock is not seen
    with pytest.raises(StorageError, match="out: something else came there meanwhile"), staged_folder(out) as stage:
        (stage / "result").touch()
        change(out)
        before = content(out)
    assert content(out) == before
    assert os.listdir("out-2") == ["result"]


@pytest.mark.usefixtures("renames")
def test_only_the_file_that_was_there_at_the_beginning_is_replaced(folder: Path) -> None:
    for change in (lambda: Path("t").write_text("newer"), lambda: Path("other").replace("t")):
        Path("t").write_text("old")
        Path("other").write_text("old")
        with pytest.raises(StorageError, match="t: something else came there"), staged_file(Path("t")) as stage:
            stage.write_text("result")
            change()
            before = Path("t").read_text()
        assert Path("t").read_text() == before
    with staged_file(Path("t")) as stage:
        stage.write_text("result")
    assert Path("t").read_text() == "result"


@pytest.mark.usefixtures("renames")
def test_a_name_that_became_free_is_taken(folder: Path) -> None:
    Path("out").mkdir()
    Path("t").touch()
    with staged_folder(Path("out")) as stage, staged_file(Path("t")) as file:
        (stage / "result").touch()
        file.write_text("result")
        Path("out").rmdir()
        Path("t").unlink()
    assert (os.listdir("out"), Path("t").read_text()) == (["result"], "result")


def test_a_result_that_cannot_have_its_name_for_another_reason_is_kept_too(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when a disk was mounted there."""
    monkeypatch.setattr(atomic, "_replace", _refusing(errno.EBUSY))
    Path("out").mkdir()
    said = r"out: cannot be written: Device or resource busy; the result is in .*out-2$"
    with pytest.raises(StorageError, match=said), staged_folder(Path("out")) as stage:
        (stage / "result").touch()
    assert os.listdir("out-2") == ["result"]


def test_links_are_followed(folder: Path) -> None:
    Path("disk").mkdir()
    Path("disk/out").mkdir()
    Path("disk/t").touch()
    for link, target in (("out", "disk/out"), ("t", "disk/t"), ("new", "disk/deep/new"), ("n", "disk/n")):
        Path(link).symlink_to(target)
        staged = staged_folder if link in ("out", "new") else staged_file
        with staged(Path(link)) as stage:
            stage.mkdir(exist_ok=True) if staged is staged_folder else stage.touch()
            (stage / "result").touch() if stage.is_dir() else stage.write_text("result")
        assert Path(link).readlink() == Path(target)
        assert not Path(target).is_symlink()
    assert os.listdir("disk/out") == os.listdir("disk/deep/new") == ["result"]
    assert Path("disk/t").read_text() == Path("disk/n").read_text() == "result"
    Path("loop").symlink_to("loop")
    for staged in (staged_folder, staged_file):
        with pytest.raises(StorageError, match="loop: "), staged(Path("loop")):
            pytest.fail("there is no such place")


def test_a_folder_and_a_file_do_not_replace_one_another_or_a_device(folder: Path) -> None:
    Path("folder").mkdir()
    Path("file").touch()
    os.mkfifo("pipe")
    with pytest.raises(StorageError, match="folder: is a folder; name a file"), staged_file(Path("folder")):
        pytest.fail("no work begins")
    with pytest.raises(StorageError, match="pipe: is a pipe, not a file; name a file"), staged_file(Path("pipe")):
        pytest.fail("no work begins")
    Path("loop").symlink_to("loop")
    with pytest.raises(StorageError, match="loop: is a loop of links; name a file"), staged_file(Path("loop")):
        pytest.fail("no work begins")
    kinds = {"file": "a file", "pipe": "a pipe, not a file", "loop": "a loop of links"}
    for name, kind in kinds.items():
        with pytest.raises(StorageError, match=f"{name}: is {kind}; name a folder"), staged_folder(Path(name)):
            pytest.fail("no work begins")
    assert sorted(os.listdir()) == ["file", "folder", "loop", "pipe"]


def test_no_folder_replaces_the_current_one_or_a_mounted_one(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in (Path(), folder):
        with pytest.raises(StorageError, match="is the current folder, which cannot be replaced"), staged_folder(name):
            pytest.fail("no work begins")
    Path("disk").mkdir()
    monkeypatch.setattr(Path, "is_mount", lambda path: path.name == "disk")
    with pytest.raises(StorageError, match="disk: is a mount point, which cannot be"), staged_folder(Path("disk")):
        pytest.fail("no work begins")
    assert os.listdir() == ["disk"]


def test_a_name_that_another_process_writes_to_is_refused_at_once(folder: Path) -> None:
    out = folder / "out"
    (folder / "link").symlink_to(out)
    with another_process(out):
        for name in ("out", "link"):
            said = f"^{name}: another farweb command writes to this name \\(by {out.with_name('.out.taken')}\\); "
            with pytest.raises(FarwebError, match=said), staged_folder(Path(name)):
                pytest.fail("no work begins")
        with staged_file(folder / "out-of-another-name"):
            assert leftovers(folder) == [], "a living process is at work"
            (folder / ".out-of-another-name.taken").stat()
            next(folder.glob(".out-of-another-name.*.partial/")).joinpath("out-of-another-name").touch()
    assert os.listdir(out) == ["theirs"]
    assert sorted(os.listdir()) == ["link", "out", "out-of-another-name"]


def test_another_thread_is_refused_and_the_block_that_has_the_name_is_not(folder: Path) -> None:
    refused: list[str] = []

    def write() -> None:
        try:
            with staged_file(Path("t")):
                pass
        except FarwebError as error:
            refused.append(str(error))

    with taken(Path("t")):
        thread = threading.Thread(target=write)
        thread.start()
        thread.join()
        for text in ("one", "two"):
            with staged_file(Path("t")) as stage:
                stage.write_text(text)
    assert len(refused) == 1 and Path("t").read_text() == "two"
    assert os.listdir() == ["t"]


def test_what_came_before_the_name_was_taken_has_to_be_allowed(folder: Path) -> None:
    seen: list[str | None] = []

    def allow(place: Place) -> None:
        seen.append(place.path.read_text() if place.path.exists() else None)
        if seen[-1]:
            raise FarwebError("not that")

    with taken(Path("t"), allow):
        Path("t").write_text("mine")
    with pytest.raises(FarwebError, match="not that"), taken(Path("t"), allow):
        pytest.fail("it is not allowed")
    assert seen == [None, "mine"]
    assert os.listdir() == ["t"]


def test_the_lock_of_another_user_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = folder / ".out.taken"
    lock.touch()
    opens = os.open

    def of_another(path: os.PathLike[str], flags: int, *more: int) -> int:
        if Path(path) == lock:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
        return opens(path, flags, *more)

    monkeypatch.setattr(os, "open", of_another)
    with pytest.raises(FarwebError, match=f"by {lock}"), staged_folder(folder / "out"):
        pytest.fail("no work begins")
    assert leftovers(folder) == [], "who knows"
    lock.unlink()
    with pytest.raises(StorageError, match="out: cannot be written: Permission denied"), staged_folder(folder / "out"):
        pytest.fail("no work begins")
