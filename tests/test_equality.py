"""The comparison of results that `make equality` makes: equal results pass, and every difference is named."""

import json
import shutil
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from equality.differences import Comparison, compare, compare_answers
from samples import Farweb


@pytest.fixture
def before(farweb: Farweb, cable: Path) -> Path:
    farweb("run", cable, "--set", "record.links_every=100 ms", "--set", "record.packets=all", "--out", "before")
    return Path("before")


def changed(before: Path, table: str, column: str, value: pa.Scalar | None) -> Comparison:
    """Differences found when the first row has this value, or when the column is gone."""
    after = before.with_name("after")
    shutil.copytree(before, after)
    rows = pq.read_table(before / f"{table}.parquet")
    index = rows.column_names.index(column)
    if value is None:
        rows = rows.remove_column(index)
    else:
        values = [value, *list(rows[column])[1:]]
        rows = rows.set_column(index, rows.schema.field(column), pa.array(values, rows.schema.field(column).type))
    pq.write_table(rows, after / f"{table}.parquet")
    return compare(before, after)


def test_a_run_equals_itself(farweb: Farweb, cable: Path, before: Path) -> None:
    farweb("run", cable, "--set", "record.links_every=100 ms", "--set", "record.packets=all", "--out", "after")
    found = compare(before, Path("after"))
    rows = sum(pq.read_metadata(file).num_rows for file in before.glob("*.parquet"))
    assert (found.rows, found.different, found.new) == (rows, [], set())


def test_one_nanosecond_in_one_row_is_found(before: Path) -> None:
    first = pq.read_table(before / "packets.parquet")["time_ns"][0].as_py()
    found = changed(before, "packets", "time_ns", pa.scalar(first + 1))
    [line] = found.different
    assert line.startswith("packets.time_ns: 1 of ")
    assert line.endswith(f"the first is row 0: {first} before, {first + 1} after")


def test_the_sign_of_zero_is_found(before: Path) -> None:
    found = changed(before, "links", "queue_bytes_mean", pa.scalar(-0.0))
    assert [line.partition(":")[0] for line in found.different] == ["links.queue_bytes_mean"]


def test_a_column_that_is_gone_differs_and_a_new_one_is_named(before: Path) -> None:
    assert changed(before, "requests", "acked_ns", None).different == ["requests.acked_ns: is gone"]
    back = compare(before.with_name("after"), before)
    assert (back.different, back.new) == ([], {"requests.acked_ns"})


def test_tables_rows_and_totals_are_compared(before: Path) -> None:
    after = before.with_name("after")
    shutil.copytree(before, after)
    (after / "legs.parquet").unlink()
    requests = pq.read_table(after / "requests.parquet")
    pq.write_table(requests.slice(1), after / "requests.parquet")
    manifest = json.loads((after / "manifest.json").read_text())
    manifest["packet_hops"] += 1
    (after / "manifest.json").write_text(json.dumps(manifest))
    gone, shorter, total = compare(before, after).different
    assert gone == "legs: is gone"
    assert shorter == f"requests: has {len(requests)} rows before and {len(requests) - 1} after"
    assert total.startswith("manifest.packet_hops: ")


def test_answers_are_compared_by_byte_and_numbers_by_12_digits() -> None:
    said = (0, json.dumps({"answer": "It carries its load.", "links": [{"rate": 1e6}, {"rate": None}]}), "")
    assert compare_answers(said, said).different == []
    near = (0, said[1].replace("1000000.0", "1000000.0000001"), "")
    assert near != said and compare_answers(said, near).different == []
    other = (3, said[1].replace("1000000.0", "1000001.0").replace("its", "the"), "")
    names = [line.partition(":")[0] for line in compare_answers(said, other).different]
    assert names == ["answer", "code", "links.0.rate"]
    refused = compare_answers(said, (2, "", "cable.toml:3: path: missing"))
    assert "links.0.rate: is gone" in refused.different
