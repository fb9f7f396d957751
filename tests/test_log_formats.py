"""Every line of docs/log-formats.md is read as its table says, and damaged ones are counted with a reason."""

import os
import re
import shlex
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from farweb import WorkloadError, _core
from farweb.inputs.formats import LOGS
from farweb.inputs.importer import import_log
from farweb.inputs.provenance import provenance
from samples import LOG, Farweb, refused

PAGE = (Path(__file__).parent.parent / "docs/log-formats.md").read_text("utf-8")
BLOCKS = dict(re.findall(r"^```log (\S+)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL))
RECIPES = dict(
    re.findall(r"^```sh (\S+)\nfarweb workload import access.log (.*?)\n```$", PAGE, re.MULTILINE | re.DOTALL)
)
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")] for line in re.findall(r"^\| \[.*\|$", PAGE, re.MULTILINE)
]
NAMES = [re.sub(r"\[(.*)\]\(.*\)", r"\1", row[0]) for row in ROWS]
SIZES = {
    "fastly-timing": "5000",
    "table": "1713", "apache": "203023", "nginx": "490", "caddy": "10900", "json": "490", "iis": "53175",
    "w3c": "53175", "squid": "10182", "syslog": "10182", "squid-common": "1464", "haproxy": "2750", "alb": "366",
    "elb": "29", "istio": "135", "traefik": "12", "traefik-json": "75", "gcp": "308313", "azure": "324",
    "cloudfront": "392", "cloudfront-json": "5120", "cloudflare": "2301", "akamai": "4995", "fastly": "826",
    "s3": "113", "echo": "2", "envoy-json": "135", "minio": "4096", "minio-trace": "231", "envoy": "0",
}  # fmt: skip
"""Size of the response as the line has it; 2326 in the others."""


def test_the_page_has_every_format_and_a_line_for_each_row() -> None:
    assert {row[1].strip("`") for row in ROWS} == {*LOGS, "recipe"}
    assert sorted(NAMES) == sorted(BLOCKS) == sorted(re.findall(r"^### (\S+)$", PAGE, re.MULTILINE))
    assert len(NAMES) >= 25


@pytest.mark.parametrize(("name", "row"), list(zip(NAMES, ROWS, strict=True)), ids=NAMES)
def test_a_line_gives_what_the_table_says(farweb: Farweb, folder: Path, name: str, row: list[str]) -> None:
    Path("access.log").write_text(BLOCKS[name])
    given = shlex.split(RECIPES[name]) if name in RECIPES else ["--format", row[1].strip("`")]
    answer = farweb("workload", "import", "access.log", "--keep-clients", "--json", *given)
    assert values(answer.json()) == row[3:]
    if row[2] != "–":
        assert _core.log_format(BLOCKS[name].encode()) == row[2].strip("`")


def values(counts: dict[str, Any]) -> list[str]:
    """The cells of a row, from the table that was imported."""
    request = pq.read_table("access.parquet").to_pylist()[0]
    start = datetime.fromtimestamp(0, UTC) + timedelta(microseconds=round(counts["origin_unix_s"] * 1e6))

    def ms(column: str) -> str:
        span = request.get(column)
        return "–" if span is None else f"{span * 1e3:.2f}".rstrip("0").rstrip(".")

    return [
        start.replace(tzinfo=None).isoformat(" ", timespec="milliseconds"),
        request.get("client") or "–",
        request["host"],
        *counts["methods"],
        str(request["request_bytes"]),
        str(request["response_bytes"]),
        ms("server_s"),
        ms("wait_s"),
    ]


DAMAGED = [(name, row[1].strip("`")) for name, row in zip(NAMES, ROWS, strict=True) if row[1] != "recipe"]


@pytest.mark.parametrize(("name", "format_"), DAMAGED, ids=[name for name, _ in DAMAGED])
def test_damaged_lines_are_counted_with_a_reason(folder: Path, name: str, format_: str) -> None:
    *before, line = BLOCKS[name].splitlines()
    size = SIZES.get(name, "2326")
    lots = '"lots"' if line.startswith("{") and f'"{size}"' not in line else "lots"
    wrong = re.sub(rf"(?<![\w.]){size}(?![\w.])", lots, line)
    assert wrong != line
    Path("access.log").write_text("\n".join([*before, line, line[:30], wrong, ""]))
    counts = import_log("access.log", "out.parquet", format=format_, max_unreadable=1.0).counts
    assert (counts["requests"], counts["unreadable_lines"]) == (1, 2)
    cut, typed = (each["why"] for each in counts["unreadable"])
    assert re.match("has |is cut off|time: |date and time: |status: |does not", cut), cut
    assert "bytes" in typed, typed


def test_a_log_of_any_keys_is_read_in_python(folder: Path) -> None:
    Path("app.json").write_text('{"ts": 1445742685.5, "req": {"path": "/x"}, "n": 9, "took": 250, "b": "10.0.0.1"}\n')
    fields = {"start": "ts", "url": "req.path", "bytes": "n", "elapsed": "took:ms", "client": "a,b"}
    report = import_log("app.json", "out.parquet", fields=fields, keep_clients=True)
    request = pq.read_table("out.parquet").to_pylist()[0]
    assert (request["response_bytes"], request["server_s"], request["client"]) == (9, 0.25, "10.0.0.1")
    assert report.log["format"] == "start=ts url=req.path bytes=n elapsed=took:ms client=a client=b"
    with pytest.raises(
        WorkloadError, match=r'unknown field "strat" \(did you mean start\?\); the fields are start, end,'
    ):
        import_log("app.json", "other.parquet", fields={"strat": "ts"})
    with pytest.raises(WorkloadError, match="fields describe a log of JSON objects; leave out its format"):
        import_log("app.json", "other.parquet", fields=fields, format="json")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--field", "strat=ts"], 'unknown field "strat" (did you mean start?)'),
        (["--field", "start"], "--field: found start; write NAME=KEY"),
        (["--field", "start=ts"], "none says what was asked for; write url=KEY, path=KEY or request=KEY"),
        (["--field", "elapsed=took:min"], 'found the unit "min"; write one of: s, ms, us, ns'),
        (["--log-format", "{start} {urll}"], 'unknown field "urll" (did you mean url?)'),
        (["--format", "haproxi"], 'format: found "haproxi" (did you mean haproxy?); write one of: squid, '),
        ([], "name the format (squid, squid-common, haproxy,"),
    ],
)
def test_what_is_wrong_says_what_to_write(farweb: Farweb, folder: Path, options: list[str], said: str) -> None:
    Path("app.json").write_text('{"what": "ever"}\n')
    refused(farweb, "workload", "import", "app.json", *options, says=said)


