"""The answer that a sweep or a search gives to its question, in sentences: no more than its numbers bear.

A fact is what matters in a few words, and the rest of its sentence.
"""

import math
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from farweb.plot.replicated import words
from farweb.report.findings import (
    CHANCE,
    Change,
    Row,
    changes,
    ends_of,
    interval_of,
    ranked,
    rows_by,
    sources,
)
from farweb.report.words import Names, at, names_of, term
from farweb.results.judged import FIXED_LOG, LevelJudged, point_judged
from farweb.results.metrics import Metric
from farweb.results.sweep import SweepTables
from farweb.results.sweep_statistics import JOINT
from farweb.results.sweep_warnings import comparable
from farweb.statistics.units import is_quantity
from farweb.text.quantities import difference, interval, quantity, relative, share
from farweb.text.words import capital, listed, named, plural

Fact = tuple[str, str]

_JUDGED_MAX = 24
"""Points that are judged against the best, at most; chosen: a table of results has as many."""

_TERMS = 4  # chosen: more sources of variation than these nobody keeps in mind
_JOINT_PERCENT = 5.0  # of the variation, from which an interaction is worth a sentence; chosen
_LEAST_PERCENT = 1.0  # of the variation, that a source has to have to be named; chosen


def answer(sweep: SweepTables, metrics: Sequence[Metric]) -> list[Fact]:
    """Facts: what was checked, then each of these metrics, the most important first."""
    checked = listed([words(metric) for metric in metrics])
    done, points = int((sweep.runs["status"] == "done").sum()), plural(len(sweep.design.points), "point")
    compared = ", compared by replication" if sweep.design.random_numbers == "common" else ""
    if sweep.design.replications == 1:
        compared = ", one run each, so that chance cannot be seen"
    facts = [(f"Checked: {checked}", f"of {plural(done, 'run')} at {points}{compared}.")]
    for metric in metrics:
        facts += _answer(sweep, metric)
    return facts


def judgements(sweep: SweepTables, found: Sequence[LevelJudged], why_not: str) -> list[Fact]:
    """The levels of each factor judged by the rule that all verbs share, and what the verdicts hold for.

    Args:
        sweep: Which.
        found: The judgements.
        why_not: The reason where there is none.
    """
    names = names_of(sweep)
    facts = []
    for each in found:
        fact, _, rest = each.verdict.sentence.partition(": ")
        facts.append((f"{capital(names[each.factor])}: {fact}:", f"{rest}."))
    if why_not:
        facts.append(("No level was judged:", f"{why_not}."))
    if found:
        first, _, rest = f"{found[0].verdict.holds} {FIXED_LOG if sweep.fixed_points else ''}".strip().partition(" (")
        facts.append((first, f"({rest}" if rest else ""))
    return facts


def _answer(sweep: SweepTables, metric: Metric) -> list[Fact]:
    """Facts about a metric."""
    if not comparable(sweep, metric.name):
        why = "it is of the requests that ended, which are not the same share of all everywhere; quantiles count all."
        return [(f"Points are not ranked by {words(metric)}:", why)]
    rows = ranked(rows_by(sweep, [metric], sweep.design.factors), metric)
    if not rows:
        return [("There is no answer yet:", f"no run has a {words(metric)}.")]
    if len({row.estimates[metric.name].mean for row in rows}) == 1:
        everywhere = " at every point" if len(rows) > 1 else ""
        return [_estimate(metric, rows[0], words(metric), everywhere)]
    names = names_of(sweep)
    return [
        *_ends(sweep, metric, rows, names),
        *_changes(metric, _strongest(changes(sweep, metric)), names),
        *_variation(sweep, metric, names),
    ]


def _estimate(metric: Metric, row: Row, what: str, where: str) -> Fact:
    estimate = row.estimates[metric.name]
    ends = interval_of(metric, estimate) or ("a single run" if estimate.n == 1 else plural(estimate.n, "run"))
    return f"{capital(what)}: {quantity(estimate.mean, metric.unit)}", f"({ends}){where}."


def _ends(sweep: SweepTables, metric: Metric, rows: Sequence[Row], names: Names) -> list[Fact]:
    """The best point and the worst, and how many were not shown to be worse than the best."""
    first, last, _ = ends_of(metric)
    best, worst = (f" at {at(names, sweep.design.factors, row.levels)}" for row in (rows[0], rows[-1]))
    fact, rest = _estimate(metric, rows[0], f"{first} {words(metric)}", best)
    return [(fact, rest + _like_the_first(sweep, metric, rows)), _estimate(metric, rows[-1], last, worst)]


def _like_the_first(sweep: SweepTables, metric: Metric, rows: Sequence[Row]) -> str:
    """Number of points that are not worse than the first by the metric, where the requests say so."""
    if not 3 <= len(rows) <= _JUDGED_MAX or not is_quantity(metric.name):
        return ""
    first, *others = (row.points[0] for row in rows)
    found = [point_judged(sweep, first, point, metric.name) for point in others]
    if any(each is None or each.interval_of == "none" for each in found):
        return ""
    same = sum(each is not None and each.overall != "worse" for each in found)
    if same == 0:
        return f" Each of the other {len(others)} points is worse."
    which = f"All {same}" if same == len(others) else f"{same} of the {len(others)}"
    return f" {which} other points {'ties' if same == 1 < len(others) else 'tie'} with the best."


