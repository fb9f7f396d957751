"""The figure beside the answer: it shows what line 1 says."""

from collections.abc import Sequence

from farweb.comparison import Comparison
from farweb.paint.figure import Figure
from farweb.plot import describe
from farweb.plot.figures.effects import changes
from farweb.plot.measured import provenance
from farweb.results.run import RunTables
from farweb.statistics.intervals import CONFIDENCE
from farweb.text.quantities import Ends, plain


def lead(results: Sequence[RunTables], compared: Comparison | None) -> Figure:
    """Of one run the distribution, whose percentiles line 1 has; of several the change of time against the base.

    Args:
        results: Finished runs.
        compared: Their comparison; None of a single run, and of runs that cannot be compared.
    """
    panel = None if compared is None else changes(_changes(compared))
    if compared is None or panel is None:
        return describe("cdf", results)
    if len(compared.names) == 2:
        title = f"Change of time: {compared.changes[0].other} against {compared.base}"
        sure = compared.pairs[0].verdict.sure
    else:
        title = f"Change of time against {compared.rankings[''].reference}"
        sure = f"{plain(100 * CONFIDENCE, 3)} % interval for all pairs together"
    meaning = "Change of the waiting of the same requests together; left of 0 they take less time. Bars:"
    return Figure(title, f"{meaning} {sure}. {provenance(results)}", (panel,))


def _changes(compared: Comparison) -> list[tuple[str, Ends]]:
    """What has a change: all requests and their parts, or each run against the reference."""
    from farweb.comparison.words import for_whom

    if len(compared.names) == 2:
        found: list[tuple[str, Ends | None]] = [
            (name, each.judged_change) for name, each in for_whom(compared.changes[0].judgement)
        ]
    else:
        found = [(row.name, row.change) for row in compared.rankings[""].rows]
    return [(name, each) for name, each in found if each is not None]
