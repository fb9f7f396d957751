"""Statistics of a sweep as tables, from the metrics of its runs and from their requests.

The methods are in `farweb.statistics`; here they are applied to points, factors and replications.
"""

import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from farweb.results.design import Design, Level
from farweb.results.requests import QUANTILES, Times, times_of
from farweb.results.store import Store
from farweb.results.sweep_schema import to_table
from farweb.statistics import anova, blocks
from farweb.statistics.blocks import Origin
from farweb.statistics.intervals import Estimate, margin_of, quantiles, resampled, resampled_means, students
from farweb.statistics.paired import Paired, paired
from farweb.statistics.warmup import mser5

_NS = 1e9
_FEWEST_SEEDS = 2

STATISTICS = ("estimates", "differences", "effects", "level_effects", "warmup")
"""Names of the tables."""

Row = dict[str, Any]
Values = NDArray[np.float64]
"""A metric of a sweep: a row a point, a column a replication; NaN where a run is missing or failed or has no value."""

Comparison = tuple[Row, list[int], list[int]]
"""A comparison: the beginning of a row, the points of the level, and as many of the base."""

JOINT = " × "
OVERALL = "overall"
AT_A_POINT = "point"


def estimate_row(
    design: Design, point: int, metric: str, estimate: Estimate, method: str, interval_of: Origin = "replications"
) -> Row:
    """A row of the table `estimates`."""
    return {
        "point": point,
        **_values(design.levels(point)),
        "metric": metric,
        **columns_of(estimate),
        "method": method if estimate.low is not None or (estimate.n > 1 and interval_of != "none") else "none",
        "interval_of": interval_of if estimate.low is not None else "none",
    }


def _values(levels: Mapping[str, Level]) -> Row:
    return {name: level.value for name, level in levels.items()}


def columns_of(estimate: Estimate) -> Row:
    """An estimate in the columns of the tables."""
    return {"n": estimate.n, "mean": estimate.value, "sd": estimate.sd, "low": estimate.low, "high": estimate.high}


def differences(
    compared: Sequence[Comparison],
    metric: str,
    values: Values,
    requests: Sequence["OfRequests | None"] = (),
    fixed: Collection[int] = (),
) -> list[Row]:
    """Rows of the table `differences` for one metric.

    Args:
        compared: Levels and bases.
        metric: Its name.
        values: Its values.
        requests: Of each point; of points with fixed requests, intervals come from these alone.
        fixed: Numbers of the points with replications that repeat their requests.
    """
    if not compared:
        return []
    # A mean with a NaN is NaN: a replication counts over all when it has every pair.
    at_level, at_base = (
        np.array([values[points[0]] if len(points) == 1 else values[points].mean(axis=0) for points in each])
        for each in zip(*((level, base) for _, level, base in compared), strict=True)
    )
    found = paired(at_level, at_base)
    rows = []
    for (row, level, base), each in zip(compared, found, strict=True):
        made = {**row, "metric": metric, **_difference(each)}
        if any(point in fixed for point in (*level, *base)):
            half = _half_of_blocks(metric, requests, level, base)
            made |= _without_replications(each.interval.value, half)
        rows.append({**made, "interval_of": _origin(made, level, base, fixed)})
    return rows


def _half_of_blocks(
    metric: str, requests: Sequence["OfRequests | None"], level: Sequence[int], base: Sequence[int]
) -> float | None:
    """Half the width of the interval of a difference from blocks, the same of all points; None where there is none."""
    sides = [[requests[point] if requests else None for point in points] for points in (level, base)]
    known = [each for side in sides for each in side if each is not None and metric in each.resampled]
    if len(known) < len(level) + len(base) or len({each.blocks for each in known}) > 1:
        return None
    at_level, at_base = (
        np.mean([each.resampled[metric] for each in side if each is not None], axis=0) for side in sides
    )
    return margin_of(at_level - at_base, known[0].blocks)


def _without_replications(mean: float | None, half: float | None) -> Row:
    """The ends of a difference of points with fixed requests; what compares replications is none."""
    is_known = mean is not None and half is not None and math.isfinite(mean)
    ends = (mean - half, mean + half) if is_known else (None, None)  # type: ignore[operator]
    return {"low": ends[0], "high": ends[1], "unpaired_half_width": None, "variance_reduction": None}


