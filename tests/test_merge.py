"""Request tables and host tables that become one."""

import csv
import gzip
import json
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from farweb import Results, object_ids
from farweb.inputs.merge import merge_requests
from samples import LOG, Farweb, refused

DAY_S = 86_400


def table(path: str, starts: list[float], host: str = "a", **more: list[object]) -> Path:
    """A request table with these starts; sizes count from 1."""
    columns = {
        "start_s": starts,
        "host": [host] * len(starts),
        "request_bytes": [300] * len(starts),
        "response_bytes": list(range(1, len(starts) + 1)),
        **more,
    }
    frame = pl.DataFrame(columns)
    if path.endswith(".parquet"):
        frame.write_parquet(path)
    else:
        frame.write_csv(path, separator="\t" if path.endswith(".tsv") else ",")
    return Path(path)


def merged(*tables: Path | str, align: str = "start", **tags: int) -> pl.DataFrame:
    merge_requests(list(tables), "merged.parquet", align=align, tags=tags)
    return pl.read_parquet("merged.parquet")


def test_each_table_is_a_day_that_begins_at_zero(folder: Path, farweb: Farweb) -> None:
    table("mon.csv", [100.25, 101.5], "a")
    table("tue.tsv", [86_500.1, 86_502.75], "b")
    table("wed.parquet", [3.0, 1.0], "c")  # not in order
    answer = farweb(
        "workload", "merge", "mon.csv", "tue.tsv", "wed.parquet", "--tag", "sample=1", "-o", "m.parquet", "--json"
    )
    assert answer.code == 0, answer.err
    shown = answer.json()
    assert (shown["requests"], shown["span_s"], shown["tagged"]) == (6, 2.65, {"sample": 2})
    assert [each["shift_s"] for each in shown["tables"]] == [-100.25, -86_500.1, -1.0]
    rows = pl.read_parquet("m.parquet").select("start_s", "host", "response_bytes", "tag", "day").rows()
    assert rows == [
        (0.0, "a", 1, "sample", 1),
        (0.0, "b", 1, None, 2),
        (0.0, "c", 2, None, 3),
        (1.25, "a", 2, "sample", 1),
        (2.0, "c", 1, None, 3),
        (2.65, "b", 2, None, 2),
    ]
    schema = pq.read_schema("m.parquet")
    assert schema.field("start_s").metadata[b"unit"] == b"s"
    said = json.loads(schema.metadata[b"farweb.merge"])
    assert [each["table"] for each in said["tables"]] == ["mon.csv", "tue.tsv", "wed.parquet"]
    assert "days" in farweb("workload", "merge", "mon.csv", "tue.tsv", "-o", "m.parquet", "--force").out


NOON = DAY_S / 2


@pytest.mark.parametrize(
    ("align", "starts", "expected"),
    [
        ("none", [[100.25, 101.5], [50.0]], [(50.0, 2), (100.25, 1), (101.5, 1)]),
        (
            "day",
            [[NOON + 5, NOON + 7], [3 * DAY_S + NOON + 4.5], [DAY_S + NOON + 6]],
            [(0.0, 2), (0.5, 1), (1.5, 3), (2.5, 1)],
        ),
        ("day", [[DAY_S - 2.0], [2 * DAY_S + 1.0]], [(0.0, 1), (3.0, 2)]),
    ],
    ids=["starts stay", "the same minutes fall together", "around midnight"],
)
def test_alignment(folder: Path, align: str, starts: list[list[float]], expected: list[tuple[float, int]]) -> None:
    frame = merged(*(table(f"{number}.csv", each) for number, each in enumerate(starts)), align=align)
    assert frame.select("start_s", "day").rows() == expected


