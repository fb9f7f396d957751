"""`farweb export`: writes recorded packets and page loads for other programs."""

from pathlib import Path

from farweb.cli.verbs import Call, verb
from farweb.text.words import plural


@verb("views.export:export_pcapng", points="--point POINT")
def pcapng(call: Call, results: Path, *, out: Path | None = None) -> None:
    """Write a capture that Wireshark, tshark and tcpdump read.

    Packets begin with their IPv4 header. Addresses, ports and initial sequence numbers are made up, the same for a
    connection at every point. Options, flags, windows and times (in nanoseconds since its start) are the run's. Each
    point is an interface. Most programs take a packet seen at two points for a retransmission.

    Args:
        results: A results folder with packets (record.packets).
        out: The file (default: packets.pcapng in the folder).

    Examples:

        farweb export pcapng results/satellite -o satellite.pcapng

        farweb export pcapng results/satellite --connection 0 --payload
    """
    from farweb.library.run_results import Results
    from farweb.results.folder import CAPTURE
    from farweb.views.export import capture_points, export_pcapng

    opened = Results.open(results)
    file = out or opened.path / CAPTURE
    call.takes(file)
    exported = call.ask("writing packets", export_pcapng, opened, file)
    call.says(exported, exported.text)
    others = [name for name in capture_points(opened) if name not in exported.points]
    if others:
        call.note(f"Packets were also recorded at {', '.join(others)}; --point selects where.")


@verb("views.export:export_xpl", direction="--direction up|down")
def xpl(call: Call, results: Path, *, out: Path | None = None) -> None:
    """Write a time–sequence plot of a connection that xplot and jPlot open, with the colours and signs of tcptrace.

    Where a carrier has credits, a blue stair shows how far they allow to send, beside the yellow one of the window.

    Args:
        results: A results folder with packets (record.packets).
        out: The file (default: timeseq.xpl in the folder).

    Examples:

        farweb export xpl results/satellite --connection 0

        farweb export xpl results/satellite --direction up -o up.xpl
    """
    from farweb.library.run_results import Results
    from farweb.results.folder import TIMESEQ
    from farweb.views.export import export_xpl

    opened = Results.open(results)
    file = out or opened.path / TIMESEQ
    call.takes(file)
    exported = call.ask("writing packets", export_xpl, opened, file)
    call.says(exported, exported.text)


@verb()
def har(call: Call, results: Path, *, out: Path | None = None) -> None:
    """Write a page load as a HAR, like a browser's recording over the simulated path.

    Viewers of HARs, the developer tools of browsers among them, show its waterfall, and farweb page takes it again.

    Args:
        results: Results that farweb page -o wrote.
        out: The file (default: page.har in the folder).

    Examples:

        farweb export har results/shop -o shop-geo.har
    """
    from farweb.library.run_results import Results
    from farweb.results.folder import HAR
    from farweb.views.har import export_har

    opened = Results.open(results)
    file = out or opened.path / HAR
    call.takes(file)
    entries = export_har(opened, file)
    call.says({"file": str(file), "entries": entries}, f"{file}: {plural(entries, 'request')}")
