"""`farweb workload probe`: makes a host table from captures, or from hosts as they answer now."""

from pathlib import Path
from typing import Annotated

import typer

from farweb.cli.options import Debug, Force, Json, Output, Quiet, taken_free


def probe(
    context: typer.Context,
    captures: Annotated[
        list[Path] | None, typer.Argument(metavar="CAPTURE…", help="Captures: pcap or pcapng, plain or gzip.")
    ] = None,
    hosts: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Names of addresses: a line an address and its names.")
    ] = None,
    connect: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Capture connections to these hosts now: a line a name, address or host:port."
        ),
    ] = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FILE", help="The host table: .tsv, .csv or .parquet.")
    ] = Path("hosts.tsv"),
    default_mss: Annotated[int, typer.Option(help="MSS of hosts that advertise none, in bytes.")] = 1480,
    max_unreadable: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="Share of a capture's packets, and of its bytes behind damage, that may be lost."
        ),
    ] = 0.01,
    port: Annotated[
        int, typer.Option(min=1, max=65_535, help="With --connect: the port of hosts listed without one.")
    ] = 80,
    interface: Annotated[str, typer.Option(help="With --connect: where to capture, as tcpdump names it.")] = "any",
    timeout: Annotated[
        float, typer.Option(min=0.01, max=600, help="With --connect: how long to wait for an answer, in s.")
    ] = 5.0,
    keep: Annotated[
        Path | None, typer.Option(metavar="FILE", help="With --connect: keep the capture, a pcap file.")
    ] = None,
    force: Force = False,
    as_json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Make a host table from captures: MSS, window, window scale and round-trip time of servers, from handshakes.

    The window is the SYN|ACK's or, if both ends scale, a larger one advertised later. With --connect a connection to
    each host is opened and closed, without a request, while tcpdump captures.

    Examples:

        farweb workload probe capture.pcapng -o hosts.tsv

        farweb workload probe mon.pcap.gz tue.pcap.gz --hosts names.txt
    """
    del debug
    from farweb.errors import WorkloadError
    from farweb.inputs.probe import probe_captures, read_names

    if bool(captures) == bool(connect):
        raise WorkloadError("probe takes either captures, or --connect with a file of hosts")
    context.with_resource(taken_free(out, keep, force=force))
    output = Output(as_json, quiet)
    if connect is not None:
        from farweb.inputs.probe_live import probe_hosts

        if hosts is not None:
            raise WorkloadError("--hosts names addresses in captures; with --connect the file of hosts has the names")
        with output.progress("connecting") as show:
            report = probe_hosts(
                connect,
                out,
                port=port,
                interface=interface,
                timeout_s=timeout,
                keep=keep,
                default_mss=default_mss,
                progress=show,
            )
    else:
        names = read_names(hosts) if hosts is not None else []
        with output.progress("reading") as show:
            report = probe_captures(
                captures or [],
                out,
                names=names,
                default_mss=default_mss,
                max_unreadable=max_unreadable,
                progress=show,
            )
    if as_json or not quiet:
        output.result(report.to_dict(), report)
    output.note(f"wrote {report.out}")
