"""What a user can get wrong: exit code 2, a line that names the file or key, nothing written."""

import gzip
from pathlib import Path

import pytest

from samples import REQUESTS, SCENARIO, Farweb

SCENARIOS = {
    "a key that does not exist": (SCENARIO.replace("release", "relaese"), "relaese"),
    "a rate without a unit": (SCENARIO.replace('"34.368 Mbit/s"', "34.368"), "rate"),
    "a unit that does not exist": (SCENARIO.replace('"60 ms"', '"60 parsec"'), "delay"),
    "a leg to nowhere": (SCENARIO.replace('to = "server"', 'to = "moon"'), "moon"),
    "a carrier that does not exist": (SCENARIO.replace("http/1.0", "gopher"), "carrier"),
    "no path": ("format = 1\n" + SCENARIO[SCENARIO.index("[[leg]]") :], "path"),
    "not TOML": ("path = [[[\n", "cable.toml"),
    "nothing": ("", "cable.toml"),
}


@pytest.mark.parametrize("case", SCENARIOS)
def test_a_bad_scenario(farweb: Farweb, cable: Path, case: str) -> None:
    text, named = SCENARIOS[case]
    cable.write_text(text)
    for verb in ("check", "run"):
        _refused(farweb, verb, cable, named=named)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00binary", b"\x00" * 100, b'name = "\xe9"\n'])
def test_a_scenario_that_is_not_text(farweb: Farweb, cable: Path, content: bytes) -> None:
    cable.write_bytes(content)
    _refused(farweb, "run", cable, named="cable.toml")


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["run", "cable.toml", "--set", "leg.9.tcp.buffer=1 B"], "leg.9"),
        (["run", "cable.toml", "--set", "workload.laod=4"], "laod"),
        (["run", "cable.toml", "--set", "workload.load"], "KEY=VALUE"),
        (["run", "cable.toml", "--seed", "-1"], "seed"),
        (["run", "nowhere.toml"], "nowhere.toml"),
        (["run"], "SCENARIO"),
        (["run", "cable.toml", "--frobnicate"], "--frobnicate"),
        (["frobnicate"], "frobnicate"),
        (["show", "nowhere"], "nowhere"),
        (["show", "."], "manifest.json"),
        (["plot", "cake"], "cake"),
        (["plot", "cdf"], "cdf"),
        (["plot", "cdf", "nowhere"], "nowhere"),
        (["workload", "import", "nowhere.log", "--format", "squid"], "nowhere.log"),
        (["workload", "import", "requests.csv", "--format", "cuneiform"], "cuneiform"),
        (["workload", "import", "requests.csv", "--format", "squid", "-o", "out.csv"], "out.csv"),
        (["workload", "stats", "nowhere.parquet"], "nowhere.parquet"),
        (["workload", "stats", "cable.toml"], "cable.toml"),
    ],
)
def test_a_bad_command(farweb: Farweb, cable: Path, arguments: list[str], named: str) -> None:
    _refused(farweb, *arguments, named=named)


@pytest.mark.parametrize(
    "row",
    [
        "NaN,a.example,300,1000,0",
        "-1,a.example,300,1000,0",
        "inf,a.example,300,1000,0",
        "0,a.example,300,many,0",
        "0,a.example,300,1000.5,0",
        "0,a.example,0,1000,0",
        "0,a.example,300",
        "0,a.example,300,99999999999999999999,0",
    ],
)
def test_a_bad_row_of_a_request_table(farweb: Farweb, cable: Path, row: str) -> None:
    Path("requests.csv").write_text(REQUESTS + row + "\n")
    _refused(farweb, "run", cable, named="requests.csv:5")


def test_a_request_table_that_is_not_there(farweb: Farweb, cable: Path) -> None:
    Path("requests.csv").unlink()
    _refused(farweb, "run", cable, named="requests.csv")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("requests.csv", b"\x00\x01\x02" * 1000),
        ("requests.parquet", b"PAR1 not at all"),
        ("requests.parquet", b""),
        ("requests.tsv", b"start_s\thost\tsize\n0\ta\t1\n"),
    ],
)
def test_a_request_table_that_is_something_else(farweb: Farweb, cable: Path, name: str, content: bytes) -> None:
    Path(name).write_bytes(content)
    _refused(farweb, "run", cable, "--set", f"workload.requests={name}", named=name)


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"", "access.log"),
        (b"\x00\xff" * 5000, "access.log"),
        (b"hello world\n" * 100, "access.log"),
        (
            gzip.compress(b"851000000.000 10 10.0.0.1 TCP_MISS/200 100 GET http://a/ - DIRECT/a text/html\n" * 9)[:-12],
            "access.log",
        ),
    ],
    ids=["empty", "binary", "prose", "truncated gzip"],
)
def test_a_log_that_cannot_be_imported(farweb: Farweb, folder: Path, content: bytes, named: str) -> None:
    (folder / "access.log").write_bytes(content)
    _refused(farweb, "workload", "import", "access.log", "--format", "squid", "-o", "out.parquet", named=named)


def _refused(farweb: Farweb, *arguments: object, named: str) -> None:
    before = _tree()
    answer = farweb(*arguments)
    assert answer.code == 2, answer
    assert answer.out == ""
    assert named in answer.err
    assert "Traceback" not in answer.err
    assert "bug" not in answer.err
    assert _tree() == before, "something was written"


def _tree() -> set[Path]:
    return set(Path().rglob("*"))
