"""Runs, and levels of a sweep, judged against each other by the rule of `farweb.judge.verdicts`.

Every verb that says which of two is better asks here: `compare`, `report`, `show` and `plot effects`. `size` judges by
the same rule in `farweb.size.log`.
"""

import functools
import itertools
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from farweb.errors import FarwebError, ResultsError
from farweb.judge.judgement import DECIDING, SHOWN, Difference, Verdict
from farweb.judge.pairs import VISIT, Pairs, Read, Sides, beside, pair, read_once
from farweb.judge.sentences import by_quantities, sentence
from farweb.judge.units import Units, is_quantity
from farweb.judge.verdicts import (
    ENOUGH,
    MARGIN,
    SLOW,
    Slice,
    Whole,
    few_of,
    measured,
    sign_test,
    together_of,
    unpaired,
    whole_of,
)
from farweb.judge.verdicts import slices as slices_of
from farweb.results.groups import VISIT_LABELS
from farweb.results.manifest import has_random_links, repeats_its_requests
from farweb.results.run import RunTables
from farweb.results.sweep import SweepTables
from farweb.statistics.intervals import CONFIDENCE, Estimate
from farweb.text.quantities import plain
from farweb.text.words import nearest

MOST_REQUESTS = 20_000_000
"""Requests of a sweep beyond which `show` and the report judge no levels: it would take minutes; chosen."""

KEPT_REQUESTS = 2_000_000
"""Requests of a sweep up to which each run is read once and kept, some 100 MB; beyond, once for each pair; chosen."""

MOST_LEVELS = 6
"""Levels of a factor that are judged each against each, fifteen pairs; of more, each against the first; chosen."""

_SHORT = {"median": "latency_p50_s", "mean": "latency_mean_s", "failures": "failed_share"}

_DAY_NS = 86_400 * 10**9

_FEWEST_OF_GROUP = 3
"""Requests that a group needs to be judged; chosen."""

OF_LOG = "for this log"
FIXED_LOG = 'To cover other weeks, set workload.resample = "clients" and sweep 5 seeds.'


