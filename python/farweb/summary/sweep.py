"""Summary of a sweep in a few tables, as `farweb show` prints it: estimates, differences, variation, warnings."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from farweb.judge.judged import FIXED_LOG, LevelJudged, deciding, levels_judged
from farweb.judge.judgement import SHOWN
from farweb.judge.ranking import Ranking, rank_points
from farweb.results.design import KINDS, Design
from farweb.results.estimates import POOLED, Estimates
from farweb.results.metrics import find_metric, group_of
from farweb.results.requests import QUANTILES
from farweb.results.select import pooled
from farweb.results.sweep import SweepTables
from farweb.results.sweep_warnings import warnings_of
from farweb.statistics.intervals import TWO
from farweb.statistics.quantiles import has_quantile
from farweb.text.quantities import difference, quantity, relative, seconds, share, with_margin
from farweb.text.sheet import Screen, Sheet, to_object
from farweb.text.words import plural, ranged

MAIN = ("latency_mean_s", "latency_p50_s", "latency_p90_s", "failed_share", "goodput_bps", "utilisation", "loss_ratio")
"""Metrics shown unless others are asked for; those of which no run has a value but zero are left out."""

_MOST_POINTS = 48  # chosen: a screen; JSON and SQL have all
_MOST_TERMS = 15
_MOST_FAILURES = 10


@dataclass(frozen=True)
class SweepSummary:
    """A sweep in a few tables.

    Attributes:
        name: Its name.
        design: Its factors and points.
        seeds: Seeds of its runs.
        planned: Runs of the design.
        done: Runs that have results.
        failed: Runs that have failed, with their levels and errors.
        metrics: Names of the metrics that are shown.
        estimates: A row a point, or a combination of the factors asked for, and metric.
        differences: A row a level and metric, against the factor's first level.
        effects: A row a metric and source of variation.
        level_effects: A row a metric and level, or combination of levels.
        warmup: A row a point.
        judged: The levels of each factor, each against each.
        ranking: The points, the best first; None where they are not ranked.
        latencies: Mean, median, 90 % and 99 % quantile in s of each ranked point, by its name, where all runs have it.
        few: Quantiles that not all runs have, with the requests of the smallest run.
        tunnel_shares: Least and largest share of a run's load in tunnels; None without tunnels.
        notes: Source of the intervals, and what would replicate.
        warnings: Caveats.
    """

    name: str
    design: Design
    seeds: Sequence[int]
    planned: int
    done: int
    failed: Sequence[Mapping[str, Any]]
    metrics: Sequence[str]
    estimates: Sequence[Mapping[str, Any]]
    differences: Sequence[Mapping[str, Any]]
    effects: Sequence[Mapping[str, Any]]
    level_effects: Sequence[Mapping[str, Any]]
    warmup: Sequence[Mapping[str, Any]]
    judged: Sequence[LevelJudged]
    ranking: Ranking | None
    latencies: Mapping[str, Sequence[float | None]]
    few: Mapping[str, int]
    tunnel_shares: tuple[float, float] | None
    notes: Sequence[str]
    warnings: Sequence[str]

    @property
    def labels(self) -> dict[str, dict[str, str]]:
        """Labels of the levels of each point by factor, by the point's name."""
        return {
            self.design.point_name(at): {name: level.label for name, level in self.design.levels(at).items()}
            for at in range(len(self.design.points))
        }

    @property
    def missing(self) -> int:
        """Runs that have not ended."""
        return self.planned - self.done - len(self.failed)

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        tables = ("estimates", "differences", "effects", "level_effects", "warmup")
        found = {
            "name": self.name,
            "design": self.design.kind,
            "factors": {each.name: [level.value for level in each.levels] for each in self.design.factors},
            "points": len(self.design.points),
            **{name: getattr(self.design, name) for name in ("replications", "random_numbers")},
            "seeds": self.seeds,
            "runs": {"planned": self.planned, "done": self.done, "failed": len(self.failed), "missing": self.missing},
            "complete": self.missing == 0,
            **{table: getattr(self, table) for table in tables},
            "failed_runs": self.failed,
            "judged": self.judged,
            "ranking": [] if self.ranking is None else self.ranking.to_dicts(),
            **{name: getattr(self, name) for name in ("tunnel_shares", "notes", "warnings")},
        }
        return to_object(found)

    def sheets(self) -> dict[str, Sheet]:
        """Tables behind the screen, by name."""
        facts = Sheet(self.name, ["", "value"], self._facts())
        return {
            "facts": facts,
            "estimates": self._estimates(),
            "differences": self._differences(),
            "judged": self._judged(),
            "variation": self._effects(),
            "failures": self._failures(),
        }

    def _repr_html_(self) -> str:
        sheets = [sheet for sheet in self.sheets().values() if sheet.rows]
        return Screen([*sheets, *self.notes, *self.warnings])._repr_html_()

    def _facts(self) -> list[list[str]]:
        design = self.design
        factors = ", ".join(f"{each.name} ({len(each.levels)})" for each in design.factors)
        numbers = "the same" if design.random_numbers == "common" else "others"
        facts = [
            ["design", f"{KINDS[design.kind]}, {len(design.points)} points"],
            ["factors (levels)", factors],
            ["seeds a point", "as many as it took" if design.kind == "search" else str(design.replications)],
            ["seeds", f"{ranged(self.seeds) or '–'}, {numbers} at each point"],
            ["runs", f"{self.done} of {self.planned} done, {len(self.failed)} failed, {self.missing} missing"],
        ]
        if self.tunnel_shares is not None:
            ends = dict.fromkeys(map(share, self.tunnel_shares))
            facts.append(["of the load in tunnels", " to ".join(ends)])
        if self.warmup:
            known = [row["truncated_s"] for row in self.warmup if row["steady"]]
            settles = f"settles within {seconds(max(known))}" if known else "does not settle within a tenth of a run"
            facts.append(["warm-up", f"{seconds(self.warmup[0]['warmup_s'])} left out; latency {settles} (MSER-5)"])
        return facts

    def _estimates(self) -> Sheet:
        factors = [name for row in self.estimates[:1] for name in row if name in self.design.names]
        rows: dict[tuple[str, ...], dict[str, str]] = {}
        for row in self.estimates:
            labels = tuple(_label(self.design, name, row[name]) for name in factors)
            rows.setdefault(labels, {})[row["metric"]] = plus_minus(row)
        shown = [
            [*labels, *(cells.get(metric, "–") for metric in self._known)]
            for labels, cells in list(rows.items())[:_MOST_POINTS]
        ]
        cut = f"; the first {_MOST_POINTS} of {len(rows)}" if len(rows) > _MOST_POINTS else ""
        left = "".join(
            f"; without {metric}, as a run has {plural(self.few[metric], 'request')} of it"
            for metric in self.metrics
            if metric in self.few
        )
        title = f"Estimates{_intervals(self.estimates)}{cut}{left}"
        return Sheet(title, [*factors, *self._known], shown)

    @property
    def _known(self) -> list[str]:
        """Metrics that are shown and that all runs have."""
        return [metric for metric in self.metrics if metric not in self.few]

    def _differences(self) -> Sheet:
        rows: dict[str, dict[str, str]] = {}
        for row in self.differences:
            if row["scope"] == "overall":
                label = f"{row['factor']}: {row['level']} against {row['base']}"
                percent = "" if row["percent"] is None else f"\n({relative(row['percent'])})"
                rows.setdefault(label, {})[row["metric"]] = plus_minus(row, signed=True) + percent
        shown = [
            [label, *(cells.get(metric, "–") for metric in self._known)]
            for label, cells in list(rows.items())[:_MOST_POINTS]
        ]
        title = f"Differences, paired by seed{_intervals(self.differences)}"
        return Sheet(title, ["", *self._known], shown)

    def _judged(self) -> Sheet:
        shown = [
            [f"{each.factor}: {each.level} against {each.base}", each.verdict.overall, each.verdict.sentence]
            for each in self.judged[:_MOST_POINTS]
        ]
        cut = f"; the first {_MOST_POINTS} of {len(self.judged)}" if len(self.judged) > _MOST_POINTS else ""
        return Sheet(f"Verdicts{cut}", ["", "verdict", ""], shown, names=3)

    def _effects(self) -> Sheet:
        rows: dict[str, dict[str, Mapping[str, Any]]] = {}
        for row in self.effects:
            rows.setdefault(row["term"], {})[row["metric"]] = row
        analysed = [metric for metric in self._known if any(metric in cells for cells in rows.values())]

        def weight(cells: Mapping[str, Mapping[str, Any]]) -> float:
            return max((cells[metric]["percent"] or 0.0 for metric in analysed if metric in cells), default=0.0)

        biggest = sorted(rows.items(), key=lambda item: -weight(item[1]))[:_MOST_TERMS]
        names = {**self.design.short_names, "replications": "seeds"}
        shown = [
            [
                " × ".join(names.get(each, each) for each in term.split(" × ")),
                *(_explained(cells.get(metric)) for metric in analysed),
            ]
            for term, cells in biggest
        ]
        ranked = self.design.kind == "latin-hypercube"
        what = "Share of variation of ranks (and rank regression coefficient)" if ranked else "Share of variation"
        return Sheet(what, ["", *analysed], shown)

    def _failures(self) -> Sheet:
        names = self.design.names
        shown = [
            [
                row["run"],
                *(_label(self.design, name, row[name]) for name in names),
                str(row["replication"]),
                row["error"],
            ]
            for row in self.failed[:_MOST_FAILURES]
        ]
        cut = f", the first {_MOST_FAILURES} of {len(self.failed)}" if len(self.failed) > _MOST_FAILURES else ""
        return Sheet(f"Failed runs{cut}", ["run", *names, "replication", "error"], shown)


