"""Describes the clients of a request table: the requests of each, the gaps between them, and visits.

The requests are sorted by client on disk and read once: memory does not grow with the number of clients.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from farweb.inputs.spread import Spread, one_row, spread_of_column, spread_of_counts
from farweb.text.quantities import count, seconds, share
from farweb.text.sheet import Sheet

VISIT_GAP_S = 1800.0
"""A visit ends where its client asks nothing for so long, in s.

Source: the 30 minutes of web analytics; L. Catledge, J. Pitkow, "Characterizing browsing strategies in the World-Wide
Web" (Computer Networks and ISDN Systems 27(6), 1995) measured 25.5 minutes.
"""

_ROWS = 65_536  # chosen: some MB a batch
_GAPS = pa.schema([("gap_s", pa.float64())])


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
    by_client, gaps = scratch / "by-client.parquet", scratch / "gaps.parquet"
    day = "coalesce(day, 0)" if has_days else "0"
    database.execute(
        f"COPY (SELECT client, {day}::BIGINT AS day, start_s FROM requests WHERE client IS NOT NULL "
        f"ORDER BY client, day, start_s) TO '{_quoted(by_client)}' (FORMAT parquet)"
    )
    clients, visits = _Runs(), _Runs()
    with pq.ParquetFile(by_client) as source, pq.ParquetWriter(gaps, _GAPS, compression="zstd") as writer:
        last: tuple[int, int, float] | None = None
        for batch in source.iter_batches(batch_size=_ROWS):
            client, of_day, start = (batch[name].to_numpy() for name in ("client", "day", "start_s"))
            before = last or (int(client[0]), int(of_day[0]), -np.inf)
            new_client = client != np.concatenate([np.array([before[0]], client.dtype), client[:-1]])
            new_client[0] |= last is None
            same = ~new_client & (of_day == np.concatenate([[before[1]], of_day[:-1]]))
            gap = start - np.concatenate([[before[2]], start[:-1]])
            writer.write_batch(pa.RecordBatch.from_arrays([pa.array(gap[same])], schema=_GAPS))
            clients.add(new_client)
            visits.add(~same | (gap >= VISIT_GAP_S))
            last = int(client[-1]), int(of_day[-1]), float(start[-1])
    database.read_parquet(str(gaps)).create_view("gaps")
    of_client, of_visit = spread_of_counts(clients.lengths()), spread_of_counts(visits.lengths())
    return ClientStats(
        count=of_client.n,
        without=1 - named / requests,
        requests=of_client,
        gap_s=spread_of_column(database, "gap_s", "gaps"),
        visits=of_visit.n,
        visit_requests=of_visit,
    )


class _Runs:
    """Lengths of runs of rows that come in batches."""

    def __init__(self) -> None:
        self._open = 0
        self._ended: Counter[int] = Counter()

    def add(self, begins: NDArray[np.bool_]) -> None:
        """Count rows that begin a run or continue the last one. The first row of all begins one."""
        places = np.flatnonzero(begins)
        if len(places) == 0:
            self._open += len(begins)
            return
        if self._open + places[0]:
            self._ended[self._open + int(places[0])] += 1
        lengths, times = np.unique(np.diff(places), return_counts=True)
        self._ended.update(dict(zip(lengths.tolist(), times.tolist(), strict=True)))
        self._open = len(begins) - int(places[-1])

    def lengths(self) -> Counter[int]:
        """Number of runs by length, the last run included."""
        return self._ended + Counter([self._open])


def _shown(spread: Spread, unit: Callable[[float], str]) -> list[str]:
    return [count(spread.n), *(unit(each) for each in (spread.mean, *(spread.quantiles[p] for p in (50, 90, 100))))]


def _number(value: float) -> str:
    return f"{value:,.1f}".removesuffix(".0")


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
