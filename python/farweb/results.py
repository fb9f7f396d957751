"""Results: what a run left in its folder, read when it is asked for."""

import functools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farweb.columns import with_derived
from farweb.errors import ResultsError

if TYPE_CHECKING:
    import polars as pl
    from rich.console import RenderableType

    from farweb.breakdown import Breakdown
    from farweb.plot import Plots
    from farweb.summary import Summary
    from farweb.sweep.results import SweepResults

MANIFEST = "manifest.json"
RUN_KIND = "farweb run"
SWEEP_KIND = "farweb sweep"

_COMMON: dict[str, tuple[type, ...]] = {
    **{"inputs": (dict,), "name": (str, type(None)), "scenario": (dict,), "seed": (int,), "version": (str,)},
}
_MANIFEST_KEYS: dict[str, dict[str, tuple[type, ...]]] = {
    RUN_KIND: {
        **_COMMON,
        **dict.fromkeys(("events", "now_ns", "packet_hops", "warmup_ns"), (int,)),
        **dict.fromkeys(("cpu_s", "wall_s"), (int, float)),
        **{"links": (list,), "rows": (dict,)},
    },
    SWEEP_KIND: {**_COMMON, "complete": (bool,), "design": (dict,), "runs": (int,)},
}
_LATER_KEYS: dict[str, tuple[type, ...]] = {"legs": (list,), "measured": (dict,)}

# What a scenario has to ask for to get a table.
_ASKED_FOR_BY = {
    "caches": "a [[cache]] table",
    "connections": "record.connections = true",
    "exchanges": "record.exchanges = true",
    "frames": 'record.packets = "all" (with the carrier http/2 or webmux, without TLS)',
    "legs": 'record.links_every = "100 ms"',
    "links": 'record.links_every = "100 ms"',
    "packets": 'record.packets = "all"',
}


class Results:
    """The results folder of a run.

    Tables are `polars.DataFrame`s whose column names end in their unit; `farweb schema results` describes each column.
    Times are int64 ns since the start of the run. A table is read when it is first asked for; `scan` reads no more
    than is needed of one that does not fit into memory.
    """

    def __init__(self, path: Path, manifest: dict[str, Any]) -> None:
        self.path = path
        self.manifest = manifest

    @classmethod
    def open(cls, path: str | Path) -> "Results":
        """Open a results folder.

        Raises:
            ResultsError: There is no result at `path`.
        """
        path = Path(path)
        return cls(path, read_manifest(path))

    @functools.cached_property
    def requests(self) -> "pl.DataFrame":
        """One row a request, in the order in which they ended, with `latency_s`, `first_byte_s` and `transfer_s`."""
        return self.scan("requests").collect()

    @functools.cached_property
    def connections(self) -> "pl.DataFrame":
        """One row a connection, in the order in which they closed."""
        return self.scan("connections").collect()

    @functools.cached_property
    def links(self) -> "pl.DataFrame":
        """One row a link, direction and interval; totals of the whole run are in the manifest."""
        return self.scan("links").collect()

    @functools.cached_property
    def legs(self) -> "pl.DataFrame":
        """One row a leg and interval: connections open and busy, requests on the leg."""
        return self.scan("legs").collect()

    @functools.cached_property
    def caches(self) -> "pl.DataFrame":
        """One row a cache and interval: requests, hits, delayed hits, what it holds."""
        return self.scan("caches").collect()

    @functools.cached_property
    def exchanges(self) -> "pl.DataFrame":
        """One row a request and leg: when each step of the exchange there was made."""
        return self.scan("exchanges").collect()

    @functools.cached_property
    def packets(self) -> "pl.DataFrame":
        """One row a packet sent, received or dropped."""
        return self.scan("packets").collect()

    @functools.cached_property
    def frames(self) -> "pl.DataFrame":
        """One row a frame of HTTP/2 or W3C MUX that an end put into its stream, where packets were recorded."""
        return self.scan("frames").collect()

    def scan(self, table: str) -> "pl.LazyFrame":
        """A table as a lazy frame: a query reads only the columns and rows that it needs.

        Raises:
            ResultsError: The run did not record this table; the message says what to set. Or the file is damaged.
        """
        import polars as pl

        from farweb.parquet import unreadable

        file = self.path / f"{table}.parquet"
        if not file.is_file():
            if table in self.manifest["rows"]:
                raise ResultsError(f"{file}: has gone; the same farweb run makes it again")
            raise ResultsError(f"{self.path}: has no table of {table}: {how_to_record(table)}")
        try:
            pl.read_parquet_schema(file)
        except (OSError, pl.exceptions.PolarsError) as error:
            raise unreadable(file, str(error)) from None
        return with_derived(table, pl.scan_parquet(file, glob=False))

    @property
    def name(self) -> str:
        """What the run is called: its scenario's name, or the folder's."""
        return self.manifest.get("name") or self.path.name

    @property
    def warmup_ns(self) -> int:
        """Requests that start before this time are left out of summaries and figures, in ns."""
        return int(self.manifest["warmup_ns"])

    @functools.cached_property
    def unanswered(self) -> int:
        """Requests of a run that answered none of them, in the warm-up or after; 0 where any was answered."""
        statuses = self.scan("requests").select("status").collect()["status"]
        return 0 if (statuses == "done").any() else len(statuses)

    def summary(self) -> "Summary":
        """Latencies, rates, losses and links of the run in a few numbers."""
        from farweb.summary import summarize

        return summarize(self)

    def breakdown(self, *, tagged: bool | None = None) -> "Breakdown":
        """Where the time of the requests goes, in parts that add up to their mean latency.

        Args:
            tagged: Of those tagged `sample` only; None: of those where there are any, else of all.

        Raises:
            ResultsError: The run did not record exchanges, or none of the requests finished.
        """
        from farweb.breakdown import break_down

        return break_down(self, tagged=tagged)

    def sql(self, query: str) -> "pl.DataFrame":
        """What an SQL query finds in the tables of the run; see `farweb.sql`.

        Raises:
            ResultsError: The query is wrong, or is not a query.
        """
        from farweb.sql import query_run

        return query_run(self, query)

    @property
    def plot(self) -> "Plots":
        """Figures of this run: `results.plot.size_latency()` and others, each a matplotlib figure."""
        from farweb.plot import Plots

        return Plots(self)

    def __repr__(self) -> str:
        return f"Results({str(self.path)!r})"

    def __rich__(self) -> "RenderableType":
        return self.summary()

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def how_to_record(table: str) -> str:
    """What to do about a table that is not there."""
    wish = _ASKED_FOR_BY.get(table)
    return f"set {wish} in the scenario and run it again" if wish else "it is not complete"


