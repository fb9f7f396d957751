"""Columns on their way to the core and back, request tables in Parquet, and the writer of results."""

import errno
import itertools
import os
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import psutil
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import farweb.run
from farweb import Scenario, WorkloadError, _core, object_ids
from farweb.files.columns import NULL_CODE, NULL_INT, TableSpec, arrow_schema, from_arrow, results_tables, to_arrow
from farweb.files.sorting import sort_parquet
from farweb.inputs.tables import REQUESTS, open_requests
from farweb.run import TableWriter
from samples import Farweb

SPEC: TableSpec = {
    "name": "things",
    "description": "Things.",
    "columns": [
        {"name": "n", "type": "int64", "unit": "B", "nullable": True, "description": "A number."},
        {"name": "x", "type": "float64", "unit": "s", "nullable": True, "description": "A time."},
        {"name": "word", "type": "string", "unit": "", "nullable": True, "description": "A word."},
        {"name": "yes", "type": "bool", "unit": "", "nullable": False, "description": "Whether."},
    ],
}
NULLS: Any = st.none()


@given(
    st.lists(
        st.tuples(
            NULLS | st.integers(-(2**63) + 1, 2**63 - 1),
            NULLS | st.floats(allow_nan=False),
            NULLS | st.sampled_from(["", "a", "naïve", "b"]),
        )
    )
)
def test_columns_go_there_and_back(rows: list[tuple[int | None, float | None, str | None]]) -> None:
    schema = arrow_schema({**SPEC, "columns": SPEC["columns"][:3]}, {})
    columns = list(zip(*rows, strict=True)) or [(), (), ()]
    arrays = [pa.array(list(column), field.type) for column, field in zip(columns, schema, strict=True)]
    batch = pa.RecordBatch.from_arrays(arrays, schema=schema)
    assert to_arrow(from_arrow(batch), schema).equals(batch)


def test_what_stands_for_null_becomes_null() -> None:
    batch = to_arrow(
        {
            "n": np.array([NULL_INT, 5]),
            "x": np.array([np.nan, 0.5]),
            "word": (np.array([NULL_CODE, 1], dtype=np.int32), ["unused", "used"]),
            "yes": np.array([True, False]),
        },
        arrow_schema(SPEC, {}),
    )
    assert batch.to_pylist() == [
        {"n": None, "x": None, "word": None, "yes": True},
        {"n": 5, "x": 0.5, "word": "used", "yes": False},
    ]


