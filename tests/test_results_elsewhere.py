"""Result tables as a program that is not farweb reads them: DuckDB has a Parquet reader of its own."""

import json
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from samples import Farweb

TABLES = ("requests", "connections", "exchanges", "links", "legs", "packets")
TYPES = {"int64": "BIGINT", "uint64": "UBIGINT", "float64": "DOUBLE", "bool": "BOOLEAN", "string": "VARCHAR"}
TYPES["list<struct<start: int64, end: int64>>"] = 'STRUCT("start" BIGINT, "end" BIGINT)[]'


@pytest.fixture
def results(farweb: Farweb, cable: Path) -> Path:
    """A run with every record."""
    everything = ("--set", 'record.links_every="1 s"', "--set", "record.packets=all", "--set", "record.exchanges=true")
    answer = farweb("run", cable, *everything, "--out", "results", "--quiet")
    assert answer.code == 0, answer.err
    return Path("results")


def test_every_table_is_as_the_schema_and_the_manifest_say(farweb: Farweb, results: Path) -> None:
    specs = {spec["name"]: spec for spec in farweb("schema", "results", "--json").json()["tables"]}
    rows = json.loads((results / "manifest.json").read_text("utf-8"))["rows"]
    assert set(TABLES) == set(rows) == {path.stem for path in results.glob("*.parquet")}
    for table in TABLES:
        columns = specs[table]["columns"]
        with duckdb.connect() as connection:
            relation = connection.read_parquet(str(results / f"{table}.parquet"))
            assert relation.columns == [column["name"] for column in columns]
            assert [str(each) for each in relation.types] == [TYPES[column["type"]] for column in columns]
            counts = ", ".join(f'count("{column["name"]}")' for column in columns)
            total, *filled = relation.aggregate(f"count(*), {counts}").fetchall()[0]
        assert total == rows[table] > 0
        for column, values in zip(columns, filled, strict=True):
            assert values == total or column["nullable"], f"{table}.{column['name']} has nulls"


def test_every_column_carries_its_unit_and_meaning(farweb: Farweb, results: Path) -> None:
    specs = {spec["name"]: spec for spec in farweb("schema", "results", "--json").json()["tables"]}
    for table in TABLES:
        fields = pq.read_schema(results / f"{table}.parquet")
        for column in specs[table]["columns"]:
            carried = {key.decode(): value.decode() for key, value in fields.field(column["name"]).metadata.items()}
            assert {key: carried.get(key, "") for key in ("unit", "description")} == {
                key: column[key] for key in ("unit", "description")
            }
