"""Describes the clients of a request table: the requests of each, the gaps between them, and visits.

The requests are sorted by client on disk and read once: memory does not grow with the number of clients.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb

from farweb.inputs.spread import Spread, one_row, spread_of_column
from farweb.text.quantities import count, seconds, share
from farweb.text.sheet import Sheet

VISIT_GAP_S = 1800.0
"""A visit ends where its client asks nothing for so long, in s.

Source: the 30 minutes of web analytics; L. Catledge, J. Pitkow, "Characterizing browsing strategies in the World-Wide
Web" (Computer Networks and ISDN Systems 27(6), 1995) measured 25.5 minutes.
"""


@dataclass(frozen=True)
class ClientStats:
    """Statistics of the clients of a request table. Each day of a table with days stands for itself.

    Attributes:
        count: Different clients.
        without: Share of the requests that name no client, 0 to 1.
        requests: Requests of a client.
        gap_s: Times between successive requests of a client, on one day, or None where no client asks twice.
        visits: Runs of requests of a client without a gap of `VISIT_GAP_S` or more.
        visit_requests: Requests of a visit.
    """

    count: int
    without: float
    requests: Spread
    gap_s: Spread | None
    visits: int
    visit_requests: Spread

    def sheet(self) -> Sheet:
        """A table for people."""
        rows = [
            ["clients", count(self.count), "", "", "", ""],
            ["visits", count(self.visits), "", "", "", ""],
            ["requests without a client", share(self.without), "", "", "", ""],
            ["requests of a client", *_shown(self.requests, _number)],
            ["requests of a visit", *_shown(self.visit_requests, _number)],
        ]
        if self.gap_s is not None:
            rows.append(["time between requests of a client", *_shown(self.gap_s, seconds)])
        return Sheet("Clients", ["", "n", "mean", "median", "90 %", "max"], rows)


def client_stats(database: duckdb.DuckDBPyConnection, scratch: Path, *, has_days: bool) -> ClientStats | None:
    """Compute the statistics of the clients of the view `requests`, or None when it names none.

    Args:
        database: With the view and its columns `client`, `start_s`, and `day` where there is one.
        scratch: A folder for rows that do not fit into memory.
        has_days: True when there is a column `day`.
    """
    requests, named = one_row(database, "SELECT count(*), count(client) FROM requests")
    if named == 0:
        return None
    day, asked = "coalesce(day, 0)" if has_days else "0", scratch / "asked.parquet"
    database.execute(
        "COPY (SELECT client, place, start_s - lag(start_s) OVER (PARTITION BY client, day ORDER BY place) AS gap_s "
        f"FROM (SELECT client, {day} AS day, start_s, row_number() OVER (ORDER BY client, {day}, start_s) AS place "
        f"FROM requests WHERE client IS NOT NULL)) TO '{_quoted(asked)}' (FORMAT parquet)"
    )
    database.read_parquet(str(asked)).create_view("asked")
    visits = f"SELECT lead(place, 1, {named + 1}) OVER (ORDER BY place) - place AS requests FROM asked "
    visits += f"WHERE gap_s IS NULL OR gap_s >= {VISIT_GAP_S}"
    by_client = "SELECT count(*) AS requests FROM asked GROUP BY client"
    of_client, of_visit = (spread_of_column(database, "requests", f"({each})") for each in (by_client, visits))
    assert of_client is not None and of_visit is not None, "there is a client"
    return ClientStats(
        count=of_client.n,
        without=1 - named / requests,
        requests=of_client,
        gap_s=spread_of_column(database, "gap_s", "asked"),
        visits=of_visit.n,
        visit_requests=of_visit,
    )


def _shown(spread: Spread, unit: Callable[[float], str]) -> list[str]:
    return [count(spread.n), *(unit(each) for each in (spread.mean, *(spread.quantiles[p] for p in (50, 90, 100))))]


def _number(value: float) -> str:
    return f"{value:,.1f}".removesuffix(".0")


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
