"""`farweb compare`: compares runs of the same requests, request by request."""

from pathlib import Path
from typing import Annotated

import typer

from farweb.cli.options import (
    Data,
    Debug,
    Force,
    Height,
    Json,
    Label,
    NoCaption,
    NoTitle,
    Output,
    Quiet,
    Width,
    presented,
    taken_free,
)
from farweb.errors import FarwebError


def compare(
    context: typer.Context,
    results: Annotated[
        list[str],
        typer.Argument(metavar="RESULTS…", help="Folders of runs, compared with the first; or of one sweep."),
    ],
    point: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FACTOR=LEVEL",
            help="Points of a sweep: --point load=1 --point load=9; the first is the base, and `and` joins levels: "
            "'circuit=cable and load=9'.",
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GROUPS|QUANTITY",
            help="visit or client: compare first and later requests of visits, or clients. Or what decides instead of "
            "the rule: p95, mean, 'within(5 s)' …; may be given more than once.",
        ),
    ] = None,
    margin: Annotated[
        str,
        typer.Option(metavar="SHARE", help="Relative difference up to which two are equivalent; of shares a tenth."),
    ] = "5%",
    base: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="The run to compare with: the first, and of several the best, if left out."),
    ] = None,
    details: Annotated[
        bool, typer.Option("--details", help="Quantiles and differences with their intervals, and what these rest on.")
    ] = False,
    sizes: Annotated[bool, typer.Option("--sizes", help="Differences by response size.")] = False,
    causes: Annotated[bool, typer.Option("--causes", help="Differences by part of the latency.")] = False,
    pairs: Annotated[bool, typer.Option("--pairs", help="The verdict on each pair of several runs.")] = False,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="Draw the differences: a .png, .svg, .pdf or .html file."),
    ] = None,
    width: Width = None,
    height: Height = None,
    no_title: NoTitle = False,
    no_caption: NoCaption = False,
    label: Label = None,
    data: Data = None,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Compare runs of the same requests, request by request.

    Names the better one, by how much and for whom. A request that fails in one run only is slower there. In a sweep,
    runs are paired that differ only in the levels named. Loads of pages (farweb page -o) are compared by onLoad.

    Examples:

        farweb compare results/link results/larger-buffers

        farweb compare results/link results/proxy --by visit --by p99

        farweb compare results/link results/proxy results/mux --margin 10%

        farweb compare results/link results/proxy results/mux -o differences.png

        farweb compare results/circuits --point leg.0.tcp.profile=bsd44-lite --point leg.0.tcp.profile=linux

        farweb compare results/circuits --point "circuit=cable and workload.load=9" --point "circuit=satellite and workload.load=9"
    """  # noqa: E501 - a command line stays on a line
    del debug
    from farweb.comparison import compare as compared
    from farweb.pages.breakdown import PageLoads
    from farweb.paint import chart, numbers
    from farweb.paint.presentation import Presentation

    presentation = presented(width, height, no_title=no_title, no_caption=no_caption, label=label)
    if out is None and (presentation != Presentation() or data is not None):
        raise FarwebError("options of a figure were given, but no figure is drawn; name its file with -o")
    if out is not None:
        chart.check_target(out)
    if data is not None:
        numbers.check_target(data)
    context.with_resource(taken_free(out, data, force=force))
    output = Output(as_json, quiet)
    if loads := PageLoads.of(results):
        if any((point, by, base, out, details, sizes, causes, pairs)):
            raise FarwebError("loads of pages are compared by onLoad alone; leave the other options out")
        output.result({"results": results, **loads.to_dict()}, loads)
        return
    found = compared(
        *results, points=[_levels(text) for text in point] if point else None, by=by, margin=_share(margin), base=base
    )
    asked = {"details": details, "sizes": sizes, "causes": causes, "pairs": pairs}
    if out is not None:
        from farweb.comparison.figure import describe
        from farweb.paint import paper

        drawn = paper.draw(describe(found), out, presentation)
        if data is not None:
            numbers.write(drawn.description, data)
    figure = {} if out is None else {"figure": str(out), **({} if data is None else {"data": str(data)})}
    output.result(
        {"results": results, **figure, **found.to_dict()},
        found.screen([name for name, is_asked in asked.items() if is_asked]),
    )
    if out is not None:
        output.note(f"wrote {out}{drawn.shortage and f'; {drawn.shortage}'}")


def _share(text: str) -> float:
    """Read a share in percent, ``5%``, or as a number, ``0.05``."""
    try:
        return float(text.removesuffix("%").strip()) / (100 if text.endswith("%") else 1)
    except ValueError:
        raise FarwebError(f"--margin {text}: write a share, such as 5% or 0.05") from None


def _levels(text: str) -> dict[str, str]:
    """Read the levels that name a point."""
    levels = {}
    for clause in text.split(" and "):
        factor, equals, level = clause.partition("=")
        if not equals or not factor.strip() or not level.strip():
            raise FarwebError(
                f"--point {text}: write FACTOR=LEVEL, several joined by `and`, such as --point 'circuit=cable and "
                "workload.load=9'"
            )
        levels[factor.strip()] = level.strip()
    return levels
