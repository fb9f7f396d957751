"""The folder of a sweep: whole or absent, one sweep at a time, and nothing of others touched."""

import errno
import fcntl
import json
import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from farweb import FarwebError, ResultsError, Scenario, StorageError
from farweb.results.store import Outcome, Store
from farweb.sweep.plan import Run
from farweb.sweep.sweep import Progress
from farweb.sweep.work import Version, work
from sweeps import content

MANIFEST = {"metrics": {"done": 3}, "wall_s": 0.5, "cpu_s": 0.25, "events": 10, "packet_hops": 5}


@pytest.fixture(params=["local", "memory"])
def store(request: pytest.FixtureRequest, folder: Path) -> Store:
    """A store on the disk, and one in an object store."""
    return Store(folder / "sweep" if request.param == "local" else f"memory://{uuid.uuid4()}/sweep")


def write_part(store: Store, run: str, **more: Any) -> None:
    with store.part(run) as stage:
        (stage / "manifest.json").write_text(json.dumps({**MANIFEST, **more}))
        (stage / "requests.parquet").write_bytes(b"rows")


def test_a_part_is_there_when_it_is_whole(store: Store) -> None:
    assert store.finished() == set()
    with pytest.raises(ZeroDivisionError), store.part("b") as stage:
        (stage / "manifest.json").write_text("{}")
        raise ZeroDivisionError
    assert store.finished() == set()
    write_part(store, "a")
    assert store.finished() == {"a"}
    assert store.read("parts/run=a/requests.parquet") == b"rows"
    outcome = store.outcome("a")
    assert (outcome.run, outcome.status, outcome.metrics, outcome.wall_s) == ("a", "done", {"done": 3}, 0.5)
    assert (outcome.events, outcome.packet_hops, outcome.worker) == (10, 5, "")
    assert store.filesystem.exists(store.path("parts/run=a"))
    assert store.size("parts/run=a/requests.parquet") == 4
    store.remove_part("a")
    assert (store.finished(), store.has("parts/run=a")) == (set(), False)


def test_parts_on_the_disk_are_flushed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[Path] = []
    monkeypatch.setattr("farweb.results.store.flush", flushed.extend)
    write_part(store, "a")
    store.flush(["a"])
    names = [] if store.folder is None else ["manifest.json", "requests.parquet"]
    assert sorted(path.name for path in flushed) == names


def test_a_folder_in_the_place_of_a_file_is_named(folder: Path) -> None:
    (folder / "sweep" / "manifest.json").mkdir(parents=True)
    with pytest.raises(FarwebError, match=r"sweep/manifest.json: is a folder where a file was written; remove it"):
        Store("sweep").read("manifest.json")


def test_a_part_that_is_there_first_stays(store: Store) -> None:
    write_part(store, "a")
    if store.folder is not None:
        write_part(store, "a", events=11)
        assert store.outcome("a").events == 10
        assert os.listdir(store.folder / "parts") == ["run=a"]


def test_a_damaged_part_is_named(store: Store) -> None:
    store.write("parts/run=a/manifest.json", b'{"metrics": {}}')
    with pytest.raises(ResultsError, match=r"parts/run=a/manifest.json: is damaged; remove the folder parts/run=a"):
        store.outcome("a")
    with pytest.raises(ResultsError, match="no such file"):
        store.outcome("b")


def test_files_come_and_go(store: Store) -> None:
    assert not store.has("failures/a.json")
    assert store.failed() == set()
    store.write_json("failures/a.json", {"error": "…"})
    assert (store.has("failures/a.json"), store.failed()) == (True, {"a"})
    assert json.loads(store.read("failures/a.json")) == {"error": "…"}
    assert "…".encode() in store.read("failures/a.json")
    store.remove("failures/a.json")
    store.remove("failures/a.json")
    assert store.failed() == set()
    with store.file("runs.parquet") as stage:
        stage.write_bytes(b"rows")
        assert not store.has("runs.parquet")
    assert store.read("runs.parquet") == b"rows"


