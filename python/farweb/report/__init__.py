"""Reports: one HTML page for a decision, to mail, archive or print.

The page has the question and its answer in numbers, the path drawn, tables, figures, assumptions, warnings, and
commands to have the numbers again. Everything is inside it: it opens without a network.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from farweb.errors import FarwebError, ResultsError

if TYPE_CHECKING:
    from farweb.paint.document import Page
    from farweb.results.run import RunTables
    from farweb.results.sweep import SweepTables

__all__ = ["report"]


def report(
    results: "Sequence[RunTables | SweepTables]",
    *,
    title: str | None = None,
    question: str | None = None,
    metrics: Sequence[str] = (),
    plots: Sequence[str] = (),
    by: Sequence[str] = (),
) -> "Page":
    """The page of a sweep, or of one run or several beside one another.

    Args:
        results: One sweep, or runs in the order of the tables.
        title: Heading; the question when left out.
        question: The question that the page answers; made from the design, or from the runs' names, when left out.
        metrics: Names of metrics (`farweb.results.metrics.METRICS`), the one that matters most first(default: the usual
            ones).
        plots: Names of figures (default: all that suit the results).
        by: Factors of the table of a sweep (default: the ones that matter most). The others are pooled.

    Raises:
        FarwebError: No such metric, figure or factor, or results that cannot stand on one page.
        ResultsError: A result lacks data of the page.
    """
    from farweb.report.sections import Asked
    from farweb.results.run import RunTables
    from farweb.results.sweep import SweepTables

    asked = Asked(title, question, metrics, plots, by)
    runs = [each for each in results if isinstance(each, RunTables)]
    sweeps = [each for each in results if isinstance(each, SweepTables)]
    if not results:
        raise FarwebError("a report needs results: name the folder of a run or of a sweep")
    if sweeps and len(results) > 1:
        raise ResultsError("a report is of one sweep, or of runs; name one folder of a sweep, or folders of runs only")
    if sweeps:
        from farweb.report.sweeps import sweep_page

        return sweep_page(sweeps[0], asked)
    if by:
        raise FarwebError("--by names factors of a sweep, and runs have none")
    from farweb.report.runs import runs_page

    return runs_page(runs, asked)
