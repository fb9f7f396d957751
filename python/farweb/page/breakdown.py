"""Where the time of a page goes over several ways, and the screen that says so."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from farweb.page.answer import PageAnswer, how, path_name, proxy_name
from farweb.page.recording import short_url
from farweb.page.results import view_of
from farweb.results.view import SPLIT, Step, View
from farweb.text.quantities import number
from farweb.text.sheet import Screen, Sheet
from farweb.text.words import elided, plural

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

_HEADS: Mapping[str, str] = {
    "handshakes": "connect",
    "request": "request",
    "slow_start": "start",
    "windows": "window",
    "queues": "queues",
    "server": "server",
    "think": "think",
    "tail": "tail",
}
MEANING: Mapping[str, str] = {
    "handshakes": "handshakes of TCP and TLS",
    "request": "there and back, without queues",
    "slow_start": "waiting for the congestion window",
    "windows": "receive windows, send buffers and credit",
    "queues": "for connections and in links, with transmission",
    "server": "as recorded",
    "think": "the browser, as recorded",
    "tail": "from the last request to onLoad, as recorded",
}
"""Meaning of the parts, for people."""

_STEPS = 5
_NS = 1e9


@dataclass(frozen=True)
class PageBreakdown:
    """A page over several ways, with where its time goes.

    Attributes:
        answer: Its loads.
        views: The load over each way by the likely graph.
    """

    answer: PageAnswer
    views: Sequence[View]

    @classmethod
    def of(cls, answer: PageAnswer) -> "PageBreakdown":
        """Break the loads of a page down.

        Raises:
            RunError: There is no place for temporary files.
        """
        return cls(answer, [view_of(answer.recording, cell.way, cell.loaded) for cell in answer.cells])

    def to_dicts(self) -> list[dict[str, Any]]:
        """A row for each way, as plain values: times of its parts in ns, and the steps of its critical path."""
        return [
            {
                **row,
                "split_ns": view.split_ns,
                "critical": [
                    {
                        "url": step.request.name,
                        "issue_ns": step.request.issue_ns,
                        "until_ns": step.until_ns,
                        "split_ns": dict(step.split),
                    }
                    for step in view.critical
                ],
            }
            for row, view in zip(self.answer.to_dicts(), self.views, strict=True)
        ]

    def __rich_console__(self, console: "Console", options: "ConsoleOptions") -> "RenderResult":
        """The largest parts in a sentence, all of each way in a table; of one way the longest steps."""
        del console, options
        yield Screen(list(self._parts()))

    def _parts(self) -> Iterator[Sheet | str]:
        best = self.answer.best
        view = self.views[self.answer.cells.index(best)]
        yield f"Over {path_name(best.way.path)} with {how(best.way)}, {largest_parts(view)}."
        yield self.answer.recorded
        yield ""
        parts = [name for name in SPLIT if any(view.split_ns[name] for view in self.views)]
        yield Sheet("", ("in s", "", "", "onLoad", *(_HEADS[name] for name in parts)), list(self._rows(parts)), names=3)
        yield ""
        yield "; ".join(f"{_HEADS[name]}: {MEANING[name]}" for name in parts) + "."
        yield from self.answer.recording.reservations
        if len(self.views) == 1:
            yield steps(view)

    def _rows(self, parts: Sequence[str]) -> Iterator[tuple[str, ...]]:
        shown = ("", "")
        for cell, view in zip(self.answer.cells, self.views, strict=True):
            path, proxy = path_name(cell.way.path), proxy_name(cell.way.proxy)
            names = ("" if path == shown[0] else path, "" if (path, proxy) == shown else proxy, cell.way.protocol)
            shown = (path, proxy)
            yield (*names, *(_seconds(time) for time in (view.load_ns, *(view.split_ns[name] for name in parts))))


def largest_parts(view: View) -> str:
    """The time to onLoad and its three largest parts, as a sentence has them."""
    longest = sorted(view.split_ns.items(), key=lambda part: -part[1])[:3]
    said = ", ".join(f"{number(time / _NS)} {SPLIT[name]}" for name, time in longest if time)
    return f"{number(view.load_ns / _NS)} s: {said}"


def steps(view: View) -> Sheet:
    """The longest steps of the critical path, in its order."""
    longest = sorted(view.critical, key=lambda step: -sum(step.split.values()))[:_STEPS]
    rows = [
        (
            elided(short_url(step.request.name), 36),
            _seconds(step.request.issue_ns),
            _seconds(sum(step.split.values())),
            _mostly(step),
        )
        for step in view.critical
        if step in longest
    ]
    title = f"{len(rows)} longest of {plural(len(view.critical), 'request')} on the critical path"
    return Sheet(title, ("in s", "issued", "takes", "mostly"), rows)


def _mostly(step: Step) -> str:
    most = max(step.split, key=lambda name: step.split[name])
    return f"{SPLIT[most]} {_seconds(step.split[most])}"


def _seconds(time_ns: int) -> str:
    return f"{time_ns / _NS:.2f}" if time_ns else "0"
