"""`farweb new`: every scenario that it writes is free of warnings and runs; nothing is replaced unasked."""

import os
from pathlib import Path

import pytest

from farweb.inputs.new import PATHS, PROXIES
from samples import LOG, Farweb


@pytest.mark.parametrize("proxy", PROXIES)
@pytest.mark.parametrize("path", PATHS)
def test_each_path_and_proxy_passes_the_check_and_runs(farweb: Farweb, folder: Path, path: str, proxy: str) -> None:
    answer = farweb("new", "link.toml", "--path", path, "--proxy", proxy)
    assert answer.code == 0, answer.err
    assert "warning" not in answer.err
    assert farweb("check", "link.toml", "--json").json()["check"]["warnings"] == []
    answer = farweb("run", "link.toml", "--json", "--set", "run.until=200 s")
    assert answer.code == 0, answer.err
    assert answer.json()["summary"]["requests"] > 10


def test_a_log_is_imported_beside_the_scenario(farweb: Farweb, folder: Path) -> None:
    (folder / "access.log").write_text(LOG)
    answer = farweb("new", "link.toml", "--log", "access.log", "--json")
    assert answer.code == 0, answer.err
    written = answer.json()
    assert (written["requests"], written["hosts"]) == ("link-requests.parquet", "link-hosts.tsv")
    assert (written["import"]["requests"], written["warnings"]) == (3, [])
    assert (folder / "link-hosts.tsv").read_text().splitlines()[1] == "quick.example\tquick.example\t\t"
    assert (
        "# Imported from access.log (squid): 3 requests of 4 lines; left out: 1 hit; unreadable: 0."
        in (folder / "link.toml").read_text()
    )
    assert farweb("run", "link.toml", "--quiet").code == 0


@pytest.mark.parametrize("there", ["link.toml", "link-requests.parquet", "link-hosts.tsv"])
def test_nothing_is_replaced_unasked(farweb: Farweb, folder: Path, there: str) -> None:
    (folder / "access.log").write_text(LOG)
    (folder / there).write_text("older")
    answer = farweb("new", "link.toml", "--log", "access.log")
    assert (answer.code, sorted(os.listdir(folder))) == (2, sorted(["access.log", there]))
    assert f"{there}: exists already; --force replaces it" in answer.err
    assert (folder / there).read_text() == "older"
    assert farweb("new", "link.toml", "--log", "access.log", "--force").code == 0


def test_what_is_wrong_is_one_line_and_nothing_is_written(farweb: Farweb, folder: Path) -> None:
    (folder / "access.log").write_text("junk\n")
    for options, message in [
        (("--path", "moon"), "--path: found moon; write one of: geo, leo, cable, mobile, asymmetric"),
        (("--proxy", "some"), "--proxy: found some; write one of: none, split, mux"),
        (("--log", "access.log"), "no known format has lines like its first"),
        (("--log", "missing.log"), "missing.log: no such file"),
    ]:
        answer = farweb("new", "link.toml", *options)
        assert (answer.code, os.listdir(folder)) == (2, ["access.log"])
        assert message in answer.err
