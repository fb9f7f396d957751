"""Reads HAR files, plain or packed, as far as the JSON goes: their pages with the entries of each, all untrusted."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from math import isfinite
from pathlib import Path
from statistics import median
from typing import Any, NoReturn

from farweb.errors import WorkloadError, require_range
from farweb.files.regular import check_file
from farweb.inputs.formats import head_of, opened

BYTES_MAX = 128 << 20
"""Bytes of the largest HAR, unpacked. Chosen: a crowded page has 5 MB without its bodies."""
PAGE_MS_MAX = 3_600_000.0
"""Latest time of a page, and longest span in it: an hour. Chosen."""
PAGES_MAX = 1_000
ENTRIES_MAX = 5_000
"""Most pages of a file, and most entries of a page. Chosen: ten times what crowded ones have."""

_COUNTED_ONCE_MOST = 1.5  # times object and header. Chosen: the middle between once and twice
_SUFFIXES = (".har", ".har.gz")
_BEGINNING = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{\s*"log"\s*:\s*\{')  # a text there is a line that Docker keeps
_NAME_MAX = 4096  # letters of a URL, chosen

Json = dict[str, Any]


@dataclass(frozen=True)
class HarPage:
    """A page of a HAR, as its JSON has it.

    Attributes:
        file: The file.
        name: Its id, empty where the file names no pages.
        title: Its title, a URL in files of Chrome and Safari.
        exporter: Name and version of the program that wrote the file.
        browser: Name and version of the browser, where known.
        start_ms: When it began, Unix time.
        timings: `pageTimings`.
        entries: Entries with their place in the file, all with a URL and a start.
        left_out: Entries of its time that cannot be used, by reason.
    """

    file: Path
    name: str
    exporter: tuple[str, str]
    browser: str
    start_ms: float
    timings: Json
    entries: Sequence[tuple[int, Json]]
    left_out: Mapping[str, int] = field(default_factory=dict)
    title: str = ""

    @cached_property
    def counted(self) -> frozenset[str]:
        """The sizes of responses that its exporter counts: those above 0 somewhere."""
        responses = [table(entry.get("response")) for _, entry in self.entries]
        return frozenset(
            name
            for name in ("_transferSize", "bodySize")
            if any((number(each.get(name)) or 0) > 0 for each in responses)
        )

    @cached_property
    def counts_twice(self) -> bool:
        """True where `_bytesIn` of WebPageTest counts twice what came, as its version 17.12 does: for half the entries.

        A single entry tells nothing: its object may be cut, its header compressed by HTTP/2, or its count lost.
        """
        found = []
        for _, entry in self.entries:
            sizes = (entry.get("_objectSize"), table(entry.get("response")).get("headersSize"))
            came, body, head = (number(size) or 0 for size in (entry.get("_bytesIn"), *sizes))
            if came > 0 and body > 0 and head > 0:
                found.append(came / (body + head))
        return bool(found) and median(found) > _COUNTED_ONCE_MOST


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
        FarwebError: The number is below 1.
        WorkloadError: There are fewer.
    """
    require_range("--page", number, 1)
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
    read, faults = _read_entries(entries)
    by_page: dict[str, list[tuple[int, Json]]] = {name: [] for name in pages}
    strays: list[tuple[int, Json]] = []
    for place, entry in read:
        name = (identifier(entry.get("pageref")) or only) if pages else ""
        (by_page.setdefault(name, []) if name or not pages else strays).append((place, entry))
    if len(by_page) > PAGES_MAX:
        _refuse(path, "log.pages", f"{len(by_page):,} pages", f"{PAGES_MAX:,} at most")
    starts = {name: each["startedDateTime"] for name, each in pages.items() if each["startedDateTime"] is not None}
    if strays and not any(by_page.values()) and starts:  # a file that names no page anywhere
        for place, entry in strays:
            by_page[_page_at(starts, entry["startedDateTime"])].append((place, entry))
        strays = []
    found = []
    for name, rows in by_page.items():
        if not rows:
            continue
        if len(rows) > ENTRIES_MAX:
            _refuse(path, f"log.entries[{rows[0][0]}]", f"{len(rows):,} of one page", f"{ENTRIES_MAX:,} at most")
        page_of = pages.get(name, {})
        times = [entry["startedDateTime"] for _, entry in rows]
        start = page_of.get("startedDateTime")
        if start is None or not any(0 <= each - start <= PAGE_MS_MAX for each in times):
            start = min(times)  # another clock
        timings = table(page_of.get("pageTimings"))
        seen = f"{text(browser.get('name'))} {text(browser.get('version'))}".strip()
        found.append(HarPage(path, name, exporter, seen, start, timings, rows, title=text(page_of.get("title"))))
    if not found:
        if faults:
            _refuse(path, faults[0].where, faults[0].found, faults[0].allowed)
        raise WorkloadError(f"{_anchored(path, 'log.entries')}: is empty; record the page again")
    return _with_left_out(found, strays, faults)


