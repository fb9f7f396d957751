"""What the simulations say of the open choices: ranges, effects, and what the published numbers allow together."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import polars as pl

from farweb import SweepResults

from .conclusions import CONCLUSIONS
from .design import unit_points
from .emulator import Effects, Emulator, candidates
from .factors import FACTORS, Floats
from .kinds import Truths, latencies
from .kinds import tables as by_kind
from .numbers import NUMBERS, Number, by_point

FITTED = ("S1", "T13")
"""Numbers that a workload is calibrated to: those that meet them are the allowed workloads of the scoreboard's
ranges."""


@dataclass(frozen=True)
class Findings:
    """The simulations of a design, with emulators between them.

    Attributes:
        points: A row a point, in the unit cube.
        values: A row a point, a column a number.
        seconds: Mean latencies: a row a point, a column for each of `kinds.LATENCIES`.
        standing: At how many points each conclusion holds.
    """

    points: Floats
    values: Floats
    seconds: Floats
    standing: list[int]

    @classmethod
    def read(cls, sweeps: Sequence[Path]) -> "Findings":
        """Of the results folders of the design's sweeps."""
        runs = pl.concat([SweepResults.open(folder).runs for folder in sweeps], how="diagonal_relaxed")
        points = by_point(runs)
        values = np.array([[number.of(cases) for number in NUMBERS] for cases in points.values()])
        seconds = np.array([latencies(cases) for cases in points.values()])
        standing = [sum(each.holds(cases) for cases in points.values()) for each in CONCLUSIONS]
        return cls(unit_points()[[int(label) for label in points]], values, seconds, standing)

    @cached_property
    def emulators(self) -> list[Emulator]:
        """One a number."""
        return [Emulator.fit(self.points, column) for column in self.values.T]

    @cached_property
    def effects(self) -> list[Effects]:
        """The effects of the choices on each number."""
        return [Effects.of(emulator) for emulator in self.emulators]

    @cached_property
    def candidates(self) -> Floats:
        """Points that fill all choices evenly."""
        return candidates()

    @cached_property
    def emulated(self) -> Floats:
        """The numbers at the candidates, a column a number."""
        return np.column_stack([emulator(self.candidates) for emulator in self.emulators])

    def allowed(self, number: int) -> Truths:
        """The candidates at which a number is within its tolerance, or within the emulator's error of it."""
        of, error = NUMBERS[number], self.emulators[number].error
        value = self.emulated[:, number]
        return np.asarray((value >= of.low - error) & (value <= of.high + error))

    @cached_property
    def calibrated(self) -> Truths:
        """The candidates that meet the numbers that a workload is calibrated to."""
        both: Truths = np.all([self.allowed(place) for place in _places(FITTED)], axis=0)
        return both

    @cached_property
    def reachable(self) -> list[int]:
        """The numbers that some simulated point meets."""
        met = self.met
        return [place for place in range(len(NUMBERS)) if met[:, place].any()]

    @cached_property
    def met(self) -> Truths:
        """Simulated points that meet a number: a row a point."""
        each = [number.implausibility(column) <= 1 for number, column in zip(NUMBERS, self.values.T, strict=True)]
        return np.column_stack(each)

    @cached_property
    def region(self) -> tuple[Truths, int]:
        """The candidates that meet most of the reachable numbers at once, and how many numbers that is."""
        together = np.sum([self.allowed(place) for place in self.reachable], axis=0)
        most = int(together.max())
        return together == most, most

    @cached_property
    def inmost(self) -> Floats:
        """The point of the region that is farthest from any edge of a tolerance, in half widths of it."""
        inside, _ = self.region
        margins = [1 - NUMBERS[place].implausibility(self.emulated[inside, place]) for place in self.reachable]
        found: Floats = self.candidates[inside][int(np.argmax(np.min(margins, axis=0)))]
        return found

    def conflicts(self) -> list[tuple[str, str]]:
        """Pairs of numbers each of which is allowed somewhere, and never both."""
        allowed = {place: self.allowed(place) for place in self.reachable}
        return [
            (NUMBERS[one].claim, NUMBERS[other].claim)
            for one in self.reachable
            for other in self.reachable
            if one < other and not (allowed[one] & allowed[other]).any()
        ]

    def decides(self, number: int) -> tuple[str, float]:
        """The choice that moves a number most, and its total share of the variance."""
        total = self.effects[number].total
        place = int(np.argmax(total))
        return FACTORS[place].name, float(total[place])

    def span(self, number: int, where: Truths) -> tuple[float, float]:
        """Least and largest value of a number over some candidates: the 1st and the 99th percentile."""
        low, high = np.percentile(self.emulated[where, number], [1, 99])
        return float(low), float(high)


