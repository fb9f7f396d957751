"""`farweb reproduce`: simulates published studies again and checks their claims."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from farweb.cli.verbs import Call, verb
from farweb.errors import RunError
from farweb.extras import SWEEP, require
from farweb.files.atomic import taken

if TYPE_CHECKING:
    from farweb.reproduce import Progress

_NOT_MET = 4


@verb(
    "reproduce:reproduce",
    writes=False,
    studies="PAPER…",
    formats="--format FORMAT",
    reading="--reading NAME",
    papers="--papers DIR",
    out="--out -o DIR",
)
def reproduce(
    call: Call, studies: Sequence[str] = (), *, out: Path | None = None, papers: Path | None = None, reading: str = "A"
) -> int:
    """Simulate published studies again: their figures, and a scoreboard of their claims.

    Writes figures, a page and the scoreboard into the folder. Finished runs are not repeated: the same command
    continues after an interruption. Ends with exit code 4 when a claim is not met, after all is written.

    Args:
        studies: Studies, such as cable (default: all).
        out: Folder (default: results/reproduce, or results/reproduce-quick).
        papers: Folder of studies (default: those of farweb).
        reading: Reading of what the papers leave open: A, as scenarios are written, or B, without figures.

    Examples:

        farweb reproduce --quick

        farweb reproduce cable satellite --jobs 8 --format svg
    """
    require("farweb reproduce", *SWEEP)
    from farweb.reproduce import MARKDOWN, PAGE, PAPERS, find_studies
    from farweb.reproduce import reproduce as run

    found = find_studies(papers or PAPERS, studies, reading)
    parts = ["reproduce", *([] if reading == "A" else [reading]), *(["quick"] if "quick" in call.given else [])]
    folder = out or Path("results") / "-".join(parts)
    call.held.enter_context(taken(folder))
    with call.progress("reproducing") as show, call.continuing(folder):

        def on_progress(now: "Progress") -> None:
            failed = f", {now.failed:,} failed" if now.failed else ""
            show(now.ended, now.total, f"{now.sweep}: {now.ended:,} of {now.total:,} runs{failed}")

        done = run(found, folder, progress=on_progress, **call.of(run))
    call.says(done.board)
    call.note(f"wrote {folder / PAGE}: {done.runs:,} simulations; {folder / MARKDOWN} to paste")
    if done.failures:
        sweep, error = done.failures[0]
        raise RunError(f"{len(done.failures):,} runs failed, the first in {sweep} with: {error}")
    return _NOT_MET if done.board.failed else 0
