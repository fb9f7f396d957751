"""Describes a request table or a log, in numbers and in a figure, for `farweb workload stats`."""

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from farweb.errors import WorkloadError
from farweb.files.columns import arrow_schema, to_arrow
from farweb.files.scratch import scratch
from farweb.files.sorting import spilling
from farweb.inputs.busiest import most_requests
from farweb.inputs.caching import CacheTreatment, survey_of
from farweb.inputs.clients import ClientStats, client_stats
from farweb.inputs.correlation import LONGEST_S, PERIOD_S, SelfCorrelation, self_correlation
from farweb.inputs.formats import AUTO, DESCRIBE, LOGS, kind_of_all, paths_of
from farweb.inputs.importer import import_log
from farweb.inputs.provenance import unread
from farweb.inputs.spread import Spread, one_row, spread_of_column
from farweb.inputs.tables import HOSTS_READ, REQUESTS, open_hosts, open_requests, write_requests
from farweb.paint.figure import Axis, Figure, Panel, Series
from farweb.progress import Progress, unseen
from farweb.text.quantities import count, in_one_unit, number, rate, seconds, share, size
from farweb.text.sheet import Screen, Sheet, Shown
from farweb.text.words import plural

_INTERVALS_S = (0.01, 0.1, 1, 10, 60, 600, 3600, 21600, 86400, 604800)
_MOST_INTERVALS = 200  # chosen: as many as a figure can show apart
_TOP = 10
_OF_LOG = ("lines", "dropped", "unreadable_lines", "unread_fields", "unclear")  # counts of the import that are kept
_HOST_VALUES = ("mss_bytes", "window_bytes")
_ROWS = 65_536  # chosen: some MB a batch
_MEMORY = "256MB"  # chosen: 20 million requests take no longer with it than with as much as they want
_COPIED = arrow_schema(
    {
        **REQUESTS,
        "columns": [each for each in REQUESTS["columns"] if each["name"] not in ("source", "tag")],
    },
    {},
)


