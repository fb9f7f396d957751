"""Points that meet each number by the kinds of choices, and mean latencies by release, as Markdown."""

from collections.abc import Iterator, Mapping

import numpy as np
import numpy.typing as npt

from .factors import FACTORS, RELEASES, Factor, Floats
from .numbers import NUMBERS, Cases, latency

Truths = npt.NDArray[np.bool_]

LATENCIES = ("TT1.0", "ST1.0", "SS1.0", "SS proxy")
"""Configurations whose latencies are compared between releases."""
_ADDED_S = 0.64 - 0.12  # to a round trip by a satellite both ways


def latencies(cases: Cases) -> list[float]:
    """Mean latencies of a point in the configurations of `LATENCIES`, in s."""
    return [latency(cases, case) for case in LATENCIES]


def tables(points: Floats, met: Truths, seconds: Floats) -> Iterator[str]:
    """Lines of both tables.

    Args:
        points: A row a point, in the unit cube.
        met: Numbers met: a row a point, a column a number.
        seconds: Latencies: a row a point, a column for each of `LATENCIES`.
    """
    columns = [(factor, kind) for factor in FACTORS for kind in range(len(factor.labels))]
    yield "| met by | " + " | ".join(f"{factor.name}: {factor.labels[kind]}" for factor, kind in columns) + " |"
    yield "|---" * (len(columns) + 1) + "|"
    for place, number in enumerate(NUMBERS):
        cells = [met[_points_of(points, *column), place] for column in columns]
        yield f"| {number.claim} | " + " | ".join(f"{cell.sum()} of {len(cell)}" for cell in cells) + " |"
    yield ""
    yield f"| release | points | {' | '.join(LATENCIES)} | round trips from TT to SS |"
    yield "|---" * (len(LATENCIES) + 3) + "|"
    release = next(factor for factor in FACTORS if factor.name == "release")
    for kind, name in enumerate(RELEASES):
        rows = seconds[_points_of(points, release, kind)]
        if not len(rows):
            continue
        means = dict(zip(LATENCIES, rows.mean(axis=0), strict=True))
        trips = (means["SS1.0"] - means["TT1.0"]) / _ADDED_S
        cells = [f"{mean:.2f} s" for mean in means.values()]
        yield f"| {name} | {len(rows)} | {' | '.join(cells)} | {trips:.1f} |"


def _points_of(points: Floats, factor: Factor, kind: int) -> Truths:
    column = points[:, FACTORS.index(factor)]
    return np.array([int(factor.value(float(part))) == kind for part in column])


def beside(points: Mapping[str, Cases]) -> Iterator[str]:
    """Lines of a table of the numbers at several points, a column each; bold is within the tolerance."""
    yield f"| | published | {' | '.join(points)} |"
    yield "|---" * (len(points) + 2) + "|"
    count = dict.fromkeys(points, 0)
    for number in NUMBERS:
        cells = []
        for label, cases in points.items():
            value = number.of(cases)
            holds = bool(number.implausibility(np.array([value]))[0] <= 1)
            count[label] += holds
            cells.append(f"**{value:.4g}**" if holds else f"{value:.4g}")
        published = "" if number.published is None else f"{number.published:g} {number.unit}".strip()
        yield f"| {number.claim} | {published} | {' | '.join(cells)} |"
    yield f"| met, of {len(NUMBERS)} | | {' | '.join(str(each) for each in count.values())} |"
