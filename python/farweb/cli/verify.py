"""`farweb verify`: checks that results are as they were written."""

from typing import Annotated

import typer

from farweb.cli.options import Debug, Json, Output, Quiet

_DAMAGED = 4


def verify(
    results: Annotated[
        str, typer.Argument(metavar="RESULTS", help="The results folder of a run or a sweep; of a sweep also a URL.")
    ],
    full: Annotated[
        bool,
        typer.Option("--full", help="Compare every byte with the digests in the manifests, not sizes and rows only."),
    ] = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Check that results are as they were written, and name each file that is missing or damaged.

    The exit code is 0 when all is whole, 4 when something is missing or damaged, a manifest included, 2 when there are
    no results, and 3 when the place cannot be read. The command that made the results repairs them. A sweep repeats
    only the damaged runs.

    Examples:

        farweb verify results/cable

        farweb verify results/sweep --full
    """
    del debug
    from farweb.results.integrity import verify

    output = Output(as_json, quiet)
    with output.progress("checking") as show:
        found = verify(results, full=full, progress=show)
    if as_json or not quiet or not found.whole:
        output.result(found.to_dict(), found.text)
    if not found.whole:
        raise typer.Exit(_DAMAGED)
