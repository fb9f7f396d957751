"""The results of a sweep: its runs, and what they tell together.

Statistics are computed from the rows of `runs` and, for intervals of quantiles and the warm-up, from the requests of
each run. A finished sweep has them as tables; of an unfinished one they are computed from what is there.
"""

import functools
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from farweb.errors import ResultsError
from farweb.metrics import METRICS, find_metric
from farweb.results import SWEEP_KIND, read_manifest
from farweb.statistics.intervals import student
from farweb.sweep.design import Design
from farweb.sweep.tables import SWEEP_TABLES, factor_value, to_table

if TYPE_CHECKING:
    import polars as pl

    from farweb.plot import SweepPlots

PARTS = "parts"
FAILURES = "failures"


class SweepResults:
    """The results folder of a sweep or of a search for a size.

    Tables are `polars.DataFrame`s whose column names end in their unit; `farweb schema results` describes each column.
    Factors are columns, named like them.
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

        Of an unfinished sweep: the runs that have ended, by point and replication.
        """
        import polars as pl

        if self.complete:
            return pl.read_parquet(self.path / "runs.parquet", glob=False)
        frame = pl.from_arrow(to_table("runs", self.design, list(self._gather())))
        assert isinstance(frame, pl.DataFrame), "it has columns"
        return frame

    def _gather(self) -> Iterator[Mapping[str, Any]]:
        """The rows of runs that have ended, from parts and failures."""
        rows: list[dict[str, Any]] = []
        for file in sorted(self.path.glob(f"{PARTS}/run=*/manifest.json")):
            part = json.loads(file.read_text("utf-8"))
            rows.append({**part, **part["metrics"], "status": "done", "error": None})
        done = {row["run"] for row in rows}
        for file in sorted(self.path.glob(f"{FAILURES}/*.json")):
            failure = {"run": file.stem, "status": "failed", **json.loads(file.read_text("utf-8"))}
            if failure["run"] not in done:
                rows.append(failure)
        rows.sort(key=lambda row: (row["point"], row["replication"]))
        wanted = {*(column["name"] for column in SWEEP_TABLES["runs"]["columns"]), *METRICS}
        for row in rows:
            levels = {name: level.value for name, level in self.design.levels(row["point"]).items()}
            kept = {key: value for key, value in row.items() if key in wanted or key in row.get("metrics", ())}
            yield {**kept, **levels}

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
        rows = self.runs.select(factor.name for factor in self.design.factors).iter_rows()
        try:
            return pl.Series("point", [numbers[row] for row in rows], pl.Int64)
        except KeyError as error:
            raise ResultsError(f"{self.path}: a run has levels that the design does not have: {error}") from None

    def values(self, metric: str) -> "list[np.ndarray[Any, np.dtype[np.float64]]]":
        """The values of a metric: for each point those of its finished runs, NaN where a run has none.

        Raises:
            ResultsError: There is no such metric.
        """
        self._check_metric(metric)
        done = (self.runs["status"] == "done").to_numpy()
        column = self.runs[metric].cast(float).fill_null(float("nan")).to_numpy()[done]
        points = self.points.to_numpy()[done]
        return [column[points == point] for point in range(len(self.design.points))]

    def _check_metric(self, metric: str) -> None:
        if metric not in self.metrics:
            find_metric(metric)
            raise ResultsError(f"{self.path}: its runs have no {metric}")

    def estimates(self, metrics: Sequence[str] | None = None) -> "pl.DataFrame":
        """The estimate of each metric at each point, with its 95 % confidence interval over replications.

        Columns: point, the factors, metric, n, mean, sd, low, high, method.

        Args:
            metrics: Names; all when left out.

        Raises:
            ResultsError: There is no such metric.
        """
        import polars as pl

        rows: list[dict[str, Any]] = []
        for metric in self.metrics if metrics is None else metrics:
            for point, values in enumerate(self.values(metric)):
                found = student(values)
                levels = {name: level.value for name, level in self.design.levels(point).items()}
                ends = {"n": found.n, "mean": found.mean, "sd": found.sd, "low": found.low, "high": found.high}
                method = "student" if found.n > 1 else "none"
                rows.append({"point": point, **levels, "metric": metric, **ends, "method": method})
        rows.sort(key=lambda row: row["point"])
        frame = pl.from_arrow(to_table("estimates", self.design, rows))
        assert isinstance(frame, pl.DataFrame), "it has columns"
        return frame

    @property
    def plot(self) -> "SweepPlots":
        """Figures of this sweep: `sweep.plot.latency_load(by=["circuit"])` and others, each a matplotlib figure."""
        from farweb.plot import SweepPlots

        return SweepPlots(self)

    def __repr__(self) -> str:
        return f"SweepResults({str(self.path)!r})"
