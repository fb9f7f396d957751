"""The results of a run as users open them: tables, summary, figures and queries.

A run opens its folder at its end: methods import their own tools to keep that fast.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from farweb.results.run import RunTables

if TYPE_CHECKING:
    import polars as pl
    from rich.console import RenderableType

    from farweb.plot import Plots
    from farweb.results.breakdown import Breakdown
    from farweb.summary.run import Summary


class Results(RunTables):
    """The results of a run: its tables, their summary, where the time went, figures and queries."""

    def summary(self) -> "Summary":
        """Latencies, rates, losses and links of the run in a few numbers."""
        from farweb.summary.run import summarize

        return summarize(self)

    def breakdown(self, *, tagged: bool | None = None) -> "Breakdown":
        """Split the mean latency of the requests into the parts that add up to it.

        Args:
            tagged: Of those tagged `sample` only. None: of those where there are any, else of all.

        Raises:
            ResultsError: The run did not record exchanges, or none of the requests finished.
        """
        from farweb.results.breakdown import break_down

        return break_down(self, tagged=tagged)

    def breakdowns(self, by: str | Sequence[str]) -> "list[Breakdown]":
        """Split the mean latency of each group of requests: of first and later requests of visits, or of clients.

        Args:
            by: `visit` or `client`, the latter with the busiest clients each and the others together.

        Raises:
            ResultsError: The run did not record exchanges, no request names its client, or none of a group finished.
        """
        from farweb.results.breakdown import break_down_by

        return break_down_by(self, by)

    def sql(self, query: str) -> "pl.DataFrame":
        """Query the tables of the run in SQL (see `farweb.results.sql`).

        Raises:
            ResultsError: The query is wrong, or is not a query.
        """
        from farweb.results.sql import query_run

        return query_run(self, query)

    @property
    def plot(self) -> "Plots":
        """Figures of this run: `results.plot.size_latency()` and others, each a matplotlib figure."""
        from farweb.plot import Plots

        return Plots(self, of_sweep=False)

    def __rich__(self) -> "RenderableType":
        return self.summary()

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()
