"""Tables of a run, read from its folder when they are asked for."""

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from farweb.errors import ResultsError
from farweb.files.columns import with_derived
from farweb.files.parquet import Table, equals
from farweb.results.manifest import MANIFEST, RUN_KIND, parse_manifest, read_manifest
from farweb.results.store import Store
from farweb.results.tables import table_of_run

if TYPE_CHECKING:
    import polars as pl

# Scenario keys that a table needs.
_ASKED_FOR_BY = {
    "caches": "a [[cache]] table",
    "connections": "record.connections = true",
    "exchanges": "record.exchanges = true",
    "frames": 'record.packets = "all" (with the carrier http/2 or webmux, without TLS)',
    "legs": 'record.links_every = "100 ms"',
    "links": 'record.links_every = "100 ms"',
    "packets": 'record.packets = "all"',
}


def _whole(table: str, rows: str) -> "functools.cached_property[pl.DataFrame]":
    """A table of a run, read at first use, and its rows in words."""
    found = functools.cached_property[Any](lambda run: run.scan(table).collect())
    found.__doc__ = rows
    return found


class RunTables:
    """The results folder of a run.

    Tables are `polars.DataFrame`s with units at the end of column names; `farweb schema results` describes each column.
    Times are int64 ns since the start of the run. A table is read at first use. `scan` reads only the needed part of a
    table larger than memory.
    """

    def __init__(self, path: Path, manifest: dict[str, Any], store: Store | None = None, part: str = "") -> None:
        self.path = path
        self.manifest = manifest
        self._store = store or Store(path)
        self._part = part

    @classmethod
    def open(cls, path: str | Path) -> Self:
        """Open a results folder.

        Raises:
            ResultsError: There is no result at `path`.
        """
        path = Path(path)
        return cls(path, read_manifest(path))

    @classmethod
    def open_part(cls, store: Store, part: str) -> Self:
        """Open the results of a run in the folder of its sweep, on this machine.

        Raises:
            ResultsError: There is no result.
        """
        place = f"{store.url}/{part}"
        manifest = parse_manifest(store.read_json(f"{part}/{MANIFEST}"), place, RUN_KIND)
        return cls(Path(place), manifest, store, part)

    requests = _whole("requests", "One row a request, by end, with `latency_s`, `first_byte_s` and `transfer_s`.")
    connections = _whole("connections", "One row a connection, in the order of closing.")
    links = _whole("links", "One row a link, direction and interval; totals of the whole run are in the manifest.")
    legs = _whole("legs", "One row a leg and interval: connections open and busy, requests on the leg.")
    caches = _whole("caches", "One row a cache and interval: requests, hits, delayed hits, contents.")
    exchanges = _whole("exchanges", "One row a request and leg: when each step of the exchange there was made.")
    packets = _whole("packets", "One row a packet sent, received or dropped.")
    frames = _whole("frames", "One row a frame of HTTP/2 or W3C MUX, where packets were recorded.")

    def scan(self, table: str) -> "pl.LazyFrame":
        """A table as a lazy frame: a query reads only the columns and rows that it needs.

        Raises:
            ResultsError: The run did not record this table. The message says what to set. Or the file is damaged.
        """
        from farweb.files.scan import scan

        return with_derived(table, scan([({}, self.table(table))]))

    def table(self, table: str) -> Table:
        """The file of a table, which is opened when it is read.

        Raises:
            ResultsError: The run did not record this table. The message says what to set. Or the file has gone.
        """
        if not self.has(table):
            if table in self.manifest["rows"]:
                raise ResultsError(f"{self.path / table}.parquet: has gone; the same farweb run makes it again")
            raise ResultsError(f"{self.path}: has no table of {table}: {self._why_not(table)}")
        return table_of_run(self._store, self._part, self.manifest, table)

    def _why_not(self, table: str) -> str:
        """Reason why there is no table, or what to do."""
        asked = self.manifest["scenario"].get("record", {}).get("packets" if table == "frames" else table)
        if asked not in (None, False, "none") and self.manifest["rows"].get("requests") == 0:
            return "the run ended before its first request (run.until)"
        return how_to_record(table)

    def has(self, table: str) -> bool:
        """True if there is a file of a table."""
        return self._store.has(f"{self._part}/{table}.parquet" if self._part else f"{table}.parquet")

    @property
    def name(self) -> str:
        """Name of the run: its scenario's, or the folder's."""
        return self.manifest.get("name") or self.path.name

    @property
    def warmup_ns(self) -> int:
        """Requests that start before this time are left out of summaries and figures, in ns."""
        return int(self.manifest["warmup_ns"])

    @functools.cached_property
    def unanswered(self) -> int:
        """Requests of a run that answered none of them, in the warm-up or after; 0 where any was answered."""
        number = 0
        for columns in self.table("requests").columns(("status",)):
            done = equals(columns["status"], "done")
            if done.any():
                return 0
            number += done.size
        return number

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self.path)!r})"


def how_to_record(table: str) -> str:
    """Advice about a table that is not there."""
    wish = _ASKED_FOR_BY.get(table)
    return f"set {wish} in the scenario and run it again" if wish else "it is not complete"
