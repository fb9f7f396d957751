"""`farweb workload merge`: merges request tables into one, and host tables into another."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from farweb.cli.options import Debug, Force, Json, Output, Quiet, taken_free
from farweb.text.words import command

if TYPE_CHECKING:
    from rich.console import RenderableType


def merge(
    context: typer.Context,
    tables: Annotated[list[Path], typer.Argument(metavar="TABLE…", help="Request tables, a day each, in their order.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="The request table, a .parquet file.")],
    align: Annotated[
        str,
        typer.Option(
            help="start: each table's first request is at 0; day: by the time of day; none: starts stay as they are."
        ),
    ] = "start",
    tag: Annotated[
        list[str] | None,
        typer.Option(metavar="TAG=NUMBER", help="Tag the requests of a table, by its number: sample=1."),
    ] = None,
    hosts: Annotated[
        list[Path] | None, typer.Option(metavar="FILE", help="A host table; may be given more than once.")
    ] = None,
    hosts_out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="The merged host table: .tsv, .csv or .parquet.")
    ] = None,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Merge request tables into one by start time, with a column for the day, and host tables into another.

    For a host in several tables the first one counts. Disagreements about MSS or window are listed.

    Examples:

        farweb workload merge mon.parquet tue.parquet -o days.parquet

        farweb workload merge mon.parquet tue.parquet --tag sample=1 -o days.parquet
    """
    del debug
    from farweb.errors import WorkloadError
    from farweb.inputs.merge import merge_hosts, merge_requests

    if bool(hosts) != (hosts_out is not None):
        raise WorkloadError("--hosts and --hosts-out belong together: the host tables to merge, and the file to write")
    context.with_resource(taken_free(out, hosts_out, force=force))
    output = Output(as_json, quiet)
    with output.progress("merging") as show:
        report = merge_requests(
            tables,
            out,
            align=align,
            tags=dict(map(_tag, tag or [])),
            progress=show,
        )
    merged = merge_hosts(hosts, hosts_out) if hosts and hosts_out is not None else None
    if as_json or not quiet:
        output.result({**report.to_dict(), "hosts": merged and merged.to_dict()}, _shown(report, merged))
    output.note(f"wrote {report.out}    next: {command('workload', 'stats', report.out)}")


def _shown(*parts: "RenderableType | None") -> "RenderableType":
    from rich.console import Group

    return Group(*(part for part in parts if part is not None))


def _tag(text: str) -> tuple[str, int]:
    from farweb.errors import WorkloadError

    name, _, number = text.partition("=")
    if not name or not (number.isascii() and number.isdigit()):
        raise WorkloadError(f"--tag {text}: write a tag and the number of a table, for example sample=1")
    return name, int(number)