def _origin(row: Row, level: Sequence[int], base: Sequence[int], fixed: Collection[int]) -> Origin:
    """Units that the interval of a difference comes from."""
    if row["low"] is None:
        return "none"
    return "blocks" if any(point in fixed for point in (*level, *base)) else "replications"


def comparisons(design: Design) -> Iterator[Comparison]:
    """Each level of each factor against the factor's first, over all and at each combination of the other factors."""
    numbers = {point: number for number, point in enumerate(design.points)}
    for position, factor in enumerate(design.factors):
        for index, level in enumerate(factor.levels[1:], start=1):
            bases = {
                number: numbers.get((*point[:position], 0, *point[position + 1 :]))
                for point, number in numbers.items()
                if point[position] == index
            }
            pairs = [(number, base) for number, base in bases.items() if base is not None]
            if not pairs:
                continue
            head = {"factor": factor.name, "level": level.label, "base": factor.levels[0].label}
            at_level, at_base = (list(each) for each in zip(*pairs, strict=True))
            yield {**head, factor.name: level.value, "scope": OVERALL}, at_level, at_base
            if len(pairs) > 1:
                for number, base in pairs:
                    yield {**head, **_values(design.levels(number)), "scope": AT_A_POINT}, [number], [base]


def _difference(found: Paired) -> Row:
    return {
        **columns_of(found.interval),
        "base_mean": found.base,
        "percent": found.percent,
        "unpaired_half_width": found.unpaired,
        "variance_reduction": found.variance_reduction,
    }


NO_SPLIT = "no split of variation"
"""Said where there is no error to hold shares of variation against."""


def effects(
    design: Design, metric: str, values: Values, fixed: Collection[int] = (), *, log: bool = False
) -> tuple[list[Row], list[Row]]:
    """Rows of the tables `effects` and `level_effects`.

    Args:
        design: Of the sweep.
        metric: Its name.
        values: Its values.
        fixed: Numbers of the points with replications that repeat their requests, and show no error.
        log: Analyse logarithms.

    Raises:
        ValueError: There can be none; the message is the reason.
    """
    if design.kind == "search":
        raise ValueError("the runs of a search for a size are no design of experiments")
    if design.kind == "latin-hypercube":
        return _ranked(design, metric, values), []
    if values.shape[1] < _FEWEST_SEEDS:
        raise ValueError(f"one run a point: {NO_SPLIT}")
    if fixed:
        raise ValueError(f"each seed repeats the log: {NO_SPLIT}")
    if np.isinf(values).any():
        raise ValueError("requests failed in such numbers that in some runs it is more than the slowest that ended")
    kept = values[:, ~np.isnan(values).any(axis=0)]
    if kept.shape[1] < _FEWEST_SEEDS:
        raise ValueError(f"fewer than two seeds have a value at every point: {NO_SPLIT}")
    if log:
        if kept.min() <= 0:
            raise ValueError(f"{metric} has values that are not positive and have no logarithm")
        kept = np.log(kept)
    blocks = design.random_numbers == "common"
    if design.kind == "full-factorial":
        shape = [len(factor.levels) for factor in design.factors]
        order = sorted(range(len(design.points)), key=design.points.__getitem__)
        analysis = anova.full_factorial(kept[order].reshape(*shape, -1), blocks=blocks)
    else:
        analysis = anova.one_at_a_time(kept, _one_at_a_time(design), blocks=blocks)
    head = {"metric": metric, "n": int(kept.size), "transform": "log" if log else "none"}
    terms = [{**head, **_term(design, term), "method": design.kind} for term in analysis.terms]
    return terms, [{**head, **_effect(design, effect)} for effect in analysis.effects]


def _one_at_a_time(design: Design) -> list[list[int]]:
    """For each factor, its points by level; the base point first."""
    base = tuple(0 for _ in design.factors)
    groups = []
    for position in range(len(design.factors)):
        others = [
            number
            for number, point in enumerate(design.points)
            if all(index == 0 for place, index in enumerate(point) if place != position)
        ]
        groups.append(sorted(others, key=lambda number: design.points[number][position]))
    assert all(design.points[group[0]] == base for group in groups), "the first point is the base"
    return groups


