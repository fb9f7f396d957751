"""`farweb new`: writes a commented scenario to start from."""

from pathlib import Path
from typing import Annotated

import typer

from farweb.cli.options import Debug, Force, Json, Output, Quiet, check_free


def new(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The scenario to write, such as link.toml.")],
    path: Annotated[
        str, typer.Option(metavar="KIND", help="The long part of the path: geo, leo, cable, mobile, asymmetric.")
    ] = "geo",
    proxy: Annotated[
        str,
        typer.Option(
            metavar="KIND",
            help="none; split: connections end at the far end; mux: two proxies share a few connections.",
        ),
    ] = "none",
    log: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="LOG", help="A log to simulate, imported beside the scenario; may be given more than once."
        ),
    ] = None,
    format_: Annotated[
        str, typer.Option("--format", metavar="FORMAT", help="Of the log, as workload import has it.")
    ] = "auto",
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write a commented scenario to start from, with rates and delays from publications that it names.

    A log is imported with the defaults of workload import, into NAME-requests.parquet and NAME-hosts.tsv; without one
    the requests are those of a family of traces.

    Examples:

        farweb new geo.toml --log access.log.gz

        farweb new leo.toml --path leo --proxy mux
    """
    del debug
    from farweb.inputs.new import PATHS, PROXIES, files_of, new_scenario
    from farweb.scenario import Scenario

    for option, found, allowed in (("--path", path, tuple(PATHS)), ("--proxy", proxy, PROXIES)):
        if found not in allowed:
            raise typer.BadParameter(f"{option}: found {found}; write one of: {', '.join(allowed)}")
    check_free(*files_of(file, with_log=bool(log)), force=force)
    output = Output(as_json, quiet)
    with output.progress("importing") as show:
        written = new_scenario(
            file,
            path=path,
            proxy=proxy,
            log=log,
            format=format_,
            progress=lambda kept: show(kept, None, f"{kept:,} requests"),
        )
    warnings = Scenario.load(file).check().warnings
    if as_json:
        output.result({**written.to_dict(), "warnings": warnings}, "")
    elif written.imported is not None and not quiet:
        output.result({}, written.imported)
    for warning in warnings:
        output.note(f"warning: {warning}")
    output.note(f"The scenario is in {file}; farweb check {file} explains it, farweb run {file} simulates it.")