def _strongest(found: Sequence[Change]) -> list[Change]:
    """Selects of each factor the level that makes the largest difference, the largest of all first."""
    largest: dict[str, Change] = {}
    for change in sorted(found, key=lambda each: -abs(each.mean)):
        largest.setdefault(change.factor, change)
    return list(largest.values())


def _changes(metric: Metric, found: Sequence[Change], names: Names) -> list[Fact]:
    """Differences that factors make; then those that may be none."""

    def ends(each: Change) -> str:
        return interval(each.low, each.high, metric.unit, signed=True)

    facts = [
        (
            f"{capital(named(names[each.factor], each.levels))}: {difference(each.mean, metric.unit)}",
            f"in {words(metric)} ({ends(each)}), {relative(each.percent)}.",
        )
        for each in found
        if each.is_real
    ]
    unsure = [
        f"{named(names[each.factor], each.levels)}, {difference(each.mean, metric.unit)} ({ends(each)})"
        for each in found
        if each.is_judged and not each.is_real
    ]
    if unsure:
        facts.append((f"Not distinguishable from no difference in {words(metric)}:", f"{'; '.join(unsure)}."))
    ended = [named(names[each.factor], each.levels) for each in found if math.isinf(each.mean)]
    if ended:
        what = f"failed requests reach the {words(metric)} of one of the two; compare the share that failed."
        facts.append((f"Decided by failures: {'; '.join(ended)}:", what))
    return facts


def _variation(sweep: SweepTables, metric: Metric, names: Names) -> list[Fact]:
    """Factors from which the variation comes, and whether what one does depends on another."""
    parts = sources(sweep, metric)
    large = {name: part for name, part in parts.items() if name not in CHANCE and part >= _LEAST_PERCENT}
    if not large:
        return []
    chance = sum(part for name, part in parts.items() if name in CHANCE)
    what, rest = "", f"chance between replications makes {chance:.1f} %"
    if sweep.design.kind == "latin-hypercube":
        what, rest = ", by ranks", f"{chance:.1f} % is not explained by ranks of these factors"
    of_each = listed([f"{term(names, name)} {part:.1f} %" for name, part in large.items()][:_TERMS])
    rest = f"; {rest}" if chance >= 0.05 else ""
    facts = [(f"Where the variation of {words(metric)} comes from{what}:", f"{of_each}{rest}.")]
    joint = [name for name, part in large.items() if JOINT in name and part >= _JOINT_PERCENT]
    if joint:
        *some, last = term(names, joint[0]).split(JOINT)
        both = "the differences above are averages over both; table and figures show each."
        facts.append((f"How much {listed(some)} matters depends on {last}:", both))
    return facts


class Search:
    """Findings of `farweb size`, from the manifest of its folder; empty for another sweep."""

    def __init__(self, sweep: SweepTables) -> None:
        self._sweep = sweep
        self._asked: Mapping[str, Any] = sweep.manifest.get("search") or {}
        self._found: Mapping[str, Any] = self._asked.get("answer") or {}
        self._curve: Sequence[Mapping[str, Any]] = self._found.get("curve", ())
        self.warnings: Sequence[str] = self._found.get("warnings", ())

    def _wanted(self) -> str:
        key = names_of(self._sweep).get(self._asked["key"], self._asked["key"])
        return f"{'largest' if self._asked['largest'] else 'smallest'} {key} with {self._asked['target']}"

    @property
    def question(self) -> str:
        """Question that was searched for."""
        return f"What is the {self._wanted()}?" if self._asked else ""

    @property
    def metrics(self) -> list[str]:
        """Names of the metrics that the target is about."""
        return list(dict.fromkeys(each["metric"] for tried in self._curve for each in tried["estimates"]))

    @property
    def verdicts(self) -> dict[str, list[str]]:
        """Runs and verdict of each value that was tried, by its label."""
        return {tried["label"]: [str(tried["n"]), str(tried["verdict"])] for tried in self._curve}

    def answer(self) -> list[Fact]:
        """The answer as a fact; nothing as long as there is none."""
        found, asked = self._found, self._asked
        if not found:
            return []
        runs = plural(found["runs"], "run")
        where = f" {found['scope']}" if found.get("scope") else ""
        if found["answer"] is None:
            chance = f"at {share(found['confidence'])} confidence"
            sure = "the seed makes no difference" if found["without_chance"] else chance
            verb = "meets" if found["attainable"] is False else "was shown to meet"
            span = f"{self._curve[0]['label']} to {self._curve[-1]['label']}"
            reached = "; ".join(found["reached"])
            return [(f"No value from {span} {verb} {asked['target']}{where}:", f"{reached} ({sure}; {runs}).")]
        return [(f"{capital(self._wanted())}: {found['answer']['label']}{where}", f"({found['interval']}; {runs}).")]

    def command(self) -> str:
        """The command line of the search."""
        levels = [level for factor in self._sweep.design.factors for level in factor.levels]
        labels = [tried["label"] for tried in self._curve] or [level.label for level in levels]
        has_numbers = all(level.number is not None for level in levels)
        values = f"{labels[0]}..{labels[-1]}" if has_numbers else ",".join(labels)
        options = {"vary": f"{self._asked['key']}={values}", "target": self._asked["target"]}
        line = ["farweb size scenario.toml", *(f"--{name} {shlex.quote(value)}" for name, value in options.items())]
        line += ["--largest"] if self._asked["largest"] else []
        return " ".join([*line, f"--out {shlex.quote(self._sweep.path.name)}"])
