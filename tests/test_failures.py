"""Why requests fail, as `farweb show` counts it, and clients that give up, through the program."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from farweb import _core
from farweb.results.totals import MEANINGS
from samples import Farweb, scenario_of

SCENARIO = scenario_of("client server", "1 Mbit/s, 50 ms", legs=['client server http/1.1\ntcp = { profile = "linux" }'])


def asked(folder: Path, rest: str = "", sizes: tuple[int, ...] = (10_000, 2_000_000, 1_000, 3_000_000)) -> Path:
    rows = [f"{start},server,300,{size}" for start, size in enumerate(sizes)]
    (folder / "requests.csv").write_text("\n".join(["start_s,host,request_bytes,response_bytes", *rows]) + "\n")
    path = folder / "line.toml"
    path.write_text(SCENARIO + rest)
    return path


def shown(farweb: Farweb, *arguments: str | Path) -> dict[str, Any]:
    answer = farweb(*arguments, "--json")
    assert answer.code == 0, answer.err
    shown: dict[str, Any] = answer.json()
    return shown


def test_every_cause_has_its_meaning() -> None:
    table = next(table for table in json.loads(_core.results_schema()) if table["name"] == "requests")
    described = next(column for column in table["columns"] if column["name"] == "failure")["description"]
    assert all(f"`{cause}`" in described for cause in MEANINGS)
    assert described.count("`: ") == len(MEANINGS)


def test_clients_give_up_to_the_nanosecond(tmp_path: Path, farweb: Farweb) -> None:
    """2 and 3 MB at 1 Mbit/s take more than 16 s."""
    path = asked(tmp_path, '[clients]\ngive_up = "5 s"')
    summary = shown(farweb, "run", path, "--out", tmp_path / "r")["summary"]
    rows = pl.read_parquet(tmp_path / "r" / "requests.parquet").sort("request")
    assert rows["failure"].to_list() == [None, "client gave up", None, "client gave up"]
    assert (rows["failed_ns"] - rows["start_ns"]).to_list() == [None, 5 * 10**9, None, 5 * 10**9]
    assert (summary["done"], summary["failed"]) == (2, 2)
    [cause] = summary["failures"]
    assert (cause["cause"], cause["requests"], cause["share"], cause["after_p50_s"]) == ("client gave up", 2, 0.5, 5.0)
    assert cause["meaning"] == MEANINGS["client gave up"]
    assert "client gave up" in farweb("show", tmp_path / "r").out


def test_check_says_how_long_clients_wait(tmp_path: Path, farweb: Farweb) -> None:
    assert "no client timeout" in farweb("check", asked(tmp_path), "--details").out
    assert "give up after 5 s" in farweb("check", asked(tmp_path), "--details", "--set", "clients.give_up=5 s").out


def test_a_wait_that_is_none_is_refused(tmp_path: Path, farweb: Farweb) -> None:
    answer = farweb("run", asked(tmp_path, '[clients]\ngive_up = "0 s"'), "--out", tmp_path / "r")
    assert answer.code == 2
    assert "clients.give_up: found 0 s; write a duration above zero" in answer.err
    assert not (tmp_path / "r").exists()


def test_the_end_of_a_run_is_a_cause(tmp_path: Path, farweb: Farweb) -> None:
    summary = shown(farweb, "run", asked(tmp_path, '[run]\nuntil = "6 s"'), "--out", tmp_path / "r")["summary"]
    [cause] = summary["failures"]
    # The second and the fourth began 5 and 3 s before.
    assert (cause["cause"], cause["requests"], cause["after_p50_s"]) == ("run ended", 2, pytest.approx(4.0))
    assert summary["unfinished"] == 2
