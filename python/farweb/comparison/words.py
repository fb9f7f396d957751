"""The screens of a comparison: of two runs, of several, and the tables behind them."""

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from farweb.results.parts import KINDS
from farweb.statistics.intervals import Estimate
from farweb.statistics.judgement import Verdict, cell
from farweb.statistics.quantiles import has_quantile
from farweb.text.quantities import change_cells, count, difference, in_one_unit, interval, seconds, share, size
from farweb.text.sheet import Part, Sheet
from farweb.text.words import capital

if TYPE_CHECKING:
    from farweb.comparison.change import Cause, Change, Pair, Side
    from farweb.results.ranking import Ranking

_NONE = "–"
_SHOWN = 0.01  # of the mean difference, that a part has to have for a row of its own; chosen
_CAUSES_MAX = 3
_WIDTH = 80
_ROWS = {"all": "all", "slowest_tenth": "  slowest tenth", "slowest_hundredth": "  slowest hundredth"}
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


def screen(change: "Change", hints: Sequence[str]) -> list[Part]:
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


def several(ranking: "Ranking", sides: Sequence["Side"], verdicts: Sequence[Verdict], group: str) -> list[Part]:
    """Several runs ranked: the best, the table with letters, and the reach of the verdicts.

    Args:
        ranking: Their ranking.
        sides: Latencies of each, in the order given.
        verdicts: Of the pairs.
        group: The property that the requests share; empty: all.
    """
    columns, times = _quantiles(sides)
    rows = [
        [
            row.letters,
            row.name,
            *times[row.place],
            *(["best" if row is ranking.rows[0] else "base", ""] if row.change is None else change_cells(row.change)),
            _failed(sides[row.place].failed_share),
            "" if row.word is None else cell(row.word),
        ]
        for row in ranking.rows
    ]
    header = ["", *columns, ranking.heading, "95 % interval", "failed", ""]
    of_group = f"{capital(group)}: " if group else ""
    holds = next((each.holds for each in verdicts), "")
    letters = "Runs that share a letter tie. " if any(row.letters for row in ranking.rows) else ""
    table = Sheet("", header, rows, 2)
    return [of_group + ranking.sentence(), "", table, f"{letters}Changes are against {ranking.reference}. {holds}"]


def pairs(found: Sequence["Pair"]) -> Sheet:
    """Each pair that was judged, a line each."""
    rows = [
        [
            f"{each.other} against {each.base}" + (f", {each.group}" if each.group else ""),
            *change_cells(each.verdict.decisive),
            cell(each.verdict.overall),
        ]
        for each in found
    ]
    return Sheet("Pairs", ["pair", found[0].verdict.heading, "interval", ""], rows)


def _for_whom(judgement: Verdict) -> Sheet:
    """All requests, groups of visits and the slowest: how many, how many faster and slower, how much."""
    _, *slow = judgement.slices
    groups = [(_ROWS["all"], judgement), *((_GROUPS.get(label, label), each) for label, each in judgement.groups)]
    found = [(name, each.slices[0], each.few.word if each.few else each.slices[0].word) for name, each in groups]
    found += [(_ROWS[each.name], each, each.word) for each in slow]
    rows = [
        [
            name,
            count(each.requests),
            _share(each.faster),
            _share(each.slower),
            *change_cells(each.judged_change),
            cell(word),
        ]
        for name, each, word in found
    ]
    sure = f"{100 * judgement.confidence:.3g} % interval"
    return Sheet("", ["", "requests", "faster", "slower", "time %", sure, ""], rows)


def _share(value: float) -> str:
    return "0" if value == 0 else f"{100 * value:.0f} %" if value >= 0.005 else "<1 %"


def _failed(value: float) -> str:
    return "0" if value == 0 else share(value)


def _latency(sides: Sequence[tuple[str, "Side"]]) -> Sheet:
    columns, times = _quantiles([side for _, side in sides])
    rows = [[name, *cells, _failed(side.failed_share)] for (name, side), cells in zip(sides, times, strict=True)]
    return Sheet("", [*columns, "failed"], rows)


def _quantiles(sides: Sequence["Side"]) -> tuple[list[str], list[list[str]]]:
    """The heads of a table of latencies, and its cells for each side: quantiles that all sides have, in one unit."""
    percents = _percents(min(side.requests for side in sides))
    write, unit = in_one_unit([side.quantiles_s[percent] for side in sides for percent in percents])
    cells = [[write(side.quantiles_s[percent]) for percent in percents] for side in sides]
    return [f"latency, {unit}", *map(_called, percents)], cells