@dataclasses.dataclass(frozen=True)
class WorkloadStats(Shown):
    """Statistics of a request table, units in the names.

    Attributes:
        span_s: From the first start to the last.
        server_s: Of the requests with a recorded server time, or None without any.
        wait_s: Part of it before the first byte, as above.
        by_interval: Start of the interval in s, requests that start in it, bytes of their responses.
        busiest_from_s: Start of the span of `interval_s` with most requests, wherever it begins, since the first start.
        busiest_requests: Requests that start in it.
        top_hosts: The hosts with most requests: key, requests, bytes of their responses.
        self_correlation: Of copies of the trace, or None when it is too short, too long or the same in every second.
        objects: Different objects that are asked for, or None when the table names none.
        repeated: Share of requests, among those that name an object, for one named before, 0 to 1, or None as above.
        tunnels: Tunnels (CONNECT), their `requests` and the `bytes` of their responses, or None when the table names
            none.
        caching: Treatment by shared caches of the requests that name an object, or None as above.
        clients: None when the table names none.
        imported: Of a log its `format`, `lines`, those `dropped` by reason, and others of `_OF_LOG`. None: a table.
        host_mix: For `mss_bytes` and `window_bytes`: value (None: not in the host table), hosts, requests. None: no
            host table.
    """

    source: str
    requests: int
    span_s: float
    hosts: int
    response_bytes_total: int
    response_bytes: Spread
    request_bytes: Spread
    server_s: Spread | None
    wait_s: Spread | None
    interval_s: float
    by_interval: tuple[tuple[float, int, int], ...]
    busiest_from_s: float
    busiest_requests: int
    top_hosts: tuple[tuple[str, int, int], ...]
    self_correlation: SelfCorrelation | None
    objects: int | None
    repeated: float | None
    tunnels: dict[str, int] | None
    caching: CacheTreatment | None
    clients: ClientStats | None
    imported: dict[str, Any] | None
    host_mix: dict[str, tuple[tuple[int | None, int, int], ...]] | None

    def _sheets(self) -> list[Sheet]:
        objects = [["objects", count(self.objects)], ["requests for one asked for before", share(self.repeated)]]
        treated = [] if self.caching is None else [_named(*row) for row in self.caching.rows()]
        facts = [
            *self._left_out(),
            ["requests", count(self.requests)],
            ["span", seconds(self.span_s)],
            ["hosts", count(self.hosts)],
            *(objects if self.objects is not None else []),
            *treated,
            ["response bytes", size(self.response_bytes_total)],
            ["mean load", rate(8 * self.response_bytes_total / self.span_s) if self.span_s else "–"],
            *self._of_tunnels(),
            [
                f"most requests in {seconds(self.interval_s)}",
                f"{count(self.busiest_requests)} from {seconds(self.busiest_from_s)}",
            ],
        ]
        spreads: list[tuple[str, Spread, Callable[[float], str]]] = [
            ("response", self.response_bytes, size),
            ("request", self.request_bytes, size),
        ]
        if self.server_s is not None:
            spreads.append(("server time", self.server_s, seconds))
        if self.wait_s is not None:
            spreads.append(("its wait for the first byte", self.wait_s, seconds))
        shown = (1, 10, 50, 90, 99, 100)
        quantiles = [
            [name, count(spread.n), unit(spread.mean), *(unit(spread.quantiles[p]) for p in shown)]
            for name, spread, unit in spreads
        ]
        header = ["", "n", "mean", "1 %", "10 %", "median", "90 %", "99 %", "max"]
        top = [[host, count(requests), size(in_bytes)] for host, requests, in_bytes in self.top_hosts]
        sheets = [
            Sheet(self.source, ["", "value"], facts),
            Sheet("Sizes and times", header, quantiles),
            Sheet("Hosts with most requests", ["", "requests", "response bytes"], top),
        ]
        if self.clients is not None:
            sheets.append(self.clients.sheet())
        if self.self_correlation is not None:
            sheets.append(_copies_sheet(self.self_correlation))
        for column, mix in (self.host_mix or {}).items():
            rows = [
                [
                    "not in the host table" if value is None else size(value),
                    count(hosts),
                    share(n / self.requests),
                ]
                for value, hosts, n in mix[:_TOP]
            ]
            sheets.append(Sheet(f"Hosts by {column}", ["", "hosts", "requests"], rows))
        return sheets

    def _of_tunnels(self) -> list[list[str]]:
        """The part of tunnels in the load, where there are any."""
        if self.tunnels is None:
            return []
        part = share(self.tunnels["bytes"] / self.response_bytes_total)
        return [["of it in tunnels", f"{part} ({count(self.tunnels['requests'])})"]]

    def _left_out(self) -> list[list[str]]:
        """Rows on the log behind the requests: its format, and requests that the import left out."""
        if self.imported is None:
            return []
        dropped = sorted(self.imported["dropped"].items(), key=lambda item: (-item[1], item[0]))
        rows = [["a log of the format", self.imported["format"]], ["lines", count(self.imported["lines"])]]
        rows += [[f"left out: {reason}", count(lines)] for reason, lines in dropped]
        return [*rows, ["unreadable", count(self.imported["unreadable_lines"])]]

    def screen(self, is_all: bool = False) -> Screen:
        """Counts of requests and clients, their sizes and times, and the load, or with `is_all` every table."""
        of = "" if self.clients is None else f" of {plural(self.clients.count, 'client')}"
        objects = "" if self.objects is None else f", {plural(self.objects, 'object')}"
        answer = (
            f"{plural(self.requests, 'request')}{of} to {plural(self.hosts, 'host')}: "
            f"{size(self.response_bytes_total)} of responses in {seconds(self.span_s)}{objects}"
        )
        if is_all:
            return Screen((answer, "", *self._sheets()))
        return Screen((answer, "", self._spreads(), "", *self._load(), "more: --all"))

    def _spreads(self) -> Sheet:
        """Sizes and times, each in a unit of its own."""
        rows = [_in_bytes("response", self.response_bytes), _in_bytes("request", self.request_bytes)]
        for name, spread in (("server time", self.server_s), ("wait for the first byte", self.wait_s)):
            rows += [] if spread is None else [_in_seconds(name, spread)]
        if self.clients is not None:
            rows.append(_row("requests a client", self.clients.requests, number))
            gap = self.clients.gap_s
            rows += [] if gap is None else [_in_seconds("time between them", gap)]
        return Sheet("", ["", "median", "90 %", "99 %", "max"], rows)

    def _load(self) -> Iterator[str]:
        mean = f"{rate(8 * self.response_bytes_total / self.span_s)} in the mean; " if self.span_s else ""
        span = seconds(self.interval_s)
        busiest = f"{plural(self.busiest_requests, 'request')}, from {seconds(self.busiest_from_s)} on"
        yield f"load: {mean}busiest {span}: {busiest}"
        if self.repeated is not None:
            yield f"repeats: {share(self.repeated)} of requests are for an object asked for before"
        if self.tunnels is not None:
            part = share(self.tunnels["bytes"] / self.response_bytes_total)
            yield f"tunnels: {part} of the load, {plural(self.tunnels['requests'], 'request')}"
        if self.imported is not None and self.imported["dropped"]:
            dropped = sorted(self.imported["dropped"].items(), key=lambda item: (-item[1], item[0]))
            reasons = ", ".join(f"{count(lines)} {reason}" for reason, lines in dropped)
            yield f"left out of {plural(self.imported['lines'], 'line')}: {reasons}"
        if self.imported is not None:
            yield from unread(self.imported)


