"""Mistakes of users: exit code 2, a line that names the file or key, nothing written."""

import gzip
from pathlib import Path

import polars as pl
import pytest

from samples import LOG, REQUESTS, SCENARIO, Farweb, refused

SCENARIOS = {
    "a key that does not exist": (SCENARIO.replace("release", "relaese"), "relaese"),
    "a unit that does not exist": (SCENARIO.replace('"60 ms"', '"60 parsec"'), "delay"),
    "a split nowhere": (
        SCENARIO.replace("[origin]", '[[leg.split]]\nat = "moon"\n[origin]'),
        'cable.toml:18: leg.0.split.0.at: "moon" is not a node between client and server; none is',
    ),
    "no path": ("format = 1\n" + SCENARIO[SCENARIO.index("[[leg]]") :], "path"),
    "not TOML": ("path = [[[\n", "cable.toml"),
    "nothing": ("", "cable.toml"),
}


@pytest.mark.parametrize("case", SCENARIOS)
def test_a_bad_scenario(farweb: Farweb, cable: Path, case: str) -> None:
    text, named = SCENARIOS[case]
    cable.write_text(text)
    for verb in ("check", "run"):
        refused(farweb, verb, cable, says=named)


@pytest.mark.parametrize("content", [b"\xff\xfe\x00binary", b"\x00" * 100, b'name = "\xe9"\n'])
def test_a_scenario_that_is_not_text(farweb: Farweb, cable: Path, content: bytes) -> None:
    cable.write_bytes(content)
    refused(farweb, "run", cable, says="cable.toml")


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("access.log", LOG, "is a log (squid) and no scenario; farweb new link.toml --log access.log writes one"),
        ("t.csv", REQUESTS, "is a table and no scenario; farweb new link.toml --log t.csv writes one"),
        ("page.har", '{"log": {', "is a HAR and no scenario; farweb page page.har simulates it"),
    ],
)
def test_a_file_that_is_no_scenario_says_which_verb_takes_it(
    farweb: Farweb, folder: Path, name: str, content: str, says: str
) -> None:
    (folder / name).write_text(content)
    for verb in ("check", "run"):
        refused(farweb, verb, name, says=f"farweb: {name}: {says}\n")


def test_a_table_of_other_columns_says_how_to_describe_them(farweb: Farweb, folder: Path) -> None:
    rows = "1700000000.5,/a,300\n1700000001.5,/b,600\n"
    (folder / "t.csv").write_text(f"when,what,size\n{rows}")
    refused(farweb, "new", "link.toml", "--log", "t.csv", says="'when,what,size'; describe its lines, such as --log-f")
    (folder / "t.csv").write_text(rows)
    assert farweb("new", "link.toml", "--log", "t.csv", "--log-format", "{start},{url},{bytes}").code == 0


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
    refused(farweb, *arguments, says=named)


@pytest.mark.parametrize(
    "row",
    [
        "NaN,a.example,300,1000,0",
        "0,a.example,300,many,0",
        "0,a.example,300",
    ],
)
def test_a_bad_row_of_a_request_table(farweb: Farweb, cable: Path, row: str) -> None:
    Path("requests.csv").write_text(REQUESTS + row + "\n")
    for arguments in (("run", cable), ("workload", "stats", "requests.csv")):
        refused(farweb, *arguments, says="requests.csv:5")
    Path("requests.csv").write_text(REQUESTS + "9,a.example,0,1000,0\n")
    refused(farweb, "run", cable, says="request_bytes")  # right in a table, and no use for this carrier


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("start_s", float("nan")),
        ("wait_s", 0.2),
        ("host", None),
        ("host", b"\xff"),
        ("request_bytes", -1),
        ("response_bytes", 1.5),
    ],
)
def test_a_bad_row_of_a_request_table_in_parquet(farweb: Farweb, cable: Path, column: str, value: object) -> None:
    row = {"start_s": 0.0, "host": "a", "request_bytes": 300, "response_bytes": 1000, "server_s": 0.1, column: value}
    pl.DataFrame([row]).write_parquet("r.parquet")
    for arguments in (("run", cable, "--set", "workload.requests=r.parquet"), ("workload", "stats", "r.parquet")):
        refused(farweb, *arguments, says=column)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("gone.csv", None),
        ("requests.csv", b"\x00\x01\x02" * 1000),
        ("requests.parquet", b"PAR1 not at all"),
        ("requests.parquet", b""),
        ("requests.tsv", b"start_s\thost\tsize\n0\ta\t1\n"),
    ],
)
def test_a_request_table_that_is_not_there_or_something_else(
    farweb: Farweb, cable: Path, name: str, content: bytes | None
) -> None:
    if content is not None:
        Path(name).write_bytes(content)
    refused(farweb, "run", cable, "--set", f"workload.requests={name}", says=name)


