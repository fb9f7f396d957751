"""`farweb demo`."""

from pathlib import Path
from typing import Annotated

import typer

from farweb.cli.options import Debug
from farweb.extras import SWEEP, require


def demo(
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="DIR", help="Folder; an earlier demonstration in it is replaced."),
    ] = Path("results/demo"),
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

    from farweb.demo import main

    main(out, Console())
