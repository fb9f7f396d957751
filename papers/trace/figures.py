"""The figures of the study: what moves which number, published numbers against the range, and the allowed region."""

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from farweb.paint import chart
from farweb.paint.style import INK, PALETTE, QUIET

from .factors import FACTORS
from .findings import FITTED, Findings
from .numbers import NUMBERS

_BINS = 8
_BEYOND = 4.0  # half widths of the tolerance at which the axis of published numbers ends


def draw(findings: Findings, folder: Path) -> None:
    """Write all figures as PNG."""
    with chart.look():
        for name, drawn in (("effects", effects), ("published", published), ("region", region)):
            (folder / f"{name}.png").write_bytes(chart.encode(drawn(findings), "png"))


def effects(findings: Findings) -> Figure:
    """A matrix: the share of each number's variance that a choice has a part in."""
    total = np.array([each.total for each in findings.effects])
    first = np.array([each.first for each in findings.effects])
    figure = Figure(figsize=(9.5, 7.5), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(total, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    for row in range(len(NUMBERS)):
        for column in range(len(FACTORS)):
            if total[row, column] >= 0.05:
                dark = total[row, column] > 0.6
                text = f"{total[row, column]:.2f}\n({first[row, column]:.2f})"
                axes.text(column, row, text, ha="center", va="center", fontsize=7, color="white" if dark else INK)
    axes.set_xticks(range(len(FACTORS)), [factor.name for factor in FACTORS], rotation=40, ha="right")
    axes.set_yticks(range(len(NUMBERS)), [f"{number.what}  {number.claim}" for number in NUMBERS])
    axes.tick_params(length=0)
    axes.grid(visible=False)
    figure.colorbar(image, ax=axes, label="share of the number's variance", shrink=0.6)
    chart.frame(
        figure,
        "Which open choice moves which published number",
        "Total effect of each choice, alone and with others, and in brackets its effect alone, over all choices of the "
        f"study; below 0.05 not written. From {len(findings.points)} simulated points and a Gaussian process for each "
        "number.",
    )
    return figure


def published(findings: Findings) -> Figure:
    """Each number's tolerance, and the range that simulations and calibrated workloads have."""
    figure = Figure(figsize=(9.5, 6.5), layout="constrained")
    axes = figure.subplots()
    axes.axvspan(-1, 1, color=PALETTE[2], alpha=0.15, lw=0)
    for row, number in enumerate(NUMBERS):
        middle, half = _scale(number.low, number.high)
        simulated = (findings.values[:, row] - middle) / half
        low, high = (np.array(findings.span(row, findings.calibrated)) - middle) / half
        ends = np.clip([np.nanmin(simulated), np.nanmax(simulated)], -_BEYOND, _BEYOND)
        axes.plot(ends, [row, row], color=QUIET, lw=1.5, solid_capstyle="butt", zorder=1)
        inner = np.clip([low, high], -_BEYOND, _BEYOND)
        axes.plot(inner, [row, row], color=PALETTE[0], lw=6, solid_capstyle="butt", zorder=2)
        if number.published is not None:
            axes.plot([(number.published - middle) / half], [row], "D", color=PALETTE[1], ms=5, zorder=3)
    axes.set_yticks(range(len(NUMBERS)), [f"{number.what}  {number.claim}" for number in NUMBERS])
    axes.invert_yaxis()
    axes.set_xlim(-_BEYOND, _BEYOND)
    axes.set_xlabel("distance from the middle of the tolerance, in half widths")
    chart.frame(
        figure,
        "Published numbers against what the model can make",
        "Diamonds: published. Green: the tolerance of the claim. Thin: all simulated points. Thick: workloads that "
        f"meet {' and '.join(FITTED)}, 1st to 99th percentile, by the emulators. Lines that reach the edge go on. Of "
        "numbers with one bound (T10, T15, A10) the tolerance begins at −1 or ends at 1.",
    )
    return figure


def _scale(low: float, high: float) -> tuple[float, float]:
    """Middle and half of a tolerance; of one with an open side so that its bound is at −1 or 1."""
    if np.isinf(high):
        return low + 0.05, 0.05
    if np.isinf(low):
        return high - 0.25, 0.25
    return (low + high) / 2, (high - low) / 2


def region(findings: Findings) -> Figure:
    """For each choice, how much of the allowed region lies where, against even choices."""
    inside, most = findings.region
    figure = Figure(figsize=(9.5, 7.0), layout="constrained")
    grid = figure.subplots(3, 5)
    panels = grid.ravel()
    for axes in panels[len(FACTORS) :]:
        axes.set_axis_off()
    shown = (("calibrated", findings.calibrated, PALETTE[5]), ("most numbers at once", inside, PALETTE[0]))
    for axes, factor, column in zip(panels, FACTORS, findings.candidates.T, strict=False):
        bins = len(factor.labels) or _BINS
        edges = np.linspace(0, 1, bins + 1)
        for _, where, colour in shown:
            share = np.histogram(column[where], edges)[0] / max(int(where.sum()), 1) * bins
            axes.stairs(share, edges, color=colour, lw=2)
        axes.axhline(1, color=QUIET, lw=1, ls=":")
        ticks = (edges[:-1] + edges[1:]) / 2 if factor.labels else np.array([0.0, 0.5, 1.0])
        labels = [factor.written(float(part)).replace(" after the wait", ", wait") for part in ticks]
        turned: dict[str, Any] = {"rotation": 40, "ha": "right"} if len(factor.labels) > 2 else {}
        axes.set_xticks(ticks, labels, fontsize=7, **turned)
        axes.set_title(factor.name, fontsize=9)
        axes.set_ylim(bottom=0)
    for axes in grid[:, 0]:
        axes.set_ylabel("density over even")
    chart.frame(
        figure,
        "Where the open choices must lie",
        f"Light: workloads that meet {' and '.join(FITTED)} ({findings.calibrated.mean():.1%} of all choices). Dark: "
        f"those that meet {most} of the {len(findings.reachable)} numbers that any point meets, the most at once "
        f"({inside.mean():.2%}). Dotted: a choice that numbers leave open.",
    )
    return figure
