"""Waterfalls of pages: a bar a request, in the colour of its kind, from its issue to its last byte."""

from collections.abc import Collection, Mapping, Sequence
from urllib.parse import urlsplit

import numpy as np

from farweb.paint.figure import Axis, Figure, Floats, Form, Panel, Reference, Series
from farweb.text.quantities import seconds
from farweb.text.words import elided
from farweb.views.page_load import View, Viewed

_COLOURS: Mapping[str, int] = {"HTML": 0, "style sheet": 1, "script": 2, "font": 3, "image": 4, "other": 5}
_KINDS = {"html": "HTML", "css": "style sheet", "script": "script", "font": "font", "image": "image"}
_NAME = 34  # letters of a request. Chosen: the rest of two panels' width
_ROWS_MAX = 60
_LONGEST = 20
"""Most requests to draw all of, and otherwise the number beside the critical path. Chosen."""

_ROW_INCHES = 0.19
_ROOM = 1.04  # of the time axis, beyond onLoad


def shown(view: View) -> list[int]:
    """Numbers of the requests that are drawn: issued before onLoad; of many the critical paths and the longest."""
    early = [each for each in view.requests if each.issue_ns < view.load_ns]
    if len(early) <= _ROWS_MAX:
        return [each.number for each in early]
    steps = [step for load in (view, view.recorded) for step in load.critical]
    critical = {step.request.number for step in steps[-_ROWS_MAX + _LONGEST :]}
    others = [each for each in early if each.number not in critical]
    longest = sorted(others, key=lambda each: each.issue_ns - each.end_ns)[:_LONGEST]
    return sorted([*critical, *(each.number for each in longest)])


def height(rows: int) -> float:
    """Inches of the axes of so many requests."""
    return _ROW_INCHES * (rows + 1)


BARS = (
    "A bar goes from when a request was issued to its last byte, in the colour of its kind from when it had a "
    "connection (as recorded: when it was sent). Critical path: the last request that onLoad waits for, what that "
    "waited for last, and so on to the first."
)
"""Their meaning, for captions."""


def counted(view: View) -> str:
    """The number of requests, and how many are not drawn, for captions."""
    left = len(view.requests) - len(shown(view))
    said = f"n = {len(view.requests):,} requests."
    return f"{said} {left:,} of them are not drawn: shorter ones, or issued after onLoad." if left else said


def recorded(view: View) -> Figure:
    """The waterfall of a page as it was recorded."""
    numbers = shown(view)
    drawn = panel(view, numbers, "as recorded")
    return Figure(f"Waterfall – {view.page}", f"{BARS} {counted(view)}", (drawn,), size=(9, 2.0 + height(len(numbers))))


def panel(view: View, numbers: Sequence[int], title: str) -> Panel:
    """The waterfall of a load, of the requests with these numbers; its critical path is outlined."""
    rows = [view.requests[number] for number in numbers]
    critical = {step.request.number for step in view.critical}
    load_s = view.load_ns / 1e9
    x = Axis("time since the page began", "s", low=0, high=_ROOM * load_s).fitted(load_s)
    rank = sorted(
        range(len(rows)), key=lambda at: (rows[at].number not in critical, rows[at].issue_ns - rows[at].end_ns)
    )
    y = Axis("", scale="category", levels=tuple(_name(each) for each in rows), rank=tuple(rank))
    return Panel(
        x,
        y,
        (
            _bars("waiting, connecting", "waiting", rows, range(len(rows)), "issue_ns", "connect_ns"),
            *_by_kind(rows),
            _outlines(rows, [place for place, each in enumerate(rows) if each.number in critical]),
            Series("first byte", None, _times(rows, "first_ns"), np.arange(len(rows), dtype=float), "signs", sign="|"),
        ),
        (Reference("onLoad", load_s, "y"),),
        title=f"{title}: onLoad after {seconds(load_s)}",
        weight=height(len(rows)),
    )


def _name(request: Viewed) -> str:
    """The end of a URL's path, or its host."""
    try:
        parts = urlsplit(request.name)
    except ValueError:
        return elided(request.name, _NAME)
    return elided(parts.path.rstrip("/").rpartition("/")[2] or parts.netloc or request.name, _NAME)


def _by_kind(rows: Sequence[Viewed]) -> list[Series]:
    found = []
    for kind, colour in _COLOURS.items():
        places = [place for place, each in enumerate(rows) if _KINDS.get(each.kind, "other") == kind]
        if places:
            found.append(_bars(kind, colour, rows, places, "connect_ns", "end_ns"))
    return found


def _outlines(rows: Sequence[Viewed], places: Collection[int]) -> Series:
    return _bars("critical path", None, rows, places, "issue_ns", "end_ns", "outlines")


def _bars(
    label: str,
    colour: int | str | None,
    rows: Sequence[Viewed],
    places: Collection[int],
    begin: str,
    end: str,
    form: Form = "bars",
) -> Series:
    of = [rows[place] for place in places]
    start = _times(of, begin)
    return Series(label, colour, _times(of, end) - start, np.array([*places], dtype=float), form, base=start)


def _times(rows: Sequence[Viewed], name: str) -> Floats:
    return np.array([getattr(each, name) / 1e9 for each in rows])
