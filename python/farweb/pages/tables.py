"""Writes the pages of HARs as tables: their requests with dependencies, one view of each, and their hosts."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from farweb._core import Recording, left_out, short_url
from farweb.errors import RunError, WorkloadError
from farweb.files.atomic import staged_file
from farweb.pages.har import har_files, read_har
from farweb.progress import Progress, unseen
from farweb.results.tables import PAGE_SCHEMA
from farweb.text.quantities import seconds, share, size
from farweb.text.sheet import Sheet, Shown
from farweb.text.words import elided, plural

_VIEWS = pa.schema(
    [
        ("client", pa.int64()),
        ("start_s", pa.float64()),
        ("page", pa.string()),
        ("host", pa.string()),
        ("request_bytes", pa.int64()),
        ("response_bytes", pa.int64()),
    ]
)


@dataclass(frozen=True)
class PagesReport(Shown):
    """Requests kept and left out by an import of HARs.

    Attributes:
        out: The tables: pages, views, hosts.
        pages: The pages as recorded, by the key that the tables have.
        refused: Why other pages cannot be loaded, a sentence each.
    """

    out: Sequence[Path]
    pages: Sequence[tuple[str, Recording]]
    refused: Sequence[str]

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        pages = [json.loads(page.listed(key)) for key, page in self.pages]
        return {"out": [str(path) for path in self.out], "pages": pages, "refused": list(self.refused)}

    def _parts(self) -> Iterator[Sheet | str]:
        """The pages in a table, and below it their hosts where there is one page, and limits of the files."""
        header = ("page", "requests", "left out", "bytes", "hosts", "onLoad", "sure", "")
        rows = [
            (
                elided(key, 40),
                str(len(page.sent)),
                str(sum(page.dropped.values())),
                size(page.response_bytes),
                str(len(page.rtt_ms)),
                seconds(page.load_ms / 1000),
                share(json.loads(page.listed(key))["confidence"]),
                elided(page.exporter, 24),
            )
            for key, page in self.pages
        ]
        yield Sheet("", header, rows)
        dropped = Counter[str]()
        for _, page in self.pages:
            dropped.update(page.dropped)
        if dropped:
            yield left_out([*dropped.items()])
        yield from self.refused
        if len(self.pages) == 1:
            yield _hosts(self.pages[0][1])
        said: dict[str, list[str]] = {}
        for key, page in self.pages:
            for each in page.warnings:
                said.setdefault(each, []).append(key)
        if said:
            yield ""
        for sentence, keys in said.items():
            whose = elided(keys[0], 40) if len(keys) == 1 else plural(len(keys), "page")
            yield f"{whose}: {sentence}."


def import_har(paths: Sequence[Path], out: Path, progress: Progress = unseen) -> PagesReport:
    """Write the pages of HARs as ``OUT-pages.parquet``, ``OUT-views.parquet`` and ``OUT-hosts.tsv``.

    Args:
        paths: HARs, plain or gzip, and folders of them.
        out: Beginning of the tables' names.
        progress: Called as files are read.

    Raises:
        WorkloadError: A file cannot be read. Nothing is written then.
        RunError: A table cannot be written there.
    """
    found, refused = _read(paths, progress)
    tables = tables_of(out)
    if taken := [table for table in tables if table.is_dir()]:
        raise RunError(f"{taken[0]}: is a folder; name another file with --out")
    with staged_file(tables[0]) as pages_stage, staged_file(tables[1]) as views_stage, staged_file(tables[2]) as hosts:
        rows = [row for key, page in found for row in page_rows(key, page)]
        pq.write_table(pa.Table.from_pylist(rows, PAGE_SCHEMA), pages_stage, compression="zstd")
        first_ms = found[0][1].start_ms
        views = [_view(number, key, page.start_ms - first_ms, page) for number, (key, page) in enumerate(found)]
        pq.write_table(pa.Table.from_pylist(views, _VIEWS), views_stage, compression="zstd")
        names = sorted({sent.host for _, page in found for sent in page.sent})
        lines = "".join(f"{name}\t{name}\t\t\n" for name in names)
        hosts.write_text("host\tname\twindow_bytes\tmss_bytes\n" + lines, "utf-8")
    return PagesReport(tables, found, refused)


def describe_har(paths: Sequence[Path]) -> PagesReport:
    """Describe what `import_har` would keep and leave out, without writing.

    Raises:
        WorkloadError: A file cannot be read.
    """
    found, refused = _read(paths)
    return PagesReport([], found, refused)


def _read(paths: Sequence[Path], progress: Progress = unseen) -> tuple[list[tuple[str, Recording]], list[str]]:
    """The pages of HARs by start, with their keys, and why others cannot be loaded."""
    files = har_files(paths)
    found: list[tuple[str, Recording]] = []
    refused: list[WorkloadError] = []
    for number, file in enumerate(files):
        pages = read_har(file)
        stem = file.name.removesuffix(".gz").removesuffix(".har")
        for place, page in enumerate(pages):
            key = stem if len(pages) == 1 else f"{stem} {place + 1}"
            if isinstance(page, Recording):
                found.append((key, page))
            else:
                refused.append(page)
        progress(number + 1, len(files), f"{number + 1:,} of {len(files):,} files")
    if not found:
        raise refused[0]
    if twice := [key for key, times in Counter(key for key, _ in found).items() if times > 1]:
        raise WorkloadError(f"{twice[0]}: is the name of two HARs; import them into tables of their own")
    return sorted(found, key=lambda each: each[1].start_ms), [f"{each}." for each in refused]


def tables_of(out: Path) -> list[Path]:
    """The tables of an import: pages, views and hosts."""
    return [out.with_name(f"{out.name}-{name}") for name in ("pages.parquet", "views.parquet", "hosts.tsv")]


def _view(client: int, key: str, start_ms: float, page: Recording) -> dict[str, Any]:
    first = page.sent[0]
    return {
        "client": client,
        "start_s": start_ms / 1000,
        "page": key,
        "host": first.host,
        "request_bytes": first.request_bytes,
        "response_bytes": first.response_bytes,
    }


def page_rows(key: str, page: Recording) -> list[dict[str, Any]]:
    """The requests of a page as a table has them."""
    rows: list[dict[str, Any]] = json.loads(page.rows(key))
    return rows


_HOSTS_SHOWN = 8


def _hosts(page: Recording) -> Sheet:
    hosts = json.loads(page.listed(""))["hosts"]
    rows = [
        (
            elided(row["host"], 40),
            str(row["requests"]),
            size(row["response_bytes"]),
            seconds(row["rtt_s"]),
            share(row["confidence"]),
        )
        for row in hosts[:_HOSTS_SHOWN]
    ]
    if len(hosts) > _HOSTS_SHOWN:
        rows.append((f"{len(hosts) - _HOSTS_SHOWN} more", "", "", "", ""))
    return Sheet(f"{short_url(page.url)}, by host", ("host", "requests", "bytes", "round trip", "sure"), rows)