def test_an_object_store_gets_the_manifest_last(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(f"memory://{uuid.uuid4()}/sweep")
    put: list[str] = []
    made: set[str] = set()
    monkeypatch.setattr(store.filesystem, "makedirs", lambda path, exist_ok: made.add(path))

    def failing(local: str, remote: str) -> None:
        put.append(remote.rpartition("/")[2])
        if len(put) == 3:
            raise PermissionError("Access Denied.\nand more")

    monkeypatch.setattr(store.filesystem, "put_file", failing)
    with (
        pytest.raises(StorageError, match=r"manifest.json: cannot be written: Access Denied$"),
        store.part("a") as stage,
    ):
        for name in ("manifest.json", "requests.parquet", "connections.parquet"):
            (stage / name).touch()
    assert put == ["connections.parquet", "requests.parquet", "manifest.json"]
    assert made == {store.path("parts/run=a")}
    assert store.finished() == set()


def test_what_a_file_system_raises_is_a_line(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def denied(*_: object) -> None:
        raise PermissionError(errno.EACCES, "as the system says it")

    def gone(*_: object) -> None:
        raise FileNotFoundError("bucket\nand more")

    local, there = Store("sweep"), Store(f"memory://{uuid.uuid4()}/sweep")
    monkeypatch.setattr("farweb.results.store.open_within", denied)
    monkeypatch.setattr(Path, "iterdir", denied)
    monkeypatch.setattr(there.filesystem, "pipe_file", gone)
    with pytest.raises(StorageError, match=r"^sweep/a: cannot be read: Permission denied$"):
        local.read("a")
    with pytest.raises(StorageError, match=r"^sweep: cannot be read: Permission denied$"):
        local.manifest()
    with pytest.raises(StorageError, match=r"sweep/a: cannot be written: bucket$"):
        there.write("a", b"")


def test_stores_are_sent_to_workers_as_absolute_places(folder: Path) -> None:
    import pickle

    there = pickle.loads(pickle.dumps(Store("sweep")))
    assert there.folder == folder / "sweep"
    assert Store(f"file://{folder}/sweep").folder == folder / "sweep"
    assert pickle.loads(pickle.dumps(Store("memory://x/sweep"))).path("parts") == "/x/sweep/parts"


def test_urls_that_cannot_be_used_are_told() -> None:
    with pytest.raises(ResultsError, match="nowhere://x: cannot be opened: "):
        Store("nowhere://x")
    if "s3fs" not in sys.modules:
        with pytest.raises(ResultsError, match="s3://bucket/x: cannot be opened: Install s3fs"):
            Store("s3://bucket/x")


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("notes.txt", "mine", "has files that are not of a farweb sweep, such as notes.txt, and is left alone"),
        ("manifest.json", '{"kind": "farweb run"}', "has results that are not those of a sweep"),
        ("manifest.json", "{", "has results that are not those of a sweep"),
    ],
)
def test_what_is_no_sweep_is_left_alone(store: Store, name: str, text: str, message: str) -> None:
    store.write(name, text.encode())
    store.write("zoo.txt", b"")
    with pytest.raises(ResultsError, match=message), store.claimed():
        pytest.fail("it may not be taken")
    assert store.read(name) == text.encode()
    assert not store.has(".lock")


def test_a_file_is_no_folder(folder: Path) -> None:
    (folder / "sweep").write_text("mine")
    with pytest.raises(ResultsError, match="sweep: is a file; name a folder"), Store("sweep").claimed():
        pytest.fail("it may not be taken")


def test_one_sweep_has_the_folder_and_leftovers_go(folder: Path) -> None:
    store = Store("deep/sweep")
    left = [f"deep/sweep/{where}.run=a.0123456789ab.partial" for where in ("", "parts/", "inputs/", "failures/")]
    for name in left:
        Path(name).mkdir(parents=True)
    Path("deep/sweep/parts/run=b").mkdir()
    store.write_json("manifest.json", {"kind": "farweb sweep"})
    with store.claimed():
        assert not any(Path(name).exists() for name in left)
        with pytest.raises(ResultsError, match="deep/sweep: another sweep is at work in this folder"):
            Store("deep/sweep").claimed().__enter__()
        Path(left[1]).mkdir()  # of a worker that is killed meanwhile
    assert sorted(os.listdir("deep/sweep")) == ["failures", "inputs", "manifest.json", "parts"]
    assert os.listdir("deep/sweep/parts") == ["run=b"]
    assert store.manifest() == {"kind": "farweb sweep"}


