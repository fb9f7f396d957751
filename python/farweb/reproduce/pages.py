"""Writes the pages of a campaign: the scoreboard and all figures, as HTML and as Markdown."""

from collections.abc import Sequence
from pathlib import Path

from farweb import _core
from farweb.files.atomic import write_text
from farweb.paint import document
from farweb.paint.document import Page, section
from farweb.reproduce.claims import Verdict
from farweb.reproduce.drawing import Drawn
from farweb.reproduce.scoreboard import Scoreboard, measured_text
from farweb.reproduce.study import StudyResults
from farweb.text.sheet import Sheet


def html_page(results: Sequence[StudyResults], board: Scoreboard, drawn: Sequence[Drawn]) -> Page:
    """The page of a campaign."""
    sections = [document.paragraph(f"{board.text}.", "headline")]
    for each in results:
        study, mine = each.study, board.of(each.study)
        figures = [figure for figure in drawn if figure.study == study.name]
        sections.append(
            section(
                study.title,
                document.paragraph(study.question, "question"),
                document.paragraph(study.source, "note"),
                document.table(mine.sheet(f"Claims: {mine.text}")),
                document.bullets(
                    f"{verdict.claim.id} {verdict.verdict}: {verdict.why}" for verdict in mine.verdicts if verdict.why
                ),
                document.folded("How each claim is measured, and all that was measured", document.table(details(mine))),
                *(figure.html for figure in figures if figure.html),
                document.bullets(f"figure {figure.name}: {figure.why}" for figure in figures if figure.why),
            )
        )
    return Page("Published studies, reproduced", "", _subject(results), tuple(sections))


def details(board: Scoreboard) -> Sheet:
    """A row a measurement, with the bound that it has to meet and how it was made."""
    rows = []
    for verdict in board.verdicts:
        rows += _measurements(verdict)
    return Sheet("Measurements", ["", "how", "of", "bound", "measured"], rows, names=4)


def _measurements(verdict: Verdict) -> list[list[str]]:
    claim = verdict.claim
    rows = []
    for each in verdict.all:
        lines = measured_text(each, claim.unit).splitlines()
        value = "\n".join(line for line in lines if line != each.what)
        bound = "decides nothing" if each.beside else claim.bound(each.bound).text
        rows.append([claim.id, claim.how, each.what, bound, value])
    return rows or [[claim.id, claim.how, "", "", "–"]]


def _subject(results: Sequence[StudyResults]) -> str:
    runs = sum(len(each.sweep(sweep.name).runs) for each in results for sweep in each.study.sweeps)
    coarse = " · coarse look (--quick)" if any(each.quick for each in results) else ""
    return f"{runs:,} simulations · farweb {_core.version}{coarse}"


def write_markdown(results: Sequence[StudyResults], board: Scoreboard, drawn: Sequence[Drawn], out: Path) -> None:
    """Write the scoreboard with links to the figures as Markdown.

    Raises:
        RunError: The place cannot be written to.
    """
    lines = ["# Published studies, reproduced", "", f"{_subject(results)}. {board.text}.", ""]
    for each in results:
        lines += [f"## {each.study.title}", "", each.study.question, "", board.of(each.study).markdown(), ""]
        for figure in drawn:
            if figure.study == each.study.name and figure.files:
                file = figure.files[0].relative_to(out.parent)
                lines += [f"![figure {figure.name}]({file.as_posix()})", ""]
    write_text(out, "\n".join(lines))
