"""Names of what farweb puts into a results folder beside tables and manifest, where no other place is asked for."""

CAPTURE = "packets.pcapng"
TIMESEQ = "timeseq.xpl"
HAR = "page.har"
REPORT = "report.html"

EXPORTED = frozenset({CAPTURE, TIMESEQ, HAR})
"""Those that do not say themselves that farweb made them; figures and pages do (`farweb.files.made`)."""


def figure_file(name: str) -> str:
    """The file of a figure."""
    return f"{name}.png"
