"""`farweb export`: writes recorded packets for other programs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from farweb.cli.help import Verb
from farweb.cli.options import Debug, Force, Json, Output, Quiet, group, taken_free

if TYPE_CHECKING:
    from farweb.results.export import Exported

app = group("Write recorded packets for other programs.")

ResultsFolder = Annotated[
    Path, typer.Argument(metavar="RESULTS", help="A results folder with packets (record.packets).")
]


@app.command(cls=Verb)
def pcapng(
    context: typer.Context,
    results: ResultsFolder,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="The file; packets.pcapng in the folder when left out."),
    ] = None,
    connection: Annotated[
        int | None, typer.Option(min=0, help="Only this connection; all that were recorded when left out.")
    ] = None,
    point: Annotated[
        list[str] | None,
        typer.Option(
            help="Where packets were seen: a node or a link, such as 'link 0', or 'all'; may be given more than once. "
            "The node nearest to the servers when left out."
        ),
    ] = None,
    payload: Annotated[
        bool,
        typer.Option(
            "--payload",
            help="Write payload too, frames of HTTP/2 and W3C MUX where the run recorded them and else zeros, so that "
            "TCP checksums can be verified.",
        ),
    ] = False,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write a capture that Wireshark, tshark and tcpdump read.

    Packets begin with their IPv4 header. Addresses, ports and initial sequence numbers are made up, the same for a
    connection wherever it is seen; options, flags, windows and times are those of the run, in nanoseconds since its
    start. Each point is an interface; most programs take what they see at two points for retransmissions.

    Examples:

        farweb export pcapng results/satellite -o satellite.pcapng

        farweb export pcapng results/satellite --connection 0 --payload
    """
    del debug
    from farweb.folders import Results
    from farweb.results.export import capture_points, export_pcapng
    from farweb.results.folder import CAPTURE

    output = Output(as_json, quiet)
    opened = Results.open(results)
    file = out or opened.path / CAPTURE
    context.with_resource(taken_free(file, force=force))
    points = list(capture_points(opened)) if point and "all" in point else point
    with output.progress("writing packets") as show:
        exported = export_pcapng(
            opened,
            file,
            connection=connection,
            points=points,
            payload=payload,
            progress=lambda done, total: show(done, total, f"{done:,} of {total:,} rows"),
        )
    _print(output, exported, quiet)
    others = [name for name in capture_points(opened) if name not in exported.points]
    if others:
        output.note(f"Packets were also recorded at {', '.join(others)}; --point selects where.")


@app.command(cls=Verb)
def xpl(
    context: typer.Context,
    results: ResultsFolder,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="The file; timeseq.xpl in the folder when left out."),
    ] = None,
    connection: Annotated[
        int | None, typer.Option(min=0, help="The connection; that of the slowest request when left out.")
    ] = None,
    point: Annotated[
        str | None,
        typer.Option(help="Where packets were seen: a node or a link; the sender of the data when left out."),
    ] = None,
    direction: Annotated[
        Literal["up", "down"] | None,
        typer.Option(help="Which way the data go; the way of most of the payload when left out."),
    ] = None,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write a time–sequence plot of a connection that xplot and jPlot open, with the colours and signs of tcptrace.

    Where a carrier has credits, a blue stair shows how far they allow to send, beside the yellow one of the window.

    Examples:

        farweb export xpl results/satellite --connection 0

        farweb export xpl results/satellite --direction up -o up.xpl
    """
    del debug
    from farweb.folders import Results
    from farweb.results.export import export_xpl
    from farweb.results.folder import TIMESEQ

    output = Output(as_json, quiet)
    opened = Results.open(results)
    file = out or opened.path / TIMESEQ
    context.with_resource(taken_free(file, force=force))
    with output.progress("writing packets") as show:
        exported = export_xpl(
            opened,
            file,
            connection=connection,
            point=point,
            direction=direction,
            progress=lambda done, total: show(done, total, f"{done:,} of {total:,} rows"),
        )
    _print(output, exported, quiet)


def _print(output: Output, exported: "Exported", quiet: bool) -> None:
    written = {
        "file": str(exported.file),
        "packets": exported.packets,
        "points": list(exported.points),
        "connection": exported.connection,
    }
    if output.as_json or not quiet:
        output.result(written, f"{exported.file}: {exported.packets:,} packets at {', '.join(exported.points)}")
