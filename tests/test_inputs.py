"""Requests from request tables, logs and traces: `farweb workload cache` and `fit` read the same ones."""

import gzip
import lzma
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from farweb import WorkloadError
from farweb.cache.curve import cache_curve
from farweb.cli import load
from farweb.inputs.fit import fit, reading
from farweb.inputs.formats import FORMATS, TABLE, TRACES, format_of
from farweb.inputs.requests import open_input
from samples import LOG, Farweb, refused

SHARED = Path(__file__).parent.parent.parent / "shared/data"

# Object 1 comes back smaller, as a transfer that was broken off.
REQUESTS = [(1, 300), (2**31, 4000), (1, 300), (3, 500), (2**31, 4000), (1, 280), *[(4, 0)] * 6]

TABLE_HEAD = "start_s,host,request_bytes,response_bytes,object"
SERVER_LOG = "".join(
    f'a - - [01/Jul/1995:00:00:0{second} -0400] "GET {url} HTTP/1.0" {answer}\n'
    for second, (url, answer) in enumerate([("/a", "200 100"), ("/b?c", "200 100"), ("/a", "304 -"), ("/d", "404 9")])
)
SERVER_TABLE = "host\tlogname\ttime\tmethod\turl\tresponse\tbytes\nh\t-\t807256800\tGET\t/a\t200\t1713\n"


def trace(format_: str) -> bytes:
    """The requests as a trace, one a second."""
    if format_ == "webcachesim":
        return b"".join(b"%d %d %d\n" % (time, *request) for time, request in enumerate(REQUESTS))
    if format_ == "oracle-general":
        return b"".join(struct.pack("<IQIq", time, *request, -1) for time, request in enumerate(REQUESTS))
    return b"".join(struct.pack(">I", object_) for object_, _ in REQUESTS)


def zstd(plain: bytes) -> bytes:
    return bytes(pa.compress(plain, "zstd", asbytes=True))


@pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress, zstd])
@pytest.mark.parametrize("format_", TRACES)
def test_both_verbs_read_a_trace_packed_or_not(
    folder: Path, farweb: Farweb, format_: str, pack: Callable[[bytes], bytes]
) -> None:
    Path("t").write_bytes(pack(trace(format_)))
    message = ("--format", format_) if format_ == "cache2k" else ()
    cache = farweb("workload", "cache", "t", *message, "--policy", "lru", "--capacity", "1 kB", "--json").json()
    fitted = farweb("workload", "fit", "t", *message, "--json").json()
    assert cache["format"] == fitted["format"] == format_
    assert cache["requests"] == fitted["requests"] == 12
    assert cache["objects"] == fitted["popularity"]["documents"] == 4
    unsized = format_ == "cache2k"
    assert (fitted["unsized_requests"], fitted["sized_documents"]) == ((12, 0) if unsized else (6, 3))
    assert cache["footprint_bytes"] == (4 if unsized else 4801), "an object without a size takes a byte"
    assert cache["results"][0]["request_bytes"] == cache["request_bytes"] == (12 if unsized else 9386)
    assert fitted["arrival_rate"] == (1.0 if format_ == "oracle-general" else None)


@pytest.mark.parametrize("format_", TRACES)
def test_what_a_trace_says(folder: Path, format_: str) -> None:
    Path("t").write_bytes(trace(format_))
    with open_input(Path("t"), format_) as requests:
        (batch,) = requests
    bare = format_ == "cache2k"
    assert batch.object.tolist() == [object_ for object_, _ in REQUESTS]
    assert batch.bytes.tolist() == [0 if bare else size for _, size in REQUESTS]
    assert batch.time_ns.tolist() == [0 if bare else time * 10**9 for time in range(len(REQUESTS))]


def test_what_a_fit_counts(folder: Path) -> None:
    Path("t").write_bytes(trace("webcachesim"))
    references = reading.read(Path("t")).references
    assert references.counts().tolist() == [3, 2, 1, 6]
    assert references.sizes().tolist() == [300, 4000, 500, 0]
    assert references.distances().tolist() == [5, 1, 2]
    assert references.resized == 1