@settings(deadline=None, max_examples=20)
@given(cuts=st.lists(st.integers(0, 1000), max_size=6))
def test_equal_rows_give_equal_bytes_however_they_are_handed_over(
    tmp_path_factory: pytest.TempPathFactory, cuts: list[int]
) -> None:
    folder = tmp_path_factory.mktemp("bytes")
    schema = arrow_schema(SPEC, {"seed": "1"})
    numbers = np.arange(1000)
    words = [f"w{i}" for i in range(7)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(farweb.run, "_ROWS_A_GROUP", 64)
        patch.setattr(farweb.run, "_ROWS_AS_THEY_ARE", 16)
        for name, bounds in (("whole", [0, 1000]), ("parts", [0, *sorted(cuts), 1000])):
            with TableWriter(folder / name, schema) as writer:
                for start, end in itertools.pairwise(bounds):
                    part = numbers[start:end]
                    # Each part has a dictionary of its own, as rows that come at another time have.
                    used = sorted({words[i % 7] for i in part})
                    codes = np.array([used.index(words[i % 7]) for i in part], dtype=np.int32)
                    writer.add({"n": part, "x": part / 8, "word": (codes, used), "yes": part % 2 == 0})
    assert writer.rows == 1000
    assert (folder / "whole").read_bytes() == (folder / "parts").read_bytes()
    assert pq.read_table(folder / "parts")["n"].to_pylist() == list(range(1000))
    assert pq.ParquetFile(folder / "parts").num_row_groups == 16


def test_few_rows_are_not_compressed(tmp_path: Path) -> None:
    schema = arrow_schema({**SPEC, "columns": SPEC["columns"][:1]}, {})
    for rows, compression in ((128, "UNCOMPRESSED"), (129, "ZSTD")):
        with TableWriter(tmp_path / "t.parquet", schema) as writer:
            for row in range(rows):
                writer.add({"n": np.array([row])})
        assert pq.read_metadata(tmp_path / "t.parquet").row_group(0).column(0).compression == compression
        assert pq.read_table(tmp_path / "t.parquet")["n"].to_pylist() == list(range(rows))


@pytest.mark.parametrize("rows", [0, 1])
def test_what_waits_for_a_group_takes_no_memory_but_for_its_rows(tmp_path: Path, rows: int) -> None:
    """Connections that stay open, and series with a row a step, add little or nothing in thousands of steps."""
    schema = arrow_schema(results_tables()["connections"], {})
    batch = pa.RecordBatch.from_pylist([dict.fromkeys(schema.names)] * rows, schema=_nullable(schema))
    process = psutil.Process()
    with TableWriter(tmp_path / "t.parquet", schema) as writer:
        before = process.memory_info().rss
        for _ in range(3000):
            writer.add(from_arrow(batch))
        grown = process.memory_info().rss - before
    assert writer.rows == pq.read_metadata(tmp_path / "t.parquet").num_rows == 3000 * rows
    assert grown < 12e6, "25 MB and more, if each batch stayed"


def _nullable(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field.with_nullable(True) for field in schema])


def request_table(path: Path, starts: list[float | None], **more: Any) -> Path:
    n = len(starts)
    columns = {"start_s": starts, "host": ["h"] * n, "request_bytes": [300] * n, "response_bytes": range(1, n + 1)}
    pl.DataFrame({**columns, **more}).write_parquet(path)
    return path


