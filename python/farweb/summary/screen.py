"""The screen of a sweep: the best point, the points by rank, the effect of one setting, and the scope."""

from collections.abc import Collection, Sequence

from farweb.judge.judged import LevelJudged
from farweb.judge.judgement import Verdict, held_by
from farweb.judge.ranking import Ranking, failing
from farweb.results.design import Design
from farweb.summary.sweep import SweepSummary
from farweb.text.quantities import change_cells, in_one_unit, share
from farweb.text.sheet import Part, Screen, Sheet
from farweb.text.words import named, plural

MORE = ("details", "variation", "pairs", "all")
"""Further parts of the screen by name."""

_POINTS_MAX = 12
_LEVELS_MAX = 6
_WARNINGS_MAX = 3


def screen(summary: SweepSummary, more: Collection[str] = (), *, asked: bool = False) -> Screen:
    """A sweep in a screen.

    Args:
        summary: The sweep.
        more: Of `MORE`.
        asked: True where metrics or factors were named: their estimates stand first.
    """
    sheets, ranked = summary.sheets(), summary.ranking
    parts: list[Part] = []
    if ranked is None:
        lost = failing(_failed_shares(summary))
        parts += [f"{summary.name}: {plural(len(summary.design.points), 'point')}{lost and f'; {lost}'}"]
    else:
        parts += [ranked.sentence("point")]
    if (ranked is None or asked) and sheets["estimates"].rows:
        parts.append((sheets["estimates"],))
    if ranked is not None:
        parts += ["", *_points(summary, ranked, is_whole="all" in more)]
    if summary.missing:
        parts[0] = f"{summary.missing:,} of {summary.planned:,} runs are missing. {parts[0]}"
    parts += _levels(summary.judged, summary.design, is_whole="all" in more)
    if sheets["failures"].rows:
        parts.append((sheets["failures"],))
    verdicts = [*(() if ranked is None else ranked.verdicts.values()), *(each.verdict for each in summary.judged)]
    holds = held_by(verdicts) or " ".join(summary.notes[-1:])
    seeds = plural(len(summary.seeds), "seed")
    parts += ["", f"{summary.done} of {summary.planned} runs, {seeds}. {holds}".rstrip()]
    shown = summary.warnings if "details" in more else summary.warnings[:_WARNINGS_MAX]
    parts += [f"warning: {warning}" for warning in shown]
    if len(summary.warnings) > len(shown):
        parts.append(f"+ {len(summary.warnings) - len(shown)} more (--details)")
    parts += summary.notes if "details" in more else []
    wanted = (["facts", "estimates", "differences", "judged"] if "details" in more else []) + (
        ["variation"] if "variation" in more else []
    )
    if tables := tuple(sheets[name] for name in wanted if sheets[name].rows):
        parts.append(tables)
    if "variation" in more and not sheets["variation"].rows:
        parts.append("no split of variation: it takes two or more seeds with requests of their own")
    if "pairs" in more:
        parts.append(_pairs(summary, ranked))
    hints = [f"--{name}" for name in ("metric", "by", "variation", "pairs", "details") if name not in more]
    return Screen((*parts, f"more: {' '.join(hints)}"))


def _failed_shares(summary: SweepSummary) -> list[tuple[str, float]]:
    """Shares of failed requests by point, where these are among the estimates."""
    rows = [row for row in summary.estimates if row["metric"] == "failed_share" and row.get("point") is not None]
    return [(summary.design.point_name(row["point"]), row["mean"]) for row in rows if row["mean"] is not None]


def _points(summary: SweepSummary, ranked: Ranking, *, is_whole: bool) -> list[Part]:
    """Points by rank."""
    rows = ranked.rows if is_whole else ranked.rows[:_POINTS_MAX]
    names = summary.design.names
    times = [summary.latencies[row.name] for row in rows]
    write, unit = in_one_unit([value for each in times for value in each])
    has_failed = any(row.failed_share for row in rows)
    lines = [
        [
            row.letters,
            *(summary.labels[row.name][name] for name in names),
            *map(write, of_point),
            *(["best", ""] if row.change is None else change_cells(row.change)),
            *([share(row.failed_share) if row.failed_share else "0"] if has_failed else []),
            row.cell,
        ]
        for row, of_point in zip(rows, times, strict=True)
    ]
    header = [
        "",
        *summary.design.short_names.values(),
        f"mean, {unit}",
        "median",
        *(head for name, head in _HIGH.items() if name not in summary.few),
        ranked.heading,
        ranked.sure,
        *(["failed"] if has_failed else []),
        "",
    ]
    left = len(ranked.rows) - len(rows)
    cut: list[Part] = [f"… {left} more (--all)"] if left else []
    spare = [*range(len(names) + len(times[0]), len(names) + 1, -1), header.index(ranked.sure)]
    return [Sheet("", header, lines, 1 + len(names), spare=spare), *cut]


_HIGH = {"latency_p90_s": "90 %", "latency_p99_s": "99 %"}


def _levels(judged: Sequence[LevelJudged], design: Design, *, is_whole: bool) -> list[Part]:
    """The change that each level makes against the factor's first."""
    first = {factor.name: factor.levels[0].label for factor in design.factors}
    chosen = [each for each in judged if first[each.factor] == each.base]
    rows = [
        [
            design.short_names[each.factor],
            f"{each.level} for {each.base}",
            *change_cells(each.verdict.decisive),
            each.verdict.cell,
        ]
        for each in (chosen if is_whole else chosen[:_LEVELS_MAX])
    ]
    if not rows:
        return []
    left = len(chosen) - len(rows)
    cut: list[Part] = [f"… {left} more (--all)"] if left else []
    sure = _sure([each.verdict for each in chosen], "95 % a setting")
    return [Sheet("One setting changed", ["", "", chosen[0].verdict.heading, sure, ""], rows, 2), *cut]


def _sure(verdicts: Sequence[Verdict], mixed: str) -> str:
    """Confidence of each interval of a column, over it: others are wider where more pairs hold together."""
    sure = {each.sure for each in verdicts}
    return sure.pop() if len(sure) == 1 else mixed


def _pairs(summary: SweepSummary, ranked: Ranking | None) -> Sheet:
    """The verdict on each pair of points, then of levels."""
    varied = [factor.name for factor in summary.design.factors if len(factor.levels) > 1]
    short = summary.design.short_names
    found: dict[tuple[str, str], Verdict] = {}
    if ranked is not None:
        labels = summary.labels
        names = {row.place: ", ".join(labels[row.name][name] for name in varied) for row in ranked.rows}
        found |= {(names[other], names[base]): verdict for (base, other), verdict in ranked.verdicts.items()}
    for each in summary.judged:
        one, other = each.level, each.base
        if len(varied) > 1:  # else a level is a point
            one, other = (named(short[each.factor], end) for end in (one, other))
        found.setdefault((one, other), each.verdict)
    rows = [[*ends, *change_cells(verdict.decisive), verdict.cell] for ends, verdict in found.items()]
    heading = next((verdict.heading for verdict in found.values()), "time %")
    header = [", ".join(short[name] for name in varied), "for", heading, _sure([*found.values()], "interval"), ""]
    return Sheet("Pairs", header, rows, 2, is_whole=True, spare=[3])