@pytest.mark.parametrize(
    ("name", "content", "format_"),
    [
        ("r.csv", f"{TABLE_HEAD}\n0,a,1,1,1\n".encode(), TABLE),
        ("r.csv.gz", gzip.compress(f"{TABLE_HEAD}\n0,a,1,1,1\n".encode(), mtime=0), TABLE),
        ("r", TABLE_HEAD.replace(",", " ").encode() + b"\n0 a 1 1 1\n", TABLE),
        ("without names", b"0 1 300 4000\n1 2 300 4000\n", TABLE),
        ("r.parquet", b"PAR1", TABLE),
        ("empty", b"", TABLE),
        ("blank", b"\n\n", TABLE),
        ("photo", b"\x89PNG\r\n\x1a\n" + bytes(range(250)) * 4, TABLE),
        ("ids", struct.pack(">600I", *range(600)), TABLE),
        ("zeros", bytes(2400), TABLE),
        ("one record", trace("oracle-general")[:24], TABLE),
        ("broken.xz", lzma.compress(trace("webcachesim"))[:-20], TABLE),
        ("access.log", LOG.encode(), "squid"),
        ("long.log", b"\n" + LOG.encode() * 500, "squid"),
        ("one line of four is none", b"oops\n" + LOG.encode()[: LOG.rindex("851")], "squid"),
        ("server.log.gz", gzip.compress(SERVER_LOG.encode(), mtime=0), "clf"),
        ("server.tsv", SERVER_TABLE.encode(), "clf"),
        ("t.xz", lzma.compress(trace("webcachesim")), "webcachesim"),
        ("t", trace("webcachesim").replace(b"3 3 500", b"3 /index.html 500"), "webcachesim"),
        ("o", trace("oracle-general"), "oracle-general"),
        ("short.oracleGeneral.bin", trace("oracle-general")[:24], "oracle-general"),
    ],
)
def test_a_file_tells_its_format(folder: Path, name: str, content: bytes, format_: str) -> None:
    Path(name).write_bytes(content)
    assert format_of(Path(name), None) == format_
    assert format_of(Path(name), "clf") == "clf"


def test_a_trace_is_read_in_batches_and_again(folder: Path) -> None:
    lines = (f"{number} {1000 + number} 10" for number in range(150_000))
    Path("t").write_text("\n".join(lines))
    with open_input(Path("t"), None) as requests:
        for _ in range(2):
            batches = list(requests)
            assert len(batches) > 1
            assert np.concatenate([batch.object for batch in batches]).tolist() == list(range(1000, 151_000))


def test_logs_are_read_by_the_rules_of_the_import(folder: Path, farweb: Farweb) -> None:
    Path("server.log").write_text(SERVER_LOG)
    command = ("server.log", "--json")
    assert farweb("workload", "cache", *command, "--policy", "lru").json()["requests"] == 4
    fitted = farweb("workload", "fit", *command).json()
    assert (fitted["requests"], fitted["left_out"]) == (2, {"dynamic-page": 1, "not-successful": 1})
    assert (fitted["unsized_requests"], fitted["sized_documents"]) == (1, 1)
    for options, requests in ((["--dynamic"], 3), (["--no-dynamic"], 2)):
        assert farweb("workload", "fit", *command, *options).json()["requests"] == requests
        cache = farweb("workload", "cache", *command, *options, "--policy", "lru").json()
        assert cache["requests"] == requests + 1, "an error page is asked of a cache, and no document"
    assert reading.read(Path("server.log"), dynamic=True).references.sizes().tolist() == [100, 100], "the body"


