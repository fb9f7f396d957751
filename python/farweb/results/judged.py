"""Runs, and levels of a sweep, judged against each other by the rule of `farweb.statistics.judgement`.

Every verb that says which of two is better asks here: `compare`, `report`, `show` and `plot effects`. `size` judges by
the same rule in `farweb.size.log`.
"""

import difflib
import functools
import itertools
import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from farweb.errors import FarwebError, ResultsError
from farweb.results.manifest import repeats_its_requests
from farweb.results.pairs import Pairs, Read, Sides, beside, pair, read_once
from farweb.statistics.judgement import DECIDING, MARGIN, Verdict, judge
from farweb.statistics.units import Units, is_quantity

if TYPE_CHECKING:
    import polars as pl

    from farweb.results.run import RunTables
    from farweb.results.sweep import SweepTables

MOST_REQUESTS = 20_000_000
"""Requests of a sweep beyond which `show` and the report judge no levels: it would take minutes; chosen."""

KEPT_REQUESTS = 2_000_000
"""Requests of a sweep up to which each run is read once and kept, some 100 MB; beyond, once for each pair; chosen."""

MOST_LEVELS = 6
"""Levels of a factor that are judged each against each, fifteen pairs; of more, each against the first; chosen."""

_SHORT = {"median": "latency_p50_s", "mean": "latency_mean_s", "failures": "failed_share"}

OF_LOG = "for this log"
FIXED_LOG = (
    "The requests are the same in each replication, so intervals come from blocks of the log's time and hold for this "
    "log. What replicates, for weeks of the same users: workload.resample, which draws clients or days of the log anew "
    "with each seed, a table a seed ({seed} in workload.requests), or a family fitted to the log (farweb workload fit)."
)


def quantity_name(text: str) -> str:
    """The metric of a quantity as people name it: `p99`, `median`, `failures`, or the metric's own name.

    Raises:
        FarwebError: There is none; the message names the nearest.
    """
    name = _SHORT.get(text, f"latency_{text}_s" if re.fullmatch(r"p[1-9]\d*", text) else text)
    if is_quantity(name):
        return name
    near = difflib.get_close_matches(text, [*_SHORT, *DECIDING, "p90", "p99", "visit", "client"], 1)
    meant = f"; did you mean {near[0]}?" if near else ""
    raise FarwebError(
        f"--by {text}: nothing that runs are judged by{meant} Quantities: median, p90, p99 or another percentile, "
        "mean, failures, within(5 s); groups: visit, client"
    )


@dataclass(frozen=True)
class Matched:
    """Runs that are judged against each other, in pairs.

    Attributes:
        base: Each stands against that at its place among the others.
        other: The others.
        replications: Number of the replication of each pair.
    """

    base: "Sequence[RunTables]"
    other: "Sequence[RunTables]"
    replications: Sequence[int]


def matched(
    sweep: "SweepTables",
    base: Collection[int],
    other: Collection[int],
    factors: Collection[int],
    part: "Callable[[str], RunTables] | None" = None,
) -> Matched:
    """Finished runs at some points of a sweep and at others, of the same replication, that differ in some factors only.

    Args:
        sweep: Which.
        base: Numbers of points.
        other: Numbers of the others.
        factors: Numbers of the factors in which pairs may differ.
        part: Opens a run; the sweep's own way when left out.
    """
    sides: tuple[dict[Any, str], dict[Any, str]] = ({}, {})
    columns = sweep.points, sweep.runs["replication"], sweep.runs["run"], sweep.runs["status"]
    for point, replication, run, status in zip(*columns, strict=True):
        rest = tuple(level for place, level in enumerate(sweep.design.points[point]) if place not in factors)
        for side, chosen in zip(sides, (base, other), strict=True):
            if status == "done" and point in chosen:
                side[rest, replication] = run
    both = [key for key in sides[0] if key in sides[1]]
    base_runs, other_runs = ([(part or sweep.part)(side[key]) for key in both] for side in sides)
    return Matched(base_runs, other_runs, [replication for _, replication in both])


def judged(
    runs: Matched,
    names: tuple[str, str],
    by: Sequence[str] = DECIDING,
    margin: float = MARGIN,
    rows: "pl.Expr | None" = None,
    read: Read | None = None,
) -> Verdict:
    """Judge runs against as many base runs.

    Requests are paired where the runs have the same, else latencies stand beside each other.

    Args:
        runs: Which.
        names: The base and the others, for the sentence.
        by: Names of quantities that decide.
        margin: Relative difference up to which runs are equivalent.
        rows: Requests that are looked at; all when left out.
        read: Reads them; `requests_of` of `farweb.results.pairs` when left out.
    """
    import polars as pl

    asked = pl.lit(True) if rows is None else rows
    both = list(zip(runs.base, runs.other, strict=True))
    fixed = are_fixed((*runs.base, *runs.other))
    try:
        pairs = [pair(*each, asked, read) for each in both]
    except ResultsError:
        sides = [beside(*each, asked, read) for each in both]
        return verdict_of(Units(sides, runs.replications, fixed=fixed), None, names, by, margin, fixed=fixed)
    return verdict_of(Units(pairs, runs.replications, fixed=fixed), pairs, names, by, margin, fixed=fixed)