def test_an_empty_log_says_so(farweb: Farweb, folder: Path) -> None:
    Path("access.log").write_text("")
    for options in ([], ["--format", "squid"]):
        refused(farweb, "workload", "import", "access.log", *options, says="is empty")


def test_fields_that_no_format_names_are_shown_where_lines_have_them(farweb: Farweb, folder: Path) -> None:
    combined = BLOCKS["apache"].strip()
    timed, plain = f'{combined} "TLSv1.3" 0.123\n', f"{combined}\n"
    said = '2 more fields at the end of each line are not read ("TLSv1.3" 0.123): --log-format names them'
    for verb in (["workload", "import"], ["workload", "stats"], ["workload", "cache"], ["new", "s.toml", "--log"]):
        for log, expected in ((timed, said), (plain, None), (plain * 100 + timed, None)):
            Path("access.log").write_text(log)
            shown = " ".join(farweb(*verb, "access.log", *(["--force"] if "stats" not in verb else [])).out.split())
            assert "not read" not in shown if expected is None else shown.count(expected) == 1, verb
    Path("access.log").write_text(plain * 2 + timed)
    found = import_log("access.log", "out.parquet").counts["unread_fields"]
    assert found == {"requests": 1, "share": 1 / 3, "fields": 2, "text": '"TLSv1.3" 0.123'}
    kept = provenance(Path("out.parquet"))
    assert kept is not None and kept["unread_fields"] == {**found, "text": ""}, "it may have a client"


@pytest.mark.parametrize(
    "verb", [("stats",), ("cache", "--policy", "lru", "--capacity", "1 kB")], ids=["stats", "cache"]
)
def test_verbs_of_logs_read_standard_input(farweb: Farweb, folder: Path, verb: tuple[str, ...]) -> None:
    Path("access.log").write_text(LOG)
    expected = farweb("workload", *verb, "access.log", "--json").json()
    before, log = os.dup(0), os.open("access.log", os.O_RDONLY)
    try:
        os.dup2(log, 0)
        found = farweb("workload", *verb, "-", "--json").json()
    finally:
        os.dup2(before, 0)
        os.close(before)
        os.close(log)
    for name in ("requests", "objects"):
        assert found[name] == expected[name] > 0
    refused(farweb, "workload", "cache", "-", "--format", "table", says="table is read from a file")


