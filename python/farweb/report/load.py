"""Page loads in a report, of results that `farweb page` wrote: onLoad, where its time goes, and their waterfalls."""

from collections.abc import Sequence

import numpy as np

from farweb.pages.breakdown import PageLoads, largest_parts, steps
from farweb.paint import document
from farweb.paint.figure import Axis, Figure, Panel, Series
from farweb.paint.style import BRIGHTLY, QUIETLY
from farweb.plot import describe, waterfall
from farweb.plot.measured import provenance
from farweb.results.run import RunTables
from farweb.results.tables import PAGE
from farweb.text.quantities import seconds, share
from farweb.text.sheet import Part, Sheet
from farweb.text.words import capital
from farweb.views.page_load import PARTS, View, read_view

_NS = 1e9
_COLOURS = {
    **{"handshakes": 0, "request": 2, "slow_start": 1, "windows": 4, "queues": QUIETLY, "server": 3, "think": 5},
    "tail": BRIGHTLY,
}
"""Of parts; those that means of requests have too, as in `farweb.plot.figures.breakdown`."""


def views_of(results: Sequence[RunTables]) -> list[View]:
    """The loads in results; none where one of them is of no page.

    Raises:
        ResultsError: The table of a page is damaged.
    """
    return [read_view(result) for result in results] if all(result.has(PAGE) for result in results) else []


def answer(names: Sequence[str], views: Sequence[View]) -> list[Part]:
    """OnLoad of one load with its parts, or which of several is fastest and the parts of each."""
    loads = PageLoads(names, views)
    recorded = (f"{view.page} as recorded: {seconds(view.recorded.load_ns / _NS)} to onLoad." for view in views)
    return [
        loads.text if len(views) > 1 else f"onLoad after {largest_parts(views[0])}.",
        *([loads.tls] if loads.tls else []),
        *loads.table(),
        *dict.fromkeys(recorded),
    ]


def lead(results: Sequence[RunTables], names: Sequence[str], views: Sequence[View]) -> Figure:
    """The waterfall of one load, or the parts of the time to onLoad of several."""
    if len(views) == 1:
        (view,) = views
        drawn = waterfall.panel(view, waterfall.shown(view), "as loaded")
        said = f"{waterfall.BARS} {waterfall.counted(view)} {provenance(results)}"
        return Figure(f"Waterfall – {results[0].name}", said, (drawn,))
    places = np.arange(len(views), dtype=np.float64)
    ends = np.zeros(len(views))
    bars = []
    for name, part in PARTS.items():
        length = np.array([view.split_ns[name] / _NS for view in views])
        if length.any():
            bars.append(Series(part.words, _COLOURS[name], length, places, "bars", base=ends))
        ends = ends + length
    levels = tuple(f"{name}: {seconds(end)}" for name, end in zip(names, ends, strict=True))
    panel = Panel(Axis("time to onLoad", "s", low=0), Axis("", scale="category", levels=levels), tuple(bars))
    return Figure("Where the time to onLoad goes", f"Parts of the critical path. {provenance(results)}", (panel,))


def load_section(result: RunTables) -> str:
    """The load of a page: onLoad in parts, the longest steps to it, the waterfall; nothing of another run.

    Raises:
        ResultsError: The table of the page is damaged.
    """
    if not result.has(PAGE):
        return ""
    view = read_view(result)
    return document.section(
        "Page",
        document.paragraph(
            f"{view.page}: onLoad after {seconds(view.load_ns / 1e9)}, as recorded after "
            f"{seconds(view.recorded.load_ns / 1e9)}."
        ),
        document.table(_split(view)),
        document.table(steps(view)),
        document.figure(describe("waterfall", [result])),
    )


def _split(view: View) -> Sheet:
    rows = [
        (capital(PARTS[name].words), PARTS[name].meaning, seconds(time / 1e9), share(time / view.load_ns))
        for name, time in view.split_ns.items()
        if time
    ]
    return Sheet("Where the time to onLoad goes", ("", "", "time", "share"), rows, names=2)