def test_a_file_system_without_locks_is_taken_and_one_that_fails_is_not(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = [errno.ENOLCK, errno.EIO]

    def failing(*_: object) -> None:
        raise OSError(said[0], os.strerror(said[0]))

    monkeypatch.setattr(fcntl, "flock", failing)
    with Store("sweep").claimed():
        assert Path("sweep/.lock").exists()
    said.pop(0)
    with pytest.raises(StorageError, match="sweep: cannot be written: Input/output error"), Store("sweep").claimed():
        pytest.fail("it may not be taken")


@pytest.mark.parametrize("again", [False, True])
def test_a_lock_that_its_holder_removes_while_it_is_taken_is_none(
    folder: Path, monkeypatch: pytest.MonkeyPatch, again: bool
) -> None:
    """The one before ends between our opening and our locking; another may have begun by then."""
    taken, lock = fcntl.flock, folder / "sweep" / ".lock"
    tries: list[int] = []

    def removed(descriptor: int, how: int) -> None:
        if not tries:
            lock.rename("kept")  # its number is not given out again
            if again:
                lock.touch()
        tries.append(how)
        taken(descriptor, how)

    monkeypatch.setattr(fcntl, "flock", removed)
    with Store("sweep").claimed():
        assert len(tries) == 2
        assert lock.stat().st_mode & 0o111 == 0
    assert not lock.exists()


def test_leftovers_of_a_sweep_are_inside_and_beside(folder: Path) -> None:
    store = Store("sweep")
    left = [Path(f"{where}.{name}.0123456789ab.partial") for where, name in (("", "sweep"), ("sweep/parts/", "run=a"))]
    for path in left:
        path.mkdir(parents=True)
    store.write_json("manifest.json", {"kind": "farweb sweep"})
    assert store.leftovers() == [folder / path for path in left]
    (folder / "sweep" / ".lock").touch()
    assert store.leftovers() == [*(folder / path for path in left), folder / "sweep" / ".lock"]
    with store.claimed():
        assert store.leftovers() == [folder / left[0]]
    assert Store("memory://x/sweep").leftovers() == []


def test_a_killed_sweep_holds_no_lock(folder: Path) -> None:
    code = (
        "import os, signal\nfrom farweb.results.store import Store\n"
        "with Store('sweep').claimed():\n    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    subprocess.run([sys.executable, "-W", "ignore", "-c", code], check=False)
    assert os.listdir("sweep") == [".lock"]
    with Store("sweep").claimed():
        pass
    assert os.listdir("sweep") == []


def test_a_sweep_that_does_not_begin_leaves_nothing(folder: Path) -> None:
    with pytest.raises(ZeroDivisionError), Store("deep/sweep").claimed():
        raise ZeroDivisionError
    assert os.listdir(folder) == []


def test_a_place_that_cannot_be_written_to_is_told() -> None:
    with pytest.raises(StorageError, match="/proc/sweep: cannot be written: "), Store("/proc/sweep").claimed():
        pytest.fail("it cannot be made")


class Here:
    """A pool of this process alone, which sees an object store in its memory."""

    threads, damaged, handed_over = 1, 0, True
    map = staticmethod(map)

    def __init__(self, store: Store, *_: Any, **__: Any) -> None:
        self._store = store

    def __enter__(self) -> "Here":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def outcomes(self, runs: list[Run]) -> Iterator[Outcome]:
        finished = self._store.finished()
        for run in runs:
            yield (
                self._store.outcome(run.run) if run.run in finished else work(self._store, run, Version.here(), "here")
            )


def test_a_sweep_in_an_object_store_is_one_on_the_disk(
    cable: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("farweb.sweep.sweep.Pool", Here)
    cable.write_text(cable.read_text() + '[sweep]\nreplications = 2\n[sweep.factors]\n"workload.load" = [1, 2]\n')
    store = Store(f"memory://{uuid.uuid4()}/sweep")
    scenario = Scenario.load(cable)
    seen: list[Progress] = []
    local = scenario.sweep("sweep", progress=seen.append)
    there = scenario.sweep(store.url)
    assert (seen[0].done, seen[-1].done, seen[-1].total, seen[-1].left_s) == (0, 4, 4, 0.0)
    assert there.complete
    assert there.runs.equals(local.runs)
    assert there.estimates().equals(local.estimates())
    store.filesystem.get(store.path(""), "copy", recursive=True)
    assert content(Path("copy")) == content(Path("sweep"))
    again = scenario.sweep(store.url)
    assert again.runs.equals(local.runs)
    more = scenario.with_({"sweep.replications": 3}).sweep(store.url)
    assert more.runs["replication"].to_list() == [0, 1, 2] * 2
