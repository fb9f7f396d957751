"""Where the time of a page goes, over several ways or in several results, and the screens that say so."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from farweb._core import short_url
from farweb.pages.answer import ALIKE, PageAnswer, how, proxy_name
from farweb.pages.results import view_of
from farweb.results.legs import tls_differs
from farweb.results.run import RunTables
from farweb.results.tables import PAGE
from farweb.text.quantities import number, seconds, size
from farweb.text.sheet import Screen, Sheet, Shown
from farweb.text.words import called_apart, elided, listed, plural
from farweb.views.page_load import PARTS, Step, View, read_view

_STEPS = 5
_NS = 1e9
NAME = 16
"""Letters of the name of a load at the head of a row, a column or a line. Chosen: two fit beside each other."""


@dataclass(frozen=True)
class PageBreakdown(Shown):
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
        return cls(answer, [view_of(answer.recording, cell.way, cell.loaded, cell.seed) for cell in answer.cells])

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

    def _parts(self) -> Iterator[Sheet | str]:
        """The largest parts in a sentence, all parts of each way in a table, the longest steps of a single way."""
        best = self.answer.best
        view = self.views[self.answer.cells.index(best)]
        yield f"Over {best.way.over} with {how(best.way)}, {largest_parts(view)}."
        yield self.answer.recorded
        yield ""
        yield from _parts_of([*self._names()], self.views)
        yield from self.answer.recording.reservations
        if len(self.views) == 1:
            yield steps(view)

    def _names(self) -> Iterator[tuple[str, ...]]:
        shown = ("", "")
        for cell in self.answer.cells:
            path, proxy = cell.way.over, proxy_name(cell.way.proxy)
            yield "" if path == shown[0] else path, "" if (path, proxy) == shown else proxy, cell.way.protocol
            shown = (path, proxy)


@dataclass(frozen=True)
class PageLoads(Shown):
    """Loads of a page, or of several, compared with the first.

    Attributes:
        names: What each is called: folders of results, or files.
        views: The loads.
    """

    names: Sequence[str]
    views: Sequence[View]

    @classmethod
    def of(cls, results: Sequence[str]) -> "PageLoads | None":
        """Read the loads in two results folders or more. None where one is not of a page.

        Raises:
            ResultsError: One is damaged.
        """
        if len(results) < 2 or not all((Path(each) / f"{PAGE}.parquet").is_file() for each in results):
            return None
        return cls(results, [read_view(RunTables.open(each)) for each in results])

    @property
    def text(self) -> str:
        """Which is fastest, of how many, and by how much."""
        base, *others = (view.load_ns for view in self.views)
        least = min(others)
        pairs = zip(self.names[1:], others, strict=True)
        tied = list(dict.fromkeys(name for name, load in pairs if load <= ALIKE * least))
        is_one = len(tied) == 1
        times = f"{seconds(least / _NS)} to onLoad, {seconds(base / _NS)} in {self.names[0]}"
        if max(base, least) <= ALIKE * min(base, least):
            return f"{listed(tied)} {'makes' if is_one else 'make'} no difference: {times}."
        change = f"{100 * (least / base - 1):+.0f} %".replace("-", "−")  # names keep their hyphens: they can be pasted
        best = "" if len(others) == 1 else f"the fastest of {len(self.views)}"
        if best and base < least:
            times = f"{seconds(base / _NS)} to onLoad, {seconds(least / _NS)} in {listed(tied)}"
            return f"{self.names[0]} is {best}: {times} ({change})."
        said = best or ("faster" if least < base else "slower")
        return f"{listed(tied)} {'is' if is_one else 'are'} {said}: {times} ({change})."

    @property
    def tls(self) -> str:
        """The TLS of each load in a sentence where it is not the same; else empty."""
        return tls_differs({name: view.tls for name, view in zip(self.names, self.views, strict=True)})

    def to_dict(self) -> dict[str, Any]:
        """All of it as plain values, for JSON."""
        loads = zip(self.names, self.views, strict=True)
        return {
            "text": self.text,
            **({"tls": self.tls} if self.tls else {}),
            "loads": [
                {
                    "results": name,
                    "page": view.page,
                    "requests": len(view.requests),
                    "response_bytes": view.response_bytes,
                    "onload_s": view.load_ns / _NS,
                    "split_ns": view.split_ns,
                }
                for name, view in loads
            ],
        }

    def screen(self) -> Screen:
        """The fastest load in a sentence, and requests, bytes and parts of each in a table."""
        view = self.views[0]
        is_one = len({tuple(each.name for each in of.requests) for of in self.views}) == 1
        asked = plural(len(view.requests), "request")
        about = [f"{short_url(view.page)}: {asked}, a load each by one reading of the file"] if is_one else []
        differs = [self.tls] if self.tls else []
        return Screen([self.text, *differs, *about, "", *self.table(has_sizes=not is_one)])

    def table(self, *, has_sizes: bool = True) -> Iterator[Sheet | str]:
        """The parts of each load side by side, and what these mean.

        Args:
            has_sizes: True to have requests and bytes as well, of all that is asked for.
        """
        return _parts_of([(name,) for name in called_apart(self.names, NAME)], self.views, has_sizes=has_sizes)


def _parts_of(
    names: Sequence[tuple[str, ...]], views: Sequence[View], *, has_sizes: bool = False
) -> Iterator[Sheet | str]:
    """The parts of loads in a table, with their requests and bytes or without, and what the parts mean."""
    parts = [name for name in PARTS if any(view.split_ns[name] for view in views)]
    heads = ("requests", "bytes") if has_sizes else ()
    header = ("in s", *("" for _ in names[0][1:]), *heads, "onLoad", *(PARTS[name].head for name in parts))
    rows = []
    for name, view in zip(names, views, strict=True):
        sizes = (str(len(view.requests)), size(view.response_bytes)) if has_sizes else ()
        times = (view.load_ns, *(view.split_ns[part] for part in parts))
        rows.append((*name, *sizes, *map(_seconds, times)))
    yield Sheet("", header, rows, names=len(names[0]))
    yield ""
    yield "; ".join(f"{PARTS[name].head}: {PARTS[name].meaning}" for name in parts) + "."


def largest_parts(view: View) -> str:
    """The time to onLoad and its three largest parts, as a sentence has them."""
    longest = sorted(view.split_ns.items(), key=lambda part: -part[1])[:3]
    said = ", ".join(f"{number(time / _NS)} {PARTS[name].words}" for name, time in longest if time)
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
    return f"{PARTS[most].words} {_seconds(step.split[most])}"


def _seconds(time_ns: int) -> str:
    return f"{time_ns / _NS:.2f}" if time_ns else "0"
