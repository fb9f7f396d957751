"""Reads HAR files, plain or packed, as far as the JSON goes: their pages with the entries of each, all untrusted."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import isfinite
from pathlib import Path
from typing import Any, NoReturn

from farweb.errors import WorkloadError
from farweb.files.regular import check_file
from farweb.inputs.formats import head_of, opened

BYTES_MAX = 128 << 20
"""Bytes of the largest HAR, unpacked. Chosen: a crowded page has 5 MB without its bodies."""
PAGE_MS_MAX = 3_600_000.0
"""Latest time of a page, and longest span in it: an hour. Chosen."""
PAGES_MAX = 1_000
ENTRIES_MAX = 5_000
"""Most pages of a file, and most entries of a page. Chosen: ten times what crowded ones have."""

_SUFFIXES = (".har", ".har.gz")
_BEGINNING = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"log"\s*:')
_NAME_MAX = 4096  # letters of a URL, chosen

Json = dict[str, Any]


@dataclass(frozen=True)
class HarPage:
    """A page of a HAR, as its JSON has it.

    Attributes:
        file: The file.
        name: Its id, empty where the file names no pages.
        exporter: Name and version of the program that wrote the file.
        browser: Name and version of the browser, where known.
        start_ms: When it began, Unix time.
        timings: `pageTimings`.
        entries: Entries with their place in the file, all with a URL and a start.
    """

    file: Path
    name: str
    exporter: tuple[str, str]
    browser: str
    start_ms: float
    timings: Json
    entries: Sequence[tuple[int, Json]]


def is_har(path: Path) -> bool:
    """True for a HAR, plain or packed, by its name or its first bytes, and for a folder with one."""
    try:
        if path.is_dir():
            return bool(_files_of(path))
        if not path.is_file():  # a pipe without a writer opens never
            return False
        if path.name.endswith(_SUFFIXES):
            return True
    except OSError:  # a name that is too long
        return False
    return _BEGINNING.match(head_of(path)) is not None


def har_files(paths: Sequence[Path]) -> list[Path]:
    """HARs among some paths and in the folders there, by name.

    Raises:
        WorkloadError: A path is neither, or a folder has no HAR.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            files = _files_of(path)
            if not files:
                raise WorkloadError(f"{path}: has no file that ends in .har or .har.gz")
            found += files
        else:
            check_file(path, WorkloadError, "name a HAR, or a folder of them")
            found.append(path)
    return found


def numbered(path: Path, pages: Sequence[HarPage], number: int) -> HarPage:
    """A page of `read_har`, from 1.

    Raises:
        WorkloadError: There are fewer.
    """
    if number > len(pages):
        raise WorkloadError(f"--page: found {number}; {path} has {len(pages)}")
    return pages[number - 1]


def read_har(path: Path) -> list[HarPage]:
    """The pages of a HAR that have entries, in the order of the file.

    Raises:
        WorkloadError: The file is no HAR, is damaged or too large. The message names the place in it.
    """
    log = table(_json(path).get("log"))
    entries = log.get("entries")
    if not isinstance(entries, list):
        _refuse(path, "log.entries", entries, "a list")
    creator, browser = table(log.get("creator")), table(log.get("browser"))
    exporter = (text(creator.get("name")), text(creator.get("version")))
    pages = _pages(path, log.get("pages"))
    only = next(iter(pages)) if len(pages) == 1 else ""
    by_page: dict[str, list[tuple[int, Json]]] = {name: [] for name in pages}
    for place, entry in enumerate(entries):
        where = f"log.entries[{place}]"
        if not isinstance(entry, dict):
            _refuse(path, where, entry, "an object")
        if not text(table(entry.get("request")).get("url")):
            _refuse(path, f"{where}.request.url", table(entry.get("request")).get("url"), "a URL")
        entry["startedDateTime"] = _time_ms(path, f"{where}.startedDateTime", entry.get("startedDateTime"))
        page = (identifier(entry.get("pageref")) or only) if pages else ""
        by_page.setdefault(page, []).append((place, entry))
    if len(by_page) > PAGES_MAX:
        _refuse(path, "log.pages", f"{len(by_page):,} pages", f"{PAGES_MAX:,} at most")
    found = []
    for name, rows in by_page.items():
        if not rows or (name == "" and pages):  # what belongs to no page
            continue
        if len(rows) > ENTRIES_MAX:
            _refuse(path, f"log.entries[{rows[0][0]}]", f"{len(rows):,} of one page", f"{ENTRIES_MAX:,} at most")
        page_of = pages.get(name, {})
        starts = [entry["startedDateTime"] for _, entry in rows]
        start = page_of.get("startedDateTime")
        if start is None or not any(0 <= each - start <= PAGE_MS_MAX for each in starts):
            start = min(starts)  # another clock
        timings = table(page_of.get("pageTimings"))
        seen = f"{text(browser.get('name'))} {text(browser.get('version'))}".strip()
        found.append(HarPage(path, name, exporter, seen, start, timings, rows))
    if not found:
        raise WorkloadError(f"{_anchored(path, 'log.entries')}: is empty, or of no page; record the page again")
    return found


