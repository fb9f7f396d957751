"""Recorded packets for other programs: captures for Wireshark, plots for xplot.

Rows are read from the packet table in batches: memory does not grow with the table. Nothing is simulated again.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import polars as pl

from farweb import _core
from farweb.errors import FarwebError, ResultsError, require_range
from farweb.files.atomic import staged_file
from farweb.files.columns import Column, from_arrow, results_tables
from farweb.progress import Progress, unseen
from farweb.results.legs import connection_uses
from farweb.results.run import RunTables
from farweb.text.sheet import Shown
from farweb.text.words import nearest

if TYPE_CHECKING:
    import pyarrow.parquet as pq

Point = tuple[Literal["end", "link"], int]
"""A capture point: the end of a leg on the node with this number, or the link with this number."""

Added = TypeVar("Added")

"""Called with how many rows of how many have been read."""

_ROWS = 8_192  # chosen: with payload some 12 MB a batch

_UNUSED = {
    "packets": ("stretch", "cwnd_bytes", "ssthresh_bytes", "pace_bps", "bbr_state", "left_ns", "arrived_ns"),
    "frames": ("time_ns", "leg", "request"),
}
_COLUMNS = {
    table: [column["name"] for column in results_tables()[table]["columns"] if column["name"] not in unused]
    for table, unused in _UNUSED.items()
}


@dataclass(frozen=True)
class Exported(Shown):
    """A file that was written.

    Attributes:
        file: Where.
        packets: How many packets.
        points: Where they were seen.
        connection: Number of the only connection. None: all that were recorded.
    """

    file: Path
    packets: int
    points: tuple[str, ...]
    connection: int | None

    @property
    def text(self) -> str:
        """All of it in a line."""
        return f"{self.file}: {self.packets:,} packets at {', '.join(self.points)}"

    def _parts(self) -> Iterator[str]:
        yield self.text


def capture_points(results: RunTables) -> dict[str, Point]:
    """The points where a run recorded packets: nodes with endpoints, by name, and links, as ``link 0``."""
    nodes, legs = _path(results)
    names = results.manifest["scenario"].get("record", {}).get("points", ["ends"])
    points: dict[str, Point] = {}
    if "ends" in names:
        # Any node of a leg may have sent a transfer.
        ends = {node for leg in legs for node in (range(leg[0], leg[1] + 1) if _is_one_way(results) else leg)}
        points = {nodes[node]: ("end", node) for node in sorted(ends)}
    links = {int(name.split()[1]) for name in names if name.startswith("link ")}
    return points | {f"link {link}": ("link", link) for link in sorted(links)}


def export_pcapng(
    results: RunTables,
    out: Path,
    *,
    connection: int | None = None,
    points: Sequence[str] | None = None,
    payload: bool = False,
    progress: Progress = unseen,
) -> Exported:
    """Write a capture in the format pcapng.

    Args:
        results: A result with recorded packets.
        out: The file.
        connection: Only this connection (default: all recorded).
        points: Where packets were seen: a node or a link, such as 'link 0' (see `capture_points`), or 'all', an
            interface each. The default is the node nearest to the servers that sees the connection, as most programs
            take packets that they see twice for retransmissions.
        payload: Write payload too, so that TCP checksums can be verified: frames of HTTP/2 and W3C MUX where the run
            recorded them and no leg is split, with zeros as data, and zeros elsewhere. Else packets have their headers
            and say how long they are.
        progress: Called as rows are written.

    Raises:
        ResultsError: No packets were recorded, none of that connection, or not at that point.
        RunError: The file cannot be written.
    """
    require_range("--connection", connection, 0)
    known = capture_points(results)
    points = list(known) if points and "all" in points else points
    nodes, legs = _path(results)
    own = known if connection is None or len(legs) == 1 else _of_leg(results, known, connection)
    chosen = {name: _point(results, name) for name in points} if points else dict([_nearest_to_servers(own)])
    encoder = _core.PcapngEncoder(nodes, legs, list(chosen.values()), payload)
    comment = f"{results.name}, seed {results.manifest['seed']}"
    if payload and results.has("frames") and not _has_splits(results):
        for rows in _rows(results, "frames", connection):
            _checked(results, "frames", encoder.add_frames, rows)
    with staged_file(out) as stage, stage.open("wb") as file:
        file.write(encoder.start(comment))
        for rows in _rows(results, "packets", connection, progress):
            file.write(_checked(results, "packets", encoder.add, rows))
        if encoder.packets == 0:
            raise _nothing(results, connection, tuple(chosen))
    return Exported(out, encoder.packets, tuple(chosen), connection)


def export_xpl(
    results: RunTables,
    out: Path,
    *,
    connection: int | None = None,
    point: str | None = None,
    direction: str | None = None,
    progress: Progress = unseen,
) -> Exported:
    """Write a time–sequence plot of one connection for xplot, in the vocabulary of tcptrace.

    Args:
        results: A result with recorded packets.
        out: The file.
        connection: The connection (default: the slowest finished recorded request's).
        point: Where packets were seen: a node or a link, see `capture_points` (default: the sender of the data).
        direction: Which way the data go: up or down (default: the way of most of the payload).
        progress: Called as rows are written.

    Raises:
        ResultsError: No packets were recorded, none of that connection, or not at that point.
        RunError: The file cannot be written.
    """
    from farweb.views.connection import stay_of

    require_range("--connection", connection, 0)
    if direction not in (None, "up", "down"):
        raise FarwebError(f"--direction: found {direction}; write up or down")
    if connection is None:
        connection = stay_of(results, None, 0).connection
    leg, direction, sender = _data(results, connection, direction)
    point = point or sender or next(iter(capture_points(results)))
    nodes, legs = _path(results)
    encoder = _core.XplotEncoder(nodes, legs, _point(results, point), connection, direction == "up")
    with staged_file(out) as stage, stage.open("wb") as file:
        file.write(encoder.start(leg))
        for rows in _rows(results, "packets", connection, progress):
            file.write(_checked(results, "packets", encoder.add, rows))
        file.write(encoder.finish())
        if encoder.packets == 0:
            raise _nothing(results, connection, (point,))
    return Exported(out, encoder.packets, (point,), connection)


def _path(results: RunTables) -> tuple[list[str], list[tuple[int, int]]]:
    """The nodes of the path, and where its legs, or the stretches of a split one, begin and end among them."""
    scenario: dict[str, Any] = results.manifest["scenario"]
    nodes: list[str] = scenario["path"]["nodes"]
    ends = [[leg["from"], *(split["at"] for split in leg.get("split", ())), leg["to"]] for leg in scenario["leg"]]
    return nodes, [(nodes.index(near), nodes.index(far)) for leg in ends for near, far in pairwise(leg)]


def _first_stretches(results: RunTables) -> list[int]:
    """Places of each leg's first stretch among all, and their number."""
    return list(accumulate((1 + len(leg.get("split", ())) for leg in results.manifest["scenario"]["leg"]), initial=0))


def _has_splits(results: RunTables) -> bool:
    return any(leg.get("split") for leg in results.manifest["scenario"]["leg"])


def _is_one_way(results: RunTables) -> bool:
    return not all(use.requests for use in connection_uses(results.manifest))


def _point(results: RunTables, name: str) -> Point:
    known = capture_points(results)
    if name not in known:
        hint = f" (did you mean {near}?)" if (near := nearest(name, known)) else ""
        raise ResultsError(
            f"{results.path}: packets were not recorded at {name}{hint}; they were at {', '.join(known)}: "
            "set record.points in the scenario and run it again to have others"
        )
    return known[name]


def _of_leg(results: RunTables, known: dict[str, Point], connection: int) -> dict[str, Point]:
    """The points that can see a connection: the ends of its leg and the links between them."""
    found = results.scan("packets").filter(pl.col("connection") == connection).select("leg").head(1).collect()
    if found.is_empty():
        return known
    begins, leg = _first_stretches(results), int(found["leg"][0])
    stretches = _path(results)[1][begins[leg] : begins[leg + 1]]
    first, last = stretches[0][0], stretches[-1][1]
    sees = {"end": range(first, last + 1), "link": range(first, last)}
    return {name: point for name, point in known.items() if point[1] in sees[point[0]]} or known


def _nearest_to_servers(known: dict[str, Point]) -> tuple[str, Point]:
    ends = [(name, point) for name, point in known.items() if point[0] == "end"]
    return (ends or list(known.items()))[-1]


def _data(results: RunTables, connection: int, direction: str | None) -> tuple[int, str, str | None]:
    """The last stretch of a connection's leg, a direction, and the node that sends that way, as far as the table says.

    With `direction` None the direction is the majority's of the payload.
    """
    seen = results.scan("packets").filter((pl.col("connection") == connection) & (pl.col("event") != "drop"))
    if _has_splits(results):  # the stretch of the sender of responses
        seen = seen.filter(pl.col("stretch") == pl.col("stretch").max())
    sender = pl.col("node").filter(pl.col("event") == "send").first()
    ways = seen.group_by("leg", "direction").agg(pl.col("payload_bytes").sum(), sender).collect()
    if ways.is_empty():
        raise _nothing(results, connection, tuple(capture_points(results)))
    most = ways.sort(["payload_bytes", "direction"], descending=[True, False])
    chosen = most.filter(pl.col("direction") == (direction or most["direction"][0]))
    node = chosen["node"][0] if len(chosen) else None
    stretch = _first_stretches(results)[int(most["leg"][0]) + 1] - 1
    return stretch, direction or str(most["direction"][0]), node


def _rows(
    results: RunTables, table: str, connection: int | None, progress: Progress = unseen
) -> Iterator[dict[str, Column]]:
    """The rows of a table, or of one connection, as columns of the core, batch by batch."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found, names = results.table(table), _COLUMNS[table]
    begins = pa.array(_first_stretches(results)) if table == "packets" and _has_splits(results) else None
    names = names if begins is None else [*names, "stretch"]
    found.require(names)
    with found.opened() as file:
        done, total = 0, file.metadata.num_rows
        for group in range(file.num_row_groups):
            if connection is None or _may_have(file.metadata.row_group(group), connection):
                for batch in found.batches(file, names, [group], _ROWS):
                    if connection is not None:
                        batch = batch.filter(pc.equal(batch.column("connection"), connection))
                    if begins is not None:
                        place = pc.add(begins.take(batch.column("leg")), batch.column("stretch"))
                        batch = batch.set_column(batch.schema.get_field_index("leg"), "leg", place)
                        batch = batch.drop_columns(["stretch"])
                    if batch.num_rows:
                        yield from_arrow(batch)
            done += file.metadata.row_group(group).num_rows
            progress(done, total, f"{done:,} of {total:,} rows")


def _may_have(group: "pq.RowGroupMetaData", connection: int) -> bool:
    """True where a row group may have rows of the connection, by its statistics."""
    names = [group.column(index).path_in_schema for index in range(group.num_columns)]
    statistics = group.column(names.index("connection")).statistics
    if statistics is None or not statistics.has_min_max:
        return True
    return bool(statistics.min <= connection <= statistics.max)


def _checked(
    results: RunTables, table: str, add: Callable[[dict[str, Column]], Added], rows: dict[str, Column]
) -> Added:
    try:
        return add(rows)
    except FarwebError as error:
        raise ResultsError(f"{results.path / f'{table}.parquet'}: {error}") from None


def _nothing(results: RunTables, connection: int | None, points: tuple[str, ...]) -> ResultsError:
    whose = "no packets were recorded" if connection is None else f"no packets of connection {connection}"
    return ResultsError(f"{results.path}: {whose} at {', '.join(points)}")