def _intervals(rows: Sequence[Mapping[str, Any]]) -> str:
    """The intervals of rows in a title, with their units and a remark on two replications; nothing without any."""
    if all(row["high"] is None for row in rows):
        return ""
    origins = {row["interval_of"] for row in rows if row["interval_of"] != "none"}
    said = [name for origin, name in _ORIGINS.items() if origin in origins]
    two = any(row["n"] == 2 and row["interval_of"] == "replications" for row in rows)
    return ", ± 95 % interval" + (f" of {' or '.join(said)}" if said else "") + (f"; {TWO}" if two else "")


_ORIGINS = {"replications": "seeds", "blocks": "time blocks"}


def _label(design: Design, name: str, value: Any) -> str:
    """Label of a level, by its value in the factor's column."""
    factor = next(each for each in design.factors if each.name == name)
    return next((level.label for level in factor.levels if level.value == value), str(value))


def plus_minus(row: Mapping[str, Any], *, signed: bool = False) -> str:
    """An estimate with half the width of its interval: ``"342 ± 12 ms"``; without an interval the estimate alone."""
    unit, mean, high = find_metric(row["metric"]).unit, row["mean"], row["high"]
    if mean is None:
        return "–"
    if signed and math.isinf(mean):
        return "failures decide"
    if high is not None:
        return with_margin(mean, high - mean, unit, signed=signed)
    return difference(mean, unit) if signed else quantity(mean, unit)


