"""Simulates published studies again: draws their figures and keeps a scoreboard of their claims.

A study is a folder of `papers/`, with scenarios, claims and figures of its own (`study`). `campaign` does the runs,
`curves` reads values off curves as papers do, `claims` and `scoreboard` judge, `drawing` makes the figures.
"""

import functools
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from farweb.errors import FarwebError
from farweb.files.atomic import write_text
from farweb.progress import unseen
from farweb.reproduce.campaign import Progress, failures, run_studies
from farweb.reproduce.reading import AS_WRITTEN
from farweb.reproduce.scoreboard import Scoreboard, judge_study, together
from farweb.reproduce.study import PAPERS, Study, find_studies
from farweb.sweep.workers import Workers

if TYPE_CHECKING:
    from farweb.reproduce.drawing import Drawn

__all__ = ["PAPERS", "Progress", "Reproduced", "Scoreboard", "Study", "find_studies", "reproduce"]

FORMATS = ("png", "svg", "pdf")
PAGE = "reproduction.html"
MARKDOWN = "scoreboard.md"
JSON = "scoreboard.json"


@dataclass(frozen=True)
class Reproduced:
    """Results of a campaign.

    Attributes:
        path: Its folder.
        board: The verdicts.
        drawn: The figures.
        runs: How many simulations it has.
        failures: Runs that failed: the sweep, and the error.
    """

    path: Path
    board: Scoreboard
    drawn: "tuple[Drawn, ...]"
    runs: int
    failures: tuple[tuple[str, str], ...]


def reproduce(
    studies: Sequence[Study],
    out: str | Path,
    *,
    quick: bool = False,
    jobs: int | None = None,
    formats: Sequence[str] = ("png",),
    progress: Callable[[Progress], None] = unseen,
) -> Reproduced:
    """Do the runs of studies that are missing in a folder, draw their figures there and judge their claims.

    The folder gets ``STUDY/SWEEP/`` with results, ``figures/``, the page, and the scoreboard as Markdown and JSON.

    Args:
        studies: Which (`find_studies`).
        out: The folder.
        quick: A coarse look: few loads and replications.
        jobs: Runs at a time, a process each (default: as many as cores).
        formats: Of figures: png, svg, pdf; may be given several times (default: png).
        progress: Called some ten times a second.

    Raises:
        FarwebError: A study's file is wrong, or a format is none.
        ResultsError: There is something else in the folder.
        RunError: The folder cannot be written to. Finished runs stay.
    """
    from farweb.reproduce.drawing import draw_figure
    from farweb.reproduce.pages import html_page, write_markdown

    for each in formats:
        if each not in FORMATS:
            raise FarwebError(f"--format: found {each}; write one of: {', '.join(FORMATS)}")
    folder = Path(out)
    for study in studies:
        study.measures, study.figures  # noqa: B018 - raises for a mistake in them before the runs, not after
    with Workers(jobs) as workers:
        results = run_studies(studies, folder, quick=quick, workers=workers, progress=progress)
        figures = [(each, name) for each in results if each.study.reading == AS_WRITTEN for name in each.study.figures]
        draw = functools.partial(draw_figure, out=folder / "figures", formats=formats)
        drawing = workers.map(draw, [each for each, _ in figures], [name for _, name in figures])
        board = together(judge_study(each) for each in results)
        drawn = tuple(drawing)
    html_page(results, board, drawn).write(folder / PAGE)
    write_markdown(results, board, drawn, folder / MARKDOWN)
    write_text(folder / JSON, json.dumps(board.to_dict(), indent=2, ensure_ascii=False) + "\n")
    runs = sum(len(each.sweep(sweep.name).runs) for each in results for sweep in each.study.sweeps)
    return Reproduced(folder, board, drawn, runs, tuple(failures(results)))
