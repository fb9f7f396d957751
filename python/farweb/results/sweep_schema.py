"""Schema of the tables of a sweep's folder: columns with units and meanings, and how they are written.

Tables have a column a factor, named like it; where those stand, a specification says `FACTORS`.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from farweb import _core
from farweb.files.columns import ColumnSpec, TableSpec, of_values, results_tables
from farweb.results.design import Design, Factor
from farweb.results.metrics import METRICS, Metric, find_metric, is_of_part, metrics_table

FACTORS = "FACTORS"

Value = str | int | float | bool

_TYPES = {"int64": pa.int64(), "float64": pa.float64(), "bool": pa.bool_(), "string": pa.string()}


def _column(name: str, kind: str, unit: str, description: str, *, nullable: bool = False) -> ColumnSpec:
    return {"name": name, "type": kind, "unit": unit, "nullable": nullable, "description": description}


def _number(name: str, unit: str, description: str) -> ColumnSpec:
    return _column(name, "float64", unit, description, nullable=True)


_LEVELS = _column(FACTORS, "of its levels", "of the factor", "A column a factor, named like it: the level's value.")
_OPTIONAL_LEVELS: ColumnSpec = {**_LEVELS, "nullable": True}
_POINT = _column("point", "int64", "", "Number of the point in the design, from 0.")
_OF_METRIC = "of the metric"
_METRIC = _column("metric", "string", "", "Name of the metric; its unit stands at the end.")
_ENDS = (
    _number(
        "low",
        _OF_METRIC,
        "Lower end of the 95 % confidence interval; null for fewer than two observations, or where failed requests "
        "reach the estimate.",
    ),
    _number("high", _OF_METRIC, "Upper end of the 95 % confidence interval; null as `low`."),
)

_INTERVAL_OF = _column(
    "interval_of",
    "string",
    "",
    "Units that the interval comes from: `replications`; `blocks` of the log's time, where each replication has the "
    "same requests; `none`.",
)

_RUNS: list[ColumnSpec] = [
    _column("run", "string", "", "Identity of the run: a digest of its scenario, seed and input files."),
    _LEVELS,
    _column("replication", "int64", "", "Number of the replication, from 0."),
    _column("seed", "int64", "", "Root of the run's random streams."),
    _column("status", "string", "", "`done` or `failed`."),
    _column("error", "string", "", "Why it failed.", nullable=True),
]

SWEEP_TABLES: dict[str, TableSpec] = {
    "runs": {
        "name": "runs",
        "description": "One row a run, in the order of the plan; the metrics follow.",
        "columns": _RUNS,
    },
    "estimates": {
        "name": "estimates",
        "description": "One row a point of the design and metric: the estimate over replications.",
        "columns": [
            _POINT,
            _LEVELS,
            _METRIC,
            _column("n", "int64", "", "Replications that have a value."),
            _number(
                "mean",
                _OF_METRIC,
                "Mean over replications; of a quantile: that of the requests of all replications together "
                "(where `method` is `bootstrap`), infinite where failed ones reach it.",
            ),
            _number("sd", _OF_METRIC, "Standard deviation between the replications' values."),
            *_ENDS,
            _column("method", "string", "", "How the interval was made: `student`, `bootstrap`, `none`."),
            _INTERVAL_OF,
        ],
    },
    "differences": {
        "name": "differences",
        "description": "Each level of each factor against the factor's first level, paired by replication.",
        "columns": [
            _column("factor", "string", "", "The factor whose levels are compared."),
            _column("level", "string", "", "Its level."),
            _column("base", "string", "", "The level that it is compared with."),
            _column(
                "scope",
                "string",
                "",
                "`overall`: the mean over all combinations of the other factors, whose columns are null; `point`: at "
                "one combination.",
            ),
            _OPTIONAL_LEVELS,
            _METRIC,
            _column("n", "int64", "", "Replications that have both values (overall: at all combinations)."),
            _number("mean", _OF_METRIC, "Mean difference, level less base."),
            _number("sd", _OF_METRIC, "Standard deviation of the replications' differences."),
            *_ENDS,
            _number("base_mean", _OF_METRIC, "Mean at the base, of the same replications."),
            _number("percent", "%", "The mean difference in percent of `base_mean`."),
            _number(
                "unpaired_half_width",
                _OF_METRIC,
                "Half the width that the interval would have if level and base were independent (Welch).",
            ),
            _number(
                "variance_reduction",
                "1",
                "Share by which pairing has reduced the variance of the difference; negative when it has raised it.",
            ),
            _INTERVAL_OF,
        ],
    },
    "effects": {
        "name": "effects",
        "description": "Allocation of variation: one row a metric and source of variation.",
        "columns": [
            _METRIC,
            _column(
                "term",
                "string",
                "",
                "A factor, several joined by × (their interaction), `higher interactions`, `replications` (with common "
                "random numbers: what a seed does at all points alike) or `error`.",
            ),
            _column("order", "int64", "", "Factors in it; 0 for what is no factor."),
            _number("ss", "of the metric, squared", "Sum of squares; of a Latin hypercube, of standardized ranks."),
            _column("df", "int64", "", "Degrees of freedom."),
            _number("percent", "%", "Variation that it explains."),
            _number("ms", "of the metric, squared", "Mean square, `ss` by `df`."),
            _number("f", "1", "`ms` by that of the error; null when there is no error to test against."),
            _number("p", "1", "Chance of an F as large if the term did nothing."),
            _number("coefficient", "1", "Standardized rank regression coefficient, -1 to 1; of Latin hypercubes only."),
            _column("n", "int64", "", "Values that were analysed: runs, or points of a Latin hypercube."),
            _column(
                "transform", "string", "", "What was analysed: values (`none`), their logarithms (`log`), `ranks`."
            ),
            _column("method", "string", "", "The design, which decides on the method."),
        ],
    },
    "level_effects": {
        "name": "level_effects",
        "description": "One row a metric, term and combination of levels: how far it lies from what terms of lower "
        "order say (full factorial: from the mean of all; one at a time: from the base point).",
        "columns": [
            _METRIC,
            _column("term", "string", "", "A factor, or several joined by ×."),
            _column("levels", "string", "", "Level of each of its factors, joined by ×."),
            _OPTIONAL_LEVELS,
            _number("effect", _OF_METRIC, "The effect; of logarithms where `transform` is `log`."),
            *_ENDS,
            _column("n", "int64", "", "Runs that were analysed."),
            _column("transform", "string", "", "What was analysed: values (`none`) or their logarithms (`log`)."),
        ],
    },
    "warmup": {
        "name": "warmup",
        "description": "One row a point: how much of the beginning MSER-5 leaves out, by latency in order of start, "
        "averaged over replications.",
        "columns": [
            _POINT,
            _LEVELS,
            _column("n", "int64", "", "Replications with finished requests."),
            _column("requests", "int64", "", "Finished requests of the replication that has fewest."),
            _column(
                "truncated_requests",
                "int64",
                "",
                "Requests to leave out at the beginning; null for fewer than 50 requests.",
                nullable=True,
            ),
            _number("truncated_s", "s", "Start of the first request that is kept, mean over replications."),
            _column(
                "steady",
                "bool",
                "",
                "True when the minimum lies in the first tenth; else the series is too short or has no steady state.",
                nullable=True,
            ),
            _column("warmup_s", "float64", "s", "What the scenario leaves out, `run.warmup`."),
        ],
    },
    "plan": {
        "name": "plan",
        "description": "One row a planned run, in the order of the plan; written when the sweep begins.",
        "columns": [column for column in _RUNS if column["name"] not in {"status", "error"}],
    },
    "timings": {
        "name": "timings",
        "description": "One row a run: what it cost. The one table that differs between equal sweeps.",
        "columns": [
            _column("run", "string", "", "Identity of the run."),
            _number("wall_s", "s", "Time that it took."),
            _number("cpu_s", "s", "Processor time that it took."),
            _column("events", "int64", "", "Events that it processed.", nullable=True),
            _column("packet_hops", "int64", "", "Arrivals of a packet at the far end of a link.", nullable=True),
            _column("worker", "string", "", "Where it ran.", nullable=True),
        ],
    },
}
"""Tables beside the parts, by name; `farweb schema results` prints them."""


def is_column(name: str) -> bool:
    """True when tables with factors or of runs have a column of that name; small and capital letters are alike."""
    tables = [spec["columns"] for spec in SWEEP_TABLES.values()]
    beside = [columns for columns in tables if {FACTORS, "run"} & {column["name"] for column in columns}]
    beside += [spec["columns"] for spec in results_tables().values()]
    columns = {column["name"] for each in beside for column in each} | set(METRICS)
    return name.lower() in columns or is_of_part(name)


def all_specs() -> list[TableSpec]:
    """Tables of sweeps as `farweb schema results` prints them: the metrics, then the tables."""
    return [metrics_table(), *SWEEP_TABLES.values()]


def factor_type(factor: Factor) -> pa.DataType:
    """The type of a factor's column: truth values, whole numbers or numbers when all levels are, else texts."""
    values = [level.value for level in factor.levels]
    if all(isinstance(value, bool) for value in values):
        return pa.bool_()
    if any(isinstance(value, bool | str) for value in values):
        return pa.string()
    return pa.int64() if all(isinstance(value, int) for value in values) else pa.float64()