def written(number: Number, span: tuple[float, float]) -> str:
    """A range in words."""
    return f"{span[0]:.3g} … {span[1]:.3g} {number.unit}".strip()


def write_ranges(findings: Findings, out: Path) -> None:
    """Write what the scoreboard shows of each number: its range over the allowed workloads, and what decides."""
    lines = ["# Written by `python -m papers.trace report`: over workloads that meet " + " and ".join(FITTED) + "."]
    for place, number in enumerate(NUMBERS):
        name, share = findings.decides(place)
        span = written(number, findings.span(place, findings.calibrated))
        span += " (latencies compared)" if number.claim in ("T15", "A10") else ""
        lines += ["", f"[{number.claim}]", f'range = "{span}"', f'decides = "{name}, {share:.0%}"']
    out.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_points(findings: Findings, out: Path) -> None:
    """Write a row a point: its choices, each number, and how implausible that is (up to 1 the claim holds)."""
    columns: dict[str, list[str] | Floats] = {
        factor.name: [factor.written(float(part)) for part in column]
        for factor, column in zip(FACTORS, findings.points.T, strict=True)
    }
    for number, column in zip(NUMBERS, findings.values.T, strict=True):
        columns[number.claim] = column
        columns[f"implausibility {number.claim}"] = number.implausibility(column)
    pl.DataFrame(columns).write_csv(out, float_precision=4)


def tables(findings: Findings) -> str:
    """The findings as Markdown."""
    met = findings.met
    lines = [
        "| | published number | published | tolerance | simulated | calibrated workloads | points that meet it | "
        "moved most by | emulator |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for place, number in enumerate(NUMBERS):
        values = findings.values[:, place]
        name, share = findings.decides(place)
        low, high = (f"{edge:.4g}" if np.isfinite(edge) else "" for edge in (number.low, number.high))
        tolerance = f"{low} to {high}" if low and high else f"at least {low}" if low else f"at most {high}"
        cells = [
            number.claim,
            number.what,
            "" if number.published is None else f"{number.published:g} {number.unit}".strip(),
            tolerance,
            written(number, (float(np.nanmin(values)), float(np.nanmax(values)))),
            written(number, findings.span(place, findings.calibrated)),
            f"{met[:, place].mean():.0%}",
            f"{name} ({share:.0%})",
            f"{findings.emulators[place].explained:.0%}",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    inside, most = findings.region
    best = int(met.sum(axis=1).argmax())
    never = [NUMBERS[place].claim for place in range(len(NUMBERS)) if place not in findings.reachable]
    pairs = ", ".join(f"{one} with {other}" for one, other in findings.conflicts())
    lines += [
        "",
        f"- Points: {len(findings.points)}, of which {int(met[:, _places(FITTED)].all(axis=1).sum())} meet the "
        f"calibration ({' and '.join(FITTED)}); of all choices {findings.calibrated.mean():.1%} do.",
        f"- No point meets: {', '.join(never) or 'none'}.",
        f"- Met at once: at most {int(met[best].sum())} of {len(NUMBERS)} at a simulated point, "
        f"{most} of the {len(findings.reachable)} reachable ones between points ({inside.mean():.2%} of all choices).",
        f"- Pairs that exclude each other: {pairs or 'none'}.",
        "",
        *by_kind(findings.points, met, findings.seconds),
        "",
        "| conclusion | points at which it holds |",
        "|---|---|",
        *(
            f"| {each.text} | {count} of {len(findings.points)} |"
            for each, count in zip(CONCLUSIONS, findings.standing, strict=True)
        ),
    ]
    return "\n".join(lines) + "\n"


def _places(claims: Sequence[str]) -> list[int]:
    return [place for place, number in enumerate(NUMBERS) if number.claim in claims]
