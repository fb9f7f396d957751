"""SQL over results: a DuckDB database in memory with the tables of a run or a sweep.

A query reads only its part of the Parquet files and can change nothing: DuckDB is handed the rows by Arrow, has no
access to any file, the results' own included, and gets a statement only if its parser takes it for a SELECT.
"""

import math
import re
from collections.abc import Iterable, Sequence

import duckdb
import polars as pl
import pyarrow as pa
import pyarrow.dataset as ds

from farweb.errors import FarwebError, ResultsError, RunError, refusal_in
from farweb.files.columns import derived_in_sql, results_tables
from farweb.files.scratch import scratch
from farweb.files.sorting import open_database
from farweb.memory import spare_bytes
from farweb.results.run import RunTables
from farweb.results.sweep import SweepTables
from farweb.text.words import listed, nearest

_LEAST_BYTES = 64 << 20  # of memory for a query. Chosen: with less DuckDB counts no rows


def query_run(results: RunTables, query: str) -> pl.DataFrame:
    """Answer an SQL query over the tables of a run: requests, and all others that were recorded.

    Raises:
        ResultsError: The query is wrong, or is not a query.
        RunError: There is too little memory for it, or too few threads.
    """
    from farweb.files.dataset import dataset

    refusals: list[FarwebError] = []
    with scratch() as folder, open_database(folder) as database:
        for table in results_tables():
            if results.has(table):
                rows = dataset({table: results.table(table)}, refusals)
                _view(database, table, rows, f"SELECT part.*{derived_in_sql(table, 'part')} FROM part")
        return _answer(database, query, refusals, "the run did not record it")


def query_sweep(sweep: SweepTables, query: str) -> pl.DataFrame:
    """Answer an SQL query over the tables of a sweep.

    Its own: runs, estimates, differences, effects, level_effects, warmup, timings; of all its runs together, with the
    columns run, the factors and replication first: requests, and all others that were recorded. Names of factors
    have dots and are written in double quotes: `"workload.load"`.

    Raises:
        ResultsError: The query is wrong, or is not a query.
        RunError: There is too little memory for it, or too few threads.
    """
    from farweb.files.dataset import dataset
    from farweb.results.sweep_schema import to_table
    from farweb.results.sweep_statistics import STATISTICS

    refusals: list[FarwebError] = []
    named = set(re.findall(r"\w+", query.lower()))
    with scratch() as folder, open_database(folder) as database:
        labels = ["run", *sweep.design.names, "replication"]
        database.register("runs", sweep.runs.to_arrow())
        database.register("timings", sweep.timings.to_arrow())
        for table in STATISTICS:
            # Statistics of an unfinished sweep are computed on demand only.
            wanted = sweep.complete or table in named
            rows = sweep.statistics(table).to_arrow() if wanted else to_table(table, sweep.design, [])
            database.register(table, rows)
        for table in results_tables():
            if parts := sweep.tables_of_runs(table):
                own = ", ".join(f"runs.{_quoted(label)}" for label in labels)
                without = ", ".join([_PART_OF, *_shared(labels, table)])
                columns = f"{own}, part.* EXCLUDE ({without}){derived_in_sql(table, 'part')}"
                joined = f"FROM part JOIN runs ON runs.run = part.{_PART_OF}"
                rows = dataset(parts, refusals, _PART_OF)
                _view(database, table, rows, f"SELECT {columns} {joined}")
        has_ended = bool(sweep.tables_of_runs("requests"))
        return _answer(database, query, refusals, "no run recorded it" if has_ended else "no run has ended")


def _view(database: duckdb.DuckDBPyConnection, name: str, rows: ds.Dataset, select: str) -> None:
    """Make a view of what `select` finds in the table `part`, which is `rows`."""
    found = database.from_arrow(rows).query("part", select)
    assert found is not None, "a SELECT has rows"
    found.create_view(name)


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _shared(labels: Iterable[str], table: str) -> list[str]:
    """Columns of a run's table with the name of a label. The name then stands for the label."""
    names = {column["name"] for column in results_tables()[table]["columns"]}
    return [_quoted(label) for label in labels if label in names]


_PART_OF = "part_of_run"  # a column that no table has