def factor_value(factor: Factor, value: Value) -> Value:
    """A level's value as it stands in the factor's column."""
    return _as_type(factor_type(factor), value)


def _as_type(kind: pa.DataType, value: Value) -> Value:
    if pa.types.is_string(kind) and not isinstance(value, str):
        return str(value).lower() if isinstance(value, bool) else str(value)
    return float(value) if pa.types.is_floating(kind) else value


def schema(table: str, design: Design, metrics: Iterable[str] = ()) -> pa.Schema:
    """The Arrow schema of a table of a sweep, units and descriptions in the fields' metadata.

    Args:
        table: A name in `SWEEP_TABLES`.
        design: Its factors are columns.
        metrics: Names of metrics, columns of `runs` only.
    """
    spec = SWEEP_TABLES[table]
    fields: list[pa.Field] = []
    for column in spec["columns"]:
        if column["name"] == FACTORS:
            fields += [_factor_field(factor) for factor in design.factors]
        else:
            fields.append(_field(column))
    fields += [metric_field(find_metric(name)) for name in metrics]
    return pa.schema(
        fields, {"description": spec["description"], "farweb.table": table, "farweb.version": _core.version}
    )


def metric_field(metric: Metric) -> pa.Field:
    """The column of a metric in `runs`."""
    kind = pa.int64() if metric.whole else pa.float64()
    return _described(pa.field(metric.name, kind), metric.unit, metric.description)