def _in_bytes(name: str, spread: Spread) -> list[str]:
    unit, scale = ("kB", 1e3) if spread.quantiles[50] >= 1000 else ("B", 1)
    return _row(f"{name}, {unit}", spread, lambda value: number(value / scale))


def _in_seconds(name: str, spread: Spread) -> list[str]:
    write, unit = in_one_unit(spread.quantiles[place] for place in (50, 90, 99, 100))
    return _row(f"{name}, {unit}", spread, write)


def _row(name: str, spread: Spread, write: Callable[[float], str]) -> list[str]:
    return [name, *(write(spread.quantiles[place]) for place in (50, 90, 99, 100))]


def _named(name: str, note: str, value: str) -> list[str]:
    return [f"{name}; {note}" if note else name, value]


def _copies_sheet(found: SelfCorrelation) -> Sheet:
    where = "one after the other" if found.period_s is None else f"turned round within {seconds(found.period_s)}"
    rows = [
        ["this", seconds(found.offset_s), f"{found.largest:.2f}"],
        ["the best one", seconds(found.best_offset_s), f"{found.best_largest:.2f}"],
    ]
    title = f"Self-correlation of {found.copies} copies, {where}"
    return Sheet(title, ["offset between copies", "", "largest at their lags"], rows)


def read_stats(
    files: str | Path | Sequence[str | Path],
    *,
    format: str | None = None,
    log_format: str | None = None,
    fields: Mapping[str, str] | None = None,
    elapsed_unit: str | None = None,
    hosts: str | Path | None = None,
    progress: Progress = unseen,
) -> WorkloadStats:
    """Compute the statistics of a request table, or of one or several logs.

    Args:
        files: A request table in any format that a run takes, or logs in any order.
        format: Format of the log, when its first lines do not show it. Of a table there is none.
        log_format: A format string of a log instead, as workload import has it.
        fields: A key of JSON objects: start=ts, url=req.path, bytes=n, elapsed=took:ms. May be repeated.
        elapsed_unit: Unit of times in a log whose format leaves it open: s, ms, us or ns (default: as the log shows
            it).
        hosts: A host table: adds the mix of MSS and windows.
        progress: Called as requests are read.

    Raises:
        WorkloadError: A file cannot be read, or holds no request.
    """
    paths, described = paths_of(files), {"log_format": log_format, "fields": fields, "elapsed_unit": elapsed_unit}
    name = ", ".join(map(str, paths))
    with _as_table(paths, format, described, progress) as (path, imported), spilling(path.parent, _MEMORY) as database:
        database.read_parquet(str(path)).create_view("requests")
        if hosts is not None:
            database.register("hosts", _host_table(Path(hosts)))
        try:
            return _collect(database, name, path, imported, hosts is not None)
        except duckdb.Error as error:
            raise WorkloadError(f"{name}: {str(error).splitlines()[0]}") from None