def _answer(
    database: duckdb.DuckDBPyConnection, query: str, refusals: Sequence[FarwebError], absent: str
) -> pl.DataFrame:
    """The answer to a query; refusals of its tables come before errors that follow from them.

    Args:
        database: The tables that are there.
        query: In SQL.
        refusals: Of rows, as they are read.
        absent: Why a table that results may have is not there.
    """
    if (spare := spare_bytes()) < math.inf:
        database.execute(f"SET memory_limit = '{max(_LEAST_BYTES, int(spare) // 2)}B'")
    lock(database)
    try:
        statements = database.extract_statements(query)
        if [statement.type for statement in statements] != [duckdb.StatementType.SELECT]:
            raise ResultsError("farweb sql takes one query (SELECT, DESCRIBE, SHOW TABLES) and changes nothing")
        table = database.sql(query).to_arrow_table()
        table.validate(full=True)  # texts are UTF-8
    except (duckdb.Error, OSError) as error:
        if refusals:
            raise refusals[0] from None
        if refused := refusal_in(str(error)):
            raise RunError(f"SQL: {refused}") from None
        raise ResultsError(_explained(str(error), database, absent)) from None
    except (pa.ArrowException, UnicodeDecodeError) as error:
        if refusals:
            raise refusals[0] from None
        raise ResultsError(f"the answer cannot be read, a table is damaged: {str(error).splitlines()[0]}") from None
    frame = pl.from_arrow(_plain(table))
    assert isinstance(frame, pl.DataFrame), "it has columns"
    return frame


def lock(database: duckdb.DuckDBPyConnection) -> None:
    """Leave nothing to be reached but the tables that the database has: no file, no variable of this program."""
    database.execute("SET enable_external_access = false")
    database.execute("SET lock_configuration = true")


def _plain(table: pa.Table) -> pa.Table:
    """Sums of whole numbers come as decimals of 38 digits; here they become whole numbers again, or numbers."""
    for position, field in enumerate(table.schema):
        if pa.types.is_decimal(field.type):
            column = table.column(position)
            try:
                column = column.cast(pa.int64() if field.type.scale == 0 else pa.float64())
            except pa.ArrowInvalid:
                column = column.cast(pa.float64())
            table = table.set_column(position, field.name, column)
    return table


def _explained(message: str, database: duckdb.DuckDBPyConnection, absent: str) -> str:
    """An error of SQL in a line: the mistake, and the word probably meant, or why a table is `absent`."""
    first = message.splitlines()[0]
    place = next((line.partition(": ")[2] for line in message.splitlines() if line.startswith("LINE ")), "")
    if missing := re.search(r'Referenced (?:column|table) "(.+?)" not found', first):
        asked = "SELECT column_name, table_name FROM duckdb_columns() WHERE NOT internal ORDER BY table_name"
        rows = database.execute(asked).fetchall()
        if owners := [table for column, table in rows if column == missing[1]]:
            return f"no column {missing[1]} in that table; {listed(owners)} {'has' if len(owners) == 1 else 'have'} it"
        return f"no column {missing[1]} in that table{_nearest(missing[1], [column for column, _ in rows])}"
    if missing := re.search(r"Table with name (.+?) does not exist", first):
        rows = database.execute("SELECT DISTINCT table_name FROM duckdb_columns() WHERE NOT internal").fetchall()
        names = sorted(name for (name,) in rows)
        if missing[1].lower() in results_tables():
            return f"no table {missing[1]}: {absent}; there are {', '.join(names)}"
        meant = _nearest(missing[1], [*names, *results_tables()])
        why = "" if meant == _nearest(missing[1], names) else f" {absent}"
        return f"no table {missing[1]}{meant}{why}; there are {', '.join(names)}"
    what = re.sub(r"^\w+ Error: ", "", first)
    return f"SQL: {what}{f' (in: {place.strip()})' if place else ''}"


def _nearest(name: str, names: Iterable[str]) -> str:
    near = nearest(name.lower(), names, 0.5)
    if not near:
        return ""
    written = near if re.fullmatch(r"\w+", near) else _quoted(near)
    return f"; did you mean {written}?"