def _explained(row: Mapping[str, Any] | None) -> str:
    if row is None or row["percent"] is None:
        return "–"
    text = f"{row['percent']:.1f} %"
    if row["coefficient"] is not None:
        text += f" ({row['coefficient']:+.2f})".replace("-", "−")
    return text


def summarize(
    sweep: SweepTables,
    metrics: Sequence[str] | None,
    by: Sequence[str] | None,
    *,
    log: bool = False,
    decide: Sequence[str] | None = None,
) -> SweepSummary:
    """The summary of a sweep; see `SweepTables.summary`."""
    shown = list(metrics or _main(sweep))
    names = sweep.design.names
    by = [factor.name for factor in sweep.design.chosen(by or ())]
    failed = sweep.runs.filter(pl.col("status") == "failed").select("run", *names, "replication", "error")
    effects = sweep.effects(shown, log=log)
    judged, why_not = levels_judged(sweep, deciding(decide))
    ranked, not_ranked = rank_points(sweep, deciding(decide))
    few = _few(sweep, {*shown, *SHOWN})
    return SweepSummary(
        name=sweep.name,
        design=sweep.design,
        seeds=sorted(set(sweep.runs["seed"].to_list())),
        planned=sweep.manifest["runs"],
        done=sweep.runs.height - failed.height,
        failed=failed.to_dicts(),
        metrics=shown,
        estimates=sweep.estimates(shown).to_dicts() if not by else _by(sweep, shown, by),
        differences=sweep.differences(shown).to_dicts(),
        effects=effects.to_dicts(),
        level_effects=sweep.level_effects(shown, log=log).to_dicts(),
        warmup=sweep.warmup().to_dicts(),
        judged=judged,
        ranking=ranked,
        latencies=_latencies(sweep, few) if ranked is not None else {},
        few=few,
        tunnel_shares=tunnel_shares(sweep),
        notes=[
            *([FIXED_LOG] if sweep.fixed_points else []),
            *(["Differences are per run, results over all runs: they can disagree."] if judged else []),
            *([f"No level was judged: {why_not}."] if why_not else []),
            *([f"Points are not ranked: {not_ranked}."] if not_ranked else []),
        ],
        warnings=warnings_of(sweep, [metric for metric in shown if metric in MAIN] or shown),
    )