def _factor_field(factor: Factor) -> pa.Field:
    levels = ", ".join(level.label for level in factor.levels[:_LEVELS_TOLD])
    more = ", …" if len(factor.levels) > _LEVELS_TOLD else ""
    return _described(
        pa.field(factor.name, factor_type(factor)), factor.unit, f"Level of the factor {factor.name}: {levels}{more}."
    )


_LEVELS_TOLD = 20  # chosen: a Latin hypercube has as many levels as points


def _field(column: ColumnSpec) -> pa.Field:
    return _described(
        pa.field(column["name"], _TYPES[column["type"]], nullable=column["nullable"]),
        column["unit"],
        column["description"],
    )


def _described(field: pa.Field, unit: str, description: str) -> pa.Field:
    return field.with_metadata({"unit": unit, "description": description})


def to_table(table: str, design: Design, rows: Sequence[Mapping[str, Any]]) -> pa.Table:
    """Rows of plain values as a table of a sweep, with null for missing ones.

    Metrics of `runs` are `METRICS`, then the links' in the order of the rows.
    """
    metrics: list[str] = []
    if table == "runs":
        known = {*schema(table, design).names}
        named = dict.fromkeys(name for row in rows for name in row if name not in known)
        metrics = [*METRICS, *(name for name in named if name not in METRICS)]
    wanted = schema(table, design, metrics)
    factors = {factor.name for factor in design.factors}
    columns = []
    for field in wanted:
        values = [row.get(field.name) for row in rows]
        if field.name in factors:
            values = [None if value is None else _as_type(field.type, value) for value in values]
        columns.append(of_values(values, field.type))
    return pa.Table.from_arrays(columns, schema=wanted)


def write_table(table: pa.Table, file: Path) -> None:
    """Write a table of a sweep as Parquet; equal tables give equal bytes."""
    words = [field.name for field in table.schema if pa.types.is_string(field.type)]
    pq.write_table(table, file, compression="zstd", use_dictionary=words)
