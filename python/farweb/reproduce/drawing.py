"""Draws figures of studies: describes curves with their labels, for `farweb.plot` to paint."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from farweb.errors import ResultsError
from farweb.paint.figure import Axis, Figure, Panel, Reference, Series
from farweb.plot.replicated import series_of
from farweb.reproduce.curves import Curve, means
from farweb.reproduce.study import StudyResults
from farweb.results.sweep import SweepTables
from farweb.text.quantities import share

PRESENTED = Axis("presented load", "bit/s", low=0)
"""The horizontal axis of the papers' figures."""

_PRESENTED_TEXT = (
    "Presented load: IP bits of the response segments as servers send them, of requests that start in the measured "
    "interval, over its length."
)

_PAIRED = (
    "Means over replications, each with a sample of its own and the same in all curves: how far apart curves are is "
    "surer than where they are."
)


@dataclass(frozen=True)
class Line:
    """A curve of a figure.

    Attributes:
        label: Its name in the legend, the paper's where it has one.
        curve: The curve.
        index: Number of its colour and marker.
        shade: Of levels of one number, the place among them, from 0 to 1: a colour from light to dark. None: it is of a
            kind of its own.
    """

    label: str
    curve: Curve
    index: int
    shade: float | None = None


def panel(
    lines: Sequence[Line],
    y: Axis,
    *,
    x: Axis = PRESENTED,
    references: Sequence[Reference] = (),
    title: str = "",
    paired: bool = False,
    most: float = math.inf,
) -> Panel:
    """Lines on one pair of axes, with prefixes that suit the values.

    Args:
        lines: From the back to the front.
        y: Vertical axis.
        x: Horizontal axis.
        references: Lines to compare with.
        title: Above the panel.
        paired: True to compare replications within themselves only, when they differ more in level than the lines do.
            Intervals over them would hide the differences and are left out.
        most: The largest value that there can be, such as the rate of a link: where intervals end.
    """
    if y.scale == "log":
        positive = np.concatenate([line.curve.y_mean[line.curve.y_mean > 0] for line in lines])
        y = replace(y, low=float(positive.min()) / 1.5 if positive.size else 1.0)
    series = tuple(_series(line, y.low if y.scale == "log" and y.low else 0.0, most) for line in lines)
    if paired:
        series = tuple(replace(each, low=None, high=None) for each in series)
    fitted = y.fitted(*(each.y for each in series))
    return Panel(x.fitted(*(each.x for each in series)), fitted, series, tuple(references), title=title)


def _series(line: Line, least: float, most: float) -> Series:
    """A curve by its means, with the intervals of those values that several replications have.

    Args:
        line: Which.
        least: Where intervals end below.
        most: Where they end above, if the mean itself is not higher.
    """
    intervals = [line.curve.interval(place) for place in range(len(line.curve))]
    return replace(
        series_of(line.curve.x_mean, intervals, least, most),
        label=line.label,
        index=line.index,
        shade=line.shade,
        failed=None if line.curve.failed is None else means(line.curve.failed),
    )


def figure(
    title: str,
    caption: str,
    panels: Sequence[Panel],
    sweeps: Iterable[SweepTables],
    *,
    columns: int = 1,
    legend: str = "",
) -> Figure:
    """A figure of such panels.

    Args:
        title: Subject of the figure, in one line.
        caption: Description of the figure, in a sentence or two.
        panels: By row.
        sweeps: Sources, for the caption.
        columns: Panels in a row.
        legend: Heading of the lines.
    """
    rows = -(-len(panels) // columns)
    presented = any(each.x.quantity == PRESENTED.quantity for each in panels)
    drawn = [series for each in panels for series in each.series]
    banded = any(series.low is not None for series in drawn)
    several = any(series.n is not None and series.n.max(initial=0) > 1 for series in drawn)
    parts = (
        caption,
        _PRESENTED_TEXT if presented else "",
        "Shade: 95 % interval over replications (Student)." if banded else _PAIRED if several else "",
        _failures_text(drawn),
        runs_text(sweeps),
    )
    return Figure(
        title,
        " ".join(part for part in parts if part),
        tuple(panels),
        columns=columns,
        legend=legend,
        counted="replications",
        size=(7.5, 5.2) if len(panels) == 1 else (10.5, 1.9 + 3.1 * rows),
    )


def _failures_text(drawn: Sequence[Series]) -> str:
    """Explain hollow markers, where there are any."""
    most = max((float(each.failed.max(initial=0)) for each in drawn if each.failed is not None), default=0.0)
    if not most:
        return ""
    return f"Hollow: requests failed or were cut off there, up to {share(most)} of them; means leave them out."


def runs_text(sweeps: Iterable[SweepTables]) -> str:
    """Name the number of runs behind a figure, their seeds and versions, in a sentence for its caption.

    Raises:
        ResultsError: No run has ended well.
    """
    runs, seeds, versions = 0, set(), set()
    for sweep in sweeps:
        done = sweep.runs.filter(sweep.runs["status"] == "done")
        runs += len(done)
        seeds |= set(done["seed"].to_list())
        versions.add(str(sweep.manifest["version"]))
    if not runs:
        raise ResultsError("no run has ended well, so there is nothing to draw")
    of = f"seed {min(seeds)}" if len(seeds) == 1 else f"seeds {min(seeds)}–{max(seeds)}"
    return f"n = {runs:,} runs, {of}, farweb {', '.join(sorted(versions))}."


@dataclass(frozen=True)
class Drawn:
    """A figure that was painted, or why it was not.

    Attributes:
        study: Name of the figure's study.
        name: Its number in the paper, or its name.
        files: Where it was written.
        html: How a page shows it, or empty when it could not be drawn.
        why: Why not, or empty when it was.
    """

    study: str
    name: str
    files: tuple[Path, ...]
    html: str
    why: str


def draw_figure(results: StudyResults, name: str, out: Path, formats: Sequence[str]) -> Drawn:
    """Draw a figure of a study into a folder, as ``STUDY-NAME.png`` and its like.

    A figure without enough results is not drawn, and gives the reason.

    Raises:
        RunError: The folder cannot be written to.
    """
    from farweb.paint import chart, document, paper

    study = results.study
    try:
        painted = paper.draw(study.figures[name](results))
    except ResultsError as error:
        return Drawn(study.name, name, (), "", str(error))
    files = tuple(out / f"{study.name}-{name}.{each}" for each in formats)
    for file in files:
        chart.save(painted, file)
    png = next((file.read_bytes() for file in files if file.suffix == ".png"), None)
    return Drawn(study.name, name, files, document.picture(painted, png), "")