def test_imported_logs_know_their_time_of_day(folder: Path, farweb: Farweb) -> None:
    # The first request of LOG starts at 851000005.999: 851000006 less a millisecond more than it took.
    for name, shift in (("one", 0), ("two", DAY_S + 10)):
        lines = (line.split(" ", 1) for line in LOG.splitlines())
        Path(f"{name}.log").write_text("".join(f"{float(end) + shift:.3f} {rest}\n" for end, rest in lines))
        farweb("workload", "import", f"{name}.log", "--format", "squid", "-o", f"{name}.parquet")
    one, two = (pl.read_parquet(f"{name}.parquet") for name in ("one", "two"))
    assert one["start_s"].to_list() == two["start_s"].to_list()
    frame = merged("one.parquet", "two.parquet", align="day")
    for day, later in ((1, 0), (2, 10)):
        found = frame.filter(pl.col("day") == day)["start_s"].to_list()
        assert found == pytest.approx([start + later for start in one["start_s"]], abs=1e-9)
    assert frame["object"].null_count() == 0
    table("three.csv", [1.0])
    undated = ("one.parquet", "three.csv", "--align", "day", "-o", "m.parquet")
    refused(farweb, "workload", "merge", *undated, says="three.csv: has no date, as other tables do")


def test_days_and_tags_and_objects_of_tables_are_kept(folder: Path) -> None:
    x, z, b = object_ids(["/x", "/z", "/b"]).tolist()
    starts = [0.0, 1.0, 2.0]
    table("a.parquet", starts, object=["/x", None, "/z"], tag=["old", None, None], day=[1, 3, 2])
    table("b.csv", [0.5], object=["/b"])
    frame = merged("b.csv", "a.parquet", "b.csv", sample=3)
    assert frame.select("start_s", "object", "tag", "day").rows() == [
        (0.0, b, None, 1),
        (0.0, x, "old", 2),
        (0.0, b, "sample", 5),
        (1.0, None, None, 4),
        (2.0, z, None, 3),
    ]


def test_clients_of_tables_are_kept(folder: Path) -> None:
    seven, eight = object_ids(["10.0.0.7", "10.0.0.8"]).tolist()
    table("a.parquet", [0.0, 1.0], client=["10.0.0.7", None])
    table("b.csv", [0.5, 2.0], client=["10.0.0.8", "10.0.0.7"])
    assert merged("a.parquet", "b.csv").sort("start_s", "client")["client"].drop_nulls().sort().to_list() == sorted(
        [seven, seven, eight]
    )
    table("c.csv", [0.5])
    assert "client" not in merged("c.csv", "c.csv").columns


def test_a_merged_table_is_one_that_runs_take(folder: Path, farweb: Farweb, cable: Path) -> None:
    table("more.csv", [0.0, 3.5], "c.example")
    farweb("workload", "merge", "requests.csv", "more.csv", "-o", "m.parquet")
    assert farweb("workload", "stats", "m.parquet", "--json").json()["requests"] == 5
    for load, requests in ((1, 3), (2, 5)):  # the load counts days
        arguments = ("--set", "workload.requests=m.parquet", "--set", f"workload.load={load}", "--out", f"r{load}")
        answer = farweb("run", cable, *arguments)
        assert answer.code == 0, answer.err
        assert Results.open(f"r{load}").requests.height == requests


def test_days_of_text_tables_are_kept(folder: Path) -> None:
    frame = merged(table("a.csv", [0.0, 1.0], day=[2, 1]), table("b.tsv", [0.5]))
    assert frame.select("start_s", "day").rows() == [(0.0, 2), (0.0, 3), (1.0, 1)]


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    tables=st.lists(st.lists(st.integers(0, 10**13), min_size=1, max_size=40), min_size=1, max_size=4),
    parquet=st.booleans(),
)
def test_every_request_arrives_once_to_the_nanosecond(folder: Path, tables: list[list[int]], parquet: bool) -> None:
    paths = [
        table(f"{number}.{'parquet' if parquet else 'csv'}", [start / 1e9 for start in starts], f"h{number}")
        for number, starts in enumerate(tables)
    ]
    frame = merged(*paths)
    assert frame["start_s"].is_sorted()
    expected = sorted(
        (start - min(starts), f"h{number}", position, number + 1)
        for number, starts in enumerate(tables)
        for position, start in enumerate(starts, start=1)
    )
    starts_ns = (frame["start_s"] * 1e9).round().cast(pl.Int64)
    found = zip(starts_ns, frame["host"], frame["response_bytes"], frame["day"], strict=True)
    assert sorted(found) == expected


