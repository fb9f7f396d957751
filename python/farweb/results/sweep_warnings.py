"""Warnings about the results of a sweep, each a line with the problem and a remedy."""

from collections.abc import Iterator, Sequence

import numpy as np

from farweb.results.metrics import find_metric
from farweb.results.sweep import SweepTables
from farweb.results.sweep_statistics import NO_SPLIT, left_out
from farweb.text.quantities import count, seconds, share

_SHORT = 0.1  # chosen: a tenth of the run says little about the rest


def warnings_of(sweep: SweepTables, metrics: Sequence[str]) -> list[str]:
    """Warnings about the statistics of these metrics."""
    return [
        *_missing(sweep),
        *_replications(sweep, metrics),
        *_requests(sweep),
        *_failures(sweep, metrics),
        *_window(sweep),
    ]


def _missing(sweep: SweepTables) -> Iterator[str]:
    planned, ended = sweep.manifest["runs"], sweep.runs.height
    failed = int((sweep.runs["status"] == "failed").sum())
    if ended < planned:
        yield (
            f"the sweep is incomplete: {planned - ended} of {planned} runs are missing; the same farweb sweep continues"
        )
    if failed:
        yield f"{failed} of {planned} runs failed, and are in no estimate; the same farweb sweep tries them again"


def _replications(sweep: SweepTables, metrics: Sequence[str]) -> Iterator[str]:
    design, values = sweep.design, {metric: sweep.values(metric) for metric in metrics}
    is_log = bool(sweep.fixed_points)  # with intervals from blocks, for any number of replications that repeat it
    if not is_log and design.replications == 1 and sweep.runs["replication"].max() == 0:
        yield "one replication has no confidence interval; set sweep.replications, five or more"
    elif not is_log and (same := [metric for metric, array in values.items() if _constant(array)]):
        yield (
            f"{', '.join(same)}: the same in all replications, so that intervals have no width: nothing in this "
            "scenario is random that would change them"
        )
    refused = sweep.refusals(metrics)
    for reason in dict.fromkeys(refused.values()):
        if design.kind != "search" and not reason.endswith(NO_SPLIT):
            those = ", ".join(metric for metric, its_reason in refused.items() if its_reason == reason)
            yield f"no allocation of variation for {those}: {reason}"
    lacking = {metric: left_out(design, array) for metric, array in values.items() if metric not in refused}
    if most := max(lacking.values(), default=0):
        those = ", ".join(metric for metric, number in lacking.items() if number)
        yield f"{most} replications, in which a point lacks a value, are in no allocation of variation of {those}"
    varied = sum(len(factor.levels) > 1 for factor in design.factors)
    if design.kind == "full-factorial" and len(refused) < len(metrics) and varied > 3:
        yield "interactions of three and more factors are one term (higher interactions)"
    if design.kind == "one-at-a-time":
        yield "one factor at a time: what factors do together was not looked at, and cannot be seen"


def _constant(values: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> bool:
    """True where a metric that has values is the same in all replications at every point."""
    several = values[((~np.isnan(values)).sum(axis=1) > 1) & ~np.isinf(values).any(axis=1)]
    if not several.size:
        return False
    spread = np.nanmax(several, axis=1) - np.nanmin(several, axis=1)
    return bool((spread == 0).all() and (several[~np.isnan(several)] != 0).any())


def _requests(sweep: SweepTables) -> Iterator[str]:
    totals = {name: int(sweep.runs[name].sum() or 0) for name in ("requests", "unfinished", "failed")}
    if totals["unfinished"]:
        worst = _worst(sweep, "unfinished")
        yield (
            f"{count(totals['unfinished'])} of {count(totals['requests'])} requests ({share(worst)} in the worst run) "
            "were cut off by the end of the run: quantiles count them as slower than any that ended, means leave them "
            "out; raise run.until"
        )
    if totals["failed"]:
        yield (
            f"{count(totals['failed'])} of {count(totals['requests'])} requests failed "
            f"({share(_worst(sweep, 'failed'))} in the worst run): quantiles count them as slower than any that ended, "
            "means leave them out"
        )


def _failures(sweep: SweepTables, metrics: Sequence[str]) -> Iterator[str]:
    """Metrics that failed requests reach or cannot be ranked by."""
    for metric in metrics:
        reached = int(np.isinf(sweep.values(metric)).any(axis=1).sum())
        if reached:
            yield (
                f"{metric} has no end at {reached} of {len(sweep.design.points)} points, where failed requests reach "
                "it in a run: compare failed_share or within(5 s) there"
            )
    if unranked := [metric for metric in metrics if not comparable(sweep, metric)]:
        low, high = (share(float(end)) for end in _covered(sweep))
        yield (
            f"{', '.join(unranked)}: of the requests that ended, {low} to {high} of all, so points are not ranked by "
            "it; quantiles, failed_share and within(5 s) count all"
        )


def comparable(sweep: SweepTables, metric: str) -> bool:
    """True where points can be ranked by a metric: one of requests that ended, only where as many ended at each."""
    if not find_metric(metric).of_ended or "failed_share" not in sweep.metrics:
        return True
    low, high = _covered(sweep)
    return bool(low == high)


def _covered(sweep: SweepTables) -> tuple[float, float]:
    """The smallest and the largest share of requests that ended, of all points."""
    shares = 1 - sweep.values("failed_share")
    known = shares[~np.isnan(shares)]
    return (float(known.min()), float(known.max())) if known.size else (1.0, 1.0)


def _worst(sweep: SweepTables, name: str) -> float:
    """The largest share of requests of a run."""
    requests = sweep.runs["requests"].cast(float).fill_null(0).to_numpy()
    of_them = sweep.runs[name].cast(float).fill_null(0).to_numpy()
    return float((of_them / np.maximum(requests, 1)).max(initial=0))


def _window(sweep: SweepTables) -> Iterator[str]:
    measured = sweep.runs["measured_s"].drop_nulls().to_numpy()
    simulated = sweep.runs["simulated_s"].drop_nulls().to_numpy()
    short = measured < _SHORT * simulated
    if short.any():
        worst = int(np.argmin(measured / np.maximum(simulated, 1e-9)))
        yield (
            f"in {int(short.sum())} runs rates and queues are measured over less than {share(_SHORT)} of the run "
            f"({seconds(float(measured[worst]))} of {seconds(float(simulated[worst]))}); see run.measure"
        )
