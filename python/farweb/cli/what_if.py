"""`farweb what-if`: changes ranked by the time that each saves."""

import contextlib
from pathlib import Path
from typing import Annotated, Any

import typer

from farweb.cli.importing import given_options, takes_import_options
from farweb.cli.options import Debug, Jobs, Json, NoLimits, Output, Quiet
from farweb.cli.runs import Settings, changes_of


@takes_import_options
def what_if(
    context: typer.Context,
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.har|SCENARIO|LOG",
            help="A HAR, a scenario file (.toml), or a log or request table, which is simulated over a path.",
            show_default=False,
        ),
    ],
    path: Annotated[
        str | None,
        typer.Option(metavar="PATH", help="Of a HAR or a log: geo, leo, cable, mobile, … (default: geo)."),
    ] = None,
    number: Annotated[
        int | None,
        typer.Option("--page", min=1, metavar="N", help="Of a HAR: which page (default: the first)."),
    ] = None,
    settings: Settings = None,
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="N", help="Draws of the path, and of a page's think times (default: 5 where some is drawn)."
        ),
    ] = None,
    jobs: Jobs = None,
    out: Annotated[
        str | None,
        typer.Option(
            "--out",
            "-o",
            metavar="DIR",
            help="Results folder of a log or scenario (default: results/NAME-what-if).",
        ),
    ] = None,
    no_limits: NoLimits = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
    *,
    importing: dict[str, Any],
) -> None:
    """Say what to change first: protocols, TLS, windows, connections, an edge, servers, each with its saving.

    Runs the page or the requests as they are, with each change, and with the best ones together. Changes that are there
    already or have no place are named and left out.

    Examples:

        farweb what-if shop.har --path geo

        farweb what-if access.log.gz --path starlink

        farweb what-if access.log --log-format '$remote_addr [$time_local] "$request" $status $bytes_sent'

        farweb what-if satellite.toml --set leg.0.tls='{ version = "1.2" }'
    """
    del debug
    from farweb.errors import ScenarioError
    from farweb.inputs.new import table_of
    from farweb.pages.har import is_har
    from farweb.whatif.what_if import folder_of
    from farweb.whatif.what_if import what_if as asked

    output = Output(as_json, quiet)
    given = given_options(context)
    is_page = is_har(file)
    if given and (is_page or file.suffix == ".toml" or table_of([file], importing) is not None):
        raise typer.BadParameter(f"{given[0]}: is of logs, and {file} is none")
    with (
        contextlib.nullcontext() if is_page else output.continuing(folder_of(file, out)),
        output.progress("loading the page" if is_page else "simulating") as show,
    ):
        try:
            answer = asked(
                file,
                path=path,
                page=number,
                settings=changes_of(settings),
                seeds=seeds,
                out=out,
                jobs=jobs,
                limits=not no_limits,
                progress=show,
                **(importing if given else {}),
            )
        except ScenarioError as error:
            raise (error.__cause__ or error) from None  # which says --set, as it was typed
    output.result(answer.to_dict(), answer)
    if answer.results is not None:
        output.note(f"wrote {answer.results}")
