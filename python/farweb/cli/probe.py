"""`farweb workload probe`: makes a host table from captures, or from hosts as they answer now."""

from collections.abc import Sequence
from pathlib import Path

from farweb.cli.verbs import Call, verb
from farweb.errors import WorkloadError


@verb(
    "inputs.probe:probe_captures",
    "inputs.probe_live:probe_hosts",
    captures="CAPTURE…",
    names="",
    only_named="",
    timeout_s="--timeout NUMBER",
)
def probe(
    call: Call,
    captures: Sequence[Path] = (),
    *,
    hosts: Path | None = None,
    connect: Path | None = None,
    out: Path = Path("hosts.tsv"),
) -> None:
    """Make a host table from captures: MSS, window, window scale and round-trip time of servers, from handshakes.

    The window is the SYN|ACK's or, if both ends scale, a larger one advertised later. With --connect a connection to
    each host is opened and closed, without a request, while tcpdump captures.

    Args:
        captures: Captures: pcap or pcapng, plain or gzip.
        hosts: Names of addresses: a line an address and its names.
        connect: Capture connections to these hosts now: a line a name, address or host:port.
        out: The host table: .tsv, .csv or .parquet.

    Examples:

        farweb workload probe capture.pcapng -o hosts.tsv

        farweb workload probe mon.pcap.gz tue.pcap.gz --hosts names.txt
    """
    from farweb.inputs.probe import probe_captures, read_names

    if bool(captures) == bool(connect):
        raise WorkloadError("probe takes either captures, or --connect with a file of hosts")
    call.takes(out, call.given.get("keep"))
    if connect is None:
        names = read_names(hosts) if hosts is not None else []
        report = call.ask("reading", probe_captures, captures, out, names=names)
    else:
        from farweb.inputs.probe_live import probe_hosts

        if hosts is not None:
            raise WorkloadError("--hosts names addresses in captures; with --connect the file of hosts has the names")
        report = call.ask("connecting", probe_hosts, connect, out)
    call.says(report)
    call.wrote(report.out)