def pairs_together(number: int) -> int:
    """Pairs of so many alternatives that are judged together: each two, of many each against one."""
    return max(number * (number - 1) // 2 if number <= MOST_LEVELS else number - 1, 1)


def quantity_name(text: str) -> str:
    """The metric of a quantity as people name it: `p99`, `median`, `failures`, or the metric's own name.

    Raises:
        FarwebError: There is none; the message names the nearest.
    """
    name = _SHORT.get(text, f"latency_{text}_s" if re.fullmatch(r"p[1-9]\d*", text) else text)
    if is_quantity(name):
        return name
    near = nearest(text, [*_SHORT, *SHOWN, "p90", "p99", "visit", "client"])
    meant = f"; did you mean {near}?" if near else "."
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
        more_seeds: How to simulate further seeds, in words.
    """

    base: Sequence[RunTables]
    other: Sequence[RunTables]
    replications: Sequence[int]
    more_seeds: str = "--seed 2 has another"


def matched(
    sweep: SweepTables,
    base: Collection[int],
    other: Collection[int],
    factors: Collection[int],
    part: Callable[[str], RunTables] | None = None,
    more_seeds: str = "set sweep.replications = 5 to include their chance",
) -> Matched:
    """Finished runs at some points of a sweep and at others, of the same replication, that differ in some factors only.

    Args:
        sweep: Which.
        base: Numbers of points.
        other: Numbers of the others.
        factors: Numbers of the factors that pairs may differ by.
        part: Opens a run; the sweep's own way when left out.
        more_seeds: How to simulate further seeds, in words.
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
    return Matched(base_runs, other_runs, [replication for _, replication in both], more_seeds)


def judged(
    runs: Matched,
    names: tuple[str, str],
    by: Sequence[str] = DECIDING,
    margin: float = MARGIN,
    rows: pl.Expr | None = None,
    read: Read | None = None,
    together: int = 1,
    confidence: float = CONFIDENCE,
) -> Verdict:
    """Judge runs against as many base runs.

    Requests are paired where the runs have the same, else latencies stand beside each other.

    Args:
        runs: Which.
        names: The base and the others, for the sentence.
        by: Names of quantities that decide.
        margin: Largest relative difference of equivalent runs.
        rows: Requests that are looked at; all when left out.
        read: Reads them; `requests_of` of `farweb.judge.pairs` when left out.
        together: Pairs that are judged together.
        confidence: Probability that the intervals of all these pairs hold.
    """
    both = list(zip(runs.base, runs.other, strict=True))
    found: Sequence[Pairs] | Sequence[Sides]
    try:
        found = [pair(*each, rows, read) for each in both]
    except ResultsError:
        found = [beside(*each, rows, read) for each in both]
    return verdict_of(found, runs, names, by, margin, together, confidence)[0]


def is_long(runs: Iterable[RunTables]) -> bool:
    """True for runs of a day or more, where a longer log is no remedy."""
    return any(run.manifest.get("now_ns", 0) >= _DAY_NS for run in runs)


def are_fixed(runs: Sequence[RunTables]) -> bool:
    """True where all runs repeat the requests of a table."""
    return all(repeats_its_requests(run.manifest["scenario"]) for run in runs)


def units_of(found: Sequence[Pairs] | Sequence[Sides], runs: Matched, confidence: float = CONFIDENCE) -> "Units[Any]":
    """Units of latencies of pairs of runs, with the confidence of their intervals."""
    return Units(found, runs.replications, fixed=are_fixed((*runs.base, *runs.other)), confidence=confidence)


def verdict_of(
    found: Sequence[Pairs] | Sequence[Sides],
    runs: Matched,
    names: tuple[str, str],
    by: Sequence[str] = DECIDING,
    margin: float = MARGIN,
    together: int = 1,
    confidence: float = CONFIDENCE,
) -> "tuple[Verdict, Units[Any]]":
    """Judge latencies of pairs of runs as `judged` does. With the units behind it, for what else is measured."""
    of_each = 1 - (1 - confidence) / together
    fixed = are_fixed((*runs.base, *runs.other))
    units = units_of(found, runs, of_each)
    table = units.table(lambda each: each.requests) if units.are_pairs else None
    few = sign_test(table, margin, of_each) if table is not None and units.number < 2 else None
    slices = _of_others(units, margin, of_each) if table is None else slices_of(table, margin, of_each)
    groups = _groups(found, runs, margin, of_each)
    if is_named := tuple(by) != DECIDING:
        quantities = [units.quantity(each) for each in by]
        words = {each.name: each.word(margin) for each in quantities}
        whole, few = Whole(together_of(list(words.values()))), None
    else:
        failures = units.quantity("failed_share")
        quantities = [_quantity(units, each) for each in slices] + [failures, *map(units.quantity, SHOWN)]
        words = {"change": slices[0].word, **{each.name: each.word for each in slices[1:]}}
        words["failed_share"] = failures.word(margin)
        of_groups = [each.word for _, each in groups]
        whole = Whole(few.word) if few else whole_of(slices, words["failed_share"], of_groups, margin)
    verdict = Verdict(
        overall=whole.word,
        by_quantity=words,
        quantities=tuple(quantities),
        margin=margin,
        interval_of=units.method,
        scope=OF_LOG if fixed else "for these requests" if units.method == "blocks" else "",
        sentence="",
        holds=_holds(units, runs, fixed, together, confidence),
        confidence=of_each,
        slices=tuple(slices),
        few=few,
        gain=whole.gain,
        harm=whole.harm,
        alone=whole.alone,
        groups=tuple(groups),
        failed=units.failed_shares,
        few_hold=None if table is None else few_of(table),
        is_dependent=units.is_dependent,
    )
    said = by_quantities(names, verdict) if is_named else sentence(names, verdict)
    return replace(verdict, sentence=said), units


def _of_others(units: "Units[Any]", margin: float, confidence: float) -> list[Slice]:
    """All requests of two sides that have different ones; quantiles stand for the slow slices."""
    sides = units.parts(lambda each: each.base), units.parts(lambda each: each.other)
    everyone = unpaired(*sides, margin, confidence)
    found = [everyone]
    for (name, share), quantile in zip(SLOW.items(), SHOWN[1:], strict=True):
        number = round(share * min(sum(map(len, side)) for side in sides))
        if number >= ENOUGH:
            alone = units.quantity(quantile)
            change = Estimate(units.number, alone.value, None, alone.low, alone.high)
            word, lost = alone.word(margin), change.value is None
            found.append(replace(everyone, name=name, requests=number, change=change, by_count=lost, word=word))
    return found


def _quantity(units: "Units[Any]", found: Slice) -> Difference:
    """The change of a slice as a quantity."""
    name, change = "change" if found.name == "all" else found.name, found.change
    origin = units.method if change.low is not None else "none"
    return Difference(name, change.value, change.low, change.high, origin, units.number)


def _groups(
    found: Sequence[Pairs] | Sequence[Sides], runs: Matched, margin: float, confidence: float
) -> list[tuple[str, Slice]]:
    """First and later requests of visits, where there are some of both."""
    pairs = [each for each in found if isinstance(each, Pairs)]
    parts = {word: [each.of_visits(place) for each in pairs] for place, word in enumerate(VISIT)}
    if any(sum(each.requests.size for each in part) < _FEWEST_OF_GROUP for part in parts.values()):
        return []
    groups = []
    for word, part in parts.items():
        units = units_of(part, runs)
        table = units.table(lambda each: each.requests)
        group = measured(table, VISIT_LABELS[word], margin, confidence)
        if units.number < 2:
            group = replace(group, word=sign_test(table, margin, confidence).word)
        groups.append((group.name, group))
    return groups


def _holds(units: "Units[Any]", runs: Matched, fixed: bool, together: int, confidence: float) -> str:
    """Say what a verdict holds for, and how it would hold for more."""
    sure = f"{plain(100 * confidence, 4)} %{' for all pairs together' if together > 1 else ''}"
    if units.method == "none":
        return "Holds for these requests (exact test); they are too few for intervals."
    if units.method == "replications":
        return f"Holds for traffic of this kind ({sure}, {units.number} seeds)."
    what, blocks = "this log" if fixed else "these requests", f"{units.number} time blocks"
    said = f"Holds for {what} ({sure}, {blocks})."
    if units.is_dependent:
        remedy = "." if is_long((*runs.base, *runs.other)) else "; a longer log is surer."
        said = f"Holds for {what}, less surely than {sure}: its {blocks} resemble their neighbours{remedy}"
    is_random = any(has_random_links(run.manifest["scenario"]) for run in (*runs.base, *runs.other))
    if len(set(runs.replications)) == 1 and is_random:
        said += f" One seed of its links: {runs.more_seeds}."
    return said


@functools.lru_cache(1)  # levels and points are judged of the same runs
def kept(sweep: SweepTables) -> tuple[Read | None, Callable[[str], RunTables]]:
    """Ways to read the requests of a sweep's runs and to open these, each once where the sweep is not too large."""
    few = int(sweep.runs["requests"].sum() or 0) <= KEPT_REQUESTS
    return (read_once(), functools.cache(sweep.part)) if few else (None, sweep.part)


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
    sweep: SweepTables, by: Sequence[str] = DECIDING, margin: float = MARGIN
) -> tuple[list[LevelJudged], str]:
    """Judge each level of each factor against each before it, of many against the first; or say why none is.

    Args:
        sweep: Which.
        by: Names of quantities that decide.
        margin: Largest relative difference of equivalent levels.

    Returns:
        The judgements, in the order of the design, and the reason where there is none; empty where there are.
    """
    found, why_not = _levels_judged(sweep, tuple(by), margin)
    return list(found), why_not


@functools.lru_cache(2)  # a page and its figure of effects ask the same
def _levels_judged(sweep: SweepTables, by: Sequence[str], margin: float) -> tuple[list[LevelJudged], str]:
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
    read, part = kept(sweep)
    for place, factor in enumerate(sweep.design.factors):
        points = [
            [point for point, levels in enumerate(sweep.design.points) if levels[place] == level]
            for level in range(len(factor.levels))
        ]
        together = pairs_together(len(factor.levels))
        for base, other in itertools.combinations(range(len(factor.levels)), 2):
            if base > 0 and len(factor.levels) > MOST_LEVELS:
                break
            runs = matched(sweep, points[base], points[other], {place}, part)
            if not _have_requests(runs):
                continue
            labels = factor.levels[base].label, factor.levels[other].label
            verdict = judged(runs, labels, by, margin, read=read, together=together)
            found.append(LevelJudged(factor.name, labels[1], labels[0], verdict))
    return found, ""
