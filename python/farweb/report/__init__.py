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
        title: Heading (default: the question).
        question: The question that the page answers (default: made from the design, or from the runs' names).
        metrics: A metric, the one that matters most first; may be given more than once (default: the usual ones of
            `farweb.results.metrics.METRICS`).
        plots: A figure, instead of those that suit; may be given more than once.
        by: For a sweep: a factor of the table; the others are pooled. Repeatable (default: the ones that matter most).

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