def _few(sweep: SweepTables, metrics: Iterable[str]) -> dict[str, int]:
    """Quantiles of fewer requests in a run than they take, with the fewest."""
    shares = {name: share for quantiles in QUANTILES.values() for name, share in quantiles.items()}
    asked = {name: f"{group}_requests" if (group := group_of(name)) else "requests" for name in metrics}
    least = {name: sweep.runs[column].min() for name, column in asked.items() if name in shares}
    return {
        name: number
        for name, number in least.items()
        if isinstance(number, int) and number and shares[name] > 0.5 and not has_quantile(number, shares[name])
    }


def _latencies(sweep: SweepTables, few: Mapping[str, int]) -> dict[str, list[float | None]]:
    """Mean and quantiles of each point, by its name."""
    found: dict[str, list[float | None]] = {sweep.design.point_name(at): [] for at in range(len(sweep.design.points))}
    for name in ("latency_mean_s", *SHOWN):
        for row in [] if name in few else sweep.estimates([name]).to_dicts():
            found[sweep.design.point_name(row["point"])].append(row["mean"])
    return found


def tunnel_shares(sweep: SweepTables) -> tuple[float, float] | None:
    """Least and largest share of a run's load in tunnels; None without tunnels."""
    shares = sweep.runs["tunnel_share"].drop_nulls().to_list()
    return (min(shares), max(shares)) if any(shares) else None


def _main(sweep: SweepTables) -> list[str]:
    """The main metrics that have a value but zero."""
    known = [metric for metric in MAIN if metric in sweep.metrics and not np.isnan(sweep.values(metric)).all()]
    return [metric for metric in known if np.nan_to_num(sweep.values(metric)).any()] or known


def _by(sweep: SweepTables, metrics: Sequence[str], by: Sequence[str]) -> list[dict[str, Any]]:
    """Estimates by some of the factors: in each replication the mean over all levels of the others."""
    tables = {metric: Estimates(sweep, metric) for metric in metrics}
    return [
        {**{name: level.value for name, level in zip(by, levels, strict=True)}, "metric": metric}
        | {name: table.row(points)[name] for name in POOLED}
        for levels, points in pooled(sweep.design, by).items()
        for metric, table in tables.items()
    ]
