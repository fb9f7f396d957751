"""`farweb export`: writes recorded packets and page loads for other programs."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from farweb.cli.help import Verb
from farweb.cli.options import Debug, Force, Json, Output, Quiet, group, taken_free
from farweb.text.words import plural

if TYPE_CHECKING:
    from farweb.results.export import Exported

app = group("Write recorded packets, and loads of pages, for other programs.")

ResultsFolder = Annotated[
    Path, typer.Argument(metavar="RESULTS", help="A results folder with packets (record.packets).")
]


@app.command(cls=Verb)
def pcapng(
    context: typer.Context,
    results: ResultsFolder,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="The file (default: packets.pcapng in the folder)."),
    ] = None,
    connection: Annotated[int | None, typer.Option(min=0, help="Only this connection (default: all recorded).")] = None,
    point: Annotated[
        list[str] | None,
        typer.Option(
            help="Where packets were seen: a node or a link, such as 'link 0', or 'all'; may be given more than once. "
            "Default: the node nearest to the servers."
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
    connection at every point. Options, flags, windows and times (in nanoseconds since its start) are the run's. Each
    point is an interface. Most programs take a packet seen at two points for a retransmission.

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
            progress=show,
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
        typer.Option("--out", "-o", metavar="FILE", help="The file (default: timeseq.xpl in the folder)."),
    ] = None,
    connection: Annotated[
        int | None, typer.Option(min=0, help="The connection (default: the slowest request's).")
    ] = None,
    point: Annotated[
        str | None,
        typer.Option(help="Where packets were seen: a node or a link (default: the sender of the data)."),
    ] = None,
    direction: Annotated[
        Literal["up", "down"] | None,
        typer.Option(help="Which way the data go (default: the way of most of the payload)."),
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
            progress=show,
        )
    _print(output, exported, quiet)


@app.command(cls=Verb)
def har(
    context: typer.Context,
    results: Annotated[Path, typer.Argument(metavar="RESULTS", help="Results that farweb page -o wrote.")],
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="FILE", help="The file (default: page.har in the folder)."),
    ] = None,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write a page load as a HAR, like a browser's recording over the simulated path.

    Viewers of HARs, the developer tools of browsers among them, show its waterfall, and farweb page takes it again.

    Examples:

        farweb export har results/shop -o shop-geo.har
    """
    del debug
    from farweb.folders import Results
    from farweb.results.folder import HAR
    from farweb.results.har import export_har

    output = Output(as_json, quiet)
    opened = Results.open(results)
    file = out or opened.path / HAR
    context.with_resource(taken_free(file, force=force))
    entries = export_har(opened, file)
    if as_json or not quiet:
        output.result({"file": str(file), "entries": entries}, f"{file}: {plural(entries, 'request')}")


def _print(output: Output, exported: "Exported", quiet: bool) -> None:
    written = {
        "file": str(exported.file),
        "packets": exported.packets,
        "points": list(exported.points),
        "connection": exported.connection,
    }
    if output.as_json or not quiet:
        output.result(written, f"{exported.file}: {exported.packets:,} packets at {', '.join(exported.points)}")
