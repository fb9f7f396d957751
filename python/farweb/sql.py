"""SQL over results: a DuckDB database in memory, whose tables are those of a run or a sweep.

A query reads what it needs of the Parquet files and changes nothing: there is no access to other files, nothing is
loaded or written, and a statement that is not a query is refused.
"""

import difflib
import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from farweb.columns import derived_in_sql, results_tables
from farweb.errors import ResultsError

if TYPE_CHECKING:
    import duckdb
    import polars as pl
    import pyarrow as pa

    from farweb.results import Results
    from farweb.sweep.results import SweepResults


def query_run(results: "Results", query: str) -> "pl.DataFrame":
    """What an SQL query finds in the tables of a run: requests, and all others that were recorded.

    Raises:
        ResultsError: The query is wrong, or is not a query.
    """
    import duckdb

    with duckdb.connect() as database:
        for table in results_tables():
            file = results.path / f"{table}.parquet"
            if file.is_file():
                database.execute(
                    f"CREATE VIEW {table} AS SELECT part.*{derived_in_sql(table, 'part')} "
                    f"FROM {_parquet([str(file.absolute())])} AS part"
                )
        return _answer(database, str(results.path.absolute()), query)


def query_sweep(sweep: "SweepResults", query: str) -> "pl.DataFrame":
    """What an SQL query finds in the tables of a sweep.

    Its own: runs, estimates, differences, effects, level_effects, warmup, timings; of all its runs together, with the
    columns run, the factors and replication first: requests, and all others that were recorded. Names of factors
    have dots and are written in double quotes: `"workload.load"`.

    Raises:
        ResultsError: The query is wrong, or is not a query.
    """
    import duckdb

    from farweb.sweep.results import STATISTICS
    from farweb.sweep.tables import to_table

    store = sweep.store

    def place(file: str) -> str:
        return file if store.folder is not None else str(store.filesystem.unstrip_protocol(file))

    named = set(re.findall(r"\w+", query.lower()))
    with duckdb.connect() as database:
        labels = ["run", *(factor.name for factor in sweep.design.factors), "replication"]
        if store.folder is None:
            database.register_filesystem(store.filesystem)
        database.register("runs", sweep.runs.to_arrow())
        database.register("timings", sweep.timings.to_arrow())
        for table in STATISTICS:
            # Those of an unfinished sweep are computed: not unless they are asked for.
            wanted = sweep.complete or table in named
            rows = sweep.statistics(table).to_arrow() if wanted else to_table(table, sweep.design, [])
            database.register(table, rows)
        for table in results_tables():
            if files := sweep.files(table):
                own = ", ".join(f"runs.{_quoted(label)}" for label in labels)
                without = ", ".join(["filename", *_shared(labels, table)])
                database.execute(
                    f"CREATE VIEW {table} AS SELECT {own}, part.* EXCLUDE ({without}){derived_in_sql(table, 'part')} "
                    f"FROM {_parquet(map(place, files.values()))} AS part "
                    r"JOIN runs ON runs.run = regexp_extract(part.filename, 'run=([^/\\]*)[/\\][^/\\]*$', 1)"
                )
        return _answer(database, place(store.path("")), query)


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


def _shared(labels: Iterable[str], table: str) -> list[str]:
    """Columns of a run's table that are called like a label, whose name then stands for the label."""
    names = {column["name"] for column in results_tables()[table]["columns"]}
    return [_quoted(label) for label in labels if label in names]


def _parquet(files: Iterable[str]) -> str:
    """The rows of files, as a table of SQL, with the column `filename`."""
    texts = ", ".join("'" + _escaped(file).replace("'", "''") + "'" for file in files)
    return f"read_parquet([{texts}], filename = true, hive_partitioning = false)"


def _escaped(path: str) -> str:
    """A path as DuckDB takes it, to which `*`, `?` and `[` are patterns."""
    return re.sub(r"([*?\[])", r"[\1]", path)


def _answer(database: "duckdb.DuckDBPyConnection", path: str, query: str) -> "pl.DataFrame":
    import duckdb
    import polars as pl

    _lock(database, path)
    try:
        statements = database.extract_statements(query)
        if len(statements) != 1 or statements[0].type not in {
            duckdb.StatementType.SELECT,
            duckdb.StatementType.EXPLAIN,
        }:
            raise ResultsError("farweb sql takes one query (SELECT, DESCRIBE, SHOW TABLES) and changes nothing")
        table = database.sql(query).to_arrow_table()
    except duckdb.Error as error:
        raise ResultsError(_explained(str(error), database)) from None
    frame = pl.from_arrow(_plain(table))
    assert isinstance(frame, pl.DataFrame), "it has columns"
    return frame


def _lock(database: "duckdb.DuckDBPyConnection", path: str) -> None:
    """Leave nothing to be reached but the results folder."""
    folders = {path, _escaped(path)}
    texts = ", ".join("'" + folder.replace("'", "''") + "'" for folder in sorted(folders))
    for setting in (
        f"allowed_directories = [{texts}]",
        "enable_external_access = false",
        "python_enable_replacements = false",  # names of variables of this program
        "lock_configuration = true",
    ):
        database.execute(f"SET {setting}")


def _plain(table: "pa.Table") -> "pa.Table":
    """Sums of whole numbers come as decimals of 38 digits; here they become whole numbers again, or numbers."""
    import pyarrow as pa

    for position, field in enumerate(table.schema):
        if pa.types.is_decimal(field.type):
            column = table.column(position)
            try:
                column = column.cast(pa.int64() if field.type.scale == 0 else pa.float64())
            except pa.ArrowInvalid:
                column = column.cast(pa.float64())
            table = table.set_column(position, field.name, column)
    return table


def _explained(message: str, database: "duckdb.DuckDBPyConnection") -> str:
    """An error of SQL in a line: what is wrong, and what was probably meant."""
    first = message.splitlines()[0]
    place = next((line.partition(": ")[2] for line in message.splitlines() if line.startswith("LINE ")), "")
    if missing := re.search(r'Referenced (?:column|table) "(.+?)" not found', first):
        rows = database.execute("SELECT DISTINCT column_name FROM duckdb_columns() WHERE NOT internal").fetchall()
        return f"no column {missing[1]} in that table{_nearest(missing[1], [name for (name,) in rows])}"
    if missing := re.search(r"Table with name (.+?) does not exist", first):
        rows = database.execute("SELECT DISTINCT table_name FROM duckdb_columns() WHERE NOT internal").fetchall()
        names = sorted(name for (name,) in rows)
        return f"no table {missing[1]}{_nearest(missing[1], names)}; there are {', '.join(names)}"
    what = re.sub(r"^\w+ Error: ", "", first)
    return f"SQL: {what}{f' (in: {place.strip()})' if place else ''}"


def _nearest(name: str, names: Iterable[str]) -> str:
    near = difflib.get_close_matches(name.lower(), names, 1, 0.5)
    if not near:
        return ""
    written = near[0] if re.fullmatch(r"\w+", near[0]) else _quoted(near[0])
    return f"; did you mean {written}?"
