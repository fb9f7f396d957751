"""The tables of statistics of a sweep, from the metrics of its runs and from their requests."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from farweb.results import analysis
from farweb.results.analysis import Row, Values
from farweb.results.design import Design
from farweb.results.requests import QUANTILES, finished_requests
from farweb.results.store import Store
from farweb.results.sweep_tables import to_table
from farweb.statistics.intervals import Interval, quantiles, students

STATISTICS = ("estimates", "differences", "effects", "level_effects", "warmup")


@dataclass(frozen=True)
class OfRequests:
    """What the finished requests of a point tell, all replications together.

    Attributes:
        quantiles: The metrics that are quantiles, with their intervals.
        warmup: What `analysis.warmup` has found.
    """

    quantiles: Mapping[str, Interval]
    warmup: Row


def of_requests(store: Store, runs: Sequence[str]) -> OfRequests | None:
    """What the requests of these runs of a point tell; None when there are none.

    Raises:
        ResultsError: A part is damaged.
    """
    if not runs:
        return None
    finished = [finished_requests(store, run) for run in runs]
    found: dict[str, Interval] = {}
    for of, shares in QUANTILES.items():
        intervals = quantiles([each.times(of) for each in finished], list(shares.values()))
        found |= dict(zip(shares, intervals, strict=True))
    series = [(each.start_s, each.latency_s) for each in finished]
    return OfRequests(found, analysis.warmup(series, finished[0].warmup_s))


def compute(
    design: Design, metrics: Mapping[str, Values], requests: Iterable[OfRequests | None]
) -> dict[str, pa.Table]:
    """The tables named in `STATISTICS`; of equal input they are equal.

    Args:
        design: Of the sweep.
        metrics: The values of each metric.
        requests: What the requests of each point tell, in the order of the points.
    """
    rows: dict[str, list[Row]] = {table: [] for table in STATISTICS}
    compared = list(analysis.comparisons(design))
    for metric, values in metrics.items():
        rows["differences"] += analysis.differences(compared, metric, values)
        try:
            terms, levels = analysis.effects(design, metric, values)
        except ValueError:  # its reason is told where warnings are
            continue
        rows["effects"] += terms
        rows["level_effects"] += levels
    means = {metric: students(values) for metric, values in metrics.items()}
    for point, found in enumerate(requests):
        bootstrapped = {} if found is None else found.quantiles
        for metric, intervals in means.items():
            interval = bootstrapped.get(metric, intervals[point])
            method = "bootstrap" if metric in bootstrapped else "student"
            rows["estimates"].append(analysis.estimate_row(design, point, metric, interval, method))
        if found is not None:
            rows["warmup"].append(analysis.warmup_row(design, point, found.warmup))
    return {table: to_table(table, design, told) for table, told in rows.items()}
