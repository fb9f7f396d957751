"""Groups of a run's requests: first and later requests of visits, or clients.

A visit ends where its client asks nothing for 30 minutes; the column `visit_request` says which requests begin one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import polars as pl

from farweb.errors import FarwebError, ResultsError
from farweb.results.run import RunTables
from farweb.text.words import plural

By = Literal["visit", "client"]

CLIENTS_MAX = 6
"""Groups of clients. Chosen: with the requests of unknown clients seven curves, which colours still distinguish."""

VISIT_LABELS = {"first": "first of a visit", "later": "later in a visit"}
_UNKNOWN = "client unknown"


@dataclass(frozen=True)
class RequestGroup:
    """Requests that belong together.

    Attributes:
        label: Their common trait.
        rows: True for their rows of the table `requests`.
    """

    label: str
    rows: pl.Expr


def grouped(results: RunTables, by: str | Sequence[str] | None) -> list[RequestGroup]:
    """The groups that have requests after the warm-up.

    Args:
        results: The run.
        by: `visit`: first and later requests of visits; `client`: those who ask most, each, and the others together;
            one of them. None: all together, in a group without a label.

    Raises:
        FarwebError: There is no such grouping.
        ResultsError: No request names its client.
    """
    if not by:
        return [RequestGroup("", pl.lit(True))]
    names = [by] if isinstance(by, str) else by
    by = " and ".join(map(str, names))
    if by not in get_args(By):
        raise FarwebError(f"requests of a run are grouped by {' or '.join(get_args(By))}, not by {by!r}")
    column = "visit_request" if by == "visit" else "client"
    since = results.scan("requests").filter(pl.col("start_ns") >= results.warmup_ns)
    numbers = dict(since.group_by(column).len().collect().iter_rows())
    unknown = numbers.pop(None, 0)
    if not numbers:
        raise ResultsError(f"{results.path}: no request names its client, so none is grouped by {by}")
    asked = pl.col(column)
    if by == "visit":
        found = [RequestGroup(label, asked == word) for word, label in VISIT_LABELS.items() if word in numbers]
    else:
        found = _by_client(numbers)
    return [*found, RequestGroup(_UNKNOWN, asked.is_null())] if unknown else found


def _by_client(numbers: dict[int, int]) -> list[RequestGroup]:
    """A group for each of those who ask most, and one for the others."""
    asked = pl.col("client")
    most = sorted(numbers, key=lambda client: (-numbers[client], client))
    shown = most if len(most) <= CLIENTS_MAX else most[: CLIENTS_MAX - 1]
    found = [RequestGroup(f"client {client}", asked == client) for client in shown]
    if others := len(most) - len(shown):
        rest = asked.is_not_null() & ~asked.is_in(pl.Series(shown, dtype=pl.UInt64).implode())
        found.append(RequestGroup(f"the other {plural(others, 'client')}", rest))
    return found