def are_fixed(runs: "Sequence[RunTables]") -> bool:
    """True where all runs repeat the requests of a table."""
    return all(repeats_its_requests(run.manifest["scenario"]) for run in runs)


def verdict_of(
    units: "Units[Pairs] | Units[Sides]",
    pairs: Sequence[Pairs] | None,
    names: tuple[str, str],
    by: Sequence[str],
    margin: float,
    *,
    fixed: bool,
) -> Verdict:
    """Judge units of latencies; see `judged`.

    Args:
        units: The latencies.
        pairs: The same by request, where requests are paired: so many are faster and so many slower.
        names: The base and the other.
        by: Names of quantities that decide.
        margin: Relative difference up to which they are equivalent.
        fixed: True where each replication has the same requests.
    """
    faster = slower = None
    if pairs is not None:
        total = max(sum(each.requests.size for each in pairs), 1)
        faster = sum(int((each.differences < 0).sum()) for each in pairs) / total
        slower = sum(int((each.differences > 0).sum()) for each in pairs) / total
    scope = OF_LOG if fixed else "for these requests" if units.method == "blocks" else ""
    quantities = [units.quantity(name) for name in by]
    return judge(quantities, margin, faster=faster, slower=slower, names=names, scope=scope)


def point_judged(sweep: "SweepTables", base: int, other: int, metric: str) -> Verdict | None:
    """Judge a point of a sweep against another by one quantity; None where either has no finished request.

    Args:
        sweep: Which.
        base: Number of the point against which.
        other: Number of the point that is judged.
        metric: Name of a quantity.
    """
    runs = matched(sweep, [base], [other], range(len(sweep.design.factors)))
    return judged(runs, ("the first", "the other"), [metric]) if _have_requests(runs) else None


def _have_requests(runs: Matched) -> bool:
    """True where there are runs, and each has rows of requests."""
    return bool(runs.base) and all(run.manifest["rows"].get("requests") for run in (*runs.base, *runs.other))


@dataclass(frozen=True)
class LevelJudged:
    """A level of a factor judged against another, over all combinations of the other factors.

    Attributes:
        factor: Name of the factor.
        level: Label of the level that is judged.
        base: Label of the level against which.
        verdict: The judgement.
    """

    factor: str
    level: str
    base: str
    verdict: Verdict

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        return {"factor": self.factor, "level": self.level, "base": self.base, **self.verdict.to_dict()}


def deciding(metrics: Sequence[str] | None) -> Sequence[str]:
    """The quantities that decide: those among the metrics that the user names, else `DECIDING`."""
    return [metric for metric in metrics or () if is_quantity(metric)] or DECIDING


def levels_judged(
    sweep: "SweepTables", by: Sequence[str] = DECIDING, margin: float = MARGIN
) -> tuple[list[LevelJudged], str]:
    """Judge each level of each factor against each before it, of many against the first; or say why none is.

    Args:
        sweep: Which.
        by: Names of quantities that decide.
        margin: Relative difference up to which levels are equivalent.

    Returns:
        The judgements, in the order of the design, and the reason where there is none; empty where there are.
    """
    found, why_not = _levels_judged(sweep, tuple(by), margin)
    return list(found), why_not


@functools.lru_cache(2)  # a page and its figure of effects ask the same
def _levels_judged(sweep: "SweepTables", by: Sequence[str], margin: float) -> tuple[list[LevelJudged], str]:
    """See `levels_judged`."""
    if sweep.design.kind in ("search", "latin-hypercube"):
        return [], ""
    requests = int(sweep.runs["requests"].sum() or 0)
    times_read = sum(min(len(factor.levels), MOST_LEVELS) - 1 for factor in sweep.design.factors)
    if requests * times_read > MOST_REQUESTS:
        return [], (
            f"{requests:,} requests are too many to judge levels here; farweb compare judges points that it is given"
        )
    found = []
    few = requests <= KEPT_REQUESTS
    read, part = (read_once(), functools.cache(sweep.part)) if few else (None, sweep.part)
    for place, factor in enumerate(sweep.design.factors):
        points = [
            [point for point, levels in enumerate(sweep.design.points) if levels[place] == level]
            for level in range(len(factor.levels))
        ]
        for base, other in itertools.combinations(range(len(factor.levels)), 2):
            if base > 0 and len(factor.levels) > MOST_LEVELS:
                break
            runs = matched(sweep, points[base], points[other], {place}, part)
            if not _have_requests(runs):
                continue
            labels = factor.levels[base].label, factor.levels[other].label
            verdict = judged(runs, labels, by, margin, read=read)
            found.append(LevelJudged(factor.name, labels[1], labels[0], verdict))
    return found, ""
