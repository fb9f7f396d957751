"""Sections that pages of runs and of sweeps share: the path, assumptions, warnings, how to reproduce."""

import json
import shlex
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

from farweb.report import page
from farweb.report.assumptions import assumptions, left_out
from farweb.report.page import Page, section
from farweb.report.path import draw_path, path_of, shape
from farweb.report.points import Point, warned
from farweb.text import toml
from farweb.text.sheet import Sheet


@dataclass(frozen=True)
class Asked:
    """The options of a report; see `farweb.report.report`."""

    title: str | None = None
    question: str | None = None
    metrics: Sequence[str] = ()
    plots: Sequence[str] = ()
    by: Sequence[str] = ()

    def page(
        self, question: str, subject: str, sections: Iterable[str], judged: Iterable[Mapping[str, Any]] = ()
    ) -> Page:
        """The page, with this question unless another one was asked, and the judgements that it is about."""
        asked = self.question or question
        return Page(self.title or asked, asked if self.title else "", subject, tuple(sections), tuple(judged))

    def command(self, *folders: str) -> str:
        """The command line that makes the report."""
        given = {"title": [self.title], "question": [self.question], "metric": self.metrics, "plot": self.plots}
        options = [
            f"--{name} {shlex.quote(value)}"
            for name, values in {**given, "by": self.by}.items()
            for value in values
            if value
        ]
        return " ".join(["farweb report", *map(shlex.quote, folders), *options])


def paths(points: Sequence[Point], called: Callable[[Sequence[Point]], str]) -> list[str]:
    """A drawing for each shape of path; points that differ in values only share one.

    Args:
        points: The simulated points.
        called: Says of some of the points what they are called.
    """
    shapes: dict[tuple[Any, ...], list[Point]] = {}
    for each in points:
        shapes.setdefault(shape(each), []).append(each)
    drawn = []
    for alike in shapes.values():
        in_words = " ".join(str(alike[0].figures["text"]).split())
        drawing = draw_path(path_of(alike), f"The path of {called(alike)}, in words: {in_words}")
        drawn.append(page.part(called(alike), drawing) if len(shapes) > 1 else drawing)
    if any(len(alike) > 1 for alike in shapes.values()):
        drawn.append(page.paragraph("In colour: what differs.", "note"))
    return drawn


def rests_on(points: Sequence[Point], more: Iterable[str], *parts: str) -> str:
    """Assumptions, and what the models leave out."""
    said = [*(assumptions(points) if points else ()), *more]
    out = page.part("What the models leave out", page.bullets(left_out(points)))
    return section("Assumptions", page.bullets(said), *parts, out)


def warnings(said: Iterable[str], points: Sequence[Point], where: Callable[[Sequence[Point]], str]) -> str:
    """Warnings about the results, then those of `farweb check`; see `farweb.report.points.warned`."""
    return section("Warnings", page.warnings([*said, *warned(points, where)]) or page.paragraph("None."))


def reproduction(lines: Sequence[str], ran: Sheet, manifests: Sequence[tuple[str, Mapping[str, Any]]]) -> str:
    """Commands, inputs and manifests with which these numbers are made again.

    Args:
        lines: The commands.
        ran: Their runs.
        manifests: With what each is of; that may be empty when there is no other.
    """
    files = {file["sha256"]: (what, file) for _, each in manifests for what, file in each["inputs"].items()}
    inputs = [[what, PurePath(str(file["file"])).name, sha256] for sha256, (what, file) in files.items()]
    folds = []
    for name, manifest in manifests:
        contents = {
            "scenario, as a file": toml.document(manifest["scenario"]).rstrip(),
            "manifest": json.dumps(manifest, indent=2, ensure_ascii=False),
        }
        of = f"{name}: " if name else ""
        folds += [page.folded(f"{of}{what}", page.commands([text])) for what, text in contents.items()]
    return section(
        "How to reproduce",
        page.paragraph(
            "The same scenario, seeds, request table and result version give the same tables, byte for byte. With what "
            "is folded below saved as scenario files, beside the tables that they name:"
        ),
        page.commands(lines),
        page.table(ran),
        page.table(Sheet("Input files", ["table", "file", "SHA-256"], inputs, names=3)),
        *folds,
        page.paragraph("Scenarios and manifests are in the page itself, and left out on paper.", "note paper"),
    )