@pytest.fixture(params=[0, 100], ids=["read again", "kept"])
def kept(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Most rows that are kept."""
    monkeypatch.setattr(_core, "rows_kept", request.param)
    return int(request.param)


@pytest.mark.usefixtures("kept")
def test_a_table_in_order_is_read_where_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = request_table(tmp_path / "r.parquet", [0.0, 1.0, 1.0, 5.0])
    monkeypatch.setattr("farweb.inputs.tables.sort_parquet", None)
    with open_requests(path) as table:
        for _ in range(2):
            (batch,) = table.core
            assert np.array_equal(np.asarray(batch["start_s"]), [0, 1, 1, 5])


@pytest.mark.usefixtures("kept")
def test_a_table_in_another_order_is_sorted_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    path = request_table(tmp_path / "r.parquet", [5.0, 1.0, 0.0, 1.0])
    with open_requests(path) as table:
        (batch,) = table.core
        assert np.array_equal(np.asarray(batch["start_s"]), [0, 1, 1, 5])
        assert np.array_equal(np.asarray(batch["response_bytes"]), [3, 2, 4, 1])
    assert os.listdir(scratch) == []


def test_sorting_keeps_the_order_of_equal_rows(tmp_path: Path) -> None:
    rows = 300_000  # several row groups: several threads sort
    frame = pl.DataFrame({"start_s": [float(i * 7919 % 10) for i in range(rows)], "row": range(rows)})
    frame.write_parquet(tmp_path / "r.parquet", row_group_size=20_000)
    sort_parquet(tmp_path / "r.parquet", tmp_path / "sorted.parquet", by="start_s", scratch=tmp_path)
    assert pl.read_parquet(tmp_path / "sorted.parquet").equals(frame.sort("start_s", maintain_order=True))


def test_numbers_as_hosts_and_small_integers_are_as_good(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    columns = {"start_s": [0, 1], "host": [7, 8], "request_bytes": [300, 300], "response_bytes": [1, 2]}
    pl.DataFrame(columns, schema_overrides={"request_bytes": pl.Int16}).write_parquet(path)
    with open_requests(path) as table:
        (batch,) = table.core
    host = batch["host"]
    assert isinstance(host, tuple)
    assert len(host) == 2
    codes, words = host
    assert [words[code] for code in np.asarray(codes)] == ["7", "8"]
    assert np.asarray(batch["request_bytes"]).dtype == np.int64


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"size": [1]}, 'unknown column "size"'),
        ({"respons_bytes": [1]}, 'did you mean "response_bytes"'),
        ({"response_bytes": ["many"]}, 'column "response_bytes": .* found, int64 expected'),
        ({"response_bytes": [1.5]}, 'column "response_bytes": double found, int64 expected'),
    ],
)
def test_columns_that_a_request_table_does_not_have(tmp_path: Path, columns: dict[str, list[Any]], said: str) -> None:
    path = request_table(tmp_path / "r.parquet", [0.0], **columns)
    with pytest.raises(WorkloadError, match=said), open_requests(path):
        pass


def test_a_damaged_page_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    path = request_table(tmp_path / "r.parquet", [float(i) for i in range(5000)])
    content = bytearray(path.read_bytes())
    content[4 : len(content) // 2] = bytes(byte ^ 0xA5 for byte in content[4 : len(content) // 2])
    path.write_bytes(content)
    with pytest.raises(WorkloadError, match=r"r\.parquet: cannot be read"), open_requests(path):
        pass


def test_columns_that_a_request_table_needs(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    pl.DataFrame({"start_s": [0.0], "host": ["h"]}).write_parquet(path)
    with pytest.raises(WorkloadError, match='no column "request_bytes"'), open_requests(path):
        pass


def test_the_core_takes_and_gives_every_column_that_it_declares(tmp_path: Path) -> None:
    row = {"start_s": 0.5, "host": "a", "request_bytes": 1, "response_bytes": 2, "server_s": 0.25}
    row |= {"wait_s": 0.125, "object": 7, "source": "proxy", "tag": "sample", "day": 3, "client": 9}
    row |= {"method": "HEAD", "caching": "bypass", "tls": False}
    pq.write_table(pa.Table.from_pylist([row], schema=arrow_schema(REQUESTS, {})), tmp_path / "requests.parquet")
    with open_requests(tmp_path / "requests.parquet") as requests:
        (found,) = requests.core
    assert to_arrow(found, arrow_schema(REQUESTS, {})).to_pylist() == [row]
    assert {column["name"] for column in REQUESTS["columns"]} == set(found)


def test_a_full_disk_in_a_run_leaves_nothing(farweb: Farweb, cable: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(pq.ParquetWriter, "write_table", full)
    answer = farweb("run", cable)
    assert answer.code == 3
    assert answer.err == "farweb: results/cable: cannot be written: No space left on device; nothing was left there\n"
    assert sorted(os.listdir()) == ["cable.toml", "requests.csv"]


def test_a_request_table_is_copied_without_loss(folder: Path) -> None:
    rng = np.random.default_rng(5)
    # Up to 2^52 ns: 52 days.
    nanos = np.sort(rng.integers(0, 2**52, 2000))
    table = pl.DataFrame(
        {
            "start_s": nanos / 1e9,
            "host": [f"host {n % 7}" for n in range(2000)],
            "request_bytes": rng.integers(1, 1000, 2000),
            "response_bytes": rng.integers(1, 2**53, 2000),
            "server_s": [None if n % 3 else n / 7 for n in range(2000)],
            "wait_s": [None if n % 6 else n / 14 for n in range(2000)],
            "object": pl.Series([None if n % 3 else 2**64 - 2 - n for n in range(2000)], dtype=pl.UInt64),
            "source": [None if n % 5 else f"node {n % 2}" for n in range(2000)],
            "tag": [None if n % 11 else "sample" for n in range(2000)],
            "day": rng.integers(1, 4, 2000),
            "client": pl.Series([None if n % 4 else 2**64 - 2 - n % 97 for n in range(2000)], dtype=pl.UInt64),
            "method": [None if n % 5 else "POST" for n in range(2000)],
            "caching": [None if n % 5 else "bypass" for n in range(2000)],
            "tls": [None if n % 5 else n % 2 == 0 for n in range(2000)],
        }
    )
    table.write_parquet("given.parquet")
    schema = arrow_schema(REQUESTS, {})

    def copy(path: Path) -> pl.DataFrame:
        with open_requests(path) as requests:
            batches = [to_arrow(columns, schema) for columns in requests.core]
        return pl.DataFrame(pl.from_arrow(pa.Table.from_batches(batches)))

    first = copy(Path("given.parquet"))
    times = ("server_s", "wait_s")
    assert first.drop("start_s", *times).equals(table.drop("start_s", *times))
    assert all(first[name].is_null().equals(table[name].is_null()) for name in times)
    first.write_parquet("copy.parquet")
    assert copy(Path("copy.parquet")).equals(first)
    first.write_csv("copy.csv")
    assert copy(Path("copy.csv")).equals(first)


def ids(table: str | Path, column: str = "object") -> list[int | None]:
    """The ids in a column of a request table as the core has them."""
    with open_requests(Path(table)) as requests:
        (columns,) = requests.core
    found: list[int | None] = to_arrow(columns, arrow_schema(REQUESTS, {}))[column].to_pylist()
    return found


@pytest.mark.parametrize("column", ["object", "client"])
def test_an_object_or_client_has_one_id_whatever_the_table_is(folder: Path, column: str) -> None:
    names = ["http://a.example/", None, "17", "", "-1", "18446744073709551615", "http://a.example/"]
    rows = {"start_s": [0.0] * 7, "host": ["a"] * 7, "request_bytes": [1] * 7, "response_bytes": [1] * 7}
    table = pl.DataFrame({**rows, column: names})
    page, nothing = 0x7FDD_CFE1_B34A_A373, 0xCBF2_9CE4_8422_2325
    expected = [page, None, 17, nothing, *object_ids(["-1", "18446744073709551615"]).tolist(), page]
    table.with_columns(pl.col(column).cast(pl.Categorical)).write_parquet("t.parquet")
    assert ids("t.parquet", column) == expected
    for kind in (pa.string(), pa.large_string(), pa.string_view(), pa.dictionary(pa.int32(), pa.string())):
        pq.write_table(pa.table({**rows, column: pa.array(names, kind)}), "t.parquet")
        assert ids("t.parquet", column) == expected
    table.write_csv("t.csv")
    assert ids("t.csv", column) == [page, None, 17, None, *expected[4:]]  # an empty field is none


@pytest.mark.parametrize("column", ["object", "client"])
def test_numbers_are_their_own_ids(folder: Path, column: str) -> None:
    table = pl.DataFrame({"start_s": [0.0] * 2, "host": ["a"] * 2, "request_bytes": [1] * 2, "response_bytes": [1] * 2})
    for kind in (pl.Int8, pl.Int64, pl.UInt32, pl.UInt64, pl.Null, *([pl.Float64] if column == "object" else [])):
        numbers = pl.Series([None, None if kind == pl.Null else 7], dtype=kind)
        table.with_columns(numbers.alias(column)).write_parquet("t.parquet")
        assert ids("t.parquet", column) == numbers.to_list()
    table.with_columns(pl.Series(column, [3, -1])).write_parquet("t.parquet")
    with pytest.raises(WorkloadError, match=rf"column \"?{column}\"?: .*-1"):
        ids("t.parquet", column)


@pytest.mark.parametrize(
    ("column", "row", "found"),
    [
        (pa.array([None, 7.0, 8.0]), 2, r"7\.0 \(double\)"),
        (pa.array([7, 8, -1]), 3, r"-1 \(int64\)"),
        (pa.array([["a"], None, ["b"]]), 1, r"\['a'\] \(list<.*>\)"),
        (pa.array([None, True, False]), 2, r"True \(bool\)"),
        (pa.array([b"a", b"b", b"c"]), 1, r"b'a' \(binary\)"),
        (pa.array([None, 1.5, 2.5]).dictionary_encode(), 2, r"1\.5 \(double\)"),
        (pa.array([{"ip": "a" * 100}, None, None]), 1, r".{39} \(struct<ip: string>\)"),
    ],
)
def test_clients_that_are_neither_text_nor_whole_numbers(folder: Path, column: pa.Array, row: int, found: str) -> None:
    rows = {"start_s": [0.0] * 3, "host": ["a"] * 3, "request_bytes": [1] * 3, "response_bytes": [1] * 3}
    pq.write_table(pa.table({**rows, "client": column}), "t.parquet")
    said = rf"^t\.parquet, row {row}: column client: found {found}; write text, or a whole number from 0 to 2\^64 - 2$"
    with pytest.raises(WorkloadError, match=said):
        ids("t.parquet", "client")


def test_rows_of_wrong_clients_count_from_the_first_batch(folder: Path) -> None:
    count = 70_000
    rows = {"start_s": [0.0] * count, "host": ["a"] * count, "request_bytes": [1] * count}
    clients = pa.array([1] * (count - 1) + [-1])
    pq.write_table(pa.table({**rows, "response_bytes": [1] * count, "client": clients}), "t.parquet")
    said = r"t\.parquet, row 70000: column client: found -1"
    with pytest.raises(WorkloadError, match=said), open_requests(Path("t.parquet")):
        pass


def test_a_long_client_is_hashed_as_any_text(folder: Path) -> None:
    client = "x" * 50_000_000
    rows = {"start_s": [0.0], "host": ["a"], "request_bytes": [1], "response_bytes": [1], "client": [client]}
    pq.write_table(pa.table(rows), "t.parquet")
    assert ids("t.parquet", "client") == object_ids([client]).tolist()


@pytest.mark.parametrize("copies", ["same", "renamed"])
def test_results_have_the_objects_and_who_served_them(cable: Path, folder: Path, copies: str) -> None:
    objects = ["http://a.example/", "", "17"]
    lines = (folder / "requests.csv").read_text().splitlines()
    header, *rows = [f"{line},{last}" for line, last in zip(lines, ["object", *objects], strict=True)]
    (folder / "requests.csv").write_text("\n".join([header, *rows]) + "\n")
    keys = {"workload.load": "2", "workload.copies_offset": "1 s", "workload.copies_hosts": copies}
    requests = Scenario.load(cable).with_(keys).run(seed=1, out="r").requests.sort("request")
    first, second = requests["object"].to_list()[::2], requests["object"].to_list()[1::2]
    assert first == [*object_ids(objects[:1]).tolist(), None, 17]
    assert (first == second) == (copies == "same")
    assert requests["object"].dtype == pl.UInt64
    assert requests["served_by"].to_list() == ["server"] * 6


def test_a_table_of_one_row_group_is_read_in_slices(folder: Path) -> None:
    random = np.random.default_rng(1)
    rows = 1_000_000
    whole = pa.table(
        {
            "start_s": np.sort(random.uniform(0, 1000, rows)),
            "host": pa.array(["a.example"] * rows).dictionary_encode(),
            "request_bytes": random.integers(1, 2**40, rows),
            "response_bytes": random.integers(1, 2**40, rows),
        }
    )
    pq.write_table(whole, "requests.parquet", row_group_size=rows, use_dictionary=["host"], compression="none")
    del whole
    size, before = Path("requests.parquet").stat().st_size, pa.total_allocated_bytes()
    with open_requests(Path("requests.parquet")) as requests:
        held = [pa.total_allocated_bytes() - before for _ in requests.core]
    assert size > 24e6
    assert max(held) < size / 3
