"""Waterfall of a page: its requests as recorded above, as loaded over another path below."""

from dataclasses import replace

from farweb.paint.figure import Figure
from farweb.plot.catalogue import figure
from farweb.plot.measured import provenance
from farweb.plot.waterfall import BARS, counted, height, panel, shown
from farweb.results.run import RunTables
from farweb.views.page_load import read_view


@figure(
    "waterfall",
    of="run",
    shows="requests of a page over time, as recorded and as loaded, with the critical path",
    needs="results of farweb page -o",
)
def waterfall(result: RunTables) -> Figure:
    """A bar a request of a page, as recorded above, as loaded below; the critical path is outlined.

    Raises:
        ResultsError: The results are of no page.
    """
    view = read_view(result)
    numbers = shown(view)
    return Figure(
        f"Waterfall – {result.name}",
        f"{BARS} Scales of time differ. {counted(view)} {provenance([result])}",
        (replace(panel(view.recorded, numbers, "as recorded"), is_spare=True), panel(view, numbers, "as loaded")),
        size=(9, 2.6 + 2 * height(len(numbers))),
    )
