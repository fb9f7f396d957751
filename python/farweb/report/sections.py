"""Sections of all pages: the first screen, the path, assumptions, warnings, how to reproduce."""

import json
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from farweb.paint import document
from farweb.paint.document import Page, section
from farweb.paint.figure import Figure
from farweb.report.assumptions import assumptions, left_out
from farweb.report.drawing import draw_path
from farweb.report.path import path_of, shape, told_apart
from farweb.report.points import Point
from farweb.report.points import warnings as points_warnings
from farweb.report.words import extent
from farweb.text import toml
from farweb.text.quantities import share
from farweb.text.sheet import Part, Sheet

_SHORT = 7  # rows of a table above the figure. Chosen: a laptop shows both


@dataclass(frozen=True)
class Asked:
    """The options of a report (see `farweb.report.report`)."""

    title: str | None = None
    question: str | None = None
    metrics: Sequence[str] = ()
    plots: Sequence[str] = ()
    by: Sequence[str] = ()

    def page(
        self, question: str, subject: str, sections: Iterable[str], judged: Iterable[Mapping[str, Any]] = ()
    ) -> Page:
        """The page, under this question unless another one was asked, with its judgements."""
        asked = self.question or question
        return Page(self.title or asked, asked if self.title else "", subject, tuple(sections), tuple(judged))

    def command(self, *folders: str) -> str:
        """The command line of the report."""
        given = {"title": [self.title], "question": [self.question], "metric": self.metrics, "plot": self.plots}
        options = [
            f"--{name} {shlex.quote(value)}"
            for name, values in {**given, "by": self.by}.items()
            for value in values
            if value
        ]
        return " ".join(["farweb report", *map(shlex.quote, folders), *options])


def first_screen(parts: Sequence[Part], lead: Sequence[Figure], drawn: Sequence[str]) -> str:
    """The answer: its first line large, then the first table and a figure beside the path, then all others.

    A long table stands below the figure. Lines stand below a single path, or below the figure.

    Args:
        parts: A screen as the verbs print it.
        lead: The figure, or none.
        drawn: The path (see `paths`).
    """
    sheets = [place for place, part in enumerate(parts) if not isinstance(part, str)]
    first, last = (sheets[0], sheets[-1]) if sheets else (0, 0)
    begin, end = first + 1 if _is_short(parts[first]) else 1, last + 1
    if begin == end < len(parts) and str(parts[end]).startswith("…"):  # how many rows are left out
        begin = end = end + 1
    lines = document.screen(parts[end:])
    path, has_room = "".join(drawn), len(drawn) == 1
    left = [*document.screen(parts[1:begin]), *(document.figure(each, is_lead=True) for each in lead)]
    left += [] if has_room else lines
    right = "".join((path, *(lines if has_room else ())))
    beside = f'<div class="beside"><div>{"".join(left)}</div><div>{right}</div></div>' if left else right
    said = [*document.screen(parts[:1], "headline"), beside, *document.screen(parts[begin:end])]
    return f'<section class="answer">{"".join(said)}</section>'


def _is_short(part: Part) -> bool:
    """True of a table that leaves room for the figure."""
    return isinstance(part, Sheet) and len(part.rows) <= _SHORT


def paths(points: Sequence[Point], called: Callable[[Sequence[Point]], str]) -> list[str]:
    """A drawing for each shape of path; points that differ only in values share one.

    Args:
        points: The simulated points.
        called: Names some of the points.
    """
    shapes: dict[tuple[Any, ...], list[Point]] = {}
    for each in points:
        shapes.setdefault(shape(each), []).append(each)
    drawn = []
    for alike, path in zip(shapes.values(), told_apart([path_of(alike) for alike in shapes.values()]), strict=True):
        in_words = " ".join(str(alike[0].figures["text"]).split())
        drawing = draw_path(path, f"The path of {called(alike)}, in words: {in_words}")
        drawn.append(document.part(called(alike), drawing) if len(shapes) > 1 else drawing)
    if len(points) > 1:
        drawn[-1] += document.paragraph("In colour: what differs.", "note")
    return drawn


def rests_on(points: Sequence[Point], more: Iterable[str], *parts: str, loads: bool = False) -> str:
    """Assumptions, and effects that the models do not have.

    Args:
        points: The simulated points.
        more: Further assumptions.
        parts: HTML below them.
        loads: True of page loads.
    """
    said = [*(assumptions(points, loads=loads) if points else ()), *more, left_out(points, loads=loads)]
    return section("Assumptions", document.bullets(said), *parts)


def tunnels(shares: Iterable[float | None]) -> list[str]:
    """The part of tunnels in the load of runs with these shares, or nothing without tunnels."""
    known = [each for each in shares if each is not None]
    return [f"Tunnels are {extent(known, share)} of the load."] if any(known) else []


def warnings(said: Iterable[str], points: Sequence[Point], where: Callable[[Sequence[Point]], str]) -> str:
    """Warnings about the results, then `farweb check`'s (see `farweb.report.points.warnings`)."""
    return section("Warnings", document.warnings([*said, *points_warnings(points, where)]))


def reproduction(lines: Sequence[str], manifests: Mapping[str, Mapping[str, Any]]) -> str:
    """Commands, scenarios, manifests and inputs that reproduce these numbers.

    Args:
        lines: The commands.
        manifests: By the file of the scenario that the commands name.
    """
    files = {file["sha256"]: file for each in manifests.values() for file in each["inputs"].values()}
    inputs = [[PurePath(str(file["file"])).name, sha256] for sha256, file in files.items()]
    links = []
    for name, manifest in manifests.items():
        links.append(document.download(name, toml.document(manifest["scenario"])))
        text = json.dumps(manifest, indent=2, ensure_ascii=False)
        links.append(document.download(name.replace("scenario", "manifest").replace(".toml", ".json"), text))
    return section(
        "How to reproduce",
        document.paragraph("The same files and version give the same tables, byte for byte."),
        document.commands(lines),
        f"<p>In this page: {', '.join(links)}.</p>",
        document.table(Sheet("Input files", ["file", "SHA-256"], inputs, names=2)),
    )
