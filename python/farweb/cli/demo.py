"""`farweb demo` simulates a small log over two paths, with figures and reports."""

from pathlib import Path
from typing import Annotated

import typer

from farweb.cli.options import Debug, Json, Output, Quiet
from farweb.extras import SWEEP, require
from farweb.files.atomic import taken


def demo(
    context: typer.Context,
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="DIR", help="Folder; an earlier demonstration in it is replaced."),
    ] = Path("results/demo"),
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Simulate a small proxy log over a sea cable and over a satellite, and sweep a slow line.

    Ends with tables, figures and two reports, and says where they are, and where the examples are that come with
    farweb. Takes less than a minute on two cores.

    Examples:

        farweb demo

        farweb demo --out /tmp/demo
    """
    del debug
    require("farweb demo", *SWEEP)
    from rich.console import Console

    from farweb.cli.demonstration import EXAMPLES, main

    context.with_resource(taken(out))
    reports = main(out, Console(quiet=quiet or as_json))
    if as_json:
        found = {"results": str(out), "reports": list(map(str, reports)), "examples": str(EXAMPLES)}
        Output(as_json, quiet).result(found, "")