def _ranked(design: Design, metric: str, values: Values) -> list[Row]:
    """Rank regression over the points that have a value."""
    varied = [position for position, factor in enumerate(design.factors) if len(factor.levels) > 1]
    inputs = np.array(
        [[_place(design.factors[position].levels, point[position]) for position in varied] for point in design.points]
    )
    means = np.array([each.value for each in students(values)], float)
    known = ~np.isnan(means)
    analysis = anova.rank_regression(inputs[known], means[known]) if varied else None
    if analysis is None:
        raise ValueError(f"{metric} does not vary, or there are too few points for a regression")
    head = {"metric": metric, "n": int(known.sum()), "transform": "ranks", "method": design.kind}
    rows = []
    for term in analysis.terms:
        row = _term(design, term)
        if term.factors:
            row["term"] = design.factors[varied[term.factors[0]]].name
        rows.append({**head, **row})
    return rows


def _place(levels: Sequence[Level], index: int) -> float:
    """Place of a level on its axis; without a number, in the order of the scenario."""
    number = levels[index].number
    return float(index) if number is None or any(level.number is None for level in levels) else number


_KINDS = {"higher": "higher interactions", "replications": "replications", "error": "error"}


def _term(design: Design, term: anova.Term) -> Row:
    numbers = {name: getattr(term, name) for name in ("ss", "df", "percent", "ms", "f", "p", "coefficient")}
    return {"term": _KINDS.get(term.kind) or _named(design, term.factors), "order": len(term.factors), **numbers}


def _named(design: Design, factors: Sequence[int]) -> str:
    return JOINT.join(design.factors[number].name for number in factors)


def _effect(design: Design, effect: anova.Effect) -> Row:
    levels = {
        design.factors[number].name: design.factors[number].levels[index]
        for number, index in zip(effect.factors, effect.levels, strict=True)
    }
    ends = {name: getattr(effect, name) for name in ("effect", "low", "high")}
    label = JOINT.join(level.label for level in levels.values())
    return {"term": _named(design, effect.factors), "levels": label, **_values(levels), **ends}


def left_out(design: Design, values: Values) -> int:
    """Number of replications that an analysis of variance does without, because a point lacks them."""
    if design.kind not in {"full-factorial", "one-at-a-time"}:
        return 0
    return int(np.isnan(values).any(axis=0).sum())


def warmup(runs: Sequence[tuple[Values, Values]], warmup_s: float) -> Row:
    """Warm-up of a point, as a row of the table `warmup` has it.

    Args:
        runs: Of each replication the starts and latencies of its finished requests in s, by start.
        warmup_s: Time that the scenario leaves out.
    """
    runs = [(starts, latencies) for starts, latencies in runs if starts.size]
    found = mser5([latencies for _, latencies in runs]) if runs else None
    truncated_s = None
    if found is not None:
        place = found.observations
        truncated_s = 0.0 if place == 0 else float(np.mean([starts[place] for starts, _ in runs]))
    return {
        "n": len(runs),
        "requests": min((starts.size for starts, _ in runs), default=0),
        "truncated_requests": None if found is None else found.observations,
        "truncated_s": truncated_s,
        "steady": None if found is None else found.steady,
        "warmup_s": warmup_s,
    }


def warmup_row(design: Design, point: int, found: Row) -> Row:
    """A row of the table `warmup`, with what `warmup` has found."""
    return {"point": point, **_values(design.levels(point)), **found}


def by_point(design: Design, points: Sequence[int], replications: Sequence[int], column: Values) -> Values:
    """A metric's column of runs as an array of points and replications."""
    found: Values = np.full((len(design.points), max(replications, default=-1) + 1), math.nan)
    found[list(points), list(replications)] = column
    return found


@dataclass(frozen=True)
class OfRequests:
    """Statistics of the finished requests of a point, all replications together.

    Attributes:
        quantiles: The metrics that are quantiles, with their intervals.
        warmup: The findings of `warmup`.
        fixed: True where each replication has the same requests.
        blocks: Blocks of the log's time; 0 where there are none.
        resampled: By metric the value of all requests and of each resample of the blocks (`intervals.resampled`).
    """

    quantiles: Mapping[str, Estimate]
    warmup: Row
    fixed: bool = False
    blocks: int = 0
    resampled: Mapping[str, Values] = field(default_factory=dict)


