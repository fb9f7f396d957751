"""`farweb plot`."""

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
    check_free,
    presented,
)
from farweb.errors import FarwebError


def plot(
    name: Annotated[
        str,
        typer.Argument(metavar="NAME", help="Name of a figure; 'list' tells what each shows and needs."),
    ],
    results: Annotated[
        list[str] | None,
        typer.Argument(metavar="RESULTS…", help="Folder of a run or a sweep; several runs are drawn together."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="A .png, .svg or .pdf file, or .html to zoom into; NAME.png in the results folder when left out.",
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FACTOR", help="Of a sweep: a series for each combination of levels of these; all when left out."
        ),
    ] = None,
    x: Annotated[
        str | None,
        typer.Option(
            "--x",
            metavar="NAME",
            help="Of a sweep: the factor or metric to draw against, such as presented_bps; the load when left out.",
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            "--metric",
            "-m",
            metavar="NAME",
            help="For latency-load and effects: what is drawn; latency_mean_s when left out.",
        ),
    ] = None,
    where: Annotated[
        list[str] | None,
        typer.Option(metavar="FACTOR=LEVEL", help="Of a sweep: draw this level only; again for further ones."),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(
            metavar="FACTOR=LEVEL", help="For latency-load: differences from this level, paired by replication."
        ),
    ] = None,
    connection: Annotated[
        list[int] | None,
        typer.Option(
            min=0,
            help="For timeseq and cwnd: the connection; that of the slowest request when left out. Again for a second "
            "one, side by side.",
        ),
    ] = None,
    request: Annotated[
        int | None,
        typer.Option(min=0, help="For timeseq and cwnd: the request whose connection is drawn; the slowest one."),
    ] = None,
    leg: Annotated[
        int | None,
        typer.Option(min=0, help="For timeseq and cwnd: the leg of that connection, 0 at the clients, when left out."),
    ] = None,
    link: Annotated[
        int | None,
        typer.Option(min=0, help="For link and buffer: the link, 0 at the clients; the busiest when left out."),
    ] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PART", help="For breakdown: a part to leave out, such as server; again for further ones."
        ),
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
    """Draw a figure from results, without simulating again.

    Examples:

        farweb plot size-latency results/cable results/satellite -o figure.png

        farweb plot timeseq results/satellite --connection 17

        farweb plot timeseq results/satellite --request 4

        farweb plot cwnd results/cable results/satellite --request 4

        farweb plot breakdown results/satellite --without server -o where.png

        farweb plot latency-load results/sweep --metric latency_p90_s -o figure.html

        farweb plot latency-load results/sweep --width 8cm --no-title -o paper.pdf

        farweb plot cdf results/sweep --label latency=wait --data cdf.csv

        farweb plot list
    """
    del debug
    from farweb.folders import open_results
    from farweb.plot import FIGURES, NAMES, draw
    from farweb.results.folder import figure_file

    output = Output(as_json, quiet)
    if name == "list":
        lines = (f"{figure:16} {kind.shows}\n{'':16} {kind.told}" for figure, kind in FIGURES.items())
        output.result(NAMES, "\n".join(lines))
        return
    presentation = presented(width, height, no_title=no_title, no_caption=no_caption, label=label)
    places = results or []
    opened = [open_results(place) for place in places]
    # Into an object store no figure goes unasked.
    folder = Path(places[0]) if places and "://" not in places[0] else Path()
    file = out or folder / figure_file(name)
    check_free(file, force=force)
    if data is not None:
        from farweb.plot import numbers

        numbers.check_target(data)
        check_free(data, force=force)
    chart = draw(
        name,
        opened,
        file,
        presentation=presentation,
        connection=connection or None,
        request=request,
        leg=leg,
        link=link,
        by=by or None,
        x=x,
        metric=metric,
        where=_levels(where or ()) or None,
        against=None if against is None else _level(against, "--against"),
        without=without or None,
    )
    if data is not None and chart.description is not None:
        numbers.write(chart.description, data)
    if as_json or not quiet:
        written = {"figure": name, "file": str(file), **({} if data is None else {"data": str(data)})}
        output.result(written, str(file) if data is None else f"{file}\n{data}")


def _levels(where: list[str] | tuple[()]) -> dict[str, list[str]]:
    """The levels of each factor that `--where` names."""
    levels: dict[str, list[str]] = {}
    for text in where:
        factor, level = _level(text, "--where")
        levels.setdefault(factor, []).append(level)
    return levels


def _level(text: str, option: str) -> tuple[str, str]:
    factor, equals, level = text.partition("=")
    if not equals or not factor or not level:
        raise FarwebError(f"{option} {text}: write FACTOR=LEVEL, for example {option} circuit=satellite")
    return factor.strip(), level.strip()
