"""The section on a page load, of results that `farweb page` wrote: where its time goes, and its waterfall."""

from farweb.pages.breakdown import steps
from farweb.plot import draw
from farweb.report import page
from farweb.results.run import RunTables
from farweb.results.view import PARTS, View, has_view, read_view
from farweb.text.quantities import seconds, share
from farweb.text.sheet import Sheet
from farweb.text.words import capital


def load_section(result: RunTables) -> str:
    """The load of a page: onLoad in parts, the longest steps to it, the waterfall; nothing of another run.

    Raises:
        ResultsError: The table of the page is damaged.
    """
    if not has_view(result):
        return ""
    view = read_view(result)
    return page.section(
        "Page",
        page.paragraph(
            f"{view.page}: onLoad after {seconds(view.load_ns / 1e9)}, as recorded after "
            f"{seconds(view.recorded.load_ns / 1e9)}."
        ),
        page.table(_split(view)),
        page.table(steps(view)),
        page.figure(draw("waterfall", [result])),
    )


def _split(view: View) -> Sheet:
    rows = [
        (capital(PARTS[name].words), PARTS[name].meaning, seconds(time / 1e9), share(time / view.load_ns))
        for name, time in view.split_ns.items()
        if time
    ]
    return Sheet("Where the time to onLoad goes", ("", "", "time", "share"), rows, names=2)
