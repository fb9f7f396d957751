"""Load as a rate or as copies, through the program."""

import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from samples import Farweb
from test_failures import SCENARIO

ROWS = 2000


def thin_line(folder: Path, load: str) -> Path:
    """2000 requests in 200 s, each twentieth of them measured."""
    rows = [f"{n / 10},server,300,{500 + n % 50},{'sample' if n % 20 == 0 else ''}" for n in range(ROWS)]
    (folder / "requests.csv").write_text("\n".join(["start_s,host,request_bytes,response_bytes,tag", *rows]) + "\n")
    path = folder / "line.toml"
    path.write_text(f'{SCENARIO}scale = "rate"\nload = {load}\ncopies_offset = "5 s"')
    return path


def rows_at(folder: Path, farweb: Farweb, load: str, seed: int = 1) -> pl.DataFrame:
    out = folder / f"at-{load}-{seed}"
    assert farweb("run", thin_line(folder, load), "--out", out, "--seed", str(seed), "--quiet", "--force").code == 0
    return pl.read_parquet(out / "requests.parquet").sort("request")


def test_a_load_below_one_leaves_requests_out(tmp_path: Path, farweb: Farweb) -> None:
    rows = rows_at(tmp_path, farweb, "0.4")
    measured = rows.filter(pl.col("tag") == "sample")
    assert measured["start_ns"].to_list() == [n * 2 * 10**9 for n in range(ROWS // 20)]
    # 1900 others with probability 0.4: five standard deviations.
    assert abs(len(rows) - len(measured) - 760) < 5 * (1900 * 0.4 * 0.6) ** 0.5
    assert set(rows["status"].to_list()) == {"done"}
    assert rows_at(tmp_path, farweb, "0.4").equals(rows)
    assert not rows_at(tmp_path, farweb, "0.4", seed=2).equals(rows)


def test_a_whole_load_repeats_every_request(tmp_path: Path, farweb: Farweb) -> None:
    rows = rows_at(tmp_path, farweb, "3")
    assert len(rows) == 3 * ROWS
    assert rows["tag"].to_list().count("sample") == ROWS // 20
    assert (rows["start_ns"].diff().drop_nulls() >= 0).all()
    manifest = json.loads((tmp_path / "at-3-1" / "manifest.json").read_text())
    assert manifest["scenario"]["workload"]["load"] == 3


@pytest.mark.parametrize(
    ("load", "scale", "message"),
    [
        ("0", "rate", "workload.load: found 0; it is 0.001 to 1000000"),
        ("0.5", "copies", "workload.load: found the number 0.5; write a whole number"),
        ("2", "rates", 'workload.scale: found "rates"; it is one of "copies", "rate" (did you mean rate?)'),
    ],
)
def test_loads_that_are_none(tmp_path: Path, farweb: Farweb, load: str, scale: str, message: str) -> None:
    answer = farweb("check", thin_line(tmp_path, load), "--set", f"workload.scale={scale}")
    assert answer.code == 2
    assert message in answer.err


def test_copies_share_one_open_file(folder: Path) -> None:
    path = thin_line(folder, "1")
    path.write_text(path.read_text().replace('scale = "rate"\nload = 1', "load = 400"))
    run = f"'{sys.executable}' -m farweb run '{path}' --set run.until=2s --out out --quiet"
    ran = subprocess.run(["bash", "-c", f"ulimit -n 200; {run}"], capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, "")