def test_the_unit_of_a_span_that_other_servers_write_in_ms_is_pointed_out(farweb: Farweb, folder: Path) -> None:
    Path("access.log").write_text(f"{BLOCKS['clf'].strip()} 125\n")
    for directive, said in (("%D", 1), ("%{us}T", 0)):
        options = ["--log-format", f'LogFormat "%h %l %u %t \\"%r\\" %>s %b {directive}" timed', "--force"]
        shown = farweb("workload", "import", "access.log", *options).out
        assert "server time  125 µs" in shown
        assert shown.count("warning: %D is taken for µs") == said


def test_stats_of_a_log_say_what_the_import_left_out(farweb: Farweb, folder: Path) -> None:
    Path("access.log").write_text(LOG)
    answer = farweb("workload", "stats", "access.log", "--json")
    found = answer.json()
    left_out = {"format": "squid", "lines": 4, "dropped": {"hit": 1}, "unreadable_lines": 0}
    none = {"requests": 0, "share": 0.0, "fields": 0, "text": ""}
    assert (found["requests"], found["imported"]) == (3, {**left_out, "unread_fields": none, "unclear": {}})
    assert farweb("workload", "stats", "access.log", "--format", "squid", "--json").json() == found
    shown = farweb("workload", "stats", "access.log")
    assert "left out of 4 lines: 1 hit" in shown.out
    assert "access.log is a log; workload import, which has more options, makes a table of it." in shown.err.replace(
        "\n", " "
    )
    farweb("workload", "import", "access.log", "-o", "table.parquet")
    assert farweb("workload", "stats", "table.parquet", "--json").json()["imported"] is None


def test_what_clients_gave_up_is_counted_in_or_out_and_said(farweb: Farweb, folder: Path) -> None:
    line = '192.0.2.1 - - [10/Oct/2024:10:00:0{} +0000] "GET /{} HTTP/1.1" {}\n'
    lines = [line.format(n, n, end) for n, end in enumerate(("200 1000", "499 750", "499 0", "-", "304 -"))]
    Path("access.log").write_text("".join(lines).replace('1" -', '1" 000 0'))
    answer = farweb("workload", "import", "access.log")
    assert "3 requests of 1 client to 1 host: 2.50 kB of responses in 4 s" in answer.out
    assert "left out   2 of 5 lines: 2 given up before any byte of a response" in answer.out
    assert "given up   1 request is in, with the 1 kB that came before" in " ".join(answer.out.split(" ")), answer.out
    assert "2.50 kB of responses in 4 s" in farweb("workload", "stats", "access.log").out
    assert provenance(Path("access.parquet"))["given_up"] == {"requests": 1, "bytes": 1000}  # type: ignore[index]


def test_a_value_that_says_nothing_is_shown(farweb: Farweb, folder: Path) -> None:
    Path("a.json").write_text(
        "".join(f'{{"t":{n},"u":"/{n}","n":9,"s":"{s}"}}\n' for n, s in ((1, "maybe"), (2, "on")))
    )
    fields = [f"--field={name}" for name in ("start=t", "url=u", "bytes=n", "scheme=s")]
    for verb in ("import", "stats"):
        assert 'no clear scheme in 1 request ("maybe")' in " ".join(
            farweb("workload", verb, "a.json", *fields).out.split()
        )
    assert pq.read_table("a.parquet")["tls"].to_pylist() == [None, True]
    kept = provenance(Path("a.parquet"))
    assert kept is not None and kept["unclear"] == {"scheme": {"requests": 1, "text": ""}}, "it may have a client"


def test_cache_names_all_reasons_for_lines_left_out(farweb: Farweb, folder: Path) -> None:
    hit, icp, denied = (
        f"85100000{n}.000 5 10.0.0.2 {code} 300 GET http://quick.example/a - NONE/- text/html\n"
        for n, code in ((5, "TCP_HIT/200"), (6, "UDP_HIT/000"), (7, "TCP_DENIED/403"))
    )
    Path("access.log").write_text(f"{LOG}{hit}{icp * 2}{denied}\n")
    shown = " ".join(farweb("workload", "cache", "access.log", "--keep", "misses").out.split())
    assert "left out: 2 hit, 2 icp, 1 blank, 1 denied" in shown
