"""Anything but a regular file, and a file too large for its purpose, is refused before it is opened."""

import os
from pathlib import Path

import pytest

from samples import Farweb, refused

VERBS = {
    "check": ("check", "{}"),
    "run": ("run", "{}"),
    "import": ("workload", "import", "{}", "-o", "out.parquet"),
    "stats": ("workload", "stats", "{}"),
    "cache": ("workload", "cache", "{}"),
    "fit": ("workload", "fit", "{}"),
    "merge": ("workload", "merge", "{}", "{}", "-o", "out.parquet"),
    "probe": ("workload", "probe", "{}", "-o", "hosts.csv"),
}


@pytest.mark.timeout(30)  # to open a pipe without a writer waits for ever
@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("name", "what"),
    [
        ("pipe", "pipe: is a pipe, not a file"),
        ("/dev/zero", "/dev/zero: is a device, not a file"),
        (".", ".: is a folder"),
        ("gone", "gone: no such file"),
    ],
)
def test_what_is_no_file_is_refused(farweb: Farweb, folder: Path, verb: str, name: str, what: str) -> None:
    os.mkfifo("pipe")
    arguments = [argument.format(name) for argument in VERBS[verb]]
    refused(farweb, *arguments, says=what)
    assert farweb(*arguments).err.count("\n") == 1


@pytest.mark.timeout(30)  # as above
@pytest.mark.parametrize("verb", ["check", "run"])
@pytest.mark.parametrize("key", ["requests", "hosts"])
def test_tables_that_a_scenario_names_are_files(farweb: Farweb, cable: Path, verb: str, key: str) -> None:
    os.mkfifo("pipe")
    refused(farweb, verb, cable, "--set", f'workload.{key}="pipe"', says="pipe: is a pipe, not a file")


def test_a_text_that_is_too_large_is_not_read(farweb: Farweb, folder: Path) -> None:
    with Path("huge.toml").open("wb") as file:
        file.truncate(17 << 20)
    says = "farweb: huge.toml: has 17,825,792 B, and no more than 16,777,216 B are read; a scenario is a TOML file\n"
    refused(farweb, "check", "huge.toml", says=says)