def open_results(path: str | Path) -> "Results | SweepResults":
    """Open the results folder of a run or of a sweep, whichever it is; a sweep may be at a URL, such as s3://….

    Raises:
        ResultsError: There is neither at `path`.
    """
    from farweb.sweep.results import SweepResults

    if "://" in str(path):
        return SweepResults.open(path)
    path = Path(path)
    kind = read_manifest(path, None)["kind"]
    return Results.open(path) if kind == RUN_KIND else SweepResults.open(path)


def read_manifest(path: Path, kind: str | None = RUN_KIND) -> dict[str, Any]:
    """The manifest of the results folder `path`.

    Args:
        path: The folder.
        kind: What has to be there, `RUN_KIND` or `SWEEP_KIND`; None for either.

    Raises:
        ResultsError: There is no such result at `path`.
    """
    try:
        content = (path / MANIFEST).read_bytes()
    except FileNotFoundError:
        what = f"no {MANIFEST} in it" if path.is_dir() else "no such folder"
        raise ResultsError(f"{path}: not a results folder: {what}") from None
    except OSError as error:
        raise ResultsError(f"{path / MANIFEST}: cannot be read: {error}") from None
    return parse_manifest(content, str(path), kind)


def parse_manifest(content: bytes, place: str, kind: str | None) -> dict[str, Any]:
    """The content of a manifest; see `read_manifest`.

    Raises:
        ResultsError: It is not the manifest of such a result.
    """
    try:
        parsed = json.loads(content)
    except ValueError as error:
        raise ResultsError(f"{place}/{MANIFEST}: cannot be read: {error}") from None
    manifest: dict[str, Any] = parsed if isinstance(parsed, dict) else {}
    found = manifest.get("kind")
    if found not in _MANIFEST_KEYS or (kind is not None and found != kind):
        what = "a run" if kind == RUN_KIND else "a sweep" if kind == SWEEP_KIND else "a run or a sweep"
        instead = ", but of a sweep" if found == SWEEP_KIND else ", but of a run" if found == RUN_KIND else ""
        raise ResultsError(f"{place}: not the results folder of {what}{instead}")
    if missing := sorted(_MANIFEST_KEYS[found].keys() - manifest.keys()):
        raise ResultsError(f"{place}/{MANIFEST}: has no {missing[0]}: it is damaged, or of another version of farweb")
    for key, types in {**_MANIFEST_KEYS[found], **_LATER_KEYS}.items():
        if key in manifest and not isinstance(manifest[key], types):
            raise ResultsError(f"{place}/{MANIFEST}: {key}: found {manifest[key]!r:.40}: it is damaged")
    needed = ("path", "leg") if found == RUN_KIND else ()
    if absent := [key for key in needed if key not in manifest["scenario"]]:
        raise ResultsError(f"{place}/{MANIFEST}: scenario has no {absent[0]}: it is damaged")
    return manifest
