"""Files of a scenario: opened once, for all that is made of them."""

import ctypes
import os
import struct
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from farweb import Results, Scenario, WorkloadError, _core, open_results
from farweb.check.check import explained
from farweb.files.sorting import sort_parquet
from farweb.inputs.prepared import Prepared
from farweb.run import simulate
from samples import REQUESTS, Farweb

OTHERS = REQUESTS.replace(",20000,", ",90000,")
ALL_EVENTS, OPENED = 0xFFF, 0x20  # of inotify(7)


@pytest.fixture(params=["requests.parquet", "requests.csv"])
def table(request: pytest.FixtureRequest, cable: Path) -> Path:
    """The request table of the scenario."""
    path = cable.parent / str(request.param)
    write(path, REQUESTS)
    cable.write_text(cable.read_text().replace("requests.csv", path.name))
    return path


def write(path: Path, rows: str) -> None:
    if path.suffix == ".csv":
        path.write_text(rows)
    else:
        pl.read_csv(rows.encode()).write_parquet(path)


@pytest.fixture
def openings(table: Path) -> Iterator[Callable[[], int]]:
    """Times that anyone has opened the table, as the kernel sees it."""
    if sys.platform != "linux":
        pytest.skip("inotify is Linux's")
    libc = ctypes.CDLL(None)
    watch = libc.inotify_init1(os.O_NONBLOCK)
    assert libc.inotify_add_watch(watch, os.fsencode(table), ALL_EVENTS) >= 0

    def count() -> int:
        content, place, found = os.read(watch, 1 << 16), 0, 0
        while place < len(content):
            _, mask, _, length = struct.unpack_from("iIII", content, place)
            found += mask == OPENED
            place += 16 + length
        return found

    yield count
    os.close(watch)


@pytest.mark.parametrize("kept", [0, 100])
def test_a_run_opens_a_table_for_its_digest_and_for_its_rows(
    farweb: Farweb, cable: Path, openings: Callable[[], int], monkeypatch: pytest.MonkeyPatch, kept: int
) -> None:
    monkeypatch.setattr(_core, "rows_kept", kept)  # of Parquet; the core has a limit of its own for text
    assert farweb("run", cable, "--quiet").code == 0
    assert openings() == 2


def test_kept_rows_are_run_whatever_becomes_of_the_file(cable: Path, table: Path) -> None:
    scenario = Scenario.load(cable)
    before = scenario.run(out="before")
    with Prepared.of(scenario) as prepared:
        write(table, OTHERS)
        assert explained(scenario, prepared).figures["extents"][0]["requests"] == 3
        simulate(prepared, Path("after"))
    after = open_results("after")
    assert isinstance(after, Results)
    assert after.requests.equals(before.requests)
    assert after.manifest["inputs"] == before.manifest["inputs"], "the digest is that of the rows"


@pytest.mark.parametrize("when", ["before the run", "during it"])
def test_a_long_table_that_changes_is_refused(
    cable: Path, table: Path, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    monkeypatch.setattr(_core, "rows_kept", 2)
    with Prepared.of(Scenario.load(cable)) as prepared:
        if when == "before the run":
            write(table, OTHERS)
        said = rf"{table.name}: was changed after it was read; begin again when it stays as it is"
        with pytest.raises(WorkloadError, match=said):
            simulate(prepared, Path("out"), lambda _: write(table, OTHERS))
    assert not Path("out").exists()


def test_a_file_that_changes_while_it_is_opened_is_refused(
    cable: Path, table: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def rewritten(rows: Any, *others: Any) -> _core.Prepared:
        write(table, OTHERS)
        return made(rows, *others)

    made = _core.Prepared
    monkeypatch.setattr(_core, "Prepared", rewritten)
    with pytest.raises(WorkloadError, match="was changed after it was read"), Prepared.of(Scenario.load(cable)):
        pass


def test_a_table_in_another_order_is_sorted_once(farweb: Farweb, cable: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head, *rows = REQUESTS.splitlines()
    write(cable.parent / "requests.parquet", "\n".join([head, *reversed(rows)]) + "\n")
    cable.write_text(cable.read_text().replace("requests.csv", "requests.parquet"))
    sorted_files = []

    def counted(source: Path, *others: Any, **more: Any) -> None:
        sorted_files.append(source.name)
        sort_parquet(source, *others, **more)

    monkeypatch.setattr("farweb.inputs.tables.sort_parquet", counted)
    assert farweb("run", cable, "--quiet").code == 0
    assert sorted_files == ["requests.parquet"]


def test_a_family_is_generated_once(farweb: Farweb, cable: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cable.write_text(
        cable.read_text().replace('requests = "requests.csv"', 'family = "prowgen"\nparameters = { requests = 50 }')
    )
    seeds = []

    def counted(scenario: _core.Scenario, seed: int) -> _core.Prepared:
        seeds.append(seed)
        return made.of_family(scenario, seed)

    made = _core.Prepared
    monkeypatch.setattr(_core, "Prepared", SimpleNamespace(of_family=counted))
    assert farweb("run", cable, "--seed", 7, "--quiet").code == 0
    assert seeds == [7]


def test_a_table_may_lack_for_a_check_alone(cable: Path, table: Path) -> None:
    table.unlink()
    (warning,) = Scenario.load(cable).check().warnings
    assert warning == f"workload.requests: {table} does not exist yet; a run needs it"
    with pytest.raises(WorkloadError, match=rf"{table.name}: no such file; name a request table"):
        Scenario.load(cable).run(out="out")
