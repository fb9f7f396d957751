"""The results of a sweep as users open them: runs, statistics, figures and queries."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from farweb.library.run_results import Results
from farweb.results.sweep import SweepTables

if TYPE_CHECKING:
    import polars as pl
    from rich.console import RenderableType

    from farweb.plot import Plots
    from farweb.summary.sweep import SweepSummary


class SweepResults(SweepTables):
    """The results of a sweep or of a search for a size: its runs, their statistics, figures and queries."""

    _kind_of_part = Results

    def part(self, run: str) -> Results:
        """The results of one run.

        Raises:
            ResultsError: There is no such run.
        """
        found = super().part(run)
        assert isinstance(found, Results), "it is the kind of a part"
        return found

    def sql(self, query: str) -> "pl.DataFrame":
        """Query the tables of the sweep in SQL (see `farweb.results.sql`).

        Raises:
            ResultsError: The query is wrong, or is not a query.
        """
        from farweb.results.sql import query_sweep

        return query_sweep(self, query)

    def summary(
        self,
        metrics: Sequence[str] | None = None,
        by: Sequence[str] | None = None,
        *,
        log: bool = False,
        decide: Sequence[str] | None = None,
    ) -> "SweepSummary":
        """Summarize the sweep in a few tables.

        Args:
            metrics: Names of metrics to show (default: the main ones).
            by: Names of factors to show estimates by, which then are means over the levels of the others (default: all
                points).
            log: Allocate the variation of the metrics' logarithms.
            decide: Names of metrics to judge levels by, of latencies or shares of requests (default: median, p90, p99
                and failures together).

        Raises:
            ResultsError: There is no such metric or factor, or a value has no logarithm.
        """
        from farweb.summary.sweep import summarize

        return summarize(self, metrics, by, log=log, decide=decide)

    @property
    def plot(self) -> "Plots":
        """Figures of this sweep: `sweep.plot.latency_load(by=["circuit"])` and others, each a matplotlib figure."""
        from farweb.plot import Plots

        return Plots(self, of_sweep=True)

    def __rich__(self) -> "RenderableType":
        from farweb.summary.screen import screen

        return screen(self.summary())

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()
