"""The screens of a comparison: of two runs, of several, and the tables behind them."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from farweb.comparison.change import Cause, Change, Pair, Side
from farweb.judge.judgement import SHORT, Verdict, cell_of, held_by
from farweb.judge.ranking import Ranking
from farweb.judge.verdicts import Slice
from farweb.results.parts import KINDS
from farweb.statistics.quantiles import has_quantile
from farweb.text.quantities import (
    Ends,
    change_cells,
    count,
    difference,
    in_one_unit,
    interval,
    percents,
    seconds,
    share,
    size,
)
from farweb.text.sheet import Part, Sheet
from farweb.text.words import capital

_NONE = "–"
_SHOWN = 0.01  # of the mean difference, that a part has to have for a row of its own; chosen
_CAUSES_MAX = 3
_WIDTH = 80
_ROWS = {"all": "all", **{name: f"  {short}" for name, short in SHORT.items()}}
_GROUPS = {"first of a visit": "  first of a visit", "later in a visit": "  later"}
_CAUSES = {
    "handshake": "connecting",
    "cwnd": "slow start",
    "flight": "for TLS flights",
    "window": "receive window",
    "credit": "waiting for credit",
    "travel": "on the way",
    "request": "on the way",
    "wait": "in the connection queue",
    "rest": "in queues and transmission",
}


def screen(change: Change, hints: Sequence[str]) -> list[Part]:
    """Two runs: the verdict, for whom, latencies, causes, and its reach.

    Args:
        change: The effect of the other.
        hints: Options that show more.
    """
    judgement = change.judgement
    of_sides = [(change.base, change.of_base), (change.other, change.of_other)]
    cause = _cause(change)
    more = f"more: {' '.join(hints)}" if hints else ""
    line = f"{judgement.holds}    {more}".rstrip()
    end = [line] if len(line) <= _WIDTH else [judgement.holds, more]
    return [change.verdict, "", _for_whom(judgement), "", _latency(of_sides), *([cause] if cause else []), *end]


def several(ranking: Ranking, sides: Sequence[Side], verdicts: Sequence[Verdict], group: str) -> list[Part]:
    """Several runs ranked: the best, the table with letters, and the reach of the verdicts.

    Args:
        ranking: Their ranking.
        sides: Latencies of each, in the order given.
        verdicts: Of the pairs.
        group: The property that the requests share; empty: all.
    """
    columns, times = _times(sides)
    rows = [
        [
            row.letters,
            row.name,
            *times[row.place],
            *(["best" if row is ranking.rows[0] else "base", ""] if row.change is None else change_cells(row.change)),
            _failed(sides[row.place].failed_share),
            row.cell,
        ]
        for row in ranking.rows
    ]
    header = ["", *columns, ranking.heading, ranking.sure, "failed", ""]
    of_group = f"{capital(group)}: " if group else ""
    letters = "Runs that share a letter are not told apart. " if any(row.letters for row in ranking.rows) else ""
    spare = [*range(len(columns), 2, -1), header.index(ranking.sure)]
    table = Sheet("", header, rows, 2, is_whole=True, spare=spare)
    reach = f"{letters}Changes are against {ranking.reference}. {held_by(verdicts)}"
    return [of_group + ranking.sentence(), "", table, reach]


def pairs(found: Sequence[Pair]) -> Sheet:
    """Each pair that was judged, a line each."""
    rows = [
        [
            f"{each.other} against {each.base}" + (f", {each.group}" if each.group else ""),
            *change_cells(each.verdict.decisive),
            each.verdict.cell,
        ]
        for each in found
    ]
    return Sheet("Pairs", ["pair", found[0].verdict.heading, found[0].verdict.sure, ""], rows)


def for_whom(judgement: Verdict) -> list[tuple[str, Slice]]:
    """All requests, groups of visits and slices of latency, by the names of their rows."""
    everyone, *parts = judgement.slices
    of_all = everyone if judgement.few is None else replace(everyone, word=judgement.few.word)
    found = [(_ROWS["all"], of_all), *((_GROUPS.get(label, label), each) for label, each in judgement.groups)]
    return found + [(_ROWS[each.name], each) for each in parts]


def _for_whom(judgement: Verdict) -> Sheet:
    """How many requests, how many faster and slower, how much, for each of `for_whom`."""
    rows = [
        [
            name,
            count(each.requests),
            _share(each.faster),
            _share(each.slower),
            *change_cells(each.judged_change),
            cell_of(each.word),
        ]
        for name, each in for_whom(judgement)
    ]
    return Sheet("", ["", "requests", "faster", "slower", "time %", judgement.sure, ""], rows)


def _share(value: float) -> str:
    return "0" if value == 0 else f"{100 * value:.0f} %" if value >= 0.005 else "<1 %"


def _failed(value: float) -> str:
    return "0" if value == 0 else share(value)


def _latency(sides: Sequence[tuple[str, Side]]) -> Sheet:
    columns, times = _times([side for _, side in sides])
    rows = [[name, *cells, _failed(side.failed_share)] for (name, side), cells in zip(sides, times, strict=True)]
    return Sheet("", [*columns, "failed"], rows)


def _times(sides: Sequence[Side]) -> tuple[list[str], list[list[str]]]:
    """The heads of a table of latencies, and its cells for each side, in one unit: the mean, and quantiles of all."""
    shown = _percents(min(side.requests for side in sides))
    times = [[side.mean_s, *(side.quantiles_s[percent] for percent in shown)] for side in sides]
    write, unit = in_one_unit([value for each in times for value in each])
    return [f"latency, {unit}", "mean", *map(_called, shown)], [[*map(write, each)] for each in times]


def _percents(requests: int) -> list[int]:
    """The quantiles that so many requests have."""
    return [percent for percent in (50, 90, 99) if percent == 50 or has_quantile(requests, percent / 100)]


def _called(percent: int) -> str:
    return "median" if percent == 50 else f"{percent} %"


def _cause(change: Change) -> str:
    """Where the mean difference comes from, in a line; empty where that was not recorded."""
    sums: dict[str, float] = {}
    for each in change.causes:
        called = _CAUSES.get(each.kind, KINDS[each.kind])
        sums[called] = sums.get(called, 0.0) + each.mean_s
    parts = sorted(sums.items(), key=lambda part: -abs(part[1]))[:_CAUSES_MAX]
    least = _SHOWN * max((abs(mean_s) for _, mean_s in parts), default=0.0)
    said = [f"{seconds(abs(mean_s))} {_more(mean_s)} {called}" for called, mean_s in parts if abs(mean_s) >= least]
    return f"cause: {', '.join(said)}, in the mean" if said else ""


def _more(value: float) -> str:
    return "more" if value > 0 else "less"


def _largest(change: Change) -> list[Cause]:
    largest = max((abs(each.mean_s) for each in change.causes), default=0.0)
    return [each for each in change.causes if abs(each.mean_s) >= _SHOWN * largest]


def details(change: Change) -> Iterator[Part]:
    """Latencies with their differences, the geometric mean, and the basis of the intervals."""
    yield from (_latencies(change), remarks(change))


def _latencies(change: Change) -> Sheet:
    sides = change.of_base, change.of_other
    rows = [["mean", *(_time(side.mean_s) for side in sides), *_cells(change.everyone.difference_s)]]
    for percent in _percents(change.pairs):
        here, there = (side.quantiles_s[percent] for side in sides)
        rows.append([_called(percent), _time(here), _time(there), _between(here, there), ""])
    lost = [share(side.failed_share) for side in sides]
    rows.append(["failed", *lost, *_cells(change.failed, "1")])
    requests = f"requests, {change.group}" if change.group else f"{count(change.pairs)} requests"
    title = f"Latency of {requests}: {change.other} against {change.base}"
    return Sheet(title, ["", change.base, change.other, "difference", change.judgement.sure], rows)


def _between(here: float | None, there: float | None) -> str:
    if here is None or there is None or (math.isinf(here) and math.isinf(there)):
        return _NONE
    return difference(there - here, "s")


def sizes(change: Change) -> list[Sheet]:
    """The differences by response size, where there are several classes."""
    if len(change.sizes) < 2:
        return []
    ends = [*(each.from_bytes for each in change.sizes[1:]), None]
    rows = [
        [
            _span(each.from_bytes, end),
            count(each.n),
            _share(each.faster),
            _share(each.slower),
            *change_cells(each.change),
        ]
        for each, end in zip(change.sizes, ends, strict=True)
    ]
    return [Sheet("By response size", ["", "requests", "faster", "slower", "time %", change.judgement.sure], rows)]


def _span(low: int, high: int | None) -> str:
    if high is None:
        return f"from {size(low)}"
    return f"{size(low)} to {size(high)}" if low else f"below {size(high)}"


def causes(change: Change) -> list[Sheet]:
    """The mean difference by part of the latency, where that was recorded."""
    total = sum(each.mean_s for each in change.causes)
    rows = [[KINDS[each.kind], difference(each.mean_s, "s")] for each in _largest(change)]
    if not rows:
        return []
    rows.append(["latency", difference(total, "s")])
    return [Sheet("Where the mean difference comes from", ["", "difference"], rows)]


def remarks(change: Change) -> str:
    """Explain the basis of the intervals, and the requests that did not end."""
    judgement, geometric = change.judgement, change.everyone.geometric
    said = [_METHODS[judgement.interval_of].format(sure=judgement.sure, units=judgement.quantities[0].units)]
    if geometric is not None:
        said.append(f"Geometric mean of the ratios: {percents(geometric, signed=True)} %, which decides nothing.")
    lost = (
        (change.only_base, f"ended with {change.base} only, and count as slower"),
        (change.only_other, f"ended with {change.other} only, and count as faster"),
        (change.neither, "ended with neither, and count as neither"),
    )
    said += [f"{count(number)} requests {what}." for number, what in lost if number]
    return " ".join(said)


_METHODS = {
    "blocks": "Each {sure} is of {units} time blocks; the chance of a whole run is not in it.",
    "replications": "Each {sure} is over {units} seeds.",
    "none": "There are too few requests for intervals.",
}


def verdict(judgement: Verdict, group: str) -> str:
    """The judgement as a sentence, with the group of requests that it is about."""
    return (f"{capital(group)}: " if group else "") + f"{judgement.sentence}."


def _time(value: float | None) -> str:
    return "not reached" if value is not None and math.isinf(value) else seconds(value)


def _cells(estimate: Ends, unit: str = "s") -> list[str]:
    ends = interval(estimate.low, estimate.high, unit, of=estimate.value, signed=True)
    return [difference(estimate.value, unit), ends or _NONE]
