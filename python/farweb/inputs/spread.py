"""Distributions of values of a request table: how many, their mean, and quantiles by rank."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import duckdb

_PERCENTS = (0, 1, 5, 10, 25, 50, 75, 90, 95, 99, 99.9, 100)


@dataclass(frozen=True)
class Spread:
    """Distribution of values: how many, their mean, and quantiles by percent (the value at that rank)."""

    n: int
    mean: float
    quantiles: dict[float, float]


def spread_of_column(database: duckdb.DuckDBPyConnection, column: str, table: str = "requests") -> Spread | None:
    """The distribution of a column's values, in the memory that the database may have, or None when all are null."""
    n, mean = one_row(database, f"SELECT count({column}), avg({column}) FROM {table}")
    if not n:
        return None
    ranks = _ranks(n)
    # DuckDB's own quantiles hold all values in memory, and a window without an order keeps the order of its input.
    ranked = f"SELECT row_number() OVER () AS rank, value FROM (SELECT {column} AS value FROM {table} "
    ranked += f"WHERE {column} IS NOT NULL ORDER BY value)"
    found = database.execute(f"SELECT rank, value FROM ({ranked}) WHERE list_contains(?, rank)", [[*ranks.values()]])
    values = dict(found.fetchall())
    return Spread(n, mean, {percent: values[rank] for percent, rank in ranks.items()})


def one_row(database: duckdb.DuckDBPyConnection, query: str) -> tuple[Any, ...]:
    """The one row that an aggregate has."""
    row = database.execute(query).fetchone()
    assert row is not None, "an aggregate has one row"
    return row


def _ranks(n: int) -> dict[float, int]:
    """The rank of each quantile among `n` values, from 1."""
    return {percent: max(1, math.ceil(Fraction(str(percent)) * n / 100)) for percent in _PERCENTS}