def _percents(requests: int) -> list[int]:
    """The quantiles that so many requests have."""
    return [percent for percent in (50, 90, 99) if percent == 50 or has_quantile(requests, percent / 100)]


def _called(percent: int) -> str:
    return "median" if percent == 50 else f"{percent} %"


def _cause(change: "Change") -> str:
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


def _largest(change: "Change") -> list["Cause"]:
    largest = max((abs(each.mean_s) for each in change.causes), default=0.0)
    return [each for each in change.causes if abs(each.mean_s) >= _SHOWN * largest]


def details(change: "Change") -> Iterator[Part]:
    """Latencies with intervals of their differences, pairs, and the basis of the intervals."""
    yield from (_latencies(change), _pairs(change), remarks(change))


def _latencies(change: "Change") -> Sheet:
    rows = [
        [
            _called(percent),
            _time(change.of_base.quantiles_s[percent]),
            _time(change.of_other.quantiles_s[percent]),
            *_cells(change.quantiles_s[percent]),
        ]
        for percent in _percents(change.pairs)
    ]
    lost = share(change.of_base.failed_share), share(change.of_other.failed_share)
    rows.append(["failed", *lost, *_cells(change.failed, "1")])
    requests = f"requests, {change.group}" if change.group else "all requests"
    title = f"Latency of {requests}: {change.other} against {change.base}"
    return Sheet(title, ["", change.base, change.other, "difference", "95 % interval"], rows)


def _pairs(change: "Change") -> Sheet:
    rows = [
        ["median difference", *_cells(change.median_s)],
        [f"mean difference (of {share(change.both)})", *_cells(change.mean_s)],
        ["faster", share(change.faster), ""],
        ["slower", share(change.slower), ""],
        ["net slower", *_cells(change.net, "1")],
    ]
    return Sheet(f"{count(change.pairs)} requests, the same on both sides", ["", "", "95 % interval"], rows)


def sizes(change: "Change") -> list[Sheet]:
    """The differences by response size, where there are several classes."""
    if len(change.sizes) < 2:
        return []
    ends = [*(each.from_bytes for each in change.sizes[1:]), None]
    rows = [
        [_span(each.from_bytes, end), count(each.n), *_cells(each.median_s), share(each.faster), share(each.slower)]
        for each, end in zip(change.sizes, ends, strict=True)
    ]
    return [Sheet("By response size", ["", "n", "median difference", "95 % interval", "faster", "slower"], rows)]


def _span(low: int, high: int | None) -> str:
    if high is None:
        return f"from {size(low)}"
    return f"{size(low)} to {size(high)}" if low else f"below {size(high)}"


def causes(change: "Change") -> list[Sheet]:
    """The mean difference by part of the latency, where that was recorded."""
    total = sum(each.mean_s for each in change.causes)
    rows = [[KINDS[each.kind], difference(each.mean_s, "s")] for each in _largest(change)]
    if not rows:
        return []
    rows.append(["latency", difference(total, "s")])
    return [Sheet("Where the mean difference comes from", ["", "difference"], rows)]


def remarks(change: "Change") -> str:
    """Explain the basis of the intervals, and the requests that did not end."""
    said = [_METHODS[change.method].format(units=change.units)]
    if change.effective is not None:
        said.append(f"Effective sample: {count(change.effective)} requests.")
    if change.dependent:
        said.append("Neighbouring blocks are alike: intervals are too narrow; use a longer log.")
    lost = (
        (change.only_base, f"ended with {change.base} only, and count as slower"),
        (change.only_other, f"ended with {change.other} only, and count as faster"),
        (change.neither, "ended with neither, and count as neither"),
    )
    said += [f"{count(number)} requests {what}." for number, what in lost if number]
    return " ".join(said)


_METHODS = {
    "blocks": "Intervals: 95 %, of {units} time blocks; the chance of a whole run is not in them.",
    "replications": "Intervals: 95 %, over {units} seeds.",
    "none": "There are too few requests for intervals.",
}


def verdict(judgement: Verdict, group: str) -> str:
    """The judgement as a sentence, with the group of requests that it is about."""
    return (f"{capital(group)}: " if group else "") + f"{judgement.sentence}."


def _time(value: float | None) -> str:
    return "not reached" if value is not None and math.isinf(value) else seconds(value)


def _cells(estimate: Estimate, unit: str = "s") -> list[str]:
    ends = interval(estimate.low, estimate.high, unit, of=estimate.value, signed=True)
    return [difference(estimate.value, unit), ends or _NONE]
