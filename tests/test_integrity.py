"""Damages found in results made by hand, file by file."""

import hashlib
import io
import json
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from farweb import ResultsError
from farweb._core import version
from farweb.results.integrity import Damage, Verification, damages, describe, explain, seal, unsealed, verify
from farweb.results.manifest import MANIFEST
from farweb.results.store import Store, part_name
from sample_results import interval, request, write_results
from sample_sweeps import design_of, write_sweep

BY_DIGEST = "is not as it was written (by its SHA-256 digest)"


def change(file: Path, **values: object) -> None:
    file.write_text(json.dumps({**json.loads(file.read_text()), **values}))


def sealed(folder: Path) -> Path:
    """The folder with sizes and digests in its manifest."""
    manifest = json.loads((folder / MANIFEST).read_text())
    tables = {}
    for table in folder.glob("*.parquet"):
        with table.open("rb") as file:
            tables[table.name] = describe(file)
    (folder / MANIFEST).write_text(json.dumps(seal(manifest, tables)))
    return folder


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return sealed(write_results(tmp_path / "run", [request(0, 1, 1000)], links=[interval(0, "down", 1)]).path)


@pytest.fixture
def sweep(tmp_path: Path) -> Path:
    """Four planned runs: three have ended, one of them with a failure."""
    failed = {(0, 1): "disk full"}
    written = write_sweep(tmp_path / "sweep", design_of({"workload.load": [1, 2]}, 2), failed=failed, missing=[(1, 1)])
    ended = sorted([*written.store.finished(), *written.store.failed()])
    pl.DataFrame({"run": [*ended, "0" * 16]}).write_parquet(written.path / "plan.parquet")
    return written.path


def found(folder: Path, *, full: bool = True) -> dict[str, str]:
    return {damage.file: damage.what for damage in verify(folder, full=full).damages}


def cut(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-1])


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[100] ^= 1
    file.write_bytes(content)


def test_a_file_is_described_by_size_and_digest() -> None:
    content = bytes(range(251)) * 10_000
    assert describe(io.BytesIO(content)) == {"bytes": 2_510_000, "sha256": hashlib.sha256(content).hexdigest()}
    assert unsealed(seal({"name": "a"}, {})) == {"name": "a"}


@pytest.mark.parametrize(
    ("damage", "by_a_look", "by_every_byte"),
    [
        (lambda file: None, None, None),
        (cut, "has {less:,} B, and {size:,} B were written", "has {less:,} B, and {size:,} B were written"),
        (Path.unlink, "is missing", "is missing"),
        (flip, None, BY_DIGEST),
    ],
)
def test_a_table_is_compared_with_the_manifest(
    run: Path, damage: Callable[[Path], None], by_a_look: str | None, by_every_byte: str | None
) -> None:
    size = (run / "links.parquet").stat().st_size
    damage(run / "links.parquet")
    for full, what in ((False, by_a_look), (True, by_every_byte)):
        assert found(run, full=full) == ({"links.parquet": what.format(less=size - 1, size=size)} if what else {})
        checked = verify(run, full=full)
        assert (checked.whole, checked.folders, checked.unfinished) == (what is None, 1, 0)
    assert not verify(run).full


def test_a_manifest_is_compared_with_itself(run: Path) -> None:
    manifest = json.loads((run / MANIFEST).read_text())
    (run / MANIFEST).write_text(json.dumps(dict(reversed(manifest.items()))))
    assert found(run) == {}, "the order of keys means nothing"
    change(run / MANIFEST, name="another")
    (run / "links.parquet").unlink()
    assert found(run) == found(run, full=False) == {MANIFEST: BY_DIGEST}  # and nothing that it says counts


