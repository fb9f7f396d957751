"""Puts a comparison into words: its tables, the basis of its intervals, and its verdict."""

import math
from typing import TYPE_CHECKING

from farweb.results.parts import KINDS
from farweb.statistics.judgement import turned
from farweb.text.quantities import count, difference, interval, seconds, share, size
from farweb.text.sheet import Sheet
from farweb.text.words import capital

if TYPE_CHECKING:
    from collections.abc import Sequence

    from farweb.comparison.change import Change, Estimate, Pair

_NONE = "–"
_SHOWN = 0.01  # of the mean difference, that a part has to have for a row of its own; chosen


def sheets(change: "Change") -> list[Sheet]:
    """Latencies on both sides, differences of pairs, and where they come from."""
    return [_latencies(change), _pairs(change), *_sizes(change), *_causes(change)]


def _latencies(change: "Change") -> Sheet:
    rows = [
        [
            "median" if percent == 50 else f"{percent} %",
            _time(change.of_base.quantiles_s[percent]),
            _time(change.of_other.quantiles_s[percent]),
            *_cells(difference),
        ]
        for percent, difference in change.quantiles_s.items()
    ]
    lost = share(change.of_base.failed_share), share(change.of_other.failed_share)
    rows.append(["not answered", *lost, *_cells(change.failed, "1")])
    requests = f"requests, {change.group}" if change.group else "all requests"
    title = f"Latency of {requests}: {change.other} against {change.base}"
    return Sheet(title, ["", change.base, change.other, "difference", "95 % interval"], rows)


def _pairs(change: "Change") -> Sheet:
    rows = [
        ["median difference", *_cells(change.median_s)],
        [f"mean difference (of {share(change.both)})", *_cells(change.mean_s)],
        ["faster", share(change.faster), ""],
        ["slower", share(change.slower), ""],
        ["slower less faster", *_cells(change.net, "1")],
    ]
    return Sheet(f"{count(change.pairs)} requests, paired by number", ["", "", "95 % interval"], rows)


def _sizes(change: "Change") -> list[Sheet]:
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


def _causes(change: "Change") -> list[Sheet]:
    total = sum(each.mean_s for each in change.causes)
    largest = max((abs(each.mean_s) for each in change.causes), default=0.0)
    shown = [each for each in change.causes if abs(each.mean_s) >= _SHOWN * largest]
    rows = [[KINDS[each.kind], difference(each.mean_s, "s")] for each in shown]
    if not rows:
        return []
    rows.append(["latency", difference(total, "s")])
    return [Sheet("Where the mean difference comes from", ["", "difference"], rows)]


def matrix(names: "Sequence[str]", pairs: "Sequence[Pair]", group: str, ranking: "Sequence[Sequence[str]]") -> Sheet:
    """The judgement of each against each: the row's against the column's; rows by rank."""
    found = {(each.other, each.base): each.verdict for each in pairs if each.group == group}
    rows = []
    for place, tied in enumerate(ranking, 1):
        for name in tied:
            cells = [
                _NONE
                if name == against
                else found[name, against].overall
                if (name, against) in found
                else turned(found[against, name].overall)
                for against in names
            ]
            rows.append([f"{place}{'=' if len(tied) > 1 else ''}", name, *cells])
    of_group = f", {group}" if group else ""
    title = f"Each against each{of_group}: the row is … than the column; rank 1 is the best, = is a tie"
    return Sheet(title, ["rank", "", *names], rows, names=2)


def remarks(change: "Change") -> str:
    """Explain the basis of the intervals, and the requests that did not end."""
    said = [_METHODS[change.method].format(units=change.units)]
    if change.effective is not None:
        said.append(f"They are as sure of the mean as {count(change.effective)} independent requests would be.")
    if change.dependent:
        said.append(
            "Neighbouring blocks depend on each other, so that intervals are too narrow: compare replications of a "
            "sweep."
        )
    lost = (
        (change.only_base, f"ended with {change.base} only, and count as slower"),
        (change.only_other, f"ended with {change.other} only, and count as faster"),
        (change.neither, "ended with neither, and count as neither"),
    )
    said += [f"{count(number)} requests {what}." for number, what in lost if number]
    return " ".join(said)


_METHODS = {
    "blocks": "Intervals: 95 %, of {units} blocks of consecutive requests; what chance does to a whole run is not in "
    "them.",
    "replications": "Intervals: 95 %, over {units} replications.",
    "none": "There are too few requests for intervals.",
}


def verdict(change: "Change") -> str:
    """The comparison in a sentence: the judgement, then what requests do."""
    if not change.pairs:
        return "There is no request to compare."
    lost = f"{share(change.of_base.failed_share)} → {share(change.of_other.failed_share)}"
    numbers = (
        f"{share(change.faster)} of {count(change.pairs)} requests are faster and {share(change.slower)} slower, "
        f"median difference {_estimate(change.median_s)}, not answered {lost}"
    )
    of_group = f"{capital(change.group)}: " if change.group else ""
    few = "Too few requests for intervals: " if change.method == "none" else ""
    return f"{of_group}{few}{change.judgement.sentence}. {numbers}."


def _time(value: float | None) -> str:
    return "not reached" if value is not None and math.isinf(value) else seconds(value)


def _cells(estimate: "Estimate", unit: str = "s") -> list[str]:
    return [difference(estimate.value, unit), interval(estimate.low, estimate.high, unit, signed=True) or _NONE]


def _estimate(estimate: "Estimate") -> str:
    value, ends = _cells(estimate)
    return value if ends == _NONE else f"{value} ({ends})"