def test_a_proxys_requests_come_by_their_start(folder: Path) -> None:
    Path("access.log").write_text("".join(reversed(LOG.splitlines(keepends=True))))
    with open_input(Path("access.log"), None) as requests:
        (batch,) = requests
    # 6 s, 6.75 s, 7.095 s, 7.9 s, whatever the order of the lines.
    assert (np.diff(batch.time_ns.astype(np.int64)) // 10**6).tolist() == [750, 345, 805]
    assert batch.bytes.tolist() == [12000, 3000, 3000, 500]


@pytest.mark.parametrize("verb", ["cache", "fit"])
def test_a_few_unreadable_lines_are_left_out_and_told(folder: Path, farweb: Farweb, verb: str) -> None:
    Path("t").write_text("1 7 100\n" * 400 + "1 7\n" + "oops\n")
    Path("o").write_bytes(trace("oracle-general") + struct.pack("<IQIq", 20, 2**64 - 1, 5, -1) + b"half")
    details = ["--details"] if verb == "cache" else []
    lines = farweb("workload", verb, "t", "--format", "webcachesim", *details)
    records = farweb("workload", verb, "o", *details)
    assert (lines.code, records.code) == (0, 0)
    message = {
        "cache": (
            ["unreadable: 2 lines", 'line 401: has fewer than three columns: "1 7"'],
            ["the last 4 bytes, no whole record of 24 bytes", "left out: 1 records with the object 2^64 - 1"],
        ),
        "fit": (["left out: unreadable"], ["left out: unreadable", "left out: no-object"]),
    }[verb]
    for answer, words in zip((lines, records), message, strict=True):
        assert all(each in " ".join(answer.out.split()) for each in words), answer.out
    strict = farweb("workload", verb, "t", "--format", "webcachesim", "--max-unreadable", "0.001")
    assert strict.code == 2
    assert "t: 2 of 402 lines cannot be read, more than --max-unreadable 0.001 allows" in strict.err


def test_a_fit_leaves_out_requests_without_an_object(folder: Path) -> None:
    Path("r.csv").write_text(f"{TABLE_HEAD}\n0,a,1,10,1\n1,a,1,10,\n2,a,1,10,1\n")
    found = fit("r.csv")
    assert (found.requests, found.left_out) == (2, {"no-object": 1})
    with pytest.raises(WorkloadError, match=r"request 2 .* names no object"):
        cache_curve("r.csv", ["lru"], ["1 kB"])


WRONG: list[tuple[str, bytes, list[str], str]] = [
    (
        "t",
        b"1 2 3\n4 5\n",
        ["--format", "webcachesim"],
        "t: 1 of 2 lines cannot be read, more than --max-unreadable 0.01",
    ),
    ("t", b"1 2 3\n4 5\n", ["--format", "webcachesim"], 'the first is line 2: has fewer than three columns, in "4 5"'),
    ("t", b"1 2 -3\n", ["--format", "webcachesim"], "t: 1 of 1 lines cannot be read"),
    ("z.xz", lzma.compress(LOG.encode()), ["--format", "webcachesim"], "z.xz: 4 of 4 lines cannot be read"),
    ("t", b"\n", ["--format", "webcachesim"], "t: has no request for an object"),
    ("t", b"", ["--format", "cache2k"], "t: holds no record of 4 bytes"),
    ("o", b"short", ["--format", "oracle-general"], "o: holds no record of 24 bytes"),
    ("x.xz", lzma.compress(b"1 2 3\n" * 50)[:-30], ["--format", "webcachesim"], "x.xz: cannot be unpacked"),
    ("x.gz", gzip.compress(b"", mtime=0)[:10] + b"\xff" * 20, ["--format", "webcachesim"], "x.gz: cannot be unpacked"),
    ("log", LOG.encode(), ["--format", "clf"], "that line reads as format squid"),
    (
        "log",
        b"whatever it is\n",
        [],
        f"'{{start}},{{url}},{{bytes}},{{}}', or name it with --format: {', '.join(FORMATS)}",
    ),
    ("ids.xz", lzma.compress(trace("cache2k")), [], "; describe the columns of a log or a trace, {} for others: "),
    ("wiki.csv", b"relative_unix,hash,size\n1,a,9\n", [], "--log-format '{start},{url},{bytes},{}'"),
    ("t", b"", ["--format", "squidd"], 'unknown format "squidd" (did you mean "squid"?); the formats are table, squid'),
    ("log", SERVER_LOG.encode(), ["--keep", "hits"], 'keep: found "hits"; write one of: misses, crossed, all, lines'),
    ("r.csv", f"{TABLE_HEAD}\n".encode(), [], "r.csv"),
]


@pytest.mark.parametrize("verb", ["cache", "fit"])
@pytest.mark.parametrize(("name", "content", "options", "message"), WRONG)
def test_what_cannot_be_read_is_told_by_both_verbs_alike(
    folder: Path, farweb: Farweb, verb: str, name: str, content: bytes, options: list[str], message: str
) -> None:
    Path(name).write_bytes(content)
    refused(farweb, "workload", verb, name, *options, "-o", "f.png", says=message)


@pytest.mark.parametrize("verb", ["cache", "fit"])
def test_a_file_that_is_not_there(folder: Path, farweb: Farweb, verb: str) -> None:
    for path, what in (("absent", "no such file"), (".", "is a folder")):
        refused(farweb, "workload", verb, path, "--format", "squid", says=f"{path}: {what}; name the requests")


def test_both_verbs_have_the_same_options_for_what_they_read(farweb: Farweb) -> None:
    options = [
        {each.name: (each.names, each.meaning) for each in load(f"workload {verb}").options}
        for verb in ("cache", "fit")
    ]
    for name in ("format", "keep", "dynamic", "max_unreadable"):
        assert options[0][name] == options[1][name]


@pytest.mark.skipif(not SHARED.exists(), reason="needs the recorded traces")
@pytest.mark.parametrize(
    ("path", "format_", "requests"),
    [
        ("cache/bu98-adaptsize-request.trace.xz", "webcachesim", 66_987),
        ("cache/cloudPhysicsIO.oracleGeneral.bin.xz", "oracle-general", 113_872),
        ("clf/nasa_19950801.tsv.gz", "clf", 30_969),
        ("clf/nasa-jul95-excerpts.log.gz", "clf", None),
        ("clf/semicomplete-2015-combined.log.gz", "clf", None),
        ("clf/logparser-hackers-combined.log.gz", "clf", None),
        ("squid/webreadr-2010-log.squid", "squid", None),
        ("squid/secrepo-2006-access1.log", "squid", None),
        ("squid/squidview-2007-example.log", "squid", None),
    ],
)
def test_recorded_files_tell_their_formats(path: str, format_: str, requests: int | None) -> None:
    assert format_of(SHARED / path, None) == format_
    if requests is not None:
        curve = cache_curve(SHARED / path, ["lru"], ["10 %"])
        assert (curve.format, curve.requests) == (format_, requests)