def test_rows_are_compared_where_there_are_no_digests(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change(run / MANIFEST, files={"links.parquet": {}}, rows={"requests": 2})
    manifest = json.loads((run / MANIFEST).read_text())
    (run / MANIFEST).write_text(json.dumps(unsealed(manifest)))
    assert found(run) == found(run, full=False) == {"requests.parquet": "has 1 rows, and 2 were written"}
    change(run / MANIFEST, rows={"requests": 1})
    assert found(run) == {}

    def failing(_: object) -> None:
        raise pa.ArrowInvalid("no footer\nand more")

    monkeypatch.setattr(pq, "read_metadata", failing)
    assert found(run) == {"requests.parquet": "cannot be read: no footer"}


@pytest.mark.parametrize(
    ("content", "what"),
    [
        ("{", "cannot be read: Expecting property name"),
        ("[]", "is not that of a run"),
        ('{"rows": 5}', "is not that of a run"),
    ],
)
def test_a_manifest_that_is_none_is_named(sweep: Path, content: str, what: str) -> None:
    part = part_name(next(iter(Store(sweep).finished())))
    (sweep / part / MANIFEST).write_text(content)
    assert [damage.file for damage in damages(Store(sweep), part, full=False)] == [f"{part}/{MANIFEST}"]
    assert found(sweep)[f"{part}/{MANIFEST}"].startswith(what)


def test_of_a_folder_whose_own_manifest_is_damaged_nothing_else_is_looked_at(sweep: Path) -> None:
    cut(sweep / MANIFEST)
    checked = verify(sweep)
    (damage,) = checked.damages
    assert (checked.folders, checked.unfinished, damage.file) == (1, 0, MANIFEST)
    assert damage.what.startswith("cannot be read: Expecting")


def test_a_sweep_is_looked_at_part_by_part(sweep: Path) -> None:
    seen: list[tuple[int, int | None, str]] = []
    checked = verify(sweep, progress=lambda *now: seen.append(now))
    assert (checked.folders, checked.unfinished, checked.damages) == (3, 1, ())
    assert seen == [(1, 2, "1 of 2 runs"), (2, 2, "2 of 2 runs")]
    change(sweep / MANIFEST, complete=True)
    checked = verify(sweep)
    assert (checked.folders, checked.unfinished) == (3, 0)
    assert checked.damages == (Damage(part_name("0" * 16), "is missing"),)
    part = part_name(next(iter(Store(sweep).finished())))
    (sweep / part / "requests.parquet").unlink()
    assert found(sweep)[f"{part}/requests.parquet"] == "is missing"


def test_what_is_found_is_said_in_lines() -> None:
    whole = Verification("r", True, 1, 0, (), ())
    assert whole.text == "r: complete (every byte read)"
    assert whole.to_dict()["whole"] is True
    damaged = Verification("s", False, 2, 1234, (Damage("links.parquet", "is missing"),), (".lock", ".a"))
    assert damaged.text.splitlines() == [
        "s: 1 file is damaged or missing (--full reads every byte)",
        "  links.parquet: is missing",
        "1,234 planned runs have not ended; farweb sweep continues with them.",
        "Left by commands that were killed, and safe to remove: .lock, .a",
        "repair: the same farweb run with -o s --force, or the same farweb sweep",
    ]


def test_an_error_is_explained_by_the_damage_behind_it(run: Path, tmp_path: Path) -> None:
    whole = write_results(tmp_path / "whole", [request(0, 1, 1000)]).path
    flip(run / "links.parquet")
    said = f"{run / 'links.parquet'}: {BY_DIGEST}: run the scenario again"
    assert explain(ZeroDivisionError(), [tmp_path / "gone", whole, run]) == said


@pytest.mark.parametrize(
    ("error", "of", "said"),
    [
        (pl.exceptions.ColumnNotFoundError('unable to find column "end_ns"'), version, "has no column end_ns: farweb"),
        (ResultsError('unable to find column "end_ns"'), "0.0.1", None),
        (pl.exceptions.ComputeError("of another kind"), "0.0.1", None),
        (KeyError("rows"), "0.0.1", "farweb 0.0.1 wrote it otherwise (KeyError: 'rows'); run the scenario again"),
        (ValueError("first\nsecond"), "0.0.1", "farweb 0.0.1 wrote it otherwise (ValueError: first); run"),
        (KeyError("rows"), version, None),
        (ZeroDivisionError(), "0.0.1", None),
    ],
)
def test_an_error_is_explained_by_what_another_version_wrote(
    tmp_path: Path, error: Exception, of: str, said: str | None
) -> None:
    folder = write_results(tmp_path / "run", [request(0, 1, 1000)]).path
    change(folder / MANIFEST, version=of)
    line = explain(error, [folder])
    assert line is None if said is None else str(line).startswith(f"{folder}: {said}")