def number(value: Any) -> float | None:
    """A finite number of a HAR, also as a text and in ms. None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value.removesuffix("ms") if isinstance(value, str) else value)
    except (ValueError, OverflowError):
        return None
    return found if isfinite(found) else None


def text(value: Any) -> str:
    """A text of a HAR without halves of characters, empty for anything else."""
    return value[:_NAME_MAX].encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def identifier(value: Any) -> str:
    """An id of a HAR: a text, or a whole number."""
    return str(value) if isinstance(value, int) else text(value)


def table(value: Any) -> Json:
    """An object of a HAR, empty for anything else."""
    return value if isinstance(value, dict) else {}


def _files_of(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.name.endswith(_SUFFIXES) and path.is_file())


def _content(path: Path) -> bytes:
    check_file(path, WorkloadError, "name a HAR")
    with opened(path) as file:
        return file.read(BYTES_MAX + 1)


def _decoded(content: bytes) -> str:
    """The text of a file in UTF-8, UTF-16 or UTF-32, as JSON may be."""
    return content.decode(json.detect_encoding(content))


def _json(path: Path) -> Json:
    content = _content(path)
    if content.startswith(b"PK\x03\x04"):
        raise WorkloadError(f"{path}: is a zip archive; unpack it, and name the HAR in it")
    if len(content) > BYTES_MAX:
        raise WorkloadError(f"{path}: has more than the {BYTES_MAX:,} B that are read of a HAR; save it without bodies")
    if not content.strip():
        raise WorkloadError(f"{path}: is empty; {_AGAIN}")
    try:
        found = json.loads(_decoded(content), parse_constant=_no_constant)
    except UnicodeDecodeError as reason:
        raise WorkloadError(
            f"{path}: is no text in {reason.encoding.upper()} (byte {reason.start:,}); a HAR is JSON"
        ) from None
    except json.JSONDecodeError as reason:
        raise WorkloadError(f"{path}: line {reason.lineno}: {_broken(reason)}; {_AGAIN}") from None
    except RecursionError:
        raise WorkloadError(f"{path}: its JSON is nested too deeply for a HAR") from None
    except ValueError as reason:
        raise WorkloadError(f"{path}: {str(reason).partition(';')[0]}; a HAR is JSON") from None
    if not isinstance(found, dict) or not isinstance(found.get("log"), dict):
        other = "a list" if isinstance(found, list) else "other JSON"
        has = f"an object with {', '.join(map(repr, list(found)[:3]))}" if isinstance(found, dict) else other
        raise WorkloadError(f'{path}: is no HAR: found {has}; a HAR is an object {{"log": {{"entries": [...]}}}}')
    return found


_AGAIN = 'save it again, in the network panel of the browser by "Save all as HAR" or "Export HAR"'


def _broken(reason: json.JSONDecodeError) -> str:
    """The fault in JSON, as one sees it in the file."""
    rest = reason.doc[reason.pos :].split("\n")[0].strip()
    if not rest or reason.msg.startswith("Unterminated"):
        return "the file ends in the middle: it was cut off"
    if not reason.doc[: reason.pos].strip("\ufeff \t\r\n"):
        return f"is no HAR: found {rest[:40]!r}, and a HAR begins with {{"
    return f"found {rest[:40]!r} in column {reason.colno}, where JSON has something else"


def _no_constant(word: str) -> NoReturn:
    raise ValueError(f"{word} is no number of JSON")


def _pages(path: Path, pages: Any) -> dict[str, Json]:
    """The pages by id, with their starts as numbers where they have one."""
    if pages is None:
        return {}
    if not isinstance(pages, list):
        _refuse(path, "log.pages", pages, "a list")
    if len(pages) > PAGES_MAX:
        _refuse(path, "log.pages", f"{len(pages):,} pages", f"{PAGES_MAX:,} at most")
    found: dict[str, Json] = {}
    for place, page in enumerate(pages):
        where = f"log.pages[{place}]"
        if not isinstance(page, dict):
            _refuse(path, where, page, "an object")
        started = page.get("startedDateTime")
        start = None if started in (None, "") else _time_ms(path, f"{where}.startedDateTime", started)
        name = identifier(page.get("id"))
        if name in found:
            _refuse(path, f"{where}.id", f"{name} again", "another id: its requests would be those of both pages")
        found[name] = {**page, "startedDateTime": start}
    return found


_FINER = re.compile(r"(\.\d{6})\d+")


def _time_ms(path: Path, where: str, value: Any) -> float:
    """An ISO 8601 time as Unix time in ms."""
    try:
        time = datetime.fromisoformat(_FINER.sub(r"\1", text(value)))
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000
    except (ValueError, OverflowError):
        _refuse(path, where, value, "a time such as 2026-11-26T10:00:00.000Z")


def _refuse(path: Path, where: str, found: Any, allowed: str) -> NoReturn:
    shown = "nothing" if found is None else repr(found if not isinstance(found, str) else found[:80])[:80]
    raise WorkloadError(f"{_anchored(path, where)}: found {shown}; write {allowed}")


def _anchored(path: Path, where: str) -> str:
    """A place such as ``log.entries[3].request.url`` with its file and line. A missing one has the line around it."""
    content = _decoded(_content(path))
    at = _BLANK.match(content, 0).end()  # type: ignore[union-attr]
    for name in re.findall(r"[^.\[\]]+", where):
        at = _member(content, at, name) or at
    return f"{path}: line {content.count(chr(10), 0, at) + 1}: {where}"


_BLANK = re.compile(r"[ \t\r\n,:]*")
_DECODER = json.JSONDecoder()


def _member(content: str, at: int, name: str) -> int | None:
    """Where the member of a name, or number, begins in the object or array at a place."""
    is_object = content[at] == "{"
    if not is_object and content[at] != "[":
        return None
    number, at = 0, at + 1
    while content[at := _BLANK.match(content, at).end()] not in "]}":  # type: ignore[union-attr]
        own = str(number)
        if is_object:
            own, at = _DECODER.raw_decode(content, at)
            at = _BLANK.match(content, at).end()  # type: ignore[union-attr]
        if own == name:
            return at
        _, at = _DECODER.raw_decode(content, at)
        number += 1
    return None
