"""`farweb plot`."""

from pathlib import Path
from typing import Annotated

import typer

from farweb.cli.options import Debug, Json, Output, Quiet


def plot(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="size-latency, cdf, link, timeseq, cwnd; 'list' tells what each shows."),
    ],
    results: Annotated[
        list[Path] | None,
        typer.Argument(metavar="RESULTS…", help="Results folders; several are drawn together."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="A .png, .svg or .pdf file; NAME.png in the folder when left out.",
        ),
    ] = None,
    connection: Annotated[
        int | None,
        typer.Option(min=0, help="For timeseq and cwnd: the connection; that of the slowest request when left out."),
    ] = None,
    link: Annotated[
        int | None, typer.Option(min=0, help="For link: the link, 0 at the clients; the busiest when left out.")
    ] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Draw a figure from results, without simulating again.

    Examples:

        farweb plot size-latency results/cable results/satellite -o figure.png

        farweb plot timeseq results/satellite --connection 17

        farweb plot list
    """
    del debug
    from farweb.plot import NAMES, draw
    from farweb.results import Results

    output = Output(as_json, quiet)
    if name == "list":
        output.result(NAMES, "\n".join(f"{figure:14} {what}" for figure, what in NAMES.items()))
        return
    opened = [Results.open(path) for path in results or ()]
    file = out or (opened[0].path if opened else Path()) / f"{name}.png"
    draw(name, opened, file, connection=connection, link=link)
    if as_json or not quiet:
        output.result({"figure": name, "file": str(file)}, str(file))
