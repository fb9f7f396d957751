"""The tables of statistics of a sweep, from the metrics of its runs and from their requests."""

from collections.abc import Iterable, Mapping, Sequence

import pyarrow as pa

from farweb.statistics.intervals import Interval, quantiles, students
from farweb.sweep import analysis
from farweb.sweep.analysis import Row, Values
from farweb.sweep.design import Design
from farweb.sweep.requests import QUANTILES, Finished
from farweb.sweep.tables import to_table

STATISTICS = ("estimates", "differences", "effects", "level_effects", "warmup")


def compute(
    design: Design, metrics: Mapping[str, Values], requests: Iterable[tuple[int, Sequence[Finished]]]
) -> dict[str, pa.Table]:
    """The tables named in `STATISTICS`; of equal input they are equal.

    Args:
        design: Of the sweep.
        metrics: The values of each metric.
        requests: Of each point, by its number, the finished requests of its runs, as far as these recorded them; one
            point at a time is held in memory.
    """
    rows: dict[str, list[Row]] = {table: [] for table in STATISTICS}
    for metric, values in metrics.items():
        rows["differences"] += analysis.differences(design, metric, values)
        try:
            terms, levels = analysis.effects(design, metric, values)
        except ValueError:  # its reason is told where warnings are
            continue
        rows["effects"] += terms
        rows["level_effects"] += levels
    means = {metric: students(values) for metric, values in metrics.items()}
    for point, finished in requests:
        found = _quantiles(finished)
        for metric, intervals in means.items():
            interval = found.get(metric, intervals[point])
            method = "bootstrap" if metric in found else "student"
            rows["estimates"].append(analysis.estimate_row(design, point, metric, interval, method))
        if finished:
            runs = [(each.start_s, each.latency_s) for each in finished]
            rows["warmup"].append(analysis.warmup_row(design, point, runs, finished[0].warmup_s))
    return {table: to_table(table, design, found) for table, found in rows.items()}


def _quantiles(finished: Sequence[Finished]) -> dict[str, Interval]:
    """The metrics that are quantiles, from the requests of all replications of a point."""
    found: dict[str, Interval] = {}
    for of, shares in QUANTILES.items():
        if finished:
            intervals = quantiles([each.times(of) for each in finished], list(shares.values()))
            found |= dict(zip(shares, intervals, strict=True))
    return found
