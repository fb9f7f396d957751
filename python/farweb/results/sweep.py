"""Results of a sweep: its runs, and their statistics.

Statistics are computed from the rows of `runs` and, for intervals of quantiles and the warm-up, from the requests of
each run. A finished sweep has them as tables; of an unfinished one they are computed from its runs.
"""

import functools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from farweb.errors import ResultsError, RunError
from farweb.files.columns import with_derived
from farweb.files.parquet import Table
from farweb.results.design import Design
from farweb.results.manifest import MANIFEST, RUN_KIND, SWEEP_KIND, parse_manifest, read_manifest, repeats_its_requests
from farweb.results.metrics import find_metric, restored
from farweb.results.requests import times_of
from farweb.results.run import RunTables, how_to_record
from farweb.results.store import Store, failure_name, part_name
from farweb.results.sweep_schema import factor_value, schema, to_table, write_table
from farweb.results.sweep_statistics import STATISTICS, OfRequests, Row, Values, by_point, compute, effects, of_requests
from farweb.results.tables import table_of_run, table_of_sweep

_PLAN = "plan.parquet"

Each = Callable[[Callable[[Sequence[str]], OfRequests | None], Iterable[Sequence[str]]], Iterable[OfRequests | None]]


class SweepTables:
    """The results folder of a sweep or of a search for a size, on this machine or in an object store.

    Tables are `polars.DataFrame`s, with units at the end of column names. `farweb schema results` describes each
    column. Factors are columns, named like them. A *point* is a combination of levels, numbered as in `design.points`.

    Attributes:
        path: The folder; of an object store, its URL.
        manifest: The sweep's manifest.
        design: Its factors and points.
        store: Where its files are.
    """

    def __init__(self, path: str | Path, manifest: dict[str, Any]) -> None:
        self.path = Path(path)
        self.manifest = manifest
        self.design = Design.from_dict(manifest["design"])
        self.store = Store(path)

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open the folder of a sweep, finished or not; a path, or a URL such as s3://bucket/folder.

        Raises:
            ResultsError: There is no sweep at `path`.
        """
        if "://" in str(path):
            return cls(path, parse_manifest(Store(path).read_json(MANIFEST), str(path), SWEEP_KIND))
        return cls(path, read_manifest(Path(path), SWEEP_KIND))

    @property
    def name(self) -> str:
        """Name of the sweep: its scenario's, or the folder's."""
        return self.manifest.get("name") or self.path.name

    @property
    def complete(self) -> bool:
        """True when every planned run has ended, well or not."""
        return bool(self.manifest["complete"])

    @functools.cached_property
    def runs(self) -> pl.DataFrame:
        """One row a run with its factors, replication, seed, status, error and metrics.

        Of an unfinished sweep: the runs that have ended, in the order of the plan.
        """
        there = self.store.has("runs.parquet")
        found = self._read("runs") if there else _frame(to_table("runs", self.design, self._ended()))
        self._points_of(found)  # levels that the design does not have are refused
        return found

    def _read(self, table: str, needed: Sequence[str] = ()) -> pl.DataFrame:
        """A table beside the parts, with its columns of these names; all that are declared when left out."""
        from farweb.files.scan import scan

        file = table_of_sweep(self.store, self.manifest, self.design, table)
        file.require(needed or schema(table, self.design).names)
        return scan([({}, file)]).collect()

    def _ended(self) -> list[Row]:
        """The rows of planned runs that have ended, from parts and failures."""
        finished, failed = self.store.finished(), self.store.failed()
        rows: list[Row] = []
        for planned in self._plan(finished, failed):
            row = {name: planned[name] for name in ("run", *self.design.names, "replication", "seed")}
            if planned["run"] in finished:
                metrics = self._of_part(planned["run"], "metrics")["metrics"]
                rows.append({**restored(metrics), **row, "status": "done", "error": None})
            elif planned["run"] in failed:
                rows.append({**row, "status": "failed", "error": self._failure(planned["run"])["error"]})
        return rows

    def planned_runs(self) -> list[str]:
        """Ids of the runs of the plan, in its order; of ended ones only, where the plan has gone."""
        plan = self._plan(self.store.finished(), self.store.failed(), ("run",))
        return list(dict.fromkeys(row["run"] for row in plan))

    def _plan(self, finished: set[str], failed: set[str], needed: Sequence[str] = ()) -> list[Row]:
        """Run, levels, replication and seed of each planned run, in the order of the plan.

        The folder may hold parts of an earlier sweep with other points. Without a plan, parts say where they
        stand.
        """
        if self.store.has(_PLAN):
            return self._read("plan", needed).to_dicts()
        kept = ("run", "replication", "seed")
        rows = [self._of_part(run, "run", "point", "replication") for run in finished]
        rows += [{**self._failure(run), "run": run} for run in failed - finished]
        rows.sort(key=lambda row: (row["point"], row["replication"]))
        points = (self.design.levels(row["point"]) for row in rows)
        return [
            {**{name: level.value for name, level in levels.items()}, **{name: row[name] for name in kept}}
            for row, levels in zip(rows, points, strict=True)
        ]

    def _failure(self, run: str) -> Row:
        """Record of a failed run."""
        name = failure_name(run)
        try:
            content = json.loads(self.store.read_json(name))
        except (ValueError, RecursionError) as error:
            raise ResultsError(f"{self.store.url}/{name}: cannot be read: {error}") from None
        if not isinstance(content, dict) or {"error", "point", "replication", "seed"} - content.keys():
            raise ResultsError(f"{self.store.url}/{name}: is no record of a failure: it is damaged")
        for wrong in self._no_point(content):
            raise ResultsError(f"{self.store.url}/{name}: {wrong}: it is damaged")
        found: Row = content
        return found

    def _of_part(self, run: str, *needed: str) -> Row:
        """The manifest of a finished run, which has these keys."""
        manifest = self.manifest_of(run)
        for wrong in (*(f"has no {key}" for key in needed if key not in manifest), *self._no_point(manifest)):
            raise ResultsError(f"{self.store.url}/{part_name(run)}/{MANIFEST}: {wrong}: it is damaged")
        return manifest

    def _no_point(self, row: Mapping[str, Any]) -> Iterator[str]:
        if (point := row.get("point", 0)) >= len(self.design.points):
            yield f"point: found {point}"

    def manifest_of(self, run: str) -> dict[str, Any]:
        """The manifest of a finished run.

        Raises:
            ResultsError: It is damaged.
        """
        part = part_name(run)
        return parse_manifest(self.store.read_json(f"{part}/{MANIFEST}"), f"{self.store.url}/{part}", RUN_KIND)

    @functools.cached_property
    def timings(self) -> pl.DataFrame:
        """One row a finished run: its cost. The one table that differs between equal sweeps."""
        if self.store.has("timings.parquet"):
            return self._read("timings")
        names = ("run", "wall_s", "cpu_s", "events", "packet_hops")
        parts = (self.manifest_of(run) for run in self._done())
        return _frame(to_table("timings", self.design, [{name: part[name] for name in names} for part in parts]))

    @functools.cached_property
    def fixed_points(self) -> frozenset[int]:
        """Points with the requests of one table in all replications."""
        columns = self.points, self.runs["run"], self.runs["status"]
        runs = {point: run for point, run, status in zip(*columns, strict=True) if status == "done"}
        return frozenset(
            point for point, run in runs.items() if repeats_its_requests(self.manifest_of(run)["scenario"])
        )

    def has_requests(self, point: int) -> bool:
        """True where a run of a point has ended and has rows of requests."""
        runs = self.runs.filter((self.points == point) & (self.runs["status"] == "done"))["run"]
        return any(self.manifest_of(run)["rows"].get("requests") for run in runs)

    @property
    def unanswered(self) -> int:
        """Requests after the warm-up of all runs, where none was answered; 0 where any was."""
        return 0 if self.runs["done"].sum() else int(self.runs["requests"].sum() or 0)

    def require_done(self) -> None:
        """Refuse a sweep without results.

        Raises:
            ResultsError: No run has ended yet.
            RunError: All that have ended failed.
        """
        if self.runs.is_empty():
            raise ResultsError(f"{self.path}: no run has ended yet")
        if not self._done():
            raise RunError(
                f"{self.path}: {len(self.runs)} of {self.manifest['runs']} runs failed, the first with: "
                f"{self.runs['error'][0]}"
            )

    def _done(self) -> list[str]:
        done: list[str] = self.runs.filter(self.runs["status"] == "done")["run"].to_list()
        return done

    def part(self, run: str) -> RunTables:
        """The results of one run.

        Raises:
            ResultsError: There is no such run.
        """
        return self._kind_of_part.open_part(self.store, part_name(run))

    _kind_of_part: type[RunTables] = RunTables

    @functools.cached_property
    def metrics(self) -> list[str]:
        """Names of the metrics that runs have, in the order of their columns."""
        columns = self.runs.columns
        return columns[columns.index("error") + 1 :]

    @functools.cached_property
    def points(self) -> pl.Series:
        """The number of the design's point of each row of `runs`."""
        return self._points_of(self.runs)

    def _points_of(self, runs: pl.DataFrame) -> pl.Series:
        numbers: dict[tuple[Any, ...], int] = {}
        for point in range(len(self.design.points)):
            levels = self.design.levels(point)
            key = tuple(factor_value(factor, levels[factor.name].value) for factor in self.design.factors)
            numbers.setdefault(key, point)
        factors = self.design.names
        rows = runs.select(factors).iter_rows() if factors else [()] * len(runs)
        try:
            return pl.Series("point", [numbers[row] for row in rows], pl.Int64)
        except KeyError as error:
            raise ResultsError(
                f"{self.store.url}: a run has levels that the design does not have: {error!s:.200}"
            ) from None

    def values(self, metric: str) -> Values:
        """A metric of all runs: a row a point, a column a replication, NaN where a run has none or has failed.

        A quantile is infinite where failed requests reach it. A share `within` a time is worked out from the requests
        of the runs.

        Raises:
            ResultsError: There is no such metric.
        """
        if metric not in self._values:
            limit_s = find_metric(metric).within_s
            if limit_s is None:
                raise ResultsError(f"{self.store.url}: its runs have no {metric}")
            self._values[metric] = self._by_run(self._within(limit_s))
        return self._values[metric]

    @functools.cached_property
    def _values(self) -> dict[str, Values]:
        columns = {metric: self.runs[metric].cast(float).fill_null(math.nan).to_numpy() for metric in self.metrics}
        return {metric: self._by_run(column) for metric, column in columns.items()}

    def _by_run(self, column: NDArray[np.float64]) -> Values:
        """Values of the rows of `runs`, by point and replication."""
        replications = self.runs["replication"].to_list()
        most = max(replications, default=0)
        if min(replications, default=0) < 0 or most >= self.design.replications:
            raise ResultsError(f"{self.store.url}: its runs have replications that it cannot have, such as {most}")
        return by_point(self.design, self.points.to_list(), replications, column)

    def _within(self, limit_s: float) -> NDArray[np.float64]:
        """The share of each run's requests that were answered within a time."""
        there = self.tables_of_runs("requests")
        runs = (run if run in there else None for run in self.runs["run"])
        return np.array([run and times_of(self.store, run).within(limit_s) for run in runs], float)

    def scan(self, table: str) -> pl.LazyFrame:
        """A table of all finished runs as a lazy frame; the columns run, the factors and replication precede its own.

        A run that stands at two points, which are the same scenario, is there at both.

        Raises:
            ResultsError: No run has recorded this table.
        """
        from farweb.files.scan import scan

        parts = self.tables_of_runs(table)
        if not parts:
            raise ResultsError(f"{self.store.url}: no run has a table of {table}: {how_to_record(table)}")
        labels = ["run", *self.design.names, "replication"]
        rows = self.runs.select(labels).iter_rows(named=True)
        labelled = [(row, parts[row["run"]]) for row in rows if row["run"] in parts]
        return with_derived(table, scan(labelled, {name: self.runs.schema[name] for name in labels}))

    def tables_of_runs(self, table: str) -> dict[str, Table]:
        """A table of each finished run that has recorded it, by run.

        Raises:
            ResultsError: The file of a run that has recorded it has gone.
        """
        found = {}
        for run in self._done():
            manifest, part = self._manifests[run], part_name(run)
            if self.store.has(f"{part}/{table}.parquet"):
                found[run] = table_of_run(self.store, part, manifest, table)
            elif table in manifest["rows"]:
                raise ResultsError(
                    f"{self.store.path(part)}/{table}.parquet: has gone; the same farweb sweep makes it again, and "
                    f"farweb verify {self.store.url} names all that is damaged"
                )
        return found

    @functools.cached_property
    def _manifests(self) -> dict[str, dict[str, Any]]:
        return {run: self.manifest_of(run) for run in self._done()}

    def estimates(self, metrics: Sequence[str] | None = None) -> pl.DataFrame:
        """The estimate of each metric at each point, with its 95 % confidence interval.

        Columns: point, the factors, metric, n, mean, sd, low, high, method, interval_of. Of quantiles, `mean` is the
        quantile of the requests of all replications together.

        Args:
            metrics: Names; all when left out.

        Raises:
            ResultsError: There is no such metric.
        """
        return self._statistics("estimates", metrics)

    def differences(self, metrics: Sequence[str] | None = None) -> pl.DataFrame:
        """Each level of each factor against the factor's first level, paired by replication.

        Raises:
            ResultsError: There is no such metric.
        """
        return self._statistics("differences", metrics)

    def effects(self, metrics: Sequence[str] | None = None, *, log: bool = False) -> pl.DataFrame:
        """The allocation of variation: a row a metric and source of variation.

        A metric without effects has no row. `refusals` has the reasons.

        Args:
            metrics: Names; all when left out.
            log: Analyse the metrics' logarithms: for effects that multiply rather than add.

        Raises:
            ResultsError: There is no such metric, or a value has no logarithm.
        """
        return self._analysed("effects", metrics, log)

    def level_effects(self, metrics: Sequence[str] | None = None, *, log: bool = False) -> pl.DataFrame:
        """The effects of levels and of their combinations (see `effects`)."""
        return self._analysed("level_effects", metrics, log)

    def _analysed(self, table: str, metrics: Sequence[str] | None, log: bool) -> pl.DataFrame:
        if not log:
            return self._statistics(table, metrics)
        rows: list[Row] = []
        for metric in self.metrics if metrics is None else metrics:
            try:
                terms, levels = effects(self.design, metric, self.values(metric), self.fixed_points, log=True)
            except ValueError as error:
                raise ResultsError(f"{self.store.url}: {error}") from None
            rows += terms if table == "effects" else levels
        return _frame(to_table(table, self.design, rows))

    def warmup(self) -> pl.DataFrame:
        """Warm-up that MSER-5 would leave out, a row a point."""
        return self._statistics("warmup", None)

    def refusals(self, metrics: Sequence[str] | None = None) -> dict[str, str]:
        """Reasons why there is no allocation of variation, by metric, or empty when there is one for all."""
        found = {}
        for metric in self.metrics if metrics is None else metrics:
            try:
                effects(self.design, metric, self.values(metric), self.fixed_points)
            except ValueError as error:
                found[metric] = str(error)
        return found

    def _statistics(self, table: str, metrics: Sequence[str] | None) -> pl.DataFrame:
        for metric in metrics or ():
            self.values(metric)
        frame = self.statistics(table)
        if metrics is None:
            return frame
        if derived := {metric: self.values(metric) for metric in metrics if metric not in self.metrics}:
            frame = pl.concat(
                [
                    frame,
                    _frame(compute(self.design, derived, [None] * len(self.design.points), self.fixed_points)[table]),
                ]
            )
        return frame.filter(pl.col("metric").is_in(list(metrics)))

    def statistics(self, table: str) -> pl.DataFrame:
        """A table of `STATISTICS`, from the folder, or computed from its runs."""
        return self._all_statistics[table]

    @functools.cached_property
    def _all_statistics(self) -> dict[str, pl.DataFrame]:
        """The tables of statistics by name, from the folder, or computed from its runs."""
        if self.complete and all(self.store.has(f"{table}.parquet") for table in STATISTICS):
            found = {table: self._read(table) for table in STATISTICS}
            self._look_at_estimates(found["estimates"])
            return found
        return {table: _frame(rows) for table, rows in self.tables().items()}

    def _look_at_estimates(self, estimates: pl.DataFrame) -> None:
        """Look for one of each metric at each point."""
        pairs = estimates.filter(estimates["metric"].is_in(self.metrics)).select("point", "metric").n_unique()
        if pairs != (written := len(self.design.points) * len(self.metrics)):
            raise ResultsError(
                f"{self.store.url}/estimates.parquet: has {pairs:,} metrics at points, and {written:,} were written; "
                "it is damaged: run the sweep again"
            )

    def tables(self, each: Each = map) -> dict[str, pa.Table]:
        """The tables of statistics, computed; units and descriptions are in their fields' metadata.

        Args:
            each: Applies a function to the runs of each point, in order: `map`, or the workers of a pool.
        """
        values = {metric: self.values(metric) for metric in self.metrics}
        files = self.tables_of_runs("requests")
        runs: list[list[str]] = [[] for _ in self.design.points]
        for run, point in zip(self.runs["run"], self.points, strict=True):
            if run in files:
                runs[point].append(run)
        return compute(self.design, values, each(functools.partial(of_requests, self.store), runs), self.fixed_points)

    def write_tables(self, each: Each = map) -> None:
        """Compute the tables of statistics and write them into the folder; equal runs give equal bytes. See `tables`.

        Raises:
            StorageError: The folder cannot be written to.
        """
        for name, table in self.tables(each).items():
            with self.store.file(f"{name}.parquet") as file:
                write_table(table, file)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r})"


def _frame(table: pa.Table) -> pl.DataFrame:
    frame = pl.from_arrow(table)
    assert isinstance(frame, pl.DataFrame), "it has columns"
    return frame