@contextlib.contextmanager
def _as_table(
    paths: Sequence[Path], format: str | None, described: Mapping[str, Any], progress: Progress
) -> Iterator[tuple[Path, dict[str, Any] | None]]:
    """Give a checked copy in Parquet with its counts, of a log the requests that an import keeps, for one block."""
    with scratch() as folder:
        copy = folder / "requests.parquet"
        found = format or kind_of_all(paths, None, described)
        if format is None and found not in (AUTO, *LOGS):
            _copy(paths[0], copy, progress)
            yield copy, None
            return
        counts = import_log(paths, copy, format=found, **described, progress=progress).counts
        kept = {name: counts[name] for name in _OF_LOG}
        yield copy, {"format": ", ".join(counts["formats"]), **kept}


def _copy(table: Path, out: Path, progress: Progress) -> None:
    """Write the rows of a request table as a run would read them."""
    try:
        with open_requests(table) as requests:
            write_requests(requests.core, out, _COPIED, progress)
    except WorkloadError as error:
        if table.suffix.lower() in (".parquet", ".csv", ".tsv"):
            raise
        raise WorkloadError(f"{error}; {DESCRIBE}, or name its format with --format") from None


def _host_table(path: Path) -> pa.Table:
    """The hosts as a run would read them."""
    return pa.Table.from_batches([to_arrow(open_hosts(path).columns(), arrow_schema(HOSTS_READ, {}))])


def _collect(
    database: duckdb.DuckDBPyConnection, source: str, path: Path, imported: dict[str, Any] | None, with_hosts: bool
) -> WorkloadStats:
    columns = _columns(database)
    requests, first, span, hosts, total = one_row(
        database,
        "SELECT count(*), min(start_s), max(start_s) - min(start_s), count(DISTINCT host), sum(response_bytes) "
        "FROM requests",
    )
    named, objects = one_row(database, "SELECT count(object), count(DISTINCT object) FROM requests")
    interval = next((s for s in _INTERVALS_S if span / s < _MOST_INTERVALS), _INTERVALS_S[-1])
    response, request = spread_of_column(database, "response_bytes"), spread_of_column(database, "request_bytes")
    assert response is not None and request is not None, "there is a request"
    busiest_s, busiest = most_requests(path, interval)
    return WorkloadStats(
        source=source,
        requests=requests,
        span_s=span,
        hosts=hosts,
        response_bytes_total=total,
        response_bytes=response,
        request_bytes=request,
        server_s=spread_of_column(database, "server_s"),
        wait_s=spread_of_column(database, "wait_s") if "wait_s" in columns else None,
        interval_s=interval,
        by_interval=_by_interval(database, first, interval, span),
        busiest_from_s=busiest_s - first,
        busiest_requests=busiest,
        top_hosts=tuple(
            database.execute(
                "SELECT host, count(*) AS n, sum(response_bytes)::BIGINT FROM requests "
                "GROUP BY host ORDER BY n DESC, host LIMIT ?",
                [_TOP],
            ).fetchall()
        ),
        self_correlation=_self_correlation(database, first, span),
        objects=objects if named else None,
        repeated=1 - objects / named if named else None,
        tunnels=_tunnels(database) if "method" in columns else None,
        caching=_treatment(path) if named else None,
        clients=client_stats(database, path.parent, has_days="day" in columns) if "client" in columns else None,
        imported=imported,
        host_mix={column: _mix(database, column) for column in _HOST_VALUES} if with_hosts else None,
    )


def _tunnels(database: duckdb.DuckDBPyConnection) -> dict[str, int] | None:
    number, carried = one_row(
        database, "SELECT count(*), sum(response_bytes)::BIGINT FROM requests WHERE method = 'CONNECT'"
    )
    return {"requests": number, "bytes": carried} if number else None


def _treatment(path: Path) -> CacheTreatment:
    with pq.ParquetFile(path) as table:
        columns = [name for name in ("object", "response_bytes", "caching") if name in table.schema_arrow.names]
        return CacheTreatment.of(survey_of(table.iter_batches(batch_size=_ROWS, columns=columns)))


def _self_correlation(database: duckdb.DuckDBPyConnection, first: float, span: float) -> SelfCorrelation | None:
    """Of all days together: days are turned round in ten minutes as the family's are, if they are no longer."""
    has_days = "day" in _columns(database) and one_row(database, "SELECT count(day) > 0 FROM requests")[0]
    within = has_days and first + span < PERIOD_S
    if span > LONGEST_S:
        return None
    found = database.execute(
        "SELECT floor(start_s - $begin)::BIGINT AS second, sum(response_bytes)::DOUBLE FROM requests GROUP BY second",
        {"begin": 0.0 if within else first},
    ).fetchnumpy()
    by_second = np.zeros(int(max(found["second"])) + 1)
    by_second[found["second"]] = list(found.values())[1]
    return self_correlation(by_second, period_s=PERIOD_S if within else None)