@dataclass(frozen=True)
class _Fault:
    """An entry that cannot be read: where, what was found there, what is allowed, and the page that it names."""

    where: str
    found: Any
    allowed: str
    page: str


def _read_entries(entries: Sequence[Any]) -> tuple[list[tuple[int, Json]], list[_Fault]]:
    """Entries with their place in the file and a start in ms, and those that cannot be read."""
    read, faults = [], []
    for place, entry in enumerate(entries):
        where = f"log.entries[{place}]"
        if not isinstance(entry, dict):
            faults.append(_Fault(where, entry, "an object", ""))
            continue
        url = table(entry.get("request")).get("url")
        start = _time_ms(entry.get("startedDateTime"))
        page = identifier(entry.get("pageref"))
        if not text(url):
            faults.append(_Fault(f"{where}.request.url", url, "a URL", page))
        elif start is None:
            faults.append(_Fault(f"{where}.startedDateTime", entry.get("startedDateTime"), _A_TIME, page))
        else:
            read.append((place, {**entry, "startedDateTime": start}))
    return read, faults


def _page_at(starts: Mapping[str, float], time_ms: float) -> str:
    """The page that had begun last at a time, or else the first one."""
    begun = [name for name, start in starts.items() if start <= time_ms]
    return max(begun, key=lambda name: starts[name]) if begun else min(starts, key=lambda name: starts[name])


def _with_left_out(
    pages: Sequence[HarPage], strays: Sequence[tuple[int, Json]], faults: Sequence[_Fault]
) -> list[HarPage]:
    """The pages with what the file has beside them: each entry is of one page, or left out of one."""
    starts = {page.name: page.start_ms for page in pages}
    left = {name: Counter[str]() for name in starts}
    for _, entry in strays:
        left[_page_at(starts, entry["startedDateTime"])]["of no page"] += 1
    for fault in faults:
        left[fault.page if fault.page in left else pages[0].name]["unreadable"] += 1
    return [replace(page, left_out=left[page.name]) for page in pages]


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
    """A name of a HAR without halves of characters, empty for anything else."""
    return value[:_NAME_MAX].encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def identifier(value: Any) -> str:
    """An id of a HAR: a text, or a whole number."""
    return str(value) if isinstance(value, int) else text(value)


def table(value: Any) -> Json:
    """An object of a HAR, empty for anything else."""
    return value if isinstance(value, dict) else {}


def header(message: Json, name: str) -> str:
    """The value of a header of a request or response, by its name in small letters. Empty without one."""
    rows = message.get("headers")
    named = (table(each) for each in (rows if isinstance(rows, list) else ()))
    return next((text(row.get("value")) for row in named if text(row.get("name")).lower() == name), "")


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
        keys = ", ".join(map(repr, list(found)[:3])) or "nothing in it"
        has = f"an object with {keys}" if isinstance(found, dict) else other
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
        start = _time_ms(started)
        if start is None and started not in (None, ""):
            _refuse(path, f"{where}.startedDateTime", started, _A_TIME)
        name = identifier(page.get("id"))
        if name in found:
            _refuse(path, f"{where}.id", f"{name} again", "another id: its requests would be those of both pages")
        found[name] = {**page, "startedDateTime": start}
    return found


_FINER = re.compile(r"(\.\d{6})\d+")


def _time_ms(value: Any) -> float | None:
    """An ISO 8601 time as Unix time in ms. None for anything else."""
    try:
        time = datetime.fromisoformat(_FINER.sub(r"\1", text(value)))
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp() * 1000
    except (ValueError, OverflowError):
        return None


_A_TIME = "a time such as 2026-11-26T10:00:00.000Z"


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
