"""`farweb studio`: opens farweb in a browser tab, with a scenario."""

import webbrowser
from pathlib import Path
from typing import Annotated

import typer

from farweb.cli.options import Debug, Force, Json, Output, Quiet, taken_free
from farweb.cli.runs import load


def studio(
    context: typer.Context,
    scenario: Annotated[
        Path | None,
        typer.Argument(metavar="[SCENARIO]", help="A scenario file (default: one to start from).", show_default=False),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="The file (default: NAME-studio.html beside the scenario)."),
    ] = None,
    no_open: Annotated[bool, typer.Option("--no-open", help="Write the file, and open no browser.")] = False,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Turn knobs and see the answer change: farweb in a browser tab, in one file that connects to nothing.

    The file holds the simulator, the scenario and up to 50,000 requests of its table: it works offline, from a disk or
    a mail, and whoever has it sees these requests. Without a scenario it begins with a satellite.

    Examples:

        farweb studio

        farweb studio satellite.toml

        farweb studio link.toml --no-open -o meeting.html
    """
    del debug
    from farweb.studio import write_studio
    from farweb.text.quantities import size

    output = Output(as_json, quiet)
    file = out or (Path("studio.html") if scenario is None else scenario.with_name(f"{scenario.stem}-studio.html"))
    context.with_resource(taken_free(file, force=force))
    written = write_studio(file, None if scenario is None else load(scenario, None))
    rows = "" if written.requests is None else f", with {written.requests:,} requests of its table inside"
    length = written.file.stat().st_size
    found = {"file": str(written.file), "requests": written.requests, "bytes": length}
    output.result(found, f"{written.file}: {size(length)}{rows}")
    if not no_open and not webbrowser.open(written.file.resolve().as_uri()):
        output.note("no browser was found: open the file in one")