@pytest.mark.parametrize("name", ["hosts.tsv", "hosts.parquet"])
def test_a_window_too_small_for_a_segment(farweb: Farweb, cable: Path, name: str) -> None:
    hosts = pl.DataFrame({"host": ["a.example"], "window_bytes": [31]})
    hosts.write_parquet(name) if name.endswith("parquet") else hosts.write_csv(name, separator="\t")
    for verb in ("check", "run"):
        settings = ("--set", f"workload.hosts={name}", "--set", "leg.0.tcp.buffer=host")
        refused(farweb, verb, cable, *settings, says="found 31" if name.endswith("parquet") else 'found "31"')


@pytest.mark.parametrize("out", ["/proc/x", "/proc/x/y", "cable.toml/x", "x" * 300, "no-such-folder/" + "x" * 300])
def test_a_place_that_cannot_be_written_to(farweb: Farweb, cable: Path, out: str) -> None:
    Path("access.log").write_text(LOG)
    refused(farweb, "run", cable, "--out", out, says="cannot be written", code=3)
    importing = ("workload", "import", "access.log", "--format", "squid", "-o", f"{out}.parquet")
    refused(farweb, *importing, says="cannot be written", code=3)


def test_an_import_does_not_replace_its_log(farweb: Farweb, folder: Path) -> None:
    Path("log.parquet").write_text(LOG)
    onto = ("log.parquet", "--format", "squid", "-o", "log.parquet", "--force")
    refused(farweb, "workload", "import", *onto, says="the log itself")


@pytest.mark.parametrize(
    ("option", "value"), [("--rtt-ms", "inf"), ("--rtt-ms", "1e300"), ("--request-bytes", "99999999999999999999")]
)
def test_an_option_of_the_import_out_of_range(farweb: Farweb, folder: Path, option: str, value: str) -> None:
    Path("access.log").write_text(LOG)
    refused(farweb, "workload", "import", "access.log", "--format", "squid", option, value, says=option)


@pytest.mark.parametrize("manifest", ["", "[]", "{}", '{"kind": "farweb run"}'])
def test_a_damaged_manifest(farweb: Farweb, folder: Path, manifest: str) -> None:
    Path("r").mkdir()
    Path("r/manifest.json").write_text(manifest)
    for arguments in (("show", "r"), ("plot", "cdf", "r")):
        refused(farweb, *arguments, says="r")


def test_debug_shows_the_traceback_and_keeps_the_exit_code(farweb: Farweb, folder: Path) -> None:
    answer = farweb("check", "nowhere.toml", "--debug")
    assert answer.code == 2
    assert "Traceback" in answer.err


PACKED = gzip.compress(b"851000000.000 10 10.0.0.1 TCP_MISS/200 100 GET http://a/ - DIRECT/a text/html\n" * 9, mtime=0)


@pytest.mark.parametrize(
    "content",
    [b"", b"\x00\xff" * 5000, b"hello world\n" * 100, PACKED[:-12]],
    ids=["empty", "binary", "prose", "truncated gzip"],
)
def test_a_log_that_cannot_be_imported(farweb: Farweb, folder: Path, content: bytes) -> None:
    (folder / "access.log").write_bytes(content)
    refused(farweb, "workload", "import", "access.log", "--format", "squid", "-o", "out.parquet", says="access.log")