def _by_interval(
    database: duckdb.DuckDBPyConnection, first: float, interval: float, span: float
) -> tuple[tuple[float, int, int], ...]:
    """Requests and bytes by interval since the first start, intervals without a request included."""
    found = database.execute(
        "SELECT floor((start_s - $first) / $interval)::BIGINT AS i, count(*), sum(response_bytes)::BIGINT "
        "FROM requests GROUP BY i",
        {"first": first, "interval": interval},
    ).fetchall()
    counts = {i: (n, in_bytes) for i, n, in_bytes in found}
    return tuple((i * interval, *counts.get(i, (0, 0))) for i in range(int(span // interval) + 1))


def _mix(database: duckdb.DuckDBPyConnection, column: str) -> tuple[tuple[int | None, int, int], ...]:
    return tuple(
        database.execute(
            f"SELECT {column}, count(DISTINCT requests.host), count(*) AS n "
            f"FROM requests LEFT JOIN hosts USING (host) GROUP BY {column} ORDER BY n DESC, {column}"
        ).fetchall()
    )


def _columns(database: duckdb.DuckDBPyConnection) -> set[str]:
    """Columns of the requests: a log has fewer than a table."""
    return {name for name, *_ in database.execute("DESCRIBE requests").fetchall()}


def describe(found: WorkloadStats) -> Figure:
    """Requests by time, the busiest hosts, and how sizes and, where they were recorded, server times are spread."""
    starts, requests, _ = zip(*found.by_interval, strict=True)
    edges = np.array([*starts, starts[-1] + found.interval_s])
    held = np.array([*requests, requests[-1]], dtype=np.float64)
    panels = [
        Panel(
            Axis.of_time("start", edges),
            Axis("requests", low=0),
            (Series("", 0, edges, held, "area"), Series("", 0, edges, held, "steps")),
            title=f"Requests in {seconds(found.interval_s)}",
        ),
        _busiest(found.top_hosts),
        Panel(
            Axis("size", "B", "log"),
            _UP_TO_IT,
            (
                _cumulative("size of responses", 0, found.response_bytes),
                _cumulative("size of requests", 1, found.request_bytes),
            ),
            title="Sizes",
        ),
    ]
    recorded = found.server_s is not None and found.server_s.quantiles[100] > 0
    if found.server_s is not None and recorded:
        times: tuple[Series, ...] = (_cumulative("", 0, found.server_s),)
        if found.wait_s is not None:
            whole, wait = ("server time", 2, found.server_s), ("wait for the first byte", 3, found.wait_s)
            times = (_cumulative(*whole), _cumulative(*wait))
        panels.append(Panel(Axis("server time", "s", "log"), _UP_TO_IT, times, title="Server time"))
    return Figure(
        f"What {Path(found.source).name} contains",
        f"{found.requests:,} requests to {found.hosts:,} hosts in {seconds(found.span_s)}; "
        f"responses of {size(found.response_bytes.mean)} on average, {size(found.response_bytes_total)} in all."
        f"{'' if recorded else ' Server times were not recorded.'}",
        tuple(panels),
        columns=2,
        size=(9, 6),
    )


_UP_TO_IT = Axis("requests up to it", "%", low=0, high=102)


def _busiest(hosts: Sequence[tuple[str, int, int]]) -> Panel:
    """The hosts with most requests, from the top."""
    names = Axis("", scale="category", levels=tuple(host for host, _, _ in hosts))
    requests = Series("", 0, np.array([float(n) for _, n, _ in hosts]), np.arange(len(hosts), dtype=np.float64), "bars")
    return Panel(Axis("requests", low=0), names, (requests,), title="Hosts with most requests")


def _cumulative(label: str, index: int, spread: Spread) -> Series:
    """Values and the percentage of requests up to each. Zero has no place on a logarithmic axis."""
    points = np.array([(value, percent) for percent, value in spread.quantiles.items() if value > 0], dtype=np.float64)
    return Series(label, index, *points.reshape(-1, 2).T)