def test_large_tables_keep_objects_beside_their_requests(folder: Path) -> None:
    count = 150_000  # several batches, and row groups that do not end with them
    starts = [float(number) for number in range(count)]
    objects = [f"/{number}" for number in range(count)]
    columns = {"start_s": starts, "host": ["a"] * count, "request_bytes": [1] * count, "response_bytes": [1] * count}
    pq.write_table(pa.table({**columns, "object": objects}), "big.parquet", row_group_size=70_001)
    frame = merged("big.parquet", table("b.csv", [0.0]))
    assert frame.filter(pl.col("day") == 1)["object"].to_list() == object_ids(objects).tolist()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a.csv", "-o", "m.csv"), "m.csv: a request table is written as Parquet"),
        (("a.csv", "-o", "a.parquet", "--align", "week"), 'align: found "week"; write one of start, day, none'),
        (("a.csv", "-o", "m.parquet", "--tag", "sample"), "--tag: found sample; write TAG=NUMBER"),
        (("a.csv", "-o", "m.parquet", "--tag", "s=2"), "tag s=2: write a tag and the number of a table, 1 to 1"),
        (("a.csv", "-o", "m.parquet", "--tag", "s=1", "--tag", "t=1"), "two tags for one table"),
        (("gone.csv", "-o", "m.parquet"), "gone.csv: no such file"),
        (("bad.csv", "-o", "m.parquet"), "bad.csv:2: column response_bytes"),
        (("a.csv", "-o", "m.parquet", "--hosts", "h.tsv"), "--hosts and --hosts-out belong together"),
        (("p.parquet", "-o", "p.parquet", "--force"), "p.parquet: is one of the tables"),
    ],
)
def test_what_is_wrong_is_told_and_nothing_written(
    folder: Path, farweb: Farweb, arguments: tuple[str, ...], message: str
) -> None:
    table("a.csv", [0.0])
    table("p.parquet", [0.0])
    Path("bad.csv").write_text("start_s,host,request_bytes,response_bytes\n0,a,1,none\n")
    Path("h.tsv").write_text("host\n")
    before = {path: path.read_bytes() for path in folder.iterdir()}
    refused(farweb, "workload", "merge", *arguments, says=message)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


def test_of_hosts_the_first_table_counts_and_disagreements_are_told(folder: Path, farweb: Farweb) -> None:
    table("a.csv", [0.0])
    Path("1.tsv").write_text("host\tname\twindow_bytes\tmss_bytes\trtt_s\na\twww.a\t8760\t\t0.25\nb\t\t\t536\t\n")
    Path("2.csv").write_text('host,mss_bytes,window_bytes,window_scale,name\na,1460,4096,3,"A, again"\nc,512,,,\n')
    Path("3.hosts.gz").write_bytes(gzip.compress(b"b www.b 8760 1460\n"))
    pl.DataFrame({"host": ["d", "a"], "mss_bytes": [1400, 1460]}).write_parquet("4.parquet")
    given = [argument for name in ("1.tsv", "2.csv", "3.hosts.gz", "4.parquet") for argument in ("--hosts", name)]
    arguments = ("workload", "merge", "a.csv", "-o", "m.parquet", *given, "--hosts-out", "h.tsv")
    shown = farweb(*arguments, "--json").json()["hosts"]
    keys = ("host", "column", "kept", "kept_from", "other", "other_from")
    assert [tuple(each[key] for key in keys) for each in shown["conflicts"]] == [
        ("a", "window_bytes", 8760, "1.tsv", 4096, "2.csv"),
        ("b", "mss_bytes", 536, "1.tsv", 1460, "3.hosts.gz"),
    ]
    with Path("h.tsv").open(newline="") as file:
        rows = [tuple(row.values()) for row in csv.DictReader(file, delimiter="\t")]
    assert rows == [
        ("a", "www.a", "8760", "1460", "0.25", "3", ""),
        ("b", "www.b", "8760", "536", "", "", ""),
        ("c", "", "", "512", "", "", ""),
        ("d", "", "", "1400", "", "", ""),
    ]
    assert "a: window_bytes 8760 of 1.tsv kept, not 4096 of 2.csv" in farweb(*arguments, "--force").out
