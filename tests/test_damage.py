"""Results that are damaged or were written by another farweb: one line that names what, and what to do."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

from farweb import Results, ResultsError
from farweb.results.integrity import unsealed
from samples import Farweb

pytestmark = pytest.mark.usefixtures("warm_workers")

VERBS = ("show r", "plot cdf r", "report r", "export pcapng r", "export xpl r")


def truncate(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-50])


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[4 : len(content) // 2] = bytes(255 - byte for byte in content[4 : len(content) // 2])
    file.write_bytes(content)


@pytest.mark.parametrize(
    "damage", [truncate, flip, lambda file: file.write_bytes(b"")], ids=["cut", "flipped", "empty"]
)
@pytest.mark.parametrize("table", ["requests", "packets"])
def test_a_damaged_table_is_named(farweb: Farweb, cable: Path, damage: Callable[[Path], None], table: str) -> None:
    farweb("run", cable, "-o", "r", "--set", "record.packets=all")
    damage(Path(f"r/{table}.parquet"))
    shown = 0
    for arguments in (*map(str.split, VERBS), ["sql", "r", f"select * from {table}"]):
        answer = farweb(*arguments)
        if answer.code:
            shown += 1
            assert answer.code == 2, answer.err
            assert f"r/{table}.parquet: " in answer.err, arguments
            assert "run the scenario again" in answer.err
            assert len(answer.err.splitlines()) == 1
    assert shown >= 3


def test_a_damaged_table_is_named_in_python(farweb: Farweb, cable: Path) -> None:
    farweb("run", cable, "-o", "r")
    file = Path("r/requests.parquet")
    whole = file.read_bytes()
    for damage, said in ((truncate, "has .* B, and .* B were written"), (flip, "cannot be read")):
        file.write_bytes(whole)
        damage(file)
        with pytest.raises(ResultsError, match=rf"r/requests\.parquet: {said}"):
            _ = Results.open("r").requests


def test_a_column_that_another_version_did_not_write_is_named(farweb: Farweb, cable: Path) -> None:
    farweb("run", cable, "-o", "r")
    file = Path("r/requests.parquet")
    pl.read_parquet(file).drop("end_ns").write_parquet(file)
    manifest = json.loads(Path("r/manifest.json").read_text())
    Path("r/manifest.json").write_text(json.dumps(unsealed(manifest)))  # it knew no digests either
    for arguments in (["show", "r"], ["plot", "cdf", "r"], ["sql", "r", "select 1 from requests"]):
        answer = farweb(*arguments)
        assert answer.code == 2
        assert re.match(r"farweb: r(/requests\.parquet)?: has no column end_ns: ", answer.err)
        assert len(answer.err.splitlines()) == 1


def test_a_sweep_whose_runs_say_less_of_themselves_names_its_version(farweb: Farweb, cable: Path) -> None:
    cable.write_text(cable.read_text() + '[sweep.factors]\n"workload.load" = [1, 2]\n')
    farweb("sweep", cable, "-o", "r", "--jobs", 1)
    for file in Path("r").rglob("manifest.json"):
        manifest = unsealed(json.loads(file.read_text()))
        manifest.pop("rows", None)
        file.write_text(json.dumps({**manifest, "version": "0.0.1"}))
    answer = farweb("sql", "r", "select count(*) from requests")
    assert answer.code == 2
    assert re.fullmatch(
        r"farweb: r/parts/run=\w+/manifest\.json: has no rows: farweb 0\.0\.1 wrote it otherwise\n", answer.err
    )


def test_a_manifest_with_another_value_is_told(farweb: Farweb, cable: Path) -> None:
    farweb("run", cable, "-o", "r")
    manifest = json.loads(Path("r/manifest.json").read_text())
    Path("r/manifest.json").write_text(json.dumps({**manifest, "links": "x"}))
    answer = farweb("show", "r")
    line = "farweb: r/manifest.json: is not as it was written (by its SHA-256 digest): run the scenario again\n"
    assert (answer.code, answer.err) == (2, line)