def of_requests(store: Store, runs: Sequence[str]) -> OfRequests | None:
    """The statistics of the requests of these runs of a point; None when there are none.

    Raises:
        ResultsError: A part is damaged.
    """
    if not runs:
        return None
    times = [times_of(store, run) for run in runs]
    found: dict[str, Estimate] = {}
    for of, shares in QUANTILES.items():
        intervals = quantiles([each.all_ns(of) / _NS for each in times], list(shares.values()))
        found |= dict(zip(shares, intervals, strict=True))
    warmed = warmup([each.series() for each in times], times[0].warmup_s)
    fixed = all(each.fixed for each in times)
    number = blocks.number_of_blocks(min(each.number for each in times)) if fixed else 1
    if number == 1:
        return OfRequests(found, warmed, fixed)
    return OfRequests(found, warmed, fixed, number, _resampled(times, number))


def _resampled(times: Sequence[Times], number: int) -> dict[str, Values]:
    """Quantiles, means of finished requests and shares of the others, by blocks of all replications together."""
    found: dict[str, Values] = {}
    for of, shares in QUANTILES.items():
        cut = [each.blocks_ns(of, number) for each in times]
        parts = [np.concatenate(block) / _NS for block in zip(*cut, strict=True)]
        if not all(part.size for part in parts):
            continue
        made = {name: resampled(parts, share) for name, share in shares.items()}
        ended = [part[np.isfinite(part)] for part in parts]
        if all(part.size for part in ended):
            made[f"{of}_mean_s"] = resampled_means(ended)
        lost = {"latency": "failed_share"}.get(of, f"{of.removesuffix('_latency')}_failed_share")
        made[lost] = resampled_means([np.isinf(part) for part in parts])
        found |= {name: values for name, values in made.items() if np.isfinite(values).all()}
    return found


def compute(
    design: Design,
    metrics: Mapping[str, Values],
    requests: Iterable[OfRequests | None],
    fixed: Collection[int] = (),
) -> dict[str, pa.Table]:
    """The tables named in `STATISTICS`; of equal input they are equal.

    Args:
        design: Of the sweep.
        metrics: The values of each metric.
        requests: Of each point, in the order of the points.
        fixed: Numbers of the points with replications that repeat their requests: replications are no sample of
            what else could be asked, so intervals come from blocks of the requests, or there are none.
    """
    rows: dict[str, list[Row]] = {table: [] for table in STATISTICS}
    compared = list(comparisons(design))
    of_points = list(requests)
    for metric, values in metrics.items():
        rows["differences"] += differences(compared, metric, values, of_points, fixed)
        try:
            terms, levels = effects(design, metric, values, fixed)
        except ValueError:  # its reason is among the warnings
            continue
        rows["effects"] += terms
        rows["level_effects"] += levels
    means = {metric: students(values) for metric, values in metrics.items()}
    for point, found in enumerate(of_points):
        bootstrapped = {} if found is None else found.quantiles
        for metric, intervals in means.items():
            interval = bootstrapped.get(metric, intervals[point])
            method = "bootstrap" if metric in bootstrapped else "student"
            origin: Origin = "replications"
            if point in fixed:
                interval, method, origin = _of_blocks(interval, found, metric)
            rows["estimates"].append(estimate_row(design, point, metric, interval, method, origin))
        if found is not None:
            rows["warmup"].append(warmup_row(design, point, found.warmup))
    return {table: to_table(table, design, found) for table, found in rows.items()}


def _of_blocks(estimate: Estimate, found: OfRequests | None, metric: str) -> tuple[Estimate, str, Origin]:
    """An estimate with its interval from blocks of its requests, where they have one, instead of replications."""
    known = found is not None and metric in found.resampled and estimate.value is not None
    if found is None or not known or not math.isfinite(estimate.value):  # type: ignore[arg-type]
        return replace(estimate, low=None, high=None), "none", "none"
    half = margin_of(found.resampled[metric], found.blocks)
    low, high = estimate.value - half, estimate.value + half  # type: ignore[operator]
    return replace(estimate, low=low, high=high), "bootstrap", "blocks"
