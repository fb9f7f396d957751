"""Describes a schedule or a trace of a link, in numbers and in a figure, for `farweb workload path`."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farweb import _core
from farweb.inputs.link_files import read_link_file
from farweb.paint.figure import Axis, Figure, Panel, Reference, Series
from farweb.text.quantities import count, rate, seconds, share
from farweb.text.sheet import Screen, Sheet, Shown, to_object
from farweb.text.words import plural

_PERCENTS = (1, 5, 25, 50, 75, 95, 99)
_WINDOW_MS = 100  # chosen: a page takes several, and a gap of a handover shows
_WINDOWS_MAX = 1_000_000  # chosen: of more, each is longer
_DRAWN = 2_000  # chosen: as many windows as a figure can show apart
_GAP_S = 0.05  # chosen: longer than frames of any link, shorter than a handover
_GAP_WAITS = 20  # mean times between opportunities. Chosen: of a slow link, longer than chance makes them
_REGULAR = 0.05  # of a period. Chosen: gaps begin so near its multiples where they have one

Floats = NDArray[np.float64]


@dataclasses.dataclass(frozen=True)
class Gaps:
    """Times in which nothing is sent.

    Attributes:
        longer_than_s: Shorter ones are none.
        number: How many.
        shortest_s: Shortest.
        longest_s: Longest.
        total_s: All together.
        period_s: Time from one to the next, or None when it varies.
        at: Begin and length of each, in s.
    """

    longer_than_s: float
    number: int
    shortest_s: float | None
    longest_s: float | None
    total_s: float
    period_s: float | None
    at: tuple[tuple[float, float], ...] = dataclasses.field(repr=False)

    @property
    def text(self) -> str:
        """All of it in a line."""
        if self.shortest_s is None or self.longest_s is None:
            return f"none longer than {seconds(self.longer_than_s)}" if self.longer_than_s else "none"
        lengths = f"{seconds(self.shortest_s)} to {seconds(self.longest_s)}"
        every = "" if self.period_s is None else f", every {seconds(self.period_s)}"
        return f"{count(self.number)}, {lengths if self.number > 1 else seconds(self.longest_s)}{every}"


@dataclasses.dataclass(frozen=True)
class PathStats(Shown):
    """Statistics of a file that links name, units in the names.

    Attributes:
        source: The file.
        kind: ``schedule`` or ``trace``.
        rows: Its rows, or opportunities.
        length_s: Time of the last one.
        window_s: Span of each of the rates.
        mean_bps: Mean rate, or None when it sets none. An opportunity carries a packet of 1500 B.
        rate_bps: By percent: rates that so many of the windows have at most, or None as above.
        gaps: Times in which nothing is sent.
        delay_s: Least and largest delay that it sets, or None.
        loss_max: Largest loss that it sets, or None.
        rates: Rate of each window, in bit/s.
    """

    source: str
    kind: str
    rows: int
    length_s: float
    window_s: float
    mean_bps: float | None
    rate_bps: dict[str, float] | None
    gaps: Gaps
    delay_s: tuple[float, float] | None
    loss_max: float | None
    rates: Floats | None = dataclasses.field(repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """All of it but the rates of the windows as plain values, for JSON."""
        return to_object({**vars(self), "rates": None})

    def screen(self) -> Screen:
        """Kind, rates, gaps, and what a schedule sets besides."""
        of = "opportunities" if self.kind == "trace" else "rows"
        facts = [[of, count(self.rows)], ["length", seconds(self.length_s)]]
        facts += [] if self.mean_bps is None else [["mean rate", rate(self.mean_bps)]]
        facts += [["gaps", self.gaps.text]]
        facts += [] if self.delay_s is None else [["delay", " to ".join(map(seconds, self.delay_s))]]
        facts += [["loss", f"up to {share(self.loss_max)}"]] if self.loss_max else []
        sheets = [Sheet(f"{self.kind} {Path(self.source).name}", ["", ""], facts)]
        if self.rate_bps is not None:
            rows = [[f"{percent} %", rate(value)] for percent, value in self.rate_bps.items()]
            sheets.append(Sheet(f"Of {seconds(self.window_s)}, so many have at most", ["", "rate"], rows))
        return Screen(tuple(sheets))


def read_path_stats(file: Path) -> PathStats:
    """Read a schedule or a trace and describe it.

    Raises:
        WorkloadError: It is neither.
    """
    read = read_link_file(None, file)
    window_ms = _WINDOW_MS
    while read.length_s * 1e3 / window_ms > _WINDOWS_MAX:
        window_ms *= 10
    rates = read.rates(window_ms)
    percents = None if rates is None else np.percentile(rates, _PERCENTS, method="inverted_cdf")
    delay_s, loss_max = read.extremes()
    return PathStats(
        source=str(file),
        kind=read.kind,
        rows=read.rows,
        length_s=read.length_s,
        window_s=min(window_ms / 1e3, read.length_s),
        mean_bps=None if rates is None else float(rates.mean()),
        rate_bps=None if percents is None else dict(zip(map(str, _PERCENTS), percents.tolist(), strict=True)),
        gaps=_gaps(read),
        delay_s=delay_s,
        loss_max=loss_max,
        rates=rates,
    )


def _gaps(read: _core.LinkFile) -> Gaps:
    begins, lengths = read.gaps()
    least = max(_GAP_S, _GAP_WAITS * read.length_s / read.rows) if read.kind == "trace" else 0.0
    begins, lengths = begins[lengths > least], lengths[lengths > least]
    at = tuple(zip(begins.tolist(), lengths.tolist(), strict=True))
    shortest, longest = (float(lengths.min()), float(lengths.max())) if at else (None, None)
    return Gaps(least, len(at), shortest, longest, float(lengths.sum()), _period(begins), at)


def _period(begins: Floats) -> float | None:
    """Time from one begin to the next, where nearly all lie on its multiples."""
    between = np.diff(begins)
    if len(between) < 2:
        return None
    period = float(np.median(between))
    off = np.abs(between / period - np.round(between / period))
    return period if np.quantile(off, 0.9) <= _REGULAR else None


def describe(found: PathStats) -> Figure:
    """Its rate by time, the gaps, and how the rates of windows are spread."""
    panels = []
    if found.rates is not None and found.rate_bps is not None:
        size = -(-len(found.rates) // _DRAWN)
        blocks = [found.rates[first : first + size].mean() for first in range(0, len(found.rates), size)]
        edges = np.minimum(np.arange(len(blocks) + 1) * size * found.window_s, len(found.rates) * found.window_s)
        held = np.array([*blocks, blocks[-1]])
        median = Reference("median", found.rate_bps["50"])
        panels.append(
            Panel(
                Axis.of_time("time", edges),
                Axis("rate", "bit/s", low=0).fitted(held),
                (Series("", 0, edges, held, "area"), Series("", 0, edges, held, "steps")),
                title=f"Rate in {seconds(size * found.window_s)}",
                references=(median,),
            )
        )
    if found.gaps.at:
        begins, lengths = (np.array(values) for values in zip(*found.gaps.at, strict=True))
        every = "" if found.gaps.period_s is None else f", every {seconds(found.gaps.period_s)}"
        panels.append(
            Panel(
                Axis.of_time("begin", np.array([0.0, found.length_s])),
                Axis("length", "s", low=0).fitted(lengths),
                (Series("", 1, begins, lengths, "marks"),),
                title=f"{plural(found.gaps.number, 'gap')}{every}",
            )
        )
    if found.rates is not None:
        ordered = np.sort(found.rates)
        places = np.unique(np.linspace(0, len(ordered) - 1, _DRAWN).astype(int))
        panels.append(
            Panel(
                Axis("rate", "bit/s", low=0).fitted(ordered),
                Axis("windows up to it", "%", low=0, high=100),
                (Series("", 0, ordered[places], (places + 1) / len(ordered) * 100, "line"),),
                title=f"Rates in {seconds(found.window_s)}",
            )
        )
    mean = "" if found.mean_bps is None else f"A mean of {rate(found.mean_bps)} over {seconds(found.length_s)}. "
    return Figure(
        f"{found.kind.capitalize()} {Path(found.source).name}", f"{mean}Gaps: {found.gaps.text}.", tuple(panels)
    )
