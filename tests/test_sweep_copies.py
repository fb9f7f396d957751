"""Copies of input tables in a sweep's folder: of the content that names them, or refused, or made again."""

import os
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from farweb import Scenario, StorageError, WorkloadError, _core
from farweb.results.integrity import verify
from farweb.results.store import Store, input_name
from farweb.run import simulate_into
from farweb.sweep.inputs import Inputs, stored_hosts
from farweb.sweep.plan import Run, run_of
from farweb.sweep.work import Version, work
from samples import REQUESTS, Farweb
from sweeps import content, parts, write_scenario

pytestmark = pytest.mark.usefixtures("warm_workers")

OTHERS = REQUESTS.replace(",20000,", ",90000,")


def planned(scenario: Path, inputs: Inputs) -> Run:
    return run_of(Scenario.load(scenario), point=0, replication=0, seed=1, levels={}, inputs=inputs)


def copy_of(run: Run, store: str = "sweep") -> Path:
    return Path(store) / input_name(run.inputs["requests"].sha256)


def test_a_table_that_changes_while_it_is_copied_is_not_written(cable: Path, folder: Path) -> None:
    made = _core.Prepared

    def rewritten(*arguments: Any) -> _core.Prepared:
        """Reads while another program writes the table, and puts it back."""
        (folder / "requests.csv").write_text(OTHERS)
        read = made(*arguments)
        (folder / "requests.csv").write_text(REQUESTS)
        return read

    os.utime(folder / "requests.csv", (1, 1))
    inputs = Inputs()
    planned(cable, inputs)
    with (
        pytest.MonkeyPatch.context() as patch,
        pytest.raises(WorkloadError, match=r"requests.csv: was changed while the sweep began"),
    ):
        patch.setattr(_core, "Prepared", rewritten)
        inputs.write(Store("sweep"))
    assert not Path("sweep").exists()


def test_a_table_that_has_changed_since_it_was_planned_is_not_written(cable: Path, folder: Path) -> None:
    inputs = Inputs()
    planned(cable, inputs)
    (folder / "requests.csv").write_text(OTHERS)
    with pytest.raises(WorkloadError, match=r"requests.csv: was changed while the sweep began"):
        inputs.write(Store("sweep"))
    (folder / "requests.csv").unlink()
    with pytest.raises(WorkloadError, match=r"requests.csv: no such file"):
        inputs.write(Store("sweep"))
    assert not Path("sweep").exists()


def flip(place: int) -> Callable[[Path], None]:
    def damage(file: Path) -> None:
        damaged = bytearray(file.read_bytes())
        damaged[place] ^= 1
        file.write_bytes(damaged)

    return damage


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


def empty(file: Path) -> None:
    file.write_bytes(b"")


DAMAGES = {"first byte": flip(0), "a column": flip(-200), "last byte": flip(-1), "cut off": cut, "empty": empty}


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
def test_a_damaged_copy_gives_no_run_and_is_written_again(cable: Path, damage: Callable[[Path], None]) -> None:
    store, inputs = Store("sweep"), Inputs()
    run = planned(cable, inputs)
    inputs.write(store)
    whole = copy_of(run).read_bytes()
    damage(copy_of(run))
    with pytest.raises(StorageError, match=rf"{copy_of(run)}: is not as it was written .*writes it again"):
        work(store, run, Version.here(), "here")
    assert store.finished() == set()
    again = Inputs()
    planned(cable, again)
    again.write(store)
    assert copy_of(run).read_bytes() == whole
    assert work(store, run, Version.here(), "here").status == "done"


def test_a_damaged_object_gives_no_run_and_is_written_again(cable: Path) -> None:
    store, inputs = Store(f"memory://{uuid.uuid4()}/sweep"), Inputs()
    run = planned(cable, inputs)
    inputs.write(store)
    name = input_name(run.inputs["requests"].sha256)
    whole = store.read(name)
    store.write(name, whole[:-1])
    with pytest.raises(StorageError, match="is not as it was written"):
        work(store, run, Version.here(), "here")
    again = Inputs()
    planned(cable, again)
    again.write(store)
    assert store.read(name) == whole


