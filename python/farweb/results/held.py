"""What holds the senders of responses: the shares of their time, by leg.

On each connection one end sends the responses. From when the connection is opened until it is closed, or the run ends,
this sender is at every instant held by one of `HOLDERS`; where several would hold it, by the one nearest to the wire.
The columns `held_*_ns` of the table `connections` have these times, so that the shares of a leg add up to one. All
connections of the run count, those of the warm-up as well, and all of their time, between requests too.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from farweb.text.quantities import count, seconds
from farweb.text.sheet import Sheet

if TYPE_CHECKING:
    from farweb.results.run import RunTables

HOLDERS: Mapping[str, str] = {
    "credit": "credit of the carrier",
    "cwnd": "cwnd",
    "window": "the peer's window",
    "buffer": "its send buffer",
    "nagle": "Nagle's rule",
    "recovery": "recovery from a loss",
    "handshake": "handshake",
    "application": "its program",
    "nothing": "nothing to send",
}
"""What a sender is held by, as the columns name it, and what it is called."""

_NS = 1e9


@dataclass(frozen=True)
class Held:
    """What held the senders of a leg.

    Attributes:
        leg: Number of the leg.
        connections: How many it had.
        time_s: For how long they were open, all together.
        shares: Of that time, by what is in `HOLDERS`, 0 to 1; they add up to 1.
    """

    leg: int
    connections: int
    time_s: float
    shares: Mapping[str, float]


def held_by_leg(results: "RunTables") -> tuple[Held, ...]:
    """What held the senders of each leg; nothing of legs without such a time, and where the run did not record it."""
    import polars as pl

    columns = {name: f"held_{name}_ns" for name in HOLDERS}
    if not (results.path / "connections.parquet").is_file():
        return ()
    table = results.scan("connections")
    if not set(columns.values()) <= set(table.collect_schema().names()):  # of a farweb that did not tell
        return ()
    told = table.filter(pl.all_horizontal(pl.col(*columns.values()).is_not_null()))
    sums = told.group_by("leg").agg(pl.len().alias("connections"), pl.col(*columns.values()).sum()).sort("leg")
    found = []
    for row in sums.collect().iter_rows(named=True):
        if total := sum(row[column] for column in columns.values()):
            shares = {name: row[column] / total for name, column in columns.items()}
            found.append(Held(row["leg"], row["connections"], total / _NS, shares))
    return tuple(found)


def held_sheet(name: str, legs: Sequence[Held]) -> Sheet:
    """The table for people: a row a holder, a column a leg; in each column the shares add up to 100.0 %."""
    each = [_percent([leg.shares[holder] for holder in HOLDERS]) for leg in legs]
    rows = [[told, *cells] for told, *cells in zip(HOLDERS.values(), *each, strict=True)] if legs else []
    if legs:
        rows.append(["open, in all", *(seconds(leg.time_s) for leg in legs)])
        rows.append(["connections", *(count(leg.connections) for leg in legs)])
    header = ["", *(f"leg {leg.leg}" for leg in legs)]
    return Sheet(f"{name}: what holds the senders of responses", header, rows)


def _percent(shares: Sequence[float]) -> list[str]:
    """Shares that add up to one in percent with a digit behind the point, rounded so that they add up to 100.0 %."""
    exact = [1000 * share for share in shares]
    tenths = [int(each) for each in exact]
    by_rest = sorted(range(len(exact)), key=lambda place: tenths[place] - exact[place])
    for place in by_rest[: 1000 - sum(tenths)]:
        tenths[place] += 1
    return [f"{each / 10:.1f} %" for each in tenths]
