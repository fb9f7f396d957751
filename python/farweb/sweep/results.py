"""The results of a sweep: its runs, and what they tell together.

Statistics are computed from the rows of `runs` and, for intervals of quantiles and the warm-up, from the requests of
each run. A finished sweep has them as tables; of an unfinished one they are computed from what is there.
"""

import functools
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from farweb.errors import ResultsError
from farweb.metrics import find_metric
from farweb.results import MANIFEST, SWEEP_KIND, how_to_record, read_manifest
from farweb.statistics.intervals import Interval, quantiles, student
from farweb.sweep import analysis
from farweb.sweep.analysis import Row, Values
from farweb.sweep.design import Design
from farweb.sweep.requests import QUANTILES, Finished, finished_requests
from farweb.sweep.tables import factor_value, to_table, write_table

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa
    from rich.console import RenderableType

    from farweb.sweep.summary import SweepSummary

PARTS = "parts"
FAILURES = "failures"
STATISTICS = ("estimates", "differences", "effects", "level_effects", "warmup")


class SweepResults:
    """The results folder of a sweep or of a search for a size.

    Tables are `polars.DataFrame`s whose column names end in their unit; `farweb schema results` describes each column.
    Factors are columns, named like them. A *point* is a combination of levels; its number is that in `design.points`.
    """

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        self.path = path
        self.manifest = manifest
        self.design = Design.from_dict(manifest["design"])

    @classmethod
    def open(cls, path: str | Path) -> "SweepResults":
        """Open the folder of a sweep, finished or not.

        Raises:
            ResultsError: There is no sweep at `path`.
        """
        path = Path(path)
        return cls(path, read_manifest(path, SWEEP_KIND))

    @property
    def name(self) -> str:
        """What the sweep is called: its scenario's name, or the folder's."""
        return self.manifest.get("name") or self.path.name

    @property
    def complete(self) -> bool:
        """Whether every planned run has ended, well or not."""
        return bool(self.manifest["complete"]) and (self.path / "runs.parquet").is_file()

    @functools.cached_property
    def runs(self) -> "pl.DataFrame":
        """One row a run with its factors, replication, seed, status, error and metrics.

        Of an unfinished sweep: the runs that have ended, in the order of the plan.
        """
        if self.complete:
            return self._read("runs")
        return _frame(to_table("runs", self.design, self._ended()))

    def _read(self, table: str) -> "pl.DataFrame":
        import polars as pl

        return pl.read_parquet(self.path / f"{table}.parquet", glob=False)

    def _ended(self) -> list[Row]:
        """The rows of runs that have ended, from parts and failures, in the order of the plan."""
        failures = {file.stem: _json(file) for file in self.path.glob(f"{FAILURES}/*.json")}
        ended = {run: {**failure, "status": "failed"} for run, failure in failures.items()}
        for file in self.path.glob(f"{PARTS}/run=*/{MANIFEST}"):
            part = _json(file)
            kept = {name: part[name] for name in ("run", "point", "replication", "seed", "metrics")}
            ended[part["run"]] = {**kept, "status": "done", "error": None}
        rows = [
            {**planned, **{name: row[name] for name in ("run", "replication", "seed", "status", "error")}, **metrics}
            for planned, row in self._planned(ended)
            for metrics in [row.get("metrics", {})]
        ]
        return rows

    def _planned(self, ended: Mapping[str, Row]) -> Iterator[tuple[Row, Row]]:
        """Levels of each planned run that has ended, and what came of it, in the order of the plan."""
        if (self.path / "plan.parquet").is_file():
            # Where a run stands in the design may have changed since it was done; the plan is of now.
            for planned in self._read("plan").iter_rows(named=True):
                if row := ended.get(planned["run"]):
                    yield {name: planned[name] for name in self._factors()}, {**row, **planned}
            return
        for row in sorted(ended.values(), key=lambda row: (row["point"], row["replication"])):
            yield {name: level.value for name, level in self.design.levels(row["point"]).items()}, row

    def _factors(self) -> list[str]:
        return [factor.name for factor in self.design.factors]

    @functools.cached_property
    def timings(self) -> "pl.DataFrame":
        """One row a finished run: what it cost. The one table that differs between equal sweeps."""
        if self.complete and (self.path / "timings.parquet").is_file():
            return self._read("timings")
        names = ("run", "wall_s", "cpu_s", "events", "packet_hops")
        parts = (_json(self.path / PARTS / f"run={run}" / MANIFEST) for run in self._done())
        return _frame(to_table("timings", self.design, [{name: part[name] for name in names} for part in parts]))

    def _done(self) -> list[str]:
        done: list[str] = self.runs.filter(self.runs["status"] == "done")["run"].to_list()
        return done

    @functools.cached_property
    def metrics(self) -> list[str]:
        """Names of the metrics that runs have, in the order of their columns."""
        columns = self.runs.columns
        return columns[columns.index("error") + 1 :]

    @functools.cached_property
    def points(self) -> "pl.Series":
        """The number of the design's point of each row of `runs`."""
        import polars as pl

        numbers: dict[tuple[Any, ...], int] = {}
        for point in range(len(self.design.points)):
            levels = self.design.levels(point)
            key = tuple(factor_value(factor, levels[factor.name].value) for factor in self.design.factors)
            numbers.setdefault(key, point)
        rows = self.runs.select(self._factors()).iter_rows()
        try:
            return pl.Series("point", [numbers[row] for row in rows], pl.Int64)
        except KeyError as error:
            raise ResultsError(f"{self.path}: a run has levels that the design does not have: {error}") from None

    def values(self, metric: str) -> Values:
        """A metric of all runs: a row a point, a column a replication; NaN where a run has none or has not ended well.

        Raises:
            ResultsError: There is no such metric.
        """
        if metric not in self.metrics:
            find_metric(metric)
            raise ResultsError(f"{self.path}: its runs have no {metric}")
        return self._values[metric]

    @functools.cached_property
    def _values(self) -> dict[str, Values]:
        replications, points = self.runs["replication"].to_numpy(), self.points.to_numpy()
        shape = len(self.design.points), replications.max(initial=-1) + 1
        found = {metric: np.full(shape, math.nan) for metric in self.metrics}
        for metric, array in found.items():
            array[points, replications] = self.runs[metric].cast(float).fill_null(math.nan).to_numpy()
        return found

    def scan(self, table: str) -> "pl.LazyFrame":
        """A table of all finished runs as a lazy frame; the columns run, the factors and replication precede its own.

        Raises:
            ResultsError: No run has recorded this table.
        """
        import polars as pl

        files = self.files(table)
        if not files:
            raise ResultsError(f"{self.path}: no run has a table of {table}: {how_to_record(table)}")
        labels = ["run", *self._factors(), "replication"]
        of_file = self.runs.select(labels).join(
            pl.DataFrame({"run": list(files), "file": [str(file) for file in files.values()]}), on="run"
        )
        rows = pl.scan_parquet(list(files.values()), glob=False, include_file_paths="file")
        joined = rows.join(of_file.lazy(), on="file", maintain_order="left")
        return joined.select(*labels, pl.exclude("file", *labels))

    def files(self, table: str) -> dict[str, Path]:
        """The file of a table of each finished run that has recorded it, by run."""
        files = {run: self.path / PARTS / f"run={run}" / f"{table}.parquet" for run in self._done()}
        return {run: file for run, file in files.items() if file.is_file()}

    def estimates(self, metrics: Sequence[str] | None = None) -> "pl.DataFrame":
        """The estimate of each metric at each point, with its 95 % confidence interval over replications.

        Columns: point, the factors, metric, n, mean, sd, low, high, method. Of quantiles, `mean` is the quantile of the
        requests of all replications together.

        Args:
            metrics: Names; all when left out.

        Raises:
            ResultsError: There is no such metric.
        """
        return self._statistics("estimates", metrics)

    def differences(self, metrics: Sequence[str] | None = None) -> "pl.DataFrame":
        """Each level of each factor against the factor's first level, paired by replication.

        Raises:
            ResultsError: There is no such metric.
        """
        return self._statistics("differences", metrics)

    def effects(self, metrics: Sequence[str] | None = None, *, log: bool = False) -> "pl.DataFrame":
        """The allocation of variation: a row a metric and source of variation.

        A metric for which there can be none has no row; `refusals` has the reasons.

        Args:
            metrics: Names; all when left out.
            log: Analyse the metrics' logarithms: for effects that multiply rather than add.

        Raises:
            ResultsError: There is no such metric, or a value has no logarithm.
        """
        return self._analysed("effects", metrics, log)

    def level_effects(self, metrics: Sequence[str] | None = None, *, log: bool = False) -> "pl.DataFrame":
        """The effects of levels and of their combinations; see `effects`."""
        return self._analysed("level_effects", metrics, log)

    def _analysed(self, table: str, metrics: Sequence[str] | None, log: bool) -> "pl.DataFrame":
        if not log:
            return self._statistics(table, metrics)
        rows: list[Row] = []
        for metric in self.metrics if metrics is None else metrics:
            try:
                terms, levels = analysis.effects(self.design, metric, self.values(metric), log=True)
            except ValueError as error:
                raise ResultsError(f"{self.path}: {error}") from None
            rows += terms if table == "effects" else levels
        return _frame(to_table(table, self.design, rows))

    def warmup(self) -> "pl.DataFrame":
        """How much of the beginning of runs MSER-5 would leave out, a row a point."""
        return self._statistics("warmup", None)

    def refusals(self, metrics: Sequence[str] | None = None) -> dict[str, str]:
        """Why there is no allocation of variation, by metric; empty when there is one for all."""
        found = {}
        for metric in self.metrics if metrics is None else metrics:
            try:
                analysis.effects(self.design, metric, self.values(metric))
            except ValueError as error:
                found[metric] = str(error)
        return found

    def _statistics(self, table: str, metrics: Sequence[str] | None) -> "pl.DataFrame":
        import polars as pl

        for metric in metrics or ():
            self.values(metric)
        frame = self.statistics(table)
        return frame if metrics is None else frame.filter(pl.col("metric").is_in(list(metrics)))

    def statistics(self, table: str) -> "pl.DataFrame":
        """A table of `STATISTICS`, as it is in the folder or computed from what is there."""
        return self._all_statistics[table]

    @functools.cached_property
    def _all_statistics(self) -> "dict[str, pl.DataFrame]":
        """The tables of statistics by name, as they are in the folder or computed from what is there."""
        if self.complete and all((self.path / f"{table}.parquet").is_file() for table in STATISTICS):
            return {table: self._read(table) for table in STATISTICS}
        return {table: _frame(rows) for table, rows in self.tables().items()}

    def tables(self) -> "dict[str, pa.Table]":
        """The tables of statistics, computed; units and descriptions are in their fields' metadata."""
        rows: dict[str, list[Row]] = {table: [] for table in STATISTICS}
        for metric in self.metrics:
            values = self.values(metric)
            rows["differences"] += analysis.differences(self.design, metric, values)
            try:
                terms, levels = analysis.effects(self.design, metric, values)
            except ValueError:
                continue
            rows["effects"] += terms
            rows["level_effects"] += levels
        for point, finished in self._finished():
            found = _quantiles(finished)
            for metric in self.metrics:
                interval = found.get(metric)
                method = "student" if interval is None else "bootstrap"
                interval = student(self.values(metric)[point]) if interval is None else interval
                rows["estimates"].append(analysis.estimate_row(self.design, point, metric, interval, method))
            if finished:
                runs = [(each.start_s, each.latency_s) for each in finished]
                rows["warmup"].append(analysis.warmup_row(self.design, point, runs, finished[0].warmup_s))
        return {table: to_table(table, self.design, found) for table, found in rows.items()}

    def _finished(self) -> Iterator[tuple[int, list[Finished]]]:
        """Of each point the requests that finished, a replication each."""
        files = self.files("requests")
        runs = self.runs["run"].to_list()
        points = self.points.to_list()
        for point in range(len(self.design.points)):
            of_point = [run for run, its_point in zip(runs, points, strict=True) if its_point == point and run in files]
            yield point, [finished_requests(files[run].parent) for run in of_point]

    def write_tables(self) -> None:
        """Compute the tables of statistics and write them into the folder; equal runs give equal bytes.

        Raises:
            RunError: The folder cannot be written to.
        """
        from farweb.atomic import staged_file

        for name, table in self.tables().items():
            with staged_file(self.path / f"{name}.parquet") as stage:
                write_table(table, stage)

    def sql(self, query: str) -> "pl.DataFrame":
        """What an SQL query finds in the tables of the sweep; see `farweb.sql`.

        Raises:
            ResultsError: The query is wrong, or is not a query.
        """
        from farweb.sql import query_sweep

        return query_sweep(self, query)

    def summary(
        self, metrics: Sequence[str] | None = None, by: Sequence[str] | None = None, *, log: bool = False
    ) -> "SweepSummary":
        """What the sweep tells, in a few tables.

        Args:
            metrics: Names of metrics to show; the main ones when left out.
            by: Names of factors to show estimates by, which then are means over the levels of the others; all points
                when left out.
            log: Allocate the variation of the metrics' logarithms.

        Raises:
            ResultsError: There is no such metric or factor, or a value has no logarithm.
        """
        from farweb.sweep.summary import summarize

        return summarize(self, metrics, by, log=log)

    def __repr__(self) -> str:
        return f"SweepResults({str(self.path)!r})"

    def __rich__(self) -> "RenderableType":
        return self.summary()

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def _quantiles(finished: Sequence[Finished]) -> dict[str, Interval]:
    """The metrics that are quantiles, from the requests of all replications of a point."""
    found: dict[str, Interval] = {}
    for of, shares in QUANTILES.items():
        if finished:
            intervals = quantiles([each.times(of) for each in finished], list(shares.values()))
            found |= dict(zip(shares, intervals, strict=True))
    return found


def _frame(table: "pa.Table") -> "pl.DataFrame":
    import polars as pl

    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame), "it has columns"
    return frame


def _json(file: Path) -> Row:
    try:
        content: Row = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise ResultsError(f"{file}: cannot be read: {error}") from None
    return content