def test_the_copy_of_another_table_is_seen(cable: Path, folder: Path) -> None:
    store, inputs = Store("sweep"), Inputs()
    run = planned(cable, inputs)
    (folder / "others.csv").write_text(OTHERS)
    cable.write_text(cable.read_text().replace("requests.csv", "others.csv"))
    other = planned(cable, inputs)
    inputs.write(store)
    copy_of(other).replace(copy_of(run))
    with pytest.raises(StorageError, match="is not as it was written"):
        work(store, run, Version.here(), "here")


def test_a_copy_that_changes_during_a_run_gives_none(cable: Path) -> None:
    store, inputs = Store("sweep"), Inputs()
    run = planned(cable, inputs)
    inputs.write(store)
    assert work(store, run, Version.here(), "here").status == "done"
    store.remove_part(run.run)

    def disturbed(*arguments: Any, **more: Any) -> Any:
        manifest = simulate_into(*arguments, **more)
        with copy_of(run).open("r+b") as file:
            file.seek(-200, os.SEEK_END)
            file.write(b"12345678")
        return manifest

    with (
        pytest.MonkeyPatch.context() as patch,
        pytest.raises(StorageError, match=r"\.arrow: was changed while a run read it"),
    ):
        patch.setattr("farweb.sweep.work.simulate_into", disturbed)
        work(store, run, Version.here(), "here")
    with pytest.raises(StorageError, match="is not as it was written"):
        work(store, run, Version.here(), "here")
    assert store.finished() == set()


def test_a_damaged_host_table_is_refused_in_one_line(cable: Path, folder: Path, farweb: Farweb) -> None:
    (folder / "hosts.tsv").write_text("host\twindow_bytes\tmss_bytes\na.example\t8760\t1460\nb.example\t8760\t1460\n")
    text = cable.read_text().replace('"requests.csv"', '"requests.csv"\nhosts = "hosts.tsv"')
    cable.write_text(text.replace('buffer = "32767 B"', 'buffer = "host"') + "[sweep]\nreplications = 2\n")
    sweep = Scenario.load(cable).sweep("sweep", jobs=1)
    hosts: str = sweep.manifest["inputs"]["hosts"]["sha256"]
    assert stored_hosts(Path("sweep"), hosts).columns()["host"][1] == ["a.example", "b.example"]
    flip(-100)(Path("sweep") / input_name(hosts))
    answer = farweb("report", "sweep", "-o", "report.html")
    assert (answer.code, answer.err.count("\n")) == (2, 1)
    assert f"sweep/{input_name(hosts)}: is not as it was written" in answer.err


def test_a_sweep_says_which_copy_is_damaged_and_puts_it_right(folder: Path, farweb: Farweb) -> None:
    sweep = ("sweep", write_scenario(folder, requests=100), "--jobs", 1, "--out", "out", "--quiet")
    assert farweb(*sweep).code == 0
    whole = content(folder / "out")
    (copy,) = Path("out/inputs").iterdir()
    name = f"inputs/{copy.name}"
    for damage in (flip(-5000), empty):
        damage(copy)
        found = verify("out", full=True)
        assert [each.file for each in found.damages] == [name]
        assert bool(verify("out").damages) == (damage is empty), "without --full sizes alone"
        again = farweb(*sweep)
        assert (again.code, again.err) == (0, "")
        assert content(folder / "out") == whole
    copy.unlink()
    assert [(each.file, each.what) for each in verify("out").damages] == [(name, "is missing")]
    verified = farweb("verify", "out", "--json")
    assert (verified.code, name in verified.out) == (4, True)
    further = farweb(*sweep, "--set", "sweep.replications=4")
    assert (further.code, further.err) == (0, "")
    assert verify("out", full=True).whole
    assert len(parts(folder / "out")) == 16


def test_a_sweep_that_was_killed_names_its_damaged_copy(cable: Path, farweb: Farweb) -> None:
    cable.write_text(cable.read_text() + "[sweep]\nreplications = 2\n")
    Scenario.load(cable).sweep("sweep", jobs=1)
    manifest = Path("sweep/manifest.json")
    whole = manifest.read_bytes()

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr("farweb.sweep.sweep.finish", killed)
        Scenario.load(cable, {"sweep.replications": 1}).sweep("sweep", jobs=1)
    assert manifest.read_bytes() != whole
    assert verify("sweep", full=True).whole
    (copy,) = Path("sweep/inputs").iterdir()
    flip(-300)(copy)
    assert [each.file for each in verify("sweep", full=True).damages] == [f"inputs/{copy.name}"]
