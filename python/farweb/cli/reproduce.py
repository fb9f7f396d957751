"""`farweb reproduce`: simulates published studies again and checks their claims."""

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from farweb.cli.options import Debug, Jobs, Json, Output, Quiet
from farweb.errors import RunError
from farweb.extras import SWEEP, require
from farweb.files.atomic import taken

if TYPE_CHECKING:
    from farweb.reproduce import Progress

_NOT_MET = 4


class Format(StrEnum):
    """Formats of figures."""

    PNG = "png"
    SVG = "svg"
    PDF = "pdf"


def reproduce(
    context: typer.Context,
    studies: Annotated[
        list[str] | None, typer.Argument(metavar="[PAPER]…", help="Studies, such as cable (default: all).")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A coarse look: few loads and replications.")] = False,
    jobs: Jobs = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Folder (default: results/reproduce, or results/reproduce-quick).",
        ),
    ] = None,
    papers: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Folder of studies (default: those of farweb)."),
    ] = None,
    formats: Annotated[
        list[Format] | None,
        typer.Option("--format", help="Of figures; may be given several times (default: png)."),
    ] = None,
    reading: Annotated[
        str,
        typer.Option(
            metavar="NAME",
            help="Reading of what the papers leave open: A, as scenarios are written, or B, without figures.",
        ),
    ] = "A",
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Simulate published studies again: their figures, and a scoreboard of their claims.

    Writes figures, a page and the scoreboard into the folder. Finished runs are not repeated: the same command
    continues after an interruption. Ends with exit code 4 when a claim is not met, after all is written.

    Examples:

        farweb reproduce --quick

        farweb reproduce cable satellite --jobs 8 --format svg
    """
    del debug
    require("farweb reproduce", *SWEEP)
    from farweb.reproduce import MARKDOWN, PAGE, PAPERS, find_studies
    from farweb.reproduce import reproduce as run

    found = find_studies(papers or PAPERS, studies or [], reading)
    folder = out or Path("results") / (
        "reproduce" + ("" if reading == "A" else f"-{reading}") + ("-quick" if quick else "")
    )
    context.with_resource(taken(folder))
    output = Output(as_json, quiet)
    with output.progress("reproducing") as show:

        def on_progress(now: "Progress") -> None:
            failed = f", {now.failed:,} failed" if now.failed else ""
            show(now.ended, now.total, f"{now.sweep}: {now.ended:,} of {now.total:,} runs{failed}")

        with output.continuing(folder):
            done = run(
                found,
                folder,
                quick=quick,
                jobs=jobs,
                formats=[each.value for each in formats or [Format.PNG]],
                progress=on_progress,
            )
    if as_json or not quiet:
        output.result(done.board.to_dict(), done.board)
    output.note(f"wrote {folder / PAGE}: {done.runs:,} simulations; {folder / MARKDOWN} to paste")
    if done.failures:
        sweep, error = done.failures[0]
        raise RunError(f"{len(done.failures):,} runs failed, the first in {sweep} with: {error}")
    if done.board.failed:
        raise typer.Exit(_NOT_MET)
