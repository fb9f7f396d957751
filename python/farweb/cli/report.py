"""`farweb report`: writes a page of results for a decision."""

from pathlib import Path
from typing import Annotated

import typer

from farweb.cli.figures import figure_names
from farweb.cli.options import Debug, Force, Json, Output, Quiet, taken_free


def report(
    context: typer.Context,
    results: Annotated[
        list[str],
        typer.Argument(
            metavar="RESULTS…",
            help="The folder of a sweep, also a URL, or folders of runs to set beside one another.",
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="The page (default: report.html in the (first) folder)."),
    ] = None,
    title: Annotated[str | None, typer.Option(metavar="TEXT", help="Heading (default: the question).")] = None,
    question: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What the page answers (default: made from the design).")
    ] = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            "-m",
            metavar="NAME",
            help="A metric, the one that matters most first; may be given more than once.",
        ),
    ] = None,
    plot: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="A figure, instead of those that suit; may be given more than once.",
            autocompletion=figure_names,
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(metavar="FACTOR", help="For a sweep: a factor of the table; the others are pooled. Repeatable."),
    ] = None,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write a page for a decision: the question, the answer in numbers, the path, figures, assumptions.

    One HTML file with everything inside it: it opens without a network, on a phone and on paper. Nothing is simulated.

    Examples:

        farweb report results/satellite

        farweb report results/cable results/satellite --question "Is cable better?"
    """
    del debug
    from farweb.library.folders import open_results
    from farweb.report import report as report_of
    from farweb.results.folder import REPORT

    output = Output(as_json, quiet)
    file = out or (Path() if "://" in results[0] else Path(results[0])) / REPORT
    opened = [open_results(path) for path in results]
    context.with_resource(taken_free(file, force=force))
    page = report_of(
        opened,
        title=title,
        question=question,
        metrics=metric or (),
        plots=plot or (),
        by=by or (),
    )
    page.write(file)
    if as_json or not quiet:
        written = {"report": str(file), "title": page.title, "bytes": file.stat().st_size, "judged": page.judged}
        output.result(written, f"wrote {file}: {page.title}")
