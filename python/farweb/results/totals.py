"""The requests of a run that have no whole response, by cause."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from farweb.text.quantities import count, seconds, share
from farweb.text.sheet import Sheet

if TYPE_CHECKING:
    from farweb.results.run import RunTables

_NS = 1e9

MEANINGS = {
    "refused": "A reset answered the SYN or the SYN-ACK.",
    "handshake timed out": "Nothing answered the SYN or the SYN-ACK, however often it was sent again.",
    "reset": "A reset came on the established connection.",
    "server gave up": "A server or proxy got no answer to the response that it sent again, or closed before its end.",
    "client gave up": "The client ended it after clients.give_up, or got no answer to what it sent again.",
    "proxy lost": "One of these happened on a leg behind a proxy, which passed it on.",
    "run ended": "The end of the run came first, or nothing was left to happen.",
}
"""What each cause means, in the order of tables. Source: the column `failure` of `farweb schema results`."""


@dataclass(frozen=True)
class FailureTotals:
    """Requests after the warm-up that failed or were cut off, of one cause."""

    cause: str
    requests: int
    share: float
    """Of all requests after the warm-up, 0 to 1."""
    after_p50_s: float
    """Median time from the start of a request to its failure, or to the end of the run that cut it off, in seconds."""
    meaning: str

    def cells(self) -> list[str]:
        """What tables for people say of it."""
        return [self.cause, self.meaning, count(self.requests), share(self.share), seconds(self.after_p50_s)]


def failures_of(results: "RunTables") -> tuple[FailureTotals, ...]:
    """The causes that there were, in the order of `MEANINGS`; none for results of a farweb that did not record them."""
    import polars as pl

    requests = results.scan("requests")
    if "failure" not in requests.collect_schema():
        return ()
    counted = requests.filter(pl.col("start_ns") >= results.warmup_ns).select(
        pl.col("failure").cast(pl.String), after_s=(pl.col("failed_ns") - pl.col("start_ns")) / _NS
    )
    groups = counted.group_by("failure").agg(pl.len(), pl.col("after_s").median()).collect(engine="streaming")
    found = {cause: (number, after_s) for cause, number, after_s in groups.iter_rows()}
    total = sum(number for number, _ in found.values())
    return tuple(
        FailureTotals(cause, found[cause][0], found[cause][0] / total, found[cause][1], meaning)
        for cause, meaning in MEANINGS.items()
        if cause in found
    )


def sheets(failures: Sequence[FailureTotals]) -> Iterator[Sheet]:
    """The table for people, where anything failed."""
    if failures:
        header = ["cause", "meaning", "requests", "of all", "after, median"]
        yield Sheet("Requests without a whole response", header, [cause.cells() for cause in failures], names=2)
